// An FMU against the rules of the standard. This part reads files only; check_probe.c runs it.
#include "fmu/check.h"

#include "base/error.h"
#include "base/guard.h"
#include "fmi/fmi2.h"
#include "fmi/fmi3.h"
#include "fmi/fmu.h"
#include "fmu/library.h"

#include <gnu/libc-version.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void itm_fmu_note_finding(ItmFmuCheck* c, ItmFmuLevel level, const char* subject, const char* format, ...)
{
    char text[1024];
    c->counts[level]++;
    if (c->handler != NULL) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(text, sizeof text, format, arguments);
        va_end(arguments);
        c->handler(c->context, &(ItmFmuFinding){level, subject, text});
    }
}

// ---------------------------------------------------------------------------- description

static ItmStatus check_description(ItmFmuCheck* c, const ItmFmiDescription* d, ItmError* error)
{
    static const ItmFmuLevel LEVELS[] = {
        [ITM_FMI_NOTE] = ITM_FMU_NOTE, [ITM_FMI_WARNING] = ITM_FMU_WARNING, [ITM_FMI_ERROR] = ITM_FMU_ERROR};
    ItmFmiFindings f;
    ItmStatus status = itm_description_check(&f, d, error);
    if (status != ITM_OK) {
        return status;
    }
    for (int i = 0; i < f.count; i++) {
        const ItmFmiFinding* finding = &f.items[i];
        if (finding->line > 0) {
            itm_fmu_note_finding(c, LEVELS[finding->severity], "description", "line %d: %s [%s]", finding->line,
                                 finding->text, finding->rule);
        } else {
            itm_fmu_note_finding(c, LEVELS[finding->severity], "description", "%s [%s]", finding->text, finding->rule);
        }
    }
    if (f.nleft_out > 0) {
        itm_fmu_note_finding(c, ITM_FMU_NOTE, "description", "%d more findings of the same rules", f.nleft_out);
    }
    if (f.nerror + f.nwarning == 0) {
        itm_fmu_note_finding(c, ITM_FMU_GOOD, "description", "FMI %s, %d variables, no rule of the standard is broken",
                             d->version, d->nvariable);
    }
    itm_description_free_findings(&f);
    return ITM_OK;
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

static void check_functions(ItmFmuCheck* c, const ItmFmuLibrary* fmu)
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
            itm_fmu_note_finding(c, ITM_FMU_ERROR, "functions", "%s is not exported", list[i].name);
        }
    }
    if (nmissing == 0) {
        itm_fmu_note_finding(c, ITM_FMU_GOOD, "functions", "all %d required functions are exported", nneeded);
    }
}

// A capability without its functions is an empty claim.
static void check_claims(ItmFmuCheck* c, const ItmFmuLibrary* fmu)
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
        for (size_t n = 0; n < sizeof CLAIMS / sizeof *CLAIMS && k->is_present; n++) {
            if (CLAIMS[n].is_claimed && !itm_elf_exports(&fmu->elf, CLAIMS[n].function)) {
                itm_fmu_note_finding(
                    c, ITM_FMU_WARNING, "functions", "%s declares a capability whose function %s is not exported",
                    i == ITM_FMI_CO_SIMULATION ? "co-simulation" : "model exchange", CLAIMS[n].function);
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

static void check_needs(ItmFmuCheck* c, const ItmFmuLibrary* fmu)
{
    char text[256];
    int nmissing = 0;
    for (; itm_fmu_get_missing_library(fmu, nmissing, text, sizeof text); nmissing++) {
        itm_fmu_note_finding(c, ITM_FMU_ERROR, "libraries", "the library needs %s, which this machine does not have",
                             text);
    }
    const char* c_library = itm_elf_get_c_library(&fmu->elf);
    if (is_newer(c_library, gnu_get_libc_version())) {
        itm_fmu_note_finding(c, ITM_FMU_ERROR, "libraries", "the library needs glibc %s, and this machine has %s",
                             c_library, gnu_get_libc_version());
    } else if (nmissing == 0) {
        itm_fmu_note_finding(c, ITM_FMU_GOOD, "libraries", "all %d needed libraries are on this machine",
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
        itm_fmu_note_finding(
            c, ITM_FMU_WARNING, "libraries",
            "%d exported symbols clash with other libraries (%s of %s); run it with isolation: process", nclash, first,
            itm_elf_get_clash(first));
    }
}

static void check_library(ItmFmuCheck* c, const ItmFmuLibrary* fmu)
{
    if (fmu->file == NULL) {
        itm_fmu_note_finding(
            c, ITM_FMU_ERROR, "library", "there is no library for this machine%s",
            fmu->description->nsource > 0 ? "; the FMU has sources: compile them with the exporting tool" : "");
    } else if (!fmu->has_elf) {
        itm_fmu_note_finding(c, ITM_FMU_ERROR, "library", "%s", fmu->error.message);
    } else if (!fmu->elf.is_ours) {
        itm_fmu_note_finding(c, ITM_FMU_ERROR, "library", "%s is for %s, %d bits", fmu->file, fmu->elf.machine,
                             fmu->elf.bits);
    } else {
        itm_fmu_note_finding(c, ITM_FMU_GOOD, "library", "%s", fmu->file);
        check_needs(c, fmu);
        check_functions(c, fmu);
        check_claims(c, fmu);
    }
}

// ---------------------------------------------------------------------------- all of it

ItmStatus itm_fmu_check(ItmFmu* fmu, ItmFmuFindingHandler* handler, void* context, int* counts, ItmError* error)
{
    ITM_GUARD(fmu != NULL, itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "the FMU is NULL"));
    ItmFmuCheck c = {.handler = handler, .context = context};
    ItmFmuLibrary library;
    itm_fmu_read_library(&library, fmu);
    itm_fmu_note_finding(&c, ITM_FMU_GOOD, "archive", "%d files, %.3g MB", itm_archive_get_count(library.archive),
                         (double)itm_archive_get_size(library.archive) / 1e6);
    ItmStatus status = check_description(&c, library.description, error);
    if (status == ITM_OK) {
        check_library(&c, &library);
        if (c.counts[ITM_FMU_ERROR] == 0) {
            itm_fmu_probe(&c, fmu);
        }
    }
    itm_fmu_free_library(&library);
    if (counts != NULL) {
        memcpy(counts, c.counts, sizeof c.counts);
    }
    return status;
}
