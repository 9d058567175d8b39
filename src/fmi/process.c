// The library's side of a host process.
#define _GNU_SOURCE
#include "fmi/process.h"

#include "base/error.h"
#include "base/utf8.h"
#include "cosim/cosim.h"
#include "rim/message.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char** environ;

#define SPIN 2000           // looks at the turn before the kernel is asked to wait
#define SLICE 10000000L     // ns between two looks at the health of the host
#define MOST_RESTARTS 1000  // in a run
#define QUIT_TIME 2.0       // s for fmi?FreeInstance

// clang-format off
struct ItmFmuProcess {
    ItmFmuSpec spec;             // a copy
    ItmFmuProcessOptions options;
    char*   file;
    pid_t   pid;                 // 0: there is no host
    int     lifeline;            // our end
    ItmFmuShared* shared;
    size_t  size;                // of the mapping
    size_t  run_at, rows_at, port_at, log_at, state_at; // areas in it
    double* inputs;              // last set; the mapping has a copy            (ninput)
    double *u, *s, *w, *w_end, *force, *y, *z;  // in the mapping
    double* input_start;         //                                             (ninput)
    double* nominal;             // of the continuous states                    (nslope)
    bool    has_started;         // state_capacity is known
    size_t  state_capacity;      // of the first host; buffers of states have this size
    char*   start;               // state at the start                          (state_capacity) NULL: none
    bool    has_values;          // forces belong to the present inputs and motion
    bool    has_outputs;         // and outputs
    bool    wants_outputs;       // somebody reads outputs
    bool    has_stepped;         // since the start
    bool    is_failed;
    ItmError error;              // why
    bool    is_recovered;
    int     nrestart;
    char*   log;                 // messages so far
    size_t  nlog, log_room;
    uint64_t log_read, log_lost; // bytes of the ring read, bytes that were not kept
    bool    is_log_full;
};
// clang-format on

ItmFmuLimits itm_default_fmi_limits(void)
{
    return (ItmFmuLimits){.memory = 2e9, .call = 10.0, .log = 1e6, .file = 1e9};
}

// ---------------------------------------------------------------------------- the program

