// Memory and state of a running circuit.
#include "hydraulics/cylinder.h"
#include "hydraulics/data.h"

#include "base/error.h"
#include "base/guard.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------- memory

// Reals of the state, in the order of ItmHydraulics. Called while measuring with state NULL.
static int lay_out_state(const ItmCircuit* c, ItmHydraulics* d, double* state)
{
    int used = 0;
    const struct {
        double** field;
        int count;
    } parts[] = {
        {&d->x, c->nx},
        {&d->clock, 3},
        {&d->s, c->ncyl},
        {&d->w, c->ncyl},
        {&d->w_end, c->ncyl},
        {&d->input, c->ndrive},
        {&d->ledger, ITM_HYDRAULIC_ACCOUNT_COUNT},
        {&d->counters, ITM_COUNTERS},
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        *parts[i].field = state != NULL ? state + used : NULL;
        used += parts[i].count;
    }
    return used;
}

static void lay_out(const ItmCircuit* c, ItmHydraulics* d)
{
    ItmArena* arena = &d->arena;
    d->nstate = lay_out_state(c, d, NULL);
    d->state = ITM_TAKE(arena, double, d->nstate);
    lay_out_state(c, d, d->state);
    const struct {
        double** field;
        int count;
    } parts[] = {
        {&d->drive, c->ndrive},
        {&d->s_stage, c->ncyl},
        {&d->w_stage, c->ncyl},
        {&d->p, c->nnode},
        {&d->flow, c->nnode},
        {&d->capacity, c->nvol},
        {&d->chamber, c->nvol},
        {&d->q, c->nbranch},
        {&d->u, c->ncontrol},
        {&d->q_p, c->nbranch},
        {&d->q_u, c->nbranch},
        {&d->capacity_p, c->nvol},
        {&d->u_raw, c->ncontrol},
        {&d->command, c->ncontrol},
        {&d->u_command, c->ncontrol},
        {&d->command_p, c->ncontrol},
        {&d->k[0], c->nx},
        {&d->k[1], c->nx},
        {&d->k[2], c->nx},
        {&d->k[3], c->nx},
        {&d->x_stage, c->nx},
        {&d->x_trial, c->nx},
        {&d->delta, c->nx},
        {&d->lu, c->nlu},
        {&d->backup, d->nstate},
        {&d->s_0, c->ncyl},
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        *parts[i].field = ITM_TAKE(arena, double, parts[i].count);
    }
    d->law = ITM_TAKE(arena, int, c->ncontrol);
}

size_t itm_hydraulics_measure(const ItmCircuit* c)
{
    ItmHydraulics d = {0};
    lay_out(c, &d);
    return sizeof d + d.arena.used;
}

static ItmStatus check_options(const ItmHydraulicOptions* options, ItmError* error)
{
    if ((int)options->integrator < 0 || options->integrator >= ITM_HYDRAULIC_INTEGRATOR_COUNT) {
        return itm_error_set(error, ITM_ERR_INPUT, "itm_hydraulics_create", "integrator", "%d is not an integrator",
                             (int)options->integrator);
    }
    if (!isfinite(options->tolerance) || options->tolerance <= 0) {
        return itm_error_set(error, ITM_ERR_INPUT, "itm_hydraulics_create", "tolerance",
                             "the tolerance must be positive, got %g", options->tolerance);
    }
    if (options->max_iterations < 1) {
        return itm_error_set(error, ITM_ERR_INPUT, "itm_hydraulics_create", "max_iterations",
                             "at least one iteration is needed, got %d", options->max_iterations);
    }
    return ITM_OK;
}

ItmStatus itm_hydraulics_create(ItmHydraulics** data, const ItmCircuit* c, const ItmHydraulicOptions* options,
                                ItmError* error)
{
    if (data == NULL || c == NULL) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "data or circuit is NULL");
    }
    *data = NULL;
    ItmHydraulicOptions chosen = options != NULL ? *options : itm_default_hydraulic_options();
    ItmStatus status = check_options(&chosen, error);
    if (status != ITM_OK) {
        return status;
    }
    ItmHydraulics* d = calloc(1, sizeof *d);
    if (d != NULL) {
        lay_out(c, d);
    }
    if (d == NULL || itm_arena_allocate(&d->arena) != 0) {
        free(d);
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "out of memory for a circuit of %d nodes",
                             c->nnode);
    }
    d->circuit = c;
    d->options = chosen;
    lay_out(c, d);
    for (int i = 0; i < c->ncyl; i++) {
        d->s_0[i] = c->cylinders[i].start_length - c->cylinders[i].extension;
    }
    itm_hydraulics_reset(c, d);
    status = chosen.integrator == ITM_HYDRAULIC_ADAPTIVE ? itm_hydraulics_adaptive_create(c, d, error) : ITM_OK;
    if (status != ITM_OK) {
        itm_hydraulics_destroy(d);
        return status;
    }
    *data = d;
    return ITM_OK;
}

