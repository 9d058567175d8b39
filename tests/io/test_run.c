// Runs in memory, inputs by name, the linearised step, mass matrix and Jacobian: what programs use around a system.
#include "interim/interim.h"

#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXAMPLE(name) ITM_SOURCE_DIR "/examples/" name

typedef struct Machine {
    ItmModelFile* file;
    ItmCosim* cosim;
} Machine;

static Machine load(const char* path, const char* const* overrides, int noverride)
{
    Machine machine = {0};
    ItmError error = {0};
    if (itm_file_load(&machine.file, path, overrides, noverride, &error) != ITM_OK ||
        itm_file_create_cosim(&machine.cosim, machine.file, NULL, &error) != ITM_OK) {
        fail_msg("%s:%d: %s", error.file, error.line, error.message);
    }
    return machine;
}

static Machine parse(const char* text)
{
    Machine machine = {0};
    ItmError error = {0};
    if (itm_file_parse(&machine.file, text, strlen(text), "test", NULL, 0, &error) != ITM_OK ||
        itm_file_create_cosim(&machine.cosim, machine.file, NULL, &error) != ITM_OK) {
        fail_msg("%s:%d: %s", error.file, error.line, error.message);
    }
    return machine;
}

static void unload(Machine* machine)
{
    itm_cosim_destroy(machine->cosim);
    itm_file_destroy(machine->file);
}

// A rod of length L on a hinge, driven by a torque from outside.
static const char PENDULUM[] = "parameters: {L: 2 m, m: 3 kg}\n"
                               "signals: {torque: {external: 0 N m}}\n"
                               "multibody:\n"
                               "  name: arm\n"
                               "  gravity: [0, -9.81 m/s^2, 0]\n"
                               "  bodies:\n"
                               "    rod: {mass: m, com: [L/2, 0, 0], inertia: [1e-3 kg m^2, m*L^2/12, m*L^2/12],\n"
                               "          position: [0, 0, 0]}\n"
                               "  joints:\n"
                               "    hinge: {type: revolute, bodies: [ground, rod], at: [0, 0, 0], axis: [0, 0, 1]}\n"
                               "  motions:\n"
                               "    drive: {joint: hinge, force: torque}\n"
                               "run: {step: 1 ms, duration: 1 s}\n";

// ---------------------------------------------------------------------------- runs

static void rows_in_memory_are_those_of_single_steps(void** state)
{
    (void)state;
    const char* overrides[] = {"run.duration=0.5 s"};
    Machine a = load(EXAMPLE("crane-single.yaml"), overrides, 1), b = load(EXAMPLE("crane-single.yaml"), overrides, 1);
    ItmRunOptions options = itm_default_run_options(a.file);
    options.keeps_rows = true;
    options.output_interval = 0.02;
    ItmRun* run = NULL;
    assert_int_equal(itm_run_create(&run, a.file, a.cosim, &options, NULL), ITM_OK);
    // in pieces: a piece without time is one step
    for (int i = 0; i < 7; i++) {
        assert_int_equal(itm_run_advance(run, 0.0), ITM_OK);
    }
    assert_int_equal(itm_run_get_info(run).nstep, 7);
    assert_int_equal(itm_run_advance(run, INFINITY), ITM_OK);
    assert_int_equal(itm_run_close(run), ITM_OK);
    ItmRunInfo info = itm_run_get_info(run);
    assert_int_equal(info.verdict, ITM_VERDICT_FINISHED);
    assert_int_equal(info.nrow, 26);
    int n = itm_cosim_get_output_count(b.cosim);
    double* values = malloc(sizeof *values * (size_t)n);
    assert_non_null(values);
    for (long row = 0; row < info.nrow; row++) {
        assert_int_equal(itm_cosim_compute_outputs(b.cosim, values), ITM_OK);
        const double* kept = itm_run_get_rows(run) + (size_t)row * (size_t)(n + 1);
        assert_true(kept[0] == itm_cosim_get_time(b.cosim));
        assert_memory_equal(kept + 1, values, sizeof *values * (size_t)n);
        for (int k = 0; k < 2 && row + 1 < info.nrow; k++) {
            assert_int_equal(itm_cosim_step(b.cosim), ITM_OK);
        }
    }
    free(values);
    itm_run_destroy(run);
    unload(&a);
    unload(&b);
}

