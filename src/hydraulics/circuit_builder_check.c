// What each definition must satisfy. A check keeps the first thing it finds wrong; later ones then do nothing.
#include "hydraulics/circuit.h"
#include "hydraulics/circuit_builder.h"

#include "base/check.h"
#include "base/error.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PI 3.14159265358979323846
#define LEAST_VISCOSITY 0.3e-6  // of Walther's law, m^2/s
#define COLDEST 200.0           // K
#define HOTTEST 500.0
#define MAX_SEGMENTS 100  // of a line: the matrix of an island is dense

// ---------------------------------------------------------------------------- names and numbers

static ItmCheck start(const char* kind, const char* name, ItmError* error)
{
    ItmCheck k = itm_check_start("itm_circuit_add", kind, name, error);
    if (strcmp(k.name, "energy") == 0) {
        itm_check_refuse(&k, "name", "'energy' is the name of the ledger's outputs");
    }
    return k;
}

ItmStatus itm_circuit_check_name(const char* name, const char* kind, ItmError* error)
{
    return start(kind, name, error).status;
}

// Names with dots between them, as the outputs have: "cyl1.p3".
ItmStatus itm_circuit_check_alias(const char* alias, ItmError* error)
{
    ItmStatus status = ITM_OK;
    for (const char* piece = alias; status == ITM_OK && piece != NULL;) {
        size_t length = strcspn(piece, ".");
        char name[ITM_LONGEST_NAME + 2];
        snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name), piece);
        status = itm_check_start("itm_circuit_add", "alias", name, error).status;
        piece = piece[length] == '.' ? piece + length + 1 : NULL;
    }
    return status;
}

// Wall moduli: infinite means rigid.
static void positive_or_infinite(ItmCheck* k, const char* field, double value)
{
    if (!(value > 0)) {
        itm_check_refuse(k, field, "%s must be positive (INFINITY: none), got %g", field, value);
    }
}

// ---------------------------------------------------------------------------- references

static void valid_signal(ItmCheck* k, const ItmCircuitBuilder* b, const char* field, int signal)
{
    if (signal != ITM_NONE && (signal < 0 || signal >= b->signals.count)) {
        itm_check_refuse(k, field, "there is no signal %d", signal);
    }
}

static void valid_fluid(ItmCheck* k, const ItmCircuitBuilder* b, int fluid)
{
    if (fluid < 0 || fluid >= b->fluids.count) {
        itm_check_refuse(k, "fluid", "there is no fluid %d", fluid);
    }
}

static void valid_port(ItmCheck* k, const ItmCircuitBuilder* b, const char* field, int port)
{
    if (port == ITM_NONE) {
        itm_check_refuse(k, field, "%s is not connected to a node", field);
    } else if (port < 0 || port >= b->nodes.count) {
        itm_check_refuse(k, field, "there is no node %d", port);
    }
}

int itm_circuit_builder_get_fluid(const ItmCircuitBuilder* b, int node)
{
    const ItmNodeDef* def = &b->nodes.items[node];
    return def->is_source ? def->source.fluid : def->volume.fluid;
}

// Two ports of one element: different nodes with the same fluid.
static void joinable(ItmCheck* k, const ItmCircuitBuilder* b, const char* field, int port_a, int port_b)
{
    if (k->status != ITM_OK) {
        return;
    }
    if (port_a == port_b) {
        itm_check_refuse(k, field, "both ports are connected to node '%s'", b->nodes.items[port_a].name);
    } else if (itm_circuit_builder_get_fluid(b, port_a) != itm_circuit_builder_get_fluid(b, port_b)) {
        itm_check_refuse(k, field, "nodes '%s' and '%s' have different fluids", b->nodes.items[port_a].name,
                         b->nodes.items[port_b].name);
    }
}

static void valid_law(ItmCheck* k, const ItmOrificeLaw* law)
{
    itm_check_not_negative(k, "threshold", law->threshold);
    itm_check_not_negative(k, "coefficient", law->coefficient);
    if (law->coefficient == 0) {
        itm_check_positive(k, "area", law->area);
        itm_check_positive(k, "discharge", law->discharge);
    }
}

