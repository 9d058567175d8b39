#include "check.h"

#include "base/arena.h"
#include "base/assert.h"
#include "base/error.h"

static void every_status_has_a_message(void** state)
{
    (void)state;
    for (int status = 0; status < ITM_STATUS_COUNT; status++) {
        assert_non_null(itm_status_message((ItmStatus)status));
        assert_true(strlen(itm_status_message((ItmStatus)status)) > 3);
    }
    assert_string_equal(itm_status_message(ITM_STATUS_COUNT), "unknown status");
}

// The macros of base.h agree with the version of the build, which itm_version() returns.
static void headers_have_the_version_of_the_library(void** state)
{
    (void)state;
    char version[64];
    snprintf(version, sizeof version, "%d.%d.%d", ITM_VERSION_MAJOR, ITM_VERSION_MINOR, ITM_VERSION_PATCH);
    assert_string_equal(version, itm_version());
}

static void error_keeps_status_field_and_sentence(void** state)
{
    (void)state;
    ItmError error;
    ItmStatus status = itm_error_set(&error, ITM_ERR_INPUT, __func__, "mass", "got %g", -2.0);
    assert_int_equal(status, ITM_ERR_INPUT);
    assert_int_equal(error.status, ITM_ERR_INPUT);
    assert_string_equal(error.field, "mass");
    assert_string_equal(error.message, "got -2");
    assert_int_equal(itm_error_set(NULL, ITM_ERR_IO, __func__, NULL, "x"), ITM_ERR_IO);
}

static jmp_buf after_defect;
static int defect_line;

static void leave_defect(const char* expression, const char* file, int line)
{
    (void)expression;
    (void)file;
    defect_line = line;
    longjmp(after_defect, 1);
}

// A simulator that embeds the library decides what a defect of it does to the process.
static void an_assert_handler_replaces_the_abort(void** state)
{
    (void)state;
    itm_assert_set_handler(leave_defect);
    if (setjmp(after_defect) == 0) {
        itm_assert_fail("x > 0", "file.c", 42);
    }
    itm_assert_set_handler(NULL);
    assert_int_equal(defect_line, 42);
}

static void measured_arena_holds_exactly_what_was_measured(void** state)
{
    (void)state;
    ItmArena arena = {0};
    assert_null(ITM_TAKE(&arena, double, 5));
    ITM_TAKE(&arena, char, 100);
    assert_int_equal(itm_arena_allocate(&arena), 0);

    double* first = ITM_TAKE(&arena, double, 5);
    assert_non_null(first);
    assert_int_equal((uintptr_t)first % ITM_ARENA_ALIGN, 0);
    for (int i = 0; i < 5; i++) {
        assert_true(first[i] == 0.0);
    }
    char* last = ITM_TAKE(&arena, char, 100);
    memset(last, 1, 100);
    assert_true(arena.used <= arena.size && arena.size < arena.used + ITM_ARENA_ALIGN + 1);
    itm_arena_free(&arena);
}

// What files say is quoted in messages, which go to terminals.
static void messages_do_not_steer_terminals(void** state)
{
    (void)state;
    ItmError error = {0};
    itm_error_set(&error, ITM_ERR_INPUT, "f", "a\xc2\x9b", "no '%s'\nnor '%s'", "\033]0;x\007", "\xe2\x80\xae\xc3\xa4");
    assert_string_equal(error.message, "no '?]0;x?'\nnor '??\?\xc3\xa4'");
    assert_string_equal(error.field, "a??");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_a_message),
        cmocka_unit_test(an_assert_handler_replaces_the_abort),
        cmocka_unit_test(headers_have_the_version_of_the_library),
        cmocka_unit_test(error_keeps_status_field_and_sentence),
        cmocka_unit_test(messages_do_not_steer_terminals),
        cmocka_unit_test(measured_arena_holds_exactly_what_was_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
