// Contacts of pairs with closed forms, and what must hold for any pair.
#include "contact_shapes.h"

enum { MAX = ITM_NARROW_MAX_POINTS };

static int collide(ItmContactPoint* p, const ItmGeom* a, ItmFrame fa, const ItmGeom* b, ItmFrame fb, double margin)
{
    int n = itm_narrow_collide(p, MAX, a, &fa, b, &fb, margin);
    check_points(p, n, margin, "collide");
    return n;
}

// ---------------------------------------------------------------------------- on a plane

static void box_on_plane_touches_with_four_corners(void** state)
{
    (void)state;
    ItmGeom *plane = make_plane(), *box = make_box(2, 4, 6);
    ItmContactPoint p[MAX];
    assert_int_equal(collide(p, plane, at(0, 0, 1), box, at(5, 5, 4 - 1e-3), 0.01), 4);
    for (int i = 0; i < 4; i++) {
        CHECK_NEAR(p[i].gap, -1e-3, 1e-15);
        CHECK_NEAR(p[i].normal.z, 1, 0);
        CHECK_NEAR(p[i].point_a.z, 1, 1e-15);
        CHECK_NEAR(fabs(p[i].point_b.x - 5), 1, 1e-15);
    }
    // tilted about y by 0.01 rad: two corners lower by 0.01
    int n = collide(p, plane, at(0, 0, 0), box, turned(0, 0, 3, 0, 0.01, 0), 0.1);
    assert_int_equal(n, 4);
    CHECK_NEAR(smallest_gap(p, n), 3 - 3 * cos(0.01) - sin(0.01), 1e-15);
    assert_int_equal(collide(p, plane, at(0, 0, 0), box, turned(0, 0, 3, 0, 0.01, 0), 0.001), 2);
    assert_int_equal(collide(p, plane, at(0, 0, 0), box, at(0, 0, 3.2), 0.1), 0);
    itm_geom_destroy(plane);
    itm_geom_destroy(box);
}

static void cylinder_on_plane_lies_on_a_line_and_stands_on_a_disc(void** state)
{
    (void)state;
    ItmGeom *plane = make_plane(), *cylinder = make_cylinder(0.5, 2);
    ItmContactPoint p[MAX];
    assert_int_equal(collide(p, plane, at(0, 0, 0), cylinder, turned(0, 0, 0.5, ITM_PI / 2, 0, 0), 0.01), 2);
    CHECK_NEAR(p[0].gap, 0, 1e-15);
    CHECK_NEAR(fabs(p[0].point_b.y - p[1].point_b.y), 2, 1e-14);
    int n = collide(p, plane, at(0, 0, 0), cylinder, at(0, 0, 1), 0.01);
    assert_true(n >= 3);
    // tilted: the lowest point of the rim is exact
    for (int k = 1; k < 40; k++) {
        double tilt = 0.02 * k;
        ItmFrame f = {{0, 0, 1}, itm_quat_to_mat(itm_quat_exp(itm_vec(tilt * cos(k), tilt * sin(k), 0)))};
        n = collide(p, plane, at(0, 0, 0), cylinder, f, 0.01);
        CHECK_NEAR(smallest_gap(p, n), 1 - cos(tilt) - 0.5 * sin(tilt), 1e-14);
    }
    itm_geom_destroy(plane);
    itm_geom_destroy(cylinder);
}

static void sphere_and_capsule_on_plane(void** state)
{
    (void)state;
    ItmGeom *plane = make_plane(), *sphere = make_sphere(0.5), *capsule = make_capsule(0.25, 1);
    ItmContactPoint p[MAX];
    assert_int_equal(collide(p, plane, at(0, 0, 0), sphere, at(1, 2, 0.4), 0), 1);
    CHECK_NEAR(p[0].gap, -0.1, 1e-15);
    CHECK_NEAR(p[0].point_a.x, 1, 1e-15);
    assert_int_equal(collide(p, capsule, turned(0, 0, 0.3, 0, ITM_PI / 2, 0), plane, at(0, 0, 0), 0.1), 2);
    CHECK_NEAR(p[0].gap, 0.05, 1e-15);
    CHECK_NEAR(p[0].normal.z, -1, 0);
    itm_geom_destroy(plane);
    itm_geom_destroy(sphere);
    itm_geom_destroy(capsule);
}

