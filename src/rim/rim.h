// Reduced interface model (RIM): a mechanism as its actuators see it, in admittance form       [contact-rim, section 4]
//
//   w+ = w + h (a0 + W lambda) + H_ic x,   W = A_i M^-1 A_i' - H_ib (H_bb + Omega)^-1 H_bi,   H = A M^-1 A'
//
// Interface rows are the line measures of chosen actuators, w = A_i v = s', and directions of body frames: velocity of a point
// along a world axis, angular velocity about one. The bilateral rows b (joints that are not tree
// coordinates, couplings, motions) are eliminated. The bounded rows c (contacts, joint limits, dry friction, motors) either
// are solved in the RIM, with impulses x found by their own MLCP in every micro step, or those that were active in the mechanism's
// last solve are eliminated too (the papers' smooth RIM).
// W is the inverse of the papers' effective mass [contact-rim, eq. 32] and is never inverted: it is singular where the mechanism
// cannot move along an interface, and there the RIM still holds. One RIM serves all partners of a mechanism.
//
// With y = L^-1 A_i', M = L L', the rows' reaction mu = (H_bb + Omega)^-1 H_bi and what is left, y~ = y - Y_b' mu,
//   W = y~' y~ + mu' Omega mu,   X = M^-1 (A_i' - A_b' mu) = L^-T y~,   H_ci = Y_c y~,   A_i v_dot = y . L' v_dot
// so that everything is half solved and dot products, and the other half of the solve is left to the take-over. W is a Gram matrix: positive semi-definite to the last digit, where the difference above loses its sign.
//
// A macro step H: itm_rim_measure, itm_rim_extract, itm_rim_begin, micro steps (itm_rim_predict, itm_rim_advance), and
// itm_rim_take_over. In between the data object belongs to the RIM and must not be stepped or looked at.
#ifndef ITM_RIM_RIM_H
#define ITM_RIM_RIM_H

#include "mlcp/active_set.h"
#include "multibody/bounded.h"
#include "multibody/data.h"
#include "multibody/measure.h"

// How the bounded rows are treated.
typedef enum ItmRimContact {
    ITM_RIM_SOLVE,  // kept beside the interface rows, solved in every micro step
    ITM_RIM_ELIMINATE,  // active rows of the mechanism's last solve eliminated, tight ones push as they did [contact-rim, eq. 36]
} ItmRimContact;

// clang-format off
// A direction of a frame on a body, as an interface row.
typedef struct ItmRimFrame {
    int     body;            // index in the model
    ItmVec3 point;           // from the centre of mass, body axes                            m
    ItmDirection direction;  // ITM_TX: velocity of the point along the world's x ... ITM_RZ: angular velocity about its z
} ItmRimFrame;

// Steady micro steps: the active set stays and rigid active rows rest. Forces f = f0 + f1 lambda + f2 c, and everything else, are linear in
// lambda and in c, which the motion of compliant active rows changes from micro step to micro step.
typedef struct ItmRimSteady {
    bool    is_on;
    double* f;               // f0, then f1 by interfaces                               ((1 + n) x nc)  N
    double* a;               // accelerations of rows, likewise                         ((1 + n) x nc)  m/s^2
    double* W;               // and of the lengths                                      ((1 + n) x n)   m/s^2
    double* f_start;         // f0 + f2 c in this micro step                            (nc)            N
    double* a_start, *W_start;   // and the accelerations                               (nc, n)         m/s^2
    int*    held;            // active rows with bounds, to be checked                  (nheld)
    int     nheld;
    int*    stuck;           // couplings whose tangents stick, to be checked           (nstuck)
    int     nstuck;
    int*    sliding;         // couplings with a tangent that slips, to be checked      (nsliding)
    int     nsliding;
    int*    watched;         // rows whose rate is to be checked                        (nwatched)
    int     nwatched;
    double  since, since_moment; // steady time, and its moment, not yet counted in Q0 and Q1       s
    double* P_since, *P1_since;  // interface impulses and moments likewise             (n)         N s
    int*    compliant;       // active rows that yield                                  (ncompliant)
    int     ncompliant;
    double* c;               // their (rate + offset) / h in this micro step            (ncompliant)    m/s^2
    double* c_since, *c1_since; // h c and its moments, summed like P_since             (ncompliant)    m/s
    double* C;               // f2 of active rows, accelerations of others and of the lengths (ncompliant x (nc + n)) N s^2/m, 1
    double* C_c, *C_c1;      // C c of this micro step; of sums                         (nc + n)        N, m/s^2
} ItmRimSteady;

