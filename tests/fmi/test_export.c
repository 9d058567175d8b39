// Exported FMUs: a machine cut in two FMUs, each in a process of its own, moves as at home.
#include "../check.h"
#include "../tooth.h"

#include "export/unit.h"
#include "fmi/description.h"
#include "fmi/fmi3.h"
#include "fmi/layer.h"
#include "io/bytes.h"
#include "interim/interim.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#define DURATION 0.6  // s
#else
#define DURATION 3.0  // s
#endif
#define CRANE ITM_SOURCE_DIR "/examples/crane-single.yaml"

#define MANIPULATOR ITM_SOURCE_DIR "/examples/manipulator.yaml"

static void write_file(const char* path, const char* text)
{
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void export_part_of(const char* model, const char* part, int version, const char* macro_step, const char* path)
{
    ItmError error = {0};
    ItmExportOptions options = itm_default_export_options();
    options.version = version;
    options.parts = &part;
    options.npart = 1;
    options.overrides = &macro_step;
    options.noverride = 1;
    options.binary = ITM_FMU_BINARY;
    CHECK_OK(itm_export_fmu(model, path, &options, &error), &error);
}

static void export_part(const char* part, int version, const char* macro_step, const char* path)
{
    export_part_of(CRANE, part, version, macro_step, path);
}

// A system of two FMUs: forces into the crane, motion into the hydraulics.
static ItmModelFile* load_pair(const char* crane, const char* hydraulics, const char* macro_step, const char* more)
{
    char text[2000];
    ItmModelFile* file = NULL;
    ItmError error = {0};
    int n = snprintf(text, sizeof text,
                     "subsystems:\n"
                     "  crane:\n    type: fmu\n    file: %s\n    ports: {cyl1: {force: crane-cyl1.force, rate: "
                     "crane-cyl1.rate, position: crane-cyl1.position}}\n%s"
                     "  hydraulics:\n    type: fmu\n    file: %s\n    step: 0.1 ms\n    ports: {cyl1: {force: "
                     "hydraulics-cyl1.force, rate: hydraulics-cyl1.rate, position: hydraulics-cyl1.position}}\n"
                     "cosim: {macro_step: %s, bonds: {crane.cyl1: hydraulics.cyl1}}\nrun: {duration: 3 s}\n",
                     crane, more, hydraulics, macro_step);
    CHECK_OK(itm_file_parse(&file, text, (size_t)n, "./pair.yaml", NULL, 0, &error), &error);
    return file;
}

// Largest distance of the cylinder's length from the native run over DURATION, m.
static double compare_with_native(const ItmModelFile* pair, const char* macro_step, ItmForeignNotes* notes)
{
    ItmError error = {0};
    ItmModelFile* file = NULL;
    ItmCosim *native = NULL, *x = NULL;
    CHECK_OK(itm_file_load(&file, CRANE, &macro_step, 1, &error), &error);
    CHECK_OK(itm_file_create_cosim(&native, file, NULL, &error), &error);
    CHECK_OK(itm_file_create_cosim(&x, pair, NULL, &error), &error);
    double worst = 0.0;
    for (long k = 0; k < lround(DURATION / itm_cosim_get_step(native)); k++) {
        CHECK_OK(itm_cosim_step(native), itm_cosim_get_error(native));
        CHECK_OK(itm_cosim_step(x), itm_cosim_get_error(x));
        worst = fmax(worst, fabs(itm_cosim_get_bond(native, 0).length - itm_cosim_get_bond(x, 0).length));
    }
    *notes = itm_cosim_get_foreign_notes(x, 0);
    itm_cosim_destroy(x);
    itm_cosim_destroy(native);
    itm_file_destroy(file);
    return worst;
}

static void a_crane_in_two_fmus_moves_as_at_home(void** state)
{
    (void)state;
    static const char* const STEPS[] = {"10 ms", "100 ms"};
    ItmForeignNotes notes;
    // FMI 2.0 gets slopes of the rates, FMI 3.0 asks for the rates of the step's end
    export_part("hydraulics", 2, "cosim.macro_step=0.1ms", "hydraulics2.fmu");
    export_part("hydraulics", 3, "cosim.macro_step=0.1ms", "hydraulics3.fmu");
    for (int i = 0; i < 2; i++) {
        char override[60];
        snprintf(override, sizeof override, "cosim.macro_step=%s", STEPS[i]);
        for (int version = 2; version <= 3; version++) {
            export_part("crane", version, override, "crane.fmu");
            ItmModelFile* pair =
                load_pair("crane.fmu", version == 2 ? "hydraulics2.fmu" : "hydraulics3.fmu", STEPS[i], "");
            double error = compare_with_native(pair, override, &notes);
            print_message("FMI %d.0, %s: %.3g m, source %s\n", version, STEPS[i], error,
                          itm_cosim_mobility_name(notes.source));
            assert_int_equal(notes.source, ITM_MOBILITY_PORT);
            // impulses and moments are the same sums; the mechanism takes them over as they are. Observed 3.3e-16.
            CHECK_NEAR(error, 0.0, 1e-12);
            itm_file_destroy(pair);
        }
    }
}

// ---------------------------------------------------------------------------- contacts: level 2

// The manipulator with its arm in an FMU, or its hydraulics, or both. `more` is added to the keys of the FMUs, `port` to those of the first port.
static ItmModelFile* load_manipulator(bool has_arm, bool has_hydraulics, const char* more, const char* port)
{
    static const char PART[] = "  %s:\n    type: fmu\n    file: %s.fmu\n%s    ports:\n"
                               "      cyl1: {force: %s-cyl1.force, rate: %s-cyl1.rate, position: %s-cyl1.position%s}\n"
                               "      cyl2: {force: %s-cyl2.force, rate: %s-cyl2.rate, position: %s-cyl2.position}\n%s";
    size_t length;
    const char* why = "";
    char* text = itm_bytes_read(MANIPULATOR, 100000, &length, &why);
    char *multibody = strstr(text, "\nmultibody:"), *subsystems = strstr(text, "\nsubsystems:\n");
    char *cosim = strstr(text, "\ncosim:"), *joined = malloc(strlen(text) + 2000), *at = joined;
    ItmModelFile* file = NULL;
    ItmError error = {0};
    assert_true(multibody != NULL && subsystems != NULL && joined != NULL);
    at += sprintf(at, "%.*s\nsubsystems:\n", (int)((has_arm ? multibody : subsystems) - text), text);
    for (int i = has_arm ? 0 : 1; i < (has_hydraulics ? 2 : 1); i++) {
        const char* n = i == 0 ? "arm" : "hydraulics";
        at += sprintf(at, PART, n, n, more, n, n, n, port, n, n, n, i == 0 ? "" : "    step: 0.2 ms\n");
    }
    at += sprintf(at, "%s", has_hydraulics ? cosim : subsystems + strlen("\nsubsystems:\n"));
    CHECK_OK(itm_file_parse(&file, joined, (size_t)(at - joined), "./manipulator.yaml", NULL, 0, &error), &error);
    free(joined);
    free(text);
    return file;
}

static double read_output(ItmCosim* x, const char* name)
{
    int n = itm_cosim_get_output_count(x), output = itm_cosim_find_output(x, name);
    double* y = calloc((size_t)n, sizeof *y);
    assert_true(output != ITM_NONE && y != NULL);
    CHECK_OK(itm_cosim_compute_outputs(x, y), itm_cosim_get_error(x));
    double value = y[output];
    free(y);
    return value;
}

// The hydraulics of the manipulator. A part of a model does not know the lengths of the actuators.
static void export_hydraulics(ItmCosim* native)
{
    ItmError error = {0};
    const char* part = "hydraulics";
    char text[3][100] = {"cosim.macro_step=0.2ms"};
    const char* overrides[] = {text[0], text[1], text[2]};
    ItmExportOptions options = itm_default_export_options();
    for (int i = 0; i < 2; i++) {
        snprintf(text[1 + i], sizeof text[0], "subsystems.hydraulics.elements.cyl%d.start_length=%.17g", i + 1,
                 itm_cosim_get_bond(native, i).length);
    }
    options.version = 2;
    options.parts = &part;
    options.npart = 1;
    options.overrides = overrides;
    options.noverride = 3;
    options.binary = ITM_FMU_BINARY;
    CHECK_OK(itm_export_fmu(MANIPULATOR, "hydraulics.fmu", &options, &error), &error);
}

static void a_manipulator_in_fmus_hits_and_pushes_a_block_as_at_home(void** state)
{
    (void)state;
    static const struct {
        const char* what;
        bool has_arm, has_hydraulics;
        int version;
        const char *more, *port;
    } CASES[] = {
        {"arm in a process", true, false, 2, "", ""},
        {"arm in place", true, false, 3, "    isolation: none\n", ""},
        // rows are not handed over: the arm takes the micro steps, one message each. The offset changes no bit.
        {"arm in a process, micro step by micro step", true, false, 2, "", ", offset: 1e-300 m"},
        {"hydraulics in a process", false, true, 2, "", ""},
        {"arm and hydraulics in a process each", true, true, 2, "", ""},
    };
    ItmError error = {0};
    ItmModelFile* files[2] = {NULL, NULL};
    ItmCosim *natives[2] = {NULL, NULL}, *native;
    // an arm in an FMU makes one interface model a macro step, one at home renews it where contacts change
    static const char* const FROZEN = "cosim.contact_renewals=0";
    for (int i = 0; i < 2; i++) {
        CHECK_OK(itm_file_load(&files[i], MANIPULATOR, &FROZEN, i, &error), &error);
        CHECK_OK(itm_file_create_cosim(&natives[i], files[i], NULL, &error), &error);
    }
    export_hydraulics(natives[0]);
    for (size_t c = 0; c < sizeof CASES / sizeof CASES[0]; c++) {
        ItmCosim* x = NULL;
        native = natives[CASES[c].has_arm];
        if (CASES[c].has_arm) {
            export_part_of(MANIPULATOR, "arm", CASES[c].version, "cosim.macro_step=20ms", "arm.fmu");
        }
        ItmModelFile* pair = load_manipulator(CASES[c].has_arm, CASES[c].has_hydraulics, CASES[c].more, CASES[c].port);
        CHECK_OK(itm_file_create_cosim(&x, pair, NULL, &error), &error);
        CHECK_OK(itm_cosim_reset(native), itm_cosim_get_error(native));
        const char* name = CASES[c].has_arm ? "arm.arm.block.position.x" : "arm.block.position.x";
        double worst = 0.0, start = read_output(native, "arm.block.position.x"), block = start;
        for (int k = 0; k < 100; k++) {
            CHECK_OK(itm_cosim_step(native), itm_cosim_get_error(native));
            CHECK_OK(itm_cosim_step(x), itm_cosim_get_error(x));
            block = read_output(native, "arm.block.position.x");
            worst = fmax(worst, fabs(read_output(x, name) - block));
        }
        print_message("%s, FMI %d.0, 20 ms: block pushed %.3g m, %.3g m from the native run\n", CASES[c].what,
                      CASES[c].version, block - start, worst);
        if (CASES[c].has_arm) {
            assert_int_equal(itm_cosim_get_foreign_notes(x, 0).source, ITM_MOBILITY_PORT);
        }
        assert_true(block - start > 0.09);  // from 1.3 m to the wall: its side is at 1.5 m
        // micro steps with contacts are the same operations; the smooth ones before take over sums of impulses
        CHECK_NEAR(worst, 0.0, 1e-12);
        itm_cosim_destroy(x);
        itm_file_destroy(pair);
    }
    for (int i = 0; i < 2; i++) {
        itm_cosim_destroy(natives[i]);
        itm_file_destroy(files[i]);
    }
}

// The process of the hydraulics solves the contacts with the same operations: all results have the same bits.
static void contacts_in_a_process_give_the_bits_of_those_in_place(void** state)
{
    (void)state;
    ItmError error = {0};
    ItmModelFile* files[2];
    ItmCosim* x[2];
    for (int k = 0; k < 2; k++) {
        files[k] = load_manipulator(false, true, k == 0 ? "" : "    isolation: none\n", "");
        CHECK_OK(itm_file_create_cosim(&x[k], files[k], NULL, &error), &error);
    }
    int n = itm_cosim_get_output_count(x[0]);
    double* y[2] = {calloc((size_t)n, sizeof(double)), calloc((size_t)n, sizeof(double))};
    for (int k = 0; k < 100; k++) {
        for (int i = 0; i < 2; i++) {
            CHECK_OK(itm_cosim_step(x[i]), itm_cosim_get_error(x[i]));
            CHECK_OK(itm_cosim_compute_outputs(x[i], y[i]), itm_cosim_get_error(x[i]));
        }
        assert_memory_equal(y[0], y[1], sizeof(double) * (size_t)n);
    }
    for (int k = 0; k < 2; k++) {
        free(y[k]);
        itm_cosim_destroy(x[k]);
        itm_file_destroy(files[k]);
    }
}

// A mechanism at home renews its interface model in the middle of the micro steps that the process of the oil takes.
static void renewed_models_reach_a_partner_in_a_process(void** state)
{
    (void)state;
    static const char PARTNER[] =
        TOOTH_MECHANISM "subsystems:\n  hydraulics:\n    type: fmu\n    file: hydraulics.fmu\n    step: 0.1 ms\n"
                        "    ports:\n      cyl: {force: hydraulics-cyl.force, rate: hydraulics-cyl.rate,\n"
                        "            position: hydraulics-cyl.position}\n" TOOTH_BONDS;
    const char *texts[] = {TOOTH, PARTNER}, *part = "hydraulics";
    const char* overrides[] = {"cosim.macro_step=0.1 ms", "subsystems.hydraulics.elements.cyl.start_length=2 m"};
    ItmError error = {0};
    ItmModelFile* files[2] = {NULL, NULL};
    ItmCosim* x[2] = {NULL, NULL};
    ItmExportOptions options = itm_default_export_options();
    options.parts = &part;
    options.npart = 1;
    options.overrides = overrides;
    options.noverride = 2;
    options.binary = ITM_FMU_BINARY;
    write_file("tooth.yaml", TOOTH);
    CHECK_OK(itm_export_fmu("tooth.yaml", "hydraulics.fmu", &options, &error), &error);
    for (int i = 0; i < 2; i++) {
        CHECK_OK(itm_file_parse(&files[i], texts[i], strlen(texts[i]), "./tooth.yaml", NULL, 0, &error), &error);
        CHECK_OK(itm_file_create_cosim(&x[i], files[i], NULL, &error), &error);
    }
    for (int k = 0; k < 10; k++) {
        for (int i = 0; i < 2; i++) {
            CHECK_OK(itm_cosim_step(x[i]), itm_cosim_get_error(x[i]));
        }
        // as in the manipulator: smooth micro steps take over sums of impulses
        CHECK_NEAR(read_output(x[1], "m.tooth.position.x"), read_output(x[0], "m.tooth.position.x"), 1e-12);
        CHECK_NEAR(read_output(x[1], "m.tooth.position.z"), read_output(x[0], "m.tooth.position.z"), 1e-12);
    }
    assert_true(itm_cosim_get_rim_notes(x[1], 0).renewals > 0);
    for (int i = 0; i < 2; i++) {
        itm_cosim_destroy(x[i]);
        itm_file_destroy(files[i]);
    }
}

// ---------------------------------------------------------------------------- without a port

#define MACRO 10e-3  // s
#define NMACRO (int)(DURATION / MACRO + 0.5)

// Length of the cylinder at multiples of MACRO over DURATION. Returns the source of the crane's interface model.
static ItmMobility record_lengths(const ItmModelFile* file, double* length)
{
    ItmError error = {0};
    ItmCosim* x = NULL;
    CHECK_OK(itm_file_create_cosim(&x, file, NULL, &error), &error);
    long every = lround(MACRO / itm_cosim_get_step(x));
    for (int k = 0; k < NMACRO; k++) {
        for (long i = 0; i < every; i++) {
            CHECK_OK(itm_cosim_step(x), itm_cosim_get_error(x));
        }
        length[k] = itm_cosim_get_bond(x, 0).length;
    }
    ItmMobility source = itm_cosim_get_foreign_notes(x, 0).source;
    itm_cosim_destroy(x);
    return source;
}

static double find_largest_difference(const double* a, const double* b)
{
    double most = 0.0;
    for (int k = 0; k < NMACRO; k++) {
        most = fmax(most, fabs(a[k] - b[k]));
    }
    return most;
}

static void record_native(const char* coupling, const char* macro_step, double* length)
{
    const char* overrides[] = {coupling, macro_step};
    ItmError error = {0};
    ItmModelFile* file = NULL;
    CHECK_OK(itm_file_load(&file, CRANE, overrides, 2, &error), &error);
    record_lengths(file, length);
    itm_file_destroy(file);
}

// Errors at 10 ms are those against the native run that exchanges data at every micro step. The FMU takes steps of 5 or 2.5 ms itself, so that
// its own error is another one than that of the native run, and smaller: derivatives and probing must not exceed the latter by more than
// 1 %.
static void other_sources_of_the_interface_model_need_no_port(void** state)
{
    (void)state;
    // observed: 0.67, 0.67, 0.83, 0.96, 1.00 and 660 times the error of the native run, 1.2e-7 m
    static const struct {
        const char* mobility;
        ItmMobility source;
        int version;
        const char* step;
        double bound;
    } CASES[] = {{"derivatives", ITM_MOBILITY_DERIVATIVES, 2, "cosim.macro_step=5ms", 1.01},
                 {"derivatives", ITM_MOBILITY_DERIVATIVES, 3, "cosim.macro_step=5ms", 1.01},
                 {"derivatives", ITM_MOBILITY_DERIVATIVES, 3, "cosim.macro_step=2.5ms", 1.01},
                 {"probing", ITM_MOBILITY_PROBING, 3, "cosim.macro_step=5ms", 1.01},
                 {"probing", ITM_MOBILITY_PROBING, 3, "cosim.macro_step=2.5ms", 1.01},
                 {"identified", ITM_MOBILITY_IDENTIFIED, 3, "cosim.macro_step=5ms", 4000.0}};
    double reference[300], native[300], length[300];
    record_native("cosim.coupling=monolithic", "cosim.macro_step=0.1ms", reference);
    record_native("cosim.coupling=rim", "cosim.macro_step=10ms", native);
    double at_home = find_largest_difference(native, reference);
    export_part("hydraulics", 2, "cosim.macro_step=0.1ms", "hydraulics2.fmu");
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        char more[80];
        // impulse and moment become two constant forces, each over half the macro step
        export_part("crane", CASES[i].version, CASES[i].step, "crane-half.fmu");
        snprintf(more, sizeof more, "    mobility: %s\n", CASES[i].mobility);
        ItmModelFile* pair = load_pair("crane-half.fmu", "hydraulics2.fmu", "10 ms", more);
        assert_int_equal(record_lengths(pair, length), CASES[i].source);
        double error = find_largest_difference(length, reference);
        print_message("%s, FMI %d.0, %s: error %.3g m, %.3f of the native run's\n", CASES[i].mobility, CASES[i].version,
                      CASES[i].step, error, error / at_home);
        CHECK_NEAR(error, 0.0, CASES[i].bound * at_home);
        itm_file_destroy(pair);
    }
}

