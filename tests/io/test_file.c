// Model files: what is read, and where and how every kind of mistake is reported.
#include "read_text.h"

#include "math/vec.h"

#define PI 3.14159265358979323846

static void check_vec(ItmVec3 got, double x, double y, double z)
{
    // one rotation
    CHECK_NEAR(got.x, x, 2e-15);
    CHECK_NEAR(got.y, y, 2e-15);
    CHECK_NEAR(got.z, z, 2e-15);
}

// ---------------------------------------------------------------------------- what is read

static void smallest_file_gets_all_defaults(void** state)
{
    (void)state;
    Read r = accept("multibody: {bodies: {a: {mass: 2, inertia: [1, 2, 3]}}}");
    assert_string_equal(r.file.title, "");
    assert_string_equal(r.file.name, "");
    ItmStepOptions o = itm_default_step_options();
    assert_true(r.file.run.step.step == o.step && r.file.run.duration == 1 && r.file.run.output_interval == 0);
    const ItmBodyDef* body = &r.builder->bodies.items[0];
    assert_true(body->mass == 2 && body->inertia.zz == 3 && !body->has_pose);
    assert_true(r.builder->world.gravity.z == -9.81);
    assert_int_equal(r.builder->world.coordinates, ITM_COORDINATES_JOINT);
    done(&r);
}

static void all_of_the_head_is_read(void** state)
{
    (void)state;
    Read r = accept("interim: 1\n"
                    "title: A machine\n"
                    "multibody:\n"
                    "  name: arm\n"
                    "  gravity: [0, -9.81 m/s^2, 0]\n"
                    "  coordinates: absolute\n"
                    "  bodies: {a: {mass: 1 t, inertia: {xx: 2, yy: 3, zz: 4, xy: -0.1, yz: 0.2}, com: [1 mm, "
                    "0, 0],\n"
                    "               velocity: [36 km/h, 0, 0], angular_velocity: [0, 0, 60 rpm]}}\n"
                    "run: {duration: 2 s, step: 0.5 ms, output_interval: 10 ms, stepper: ali3p, tolerance: 1e-8,\n"
                    "      gap_tolerance: 1e-9, max_iterations: 7, penalty: 1e6, frequency: 20, damping_ratio: "
                    "0.7}\n");
    assert_string_equal(r.file.title, "A machine");
    assert_string_equal(r.file.name, "arm");
    const ItmBodyDef* body = &r.builder->bodies.items[0];
    CHECK_NEAR(body->mass, 1000, 0);
    assert_true(body->inertia.xy == -0.1 && body->inertia.xz == 0 && body->inertia.yz == 0.2);
    CHECK_NEAR(body->com.x, 1e-3, 0);
    CHECK_NEAR(body->velocity.x, 10, 1e-14);
    CHECK_NEAR(body->angular_velocity.z, 2 * PI, 1e-14);
    assert_int_equal(r.builder->world.coordinates, ITM_COORDINATES_ABSOLUTE);
    assert_true(r.builder->world.gravity.y == -9.81);
    const ItmRunSettings* run = &r.file.run;
    assert_int_equal(run->step.stepper, ITM_STEPPER_ALI3P);
    assert_true(run->duration == 2 && run->step.step == 0.5e-3 && run->output_interval == 0.01);
    assert_true(run->step.tolerance == 1e-8 && run->step.gap_tolerance == 1e-9 && run->step.max_iterations == 7);
    assert_true(run->step.penalty == 1e6 && run->step.frequency == 20 && run->step.damping_ratio == 0.7);
    done(&r);
}

static void parameters_refer_to_each_other_in_any_order(void** state)
{
    (void)state;
    Read r = accept("parameters: {m: 2*rho*V, V: a^3, a: 100 mm, rho: 1000 kg/m^3}\n"
                    "multibody: {bodies: {a: {mass: m, inertia: [m*a^2, m*a^2, m*a^2]}}}\n");
    CHECK_NEAR(r.builder->bodies.items[0].mass, 2, 1e-15);
    CHECK_NEAR(r.builder->bodies.items[0].inertia.xx, 0.02, 1e-17);
    done(&r);
}

static void shapes_give_mass_and_inertia(void** state)
{
    (void)state;
    Read r = accept("multibody:\n"
                    "  bodies:\n"
                    "    a: {density: 1000, shape: {box: [1, 2, 3]}}\n"
                    "    b: {mass: 5, shape: {sphere: 2}}\n"
                    "    c: {mass: 5, shape: {cylinder: {radius: 1, length: 2}, position: [1, 0, 0]}}\n"
                    "    d: {mass: 5, shape: {capsule: {radius: 1, length: 2}}}\n");
    CHECK_NEAR(r.builder->bodies.items[0].mass, 6000, 1e-12);
    CHECK_NEAR(r.builder->bodies.items[1].inertia.xx, 0.4 * 5 * 4, 1e-14);
    CHECK_NEAR(r.builder->bodies.items[2].com.x, 1, 0);
    CHECK_NEAR(r.builder->bodies.items[2].inertia.zz, 2.5, 1e-14);
    assert_true(r.builder->bodies.items[3].mass == 5);
    done(&r);
}

static void orientation_has_three_forms(void** state)
{
    (void)state;
    Read r = accept("multibody:\n"
                    "  bodies:\n"
                    "    a: {mass: 1, inertia: [1, 1, 1], orientation: [0, 0, 0, -2]}\n"
                    "    b: {mass: 1, inertia: [1, 1, 1], orientation: {axis: [0, 0, 3], angle: 90 deg}}\n"
                    "    c: {mass: 1, inertia: [1, 1, 1], orientation: {euler: [90 deg, 0, 90 deg]}}\n");
    const ItmBodyDef* b = r.builder->bodies.items;
    assert_true(b[0].has_pose && b[0].pose.q.z == -1);
    check_vec(itm_quat_rotate(b[1].pose.q, itm_vec(1, 0, 0)), 0, 1, 0);
    // about fixed axes, x first: y goes to z and stays there; z goes to -y, then to x
    check_vec(itm_quat_rotate(b[2].pose.q, itm_vec(0, 1, 0)), 0, 0, 1);
    check_vec(itm_quat_rotate(b[2].pose.q, itm_vec(0, 0, 1)), 1, 0, 0);
    done(&r);
}

