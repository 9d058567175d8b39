// Settling of loose joints: what the projection at the end of a step is for joints, for their closed gaps.
#ifndef ITM_STEPPER_SETTLE_H
#define ITM_STEPPER_SETTLE_H

#include "multibody/bounded.h"

// Whether there are gaps of loose joints that were closed in the last step and still have rows, and joints that answer them:
// without those, contact rows keep the energy by themselves, their velocities changing sign from step to step.
bool itm_settle_is_needed(const ItmModel* m, const ItmData* d);
// Take from the velocities v, H factored, what closes such gaps; with friction. A hub that slides in its bearing gets half of
// its impulse here and half from the solve of the step, the same at both ends of a step, and keeps its energy to second order.
ItmStatus itm_settle_run(const ItmModel* m, ItmData* d, double* v);

#endif
