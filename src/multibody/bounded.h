// Bounded rows: w = A v with bounds on the impulse. Unlike the bilateral rows they come and go from step to step: joint
// limits, dry friction and motors of joints (filled here), contacts (filled by src/contact). The stepper solves them as a
// boxed MLCP with friction couplings [contact-rim, eqs. 20, 26].
#ifndef ITM_MULTIBODY_BOUNDED_H
#define ITM_MULTIBODY_BOUNDED_H

#include "base/pool.h"
#include "mlcp/augmented.h"
#include "mlcp/loaded.h"
#include "mlcp/row.h"
#include "mlcp/row_memory.h"
#include "multibody/data.h"

// Islands of more rows than this are not examined for redundant rows one by one (itm_bounded_refine); how many there must be
// is counted.
#define ITM_REFINE_MOST 300

// clang-format off
// A group of rows that act on the same bodies.
typedef struct ItmBoundBlock {
    ItmRowBlock path;      // bodies, directly driven coordinate, path to the roots
    int first, nrow;       // rows
    int first_coupling, ncoupling;
    bool is_a_world;       // body a does not move
    bool is_in_rim;            // its impulses come from an interface model
    int next;              // next block of the same island, or ITM_NONE
} ItmBoundBlock;

// Contact impulses on a body in the last step.
typedef struct ItmBoundForce {
    ItmVec3 impulse;     // N s
    int count, sliding;  // closed contacts, and those of them that slide
} ItmBoundForce;

// Sizes of the arrays of a table.
typedef struct ItmBoundCapacity {
    int row, block, coupling, path, cov, Y;
    int island;            // rows of the largest island that can be solved densely
} ItmBoundCapacity;

// Projection of joints with clearance (stepper/clearance_projection.h).
typedef struct ItmBoundProjection {
    double *lo, *up;       // bounds that the projection sets aside    (capacity.row)
    double* x;             // impulses of the projection               (capacity.row)  N s
} ItmBoundProjection;

// What solving an island took, and what is left.
typedef struct ItmBoundReport {
    ItmStatus status;
    int     iterations, fallbacks, unsolved;
    double  residual;
    int     worst_row; // the row that is off farthest, ITM_NONE: all are solved to the tolerance
    double  worst_residual;
    double  lost;      // ItmRowSolves.lost
} ItmBoundReport;

// Islands: blocks that movable bodies connect, each solved on its own, several at a time.
typedef struct ItmBoundIslands {
    int     count;
    int*    names;     // components that name the islands              (capacity.block)
    int*    root;      // union-find over components                    (nbody)
    int*    head;      // first and last block of an island             (nbody)
    int*    tail;      //                                               (nbody)
    int*    local;     // row -> number in its island                   (capacity.row)
    int*    body_head; // entries of the island's blocks by body, linked (nbody)
    int*    order;     // islands in the order in which they are begun  (capacity.block)
    ItmBoundReport* reports; //                                         (capacity.block)
} ItmBoundIslands;

// Rows of an island with jointed bodies over nodes (bounded_nodes.h).
typedef struct ItmBoundNodes {
    size_t  nnode, nY;         // in use
    size_t  node_capacity, Y_capacity;
    int*    node;      // nodes of the blocks                           (node_capacity)
    double* Y;         // row by row, y^                                (Y_capacity)
    double* reaction;  // of the bilateral rows                         (nrow)
} ItmBoundNodes;

// An island that is being solved: memory of one thread.
typedef struct ItmBoundWork {
    int*    global;    // number in the island -> row                   (capacity.island)
    int*    list;      // rows that position correction is about        (capacity.island)
    int *entry_block, *entry_at, *entry_y, *entry_next;  //             (capacity.path)
    double* Z;         // L^-1 H_bc of the bilateral rows               (capacity.island * nrow)
    ItmRowProblem problem;  // index = global                           (capacity.island)
    ItmSweep sweep;    // the same without a matrix, for bodies that are free on the world and for islands too large for a matrix
    ItmBoundNodes nodes;    // rows of the latter
    ItmAugmented augmented; // solver of that
    ItmLoaded loaded;       // and another
    ItmLoadedPatch patch;   // for parts of it
    struct ItmMlcpWorkspace* workspace;
    ItmError error;    // of the first island that failed here,
    int     failed;    //   ITM_NONE: none
} ItmBoundWork;

// Impulses of least norm and redundant rows, for outputs: itm_bounded_refine.
typedef struct ItmBoundRefined {
    bool    is_done;   // the table of this step has been examined
    double* work;      // (m (m + ITM_LEAST_NORM_SCRATCH), m = min(capacity.island, ITM_REFINE_MOST))
    signed char* part; //                                               (capacity.island)
    signed char* is_redundant; //                                       (capacity.row)
    int     nredundant;
} ItmBoundRefined;

