// Electric drives and winches: subsystems of type `drive`.
#include "io/model/read_circuit.h"
#include "io/model/reader.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

#define DIM_RESISTANCE ((ItmDimension){{2, 1, -3, -2}})
#define DIM_INDUCTANCE ((ItmDimension){{2, 1, -2, -2}})
#define DIM_TORQUE_CONSTANT ((ItmDimension){{2, 1, -2, -1}})
#define DIM_CURRENT ((ItmDimension){{0, 0, 0, 1}})
#define DIM_VOLTAGE ((ItmDimension){{2, 1, -3, -1}})
#define DIM_CURRENT_PER_RATE ((ItmDimension){{0, 0, 1, 1}})

enum {
    TYPE,
    RESISTANCE,
    INDUCTANCE,
    INDUCTANCE_D,
    TORQUE_CONSTANT,
    POLE_PAIRS,
    INERTIA,
    VISCOUS,
    COULOMB,
    COULOMB_SPEED,
    RATIO,
    STIFFNESS,
    DAMPING,
    BACKLASH,
    DRUM_RADIUS,
    PARTS,
    CURRENT_LIMIT,
    VOLTAGE_LIMIT,
    MODE,
    COMMAND,
    CURRENT_BANDWIDTH,
    SPEED_GAIN,
    SPEED_INTEGRAL,
    POSITION_GAIN,
    START_LOAD,
    NKEY
};
static const char* const KEYS[NKEY] = {
    "type",      "resistance", "inductance",        "inductance_d",  "torque_constant", "pole_pairs",
    "inertia",   "viscous",    "coulomb",           "coulomb_speed", "ratio",           "stiffness",
    "damping",   "backlash",   "drum_radius",       "parts",         "current_limit",   "voltage_limit",
    "mode",      "command",    "current_bandwidth", "speed_gain",    "speed_integral",  "position_gain",
    "start_load"};

static void read_reals(ItmReader* r, const ItmNode* const* v, ItmDriveDef* def, double* pole_pairs)
{
    bool is_winch = v[DRUM_RADIUS] != NULL;
    const ItmRealField fields[] = {
        {RESISTANCE, DIM_RESISTANCE, &def->resistance},
        {INDUCTANCE, DIM_INDUCTANCE, &def->inductance},
        {INDUCTANCE_D, DIM_INDUCTANCE, &def->inductance_d},
        {TORQUE_CONSTANT, DIM_TORQUE_CONSTANT, &def->torque_constant},
        {POLE_PAIRS, ITM_DIM_ONE, pole_pairs},
        {INERTIA, ITM_DIM_INERTIA, &def->inertia},
        {VISCOUS, ITM_DIM_TORQUE_DAMPING, &def->viscous},
        {COULOMB, ITM_DIM_TORQUE, &def->coulomb},
        {COULOMB_SPEED, ITM_DIM_FREQUENCY, &def->coulomb_speed},
        {RATIO, ITM_DIM_ONE, &def->ratio},
        {STIFFNESS, is_winch ? ITM_DIM_STIFFNESS : ITM_DIM_TORQUE, &def->stiffness},
        {DAMPING, is_winch ? ITM_DIM_DAMPING : ITM_DIM_TORQUE_DAMPING, &def->damping},
        {BACKLASH, ITM_DIM_ONE, &def->backlash},
        {DRUM_RADIUS, ITM_DIM_LENGTH, &def->drum_radius},
        {PARTS, ITM_DIM_ONE, &def->parts},
        {CURRENT_LIMIT, DIM_CURRENT, &def->current_limit},
        {VOLTAGE_LIMIT, DIM_VOLTAGE, &def->voltage_limit},
        {CURRENT_BANDWIDTH, ITM_DIM_FREQUENCY, &def->current_bandwidth},
        {SPEED_GAIN, DIM_CURRENT_PER_RATE, &def->speed_gain},
        {SPEED_INTEGRAL, DIM_CURRENT, &def->speed_integral},
        {POSITION_GAIN, ITM_DIM_FREQUENCY, &def->position_gain},
        {START_LOAD, is_winch ? ITM_DIM_FORCE : ITM_DIM_TORQUE, &def->start_load},
    };
    itm_read_circuit_get_reals(r, v, fields, ITM_COUNT(fields));
}

// The unit of a command follows from the mode, and from what the drive moves.
static ItmDimension get_command_dimension(const ItmDriveDef* def)
{
    bool is_winch = def->drum_radius > 0.0;
    switch (def->mode) {
    case ITM_DRIVE_VOLTAGE:
        return DIM_VOLTAGE;
    case ITM_DRIVE_CURRENT:
        return DIM_CURRENT;
    case ITM_DRIVE_SPEED:
        return is_winch ? ITM_DIM_VELOCITY : ITM_DIM_FREQUENCY;
    default:
        return is_winch ? ITM_DIM_LENGTH : ITM_DIM_ONE;
    }
}

