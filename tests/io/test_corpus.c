// Every file of tests/corpus through the whole reader: good-* must be accepted, bad-* refused with
// a message and a place, and the others, which a fuzzer found interesting, must only come back.
#include "check.h"

#include "interim/file.h"

#include <dirent.h>

static bool starts_with(const char* text, const char* start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static void check_file(const char* name, int* ngood, int* nbad)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/tests/corpus/%s", ITM_SOURCE_DIR, name);
    ItmModelFile* file = NULL;
    ItmError error = {0};
    ItmStatus status = itm_file_load(&file, path, NULL, 0, &error);
    if (status == ITM_OK) {
        assert_false(starts_with(name, "bad-"));
        assert_true(file->model != NULL || file->ncircuit > 0 || file->ncontrol > 0);
        *ngood += starts_with(name, "good-");
        itm_file_destroy(file);
        return;
    }
    if (starts_with(name, "good-")) {
        fail_msg("%s:%d:%d: %s", error.file, error.line, error.column, error.message);
    }
    assert_null(file);
    assert_int_equal(status, error.status);
    assert_true(strlen(error.message) > 10);
    assert_string_equal(error.file, path);
    if (error.line < 1 || error.column < 1) {
        fail_msg("%s: no place for: %s", name, error.message);
    }
    *nbad += starts_with(name, "bad-");
}

static void corpus_is_judged_right(void** state)
{
    (void)state;
    DIR* folder = opendir(ITM_SOURCE_DIR "/tests/corpus");
    assert_non_null(folder);
    int ngood = 0, nbad = 0;
    for (struct dirent* entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (entry->d_name[0] != '.') {
            check_file(entry->d_name, &ngood, &nbad);
        }
    }
    closedir(folder);
    assert_true(ngood >= 10);
    assert_true(nbad >= 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(corpus_is_judged_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