static bool is_program(const char* path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

// Beside the library or command, above it (build tree), or in libexec of its installation.
const char* itm_fmi_find_host(char* path, size_t size, const char** why)
{
    static const char* const PLACES[] = {"", "../", "../libexec/interim/", "../../libexec/interim/", "../../"};
    const char* given = getenv("INTERIM_FMU_HOST");
    if (given != NULL && given[0] != '\0') {
        *why = "INTERIM_FMU_HOST must be the absolute path of a program";
        snprintf(path, size, "%s", given);
        return given[0] == '/' && strlen(given) < size && is_program(path) ? path : NULL;
    }
    *why =
        "the program interim-fmu-host, which runs FMUs, is not installed with Interim; INTERIM_FMU_HOST names its path";
    Dl_info info;
    char own[4096] = "";
    const char* (*self)(char*, size_t, const char**) = itm_fmi_find_host;
    void* address;
    memcpy(&address, &self, sizeof address);
    if (dladdr(address, &info) == 0 || info.dli_fname == NULL || realpath(info.dli_fname, own) == NULL) {
        ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
        own[n > 0 ? n : 0] = '\0';
    }
    char* slash = strrchr(own, '/');
    if (slash == NULL) {
        return NULL;
    }
    slash[1] = '\0';
    for (size_t i = 0; i < sizeof PLACES / sizeof *PLACES; i++) {
        snprintf(path, size, "%s%sinterim-fmu-host", own, PLACES[i]);
        if (is_program(path)) {
            return path;
        }
    }
    return NULL;
}

// ---------------------------------------------------------------------------- mapping

static size_t round_up(size_t n)
{
    return (n + 63) / 64 * 64;
}

static size_t get_run_size(const ItmFmuSpec* spec)
{
    size_t n = (size_t)spec->nport;
    return round_up(sizeof(ItmFmuRun)) + round_up(n * sizeof(ItmBond)) + round_up(n * sizeof(ItmBondMemory)) +
           sizeof(double) * (n * n + 8 * n);
}

// The mapping and its areas; the file behind it is in *fd.
static bool map_shared(ItmFmuProcess* x, int* fd)
{
    const ItmFmuSpec* spec = &x->spec;
    size_t nvalue = (size_t)spec->ninput + 4 * (size_t)spec->nport + (size_t)spec->noutput + (size_t)spec->nslope;
    size_t spec_at = round_up(sizeof(ItmFmuShared)), values = spec_at + round_up(itm_fmi_get_spec_size(spec));
    size_t run = values + round_up(sizeof(double) * (nvalue + 1)), rows = run + round_up(get_run_size(spec));
    size_t port = rows + ITM_MOST_RUN_BYTES;
    size_t log = port + round_up(sizeof(ItmFmuPortCall));
    size_t state = log + ITM_FMU_LOG_SIZE;
    x->size = state + (spec->has_state ? ITM_FMU_MOST_STATE : 64);
    *fd = memfd_create("interim-fmu", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    // sealed: a host that shrinks the file would end this process by SIGBUS
    if (*fd < 0 || ftruncate(*fd, (off_t)x->size) != 0 ||
        fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
        return false;
    }
    void* bytes = mmap(NULL, x->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, *fd, 0);
    if (bytes == MAP_FAILED) {
        return false;
    }
    x->shared = bytes;
    x->run_at = run;
    x->rows_at = rows;
    x->port_at = port;
    x->log_at = log;
    x->state_at = state;
    *x->shared = (ItmFmuShared){.limits = x->options.limits,
                                .spec = spec_at,
                                .spec_size = itm_fmi_get_spec_size(spec),
                                .values = values,
                                .run = run,
                                .run_size = get_run_size(spec),
                                .rows = rows,
                                .port = port,
                                .log = log,
                                .state = state,
                                .size = x->size};
    atomic_store(&x->shared->log_left, (uint64_t)x->options.limits.log);
    itm_fmi_write_build(x->shared->build);
    itm_fmi_pack_spec(spec, (char*)bytes + spec_at);
    x->u = (double*)(void*)((char*)bytes + values);
    x->s = x->u + spec->ninput;
    x->w = x->s + spec->nport;
    x->w_end = x->w + spec->nport;
    x->force = x->w_end + spec->nport;
    x->y = x->force + spec->nport;
    x->z = x->y + spec->noutput;
    return true;
}

static void* get_state_area(ItmFmuProcess* x)
{
    return (char*)x->shared + x->state_at;
}

static void unmap_shared(ItmFmuProcess* x)
{
    if (x->shared != NULL) {
        munmap(x->shared, x->size);
        x->shared = NULL;
    }
}

// ---------------------------------------------------------------------------- log

// What the ring has gained since the last look, up to the limit.
static void read_log(ItmFmuProcess* x)
{
    if (x->shared == NULL) {
        return;
    }
    const char* ring = (const char*)x->shared + x->log_at;
    uint64_t written = atomic_load(&x->shared->log_written);
    if (written - x->log_read > ITM_FMU_LOG_SIZE) {
        x->log_lost += written - x->log_read - ITM_FMU_LOG_SIZE;
        x->log_read = written - ITM_FMU_LOG_SIZE;
    }
    size_t n = (size_t)(written - x->log_read), most = (size_t)x->options.limits.log;
    if (x->nlog + n + 1 > x->log_room && n > 0) {
        size_t room = 2 * (x->nlog + n + 1);
        char* grown = realloc(x->log, room);
        if (grown == NULL) {
            return;
        }
        x->log = grown;
        x->log_room = room;
    }
    size_t before = x->nlog;
    for (size_t i = 0; i < n; i++) {
        if (x->nlog < most) {
            char c = ring[(x->log_read + i) % ITM_FMU_LOG_SIZE];
            x->log[x->nlog++] = c != '\0' && c != '\r' ? c : '?';
        } else {
            x->log_lost++;
        }
    }
    if (n > 0) {
        x->log[x->nlog] = '\0';
        itm_utf8_clean_lines(x->log + before);
    }
    x->log_read = written;
    x->is_log_full = atomic_load(&x->shared->log_left) == 0;
}

const char* itm_fmi_get_log(ItmFmuProcess* x, uint64_t* nleft_out)
{
    read_log(x);
    if (nleft_out != NULL) {
        *nleft_out = x->log_lost;
    }
    return x->log != NULL ? x->log : "";
}

// The last lines of the log in one line of at most `size` characters.
static void get_last_words(ItmFmuProcess* x, char* text, size_t size)
{
    const char* log = itm_fmi_get_log(x, NULL);
    size_t n = strlen(log), from = n > size - 1 ? n - (size - 1) : 0;
    const char* line = from > 0 ? strchr(log + from, '\n') : NULL;
    from = line != NULL && line[1] != '\0' ? (size_t)(line + 1 - log) : from;
    snprintf(text, size, "%s", log + from);
    for (char* c = text; *c != '\0'; c++) {
        *c = *c == '\n' || *c == '\t' ? ' ' : *c;
    }
    for (size_t k = strlen(text); k > 0 && text[k - 1] == ' '; k--) {
        text[k - 1] = '\0';
    }
}

// ---------------------------------------------------------------------------- failures

static void describe_end(const ItmFmuProcess* x, int status, const struct rusage* usage, char* text, size_t size)
{
    double limit = x->options.limits.memory, peak = 1024.0 * (double)usage->ru_maxrss;
    const char* memory = limit > 0.0 && peak > 0.7 * limit ? ", near its limit of memory" : "";
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ) {
        snprintf(text, size, "wrote a file beyond its limit of %.3g bytes", x->options.limits.file);
    } else if (WIFSIGNALED(status)) {
        snprintf(text, size, "crashed (signal %d, %s%s)", WTERMSIG(status), strsignal(WTERMSIG(status)), memory);
    } else {
        snprintf(text, size, "ended its process with exit status %d%s", WEXITSTATUS(status), memory);
    }
}

// How the host ended, with the call and the messages.
static ItmStatus fail(ItmFmuProcess* x, const char* what)
{
    char words[260], call[64] = "";
    const char* name = itm_fmi_get_call_name(atomic_load(&x->shared->watch.call));
    double time = atomic_load(&x->shared->watch.time);
    get_last_words(x, words, sizeof words);
    snprintf(call, sizeof call, "%s", name[0] != '\0' ? name : "no call");
    x->is_failed = true;
    const char* advice = x->spec.has_bytes && !x->options.is_restarting
                             ? "; on_failure: restart would go on from the last communication point"
                             : "";
    return itm_error_set(&x->error, ITM_ERR_DIVERGED, "itm_cosim_step", call,
                         "the FMU '%s' %s in %s at %.9g s%s%s%s; 'interim fmu check' tests it call by call%s", x->file,
                         what, call, time, words[0] != '\0' ? "; its last messages: '" : "", words,
                         words[0] != '\0' ? "'" : "", advice);
}

// End a host that is still there, and forget it.
static void reap(ItmFmuProcess* x)
{
    if (x->pid > 0) {
        kill(x->pid, SIGKILL);
        while (waitpid(x->pid, NULL, 0) < 0 && errno == EINTR) {
        }
        x->pid = 0;
    }
    if (x->lifeline >= 0) {
        close(x->lifeline);
        x->lifeline = -1;
    }
}

// Whether the host has ended; its end is described then.
static bool has_ended(ItmFmuProcess* x, char* what, size_t size)
{
    int status = 0;
    struct rusage usage = {0};
    pid_t pid = wait4(x->pid, &status, WNOHANG, &usage);
    if (pid == 0 || (pid < 0 && errno == EINTR)) {
        return false;
    }
    if (pid < 0) {
        snprintf(what, size, "has lost its process");
    } else {
        describe_end(x, status, &usage, what, size);
    }
    x->pid = 0;
    return true;
}

// ---------------------------------------------------------------------------- turns

static double get_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool is_our_turn(ItmFmuShared* shared)
{
    return atomic_load_explicit(&shared->turn, memory_order_acquire) == ITM_FMU_TURN_LIBRARY;
}

// Wait until the host is done. A call of the FMU that makes no progress for `limit` seconds ends the host.
static ItmStatus wait_for_host(ItmFmuProcess* x, double limit)
{
    ItmFmuShared* shared = x->shared;
    for (int i = 0; i < SPIN; i++) {
        if (is_our_turn(shared)) {
            return ITM_OK;
        }
    }
    uint64_t count = atomic_load(&shared->watch.count);
    double since = get_time();
    char what[160];
    while (!is_our_turn(shared)) {
        struct timespec slice = {0, SLICE};
        atomic_store(&shared->is_asleep[ITM_FMU_TURN_LIBRARY], 1);
        syscall(SYS_futex, &shared->turn, FUTEX_WAIT, ITM_FMU_TURN_HOST, &slice, NULL, 0);
        atomic_store(&shared->is_asleep[ITM_FMU_TURN_LIBRARY], 0);
        if (is_our_turn(shared)) {
            break;
        }
        if (has_ended(x, what, sizeof what)) {
            return fail(x, what);
        }
        uint64_t now = atomic_load(&shared->watch.count);
        since = now != count ? get_time() : since;
        count = now;
        if (limit > 0.0 && get_time() - since > limit) {
            snprintf(what, sizeof what, "took longer than its limit of %.3g s", limit);
            ItmStatus status = fail(x, what);
            reap(x);
            return status;
        }
    }
    return ITM_OK;
}

static ItmStatus call_within(ItmFmuProcess* x, ItmFmuCommand command, double limit)
{
    if (x->is_failed) {
        return x->error.status;
    }
    ItmFmuShared* shared = x->shared;
    if (command != ITM_FMU_CREATE) {
        memcpy(x->u, x->inputs, sizeof(double) * (size_t)x->spec.ninput);
    }
    shared->command = (int32_t)command;
    atomic_store(&shared->turn, ITM_FMU_TURN_HOST);
    if (atomic_load(&shared->is_asleep[ITM_FMU_TURN_HOST])) {
        syscall(SYS_futex, &shared->turn, FUTEX_WAKE, 1, NULL, NULL, 0);
    }
    ItmStatus status = wait_for_host(x, limit);
    if (status != ITM_OK) {
        return status;
    }
    if (shared->log_written != x->log_read) {
        read_log(x);
    }
    int32_t word = shared->status;  // read once: the host may change it at any time
    if (word != ITM_OK) {
        x->is_failed = true;
        x->error = shared->error;
        x->error.function = "itm_cosim_step";
        x->error.message[sizeof x->error.message - 1] = x->error.field[sizeof x->error.field - 1] = '\0';
        itm_utf8_clean_lines(x->error.message);
        itm_utf8_clean_lines(x->error.field);
        x->error.file[0] = '\0';
        x->error.line = x->error.column = 0;
        if (x->error.message[0] == '\0') {
            snprintf(x->error.message, sizeof x->error.message,
                     "the FMU '%s' failed without a message; 'interim fmu check' tests it call by call", x->file);
        }
        bool is_status = word > 0 && word < ITM_STATUS_COUNT;
        return x->error.status = is_status ? (ItmStatus)word : ITM_ERR_DIVERGED;
    }
    return ITM_OK;
}

static ItmStatus call(ItmFmuProcess* x, ItmFmuCommand command)
{
    return call_within(x, command, x->options.limits.call);
}

// ---------------------------------------------------------------------------- starting and ending

static ItmStatus spawn(ItmFmuProcess* x, int fd)
{
    char path[4200];
    const char* why = "";
    const char* host = itm_fmi_find_host(path, sizeof path, &why);
    if (host == NULL) {
        return itm_error_set(&x->error, ITM_ERR_IO, __func__, NULL, "%s", why);
    }
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return itm_error_set(&x->error, ITM_ERR_IO, __func__, NULL, "no pipe for a host process: %s", strerror(errno));
    }
    // neither of the two descriptors may be the target of the other
    int shared = fcntl(fd, F_DUPFD_CLOEXEC, 10), line = fcntl(ends[0], F_DUPFD_CLOEXEC, 10);
    close(ends[0]);
    x->lifeline = ends[1];
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, shared, ITM_FMU_SHARED_FD);
    posix_spawn_file_actions_adddup2(&actions, line, ITM_FMU_LIFELINE_FD);
    posix_spawn_file_actions_addclosefrom_np(&actions, ITM_FMU_LIFELINE_FD + 1);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none, usual;
    sigemptyset(&none);
    sigfillset(&usual);
    // a group of its own: Ctrl-C is for the library, which ends the host in order; signals as by default
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    char* arguments[] = {path, NULL};
    int code = shared < 0 || line < 0 ? errno : posix_spawn(&x->pid, host, &actions, &attributes, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    close(shared);
    close(line);
    if (code != 0) {
        x->pid = 0;
        return itm_error_set(&x->error, ITM_ERR_IO, __func__, NULL, "'%s' cannot be started: %s", host, strerror(code));
    }
    return ITM_OK;
}

