// ZIP files made by the tests, with what ordinary tools refuse to write.
#ifndef ITM_TESTS_FMI_ARCHIVE_FILE_H
#define ITM_TESTS_FMI_ARCHIVE_FILE_H

#include "../check.h"

#include <zip.h>

typedef struct TestEntry {
    const char* name;
    const char* text;
    size_t size;          // 0: length of the text
    unsigned attributes;  // upper half: mode of Unix; 0: none
} TestEntry;

// Write a new archive with these entries. The texts must live until it is written.
static inline void write_archive(const char* path, const TestEntry* entries, int count)
{
    int code = 0;
    zip_t* zip = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, &code);
    assert_non_null(zip);
    for (int i = 0; i < count; i++) {
        size_t size = entries[i].size > 0 ? entries[i].size : strlen(entries[i].text);
        zip_source_t* source = zip_source_buffer(zip, entries[i].text, size, 0);
        assert_non_null(source);
        zip_int64_t index = zip_file_add(zip, entries[i].name, source, ZIP_FL_ENC_UTF_8);
        assert_true(index >= 0);
        if (entries[i].attributes != 0) {
            assert_int_equal(
                zip_file_set_external_attributes(zip, (zip_uint64_t)index, 0, ZIP_OPSYS_UNIX, entries[i].attributes),
                0);
        }
    }
    assert_int_equal(zip_close(zip), 0);
}

// Replace bytes everywhere in a file by others of the same length: names that libzip does not write. The number of places.
static inline int patch_file(const char* path, const char* from, const char* to)
{
    FILE* file = fopen(path, "r+b");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file), length = strlen(from);
    char* bytes = malloc(size);
    rewind(file);
    assert_int_equal(fread(bytes, 1, size, file), size);
    int count = 0;
    for (size_t i = 0; i + length <= size; i++) {
        if (memcmp(bytes + i, from, length) == 0) {
            memcpy(bytes + i, to, length);
            count++;
        }
    }
    rewind(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    free(bytes);
    return count;
}

#endif
