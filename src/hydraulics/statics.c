// Static start: pressures and commands at which no oil flows and the cylinders give the required forces.
//
//   flow_i(p, u) = 0 for every volume,   F_j(p) = required_j,   pistons at rest, spools at their commands
//
// Newton's method with minimum-norm corrections (what the equations leave open stays as it is) and backtracking.
#include "hydraulics/cylinder.h"
#include "hydraulics/data.h"
#include "math/least_squares.h"

#include "base/error.h"
#include "base/guard.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_HALVINGS 20
#define RANK_TOLERANCE 1e-12
#define INPUT_STEP 1e-6  // for derivatives by scaled inputs

typedef struct Static {
    const ItmCircuit* c;
    ItmHydraulics* d;
    const ItmHydraulicStatics* options;
    int nrow, ncol;
    double p_scale, flow_scale;
    int* volume;  // unknown pressures                  (nvolume)
    int* input;   // unknown inputs                     (ninput)
    int nvolume, ninput;
    double* residual;  // scaled                              (nrow)
    double* trial;     // scaled                              (nrow)
    double* A;         // scaled Jacobian, row-major          (nrow x ncol)
    double* y;         // correction                          (ncol)
    double* scratch;   //                                     (ITM_LEAST_SQUARES_SCRATCH(nrow, ncol))
    double* x;         // state before a correction           (nx)
    double* u;         // inputs before a correction          (ndrive)
} Static;

// ---------------------------------------------------------------------------- residual

static bool has_force(const ItmHydraulicStatics* options, int cylinder)
{
    return options->force != NULL && !isnan(options->force[cylinder]);
}

// Rates of the present state with pistons at rest, spools at their commands, and steady flow in lines.
static void compute_at_rest(const ItmCircuit* c, ItmHydraulics* d)
{
    itm_stage_begin(c, d, itm_hydraulics_get_time(d), 0.0);
    memcpy(d->s_stage, d->s, sizeof(double) * (size_t)c->ncyl);
    // pistons stand still, engines turn
    for (int i = 0; i < c->ncyl; i++) {
        d->w_stage[i] = c->cylinders[i].speed != ITM_NONE ? d->drive[c->cylinders[i].speed] : 0.0;
    }
    itm_kernel_compute_commands(c, d, d->x);
    for (int i = 0; i < c->nbranch; i++) {
        const ItmBranch* branch = &c->branches[i];
        if (branch->x_adr != ITM_NONE) {
            d->x[branch->x_adr] = branch->inv_inertia / branch->rate * (d->p[branch->a] - d->p[branch->b]);
        }
    }
    for (int i = 0; i < c->ncontrol; i++) {
        const ItmSpool* control = &c->controls[i];
        if (control->order > 0) {
            d->x[control->x_adr] = itm_kernel_get_spool_command(c, d, i);
        }
        if (control->order == 2) {
            d->x[control->x_adr + 1] = 0.0;
        }
    }
    itm_kernel_compute(c, d, d->k[3], d->x);
}

static double force_error(const ItmCircuit* c, const ItmHydraulics* d, const ItmHydraulicStatics* options, int i)
{
    return itm_cylinder_compute_stage_force(c, d, i, d->s[i], 0.0).total - options->force[i];
}

// Scaled residual of the present state; returns its largest size
static double compute_residual(const Static* k, double* residual)
{
    const ItmCircuit* c = k->c;
    compute_at_rest(c, k->d);
    int row = 0;
    for (int i = 0; i < c->nvol; i++) {
        residual[row++] = k->d->flow[i] / k->flow_scale;
    }
    for (int i = 0; i < c->ncyl; i++) {
        if (has_force(k->options, i)) {
            residual[row++] = force_error(c, k->d, k->options, i) / (c->cylinders[i].area_1 * k->p_scale);
        }
    }
    double largest = 0.0;
    for (int i = 0; i < row; i++) {
        largest = fmax(largest, fabs(residual[i]));
    }
    return largest;
}

ItmHydraulicResidual itm_hydraulics_check_static(const ItmCircuit* c, ItmHydraulics* d,
                                                 const ItmHydraulicStatics* statics)
{
    ITM_GUARD(c != NULL && d != NULL, (ItmHydraulicResidual){0});
    ItmHydraulicStatics any = itm_default_hydraulic_statics();
    const ItmHydraulicStatics* options = statics != NULL ? statics : &any;
    ItmHydraulicResidual rest = {.flow_node = ITM_NONE, .force_cylinder = ITM_NONE};
    memcpy(d->backup, d->state, sizeof(double) * (size_t)d->nstate);
    compute_at_rest(c, d);
    memcpy(d->state, d->backup, sizeof(double) * (size_t)d->nstate);
    for (int id = 0; id < c->nnode; id++) {
        int i = c->node_index[id];
        if (i < c->nvol && fabs(d->flow[i]) >= rest.flow) {
            rest.flow = fabs(d->flow[i]);
            rest.flow_node = id;
        }
    }
    for (int i = 0; i < c->ncyl; i++) {
        if (has_force(options, i) && fabs(force_error(c, d, options, i)) >= rest.force) {
            rest.force = fabs(force_error(c, d, options, i));
            rest.force_cylinder = i;
        }
    }
    return rest;
}

