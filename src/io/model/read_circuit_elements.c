// elements of a hydraulic circuit, a function a type.
#include "io/model/read_circuit.h"

#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

// ---------------------------------------------------------------------------- ports

// [a, b]: flow counts from the first to the second.
ItmPortNodes itm_read_circuit_get_ports(ItmCircuitReader* c, const ItmItem* item, const ItmNode* node, const char* what,
                                        int* a, int* b)
{
    ItmReader* r = c->r;
    ItmPortNodes ports = {NULL, NULL};
    itm_reader_require(r, item->key, node, what, "ports");
    if (r->status != ITM_OK) {
        return ports;
    }
    if (node->kind != ITM_NODE_LIST || node->count != 2) {
        char found[64];
        itm_reader_fail(r, node, "expected two names of nodes [a, b], found %s",
                        itm_document_describe(node, found, sizeof found));
        return ports;
    }
    ports = (ItmPortNodes){node->first->value, node->last->value};
    *a = itm_read_circuit_get_node(c, ports.a);
    *b = itm_read_circuit_get_node(c, ports.b);
    return ports;
}

// ---------------------------------------------------------------------------- orifice law

void itm_read_circuit_get_law(ItmReader* r, const ItmItem* item, const ItmNode* const* v, const ItmNode* one_way,
                              const char* what, ItmOrificeLaw* law)
{
    double diameter = 0.0;
    const ItmRealField fields[] = {
        {ITM_LAW_COEFFICIENT, ITM_DIM_ORIFICE, &law->coefficient},
        {ITM_LAW_DISCHARGE, ITM_DIM_ONE, &law->discharge},
        {ITM_LAW_AREA, ITM_DIM_AREA, &law->area},
        {ITM_LAW_DIAMETER, ITM_DIM_LENGTH, &diameter},
        {ITM_LAW_THRESHOLD, ITM_DIM_PRESSURE, &law->threshold},
    };
    itm_read_circuit_get_reals(r, v, fields, ITM_COUNT(fields));
    law->is_one_way = itm_reader_get_bool(r, one_way, law->is_one_way);
    for (int i = ITM_LAW_DISCHARGE; i <= ITM_LAW_DIAMETER; i++) {
        if (v[ITM_LAW_COEFFICIENT] != NULL && v[i] != NULL) {
            itm_reader_fail(r, v[i], "give coefficient, or discharge with area or diameter, not both");
        }
    }
    if (v[ITM_LAW_COEFFICIENT] == NULL && v[ITM_LAW_AREA] == NULL && v[ITM_LAW_DIAMETER] == NULL) {
        itm_reader_fail(r, item->key, "%s needs 'area', 'diameter' or 'coefficient'", what);
    }
    if (v[ITM_LAW_AREA] != NULL && v[ITM_LAW_DIAMETER] != NULL) {
        itm_reader_fail(r, v[ITM_LAW_DIAMETER], "give area or diameter, not both");
    }
    if (v[ITM_LAW_COEFFICIENT] != NULL && !(law->coefficient > 0)) {
        itm_reader_fail(r, v[ITM_LAW_COEFFICIENT], "coefficient must be positive, got %g", law->coefficient);
    }
    if (v[ITM_LAW_DIAMETER] != NULL) {
        if (!(diameter > 0)) {
            itm_reader_fail(r, v[ITM_LAW_DIAMETER], "diameter must be positive, got %g m", diameter);
        }
        law->area = PI / 4.0 * diameter * diameter;
    }
}

// ---------------------------------------------------------------------------- sources

static void read_flow_source(ItmCircuitReader* c, const ItmItem* item)
{
    enum { TYPE, PORTS, PORT, FLOW, SIGNAL, NKEY };
    static const char* const KEYS[NKEY] = {"type", "ports", "port", "flow", "signal"};
    static const char* const WHAT = "a flow-source";
    ItmReader* r = c->r;
    const ItmNode* v[NKEY];
    itm_reader_get_map(r, item->value, WHAT, KEYS, NKEY, v);
    itm_reader_require(r, item->key, v[FLOW], WHAT, "flow");
    ItmFlowSourceDef def = itm_default_flow_source_def();
    def.name = item->key->text;
    ItmPortNodes ports = {NULL, v[PORT]};
    if (v[PORT] != NULL) {
        def.port_b = itm_read_circuit_get_node(c, v[PORT]);
    }
    if (v[PORT] != NULL && v[PORTS] != NULL) {
        itm_reader_fail(r, v[PORTS], "give either ports: [a, b], or port for a source outside the circuit, not both");
    }
    if (v[PORT] == NULL) {
        ports = itm_read_circuit_get_ports(c, item, v[PORTS], WHAT, &def.port_a, &def.port_b);
    }
    itm_read_circuit_get_drive(c, item, (ItmDriveNodes){v[FLOW], v[SIGNAL], NULL}, ITM_DIM_FLOW, &def.flow,
                               &def.signal);
    if (r->status == ITM_OK) {
        const ItmBlame blames[] = {{"port_a", ports.a}, {"port_b", ports.b}};
        ItmStatus status = itm_circuit_builder_add_flow_source(c->builder, &def, NULL, r->error);
        itm_read_circuit_take(r, status, item, KEYS, v, NKEY, blames, ITM_COUNT(blames));
    }
}

