// Valves that pressures move, and metering curves.
#include "io/model/read_circuit.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------- valves that pressures move

// Keys of all types, then the pressure of the spring under the name that fits the type, then its own.
enum { TYPE = ITM_LAW_COUNT, PORTS, SPAN, TIME_CONSTANT, SIGNAL, PRESSURE, OWN, MOST = OWN + 3 };
#define VALVE_KEYS ITM_LAW_KEYS, "type", "ports", "span", "time_constant", "signal"

enum { CHECK, RELIEF, REDUCING, COUNTERBALANCE, PILOT_CHECK, COMPENSATOR, PRIORITY, SHUTTLE, PILOT, NVALVE };

static const char* const CHECK_KEYS[] = {VALVE_KEYS, "opening_pressure"};
static const char* const REDUCING_KEYS[] = {VALVE_KEYS, "set_pressure"};
static const char* const COUNTERBALANCE_KEYS[] = {VALVE_KEYS, "opening_pressure", "pilot", "ratio", "vented"};
static const char* const PILOT_CHECK_KEYS[] = {VALVE_KEYS, "opening_pressure", "pilot", "ratio"};
static const char* const MARGIN_KEYS[] = {VALVE_KEYS, "margin", "load"};
static const char* const SHUTTLE_KEYS[] = {VALVE_KEYS};
static const char* const PILOT_KEYS[] = {VALVE_KEYS, "opening_pressure", "pilots", "one_way", "normally_open"};

typedef struct ValveType {
    const char* what;
    const char* const* keys;
    int nkey;
    double ratio;  // default
} ValveType;

static const ValveType VALVES[NVALVE] = {
    {"a check-valve", CHECK_KEYS, ITM_COUNT(CHECK_KEYS), 0.0},
    {"a relief-valve", CHECK_KEYS, ITM_COUNT(CHECK_KEYS), 0.0},
    {"a reducing-valve", REDUCING_KEYS, ITM_COUNT(REDUCING_KEYS), 0.0},
    {"a counterbalance-valve", COUNTERBALANCE_KEYS, ITM_COUNT(COUNTERBALANCE_KEYS), 3.0},
    {"a pilot-check-valve", PILOT_CHECK_KEYS, ITM_COUNT(PILOT_CHECK_KEYS), 3.0},
    {"a compensator", MARGIN_KEYS, ITM_COUNT(MARGIN_KEYS), 0.0},
    {"a priority-valve", MARGIN_KEYS, ITM_COUNT(MARGIN_KEYS), 0.0},
    {"a shuttle-valve", SHUTTLE_KEYS, ITM_COUNT(SHUTTLE_KEYS), 0.0},
    {"a pilot-valve", PILOT_KEYS, ITM_COUNT(PILOT_KEYS), 0.0},
};

// A node that the valve senses; required.
static int get_sensed(ItmCircuitReader* c, const ItmItem* item, const ItmNode* node, const char* what, const char* key)
{
    itm_reader_require(c->r, item->key, node, what, key);
    return itm_read_circuit_get_node(c, node);
}

// {node: ratio, ...}
static void read_pilots(ItmCircuitReader* c, const ItmItem* item, const ItmNode* node, ItmPressureValveDef* def)
{
    ItmReader* r = c->r;
    itm_reader_require(r, item->key, node, "a pilot-valve", "pilots");
    if (!itm_reader_is_collection(r, node, "pilots")) {
        return;
    }
    for (const ItmItem* pilot = node->first; pilot != NULL && r->status == ITM_OK; pilot = pilot->next) {
        if (def->npilot == ITM_MAX_PILOTS) {
            itm_reader_fail(r, pilot->key, "a valve has at most %d pilots", ITM_MAX_PILOTS);
            return;
        }
        def->pilots[def->npilot].port = itm_read_circuit_get_node(c, pilot->key);
        def->pilots[def->npilot++].ratio = itm_reader_get_real(r, pilot->value, ITM_DIM_ONE, 1.0);
    }
}

// The definition of a type with its pilots.
static ItmPressureValveDef read_kind(ItmCircuitReader* c, const ItmItem* item, int type, const ItmNode* const* v)
{
    ItmReader* r = c->r;
    const char* what = VALVES[type].what;
    bool has_ratio = type == COUNTERBALANCE || type == PILOT_CHECK;
    double ratio = has_ratio ? itm_reader_get_real(r, v[OWN + 1], ITM_DIM_ONE, VALVES[type].ratio) : 0.0;
    ItmPressureValveDef def = itm_default_relief_valve_def();
    switch (type) {
    case CHECK:
        return itm_default_check_valve_def();
    case RELIEF:
        return def;
    case REDUCING:
        return itm_default_reducing_valve_def();
    case COUNTERBALANCE:
        def = itm_default_counterbalance_valve_def(get_sensed(c, item, v[OWN], what, "pilot"), ratio);
        def.npilot -= itm_reader_get_bool(r, v[OWN + 2], false) ? 1 : 0;  // vented: the outlet does not act
        return def;
    case PILOT_CHECK:
        return itm_default_pilot_check_valve_def(get_sensed(c, item, v[OWN], what, "pilot"), ratio);
    case COMPENSATOR:
        return itm_default_compensator_def(get_sensed(c, item, v[OWN], what, "load"));
    case PRIORITY:
        return itm_default_priority_valve_def(get_sensed(c, item, v[OWN], what, "load"));
    case SHUTTLE:
        return itm_default_shuttle_valve_def();
    default:
        break;
    }
    def.npilot = 0;
    read_pilots(c, item, v[OWN], &def);
    def.law.is_one_way = itm_reader_get_bool(r, v[OWN + 1], false);
    def.is_normally_open = itm_reader_get_bool(r, v[OWN + 2], false);
    return def;
}