// ---------------------------------------------------------------------------- box and box

static void box_on_box_face_to_face(void** state)
{
    (void)state;
    ItmGeom *big = make_box(2, 2, 2), *small = make_box(1, 1, 1);
    ItmContactPoint p[MAX];
    for (int k = -3; k <= 3; k++) {
        double gap = 1e-4 * k;
        assert_int_equal(collide(p, big, at(0, 0, 0), small, at(0.1, 0.2, 1.5 + gap), 0.01), 4);
        for (int i = 0; i < 4; i++) {
            CHECK_NEAR(p[i].gap, gap, 1e-15);
            CHECK_NEAR(p[i].normal.z, 1, 1e-15);
        }
    }
    // half over the edge: two corners and two crossings
    assert_int_equal(collide(p, big, at(0, 0, 0), small, at(1, 0, 1.5), 0.01), 4);
    for (int i = 0; i < 4; i++) {
        assert_true(p[i].point_a.x < 1 + 1e-12 && p[i].point_a.x > 0.5 - 1e-12);
    }
    // equal boxes, exactly aligned
    assert_int_equal(collide(p, big, at(0, 0, 0), big, at(0, 0, 2), 0.01), 4);
    itm_geom_destroy(big);
    itm_geom_destroy(small);
}

static void box_on_box_turned_by_45_degrees_makes_an_octagon(void** state)
{
    (void)state;
    ItmGeom* box = make_box(1, 1, 1);
    ItmContactPoint p[MAX];
    assert_int_equal(collide(p, box, at(0, 0, 0), box, turned(0, 0, 1.001, 0, 0, ITM_PI / 4), 0.01), 8);
    for (int i = 0; i < 8; i++) {
        CHECK_NEAR(p[i].gap, 0.001, 1e-14);
        double x = fabs(p[i].point_a.x), y = fabs(p[i].point_a.y);
        CHECK_NEAR(fmax(x, y), 0.5, 1e-14);
        CHECK_NEAR(fmin(x, y), sqrt(0.5) - 0.5, 1e-14);
    }
    // four of the eight, well apart
    ItmFrame fa = at(0, 0, 0), fb = turned(0, 0, 1.001, 0, 0, ITM_PI / 4);
    assert_int_equal(itm_narrow_collide(p, 4, box, &fa, box, &fb, 0.01), 4);
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < i; j++) {
            assert_true(itm_vec_norm(itm_vec_sub(p[i].point_a, p[j].point_a)) > 0.5);
        }
    }
    itm_geom_destroy(box);
}

static void crossed_edges_touch_in_one_point(void** state)
{
    (void)state;
    ItmGeom* box = make_box(1, 1, 1);
    ItmContactPoint p[MAX];
    // two roof ridges, along x below and along y above
    double ridge = sqrt(0.5);
    for (int k = -3; k <= 3; k++) {
        double gap = 0.01 * k;
        ItmFrame below = turned(0, 0, 0, ITM_PI / 4, 0, 0), above = turned(0.1, 0.2, 2 * ridge + gap, 0, ITM_PI / 4, 0);
        assert_int_equal(collide(p, box, below, box, above, 0.1), 1);
        CHECK_NEAR(p[0].gap, gap, 1e-14);
        CHECK_NEAR(p[0].normal.z, 1, 1e-14);
        CHECK_NEAR(p[0].point_a.x, 0.1, 1e-12);
        CHECK_NEAR(p[0].point_a.y, 0, 1e-12);
        CHECK_NEAR(p[0].point_a.z, ridge, 1e-12);
        CHECK_NEAR(p[0].point_b.y, 0, 1e-12);
    }
    // both along x: a line
    ItmFrame below = turned(0, 0, 0, ITM_PI / 4, 0, 0), above = turned(0.3, 0, 2 * ridge + 0.01, ITM_PI / 4, 0, 0);
    assert_int_equal(collide(p, box, below, box, above, 0.1), 2);
    CHECK_NEAR(p[0].gap, 0.01, 1e-14);
    CHECK_NEAR(fabs(p[0].point_a.x - p[1].point_a.x), 0.7, 1e-12);
    itm_geom_destroy(box);
}

