// Hostile FMUs: each has an expected verdict, and none of them takes the library along.
#include "../check.h"

#include "fmi/fmu.h"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// ---------------------------------------------------------------------------- the zoo

// A copy of the hostile FMU as a folder, with the fault that it reads; NULL: none.
static const char* make_fmu(const char* fault)
{
    static char root[512];
    char command[2048];
    snprintf(root, sizeof root, "zoo-%d", (int)getpid());
    snprintf(command, sizeof command, "rm -rf %s && mkdir -p %s && cp -r %s/zoo/. %s/", root, root, ITM_FMU_DIR, root);
    assert_int_equal(system(command), 0);
    char path[600];
    snprintf(path, sizeof path, "%s/resources/fault.txt", root);
    if (fault != NULL) {
        FILE* file = fopen(path, "w");
        assert_non_null(file);
        fputs(fault, file);
        fclose(file);
    }
    return root;
}

static void remove_fmu(void)
{
    char command[600];
    snprintf(command, sizeof command, "rm -rf zoo-%d", (int)getpid());
    assert_int_equal(system(command), 0);
}

typedef struct Run {
    ItmStatus status;
    ItmError error;
    int nstep;  // steps that went well
    char log[4096];
    size_t nlog;
    uint64_t nleft_out;
} Run;

// Make an instance and take ten steps.
static Run run_fmu(const char* fault, ItmFmuLimits limits)
{
    Run r = {.status = ITM_OK};
    ItmFmu* fmu = NULL;
    ItmFmuProcess* process = NULL;
    ItmSubsystem table = {0};
    r.status = itm_fmu_open(&fmu, make_fmu(fault), &r.error);
    if (r.status == ITM_OK) {
        ItmFmuDef def = itm_default_fmi_def();
        def.limits = limits;
        r.status = itm_fmi_choose(fmu, &def, &r.error);
    }
    r.status = r.status == ITM_OK ? itm_fmi_make_subsystem(&table, fmu, &process, &r.error) : r.status;
    for (int i = 0; i < 10 && r.status == ITM_OK; i++) {
        r.status = table.do_step(table.self, 1e-3 * i, 1e-3, &r.error);
        r.nstep += r.status == ITM_OK;
    }
    if (process != NULL) {
        const char* log = itm_fmi_get_log(process, &r.nleft_out);
        r.nlog = strlen(log);
        snprintf(r.log, sizeof r.log, "%.4000s", log);
        table.destroy(table.self);
    }
    itm_fmu_close(fmu);
    remove_fmu();
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    return r;
}

static ItmFmuLimits get_limits(void)
{
    ItmFmuLimits limits = itm_default_fmi_limits();
    limits.call = 0.3;
    limits.memory = 300e6;
    limits.file = 5e6;
    limits.log = 20e3;
    return limits;
}

static void check_message(const Run* r, const char* words)
{
    if (strstr(r->error.message, words) == NULL) {
        fail_msg("message '%s' lacks '%s'", r->error.message, words);
    }
}

// ---------------------------------------------------------------------------- endings

