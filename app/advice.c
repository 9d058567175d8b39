// Judges macro steps by the spectral radius of the linearised step (itm_cosim_compute_radius), and searches for the largest stable one.
//
// One system per coupling serves all its trials: it takes another macro step for each (itm_cosim_set_macro_step). Every H that is tried is
// a multiple of the steps of all subsystems. From the smallest on, H grows by factors until the first one that is not stable, then
// the interval in between is bisected. A trial that cannot be built or run is unknown, never stable or unstable, and ends the search.
// So is one that is stable at the start, but breaks down in a run, or gains or loses much energy in the coupling.
#include "advice.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define OWN_GROWTH 0.5    // 1/s: slower growth may be the machine's own (a load that tips over) and does not count,
#define OWN_TIMES 2.0     // nor does growth of up to so many times that of the monolithic twin,
#define OWN_MOST 5.0      // 1/s: as far as that is slow
#define LONG_ENOUGH 1e-3  // s, to distinguish such growth from noise
#define NOISE 1e-4        // of radii at 1: differences have them to a few 1e-5
#define LARGEST 0.2       // s, where the search ends, unless the H of the file is larger
#define RATIO 1.25  // from one H that is tried to the next: steps may be unstable in between and stable again above
#define FAR 2.0     // times the H of the file
#define SHARP 0.02  // how well the limit is known, where steps allow,
#define BLUNT 0.1   // and where it is far above the H of the file
#define CONFIRM_STEPS 100   // of a run with an H that is stable at the start, at most
#define CONFIRM_TIME 4.0    // s, at most
#define CONFIRM_ERROR 0.25  // coupling energy error of such a run, relative to the machine's energy, at most
#define PARTS 64            // of the H of the file: the smallest step where no subsystem has a step of its own

#define WORK_SHARE                                                                                                     \
    3e6  // operations of one trial above the H of the file, per second of the budget: about a hundredth of it

#define MOST_TRIALS 64
#define MOST_DOUBLINGS 40
#define UNKNOWN_GROWTH (-1.0)

struct Advice {
    ItmModelFile* file;
    ItmCosimOptions options;     // of the file, to be put back
    ItmBondOptions* bonds;       //                                                  (nbond)
    ItmBondVariables variables;  // for forces that are held
    double base;                 // every H that is tried is a multiple of this, s
    double budget;               // s
    double end;                  // processor time at which it is spent, s
    double end_now;              // and the share of the present coupling in it
    int nleft;                   // couplings to come
    bool has_memory;

    ItmCosim* system;                 // of the present coupling, or NULL
    AdviceTrial refusal;              // why there is none
    AdviceTrial trials[MOST_TRIALS];  // of the present coupling                     (ntrial)
    int ntrial;
    AdviceTrial runs[MOST_TRIALS];  // and its runs from the start                 (nrun)
    int nrun;
    const char* name;  // of the present coupling

    ItmCosim* twin;                     // monolithic, or NULL
    ItmStatus twin_status;              // why not
    int ntime;                          // times 2 base, 4 base, ... that it has reached,
    char* twin_states[MOST_DOUBLINGS];  // its states there                            (ntime)
    double growth[MOST_DOUBLINGS];      // and its growth, as far as it was asked for  (ntime)  1/s
    AppProgress progress;
};

// ---------------------------------------------------------------------------- budget

