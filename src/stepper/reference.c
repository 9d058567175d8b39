// Adaptive reference integrator: explicit Runge-Kutta of order 8 with error control (SUNDIALS, ERKStep) on
//   q' = N(q) v,  v' from the index-1 equations,  ledger' = powers
// with q and v projected onto the constraints after every internal step. Internal steps stop at jumps of signals.
// Where rows become dependent (change points) those are left out for a moment, see SINGULAR_SHARE.
// Every communication step starts the integrator anew from the state and a step hint kept in it, so that a restored state
// continues with the same bits.
#include "stepper/stepper.h"

#include "base/error.h"
#include "multibody/assemble.h"
#include "multibody/dynamics.h"
#include "multibody/kinematics.h"
#include "multibody/mass.h"
#include "multibody/rows.h"

#include <arkode/arkode_erkstep.h>
#include <nvector/nvector_serial.h>
#include <stdlib.h>
#include <string.h>

#define MAX_INTERNAL_STEPS 1000000
#define ORDER 8

// Rows whose pivot falls below this share of its start are left out: within 3e-4 rad of a change point inertia carries the
// mechanism. Closer to it rounding, which goes with 1 / angle, decides on the branch; farther away the rows are worth more.
#define SINGULAR_SHARE 1e-7
#define NEARLY_SINGULAR 1e-2  // share of a pivot that explains why the integrator stopped: 0.1 rad

#define SMALLEST_STEP 1e-10  // internal step over the step: where steps shrink without end there is no need to follow

struct ItmReference {
    SUNContext context;
    N_Vector y;        // q, v, ledger
    void* integrator;  // ERKStep
    const ItmModel* m;
    ItmData* d;
};

// ---------------------------------------------------------------------------- states

static void pack(const ItmModel* m, const ItmData* d, double* y)
{
    memcpy(y, d->q, sizeof(double) * (size_t)m->nq);
    memcpy(y + m->nq, d->v, sizeof(double) * (size_t)m->nv);
    memcpy(y + m->nq + m->nv, d->energy.ledger, sizeof(double) * ITM_LEDGER_POWERS);
}

// y -> q (quaternions normalised), v, ledger
static void unpack(const ItmModel* m, ItmData* d, const double* y)
{
    memcpy(d->v, y + m->nq, sizeof(double) * (size_t)m->nv);
    memcpy(d->energy.ledger, y + m->nq + m->nv, sizeof(double) * ITM_LEDGER_POWERS);
    memset(d->x1, 0, sizeof(double) * (size_t)m->nv);
    itm_kinematics_integrate(m, d->q, y, d->x1, 0.0);
}

// ---------------------------------------------------------------------------- callbacks

static int compute_rates(realtype t, N_Vector y, N_Vector y_dot, void* user)
{
    ItmReference* r = user;
    const ItmModel* m = r->m;
    ItmData* d = r->d;
    double* out = N_VGetArrayPointer(y_dot);
    unpack(m, d, N_VGetArrayPointer(y));
    itm_kinematics_compute_rates(m, out, N_VGetArrayPointer(y), d->v);
    itm_dynamics_compute(m, d, out + m->nq, t, 0.0);
    memcpy(out + m->nq + m->nv, d->energy.power, sizeof(double) * ITM_LEDGER_POWERS);
    for (int i = 0; i < m->nv; i++) {
        if (!isfinite(out[m->nq + i])) {
            return 1;  // recoverable: a smaller step may help
        }
    }
    return 0;
}

// The joints cannot be kept closed: the message of assembly is meant for the start of a run.
static void fail_open(ItmData* d, double t)
{
    char element[sizeof d->error.field];
    memcpy(element, d->error.field, sizeof element);
    itm_error_set(
        &d->error, ITM_ERR_DIVERGED, "itm_step", element,
        "the reference integrator cannot keep '%s' closed at t = %.9g s: the mechanism is in a singular position or "
        "at the end of its reach, or motions contradict each other; check lengths and motions, or use stepper 'euler'",
        element, t);
}

// After every internal step: back onto the constraints.
static int project(realtype t, N_Vector y, void* user)
{
    ItmReference* r = user;
    unpack(r->m, r->d, N_VGetArrayPointer(y));
    ItmStatus status = ITM_OK;
    if (r->m->nrow > 0) {
        status = itm_assemble_positions(r->m, r->d, t, &r->d->error);
    }
    if (r->m->nrow > 0 && status == ITM_OK) {
        status = itm_assemble_velocities(r->m, r->d, t, &r->d->error);
    }
    if (status != ITM_OK) {
        fail_open(r->d, t);
        return -1;
    }
    itm_kinematics_compute_positions(r->m, r->d, r->d->q);
    itm_data_update_angles(r->m, r->d);
    pack(r->m, r->d, N_VGetArrayPointer(y));
    return 0;
}

// SUNDIALS would print; we report through the status.
static void ignore_message(int code, const char* module, const char* function, char* message, void* user)
{
    (void)code;
    (void)module;
    (void)function;
    (void)message;
    (void)user;
}

// ---------------------------------------------------------------------------- life