static void every_ending_is_reported_with_call_and_time(void** state)
{
    (void)state;
    static const struct {
        const char* fault;
        int nstep;  // -1: it is not even made
        const char* words[3];
    } ENDINGS[] = {
        {"fmi2DoStep crash 4", 3, {"crashed (signal 11", "fmi2DoStep", "0.003 s"}},
        {"fmi2DoStep abort 1", 0, {"crashed (signal 6", "fmi2DoStep", "0 s"}},
        {"fmi2DoStep divide 2", 1, {"crashed (signal 8", "fmi2DoStep", "0.001 s"}},
        {"fmi2DoStep exit 3", 2, {"exit status 7", "fmi2DoStep", "0.002 s"}},
        {"fmi2DoStep hang 2", 1, {"longer than its limit of 0.3 s", "fmi2DoStep", "0.001 s"}},
        {"fmi2DoStep sleep 2", 1, {"longer than its limit", "fmi2DoStep", "interim fmu check"}},
        {"fmi2DoStep stop 2", 1, {"longer than its limit", "fmi2DoStep", "0.001 s"}},
        {"fmi2DoStep write 2", 1, {"wrote a file beyond its limit", "fmi2DoStep", "0.001 s"}},
        {"fmi2Instantiate crash 1", -1, {"crashed (signal 11", "fmi2Instantiate", ""}},
        {"fmi2Instantiate exit 1", -1, {"exit status 7", "fmi2Instantiate", ""}},
        {"fmi2SetupExperiment crash 1", -1, {"crashed (signal 11", "fmi2SetupExperiment", ""}},
        {"fmi2EnterInitializationMode hang 1", -1, {"longer than", "fmi2EnterInitializationMode", ""}},
        {"fmi2ExitInitializationMode crash 1", -1, {"crashed (signal 11", "fmi2ExitInitializationMode", ""}},
        {"fmi2GetReal crash 1", -1, {"crashed (signal 11", "fmi2GetReal", ""}},
        {"fmi2GetFMUstate crash 1", -1, {"crashed (signal 11", "fmi2GetFMUstate", ""}},
        {"fmi2Terminate crash 1", 10, {"", "", ""}},
        {"fmi2FreeInstance crash 1", 10, {"", "", ""}},
    };
    for (size_t i = 0; i < sizeof ENDINGS / sizeof *ENDINGS; i++) {
        Run r = run_fmu(ENDINGS[i].fault, get_limits());
        bool is_good = ENDINGS[i].nstep == 10;
        if ((r.status == ITM_OK) != is_good || r.nstep != (ENDINGS[i].nstep < 0 ? 0 : ENDINGS[i].nstep)) {
            fail_msg("%s: status %d after %d steps: %s", ENDINGS[i].fault, (int)r.status, r.nstep, r.error.message);
        }
        for (int k = 0; k < 3 && !is_good; k++) {
            check_message(&r, ENDINGS[i].words[k]);
        }
    }
}

static void memory_without_an_end_is_stopped(void** state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__)
    SKIP("the address sanitizer needs the memory itself");
#endif
    ItmFmuLimits limits = get_limits();
    limits.memory = 60e6;
    limits.call = 20.0;
    Run r = run_fmu("fmi2DoStep leak 2", limits);
    assert_int_not_equal(r.status, ITM_OK);
    check_message(&r, "near its limit of memory");
}

// ---------------------------------------------------------------------------- what is refused to them

static void processes_network_and_signals_are_refused(void** state)
{
    (void)state;
    static const char* const FAULTS[][2] = {
        {"fmi2DoStep fork 1", "fork was refused"},      {"fmi2DoStep exec 1", "exec was refused"},
        {"fmi2DoStep network 1", "socket was refused"}, {"fmi2DoStep kill 1", "kill was refused"},
        {"fmi2DoStep around 1", "pidfd was refused"},   {"fmi2DoStep around 1", "uring was refused"},
        {"fmi2DoStep around 1", "keys was refused"},    {"fmi2DoStep format 1", "#r1# 42 te?[2J??xt 3.142 c"},
    };
    for (size_t i = 0; i < sizeof FAULTS / sizeof *FAULTS; i++) {
        Run r = run_fmu(FAULTS[i][0], get_limits());
        CHECK_OK(r.status, &r.error);
        if (strstr(r.log, FAULTS[i][1]) == NULL) {
            fail_msg("%s: log '%s'", FAULTS[i][0], r.log);
        }
    }
}

static void flood_of_messages_is_bounded(void** state)
{
    (void)state;
    ItmFmuLimits limits = get_limits();
    limits.call = 20.0;
    Run r = run_fmu("fmi2DoStep flood 2", limits);
    CHECK_OK(r.status, &r.error);
    assert_true(r.nlog <= 20000 && r.nlog > 10000);
}

static void wrong_token_is_refused_with_its_message(void** state)
{
    (void)state;
    char command[600];
    const char* root = make_fmu(NULL);
    snprintf(command, sizeof command, "sed -i 's/{oscillator-1}/{another}/' %s/modelDescription.xml", root);
    assert_int_equal(system(command), 0);
    ItmError error;
    ItmFmu* fmu = NULL;
    ItmSubsystem table;
    CHECK_OK(itm_fmu_open(&fmu, root, &error), &error);
    ItmFmuDef def = itm_default_fmi_def();
    CHECK_OK(itm_fmi_choose(fmu, &def, &error), &error);
    assert_int_not_equal(itm_fmi_make_subsystem(&table, fmu, NULL, &error), ITM_OK);
    assert_non_null(strstr(error.message, "the GUID is not that of this library"));
    itm_fmu_close(fmu);
    remove_fmu();
}

// ---------------------------------------------------------------------------- claims

