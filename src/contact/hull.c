// Polygonal faces of a convex hull: triangles of one plane become one face, and the tables that the
// narrow phase reads are filled.
#include "contact/hull.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

#define MAX_POINTS 1000000

static ItmStatus no_memory(ItmError* error)
{
    return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "no memory for a hull");
}

void itm_hull_free(ItmHull* hull)
{
    free(hull->vertices);
    free(hull->normals);
    free(hull->offsets);
    free(hull->face_adr);
    free(hull->face_corners);
    free(hull->directions);
    free(hull->neighbour_adr);
    free(hull->neighbours);
    *hull = (ItmHull){0};
}

// ---------------------------------------------------------------------------- tables

typedef struct DirectedEdge {
    int from, to;
} DirectedEdge;

static int compare_edges(const void* a, const void* b)
{
    const DirectedEdge *p = a, *q = b;
    if (p->from != q->from) {
        return p->from < q->from ? -1 : 1;
    }
    return (p->to > q->to) - (p->to < q->to);
}

// Sorted directed edges of all faces. Each must occur once, and once the other way round.
static bool edges_close(DirectedEdge* edges, int nedge, const ItmHull* hull)
{
    int count = 0;
    for (int f = 0; f < hull->nface; f++) {
        int begin = hull->face_adr[f], end = hull->face_adr[f + 1];
        for (int k = begin; k < end; k++) {
            int following = k + 1 < end ? k + 1 : begin;
            edges[count++] = (DirectedEdge){hull->face_corners[k], hull->face_corners[following]};
        }
    }
    qsort(edges, (size_t)nedge, sizeof *edges, compare_edges);
    for (int i = 0; i < nedge; i++) {
        DirectedEdge twin = {edges[i].to, edges[i].from};
        if (bsearch(&twin, edges, (size_t)nedge, sizeof *edges, compare_edges) == NULL ||
            (i > 0 && compare_edges(&edges[i], &edges[i - 1]) == 0)) {
            return false;
        }
    }
    return hull->nvertex - nedge / 2 + hull->nface == 2;
}

static void fill_neighbours(ItmHull* hull, const DirectedEdge* edges, int nedge)
{
    int e = 0;
    for (int v = 0; v < hull->nvertex; v++) {
        hull->neighbour_adr[v] = e;
        for (; e < nedge && edges[e].from == v; e++) {
            hull->neighbours[e] = edges[e].to;
        }
    }
    hull->neighbour_adr[hull->nvertex] = nedge;
}

static void fill_directions(ItmHull* hull, const DirectedEdge* edges, int nedge)
{
    for (int e = 0; e < nedge; e++) {
        if (edges[e].from > edges[e].to) {
            continue;
        }
        ItmVec3 d = itm_vec_sub(hull->vertices[edges[e].to], hull->vertices[edges[e].from]);
        d = itm_vec_scale(1.0 / itm_vec_norm(d), d);
        bool is_known = false;
        for (int k = 0; k < hull->ndirection && !is_known; k++) {
            is_known = itm_vec_norm(itm_vec_cross(d, hull->directions[k])) < 1e-10;
        }
        if (!is_known) {
            hull->directions[hull->ndirection++] = d;
        }
    }
}

// Normal and offset of a polygon: sum of the cross products around it (Newell), mean height.
static bool fill_plane(ItmHull* hull, int f)
{
    const int* corner = hull->face_corners + hull->face_adr[f];
    int n = hull->face_adr[f + 1] - hull->face_adr[f];
    ItmVec3 origin = hull->vertices[corner[0]], sum = {0, 0, 0};
    for (int k = 1; k + 1 < n; k++) {
        sum = itm_vec_add(sum, itm_vec_cross(itm_vec_sub(hull->vertices[corner[k]], origin),
                                             itm_vec_sub(hull->vertices[corner[k + 1]], origin)));
    }
    double area = itm_vec_norm(sum), height = 0;
    if (!(area > 0)) {
        return false;
    }
    hull->normals[f] = itm_vec_scale(1.0 / area, sum);
    for (int k = 0; k < n; k++) {
        height += itm_vec_dot(hull->normals[f], hull->vertices[corner[k]]);
    }
    hull->offsets[f] = height / n;
    return true;
}

