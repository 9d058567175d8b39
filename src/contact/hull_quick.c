// Quickhull: a tetrahedron that grows to the farthest point outside until none is left.
//
// Triangles only; coplanar ones are put together into polygons afterwards (hull.c). Barber, Dobkin and
// Huhdanpaa, "The quickhull algorithm for convex hulls", 1996, describes the method.
#include "contact/hull.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

typedef struct Face {
    int v[3];       // corners, counter-clockwise seen from outside
    int across[3];  // face beyond the edge v[i], v[i+1]
    ItmVec3 n;      // outward unit normal
    double offset;  // n . x of its points
    int outside;    // first point of those above this face, or ITM_NONE
    bool is_alive;
    bool is_visible;  // from the point being added
} Face;

typedef struct Quick {
    const ItmVec3* points;
    int npoint;
    double eps;  // a point higher above a face is outside, m
    Face* faces;
    int nface, capacity;
    int* next;       // next point of the same outside list  (npoint)
    int* starts_at;  // new face whose horizon edge starts at this vertex  (npoint)
    int* stack;      // faces to visit, and afterwards the visible ones
    int nstack, stack_capacity;
} Quick;

static double height(const Face* face, ItmVec3 p)
{
    return itm_vec_dot(face->n, p) - face->offset;
}

static bool reserve(void** array, int* capacity, int count, size_t size)
{
    if (count <= *capacity) {
        return true;
    }
    int wanted = 2 * count + 64;
    void* grown = realloc(*array, (size_t)wanted * size);
    if (grown == NULL) {
        return false;
    }
    *array = grown;
    *capacity = wanted;
    return true;
}

// Plane through the corners. A triangle without area (three corners on a line) borrows the plane of the
// face beyond its first edge, in which it lies.
static void set_plane(Quick* q, Face* face)
{
    ItmVec3 a = q->points[face->v[0]], b = q->points[face->v[1]], c = q->points[face->v[2]];
    ItmVec3 n = itm_vec_cross(itm_vec_sub(b, a), itm_vec_sub(c, a));
    double area = itm_vec_norm(n);
    double longest = fmax(itm_vec_norm(itm_vec_sub(b, a)), itm_vec_norm(itm_vec_sub(c, a)));
    if (area > q->eps * longest || face->across[0] == ITM_NONE) {
        face->n = itm_vec_scale(area > 0 ? 1.0 / area : 0.0, n);
    } else {
        face->n = q->faces[face->across[0]].n;
    }
    face->offset = itm_vec_dot(face->n, a);
}

// Index of the new face, or ITM_NONE without memory.
static int add_face(Quick* q, int a, int b, int c, int across_ab)
{
    if (!reserve((void**)&q->faces, &q->capacity, q->nface + 1, sizeof(Face))) {
        return ITM_NONE;
    }
    Face* face = &q->faces[q->nface];
    *face = (Face){.v = {a, b, c}, .across = {across_ab, ITM_NONE, ITM_NONE}, .outside = ITM_NONE, .is_alive = true};
    set_plane(q, face);
    return q->nface++;
}

// ---------------------------------------------------------------------------- first tetrahedron

static int farthest(const Quick* q, double (*measure)(const ItmVec3* corner, ItmVec3 p), const ItmVec3* corner,
                    double* distance)
{
    int best = 0;
    *distance = -1;
    for (int i = 0; i < q->npoint; i++) {
        double d = measure(corner, q->points[i]);
        if (d > *distance) {
            *distance = d;
            best = i;
        }
    }
    return best;
}

static double from_point(const ItmVec3* corner, ItmVec3 p)
{
    return itm_vec_norm(itm_vec_sub(p, corner[0]));
}

static double from_line(const ItmVec3* corner, ItmVec3 p)
{
    ItmVec3 line = itm_vec_sub(corner[1], corner[0]);
    return itm_vec_norm(itm_vec_cross(line, itm_vec_sub(p, corner[0]))) / itm_vec_norm(line);
}

static double from_plane(const ItmVec3* corner, ItmVec3 p)
{
    ItmVec3 n = itm_vec_cross(itm_vec_sub(corner[1], corner[0]), itm_vec_sub(corner[2], corner[0]));
    return fabs(itm_vec_dot(n, itm_vec_sub(p, corner[0]))) / itm_vec_norm(n);
}

