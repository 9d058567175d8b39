// Foreign subsystems that join a system of a model file by name, and what programs with a view of their own read: forces of contacts,
// shapes to draw, a run up to a time.
#include "interim/interim.h"

#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXAMPLE(name) ITM_SOURCE_DIR "/examples/" name

// A DC motor without inductance: torque = k (u - k w) / R. It has no state but the angle it has turned.
typedef struct Motor {
    double R, k, voltage, rate;
} Motor;

static void set_motion(void* self, const double* s, const double* w, const double* w_end)
{
    (void)s;
    ((Motor*)self)->rate = w_end != NULL ? w_end[0] : w[0];
}

static void get_forces(void* self, double* torque)
{
    const Motor* m = self;
    torque[0] = m->k * (m->voltage - m->k * m->rate) / m->R;
}

static void set_inputs(void* self, const double* u)
{
    ((Motor*)self)->voltage = u[0];
}

static void get_outputs(void* self, double* y)
{
    const Motor* m = self;
    y[0] = (m->voltage - m->k * m->rate) / m->R;
}

static ItmStatus do_step(void* self, double t, double h, ItmError* error)
{
    (void)self;
    (void)t;
    (void)h;
    (void)error;
    return ITM_OK;
}

static void reset(void* self)
{
    ((Motor*)self)->rate = 0.0;
}

static ItmStatus make_motor(void* context, ItmSubsystem* subsystem, ItmError* error)
{
    static const char* const PORTS[] = {"shaft"};
    static const bool IS_ROTARY[] = {true};
    static const char* const INPUTS[] = {"voltage"};
    static const ItmOutputInfo OUTPUTS[] = {{"current", "A", "current"}};
    Motor* m = malloc(sizeof *m);
    (void)error;
    if (m == NULL) {
        return ITM_ERR_MEMORY;
    }
    *m = *(const Motor*)context;
    *subsystem = (ItmSubsystem){.self = m,
                                .nport = 1,
                                .port_names = PORTS,
                                .port_is_rotary = IS_ROTARY,
                                .ninput = 1,
                                .input_names = INPUTS,
                                .noutput = 1,
                                .outputs = OUTPUTS,
                                .set_motion = set_motion,
                                .get_forces = get_forces,
                                .set_inputs = set_inputs,
                                .get_outputs = get_outputs,
                                .do_step = do_step,
                                .reset = reset,
                                .memory = m,
                                .memory_size = sizeof *m,
                                .destroy = free};
    return ITM_OK;
}

static ItmStatus refuse(void* context, ItmSubsystem* subsystem, ItmError* error)
{
    (void)subsystem;
    strcpy(error->message, context);
    return ITM_ERR_UNSUPPORTED;
}

static ItmModelFile* load(const char* path, const char* override)
{
    ItmModelFile* file = NULL;
    ItmError error = {0};
    if (itm_file_load(&file, path, &override, override != NULL ? 1 : 0, &error) != ITM_OK) {
        fail_msg("%s:%d: %s", error.file, error.line, error.message);
    }
    return file;
}

static ItmCosim* create(const ItmModelFile* file)
{
    ItmCosim* cosim = NULL;
    ItmError error = {0};
    if (itm_file_create_cosim(&cosim, file, NULL, &error) != ITM_OK) {
        fail_msg("%s:%d: %s", error.file, error.line, error.message);
    }
    return cosim;
}

static double output(ItmCosim* cosim, const char* name)
{
    double* values = calloc((size_t)itm_cosim_get_output_count(cosim), sizeof *values);
    int i = itm_cosim_find_output(cosim, name);
    assert_true(i >= 0);
    assert_int_equal(itm_cosim_compute_outputs(cosim, values), ITM_OK);
    double value = values[i];
    free(values);
    return value;
}

// ---------------------------------------------------------------------------- external subsystems

// J w' = k (u - k w) / R - d w: w = w_end (1 - exp(-(t - t0) / T)), T = J / (k^2/R + d), u from t0 on.
static double speed_at(const Motor* m, double J, double d, double u, double t)
{
    double c = m->k * m->k / m->R + d;
    return m->k * u / m->R / c * (1.0 - exp(-t * c / J));
}

static void an_external_motor_turns_the_wheel_as_computed_by_hand(void** state)
{
    (void)state;
    Motor motor = {.R = 0.5, .k = 0.3};
    double error[2];
    for (int i = 0; i < 2; i++) {
        ItmModelFile* file =
            load(EXAMPLE("c/foreign_motor.yaml"), i == 0 ? "cosim.macro_step=10 ms" : "cosim.macro_step=5 ms");
        assert_int_equal(itm_file_set_external(file, "motor", make_motor, &motor, NULL), ITM_OK);
        ItmCosim* cosim = create(file);
        ItmRun* run = NULL;
        ItmRunOptions options = itm_default_run_options(file);
        assert_int_equal(itm_run_create(&run, file, cosim, &options, NULL), ITM_OK);
        assert_int_equal(itm_run_advance_to(run, 2.0), ITM_OK);
        CHECK_NEAR(itm_run_get_info(run).time, 2.0, 1e-9);
        assert_int_equal(itm_run_get_info(run).verdict, ITM_VERDICT_RUNNING);
        // the controller samples every 10 ms: 24 V from 0.1 s on; J = m r^2 / 2
        double wanted = speed_at(&motor, 0.4, 0.05, 24.0, 2.0 - 0.1), is = output(cosim, "rig.axle.angle_rate");
        error[i] = fabs(is - wanted);
        // the current is that of the last micro step, in which the speed still rose by k i h / J = 1.7e-3 rad/s
        CHECK_NEAR(output(cosim, "motor.current"), (24.0 - motor.k * is) / motor.R, 1.7e-3 * motor.k / motor.R);
        itm_run_destroy(run);
        itm_cosim_destroy(cosim);
        itm_file_destroy(file);
    }
    // first order in the macro step, in which the mechanism's damping is taken; observed 0.0106 and 0.0053 rad/s of 41.6
    assert_true(error[0] < 0.02 && error[1] < 0.6 * error[0]);
}

