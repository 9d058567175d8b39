// Convex polytopes with polygonal faces, and their construction from points.
#ifndef ITM_CONTACT_HULL_H
#define ITM_CONTACT_HULL_H

#include "interim/base.h"
#include "math/vec.h"

#define ITM_HULL_MAX_VERTICES 32767  // of the finished hull

// clang-format off
// A polytope; also a point (1 vertex), a segment (2 vertices, no face) or a triangle (2 faces).
typedef struct ItmHull {
    int nvertex, nface, ndirection;
    ItmVec3* vertices;       // corners                                          (nvertex)      m
    ItmVec3* normals;        // outward unit normals of the faces                (nface)
    double* offsets;         // a face is normal . x = offset                    (nface)        m
    int* face_adr;           // face f owns corners face_adr[f] .. face_adr[f+1] (nface + 1)
    int* face_corners;       // vertex indices, counter-clockwise seen from outside
    ItmVec3* directions;     // edge directions, parallel edges once             (ndirection)
    int* neighbour_adr;      // vertex v is joined to neighbours[neighbour_adr[v]] ..   (nvertex + 1)
    int* neighbours;
} ItmHull;
// clang-format on

// Hull of points; the result owns its memory. Fewer than four points, or points in a plane, give
// ITM_ERR_INPUT (field "points"). Points inside the hull, or in a face or on an edge without being a
// corner (to 1e-9 of the extent), do not become vertices. ITM_ERR_INPUT too for more than ITM_HULL_MAX_VERTICES corners.
// Takes O(n log n) operations for points in general position.
ItmStatus itm_hull_build(ItmHull* hull, const ItmVec3* points, int npoint, ItmError* error);

// Box with half edges `half`, as a hull: vertex i has the signs of bits 0, 1, 2 of i.
ItmStatus itm_hull_build_box(ItmHull* hull, ItmVec3 half, ItmError* error);

void itm_hull_free(ItmHull* hull);

// Finish a hull from polygonal faces: check that they close, then fill the tables. Used by the builders.
//   loops  corners of all faces as indices into points, counter-clockwise seen from outside
//   adr    face f owns loops[adr[f]] .. loops[adr[f+1]]        (nface + 1)
// ITM_ERR_INPUT if the faces do not close.
ItmStatus itm_hull_build_faces(ItmHull* hull, const ItmVec3* points, int npoint, const int* loops, const int* adr,
                               int nface, ItmError* error);

// Triangulated convex hull, the first stage of itm_hull_build.
typedef struct ItmHullTriangles {
    int count;
    int (*corners)[3];  // indices of points, counter-clockwise seen from outside; owned
    int (*across)[3];   // triangle beyond the edge from corner i to the next; owned
} ItmHullTriangles;

ItmStatus itm_hull_triangulate(ItmHullTriangles* triangles, const ItmVec3* points, int npoint, double extent,
                               ItmError* error);

#endif
