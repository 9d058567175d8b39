// run: how long, in which steps, with which stepper.
#include "io/model/reader.h"

#include <math.h>

// Steps of one run at most: time is kept as a whole number of them.
#define MOST_STEPS 1e12
#define ADAPTIVE_TOLERANCE 1e-5  // m or rad

static double get_positive(ItmReader* r, const ItmNode* node, ItmDimension dimension, double absent, const char* what)
{
    double value = itm_reader_get_real(r, node, dimension, absent);
    if (r->status == ITM_OK && node != NULL && !(value > 0)) {
        itm_reader_fail(r, node, "%s must be positive, got %g", what, value);
    }
    return value;
}

static double get_not_negative(ItmReader* r, const ItmNode* node, ItmDimension dimension, double absent,
                               const char* what)
{
    double value = itm_reader_get_real(r, node, dimension, absent);
    if (r->status == ITM_OK && node != NULL && !(value >= 0)) {
        itm_reader_fail(r, node, "%s must not be negative, got %g", what, value);
    }
    return value;
}

static ItmStepper get_stepper(ItmReader* r, const ItmNode* node, ItmStepper absent)
{
    const char* names[ITM_STEPPER_COUNT];
    for (int i = 0; i < ITM_STEPPER_COUNT; i++) {
        names[i] = itm_stepper_name((ItmStepper)i);
    }
    int stepper = itm_reader_get_word(r, node, "a stepper", names, ITM_STEPPER_COUNT, (int)absent);
    return stepper >= 0 ? (ItmStepper)stepper : absent;
}

static ItmModalRule get_modal_rule(ItmReader* r, const ItmNode* node, ItmModalRule absent)
{
    const char* names[ITM_MODAL_RULE_COUNT];
    for (int i = 0; i < ITM_MODAL_RULE_COUNT; i++) {
        names[i] = itm_stepper_modal_rule_name((ItmModalRule)i);
    }
    int rule = itm_reader_get_word(r, node, "a rule for flexible bodies", names, ITM_MODAL_RULE_COUNT, (int)absent);
    return rule >= 0 ? (ItmModalRule)rule : absent;
}

// Results are written at whole steps.
static void check_interval(ItmReader* r, const ItmNode* node, double interval, double step)
{
    double ratio = interval / step;
    if (r->status == ITM_OK && node != NULL && fabs(ratio - round(ratio)) > 1e-6 * ratio) {
        itm_reader_fail(r, node, "output_interval (%g s) must be a multiple of the step (%g s)", interval, step);
    }
}

// A circuit makes whole steps within a step of the run; with a section cosim that has been checked against H.
static void check_circuits(ItmReader* r, double step)
{
    for (int i = 0; i < r->file->ncircuit && r->status == ITM_OK && r->file->cosim.place.line == 0; i++) {
        double ratio = step / r->file->circuits[i].step;
        const ItmNode* node = itm_document_find(r->parts->circuits[i].item->value, "step");
        if (node != NULL && (!(ratio > 0.5) || fabs(ratio - round(ratio)) > 1e-6 * ratio)) {
            itm_reader_fail(r, node, "the step of the run (%g s) must be a multiple of this one (%g s)", step,
                            r->file->circuits[i].step);
        }
    }
}

// And so does a control that runs alone.
static void check_controls(ItmReader* r, const ItmNode* node, double step)
{
    bool is_alone = r->builder == NULL && r->file->ncircuit == 0;
    for (int i = 0; i < r->file->ncontrol && is_alone && node != NULL; i++) {
        double ratio = step / r->file->controls[i].step;
        if (!(ratio > 0.5) || fabs(ratio - round(ratio)) > 1e-6 * ratio) {
            itm_reader_fail(r, node, "the step of the run (%g s) must be a multiple of that of the control '%s' (%g s)",
                            step, r->file->controls[i].name, r->file->controls[i].step);
        }
    }
}

// With a section cosim the step is H; without a mechanism that of the first circuit that has one, or of the first control.
static double get_default_step(const ItmReader* r, double absent)
{
    if (r->file->cosim.place.line > 0) {
        return r->file->cosim.options.macro_step;
    }
    for (int i = 0; i < r->file->ncircuit && r->builder == NULL; i++) {
        if (r->file->circuits[i].step > 0) {
            return r->file->circuits[i].step;
        }
    }
    return r->builder == NULL && r->file->ncircuit == 0 && r->file->ncontrol > 0 ? r->file->controls[0].step : absent;
}

// Only steppers that choose their steps use a smallest one; the others leave it, so that `stepper` alone can be changed.
static void read_min_step(ItmReader* r, const ItmNode* node, ItmStepOptions* o, bool is_variable)
{
    o->min_step = get_positive(r, node, ITM_DIM_TIME, o->min_step, "min_step");
    if (r->status == ITM_OK && is_variable && o->min_step > o->step) {
        itm_reader_fail(r, node, "min_step (%g s) must not be larger than step (%g s), the largest step", o->min_step,
                        o->step);
    }
    o->min_step = is_variable ? o->min_step : 0.0;
}

