// Equations of one drive: motor, controller, gearbox or rope.
#ifndef ITM_DRIVE_MOTOR_H
#define ITM_DRIVE_MOTOR_H

#include "interim/drive.h"

// States of a drive.
enum {
    ITM_MOTOR_IQ,     // current that makes torque; DC: the current               A
    ITM_MOTOR_ID,     // PMSM: the other one                                      A
    ITM_MOTOR_ZQ,     // integral part of the voltages                            V
    ITM_MOTOR_ZD,     //                                                          V
    ITM_MOTOR_ZW,     // integral part of the current command                     A
    ITM_MOTOR_RATE,   // of the rotor                                             rad/s
    ITM_MOTOR_ANGLE,  // of the rotor since the start                             rad
    ITM_MOTOR_STATES
};

// Output of a drive at an instant: where it has been moved to since the start, and its rate.
typedef struct ItmMotorPort {
    double s, w;  // m, m/s; rad, rad/s
} ItmMotorPort;

// What the equations give beside the rates of the states.
typedef struct ItmMotorView {
    double load;     // torque of the gearbox on the output, or tension of the rope      N m, N
    double force;    // of the port                                                      N m, N
    double torque;   // of the motor on the rotor                                        N m
    double voltage;  // magnitude, with its sign for DC                                  V
    double power;    // electric                                                         W
} ItmMotorView;

// x_dot = f(x) (ITM_MOTOR_STATES) for a command and the motion of the output. s_start: coordinate of the output at the start, to
// which position commands refer. x_dot may be NULL.
ItmMotorView itm_motor_compute(const ItmDriveDef* def, double* x_dot, const double* x, ItmMotorPort port,
                               double command, double s_start);
// States at the start: at rest, carrying start_load.
void itm_motor_start(const ItmDriveDef* def, double* x);

#endif
