// Complementarity problems with bounds and friction, solved without any mechanics.
//
//   w = H x + b,   lo <= x <= up,                                      [contact-rim, eqs. 20, 26]
//   w_i >= 0 where x_i = lo_i,   w_i <= 0 where x_i = up_i,   w_i = 0 between
// and, for the rows of a contact, tangential impulses bounded by mu times the current normal
// impulse. Units are the caller's; in mechanics x is an impulse (N s), w a velocity (m/s), H the
// Delassus matrix.
// SPDX-License-Identifier: Apache-2.0
#ifndef INTERIM_MLCP_H
#define INTERIM_MLCP_H

#include "interim/base.h"

ITM_EXTERN_C_BEGIN

// ---------------------------------------------------------------------------- problem

// Which tangential impulses a contact with normal impulse x_n can give. In every law the tangential
// impulse opposes slip as much as it can: x_t minimises w_t . x_t over the admissible set.
typedef enum ItmFrictionLaw {
    ITM_FRICTION_BOX,     // each tangent row on its own: |x_t| <= mu x_n    [contact-rim, eq. 15]
    ITM_FRICTION_PYRAMID, // polygon with corners mu x_n (cos, sin)(2 pi j / k), j = 0 .. k-1
    ITM_FRICTION_CONE, // the exact disc: |(x_t1, x_t2)| <= mu x_n        [contact-rim, eqs. 12, 13]
    ITM_FRICTION_COUNT
} ItmFrictionLaw;

// One friction coupling. The normal row must have the bounds [0, inf). A normal row may serve one
// cone or pyramid and any number of box couplings (torsional or rolling friction: one tangent row,
// mu in metres).
typedef struct ItmMlcpContact {
    int normal;     // row of the normal impulse
    int tangent[2]; // rows of the tangential impulses; the second may be ITM_NONE
    double mu;      // coefficient of friction, >= 0
    ItmFrictionLaw law;
    int ndirection; // PYRAMID with two tangents: number of corners k, 3 .. 32; otherwise ignored
} ItmMlcpContact;

// The problem; all arrays belong to the caller and are only read.
typedef struct ItmMlcpProblem {
    int n;             // rows, >= 1
    const double* H;   // row-major                                          (n x n)
    const double* b;   //                                                    (n)
    const double* lo;  // may be -inf; ignored for tangent rows of contacts  (n)
    const double* up;  // may be +inf; ignored for tangent rows of contacts  (n)
    bool is_symmetric; // promise: H = H', positive semi-definite. false: no pivoting, no ADMM
    int ncontact;      // friction couplings, 0: none
    const ItmMlcpContact* contacts; //                                      (ncontact)
    const double* w_before; // velocities of the rows before the impulses act, or NULL (n). With them AUTO prefers rest: where
                            // contacts begin to slip, it looks for a solution with less energy, and finds rest if it is possible
} ItmMlcpProblem;

// ---------------------------------------------------------------------------- options

typedef enum ItmMlcpSolver {
    ITM_MLCP_AUTO,     // the ladder of docs/theory-mlcp.md
    ITM_MLCP_PIVOTING, // proximal block principal pivoting: fixed bounds, symmetric H
    ITM_MLCP_NEWTON,   // nonsmooth Newton on the projection equations: friction, symmetric or not
    ITM_MLCP_GAUSS_SEIDEL, // projected Gauss-Seidel with over-relaxation
    ITM_MLCP_ADMM,         // first order with one factorisation; exact cones, many contacts
    ITM_MLCP_LEMKE,        // complementary pivoting: any H, boxes and pyramids
    ITM_MLCP_ENUMERATION,  // all active sets of a small problem without exact cones
    ITM_MLCP_SOLVER_COUNT
} ItmMlcpSolver;

typedef struct ItmMlcpOptions {
    ItmMlcpSolver solver; // AUTO, or exactly this one without a ladder
    double tolerance;     // a result counts as solved when its relative residual is at most this
    int max_iterations;   // of Gauss-Seidel and ADMM; the others have their own natural limits
    double relaxation;    // over-relaxation of Gauss-Seidel, 0 < relaxation < 2
    bool warm_start;      // x and state of the result hold a guess (usually the last step's result)
    double effort;        // multiplications that a solve may cost, in units of n^3 (n at least 160); 0: no
                          // limit. Each solver of the ladder may spend half of what is left; the best
                          // x found is given
} ItmMlcpOptions;

// AUTO, tolerance 1e-10, 20000 iterations, relaxation 1.3, no warm start, no limit of effort.
ITM_API ItmMlcpOptions itm_default_mlcp_options(void);

// ---------------------------------------------------------------------------- result

// What the mathematics said; a failed call is told by ItmStatus instead.
typedef enum ItmMlcpOutcome {
    ITM_MLCP_SOLVED,             // residual <= tolerance
    ITM_MLCP_SOLVED_TO_ROUNDING, // residual > tolerance, but within the rounding of H x
    ITM_MLCP_NO_SOLUTION,   // proved: `ray` is the proof. x solves the nearest problem we found
    ITM_MLCP_NOT_CONVERGED, // no solver of the ladder reached the tolerance; x is the best seen
    ITM_MLCP_UNSUITABLE,    // the one solver asked for cannot treat this kind of problem
    ITM_MLCP_OUTCOME_COUNT
} ItmMlcpOutcome;

