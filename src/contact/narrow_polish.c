// The last digits of a common normal of cores with curved surfaces: Newton steps on s(n), where climbing
// over distances ends in rounding.
#include "contact/narrow_core.h"

// Kinks of s that the maximum lies on: n stays perpendicular to an edge or to the axis of a cylinder that
// touches with its side.
static int find_kinks(ItmVec3 kinks[2], const ItmAxis* axis, const ItmCore* a, const ItmCore* b)
{
    int n = 0;
    for (int side = 0; side < 2; side++) {
        const ItmCore* core = side == 0 ? a : b;
        ItmFeature f;
        itm_narrow_find_feature(&f, core, side == 0 ? axis->n : itm_vec_neg(axis->n), 1e-3);
        if (f.n == 2) {
            ItmVec3 d = itm_vec_sub(f.p[1], f.p[0]);
            kinks[n++] = itm_vec_scale(1.0 / itm_vec_norm(d), d);
        }
    }
    return n;
}

// Curvature of s along the unit tangents u, v: -R / |n_across| (u.t)(v.t), t along the rim.
static double curvature(const ItmCore* core, ItmVec3 n, ItmVec3 u, ItmVec3 v)
{
    ItmVec3 t = itm_vec_cross(core->frame.R.z, n);
    double across2 = itm_vec_dot(t, t);
    if (core->hull != NULL || across2 < 1e-12) {
        return 0;
    }
    return -core->cylinder_radius * itm_vec_dot(u, t) * itm_vec_dot(v, t) / (across2 * sqrt(across2));
}

// One Newton step for the maximum of s on the unit sphere, along nt tangents: s has the gradient
// g = support_b(-n) - support_a(n), and on the sphere the Hessian of s less g . n.
static ItmVec3 newton_step(const ItmAxis* axis, const ItmCore* a, const ItmCore* b, const ItmVec3* tangent, int nt)
{
    ItmVec3 n = axis->n;
    ItmVec3 g = itm_vec_sub(itm_narrow_core_support(b, itm_vec_neg(n)), itm_narrow_core_support(a, n));
    double h[3], r[2] = {0, 0};
    for (int i = 0, k = 0; i < nt; i++) {
        r[i] = itm_vec_dot(g, tangent[i]);
        for (int j = 0; j <= i; j++) {
            h[k++] = curvature(a, n, tangent[i], tangent[j]) + curvature(b, n, tangent[i], tangent[j]) -
                     (i == j ? itm_vec_dot(g, n) : 0);
        }
    }
    double x, y = 0;
    if (nt == 1) {
        x = -r[0] / h[0];
    } else {
        double det = h[0] * h[2] - h[1] * h[1];
        x = -(h[2] * r[0] - h[1] * r[1]) / det;
        y = -(h[0] * r[1] - h[1] * r[0]) / det;
    }
    ItmVec3 next = itm_vec_axpy(x, tangent[0], nt == 1 ? n : itm_vec_axpy(y, tangent[1], n));
    return itm_vec_scale(1.0 / itm_vec_norm(next), next);
}

// Raise s from an n that is nearly right, staying on the given kinks.
static void polish_on(ItmAxis* axis, const ItmCore* a, const ItmCore* b, const ItmVec3* kinks, int nkink)
{
    ItmAxis trial = *axis;
    // onto the kinks first
    if (nkink == 2) {
        ItmVec3 m = itm_vec_cross(kinks[0], kinks[1]);
        double sine = itm_vec_norm(m);
        if (sine < 1e-3) {
            nkink = 1;
        } else {
            trial.n = itm_vec_scale((itm_vec_dot(m, axis->n) < 0 ? -1 : 1) / sine, m);
        }
    }
    if (nkink == 1) {
        ItmVec3 m = itm_vec_axpy(-itm_vec_dot(kinks[0], axis->n), kinks[0], axis->n);
        trial.n = itm_vec_scale(1.0 / itm_vec_norm(m), m);
    }
    trial.gap = itm_core_gap(a, b, trial.n);
    double allowed = axis->gap - 1e-5 * (a->size + b->size);
    for (int k = 0; k < 8 && trial.gap > allowed; k++) {
        if (trial.gap > axis->gap) {
            axis->n = trial.n;
            axis->gap = trial.gap;
        }
        if (nkink == 2) {
            return;
        }
        ItmVec3 u = nkink == 1 ? kinks[0] : itm_vec_perpendicular(trial.n);
        ItmVec3 v = itm_vec_cross(trial.n, u);
        ItmVec3 tangent[2] = {nkink == 1 ? v : u, v};
        ItmVec3 n = newton_step(&trial, a, b, tangent, nkink == 1 ? 1 : 2);
        if (!itm_vec_is_finite(n) || itm_vec_norm(itm_vec_sub(n, trial.n)) < 1e-15) {
            return;
        }
        trial.n = n;
        trial.gap = itm_core_gap(a, b, n);
    }
}

void itm_narrow_polish_axis(ItmAxis* axis, const ItmCore* a, const ItmCore* b)
{
    ItmVec3 kinks[2];
    int nkink = find_kinks(kinks, axis, a, b);
    polish_on(axis, a, b, kinks, nkink);
    for (int i = 0; i < nkink && nkink == 2; i++) {
        polish_on(axis, a, b, &kinks[i], 1);
    }
    if (nkink > 0) {
        polish_on(axis, a, b, NULL, 0);
    }
}
