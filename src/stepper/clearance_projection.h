// Projection of joints with clearance: the counterpart, for their closed gaps, of the projection of joints at the end of a step.
#ifndef ITM_STEPPER_CLEARANCE_PROJECTION_H
#define ITM_STEPPER_CLEARANCE_PROJECTION_H

#include "multibody/bounded.h"

// Whether there are gaps of joints with clearance that were closed in the last step and still have rows, and joints that react to them:
// without those, contact rows keep the energy by themselves, their velocities changing sign from step to step.
bool itm_clearance_projection_is_needed(const ItmModel* m, const ItmData* d);
// Take from the velocities v, H factored, what closes such gaps; with friction. A hub that slides in its bearing gets half of
// its impulse here and half from the solve of the step, the same at both ends of a step, and keeps its energy to second order.
ItmStatus itm_clearance_projection_run(const ItmModel* m, ItmData* d, double* v);

#endif
