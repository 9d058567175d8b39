// subsystems of type hydraulics: fluids, nodes, integrator, start; the elements are in read_circuit_elements.c.
#include "io/model/read_circuit.h"

#include "base/check.h"
#include "base/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------- values

void itm_read_circuit_get_reals(ItmReader* r, const ItmNode* const* v, const ItmRealField* fields, int nfield)
{
    for (int i = 0; i < nfield; i++) {
        const ItmRealField* field = &fields[i];
        *field->value = itm_reader_get_real(r, v[field->key], field->dimension, *field->value);
    }
}

void itm_read_circuit_take(ItmReader* r, ItmStatus status, const ItmItem* item, const char* const* keys,
                           const ItmNode* const* v, int nkey, const ItmBlame* blames, int nblame)
{
    if (status == ITM_OK || r->status != ITM_OK) {
        return;
    }
    const ItmNode* whole = item->key;
    for (int i = 0; i < nkey; i++) {
        if (r->error != NULL && strcmp(keys[i], r->error->field) == 0 && v[i] != NULL) {
            whole = v[i];
        }
    }
    itm_reader_take(r, status, whole, blames, nblame);
}

int itm_read_circuit_get_node(ItmCircuitReader* c, const ItmNode* node)
{
    const char* name = itm_reader_get_text(c->r, node, "the name of a node");
    if (name == NULL) {
        return ITM_NONE;
    }
    int id = itm_circuit_builder_find_node(c->builder, name);
    if (id == ITM_NONE) {
        ItmNearest nearest = itm_nearest_start(node->text, node->length);
        for (int i = 0; i < c->builder->nodes.count; i++) {
            itm_nearest_offer(&nearest, c->builder->nodes.items[i].name);
        }
        itm_reader_fail_unknown(c->r, node, "node", &nearest);
    }
    return id;
}

// ---------------------------------------------------------------------------- what drives an element

// What a drive was given so far.
typedef struct Drive {
    const ItmNode *base, *signal, *connection;
} Drive;

static void claim(ItmReader* r, const ItmNode** slot, const ItmNode* node, const char* what)
{
    if (*slot != NULL) {
        itm_reader_fail(r, node,
                        "there is %s already; a constant, a signal and an output of another "
                        "subsystem are added, one of each",
                        what);
    }
    *slot = node;
}

static void read_drive_node(ItmCircuitReader* c, const char* input, const ItmNode* node, Drive* drive,
                            ItmDimension dimension, double* base, int* signal)
{
    ItmReader* r = c->r;
    if (r->status != ITM_OK || node == NULL) {
        return;
    }
    bool is_signal = node->kind == ITM_NODE_MAP || itm_reader_find_signal(r, node) != ITM_NONE ||
                     itm_reader_is_unknown_name(r, node);
    if (itm_reader_is_connection(node)) {
        claim(r, &drive->connection, node, "an output of another subsystem");
        itm_reader_add_connection(r, node, c->name, input);
    } else if (is_signal) {
        claim(r, &drive->signal, node, "a signal");
        *signal = itm_reader_get_signal(r, node, input, dimension);
    } else {
        claim(r, &drive->base, node, "a constant");
        *base = itm_reader_get_real(r, node, dimension, 0.0);
    }
}

void itm_read_circuit_get_drive(ItmCircuitReader* c, const ItmItem* item, ItmDriveNodes nodes, ItmDimension dimension,
                                double* base, int* signal)
{
    Drive drive = {0};
    double absent = *base;
    char input[2 * ITM_LONGEST_NAME];
    snprintf(input, sizeof input, "%.*s%s%s", ITM_LONGEST_NAME, item->key->text, nodes.input != NULL ? "." : "",
             nodes.input != NULL ? nodes.input : "");
    read_drive_node(c, input, nodes.value, &drive, dimension, base, signal);
    read_drive_node(c, input, nodes.more, &drive, dimension, base, signal);
    // the default stands for a drive that is not given at all, not for a part of one
    *base = drive.base == NULL ? (nodes.value != NULL ? 0.0 : absent) : *base;
}

// ---------------------------------------------------------------------------- fluids

