// Components whose joints allow motion in one plane only.
//
// Bodies that rigid joints with parallel axes n, and slides across n, connect to the world turn about n and move across it. Their
// angular momenta keep their directions: no gyroscopic torque acts, whatever the inertias. Further constraints only restrict.
#ifndef ITM_MULTIBODY_PLANAR_H
#define ITM_MULTIBODY_PLANAR_H

#include "multibody/data.h"

// Fill m->is_planar from the poses of the start, in d. Returns false where memory ran out.
bool itm_planar_find(ItmModel* m, const ItmData* d);

#endif
