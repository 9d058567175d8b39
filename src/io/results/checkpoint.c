#define _DEFAULT_SOURCE  // fsync, ftruncate
#include "io/results/checkpoint.h"

#include "base/error.h"
#include "io/bytes.h"
#include "io/results/results.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---------------------------------------------------------------------------- writing

ItmCheckpointHead itm_checkpoint_make_head(void)
{
    ItmCheckpointHead head;
    memset(&head, 0, sizeof head);  // padding too
    memcpy(head.magic, ITM_CHECKPOINT_MAGIC, sizeof ITM_CHECKPOINT_MAGIC);
    snprintf(head.version, sizeof head.version, "%s", itm_version());
    snprintf(head.commit, sizeof head.commit, "%s", itm_commit());
    return head;
}

static char* append_name(const char* path, const char* ending)
{
    size_t size = strlen(path) + strlen(ending) + 1;
    char* name = malloc(size);
    if (name != NULL) {
        snprintf(name, size, "%s%s", path, ending);
    }
    return name;
}

// The new name must be on the disk before rows after it may be truncated.
static void sync_folder(const char* path)
{
    const char* slash = strrchr(path, '/');
    char* folder = slash != NULL ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    int file = folder != NULL ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (file >= 0) {
        fsync(file);
        close(file);
    }
    free(folder);
}

static bool write_all(FILE* file, const ItmCheckpointHead* head, const void* const parts[ITM_CHECKPOINT_PARTS])
{
    ItmSha256 sha;
    unsigned char digest[ITM_SHA256_BYTES];
    itm_sha256_init(&sha);
    itm_sha256_add(&sha, head, sizeof *head);
    bool is_written = fwrite(head, sizeof *head, 1, file) == 1;
    for (int i = 0; i < ITM_CHECKPOINT_PARTS && is_written; i++) {
        size_t size = (size_t)head->sizes[i];
        is_written = size == 0 || fwrite(parts[i], size, 1, file) == 1;
        itm_sha256_add(&sha, parts[i], size);
    }
    itm_sha256_get(&sha, digest);
    is_written = is_written && fwrite(digest, sizeof digest, 1, file) == 1 && fflush(file) == 0;
    return is_written && fsync(fileno(file)) == 0;
}

ItmStatus itm_checkpoint_write(const char* path, const ItmCheckpointHead* head,
                               const void* const parts[ITM_CHECKPOINT_PARTS], ItmError* error)
{
    char* aside = append_name(path, ".part");
    FILE* file = aside != NULL ? itm_bytes_open(aside, "wb") : NULL;
    bool is_written = file != NULL && write_all(file, head, parts);
    int code = errno;
    if (file != NULL && fclose(file) != 0 && is_written) {
        is_written = false;
        code = errno;
    }
    ItmStatus status = is_written      ? itm_results_rename(aside, path, error)
                       : aside == NULL ? itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "out of memory")
                                       : itm_results_fail_io(error, __func__, "write", aside, code);
    if (status == ITM_OK) {
        sync_folder(path);
    } else if (file != NULL) {
        unlink(aside);
    }
    free(aside);
    return status;
}

// ---------------------------------------------------------------------------- reading

static ItmStatus refuse(const char* path, ItmError* error, const char* why)
{
    ItmStatus status = itm_error_set(error, ITM_ERR_INPUT, "itm_run_create", NULL, "the checkpoint '%s' %s", path, why);
    itm_error_locate(error, path, 0, 0);
    return status;
}

// Whether the digest at the end is that of the bytes before it.
static bool is_whole(const char* bytes, size_t length)
{
    ItmSha256 sha;
    unsigned char digest[ITM_SHA256_BYTES];
    itm_sha256_init(&sha);
    itm_sha256_add(&sha, bytes, length - ITM_SHA256_BYTES);
    itm_sha256_get(&sha, digest);
    return memcmp(digest, bytes + length - ITM_SHA256_BYTES, ITM_SHA256_BYTES) == 0;
}

static ItmStatus parse_parts(ItmCheckpoint* c, const char* bytes, size_t length, const char* path, ItmError* error)
{
    const char* at = bytes + sizeof c->head;
    size_t left = length - sizeof c->head - ITM_SHA256_BYTES;
    for (int i = 0; i < ITM_CHECKPOINT_PARTS; i++) {
        int64_t size = c->head.sizes[i];
        if (size < 0 || (uint64_t)size > left) {
            return refuse(path, error, "is damaged");
        }
        c->parts[i] = at;
        at += size;
        left -= (size_t)size;
    }
    return left == 0 ? ITM_OK : refuse(path, error, "is damaged");
}

ItmStatus itm_checkpoint_parse(ItmCheckpoint* c, const char* bytes, size_t length, const char* path, ItmError* error)
{
    memset(c, 0, sizeof *c);
    size_t magic = strlen("interim-checkpoint ");
    if (length < magic || memcmp(bytes, ITM_CHECKPOINT_MAGIC, magic) != 0) {
        return refuse(path, error, "is not a checkpoint of Interim");
    }
    if (length < sizeof c->head + ITM_SHA256_BYTES) {
        return refuse(path, error, "is damaged");
    }
    memcpy(&c->head, bytes, sizeof c->head);
    if (memcmp(c->head.magic, ITM_CHECKPOINT_MAGIC, sizeof ITM_CHECKPOINT_MAGIC) != 0) {
        return refuse(path, error, "has a format of another version of Interim; start the run again");
    }
    if (!is_whole(bytes, length)) {
        return refuse(path, error, "is damaged");
    }
    // texts of strangers may have no end
    c->head.version[sizeof c->head.version - 1] = c->head.commit[sizeof c->head.commit - 1] = '\0';
    c->head.model[sizeof c->head.model - 1] = '\0';
    ItmCheckpointHead own = itm_checkpoint_make_head();
    if (strcmp(c->head.version, own.version) != 0 || strcmp(c->head.commit, own.commit) != 0) {
        char why[256];
        snprintf(why, sizeof why,
                 "was written by Interim %.20s (%.36s), this is %.20s (%.36s); only the same build continues bit for "
                 "bit: use that, or start the run again",
                 c->head.version, c->head.commit, own.version, own.commit);
        return refuse(path, error, why);
    }
    return parse_parts(c, bytes, length, path, error);
}

