// FMUs in model files: the crane with its hydraulics in an FMU against the native circuit, bits, states, failures.
#include "../check.h"

#include "fmi/fmu.h"
#include "interim/file.h"

#include <unistd.h>

typedef struct System {
    ItmModelFile* file;
    ItmCosim* cosim;
    double* y;
    int noutput;
} System;

static System load(const char* path, const char* const* overrides, int noverride)
{
    System s = {0};
    ItmError error;
    CHECK_OK(itm_file_load(&s.file, path, overrides, noverride, &error), &error);
    CHECK_OK(itm_file_create_cosim(&s.cosim, s.file, NULL, &error), &error);
    s.noutput = itm_cosim_get_output_count(s.cosim);
    s.y = calloc((size_t)s.noutput + 1, sizeof *s.y);
    return s;
}

static void unload(System* s)
{
    itm_cosim_destroy(s->cosim);
    itm_file_destroy(s->file);
    free(s->y);
}

static double get(System* s, const char* name)
{
    int output = itm_cosim_find_output(s->cosim, name);
    assert_int_not_equal(output, ITM_NONE);
    assert_int_equal(itm_cosim_compute_outputs(s->cosim, s->y), ITM_OK);
    return s->y[output];
}

static void step(System* s, int n)
{
    for (int i = 0; i < n; i++) {
        CHECK_OK(itm_cosim_step(s->cosim), itm_cosim_get_error(s->cosim));
    }
}

// ---------------------------------------------------------------------------- the crane

static const char* get_crane(void)
{
    return ITM_SOURCE_DIR "/examples/fmu/crane.yaml";
}

#define CRANE_FMU "subsystems.hydraulics.file=" ITM_EXAMPLE_DIR "/hydraulics.fmu"

static void crane_moves_as_with_the_native_circuit(void** state)
{
    (void)state;
    const char* fmu[] = {CRANE_FMU, "subsystems.lever.step=0.1 ms"};
    System a = load(get_crane(), fmu, 2), b = load(ITM_SOURCE_DIR "/examples/crane-single.yaml", NULL, 0);
    step(&a, 300);
    step(&b, 300);
    // samples of the lever are late by 0.05 ms in the mean, at 0.1 m/s: 5e-6 m; with the same lever the difference is 1e-8 m
    CHECK_NEAR(get(&a, "crane.cyl1.length"), get(&b, "crane.cyl1.length"), 2e-5);
    CHECK_NEAR(get(&a, "crane.cyl1.rate"), get(&b, "crane.cyl1.rate"), 1e-4);
    CHECK_NEAR(get(&a, "hydraulics.cylinder.force"), get(&b, "crane.cyl1.force"), 20.0);
    CHECK_NEAR(get(&a, "hydraulics.line.pressure"), get(&b, "hydraulics.line.pressure"), 5e3);
    unload(&a);
    unload(&b);
}

// Micro steps in the host, and one by one in this process.
static void isolation_and_coupling_change_no_bit(void** state)
{
    (void)state;
    static const char* const COUPLINGS[] = {"cosim.coupling=rim", "cosim.coupling=linear"};
    for (int k = 0; k < 2; k++) {
        const char* process[] = {CRANE_FMU, COUPLINGS[k], "cosim.macro_step=2 ms"};
        const char* place[] = {CRANE_FMU, COUPLINGS[k], "cosim.macro_step=2 ms",
                               "subsystems.hydraulics.isolation=none"};
        System a = load(get_crane(), process, 3), b = load(get_crane(), place, 4);
        step(&a, 60);
        step(&b, 60);
        get(&a, "crane.cyl1.length");
        get(&b, "crane.cyl1.length");
        assert_int_equal(a.noutput, b.noutput);
        assert_memory_equal(a.y, b.y, sizeof(double) * (size_t)a.noutput);
        unload(&a);
        unload(&b);
    }
}

