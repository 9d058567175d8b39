// libFuzzer target: HDF5 results of strangers. The first byte chooses:
//   'p'  a sound file with bytes of it changed, in pairs of an offset (4 bytes) and 8 bytes to put there
//   'm'  the message that a reader's child process sends: it may have been taken over by the file
//   else the bytes are the file.
// A child process reads files. Its counters of coverage are in memory that both share, so that the fuzzer sees what it reaches. Faults
// inside the HDF5 library are expected, and end the child; faults of our own code in the child are finds.
#define _GNU_SOURCE
#include "fuzz_input.h"

#include "interim/file.h"
#include "interim/results.h"
#include "interim/run.h"
#include "io/results/isolated.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <stdbool.h>
#include <sys/mman.h>

static char* sound;  // the results of a short run
static size_t nsound;
static volatile char* fault;  // shared with children: set where one ends by a fault of our own code

// The sanitizer sees signals although the child resets their handlers. A size that a file claims may be too large for malloc.
const char* __asan_default_options(void);
const char* __asan_default_options(void)
{
    return "handle_segv=2:handle_sigbus=2:handle_sigfpe=2:handle_abort=2:allocator_may_return_null=1";
}

// The only code that the sanitizers of undefined behaviour watch is ours; a fault of memory is ours if it happened in this program.
static void note_death(void)
{
    Dl_info at = {0}, here = {0};
    bool is_ours = !__asan_report_present() || (dladdr(__asan_get_report_pc(), &at) != 0 &&
                                                dladdr((void*)&sound, &here) != 0 && at.dli_fbase == here.dli_fbase);
    *fault = is_ours;
}

// In the child only: the fuzzer's own callback keeps the input that ends this process.
static void start_child(void)
{
    __sanitizer_set_death_callback(note_death);
}

// Where the counters start and end. In assembly, because the compiler makes symbols of the same name for its own use.
extern char* const counter_range[2];
__asm__(".pushsection .data.rel.ro,\"aw\"\n"
        "counter_range: .quad __start___sancov_cntrs, __stop___sancov_cntrs\n"
        ".popsection");

// The pages that hold nothing but counters become shared.
static void share_counters(void)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    char* start = (char*)(((uintptr_t)counter_range[0] + page - 1) / page * page);
    char* end = (char*)((uintptr_t)counter_range[1] / page * page);
    if (start >= end || mmap(start, (size_t)(end - start), PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != start) {
        __builtin_trap();
    }
}

// The results of a run, with provenance, scene and motion.
static void run_pendulum(const char* path)
{
    ItmError error = {0};
    ItmModelFile* file = NULL;
    ItmCosim* cosim = NULL;
    ItmRun* run = NULL;
    ItmStatus status = itm_file_load(&file, ITM_SOURCE_DIR "/examples/pendulum.yaml", NULL, 0, &error);
    status = status == ITM_OK ? itm_file_create_cosim(&cosim, file, NULL, &error) : status;
    if (status == ITM_OK) {
        ItmRunOptions options = itm_default_run_options(file);
        options.path = path;
        options.duration = 0.02;
        status = itm_run_create(&run, file, cosim, &options, &error);
    }
    if (status != ITM_OK || itm_run_advance_to(run, 1.0) != ITM_OK || itm_run_close(run) != ITM_OK) {
        __builtin_trap();
    }
    itm_run_destroy(run);
    itm_cosim_destroy(cosim);
    itm_file_destroy(file);
}

static void set_up(void)
{
    ItmError error = {0};
    const char* path = write_input((const uint8_t*)"", 0, "-sound.h5");
    run_pendulum(path);
    ItmTable* table = NULL;
    if (itm_results_read(&table, path, &error) != ITM_OK || table->nrow == 0 || table->record == NULL) {
        __builtin_trap();  // the reader is what is tested: it must work
    }
    itm_results_table_destroy(table);
    sound = read_whole(path, &nsound);
    unlink(path);
    fault = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    share_counters();
    if (pthread_atfork(NULL, NULL, start_child) != 0) {
        __builtin_trap();
    }
}

static const char* change_sound(const uint8_t* data, size_t size)
{
    uint8_t* bytes = malloc(nsound);
    memcpy(bytes, sound, nsound);
    change_bytes(bytes, nsound, data, size);
    const char* path = write_input(bytes, nsound, ".h5");
    free(bytes);
    return path;
}

// A message fits into the buffer of a pipe.
static void receive(const uint8_t* data, size_t size)
{
    int ends[2];
    ItmError error = {0};
    ItmTable* table = calloc(1, sizeof *table);
    table->record = calloc(1, sizeof *table->record);
    if (pipe(ends) != 0 || write(ends[1], data, size) != (ssize_t)size) {
        __builtin_trap();
    }
    close(ends[1]);
    ItmStatus status = itm_isolated_receive(table, ends[0], 1 << 24, &error);
    close(ends[0]);
    if (status == ITM_OK) {
        itm_record_is_valid(table->record);
    }
    itm_results_table_destroy(table);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (sound == NULL) {
        set_up();
    }
    if (size > 0 && data[0] == 'm') {
        receive(data + 1, size - 1);
        return 0;
    }
    bool is_change = size > 0 && data[0] == 'p';
    const char* path = is_change ? change_sound(data + 1, size - 1) : write_input(data, size, ".h5");
    ItmTable* table = NULL;
    ItmError error = {0};
    if (itm_results_read(&table, path, &error) == ITM_OK) {
        for (int i = 0; i < table->ncolumn && table->nrow > 0; i++) {
            itm_results_table_get(table, table->nrow - 1, i);
        }
        itm_results_table_destroy(table);
    } else if (error.message[0] == '\0') {
        __builtin_trap();
    }
    if (*fault) {
        __builtin_trap();
    }
    unlink(path);
    return 0;
}
