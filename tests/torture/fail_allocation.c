// Preloaded into a command: makes allocations fail, counted from 1 in every process from the start of main on.
//   FAIL_AT=N LD_PRELOAD=libfail_allocation.so COMMAND
//       allocation N fails, all before and after it succeed; with FAIL_TRACE=FILE its stack is appended to FILE
//   FAIL_EACH="FIRST STRIDE" LD_PRELOAD=libfail_allocation.so COMMAND
//       the command is executed once as it is, and then once for each of its allocations FIRST, FIRST + STRIDE, ... with that one failing, by
//       processes forked right before main: loading the program and its libraries is shared. Each must end with status 1 or 2 and a message,
//       or do without that memory and produce the undisturbed result, in the current folder: result.table.csv (without columns of times
//       and messages), result.csv, or else standard output and result.html.
// "libfyaml": libfyaml 0.7 crashes where the two small blocks of fy_input_create fail. We hold more than these bytes right before it
// asks for them, so that only an injected failure can hit them.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_FRAMES = 40, MOST_PLACES = 100, SHOWN_FRAMES = 8, SECONDS = 600 };  // a campaign may be frozen for a while

// What a process and those that it forks report.
typedef struct Report {
    atomic_long most;  // allocations of one process
    int nframe;        // of the allocation that failed
    void* frames[MOST_FRAMES];
} Report;

// glibc's own, behind the names that are replaced here
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

static atomic_long count;
static long fail_at;
static bool is_counting;
static Report* report;

// ---------------------------------------------------------------------------- allocations

static void trace(void)
{
    report->nframe = backtrace(report->frames, MOST_FRAMES);
    const char* path = getenv("FAIL_TRACE");
    int file = path != NULL ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    if (file >= 0) {
        backtrace_symbols_fd(report->frames, report->nframe, file);
        close(file);
    }
}

static bool fails(void)
{
    if (!is_counting || atomic_fetch_add(&count, 1) + 1 != fail_at) {
        return false;
    }
    trace();
    errno = ENOMEM;
    return true;
}

void* malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void* calloc(size_t n, size_t size)
{
    return fails() ? NULL : __libc_calloc(n, size);
}

void* realloc(void* block, size_t size)
{
    return fails() ? NULL : __libc_realloc(block, size);
}

void* aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void** block, size_t alignment, size_t size)
{
    void* found = aligned_alloc(alignment, size);
    if (found == NULL) {
        return ENOMEM;
    }
    *block = found;
    return 0;
}

// ---------------------------------------------------------------------------- results of an execution

typedef struct Outcome {
    int status;        // as a shell has it: 128 + signal
    bool has_message;  // on standard error
    bool has_told;     // a row of the table says that its run failed, or standard error that memory is short
    char* result;      // owned
} Outcome;

// A file as a text; "" if there is none.
static char* read_file(const char* path)
{
    struct stat about;
    int file = open(path, O_RDONLY);
    size_t size = file >= 0 && fstat(file, &about) == 0 ? (size_t)about.st_size : 0;
    char* text = calloc(size + 1, 1);
    if (text == NULL || (size > 0 && read(file, text, size) != (ssize_t)size)) {
        abort();
    }
    if (file >= 0) {
        close(file);
    }
    return text;
}

static bool is_one_of(const char* field, const char* const* names)
{
    while (*names != NULL && strcmp(field, *names) != 0) {
        names++;
    }
    return *names != NULL;
}

// Blank the fields of a table that differ between any two executions; the message may be one of a library that a run loads (GnuTLS, under
// HDF5) and does without. True if a row reports that its run failed.
static bool strip_table(char* text)
{
    static const char* const GONE[] = {"wall_time", "cpu_time", "real_time_factor", "message", NULL};
    static const char* const BAD[] = {"failed", "crashed", NULL};
    bool is_gone[1000] = {false}, has_told = false, is_bad = false;
    int column = 0, verdict = -1, line = 0;
    for (char* at = text; *at != '\0';) {
        size_t length = strcspn(at, ",\n");
        char end = at[length];
        at[length] = '\0';
        column = column < 999 ? column : 999;
        if (line == 0) {
            is_gone[column] = is_one_of(at, GONE);
            verdict = strcmp(at, "verdict") == 0 ? column : verdict;
        }
        is_bad = is_bad || (column == verdict && is_one_of(at, BAD));
        has_told = has_told || (end == '\n' && is_bad && length > 0);
        if (line > 0 && is_gone[column]) {
            memset(at, ' ', length);
        }
        at[length] = end;
        at += length + (end != '\0');
        if (end == '\n') {
            line++;
            column = 0;
            is_bad = false;
        } else {
            column++;
        }
    }
    return has_told;
}

// Fields of blanks only are as good as empty ones.
static void drop_blanks(char* text)
{
    char* to = text;
    for (const char* at = text; *at != '\0'; at++) {
        if (*at != ' ') {
            *to++ = *at;
        }
    }
    *to = '\0';
}

static Outcome collect(int status)
{
    char* message = read_file("err.txt");
    Outcome o = {.status = status, .has_message = message[0] != '\0', .has_told = strstr(message, "memory") != NULL};
    free(message);
    if (access("result.table.csv", F_OK) == 0) {
        o.result = read_file("result.table.csv");
        o.has_told = strip_table(o.result) || o.has_told;
        drop_blanks(o.result);
    } else if (access("result.csv", F_OK) == 0) {
        o.result = read_file("result.csv");
    } else {
        char *out = read_file("out.txt"), *page = read_file("result.html");
        if (asprintf(&o.result, "%s%s", out, page) < 0) {
            abort();
        }
        free(out);
        free(page);
    }
    return o;
}