// Two boxes of a load that slides off a tipper, 20 mm apart and turned against each other by 2e-6 rad: products of their edges have few
// digits.
static void boxes_with_nearly_parallel_edges_have_a_unit_normal(void** state)
{
    (void)state;
    ItmGeom* box = make_box(0.5, 0.4, 0.4);
    ItmContactPoint p[MAX];
    ItmQuat q_a = {0.8954489149571352, 6.138330766871425e-09, -0.44516428507023037, -1.2374660900669552e-08};
    ItmQuat q_b = {0.8954497376402801, 8.395257454639018e-09, -0.44516263023748165, -1.710779498751478e-08};
    ItmFrame a = {{-2.055898309244102, 0.20999999667186933, 1.6994649492123448}, itm_quat_to_mat(q_a)};
    ItmFrame b = {{-2.3876383236989347, -0.2099999987304391, 1.92397143760782}, itm_quat_to_mat(q_b)};
    int n = collide(p, box, a, box, b, 0.03);
    assert_true(n >= 1);
    // 0.21 + 0.21 - 0.4 m, less 5e-9 m of tilt
    CHECK_NEAR(smallest_gap(p, n), 0.02, 1e-8);
    CHECK_NEAR(p[0].normal.y, -1.0, 2e-8);  // edges 3e-6 m above each other tilt it by 1.5e-4 rad
    itm_geom_destroy(box);
}

static void corner_over_corner_is_apart_by_the_distance_of_the_corners(void** state)
{
    (void)state;
    ItmGeom* box = make_box(1, 1, 1);
    ItmContactPoint p[MAX];
    assert_int_equal(collide(p, box, at(0, 0, 0), box, at(1.01, 1.02, 1.03), 0.1), 1);
    CHECK_NEAR(p[0].gap, sqrt(1e-4 + 4e-4 + 9e-4), 1e-14);
    CHECK_NEAR(p[0].point_a.z, 0.5, 1e-14);
    itm_geom_destroy(box);
}

// ---------------------------------------------------------------------------- capsules and cylinders

static void capsules_parallel_and_crossed(void** state)
{
    (void)state;
    ItmGeom *a = make_capsule(0.1, 2), *b = make_capsule(0.2, 1);
    ItmContactPoint p[MAX];
    assert_int_equal(collide(p, a, at(0, 0, 0), b, at(0.31, 0, 0.8), 0.05), 2);
    CHECK_NEAR(p[0].gap, 0.01, 1e-14);
    CHECK_NEAR(p[0].normal.x, 1, 1e-14);
    CHECK_NEAR(fabs(p[0].point_a.z - p[1].point_a.z), 0.7, 1e-12);
    assert_int_equal(collide(p, a, at(0, 0, 0), b, turned(0.29, 0, 0.3, 0.7, 0, 0), 0.05), 1);
    CHECK_NEAR(p[0].gap, -0.01, 1e-14);
    CHECK_NEAR(p[0].point_a.z, 0.3, 1e-14);
    // end to end
    assert_int_equal(collide(p, a, at(0, 0, 0), b, at(0, 0, 1.82), 0.05), 1);
    CHECK_NEAR(p[0].gap, 0.02, 1e-14);
    itm_geom_destroy(a);
    itm_geom_destroy(b);
}

