// Which contacts, stops and frictions may change between two communication points: what the user chose.
#include "cosim/builder.h"
#include "cosim/cosim.h"

#include "base/error.h"
#include "base/list.h"
#include "base/nearest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REFUSE(field, ...) itm_error_set(error, ITM_ERR_INPUT, __func__, field, __VA_ARGS__)

static const char* const POTENTIAL_NAMES[ITM_POTENTIAL_COUNT] = {"all", "auto", "none"};

const char* itm_potential_name(ItmPotential potential)
{
    return (int)potential >= 0 && potential < ITM_POTENTIAL_COUNT ? POTENTIAL_NAMES[potential] : NULL;
}

ItmPotentialOptions itm_default_potential_options(void)
{
    return (ItmPotentialOptions){.rows = ITM_POTENTIAL_ALL, .margin = 2.0};
}

ItmStatus itm_cosim_set_potential(ItmCosimBuilder* b, int mechanism, const ItmPotentialOptions* options, ItmError* error)
{
    if (b == NULL || options == NULL || mechanism < 0 || mechanism >= b->mechanisms.count) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "builder, mechanism or options are missing");
    }
    if (itm_potential_name(options->rows) == NULL) {
        return REFUSE("rows", "there is no choice number %d of potential rows", (int)options->rows);
    }
    if (!(isfinite(options->margin) && options->margin >= 0.0)) {
        return REFUSE("margin", "margin must not be negative, got %g", options->margin);
    }
    b->mechanisms.items[mechanism].potential = *options;
    return ITM_OK;
}

// Body by name as rows know it, ITM_NOBODY: there is none.
static int find_body(const ItmModel* m, const char* name)
{
    if (strcmp(name, "ground") == 0) {
        return ITM_GROUND;
    }
    int id = itm_model_find_body(m, name);
    return id != ITM_NONE ? m->body_index[id] : ITM_NOBODY;
}

static ItmStatus refuse_name(const ItmModel* m, const char* mechanism, const char* name, bool may_be_joint, ItmError* error)
{
    char near[128];
    ItmNearest nearest = itm_nearest_start(name, strlen(name));
    itm_nearest_offer(&nearest, "ground");
    for (int id = 0; id < m->nuser; id++) {
        itm_nearest_offer(&nearest, m->bodies[m->body_index[id]].name);
    }
    for (int id = 0; id < m->njoint && may_be_joint; id++) {
        itm_nearest_offer(&nearest, m->joints[id].name);
    }
    return itm_error_set(error, ITM_ERR_INPUT, "itm_cosim_builder_add_potential", "name", "mechanism '%s' has no body%s '%s'%s", mechanism,
                         may_be_joint ? " or joint" : "", name, itm_nearest_format(&nearest, near, sizeof near));
}

ItmStatus itm_cosim_builder_add_potential(ItmCosimBuilder* b, int mechanism, const char* first, const char* second, bool is_potential,
                                  ItmError* error)
{
    if (b == NULL || first == NULL || mechanism < 0 || mechanism >= b->mechanisms.count) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "builder, mechanism or name is missing");
    }
    const ItmMechanismDef* def = &b->mechanisms.items[mechanism];
    const ItmModel* m = def->model;
    ItmRideRule rule = {.body_a = find_body(m, first), .body_b = second != NULL ? find_body(m, second) : ITM_NOBODY,
                        .joint = ITM_NONE, .choice = is_potential ? ITM_RIDE_ALWAYS : ITM_RIDE_NEVER};
    if (rule.body_a == ITM_NOBODY && second == NULL) {
        rule.joint = itm_model_find_joint(m, first);
    }
    if (rule.body_a == ITM_NOBODY && rule.joint == ITM_NONE) {
        return refuse_name(m, def->name, first, second == NULL, error);
    }
    if (second != NULL && rule.body_b == ITM_NOBODY) {
        return refuse_name(m, def->name, second, false, error);
    }
    ItmPotentialRule entry = {.mechanism = mechanism, .rule = rule};
    return ITM_LIST_APPEND(b->rules, entry)
               ? ITM_OK
               : itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "out of memory for a choice of contacts");
}

// ---------------------------------------------------------------------------- a mechanism

static ItmRideChoice choose(ItmPotential rows)
{
    return rows == ITM_POTENTIAL_ALL ? ITM_RIDE_ALWAYS : rows == ITM_POTENTIAL_AUTO ? ITM_RIDE_BY_MARGIN : ITM_RIDE_NEVER;
}

ItmStatus itm_mechanism_choose_potential(ItmCosim* x, ItmMechanism* part, const ItmCosimBuilder* b, ItmError* error)
{
    int mechanism = (int)(part - x->mechanisms), n = 0;
    const ItmPotentialOptions* options = &b->mechanisms.items[mechanism].potential;
    // a smooth model sorts by itself, the monolithic twin has steps that are too short for it to pay, and with held forces a step is one
    // micro step
    if (!part->uses_impulse || part->is_smooth || x->options.is_monolithic) {
        return ITM_OK;
    }
    part->rules = calloc((size_t)b->rules.count + 1, sizeof *part->rules);
    if (part->rules == NULL) {
        return itm_error_set(error, ITM_ERR_MEMORY, "itm_cosim_build", NULL, "out of memory for a mechanism");
    }
    for (int i = 0; i < b->rules.count; i++) {
        if (b->rules.items[i].mechanism == mechanism) {
            part->rules[n++] = b->rules.items[i].rule;
        }
    }
    part->rim.rules = (ItmRideRules){.choice = choose(options->rows), .margin = options->margin, .rules = part->rules, .nrule = n};
    return ITM_OK;
}

void itm_mechanism_expect_forces(const ItmCosim* x, ItmMechanism* part)
{
    for (int i = 0; i < part->nbond; i++) {
        const ItmBond* bond = &x->bonds[part->bonds[i]];
        bool is_predicted = !itm_coupling_is_rim(bond->options.coupling);
        // the force went from its mean over the last step to its end in half a step: twice that in a whole one
        part->rim.expected[i] = is_predicted ? bond->held : bond->memory->force;
        part->rim.spread[i] = is_predicted ? 0.0 : 2.0 * fabs(bond->memory->force - bond->memory->P0 / x->step);
    }
}