static void saved_system_continues_bit_for_bit(void** state)
{
    (void)state;
    const char* fmu[] = {CRANE_FMU};
    System a = load(get_crane(), fmu, 1), b = load(get_crane(), fmu, 1);
    step(&a, 20);
    size_t size = itm_cosim_get_state_size(a.cosim);
    char* bytes = malloc(size);
    CHECK_OK(itm_cosim_save(a.cosim, bytes, size), itm_cosim_get_error(a.cosim));
    step(&a, 20);
    CHECK_OK(itm_cosim_restore(b.cosim, bytes, size), itm_cosim_get_error(b.cosim));
    step(&b, 20);
    get(&a, "crane.cyl1.length");
    get(&b, "crane.cyl1.length");
    assert_memory_equal(a.y, b.y, sizeof(double) * (size_t)a.noutput);
    free(bytes);
    unload(&a);
    unload(&b);
}

// States of the FMU come back after the trial steps.
static void radius_leaves_the_fmu_as_it_was(void** state)
{
    (void)state;
    const char* rim[] = {CRANE_FMU};
    double radius;
    System a = load(get_crane(), rim, 1), b = load(get_crane(), rim, 1);
    step(&a, 5);
    step(&b, 5);
    CHECK_OK(itm_cosim_compute_radius(a.cosim, 1, &radius), itm_cosim_get_error(a.cosim));
    assert_true(isfinite(radius));
    assert_null(itm_cosim_get_unlinearised(a.cosim, 0));
    step(&a, 5);
    step(&b, 5);
    assert_true(get(&a, "hydraulics.line.pressure") == get(&b, "hydraulics.line.pressure"));
    unload(&a);
    unload(&b);
}

// The linearised step includes the states of the FMU, of co-simulation and of model exchange: the radius is that of the native
// circuit, which has the same equations.
static void radius_is_that_of_the_native_circuit(void** state)
{
    (void)state;
    static const char* const COUPLINGS[] = {"cosim.coupling=zoh", "cosim.coupling=rim"};
    for (int k = 0; k < 2; k++) {
        const char* native[] = {COUPLINGS[k]};
        const char* steps[] = {CRANE_FMU, COUPLINGS[k]};
        const char* exchange[] = {CRANE_FMU, COUPLINGS[k], "subsystems.hydraulics.kind=model-exchange"};
        System s[] = {load(ITM_SOURCE_DIR "/examples/crane-single.yaml", native, 1), load(get_crane(), steps, 2),
                      load(get_crane(), exchange, 3)};
        double radius[3];
        for (int i = 0; i < 3; i++) {
            CHECK_OK(itm_cosim_compute_radius(s[i].cosim, 1, &radius[i]), itm_cosim_get_error(s[i].cosim));
            assert_null(itm_cosim_get_unlinearised(s[i].cosim, 0));
            unload(&s[i]);
        }
        assert_true(k == 1 || radius[0] > 1.5);
        // integrators differ by their truncation over 0.1 ms
        CHECK_NEAR(radius[1], radius[0], 1e-3);
        CHECK_NEAR(radius[2], radius[0], 1e-3);
    }
}

// ---------------------------------------------------------------------------- failures

// A cart on a slide and a hostile oscillator, `zoo` or `zoo3`; the model file is written beside it.
static const char* write_cart_with(const char* fmu, const char* fault, const char* reaction)
{
    static char path[256];
    char command[2048];
    int pid = (int)getpid();
    snprintf(command, sizeof command, "rm -rf sys-%d && mkdir -p sys-%d/zoo && cp -r %s/%s/. sys-%d/zoo/", pid, pid,
             ITM_FMU_DIR, fmu, pid);
    assert_int_equal(system(command), 0);
    if (fault != NULL) {
        snprintf(path, sizeof path, "sys-%d/zoo/resources/fault.txt", pid);
        FILE* file = fopen(path, "w");
        assert_non_null(file);
        fputs(fault, file);
        fclose(file);
    }
    snprintf(path, sizeof path, "sys-%d/cart.yaml", pid);
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "multibody:\n"
            "  name: cart\n"
            "  gravity: [0, 0, 0]\n"
            "  bodies: {a: {mass: 2 kg, inertia: [1, 1, 1], position: [0, 0, 0], velocity: [0.3, 0, 0]}}\n"
            "  joints: {slide: {type: prismatic, bodies: [ground, a], at: [0, 0, 0], axis: [1, 0, 0]}}\n"
            "  forces: {push: {type: actuator, bodies: [ground, a], at_a: [-1, 0, 0], at_b: [0, 0, 0]}}\n"
            "subsystems:\n"
            "  osc:\n"
            "    type: fmu\n"
            "    file: zoo\n"
            "    step: 1 ms\n"
            "    ports: {piston: {rate: piston.w, position: piston.s, force: piston.force, offset: 1 m}}\n"
            "    limits: {call: 2 s}\n"
            "    on_failure: %s\n"
            "cosim: {macro_step: 10 ms, bonds: {cart.push: osc.piston}}\n"
            "run: {duration: 1 s}\n",
            reaction);
    fclose(file);
    return path;
}

