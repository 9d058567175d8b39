// Numbers on which MuJoCo 2.2.2, Bullet 3.24 (double), Simbody 3.6.1 and DART 6.12 agree to nine digits:
// symplectic Euler at 1/600 s in joint coordinates. Ours must give the same digits.
#include "check.h"

#include "interim/interim.h"
#include "scenes/numbers.h"
#include "scenes/scenes.h"
#include "math/vec.h"

#define STEPS_PER_SECOND 600
#define NINE_DIGITS                                                                                \
    6e-9 // half a unit of the last digit shown, at magnitude 4.9; rounding adds little

static ItmData* make_data(const ItmModel* model)
{
    ItmData* data;
    ItmError error;
    ItmStepOptions options = itm_default_step_options();
    options.step = ITM_SCENE_STEP;
    CHECK_OK(itm_data_create(&data, model, &options, &error), &error);
    return data;
}

static void run_second(const ItmModel* model, ItmData* data)
{
    for (int i = 0; i < STEPS_PER_SECOND; i++) {
        CHECK_OK(itm_step(model, data), itm_data_get_error(data));
    }
}

static double compute_norm(const double* x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sum += x[i] * x[i];
    }
    return sqrt(sum);
}

// ---------------------------------------------------------------------------- arm

static void check_arm(bool has_gravity, double acceleration, double height)
{
    ItmModel* model;
    ItmError error;
    CHECK_OK(itm_arm7_build(&model, ITM_COORDINATES_JOINT, has_gravity, &error), &error);
    ItmData* data = make_data(model);
    double v_dot[ITM_ARM7_JOINTS];
    assert_int_equal(itm_model_get_info(model).nv, ITM_ARM7_JOINTS);
    CHECK_OK(itm_forward_dynamics(model, data, v_dot), itm_data_get_error(data));
    CHECK_NEAR(compute_norm(v_dot, ITM_ARM7_JOINTS) / acceleration, 1, 2e-9);
    run_second(model, data);
    int tool = itm_model_find_body(model, "tool");
    CHECK_NEAR(itm_data_get_body_pose(model, data, tool).p.z, height, NINE_DIGITS);
    itm_data_destroy(data);
    itm_model_destroy(model);
}

static void arm_accelerates_and_moves_as_in_the_peers(void** state)
{
    (void)state;
    check_arm(false, 0.0398165538, -0.335754329);
    check_arm(true, 3.80587078, -5.10905209);
}

// ---------------------------------------------------------------------------- chain

static double run_chain(ItmCoordinates coordinates, int n)
{
    ItmModel* model;
    ItmError error;
    CHECK_OK(itm_chain_build(&model, coordinates, n, &error), &error);
    ItmData* data = make_data(model);
    run_second(model, data);
    char name[32];
    snprintf(name, sizeof name, "link%d", n - 1);
    ItmPose pose = itm_data_get_body_pose(model, data, itm_model_find_body(model, name));
    itm_data_destroy(data);
    itm_model_destroy(model);
    return pose.p.z + itm_quat_rotate(pose.q, itm_vec(1, 0, 0)).z;
}

static void chain_tip_falls_as_in_the_peers(void** state)
{
    (void)state;
    static const struct {
        int n;
        double height;
    } cases[] = {{10, -4.82105843},
                 {30, -4.91333469},
                 {100, -4.91341316},
                 {300, -4.91333832},
                 {1000, -4.91326997}};
    for (int i = 0; i < 5; i++) {
        CHECK_NEAR(run_chain(ITM_COORDINATES_JOINT, cases[i].n), cases[i].height, NINE_DIGITS);
    }
}

// ---------------------------------------------------------------------------- independent

// Accelerations of the arm from the recursion-free definition: for a serial chain of revolute joints
// M_ij = sum over bodies of the kinetic energy's second derivative, built from velocities that the
// model itself never forms (cross products of axes and arms in the world frame).
typedef struct Geometry {
    ItmVec3 axis[ITM_ARM7_JOINTS], at[ITM_ARM7_JOINTS]; // of the joints, world
    ItmMat3 R[ITM_ARM7_JOINTS];                         // of the links
} Geometry;

static Geometry compute_geometry(const double* q)
{
    Geometry g;
    ItmQuat turn = itm_quat_identity();
    ItmVec3 p = itm_vec(0, 0, 0);
    for (int i = 0; i < ITM_ARM7_JOINTS; i++) {
        int axis = ITM_ARM7_LINKS[i].axis;
        ItmVec3 unit = itm_vec(axis == 0, axis == 1, axis == 2);
        g.at[i] = p;
        g.axis[i] = itm_quat_rotate(turn, unit);
        turn = itm_quat_mul(turn, itm_quat_exp(itm_vec_scale(q[i], unit)));
        g.R[i] = itm_quat_to_mat(turn);
        p = itm_vec_axpy(ITM_ARM7_LINKS[i].length, g.R[i].x, p);
    }
    return g;
}

