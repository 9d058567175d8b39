// FMUs as subsystems: FMI 2.0 and 3.0, co-simulation and model exchange, in a process and in place.
#include "../check.h"

#include "fmi/fmu.h"

#include <dirent.h>

// The oscillator with its piston at rest at s: x(t) = s + e^(-b t) (x0 - s) (cos w t + b / w sin w t)
static double swing(double t, double x0, double s, double mass, double stiffness, double damping)
{
    double b = damping / (2.0 * mass), w = sqrt(stiffness / mass - b * b);
    return s + exp(-b * t) * (x0 - s) * (cos(w * t) + b / w * sin(w * t));
}

static const char* get_fmu(const char* name)
{
    static char path[1024];
    snprintf(path, sizeof path, "%s/%s", ITM_FMU_DIR, name);
    return path;
}

typedef struct Case {
    const char* file;
    int kind;
    ItmFmuIsolation isolation;
} Case;

static const Case CASES[] = {
    {"oscillator2.fmu", ITM_FMI_CO_SIMULATION, ITM_FMU_PROCESS},
    {"oscillator2.fmu", ITM_FMI_MODEL_EXCHANGE, ITM_FMU_PROCESS},
    {"oscillator3.fmu", ITM_FMI_CO_SIMULATION, ITM_FMU_PROCESS},
    {"oscillator3.fmu", ITM_FMI_MODEL_EXCHANGE, ITM_FMU_PROCESS},
    {"oscillator2.fmu", ITM_FMI_CO_SIMULATION, ITM_FMU_IN_PLACE},
    {"oscillator3.fmu", ITM_FMI_MODEL_EXCHANGE, ITM_FMU_IN_PLACE},
};
#define NCASE ((int)(sizeof CASES / sizeof *CASES))

static const ItmFmuPortDef PISTON = {
    .name = "piston", .rate = "piston.w", .position = "piston.s", .force = "piston.force"};

static ItmFmu* open_fmu(const char* file)
{
    ItmError error;
    ItmFmu* fmu = NULL;
    CHECK_OK(itm_fmu_open(&fmu, get_fmu(file), &error), &error);
    return fmu;
}

static int find_output(const ItmSubsystem* table, const char* name)
{
    for (int i = 0; i < table->noutput; i++) {
        if (strcmp(table->outputs[i].name, name) == 0) {
            return i;
        }
    }
    fail_msg("no output %s", name);
    return ITM_NONE;
}

static void run(const ItmSubsystem* table, double h, int n)
{
    ItmError error;
    for (int i = 0; i < n; i++) {
        CHECK_OK(table->do_step(table->self, i * h, h, &error), &error);
    }
}

// ---------------------------------------------------------------------------- motion

static void oscillator_swings_as_its_closed_form(void** state)
{
    (void)state;
    for (int k = 0; k < NCASE; k++) {
        ItmError error;
        ItmFmu* fmu = open_fmu(CASES[k].file);
        ItmFmuValue values[] = {
            {.variable = "mass", .text = "4", .has_number = true, .number = {4.0, ITM_DIM_ONE, true}},
            {.variable = "stiffness",
             .text = "1 kN/m",
             .has_number = true,
             .number = {1000.0, ITM_DIM_STIFFNESS, false}},
            {.variable = "mode", .text = "slow"},
            {.variable = "title", .text = "ahoy"},
        };
        ItmFmuDef def = itm_default_fmi_def();
        def.kind = CASES[k].kind;
        def.isolation = CASES[k].isolation;
        def.values = values;
        def.nvalue = 4;
        def.ports = &PISTON;
        def.nport = 1;
        def.tolerance = 1e-8;
        CHECK_OK(itm_fmi_choose(fmu, &def, &error), &error);
        CHECK_OK(itm_fmi_prove(fmu, &error), &error);
        const ItmFmuSpec* spec = itm_fmi_get_spec(fmu);
        assert_true(spec->has_state && spec->has_bytes && !spec->is_latched);
        ItmSubsystem table;
        CHECK_OK(itm_fmi_make_subsystem(&table, fmu, NULL, &error), &error);
        double s = 0.05, w = 0.0, y[8], force;
        table.set_motion(table.self, &s, &w, &w);
        run(&table, 1e-3, 500);
        table.get_outputs(table.self, y);
        table.get_forces(table.self, &force);
        double x = y[find_output(&table, "x")], v = y[find_output(&table, "v")];
        // RK4 of 0.1 ms: far below; the tolerance of model exchange is 1e-8 per step, 500 steps and more
        CHECK_NEAR(x, swing(0.5, 0.1, 0.05, 4.0, 1000.0, 1.0), 1e-6);
        CHECK_NEAR(force, -(1000.0 * (s - x) - v), 1e-9);
        table.destroy(table.self);
        itm_fmu_close(fmu);
    }
}

