// Convex hulls and mass properties of polyhedra.
#include "check.h"

#include "contact/geom.h"

#include <time.h>

static uint64_t random_state = 1;

static double uniform(double lo, double hi)
{
    random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
    return lo + (hi - lo) * (double)(random_state >> 11) / 9007199254740992.0;
}

static ItmVec3 on_sphere(void)
{
    for (;;) {
        ItmVec3 p = {uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)};
        double r = itm_vec_norm(p);
        if (r > 0.1 && r < 1) {
            return itm_vec_scale(1 / r, p);
        }
    }
}

// Every point lies behind every face, every corner of a face in it.
static void check_hull(const ItmHull* hull, const ItmVec3* points, int n, double tol)
{
    for (int f = 0; f < hull->nface; f++) {
        for (int i = 0; i < n; i++) {
            assert_true(itm_vec_dot(hull->normals[f], points[i]) - hull->offsets[f] <= tol);
        }
        for (int k = hull->face_adr[f]; k < hull->face_adr[f + 1]; k++) {
            CHECK_NEAR(itm_vec_dot(hull->normals[f], hull->vertices[hull->face_corners[k]]), hull->offsets[f], tol);
        }
    }
    assert_int_equal(hull->nvertex - hull->neighbour_adr[hull->nvertex] / 2 + hull->nface, 2);
}

static void box_has_six_quadrilaterals(void** state)
{
    (void)state;
    ItmHull hull;
    ItmError error;
    CHECK_OK(itm_hull_build_box(&hull, itm_vec(1, 2, 3), &error), &error);
    assert_int_equal(hull.nvertex, 8);
    assert_int_equal(hull.nface, 6);
    assert_int_equal(hull.ndirection, 3);
    check_hull(&hull, hull.vertices, 8, 1e-15);
    itm_hull_free(&hull);
}

static void grid_points_of_a_cube_give_a_cube_with_eight_corners(void** state)
{
    (void)state;
    ItmVec3 points[125];
    for (int i = 0; i < 125; i++) {
        points[i] = itm_vec(0.1 * (i % 5), 0.1 * (i / 5 % 5), 0.1 * (i / 25));
    }
    for (int turn = 0; turn < 20; turn++) {
        ItmMat3 R = itm_quat_to_mat(itm_quat_exp(itm_vec_scale(0.3 * turn, on_sphere())));
        ItmVec3 turned[125];
        for (int i = 0; i < 125; i++) {
            turned[i] = itm_mat_mul_vec(&R, points[i]);
        }
        ItmHull hull;
        ItmError error;
        CHECK_OK(itm_hull_build(&hull, turned, 125, &error), &error);
        assert_int_equal(hull.nvertex, 8);
        assert_int_equal(hull.nface, 6);
        assert_int_equal(hull.ndirection, 3);
        check_hull(&hull, turned, 125, 1e-14);
        itm_hull_free(&hull);
    }
}

static void prism_with_many_sides_has_two_polygons_and_its_sides(void** state)
{
    (void)state;
    enum { SIDES = 48 };
    ItmVec3 points[2 * SIDES];
    for (int i = 0; i < SIDES; i++) {
        double angle = 2 * ITM_PI * i / SIDES;
        points[2 * i] = itm_vec(cos(angle), sin(angle), -1);
        points[2 * i + 1] = itm_vec(cos(angle), sin(angle), 1);
    }
    ItmHull hull;
    ItmError error;
    CHECK_OK(itm_hull_build(&hull, points, 2 * SIDES, &error), &error);
    assert_int_equal(hull.nvertex, 2 * SIDES);
    assert_int_equal(hull.nface, SIDES + 2);
    itm_hull_free(&hull);
}

