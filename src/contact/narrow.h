// Narrow phase: where two placed shapes touch or are about to.
//
// A contact is a common normal n (unit, from a to b) with a point on each surface, point_b - point_a = gap n.
// Points are reported as long as gap <= margin, also when the shapes are apart, because contacts are
// speculative: a row asks for gap + h w >= 0. The smallest gap of a pair of convex shapes is their distance,
// or, where they overlap, minus the shortest way out.
#ifndef ITM_CONTACT_NARROW_H
#define ITM_CONTACT_NARROW_H

#include "contact/geom.h"

#include <stdint.h>

#define ITM_NARROW_MAX_POINTS 8      // more are never useful for one pair of convex shapes
#define ITM_NARROW_INVALID (-1)      // a pose or the margin is not finite, or the pair gave no usable normal
#define ITM_NARROW_UNSUPPORTED (-2)  // mesh or field against mesh or field, plane against plane or field

typedef struct ItmContactPoint {
    ItmVec3 point_a, point_b;  // on the surfaces, world                             m
    ItmVec3 normal;            // unit, from a to b
    double gap;                // n . (point_b - point_a); negative: penetration     m
    uint64_t key;              // the features that touch: the same from step to step, unique in a call
} ItmContactPoint;

// Contacts of two placed shapes, at most `max` (the most useful ones: the deepest, then those farthest from
// each other). Returns their number, or one of the negative codes above. Never allocates.
int itm_narrow_collide(ItmContactPoint* out, int max, const ItmGeom* a, const ItmFrame* frame_a, const ItmGeom* b,
                       const ItmFrame* frame_b, double margin);

// Whether itm_narrow_collide can serve a pair of kinds.
bool itm_narrow_supports(ItmGeomKind a, ItmGeomKind b);

#endif