// Bounded rows beside the interface rows, nc = problem.n. gap and rate of a row are those of the present micro step.
typedef struct ItmRimContacts {
    int     capacity, coupling_capacity;
    int     head;            // first block of their chain in the table, or ITM_NONE
    int*    table;           // their numbers in the table of bounded rows              (nc)
    ItmRowProblem problem;   // of a micro step: H_cc + Omega, couplings, impulses ...  (nc)
    ItmRowStep step;
    ItmActiveSet set;        // that of the last micro step, tried before the MLCP
    int     nserved;         // trials in a row with the same factors
    ItmRimSteady steady;
    struct ItmMlcpWorkspace* workspace;
    bool    has_bounces;     // some row has a restitution
    bool    has_begun;       // rows of a message (message.h) have begun where they come from
    double* Hci;             //                                                         (nc x n)    1/kg
    double* ac;              // free acceleration of the rows                           (nc)        m/s^2
    double* gap_drift;       // rate at which gaps are corrected, or a motor's target moves on (nc) m/s
    double* s_drift;         // what that does to the lengths                           (n)         m/s
    double* correction;      // impulses of position that correct gaps over the macro step (nc)     kg m

    double* x;               // impulses of the last micro step                         (nc)        N s
    double* y;               // what the impulses do to positions: h y is the moment over the micro step (nc) N s
    bool    is_plain;        // y = x / 2 (Heun's rule) or x (Euler's)
    int*    landing;         // rows that use up their gap in the micro step            (nc)
    double* Q0;              // impulse over the macro step                             (nc)        N s
    double* Q1;              // its moment, (1/H) int (H - tau) dx                      (nc)        N s
    double* work;            // of the impulses over the macro step                     (nc)        J
    bool*   has_held;        // it was active in the last micro step                    (nc)
    bool*   has_changed;     // it has begun or ceased to be so in this macro step      (nc)
    long    nsolve, ntrial, nsteady; // micro steps so far by MLCP, by trial, steady
} ItmRimContacts;

// A contact at the communication point, as the search for changes has seen it.
typedef struct ItmRimSeen {
    uint64_t key;            // of its normal row
    int     first, second;   // shapes
    double  gap, rate;       //                                                                     m, m/s
    ItmVec3 normal;
    bool    is_held;         // its row was active at the end of the last step
} ItmRimSeen;

// Interfaces of a mechanism whose rows are a forest of all its bodies: forest.h.
typedef struct ItmRimForest {
    bool    is_possible;     // whether it is one, and interfaces act on bodies only
    bool    is_used;         // in the last extraction: y_free, lambda, mu, Y are void
    int*    node_of;         // of each body                                            (nbody)
    int*    path, *npath;    // nodes of each interface, children first                 (n nspanning, n)
    ItmSpatial* cov;         // covectors on the bodies of its block                    (n ITM_BLOCK_BODIES)
    double* y;               // half solved, 0 elsewhere                                (n x nspanning_free)
    ItmSpatial* wrench;      // forces less inertia on the body of a node               (nspanning)  N m, N
    double* rate;            // free accelerations of the rows                          (nrow)
} ItmRimForest;