// [a, b], or the three ports of a priority or shuttle valve
static void read_ports(ItmCircuitReader* c, const ItmItem* item, int type, const ItmNode* node,
                       ItmPressureValveDef* def, const ItmNode** v)
{
    static const char* const PRIORITY_PORTS[3] = {"inlet", "excess", "priority"};
    static const char* const SHUTTLE_PORTS[3] = {"out", "a", "b"};
    ItmReader* r = c->r;
    if (type != PRIORITY && type != SHUTTLE) {
        ItmPortNodes ports = itm_read_circuit_get_ports(c, item, node, VALVES[type].what, &def->port_a, &def->port_b);
        v[0] = ports.a;
        v[1] = ports.b;
        v[2] = NULL;
        return;
    }
    const char* const* keys = type == PRIORITY ? PRIORITY_PORTS : SHUTTLE_PORTS;
    int* const ports[3] = {&def->port_a, &def->port_b, &def->port_c};
    itm_reader_require(r, item->key, node, VALVES[type].what, "ports");
    itm_reader_get_map(r, node, "the ports of a valve", keys, 3, v);
    for (int i = 0; i < 3; i++) {
        itm_reader_require(r, node, v[i], VALVES[type].what, keys[i]);
        *ports[i] = itm_read_circuit_get_node(c, v[i]);
    }
}

void itm_read_circuit_pressure_valve(ItmCircuitReader* c, const ItmItem* item, int type)
{
    const ValveType* valve = &VALVES[type];
    ItmReader* r = c->r;
    const ItmNode *v[MOST] = {NULL}, *ports[3] = {NULL};
    itm_reader_get_map(r, item->value, valve->what, valve->keys, valve->nkey, v);
    ItmPressureValveDef def = read_kind(c, item, type, v);
    def.name = item->key->text;
    read_ports(c, item, type, v[PORTS], &def, ports);
    itm_read_circuit_get_law(r, item, v, NULL, valve->what, &def.law);
    itm_read_circuit_get_drive(c, item, (ItmDriveNodes){v[PRESSURE], v[SIGNAL], NULL}, ITM_DIM_PRESSURE,
                               &def.opening_pressure, &def.signal);
    const ItmRealField fields[] = {
        {SPAN, ITM_DIM_PRESSURE, &def.span},
        {TIME_CONSTANT, ITM_DIM_TIME, &def.time_constant},
    };
    itm_read_circuit_get_reals(r, v, fields, ITM_COUNT(fields));
    if (r->status == ITM_OK) {
        const ItmBlame blames[] = {{"port_a", ports[0]},
                                   {"port_b", ports[1]},
                                   {"port_c", ports[2]},
                                   {"opening_pressure", v[PRESSURE]},
                                   {"pilots", v[OWN]}};
        ItmStatus status = itm_circuit_builder_add_pressure_valve(c->builder, &def, NULL, r->error);
        itm_read_circuit_take(r, status, item, valve->keys, v, valve->nkey, blames, ITM_COUNT(blames));
    }
}

// ---------------------------------------------------------------------------- metering curves

// The numbers of a list, as many as fit; returns their count.
static int read_numbers(ItmReader* r, const ItmNode* node, double* numbers)
{
    int n = 0;
    if (r->status == ITM_OK && node->kind != ITM_NODE_LIST) {
        itm_reader_fail(r, node, "expected a list of numbers");
    }
    for (const ItmItem* item = node->first; item != NULL && r->status == ITM_OK; item = item->next) {
        numbers[n++] = itm_reader_get_real(r, item->value, ITM_DIM_ONE, 0.0);
    }
    return n;
}

// {spool: [...], opening: [...]} into a table; returns what it used.
static int read_curve(ItmReader* r, const ItmNode* node, ItmMetering* metering, double* table)
{
    enum { SPOOL, OPENING, NKEY };
    static const char* const KEYS[NKEY] = {"spool", "opening"};
    const ItmNode* v[NKEY] = {NULL};
    itm_reader_get_map(r, node, "a metering curve", KEYS, NKEY, v);
    itm_reader_require(r, node, v[SPOOL], "a metering curve", "spool");
    itm_reader_require(r, node, v[OPENING], "a metering curve", "opening");
    if (r->status != ITM_OK) {
        return 0;
    }
    int n = read_numbers(r, v[SPOOL], table), m = read_numbers(r, v[OPENING], table + n);
    if (r->status == ITM_OK && n != m) {
        itm_reader_fail(r, v[OPENING], "there are %d positions of the spool, but %d openings", n, m);
    }
    *metering = (ItmMetering){n, table, table + n};
    return n + m;
}

// Numbers below a node, no matter how deep.
static size_t count_numbers(const ItmNode* node)
{
    size_t n = 1;
    for (const ItmItem* item = node->first; item != NULL; item = item->next) {
        n += count_numbers(item->value);
    }
    return n;
}

void itm_read_circuit_metering(ItmReader* r, const ItmNode* node, ItmValveDef* def, double** table)
{
    // in the order of ItmValveEdge
    static const char* const EDGES[ITM_EDGE_COUNT] = {"pa", "bt", "pb", "at", "pt", "ab"};
    const ItmNode* v[ITM_EDGE_COUNT] = {NULL};
    if (r->status != ITM_OK || node == NULL) {
        return;
    }
    itm_reader_get_map(r, node, "metering", EDGES, ITM_EDGE_COUNT, v);
    *table = malloc(count_numbers(node) * sizeof **table);
    if (*table == NULL) {
        r->status = itm_error_set(r->error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
        return;
    }
    double* next = *table;
    for (int i = 0; i < ITM_EDGE_COUNT && r->status == ITM_OK; i++) {
        next += v[i] != NULL ? read_curve(r, v[i], &def->metering[i], next) : 0;
    }
}