// As a run that is continued from its checkpoint: another process of the FMU takes over the bytes.
static void a_saved_state_continues_elsewhere_bit_for_bit(void** state)
{
    (void)state;
    static const char* const MOBILITIES[] = {"port", "derivatives", "probing", "identified"};
    ItmError error = {0};
    export_part("hydraulics", 2, "cosim.macro_step=0.1ms", "hydraulics2.fmu");
    export_part("crane", 3, "cosim.macro_step=10ms", "crane.fmu");
    for (int i = 0; i < 4; i++) {
        char more[80];
        snprintf(more, sizeof more, "    mobility: %s\n", MOBILITIES[i]);
        ItmModelFile* file = load_pair("crane.fmu", "hydraulics2.fmu", "10 ms", more);
        ItmCosim *x = NULL, *y = NULL;
        CHECK_OK(itm_file_create_cosim(&x, file, NULL, &error), &error);
        CHECK_OK(itm_file_create_cosim(&y, file, NULL, &error), &error);
        for (int k = 0; k < 55; k++) {  // the joystick moves from 0.5 s on
            CHECK_OK(itm_cosim_step(x), itm_cosim_get_error(x));
            read_output(x, "crane.cyl1.length");
        }
        size_t size = itm_cosim_get_state_size(x);
        void* bytes = malloc(size);
        CHECK_OK(itm_cosim_save(x, bytes, size), itm_cosim_get_error(x));
        CHECK_OK(itm_cosim_restore(y, bytes, size), itm_cosim_get_error(y));
        free(bytes);
        for (int k = 0; k < 20; k++) {
            CHECK_OK(itm_cosim_step(x), itm_cosim_get_error(x));
            CHECK_OK(itm_cosim_step(y), itm_cosim_get_error(y));
            CHECK_CASE("%s, step %d", MOBILITIES[i], k);
            CHECK_NEAR(read_output(y, "crane.cyl1.length"), read_output(x, "crane.cyl1.length"), 0.0);
            CHECK_NEAR(read_output(y, "crane.cyl1.rate"), read_output(x, "crane.cyl1.rate"), 0.0);
            CHECK_NEAR(itm_cosim_get_bond(y, 0).force, itm_cosim_get_bond(x, 0).force, 0.0);
        }
        itm_cosim_destroy(x);
        itm_cosim_destroy(y);
        itm_file_destroy(file);
    }
}