// ---------------------------------------------------------------------------- resistances

static void read_orifices(ItmCircuitReader* c, const ItmItem* item, bool is_variable)
{
    enum { TYPE = ITM_LAW_COUNT, PORTS, ONE_WAY, OPENING, SIGNAL, NKEY };
    static const char* const KEYS[NKEY] = {ITM_LAW_KEYS, "type", "ports", "one_way", "opening", "signal"};
    const char* what = is_variable ? "a variable-orifice" : "an orifice";
    ItmReader* r = c->r;
    const ItmNode* v[NKEY] = {NULL};
    int nkey = is_variable ? NKEY : OPENING;
    itm_reader_get_map(r, item->value, what, KEYS, nkey, v);
    ItmOrificeDef def = itm_default_orifice_def();
    def.name = item->key->text;
    def.is_variable = is_variable;
    ItmPortNodes ports = itm_read_circuit_get_ports(c, item, v[PORTS], what, &def.port_a, &def.port_b);
    itm_read_circuit_get_law(r, item, v, v[ONE_WAY], what, &def.law);
    itm_read_circuit_get_drive(c, item, (ItmDriveNodes){v[OPENING], v[SIGNAL], NULL}, ITM_DIM_ONE, &def.opening,
                               &def.signal);
    if (r->status == ITM_OK) {
        const ItmBlame blames[] = {{"port_a", ports.a}, {"port_b", ports.b}};
        ItmStatus status = itm_circuit_builder_add_orifice(c->builder, &def, NULL, r->error);
        itm_read_circuit_take(r, status, item, KEYS, v, nkey, blames, ITM_COUNT(blames));
    }
}

static void read_orifice(ItmCircuitReader* c, const ItmItem* item)
{
    read_orifices(c, item, false);
}

static void read_variable_orifice(ItmCircuitReader* c, const ItmItem* item)
{
    read_orifices(c, item, true);
}

static void read_laminar(ItmCircuitReader* c, const ItmItem* item)
{
    enum { TYPE, PORTS, CONDUCTANCE, NKEY };
    static const char* const KEYS[NKEY] = {"type", "ports", "conductance"};
    static const char* const WHAT = "a laminar resistance";
    ItmReader* r = c->r;
    const ItmNode* v[NKEY];
    itm_reader_get_map(r, item->value, WHAT, KEYS, NKEY, v);
    itm_reader_require(r, item->key, v[CONDUCTANCE], WHAT, "conductance");
    ItmLaminarDef def = itm_default_laminar_def();
    def.name = item->key->text;
    ItmPortNodes ports = itm_read_circuit_get_ports(c, item, v[PORTS], WHAT, &def.port_a, &def.port_b);
    def.conductance = itm_reader_get_real(r, v[CONDUCTANCE], ITM_DIM_CONDUCTANCE, 0.0);
    if (r->status == ITM_OK) {
        const ItmBlame blames[] = {{"port_a", ports.a}, {"port_b", ports.b}};
        ItmStatus status = itm_circuit_builder_add_laminar(c->builder, &def, NULL, r->error);
        itm_read_circuit_take(r, status, item, KEYS, v, NKEY, blames, ITM_COUNT(blames));
    }
}

// ---------------------------------------------------------------------------- directional valves

