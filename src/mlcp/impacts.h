// Impacts within a step, one after the other.
#ifndef ITM_MLCP_IMPACTS_H
#define ITM_MLCP_IMPACTS_H

#include "mlcp/row.h"

// Solve a step in which rows bounce, impact by impact in the order in which gaps close [docs/theory.md, restitution]. False: the rows have
// compliance or a solver failed; offsets and bounds are then as they were, impulses are not.
bool itm_impacts_solve(const ItmRowProblem* p, ItmMlcpWorkspace* workspace, const ItmMlcpOptions* options,
                       const ItmRowStep* step, ItmRowSolves* solves, ItmError* error);

// ---------------------------------------------------------------------------- shared with row.c

// One MLCP: w = H x + v_free + offset, and the velocities behind it, v = w - offset - Omega x.
ItmStatus itm_row_solve_once(const ItmRowProblem* p, ItmMlcpWorkspace* workspace, const ItmMlcpOptions* options,
                             ItmRowSolves* solves, ItmError* error);
// How far to go from a solution without bounces to one with them, 0 .. 1, where impulses do the work `without` and `with`, half the
// product of the changes of impulses and rates is `curvature` (not negative), and the work must not exceed `allowed` >= `without`:
// without + t slope + t^2 curvature = allowed, the larger root.
double itm_row_share_bounce(double without, double with, double curvature, double allowed);
// Rate at which the gap goes over the step, A v being w at its end, less impacts.
double itm_row_compute_way(const ItmRow* row, const ItmRowStep* step, double w);
// The gap of which a step may use up what is open; that of rounding is none.
double itm_row_get_gap(const ItmRow* row);

#endif