// States of FMUs are disturbed through the ports only. Every H is that of the system: the crane's FMU, exported for 10 ms, takes it over.
static void the_radius_of_two_fmus_is_that_of_the_native_model(void** state)
{
    (void)state;
    static const struct {
        const char *coupling, *exchange;
        double H;
    } CASES[] = {{"zoh", "hold", 1.6e-3},    {"zoh", "hold", 2.4e-3},    {"zoh", "hold", 10e-3},
                 {"linear", "hold", 3.2e-3}, {"linear", "hold", 4.5e-3}, {"rim", "hold", 3.2e-3},
                 {"rim", "hold", 10e-3},     {"rim", "impulse", 2e-3},   {"rim", "impulse", 10e-3},
                 {"rim", "impulse", 50e-3}};
    export_part("hydraulics", 2, "cosim.macro_step=0.1ms", "hydraulics2.fmu");
    export_part("crane", 3, "cosim.macro_step=10ms", "crane.fmu");
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        char coupling[60], exchange[60];
        const char* overrides[] = {coupling, exchange};
        double radius[2] = {NAN, NAN};
        ItmError error = {0};
        ItmModelFile* files[2] = {NULL, load_pair("crane.fmu", "hydraulics2.fmu", "10 ms", "")};
        snprintf(coupling, sizeof coupling, "cosim.coupling=%s", CASES[i].coupling);
        snprintf(exchange, sizeof exchange, "cosim.exchange=%s", CASES[i].exchange);
        CHECK_OK(itm_file_load(&files[0], CRANE, overrides, 2, &error), &error);
        files[1]->cosim.bonds[0].options = files[0]->cosim.bonds[0].options;
        for (int k = 0; k < 2; k++) {
            ItmCosim* x = NULL;
            CHECK_OK(itm_file_create_cosim(&x, files[k], NULL, &error), &error);
            CHECK_OK(itm_cosim_set_macro_step(x, CASES[i].H), itm_cosim_get_error(x));
            CHECK_OK(itm_cosim_compute_radius(x, 1, &radius[k]), itm_cosim_get_error(x));
            itm_cosim_destroy(x);
            itm_file_destroy(files[k]);
        }
        print_message("%s, %s, %g ms: radius %.4f, native %.4f\n", CASES[i].coupling, CASES[i].exchange,
                      1e3 * CASES[i].H, radius[1], radius[0]);
        // linearised two steps later, on the way of the crane; at 1.86 in a motion that already grows
        CHECK_NEAR(radius[1], radius[0], 0.01 * radius[0]);
    }
}