static void joint_frames_from_a_world_axis_coincide_at_the_start(void** state)
{
    (void)state;
    Read r = accept_after_head("  joints:\n"
                               "    j: {type: revolute, bodies: [rod, box], at: [4, 5, 6], axis: [1, 0, 0]}\n");
    const ItmJointDef* j = &r.builder->joints.items[0];
    check_vec(j->frame_a.p, 3, 3, 3);
    check_vec(j->frame_b.p, 5, -4, 6);
    ItmPose a = itm_pose_mul(r.builder->bodies.items[0].pose, j->frame_a);
    ItmPose b = itm_pose_mul(r.builder->bodies.items[2].pose, j->frame_b);
    check_vec(itm_vec_sub(a.p, b.p), 0, 0, 0);
    for (int i = 0; i < 3; i++) {
        ItmVec3 e = itm_vec(i == 0, i == 1, i == 2);
        check_vec(itm_vec_sub(itm_quat_rotate(a.q, e), itm_quat_rotate(b.q, e)), 0, 0, 0);
    }
    check_vec(itm_quat_rotate(a.q, itm_vec(0, 0, 1)), 1, 0, 0);
    done(&r);
}

static void every_joint_type_is_read(void** state)
{
    (void)state;
    Read r =
        accept_after_head("  joints:\n"
                          "    j0: {type: fixed, bodies: [ground, rod]}\n"
                          "    j1: {type: revolute, bodies: [ground, rod], start: 30 deg, start_rate: 2 rad/s, "
                          "coordinates: rows}\n"
                          "    j2: {type: prismatic, bodies: [ground, rod], start: 5 mm}\n"
                          "    j3: {type: cylindrical, bodies: [ground, rod], start: {tz: 1, rz: 2}}\n"
                          "    j4: {type: spherical, bodies: [ground, rod], start_rate: {rx: 1}}\n"
                          "    j5: {type: universal, bodies: [ground, rod]}\n"
                          "    j6: {type: planar, bodies: [ground, rod]}\n"
                          "    j7: {type: distance, bodies: [bob, rod], point_a: [1, 0, 0], at_b: [1, 2, 4], length: "
                          "3 m}\n"
                          "    j8: {type: screw, bodies: [ground, rod], pitch: 5 mm, start: 1 rad}\n"
                          "    j9: {type: generic, bodies: [ground, rod], free: [tx, rz], stiffness: 1 MN/m, "
                          "damping: 2 kN s/m,\n"
                          "         frame_a: {position: [1, 0, 0], axis: [0, 1, 0]}, frame_b: {orientation: [1, 0, "
                          "0, 0]}}\n");
    const ItmJointDef* j = r.builder->joints.items;
    assert_int_equal(r.builder->joints.count, ITM_JOINT_TYPE_COUNT);
    for (int i = 0; i < ITM_JOINT_TYPE_COUNT; i++) {
        assert_int_equal(j[i].type, i);
    }
    CHECK_NEAR(j[1].start[ITM_RZ], PI / 6, 1e-16);
    assert_true(j[1].has_start[ITM_RZ] && j[1].start_rate[ITM_RZ] == 2 && j[1].coordinates == ITM_JOINT_ROWS);
    assert_true(j[2].start[ITM_TZ] == 0.005 && j[3].start[ITM_RZ] == 2 && j[4].start_rate[ITM_RX] == 1);
    assert_true(j[7].frame_a.p.x == 1 && j[7].length == 3);
    check_vec(j[7].frame_b.p, 0, 0, 1);
    assert_true(j[8].pitch == 0.005 && j[8].has_start[ITM_RZ] && !j[8].has_start[ITM_TZ]);
    assert_int_equal(j[9].free, 1 << ITM_TX | 1 << ITM_RZ);
    assert_true(j[9].stiffness == 1e6 && j[9].damping == 2e3);
    check_vec(itm_quat_rotate(j[9].frame_a.q, itm_vec(0, 0, 1)), 0, 1, 0);
    done(&r);
}

static void couplings_motions_and_forces_are_read(void** state)
{
    (void)state;
    Read r =
        accept_after_head("  joints:\n"
                          "    hinge: {type: revolute, bodies: [ground, rod]}\n"
                          "    slide: {type: prismatic, bodies: [ground, bob]}\n"
                          "  couplings:\n"
                          "    rack: {type: rack, first: slide, second: hinge.rz, ratio: 40 mm/rad}\n"
                          "  motions:\n"
                          "    push: {joint: slide, force: lift}\n"
                          "    turn: {joint: hinge.rz, velocity: 60 rpm}\n"
                          "    shake: {joint: slide.tz, position: {sine: {amplitude: 1 mm, frequency: 5 Hz, phase: "
                          "90 deg}}}\n"
                          "  forces:\n"
                          "    f: {type: force, body: rod, vector: [0, 0, 1], signal: lift, at: [1, 2, 4], frame: "
                          "body}\n"
                          "    t: {type: torque, body: rod, vector: [0, 0, 2 N m]}\n"
                          "    s: {type: spring, bodies: [rod, ground], at_a: [1, 2, 3], stiffness: 2 N/mm, damping: "
                          "3, preload: 1 N}\n"
                          "    c: {type: joint-spring, joint: hinge, stiffness: 5 N m/rad, damping: 1 N m s, rest: "
                          "10 deg}\n"
                          "    b: {type: bushing, bodies: [ground, rod], at: [0, 0, 0], stiffness: {t: 5, rz: 2}, "
                          "damping: {ty: 1}}\n"
                          "    a: {type: actuator, bodies: [ground, bob], point_a: [0, 0, L], force: lift}\n");
    const ItmModelBuilder* b = r.builder;
    CHECK_NEAR(b->couplings.items[0].ratio, 0.04, 0);
    assert_int_equal(b->couplings.items[0].direction_first, ITM_TZ);
    assert_int_equal(b->motions.items[0].kind, ITM_MOTION_FORCE);
    assert_int_equal(b->motions.items[0].signal, 0);
    assert_int_equal(b->motions.items[1].kind, ITM_MOTION_VELOCITY);
    CHECK_NEAR(b->signals.items[b->motions.items[1].signal].value, 2 * PI, 1e-14);
    assert_int_equal(b->signals.items[b->motions.items[2].signal].kind, ITM_SIGNAL_SINE);
    assert_string_equal(b->signals.items[b->motions.items[2].signal].name, "shake:signal");
    assert_true(b->loads.items[0].in_body && !b->loads.items[0].is_torque && b->loads.items[0].signal == 0);
    check_vec(b->loads.items[0].point, 0, 0, 1);
    assert_true(b->loads.items[1].is_torque && b->loads.items[1].vector.z == 2);
    CHECK_NEAR(b->springs.items[0].stiffness, 2000, 1e-12);
    assert_true(b->springs.items[0].length < 0 && b->springs.items[0].preload == 1);
    CHECK_NEAR(b->joint_springs.items[0].rest, PI / 18, 1e-16);
    assert_true(b->bushings.items[0].stiffness[ITM_TY] == 5 && b->bushings.items[0].stiffness[ITM_RZ] == 2);
    assert_true(b->bushings.items[0].stiffness[ITM_RX] == 0 && b->bushings.items[0].damping[ITM_TY] == 1);
    check_vec(b->bushings.items[0].frame_b.p, -1, -2, -3);
    assert_true(b->actuators.items[0].signal == 0 && b->actuators.items[0].point_a.z == 2);
    done(&r);
}

