// The border of the library: no public function crashes because of a NULL object, a NULL name or path, or an index that is out of
// range. The calls are generated from the headers (api_calls.awk), so that a new function is tested from its first day; each runs in
// a process of its own.
#include "check.h"
#include "interim/interim.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// What the arguments are in a mode.
//   objects   1: valid; 0: NULL; -1, -2: only the first, only the second is NULL
//   index     for every int
//   values    1: zeroed memory for inputs, a name for strings; 0: NULL
typedef struct Mode {
    const char* name;
    int objects, index, values;
} Mode;

static const Mode MODES[] = {
    {"everything NULL", 0, 0, 0},
    {"no object", 0, 1, 1},
    {"first object NULL", -1, 0, 1},
    {"second object NULL", -2, 0, 1},
    {"inputs and names NULL", 1, 0, 0},
    {"index 2^30", 1, 1 << 30, 1},
    {"index -7", 1, -7, 1},
};

typedef struct ApiCall {
    const char* name;
    int (*call)(void);  // status, -1 where the function returns none
    int nhandle;
} ApiCall;

static Mode mode;
static double scratch[1 << 14];
static char results_path[] = "test_api.csv";
#define FMU_FOLDER "test_api.fmu"
static struct {
    ItmModel* ItmModel;
    ItmData* ItmData;
    ItmCosim* ItmCosim;
    ItmCosimBuilder* ItmCosimBuilder;
    ItmModelBuilder* ItmModelBuilder;
    ItmCircuit* ItmCircuit;
    ItmCircuitBuilder* ItmCircuitBuilder;
    ItmHydraulics* ItmHydraulics;
    ItmControl* ItmControl;
    ItmControlBuilder* ItmControlBuilder;
    ItmController* ItmController;
    ItmResults* ItmResults;
    ItmMlcpWorkspace* ItmMlcpWorkspace;
    ItmModelFile* ItmModelFile;
    ItmFileCircuit* ItmFileCircuit;
    ItmFileFmu* ItmFileFmu;
    ItmRun* ItmRun;
    ItmLinear* ItmLinear;
    ItmDrives* ItmDrives;
    ItmStudy* ItmStudy;
    ItmStudyPool* ItmStudyPool;
    ItmTable* ItmTable;
    ItmProvenance* ItmProvenance;
    ItmFmu* ItmFmu;
} objects;

static ItmCosim* run_cosim;
static ItmFileFmu no_fmu;

#define HANDLE(i, type) (mode.objects == 0 || mode.objects == -1 - (i) ? NULL : objects.type)
#define OUTPUT (mode.objects == 0 && mode.values == 0 ? NULL : (void*)scratch)
#define INPUT (mode.values == 0 ? NULL : (void*)scratch)
#define STRING (mode.values == 0 ? NULL : "nothing")
#define INDEX (mode.index)
#define WORD (mode.index)

#include "api_calls.h"

#define NCALL ((int)(sizeof CALLS / sizeof CALLS[0]))

// ---------------------------------------------------------------------------- objects

// Results of a run, and what they say of it.
static void create_table(const ItmModelFile* file)
{
    ItmError error = {0};
    ItmRun* run = NULL;
    ItmCosim* cosim = NULL;
    ItmRunOptions options = itm_default_run_options(file);
    options.duration = 0.02;
    options.path = results_path;
    CHECK_OK(itm_file_create_cosim(&cosim, file, NULL, &error), &error);
    CHECK_OK(itm_run_create(&run, file, cosim, &options, &error), &error);
    CHECK_OK(itm_run_advance(run, INFINITY), itm_run_get_error(run));
    CHECK_OK(itm_run_close(run), itm_run_get_error(run));
    itm_run_destroy(run);
    itm_cosim_destroy(cosim);
    CHECK_OK(itm_results_read(&objects.ItmTable, results_path, &error), &error);
    CHECK_OK(itm_provenance_read(&objects.ItmProvenance, results_path, &error), &error);
}

