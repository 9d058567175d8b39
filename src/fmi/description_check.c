// Rules of FMI 2.0 and 3.0 that a description can break.
#include "fmi/description_private.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FAULT(severity, v, rule, ...) itm_description_find_fault(f, severity, (v)->line, (v)->column, rule, __VA_ARGS__)

static bool is_float(ItmFmiType type)
{
    return type == ITM_FMI_FLOAT64 || type == ITM_FMI_FLOAT32;
}

// ---------------------------------------------------------------------------- variables

// Combinations of causality, variability and initial that the standard allows.
static void check_combination(ItmFmiFindings* f, const ItmFmiVariable* v)
{
    bool is_parameter = v->causality == ITM_FMI_PARAMETER || v->causality == ITM_FMI_CALCULATED_PARAMETER ||
                        v->causality == ITM_FMI_STRUCTURAL_PARAMETER;
    bool is_fixed = v->variability == ITM_FMI_FIXED || v->variability == ITM_FMI_TUNABLE;
    bool is_wrong = (is_parameter && !is_fixed) ||
                    ((v->causality == ITM_FMI_INPUT || v->causality == ITM_FMI_OUTPUT) && is_fixed) ||
                    (v->causality == ITM_FMI_INPUT && v->variability == ITM_FMI_CONSTANT) ||
                    (v->causality == ITM_FMI_INDEPENDENT && v->variability != ITM_FMI_CONTINUOUS);
    if (is_wrong) {
        FAULT(ITM_FMI_ERROR, v, "causality and variability",
              "variable '%.100s': causality '%s' and variability '%s' do not go together", v->name,
              itm_description_get_causality_name(v->causality), itm_description_get_variability_name(v->variability));
    }
    if (!is_float(v->type) && v->variability == ITM_FMI_CONTINUOUS) {
        FAULT(ITM_FMI_ERROR, v, "causality and variability", "variable '%.100s' of type %s cannot be continuous",
              v->name, itm_description_get_type_name(v->type));
    }
    bool has_wrong_initial = (v->causality == ITM_FMI_PARAMETER && v->initial != ITM_FMI_EXACT) ||
                             (v->causality == ITM_FMI_CALCULATED_PARAMETER && v->initial == ITM_FMI_EXACT) ||
                             (v->variability == ITM_FMI_CONSTANT && v->initial != ITM_FMI_EXACT) ||
                             (v->causality == ITM_FMI_INDEPENDENT && v->initial != ITM_FMI_INITIAL_NONE);
    if (has_wrong_initial) {
        FAULT(ITM_FMI_ERROR, v, "initial",
              "variable '%.100s': initial '%s' is not allowed for causality '%s' and variability '%s'", v->name,
              itm_description_get_initial_name(v->initial), itm_description_get_causality_name(v->causality),
              itm_description_get_variability_name(v->variability));
    }
    if (v->causality == ITM_FMI_INPUT && v->initial != ITM_FMI_INITIAL_NONE && v->initial != ITM_FMI_EXACT) {
        FAULT(ITM_FMI_WARNING, v, "initial", "variable '%.100s' is an input and has initial '%s'", v->name,
              itm_description_get_initial_name(v->initial));
    }
}

