// Preloaded into a command: makes allocations fail, counted from 1 in every process from the start of main on.
//   FAIL_AT=N LD_PRELOAD=libfail_allocation.so COMMAND
//       allocation N fails, all before and after it succeed; with FAIL_TRACE=FILE its stack is appended to FILE
//   FAIL_WHILE=FILE LD_PRELOAD=libfail_allocation.so COMMAND
//       allocations of the program itself, not those of shared libraries, fail while FILE exists
//   FAIL_EACH="FIRST STRIDE [REPEATS]" LD_PRELOAD=libfail_allocation.so COMMAND
//       the command is executed once; at each of its allocations FIRST, FIRST + STRIDE, ... it forks, and in the new process that allocation
//       fails: everything before it is shared. Where threads or other processes are alive a fork is no copy, and allocations of other
//       processes are not those of the first: the numbers of these are tried once more, each by an execution from the start of main.
//       REPEATS: of allocations with one stack, only so many are tried this way.
//       A trial must end with status 1 or 2 and a message, or do without that memory and produce the undisturbed result: result.table.csv
//       (without columns of times and messages), result.csv, or else standard output and result.html. These and all other names of
//       outputs are relative and begin with "result"; names of inputs are absolute.
// "libfyaml": libfyaml 0.7 crashes where the two small blocks of fy_input_create fail. We hold more than these bytes right before it
// asks for them, so that only an injected failure can hit them.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    MOST_TRIALS = 200000,
    MOST_FRAMES = 24,
    MOST_PLACES = 100,
    SHOWN_FRAMES = 9,
    SECONDS = 600
};  // a trial may be frozen for a while

// The end of an execution.
typedef struct Outcome {
    bool is_known;
    bool has_message;  // on standard error
    bool has_told;     // a row of the table reports that its run failed, or standard error that memory is short
    int status;        // as a shell has it: 128 + signal
    uint64_t result;   // hash
    int nframe;        // stack of the allocation that failed
    void* frames[MOST_FRAMES];
} Outcome;

// Memory that all processes of a campaign share.
typedef struct Report {
    atomic_long most;                // allocations of the first process
    atomic_long replay, replay_end;  // numbers that have to be tried from the start of main: from, up to
    Outcome undisturbed;
    Outcome walk;                     // of the execution that forks trials
    Outcome forked[MOST_TRIALS + 1];  // trials at allocation 1, 2, ... of the first process
    Outcome replayed[MOST_TRIALS + 1];
} Report;

// glibc's own, behind the names that are replaced here
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
static pid_t (*real_fork)(void);
static pid_t (*real_wait4)(pid_t, int*, int, struct rusage*);
static int (*real_create)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

static Report* report;
static atomic_long count;
static bool is_counting;
static long fail_at;            // 0: none
static const char* fail_while;  // path, or NULL
static Outcome* trial;          // where the stack of the failing allocation goes; NULL: nowhere
static bool is_first;           // this process forks trials
static long first, stride;      // of trials
static int repeats = INT_MAX;
static atomic_int nalive;   // threads and processes beside this one
static long count_at_fork;  // of a process that the command forked

// ---------------------------------------------------------------------------- files of a trial

#define FOLDER "trial"  // where a forked trial has its outputs

static void copy_file(const char* from, const char* to)
{
    int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    char block[65536];
    for (ssize_t n; in >= 0 && (n = read(in, block, sizeof block)) > 0;) {
        if (write(out, block, (size_t)n) != n) {
            abort();
        }
    }
    close(in);
    close(out);
}

static void remove_files(const char* pattern)
{
    glob_t found = {0};
    glob(pattern, 0, NULL, &found);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char command[PATH_MAX + 16];
        snprintf(command, sizeof command, "rm -rf '%s'", found.gl_pathv[i]);
        if (unlink(found.gl_pathv[i]) != 0 && system(command) != 0) {  // a folder
            abort();
        }
    }
    globfree(&found);
}

// Exchange an open file for another opening of it, at the same position: processes share the position of a file that they inherit.
static void open_again(int file, const char* path)
{
    int flags = fcntl(file, F_GETFL), closes = fcntl(file, F_GETFD);
    off_t at = lseek(file, 0, SEEK_CUR);
    int other = open(path, flags & (O_ACCMODE | O_APPEND));
    if (other < 0 || lseek(other, at, SEEK_SET) != at ||
        dup3(other, file, (closes & FD_CLOEXEC) != 0 ? O_CLOEXEC : 0) < 0) {
        abort();
    }
    close(other);
}

