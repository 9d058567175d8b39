// Convex shapes on meshes and height fields.
#include "contact_shapes.h"

enum { MAX = ITM_NARROW_MAX_POINTS };

enum { SHAPES = 6 };

static void make_shapes(ItmGeom* shapes[SHAPES], Random* r)
{
    shapes[0] = make_sphere(0.3);
    shapes[1] = make_capsule(0.2, 0.6);
    shapes[2] = make_box(0.8, 1.2, 0.6);
    shapes[3] = make_cylinder(0.3, 0.5);
    shapes[4] = make_hull(r, 12, 0.5);
    shapes[5] = make_box(2.5, 2.7, 0.5);
}

static ItmGeom* make_field(int n, double slope)
{
    double* heights = malloc((size_t)(n * n) * sizeof *heights);
    for (int i = 0; i < n * n; i++) {
        heights[i] = slope * (i % n);
    }
    ItmGeom* g;
    ItmError error;
    CHECK_OK(itm_geom_create_field(&g, n, n, 1, 1, heights, &error), &error);
    free(heights);
    return g;
}

// Gap of a shape over the plane through the origin with normal n.
static double gap_over_plane(const ItmGeom* shape, const ItmFrame* f, ItmVec3 n)
{
    ItmVec3 d = itm_mat_t_mul_vec(&f->R, itm_vec_neg(n));
    return itm_vec_dot(n, itm_frame_apply(f, itm_geom_support(shape, d)));
}

// A flat floor of triangles is a plane: the same smallest gap, and no normal but its own, wherever a shape lies,
// however it is turned, hovering or sunk in.
static void check_flat(const ItmGeom* floor, ItmVec3 n, ItmVec3 centre, uint64_t seed)
{
    Random r = {seed};
    ItmGeom* shapes[SHAPES];
    make_shapes(shapes, &r);
    for (int k = 0; k < 6000; k++) {
        const ItmGeom* shape = shapes[k % SHAPES];
        ItmFrame f = {{0, 0, 0}, draw_rotation(&r)};
        if (k % 4 == 1) {
            f.R = itm_quat_to_mat(itm_quat_exp(itm_vec(0, 0, draw(&r, -3, 3))));
        } else if (k % 4 == 2) {
            f.R = itm_mat_identity();
        }
        // on the floor but for a little, somewhere near the middle, half of the time on the lines of the grid
        double x = draw(&r, -1.5, 1.5), y = draw(&r, -1.5, 1.5);
        ItmVec3 place = k % 2 == 0 ? itm_vec(x, y, 0) : itm_vec(round(2 * x) / 2, round(2 * y) / 2, 0);
        f.p = itm_vec_add(centre, place);
        double wanted = draw(&r, -0.02, 0.04);
        f.p = itm_vec_axpy(wanted - gap_over_plane(shape, &f, n), n, f.p);
        ItmFrame origin = at(0, 0, 0);
        ItmContactPoint p[MAX];
        int count = itm_narrow_collide(p, MAX, shape, &f, floor, &origin, 0.05);
        check_points(p, count, 0.05, "flat");
        assert_true(count >= 1);
        CHECK_NEAR(smallest_gap(p, count), wanted, 1e-6);  // imposed normals take corners in within 1e-5 of an edge
        for (int i = 0; i < count; i++) {
            CHECK_NEAR(itm_vec_dot(p[i].normal, n), -1, 1e-9);
        }
        if (shape->kind == ITM_GEOM_BOX && k % 4 == 1 && n.z == 1) {
            assert_int_equal(count, 4);
        }
    }
    for (int i = 0; i < SHAPES; i++) {
        itm_geom_destroy(shapes[i]);
    }
}

static void flat_mesh_is_a_plane(void** state)
{
    (void)state;
    ItmGeom* floor = make_floor_mesh(8);
    check_flat(floor, itm_vec(0, 0, 1), itm_vec(0, 0, 0), 1);
    itm_geom_destroy(floor);
}

static void flat_and_sloping_fields_are_planes(void** state)
{
    (void)state;
    ItmGeom *flat = make_field(9, 0), *slope = make_field(9, 0.25);
    check_flat(flat, itm_vec(0, 0, 1), itm_vec(4, 4, 0), 2);
    double l = sqrt(1 + 0.0625);
    check_flat(slope, itm_vec(-0.25 / l, 0, 1 / l), itm_vec(4, 4, 1), 3);
    itm_geom_destroy(flat);
    itm_geom_destroy(slope);
}

