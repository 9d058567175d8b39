// The process in which one instance of an FMU runs. The library starts it and shares one mapping with it (fmi/protocol.h).
//
// It waits for a command, carries it out, and hands the turn back. Micro steps of a whole macro step run here (RUN): the group
// that the library would step is rebuilt around the FMU in this process, with the same code (cosim/group.c, rim/step.c), so
// that both ways give the same bits.
//
// A thread reads what the FMU prints into the log, and ends the process when the library has gone: its end of the lifeline is
// closed by the kernel, whichever way it died. (PR_SET_PDEATHSIG would fire when the thread that started the host ends.)
#define _GNU_SOURCE
#include "base/error.h"
#include "cosim/cosim.h"
#include "fmi/instance.h"
#include "fmi/protocol.h"
#include "rim/message.h"
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
// crashes of the FMU must end the process by their signal
__attribute__((visibility("default"))) const char* __asan_default_options(void);
const char* __asan_default_options(void)
{
    return "handle_segv=0:handle_sigbus=0:handle_abort=0:handle_sigfpe=0:handle_sigill=0:detect_leaks=0";
}
#endif

typedef struct Host {
    ItmFmuShared* shared;
    ItmFmuSpec spec;
    ItmFmuInstance* instance;
    double *u, *s, *w, *w_end, *force, *y, *z;  // in the area `values`
    pthread_mutex_t log_lock;
    int output;  // read end of the pipe that is stdout and stderr
    // the group of this FMU alone, for RUN
    ItmCosim system;
    ItmSubsystemInstance subsystem;
    ItmGroup group;
    ItmInterfaceModel model;
    ItmRim rim;
    ItmRimRoom room;  // of its bounded rows, read at the start of a macro step
} Host;

static void* at(Host* x, uint64_t offset)
{
    return (char*)x->shared + offset;
}

// ---------------------------------------------------------------------------- log

static void write_log(Host* x, const char* text, size_t size)
{
    ItmFmuShared* shared = x->shared;
    char* ring = at(x, shared->log);
    pthread_mutex_lock(&x->log_lock);
    uint64_t left = atomic_load(&shared->log_left), written = atomic_load(&shared->log_written);
    size_t n = size < left ? size : (size_t)left;
    for (size_t i = 0; i < n; i++) {
        ring[(written + i) % ITM_FMU_LOG_SIZE] = text[i];
    }
    atomic_store(&shared->log_left, left - n);
    // what does not fit counts as written: the library computes how much is missing
    atomic_store(&shared->log_written, written + n);
    pthread_mutex_unlock(&x->log_lock);
}

static void log_message(void* context, int status, const char* category, const char* text)
{
    static const char* const WORDS[] = {"ok", "warning", "discard", "error", "fatal", "pending"};
    Host* x = context;
    char line[2304];
    double time = x->instance != NULL ? x->instance->binary.time : x->spec.start;
    int n = snprintf(line, sizeof line, "%.6f s: %s%s%s: %s\n", time, status >= 0 && status < 6 ? WORDS[status] : "?",
                     category[0] != '\0' ? ", " : "", category, text);
    size_t size = n > 0 && (size_t)n < sizeof line ? (size_t)n : sizeof line - 1;
    write_log(x, line, size);
}

// Until the library has gone.
static void* attend(void* context)
{
    Host* x = context;
    struct pollfd fds[2] = {{.fd = ITM_FMU_LIFELINE_FD, .events = POLLIN}, {.fd = x->output, .events = POLLIN}};
    for (;;) {
        if (poll(fds, 2, -1) < 0 && errno != EINTR) {
            _exit(0);
        }
        if (fds[0].revents != 0) {
            _exit(0);
        }
        if (fds[1].revents & POLLIN) {
            char text[4096];
            ssize_t n = read(x->output, text, sizeof text);
            if (n > 0) {
                write_log(x, text, (size_t)n);
            }
        } else if (fds[1].revents != 0) {
            fds[1].fd = -1;
        }
    }
}

static bool start_attendant(Host* x)
{
    int ends[2], none = open("/dev/null", O_RDONLY | O_CLOEXEC);
    pthread_t thread;
    pthread_attr_t attributes;
    if (none < 0 || pipe2(ends, O_CLOEXEC) != 0) {
        return false;
    }
    dup2(none, 0);
    dup2(ends[1], 1);
    dup2(ends[1], 2);
    close(ends[1]);
    close(none);
    setvbuf(stdout, NULL, _IOLBF, 0);
    x->output = ends[0];
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, 256 * 1024);
    return pthread_create(&thread, &attributes, attend, x) == 0;
}

