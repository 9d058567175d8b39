// Shared libraries, read and not loaded: our own, and broken ones.
#include "../check.h"

#include "fmi/elf.h"

static char* read_library(size_t* length)
{
    FILE* file = fopen(ITM_TEST_LIBRARY, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *length = (size_t)ftell(file);
    rewind(file);
    char* bytes = malloc(*length);
    assert_int_equal(fread(bytes, 1, *length, file), *length);
    fclose(file);
    return bytes;
}

static bool has_name(const ItmElfNames* names, const char* name)
{
    for (int i = 0; i < names->count; i++) {
        if (strcmp(names->items[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static void a_library_tells_what_it_needs_and_exports(void** state)
{
    (void)state;
    size_t length = 0;
    char* bytes = read_library(&length);
    ItmElf elf;
    ItmError error = {0};
    CHECK_OK(itm_elf_read(&elf, bytes, length, "library", &error), &error);
    assert_true(elf.is_ours && elf.bits == 64);
    assert_true(has_name(&elf.needed, "libc.so.6"));
    assert_true(has_name(&elf.needed, "libxml2.so.2"));
    assert_true(itm_elf_exports(&elf, "itm_version"));
    assert_false(itm_elf_exports(&elf, "itm_archive_open"));  // hidden
    assert_false(itm_elf_exports(&elf, "malloc"));
    assert_true(has_name(&elf.undefined, "xmlParseDocument"));
    assert_true(itm_elf_get_c_library(&elf)[0] == '2');
    for (int i = 0; i < elf.needed.count; i++) {
        assert_true(itm_elf_has_library(elf.needed.items[i]));
    }
    itm_elf_free(&elf);
    free(bytes);
}

static void libraries_of_other_systems_are_named(void** state)
{
    (void)state;
    assert_false(itm_elf_has_library("libnothing.so.7"));
    assert_string_equal(itm_elf_get_package("libgfortran.so.5"), "libgfortran5");
    assert_string_equal(itm_elf_get_package("libgfortran.so.3"), "");  // in no package of Debian 12
    assert_null(itm_elf_get_package("libnothing.so.7"));
    assert_string_equal(itm_elf_get_clash("CVodeCreate"), "SUNDIALS");
    assert_string_equal(itm_elf_get_clash("dgemm_"), "BLAS");
    assert_null(itm_elf_get_clash("fmi2DoStep"));
}

// Every prefix is refused or read, and changed bytes of header and tables lead nowhere outside.
static void broken_libraries_do_no_harm(void** state)
{
    (void)state;
    size_t length = 0;
    char* bytes = read_library(&length);
    ItmElf elf;
    ItmError error = {0};
    assert_int_equal(itm_elf_read(&elf, "MZ", 2, "a.dll", &error), ITM_ERR_INPUT);
    assert_non_null(strstr(error.message, "a.dll is not a complete shared library"));
    for (size_t cut = 1; cut < 100; cut++) {
        char* exact = malloc(cut);  // a sanitizer sees what is read behind it
        memcpy(exact, bytes, cut);
        assert_int_equal(itm_elf_read(&elf, exact, cut, "cut", &error), ITM_ERR_INPUT);
        free(exact);
    }
    assert_int_equal(itm_elf_read(&elf, bytes, length - 1, "cut", &error), ITM_ERR_INPUT);  // sections come last
    unsigned long seed = 1;
    size_t tables = length - 4096;
    for (int i = 0; i < 200; i++) {
        seed = seed * 6364136223846793005ul + 1442695040888963407ul;
        size_t at = i % 2 == 0 ? (seed >> 33) % 64 : tables + (seed >> 33) % 4096;
        char kept = bytes[at];
        bytes[at] = (char)(seed >> 20);
        if (itm_elf_read(&elf, bytes, length, "changed", &error) == ITM_OK) {
            itm_elf_free(&elf);
        }
        bytes[at] = kept;
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_library_tells_what_it_needs_and_exports),
        cmocka_unit_test(libraries_of_other_systems_are_named),
        cmocka_unit_test(broken_libraries_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
