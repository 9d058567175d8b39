#define _DEFAULT_SOURCE  // RLIMIT_AS
#include "io/results/isolated.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CPU_ALWAYS 20u            // s of processor time for any file
#define BYTES_PER_SECOND 5000000  // of a large one
#define MEMORY_ALWAYS (512ul << 20)
#define MEMORY_PER_BYTE 64  // compressed motion becomes larger by this much at most

// ---------------------------------------------------------------------------- pipe

// One direction of a pipe; after a failure nothing more happens.
typedef struct Stream {
    int file;
    size_t room;  // bytes that may still be received
    ItmStatus status;
} Stream;

static void put(Stream* s, const void* bytes, size_t count)
{
    const char* at = bytes;
    while (s->status == ITM_OK && count > 0) {
        ssize_t n = write(s->file, at, count);
        if (n > 0) {
            at += n;
            count -= (size_t)n;
        } else if (errno != EINTR) {
            s->status = ITM_ERR_IO;
        }
    }
}

// Whether so many more bytes may come: asked before there is memory for them, because the sender may claim any number.
static bool allows(Stream* s, size_t count)
{
    s->status = s->status == ITM_OK && count > s->room ? ITM_ERR_INPUT : s->status;
    return s->status == ITM_OK;
}

static void get(Stream* s, void* bytes, size_t count)
{
    char* at = bytes;
    s->room -= allows(s, count) ? count : 0;
    while (s->status == ITM_OK && count > 0) {
        ssize_t n = read(s->file, at, count);
        if (n > 0) {
            at += n;
            count -= (size_t)n;
        } else if (n == 0 || errno != EINTR) {
            s->status = ITM_ERR_IO;
        }
    }
}

static void put_string(Stream* s, const char* text)
{
    uint64_t length = text != NULL ? strlen(text) : UINT64_MAX;
    put(s, &length, sizeof length);
    put(s, text, text != NULL ? (size_t)length : 0);
}

// *text is replaced, by NULL where there is none.
static void get_string(Stream* s, char** text)
{
    uint64_t length = 0;
    get(s, &length, sizeof length);
    if (s->status != ITM_OK) {
        return;
    }
    free(*text);
    *text = NULL;
    if (length == UINT64_MAX) {
        return;
    }
    if (!allows(s, length)) {
        return;
    }
    *text = calloc((size_t)length + 1, 1);
    if (*text == NULL) {
        s->status = ITM_ERR_MEMORY;
        return;
    }
    get(s, *text, (size_t)length);
}

// ---------------------------------------------------------------------------- table

typedef struct Head {
    ItmStatus status;
    int64_t ncolumn, nrow;
    int is_described;
    ItmVerdict verdict;
    ItmError error;
} Head;

static void put_table(Stream* s, const ItmTable* table)
{
    put_string(s, table->title);
    put_string(s, table->reason);
    put_string(s, table->provenance);
    for (int i = 0; i < table->ncolumn; i++) {
        put_string(s, table->names[i]);
        put_string(s, table->units[i]);
        put_string(s, table->descriptions[i]);
    }
    put(s, table->values, table->nrow > 0 ? (size_t)table->nrow * (size_t)table->ncolumn * sizeof(double) : 0);
    put_string(s, table->record->scene);
    for (int i = 0; i < ITM_MOTION_COUNT && table->record->scene != NULL; i++) {
        const ItmArray* array = &table->record->arrays[i];
        put(s, array->size, sizeof array->size);
        put(s, array->values,
            itm_record_array_get_count(array) * itm_record_array_type_size(itm_record_motion_type((ItmMotionArray)i)));
    }
}

static void get_columns(Stream* s, ItmTable* table, int64_t ncolumn)
{
    for (int i = 0; i < ncolumn && s->status == ITM_OK; i++) {
        if (!itm_results_table_add_column(table, "", 0)) {
            s->status = ITM_ERR_MEMORY;
            return;
        }
        get_string(s, &table->names[i]);
        get_string(s, &table->units[i]);
        get_string(s, &table->descriptions[i]);
        if (s->status == ITM_OK &&
            (table->names[i] == NULL || table->units[i] == NULL || table->descriptions[i] == NULL)) {
            s->status = ITM_ERR_INPUT;
        }
    }
}

