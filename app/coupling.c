#include "coupling.h"

#include "cosim/cosim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OWN_GROWTH 0.5  // 1/s: slower growth may be the machine's own (a load that tips over) and does not count
#define OWN_TIMES 2.0   // nor does growth of up to so many times that of the monolithic twin,
#define OWN_MOST 5.0    // 1/s: as far as that is slow
#define LONG_ENOUGH 1e-3 // s, to tell such growth from noise
#define NOISE 1e-4      // of radii at 1: differences know them to a few 1e-5
#define LARGEST 0.2     // s, where the search for the largest stable H ends, unless that of the file is larger
#define GROWTH 2.0      // from one H that is tried to the next
#define SHARP 0.02      // how well the limit is known, where steps allow

// Cylinders, and frames of mechanisms, which move together by interface models only.
typedef struct Choice {
    const char* name;
    ItmBondOptions line, frame;
} Choice;

#define BOND(coupling, exchange) {ITM_COUPLING_##coupling, ITM_EXCHANGE_##exchange, ITM_VARIABLES_VELOCITY_FORCE}

static const Choice CHOICES[] = {
    {"zoh", BOND(ZOH, HOLD), BOND(RIM, IMPULSE)},
    {"linear", BOND(LINEAR, HOLD), BOND(RIM, IMPULSE)},
    {"quadratic", BOND(QUADRATIC, HOLD), BOND(RIM, IMPULSE)},
    {"rim, hold", BOND(RIM, HOLD), BOND(RIM, HOLD)},
    {"rim, impulse", BOND(RIM, IMPULSE), BOND(RIM, IMPULSE)},
    {"rim-nonsmooth", BOND(RIM_NONSMOOTH, IMPULSE), BOND(RIM_NONSMOOTH, IMPULSE)},
};
static const Choice BEST = {"wires", BOND(RIM, IMPULSE), BOND(RIM, IMPULSE)};  // without bonds only wires join the parts

// Whether a bond joins two mechanisms.
static bool is_frame(const ItmModelFile* file, const ItmFileBond* bond)
{
    size_t n = strcspn(bond->port, ".");
    for (int k = 0; k < file->nmechanism; k++) {
        if (strlen(file->mechanisms[k].name) == n && strncmp(file->mechanisms[k].name, bond->port, n) == 0) {
            return true;
        }
    }
    return false;
}

static int count_frames(const ItmModelFile* file)
{
    int n = 0;
    for (int i = 0; i < file->cosim.nbond; i++) {
        n += is_frame(file, &file->cosim.bonds[i]);
    }
    return n;
}

// Whether a choice says something of its own here: rates are predicted at cylinders, rim-nonsmooth differs at frames.
static bool is_worth(const Choice* choice, int nline, int nframe)
{
    return itm_coupling_is_rim(choice->line.coupling) ? choice->line.coupling == ITM_COUPLING_RIM || nframe > 0 : nline > 0;
}

// ---------------------------------------------------------------------------- radius

#define MOST_KNOWN 64

// The search for safe steps of a file, whose options it changes.
typedef struct Advice {
    ItmModelFile* file;
    ItmBondVariables variables;          // of the file, for forces that are held
    double H;                            // of the file, s
    double base;                         // every step that is tried is a multiple of this, s
    double most;                         // none above is tried, s
    double known[MOST_KNOWN][2];         // steps and the machine's own growth there  (nknown)  s, 1/s
    int nknown;
} Advice;

static void choose(const Advice* a, const Choice* choice, double H)
{
    ItmModelFile* file = a->file;
    file->cosim.options.is_monolithic = false;
    file->cosim.options.macro_step = H;
    file->run.step.step = H;
    for (int i = 0; i < file->cosim.nbond; i++) {
        ItmFileBond* bond = &file->cosim.bonds[i];
        bond->options = is_frame(file, bond) ? choice->frame : choice->line;
        bond->options.variables = bond->options.exchange == ITM_EXCHANGE_HOLD ? a->variables : ITM_VARIABLES_VELOCITY_FORCE;
    }
}

typedef struct Answer {
    ItmStatus status;  // ITM_ERR_INPUT, ITM_ERR_UNSUPPORTED: there is no such system; otherwise
    double radius;     // INFINITY: even a trial step fails
    ItmError error;
} Answer;

// Radius of a coupling at H.
static Answer compute_radius(const Advice* a, const Choice* choice, double H)
{
    ItmCosim* cosim = NULL;
    Answer answer = {.radius = INFINITY};
    choose(a, choice, H);
    answer.status = itm_file_create_cosim(&cosim, a->file, NULL, &answer.error);
    if (answer.status == ITM_OK) {
        answer.status = itm_cosim_compute_radius(cosim, 1, &answer.radius);
        answer.error = *itm_cosim_get_error(cosim);
    }
    itm_cosim_destroy(cosim);
    return answer;
}

