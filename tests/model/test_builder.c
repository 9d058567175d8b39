#include "check.h"

#include "interim/model.h"
#include "math/vec.h"
#include "multibody/model_builder.h"

// A builder with two bodies, a hinge between ground and the first, a ball joint between the two,
// and a signal.
static ItmModelBuilder* make_builder(void)
{
    ItmModelBuilder* b = NULL;
    ItmError error;
    CHECK_OK(itm_model_builder_create(&b, NULL, &error), &error);
    ItmBodyDef body = itm_default_body_def();
    body.name = "rod";
    CHECK_OK(itm_model_builder_add_body(b, &body, NULL, &error), &error);
    body.name = "bob";
    CHECK_OK(itm_model_builder_add_body(b, &body, NULL, &error), &error);
    ItmJointDef hinge = itm_default_joint_def(ITM_JOINT_REVOLUTE);
    hinge.name = "hinge";
    hinge.body_b = 0;
    CHECK_OK(itm_model_builder_add_joint(b, &hinge, NULL, &error), &error);
    ItmJointDef ball = itm_default_joint_def(ITM_JOINT_SPHERICAL);
    ball.name = "ball";
    ball.body_a = 0;
    ball.body_b = 1;
    CHECK_OK(itm_model_builder_add_joint(b, &ball, NULL, &error), &error);
    ItmSignalDef signal = itm_default_signal_def();
    signal.name = "one";
    CHECK_OK(itm_model_builder_add_signal(b, &signal, NULL, &error), &error);
    return b;
}

static void expect_refused(ItmStatus status, const ItmError* error, const char* field, const char* word)
{
    assert_int_equal(status, ITM_ERR_INPUT);
    assert_int_equal(error->status, ITM_ERR_INPUT);
    assert_string_equal(error->field, field);
    if (strstr(error->message, word) == NULL) {
        fail_msg("'%s' is not in: %s", word, error->message);
    }
}

static void definitions_are_copied_and_numbered(void** state)
{
    (void)state;
    ItmModelBuilder* b = make_builder();
    ItmError error;
    char name[] = "third";
    ItmBodyDef body = itm_default_body_def();
    body.name = name;
    int id = -7;
    CHECK_OK(itm_model_builder_add_body(b, &body, &id, &error), &error);
    assert_int_equal(id, 2);
    name[0] = 'X';
    assert_string_equal(b->bodies.items[2].name, "third");
    assert_int_equal(itm_model_builder_find(b, ITM_ELEMENT_BODY, "third", 5), 2);
    assert_int_equal(itm_model_builder_find(b, ITM_ELEMENT_JOINT, "third", 5), ITM_NONE);
    assert_int_equal(itm_model_builder_find(b, ITM_ELEMENT_JOINT, "ball", 4), 1);
    assert_int_equal(itm_model_builder_find(b, ITM_ELEMENT_SIGNAL, "one", 3), 0);

    double times[] = {0, 1}, values[] = {5, 6};
    ItmSignalDef table = itm_default_signal_def();
    table.name = "table";
    table.kind = ITM_SIGNAL_TABLE;
    table.times = times;
    table.values = values;
    table.npoint = 2;
    CHECK_OK(itm_model_builder_add_signal(b, &table, &id, &error), &error);
    values[1] = 0;
    assert_true(b->signals.items[id].values[1] == 6);
    itm_model_builder_destroy(b);
}

static void names_follow_the_rules(void** state)
{
    (void)state;
    ItmModelBuilder* b = make_builder();
    ItmError error;
    ItmBodyDef body = itm_default_body_def();
    const char* bad[] = {"", "ground", "a b", "a.b", "a\nb", "a,b", "a/b", "a=b", "a\"b", "\x7f", NULL};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        body.name = bad[i];
        expect_refused(itm_model_builder_add_body(b, &body, NULL, &error), &error, "name", "name");
    }
    char longest[66];
    memset(longest, 'n', 65);
    longest[65] = '\0';
    body.name = longest;
    expect_refused(itm_model_builder_add_body(b, &body, NULL, &error), &error, "name", "65 bytes");
    body.name = longest + 1;
    CHECK_OK(itm_model_builder_add_body(b, &body, NULL, &error), &error);
    body.name = "<script>";
    CHECK_OK(itm_model_builder_add_body(b, &body, NULL, &error), &error);
    itm_model_builder_destroy(b);
}