static void check_start(ItmFmiFindings* f, const ItmFmiVariable* v)
{
    bool needs_start = v->initial == ITM_FMI_EXACT || v->initial == ITM_FMI_APPROX || v->causality == ITM_FMI_INPUT;
    if (needs_start && v->nstart == 0) {
        FAULT(ITM_FMI_ERROR, v, "start values", "variable '%.100s' needs a start value, because %s%s", v->name,
              v->causality == ITM_FMI_INPUT ? "it is an input" : "its 'initial' is ",
              v->causality == ITM_FMI_INPUT ? "" : itm_description_get_initial_name(v->initial));
    }
    if (v->nstart > 0 && (v->initial == ITM_FMI_CALCULATED || v->causality == ITM_FMI_INDEPENDENT)) {
        FAULT(ITM_FMI_ERROR, v, "start values", "variable '%.100s' is calculated and must not have a start value",
              v->name);
    }
    if (v->nstart > 1 && (uint64_t)v->nstart != v->count) {
        FAULT(ITM_FMI_ERROR, v, "start values", "variable '%.100s' has %d start values and %llu elements", v->name,
              v->nstart, (unsigned long long)v->count);
    }
    for (int i = 0; i < v->nstart && v->start != NULL; i++) {
        if (!isfinite(v->start[i])) {
            FAULT(ITM_FMI_WARNING, v, "start values", "variable '%.100s': a start value is not finite", v->name);
            break;
        }
        if (v->start[i] < v->min || v->start[i] > v->max) {
            FAULT(ITM_FMI_WARNING, v, "bounds", "variable '%.100s': start value %g is outside of min %g and max %g",
                  v->name, v->start[i], v->min, v->max);
            break;
        }
    }
}

static bool has_item(const ItmFmiTypeDefinition* t, int64_t value)
{
    for (int i = 0; i < t->nitem; i++) {
        if (t->items[i].value == value) {
            return true;
        }
    }
    return false;
}

static void check_type_and_unit(ItmFmiFindings* f, const ItmFmiDescription* d, const ItmFmiVariable* v)
{
    const ItmFmiTypeDefinition* t = v->type_id != ITM_NONE ? &d->types[v->type_id] : NULL;
    if (t != NULL && t->type != v->type) {
        FAULT(ITM_FMI_ERROR, v, "declared types", "variable '%.100s' is %s, and its type '%.60s' is %s", v->name,
              itm_description_get_type_name(v->type), t->name, itm_description_get_type_name(t->type));
    }
    for (int i = 0; t != NULL && v->type == ITM_FMI_ENUMERATION && i < v->nstart && t->nitem > 0; i++) {
        if (!has_item(t, v->start_integer[i])) {
            FAULT(ITM_FMI_ERROR, v, "enumerations", "variable '%.100s': start value %lld is no item of '%.60s'",
                  v->name, (long long)v->start_integer[i], t->name);
        }
    }
    if (v->unit != NULL && v->unit_id == ITM_NONE) {
        FAULT(ITM_FMI_WARNING, v, "units", "variable '%.100s': unit '%.40s' is not defined in <UnitDefinitions>",
              v->name, v->unit);
    }
    bool has_display =
        v->display_unit == NULL || v->unit_id == ITM_NONE || strcmp(v->display_unit, d->units[v->unit_id].name) == 0;
    for (int i = 0; !has_display && i < d->units[v->unit_id].ndisplay_unit; i++) {
        has_display = strcmp(d->units[v->unit_id].display_units[i].name, v->display_unit) == 0;
    }
    if (!has_display) {
        FAULT(ITM_FMI_WARNING, v, "units", "variable '%.100s': display unit '%.40s' is not defined for '%.40s'",
              v->name, v->display_unit, v->unit);
    }
    if (v->min > v->max) {
        FAULT(ITM_FMI_ERROR, v, "bounds", "variable '%.100s': min %g is above max %g", v->name, v->min, v->max);
    }
    if (!(v->nominal > 0.0) || !isfinite(v->nominal)) {
        FAULT(ITM_FMI_WARNING, v, "bounds", "variable '%.100s': nominal must be positive, it is %g", v->name,
              v->nominal);
    }
}