void itm_hydraulics_destroy(ItmHydraulics* d)
{
    if (d == NULL) {
        return;
    }
    itm_hydraulics_adaptive_destroy(d);
    itm_arena_free(&d->arena);
    free(d);
}

void itm_hydraulics_reset(const ItmCircuit* c, ItmHydraulics* d)
{
    ITM_GUARD_VOID(c != NULL && d != NULL);
    memset(d->state, 0, sizeof(double) * (size_t)d->nstate);
    memcpy(d->x, c->start, sizeof(double) * (size_t)c->nx);
    for (int i = 0; i < c->ncyl; i++) {
        d->s[i] = d->s_0[i] + c->cylinders[i].extension;
    }
    d->counters[ITM_COUNT_CAVITATION_NODE] = ITM_NONE;
    itm_stage_begin(c, d, 0.0, 0.0);
    itm_stage_set(c, d, 0.0, 0.0, 0.0);
    memcpy(d->s, d->s_stage, sizeof(double) * (size_t)c->ncyl);
    memcpy(d->w, d->w_stage, sizeof(double) * (size_t)c->ncyl);
    memcpy(d->w_end, d->w, sizeof(double) * (size_t)c->ncyl);
}

// ---------------------------------------------------------------------------- looking

double itm_hydraulics_get_time(const ItmHydraulics* d)
{
    ITM_GUARD(d != NULL, 0.0);
    return d->clock[0] + d->clock[1] * d->clock[2];
}

ItmStatus itm_hydraulics_set_time(ItmHydraulics* d, double t)
{
    ITM_GUARD(d != NULL, ITM_ERR_ARGUMENT);
    if (!isfinite(t)) {
        return itm_error_set(&d->error, ITM_ERR_ARGUMENT, __func__, NULL, "the time is not finite");
    }
    d->clock[0] = t;
    d->clock[1] = 0.0;
    return ITM_OK;
}

const ItmError* itm_hydraulics_get_error(const ItmHydraulics* d)
{
    return &d->error;
}

ItmHydraulicInfo itm_hydraulics_get_info(const ItmHydraulics* d)
{
    ITM_GUARD(d != NULL, (ItmHydraulicInfo){0});
    const double* n = d->counters;
    return (ItmHydraulicInfo){
        .steps = (long)n[ITM_COUNT_STEPS],
        .iterations = (int)n[ITM_COUNT_ITERATIONS],
        .total_iterations = (long)n[ITM_COUNT_TOTAL],
        .residual = n[ITM_COUNT_RESIDUAL],
        .cavitations = (long)n[ITM_COUNT_CAVITATIONS],
        .cavitation_time = n[ITM_COUNT_CAVITATION_TIME],
        .cavitation_node = (int)n[ITM_COUNT_CAVITATION_NODE],
        .splits = (long)n[ITM_COUNT_SPLITS],
    };
}

const char* itm_hydraulics_get_event(const ItmCircuit* c, ItmHydraulics* d)
{
    ITM_GUARD(c != NULL && d != NULL, "");
    ItmHydraulicInfo info = itm_hydraulics_get_info(d);
    const char* name = itm_circuit_get_node_name(c, info.cavitation_node);
    d->event[0] = '\0';
    if (name != NULL) {
        snprintf(d->event, sizeof d->event,
                 "cavitation at t = %.9g s in '%s': the pressure stays at the vapour pressure until the oil that is "
                 "missing has flowed back",
                 info.cavitation_time, name);
    }
    return d->event;
}

const double* itm_hydraulics_get_ledger(const ItmHydraulics* d)
{
    ITM_GUARD(d != NULL, NULL);
    return d->ledger;
}

// Value of a drive now.
static double get_drive(const ItmCircuit* c, const ItmHydraulics* d, int i)
{
    const ItmDrive* drive = &c->drives[i];
    double value = drive->base + d->input[i];
    if (drive->signal != ITM_NONE) {
        value += itm_signal_compute(&c->signals[drive->signal], itm_hydraulics_get_time(d)).x;
    }
    return value;
}

// Pressure of a node in compiled numbering, now.
static double node_pressure(const ItmCircuit* c, const ItmHydraulics* d, int node)
{
    if (node < c->nvol) {
        double vapour = c->oil[node].vapour;
        return d->x[node] < vapour ? vapour : d->x[node];
    }
    return fmax(get_drive(c, d, c->source_drive[node - c->nvol]), c->source_vapour[node - c->nvol]);
}

double itm_hydraulics_get_pressure(const ItmCircuit* c, const ItmHydraulics* d, int node)
{
    ITM_GUARD(c != NULL && d != NULL, 0.0);
    return node >= 0 && node < c->nnode ? node_pressure(c, d, c->node_index[node]) : NAN;
}