// ---------------------------------------------------------------------------- Newton

// Scaled entry of a pilot, if the pressure is unknown
static void add_to_columns(void* context, int row, int node, double value)
{
    const Static* k = context;
    for (int col = 0; col < k->nvolume; col++) {
        if (k->volume[col] == node) {
            k->A[row * k->ncol + col] += value * k->p_scale / k->flow_scale;
        }
    }
}

// Columns of pressures: d flow / dp from the branches, d F / dp from the areas
static void differentiate_pressures(const Static* k)
{
    const ItmCircuit* c = k->c;
    const ItmHydraulics* d = k->d;
    itm_kernel_differentiate(c, k->d, d->x);
    itm_kernel_eliminate(c, k->d, INFINITY);
    itm_kernel_visit_pilots(c, d, d->x, add_to_columns, (void*)k);
    for (int col = 0; col < k->nvolume; col++) {
        int node = k->volume[col];
        for (int i = 0; i < c->nbranch; i++) {
            const ItmBranch* branch = &c->branches[i];
            double by_node = branch->a == node ? d->q_p[i] : branch->b == node ? -d->q_p[i] : 0.0;
            double scaled = by_node * k->p_scale / k->flow_scale;
            if (branch->a < c->nvol) {
                k->A[branch->a * k->ncol + col] -= scaled;
            }
            if (branch->b < c->nvol) {
                k->A[branch->b * k->ncol + col] += scaled;
            }
        }
        for (int i = 0, row = c->nvol; i < c->ncyl; i++) {
            const ItmCylinder* cylinder = &c->cylinders[i];
            if (has_force(k->options, i)) {
                double area = cylinder->node_1 == node   ? cylinder->area_1
                              : cylinder->node_2 == node ? -cylinder->area_2
                                                         : 0.0;
                k->A[row++ * k->ncol + col] = area / cylinder->area_1;
            }
        }
    }
}

// Columns of inputs, by central differences
static void differentiate_inputs(const Static* k)
{
    for (int n = 0; n < k->ninput; n++) {
        double* input = &k->d->input[k->input[n]];
        double start = *input, step = INPUT_STEP * fmax(1.0, fabs(start));
        *input = start + step;
        compute_residual(k, k->trial);
        for (int row = 0; row < k->nrow; row++) {
            k->A[row * k->ncol + k->nvolume + n] = k->trial[row];
        }
        *input = start - step;
        compute_residual(k, k->trial);
        for (int row = 0; row < k->nrow; row++) {
            double* entry = &k->A[row * k->ncol + k->nvolume + n];
            *entry = (*entry - k->trial[row]) / (2.0 * step);
        }
        *input = start;
    }
    compute_residual(k, k->residual);
}

// y = -A^+ residual
static bool compute_correction(const Static* k)
{
    memset(k->A, 0, sizeof(double) * (size_t)k->nrow * (size_t)k->ncol);
    differentiate_inputs(k);
    differentiate_pressures(k);
    int rank = itm_least_squares_solve(k->y, k->A, k->residual, k->nrow, k->ncol, RANK_TOLERANCE, k->scratch);
    for (int i = 0; i < k->ncol; i++) {
        k->y[i] = -k->y[i];
    }
    return rank >= 0;
}

static void apply(const Static* k, double factor)
{
    const ItmCircuit* c = k->c;
    ItmHydraulics* d = k->d;
    for (int i = 0; i < k->nvolume; i++) {
        int node = k->volume[i];
        d->x[node] = fmax(k->x[node] + factor * k->y[i] * k->p_scale, c->oil[node].vapour);
    }
    for (int i = 0; i < k->ninput; i++) {
        d->input[k->input[i]] = k->u[k->input[i]] + factor * k->y[k->nvolume + i];
    }
}

// Newton until the residual is within the tolerance or no longer falls; returns it
static double iterate(const Static* k, int* iterations)
{
    double residual = compute_residual(k, k->residual);
    for (*iterations = 0; *iterations < k->options->max_iterations && residual > k->options->tolerance; ++*iterations) {
        memcpy(k->x, k->d->x, sizeof(double) * (size_t)k->c->nx);
        memcpy(k->u, k->d->input, sizeof(double) * (size_t)k->c->ndrive);
        if (!compute_correction(k)) {
            break;
        }
        double factor = 1.0, after = INFINITY;
        for (int n = 0; n < MAX_HALVINGS && !(after < residual); n++, factor *= 0.5) {
            apply(k, factor);
            after = compute_residual(k, k->residual);
        }
        if (!(after < residual)) {
            apply(k, 0.0);
            residual = compute_residual(k, k->residual);
            break;
        }
        residual = after;
    }
    return residual;
}