static void read_fluid(ItmCircuitReader* c, const ItmItem* item)
{
    enum {
        DENSITY,
        BULK_MODULUS,
        COMPRESS_A,
        COMPRESS_B,
        VAPOUR_PRESSURE,
        AIR,
        AIR_EXPONENT,
        TEMPERATURE,
        EXPANSION,
        MODULUS_DECAY,
        VISCOSITY_40,
        VISCOSITY_100,
        NKEY
    };
    static const char* const KEYS[NKEY] = {"density",         "bulk_modulus",  "compress_a",   "compress_b",
                                           "vapour_pressure", "air",           "air_exponent", "temperature",
                                           "expansion",       "modulus_decay", "viscosity_40", "viscosity_100"};
    ItmReader* r = c->r;
    const ItmNode* v[NKEY];
    itm_reader_get_map(r, item->value, "a fluid", KEYS, NKEY, v);
    ItmFluidDef def = itm_default_fluid_def();
    def.name = item->key->text;
    const ItmRealField fields[] = {
        {DENSITY, ITM_DIM_DENSITY, &def.density},
        {BULK_MODULUS, ITM_DIM_PRESSURE, &def.bulk_modulus},
        {COMPRESS_A, ITM_DIM_COMPRESSION, &def.compress_a},
        {COMPRESS_B, ITM_DIM_COMPRESSION_2, &def.compress_b},
        {VAPOUR_PRESSURE, ITM_DIM_PRESSURE, &def.vapour_pressure},
        {AIR, ITM_DIM_ONE, &def.air},
        {AIR_EXPONENT, ITM_DIM_ONE, &def.air_exponent},
        {TEMPERATURE, ITM_DIM_TEMPERATURE, &def.temperature},
        {EXPANSION, ITM_DIM_EXPANSION, &def.expansion},
        {MODULUS_DECAY, ITM_DIM_EXPANSION, &def.modulus_decay},
        {VISCOSITY_40, ITM_DIM_VISCOSITY, &def.viscosity_40},
        {VISCOSITY_100, ITM_DIM_VISCOSITY, &def.viscosity_100},
    };
    itm_read_circuit_get_reals(r, v, fields, ITM_COUNT(fields));
    def.has_pressure_law = v[COMPRESS_A] != NULL || v[COMPRESS_B] != NULL;
    if (def.has_pressure_law && v[BULK_MODULUS] != NULL) {
        itm_reader_fail(r, v[BULK_MODULUS], "give bulk_modulus, or compress_a and compress_b, not both");
    }
    if (def.has_pressure_law && v[COMPRESS_A] == NULL) {
        itm_reader_fail(r, item->key, "the pressure law of a fluid needs 'compress_a'");
    }
    if (r->status == ITM_OK) {
        ItmStatus status = itm_circuit_builder_add_fluid(c->builder, &def, NULL, r->error);
        itm_read_circuit_take(r, status, item, KEYS, v, NKEY, NULL, 0);
    }
}

static void read_fluids(ItmCircuitReader* c, const ItmNode* node)
{
    ItmReader* r = c->r;
    if (itm_reader_is_collection(r, node, "fluids")) {
        for (const ItmItem* item = node->first; item != NULL && r->status == ITM_OK; item = item->next) {
            read_fluid(c, item);
        }
    }
    if (r->status == ITM_OK && c->builder->fluids.count == 0) {
        ItmFluidDef oil = itm_default_fluid_def();
        oil.name = "oil";
        r->status = itm_circuit_builder_add_fluid(c->builder, &oil, NULL, r->error);
    }
}

// ---------------------------------------------------------------------------- nodes

static int get_fluid(ItmCircuitReader* c, const ItmItem* item, const ItmNode* node)
{
    ItmReader* r = c->r;
    if (node == NULL) {
        if (c->builder->fluids.count > 1) {
            itm_reader_fail(r, item->key, "a node needs 'fluid' where there are several fluids");
        }
        return 0;
    }
    const char* name = itm_reader_get_text(r, node, "the name of a fluid");
    int fluid = name != NULL ? itm_circuit_builder_find_fluid(c->builder, name) : 0;
    if (fluid == ITM_NONE) {
        ItmNearest nearest = itm_nearest_start(node->text, node->length);
        itm_reader_offer_names(&nearest, &c->builder->fluid_names);
        itm_reader_fail_unknown(r, node, "fluid", &nearest);
    }
    return fluid;
}