static void an_exported_fmu_obeys_the_rules_of_the_standard(void** state)
{
    (void)state;
    for (int version = 2; version <= 3; version++) {
        ItmError error = {0};
        ItmArchive* archive = NULL;
        ItmFmiDescription* d = NULL;
        export_part("crane", version, "cosim.macro_step=10ms", "crane.fmu");
        CHECK_OK(itm_archive_open(&archive, "crane.fmu", NULL, &error), &error);
        CHECK_OK(itm_description_read(&d, archive, &error), &error);
        ItmFmiFindings findings = {0};
        CHECK_OK(itm_description_check(&findings, d, &error), &error);
        for (int i = 0; i < findings.count; i++) {
            print_message("FMI %d.0: %s\n", version, findings.items[i].text);
        }
        assert_int_equal(findings.count, 0);
        itm_description_free_findings(&findings);
        itm_description_destroy(d);
        itm_archive_close(archive);
    }
}

// A whole model as a subsystem of one that has nothing else; its recorded signal is in the FMU.
static void a_recorded_signal_goes_into_the_fmu(void** state)
{
    (void)state;
    static const char TEXT[] =
        "subsystems: {all: {type: fmu, file: control.fmu}}\ncosim: {macro_step: 10 ms}\nrun: {duration: 1 s}\n";
    ItmError error = {0};
    ItmModelFile *file = NULL, *native_file = NULL;
    ItmCosim *x = NULL, *native = NULL;
    ItmExportOptions options = itm_default_export_options();
    const char* step = "cosim.macro_step=10ms";
    options.binary = ITM_FMU_BINARY;
    options.overrides = &step;
    options.noverride = 1;
    CHECK_OK(itm_export_fmu(ITM_SOURCE_DIR "/examples/control.yaml", "control.fmu", &options, &error), &error);
    CHECK_OK(itm_file_parse(&file, TEXT, strlen(TEXT), "./all.yaml", NULL, 0, &error), &error);
    CHECK_OK(itm_file_load(&native_file, ITM_SOURCE_DIR "/examples/control.yaml", &step, 1, &error), &error);
    CHECK_OK(itm_file_create_cosim(&x, file, NULL, &error), &error);
    CHECK_OK(itm_file_create_cosim(&native, native_file, NULL, &error), &error);
    double worst = 0.0, most = 0.0;
    for (int k = 0; k < 100; k++) {
        CHECK_OK(itm_cosim_step(x), itm_cosim_get_error(x));
        CHECK_OK(itm_cosim_step(native), itm_cosim_get_error(native));
        for (int i = 0; i < itm_cosim_get_output_count(native); i++) {
            char name[300];
            const char* own = itm_cosim_get_output_info(native, i).name;
            snprintf(name, sizeof name, "all.%.250s", own);
            if (itm_cosim_find_output(x, name) != ITM_NONE) {
                double value = read_output(native, own);
                worst = fmax(worst, fabs(read_output(x, name) - value));
                most = fmax(most, fabs(value));
            }
        }
    }
    print_message("values up to %.3g, %.3g from the native run\n", most, worst);
    assert_true(most > 0.1);
    CHECK_NEAR(worst, 0.0, 1e-12);
    itm_cosim_destroy(x);
    itm_cosim_destroy(native);
    itm_file_destroy(file);
    itm_file_destroy(native_file);
}

