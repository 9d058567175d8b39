// interim fmu: what its subcommands share.
#ifndef INTERIM_APP_FMU_H
#define INTERIM_APP_FMU_H

#include "app.h"

#include "fmi/archive.h"
#include "fmi/description.h"
#include "fmi/elf.h"

extern const AppCommand app_fmu_show_command;
extern const AppCommand app_fmu_check_command;
extern const AppCommand app_fmu_run_command;
extern const AppCommand app_fmu_compare_command;
// NULL-terminated list of all subcommands; their names are "fmu show", ...
extern const AppCommand* const app_fmu_commands[];

// An FMU as its files describe it; nothing of it is loaded.
typedef struct AppFmu {
    ItmArchive* archive;
    ItmFmiDescription* description;
    const char* library;  // for this machine, in the archive; NULL: none
    ItmElf elf;
    bool has_elf;        // the library could be read
    ItmError elf_error;  // why not
} AppFmu;

// Open an FMU and read its description and library; false and *error after a failure.
bool app_fmu_open(AppFmu* fmu, const char* path, ItmError* error);
void app_fmu_close(AppFmu* fmu);
// Libraries that the FMU needs and this machine does not have. The text of one ("libgfortran.so.3 (not in Debian 12)") in the
// caller's buffer; false: there are no more.
bool app_fmu_get_missing(const AppFmu* fmu, int index, char* text, size_t size);

// ---------------------------------------------------------------------------- check

typedef enum AppFmuLevel { APP_FMU_GOOD, APP_FMU_NOTE, APP_FMU_WARNING, APP_FMU_ERROR, APP_FMU_SKIPPED } AppFmuLevel;

// Verdicts of `interim fmu check`, counted.
typedef struct AppFmuVerdicts {
    int ngood, nwarning, nerror, nskipped;
    bool is_quiet;  // prints warnings and errors only
} AppFmuVerdicts;

// Print a line: "ok       archive      23 files".
void app_fmu_judge(AppFmuVerdicts* verdicts, AppFmuLevel level, const char* what, const char* format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 4, 5)))
#endif
    ;

// Run the FMU in processes that are thrown away: determinism, states, input latch, effort.
void app_fmu_probe(AppFmuVerdicts* verdicts, const char* path);

// ---------------------------------------------------------------------------- compare

// Compare results with a reference by the rule of the cross-check (report/crosscheck.h) and print one line: "passed: ...",
// "failed: ..." or "refused: ...". The description has the signals that are discrete. The exit status: APP_FINISHED, APP_BROKE_DOWN, APP_BAD_INPUT.
int app_fmu_compare_files(const char* results, const char* reference, const ItmFmiDescription* description);

#endif