// bounds: beyond which the run is doubted, or breaks down.
static void read_bounds(ItmReader* r, const ItmNode* node, ItmBounds* b)
{
    static const char* const KEYS[] = {"energy",        "coupling_energy", "momentum",   "penetration", "joint_gap",
                                       "interface_gap", "residual",        "unfinished", "breakdown"};
    double* const values[] = {&b->energy,        &b->coupling_energy, &b->momentum,   &b->penetration, &b->joint_gap,
                              &b->interface_gap, &b->residual,        &b->unfinished, &b->breakdown};
    enum { NBOUND = sizeof KEYS / sizeof KEYS[0] };
    const ItmNode* v[NBOUND];
    itm_reader_get_map(r, node, "bounds", KEYS, NBOUND, v);
    for (int i = 0; i < NBOUND; i++) {
        *values[i] = get_not_negative(r, v[i], ITM_DIM_ONE, *values[i], KEYS[i]);
    }
}

void itm_read_run(ItmReader* r, const ItmNode* node, ItmRunSettings* run)
{
    enum {
        DURATION,
        STEP,
        OUTPUT_INTERVAL,
        BOUNDS,
        STEPPER,
        MIN_STEP,
        TOLERANCE,
        GAP_TOLERANCE,
        MAX_ITERATIONS,
        PENALTY,
        FREQUENCY,
        DAMPING_RATIO,
        MODAL_RULE,
        NKEY
    };
    static const char* const KEYS[NKEY] = {"duration",  "step",          "output_interval", "bounds",         "stepper",
                                           "min_step",  "tolerance",     "gap_tolerance",   "max_iterations", "penalty",
                                           "frequency", "damping_ratio", "modal_rule"};
    const ItmNode* v[NKEY];
    ItmStepOptions* o = &run->step;
    *run = (ItmRunSettings){.duration = 1.0, .step = itm_default_step_options()};
    itm_reader_get_map(r, node, "run", KEYS, NKEY, v);
    for (int i = STEPPER; i < NKEY; i++) {
        if (v[i] != NULL && r->builder == NULL) {
            itm_reader_fail(r, v[i],
                            "'%s' is for mechanisms, and the file has none; a circuit has an "
                            "'integrator' of its own",
                            KEYS[i]);
        }
    }
    run->duration = get_not_negative(r, v[DURATION], ITM_DIM_TIME, run->duration, "duration");
    o->stepper = get_stepper(r, v[STEPPER], o->stepper);
    o->modal_rule = get_modal_rule(r, v[MODAL_RULE], o->modal_rule);
    o->step = get_positive(r, v[STEP], ITM_DIM_TIME, get_default_step(r, o->step), "step");
    check_circuits(r, o->step);
    check_controls(r, v[STEP], o->step);
    bool is_variable = o->stepper == ITM_STEPPER_VARIABLE || o->stepper == ITM_STEPPER_ADAPTIVE;
    read_min_step(r, v[MIN_STEP], o, is_variable);
    double tolerance = o->stepper == ITM_STEPPER_ADAPTIVE ? ADAPTIVE_TOLERANCE : o->tolerance;
    o->tolerance = get_positive(r, v[TOLERANCE], ITM_DIM_ONE, tolerance, "tolerance");
    o->gap_tolerance = get_positive(r, v[GAP_TOLERANCE], ITM_DIM_ONE, o->gap_tolerance, "gap_tolerance");
    o->max_iterations = itm_reader_get_int(r, v[MAX_ITERATIONS], 1, 100000, o->max_iterations);
    o->penalty = get_not_negative(r, v[PENALTY], ITM_DIM_ONE, o->penalty, "penalty");
    o->frequency = get_not_negative(r, v[FREQUENCY], ITM_DIM_FREQUENCY, o->frequency, "frequency");
    o->damping_ratio = get_not_negative(r, v[DAMPING_RATIO], ITM_DIM_ONE, o->damping_ratio, "damping_ratio");
    run->output_interval = get_not_negative(r, v[OUTPUT_INTERVAL], ITM_DIM_TIME, 0.0, "output_interval");
    ItmFileCosim* cosim = &r->file->cosim;
    read_bounds(r, v[BOUNDS], &cosim->options.bounds);
    cosim->options.macro_step = cosim->place.line > 0 ? cosim->options.macro_step : o->step;
    if (!is_variable || cosim->place.line > 0) {
        check_interval(r, v[OUTPUT_INTERVAL], run->output_interval, cosim->options.macro_step);
    }
    if (r->status == ITM_OK && run->duration / o->step > MOST_STEPS) {
        itm_reader_fail(r, v[STEP] != NULL ? v[STEP] : v[DURATION],
                        "%g s in steps of %g s are more than %g steps; shorten the duration or enlarge the step",
                        run->duration, o->step, MOST_STEPS);
    }
}
