// Spheres and capsules in closed form: the nearest point to a centre or between two centre lines.
#include "contact/narrow_core.h"

// Unit vector and length; along z where there is no direction.
static ItmVec3 direction(ItmVec3 v, double size, double* length)
{
    *length = itm_vec_norm(v);
    if (!(*length > 1e-14 * size)) {
        *length = 0;
        return itm_vec(0, 0, 1);
    }
    return itm_vec_scale(1.0 / *length, v);
}

static void add_point(ItmManifold* m, ItmVec3 point_a, ItmVec3 n, double gap, double margin)
{
    if (gap <= margin) {
        ItmContactPoint point = {point_a, itm_vec_axpy(gap, n, point_a), n, gap, itm_narrow_manifold_key(0, 0, 0)};
        itm_narrow_manifold_push(m, &point);
    }
}

// ---------------------------------------------------------------------------- sphere

// Sphere about `centre` against a point with a radius.
static void collide_balls(ItmManifold* m, ItmVec3 centre, double radius, ItmVec3 other, double other_radius,
                          double margin)
{
    double d;
    ItmVec3 n = direction(itm_vec_sub(other, centre), radius + other_radius, &d);
    add_point(m, itm_vec_axpy(radius, n, centre), n, d - radius - other_radius, margin);
}

static ItmVec3 nearest_on_capsule(const ItmGeom* capsule, const ItmFrame* frame, ItmVec3 p)
{
    double z = itm_vec_dot(frame->R.z, itm_vec_sub(p, frame->p));
    z = fmin(fmax(z, -capsule->half_length), capsule->half_length);
    return itm_vec_axpy(z, frame->R.z, frame->p);
}

// Outward normal of a solid at the place nearest to p (frame of the solid), and the distance from it,
// negative inside.
typedef struct Nearest {
    ItmVec3 n;
    double distance;
} Nearest;

static Nearest nearest_on_box(ItmVec3 half, ItmVec3 p)
{
    ItmVec3 inside = {fmin(fmax(p.x, -half.x), half.x), fmin(fmax(p.y, -half.y), half.y),
                      fmin(fmax(p.z, -half.z), half.z)};
    ItmVec3 out = itm_vec_sub(p, inside);
    double distance = itm_vec_norm(out);
    if (distance > 1e-14 * itm_vec_norm(half)) {
        return (Nearest){itm_vec_scale(1.0 / distance, out), distance};
    }
    double x = fabs(p.x) - half.x, y = fabs(p.y) - half.y, z = fabs(p.z) - half.z;
    if (z >= x && z >= y) {
        return (Nearest){itm_vec(0, 0, copysign(1, p.z)), z};
    }
    return x >= y ? (Nearest){itm_vec(copysign(1, p.x), 0, 0), x} : (Nearest){itm_vec(0, copysign(1, p.y), 0), y};
}

static Nearest nearest_on_cylinder(double radius, double half_length, ItmVec3 p)
{
    double rho = sqrt(p.x * p.x + p.y * p.y);
    ItmVec3 radial = rho > 1e-14 * radius ? itm_vec(p.x / rho, p.y / rho, 0) : itm_vec(1, 0, 0);
    ItmVec3 axial = {0, 0, copysign(1, p.z)};
    double side = rho - radius, end = fabs(p.z) - half_length;
    if (side > 0 && end > 0) {
        double distance = sqrt(side * side + end * end);
        return (Nearest){itm_vec_axpy(side / distance, radial, itm_vec_scale(end / distance, axial)), distance};
    }
    return side > end ? (Nearest){radial, side} : (Nearest){axial, end};
}

static void collide_sphere_solid(ItmManifold* m, const ItmGeom* sphere, ItmVec3 centre, const ItmGeom* b,
                                 const ItmFrame* frame, double margin)
{
    ItmVec3 p = itm_mat_t_mul_vec(&frame->R, itm_vec_sub(centre, frame->p));
    Nearest nearest =
        b->kind == ITM_GEOM_BOX ? nearest_on_box(b->half, p) : nearest_on_cylinder(b->radius, b->half_length, p);
    ItmVec3 n = itm_vec_neg(itm_mat_mul_vec(&frame->R, nearest.n));
    add_point(m, itm_vec_axpy(sphere->radius, n, centre), n, nearest.distance - sphere->radius, margin);
}

// ---------------------------------------------------------------------------- two capsules

// Nearest points of two segments c + s d, |s| <= l, d unit (Ericson 2005, sec. 5.1.9, centred).
static void nearest_of_segments(ItmVec3* on_a, ItmVec3* on_b, const ItmFrame* a, double la, const ItmFrame* b,
                                double lb)
{
    ItmVec3 d = a->R.z, e = b->R.z, r = itm_vec_sub(b->p, a->p);
    double de = itm_vec_dot(d, e), rd = itm_vec_dot(r, d), re = itm_vec_dot(r, e), det = 1 - de * de;
    // where the lines are nearest; parallel ones: the middle of a, then wherever the clamps lead
    double s = det > 1e-14 ? fmin(fmax((rd - de * re) / det, -la), la) : fmin(fmax(rd, -la), la);
    double t = fmin(fmax(s * de - re, -lb), lb);
    s = fmin(fmax(t * de + rd, -la), la);
    *on_a = itm_vec_axpy(s, d, a->p);
    *on_b = itm_vec_axpy(t, e, b->p);
}

static void collide_capsules(ItmManifold* m, const ItmGeom* a, const ItmFrame* frame_a, const ItmGeom* b,
                             const ItmFrame* frame_b, double margin)
{
    ItmAxis axis = {.has_points = true};
    nearest_of_segments(&axis.point_a, &axis.point_b, frame_a, a->half_length, frame_b, b->half_length);
    axis.n = direction(itm_vec_sub(axis.point_b, axis.point_a), a->size + b->size, &axis.gap);
    if (axis.gap == 0) {
        // lines that cross: out of their plane; on top of each other: anywhere across
        ItmVec3 across = itm_vec_cross(frame_a->R.z, frame_b->R.z);
        double sine = itm_vec_norm(across);
        axis.n = sine > 1e-9 ? itm_vec_scale(1 / sine, across) : itm_vec_perpendicular(frame_a->R.z);
    }
    if (axis.gap - a->radius - b->radius > margin) {
        return;
    }
    ItmCore core_a, core_b;
    ItmSmallHull store_a, store_b;
    itm_narrow_core_init(&core_a, &store_a, a, frame_a);
    itm_narrow_core_init(&core_b, &store_b, b, frame_b);
    itm_narrow_manifold_add(m, &axis, &core_a, &core_b, margin);
}

void itm_narrow_round(ItmManifold* m, const ItmGeom* a, const ItmFrame* frame_a, const ItmGeom* b,
                      const ItmFrame* frame_b, double margin)
{
    if (a->kind == ITM_GEOM_CAPSULE) {
        collide_capsules(m, a, frame_a, b, frame_b, margin);
    } else if (b->kind == ITM_GEOM_SPHERE) {
        collide_balls(m, frame_a->p, a->radius, frame_b->p, b->radius, margin);
    } else if (b->kind == ITM_GEOM_CAPSULE) {
        collide_balls(m, frame_a->p, a->radius, nearest_on_capsule(b, frame_b, frame_a->p), b->radius, margin);
    } else {
        collide_sphere_solid(m, a, frame_a->p, b, frame_b, margin);
    }
}
