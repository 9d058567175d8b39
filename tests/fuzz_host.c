// libFuzzer target: what the host process of an FMU may write into the memory that it shares with the library. The library's side is
// compiled here with its calls to the kernel replaced: no process is started, and where it would wait for the host, the input takes the
// host's turn. An input is a count and so many calls of the library, one byte each, then the turns of the host:
//   flags      1: the host ends; 2: it does not give the turn back; 4: it puts sound contact rows into the area `rows` first; 8: sound results
//   count      of changes (up to 15), each of an area (1 byte), an offset (3 bytes) and 8 bytes to put there
#define _GNU_SOURCE
#include "fuzz_input.h"

#include "base/error.h"
#include "base/utf8.h"
#include "cosim/cosim.h"
#include "fmi/process.h"
#include "interim/interim.h"
#include "rim/message.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#define FAKE_PID 4194305  // beyond the largest process number
#define STEPS 80          // macro steps of the manipulator until it pushes the block
#define MICRO 4
#define MOST_CALLS 24

// The manipulator at a communication point, with contacts at its interface.
static struct {
    ItmModelFile* file;
    ItmCosim* system;
    ItmMechanism* part;
    char* state;
    char *rows, *results;  // sound messages (size)
    size_t size;
} scene;

// The host that is played.
static struct {
    const uint8_t* data;
    size_t size;
    ItmFmuShared areas;  // as the library made them
    size_t mapped;
    bool has_ended, is_new;
} player;

static uint8_t next_byte(void)
{
    if (player.size == 0) {
        return 0;
    }
    player.size--;
    return *player.data++;
}

static void put_message(ItmFmuShared* shared, const char* bytes)
{
    memcpy((char*)shared + player.areas.rows, bytes, scene.size);
    ItmFmuPortCall* call = (ItmFmuPortCall*)(void*)((char*)shared + player.areas.port);
    call->rows_size = scene.size;
    call->ncontact = 1;
}

static void change_area(ItmFmuShared* shared)
{
    const uint64_t starts[] = {0,
                               player.areas.values,
                               player.areas.run,
                               player.areas.rows,
                               player.areas.port,
                               player.areas.log,
                               player.areas.state};
    uint64_t start = starts[next_byte() % (sizeof starts / sizeof *starts)];
    size_t offset = next_byte();
    offset = offset << 8 | next_byte();
    offset = offset << 8 | next_byte();
    for (size_t i = 0; i < 8; i++) {
        uint8_t byte = next_byte();
        if (start + offset + i < player.mapped) {
            ((char*)shared)[start + offset + i] = (char)byte;
        }
    }
}

static void take_turn(ItmFmuShared* shared)
{
    if (player.is_new) {
        memcpy(&player.areas, shared, sizeof player.areas);
        player.mapped = shared->size;
        player.is_new = false;
        shared->state_capacity = shared->limits.file > 0.0 ? 100 : 0;
    }
    shared->status = ITM_OK;
    uint8_t flags = next_byte(), count = next_byte() & 15;
    if (flags & 4) {
        put_message(shared, scene.rows);
    }
    if (flags & 8) {
        put_message(shared, scene.results);
    }
    for (int i = 0; i < count && player.size > 0; i++) {
        change_area(shared);
    }
    player.has_ended = flags & 1;
    if (!(flags & 3)) {
        atomic_store(&shared->turn, ITM_FMU_TURN_LIBRARY);
    }
}

static long fuzz_syscall(long number, ...)
{
    va_list arguments;
    va_start(arguments, number);
    _Atomic uint32_t* turn = va_arg(arguments, _Atomic uint32_t*);
    int what = va_arg(arguments, int);
    va_end(arguments);
    if (number == SYS_futex && what == FUTEX_WAIT) {
        take_turn((ItmFmuShared*)(void*)((char*)turn - offsetof(ItmFmuShared, turn)));
    }
    return 0;
}

static int fuzz_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                      const posix_spawnattr_t* attributes, char* const* words, char* const* environment)
{
    (void)path, (void)actions, (void)attributes, (void)words, (void)environment;
    *pid = FAKE_PID;
    player.is_new = true;
    player.has_ended = false;
    return 0;
}