// The size of a state as the host has it: within its area, and for a further host within the buffers for states of the first.
static ItmStatus take_capacity(ItmFmuProcess* x)
{
    uint64_t capacity = x->shared->state_capacity;
    size_t most = x->has_started ? x->state_capacity : x->spec.has_state ? ITM_FMU_MOST_STATE : 0;
    if (capacity > most) {
        x->is_failed = true;
        return itm_error_set(&x->error, ITM_ERR_CAPACITY, __func__, NULL,
                             "the FMU '%s' has states of %llu bytes, of which there is room for %zu", x->file,
                             (unsigned long long)capacity, most);
    }
    x->state_capacity = x->has_started ? x->state_capacity : (size_t)capacity;
    x->has_started = true;
    return ITM_OK;
}

// A new host with an instance at its start.
static ItmStatus start(ItmFmuProcess* x)
{
    int fd = -1;
    x->is_failed = x->has_stepped = x->has_values = x->has_outputs = false;
    x->log_read = 0;
    ItmStatus status = map_shared(x, &fd) ? spawn(x, fd)
                                          : itm_error_set(&x->error, ITM_ERR_MEMORY, __func__, NULL,
                                                          "no shared memory for a host process: %s", strerror(errno));
    if (fd >= 0) {
        close(fd);
    }
    if (status != ITM_OK) {
        x->is_failed = true;
        return status;
    }
    status = call(x, ITM_FMU_CREATE);
    return status == ITM_OK ? take_capacity(x) : status;
}