// Two sloping sides that meet along y: a roof (fall > 0) or a gutter (fall < 0).
static ItmGeom* make_roof(double fall)
{
    ItmVec3 v[6] = {{-2, -2, -2 * fall}, {0, -2, 0}, {2, -2, -2 * fall},
                    {-2, 2, -2 * fall},  {0, 2, 0},  {2, 2, -2 * fall}};
    int t[12] = {0, 1, 4, 0, 4, 3, 1, 2, 5, 1, 5, 4};
    ItmGeom* g;
    ItmError error;
    CHECK_OK(itm_geom_create_mesh(&g, v, 6, t, 4, &error), &error);
    return g;
}

static void sphere_on_a_ridge_and_in_a_gutter(void** state)
{
    (void)state;
    ItmGeom *roof = make_roof(0.5), *gutter = make_roof(-0.5), *sphere = make_sphere(0.5);
    ItmFrame origin = at(0, 0, 0), over = at(0.05, 0.3, 0.49);
    ItmContactPoint p[MAX];
    int n = itm_narrow_collide(p, MAX, sphere, &over, roof, &origin, 0.1);
    assert_int_equal(n, 1);
    CHECK_NEAR(p[0].gap, sqrt(0.05 * 0.05 + 0.49 * 0.49) - 0.5, 1e-14);
    // in the gutter: both sides, each with its own normal
    double height = 0.5 * sqrt(1.25) + 0.01;
    ItmFrame in = at(0, 0.3, height);
    n = itm_narrow_collide(p, MAX, sphere, &in, gutter, &origin, 0.1);
    assert_int_equal(n, 2);
    for (int i = 0; i < 2; i++) {
        CHECK_NEAR(p[i].gap, 0.01 / sqrt(1.25), 1e-14);
        CHECK_NEAR(fabs(p[i].normal.x), 0.5 / sqrt(1.25), 1e-14);
    }
    assert_true(p[0].key != p[1].key);
    itm_geom_destroy(roof);
    itm_geom_destroy(gutter);
    itm_geom_destroy(sphere);
}

static void box_lies_across_a_ridge_on_it(void** state)
{
    (void)state;
    ItmGeom *roof = make_roof(0.5), *box = make_box(2, 1, 0.2);
    ItmFrame origin = at(0, 0, 0), over = at(0.1, 0.3, 0.101);
    ItmContactPoint p[MAX];
    int n = itm_narrow_collide(p, MAX, box, &over, roof, &origin, 0.01);
    assert_int_equal(n, 2);
    CHECK_NEAR(p[0].gap, 0.001, 1e-14);
    CHECK_NEAR(p[0].normal.z, -1, 1e-12);
    CHECK_NEAR(fabs(p[0].point_a.y - p[1].point_a.y), 1, 1e-12);
    itm_geom_destroy(roof);
    itm_geom_destroy(box);
}

// A closed mesh in the form of a box: the same smallest gap as the box, outside and slightly inside.
static void mesh_of_a_box_is_a_box(void** state)
{
    (void)state;
    Random r = {4};
    ItmGeom *box = make_box(1, 1.5, 2), *mesh, *shapes[SHAPES];
    make_shapes(shapes, &r);
    int t[36], n = 0;
    for (int f = 0; f < 6; f++) {
        const int* c = box->hull.face_corners + box->hull.face_adr[f];
        int six[6] = {c[0], c[1], c[2], c[0], c[2], c[3]};
        memcpy(t + n, six, sizeof six);
        n += 6;
    }
    ItmError error;
    CHECK_OK(itm_geom_create_mesh(&mesh, box->hull.vertices, 8, t, 12, &error), &error);
    int apart = 0, touching = 0;
    for (int k = 0; k < 20000; k++) {
        const ItmGeom* shape = shapes[k % SHAPES];
        ItmFrame fa = draw_frame(&r, 1.5), fb = draw_frame(&r, 0.5);
        ItmContactPoint p[MAX], q[MAX];
        int np = itm_narrow_collide(p, MAX, shape, &fa, box, &fb, 0.2);
        int nq = itm_narrow_collide(q, MAX, shape, &fa, mesh, &fb, 0.2);
        double gap = smallest_gap(p, np);
        check_points(q, nq, 0.2, "mesh of a box");
        if (gap > 1e-6 && gap < 0.2 - 1e-6) {
            apart++;
            CHECK_NEAR(smallest_gap(q, nq), gap, 1e-6);
        } else if (gap <= 1e-6 && gap > -0.02) {
            touching++;
            assert_true(nq > 0);
            assert_true(smallest_gap(q, nq) < 0.02);
        }
    }
    assert_true(apart > 1000 && touching > 100);
    for (int i = 0; i < SHAPES; i++) {
        itm_geom_destroy(shapes[i]);
    }
    itm_geom_destroy(box);
    itm_geom_destroy(mesh);
}

