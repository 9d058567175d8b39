// Components whose joints allow motion in one plane only.
//
// Bodies that rigid joints with parallel axes n, and slides across n, connect to the world turn about n and move across it. Their
// angular momenta keep their directions: no gyroscopic torque acts, whatever the inertias. Further constraints only restrict.
//
// Where such joints of the tree connect two bodies with each other, a joint that closes the loop has idle rows: those out of the plane,
// which no coordinate can move. Three of the five rows of a hinge in a planar loop are idle, also where the plane itself moves.
#ifndef ITM_MULTIBODY_PLANAR_H
#define ITM_MULTIBODY_PLANAR_H

#include "multibody/data.h"

// Fill m->is_planar from the poses of the start, in d. Returns false where memory ran out.
bool itm_planar_find(ItmModel* m, const ItmData* d);

// Whether the tree has a path between two bodies of a joint that closes a loop, by which rows may be idle.
bool itm_planar_can_be_idle(const ItmModel* m);
// Find the idle rows (nidle, idle) from the poses of the start, in d, and put them behind the others of their blocks.
void itm_planar_find_idle(ItmModel* m, const ItmData* d);

#endif
