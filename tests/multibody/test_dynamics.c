// Inverse dynamics against forward dynamics, against energy, and against what a prescribed motion takes.
#include "check.h"

#include "interim/interim.h"
#include "scenes/scene.h"
#include "scenes/scenes.h"

#define MOST 64  // velocities of a model here

typedef struct {
    ItmModel* m;
    ItmData* d;
    int nv;
} Case;

static Case begin(ItmModel* m)
{
    ItmError error = {0};
    Case c = {.m = m, .nv = itm_model_get_info(m).nv};
    assert_true(c.nv <= MOST);
    CHECK_OK(itm_data_create(&c.d, m, NULL, &error), &error);
    return c;
}

static void end(Case* c)
{
    itm_data_destroy(c->d);
    itm_model_destroy(c->m);
}

static Case begin_arm(void)
{
    ItmModel* m = NULL;
    ItmError error = {0};
    CHECK_OK(itm_arm7_build(&m, ITM_COORDINATES_JOINT, true, &error), &error);
    return begin(m);
}

static void inverse(Case* c, double* tau, const double* v_dot, const ItmWrench* external)
{
    CHECK_OK(itm_dynamics_compute_inverse(c->m, c->d, tau, v_dot, external), itm_data_get_error(c->d));
}

// Some accelerations, the same in every run.
static void fill_accelerations(double* v_dot, int n)
{
    for (int i = 0; i < n; i++) {
        v_dot[i] = sin(1.0 + 2.3 * i) + 0.2 * i;
    }
}

static double largest(const double* x, int n)
{
    double most = 0.0;
    for (int i = 0; i < n; i++) {
        most = fmax(most, fabs(x[i]));
    }
    return most;
}

static double kinetic_energy(Case* c)
{
    double* values = calloc((size_t)itm_model_get_output_count(c->m), sizeof *values);
    CHECK_OK(itm_model_compute_outputs(c->m, c->d, values), itm_data_get_error(c->d));
    double energy = values[itm_model_find_output(c->m, "energy.kinetic")];
    free(values);
    return energy;
}

// The accelerations that forward dynamics finds need no further force. Round-off: relative to the forces that the inertia
// of these accelerations alone takes, times a few operations a body.
static void forward_accelerations_need_no_further_force(void** state)
{
    (void)state;
    for (int type = -1; type < ITM_JOINT_TYPE_COUNT; type++) {
        if (type == ITM_JOINT_DISTANCE) {
            continue;  // always rows
        }
        ItmModel* m = NULL;
        ItmError error = {0};
        CHECK_OK(type < 0 ? itm_arm7_build(&m, ITM_COORDINATES_JOINT, true, &error)
                          : itm_zoo_build_pair(&m, ITM_COORDINATES_JOINT, (ItmJointType)type, &error),
                 &error);
        Case c = begin(m);
        double v_dot[MOST], tau[MOST], rest[MOST], zero[MOST] = {0};
        CHECK_OK(itm_dynamics_compute_forward(c.m, c.d, v_dot), itm_data_get_error(c.d));
        inverse(&c, rest, zero, NULL);
        inverse(&c, tau, v_dot, NULL);
        CHECK_NEAR(largest(tau, c.nv), 0.0, 1e-13 * largest(rest, c.nv));  // observed 1.6e-16 (arm)
        end(&c);
    }
}

// tau(e_i) - tau(0) is a column of M: symmetric, and v' M v is twice the kinetic energy.
static void unit_accelerations_give_the_mass_matrix(void** state)
{
    (void)state;
    Case c = begin_arm();
    double M[MOST][MOST], rest[MOST], e[MOST] = {0}, energy = 0.0;
    inverse(&c, rest, e, NULL);
    for (int i = 0; i < c.nv; i++) {
        e[i] = 1.0;
        inverse(&c, M[i], e, NULL);
        e[i] = 0.0;
    }
    const double* v = itm_data_get_v(c.d);
    for (int i = 0; i < c.nv; i++) {
        for (int j = 0; j < c.nv; j++) {
            double scale = sqrt((M[i][i] - rest[i]) * (M[j][j] - rest[j]));
            CHECK_NEAR(M[i][j] - rest[j], M[j][i] - rest[i], 1e-13 * (scale + largest(rest, c.nv)));
            energy += 0.5 * v[i] * (M[i][j] - rest[j]) * v[j];
        }
    }
    CHECK_NEAR(energy, kinetic_energy(&c), 1e-12 * energy);
    end(&c);
}

