// Every shared scene and the examples beside them assemble in both kinds of coordinates and have the freedoms they should.
#include "check.h"

#include "interim/interim.h"
#include "scenes/scenes.h"

static const ItmCoordinates COORDINATES[] = {ITM_COORDINATES_ABSOLUTE, ITM_COORDINATES_JOINT};

// Checks the count of freedoms, and that it is nv - (nrow - nredundant); destroys the model.
static ItmModelInfo check_freedom(ItmModel* model, int freedom)
{
    ItmModelInfo info = itm_model_get_info(model);
    assert_int_equal(info.freedom, freedom);
    assert_int_equal(info.nv - (info.nrow - info.nredundant), freedom);
    itm_model_destroy(model);
    return info;
}

static void examples_have_their_freedoms(void** state)
{
    (void)state;
    // Bricard: Gruebler's count gives 5 * 6 - 6 * 5 = 0 freedoms; one row depends on the others
    static const struct {
        const char* name;
        int freedom, nredundant;
    } CASES[] = {{"pendulum", 1, 0}, {"top", 3, 0}, {"gears", 1, 0}, {"bricard", 1, 1}, {"crane-double", 2, 0}};
    for (size_t k = 0; k < 2 * sizeof CASES / sizeof *CASES; k++) {
        const char* override = k % 2 == 0 ? "multibody.coordinates=absolute" : "multibody.coordinates=joint";
        ItmModelFile* file = NULL;
        ItmError error;
        CHECK_OK(itm_example_load(&file, CASES[k / 2].name, &override, 1, &error), &error);
        ItmModelInfo info = itm_model_get_info(file->model);
        assert_int_equal(info.freedom, CASES[k / 2].freedom);
        assert_int_equal(info.nv - (info.nrow - info.nredundant), info.freedom);
        assert_int_equal(info.nredundant, CASES[k / 2].nredundant);
        itm_file_destroy(file);
    }
}

static void arm_has_seven_freedoms(void** state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        ItmModel* model;
        ItmError error;
        CHECK_OK(itm_arm7_build(&model, COORDINATES[i], true, &error), &error);
        ItmModelInfo info = check_freedom(model, 7);
        assert_int_equal(info.nbody, 8);
        assert_int_equal(info.nredundant, 0);
    }
}

static void chain_has_a_freedom_for_each_link(void** state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        for (int n = 2; n <= 50; n += 16) {
            ItmModel* model;
            ItmError error;
            CHECK_OK(itm_chain_build(&model, COORDINATES[i], n, &error), &error);
            ItmModelInfo info = check_freedom(model, n);
            assert_int_equal(info.nv, COORDINATES[i] == ITM_COORDINATES_JOINT ? n : 6 * n);
            assert_int_equal(info.nredundant, 0);
        }
    }
}

// A planar loop of revolute joints in space: of the five rows that close each window, three are redundant.
static void four_bar_has_one_freedom_and_three_redundant_rows_a_window(void** state)
{
    (void)state;
    static const int sizes[] = {2, 10, 40};
    for (int i = 0; i < 6; i++) {
        int n = sizes[i / 2];
        ItmModel* model;
        ItmError error;
        CHECK_OK(itm_four_bar_build(&model, COORDINATES[i % 2], n, &error), &error);
        assert_int_equal(check_freedom(model, 1).nredundant, 3 * n);
    }
}

static void double_pendulum_has_two_freedoms(void** state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        ItmModel* model;
        ItmError error;
        CHECK_OK(itm_double_pendulum_build(&model, COORDINATES[i], 1.5, 0.7, &error), &error);
        check_freedom(model, 2);
    }
}

static void zoo_pairs_have_the_freedom_of_their_joint(void** state)
{
    (void)state;
    for (int type = 0; type < ITM_JOINT_TYPE_COUNT; type++) {
        for (int i = 0; i < 2; i++) {
            ItmModel* model;
            ItmError error;
            CHECK_OK(itm_zoo_build_pair(&model, COORDINATES[i], (ItmJointType)type, &error), &error);
            check_freedom(model, 1 + itm_zoo_get_freedom((ItmJointType)type));
        }
    }
}

// A loop loses six of the freedoms of its joints.
static void zoo_loop_has_the_freedoms_of_its_joints_less_six(void** state)
{
    (void)state;
    int freedom = -6;
    for (int type = 0; type < ITM_JOINT_TYPE_COUNT; type++) {
        freedom += itm_zoo_get_freedom((ItmJointType)type);
    }
    for (int i = 0; i < 2; i++) {
        ItmModel* model;
        ItmError error;
        CHECK_OK(itm_zoo_build_loop(&model, COORDINATES[i], &error), &error);
        assert_int_equal(check_freedom(model, freedom).nredundant, 0);
    }
}

