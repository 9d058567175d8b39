// subsystems of type fmu: an FMU of FMI 2.0 or 3.0. Archive, description and all names are checked here; nothing of the FMU
// runs before a system is created.
#include "io/model/reader.h"

#include "base/error.h"
#include "fmi/mechanism.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What is read of one FMU, with the nodes that complaints go to.
typedef struct FmuReader {
    ItmReader* r;
    const char* name;
    ItmFmu* fmu;
    ItmFmuDef def;
    ItmFmuValue* values;
    ItmFmuPortDef* ports;
    const char** records;
    ItmBlame* blames;  // names as typed, and where
    int nblame;
} FmuReader;

// ---------------------------------------------------------------------------- values

// The variable that a name means, of an element that of its array; ITM_NONE: none.
static int find_variable(const FmuReader* f, const char* name)
{
    const ItmFmiDescription* d = itm_fmi_get_description(f->fmu);
    int variable = itm_description_find(d, name);
    const char* bracket = variable == ITM_NONE ? strrchr(name, '[') : NULL;
    if (bracket != NULL) {
        char* base = itm_document_take(f->r->doc, (size_t)(bracket - name) + 1);
        if (base != NULL) {
            memcpy(base, name, (size_t)(bracket - name));
            variable = itm_description_find(d, base);
        }
    }
    return variable;
}

static void blame(FmuReader* f, const char* field, const ItmNode* node)
{
    f->blames[f->nblame++] = (ItmBlame){field, node};
}

// Whether the value of this variable is a number rather than a word.
static bool takes_number(const FmuReader* f, const char* name, const ItmNode* node)
{
    int variable = find_variable(f, name);
    if (variable == ITM_NONE) {
        return false;
    }
    ItmFmiType type = itm_fmi_get_description(f->fmu)->variables[variable].type;
    bool is_word = type == ITM_FMI_STRING || type == ITM_FMI_BINARY || type == ITM_FMI_BOOLEAN;
    bool is_digit = node->length > 0 && (strchr("+-.0123456789", node->text[0]) != NULL);
    return !is_word && (type != ITM_FMI_ENUMERATION || is_digit);
}

static void add_value(FmuReader* f, const char* name, const ItmNode* key, const ItmNode* node)
{
    const char* text = itm_reader_get_text(f->r, node, "a value");
    if (text == NULL) {
        return;
    }
    ItmFmuValue* value = &f->values[f->def.nvalue++];
    *value = (ItmFmuValue){.variable = name, .text = text, .has_number = takes_number(f, name, node)};
    if (value->has_number) {
        value->number = itm_reader_get_quantity(f->r, node);
    }
    blame(f, name, key);
}

// The elements of an array, row by row.
static void add_list(FmuReader* f, const ItmItem* item, const ItmNode* list, int* next)
{
    for (const ItmItem* element = list->first; element != NULL && f->r->status == ITM_OK; element = element->next) {
        if (element->value->kind == ITM_NODE_LIST) {
            add_list(f, item, element->value, next);
            continue;
        }
        int variable = find_variable(f, item->key->text);
        char* name = variable != ITM_NONE ? itm_fmi_name_element(f->fmu, variable, (*next)++) : NULL;
        char* kept = name != NULL ? itm_document_take(f->r->doc, strlen(name) + 1) : NULL;
        if (kept == NULL) {
            itm_reader_fail(f->r, element->value, "'%s' is no array of the FMU with this many elements",
                            item->key->text);
        } else {
            strcpy(kept, name);
            add_value(f, kept, element->value, element->value);
        }
        free(name);
    }
}

static void read_values(FmuReader* f, const ItmNode* node)
{
    for (const ItmItem* item = itm_reader_is_collection(f->r, node, "set") ? node->first : NULL;
         item != NULL && f->r->status == ITM_OK; item = item->next) {
        int next = 0;
        if (item->value->kind == ITM_NODE_LIST) {
            add_list(f, item, item->value, &next);
        } else {
            add_value(f, item->key->text, item->key, item->value);
        }
    }
}