// In a forked trial: go on in a folder with copies of all outputs so far, as do open files.
static void enter_folder(void)
{
    char here[PATH_MAX], link[64], path[PATH_MAX];
    glob_t found = {0};
    if (getcwd(here, sizeof here) == NULL || (mkdir(FOLDER, 0700) != 0 && errno != EEXIST)) {
        abort();
    }
    glob("result*", 0, NULL, &found);
    glob("*.txt", GLOB_APPEND, NULL, &found);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        snprintf(path, sizeof path, FOLDER "/%s", found.gl_pathv[i]);
        copy_file(found.gl_pathv[i], path);
    }
    globfree(&found);
    if (chdir(FOLDER) != 0) {
        abort();
    }
    size_t length = strlen(here);
    for (int file = 0; file < 256; file++) {
        struct stat about;
        snprintf(link, sizeof link, "/proc/self/fd/%d", file);
        ssize_t n = fstat(file, &about) == 0 && S_ISREG(about.st_mode) ? readlink(link, path, sizeof path - 1) : -1;
        path[n > 0 ? n : 0] = '\0';
        bool is_here = strncmp(path, here, length) == 0 && path[length] == '/';
        if (is_here && access(path + length + 1, F_OK) == 0) {
            open_again(file, path + length + 1);
        } else if (n > 0 && access(path, F_OK) == 0) {
            open_again(file, path);
        }
    }
}

// ---------------------------------------------------------------------------- outcome

