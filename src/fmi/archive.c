#define _DEFAULT_SOURCE  // S_IFMT and its values
#include "fmi/archive_private.h"

#include "base/error.h"
#include "base/utf8.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LONGEST_NAME 1024  // bytes of a name inside the archive
#define DEEPEST 32         // folders inside one another

ItmArchiveLimits itm_default_archive_limits(void)
{
    // deflate reaches 1032 : 1; real FMUs reach 30 : 1 in all
    return (ItmArchiveLimits){
        .files = 100000, .total = 8ull << 30, .file = 4ull << 30, .ratio = 200.0, .free = 64ull << 20};
}

// ITM_ERR_INPUT about one file of the archive, located as "model.fmu!name".
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
static ItmStatus
refuse(const ItmArchive* a, const char* name, ItmError* error, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    itm_error_set_list(error, ITM_ERR_INPUT, "itm_archive_open", NULL, format, arguments);
    va_end(arguments);
    char where[256];
    // a hostile name may hold anything
    size_t good = itm_utf8_check(name, strlen(name));
    snprintf(where, sizeof where, "%s%s%.*s%s", a->path, name[0] != '\0' ? "!" : "", (int)(good < 100 ? good : 100),
             name, name[good] != '\0' || good > 100 ? "..." : "");
    itm_error_locate(error, where, 0, 0);
    return ITM_ERR_INPUT;
}

static ItmStatus fail_memory(ItmError* error)
{
    return itm_error_set(error, ITM_ERR_MEMORY, "itm_archive_open", NULL, "out of memory");
}

// ---------------------------------------------------------------------------- names

// Drive letters ("C:x") are absolute elsewhere.
static bool is_absolute(const char* name)
{
    bool is_letter = (name[0] >= 'A' && name[0] <= 'Z') || (name[0] >= 'a' && name[0] <= 'z');
    return name[0] == '/' || (is_letter && name[1] == ':');
}

// Copy a name with "/" as separator and without "." and empty components. Refuses every name that leads out of the archive.
static ItmStatus clean_name(const ItmArchive* a, char* clean, const char* name, bool* had_backslashes, ItmError* error)
{
    size_t length = strlen(name);
    if (length > LONGEST_NAME || itm_utf8_check(name, length) != length || strpbrk(name, "\n\r\t") != NULL) {
        return refuse(a, name, error,
                      "a name inside the archive is longer than %d bytes, or has control characters or bytes that are "
                      "not UTF-8; pack the archive again with plain names",
                      LONGEST_NAME);
    }
    char copy[LONGEST_NAME + 1];
    *had_backslashes = false;
    for (size_t i = 0; i <= length; i++) {
        copy[i] = name[i] == '\\' ? '/' : name[i];
        *had_backslashes = *had_backslashes || name[i] == '\\';
    }
    if (is_absolute(copy)) {
        return refuse(a, name, error, "the name is an absolute path; it would be unpacked outside its folder");
    }
    size_t used = 0;
    int depth = 0;
    for (const char* at = copy; *at != '\0';) {
        size_t n = strcspn(at, "/");
        if (n == 2 && at[0] == '.' && at[1] == '.') {
            return refuse(a, name, error, "the name contains '..'; it would be unpacked outside its folder");
        }
        if (n > NAME_MAX || depth > DEEPEST) {
            return refuse(a, name, error, "the name has a part of more than %d bytes or more than %d folders", NAME_MAX,
                          DEEPEST);
        }
        if (n > 0 && !(n == 1 && at[0] == '.')) {
            used += (size_t)sprintf(clean + used, "%s%.*s", used > 0 ? "/" : "", (int)n, at);
            depth++;
        }
        at += n + (at[n] == '/');
    }
    clean[used] = '\0';
    return ITM_OK;
}

