// The row table of the bilateral rows: w = A v. Joints fill it, steppers solve it, interface models reduce it.
#ifndef ITM_MULTIBODY_ROWS_H
#define ITM_MULTIBODY_ROWS_H

#include "multibody/data.h"

// Pivots below this fraction of the mobility of the free bodies count as dependent rows: round-off gives 1e-15 .. 1e-13,
// a mechanism that merely passes near a singular position gives the square of its angle from it.
#define ITM_REDUNDANCY_TOLERANCE 1e-12

// A time step leaves out rows whose pivot has fallen below this fraction of what it was in the start configuration: there
// the mechanism is within 3e-3 rad of a singular position, and a linearised row would ask for velocities of order step / angle.
// Inertia carries the mechanism through, the gap of the row is closed with the others. Against the start and not against the
// free bodies, because a light body between heavy ones has small pivots always. Rows of loops only (loops.h): the pivot of a row that is
// in none falls as the mechanism turns where a body is as good as a point, though it is independent of all others in every position.
#define ITM_SINGULAR_SHARE 1e-5

// Gaps that are left open turn the bodies out of their places by angles of about gap / size, and a redundant row gets a pivot of
// the square of that. A row that is redundant in the start configuration counts as redundant up to this factor times the square of
// the largest gap [m or rad], and at most up to ITM_SINGULAR_SHARE: ten times the angle in a mechanism of 1 m.
#define ITM_OPEN_FACTOR 100.0

// Compliance [1/kg] so large that a row takes no part in a solve.
#define ITM_OMEGA_IDLE 1e30

// Gap, rate, bias and Jacobian of all rows at time t, after the velocity stage.
void itm_rows_compute(const ItmModel* m, ItmData* d, double t);
// Its two halves: the Jacobian after the position stage; gap, rate and bias after the velocity stage.
void itm_rows_compute_jacobian(const ItmModel* m, ItmData* d);
void itm_rows_compute_motion(const ItmModel* m, ItmData* d, double t);
// Rate and bias where the gaps of joints are those of the position stage already.
void itm_rows_compute_rates(const ItmModel* m, ItmData* d, double t);
// The gaps only, in the configuration of the position stage (coordinates q); Jacobians stay as they are.
// Returns the largest.
double itm_rows_compute_gaps(const ItmModel* m, ItmData* d, const double* q, double t);
// The same with the Jacobian of joints, which other rows keep as it is; and that of the other rows.
double itm_rows_place_joints(const ItmModel* m, ItmData* d, const double* q, double t);
// The gaps of a forest of rows (spanning.h), and the directions of its nodes into d->spanning.placed. Returns the largest gap.
double itm_rows_place_nodes(const ItmModel* m, ItmData* d);
void itm_rows_place_measures(const ItmModel* m, ItmData* d);
// Rate (order 1) or second derivative (order 2) of the signals that drive rows, at time t. out (nrow)
void itm_rows_compute_reference(const ItmModel* m, const ItmData* d, double* out, double t, int order);

// H = A M^-1 A' + diag(d->rows.omega), factored; `relative` times the mobility that its bodies would have if they were
// free is added to every diagonal entry. After itm_mass_factor.
void itm_rows_factor(const ItmModel* m, ItmData* d, double relative);
// The same for a time step: rows that are nearly dependent in this position are left out (ITM_SINGULAR_SHARE).
void itm_rows_factor_step(const ItmModel* m, ItmData* d);
// The same for a stepper that leaves gaps open: rows that are redundant in the start configuration and nearly so here are left out
// too (ITM_OPEN_FACTOR). After itm_rows_compute.
void itm_rows_factor_open(const ItmModel* m, ItmData* d);
// The row whose pivot has fallen most against the start configuration, if below `share`, or ITM_NONE: which joint is nearest to a
// singular position. Leaves the factor of itm_rows_factor_step.
int itm_rows_find_singular(const ItmModel* m, ItmData* d, double share);
// Keep the pivots of the factor of the start configuration in the model, which that compares with.
void itm_rows_keep_pivots(ItmModel* m, const ItmData* d);

// Bodies (n, ITM_NONE: the world) and their ancestors, children first, each once, into path and parent (n x m->depth): fills path,
// path_parent, npath and ny of a block.
void itm_rows_trace_path(const ItmModel* m, ItmRowBlock* block, int* path, int* parent, const int* bodies, int n);

// Mobility that a row with covectors cov (block->nbody) would have if its bodies were free, which distinguishes a dependent row from a
// merely heavy one.
double itm_rows_compute_free_mobility(const ItmModel* m, const ItmRowBlock* block, const ItmSpatial* cov);

// out = A v for any velocities (or accelerations) v. out (nrow)
void itm_rows_multiply(const ItmModel* m, ItmData* d, double* out, const double* v);
// v += M^-1 A' lambda, with A of the last itm_rows_factor
void itm_rows_apply(const ItmModel* m, ItmData* d, double* v, const double* lambda);
// x . y of half solved vectors (n), three by three: a free body beside the others, which adds zeros, then changes no bit.
static inline double itm_rows_dot(const double* restrict x, const double* restrict y, int n)
{
    if (n == 6) {  // a free body: the loop costs more than the products
        return x[0] * y[0] + x[1] * y[1] + x[2] * y[2] + (x[3] * y[3] + x[4] * y[4] + x[5] * y[5]);
    }
    double sum = 0.0;
    int k = 0;
    for (; k + 3 <= n; k += 3) {
        sum += x[k] * y[k] + x[k + 1] * y[k + 1] + x[k + 2] * y[k + 2];
    }
    if (k < n) {
        sum += k + 1 < n ? x[k] * y[k] + x[k + 1] * y[k + 1] : x[k] * y[k];
    }
    return sum;
}

// out = Y y (nrow) and y += sign Y' x (nv), with Y = L^-1 A' of the last itm_rows_factor
void itm_rows_gather(const ItmModel* m, const ItmData* d, double* out, const double* y);
// The first where y is 0 but for the bodies of a path.
void itm_rows_gather_path(const ItmModel* m, const ItmData* d, double* out, const double* y, const ItmRowBlock* path);
void itm_rows_spread(const ItmModel* m, const ItmData* d, double* y, const double* x, double sign);
// The bodies' wrenches and the direct forces of row forces lambda, added to wrench and tau.
void itm_rows_add_forces(const ItmModel* m, const ItmData* d, ItmSpatial* wrench, double* tau, const double* lambda);

// Whether the rows of a block yield (K, D given) instead of holding exactly.
static inline bool itm_block_is_compliant(const ItmRowBlock* block)
{
    return block->stiffness != 0.0 || block->damping != 0.0;
}

// Forces -K Phi - D w of compliant rows, 0 for rigid ones. lambda (nrow); after itm_rows_compute
void itm_rows_compute_compliant_forces(const ItmModel* m, const ItmData* d, double* lambda);

// Book the power that dampers of compliant rows take, after itm_rows_compute.
void itm_rows_add_damper_power(const ItmModel* m, ItmData* d);

#endif
