// The reduced interface model against closed forms and against the mechanism's own accelerations.
#include "check.h"

#include "interim/interim.h"
#include "multibody/kinematics.h"
#include "multibody/rows.h"
#include "rim/rim.h"
#include "scenes/scenes.h"

typedef struct Fixture {
    ItmModelFile* file;  // owns m; NULL: m is owned here
    ItmModel* m;
    ItmData* d;
    ItmArena arena;
    ItmRim rim;
} Fixture;

// The RIM of all interfaces at the present state, for a step h.
static void extract_for(Fixture* f, double h)
{
    f->d->position_state = ITM_POSITION_STALE;
    itm_data_refresh(f->m, f->d);
    itm_rim_measure(f->m, f->d, &f->rim);
    CHECK_OK(itm_rim_extract(f->m, f->d, &f->rim, 0.0, h, 0.0, ITM_RIM_ELIMINATE), &f->d->error);
}

// For a step that vanishes.
static void extract(Fixture* f)
{
    extract_for(f, 1e-9);
}

static void begin(Fixture* f, ItmModel* m)
{
    ItmError error;
    *f = (Fixture){.m = m};
    int n = itm_model_get_info(m).nactuator, actuators[2] = {0, 1};
    CHECK_OK(itm_data_create(&f->d, m, NULL, &error), &error);
    itm_rim_lay_out(&f->rim, &f->arena, m, n);
    assert_int_equal(itm_arena_allocate(&f->arena), 0);
    itm_rim_lay_out(&f->rim, &f->arena, m, n);
    itm_rim_init(&f->rim, m, actuators);
}

// The crane with two cylinders.
static void begin_crane(Fixture* f, ItmCoordinates coordinates)
{
    const char* override =
        coordinates == ITM_COORDINATES_JOINT ? "multibody.coordinates=joint" : "multibody.coordinates=absolute";
    ItmError error;
    ItmModelFile* file = NULL;
    CHECK_OK(itm_example_load(&file, "crane-double", &override, 1, &error), &error);
    begin(f, file->model);
    f->file = file;
}

static void end(Fixture* f)
{
    itm_arena_free(&f->arena);
    itm_data_destroy(f->d);
    if (f->file != NULL) {
        itm_file_destroy(f->file);
    } else {
        itm_model_destroy(f->m);
    }
}

// s'' of the first actuators under forces, by itm_dynamics_compute_forward: an independent way through the code.
static void accelerate(Fixture* f, double* s_ddot, const double* force)
{
    double v_dot[64];
    for (int i = 0; i < f->rim.n; i++) {
        CHECK_OK(itm_data_set_actuator_force(f->m, f->d, i, force[i]), &f->d->error);
    }
    CHECK_OK(itm_dynamics_compute_forward(f->m, f->d, v_dot), &f->d->error);
    // A v_dot + A' v = d/dt (A v) along the motion
    double e = 1e-6, rate[2][2], q[64], v[64];
    memcpy(q, f->d->q, sizeof(double) * (size_t)f->m->nq);
    memcpy(v, f->d->v, sizeof(double) * (size_t)f->m->nv);
    for (int side = 0; side < 2; side++) {
        double step = side == 0 ? -e : e;
        double v_e[64];
        for (int k = 0; k < f->m->nv; k++) {
            v_e[k] = v[k] + step * v_dot[k];
        }
        itm_kinematics_integrate(f->m, f->d->q, q, v, step);
        itm_kinematics_compute_positions(f->m, f->d, f->d->q);
        itm_kinematics_compute_velocities(f->m, f->d, v_e);
        itm_rim_measure(f->m, f->d, &f->rim);
        for (int i = 0; i < f->rim.n; i++) {
            rate[side][i] = f->rim.w[i];
        }
    }
    memcpy(f->d->q, q, sizeof(double) * (size_t)f->m->nq);
    for (int i = 0; i < f->rim.n; i++) {
        s_ddot[i] = (rate[1][i] - rate[0][i]) / (2.0 * e);
        f->d->input[i] = 0.0;
    }
    f->d->position_state = ITM_POSITION_STALE;
}

// a0 and every column of W are what the mechanism answers.
static void compare_with_dynamics(Fixture* f, double tolerance)
{
    int n = f->rim.n;
    double free[2], pushed[2], force[2] = {0, 0};
    extract(f);
    accelerate(f, free, force);
    for (int i = 0; i < n; i++) {
        CHECK_NEAR(f->rim.a0[i], free[i], tolerance * (1.0 + fabs(free[i])));
    }
    for (int j = 0; j < n; j++) {
        force[j] = 1000.0;
        accelerate(f, pushed, force);
        force[j] = 0.0;
        for (int i = 0; i < n; i++) {
            CHECK_NEAR(1000.0 * f->rim.W[i * n + j], pushed[i] - free[i], tolerance * (1.0 + fabs(pushed[i])));
        }
    }
}