static ItmFmu* open_zoo(const char* fault, bool has_port)
{
    static const ItmFmuPortDef PISTON = {
        .name = "piston", .rate = "piston.w", .position = "piston.s", .force = "piston.force"};
    ItmError error;
    ItmFmu* fmu = NULL;
    CHECK_OK(itm_fmu_open(&fmu, make_fmu(fault), &error), &error);
    ItmFmuDef def = itm_default_fmi_def();
    def.limits = get_limits();
    def.ports = &PISTON;
    def.nport = has_port;
    CHECK_OK(itm_fmi_choose(fmu, &def, &error), &error);
    return fmu;
}

static void claims_of_state_are_tested(void** state)
{
    (void)state;
    static const struct {
        const char* fault;
        bool has_state;
        int nnote;
        const char* words;
    } CLAIMS[] = {
        {NULL, true, 0, ""},
        {"fmi2SetFMUstate lie 1", false, 2, "does not continue as the saved one did"},
        {"fmi2SetFMUstate crash 1", false, 2, "crashed (signal 11"},
        {"fmi2GetFMUstate hang 1", false, 2, "longer than"},
    };
    for (size_t i = 0; i < sizeof CLAIMS / sizeof *CLAIMS; i++) {
        ItmError error;
        ItmFmu* fmu = open_zoo(CLAIMS[i].fault, true);
        CHECK_OK(itm_fmi_prove(fmu, &error), &error);
        assert_int_equal(itm_fmi_get_spec(fmu)->has_state, CLAIMS[i].has_state);
        assert_int_equal(itm_fmi_get_note_count(fmu), CLAIMS[i].nnote);
        if (CLAIMS[i].nnote > 0 && strstr(itm_fmi_get_note(fmu, 0), CLAIMS[i].words) == NULL) {
            fail_msg("note '%s' lacks '%s'", itm_fmi_get_note(fmu, 0), CLAIMS[i].words);
        }
        itm_fmu_close(fmu);
        remove_fmu();
    }
}

static void latch_is_found_and_refreshed(void** state)
{
    (void)state;
    ItmError error;
    ItmFmu* fmu = open_zoo("fmi2DoStep latch", true);
    CHECK_OK(itm_fmi_prove(fmu, &error), &error);
    assert_true(itm_fmi_get_spec(fmu)->is_latched);
    assert_int_equal(itm_fmi_get_note_count(fmu), 1);
    assert_non_null(strstr(itm_fmi_get_note(fmu, 0), "latches its inputs"));
    itm_fmu_close(fmu);
    remove_fmu();
}

static void claims_of_derivatives_are_tested(void** state)
{
    (void)state;
    static const struct {
        const char* fault;
        ItmFmuVerdict verdict;
        const char* words;
    } CLAIMS[] = {
        {NULL, ITM_FMU_HOLDS, ""},
        {"fmi2GetDirectionalDerivative twist 1", ITM_FMU_WRONG, "differ from differences by 0.01"},
        {"fmi2GetDirectionalDerivative crash 2", ITM_FMU_CRASHED, "crashed (signal 11"},
    };
    for (size_t i = 0; i < sizeof CLAIMS / sizeof *CLAIMS; i++) {
        ItmError error;
        ItmFmu* fmu = NULL;
        CHECK_OK(itm_fmu_open(&fmu, make_fmu(CLAIMS[i].fault), &error), &error);
        ItmFmuDef def = itm_default_fmi_def();
        def.kind = ITM_FMI_MODEL_EXCHANGE;
        def.limits = get_limits();
        CHECK_OK(itm_fmi_choose(fmu, &def, &error), &error);
        CHECK_OK(itm_fmi_prove(fmu, &error), &error);
        assert_int_equal(itm_fmi_get_spec(fmu)->has_derivatives, CLAIMS[i].verdict == ITM_FMU_HOLDS);
        assert_int_equal(itm_fmi_get_note_count(fmu), CLAIMS[i].verdict != ITM_FMU_HOLDS);
        if (CLAIMS[i].verdict != ITM_FMU_HOLDS && strstr(itm_fmi_get_note(fmu, 0), CLAIMS[i].words) == NULL) {
            fail_msg("note '%s' lacks '%s'", itm_fmi_get_note(fmu, 0), CLAIMS[i].words);
        }
        itm_fmu_close(fmu);
        remove_fmu();
    }
}