// ---------------------------------------------------------------------------- bits

static void process_and_place_give_the_same_bits(void** state)
{
    (void)state;
    double y[2][8], force[2];
    for (int k = 0; k < 2; k++) {
        ItmError error;
        ItmFmu* fmu = open_fmu("oscillator2.fmu");
        ItmFmuDef def = itm_default_fmi_def();
        def.isolation = k == 0 ? ITM_FMU_PROCESS : ITM_FMU_IN_PLACE;
        def.ports = &PISTON;
        def.nport = 1;
        CHECK_OK(itm_fmi_choose(fmu, &def, &error), &error);
        ItmSubsystem table;
        CHECK_OK(itm_fmi_make_subsystem(&table, fmu, NULL, &error), &error);
        for (int i = 0; i < 50; i++) {
            double s = 0.01 * i, w = 0.3 - 0.01 * i;
            table.set_motion(table.self, &s, &w, &w);
            CHECK_OK(table.do_step(table.self, i * 1e-3, 1e-3, &error), &error);
        }
        table.get_outputs(table.self, y[k]);
        table.get_forces(table.self, &force[k]);
        table.destroy(table.self);
        itm_fmu_close(fmu);
    }
    assert_memory_equal(y[0], y[1], 3 * sizeof(double));
    assert_memory_equal(&force[0], &force[1], sizeof(double));
}

static void restored_state_continues_bit_for_bit_in_another_process(void** state)
{
    (void)state;
    for (int k = 0; k < NCASE; k++) {
        ItmError error;
        ItmFmu* fmu = open_fmu(CASES[k].file);
        ItmFmuDef def = itm_default_fmi_def();
        def.kind = CASES[k].kind;
        def.isolation = CASES[k].isolation;
        CHECK_OK(itm_fmi_choose(fmu, &def, &error), &error);
        ItmSubsystem a, b;
        CHECK_OK(itm_fmi_make_subsystem(&a, fmu, NULL, &error), &error);
        CHECK_OK(itm_fmi_make_subsystem(&b, fmu, NULL, &error), &error);
        double y[2][8];
        char* bytes = calloc(1, a.get_state_size(a.self));
        run(&a, 1e-3, 20);
        a.save(a.self, bytes);
        for (int i = 20; i < 40; i++) {
            CHECK_OK(a.do_step(a.self, i * 1e-3, 1e-3, &error), &error);
        }
        a.get_outputs(a.self, y[0]);
        b.restore(b.self, bytes);
        for (int i = 20; i < 40; i++) {
            CHECK_OK(b.do_step(b.self, i * 1e-3, 1e-3, &error), &error);
        }
        b.get_outputs(b.self, y[1]);
        assert_memory_equal(y[0], y[1], sizeof(double) * (size_t)a.noutput);
        free(bytes);
        a.destroy(a.self);
        b.destroy(b.self);
        itm_fmu_close(fmu);
    }
}

// ---------------------------------------------------------------------------- events

// Height of the ball by its parabolas.
static double fall(double t, int* bounces)
{
    double g = 9.81, e = 0.7, v = 0.0, h = 1.0, at = 0.0, hit = sqrt(2.0 / g);
    for (*bounces = 0; at + hit < t; ++*bounces) {
        at += hit;
        v = e * (*bounces == 0 ? sqrt(2.0 * g) : v);
        h = 0.0;
        hit = 2.0 * v / g;
    }
    t -= at;
    return h + v * t - 0.5 * g * t * t;
}