static void names_are_unique_over_all_kinds_but_signals(void** state)
{
    (void)state;
    ItmModelBuilder* b = make_builder();
    ItmError error;
    ItmSpringDef spring = itm_default_spring_def();
    spring.name = "rod";
    spring.body_b = 0;
    expect_refused(itm_model_builder_add_spring(b, &spring, NULL, &error), &error, "name", "a body of that name");
    assert_int_equal(b->springs.count, 0);
    spring.name = "one";  // a signal has that name: allowed
    CHECK_OK(itm_model_builder_add_spring(b, &spring, NULL, &error), &error);
    ItmSignalDef signal = itm_default_signal_def();
    signal.name = "one";
    expect_refused(itm_model_builder_add_signal(b, &signal, NULL, &error), &error, "name", "already");
    signal.name = "rod";
    CHECK_OK(itm_model_builder_add_signal(b, &signal, NULL, &error), &error);
    itm_model_builder_destroy(b);
}

static void a_hundred_thousand_names_take_no_quadratic_time(void** state)
{
    (void)state;
    ItmModelBuilder* b = make_builder();
    ItmError error;
    ItmBodyDef body = itm_default_body_def();
    char name[32];
    body.name = name;
    for (int i = 0; i < 100000; i++) {
        snprintf(name, sizeof name, "body%d", i);
        CHECK_OK(itm_model_builder_add_body(b, &body, NULL, &error), &error);
    }
    for (int i = 0; i < 100000; i++) {
        int length = snprintf(name, sizeof name, "body%d", i);
        assert_int_equal(itm_model_builder_find(b, ITM_ELEMENT_BODY, name, (size_t)length), i + 2);
    }
    itm_model_builder_destroy(b);
}

static void bodies_need_positive_mass_and_finite_numbers(void** state)
{
    (void)state;
    ItmModelBuilder* b = make_builder();
    ItmError error;
    const double masses[] = {0, -1, NAN, INFINITY};
    for (int i = 0; i < 4; i++) {
        ItmBodyDef body = itm_default_body_def();
        body.name = "x";
        body.mass = masses[i];
        expect_refused(itm_model_builder_add_body(b, &body, NULL, &error), &error, "mass", "positive");
    }
    ItmBodyDef body = itm_default_body_def();
    body.name = "x";
    body.com.y = NAN;
    expect_refused(itm_model_builder_add_body(b, &body, NULL, &error), &error, "com", "finite");
    body.com.y = 0;
    body.velocity.x = INFINITY;
    expect_refused(itm_model_builder_add_body(b, &body, NULL, &error), &error, "velocity", "finite");
    body.velocity.x = 0;
    body.angular_velocity.z = NAN;
    expect_refused(itm_model_builder_add_body(b, &body, NULL, &error), &error, "angular_velocity", "finite");
    body.angular_velocity.z = 0;
    body.has_pose = true;
    body.pose.q = (ItmQuat){0, 0, 0, 0};
    expect_refused(itm_model_builder_add_body(b, &body, NULL, &error), &error, "pose", "quaternion");
    body.pose.q = (ItmQuat){0, 0, 0, -2};
    int id;
    CHECK_OK(itm_model_builder_add_body(b, &body, &id, &error), &error);
    assert_true(b->bodies.items[id].pose.q.z == -1.0);
    assert_int_equal(itm_model_builder_add_body(NULL, &body, &id, &error), ITM_ERR_ARGUMENT);
    assert_int_equal(itm_model_builder_add_body(b, NULL, &id, NULL), ITM_ERR_ARGUMENT);
    itm_model_builder_destroy(b);
}

// R diag(moments) R' for a rotation about an oblique axis.
static ItmSym3 rotated(double x, double y, double z)
{
    ItmSym3 principal = {.xx = x, .yy = y, .zz = z};
    ItmMat3 R = itm_quat_to_mat(itm_quat_exp(itm_vec(0.3, -1.1, 0.7)));
    return itm_sym_rotate(&R, &principal);
}