static void read_volume(ItmCircuitReader* c, const ItmItem* item, bool is_hose)
{
    enum { TYPE, FLUID, VOLUME, WALL_MODULUS, PRESSURE, HELD, NKEY };
    static const char* const KEYS[NKEY] = {"type", "fluid", "volume", "wall_modulus", "pressure", "held"};
    ItmReader* r = c->r;
    const ItmNode* v[NKEY];
    const char* what = is_hose ? "a hose" : "a volume";
    itm_reader_get_map(r, item->value, what, KEYS, NKEY, v);
    if (is_hose) {
        itm_reader_require(r, item->key, v[VOLUME], what, "volume");
        itm_reader_require(r, item->key, v[WALL_MODULUS], what, "wall_modulus");
    } else if (v[WALL_MODULUS] != NULL) {
        itm_reader_fail(r, v[WALL_MODULUS], "a volume is rigid: for a wall that gives use 'type: hose'");
    }
    ItmVolumeDef def = itm_default_volume_def();
    def.name = item->key->text;
    def.fluid = get_fluid(c, item, v[FLUID]);
    const ItmRealField fields[] = {
        {VOLUME, ITM_DIM_VOLUME, &def.volume},
        {WALL_MODULUS, ITM_DIM_PRESSURE, &def.wall_modulus},
        {PRESSURE, ITM_DIM_PRESSURE, &def.pressure},
    };
    itm_read_circuit_get_reals(r, v, fields, ITM_COUNT(fields));
    def.is_held = itm_reader_get_bool(r, v[HELD], false);
    if (r->status == ITM_OK) {
        ItmStatus status = itm_circuit_builder_add_volume(c->builder, &def, NULL, r->error);
        itm_read_circuit_take(r, status, item, KEYS, v, NKEY, NULL, 0);
    }
}

static void read_source(ItmCircuitReader* c, const ItmItem* item, bool is_tank)
{
    enum { TYPE, FLUID, PRESSURE, SIGNAL, NKEY };
    static const char* const KEYS[NKEY] = {"type", "fluid", "pressure", "signal"};
    ItmReader* r = c->r;
    const ItmNode* v[NKEY];
    const char* what = is_tank ? "a tank" : "a pressure-source";
    itm_reader_get_map(r, item->value, what, KEYS, NKEY, v);
    if (!is_tank) {
        itm_reader_require(r, item->key, v[PRESSURE], what, "pressure");
    }
    if (r->status == ITM_OK && v[PRESSURE] != NULL && itm_reader_is_connection(v[PRESSURE])) {
        itm_reader_fail(r, v[PRESSURE],
                        "a pressure to start from is needed: give it here as a number, and the output "
                        "of another subsystem, which is added, as 'signal'");
    }
    ItmPressureSourceDef def = is_tank ? itm_default_tank_def() : itm_default_pressure_source_def();
    def.name = item->key->text;
    def.fluid = get_fluid(c, item, v[FLUID]);
    itm_read_circuit_get_drive(c, item, (ItmDriveNodes){v[PRESSURE], v[SIGNAL], NULL}, ITM_DIM_PRESSURE, &def.pressure,
                               &def.signal);
    if (r->status == ITM_OK) {
        ItmStatus status = itm_circuit_builder_add_pressure_source(c->builder, &def, NULL, r->error);
        itm_read_circuit_take(r, status, item, KEYS, v, NKEY, NULL, 0);
    }
}

static void read_node(ItmCircuitReader* c, const ItmItem* item)
{
    enum { VOLUME, HOSE, SOURCE, TANK, NTYPE };
    static const char* const TYPES[NTYPE] = {"volume", "hose", "pressure-source", "tank"};
    switch (itm_reader_get_type(c->r, item, "a node", "a type of node", TYPES, NTYPE)) {
    case VOLUME:
        read_volume(c, item, false);
        break;
    case HOSE:
        read_volume(c, item, true);
        break;
    case SOURCE:
        read_source(c, item, false);
        break;
    case TANK:
        read_source(c, item, true);
        break;
    }
}

static void read_nodes(ItmCircuitReader* c, const ItmItem* whole, const ItmNode* node)
{
    ItmReader* r = c->r;
    if (!itm_reader_is_collection(r, node, "nodes")) {
        return;
    }
    for (const ItmItem* item = node->first; item != NULL && r->status == ITM_OK; item = item->next) {
        read_node(c, item);
    }
    if (r->status == ITM_OK && c->builder->nodes.count == 0) {
        itm_reader_fail(r, node->count == 0 ? whole->key : node, "the circuit has no nodes");
    }
}

// ---------------------------------------------------------------------------- integrator

