// Designs, distributions, responses and measures against closed forms.
#include "check.h"
#include "interim/interim.h"
#include "study/effects.h"
#include "study/random.h"
#include "study/sobol.h"
#include "study/study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void inverse_of_the_normal_distribution(void** state)
{
    (void)state;
    // symmetric, and the inverse of the distribution function: Halley's step leaves rounding, observed 4e-15
    for (double p = 1e-6; p < 1.0; p = p < 0.01 ? 3.0 * p : p + 0.013) {
        double x = itm_distribution_inverse_normal(p);
        CHECK_NEAR(itm_distribution_normal(x), p, 1e-13 * fmax(p, 1e-3));
    }
    CHECK_NEAR(itm_distribution_inverse_normal(0.975), 1.959963984540054, 1e-12);
}

// Quantiles of a fine grid of shares have the moments of the distribution; the midpoint rule is of second order in 1/n, where the
// quantile has no end at infinity.
static void quantiles_have_the_moments_of_their_distributions(void** state)
{
    (void)state;
    const ItmStudyFactor uniform = {.distribution = ITM_DISTRIBUTION_UNIFORM, .low = -1.0, .high = 3.0};
    const ItmStudyFactor triangular = {
        .distribution = ITM_DISTRIBUTION_TRIANGULAR, .low = 0.0, .mode = 1.0, .high = 4.0};
    const ItmStudyFactor normal = {
        .distribution = ITM_DISTRIBUTION_NORMAL, .low = -INFINITY, .high = INFINITY, .mean = 2.0, .deviation = 0.5};
    const struct {
        const ItmStudyFactor* factor;
        double mean, variance, tolerance;
    } CASES[] = {{&uniform, 1.0, 16.0 / 12.0, 1e-6},
                 {&triangular, 5.0 / 3.0, (16.0 + 1.0 - 4.0) / 18.0, 1e-5},
                 {&normal, 2.0, 0.25, 1e-3}};  // tails beyond the last of 10000 shares: 1e-4 of the variance
    for (int c = 0; c < 3; c++) {
        double mean = 0.0, square = 0.0;
        const int n = 10000;
        for (int i = 0; i < n; i++) {
            double x = itm_distribution_get_quantile(CASES[c].factor, (i + 0.5) / n);
            mean += x / n;
            square += x * x / n;
        }
        CHECK_NEAR(mean, CASES[c].mean, CASES[c].tolerance);
        CHECK_NEAR(square - mean * mean, CASES[c].variance, CASES[c].tolerance);
    }
    ItmStudyFactor cut = normal;
    cut.low = 1.9;
    cut.high = 2.1;
    for (double u = 0.001; u < 1.0; u += 0.1) {
        double x = itm_distribution_get_quantile(&cut, u);
        assert_true(x >= 1.9 && x <= 2.1);
    }
}

// Every dimension alone puts one point in each of 2^k intervals, and pairs of the first dimensions one in each box of area 2^-k.
static void sobol_points_are_spread_evenly(void** state)
{
    (void)state;
    enum { N = 256 };
    uint32_t directions[32], other[32];
    for (int d = 0; d < ITM_SOBOL_MOST_DIMENSIONS; d++) {
        bool is_met[N] = {false};
        itm_sobol_fill_directions(d, directions);
        for (uint32_t i = 0; i < N; i++) {
            uint32_t k = itm_sobol_compute(directions, i) >> 24;
            assert_false(is_met[k]);
            is_met[k] = true;
        }
    }
    itm_sobol_fill_directions(0, directions);
    itm_sobol_fill_directions(1, other);
    bool is_met[N] = {false};
    for (uint32_t i = 0; i < N; i++) {
        uint32_t k = (itm_sobol_compute(directions, i) >> 28) << 4 | itm_sobol_compute(other, i) >> 28;
        assert_false(is_met[k]);
        is_met[k] = true;
    }
    // the third point of the published sequence: (3/4, 1/4)                                              [joe-kuo]
    assert_int_equal(itm_sobol_compute(directions, 2), 0xc0000000u);
    assert_int_equal(itm_sobol_compute(other, 2), 0x40000000u);
}

// ---------------------------------------------------------------------------- responses

static double evaluate(const ItmStudyResponse* response, const ItmSamples* samples)
{
    const char* names[] = {"x"};
    ItmStudy study = {.signals = {.items = names, .count = 1}};
    ItmOp op = {.code = ITM_OP_INPUT};
    ItmStudyResponse r = *response;
    r.program = (ItmProgram){.ops = &op, .nop = 1, .nstack = 1};
    double value;
    assert_true(itm_response_compute(&value, &study, &r, samples, NULL, NULL));
    return value;
}