// ---------------------------------------------------------------------------- fluids and nodes

ItmStatus itm_circuit_check_fluid(const ItmFluidDef* def, ItmError* error)
{
    ItmCheck k = start("fluid", def->name, error);
    itm_check_positive(&k, "density", def->density);
    itm_check_not_negative(&k, "vapour_pressure", def->vapour_pressure);
    if (def->has_pressure_law) {
        itm_check_positive(&k, "compress_a", def->compress_a);
        itm_check_finite(&k, "compress_b", def->compress_b);
    } else {
        itm_check_positive(&k, "bulk_modulus", def->bulk_modulus);
    }
    if (!(def->air >= 0.0 && def->air < 1.0)) {
        itm_check_refuse(&k, "air", "the share of air must be in [0, 1), got %g", def->air);
    }
    if (!(isfinite(def->air_exponent) && def->air_exponent >= 1.0)) {
        itm_check_refuse(&k, "air_exponent", "the polytropic exponent must be at least 1, got %g", def->air_exponent);
    }
    if (def->air > 0.0) {
        itm_check_positive(&k, "vapour_pressure", def->vapour_pressure);
    }
    if (!(def->temperature >= COLDEST && def->temperature <= HOTTEST)) {
        itm_check_refuse(&k, "temperature", "the temperature must be in [%g, %g] K, got %g", COLDEST, HOTTEST,
                         def->temperature);
    }
    itm_check_not_negative(&k, "expansion", def->expansion);
    itm_check_not_negative(&k, "modulus_decay", def->modulus_decay);
    if (!(def->viscosity_100 > LEAST_VISCOSITY && isfinite(def->viscosity_40))) {
        itm_check_refuse(&k, "viscosity_100", "the viscosities must be above %g m^2/s, got %g", LEAST_VISCOSITY,
                         def->viscosity_100);
    }
    if (def->viscosity_100 > def->viscosity_40) {
        itm_check_refuse(&k, "viscosity_100", "the oil must be thinner at 373.15 K than at 313.15 K");
    }
    return k.status;
}

// The pressure law must give a positive modulus there.
static void valid_pressure(ItmCheck* k, const ItmCircuitBuilder* b, int fluid, double pressure)
{
    itm_check_finite(k, "pressure", pressure);
    valid_fluid(k, b, fluid);
    if (k->status != ITM_OK) {
        return;
    }
    const ItmFluidDef* oil = &b->fluids.items[fluid];
    if (pressure < oil->vapour_pressure) {
        itm_check_refuse(k, "pressure", "%g Pa is below the vapour pressure of '%s', %g Pa", pressure, oil->name,
                         oil->vapour_pressure);
    }
    double slope = oil->compress_a + 2.0 * oil->compress_b * pressure;
    if (oil->has_pressure_law && !(slope > 0)) {
        itm_check_refuse(k, "pressure", "at %g Pa the bulk modulus of '%s' is not positive", pressure, oil->name);
    }
}

ItmStatus itm_circuit_check_volume(const ItmCircuitBuilder* b, const ItmVolumeDef* def, ItmError* error)
{
    ItmCheck k = start("volume", def->name, error);
    itm_check_not_negative(&k, "volume", def->volume);
    positive_or_infinite(&k, "wall_modulus", def->wall_modulus);
    valid_pressure(&k, b, def->fluid, def->pressure);
    return k.status;
}

ItmStatus itm_circuit_check_pressure_source(const ItmCircuitBuilder* b, const ItmPressureSourceDef* def,
                                            ItmError* error)
{
    ItmCheck k = start(def->is_tank ? "tank" : "pressure source", def->name, error);
    itm_check_finite(&k, "pressure", def->pressure);
    valid_fluid(&k, b, def->fluid);
    valid_signal(&k, b, "signal", def->signal);
    if (def->signal == ITM_NONE) {
        valid_pressure(&k, b, def->fluid, def->pressure);
    }
    return k.status;
}

