// Adaptive integrator: backward differentiation formulas with error control (SUNDIALS, CVODES), analytic Jacobian,
// the energy accounts as quadratures. Internal steps stop at jumps of signals. Every step starts the
// integrator anew from the state, so that a restored state continues with the same bits: make the steps long.
#include "hydraulics/data.h"

#include "base/error.h"

#include <cvodes/cvodes.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdlib.h>
#include <string.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#define MAX_INTERNAL_STEPS 1000000
#define ROUNDING 1e-9       // of the step: times closer than this are the same
#define PRESSURE_SCALE 1e5  // absolute tolerance of pressures: this times the relative one, Pa

struct ItmHydraulicAdaptive {
    const ItmCircuit* c;
    ItmHydraulics* d;
    SUNContext context;
    N_Vector x, absolute, energy;
    SUNMatrix matrix;
    SUNLinearSolver solver;
    void* integrator;
    double* J;    // row-major                       (nx x nx)
    double t, h;  // the step being made
};

// ---------------------------------------------------------------------------- callbacks

static int compute_rates(realtype t, N_Vector x, N_Vector x_dot, void* user)
{
    ItmHydraulicAdaptive* a = user;
    double* out = N_VGetArrayPointer(x_dot);
    itm_stage_set(a->c, a->d, a->t, a->h, t - a->t);
    itm_kernel_compute(a->c, a->d, out, N_VGetArrayPointer(x));
    for (int i = 0; i < a->c->nx; i++) {
        if (!isfinite(out[i])) {
            return 1;  // recoverable: a smaller step may help
        }
    }
    return 0;
}

static int compute_powers(realtype t, N_Vector x, N_Vector power, void* user)
{
    ItmHydraulicAdaptive* a = user;
    itm_stage_set(a->c, a->d, a->t, a->h, t - a->t);
    itm_kernel_compute(a->c, a->d, a->d->k[3], N_VGetArrayPointer(x));
    itm_kernel_compute_power(a->c, a->d, N_VGetArrayPointer(power));
    return 0;
}

static int compute_jacobian(realtype t, N_Vector x, N_Vector x_dot, SUNMatrix matrix, void* user, N_Vector scratch_1,
                            N_Vector scratch_2, N_Vector scratch_3)
{
    ItmHydraulicAdaptive* a = user;
    (void)x_dot, (void)scratch_1, (void)scratch_2, (void)scratch_3;
    const double* x_now = N_VGetArrayPointer(x);
    itm_stage_set(a->c, a->d, a->t, a->h, t - a->t);
    itm_kernel_compute(a->c, a->d, a->d->k[3], x_now);
    itm_kernel_differentiate(a->c, a->d, x_now);
    itm_kernel_assemble_jacobian(a->c, a->d, a->J, x_now);
    for (int j = 0; j < a->c->nx; j++) {
        double* column = SUNDenseMatrix_Column(matrix, j);
        for (int i = 0; i < a->c->nx; i++) {
            column[i] = a->J[i * a->c->nx + j];
        }
    }
    return 0;
}

// SUNDIALS would print; we report through the status.
static void ignore_message(int code, const char* module, const char* function, char* message, void* user)
{
    (void)code, (void)module, (void)function, (void)message, (void)user;
}

// ---------------------------------------------------------------------------- life

static bool create_vectors(ItmHydraulicAdaptive* a)
{
    int nx = a->c->nx;
    if (SUNContext_Create(NULL, &a->context) != 0) {
        return false;
    }
    a->x = N_VNew_Serial(nx, a->context);
    a->absolute = N_VNew_Serial(nx, a->context);
    a->energy = N_VNew_Serial(ITM_HYDRAULIC_ACCOUNT_COUNT, a->context);
    a->matrix = SUNDenseMatrix(nx, nx, a->context);
    a->J = malloc(sizeof(double) * (size_t)nx * (size_t)nx);
    if (a->x == NULL || a->absolute == NULL || a->energy == NULL || a->matrix == NULL || a->J == NULL) {
        return false;
    }
    for (int i = 0; i < nx; i++) {
        N_VGetArrayPointer(a->x)[i] = a->d->x[i];
        N_VGetArrayPointer(a->absolute)[i] = a->d->options.tolerance * (i < a->c->nvol ? PRESSURE_SCALE : 1.0);
    }
    N_VConst(0.0, a->energy);
    a->solver = SUNLinSol_Dense(a->x, a->matrix, a->context);
    return a->solver != NULL;
}

