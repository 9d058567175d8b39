// What a peer library needs for the seconds of a contact MLCP with fixed bounds.
#ifndef ITM_BENCH_PEER_MLCP_H
#define ITM_BENCH_PEER_MLCP_H

#include "bench/mlcp_generator.h"

typedef struct PeerTiming {
    char solver[32];  // the fastest that solved it
    double seconds;   // INFINITY if none did
    double residual;
} PeerTiming;

// Fastest Siconos solver with a relative residual below `tolerance`. Every solver runs in a child
// process with a time limit, because some do not return or end the process. Bilateral rows are
// eliminated beforehand, unpaid.
PeerTiming peer_siconos_solve_mlcp(const MlcpCase* c, double tolerance, bool is_verbose);

#endif