static void random_points_lie_inside_their_hull(void** state)
{
    (void)state;
    static ItmVec3 points[2000];
    for (int n = 4; n <= 2000; n = 2 * n + 1) {
        for (int i = 0; i < n; i++) {
            points[i] = itm_vec_scale(n % 3 == 0 ? 1 : cbrt(uniform(0, 1)), on_sphere());
        }
        ItmHull hull;
        ItmError error;
        CHECK_OK(itm_hull_build(&hull, points, n, &error), &error);
        check_hull(&hull, points, n, 1e-8);
        itm_hull_free(&hull);
    }
}

static void degenerate_points_are_refused(void** state)
{
    (void)state;
    ItmVec3 points[8] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0.5, 0.5, 0}, {2, 0, 0}, {0, 2, 0}, {2, 2, 0}};
    ItmVec3 line[5] = {{0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {3, 3, 3}, {4, 4, 4}};
    ItmVec3 same[5] = {{1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {1, 2, 3}};
    ItmHull hull;
    ItmError error;
    assert_int_equal(itm_hull_build(&hull, points, 8, &error), ITM_ERR_INPUT);
    assert_non_null(strstr(error.message, "plane"));
    assert_int_equal(itm_hull_build(&hull, line, 5, &error), ITM_ERR_INPUT);
    assert_non_null(strstr(error.message, "line"));
    assert_int_equal(itm_hull_build(&hull, same, 5, &error), ITM_ERR_INPUT);
    assert_int_equal(itm_hull_build(&hull, points, 3, &error), ITM_ERR_INPUT);
    points[2].y = NAN;
    assert_int_equal(itm_hull_build(&hull, points, 8, &error), ITM_ERR_INPUT);
    points[2].y = INFINITY;
    assert_int_equal(itm_hull_build(&hull, points, 8, &error), ITM_ERR_INPUT);
    itm_hull_free(&hull);
}

static void nearly_flat_or_clustered_points_build_or_are_refused(void** state)
{
    (void)state;
    static ItmVec3 points[200];
    for (int scale = 0; scale < 14; scale++) {
        for (int i = 0; i < 200; i++) {
            ItmVec3 p = on_sphere();
            points[i] = itm_vec(p.x, p.y, p.z * pow(10, -scale));
            if (i % 3 == 0 && i > 0) {
                points[i] = itm_vec_axpy(pow(10, -scale - 2), p, points[i - 1]);
            }
        }
        ItmHull hull;
        ItmError error;
        ItmStatus status = itm_hull_build(&hull, points, 200, &error);
        if (status == ITM_OK) {
            check_hull(&hull, points, 200, 1e-5);
        } else {
            assert_int_equal(status, ITM_ERR_INPUT);
        }
        itm_hull_free(&hull);
    }
}

static void mass_of_a_box_is_the_same_as_box_hull_and_mesh(void** state)
{
    (void)state;
    double edges[3] = {0.2, 0.5, 0.7}, mass;
    ItmVec3 com, shifted[8];
    ItmSym3 inertia;
    ItmError error;
    ItmGeom *box, *hull, *mesh;
    CHECK_OK(itm_geom_create_box(&box, edges, &error), &error);
    for (int i = 0; i < 8; i++) {
        shifted[i] = itm_vec_add(box->hull.vertices[i], itm_vec(3, -2, 1));
    }
    int triangles[36], n = 0;
    for (int f = 0; f < 6; f++) {
        const int* c = box->hull.face_corners + box->hull.face_adr[f];
        int split[6] = {c[0], c[1], c[2], c[0], c[2], c[3]};
        memcpy(triangles + n, split, sizeof split);
        n += 6;
    }
    CHECK_OK(itm_geom_create_hull(&hull, shifted, 8, &error), &error);
    CHECK_OK(itm_geom_create_mesh(&mesh, shifted, 8, triangles, 12, &error), &error);
    assert_true(mesh->mesh.is_closed);
    const ItmGeom* all[3] = {box, hull, mesh};
    for (int k = 0; k < 3; k++) {
        CHECK_OK(itm_geom_compute_mass(&mass, &com, &inertia, all[k], 1000, &error), &error);
        CHECK_NEAR(mass, 70, 1e-12);
        CHECK_NEAR(com.x, k == 0 ? 0 : 3, 1e-14);
        CHECK_NEAR(inertia.xx, 70 * (0.25 + 0.49) / 12, 1e-12);
        CHECK_NEAR(inertia.yy, 70 * (0.04 + 0.49) / 12, 1e-12);
        CHECK_NEAR(inertia.zz, 70 * (0.04 + 0.25) / 12, 1e-12);
        CHECK_NEAR(inertia.xy, 0, 1e-12);
    }
    // inverted, then open
    ItmGeom* bad;
    for (int t = 0; t < 12; t++) {
        int swap = triangles[3 * t];
        triangles[3 * t] = triangles[3 * t + 1];
        triangles[3 * t + 1] = swap;
    }
    CHECK_OK(itm_geom_create_mesh(&bad, shifted, 8, triangles, 12, &error), &error);
    assert_int_equal(itm_geom_compute_mass(&mass, &com, &inertia, bad, 1000, &error), ITM_ERR_INPUT);
    assert_non_null(strstr(error.message, "inwards"));
    itm_geom_destroy(bad);
    CHECK_OK(itm_geom_create_mesh(&bad, shifted, 8, triangles, 11, &error), &error);
    assert_int_equal(itm_geom_compute_mass(&mass, &com, &inertia, bad, 1000, &error), ITM_ERR_INPUT);
    assert_non_null(strstr(error.message, "closed"));
    itm_geom_destroy(bad);
    itm_geom_destroy(box);
    itm_geom_destroy(hull);
    itm_geom_destroy(mesh);
}

static void mass_of_a_capsule_is_that_of_the_shape_table(void** state)
{
    (void)state;
    double r = 0.1, l = 0.3, mass, want_mass;
    ItmVec3 com;
    ItmSym3 inertia, want;
    ItmError error;
    ItmGeom* geom;
    CHECK_OK(itm_geom_create_capsule(&geom, r, l, &error), &error);
    CHECK_OK(itm_geom_compute_mass(&mass, &com, &inertia, geom, 800, &error), &error);
    double ball = 800 * 4.0 / 3.0 * ITM_PI * r * r * r, middle = 800 * ITM_PI * r * r * l;
    want_mass = ball + middle;
    double arm = l / 2 + 3.0 / 8.0 * r;
    want.zz = middle * r * r / 2 + ball * 2.0 / 5.0 * r * r;
    want.xx = middle * (3 * r * r + l * l) / 12 + ball * (0.4 - 9.0 / 64.0) * r * r + ball * arm * arm;
    CHECK_NEAR(mass, want_mass, 1e-13 * want_mass);
    CHECK_NEAR(inertia.xx, want.xx, 1e-13 * want.xx);
    CHECK_NEAR(inertia.zz, want.zz, 1e-13 * want.zz);
    itm_geom_destroy(geom);
}

static void aabb_touches_the_support_points(void** state)
{
    (void)state;
    double edges[3] = {0.3, 0.4, 0.5};
    ItmGeom* geoms[4];
    ItmError error;
    CHECK_OK(itm_geom_create_box(&geoms[0], edges, &error), &error);
    CHECK_OK(itm_geom_create_sphere(&geoms[1], 0.2, &error), &error);
    CHECK_OK(itm_geom_create_capsule(&geoms[2], 0.2, 0.4, &error), &error);
    CHECK_OK(itm_geom_create_cylinder(&geoms[3], 0.2, 0.4, &error), &error);
    for (int k = 0; k < 400; k++) {
        const ItmGeom* g = geoms[k % 4];
        ItmFrame f = {on_sphere(), itm_quat_to_mat(itm_quat_exp(itm_vec_scale(uniform(0, 3), on_sphere())))};
        ItmAabb box = itm_geom_compute_aabb(g, &f, 0);
        for (int axis = 0; axis < 3; axis++) {
            ItmVec3 d = itm_vec(axis == 0, axis == 1, axis == 2);
            ItmVec3 p = itm_frame_apply(&f, itm_geom_support(g, itm_mat_t_mul_vec(&f.R, d)));
            CHECK_NEAR(itm_vec_get(box.hi, axis), itm_vec_get(p, axis), 1e-14);
        }
    }
    for (int k = 0; k < 4; k++) {
        itm_geom_destroy(geoms[k]);
    }
}

// Points on a sphere are all corners: the time must grow little faster than their number. 20,000 took minutes with work that grows
// with the square (1.6e9 pairs of faces and of edges), and take a third of a second.
static void many_points_on_a_sphere_take_seconds(void** state)
{
    (void)state;
    enum { N = 20000, TOO_MANY = 40000 };
    ItmVec3* points = malloc(TOO_MANY * sizeof *points);
    for (int i = 0; i < TOO_MANY; i++) {
        points[i] = on_sphere();
    }
    ItmHull hull;
    ItmError error;
    clock_t start = clock();
    CHECK_OK(itm_hull_build(&hull, points, N, &error), &error);
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 20.0);
    assert_int_equal(hull.nvertex, N);
    assert_int_equal(hull.nvertex - hull.neighbour_adr[hull.nvertex] / 2 + hull.nface, 2);
    itm_hull_free(&hull);
    assert_int_equal(itm_hull_build(&hull, points, TOO_MANY, &error), ITM_ERR_INPUT);
    assert_non_null(strstr(error.message, "at most 32767 corners, not 40000"));
    free(points);
}