// A file as a text; "" if there is none.
static char* read_file(const char* folder, const char* name)
{
    char path[PATH_MAX];
    struct stat about;
    snprintf(path, sizeof path, "%s/%s", folder, name);
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

static uint64_t add_to_hash(uint64_t hash, const char* text)
{
    for (; *text != '\0'; text++) {
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;  // FNV-1a
    }
    return hash;
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

static void collect(Outcome* o, const char* folder, int status)
{
    char *message = read_file(folder, "err.txt"), *table = read_file(folder, "result.table.csv");
    char *rows = read_file(folder, "result.csv"), *out = read_file(folder, "out.txt"),
         *page = read_file(folder, "result.html");
    o->is_known = true;
    o->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    o->has_message = message[0] != '\0';
    o->has_told = strip_table(table) || strstr(message, "memory") != NULL;
    drop_blanks(table);
    o->result = 0xcbf29ce484222325u;
    if (table[0] != '\0') {
        o->result = add_to_hash(o->result, table);
    } else if (rows[0] != '\0') {
        o->result = add_to_hash(o->result, rows);
    } else {
        o->result = add_to_hash(add_to_hash(o->result, out), page);
    }
    free(message);
    free(table);
    free(rows);
    free(out);
    free(page);
}

// ---------------------------------------------------------------------------- allocations

// Wait for a process, and end it if it takes too long.
static int wait_for(pid_t pid, int seconds)
{
    int status = 0, file = (int)syscall(SYS_pidfd_open, pid, 0);
    struct pollfd end = {.fd = file, .events = POLLIN};
    while (poll(&end, 1, 1000 * seconds) < 0 && errno == EINTR) {
    }
    if (end.revents == 0) {
        kill(pid, SIGKILL);
    }
    close(file);
    while (real_wait4(pid, &status, 0, NULL) < 0 && errno == EINTR) {
    }
    return status;
}

// Whether enough allocations with this stack have been tried. The table is larger than the number of stacks.
static bool is_tried(const Outcome* o)
{
    enum { SIZE = 1 << 17 };
    static struct {
        uint64_t hash;
        int count;
    } table[SIZE];
    uint64_t hash = 0xcbf29ce484222325u;
    for (int i = 0; i < o->nframe; i++) {
        hash = (hash ^ (uintptr_t)o->frames[i]) * 0x100000001b3u;
    }
    uint64_t at = (hash >> 20) % SIZE;
    for (int i = 0; i < SIZE && table[at].count > 0 && table[at].hash != hash; i++) {
        at = (at + 1) % SIZE;
    }
    table[at].hash = hash;
    return table[at].count++ >= repeats;
}

// Fork a trial of this allocation. True in the trial: it fails.
static bool fork_trial(long number)
{
    int code = errno;
    is_counting = false;
    Outcome* outcome = &report->forked[number];
    outcome->nframe = backtrace(outcome->frames, MOST_FRAMES);
    if (is_tried(outcome)) {
        is_counting = true;
        errno = code;
        return false;
    }
    pid_t pid = real_fork();
    if (pid == 0) {
        enter_folder();
        is_first = false;
        return true;
    }
    collect(outcome, FOLDER, wait_for(pid, SECONDS));
    remove_files(FOLDER "/*");
    is_counting = true;
    errno = code;
    return false;
}

static void note_replay(long from, long to)
{
    long old = atomic_load(&report->replay);
    while (from < old && !atomic_compare_exchange_weak(&report->replay, &old, from)) {
    }
    old = atomic_load(&report->replay_end);
    while (to > old && !atomic_compare_exchange_weak(&report->replay_end, &old, to)) {
    }
}

// Whether an allocation is made by the program itself while FAIL_WHILE exists.
static bool is_full(void* caller)
{
    Dl_info at, program;
    return fail_while != NULL && access(fail_while, F_OK) == 0 && dladdr(caller, &at) != 0 &&
           dladdr((void*)getauxval(AT_ENTRY), &program) != 0 && at.dli_fbase == program.dli_fbase;
}

static bool fails(void* caller)
{
    if (!is_counting) {
        return false;
    }
    long number = atomic_fetch_add(&count, 1) + 1;
    bool is_failing = number == fail_at || is_full(caller);
    if (is_failing && trial != NULL) {
        trial->nframe = backtrace(trial->frames, MOST_FRAMES);
    } else if (is_failing && getenv("FAIL_TRACE") != NULL) {
        void* frames[MOST_FRAMES];
        int file = open(getenv("FAIL_TRACE"), O_WRONLY | O_CREAT | O_APPEND, 0600);
        backtrace_symbols_fd(frames, backtrace(frames, MOST_FRAMES), file);
        close(file);
    }
    if (is_first && number >= first && (number - first) % stride == 0 && number <= MOST_TRIALS) {
        if (atomic_load(&nalive) == 0) {
            is_failing = fork_trial(number);
        } else {
            note_replay(number, number);
        }
    }
    errno = is_failing ? ENOMEM : errno;
    return is_failing;
}

void* malloc(size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void* calloc(size_t n, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

void* realloc(void* block, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(block, size);
}

void* aligned_alloc(size_t alignment, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);
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

// ---------------------------------------------------------------------------- processes and threads

pid_t fork(void)
{
    pid_t pid = real_fork();
    if (pid == 0) {
        count_at_fork = is_first ? atomic_load(&count) : count_at_fork;
        is_first = false;
    } else if (pid > 0) {
        atomic_fetch_add(&nalive, 1);
    }
    return pid;
}

pid_t wait4(pid_t pid, int* status, int options, struct rusage* usage)
{
    pid_t found = real_wait4(pid, status, options, usage);
    if (found > 0) {
        atomic_fetch_sub(&nalive, 1);
    }
    return found;
}

pid_t waitpid(pid_t pid, int* status, int options)
{
    return wait4(pid, status, options, NULL);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument)
{
    atomic_fetch_add(&nalive, 1);  // threads are not missed when they end
    return real_create(thread, attributes, start, argument);
}

// ---------------------------------------------------------------------------- campaign

static bool is_in_libfyaml(const Outcome* o)
{
    for (int i = 0; i < o->nframe; i++) {
        Dl_info at;
        if (dladdr(o->frames[i], &at) != 0 && at.dli_sname != NULL && strcmp(at.dli_sname, "fy_input_create") == 0) {
            return true;
        }
    }
    return false;
}

// Counts of outcomes; failures at one place, that is, with one stack and one status, are shown once.
typedef struct Figures {
    long injected, answered, unaffected, known, failed;
    const Outcome* places[MOST_PLACES];
    int nplace;
} Figures;

static void note_failure(Figures* f, const Outcome* o, long number, const char* how)
{
    f->failed++;
    for (int i = 0; i < f->nplace; i++) {
        const Outcome* p = f->places[i];
        if (p->status == o->status && p->nframe == o->nframe &&
            memcmp(p->frames, o->frames, (size_t)o->nframe * sizeof *o->frames) == 0) {
            return;
        }
    }
    if (f->nplace == MOST_PLACES) {
        return;
    }
    f->places[f->nplace++] = o;
    printf("    allocation %ld%s: status %d, %s\n", number, how, o->status,
           o->status == 0   ? "another result"
           : o->has_message ? "with a message"
                            : "no message");
    for (int i = 0; i < o->nframe && i < SHOWN_FRAMES; i++) {
        Dl_info frame = {0};
        dladdr(o->frames[i], &frame);
        printf("        %s+0x%lx %s\n", frame.dli_fname != NULL ? frame.dli_fname : "?",
               (unsigned long)((char*)o->frames[i] - (char*)frame.dli_fbase),
               frame.dli_sname != NULL ? frame.dli_sname : "");
    }
}

static void judge(Figures* f, const Outcome* o, long number, const char* how)
{
    if (!o->is_known) {
        return;
    }
    f->injected++;
    if ((o->status == 1 || o->status == 2) && o->has_message) {
        f->answered++;
    } else if (o->status == 128 + SIGSEGV && is_in_libfyaml(o)) {
        f->known++;
    } else if (o->status == 0 && o->result == report->undisturbed.result) {
        f->unaffected++;
    } else if (o->status == 0 && o->has_told) {
        f->answered++;
    } else {
        note_failure(f, o, number, how);
    }
}

static void redirect(const char* path, int descriptor)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || dup2(file, descriptor) < 0) {
        abort();
    }
    close(file);
}

// Fork right before main: the new process returns false and goes on to it; the old one returns true when that has ended.
static bool execute(Outcome* outcome, long at, bool forks_trials)
{
    remove_files("result*");
    pid_t pid = real_fork();
    if (pid == 0) {
        redirect("out.txt", STDOUT_FILENO);
        redirect("err.txt", STDERR_FILENO);
        fail_at = at;
        trial = outcome;
        is_first = forks_trials;
        is_counting = true;
        return false;
    }
    collect(outcome, ".", wait_for(pid, forks_trials ? INT_MAX / 1000 : SECONDS));
    return true;
}

// Returns in the processes that go on to main.
static void inject_each(void)
{
    Figures f = {0};
    report->replay = LONG_MAX;
    if (!execute(&report->undisturbed, 0, false) || !execute(&report->walk, 0, true)) {
        return;
    }
    long number = atomic_load(&report->most), end = atomic_load(&report->replay_end),
         from = atomic_load(&report->replay);
    for (long at = first; at <= end && at <= MOST_TRIALS; at += stride) {
        if (at >= from && !execute(&report->replayed[at], at, false)) {
            return;
        }
    }
    const Outcome *undisturbed = &report->undisturbed, *walk = &report->walk;
    if (undisturbed->status != 0 || walk->status != 0 || walk->result != undisturbed->result) {
        printf("    undisturbed it ends with status %d, with trials at its allocations with status %d%s\n",
               undisturbed->status, walk->status, walk->result != undisturbed->result ? " and another result" : "");
        f.failed++;
    }
    for (long at = 1; at <= MOST_TRIALS; at++) {
        judge(&f, &report->forked[at], at, "");
        judge(&f, &report->replayed[at], at, " in any process");
    }
    printf("%ld allocations, injected %ld, answered %ld, unaffected %ld, libfyaml %ld, failed %ld\n",
           end > number ? end : number, f.injected, f.answered, f.unaffected, f.known, f.failed);
    fflush(stdout);
    syscall(SYS_exit_group, f.failed > 0 || f.injected == 0 || end > MOST_TRIALS || number > MOST_TRIALS);
}

// ---------------------------------------------------------------------------- start and end of a process

__attribute__((constructor)) static void start(void)
{
    const char *number = getenv("FAIL_AT"), *each = getenv("FAIL_EACH");
    void* frame[1];
    backtrace(frame, 1);  // it allocates at its first call
    *(void**)&real_fork = dlsym(RTLD_NEXT, "fork");
    *(void**)&real_wait4 = dlsym(RTLD_NEXT, "wait4");
    *(void**)&real_create = dlsym(RTLD_NEXT, "pthread_create");
    report = mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (report == MAP_FAILED || real_fork == NULL || real_wait4 == NULL || real_create == NULL) {
        abort();
    }
    if (each != NULL && sscanf(each, "%ld %ld %d", &first, &stride, &repeats) >= 2) {
        unsetenv("LD_PRELOAD");
        inject_each();
    } else {
        fail_at = number != NULL ? atol(number) : 0;
        fail_while = getenv("FAIL_WHILE");
        is_counting = true;
    }
}

// Numbers of a process that the command forked have to be tried in it.
static void note_end(void)
{
    if (is_counting && is_first) {
        report->most = atomic_load(&count);
    } else if (is_counting && count_at_fork > 0) {
        note_replay(count_at_fork + 1, atomic_load(&count));
    }
    is_counting = false;
}

__attribute__((destructor)) static void end(void)
{
    note_end();
}

// A child of a sweep ends without destructors.
_Noreturn void _exit(int status)
{
    note_end();
    syscall(SYS_exit_group, status);
    __builtin_unreachable();
}