static void end(ItmFmuProcess* x)
{
    if (x->pid > 0 && !x->is_failed) {
        (void)call_within(x, ITM_FMU_QUIT, QUIT_TIME);
    }
    reap(x);
    read_log(x);
    unmap_shared(x);
}

ItmStatus itm_fmi_create_process(ItmFmuProcess** process, const ItmFmuSpec* spec, const ItmFmuProcessOptions* options,
                                 ItmError* error)
{
    *process = NULL;
    ItmFmuProcess* x = calloc(1, sizeof *x);
    size_t size = itm_fmi_get_spec_size(spec);
    void* packed = malloc(size);
    if (packed != NULL) {
        itm_fmi_pack_spec(spec, packed);
    }
    bool is_there = x != NULL && packed != NULL && itm_fmi_unpack_spec(&x->spec, packed, size);
    free(packed);
    if (!is_there) {
        free(x);
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "out of memory for an FMU");
    }
    x->options = *options;
    x->lifeline = -1;
    x->file = strdup(options->file != NULL ? options->file : spec->name);
    x->input_start = calloc(2 * (size_t)spec->ninput + (size_t)spec->nslope + 1, sizeof *x->input_start);
    x->inputs = x->input_start != NULL ? x->input_start + spec->ninput : NULL;
    x->nominal = x->inputs != NULL ? x->inputs + spec->ninput : NULL;
    for (int i = 0; i < spec->nslope && x->nominal != NULL; i++) {
        x->nominal[i] = spec->slopes[i].nominal;
    }
    ItmStatus status = x->file != NULL && x->input_start != NULL
                           ? start(x)
                           : itm_error_set(&x->error, ITM_ERR_MEMORY, __func__, NULL, "out of memory for an FMU");
    if (status == ITM_OK) {
        memcpy(x->input_start, x->u, sizeof(double) * (size_t)spec->ninput);
        memcpy(x->inputs, x->u, sizeof(double) * (size_t)spec->ninput);
        if (spec->has_state && spec->has_bytes) {
            x->start = calloc(1, x->state_capacity + 1);
            status = call(x, ITM_FMU_SAVE);
            if (status == ITM_OK && x->start != NULL) {
                memcpy(x->start, get_state_area(x), x->state_capacity);
            }
        }
    }
    if (status != ITM_OK) {
        if (error != NULL) {
            *error = x->error;
        }
        itm_fmi_destroy_process(x);
        return status;
    }
    *process = x;
    return ITM_OK;
}

