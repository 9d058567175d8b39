// Archives from elsewhere: what is read, what is refused and with which words, and that nothing is left behind.
#define _DEFAULT_SOURCE  // S_IFLNK
#include "archive_file.h"

#include "fmi/archive.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

static char temporary[64];

static int set_up(void** state)
{
    (void)state;
    snprintf(temporary, sizeof temporary, "/tmp/test-archive-XXXXXX");
    return mkdtemp(temporary) == NULL || setenv("TMPDIR", temporary, 1) != 0;
}

static int tear_down(void** state)
{
    (void)state;
    return rmdir(temporary);  // fails if anything was left
}

static int count_entries(const char* folder)
{
    DIR* dir = opendir(folder);
    int count = -2;  // "." and ".."
    while (dir != NULL && readdir(dir) != NULL) {
        count++;
    }
    closedir(dir);
    return count;
}

static bool exists(const char* path)
{
    struct stat s;
    return lstat(path, &s) == 0;
}

// The archive is refused with words of the message, and located at a file inside.
static void refuse_with(const char* path, const ItmArchiveLimits* limits, const char* words)
{
    ItmArchive* archive = NULL;
    ItmError error = {0};
    ItmStatus status = itm_archive_open(&archive, path, limits, &error);
    if (status != ITM_ERR_INPUT || strstr(error.message, words) == NULL || strstr(error.file, path) == NULL) {
        fail_msg("%s: expected '%s', got status %d: %s: %s", path, words, (int)status, error.file, error.message);
    }
    assert_null(archive);
    assert_int_equal(count_entries(temporary), 0);
}

// ---------------------------------------------------------------------------- reading