static bool create_integrator(ItmHydraulicAdaptive* a)
{
    a->integrator = CVodeCreate(CV_BDF, a->context);
    void* cv = a->integrator;
    bool ok = cv != NULL && CVodeSetErrHandlerFn(cv, ignore_message, NULL) == CV_SUCCESS &&
              CVodeInit(cv, compute_rates, 0.0, a->x) == CV_SUCCESS &&
              CVodeSVtolerances(cv, a->d->options.tolerance, a->absolute) == CV_SUCCESS &&
              CVodeSetUserData(cv, a) == CV_SUCCESS && CVodeSetLinearSolver(cv, a->solver, a->matrix) == CV_SUCCESS &&
              CVodeSetJacFn(cv, compute_jacobian) == CV_SUCCESS &&
              CVodeSetMaxNumSteps(cv, MAX_INTERNAL_STEPS) == CV_SUCCESS;
    if (ok && a->d->options.use_ledger) {
        ok = CVodeQuadInit(cv, compute_powers, a->energy) == CV_SUCCESS;
    }
    return ok;
}

ItmStatus itm_hydraulics_adaptive_create(const ItmCircuit* c, ItmHydraulics* d, ItmError* error)
{
    if (c->nx == 0) {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, "integrator",
                             "a circuit without volumes and spools has nothing to integrate");
    }
    ItmHydraulicAdaptive* a = calloc(1, sizeof *a);
    if (a == NULL) {
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "out of memory for the adaptive integrator");
    }
    a->c = c;
    a->d = d;
    d->adaptive = a;
    if (!create_vectors(a) || !create_integrator(a)) {
        itm_hydraulics_adaptive_destroy(d);
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "the adaptive integrator could not be made");
    }
    return ITM_OK;
}

void itm_hydraulics_adaptive_destroy(ItmHydraulics* d)
{
    ItmHydraulicAdaptive* a = d->adaptive;
    if (a == NULL) {
        return;
    }
    if (a->integrator != NULL) {
        CVodeFree(&a->integrator);
    }
    N_Vector vectors[3] = {a->x, a->absolute, a->energy};
    for (int i = 0; i < 3; i++) {
        if (vectors[i] != NULL) {
            N_VDestroy(vectors[i]);
        }
    }
    if (a->solver != NULL) {
        SUNLinSolFree(a->solver);
    }
    if (a->matrix != NULL) {
        SUNMatDestroy(a->matrix);
    }
    if (a->context != NULL) {
        SUNContext_Free(&a->context);
    }
    free(a->J);
    free(a);
    d->adaptive = NULL;
}

// ---------------------------------------------------------------------------- step

// From t to stop, with no jump in between.
static int advance(ItmHydraulicAdaptive* a, double t, double stop)
{
    ItmHydraulics* d = a->d;
    void* cv = a->integrator;
    size_t bytes = sizeof(double) * (size_t)a->c->nx;
    memcpy(N_VGetArrayPointer(a->x), d->x, bytes);
    memcpy(N_VGetArrayPointer(a->energy), d->ledger, sizeof(double) * ITM_HYDRAULIC_ACCOUNT_COUNT);
    bool has_quadrature = d->options.use_ledger;
    int flag = CVodeReInit(cv, t, a->x);
    flag = flag == CV_SUCCESS && has_quadrature ? CVodeQuadReInit(cv, a->energy) : flag;
    flag = flag == CV_SUCCESS ? CVodeSetStopTime(cv, stop) : flag;
    realtype reached = t;
    flag = flag == CV_SUCCESS ? CVode(cv, stop, a->x, &reached, CV_NORMAL) : flag;
    if (flag >= 0 && has_quadrature) {
        flag = CVodeGetQuad(cv, &reached, a->energy) == CV_SUCCESS ? flag : -1;
        memcpy(d->ledger, N_VGetArrayPointer(a->energy), sizeof(double) * ITM_HYDRAULIC_ACCOUNT_COUNT);
    }
    memcpy(d->x, N_VGetArrayPointer(a->x), bytes);
    long internal = 0;
    CVodeGetNumSteps(cv, &internal);
    d->counters[ITM_COUNT_ITERATIONS] += (double)internal;
    return flag;
}

ItmStatus itm_hydraulics_adaptive_step(const ItmCircuit* c, ItmHydraulics* d, double t, double h)
{
    ItmHydraulicAdaptive* a = d->adaptive;
    double end = t + h, from = t;
    a->t = t;
    a->h = h;
    d->counters[ITM_COUNT_ITERATIONS] = 0.0;
    while (from < end) {
        // a jump within rounding of the start has happened, one within rounding of the end belongs to the next step
        double stop = itm_circuit_next_break(c, from + ROUNDING * h);
        stop = stop < end - ROUNDING * h ? stop : end;
        itm_stage_begin(c, d, from, stop - from);
        int flag = advance(a, from, stop);
        if (flag < 0) {
            return itm_error_set(&d->error, ITM_ERR_DIVERGED, "itm_hydraulics_step", NULL,
                                 "the adaptive integrator stopped between t = %.9g and %.9g s (code %d)", from, stop,
                                 flag);
        }
        from = stop;
    }
    return ITM_OK;
}