static void read_motor(ItmReader* r, const char* subsystem, const ItmItem* item, ItmDriveDef* def)
{
    static const char* const TYPES[ITM_DRIVE_KIND_COUNT] = {"dc", "pmsm"};
    static const char* const MODES[ITM_DRIVE_MODE_COUNT] = {"voltage", "current", "speed", "position"};
    static const int REQUIRED[] = {RESISTANCE, INDUCTANCE, TORQUE_CONSTANT, INERTIA, STIFFNESS};
    const ItmNode* v[NKEY];
    itm_reader_get_map(r, item->value, "a drive", KEYS, NKEY, v);
    for (int i = 0; i < ITM_COUNT(REQUIRED); i++) {
        itm_reader_require(r, item->key, v[REQUIRED[i]], "a drive", KEYS[REQUIRED[i]]);
    }
    *def = itm_default_drive_def();
    def->name = item->key->text;
    def->kind =
        (ItmDriveKind)itm_reader_get_word(r, v[TYPE], "a type of motor", TYPES, ITM_DRIVE_KIND_COUNT, (int)def->kind);
    def->mode = (ItmDriveMode)itm_reader_get_word(r, v[MODE], "a mode", MODES, ITM_DRIVE_MODE_COUNT, (int)def->mode);
    double pole_pairs = def->pole_pairs;
    read_reals(r, v, def, &pole_pairs);
    if (r->status == ITM_OK && !(pole_pairs >= 1.0 && pole_pairs <= 1000.0 && pole_pairs == (int)pole_pairs)) {
        itm_reader_fail(r, v[POLE_PAIRS], "pole_pairs must be a whole number from 1 to 1000, got %g", pole_pairs);
    }
    def->pole_pairs = r->status == ITM_OK ? (int)pole_pairs : 1;
    if (r->status == ITM_OK && v[COMMAND] != NULL && itm_reader_is_connection(v[COMMAND])) {
        itm_reader_add_connection(r, v[COMMAND], subsystem, def->name);
    } else {
        def->command = itm_reader_get_real(r, v[COMMAND], get_command_dimension(def), 0.0);
    }
}

// Room for one more subsystem of this kind.
static ItmFileDrive* add_drive(ItmReader* r, const char* name)
{
    ItmModelFile* file = r->file;
    ItmFileDrive* moved = realloc(file->drives, ((size_t)file->ndrive + 1) * sizeof *moved);
    if (moved != NULL) {
        file->drives = moved;
        moved[file->ndrive] = (ItmFileDrive){.name = strdup(name)};
        if (moved[file->ndrive].name != NULL) {
            return &moved[file->ndrive++];
        }
    }
    r->status = itm_error_set(r->error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
    return NULL;
}

// An error of the library about "drive.field" belongs to that key.
static void locate_field(const ItmNode* motors, ItmError* error)
{
    size_t length = strcspn(error->field, ".");
    for (const ItmItem* item = motors->first; item != NULL; item = item->next) {
        if (item->key->length == length && memcmp(item->key->text, error->field, length) == 0) {
            const ItmNode* value = error->field[length] == '.' && item->value->kind == ITM_NODE_MAP
                                       ? itm_document_find(item->value, error->field + length + 1)
                                       : NULL;
            itm_document_locate(value != NULL ? value : item->key, 0, error);
        }
    }
}

void itm_read_drive(ItmReader* r, const ItmItem* item)
{
    enum { DRIVE_TYPE, STEP, MOTORS, NDRIVE_KEY };
    static const char* const DRIVE_KEYS[NDRIVE_KEY] = {"type", "step", "motors"};
    const ItmNode* v[NDRIVE_KEY];
    itm_reader_get_map(r, item->value, "a drive", DRIVE_KEYS, NDRIVE_KEY, v);
    itm_reader_require(r, item->key, v[STEP], "a drive", "step");
    itm_reader_require(r, item->key, v[MOTORS], "a drive", "motors");
    double step = itm_reader_get_real(r, v[STEP], ITM_DIM_TIME, 1.0);
    if (r->status == ITM_OK && !(step > 0.0)) {
        itm_reader_fail(r, v[STEP], "step must be positive, got %g s", step);
    }
    if (r->status != ITM_OK || !itm_reader_is_collection(r, v[MOTORS], "motors")) {
        return;
    }
    if (v[MOTORS]->count == 0) {
        itm_reader_fail(r, v[MOTORS], "there are no motors");
        return;
    }
    ItmDriveDef* defs = calloc((size_t)v[MOTORS]->count, sizeof *defs);
    ItmFileDrive* drive = defs != NULL ? add_drive(r, item->key->text) : NULL;
    if (drive == NULL) {
        free(defs);
        r->status = itm_error_set(r->error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
        return;
    }
    drive->step = step;
    int n = 0;
    for (const ItmItem* motor = v[MOTORS]->first; motor != NULL && r->status == ITM_OK; motor = motor->next) {
        read_motor(r, drive->name, motor, &defs[n++]);
    }
    if (r->status == ITM_OK) {
        r->status = itm_drives_create(&drive->drives, defs, n, r->error);
        if (r->status != ITM_OK && r->error != NULL) {
            itm_document_locate(item->key, 0, r->error);
            locate_field(v[MOTORS], r->error);
        }
    }
    free(defs);
}