void itm_fmi_destroy_process(ItmFmuProcess* x)
{
    if (x == NULL) {
        return;
    }
    end(x);
    itm_fmi_free_spec(&x->spec);
    free(x->file);
    free(x->input_start);
    free(x->start);
    free(x->log);
    free(x);
}

int itm_fmi_get_process_id(const ItmFmuProcess* x)
{
    return (int)x->pid;
}

int itm_fmi_count_restarts(const ItmFmuProcess* x)
{
    return x->nrestart;
}

// ---------------------------------------------------------------------------- motion and values

static void set_motion(void* self, const double* s, const double* w, const double* w_end)
{
    ItmFmuProcess* x = self;
    size_t size = sizeof(double) * (size_t)x->spec.nport;
    memcpy(x->s, s, size);
    memcpy(x->w, w, size);
    memcpy(x->w_end, w_end != NULL ? w_end : w, size);
    x->has_values = x->has_outputs = false;
}

static void set_inputs(void* self, const double* u)
{
    ItmFmuProcess* x = self;
    memcpy(x->inputs, u, sizeof(double) * (size_t)x->spec.ninput);
    x->has_values = x->has_outputs = false;
}

static void refresh(ItmFmuProcess* x)
{
    x->shared->wants_outputs = x->wants_outputs;
    bool is_good = !x->is_failed && call(x, ITM_FMU_MOVE) == ITM_OK;
    x->has_values = is_good;
    x->has_outputs = is_good && x->wants_outputs;
}