static void a_stopped_run_keeps_its_rows_and_says_so(void** state)
{
    (void)state;
    Machine a = parse(PENDULUM);
    ItmRunOptions options = itm_default_run_options(a.file);
    options.keeps_rows = true;
    options.output_interval = 0.01;
    ItmRun* run = NULL;
    assert_int_equal(itm_run_create(&run, a.file, a.cosim, &options, NULL), ITM_OK);
    for (int i = 0; i < 15; i++) {
        assert_int_equal(itm_run_advance(run, 0.0), ITM_OK);
    }
    itm_run_stop(run, NULL);
    assert_int_equal(itm_run_advance(run, INFINITY), ITM_OK);
    assert_int_equal(itm_run_close(run), ITM_OK);
    ItmRunInfo info = itm_run_get_info(run);
    assert_int_equal(info.verdict, ITM_VERDICT_INTERRUPTED);
    const char* reason = "interrupted at 0.015 s by the user";  // doubts may follow
    assert_true(strncmp(itm_run_get_reason(run), reason, strlen(reason)) == 0);
    assert_int_equal(info.nrow, 3);  // 0, 10 and the last state, 15 ms
    int width = itm_cosim_get_output_count(a.cosim) + 1;
    assert_true(itm_run_get_rows(run)[2 * width] == 0.015);
    itm_run_destroy(run);
    unload(&a);
}

static void a_run_that_breaks_down_keeps_the_rows_before(void** state)
{
    (void)state;
    Machine a = load(ITM_SOURCE_DIR "/tests/cli/breaks-down.yaml", NULL, 0);
    ItmRunOptions options = itm_default_run_options(a.file);
    options.keeps_rows = true;
    ItmRun* run = NULL;
    assert_int_equal(itm_run_create(&run, a.file, a.cosim, &options, NULL), ITM_OK);
    assert_int_equal(itm_run_advance(run, INFINITY), ITM_OK);
    assert_int_equal(itm_run_close(run), ITM_OK);
    assert_int_equal(itm_run_get_info(run).verdict, ITM_VERDICT_BROKE_DOWN);
    assert_true(strncmp(itm_run_get_reason(run), "broke down at ", 14) == 0);
    assert_true(itm_run_get_info(run).nrow >= 1);
    itm_run_destroy(run);
    unload(&a);
}

static void bad_options_of_a_run_are_refused(void** state)
{
    (void)state;
    Machine a = parse(PENDULUM);
    ItmRunOptions options = itm_default_run_options(a.file);
    ItmRun* run = NULL;
    ItmError error = {0};
    options.duration = -1.0;
    assert_int_equal(itm_run_create(&run, a.file, a.cosim, &options, &error), ITM_ERR_ARGUMENT);
    assert_string_equal(error.field, "duration");
    options = itm_default_run_options(a.file);
    options.path = "results.txt";
    assert_int_equal(itm_run_create(&run, a.file, a.cosim, &options, &error), ITM_ERR_INPUT);
    assert_null(run);
    unload(&a);
}

// ---------------------------------------------------------------------------- inputs

static void inputs_have_the_names_of_wires(void** state)
{
    (void)state;
    Machine a = load(EXAMPLE("crane-single.yaml"), NULL, 0);
    // the cylinder has a bond and is no input; the valve adds the input to its signal
    assert_int_equal(itm_cosim_find_input(a.cosim, "crane.cyl1"), ITM_NONE);
    int valve = itm_cosim_find_input(a.cosim, "hydraulics.valve1");
    assert_int_not_equal(valve, ITM_NONE);
    assert_false(itm_cosim_get_input_info(a.cosim, valve).is_wired);
    assert_int_equal(itm_cosim_set_input_value(a.cosim, valve, 0.25), ITM_OK);
    assert_true(itm_cosim_get_input_value(a.cosim, valve) == 0.25);
    assert_int_equal(itm_cosim_set_input_value(a.cosim, valve, NAN), ITM_ERR_ARGUMENT);
    assert_int_equal(itm_cosim_set_input_value(a.cosim, itm_cosim_get_input_count(a.cosim), 0.0), ITM_ERR_ARGUMENT);
    unload(&a);

    Machine b = load(EXAMPLE("scara.yaml"), NULL, 0);
    bool has_wired = false;
    for (int i = 0; i < itm_cosim_get_input_count(b.cosim); i++) {
        if (itm_cosim_get_input_info(b.cosim, i).is_wired) {
            has_wired = true;
            assert_int_equal(itm_cosim_set_input_value(b.cosim, i, 1.0), ITM_ERR_ARGUMENT);
        }
    }
    assert_true(has_wired);
    unload(&b);
}

// theta'' = (tau - m g L/2) / (m L^2 / 3) at theta = 0
static void an_external_signal_of_the_file_drives_the_joint(void** state)
{
    (void)state;
    Machine a = parse(PENDULUM);
    int torque = itm_cosim_find_input(a.cosim, "arm.torque");
    assert_int_not_equal(torque, ITM_NONE);
    double hold = 3.0 * 9.81 * 1.0;
    assert_int_equal(itm_cosim_set_input_value(a.cosim, torque, hold), ITM_OK);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(itm_cosim_step(a.cosim), ITM_OK);
    }
    // the torque that holds it at rest holds it: only rounding accumulates
    CHECK_NEAR(itm_data_get_q(itm_cosim_get_data(a.cosim, 0))[0], 0.0, 1e-12);
    unload(&a);
}