static void capsule_lies_on_box_with_two_points(void** state)
{
    (void)state;
    ItmGeom *box = make_box(2, 2, 2), *capsule = make_capsule(0.1, 1), *cylinder = make_cylinder(0.1, 1);
    const ItmGeom* round[2] = {capsule, cylinder};
    ItmContactPoint p[MAX];
    for (int k = 0; k < 2; k++) {
        for (int i = -2; i <= 2; i++) {
            double gap = 1e-3 * i;
            int n = collide(p, box, at(0, 0, 0), round[k], turned(0.2, 0.1, 1.1 + gap, 0, ITM_PI / 2, 0), 0.05);
            assert_int_equal(n, 2);
            CHECK_NEAR(p[0].gap, gap, 1e-13);
            CHECK_NEAR(p[1].gap, gap, 1e-13);
            CHECK_NEAR(fabs(p[0].point_a.x - p[1].point_a.x), 1, 1e-9);
        }
        // one end over the edge: the line ends at the edge
        int n = collide(p, box, at(0, 0, 0), round[k], turned(0.9, 0, 1.101, 0, ITM_PI / 2, 0), 0.05);
        assert_int_equal(n, 2);
        CHECK_NEAR(fmax(p[0].point_a.x, p[1].point_a.x), 1, 1e-9);
    }
    itm_geom_destroy(box);
    itm_geom_destroy(capsule);
    itm_geom_destroy(cylinder);
}

static void cylinder_stands_on_box_and_on_cylinder(void** state)
{
    (void)state;
    ItmGeom *box = make_box(2, 2, 2), *cylinder = make_cylinder(0.3, 1), *wide = make_cylinder(0.5, 2);
    ItmContactPoint p[MAX];
    const ItmGeom* under[2] = {box, wide};
    for (int k = 0; k < 2; k++) {
        for (int i = -2; i <= 2; i++) {
            int n = collide(p, under[k], at(0, 0, 0), cylinder, at(0.1, 0, 1.5 + 1e-3 * i), 0.01);
            assert_true(n >= 3);
            for (int j = 0; j < n; j++) {
                CHECK_NEAR(p[j].gap, 1e-3 * i, 1e-12);
            }
        }
    }
    // lying across each other
    int n = collide(p, wide, turned(0, 0, 0, ITM_PI / 2, 0, 0), cylinder, turned(0, 0, 0.81, 0, ITM_PI / 2, 0), 0.1);
    assert_int_equal(n, 1);
    CHECK_NEAR(p[0].gap, 0.01, 1e-12);
    // lying along each other
    n = collide(p, wide, turned(0, 0, 0, ITM_PI / 2, 0, 0), cylinder, turned(0, 0, 0.81, ITM_PI / 2, 0, 0), 0.1);
    assert_int_equal(n, 2);
    CHECK_NEAR(p[0].gap, 0.01, 1e-12);
    CHECK_NEAR(fabs(p[0].point_a.y - p[1].point_a.y), 1, 1e-6);
    itm_geom_destroy(box);
    itm_geom_destroy(cylinder);
    itm_geom_destroy(wide);
}

static void rim_on_edge_has_the_exact_gap(void** state)
{
    (void)state;
    // cylinder with its axis along the world's x, so that its end disc faces the box; the box turned by 45 degrees about
    // x shows a ridge along x at z = sqrt(1/2): the lateral line meets the ridge along x
    ItmGeom *box = make_box(1, 1, 1), *cylinder = make_cylinder(0.3, 1);
    ItmContactPoint p[MAX];
    for (int k = -2; k <= 2; k++) {
        ItmFrame ridge = turned(0, 0, 0, ITM_PI / 4, 0, 0),
                 lying = turned(0, 0, sqrt(0.5) + 0.3 + 0.01 * k, ITM_PI / 2, 0, 0);
        int n = collide(p, box, ridge, cylinder, lying, 0.1);
        assert_int_equal(n, 1);
        CHECK_NEAR(p[0].gap, 0.01 * k, 1e-12);
        CHECK_NEAR(p[0].normal.z, 1, 1e-9);
    }
    itm_geom_destroy(box);
    itm_geom_destroy(cylinder);
}

