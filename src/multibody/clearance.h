// Joints with clearance: the gaps between a hub and its pin, and the bounded rows that keep them open      [clearance, section 3]
//
// Sign: a gap is positive while it is open, Phi = -gap of the paper; rows push the hub along +normal, gap' = normal . u.
#ifndef ITM_MULTIBODY_CLEARANCE_H
#define ITM_MULTIBODY_CLEARANCE_H

#include "base/check.h"
#include "multibody/bounded.h"
#include "multibody/model_builder.h"

// A gap in the present state, world axes.
typedef struct ItmClearancePoint {
    ItmVec3 point;       // of the hub: end of its centre line, centre of the socket, or corner     m
    ItmVec3 velocity;    // of that point, seen from body a                                         m/s
    ItmVec3 contact;     // where the two would touch                                               m
    ItmVec3 normal;      // unit: the way that opens the gap
    ItmVec3 tangent[2];  // complete it
    double gap;          // < 0: penetration                                                        m
    double rate;         // its rate                                                                m/s
    double bias;         // what the curvature of the gap adds to the rate of the end of the step, per time  m/s^2
} ItmClearancePoint;

// Whether a joint has clearance.
static inline bool itm_clearance_is_given(const ItmJointDef* def)
{
    return def->clearance.radial > 0.0;
}

// Whether a joint with clearance starts in the middle of its clearance and moves as if it were ideal: neither poses nor velocities that are
// given of its bodies contradict it.
bool itm_clearance_is_centred(const ItmModelBuilder* b, const ItmJointDef* def);

// Errors in the clearance of a joint, into c.
void itm_clearance_check(ItmCheck* c, const ItmJointDef* def);

// Tables of the joints with clearance, after the joints. False: out of memory.
bool itm_clearance_build(ItmModel* m, const ItmModelBuilder* b);
// ITM_ERR_ASSEMBLY names a joint whose hub is not in its bearing in the configuration of the position stage.
ItmStatus itm_clearance_check_start(const ItmModel* m, ItmData* d, ItmError* error);

// All gaps of a joint with clearance into d->clearance.points, for a step h (0: only look). After the velocity stage.
void itm_clearance_measure(const ItmModel* m, ItmData* d, int clearance, double h);
// The rows of all joints with clearance for a step h. After the velocity stage and the forces.
void itm_clearance_add_rows(const ItmModel* m, ItmData* d, double h);
// Energy that the impulse of a row gave, if it is one of a joint with clearance.
void itm_clearance_book_work(ItmData* d, const ItmRow* row, double work);
// Count what else the step h did, from the impulses of its rows.
void itm_clearance_tally(const ItmModel* m, ItmData* d, double h);

// Centre of the hub seen from the pin, axes of frame a, m.
ItmVec3 itm_clearance_get_orbit(const ItmModel* m, const ItmData* d, int clearance);
// Impulse of the last step on body b of a joint with clearance, moment about the origin of its frame b.
ItmSpatial itm_clearance_get_impulse(const ItmModel* m, const ItmData* d, int clearance);
// A gap in the last step as a contact of the hub: name_a is the joint, name_b NULL.
ItmContactInfo itm_clearance_get_contact(const ItmModel* m, const ItmData* d, int clearance, int point);
// Normal impulse of a gap in the last step, and its state as in ItmContactState.
double itm_clearance_get_normal_impulse(const ItmData* d, int clearance, int point, ItmContactState* state);

#endif