// {time_constant} or {natural_frequency, damping_ratio}; absent: the spool follows its command at once.
static void read_spool(ItmReader* r, const ItmNode* node, ItmValveDef* def, const ItmNode** v)
{
    enum { TIME_CONSTANT, NATURAL_FREQUENCY, DAMPING_RATIO, NKEY };
    static const char* const KEYS[NKEY] = {"time_constant", "natural_frequency", "damping_ratio"};
    memset(v, 0, NKEY * sizeof *v);
    if (r->status != ITM_OK || node == NULL) {
        return;
    }
    itm_reader_get_map(r, node, "a spool", KEYS, NKEY, v);
    const ItmRealField fields[] = {
        {TIME_CONSTANT, ITM_DIM_TIME, &def->time_constant},
        {NATURAL_FREQUENCY, ITM_DIM_FREQUENCY, &def->frequency},
        {DAMPING_RATIO, ITM_DIM_ONE, &def->damping_ratio},
    };
    itm_read_circuit_get_reals(r, v, fields, ITM_COUNT(fields));
    const ItmNode* second = v[NATURAL_FREQUENCY] != NULL ? v[NATURAL_FREQUENCY] : v[DAMPING_RATIO];
    if (v[TIME_CONSTANT] != NULL && second != NULL) {
        itm_reader_fail(r, second,
                        "give time_constant (first order), or natural_frequency and "
                        "damping_ratio (second order), not both");
    } else if (v[TIME_CONSTANT] == NULL && v[NATURAL_FREQUENCY] == NULL) {
        itm_reader_fail(r, node, "a spool needs 'time_constant' or 'natural_frequency'");
    }
    def->spool = v[TIME_CONSTANT] != NULL ? ITM_SPOOL_FIRST : ITM_SPOOL_SECOND;
    def->frequency *= 2.0 * PI;
}

// {p, t, a, b}, all of them, and the load-sensing line ls
static void read_valve_ports(ItmCircuitReader* c, const ItmItem* item, const ItmNode* node, const char* what,
                             ItmValveDef* def, const ItmNode** v)
{
    static const char* const KEYS[5] = {"p", "t", "a", "b", "ls"};
    int* const ports[5] = {&def->port_p, &def->port_t, &def->port_a, &def->port_b, &def->port_ls};
    ItmReader* r = c->r;
    bool may_sense = def->kind == ITM_VALVE_4_3;
    v[4] = NULL;
    itm_reader_require(r, item->key, node, what, "ports");
    itm_reader_get_map(r, node, "the ports of a valve", KEYS, may_sense ? 5 : 4, v);
    for (int i = 0; i < 4; i++) {
        itm_reader_require(r, node, v[i], "a valve", KEYS[i]);
        *ports[i] = itm_read_circuit_get_node(c, v[i]);
    }
    if (v[4] != NULL) {
        *ports[4] = itm_read_circuit_get_node(c, v[4]);
    }
}

static void read_valve(ItmCircuitReader* c, const ItmItem* item, ItmValveKind kind, const char* what)
{
    enum {
        TYPE = ITM_LAW_COUNT,
        PORTS,
        ONE_WAY,
        COMMAND,
        SIGNAL,
        SPOOL,
        LIMIT,
        DEAD_BAND,
        METERING,
        REGENERATIVE,
        LS_COEFFICIENT,
        NKEY
    };
    static const char* const KEYS[NKEY] = {ITM_LAW_KEYS, "type",     "ports",        "one_way",
                                           "command",    "signal",   "spool",        "limit",
                                           "dead_band",  "metering", "regenerative", "ls_coefficient"};
    ItmReader* r = c->r;
    const ItmNode *v[NKEY] = {NULL}, *ports[5], *spool[3];
    double* table = NULL;
    int nkey = kind == ITM_VALVE_4_3 ? NKEY : LIMIT;
    itm_reader_get_map(r, item->value, what, KEYS, nkey, v);
    ItmValveDef def = itm_default_valve_def(kind);
    def.name = item->key->text;
    read_valve_ports(c, item, v[PORTS], what, &def, ports);
    itm_read_circuit_get_law(r, item, v, v[ONE_WAY], what, &def.law);
    itm_read_circuit_get_drive(c, item, (ItmDriveNodes){v[COMMAND], v[SIGNAL], NULL}, ITM_DIM_ONE, &def.command,
                               &def.signal);
    read_spool(r, v[SPOOL], &def, spool);
    const ItmRealField fields[] = {
        {LIMIT, ITM_DIM_ONE, &def.limit},
        {DEAD_BAND, ITM_DIM_ONE, &def.dead_band},
        {LS_COEFFICIENT, ITM_DIM_ORIFICE, &def.ls_coefficient},
    };
    itm_read_circuit_get_reals(r, v, fields, ITM_COUNT(fields));
    def.is_regenerative = itm_reader_get_bool(r, v[REGENERATIVE], false);
    itm_read_circuit_metering(r, v[METERING], &def, &table);
    if (r->status == ITM_OK) {
        const ItmBlame blames[] = {{"port_p", ports[0]},    {"port_t", ports[1]},       {"port_a", ports[2]},
                                   {"port_b", ports[3]},    {"port_ls", ports[4]},      {"time_constant", spool[0]},
                                   {"frequency", spool[1]}, {"damping_ratio", spool[2]}};
        ItmStatus status = itm_circuit_builder_add_valve(c->builder, &def, NULL, r->error);
        itm_read_circuit_take(r, status, item, KEYS, v, nkey, blames, ITM_COUNT(blames));
    }
    free(table);
}

