// interim inspect: mobility and effective mass of mechanisms at their interfaces, at any time of a run.
#include "app.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define AT_KEY "run.duration"  // --at is read, with its unit, as the end of the run

static const AppOption OPTIONS[] = {
    {APP_OPTION_OVERRIDE, "--at", 't', "TIME", AT_KEY, "time to inspect, as in 2s; default: the start"},
    {APP_OPTION_OVERRIDE, "--set", 's', "KEY=VALUE", NULL,
     "change a value of the model, as in cosim.coupling=rim; may be repeated"},
    {APP_OPTION_SANDBOX, "--sandbox", 0, "DIR", NULL, "refuse a model that refers to files outside DIR"},
    {APP_OPTION_HELP, "--help", 'h', NULL, NULL, "show this help"},
};

// ---------------------------------------------------------------------------- numbers

static void print_matrix(const ItmInterfaceView* view, const char* name, const double* A)
{
    printf("  %s\n      ", name);
    for (int j = 0; j < view->n; j++) {
        printf(" %12s", view->n > 1 ? itm_model_direction_name(view->direction[j]) : "length");
    }
    printf("\n");
    for (int i = 0; i < view->n; i++) {
        printf("    %-2s", view->n > 1 ? itm_model_direction_name(view->direction[i]) : "");
        for (int j = 0; j < view->n; j++) {
            printf(" %12.5g", A[i * view->n + j]);
        }
        printf("\n");
    }
}

// Eigenvalues and vectors of the symmetric A (3 x 3) by Jacobi's rotations, ascending; vectors by columns.
static void solve_small(double A[3][3], double value[3], double V[3][3])
{
    for (int i = 0; i < 9; i++) {
        V[i / 3][i % 3] = i / 3 == i % 3 ? 1.0 : 0.0;
    }
    for (int sweep = 0; sweep < 30; sweep++) {
        for (int p = 0; p < 2; p++) {
            for (int q = p + 1; q < 3; q++) {
                double turn = 0.5 * atan2(2.0 * A[p][q], A[q][q] - A[p][p]), c = cos(turn), s = sin(turn);
                for (int k = 0; k < 3; k++) {
                    double x = A[k][p], y = A[k][q];
                    A[k][p] = c * x - s * y;
                    A[k][q] = s * x + c * y;
                }
                for (int k = 0; k < 3; k++) {
                    double x = A[p][k], y = A[q][k], u = V[k][p], v = V[k][q];
                    A[p][k] = c * x - s * y;
                    A[q][k] = s * x + c * y;
                    V[k][p] = c * u - s * v;
                    V[k][q] = s * u + c * v;
                }
            }
        }
    }
    for (int i = 0; i < 3; i++) {
        value[i] = A[i][i];
    }
}

// Belted ellipsoid of the translations or rotations: the effective mass along u is 1 / (uᵀ W u); its principal axes are those of
// that block of W.                                                                         [flexible-rim, section IV]
static void print_ellipsoid(const ItmInterfaceView* view, ItmDirection first, const char* what, const char* unit)
{
    int row[3], n = 0;
    for (int i = 0; i < view->n; i++) {
        if (view->direction[i] >= first && view->direction[i] < first + 3) {
            row[n++] = i;
        }
    }
    if (n < 3) {
        return;
    }
    double A[3][3], value[3], V[3][3], most = 0.0;
    for (int i = 0; i < 9; i++) {
        A[i / 3][i % 3] = view->W[row[i / 3] * view->n + row[i % 3]];
    }
    solve_small(A, value, V);
    for (int i = 0; i < 3; i++) {
        most = fmax(most, value[i]);
    }
    printf("  %s\n", what);
    for (int i = 0; i < 3; i++) {
        if (value[i] > 1e-12 * most) {
            printf("    %12.5g %-6s", 1.0 / value[i], unit);
        } else {
            printf("    %12s %-6s", "immobile", "");
        }
        printf("  along (%8.5f, %8.5f, %8.5f)\n", V[0][i], V[1][i], V[2][i]);
    }
}

