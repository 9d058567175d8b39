// Newton's method over the contacts of a problem (sweep.h) that carry load. Heaps of spheres touch at single points, few of which are loaded
// at a time: their impulses couple sparsely, in blocks of 3 x 3 over the graph of contacts that share a body.
#ifndef ITM_MLCP_LOADED_H
#define ITM_MLCP_LOADED_H

#include "math/graph.h"
#include "mlcp/sweep.h"

// clang-format off
// Two contacts that share a node; both nodes: there are two such pairs.
typedef struct ItmLoadedPair {
    int    a, b;           // contacts
    int    block;          // of the matrix
    bool   is_transposed;  // its upper half has A_ba
    double W[9];           // velocities of a that impulses at b cause
} ItmLoadedPair;

// A node that a contact acts on.
typedef struct ItmLoadedSide {
    int contact, at;       // the contact has it in this place
    int next;              // side of another contact at the node, or ITM_NONE
} ItmLoadedSide;

typedef struct ItmLoaded {
    ItmGraph graph;        // of the contacts
    int      n, npair;     // contacts that carry load, or are about to
    int      contact_capacity, pair_capacity;
    int*     block;        // of the problem                                    (n)
    int*     contact;      // of a block of the problem, or ITM_NONE            (blocks)
    ItmSweepBlock* near;   // blocks that carry load or open slowly             (blocks)
    bool     is_wide;      // contacts on more than two nodes are among them
    int      nside, side_capacity;
    int*     head;         // last of the sides of contacts at a node            (nodes)
    ItmLoadedSide* sides;  //                                                   (nside)
    ItmLoadedPair* pairs;  //                                                   (npair)
    double*  W;            // 3 x 3 of a contact with itself                    (n)
    double*  F;            // derivative of the law by the velocities, 3 x 3    (n)
    signed char* part;     // case of its row in the factor                     (n)
    signed char* kind;     // case that a contact is in                         (blocks)
    double*  off;          // how far it is off its law, m/s                    (blocks)
    int      worst_row;    // of the contact that is off farthest
    bool     has_new;      // closed contacts are without an unknown
    double*  dx;           // right side, then step                             (3 n)
    double*  w;            // velocities                                        (rows)
    double*  start;        // impulses of the start                             (rows)
} ItmLoaded;

// A part of a problem that is solved while the impulses of the rest stay.
typedef struct ItmLoadedPatch {
    ItmSweep  sweep;
    ItmLoaded newton;
    int       n, capacity;
    int*      block;       // of the problem                                    (n)
    bool*     is_in;       // whether a block of the problem is in it           (blocks)
} ItmLoadedPatch;
// clang-format on

void itm_loaded_lay_out(ItmLoaded* l, ItmArena* arena, int nblock, int nrow, int nnode);
// Room for parts of problems with so many blocks.
void itm_loaded_patch_lay_out(ItmLoadedPatch* patch, ItmArena* arena, int nblock, int nnode);

// Whether the method is for such a problem: contacts with two tangents and the exact cone only.
bool itm_loaded_is_suited(const ItmSweep* s);

// Impulses x (rows), which also holds the start; s->change as after itm_sweep_solve. The result is never farther off than the start, or than
// what a few sweeps make of a bad one; `sweeps` counts steps of Newton's method over all contacts. patch: where these do not get on, contacts
// are solved again with those around them; NULL: they are swept.
ItmSweepResult itm_loaded_solve(ItmLoaded* l, ItmLoadedPatch* patch, ItmSweep* s, double* x, double tolerance);

#endif