static void check_derivative(ItmFmiFindings* f, const ItmFmiDescription* d, const ItmFmiVariable* v)
{
    const ItmFmiVariable* state = v->derivative_of != ITM_NONE ? &d->variables[v->derivative_of] : NULL;
    if (state == NULL) {
        return;
    }
    if (!is_float(v->type) || !is_float(state->type) || state->variability != ITM_FMI_CONTINUOUS ||
        v->variability != ITM_FMI_CONTINUOUS) {
        FAULT(ITM_FMI_ERROR, v, "derivatives",
              "variable '%.100s' is the derivative of '%.100s'; both must be continuous numbers", v->name, state->name);
    }
    if (state->count != v->count) {
        FAULT(ITM_FMI_ERROR, v, "derivatives", "variable '%.100s' has %llu elements and its state '%.100s' has %llu",
              v->name, (unsigned long long)v->count, state->name, (unsigned long long)state->count);
    }
}

// Two variables of one value reference are one quantity: type, unit and start must not contradict each other.
static void check_alias(ItmFmiFindings* f, const ItmFmiDescription* d, const ItmFmiVariable* v)
{
    const ItmFmiVariable* first = v->alias_of != ITM_NONE ? &d->variables[v->alias_of] : NULL;
    if (first == NULL) {
        return;
    }
    bool is_same_declaration = first->start == v->start && first->start_texts == v->start_texts && d->major == 3;
    if (first->type != v->type) {
        FAULT(ITM_FMI_ERROR, v, "value references",
              "variables '%.100s' (%s) and '%.100s' (%s) share value reference %u", first->name,
              itm_description_get_type_name(first->type), v->name, itm_description_get_type_name(v->type),
              v->value_reference);
    } else if (d->major == 3 && !is_same_declaration) {
        FAULT(ITM_FMI_ERROR, v, "value references",
              "variables '%.100s' and '%.100s' share value reference %u; FMI 3.0 requires <Alias> for that",
              first->name, v->name, v->value_reference);
    }
    bool has_two_units = first->unit != NULL && v->unit != NULL && strcmp(first->unit, v->unit) != 0;
    if (has_two_units) {
        FAULT(ITM_FMI_ERROR, v, "value references",
              "variables '%.100s' and '%.100s' share value reference %u and have the units '%.40s' and '%.40s'",
              first->name, v->name, v->value_reference, first->unit, v->unit);
    }
    if (first->nstart == 1 && v->nstart == 1 && first->start != NULL && v->start != NULL &&
        first->start[0] != v->start[0]) {
        FAULT(ITM_FMI_WARNING, v, "value references",
              "variables '%.100s' and '%.100s' share value reference %u and start at %g and %g", first->name, v->name,
              v->value_reference, first->start[0], v->start[0]);
    }
}

static void check_dimensions(ItmFmiFindings* f, const ItmFmiDescription* d, const ItmFmiVariable* v)
{
    for (int i = 0; i < v->ndimension; i++) {
        const ItmFmiDimension* dimension = &v->dimensions[i];
        if (dimension->variable != ITM_NONE &&
            d->variables[dimension->variable].causality != ITM_FMI_STRUCTURAL_PARAMETER) {
            FAULT(ITM_FMI_ERROR, v, "dimensions",
                  "variable '%.100s': its size is given by '%.100s', which is no structural parameter", v->name,
                  d->variables[dimension->variable].name);
        }
    }
}

static void check_variables(ItmFmiFindings* f, const ItmFmiDescription* d)
{
    int nindependent = 0;
    for (int i = 0; i < d->nvariable; i++) {
        const ItmFmiVariable* v = &d->variables[i];
        bool is_alias_element = d->major == 3 && v->alias_of != ITM_NONE && v->start == d->variables[v->alias_of].start;
        check_alias(f, d, v);
        if (is_alias_element) {
            continue;
        }
        nindependent += v->causality == ITM_FMI_INDEPENDENT;
        if (v->name[0] == '\0') {
            FAULT(ITM_FMI_ERROR, v, "unique names", "a variable has an empty name");
        }
        check_combination(f, v);
        check_start(f, v);
        check_type_and_unit(f, d, v);
        check_derivative(f, d, v);
        check_dimensions(f, d, v);
    }
    if (nindependent > 1 || (nindependent == 0 && d->major == 3)) {
        itm_description_find_fault(f, ITM_FMI_ERROR, 0, 0, "independent variable",
                                   "%d variables are independent; %s one is allowed", nindependent,
                                   d->major == 3 ? "exactly" : "at most");
    }
}