// Growth 1/s of the machine itself two steps H from the start: that of the monolithic twin, which meets every smallest step.
// 0: H is that step already, or it cannot be told.
static double compute_growth(const Advice* a, double H)
{
    ItmCosim* twin = NULL;
    double radius = 1.0, h = H;
    choose(a, &BEST, H);
    a->file->cosim.options.is_monolithic = true;
    ItmStatus status = itm_file_create_cosim(&twin, a->file, NULL, NULL);
    if (status == ITM_OK) {
        h = itm_cosim_get_step(twin);
    }
    int nstep = (int)ceil(fmin(LONG_ENOUGH, H) / h - 1e-6);
    while (status == ITM_OK && itm_cosim_get_time(twin) < 2.0 * (H - h)) {
        status = itm_cosim_step(twin);
    }
    if (status == ITM_OK && h < 0.75 * H) {
        status = itm_cosim_compute_radius(twin, nstep, &radius);
    }
    itm_cosim_destroy(twin);
    double growth = log(radius);
    return status == ITM_OK && growth * nstep > NOISE ? fmin(growth / h, OWN_MOST) : 0.0;
}

// The same, for every H once.
static double get_own_growth(Advice* a, double H)
{
    for (int i = 0; i < a->nknown; i++) {
        if (a->known[i][0] == H) {
            return a->known[i][1];
        }
    }
    double growth = compute_growth(a, H);
    if (a->nknown < MOST_KNOWN) {
        a->known[a->nknown][0] = H;
        a->known[a->nknown++][1] = growth;
    }
    return growth;
}

static bool is_stable(Advice* a, double radius, double H)
{
    if (radius <= fmax(1.0 + NOISE, exp(OWN_GROWTH * H))) {
        return true;
    }
    double most = OWN_GROWTH + OWN_TIMES * OWN_MOST;
    return log(radius) <= most * H && log(radius) <= (OWN_GROWTH + OWN_TIMES * get_own_growth(a, H)) * H;
}

// ---------------------------------------------------------------------------- largest step

// The step of which every H is a multiple: of those of circuits and mechanisms; otherwise the smallest there is.
static double find_base_step(const ItmModelFile* file)
{
    double h = file->cosim.options.macro_step, common = 0.0;
    for (int i = 0; i < file->ncircuit; i++) {
        common = itm_cosim_find_common_multiple(common, file->circuits[i].step);
    }
    for (int i = 0; i < file->nmechanism; i++) {
        common = itm_cosim_find_common_multiple(common, file->mechanisms[i].step);
    }
    for (int i = 0; i < file->ncontrol; i++) {
        h = file->controls[i].step > 0.0 ? fmin(h, file->controls[i].step) : h;
    }
    return common > 0.0 && isfinite(common) ? common : h;
}

typedef enum Verdict { STABLE, UNSTABLE, NOT_BUILT } Verdict;

// A multiple of that step need not fit to all samples: then there is no such system.
static Verdict judge(Advice* a, const Choice* choice, double H)
{
    Answer answer = compute_radius(a, choice, H);
    if (answer.status == ITM_ERR_INPUT) {
        return NOT_BUILT;
    }
    return answer.status == ITM_OK && is_stable(a, answer.radius, H) ? STABLE : UNSTABLE;
}

// The largest H up to which all that were tried are stable, to SHARP of itself; INFINITY: all are.
static double find_largest(Advice* a, const Choice* choice)
{
    long stable = 0, unstable = 0;
    for (double H = a->base; H <= a->most * (1.0 + 1e-9) && unstable == 0; H *= GROWTH) {
        long n = lround(H / a->base);
        Verdict verdict = n > stable ? judge(a, choice, (double)n * a->base) : NOT_BUILT;
        stable = verdict == STABLE ? n : stable;
        unstable = verdict == UNSTABLE ? n : unstable;
    }
    if (unstable == 0) {
        return INFINITY;
    }
    while (unstable - stable > 1 && (double)(unstable - stable) > SHARP * (double)stable) {
        long n = (stable + unstable) / 2;
        Verdict verdict = judge(a, choice, (double)n * a->base);
        if (verdict == NOT_BUILT) {
            break;
        }
        stable = verdict == STABLE ? n : stable;
        unstable = verdict == UNSTABLE ? n : unstable;
    }
    return (double)stable * a->base;
}