static void get_values(Stream* s, ItmTable* table, int64_t nrow)
{
    if (s->status != ITM_OK || nrow == 0) {
        return;
    }
    if (nrow < 0 || table->ncolumn == 0 || nrow > LONG_MAX / (int64_t)sizeof(double) / table->ncolumn) {
        s->status = ITM_ERR_INPUT;
        return;
    }
    size_t size = (size_t)nrow * (size_t)table->ncolumn * sizeof(double);
    if (!allows(s, size)) {
        return;
    }
    table->values = malloc(size);
    if (table->values == NULL) {
        s->status = ITM_ERR_MEMORY;
        return;
    }
    table->nrow = (long)nrow;
    get(s, table->values, size);
}

// At most so many entries; dimensions that an array does not have are 0.
static size_t multiply(const long size[3])
{
    size_t count = 1;
    for (int i = 0; i < 3; i++) {
        size_t n = size[i] > 0 ? (size_t)size[i] : 1;
        count = n <= SIZE_MAX / 8 / count ? n * count : SIZE_MAX / 8;
    }
    return count;
}

static void get_record(Stream* s, ItmRecord* record)
{
    get_string(s, &record->scene);
    for (int i = 0; i < ITM_MOTION_COUNT && s->status == ITM_OK && record->scene != NULL; i++) {
        long size[3] = {0};
        get(s, size, sizeof size);
        size_t width = itm_record_array_type_size(itm_record_motion_type((ItmMotionArray)i));
        s->status = allows(s, width * multiply(size))
                        ? itm_record_array_allocate(&record->arrays[i], (ItmMotionArray)i, size)
                        : s->status;
        if (s->status == ITM_OK) {
            size_t bytes = itm_record_array_get_count(&record->arrays[i]) * width;
            get(s, record->arrays[i].values, bytes);
        }
    }
}

ItmStatus itm_isolated_receive(ItmTable* table, int file, size_t most, ItmError* error)
{
    Stream stream = {.file = file, .room = most};
    Stream* s = &stream;
    Head head;
    get(s, &head, sizeof head);
    if (s->status != ITM_OK) {
        return s->status;
    }
    if (head.status != ITM_OK) {
        head.error.message[sizeof head.error.message - 1] = '\0';
        head.error.file[sizeof head.error.file - 1] = '\0';
        ItmStatus status = itm_error_set(
            error, head.status == ITM_ERR_IO || head.status == ITM_ERR_MEMORY ? head.status : ITM_ERR_INPUT, __func__,
            NULL, "%s", head.error.message);
        itm_error_locate(error, head.error.file, head.error.line, head.error.column);
        return status;
    }
    table->is_described = head.is_described != 0;
    table->verdict = head.verdict <= ITM_VERDICT_DOUBTFUL ? head.verdict : ITM_VERDICT_RUNNING;
    get_string(s, &table->title);
    get_string(s, &table->reason);
    get_string(s, &table->provenance);
    get_columns(s, table, head.ncolumn);
    get_values(s, table, head.nrow);
    get_record(s, table->record);
    char end = 0;
    get(s, &end, 1);
    bool is_whole =
        s->status == ITM_OK && end == '.' && table->title != NULL && table->reason != NULL && table->provenance != NULL;
    return s->status == ITM_OK && !is_whole ? ITM_ERR_INPUT : s->status;
}

// ---------------------------------------------------------------------------- child

static void limit(int resource, unsigned long value)
{
    struct rlimit old, wanted = {value, value};
    if (getrlimit(resource, &old) == 0 && (old.rlim_cur == RLIM_INFINITY || old.rlim_cur > value)) {
        wanted.rlim_max = old.rlim_max;
        setrlimit(resource, &wanted);
    }
}

