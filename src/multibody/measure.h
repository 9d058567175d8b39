// Scalars that can be watched, driven or sprung: free directions of joints, distances of two points, lengths of ropes over points.
#ifndef ITM_MULTIBODY_MEASURE_H
#define ITM_MULTIBODY_MEASURE_H

#include "multibody/joint_view.h"

ItmMeasured itm_measure_compute(const ItmModel* m, const ItmData* d, const ItmMeasure* measure);
// The value only, in the configuration of the position stage and the coordinates q.
double itm_measure_compute_value(const ItmModel* m, const ItmData* d, const double* q, const ItmMeasure* measure);

// The moving bodies of a measure that is no tree coordinate, and its covectors on them times `sign`; body and cov may be NULL.
// Returns their number, ITM_BLOCK_BODIES at most.
int itm_measure_get_bodies(const ItmMeasure* measure, int* body);
int itm_measure_get_covectors(const ItmMeasure* measure, const ItmMeasured* x, double sign, ItmSpatial* cov);
// Rate of the measure, seen as x, while bodies move with `twist` (by body) and coordinates with v.
double itm_measure_compute_rate(const ItmMeasure* measure, const ItmMeasured* x, const ItmSpatial* twist,
                                const double* v);
// Add a force along the measure, seen as x, to the wrenches of its bodies, or to tau.
void itm_measure_add_force(const ItmMeasure* measure, const ItmMeasured* x, double force, ItmSpatial* wrench,
                           double* tau);
// Length of a rope along its points alone, without what its drum has taken in.
double itm_measure_compute_span(const ItmModel* m, const ItmData* d, const ItmMeasure* rope);

// Rotations a joint leaves free: their number, and the first two axes.
ITM_INLINE int itm_measure_get_free_rotations(unsigned free, int axes[3])
{
    int n = 0;
    for (int k = 0; k < 3; k++) {
        if (free & (1u << (ITM_RX + k))) {
            axes[n++] = k;
        }
    }
    return n;
}

#endif
