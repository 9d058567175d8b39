// What an interface model makes of flexible bodies over a macro step: implicit, frozen, or effective stiffness and damping as the papers
// have them. Where each is right, how far each is off in the papers' manoeuvres, where they are refused.
#include "check.h"
#include "system.h"

#define PI 3.14159265358979323846

// ---------------------------------------------------------------------------- an interface that is the deformation

// A cantilever with one mode carries a mass that is pushed: one freedom, which the interface has all of.
static const char CANTILEVER[] =
    "multibody:\n"
    "  name: boom\n  gravity: [0, 0, 0]\n"
    "  bodies:\n"
    "    beam: {flexible: {beam: {length: 2 m, section: {circle: 40 mm}, density: 2700 kg/m^3, young: 69 GPa, ends: "
    "clamped-free, modes: {z: 1}}, stiffening: false}}\n"
    "  joints: {clamp: {type: fixed, bodies: [ground, beam]}}\n"
    "  points: {tip: {body: beam, point: [2 m, 0, 0]}}\n"
    "  interfaces: {tip: {body: beam, point: [2 m, 0, 0], directions: [tz]}}\n"
    "subsystems:\n"
    "  load:\n    type: multibody\n    gravity: [0, 0, 0]\n"
    "    bodies: {mass: {mass: 5 kg, inertia: [1 kg m^2, 1 kg m^2, 1 kg m^2], position: [2 m, 0, 0]}}\n"
    "    joints: {rail: {type: prismatic, bodies: [ground, mass], at: [2 m, 0, 0], axis: [0, 0, 1]}}\n"
    "    forces: {push: {type: force, body: mass, vector: [0, 0, 10 N]}}\n"
    "    interfaces: {mount: {body: mass, directions: [tz]}}\n"
    "cosim:\n  macro_step: 20 ms\n  exchange: hold\n"
    "  overrides: {boom: {step: 1 ms}, load: {step: 1 ms}}\n"
    "  bonds: {boom.tip: load.mount}\n";

// Largest error of the mass within 2 s against F/k (1 - cos omega t), over the amplitude 2 F/k.
static double cantilever_error(const char* const* overrides, int n, double H)
{
    // first mode, tip value 1: a quarter of the mass, (beta L)^4 = 12.36...
    const double area = PI * 0.02 * 0.02, moment = 0.25 * PI * pow(0.02, 4), length = 2.0, density = 2700.0,
                 young = 69e9;
    const double mass = 0.25 * density * area * length,
                 stiffness = 0.25 * young * moment * pow(1.8751040687119612, 4) / pow(length, 3);
    const double omega = sqrt(stiffness / (mass + 5.0)), rest = 10.0 / stiffness;
    System s = system_parse(CANTILEVER, overrides, n);
    double worst = 0.0;
    for (int i = 1; i <= (int)(2.0 / H + 0.5); i++) {
        system_step_to(&s, i * H);
        worst = fmax(worst, fabs(system_get(&s, "load.mass.position.z") - rest * (1.0 - cos(omega * i * H))));
    }
    system_finish(&s);
    return worst / (2.0 * rest);
}

static void effective_stiffness_is_right_where_the_interface_is_the_deformation(void** state)
{
    (void)state;
    const char* models[] = {"cosim.exchange=impulse", "cosim.flexible_interface=implicit",
                            "cosim.flexible_interface=frozen", "cosim.flexible_interface=effective"};
    const char* steps[] = {"cosim.macro_step=20ms", "cosim.macro_step=10ms", "cosim.macro_step=5ms"};
    double error[4][3];
    printf("mass on a cantilever of one mode, 7 periods, omega H = 0.45: largest error / amplitude\n  H      impulse   "
           "hold:     implicit  frozen    effective\n");
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 4; k++) {
            const char* overrides[] = {models[k], steps[i], "run.bounds.breakdown=0"};  // growth is what is looked at
            error[k][i] = cantilever_error(overrides, 3, 0.02 / (1 << i));
        }
        printf("  %-5s  %.2e            %.2e  %.2e  %.2e\n", strchr(steps[i], '=') + 1, error[0][i], error[1][i],
               error[2][i], error[3][i]);
    }
    // impulses: the trapezoidal rule over H, order 2
    CHECK_NEAR(log2(error[0][0] / error[0][1]), 2.0, 0.15);
    CHECK_NEAR(log2(error[0][1] / error[0][2]), 2.0, 0.15);
    // effective stiffness is the whole truth here: what is left is the error of the own steps, whatever H (observed 4 % apart)
    CHECK_NEAR(error[3][0] / error[3][2], 1.0, 0.1);
    const char* fine[] = {models[3], "cosim.overrides.boom.step=0.5ms", "cosim.overrides.load.step=0.5ms"};
    CHECK_NEAR(log2(error[3][0] / cantilever_error(fine, 3, 0.02)), 1.0, 0.15);
    // models that hold the forces of the communication point feed the vibration
    for (int k = 1; k < 3; k++) {
        assert_true(error[k][0] > 5.0);
        assert_true(error[k][0] > error[k][1] && error[k][1] > error[k][2]);
    }
}

