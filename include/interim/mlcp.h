// Complementarity problems with bounds and friction, independent of mechanics.
//
//   w = H x + b,   lo <= x <= up,                                      [contact-rim, eqs. 20, 26]
//   w_i >= 0 where x_i = lo_i,   w_i <= 0 where x_i = up_i,   w_i = 0 between
// and, for the rows of a contact, tangential impulses bounded by mu times the current normal
// impulse. The caller chooses the units; in mechanics x is an impulse (N s), w a velocity (m/s), H the
// Delassus matrix.
// SPDX-License-Identifier: Apache-2.0
#ifndef INTERIM_MLCP_H
#define INTERIM_MLCP_H

#include "interim/base.h"

ITM_EXTERN_C_BEGIN

// ---------------------------------------------------------------------------- problem

// Admissible tangential impulses of a contact with normal impulse x_n. In every law, the tangential
// impulse opposes slip with maximum dissipation: x_t minimises w_t . x_t over the admissible set.
typedef enum ItmFrictionLaw {
    ITM_FRICTION_BOX,      // each tangent row separately: |x_t| <= mu x_n    [contact-rim, eq. 15]
    ITM_FRICTION_PYRAMID,  // polygon with corners mu x_n (cos, sin)(2 pi j / k), j = 0 .. k-1
    ITM_FRICTION_CONE,     // the exact disc: |(x_t1, x_t2)| <= mu x_n        [contact-rim, eqs. 12, 13]
    ITM_FRICTION_COUNT
} ItmFrictionLaw;

// One friction coupling. The normal row must have the bounds [0, inf). A normal row may belong to one
// pyramid, or to any number of cones (rolling friction: two tangent rows, mu in metres), and to any
// number of box couplings (torsional friction: one tangent row).
typedef struct ItmMlcpContact {
    int normal;      // row of the normal impulse
    int tangent[2];  // rows of the tangential impulses; the second may be ITM_NONE
    double mu;       // coefficient of friction, >= 0
    ItmFrictionLaw law;
    int ndirection;  // PYRAMID with two tangents: number of corners k, 3 .. 32; otherwise ignored
} ItmMlcpContact;

// The problem. The caller owns all arrays; they are only read.
typedef struct ItmMlcpProblem {
    int n;              // rows, >= 1
    const double* H;    // row-major                                          (n x n)
    const double* b;    //                                                    (n)
    const double* lo;   // may be -inf; ignored for tangent rows of contacts  (n)
    const double* up;   // may be +inf; ignored for tangent rows of contacts  (n)
    bool is_symmetric;  // the caller guarantees that H is symmetric positive semi-definite. false: no pivoting, no ADMM
    int ncontact;       // friction couplings, 0: none
    const ItmMlcpContact* contacts;  //                                      (ncontact)
    const double*
        w_before;  // velocities of the rows before the impulses act, or NULL (n). With them, AUTO prefers sticking: if
                   // contacts begin to slip, it searches for a solution with less energy, and finds the sticking
                   // solution if it exists
    double
        contradiction;  // b of redundant rows may contradict each other by this much in error, 0: not at all. Within it, AUTO takes
                        // the contradiction between rows that hold off b; w of the result is then H x + b without it
    bool
        slip_is_known;  // slip slower than that is none of its errors: sticking was tried shortly before, see ItmMlcpInfo.is_slip_found
} ItmMlcpProblem;

// ---------------------------------------------------------------------------- options

typedef enum ItmMlcpSolver {
    ITM_MLCP_AUTO,          // several solvers in sequence, see docs/theory-mlcp.md
    ITM_MLCP_PIVOTING,      // proximal block principal pivoting: fixed bounds, symmetric H
    ITM_MLCP_NEWTON,        // nonsmooth Newton on the projection equations: friction, any H
    ITM_MLCP_GAUSS_SEIDEL,  // projected Gauss-Seidel with over-relaxation
    ITM_MLCP_ADMM,          // first-order method with one factorisation; exact cones, many contacts
    ITM_MLCP_LEMKE,         // complementary pivoting: any H, box and pyramid
    ITM_MLCP_ENUMERATION,   // all active sets of a small problem without exact cones
    ITM_MLCP_SOLVER_COUNT
} ItmMlcpSolver;

