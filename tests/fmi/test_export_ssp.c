// Models as systems of FMUs: the exported structure, read again, moves as the model does.
#include "../check.h"

#include "fmi/archive.h"
#include "fmi/ssp.h"
#include "interim/interim.h"

#include <math.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#define SHARE 0.1  // of the simulated times, which take twenty times as long
#else
#define SHARE 1.0
#endif

static void export_model(const char* example, const char* override, int version, const char* path)
{
    char model[400];
    ItmError error = {0};
    ItmExportOptions options = itm_default_export_options();
    options.version = version;
    options.binary = ITM_FMU_BINARY;
    options.overrides = &override;
    options.noverride = override != NULL;
    snprintf(model, sizeof model, "%s/examples/%s.yaml", ITM_SOURCE_DIR, example);
    CHECK_OK(itm_export_ssp(model, path, &options, &error), &error);
}

// Largest distance of the positions of all bonds from the native run, m or rad.
static double compare_bonds(const char* example, const char* override, const char* path, double duration)
{
    char model[400];
    ItmError error = {0};
    ItmModelFile *file = NULL, *system = NULL;
    ItmCosim *native = NULL, *x = NULL;
    snprintf(model, sizeof model, "%s/examples/%s.yaml", ITM_SOURCE_DIR, example);
    CHECK_OK(itm_file_load(&file, model, &override, override != NULL, &error), &error);
    CHECK_OK(itm_file_load(&system, path, NULL, 0, &error), &error);
    CHECK_OK(itm_file_create_cosim(&native, file, NULL, &error), &error);
    CHECK_OK(itm_file_create_cosim(&x, system, NULL, &error), &error);
    CHECK_NEAR(system->run.duration, file->run.duration, 0.0);
    double worst = 0.0;
    for (long k = 0; k < lround(duration / itm_cosim_get_step(native)); k++) {
        CHECK_OK(itm_cosim_step(native), itm_cosim_get_error(native));
        CHECK_OK(itm_cosim_step(x), itm_cosim_get_error(x));
        for (int i = 0; i < itm_cosim_get_bond_count(x); i++) {
            worst = fmax(worst, fabs(itm_cosim_get_bond(native, i).length - itm_cosim_get_bond(x, i).length));
        }
    }
    itm_cosim_destroy(x);
    itm_cosim_destroy(native);
    itm_file_destroy(system);
    itm_file_destroy(file);
    return worst;
}

// With the interface model port the coupling is that of the model: only rounding differs, of values that pass through FMUs.
static void a_crane_as_a_system_of_fmus_moves_as_the_model(void** state)
{
    (void)state;
    static const char* const STEPS[] = {NULL, "cosim.macro_step=100ms"};
    for (int i = 0; i < 2; i++) {
        export_model("crane-single", STEPS[i], 2 + i, "test_crane.ssp");
        double worst = compare_bonds("crane-single", STEPS[i], "test_crane.ssp", SHARE * (i == 0 ? 1.0 : 3.0));
        print_message("crane-single, FMI %d: %.1e m\n", 2 + i, worst);
        CHECK_NEAR(worst, 0.0, 1e-12);  // observed 2e-16
    }
    unlink("test_crane.ssp");
}

// The lengths of these cylinders are not in the model file: the FMU of the hydraulics starts with those of the arm.
static void cylinders_start_where_the_mechanism_holds_them(void** state)
{
    (void)state;
    export_model("manipulator", NULL, 3, "test_arm.ssp");
    CHECK_NEAR(compare_bonds("manipulator", NULL, "test_arm.ssp", SHARE * 0.2), 0.0, 1e-12);
    unlink("test_arm.ssp");
}

// Control and hydraulics start in the static equilibrium of the whole machine. Signals between FMUs are one step late, therefore the
// tolerance: 10 ms at the cylinders' speed of up to 0.05 m/s; without the start values the boom falls by 10 cm.
static void a_machine_with_control_starts_at_rest(void** state)
{
    (void)state;
    export_model("excavator", NULL, 3, "test_excavator.ssp");
    double worst = compare_bonds("excavator", NULL, "test_excavator.ssp", SHARE * 0.3);
    print_message("excavator: %.1e m\n", worst);
    CHECK_NEAR(worst, 0.0, 5e-4);
    unlink("test_excavator.ssp");
}

// Mechanisms connected at frames, and a mechanism with the control that prescribes its motion, are one FMU.
static void parts_that_cannot_be_apart_share_an_fmu(void** state)
{
    (void)state;
    static const struct {
        const char* example;
        int ncomponent;
    } CASES[] = {{"crane-cut", 2}, {"scara", 1}, {"pendulum", 1}, {"robot-drive", 3}};
    for (int i = 0; i < 4; i++) {
        ItmArchive* archive = NULL;
        ItmSsp* ssp = NULL;
        ItmError error = {0};
        export_model(CASES[i].example, NULL, 3, "test_parts.ssp");
        CHECK_OK(itm_archive_open(&archive, "test_parts.ssp", NULL, &error), &error);
        CHECK_OK(itm_ssp_read(&ssp, archive, &error), &error);
        assert_int_equal(ssp->components.count, CASES[i].ncomponent);
        assert_int_equal(ssp->notes.count, 0);
        itm_ssp_destroy(ssp);
        itm_archive_close(archive);
    }
    unlink("test_parts.ssp");
}

// The value of a parameter in the set reaches the FMUs.
static void parameters_of_the_set_are_those_of_the_fmus(void** state)
{
    (void)state;
    ItmModelFile* file = NULL;
    ItmError error = {0};
    ItmArchive* archive = NULL;
    ItmSsp* ssp = NULL;
    export_model("crane-single", "parameters.m=123 kg", 2, "test_set.ssp");
    CHECK_OK(itm_archive_open(&archive, "test_set.ssp", NULL, &error), &error);
    CHECK_OK(itm_ssp_read(&ssp, archive, &error), &error);
    for (int k = 0; k < ssp->components.count; k++) {
        const ItmSspValues* values = &ssp->components.items[k].values;
        int nfound = 0;
        for (int i = 0; i < values->count; i++) {
            nfound += strcmp(values->items[i].name, "parameters.m") == 0 && strcmp(values->items[i].text, "123") == 0;
        }
        assert_int_equal(nfound, 1);
    }
    CHECK_OK(itm_file_load(&file, "test_set.ssp", NULL, 0, &error), &error);
    itm_file_destroy(file);
    itm_ssp_destroy(ssp);
    itm_archive_close(archive);
    unlink("test_set.ssp");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_crane_as_a_system_of_fmus_moves_as_the_model),
        cmocka_unit_test(cylinders_start_where_the_mechanism_holds_them),
        cmocka_unit_test(a_machine_with_control_starts_at_rest),
        cmocka_unit_test(parts_that_cannot_be_apart_share_an_fmu),
        cmocka_unit_test(parameters_of_the_set_are_those_of_the_fmus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
