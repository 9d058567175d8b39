// Sobol' sequence: points that fill the unit cube more evenly than random ones, the same for every prefix of 2^k points.
#ifndef ITM_STUDY_SOBOL_H
#define ITM_STUDY_SOBOL_H

#include <stdint.h>

#define ITM_SOBOL_MOST_DIMENSIONS 64

// Direction numbers of a dimension, 0 <= dimension < ITM_SOBOL_MOST_DIMENSIONS. directions (32)
void itm_sobol_fill_directions(int dimension, uint32_t* directions);
// Coordinate of point `index` as a binary fraction of 32 digits.
uint32_t itm_sobol_compute(const uint32_t* directions, uint32_t index);

#endif
