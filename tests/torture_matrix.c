// Every example given on the command line x stepper x coupling, for a short time each: no run may finish without doubts while its
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

int main(int argc, char** argv)
{
    static const char* const ENDS[MATRIX_END_COUNT] = {"refused", "finished", "doubts", "broke down"};
    long count[MATRIX_END_COUNT] = {0}, nsilent = 0;
    double duration = argc > 1 ? atof(argv[1]) : 0.0;
    for (int k = 2; k < argc; k++) {
        for (int s = 0; s < ITM_STEPPER_COUNT; s++) {
            int ncoupling = 1;
            for (int c = 0; c < ncoupling; c++) {
                char stepper[60];
                const char* overrides[3] = {stepper};
                int n = 1;
                snprintf(stepper, sizeof stepper, "run.stepper=%s", itm_stepper_name((ItmStepper)s));
                for (int i = 0; i < 2 && COUPLINGS[c][i] != NULL; i++) {
                    overrides[n++] = COUPLINGS[c][i];
                }
                MatrixRun run = matrix_run(argv[k], overrides, n, duration);
                bool is_honest = matrix_is_honest(&run);
                ncoupling = run.nbond > 0 ? NCOUPLING : ncoupling;
                count[run.end]++;
                nsilent += !is_honest;
                if (run.end != MATRIX_REFUSED) {
                    printf("%-30s %-10s %-24s %-10s %8.4g s  error %8.2g J of %8.3g J%s  %s\n", base_name(argv[k]),
                           itm_stepper_name((ItmStepper)s), name_coupling(c), ENDS[run.end], run.time, run.error,
                           run.energy, is_honest ? "" : "  SILENT", run.message);
                    fflush(stdout);
                }
            }
        }
    }
    printf("matrix: %ld runs, %ld finished, %ld with doubts, %ld broke down; %ld refused; %ld silent\n",
           count[MATRIX_FINISHED] + count[MATRIX_DOUBTFUL] + count[MATRIX_BROKE_DOWN], count[MATRIX_FINISHED],
           count[MATRIX_DOUBTFUL], count[MATRIX_BROKE_DOWN], count[MATRIX_REFUSED], nsilent);
    return nsilent > 0;
}
