// Linearised macro step: how much a small disturbance grows from one communication point to the next.
//
// z -> F(z) is one macro step, or as many as controls need until their samples come round; z holds coordinates and velocities of
// bodies at interfaces and actuators, states of the subsystems, and what bonds remember. The Jacobian comes by central differences
// over whole steps, so it is that of the scheme that runs, with all that rides in it; contacts answer as they do to small
// disturbances of either sign. The two sides of a cut are disturbed each alone: the scheme has to bring them together again, and
// where it does not (exchange hold) that is how it breaks down.
#include "cosim/cosim.h"

#include "base/error.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_STATES 600    // of the linearised step: its eigenvalues take (states)^3 operations
#define SMALL 1e-6         // disturbance of coordinates (m, rad) and velocities
#define SMALL_SHARE 1e-5   // of other states
#define USUAL_FORCE 100.0  // N
#define USUAL_STATE 0.1    // of subsystems that do not say
#define PAST_STEPS 2       // until predictions have their past

// ---------------------------------------------------------------------------- states

// Goes over all states: reads them with the sizes of their disturbances, or writes them.
typedef struct Walk {
    double *z, *small;       // NULL: only counts                                   (n)
    bool is_writing;
    int n;
} Walk;

static void visit(Walk* walk, double* state, double small)
{
    if (walk->z != NULL && walk->is_writing) {
        *state = walk->z[walk->n];
    } else if (walk->z != NULL) {
        walk->z[walk->n] = *state;
        walk->small[walk->n] = small;
    }
    walk->n++;
}

static double share(double value, double usual)
{
    return SMALL_SHARE * fmax(fabs(value), usual);
}

static bool is_measured_in(const ItmModel* m, const ItmMeasure* measure, int component)
{
    const ItmJoint* joint = measure->joint != ITM_NONE ? &m->joints[measure->joint] : NULL;
    int a = joint != NULL ? joint->body_a : measure->body_a, b = joint != NULL ? joint->body_b : measure->body_b;
    return (a != ITM_NONE && m->component[a] == component) || (b != ITM_NONE && m->component[b] == component);
}

// Whether a signal drives a motion, a force or a load of a component.
static bool is_signalled(const ItmModel* m, int signal, int component)
{
    bool is_driven = false;
    for (int i = 0; i < m->nmotion && !is_driven; i++) {
        is_driven = m->motions[i].signal == signal && is_measured_in(m, &m->measures[m->motions[i].measure], component);
    }
    for (int i = 0; i < m->npush && !is_driven; i++) {
        bool is_own = m->pushes[i].signal == signal || (m->pushes[i].is_servo && m->pushes[i].target == signal);
        is_driven = is_own && is_measured_in(m, &m->measures[m->pushes[i].measure], component);
    }
    for (int i = 0; i < m->nload && !is_driven; i++) {
        is_driven = m->loads[i].signal == signal && m->component[m->loads[i].body] == component;
    }
    return is_driven;
}

// Whether an interface or a wire acts on bodies of a component.
static bool is_driven(const ItmCosim* x, const ItmMechanism* part, int component)
{
    const ItmModel* m = part->model;
    bool is_driven = part->rim.is_touched[component];
    for (int i = part->wire; i < part->wire + part->nwire && !is_driven; i++) {
        int index = x->wires[i].to_index;
        is_driven = x->wires[i].is_signal
                        ? is_signalled(m, index, component)
                        : is_measured_in(m, &m->measures[m->pushes[m->actuator_push[index]].measure], component);
    }
    return is_driven;
}