static ItmStatus add_file(ItmArchive* a, const ItmArchiveEntry* entry, const char* name, ItmError* error)
{
    ItmArchiveEntry e = *entry;
    e.file.name = itm_owned_copy_string(&a->owned, name);
    if (e.file.name == NULL || !ITM_LIST_APPEND(a->entries, e)) {
        return fail_memory(error);
    }
    return ITM_OK;
}

static int compare_entries(const void* x, const void* y)
{
    const ItmArchiveEntry *a = x, *b = y;
    return strcmp(a->file.name, b->file.name);
}

// Two files of one name: the same content twice is harmless, and the second is left out; otherwise readers could disagree on
// which one counts.
static ItmStatus drop_duplicates(ItmArchive* a, ItmError* error)
{
    int n = 0;
    for (int i = 0; i < a->entries.count; i++) {
        const ItmArchiveEntry *last = n > 0 ? &a->entries.items[n - 1] : NULL, *e = &a->entries.items[i];
        if (last == NULL || strcmp(last->file.name, e->file.name) != 0) {
            a->entries.items[n++] = *e;
        } else if (last->file.size != e->file.size || last->checksum != e->checksum) {
            return refuse(
                a, e->file.name, error,
                "the archive has two files of this name with different content; which one is meant is unknown");
        }
    }
    a->entries.count = n;
    return ITM_OK;
}

// Sort the files, and refuse a file that is also a folder of others.
static ItmStatus sort_files(ItmArchive* a, ItmError* error)
{
    if (a->entries.count > 0) {
        qsort(a->entries.items, (size_t)a->entries.count, sizeof *a->entries.items, compare_entries);
    }
    ItmStatus status = drop_duplicates(a, error);
    if (status != ITM_OK) {
        return status;
    }
    // "a" and "a/b" need not be neighbours ("a-b" is between them): look every folder up
    for (int i = 0; i < a->entries.count; i++) {
        char folder[LONGEST_NAME + 1];
        snprintf(folder, sizeof folder, "%s", a->entries.items[i].file.name);
        for (char* slash = strrchr(folder, '/'); slash != NULL; slash = strrchr(folder, '/')) {
            *slash = '\0';
            if (itm_archive_find(a, folder) != ITM_NONE) {
                return refuse(a, folder, error, "the archive has a file and a folder of this name");
            }
        }
    }
    return ITM_OK;
}

static ItmStatus check_count(const ItmArchive* a, int64_t count, ItmError* error)
{
    if (count > a->limits.files) {
        return refuse(a, "", error, "the archive has more than %d files", a->limits.files);
    }
    return ITM_OK;
}

// ---------------------------------------------------------------------------- ZIP files