static void events_are_read(void** state)
{
    (void)state;
    Read r = accept_after_head("  joints:\n"
                               "    hinge: {type: revolute, bodies: [ground, rod]}\n"
                               "    ball: {type: spherical, bodies: [rod, bob]}\n"
                               "  events:\n"
                               "    - {at: 1.5 s, lock: hinge}\n"
                               "    - {at: 500 ms, grasp: [rod, bob], name: hand}\n"
                               "    - {at: 2, release: [bob, rod]}\n"
                               "    - {at: 3, lock: ball}\n"
                               "    - {at: 4, release: hinge.rz}\n");
    const ItmModelBuilder* b = r.builder;
    assert_int_equal(b->latches.count, 2);  // a spherical joint is held as its two bodies are
    assert_string_equal(b->latches.items[0].name, "lock-hinge");
    assert_true(b->latches.items[0].kind == ITM_LATCH_DIRECTION && b->latches.items[0].direction == ITM_RZ);
    assert_string_equal(b->latches.items[1].name, "hand");
    assert_true(b->latches.items[1].kind == ITM_LATCH_BODIES);
    assert_int_equal(b->events.count, 5);
    assert_true(b->events.items[1].time == 0.5 && b->events.items[1].closes && b->events.items[1].latch == 1);
    assert_true(!b->events.items[2].closes && b->events.items[2].latch == 1);
    assert_true(b->events.items[3].closes && b->events.items[3].latch == 1);
    assert_true(!b->events.items[4].closes && b->events.items[4].latch == 0);
    done(&r);
}

static void events_are_checked(void** state)
{
    (void)state;
#define HINGE "  joints: {h: {type: revolute, bodies: [ground, rod]}}\n"
    refuse_after_head(HINGE "  events: {at: 1}\n", 2, 11, "list of events");
    refuse_after_head(HINGE "  events: [{lock: h}]\n", 2, 12, "needs 'at'");
    refuse_after_head(HINGE "  events: [{at: 1}]\n", 2, 12, "exactly one of");
    refuse_after_head(HINGE "  events: [{at: 1, lock: h, grasp: [rod, bob]}]\n", 2, 12, "exactly one of");
    refuse_after_head(HINGE "  events: [{at: -1, lock: h}]\n", 2, 17, "zero or positive");
    refuse_after_head(HINGE "  events: [{at: 1 m, lock: h}]\n", 2, 17, "expected s");
    refuse_after_head(HINGE "  events: [{at: 1, lock: hh}]\n", 2, 26, "'h'");
    refuse_after_head(HINGE "  events: [{at: 1, lock: h.tx}]\n", 2, 26, "not free");
    refuse_after_head(HINGE "  events: [{at: 1, release: h}]\n", 2, 29, "locks or grasps");
    refuse_after_head(HINGE "  events: [{at: 1, grasp: rod}]\n", 2, 27, "two names of bodies");
    refuse_after_head(HINGE "  events: [{at: 1, lock: h, name: rod}]\n", 2, 35, "already");
    refuse_after_head(HINGE "  motions: {m: {joint: h, velocity: 1}}\n  events: [{at: 1, lock: h}]\n", 3, 26,
                      "force limit");
}

static void every_kind_of_signal_is_read(void** state)
{
    (void)state;
    Read r = accept("signals:\n"
                    "  a: 5 kN\n"
                    "  b: {ramp: {start: 1, end: 2, from: 1 deg, to: 2 deg}}\n"
                    "  c: {sine: {offset: 1, amplitude: 2, frequency: 3 Hz, phase: 4}}\n"
                    "  d: {table: {times: [0, 1 ms], values: [1 N, 2], interpolation: cubic}}\n"
                    "  e: {piecewise: {times: [0], values: [7]}}\n"
                    "  f: {ramp: {end: 2, to: 3, smooth: true}}\n"
                    "multibody: {bodies: {a: {mass: 1, inertia: [1, 1, 1]}}}\n");
    const ItmSignalDef* s = r.builder->signals.items;
    assert_true(s[0].kind == ITM_SIGNAL_CONSTANT && s[0].value == 5000);
    assert_true(s[1].kind == ITM_SIGNAL_RAMP && !s[1].is_smooth && s[1].t_end == 2);
    assert_true(s[2].kind == ITM_SIGNAL_SINE && s[2].phase == 4);
    assert_true(s[3].interpolation == ITM_INTERPOLATE_CUBIC && s[3].times[1] == 0.001 && s[3].values[1] == 2);
    assert_true(s[4].kind == ITM_SIGNAL_PIECEWISE && s[4].npoint == 1 && s[4].values[0] == 7);
    assert_true(s[5].kind == ITM_SIGNAL_RAMP && s[5].is_smooth && s[5].t_start == 0 && s[5].from == 0);
    assert_false(itm_default_signal_def().is_smooth);  // straight by default in C, too
    done(&r);
}

static void titles_are_written_in_any_style(void** state)
{
    (void)state;
#define BODY "\nmultibody: {bodies: {a: {mass: 1, inertia: [1, 1, 1]}}}\n"
    const char* texts[] = {
        "title: It's a b" BODY,    "title: 'It''s a b'" BODY,    "title: \"It's \\\n  a\\x20b\"" BODY,
        "title: It's\n  a b" BODY, "title: |-\n  It's a b" BODY, "title: >-\n  It's\n  a b" BODY};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        Read r = accept(texts[i]);
        assert_string_equal(r.file.title, "It's a b");
        done(&r);
    }
    Read r = accept("title: ''''''''''''" BODY);
    assert_string_equal(r.file.title, "'''''");
    done(&r);
}

static void keys_with_nothing_under_them_are_empty(void** state)
{
    (void)state;
    Read r = accept("parameters:\nsignals:\nmultibody:\n  bodies: {a: {mass: 1, inertia: [1, 1, 1]}}\n"
                    "  joints:\n  #  j: {type: fixed}\n  forces:\nrun:\n");
    assert_int_equal(r.builder->joints.count, 0);
    done(&r);
}

static void anchors_save_typing(void** state)
{
    (void)state;
    Read r = accept("multibody:\n"
                    "  bodies:\n"
                    "    a: &rod {mass: 3, inertia: &i [1, 1, 1]}\n"
                    "    b: *rod\n"
                    "    c: {mass: 4, inertia: *i}\n");
    assert_int_equal(r.builder->bodies.count, 3);
    assert_true(r.builder->bodies.items[1].mass == 3 && r.builder->bodies.items[2].mass == 4);
    done(&r);
}