static void sphere_inside_box_and_hull_leaves_by_the_nearest_face(void** state)
{
    (void)state;
    ItmGeom *sphere = make_sphere(0.1), *box = make_box(2, 4, 6), *hull;
    ItmError error;
    CHECK_OK(itm_geom_create_hull(&hull, box->hull.vertices, 8, &error), &error);
    ItmContactPoint p[MAX];
    const ItmGeom* solids[2] = {box, hull};
    for (int k = 0; k < 2; k++) {
        assert_int_equal(collide(p, sphere, at(0.8, 0.1, 0.2), solids[k], at(0, 0, 0), 0), 1);
        CHECK_NEAR(p[0].gap, -0.3, 1e-14);
        CHECK_NEAR(p[0].normal.x, -1, 1e-14);
        assert_int_equal(collide(p, sphere, at(0, 0, 0), solids[k], at(0, 0, 0), 0), 1);
        CHECK_NEAR(p[0].gap, -1.1, 1e-14);
    }
    itm_geom_destroy(sphere);
    itm_geom_destroy(box);
    itm_geom_destroy(hull);
}

// ---------------------------------------------------------------------------- any pair

enum { SHAPES = 8 };

static void make_shapes(ItmGeom* shapes[SHAPES], Random* r)
{
    shapes[0] = make_sphere(0.3);
    shapes[1] = make_capsule(0.2, 0.6);
    shapes[2] = make_box(0.4, 0.6, 0.8);
    shapes[3] = make_cylinder(0.3, 0.5);
    shapes[4] = make_hull(r, 12, 0.5);
    shapes[5] = make_hull(r, 80, 0.5);
    shapes[6] = make_box(0.5, 0.5, 0.5);
    shapes[7] = make_plane();
}

static void free_shapes(ItmGeom* shapes[SHAPES])
{
    for (int i = 0; i < SHAPES; i++) {
        itm_geom_destroy(shapes[i]);
    }
}

static double gap_of(const ItmGeom* a, const ItmFrame* fa, const ItmGeom* b, const ItmFrame* fb, double margin)
{
    ItmContactPoint p[MAX];
    int n = itm_narrow_collide(p, MAX, a, fa, b, fb, margin);
    assert_true(n >= 0);
    check_points(p, n, margin, "gap_of");
    return smallest_gap(p, n);
}

static void swapping_the_shapes_turns_the_contacts_round(void** state)
{
    (void)state;
    Random r = {7};
    ItmGeom* shapes[SHAPES];
    make_shapes(shapes, &r);
    for (int k = 0; k < 8000; k++) {
        const ItmGeom *a = shapes[k % SHAPES], *b = shapes[k / SHAPES % (SHAPES - 1)];
        ItmFrame fa = draw_frame(&r, 0.5), fb = draw_frame(&r, 0.5);
        ItmContactPoint p[MAX], q[MAX];
        int n = itm_narrow_collide(p, MAX, a, &fa, b, &fb, 0.2);
        int m = itm_narrow_collide(q, MAX, b, &fb, a, &fa, 0.2);
        if (n == 0 || m == 0) {
            assert_int_equal(n, m);
            continue;
        }
        assert_true(n > 0 && m > 0);
        // deep curved overlaps may settle in another local way out; all others agree
        bool is_curved =
            a->kind == ITM_GEOM_CYLINDER || b->kind == ITM_GEOM_CYLINDER || b == shapes[5] || a == shapes[5];
        double gap = smallest_gap(p, n);
        if (gap > -0.02 || !is_curved) {
            CHECK_NEAR(gap, smallest_gap(q, m), 2e-8);  // the deepest point may be missed by 1e-8 of the size
        }
    }
    free_shapes(shapes);
}

