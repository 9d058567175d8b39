// interim fmu: show, check, run and compare FMUs. This file reads them; nothing of an FMU is loaded into this process.
#include "fmu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_LIBRARY_BYTES ((size_t)1 << 30)

const AppCommand* const app_fmu_commands[] = {&app_fmu_show_command, &app_fmu_check_command, &app_fmu_run_command,
                                              &app_fmu_compare_command, NULL};

const AppCommand app_fmu_command = {
    .name = "fmu",
    .synopsis = "SUBCOMMAND FILE.fmu [OPTION]...",
    .help = "show, check, run and compare functional mock-up units (FMI 2.0 and 3.0)",
    .details =
        "Reads an FMU of FMI 2.0 or 3.0: a ZIP file or a folder. `interim help fmu show` shows the help of a subcommand.",
    .subcommands = app_fmu_commands,
};

static void read_library(AppFmu* fmu)
{
    char* bytes = NULL;
    size_t length = 0;
    ItmStatus status =
        itm_archive_read(fmu->archive, &bytes, &length, fmu->library, MOST_LIBRARY_BYTES, &fmu->elf_error);
    if (status == ITM_OK) {
        status = itm_elf_read(&fmu->elf, bytes, length, fmu->library, &fmu->elf_error);
    }
    free(bytes);
    fmu->has_elf = status == ITM_OK;
}

bool app_fmu_open(AppFmu* fmu, const char* path, ItmError* error)
{
    *fmu = (AppFmu){0};
    if (itm_archive_open(&fmu->archive, path, NULL, error) != ITM_OK ||
        itm_description_read(&fmu->description, fmu->archive, error) != ITM_OK) {
        app_fmu_close(fmu);
        return false;
    }
    for (int kind = 0; kind < ITM_FMI_KIND_COUNT && fmu->library == NULL; kind++) {
        fmu->library = itm_description_get_library(fmu->description, fmu->archive, kind);
    }
    if (fmu->library != NULL) {
        read_library(fmu);
    }
    return true;
}

void app_fmu_close(AppFmu* fmu)
{
    itm_elf_free(&fmu->elf);
    itm_description_destroy(fmu->description);
    itm_archive_close(fmu->archive);
    *fmu = (AppFmu){0};
}

// A library beside the FMU's own is found by the run path of the FMU.
static bool is_beside(const AppFmu* fmu, const char* name)
{
    const char* slash = strrchr(fmu->library, '/');
    char path[512];
    snprintf(path, sizeof path, "%.*s/%s", (int)(slash - fmu->library), fmu->library, name);
    return strstr(fmu->elf.run_path, "$ORIGIN") != NULL && itm_archive_find(fmu->archive, path) != ITM_NONE;
}

bool app_fmu_get_missing(const AppFmu* fmu, int index, char* text, size_t size)
{
    for (int i = 0; i < fmu->elf.needed.count; i++) {
        const char* name = fmu->elf.needed.items[i];
        if (itm_elf_has_library(name) || is_beside(fmu, name) || index-- > 0) {
            continue;
        }
        const char* package = itm_elf_get_package(name);
        if (package != NULL && package[0] != '\0') {
            snprintf(text, size, "%s (Debian package %s)", name, package);
        } else {
            snprintf(text, size, "%s%s", name, package != NULL ? " (not in Debian 12)" : "");
        }
        return true;
    }
    return false;
}