static unsigned long get_size(const char* path)
{
    struct stat about;
    return stat(path, &about) == 0 && about.st_size > 0 ? (unsigned long)about.st_size : 0;
}

// Memory for what a file of this size may hold.
static unsigned long get_memory(unsigned long size)
{
    return MEMORY_ALWAYS + MEMORY_PER_BYTE * size;
}

static void set_limits(const char* path)
{
    unsigned long size = get_size(path);
    limit(RLIMIT_CPU, CPU_ALWAYS + size / BYTES_PER_SECOND);
    limit(RLIMIT_CORE, 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they map terabytes
    struct rusage usage;
    unsigned long used = getrusage(RUSAGE_SELF, &usage) == 0 ? 1024 * (unsigned long)usage.ru_maxrss : 0;
    limit(RLIMIT_DATA, used + get_memory(size));
#endif
}

// What the new process does: read, send, and end without returning into the caller's program.
static _Noreturn void be_child(int file, ItmTable* table, ItmTableReader read, const char* path)
{
    static const int SIGNALS[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGXCPU, SIGTERM, SIGINT, SIGHUP};
    for (size_t i = 0; i < sizeof SIGNALS / sizeof SIGNALS[0]; i++) {
        signal(SIGNALS[i], SIG_DFL);
    }
    signal(SIGPIPE, SIG_DFL);
    int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0) {
        dup2(nowhere, STDERR_FILENO);  // messages of the C library about a damaged heap
    }
    set_limits(path);
    Stream s = {.file = file};
    Head head = {0};
    head.status = read(table, path, &head.error);
    head.ncolumn = table->ncolumn;
    head.nrow = table->nrow;
    head.is_described = table->is_described;
    head.verdict = table->verdict;
    put(&s, &head, sizeof head);
    if (head.status == ITM_OK) {
        put_table(&s, table);
        put(&s, ".", 1);
    }
    _exit(s.status == ITM_OK ? 0 : 1);
}

// ---------------------------------------------------------------------------- parent

static ItmStatus fail_child(int outcome, const char* path, ItmError* error)
{
    char how[80] = "the reader stopped";
    if (WIFSIGNALED(outcome)) {
        snprintf(how, sizeof how,
                 WTERMSIG(outcome) == SIGXCPU ? "the reader took too long" : "the reader was killed by signal %d",
                 WTERMSIG(outcome));
    }
    ItmStatus status = itm_error_set(error, ITM_ERR_INPUT, "itm_isolated_read", NULL,
                                     "'%s' cannot be read: it is damaged, or memory is short (%s)", path, how);
    itm_error_locate(error, path, 0, 0);
    return status;
}

ItmStatus itm_isolated_read(ItmTable* table, ItmTableReader read, const char* path, ItmError* error)
{
    int ends[2];
    struct stat about;
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode)) {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, NULL, "'%s' is not a file", path);
    }
    if (pipe(ends) != 0) {
        return itm_error_set(error, ITM_ERR_IO, __func__, NULL, "cannot read '%s': %s", path, strerror(errno));
    }
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        be_child(ends[1], table, read, path);
    }
    int code = errno;
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return itm_error_set(error, ITM_ERR_IO, __func__, NULL, "cannot create a process to read '%s': %s", path,
                             strerror(code));
    }
    ItmError told = {0};
    ItmStatus status = itm_isolated_receive(table, ends[0], get_memory(get_size(path)), &told);
    close(ends[0]);
    int outcome = 0;
    while (waitpid(pid, &outcome, 0) < 0 && errno == EINTR) {
    }
    if (told.status != ITM_OK) {
        if (error != NULL) {
            *error = told;
        }
        return told.status;
    }
    if (status == ITM_ERR_MEMORY) {
        return itm_error_set(error, status, __func__, NULL, "no memory to read '%s'", path);
    }
    return status == ITM_OK ? ITM_OK : fail_child(outcome, path, error);
}
