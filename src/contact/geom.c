#include "contact/geom.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

static const char* const KIND_NAMES[ITM_GEOM_KIND_COUNT] = {
    [ITM_GEOM_PLANE] = "plane", [ITM_GEOM_SPHERE] = "sphere",      [ITM_GEOM_CAPSULE] = "capsule",
    [ITM_GEOM_BOX] = "box",     [ITM_GEOM_CYLINDER] = "cylinder",  [ITM_GEOM_HULL] = "hull",
    [ITM_GEOM_MESH] = "mesh",   [ITM_GEOM_FIELD] = "height field",
};

const char* itm_geom_kind_name(ItmGeomKind kind)
{
    return (int)kind >= 0 && kind < ITM_GEOM_KIND_COUNT ? KIND_NAMES[kind] : "unknown shape";
}

// ---------------------------------------------------------------------------- making

static ItmStatus check_size(const char* field, double value, ItmError* error)
{
    if (!(value > 0 && value < 1e100)) {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, field, "%s of a shape must be positive, got %g m", field,
                             value);
    }
    return ITM_OK;
}

static ItmStatus allocate(ItmGeom** geom, ItmGeomKind kind, ItmError* error)
{
    *geom = calloc(1, sizeof **geom);
    if (*geom == NULL) {
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "no memory for a shape");
    }
    (*geom)->kind = kind;
    return ITM_OK;
}

static void set_bounds(ItmGeom* geom, ItmVec3 half)
{
    geom->bounds = (ItmAabb){itm_vec_neg(half), half};
    geom->size = itm_vec_norm(half);
}

static void set_bounds_from_points(ItmGeom* geom, const ItmVec3* points, int n)
{
    ItmAabb box = {points[0], points[0]};
    for (int i = 1; i < n; i++) {
        box = itm_aabb_join(box, (ItmAabb){points[i], points[i]});
    }
    geom->bounds = box;
    geom->size = 0.5 * itm_vec_norm(itm_vec_sub(box.hi, box.lo));
}

ItmStatus itm_geom_create_plane(ItmGeom** geom, ItmError* error)
{
    ItmStatus status = allocate(geom, ITM_GEOM_PLANE, error);
    if (status == ITM_OK) {
        (*geom)->bounds = (ItmAabb){{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, 0}};
        (*geom)->size = INFINITY;
    }
    return status;
}

// A shape of radius and length; half bounds (r, r, end).
static ItmStatus create_round(ItmGeom** geom, ItmGeomKind kind, double radius, double length, ItmError* error)
{
    *geom = NULL;
    ItmStatus status = check_size("radius", radius, error);
    if (status == ITM_OK && kind != ITM_GEOM_SPHERE) {
        status = check_size("length", length, error);
    }
    if (status != ITM_OK || (status = allocate(geom, kind, error)) != ITM_OK) {
        return status;
    }
    (*geom)->radius = radius;
    (*geom)->half_length = 0.5 * length;
    double end = 0.5 * length + (kind == ITM_GEOM_CYLINDER ? 0 : radius);
    set_bounds(*geom, itm_vec(radius, radius, end));
    return ITM_OK;
}

ItmStatus itm_geom_create_sphere(ItmGeom** geom, double radius, ItmError* error)
{
    return create_round(geom, ITM_GEOM_SPHERE, radius, 0, error);
}

ItmStatus itm_geom_create_capsule(ItmGeom** geom, double radius, double length, ItmError* error)
{
    return create_round(geom, ITM_GEOM_CAPSULE, radius, length, error);
}

ItmStatus itm_geom_create_cylinder(ItmGeom** geom, double radius, double length, ItmError* error)
{
    return create_round(geom, ITM_GEOM_CYLINDER, radius, length, error);
}