// ---------------------------------------------------------------------------- structure

static ItmFmiUnknowns get_unknowns(const ItmFmiDescription* d, bool is_output)
{
    return is_output ? d->outputs : d->derivatives;
}

// Every variable that belongs there is listed once; nothing else is.
static void check_list(ItmFmiFindings* f, const ItmFmiDescription* d, char* is_listed, bool is_output)
{
    ItmFmiUnknowns list = get_unknowns(d, is_output);
    const char* what = is_output ? "an output" : "a derivative";
    memset(is_listed, 0, (size_t)d->nvariable);
    for (int i = 0; i < list.count; i++) {
        int index = list.items[i].variable;
        const ItmFmiVariable* v = &d->variables[index];
        bool belongs = is_output ? v->causality == ITM_FMI_OUTPUT : v->derivative_of != ITM_NONE;
        if (!belongs) {
            itm_description_find_fault(f, ITM_FMI_ERROR, list.items[i].line, 1, "structure",
                                       "<ModelStructure> lists '%.100s' as %s, which it is not", v->name, what);
        } else if (is_listed[index]) {
            itm_description_find_fault(f, ITM_FMI_ERROR, list.items[i].line, 1, "structure",
                                       "<ModelStructure> lists '%.100s' twice as %s", v->name, what);
        }
        is_listed[index] = 1;
    }
    for (int i = 0; i < d->nvariable; i++) {
        const ItmFmiVariable* v = &d->variables[i];
        bool belongs = is_output && v->causality == ITM_FMI_OUTPUT;
        bool has_listed_alias = v->alias_of != ITM_NONE && is_listed[v->alias_of];
        if (belongs && !is_listed[i] && !has_listed_alias) {
            FAULT(d->major == 2 ? ITM_FMI_ERROR : ITM_FMI_WARNING, v, "structure",
                  "output '%.100s' is missing in <ModelStructure>", v->name);
        }
    }
}

static void check_structure(ItmFmiFindings* f, const ItmFmiDescription* d)
{
    char* is_listed = malloc((size_t)d->nvariable + 1);
    if (is_listed == NULL) {
        return;
    }
    check_list(f, d, is_listed, true);
    check_list(f, d, is_listed, false);
    free(is_listed);
    const ItmFmiKind* exchange = &d->kinds[ITM_FMI_MODEL_EXCHANGE];
    int nderivative = 0;
    for (int i = 0; i < d->nvariable; i++) {
        nderivative += d->variables[i].derivative_of != ITM_NONE && d->variables[i].alias_of == ITM_NONE;
    }
    if (exchange->is_present && nderivative > 0 && d->derivatives.count == 0) {
        itm_description_find_fault(
            f, ITM_FMI_ERROR, 0, 0, "structure",
            "%d variables are derivatives, and <ModelStructure> lists none; model exchange has no states then",
            nderivative);
    }
}

// ---------------------------------------------------------------------------- the rest

static void check_units(ItmFmiFindings* f, const ItmFmiDescription* d)
{
    for (int i = 0; i < d->nunit; i++) {
        const ItmFmiUnit* u = &d->units[i];
        for (int j = 0; j < i; j++) {
            if (strcmp(u->name, d->units[j].name) == 0) {
                itm_description_find_fault(f, ITM_FMI_ERROR, u->line, 1, "unique names",
                                           "the unit '%.60s' is defined twice", u->name);
                break;
            }
        }
        if (u->has_base && (u->factor == 0.0 || !isfinite(u->factor) || !isfinite(u->offset))) {
            itm_description_find_fault(f, ITM_FMI_ERROR, u->line, 1, "units",
                                       "unit '%.60s': factor %g and offset %g are not usable", u->name, u->factor,
                                       u->offset);
        }
    }
}

