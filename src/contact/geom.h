// Shapes as the contact detection sees them: geometry only, in the frame of the shape, read-only once made.
#ifndef ITM_CONTACT_GEOM_H
#define ITM_CONTACT_GEOM_H

#include "contact/hull.h"
#include "interim/base.h"
#include "math/vec.h"

typedef enum ItmGeomKind {
    ITM_GEOM_PLANE,     // half space z <= 0
    ITM_GEOM_SPHERE,    // about the origin
    ITM_GEOM_CAPSULE,   // axis z, centred
    ITM_GEOM_BOX,       // centred
    ITM_GEOM_CYLINDER,  // axis z, centred
    ITM_GEOM_HULL,      // convex polytope
    ITM_GEOM_MESH,      // triangles, solid behind them
    ITM_GEOM_FIELD,     // heights over a regular grid, solid below
    ITM_GEOM_KIND_COUNT
} ItmGeomKind;

typedef struct ItmAabb {
    ItmVec3 lo, hi;  // m
} ItmAabb;

// A node of the tree over the triangles of a mesh. Leaves hold triangles first .. first + count - 1 of
// the order; inner nodes have count 0 and their children at first and first + 1.
typedef struct ItmBvhNode {
    ItmAabb box;
    int first, count;
} ItmBvhNode;

// clang-format off
typedef struct ItmMeshGeom {
    int nvertex, ntriangle, nnode;
    ItmVec3* vertices;     // (nvertex)                                               m
    int* triangles;        // corners, counter-clockwise seen from outside (3 ntriangle)
    int* across;           // triangle beyond the edge from corner i to i+1, or ITM_NONE (3 ntriangle)
    int* order;            // triangles in the order of the leaves    (ntriangle)
    ItmBvhNode* nodes;     // root first                              (nnode)
    bool is_closed;        // every edge has exactly two triangles, with opposite directions
} ItmMeshGeom;

typedef struct ItmFieldGeom {
    int nx, ny;            // samples along x and y, >= 2
    double dx, dy;         // spacing                                                  m
    double* heights;       // sample (i, j) at heights[j nx + i], at x = i dx, y = j dy (nx ny)  m
} ItmFieldGeom;

typedef struct ItmGeom {
    ItmGeomKind kind;
    double radius;         // sphere, capsule, cylinder                                m
    double half_length;    // capsule (cylindrical part), cylinder                     m
    ItmVec3 half;          // box: half edges                                          m
    ItmHull hull;          // box, hull
    ItmMeshGeom mesh;      // mesh
    ItmFieldGeom field;    // field
    ItmAabb bounds;        // in the frame of the shape; a plane has infinite ones     m
    double size;           // radius of a ball about the middle of bounds that holds the shape  m
} ItmGeom;
// clang-format on

// ---------------------------------------------------------------------------- making

// All sizes must be positive and finite; ITM_ERR_INPUT names the field.
ItmStatus itm_geom_create_plane(ItmGeom** geom, ItmError* error);
ItmStatus itm_geom_create_sphere(ItmGeom** geom, double radius, ItmError* error);
ItmStatus itm_geom_create_capsule(ItmGeom** geom, double radius, double length, ItmError* error);
ItmStatus itm_geom_create_box(ItmGeom** geom, const double edges[3], ItmError* error);
ItmStatus itm_geom_create_cylinder(ItmGeom** geom, double radius, double length, ItmError* error);
// See itm_hull_build.
ItmStatus itm_geom_create_hull(ItmGeom** geom, const ItmVec3* points, int npoint, ItmError* error);
// Triangles without area are dropped; triangles that use a vertex out of range are an error.
ItmStatus itm_geom_create_mesh(ItmGeom** geom, const ItmVec3* vertices, int nvertex, const int* triangles,
                               int ntriangle, ItmError* error);
ItmStatus itm_geom_create_field(ItmGeom** geom, int nx, int ny, double dx, double dy, const double* heights,
                                ItmError* error);
void itm_geom_destroy(ItmGeom* geom);

const char* itm_geom_kind_name(ItmGeomKind kind);

// ---------------------------------------------------------------------------- asking

// Box around a placed shape, in world axes, widened by margin.
ItmAabb itm_geom_compute_aabb(const ItmGeom* geom, const ItmFrame* frame, double margin);

// The point farthest along a direction (any length but zero), in the frame of the shape. For a mesh or a
// field that of its convex hull. Not for planes.
ItmVec3 itm_geom_support(const ItmGeom* geom, ItmVec3 direction);

// Mass, centre and inertia about the centre of a homogeneous solid, in the frame of the shape.
// ITM_ERR_INPUT for shapes that enclose no volume (plane, field, open mesh), and for a mesh whose
// triangles face inwards or whose edges do not match; the message names them.
ItmStatus itm_geom_compute_mass(double* mass, ItmVec3* com, ItmSym3* inertia, const ItmGeom* geom, double density,
                                ItmError* error);

static inline bool itm_aabb_overlap(const ItmAabb* a, const ItmAabb* b)
{
    return a->lo.x <= b->hi.x && b->lo.x <= a->hi.x && a->lo.y <= b->hi.y && b->lo.y <= a->hi.y && a->lo.z <= b->hi.z &&
           b->lo.z <= a->hi.z;
}

static inline ItmAabb itm_aabb_join(ItmAabb a, ItmAabb b)
{
    return (ItmAabb){itm_vec(fmin(a.lo.x, b.lo.x), fmin(a.lo.y, b.lo.y), fmin(a.lo.z, b.lo.z)),
                     itm_vec(fmax(a.hi.x, b.hi.x), fmax(a.hi.y, b.hi.y), fmax(a.hi.z, b.hi.z))};
}

// ---------------------------------------------------------------------------- triangles

// Meshes and fields are both numbered sets of triangles with neighbours.
void itm_geom_get_triangle(ItmVec3 corner[3], int id[3], const ItmGeom* geom, int triangle);
// The triangle beyond the edge from corner `edge` to the next, or ITM_NONE.
int itm_geom_get_across(const ItmGeom* geom, int triangle, int edge);
// Call visit for every triangle whose box overlaps `box` (frame of the shape), always in the same order.
void itm_geom_visit_triangles(const ItmGeom* geom, const ItmAabb* box, void (*visit)(void* context, int triangle),
                              void* context);

// Fill across, order, nodes and is_closed of a mesh whose vertices and triangles are in place.
ItmStatus itm_geom_index_mesh(ItmMeshGeom* mesh, ItmError* error);

#endif