// Corners in use, renumbered in the order of the points.
static ItmStatus copy_corners(ItmHull* hull, const ItmVec3* points, int npoint, const int* loops, int nedge,
                              ItmError* error)
{
    int* number = malloc((size_t)npoint * sizeof(int));
    if (number == NULL) {
        return no_memory(error);
    }
    memset(number, 0xff, (size_t)npoint * sizeof(int));
    for (int k = 0; k < nedge; k++) {
        number[loops[k]] = 0;
    }
    for (int p = 0; p < npoint; p++) {
        if (number[p] == 0) {
            number[p] = hull->nvertex;
            hull->vertices[hull->nvertex++] = points[p];
        }
    }
    for (int k = 0; k < nedge; k++) {
        hull->face_corners[k] = number[loops[k]];
    }
    free(number);
    return ITM_OK;
}

static ItmStatus fill_tables(ItmHull* hull, DirectedEdge* edges, int nedge, ItmError* error)
{
    if (!edges_close(edges, nedge, hull)) {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, "points",
                             "the faces of a hull do not close: the points are nearly in a plane or on top of "
                             "each other");
    }
    if (hull->nvertex > ITM_HULL_MAX_VERTICES) {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, "points", "a hull may have at most %d corners, not %d",
                             ITM_HULL_MAX_VERTICES, hull->nvertex);
    }
    for (int f = 0; f < hull->nface; f++) {
        if (!fill_plane(hull, f)) {
            return itm_error_set(error, ITM_ERR_INPUT, __func__, "points", "a face of the hull has no area");
        }
    }
    fill_neighbours(hull, edges, nedge);
    fill_directions(hull, edges, nedge);
    return ITM_OK;
}

ItmStatus itm_hull_build_faces(ItmHull* hull, const ItmVec3* points, int npoint, const int* loops, const int* adr,
                               int nface, ItmError* error)
{
    int nedge = adr[nface];  // directed: each edge twice
    size_t n = (size_t)nedge;
    *hull = (ItmHull){
        .nface = nface,
        .vertices = malloc(n * sizeof(ItmVec3)),
        .normals = malloc((size_t)nface * sizeof(ItmVec3)),
        .offsets = malloc((size_t)nface * sizeof(double)),
        .face_adr = malloc(((size_t)nface + 1) * sizeof(int)),
        .face_corners = malloc(n * sizeof(int)),
        .directions = malloc(n * sizeof(ItmVec3)),
        .neighbour_adr = malloc((n + 1) * sizeof(int)),
        .neighbours = malloc(n * sizeof(int)),
    };
    DirectedEdge* edges = malloc(n * sizeof *edges);
    ItmStatus status;
    if (hull->vertices == NULL || hull->normals == NULL || hull->offsets == NULL || hull->face_adr == NULL ||
        hull->face_corners == NULL || hull->directions == NULL || hull->neighbour_adr == NULL ||
        hull->neighbours == NULL || edges == NULL) {
        status = no_memory(error);
    } else {
        memcpy(hull->face_adr, adr, ((size_t)nface + 1) * sizeof(int));
        status = copy_corners(hull, points, npoint, loops, nedge, error);
        if (status == ITM_OK) {
            status = fill_tables(hull, edges, nedge, error);
        }
    }
    free(edges);
    if (status != ITM_OK) {
        itm_hull_free(hull);
    }
    return status;
}

ItmStatus itm_hull_build_box(ItmHull* hull, ItmVec3 half, ItmError* error)
{
    static const int LOOPS[24] = {0, 4, 6, 2, 1, 3, 7, 5, 0, 1, 5, 4, 2, 6, 7, 3, 0, 2, 3, 1, 4, 5, 7, 6};
    static const int ADR[7] = {0, 4, 8, 12, 16, 20, 24};
    ItmVec3 corners[8];
    for (int i = 0; i < 8; i++) {
        corners[i] = itm_vec(i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y, i & 4 ? half.z : -half.z);
    }
    return itm_hull_build_faces(hull, corners, 8, LOOPS, ADR, 6, error);
}

// ---------------------------------------------------------------------------- polygons from triangles

typedef struct Plane {
    ItmVec3 n;
    double offset;
    double area;  // twice that of the triangle
    int triangle;
} Plane;

typedef struct Flat {
    double u, v;  // in the plane of a face
    int point;
} Flat;

