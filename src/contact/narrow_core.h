// Cores: what the narrow phase works on. A core is a polytope (or point, segment, triangle) or a cylinder,
// placed, with a radius around it: a sphere is a point with a radius, a capsule a segment with one.
// All cores of one call share an origin near the pair, so that nothing is lost far from the world's origin.
#ifndef ITM_CONTACT_NARROW_CORE_H
#define ITM_CONTACT_NARROW_CORE_H

#include "contact/geom.h"
#include "contact/narrow.h"

// A point, segment or triangle as a hull, with its tables inside.
typedef struct ItmSmallHull {
    ItmHull hull;
    ItmVec3 vertices[3], normals[2], directions[3];
    double offsets[2];
    int face_adr[3], face_corners[6], neighbour_adr[4], neighbours[6];
} ItmSmallHull;

// clang-format off
typedef struct ItmCore {
    ItmFrame frame;
    const ItmHull* hull;        // polytope, or NULL: cylinder along z of the frame
    ItmVec3 half;               // box: half edges, a short cut to its support; otherwise zero   m
    double cylinder_radius;     // m
    double half_length;         // of the cylinder                                     m
    double radius;              // of the rounding                                     m
    double size;                // about the radius of the core, for tolerances        m
    ItmVec3 middle;             // an inner point
    const int* ids;             // names of the vertices, or NULL: their indices
    unsigned quiet_vertices;    // triangle of a mesh: corners and edges (bits) that lie inside a flat or
    unsigned quiet_edges;       //   hollow part of the surface and make no contacts of their own
} ItmCore;
// clang-format on

// Core of a sphere, capsule, box, cylinder or hull. `store` keeps tables the core points to.
void itm_narrow_core_init(ItmCore* core, ItmSmallHull* store, const ItmGeom* geom, const ItmFrame* frame);
// Core of one triangle, corners in the frame of the pair. Degenerate triangles must not come here.
void itm_narrow_core_init_triangle(ItmCore* core, ItmSmallHull* store, const ItmVec3 corner[3], const int id[3]);

// The farthest point of a core along n, without its radius.
ItmVec3 itm_narrow_core_support(const ItmCore* core, ItmVec3 n);

// Gap of two cores along n: how far b begins beyond the end of a. A lower bound of the distance for any n.
static inline double itm_core_gap(const ItmCore* a, const ItmCore* b, ItmVec3 n)
{
    return itm_vec_dot(n, itm_vec_sub(itm_narrow_core_support(b, itm_vec_neg(n)), itm_narrow_core_support(a, n)));
}

// Some unit vector perpendicular to n.
static inline ItmVec3 itm_vec_perpendicular(ItmVec3 n)
{
    ItmVec3 u = fabs(n.x) < 0.6 ? itm_vec(0, -n.z, n.y) : itm_vec(n.z, 0, -n.x);
    return itm_vec_scale(1.0 / itm_vec_norm(u), u);
}

// ---------------------------------------------------------------------------- distance

typedef struct ItmDistance {
    double distance;           // of the cores; 0: they touch or overlap                  m
    ItmVec3 n;                 // from a to b; meaningful where distance > 0
    ItmVec3 point_a, point_b;  // nearest points, b without the shift
} ItmDistance;

// Distance of a and b, b moved by `shift` (Gilbert-Johnson-Keerthi). `guess` is where the search for n begins; zero: from middle to
// middle. Where the distance turns out to be at most `near`, the search ends with a distance that is too large, but not above `near`.
ItmDistance itm_narrow_gjk_distance(const ItmCore* a, const ItmCore* b, ItmVec3 shift, ItmVec3 guess, double near);

// ---------------------------------------------------------------------------- common normal

typedef struct ItmAxis {
    ItmVec3 n;        // unit, from a to b
    double gap;       // of the cores along n: their distance, or minus the shortest way out
    bool has_points;  // nearest points are known
    ItmVec3 point_a, point_b;
    bool is_imposed;  // n is not the cores' own: only points over each other count
} ItmAxis;

