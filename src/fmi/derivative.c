// Directional derivatives of an FMU against central differences.
#include "fmi/instance.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_KNOWNS 64     // that are tested
#define MOST_UNKNOWNS 256  //
#define CHANGE 1e-5        // of a known, relative to its size, for differences

// clang-format off
typedef struct Test {
    ItmFmuInstance* x;
    int      nstate;                    // the first knowns are states
    int      nknown, nunknown;
    uint32_t knowns[MOST_KNOWNS], unknowns[MOST_UNKNOWNS];
    double   value[MOST_KNOWNS];        // of the knowns
    double   size[MOST_KNOWNS];         // of a change of them
    double   states[MOST_KNOWNS];       // work
    double   given[MOST_UNKNOWNS], low[MOST_UNKNOWNS], high[MOST_UNKNOWNS];
    double   largest[MOST_UNKNOWNS];    // derivative of each unknown by differences, times the size of the known
    double   distance[MOST_UNKNOWNS];   // largest difference of both, times the same
} Test;
// clang-format on

static bool is_real(const ItmFmuScalar* v)
{
    return v->type == ITM_FMI_FLOAT64 && v->count == 1;
}

static bool is_known(const Test* t, uint32_t reference)
{
    bool is_any = false;
    for (int i = 0; i < t->nknown; i++) {
        is_any = is_any || t->knowns[i] == reference;
    }
    return is_any;
}

// States and real inputs; derivatives of the states and real outputs. An output that is a state needs no derivative, and FMUs return
// zero for it.
static ItmStatus collect(Test* t)
{
    const ItmFmuSpec* spec = t->x->spec;
    bool has_states = spec->is_exchange && spec->nslope > 0 && spec->nslope <= MOST_KNOWNS;
    for (int i = 0; has_states && i < spec->nslope; i++) {
        t->knowns[t->nknown++] = spec->slopes[i].state;
        t->unknowns[t->nunknown++] = spec->slopes[i].derivative;
    }
    t->nstate = t->nknown;
    for (int i = 0; i < spec->ninput && t->nknown < MOST_KNOWNS; i++) {
        if (is_real(&spec->inputs[i]) && !spec->inputs[i].is_discrete) {
            t->knowns[t->nknown++] = spec->inputs[i].reference;
        }
    }
    for (int i = 0; i < spec->noutput && t->nunknown < MOST_UNKNOWNS; i++) {
        if (is_real(&spec->outputs[i]) && !is_known(t, spec->outputs[i].reference)) {
            t->unknowns[t->nunknown++] = spec->outputs[i].reference;
        }
    }
    ItmStatus status = itm_fmi_get_continuous(&t->x->binary, t->value, (size_t)t->nstate);
    int ninput = t->nknown - t->nstate;
    if (status == ITM_OK && ninput > 0) {
        status =
            itm_fmi_get(&t->x->binary, ITM_FMI_FLOAT64, t->knowns + t->nstate, ninput, t->value + t->nstate, ninput);
    }
    if (status == ITM_OK && t->nstate > 0 &&
        itm_fmi_get_nominals(&t->x->binary, t->size, (size_t)t->nstate) != ITM_OK) {
        memset(t->size, 0, sizeof t->size);
    }
    for (int i = 0; i < t->nknown; i++) {
        double nominal = i < t->nstate && t->size[i] > 0.0 ? t->size[i] : 1.0;
        t->size[i] = fmax(fabs(t->value[i]), nominal);
    }
    return status;
}

static ItmStatus put(Test* t, int known, double value)
{
    if (known >= t->nstate) {
        return itm_fmi_set(&t->x->binary, ITM_FMI_FLOAT64, &t->knowns[known], 1, &value, 1);
    }
    memcpy(t->states, t->value, sizeof(double) * (size_t)t->nstate);
    t->states[known] = value;
    return itm_fmi_set_continuous(&t->x->binary, t->states, (size_t)t->nstate);
}

static ItmStatus read_unknowns(Test* t, double* values)
{
    return itm_fmi_get(&t->x->binary, ITM_FMI_FLOAT64, t->unknowns, t->nunknown, values, t->nunknown);
}

static ItmStatus compare_known(Test* t, int j)
{
    double change = CHANGE * t->size[j], up = t->value[j] + change, down = t->value[j] - change, one = 1.0;
    ItmStatus status =
        itm_fmi_get_directional(&t->x->binary, t->unknowns, t->nunknown, &t->knowns[j], 1, &one, t->given);
    status = status == ITM_OK ? put(t, j, up) : status;
    status = status == ITM_OK ? read_unknowns(t, t->high) : status;
    status = status == ITM_OK ? put(t, j, down) : status;
    status = status == ITM_OK ? read_unknowns(t, t->low) : status;
    status = status == ITM_OK ? put(t, j, t->value[j]) : status;
    for (int i = 0; i < t->nunknown && status == ITM_OK; i++) {
        double slope = (t->high[i] - t->low[i]) / (up - down), off = fabs(t->given[i] - slope) * t->size[j];
        t->largest[i] = fmax(t->largest[i], fabs(slope) * t->size[j]);
        t->distance[i] = isfinite(off) ? fmax(t->distance[i], off) : INFINITY;
    }
    return status;
}

// worst = max_i max_j |D_ij - F_ij| n_j / max_j |F_ij| n_j, with D given, F by differences and n_j the size of known j. Rows that
// are rounding of the unknown itself count as zero.
ItmStatus itm_fmi_compare_derivatives(ItmFmuInstance* x, double* worst, int* count)
{
    Test* t = calloc(1, sizeof *t);
    *worst = 0.0;
    *count = 0;
    if (t == NULL) {
        return itm_error_set(&x->binary.error, ITM_ERR_MEMORY, __func__, NULL, "out of memory for an FMU");
    }
    t->x = x;
    ItmStatus status = collect(t);
    for (int j = 0; j < t->nknown && t->nunknown > 0 && status == ITM_OK; j++) {
        status = compare_known(t, j);
    }
    for (int i = 0; i < t->nunknown && status == ITM_OK; i++) {
        double noise = 1e-9 * fmax(fabs(t->high[i]), 1e-300);
        bool is_noise = t->largest[i] <= noise && t->distance[i] <= noise;
        double share = is_noise ? 0.0 : t->distance[i] / fmax(t->largest[i], noise);
        *worst = fmax(*worst, share);
    }
    *count = t->nunknown > 0 ? t->nknown : 0;
    free(t);
    return status;
}