static void print_view(const ItmInterfaceView* view)
{
    printf("\n%s%s%s\n", view->mechanism, view->mechanism[0] != '\0' ? "." : "", view->name);
    print_matrix(view, "W, mobility [1/kg, 1/(kg m), 1/(kg m^2)]", view->W);
    print_matrix(view,
                 view->rank < view->n ? "M_eff, effective mass [kg, kg m, kg m^2]; pseudo-inverse, W is singular"
                                      : "M_eff, effective mass [kg, kg m, kg m^2]",
                 view->M_eff);
    printf("  rank         %d of %d\n", view->rank, view->n);
    if (isinf(view->condition)) {
        printf("  condition    singular: no motion along %d %s\n", view->n - view->rank,
               view->n - view->rank == 1 ? "direction" : "directions");
    } else {
        printf("  condition    %.4g\n", view->condition);
    }
    print_ellipsoid(view, ITM_TX, "belted ellipsoid of translations: effective masses", "kg");
    print_ellipsoid(view, ITM_RX, "and of rotations: effective moments of inertia", "kg m^2");
    printf("  velocity     ");
    for (int i = 0; i < view->n; i++) {
        printf(" %.5g", view->velocity[i]);
    }
    printf("\n  acceleration ");
    for (int i = 0; i < view->n; i++) {
        printf(" %.5g", view->acceleration[i]);
    }
    printf("   without interface forces\n");
}

// ---------------------------------------------------------------------------- foreign mechanisms

// How the mobility was found, and how good it is.
static void print_source(const ItmForeignNotes* notes)
{
    static const char* const SOURCES[ITM_MOBILITY_COUNT] = {
        [ITM_MOBILITY_AUTO] = "",
        [ITM_MOBILITY_PORT] = "the mechanism returns W itself",
        [ITM_MOBILITY_DERIVATIVES] = "derivatives of its accelerations",
        [ITM_MOBILITY_PROBING] = "trial steps from its saved state",
        [ITM_MOBILITY_IDENTIFIED] = "least squares over past steps; unproven, and zero before the first"};
    printf("  source        %s: %s\n", itm_cosim_mobility_name(notes->source), SOURCES[notes->source]);
    if (notes->source != ITM_MOBILITY_PORT) {
        printf("  asymmetry     %.2g of W; 0 where forces and rates are conjugate\n", notes->asymmetry);
    }
    if (notes->source == ITM_MOBILITY_PROBING) {
        printf("  linearity     W changes by %.2g when the probing forces are doubled\n", notes->nonlinearity);
        printf("  probes        %ld trial steps so far\n", notes->probes);
    }
}

static int look_at_foreign(ItmCosim* cosim, int mechanism)
{
    ItmForeignView view;
    if (itm_cosim_inspect_foreign(cosim, mechanism, &view) != ITM_OK) {
        app_print_error(itm_cosim_get_error(cosim));
        return APP_BROKE_DOWN;
    }
    printf("\n%s, a foreign mechanism\n  W, mobility [1/kg, 1/(kg m), 1/(kg m^2)]\n  %-12s", view.mechanism, "");
    for (int j = 0; j < view.n; j++) {
        printf(" %12.12s", view.names[j]);
    }
    printf(" %15s %12s\n", "effective mass", "acceleration");
    for (int i = 0; i < view.n; i++) {
        printf("    %-10.10s", view.names[i]);
        for (int j = 0; j < view.n; j++) {
            printf(" %12.5g", view.W[i * view.n + j]);
        }
        if (view.W[i * view.n + i] > 0.0) {
            printf(" %15.5g", 1.0 / view.W[i * view.n + i]);
        } else {
            printf(" %15s", "immobile");
        }
        printf(" %12.5g\n", view.acceleration[i]);
    }
    printf("  rank          %d of %d\n", view.rank, view.n);
    if (isfinite(view.condition)) {
        printf("  condition     %.4g\n", view.condition);
    }
    print_source(&view.notes);
    return APP_FINISHED;
}