ItmStatus itm_geom_create_box(ItmGeom** geom, const double edges[3], ItmError* error)
{
    *geom = NULL;
    ItmStatus status = ITM_OK;
    for (int i = 0; i < 3 && status == ITM_OK; i++) {
        status = check_size("edges", edges[i], error);
    }
    if (status != ITM_OK || (status = allocate(geom, ITM_GEOM_BOX, error)) != ITM_OK) {
        return status;
    }
    (*geom)->half = itm_vec(0.5 * edges[0], 0.5 * edges[1], 0.5 * edges[2]);
    set_bounds(*geom, (*geom)->half);
    status = itm_hull_build_box(&(*geom)->hull, (*geom)->half, error);
    if (status != ITM_OK) {
        itm_geom_destroy(*geom);
        *geom = NULL;
    }
    return status;
}

ItmStatus itm_geom_create_hull(ItmGeom** geom, const ItmVec3* points, int npoint, ItmError* error)
{
    ItmStatus status = allocate(geom, ITM_GEOM_HULL, error);
    if (status != ITM_OK) {
        return status;
    }
    status = itm_hull_build(&(*geom)->hull, points, npoint, error);
    if (status != ITM_OK) {
        itm_geom_destroy(*geom);
        *geom = NULL;
        return status;
    }
    set_bounds_from_points(*geom, (*geom)->hull.vertices, (*geom)->hull.nvertex);
    return ITM_OK;
}

// ---------------------------------------------------------------------------- mesh and field

static ItmStatus check_mesh(const ItmVec3* vertices, int nvertex, const int* triangles, int ntriangle, ItmError* error)
{
    if (vertices == NULL || triangles == NULL || nvertex < 3 || ntriangle < 1 || ntriangle > (1 << 28)) {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, "triangles",
                             "a mesh needs at least 3 vertices and 1 triangle, got %d and %d", nvertex, ntriangle);
    }
    for (int i = 0; i < nvertex; i++) {
        if (!itm_vec_is_finite(vertices[i])) {
            return itm_error_set(error, ITM_ERR_INPUT, __func__, "vertices", "vertex %d of the mesh is not finite", i);
        }
    }
    for (int i = 0; i < 3 * ntriangle; i++) {
        if (triangles[i] < 0 || triangles[i] >= nvertex) {
            return itm_error_set(error, ITM_ERR_INPUT, __func__, "triangles",
                                 "triangle %d of the mesh uses vertex %d of %d", i / 3, triangles[i], nvertex);
        }
    }
    return ITM_OK;
}

// No area to within rounding: such a triangle has no normal, and its neighbours cover it.
static bool is_sliver(const ItmVec3* vertices, const int* t)
{
    ItmVec3 a = vertices[t[0]], b = vertices[t[1]], c = vertices[t[2]];
    ItmVec3 ab = itm_vec_sub(b, a), ac = itm_vec_sub(c, a), bc = itm_vec_sub(c, b);
    double longest = fmax(itm_vec_dot(bc, bc), fmax(itm_vec_dot(ab, ab), itm_vec_dot(ac, ac)));
    return !(itm_vec_norm(itm_vec_cross(ab, ac)) > 1e-12 * longest);
}

static ItmStatus copy_mesh(ItmMeshGeom* mesh, const ItmVec3* vertices, int nvertex, const int* triangles, int ntriangle,
                           ItmError* error)
{
    mesh->vertices = malloc((size_t)nvertex * sizeof(ItmVec3));
    mesh->triangles = malloc(3 * (size_t)ntriangle * sizeof(int));
    if (mesh->vertices == NULL || mesh->triangles == NULL) {
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "no memory for a mesh of %d triangles", ntriangle);
    }
    memcpy(mesh->vertices, vertices, (size_t)nvertex * sizeof(ItmVec3));
    mesh->nvertex = nvertex;
    for (int i = 0; i < ntriangle; i++) {
        if (!is_sliver(vertices, triangles + 3 * i)) {
            memcpy(mesh->triangles + 3 * mesh->ntriangle++, triangles + 3 * i, 3 * sizeof(int));
        }
    }
    if (mesh->ntriangle == 0) {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, "triangles",
                             "none of the %d triangles of the mesh has an area", ntriangle);
    }
    return ITM_OK;
}

