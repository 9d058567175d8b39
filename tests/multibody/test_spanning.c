// The recursion of the spanning tree against the block factor of H, which is another way to the same forces and velocities.
#include "check.h"

#include "interim/interim.h"
#include "math/vec.h"
#include "multibody/kinematics.h"
#include "multibody/mass.h"
#include "multibody/rows.h"
#include "multibody/spanning.h"
#include "scenes/numbers.h"
#include "scenes/scene.h"
#include "scenes/scenes.h"

#include <string.h>

#define BODIES 5
#define MOST (6 * BODIES)  // velocities, and rows

static double some_number(int i)
{
    return sin(1.0 + 2.3 * i);
}

static int add_body(ItmScene* scene, int i)
{
    static const char* const names[BODIES] = {"root", "limb", "leaf", "other", "last"};
    ItmMat3 R = itm_quat_to_mat(itm_quat_exp(itm_vec(0.3 + 0.1 * i, -0.5, 0.2)));
    ItmSym3 principal = {.xx = 0.3, .yy = 0.2 + 0.05 * i, .zz = 0.15};
    ItmBodyDef def = itm_default_body_def();
    def.name = names[i];
    def.mass = 2.0 + i;
    def.com = itm_vec(0.1, -0.05 * i, 0.07);
    def.inertia = itm_sym_rotate(&R, &principal);
    return itm_scene_add_body(scene, &def);
}

static void add_joint(ItmScene* scene, const char* name, ItmJointType type, int body_a, int body_b)
{
    ItmJointDef def = itm_default_joint_def(type);
    def.name = name;
    def.body_a = body_a;
    def.body_b = body_b;
    def.frame_a = itm_scene_frame(itm_vec(0.2, 0.1, -0.3), itm_vec(0.3, -0.4, 0.8));
    def.frame_b = itm_scene_frame(itm_vec(-0.4, 0.2, 0.1), itm_vec(0.1, 0.9, -0.2));
    def.free = type == ITM_JOINT_GENERIC ? 1u << ITM_TX | 1u << ITM_TZ | 1u << ITM_RY : def.free;
    itm_scene_add_joint(scene, &def);
}

// Two branches of one body, joints of a type from the parent to the child and the other way round; on the world, or floating.
static ItmModel* build_bush(ItmJointType type, bool is_floating)
{
    ItmModel* m = NULL;
    ItmError error = {0};
    ItmScene scene = itm_scene_begin(ITM_COORDINATES_ABSOLUTE, itm_vec(1.2, -2.3, -9.0), &error);
    int body[BODIES];
    for (int i = 0; i < BODIES; i++) {
        body[i] = add_body(&scene, i);
    }
    if (!is_floating) {
        add_joint(&scene, "mount", ITM_JOINT_REVOLUTE, body[0], ITM_GROUND);
    }
    add_joint(&scene, "shoulder", type, body[0], body[1]);
    add_joint(&scene, "elbow", type, body[2], body[1]);
    add_joint(&scene, "hip", ITM_JOINT_SPHERICAL, body[3], body[0]);
    add_joint(&scene, "knee", ITM_JOINT_REVOLUTE, body[3], body[4]);
    CHECK_OK(itm_scene_finish(&scene, &m), &error);
    return m;
}

// Both factors a little out of the assembled position, where the directions of rows are not perpendicular.
static ItmData* factor_both(const ItmModel* m)
{
    ItmData* d = NULL;
    ItmError error = {0};
    double move[MOST];
    CHECK_OK(itm_data_create(&d, m, NULL, &error), &error);
    for (int i = 0; i < m->nv; i++) {
        move[i] = 0.02 * some_number(i);
    }
    itm_kinematics_integrate(m, d->q, d->q, move, 1.0);
    itm_kinematics_compute_positions(m, d, d->q);
    itm_rows_compute_jacobian(m, d);
    memset(d->rows.omega, 0, sizeof(double) * (size_t)m->nrow);
    itm_mass_factor(m, d);
    itm_rows_factor(m, d, 0.0);
    itm_rows_place_nodes(m, d);
    itm_spanning_factor(m, d);
    return d;
}

static void check_bush(ItmJointType type, bool is_floating)
{
    ItmModel* m = build_bush(type, is_floating);
    assert_int_equal(m->nspanning, BODIES);
    ItmData* d = factor_both(m);
    double x[MOST], x_blocks[MOST], v[MOST] = {0}, v_blocks[MOST] = {0}, rate[MOST], rate_blocks[MOST];
    for (int i = 0; i < m->nrow; i++) {
        x[i] = x_blocks[i] = some_number(i);
    }
    itm_blocks_solve(&m->pattern, &d->rows.factor, x_blocks);
    itm_rows_apply(m, d, v_blocks, x_blocks);
    // twice: a solve leaves nothing for the next one
    for (int round = 0; round < 2; round++) {
        memset(v, 0, sizeof v);
        for (int i = 0; i < m->nrow; i++) {
            x[i] = some_number(i);
        }
        itm_spanning_solve(m, d, v, x);
    }
    itm_spanning_multiply(m, d, rate, v);
    itm_rows_multiply(m, d, rate_blocks, v);
    // forces are of order 10 N s and velocities of order 1 m/s; round-off of some hundred operations on them, with a condition
    // of H of order 100
    for (int i = 0; i < m->nrow; i++) {
        CHECK_NEAR(x[i], x_blocks[i], 1e-11);
        CHECK_NEAR(rate[i], some_number(i), 1e-12);
        CHECK_NEAR(rate[i], rate_blocks[i], 1e-13);
    }
    for (int i = 0; i < m->nv; i++) {
        CHECK_NEAR(v[i], v_blocks[i], 1e-12);
    }
    itm_data_destroy(d);
    itm_model_destroy(m);
}

