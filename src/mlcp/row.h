// The row: w = A v with bounds on its impulse. One type for the rows of a step (multibody/bounded.h), those in a reduced interface model and
// in joined ones (src/rim), with one rule for offsets, one guard of restitution and one position correction.
#ifndef ITM_MLCP_ROW_H
#define ITM_MLCP_ROW_H

#include "base/arena.h"
#include "interim/mlcp.h"

#include <math.h>
#include <stdint.h>

typedef enum ItmRowKind {
    ITM_BOUND_LIMIT,     // of a joint or actuator: owner is the limit
    ITM_BOUND_FRICTION,  // of a joint: owner is the joint friction
    ITM_BOUND_MOTOR,     // owner is the motion
    ITM_BOUND_NORMAL,    // contact: owner is the contact, as for the following
    ITM_BOUND_TANGENT,
    ITM_BOUND_TORSION,
    ITM_BOUND_ROLLING,
    ITM_BOUND_CLEARANCE,  // gap of a joint with clearance: owner is that joint, as for the following
    ITM_BOUND_CLEARANCE_TANGENT,
    ITM_BOUND_CLEARANCE_TORSION,
} ItmRowKind;

#define ITM_ROW_SLOP 1e-9     // m, rad: gaps and penetrations below this are rounding and count as contact
#define ITM_ROW_AT_REST 1e-8  // m/s: what a row that keeps w = 0 may have, ten times the tolerance of the solver

// clang-format off
typedef struct ItmRow {
    // definition
    ItmRowKind kind;
    int    owner;
    int    block;          // bodies that it acts on, in its table
    int    normal;         // friction: row whose impulse of the same step bounds it; ITM_NONE: lo and up do
    uint64_t key;          // names the row from step to step
    double restitution;    // 0: none
    double stiffness, damping;  // 0, 0: rigid
    double bias_share;     // h A' v this often in the offset: 1, and the rate at the end of the step counts; 1/2, and its mean does

    // numbers of the step
    double gap;            // Phi; 0 where only the rate counts                     m, rad
    double open;           // rigid: smaller gaps count as none                     m, rad
    double rate;           // A v before the step                                   m/s
    double bias;           // A' v                                                  m/s^2
    double reference;      // signal' at the end of the step                        m/s
    double lo, up;         // bounds of the impulse over the step of the table      N s
    double omega;          // compliance on the diagonal                            1/kg
    double offset;         // what is added to A v+ (gap, bounce, compliance)       m/s
    double gap_after;      // Phi at the end of the step                            m, rad
    // of bounces within the step
    double rate_mid;       // A v `since` before the velocities of the step: as rate, less what joints turned it by   m/s
    double hit;            // part of the impulse that acts at once, late in the step                                 N s
    double late;           // and that times how late it is                                                           N s^2
    double late_work;      // what that adds to the work x (rate + A v+) / 2                                          J
    bool   is_bouncing;    // restitution acts in this step
    bool   is_held;        // rigid contact that carried load in the last step: its gap is the drift of the bodies, undone by displacement
    bool   is_at_rest;     // its bodies are: small gaps stay
    bool   is_fixed;       // nothing can move it: no impulse changes its rate
    int    pair;           // rows of the same two bodies have the same, 0: not set
    bool   has_target;     // position motor in micro steps: gap is the distance to its signal, and is to vanish
} ItmRow;
// clang-format on

// Whether the row can only push: 0 <= impulse.
static inline bool itm_row_is_unilateral(const ItmRow* row)
{
    return row->kind == ITM_BOUND_NORMAL || row->kind == ITM_BOUND_LIMIT || row->kind == ITM_BOUND_CLEARANCE;
}

// What a compliant row holds at a gap, K Phi^2 / 2, J.
static inline double itm_row_compute_elastic(const ItmRow* row, double gap)
{
    return itm_row_is_unilateral(row) && gap < 0.0 ? 0.5 * row->stiffness * gap * gap : 0.0;
}

static inline bool itm_row_is_rigid(const ItmRow* row)
{
    return row->stiffness == 0.0 && row->damping == 0.0;
}