// ---------------------------------------------------------------------------- the papers' manoeuvres

// Largest errors of point P against `twin`, before (4.4 s) and after the wall is reached.
static void follow(System* s, System* twin, double* before, double* after)
{
    *before = *after = 0.0;
    for (int n = 1; n <= 360; n++) {
        system_step_to(s, n / 60.0);
        system_step_to(twin, n / 60.0);
        double* error = n <= 264 ? before : after;
        *error = fmax(*error, system_measure(s, "tool.P.position", twin, "tool.P.position"));
    }
}

static void implicit_model_is_the_best_of_the_arm(void** state)
{
    (void)state;
    const char* files[] = {ITM_SOURCE_DIR "/examples/arm-manoeuvre1.yaml",
                           ITM_SOURCE_DIR "/examples/arm-manoeuvre2.yaml"};
    const char* models[] = {"cosim.flexible_interface=implicit", "cosim.flexible_interface=implicit",
                            "cosim.flexible_interface=frozen", "cosim.flexible_interface=effective"};
    printf("flexible arm, point P against runs that meet every 1/600 s, before and after contact [mm]\n");
    printf("  exchange  flexible_interface  manoeuvre 1          manoeuvre 2\n");
    double before[4][2], after[4][2];
    for (int k = 0; k < 4; k++) {
        const char* exchange = k == 0 ? "cosim.exchange=impulse" : "cosim.exchange=hold";
        for (int i = 0; i < 2; i++) {
            // the twins: as often as the arm's own steps, with the same exchange
            const char* coupled[] = {"parameters.flexible=1", exchange, models[k]};
            const char* often[] = {"parameters.flexible=1", exchange, "cosim.macro_step=(1/600) s",
                                   "cosim.overrides.tool.step=(1/600) s"};
            System s = system_load(files[i], coupled, 3), twin = system_load(files[i], often, 4);
            follow(&s, &twin, &before[k][i], &after[k][i]);
            system_finish(&s);
            system_finish(&twin);
        }
        printf("  %-8s  %-13s  %8.1f  %8.1f   %8.1f  %8.1f\n", strchr(exchange, '=') + 1, strchr(models[k], '=') + 1,
               1e3 * before[k][0], 1e3 * after[k][0], 1e3 * before[k][1], 1e3 * after[k][1]);
    }
    for (int i = 0; i < 2; i++) {
        assert_true(before[0][i] < 0.015);
        assert_true(before[0][i] < before[1][i]);
        assert_true(3.0 * before[1][i] < before[2][i]);  // frozen: observed 8 and 11 times
        assert_true(3.0 * before[2][i] < before[3][i]);  // effective: 12 and 17 times, metres
        assert_true(before[3][i] > 1.0);
    }
}

// ---------------------------------------------------------------------------- refused

static void other_models_need_exchange_hold(void** state)
{
    (void)state;
    const char* impulse[] = {"cosim.exchange=impulse", "cosim.flexible_interface=frozen"};
    system_refuse(CANTILEVER, impulse, 2, "exchange hold");
    const char* word[] = {"cosim.flexible_interface=efective"};
    system_refuse(CANTILEVER, word, 1, "nearest: 'effective'");
    // the twin has no use for it
    const char* monolithic[] = {"cosim.coupling=monolithic", "cosim.flexible_interface=frozen"};
    System s = system_parse(CANTILEVER, monolithic, 2);
    system_step_to(&s, 0.02);
    system_finish(&s);

    ItmCosimOptions options = itm_default_cosim_options();
    ItmCosimBuilder* b = NULL;
    ItmCosim* x = NULL;
    ItmModelFile* file = NULL;
    ItmError error = {0};
    CHECK_OK(itm_file_parse(&file, CANTILEVER, strlen(CANTILEVER), "text", NULL, 0, &error), &error);
    CHECK_OK(itm_cosim_builder_create(&b, &error), &error);
    CHECK_OK(itm_cosim_builder_add_mechanism(b, "boom", file->model, NULL, NULL, &error), &error);
    options.flexible_interface = (ItmFlexibleInterface)7;
    assert_int_equal(itm_cosim_build(&x, b, &options, &error), ITM_ERR_INPUT);
    assert_string_equal(error.field, "flexible_interface");
    assert_null(itm_cosim_flexible_interface_name((ItmFlexibleInterface)-1));
    itm_cosim_builder_destroy(b);
    itm_file_destroy(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(effective_stiffness_is_right_where_the_interface_is_the_deformation),
        cmocka_unit_test(implicit_model_is_the_best_of_the_arm),
        cmocka_unit_test(other_models_need_exchange_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