static pid_t fuzz_wait4(pid_t pid, int* status, int options, struct rusage* usage)
{
    (void)options, (void)usage;
    *status = player.has_ended ? SIGSEGV : 0;
    return player.has_ended ? pid : 0;
}

#define syscall fuzz_syscall
#define posix_spawn fuzz_spawn
#define wait4 fuzz_wait4
#define waitpid(pid, status, options) (pid)
#define kill(pid, signal) (void)(signal)
#include "fmi/process.c"

// ---------------------------------------------------------------------------- scene

static void check(ItmStatus status)
{
    if (status != ITM_OK) {
        __builtin_trap();
    }
}

static void begin_step(void)
{
    check(itm_cosim_restore(scene.system, scene.state, itm_cosim_get_state_size(scene.system)));
    itm_mechanism_measure(scene.system, scene.part);
    itm_mechanism_reduce(scene.system, scene.part, 0);
    check(scene.part->status);
    check(itm_rim_begin(&scene.part->rim, MICRO, true));
}

static void set_up(void)
{
    setenv("INTERIM_FMU_HOST", "/bin/true", 1);
    check(itm_file_load(&scene.file, ITM_SOURCE_DIR "/examples/manipulator.yaml", NULL, 0, NULL));
    check(itm_file_create_cosim(&scene.system, scene.file, NULL, NULL));
    for (int i = 0; i < STEPS; i++) {
        check(itm_cosim_step(scene.system));
    }
    scene.state = malloc(itm_cosim_get_state_size(scene.system));
    check(itm_cosim_save(scene.system, scene.state, itm_cosim_get_state_size(scene.system)));
    scene.part = &scene.system->mechanisms[0];
    begin_step();
    ItmRim* rim = &scene.part->rim;
    const ItmRowProblem* rows = &rim->contacts.problem;
    if (rows->n == 0 || rim->n != 2) {
        __builtin_trap();
    }
    scene.size = itm_rim_measure_message(rim->n, rows->n, rows->ncoupling);
    scene.rows = calloc(1, scene.size);
    scene.results = calloc(1, scene.size);
    itm_rim_write_rows(rim, scene.rows);
    double lambda[2] = {9e3, -2e3};
    for (int i = 0; i < MICRO; i++) {
        check(itm_rim_advance(rim, rim->H / MICRO, lambda));
    }
    itm_rim_write_results(rim, lambda, scene.results);
}

// ---------------------------------------------------------------------------- calls of the library

// Micro steps of the manipulator's interface model in the host, whose results the mechanism takes over.
static void run_micro_steps(const ItmSubsystem* table)
{
    begin_step();
    int bonds[2] = {0, 1};
    double motion[6] = {0}, force[2] = {0}, y[2] = {0};
    ItmSubsystemInstance subsystem = {.table = *table,
                                      .step = 1e-3,
                                      .bonds = bonds,
                                      .s = motion,
                                      .w = motion + 2,
                                      .w_end = motion + 4,
                                      .force = force,
                                      .y = y};
    ItmGroup group = {.nticks = MICRO};
    ItmMicroSteps steps = {.system = scene.system,
                           .group = &group,
                           .model = &scene.part->interface_model,
                           .subsystem = &subsystem,
                           .last = MICRO,
                           .is_new = true,
                           .is_done = true};
    ItmError error = {0};
    if (table->run(table->self, &steps, &error) == ITM_OK) {
        itm_mechanism_take_over(scene.part);
    }
}

