// Linearised macro step: how much a small disturbance grows from one communication point to the next.
//
// z -> F(z) is one macro step, or as many as controls need until their samples repeat; advice_states.c has the states z. The Jacobian
// comes by central differences over whole steps, so it is that of the scheme that runs, interface models with their contacts included.
// The two sides of an interface are disturbed each alone: the scheme has to bring them together again, and where it does not (exchange
// hold) that is how it breaks down.
//
// J is block diagonal, a block per component. Trial step k disturbs state k of every component at once. Components with a foreign mechanism,
// whose states are out of reach, are judged by responses instead (advice_response.c).
#include "cosim/advice.h"

#include "base/error.h"
#include "base/guard.h"
#include "math/eigen_general.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_STATES 600    // of a component: the eigenvalues take (states)^3 operations
#define MOST_STEPS 100000  // that a linearisation may cover
#define PAST_STEPS 2       // until extrapolation has its past

bool itm_advice_is_partner(const ItmCosim* x, int subsystem)
{
    bool is = false;
    for (int i = 0; i < x->nbond; i++) {
        is = is || (x->bonds[i].subsystem == subsystem && x->mechanisms[x->bonds[i].mechanism].foreign != NULL);
    }
    return is;
}

const char* itm_cosim_get_unlinearised(const ItmCosim* x, int i)
{
    ITM_GUARD(x != NULL, NULL);
    for (int k = 0; k < x->nsubsystem; k++) {
        const ItmSubsystem* table = &x->subsystems[k].table;
        bool has_state = table->memory != NULL ? table->memory_size > 0 : table->get_state_size(table->self) > 0;
        if (has_state && table->get_states == NULL && !itm_advice_is_partner(x, k) && i-- == 0) {
            return x->subsystems[k].name;
        }
    }
    return NULL;
}

// ---------------------------------------------------------------------------- Jacobian

typedef struct Linear {
    const ItmStates* states;
    ItmAdviceWatch watch;
    int nmost;             // states of the largest component
    int nsteps;            // macro steps of F
    char* start;           // state of the system where it is linearised
    double *z, *small;     // states there, and their disturbances             (n)
    double *plus, *minus;  // (n)
    double** J;            // block of each component, column by column, in units of the disturbances (n_c x n_c)
    double *re, *im;       // eigenvalues of a block (nmost)
} Linear;

ItmStatus itm_advice_refuse_budget(ItmCosim* x)
{
    return itm_error_set(&x->error, ITM_ERR_CAPACITY, "itm_cosim_compute_radius", NULL, "the budget is spent");
}

// F(start + times * disturbances of state k of every component)
static ItmStatus step_disturbed(ItmCosim* x, const Linear* l, int k, double times, double* z)
{
    const ItmStates* s = l->states;
    memcpy(z, l->z, sizeof(double) * (size_t)s->n);
    for (int c = 0; c < s->ncomponent; c++) {
        if (!s->is_open[c] && s->first[c] + k < s->first[c + 1]) {
            z[s->first[c] + k] += times * l->small[s->first[c] + k];
        }
    }
    itm_cosim_restore(x, l->start, itm_cosim_get_state_size(x));
    itm_advice_states_write(s, x, z);
    ItmStatus status = ITM_OK;
    for (int step = 0; step < l->nsteps && status == ITM_OK; step++) {
        bool is_over = l->watch.is_over != NULL && l->watch.is_over(l->watch.context);
        status = is_over ? itm_advice_refuse_budget(x) : itm_cosim_step(x);
    }
    itm_advice_states_read(s, x, z, NULL);
    return status;
}

static ItmStatus differentiate(ItmCosim* x, const Linear* l)
{
    const ItmStates* s = l->states;
    for (int k = 0; k < l->nmost; k++) {
        ItmStatus status = step_disturbed(x, l, k, 1.0, l->plus);
        status = status == ITM_OK ? step_disturbed(x, l, k, -1.0, l->minus) : status;
        if (status != ITM_OK) {
            return status;
        }
        for (int c = 0; c < s->ncomponent; c++) {
            int first = s->first[c], n = s->first[c + 1] - first;
            for (int i = 0; i < n && k < n && !s->is_open[c]; i++) {
                l->J[c][(size_t)k * (size_t)n + (size_t)i] =
                    0.5 * (l->plus[first + i] - l->minus[first + i]) / l->small[first + i];
            }
        }
    }
    return ITM_OK;
}