// The table of a step, and what the solve made of it.
typedef struct ItmBounded {
    int nrow, nblock, ncoupling, npath, ncov, nY;            // in use
    ItmBoundCapacity capacity;
    bool is_overfull;      // something did not fit: the step must fail
    bool books_answer;     // count the work of the bilateral rows' reaction, with their velocities d->rows.before before the step
    bool has_Y;            // Y belongs to the rows
    ItmRowStep step;       // the step that the rows are solved for

    ItmRow*    rows;      //                                       (capacity.row)
    ItmBoundBlock*  blocks;    //                                       (capacity.block)
    ItmMlcpContact* couplings; // friction, in row numbers of the table (capacity.coupling)
    int*            path;      // paths and parents of the blocks       (2 capacity.path)
    ItmSpatial*     cov;       // covectors, row by row                 (capacity.cov)
    double*         Y;         // L^-1 A'                               (capacity.Y)
    double*         x;         // impulses                              (capacity.row)  N s
    double*         v_after;   // A v+                                  (capacity.row)  m/s
    signed char*    state;     // ITM_ROW_...                           (capacity.row)
    ItmBoundForce*  body_force; // itm_bounded_sum_contacts             (nbody)

    ItmRowMemory    memory;    // of the last step, for warm starts

    ItmBoundProjection projection;
    double*         x_correction;    // impulses of position correction            (capacity.row)  kg m

    ItmBoundIslands islands;
    ItmBoundWork    work;        // of the thread that steps
    ItmBoundWork*   others;      // of threads that help, itm_bounded_set_pool (nother)
    int             nother;
    ItmArena        others_arena;
    ItmPool*        pool;        // they, not owned; NULL: none
    ItmBoundRefined refined;
    int             worst_row;   // row with the largest residual of the step, ITM_NONE: all solved
    double          worst_residual;
} ItmBounded;
// clang-format on

// Sizes for a model with room for `ncontact` contacts of up to six rows each. Called while laying out a data object.
void itm_bounded_lay_out(const ItmModel* m, ItmBounded* b, ItmArena* arena, int ncontact);

// Memory of a thread that solves islands; the workspace is not part of the arena.
ItmStatus itm_bounded_create_workspace(const ItmBounded* b, ItmBoundWork* work, ItmError* error);
// Let the threads of a pool help with islands and contacts from now on, NULL: none. It must outlive the table or be taken away. Results do not
// depend on it.
ItmStatus itm_bounded_set_pool(const ItmModel* m, ItmBounded* b, ItmPool* pool, ItmError* error);

void itm_bounded_clear(ItmBounded* b);
// A block on two bodies (ITM_NONE: the world) with room for nrow rows; NULL and is_overfull where it does not fit.
ItmBoundBlock* itm_bounded_add_block(const ItmModel* m, ItmBounded* b, int body_a, int body_b, int nrow);
// A block on one coordinate of the tree.
ItmBoundBlock* itm_bounded_add_dof_block(const ItmModel* m, ItmBounded* b, int v_index, double coef);
// Its next row, with covectors on bodies a and b of itm_bounded_add_block.
ItmRow* itm_bounded_add_row(ItmBounded* b, ItmBoundBlock* block, const ItmSpatial* cov_a, const ItmSpatial* cov_b);
// The same, whose covectors the caller puts where on_a and on_b point then, NULL: the world.
ItmRow* itm_bounded_open_row(ItmBounded* b, ItmBoundBlock* block, ItmSpatial** on_a, ItmSpatial** on_b);
// Friction of rows of the block that was added last, bounded by the normal impulse of this step or (contact option) by that
// of the last one.
void itm_bounded_add_friction(const ItmModel* m, ItmBounded* b, ItmMlcpContact coupling);

// Limits, dry friction and motors of joints for a step h from time t. After the velocity stage.
void itm_bounded_add_joints(const ItmModel* m, ItmData* d, double t, double h);

// Sums of the contacts of the user's bodies in b->body_force; what touches nodes counts for their body.
void itm_bounded_sum_contacts(const ItmModel* m, ItmBounded* b);
// Velocity of a row after the step as complementarity has it, A v+ + offset + Omega x.
double itm_bounded_compute_w(const ItmBounded* b, int row);
// Whether a unilateral row ended the step closed: under load, or with w = 0 while others carry the load.
bool itm_bounded_is_closed(const ItmBounded* b, int row);
// Whether the contact with this normal row ended the step with a slip, or has no friction.
bool itm_bounded_is_sliding(const ItmBounded* b, int normal);
// Impulse along the direction of a joint's limit, friction or motor in the last step; 0 where it had no row.
double itm_bounded_compute_effort(const ItmBounded* b, ItmRowKind kind, int owner);
// Wrenches and direct forces of the impulses x times `rate`, added to wrench and tau.
void itm_bounded_add_forces(const ItmBounded* b, ItmSpatial* wrench, double* tau, const double* x, double rate);

// out = A v of all bounded rows, for any velocities v
void itm_bounded_multiply(const ItmModel* m, ItmData* d, double* out, const double* v);
// v += M^-1 A' x
void itm_bounded_apply(const ItmModel* m, ItmData* d, double* v, const double* x);

#endif