static void get_forces(void* self, double* force)
{
    ItmFmuProcess* x = self;
    if (!x->has_values && !x->is_failed) {
        refresh(x);
    }
    memcpy(force, x->force, sizeof(double) * (size_t)x->spec.nport);
}

static void get_outputs(void* self, double* y)
{
    ItmFmuProcess* x = self;
    x->wants_outputs = true;
    if (!x->has_outputs && !x->is_failed) {
        refresh(x);
    }
    memcpy(y, x->y, sizeof(double) * (size_t)x->spec.noutput);
}

static ItmStatus report(ItmFmuProcess* x, ItmStatus status, ItmError* error)
{
    if (status != ITM_OK) {
        *error = x->error;
    }
    return status;
}

// After a step the ports are where it ended, here as in the host.
static void move_ports(ItmFmuProcess* x, double h)
{
    for (int i = 0; i < x->spec.nport; i++) {
        x->s[i] += 0.5 * h * (x->w[i] + x->w_end[i]);
        x->w[i] = x->w_end[i];
    }
}

static ItmStatus do_step(void* self, double t, double h, ItmError* error)
{
    ItmFmuProcess* x = self;
    if (h == 0.0) {
        return x->is_failed ? report(x, x->error.status, error) : ITM_OK;
    }
    x->shared->t = t;
    x->shared->h = h;
    x->shared->wants_outputs = x->wants_outputs;
    x->has_stepped = true;
    ItmStatus status = call(x, ITM_FMU_STEP);
    move_ports(x, h);
    x->has_values = status == ITM_OK;
    x->has_outputs = x->has_values && x->wants_outputs;
    return report(x, status, error);
}

// ---------------------------------------------------------------------------- micro steps in the host

// Numbers of an interface model one after the other, as fmi/protocol.h lists them: out, or back.
static void copy_model(ItmRim* rim, double* v, bool is_back)
{
    size_t n = (size_t)rim->n;
    double* arrays[] = {rim->W, rim->a0, rim->a1, rim->s, rim->w, rim->w_next, rim->P0, rim->P1, rim->work};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        size_t count = i == 0 ? n * n : n;
        if (arrays[i] == NULL) {
            memset(v, 0, sizeof(double) * count);
        } else if (!is_back) {
            memcpy(v, arrays[i], sizeof(double) * count);
        } else if (i >= 3) {
            memcpy(arrays[i], v, sizeof(double) * count);
        }
        v += count;
    }
}

static void pack_run(ItmFmuProcess* x, const ItmMicroSteps* steps, ItmFmuRun* run)
{
    const ItmSubsystemInstance* subsystem = steps->subsystem;
    const ItmInterfaceModel* model = steps->model;
    size_t n = (size_t)x->spec.nport;
    *run = (ItmFmuRun){.macro_step = steps->system->step,
                       .nsteps = *itm_cosim_get_steps(steps->system),
                       .step = subsystem->step,
                       .nticks = steps->group->nticks,
                       .first = steps->first,
                       .last = steps->last,
                       .is_new = steps->is_new,
                       .is_done = steps->is_done,
                       .is_watched = true};
    run->bonds = round_up(sizeof *run);
    run->memories = run->bonds + round_up(n * sizeof(ItmBond));
    run->reals = run->memories + round_up(n * sizeof(ItmBondMemory));
    if (model != NULL) {
        const ItmRim* rim = model->rim;
        run->n = model->n;
        run->H = rim->H;
        run->tau = rim->tau;
        run->theta = rim->theta;
        run->model_step = rim->h;
        run->use_heun = model->use_heun;
        const ItmRowProblem* rows = &rim->contacts.problem;
        run->rows_size = rows->n > 0 ? itm_rim_measure_message(rim->n, rows->n, rows->ncoupling) : 0;
        snprintf(run->name, sizeof run->name, "%s", model->name);
        copy_model(model->rim, (double*)(void*)((char*)run + run->reals), false);
        if (run->rows_size > 0 && steps->is_new) {
            itm_rim_write_rows(rim, (char*)x->shared + x->rows_at);
        }
    }
    for (int i = 0; i < x->spec.nport; i++) {
        if (subsystem->bonds[i] == ITM_NONE) {
            continue;
        }
        int k = run->nbond++;
        const ItmBond* bond = &steps->system->bonds[subsystem->bonds[i]];
        ((ItmBond*)(void*)((char*)run + run->bonds))[k] = *bond;
        ((ItmBondMemory*)(void*)((char*)run + run->memories))[k] = *bond->memory;
        run->port[k] = i;
        run->row[k] = ITM_NONE;
        for (int r = 0; model != NULL && r < model->n; r++) {
            run->row[k] = model->bonds[r] == subsystem->bonds[i] ? r : run->row[k];
        }
    }
}