// Bodies that joints connect with an interface or a driven actuator. Others (a block that lies there) meet them by contact only,
// and their own contacts answer a disturbance upwards and downwards differently: that is no growth.
static void visit_mechanism(const ItmCosim* x, const ItmMechanism* part, Walk* walk)
{
    const ItmModel* m = part->model;
    for (int i = 0; i < m->nbody; i++) {
        const ItmBody* body = &m->bodies[i];
        if (!is_driven(x, part, m->component[i])) {
            continue;
        }
        for (int k = 0; k < body->nq; k++) {
            visit(walk, &part->data->q[body->q_adr + k], SMALL);
        }
        for (int k = 0; k < body->nv; k++) {
            visit(walk, &part->data->v[body->v_adr + k], SMALL);
        }
    }
    for (int i = 0; i < m->noutside; i++) {
        double* outside = part->data->outside + ITM_OUTSIDE_REALS * i;
        visit(walk, &outside[ITM_OUTSIDE_OFFSET], SMALL);
        visit(walk, &outside[ITM_OUTSIDE_SLOPE], SMALL);
    }
    if (walk->is_writing) {
        part->data->position_state = ITM_POSITION_STALE;
    }
}

// Its states; outputs that wires take follow them.
static void visit_member(const ItmMember* member, Walk* walk)
{
    const ItmSubsystem* table = &member->table;
    int n = table->get_states != NULL ? table->nstate : 0;
    double* z = walk->z != NULL ? walk->z + walk->n : NULL;
    if (z != NULL && n > 0 && walk->is_writing) {
        table->set_states(table->self, z);
        if (member->is_watched && !table->is_sampled) {
            table->get_outputs(table->self, member->y);
        }
    } else if (z != NULL && n > 0) {
        table->get_states(table->self, z);
        for (int k = 0; k < n; k++) {
            walk->small[walk->n + k] = share(z[k], table->nominal != NULL ? table->nominal[k] : USUAL_STATE);
        }
    }
    walk->n += n;
}

static int walk_states(ItmCosim* x, Walk walk)
{
    for (int i = 0; i < x->nmechanism; i++) {
        visit_mechanism(x, &x->mechanisms[i], &walk);
    }
    for (int i = 0; i < x->nmember; i++) {
        visit_member(&x->members[i], &walk);
    }
    for (int i = 0; i < x->nbond; i++) {
        ItmBondMemory* memory = x->bonds[i].memory;
        visit(&walk, &memory->force, share(memory->force, USUAL_FORCE));
        visit(&walk, &memory->active, share(memory->active, USUAL_FORCE));
        visit(&walk, &memory->w_past[0], SMALL);
        visit(&walk, &memory->w_past[1], SMALL);
    }
    return walk.n;
}

const char* itm_cosim_get_opaque(const ItmCosim* x, int i)
{
    for (int k = 0; k < x->nmember; k++) {
        const ItmSubsystem* table = &x->members[k].table;
        bool has_state = table->memory != NULL ? table->memory_size > 0 : table->get_state_size(table->self) > 0;
        if (has_state && table->get_states == NULL && i-- == 0) {
            return x->members[k].name;
        }
    }
    return NULL;
}

// ---------------------------------------------------------------------------- Jacobian

typedef struct Linear {
    int n;
    int nsteps;                  // macro steps of F
    char* start;                 // state of the system where it is linearised
    double *z, *small;           // states there, and their disturbances (n)
    double *plus, *minus, *room; // (n)
    double* J;                   // column by column, in units of the disturbances (n x n)
    double *re, *im;             // eigenvalues (n)
} Linear;

// F(start + times * disturbance of state j)
static ItmStatus step_disturbed(ItmCosim* x, const Linear* l, int j, double times, double* z)
{
    memcpy(z, l->z, sizeof(double) * (size_t)l->n);
    z[j] += times * l->small[j];
    itm_cosim_restore(x, l->start, itm_cosim_get_state_size(x));
    walk_states(x, (Walk){.z = z, .is_writing = true});
    ItmStatus status = ITM_OK;
    for (int k = 0; k < l->nsteps && status == ITM_OK; k++) {
        status = itm_cosim_step(x);
    }
    walk_states(x, (Walk){.z = z, .small = l->room});
    return status;
}