static ItmStatus check_entry_kind(const ItmArchive* a, zip_uint64_t index, const char* name, const zip_stat_t* s,
                                  zip_uint32_t* mode, ItmError* error)
{
    zip_uint8_t system = 0;
    zip_uint32_t attributes = 0;
    *mode = 0;
    if (zip_file_get_external_attributes(a->zip, index, 0, &system, &attributes) == 0 && system == ZIP_OPSYS_UNIX) {
        *mode = attributes >> 16;
    }
    zip_uint32_t kind = *mode & S_IFMT;
    if (kind == S_IFLNK) {
        return refuse(a, name, error, "the file is a symbolic link; links in archives are refused");
    }
    if (kind != 0 && kind != S_IFREG && kind != S_IFDIR) {
        return refuse(a, name, error, "the entry is neither a file nor a folder");
    }
    if ((s->valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 && s->encryption_method != ZIP_EM_NONE) {
        return refuse(a, name, error, "the file is encrypted; unpack the archive with its password and use the folder");
    }
    if ((s->valid & ZIP_STAT_COMP_METHOD) != 0 && !zip_compression_method_supported(s->comp_method, 0)) {
        return refuse(a, name, error,
                      "the file is compressed with method %d, which libzip here does not support; pack it with deflate",
                      (int)s->comp_method);
    }
    return ITM_OK;
}

static ItmStatus add_size(ItmArchive* a, const char* name, const zip_stat_t* s, ItmError* error)
{
    if ((s->valid & ZIP_STAT_SIZE) == 0 || s->size > a->limits.file) {
        return refuse(a, name, error, "the file is larger than %.3g MB unpacked", (double)a->limits.file / 1048576.0);
    }
    a->total += s->size;
    if (a->total > a->limits.total) {
        return refuse(a, name, error, "the archive is larger than %.3g MB unpacked",
                      (double)a->limits.total / 1048576.0);
    }
    if (a->total > a->limits.free && (double)a->total > a->limits.ratio * (double)a->size) {
        return refuse(a, name, error, "the archive unpacks to more than %g times its size; it looks like a ZIP bomb",
                      a->limits.ratio);
    }
    return ITM_OK;
}

static ItmStatus list_entry(ItmArchive* a, zip_uint64_t index, ItmError* error)
{
    zip_stat_t s;
    zip_stat_init(&s);
    const char* name = zip_get_name(a->zip, index, ZIP_FL_ENC_GUESS);
    if (name == NULL || zip_stat_index(a->zip, index, 0, &s) != 0) {
        return refuse(a, "", error, "the archive is damaged: entry %llu cannot be read", (unsigned long long)index);
    }
    char clean[LONGEST_NAME + 1];
    ItmArchiveEntry entry = {.index = index};
    ItmStatus status = clean_name(a, clean, name, &entry.file.had_backslashes, error);
    zip_uint32_t mode = 0;
    if (status == ITM_OK) {
        status = check_entry_kind(a, index, name, &s, &mode, error);
    }
    size_t n = strlen(name);
    bool is_folder =
        n == 0 || name[n - 1] == '/' || name[n - 1] == '\\' || (mode & S_IFMT) == S_IFDIR || clean[0] == '\0';
    if (status != ITM_OK || is_folder) {
        return status;
    }
    entry.file.size = s.size;
    entry.checksum = s.crc;
    entry.is_executable = (mode & S_IXUSR) != 0;
    status = add_size(a, name, &s, error);
    return status == ITM_OK ? add_file(a, &entry, clean, error) : status;
}

static ItmStatus list_zip(ItmArchive* a, ItmError* error)
{
    zip_int64_t n = zip_get_num_entries(a->zip, 0);
    ItmStatus status = check_count(a, n, error);
    for (zip_int64_t i = 0; i < n && status == ITM_OK; i++) {
        status = list_entry(a, (zip_uint64_t)i, error);
    }
    return status;
}

// Open a source; libzip frees it with the archive.
static ItmStatus open_zip(ItmArchive* a, zip_source_t* source, zip_error_t* why, ItmError* error)
{
    a->zip = source != NULL ? zip_open_from_source(source, ZIP_RDONLY, why) : NULL;
    if (a->zip != NULL) {
        return list_zip(a, error);
    }
    if (source != NULL) {
        zip_source_free(source);
    }
    if (zip_error_system_type(why) == ZIP_ET_SYS && zip_error_code_zip(why) != ZIP_ER_NOZIP) {
        return itm_error_set(error, ITM_ERR_IO, "itm_archive_open", NULL, "%s: %s", a->path,
                             strerror(zip_error_code_system(why)));
    }
    return refuse(a, "", error,
                  "this is not a ZIP archive that can be read (%s); an FMU or SSP is a ZIP file or a folder",
                  zip_error_strerror(why));
}

// ---------------------------------------------------------------------------- folders

static ItmStatus list_folder(ItmArchive* a, const char* inside, int depth, ItmError* error);

static ItmStatus list_member(ItmArchive* a, const char* name, int depth, ItmError* error)
{
    struct stat s;
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/%s", a->path, name);
    if (n < 0 || n >= (int)sizeof path || strlen(name) > LONGEST_NAME || lstat(path, &s) != 0) {
        return refuse(a, name, error, "the file cannot be read");
    }
    if (S_ISLNK(s.st_mode)) {
        return refuse(a, name, error, "the file is a symbolic link; replace it by the file itself");
    }
    if (S_ISDIR(s.st_mode)) {
        return list_folder(a, name, depth + 1, error);
    }
    if (!S_ISREG(s.st_mode)) {
        return refuse(a, name, error, "the entry is neither a file nor a folder");
    }
    ItmArchiveEntry entry = {.file.size = (uint64_t)s.st_size};
    a->size += entry.file.size;
    a->total = a->size;
    return add_file(a, &entry, name, error);
}

static ItmStatus list_folder(ItmArchive* a, const char* inside, int depth, ItmError* error)
{
    char path[PATH_MAX], name[LONGEST_NAME + NAME_MAX + 2];
    int n = snprintf(path, sizeof path, "%s/%s", a->path, inside);
    DIR* folder = n > 0 && n < (int)sizeof path && depth <= DEEPEST ? opendir(path) : NULL;
    if (folder == NULL) {
        return refuse(a, inside, error, "the folder cannot be read, or is more than %d folders deep", DEEPEST);
    }
    ItmStatus status = ITM_OK;
    for (const struct dirent* e = readdir(folder); e != NULL && status == ITM_OK; e = readdir(folder)) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) {
            continue;
        }
        snprintf(name, sizeof name, "%s%s%s", inside, inside[0] != '\0' ? "/" : "", e->d_name);
        status = list_member(a, name, depth, error);
        if (status == ITM_OK) {
            status = check_count(a, a->entries.count, error);
        }
    }
    closedir(folder);
    return status;
}

