// An FMU that takes forces and returns rates, as a foreign mechanism of a co-simulation.
//
// The FMU runs as a subsystem without ports (fmu.h), in a process of its own: forces are inputs, positions and rates are outputs.
// Its interface model comes from the interface model port where the FMU has one (docs/reference/rim-port.md: level 2 where it has the
// functions of layer.h, otherwise level 1, the variables rim.W, rim.a0, rim.P0, rim.P1), from directional derivatives of the
// accelerations of its ports, from trial steps where its state can be saved, or from past steps.
#ifndef ITM_FMI_MECHANISM_H
#define ITM_FMI_MECHANISM_H

#include "fmi/fmu.h"

// A port by the names of its variables; a "-" in front reverses the sign.
typedef struct ItmFmuMechanismPort {
    char* name;
    char* force;     // input
    char* rate;      // output
    char* position;  // output
    double offset;   // length of the actuator = position of the FMU + offset, m
} ItmFmuMechanismPort;

// Start an instance as a foreign mechanism; the choices have no ports. The FMU and the ports must outlive it. ITM_ERR_INPUT: there is no
// such variable; error->field is its name.
ItmStatus itm_fmi_make_mechanism(ItmForeignMechanism* mechanism, ItmFmu* fmu, const ItmFmuMechanismPort* ports,
                                 int nport, ItmError* error);
// Macro steps of the mechanism are multiples of this, s; 0: any step, or the FMU has the parameter of the interface model port for it, which
// the choices do not set.
double itm_fmi_get_mechanism_step(const ItmFmu* fmu);

#endif