static void print_largest(Advice* a, const Choice* choice)
{
    double largest = find_largest(a, choice);
    if (isinf(largest)) {
        printf("over %g ms\n", 1e3 * a->most);
    } else if (largest == 0.0) {
        printf("below %.3g ms\n", 1e3 * a->base);
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

// Whether a choice is that of the file's first bond.
static bool is_chosen(const ItmModelFile* file, const Choice* choice, const ItmBondOptions* chosen)
{
    const ItmBondOptions* o = file->cosim.nbond > 0 && is_frame(file, &file->cosim.bonds[0]) ? &choice->frame : &choice->line;
    return chosen->coupling == o->coupling && (!itm_coupling_is_rim(o->coupling) || chosen->exchange == o->exchange);
}

static void print_opaque(const ItmModelFile* file)
{
    ItmCosim* cosim = NULL;
    if (itm_file_create_cosim(&cosim, file, NULL, NULL) == ITM_OK) {
        const char* name;
        for (int i = 0; (name = itm_cosim_get_opaque(cosim, i)) != NULL; i++) {
            printf("  (states of '%s' cannot be disturbed: they are carried along)\n", name);
        }
    }
    itm_cosim_destroy(cosim);
}

// A row for a choice; the number of warnings.
static int print_row(Advice* a, const Choice* choice, bool is_chosen)
{
    Answer answer = compute_radius(a, choice, a->H);
    printf("  %-13s ", choice->name);
    if (answer.status == ITM_ERR_UNSUPPORTED || answer.status == ITM_ERR_INPUT) {
        printf("no advice: %s\n", answer.error.message);
        return 0;
    }
    bool is_safe = is_stable(a, answer.radius, a->H);
    if (isinf(answer.radius)) {
        printf("%9s  ", "fails");
    } else {
        printf("%9.4f  ", answer.radius);
    }
    printf("%-8s  ", is_safe ? "stable" : "unstable");
    print_largest(a, choice);
    if (is_safe || !is_chosen) {
        return 0;
    }
    printf("warning: the coupling of this file is not stable at its start: take %sa smaller macro_step\n",
           a->file->cosim.nbond > 0 ? "coupling rim with exchange impulse, or " : "");
    return 1;
}

// All couplings at the file's H; `chosen`: that of the file, or NULL (monolithic). The number of warnings.
static int print_advice(ItmModelFile* file, const ItmBondOptions* chosen)
{
    int nwarning = 0, nframe = count_frames(file), nline = file->cosim.nbond - nframe;
    Advice a = {.file = file,
                .variables = chosen != NULL ? chosen->variables : ITM_VARIABLES_VELOCITY_FORCE,
                .H = file->cosim.options.macro_step,
                .base = find_base_step(file)};
    a.most = fmax(LARGEST, a.H);
    printf("  %-13s %9s  %-8s  largest stable H\n", "", "radius at", "");
    printf("  %-13s %6.4g ms\n", "", 1e3 * a.H);
    for (size_t i = 0; i < sizeof CHOICES / sizeof *CHOICES && file->cosim.nbond > 0; i++) {
        const Choice* choice = &CHOICES[i];
        if (is_worth(choice, nline, nframe)) {
            nwarning += print_row(&a, choice, chosen != NULL && is_chosen(file, choice, chosen));
        }
    }
    if (file->cosim.nbond == 0) {
        nwarning += print_row(&a, &BEST, true);
    }
    print_opaque(file);
    printf("  (growth of a small disturbance over one macro step, linearised at the start; growth below 0.5/s, or about that of\n"
           "  the monolithic twin, is the machine's own. Elsewhere, at other speeds and with other contacts it may differ)\n");
    return nwarning;
}

// Whether a wire ends at a mechanism: what drives it is coupled to it even without a bond.
static bool has_driven_mechanism(const ItmModelFile* file)
{
    for (int i = 0; i < file->nconnection; i++) {
        size_t n = strcspn(file->connections[i].to, ".");
        for (int k = 0; k < file->nmechanism; k++) {
            const char* name = file->mechanisms[k].name;
            if (strlen(name) == n && strncmp(name, file->connections[i].to, n) == 0) {
                return true;
            }
        }
    }
    return false;
}

int app_coupling_check(ItmModelFile* file)
{
    if (file->cosim.nbond == 0 && !has_driven_mechanism(file)) {
        return 0;
    }
    printf("\ncoupling\n");
    int nbond = file->cosim.nbond;
    ItmBondOptions* chosen = calloc((size_t)nbond + 1, sizeof *chosen);
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
    int nwarning = print_advice(file, options.is_monolithic ? NULL : &chosen[0]);
    file->cosim.options = options;
    file->run.step.step = step;
    for (int i = 0; i < nbond; i++) {
        file->cosim.bonds[i].options = chosen[i];
    }
    free(chosen);
    return nwarning;
}
