// What a definition of a block must be.
#include "base/check.h"
#include "control/builder.h"

#include <math.h>
#include <string.h>

#define MOST_SAMPLES 1000000

// A name must be able to stand in an expression.
static void check_name(ItmCheck* k)
{
    static const char* const RESERVED[] = {"time", "pi", "and", "or", "not"};
    ItmScan scan = {.text = k->name, .length = strlen(k->name)};
    if (itm_scan_measure_name(&scan, 0) != scan.length) {
        itm_check_refuse(k, "name", "a block's name has letters, digits and underscores, and begins with no digit");
    }
    for (size_t i = 0; i < sizeof RESERVED / sizeof *RESERVED; i++) {
        if (strcmp(k->name, RESERVED[i]) == 0) {
            itm_check_refuse(k, "name", "this word has a meaning in expressions; choose another name");
        }
    }
}

static void check_common(ItmCheck* k, const ItmControlBlockDef* def)
{
    if (def->input == NULL) {
        itm_check_refuse(k, "input", "an input is needed");
    }
    itm_check_not_negative(k, "sample", def->sample);
    if (isnan(def->lower) || isnan(def->upper) || !(def->lower < def->upper)) {
        itm_check_refuse(k, "lower", "the lower limit must be below the upper one, got %g and %g", def->lower,
                         def->upper);
    }
    if (def->unit != NULL && strlen(def->unit) > ITM_LONGEST_NAME) {
        itm_check_refuse(k, "unit", "a unit has at most %d bytes", ITM_LONGEST_NAME);
    }
}

// A start value, which may be open (NAN) where the first input can take its place.
static void check_start(ItmCheck* k, const ItmControlBlockDef* def, bool may_be_open)
{
    if (!isfinite(def->start) && !(may_be_open && isnan(def->start))) {
        itm_check_refuse(k, "start", "the start value must be finite");
    }
}

static void check_pid(ItmCheck* k, const ItmControlBlockDef* def)
{
    check_start(k, def, false);
    itm_check_finite(k, "proportional", def->proportional);
    itm_check_finite(k, "integral", def->integral);
    itm_check_finite(k, "derivative", def->derivative);
    itm_check_not_negative(k, "time_constant", def->time_constant);
    if (def->error_rate != NULL && def->time_constant > 0) {
        itm_check_refuse(
            k, "time_constant",
            "the filter is for differences of the input; a measured error_rate is filtered by a lag block");
    }
    if ((int)def->anti_windup < 0 || def->anti_windup >= ITM_WINDUP_COUNT) {
        itm_check_refuse(k, "anti_windup", "%d is not a method of anti-windup", (int)def->anti_windup);
    }
    if (def->anti_windup == ITM_WINDUP_TRACKING) {
        itm_check_positive(k, "tracking_time", def->tracking_time);
    }
}

static void check_rate(ItmCheck* k, const char* field, double rate)
{
    if (!(rate > 0)) {
        itm_check_refuse(k, field, "%s must be positive, got %g", field, rate);
    }
}

static void check_lookup(ItmCheck* k, const ItmControlBlockDef* def)
{
    if (def->npoint < 2 || def->points == NULL || def->values == NULL) {
        itm_check_refuse(k, "points", "at least two points are needed");
        return;
    }
    for (int i = 0; i < def->npoint; i++) {
        if (!isfinite(def->points[i]) || (i > 0 && def->points[i] <= def->points[i - 1])) {
            itm_check_refuse(k, "points", "points must be finite and increase, but number %d is %g after %g", i + 1,
                             def->points[i], i > 0 ? def->points[i - 1] : -INFINITY);
        }
        itm_check_finite(k, "values", def->values[i]);
    }
    if (def->interpolation != ITM_INTERPOLATE_LINEAR && def->interpolation != ITM_INTERPOLATE_CUBIC) {
        itm_check_refuse(k, "interpolation", "unknown interpolation");
    }
}

ItmStatus itm_control_block_def_check(const ItmControlBlockDef* def, ItmError* error)
{
    ItmCheck k = itm_check_start("itm_control_builder_add_block", "block", def->name, error);
    check_name(&k);
    check_common(&k, def);
    switch (def->kind) {
    case ITM_CONTROL_EXPRESSION:
        break;
    case ITM_CONTROL_PID:
        check_pid(&k, def);
        break;
    case ITM_CONTROL_INTEGRATOR:
        check_start(&k, def, false);
        if (!(def->start >= def->lower && def->start <= def->upper)) {
            itm_check_refuse(&k, "start", "the start value %g is outside the limits [%g, %g]", def->start, def->lower,
                             def->upper);
        }
        break;
    case ITM_CONTROL_LAG:
        check_start(&k, def, true);
        itm_check_positive(&k, "time_constant", def->time_constant);
        break;
    case ITM_CONTROL_DERIVATIVE:
        itm_check_not_negative(&k, "time_constant", def->time_constant);
        break;
    case ITM_CONTROL_RATE_LIMIT:
        check_start(&k, def, true);
        check_rate(&k, "rising", def->rising);
        check_rate(&k, "falling", def->falling);
        break;
    case ITM_CONTROL_DELAY:
        check_start(&k, def, true);
        if (def->samples < 1 || def->samples > MOST_SAMPLES) {
            itm_check_refuse(&k, "samples", "a delay has 1 to %d samples, got %d", MOST_SAMPLES, def->samples);
        }
        break;
    case ITM_CONTROL_LOOKUP:
        check_lookup(&k, def);
        break;
    default:
        itm_check_refuse(&k, "kind", "unknown kind of block");
    }
    return k.status;
}