ItmStatus itm_geom_create_mesh(ItmGeom** geom, const ItmVec3* vertices, int nvertex, const int* triangles,
                               int ntriangle, ItmError* error)
{
    *geom = NULL;
    ItmStatus status = check_mesh(vertices, nvertex, triangles, ntriangle, error);
    if (status != ITM_OK || (status = allocate(geom, ITM_GEOM_MESH, error)) != ITM_OK) {
        return status;
    }
    status = copy_mesh(&(*geom)->mesh, vertices, nvertex, triangles, ntriangle, error);
    if (status == ITM_OK) {
        status = itm_geom_index_mesh(&(*geom)->mesh, error);
    }
    if (status != ITM_OK) {
        itm_geom_destroy(*geom);
        *geom = NULL;
        return status;
    }
    set_bounds_from_points(*geom, vertices, nvertex);
    return ITM_OK;
}

ItmStatus itm_geom_create_field(ItmGeom** geom, int nx, int ny, double dx, double dy, const double* heights,
                                ItmError* error)
{
    *geom = NULL;
    if (heights == NULL || nx < 2 || ny < 2 || nx > (1 << 14) || ny > (1 << 14)) {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, "heights",
                             "a height field needs 2 to %d samples a side, got %d x %d", 1 << 14, nx, ny);
    }
    size_t n = (size_t)nx * (size_t)ny;
    double lowest = heights[0], highest = heights[0];
    for (size_t i = 0; i < n; i++) {
        if (!(fabs(heights[i]) < 1e100)) {
            return itm_error_set(error, ITM_ERR_INPUT, __func__, "heights", "height %zu of the field is %g m", i,
                                 heights[i]);
        }
        lowest = fmin(lowest, heights[i]);
        highest = fmax(highest, heights[i]);
    }
    ItmStatus status = check_size("spacing", fmin(dx, dy), error);
    if (status != ITM_OK || (status = allocate(geom, ITM_GEOM_FIELD, error)) != ITM_OK) {
        return status;
    }
    ItmFieldGeom* field = &(*geom)->field;
    *field = (ItmFieldGeom){.nx = nx, .ny = ny, .dx = dx, .dy = dy, .heights = malloc(n * sizeof(double))};
    if (field->heights == NULL) {
        itm_geom_destroy(*geom);
        *geom = NULL;
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "no memory for %zu heights", n);
    }
    memcpy(field->heights, heights, n * sizeof(double));
    ItmVec3 corners[2] = {{0, 0, lowest}, {(nx - 1) * dx, (ny - 1) * dy, highest}};
    set_bounds_from_points(*geom, corners, 2);
    return ITM_OK;
}

void itm_geom_destroy(ItmGeom* geom)
{
    if (geom == NULL) {
        return;
    }
    itm_hull_free(&geom->hull);
    free(geom->mesh.vertices);
    free(geom->mesh.triangles);
    free(geom->mesh.across);
    free(geom->mesh.order);
    free(geom->mesh.nodes);
    free(geom->field.heights);
    free(geom);
}

// ---------------------------------------------------------------------------- asking

// A plane has a finite box only where its normal is a world axis; otherwise it is everywhere.
static ItmAabb plane_aabb(const ItmFrame* frame, double margin)
{
    ItmAabb box = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
    ItmVec3 n = frame->R.z;
    if (n.x == 1 || n.x == -1) {
        *(n.x > 0 ? &box.hi.x : &box.lo.x) = frame->p.x + n.x * margin;
    } else if (n.y == 1 || n.y == -1) {
        *(n.y > 0 ? &box.hi.y : &box.lo.y) = frame->p.y + n.y * margin;
    } else if (n.z == 1 || n.z == -1) {
        *(n.z > 0 ? &box.hi.z : &box.lo.z) = frame->p.z + n.z * margin;
    }
    return box;
}