// An FMU without a library, as a folder.
static void create_fmu(void)
{
    static const char DESCRIPTION[] =
        "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"m\" guid=\"{1}\"><CoSimulation modelIdentifier=\"m\"/>"
        "<ModelVariables><ScalarVariable name=\"x\" valueReference=\"0\" causality=\"output\"><Real/></ScalarVariable>"
        "</ModelVariables><ModelStructure/></fmiModelDescription>";
    ItmError error = {0};
    mkdir(FMU_FOLDER, 0777);
    FILE* file = fopen(FMU_FOLDER "/modelDescription.xml", "w");
    assert_non_null(file);
    fputs(DESCRIPTION, file);
    fclose(file);
    CHECK_OK(itm_fmu_open(&objects.ItmFmu, FMU_FOLDER, &error), &error);
}

static void create_objects(void)
{
    ItmError error = {0};
    const char* path = ITM_SOURCE_DIR "/examples/crane-single.yaml";
    CHECK_OK(itm_file_load(&objects.ItmModelFile, path, NULL, 0, &error), &error);
    ItmModelFile* file = objects.ItmModelFile;
    objects.ItmFileFmu = &no_fmu;
    objects.ItmModel = file->model;
    objects.ItmFileCircuit = &file->circuits[0];
    objects.ItmCircuit = file->circuits[0].circuit;
    CHECK_OK(itm_data_create(&objects.ItmData, objects.ItmModel, NULL, &error), &error);
    CHECK_OK(itm_file_create_cosim(&objects.ItmCosim, file, NULL, &error), &error);
    CHECK_OK(itm_file_create_hydraulics(&objects.ItmHydraulics, objects.ItmFileCircuit, NULL, &error), &error);
    CHECK_OK(itm_cosim_builder_create(&objects.ItmCosimBuilder, &error), &error);
    CHECK_OK(itm_model_builder_create(&objects.ItmModelBuilder, NULL, &error), &error);
    CHECK_OK(itm_circuit_builder_create(&objects.ItmCircuitBuilder, &error), &error);
    CHECK_OK(itm_control_builder_create(&objects.ItmControlBuilder, &error), &error);
    ItmControlBlockDef gain = itm_default_control_block_def(ITM_CONTROL_EXPRESSION);
    gain.name = "twice";
    gain.input = "2 * machine.speed";
    CHECK_OK(itm_control_builder_add_block(objects.ItmControlBuilder, &gain, NULL, &error), &error);
    CHECK_OK(itm_control_build(&objects.ItmControl, objects.ItmControlBuilder, &error), &error);
    CHECK_OK(itm_controller_create(&objects.ItmController, objects.ItmControl, &error), &error);
    ItmMlcpCapacity capacity = itm_default_mlcp_capacity(4, 1);
    CHECK_OK(itm_mlcp_workspace_create(&objects.ItmMlcpWorkspace, &capacity, &error), &error);
    ItmRunOptions run = itm_default_run_options(file);
    run.duration = 0.05;
    CHECK_OK(itm_file_create_cosim(&run_cosim, file, NULL, &error), &error);
    CHECK_OK(itm_run_create(&objects.ItmRun, file, run_cosim, &run, &error), &error);
    CHECK_OK(itm_linear_create(&objects.ItmLinear, objects.ItmCosim, NULL, 0, NULL, 0),
             itm_cosim_get_error(objects.ItmCosim));
    CHECK_OK(itm_study_create(&objects.ItmStudy, path, NULL, NULL, 0, &error), &error);
    CHECK_OK(itm_study_add_axis(objects.ItmStudy, "run.duration=0,1ms", &error), &error);
    CHECK_OK(itm_study_prepare(objects.ItmStudy, &error), &error);
    CHECK_OK(itm_study_pool_create(&objects.ItmStudyPool, objects.ItmStudy, NULL, &error), &error);
    create_table(file);
    create_fmu();
    CHECK_OK(itm_results_create(&objects.ItmResults, results_path, objects.ItmModel, "", "", &error), &error);
}

