#include "fmu/library.h"

#include "fmi/fmu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BYTES ((size_t)1 << 30)

void itm_fmu_read_library(ItmFmuLibrary* library, ItmFmu* fmu)
{
    ItmArchive* archive = itm_fmi_get_archive(fmu);
    *library = (ItmFmuLibrary){.archive = archive, .description = itm_fmi_get_description(fmu)};
    for (int kind = 0; kind < ITM_FMI_KIND_COUNT && library->file == NULL; kind++) {
        library->file = itm_description_get_library(library->description, archive, kind);
    }
    if (library->file == NULL) {
        return;
    }
    char* bytes = NULL;
    size_t length = 0;
    ItmStatus status = itm_archive_read(archive, &bytes, &length, library->file, MOST_BYTES, &library->error);
    if (status == ITM_OK) {
        status = itm_elf_read(&library->elf, bytes, length, library->file, &library->error);
    }
    free(bytes);
    library->has_elf = status == ITM_OK;
}

void itm_fmu_free_library(ItmFmuLibrary* library)
{
    itm_elf_free(&library->elf);
}

// A library beside the FMU's own is found by the run path of the FMU.
static bool is_beside(const ItmFmuLibrary* library, const char* name)
{
    const char* slash = strrchr(library->file, '/');
    char path[512];
    snprintf(path, sizeof path, "%.*s/%s", (int)(slash - library->file), library->file, name);
    return strstr(library->elf.run_path, "$ORIGIN") != NULL && itm_archive_find(library->archive, path) != ITM_NONE;
}

bool itm_fmu_get_missing_library(const ItmFmuLibrary* library, int index, char* text, size_t size)
{
    for (int i = 0; i < library->elf.needed.count; i++) {
        const char* name = library->elf.needed.items[i];
        if (itm_elf_has_library(name) || is_beside(library, name) || index-- > 0) {
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