// With the forces that gravity takes subtracted, v . tau is the rate of the kinetic energy while the accelerations are
// v': compared with central differences of step s, whose error is of order s^2.
static void torques_do_the_work_that_the_energy_takes(void** state)
{
    (void)state;
    ItmModel* m = NULL;
    ItmError error = {0};
    CHECK_OK(itm_arm7_build(&m, ITM_COORDINATES_JOINT, false, &error), &error);
    Case c = begin(m);
    int n = c.nv;
    double tau[MOST], v_dot[MOST], q[MOST], v[MOST], q_moved[MOST], v_moved[MOST], rate = 0.0, energy[2];
    fill_accelerations(v_dot, n);
    memcpy(q, itm_data_get_q(c.d), sizeof(double) * (size_t)n);
    memcpy(v, itm_data_get_v(c.d), sizeof(double) * (size_t)n);
    inverse(&c, tau, v_dot, NULL);
    for (int i = 0; i < n; i++) {
        rate += v[i] * tau[i];
    }
    double s = 1e-5;
    for (int k = 0; k < 2; k++) {
        double t = k == 0 ? -s : s;
        for (int i = 0; i < n; i++) {
            q_moved[i] = q[i] + t * v[i] + 0.5 * t * t * v_dot[i];
            v_moved[i] = v[i] + t * v_dot[i];
        }
        assert_int_equal(itm_data_set_qv(c.m, c.d, q_moved, v_moved), ITM_OK);
        energy[k] = kinetic_energy(&c);
    }
    // round-off of the difference: 1e-16 E / s; of the formula: s^2
    CHECK_NEAR((energy[1] - energy[0]) / (2.0 * s), rate, 1e-9 * (fabs(rate) + energy[0] / s * 1e-5));
    end(&c);
}

// Forces from outside do their work: -(change of tau) . v = sum of force . velocity + torque . angular velocity.
static void external_wrenches_act_at_the_body_frame(void** state)
{
    (void)state;
    Case c = begin_arm();
    int nbody = itm_model_get_info(c.m).nbody;
    ItmWrench external[16] = {0};
    double v_dot[MOST], without[MOST], with[MOST], power = 0.0, got = 0.0, scale = 0.0;
    fill_accelerations(v_dot, c.nv);
    inverse(&c, without, v_dot, NULL);
    for (int i = 0; i < nbody; i++) {
        external[i] = (ItmWrench){{10.0 + i, -3.0, 2.0 * i}, {1.0, 0.5 * i, -4.0}};
        ItmVec3 u = itm_data_get_body_velocity(c.m, c.d, i), w = itm_data_get_body_angular_velocity(c.m, c.d, i);
        power += external[i].force.x * u.x + external[i].force.y * u.y + external[i].force.z * u.z;
        power += external[i].torque.x * w.x + external[i].torque.y * w.y + external[i].torque.z * w.z;
    }
    inverse(&c, with, v_dot, external);
    const double* v = itm_data_get_v(c.d);
    for (int i = 0; i < c.nv; i++) {
        got -= (with[i] - without[i]) * v[i];
        scale += fabs(with[i] * v[i]);
    }
    CHECK_NEAR(got, power, 1e-14 * scale);
    end(&c);
}