static void ball_bounces_when_it_should(void** state)
{
    (void)state;
    static const Case BALLS[] = {{"ball2.fmu", ITM_FMI_CO_SIMULATION, ITM_FMU_PROCESS},
                                 {"ball2.fmu", ITM_FMI_MODEL_EXCHANGE, ITM_FMU_PROCESS},
                                 {"ball3.fmu", ITM_FMI_CO_SIMULATION, ITM_FMU_PROCESS},
                                 {"ball3.fmu", ITM_FMI_MODEL_EXCHANGE, ITM_FMU_PROCESS}};
    for (int k = 0; k < 4; k++) {
        ItmError error;
        ItmFmu* fmu = open_fmu(BALLS[k].file);
        ItmFmuDef def = itm_default_fmi_def();
        def.kind = BALLS[k].kind;
        CHECK_OK(itm_fmi_choose(fmu, &def, &error), &error);
        ItmSubsystem table;
        CHECK_OK(itm_fmi_make_subsystem(&table, fmu, NULL, &error), &error);
        double y[8];
        int want;
        run(&table, 1e-2, 190);
        table.get_outputs(table.self, y);
        // parabolas are exact for both integrators; events to 1e-12 s
        CHECK_NEAR(y[find_output(&table, "h")], fall(1.9, &want), 1e-9);
        assert_int_equal((int)y[find_output(&table, "bounces")], want);
        assert_int_equal(want, 4);
        table.destroy(table.self);
        itm_fmu_close(fmu);
    }
}

static void time_event_acts_at_its_time(void** state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        ItmError error;
        ItmFmu* fmu = open_fmu(k == 0 ? "ball2.fmu" : "ball3.fmu");
        ItmFmuValue rest = {
            .variable = "rest", .text = "0.1234", .has_number = true, .number = {0.1234, ITM_DIM_ONE, true}};
        ItmFmuDef def = itm_default_fmi_def();
        // co-simulation of 3.0 has event mode, and the importer handles the events
        def.kind = k < 2 ? ITM_FMI_MODEL_EXCHANGE : ITM_FMI_CO_SIMULATION;
        def.values = &rest;
        def.nvalue = 1;
        CHECK_OK(itm_fmi_choose(fmu, &def, &error), &error);
        ItmSubsystem table;
        CHECK_OK(itm_fmi_make_subsystem(&table, fmu, NULL, &error), &error);
        double y[8];
        run(&table, 1e-2, 20);
        table.get_outputs(table.self, y);
        // without gravity from 0.1234 s on
        CHECK_NEAR(y[find_output(&table, "v")], -9.81 * 0.1234, 1e-12);
        CHECK_NEAR(y[find_output(&table, "h")], 1.0 - 0.5 * 9.81 * 0.1234 * 0.1234 - 9.81 * 0.1234 * (0.2 - 0.1234),
                   1e-12);
        table.destroy(table.self);
        itm_fmu_close(fmu);
    }
}

// An FMU with events takes discrete inputs in event mode only, also where they are real numbers.
static void discrete_inputs_are_set_at_events(void** state)
{
    (void)state;
    static const Case BALLS[] = {{"ball2.fmu", ITM_FMI_MODEL_EXCHANGE, ITM_FMU_PROCESS},
                                 {"ball3.fmu", ITM_FMI_CO_SIMULATION, ITM_FMU_PROCESS},
                                 {"ball3.fmu", ITM_FMI_MODEL_EXCHANGE, ITM_FMU_IN_PLACE}};
    for (int k = 0; k < 3; k++) {
        ItmError error;
        ItmFmu* fmu = open_fmu(BALLS[k].file);
        ItmFmuDef def = itm_default_fmi_def();
        def.kind = BALLS[k].kind;
        def.isolation = BALLS[k].isolation;
        CHECK_OK(itm_fmi_choose(fmu, &def, &error), &error);
        ItmSubsystem table;
        CHECK_OK(itm_fmi_make_subsystem(&table, fmu, NULL, &error), &error);
        double y[8], share = 0.25;
        run(&table, 1e-2, 10);
        table.set_inputs(table.self, &share);
        for (int i = 10; i < 20; i++) {
            table.get_outputs(table.self, y);
            CHECK_OK(table.do_step(table.self, i * 1e-2, 1e-2, &error), &error);
        }
        table.get_outputs(table.self, y);
        CHECK_NEAR(y[find_output(&table, "v")], -9.81 * (0.1 + 0.25 * 0.1), 1e-12);
        table.destroy(table.self);
        itm_fmu_close(fmu);
    }
}