#define ITM_MAX_STARTS 6
#define ITM_SHALLOW 1e-4  // of the size: overlaps below this have their best candidate near the maximum

// Candidates for n, best first. Directions within 15 degrees of each other count as one.
typedef struct ItmStarts {
    int n;
    bool is_complete;  // the first is the maximum, as far as the cores do not lie apart
    ItmAxis axes[ITM_MAX_STARTS];
} ItmStarts;

// The search stops early where a gap exceeds reach. There is always at least one start.
void itm_narrow_try_axis(ItmStarts* starts, const ItmCore* a, const ItmCore* b, double reach);

// The same for two boxes.
void itm_narrow_try_boxes(ItmStarts* starts, const ItmCore* a, const ItmCore* b, double reach);

// Raise the gap of an axis that is nearly right to its local maximum.
void itm_narrow_polish_axis(ItmAxis* axis, const ItmCore* a, const ItmCore* b);

typedef enum ItmAxisResult { ITM_AXIS_FOUND, ITM_AXIS_APART, ITM_AXIS_FAILED } ItmAxisResult;

// The direction in which two cores are farthest apart, or least deep in each other.
// ITM_AXIS_APART: the gap of the cores exceeds reach.
ItmAxisResult itm_narrow_find_axis(ItmAxis* axis, const ItmCore* a, const ItmCore* b, double reach);

// ---------------------------------------------------------------------------- manifold

#define ITM_FEATURE_MAX 32

// What a core shows along a direction: a vertex, an edge or a face.
typedef struct ItmFeature {
    int n;
    ItmVec3 p[ITM_FEATURE_MAX];
    uint32_t id[ITM_FEATURE_MAX];
    unsigned quiet_vertices, quiet_edges;  // as in ItmCore, for n = 3
} ItmFeature;

// slope: sine of the largest angle by which an edge may lean away from the plane perpendicular to n.
void itm_narrow_find_feature(ItmFeature* feature, const ItmCore* core, ItmVec3 n, double slope);

#define ITM_MANIFOLD_MAX 64

typedef struct ItmManifold {
    int n;
    double same_place;  // points with one key and normal that are nearer than this are one contact, m
    ItmContactPoint points[ITM_MANIFOLD_MAX];
} ItmManifold;

// Add the contacts of two cores along a common normal, those with gap <= margin.
void itm_narrow_manifold_add(ItmManifold* manifold, const ItmAxis* axis, const ItmCore* a, const ItmCore* b,
                             double margin);
// Add one point, unless it repeats one that is there; a full manifold makes room by reducing itself.
void itm_narrow_manifold_push(ItmManifold* manifold, const ItmContactPoint* point);
// Keep the `max` most useful points.
void itm_narrow_manifold_reduce(ItmManifold* manifold, int max);

// A name for a contact out of two feature names.
uint64_t itm_narrow_manifold_key(unsigned kind, uint64_t id_a, uint64_t id_b);

// ---------------------------------------------------------------------------- pairs with their own ways

// All take kinds in the order of ItmGeomKind, frames relative to the origin of the pair.
void itm_narrow_plane(ItmManifold* m, const ItmGeom* plane, const ItmFrame* frame_a, const ItmGeom* b,
                      const ItmFrame* frame_b, double margin);
// Sphere and capsule against each other, sphere against box and cylinder.
void itm_narrow_round(ItmManifold* m, const ItmGeom* a, const ItmFrame* frame_a, const ItmGeom* b,
                      const ItmFrame* frame_b, double margin);
// Convex a against mesh or field b. False where a triangle gave no usable normal.
bool itm_narrow_surface(ItmManifold* m, const ItmGeom* a, const ItmFrame* frame_a, const ItmGeom* b,
                        const ItmFrame* frame_b, double margin);

#endif
