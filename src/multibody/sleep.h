// Sleeping: bodies that have rested together for a while are left out of the steps until something reaches them (contact option
// sleep_after, off by default).
//
// A free body rests while 2 T / m, the square of a speed, stays below sleep_speed^2. An island of contacts falls asleep when all its bodies have
// rested for sleep_after and nothing but gravity and contacts acts on them. Asleep, its bodies have no velocity, no acceleration and no
// contacts with each other or the ground; the forces of these contacts are kept for outputs. An awake body that comes within reach of one of
// them, or a velocity that somebody sets, wakes the whole island, within the same step.
#ifndef ITM_MULTIBODY_SLEEP_H
#define ITM_MULTIBODY_SLEEP_H

#include "multibody/bounded.h"

#include <math.h>

// Whether a body (ITM_NONE: the world) is asleep.
static inline bool itm_sleep_is_asleep(const ItmData* d, int body)
{
    return d->sleep.n > 0 && body != ITM_NONE && isinf(d->sleep.rest[body]);
}

// Which bodies may sleep: those that are free on the world and that no joint, force, limit or latch touches.
void itm_sleep_find_sleepers(const ItmModel* m, ItmData* d);
// Something acts on this body that is not part of the model: it does not sleep.
void itm_sleep_forbid(ItmData* d, int body);
// Wake all, because positions or velocities were set.
void itm_sleep_wake_all(ItmData* d);

// Before a step: islands with a body that moves wake up.
void itm_sleep_begin(const ItmModel* m, ItmData* d);
// After the rows of a step were collected: islands that an awake body reaches wake up. True: some did, and their rows are missing.
bool itm_sleep_wake_touched(ItmData* d);
// Take the forces off all bodies that are asleep.
void itm_sleep_hold(const ItmModel* m, ItmData* d);
// After a step h: clocks, and islands that fall asleep. Their kinetic energy counts as lost by friction.
void itm_sleep_finish(const ItmModel* m, ItmData* d, double h);

// Energy that compliant contacts of sleeping islands hold, J.
double itm_sleep_get_elastic(const ItmData* d);
// The contacts with which bodies fell asleep, into d->bounded->body_force.
void itm_sleep_add_contacts(ItmData* d);

#endif
