#include "study/effects.h"

#include "base/guard.h"
#include "study/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NRESAMPLE 400  // for intervals

const char* itm_study_measure_name(ItmStudyMeasure measure)
{
    static const char* const NAMES[ITM_STUDY_MEASURE_COUNT] = {"correlation", "rank_correlation", "main_effect",
                                                               "first_index", "total_index"};
    return measure >= 0 && measure < ITM_STUDY_MEASURE_COUNT ? NAMES[measure] : NULL;
}

static int compare_reals(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

double itm_effects_get_value(const ItmStudy* s, int run, int factor)
{
    const ItmStudyFactor* f = &s->factors.items[factor];
    double value = s->points[(size_t)run * (size_t)s->factors.count + (size_t)factor];
    bool is_choice = f->distribution == ITM_DISTRIBUTION_CHOICE, has_words = false;
    for (int i = 0; i < f->nvalue && is_choice; i++) {
        has_words = has_words || isnan(f->numbers[i]);
    }
    return is_choice && !has_words ? f->numbers[(int)value] : value;
}

// ---------------------------------------------------------------------------- samples

// Runs that finished and have a value.
typedef struct Sample {
    int count;
    double *x, *y;  // factor and response      (count)
    int* label;     // class of the factor       (count)
    int nclass;
} Sample;

static void free_sample(Sample* sample)
{
    free(sample->x);
    free(sample->y);
    free(sample->label);
    *sample = (Sample){0};
}

static bool is_usable(const ItmStudy* s, int run, int response)
{
    return itm_study_is_finished(&s->runs[run]) && isfinite(s->runs[run].responses[response]);
}

static bool fill_sample(Sample* sample, const ItmStudy* s, int response, int factor)
{
    size_t n = (size_t)s->nrun + 1;
    *sample =
        (Sample){.x = malloc(n * sizeof(double)), .y = malloc(n * sizeof(double)), .label = calloc(n, sizeof(int))};
    if (sample->x == NULL || sample->y == NULL || sample->label == NULL) {
        free_sample(sample);
        return false;
    }
    for (int run = 0; run < s->nrun; run++) {
        if (is_usable(s, run, response)) {
            sample->x[sample->count] = itm_effects_get_value(s, run, factor);
            sample->y[sample->count++] = s->runs[run].responses[response];
        }
    }
    return true;
}

// ---------------------------------------------------------------------------- classes

// Labels by distinct values where there are few, otherwise by classes of equal size.
static bool classify(Sample* sample)
{
    double* sorted = malloc(((size_t)sample->count + 1) * sizeof *sorted);
    if (sorted == NULL) {
        return false;
    }
    memcpy(sorted, sample->x, (size_t)sample->count * sizeof *sorted);
    qsort(sorted, (size_t)sample->count, sizeof *sorted, compare_reals);
    int ndistinct = sample->count > 0 ? 1 : 0;
    double bounds[ITM_EFFECTS_MOST_CLASSES];  // lowest value of a class
    bounds[0] = sample->count > 0 ? sorted[0] : 0.0;
    for (int i = 1; i < sample->count; i++) {
        if (sorted[i] != sorted[i - 1]) {
            if (ndistinct < ITM_EFFECTS_MOST_CLASSES) {
                bounds[ndistinct] = sorted[i];
            }
            ndistinct++;
        }
    }
    sample->nclass = ndistinct;
    if (ndistinct > ITM_EFFECTS_MOST_CLASSES) {
        // at least five runs in a class
        int n = sample->count / 5;
        sample->nclass = n < 2 ? 2 : n > ITM_EFFECTS_MOST_CLASSES ? ITM_EFFECTS_MOST_CLASSES : n;
        for (int k = 0; k < sample->nclass; k++) {
            bounds[k] = sorted[(long)sample->count * k / sample->nclass];
        }
    }
    for (int i = 0; i < sample->count; i++) {
        int label = sample->nclass - 1;
        while (label > 0 && sample->x[i] < bounds[label]) {
            label--;
        }
        sample->label[i] = label;
    }
    free(sorted);
    return true;
}

ItmStatus itm_effects_classify(ItmEffectClasses* c, const ItmStudy* s, int response, int factor)
{
    Sample sample;
    double squares[ITM_EFFECTS_MOST_CLASSES] = {0};
    *c = (ItmEffectClasses){0};
    if (!fill_sample(&sample, s, response, factor)) {
        return ITM_ERR_MEMORY;
    }
    bool is_classified = classify(&sample);
    c->count = is_classified ? sample.nclass : 0;
    for (int i = 0; i < sample.count && is_classified; i++) {
        int k = sample.label[i];
        c->size[k]++;
        c->at[k] += (sample.x[i] - c->at[k]) / c->size[k];
        double before = sample.y[i] - c->mean[k];
        c->mean[k] += before / c->size[k];
        squares[k] += before * (sample.y[i] - c->mean[k]);
    }
    for (int k = 0; k < c->count; k++) {
        c->deviation[k] = c->size[k] > 1 ? sqrt(squares[k] / (c->size[k] - 1) / c->size[k]) : 0.0;
    }
    free_sample(&sample);
    return is_classified ? ITM_OK : ITM_ERR_MEMORY;
}

// ---------------------------------------------------------------------------- measures of a sample

// The i-th of a resampled sample; index NULL: as it is.
static int pick(const int* index, int i)
{
    return index != NULL ? index[i] : i;
}

static double correlate(const Sample* s, const int* index)
{
    double mx = 0.0, my = 0.0, sxx = 0.0, syy = 0.0, sxy = 0.0;
    for (int i = 0; i < s->count; i++) {
        mx += s->x[pick(index, i)] / s->count;
        my += s->y[pick(index, i)] / s->count;
    }
    for (int i = 0; i < s->count; i++) {
        double x = s->x[pick(index, i)] - mx, y = s->y[pick(index, i)] - my;
        sxx += x * x;
        syy += y * y;
        sxy += x * y;
    }
    return sxx > 0.0 && syy > 0.0 ? sxy / sqrt(sxx * syy) : (double)NAN;
}

// 1 - (variance within the classes) / (variance), without bias for classes of pure chance; not below 0.
static double explain(const Sample* s, const int* index)
{
    double mean[ITM_EFFECTS_MOST_CLASSES] = {0}, all = 0.0, within = 0.0, total = 0.0;
    int size[ITM_EFFECTS_MOST_CLASSES] = {0}, nclass = 0;
    for (int i = 0; i < s->count; i++) {
        int k = s->label[pick(index, i)];
        size[k]++;
        mean[k] += (s->y[pick(index, i)] - mean[k]) / size[k];
        all += (s->y[pick(index, i)] - all) / (i + 1);
    }
    for (int i = 0; i < s->count; i++) {
        double y = s->y[pick(index, i)], d = y - mean[s->label[pick(index, i)]];
        within += d * d;
        total += (y - all) * (y - all);
    }
    for (int k = 0; k < s->nclass; k++) {
        nclass += size[k] > 0;
    }
    if (!(total > 0.0) || s->count <= nclass || nclass < 2) {
        return NAN;
    }
    return fmax(0.0, 1.0 - within / total * (s->count - 1) / (s->count - nclass));
}

// ---------------------------------------------------------------------------- ranks

typedef struct Ranked {
    double value;
    int at;
} Ranked;

static int compare_ranked(const void* a, const void* b)
{
    double x = ((const Ranked*)a)->value, y = ((const Ranked*)b)->value;
    return (x > y) - (x < y);
}

// Values by their ranks; equal ones share the mean of theirs.
static bool rank(double* values, int count)
{
    Ranked* ranked = malloc(((size_t)count + 1) * sizeof *ranked);
    if (ranked == NULL) {
        return false;
    }
    for (int i = 0; i < count; i++) {
        ranked[i] = (Ranked){values[i], i};
    }
    qsort(ranked, (size_t)count, sizeof *ranked, compare_ranked);
    for (int i = 0, n = 1; i < count; i += n) {
        for (n = 1; i + n < count && ranked[i + n].value == ranked[i].value; n++) {
        }
        for (int k = 0; k < n; k++) {
            values[ranked[i + k].at] = i + 0.5 * (n - 1);
        }
    }
    free(ranked);
    return true;
}

// ---------------------------------------------------------------------------- Sobol' indices

// Responses of the base samples whose runs all finished: A, B and A with one column of B, row by row.
typedef struct Pairs {
    double *a, *b, *mixed;  // (count)
    int count;
} Pairs;

static void free_pairs(Pairs* p)
{
    free(p->a);
    free(p->b);
    free(p->mixed);
}

static bool fill_pairs(Pairs* p, const ItmStudy* s, int response, int factor)
{
    size_t n = (size_t)s->design.nsample + 1;
    int nrow = s->factors.count + 2;
    double mean = 0.0;
    *p = (Pairs){malloc(n * sizeof(double)), malloc(n * sizeof(double)), malloc(n * sizeof(double)), 0};
    if (p->a == NULL || p->b == NULL || p->mixed == NULL) {
        return false;
    }
    for (int k = 0; k < s->design.nsample; k++) {
        int first = k * nrow;
        if (is_usable(s, first, response) && is_usable(s, first + 1, response) &&
            is_usable(s, first + 2 + factor, response)) {
            p->a[p->count] = s->runs[first].responses[response];
            p->b[p->count] = s->runs[first + 1].responses[response];
            p->mixed[p->count] = s->runs[first + 2 + factor].responses[response];
            mean += 0.5 * (p->a[p->count] + p->b[p->count]);
            p->count++;
        }
    }
    // the estimates vary least around a mean of zero
    mean /= p->count > 0 ? p->count : 1;
    for (int i = 0; i < p->count; i++) {
        p->a[i] -= mean;
        p->b[i] -= mean;
        p->mixed[i] -= mean;
    }
    return true;
}

// First order: correlation of b and mixed, which share the factor alone, with the moments of both together.   [janon, section 2]
// Total: half the mean of (a - mixed)^2, which differ in the factor alone, over the variance.           [saltelli, table 2, f]
static double compute_index(const Pairs* p, const int* index, bool is_total)
{
    const double* other = is_total ? p->a : p->b;
    double mean = 0.0, square = 0.0, sum = 0.0;
    for (int i = 0; i < p->count; i++) {
        int k = pick(index, i);
        double x = other[k], y = p->mixed[k];
        mean += x + y;
        square += x * x + y * y;
        sum += is_total ? 0.5 * (x - y) * (x - y) : x * y;
    }
    mean /= 2.0 * p->count;
    double variance = square / (2.0 * p->count) - mean * mean;
    double part = sum / p->count - (is_total ? 0.0 : mean * mean);
    return variance > 0.0 ? part / variance : (double)NAN;
}

// ---------------------------------------------------------------------------- intervals

typedef struct Evaluation {
    ItmStudyMeasure measure;
    Sample sample;
    Pairs pairs;
} Evaluation;

static double evaluate(const Evaluation* e, const int* index)
{
    switch (e->measure) {
    case ITM_STUDY_MAIN_EFFECT:
        return explain(&e->sample, index);
    case ITM_STUDY_FIRST_INDEX:
    case ITM_STUDY_TOTAL_INDEX:
        return compute_index(&e->pairs, index, e->measure == ITM_STUDY_TOTAL_INDEX);
    default:
        return correlate(&e->sample, index);
    }
}

// The middle 95 % of the values of samples drawn from the sample with replacement.
static void find_interval(ItmStudyEffect* effect, const Evaluation* e, int count, uint64_t seed)
{
    ItmRandom random = itm_random_seed(seed);
    int* index = malloc(((size_t)count + 1) * sizeof *index);
    double values[NRESAMPLE];
    int n = 0;
    for (int i = 0; i < NRESAMPLE && index != NULL; i++) {
        for (int k = 0; k < count; k++) {
            index[k] = itm_random_index(&random, count);
        }
        values[n] = evaluate(e, index);
        n += isfinite(values[n]);
    }
    if (n == NRESAMPLE) {
        qsort(values, (size_t)n, sizeof *values, compare_reals);
        effect->low = values[NRESAMPLE / 40];
        effect->high = values[NRESAMPLE - 1 - NRESAMPLE / 40];
    }
    free(index);
}

static bool prepare(Evaluation* e, const ItmStudy* s, int response, int factor)
{
    if (e->measure == ITM_STUDY_FIRST_INDEX || e->measure == ITM_STUDY_TOTAL_INDEX) {
        return s->design.type == ITM_DESIGN_SOBOL_INDICES && fill_pairs(&e->pairs, s, response, factor);
    }
    if (!fill_sample(&e->sample, s, response, factor)) {
        return false;
    }
    if (e->measure == ITM_STUDY_RANK_CORRELATION) {
        return rank(e->sample.x, e->sample.count) && rank(e->sample.y, e->sample.count);
    }
    return e->measure != ITM_STUDY_MAIN_EFFECT || classify(&e->sample);
}

ItmStudyEffect itm_study_compute_effect(const ItmStudy* s, ItmStudyMeasure measure, int response, int factor)
{
    ItmStudyEffect effect = {NAN, NAN, NAN};
    ITM_GUARD(s != NULL && s->is_prepared && ITM_IS_INDEX(response, s->responses.count) &&
                  ITM_IS_INDEX(factor, s->factors.count) && measure >= 0 && measure < ITM_STUDY_MEASURE_COUNT,
              effect);
    Evaluation e = {.measure = measure};
    if (prepare(&e, s, response, factor)) {
        int count = e.pairs.a != NULL ? e.pairs.count : e.sample.count;
        effect.value = count > 2 ? evaluate(&e, NULL) : (double)NAN;
        if (isfinite(effect.value)) {
            find_interval(&effect, &e, count, (uint64_t)s->design.seed + 1000u * (uint64_t)measure);
        }
    }
    free_sample(&e.sample);
    free_pairs(&e.pairs);
    return effect;
}

// ---------------------------------------------------------------------------- statistics

ItmStudyStatistics itm_study_compute_statistics(const ItmStudy* s, int response)
{
    ItmStudyStatistics t = {.mean = NAN,
                            .deviation = NAN,
                            .least = NAN,
                            .largest = NAN,
                            .quantiles = {NAN, NAN, NAN},
                            .best_run = ITM_NONE,
                            .worst_run = ITM_NONE};
    ITM_GUARD(s != NULL && s->is_prepared && ITM_IS_INDEX(response, s->responses.count), t);
    double* values = malloc(((size_t)s->nrun + 1) * sizeof *values);
    double mean = 0.0, squares = 0.0;
    for (int run = 0; run < s->nrun && values != NULL; run++) {
        if (!is_usable(s, run, response)) {
            continue;
        }
        double y = s->runs[run].responses[response], before = y - mean;
        values[t.count++] = y;
        mean += before / t.count;
        squares += before * (y - mean);
        t.best_run = t.best_run == ITM_NONE || y < s->runs[t.best_run].responses[response] ? run : t.best_run;
        t.worst_run = t.worst_run == ITM_NONE || y > s->runs[t.worst_run].responses[response] ? run : t.worst_run;
    }
    if (t.count > 0) {
        static const double SHARES[3] = {0.05, 0.5, 0.95};
        qsort(values, (size_t)t.count, sizeof *values, compare_reals);
        t.mean = mean;
        t.deviation = t.count > 1 ? sqrt(squares / (t.count - 1)) : (double)NAN;
        t.least = values[0];
        t.largest = values[t.count - 1];
        for (int i = 0; i < 3; i++) {
            double at = SHARES[i] * (t.count - 1);
            int k = (int)at, next = k + 1 < t.count ? k + 1 : k;
            t.quantiles[i] = values[k] + (at - k) * (values[next] - values[k]);
        }
    }
    free(values);
    return t;
}
