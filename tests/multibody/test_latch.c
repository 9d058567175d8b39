// Locking and grasping: impacts that conserve momentum, what is held stays, open latches do nothing.
#include "run.h"

#include "math/vec.h"
#include "scenes/scene.h"

static const ItmStepper STEPPERS[] = {ITM_STEPPER_EULER, ITM_STEPPER_ALI1, ITM_STEPPER_REFERENCE};
#define NSTEPPER 3

static Run start(ItmModelBuilder* b, ItmStepper stepper, double step)
{
    ItmError error = {0};
    ItmModel* m = NULL;
    ItmStepOptions options = itm_default_step_options();
    options.stepper = stepper;
    options.step = step;
    options.tolerance = stepper == ITM_STEPPER_REFERENCE ? 1e-12 : 1e-11;
    CHECK_OK(itm_model_build(&m, b, &error), &error);
    itm_model_builder_destroy(b);
    return start_run_with(m, &options);
}

static ItmModelBuilder* begin(ItmCoordinates coordinates, ItmVec3 gravity)
{
    ItmError error = {0};
    ItmModelBuilder* b = NULL;
    ItmWorldDef world = {.gravity = gravity, .coordinates = coordinates};
    CHECK_OK(itm_model_builder_create(&b, &world, &error), &error);
    return b;
}

static int add_latch(ItmModelBuilder* b, const char* name, ItmLatchKind kind, int first, int second)
{
    ItmError error = {0};
    int id = ITM_NONE;
    ItmLatchDef def = itm_default_latch_def(kind);
    def.name = name;
    if (kind == ITM_LATCH_DIRECTION) {
        def.joint = first;
        def.direction = (ItmDirection)second;
    } else {
        def.body_a = first;
        def.body_b = second;
    }
    CHECK_OK(itm_model_builder_add_latch(b, &def, &id, &error), &error);
    return id;
}

static void add_event(ItmModelBuilder* b, double time, int latch, bool closes)
{
    ItmError error = {0};
    const ItmEventDef def = {time, latch, closes};
    CHECK_OK(itm_model_builder_add_event(b, &def, &error), &error);
}

// ---------------------------------------------------------------------------- grasping

// Two bodies in flight, "tool" and "box", with any motion, and a latch between them.
static ItmModelBuilder* flying_pair(ItmCoordinates coordinates)
{
    ItmError error = {0};
    ItmModelBuilder* b = begin(coordinates, (ItmVec3){0, 0, 0});
    ItmBodyDef tool = itm_default_body_def(), box = itm_default_body_def();
    tool.name = "tool";
    tool.mass = 2.0;
    tool.com = (ItmVec3){0.1, 0, -0.2};
    tool.inertia = (ItmSym3){0.1, 0.2, 0.25, 0.01, 0.02, -0.01};
    tool.has_pose = true;
    tool.pose = itm_pose_identity();
    tool.velocity = (ItmVec3){1, 0.5, -0.3};
    tool.angular_velocity = (ItmVec3){0.3, -1, 2};
    box.name = "box";
    box.mass = 5.0;
    box.inertia = (ItmSym3){0.4, 0.3, 0.5, 0, 0.05, 0};
    box.has_pose = true;
    box.pose = (ItmPose){{1, 0.2, -0.1}, itm_quat_normalize((ItmQuat){0.9, 0.1, -0.3, 0.2})};
    box.velocity = (ItmVec3){-0.4, 0, 0.2};
    box.angular_velocity = (ItmVec3){1, 0.2, -0.5};
    CHECK_OK(itm_model_builder_add_body(b, &tool, NULL, &error), &error);
    CHECK_OK(itm_model_builder_add_body(b, &box, NULL, &error), &error);
    add_latch(b, "hand", ITM_LATCH_BODIES, 0, 1);
    return b;
}

static const char* const MOMENTA[6] = {"momentum.linear.x",  "momentum.linear.y",  "momentum.linear.z",
                                       "momentum.angular.x", "momentum.angular.y", "momentum.angular.z"};

