// Every example given on the command line x coordinates x stepper x coupling, for a short time each: no run may finish without doubts while its
// energies are out of balance. Prints a row per run that was not refused, and the totals; status 1 if a run was silent.
//   torture_matrix SECONDS EXAMPLE.yaml...
#include "matrix.h"

static const char* const COUPLINGS[][2] = {
    {NULL, NULL},
    {"cosim.coupling=zoh", "cosim.exchange=hold"},
    {"cosim.coupling=linear", "cosim.exchange=hold"},
    {"cosim.coupling=quadratic", "cosim.exchange=hold"},
    {"cosim.coupling=rim", "cosim.exchange=hold"},
    {"cosim.coupling=rim", "cosim.exchange=impulse"},
    {"cosim.coupling=rim-nonsmooth", "cosim.exchange=impulse"},
    {"cosim.coupling=rim-nonsmooth", "cosim.exchange=hold"},
    {"cosim.coupling=monolithic", NULL},
};

#define NCOUPLING ((int)(sizeof COUPLINGS / sizeof COUPLINGS[0]))

static const char* name_coupling(int i)
{
    static char name[80];
    const char* coupling = COUPLINGS[i][0] != NULL ? strchr(COUPLINGS[i][0], '=') + 1 : "as in the file";
    const char* exchange = COUPLINGS[i][1] != NULL ? strchr(COUPLINGS[i][1], '=') + 1 : "";
    snprintf(name, sizeof name, "%s%s%s", coupling, exchange[0] != '\0' ? ", " : "", exchange);
    return name;
}

static const char* base_name(const char* path)
{
    const char* slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

// Number of position coordinates; -1 where the model is refused or has several mechanisms.
static int count_positions(const char* path, const char* override)
{
    ItmModelFile* file = NULL;
    ItmError error;
    int n = -1;
    if (itm_file_load(&file, path, &override, override != NULL, &error) == ITM_OK) {
        n = file->model != NULL ? itm_model_get_info(file->model).nq : -1;
        itm_file_destroy(file);
    }
    return n;
}

typedef struct Totals {
    long ends[MATRIX_END_COUNT], nsilent;
} Totals;

static void run_couplings(Totals* totals, const char* path, const char* stepper, const char* coordinates,
                          double duration)
{
    static const char* const ENDS[MATRIX_END_COUNT] = {"refused", "finished", "doubts", "broke down"};
    int ncoupling = 1;
    for (int c = 0; c < ncoupling; c++) {
        char choice[60];
        const char* overrides[4] = {choice};
        int n = 1;
        snprintf(choice, sizeof choice, "run.stepper=%s", stepper);
        for (int i = 0; i < 2 && COUPLINGS[c][i] != NULL; i++) {
            overrides[n++] = COUPLINGS[c][i];
        }
        if (coordinates != NULL) {
            overrides[n++] = coordinates;
        }
        MatrixRun run = matrix_run(path, overrides, n, duration);
        bool is_honest = matrix_is_honest(&run);
        ncoupling = run.nbond > 0 ? NCOUPLING : ncoupling;
        totals->ends[run.end]++;
        totals->nsilent += !is_honest;
        if (run.end != MATRIX_REFUSED) {
            printf("%-30s %-10s %-8s %-24s %-10s %8.4g s  error %8.2g J of %8.3g J%s  %s\n", base_name(path), stepper,
                   coordinates != NULL ? strchr(coordinates, '=') + 1 : "as given", name_coupling(c), ENDS[run.end],
                   run.time, run.error, run.energy, is_honest ? "" : "  SILENT", run.message);
            fflush(stdout);
        }
    }
}

int main(int argc, char** argv)
{
    static const char* const COORDINATES[] = {NULL, "multibody.coordinates=joint", "multibody.coordinates=absolute"};
    Totals totals = {0};
    double duration = argc > 1 ? atof(argv[1]) : 0.0;
    for (int k = 2; k < argc; k++) {
        int given = count_positions(argv[k], NULL);
        for (int i = 0; i < 3; i++) {
            int nq = i > 0 ? count_positions(argv[k], COORDINATES[i]) : -1;
            for (int s = 0; s < ITM_STEPPER_COUNT && (i == 0 || (nq > 0 && nq != given)); s++) {
                run_couplings(&totals, argv[k], itm_stepper_name((ItmStepper)s), COORDINATES[i], duration);
            }
        }
    }
    const long* n = totals.ends;
    printf("matrix: %ld runs, %ld finished, %ld with doubts, %ld broke down; %ld refused; %ld silent\n",
           n[MATRIX_FINISHED] + n[MATRIX_DOUBTFUL] + n[MATRIX_BROKE_DOWN], n[MATRIX_FINISHED], n[MATRIX_DOUBTFUL],
           n[MATRIX_BROKE_DOWN], n[MATRIX_REFUSED], totals.nsilent);
    return totals.nsilent > 0;
}