static ItmStatus choose_corners(const Quick* q, int index[4], double extent, ItmError* error)
{
    static const char* const FLAT[3] = {"one place", "a line", "a plane"};
    double (*const measures[3])(const ItmVec3*, ItmVec3) = {from_point, from_line, from_plane};
    double distance;
    ItmVec3 corner[4] = {q->points[0]};
    index[0] = farthest(q, from_point, corner, &distance);
    corner[0] = q->points[index[0]];
    for (int k = 0; k < 3; k++) {
        index[k + 1] = farthest(q, measures[k], corner, &distance);
        if (!(distance > 1e-9 * extent)) {
            return itm_error_set(error, ITM_ERR_INPUT, __func__, "points",
                                 "the %d points of a hull lie in %s (to %.3g m)", q->npoint, FLAT[k], distance);
        }
        corner[k + 1] = q->points[index[k + 1]];
    }
    return ITM_OK;
}

static void push_outside(Quick* q, int face, int point)
{
    q->next[point] = q->faces[face].outside;
    q->faces[face].outside = point;
}

// Hand a point to the face it is highest above, of those from `first` on; none: it is inside.
static void assign_point(Quick* q, int point, int first)
{
    double best = q->eps;
    int face = ITM_NONE;
    for (int f = first; f < q->nface; f++) {
        double h = height(&q->faces[f], q->points[point]);
        if (h > best) {
            best = h;
            face = f;
        }
    }
    if (face != ITM_NONE) {
        push_outside(q, face, point);
    }
}

static ItmStatus start_tetrahedron(Quick* q, double extent, ItmError* error)
{
    int i[4];
    ItmStatus status = choose_corners(q, i, extent, error);
    if (status != ITM_OK) {
        return status;
    }
    ItmVec3 a = q->points[i[0]], b = q->points[i[1]], c = q->points[i[2]], d = q->points[i[3]];
    ItmVec3 n = itm_vec_cross(itm_vec_sub(b, a), itm_vec_sub(c, a));
    if (itm_vec_dot(n, itm_vec_sub(d, a)) > 0) {
        int swap = i[1];
        i[1] = i[2];
        i[2] = swap;
    }
    // base seen from below the tip, then the three sides; face 0 has the tip behind it
    static const int V[4][3] = {{0, 1, 2}, {1, 0, 3}, {2, 1, 3}, {0, 2, 3}};
    static const int ACROSS[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    for (int f = 0; f < 4; f++) {
        if (add_face(q, i[V[f][0]], i[V[f][1]], i[V[f][2]], ITM_NONE) == ITM_NONE) {
            return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "no memory for a hull");
        }
        memcpy(q->faces[f].across, ACROSS[f], sizeof ACROSS[f]);
    }
    for (int p = 0; p < q->npoint; p++) {
        assign_point(q, p, 0);
    }
    return ITM_OK;
}

// ---------------------------------------------------------------------------- growing

static int highest_outside(const Quick* q, const Face* face)
{
    int best = face->outside;
    for (int p = face->outside; p != ITM_NONE; p = q->next[p]) {
        if (height(face, q->points[p]) > height(face, q->points[best])) {
            best = p;
        }
    }
    return best;
}

// Collect in q->stack the faces visible from the point, spreading from one of them.
static bool find_visible(Quick* q, int face, ItmVec3 point)
{
    q->nstack = 0;
    q->faces[face].is_visible = true;
    if (!reserve((void**)&q->stack, &q->stack_capacity, 1, sizeof(int))) {
        return false;
    }
    q->stack[q->nstack++] = face;
    for (int k = 0; k < q->nstack; k++) {
        for (int e = 0; e < 3; e++) {
            int other = q->faces[q->stack[k]].across[e];
            if (q->faces[other].is_visible || height(&q->faces[other], point) <= q->eps) {
                continue;
            }
            if (!reserve((void**)&q->stack, &q->stack_capacity, q->nstack + 1, sizeof(int))) {
                return false;
            }
            q->faces[other].is_visible = true;
            q->stack[q->nstack++] = other;
        }
    }
    return true;
}

static void replace_across(Face* face, int a, int b, int with)
{
    for (int e = 0; e < 3; e++) {
        if (face->v[e] == b && face->v[(e + 1) % 3] == a) {
            face->across[e] = with;
        }
    }
}

