// Broad phase: which boxes overlap.
//
// Sweep and prune: boxes sorted along the axis on which they are spread widest, each compared with those that
// begin before it ends, in strips across the axis of the second widest spread. The order is kept from call to call, so that sorting costs little while things move
// little; the result depends on the boxes alone.
#ifndef ITM_CONTACT_BROAD_H
#define ITM_CONTACT_BROAD_H

#include "base/arena.h"
#include "contact/geom.h"

#include <stdint.h>

typedef struct ItmPair {
    int a, b;  // a < b
} ItmPair;

// What a shape may collide with: a pair is tested where each one's group is in the other's mask.
typedef struct ItmBroadFilter {
    uint32_t group, mask;
    int body;  // shapes of one body never collide; ITM_NONE: fixed, and fixed ones never collide either
} ItmBroadFilter;

// clang-format off
typedef struct ItmBroad {
    int n, capacity;             // shapes; pairs that fit
    const ItmBroadFilter* filters;  // of the shapes, not owned                            (n)
    int* order;                  // shapes sorted by (lower end, index)                    (n)
    double* ends;                // lower and upper ends along the axis, in that order     (2 n)
    ItmAabb* sorted;             // boxes in that order                                    (n)
    int nstrip;
    int* strip;                  // first of the strips that a shape lies in, in that order; ITM_NONE: too wide (n)
    int* strip_adr;              // where the entries of a strip end                       (nstrip + 1)
    int* entries;                // places in the order, strip by strip                    (4 n)
    int* merge;                  // scratch of sorting                                     (n)
    int* first;                  // scratch of sorting pairs                               (n + 1)
    ItmPair* pairs;              // result, sorted by (a, b)                               (capacity)
    ItmPair* found;              // scratch, in the order of the sweep                     (capacity)
    int npair;
    int axis, second;            // swept along; across the strips
} ItmBroad;
// clang-format on

// Called for pairs that pass the filters and overlap; false: leave the pair out. May be NULL.
typedef bool (*ItmBroadAllow)(void* context, int a, int b);

// Lay out in an arena (also while it measures). filters must outlive it.
void itm_broad_init(ItmBroad* broad, ItmArena* arena, const ItmBroadFilter* filters, int n, int capacity);

// Pairs of overlapping boxes into broad->pairs. Returns how many did not fit (0: all there). Boxes with a
// NaN overlap nothing. Never allocates.
int itm_broad_find(ItmBroad* broad, const ItmAabb* boxes, ItmBroadAllow allow, void* context);

#endif
