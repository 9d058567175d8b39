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

// Directions of edges, to find parallel ones: sorted by their component along an axis that is parallel to no edge in practice.
typedef struct Direction {
    ItmVec3 d;
    double key;  // component along the axis, >= 0: d may be turned round
    int order;   // in which it was found
    bool is_kept;
} Direction;

static int compare_directions(const void* a, const void* b)
{
    const Direction *p = a, *q = b;
    if (p->key != q->key) {
        return p->key < q->key ? -1 : 1;
    }
    return p->order - q->order;
}

#define PARALLEL 1e-10  // sine of the angle between edges that count as parallel

// Whether a direction that is kept is parallel; those are near in the sorted list.
static bool is_parallel_known(const Direction* list, int n, int at)
{
    for (int step = -1; step <= 1; step += 2) {
        for (int k = at + step; k >= 0 && k < n && fabs(list[k].key - list[at].key) <= 2.0 * PARALLEL; k += step) {
            if (list[k].is_kept && itm_vec_norm(itm_vec_cross(list[at].d, list[k].d)) < PARALLEL) {
                return true;
            }
        }
    }
    return false;
}

// Edge directions, parallel edges once: the first of them in the order of the edges.
static bool fill_directions(ItmHull* hull, const DirectedEdge* edges, int nedge)
{
    const ItmVec3 axis = {0.75392174, 0.53317561, 0.38386729};
    Direction* list = malloc((size_t)nedge * sizeof *list);
    int* place = malloc((size_t)nedge * sizeof *place);  // in the sorted list, by order
    if (list == NULL || place == NULL) {
        free(list);
        free(place);
        return false;
    }
    int n = 0;
    for (int e = 0; e < nedge; e++) {
        if (edges[e].from < edges[e].to) {
            ItmVec3 d = itm_vec_sub(hull->vertices[edges[e].to], hull->vertices[edges[e].from]);
            d = itm_vec_scale(1.0 / itm_vec_norm(d), d);
            list[n] = (Direction){.d = d, .key = fabs(itm_vec_dot(axis, d)), .order = n};
            n++;
        }
    }
    qsort(list, (size_t)n, sizeof *list, compare_directions);
    for (int k = 0; k < n; k++) {
        place[list[k].order] = k;
    }
    for (int i = 0; i < n; i++) {
        Direction* it = &list[place[i]];
        it->is_kept = !is_parallel_known(list, n, place[i]);
        if (it->is_kept) {
            hull->directions[hull->ndirection++] = it->d;
        }
    }
    free(list);
    free(place);
    return true;
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

// ITM_ERR_CAPACITY: too many corners, which no tolerance mends; the error is that of a bad input.
static ItmStatus fill_tables(ItmHull* hull, DirectedEdge* edges, int nedge, ItmError* error)
{
    if (hull->nvertex > ITM_HULL_MAX_VERTICES) {
        itm_error_set(error, ITM_ERR_INPUT, __func__, "points",
                      "a hull may have at most %d corners, not %d: give a coarser mesh", ITM_HULL_MAX_VERTICES,
                      hull->nvertex);
        return ITM_ERR_CAPACITY;
    }
    if (!edges_close(edges, nedge, hull)) {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, "points",
                             "the faces of a hull do not close: the points are nearly in a plane or on top of "
                             "each other");
    }
    for (int f = 0; f < hull->nface; f++) {
        if (!fill_plane(hull, f)) {
            return itm_error_set(error, ITM_ERR_INPUT, __func__, "points", "a face of the hull has no area");
        }
    }
    fill_neighbours(hull, edges, nedge);
    return fill_directions(hull, edges, nedge) ? ITM_OK : no_memory(error);
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
} Faces;

// What the merging works with, and its memory.
typedef struct Merge {
    const ItmHullTriangles* t;
    const ItmVec3* points;
    double tol;
    Faces faces;
    Plane* planes;   // of the triangles, the largest first             (count)
    bool* is_taken;  // triangle: it is part of a face                 (count)
    int* region;     // triangles of the face at hand                   (count)
    int* stamp;      // face that a point was last gathered for, from 1 (npoint)
    Flat* flat;      // its points, and room for its polygon            (9 count)
} Merge;

static bool is_in_plane(const Merge* m, const Plane* plane, int point)
{
    return fabs(itm_vec_dot(plane->n, m->points[point]) - plane->offset) <= m->tol;
}

static bool lies_in_plane(const Merge* m, const Plane* plane, int triangle)
{
    const int* corner = m->t->corners[triangle];
    return is_in_plane(m, plane, corner[0]) && is_in_plane(m, plane, corner[1]) && is_in_plane(m, plane, corner[2]);
}