static void moving_both_shapes_changes_nothing(void** state)
{
    (void)state;
    Random r = {8};
    ItmGeom* shapes[SHAPES];
    make_shapes(shapes, &r);
    for (int k = 0; k < 8000; k++) {
        const ItmGeom *a = shapes[k % SHAPES], *b = shapes[k / SHAPES % (SHAPES - 1)];
        ItmFrame fa = draw_frame(&r, 0.5), fb = draw_frame(&r, 0.5);
        ItmFrame move = draw_frame(&r, 10);
        ItmFrame ga = {itm_frame_apply(&move, fa.p), itm_mat_mul(&move.R, &fa.R)};
        ItmFrame gb = {itm_frame_apply(&move, fb.p), itm_mat_mul(&move.R, &fb.R)};
        double gap = gap_of(a, &fa, b, &fb, 0.2), moved = gap_of(a, &ga, b, &gb, 0.2);
        if (gap < 0.19) {
            CHECK_NEAR(moved, gap, 2e-8);  // as above
        }
    }
    free_shapes(shapes);
}

// A shape moved by d changes its gap by at most |d|: distance and shortest way out are both 1-Lipschitz.
static void gap_changes_no_faster_than_the_shapes_move(void** state)
{
    (void)state;
    Random r = {9};
    ItmGeom* shapes[SHAPES];
    make_shapes(shapes, &r);
    double worst = 0;
    for (int k = 0; k < 1500; k++) {
        const ItmGeom *a = shapes[k % SHAPES], *b = shapes[k / SHAPES % (SHAPES - 1)];
        ItmFrame fa = draw_frame(&r, 0.2), fb = draw_frame(&r, 0.2);
        if (a->kind == ITM_GEOM_PLANE) {
            fa.p = itm_vec_add(fb.p, itm_vec_scale(-0.2, fa.R.z));
        }
        // fly apart through the touching state
        ItmVec3 step = itm_vec_scale(0.01, itm_vec_sub(draw_vec(&r, 1), fb.p));
        double last = NAN;
        for (int i = 0; i < 60; i++) {
            double gap = gap_of(a, &fa, b, &fb, 0.5);
            // only shallow overlaps: deep ones of curved shapes may change their local way out
            if (isfinite(gap) && isfinite(last) && fmin(gap, last) > -0.05) {
                worst = fmax(worst, fabs(gap - last) - itm_vec_norm(step));
            }
            last = gap;
            fb.p = itm_vec_add(fb.p, step);
        }
    }
    CHECK_NEAR(fmax(worst, 0), 0, 2e-8);  // as above
    free_shapes(shapes);
}

static void keys_stay_while_a_stack_creeps(void** state)
{
    (void)state;
    ItmGeom *box = make_box(1, 1, 1), *cylinder = make_cylinder(0.4, 1), *floor = make_floor_mesh(4);
    const ItmGeom* pairs[3][2] = {{box, box}, {box, cylinder}, {box, floor}};
    Random r = {10};
    for (int pair = 0; pair < 3; pair++) {
        ItmContactPoint p[MAX], q[MAX];
        double height = pair == 2 ? 0.5 : 1;
        bool is_floor = pair == 2;
        ItmFrame fa = is_floor ? at(0, 0, height) : at(0, 0, 0), fb = is_floor ? at(0, 0, 0) : at(0, 0, height);
        int n = itm_narrow_collide(p, MAX, pairs[pair][0], &fa, pairs[pair][1], &fb, 0.01);
        assert_true(n >= 3);
        for (int k = 0; k < 1000; k++) {
            ItmVec3 jitter = draw_vec(&r, 1e-7);
            ItmVec3 turn = draw_vec(&r, pair == 1 ? 1e-10 : 1e-7);
            ItmFrame fc = fb;
            fc.p = itm_vec_add(fc.p, jitter);
            fc.R = itm_quat_to_mat(itm_quat_exp(turn));
            int m = itm_narrow_collide(q, MAX, pairs[pair][0], &fa, pairs[pair][1], &fc, 0.01);
            assert_int_equal(m, n);
            for (int i = 0; i < n; i++) {
                assert_true(p[i].key == q[i].key);
                assert_true(itm_vec_norm(itm_vec_sub(p[i].point_a, q[i].point_a)) < 1e-6);
            }
        }
    }
    itm_geom_destroy(box);
    itm_geom_destroy(cylinder);
    itm_geom_destroy(floor);
}