// What a step may use up of a rigid row's gap. A gap of rounding size would come back as a velocity of gap / h and keep a resting
// stack trembling.
static inline double itm_row_get_open(const ItmRow* row)
{
    return row->gap > row->open ? row->gap - row->open : 0.0;
}

// Velocity with which a step h closes a gap, gap / h. A step that is shorter than `shortest` closes the share (h / shortest)^2 of it
// only: all of it would be a huge velocity for the steps that follow.
static inline double itm_row_feed_gap(double gap, double h, double shortest)
{
    return h >= shortest ? gap / h : gap * h / (shortest * shortest);
}

// ---------------------------------------------------------------------------- offsets

// The step that rows are solved for.
typedef struct ItmRowStep {
    double h;      // s
    double since;  // A v without the impulses is that of the rates and the accelerations over this time    s
    double ahead;  // the rows were evaluated so much ahead of the step, which A v has in it         s
    double restitution_speed;  // slower rows do not bounce                                                      m/s
    bool feeds_gaps_back;      // gaps return as velocities, A v+ + Phi / h >= 0 whatever the sign [clearance, eq. 24];
                               // otherwise penetration is undone by displacements
    double feed_time;          // itm_row_feed_gap of gaps < 0                                                   s
    bool places_hits;          // what bounces does so when its gap has closed, otherwise at the start of the step
    bool uses_mean;            // then: rates are those of the ends of the step, and gaps go with their mean; since is h
} ItmRowStep;

// Compliance of a closed row that is not rigid, 1 / (h^2 K + h D), otherwise 0.                        [contact-rim, eq. 41]
static inline double itm_row_compute_omega(const ItmRow* row, double h)
{
    bool is_compliant = itm_row_is_unilateral(row) && !itm_row_is_rigid(row);
    return is_compliant ? 1.0 / (h * h * row->stiffness + h * row->damping) : 0.0;
}

// What is added to A v+ so that w is complementary to the impulse, without a bounce.
//   open gap          A v+ + Phi / h >= 0: the step may use the gap up, not more
//   compliant, closed Omega x + Gamma Phi / h                                                    [contact-rim, eq. 41]
//   fed back          A v+ + Phi / h >= 0, whatever the sign of Phi                            [clearance, eq. 24]
double itm_row_compute_offset(const ItmRow* row, const ItmRowStep* step);
// Let the row bounce, A v+ >= -e A v, where the step would close the gap fast enough; w_free = A v+ without the bounded rows.
// Sets row->is_bouncing and, if so, row->offset.
void itm_row_let_bounce(ItmRow* row, const ItmRowStep* step, double w_free);

// ---------------------------------------------------------------------------- bounces within a step

// A v at time s of the step, if no impulse of the row acts before. Velocities are those of the middle between two positions (leapfrog),
// so the rate at the start is r and at time s r + s (w_free - rate_mid) / since, and the gap goes as
//   Phi(s) = Phi + r s + a s^2 / 2,   r = w_free - (h/2) (w_free - rate_mid) / since,   Phi(h) = Phi + h (w_free + offset without gap)
// With step->uses_mean r = rate, Phi(h) = Phi + h ((rate + w_free) / 2 + offset without gap).
double itm_row_compute_rate(const ItmRow* row, const ItmRowStep* step, double w_free, double s);
// Share of w_free - rate in A v at time s less (rate + w_free) / 2.
double itm_row_compute_share(const ItmRowStep* step, double s);

// ---------------------------------------------------------------------------- solving a set of rows

// Of the work of a row's impulse, < 0, what restitution would return, e^2 of it; 0 for rows without restitution and for those that would
// close, at the rate `closing`, too slowly to bounce.
double itm_row_compute_loss(const ItmRow* row, const ItmRowStep* step, double work, double closing);