static void read_valve_4_3(ItmCircuitReader* c, const ItmItem* item)
{
    read_valve(c, item, ITM_VALVE_4_3, "a valve-4-3");
}

static void read_valve_symmetric(ItmCircuitReader* c, const ItmItem* item)
{
    read_valve(c, item, ITM_VALVE_SYMMETRIC, "a valve-symmetric");
}

// ---------------------------------------------------------------------------- accumulators, cylinders

static void read_accumulator(ItmCircuitReader* c, const ItmItem* item)
{
    enum { TYPE, PORT, GAS_VOLUME, PRECHARGE, EXPONENT, NKEY };
    static const char* const KEYS[NKEY] = {"type", "port", "gas_volume", "precharge", "exponent"};
    static const char* const WHAT = "an accumulator";
    ItmReader* r = c->r;
    const ItmNode* v[NKEY];
    itm_reader_get_map(r, item->value, WHAT, KEYS, NKEY, v);
    for (int i = PORT; i <= PRECHARGE; i++) {
        itm_reader_require(r, item->key, v[i], WHAT, KEYS[i]);
    }
    ItmAccumulatorDef def = itm_default_accumulator_def();
    def.name = item->key->text;
    def.port = itm_read_circuit_get_node(c, v[PORT]);
    const ItmRealField fields[] = {
        {GAS_VOLUME, ITM_DIM_VOLUME, &def.gas_volume},
        {PRECHARGE, ITM_DIM_PRESSURE, &def.precharge},
        {EXPONENT, ITM_DIM_ONE, &def.exponent},
    };
    itm_read_circuit_get_reals(r, v, fields, ITM_COUNT(fields));
    if (r->status == ITM_OK) {
        ItmStatus status = itm_circuit_builder_add_accumulator(c->builder, &def, NULL, r->error);
        itm_read_circuit_take(r, status, item, KEYS, v, NKEY, NULL, 0);
    }
}

enum {
    C_TYPE,
    C_PORTS,
    C_AREA_1,
    C_AREA_2,
    C_BORE,
    C_ROD,
    C_STROKE,
    C_START_LENGTH,
    C_START_EXTENSION,
    C_DEAD_VOLUME_1,
    C_DEAD_VOLUME_2,
    C_WALL_MODULUS,
    C_LEAKAGE,
    C_VISCOUS,
    C_COULOMB,
    C_COULOMB_SPEED,
    C_DAMPER_LENGTH,
    C_DAMPER_STIFFNESS,
    C_DAMPER_DAMPING,
    C_MOTION,
    C_NKEY
};
static const char* const CYLINDER_KEYS[C_NKEY] = {
    "type",         "ports",           "area_1",        "area_2",           "bore",           "rod",     "stroke",
    "start_length", "start_extension", "dead_volume_1", "dead_volume_2",    "wall_modulus",   "leakage", "viscous",
    "coulomb",      "coulomb_speed",   "damper_length", "damper_stiffness", "damper_damping", "motion"};

