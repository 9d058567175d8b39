// Designs: which values the factors have in which run.
#include "study/study.h"

#include "base/error.h"
#include "study/random.h"
#include "study/sobol.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const char* itm_design_type_name(ItmDesignType type)
{
    static const char* const NAMES[ITM_DESIGN_COUNT] = {"grid",          "latin-hypercube", "sobol",
                                                        "sobol-indices", "one-at-a-time",   "monte-carlo"};
    return type >= 0 && type < ITM_DESIGN_COUNT ? NAMES[type] : NULL;
}

static int count_levels(const ItmStudy* s, int factor)
{
    return itm_distribution_count_levels(&s->factors.items[factor], s->design.nlevel);
}

int itm_design_count(const ItmStudy* s)
{
    long count = s->design.nsample;
    if (s->design.type == ITM_DESIGN_GRID) {
        count = 1;
        for (int i = 0; i < s->factors.count && count <= ITM_STUDY_MOST_RUNS; i++) {
            count *= count_levels(s, i);
        }
    } else if (s->design.type == ITM_DESIGN_ONE_AT_A_TIME) {
        count = 1;
        for (int i = 0; i < s->factors.count && count <= ITM_STUDY_MOST_RUNS; i++) {
            count += count_levels(s, i);
        }
    } else if (s->design.type == ITM_DESIGN_SOBOL_INDICES) {
        count *= s->factors.count + 2;
    }
    return count <= ITM_STUDY_MOST_RUNS ? (int)count : ITM_STUDY_MOST_RUNS + 1;
}

// Twelve digits: the text that is set in the model has all of them.
static double round_value(double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.12g", value);
    return strtod(text, NULL);
}

static void set_point(ItmStudy* s, int run, int factor, double value)
{
    s->points[(size_t)run * (size_t)s->factors.count + (size_t)factor] = round_value(value);
}

static void set_quantile(ItmStudy* s, int run, int factor, double u)
{
    set_point(s, run, factor, itm_distribution_get_quantile(&s->factors.items[factor], u));
}

// All combinations; the last factor runs fastest.
static void draw_grid(ItmStudy* s)
{
    for (int run = 0; run < s->nrun; run++) {
        int rest = run;
        for (int i = s->factors.count - 1; i >= 0; i--) {
            int n = count_levels(s, i);
            set_point(s, run, i, itm_distribution_get_level(&s->factors.items[i], rest % n, n));
            rest /= n;
        }
    }
}

static double get_nominal(const ItmStudyFactor* f)
{
    if (!isnan(f->nominal)) {
        return f->nominal;
    }
    return f->distribution == ITM_DISTRIBUTION_CHOICE ? 0.0 : itm_distribution_get_quantile(f, 0.5);
}

// The nominal point, then the levels of each factor in turn.
static void draw_one_at_a_time(ItmStudy* s)
{
    int run = 1;
    for (int i = 0; i < s->factors.count; i++) {
        for (int k = 0; k < s->nrun; k++) {
            set_point(s, k, i, get_nominal(&s->factors.items[i]));
        }
    }
    for (int i = 0; i < s->factors.count; i++) {
        int n = count_levels(s, i);
        for (int k = 0; k < n; k++, run++) {
            set_point(s, run, i, itm_distribution_get_level(&s->factors.items[i], k, n));
        }
    }
}

static void draw_monte_carlo(ItmStudy* s, ItmRandom* random)
{
    for (int run = 0; run < s->nrun; run++) {
        for (int i = 0; i < s->factors.count; i++) {
            set_quantile(s, run, i, itm_random_real(random));
        }
    }
}

// One value from each of nrun equal shares of every factor, in an order of its own.
static ItmStatus draw_latin_hypercube(ItmStudy* s, ItmRandom* random, ItmError* error)
{
    int* order = calloc((size_t)s->nrun, sizeof *order);
    if (order == NULL) {
        return itm_study_fail_memory(error);
    }
    for (int i = 0; i < s->factors.count; i++) {
        for (int k = 0; k < s->nrun; k++) {
            int other = itm_random_index(random, k + 1);
            order[k] = order[other];
            order[other] = k;
        }
        for (int run = 0; run < s->nrun; run++) {
            set_quantile(s, run, i, (order[run] + itm_random_real(random)) / s->nrun);
        }
    }
    free(order);
    return ITM_OK;
}

// Coordinate of a point of Sobol's sequence, its digits shifted by the seed: then no point lies at the border.
static double get_sobol(const uint32_t* directions, uint32_t shift, int index)
{
    return ((double)(itm_sobol_compute(directions, (uint32_t)index) ^ shift) + 0.5) * 0x1p-32;
}

// Rows of a sample: A; of indices: A, B, and for each factor A with the column of B.                  [saltelli, sec. 3]
static void draw_sobol(ItmStudy* s, ItmRandom* random)
{
    bool has_two = s->design.type == ITM_DESIGN_SOBOL_INDICES;
    int n = s->factors.count, nrow = has_two ? n + 2 : 1;
    for (int column = 0; column < (has_two ? 2 * n : n); column++) {
        uint32_t directions[32], shift = (uint32_t)(itm_random_next(random) >> 32);
        int i = column % n;
        bool is_b = column >= n;
        itm_sobol_fill_directions(column, directions);
        for (int k = 0; k < s->design.nsample; k++) {
            double u = get_sobol(directions, shift, k);
            for (int row = 0; row < nrow; row++) {
                if (is_b == (row == 1 || row == 2 + i)) {
                    set_quantile(s, k * nrow + row, i, u);
                }
            }
        }
    }
}

ItmStatus itm_design_draw(ItmStudy* s, ItmError* error)
{
    ItmRandom random = itm_random_seed((uint64_t)s->design.seed);
    int ndimension = s->design.type == ITM_DESIGN_SOBOL_INDICES ? 2 * s->factors.count : s->factors.count;
    switch (s->design.type) {
    case ITM_DESIGN_GRID:
        draw_grid(s);
        return ITM_OK;
    case ITM_DESIGN_ONE_AT_A_TIME:
        draw_one_at_a_time(s);
        return ITM_OK;
    case ITM_DESIGN_LATIN_HYPERCUBE:
        return draw_latin_hypercube(s, &random, error);
    case ITM_DESIGN_MONTE_CARLO:
        draw_monte_carlo(s, &random);
        return ITM_OK;
    default:
        if (ndimension > ITM_SOBOL_MOST_DIMENSIONS) {
            return itm_error_set(error, ITM_ERR_INPUT, __func__, NULL,
                                 "a design of type %s takes at most %d factors, not %d; use latin-hypercube",
                                 itm_design_type_name(s->design.type),
                                 s->design.type == ITM_DESIGN_SOBOL ? ITM_SOBOL_MOST_DIMENSIONS
                                                                    : ITM_SOBOL_MOST_DIMENSIONS / 2,
                                 s->factors.count);
        }
        draw_sobol(s, &random);
        return ITM_OK;
    }
}