// ---------------------------------------------------------------------------- linear rates

// The oscillator from rest at x0 while its piston starts with an acceleration a: y = x - a t^2 / 2 swings about -m a / k.
static double swing_accelerated(double t, double x0, double a, double mass, double stiffness, double damping)
{
    return swing(t, x0, -mass * a / stiffness, mass, stiffness, damping) + 0.5 * a * t * t;
}

// An FMU that asks for inputs while it integrates, and model exchange, get the linear rate of a step: no error of the coupling,
// however long the step is. With the mean rate the error falls with the square of the step.
static void linear_rates_reach_the_solver_of_the_fmu(void** state)
{
    (void)state;
    static const struct {
        Case fmu;
        bool is_linear;
    } RUNS[] = {{{"oscillator3.fmu", ITM_FMI_CO_SIMULATION, ITM_FMU_PROCESS}, true},
                {{"oscillator3.fmu", ITM_FMI_MODEL_EXCHANGE, ITM_FMU_PROCESS}, true},
                {{"oscillator2.fmu", ITM_FMI_CO_SIMULATION, ITM_FMU_PROCESS}, false}};
    const double a = 5.0;
    for (int k = 0; k < 3; k++) {
        double off[2];
        for (int fine = 0; fine < 2; fine++) {
            double h = fine ? 1e-2 : 2e-2;
            ItmError error;
            ItmFmu* fmu = open_fmu(RUNS[k].fmu.file);
            ItmFmuDef def = itm_default_fmi_def();
            def.kind = RUNS[k].fmu.kind;
            def.ports = &PISTON;
            def.nport = 1;
            def.tolerance = 1e-10;
            CHECK_OK(itm_fmi_choose(fmu, &def, &error), &error);
            ItmSubsystem table;
            CHECK_OK(itm_fmi_make_subsystem(&table, fmu, NULL, &error), &error);
            double y[8];
            for (int i = 0; i < (int)(0.4 / h + 0.5); i++) {
                double t = i * h, s = 0.5 * a * t * t, w = a * t, w_end = a * (t + h);
                table.set_motion(table.self, &s, &w, &w_end);
                CHECK_OK(table.do_step(table.self, t, h, &error), &error);
            }
            table.get_outputs(table.self, y);
            off[fine] = fabs(y[find_output(&table, "x")] - swing_accelerated(0.4, 0.1, a, 2.0, 200.0, 1.0));
            table.destroy(table.self);
            itm_fmu_close(fmu);
        }
        if (RUNS[k].is_linear) {
            // RK4 of 0.1 ms, or the tolerance of 1e-10 per step
            assert_true(off[0] < 1e-8 && off[1] < 1e-8);
        } else {
            assert_true(off[1] > 1e-6);
            CHECK_NEAR(off[0] / off[1], 4.0, 0.4);
        }
    }
}

// A mass on a damper of 1e6 N s/m: overdamped, its fast root at -5e5 1/s needs the implicit method, whose Jacobian comes from the
// directional derivatives that have been proven. The slow root is k / d.
static void stiff_models_use_derivatives_of_the_fmu(void** state)
{
    (void)state;
    static const char* const FILES[] = {"oscillator2.fmu", "oscillator3.fmu"};
    ItmFmuValue damping = {
        .variable = "damping", .text = "1e6", .has_number = true, .number = {1e6, ITM_DIM_ONE, true}};
    for (int k = 0; k < 2; k++) {
        double x[2];
        for (int proven = 0; proven < 2; proven++) {
            ItmError error;
            ItmFmu* fmu = open_fmu(FILES[k]);
            ItmFmuDef def = itm_default_fmi_def();
            def.kind = ITM_FMI_MODEL_EXCHANGE;
            def.values = &damping;
            def.nvalue = 1;
            CHECK_OK(itm_fmi_choose(fmu, &def, &error), &error);
            if (proven) {
                CHECK_OK(itm_fmi_prove(fmu, &error), &error);
                assert_int_equal(itm_fmi_get_note_count(fmu), 0);
            }
            assert_int_equal(itm_fmi_get_spec(fmu)->has_derivatives, proven);
            ItmSubsystem table;
            CHECK_OK(itm_fmi_make_subsystem(&table, fmu, NULL, &error), &error);
            double y[8];
            run(&table, 1e-2, 50);
            table.get_outputs(table.self, y);
            x[proven] = y[find_output(&table, "x")];
            table.destroy(table.self);
            itm_fmu_close(fmu);
        }
        // tolerance 1e-6 per step of the integrator
        CHECK_NEAR(x[0], 0.1 * exp(-200.0 / 1e6 * 0.5), 1e-6);
        CHECK_NEAR(x[1], x[0], 1e-9);
    }
}