// `joystick: control.lever`, or a number that stays
static void read_inputs(FmuReader* f, const ItmNode* node)
{
    for (const ItmItem* item = itm_reader_is_collection(f->r, node, "inputs") ? node->first : NULL;
         item != NULL && f->r->status == ITM_OK; item = item->next) {
        if (itm_reader_is_connection(item->value)) {
            itm_reader_add_connection(f->r, item->value, f->name, item->key->text);
        } else if (itm_reader_find_signal(f->r, item->value) != ITM_NONE) {
            itm_reader_fail(
                f->r, item->value,
                "an input of an FMU follows an output of another subsystem: let a control output the signal "
                "'%s', as in 'blocks: {%s: %s}'",
                item->value->text, item->value->text, item->value->text);
        } else {
            add_value(f, item->key->text, item->key, item->value);
        }
    }
}

// ---------------------------------------------------------------------------- ports

static void read_port(FmuReader* f, const ItmItem* item)
{
    enum { RATE, POSITION, FORCE, TORQUE, ANGLE, OFFSET, NKEY };
    static const char* const KEYS[NKEY] = {"rate", "position", "force", "torque", "angle", "offset"};
    const ItmNode* v[NKEY];
    ItmReader* r = f->r;
    itm_reader_get_map(r, item->value, "a port of an FMU", KEYS, NKEY, v);
    bool is_turning = v[TORQUE] != NULL || v[ANGLE] != NULL;
    const ItmNode *force = is_turning ? v[TORQUE] : v[FORCE], *position = is_turning ? v[ANGLE] : v[POSITION];
    if (r->status == ITM_OK && is_turning && (v[FORCE] != NULL || v[POSITION] != NULL)) {
        itm_reader_fail(r, item->key, "a port has force and position, or torque and angle");
    }
    itm_reader_require(r, item->key, force, "a port of an FMU", is_turning ? "torque" : "force");
    if (r->status == ITM_OK && v[RATE] == NULL && position == NULL) {
        itm_reader_fail(r, item->key, "a port of an FMU needs rate, %s or both", is_turning ? "angle" : "position");
    }
    ItmFmuPortDef* port = &f->ports[f->def.nport];
    port->name = item->key->text;
    port->force = itm_reader_get_text(r, force, "a variable of the FMU");
    port->rate = v[RATE] != NULL ? itm_reader_get_text(r, v[RATE], "a variable of the FMU") : NULL;
    port->position = position != NULL ? itm_reader_get_text(r, position, "a variable of the FMU") : NULL;
    port->offset = itm_reader_get_real(r, v[OFFSET], is_turning ? ITM_DIM_ONE : ITM_DIM_LENGTH, 0.0);
    port->is_rotational = is_turning;
    if (r->status == ITM_OK) {
        f->def.nport++;
        blame(f, port->force, force);
        if (port->rate != NULL) {
            blame(f, port->rate, v[RATE]);
        }
        if (port->position != NULL) {
            blame(f, port->position, position);
        }
    }
}

// ---------------------------------------------------------------------------- mechanisms

// Whether the force of the first port is an input of the FMU, which is a mechanism then.
static bool takes_forces(const FmuReader* f)
{
    const char* force = f->ports[0].force;
    int variable = find_variable(f, force + (force[0] == '-'));
    return variable != ITM_NONE && itm_fmi_get_description(f->fmu)->variables[variable].causality == ITM_FMI_INPUT;
}

static void refuse_memory(ItmReader* r)
{
    r->status = itm_error_set(r->error, ITM_ERR_MEMORY, "itm_file_load", NULL, "out of memory");
}