static void read_cylinder_reals(ItmReader* r, const ItmNode* const* v, ItmCylinderDef* def)
{
    const ItmRealField fields[] = {
        {C_AREA_1, ITM_DIM_AREA, &def->area_1},
        {C_AREA_2, ITM_DIM_AREA, &def->area_2},
        {C_BORE, ITM_DIM_LENGTH, &def->bore},
        {C_ROD, ITM_DIM_LENGTH, &def->rod},
        {C_STROKE, ITM_DIM_LENGTH, &def->stroke},
        {C_START_LENGTH, ITM_DIM_LENGTH, &def->start_length},
        {C_START_EXTENSION, ITM_DIM_LENGTH, &def->start_extension},
        {C_DEAD_VOLUME_1, ITM_DIM_VOLUME, &def->dead_volume_1},
        {C_DEAD_VOLUME_2, ITM_DIM_VOLUME, &def->dead_volume_2},
        {C_WALL_MODULUS, ITM_DIM_PRESSURE, &def->wall_modulus},
        {C_LEAKAGE, ITM_DIM_CONDUCTANCE, &def->leakage},
        {C_VISCOUS, ITM_DIM_DAMPING, &def->viscous},
        {C_COULOMB, ITM_DIM_FORCE, &def->coulomb},
        {C_COULOMB_SPEED, ITM_DIM_VELOCITY, &def->coulomb_speed},
        {C_DAMPER_LENGTH, ITM_DIM_LENGTH, &def->damper_length},
        {C_DAMPER_STIFFNESS, ITM_DIM_STIFFNESS, &def->damper_stiffness},
        {C_DAMPER_DAMPING, ITM_DIM_DAMPING, &def->damper_damping},
    };
    itm_read_circuit_get_reals(r, v, fields, ITM_COUNT(fields));
}

// Areas or diameters, not a mixture.
static void check_areas(ItmReader* r, const ItmItem* item, const ItmNode* const* v)
{
    const ItmNode* area = v[C_AREA_1] != NULL ? v[C_AREA_1] : v[C_AREA_2];
    const ItmNode* diameter = v[C_BORE] != NULL ? v[C_BORE] : v[C_ROD];
    if (area != NULL && diameter != NULL) {
        itm_reader_fail(r, diameter, "give bore and rod, or area_1 and area_2, not both");
    } else if (area != NULL) {
        itm_reader_require(r, item->key, v[C_AREA_1], "a cylinder without bore", "area_1");
        itm_reader_require(r, item->key, v[C_AREA_2], "a cylinder without bore", "area_2");
    } else {
        itm_reader_require(r, item->key, v[C_BORE], "a cylinder", "bore");
    }
}

// The largest cylinders that are built have a bore of about 1.5 m; beyond that, a number of millimetres is more likely.
static void note_bore(ItmReader* r, const ItmNode* bore, const ItmCylinderDef* def)
{
    if (r->status == ITM_OK && def->bore > 2.0) {
        char note[240];
        snprintf(note, sizeof note,
                 "%s:%d:%d: cylinder '%.40s' has a bore of %.4g m; write '%.4g mm' if millimetres are meant",
                 bore->source, bore->line, bore->column, def->name, def->bore, def->bore);
        itm_reader_note(r, note);
    }
}

static void read_cylinder(ItmCircuitReader* c, const ItmItem* item)
{
    ItmReader* r = c->r;
    const ItmNode* v[C_NKEY];
    itm_reader_get_map(r, item->value, "a cylinder", CYLINDER_KEYS, C_NKEY, v);
    itm_reader_require(r, item->key, v[C_STROKE], "a cylinder", "stroke");
    check_areas(r, item, v);
    ItmCylinderDef def = itm_default_cylinder_def();
    def.name = item->key->text;
    ItmPortNodes ports = itm_read_circuit_get_ports(c, item, v[C_PORTS], "a cylinder", &def.port_1, &def.port_2);
    read_cylinder_reals(r, v, &def);
    note_bore(r, v[C_BORE], &def);
    def.motion = itm_reader_get_signal(r, v[C_MOTION], def.name, ITM_DIM_LENGTH);
    if (r->status == ITM_OK) {
        const ItmBlame blames[] = {{"port_1", ports.a}, {"port_2", ports.b}};
        ItmStatus status = itm_circuit_builder_add_cylinder(c->builder, &def, NULL, r->error);
        itm_read_circuit_take(r, status, item, CYLINDER_KEYS, v, C_NKEY, blames, ITM_COUNT(blames));
    }
}

// ---------------------------------------------------------------------------- motors