// Last row of a result file, by name; both runs end at the same time.
static double compare_last_rows(const char* run, const char* reference)
{
    ItmError error = {0};
    ItmTable *a = NULL, *b = NULL;
    CHECK_OK(itm_results_read(&a, run, &error), &error);
    CHECK_OK(itm_results_read(&b, reference, &error), &error);
    double worst = fabs(itm_results_table_get(a, a->nrow - 1, 0) - itm_results_table_get(b, b->nrow - 1, 0)) > 1e-9;
    int nsame = 0;
    for (int i = 1; i < b->ncolumn; i++) {
        int k = itm_results_table_find(a, b->names[i]);
        nsame += k != ITM_NONE;
        worst = k == ITM_NONE
                    ? worst
                    : fmax(worst,
                           fabs(itm_results_table_get(a, a->nrow - 1, k) - itm_results_table_get(b, b->nrow - 1, i)));
    }
    assert_true(nsame > 10);
    itm_results_table_destroy(a);
    itm_results_table_destroy(b);
    return worst;
}

// A robot whose link is a mesh of a package falls on a floor: the FMU has the tables of the robot and the mesh, wherever the files were.
static void a_robot_with_a_mesh_goes_into_the_fmu(void** state)
{
    (void)state;
    static const char* const PATHS[] = {"robot_test", "robot_test/hand", "robot_test/model"};
    ItmError error = {0};
    ItmModelFile* file = NULL;
    ItmCosim* cosim = NULL;
    ItmRun* run = NULL;
    ItmFmu* fmu = NULL;
    ItmFmuRunInfo info;
    for (int i = 0; i < 3; i++) {
        mkdir(PATHS[i], 0777);
    }
    write_file("robot_test/hand/cube.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n"
                                           "f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 3 4 8 7\nf 2 3 7 6\nf 4 1 5 8\n");
    write_file("robot_test/model/cube.urdf",
               "<robot name='cube'><link name='cube'><inertial><origin xyz='.1 .1 .1'/><mass value='2'/>"
               "<inertia ixx='.02' ixy='0' ixz='0' iyy='.02' iyz='0' izz='.02'/></inertial><collision><geometry>"
               "<mesh filename='package://hand/cube.obj' scale='.2 .2 .2'/></geometry></collision></link></robot>\n");
    write_file("robot_test/model/fall.yaml",
               "multibody:\n  urdf: {file: cube.urdf, base: free, position: [0, 0, 0.3 m]}\n"
               "  shapes: {floor: {plane: [0, 0, 1], body: ground}}\nrun: {duration: 0.5 s, step: 1 ms}\n");
    ItmExportOptions options = itm_default_export_options();
    options.binary = ITM_FMU_BINARY;
    CHECK_OK(itm_export_fmu("robot_test/model/fall.yaml", "fall.fmu", &options, &error), &error);
    ItmFmuRunOptions o = itm_default_fmu_run_options();
    o.path = "fall_fmu.csv";
    CHECK_OK(itm_fmu_open(&fmu, "fall.fmu", &error), &error);
    CHECK_OK(itm_fmu_run(&info, fmu, &o, &error), &error);
    assert_int_equal(info.verdict, ITM_VERDICT_FINISHED);
    itm_fmu_close(fmu);

    CHECK_OK(itm_file_load(&file, "robot_test/model/fall.yaml", NULL, 0, &error), &error);
    CHECK_OK(itm_file_create_cosim(&cosim, file, NULL, &error), &error);
    ItmRunOptions native = itm_default_run_options(file);
    native.path = "fall.csv";
    CHECK_OK(itm_run_create(&run, file, cosim, &native, &error), &error);
    CHECK_OK(itm_run_advance(run, INFINITY), itm_run_get_error(run));
    CHECK_OK(itm_run_close(run), itm_run_get_error(run));
    CHECK_NEAR(compare_last_rows("fall_fmu.csv", "fall.csv"), 0.0, 0.0);
    itm_run_destroy(run);
    itm_cosim_destroy(cosim);
    itm_file_destroy(file);
}