static void inertia_must_be_that_of_a_solid(void** state)
{
    (void)state;
    ItmError error;
    ItmSym3 plate = rotated(1, 2, 3);  // limiting case: a flat plate
    CHECK_OK(itm_inertia_check(&plate, "x", &error), &error);
    ItmSym3 rod = rotated(1e-9, 1, 1);
    CHECK_OK(itm_inertia_check(&rod, "x", &error), &error);
    ItmSym3 huge = rotated(1e300, 1e300, 1e300), tiny = rotated(1e-300, 1e-300, 1e-300);
    CHECK_OK(itm_inertia_check(&huge, "x", &error), &error);
    CHECK_OK(itm_inertia_check(&tiny, "x", &error), &error);

    ItmSym3 impossible = rotated(1, 2, 3.01);
    expect_refused(itm_inertia_check(&impossible, "x", &error), &error, "inertia", "triangle");
    ItmSym3 line = rotated(0, 1, 1);
    expect_refused(itm_inertia_check(&line, "x", &error), &error, "inertia", "positive definite");
    ItmSym3 negative = rotated(-1, 2, 2);
    expect_refused(itm_inertia_check(&negative, "x", &error), &error, "inertia", "positive definite");
    ItmSym3 zero = {0};
    expect_refused(itm_inertia_check(&zero, "x", &error), &error, "inertia", "zero");
    ItmSym3 products = {.xx = 1, .yy = 1, .zz = 1, .xy = 1.5};
    expect_refused(itm_inertia_check(&products, "x", &error), &error, "inertia", "positive definite");
    ItmSym3 nan = {.xx = NAN, .yy = 1, .zz = 1};
    expect_refused(itm_inertia_check(&nan, "x", &error), &error, "inertia", "finite");
}

static void expect_joint(ItmModelBuilder* b, ItmJointDef def, const char* field, const char* word)
{
    ItmError error;
    def.name = "j";
    expect_refused(itm_model_builder_add_joint(b, &def, NULL, &error), &error, field, word);
    assert_int_equal(b->joints.count, 2);
    assert_int_equal(b->driven.count, 2);
}

static ItmJointDef joint_on_rod(ItmJointType type)
{
    ItmJointDef def = itm_default_joint_def(type);
    def.body_b = 0;
    return def;
}

static void joints_are_checked_field_by_field(void** state)
{
    (void)state;
    ItmModelBuilder* b = make_builder();
    ItmJointDef def = joint_on_rod(ITM_JOINT_TYPE_COUNT);
    expect_joint(b, def, "type", "10");
    def = joint_on_rod(ITM_JOINT_FIXED);
    def.body_a = 2;
    expect_joint(b, def, "body_a", "no body 2");
    def.body_a = ITM_NONE;  // a name that was not found must not become the ground
    expect_joint(b, def, "body_a", "ITM_GROUND");
    def.body_a = 0;
    expect_joint(b, def, "body_b", "itself");
    def = itm_default_joint_def(ITM_JOINT_FIXED);
    expect_joint(b, def, "body_b", "itself");
    def = joint_on_rod(ITM_JOINT_FIXED);
    def.frame_a.q = (ItmQuat){0, 0, 0, 0};
    expect_joint(b, def, "frame_a", "quaternion");
    def = joint_on_rod(ITM_JOINT_FIXED);
    def.frame_b.p.x = NAN;
    expect_joint(b, def, "frame_b", "finite");
    def = joint_on_rod(ITM_JOINT_SCREW);
    expect_joint(b, def, "pitch", "zero");
    def.pitch = 0.01;
    def.has_start[ITM_TZ] = def.has_start[ITM_RZ] = true;
    expect_joint(b, def, "start", "both");
    def = joint_on_rod(ITM_JOINT_REVOLUTE);
    def.pitch = 1;
    expect_joint(b, def, "pitch", "screw");
    def = joint_on_rod(ITM_JOINT_REVOLUTE);
    def.length = 1;
    expect_joint(b, def, "length", "distance");
    def = joint_on_rod(ITM_JOINT_DISTANCE);
    def.length = -1;
    expect_joint(b, def, "length", "negative");
    def = joint_on_rod(ITM_JOINT_GENERIC);
    def.free = 64;
    expect_joint(b, def, "free", "0x40");
    def = joint_on_rod(ITM_JOINT_REVOLUTE);
    def.has_start[ITM_TX] = true;
    expect_joint(b, def, "start", "tx");
    def = joint_on_rod(ITM_JOINT_REVOLUTE);
    def.has_start[ITM_RZ] = true;
    def.start_rate[ITM_RZ] = NAN;
    expect_joint(b, def, "start_rate", "finite");
    def = joint_on_rod(ITM_JOINT_REVOLUTE);
    def.stiffness = -1;
    expect_joint(b, def, "stiffness", "negative");
    def = joint_on_rod(ITM_JOINT_REVOLUTE);
    def.damping = -1;
    expect_joint(b, def, "damping", "negative");
    def = joint_on_rod(ITM_JOINT_REVOLUTE);
    def.coordinates = (ItmJointMode)9;
    expect_joint(b, def, "coordinates", "9");
    itm_model_builder_destroy(b);
}

