// What a shared library declares, read from its file without loading it: machine, libraries it needs, functions it exports.
// The file is not trusted.
#ifndef ITM_FMI_ELF_H
#define ITM_FMI_ELF_H

#include "base/owned.h"
#include "interim/base.h"

typedef struct ItmElfNames {
    const char** items;
    int count, capacity;
} ItmElfNames;

typedef struct ItmElf {
    int bits;               // 32 or 64
    const char* machine;    // "x86_64", "aarch64", "x86", "other"
    bool is_ours;           // this machine can load it
    ItmElfNames needed;     // libraries (DT_NEEDED)
    const char* run_path;   // where it looks for them first, "" if nowhere
    ItmElfNames versions;   // of the C library that it needs: "GLIBC_2.34"
    ItmElfNames exported;   // functions and data, sorted
    ItmElfNames undefined;  // what others must export, sorted
    ItmOwned owned;
} ItmElf;

// name: for messages. ITM_ERR_INPUT if the file is not a complete ELF library.
ItmStatus itm_elf_read(ItmElf* elf, const char* bytes, size_t length, const char* name, ItmError* error);
void itm_elf_free(ItmElf* elf);

bool itm_elf_exports(const ItmElf* elf, const char* symbol);
// The newest version of the C library that it needs ("2.34"), or "".
const char* itm_elf_get_c_library(const ItmElf* elf);

// Whether the loader of this machine finds a library by its name; without loading it.
bool itm_elf_has_library(const char* name);
// The Debian 12 package that holds a library; "" if it has none; NULL if unknown.
const char* itm_elf_get_package(const char* name);
// The well-known library that exports a symbol of this name too ("SUNDIALS"), or NULL.
const char* itm_elf_get_clash(const char* symbol);

#endif
