#include "coupling.h"

#include "advice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define BOND(coupling, exchange)                                                                                       \
    {                                                                                                                  \
        ITM_COUPLING_##coupling, ITM_EXCHANGE_##exchange, ITM_VARIABLES_VELOCITY_FORCE                                 \
    }

static const AdviceChoice CHOICES[] = {
    {"zoh", BOND(ZOH, HOLD), BOND(RIM, IMPULSE)},
    {"linear", BOND(LINEAR, HOLD), BOND(RIM, IMPULSE)},
    {"quadratic", BOND(QUADRATIC, HOLD), BOND(RIM, IMPULSE)},
    {"rim, hold", BOND(RIM, HOLD), BOND(RIM, HOLD)},
    {"rim, impulse", BOND(RIM, IMPULSE), BOND(RIM, IMPULSE)},
    {"rim-nonsmooth", BOND(RIM_NONSMOOTH, IMPULSE), BOND(RIM_NONSMOOTH, IMPULSE)},
};
static const AdviceChoice BEST = {"wires", BOND(RIM, IMPULSE),
                                  BOND(RIM, IMPULSE)};  // without bonds, only wires connect subsystems

static int count_frames(const ItmModelFile* file)
{
    int n = 0;
    for (int i = 0; i < file->cosim.nbond; i++) {
        n += app_advice_is_frame(file, &file->cosim.bonds[i]);
    }
    return n;
}

// Whether a choice makes a difference here: rates are predicted at cylinders, rim-nonsmooth differs at frames.
static bool is_worth(const AdviceChoice* choice, int nline, int nframe)
{
    return itm_cosim_is_rim(choice->line.coupling) ? choice->line.coupling == ITM_COUPLING_RIM || nframe > 0
                                                   : nline > 0;
}

static const AdviceTrial NO_COMMON_STEP = {
    .verdict = ADVICE_UNKNOWN, .reason = "the steps of the subsystems have no common multiple within a thousand steps"};

// ---------------------------------------------------------------------------- start

#define DEAD_CENTRE 0.1  // of the largest lever arm

// Returns the number of warnings.
static int print_bonds(ItmCosim* cosim)
{
    int nwarning = 0;
    itm_cosim_reset(cosim);
    for (int i = 0; i < itm_cosim_get_bond_count(cosim); i++) {
        const char* name = itm_cosim_get_bond_name(cosim, i);
        ItmBondState bond = itm_cosim_get_bond(cosim, i);
        ItmLeverView lever = itm_cosim_get_lever(cosim, i);
        printf("  bond         %s: %.9g %s, %.6g %s at the start", name, bond.length, bond.is_rotary ? "rad" : "m",
               bond.force, bond.is_rotary ? "N m" : "N");
        if (lever.joint != NULL) {
            printf(", lever arm %.3g m about '%s' (at most %.3g m)", lever.arm, lever.joint, lever.most);
        }
        printf("\n");
        if (lever.joint != NULL && lever.arm < DEAD_CENTRE * lever.most) {
            app_print_warning(name,
                              "the actuator starts near its dead centre: its lever arm about '%s' is %.3g m of at most "
                              "%.3g m, so small torques need large forces; move one of its ends",
                              lever.joint, lever.arm, lever.most);
            nwarning++;
        }
    }
    return nwarning;
}

// Subsystems without access to their states.
static void print_opaque(const ItmCosim* cosim)
{
    const char* name;
    for (int i = 0; (name = itm_cosim_get_unlinearised(cosim, i)) != NULL; i++) {
        printf("  (the states of '%s' cannot be perturbed and are left out)\n", name);
    }
}

// Mechanisms that are simulated elsewhere.
static void print_foreign(const ItmCosim* cosim)
{
    for (int i = 0; i < itm_cosim_get_mechanism_count(cosim); i++) {
        ItmForeignNotes notes = itm_cosim_get_foreign_notes(cosim, i);
        if (notes.source != ITM_MOBILITY_AUTO) {
            printf("  foreign      %s: W by %s%s; disturbed through its ports\n",
                   itm_cosim_get_mechanism_name(cosim, i), itm_cosim_mobility_name(notes.source),
                   notes.source == ITM_MOBILITY_IDENTIFIED ? ", unproven" : "");
        }
    }
}

// Deviation of the start from static equilibrium. Returns the number of warnings, -1 after printing an error.
static int print_rest(const ItmModelFile* file)
{
    ItmCosim* cosim = NULL;
    ItmError error = {0};
    if (itm_file_create_cosim(&cosim, file, NULL, &error) != ITM_OK) {
        app_print_error(&error);
        return -1;
    }
    ItmCosimResidual rest = itm_cosim_check_static(cosim);
    bool has_memory = !isnan(rest.acceleration);
    int nwarning = 0;
    if (!has_memory) {
        fprintf(stderr, "interim: out of memory\n");
    } else if (rest.is_broken) {
        printf("  start        the first step fails: %s\n", itm_cosim_get_error(cosim)->message);
    } else if (rest.body != ITM_NONE) {
        printf("  start        largest acceleration %.3g m/s^2, of '%s'\n", rest.acceleration,
               itm_model_get_body_name(itm_cosim_get_model(cosim, rest.mechanism), rest.body));
    }
    if (has_memory) {
        nwarning = print_bonds(cosim);
        print_foreign(cosim);
        print_opaque(cosim);
    }
    itm_cosim_destroy(cosim);
    return has_memory ? nwarning : -1;
}