// ---------------------------------------------------------------------------- commands

static void place_values(Host* x)
{
    double* v = at(x, x->shared->values);
    x->u = v;
    x->s = x->u + x->spec.ninput;
    x->w = x->s + x->spec.nport;
    x->w_end = x->w + x->spec.nport;
    x->force = x->w_end + x->spec.nport;
    x->y = x->force + x->spec.nport;
    x->z = x->y + x->spec.noutput;
}

// The group around the FMU alone; what does not change between runs.
static void prepare_group(Host* x)
{
    x->subsystem =
        (ItmSubsystemInstance){.table = itm_fmi_get_table(x->instance), .name = (char*)(uintptr_t)x->spec.name};
    size_t n = (size_t)x->spec.nport + 1;
    x->subsystem.bonds = calloc(n, sizeof *x->subsystem.bonds);
    x->subsystem.s = calloc(4 * n + (size_t)x->spec.noutput, sizeof(double));
    x->subsystem.w = x->subsystem.s + n;
    x->subsystem.w_end = x->subsystem.w + n;
    x->subsystem.force = x->subsystem.w_end + n;
    x->subsystem.y = x->subsystem.force + n;
    x->group.subsystems = calloc(1, sizeof(int));
    x->group.interface_models = calloc(1, sizeof(ItmInterfaceModel*));
    x->group.nsubsystem = 1;
    x->model.bonds = calloc(ITM_FMU_MOST_PORTS, sizeof(int));
    x->model.lambda = calloc(2 * ITM_FMU_MOST_PORTS, sizeof(double));
    x->model.w_end = x->model.lambda != NULL ? x->model.lambda + ITM_FMU_MOST_PORTS : NULL;
    x->system.subsystems = &x->subsystem;
    x->system.groups = &x->group;
    x->system.nsubsystem = x->system.ngroup = 1;
}

static ItmStatus create(Host* x)
{
    ItmFmuShared* shared = x->shared;
    if (!itm_fmi_unpack_spec(&x->spec, at(x, shared->spec), shared->spec_size)) {
        return itm_error_set(&shared->error, ITM_ERR_ARGUMENT, "host", NULL, "the message of the library is damaged");
    }
    place_values(x);
    ItmStatus status = itm_fmi_create_instance(&x->instance, &x->spec, &shared->watch, log_message, x, &shared->error);
    if (status != ITM_OK) {
        return status;
    }
    prepare_group(x);
    shared->state_capacity = x->instance->state_capacity;
    itm_fmi_get_inputs(x->instance, x->u);
    return ITM_OK;
}

static ItmStatus take_error(Host* x)
{
    if (x->instance->is_failed) {
        x->shared->error = x->instance->error;
        return x->instance->error.status;
    }
    return ITM_OK;
}

static void give_values(Host* x)
{
    itm_fmi_get_forces(x->instance, x->force);
    if (x->shared->wants_outputs) {
        itm_fmi_get_outputs(x->instance, x->y);
    }
}

static ItmStatus move(Host* x)
{
    itm_fmi_set_inputs(x->instance, x->u);
    itm_fmi_set_motion(x->instance, x->s, x->w, x->w_end);
    give_values(x);
    return take_error(x);
}

static ItmStatus step(Host* x)
{
    itm_fmi_set_inputs(x->instance, x->u);
    itm_fmi_set_motion(x->instance, x->s, x->w, x->w_end);
    ItmStatus status = itm_fmi_step(x->instance, x->shared->t, x->shared->h);
    if (x->instance->is_failed) {
        return take_error(x);
    }
    x->shared->error = x->instance->error;
    give_values(x);
    return status != ITM_OK ? status : take_error(x);
}

static ItmStatus save(Host* x)
{
    x->shared->has_state = itm_fmi_save(x->instance, at(x, x->shared->state));
    return take_error(x);
}

static ItmStatus restore(Host* x)
{
    itm_fmi_restore(x->instance, at(x, x->shared->state));
    return take_error(x);
}

static ItmStatus derive(Host* x)
{
    int count;
    ItmStatus status = itm_fmi_compare_derivatives(x->instance, &x->shared->deviation, &count);
    x->shared->ndirection = count;
    x->shared->error = x->instance->binary.error;
    return status;
}

// ---------------------------------------------------------------------------- ports of a mechanism