static void check_experiment(ItmFmiFindings* f, const ItmFmiDescription* d)
{
    double start = isnan(d->start_time) ? 0.0 : d->start_time;
    if (!isnan(d->stop_time) && d->stop_time <= start) {
        itm_description_find_fault(f, ITM_FMI_WARNING, 0, 0, "default experiment",
                                   "the stop time %g s is not after the start time %g s", d->stop_time, start);
    }
    if (!isnan(d->step_size) && !(d->step_size > 0.0)) {
        itm_description_find_fault(f, ITM_FMI_WARNING, 0, 0, "default experiment", "the step size %g s is not positive",
                                   d->step_size);
    }
    if (!isnan(d->tolerance) && !(d->tolerance > 0.0)) {
        itm_description_find_fault(f, ITM_FMI_WARNING, 0, 0, "default experiment", "the tolerance %g is not positive",
                                   d->tolerance);
    }
}

// In FMI 2.0 the identifier begins names of C functions where the FMU is given as sources.
static bool is_identifier(const char* text)
{
    bool is_right = !(text[0] >= '0' && text[0] <= '9');
    for (const char* c = text; *c != '\0'; c++) {
        is_right =
            is_right && ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || *c == '_');
    }
    return is_right;
}

static void check_kinds(ItmFmiFindings* f, const ItmFmiDescription* d)
{
    for (int i = 0; i < ITM_FMI_KIND_COUNT; i++) {
        const ItmFmiKind* k = &d->kinds[i];
        const char* name = i == ITM_FMI_CO_SIMULATION ? "co-simulation" : "model exchange";
        if (!k->is_present) {
            continue;
        }
        if (!is_identifier(k->model_identifier)) {
            itm_description_find_fault(f, ITM_FMI_WARNING, 0, 0, "kinds",
                                       "%s: modelIdentifier '%.100s' is no C identifier", name, k->model_identifier);
        }
        if (k->can_serialize_state && !k->can_get_set_state) {
            itm_description_find_fault(f, ITM_FMI_ERROR, 0, 0, "kinds",
                                       "%s: the state can be serialised, but not got and set", name);
        }
        if (k->needs_execution_tool) {
            itm_description_find_fault(f, ITM_FMI_WARNING, 0, 0, "kinds",
                                       "%s: the FMU needs the tool that made it (%.100s) on this machine", name,
                                       d->tool[0] != '\0' ? d->tool : "unnamed");
        }
        if (k->fixed_step < 0.0 || !isfinite(k->fixed_step)) {
            itm_description_find_fault(f, ITM_FMI_ERROR, 0, 0, "kinds", "%s: the fixed internal step is %g s", name,
                                       k->fixed_step);
        }
    }
    if (d->token[0] == '\0') {
        itm_description_find_fault(f, ITM_FMI_ERROR, 0, 0, "kinds", "the %s is empty",
                                   d->major == 2 ? "guid" : "instantiationToken");
    }
}

static bool copy_findings(ItmFmiFindings* to, const ItmFmiFindings* from)
{
    for (int i = 0; i < from->count; i++) {
        ItmFmiFinding finding = from->items[i];
        finding.text = itm_owned_copy_string(&to->owned, finding.text);
        if (finding.text == NULL || !ITM_LIST_APPEND(*to, finding)) {
            return false;
        }
    }
    to->nerror += from->nerror;
    to->nwarning += from->nwarning;
    to->nleft_out += from->nleft_out;
    return true;
}

ItmStatus itm_description_check(ItmFmiFindings* findings, const ItmFmiDescription* d, ItmError* error)
{
    *findings = (ItmFmiFindings){0};
    if (!copy_findings(findings, &d->reading->findings)) {
        itm_description_free_findings(findings);
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
    }
    check_kinds(findings, d);
    check_units(findings, d);
    check_variables(findings, d);
    check_structure(findings, d);
    check_experiment(findings, d);
    return ITM_OK;
}