// The ports become those of a mechanism; for the FMU their variables are inputs and outputs.
static void make_mechanism(FmuReader* f, ItmFileFmu* kept)
{
    kept->ports = calloc((size_t)f->def.nport, sizeof *kept->ports);
    if (kept->ports == NULL) {
        refuse_memory(f->r);
        return;
    }
    for (int i = 0; i < f->def.nport && f->r->status == ITM_OK; i++) {
        const ItmFmuPortDef* def = &f->ports[i];
        if (def->rate == NULL || def->position == NULL) {
            itm_reader_fail(f->r, f->r->doc->root, "port '%s' of a mechanism needs force, rate and position",
                            def->name);
            return;
        }
        ItmFmuMechanismPort* port = &kept->ports[kept->nport++];
        *port = (ItmFmuMechanismPort){strdup(def->name), strdup(def->force), strdup(def->rate), strdup(def->position),
                                      def->offset};
        if (port->name == NULL || port->force == NULL || port->rate == NULL || port->position == NULL) {
            refuse_memory(f->r);
        }
    }
    f->def.nport = 0;
}

// mobility: auto; probing: {every: 1, amplitude: 100 N}
static void read_mobility(FmuReader* f, const ItmNode* mobility, const ItmNode* probing, ItmForeignOptions* options)
{
    const char* names[ITM_MOBILITY_COUNT];
    *options = itm_default_foreign_options();
    for (int i = 0; i < ITM_MOBILITY_COUNT; i++) {
        names[i] = itm_cosim_mobility_name((ItmMobility)i);
    }
    int choice = itm_reader_get_word(f->r, mobility, "a source of the mobility", names, ITM_MOBILITY_COUNT, 0);
    options->mobility = choice != ITM_NONE ? (ItmMobility)choice : ITM_MOBILITY_AUTO;
    if (probing == NULL) {
        return;
    }
    enum { EVERY, AMPLITUDE, NKEY };
    static const char* const KEYS[NKEY] = {"every", "amplitude"};
    const ItmNode* v[NKEY];
    itm_reader_get_map(f->r, probing, "probing", KEYS, NKEY, v);
    double every = itm_reader_get_real(f->r, v[EVERY], ITM_DIM_ONE, 1.0);
    options->amplitude = itm_reader_get_real(f->r, v[AMPLITUDE], ITM_DIM_FORCE, 0.0);
    if (f->r->status == ITM_OK && !(every >= 1.0 && every <= 1e6 && every == floor(every))) {
        itm_reader_fail(f->r, v[EVERY], "every is a number of macro steps, 1 or more, not %g", every);
    }
    options->probe_interval = (int)fmax(1.0, fmin(every, 1e6));
}

// ---------------------------------------------------------------------------- limits and choices

// "2 GB", "500 kB", "1000": bytes
static double get_bytes(ItmReader* r, const ItmNode* node, double absent)
{
    static const char* const UNITS[] = {"", "B", "kB", "MB", "GB", "kiB", "MiB", "GiB"};
    static const double FACTORS[] = {1.0, 1.0, 1e3, 1e6, 1e9, 1024.0, 1048576.0, 1073741824.0};
    const char* text = node != NULL ? itm_reader_get_text(r, node, "a number of bytes, as in 2 GB") : NULL;
    if (text == NULL) {
        return absent;
    }
    char* end;
    double number = strtod(text, &end);
    while (*end == ' ') {
        end++;
    }
    for (int i = 0; i < ITM_COUNT(UNITS); i++) {
        if (strcmp(UNITS[i], end) == 0 && end != text && number > 0.0 && isfinite(number)) {
            return number * FACTORS[i];
        }
    }
    itm_reader_fail(r, node, "'%s' is no number of bytes, as in 2 GB, 500 MB or 100 kB", text);
    return absent;
}