// Half extents along the world axes of a round shape about its own centre.
static ItmVec3 round_half(const ItmGeom* geom, const ItmMat3* R)
{
    double r = geom->radius, l = geom->half_length;
    ItmVec3 a = R->z, half = {r, r, r};
    if (geom->kind == ITM_GEOM_CYLINDER) {
        // a disc with normal a reaches r sqrt(1 - a_i^2) along axis i
        half = itm_vec(r * sqrt(fmax(0, 1 - a.x * a.x)), r * sqrt(fmax(0, 1 - a.y * a.y)),
                       r * sqrt(fmax(0, 1 - a.z * a.z)));
    }
    return itm_vec(half.x + l * fabs(a.x), half.y + l * fabs(a.y), half.z + l * fabs(a.z));
}

static ItmVec3 box_half(ItmVec3 h, const ItmMat3* R)
{
    return itm_vec(fabs(R->x.x) * h.x + fabs(R->y.x) * h.y + fabs(R->z.x) * h.z,
                   fabs(R->x.y) * h.x + fabs(R->y.y) * h.y + fabs(R->z.y) * h.z,
                   fabs(R->x.z) * h.x + fabs(R->y.z) * h.y + fabs(R->z.z) * h.z);
}

ItmAabb itm_geom_compute_aabb(const ItmGeom* geom, const ItmFrame* frame, double margin)
{
    if (geom->kind == ITM_GEOM_PLANE) {
        return plane_aabb(frame, margin);
    }
    ItmVec3 middle = itm_vec_scale(0.5, itm_vec_add(geom->bounds.lo, geom->bounds.hi));
    ItmVec3 centre = itm_frame_apply(frame, middle), half;
    if (geom->kind == ITM_GEOM_SPHERE || geom->kind == ITM_GEOM_CAPSULE || geom->kind == ITM_GEOM_CYLINDER) {
        half = round_half(geom, &frame->R);
    } else {
        half = box_half(itm_vec_sub(geom->bounds.hi, middle), &frame->R);
    }
    half = itm_vec_add(half, itm_vec(margin, margin, margin));
    return (ItmAabb){itm_vec_sub(centre, half), itm_vec_add(centre, half)};
}

static ItmVec3 farthest_point(const ItmVec3* points, int n, ItmVec3 direction)
{
    int best = 0;
    double best_height = -INFINITY;
    for (int i = 0; i < n; i++) {
        double h = itm_vec_dot(points[i], direction);
        if (h > best_height) {
            best_height = h;
            best = i;
        }
    }
    return points[best];
}

static ItmVec3 field_support(const ItmFieldGeom* field, ItmVec3 d)
{
    ItmVec3 best = {0, 0, field->heights[0]};
    for (int j = 0; j < field->ny; j++) {
        for (int i = 0; i < field->nx; i++) {
            ItmVec3 p = {i * field->dx, j * field->dy, field->heights[(size_t)j * (size_t)field->nx + (size_t)i]};
            if (itm_vec_dot(p, d) > itm_vec_dot(best, d)) {
                best = p;
            }
        }
    }
    return best;
}

ItmVec3 itm_geom_support(const ItmGeom* geom, ItmVec3 d)
{
    double z_end = d.z >= 0 ? geom->half_length : -geom->half_length;
    double across = sqrt(d.x * d.x + d.y * d.y);
    switch (geom->kind) {
    case ITM_GEOM_SPHERE:
    case ITM_GEOM_CAPSULE:
        return itm_vec_axpy(geom->radius / itm_vec_norm(d), d, itm_vec(0, 0, z_end));
    case ITM_GEOM_CYLINDER:
        return across > 0 ? itm_vec(geom->radius * d.x / across, geom->radius * d.y / across, z_end)
                          : itm_vec(geom->radius, 0, z_end);
    case ITM_GEOM_BOX:
    case ITM_GEOM_HULL:
        return farthest_point(geom->hull.vertices, geom->hull.nvertex, d);
    case ITM_GEOM_MESH:
        return farthest_point(geom->mesh.vertices, geom->mesh.nvertex, d);
    case ITM_GEOM_FIELD:
        return field_support(&geom->field, d);
    default:
        return itm_vec(0, 0, 0);
    }
}