static void same_call_gives_the_same_bits(void** state)
{
    (void)state;
    Random r = {11};
    ItmGeom* shapes[SHAPES];
    make_shapes(shapes, &r);
    for (int k = 0; k < 2000; k++) {
        const ItmGeom *a = shapes[k % SHAPES], *b = shapes[k / SHAPES % (SHAPES - 1)];
        ItmFrame fa = draw_frame(&r, 0.5), fb = draw_frame(&r, 0.5);
        ItmContactPoint p[MAX] = {0}, q[MAX] = {0};
        int n = itm_narrow_collide(p, MAX, a, &fa, b, &fb, 0.2);
        assert_int_equal(itm_narrow_collide(q, MAX, a, &fa, b, &fb, 0.2), n);
        assert_memory_equal(p, q, sizeof p);
    }
    free_shapes(shapes);
}

// ---------------------------------------------------------------------------- hostile

static void broken_poses_are_reported(void** state)
{
    (void)state;
    Random r = {12};
    ItmGeom* shapes[SHAPES];
    make_shapes(shapes, &r);
    ItmContactPoint p[MAX];
    for (int k = 0; k < SHAPES * (SHAPES - 1); k++) {
        const ItmGeom *a = shapes[k % SHAPES], *b = shapes[k / SHAPES];
        ItmFrame good = at(0, 0, 0), bad = at(0, NAN, 0), far = at(INFINITY, 0, 0), twisted = at(0, 0, 0);
        twisted.R.y.z = NAN;
        assert_int_equal(itm_narrow_collide(p, MAX, a, &good, b, &bad, 0.1), ITM_NARROW_INVALID);
        assert_int_equal(itm_narrow_collide(p, MAX, a, &far, b, &good, 0.1), ITM_NARROW_INVALID);
        assert_int_equal(itm_narrow_collide(p, MAX, a, &good, b, &twisted, 0.1), ITM_NARROW_INVALID);
        assert_int_equal(itm_narrow_collide(p, MAX, a, &good, b, &good, NAN), ITM_NARROW_INVALID);
    }
    assert_int_equal(itm_narrow_collide(p, MAX, shapes[7], &(ItmFrame){{0, 0, 0}, itm_mat_identity()}, shapes[7],
                                        &(ItmFrame){{0, 0, 0}, itm_mat_identity()}, 0),
                     ITM_NARROW_UNSUPPORTED);
    free_shapes(shapes);
}

