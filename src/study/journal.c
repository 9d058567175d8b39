// The journal of a study: its signature, then the outcome of one run per line, each in the hands of the system at once.
#include "study/study.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/guard.h"
#include "interim/file.h"
#include "io/bytes.h"
#include "io/json.h"
#include "io/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SYNC_PERIOD 1.0  // s of wall time between two fdatasync: a power failure loses no more

static ItmStatus fail_file(ItmError* error, const char* path, const char* what)
{
    return itm_error_set(error, ITM_ERR_IO, "itm_study_open_journal", NULL, "cannot %s '%s': %s", what, path,
                         strerror(errno));
}

// The text of a journal; NULL: *error holds the reason. A pipe or device of its name is refused, for reading would wait for ever.
static char* read_text(const char* path, size_t* size, ItmError* error)
{
    const char* why = NULL;
    char* text = itm_bytes_read(path, SIZE_MAX, size, &why);
    if (text == NULL) {
        itm_error_set(error, ITM_ERR_IO, "itm_study_read_journal", NULL, "cannot read '%s': %s", path, why);
    }
    return text;
}

static bool write_line(int descriptor, const char* text)
{
    // one call, so that lines are whole also where the process dies between two
    size_t length = strlen(text);
    char* line = malloc(length + 2);
    if (line == NULL) {
        errno = ENOMEM;
        return false;
    }
    memcpy(line, text, length);
    line[length] = '\n';
    size_t done = 0;
    while (done <= length) {
        ssize_t written = write(descriptor, line + done, length + 1 - done);
        if (written < 0 && errno != EINTR) {
            break;
        }
        done += written > 0 ? (size_t)written : 0;
    }
    free(line);
    return done == length + 1;
}

// ---------------------------------------------------------------------------- reading

static bool is_repetition(const char* line)
{
    return strncmp(line, "{\"repeated\":", 12) == 0;
}

static void count_repetition(ItmStudy* s, const char* line)
{
    long run = strtol(line + 12, NULL, 10);
    if (run >= 1 && run <= s->nrun + s->nreference) {
        s->runs[run - 1].nattempt++;
    }
}

// Take over the whole lines; *end is the offset behind the last one.
static ItmStatus take_lines(ItmStudy* s, char* text, const char* path, size_t* end, ItmError* error)
{
    char* line = text;
    ItmStatus status = ITM_OK;
    *end = 0;
    for (int number = 1; status == ITM_OK; number++) {
        char* stop = strchr(line, '\n');
        if (stop == NULL) {
            return number > 1 ? ITM_OK
                              : itm_error_set(error, ITM_ERR_INPUT, "itm_study_open_journal", NULL,
                                              "'%s' is no journal of a study", path);
        }
        *stop = '\0';
        if (number == 1 && strcmp(line, s->signature) != 0) {
            return itm_error_set(
                error, ITM_ERR_INPUT, "itm_study_open_journal", NULL,
                "'%s' belongs to another study: model, study or options have changed since; remove it, or give "
                "another name with -o",
                path);
        }
        if (number > 1 && is_repetition(line)) {
            count_repetition(s, line);
        } else if (number > 1) {
            status = itm_study_read_run(s, line, NULL, error);
            itm_error_locate(status == ITM_OK ? NULL : error, path, number, 1);
        }
        line = stop + 1;
        *end = (size_t)(line - text);
    }
    return status;
}

// size: of the file; end: as above.
static ItmStatus read_journal(ItmStudy* s, const char* path, size_t* size, size_t* end, ItmError* error)
{
    char* text = read_text(path, size, error);
    if (text == NULL) {
        return ITM_ERR_IO;
    }
    ItmStatus status = take_lines(s, text, path, end, error);
    free(text);
    return status;
}

ItmStatus itm_study_read_journal(ItmStudy* s, const char* path, ItmError* error)
{
    ITM_GUARD(s != NULL && path != NULL && s->is_prepared, ITM_ERR_ARGUMENT);
    size_t size, end;
    return read_journal(s, path, &size, &end, error);
}