// Contact rows of a mechanism in the host: micro steps are taken here. As in fmi/mechanism.c and cosim/foreign.c.
static void take_rows(ItmFmuProcess* x)
{
    ItmError error = {0};
    double reals[2 * 2 + 7 * 2] = {1e-3, 0.0, 0.0, 1e-3}, lambda[2] = {9e3, -2e3};
    ItmRim rim = {.n = 2,
                  .H = 1e-3,
                  .W = reals,
                  .a0 = reals + 4,
                  .s = reals + 6,
                  .w = reals + 8,
                  .w_next = reals + 10,
                  .P0 = reals + 12,
                  .P1 = reals + 14,
                  .work = reals + 16};
    ItmRimRoom* room = calloc(1, sizeof *room);
    itm_fmi_get_port_call(x)->action = ITM_FMU_PORT_BEGIN;
    if (itm_fmi_call_port(x, &error) == ITM_OK) {
        uint64_t size = itm_fmi_get_port_call(x)->rows_size;
        if (size <= ITM_MOST_RUN_BYTES && size > 0 &&
            itm_rim_read_rows(&rim, room, itm_fmi_get_port_rows(x), (size_t)size, &error) == ITM_OK) {
            ItmStatus status = itm_rim_begin(&rim, MICRO, true);
            for (int i = 0; i < MICRO && status == ITM_OK; i++) {
                status = itm_rim_advance(&rim, rim.H / MICRO, lambda);
            }
            itm_rim_write_results(&rim, lambda, itm_fmi_get_port_rows(x));
        }
    }
    itm_rim_free_room(room);
    free(room);
}

static void call_library(ItmFmuProcess* x, const ItmSubsystem* table, char* state, uint8_t what)
{
    double v[2] = {1.0, 2.0}, worst;
    int count;
    uint64_t nleft;
    ItmError error = {0};
    switch (what % 13) {
    case 0:
        table->set_motion(x, v, v, NULL);
        break;
    case 1:
        table->set_inputs(x, v);
        break;
    case 2:
        table->get_forces(x, v);
        break;
    case 3:
        table->get_outputs(x, v);
        break;
    case 4:
        table->do_step(x, 0.0, 1e-3, &error);
        break;
    case 5:
        table->save(x, state);
        break;
    case 6:
        table->restore(x, state);
        break;
    case 7:
        table->reset(x);
        break;
    case 8:
        if (table->get_states != NULL) {
            table->get_states(x, v);
        }
        break;
    case 9:
        if (table->set_states != NULL) {
            table->set_states(x, v);
        }
        break;
    case 10:
        run_micro_steps(table);
        break;
    case 11:
        take_rows(x);
        break;
    default:
        itm_fmi_compare_process_derivatives(x, &worst, &count, &error);
    }
    itm_fmi_get_log(x, &nleft);
    table->is_recovered(x);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static const ItmFmuScalar SCALARS[2] = {{.count = 1, .scale = 1.0}, {.count = 1, .scale = 1.0}};
    static const ItmFmuPort PORTS[2] = {{.has_rate = true}, {.has_rate = true}};
    static const ItmFmuSlope SLOPES[2] = {{.nominal = 1.0}, {.nominal = 1.0}};
    if (scene.file == NULL) {
        set_up();
    }
    if (size < 2) {
        return 0;
    }
    uint8_t kind = data[0], ncall = data[1] % MOST_CALLS;
    const uint8_t* calls = data + 2;
    if (size < 2u + ncall) {
        return 0;
    }
    player.data = calls + ncall;
    player.size = size - 2 - ncall;
    ItmFmuSpec spec = {.name = "f",
                       .library = "/f",
                       .resources = "/",
                       .token = "",
                       .version = 2,
                       .has_state = kind & 1,
                       .has_bytes = kind & 2,
                       .has_state_access = kind & 4,
                       .ninput = 2,
                       .noutput = 2,
                       .nport = 2,
                       .nslope = 2,
                       .inputs = SCALARS,
                       .outputs = SCALARS,
                       .ports = PORTS,
                       .slopes = SLOPES};
    ItmFmuProcessOptions options = {.limits = {.call = 1e-9, .log = 3000.0, .file = kind & 1},
                                    .is_restarting = kind & 8};
    ItmFmuProcess* x = NULL;
    ItmError error = {0};
    if (itm_fmi_create_process(&x, &spec, &options, &error) != ITM_OK) {
        if (error.message[0] == '\0' || error.status <= ITM_OK || error.status >= ITM_STATUS_COUNT) {
            __builtin_trap();  // an error without a message
        }
        return 0;
    }
    ItmSubsystem table = itm_fmi_get_process_table(x);
    char* state = calloc(1, table.get_state_size(x) + 1);
    for (int i = 0; i < ncall; i++) {
        call_library(x, &table, state, calls[i]);
    }
    free(state);
    itm_fmi_destroy_process(x);
    return 0;
}
