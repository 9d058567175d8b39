// Scalars that can be watched, driven or sprung: free directions of joints, and distances of two points.
#ifndef ITM_MULTIBODY_MEASURE_H
#define ITM_MULTIBODY_MEASURE_H

#include "multibody/data.h"

// A joint seen in the world: its two frames and how their bodies move.
typedef struct ItmJointView {
    int body_a, body_b;
    ItmMat3 R_a, R_b;            // axes of the joint frames
    ItmVec3 p_a, p_b;            // their origins
    ItmVec3 s_a, s_b;            // from the centres of mass of the bodies to p_b
    ItmVec3 w_a, w_b;            // angular velocities
    ItmSpatial bias_a, bias_b;   // bias accelerations of the bodies
    ItmVec3 u;                   // velocity of p_b seen from body a
    ItmVec3 a;                   // its acceleration seen from body a while v' = 0
} ItmJointView;

// A scalar with its rate, the part of its second derivative that does not come from v', and its Jacobian by bodies.
typedef struct ItmMeasured {
    double value, rate, bias;
    ItmSpatial cov_a, cov_b;     // zero where the measure is a tree coordinate
} ItmMeasured;

void itm_joint_view_init(ItmJointView* view, const ItmData* d, int body_a, int body_b, const ItmFrame* a,
                         const ItmFrame* b);

// Translation k of p_b along the axes of frame a.
ItmMeasured itm_joint_measure_translation(const ItmJointView* view, int k);
// Rate about an axis fixed in body a (or b); the value is left 0.
ItmMeasured itm_joint_measure_axis(const ItmJointView* view, ItmVec3 axis, bool is_fixed_in_b);
// x . y of a direction x fixed in body a and y fixed in body b, 0 where they are perpendicular.
ItmMeasured itm_joint_measure_dot(const ItmJointView* view, ItmVec3 x, ItmVec3 y);

ItmMeasured itm_measure_compute(const ItmModel* m, const ItmData* d, const ItmMeasure* measure);
// The value only, in the configuration of the position stage and the coordinates q.
double itm_measure_compute_value(const ItmModel* m, const ItmData* d, const double* q,
                                 const ItmMeasure* measure);

// Rotations a joint leaves free: their number, and the first two axes.
int itm_joint_get_free_rotations(unsigned free, int axes[3]);

#endif
