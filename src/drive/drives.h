// A set of drives and its running instance.
#ifndef ITM_DRIVE_DRIVES_H
#define ITM_DRIVE_DRIVES_H

#include "drive/motor.h"

#include "base/owned.h"

#define ITM_DRIVES_OUTPUTS 10  // of each drive

struct ItmDrives {
    int n;
    ItmDriveDef* defs;       // (n)
    ItmOutputInfo* outputs;  // (ITM_DRIVES_OUTPUTS n)
    ItmOwned owned;          // memory of all of the above
};

// A running instance: one block of doubles, state first.
typedef struct ItmDrivesRun {
    const ItmDrives* drives;
    double* memory;   // all of it
    int nsaved;       // doubles of it that are state
    double* x;        //                                    (ITM_MOTOR_STATES n)
    double* s;        // of the outputs                     (n)  rad, m
    double* w;        //                                    (n)
    double* w_end;    // at the end of the next step        (n)
    double* input;    //                                    (n)
    double* s_start;  // not state                          (n)
} ItmDrivesRun;

ItmStatus itm_drives_create_run(ItmDrivesRun** run, const ItmDrives* drives, ItmError* error);
void itm_drives_destroy_run(ItmDrivesRun* run);
void itm_drives_reset(ItmDrivesRun* run);
// A step h by the classical Runge-Kutta rule with rates linear in between.
ItmStatus itm_drives_step(ItmDrivesRun* run, double t, double h, ItmError* error);
// Forces of the ports (n) at the present motion.
void itm_drives_get_forces(const ItmDrivesRun* run, double* force);
void itm_drives_compute_outputs(const ItmDrivesRun* run, double* y);

#endif