static void systems_of_one_file_have_motors_of_their_own(void** state)
{
    (void)state;
    Motor motor = {.R = 0.5, .k = 0.3};
    ItmModelFile* file = load(EXAMPLE("c/foreign_motor.yaml"), NULL);
    assert_int_equal(itm_file_set_external(file, "motor", make_motor, &motor, NULL), ITM_OK);
    ItmCosim *a = create(file), *b = create(file);
    for (int i = 0; i < 50; i++) {
        assert_int_equal(itm_cosim_step(a), ITM_OK);
    }
    assert_true(output(b, "rig.axle.angle_rate") == 0.0);
    for (int i = 0; i < 50; i++) {
        assert_int_equal(itm_cosim_step(b), ITM_OK);
    }
    assert_true(output(a, "rig.axle.angle_rate") == output(b, "rig.axle.angle_rate"));
    itm_cosim_destroy(a);
    itm_cosim_destroy(b);
    itm_file_destroy(file);
}

static void an_external_subsystem_that_nobody_fills_is_named(void** state)
{
    (void)state;
    ItmModelFile* file = load(EXAMPLE("c/foreign_motor.yaml"), NULL);
    ItmCosim* cosim = NULL;
    ItmError error = {0};
    assert_int_equal(itm_file_create_cosim(&cosim, file, NULL, &error), ITM_ERR_INPUT);
    assert_true(error.line == 27 && error.column == 3);
    assert_non_null(strstr(error.message, "subsystem 'motor' is external: a program has to fill it"));
    Motor motor = {.R = 1.0};
    assert_int_equal(itm_file_set_external(file, "moter", make_motor, &motor, &error), ITM_ERR_INPUT);
    assert_string_equal(error.message, "the file has no external subsystem 'moter'; nearest: 'motor'");
    assert_int_equal(itm_file_set_external(file, "motor", refuse, "no licence", NULL), ITM_OK);
    assert_int_equal(itm_file_create_cosim(&cosim, file, NULL, &error), ITM_ERR_UNSUPPORTED);
    assert_string_equal(error.message, "external subsystem 'motor': no licence");
    assert_int_equal(itm_file_create_cosim(&cosim, file, NULL, NULL), ITM_ERR_UNSUPPORTED);
    itm_file_destroy(file);
}

// ---------------------------------------------------------------------------- views of one's own

static void forces_of_contacts_carry_the_weight(void** state)
{
    (void)state;
    ItmModelFile* file = load(EXAMPLE("stack.yaml"), NULL);
    ItmCosim* cosim = create(file);
    for (int i = 0; i < 50; i++) {
        assert_int_equal(itm_cosim_step(cosim), ITM_OK);
    }
    ItmData* d = itm_cosim_get_data(cosim, 0);
    double sum = 0.0, normal = 0.0;
    for (int i = 0; i < itm_contact_get_count(d); i++) {
        ItmContactInfo c = itm_contact_get_info(d, i);
        if (c.body_a == ITM_GROUND || c.body_b == ITM_GROUND) {
            sum += c.body_b == ITM_GROUND ? -c.force.z : c.force.z;
            normal += c.normal_force;
        }
    }
    CHECK_NEAR(sum, 10.0 * 9.81, 1e-6 * 98.1);  // the residual of the solver is 1e-9
    CHECK_NEAR(normal, sum, 1e-9 * 98.1);
    itm_cosim_destroy(cosim);
    itm_file_destroy(file);
}

static void shapes_to_draw_have_their_sizes_places_and_colours(void** state)
{
    (void)state;
    ItmModelFile* file = load(EXAMPLE("pendulum.yaml"), "multibody.bodies.rod.shape.color=\"#12ab34\"");
    assert_int_equal(itm_contact_get_drawn_count(file->model), 1);
    ItmDrawnShape rod = itm_contact_get_drawn(file->model, 0);
    assert_int_equal(rod.kind, ITM_COLLIDER_CYLINDER);
    assert_true(rod.body == 0 && !rod.collides && rod.color == 0x12ab34);
    CHECK_NEAR(rod.size[0], 0.01, 0.0);
    CHECK_NEAR(rod.size[1], 1.0, 1e-15);
    CHECK_NEAR(fabs(rod.pose.p.x) + fabs(rod.pose.p.y) + fabs(rod.pose.p.z), 0.0, 1e-15);
    itm_file_destroy(file);
    file = load(EXAMPLE("stack.yaml"), NULL);
    int nbox = 0, nplane = 0;
    for (int i = 0; i < itm_contact_get_drawn_count(file->model); i++) {
        ItmDrawnShape shape = itm_contact_get_drawn(file->model, i);
        nbox += shape.kind == ITM_COLLIDER_BOX && shape.collides && shape.color == ITM_NONE;
        nplane += shape.kind == ITM_COLLIDER_PLANE && shape.body == ITM_GROUND;
    }
    assert_int_equal(nbox, 10);
    assert_int_equal(nplane, 1);
    itm_file_destroy(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_external_motor_turns_the_wheel_as_computed_by_hand),
        cmocka_unit_test(systems_of_one_file_have_motors_of_their_own),
        cmocka_unit_test(an_external_subsystem_that_nobody_fills_is_named),
        cmocka_unit_test(forces_of_contacts_carry_the_weight),
        cmocka_unit_test(shapes_to_draw_have_their_sizes_places_and_colours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
