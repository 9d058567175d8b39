// What the solvers of this room share: the scaled problem, the current iterate and one block of
// scratch.
#ifndef ITM_MLCP_WORKSPACE_H
#define ITM_MLCP_WORKSPACE_H

#include "base/arena.h"
#include "interim/mlcp.h"
#include "math/dense.h"

#include <math.h>

enum { ITM_MLCP_NVEC = 13, ITM_MLCP_NINT = 4 };

// The problem with every row brought to a diagonal near one: x = d x^, w = w^ / d, H^ = D H D. The
// scales are powers of two, so scaling costs no rounding, and they are equal within a cone or
// pyramid, so those keep their shape.
typedef struct ItmMlcpScaled {
    int n;              // rows
    int ld;             // leading dimension of H
    bool is_symmetric;  // as promised by the caller
    double* H;          // D H D, padding zero                                   (n x ld)
    double* b;          // D b                                                   (n)
    double* lo;         // lo / d; tangent rows: set by whoever fixes bounds     (n)
    double* up;         // up / d                                                (n)
    double* d;          // scale                                                 (n)
    double* inv_d;      // 1 / d, exact                                          (n)
    int* ngroup;        // groups of four columns of a row that are not zero     (n)
    int* group;         // where they begin                                      (n x ld/4)
    bool is_sparse;     // most groups are zero
    bool is_banded;     // H is symmetric, and most of it is zero from both ends of the rows
    int* end;           //   row i is zero from end_i on                         (n)
    int ncontact;
    ItmMlcpContact* contacts;  // mu in scaled units: mu d_n / d_t                 (ncontact)
    int* tangent_of;           // contact a row is a tangent of, or ITM_NONE            (n)
    int* cone_of;              // first cone contact a row is the normal of, or ITM_NONE (n)
} ItmMlcpScaled;

struct ItmMlcpWorkspace {
    ItmArena arena;     // vectors, zero at the start
    ItmArena matrices;  // written before they are read: pages of sizes that never occur stay untouched
    ItmMlcpCapacity capacity;
    const ItmDense* dense;
    const ItmMlcpProblem* problem;  // the caller's, during a solve
    ItmMlcpScaled s;

    // iterate of the solver at work, scaled
    double* x;           // (n)
    double* w;           // H^ x^ + b^, filled by itm_mlcp_measure                (n)
    bool is_measured;    // the solver's last call of itm_mlcp_measure was for ws->x
    double residual;     //   and this is what it returned
    signed char* state;  // ITM_ROW_..., guess on entry and result                (n)
    double* ray;         // direction that may prove that there is no solution; original units (n)
    bool has_ray;
    double* shift;  // taken off b^ by consistency.c, zero where free rows agree      (n)

    // best iterate of the ladder, original units
    double* x_best;           // (n)
    double* w_best;           // (n)
    signed char* state_best;  // (n)

    // scratch, free for every solver
    double* F;                 // a factor or Jacobian                          (n x ld)
    double* v[ITM_MLCP_NVEC];  // vectors                                       (n)
    int* iv[ITM_MLCP_NINT];    // index lists                                   (n)
    signed char* mark;         // (n)
    double* x_user;            // scratch of itm_mlcp_measure                   (n)
    double* w_user;            // (n)
    double* T;                 // Lemke's tableau                               (nlcp x pad(nlcp + 2))
    double* tv[2];             // (pad(nlcp + 2))
    int* ti[4];                // (nlcp + 2)
};

// Bytes of a workspace.
size_t itm_mlcp_workspace_measure(const ItmMlcpCapacity* capacity);

// ---------------------------------------------------------------------------- common steps

// Whether a solver has used up what it may spend: options->effort, here in multiplications.
static inline bool itm_mlcp_is_spent(const ItmMlcpOptions* options, const ItmMlcpInfo* info)
{
    return options->effort > 0.0 && info->work >= options->effort;
}

// scale.c: w_i = H^_i x for the rows i = rows[0 .. m-1], all of 0 .. m-1 if rows is NULL; x padded with zeros to ld
void itm_mlcp_multiply(const ItmMlcpWorkspace* ws, double* w, const double* x, const int* rows, int m);

