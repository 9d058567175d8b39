// Separating axis test of two boxes: fifteen directions in closed form (Gottschalk, Lin and Manocha 1996).
#include "contact/narrow_core.h"

typedef struct Boxes {
    double c[3][3];       // axes of b in the frame of a: c[i][j] = a_i . b_j
    double m[3][3];       // their magnitudes
    double ta[3], tb[3];  // from the middle of a to that of b, along the axes of a and of b
    double ha[3], hb[3];  // half edges
} Boxes;

static void prepare(Boxes* x, const ItmCore* a, const ItmCore* b)
{
    ItmVec3 t = itm_vec_sub(b->frame.p, a->frame.p);
    for (int i = 0; i < 3; i++) {
        ItmVec3 u = itm_mat_column(&a->frame.R, i), v = itm_mat_column(&b->frame.R, i);
        x->ta[i] = itm_vec_dot(u, t);
        x->tb[i] = itm_vec_dot(v, t);
        x->ha[i] = itm_vec_get(a->half, i);
        x->hb[i] = itm_vec_get(b->half, i);
        for (int j = 0; j < 3; j++) {
            x->c[i][j] = itm_vec_dot(u, itm_mat_column(&b->frame.R, j));
            x->m[i][j] = fabs(x->c[i][j]);
        }
    }
}

// Gap of two intervals whose middles are t apart.
static double along_a(const Boxes* x, int i)
{
    return fabs(x->ta[i]) - x->ha[i] - (x->hb[0] * x->m[i][0] + x->hb[1] * x->m[i][1] + x->hb[2] * x->m[i][2]);
}

static double along_b(const Boxes* x, int j)
{
    return fabs(x->tb[j]) - x->hb[j] - (x->ha[0] * x->m[0][j] + x->ha[1] * x->m[1][j] + x->ha[2] * x->m[2][j]);
}

// Along a_i x b_j, not normalised; signed distance of the middles in *t.
static double along_product(const Boxes* x, int i, int j, double* t)
{
    int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
    *t = x->ta[i2] * x->c[i1][j] - x->ta[i1] * x->c[i2][j];
    double reach_a = x->ha[i1] * x->m[i2][j] + x->ha[i2] * x->m[i1][j];
    double reach_b = x->hb[j1] * x->m[i][j2] + x->hb[j2] * x->m[i][j1];
    return fabs(*t) - reach_a - reach_b;
}

static ItmAxis towards(ItmVec3 n, double t, double gap)
{
    return (ItmAxis){.n = t < 0 ? itm_vec_neg(n) : n, .gap = gap};
}

static void try_products(ItmAxis* best, const Boxes* x, const ItmCore* a, const ItmCore* b)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            // |a_i x b_j|^2; 1 - c_ij^2 would lose its digits where edges are nearly parallel
            double c1 = x->c[(i + 1) % 3][j], c2 = x->c[(i + 2) % 3][j], length2 = c1 * c1 + c2 * c2, t;
            double gap = along_product(x, i, j, &t);
            // parallel edges have no product; a gap that is worse even unscaled is worse
            if (length2 < 1e-12 || (gap < 0 && gap < best->gap)) {
                continue;
            }
            double length = sqrt(length2);
            gap /= length;
            if (gap > best->gap) {
                ItmVec3 n = itm_vec_cross(itm_mat_column(&a->frame.R, i), itm_mat_column(&b->frame.R, j));
                *best = towards(itm_vec_scale(1 / length, n), t, gap);
            }
        }
    }
}

void itm_narrow_try_boxes(ItmStarts* starts, const ItmCore* a, const ItmCore* b, double reach)
{
    Boxes x;
    prepare(&x, a, b);
    ItmAxis best = {.gap = -INFINITY};
    for (int i = 0; i < 3; i++) {
        double gap = along_a(&x, i);
        best = gap > best.gap ? towards(itm_mat_column(&a->frame.R, i), x.ta[i], gap) : best;
    }
    // a wins ties, and an edge must beat a face by more than rounding, or normals would flicker between them
    double rounding = 1e-10 * (a->size + b->size);
    for (int j = 0; j < 3; j++) {
        double gap = along_b(&x, j);
        best = gap > best.gap + rounding ? towards(itm_mat_column(&b->frame.R, j), x.tb[j], gap) : best;
    }
    starts->n = 1;
    starts->is_complete = true;
    starts->axes[0] = best;
    if (best.gap <= reach) {
        best.gap += rounding;
        double bar = best.gap;
        try_products(&best, &x, a, b);
        starts->axes[0] = best.gap > bar ? best : starts->axes[0];
    }
}