static void recursion_and_block_factor_agree(void** state)
{
    (void)state;
    static const ItmJointType types[] = {ITM_JOINT_FIXED,       ITM_JOINT_REVOLUTE,  ITM_JOINT_PRISMATIC,
                                         ITM_JOINT_CYLINDRICAL, ITM_JOINT_SPHERICAL, ITM_JOINT_UNIVERSAL,
                                         ITM_JOINT_PLANAR,      ITM_JOINT_GENERIC};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        check_bush(types[i], false);
        check_bush(types[i], true);
    }
}

static int count_nodes(ItmModel* m)
{
    int n = m->nspanning;
    itm_model_destroy(m);
    return n;
}

// Loops, screws, distances and tree coordinates are not for the recursion.
static void other_rows_have_no_forest(void** state)
{
    (void)state;
    ItmModel* m = NULL;
    ItmError error = {0};
    CHECK_OK(itm_chain_build(&m, ITM_COORDINATES_ABSOLUTE, 7, &error), &error);
    assert_int_equal(count_nodes(m), 7);
    CHECK_OK(itm_chain_build(&m, ITM_COORDINATES_JOINT, 7, &error), &error);
    assert_int_equal(count_nodes(m), 0);
    CHECK_OK(itm_zoo_build_loop(&m, ITM_COORDINATES_ABSOLUTE, &error), &error);
    assert_int_equal(count_nodes(m), 0);
    CHECK_OK(itm_zoo_build_pair(&m, ITM_COORDINATES_ABSOLUTE, ITM_JOINT_SCREW, &error), &error);
    assert_int_equal(count_nodes(m), 0);
    CHECK_OK(itm_zoo_build_pair(&m, ITM_COORDINATES_ABSOLUTE, ITM_JOINT_DISTANCE, &error), &error);
    assert_int_equal(count_nodes(m), 0);
}

// Gravity alone changes the momentum of a tree that floats, whatever its joints do.
static void only_gravity_changes_the_momentum_of_a_floating_tree(void** state)
{
    (void)state;
    ItmModel* m = build_bush(ITM_JOINT_UNIVERSAL, true);
    ItmData* d = NULL;
    ItmError error = {0};
    ItmStepOptions options = itm_default_step_options();
    options.step = 1e-3;
    CHECK_OK(itm_data_create(&d, m, &options, &error), &error);
    double* values = calloc((size_t)itm_model_get_output_count(m), sizeof *values);
    double mass = itm_model_get_info(m).mass;
    for (int i = 0; i < 500; i++) {
        CHECK_OK(itm_step(m, d), itm_data_get_error(d));
    }
    CHECK_OK(itm_model_compute_outputs(m, d, values), itm_data_get_error(d));
    // from rest: gravity alone gives m g t; round-off of 500 steps
    CHECK_NEAR(values[itm_model_find_output(m, "momentum.linear.x")], mass * 1.2 * 0.5, 1e-11 * mass);
    CHECK_NEAR(values[itm_model_find_output(m, "momentum.linear.z")], mass * -9.0 * 0.5, 1e-11 * mass);
    assert_true(itm_data_get_step_info(d).gap <= options.gap_tolerance);
    free(values);
    itm_data_destroy(d);
    itm_model_destroy(m);
}

// Also where the drift of a joint or one of its differences passes through 0, which happens at some joint of a long chain all the time.
static void gaps_of_a_long_chain_close_without_iterations(void** state)
{
    (void)state;
    ItmModel* m = NULL;
    ItmData* d = NULL;
    ItmError error = {0};
    ItmStepOptions options = itm_default_step_options();
    options.step = ITM_SCENE_STEP;
    CHECK_OK(itm_chain_build(&m, ITM_COORDINATES_ABSOLUTE, 100, &error), &error);
    CHECK_OK(itm_data_create(&d, m, &options, &error), &error);
    for (int i = 0; i < 400; i++) {
        CHECK_OK(itm_step(m, d), itm_data_get_error(d));
    }
    ItmStepInfo info = itm_data_get_step_info(d);
    assert_true(info.gap <= options.gap_tolerance);
    assert_true(info.total_iterations <= 10);  // observed 4, of the first steps
    itm_data_destroy(d);
    itm_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recursion_and_block_factor_agree),
        cmocka_unit_test(other_rows_have_no_forest),
        cmocka_unit_test(only_gravity_changes_the_momentum_of_a_floating_tree),
        cmocka_unit_test(gaps_of_a_long_chain_close_without_iterations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