ItmStatus itm_circuit_check_flow_source(const ItmCircuitBuilder* b, const ItmFlowSourceDef* def, ItmError* error)
{
    ItmCheck k = start("flow source", def->name, error);
    itm_check_finite(&k, "flow", def->flow);
    valid_signal(&k, b, "signal", def->signal);
    valid_port(&k, b, "port_b", def->port_b);
    if (def->port_a != ITM_NONE) {
        valid_port(&k, b, "port_a", def->port_a);
        joinable(&k, b, "port_b", def->port_a, def->port_b);
    }
    return k.status;
}

// ---------------------------------------------------------------------------- resistances and valves

ItmStatus itm_circuit_check_orifice(const ItmCircuitBuilder* b, const ItmOrificeDef* def, ItmError* error)
{
    ItmCheck k = start("orifice", def->name, error);
    valid_port(&k, b, "port_a", def->port_a);
    valid_port(&k, b, "port_b", def->port_b);
    joinable(&k, b, "port_b", def->port_a, def->port_b);
    valid_law(&k, &def->law);
    if (def->is_variable) {
        itm_check_finite(&k, "opening", def->opening);
        valid_signal(&k, b, "signal", def->signal);
    } else if (def->signal != ITM_NONE) {
        itm_check_refuse(&k, "signal", "a fixed orifice takes no signal; set is_variable");
    }
    return k.status;
}

ItmStatus itm_circuit_check_laminar(const ItmCircuitBuilder* b, const ItmLaminarDef* def, ItmError* error)
{
    ItmCheck k = start("laminar resistance", def->name, error);
    valid_port(&k, b, "port_a", def->port_a);
    valid_port(&k, b, "port_b", def->port_b);
    joinable(&k, b, "port_b", def->port_a, def->port_b);
    itm_check_positive(&k, "conductance", def->conductance);
    return k.status;
}

ItmStatus itm_circuit_check_pressure_valve(const ItmCircuitBuilder* b, const ItmPressureValveDef* def, ItmError* error)
{
    ItmCheck k = start("pressure valve", def->name, error);
    valid_port(&k, b, "port_a", def->port_a);
    valid_port(&k, b, "port_b", def->port_b);
    joinable(&k, b, "port_b", def->port_a, def->port_b);
    if (def->port_c != ITM_NONE) {
        valid_port(&k, b, "port_c", def->port_c);
        joinable(&k, b, "port_c", def->port_a, def->port_c);
        joinable(&k, b, "port_c", def->port_b, def->port_c);
    }
    valid_law(&k, &def->law);
    itm_check_not_negative(&k, "opening_pressure", def->opening_pressure);
    itm_check_positive(&k, "span", def->span);
    itm_check_not_negative(&k, "time_constant", def->time_constant);
    valid_signal(&k, b, "signal", def->signal);
    if (def->npilot < 1 || def->npilot > ITM_MAX_PILOTS) {
        itm_check_refuse(&k, "npilot", "a valve has 1 to %d pilots, got %d", ITM_MAX_PILOTS, def->npilot);
    }
    for (int i = 0; k.status == ITM_OK && i < def->npilot; i++) {
        valid_port(&k, b, "pilots", itm_circuit_builder_get_pilot_node(def, i));
        itm_check_finite(&k, "pilots", def->pilots[i].ratio);
    }
    return k.status;
}

int itm_circuit_builder_get_pilot_node(const ItmPressureValveDef* def, int pilot)
{
    int port = def->pilots[pilot].port;
    return port == ITM_PILOT_A   ? def->port_a
           : port == ITM_PILOT_B ? def->port_b
           : port == ITM_PILOT_C ? def->port_c
                                 : port;
}