static void couplings_and_motions_need_free_directions(void** state)
{
    (void)state;
    ItmModelBuilder* b = make_builder();
    ItmError error;
    ItmCouplingDef gear = itm_default_coupling_def();
    gear.name = "gear";
    expect_refused(itm_model_builder_add_coupling(b, &gear, NULL, &error), &error, "joint_first", "no joint");
    gear.joint_first = gear.joint_second = 0;
    expect_refused(itm_model_builder_add_coupling(b, &gear, NULL, &error), &error, "direction_second", "itself");
    gear.joint_second = 1;
    expect_refused(itm_model_builder_add_coupling(b, &gear, NULL, &error), &error, "direction_second", "no angle");
    gear.direction_first = ITM_TX;
    expect_refused(itm_model_builder_add_coupling(b, &gear, NULL, &error), &error, "direction_first", "not free");

    ItmMotionDef drive = itm_default_motion_def();
    drive.name = "drive";
    drive.joint = 0;
    expect_refused(itm_model_builder_add_motion(b, &drive, NULL, &error), &error, "signal", "no signal");
    drive.signal = 0;
    CHECK_OK(itm_model_builder_add_motion(b, &drive, NULL, &error), &error);
    drive.name = "again";
    drive.kind = ITM_MOTION_VELOCITY;
    expect_refused(itm_model_builder_add_motion(b, &drive, NULL, &error), &error, "direction", "another motion");
    drive.kind = ITM_MOTION_FORCE;
    CHECK_OK(itm_model_builder_add_motion(b, &drive, NULL, &error), &error);
    drive.name = "spin";
    drive.joint = 1;
    drive.kind = ITM_MOTION_POSITION;
    expect_refused(itm_model_builder_add_motion(b, &drive, NULL, &error), &error, "direction", "no angle");
    drive.kind = ITM_MOTION_VELOCITY;
    CHECK_OK(itm_model_builder_add_motion(b, &drive, NULL, &error), &error);
    itm_model_builder_destroy(b);
}

static void forces_are_checked_field_by_field(void** state)
{
    (void)state;
    ItmModelBuilder* b = make_builder();
    ItmError error;
    ItmLoadDef load = itm_default_load_def();
    load.name = "push";
    expect_refused(itm_model_builder_add_load(b, &load, NULL, &error), &error, "body", "no body");
    load.body = 1;
    load.signal = 1;
    expect_refused(itm_model_builder_add_load(b, &load, NULL, &error), &error, "signal", "no signal 1");
    load.signal = ITM_NONE;
    CHECK_OK(itm_model_builder_add_load(b, &load, NULL, &error), &error);

    ItmSpringDef spring = itm_default_spring_def();
    spring.name = "spring";
    spring.body_b = 1;
    spring.stiffness = -5;
    expect_refused(itm_model_builder_add_spring(b, &spring, NULL, &error), &error, "stiffness", "-5");

    ItmJointSpringDef coil = itm_default_joint_spring_def();
    coil.name = "coil";
    coil.joint = 1;
    coil.damping = 1;
    CHECK_OK(itm_model_builder_add_joint_spring(b, &coil, NULL, &error), &error);
    coil.name = "coil2";
    coil.stiffness = 1;
    expect_refused(itm_model_builder_add_joint_spring(b, &coil, NULL, &error), &error, "direction", "no angle");

    ItmBushingDef bushing = itm_default_bushing_def();
    bushing.name = "bushing";
    bushing.body_b = 1;
    bushing.damping[3] = NAN;
    expect_refused(itm_model_builder_add_bushing(b, &bushing, NULL, &error), &error, "damping", "finite");

    ItmActuatorDef jack = itm_default_actuator_def();
    jack.name = "jack";
    expect_refused(itm_model_builder_add_actuator(b, &jack, NULL, &error), &error, "body_b", "itself");
    jack.body_b = 0;
    CHECK_OK(itm_model_builder_add_actuator(b, &jack, NULL, &error), &error);
    itm_model_builder_destroy(b);
}

static void world_is_checked(void** state)
{
    (void)state;
    ItmModelBuilder* b = NULL;
    ItmError error;
    ItmWorldDef world = itm_default_world_def();
    world.gravity.x = NAN;
    expect_refused(itm_model_builder_create(&b, &world, &error), &error, "gravity", "finite");
    assert_null(b);
    world = itm_default_world_def();
    world.coordinates = (ItmCoordinates)7;
    expect_refused(itm_model_builder_create(&b, &world, &error), &error, "coordinates", "7");
    assert_int_equal(itm_model_builder_create(NULL, NULL, &error), ITM_ERR_ARGUMENT);
    itm_model_builder_destroy(NULL);
}