// Parameters of signals and controls may change while the FMU runs; those of bodies and circuits may not.
static void gains_are_tunable_and_masses_are_fixed(void** state)
{
    (void)state;
    ItmError error = {0};
    ItmFmu* fmu = NULL;
    ItmExportOptions options = itm_default_export_options();
    options.binary = ITM_FMU_BINARY;
    CHECK_OK(itm_export_fmu(ITM_SOURCE_DIR "/examples/control.yaml", "control.fmu", &options, &error), &error);
    CHECK_OK(itm_fmu_open(&fmu, "control.fmu", &error), &error);
    ItmFmuVariable Kp = itm_fmu_get_variable(fmu, itm_fmu_find_variable(fmu, "parameters.Kp"));
    assert_string_equal(Kp.variability, "tunable");
    itm_fmu_close(fmu);
    CHECK_OK(itm_export_fmu(CRANE, "crane.fmu", &options, &error), &error);
    CHECK_OK(itm_fmu_open(&fmu, "crane.fmu", &error), &error);
    ItmFmuVariable m = itm_fmu_get_variable(fmu, itm_fmu_find_variable(fmu, "parameters.m"));
    assert_string_equal(m.variability, "fixed");
    itm_fmu_close(fmu);
}

static double get_value(ItmUnit* u, const char* name)
{
    double value = NAN;
    for (int i = 0; i < itm_unit_get_variable_count(u); i++) {
        if (strcmp(itm_unit_get_variable(u, i)->name, name) == 0) {
            CHECK_OK(itm_unit_get(u, i, &value), itm_unit_get_error(u));
        }
    }
    return value;
}

