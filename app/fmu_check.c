// interim fmu check: an FMU against the rules of the standard. This part reads files only.
#include "fmu.h"

#include "fmi/fmi2.h"
#include "fmi/fmi3.h"

#include <gnu/libc-version.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const AppOption OPTIONS[] = {
    {APP_OPTION_QUIET, "--quiet", 'q', NULL, NULL, "print warnings, errors and the last line only"},
    {APP_OPTION_HELP, "--help", 'h', NULL, NULL, "show this help"},
};

// ---------------------------------------------------------------------------- verdicts

void app_fmu_judge(AppFmuVerdicts* v, AppFmuLevel level, const char* what, const char* format, ...)
{
    static const char* const WORDS[] = {"ok", "note", "warning", "ERROR", "skipped"};
    v->ngood += level == APP_FMU_GOOD;
    v->nwarning += level == APP_FMU_WARNING;
    v->nerror += level == APP_FMU_ERROR;
    v->nskipped += level == APP_FMU_SKIPPED;
    if (v->is_quiet && level != APP_FMU_WARNING && level != APP_FMU_ERROR) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    printf("%-8s %-14s ", WORDS[level], what);
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
}

// ---------------------------------------------------------------------------- description

static bool check_description(AppFmuVerdicts* v, const ItmFmiDescription* d)
{
    static const AppFmuLevel LEVELS[] = {
        [ITM_FMI_NOTE] = APP_FMU_NOTE, [ITM_FMI_WARNING] = APP_FMU_WARNING, [ITM_FMI_ERROR] = APP_FMU_ERROR};
    ItmFmiFindings f;
    ItmError error = {0};
    if (itm_description_check(&f, d, &error) != ITM_OK) {
        app_print_error(&error);
        return false;
    }
    for (int i = 0; i < f.count; i++) {
        const ItmFmiFinding* finding = &f.items[i];
        if (finding->line > 0) {
            app_fmu_judge(v, LEVELS[finding->severity], "description", "line %d: %s [%s]", finding->line, finding->text,
                          finding->rule);
        } else {
            app_fmu_judge(v, LEVELS[finding->severity], "description", "%s [%s]", finding->text, finding->rule);
        }
    }
    if (f.nleft_out > 0) {
        app_fmu_judge(v, APP_FMU_NOTE, "description", "%d more findings of the same rules", f.nleft_out);
    }
    if (f.nerror + f.nwarning == 0) {
        app_fmu_judge(v, APP_FMU_GOOD, "description", "FMI %s, %d variables, no rule of the standard is broken",
                      d->version, d->nvariable);
    }
    itm_description_free_findings(&f);
    return true;
}

// ---------------------------------------------------------------------------- library

typedef enum Presence { REQUIRED, OPTIONAL, EXCHANGE, COSIM } Presence;

typedef struct Function {
    const char* name;
    Presence presence;
} Function;

#define FUNCTION2(name, presence) {"fmi2" #name, presence},
#define FUNCTION3(name, presence) {"fmi3" #name, presence},

static bool is_needed(const ItmFmiDescription* d, Presence presence)
{
    return presence == REQUIRED || (presence == COSIM && d->kinds[ITM_FMI_CO_SIMULATION].is_present) ||
           (presence == EXCHANGE && d->kinds[ITM_FMI_MODEL_EXCHANGE].is_present);
}

static void check_functions(AppFmuVerdicts* v, const AppFmu* fmu)
{
    static const Function FUNCTIONS2[] = {FMI2_FUNCTIONS(FUNCTION2)};
    static const Function FUNCTIONS3[] = {FMI3_FUNCTIONS(FUNCTION3)};
    const ItmFmiDescription* d = fmu->description;
    const Function* list = d->major == 2 ? FUNCTIONS2 : FUNCTIONS3;
    size_t count = d->major == 2 ? sizeof FUNCTIONS2 / sizeof *FUNCTIONS2 : sizeof FUNCTIONS3 / sizeof *FUNCTIONS3;
    int nmissing = 0, nneeded = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_needed(d, list[i].presence)) {
            continue;
        }
        nneeded++;
        if (!itm_elf_exports(&fmu->elf, list[i].name)) {
            nmissing++;
            app_fmu_judge(v, APP_FMU_ERROR, "functions", "%s is not exported", list[i].name);
        }
    }
    if (nmissing == 0) {
        app_fmu_judge(v, APP_FMU_GOOD, "functions", "all %d required functions are exported", nneeded);
    }
}

// A capability without its functions is an empty claim.
static void check_claims(AppFmuVerdicts* v, const AppFmu* fmu)
{
    const ItmFmiDescription* d = fmu->description;
    bool is_2 = d->major == 2;
    for (int i = 0; i < ITM_FMI_KIND_COUNT; i++) {
        const ItmFmiKind* k = &d->kinds[i];
        const struct {
            bool is_claimed;
            const char* function;
        } CLAIMS[] = {
            {k->can_get_set_state, is_2 ? "fmi2GetFMUstate" : "fmi3GetFMUState"},
            {k->can_serialize_state, is_2 ? "fmi2SerializeFMUstate" : "fmi3SerializeFMUState"},
            {k->has_directional_derivatives, is_2 ? "fmi2GetDirectionalDerivative" : "fmi3GetDirectionalDerivative"},
            {k->has_adjoint_derivatives, "fmi3GetAdjointDerivative"}};
        for (size_t c = 0; c < sizeof CLAIMS / sizeof *CLAIMS && k->is_present; c++) {
            if (CLAIMS[c].is_claimed && !itm_elf_exports(&fmu->elf, CLAIMS[c].function)) {
                app_fmu_judge(v, APP_FMU_WARNING, "functions",
                              "%s declares a capability whose function %s is not exported",
                              i == ITM_FMI_CO_SIMULATION ? "co-simulation" : "model exchange", CLAIMS[c].function);
            }
        }
    }
}