ItmStatus itm_circuit_check_filter(const ItmCircuitBuilder* b, const ItmFilterDef* def, ItmError* error)
{
    ItmCheck k = start("filter", def->name, error);
    valid_port(&k, b, "port_a", def->port_a);
    valid_port(&k, b, "port_b", def->port_b);
    joinable(&k, b, "port_b", def->port_a, def->port_b);
    itm_check_positive(&k, "conductance", def->conductance);
    itm_check_not_negative(&k, "clogging", def->clogging);
    valid_signal(&k, b, "signal", def->signal);
    positive_or_infinite(&k, "bypass_pressure", def->bypass_pressure);
    if (isfinite(def->bypass_pressure)) {
        itm_check_positive(&k, "bypass_span", def->bypass_span);
        itm_check_not_negative(&k, "bypass_coefficient", def->bypass_coefficient);
    }
    return k.status;
}

ItmStatus itm_circuit_check_line(const ItmCircuitBuilder* b, const ItmLineDef* def, ItmError* error)
{
    ItmCheck k = start("line", def->name, error);
    valid_port(&k, b, "port_a", def->port_a);
    valid_port(&k, b, "port_b", def->port_b);
    joinable(&k, b, "port_b", def->port_a, def->port_b);
    itm_check_positive(&k, "length", def->length);
    itm_check_positive(&k, "diameter", def->diameter);
    positive_or_infinite(&k, "wall_modulus", def->wall_modulus);
    if (def->segments < 0 || def->segments > MAX_SEGMENTS) {
        itm_check_refuse(&k, "segments", "a line has 0 to %d segments, got %d", MAX_SEGMENTS, def->segments);
    }
    return k.status;
}

static void valid_spool(ItmCheck* k, const ItmValveDef* def)
{
    switch (def->spool) {
    case ITM_SPOOL_DIRECT:
        return;
    case ITM_SPOOL_FIRST:
        itm_check_positive(k, "time_constant", def->time_constant);
        return;
    case ITM_SPOOL_SECOND:
        itm_check_positive(k, "frequency", def->frequency);
        itm_check_not_negative(k, "damping_ratio", def->damping_ratio);
        return;
    case ITM_SPOOL_KIND_COUNT:
        break;
    }
    itm_check_refuse(k, "spool", "%d is not a kind of spool dynamics", (int)def->spool);
}

// Positions increase, openings are not negative.
static void valid_metering(ItmCheck* k, const ItmValveDef* def)
{
    for (int edge = 0; edge < ITM_EDGE_COUNT; edge++) {
        const ItmMetering* m = &def->metering[edge];
        if (m->npoint == 0) {
            continue;
        }
        if (m->npoint < 2 || m->spool == NULL || m->opening == NULL) {
            itm_check_refuse(k, "metering", "a metering curve needs at least two points");
            return;
        }
        for (int i = 0; i < m->npoint; i++) {
            if (!isfinite(m->spool[i]) || (i > 0 && !(m->spool[i] > m->spool[i - 1]))) {
                itm_check_refuse(k, "metering", "the positions of a metering curve must increase, got %g as number %d",
                                 m->spool[i], i + 1);
            }
            if (!(isfinite(m->opening[i]) && m->opening[i] >= 0.0)) {
                itm_check_refuse(k, "metering", "an opening must not be negative, got %g as number %d", m->opening[i],
                                 i + 1);
            }
        }
    }
}

