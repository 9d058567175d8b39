// Static start: the forces that hold the mechanisms at rest where they are, contacts included, and the pressures and valve
// positions that give these forces.
#include "cosim/cosim.h"
#include "math/least_squares.h"

#include "base/error.h"
#include "base/guard.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ITERATIONS 50
#define TOLERANCE 1e-10  // of the accelerations that a force has to undo
#define RCOND 1e-12      // singular values of the mobility below this times the largest are none: immobile interfaces

// ---------------------------------------------------------------------------- forces that hold a mechanism

// Accelerations of the lengths under forces lambda (with zeros for frames): rates after one step h of the interface model from rest, over h.
static ItmStatus accelerate(ItmMechanism* part, double h, const double* lambda, double* a)
{
    ItmStatus status = itm_rim_predict(&part->rim, h, lambda, part->w_end);
    for (int i = 0; i < part->nbond; i++) {
        a[i] = (part->w_end[i] - part->rim.w[i]) / h;
    }
    return status;
}

// d a / d lambda by differences: with contacts the response is linear only while they stay as they are.   J (n x n), row-major;
// lambda (n) is put back; trial (n) scratch
static ItmStatus differentiate(ItmMechanism* part, double h, double* J, double* lambda, const double* a, double step,
                               double* trial)
{
    int n = part->nbond;
    ItmStatus status = ITM_OK;
    for (int j = 0; j < n && status == ITM_OK; j++) {
        lambda[j] += step;
        status = accelerate(part, h, lambda, trial);
        lambda[j] -= step;
        for (int i = 0; i < n; i++) {
            J[i * n + j] = (trial[i] - a[i]) / step;
        }
    }
    return status;
}

static double largest(const double* x, int n)
{
    double most = 0.0;
    for (int i = 0; i < n; i++) {
        most = fmax(most, fabs(x[i]));
    }
    return most;
}

// Newton's method with least-norm corrections, work (n (n + 3) + ITM_LEAST_SQUARES_SCRATCH(n, n))
static ItmStatus find_forces(ItmMechanism* part, double h, double* lambda, double* work)
{
    int n = part->nbond;
    double *J = work, *a = J + n * n, *trial = a + n, *delta = trial + n, *scratch = delta + n;
    memset(lambda, 0, sizeof(double) * (size_t)n);
    ItmStatus status = accelerate(part, h, lambda, a);
    double scale = largest(a, n);
    for (int k = 0; k < MOST_ITERATIONS && status == ITM_OK && largest(a, n) > TOLERANCE * scale; k++) {
        double step = fmax(largest(lambda, n), 1.0) * 1e-3;
        status = differentiate(part, h, J, lambda, a, step, trial);
        if (status != ITM_OK || itm_least_squares_solve(delta, J, a, n, n, RCOND, scratch) < 0) {
            break;
        }
        for (int i = 0; i < n; i++) {
            lambda[i] -= delta[i];
        }
        status = accelerate(part, h, lambda, a);
    }
    if (status == ITM_OK && !(largest(a, n) <= 1e-6 * fmax(scale, 1e-12))) {
        part->status = status = itm_error_set(&part->error, ITM_ERR_DIVERGED, "itm_cosim_solve_static", part->name,
                                              "no forces of its actuators hold mechanism '%s' at rest: %.3g m/s^2 is "
                                              "left; start it in a position of rest",
                                              part->name, largest(a, n));
    }
    return status;
}

// The forces into part->lambda.
static ItmStatus hold_mechanism(ItmCosim* x, ItmMechanism* part)
{
    int n = part->nbond;
    double* work = calloc((size_t)(n * (n + 3) + ITM_LEAST_SQUARES_SCRATCH(n, n)) + 1, sizeof *work);
    if (work == NULL) {
        return itm_error_set(&part->error, ITM_ERR_MEMORY, "itm_cosim_solve_static", NULL, "out of memory");
    }
    ItmData* d = part->data;
    itm_mechanism_look_at_ports(part);
    ItmStatus status =
        part->foreign != NULL
            ? itm_foreign_reduce(part->foreign, &part->rim, 0.0, x->step, 1, true, &d->error)
            : itm_rim_extract(part->model, d, &part->rim, itm_data_get_time(d), x->step, 0.0, ITM_RIM_SOLVE);
    status = status == ITM_OK ? itm_rim_begin(&part->rim, 1, true) : status;
    if (status == ITM_OK) {
        status = find_forces(part, x->step, part->lambda, work);
    } else {
        part->error = d->error;
    }
    if (part->foreign != NULL) {
        itm_foreign_cancel(part->foreign);
    }
    d->position_state = ITM_POSITION_STALE;
    free(work);
    return status;
}

// ---------------------------------------------------------------------------- circuits that give these forces