static bool is_newer(const char* a, const char* b)
{
    int x[2] = {0, 0}, y[2] = {0, 0};
    return sscanf(a, "%d.%d", &x[0], &x[1]) == 2 && sscanf(b, "%d.%d", &y[0], &y[1]) == 2 &&
           (x[0] > y[0] || (x[0] == y[0] && x[1] > y[1]));
}

static void check_needs(AppFmuVerdicts* v, const AppFmu* fmu)
{
    char text[256];
    int nmissing = 0;
    for (; app_fmu_get_missing(fmu, nmissing, text, sizeof text); nmissing++) {
        app_fmu_judge(v, APP_FMU_ERROR, "libraries", "the library needs %s, which this machine does not have", text);
    }
    const char* c_library = itm_elf_get_c_library(&fmu->elf);
    if (is_newer(c_library, gnu_get_libc_version())) {
        app_fmu_judge(v, APP_FMU_ERROR, "libraries", "the library needs glibc %s, and this machine has %s", c_library,
                      gnu_get_libc_version());
    } else if (nmissing == 0) {
        app_fmu_judge(v, APP_FMU_GOOD, "libraries", "all %d needed libraries are on this machine",
                      fmu->elf.needed.count);
    }
    int nclash = 0;
    const char* first = "";
    for (int i = 0; i < fmu->elf.exported.count; i++) {
        if (itm_elf_get_clash(fmu->elf.exported.items[i]) != NULL) {
            first = nclash++ == 0 ? fmu->elf.exported.items[i] : first;
        }
    }
    if (nclash > 0) {
        app_fmu_judge(v, APP_FMU_WARNING, "libraries",
                      "%d exported symbols clash with other libraries (%s of %s); run it with isolation: process",
                      nclash, first, itm_elf_get_clash(first));
    }
}

static void check_library(AppFmuVerdicts* v, const AppFmu* fmu)
{
    if (fmu->library == NULL) {
        app_fmu_judge(v, APP_FMU_ERROR, "library", "there is no library for this machine%s",
                      fmu->description->nsource > 0 ? "; the FMU has sources: compile them with the exporting tool"
                                                    : "");
    } else if (!fmu->has_elf) {
        app_fmu_judge(v, APP_FMU_ERROR, "library", "%s", fmu->elf_error.message);
    } else if (!fmu->elf.is_ours) {
        app_fmu_judge(v, APP_FMU_ERROR, "library", "%s is for %s, %d bits", fmu->library, fmu->elf.machine,
                      fmu->elf.bits);
    } else {
        app_fmu_judge(v, APP_FMU_GOOD, "library", "%s", fmu->library);
        check_needs(v, fmu);
        check_functions(v, fmu);
        check_claims(v, fmu);
    }
}

// ---------------------------------------------------------------------------- command

static int run(const AppArguments* arguments)
{
    AppFmu fmu;
    ItmError error = {0};
    AppFmuVerdicts v = {.is_quiet = arguments->is_quiet};
    if (!app_fmu_open(&fmu, arguments->model, &error)) {
        app_print_error(&error);
        return APP_BAD_INPUT;
    }
    app_fmu_judge(&v, APP_FMU_GOOD, "archive", "%d files, %.3g MB", itm_archive_get_count(fmu.archive),
                  (double)itm_archive_get_size(fmu.archive) / 1e6);
    int status = APP_BAD_INPUT;
    if (check_description(&v, fmu.description)) {
        check_library(&v, &fmu);
        if (v.nerror == 0) {
            app_fmu_probe(&v, arguments->model);
        }
        printf("%d checks passed, %d warnings, %d errors, %d skipped\n", v.ngood, v.nwarning, v.nerror, v.nskipped);
        status = v.nerror == 0 ? APP_FINISHED : APP_BAD_INPUT;
    }
    app_fmu_close(&fmu);
    return status;
}

const AppCommand app_fmu_check_command = {
    .name = "fmu check",
    .synopsis = "FILE.fmu [-q]",
    .help = "check archive, description, libraries and behaviour of an FMU",
    .details =
        "Checks an FMU against the rules of FMI 2.0 and 3.0, one line per verdict: archive, description, libraries that its\n"
        "binary needs, and functions that it must export. Without an error there it then runs the FMU in processes that are\n"
        "thrown away: same bits twice, states that continue with the same bits, inputs that act at once, effort per step.\n"
        "Exit status: 0 without errors, 1 otherwise.",
    .options = OPTIONS,
    .noption = sizeof OPTIONS / sizeof *OPTIONS,
    .operand = "FMU",
    .run = run,
};
