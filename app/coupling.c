#include "coupling.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OWN_GROWTH 0.5  // 1/s: slower growth may be the machine's own (a load that tips over) and does not count
#define NOISE 1e-4      // of radii at 1: differences know them to a few 1e-5
#define LARGEST 0.2     // s, where the search for the largest stable H ends
#define GROWTH 1.26     // from one H that is tried to the next

typedef struct Choice {
    const char* name;
    ItmBondOptions bond;
} Choice;

static const Choice CHOICES[] = {
    {"zoh", {ITM_COUPLING_ZOH, ITM_EXCHANGE_HOLD, ITM_VARIABLES_VELOCITY_FORCE}},
    {"linear", {ITM_COUPLING_LINEAR, ITM_EXCHANGE_HOLD, ITM_VARIABLES_VELOCITY_FORCE}},
    {"quadratic", {ITM_COUPLING_QUADRATIC, ITM_EXCHANGE_HOLD, ITM_VARIABLES_VELOCITY_FORCE}},
    {"rim, hold", {ITM_COUPLING_RIM, ITM_EXCHANGE_HOLD, ITM_VARIABLES_VELOCITY_FORCE}},
    {"rim, impulse", {ITM_COUPLING_RIM, ITM_EXCHANGE_IMPULSE, ITM_VARIABLES_VELOCITY_FORCE}},
};

// ---------------------------------------------------------------------------- radius

static void choose(ItmModelFile* file, const ItmBondOptions* bond, double H)
{
    file->cosim.options.is_monolithic = false;
    file->cosim.options.macro_step = H;
    file->run.step.step = H;
    for (int i = 0; i < file->cosim.nbond; i++) {
        file->cosim.bonds[i].options = *bond;
    }
}

static bool is_stable(double radius, double H)
{
    return radius <= fmax(1.0 + NOISE, exp(OWN_GROWTH * H));
}

// Radius of a coupling at H; INFINITY: even a trial step fails.
static double compute_radius(ItmModelFile* file, const ItmBondOptions* bond, double H, ItmError* error)
{
    ItmCosim* cosim = NULL;
    double radius = INFINITY;
    choose(file, bond, H);
    ItmStatus status = itm_file_create_cosim(&cosim, file, NULL, error);
    if (status == ITM_OK) {
        status = itm_cosim_compute_radius(cosim, &radius);
        *error = *itm_cosim_get_error(cosim);
    }
    error->status = status;
    itm_cosim_destroy(cosim);
    return status == ITM_OK ? radius : INFINITY;
}

// The smallest step of the subsystems with bonds: every H is a multiple of it.
static double find_micro_step(const ItmModelFile* file)
{
    double h = file->cosim.options.macro_step;
    for (int i = 0; i < file->ncircuit; i++) {
        h = file->circuits[i].step > 0.0 && file->circuits[i].step < h ? file->circuits[i].step : h;
    }
    return h;
}

// The largest H up to which all that were tried are stable; INFINITY: all are. A common multiple of the circuits' steps is
// assumed to be any multiple of the smallest; where it is not, building fails and the search ends there.
static double find_largest(ItmModelFile* file, const ItmBondOptions* bond)
{
    ItmError error = {0};
    double h = find_micro_step(file), stable = 0.0;
    long last = 0;
    for (double H = h; H <= LARGEST * (1.0 + 1e-9); H *= GROWTH) {
        long n = lround(H / h);
        if (n == last) {
            continue;
        }
        last = n;
        if (!is_stable(compute_radius(file, bond, (double)n * h, &error), (double)n * h)) {
            return stable;
        }
        stable = (double)n * h;
    }
    return INFINITY;
}

static void print_choice(ItmModelFile* file, const Choice* choice, double H, double radius)
{
    double largest = find_largest(file, &choice->bond);
    printf("  %-13s ", choice->name);
    if (isinf(radius)) {
        printf("%9s  ", "fails");
    } else {
        printf("%9.4f  ", radius);
    }
    printf("%-8s  ", is_stable(radius, H) ? "stable" : "unstable");
    if (isinf(largest)) {
        printf("over %g ms\n", 1e3 * LARGEST);
    } else if (largest == 0.0) {
        printf("none\n");
    } else {
        printf("%.3g ms\n", 1e3 * largest);
    }
}

// ---------------------------------------------------------------------------- start