// ---------------------------------------------------------------------------- executions

static pid_t child;

static void end_child(int signal)
{
    (void)signal;
    kill(-child, SIGKILL);
}

static void redirect(const char* path, int descriptor)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || dup2(file, descriptor) < 0) {
        abort();
    }
    close(file);
}

static void remove_results(void)
{
    glob_t found = {0};
    bool is_left = false;
    glob("result.*", 0, NULL, &found);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        is_left = unlink(found.gl_pathv[i]) != 0 || is_left;
    }
    globfree(&found);
    if (is_left && system("rm -rf result.*") != 0) {  // folders
        abort();
    }
}

// Fork: the child returns false and goes on to main; the parent returns true when it has ended.
static bool execute(long at, Outcome* outcome)
{
    remove_results();
    report->nframe = 0;
    child = fork();
    if (child == 0) {
        setpgid(0, 0);
        signal(SIGALRM, SIG_DFL);
        redirect("out.txt", STDOUT_FILENO);
        redirect("err.txt", STDERR_FILENO);
        fail_at = at;
        is_counting = true;
        return false;
    }
    setpgid(child, child);
    signal(SIGALRM, end_child);
    alarm(SECONDS);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    alarm(0);
    end_child(0);  // what it may have left
    *outcome = collect(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
    return true;
}

static bool is_in_libfyaml(void)
{
    for (int i = 0; i < report->nframe; i++) {
        Dl_info at;
        if (dladdr(report->frames[i], &at) != 0 && at.dli_sname != NULL &&
            strcmp(at.dli_sname, "fy_input_create") == 0) {
            return true;
        }
    }
    return false;
}

// Failures at one place, that is, with one stack and one outcome.
typedef struct Place {
    int status, nframe;
    void* frames[MOST_FRAMES];
    long count;
} Place;

// Count a failure; the first of a place is printed with its stack.
static void note_failure(Place* places, int* nplace, long at, const Outcome* outcome)
{
    int i = 0;
    while (i < *nplace &&
           (places[i].status != outcome->status || places[i].nframe != report->nframe ||
            memcmp(places[i].frames, report->frames, (size_t)report->nframe * sizeof *report->frames) != 0)) {
        i++;
    }
    if (i < *nplace) {
        places[i].count++;
        return;
    }
    if (*nplace == MOST_PLACES) {
        return;
    }
    places[i] = (Place){.status = outcome->status, .nframe = report->nframe, .count = 1};
    memcpy(places[i].frames, report->frames, sizeof report->frames);
    *nplace += 1;
    printf("    allocation %ld: status %d, %s\n", at, outcome->status,
           outcome->status == 0   ? "another result"
           : outcome->has_message ? "with a message"
                                  : "no message");
    for (int f = 0; f < report->nframe && f < SHOWN_FRAMES; f++) {
        Dl_info frame = {0};
        dladdr(report->frames[f], &frame);
        printf("        %s+0x%lx %s\n", frame.dli_fname != NULL ? frame.dli_fname : "?",
               (unsigned long)((char*)report->frames[f] - (char*)frame.dli_fbase),
               frame.dli_sname != NULL ? frame.dli_sname : "");
    }
}

// Returns in the processes that go on to main.
static void inject_each(long first, long stride)
{
    static Place places[MOST_PLACES];
    int nplace = 0;
    long injected = 0, answered = 0, unaffected = 0, known = 0, failed = 0;
    Outcome want, got;
    if (!execute(0, &want)) {
        return;
    }
    long number = atomic_load(&report->most);
    if (want.status != 0) {
        printf("    it ends with status %d undisturbed: %s\n", want.status, read_file("err.txt"));
        failed++;
        number = 0;
    }
    for (long at = first; at <= number; at += stride) {
        if (!execute(at, &got)) {
            return;
        }
        bool is_same = strcmp(got.result, want.result) == 0;
        injected++;
        if ((got.status == 1 || got.status == 2) && got.has_message) {
            answered++;
        } else if (got.status == 128 + SIGSEGV && is_in_libfyaml()) {
            known++;
        } else if (got.status == 0 && is_same) {
            unaffected++;
        } else if (got.status == 0 && got.has_told) {
            answered++;
        } else {
            failed++;
            note_failure(places, &nplace, at, &got);
        }
        free(got.result);
    }
    printf("%ld allocations, injected %ld, answered %ld, unaffected %ld, libfyaml %ld, failed %ld\n", number, injected,
           answered, unaffected, known, failed);
    fflush(stdout);
    syscall(SYS_exit_group, failed > 0 || injected == 0);
}

// ---------------------------------------------------------------------------- start and end of a process

__attribute__((constructor)) static void start(void)
{
    const char *number = getenv("FAIL_AT"), *each = getenv("FAIL_EACH");
    void* frame[1];
    backtrace(frame, 1);  // it allocates at its first call
    report = mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    long first, stride;
    if (each != NULL && sscanf(each, "%ld %ld", &first, &stride) == 2) {
        unsetenv("LD_PRELOAD");
        inject_each(first, stride);
    } else {
        fail_at = number != NULL ? atol(number) : 0;
        is_counting = true;
    }
}

static void note_count(void)
{
    is_counting = false;
    long most = atomic_load(&report->most), mine = atomic_load(&count);
    while (mine > most && !atomic_compare_exchange_weak(&report->most, &most, mine)) {
    }
}

__attribute__((destructor)) static void end(void)
{
    note_count();
}

// A child of a sweep ends without destructors.
_Noreturn void _exit(int status)
{
    note_count();
    syscall(SYS_exit_group, status);
    __builtin_unreachable();
}