static void bad_sizes_are_refused(void** state)
{
    (void)state;
    ItmGeom* geom;
    ItmError error;
    double edges[3] = {1, -1, 1}, heights[4] = {0, 0, 0, NAN};
    ItmVec3 vertices[3] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}};
    int out_of_range[3] = {0, 1, 3}, line[3] = {0, 1, 2};
    assert_int_equal(itm_geom_create_box(&geom, edges, &error), ITM_ERR_INPUT);
    assert_int_equal(itm_geom_create_sphere(&geom, 0, &error), ITM_ERR_INPUT);
    assert_int_equal(itm_geom_create_sphere(&geom, NAN, &error), ITM_ERR_INPUT);
    assert_int_equal(itm_geom_create_cylinder(&geom, 1, INFINITY, &error), ITM_ERR_INPUT);
    assert_int_equal(itm_geom_create_capsule(&geom, 1, -1, &error), ITM_ERR_INPUT);
    assert_int_equal(itm_geom_create_field(&geom, 2, 2, 1, 1, heights, &error), ITM_ERR_INPUT);
    assert_int_equal(itm_geom_create_field(&geom, 1, 2, 1, 1, heights, &error), ITM_ERR_INPUT);
    assert_int_equal(itm_geom_create_mesh(&geom, vertices, 3, out_of_range, 1, &error), ITM_ERR_INPUT);
    assert_int_equal(itm_geom_create_mesh(&geom, vertices, 3, line, 1, &error), ITM_ERR_INPUT);
    assert_non_null(strstr(error.message, "area"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(box_has_six_quadrilaterals),
        cmocka_unit_test(grid_points_of_a_cube_give_a_cube_with_eight_corners),
        cmocka_unit_test(prism_with_many_sides_has_two_polygons_and_its_sides),
        cmocka_unit_test(random_points_lie_inside_their_hull),
        cmocka_unit_test(degenerate_points_are_refused),
        cmocka_unit_test(nearly_flat_or_clustered_points_build_or_are_refused),
        cmocka_unit_test(mass_of_a_box_is_the_same_as_box_hull_and_mesh),
        cmocka_unit_test(mass_of_a_capsule_is_that_of_the_shape_table),
        cmocka_unit_test(aabb_touches_the_support_points),
        cmocka_unit_test(many_points_on_a_sphere_take_seconds),
        cmocka_unit_test(bad_sizes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