// x = sin(2 pi t) over two periods, rows unevenly spaced.
static void statistics_of_a_sine(void** state)
{
    (void)state;
    enum { N = 4001 };
    static double values[2 * N];
    for (int i = 0; i < N; i++) {
        double s = (double)i / (N - 1), t = 2.0 * (s + 0.1 * sin(6.0 * s) * (1.0 - s) * s);
        values[2 * i] = t;
        values[2 * i + 1] = sin(2.0 * acos(-1.0) * t);
    }
    const ItmSamples samples = {values, N};
    const struct {
        ItmStatistic statistic;
        double level, band, from, to, expected;
        int direction;
    } CASES[] = {
        {ITM_STATISTIC_FINAL, 0, 0, -INFINITY, INFINITY, 0.0, 0},
        {ITM_STATISTIC_MAX, 0, 0, -INFINITY, INFINITY, 1.0, 0},
        {ITM_STATISTIC_MIN, 0, 0, -INFINITY, INFINITY, -1.0, 0},
        {ITM_STATISTIC_PEAK, 0, 0, 0.6, 0.9, -1.0, 0},
        {ITM_STATISTIC_MEAN, 0, 0, -INFINITY, INFINITY, 0.0, 0},
        {ITM_STATISTIC_RMS, 0, 0, -INFINITY, INFINITY, sqrt(0.5), 0},
        {ITM_STATISTIC_STD, 0, 0, -INFINITY, INFINITY, sqrt(0.5), 0},
        {ITM_STATISTIC_CROSSING, 0.5, 0, -INFINITY, INFINITY, 1.0 / 12.0, 1},
        {ITM_STATISTIC_CROSSING, 0.5, 0, -INFINITY, INFINITY, 5.0 / 12.0, -1},
        {ITM_STATISTIC_CROSSING, 0.5, 0, 0.5, INFINITY, 13.0 / 12.0, 0},
        {ITM_STATISTIC_EVENTS, 0.5, 0.1, -INFINITY, INFINITY, 4, 0},
        {ITM_STATISTIC_EVENTS, 0.5, 0.1, -INFINITY, INFINITY, 2, 1},
        {ITM_STATISTIC_EVENTS, 0.5, 0.6, -INFINITY, INFINITY, 0, 0},  // never beyond the band above
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        ItmStudyResponse r = {.statistic = CASES[i].statistic,
                              .level = CASES[i].level,
                              .band = CASES[i].band,
                              .from = CASES[i].from,
                              .to = CASES[i].to,
                              .direction = CASES[i].direction};
        // trapezoids and straight lines between rows: (pi h)^2 / 3 with h = 2/4000, 1e-6; ends of a window: h
        CHECK_NEAR(evaluate(&r, &samples), CASES[i].expected, 2e-5);
    }
    ItmStudyResponse never = {.statistic = ITM_STATISTIC_CROSSING, .level = 2.0, .from = -INFINITY, .to = INFINITY};
    assert_true(isnan(evaluate(&never, &samples)));
}

// ---------------------------------------------------------------------------- measures