static void destroy_objects(void)
{
    itm_fmu_close(objects.ItmFmu);
    remove(FMU_FOLDER "/modelDescription.xml");
    remove(FMU_FOLDER);
    itm_results_close(objects.ItmResults, ITM_VERDICT_FINISHED, NULL, NULL);
    itm_study_pool_destroy(objects.ItmStudyPool);
    itm_study_destroy(objects.ItmStudy);
    itm_results_table_destroy(objects.ItmTable);
    itm_provenance_destroy(objects.ItmProvenance);
    itm_run_destroy(objects.ItmRun);
    itm_cosim_destroy(run_cosim);
    itm_linear_destroy(objects.ItmLinear);
    itm_mlcp_workspace_destroy(objects.ItmMlcpWorkspace);
    itm_controller_destroy(objects.ItmController);
    itm_control_destroy(objects.ItmControl);
    itm_control_builder_destroy(objects.ItmControlBuilder);
    itm_circuit_builder_destroy(objects.ItmCircuitBuilder);
    itm_model_builder_destroy(objects.ItmModelBuilder);
    itm_cosim_builder_destroy(objects.ItmCosimBuilder);
    itm_hydraulics_destroy(objects.ItmHydraulics);
    itm_cosim_destroy(objects.ItmCosim);
    itm_data_destroy(objects.ItmData);
    itm_file_destroy(objects.ItmModelFile);
}

// ---------------------------------------------------------------------------- calls

// With NULL they do nothing and return ITM_OK, as the headers say.
static bool may_be_null(const char* name)
{
    return strcmp(name, "itm_results_close") == 0 || strcmp(name, "itm_results_note_step") == 0;
}

// Not called with a large index: it is the place in an array whose length they are not told, or a number of steps that only takes
// long.
static bool is_left_out(const char* name)
{
    return mode.index > 1 && (strcmp(name, "itm_report_describe_run") == 0 || strcmp(name, "itm_advice_run") == 0);
}

// The status of the call in a process of its own, or 1000 + signal.
static int call(const ApiCall* c)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDERR_FILENO);
        static const int SIGNALS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};  // cmocka catches them
        for (size_t i = 0; i < sizeof SIGNALS / sizeof SIGNALS[0]; i++) {
            signal(SIGNALS[i], SIG_DFL);
        }
        alarm(10);
        _exit(c->call() & 0xff);
    }
    int outcome = 0;
    while (waitpid(pid, &outcome, 0) < 0 && errno == EINTR) {
    }
    return WIFSIGNALED(outcome) ? 1000 + WTERMSIG(outcome) : WEXITSTATUS(outcome);
}

static void no_call_crashes(void** state)
{
    (void)state;
    create_objects();
    int nbad = 0, ncall = 0;
    for (size_t k = 0; k < sizeof MODES / sizeof MODES[0]; k++) {
        for (int i = 0; i < NCALL; i++) {
            mode = MODES[k];
            if (is_left_out(CALLS[i].name)) {
                continue;
            }
            int status = call(&CALLS[i]);
            bool is_missing =
                mode.objects == 0 ? CALLS[i].nhandle > 0 : CALLS[i].nhandle >= -mode.objects && mode.objects < 0;
            bool is_bad =
                status >= 1000 || status == 99 || (is_missing && status == ITM_OK && !may_be_null(CALLS[i].name));
            ncall++;
            nbad += is_bad;
            if (is_bad) {
                print_message("%s, %s: %s %d\n", CALLS[i].name, mode.name, status >= 1000 ? "signal" : "status",
                              status % 1000);
            }
        }
    }
    print_message("%d calls of %d functions, %d bad\n", ncall, NCALL, nbad);
    destroy_objects();
    remove(results_path);
    assert_int_equal(nbad, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_call_crashes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