static ItmStatus set_value(ItmUnit* u, const char* name, double value)
{
    int found = ITM_NONE;
    for (int i = 0; i < itm_unit_get_variable_count(u); i++) {
        found = strcmp(itm_unit_get_variable(u, i)->name, name) == 0 ? i : found;
    }
    return itm_unit_set(u, found, value);
}

// `wanted` of the speed control is proportional to `top`, without a state; `position` is a state, and must go on.
static void a_tuned_parameter_acts_from_the_next_step(void** state)
{
    (void)state;
    const char *path = ITM_SOURCE_DIR "/examples/control.yaml", *why = "";
    size_t length = 0;
    ItmError error = {0};
    ItmUnit *u = NULL, *other = NULL;
    char* bytes = itm_bytes_read(path, 1 << 20, &length, &why);
    ItmUnit** units[] = {&u, &other};
    for (int i = 0; i < 2; i++) {
        CHECK_OK(itm_unit_create(units[i], bytes, length, path, NULL, 0, &error), &error);
        itm_unit_allow_tuning(*units[i], "top");
        CHECK_OK(itm_unit_initialize(*units[i]), itm_unit_get_error(*units[i]));
        CHECK_OK(itm_unit_step(*units[i], 2.0), itm_unit_get_error(*units[i]));
    }
    double position = get_value(u, "control.position");
    assert_true(fabs(position) > 0.01);
    size_t size = itm_unit_get_state_size(u);
    char* saved = malloc(size);
    CHECK_OK(itm_unit_save(u, saved, size), itm_unit_get_error(u));
    CHECK_OK(set_value(u, "parameters.top", 0.4), itm_unit_get_error(u));
    CHECK_NEAR(get_value(u, "control.position"), position, 0.0);  // nothing has moved
    CHECK_OK(itm_unit_step(u, 0.01), itm_unit_get_error(u));
    CHECK_OK(itm_unit_step(other, 0.01), itm_unit_get_error(other));
    assert_true(fabs(get_value(other, "control.wanted")) > 0.01);
    CHECK_NEAR(get_value(u, "control.wanted"), 0.5 * get_value(other, "control.wanted"), 1e-15);

    // a saved state has the parameter that it was saved with, and continues with the same bits
    CHECK_OK(itm_unit_restore(u, saved, size), itm_unit_get_error(u));
    CHECK_NEAR(get_value(u, "parameters.top"), 0.8, 0.0);
    CHECK_OK(itm_unit_step(u, 0.01), itm_unit_get_error(u));
    CHECK_NEAR(get_value(u, "control.position"), get_value(other, "control.position"), 0.0);
    CHECK_NEAR(get_value(u, "control.wanted"), get_value(other, "control.wanted"), 0.0);

    // fixed parameters, and values that are none, are refused and change nothing
    assert_int_equal(set_value(u, "parameters.T", 1.0), ITM_ERR_ARGUMENT);
    assert_int_equal(set_value(u, "parameters.top", NAN), ITM_ERR_ARGUMENT);
    CHECK_NEAR(get_value(u, "parameters.top"), 0.8, 0.0);
    free(saved);
    free(bytes);
    itm_unit_destroy(u);
    itm_unit_destroy(other);
}