// Angular velocity of body b less that of body a, and the velocity of the origin of b less that of the point of a there.
static double relative_speed(Run* run)
{
    ItmVec3 w_a = itm_data_get_body_angular_velocity(run->m, run->d, 0);
    ItmVec3 w_b = itm_data_get_body_angular_velocity(run->m, run->d, 1);
    ItmVec3 arm = itm_vec_sub(itm_data_get_body_pose(run->m, run->d, 1).p, itm_data_get_body_pose(run->m, run->d, 0).p);
    ItmVec3 point = itm_vec_add(itm_data_get_body_velocity(run->m, run->d, 0), itm_vec_cross(w_a, arm));
    return itm_vec_norm(itm_vec_sub(w_b, w_a)) +
           itm_vec_norm(itm_vec_sub(itm_data_get_body_velocity(run->m, run->d, 1), point));
}

static void grasping_conserves_momentum_and_stops_relative_motion(void** state)
{
    (void)state;
    for (int s = 0; s < NSTEPPER; s++) {
        ItmModelBuilder* b = flying_pair(ITM_COORDINATES_JOINT);
        add_event(b, 0.05, 0, true);
        Run run = start(b, STEPPERS[s], 1e-2);
        advance(&run, 4);
        double before[6], energy = output(&run, "energy.kinetic");
        for (int i = 0; i < 6; i++) {
            before[i] = output(&run, MOMENTA[i]);
        }
        assert_true(relative_speed(&run) > 1.0);
        CHECK_OK(itm_latch_set(run.m, run.d, 0, true), itm_data_get_error(run.d));
        assert_true(itm_latch_is_closed(run.m, run.d, 0));
        // a solve with a matrix of condition 1e2
        for (int i = 0; i < 6; i++) {
            CHECK_NEAR(output(&run, MOMENTA[i]), before[i], 1e-13);
        }
        CHECK_NEAR(relative_speed(&run), 0.0, 1e-13);
        CHECK_NEAR(output(&run, "energy.impact"), energy - output(&run, "energy.kinetic"), 1e-13);
        assert_true(output(&run, "energy.impact") > 0.5);
        finish_run(&run);
    }
}

// The loss of a plastic impact is the kinetic energy of the relative motion: what is left is that of one rigid body with the same
// momenta, P^2 / 2m + L J^-1 L / 2 about the common centre of mass.
static void a_grasped_pair_moves_as_one_body(void** state)
{
    (void)state;
    ItmModelBuilder* b = flying_pair(ITM_COORDINATES_ABSOLUTE);
    add_event(b, 0.0, 0, true);
    Run run = start(b, ITM_STEPPER_REFERENCE, 1e-2);
    // common centre of mass, inertia about it, momenta
    const double mass[2] = {2.0, 5.0};
    const ItmVec3 com[2] = {{0.1, 0, -0.2}, {0, 0, 0}};
    const ItmSym3 inertia[2] = {{0.1, 0.2, 0.25, 0.01, 0.02, -0.01}, {0.4, 0.3, 0.5, 0, 0.05, 0}};
    ItmVec3 x[2], middle = {0, 0, 0};
    ItmMat3 R[2];
    for (int i = 0; i < 2; i++) {
        ItmPose pose = itm_data_get_body_pose(run.m, run.d, i);
        R[i] = itm_quat_to_mat(pose.q);
        x[i] = itm_vec_add(pose.p, itm_mat_mul_vec(&R[i], com[i]));
        middle = itm_vec_axpy(mass[i] / 7.0, x[i], middle);
    }
    ItmSym3 J = {0};
    for (int i = 0; i < 2; i++) {
        ItmSym3 own = itm_sym_rotate(&R[i], &inertia[i]);
        ItmVec3 a = itm_vec_sub(x[i], middle);
        J.xx += own.xx + mass[i] * (a.y * a.y + a.z * a.z);
        J.yy += own.yy + mass[i] * (a.x * a.x + a.z * a.z);
        J.zz += own.zz + mass[i] * (a.x * a.x + a.y * a.y);
        J.xy += own.xy - mass[i] * a.x * a.y;
        J.xz += own.xz - mass[i] * a.x * a.z;
        J.yz += own.yz - mass[i] * a.y * a.z;
    }
    ItmVec3 P = {output(&run, MOMENTA[0]), output(&run, MOMENTA[1]), output(&run, MOMENTA[2])};
    ItmVec3 L = {output(&run, MOMENTA[3]), output(&run, MOMENTA[4]), output(&run, MOMENTA[5])};
    L = itm_vec_sub(L, itm_vec_cross(middle, P));
    ItmVec3 w = itm_data_get_body_angular_velocity(run.m, run.d, 0);
    ItmVec3 spin = itm_sym_mul_vec(&J, w);
    CHECK_NEAR(itm_vec_norm(itm_vec_sub(spin, L)), 0.0, 1e-13);
    double energy = itm_vec_dot(P, P) / 14.0 + 0.5 * itm_vec_dot(w, L);
    CHECK_NEAR(output(&run, "energy.kinetic"), energy, 1e-13);
    // and stays one
    double grip = itm_vec_norm(itm_vec_sub(x[1], x[0]));
    advance(&run, 100);
    CHECK_NEAR(relative_speed(&run), 0.0, 1e-10);
    CHECK_NEAR(output(&run, "energy.kinetic"), energy, 1e-9);
    for (int i = 0; i < 2; i++) {
        ItmPose pose = itm_data_get_body_pose(run.m, run.d, i);
        x[i] = itm_vec_add(pose.p, itm_quat_rotate(pose.q, com[i]));
    }
    CHECK_NEAR(itm_vec_norm(itm_vec_sub(x[1], x[0])), grip, 1e-10);
    finish_run(&run);
}

