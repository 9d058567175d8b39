// Random contact problems for tests and benchmarks: rigid bodies with bilateral rows and contacts
// between them.
//     H = A M^-1 A',  b = A v   (b is in the range of A, so bilateral rows are always consistent)
// Rows: bilateral (free), then per contact its normal [0, inf) and two tangents.
#ifndef ITM_BENCH_MLCP_GENERATOR_H
#define ITM_BENCH_MLCP_GENERATOR_H

#include "interim/mlcp.h"

#include <stdint.h>

typedef struct MlcpSpec {
    int nbilateral;     // free rows
    int ncontact;       // three rows each
    bool is_redundant;  // few bodies (about 0.6 velocities a row) and every third bilateral row a combination of others
    bool is_coupled;    // friction bounded by mu times the normal impulse; false: by fixed numbers
    ItmFrictionLaw law;  // of coupled friction
    int ndirection;      // of pyramids
    double mass_spread;  // masses are multiplied by 10^(-spread .. spread)
    double drift;        // > 0: the same scene a little later; lever arms and velocities move by about this much
    uint64_t seed;
} MlcpSpec;

typedef struct MlcpCase {
    int n, nbilateral, ncontact, nv;
    double *H, *b, *lo, *up;
    ItmMlcpContact* contacts;  // coupled friction only, else NULL
    ItmMlcpProblem problem;    // points into the arrays above
} MlcpCase;

// Well posed, fixed bounds, spread 0, drift 0, seed 12345.
MlcpSpec mlcp_default_spec(int nbilateral, int ncontact);

// Returns false without memory.
bool mlcp_case_create(MlcpCase* c, const MlcpSpec* spec);
void mlcp_case_destroy(MlcpCase* c);

// splitmix64: uniform in [0, 1), and in [a, b)
double mlcp_random(uint64_t* state);
double mlcp_random_between(uint64_t* state, double a, double b);

#endif