typedef struct Mass {
    double m;
    double along; // centre on the link's x axis, from its joint
    ItmSym3 inertia;
} Mass;

// Links and, as number 7, the tool on the last link.
static Mass get_mass(int body)
{
    if (body == ITM_ARM7_JOINTS) {
        double moment = itm_sphere_inertia(ITM_ARM7_TOOL_MASS, ITM_ARM7_TOOL_RADIUS);
        return (Mass){ITM_ARM7_TOOL_MASS,
                      ITM_ARM7_LINKS[ITM_ARM7_JOINTS - 1].length,
                      {.xx = moment, .yy = moment, .zz = moment}};
    }
    const ItmArm7Link* link = &ITM_ARM7_LINKS[body];
    double transverse = itm_cylinder_transverse(link->mass, ITM_ARM7_RADIUS, link->length);
    return (Mass){link->mass,
                  0.5 * link->length,
                  {.xx = itm_cylinder_axial(link->mass, ITM_ARM7_RADIUS),
                   .yy = transverse,
                   .zz = transverse}};
}

// Kinetic energy at (q, v).
static double compute_kinetic(const double* q, const double* v)
{
    Geometry g = compute_geometry(q);
    double energy = 0;
    for (int body = 0; body <= ITM_ARM7_JOINTS; body++) {
        int link = body < ITM_ARM7_JOINTS ? body : ITM_ARM7_JOINTS - 1;
        Mass mass = get_mass(body);
        ItmVec3 centre = itm_vec_axpy(mass.along, g.R[link].x, g.at[link]);
        ItmVec3 omega = itm_vec(0, 0, 0), speed = itm_vec(0, 0, 0);
        for (int j = 0; j <= link; j++) {
            omega = itm_vec_axpy(v[j], g.axis[j], omega);
            speed =
                itm_vec_axpy(v[j], itm_vec_cross(g.axis[j], itm_vec_sub(centre, g.at[j])), speed);
        }
        ItmVec3 local = itm_mat_t_mul_vec(&g.R[link], omega);
        energy += 0.5 * mass.m * itm_vec_dot(speed, speed) +
                  0.5 * itm_vec_dot(local, itm_sym_mul_vec(&mass.inertia, local));
    }
    return energy;
}

// The Lagrange equations without recursion, d/dt (dT/dv) = dT/dq, checked at the accelerations of
// itm_forward_dynamics by differences of the kinetic energy.
static void arm_without_gravity_satisfies_lagrange_equations(void** state)
{
    (void)state;
    ItmModel* model;
    ItmError error;
    CHECK_OK(itm_arm7_build(&model, ITM_COORDINATES_JOINT, false, &error), &error);
    ItmData* data = make_data(model);
    double q[ITM_ARM7_JOINTS], v[ITM_ARM7_JOINTS], v_dot[ITM_ARM7_JOINTS];
    for (int i = 0; i < ITM_ARM7_JOINTS; i++) {
        q[i] = ITM_ARM7_LINKS[i].q;
        v[i] = 10 * ITM_ARM7_LINKS[i].v; // faster, so that the quadratic terms weigh
    }
    CHECK_OK(itm_data_set_qv(model, data, q, v), itm_data_get_error(data));
    CHECK_OK(itm_forward_dynamics(model, data, v_dot), itm_data_get_error(data));

    const double eps = 1e-3, tau = 1e-4;
    for (int i = 0; i < ITM_ARM7_JOINTS; i++) {
        // p_i(t) = dT/dv_i: T is quadratic in v, so central differences are exact but for rounding
        double p[2];
        for (int side = 0; side < 2; side++) {
            double t = side ? tau : -tau, qt[ITM_ARM7_JOINTS], vt[ITM_ARM7_JOINTS];
            for (int j = 0; j < ITM_ARM7_JOINTS; j++) {
                qt[j] = q[j] + t * v[j] + 0.5 * t * t * v_dot[j];
                vt[j] = v[j] + t * v_dot[j];
            }
            vt[i] += eps;
            double above = compute_kinetic(qt, vt);
            vt[i] -= 2 * eps;
            p[side] = (above - compute_kinetic(qt, vt)) / (2 * eps);
        }
        double rate = (p[1] - p[0]) / (2 * tau);
        double qi = q[i];
        q[i] = qi + tau;
        double above = compute_kinetic(q, v);
        q[i] = qi - tau;
        double gradient = (above - compute_kinetic(q, v)) / (2 * tau);
        q[i] = qi;
        // scale: torques of 1e4 N m; differences at 1e-4 leave 1e-8 of that, rounding about as much
        CHECK_NEAR(rate - gradient, 0, 2e-3);
    }
    itm_data_destroy(data);
    itm_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arm_accelerates_and_moves_as_in_the_peers),
        cmocka_unit_test(chain_tip_falls_as_in_the_peers),
        cmocka_unit_test(arm_without_gravity_satisfies_lagrange_equations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