static void read_options(ItmReader* r, const ItmNode* integrator, const ItmNode* tolerance,
                         const ItmNode* max_iterations, const ItmNode* ledger, ItmHydraulicOptions* options)
{
    const char* names[ITM_HYDRAULIC_INTEGRATOR_COUNT];
    for (int i = 0; i < ITM_HYDRAULIC_INTEGRATOR_COUNT; i++) {
        names[i] = itm_hydraulics_integrator_name((ItmHydraulicIntegrator)i);
    }
    *options = itm_default_hydraulic_options();
    int word = itm_reader_get_word(r, integrator, "an integrator", names, ITM_HYDRAULIC_INTEGRATOR_COUNT,
                                   (int)options->integrator);
    options->integrator = word >= 0 ? (ItmHydraulicIntegrator)word : options->integrator;
    options->tolerance = itm_reader_get_real(r, tolerance, ITM_DIM_ONE, options->tolerance);
    options->max_iterations = itm_reader_get_int(r, max_iterations, 1, 100000, options->max_iterations);
    options->use_ledger = itm_reader_get_bool(r, ledger, options->use_ledger);
    if (r->status == ITM_OK && !(options->tolerance > 0)) {
        itm_reader_fail(r, tolerance, "tolerance must be positive, got %g", options->tolerance);
    }
}

static double read_step(ItmReader* r, const ItmNode* node)
{
    double step = itm_reader_get_real(r, node, ITM_DIM_TIME, 0.0);
    if (r->status == ITM_OK && node != NULL && !(step > 0)) {
        itm_reader_fail(r, node, "step must be positive, got %g", step);
    }
    return step;
}

// ---------------------------------------------------------------------------- start

// Offer the names of all inputs to one that was typed; whether it is one of them.
static bool find_input(const ItmCircuitBuilder* b, ItmNearest* nearest)
{
    bool is_found = false;
    const char* typed = nearest->typed;
#define OFFER(list, is_input)                                                                                          \
    for (int i = 0; i < (list).count; i++) {                                                                           \
        if (is_input) {                                                                                                \
            is_found = is_found || strcmp((list).items[i].name, typed) == 0;                                           \
            itm_nearest_offer(nearest, (list).items[i].name);                                                          \
        }                                                                                                              \
    }
    OFFER(b->nodes, b->nodes.items[i].is_source)
    OFFER(b->flows, true)
    OFFER(b->orifices, b->orifices.items[i].is_variable)
    OFFER(b->valves, true)
    OFFER(b->pressure_valves, true)
    OFFER(b->motors, b->motors.items[i].is_variable)
#undef OFFER
    return is_found;
}

static void check_free(ItmCircuitReader* c, const ItmNode* node)
{
    ItmReader* r = c->r;
    if (r->status != ITM_OK || node == NULL) {
        return;
    }
    if (node->kind != ITM_NODE_LIST) {
        itm_reader_fail(r, node, "free is a list of inputs: valves, variable orifices and sources");
    }
    for (const ItmItem* item = node->first; item != NULL && r->status == ITM_OK; item = item->next) {
        if (itm_reader_get_text(r, item->value, "the name of an input") != NULL) {
            ItmNearest nearest = itm_nearest_start(item->value->text, item->value->length);
            if (!find_input(c->builder, &nearest)) {
                itm_reader_fail_unknown(r, item->value, "input", &nearest);
            }
        }
    }
}

static void read_force(ItmCircuitReader* c, const ItmItem* item, double* force)
{
    const ItmCircuitBuilder* b = c->builder;
    ItmNearest nearest = itm_nearest_start(item->key->text, item->key->length);
    for (int i = 0; i < b->cylinders.count; i++) {
        itm_nearest_offer(&nearest, b->cylinders.items[i].name);
        if (strcmp(b->cylinders.items[i].name, item->key->text) == 0) {
            force[i] = itm_reader_get_real(c->r, item->value, ITM_DIM_FORCE, NAN);
            return;
        }
    }
    itm_reader_fail_unknown(c->r, item->key, "cylinder", &nearest);
}