// A fan of faces from the horizon to the point. Returns false where the horizon is not one simple loop.
static bool build_fan(Quick* q, int point)
{
    int first = q->nface;
    for (int k = 0; k < q->nstack; k++) {
        for (int e = 0; e < 3; e++) {
            Face visible = q->faces[q->stack[k]];
            int beyond = visible.across[e];
            if (q->faces[beyond].is_visible) {
                continue;
            }
            int a = visible.v[e], b = visible.v[(e + 1) % 3];
            int face = add_face(q, a, b, point, beyond);
            if (face == ITM_NONE || q->starts_at[a] >= first) {
                return false;
            }
            q->starts_at[a] = face;
            replace_across(&q->faces[beyond], a, b, face);
        }
    }
    for (int f = first; f < q->nface; f++) {
        int following = q->starts_at[q->faces[f].v[1]];
        if (following < first) {
            return false;
        }
        q->faces[f].across[1] = following;
        q->faces[following].across[2] = f;
    }
    return true;
}

// Points above the faces that went find their new faces.
static void redistribute(Quick* q, int first_new, int point)
{
    for (int k = 0; k < q->nstack; k++) {
        Face* gone = &q->faces[q->stack[k]];
        gone->is_alive = false;
        gone->is_visible = false;
        for (int p = gone->outside; p != ITM_NONE;) {
            int following = q->next[p];
            if (p != point) {
                assign_point(q, p, first_new);
            }
            p = following;
        }
        gone->outside = ITM_NONE;
    }
}

static ItmStatus grow(Quick* q, ItmError* error)
{
    for (int f = 0; f < q->nface; f++) {
        if (!q->faces[f].is_alive || q->faces[f].outside == ITM_NONE) {
            continue;
        }
        int point = highest_outside(q, &q->faces[f]);
        int first_new = q->nface;
        if (!find_visible(q, f, q->points[point]) || !build_fan(q, point)) {
            return itm_error_set(error, ITM_ERR_INPUT, __func__, "points",
                                 "the points are too close to each other to build a hull");
        }
        redistribute(q, first_new, point);
    }
    return ITM_OK;
}

static ItmStatus collect(const Quick* q, ItmHullTriangles* triangles, ItmError* error)
{
    triangles->corners = malloc((size_t)q->nface * sizeof *triangles->corners);
    triangles->across = malloc((size_t)q->nface * sizeof *triangles->across);
    int* number = malloc((size_t)q->nface * sizeof *number);  // of a face that is alive, among these
    if (triangles->corners == NULL || triangles->across == NULL || number == NULL) {
        free(number);
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "no memory for a hull");
    }
    triangles->count = 0;
    for (int f = 0; f < q->nface; f++) {
        if (q->faces[f].is_alive) {
            number[f] = triangles->count;
            memcpy(triangles->across[triangles->count], q->faces[f].across, sizeof q->faces[f].across);
            memcpy(triangles->corners[triangles->count++], q->faces[f].v, sizeof q->faces[f].v);
        }
    }
    for (int f = 0; f < triangles->count; f++) {
        for (int e = 0; e < 3; e++) {
            triangles->across[f][e] = number[triangles->across[f][e]];
        }
    }
    free(number);
    return ITM_OK;
}

ItmStatus itm_hull_triangulate(ItmHullTriangles* triangles, const ItmVec3* points, int npoint, double extent,
                               ItmError* error)
{
    *triangles = (ItmHullTriangles){0};
    Quick q = {.points = points, .npoint = npoint, .eps = 1e-13 * extent};
    q.next = malloc((size_t)npoint * sizeof(int));
    q.starts_at = calloc((size_t)npoint, sizeof(int));
    ItmStatus status = ITM_ERR_MEMORY;
    if (q.next == NULL || q.starts_at == NULL) {
        itm_error_set(error, status, __func__, NULL, "no memory for a hull of %d points", npoint);
    } else {
        status = start_tetrahedron(&q, extent, error);
    }
    if (status == ITM_OK) {
        status = grow(&q, error);
    }
    if (status == ITM_OK) {
        status = collect(&q, triangles, error);
    }
    free(q.next);
    free(q.starts_at);
    free(q.faces);
    free(q.stack);
    return status;
}