// ---------------------------------------------------------------------------- writing

// One study per journal. A record lock, which children do not inherit: it ends with this process, also by kill -9, and --resume can
// follow at once. A file system without locks is no reason to stop.
static ItmStatus lock_journal(int descriptor, const char* path, ItmError* error)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(descriptor, F_SETLK, &lock) == 0 || (errno != EACCES && errno != EAGAIN)) {
        return ITM_OK;
    }
    char who[48] = "";
    if (fcntl(descriptor, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK && lock.l_pid > 0) {
        snprintf(who, sizeof who, " (process %ld)", (long)lock.l_pid);
    }
    return itm_error_set(error, ITM_ERR_IO, "itm_study_open_journal", "path",
                         "another study%s is writing '%s'; wait for it, or choose another output", who, path);
}

ItmStatus itm_study_open_journal(ItmStudy* s, const char* path, bool resume, ItmError* error)
{
    ITM_GUARD(s != NULL && path != NULL && s->is_prepared && s->journal < 0, ITM_ERR_ARGUMENT);
    size_t size = 0, end = 0;
    struct stat info;
    bool has_file = resume && stat(path, &info) == 0 && info.st_size > 0;
    ItmStatus status = has_file ? read_journal(s, path, &size, &end, error) : ITM_OK;
    if (status != ITM_OK) {
        return status;
    }
    // a pipe that somebody else put there is refused, not waited for
    s->journal = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    if (s->journal < 0) {
        return fail_file(error, path, "write");
    }
    status = lock_journal(s->journal, path, error);
    if (status == ITM_OK && resume && (fstat(s->journal, &info) != 0 || (size_t)info.st_size != size)) {
        status = itm_error_set(error, ITM_ERR_IO, "itm_study_open_journal", "path",
                               "another study has changed '%s' while it was read; continue again", path);
    }
    if (status != ITM_OK) {
        close(s->journal);
        s->journal = -1;
        return status;
    }
    // what was not written completely goes away, and so does all of an old journal
    if (ftruncate(s->journal, (off_t)end) != 0 || (end == 0 && !write_line(s->journal, s->signature))) {
        return fail_file(error, path, "write");
    }
    s->synced = itm_clock();
    return ITM_OK;
}

static ItmStatus append(ItmStudy* s, const char* line, ItmError* error)
{
    if (!write_line(s->journal, line)) {
        return fail_file(error, "journal", "write the");
    }
    if (itm_clock() - s->synced > SYNC_PERIOD) {
        fdatasync(s->journal);
        s->synced = itm_clock();
    }
    return ITM_OK;
}

ItmStatus itm_study_note_run(ItmStudy* s, int run, ItmError* error)
{
    ITM_GUARD(s != NULL && ITM_IS_INDEX(run, s->nrun + s->nreference), ITM_ERR_ARGUMENT);
    if (s->journal < 0) {
        return ITM_OK;
    }
    char* line = itm_study_write_run(s, run);
    ItmStatus status = line != NULL ? append(s, line, error) : itm_study_fail_memory(error);
    free(line);
    return status;
}

ItmStatus itm_study_note_repetition(ItmStudy* s, int run, const char* by, ItmError* error)
{
    ITM_GUARD(s != NULL && by != NULL && ITM_IS_INDEX(run, s->nrun + s->nreference), ITM_ERR_ARGUMENT);
    s->runs[run].nattempt++;
    if (s->journal < 0) {
        return ITM_OK;
    }
    ItmText line = {0};
    itm_text_format(&line, "{\"repeated\":%d,\"by\":", run + 1);
    itm_text_add_json(&line, by);
    itm_text_add(&line, "}");
    ItmStatus status = !line.has_failed ? append(s, line.chars, error) : itm_study_fail_memory(error);
    itm_text_free(&line);
    return status;
}

// ---------------------------------------------------------------------------- definition