// Gather the corners of a triangle that lie in the plane, each once.
static int gather_corners(Merge* m, const Plane* plane, ItmVec3 u, ItmVec3 v, int triangle, int count)
{
    for (int k = 0; k < 3; k++) {
        int point = m->t->corners[triangle][k];
        if (m->stamp[point] != m->faces.nface + 1 && is_in_plane(m, plane, point)) {
            m->stamp[point] = m->faces.nface + 1;
            m->flat[count++] = (Flat){itm_vec_dot(u, m->points[point]), itm_vec_dot(v, m->points[point]), point};
        }
    }
    return count;
}

// The triangles in the plane of one of them, from neighbour to neighbour, and their points in the plane: with those of the triangles
// around them, for a sliver may keep a corner of the face apart. Returns the number of points.
static int gather_face(Merge* m, const Plane* plane, ItmVec3 u, ItmVec3 v)
{
    int nregion = 1, count = 0;
    m->region[0] = plane->triangle;
    m->is_taken[plane->triangle] = true;
    for (int k = 0; k < nregion; k++) {
        count = gather_corners(m, plane, u, v, m->region[k], count);
        for (int e = 0; e < 3; e++) {
            int other = m->t->across[m->region[k]][e];
            count = gather_corners(m, plane, u, v, other, count);
            if (!m->is_taken[other] && lies_in_plane(m, plane, other)) {
                m->is_taken[other] = true;
                m->region[nregion++] = other;
            }
        }
    }
    return count;
}

// One face: all points of the plane, wrapped.
static void add_polygon(Merge* m, const Plane* plane)
{
    // any two axes in the plane with u x v = n
    ItmVec3 n = plane->n;
    ItmVec3 u = fabs(n.x) < 0.6 ? itm_vec(0, -n.z, n.y) : itm_vec(n.z, 0, -n.x);
    u = itm_vec_scale(1.0 / itm_vec_norm(u), u);
    ItmVec3 v = itm_vec_cross(n, u);
    int count = gather_face(m, plane, u, v);
    qsort(m->flat, (size_t)count, sizeof *m->flat, compare_flats);
    Flat* polygon = m->flat + count;
    int ncorner = wrap_polygon(polygon, m->flat, count, m->tol);
    Faces* faces = &m->faces;
    if (ncorner < 3 || faces->nloop + ncorner > faces->capacity) {
        return;  // the closing check will notice
    }
    for (int k = 0; k < ncorner; k++) {
        faces->loops[faces->nloop++] = polygon[k].point;
    }
    faces->adr[++faces->nface] = faces->nloop;
}

static void fill_planes(Merge* m)
{
    for (int k = 0; k < m->t->count; k++) {
        const int* c = m->t->corners[k];
        ItmVec3 a = m->points[c[0]];
        ItmVec3 n = itm_vec_cross(itm_vec_sub(m->points[c[1]], a), itm_vec_sub(m->points[c[2]], a));
        double area = itm_vec_norm(n);
        n = itm_vec_scale(area > 0 ? 1.0 / area : 0.0, n);
        m->planes[k] = (Plane){n, itm_vec_dot(n, a), area, k};
    }
    // the largest triangles give the most certain planes; slivers lie in one of theirs
    qsort(m->planes, (size_t)m->t->count, sizeof *m->planes, compare_planes);
}

static ItmStatus merge_triangles(ItmHull* hull, const ItmHullTriangles* t, const ItmVec3* points, int npoint,
                                 double tol, ItmError* error)
{
    size_t n = (size_t)t->count;
    Merge m = {.t = t, .points = points, .tol = tol, .faces = {.capacity = 6 * t->count}};
    m.planes = malloc(n * sizeof *m.planes);
    m.is_taken = calloc(n, sizeof *m.is_taken);
    m.region = malloc(n * sizeof *m.region);
    m.stamp = calloc((size_t)npoint, sizeof *m.stamp);
    m.flat = malloc(9 * n * sizeof *m.flat);
    m.faces.loops = malloc(6 * n * sizeof(int));
    m.faces.adr = calloc(n + 1, sizeof(int));
    ItmStatus status;
    if (m.planes == NULL || m.is_taken == NULL || m.region == NULL || m.stamp == NULL || m.flat == NULL ||
        m.faces.loops == NULL || m.faces.adr == NULL) {
        status = no_memory(error);
    } else {
        fill_planes(&m);
        for (int k = 0; k < t->count; k++) {
            if (m.planes[k].area > 0 && !m.is_taken[m.planes[k].triangle]) {
                add_polygon(&m, &m.planes[k]);
            }
        }
        status = itm_hull_build_faces(hull, points, npoint, m.faces.loops, m.faces.adr, m.faces.nface, error);
    }
    free(m.planes);
    free(m.is_taken);
    free(m.region);
    free(m.stamp);
    free(m.flat);
    free(m.faces.loops);
    free(m.faces.adr);
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
    free(triangles.across);
    return status == ITM_ERR_CAPACITY ? ITM_ERR_INPUT : status;
}
