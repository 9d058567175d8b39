// Electric drives: motor, current, speed and position control, gearbox with backlash, and winches. A drive is a power port: the motion
// of its output (angle, or distance at a rope) is an input, its torque or force an output.               docs/theory-drives.md
//
// Threads: an ItmDrives is read-only after itm_drives_create; instances are made by the co-simulation.
// SPDX-License-Identifier: Apache-2.0
#ifndef INTERIM_DRIVE_H
#define INTERIM_DRIVE_H

#include "interim/base.h"

ITM_EXTERN_C_BEGIN

typedef struct ItmDrives ItmDrives;  // a set of drives that step together

typedef enum ItmDriveKind {
    ITM_DRIVE_DC,    // L i' = u - R i - k w_m,   T_m = k i
    ITM_DRIVE_PMSM,  // in rotor coordinates d, q, amplitude invariant                                    [krause, ch. 4]
    ITM_DRIVE_KIND_COUNT
} ItmDriveKind;

typedef enum ItmDriveMode {
    ITM_DRIVE_VOLTAGE,   // command: V
    ITM_DRIVE_CURRENT,   // command: A, that makes torque
    ITM_DRIVE_SPEED,     // command: rate of the output, rad/s or m/s
    ITM_DRIVE_POSITION,  // command: angle or distance of the output, rad or m
    ITM_DRIVE_MODE_COUNT
} ItmDriveMode;

// One drive. The rotor turns `ratio` times as fast as the output; the gearbox is a spring with backlash between them:
//   J w_m' = T_m - friction(w_m) - T / ratio,   T = K dead(q_m / ratio - (s - s_start)) + D (w_m / ratio - w), pushing only
// With a drum the output is the distance s that a rope spans `parts` times; hauling in is positive, the rope cannot push:
//   F = max(0, K e + D e'),  e = parts (s - s_start) + drum_radius q_m / ratio,   port force -parts F,   drum torque drum_radius F
typedef struct ItmDriveDef {
    const char* name;
    ItmDriveKind kind;
    double resistance;       // ohm, > 0
    double inductance;       // H, > 0; PMSM: L_q
    double inductance_d;     // PMSM: L_d, H, > 0; 0: as inductance
    double torque_constant;  // N m/A, > 0; PMSM: of the q current, 3/2 pole_pairs times the flux of the magnets
    int pole_pairs;          // PMSM, >= 1
    double inertia;          // J of rotor and fast side of the gear, kg m^2, > 0
    double viscous;          // at the rotor, N m s, >= 0
    double coulomb;          // at the rotor, N m, >= 0
    double coulomb_speed;    // |w_m| below which it is linear in w_m, rad/s, > 0
    double ratio;            // of the gearbox, != 0
    double stiffness;        // K: of the gearbox at the output, N m/rad, > 0; of the rope, N/m
    double damping;          // D, >= 0
    double backlash;         // at the output, from flank to flank, rad, >= 0
    double drum_radius;      // of a winch, m; 0: the output is the gearbox
    double parts;            // of rope that carry the load, >= 1
    double current_limit;    // A, > 0; INFINITY: none
    double voltage_limit;    // V, > 0; INFINITY: none
    ItmDriveMode mode;
    double command;            // input of the drive is added to it
    double current_bandwidth;  // of the current control, rad/s, > 0
    double speed_gain;         // A per rad/s of the rotor, >= 0
    double speed_integral;     // A per rad, >= 0
    double position_gain;      // rad/s per rad, >= 0
    double start_load;  // torque or rope tension at the start, N m or N: twist, current and integrators start with it
} ItmDriveDef;

// Defaults: PMSM with one pole pair, ratio 1, one part of rope, no friction, no limits, current_bandwidth 2000 rad/s, mode current,
// command 0, coulomb_speed 1 rad/s; sizes are not set.
ITM_API ItmDriveDef itm_default_drive_def(void);

// Check and copy n definitions. ITM_ERR_INPUT: error->field is "name.field".
ITM_API ItmStatus itm_drives_create(ItmDrives** drives, const ItmDriveDef* defs, int n, ItmError* error);
// Free them; NULL is allowed.
ITM_API void itm_drives_destroy(ItmDrives* drives);
// Number of drives.
ITM_API int itm_drives_get_count(const ItmDrives* drives);
// Definition of a drive.
ITM_API const ItmDriveDef* itm_drives_get_def(const ItmDrives* drives, int drive);
// Outputs of an instance: NAME.angle, .rate, .torque (winches: .length, .rate, .tension), .motor_angle, .motor_rate,
// .motor_torque, .current, .current_d, .voltage, .power.
ITM_API int itm_drives_get_output_count(const ItmDrives* drives);
// Name, unit and description of an output.
ITM_API ItmOutputInfo itm_drives_get_output_info(const ItmDrives* drives, int output);
// Output by name, or ITM_NONE.
ITM_API int itm_drives_find_output(const ItmDrives* drives, const char* name);

ITM_EXTERN_C_END

#endif