static ItmStatus add_all(ItmStudy* s, const ItmNode* root, const char* key,
                         ItmStatus (*add)(ItmStudy*, const char*, ItmError*), ItmError* error)
{
    const ItmNode* list = itm_json_find(root, key);
    ItmStatus status = ITM_OK;
    for (const ItmItem* item = list != NULL ? list->first : NULL; item != NULL && status == ITM_OK; item = item->next) {
        status = add(s, item->value->text, error);
    }
    return status;
}

static ItmStatus create_from_node(ItmStudy** study, const ItmNode* root, const char* folder, ItmError* error)
{
    const ItmNode* list = itm_json_find(root, "settings");
    const char* path = itm_json_get_text(root, "study");
    const char* file = itm_json_get_text(root, "reference_file");
    const char* const named[] = {path[0] != '\0' ? path : itm_json_get_text(root, "model"), file};
    for (int i = 0; i < 2; i++) {
        if (named[i][0] != '\0' && !itm_file_is_below(named[i], folder)) {
            return itm_error_set(error, ITM_ERR_INPUT, "itm_study_create_from_journal", NULL,
                                 "the journal refers to '%.200s', which is no file below the sandbox '%.200s'",
                                 named[i], folder);
        }
    }
    int count = 0, most = list != NULL ? list->count : 0;
    const char** settings = calloc((size_t)most + 1, sizeof *settings);
    if (settings == NULL) {
        return itm_study_fail_memory(error);
    }
    for (const ItmItem* item = list != NULL ? list->first : NULL; item != NULL; item = item->next) {
        settings[count++] = item->value->text;
    }
    ItmStatus status;
    if (path[0] != '\0') {
        status = itm_study_load(study, path, folder, settings, count, error);
    } else {
        status = itm_study_create(study, itm_json_get_text(root, "model"), folder, settings, count, error);
        status = status == ITM_OK ? add_all(*study, root, "axes", itm_study_add_axis, error) : status;
        status = status == ITM_OK ? add_all(*study, root, "signals", itm_study_add_signals, error) : status;
        status = status == ITM_OK ? add_all(*study, root, "reference", itm_study_add_reference, error) : status;
        status = status == ITM_OK && file[0] != '\0' ? itm_study_set_reference_file(*study, file, error) : status;
    }
    free(settings);
    return status == ITM_OK ? itm_study_prepare(*study, error) : status;
}

// Take over the signature of a journal, if it is that of the study up to the version of Interim, which stands first.
static bool adopt_signature(ItmStudy* s, const ItmNode* node, const char* text)
{
    const char *own = strchr(s->signature, ','), *recorded = strchr(text, ',');
    char* signature = itm_owned_copy_string(&s->owned, text);
    char* version = itm_owned_copy_string(&s->owned, itm_json_get_text(node, "interim"));
    if (own == NULL || recorded == NULL || strcmp(own, recorded) != 0 || signature == NULL || version == NULL) {
        return false;
    }
    s->signature = signature;
    s->version = version;
    return true;
}

ItmStatus itm_study_create_from_journal(ItmStudy** study, const char* path, const char* root, ItmError* error)
{
    ITM_GUARD(study != NULL && path != NULL, ITM_ERR_ARGUMENT);
    *study = NULL;
    size_t size = 0;
    char* text = read_text(path, &size, error);
    if (text == NULL) {
        return ITM_ERR_IO;
    }
    text[strcspn(text, "\n")] = '\0';
    ItmDocument doc = {0};
    ItmNode* node = NULL;
    ItmStatus status = itm_json_parse(&node, &doc, text, strlen(text), NULL);
    if (status != ITM_OK || itm_json_get_text(node, "model")[0] == '\0') {
        status = itm_error_set(error, ITM_ERR_INPUT, __func__, NULL, "'%s' is no journal of a study", path);
    } else {
        status = create_from_node(study, node, root, error);
    }
    if (status == ITM_OK && !adopt_signature(*study, node, text)) {
        status = itm_error_set(error, ITM_ERR_INPUT, __func__, NULL,
                               "model or study have changed since '%s' was written; execute the study again", path);
    }
    if (status != ITM_OK) {
        itm_study_destroy(*study);
        *study = NULL;
    }
    itm_document_free(&doc);
    free(text);
    return status;
}