static ItmStatus differentiate(ItmCosim* x, const Linear* l)
{
    for (int j = 0; j < l->n; j++) {
        ItmStatus status = step_disturbed(x, l, j, 1.0, l->plus);
        status = status == ITM_OK ? step_disturbed(x, l, j, -1.0, l->minus) : status;
        if (status != ITM_OK) {
            return status;
        }
        for (int i = 0; i < l->n; i++) {
            l->J[(size_t)j * (size_t)l->n + (size_t)i] = 0.5 * (l->plus[i] - l->minus[i]) / l->small[i];
        }
    }
    return ITM_OK;
}

static ItmStatus find_radius(ItmCosim* x, const Linear* l, double* radius)
{
    int info = LAPACKE_dgeev(LAPACK_COL_MAJOR, 'N', 'N', l->n, l->J, l->n, l->re, l->im, NULL, 1, NULL, 1);
    if (info != 0) {
        return itm_error_set(&x->error, ITM_ERR_NOT_FINITE, "itm_cosim_compute_radius", NULL,
                             "the linearised step has no eigenvalues (LAPACK %d)", info);
    }
    double largest = 0.0;
    for (int i = 0; i < l->n; i++) {
        largest = fmax(largest, hypot(l->re[i], l->im[i]));
    }
    *radius = pow(largest, 1.0 / l->nsteps);
    return ITM_OK;
}

static ItmStatus linearise(ItmCosim* x, const Linear* l, double* radius)
{
    for (int k = 0; k < PAST_STEPS || (long)*itm_cosim_get_steps(x) % l->nsteps != 0; k++) {
        ItmStatus status = itm_cosim_step(x);
        if (status != ITM_OK) {
            return status;
        }
    }
    itm_cosim_save(x, l->start, itm_cosim_get_state_size(x));
    walk_states(x, (Walk){.z = l->z, .small = l->small});
    ItmStatus status = differentiate(x, l);
    return status == ITM_OK ? find_radius(x, l, radius) : status;
}

// Macro steps until the samples of all subsystems come round; 0: never.
static int find_period(const ItmCosim* x)
{
    double period = x->step;
    for (int i = 0; i < x->nmember; i++) {
        period = itm_cosim_find_common_multiple(period, x->members[i].step);
        period = itm_cosim_find_common_multiple(period, x->members[i].table.repeat);
    }
    return isfinite(period) ? (int)itm_cosim_count_whole(period, x->step) : 0;
}

ItmStatus itm_cosim_compute_radius(ItmCosim* x, int nstep, double* radius)
{
    int n = walk_states(x, (Walk){0}), period = find_period(x);
    int nsteps = nstep > period && period > 0 ? (nstep + period - 1) / period * period : period;
    if (n == 0 || n > MOST_STATES) {
        return itm_error_set(&x->error, ITM_ERR_UNSUPPORTED, __func__, NULL,
                             "the linearised step has %d states; 1 to %d are worth an answer", n, MOST_STATES);
    }
    if (nsteps == 0) {
        return itm_error_set(&x->error, ITM_ERR_UNSUPPORTED, __func__, NULL,
                             "the samples of the controls do not come round within a thousand macro steps");
    }
    size_t size = itm_cosim_get_state_size(x), reals = (size_t)n * (size_t)(n + 7);
    double* block = malloc(sizeof *block * reals);
    char* bytes = malloc(2 * size);
    ItmStatus status = block != NULL && bytes != NULL
                           ? ITM_OK
                           : itm_error_set(&x->error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
    if (status == ITM_OK) {
        Linear l = {.n = n, .nsteps = nsteps, .start = bytes + size, .z = block, .small = block + n, .plus = block + 2 * n,
                    .minus = block + 3 * n, .room = block + 4 * n, .re = block + 5 * n, .im = block + 6 * n,
                    .J = block + 7 * n};
        itm_cosim_save(x, bytes, size);
        x->is_trial = true;  // a disturbance is energy from nowhere
        status = linearise(x, &l, radius);
        x->is_trial = false;
        itm_cosim_restore(x, bytes, size);
    }
    free(block);
    free(bytes);
    return status;
}