// ---------------------------------------------------------------------------- solving

// Scales: the largest pressure around, the flow it would drive through all branches together
static void find_scales(Static* k)
{
    const ItmCircuit* c = k->c;
    compute_at_rest(c, k->d);
    k->p_scale = 1e5;
    for (int i = 0; i < c->nnode; i++) {
        k->p_scale = fmax(k->p_scale, k->d->p[i]);
    }
    for (int i = 0; i < c->nbranch; i++) {
        double root = isinf(c->branches[i].threshold) ? k->p_scale : sqrt(k->p_scale);
        k->flow_scale = fmax(k->flow_scale, c->branches[i].coefficient * root);
    }
    k->flow_scale = k->flow_scale > 0 ? k->flow_scale : 1.0;
}

static void find_unknowns(Static* k)
{
    for (int i = 0; i < k->c->nvol; i++) {
        if (!k->c->is_held[i]) {
            k->volume[k->nvolume++] = i;
        }
    }
    for (int i = 0; k->options->is_free != NULL && i < k->c->ndrive; i++) {
        if (k->options->is_free[i]) {
            k->input[k->ninput++] = i;
        }
    }
    k->ncol = k->nvolume + k->ninput;
    k->nrow = k->c->nvol;
    for (int i = 0; i < k->c->ncyl; i++) {
        k->nrow += has_force(k->options, i);
    }
}

static ItmStatus report(const Static* k, ItmHydraulicResidual rest, double residual)
{
    const ItmCircuit* c = k->c;
    if (residual <= k->options->tolerance) {
        return ITM_OK;
    }
    const char* node = itm_circuit_get_node_name(c, rest.flow_node);
    const char* cylinder = itm_circuit_get_cylinder_name(c, rest.force_cylinder);
    return itm_error_set(
        &k->d->error, ITM_ERR_DIVERGED, "itm_hydraulics_solve_static", NULL,
        "no static equilibrium was found in %d iterations: %.3g m^3/s still flow into '%s', and the force of "
        "'%s' is off by %.3g N",
        rest.iterations, rest.flow, node != NULL ? node : "", cylinder != NULL ? cylinder : "", rest.force);
}

static ItmStatus solve(Static* k, ItmHydraulicResidual* rest)
{
    find_scales(k);
    int iterations = 0;
    double residual = iterate(k, &iterations);
    *rest = itm_hydraulics_check_static(k->c, k->d, k->options);
    rest->iterations = iterations;
    return report(k, *rest, residual);
}

ItmStatus itm_hydraulics_solve_static(const ItmCircuit* c, ItmHydraulics* d, const ItmHydraulicStatics* statics,
                                      ItmHydraulicResidual* rest)
{
    ITM_GUARD(c != NULL && d != NULL, ITM_ERR_ARGUMENT);
    ItmHydraulicStatics any = itm_default_hydraulic_statics();
    ItmHydraulicResidual left = {.flow_node = ITM_NONE, .force_cylinder = ITM_NONE};
    Static k = {.c = c, .d = d, .options = statics != NULL ? statics : &any};
    // one block: tables of unknowns, then reals
    size_t nv = (size_t)c->nvol, nu = (size_t)c->ndrive, nrow = nv + (size_t)c->ncyl, ncol = nv + nu;
    size_t nscratch = ITM_LEAST_SQUARES_SCRATCH(nrow, ncol);
    size_t nreal = 2 * nrow + nrow * ncol + ncol + nscratch + (size_t)c->nx + nu + (size_t)d->nstate;
    int* table = calloc(nv + nu + 1, sizeof *table);
    double* reals = calloc(nreal + 1, sizeof *reals);
    if (table == NULL || reals == NULL) {
        free(table);
        free(reals);
        return itm_error_set(&d->error, ITM_ERR_MEMORY, __func__, NULL, "out of memory for the static start");
    }
    k.volume = table;
    k.input = table + nv;
    k.residual = reals;
    k.trial = k.residual + nrow;
    k.A = k.trial + nrow;
    k.y = k.A + nrow * ncol;
    k.scratch = k.y + ncol;
    k.x = k.scratch + nscratch;
    k.u = k.x + c->nx;
    double* saved = k.u + nu;
    memcpy(saved, d->state, sizeof(double) * (size_t)d->nstate);
    find_unknowns(&k);
    ItmStatus status = k.nrow > 0 ? solve(&k, &left) : ITM_OK;
    if (status != ITM_OK) {
        memcpy(d->state, saved, sizeof(double) * (size_t)d->nstate);
    }
    if (rest != NULL) {
        *rest = left;
    }
    free(table);
    free(reals);
    return status;
}
