// Bounded rows: w = A v with bounds on the impulse. Unlike the bilateral rows they come and go from step to step: joint
// limits, dry friction and motors of joints (filled here), contacts (filled by src/contact). The stepper solves them as a
// boxed MLCP with friction couplings [contact-rim, eqs. 20, 26].
#ifndef ITM_MULTIBODY_BOUNDED_H
#define ITM_MULTIBODY_BOUNDED_H

#include "interim/mlcp.h"
#include "multibody/data.h"

typedef enum ItmBoundKind {
    ITM_BOUND_LIMIT,     // of a joint or actuator: owner is the limit
    ITM_BOUND_FRICTION,  // of a joint: owner is the joint friction
    ITM_BOUND_MOTOR,     // owner is the motion
    ITM_BOUND_NORMAL,    // contact: owner is the contact, as for the following
    ITM_BOUND_TANGENT,
    ITM_BOUND_TORSION,
    ITM_BOUND_ROLLING,
    ITM_BOUND_CLEARANCE,  // gap of a loose joint: owner is the loose joint, as for the following
    ITM_BOUND_CLEARANCE_TANGENT,
    ITM_BOUND_CLEARANCE_TORSION,
} ItmBoundKind;

// Islands of more rows than this are not examined for redundant rows one by one (itm_bounded_refine); how many there must be
// is counted.
#define ITM_REFINE_MOST 300

#define ITM_BOUNDED_AT_REST 1e-8  // m/s: what a row that keeps w = 0 may have, ten times the tolerance of the solver
#define ITM_BOUNDED_SLOP 1e-9     // m, rad: gaps and penetrations below this are rounding and count as contact

// clang-format off
typedef struct ItmBoundRow {
    ItmBoundKind kind;
    int    owner;
    int    block;          // its block
    double gap;            // Phi; 0 where only the rate counts                     m, rad
    double gap_after;      // Phi at the end of the step                            m, rad
    double open;           // rigid: smaller gaps count as none                      m, rad
    double rate;           // A v before the step                                   m/s
    double bias;           // A' v                                                  m/s^2
    double bias_share;     // h A' v this often in the offset: 1, and the rate at the end of the step counts; 1/2, and its mean does
    double reference;      // signal' at the end of the step                        m/s
    double lo, up;         // bounds of the impulse; ignored for coupled friction   N s
    double restitution;    // 0: none
    double stiffness, damping;  // 0, 0: rigid
    uint64_t key;          // names the row from step to step, for warm starts
    double offset;         // what is added to A v+ (gap, bounce, compliance)       m/s
    double omega;          // compliance on the diagonal                            1/kg
    bool   is_bouncing;    // restitution acts in this step
    bool   is_held;        // rigid contact that carried load in the last step: its gap is the drift of the bodies, undone by displacement
    bool   is_coupled;     // friction bounded by the normal impulse of the same step
} ItmBoundRow;

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

// The table of a step, and what the solve made of it.
// Velocity with which a step h closes a gap, gap / h. A step that is cut shorter than `shortest` closes the share (h / shortest)^2 of it
// only: all of it would be a huge velocity for the steps that follow.
static inline double itm_gap_feed(double gap, double h, double shortest)
{
    return h >= shortest ? gap / h : gap * h / (shortest * shortest);
}

