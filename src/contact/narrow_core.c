#include "contact/narrow_core.h"

static const int TRIANGLE_FACE_ADR[3] = {0, 3, 6}, TRIANGLE_CORNERS[6] = {0, 1, 2, 0, 2, 1};
static const int NEIGHBOUR_ADR[3][4] = {{0, 0, 0, 0}, {0, 1, 2, 2}, {0, 2, 4, 6}};
static const int NEIGHBOURS[3][6] = {{0}, {1, 0}, {1, 2, 0, 2, 0, 1}};

// A hull of n <= 3 vertices that are in the store.
static void init_small(ItmSmallHull* s, int n)
{
    s->hull = (ItmHull){
        .nvertex = n,
        .nface = n == 3 ? 2 : 0,
        .ndirection = n == 3 ? 3 : n - 1,
        .vertices = s->vertices,
        .normals = s->normals,
        .offsets = s->offsets,
        .face_adr = s->face_adr,
        .face_corners = s->face_corners,
        .directions = s->directions,
        .neighbour_adr = s->neighbour_adr,
        .neighbours = s->neighbours,
    };
    for (int i = 0; i < 6; i++) {
        s->face_corners[i] = TRIANGLE_CORNERS[i];
        s->neighbours[i] = NEIGHBOURS[n - 1][i];
    }
    for (int i = 0; i < 4; i++) {
        s->neighbour_adr[i] = NEIGHBOUR_ADR[n - 1][i];
        s->face_adr[i < 3 ? i : 2] = TRIANGLE_FACE_ADR[i < 3 ? i : 2];
    }
    for (int i = 0; i < s->hull.ndirection; i++) {
        ItmVec3 d = itm_vec_sub(s->vertices[(i + 1) % n], s->vertices[i]);
        s->directions[i] = itm_vec_scale(1.0 / itm_vec_norm(d), d);
    }
}

void itm_narrow_core_init(ItmCore* core, ItmSmallHull* store, const ItmGeom* geom, const ItmFrame* frame)
{
    *core = (ItmCore){.frame = *frame, .middle = frame->p, .size = geom->size};
    switch (geom->kind) {
    case ITM_GEOM_SPHERE:
        store->vertices[0] = itm_vec(0, 0, 0);
        init_small(store, 1);
        core->hull = &store->hull;
        core->radius = geom->radius;
        break;
    case ITM_GEOM_CAPSULE:
        store->vertices[0] = itm_vec(0, 0, -geom->half_length);
        store->vertices[1] = itm_vec(0, 0, geom->half_length);
        init_small(store, 2);
        core->hull = &store->hull;
        core->radius = geom->radius;
        break;
    case ITM_GEOM_CYLINDER:
        core->cylinder_radius = geom->radius;
        core->half_length = geom->half_length;
        break;
    default:
        core->hull = &geom->hull;
        core->half = geom->half;
        core->middle = itm_frame_apply(frame, itm_vec_scale(0.5, itm_vec_add(geom->bounds.lo, geom->bounds.hi)));
    }
}

void itm_narrow_core_init_triangle(ItmCore* core, ItmSmallHull* store, const ItmVec3 corner[3], const int id[3])
{
    *core = (ItmCore){.frame = {{0, 0, 0}, itm_mat_identity()}, .hull = &store->hull, .ids = id};
    for (int i = 0; i < 3; i++) {
        store->vertices[i] = corner[i];
        core->middle = itm_vec_axpy(1.0 / 3, corner[i], core->middle);
    }
    init_small(store, 3);
    ItmVec3 n = itm_vec_cross(itm_vec_sub(corner[1], corner[0]), itm_vec_sub(corner[2], corner[0]));
    store->normals[0] = itm_vec_scale(1.0 / itm_vec_norm(n), n);
    store->normals[1] = itm_vec_neg(store->normals[0]);
    store->offsets[0] = itm_vec_dot(store->normals[0], core->middle);
    store->offsets[1] = -store->offsets[0];
    core->size = itm_vec_norm(itm_vec_sub(corner[1], corner[0]));
    core->size = fmax(core->size, itm_vec_norm(itm_vec_sub(corner[2], corner[0])));
}

// ---------------------------------------------------------------------------- support

#define CLIMB_FROM 40  // vertices from which walking uphill beats looking at all

static int climb(const ItmHull* hull, ItmVec3 d)
{
    int best = 0;
    double height = itm_vec_dot(hull->vertices[0], d);
    for (bool is_rising = true; is_rising;) {
        is_rising = false;
        int from = best;
        for (int k = hull->neighbour_adr[from]; k < hull->neighbour_adr[from + 1]; k++) {
            double h = itm_vec_dot(hull->vertices[hull->neighbours[k]], d);
            if (h > height) {
                height = h;
                best = hull->neighbours[k];
                is_rising = true;
            }
        }
    }
    return best;
}

static int highest_vertex(const ItmHull* hull, ItmVec3 d)
{
    if (hull->nvertex >= CLIMB_FROM) {
        return climb(hull, d);
    }
    int best = 0;
    double height = itm_vec_dot(hull->vertices[0], d);
    for (int i = 1; i < hull->nvertex; i++) {
        double h = itm_vec_dot(hull->vertices[i], d);
        if (h > height) {
            height = h;
            best = i;
        }
    }
    return best;
}