// A hinge whose angle is prescribed: its effort, found by the constraint solver, is the torque of inverse dynamics at the
// accelerations that the motions give.
static void a_prescribed_motion_takes_the_inverse_dynamics(void** state)
{
    (void)state;
    ItmError error = {0};
    ItmModelBuilder* b = NULL;
    CHECK_OK(itm_model_builder_create(&b, NULL, &error), &error);
    static const char* const NAMES[3] = {"upper", "middle", "lower"};
    static const char* const HINGES[3] = {"hinge1", "hinge2", "hinge3"};
    static const char* const DRIVES[3] = {"drive1", "drive2", "drive3"};
    const ItmVec3 axes[3] = {{0, 1, 0}, {0.6, 0.8, 0}, {1, 0, 0}};
    for (int i = 0; i < 3; i++) {
        ItmBodyDef body = itm_default_body_def();
        body.name = NAMES[i];
        body.mass = 2.0 + i;
        body.com = (ItmVec3){0.1, -0.2, -0.5};
        body.inertia = (ItmSym3){0.3, 0.4, 0.2, 0.01, -0.02, 0.03};
        CHECK_OK(itm_model_builder_add_body(b, &body, NULL, &error), &error);
        ItmJointDef hinge = itm_default_joint_def(ITM_JOINT_REVOLUTE);
        hinge.name = HINGES[i];
        hinge.body_a = i == 0 ? ITM_GROUND : i - 1;
        hinge.body_b = i;
        ItmVec3 at = {0, 0, i == 0 ? 0.0 : -1.0};
        CHECK_OK(itm_model_frame_from_axis(&hinge.frame_a, at, axes[i], (ItmVec3){0, 0, 0}, &error), &error);
        CHECK_OK(itm_model_frame_from_axis(&hinge.frame_b, (ItmVec3){0, 0, 0}, axes[i], (ItmVec3){0, 0, 0}, &error),
                 &error);
        CHECK_OK(itm_model_builder_add_joint(b, &hinge, NULL, &error), &error);
        ItmSignalDef signal = itm_default_signal_def();
        signal.name = NAMES[i];
        signal.kind = ITM_SIGNAL_SINE;
        signal.amplitude = 0.5 + 0.1 * i;
        signal.frequency = 0.7 + 0.3 * i;
        signal.phase = 0.4 * i;
        ItmMotionDef motion = itm_default_motion_def();
        motion.name = DRIVES[i];
        motion.joint = i;
        motion.direction = ITM_RZ;
        motion.kind = ITM_MOTION_POSITION;
        CHECK_OK(itm_model_builder_add_signal(b, &signal, &motion.signal, &error), &error);
        CHECK_OK(itm_model_builder_add_motion(b, &motion, NULL, &error), &error);
    }
    ItmModel* m = NULL;
    CHECK_OK(itm_model_build(&m, b, &error), &error);
    itm_model_builder_destroy(b);
    Case c = begin(m);
    for (int i = 0; i < 300; i++) {
        CHECK_OK(itm_step(c.m, c.d), itm_data_get_error(c.d));
    }
    double v_dot[MOST], tau[MOST];
    double* values = calloc((size_t)itm_model_get_output_count(m), sizeof *values);
    CHECK_OK(itm_model_compute_outputs(c.m, c.d, values), itm_data_get_error(c.d));
    CHECK_OK(itm_dynamics_compute_forward(c.m, c.d, v_dot), itm_data_get_error(c.d));
    inverse(&c, tau, v_dot, NULL);
    static const char* const EFFORTS[3] = {"drive1.torque", "drive2.torque", "drive3.torque"};
    for (int i = 0; i < 3; i++) {
        double t = itm_data_get_time(c.d), w = 2.0 * 3.14159265358979323846 * (0.7 + 0.3 * i);
        CHECK_NEAR(v_dot[i], -w * w * (0.5 + 0.1 * i) * sin(w * t + 0.4 * i), 1e-11);
        CHECK_NEAR(tau[itm_model_get_joint_v_adr(m, i)], values[itm_model_find_output(m, EFFORTS[i])],
                   1e-12 * largest(tau, c.nv));
    }
    free(values);
    end(&c);
}

