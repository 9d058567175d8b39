// The running instance: state first and contiguous, then what each stage of a step computes.
//
// Arrays over bodies have an element -1 before their first: the world, at rest in the origin. A parent index
// ITM_NONE therefore needs no special case in the recursions.
#ifndef ITM_MULTIBODY_DATA_H
#define ITM_MULTIBODY_DATA_H

#include "base/arena.h"
#include "multibody/model.h"

// Articulated inertia at the centre of mass of a body, world axes: force = [J H; H' M] (ang, lin).
typedef struct ItmArticulated {
    ItmSym3 J;  // kg m^2
    ItmMat3 H;  // kg m; columns multiply lin
    ItmSym3 M;  // kg
} ItmArticulated;

// Energy that has passed so far, J.
typedef enum ItmLedger {
    ITM_LEDGER_LOAD,        // work of loads, actuators and driving forces
    ITM_LEDGER_MOTION,      // work of prescribed motions
    ITM_LEDGER_DISSIPATED,  // taken by dampers
    ITM_LEDGER_CONSTRAINT,  // work of the other rows: numerical, 0 in the limit of small steps
    ITM_LEDGER_COUNT
} ItmLedger;

typedef struct ItmReference ItmReference;  // SUNDIALS objects of the reference integrator

// clang-format off
struct ItmData {
    const ItmModel* model;
    ItmStepOptions options;
    ItmArena  arena;
    ItmError  error;        // of the last failed call
    ItmStepInfo info;

    // state: one contiguous block of reals, saved and restored by one copy
    double*  state;         //                                                       (nstate)
    int      nstate;
    double*  steps;         // steps so far, as a real                               (1)
    double*  q;             // coordinates                                           (nq)
    double*  v;             // velocities                                            (nv)
    double*  a;             // accelerations at the end of the last step (ALI3P)     (nv)
    double*  lambda;        // row impulses of the last step, or multipliers x step  (nrow)   N s
    double*  angle;         // unwrapped angles                                      (nangle) rad
    double*  input;         // actuator forces from outside                          (nactuator) N
    double*  ledger;        //                                                       (ITM_LEDGER_COUNT) J
    double*  energy_start;  // kinetic + potential at the start                      (1) J

    // position stage: itm_kinematics_compute_positions
    ItmVec3* x;             // centre of mass                                        (nbody)  m
    ItmMat3* R;             // orientation                                           (nbody)
    ItmVec3* r;             // from the origin of its joint frame b to x             (nbody)  m
    ItmSpatial* S;          // motion of a body for a unit velocity, at its x        (nv)

    // velocity stage: itm_kinematics_compute_velocities
    ItmSpatial* twist;      // angular velocity, velocity of x                       (nbody)
    ItmSpatial* accel_bias; // acceleration of a body while v' = 0                   (nbody)

    // mass stage: itm_mass_factor
    ItmSym3* J;             // inertia about x, world axes                           (nbody)  kg m^2
    ItmArticulated* IA;     // articulated inertia                                   (nbody)
    ItmSpatial* G;          // gain: IA S L^-T                                       (nv)
    double*  mass_L;        // Cholesky factors of S' IA S; the diagonal is inverted (nL)
    double*  mass_y;        // half solved right side                                (nv)

    // force stage: itm_forces_compute
    ItmSpatial* wrench;     // on a body at x                                        (nbody)
    double*  tau;           // on coordinates directly                               (nv)
    double*  push_force;    // of each push                                          (npush)
    double   power[ITM_LEDGER_COUNT];  // that goes into each account                         W

    // row stage: itm_rows_compute, itm_rows_factor
    double*  row_gap;       // Phi                                                   (nrow)   m, rad
    double*  row_rate;      // w = A v - signal'                                     (nrow)   m/s
    double*  row_bias;      // A' v - signal''                                       (nrow)   m/s^2
    double*  row_ref_rate;  // signal'                                               (nrow)
    ItmSpatial* row_cov;    // Jacobian by bodies                                    (ncov)
    double*  row_Y;         // L^-1 A'                                               (nY)
    double*  row_omega;     // compliance added to the diagonal of H                 (nrow)
    ItmBlockFactor factor;  // of H
    double*  row_x;         // right sides and solutions                             (nrow)

    // work space of steppers and outputs
    ItmSpatial* accel;      // forward pass of itm_mass_solve                        (nbody)
    ItmSpatial* path_wrench; // half solve along a path                              (longest path)
    double*  x1;            // velocities                                            (nv)
    double*  x2;            //                                                       (nv)
    double*  x3;            //                                                       (nv)
    double*  x4;            //                                                       (nv)
    double*  q1;            // coordinates                                           (nq)
    double*  row_scratch;   //                                                       (4 nrow)
    double*  state_backup;  // state before the step                                 (nstate)
    bool     is_current;    // derived arrays belong to the present q, v, time

    ItmReference* reference; // or NULL
};
// clang-format on

// The part of itm_data_create that does not need a stepper: memory, start state.
ItmStatus itm_data_init(ItmData** data, const ItmModel* m, const ItmStepOptions* options, ItmError* error);
double itm_data_time_at(const ItmData* d, double steps);

#endif