static const char* write_cart(const char* fault, const char* reaction)
{
    return write_cart_with("zoo", fault, reaction);
}

static void remove_cart(void)
{
    char command[256];
    snprintf(command, sizeof command, "rm -rf sys-%d", (int)getpid());
    assert_int_equal(system(command), 0);
}

static void failure_ends_the_run_with_call_and_time(void** state)
{
    (void)state;
    System a = load(write_cart("fmi2DoStep crash 255", "stop"), NULL, 0);
    ItmStatus status = ITM_OK;
    int n = 0;
    for (; n < 100 && status == ITM_OK; n++) {
        status = itm_cosim_step(a.cosim);
    }
    const char* message = itm_cosim_get_error(a.cosim)->message;
    assert_int_equal(n, 26);
    assert_non_null(strstr(message, "crashed (signal 11"));
    assert_non_null(strstr(message, "fmi2DoStep at 0.254 s"));
    assert_non_null(strstr(message, "on_failure: restart"));
    // the last good state can still be recorded
    CHECK_NEAR(itm_cosim_get_time(a.cosim), 0.25, 1e-12);
    assert_true(isfinite(get(&a, "cart.a.position.x")));
    unload(&a);
    remove_cart();
}

// Steps of FMI 3.0 that do not end as asked, inside the micro loop: the run ends before its macro step with the call and the time, or goes on.
static void steps_that_end_otherwise_are_reported_or_continued(void** state)
{
    (void)state;
    static const struct {
        const char* fault;
        double time;  // of the last good communication point
        const char* words[2];
    } CASES[] = {
        {"discard 255", 0.25, {"fmi3DoStep returned fmi3Discard", "0.254 s"}},
        {"outside 255", 0.25, {"returned early", "which is outside"}},
        {"stuck", 0.0, {"returned early more than", "0 s"}},
        {"end 255", 0.25, {"asks to end the simulation", "0.255 s"}},
        {"stop 0.3", 0.3, {"fmi3DoStep returned fmi3Error", "0.3 s"}},
        {"halves", 0.5, {"", ""}},
        {"eventless", 0.5, {"", ""}},
    };
    double want = NAN;
    {
        System good = load(write_cart_with("zoo3", NULL, "stop"), NULL, 0);
        step(&good, 50);
        want = get(&good, "cart.a.position.x");
        unload(&good);
    }
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        System a = load(write_cart_with("zoo3", CASES[i].fault, "stop"), NULL, 0);
        ItmStatus status = ITM_OK;
        for (int n = 0; n < 50 && status == ITM_OK; n++) {
            status = itm_cosim_step(a.cosim);
        }
        const char* message = itm_cosim_get_error(a.cosim)->message;
        CHECK_NEAR(itm_cosim_get_time(a.cosim), CASES[i].time, 1e-12);
        assert_int_equal(status == ITM_OK, CASES[i].time == 0.5);
        for (int k = 0; k < 2 && status != ITM_OK; k++) {
            if (strstr(message, CASES[i].words[k]) == NULL) {
                fail_msg("%s: message '%s' lacks '%s'", CASES[i].fault, message, CASES[i].words[k]);
            }
        }
        if (status == ITM_OK) {
            // the oscillator takes Runge-Kutta steps of its own: halves change its truncation, 1e-3 s against 1 s of its period
            CHECK_NEAR(get(&a, "cart.a.position.x"), want, 1e-9);
        }
        unload(&a);
    }
    remove_cart();
}

