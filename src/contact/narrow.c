#include "contact/narrow.h"

#include "contact/narrow_core.h"

static bool is_surface(ItmGeomKind kind)
{
    return kind == ITM_GEOM_MESH || kind == ITM_GEOM_FIELD;
}

bool itm_narrow_supports(ItmGeomKind a, ItmGeomKind b)
{
    ItmGeomKind first = a < b ? a : b, second = a < b ? b : a;
    if (first == ITM_GEOM_PLANE) {
        return second != ITM_GEOM_PLANE && second != ITM_GEOM_FIELD;
    }
    return !(is_surface(first) && is_surface(second));
}

static bool is_finite_frame(const ItmFrame* f)
{
    return itm_vec_is_finite(f->p) && itm_vec_is_finite(f->R.x) && itm_vec_is_finite(f->R.y) &&
           itm_vec_is_finite(f->R.z);
}

// Sphere with sphere, capsule, box or cylinder, and two capsules.
static bool has_closed_form(ItmGeomKind a, ItmGeomKind b)
{
    return (a == ITM_GEOM_SPHERE && b <= ITM_GEOM_CYLINDER) || (a == ITM_GEOM_CAPSULE && b == ITM_GEOM_CAPSULE);
}

static bool collide_cores(ItmManifold* m, const ItmGeom* a, const ItmFrame* frame_a, const ItmGeom* b,
                          const ItmFrame* frame_b, double margin)
{
    ItmCore core_a, core_b;
    ItmSmallHull store_a, store_b;
    itm_narrow_core_init(&core_a, &store_a, a, frame_a);
    itm_narrow_core_init(&core_b, &store_b, b, frame_b);
    ItmAxis axis;
    ItmAxisResult result = itm_narrow_find_axis(&axis, &core_a, &core_b, margin + core_a.radius + core_b.radius);
    if (result == ITM_AXIS_FOUND) {
        itm_narrow_manifold_add(m, &axis, &core_a, &core_b, margin);
    }
    return result != ITM_AXIS_FAILED;
}

// Kinds in order, frames relative to a common origin. False: no usable normal.
static bool collide_ordered(ItmManifold* m, const ItmGeom* a, const ItmFrame* frame_a, const ItmGeom* b,
                            const ItmFrame* frame_b, double margin)
{
    if (a->kind == ITM_GEOM_PLANE) {
        itm_narrow_plane(m, a, frame_a, b, frame_b, margin);
        return true;
    }
    if (has_closed_form(a->kind, b->kind)) {
        itm_narrow_round(m, a, frame_a, b, frame_b, margin);
        return true;
    }
    if (is_surface(b->kind)) {
        return itm_narrow_surface(m, a, frame_a, b, frame_b, margin);
    }
    return collide_cores(m, a, frame_a, b, frame_b, margin);
}

static void turn_round(ItmContactPoint* p)
{
    ItmVec3 swap = p->point_a;
    p->point_a = p->point_b;
    p->point_b = swap;
    p->normal = itm_vec_neg(p->normal);
}

static bool is_finite_point(const ItmContactPoint* p)
{
    return itm_vec_is_finite(p->point_a) && itm_vec_is_finite(p->point_b) && itm_vec_is_finite(p->normal) &&
           isfinite(p->gap);
}

int itm_narrow_collide(ItmContactPoint* out, int max, const ItmGeom* a, const ItmFrame* frame_a, const ItmGeom* b,
                       const ItmFrame* frame_b, double margin)
{
    if (!itm_narrow_supports(a->kind, b->kind)) {
        return ITM_NARROW_UNSUPPORTED;
    }
    if (!is_finite_frame(frame_a) || !is_finite_frame(frame_b) || !isfinite(margin)) {
        return ITM_NARROW_INVALID;
    }
    bool is_swapped = a->kind > b->kind;
    const ItmGeom *first = is_swapped ? b : a, *second = is_swapped ? a : b;
    // the origin moves to the second shape, which is never a plane: rounding is then that of the shapes' size
    ItmVec3 origin = is_swapped ? frame_a->p : frame_b->p;
    ItmFrame frame_first = is_swapped ? *frame_b : *frame_a, frame_second = is_swapped ? *frame_a : *frame_b;
    frame_first.p = itm_vec_sub(frame_first.p, origin);
    frame_second.p = itm_vec(0, 0, 0);

    ItmManifold m;
    m.n = 0;
    m.same_place = 1e-6 * fmin(first->size, second->size);
    if (!collide_ordered(&m, first, &frame_first, second, &frame_second, margin)) {
        return ITM_NARROW_INVALID;
    }
    itm_narrow_manifold_reduce(&m, max < ITM_MANIFOLD_MAX ? max : ITM_MANIFOLD_MAX);
    for (int i = 0; i < m.n; i++) {
        out[i] = m.points[i];
        out[i].point_a = itm_vec_add(out[i].point_a, origin);
        out[i].point_b = itm_vec_add(out[i].point_b, origin);
        if (is_swapped) {
            turn_round(&out[i]);
        }
        if (!is_finite_point(&out[i])) {
            return ITM_NARROW_INVALID;
        }
    }
    return m.n;
}