static void read_limits(FmuReader* f, const ItmNode* node)
{
    enum { MEMORY, CALL, LOG, FILE_SIZE, NETWORK, PROCESSES, NKEY };
    static const char* const KEYS[NKEY] = {"memory", "call", "log", "file", "network", "processes"};
    const ItmNode* v[NKEY];
    if (node == NULL) {
        return;
    }
    ItmFmuLimits* l = &f->def.limits;
    itm_reader_get_map(f->r, node, "limits of an FMU", KEYS, NKEY, v);
    l->memory = get_bytes(f->r, v[MEMORY], l->memory);
    l->log = get_bytes(f->r, v[LOG], l->log);
    l->file = get_bytes(f->r, v[FILE_SIZE], l->file);
    l->call = itm_reader_get_real(f->r, v[CALL], ITM_DIM_TIME, l->call);
    l->has_network = itm_reader_get_bool(f->r, v[NETWORK], l->has_network);
    l->has_processes = itm_reader_get_bool(f->r, v[PROCESSES], l->has_processes);
    if (f->r->status == ITM_OK && !(l->call > 0.0)) {
        itm_reader_fail(f->r, v[CALL], "the limit of a call must be positive, got %g s", l->call);
    }
}

static void read_records(FmuReader* f, const ItmNode* node)
{
    if (node == NULL || f->r->status != ITM_OK) {
        return;
    }
    if (node->kind != ITM_NODE_LIST) {
        itm_reader_fail(f->r, node, "record is a list of names or patterns, as in [p.*, valve.x]");
        return;
    }
    for (const ItmItem* item = node->first; item != NULL && f->r->status == ITM_OK; item = item->next) {
        const char* text = itm_reader_get_text(f->r, item->value, "a name or pattern");
        if (text != NULL) {
            f->records[f->def.nrecord++] = text;
        }
    }
}

// ---------------------------------------------------------------------------- the whole

