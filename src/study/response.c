// Responses: one number of a run, by a statistic of an expression of its signals over a window of time.
#include "study/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char* itm_response_statistic_name(ItmStatistic statistic)
{
    static const char* const NAMES[ITM_STATISTIC_COUNT] = {
        "final", "min", "max", "mean", "std", "rms", "peak", "crossing", "events", "rms_difference", "max_difference"};
    return statistic >= 0 && statistic < ITM_STATISTIC_COUNT ? NAMES[statistic] : NULL;
}

// ---------------------------------------------------------------------------- values of the expression

// Time and value of the expression in the rows inside the window.
typedef struct Curve {
    double* values;  // row-major (nrow x 2)
    long nrow;
} Curve;

static double run_program(const ItmStudy* s, const ItmStudyResponse* r, const double* row, const double* parameters,
                          double* inputs, double* stack)
{
    memcpy(inputs, row + 1, sizeof *inputs * (size_t)s->signals.count);
    if (s->parameters.count > 0) {
        memcpy(inputs + s->signals.count, parameters, sizeof *inputs * (size_t)s->parameters.count);
    }
    ItmProgramScope scope = {.time = row[0], .inputs = inputs};
    return itm_program_run(r->program.ops, r->program.nop, &scope, stack);
}

static bool fill_curve(Curve* c, const ItmStudy* s, const ItmStudyResponse* r, const ItmSamples* samples,
                       const double* parameters)
{
    size_t width = (size_t)s->signals.count + 1;
    *c = (Curve){.values = malloc(sizeof *c->values * 2 * (size_t)(samples->nrow + 1))};
    double* inputs = malloc(sizeof *inputs * (width + (size_t)s->parameters.count + (size_t)r->program.nstack + 1));
    double slack = 1e-9 * (samples->nrow > 0 ? fabs(samples->values[width * (size_t)(samples->nrow - 1)]) : 0.0);
    for (long i = 0; i < samples->nrow && c->values != NULL && inputs != NULL; i++) {
        const double* row = samples->values + width * (size_t)i;
        if (row[0] >= r->from - slack && row[0] <= r->to + slack) {
            c->values[2 * c->nrow] = row[0];
            c->values[2 * c->nrow + 1] =
                run_program(s, r, row, parameters, inputs, inputs + width + (size_t)s->parameters.count);
            c->nrow++;
        }
    }
    free(inputs);
    return c->values != NULL && inputs != NULL;
}

// ---------------------------------------------------------------------------- statistics

static double time_of(const Curve* c, long i)
{
    return c->values[2 * i];
}

static double value_of(const Curve* c, long i)
{
    return c->values[2 * i + 1];
}

// Mean over time of (y - shift)^power, trapezoids between the rows; of a single row its own.
static double compute_mean(const Curve* c, double shift, int power)
{
    double sum = 0.0, duration = 0.0;
    for (long i = 0; i < c->nrow; i++) {
        double y = value_of(c, i) - shift;
        double before = i > 0 ? time_of(c, i - 1) : time_of(c, i),
               after = i + 1 < c->nrow ? time_of(c, i + 1) : time_of(c, i);
        double weight = c->nrow > 1 ? 0.5 * (after - before) : 1.0;
        sum += weight * (power == 2 ? y * y : y);
        duration += weight;
    }
    return sum / duration;
}

// Crossings of the level, which count once the curve is beyond the band: their number, and the time of the first one.
static int count_crossings(const ItmStudyResponse* r, const Curve* c, double* first)
{
    int count = 0, side = 0;
    double candidate = NAN;
    *first = NAN;
    for (long i = 0; i < c->nrow; i++) {
        double y = value_of(c, i) - r->level, before = i > 0 ? value_of(c, i - 1) - r->level : y;
        if ((before < 0.0) != (y < 0.0)) {
            // where the straight line between the rows crosses
            candidate = time_of(c, i - 1) + (time_of(c, i) - time_of(c, i - 1)) * before / (before - y);
        }
        int next = y > r->band || (y >= 0.0 && r->band == 0.0) ? 1 : y < -r->band ? -1 : side;
        if (side != 0 && next != side && (r->direction == 0 || r->direction == next)) {
            *first = count == 0 ? candidate : *first;
            count++;
        }
        side = next;
    }
    return count;
}

// False without memory.
static bool compute_difference(const ItmStudyResponse* r, const Curve* run, const Curve* reference, double* value)
{
    ItmComparison comparison;
    const ItmTable a = {.ncolumn = 2, .nrow = run->nrow, .values = run->values};
    const ItmTable b = {.ncolumn = 2, .nrow = reference->nrow, .values = reference->values};
    ItmStatus status =
        run->nrow == 0 || reference->nrow == 0 ? ITM_ERR_INPUT : itm_compare(&comparison, &a, 1, &b, 1, NULL, NULL);
    if (status == ITM_OK) {
        *value = r->statistic == ITM_STATISTIC_RMS_DIFFERENCE ? comparison.rms : comparison.maximum;
    }
    return status != ITM_ERR_MEMORY;
}

static double compute_extreme(const ItmStudyResponse* r, const Curve* c)
{
    double best = value_of(c, 0);
    for (long i = 1; i < c->nrow; i++) {
        double y = value_of(c, i);
        bool is_better = r->statistic == ITM_STATISTIC_MIN   ? y < best
                         : r->statistic == ITM_STATISTIC_MAX ? y > best
                                                             : fabs(y) > fabs(best);
        best = is_better || isnan(best) ? y : best;
    }
    return best;
}

static double compute_statistic(const ItmStudyResponse* r, const Curve* c)
{
    double first;
    int count;
    switch (r->statistic) {
    case ITM_STATISTIC_FINAL:
        return value_of(c, c->nrow - 1);
    case ITM_STATISTIC_MEAN:
        return compute_mean(c, 0.0, 1);
    case ITM_STATISTIC_STD:
        return sqrt(compute_mean(c, compute_mean(c, 0.0, 1), 2));
    case ITM_STATISTIC_RMS:
        return sqrt(compute_mean(c, 0.0, 2));
    case ITM_STATISTIC_CROSSING:
    case ITM_STATISTIC_EVENTS:
        count = count_crossings(r, c, &first);
        return r->statistic == ITM_STATISTIC_EVENTS ? count : first;
    default:
        return compute_extreme(r, c);
    }
}

bool itm_response_compute(double* value, const ItmStudy* s, const ItmStudyResponse* r, const ItmSamples* samples,
                          const double* parameters, const ItmSamples* reference)
{
    Curve curve, other = {0};
    *value = NAN;
    bool is_difference = r->statistic == ITM_STATISTIC_RMS_DIFFERENCE || r->statistic == ITM_STATISTIC_MAX_DIFFERENCE;
    bool has_memory = fill_curve(&curve, s, r, samples, parameters);
    if (has_memory && curve.nrow > 0 && !is_difference) {
        *value = compute_statistic(r, &curve);
    } else if (has_memory && curve.nrow > 0 && reference != NULL) {
        has_memory = fill_curve(&other, s, r, reference, parameters) && compute_difference(r, &curve, &other, value);
    }
    free(curve.values);
    free(other.values);
    return has_memory;
}