// y = 3 a + b, a and b uniform and independent: correlations 3/sqrt(10) and 1/sqrt(10), main effects 0.9 and 0.1.
static void measures_of_a_linear_response(void** state)
{
    (void)state;
    static const char MODEL[] =
        "parameters: {a: 1, b: 1}\nsubsystems:\n  control: {type: control, step: 1 ms, blocks: {y: 3*a + b}}\n"
        "run: {duration: 1 ms, step: 1 ms}\n";
    static const char STUDY[] = "model: linear.yaml\nfactors: {a: {from: 0, to: 1}, b: {from: 0, to: 1}}\n"
                                "design: {type: sobol, runs: 1024}\nresponses: {y: {final: control.y}}\n";
    FILE* out = fopen("linear.yaml", "w");
    fputs(MODEL, out);
    fclose(out);
    out = fopen("linear-study.yaml", "w");
    fputs(STUDY, out);
    fclose(out);
    ItmStudy* s = NULL;
    ItmError error = {0};
    CHECK_OK(itm_study_load(&s, "linear-study.yaml", NULL, NULL, 0, &error), &error);
    CHECK_OK(itm_study_prepare(s, &error), &error);
    for (int i = 0; i < s->nrun; i++) {
        s->runs[i].verdict = ITM_STUDY_FINISHED;
        s->runs[i].responses[0] = 3.0 * s->points[2 * i] + s->points[2 * i + 1];
    }
    // evenly spread points: errors of order log(n)/n, observed 1e-3
    CHECK_NEAR(itm_study_compute_effect(s, ITM_STUDY_CORRELATION, 0, 0).value, 3.0 / sqrt(10.0), 3e-3);
    CHECK_NEAR(itm_study_compute_effect(s, ITM_STUDY_CORRELATION, 0, 1).value, 1.0 / sqrt(10.0), 3e-3);
    // ten classes leave 1 % of a factor's own variance inside them; the correction for chance is for independent points, of which
    // these have less: it takes (n - 1)/(n - 10) of the rest away
    double rest = 1023.0 / 1014.0;
    CHECK_NEAR(itm_study_compute_effect(s, ITM_STUDY_MAIN_EFFECT, 0, 0).value, 1.0 - (1.0 - 0.9 * 0.99) * rest, 3e-3);
    CHECK_NEAR(itm_study_compute_effect(s, ITM_STUDY_MAIN_EFFECT, 0, 1).value, 1.0 - (1.0 - 0.1 * 0.99) * rest, 3e-3);
    ItmStudyEffect effect = itm_study_compute_effect(s, ITM_STUDY_CORRELATION, 0, 1);
    assert_true(effect.low < effect.value && effect.value < effect.high);
    // an interval of 95 % of a correlation r of n pairs is about 2 x 1.96 (1 - r^2)/sqrt(n) wide
    CHECK_NEAR(effect.high - effect.low, 2.0 * 1.96 * 0.9 / 32.0, 0.03);
    assert_true(isnan(itm_study_compute_effect(s, ITM_STUDY_FIRST_INDEX, 0, 0).value));
    ItmStudyStatistics t = itm_study_compute_statistics(s, 0);
    CHECK_NEAR(t.mean, 2.0, 2e-3);
    CHECK_NEAR(t.deviation, sqrt(10.0 / 12.0), 3e-3);
    itm_study_destroy(s);
    remove("linear.yaml");
    remove("linear-study.yaml");
}

// A line that was written is read back bit for bit; others are refused.
static void lines_of_runs_are_read_back(void** state)
{
    (void)state;
    ItmStudy* s = NULL;
    ItmError error = {0};
    CHECK_OK(itm_study_create(&s, ITM_SOURCE_DIR "/examples/pendulum.yaml", NULL, NULL, 0, &error), &error);
    CHECK_OK(itm_study_add_axis(s, "parameters.L=1m:2m:3", &error), &error);
    CHECK_OK(itm_study_add_signals(s, "hinge.angle", &error), &error);
    CHECK_OK(itm_study_prepare(s, &error), &error);
    ItmStudyInfo info = itm_study_get_info(s);
    assert_int_equal(info.nrun, 3);
    assert_int_equal(info.nresponse, 2);
    s->runs[1].verdict = ITM_STUDY_DOUBTFUL;
    s->runs[1].end_time = 1.0 / 3.0;
    s->runs[1].responses[0] = 0.1;
    s->runs[1].responses[1] = NAN;
    snprintf(s->runs[1].message, sizeof s->runs[1].message, "a \"quote\", a\ttab");
    char* line = itm_study_write_run(s, 1);
    s->runs[1].verdict = ITM_STUDY_WAITING;
    s->runs[1].end_time = s->runs[1].responses[0] = 0.0;
    s->runs[1].message[0] = '\0';
    int run = ITM_NONE;
    CHECK_OK(itm_study_read_run(s, line, &run, &error), &error);
    assert_int_equal(run, 1);
    assert_int_equal(s->runs[1].verdict, ITM_STUDY_DOUBTFUL);
    assert_true(s->runs[1].end_time == 1.0 / 3.0 && s->runs[1].responses[0] == 0.1 && isnan(s->runs[1].responses[1]));
    assert_string_equal(s->runs[1].message, "a \"quote\", a\ttab");
    free(line);
    static const char* const BAD[] = {"",
                                      "{",
                                      "{}",
                                      "{\"run\":4}",
                                      "{\"run\":1}",
                                      "{\"run\":1,\"verdict\":\"odd\"}",
                                      "{\"run\":1,\"verdict\":\"finished\",\"responses\":[1]}",
                                      "[1]"};
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        assert_int_not_equal(itm_study_read_run(s, BAD[i], NULL, &error), ITM_OK);
    }
    itm_study_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inverse_of_the_normal_distribution),
        cmocka_unit_test(quantiles_have_the_moments_of_their_distributions),
        cmocka_unit_test(sobol_points_are_spread_evenly),
        cmocka_unit_test(statistics_of_a_sine),
        cmocka_unit_test(measures_of_a_linear_response),
        cmocka_unit_test(lines_of_runs_are_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