// ---------------------------------------------------------------------------- rows

static ItmStatus fail_rows(const ItmCheckpointRows* rows, const char* verb, int code, ItmError* error)
{
    return itm_results_fail_io(error, "itm_run_create", verb, rows->path, code);
}

static ItmStatus open_rows(ItmCheckpointRows* rows, const char* checkpoint, size_t width, const char* mode,
                           ItmError* error)
{
    *rows = (ItmCheckpointRows){.path = append_name(checkpoint, ".rows"), .width = width};
    if (rows->path == NULL) {
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
    }
    itm_sha256_init(&rows->sha);
    ItmStatus status = itm_lock_take(&rows->lock, rows->path, error);
    if (status != ITM_OK) {
        return status;
    }
    rows->file = itm_bytes_open(rows->path, mode);
    return rows->file != NULL ? ITM_OK : fail_rows(rows, mode[0] == 'w' ? "write" : "read", errno, error);
}

ItmStatus itm_checkpoint_rows_open(ItmCheckpointRows* rows, const char* checkpoint, size_t width, ItmError* error)
{
    return open_rows(rows, checkpoint, width, "wb", error);
}

// All rows of the checkpoint, one by one.
static ItmStatus visit_rows(ItmCheckpointRows* rows, int64_t nrow, ItmCheckpointVisit* visit, void* context,
                            ItmError* error)
{
    double* row = malloc(sizeof *row * rows->width);
    ItmStatus status =
        row != NULL ? ITM_OK : itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "no memory for a row");
    for (int64_t i = 0; i < nrow && status == ITM_OK; i++) {
        bool is_read = fread(row, sizeof *row, rows->width, rows->file) == rows->width;
        status = is_read ? visit(context, row)
                         : itm_error_set(error, ITM_ERR_INPUT, __func__, NULL,
                                         "'%s' has %lld of the %lld rows of its checkpoint", rows->path, (long long)i,
                                         (long long)nrow);
    }
    free(row);
    return status;
}

static ItmStatus hash_row(void* context, const double* row)
{
    ItmCheckpointRows* rows = context;
    itm_sha256_add(&rows->sha, row, sizeof *row * rows->width);
    return ITM_OK;
}

ItmStatus itm_checkpoint_rows_resume(ItmCheckpointRows* rows, const char* checkpoint, size_t width,
                                     const ItmCheckpointHead* head, ItmError* error)
{
    ItmStatus status = open_rows(rows, checkpoint, width, "r+b", error);
    status = status == ITM_OK ? visit_rows(rows, head->nrow, hash_row, rows, error) : status;
    unsigned char digest[ITM_SHA256_BYTES];
    itm_sha256_get(&rows->sha, digest);
    if (status == ITM_OK && memcmp(digest, head->rows, sizeof digest) != 0) {
        status = itm_error_set(error, ITM_ERR_INPUT, __func__, NULL,
                               "'%s' is damaged: its rows are not those of the checkpoint", rows->path);
    }
    return status;
}

ItmStatus itm_checkpoint_rows_replay(ItmCheckpointRows* rows, int64_t nrow, ItmCheckpointVisit* visit, void* context,
                                     ItmError* error)
{
    rewind(rows->file);
    ItmStatus status = visit_rows(rows, nrow, visit, context, error);
    // later rows go; a stream may change from reading to writing after fseek only
    if (status == ITM_OK &&
        (fseek(rows->file, 0, SEEK_CUR) != 0 ||
         ftruncate(fileno(rows->file), (off_t)((size_t)nrow * rows->width * sizeof(double))) != 0)) {
        status = fail_rows(rows, "write", errno, error);
    }
    return status;
}

ItmStatus itm_checkpoint_rows_append(ItmCheckpointRows* rows, const double* row, ItmError* error)
{
    itm_sha256_add(&rows->sha, row, sizeof *row * rows->width);
    return fwrite(row, sizeof *row, rows->width, rows->file) == rows->width ? ITM_OK
                                                                            : fail_rows(rows, "write", errno, error);
}

ItmStatus itm_checkpoint_rows_sync(ItmCheckpointRows* rows, ItmError* error)
{
    return fflush(rows->file) == 0 && fsync(fileno(rows->file)) == 0 ? ITM_OK : fail_rows(rows, "write", errno, error);
}

void itm_checkpoint_rows_close(ItmCheckpointRows* rows, const char* checkpoint, bool is_removed)
{
    if (rows->file != NULL) {
        fclose(rows->file);
        if (is_removed) {
            unlink(checkpoint);  // first: without rows it would be worth nothing
            unlink(rows->path);
        }
    }
    itm_lock_release(&rows->lock);
    free(rows->path);
    *rows = (ItmCheckpointRows){0};
}
