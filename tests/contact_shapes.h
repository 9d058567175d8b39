// Shapes, poses and random numbers shared by the tests of contact detection.
#ifndef ITM_TESTS_CONTACT_SHAPES_H
#define ITM_TESTS_CONTACT_SHAPES_H

#include "check.h"

#include "contact/narrow.h"

typedef struct Random {
    uint64_t state;
} Random;

static inline double draw(Random* r, double lo, double hi)
{
    r->state = r->state * 6364136223846793005ULL + 1442695040888963407ULL;
    return lo + (hi - lo) * (double)(r->state >> 11) / 9007199254740992.0;
}

static inline ItmVec3 draw_vec(Random* r, double reach)
{
    return itm_vec(draw(r, -reach, reach), draw(r, -reach, reach), draw(r, -reach, reach));
}

static inline ItmMat3 draw_rotation(Random* r)
{
    ItmQuat q = {draw(r, -1, 1), draw(r, -1, 1), draw(r, -1, 1), draw(r, -1, 1)};
    return itm_quat_to_mat(itm_quat_normalize(q));
}

static inline ItmFrame at(double x, double y, double z)
{
    return (ItmFrame){{x, y, z}, itm_mat_identity()};
}

static inline ItmFrame turned(double x, double y, double z, double rx, double ry, double rz)
{
    return (ItmFrame){{x, y, z}, itm_quat_to_mat(itm_quat_exp(itm_vec(rx, ry, rz)))};
}

static inline ItmGeom* make_plane(void)
{
    ItmGeom* g;
    ItmError error;
    CHECK_OK(itm_geom_create_plane(&g, &error), &error);
    return g;
}

static inline ItmGeom* make_sphere(double r)
{
    ItmGeom* g;
    ItmError error;
    CHECK_OK(itm_geom_create_sphere(&g, r, &error), &error);
    return g;
}

static inline ItmGeom* make_capsule(double r, double l)
{
    ItmGeom* g;
    ItmError error;
    CHECK_OK(itm_geom_create_capsule(&g, r, l, &error), &error);
    return g;
}

static inline ItmGeom* make_cylinder(double r, double l)
{
    ItmGeom* g;
    ItmError error;
    CHECK_OK(itm_geom_create_cylinder(&g, r, l, &error), &error);
    return g;
}

static inline ItmGeom* make_box(double x, double y, double z)
{
    ItmGeom* g;
    ItmError error;
    CHECK_OK(itm_geom_create_box(&g, (double[3]){x, y, z}, &error), &error);
    return g;
}

// Random points in a ball, n of them.
static inline ItmGeom* make_hull(Random* r, int n, double radius)
{
    ItmVec3 points[256];
    for (int i = 0; i < n; i++) {
        do {
            points[i] = draw_vec(r, radius);
        } while (itm_vec_norm(points[i]) > radius);
    }
    ItmGeom* g;
    ItmError error;
    CHECK_OK(itm_geom_create_hull(&g, points, n, &error), &error);
    return g;
}

// A flat square of n x n cells, two triangles each, z = 0, side 1 a cell, centred; normals up.
static inline ItmGeom* make_floor_mesh(int n)
{
    ItmVec3* v = malloc((size_t)(n + 1) * (size_t)(n + 1) * sizeof *v);
    int* t = malloc((size_t)n * (size_t)n * 6 * sizeof *t);
    for (int j = 0; j <= n; j++) {
        for (int i = 0; i <= n; i++) {
            v[j * (n + 1) + i] = itm_vec(i - 0.5 * n, j - 0.5 * n, 0);
        }
    }
    int count = 0;
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) {
            int c = j * (n + 1) + i;
            int six[6] = {c, c + 1, c + n + 2, c, c + n + 2, c + n + 1};
            memcpy(t + count, six, sizeof six);
            count += 6;
        }
    }
    ItmGeom* g;
    ItmError error;
    CHECK_OK(itm_geom_create_mesh(&g, v, (n + 1) * (n + 1), t, count / 3, &error), &error);
    free(v);
    free(t);
    return g;
}

static inline double smallest_gap(const ItmContactPoint* p, int n)
{
    double gap = INFINITY;
    for (int i = 0; i < n; i++) {
        gap = fmin(gap, p[i].gap);
    }
    return gap;
}

// What every answer must satisfy, whatever the shapes.
static inline void check_points(const ItmContactPoint* p, int n, double margin, const char* what)
{
    for (int i = 0; i < n; i++) {
        ItmVec3 along = itm_vec_sub(p[i].point_b, p[i].point_a);
        ItmVec3 off = itm_vec_axpy(-p[i].gap, p[i].normal, along);
        if (!(fabs(itm_vec_norm(p[i].normal) - 1) < 1e-9) || !(itm_vec_norm(off) < 1e-9) || !(p[i].gap <= margin)) {
            fail_msg("%s: point %d of %d: |n| = %.17g, off the normal by %.3g, gap %.17g", what, i, n,
                     itm_vec_norm(p[i].normal), itm_vec_norm(off), p[i].gap);
        }
        for (int j = 0; j < i; j++) {
            if (p[i].key == p[j].key) {
                fail_msg("%s: points %d and %d have the same key", what, i, j);
            }
        }
    }
}

#endif
