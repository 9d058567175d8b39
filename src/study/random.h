// Random numbers that are the same on every machine: the generator xoshiro256**, seeded by splitmix64.
#ifndef ITM_STUDY_RANDOM_H
#define ITM_STUDY_RANDOM_H

#include <stdint.h>

typedef struct ItmRandom {
    uint64_t state[4];
} ItmRandom;

ItmRandom itm_random_seed(uint64_t seed);
uint64_t itm_random_next(ItmRandom* random);
// Evenly in the open interval (0, 1).
double itm_random_real(ItmRandom* random);
// Evenly in 0 ... count - 1.
int itm_random_index(ItmRandom* random, int count);

#endif