static void read_forces(ItmCircuitReader* c, const ItmNode* node, ItmFileCircuit* circuit)
{
    ItmReader* r = c->r;
    int n = c->builder->cylinders.count + c->builder->motors.count;  // motors follow
    if (r->status != ITM_OK) {
        return;
    }
    circuit->force = malloc(((size_t)n + 1) * sizeof *circuit->force);
    if (circuit->force == NULL) {
        r->status = itm_error_set(r->error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
        return;
    }
    for (int i = 0; i < n; i++) {
        circuit->force[i] = NAN;
    }
    if (itm_reader_is_collection(r, node, "force")) {
        for (const ItmItem* item = node->first; item != NULL && r->status == ITM_OK; item = item->next) {
            read_force(c, item, circuit->force);
        }
    }
}

// "given", "static", or {static: {free: [...], force: {...}}}
static void read_start(ItmCircuitReader* c, const ItmNode* node, ItmFileCircuit* circuit)
{
    static const char* const WORDS[] = {"given", "static"};
    static const char* const MAP[] = {"static"};
    enum { FREE, FORCE, NKEY };
    static const char* const KEYS[NKEY] = {"free", "force"};
    const ItmNode *v[NKEY] = {NULL}, *statics = NULL;
    ItmReader* r = c->r;
    if (r->status != ITM_OK || node == NULL) {
        return;
    }
    if (node->kind == ITM_NODE_MAP) {
        itm_reader_get_map(r, node, "start", MAP, 1, &statics);
        itm_reader_require(r, node, statics, "start", "static");
        itm_reader_get_map(r, statics, "a static start", KEYS, NKEY, v);
        circuit->is_static = true;
    } else {
        circuit->is_static = itm_reader_get_word(r, node, "a start", WORDS, 2, 0) == 1;
    }
    check_free(c, v[FREE]);
    if (circuit->is_static) {
        read_forces(c, v[FORCE], circuit);
        circuit->start = itm_reader_get_place(r, node);
    }
}

// ---------------------------------------------------------------------------- circuit

static int find_signal(const void* builder, const char* name)
{
    return itm_circuit_builder_find_signal(builder, name);
}

static ItmStatus add_signal(void* builder, const ItmSignalDef* def, int* id, ItmError* error)
{
    return itm_circuit_builder_add_signal(builder, def, id, error);
}

// One more circuit of the file and its part; both belong to r from here on.
static ItmFileCircuit* add_circuit(ItmReader* r, const ItmItem* item)
{
    ItmModelFile* file = r->file;
    ItmFileParts* parts = r->parts;
    size_t n = (size_t)file->ncircuit + 1;
    ItmFileCircuit* circuits = realloc(file->circuits, n * sizeof *circuits);
    file->circuits = circuits != NULL ? circuits : file->circuits;
    ItmCircuitPart* moved = realloc(parts->circuits, n * sizeof *moved);
    parts->circuits = moved != NULL ? moved : parts->circuits;
    if (circuits == NULL || moved == NULL) {
        r->status = itm_error_set(r->error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
        return NULL;
    }
    ItmFileCircuit* circuit = &circuits[file->ncircuit++];
    ItmCircuitPart* part = &moved[parts->ncircuit++];
    *circuit = (ItmFileCircuit){.name = strdup(item->key->text)};
    *part = (ItmCircuitPart){.item = item};
    r->status = circuit->name != NULL ? itm_circuit_builder_create(&part->builder, r->error)
                                      : itm_error_set(r->error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
    return circuit;
}

void itm_read_circuit(ItmReader* r, const ItmItem* item)
{
    enum { TYPE, STEP, INTEGRATOR, TOLERANCE, MAX_ITERATIONS, LEDGER, FLUIDS, NODES, ELEMENTS, OUTPUTS, START, NKEY };
    static const char* const KEYS[NKEY] = {"type",   "step",  "integrator", "tolerance", "max_iterations", "ledger",
                                           "fluids", "nodes", "elements",   "outputs",   "start"};
    const ItmNode* v[NKEY];
    itm_reader_get_map(r, item->value, "a hydraulic circuit", KEYS, NKEY, v);
    itm_reader_require(r, item->key, v[NODES], "a hydraulic circuit", "nodes");
    ItmFileCircuit* circuit = r->status == ITM_OK ? add_circuit(r, item) : NULL;
    if (r->status != ITM_OK) {
        return;
    }
    ItmCircuitReader c = {
        .r = r, .builder = r->parts->circuits[r->parts->ncircuit - 1].builder, .name = item->key->text};
    r->taker = (ItmSignalTaker){c.builder, find_signal, add_signal};
    circuit->step = read_step(r, v[STEP]);
    read_options(r, v[INTEGRATOR], v[TOLERANCE], v[MAX_ITERATIONS], v[LEDGER], &circuit->options);
    read_fluids(&c, v[FLUIDS]);
    read_nodes(&c, item, v[NODES]);
    itm_read_circuit_elements(&c, v[ELEMENTS]);
    itm_reader_is_collection(r, v[OUTPUTS], "outputs");
    read_start(&c, v[START], circuit);
}