static void frame_of_an_axis_has_that_z_axis(void** state)
{
    (void)state;
    ItmError error;
    ItmPose frame;
    const ItmVec3 axes[] = {{0, 0, 1}, {1, 0, 0}, {0, -3, 0}, {1, 2, -2}, {1e-200, 0, 0}, {0, 0, -1e200}};
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        CHECK_OK(itm_model_frame_from_axis(&frame, itm_vec(1, 2, 3), axes[i], itm_vec(0, 0, 0), &error), &error);
        ItmVec3 z = itm_quat_rotate(frame.q, itm_vec(0, 0, 1));
        ItmVec3 cross = itm_vec_cross(z, axes[i]);
        double scale = fmax(fabs(axes[i].x), fmax(fabs(axes[i].y), fabs(axes[i].z)));
        // rounding of a handful of operations
        CHECK_NEAR(itm_vec_norm(itm_vec_scale(1 / scale, cross)), 0, 4e-15);
        assert_true(itm_vec_dot(z, itm_vec_scale(1 / scale, axes[i])) > 0);
        assert_true(frame.p.y == 2);
    }
    // z along z: the identity; a hint is made perpendicular; a parallel hint is replaced
    CHECK_OK(itm_model_frame_from_axis(&frame, itm_vec(0, 0, 0), itm_vec(0, 0, 5), itm_vec(0, 0, 1), &error), &error);
    CHECK_NEAR(fabs(frame.q.w), 1, 1e-15);
    CHECK_OK(itm_model_frame_from_axis(&frame, itm_vec(0, 0, 0), itm_vec(0, 0, 5), itm_vec(0, 1, 9), &error), &error);
    CHECK_NEAR(itm_quat_rotate(frame.q, itm_vec(1, 0, 0)).y, 1, 1e-15);
    expect_refused(itm_model_frame_from_axis(&frame, itm_vec(0, 0, 0), itm_vec(0, 0, 0), itm_vec(1, 0, 0), &error),
                   &error, "axis", "zero");
}

static void every_enum_constant_has_a_name(void** state)
{
    (void)state;
    for (int i = 0; i < ITM_JOINT_TYPE_COUNT; i++) {
        assert_string_not_equal(itm_model_joint_type_name((ItmJointType)i), "unknown");
    }
    for (int i = 0; i < ITM_ELEMENT_COUNT; i++) {
        assert_string_not_equal(itm_model_element_name((ItmElement)i), "unknown");
    }
    assert_string_equal(itm_model_joint_type_name(ITM_JOINT_SCREW), "screw");
    assert_string_equal(itm_model_direction_name(ITM_RY), "ry");
    assert_string_equal(itm_model_direction_name(ITM_DIRECTION_COUNT), "unknown");
    assert_string_equal(itm_model_joint_type_name(ITM_JOINT_TYPE_COUNT), "unknown");
}

static void free_directions_follow_the_type(void** state)
{
    (void)state;
    ItmJointDef def = itm_default_joint_def(ITM_JOINT_PLANAR);
    assert_int_equal(itm_model_get_free_directions(&def), 1 << ITM_TX | 1 << ITM_TY | 1 << ITM_RZ);
    def.type = ITM_JOINT_FIXED;
    assert_int_equal(itm_model_get_free_directions(&def), 0);
    def.type = ITM_JOINT_DISTANCE;
    assert_int_equal(itm_model_get_free_directions(&def), 63);
    def.type = ITM_JOINT_GENERIC;
    def.free = 5;
    assert_int_equal(itm_model_get_free_directions(&def), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(definitions_are_copied_and_numbered),
        cmocka_unit_test(names_follow_the_rules),
        cmocka_unit_test(names_are_unique_over_all_kinds_but_signals),
        cmocka_unit_test(a_hundred_thousand_names_take_no_quadratic_time),
        cmocka_unit_test(bodies_need_positive_mass_and_finite_numbers),
        cmocka_unit_test(inertia_must_be_that_of_a_solid),
        cmocka_unit_test(joints_are_checked_field_by_field),
        cmocka_unit_test(couplings_and_motions_need_free_directions),
        cmocka_unit_test(forces_are_checked_field_by_field),
        cmocka_unit_test(world_is_checked),
        cmocka_unit_test(frame_of_an_axis_has_that_z_axis),
        cmocka_unit_test(every_enum_constant_has_a_name),
        cmocka_unit_test(free_directions_follow_the_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