typedef struct ItmMlcpOptions {
    ItmMlcpSolver solver;  // AUTO, or only this solver
    double tolerance;      // a result counts as solved if its relative residual is at most this
    int max_iterations;    // of Gauss-Seidel and ADMM; the other solvers have built-in limits
    double relaxation;     // over-relaxation of Gauss-Seidel, 0 < relaxation < 2
    bool warm_start;       // x and state of the result hold an initial guess (usually the result of the last step)
    double effort;         // limit of multiplications per solve, in units of n^3 (n at least 160); 0: no
                           // limit. Each solver of the sequence may use half of the remaining effort; the best
                           // x found is returned
} ItmMlcpOptions;

// Default options: AUTO, tolerance 1e-10, 20000 iterations, relaxation 1.3, no warm start, unlimited effort.
ITM_API ItmMlcpOptions itm_default_mlcp_options(void);

// ---------------------------------------------------------------------------- result

// Outcome of the solve. A failed call returns an error ItmStatus instead.
typedef enum ItmMlcpOutcome {
    ITM_MLCP_SOLVED,              // residual <= tolerance
    ITM_MLCP_SOLVED_TO_ROUNDING,  // residual > tolerance, but within the rounding of H x
    ITM_MLCP_NO_SOLUTION,         // infeasible: `ray` is the proof. x solves the nearest feasible problem found
    ITM_MLCP_NOT_CONVERGED,       // no solver of the sequence reached the tolerance; x is the best found
    ITM_MLCP_UNSUITABLE,          // the selected solver does not support this kind of problem
    ITM_MLCP_OUTCOME_COUNT
} ItmMlcpOutcome;

// State of a row, one signed char per row.
typedef enum ItmRowState {
    ITM_ROW_LO = -1,      // tight at the lower bound (a contact normal: open)
    ITM_ROW_ACTIVE = 0,   // between its bounds, w = 0
    ITM_ROW_UP = 1,       // tight at the upper bound
    ITM_ROW_UNKNOWN = 2,  // only as input of a warm start: a new row without a guess
    ITM_ROW_SLIP = 3      // friction direction that slides; the solvers here give ITM_ROW_LO or ITM_ROW_UP for it
} ItmRowState;

typedef struct ItmMlcpInfo {
    ItmMlcpOutcome outcome;
    ItmMlcpSolver solver;   // the solver that computed x
    double residual;        // relative, see itm_mlcp_compute_residual
    int worst_row;          // the row with that residual; for a contact, one of its rows
    double rounding;        // unless SOLVED: rounding error of the residual, 2.2e-16 max |H||x| / (1 + max |b|)
    int iterations;         // proximal or Newton iterations, sweeps; summed over all solvers that ran
    int pivots;             // active-set changes of single rows (pivoting), exchanges (Lemke)
    int factorisations;     // dense factorisations
    double work;            // approximate number of multiplications
    int nactive, nlo, nup;  // rows by final state; a friction row on its cone counts as lo
    int nredundant;         // active rows that depend on other active rows (pivoting); else 0
    int nattempt;           // solvers tried, in this order:
    ItmMlcpSolver attempts[9];
    bool is_rest_found;   // a solution with less energy replaced the first one found (w_before)
    bool is_slip_found;   // sticking was searched for (w_before), and contacts slip all the same
    double proof_radius;  // NO_SOLUTION: no x with max |x| below this solves the problem; else 0
} ItmMlcpInfo;

// The caller owns the arrays. With options.warm_start, x and state are also inputs.
typedef struct ItmMlcpResult {
    double* x;           // impulses                                             (n)
    double* w;           // H x + b, see contradiction                           (n)
    signed char* state;  // ITM_ROW_...; may be NULL without warm start          (n)
    double* ray;         // proof of NO_SOLUTION, otherwise zero; may be NULL    (n)
    ItmMlcpInfo info;
} ItmMlcpResult;

