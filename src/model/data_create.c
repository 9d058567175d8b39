#include "base/error.h"
#include "contact/contact.h"
#include "stepper/stepper.h"

#include <math.h>

static ItmStatus check_options(const ItmStepOptions* o, ItmError* error)
{
    if ((int)o->stepper < 0 || o->stepper >= ITM_STEPPER_COUNT) {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, "stepper", "there is no stepper number %d",
                             (int)o->stepper);
    }
    const struct {
        const char* field;
        double value;
        bool may_be_zero;
    } numbers[] = {
        {"step", o->step, false},
        {"min_step", o->min_step, true},
        {"tolerance", o->tolerance, false},
        {"gap_tolerance", o->gap_tolerance, false},
        {"penalty", o->penalty, true},
        {"frequency", o->frequency, true},
        {"damping_ratio", o->damping_ratio, true},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        double x = numbers[i].value;
        if (!isfinite(x) || x < 0.0 || (x == 0.0 && !numbers[i].may_be_zero)) {
            return itm_error_set(error, ITM_ERR_INPUT, __func__, numbers[i].field, "%s must be %s, got %g",
                                 numbers[i].field, numbers[i].may_be_zero ? "zero or positive" : "positive", x);
        }
    }
    if ((int)o->modal_rule < 0 || o->modal_rule >= ITM_MODAL_RULE_COUNT) {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, "modal_rule",
                             "there is no rule number %d for flexible bodies", (int)o->modal_rule);
    }
    if (o->min_step > o->step) {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, "min_step",
                             "min_step %g s is larger than the largest step %g s", o->min_step, o->step);
    }
    if (o->max_iterations < 1) {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, "max_iterations",
                             "max_iterations must be at least 1, got %d", o->max_iterations);
    }
    return ITM_OK;
}

ItmStatus itm_data_create(ItmData** data, const ItmModel* m, const ItmStepOptions* options, ItmError* error)
{
    if (data == NULL || m == NULL) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "data or model is NULL");
    }
    *data = NULL;
    ItmStepOptions chosen = options != NULL ? *options : itm_default_step_options();
    ItmStatus status = check_options(&chosen, error);
    ItmData* d = NULL;
    if (status == ITM_OK) {
        status = itm_data_init(&d, m, &chosen, error);
    }
    if (status == ITM_OK) {
        status = itm_stepper_check(m, chosen.stepper, error);
    }
    if (status == ITM_OK && m->contact != NULL) {
        status = itm_contact_create_data(m, d, error);
    }
    if (status == ITM_OK && chosen.stepper == ITM_STEPPER_REFERENCE) {
        status = itm_reference_create(m, d, error);
    }
    if (status == ITM_OK && chosen.stepper == ITM_STEPPER_VARIABLE) {
        status = itm_variable_create(m, d, error);
    }
    if (status == ITM_OK && chosen.stepper == ITM_STEPPER_ADAPTIVE) {
        status = itm_adaptive_create(m, d, error);
    }
    if (status != ITM_OK) {
        itm_data_destroy(d);
        return status;
    }
    itm_data_reset_to_start(m, d);
    *data = d;
    return ITM_OK;
}

void itm_data_destroy(ItmData* d)
{
    if (d != NULL) {
        itm_reference_destroy(d);
        itm_variable_destroy(d);
        itm_adaptive_destroy(d);
        itm_contact_destroy_data(d);
        itm_data_free(d);
    }
}