// FMI 3.0 requires every function, also of what is not offered; FMPy refuses a library without them.
static void the_binary_has_every_function(void** state)
{
    (void)state;
    void* handle = dlopen(ITM_FMU_BINARY, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(handle);
#define CHECK_FUNCTION(name, presence) assert_non_null(dlsym(handle, "fmi3" #name));
    FMI3_FUNCTIONS(CHECK_FUNCTION)
#define CHECK_LAYER(name) assert_non_null(dlsym(handle, "interimRim" #name));
    LAYER_FUNCTIONS(CHECK_LAYER)
    LAYER_OPTIONAL(CHECK_LAYER)
    assert_null(dlsym(handle, "itm_cosim_step"));  // nothing of ours to clash with
    dlclose(handle);
}

static void bad_exports_are_refused(void** state)
{
    (void)state;
    ItmError error = {0};
    const char* part = "boom";
    ItmExportOptions options = itm_default_export_options();
    options.binary = ITM_FMU_BINARY;
    options.parts = &part;
    options.npart = 1;
    assert_int_equal(itm_export_fmu(CRANE, "bad.fmu", &options, &error), ITM_ERR_INPUT);
    assert_non_null(strstr(error.message, "no mechanism or subsystem 'boom'"));
    options.npart = 0;
    options.version = 1;
    assert_int_equal(itm_export_fmu(CRANE, "bad.fmu", &options, &error), ITM_ERR_ARGUMENT);
    options.version = 3;
    assert_int_equal(itm_export_fmu(ITM_SOURCE_DIR "/examples/arm-capture-torques.yaml", "bad.fmu", &options, &error),
                     ITM_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "no stepper 'reference'"));
    assert_int_equal(itm_export_fmu(ITM_SOURCE_DIR "/examples/absent.yaml", "bad.fmu", &options, &error), ITM_ERR_IO);
    assert_int_equal(access("bad.fmu", F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_crane_in_two_fmus_moves_as_at_home),
        cmocka_unit_test(a_manipulator_in_fmus_hits_and_pushes_a_block_as_at_home),
        cmocka_unit_test(contacts_in_a_process_give_the_bits_of_those_in_place),
        cmocka_unit_test(renewed_models_reach_a_partner_in_a_process),
        cmocka_unit_test(other_sources_of_the_interface_model_need_no_port),
        cmocka_unit_test(a_saved_state_continues_elsewhere_bit_for_bit),
        cmocka_unit_test(the_radius_of_two_fmus_is_that_of_the_native_model),
        cmocka_unit_test(an_exported_fmu_obeys_the_rules_of_the_standard),
        cmocka_unit_test(a_recorded_signal_goes_into_the_fmu),
        cmocka_unit_test(a_robot_with_a_mesh_goes_into_the_fmu),
        cmocka_unit_test(gains_are_tunable_and_masses_are_fixed),
        cmocka_unit_test(a_tuned_parameter_acts_from_the_next_step),
        cmocka_unit_test(the_binary_has_every_function),
        cmocka_unit_test(bad_exports_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
