// Bricks at rest: what a wall of 200 costs and keeps, models of any number of shapes, and memory and work that only those pay for who
// use them.
#include "contact_scene.h"

#include "interim/file.h"
#include "io/results/contact_log.h"
#include "multibody/bounded.h"
#include "scenes/numbers.h"
#include "scenes/scene.h"
#include "scenes/scenes.h"

#include <sys/resource.h>

static ItmData* start_data(const ItmModel* m, double step)
{
    ItmData* d = NULL;
    ItmError error = {0};
    ItmStepOptions options = itm_default_step_options();
    options.step = step;
    CHECK_OK(itm_data_create(&d, m, &options, &error), &error);
    return d;
}

// No step of a wall stays unsolved, and at rest the impulses of the last step fit. When every step corrected positions of a nanometre, or
// the tangents of a contact changed places with the rounding of its normal, they did not: 30 Newton steps, or 210 sweeps, in every step.
static void wall_of_200_settles_and_then_costs_little(void** state)
{
    (void)state;
    ItmModel* m = NULL;
    ItmError error = {0};
    CHECK_OK(itm_wall_build(&m, 200, &error), &error);
    ItmData* d = start_data(m, ITM_SCENE_STEP);
    long iterations = 0;
    double penetration = 0.0;
    for (int i = 0; i < 450; i++) {
        CHECK_OK(itm_step(m, d), itm_data_get_error(d));
        ItmStepInfo info = itm_data_get_step_info(d);
        iterations += i < 300 ? 0 : info.solver_iterations;
        penetration = fmax(penetration, info.penetration);
    }
    ItmStepInfo info = itm_data_get_step_info(d);
    assert_int_equal(info.unsolved, 0);
    assert_true(iterations <= 75);    // of 150 steps, observed 10
    assert_true(penetration < 1e-9);  // observed 3e-11
    double speed = 0.0;
    for (int k = 0; k < 200; k++) {
        speed = fmax(speed, itm_vec_norm(itm_data_get_body_velocity(m, d, k)));
    }
    assert_true(speed < 1e-6);  // the creep that is promised
    itm_data_destroy(d);
    itm_model_destroy(m);
}

// Boxes that fall on each other in columns. An island has 120 rows over 60 velocities, of which sweeps need thousands.
static void columns_of_boxes_are_solved_while_they_fall(void** state)
{
    (void)state;
    ItmModel* m = NULL;
    ItmError error = {0};
    CHECK_OK(itm_pile_build(&m, 64, false, &error), &error);  // 16 columns of four
    ItmData* d = start_data(m, ITM_SCENE_STEP);
    long falling = 0, resting = 0;
    int most = 0;
    double penetration = 0.0;
    for (int i = 0; i < 300; i++) {
        CHECK_OK(itm_step(m, d), itm_data_get_error(d));
        ItmStepInfo info = itm_data_get_step_info(d);
        most = info.solver_iterations > most ? info.solver_iterations : most;
        *(i < 200 ? &falling : &resting) += info.solver_iterations;
        penetration = fmax(penetration, info.penetration);
    }
    assert_int_equal(itm_data_get_step_info(d).unsolved, 0);
    assert_int_equal(itm_data_get_step_info(d).fallbacks, 0);
    assert_true(falling < 200 * 16);  // Newton steps of 16 islands, observed 0.2 each
    assert_true(most < 8 * 16);  // also where boxes land, observed 4; 13 where the factor is not kept between minima
    assert_true(resting < 100 * 16 / 4);  // observed 0.03
    assert_true(penetration < 1e-9);
    itm_data_destroy(d);
    itm_model_destroy(m);
}

// Columns of four boxes, level by level, so that their contacts alternate in the table; the column `alone`, or all (ITM_NONE).
static void start_columns(Scene* s, int alone)
{
    open_scene(s, itm_vec(0, 0, -9.81));
    int material = add_material(s, "rough", (ItmSurface){.friction = 0.5});
    ItmPose origin = {{0, 0, 0}, {1, 0, 0, 0}};
    add_shape(s, ITM_GROUND, ITM_COLLIDER_PLANE, 0, 0, 0, origin, material);
    for (int i = 0; i < 12; i++) {
        int column = i % 3, level = i / 3;
        if (alone != ITM_NONE && column != alone) {
            continue;
        }
        char name[16];
        snprintf(name, sizeof name, "box%d", i);
        double lean = 0.02 * (column + 1) * level;
        ItmPose pose = {{2.0 * column + lean, lean, 0.26 + 0.51 * level}, {1, 0, 0, 0}};
        int body = add_body(s, name, 125.0, itm_vec(5.2, 5.2, 5.2), pose);
        add_shape(s, body, ITM_COLLIDER_BOX, 0.5, 0.5, 0.5, origin, material);
    }
    start_scene(s, ITM_SCENE_STEP);
}