static void restart_continues_from_the_last_communication_point(void** state)
{
    (void)state;
    System good = load(write_cart(NULL, "stop"), NULL, 0);
    step(&good, 100);
    double want = get(&good, "cart.a.position.x");
    unload(&good);
    static const char* const FAULTS[] = {"fmi2DoStep crash 255", "fmi2DoStep exit 333"};
    for (int k = 0; k < 2; k++) {
        System a = load(write_cart(FAULTS[k], "restart"), NULL, 0);
        step(&a, 100);
        // bit for bit: the state is that of the last communication point
        assert_true(get(&a, "cart.a.position.x") == want);
        unload(&a);
    }
    remove_cart();
}

static void unsaved_fmus_run_but_cannot_be_linearised(void** state)
{
    (void)state;
    System a = load(write_cart("fmi2GetFMUstate crash 1", "stop"), NULL, 0);
    assert_int_equal(itm_fmi_get_note_count(a.file->fmus[0].fmu), 2);
    step(&a, 20);
    double radius;
    assert_int_equal(itm_cosim_compute_radius(a.cosim, 1, &radius), ITM_ERR_UNSUPPORTED);
    assert_non_null(strstr(itm_cosim_get_error(a.cosim)->message, "'osc'"));
    // a reset needs no state: the process starts anew
    double x = get(&a, "cart.a.position.x");
    CHECK_OK(itm_cosim_reset(a.cosim), itm_cosim_get_error(a.cosim));
    step(&a, 20);
    assert_true(get(&a, "cart.a.position.x") == x);
    unload(&a);
    remove_cart();
}

// ---------------------------------------------------------------------------- model files

static void mistakes_are_reported_at_their_place(void** state)
{
    (void)state;
    static const struct {
        const char* override;
        const char* words;
    } MISTAKES[] = {
        {"subsystems.osc.file=absent.fmu", "absent.fmu"},
        {"subsystems.osc.set={masss: 1 kg}", "nearest: 'mass'"},
        {"subsystems.osc.set={mass: 1 m}", "kg"},
        {"subsystems.osc.ports={piston: {rate: piston.w}}", "force"},
        {"subsystems.osc.ports={piston: {rate: v, force: piston.force}}", "output"},
        {"subsystems.osc.limits={memory: 3 apples}", "no number of bytes"},
        {"subsystems.osc.kind=clocked", "co-simulation"},
        {"subsystems.osc.step=0 s", "positive"},
    };
    const char* path = write_cart(NULL, "stop");
    for (size_t i = 0; i < sizeof MISTAKES / sizeof *MISTAKES; i++) {
        ItmModelFile* file = NULL;
        ItmError error = {0};
        assert_int_not_equal(itm_file_load(&file, path, &MISTAKES[i].override, 1, &error), ITM_OK);
        if (strstr(error.message, MISTAKES[i].words) == NULL || error.line == 0) {
            fail_msg("%s: %d:%d: %s", MISTAKES[i].override, error.line, error.column, error.message);
        }
    }
    remove_cart();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crane_moves_as_with_the_native_circuit),
        cmocka_unit_test(isolation_and_coupling_change_no_bit),
        cmocka_unit_test(saved_system_continues_bit_for_bit),
        cmocka_unit_test(radius_leaves_the_fmu_as_it_was),
        cmocka_unit_test(radius_is_that_of_the_native_circuit),
        cmocka_unit_test(failure_ends_the_run_with_call_and_time),
        cmocka_unit_test(steps_that_end_otherwise_are_reported_or_continued),
        cmocka_unit_test(restart_continues_from_the_last_communication_point),
        cmocka_unit_test(unsaved_fmus_run_but_cannot_be_linearised),
        cmocka_unit_test(mistakes_are_reported_at_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