// Where a row ended, one signed char each.
enum {
    ITM_ROW_LO = -1,    // tight at the lower bound (a contact normal: open)
    ITM_ROW_ACTIVE = 0, // between its bounds, w = 0
    ITM_ROW_UP = 1,     // tight at the upper bound
    ITM_ROW_UNKNOWN = 2 // only as input of a warm start: a new row, guess it
};

typedef struct ItmMlcpInfo {
    ItmMlcpOutcome outcome;
    ItmMlcpSolver solver; // the one that gave x
    double residual;      // relative, see itm_mlcp_compute_residual
    int worst_row;        // the row that has it, one of its rows for a contact
    double rounding; // unless SOLVED: what rounding does to it, 2.2e-16 max |H||x| / (1 + max |b|)
    int iterations;        // of that solver: proximal, Newton, sweeps; summed over the ladder
    int pivots;            // active-set changes of single rows (pivoting), exchanges (Lemke)
    int factorisations;    // dense factorisations made
    double work;           // multiplications, roughly
    int nactive, nlo, nup; // rows by final state; a friction row on its cone counts as lo
    int nredundant;        // active rows that depend on other active rows (pivoting); else 0
    int nattempt;          // solvers tried, in this order:
    ItmMlcpSolver attempts[9];
    bool is_rest_found;  // another solution was found first, and given up for one with less energy (w_before)
    double proof_radius; // NO_SOLUTION: no x with max |x| below this solves the problem; else 0
} ItmMlcpInfo;

// Arrays belong to the caller. With options.warm_start, x and state are also inputs.
typedef struct ItmMlcpResult {
    double* x;          // impulses                                             (n)
    double* w;          // H x + b                                              (n)
    signed char* state; // ITM_ROW_...; may be NULL without warm start          (n)
    double* ray;        // proof of NO_SOLUTION, otherwise zero; may be NULL    (n)
    ItmMlcpInfo info;
} ItmMlcpResult;

ITM_API const char* itm_mlcp_outcome_message(ItmMlcpOutcome outcome);
ITM_API const char* itm_mlcp_solver_name(ItmMlcpSolver solver);

// ---------------------------------------------------------------------------- solve

// Largest problem of a workspace.
typedef struct ItmMlcpCapacity {
    int n;        // rows
    int ncontact; // friction couplings
    int nlcp; // rows of the standard LCP that Lemke may build, see itm_mlcp_count_lcp_rows; 0: no Lemke
} ItmMlcpCapacity;

// Room for any boxed problem of n rows and ncontact box couplings or cones (at most n: each has a tangent row of its own). nlcp is
// capped at 2048 rows (32 MB), above which the ladder goes without Lemke. Matrices are not zeroed: the system provides their pages
// when a solve first writes them, so that a workspace takes the memory of the problems it has solved.
ITM_API ItmMlcpCapacity itm_default_mlcp_capacity(int n, int ncontact);

// Rows of the standard LCP that a problem turns into.
ITM_API int itm_mlcp_count_lcp_rows(const ItmMlcpProblem* problem);

typedef struct ItmMlcpWorkspace ItmMlcpWorkspace;

// ITM_ERR_ARGUMENT, ITM_ERR_MEMORY. error may be NULL.
ITM_API ItmStatus itm_mlcp_workspace_create(ItmMlcpWorkspace** workspace,
                                            const ItmMlcpCapacity* capacity, ItmError* error);
ITM_API void itm_mlcp_workspace_destroy(ItmMlcpWorkspace* workspace); // NULL is fine

// Solve. Allocates nothing, prints nothing; same input, same bits. One workspace serves one thread.
// ITM_ERR_ARGUMENT (a NULL, bad sizes or options), ITM_ERR_CAPACITY, ITM_ERR_INPUT (lo > up, bad
// contact), ITM_ERR_NOT_FINITE (a NaN, or an infinity in H, b, mu or a warm x). Only with ITM_OK is
// the result touched.
ITM_API ItmStatus itm_mlcp_solve(ItmMlcpWorkspace* workspace, ItmMlcpResult* result,
                                 const ItmMlcpProblem* problem, const ItmMlcpOptions* options,
                                 ItmError* error);

// ---------------------------------------------------------------------------- checking a result

// Residual of x, whoever computed it:  max_i |x_i - P_i(x - w)| / (1 + max |b|),  w = H x + b, where P is
//   a row with bounds        clamp to [lo_i, up_i]
//   a box or pyramid         projection of (x_t - w_t) onto the admissible set at the normal impulse max(0, x_n)
//   an exact cone            projection of (x_n, x_t) - (w_n + mu |w_t|, w_t) onto |x_t| <= mu x_n
//                            (De Saxce's change of variable: zero exactly at Coulomb's law)
// NaN in x gives NaN.
ITM_API double itm_mlcp_compute_residual(const ItmMlcpProblem* problem, const double* x);

// What a ray d proves. If d may only grow rows that are unbounded that way (d_i >= 0 if lo_i is
// finite and up_i = inf, d_i = 0 if both are finite) and  d.b + sup_x (H'd).x < 0  over lo <= x <= up, then w = H x + b
// cannot have the signs that complementarity asks for. In floating point H'd is not exactly zero
// where it should be, so the honest statement is a radius: no x with max |x| below the returned
// value solves the problem. 0: d proves nothing. Problems with contacts: friction rows do not
// count, d must be zero there.
ITM_API double itm_mlcp_compute_proof_radius(const ItmMlcpProblem* problem, const double* d);

ITM_EXTERN_C_END

#endif