ItmStatus itm_circuit_check_valve(const ItmCircuitBuilder* b, const ItmValveDef* def, ItmError* error)
{
    ItmCheck k = start("valve", def->name, error);
    valid_port(&k, b, "port_p", def->port_p);
    valid_port(&k, b, "port_t", def->port_t);
    valid_port(&k, b, "port_a", def->port_a);
    valid_port(&k, b, "port_b", def->port_b);
    joinable(&k, b, "port_t", def->port_p, def->port_t);
    joinable(&k, b, "port_a", def->port_p, def->port_a);
    joinable(&k, b, "port_b", def->port_p, def->port_b);
    joinable(&k, b, "port_a", def->port_t, def->port_a);
    joinable(&k, b, "port_b", def->port_t, def->port_b);
    joinable(&k, b, "port_b", def->port_a, def->port_b);
    valid_law(&k, &def->law);
    itm_check_finite(&k, "command", def->command);
    valid_signal(&k, b, "signal", def->signal);
    if (def->kind == ITM_VALVE_4_3) {
        positive_or_infinite(&k, "limit", def->limit);
        itm_check_not_negative(&k, "dead_band", def->dead_band);
        valid_metering(&k, def);
        if (def->port_ls != ITM_NONE) {
            valid_port(&k, b, "port_ls", def->port_ls);
            joinable(&k, b, "port_ls", def->port_a, def->port_ls);
            joinable(&k, b, "port_ls", def->port_b, def->port_ls);
            itm_check_positive(&k, "ls_coefficient", def->ls_coefficient);
        }
    } else if (def->kind != ITM_VALVE_SYMMETRIC) {
        itm_check_refuse(&k, "kind", "%d is not a kind of valve", (int)def->kind);
    }
    valid_spool(&k, def);
    return k.status;
}

ItmStatus itm_circuit_check_accumulator(const ItmCircuitBuilder* b, const ItmAccumulatorDef* def, ItmError* error)
{
    ItmCheck k = start("accumulator", def->name, error);
    valid_port(&k, b, "port", def->port);
    if (k.status == ITM_OK && b->nodes.items[def->port].is_source) {
        itm_check_refuse(&k, "port", "the pressure of node '%s' is given: an accumulator needs a volume",
                         b->nodes.items[def->port].name);
    }
    itm_check_positive(&k, "gas_volume", def->gas_volume);
    itm_check_positive(&k, "precharge", def->precharge);
    if (!isfinite(def->exponent) || def->exponent < 1.0) {
        itm_check_refuse(&k, "exponent", "the polytropic exponent must be at least 1, got %g", def->exponent);
    }
    return k.status;
}

// ---------------------------------------------------------------------------- cylinders

static void complete_areas(ItmCheck* k, ItmCylinderDef* def)
{
    itm_check_not_negative(k, "area_1", def->area_1);
    itm_check_not_negative(k, "area_2", def->area_2);
    if (def->area_1 == 0 && def->area_2 == 0) {
        itm_check_positive(k, "bore", def->bore);
        itm_check_not_negative(k, "rod", def->rod);
        if (def->rod >= def->bore) {
            itm_check_refuse(k, "rod", "the rod (%g m) must be thinner than the bore (%g m)", def->rod, def->bore);
        }
        def->area_1 = PI / 4.0 * def->bore * def->bore;
        def->area_2 = PI / 4.0 * (def->bore * def->bore - def->rod * def->rod);
    }
    itm_check_positive(k, "area_1", def->area_1);
    itm_check_positive(k, "area_2", def->area_2);
}

static void valid_dampers(ItmCheck* k, const ItmCylinderDef* def)
{
    itm_check_not_negative(k, "damper_length", def->damper_length);
    itm_check_not_negative(k, "damper_stiffness", def->damper_stiffness);
    itm_check_not_negative(k, "damper_damping", def->damper_damping);
    if (2.0 * def->damper_length > def->stroke) {
        itm_check_refuse(k, "damper_length", "two end dampers of %g m do not fit into a stroke of %g m",
                         def->damper_length, def->stroke);
    }
}