// clang-format off
// The problem of n rows of a table. Steppers and interface models state it; arrays (n).
typedef struct ItmRowProblem {
    int n, ncoupling;
    ItmRow* rows;          // the table
    int*    index;         // rows of the problem in it, NULL: the first n
    double* H;             // with compliance on the diagonal, row-major            (n x n)   1/kg
    ItmMlcpContact* couplings; // friction, in numbers of the problem               (ncoupling)
    double contradiction;  // by which the rates of redundant rows may contradict each other in error       m/s
    bool    slip_is_known; // contacts that slip more slowly than that do not stick: see ItmMlcpProblem
    double* v_free;        // A v+ without the impulses                             m/s
    double *lo, *up;       // bounds of the impulses                                N s
    double* x;             // impulses, on entry a guess                            N s
    signed char* state;    // ItmRowState, likewise
    double* v;             // result: A v+                                          m/s
    double *b, *w, *before;       // of the MLCP
    double *x_other, *v_other;    // of a bounce that gained energy; without rows that may bounce
    double *v_start, *offset;     // of impacts within the step (impacts.c): v_free and offsets at its start
    double *x_last, *v_last;      // impulses and rates after the last impact
    double *x_bounce, *v_bounce;  // of an impact that gained energy
    double* way;           // what impacts have taken off the gap by being late     m
    signed char* part;     // which rows take part in an impact
} ItmRowProblem;

// How solves went, for the report of the step.
typedef struct ItmRowSolves {
    int n;
    bool is_limited;  // bounces were
    double lost;      // energy that rows took which should have bounced            J
    ItmMlcpInfo info[2];  // the second: of all further ones
} ItmRowSolves;
// clang-format on

static inline ItmRow* itm_row_get(const ItmRowProblem* p, int i)
{
    return &p->rows[p->index != NULL ? p->index[i] : i];
}

// Vectors of a problem of up to n rows: all but rows, index, H and couplings.
void itm_row_lay_out(ItmRowProblem* p, ItmArena* arena, int n);

// The error by which rates of redundant contacts may contradict each other after a time h: A' v h is known to first order only.
double itm_row_find_contradiction(const ItmRowProblem* p, double h);

// Impulses and velocities, row->offset and row->omega being there. Newton's law of restitution can create energy where several contacts
// and friction occur together: then the impulses are taken between those without any bounce and those with it, as far towards the latter as
// their work stays below 0, or below that of the former; solves->is_limited is then set.
//
// step->places_hits: rigid rows bounce when the first of them closes, at time s. x0 and w0 are impulses and rates of the step without
// the rows that bounce, c = A v of w0 at time s (itm_row_compute_rate), x1 and w1 those with
//   w1 - w0 >= -(1 + e) c   where rows bounce
// The bodies move on until s and have the velocities of x1 from then on: positions change by h v+ - s M^-1 A' (x1 - x0); row->late is
// s (x1 - x0). Impacts do the work (x1 - x0) (c + (w1 - w0) / 2). If that adds energy, if a row would close again within the step,
// or if rows are compliant, rows bounce at the start of the step instead.
ItmStatus itm_row_solve(const ItmRowProblem* p, ItmMlcpWorkspace* workspace, const ItmMlcpOptions* options,
                        const ItmRowStep* step, ItmRowSolves* solves, ItmError* error);

// ---------------------------------------------------------------------------- position correction

// Whether the gap of a rigid row is to be corrected. Contacts between bodies at rest are left alone while they are off by less than half a
// micrometre: every correction turns bodies a little, which changes all contact forces of a wall by more than the tolerance, and the
// next solve starts over. When one row asks, all rows of its island are corrected to 0.
bool itm_row_is_off(const ItmRow* row, double gap, bool is_at_rest);
// Gap that is corrected in one step: of a deep penetration, a part.
double itm_row_limit_gap(double gap);
// Whether a row takes part in the correction.
static inline bool itm_row_is_corrected(const ItmRow* row)
{
    return itm_row_is_unilateral(row) && itm_row_is_rigid(row) && !row->is_fixed;
}

// Displacements, not velocities, so that they add no energy: over the rigid unilateral rows of a solved problem
//   0 <= Phi + H x  _|_  x >= 0,   0 = Phi + H x for rows under load, whose gap is drift of the bodies
// drift (n, NULL: none) is added to the gaps. list and S (n x n, may be p->H) receive the rows that take part and their matrix, p->x their
// impulses of position, kg m, in the order of the list. Returns how many; 0: none of them is off. solves: as above.
ItmStatus itm_row_correct(const ItmRowProblem* p, ItmMlcpWorkspace* workspace, double effort, const double* drift,
                          int* list, double* S, int* count, ItmRowSolves* solves, ItmError* error);

#endif
