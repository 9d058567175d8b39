// Numbers on which MuJoCo 2.2.2, Bullet 3.24 (double), Simbody 3.7 and DART 6.12 agree to nine digits:
// symplectic Euler at 1/600 s in joint coordinates. Ours must give the same digits where it does not know the accelerations of the last
// steps, which it needs for inertia forces of second order; with them it must be nearer to absolute coordinates.
#include "check.h"

#include "interim/interim.h"
#include "scenes/numbers.h"
#include "scenes/scenes.h"
#include "math/vec.h"

#define STEPS_PER_SECOND 600
#define NINE_DIGITS 6e-9  // half a unit of the last digit shown, at magnitude 4.9; rounding adds little

static ItmData* make_data(const ItmModel* model)
{
    ItmData* data;
    ItmError error;
    ItmStepOptions options = itm_default_step_options();
    options.step = ITM_SCENE_STEP;
    CHECK_OK(itm_data_create(&data, model, &options, &error), &error);
    return data;
}

static void run_second(const ItmModel* model, ItmData* data, bool forgets)
{
    for (int i = 0; i < STEPS_PER_SECOND; i++) {
        if (forgets) {
            const double *q = itm_data_get_q(data), *v = itm_data_get_v(data);
            CHECK_OK(itm_data_set_qv(model, data, q, v), itm_data_get_error(data));
        }
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
    CHECK_OK(itm_dynamics_compute_forward(model, data, v_dot), itm_data_get_error(data));
    CHECK_NEAR(compute_norm(v_dot, ITM_ARM7_JOINTS) / acceleration, 1, 2e-9);
    run_second(model, data, true);
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

static double run_chain(ItmCoordinates coordinates, int n, bool forgets)
{
    ItmModel* model;
    ItmError error;
    CHECK_OK(itm_chain_build(&model, coordinates, n, &error), &error);
    ItmData* data = make_data(model);
    run_second(model, data, forgets);
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
    } cases[] = {{10, -4.82105843}, {30, -4.91333469}, {100, -4.91341316}, {300, -4.91333832}, {1000, -4.91326997}};
    for (int i = 0; i < 5; i++) {
        CHECK_NEAR(run_chain(ITM_COORDINATES_JOINT, cases[i].n, true), cases[i].height, NINE_DIGITS);
    }
}

// With the accelerations of the last steps the inertia forces are of second order; absolute coordinates, where they are constant masses,
// have had that all along.
static void chain_with_inertia_forces_of_second_order_is_nearer_to_absolute_coordinates(void** state)
{
    (void)state;
    double absolute = run_chain(ITM_COORDINATES_ABSOLUTE, 10, false);
    double first = run_chain(ITM_COORDINATES_JOINT, 10, true), second = run_chain(ITM_COORDINATES_JOINT, 10, false);
    print_message("tip of 10 links: absolute %.7f, joint %.7f, joint as the peers %.7f\n", absolute, second, first);
    assert_true(fabs(second - absolute) < 0.1 * fabs(first - absolute));
}

// ---------------------------------------------------------------------------- Lagrange

// An independent check of the arm: the Lagrange equations d/dt (dT/dv) = dT/dq by differences of the
// kinetic energy T(q, v), which is written here from the joint axes and lever arms alone.

#define NJ ITM_ARM7_JOINTS

typedef struct Geometry {
    ItmVec3 axis[NJ], at[NJ];  // of the joints, world
    ItmMat3 R[NJ];             // of the links
} Geometry;

static Geometry compute_geometry(const double* q)
{
    Geometry g;
    ItmQuat turn = itm_quat_identity();
    ItmVec3 p = itm_vec(0, 0, 0);
    for (int i = 0; i < NJ; i++) {
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

typedef struct Solid {
    double mass;
    double along;  // centre on the link's x axis, from its joint
    ItmSym3 inertia;
} Solid;

// Links and, as number NJ, the tool on the last link.
static Solid get_solid(int body)
{
    if (body == NJ) {
        double moment = itm_sphere_inertia(ITM_ARM7_TOOL_MASS, ITM_ARM7_TOOL_RADIUS);
        ItmSym3 inertia = {.xx = moment, .yy = moment, .zz = moment};
        return (Solid){ITM_ARM7_TOOL_MASS, ITM_ARM7_LINKS[NJ - 1].length, inertia};
    }
    const ItmArm7Link* link = &ITM_ARM7_LINKS[body];
    double transverse = itm_cylinder_transverse(link->mass, ITM_ARM7_RADIUS, link->length);
    ItmSym3 inertia = {.xx = itm_cylinder_axial(link->mass, ITM_ARM7_RADIUS), .yy = transverse, .zz = transverse};
    return (Solid){link->mass, 0.5 * link->length, inertia};
}

static double compute_kinetic(const double* q, const double* v)
{
    Geometry g = compute_geometry(q);
    double energy = 0;
    for (int body = 0; body <= NJ; body++) {
        int link = body < NJ ? body : NJ - 1;
        Solid solid = get_solid(body);
        ItmVec3 centre = itm_vec_axpy(solid.along, g.R[link].x, g.at[link]);
        ItmVec3 omega = itm_vec(0, 0, 0), speed = itm_vec(0, 0, 0);
        for (int j = 0; j <= link; j++) {
            ItmVec3 arm = itm_vec_sub(centre, g.at[j]);
            omega = itm_vec_axpy(v[j], g.axis[j], omega);
            speed = itm_vec_axpy(v[j], itm_vec_cross(g.axis[j], arm), speed);
        }
        ItmVec3 local = itm_mat_t_mul_vec(&g.R[link], omega);
        energy += 0.5 * solid.mass * itm_vec_dot(speed, speed) +
                  0.5 * itm_vec_dot(local, itm_sym_mul_vec(&solid.inertia, local));
    }
    return energy;
}

// dT/dv_i; T is quadratic in v, so a central difference of any width is exact but for rounding
static double compute_momentum(const double* q, const double* v, int i)
{
    double w[NJ];
    memcpy(w, v, sizeof w);
    w[i] = v[i] + 1;
    double above = compute_kinetic(q, w);
    w[i] = v[i] - 1;
    return 0.5 * (above - compute_kinetic(q, w));
}

// dT/dv_i a time t later, to second order in t
static double compute_momentum_later(const double* q, const double* v, const double* v_dot, int i, double t)
{
    double q_t[NJ], v_t[NJ];
    for (int j = 0; j < NJ; j++) {
        q_t[j] = q[j] + t * v[j] + 0.5 * t * t * v_dot[j];
        v_t[j] = v[j] + t * v_dot[j];
    }
    return compute_momentum(q_t, v_t, i);
}

static double compute_gradient(const double* q, const double* v, int i, double width)
{
    double p[NJ];
    memcpy(p, q, sizeof p);
    p[i] = q[i] + width;
    double above = compute_kinetic(p, v);
    p[i] = q[i] - width;
    return (above - compute_kinetic(p, v)) / (2 * width);
}

static void arm_without_gravity_satisfies_lagrange_equations(void** state)
{
    (void)state;
    ItmModel* model;
    ItmError error;
    CHECK_OK(itm_arm7_build(&model, ITM_COORDINATES_JOINT, false, &error), &error);
    ItmData* data = make_data(model);
    double q[NJ], v[NJ], v_dot[NJ];
    for (int i = 0; i < NJ; i++) {
        q[i] = ITM_ARM7_LINKS[i].q;
        v[i] = 10 * ITM_ARM7_LINKS[i].v;  // fast, so that the quadratic terms weigh
    }
    CHECK_OK(itm_data_set_qv(model, data, q, v), itm_data_get_error(data));
    CHECK_OK(itm_dynamics_compute_forward(model, data, v_dot), itm_data_get_error(data));
    const double tau = 1e-4;
    for (int i = 0; i < NJ; i++) {
        double rate =
            (compute_momentum_later(q, v, v_dot, i, tau) - compute_momentum_later(q, v, v_dot, i, -tau)) / (2 * tau);
        // terms of 1e4 N m; differences over 1e-4 leave 1e-8 of them, and rounding of T about as much
        CHECK_NEAR(rate - compute_gradient(q, v, i, tau), 0, 2e-3);
    }
    itm_data_destroy(data);
    itm_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arm_accelerates_and_moves_as_in_the_peers),
        cmocka_unit_test(chain_tip_falls_as_in_the_peers),
        cmocka_unit_test(chain_with_inertia_forces_of_second_order_is_nearer_to_absolute_coordinates),
        cmocka_unit_test(arm_without_gravity_satisfies_lagrange_equations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