// ---------------------------------------------------------------------------- names and values

static void check_refusal(ItmFmu* fmu, const ItmFmuDef* def, const char* words, const char* field)
{
    ItmError error = {0};
    assert_int_not_equal(itm_fmi_choose(fmu, def, &error), ITM_OK);
    if (strstr(error.message, words) == NULL) {
        fail_msg("message '%s' lacks '%s'", error.message, words);
    }
    assert_string_equal(error.field, field);
}

static void wrong_choices_are_refused_with_the_name(void** state)
{
    (void)state;
    ItmFmu* fmu = open_fmu("oscillator3.fmu");
    const struct {
        ItmFmuValue value;
        const char* words;
    } BAD[] = {
        {{"masss", "1", true, {1.0, ITM_DIM_ONE, true}}, "nearest: 'mass'"},
        {{"mass", "1 m", true, {1.0, ITM_DIM_LENGTH, false}}, "kg"},
        {{"mode", "medium", false, {0.0, ITM_DIM_ONE, true}}, "no item"},
        {{"gains", "1", true, {1.0, ITM_DIM_ONE, true}}, "an array"},
        {{"gains[3,1]", "1", true, {1.0, ITM_DIM_ONE, true}}, "no element"},
        {{"piston.force", "1", true, {1.0, ITM_DIM_ONE, true}}, "cannot be set"},
        {{"mass", "heavy", false, {0.0, ITM_DIM_ONE, true}}, "no number"},
    };
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        ItmFmuDef def = itm_default_fmi_def();
        def.values = &BAD[i].value;
        def.nvalue = 1;
        check_refusal(fmu, &def, BAD[i].words, BAD[i].value.variable);
    }
    ItmFmuPortDef wrong = PISTON;
    wrong.force = "x";
    ItmFmuDef def = itm_default_fmi_def();
    def.ports = &wrong;
    def.nport = 1;
    check_refusal(fmu, &def, "N", "x");
    wrong = PISTON;
    wrong.rate = "v";
    check_refusal(fmu, &def, "output", "v");
    itm_fmu_close(fmu);
}

static void elements_of_arrays_are_set_one_by_one(void** state)
{
    (void)state;
    ItmError error;
    ItmFmu* fmu = open_fmu("oscillator3.fmu");
    ItmFmuValue value = {"gains[2,1]", "40", true, {40.0, ITM_DIM_ONE, true}};
    const char* record = "gains";
    ItmFmuDef def = itm_default_fmi_def();
    def.values = &value;
    def.nvalue = 1;
    def.records = &record;
    def.nrecord = 1;
    CHECK_OK(itm_fmi_choose(fmu, &def, &error), &error);
    ItmSubsystem table;
    CHECK_OK(itm_fmi_make_subsystem(&table, fmu, NULL, &error), &error);
    static const char* const NAMES[6] = {"gains[1,1]", "gains[1,2]", "gains[1,3]",
                                         "gains[2,1]", "gains[2,2]", "gains[2,3]"};
    static const double WANT[6] = {1, 2, 3, 40, 5, 6};
    double y[16];
    table.get_outputs(table.self, y);
    for (int i = 0; i < 6; i++) {
        assert_true(y[find_output(&table, NAMES[i])] == WANT[i]);
    }
    table.destroy(table.self);
    itm_fmu_close(fmu);
}