static void crane_mobility_is_the_closed_form(void** state)
{
    (void)state;
    double t1 = 0.5235987755982988, d = t1 - 4.71238898038469, s1 = 0.5, s2 = 0.25 * sqrt(3.0);
    double J1 = 0.8660254037844386 * sin(t1) / (2 * s1), J2 = 0.5 * sin(d) / (4 * s2);
    double M11 = 200.0 / 3 + 350, M12 = 50 * cos(d), M22 = 25 + 1e-6, det = M11 * M22 - M12 * M12;
    // rows (J1, 0) and (-J2, J2)
    double want[4] = {J1 * J1 * M22 / det, -J1 * J2 * (M22 + M12) / det, 0, J2 * J2 * (M11 + M22 + 2 * M12) / det};
    want[2] = want[1];
    for (int coordinates = 0; coordinates < 2; coordinates++) {
        Fixture f;
        begin_crane(&f, (ItmCoordinates)coordinates);
        extract(&f);
        CHECK_NEAR(f.rim.s[0], s1, 1e-12);
        CHECK_NEAR(f.rim.s[1], s2, 1e-12);
        for (int i = 0; i < 4; i++) {
            // absolute coordinates: rows of a body of 1e-6 kg m^2 beside 100 kg cost digits
            CHECK_NEAR(f.rim.W[i], want[i], (coordinates == ITM_COORDINATES_JOINT ? 1e-12 : 1e-6) * fabs(want[3]));
        }
        double determinant = f.rim.W[0] * f.rim.W[3] - f.rim.W[1] * f.rim.W[2];
        assert_true(determinant > 0.0 && f.rim.W[0] > 0.0 && f.rim.W[1] == f.rim.W[2]);
        end(&f);
    }
}

static void rim_is_what_the_mechanism_answers(void** state)
{
    (void)state;
    for (int which = 0; which < 4; which++) {
        Fixture f;
        ItmCoordinates coordinates = which % 2 == 0 ? ITM_COORDINATES_JOINT : ITM_COORDINATES_ABSOLUTE;
        if (which < 2) {
            begin_crane(&f, coordinates);
        } else {
            ItmError error;
            ItmModel* parallel = NULL;
            CHECK_OK(itm_parallel_crane_build(&parallel, coordinates, &error), &error);
            begin(&f, parallel);
        }
        // in motion, so that the velocity terms count
        f.d->input[0] = 12000.0;
        for (int k = 0; k < 200; k++) {
            CHECK_OK(itm_step(f.m, f.d), &f.d->error);
        }
        f.d->input[0] = 0.0;
        compare_with_dynamics(&f, 1e-5);  // central differences over 1e-6 s
        end(&f);
    }
}

static void closed_loop_with_redundant_rows_has_its_closed_form(void** state)
{
    (void)state;
    for (int coordinates = 0; coordinates < 2; coordinates++) {
        ItmError error;
        ItmModel* m = NULL;
        Fixture f;
        CHECK_OK(itm_parallel_crane_build(&m, (ItmCoordinates)coordinates, &error), &error);
        assert_true(itm_model_get_info(m).nredundant > 0);
        assert_int_equal(itm_model_get_info(m).freedom, 1);
        begin(&f, m);
        extract(&f);
        double J = 0.8660254037844386 * 0.5 / (2 * 0.5), inertia = 200.0 / 3 + 250 + 20.0 / 3 + 5 + 100;
        CHECK_NEAR(f.rim.W[0], J * J / inertia, 1e-11 * J * J / inertia);
        // a constraint force does no work: X keeps the rows
        double rows[64], X[64] = {0}, unit = 1.0;
        itm_rim_respond(m, f.d, &f.rim, X, 0.0, &unit);
        itm_rows_multiply(m, f.d, rows, X);
        for (int i = 0; i < m->nrow; i++) {
            CHECK_NEAR(rows[i], 0.0, 1e-12);
        }
        end(&f);
    }
}