// Losses of a machine of displacement D [m^3/rad] from efficiencies at a rated pressure drop and speed: leakage (1 - eta_v) D w / dp
// and a share 1 - eta_m of the pressure torque that drags.
static void read_efficiencies(ItmReader* r, const ItmNode* volumetric, const ItmNode* mechanical,
                              const ItmNode* pressure, const ItmNode* speed, ItmMotorDef* def)
{
    double eta_v = itm_reader_get_real(r, volumetric, ITM_DIM_ONE, 1.0);
    double eta_m = itm_reader_get_real(r, mechanical, ITM_DIM_ONE, 1.0);
    double dp = itm_reader_get_real(r, pressure, ITM_DIM_PRESSURE, 0.0);
    double w = itm_reader_get_real(r, speed, ITM_DIM_FREQUENCY, 0.0);
    if (r->status != ITM_OK) {
        return;
    }
    if (!(eta_v > 0.0 && eta_v <= 1.0) || !(eta_m > 0.0 && eta_m <= 1.0)) {
        itm_reader_fail(r, !(eta_v > 0.0 && eta_v <= 1.0) ? volumetric : mechanical, "an efficiency is in (0, 1]");
    } else if (volumetric != NULL && !(dp > 0.0 && w > 0.0)) {
        itm_reader_fail(r, volumetric, "volumetric_efficiency needs a positive rated_pressure and rated_speed");
    } else {
        def->leakage += volumetric != NULL ? (1.0 - eta_v) * def->displacement * w / dp : 0.0;
        def->pressure_drag += 1.0 - eta_m;
    }
}

enum {
    M_TYPE,
    M_PORTS,
    M_DRAIN,
    M_DISPLACEMENT,
    M_LEAKAGE,
    M_DRAIN_LEAKAGE,
    M_VISCOUS,
    M_COULOMB,
    M_PRESSURE_DRAG,
    M_COULOMB_SPEED,
    M_VOLUMETRIC,
    M_MECHANICAL,
    M_RATED_PRESSURE,
    M_RATED_SPEED,
    M_SETTING,
    M_SIGNAL,
    M_TIME_CONSTANT,
    M_MOTION,
    M_NMOTOR,
    // of pumps
    M_SPEED = M_NMOTOR,
    M_LOAD_SENSING,
    M_PRESSURE_LIMIT,
    M_PRESSURE_SPAN,
    M_TORQUE_LIMIT,
    M_POWER_LIMIT,
    M_LEAST_SETTING,
    M_NKEY
};
static const char* const MOTOR_KEYS[M_NKEY] = {"type",
                                               "ports",
                                               "drain",
                                               "displacement",
                                               "leakage",
                                               "drain_leakage",
                                               "viscous",
                                               "coulomb",
                                               "pressure_drag",
                                               "coulomb_speed",
                                               "volumetric_efficiency",
                                               "mechanical_efficiency",
                                               "rated_pressure",
                                               "rated_speed",
                                               "setting",
                                               "signal",
                                               "time_constant",
                                               "motion",
                                               "speed",
                                               "load_sensing",
                                               "pressure_limit",
                                               "pressure_span",
                                               "torque_limit",
                                               "power_limit",
                                               "least_setting"};

static void read_motor_reals(ItmReader* r, const ItmNode* const* v, ItmMotorDef* def)
{
    const ItmRealField fields[] = {
        {M_DISPLACEMENT, ITM_DIM_VOLUME, &def->displacement},
        {M_LEAKAGE, ITM_DIM_CONDUCTANCE, &def->leakage},
        {M_DRAIN_LEAKAGE, ITM_DIM_CONDUCTANCE, &def->drain_leakage},
        {M_VISCOUS, ITM_DIM_TORQUE_DAMPING, &def->viscous},
        {M_COULOMB, ITM_DIM_TORQUE, &def->coulomb},
        {M_PRESSURE_DRAG, ITM_DIM_ONE, &def->pressure_drag},
        {M_COULOMB_SPEED, ITM_DIM_FREQUENCY, &def->coulomb_speed},
        {M_TIME_CONSTANT, ITM_DIM_TIME, &def->time_constant},
        {M_PRESSURE_LIMIT, ITM_DIM_PRESSURE, &def->pressure_limit},
        {M_PRESSURE_SPAN, ITM_DIM_PRESSURE, &def->pressure_span},
        {M_TORQUE_LIMIT, ITM_DIM_TORQUE, &def->torque_limit},
        {M_POWER_LIMIT, ITM_DIM_POWER, &def->power_limit},
        {M_LEAST_SETTING, ITM_DIM_ONE, &def->least_setting},
    };
    itm_read_circuit_get_reals(r, v, fields, ITM_COUNT(fields));
}

// {port, margin, span}
static const ItmNode* read_load_sensing(ItmCircuitReader* c, const ItmNode* node, ItmMotorDef* def)
{
    enum { PORT, MARGIN, SPAN, NKEY };
    static const char* const KEYS[NKEY] = {"port", "margin", "span"};
    ItmReader* r = c->r;
    const ItmNode* v[NKEY] = {NULL};
    if (r->status != ITM_OK || node == NULL) {
        return NULL;
    }
    itm_reader_get_map(r, node, "load_sensing", KEYS, NKEY, v);
    itm_reader_require(r, node, v[PORT], "load_sensing", "port");
    def->load_port = itm_read_circuit_get_node(c, v[PORT]);
    def->load_margin = itm_reader_get_real(r, v[MARGIN], ITM_DIM_PRESSURE, def->load_margin);
    def->load_span = itm_reader_get_real(r, v[SPAN], ITM_DIM_PRESSURE, def->load_span);
    return v[PORT];
}