static void released_bodies_go_their_ways(void** state)
{
    (void)state;
    ItmModelBuilder* b = flying_pair(ITM_COORDINATES_JOINT);
    add_event(b, 0.2, 0, false);
    add_event(b, 0.1, 0, true);  // events need not be in order
    Run run = start(b, ITM_STEPPER_EULER, 1e-3);
    advance(&run, 99);
    assert_true(output(&run, "hand.closed") == 0.0 && output(&run, "hand.force.x") == 0.0);
    advance(&run, 1);
    assert_true(output(&run, "hand.closed") == 1.0 && output(&run, "hand.force.x") != 0.0);
    advance(&run, 100);
    assert_true(output(&run, "hand.closed") == 0.0 && output(&run, "hand.force.x") == 0.0);
    // without forces each centre of mass goes straight on; the box frame is its centre of mass
    ItmVec3 p = itm_data_get_body_pose(run.m, run.d, 1).p, u = itm_data_get_body_velocity(run.m, run.d, 1);
    advance(&run, 500);
    ItmVec3 q = itm_data_get_body_pose(run.m, run.d, 1).p;
    CHECK_NEAR(itm_vec_norm(itm_vec_sub(q, itm_vec_axpy(0.5, u, p))), 0.0, 1e-13);
    CHECK_NEAR(output(&run, "energy.balance"), 0.0, 1e-5);  // of the step; observed 1e-6
    finish_run(&run);
}

// ---------------------------------------------------------------------------- locking

// Two rods on parallel hinges; the lower one hangs at `bend` from the upper one, or is welded there.
static ItmModelBuilder* rods(ItmCoordinates coordinates, bool is_welded)
{
    ItmError error = {0};
    ItmModelBuilder* b = begin(coordinates, (ItmVec3){0, 0, -9.81});
    static const char* const NAMES[2] = {"upper", "lower"};
    static const char* const HINGES[2] = {"shoulder", "elbow"};
    for (int i = 0; i < 2; i++) {
        ItmBodyDef rod = itm_default_body_def();
        rod.name = NAMES[i];
        rod.mass = 1.0 + i;
        rod.com = (ItmVec3){0, 0, -0.5};
        rod.inertia = (ItmSym3){0.1, 0.1, 0.01, 0, 0, 0};
        CHECK_OK(itm_model_builder_add_body(b, &rod, NULL, &error), &error);
        ItmJointDef hinge =
            itm_scene_hinge(HINGES[i], i == 0 ? ITM_GROUND : i - 1, (ItmVec3){0, 0, i == 0 ? 0.0 : -1.0}, i,
                            (ItmVec3){0, 0, 0}, (ItmVec3){0, 1, 0});
        itm_scene_set_start(&hinge, ITM_RZ, i == 0 ? 0.7 : 0.9, 0.0);
        if (i == 1 && is_welded) {
            hinge = itm_default_joint_def(ITM_JOINT_FIXED);
            hinge.name = HINGES[i];
            hinge.body_a = 0;
            hinge.body_b = 1;
            hinge.frame_a = (ItmPose){{0, 0, -1}, {cos(0.45), 0, sin(0.45), 0}};
        }
        CHECK_OK(itm_model_builder_add_joint(b, &hinge, NULL, &error), &error);
    }
    return b;
}