static int compare_planes(const void* a, const void* b)
{
    const Plane *p = a, *q = b;
    if (p->area != q->area) {
        return p->area > q->area ? -1 : 1;
    }
    return p->triangle - q->triangle;
}

static int compare_flats(const void* a, const void* b)
{
    const Flat *p = a, *q = b;
    if (p->u != q->u) {
        return p->u < q->u ? -1 : 1;
    }
    return (p->v > q->v) - (p->v < q->v);
}

// Twice the area of abc over the length of ac: height of b to the right of the line.
static double height_right(const Flat* a, const Flat* b, const Flat* c)
{
    double cu = c->u - a->u, cv = c->v - a->v;
    double cross = (b->u - a->u) * cv - (b->v - a->v) * cu;
    return cross / sqrt(cu * cu + cv * cv);
}

// The chains never question their two ends: a point in the middle of a side may be one.
static int drop_straight(Flat* polygon, int n, double tol)
{
    int count = 0;
    for (int k = 0; k < n; k++) {
        const Flat* before = count > 0 ? &polygon[count - 1] : &polygon[n - 1];
        if (height_right(before, &polygon[k], &polygon[(k + 1) % n]) > tol) {
            polygon[count++] = polygon[k];
        }
    }
    return count;
}

// Monotone chain: corners of the convex polygon around sorted flat points, counter-clockwise; points
// nearer to a side than tol are not corners. out needs 2 n places.
static int wrap_polygon(Flat* out, const Flat* in, int n, double tol)
{
    int count = 0;
    for (int pass = 0; pass < 2; pass++) {
        int floor = count + 1;
        for (int k = 0; k < n; k++) {
            const Flat* p = pass == 0 ? &in[k] : &in[n - 1 - k];
            while (count > floor && height_right(&out[count - 2], &out[count - 1], p) <= tol) {
                count--;
            }
            out[count++] = *p;
        }
        count--;  // the end of one chain begins the other
    }
    return drop_straight(out, count, tol);
}

typedef struct Faces {
    int* loops;
    int* adr;
    int nface, nloop, capacity;
    Plane* accepted;  // planes of the faces
} Faces;

static bool lies_in_accepted(const Faces* faces, const int* corner, const ItmVec3* points, double tol)
{
    for (int f = 0; f < faces->nface; f++) {
        const Plane* plane = &faces->accepted[f];
        bool all_in = true;
        for (int k = 0; k < 3 && all_in; k++) {
            all_in = fabs(itm_vec_dot(plane->n, points[corner[k]]) - plane->offset) <= tol;
        }
        if (all_in) {
            return true;
        }
    }
    return false;
}

// One face: all points of the plane, wrapped.
static void add_polygon(Faces* faces, const Plane* plane, const ItmVec3* points, const int* used, int nused, Flat* flat,
                        double tol)
{
    // any two axes in the plane with u x v = n
    ItmVec3 n = plane->n;
    ItmVec3 u = fabs(n.x) < 0.6 ? itm_vec(0, -n.z, n.y) : itm_vec(n.z, 0, -n.x);
    u = itm_vec_scale(1.0 / itm_vec_norm(u), u);
    ItmVec3 v = itm_vec_cross(n, u);
    int count = 0;
    for (int k = 0; k < nused; k++) {
        ItmVec3 p = points[used[k]];
        if (fabs(itm_vec_dot(n, p) - plane->offset) <= tol) {
            flat[count++] = (Flat){itm_vec_dot(u, p), itm_vec_dot(v, p), used[k]};
        }
    }
    qsort(flat, (size_t)count, sizeof *flat, compare_flats);
    Flat* polygon = flat + nused;
    int ncorner = wrap_polygon(polygon, flat, count, tol);
    if (ncorner < 3 || faces->nloop + ncorner > faces->capacity) {
        return;  // the closing check will notice
    }
    for (int k = 0; k < ncorner; k++) {
        faces->loops[faces->nloop++] = polygon[k].point;
    }
    faces->accepted[faces->nface++] = *plane;
    faces->adr[faces->nface] = faces->nloop;
}