// Start poses and velocities of every body, which are the same mechanism in either coordinates.
static void check_same_start(ItmModel* absolute, ItmModel* joint)
{
    ItmData *data_a, *data_b;
    ItmError error;
    CHECK_OK(itm_data_create(&data_a, absolute, NULL, &error), &error);
    CHECK_OK(itm_data_create(&data_b, joint, NULL, &error), &error);
    for (int body = 0; body < itm_model_get_info(joint).nbody; body++) {
        ItmVec3 p = itm_data_get_body_pose(absolute, data_a, body).p;
        ItmVec3 q = itm_data_get_body_pose(joint, data_b, body).p;
        ItmVec3 v = itm_data_get_body_velocity(absolute, data_a, body);
        ItmVec3 w = itm_data_get_body_velocity(joint, data_b, body);
        // assembly closes gaps to 1e-11; observed differences below 1e-12
        CHECK_NEAR(p.x - q.x, 0, 1e-10);
        CHECK_NEAR(p.y - q.y, 0, 1e-10);
        CHECK_NEAR(p.z - q.z, 0, 1e-10);
        CHECK_NEAR(v.x - w.x, 0, 1e-9);
        CHECK_NEAR(v.y - w.y, 0, 1e-9);
        CHECK_NEAR(v.z - w.z, 0, 1e-9);
    }
    itm_data_destroy(data_a);
    itm_data_destroy(data_b);
    itm_model_destroy(absolute);
    itm_model_destroy(joint);
}

static void both_coordinates_start_from_the_same_state(void** state)
{
    (void)state;
    ItmModel* model[2];
    ItmError error;
    for (int type = 0; type < ITM_JOINT_TYPE_COUNT; type++) {
        for (int i = 0; i < 2; i++) {
            CHECK_OK(itm_zoo_build_pair(&model[i], COORDINATES[i], (ItmJointType)type, &error), &error);
        }
        check_same_start(model[0], model[1]);
    }
    for (int i = 0; i < 2; i++) {
        CHECK_OK(itm_zoo_build_loop(&model[i], COORDINATES[i], &error), &error);
    }
    check_same_start(model[0], model[1]);
    for (int i = 0; i < 2; i++) {
        CHECK_OK(itm_four_bar_build(&model[i], COORDINATES[i], 3, &error), &error);
    }
    check_same_start(model[0], model[1]);
}

// ---------------------------------------------------------------------------- bricks

static double distance(ItmVec3 a, ItmVec3 b)
{
    return sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z));
}

static void step_many(const ItmModel* model, ItmData* data, int count)
{
    for (int k = 0; k < count; k++) {
        CHECK_OK(itm_step(model, data), itm_data_get_error(data));
    }
}

// A second to settle, then how far the bricks creep in a quarter of one; destroys the model.
static ItmStepInfo check_bricks_rest(ItmModel* model, int n)
{
    enum { SETTLE = 600, WATCH = 150 };
    ItmData* data;
    ItmError error;
    ItmStepOptions options = itm_default_step_options();
    options.step = 1.0 / 600;
    CHECK_OK(itm_data_create(&data, model, &options, &error), &error);
    ItmVec3* start = calloc((size_t)n, sizeof *start);
    step_many(model, data, SETTLE);
    long unsolved = itm_data_get_step_info(data).unsolved;  // the first steps of a wall may stop short
    for (int i = 0; i < n; i++) {
        start[i] = itm_data_get_body_pose(model, data, i).p;
    }
    step_many(model, data, WATCH);
    for (int i = 0; i < n; i++) {
        ItmVec3 end = itm_data_get_body_pose(model, data, i).p;
        CHECK_NEAR(distance(end, start[i]) / (WATCH * options.step), 0, 1e-6);  // m/s
    }
    ItmStepInfo info = itm_data_get_step_info(data);
    CHECK_NEAR(info.penetration, 0, 1e-6);
    assert_int_equal(info.unsolved, unsolved);
    assert_true(unsolved < 10);  // observed: 4 for the wall, 0 on the floor
    free(start);
    itm_data_destroy(data);
    itm_model_destroy(model);
    return info;
}

static void wall_of_fifty_bricks_stands_without_creeping(void** state)
{
    (void)state;
    ItmModel* model;
    ItmError error;
    CHECK_OK(itm_wall_build(&model, 50, &error), &error);
    assert_int_equal(itm_model_get_info(model).freedom, 300);
    assert_int_equal(check_bricks_rest(model, 50).nisland, 1);
}

static void bricks_on_the_floor_are_islands_of_four_contacts(void** state)
{
    (void)state;
    ItmModel* model;
    ItmError error;
    CHECK_OK(itm_floor_build(&model, 30, &error), &error);
    ItmStepInfo info = check_bricks_rest(model, 30);
    assert_int_equal(info.nisland, 30);
    assert_int_equal(info.ncontact, 120);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arm_has_seven_freedoms),
        cmocka_unit_test(chain_has_a_freedom_for_each_link),
        cmocka_unit_test(four_bar_has_one_freedom_and_three_redundant_rows_a_window),
        cmocka_unit_test(double_pendulum_has_two_freedoms),
        cmocka_unit_test(examples_have_their_freedoms),
        cmocka_unit_test(zoo_pairs_have_the_freedom_of_their_joint),
        cmocka_unit_test(zoo_loop_has_the_freedoms_of_its_joints_less_six),
        cmocka_unit_test(wall_of_fifty_bricks_stands_without_creeping),
        cmocka_unit_test(bricks_on_the_floor_are_islands_of_four_contacts),
        cmocka_unit_test(both_coordinates_start_from_the_same_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
