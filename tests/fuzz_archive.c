// libFuzzer target: any bytes as an FMU, with everything that is read of it without loading it.
#include "fmi/archive.h"
#include "fmi/description.h"
#include "fmi/elf.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

// An absolute name, or one with a component "..".
static bool leaves_archive(const char* name)
{
    bool has_parent = name[0] == '/' || strchr(name, '\\') != NULL;
    for (const char* at = name; *at != '\0';) {
        size_t n = strcspn(at, "/");
        has_parent = has_parent || (n == 2 && at[0] == '.' && at[1] == '.');
        at += n + (at[n] == '/');
    }
    return has_parent;
}

static void read_files(ItmArchive* a)
{
    for (int i = 0; i < itm_archive_get_count(a); i++) {
        const char* name = itm_archive_get_file(a, i)->name;
        char* bytes = NULL;
        size_t length = 0;
        ItmElf elf;
        if (leaves_archive(name)) {
            __builtin_trap();
        }
        if (itm_archive_read(a, &bytes, &length, name, 1u << 20, NULL) == ITM_OK &&
            itm_elf_read(&elf, bytes, length, name, NULL) == ITM_OK) {
            itm_elf_free(&elf);
        }
        free(bytes);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    ItmArchive* a = NULL;
    ItmFmiDescription* d = NULL;
    ItmError error = {0};
    ItmArchiveLimits limits = {.files = 1000, .total = 8u << 20, .file = 4u << 20, .ratio = 200, .free = 1u << 20};
    if (itm_archive_open_bytes(&a, data, size, "fuzz.fmu", &limits, &error) != ITM_OK) {
        if (error.message[0] == '\0') {
            __builtin_trap();  // an error without a message
        }
        return 0;
    }
    read_files(a);
    if (itm_description_read(&d, a, &error) == ITM_OK) {
        itm_description_destroy(d);
    }
    const char* folder = NULL;
    itm_archive_unpack(a, &folder, &error);
    itm_archive_close(a);
    return 0;
}