static void a_locked_joint_is_a_weld(void** state)
{
    (void)state;
    for (int c = 0; c < 2; c++) {
        ItmModelBuilder* b = rods(COORDINATES[c], false);
        add_event(b, 0.0, add_latch(b, "brake", ITM_LATCH_DIRECTION, 1, ITM_RZ), true);
        Run locked = start(b, ITM_STEPPER_REFERENCE, 0.1);
        Run welded = start(rods(COORDINATES[c], true), ITM_STEPPER_REFERENCE, 0.1);
        assert_int_equal(itm_model_get_info(locked.m).freedom, 2);
        for (int i = 0; i < 15; i++) {
            advance(&locked, 1);
            advance(&welded, 1);
            ItmVec3 p = itm_data_get_body_pose(locked.m, locked.d, 1).p,
                    q = itm_data_get_body_pose(welded.m, welded.d, 1).p;
            CHECK_NEAR(itm_vec_norm(itm_vec_sub(p, q)), 0.0, 1e-9);
            CHECK_NEAR(output(&locked, "elbow.angle"), 0.9, 1e-10);
        }
        // what the brake holds is what the weld transmits about the hinge
        CHECK_NEAR(output(&locked, "brake.torque"), output(&welded, "elbow.torque.y"), 1e-7);
        assert_true(fabs(output(&locked, "brake.torque")) > 0.1);
        finish_run(&locked);
        finish_run(&welded);
    }
}

// Locked in full swing: the angle stays where it was, momentum about the shoulder is kept, energy goes into the impact.
static void a_joint_locked_in_motion_stops_at_once(void** state)
{
    (void)state;
    for (int c = 0; c < 2; c++) {
        for (int s = 0; s < NSTEPPER; s++) {
            ItmModelBuilder* b = rods(COORDINATES[c], false);
            int brake = add_latch(b, "brake", ITM_LATCH_DIRECTION, 1, ITM_RZ);
            add_event(b, 0.3, brake, true);
            Run run = start(b, STEPPERS[s], 1e-3);
            advance(&run, 299);
            double rate = output(&run, "elbow.angle_rate");
            assert_true(fabs(rate) > 0.5);
            advance(&run, 1);
            double angle = output(&run, "elbow.angle"), spin = output(&run, "momentum.angular.y");
            CHECK_NEAR(output(&run, "elbow.angle_rate"), 0.0, 1e-12);
            assert_true(output(&run, "energy.impact") > 0.01);
            CHECK_OK(itm_latch_set(run.m, run.d, brake, true), itm_data_get_error(run.d));  // it is: nothing changes
            CHECK_NEAR(output(&run, "momentum.angular.y"), spin, 1e-14);
            advance(&run, 500);
            // ALI1 leaves gaps of the order of the fall in a step, g h^2, the others close them
            CHECK_NEAR(output(&run, "elbow.angle"), angle, STEPPERS[s] == ITM_STEPPER_ALI1 ? 1e-5 : 1e-10);
            finish_run(&run);
        }
    }
}

// An open latch leaves everything as it is without it.
static void an_open_latch_does_nothing(void** state)
{
    (void)state;
    for (int c = 0; c < 2; c++) {
        ItmModelBuilder* b = rods(COORDINATES[c], false);
        add_latch(b, "brake", ITM_LATCH_DIRECTION, 1, ITM_RZ);
        add_latch(b, "hand", ITM_LATCH_BODIES, ITM_GROUND, 1);
        Run with = start(b, ITM_STEPPER_EULER, 1e-3),
            without = start(rods(COORDINATES[c], false), ITM_STEPPER_EULER, 1e-3);
        assert_int_equal(itm_model_get_info(with.m).freedom, 2);
        assert_int_equal(itm_model_get_info(with.m).nrow, itm_model_get_info(without.m).nrow);
        assert_int_equal(itm_model_get_info(with.m).nredundant, 0);
        for (int i = 0; i < itm_model_get_info(without.m).nrow + 7; i++) {
            assert_false(itm_model_is_row_redundant(with.m, i));
        }
        advance(&with, 1000);
        advance(&without, 1000);
        assert_int_equal(itm_data_get_step_info(with.d).nredundant, 0);
        // the same arithmetic but for the order of elimination: gaps are closed to 1e-11
        CHECK_NEAR(output(&with, "elbow.angle"), output(&without, "elbow.angle"), 1e-9);
        finish_run(&with);
        finish_run(&without);
    }
}