// A body on a hinge about n turns about n: along the axes of the parent and their opposites, which have kernels of their own, and about
// another axis. Its twist and the force that holds it against gravity follow.
static void hinges_turn_about_their_axes(void** state)
{
    (void)state;
    const ItmVec3 axes[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {-1, 0, 0}, {0, -1, 0}, {0, 0, -1}, {0.48, 0.6, 0.64}};
    const ItmVec3 arm = {0.3, -0.2, 0.5};
    const double q = 0.7, v = 1.3, mass = 2.0, g = 9.81;
    for (size_t k = 0; k < sizeof axes / sizeof axes[0]; k++) {
        ItmModel* m = NULL;
        ItmError error = {0};
        ItmVec3 n = axes[k];
        ItmScene scene = itm_scene_begin(ITM_COORDINATES_JOINT, (ItmVec3){0, 0, -g}, &error);
        ItmBodyDef def = itm_default_body_def();
        def.name = "rod";
        def.mass = mass;
        def.com = arm;
        def.inertia = (ItmSym3){.xx = 0.1, .yy = 0.2, .zz = 0.25, .xy = k % 2 == 0 ? 0.0 : 0.02};
        int body = itm_scene_add_body(&scene, &def);
        ItmJointDef hinge = itm_scene_hinge("hinge", ITM_GROUND, (ItmVec3){0, 0, 0}, body, (ItmVec3){0, 0, 0}, n);
        itm_scene_set_start(&hinge, ITM_RZ, q, v);
        itm_scene_add_joint(&scene, &hinge);
        CHECK_OK(itm_scene_finish(&scene, &m), &error);
        Case c = begin(m);
        ItmPose pose = itm_data_get_body_pose(m, c.d, body);
        // Rodrigues, as a quaternion
        double s = sin(0.5 * q), want[4] = {cos(0.5 * q), s * n.x, s * n.y, s * n.z};
        double sign = pose.q.w * want[0] + pose.q.x * want[1] + pose.q.y * want[2] + pose.q.z * want[3] < 0 ? -1 : 1;
        const double got[4] = {pose.q.w, pose.q.x, pose.q.y, pose.q.z};
        for (int i = 0; i < 4; i++) {
            CHECK_NEAR(sign * got[i], want[i], 1e-15);
        }
        // z of the centre of mass: e_z . (cos a + sin n x a + (1 - cos) (n . a) n); its slope with q is the torque over m g
        double along = n.x * arm.x + n.y * arm.y + n.z * arm.z, cross = n.x * arm.y - n.y * arm.x;
        double slope = -sin(q) * arm.z + cos(q) * cross + sin(q) * along * n.z;
        double tau = 0.0, v_dot = 0.0;
        inverse(&c, &tau, &v_dot, NULL);
        CHECK_NEAR(tau, mass * g * slope, 1e-13);
        end(&c);
    }
}

static void missing_arguments_are_refused(void** state)
{
    (void)state;
    Case c = begin_arm();
    double tau[MOST], v_dot[MOST] = {0};
    assert_int_equal(itm_dynamics_compute_inverse(c.m, c.d, NULL, v_dot, NULL), ITM_ERR_ARGUMENT);
    assert_int_equal(itm_dynamics_compute_inverse(c.m, c.d, tau, NULL, NULL), ITM_ERR_ARGUMENT);
    assert_int_equal(itm_dynamics_compute_inverse(c.m, NULL, tau, v_dot, NULL), ITM_ERR_ARGUMENT);
    end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forward_accelerations_need_no_further_force),
        cmocka_unit_test(unit_accelerations_give_the_mass_matrix),
        cmocka_unit_test(torques_do_the_work_that_the_energy_takes),
        cmocka_unit_test(external_wrenches_act_at_the_body_frame),
        cmocka_unit_test(a_prescribed_motion_takes_the_inverse_dynamics),
        cmocka_unit_test(hinges_turn_about_their_axes),
        cmocka_unit_test(missing_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