// A free base, a ball joint, a boom that bends, a hinge, a hand: every kind of mobilizer on the way of a frame to its root, all in motion.
static const char CHAIN[] =
    "multibody:\n"
    "  gravity: [0, 1 m/s^2, -9.81 m/s^2]\n"
    "  bodies:\n"
    "    base: {mass: 20 kg, inertia: [2 kg m^2, 3 kg m^2, 4 kg m^2], position: [0, 0, 0], velocity: [0.1 m/s, 0, 0.2 "
    "m/s], angular_velocity: [0.3 rad/s, -0.2 rad/s, 0.1 rad/s]}\n"
    "    boom: {flexible: {beam: {length: 2 m, section: {rectangle: [40 mm, 30 mm]}, density: 2700 kg/m^3, young: 69 "
    "GPa, ends: clamped-free, modes: {y: 2, z: 2, torsion: 1}}, damping: 0.01, start: [20 mm, 1 mm, -30 mm, 2 mm, "
    "0.05], start_rate: [0.1, -0.05, 0.2, 0.1, 1]}}\n"
    "    hand: {mass: 3 kg, inertia: [0.02 kg m^2, 0.03 kg m^2, 0.04 kg m^2]}\n"
    "  joints:\n"
    "    ball: {type: spherical, bodies: [base, boom], frame_a: {position: [0.2 m, 0.1 m, 0], axis: [0.6, 0, 0.8]}, "
    "frame_b: {position: [0, 0, 0]}}\n"
    "    hinge: {type: revolute, bodies: [boom, hand], frame_a: {position: [2 m, 0, 0], axis: [0, 0.6, 0.8]}, frame_b: "
    "{position: [-0.1 m, 0, 0], axis: [0, 0.6, 0.8]}, start: 0.4 rad, start_rate: 0.7 rad/s}\n";

// Mobility and free acceleration of directions of the hand.
static void extract_hand(Fixture* f, ItmModelFile** file, const char* coordinates, int n)
{
    ItmError error = {0};
    const ItmVec3 point = {0.3, -0.2, 0.1};
    const int none[ITM_DIRECTION_COUNT] = {ITM_NONE, ITM_NONE, ITM_NONE, ITM_NONE, ITM_NONE, ITM_NONE};
    CHECK_OK(itm_file_parse(file, CHAIN, strlen(CHAIN), "text", &coordinates, 1, &error), &error);
    *f = (Fixture){.m = (*file)->model};
    CHECK_OK(itm_data_create(&f->d, f->m, NULL, &error), &error);
    itm_rim_lay_out(&f->rim, &f->arena, f->m, n);
    assert_int_equal(itm_arena_allocate(&f->arena), 0);
    itm_rim_lay_out(&f->rim, &f->arena, f->m, n);
    itm_rim_init(&f->rim, f->m, none);
    for (int i = 0; i < n; i++) {
        // the last directions first, so that fewer than six are not those the kernels begin with
        ItmRimFrame frame = {
            .body = f->m->body_index[2], .point = point, .direction = (ItmDirection)(ITM_DIRECTION_COUNT - 1 - i)};
        itm_rim_set_frame(&f->rim, f->m, i, &frame);
    }
    extract_for(f, 1e-6);
}

static void mobility_of_a_frame_is_that_of_other_coordinates(void** state)
{
    (void)state;
    for (int n = 2; n <= ITM_DIRECTION_COUNT; n += 2) {
        ItmModelFile* files[2];
        Fixture joint, absolute;
        extract_hand(&joint, &files[0], "multibody.coordinates=joint", n);
        extract_hand(&absolute, &files[1], "multibody.coordinates=absolute", n);
        assert_int_equal(joint.m->nrow, 0);
        assert_true(absolute.m->nrow > 0);
        for (int i = 0; i < n; i++) {
            CHECK_NEAR(joint.rim.w[i], absolute.rim.w[i], 1e-13);
            // free bodies take their gyroscopic torque with its change over the step, 3e-8 for 1e-6 s; up to 4e3 m/s^2
            CHECK_NEAR(joint.rim.a0[i], absolute.rim.a0[i], 1e-7);
            for (int j = 0; j < n; j++) {
                CHECK_NEAR(joint.rim.W[i * n + j], absolute.rim.W[i * n + j], 1e-11);
            }
        }
        // and what unit impulses do to the velocities
        double W[ITM_DIRECTION_COUNT * ITM_DIRECTION_COUNT];
        memcpy(W, joint.rim.W, sizeof(double) * (size_t)(n * n));
        for (int i = 0; i < n; i++) {
            double unit[ITM_DIRECTION_COUNT] = {0.0}, v[64] = {0.0};
            unit[i] = 1.0;
            itm_rim_respond(joint.m, joint.d, &joint.rim, v, 0.0, unit);
            itm_kinematics_compute_velocities(joint.m, joint.d, v);
            itm_rim_measure(joint.m, joint.d, &joint.rim);
            for (int j = 0; j < n; j++) {
                CHECK_NEAR(joint.rim.w[j], W[i * n + j], 1e-12);
            }
        }
        for (int k = 0; k < 2; k++) {
            Fixture* f = k == 0 ? &joint : &absolute;
            itm_arena_free(&f->arena);
            itm_data_destroy(f->d);
            itm_file_destroy(files[k]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crane_mobility_is_the_closed_form),
        cmocka_unit_test(rim_is_what_the_mechanism_answers),
        cmocka_unit_test(closed_loop_with_redundant_rows_has_its_closed_form),
        cmocka_unit_test(mobility_of_a_frame_is_that_of_other_coordinates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
