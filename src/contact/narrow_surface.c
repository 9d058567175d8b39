// A convex shape against the triangles of a mesh or height field, one by one.
//
// A triangle taken by itself ignores its neighbours, and would catch a body that slides over a flat
// floor at the edges between two of them. So a normal must be one that the surface has: beyond an edge it may
// lean only between the normals of the two triangles, and not at all where they are flat or hollow. Otherwise
// the triangle's own normal is imposed, and only what lies over the triangle counts.
#include "contact/narrow_core.h"

typedef struct Job {
    ItmManifold* manifold;  // in the frame of the surface
    const ItmGeom* surface;
    ItmCore shape;  // likewise
    double margin;
    bool has_failed;
} Job;

// An edge of a triangle with the normals of its two sides.
typedef struct Ridge {
    ItmVec3 out;         // in the triangle, perpendicular to the edge, pointing away from it
    ItmVec3 out_across;  // likewise for the neighbour
    bool is_border;
    bool is_convex;
} Ridge;

static ItmVec3 unit(ItmVec3 v)
{
    return itm_vec_scale(1.0 / itm_vec_norm(v), v);
}

static ItmVec3 triangle_normal(const ItmVec3 c[3])
{
    return unit(itm_vec_cross(itm_vec_sub(c[1], c[0]), itm_vec_sub(c[2], c[0])));
}

static Ridge get_ridge(const ItmGeom* surface, int triangle, const ItmVec3 corner[3], ItmVec3 n, int edge)
{
    ItmVec3 along = unit(itm_vec_sub(corner[(edge + 1) % 3], corner[edge]));
    Ridge ridge = {.out = itm_vec_cross(along, n)};
    int other = itm_geom_get_across(surface, triangle, edge);
    ridge.is_border = other == ITM_NONE;
    if (!ridge.is_border) {
        ItmVec3 c[3];
        int id[3];
        itm_geom_get_triangle(c, id, surface, other);
        ItmVec3 n_across = triangle_normal(c);
        ridge.out_across = itm_vec_cross(n_across, along);
        // the neighbour goes down from here by more than rounding
        ridge.is_convex = itm_vec_dot(n, ridge.out_across) > 1e-6;
    }
    return ridge;
}

// Whether the surface has the normal m beyond this edge; see Ridge.
static bool allows(const Ridge* ridge, ItmVec3 m)
{
    if (ridge->is_border || itm_vec_dot(m, ridge->out) <= 1e-6) {
        return true;
    }
    return ridge->is_convex && itm_vec_dot(m, ridge->out_across) >= -1e-6;
}

static void mark_quiet(ItmCore* core, const Ridge ridge[3])
{
    for (int i = 0; i < 3; i++) {
        if (!ridge[i].is_border && !ridge[i].is_convex) {
            core->quiet_edges |= 1u << i;
        }
    }
    for (int i = 0; i < 3; i++) {
        bool is_quiet = (core->quiet_edges >> i & 1u) != 0 && (core->quiet_edges >> (i + 2) % 3 & 1u) != 0;
        core->quiet_vertices |= is_quiet ? 1u << i : 0;
    }
}

static void visit(void* context, int triangle)
{
    Job* job = context;
    ItmVec3 corner[3];
    int id[3];
    itm_geom_get_triangle(corner, id, job->surface, triangle);
    ItmCore core;
    ItmSmallHull store;
    itm_narrow_core_init_triangle(&core, &store, corner, id);
    ItmAxis axis;
    ItmAxisResult result = itm_narrow_find_axis(&axis, &job->shape, &core, job->margin + job->shape.radius);
    job->has_failed |= result == ITM_AXIS_FAILED;
    if (result != ITM_AXIS_FOUND) {
        return;
    }
    ItmVec3 n = store.normals[0], m = itm_vec_neg(axis.n);
    Ridge ridge[3];
    bool is_allowed = itm_vec_dot(m, n) >= -1e-6;
    for (int i = 0; i < 3; i++) {
        ridge[i] = get_ridge(job->surface, triangle, corner, n, i);
        is_allowed &= allows(&ridge[i], m);
    }
    mark_quiet(&core, ridge);
    if (!is_allowed) {
        // most of it is behind this triangle: some other one holds it from its front
        if (itm_vec_dot(n, itm_vec_sub(job->shape.middle, corner[0])) < 0) {
            return;
        }
        axis = (ItmAxis){.n = itm_vec_neg(n), .is_imposed = true};
        axis.gap = itm_core_gap(&job->shape, &core, axis.n);
    }
    itm_narrow_manifold_add(job->manifold, &axis, &job->shape, &core, job->margin);
}

// Contacts found in the frame of the surface, given in that of the pair.
static void move_points(ItmManifold* m, const ItmFrame* frame)
{
    for (int i = 0; i < m->n; i++) {
        ItmContactPoint* p = &m->points[i];
        p->point_a = itm_frame_apply(frame, p->point_a);
        p->normal = itm_mat_mul_vec(&frame->R, p->normal);
        p->point_b = itm_vec_axpy(p->gap, p->normal, p->point_a);
    }
}

bool itm_narrow_surface(ItmManifold* m, const ItmGeom* a, const ItmFrame* frame_a, const ItmGeom* b,
                        const ItmFrame* frame_b, double margin)
{
    ItmFrame local = {itm_mat_t_mul_vec(&frame_b->R, itm_vec_sub(frame_a->p, frame_b->p)),
                      itm_mat_t_mul(&frame_b->R, &frame_a->R)};
    ItmSmallHull store;
    Job job = {.manifold = m, .surface = b, .margin = margin};
    itm_narrow_core_init(&job.shape, &store, a, &local);
    ItmAabb box = itm_geom_compute_aabb(a, &local, margin);
    itm_geom_visit_triangles(b, &box, visit, &job);
    move_points(m, frame_b);
    return !job.has_failed;
}
