// Half space against everything: each point that sticks out lowest, by itself.
#include "contact/narrow_core.h"

// A contact at point p of b, which is rounded by radius.
static void add_point(ItmManifold* m, const ItmFrame* plane, ItmVec3 p, double radius, double margin, uint64_t id)
{
    ItmVec3 n = plane->R.z;
    double gap = itm_vec_dot(n, itm_vec_sub(p, plane->p)) - radius;
    if (gap <= margin) {
        ItmVec3 point_b = itm_vec_axpy(-radius, n, p);
        ItmContactPoint point = {itm_vec_axpy(-gap, n, point_b), point_b, n, gap, itm_narrow_manifold_key(0, 0, id)};
        itm_narrow_manifold_push(m, &point);
    }
}

static void add_points(ItmManifold* m, const ItmFrame* plane, const ItmVec3* points, int n, const ItmFrame* frame,
                       double margin)
{
    for (int i = 0; i < n; i++) {
        add_point(m, plane, itm_frame_apply(frame, points[i]), 0, margin, (uint64_t)i);
    }
}

// The lowest point of each rim, and on a cylinder that stands four points fixed in it, so that it stands on
// more than one also when no point is the lowest.
static void add_cylinder(ItmManifold* m, const ItmFrame* plane, const ItmGeom* cylinder, const ItmFrame* frame,
                         double margin)
{
    enum { FIXED = 4, LOWEST = 100 };
    ItmVec3 d = itm_mat_t_mul_vec(&frame->R, itm_vec_neg(plane->R.z));  // downwards
    double r = cylinder->radius, l = cylinder->half_length, across = sqrt(d.x * d.x + d.y * d.y);
    bool has_lowest = across > 1e-9;
    for (int end = 0; end < 2 && has_lowest; end++) {
        ItmVec3 p = {r * d.x / across, r * d.y / across, end == 0 ? -l : l};
        add_point(m, plane, itm_frame_apply(frame, p), 0, margin, (uint64_t)(LOWEST + end));
    }
    if (across > 0.5) {
        return;
    }
    for (int k = 0; k < FIXED; k++) {
        double x = k == 0 ? 1 : k == 2 ? -1 : 0, y = k == 1 ? 1 : k == 3 ? -1 : 0;
        // within two degrees the lowest point stands for the fixed one
        if (has_lowest && x * d.x + y * d.y > 0.9994 * across) {
            continue;
        }
        ItmVec3 p = {r * x, r * y, d.z > 0 ? l : -l};
        add_point(m, plane, itm_frame_apply(frame, p), 0, margin, (uint64_t)(k + (d.z > 0 ? FIXED : 0)));
    }
}

void itm_narrow_plane(ItmManifold* m, const ItmGeom* plane, const ItmFrame* frame_a, const ItmGeom* b,
                      const ItmFrame* frame_b, double margin)
{
    (void)plane;
    switch (b->kind) {
    case ITM_GEOM_SPHERE:
        add_point(m, frame_a, frame_b->p, b->radius, margin, 0);
        break;
    case ITM_GEOM_CAPSULE:
        for (int end = 0; end < 2; end++) {
            ItmVec3 p = itm_frame_apply(frame_b, itm_vec(0, 0, end == 0 ? -b->half_length : b->half_length));
            add_point(m, frame_a, p, b->radius, margin, (uint64_t)end);
        }
        break;
    case ITM_GEOM_CYLINDER:
        add_cylinder(m, frame_a, b, frame_b, margin);
        break;
    case ITM_GEOM_MESH:
        add_points(m, frame_a, b->mesh.vertices, b->mesh.nvertex, frame_b, margin);
        break;
    default:
        add_points(m, frame_a, b->hull.vertices, b->hull.nvertex, frame_b, margin);
    }
}