// Of all blocks, each alone.
static ItmStatus find_radius(ItmCosim* x, const Linear* l, double* radius)
{
    double largest = 0.0;
    for (int c = 0; c < l->states->ncomponent; c++) {
        int n = l->states->is_open[c] ? 0 : l->states->first[c + 1] - l->states->first[c];
        ItmStatus status = itm_eigen_general(l->J[c], l->re, l->im, n);
        if (status != ITM_OK) {
            return itm_error_set(&x->error, status, "itm_cosim_compute_radius", NULL,
                                 "the eigenvalues of the linearised step were not found: %s",
                                 itm_status_message(status));
        }
        for (int i = 0; i < n; i++) {
            largest = fmax(largest, hypot(l->re[i], l->im[i]));
        }
    }
    *radius = pow(largest, 1.0 / l->nsteps);
    return ITM_OK;
}

// To the first communication point with a past where a period of samples begins.
static ItmStatus step_to_period(ItmCosim* x, int nsteps)
{
    ItmStatus status = ITM_OK;
    for (int k = 0; status == ITM_OK && (k < PAST_STEPS || (long)*itm_cosim_get_steps(x) % nsteps != 0); k++) {
        status = itm_cosim_step(x);
    }
    return status;
}

static ItmStatus linearise(ItmCosim* x, const Linear* l, double* radius)
{
    ItmStatus ahead = step_to_period(x, l->nsteps);
    if (ahead != ITM_OK) {
        return ahead;
    }
    itm_cosim_save(x, l->start, itm_cosim_get_state_size(x));
    itm_advice_states_read(l->states, x, l->z, l->small);
    ItmStatus status = differentiate(x, l);
    return status == ITM_OK ? find_radius(x, l, radius) : status;
}

// ---------------------------------------------------------------------------- radius

// Macro steps until the samples of all subsystems repeat; 0: never.
static int find_period(const ItmCosim* x)
{
    double period = x->step;
    for (int i = 0; i < x->nsubsystem; i++) {
        period = itm_cosim_find_common_multiple(period, x->subsystems[i].step);
        period = itm_cosim_find_common_multiple(period, x->subsystems[i].table.repeat);
    }
    return isfinite(period) ? (int)itm_cosim_count_whole(period, x->step) : 0;
}

static int find_most(const ItmStates* s)
{
    int most = 0;
    for (int c = 0; c < s->ncomponent; c++) {
        int n = s->is_open[c] ? 0 : s->first[c + 1] - s->first[c];
        most = n > most ? n : most;
    }
    return most;
}

// Linearise with room for it; the state of the system afterwards is any.
static ItmStatus linearise_in_room(ItmCosim* x, Linear* l, double* radius)
{
    const ItmStates* s = l->states;
    size_t reals = 4 * (size_t)s->n + 2 * (size_t)l->nmost;
    for (int c = 0; c < s->ncomponent; c++) {
        size_t n = (size_t)(s->first[c + 1] - s->first[c]);
        reals += n * n;
    }
    double* block = malloc(sizeof *block * reals);
    l->J = malloc(sizeof(double*) * (size_t)s->ncomponent);
    l->start = malloc(itm_cosim_get_state_size(x));
    ItmStatus status = ITM_OK;
    if (block == NULL || l->J == NULL || l->start == NULL) {
        status = itm_error_set(&x->error, ITM_ERR_MEMORY, "itm_cosim_compute_radius", NULL, "out of memory");
    } else {
        double* next = block;
        double** parts[] = {&l->z, &l->small, &l->plus, &l->minus, &l->re, &l->im};
        for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
            *parts[i] = next;
            next += i < 4 ? s->n : l->nmost;
        }
        for (int c = 0; c < s->ncomponent; c++) {
            size_t n = (size_t)(s->first[c + 1] - s->first[c]);
            l->J[c] = next;
            next += n * n;
        }
        status = linearise(x, l, radius);
    }
    free(block);
    free(l->J);
    free(l->start);
    return status;
}