// Islands are solved one after the other in the same memory: none leaves a trace in the next.
static void column_among_others_moves_as_alone(void** state)
{
    (void)state;
    Scene all, alone;
    start_columns(&all, ITM_NONE);
    start_columns(&alone, 1);
    for (int i = 0; i < 200; i++) {
        CHECK_OK(itm_step(all.m, all.d), itm_data_get_error(all.d));
        CHECK_OK(itm_step(alone.m, alone.d), itm_data_get_error(alone.d));
    }
    for (int level = 0; level < 4; level++) {
        ItmPose p = itm_data_get_body_pose(all.m, all.d, 3 * level + 1);
        ItmPose q = itm_data_get_body_pose(alone.m, alone.d, level);
        assert_memory_equal(&p, &q, sizeof p);
    }
    close_scene(&all);
    close_scene(&alone);
}

// The frame of a contact must not depend on the rounding of its normal, or friction starts every step from impulses of the other
// direction.
static void tangents_stay_where_normals_are_rounded(void** state)
{
    (void)state;
    const ItmVec3 normals[] = {{0, 0, 1}, {0, 1, 0}, {1, 0, 0}, {0, 0, -1}, {0, 0.6, 0.8}, {sqrt(0.5), 0, sqrt(0.5)}};
    for (size_t k = 0; k < sizeof normals / sizeof normals[0]; k++) {
        ItmVec3 t[2], near[2];
        itm_vec_make_tangents(t, normals[k]);
        for (int sign = 0; sign < 8; sign++) {
            const double e = 1e-15;
            ItmVec3 n =
                itm_vec_add(normals[k], itm_vec(sign & 1 ? e : -e, sign & 2 ? 2 * e : -2 * e, sign & 4 ? e : -e));
            itm_vec_make_tangents(near, n);
            assert_true(itm_vec_norm(itm_vec_sub(t[0], near[0])) < 1e-14);
            assert_true(itm_vec_norm(itm_vec_sub(t[1], near[1])) < 1e-14);
        }
    }
}

// Workspaces are sized by the largest island that is solved directly: more shapes than 1561 used to be refused with no message.
static void models_of_thousands_of_shapes_load(void** state)
{
    (void)state;
    ItmModel* m = NULL;
    ItmError error = {0};
    CHECK_OK(itm_floor_build(&m, 1700, &error), &error);
    ItmData* d = start_data(m, ITM_SCENE_STEP);
    CHECK_OK(itm_step(m, d), itm_data_get_error(d));
    assert_int_equal(itm_data_get_step_info(d).ncontact, 4 * 1700);
    assert_int_equal(itm_data_get_step_info(d).unsolved, 0);
    itm_data_destroy(d);
    itm_model_destroy(m);
}