typedef struct ItmRim {
    int     n, nv, nrow;    // interfaces; velocities and bilateral rows of the mechanism
    const ItmModel* model;
    ItmData* data;          // whose step this is, from extract to take-over
    int*    actuator;       // of each interface, ITM_NONE: a direction of a frame      (n)
    ItmRimFrame* frames;    // where it is one                                          (n)
    ItmRowBlock* blocks;    // bodies and path to the roots of each interface           (n)
    int*    path;           // and their parents, room for both a block                 (2 n longest_path)
    int     longest_path;
    bool*   is_chain;       // the path has no branches, all its bodies one velocity    (n)
    bool*   is_touched;     // components that an interface acts on                     (nbody)

    // itm_rim_measure: at the start of the step; micro steps carry them on
    double* s;              // lengths; frames: position along the axis, rotation since then (n)    m, rad
    double* w;              // rates                                                    (n)         m/s

    // itm_rim_extract
    double  t, H, shift;    // start and length of the macro step, how far ahead it was evaluated   s
    double* q_start;        // coordinates at the start                                 (nq)
    double* v_start;        // velocities, while the mechanism takes over               (nv)
    double* W;              // mobility, row-major                                      (n x n)     1/kg
    double* a0;             // free acceleration of the lengths                         (n)         m/s^2
    double* a1;             // slope of a0 about the middle of the macro step, or NULL: 0  (n)         m/s^3
    double* y_free;         // L' v_dot, v_dot the mechanism's free accelerations with the rows' reaction (nv)
    double* lambda;         // row forces of that                                       (nrow)      N
    double* mu;             // row impulses that a unit impulse at an interface takes off (n x nrow)
    double* Y;              // y~                                                       (n x nv)
    double* Y_frame;        // y of the rows of one frame, while they are reduced       (nv x 6)
    int     neliminated;
    int*    eliminated;     // bounded rows in the table that were eliminated as active; itm_data_name_row names them (neliminated)
    double* mobility_free;  // diagonal of W without any rows                           (n)         1/kg
    int     nahead;         // itm_rim_look_ahead: contact rows away from the evaluation
    uint64_t* ahead_key;    // their names                                              (nahead)
    double* ahead_rate;     // A(q (+) delta v) v                                       (nahead)    m/s
    ItmVec3* ahead_normal;  // of their contacts                                        (nahead)
    double  ahead_time;     // of that look, from the start of the macro step                       s
    double  ahead_lag;      // the mechanism's own rows are those of the start of a step this long  s
    int     nseen;          // itm_rim_find_span: contacts at the start that an interface feels
    ItmRimSeen* seen;       //                                                          (nseen)
    bool*   is_reached;     // components that an interface acts on, also over contacts (nbody)
    bool*   is_macro;       // components whose bounded rows are not in the RIM: one solve a macro step (nbody)

    // micro steps
    bool    use_heun;
    double  h, tau;         // present micro step; time since the start of the macro step           s
    double  theta;          // (1/H^2) int (H - tau) dtau so far
    double* P0;             // impulse int lambda dt                                    (n)         N s
    double* P1;             // its moment, (1/H) int (H - tau) lambda dt                (n)         N s
    double* jump;           // part of P0 that joined frames get at the start of the step (n)       N s
    double* work;           // of the interface forces                                  (n)         J
    double* w_next;         //                                                          (n)         m/s
    ItmRimForest forest;
    ItmRimContacts contacts;
    struct ItmRimEffective* effective; // stiffness and damping at the interfaces (effective.h), or NULL
    int     nswitch;        // bounded rows that began or ceased to hold within the last macro step
    double  cost;           // wall time of reductions so far, the mechanism's evaluation and free motion not counted   s
} ItmRim;
// clang-format on

// Memory for n interfaces, in an arena that is measured and then laid out by the same call.
void itm_rim_lay_out(ItmRim* rim, ItmArena* arena, const ItmModel* m, int n);
// Choose the actuators (n); after the arena has its memory. ITM_NONE: the row is set by itm_rim_set_frame.
void itm_rim_init(ItmRim* rim, const ItmModel* m, const int* actuators);
void itm_rim_set_frame(ItmRim* rim, const ItmModel* m, int row, const ItmRimFrame* frame);

// Lengths and rates of the interfaces in the present state. After the velocity stage.
void itm_rim_measure(const ItmModel* m, const ItmData* d, ItmRim* rim);

// The RIM for a step H from the present state at time t, by one evaluation in the configuration q (+) shift v; the interface
// forces (d->input of its actuators) are left out of it and must be set again by the caller. shift > 0: d->q stays there until
// itm_rim_take_over. shift 0: the factors are left for the mechanism's own step.
// ITM_ERR_CAPACITY: too many bounded rows. Errors are in d->error; the state is then left half done, as with those below.
ItmStatus itm_rim_extract(const ItmModel* m, ItmData* d, ItmRim* rim, double t, double H, double shift,
                          ItmRimContact contact);