// Same place, same axes, shifted by nothing, by rounding, or by a little along an axis; zero rotation matrices too.
static void coincident_and_degenerate_poses_give_finite_answers(void** state)
{
    (void)state;
    Random r = {13};
    ItmGeom* shapes[SHAPES];
    make_shapes(shapes, &r);
    double shifts[7] = {0, 1e-300, 1e-16, 1e-12, 1e-8, 1e-4, 0.1};
    for (int k = 0; k < SHAPES * (SHAPES - 1); k++) {
        const ItmGeom *a = shapes[k % SHAPES], *b = shapes[k / SHAPES];
        for (int axis = 0; axis < 3; axis++) {
            for (int i = 0; i < 7; i++) {
                for (int turn = 0; turn < 4; turn++) {
                    double angle = turn * ITM_PI / 4;
                    ItmFrame fa = at(0, 0, 0);
                    ItmFrame fb =
                        turned(axis == 0 ? shifts[i] : 0, axis == 1 ? shifts[i] : 0, axis == 2 ? shifts[i] : 0,
                               axis == 0 ? angle : 0, axis == 1 ? angle : 0, axis == 2 ? angle : 0);
                    ItmContactPoint p[MAX];
                    int n = itm_narrow_collide(p, MAX, a, &fa, b, &fb, 0.01);
                    assert_true(n > 0);
                    check_points(p, n, 0.01, "coincident");
                }
            }
        }
        ItmFrame flat = {{0, 0, 0}, {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}}, good = at(0.1, 0, 0);
        ItmContactPoint p[MAX];
        int n = itm_narrow_collide(p, MAX, a, &flat, b, &good, 0.01);
        assert_true(n >= ITM_NARROW_INVALID);
    }
    free_shapes(shapes);
}

static void extreme_ratios_of_size_work(void** state)
{
    (void)state;
    ItmGeom *tiny = make_box(1e-4, 1e-4, 1e-4), *huge = make_box(1e3, 1e3, 1e3), *disc = make_cylinder(1, 1e-4);
    ItmGeom *needle = make_capsule(1e-4, 1), *plate = make_box(10, 10, 1e-3);
    ItmContactPoint p[MAX];
    int n = collide(p, huge, at(0, 0, -500), tiny, at(3, 4, 5e-5), 1e-5);
    assert_int_equal(n, 4);
    CHECK_NEAR(smallest_gap(p, n), 0, 1e-12);
    n = collide(p, disc, at(0, 0, 5e-5), huge, at(0, 0, -500), 1e-5);
    assert_true(n >= 3);
    CHECK_NEAR(smallest_gap(p, n), 0, 1e-11);
    n = collide(p, needle, turned(0, 0, 1e-4, 0, ITM_PI / 2, 0), plate, at(0, 0, -5e-4), 1e-5);
    assert_int_equal(n, 2);
    CHECK_NEAR(smallest_gap(p, n), 0, 1e-14);
    itm_geom_destroy(tiny);
    itm_geom_destroy(huge);
    itm_geom_destroy(disc);
    itm_geom_destroy(needle);
    itm_geom_destroy(plate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(box_on_plane_touches_with_four_corners),
        cmocka_unit_test(cylinder_on_plane_lies_on_a_line_and_stands_on_a_disc),
        cmocka_unit_test(sphere_and_capsule_on_plane),
        cmocka_unit_test(box_on_box_face_to_face),
        cmocka_unit_test(box_on_box_turned_by_45_degrees_makes_an_octagon),
        cmocka_unit_test(crossed_edges_touch_in_one_point),
        cmocka_unit_test(boxes_with_nearly_parallel_edges_have_a_unit_normal),
        cmocka_unit_test(corner_over_corner_is_apart_by_the_distance_of_the_corners),
        cmocka_unit_test(capsules_parallel_and_crossed),
        cmocka_unit_test(capsule_lies_on_box_with_two_points),
        cmocka_unit_test(cylinder_stands_on_box_and_on_cylinder),
        cmocka_unit_test(rim_on_edge_has_the_exact_gap),
        cmocka_unit_test(sphere_inside_box_and_hull_leaves_by_the_nearest_face),
        cmocka_unit_test(swapping_the_shapes_turns_the_contacts_round),
        cmocka_unit_test(moving_both_shapes_changes_nothing),
        cmocka_unit_test(gap_changes_no_faster_than_the_shapes_move),
        cmocka_unit_test(keys_stay_while_a_stack_creeps),
        cmocka_unit_test(same_call_gives_the_same_bits),
        cmocka_unit_test(broken_poses_are_reported),
        cmocka_unit_test(coincident_and_degenerate_poses_give_finite_answers),
        cmocka_unit_test(extreme_ratios_of_size_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