static long count_faults(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

// The room for the largest problem is 50 MB; a ball on the floor touches a hundredth of it. Sanitizers touch an eighth more.
static void memory_of_solvers_is_touched_when_it_is_used(void** state)
{
    (void)state;
    ItmModelFile* file = NULL;
    ItmError error = {0};
    CHECK_OK(itm_file_load(&file, ITM_SOURCE_DIR "/examples/bouncing-ball.yaml", NULL, 0, &error), &error);
    long before = count_faults();
    ItmData* d = start_data(file->model, 1e-3);
    for (int i = 0; i < 1000; i++) {
        CHECK_OK(itm_step(file->model, d), itm_data_get_error(d));
    }
    assert_true(count_faults() - before < 4000);  // pages of 4 kB; observed below 100, 10,000 where all is zeroed
    itm_data_destroy(d);
    itm_file_destroy(file);
}

// The log of contacts knows who touches whom in every step from the step's own impulses; forces of least norm are for outputs.
static void logging_contacts_does_not_refine_their_forces(void** state)
{
    (void)state;
    ItmModelFile* file = NULL;
    ItmError error = {0};
    CHECK_OK(itm_file_load(&file, ITM_SOURCE_DIR "/examples/stack.yaml", NULL, 0, &error), &error);
    ItmData* d = start_data(file->model, 2e-3);
    ItmContactLog log;
    ItmWatched watched = {.model = file->model, .data = d, .prefix = ""};
    ItmWatchedList list = {.items = &watched, .count = 1};
    ItmTouchList touches = {0};
    assert_true(itm_contact_log_init(&log));
    for (int i = 0; i < 50; i++) {
        double from = itm_data_get_time(d);
        CHECK_OK(itm_step(file->model, d), itm_data_get_error(d));
        itm_contact_log_note(&log, &list, from);
        itm_contact_log_take(&log, &list, 2e-3, &touches);
        assert_false(d->bounded->refined.is_done);
    }
    itm_contact_log_end(&log, itm_data_get_time(d));
    // ten boxes rest on each other from the first step to the last, however the load is shared
    assert_int_equal(log.pairs.count, 10);
    assert_int_equal(log.intervals.count, 10);
    for (int i = 0; i < 10; i++) {
        CHECK_NEAR(log.intervals.items[i].to - log.intervals.items[i].from, 0.1, 1e-12);
        assert_int_equal(log.intervals.items[i].state, ITM_CONTACT_STICKING);
    }
    itm_contact_log_free(&log);
    free(touches.items);
    itm_data_destroy(d);
    itm_file_destroy(file);
}

// Columns of spheres that lean collapse to a heap, which Newton's method over its loaded contacts solves: observed 9.7 iterations per step
// in all islands, 87 with sweeps. Velocities and position correction do not both use up a gap: penetration stays below the slop of rows,
// 1e-9 m, observed 1.8e-12 m; it was 6e-7 m where they did.
static void heap_of_spheres_is_solved_in_few_steps(void** state)
{
    (void)state;
    ItmModel* m = NULL;
    ItmError error = {0};
    CHECK_OK(itm_pile_build(&m, 216, true, &error), &error);  // 36 columns of six
    ItmData* d = start_data(m, ITM_SCENE_STEP);
    int iterations = 0;
    double penetration = 0.0;
    for (int i = 0; i < 400; i++) {
        CHECK_OK(itm_step(m, d), itm_data_get_error(d));
        iterations += i < 350 ? 0 : itm_data_get_step_info(d).solver_iterations;
        penetration = fmax(penetration, itm_data_get_step_info(d).penetration);
    }
    assert_int_equal(itm_data_get_step_info(d).unsolved, 0);
    assert_true(penetration < 1e-9);
    assert_true(iterations < 50 * 40);
    itm_data_destroy(d);
    itm_model_destroy(m);
}

// The pile of spheres with masses 1 : 10 : 100 in turn.
static ItmModel* build_mixed_pile(int n)
{
    ItmModel* m = NULL;
    ItmError error = {0};
    ItmScene scene = itm_scene_begin(ITM_COORDINATES_ABSOLUTE, itm_vec(0, 0, -ITM_SCENE_GRAVITY), &error);
    ItmMaterialDef material = itm_default_material_def();
    material.name = "stone";
    material.surface.friction = ITM_BRICK_FRICTION;
    ItmColliderDef plane = itm_default_collider_def();
    plane.name = "plane";
    plane.body = ITM_GROUND;
    plane.kind = ITM_COLLIDER_PLANE;
    plane.material = itm_scene_add_material(&scene, &material);
    itm_scene_add_collider(&scene, &plane);
    for (int i = 0; i < n; i++) {
        static const double shares[] = {0.1, 1.0, 10.0};
        char name[24];
        double p[3], mass = shares[i % 3] * ITM_PILE_MASS, I = itm_sphere_inertia(mass, 0.5 * ITM_PILE_SIZE);
        itm_pile_get_position(n, i, p);
        snprintf(name, sizeof name, "ball%d", i);
        ItmBodyDef body = itm_default_body_def();
        body.name = name;
        body.mass = mass;
        body.inertia = (ItmSym3){.xx = I, .yy = I, .zz = I};
        body.has_pose = true;
        body.pose.p = itm_vec(p[0], p[1], p[2]);
        ItmColliderDef shape = itm_default_collider_def();
        shape.body = itm_scene_add_body(&scene, &body);
        snprintf(name, sizeof name, "shape%d", i);
        shape.name = name;
        shape.kind = ITM_COLLIDER_SPHERE;
        shape.size[0] = 0.5 * ITM_PILE_SIZE;
        shape.material = plane.material;
        itm_scene_add_collider(&scene, &shape);
    }
    CHECK_OK(itm_scene_finish(&scene, &m), &error);
    return m;
}

// Heavy spheres on light ones: a few contacts take their cases in turn under Newton's method over the whole heap, and are solved with those
// around them. Without that, an island ended at a residual of 1e-3. Penetration: observed 1.8e-6 m; the goal of the benchmark's piles is
// 1e-5 m.
static void heap_of_light_and_heavy_spheres_is_solved(void** state)
{
    (void)state;
    ItmModel* m = build_mixed_pile(343);  // 49 columns of seven
    ItmData* d = start_data(m, ITM_SCENE_STEP);
    double penetration = 0.0, residual = 0.0;
    for (int i = 0; i < 600; i++) {
        CHECK_OK(itm_step(m, d), itm_data_get_error(d));
        penetration = fmax(penetration, itm_data_get_step_info(d).penetration);
        residual = fmax(residual, itm_data_get_step_info(d).solver_residual);
    }
    assert_int_equal(itm_data_get_step_info(d).unsolved, 0);
    assert_true(residual <= itm_default_contact_options().tolerance);
    assert_true(penetration < 1e-5);
    itm_data_destroy(d);
    itm_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wall_of_200_settles_and_then_costs_little),
        cmocka_unit_test(columns_of_boxes_are_solved_while_they_fall),
        cmocka_unit_test(column_among_others_moves_as_alone),
        cmocka_unit_test(heap_of_spheres_is_solved_in_few_steps),
        cmocka_unit_test(heap_of_light_and_heavy_spheres_is_solved),
        cmocka_unit_test(tangents_stay_where_normals_are_rounded),
        cmocka_unit_test(models_of_thousands_of_shapes_load),
        cmocka_unit_test(memory_of_solvers_is_touched_when_it_is_used),
        cmocka_unit_test(logging_contacts_does_not_refine_their_forces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