ItmStatus itm_reference_create(const ItmModel* m, ItmData* d, ItmError* error)
{
    ItmReference* r = calloc(1, sizeof *r);
    if (r == NULL) {
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "out of memory for the reference integrator");
    }
    r->m = m;
    r->d = d;
    d->reference = r;
    d->rows.singular_share = SINGULAR_SHARE;
    bool ok = SUNContext_Create(NULL, &r->context) == 0;
    r->y = ok ? N_VNew_Serial(m->nq + m->nv + ITM_LEDGER_POWERS, r->context) : NULL;
    r->integrator = r->y != NULL ? ERKStepCreate(compute_rates, 0.0, r->y, r->context) : NULL;
    ok = r->integrator != NULL && ERKStepSetErrHandlerFn(r->integrator, ignore_message, NULL) == ARK_SUCCESS &&
         ERKStepSStolerances(r->integrator, d->options.tolerance, d->options.tolerance) == ARK_SUCCESS &&
         ERKStepSetUserData(r->integrator, r) == ARK_SUCCESS && ERKStepSetOrder(r->integrator, ORDER) == ARK_SUCCESS &&
         ERKStepSetMinStep(r->integrator, SMALLEST_STEP * d->options.step) == ARK_SUCCESS &&
         ERKStepSetMaxNumSteps(r->integrator, MAX_INTERNAL_STEPS) == ARK_SUCCESS &&
         ERKStepSetPostprocessStepFn(r->integrator, project) == ARK_SUCCESS;
    if (!ok) {
        itm_reference_destroy(d);
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "the reference integrator could not be made");
    }
    return ITM_OK;
}

void itm_reference_destroy(ItmData* d)
{
    ItmReference* r = d->reference;
    if (r == NULL) {
        return;
    }
    if (r->integrator != NULL) {
        ERKStepFree(&r->integrator);
    }
    if (r->y != NULL) {
        N_VDestroy(r->y);
    }
    SUNContext_Free(&r->context);
    free(r);
    d->reference = NULL;
}

// ---------------------------------------------------------------------------- step

// First jump of a signal in (t, end), or end.
static double next_stop(const ItmModel* m, double t, double end)
{
    double stop = end;
    for (int i = 0; i < m->nsignal; i++) {
        double jump = itm_signal_next_break(&m->signals[i], t);
        stop = jump > t && jump < stop ? jump : stop;
    }
    return stop;
}

// The integrator gave up at time t, with a code of ARKODE.
static void fail_advance(const ItmModel* m, ItmData* d, double t, int code)
{
    itm_kinematics_compute_positions(m, d, d->q);
    itm_mass_factor(m, d);
    itm_rows_compute_jacobian(m, d);
    int row = m->nrow > 0 ? itm_rows_find_singular(m, d, NEARLY_SINGULAR) : ITM_NONE;
    if (row != ITM_NONE) {
        itm_error_set(
            &d->error, ITM_ERR_DIVERGED, "itm_step", NULL,
            "the reference integrator stopped at t = %.9g s, where '%s' nearly depends on the other joints and "
            "motions: the mechanism is in a singular position or at the end of its reach; check lengths and motions, "
            "or use stepper 'euler'",
            t, m->row_names[row]);
        return;
    }
    itm_error_set(
        &d->error, ITM_ERR_DIVERGED, "itm_step", NULL,
        "the reference integrator stopped at t = %.9g s (%s): the motion is too stiff or not finite there; use stepper "
        "'euler' or 'ali3p'",
        t, code == ARK_TOO_MUCH_WORK ? "too many internal steps" : "its step became too small");
}

// From t to stop, with no jump in between.
static int advance(ItmReference* r, double t, double stop)
{
    ItmData* d = r->d;
    pack(r->m, d, N_VGetArrayPointer(r->y));
    double hint = *d->step_hint;
    int flag = ERKStepReInit(r->integrator, compute_rates, t, r->y);
    flag = flag == ARK_SUCCESS ? ERKStepSetInitStep(r->integrator, hint < stop - t ? hint : 0.0) : flag;
    flag = flag == ARK_SUCCESS ? ERKStepSetStopTime(r->integrator, stop) : flag;
    realtype reached = t;
    flag = flag == ARK_SUCCESS ? ERKStepEvolve(r->integrator, stop, r->y, &reached, ARK_NORMAL) : flag;
    long internal = 0;
    ERKStepGetNumSteps(r->integrator, &internal);
    d->info.internal_steps += internal;
    d->info.iterations += (int)internal;
    unpack(r->m, d, N_VGetArrayPointer(r->y));
    // the stop time shortened the last step: its size is no guide to the next
    realtype last = 0.0;
    ERKStepGetLastStep(r->integrator, &last);
    *d->step_hint = internal > 1 && last > 0.0 && last < *d->step_hint ? *d->step_hint : last;
    if (flag < 0 && d->error.status == ITM_OK) {
        ERKStepGetCurrentTime(r->integrator, &reached);
        fail_advance(r->m, d, reached, flag);
    }
    return flag >= 0 ? 0 : flag;
}

// From the present time to `end`, from one jump of a signal to the next.
static ItmStatus advance_to(const ItmModel* m, ItmData* d, double end)
{
    double t = itm_data_get_time(d);
    while (t < end) {
        double stop = next_stop(m, t, end);
        if (m->nmotion > 0 && m->nrow > 0) {
            itm_jumps_follow(m, d, t);
        }
        int flag = advance(d->reference, t, stop);
        if (flag < 0) {
            return ITM_ERR_DIVERGED;
        }
        t = stop;
    }
    return ITM_OK;
}

ItmStatus itm_reference_step(const ItmModel* m, ItmData* d)
{
    d->error.status = ITM_OK;
    d->has_jumps = true;
    ItmStatus status = advance_to(m, d, (*d->steps + 1.0) * d->options.step);
    d->has_jumps = false;
    d->position_state = ITM_POSITION_STALE;
    return status;
}
