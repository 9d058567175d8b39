// Applied forces: loads, springs, dampers, bushings, actuators. Gravity is part of the inertia wrench.
#ifndef ITM_MULTIBODY_FORCES_H
#define ITM_MULTIBODY_FORCES_H

#include "multibody/data.h"

// Add all applied forces at time t to d->wrench and d->tau, keep each scalar force in d->scalar_force and d->scalar_measured, and set the powers of
// the ledger accounts LOAD and DISSIPATED. After the velocity stage.
void itm_forces_compute(const ItmModel* m, ItmData* d, double t);

// Work of loads, signals, inputs and servos (account LOAD) at time t along a small displacement `way` (nv), J. After itm_forces_compute;
// overwrites d->accel.
double itm_forces_compute_load_work(const ItmModel* m, ItmData* d, const double* way, double t);

// A bushing's force and torque on body b at the origin of its frame b, world axes.
ItmSpatial itm_forces_compute_bushing(const ItmData* d, const ItmBushing* bushing);

// Kinetic energy, and potential energy of gravity, springs, bushings and compliant joints, J. After the velocity and row
// stages.
double itm_forces_compute_kinetic(const ItmModel* m, const ItmData* d);
double itm_forces_compute_potential(const ItmModel* m, const ItmData* d);

// Momentum, and angular momentum about the world origin. After the velocity stage.
void itm_forces_compute_momentum(const ItmModel* m, const ItmData* d, ItmVec3* p, ItmVec3* L);

#endif