// mlcp.c: w^ = H^ x^ + b^ from ws->x, and the relative residual in the caller's units
double itm_mlcp_measure(ItmMlcpWorkspace* ws);

// check.c
ItmStatus itm_mlcp_check(const ItmMlcpWorkspace* ws, const ItmMlcpResult* result, const ItmMlcpProblem* problem,
                         const ItmMlcpOptions* options, ItmError* error);

// consistency.c: takes contradictions between free rows out of ws->s.b; sets ws->shift, and ws->ray
// if there are any
void itm_consistency_restore(ItmMlcpWorkspace* ws, const ItmMlcpOptions* options, ItmMlcpInfo* info);

// contradiction.c: takes what redundant rows that hold contradict each other by out of ws->s.b, where it is within problem->contradiction.
// holds (n): which rows do; ws->F and ws->v[0] are overwritten. false: nothing was taken
bool itm_contradiction_remove(ItmMlcpWorkspace* ws, const signed char* holds, ItmMlcpInfo* info);

// check.c: the numbers of H, with the place of the first bad one
ItmStatus itm_mlcp_check_matrix(const ItmMlcpProblem* problem, ItmError* error);

// scale.c: false if a number of H is not finite, found on the way
bool itm_mlcp_scale(ItmMlcpWorkspace* ws, const ItmMlcpProblem* problem);

// residual.c: with w and the table of tangent rows already known
double itm_residual_compute(const ItmMlcpProblem* problem, const double* x, const double* w, const int* tangent_of);
// The row that has it.
int itm_residual_find_worst(const ItmMlcpProblem* problem, const double* x, const double* w, const int* tangent_of);

// ---------------------------------------------------------------------------- solvers
// Each starts from ws->x and ws->state, leaves its result there, adds to the counters of info and
// returns false if this kind of problem is not for it. Bounds come from ws->s.

bool itm_pivoting_solve(ItmMlcpWorkspace* ws, const ItmMlcpOptions* options, ItmMlcpInfo* info);
bool itm_newton_solve(ItmMlcpWorkspace* ws, const ItmMlcpOptions* options, ItmMlcpInfo* info);
bool itm_gauss_seidel_solve(ItmMlcpWorkspace* ws, const ItmMlcpOptions* options, ItmMlcpInfo* info);
bool itm_admm_solve(ItmMlcpWorkspace* ws, const ItmMlcpOptions* options, ItmMlcpInfo* info);
bool itm_lemke_solve(ItmMlcpWorkspace* ws, const ItmMlcpOptions* options, ItmMlcpInfo* info);
bool itm_enumeration_solve(ItmMlcpWorkspace* ws, const ItmMlcpOptions* options, ItmMlcpInfo* info);

// direct.c: a small problem of bounds from the states of a warm start. false: left to the solvers, result as it was
bool itm_direct_solve(ItmMlcpResult* result, const ItmMlcpProblem* problem, const ItmMlcpOptions* options);

// newton.c: the plain iteration from ws->x, which ends where the residual was smallest
void itm_newton_polish(ItmMlcpWorkspace* ws, const ItmMlcpOptions* options, ItmMlcpInfo* info);

// interior.c: the convex neighbour of a friction problem, from any ws->x. false: it has no minimum, or none was found
bool itm_interior_solve(ItmMlcpWorkspace* ws, const ItmMlcpOptions* options, ItmMlcpInfo* info);

// prefer_sticking.c: whether contacts begin to slip in the best solution so far
bool itm_prefer_sticking_is_in_doubt(const ItmMlcpWorkspace* ws, const ItmMlcpOptions* options);
// Another solution with less energy in ws->x, measured. false: there is none, or it was not found
bool itm_prefer_sticking_solve(ItmMlcpWorkspace* ws, const ItmMlcpOptions* options, ItmMlcpInfo* info,
                               double* residual);

// gauss_seidel.c: a few sweeps from ws->x, to find a first guess; no measuring
void itm_gauss_seidel_sweep(ItmMlcpWorkspace* ws, double relaxation, int nsweep);

#endif