// Without the states of a mechanism every coupling would seem stable.
static ItmStatus refuse_unsaved_mechanism(ItmCosim* x)
{
    for (int i = 0; i < x->nmechanism; i++) {
        const ItmForeign* f = x->mechanisms[i].foreign;
        if (f != NULL && f->state_size == 0) {
            return itm_error_set(
                &x->error, ITM_ERR_UNSUPPORTED, "itm_cosim_compute_radius", f->name,
                "the state of mechanism '%s' cannot be saved and restored, so that it cannot be disturbed: "
                "find the largest macro step by runs (interim sweep), or use a mechanism that saves its state",
                f->name);
        }
    }
    return ITM_OK;
}

static bool has_foreign(const ItmCosim* x)
{
    bool has = false;
    for (int i = 0; i < x->nmechanism; i++) {
        has = has || x->mechanisms[i].foreign != NULL;
    }
    return has;
}

// Components whose states are known by differences, the others by responses, both from the state `before`.
static ItmStatus find_radius_of_all(ItmCosim* x, Linear* l, const char* before, double* radius)
{
    double of_responses = 0.0;
    *radius = 0.0;
    ItmStatus status = l->nmost > 0 ? linearise_in_room(x, l, radius) : ITM_OK;
    if (status == ITM_OK && has_foreign(x)) {
        status = itm_cosim_restore(x, before, itm_cosim_get_state_size(x));
        status = status == ITM_OK ? step_to_period(x, l->nsteps) : status;
        status = status == ITM_OK ? itm_advice_respond(x, l->nsteps, l->watch, &of_responses) : status;
    }
    *radius = fmax(*radius, of_responses);
    return status;
}

// Circuits need no energy balance while trials run: nobody reads it, and the restored state brings it back. had (nsubsystem): which had one.
// An adaptive integrator integrates its energies with its states and keeps them.
static void switch_ledgers(ItmCosim* x, bool* had, bool is_on)
{
    for (int i = 0; i < x->nsubsystem; i++) {
        ItmHydraulics* circuit = x->subsystems[i].hydraulics;
        if (circuit != NULL && circuit->options.integrator != ITM_HYDRAULIC_ADAPTIVE) {
            had[i] = is_on ? had[i] : circuit->options.use_ledger;
            circuit->options.use_ledger = is_on && had[i];
        }
    }
}

ItmStatus itm_advice_compute_radius(ItmCosim* x, int nstep, ItmAdviceWatch watch, double* radius)
{
    ITM_GUARD(x != NULL && radius != NULL && nstep >= 1 && nstep <= MOST_STEPS, ITM_ERR_ARGUMENT);
    ItmStates states;
    ItmStatus status = itm_cosim_refuse_unsaved(x, "itm_cosim_compute_radius");
    status = status == ITM_OK ? itm_ranks_refuse(x, "itm_cosim_compute_radius") : status;
    status = status == ITM_OK ? refuse_unsaved_mechanism(x) : status;
    if (status != ITM_OK) {
        return status;
    }
    status = itm_advice_states_create(&states, x, false);
    int period = find_period(x), most = status == ITM_OK ? find_most(&states) : 0;
    if (status == ITM_OK && ((most == 0 && !has_foreign(x)) || most > MOST_STATES)) {
        status = itm_error_set(&x->error, ITM_ERR_UNSUPPORTED, "itm_cosim_compute_radius", NULL,
                               "the linearised step has %d states that influence each other; 1 to %d are supported",
                               most, MOST_STATES);
    }
    if (status == ITM_OK && period == 0) {
        status = itm_error_set(&x->error, ITM_ERR_UNSUPPORTED, "itm_cosim_compute_radius", NULL,
                               "the samples of the controls do not repeat within a thousand macro steps");
    }
    char* before = status == ITM_OK ? malloc(itm_cosim_get_state_size(x)) : NULL;
    bool* had_ledger = calloc((size_t)x->nsubsystem + 1, sizeof *had_ledger);
    if (status == ITM_OK && (before == NULL || had_ledger == NULL)) {
        status = itm_error_set(&x->error, ITM_ERR_MEMORY, "itm_cosim_compute_radius", NULL, "out of memory");
    }
    if (status == ITM_OK) {
        int nsteps = nstep > period ? (nstep + period - 1) / period * period : period;
        Linear l = {.states = &states, .watch = watch, .nmost = most, .nsteps = nsteps};
        itm_cosim_save(x, before, itm_cosim_get_state_size(x));
        x->is_trial = true;  // a disturbance is energy from nowhere
        switch_ledgers(x, had_ledger, false);
        status = find_radius_of_all(x, &l, before, radius);
        switch_ledgers(x, had_ledger, true);
        x->is_trial = false;
        itm_cosim_restore(x, before, itm_cosim_get_state_size(x));
    }
    free(before);
    free(had_ledger);
    itm_advice_states_destroy(&states);
    return status;
}