// Message of an outcome, one sentence, never NULL.
ITM_API const char* itm_mlcp_outcome_message(ItmMlcpOutcome outcome);
// Name of a solver as in model files: "auto", "pivoting", "newton", ...
ITM_API const char* itm_mlcp_solver_name(ItmMlcpSolver solver);

// ---------------------------------------------------------------------------- solve

// Largest problem that a workspace supports.
typedef struct ItmMlcpCapacity {
    int n;         // rows
    int ncontact;  // friction couplings
    int nlcp;      // rows of the standard LCP for Lemke, see itm_mlcp_count_lcp_rows; 0: no Lemke
} ItmMlcpCapacity;

// Capacity for any problem of n rows with ncontact box couplings or cones (at most n: each has its own tangent row). nlcp is
// limited to 2048 rows (32 MB); AUTO skips Lemke above that. Matrices are not zeroed: the system provides their pages when a
// solve first writes them, so a workspace uses only the memory of the problems it has solved.
ITM_API ItmMlcpCapacity itm_default_mlcp_capacity(int n, int ncontact);

// Number of rows of the standard LCP that is equivalent to a problem.
ITM_API int itm_mlcp_count_lcp_rows(const ItmMlcpProblem* problem);

// Memory of the solvers. Threads: one thread at a time uses a workspace.
typedef struct ItmMlcpWorkspace ItmMlcpWorkspace;

// Create a workspace for problems up to `capacity`. Errors: ITM_ERR_ARGUMENT, ITM_ERR_MEMORY. error may be NULL.
ITM_API ItmStatus itm_mlcp_workspace_create(ItmMlcpWorkspace** workspace, const ItmMlcpCapacity* capacity,
                                            ItmError* error);
// Free a workspace; NULL is allowed.
ITM_API void itm_mlcp_workspace_destroy(ItmMlcpWorkspace* workspace);

// Solve a problem. Allocates and prints nothing; the same input gives the same bits.
// Errors: ITM_ERR_ARGUMENT (a NULL, bad sizes or options), ITM_ERR_CAPACITY, ITM_ERR_INPUT (lo > up, bad
// contact), ITM_ERR_NOT_FINITE (a NaN, or an infinity in H, b, mu or the warm-start x). The result changes only with
// ITM_OK.
ITM_API ItmStatus itm_mlcp_solve(ItmMlcpWorkspace* workspace, ItmMlcpResult* result, const ItmMlcpProblem* problem,
                                 const ItmMlcpOptions* options, ItmError* error);

// ---------------------------------------------------------------------------- checking a result

// Residual of any x:  max_i |x_i - P_i(x - w)| / (1 + max |b|),  w = H x + b, where P is
//   a row with bounds        clamp to [lo_i, up_i]
//   a box or pyramid         projection of (x_t - w_t) onto the admissible set at the normal impulse max(0, x_n)
//   an exact cone            projection of (x_n, x_t) - (w_n + mu |w_t|, w_t) onto |x_t| <= mu x_n
//                            (De Saxce's change of variable: zero exactly where Coulomb's law holds)
// Returns NaN if x contains NaN.
ITM_API double itm_mlcp_compute_residual(const ItmMlcpProblem* problem, const double* x);

// Check a proof d of infeasibility. Let d increase only rows that are unbounded in that direction (d_i >= 0 if lo_i is
// finite and up_i = inf, d_i = 0 if both are finite). If  d.b + sup_x (Hᵀd).x < 0  over lo <= x <= up, then w = H x + b
// cannot have the signs that complementarity requires. In floating point, Hᵀd is not exactly zero where it should be.
// The function therefore returns a radius: no x with max |x| below it solves the problem. 0: d proves nothing.
// Friction rows do not count; d must be zero there.
ITM_API double itm_mlcp_compute_proof_radius(const ItmMlcpProblem* problem, const double* d);

ITM_EXTERN_C_END

#endif