// Everything back into the bonds and the model; offsets are those that we made, not what the host left there. False: the host damaged
// the results.
static bool unpack_run(ItmFmuProcess* x, ItmMicroSteps* steps, ItmFmuRun* run)
{
    const ItmSubsystemInstance* subsystem = steps->subsystem;
    size_t n = (size_t)x->spec.nport;
    size_t bonds = round_up(sizeof *run), memories = bonds + round_up(n * sizeof(ItmBond));
    size_t reals = memories + round_up(n * sizeof(ItmBondMemory));
    for (int i = 0, k = 0; i < x->spec.nport; i++) {
        if (subsystem->bonds[i] == ITM_NONE) {
            continue;
        }
        ItmBond *bond = &steps->system->bonds[subsystem->bonds[i]], before = *bond;
        *bond = ((ItmBond*)(void*)((char*)run + bonds))[k];
        bond->name = before.name;
        bond->options = before.options;
        bond->mechanism = before.mechanism;
        bond->slot = before.slot;
        bond->subsystem = before.subsystem;
        bond->port = before.port;
        bond->memory = before.memory;
        *bond->memory = ((ItmBondMemory*)(void*)((char*)run + memories))[k];
        k++;
    }
    if (steps->model != NULL) {
        copy_model(steps->model->rim, (double*)(void*)((char*)run + reals), true);
        steps->model->rim->tau = run->tau;
        steps->model->rim->theta = run->theta;
    }
    bool has_results = steps->model != NULL && steps->model->rim->contacts.problem.n > 0 && steps->is_done;
    return !has_results || itm_rim_read_results(steps->model->rim, steps->model->lambda, (char*)x->shared + x->rows_at);
}

static ItmStatus run_steps(void* self, ItmMicroSteps* steps, ItmError* error)
{
    ItmFmuProcess* x = self;
    if (x->is_failed) {
        return report(x, x->error.status, error);
    }
    ItmSubsystemInstance* subsystem = steps->subsystem;
    ItmFmuRun* run = (ItmFmuRun*)(void*)((char*)x->shared + x->run_at);
    pack_run(x, steps, run);
    memcpy(x->s, subsystem->s, sizeof(double) * (size_t)x->spec.nport);
    memcpy(x->w, subsystem->w, sizeof(double) * (size_t)x->spec.nport);
    memcpy(x->w_end, subsystem->w_end, sizeof(double) * (size_t)x->spec.nport);
    x->shared->wants_state = x->spec.has_state && steps->last == steps->group->nticks;
    x->has_stepped = true;
    ItmStatus status = call(x, ITM_FMU_RUN);
    if (status != ITM_OK) {
        return report(x, status, error);
    }
    if (!unpack_run(x, steps, run)) {
        x->is_failed = true;
        itm_error_set(&x->error, ITM_ERR_DIVERGED, "itm_cosim_step", NULL,
                      "the FMU '%s' damaged the memory of its host", x->file);
        return report(x, ITM_ERR_DIVERGED, error);
    }
    memcpy(subsystem->y, x->y, sizeof(double) * (size_t)x->spec.noutput);
    memcpy(subsystem->force, x->force, sizeof(double) * (size_t)x->spec.nport);
    // the motion of the last step's end, for readers of forces
    for (int i = 0; i < x->spec.nport; i++) {
        if (subsystem->bonds[i] != ITM_NONE) {
            const ItmBond* bond = &steps->system->bonds[subsystem->bonds[i]];
            x->s[i] = bond->s_port;
            x->w[i] = x->w_end[i] = bond->w_end;
        }
    }
    x->has_values = x->has_outputs = true;
    return ITM_OK;
}

// ---------------------------------------------------------------------------- ports of a mechanism

ItmFmuPortCall* itm_fmi_get_port_call(ItmFmuProcess* x)
{
    return (ItmFmuPortCall*)(void*)((char*)x->shared + x->port_at);
}

void* itm_fmi_get_port_rows(ItmFmuProcess* x)
{
    return (char*)x->shared + x->rows_at;
}