// ---------------------------------------------------------------------------- advice

// Whether a choice is that of the file's first bond.
static bool is_chosen(const ItmModelFile* file, const AdviceChoice* choice, const ItmBondOptions* chosen)
{
    const ItmBondOptions* o =
        file->cosim.nbond > 0 && app_advice_is_frame(file, &file->cosim.bonds[0]) ? &choice->frame : &choice->line;
    return chosen->coupling == o->coupling && (!itm_cosim_is_rim(o->coupling) || chosen->exchange == o->exchange);
}

// The advice holds until contacts or limits change.
static void print_change(const AdviceLimit* limit)
{
    if (isfinite(limit->change)) {
        printf(", unknown after %.2g s: contacts change", limit->change);
    }
}

static void print_limit(const Advice* a, const AdviceLimit* limit)
{
    bool is_bounded = limit->above.verdict == ADVICE_UNSTABLE, is_over = limit->above.verdict == ADVICE_STABLE;
    if (limit->stable == 0.0 && is_bounded) {
        printf("below %.3g ms\n", 1e3 * app_advice_get_base(a));
    } else if (limit->stable == 0.0) {
        printf("unknown: at %.4g ms: %s\n", 1e3 * limit->above.H, limit->above.reason);
    } else if (is_bounded) {
        printf("%.3g ms", 1e3 * limit->stable);
        print_change(limit);
        printf("\n");
    } else {
        printf("%s %.4g ms", is_over ? "over" : "at least", 1e3 * limit->stable);
        print_change(limit);
        if (!is_over) {
            printf("; unknown at %.4g ms: %s", 1e3 * limit->above.H, limit->above.reason);
        }
        printf("%s\n", limit->is_cut ? " (larger ones not tried: --budget)" : "");
    }
}

// A row for a coupling; the number of warnings.
static int print_row(Advice* a, const AdviceChoice* choice, const ItmModelFile* file, bool is_chosen)
{
    app_advice_choose(a, choice);
    AdviceLimit limit =
        isfinite(app_advice_get_base(a)) ? app_advice_find_limit(a) : (AdviceLimit){.above = NO_COMMON_STEP};
    double H = file->cosim.options.macro_step;
    AdviceTrial trial = app_advice_judge(a, H, H > limit.stable);
    bool is_known = trial.verdict == ADVICE_STABLE || trial.verdict == ADVICE_UNSTABLE;
    app_advice_hide_progress(a);
    printf("  %-13s ", choice->name);
    if (!is_known && limit.stable == 0.0) {
        printf("%9s  %-8s  %s\n", "-", "unknown", trial.reason);
        return 0;
    }
    if (is_known) {
        printf("%9.4f  %-8s  ", trial.radius, trial.verdict == ADVICE_STABLE ? "stable" : "unstable");
    } else {
        printf("%9s  %-8s  ", "-", "unknown");
    }
    print_limit(a, &limit);
    if (trial.verdict != ADVICE_UNSTABLE || !is_chosen) {
        return 0;
    }
    printf("warning: the coupling of this file is unstable at the start: use %sa smaller macro_step\n",
           file->cosim.nbond > 0 ? "coupling rim with exchange impulse, or " : "");
    return 1;
}

// All couplings at the file's H. The number of warnings, -1 after printing what is wrong.
static int print_advice(ItmModelFile* file, double budget)
{
    int nwarning = 0, nframe = count_frames(file), nline = file->cosim.nbond - nframe;
    bool is_monolithic = file->cosim.options.is_monolithic;
    ItmBondOptions chosen = file->cosim.nbond > 0 ? file->cosim.bonds[0].options : itm_default_bond_options();
    int nchoice = file->cosim.nbond == 0;
    for (size_t i = 0; i < sizeof CHOICES / sizeof *CHOICES && file->cosim.nbond > 0; i++) {
        nchoice += is_worth(&CHOICES[i], nline, nframe);
    }
    Advice* a = app_advice_begin(file, nchoice, budget);
    if (a == NULL) {
        return -1;
    }
    printf("  %-13s %9s  %-8s  largest stable H\n", "", "radius at", "");
    printf("  %-13s %6.4g ms\n", "", 1e3 * file->cosim.options.macro_step);
    for (size_t i = 0; i < sizeof CHOICES / sizeof *CHOICES && file->cosim.nbond > 0; i++) {
        const AdviceChoice* choice = &CHOICES[i];
        if (is_worth(choice, nline, nframe)) {
            nwarning += print_row(a, choice, file, !is_monolithic && is_chosen(file, choice, &chosen));
        }
    }
    if (file->cosim.nbond == 0) {
        nwarning += print_row(a, &BEST, file, true);
    }
    if (!app_advice_end(a)) {
        return -1;
    }
    printf("  (growth of a small disturbance over one macro step, linearised at the start; growth below 0.5/s, or "
           "close to that of\n"
           "  the monolithic system, is the machine's own. It may differ at other positions, speeds and contacts)\n");
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

int app_coupling_check(ItmModelFile* file, double budget)
{
    if (file->cosim.nbond == 0 && !has_driven_mechanism(file)) {
        return 0;
    }
    printf("\ncoupling\n");
    int nwarning = print_rest(file);
    int nadvice = nwarning >= 0 ? print_advice(file, budget) : -1;
    return nadvice >= 0 ? nwarning + nadvice : -1;
}