// A motor, or a pump, whose ports are [suction, delivery]; a bond turns its shaft where no speed is given.
static void read_machine(ItmCircuitReader* c, const ItmItem* item, const char* what, bool is_pump)
{
    ItmReader* r = c->r;
    const ItmNode* v[M_NKEY] = {NULL};
    int nkey = is_pump ? M_NKEY : M_NMOTOR;
    itm_reader_get_map(r, item->value, what, MOTOR_KEYS, nkey, v);
    itm_reader_require(r, item->key, v[M_DISPLACEMENT], what, "displacement");
    ItmMotorDef def = is_pump ? itm_default_pump_def() : itm_default_motor_def();
    def.name = item->key->text;
    ItmPortNodes ports = itm_read_circuit_get_ports(c, item, v[M_PORTS], what, &def.port_1, &def.port_2);
    def.port_drain = v[M_DRAIN] != NULL ? itm_read_circuit_get_node(c, v[M_DRAIN]) : ITM_NONE;
    read_motor_reals(r, v, &def);
    read_efficiencies(r, v[M_VOLUMETRIC], v[M_MECHANICAL], v[M_RATED_PRESSURE], v[M_RATED_SPEED], &def);
    def.is_driven = v[M_SPEED] != NULL;
    if (def.is_driven) {
        itm_read_circuit_get_drive(c, item, (ItmDriveNodes){v[M_SPEED], NULL, "speed"}, ITM_DIM_FREQUENCY, &def.speed,
                                   &def.speed_signal);
    }
    const ItmNode* load = read_load_sensing(c, v[M_LOAD_SENSING], &def);
    def.is_variable = is_pump || v[M_SETTING] != NULL || v[M_SIGNAL] != NULL;
    if (def.is_variable) {
        itm_read_circuit_get_drive(c, item, (ItmDriveNodes){v[M_SETTING], v[M_SIGNAL], NULL}, ITM_DIM_ONE, &def.setting,
                                   &def.signal);
    }
    def.motion = itm_reader_get_signal(r, v[M_MOTION], def.name, ITM_DIM_ONE);
    if (r->status == ITM_OK) {
        const ItmBlame blames[] = {{"port_1", ports.a},
                                   {"port_2", ports.b},
                                   {"port_drain", v[M_DRAIN]},
                                   {"load_port", load},
                                   {"load_margin", v[M_LOAD_SENSING]},
                                   {"load_span", v[M_LOAD_SENSING]}};
        ItmStatus status = itm_circuit_builder_add_motor(c->builder, &def, NULL, r->error);
        itm_read_circuit_take(r, status, item, MOTOR_KEYS, v, nkey, blames, ITM_COUNT(blames));
    }
}

static void read_motor(ItmCircuitReader* c, const ItmItem* item)
{
    read_machine(c, item, "a motor", false);
}

static void read_pump(ItmCircuitReader* c, const ItmItem* item)
{
    read_machine(c, item, "a pump", true);
}

// ---------------------------------------------------------------------------- filters and lines