// ---------------------------------------------------------------------------- opening

static ItmArchive* create(const char* path, const ItmArchiveLimits* limits)
{
    ItmArchive* a = calloc(1, sizeof *a);
    if (a == NULL) {
        return NULL;
    }
    a->limits = limits != NULL ? *limits : itm_default_archive_limits();
    a->path = strdup(path);
    if (a->path == NULL) {
        free(a);
        return NULL;
    }
    return a;
}

static ItmStatus finish_open(ItmArchive** archive, ItmArchive* a, ItmStatus status, ItmError* error)
{
    if (status == ITM_OK) {
        status = sort_files(a, error);
    }
    if (status != ITM_OK) {
        itm_archive_close(a);
        return status;
    }
    *archive = a;
    return ITM_OK;
}

ItmStatus itm_archive_open(ItmArchive** archive, const char* path, const ItmArchiveLimits* limits, ItmError* error)
{
    *archive = NULL;
    struct stat s;
    if (stat(path, &s) != 0) {
        return itm_error_set(error, ITM_ERR_IO, __func__, NULL, "%s: %s", path, strerror(errno));
    }
    if (!S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode)) {
        return itm_error_set(error, ITM_ERR_IO, __func__, NULL, "%s: this is neither a file nor a folder", path);
    }
    ItmArchive* a = create(path, limits);
    if (a == NULL) {
        return fail_memory(error);
    }
    a->is_folder = S_ISDIR(s.st_mode);
    if (a->is_folder) {
        return finish_open(archive, a, list_folder(a, "", 0, error), error);
    }
    a->size = (uint64_t)s.st_size;
    zip_error_t why;
    zip_error_init(&why);
    ItmStatus status = open_zip(a, zip_source_file_create(path, 0, -1, &why), &why, error);
    zip_error_fini(&why);
    return finish_open(archive, a, status, error);
}

ItmStatus itm_archive_open_bytes(ItmArchive** archive, const void* bytes, size_t length, const char* name,
                                 const ItmArchiveLimits* limits, ItmError* error)
{
    *archive = NULL;
    ItmArchive* a = create(name, limits);
    if (a == NULL) {
        return fail_memory(error);
    }
    a->size = length;
    zip_error_t why;
    zip_error_init(&why);
    ItmStatus status = open_zip(a, zip_source_buffer_create(bytes, length, 0, &why), &why, error);
    zip_error_fini(&why);
    return finish_open(archive, a, status, error);
}