// ---------------------------------------------------------------------------- YAML and limits

static void broken_yaml_is_located(void** state)
{
    (void)state;
    refuse("", 1, 1, "the file is empty");
    refuse("# only a comment\n", 1, 1, "the file is empty");
    refuse("multibody: {bodies: [}\n", 1, 21, "this '[' is not closed");
    refuse("a: 1\nb: 2 : 3\n", 2, 6, "a second ':' in this line");
    refuse("run: {step: 1}\nrun: {step: 2}\n", 2, 1, "'run' is given twice");
    refuse("run: *x\n", 1, 6, "refers to no anchor");
    refuse("a: &x 1\nb: &x 2\n", 2, 7, "twice");
    refuse("a: &x [*x]\n", 1, 8, "refers to no anchor");
    refuse("? [a, b]\n: 1\n", 1, 3, "a key must be a word");
    refuse("title: !!str x\n", 1, 14, "tags");
    refuse("title: a\n---\ntitle: b\n", 2, 1, "second YAML document");
    refuse("just text", 1, 1, "a model file: expected a mapping");
    refuse("[1, 2]", 1, 1, "a model file: expected a mapping");
    refuse("title: \"a\\0b\"\n", 1, 9, "control character");
    refuse("title: 'a\n  b'\n", 1, 9, "single quotes must end on its line");
}

static void bytes_that_are_not_text_are_located(void** state)
{
    (void)state;
    const char nul[] = "run:\n  x: \0";
    Read r = read_length(nul, sizeof nul - 1, NULL);
    expect_error(&r, nul, "model.yaml", 2, 6, "control character 0x00");
    refuse("title: \xff\n", 1, 8, "0xff is not valid UTF-8");
    refuse("title: µ\x01\n", 1, 9, "control character 0x01");
    refuse("\xfe\xff", 1, 1, "UTF-8");
}

static void nesting_has_an_end(void** state)
{
    (void)state;
    static char text[200001];
    memset(text, '[', 200000);
    refuse(text, 1, ITM_DOCUMENT_MAX_DEPTH + 1, "nested more than 32");
    for (int i = 0; i < 200000; i += 4) {
        memcpy(text + i, "{a: ", 4);
    }
    refuse(text, 1, 4 * ITM_DOCUMENT_MAX_DEPTH + 1, "nested more than 32");
    char block[2000];
    memset(block, 0, sizeof block);
    for (int i = 0; i < 40; i++) {
        strcat(block, "- ");
    }
    refuse(block, 1, 2 * ITM_DOCUMENT_MAX_DEPTH + 1, "nested more than 32");
}

