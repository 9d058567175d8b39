// The common normal of two cores: the unit n that maximises the gap s(n) = min_b n.x - max_a n.x.
//
// Apart, the maximum is the distance, and unique. Overlapping, it is minus the shortest way out, and the best
// of several local maxima. Polytopes: all candidates are known (face normals, products of edges), and are tried
// (separating axis test). Others climb: with b moved away by delta along the present n, the direction of
// their distance is the next n. Since s is concave, s(n_next) >= s(n) + delta (1 - n . n_next): s never falls,
// and a face contact is found exactly in one step. The move also keeps the direction well conditioned when the
// cores just touch, where their own distance has none.
#include "contact/narrow_core.h"

#define MAX_CLIMBS 30

#define HOPELESS 0.5  // cosine of 60 degrees

// The distance D of the moved cores bounds s for every direction: s(m) <= D - delta m . n. Where that leaves no m within 60 degrees of n
// that beats the best gap so far, the climb ends; usually long before D is known to all its digits. (Pad and log of the log
// crane, 2 mm deep, six starts: a quarter of the time.)
static void climb(ItmAxis* axis, const ItmCore* a, const ItmCore* b, double best)
{
    double size = a->size + b->size;
    // polytopes end exactly at a vertex of the search; curved cores are polished afterwards
    double enough = (a->hull != NULL && b->hull != NULL ? 1e-12 : 1e-7) * size;
    for (int k = 0; k < MAX_CLIMBS; k++) {
        double delta = fmax(0, -axis->gap) + 0.01 * size;
        double hopeless = best + HOPELESS * delta;
        ItmDistance d = itm_narrow_gjk_distance(a, b, itm_vec_scale(delta, axis->n), axis->n, hopeless);
        if (!(d.distance > fmax(0, hopeless))) {
            return;
        }
        double gap = itm_core_gap(a, b, d.n), gain = gap - axis->gap;
        if (gain > 0 || !axis->has_points) {
            ItmVec3 n = gain > 0 ? d.n : axis->n;
            *axis = (ItmAxis){n, fmax(gap, axis->gap), true, d.point_a, d.point_b, false};
        }
        if (!(gain > enough)) {
            return;
        }
    }
}

// From the best start, and where the overlap is deep from the others too.
static void climb_all(ItmAxis* axis, const ItmStarts* starts, const ItmCore* a, const ItmCore* b)
{
    *axis = starts->axes[0];
    climb(axis, a, b, -INFINITY);
    double shallow = -ITM_SHALLOW * (a->size + b->size);
    for (int k = 1; k < starts->n && axis->gap < shallow; k++) {
        ItmAxis other = starts->axes[k];
        climb(&other, a, b, axis->gap);
        if (other.gap > axis->gap) {
            *axis = other;
        }
    }
}

// A face normal that is as good as n to within rounding is the exact result.
static void snap_to_face(ItmAxis* axis, const ItmCore* a, const ItmCore* b, const ItmCore* core, double sign)
{
    double best_cosine = 0.9999;
    ItmVec3 best = {0, 0, 0};
    int count = core->hull != NULL ? core->hull->nface : 2;
    for (int f = 0; f < count; f++) {
        ItmVec3 m = core->hull != NULL ? itm_mat_mul_vec(&core->frame.R, core->hull->normals[f])
                                       : itm_vec_scale(f == 0 ? 1 : -1, core->frame.R.z);
        double cosine = sign * itm_vec_dot(m, axis->n);
        if (cosine > best_cosine) {
            best_cosine = cosine;
            best = itm_vec_scale(sign, m);
        }
    }
    if (best_cosine > 0.9999) {
        double gap = itm_core_gap(a, b, best);
        if (gap >= axis->gap - 1e-10 * (a->size + b->size)) {
            axis->n = best;
            axis->gap = gap;
        }
    }
}

// ---------------------------------------------------------------------------- finding

static ItmAxis axis_of_distance(const ItmDistance* d)
{
    return (ItmAxis){d->n, d->distance, true, d->point_a, d->point_b, false};
}

static bool is_usable(const ItmAxis* axis)
{
    return isfinite(axis->gap) && itm_vec_is_finite(axis->n) && fabs(itm_vec_norm(axis->n) - 1) < 1e-6;
}