void itm_archive_close(ItmArchive* a)
{
    if (a == NULL) {
        return;
    }
    itm_archive_release_folder(a);
    if (a->zip != NULL) {
        zip_discard(a->zip);
    }
    free(a->entries.items);
    itm_owned_free(&a->owned);
    free(a->path);
    free(a);
}

// ---------------------------------------------------------------------------- reading

const char* itm_archive_get_path(const ItmArchive* archive)
{
    return archive->path;
}

uint64_t itm_archive_get_size(const ItmArchive* archive)
{
    return archive->size;
}

bool itm_archive_is_folder(const ItmArchive* archive)
{
    return archive->is_folder;
}

int itm_archive_get_count(const ItmArchive* archive)
{
    return archive->entries.count;
}

const ItmArchiveFile* itm_archive_get_file(const ItmArchive* archive, int index)
{
    return &archive->entries.items[index].file;
}

int itm_archive_find(const ItmArchive* archive, const char* name)
{
    if (archive->entries.count == 0) {
        return ITM_NONE;
    }
    ItmArchiveEntry key = {.file.name = name};
    const ItmArchiveEntry* found = bsearch(&key, archive->entries.items, (size_t)archive->entries.count,
                                           sizeof *archive->entries.items, compare_entries);
    return found != NULL ? (int)(found - archive->entries.items) : ITM_NONE;
}

// The file's bytes from the ZIP, exactly as many as it declares.
static ItmStatus read_zipped(ItmArchive* a, const ItmArchiveEntry* e, char* bytes, ItmError* error)
{
    zip_file_t* file = zip_fopen_index(a->zip, e->index, 0);
    if (file == NULL) {
        return refuse(a, e->file.name, error, "the file cannot be unpacked (%s)", zip_strerror(a->zip));
    }
    uint64_t done = 0;
    zip_int64_t n = 1;
    while (done < e->file.size && n > 0) {
        n = zip_fread(file, bytes + done, e->file.size - done);
        done += n > 0 ? (uint64_t)n : 0;
    }
    // the checksum is verified when the end is read
    char more = 0;
    n = n >= 0 ? zip_fread(file, &more, 1) : n;
    ItmStatus status = ITM_OK;
    if (n != 0 || done != e->file.size) {
        status =
            refuse(a, e->file.name, error, "the file is damaged (%s)",
                   n > 0 ? "it is longer than the archive declares" : zip_error_strerror(zip_file_get_error(file)));
    }
    zip_fclose(file);
    return status;
}

static ItmStatus read_plain(ItmArchive* a, const ItmArchiveEntry* e, char* bytes, ItmError* error)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", a->path, e->file.name);
    FILE* file = fopen(path, "rb");
    size_t n = file != NULL ? fread(bytes, 1, e->file.size, file) : 0;
    if (file != NULL) {
        fclose(file);
    }
    return n == e->file.size ? ITM_OK : refuse(a, e->file.name, error, "the file cannot be read, or has changed");
}

ItmStatus itm_archive_read(ItmArchive* archive, char** bytes, size_t* length, const char* name, size_t most,
                           ItmError* error)
{
    *bytes = NULL;
    *length = 0;
    int index = itm_archive_find(archive, name);
    if (index == ITM_NONE) {
        return refuse(archive, name, error, "the archive has no such file");
    }
    const ItmArchiveEntry* e = &archive->entries.items[index];
    if (e->file.size > most) {
        return refuse(archive, name, error, "the file is larger than %.3g MB", (double)most / 1048576.0);
    }
    char* buffer = malloc(e->file.size + 1);
    if (buffer == NULL) {
        return fail_memory(error);
    }
    ItmStatus status =
        archive->is_folder ? read_plain(archive, e, buffer, error) : read_zipped(archive, e, buffer, error);
    if (status != ITM_OK) {
        free(buffer);
        return status;
    }
    buffer[e->file.size] = '\0';
    *bytes = buffer;
    *length = e->file.size;
    return ITM_OK;
}