static void files_are_listed_read_and_unpacked(void** state)
{
    (void)state;
    const TestEntry entries[] = {{"modelDescription.xml", "<x/>", 0, 0},
                                 {"resources/", "", 0, 0},
                                 {"resources/data/run.sh", "#!/bin/sh\n", 0, (S_IFREG | 0755u) << 16},
                                 {"binaries/linux64/a.so", "bytes", 0, (S_IFREG | 0644u) << 16}};
    write_archive("good.fmu", entries, COUNT(entries));
    ItmArchive* a = NULL;
    ItmError error = {0};
    CHECK_OK(itm_archive_open(&a, "good.fmu", NULL, &error), &error);
    assert_int_equal(itm_archive_get_count(a), 3);
    assert_string_equal(itm_archive_get_file(a, 0)->name, "binaries/linux64/a.so");
    assert_int_equal(itm_archive_find(a, "nothing"), ITM_NONE);
    char* bytes = NULL;
    size_t length = 0;
    CHECK_OK(itm_archive_read(a, &bytes, &length, "binaries/linux64/a.so", 5, &error), &error);
    assert_int_equal(length, 5);
    assert_string_equal(bytes, "bytes");
    free(bytes);
    assert_int_equal(itm_archive_read(a, &bytes, &length, "binaries/linux64/a.so", 4, &error), ITM_ERR_INPUT);

    assert_int_equal(count_entries(temporary), 0);  // reading unpacks nothing
    const char* folder = NULL;
    CHECK_OK(itm_archive_unpack(a, &folder, &error), &error);
    char path[512];
    struct stat s;
    snprintf(path, sizeof path, "%s/resources/data/run.sh", folder);
    assert_int_equal(stat(path, &s), 0);
    assert_int_equal(s.st_mode & 0777, 0700);
    assert_int_equal(s.st_size, 10);
    assert_int_equal(stat(folder, &s), 0);
    assert_int_equal(s.st_mode & 0777, 0700);
    // what the FMU adds goes away as well
    snprintf(path, sizeof path, "%s/resources/log", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(symlink("/", "inside-link") == 0 || exists("inside-link"), 1);
    snprintf(path, sizeof path, "%s/resources/log/link", folder);
    assert_int_equal(symlink(temporary, path), 0);
    itm_archive_close(a);
    assert_int_equal(count_entries(temporary), 0);
    remove("inside-link");
    remove("good.fmu");
}

static void backslashes_are_separators(void** state)
{
    (void)state;
    const TestEntry entries[] = {{"binaries#linux64#a.so", "x", 0, 0}};
    write_archive("backslashes.fmu", entries, 1);
    assert_int_equal(patch_file("backslashes.fmu", "binaries#linux64#a.so", "binaries\\linux64\\a.so"), 2);
    ItmArchive* a = NULL;
    ItmError error = {0};
    CHECK_OK(itm_archive_open(&a, "backslashes.fmu", NULL, &error), &error);
    int index = itm_archive_find(a, "binaries/linux64/a.so");
    assert_int_equal(index, 0);
    assert_true(itm_archive_get_file(a, index)->had_backslashes);
    itm_archive_close(a);
    remove("backslashes.fmu");
}

static void a_folder_is_an_archive_and_stays(void** state)
{
    (void)state;
    mkdir("unpacked", 0700);
    mkdir("unpacked/resources", 0700);
    FILE* file = fopen("unpacked/resources/a.txt", "w");
    fputs("text", file);
    fclose(file);
    ItmArchive* a = NULL;
    ItmError error = {0};
    CHECK_OK(itm_archive_open(&a, "unpacked", NULL, &error), &error);
    char* bytes = NULL;
    size_t length = 0;
    const char* folder = NULL;
    CHECK_OK(itm_archive_read(a, &bytes, &length, "resources/a.txt", 100, &error), &error);
    assert_string_equal(bytes, "text");
    free(bytes);
    CHECK_OK(itm_archive_unpack(a, &folder, &error), &error);
    assert_int_equal(folder[0], '/');
    itm_archive_close(a);
    itm_archive_remove_all();
    assert_true(exists("unpacked/resources/a.txt"));
    assert_int_equal(symlink("/etc/passwd", "unpacked/link"), 0);
    refuse_with("unpacked", NULL, "symbolic link");
    remove("unpacked/link");
    remove("unpacked/resources/a.txt");
    rmdir("unpacked/resources");
    rmdir("unpacked");
}

// ---------------------------------------------------------------------------- hostile archives

static void names_that_leave_the_archive_are_refused(void** state)
{
    (void)state;
    static const char* const NAMES[][2] = {
        {"../../escape", "contains '..'"}, {"a/../../escape", "contains '..'"},  {"a\\..\\..\\escape", "contains '..'"},
        {"/tmp/escape", "absolute path"},  {"\\\\host\\share", "absolute path"}, {"C:\\escape.txt", "absolute path"},
        {"a/..", "contains '..'"},         {"new\nline", "control characters"}};
    for (int i = 0; i < COUNT(NAMES); i++) {
        char harmless[64];
        memset(harmless, '#', sizeof harmless);
        harmless[strlen(NAMES[i][0])] = '\0';
        const TestEntry entries[] = {{harmless, "x", 0, 0}};
        write_archive("slip.fmu", entries, 1);
        assert_int_equal(patch_file("slip.fmu", harmless, NAMES[i][0]), 2);
        refuse_with("slip.fmu", NULL, NAMES[i][1]);
    }
    remove("slip.fmu");
}

static void links_devices_duplicates_and_passwords_are_refused(void** state)
{
    (void)state;
    const TestEntry link[] = {{"resources/link", "/etc/passwd", 0, (S_IFLNK | 0777u) << 16}};
    write_archive("hostile.fmu", link, 1);
    refuse_with("hostile.fmu", NULL, "symbolic link");
    const TestEntry device[] = {{"resources/pipe", "", 0, (S_IFIFO | 0777u) << 16}};
    write_archive("hostile.fmu", device, 1);
    refuse_with("hostile.fmu", NULL, "neither a file nor a folder");
    const TestEntry two[] = {{"a.txt", "1", 0, 0}, {"b.txt", "2", 0, 0}};
    write_archive("hostile.fmu", two, 2);
    patch_file("hostile.fmu", "b.txt", "a.txt");
    refuse_with("hostile.fmu", NULL, "two files of this name with different content");
    const TestEntry same[] = {{"a.txt", "1", 0, 0}, {"b.txt", "1", 0, 0}};
    write_archive("hostile.fmu", same, 2);
    patch_file("hostile.fmu", "b.txt", "a.txt");
    ItmArchive* archive = NULL;
    ItmError error = {0};
    CHECK_OK(itm_archive_open(&archive, "hostile.fmu", NULL, &error), &error);
    assert_int_equal(itm_archive_get_count(archive), 1);
    itm_archive_close(archive);
    const TestEntry both[] = {{"a", "1", 0, 0}, {"a-b", "1", 0, 0}, {"a/b", "2", 0, 0}};
    write_archive("hostile.fmu", both, 3);
    refuse_with("hostile.fmu", NULL, "a file and a folder");
    write_archive("hostile.fmu", two, 1);
    int code = 0;
    zip_t* zip = zip_open("hostile.fmu", 0, &code);
    if (zip_file_set_encryption(zip, 0, ZIP_EM_AES_256, "secret") == 0) {
        assert_int_equal(zip_close(zip), 0);
        refuse_with("hostile.fmu", NULL, "encrypted");
    } else {
        zip_discard(zip);
    }
    remove("hostile.fmu");
}

static void bombs_are_refused_before_they_are_unpacked(void** state)
{
    (void)state;
    size_t size = 4u << 20;
    char* zeros = calloc(1, size);
    const TestEntry entries[] = {{"a", zeros, size, 0}, {"b", zeros, size, 0}, {"c", "x", 0, 0}};
    write_archive("bomb.fmu", entries, 3);
    free(zeros);
    ItmArchiveLimits limits = itm_default_archive_limits();
    limits.free = 1u << 20;
    refuse_with("bomb.fmu", &limits, "ZIP bomb");
    limits = itm_default_archive_limits();
    limits.file = size - 1;
    refuse_with("bomb.fmu", &limits, "the file is larger than 4 MB");
    limits.file = size;
    limits.total = size + 1;
    refuse_with("bomb.fmu", &limits, "the archive is larger than 4 MB");
    limits = itm_default_archive_limits();
    limits.files = 2;
    refuse_with("bomb.fmu", &limits, "more than 2 files");
    remove("bomb.fmu");
}

// A size in the directory that is too small must not let more bytes out.
static void a_wrong_size_is_damage(void** state)
{
    (void)state;
    char text[1024];
    memset(text, 'x', sizeof text);
    const TestEntry entries[] = {{"a.txt", text, sizeof text, 0}};
    write_archive("damaged.fmu", entries, 1);
    // 1024 = 00 04 00 00 after the packed size; 16 = 10 00 00 00
    FILE* file = fopen("damaged.fmu", "r+b");
    unsigned char bytes[4096];
    size_t n = fread(bytes, 1, sizeof bytes, file);
    int count = 0;
    for (size_t i = 0; i + 4 <= n; i++) {
        if (memcmp(bytes + i, "\x00\x04\x00\x00", 4) == 0) {
            memcpy(bytes + i, "\x10\x00\x00\x00", 4);
            count++;
        }
    }
    assert_true(count >= 1);
    rewind(file);
    fwrite(bytes, 1, n, file);
    fclose(file);
    ItmArchive* a = NULL;
    ItmError error = {0};
    char* content = NULL;
    size_t length = 0;
    const char* folder = NULL;
    CHECK_OK(itm_archive_open(&a, "damaged.fmu", NULL, &error), &error);
    assert_int_equal(itm_archive_read(a, &content, &length, "a.txt", 4096, &error), ITM_ERR_INPUT);
    assert_non_null(strstr(error.message, "damaged"));
    assert_int_equal(itm_archive_unpack(a, &folder, &error), ITM_ERR_IO);
    assert_int_equal(count_entries(temporary), 0);
    itm_archive_close(a);
    remove("damaged.fmu");
}

static void what_is_no_archive_is_named(void** state)
{
    (void)state;
    FILE* file = fopen("text.fmu", "w");
    fputs("this is text", file);
    fclose(file);
    refuse_with("text.fmu", NULL, "not a ZIP archive");
    remove("text.fmu");
    ItmArchive* a = NULL;
    ItmError error = {0};
    assert_int_equal(itm_archive_open(&a, "absent.fmu", NULL, &error), ITM_ERR_IO);
    assert_non_null(strstr(error.message, "absent.fmu"));
    assert_int_equal(itm_archive_open(&a, "/dev/null", NULL, &error), ITM_ERR_IO);
}

// ---------------------------------------------------------------------------- nothing is left

typedef enum Ending { ENDS_BY_EXIT, ENDS_BY_SIGNAL, ENDS_BY_KILL, CLOSES_IN_CHILD } Ending;

static void remove_and_die(int signal_number)
{
    itm_archive_remove_all();
    _exit(128 + signal_number);
}

// A process that unpacks an archive and ends.
static void run_process(Ending ending)
{
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        ItmArchive* a = NULL;
        const char* folder = NULL;
        if (itm_archive_open(&a, "left.fmu", NULL, NULL) != ITM_OK || itm_archive_unpack(a, &folder, NULL) != ITM_OK ||
            count_entries(temporary) != 1) {
            _exit(9);
        }
        char place[256];
        snprintf(place, sizeof place, "%s", folder);
        signal(SIGTERM, remove_and_die);
        if (write(ready[1], "x", 1) != 1) {
            _exit(9);
        }
        if (ending == ENDS_BY_EXIT) {
            exit(0);
        }
        if (ending == CLOSES_IN_CHILD) {
            // a forked process neither removes nor unlocks the folder of its parent
            pid_t grandchild = fork();
            if (grandchild == 0) {
                itm_archive_remove_all();
                itm_archive_close(a);
                _exit(exists(place) ? 0 : 9);
            }
            int status = 0;
            waitpid(grandchild, &status, 0);
            bool is_kept = exists(place) && status == 0;
            itm_archive_close(a);
            _exit(is_kept ? 0 : 9);
        }
        for (;;) {
            pause();
        }
    }
    char byte = 0;
    int status = 0;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    if (ending == ENDS_BY_KILL) {
        assert_int_equal(itm_archive_remove_stale(), 0);  // it lives
        assert_int_equal(count_entries(temporary), 1);
    }
    if (ending == ENDS_BY_SIGNAL || ending == ENDS_BY_KILL) {
        kill(child, ending == ENDS_BY_KILL ? SIGKILL : SIGTERM);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 9);
}