static void alias_bombs_are_defused(void** state)
{
    (void)state;
    char text[2000] = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
    for (int i = 1; i < 12; i++) {
        char line[128];
        snprintf(line, sizeof line, "a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i, i,
                 i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
        strcat(text, line);
    }
    // a5 alone is 1.1 million values: its last alias is one too many
    refuse(text, 6, 55, "counting an alias as often as it is used");
}

static void aliases_of_long_texts_count_for_their_length(void** state)
{
    (void)state;
    size_t nalias = 20000, nlong = 4000;
    char* text = malloc(nlong + 4 * nalias + 100);
    size_t used = (size_t)sprintf(text, "a: &a ");
    memset(text + used, '1', nlong);
    used += nlong;
    used += (size_t)sprintf(text + used, "\nb: [");
    for (size_t i = 0; i < nalias; i++) {
        used += (size_t)sprintf(text + used, "*a, ");
    }
    sprintf(text + used, "]\n");
    // 1 + 4000 / 64 = 63 a piece: the list passes the limit with number 15874
    refuse(text, 2, 5 + 4 * 15873, "counting an alias as often as it is used");
    free(text);
}

static void huge_files_are_refused_before_they_are_read(void** state)
{
    (void)state;
    size_t length = itm_document_get_max_bytes() + 1;
    char *text = malloc(length + 1), message[80];
    memset(text, ' ', length);
    text[length] = '\0';
    Read r = read_length(text, length, NULL);
    snprintf(message, sizeof message, "more than %zu MB", itm_document_get_max_bytes() >> 20);
    expect_error(&r, "huge", "model.yaml", 1, 1, message);
    free(text);
}

// The number of values is limited by memory only; a million was the limit once.
static void long_lists_are_read(void** state)
{
    (void)state;
    size_t count = 1200000;
    char* text = malloc(2 * count + 16);
    text[0] = '[';
    for (size_t i = 0; i < count; i++) {
        memcpy(text + 1 + 2 * i, "0,", 2);
    }
    strcpy(text + 1 + 2 * count, "]");
    ItmDocument doc = {0};
    ItmError error = {0};
    CHECK_OK(itm_yaml_parse(&doc.root, &doc, text, strlen(text), "list", 1, &error), &error);
    assert_int_equal(doc.root->count, count);
    itm_document_free(&doc);
    free(text);
}

// ---------------------------------------------------------------------------- keys, words, numbers

static void unknown_keys_get_the_nearest_one(void** state)
{
    (void)state;
    refuse("mulitbody: {}\n", 1, 1, "'mulitbody' is not a key of a model file; nearest: 'multibody'");
    refuse("multibody: {bodys: {}}\n", 1, 13, "nearest: 'bodies'");
    refuse("multibody:\n  bodies:\n    a:\n      mas: 1\n", 4, 7, "nearest: 'mass'");
    refuse("xyzzy: 1\n", 1, 1, "expected interim, title, parameters, signals, multibody, subsystems, cosim or run");
    refuse_after_head("  joints: {j: {type: revolute, bodies: [ground, rod], axes: [0, 0, 1]}}\n", 1, 55,
                      "nearest: 'axis'");
    refuse_after_head("  motions: {j: {torque: 1}}\n", 1, 17, "not a key of a motion");
    refuse_after_head("  forces: {j: {type: spring, stifness: 1}}\n", 1, 30, "nearest: 'stiffness'");
    refuse_after_head("run: {setp: 1}\n", 1, 7, "nearest: 'step'");
}

static void unknown_words_get_the_nearest_one(void** state)
{
    (void)state;
    refuse_after_head("  joints: {j: {type: revolut, bodies: [ground, rod]}}\n", 1, 22, "nearest: 'revolute'");
    refuse_after_head("  forces: {j: {type: sprng}}\n", 1, 22, "nearest: 'spring'");
    refuse_after_head("  coordinates: joints\n", 1, 16, "nearest: 'joint'");
    refuse_after_head("run: {stepper: ali3-p}\n", 1, 16, "nearest: 'ali3p'");
    refuse_after_head("  forces: {f: {type: torque, body: rod, vector: [1, 0, 0], frame: wordl}}\n", 1, 67,
                      "nearest: 'world'");
    refuse("signals: {a: {rmp: {}}}\nmultibody: {}\n", 1, 15, "nearest: 'ramp'");
    refuse("signals: {a: {table: {times: [0, 1], values: [0, 1], interpolation: "
           "cubc}}}\nmultibody: {}\n",
           1, 69, "nearest: 'cubic'");
    refuse("signals: {a: {ramp: {end: 1, to: 1, smooth: yes}}}\nmultibody: {}\n", 1, 45, "expected false or true");
}

static void references_get_the_nearest_name(void** state)
{
    (void)state;
    refuse_after_head("  joints: {j: {type: fixed, bodies: [ground, rodd]}}\n", 1, 46,
                      "no body 'rodd'; nearest: 'rod'");
    refuse_after_head("  joints: {j: {type: fixed, bodies: [grund, rod]}}\n", 1, 38, "nearest: 'ground'");
    refuse_after_head("  joints: {hinge: {type: revolute, bodies: [ground, rod]}}\n"
                      "  motions: {m: {joint: hing, force: lift}}\n",
                      2, 24, "no joint 'hing'; nearest: 'hinge'");
    refuse_after_head("  joints: {hinge: {type: prismatic, bodies: [ground, rod]}}\n"
                      "  motions: {m: {joint: hinge, force: lft}}\n",
                      2, 38, "no signal 'lft'; nearest: 'lift'");
    refuse_after_head("  joints: {hinge: {type: prismatic, bodies: [ground, rod]}}\n"
                      "  motions: {m: {joint: hinge.tq, force: lift}}\n",
                      2, 24, "'tq' is not a direction");
    refuse_after_head("  joints: {c: {type: cylindrical, bodies: [ground, rod]}}\n"
                      "  motions: {m: {joint: c, force: lift}}\n",
                      2, 24, "more than one free direction");
    refuse_after_head("  joints: {c: {type: revolute, bodies: [ground, rod]}}\n"
                      "  motions: {m: {joint: c.tx, force: lift}}\n",
                      2, 24, "not free");
    refuse("parameters: {Len: 2}\nmultibody: {gravity: [0, 0, 2*len]}\n", 2, 31, "no parameter 'len'; nearest: 'Len'");
}

static void wrong_units_are_refused(void** state)
{
    (void)state;
    refuse("multibody: {bodies: {a: {mass: 2 m, inertia: [1, 1, 1]}}}\n", 1, 32, "expected kg, got m");
    refuse("multibody: {bodies: {a: {mass: 30 deg, inertia: [1, 1, 1]}}}\n", 1, 32, "expected kg, got no unit");
    refuse("multibody: {gravity: [0, 0, -9.81 m/s]}\n", 1, 29, "expected m/s^2, got m/s");
    refuse("multibody: {gravity: [0, 0, -9.81 m/ss]}\n", 1, 37, "no unit 'ss'");
    refuse_after_head("run: {step: 2 mm}\n", 1, 13, "expected s, got m");
    refuse_after_head("  joints: {j: {type: revolute, bodies: [ground, rod], start: 3 mm}}\n", 1, 62,
                      "expected no unit, rad or deg, got m");
    refuse_after_head("  joints: {h: {type: revolute, bodies: [ground, rod]}}\n"
                      "  motions: {m: {joint: h, position: lift}}\n",
                      2, 37, "the signal 'lift' is in N");
    refuse_after_head("  forces: {f: {type: force, body: rod, vector: [0, 0, 1 N], signal: lift}}\n", 1, 69,
                      "the signal 'lift' is in N");
    refuse("signals: {a: {ramp: {end: 1, from: 1 m, to: 2 kg}}}\nmultibody: {}\n", 1, 45, "one unit");
    refuse("parameters: {a: 1 m, b: a + 2 kg}\nmultibody: {}\n", 1, 27, "cannot add m and kg");
}

static void values_of_the_wrong_kind_are_refused(void** state)
{
    (void)state;
    refuse("multibody: {gravity: [0, 0]}\n", 1, 22, "three numbers [x, y, z], found a list of 2");
    refuse("multibody: {gravity: 9.81}\n", 1, 22, "three numbers");
    refuse("multibody: {gravity: [[0], 0, 0]}\n", 1, 23, "expected a number, found a list of 1");
    refuse("multibody: {bodies: {a: {mass: , inertia: [1, 1, 1]}}}\n", 1, 26, "found nothing");
    refuse("multibody: {bodies: [a, b]}\n", 1, 21, "bodies: expected a mapping");
    refuse("multibody: {bodies: {a: 5}}\n", 1, 25, "a body: expected a mapping");
    refuse("multibody:\n", 1, 1, "there are no bodies");
    refuse("multibody: {bodies: {a: }}\n", 1, 22, "needs 'mass'");
    refuse_after_head("  forces: {f: }\n", 1, 12, "needs 'type'");
    refuse("interim: 2\nmultibody: {}\n", 1, 10, "format 1");
    refuse_after_head("run: {max_iterations: 2.5}\n", 1, 23, "whole number");
    refuse_after_head("  joints: {j: {type: fixed, bodies: rod}}\n", 1, 37, "two names of bodies");
    refuse_after_head("  joints: {j: {type: generic, bodies: [ground, rod], free: tx}}\n", 1, 60, "list of directions");
    refuse("title: [1]\nmultibody: {}\n", 1, 8, "expected a title");
}

static void parameters_are_checked(void** state)
{
    (void)state;
    refuse("parameters: {a: b, b: c + 1, c: 2*a}\nmultibody: {}\n", 1, 35, "parameter 'a' depends on itself");
    refuse("parameters: {a: a}\nmultibody: {}\n", 1, 17, "depends on itself");
    refuse("parameters: {2a: 1}\nmultibody: {}\n", 1, 14, "letters, digits");
    refuse("parameters: {pi: 3}\nmultibody: {}\n", 1, 14, "constant already");
    refuse("parameters: {a: [1]}\nmultibody: {}\n", 1, 17, "expected a number");
    refuse("parameters: {a: 1/0}\nmultibody: {}\n", 1, 17, "finite");
    refuse("parameters: {a: 1}\nmultibody: {gravity: [\"1 +\", a, 0]}\n", 2, 27, "too early");
    char text[40000] = "parameters:\n";
    for (int i = 0; i < 1000; i++) {
        char line[32];
        snprintf(line, sizeof line, "  p%d: p%d\n", i, i + 1);
        strcat(text, line);
    }
    strcat(text, "  p1000: 1\nmultibody: {}\n");
    refuse(text, 101, 8, "nested more than 100");
}

// ---------------------------------------------------------------------------- mechanics

static void bodies_are_checked(void** state)
{
    (void)state;
    refuse("multibody:\n  bodies:\n    a:\n      mass: -2 kg\n      inertia: [1, 1, 1]\n", 4, 13,
           "body 'a': mass must be positive, got -2 kg");
    refuse("multibody:\n  bodies:\n    a:\n      mass: 0\n      inertia: [1, 1, 1]\n", 4, 13, "positive");
    refuse("multibody: {bodies: {a: {mass: 1, inertia: [1, 1, 3]}}}\n", 1, 44, "triangle inequality");
    refuse("multibody: {bodies: {a: {mass: 1, inertia: {xx: 1, yy: 1, zz: 1, xy: 2}}}}\n", 1, 44, "positive definite");
    refuse("multibody: {bodies: {a: {mass: 1, inertia: {xx: 1, yy: 1}}}}\n", 1, 44, "needs 'zz'");
    refuse("multibody: {bodies: {a: {mass: 1}}}\n", 1, 22, "needs 'inertia'");
    refuse("multibody: {bodies: {a: {inertia: [1, 1, 1]}}}\n", 1, 22, "needs 'mass'");
    refuse("multibody: {bodies: {a: {shape: {box: [1, 1, 1]}}}}\n", 1, 22, "needs mass or density");
    refuse("multibody: {bodies: {a: {mass: 1, density: 1, shape: {box: [1, 1, 1]}}}}\n", 1, 44, "not both");
    refuse("multibody: {bodies: {a: {mass: 1, density: 1, inertia: [1, 1, 1]}}}\n", 1, 44, "needs a shape");
    refuse("multibody: {bodies: {a: {density: -1, shape: {box: [1, 1, 1]}}}}\n", 1, 35, "density must be positive");
    refuse("multibody: {bodies: {a: {density: 1, shape: {box: [1, 0, 1]}}}}\n", 1, 51, "size of a shape");
    refuse("multibody: {bodies: {a: {density: 1, shape: {box: [1, 1, 1], sphere: 1}}}}\n", 1, 70, "not two");
    refuse("multibody: {bodies: {a: {density: 1, shape: {}}}}\n", 1, 45, "one of box");
    refuse("multibody: {bodies: {a: {mass: -1, shape: {sphere: 1}}}}\n", 1, 32, "positive");
    refuse("multibody: {bodies: {a: {mass: 1, shape: {sphere: 1}, com: [0, 0, 0]}}}\n", 1, 60, "follow from the shape");
    refuse("multibody: {bodies: {a b: {mass: 1, inertia: [1, 1, 1]}}}\n", 1, 22, "white space");
    refuse("multibody: {bodies: {ground: {mass: 1, inertia: [1, 1, 1]}}}\n", 1, 22, "fixed body");
    refuse("multibody: {bodies: {}}\n", 1, 21, "no bodies");
    refuse("multibody: {}\n", 1, 12, "no bodies");
    refuse("run: {}\n", 1, 1, "needs 'multibody'");
    refuse("multibody: {bodies: {a: {mass: 1, inertia: [1, 1, 1], orientation: [0, 0, 0, 0]}}}\n", 1, 68, "zero");
    refuse("multibody: {bodies: {a: {mass: 1, inertia: [1, 1, 1], orientation: {axis: [0, 0, 0], "
           "angle: 1}}}}\n",
           1, 75, "zero");
    refuse("multibody: {bodies: {a: {mass: 1, inertia: [1, 1, 1], orientation: {axis: [0, 0, 1]}}}}\n", 1, 68,
           "needs 'angle'");
    refuse("multibody: {bodies: {a: {mass: 1, inertia: [1, 1, 1], orientation: {axis: [x, 0, 0], "
           "angle: 1}}}}\n",
           1, 76, "no parameter 'x'");
    refuse("multibody: {name: a.b, bodies: {}}\n", 1, 19, "a name has");
}

static void duplicate_names_are_refused(void** state)
{
    (void)state;
    refuse("multibody:\n  bodies:\n    a: {mass: 1, inertia: [1, 1, 1]}\n    a: {mass: 1, inertia: "
           "[1, 1, 1]}\n",
           4, 5, "'a' is given twice");
    refuse_after_head("  joints: {rod: {type: fixed, bodies: [ground, rod]}}\n", 1, 12, "a body of that name already");
}

static void joints_are_checked(void** state)
{
    (void)state;
    refuse_after_head("  joints: {j: {bodies: [ground, rod]}}\n", 1, 12, "needs 'type'");
    refuse_after_head("  joints: {j: {type: fixed}}\n", 1, 12, "needs 'bodies'");
    refuse_after_head("  joints: {j: {type: fixed, bodies: [rod, rod]}}\n", 1, 43, "two different bodies");
    refuse_after_head("  joints: {j: {type: fixed, bodies: [ground, bob], at: [0, 0, 0]}}\n", 1, 56,
                      "the pose of body 'bob' is not given");
    refuse_after_head("  joints: {j: {type: fixed, bodies: [ground, rod], axis: [0, 0, 1]}}\n", 1, 58, "needs 'at'");
    refuse_after_head("  joints: {j: {type: fixed, bodies: [ground, rod], at: [0, 0, 0], axis: [0, 0, 0]}}\n", 1, 73,
                      "zero");
    refuse_after_head("  joints: {j: {type: fixed, bodies: [ground, rod], at: [0, 0, 0], frame_a: {}}}\n", 1, 56,
                      "not both");
    refuse_after_head("  joints: {j: {type: fixed, bodies: [ground, rod], frame_a: {axis: [1, 0, "
                      "0], orientation: "
                      "[1, 0, 0, 0]}}}\n",
                      1, 92, "not both");
    refuse_after_head("  joints: {j: {type: screw, bodies: [ground, rod]}}\n", 1, 12, "needs 'pitch'");
    refuse_after_head("  joints: {j: {type: screw, bodies: [ground, rod], pitch: 0}}\n", 1, 59, "not zero");
    refuse_after_head("  joints: {j: {type: fixed, bodies: [ground, rod], pitch: 0}}\n", 1, 59, "screw");
    refuse_after_head("  joints: {j: {type: fixed, bodies: [ground, rod], length: 1}}\n", 1, 60, "distance");
    refuse_after_head("  joints: {j: {type: distance, bodies: [ground, rod], length: 0}}\n", 1, 63, "positive");
    refuse_after_head("  joints: {j: {type: distance, bodies: [ground, rod], at: [0, 0, 0]}}\n", 1, 59, "two points");
    refuse_after_head("  joints: {j: {type: fixed, bodies: [ground, rod], point_a: [0, 0, 0]}}\n", 1, 61,
                      "only a distance joint");
    refuse_after_head("  joints: {j: {type: generic, bodies: [ground, rod]}}\n", 1, 12, "needs 'free'");
    refuse_after_head("  joints: {j: {type: generic, bodies: [ground, rod], free: [tx, tx]}}\n", 1, 65, "twice");
    refuse_after_head("  joints: {j: {type: generic, bodies: [ground, rod], free: [tw]}}\n", 1, 61,
                      "'tw' is not a dir");
    refuse_after_head("  joints: {j: {type: fixed, bodies: [ground, rod], free: [tx]}}\n", 1, 58, "only a generic");
    refuse_after_head("  joints: {j: {type: planar, bodies: [ground, rod], start: 1}}\n", 1, 60, "{direction: value}");
    refuse_after_head("  joints: {j: {type: planar, bodies: [ground, rod], start: {tz: 1}}}\n", 1, 61, "not a free");
    refuse_after_head("  joints: {j: {type: fixed, bodies: [ground, rod], stiffness: -1}}\n", 1, 63, "not negative");
    refuse_after_head("  joints: {j: {type: fixed, bodies: [ground, rod], coordinates: trees}}\n", 1, 65, "'tree'");
}

static void couplings_motions_and_forces_are_checked(void** state)
{
    (void)state;
#define JOINTS                                                                                                         \
    "  joints: {h: {type: revolute, bodies: [ground, rod]}, s: {type: prismatic, bodies: "                             \
    "[ground, bob]}}\n"
    refuse_after_head(JOINTS "  couplings: {c: {type: gear, first: s, second: h, ratio: 1}}\n", 2, 38,
                      "rotation, not tz");
    refuse_after_head(JOINTS "  couplings: {c: {type: rack, first: h, second: h, ratio: 1}}\n", 2, 38, "translation");
    refuse_after_head(JOINTS "  couplings: {c: {type: rack, first: s, second: s, ratio: 1}}\n", 2, 49,
                      "rotation, not tz");
    refuse_after_head(JOINTS "  couplings: {c: {type: gear, first: h, second: h, ratio: 1}}\n", 2, 49, "itself");
    refuse_after_head(JOINTS "  couplings: {c: {type: rack, first: s, second: h, ratio: 0}}\n", 2, 59, "not zero");
    refuse_after_head(JOINTS "  couplings: {c: {type: rack, first: s, second: h}}\n", 2, 15, "needs 'ratio'");
    refuse_after_head(JOINTS "  motions: {m: {joint: h}}\n", 2, 13, "exactly one of");
    refuse_after_head(JOINTS "  motions: {m: {joint: h, force: 1, velocity: 2}}\n", 2, 13, "exactly one of");
    refuse_after_head(JOINTS "  motions: {m: {force: 1}}\n", 2, 13, "needs 'joint'");
    refuse_after_head(JOINTS "  motions: {m: {joint: h, velocity: 1}, n: {joint: h, position: 2}}\n", 2, 52,
                      "another motion");
    refuse_after_head("  forces: {f: {body: rod}}\n", 1, 12, "needs 'type'");
    refuse_after_head("  forces: {f: 1}\n", 1, 15, "a force: expected a mapping");
    refuse_after_head("  forces: {f: {type: force, vector: [0, 0, 1]}}\n", 1, 12, "needs 'body'");
    refuse_after_head("  forces: {f: {type: force, body: ground, vector: [0, 0, 1]}}\n", 1, 35, "moves nothing");
    refuse_after_head("  forces: {f: {type: force, body: rod}}\n", 1, 12, "needs 'vector'");
    refuse_after_head("  forces: {f: {type: torque, body: rod, vector: [0, 0, 1], point: [0, 0, 0]}}\n", 1, 67,
                      "on flexible bodies only");
    refuse_after_head("  forces: {f: {type: force, body: bob, vector: [0, 0, 1], at: [0, 0, 0]}}\n", 1, 63, "pose");
    refuse_after_head("  forces: {f: {type: force, body: rod, vector: [0, 0, 1], at: [0, 0, 0], "
                      "point: [0, 0, 0]}}\n",
                      1, 63, "given twice");
    refuse_after_head("  forces: {f: {type: spring, bodies: [rod, ground], stiffness: -1}}\n", 1, 64, "negative");
    refuse_after_head("  forces: {f: {type: spring, bodies: [rod, ground], length: -1}}\n", 1, 61, "negative");
    refuse_after_head("  forces: {f: {type: bushing, bodies: [rod, ground], stiffness: {t: 1, tx: 1}}}\n", 1, 76,
                      "given by 't'");
    refuse_after_head("  forces: {f: {type: bushing, bodies: [rod, ground], damping: {r: -1}}}\n", 1, 67, "negative");
    refuse_after_head("  forces: {f: {type: actuator, bodies: [rod, ground], force: 2 m}}\n", 1, 62, "is in m");
    refuse_after_head("  forces: {f: {type: joint-spring, joint: h}}\n", 1, 43, "no joint 'h'");
}

static void signals_are_checked(void** state)
{
    (void)state;
#define AND "\nmultibody: {}\n"
    refuse("signals: {a: {ramp: {end: 0, to: 1}}}" AND, 1, 27, "after its start");
    refuse("signals: {a: {ramp: {to: 1}}}" AND, 1, 21, "needs 'end'");
    refuse("signals: {a: {sine: {amplitude: 1, frequency: -1}}}" AND, 1, 47, "negative");
    refuse("signals: {a: {table: {times: [0, 1], values: [0]}}}" AND, 1, 46, "2 times but 1 values");
    refuse("signals: {a: {table: {times: [0, 0], values: [0, 1]}}}" AND, 1, 34, "times must increase");
    refuse("signals: {a: {table: {times: [0], values: [0]}}}" AND, 1, 22, "at least two points");
    refuse("signals: {a: {table: {times: 0, values: [0]}}}" AND, 1, 30, "list of numbers");
    refuse("signals: {a: {piecewise: {times: [], values: []}}}" AND, 1, 26, "at least one point");
    refuse("signals: {a: {ramp: {end: 1, to: 1}, sine: {}}}" AND, 1, 14, "one of ramp");
    refuse("signals: {a: {}}" AND, 1, 14, "one of ramp");
    refuse("signals: {a b: 1}" AND, 1, 11, "white space");
}

static void run_settings_are_checked(void** state)
{
    (void)state;
    refuse_after_head("run: {step: 0}\n", 1, 13, "positive");
    refuse_after_head("run: {step: -1 ms}\n", 1, 13, "positive");
    refuse_after_head("run: {duration: -1}\n", 1, 17, "not be negative");
    refuse_after_head("run: {step: 2 ms, output_interval: 3 ms}\n", 1, 36, "multiple of the step");
    refuse_after_head("run: {step: 1e-15, duration: 1e5}\n", 1, 13, "more than 1e+12 steps");
    refuse_after_head("run: {tolerance: 0}\n", 1, 18, "positive");
    refuse_after_head("run: {max_iterations: 0}\n", 1, 23, "from 1 to");
    Read r = accept_after_head("run: {step: 0.1 ms, output_interval: 0.3 ms}\n");
    done(&r);
}

// ---------------------------------------------------------------------------- overrides

static const char BASE[] = "parameters: {L: 1 m}\n"
                           "multibody:\n"
                           "  bodies:\n"
                           "    a: &a {mass: L*1 kg/m, inertia: [1, 1, 1]}\n"
                           "    b: *a\n"
                           "run: {step: 1 ms}\n";

static void refuse_override(const char* override, int column, const char* words)
{
    char source[256];
    snprintf(source, sizeof source, "--set %s", override);
    Read r = read_length(BASE, strlen(BASE), override);
    expect_error(&r, override, source, 1, column, words);
}

static void overrides_change_the_model(void** state)
{
    (void)state;
    Read r = accept_with(BASE, "parameters.L=2 m");
    assert_true(r.builder->bodies.items[0].mass == 2);
    done(&r);
    r = accept_with(BASE, "run.step=2ms");
    assert_true(r.file.run.step.step == 0.002);
    done(&r);
    r = accept_with(BASE, "run.duration=1 min");
    assert_true(r.file.run.duration == 60);
    done(&r);
    r = accept_with(BASE, "multibody.coordinates=absolute");
    assert_int_equal(r.builder->world.coordinates, ITM_COORDINATES_ABSOLUTE);
    done(&r);
    r = accept_with(BASE, "multibody.gravity=[0, 0, -1.62]");
    assert_true(r.builder->world.gravity.z == -1.62);
    done(&r);
    r = accept_with(BASE, "multibody.bodies.a.inertia.2=1.5");
    assert_true(r.builder->bodies.items[0].inertia.zz == 1.5);
    // the alias keeps its own
    assert_true(r.builder->bodies.items[1].inertia.zz == 1);
    done(&r);
}

static void overrides_are_checked_like_the_file(void** state)
{
    (void)state;
    refuse_override("run.step=2mm", 10, "expected s, got m");
    refuse_override("run.setp=2ms", 5, "'setp' is not a key of run; nearest: 'step'");
    refuse_override("rnu.step=2ms", 1, "nearest: 'run'");
    refuse_override("parameters.l=2", 12, "no 'l' here that could be changed; nearest: 'L'");
    refuse_override("multibody.bodies.c.mass=2", 18, "no 'c' here");
    refuse_override("multibody.bodies.a.mass=-2", 25, "positive");
    refuse_override("multibody.bodies.a.inertia.3=2", 28, "counted from 0");
    refuse_override("run.step", 9, "'=' is missing");
    refuse_override("=2", 1, "key is missing");
    refuse_override("run..step=2", 5, "key is missing");
    refuse_override("run.step.x=2", 10, "single value");
    refuse_override("run.step=", 10, "a value is missing");
    refuse_override("run.step=[", 10, "this '[' is not closed");
    refuse_override("run.step=\xff", 10, "UTF-8");
    refuse_override("run.\xff=1", 1, "UTF-8");
    refuse_override("a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.w.x.y.z.a.b.c.d.e.f.g.h=1", 1, "too many keys");
}

// ---------------------------------------------------------------------------- files

static void files_that_cannot_be_read_are_an_error(void** state)
{
    (void)state;
    ItmModelFile* file = (ItmModelFile*)state;
    ItmError error;
    assert_int_equal(itm_file_load(&file, "no/such/file.yaml", NULL, 0, &error), ITM_ERR_IO);
    assert_null(file);
    assert_string_equal(error.file, "no/such/file.yaml");
    assert_int_equal(itm_file_load(&file, ITM_SOURCE_DIR, NULL, 0, &error), ITM_ERR_IO);
    assert_int_equal(itm_file_load(&file, "/dev/zero", NULL, 0, &error), ITM_ERR_INPUT);
    assert_int_equal(itm_file_load(&file, NULL, NULL, 0, &error), ITM_ERR_ARGUMENT);
    assert_int_equal(itm_file_parse(NULL, "", 0, "x", NULL, 0, &error), ITM_ERR_ARGUMENT);
    assert_int_equal(itm_file_parse(&file, NULL, 0, "x", NULL, 0, NULL), ITM_ERR_INPUT);
    itm_file_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smallest_file_gets_all_defaults),
        cmocka_unit_test(all_of_the_head_is_read),
        cmocka_unit_test(parameters_refer_to_each_other_in_any_order),
        cmocka_unit_test(shapes_give_mass_and_inertia),
        cmocka_unit_test(orientation_has_three_forms),
        cmocka_unit_test(joint_frames_from_a_world_axis_coincide_at_the_start),
        cmocka_unit_test(every_joint_type_is_read),
        cmocka_unit_test(couplings_motions_and_forces_are_read),
        cmocka_unit_test(events_are_read),
        cmocka_unit_test(events_are_checked),
        cmocka_unit_test(every_kind_of_signal_is_read),
        cmocka_unit_test(titles_are_written_in_any_style),
        cmocka_unit_test(keys_with_nothing_under_them_are_empty),
        cmocka_unit_test(anchors_save_typing),
        cmocka_unit_test(broken_yaml_is_located),
        cmocka_unit_test(bytes_that_are_not_text_are_located),
        cmocka_unit_test(nesting_has_an_end),
        cmocka_unit_test(alias_bombs_are_defused),
        cmocka_unit_test(aliases_of_long_texts_count_for_their_length),
        cmocka_unit_test(huge_files_are_refused_before_they_are_read),
        cmocka_unit_test(long_lists_are_read),
        cmocka_unit_test(unknown_keys_get_the_nearest_one),
        cmocka_unit_test(unknown_words_get_the_nearest_one),
        cmocka_unit_test(references_get_the_nearest_name),
        cmocka_unit_test(wrong_units_are_refused),
        cmocka_unit_test(values_of_the_wrong_kind_are_refused),
        cmocka_unit_test(parameters_are_checked),
        cmocka_unit_test(bodies_are_checked),
        cmocka_unit_test(duplicate_names_are_refused),
        cmocka_unit_test(joints_are_checked),
        cmocka_unit_test(couplings_motions_and_forces_are_checked),
        cmocka_unit_test(signals_are_checked),
        cmocka_unit_test(run_settings_are_checked),
        cmocka_unit_test(overrides_change_the_model),
        cmocka_unit_test(overrides_are_checked_like_the_file),
        cmocka_unit_test(files_that_cannot_be_read_are_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