// Something slides over the joints of a floor: its contacts never push back along the floor.
static void nothing_catches_at_the_edges_between_triangles(void** state)
{
    (void)state;
    Random r = {5};
    ItmGeom *floor = make_floor_mesh(10), *shapes[SHAPES];
    make_shapes(shapes, &r);
    ItmFrame origin = at(0, 0, 0);
    for (int s = 0; s < SHAPES; s++) {
        for (int k = 0; k < 4000; k++) {
            ItmFrame f = turned(-3 + 0.0015 * k, 0.3 * sin(0.01 * k), 0, 0.0, 0.0, 0.001 * k);
            f.p.z = -1e-4 - gap_over_plane(shapes[s], &f, itm_vec(0, 0, 1));
            ItmContactPoint p[MAX];
            int n = itm_narrow_collide(p, MAX, shapes[s], &f, floor, &origin, 0.01);
            assert_true(n > 0);
            for (int i = 0; i < n; i++) {
                CHECK_NEAR(p[i].normal.z, -1, 1e-12);
            }
        }
    }
    for (int i = 0; i < SHAPES; i++) {
        itm_geom_destroy(shapes[i]);
    }
    itm_geom_destroy(floor);
}

static void thin_and_broken_triangles_do_no_harm(void** state)
{
    (void)state;
    Random r = {6};
    ItmGeom* shapes[SHAPES];
    make_shapes(shapes, &r);
    for (int k = 0; k < 3000; k++) {
        // slivers, needles, triangles on top of each other
        ItmVec3 v[9];
        double thin = pow(10, -draw(&r, 0, 14));
        for (int i = 0; i < 9; i++) {
            v[i] = draw_vec(&r, 1);
            if (i % 3 == 2) {
                ItmVec3 along = itm_vec_sub(v[i - 1], v[i - 2]);
                v[i] = itm_vec_axpy(thin, v[i], itm_vec_axpy(draw(&r, -0.2, 1.2), along, v[i - 2]));
            }
        }
        int t[9] = {0, 1, 2, 3, 4, 5, k % 2 == 0 ? 6 : 0, k % 2 == 0 ? 7 : 2, k % 2 == 0 ? 8 : 1};
        ItmGeom* mesh;
        ItmError error;
        if (itm_geom_create_mesh(&mesh, v, 9, t, 3, &error) != ITM_OK) {
            continue;
        }
        for (int s = 0; s < SHAPES; s++) {
            ItmFrame f = draw_frame(&r, 1), origin = at(0, 0, 0);
            ItmContactPoint p[MAX];
            int n = itm_narrow_collide(p, MAX, shapes[s], &f, mesh, &origin, 0.1);
            assert_true(n >= 0);
            check_points(p, n, 0.1, "sliver");
        }
        itm_geom_destroy(mesh);
    }
    for (int i = 0; i < SHAPES; i++) {
        itm_geom_destroy(shapes[i]);
    }
}

static void mesh_on_plane_stands_on_its_lowest_vertices(void** state)
{
    (void)state;
    ItmGeom *plane = make_plane(), *floor = make_floor_mesh(6);
    ItmFrame origin = at(0, 0, 0), over = at(0, 0, 0.001);
    ItmContactPoint p[MAX];
    int n = itm_narrow_collide(p, 4, plane, &origin, floor, &over, 0.01);
    assert_int_equal(n, 4);
    check_points(p, n, 0.01, "mesh on plane");
    double reach = 0;
    for (int i = 0; i < n; i++) {
        CHECK_NEAR(p[i].gap, 0.001, 1e-15);
        reach = fmax(reach, itm_vec_norm(itm_vec_sub(p[i].point_a, p[0].point_a)));
    }
    assert_true(reach > 6);  // far corners, not neighbours
    itm_geom_destroy(plane);
    itm_geom_destroy(floor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flat_mesh_is_a_plane),
        cmocka_unit_test(flat_and_sloping_fields_are_planes),
        cmocka_unit_test(sphere_on_a_ridge_and_in_a_gutter),
        cmocka_unit_test(box_lies_across_a_ridge_on_it),
        cmocka_unit_test(mesh_of_a_box_is_a_box),
        cmocka_unit_test(nothing_catches_at_the_edges_between_triangles),
        cmocka_unit_test(thin_and_broken_triangles_do_no_harm),
        cmocka_unit_test(mesh_on_plane_stands_on_its_lowest_vertices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