static int print_rest(const ItmModelFile* file)
{
    ItmCosim* cosim = NULL;
    ItmError error = {0};
    if (itm_file_create_cosim(&cosim, file, NULL, &error) != ITM_OK) {
        app_print_error(&error);
        return -1;
    }
    ItmCosimRest rest = itm_cosim_check_static(cosim);
    const char* body = rest.body != ITM_NONE
                           ? itm_model_get_body_name(itm_cosim_get_model(cosim, rest.mechanism), rest.body)
                           : NULL;
    if (rest.is_broken) {
        printf("  start        the first step fails: %s\n", itm_cosim_get_error(cosim)->message);
    } else if (body != NULL) {
        printf("  start        after one step '%s' is fastest, accelerated with %.3g m/s^2\n", body, rest.acceleration);
    }
    for (int i = 0; i < itm_cosim_get_bond_count(cosim); i++) {
        ItmBondState bond = itm_cosim_get_bond(cosim, i);
        printf("  bond         %s: %.9g m, %.6g N at the start\n", itm_cosim_get_bond_name(cosim, i), bond.length,
               bond.force);
    }
    itm_cosim_destroy(cosim);
    return 0;
}

// ---------------------------------------------------------------------------- advice

static bool is_choice(const ItmBondOptions* chosen, const ItmBondOptions* bond)
{
    return chosen->coupling == bond->coupling &&
           (chosen->coupling != ITM_COUPLING_RIM || chosen->exchange == bond->exchange);
}

// All couplings at the file's H; `chosen`: that of the file, or NULL (monolithic). The number of warnings.
static int print_advice(ItmModelFile* file, double H, const ItmBondOptions* chosen)
{
    int nwarning = 0;
    printf("  %-13s %9s  %-8s  largest stable H\n", "", "radius at", "");
    printf("  %-13s %6.4g ms\n", "", 1e3 * H);
    for (size_t i = 0; i < sizeof CHOICES / sizeof *CHOICES; i++) {
        ItmError error = {0};
        double radius = compute_radius(file, &CHOICES[i].bond, H, &error);
        if (error.status == ITM_ERR_UNSUPPORTED) {
            printf("  no advice: %s\n", error.message);
            return 0;
        }
        print_choice(file, &CHOICES[i], H, radius);
        if (chosen != NULL && is_choice(chosen, &CHOICES[i].bond) && !is_stable(radius, H)) {
            printf("warning: the coupling of this file is not stable at its start: take coupling rim with exchange impulse, or a "
                   "smaller macro_step\n");
            nwarning++;
        }
    }
    printf("  (growth of a small disturbance over one macro step, linearised at the start; growth below 0.5/s may be the\n"
           "  machine's own. Elsewhere, at other speeds and with other contacts it may differ; controls are left alone)\n");
    return nwarning;
}

// Whether a bond joins two mechanisms.
static bool has_frame_bond(const ItmModelFile* file)
{
    for (int i = 0; i < file->cosim.nbond; i++) {
        const char* port = file->cosim.bonds[i].port;
        size_t n = strcspn(port, ".");
        for (int k = 0; k < file->nmechanism; k++) {
            if (strlen(file->mechanisms[k].name) == n && strncmp(file->mechanisms[k].name, port, n) == 0) {
                return true;
            }
        }
    }
    return false;
}

int app_coupling_check(ItmModelFile* file)
{
    if (file->cosim.nbond == 0) {
        return 0;
    }
    printf("\ncoupling\n");
    if (has_frame_bond(file)) {
        printf("  frames of mechanisms are joined: a small disturbance of one side alone opens the cut, so there is no advice on H\n");
        return 0;
    }
    int nbond = file->cosim.nbond;
    ItmBondOptions* chosen = calloc((size_t)nbond, sizeof *chosen);
    if (chosen == NULL || print_rest(file) != 0) {
        free(chosen);
        return -1;
    }
    // what the file says, to be put back
    ItmCosimOptions options = file->cosim.options;
    double step = file->run.step.step;
    for (int i = 0; i < nbond; i++) {
        chosen[i] = file->cosim.bonds[i].options;
    }
    int nwarning = print_advice(file, options.macro_step, options.is_monolithic ? NULL : &chosen[0]);
    file->cosim.options = options;
    file->run.step.step = step;
    for (int i = 0; i < nbond; i++) {
        file->cosim.bonds[i].options = chosen[i];
    }
    free(chosen);
    return nwarning;
}