static void every_ending_of_a_process_removes_its_folder(void** state)
{
    (void)state;
    const TestEntry entries[] = {{"a/b/c.txt", "1", 0, 0}, {"a/d.txt", "2", 0, 0}};
    write_archive("left.fmu", entries, 2);
    run_process(ENDS_BY_EXIT);
    assert_int_equal(count_entries(temporary), 0);
    run_process(ENDS_BY_SIGNAL);
    assert_int_equal(count_entries(temporary), 0);
    run_process(CLOSES_IN_CHILD);
    assert_int_equal(count_entries(temporary), 0);
    run_process(ENDS_BY_KILL);
    assert_int_equal(count_entries(temporary), 1);  // nobody could
    assert_int_equal(itm_archive_remove_stale(), 1);
    assert_int_equal(count_entries(temporary), 0);
    remove("left.fmu");
}

static void many_archives_share_the_folder_of_the_process(void** state)
{
    (void)state;
    const TestEntry entries[] = {{"a.txt", "1", 0, 0}};
    write_archive("many.fmu", entries, 1);
    ItmArchive* archives[20] = {0};
    const char* folders[20];
    ItmError error = {0};
    for (int i = 0; i < 20; i++) {
        CHECK_OK(itm_archive_open(&archives[i], "many.fmu", NULL, &error), &error);
        CHECK_OK(itm_archive_unpack(archives[i], &folders[i], &error), &error);
    }
    assert_int_equal(count_entries(temporary), 1);
    for (int i = 0; i < 19; i++) {
        assert_true(exists(folders[i]));
        itm_archive_close(archives[i]);
    }
    assert_int_equal(count_entries(temporary), 1);
    itm_archive_close(archives[19]);
    assert_int_equal(count_entries(temporary), 0);
    remove("many.fmu");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_listed_read_and_unpacked),
        cmocka_unit_test(backslashes_are_separators),
        cmocka_unit_test(a_folder_is_an_archive_and_stays),
        cmocka_unit_test(names_that_leave_the_archive_are_refused),
        cmocka_unit_test(links_devices_duplicates_and_passwords_are_refused),
        cmocka_unit_test(bombs_are_refused_before_they_are_unpacked),
        cmocka_unit_test(a_wrong_size_is_damage),
        cmocka_unit_test(what_is_no_archive_is_named),
        cmocka_unit_test(every_ending_of_a_process_removes_its_folder),
        cmocka_unit_test(many_archives_share_the_folder_of_the_process),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