static void binaries_are_set_as_hexadecimal_digits(void** state)
{
    (void)state;
    ItmError error;
    ItmFmu* fmu = open_fmu("oscillator3.fmu");
    ItmFmuValue value = {"data", "01Ff10", false, {0.0, ITM_DIM_ONE, true}};
    const char* record = "sum";
    ItmFmuDef def = itm_default_fmi_def();
    def.values = &value;
    def.nvalue = 1;
    def.records = &record;
    def.nrecord = 1;
    CHECK_OK(itm_fmi_choose(fmu, &def, &error), &error);
    ItmSubsystem table;
    CHECK_OK(itm_fmi_make_subsystem(&table, fmu, NULL, &error), &error);
    double y[16];
    table.get_outputs(table.self, y);
    assert_true(y[find_output(&table, "sum")] == 0x01 + 0xff + 0x10);
    table.destroy(table.self);
    itm_fmu_close(fmu);
}

static void inputs_keep_the_start_values_of_the_fmu(void** state)
{
    (void)state;
    ItmError error;
    ItmFmu* fmu = open_fmu("oscillator2.fmu");
    ItmFmuDef def = itm_default_fmi_def();
    def.ports = &PISTON;
    def.nport = 1;
    CHECK_OK(itm_fmi_choose(fmu, &def, &error), &error);
    ItmSubsystem table;
    CHECK_OK(itm_fmi_make_subsystem(&table, fmu, NULL, &error), &error);
    assert_int_equal(table.ninput, 2);
    assert_string_equal(table.input_names[1], "offset");
    assert_true(table.input_start[1] == 0.5);
    table.destroy(table.self);
    itm_fmu_close(fmu);
}

// ---------------------------------------------------------------------------- many

static int count_descriptors(void)
{
    DIR* folder = opendir("/proc/self/fd");
    int n = 0;
    while (folder != NULL && readdir(folder) != NULL) {
        n++;
    }
    closedir(folder);
    return n;
}

// Pages in memory.
static long count_pages(void)
{
    long size = 0, resident = 0;
    FILE* file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld %ld", &size, &resident), 2);
    fclose(file);
    return resident;
}

static void thousand_instances_leave_nothing_behind(void** state)
{
    (void)state;
    ItmError error;
    int descriptors = 0;
    long pages = 0;
    ItmFmu* fmu = open_fmu("oscillator2.fmu");
    ItmFmuDef def = itm_default_fmi_def();
    CHECK_OK(itm_fmi_choose(fmu, &def, &error), &error);
    int n = getenv("ITM_FMU_MANY") != NULL ? atoi(getenv("ITM_FMU_MANY")) : 100;
    for (int i = 0; i < n; i++) {
        ItmSubsystem table;
        if (i == n / 10) {
            descriptors = count_descriptors();
            pages = count_pages();
        }
        CHECK_OK(itm_fmi_make_subsystem(&table, fmu, NULL, &error), &error);
        run(&table, 1e-3, 2);
        table.destroy(table.self);
    }
    long more = count_pages() - pages;
    print_message("%d instances: %ld pages more than after a tenth of them\n", n, more);
    assert_int_equal(count_descriptors(), descriptors);
#if !defined(__SANITIZE_ADDRESS__)
    assert_true(more < 64);  // a page per instance would be a leak; freed memory stays with the allocator
#endif
    itm_fmu_close(fmu);
    // no child is left, neither running nor dead
    extern int waitpid(int, int*, int);
    assert_int_equal(waitpid(-1, NULL, 1), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(oscillator_swings_as_its_closed_form),
        cmocka_unit_test(process_and_place_give_the_same_bits),
        cmocka_unit_test(restored_state_continues_bit_for_bit_in_another_process),
        cmocka_unit_test(ball_bounces_when_it_should),
        cmocka_unit_test(time_event_acts_at_its_time),
        cmocka_unit_test(discrete_inputs_are_set_at_events),
        cmocka_unit_test(linear_rates_reach_the_solver_of_the_fmu),
        cmocka_unit_test(stiff_models_use_derivatives_of_the_fmu),
        cmocka_unit_test(binaries_are_set_as_hexadecimal_digits),
        cmocka_unit_test(wrong_choices_are_refused_with_the_name),
        cmocka_unit_test(elements_of_arrays_are_set_one_by_one),
        cmocka_unit_test(inputs_keep_the_start_values_of_the_fmu),
        cmocka_unit_test(thousand_instances_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