double itm_hydraulics_get_void(const ItmCircuit* c, const ItmHydraulics* d, int node)
{
    ITM_GUARD(c != NULL && d != NULL, 0.0);
    int i = node >= 0 && node < c->nnode ? c->node_index[node] : c->nvol;
    if (i >= c->nvol || d->x[i] >= c->oil[i].vapour) {
        return 0.0;
    }
    return c->void_capacity[i] * (c->oil[i].vapour - d->x[i]);
}

// The least of the laws of a control in the present state.
static double get_command(const ItmCircuit* c, const ItmHydraulics* d, const ItmSpool* control)
{
    double least = INFINITY;
    for (int n = control->law_adr; n < control->law_adr + control->nlaw; n++) {
        const ItmPilotLaw* law = &c->laws[n];
        double sum = 0.0, drive = law->drive != ITM_NONE ? get_drive(c, d, law->drive) : 0.0;
        for (int i = law->adr; i < law->adr + law->count; i++) {
            sum += c->terms[i].gain * node_pressure(c, d, c->terms[i].node);
        }
        least = fmin(least, itm_law_compute(law, sum, drive, law->shaft != ITM_NONE ? d->w[law->shaft] : 0.0));
    }
    return least;
}

// Opening of a control in the present state.
static double get_opening(const ItmCircuit* c, const ItmHydraulics* d, const ItmSpool* control)
{
    double raw = control->order > 0  ? d->x[control->x_adr]
                 : control->nlaw > 0 ? get_command(c, d, control)
                                     : get_drive(c, d, control->drive);
    return fmin(fmax(raw, control->lo), control->hi);
}

static ItmCylinderForce compute_force(const ItmCircuit* c, const ItmHydraulics* d, int i, double s, double w)
{
    const ItmCylinder* it = &c->cylinders[i];
    double setting = it->control != ITM_NONE ? get_opening(c, d, &c->controls[it->control]) : 1.0;
    return itm_cylinder_compute_force(it, setting, node_pressure(c, d, it->node_1), node_pressure(c, d, it->node_2),
                                      itm_cylinder_get_extension(d, i, s), w);
}

ItmCylinderForce itm_hydraulics_compute_force(const ItmCircuit* c, const ItmHydraulics* d, int cylinder, double s,
                                              double w)
{
    ITM_GUARD(c != NULL && d != NULL, (ItmCylinderForce){0});
    if (cylinder < 0 || cylinder >= c->ncyl) {
        return (ItmCylinderForce){.total = NAN};
    }
    return compute_force(c, d, cylinder, s, w);
}

ItmCylinderForce itm_hydraulics_get_force(const ItmCircuit* c, const ItmHydraulics* d, int cylinder)
{
    ITM_GUARD(c != NULL && d != NULL, (ItmCylinderForce){0});
    bool exists = cylinder >= 0 && cylinder < c->ncyl;
    return itm_hydraulics_compute_force(c, d, cylinder, exists ? d->s[cylinder] : NAN, exists ? d->w[cylinder] : NAN);
}

void itm_hydraulics_get_forces(const ItmCircuit* c, const ItmHydraulics* d, double* force)
{
    ITM_GUARD_VOID(c != NULL && d != NULL && force != NULL);
    for (int i = 0; i < c->ncyl; i++) {
        force[i] = compute_force(c, d, i, d->s[i], d->w[i]).total;
    }
}

// ---------------------------------------------------------------------------- setting

ItmStatus itm_hydraulics_set_piston_motion(const ItmCircuit* c, ItmHydraulics* d, int cylinder, double s, double w,
                                           double w_end)
{
    ITM_GUARD(c != NULL && d != NULL, ITM_ERR_ARGUMENT);
    if (cylinder < 0 || cylinder >= c->ncyl || !isfinite(s) || !isfinite(w) || !isfinite(w_end)) {
        return itm_error_set(&d->error, ITM_ERR_ARGUMENT, __func__, NULL,
                             "cylinder %d of %d, length %g, rate %g: no such cylinder or not finite", cylinder, c->ncyl,
                             s, w);
    }
    if (c->cylinders[cylinder].motion != ITM_NONE || c->cylinders[cylinder].speed != ITM_NONE) {
        return itm_error_set(&d->error, ITM_ERR_ARGUMENT, __func__, NULL, "'%s' is driven by a signal",
                             c->cylinders[cylinder].name);
    }
    d->s[cylinder] = s;
    d->w[cylinder] = w;
    d->w_end[cylinder] = w_end;
    return ITM_OK;
}