static ItmStatus hold_circuit(ItmCosim* x, const ItmCosimStart* start, ItmHydraulicResidual* rest, ItmError* error)
{
    ItmSubsystemInstance* subsystem = &x->subsystems[start->subsystem];
    const ItmCircuit* c = subsystem->hydraulics->circuit;
    ItmHydraulicStatics statics = itm_default_hydraulic_statics();
    for (int i = 0; i < subsystem->table.nport; i++) {
        bool is_bound = subsystem->bonds[i] != ITM_NONE;
        const ItmBond* bond = is_bound ? &x->bonds[subsystem->bonds[i]] : NULL;
        double given = start->force != NULL ? start->force[i] : NAN;
        // a foreign mechanism may follow its partner whatever the force
        bool is_given = !is_bound || (x->mechanisms[bond->mechanism].foreign != NULL && isfinite(given));
        subsystem->force[i] = is_given ? given : x->mechanisms[bond->mechanism].lambda[bond->slot];
    }
    statics.force = subsystem->force;
    statics.is_free = start->is_free;
    ItmStatus status = itm_hydraulics_solve_static(c, subsystem->hydraulics, &statics, rest);
    if (status != ITM_OK) {
        const ItmError* cause = itm_hydraulics_get_error(subsystem->hydraulics);
        return itm_error_set(error, status, "itm_cosim_solve_static", cause->field, "%s: %s", subsystem->name,
                             cause->message);
    }
    for (int i = 0; i < subsystem->table.ninput; i++) {
        double value = itm_hydraulics_get_input(subsystem->hydraulics, i);
        subsystem->offset[i] += value - subsystem->u[i];
        subsystem->u[i] = value;
    }
    return ITM_OK;
}

// ---------------------------------------------------------------------------- the whole

ItmStatus itm_cosim_solve_static(ItmCosim* x, const ItmCosimStart* starts, int nstart, ItmCosimResidual* rest)
{
    ITM_GUARD(x != NULL, ITM_ERR_ARGUMENT);
    ItmStatus status = itm_cosim_refuse_unsaved(x, __func__);
    status = status == ITM_OK ? itm_cosim_reset(x) : status;
    for (int i = 0; i < x->nmechanism && status == ITM_OK; i++) {
        ItmMechanism* part = &x->mechanisms[i];
        if (part->nbond > 0) {
            status = hold_mechanism(x, part);
            if (status != ITM_OK) {
                x->error = part->error;
            }
        }
    }
    for (int i = 0; i < nstart && status == ITM_OK; i++) {
        ItmHydraulicResidual circuit = {0};
        bool is_circuit = starts[i].subsystem >= 0 && starts[i].subsystem < x->nsubsystem &&
                          x->subsystems[starts[i].subsystem].hydraulics != NULL;
        status = is_circuit ? hold_circuit(x, &starts[i], &circuit, &x->error)
                            : itm_error_set(&x->error, ITM_ERR_ARGUMENT, __func__, NULL,
                                            "subsystem %d is not a circuit", starts[i].subsystem);
    }
    if (status != ITM_OK) {
        itm_cosim_reset(x);
        return status;
    }
    itm_cosim_start_here(x);
    if (rest != NULL) {
        *rest = itm_cosim_check_static(x);
    }
    return ITM_OK;
}

// The fastest body after one step from rest, over the step.
ItmCosimResidual itm_cosim_check_static(ItmCosim* x)
{
    ITM_GUARD(x != NULL, (ItmCosimResidual){0});
    ItmCosimResidual rest = {.mechanism = ITM_NONE, .body = ITM_NONE};
    char* bytes = itm_cosim_find_unsaved(x) == NULL ? malloc(itm_cosim_get_state_size(x)) : NULL;
    if (bytes == NULL) {
        return (ItmCosimResidual){.acceleration = NAN, .mechanism = ITM_NONE, .body = ITM_NONE};
    }
    itm_cosim_save(x, bytes, itm_cosim_get_state_size(x));
    for (int i = 0; i < x->nsubsystem; i++) {
        if (x->subsystems[i].hydraulics != NULL) {
            ItmHydraulicResidual circuit =
                itm_hydraulics_check_static(x->subsystems[i].hydraulics->circuit, x->subsystems[i].hydraulics, NULL);
            rest.flow = fmax(rest.flow, circuit.flow);
        }
    }
    x->is_trial = true;
    rest.is_broken = itm_cosim_step(x) != ITM_OK;
    x->is_trial = false;
    for (int i = 0; i < x->nmechanism && !rest.is_broken; i++) {
        const ItmMechanism* part = &x->mechanisms[i];
        for (int body = 0; body < part->model->nuser; body++) {
            ItmVec3 v = itm_data_get_body_velocity(part->model, part->data, body);
            double a = sqrt(v.x * v.x + v.y * v.y + v.z * v.z) / x->step;
            if (a > rest.acceleration) {
                rest.acceleration = a;
                rest.mechanism = i;
                rest.body = body;
            }
        }
    }
    itm_cosim_restore(x, bytes, itm_cosim_get_state_size(x));
    free(bytes);
    return rest;
}