static ItmFileFmu* add_fmu(ItmReader* r, const ItmItem* item)
{
    ItmModelFile* file = r->file;
    ItmFileFmu* moved = realloc(file->fmus, ((size_t)file->nfmu + 1) * sizeof *moved);
    if (moved == NULL) {
        r->status = itm_error_set(r->error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
        return NULL;
    }
    file->fmus = moved;
    ItmFileFmu* fmu = &moved[file->nfmu++];
    *fmu = (ItmFileFmu){.name = strdup(item->key->text)};
    fmu->place = itm_reader_get_place(r, item->key);
    if (fmu->name == NULL && r->status == ITM_OK) {
        r->status = itm_error_set(r->error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
    }
    return r->status == ITM_OK ? fmu : NULL;
}

static bool open_fmu(FmuReader* f, const ItmNode* node)
{
    ItmReader* r = f->r;
    const char* text = r->status == ITM_OK ? itm_reader_get_text(r, node, "the path of an FMU") : NULL;
    char* path = text != NULL ? itm_reader_make_path(r, text) : NULL;
    if (path == NULL) {
        return false;
    }
    ItmError cause = {0};
    ItmStatus status = itm_fmu_open(&f->fmu, path, &cause);
    free(path);
    if (status != ITM_OK) {
        if (cause.file[0] != '\0') {
            itm_reader_fail(r, node, "'%s' cannot be used: %.160s:%d:%d: %s", text, cause.file, cause.line,
                            cause.column, cause.message);
        } else {
            itm_reader_fail(r, node, "'%s' cannot be used: %s", text, cause.message);
        }
        r->status = status;
    }
    return status == ITM_OK;
}

static bool take_room(FmuReader* f, int nvalue, int nport, int nrecord)
{
    f->values = itm_reader_take_array(f->r, nvalue + 1, sizeof *f->values);
    f->ports = itm_reader_take_array(f->r, nport + 1, sizeof *f->ports);
    f->records = itm_reader_take_array(f->r, nrecord + 1, sizeof *f->records);
    f->blames = itm_reader_take_array(f->r, nvalue + 3 * nport + 8, sizeof *f->blames);
    f->def.values = f->values;
    f->def.ports = f->ports;
    f->def.records = f->records;
    return f->r->status == ITM_OK;
}

void itm_read_fmu(ItmReader* r, const ItmItem* item)
{
    enum {
        TYPE,
        FILE_KEY,
        KIND,
        STEP,
        TOLERANCE,
        SET,
        PORTS,
        INPUTS,
        RECORD,
        ISOLATION,
        LIMITS,
        ON_FAILURE,
        MOBILITY,
        PROBING,
        NKEY
    };
    static const char* const KEYS[NKEY] = {"type",   "file",       "kind",     "step",   "tolerance",
                                           "set",    "ports",      "inputs",   "record", "isolation",
                                           "limits", "on_failure", "mobility", "probing"};
    static const char* const KINDS[ITM_FMI_KIND_COUNT] = {"co-simulation", "model-exchange"};
    static const char* const ISOLATIONS[] = {"process", "none"};
    static const char* const REACTIONS[] = {"stop", "restart"};
    const ItmNode* v[NKEY];
    itm_reader_get_map(r, item->value, "an FMU", KEYS, NKEY, v);
    itm_reader_require(r, item->key, v[FILE_KEY], "an FMU", "file");
    FmuReader f = {.r = r, .name = item->key->text, .def = itm_default_fmi_def()};
    ItmFileFmu* kept = r->status == ITM_OK ? add_fmu(r, item) : NULL;
    if (kept == NULL || !open_fmu(&f, v[FILE_KEY])) {
        return;
    }
    kept->fmu = f.fmu;
    f.def.name = f.name;
    f.def.kind = itm_reader_get_word(r, v[KIND], "a kind of FMU", KINDS, ITM_FMI_KIND_COUNT, ITM_NONE);
    kept->step = itm_reader_get_real(r, v[STEP], ITM_DIM_TIME, 0.0);
    if (r->status == ITM_OK && v[STEP] != NULL && !(kept->step > 0.0)) {
        itm_reader_fail(r, v[STEP], "step must be positive, got %g s", kept->step);
    }
    f.def.step = kept->step > 0.0 ? kept->step : f.def.step;
    f.def.tolerance = itm_reader_get_real(r, v[TOLERANCE], ITM_DIM_ONE, 0.0);
    f.def.isolation = (ItmFmuIsolation)itm_reader_get_word(r, v[ISOLATION], "an isolation", ISOLATIONS, 2, 0);
    f.def.is_restarting = itm_reader_get_word(r, v[ON_FAILURE], "a reaction to failures", REACTIONS, 2, 0) == 1;
    int nvalue = (v[SET] != NULL ? v[SET]->size : 0) + (v[INPUTS] != NULL ? v[INPUTS]->count : 0);
    if (take_room(&f, nvalue, v[PORTS] != NULL ? v[PORTS]->count : 0, v[RECORD] != NULL ? v[RECORD]->count : 0)) {
        read_values(&f, v[SET]);
        read_inputs(&f, v[INPUTS]);
        for (const ItmItem* port = itm_reader_is_collection(r, v[PORTS], "ports") ? v[PORTS]->first : NULL;
             port != NULL && r->status == ITM_OK; port = port->next) {
            read_port(&f, port);
        }
        read_limits(&f, v[LIMITS]);
        read_records(&f, v[RECORD]);
        if (v[KIND] != NULL) {
            blame(&f, "kind", v[KIND]);
        }
        blame(&f, "file", v[FILE_KEY]);
    }
    if (r->status == ITM_OK && f.def.nport > 0 && takes_forces(&f)) {
        make_mechanism(&f, kept);
        read_mobility(&f, v[MOBILITY], v[PROBING], &kept->options);
    } else if (r->status == ITM_OK && (v[MOBILITY] != NULL || v[PROBING] != NULL)) {
        itm_reader_fail(r, v[MOBILITY] != NULL ? v[MOBILITY] : v[PROBING],
                        "mobility and probing belong to an FMU that is a mechanism: forces of its ports are inputs");
    }
    if (r->status == ITM_OK) {
        itm_reader_take(r, itm_fmi_choose(f.fmu, &f.def, r->error), item->key, f.blames, f.nblame);
    }
    if (r->status == ITM_OK && kept->nport > 0) {
        kept->step = itm_fmi_get_mechanism_step(f.fmu);
    }
    free(f.values);
    free(f.ports);
    free(f.records);
    free(f.blames);
}