// ---------------------------------------------------------------------------- runs

// Bounded rows of the last step: contacts near enough to count, limits, friction.
static int count_rows(const ItmCosim* x)
{
    int n = 0;
    for (int i = 0; i < x->nmechanism; i++) {
        n += x->mechanisms[i].data->bounded != NULL ? x->mechanisms[i].data->bounded->nrow : 0;
    }
    return n;
}

ItmStatus itm_advice_run(ItmCosim* x, int nstep, ItmAdviceWatch watch, double* change)
{
    ITM_GUARD(x != NULL && change != NULL && nstep >= 0, ITM_ERR_ARGUMENT);
    ItmStatus status = itm_cosim_reset(x);
    int nrow = 0;
    *change = INFINITY;
    for (int k = 0; k < nstep && status == ITM_OK; k++) {
        bool is_over = watch.is_over != NULL && watch.is_over(watch.context);
        status = is_over ? itm_advice_refuse_budget(x) : itm_cosim_step(x);
        nrow = k == 0 ? count_rows(x) : nrow;
        *change = count_rows(x) != nrow ? fmin(*change, itm_cosim_get_time(x)) : *change;
    }
    return status;
}

// ---------------------------------------------------------------------------- work

#define BODY_WORK 200.0      // operations per velocity of a mechanism and step
#define SUBSYSTEM_WORK 20.0  // per state and micro step of a subsystem

static double square(double n)
{
    return n * n;
}

// Of the contacts, limits and friction of a mechanism in one step of it: an elimination, and one more for those of its interface model.
static double estimate_rows(const ItmMechanism* part)
{
    double rows = part->data->bounded != NULL ? part->data->bounded->nrow : 0;
    double of_model = part->has_rim ? part->rim.contacts.problem.n : 0;
    rows = fmax(rows, of_model);
    return rows * square(rows) + of_model * square(of_model);
}

// Of one macro step: steps of mechanisms with their bounded rows, micro steps of interface models with the squares of these, steps of
// subsystems.
static double estimate_step(const ItmCosim* x, double H)
{
    double work = 0.0, times = H / x->step;
    for (int i = 0; i < x->nmechanism; i++) {
        const ItmMechanism* part = &x->mechanisms[i];
        double nsub = part->own_step > 0.0 && !part->uses_impulse ? times * part->nsub : 1.0;
        work += nsub * (BODY_WORK * part->model->nv + estimate_rows(part) +
                        (part->assembly != ITM_NONE ? square(part->nframe) : 0.0));
        if (part->has_rim && part->assembly == ITM_NONE) {
            work += times * part->K * 2.0 * square(part->rim.n + part->rim.contacts.problem.n);
        }
    }
    for (int i = 0; i < x->nassembly; i++) {
        const ItmRim* rim = &x->assemblies[i].join.rim;
        work += times * x->assemblies[i].interface_model.K * 2.0 * square(rim->n + rim->contacts.problem.n);
    }
    for (int i = 0; i < x->nsubsystem; i++) {
        work += SUBSYSTEM_WORK * (1 + x->subsystems[i].table.nstate) * H / fmin(x->subsystems[i].step, H);
    }
    return work;
}

ItmStatus itm_advice_estimate_work(ItmCosim* x, double H, double* work)
{
    ITM_GUARD(x != NULL && work != NULL, ITM_ERR_ARGUMENT);
    ItmStates states;
    ItmStatus status = itm_advice_states_create(&states, x, false);
    double nstep = status == ITM_OK ? 2.0 * find_most(&states) * fmax(1, find_period(x)) : 0.0;
    itm_advice_states_destroy(&states);
    *work = nstep * estimate_step(x, H);
    return status;
}

ItmStatus itm_cosim_compute_radius(ItmCosim* x, int nstep, double* radius)
{
    return itm_advice_compute_radius(x, nstep, (ItmAdviceWatch){0}, radius);
}