static void an_external_signal_in_a_circuit_is_refused(void** state)
{
    (void)state;
    const char* text =
        "signals: {u: {external: 0}}\n"
        "subsystems:\n"
        "  h:\n"
        "    type: hydraulics\n"
        "    fluids: {oil: {density: 850 kg/m^3, bulk_modulus: 1.5 GPa}}\n"
        "    nodes:\n"
        "      pump: {type: pressure-source, pressure: 7 MPa}\n"
        "      tank: {type: tank}\n"
        "      a: {type: volume, volume: 1 l, pressure: 1 MPa}\n"
        "      b: {type: volume, volume: 1 l, pressure: 1 MPa}\n"
        "    elements:\n"
        "      v: {type: valve-4-3, ports: {p: pump, t: tank, a: a, b: b}, coefficient: 1e-8, command: u}\n"
        "run: {step: 1 ms, duration: 1 s}\n";
    ItmModelFile* file = NULL;
    ItmError error = {0};
    assert_int_equal(itm_file_parse(&file, text, strlen(text), "test", NULL, 0, &error), ITM_ERR_INPUT);
    assert_non_null(strstr(error.message, "external"));
    assert_int_equal(error.line, 12);
}

// ---------------------------------------------------------------------------- dynamics

// v' M v / 2 is the kinetic energy that the model reports, and J v the velocity of a point, for any v.
static void mass_matrix_and_jacobian_agree_with_energy_and_velocity(void** state)
{
    (void)state;
    const char* files[] = {EXAMPLE("crane-single.yaml"), EXAMPLE("flexible-pendulum.yaml"), EXAMPLE("scara.yaml"),
                           EXAMPLE("top.yaml")};
    for (size_t k = 0; k < sizeof files / sizeof files[0]; k++) {
        Machine a = load(files[k], NULL, 0);
        const ItmModel* m = itm_cosim_get_model(a.cosim, 0);
        ItmData* d = itm_cosim_get_data(a.cosim, 0);
        for (int i = 0; i < 5; i++) {
            assert_int_equal(itm_cosim_step(a.cosim), ITM_OK);
        }
        size_t n = (size_t)itm_model_get_info(m).nv;
        double* M = malloc(sizeof *M * n * n);
        double* J = malloc(sizeof *J * 6 * n);
        double* y = malloc(sizeof *y * (size_t)itm_model_get_output_count(m));
        assert_true(M != NULL && J != NULL && y != NULL);
        assert_int_equal(itm_dynamics_compute_mass_matrix(m, d, M), ITM_OK);
        assert_int_equal(itm_model_compute_outputs(m, d, y), ITM_OK);
        const double* v = itm_data_get_v(d);
        double energy = 0.0, twist[6] = {0.0};
        for (size_t i = 0; i < n * n; i++) {
            energy += 0.5 * v[i / n] * M[i] * v[i % n];
        }
        // rounding of sums over bodies of up to 1e3 kg m^2 with gravity taken off: 1e-13
        double expected = y[itm_model_find_output(m, "energy.kinetic")];
        CHECK_NEAR(energy, expected, 1e-11 * (1e-3 + expected));
        ItmVec3 zero = {0.0, 0.0, 0.0}, lin = itm_data_get_body_velocity(m, d, 0),
                ang = itm_data_get_body_angular_velocity(m, d, 0);
        assert_int_equal(itm_dynamics_compute_jacobian(m, d, J, 0, zero), ITM_OK);
        for (size_t i = 0; i < 6 * n; i++) {
            twist[i / n] += J[i] * v[i % n];
        }
        const double known[] = {lin.x, lin.y, lin.z, ang.x, ang.y, ang.z};
        for (int i = 0; i < 6; i++) {
            CHECK_NEAR(twist[i], known[i], 1e-12 * (1.0 + fabs(known[i])));
        }
        // looking changes nothing
        assert_true(itm_data_get_body_velocity(m, d, 0).x == lin.x);
        assert_int_equal(itm_dynamics_compute_jacobian(m, d, J, 99, zero), ITM_ERR_ARGUMENT);
        free(M);
        free(J);
        free(y);
        unload(&a);
    }
}

