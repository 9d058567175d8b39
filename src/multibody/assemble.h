// Closing joints: positions by Newton's method, velocities by one projection, both in the mass metric.
#ifndef ITM_MULTIBODY_ASSEMBLE_H
#define ITM_MULTIBODY_ASSEMBLE_H

#include "multibody/data.h"

// Close all rigid rows at time t, moving as little as possible. On failure the error names the worst rows and their gaps.
ItmStatus itm_assemble_positions(const ItmModel* m, ItmData* d, double t, ItmError* error);
// Remove what the velocities violate in the present configuration; leaves H factored and rows computed.
ItmStatus itm_assemble_velocities(const ItmModel* m, ItmData* d, double t, ItmError* error);

#endif
