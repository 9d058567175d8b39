// The binary of an FMU for this machine, read from its file: libraries that it needs, functions that it exports.
#ifndef ITM_FMU_LIBRARY_H
#define ITM_FMU_LIBRARY_H

#include "fmi/archive.h"
#include "fmi/description.h"
#include "fmi/elf.h"
#include "interim/fmu.h"

typedef struct ItmFmuLibrary {
    const ItmArchive* archive;             // of the FMU, as is the description
    const ItmFmiDescription* description;  //
    const char* file;                      // in the archive; NULL: none for this machine
    ItmElf elf;                            //
    bool has_elf;                          // the file could be read
    ItmError error;                        // why not
} ItmFmuLibrary;

void itm_fmu_read_library(ItmFmuLibrary* library, ItmFmu* fmu);
void itm_fmu_free_library(ItmFmuLibrary* library);
// Libraries that the FMU needs and this machine does not have. The text of one ("libgfortran.so.3 (not in Debian 12)") in the
// caller's buffer; false: there are no more.
bool itm_fmu_get_missing_library(const ItmFmuLibrary* library, int index, char* text, size_t size);

#endif
