// The first half of a Craig-Bampton reduction: a basis V of static shapes and fixed modes for all rows of a finite element model.
#ifndef ITM_MULTIBODY_MODAL_REDUCTION_H
#define ITM_MULTIBODY_MODAL_REDUCTION_H

#include "math/blocks.h"
#include "multibody/modal.h"

typedef struct ItmReduction {
    const ItmModalDef* def;
    const char* body;
    ItmError* error;
    int n, per_node;  // rows, rows of a node
    int* tied;        // interface that a node is tied to, or ITM_NONE               (nnode)
    int* inner;       // number of a node among the others, or ITM_NONE              (nnode)
    int ninner;
    ItmBlocks pattern;  // of K_ii, a block a node
    ItmBlockFactor factor;
    double* factor_memory;
    double* V;  // basis: static shapes of the interfaces, then Phi            (nV x n)
    int nV;
    double* work;  // (2 n)
} ItmReduction;

// Memory for a checked definition. Whatever comes of it, free it.
ItmStatus itm_modal_reduction_init(ItmReduction* r, const ItmModalDef* def, const char* body, ItmError* error);
void itm_modal_reduction_free(ItmReduction* r);
// Factor the interior and fill V. ITM_ERR_INPUT: interfaces that share nodes or do not hold the rest, too many modes.
ItmStatus itm_modal_reduction_build(ItmReduction* r);
// ITM_ERR_INPUT with the name of the body.
ItmStatus itm_modal_reduction_refuse(const ItmReduction* r, const char* field, const char* what);

// y = A x
void itm_modal_reduction_multiply(const ItmSparseDef* A, double* y, const double* x);
double itm_modal_reduction_dot(const double* x, const double* y, int n);
// X A X' for q vectors, the rows of X, into out (q x q)
void itm_modal_reduction_project(const ItmReduction* r, const ItmSparseDef* A, double* out, const double* X, int q);
// Write a unit of rigid motion (direction 0 to 5, about `at`) into the rows of a node.
void itm_modal_reduction_write_rigid(double* u, int per_node, ItmVec3 node, ItmVec3 at, int direction);
// Where the frame of an interface is.
ItmVec3 itm_modal_reduction_find_middle(const ItmModalDef* def, const ItmModalInterface* face);

#endif
