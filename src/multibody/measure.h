// Scalars that can be watched, driven or sprung: free directions of joints, and distances of two points.
#ifndef ITM_MULTIBODY_MEASURE_H
#define ITM_MULTIBODY_MEASURE_H

#include "multibody/joint_view.h"

ItmMeasured itm_measure_compute(const ItmModel* m, const ItmData* d, const ItmMeasure* measure);
// The value only, in the configuration of the position stage and the coordinates q.
double itm_measure_compute_value(const ItmModel* m, const ItmData* d, const double* q, const ItmMeasure* measure);

// Rotations a joint leaves free: their number, and the first two axes.
int itm_measure_get_free_rotations(unsigned free, int axes[3]);

#endif