ItmStatus itm_fmi_call_port(ItmFmuProcess* x, ItmError* error)
{
    if (x->is_failed) {
        return report(x, x->error.status, error);
    }
    bool is_commit = itm_fmi_get_port_call(x)->action == ITM_FMU_PORT_COMMIT;
    x->shared->wants_outputs = x->wants_outputs;
    x->shared->wants_state = x->spec.has_state;
    ItmStatus status = call(x, ITM_FMU_PORT);
    if (is_commit) {
        x->has_stepped = true;
        x->has_values = status == ITM_OK;
        x->has_outputs = x->has_values && x->wants_outputs;
    }
    return report(x, status, error);
}

// ---------------------------------------------------------------------------- states

static size_t get_state_size(void* self)
{
    return ((const ItmFmuProcess*)self)->state_capacity;
}

static void save(void* self, void* bytes)
{
    ItmFmuProcess* x = self;
    if (x->state_capacity == 0 || x->is_failed) {
        return;
    }
    // after a run of micro steps the state is there already
    if (x->shared->has_state || call(x, ITM_FMU_SAVE) == ITM_OK) {
        memcpy(bytes, get_state_area(x), x->state_capacity);
    }
}

static void restore(void* self, const void* bytes)
{
    ItmFmuProcess* x = self;
    if (x->state_capacity == 0) {
        return;
    }
    if (x->is_failed) {
        bool can_restart = x->options.is_restarting && x->spec.has_bytes && x->nrestart < MOST_RESTARTS;
        if (!can_restart) {
            return;
        }
        reap(x);
        read_log(x);
        unmap_shared(x);
        x->nrestart++;
        if (start(x) != ITM_OK) {
            return;
        }
        x->is_recovered = true;
    }
    memcpy(get_state_area(x), bytes, x->state_capacity);
    x->has_values = x->has_outputs = false;
    x->has_stepped = true;
    call(x, ITM_FMU_RESTORE);
}

static bool is_recovered(void* self)
{
    ItmFmuProcess* x = self;
    bool is_so = x->is_recovered && !x->is_failed;
    x->is_recovered = false;
    return is_so;
}

static void reset(void* self)
{
    ItmFmuProcess* x = self;
    if (!x->has_stepped && !x->is_failed) {
        return;
    }
    if (x->start != NULL && !x->is_failed) {
        restore(x, x->start);
        x->has_stepped = x->is_failed;
    } else {
        end(x);
        start(x);
    }
    memcpy(x->inputs, x->input_start, sizeof(double) * (size_t)x->spec.ninput);
}

static void get_states(void* self, double* states)
{
    ItmFmuProcess* x = self;
    if (!x->is_failed) {
        (void)call(x, ITM_FMU_GET_STATES);
    }
    memcpy(states, x->z, sizeof(double) * (size_t)x->spec.nslope);
}

static void set_states(void* self, const double* states)
{
    ItmFmuProcess* x = self;
    memcpy(x->z, states, sizeof(double) * (size_t)x->spec.nslope);
    x->has_values = x->has_outputs = false;
    x->has_stepped = true;
    (void)call(x, ITM_FMU_SET_STATES);
}

ItmStatus itm_fmi_compare_process_derivatives(ItmFmuProcess* x, double* worst, int* count, ItmError* error)
{
    ItmStatus status = call(x, ITM_FMU_DERIVE);
    *worst = x->shared->deviation;
    *count = x->shared->ndirection;
    return report(x, status, error);
}

static const char* get_log(void* self, size_t* nleft_out)
{
    uint64_t nlost;
    const char* log = itm_fmi_get_log(self, &nlost);
    *nleft_out = (size_t)nlost;
    return log;
}

// ---------------------------------------------------------------------------- table

ItmSubsystem itm_fmi_get_process_table(ItmFmuProcess* x)
{
    ItmSubsystem table = itm_fmi_describe(&x->spec, x->nominal, x->input_start);
    table.self = x;
    table.set_motion = set_motion;
    table.get_forces = get_forces;
    table.set_inputs = set_inputs;
    table.get_outputs = get_outputs;
    table.do_step = do_step;
    table.reset = reset;
    table.get_state_size = get_state_size;
    table.save = save;
    table.restore = restore;
    table.get_states = x->spec.has_state_access ? get_states : NULL;
    table.set_states = x->spec.has_state_access ? set_states : NULL;
    table.is_recovered = is_recovered;
    table.get_log = get_log;
    table.run = run_steps;
    return table;
}
