// Directions in which two cores can be least deep in each other: normals of faces, products of edges, and what
// a cylinder has instead. For two polytopes with few edges the list is complete (separating axis test).
#include "contact/narrow_core.h"

#define MAX_PRODUCTS 200  // pairs of edge directions that are tried one by one
#define FEW_PRODUCTS 9    // even where the overlap is shallow: a triangle and a box

static void note(ItmStarts* starts, ItmVec3 n, double gap)
{
    int worst = starts->n - 1;
    if (starts->n == ITM_MAX_STARTS && !(gap > starts->axes[worst].gap)) {
        return;
    }
    int k = 0;
    while (k < starts->n && itm_vec_dot(starts->axes[k].n, n) < 0.966) {
        k++;
    }
    if (k < starts->n && !(gap > starts->axes[k].gap)) {
        return;  // a neighbour is better
    }
    if (k == starts->n) {
        k = starts->n < ITM_MAX_STARTS ? starts->n++ : worst;
    }
    // up to its place
    for (; k > 0 && starts->axes[k - 1].gap < gap; k--) {
        starts->axes[k] = starts->axes[k - 1];
    }
    starts->axes[k] = (ItmAxis){.n = n, .gap = gap};
}

static double best_gap(const ItmStarts* starts)
{
    return starts->n > 0 ? starts->axes[0].gap : -INFINITY;
}

// Face normals of `a`; sign -1 where `a` is the second of the pair.
static void try_faces(ItmStarts* starts, const ItmCore* a, const ItmCore* b, double sign, double reach)
{
    for (int f = 0; f < a->hull->nface && best_gap(starts) <= reach; f++) {
        ItmVec3 m = itm_mat_mul_vec(&a->frame.R, a->hull->normals[f]);
        // the face plane itself is the end of a: only b needs a support point
        double end = a->hull->offsets[f] + itm_vec_dot(m, a->frame.p);
        note(starts, itm_vec_scale(sign, m), itm_vec_dot(m, itm_narrow_core_support(b, itm_vec_neg(m))) - end);
    }
}

// n and -n; products of parallel directions, which have none, are left to the faces.
static void try_both(ItmStarts* starts, const ItmCore* a, const ItmCore* b, ItmVec3 n)
{
    double length = itm_vec_norm(n);
    if (length < 1e-6) {
        return;
    }
    n = itm_vec_scale(1.0 / length, n);
    note(starts, n, itm_core_gap(a, b, n));
    n = itm_vec_neg(n);
    note(starts, n, itm_core_gap(a, b, n));
}

// All products of edges. One must beat the faces by more than rounding, or normals would flicker between.
static void try_products(ItmStarts* starts, const ItmCore* a, const ItmCore* b)
{
    ItmStarts edges = {0};
    for (int i = 0; i < a->hull->ndirection; i++) {
        ItmVec3 u = itm_mat_mul_vec(&a->frame.R, a->hull->directions[i]);
        for (int j = 0; j < b->hull->ndirection; j++) {
            try_both(&edges, a, b, itm_vec_cross(u, itm_mat_mul_vec(&b->frame.R, b->hull->directions[j])));
        }
    }
    if (best_gap(&edges) > best_gap(starts) + 1e-10 * (a->size + b->size)) {
        *starts = edges;
    }
}

// Directions in which a cylinder c touches the other: its axis, and across it towards the other's middle and
// perpendicular to the other's edges.
static void try_cylinder(ItmStarts* starts, const ItmCore* a, const ItmCore* b, const ItmCore* c, const ItmCore* other)
{
    ItmVec3 axis = c->frame.R.z;
    ItmVec3 apart = itm_vec_sub(other->middle, c->middle);
    try_both(starts, a, b, axis);
    try_both(starts, a, b, itm_vec_sub(apart, itm_vec_scale(itm_vec_dot(apart, axis), axis)));
    try_both(starts, a, b, apart);
    if (other->hull == NULL) {
        try_both(starts, a, b, itm_vec_cross(axis, other->frame.R.z));
        return;
    }
    for (int i = 0; i < other->hull->ndirection && i < MAX_PRODUCTS; i++) {
        try_both(starts, a, b, itm_vec_cross(axis, itm_mat_mul_vec(&other->frame.R, other->hull->directions[i])));
    }
}

static bool has_few_products(const ItmCore* a, const ItmCore* b, double gap)
{
    if (a->hull == NULL || b->hull == NULL) {
        return false;
    }
    bool is_shallow = gap > -ITM_SHALLOW * (a->size + b->size);
    return a->hull->ndirection * b->hull->ndirection <= (is_shallow ? FEW_PRODUCTS : MAX_PRODUCTS);
}

void itm_narrow_try_axis(ItmStarts* starts, const ItmCore* a, const ItmCore* b, double reach)
{
    if (a->half.x > 0 && b->half.x > 0) {
        itm_narrow_try_boxes(starts, a, b, reach);
        return;
    }
    starts->n = 0;
    if (a->hull != NULL) {
        try_faces(starts, a, b, 1, reach);
    } else {
        try_cylinder(starts, a, b, a, b);
    }
    if (b->hull != NULL) {
        try_faces(starts, b, a, -1, reach);
    } else {
        try_cylinder(starts, a, b, b, a);
    }
    // products are for deep overlaps, and for few edges; otherwise climbing from the best face is quicker
    bool has_edges = has_few_products(a, b, best_gap(starts));
    if (has_edges) {
        try_products(starts, a, b);
    }
    starts->is_complete = has_edges && starts->n > 0;
    if (starts->n == 0) {
        note(starts, itm_vec(0, 0, 1), itm_core_gap(a, b, itm_vec(0, 0, 1)));
    }
}