ItmStatus itm_circuit_complete_cylinder(const ItmCircuitBuilder* b, ItmCylinderDef* def, ItmError* error)
{
    ItmCheck k = start("cylinder", def->name, error);
    valid_port(&k, b, "port_1", def->port_1);
    valid_port(&k, b, "port_2", def->port_2);
    joinable(&k, b, "port_2", def->port_1, def->port_2);
    complete_areas(&k, def);
    itm_check_positive(&k, "stroke", def->stroke);
    if (!isnan(def->start_length)) {
        itm_check_finite(&k, "start_length", def->start_length);
    }
    def->start_extension = isnan(def->start_extension) ? 0.5 * def->stroke : def->start_extension;
    if (!(def->start_extension >= 0 && def->start_extension <= def->stroke)) {
        itm_check_refuse(&k, "start_extension", "extended by %g m, the piston is outside its stroke of %g m",
                         def->start_extension, def->stroke);
    }
    itm_check_not_negative(&k, "dead_volume_1", def->dead_volume_1);
    itm_check_not_negative(&k, "dead_volume_2", def->dead_volume_2);
    positive_or_infinite(&k, "wall_modulus", def->wall_modulus);
    itm_check_not_negative(&k, "leakage", def->leakage);
    itm_check_not_negative(&k, "viscous", def->viscous);
    itm_check_not_negative(&k, "coulomb", def->coulomb);
    itm_check_positive(&k, "coulomb_speed", def->coulomb_speed);
    valid_dampers(&k, def);
    valid_signal(&k, b, "motion", def->motion);
    return k.status;
}

// ---------------------------------------------------------------------------- motors

// Speed and controllers
static void valid_pump(ItmCheck* k, const ItmCircuitBuilder* b, const ItmMotorDef* def)
{
    itm_check_finite(k, "speed", def->speed);
    valid_signal(k, b, "speed_signal", def->speed_signal);
    if (def->is_driven && def->motion != ITM_NONE) {
        itm_check_refuse(k, "motion", "a shaft that is driven with a speed follows no motion");
    }
    bool has_limits = isfinite(def->pressure_limit) || isfinite(def->torque_limit) || isfinite(def->power_limit);
    if (!def->is_variable && (def->load_port != ITM_NONE || has_limits)) {
        itm_check_refuse(k, "is_variable", "a controller needs a variable displacement");
    }
    if (def->load_port != ITM_NONE) {
        valid_port(k, b, "load_port", def->load_port);
        itm_check_positive(k, "load_margin", def->load_margin);
        itm_check_positive(k, "load_span", def->load_span);
    }
    positive_or_infinite(k, "pressure_limit", def->pressure_limit);
    itm_check_positive(k, "pressure_span", def->pressure_span);
    positive_or_infinite(k, "torque_limit", def->torque_limit);
    positive_or_infinite(k, "power_limit", def->power_limit);
    if (!(def->least_setting >= -1.0 && def->least_setting <= 1.0)) {
        itm_check_refuse(k, "least_setting", "the least setting must be in [-1, 1], got %g", def->least_setting);
    }
}

ItmStatus itm_circuit_check_motor(const ItmCircuitBuilder* b, const ItmMotorDef* def, ItmError* error)
{
    ItmCheck k = start("motor", def->name, error);
    valid_port(&k, b, "port_1", def->port_1);
    valid_port(&k, b, "port_2", def->port_2);
    joinable(&k, b, "port_2", def->port_1, def->port_2);
    if (def->port_drain != ITM_NONE) {
        valid_port(&k, b, "port_drain", def->port_drain);
    } else if (def->drain_leakage != 0.0) {
        itm_check_refuse(&k, "drain_leakage", "leakage to the drain needs a drain");
    }
    itm_check_positive(&k, "displacement", def->displacement);
    itm_check_not_negative(&k, "leakage", def->leakage);
    itm_check_not_negative(&k, "drain_leakage", def->drain_leakage);
    itm_check_not_negative(&k, "viscous", def->viscous);
    itm_check_not_negative(&k, "coulomb", def->coulomb);
    itm_check_positive(&k, "coulomb_speed", def->coulomb_speed);
    if (!(def->pressure_drag >= 0.0 && def->pressure_drag < 1.0)) {
        itm_check_refuse(&k, "pressure_drag", "the share of the torque that drags must be in [0, 1), got %g",
                         def->pressure_drag);
    }
    itm_check_finite(&k, "setting", def->setting);
    itm_check_not_negative(&k, "time_constant", def->time_constant);
    valid_pump(&k, b, def);
    valid_signal(&k, b, "signal", def->signal);
    valid_signal(&k, b, "motion", def->motion);
    return k.status;
}