// Everything held twice over: rows that depend on others are left out, and nothing moves.
static void redundant_latches_are_no_trouble(void** state)
{
    (void)state;
    for (int c = 0; c < 2; c++) {
        for (int s = 0; s < NSTEPPER; s++) {
            ItmModelBuilder* b = rods(COORDINATES[c], false);
            add_event(b, 0.1, add_latch(b, "brake1", ITM_LATCH_DIRECTION, 0, ITM_RZ), true);
            add_event(b, 0.1, add_latch(b, "brake2", ITM_LATCH_DIRECTION, 1, ITM_RZ), true);
            add_event(b, 0.1, add_latch(b, "hand", ITM_LATCH_BODIES, ITM_GROUND, 1), true);
            add_event(b, 0.2, add_latch(b, "grip", ITM_LATCH_BODIES, 0, 1), true);
            add_event(b, 0.3, 2, false);
            Run run = start(b, STEPPERS[s], 1e-2);
            advance(&run, 10);
            ItmVec3 p = itm_data_get_body_pose(run.m, run.d, 1).p;
            advance(&run, 40);
            ItmVec3 q = itm_data_get_body_pose(run.m, run.d, 1).p;
            CHECK_NEAR(itm_vec_norm(itm_vec_sub(p, q)), 0.0,
                       STEPPERS[s] == ITM_STEPPER_ALI1 ? 1e-3 : 1e-9);  // g h^2; observed 2e-5
            // and closes them at a rate of 0.1 / h: 3 kg (1e-3 m 10/s)^2 / 2; observed 7e-9
            CHECK_NEAR(output(&run, "energy.kinetic"), 0.0, STEPPERS[s] == ITM_STEPPER_ALI1 ? 1.5e-4 : 1e-9);
            if (STEPPERS[s] == ITM_STEPPER_EULER) {
                assert_int_equal(itm_data_get_step_info(run.d).nredundant, 6);  // of grip, beside hinge and brakes
            }
            finish_run(&run);
        }
    }
}

// ---------------------------------------------------------------------------- state, errors

static void a_checkpoint_before_an_event_continues_bit_for_bit(void** state)
{
    (void)state;
    ItmModelBuilder* b = flying_pair(ITM_COORDINATES_JOINT);
    add_event(b, 0.03, 0, true);
    add_event(b, 0.06, 0, false);
    Run run = start(b, ITM_STEPPER_EULER, 1e-3);
    size_t size = itm_data_get_state_size(run.m, run.d);
    void* early = malloc(size);
    void* late = malloc(size);
    double results[2][2];
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 0) {
            advance(&run, 20);
            CHECK_OK(itm_data_save(run.m, run.d, early, size), itm_data_get_error(run.d));
        } else {
            CHECK_OK(itm_data_restore(run.m, run.d, early, size), itm_data_get_error(run.d));
        }
        advance(&run, 20);
        if (pass == 0) {
            CHECK_OK(itm_data_save(run.m, run.d, late, size), itm_data_get_error(run.d));
        } else {
            CHECK_OK(itm_data_restore(run.m, run.d, late, size), itm_data_get_error(run.d));
        }
        advance(&run, 60);
        results[pass][0] = output(&run, "box.position.x");
        results[pass][1] = output(&run, "tool.orientation.w");
    }
    assert_memory_equal(results[0], results[1], sizeof results[0]);
    itm_reset(run.m, run.d);
    assert_false(itm_latch_is_closed(run.m, run.d, 0));
    advance(&run, 100);
    assert_true(output(&run, "box.position.x") == results[0][0]);
    free(early);
    free(late);
    finish_run(&run);
}