static ItmStatus merge_triangles(ItmHull* hull, const ItmHullTriangles* t, const ItmVec3* points, int npoint,
                                 double tol, ItmError* error)
{
    size_t n = (size_t)t->count;
    int nused = 0;
    Faces faces = {.capacity = 6 * t->count};
    Plane* planes = malloc(n * sizeof *planes);
    int* used = malloc(3 * n * sizeof *used);
    Flat* flat = malloc(9 * n * sizeof *flat);
    char* is_used = calloc((size_t)npoint, 1);
    faces.loops = malloc(6 * n * sizeof(int));
    faces.adr = calloc(n + 1, sizeof(int));
    faces.accepted = malloc(n * sizeof *faces.accepted);
    ItmStatus status;
    if (planes == NULL || used == NULL || flat == NULL || is_used == NULL || faces.loops == NULL || faces.adr == NULL ||
        faces.accepted == NULL) {
        status = no_memory(error);
    } else {
        for (int k = 0; k < t->count; k++) {
            const int* c = t->corners[k];
            ItmVec3 a = points[c[0]];
            ItmVec3 m = itm_vec_cross(itm_vec_sub(points[c[1]], a), itm_vec_sub(points[c[2]], a));
            double area = itm_vec_norm(m);
            m = itm_vec_scale(area > 0 ? 1.0 / area : 0.0, m);
            planes[k] = (Plane){m, itm_vec_dot(m, a), area, k};
            for (int j = 0; j < 3; j++) {
                if (!is_used[c[j]]) {
                    is_used[c[j]] = 1;
                    used[nused++] = c[j];
                }
            }
        }
        // the largest triangles give the most certain planes; slivers lie in one of theirs
        qsort(planes, n, sizeof *planes, compare_planes);
        for (int k = 0; k < t->count; k++) {
            if (planes[k].area > 0 && !lies_in_accepted(&faces, t->corners[planes[k].triangle], points, tol)) {
                add_polygon(&faces, &planes[k], points, used, nused, flat, tol);
            }
        }
        status = itm_hull_build_faces(hull, points, npoint, faces.loops, faces.adr, faces.nface, error);
    }
    free(planes);
    free(used);
    free(flat);
    free(is_used);
    free(faces.loops);
    free(faces.adr);
    free(faces.accepted);
    return status;
}

// ---------------------------------------------------------------------------- public

static ItmStatus measure_extent(double* extent, const ItmVec3* points, int npoint, ItmError* error)
{
    ItmVec3 lo = points[0], hi = points[0];
    for (int i = 0; i < npoint; i++) {
        if (!itm_vec_is_finite(points[i])) {
            return itm_error_set(error, ITM_ERR_INPUT, __func__, "points", "point %d of the hull is not finite", i);
        }
        lo = itm_vec(fmin(lo.x, points[i].x), fmin(lo.y, points[i].y), fmin(lo.z, points[i].z));
        hi = itm_vec(fmax(hi.x, points[i].x), fmax(hi.y, points[i].y), fmax(hi.z, points[i].z));
    }
    // rounding grows with the distance from the origin, so that counts too
    *extent = fmax(itm_vec_norm(itm_vec_sub(hi, lo)), 1e-3 * fmax(itm_vec_norm(lo), itm_vec_norm(hi)));
    if (!(*extent > 1e-100 && *extent < 1e100)) {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, "points", "the extent of the hull is %g m", *extent);
    }
    return ITM_OK;
}

ItmStatus itm_hull_build(ItmHull* hull, const ItmVec3* points, int npoint, ItmError* error)
{
    *hull = (ItmHull){0};
    if (points == NULL || npoint < 4 || npoint > MAX_POINTS) {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, "points", "a hull needs 4 to %d points, got %d",
                             MAX_POINTS, npoint);
    }
    double extent = 0;
    ItmHullTriangles triangles;
    ItmStatus status = measure_extent(&extent, points, npoint, error);
    if (status != ITM_OK) {
        return status;
    }
    status = itm_hull_triangulate(&triangles, points, npoint, extent, error);
    // a wider sense of "one plane" where the narrow one does not close
    for (double tol = 1e-9; status == ITM_OK && tol < 2e-6; tol *= 10) {
        status = merge_triangles(hull, &triangles, points, npoint, tol * extent, error);
        if (status != ITM_ERR_INPUT) {
            break;
        }
        status = tol * 10 < 2e-6 ? ITM_OK : status;
    }
    free(triangles.corners);
    return status;
}