static bool is_foreign(const ItmCosim* cosim, int mechanism)
{
    return itm_cosim_get_foreign_notes(cosim, mechanism).source != ITM_MOBILITY_AUTO;
}

// ---------------------------------------------------------------------------- command

// Interfaces of mechanisms, then foreign mechanisms, each with all its ports.
static int look(ItmCosim* cosim)
{
    int n = itm_cosim_get_interface_count(cosim);
    printf("time         %.9g s\n", itm_cosim_get_time(cosim));
    for (int i = 0; i < n; i++) {
        ItmInterfaceView view;
        if (is_foreign(cosim, itm_cosim_get_interface_mechanism(cosim, i))) {
            continue;
        }
        if (itm_cosim_inspect(cosim, i, &view) != ITM_OK) {
            app_print_error(itm_cosim_get_error(cosim));
            return APP_BROKE_DOWN;
        }
        print_view(&view);
        const char* row = itm_cosim_get_active_row(cosim, 0);
        printf("  active rows   %s", row != NULL ? "" : "none");
        for (int k = 1; row != NULL; k++) {
            printf("%s%s", k > 1 ? ", " : "", row);
            row = itm_cosim_get_active_row(cosim, k);
        }
        printf("\n");
    }
    int status = APP_FINISHED;
    for (int i = 0; i < itm_cosim_get_mechanism_count(cosim) && status == APP_FINISHED; i++) {
        status = is_foreign(cosim, i) ? look_at_foreign(cosim, i) : status;
    }
    return status;
}

static int step_and_look(ItmCosim* cosim, double time)
{
    if (itm_cosim_get_interface_count(cosim) == 0) {
        fprintf(stderr,
                "interim: nothing to inspect: the model has no interfaces and no bonds; add frames to the section "
                "'interfaces' of multibody\n");
        return APP_BAD_INPUT;
    }
    // the communication point at or before the time
    long nstep = (long)floor(time / itm_cosim_get_step(cosim) * (1.0 + 1e-12) + 1e-9);
    for (long i = 0; i < nstep; i++) {
        if (itm_cosim_step(cosim) != ITM_OK) {
            fprintf(stderr, "interim: broke down at %.9g s: %s\n", itm_cosim_get_time(cosim),
                    itm_cosim_get_error(cosim)->message);
            return APP_BROKE_DOWN;
        }
    }
    return look(cosim);
}

static int run(const AppArguments* arguments)
{
    bool has_time = false;
    for (int i = 0; i < arguments->noverride; i++) {
        has_time = has_time || strncmp(arguments->overrides[i], AT_KEY "=", strlen(AT_KEY) + 1) == 0;
    }
    ItmModelFile* file = app_load(arguments);
    if (file == NULL) {
        return APP_BAD_INPUT;
    }
    ItmCosim* cosim = NULL;
    ItmError error = {0};
    int status = APP_BAD_INPUT;
    if (itm_file_create_cosim(&cosim, file, NULL, &error) != ITM_OK) {
        app_print_error(&error);
    } else {
        status = step_and_look(cosim, has_time ? file->run.duration : 0.0);
    }
    itm_cosim_destroy(cosim);
    itm_file_destroy(file);
    return status;
}

const AppCommand app_inspect_command = {
    .name = "inspect",
    .synopsis = "MODEL.yaml [OPTION]...",
    .help = "show mobility and effective mass at the interfaces, at any time of a run",
    .details =
        "Runs a model up to a time and prints the interface model of every interface: frames in the section\n"
        "interfaces, and actuators with a bond. The mobility W is the velocity response to unit impulses; the\n"
        "effective mass M_eff is its inverse. Rank and condition number show how well-posed the coupling is. The\n"
        "belted ellipsoid lists the effective masses along its principal axes. Active rows are the contacts,\n"
        "joint limits and friction constraints that are active at that time and included in W. A foreign\n"
        "mechanism is shown with all its ports together, the source of W, and the checks of probing.",
    .options = OPTIONS,
    .noption = (int)(sizeof OPTIONS / sizeof OPTIONS[0]),
    .run = run,
};