// Before itm_rim_extract with the same t, H and shift, where contacts move while the model is carried through several micro steps: how
// the rates of contact rows change along the motion, A' v = (A(q (+) delta v) v - A v) / delta, from a second look at the contacts,
// half a macro step from the evaluation. It holds for vertices, edges and round shapes alike. A mechanism's own short steps look at
// their contacts anew every time and do without. lag: their length; 0 where the mechanism takes over the model's impulses.
ItmStatus itm_rim_look_ahead(const ItmModel* m, ItmData* d, ItmRim* rim, double t, double H, double shift, double lag);

// The time within H for which contact rows of the present state hold, looking ahead along the present velocities: H, or less where the geometry
// of contacts that an interface feels changes, but not less than `least`. It also does what itm_rim_look_ahead does, for an
// extraction in the middle of that time. For models with contacts.
ItmStatus itm_rim_find_span(const ItmModel* m, ItmData* d, ItmRim* rim, double t, double H, double least, double* span);

// The same for a model that others step with while the mechanism takes steps of its own: d->q is put back. Flexible bodies are taken as in
// `elastic`, which but for ITM_FLEXIBLE_INTERFACE_IMPLICIT needs shift 0; the factors are then not those of the mechanism's own step.
// ITM_FLEXIBLE_INTERFACE_EFFECTIVE: rim->effective is laid out, and filled.
ItmStatus itm_rim_extract_view(const ItmModel* m, ItmData* d, ItmRim* rim, double t, double H, double shift,
                               ItmFlexibleInterface elastic, ItmRimContact contact);

// W of the present state only, bounded rows left out, with the rows of the mechanism's own step. The state stays as it is; a0 and
// the rest of an extraction are void afterwards.
void itm_rim_compute_mobility(const ItmModel* m, ItmData* d, ItmRim* rim);

// Start of K micro steps of H / K each. use_heun: lengths by the mean of the rates at both ends, otherwise by the last one
// (semi-implicit Euler).
ItmStatus itm_rim_begin(ItmRim* rim, int K, bool use_heun);
// Rates w_end (n) at the end of a micro step h under forces lambda (n); nothing moves.
ItmStatus itm_rim_predict(ItmRim* rim, double h, const double* lambda, double* w_end);
// One micro step under forces lambda (n), with Heun's rule the mean of those at its two ends.
ItmStatus itm_rim_advance(ItmRim* rim, double h, const double* lambda);

// The mechanism's step from what the RIM gathered: velocities by impulses, positions by moments, then joints that are rows are
// closed; works counted, contacts and step info filled, time advanced. After the last micro step.
ItmStatus itm_rim_take_over(const ItmModel* m, ItmData* d, ItmRim* rim);

// v += h v_dot + X p for interface impulses p (n; NULL: none). M of the extraction is still factored.
void itm_rim_respond(const ItmModel* m, ItmData* d, const ItmRim* rim, double* v, double h, const double* p);

// ---------------------------------------------------------------------------- looking

// Eigenvalues of a mobility, and its inverse where it has one.
typedef struct ItmRimSpectrum {
    int rank;          // eigenvalues above 1e-12 of the largest, or of what it would be without joints and contacts
    double condition;  // largest over smallest; INFINITY where the rank is less than n
} ItmRimSpectrum;

#define ITM_SPECTRUM_SCRATCH(n) ((n) * ((n) + 2))

// Of a mobility W (n x n); mobility_free: its diagonal without rows (n, NULL: not known). value (n) ascending, vector (n x n) columns,
// M_eff (n x n) pseudo-inverse; each may be NULL. scratch (ITM_SPECTRUM_SCRATCH(n)). False: there are no eigenvalues (W is not finite).
bool itm_rim_compute_spectrum(const double* W, const double* mobility_free, int n, ItmRimSpectrum* spectrum,
                              double* value, double* vector, double* M_eff, double* scratch);

#endif