typedef struct ItmBounded {
    int nrow, nblock, ncoupling, npath, ncov, nY;            // in use
    int row_capacity, block_capacity, coupling_capacity;
    int path_capacity, cov_capacity, Y_capacity;
    int island_capacity;   // rows of the largest island that can be solved densely
    bool is_overfull;      // something did not fit: the step must fail
    bool books_answer;     // book what bilateral rows answer, with their velocities d->row_before before the step
    double ahead;          // the rows were evaluated so much ahead of the step, which A v has in it          s
    bool has_Y;            // Y belongs to the rows
    bool feeds_gaps_back;  // gaps return as velocities, A v+ + Phi / h >= 0 whatever the sign [clearance, eq. 24]; otherwise
                           // penetration is undone by displacements
    double feed_time;      // itm_gap_feed of gaps < 0                                                         s

    ItmBoundRow*    rows;      //                                       (row_capacity)
    ItmBoundBlock*  blocks;    //                                       (block_capacity)
    ItmMlcpContact* couplings; // friction, in row numbers of the table (coupling_capacity)
    int*            path;      // paths and parents of the blocks       (2 path_capacity)
    ItmSpatial*     cov;       // covectors, row by row                 (cov_capacity)
    double*         Y;         // L^-1 A'                               (Y_capacity)
    double*         x;         // impulses                              (row_capacity)  N s
    double*         v_after;   // A v+                                  (row_capacity)  m/s
    signed char*    state;     // ITM_ROW_...                           (row_capacity)
    ItmBoundForce*  body_force; // itm_bounded_sum_contacts             (nbody)

    // warm start: impulses and states of the last step by key. Two memories, because a step that fails must leave the one it
    // started from; itm_bounded_commit makes the new one current. Saved and restored with the state.
    struct {
        uint64_t*    key;      //                                       (row_capacity)
        double*      x;        //                                       (row_capacity)
        signed char* state;    //                                       (row_capacity)
        int          count;
    } memory[2];
    int             current;
    int*            hash;      // open addressing over the current memory, ITM_NONE: empty (hash_size)
    int             hash_size; // a power of two, in use

    double*         settle_lo, *settle_up; // bounds that settling sets aside (row_capacity)
    double*         x_settled; // impulses of settling                  (row_capacity)  N s
    double*         x_push;    // impulses of position that undo penetration (row_capacity)  kg m

    // islands: blocks that movable bodies connect, each solved on its own
    int*            root;      // union-find over components            (nbody)
    int*            head;      // first and last block of an island     (nbody)
    int*            tail;      //                                       (nbody)
    int*            islands;   // components that name the islands      (block_capacity)
    int             nisland;
    int*            local;     // row -> number in its island           (row_capacity)
    int*            global;    // and back                              (island_capacity)
    int*            body_head; // entries of the island's blocks by body, linked (nbody)
    int*            entry_block, *entry_at, *entry_y, *entry_next;  //  (path_capacity)
    double*         H;         //                                       (island_capacity^2)
    double*         Z;         // L^-1 H_bc of the bilateral rows       (island_capacity * nrow)
    double*         island_b, *island_lo, *island_up, *island_x, *island_w, *island_v, *island_before; // (island_capacity)
    double*         bounce_x, *bounce_v; // impulses and velocities of a bounce that gained energy  (island_capacity)
    signed char*    island_state;
    double*         refine_N;    // null space of an island, itm_bounded_refine (min(island_capacity, ITM_REFINE_MOST)^2)
    signed char*    is_redundant; // rows that follow from others, itm_bounded_refine (row_capacity)
    int             nredundant;
    bool            is_refined;  // the table of this step has been examined
    int             worst_row;   // row with the largest residual of the step, ITM_NONE: all solved
    double          worst_residual;
    ItmMlcpContact* island_couplings;                        //         (coupling_capacity)
    double*         sweep_z;     // mass-normalised velocities of bodies  (6 nbody)
    double*         sweep_inv_D; // 1 / (|Y|^2 + omega)                   (row_capacity)
    double*         sweep_target; // row velocities without impulses      (row_capacity)
    double*         sweep_change; // and what impulses add                (row_capacity)
    double*         sweep_prev;  // impulses before a pair of sweeps      (row_capacity)
    double*         sweep_p;     // direction of acceleration             (row_capacity)
    int*            sweep_order; // blocks                                (block_capacity)
    struct ItmMlcpWorkspace* workspace;
} ItmBounded;
// clang-format on

// Sizes for a model with room for `ncontact` contacts of up to six rows each. Called while laying out a data object.
void itm_bounded_lay_out(const ItmModel* m, ItmBounded* b, ItmArena* arena, int ncontact);

void itm_bounded_clear(ItmBounded* b);
// The step that just solved is final: the next one starts from its impulses.
void itm_bounded_commit(ItmBounded* b);
// Impulse of a row in the last step, 0 where it was not there. Valid until the table is solved.
double itm_bounded_recall(const ItmBounded* b, uint64_t key);
// Fill the hash of the current memory.
void itm_bounded_index_memory(ItmBounded* b);
// Position of a key in the current memory, or ITM_NONE.
int itm_bounded_find(const ItmBounded* b, uint64_t key);
// Bytes of the current memory in a saved state, and copying it there and back.
size_t itm_bounded_get_memory_size(const ItmBounded* b);
void itm_bounded_save_memory(const ItmBounded* b, void* bytes);
void itm_bounded_restore_memory(ItmBounded* b, const void* bytes);
// A block on two bodies (ITM_NONE: the world) with room for nrow rows; NULL and is_overfull where it does not fit.
ItmBoundBlock* itm_bounded_add_block(const ItmModel* m, ItmBounded* b, int body_a, int body_b, int nrow);
// A block on one coordinate of the tree.
ItmBoundBlock* itm_bounded_add_dof_block(const ItmModel* m, ItmBounded* b, int v_index, double coef);
// Its next row, with covectors on bodies a and b of itm_bounded_add_block.
ItmBoundRow* itm_bounded_add_row(ItmBounded* b, ItmBoundBlock* block, ItmSpatial cov_a, ItmSpatial cov_b);
// Friction of rows of the block that was added last, bounded by the normal impulse of this step or (contact option) by that
// of the last one.
void itm_bounded_add_friction(const ItmModel* m, ItmBounded* b, ItmMlcpContact coupling);

// What a step may use up of a rigid row's gap. A gap of rounding size would come back as a velocity of gap / h and keep a resting
// stack trembling.
static inline double itm_bounded_get_open(double gap, double open)
{
    return gap > open ? gap - open : 0.0;
}

// Whether the row can only push: 0 <= impulse.
static inline bool itm_bound_row_is_unilateral(const ItmBoundRow* row)
{
    return row->kind == ITM_BOUND_NORMAL || row->kind == ITM_BOUND_LIMIT || row->kind == ITM_BOUND_CLEARANCE;
}

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
double itm_bounded_compute_effort(const ItmBounded* b, ItmBoundKind kind, int owner);
// Wrenches and direct forces of the impulses x times `rate`, added to wrench and tau.
void itm_bounded_add_forces(const ItmBounded* b, ItmSpatial* wrench, double* tau, const double* x, double rate);

// out = A v of all bounded rows, for any velocities v
void itm_bounded_multiply(const ItmModel* m, ItmData* d, double* out, const double* v);
// v += M^-1 A' x
void itm_bounded_apply(const ItmModel* m, ItmData* d, double* v, const double* x);

#endif