static void latches_and_events_are_checked(void** state)
{
    (void)state;
    ItmError error = {0};
    ItmModelBuilder* b = rods(ITM_COORDINATES_JOINT, false);
    ItmLatchDef def = itm_default_latch_def(ITM_LATCH_DIRECTION);
    def.name = "brake";
    def.joint = 5;
    assert_int_equal(itm_model_builder_add_latch(b, &def, NULL, &error), ITM_ERR_INPUT);
    assert_string_equal(error.field, "joint");
    def.joint = 1;
    def.direction = ITM_TX;
    assert_int_equal(itm_model_builder_add_latch(b, &def, NULL, &error), ITM_ERR_INPUT);
    assert_string_equal(error.field, "direction");
    def.kind = (ItmLatchKind)7;
    assert_int_equal(itm_model_builder_add_latch(b, &def, NULL, &error), ITM_ERR_INPUT);
    assert_string_equal(error.field, "kind");
    def = itm_default_latch_def(ITM_LATCH_BODIES);
    def.name = "hand";
    assert_int_equal(itm_model_builder_add_latch(b, &def, NULL, &error), ITM_ERR_INPUT);  // ground and ground
    def.name = "elbow";
    def.body_b = 1;
    assert_int_equal(itm_model_builder_add_latch(b, &def, NULL, &error), ITM_ERR_INPUT);
    assert_string_equal(error.field, "name");
    ItmEventDef event = {.time = 1.0, .latch = 0};
    assert_int_equal(itm_model_builder_add_event(b, &event, &error), ITM_ERR_INPUT);
    assert_string_equal(error.field, "latch");
    int brake = add_latch(b, "brake", ITM_LATCH_DIRECTION, 1, ITM_RZ);
    event.latch = brake;
    for (int i = 0; i < 3; i++) {
        event.time = (double[]){-1.0, NAN, INFINITY}[i];
        assert_int_equal(itm_model_builder_add_event(b, &event, &error), ITM_ERR_INPUT);
        assert_string_equal(error.field, "time");
    }
    // a motion that never yields and a lock exclude each other, in either order
    ItmSignalDef signal = itm_default_signal_def();
    signal.name = "rest";
    ItmMotionDef motion = itm_default_motion_def();
    motion.name = "drive";
    motion.joint = 1;
    motion.direction = ITM_RZ;
    motion.kind = ITM_MOTION_VELOCITY;
    CHECK_OK(itm_model_builder_add_signal(b, &signal, &motion.signal, &error), &error);
    assert_int_equal(itm_model_builder_add_motion(b, &motion, NULL, &error), ITM_ERR_INPUT);
    motion.joint = 0;
    CHECK_OK(itm_model_builder_add_motion(b, &motion, NULL, &error), &error);
    def = itm_default_latch_def(ITM_LATCH_DIRECTION);
    def.name = "brake0";
    def.joint = 0;
    assert_int_equal(itm_model_builder_add_latch(b, &def, NULL, &error), ITM_ERR_INPUT);
    assert_string_equal(error.field, "direction");

    ItmModel* m = NULL;
    ItmData* d = NULL;
    CHECK_OK(itm_model_build(&m, b, &error), &error);
    itm_model_builder_destroy(b);
    ItmStepOptions options = itm_default_step_options();
    options.stepper = ITM_STEPPER_ALI3P;
    assert_int_equal(itm_data_create(&d, m, &options, &error), ITM_ERR_UNSUPPORTED);
    CHECK_OK(itm_data_create(&d, m, NULL, &error), &error);
    assert_int_equal(itm_latch_set(m, d, 1, true), ITM_ERR_ARGUMENT);
    assert_int_equal(itm_latch_find(m, "brake"), brake);
    assert_int_equal(itm_latch_find(m, "hand"), ITM_NONE);
    itm_data_destroy(d);
    itm_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grasping_conserves_momentum_and_stops_relative_motion),
        cmocka_unit_test(a_grasped_pair_moves_as_one_body),
        cmocka_unit_test(released_bodies_go_their_ways),
        cmocka_unit_test(a_locked_joint_is_a_weld),
        cmocka_unit_test(a_joint_locked_in_motion_stops_at_once),
        cmocka_unit_test(an_open_latch_does_nothing),
        cmocka_unit_test(redundant_latches_are_no_trouble),
        cmocka_unit_test(a_checkpoint_before_an_event_continues_bit_for_bit),
        cmocka_unit_test(latches_and_events_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