ItmVec3 itm_narrow_core_support(const ItmCore* core, ItmVec3 n)
{
    ItmVec3 d = itm_mat_t_mul_vec(&core->frame.R, n);
    if (core->half.x > 0) {
        return itm_frame_apply(&core->frame, itm_vec(copysign(core->half.x, d.x), copysign(core->half.y, d.y),
                                                     copysign(core->half.z, d.z)));
    }
    if (core->hull != NULL) {
        return itm_frame_apply(&core->frame, core->hull->vertices[highest_vertex(core->hull, d)]);
    }
    double across = sqrt(d.x * d.x + d.y * d.y);
    double scale = across > 0 ? core->cylinder_radius / across : 0;
    return itm_frame_apply(&core->frame,
                           itm_vec(scale * d.x, scale * d.y, d.z >= 0 ? core->half_length : -core->half_length));
}

// ---------------------------------------------------------------------------- features

// Cosine that goes with a slope: a face counts where its normal is that near to n.
static double face_cosine(double slope)
{
    return sqrt(1 - slope * slope);
}

static void add_corner(ItmFeature* f, const ItmCore* core, int vertex)
{
    f->p[f->n] = itm_frame_apply(&core->frame, core->hull->vertices[vertex]);
    f->id[f->n++] = (uint32_t)(core->ids != NULL ? core->ids[vertex] : vertex);
}

static bool find_face(ItmFeature* f, const ItmCore* core, ItmVec3 d, double slope)
{
    const ItmHull* hull = core->hull;
    double best_cosine = face_cosine(slope);
    int best = ITM_NONE;
    for (int i = 0; i < hull->nface; i++) {
        double cosine = itm_vec_dot(hull->normals[i], d);
        if (cosine > best_cosine) {
            best_cosine = cosine;
            best = i;
        }
    }
    if (best == ITM_NONE) {
        return false;
    }
    // a face with more corners than we keep shows every k-th of them
    int begin = hull->face_adr[best], count = hull->face_adr[best + 1] - begin;
    int step = (count + ITM_FEATURE_MAX - 1) / ITM_FEATURE_MAX;
    for (int k = 0; k < count; k += step) {
        add_corner(f, core, hull->face_corners[begin + k]);
    }
    return true;
}

static void find_edge_or_vertex(ItmFeature* f, const ItmCore* core, ItmVec3 d, double slope)
{
    const ItmHull* hull = core->hull;
    int top = highest_vertex(hull, d), best = ITM_NONE;
    double best_sine = -slope;
    for (int k = hull->neighbour_adr[top]; k < hull->neighbour_adr[top + 1]; k++) {
        ItmVec3 edge = itm_vec_sub(hull->vertices[hull->neighbours[k]], hull->vertices[top]);
        double sine = itm_vec_dot(edge, d) / itm_vec_norm(edge);
        if (sine > best_sine) {
            best_sine = sine;
            best = hull->neighbours[k];
        }
    }
    // always the same way round, so that names do not depend on which end is higher
    if (best != ITM_NONE) {
        add_corner(f, core, best < top ? best : top);
        add_corner(f, core, best < top ? top : best);
    } else {
        add_corner(f, core, top);
    }
}

static void add_rim(ItmFeature* f, const ItmCore* core, double x, double y, double z, unsigned id)
{
    f->p[f->n] = itm_frame_apply(&core->frame, itm_vec(core->cylinder_radius * x, core->cylinder_radius * y, z));
    f->id[f->n++] = id;
}

// A cap is an octagon fixed in the cylinder, with its farthest point, where there is one, put in.
static void find_cap(ItmFeature* f, const ItmCore* core, ItmVec3 d)
{
    enum { SIDES = 8, DEEPEST = 100 };
    double z = d.z >= 0 ? core->half_length : -core->half_length;
    double across = sqrt(d.x * d.x + d.y * d.y);
    // counter-clockwise about n, as faces of hulls are
    double turn = d.z >= 0 ? 2 * ITM_PI : -2 * ITM_PI;
    double at = atan2(d.y, d.x) / turn;
    at = across > 1e-9 ? at - floor(at) : 2;
    bool is_placed = at > 1;
    for (int k = 0; k < SIDES; k++) {
        double here = (double)k / SIDES;
        if (!is_placed && here > at) {
            add_rim(f, core, d.x / across, d.y / across, z, DEEPEST);
            is_placed = true;
        }
        // a fixed point within 1/200 of a turn gives way to the farthest one
        double apart = fabs(here - at);
        if (fmin(apart, fabs(1 - apart)) > 0.005) {
            add_rim(f, core, cos(turn * here), sin(turn * here), z, (unsigned)k + (d.z >= 0 ? 0u : SIDES));
        }
    }
    if (!is_placed) {
        add_rim(f, core, d.x / across, d.y / across, z, DEEPEST);
    }
}

static void find_on_cylinder(ItmFeature* f, const ItmCore* core, ItmVec3 d, double slope)
{
    double across = sqrt(d.x * d.x + d.y * d.y);
    if (fabs(d.z) > face_cosine(slope)) {
        find_cap(f, core, d);
    } else if (fabs(d.z) < slope) {
        add_rim(f, core, d.x / across, d.y / across, -core->half_length, 200);
        add_rim(f, core, d.x / across, d.y / across, core->half_length, 201);
    } else {
        add_rim(f, core, d.x / across, d.y / across, d.z >= 0 ? core->half_length : -core->half_length,
                d.z >= 0 ? 201 : 200);
    }
}

void itm_narrow_find_feature(ItmFeature* feature, const ItmCore* core, ItmVec3 n, double slope)
{
    feature->n = 0;
    feature->quiet_vertices = core->quiet_vertices;
    feature->quiet_edges = core->quiet_edges;
    ItmVec3 d = itm_mat_t_mul_vec(&core->frame.R, n);
    if (core->hull == NULL) {
        find_on_cylinder(feature, core, d, slope);
    } else if (!find_face(feature, core, d, slope)) {
        find_edge_or_vertex(feature, core, d, slope);
    }
}