static double get_processor_time(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static bool is_over(void* context)
{
    Advice* a = context;
    double now = get_processor_time();
    app_progress_update_share(&a->progress, 1.0 - (a->end - now) / a->budget, a->name);
    return now > a->end_now;
}

static AdviceTrial give_reason(Advice* a, double H, ItmStatus status, const ItmError* error)
{
    AdviceTrial trial = {.H = H, .verdict = ADVICE_UNKNOWN};
    if (status == ITM_ERR_MEMORY) {
        a->has_memory = false;
        trial.verdict = ADVICE_STOPPED;
    } else if (get_processor_time() > a->end_now) {
        trial.verdict = ADVICE_STOPPED;
        snprintf(trial.reason, sizeof trial.reason,
                 "its share of the budget of %g s processor time is spent; see --budget", a->budget);
    } else {
        snprintf(trial.reason, sizeof trial.reason, "%s", error->message);
    }
    return trial;
}

// ---------------------------------------------------------------------------- the machine's own growth

static void create_twin(Advice* a)
{
    ItmError error;
    a->file->cosim.options.is_monolithic = true;
    a->twin_status = itm_file_create_cosim(&a->twin, a->file, NULL, &error);
    a->file->cosim.options.is_monolithic = false;
}

// Growth 1/s of the twin where it is now: the machine's own.
static ItmStatus compute_growth(Advice* a, double* growth)
{
    double h = itm_cosim_get_step(a->twin), radius = 1.0;
    int nstep = (int)ceil(LONG_ENOUGH / h - 1e-6);
    ItmStatus status = itm_advice_compute_radius(a->twin, nstep, (ItmAdviceWatch){is_over, a}, &radius);
    *growth = log(radius) * nstep > NOISE ? fmin(log(radius) / h, OWN_MOST) : 0.0;
    return status;
}

// Run the twin on to 2 base, 4 base, ... so that it has been there ntime times; its state at each is kept.
static void reach_times(Advice* a, double h, int ntime)
{
    size_t size = itm_cosim_get_state_size(a->twin);
    if (a->ntime > 0) {
        itm_cosim_restore(a->twin, a->twin_states[a->ntime - 1], size);
    }
    while (a->twin_status == ITM_OK && a->ntime < ntime) {
        double t = ldexp(a->base, a->ntime + 1);
        while (a->twin_status == ITM_OK && itm_cosim_get_time(a->twin) < t - 2.5 * h) {
            a->twin_status = is_over(a) ? ITM_ERR_CAPACITY : itm_cosim_step(a->twin);
        }
        char* state = malloc(size);
        a->twin_status = a->twin_status == ITM_OK && state == NULL ? ITM_ERR_MEMORY : a->twin_status;
        if (a->twin_status == ITM_OK) {
            itm_cosim_save(a->twin, state, size);
            a->growth[a->ntime] = UNKNOWN_GROWTH;
            a->twin_states[a->ntime++] = state;
        } else {
            free(state);
        }
    }
}

// The same at the last of the times 2 base, 4 base, 8 base, ... up to 2 H, about where a trial with H is linearised. What is found serves all
// couplings. 0 where the twin's step is not smaller than H.
static ItmStatus get_own_growth(Advice* a, double H, double* growth)
{
    if (a->twin == NULL && a->twin_status == ITM_OK) {
        create_twin(a);
    }
    double h = a->twin_status == ITM_OK ? itm_cosim_get_step(a->twin) : 0.0;
    int n = 1 + (int)floor(log2(H / a->base) + 1e-6);
    n = n < 1 ? 1 : n > MOST_DOUBLINGS ? MOST_DOUBLINGS : n;
    bool is_asked = a->twin_status == ITM_OK && h < 0.75 * H;
    if (is_asked && a->ntime < n) {
        reach_times(a, h, n);
    }
    if (is_asked && a->twin_status == ITM_OK && a->growth[n - 1] == UNKNOWN_GROWTH) {
        itm_cosim_restore(a->twin, a->twin_states[n - 1], itm_cosim_get_state_size(a->twin));
        a->twin_status = compute_growth(a, &a->growth[n - 1]);
    }
    *growth = is_asked && a->twin_status == ITM_OK ? a->growth[n - 1] : 0.0;
    return a->twin_status;
}

// Stable: a radius of 1, or growth that may be the machine's own.
static ItmStatus is_stable(Advice* a, double radius, double H, bool* stable)
{
    double growth = 0.0;
    *stable = radius <= fmax(1.0 + NOISE, exp(OWN_GROWTH * H));
    if (*stable || log(radius) > (OWN_GROWTH + OWN_TIMES * OWN_MOST) * H) {
        return ITM_OK;
    }
    ItmStatus status = get_own_growth(a, H, &growth);
    *stable = log(radius) <= (OWN_GROWTH + OWN_TIMES * growth) * H;
    return status;
}

// ---------------------------------------------------------------------------- one trial

static AdviceTrial judge(Advice* a, double H)
{
    AdviceTrial trial = {.H = H};
    if (a->system == NULL) {
        trial = a->refusal;
        trial.H = H;
        return trial;
    }
    ItmStatus status = itm_cosim_set_macro_step(a->system, H);
    if (status == ITM_OK) {
        status = itm_advice_compute_radius(a->system, 1, (ItmAdviceWatch){is_over, a}, &trial.radius);
    }
    if (status != ITM_OK) {
        return give_reason(a, H, status, itm_cosim_get_error(a->system));
    }
    bool stable = false;
    status = is_stable(a, trial.radius, H, &stable);
    if (status != ITM_OK) {
        ItmError error = {.message = "the growth may be the machine's own: the monolithic system cannot be run"};
        return give_reason(a, H, status, &error);
    }
    trial.verdict = stable ? ADVICE_STABLE : ADVICE_UNSTABLE;
    return trial;
}

// Every H of a coupling once.
static AdviceTrial* find_trial(Advice* a, double H)
{
    int i = 0;
    while (i < a->ntrial && fabs(a->trials[i].H - H) > 1e-9 * H) {
        i++;
    }
    if (i == MOST_TRIALS) {  // more than any search takes
        i = --a->ntrial;
    }
    if (i == a->ntrial) {
        a->trials[a->ntrial++] = judge(a, H);
    }
    return &a->trials[i];
}

// The first bond with a coupling energy error above CONFIRM_ERROR (the bound of these systems) in the run so far; whether there is one.
static bool find_energy_doubt(const ItmCosim* x, ItmDoubt* doubt)
{
    for (int i = 0; i < itm_cosim_get_doubt_count(x); i++) {
        *doubt = itm_cosim_get_doubt(x, i);
        if (doubt->kind == ITM_DOUBT_COUPLING_ENERGY) {
            return true;
        }
    }
    return false;
}

// A run from the start: it may fail later, which linearisation cannot foresee. Returns stable, or why not.
static AdviceTrial run_from_start(Advice* a, double H)
{
    AdviceTrial run = {.H = H, .verdict = ADVICE_STABLE, .is_confirmed = true};
    double left = fmin(a->file->run.duration, CONFIRM_TIME) / H + 1e-6;
    int nstep = left < CONFIRM_STEPS ? (int)left : CONFIRM_STEPS;
    ItmStatus status = itm_cosim_set_macro_step(a->system, H);
    status = status == ITM_OK ? itm_advice_run(a->system, nstep, (ItmAdviceWatch){is_over, a}, &run.change) : status;
    ItmError error = {0};
    ItmDoubt doubt;
    if (status != ITM_OK) {
        snprintf(error.message, sizeof error.message, "stable at the start, but a run breaks down at %.3g s: %.500s",
                 itm_cosim_get_time(a->system), itm_cosim_get_error(a->system)->message);
        return give_reason(a, H, status, &error);
    }
    if (find_energy_doubt(a->system, &doubt)) {
        snprintf(error.message, sizeof error.message,
                 "stable at the start, but in a run '%s' gains or loses %.3g J of the machine's %.3g J", doubt.where,
                 doubt.largest, itm_cosim_get_scale(a->system).energy);
        return give_reason(a, H, ITM_ERR_DIVERGED, &error);
    }
    return run;
}

// Every H of a coupling once.
static const AdviceTrial* find_run(Advice* a, double H)
{
    int i = 0;
    while (i < a->nrun && fabs(a->runs[i].H - H) > 1e-9 * H) {
        i++;
    }
    if (i == MOST_TRIALS) {
        i = --a->nrun;
    }
    if (i == a->nrun) {
        a->runs[a->nrun++] = run_from_start(a, H);
    }
    return &a->runs[i];
}

static void confirm(Advice* a, AdviceTrial* trial)
{
    if (trial->verdict != ADVICE_STABLE || trial->is_confirmed) {
        return;
    }
    const AdviceTrial* run = find_run(a, trial->H);
    if (run->verdict == ADVICE_STABLE) {
        trial->is_confirmed = true;
        trial->change = run->change;
    } else {
        *trial = *run;
    }
}

AdviceTrial app_advice_judge(Advice* a, double H, bool needs_run)
{
    AdviceTrial* trial = find_trial(a, H);
    if (needs_run) {
        confirm(a, trial);
    }
    return *trial;
}

// ---------------------------------------------------------------------------- the largest step

// After n steps of the base the next to try: by RATIO, by way of n_file, to `most`.
static long find_next(long n, long n_file, long most)
{
    long next = lround(ceil(RATIO * (double)n)), goal = n < n_file ? n_file : most;
    return (double)goal < sqrt(RATIO) * (double)next ? goal : next;
}

// The largest H that is worth a trial: up to LARGEST, and larger than that of the file only as far as the work of one trial allows.
static double find_most(Advice* a)
{
    double H = a->options.macro_step, most = fmax(LARGEST, H), work = 0.0;
    while (most > FAR * H && a->system != NULL) {
        if (itm_advice_estimate_work(a->system, most, &work) == ITM_ERR_MEMORY) {
            a->has_memory = false;
        }
        if (!(work > a->budget * WORK_SHARE)) {
            break;
        }
        most *= 0.5;
    }
    return most > FAR * H || most == LARGEST ? fmax(most, H) : H;
}

// From the largest stable H down, the first that a run confirms; 0: none. above: the last that was not confirmed.
static double confirm_limit(Advice* a, double stable, AdviceTrial* above)
{
    while (stable > 0.0) {
        AdviceTrial trial = app_advice_judge(a, stable, true);
        if (trial.verdict == ADVICE_STABLE) {
            break;
        }
        *above = trial;
        stable = 0.0;
        for (int i = 0; i < a->ntrial; i++) {
            bool is_next = a->trials[i].verdict == ADVICE_STABLE && a->trials[i].H < trial.H;
            stable = is_next ? fmax(stable, a->trials[i].H) : stable;
        }
    }
    return stable;
}

// The steps n that are tried above n_file, and of these the last that is worth a trial: runs fail beyond. A trial of such an H takes as long as
// some runs, so runs bisect them first.
static long find_last(Advice* a, long n_file, long most)
{
    long steps[MOST_TRIALS];
    int count = 0;
    for (long n = n_file; n < most && count < MOST_TRIALS; count++) {
        n = steps[count] = find_next(n, n_file, most);
    }
    int good = -1, bad = count;  // a run with steps[good] is fine, one with steps[bad] is not
    for (int k = count - 1; a->system != NULL && bad - good > 1; k = (good + bad) / 2) {
        bool is_fine = find_run(a, (double)steps[k] * a->base)->verdict == ADVICE_STABLE;
        good = is_fine ? k : good;
        bad = is_fine ? bad : k;
    }
    return bad < count ? steps[bad] : most;
}

AdviceLimit app_advice_find_limit(Advice* a)
{
    double H = a->options.macro_step;
    find_trial(a, H);  // first: the estimate of work takes the sizes of its last step
    long stable = 0, n_file = lround(floor(H / a->base + 1e-9)), most = lround(floor(find_most(a) / a->base + 1e-9));
    AdviceLimit limit = {.above.verdict = ADVICE_STABLE};
    long last = most;
    for (long n = 1; stable < last && limit.above.verdict == ADVICE_STABLE; n = find_next(n, n_file, most)) {
        limit.above = *find_trial(a, (double)n * a->base);
        stable = limit.above.verdict == ADVICE_STABLE ? n : stable;
        last = stable == n_file ? find_last(a, n_file, most) : last;
    }
    while (limit.above.verdict == ADVICE_UNSTABLE && stable > 0) {
        long unstable = lround(limit.above.H / a->base), n = lround(sqrt((double)stable * (double)unstable));
        double sharp = (double)stable > FAR * (double)n_file ? BLUNT : SHARP;
        if (n == stable || n == unstable || (double)(unstable - stable) <= sharp * (double)stable) {
            break;
        }
        AdviceTrial trial = *find_trial(a, (double)n * a->base);
        if (trial.verdict == ADVICE_STABLE) {
            stable = n;
        } else {
            limit.above = trial;
        }
    }
    limit.stable = confirm_limit(a, (double)stable * a->base, &limit.above);
    limit.change = limit.stable > 0.0 ? app_advice_judge(a, limit.stable, true).change : INFINITY;
    limit.is_cut = limit.above.verdict == ADVICE_STABLE && limit.stable < LARGEST - a->base;
    return limit;
}

// ---------------------------------------------------------------------------- begin and end

bool app_advice_is_frame(const ItmModelFile* file, const ItmFileBond* bond)
{
    size_t n = strcspn(bond->port, ".");
    for (int k = 0; k < file->nmechanism; k++) {
        if (strlen(file->mechanisms[k].name) == n && strncmp(file->mechanisms[k].name, bond->port, n) == 0) {
            return true;
        }
    }
    return false;
}

// The step of which every H is a multiple: of those of all subsystems. Where none has one, any H fits.
static double find_base(const ItmModelFile* file)
{
    double common = 0.0, H = file->cosim.options.macro_step;
    for (int i = 0; i < file->ncircuit; i++) {
        common = itm_cosim_find_common_multiple(common, file->circuits[i].step);
    }
    for (int i = 0; i < file->ndrive && isfinite(common); i++) {
        common = itm_cosim_find_common_multiple(common, file->drives[i].step);
    }
    for (int i = 0; i < file->ncontrol && isfinite(common); i++) {
        common = itm_cosim_find_common_multiple(common, file->controls[i].step);
    }
    for (int i = 0; i < file->nexternal && isfinite(common); i++) {
        common = itm_cosim_find_common_multiple(common, file->externals[i].step);
    }
    for (int i = 0; i < file->nfmu && isfinite(common); i++) {
        common = itm_cosim_find_common_multiple(common, file->fmus[i].step);
    }
    for (int i = 0; i < file->nmechanism && isfinite(common); i++) {
        double own = file->mechanisms[i].step > 0.0 ? file->mechanisms[i].step
                     : file->run.step.step != H     ? file->run.step.step
                                                    : 0.0;
        common = itm_cosim_find_common_multiple(common, own);
    }
    return common > 0.0 ? common : H / PARTS;
}

double app_advice_get_base(const Advice* a)
{
    return a->base;
}

Advice* app_advice_begin(ItmModelFile* file, int nchoice, double budget)
{
    Advice* a = calloc(1, sizeof *a);
    ItmBondOptions* bonds = calloc((size_t)file->cosim.nbond + 1, sizeof *bonds);
    if (a == NULL || bonds == NULL) {
        free(a);
        free(bonds);
        fprintf(stderr, "interim: out of memory\n");
        return NULL;
    }
    for (int i = 0; i < file->cosim.nbond; i++) {
        bonds[i] = file->cosim.bonds[i].options;
    }
    bool has_variables = file->cosim.nbond > 0 && !file->cosim.options.is_monolithic;
    *a = (Advice){.file = file,
                  .options = file->cosim.options,
                  .bonds = bonds,
                  .variables = has_variables ? bonds[0].variables : ITM_VARIABLES_VELOCITY_FORCE,
                  .base = find_base(file),
                  .budget = budget,
                  .end = get_processor_time() + budget,
                  .nleft = nchoice,
                  .has_memory = true,
                  .progress = app_progress_begin(1.0, false)};
    file->cosim.options.is_monolithic = false;
    file->cosim.options.bounds.coupling_energy = CONFIRM_ERROR;
    return a;
}

void app_advice_choose(Advice* a, const AdviceChoice* choice)
{
    ItmModelFile* file = a->file;
    ItmError error = {0};
    for (int i = 0; i < file->cosim.nbond; i++) {
        ItmFileBond* bond = &file->cosim.bonds[i];
        bond->options = app_advice_is_frame(file, bond) ? choice->frame : choice->line;
        bond->options.variables =
            bond->options.exchange == ITM_EXCHANGE_HOLD ? a->variables : ITM_VARIABLES_VELOCITY_FORCE;
    }
    itm_cosim_destroy(a->system);
    a->system = NULL;
    a->ntrial = a->nrun = 0;
    a->name = choice->name;
    double now = get_processor_time();
    a->end_now = now + (a->end - now) / (a->nleft > 1 ? a->nleft : 1);
    a->nleft--;
    ItmStatus status = a->has_memory ? itm_file_create_cosim(&a->system, file, NULL, &error) : ITM_ERR_MEMORY;
    if (status != ITM_OK) {
        a->refusal = give_reason(a, 0.0, status, &error);
    }
}

void app_advice_hide_progress(Advice* a)
{
    app_progress_end(&a->progress);
}

bool app_advice_end(Advice* a)
{
    bool has_memory = a->has_memory;
    app_progress_end(&a->progress);
    a->file->cosim.options = a->options;
    for (int i = 0; i < a->file->cosim.nbond; i++) {
        a->file->cosim.bonds[i].options = a->bonds[i];
    }
    itm_cosim_destroy(a->system);
    itm_cosim_destroy(a->twin);
    for (int i = 0; i < a->ntime; i++) {
        free(a->twin_states[i]);
    }
    free(a->bonds);
    free(a);
    if (!has_memory) {
        fprintf(stderr, "interim: out of memory\n");
    }
    return has_memory;
}