// After a macro step outputs and state are given, too.
static ItmStatus call_port(Host* x)
{
    ItmFmuPortCall* call = at(x, x->shared->port);
    if (call->action == ITM_FMU_PORT_BEGIN || call->action == ITM_FMU_PORT_DERIVE) {
        itm_fmi_set_inputs(x->instance, x->u);
    }
    ItmStatus status = itm_fmi_serve_port(x->instance, call, at(x, x->shared->rows));
    if (status != ITM_OK) {
        x->shared->error = x->instance->error;
        return status;
    }
    if (call->action != ITM_FMU_PORT_COMMIT) {
        return ITM_OK;
    }
    give_values(x);
    return x->shared->wants_state ? save(x) : take_error(x);
}

// ---------------------------------------------------------------------------- micro steps

// The bounded rows of a macro step that begins; they stay here until it ends.
static ItmStatus read_rows(Host* x, const ItmFmuRun* run)
{
    x->rim.contacts.problem.n = x->rim.contacts.problem.ncoupling = 0;
    return run->rows_size > 0
               ? itm_rim_read_rows(&x->rim, &x->room, at(x, x->shared->rows), run->rows_size, &x->shared->error)
               : ITM_OK;
}

// The interface model, its numbers where the library put them.
static void place_model(Host* x, ItmFmuRun* run)
{
    int n = run->n;
    double* v = (double*)(void*)((char*)run + run->reals);
    ItmRim* rim = &x->rim;
    *rim = (ItmRim){.n = n,
                    .model = &x->room.model,
                    .data = &x->room.data,
                    .contacts = rim->contacts,
                    .H = run->H,
                    .tau = run->tau,
                    .theta = run->theta,
                    .h = run->model_step,
                    .use_heun = run->use_heun != 0};
    double** arrays[] = {&rim->a0, &rim->a1, &rim->s, &rim->w, &rim->w_next, &rim->P0, &rim->P1, &rim->work};
    rim->W = v;
    v += n * n;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = v;
        v += n;
    }
    x->model.rim = rim;
    x->model.n = n;
    x->model.name = run->name;
    x->model.use_heun = run->use_heun != 0;
    x->model.K = x->model.last = run->nticks;
    x->group.interface_models[0] = &x->model;
    x->group.ninterface_model = n > 0;
}

static void place_bonds(Host* x, ItmFmuRun* run)
{
    ItmBond* bonds = (ItmBond*)(void*)((char*)run + run->bonds);
    ItmBondMemory* memories = (ItmBondMemory*)(void*)((char*)run + run->memories);
    for (int i = 0; i < x->spec.nport; i++) {
        x->subsystem.bonds[i] = ITM_NONE;
        x->subsystem.s[i] = x->s[i];
        x->subsystem.w[i] = x->w[i];
        x->subsystem.w_end[i] = x->w_end[i];
    }
    for (int i = 0; i < run->nbond; i++) {
        bonds[i].memory = &memories[i];
        bonds[i].name = NULL;
        bonds[i].subsystem = 0;
        bonds[i].port = run->port[i];
        x->subsystem.bonds[run->port[i]] = i;
        if (run->row[i] != ITM_NONE) {
            x->model.bonds[run->row[i]] = i;
        }
    }
    x->system.bonds = bonds;
    x->system.nbond = run->nbond;
}

static ItmStatus run_steps(Host* x)
{
    ItmFmuShared* shared = x->shared;
    ItmFmuRun* run = at(x, shared->run);
    place_model(x, run);
    place_bonds(x, run);
    x->system.step = run->macro_step;
    x->system.state = &run->nsteps;
    x->subsystem.step = run->step;
    x->subsystem.period = 1;
    x->group.nticks = run->nticks;
    itm_fmi_set_inputs(x->instance, x->u);
    ItmStatus status = run->is_new ? read_rows(x, run) : ITM_OK;
    if (status != ITM_OK) {
        return status;
    }
    status = itm_group_run_ticks(&x->system, &x->group, run->first, run->last);
    run->tau = x->rim.tau;
    run->theta = x->rim.theta;
    if (status != ITM_OK) {
        shared->error = x->instance->is_failed ? x->instance->error : x->group.error;
        return status;
    }
    if (run->rows_size > 0 && run->is_done) {
        itm_rim_write_results(&x->rim, x->model.lambda, at(x, shared->rows));
    }
    if (run->is_watched) {
        itm_fmi_get_outputs(x->instance, x->y);
    }
    memcpy(x->force, x->subsystem.force, sizeof(double) * (size_t)x->spec.nport);
    status = take_error(x);
    return status == ITM_OK && shared->wants_state ? save(x) : status;
}

