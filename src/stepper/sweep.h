// Large islands of single bodies, solved without a matrix: projected Gauss-Seidel on contacts, warm started.
#ifndef ITM_STEPPER_ISLAND_SWEEP_H
#define ITM_STEPPER_ISLAND_SWEEP_H

#include "multibody/bounded.h"

typedef struct ItmSweepResult {
    int sweeps;
    int worst_row;    // the row that was off farthest
    double residual;  // largest velocity that a row is still off by, relative to 1 + the largest row velocity
} ItmSweepResult;

// Whether every body that the island touches is free on the world, so that its rows meet only there.
bool itm_sweep_is_suitable(const ItmModel* m, const ItmBounded* b, int head);

// Impulses x of the rows of an island (also where to start from), for row velocities `target` without any impulse (A v plus
// offset). Bounds and friction as in the table; where only_normals, rows of kinds other than normals and limits
// take no part, and held ones push and pull. change receives what the impulses add to the row velocities. All arrays over rows of the table.
ItmSweepResult itm_sweep_solve(ItmBounded* b, int head, double* x, const double* target, double* change,
                               double tolerance, int max_sweeps, bool only_normals);

#endif
