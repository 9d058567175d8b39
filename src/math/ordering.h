// Order of elimination that keeps a sparse symmetric factor sparse.
#ifndef ITM_MATH_ORDERING_H
#define ITM_MATH_ORDERING_H

#include <stdbool.h>

// order[k] is the k-th vertex to eliminate. The graph has n vertices; neighbours of i are list[adr[i] ... adr[i + 1]), each edge in
// both lists, without loops. Returns false without memory. The same graph always gives the same order.
bool itm_ordering_compute(int* order, int n, const int* adr, const int* list);

#endif