// Whether a point of the world at the height `gap` over the face with normal d lies over it.
static bool is_over(const ItmCore* core, ItmVec3 d, ItmVec3 local_d, double gap, ItmVec3 point)
{
    ItmVec3 foot = itm_vec_axpy(-gap, d, itm_vec_sub(point, core->frame.p));
    foot = itm_mat_t_mul_vec(&core->frame.R, foot);
    for (int f = 0; f < core->hull->nface; f++) {
        double cosine = itm_vec_dot(core->hull->normals[f], local_d);
        double height = itm_vec_dot(core->hull->normals[f], foot) - core->hull->offsets[f];
        if (height > 1e-12 * core->size && cosine < 1 - 1e-12) {
            return false;
        }
    }
    return core->hull->nface > 2;
}

#define MOST_NEAREST 8  // vertices of a hull all of which are looked at: those of a box

// Where the best candidate is an exact face-to-vertex distance, no search is needed: a nearest vertex of the other core lies over the
// face. Of parallel faces, as in a stack, several vertices are nearest to within rounding, and some of them stick out.
static bool is_over_face(const ItmAxis* axis, const ItmCore* core, const ItmCore* other, double sign)
{
    ItmVec3 d = itm_vec_scale(sign, axis->n), local_d = itm_mat_t_mul_vec(&core->frame.R, d);
    ItmVec3 nearest = itm_narrow_core_support(other, itm_vec_neg(d));
    if (is_over(core, d, local_d, axis->gap, nearest)) {
        return true;
    }
    double level = itm_vec_dot(d, nearest) + 1e-9 * (core->size + other->size);
    for (int i = 0; other->hull->nvertex <= MOST_NEAREST && i < other->hull->nvertex; i++) {
        ItmVec3 vertex = itm_frame_apply(&other->frame, other->hull->vertices[i]);
        if (itm_vec_dot(d, vertex) <= level && is_over(core, d, local_d, axis->gap, vertex)) {
            return true;
        }
    }
    return false;
}

static ItmAxisResult find_polytopes(ItmAxis* axis, const ItmCore* a, const ItmCore* b, double reach)
{
    double size = a->size + b->size;
    ItmStarts starts;
    itm_narrow_try_axis(&starts, a, b, reach);
    ItmAxis best = starts.axes[0];
    if (best.gap > reach) {
        return ITM_AXIS_APART;
    }
    if (starts.is_complete && best.gap <= 1e-9 * size) {
        *axis = best;
        return ITM_AXIS_FOUND;
    }
    if (best.gap > 0 && (is_over_face(&best, a, b, 1) || is_over_face(&best, b, a, -1))) {
        *axis = best;
        return ITM_AXIS_FOUND;
    }
    ItmDistance d = itm_narrow_gjk_distance(a, b, itm_vec(0, 0, 0), itm_vec(0, 0, 0), 0.0);
    if (d.distance > reach) {
        return ITM_AXIS_APART;
    }
    if (d.distance > 1e-7 * size) {
        *axis = axis_of_distance(&d);
        snap_to_face(axis, a, b, a, 1);
        snap_to_face(axis, a, b, b, -1);
        return ITM_AXIS_FOUND;
    }
    *axis = best;
    if (!starts.is_complete) {
        climb_all(axis, &starts, a, b);
    }
    return ITM_AXIS_FOUND;
}

static ItmAxisResult find_curved(ItmAxis* axis, const ItmCore* a, const ItmCore* b, double reach)
{
    double size = a->size + b->size;
    ItmDistance d = itm_narrow_gjk_distance(a, b, itm_vec(0, 0, 0), itm_vec(0, 0, 0), 0.0);
    if (d.distance > reach) {
        return ITM_AXIS_APART;
    }
    if (d.distance > 1e-6 * size) {
        *axis = axis_of_distance(&d);
        // what n is good for, not the distance it came with: only that can rise
        axis->gap = itm_core_gap(a, b, axis->n);
        climb(axis, a, b, -INFINITY);
    } else {
        ItmStarts starts;
        itm_narrow_try_axis(&starts, a, b, INFINITY);
        climb_all(axis, &starts, a, b);
    }
    itm_narrow_polish_axis(axis, a, b);
    snap_to_face(axis, a, b, a, 1);
    snap_to_face(axis, a, b, b, -1);
    return ITM_AXIS_FOUND;
}

ItmAxisResult itm_narrow_find_axis(ItmAxis* axis, const ItmCore* a, const ItmCore* b, double reach)
{
    ItmAxisResult result =
        a->hull != NULL && b->hull != NULL ? find_polytopes(axis, a, b, reach) : find_curved(axis, a, b, reach);
    if (result == ITM_AXIS_FOUND && !is_usable(axis)) {
        return ITM_AXIS_FAILED;
    }
    return result;
}