static void read_filter(ItmCircuitReader* c, const ItmItem* item)
{
    enum { TYPE, PORTS, CONDUCTANCE, CLOGGING, SIGNAL, BYPASS_PRESSURE, BYPASS_SPAN, BYPASS_COEFFICIENT, NKEY };
    static const char* const KEYS[NKEY] = {"type",   "ports",           "conductance", "clogging",
                                           "signal", "bypass_pressure", "bypass_span", "bypass_coefficient"};
    static const char* const WHAT = "a filter";
    ItmReader* r = c->r;
    const ItmNode* v[NKEY];
    itm_reader_get_map(r, item->value, WHAT, KEYS, NKEY, v);
    itm_reader_require(r, item->key, v[CONDUCTANCE], WHAT, "conductance");
    ItmFilterDef def = itm_default_filter_def();
    def.name = item->key->text;
    ItmPortNodes ports = itm_read_circuit_get_ports(c, item, v[PORTS], WHAT, &def.port_a, &def.port_b);
    itm_read_circuit_get_drive(c, item, (ItmDriveNodes){v[CLOGGING], v[SIGNAL], NULL}, ITM_DIM_ONE, &def.clogging,
                               &def.signal);
    const ItmRealField fields[] = {
        {CONDUCTANCE, ITM_DIM_CONDUCTANCE, &def.conductance},
        {BYPASS_PRESSURE, ITM_DIM_PRESSURE, &def.bypass_pressure},
        {BYPASS_SPAN, ITM_DIM_PRESSURE, &def.bypass_span},
        {BYPASS_COEFFICIENT, ITM_DIM_ORIFICE, &def.bypass_coefficient},
    };
    itm_read_circuit_get_reals(r, v, fields, ITM_COUNT(fields));
    if (r->status == ITM_OK) {
        const ItmBlame blames[] = {{"port_a", ports.a}, {"port_b", ports.b}};
        ItmStatus status = itm_circuit_builder_add_filter(c->builder, &def, NULL, r->error);
        itm_read_circuit_take(r, status, item, KEYS, v, NKEY, blames, ITM_COUNT(blames));
    }
}

static void read_line(ItmCircuitReader* c, const ItmItem* item)
{
    enum { TYPE, PORTS, LENGTH, DIAMETER, WALL_MODULUS, SEGMENTS, NKEY };
    static const char* const KEYS[NKEY] = {"type", "ports", "length", "diameter", "wall_modulus", "segments"};
    static const char* const WHAT = "a line";
    ItmReader* r = c->r;
    const ItmNode* v[NKEY];
    itm_reader_get_map(r, item->value, WHAT, KEYS, NKEY, v);
    itm_reader_require(r, item->key, v[LENGTH], WHAT, "length");
    itm_reader_require(r, item->key, v[DIAMETER], WHAT, "diameter");
    ItmLineDef def = itm_default_line_def();
    def.name = item->key->text;
    ItmPortNodes ports = itm_read_circuit_get_ports(c, item, v[PORTS], WHAT, &def.port_a, &def.port_b);
    const ItmRealField fields[] = {
        {LENGTH, ITM_DIM_LENGTH, &def.length},
        {DIAMETER, ITM_DIM_LENGTH, &def.diameter},
        {WALL_MODULUS, ITM_DIM_PRESSURE, &def.wall_modulus},
    };
    itm_read_circuit_get_reals(r, v, fields, ITM_COUNT(fields));
    def.segments = itm_reader_get_int(r, v[SEGMENTS], 0, 100, 0);
    if (r->status == ITM_OK) {
        const ItmBlame blames[] = {{"port_a", ports.a}, {"port_b", ports.b}};
        ItmStatus status = itm_circuit_builder_add_line(c->builder, &def, NULL, r->error);
        itm_read_circuit_take(r, status, item, KEYS, v, NKEY, blames, ITM_COUNT(blames));
    }
}

// ---------------------------------------------------------------------------- all

void itm_read_circuit_elements(ItmCircuitReader* c, const ItmNode* node)
{
    // those from check-valve on are valves that pressures move
    static const char* const TYPES[] = {"flow-source",
                                        "orifice",
                                        "variable-orifice",
                                        "laminar",
                                        "valve-4-3",
                                        "valve-symmetric",
                                        "accumulator",
                                        "cylinder",
                                        "motor",
                                        "pump",
                                        "filter",
                                        "line",
                                        "check-valve",
                                        "relief-valve",
                                        "reducing-valve",
                                        "counterbalance-valve",
                                        "pilot-check-valve",
                                        "compensator",
                                        "priority-valve",
                                        "shuttle-valve",
                                        "pilot-valve"};
    static void (*const READERS[])(ItmCircuitReader*, const ItmItem*) = {
        read_flow_source,     read_orifice,     read_variable_orifice, read_laminar, read_valve_4_3,
        read_valve_symmetric, read_accumulator, read_cylinder,         read_motor,   read_pump,
        read_filter,          read_line};
    const int nreader = (int)ITM_COUNT(READERS);
    if (!itm_reader_is_collection(c->r, node, "elements")) {
        return;
    }
    for (const ItmItem* item = node->first; item != NULL && c->r->status == ITM_OK; item = item->next) {
        int type = itm_reader_get_type(c->r, item, "an element", "a type of element", TYPES, ITM_COUNT(TYPES));
        if (type >= nreader) {
            itm_read_circuit_pressure_valve(c, item, type - nreader);
        } else if (type != ITM_NONE) {
            READERS[type](c, item);
        }
    }
}