static ItmStatus serve(Host* x)
{
    ItmFmuShared* shared = x->shared;
    shared->has_state = 0;
    if (shared->command != ITM_FMU_CREATE && x->instance == NULL) {
        return itm_error_set(&shared->error, ITM_ERR_ARGUMENT, "host", NULL, "there is no instance");
    }
    switch (shared->command) {
    case ITM_FMU_CREATE:
        return create(x);
    case ITM_FMU_MOVE:
        return move(x);
    case ITM_FMU_STEP:
        return step(x);
    case ITM_FMU_RUN:
        return run_steps(x);
    case ITM_FMU_SAVE:
        return save(x);
    case ITM_FMU_RESTORE:
        return restore(x);
    case ITM_FMU_GET_STATES:
        itm_fmi_get_states(x->instance, x->z);
        return take_error(x);
    case ITM_FMU_SET_STATES:
        itm_fmi_set_states(x->instance, x->z);
        return take_error(x);
    case ITM_FMU_DERIVE:
        return derive(x);
    case ITM_FMU_PORT:
        return call_port(x);
    default:
        return ITM_OK;
    }
}

// ---------------------------------------------------------------------------- turns

// A short spin before the kernel is asked to wait: a macro step of a small FMU takes a few microseconds. Between the micro steps of
// a mechanism the partner takes one of its own, and the spin is longer.
#define SPIN 2000
#define MICRO_STEP_SPIN 20000

static void wait_for_turn(ItmFmuShared* shared)
{
    int spin = shared->command == ITM_FMU_PORT ? MICRO_STEP_SPIN : SPIN;
    for (int i = 0; i < spin; i++) {
        if (atomic_load_explicit(&shared->turn, memory_order_acquire) == ITM_FMU_TURN_HOST) {
            return;
        }
    }
    // the flag is set before the kernel looks at the turn, and the other side looks at the flag after changing the turn
    atomic_store(&shared->is_asleep[ITM_FMU_TURN_HOST], 1);
    while (atomic_load_explicit(&shared->turn, memory_order_acquire) != ITM_FMU_TURN_HOST) {
        syscall(SYS_futex, &shared->turn, FUTEX_WAIT, ITM_FMU_TURN_LIBRARY, NULL, NULL, 0);
    }
    atomic_store(&shared->is_asleep[ITM_FMU_TURN_HOST], 0);
}

static void hand_over(ItmFmuShared* shared)
{
    atomic_store(&shared->turn, ITM_FMU_TURN_LIBRARY);
    if (atomic_load(&shared->is_asleep[ITM_FMU_TURN_LIBRARY])) {
        syscall(SYS_futex, &shared->turn, FUTEX_WAKE, 1, NULL, NULL, 0);
    }
}

static ItmFmuShared* map_shared(void)
{
    struct stat info;
    if (fstat(ITM_FMU_SHARED_FD, &info) != 0 || (size_t)info.st_size < sizeof(ItmFmuShared)) {
        return NULL;
    }
    void* bytes = mmap(NULL, (size_t)info.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, ITM_FMU_SHARED_FD, 0);
    return bytes != MAP_FAILED ? bytes : NULL;
}

int main(void)
{
    static Host host = {.log_lock = PTHREAD_MUTEX_INITIALIZER};
    Host* x = &host;
    x->shared = map_shared();
    if (x->shared == NULL) {
        fprintf(stderr, "interim-fmu-host is started by interim to run an FMU; it is not a program for users\n");
        return 1;
    }
    close(ITM_FMU_SHARED_FD);
    const char* why = "the host process is of another version of Interim than the library";
    char build[64];
    itm_fmi_write_build(build);
    bool is_ready = strcmp(x->shared->build, build) == 0 && itm_sandbox_enter(&x->shared->limits, &why);
    if (is_ready && !start_attendant(x)) {
        why = "the host process cannot start its thread";
        is_ready = false;
    }
    for (bool is_on = true; is_on;) {
        wait_for_turn(x->shared);
        is_on = is_ready && x->shared->command != ITM_FMU_QUIT;
        ItmStatus status = is_ready ? serve(x) : itm_error_set(&x->shared->error, ITM_ERR_IO, "host", NULL, "%s", why);
        x->shared->status = (int32_t)status;
        if (!is_on && is_ready) {
            itm_fmi_destroy_instance(x->instance);
            x->instance = NULL;
        }
        hand_over(x->shared);
    }
    // no destructors of the FMU's library: they are a frequent place of crashes, and the process ends anyway
    _exit(0);
}