// Semi-implicit Euler at the hanging rod, q' = q + h v', v' = v + h (tau - k sin) / I: A and B in closed form.
static void linearised_pendulum_is_the_closed_form(void** state)
{
    (void)state;
    Machine a = parse(PENDULUM);
    const ItmModel* m = itm_cosim_get_model(a.cosim, 0);
    ItmData* d = itm_cosim_get_data(a.cosim, 0);
    const double h = 1e-3, I = 3.0 * 4.0 / 3.0, k = 3.0 * 9.81 * 1.0, hang = -0.5 * acos(-1.0), rest = 0.0;
    assert_int_equal(itm_data_set_qv(m, d, &hang, &rest), ITM_OK);
    int input = itm_cosim_find_input(a.cosim, "arm.torque"), output = itm_cosim_find_output(a.cosim, "arm.hinge.angle");
    assert_true(input != ITM_NONE && output != ITM_NONE);
    ItmLinear* l = NULL;
    assert_int_equal(itm_linear_create(&l, a.cosim, &input, 1, &output, 1), ITM_OK);
    assert_int_equal(l->nstate, 2);
    assert_string_equal(l->names[0], "arm.rod.q0");
    assert_string_equal(l->names[1], "arm.rod.v0");
    // errors: third derivatives times the disturbance squared (1e-12) and rounding over the disturbance, 1e-16 / 1e-6
    const double A[] = {1.0 - h * h * k / I, h, -h * k / I, 1.0}, B[] = {h * h / I, h / I};
    for (int i = 0; i < 4; i++) {
        CHECK_NEAR(l->A[i], A[i], 1e-9);
    }
    CHECK_NEAR(l->B[0], B[0], 1e-9);
    CHECK_NEAR(l->B[1], B[1], 1e-9);
    CHECK_NEAR(l->C[0], 1.0, 1e-9);
    CHECK_NEAR(l->C[1], 0.0, 1e-9);
    CHECK_NEAR(l->D[0], 0.0, 1e-12);
    // the state is as it was
    assert_true(itm_data_get_q(d)[0] == hang && itm_cosim_get_time(a.cosim) == 0.0);
    itm_linear_destroy(l);
    int none = 99;
    assert_int_equal(itm_linear_create(&l, a.cosim, &none, 1, &output, 1), ITM_ERR_ARGUMENT);
    assert_int_equal(itm_linear_create(&l, a.cosim, &input, 1, &(int){100000}, 1), ITM_ERR_ARGUMENT);
    unload(&a);
}

// Two ways to the same number: the radius of the advice, and the eigenvalues of A by powers of A.
static void linearised_crane_has_the_radius_of_the_advice(void** state)
{
    (void)state;
    const char* overrides[] = {"cosim.coupling=zoh", "cosim.macro_step=2 ms"};
    Machine a = load(EXAMPLE("crane-single.yaml"), overrides, 2);
    double radius = 0.0;
    assert_int_equal(itm_cosim_compute_radius(a.cosim, 1, &radius), ITM_OK);
    assert_int_equal(itm_cosim_step(a.cosim), ITM_OK);  // the advice looks two steps after the present state
    assert_int_equal(itm_cosim_step(a.cosim), ITM_OK);
    ItmLinear* l = NULL;
    assert_int_equal(itm_linear_create(&l, a.cosim, NULL, 0, NULL, 0), ITM_OK);
    size_t n = (size_t)l->nstate;
    double* P = malloc(sizeof *P * n * n);
    double* Q = malloc(sizeof *Q * n * n);
    assert_true(P != NULL && Q != NULL);
    memcpy(P, l->A, sizeof *P * n * n);
    double scale = 0.0;
    // |A^(2^20)|^(1 / 2^20) by squaring, scaled on the way
    for (int k = 0; k < 20; k++) {
        double most = 0.0;
        for (size_t i = 0; i < n * n; i++) {
            Q[i] = 0.0;
            for (size_t j = 0; j < n; j++) {
                Q[i] += P[i / n * n + j] * P[j * n + i % n];
            }
            most = fmax(most, fabs(Q[i]));
        }
        for (size_t i = 0; i < n * n; i++) {
            P[i] = Q[i] / most;
        }
        scale = 2.0 * scale + log(most);
    }
    // the remaining factor is the size of the eigenvectors over 2^20: log(1e12) / 2^20 = 3e-5
    CHECK_NEAR(exp(scale / 1048576.0), radius, 1e-4 * radius);
    free(P);
    free(Q);
    itm_linear_destroy(l);
    unload(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_in_memory_are_those_of_single_steps),
        cmocka_unit_test(a_stopped_run_keeps_its_rows_and_says_so),
        cmocka_unit_test(a_run_that_breaks_down_keeps_the_rows_before),
        cmocka_unit_test(bad_options_of_a_run_are_refused),
        cmocka_unit_test(inputs_have_the_names_of_wires),
        cmocka_unit_test(an_external_signal_of_the_file_drives_the_joint),
        cmocka_unit_test(an_external_signal_in_a_circuit_is_refused),
        cmocka_unit_test(mass_matrix_and_jacobian_agree_with_energy_and_velocity),
        cmocka_unit_test(linearised_pendulum_is_the_closed_form),
        cmocka_unit_test(linearised_crane_has_the_radius_of_the_advice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