// Instances in processes of their own do not meet.
static void once_per_process_is_no_limit(void** state)
{
    (void)state;
    ItmError error;
    ItmFmu* fmu = open_zoo("fmi2Instantiate once 1", false);
    ItmSubsystem tables[3];
    for (int i = 0; i < 3; i++) {
        CHECK_OK(itm_fmi_make_subsystem(&tables[i], fmu, NULL, &error), &error);
    }
    for (int i = 0; i < 3; i++) {
        CHECK_OK(tables[i].do_step(tables[i].self, 0.0, 1e-3, &error), &error);
        tables[i].destroy(tables[i].self);
    }
    itm_fmu_close(fmu);
    remove_fmu();
}

// ---------------------------------------------------------------------------- kill -9

static bool is_running(int pid)
{
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE* file = fopen(path, "r");
    if (file == NULL) {
        return false;
    }
    size_t n = fread(text, 1, sizeof text - 1, file);
    text[n] = '\0';
    fclose(file);
    const char* end = strrchr(text, ')');
    return end != NULL && end[2] != 'Z';
}

static void killed_host_is_an_error_and_no_zombie(void** state)
{
    (void)state;
    ItmError error;
    ItmFmu* fmu = open_zoo(NULL, false);
    for (int i = 0; i < 20; i++) {
        ItmSubsystem table;
        ItmFmuProcess* process;
        CHECK_OK(itm_fmi_make_subsystem(&table, fmu, &process, &error), &error);
        int pid = itm_fmi_get_process_id(process), n = 0;
        pid_t killer = fork();
        if (killer == 0) {
            nanosleep(&(struct timespec){0, 100000L * i}, NULL);
            kill(pid, SIGKILL);
            _exit(0);
        }
        ItmStatus status = ITM_OK;
        for (; status == ITM_OK && n < 10000000; n++) {
            status = table.do_step(table.self, 1e-4 * n, 1e-4, &error);
        }
        assert_int_not_equal(status, ITM_OK);
        assert_non_null(strstr(error.message, "crashed (signal 9"));
        table.destroy(table.self);
        assert_int_equal(waitpid(killer, NULL, 0), killer);
        assert_false(is_running(pid));
    }
    itm_fmu_close(fmu);
    remove_fmu();
}

// A master that dies at once leaves no host behind, not even one that hangs.
static void killed_master_leaves_no_orphan(void** state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        pid_t master = fork();
        if (master == 0) {
            ItmError error;
            ItmFmu* fmu = open_zoo(i % 2 == 0 ? NULL : "fmi2DoStep hang 3", false);
            ItmSubsystem table;
            ItmFmuProcess* process;
            if (itm_fmi_make_subsystem(&table, fmu, &process, &error) != ITM_OK) {
                _exit(1);
            }
            int pid = itm_fmi_get_process_id(process);
            if (write(ends[1], &pid, sizeof pid) != sizeof pid) {
                _exit(1);
            }
            for (int n = 0;; n++) {
                table.do_step(table.self, 1e-4 * n, 1e-4, &error);
            }
        }
        int pid = 0;
        close(ends[1]);
        assert_int_equal(read(ends[0], &pid, sizeof pid), sizeof pid);
        close(ends[0]);
        nanosleep(&(struct timespec){0, 200000L * i}, NULL);
        kill(master, SIGKILL);
        assert_int_equal(waitpid(master, NULL, 0), master);
        for (int k = 0; k < 200 && is_running(pid); k++) {
            nanosleep(&(struct timespec){0, 5000000L}, NULL);
        }
        assert_false(is_running(pid));
        char command[600];
        snprintf(command, sizeof command, "rm -rf zoo-%d", (int)master);
        assert_int_equal(system(command), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_ending_is_reported_with_call_and_time),
        cmocka_unit_test(memory_without_an_end_is_stopped),
        cmocka_unit_test(processes_network_and_signals_are_refused),
        cmocka_unit_test(flood_of_messages_is_bounded),
        cmocka_unit_test(wrong_token_is_refused_with_its_message),
        cmocka_unit_test(claims_of_state_are_tested),
        cmocka_unit_test(latch_is_found_and_refreshed),
        cmocka_unit_test(claims_of_derivatives_are_tested),
        cmocka_unit_test(once_per_process_is_no_limit),
        cmocka_unit_test(killed_host_is_an_error_and_no_zombie),
        cmocka_unit_test(killed_master_leaves_no_orphan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