ItmStatus itm_hydraulics_set_start_length(const ItmCircuit* c, ItmHydraulics* d, int cylinder, double length)
{
    ITM_GUARD(c != NULL && d != NULL, ITM_ERR_ARGUMENT);
    if (cylinder < 0 || cylinder >= c->ncyl || !isfinite(length) || c->cylinders[cylinder].motion != ITM_NONE) {
        return itm_error_set(&d->error, ITM_ERR_ARGUMENT, __func__, NULL,
                             "cylinder %d of %d, length %g: no such cylinder, driven by a signal, or not finite",
                             cylinder, c->ncyl, length);
    }
    d->s_0[cylinder] = length - c->cylinders[cylinder].extension;
    d->s[cylinder] = length;
    return ITM_OK;
}

ItmStatus itm_hydraulics_set_piston(const ItmCircuit* c, ItmHydraulics* d, int cylinder, double s, double w)
{
    ITM_GUARD(c != NULL && d != NULL, ITM_ERR_ARGUMENT);
    return itm_hydraulics_set_piston_motion(c, d, cylinder, s, w, w);
}

void itm_hydraulics_set_pistons(const ItmCircuit* c, ItmHydraulics* d, const double* s, const double* w,
                                const double* w_end)
{
    ITM_GUARD_VOID(c != NULL && d != NULL && (c->ncyl == 0 || (s != NULL && w != NULL)));
    for (int i = 0; i < c->ncyl; i++) {
        d->s[i] = s[i];
        d->w[i] = w[i];
        d->w_end[i] = w_end != NULL ? w_end[i] : w[i];
    }
}

ItmStatus itm_hydraulics_set_input(const ItmCircuit* c, ItmHydraulics* d, int input, double value)
{
    ITM_GUARD(c != NULL && d != NULL, ITM_ERR_ARGUMENT);
    if (input < 0 || input >= c->ndrive || !isfinite(value)) {
        return itm_error_set(&d->error, ITM_ERR_ARGUMENT, __func__, NULL,
                             "input %d of %d, value %g: no such input or not finite", input, c->ndrive, value);
    }
    d->input[input] = value;
    return ITM_OK;
}

double itm_hydraulics_get_input(const ItmHydraulics* d, int input)
{
    ITM_GUARD(d != NULL, 0.0);
    return input >= 0 && input < d->circuit->ndrive ? d->input[input] : NAN;
}

ItmStatus itm_hydraulics_set_pressure(const ItmCircuit* c, ItmHydraulics* d, int node, double pressure)
{
    ITM_GUARD(c != NULL && d != NULL, ITM_ERR_ARGUMENT);
    int i = node >= 0 && node < c->nnode ? c->node_index[node] : c->nvol;
    if (i >= c->nvol || !isfinite(pressure) || pressure < c->oil[i].vapour) {
        return itm_error_set(&d->error, ITM_ERR_ARGUMENT, __func__, NULL,
                             "node %d, %g Pa: not a volume, or not a pressure above the vapour pressure", node,
                             pressure);
    }
    d->x[i] = pressure;
    return ITM_OK;
}

void itm_hydraulics_get_x(const ItmHydraulics* d, double* x)
{
    ITM_GUARD_VOID(d != NULL && x != NULL);
    memcpy(x, d->x, sizeof(double) * (size_t)d->circuit->nx);
}

ItmStatus itm_hydraulics_set_x(ItmHydraulics* d, const double* x)
{
    ITM_GUARD(d != NULL && x != NULL, ITM_ERR_ARGUMENT);
    for (int i = 0; i < d->circuit->nx; i++) {
        if (!isfinite(x[i])) {
            return itm_error_set(&d->error, ITM_ERR_ARGUMENT, __func__, NULL, "%s is not finite",
                                 d->circuit->state_name[i]);
        }
    }
    memcpy(d->x, x, sizeof(double) * (size_t)d->circuit->nx);
    return ITM_OK;
}

// ---------------------------------------------------------------------------- bytes

size_t itm_hydraulics_get_state_size(const ItmHydraulics* d)
{
    ITM_GUARD(d != NULL, 0);
    return sizeof(double) * (size_t)d->nstate;
}

ItmStatus itm_hydraulics_save(const ItmHydraulics* d, void* bytes, size_t size)
{
    ITM_GUARD(d != NULL && bytes != NULL, ITM_ERR_ARGUMENT);
    if (size != itm_hydraulics_get_state_size(d)) {
        return ITM_ERR_ARGUMENT;
    }
    memcpy(bytes, d->state, size);
    return ITM_OK;
}

ItmStatus itm_hydraulics_restore(ItmHydraulics* d, const void* bytes, size_t size)
{
    ITM_GUARD(d != NULL, ITM_ERR_ARGUMENT);
    if (size != itm_hydraulics_get_state_size(d)) {
        return itm_error_set(&d->error, ITM_ERR_ARGUMENT, __func__, NULL, "a state has %zu bytes, got %zu",
                             itm_hydraulics_get_state_size(d), size);
    }
    memcpy(d->state, bytes, size);
    return ITM_OK;
}
