// Rows that no coordinate can move are left out of the solve and change nothing else.
#include "check.h"

#include "interim/interim.h"
#include "math/vec.h"
#include "multibody/model.h"
#include "scenes/scene.h"

#define NBODY 4

// The joint that closes the loop.
typedef enum Closing { HINGE, BALL, BALL_ASKEW, PLANE } Closing;

static const ItmVec3 NORMAL = {0.36, 0.48, 0.8};  // of the plane in the column, which turns about z

static int add_rod(ItmScene* scene, const char* name, ItmVec3 com)
{
    ItmBodyDef def = itm_default_body_def();
    def.name = name;
    def.mass = 2.0;
    def.com = com;
    def.inertia = (ItmSym3){.xx = 0.2, .yy = 0.3, .zz = 0.25};
    return itm_scene_add_body(scene, &def);
}

// A parallelogram of unit rods u and w, across NORMAL, on a column that slews.
static ItmModel* build(Closing closing)
{
    const ItmVec3 u = {0.8, -0.6, 0.0}, w = itm_vec_cross(NORMAL, u), zero = {0, 0, 0};
    ItmError error = {0};
    ItmModel* model = NULL;
    ItmScene scene = itm_scene_begin(ITM_COORDINATES_JOINT, itm_vec(0, 0, -9.81), &error);
    int column = add_rod(&scene, "column", itm_vec(0, 0, 0.1)), left = add_rod(&scene, "left", itm_vec_scale(0.5, w));
    int right = add_rod(&scene, "right", itm_vec_scale(0.5, w)), bar = add_rod(&scene, "bar", itm_vec_scale(0.5, u));
    ItmJointDef slew = itm_scene_hinge("slew", ITM_GROUND, zero, column, zero, itm_vec(0, 0, 1));
    ItmJointDef foot = itm_scene_hinge("foot", column, zero, left, zero, NORMAL);
    itm_scene_set_start(&slew, ITM_RZ, 0.0, 2.0);
    itm_scene_set_start(&foot, ITM_RZ, 0.3, 1.0);
    ItmJointDef others[] = {slew, foot, itm_scene_hinge("other-foot", column, u, right, zero, NORMAL),
                            itm_scene_hinge("head", left, w, bar, zero, NORMAL)};
    for (int i = 0; i < 4; i++) {
        itm_scene_add_joint(&scene, &others[i]);
    }
    ItmVec3 axis = closing == BALL_ASKEW ? itm_vec(0, 0, 1) : NORMAL;
    ItmJointDef last = itm_scene_hinge("last", bar, u, right, w, axis);
    last.type = closing == HINGE ? ITM_JOINT_REVOLUTE : closing == PLANE ? ITM_JOINT_GENERIC : ITM_JOINT_SPHERICAL;
    last.free = closing == PLANE ? 1u << ITM_TX | 1u << ITM_TY | 1u << ITM_RZ : 0u;
    last.coordinates = ITM_JOINT_ROWS;
    itm_scene_add_joint(&scene, &last);
    CHECK_OK(itm_scene_finish(&scene, &model), &error);
    return model;
}

static void run(const ItmModel* model, ItmPose* poses)
{
    ItmError error = {0};
    ItmData* d = NULL;
    CHECK_OK(itm_data_create(&d, model, NULL, &error), &error);
    for (int i = 0; i < 1000; i++) {
        CHECK_OK(itm_step(model, d), itm_data_get_error(d));
        assert_int_equal(itm_data_get_step_info(d).nredundant, itm_model_get_info(model).nredundant);
        assert_true(itm_data_get_step_info(d).gap <= 1e-10);  // gap_tolerance
    }
    for (int i = 0; i < NBODY; i++) {
        poses[i] = itm_data_get_body_pose(model, d, i);
    }
    itm_data_destroy(d);
}

static void loop_in_a_plane_that_turns_has_idle_rows(void** state)
{
    (void)state;
    static const struct {
        int nrow, nredundant, nidle;
    } EXPECTED[] = {{5, 3, 3}, {3, 1, 1}, {3, 1, 0}};
    ItmPose poses[3][NBODY];
    for (int k = HINGE; k <= BALL_ASKEW; k++) {
        ItmModel* model = build((Closing)k);
        ItmModelInfo info = itm_model_get_info(model);
        assert_int_equal(info.freedom, 2);
        assert_int_equal(info.nrow, EXPECTED[k].nrow);
        assert_int_equal(info.nredundant, EXPECTED[k].nredundant);
        assert_int_equal(model->nidle, EXPECTED[k].nidle);
        run(model, poses[k]);
        itm_model_destroy(model);
    }
    // idle or not, the same motion: gaps are closed to 1e-10 in each of 1000 steps; observed below 1e-13
    for (int i = 0; i < NBODY; i++) {
        for (int k = BALL; k <= BALL_ASKEW; k++) {
            CHECK_NEAR(itm_vec_norm(itm_vec_sub(poses[k][i].p, poses[HINGE][i].p)), 0.0, 1e-11);
        }
    }
}

// A block without any row that moves stays as it is: its rows are found redundant in every step.
static void joint_that_locks_nothing_in_the_plane_keeps_its_rows(void** state)
{
    (void)state;
    ItmModel* model = build(PLANE);
    ItmModelInfo info = itm_model_get_info(model);
    assert_int_equal(info.freedom, 4);
    assert_int_equal(info.nrow, 3);
    assert_int_equal(info.nredundant, 3);
    assert_int_equal(model->nidle, 0);
    ItmPose poses[NBODY];
    run(model, poses);
    itm_model_destroy(model);
}

static void idle_rows_keep_their_names_and_count_as_redundant(void** state)
{
    (void)state;
    ItmModel* model = build(HINGE);
    static const char* const NAMES[] = {"last.tx", "last.ty", "last.tz", "last.rx", "last.ry"};
    for (int i = 0; i < 5; i++) {
        assert_string_equal(itm_model_get_row_name(model, i), NAMES[i]);
        assert_true(itm_model_is_row_redundant(model, i) == (i >= 2));
    }
    itm_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loop_in_a_plane_that_turns_has_idle_rows),
        cmocka_unit_test(joint_that_locks_nothing_in_the_plane_keeps_its_rows),
        cmocka_unit_test(idle_rows_keep_their_names_and_count_as_redundant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
