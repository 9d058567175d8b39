#define _XOPEN_SOURCE 700  // realpath
#include "io/model/reader.h"

#include "base/error.h"
#include "signal/expression.h"
#include "base/utf8.h"
#include "math/vec.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// ---------------------------------------------------------------------------- complaints

static void fail_at(ItmReader* r, const ItmNode* node, size_t offset, const char* message)
{
    if (r->status != ITM_OK) {
        return;
    }
    r->status = itm_error_set(r->error, ITM_ERR_INPUT, "itm_file_parse", NULL, "%s", message);
    itm_document_locate(node, offset, r->error);
}

void itm_reader_fail(ItmReader* r, const ItmNode* node, const char* format, ...)
{
    char message[768];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    fail_at(r, node, 0, message);
}

void itm_reader_take(ItmReader* r, ItmStatus status, const ItmNode* whole, const ItmBlame* blames, int nblame)
{
    if (r->status != ITM_OK || status == ITM_OK) {
        return;
    }
    r->status = status;
    if (r->error == NULL) {
        return;
    }
    const ItmNode* at = whole;
    for (int i = 0; i < nblame; i++) {
        if (strcmp(blames[i].field, r->error->field) == 0 && blames[i].node != NULL) {
            at = blames[i].node;
        }
    }
    itm_document_locate(at, 0, r->error);
}

// Words of other tools, and ours.
static const char* const SYNONYMS[][2] = {
    {"hinge", "revolute"},
    {"pin", "revolute"},
    {"rotational", "revolute"},
    {"slider", "prismatic"},
    {"sliding", "prismatic"},
    {"translational", "prismatic"},
    {"ball", "spherical"},
    {"socket", "spherical"},
    {"weld", "fixed"},
    {"rigid", "fixed"},
    {"cardan", "universal"},
    {"rk4", "reference"},
    {"rk45", "reference"},
    {"runge-kutta", "reference"},
    {"implicit", "ali3p"},
    {"pump", "flow-source"},
    {"pump", "pressure-source"},
    {"throttle", "orifice"},
    {"reservoir", "tank"},
    {"pipe", "hose"},
    {"servo-valve", "valve-4-3"},
    {"piston", "cylinder"},
    {"none", "zoh"},
    {"hold", "zoh"},
    {"held", "zoh"},
    {"constant", "zoh"},
    {"cylinder", "actuator"},
    {"damper", "spring"},
    {"spring-damper", "spring"},
    {"diameter", "bore"},
};

// Our word for a synonym, if it is one of the words; NULL otherwise.
static const char* find_synonym(const ItmNode* typed, const char* const* words, int nword)
{
    for (size_t i = 0; i < sizeof SYNONYMS / sizeof SYNONYMS[0]; i++) {
        bool is_typed =
            strlen(SYNONYMS[i][0]) == typed->length && strncasecmp(SYNONYMS[i][0], typed->text, typed->length) == 0;
        for (int k = 0; k < nword && is_typed; k++) {
            if (strcmp(words[k], SYNONYMS[i][1]) == 0) {
                return words[k];
            }
        }
    }
    return NULL;
}

// "; use 'word'" for a synonym, "; nearest: 'word'", or all the words if none is near.
static void suggest(char* buffer, size_t size, const ItmNode* typed, const char* const* words, int nword)
{
    const char* synonym = find_synonym(typed, words, nword);
    if (synonym != NULL) {
        snprintf(buffer, size, "; use '%s'", synonym);
        return;
    }
    ItmNearest nearest = itm_nearest_start(typed->text, typed->length);
    for (int i = 0; i < nword; i++) {
        itm_nearest_offer(&nearest, words[i]);
    }
    if (nearest.best != NULL) {
        snprintf(buffer, size, "; nearest: '%s'", nearest.best);
        return;
    }
    snprintf(buffer, size, "; expected ");
    for (int i = 0; i < nword; i++) {
        size_t used = strlen(buffer);
        snprintf(buffer + used, size - used, "%s%s", i == 0 ? "" : i == nword - 1 ? " or " : ", ", words[i]);
    }
}

static bool is_scalar(ItmReader* r, const ItmNode* node, const char* expected)
{
    if (r->status != ITM_OK || node == NULL) {
        return false;
    }
    char found[64];
    if (node->kind != ITM_NODE_SCALAR || node->length == 0) {
        itm_reader_fail(r, node, "expected %s, found %s", expected, itm_document_describe(node, found, sizeof found));
        return false;
    }
    return true;
}

// ---------------------------------------------------------------------------- notes

void itm_reader_note(ItmReader* r, const char* note)
{
    ItmModelFile* file = r->file;
    char** grown = realloc(file->notes, (size_t)(file->nnote + 1) * sizeof *grown);
    char* copy = strdup(note);
    file->notes = grown != NULL ? grown : file->notes;
    if (grown == NULL || copy == NULL) {
        free(copy);
        r->status = itm_error_set(r->error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
        return;
    }
    file->notes[file->nnote++] = copy;
}

// ---------------------------------------------------------------------------- parameters

// Compute a parameter that an expression refers to, once.
static bool compute_parameter(void* context, const char* name, size_t length, int depth, ItmQuantity* value,
                              ItmExpressionError* error);

static bool has_parameter(void* context, const char* name, size_t length)
{
    return itm_names_find(&((ItmReader*)context)->parameter_names, name, length) != ITM_NONE;
}

ItmScope itm_reader_get_scope(ItmReader* r)
{
    return (ItmScope){.context = r, .find = compute_parameter, .has = has_parameter};
}

// YAML's words for what is no number to compute with.
static bool is_not_finite(const ItmNode* node)
{
    static const char* const WORDS[] = {".nan", ".NaN", ".NAN", ".inf", "-.inf", "+.inf", ".Inf", "-.Inf", ".INF"};
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
        if (strlen(WORDS[i]) == node->length && memcmp(WORDS[i], node->text, node->length) == 0) {
            return true;
        }
    }
    return false;
}

// Value of a scalar as an expression; complaints go to the place inside it.
static bool compute_scalar(ItmReader* r, const ItmNode* node, int depth, ItmQuantity* value)
{
    if (is_not_finite(node)) {
        itm_reader_fail(r, node, "expected a finite number, found '%.8s'", node->text);
        return false;
    }
    const ItmScope scope = itm_reader_get_scope(r);
    ItmExpressionError error;
    if (!itm_expression_compute(value, node->text, node->length, &scope, depth, &error)) {
        if (!error.is_elsewhere) {
            fail_at(r, node, error.offset, error.message);
        }
        return false;
    }
    return true;
}

static void suggest_parameter(const ItmReader* r, const char* name, size_t length, ItmExpressionError* error)
{
    ItmNearest nearest = itm_nearest_start(name, length);
    itm_reader_offer_names(&nearest, &r->parameter_names);
    int shown = (int)itm_utf8_cut(name, length, 64);
    snprintf(error->message, sizeof error->message, "there is no parameter '%.*s'%s%.64s%s", shown, name,
             nearest.best != NULL ? "; nearest: '" : "", nearest.best != NULL ? nearest.best : "",
             nearest.best != NULL ? "'" : "");
}

static bool compute_parameter(void* context, const char* name, size_t length, int depth, ItmQuantity* value,
                              ItmExpressionError* error)
{
    ItmReader* r = context;
    int index = itm_names_find(&r->parameter_names, name, length);
    if (index == ITM_NONE) {
        suggest_parameter(r, name, length, error);
        return false;
    }
    ItmParameter* parameter = &r->parameters[index];
    if (parameter->state == ITM_PARAMETER_OPEN) {
        snprintf(error->message, sizeof error->message, "parameter '%.*s' depends on itself",
                 (int)itm_utf8_cut(name, length, 64), name);
        return false;
    }
    if (parameter->state == ITM_PARAMETER_UNREAD) {
        parameter->state = ITM_PARAMETER_OPEN;
        if (!is_scalar(r, parameter->node, "a number") ||
            !compute_scalar(r, parameter->node, depth, &parameter->value)) {
            error->is_elsewhere = true;
            return false;
        }
        parameter->state = ITM_PARAMETER_KNOWN;
    }
    *value = parameter->value;
    return true;
}

// ---------------------------------------------------------------------------- numbers

ItmQuantity itm_reader_get_quantity(ItmReader* r, const ItmNode* node)
{
    ItmQuantity value = {.is_bare = true};
    if (is_scalar(r, node, "a number")) {
        compute_scalar(r, node, 0, &value);
    }
    return value;
}

double itm_reader_get_real(ItmReader* r, const ItmNode* node, ItmDimension dimension, double absent)
{
    if (node == NULL) {
        return absent;
    }
    ItmQuantity value = itm_reader_get_quantity(r, node);
    if (r->status == ITM_OK && !itm_quantity_fits(value, dimension)) {
        char want[64], got[64];
        bool is_angle = itm_quantity_fits((ItmQuantity){.is_bare = false}, dimension);  // rad and deg have no dimension
        itm_reader_fail(r, node, "wrong unit: expected %s%s, got %s",
                        itm_quantity_format_dimension(dimension, want, sizeof want), is_angle ? ", rad or deg" : "",
                        itm_quantity_format_dimension(value.dimension, got, sizeof got));
    }
    return r->status == ITM_OK ? value.value : absent;
}

int itm_reader_get_int(ItmReader* r, const ItmNode* node, int least, int most, int absent)
{
    double value = itm_reader_get_real(r, node, ITM_DIM_ONE, absent);
    if (!(value >= least && value <= most) || value != floor(value)) {
        itm_reader_fail(r, node, "expected a whole number from %d to %d, got %g", least, most, value);
        return absent;
    }
    return (int)value;
}

// Exactly n items of a list.
static bool get_items(ItmReader* r, const ItmNode* node, int n, const char* expected, const ItmNode** items)
{
    if (r->status != ITM_OK || node == NULL) {
        return false;
    }
    if (node->kind != ITM_NODE_LIST || node->count != n) {
        char found[64];
        bool lacks_commas = node->kind == ITM_NODE_LIST && node->count == 1 && n > 1 &&
                            node->first->value->kind == ITM_NODE_SCALAR &&
                            memchr(node->first->value->text, ' ', node->first->value->length) != NULL;
        itm_reader_fail(r, node, "expected %s, found %s%s", expected, itm_document_describe(node, found, sizeof found),
                        lacks_commas ? "; put commas between its items" : "");
        return false;
    }
    int i = 0;
    for (const ItmItem* item = node->first; item != NULL; item = item->next) {
        items[i++] = item->value;
    }
    return true;
}

ItmVec3 itm_reader_get_vec(ItmReader* r, const ItmNode* node, ItmDimension dimension, ItmVec3 absent)
{
    const ItmNode* items[3];
    if (!get_items(r, node, 3, "three numbers [x, y, z]", items)) {
        return absent;
    }
    return itm_vec(itm_reader_get_real(r, items[0], dimension, 0), itm_reader_get_real(r, items[1], dimension, 0),
                   itm_reader_get_real(r, items[2], dimension, 0));
}

// ---------------------------------------------------------------------------- orientation

static ItmQuat get_quaternion(ItmReader* r, const ItmNode* node)
{
    const ItmNode* items[4];
    double q[4] = {1, 0, 0, 0};
    if (get_items(r, node, 4, "a quaternion [w, x, y, z], {axis, angle} or {euler: [x, y, z]}", items)) {
        for (int i = 0; i < 4; i++) {
            q[i] = itm_reader_get_real(r, items[i], ITM_DIM_ONE, 0);
        }
        // half the numbers of a rotation by any angle are of order one: anything near zero is a
        // slip
        double norm = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        if (!(norm > 1e-9) || !(norm < 1e9)) {
            itm_reader_fail(r, node, "a quaternion must not be zero, and its numbers not be huge");
            return itm_quat_identity();
        }
    }
    return itm_quat_normalize((ItmQuat){q[0], q[1], q[2], q[3]});
}

// An angle beyond a turn is more likely a number of degrees.
void itm_reader_note_angle(ItmReader* r, const ItmNode* node, const char* what, double angle)
{
    const double turn = 2.0 * ITM_PI;
    if (r->status == ITM_OK && fabs(angle) > turn) {
        char note[240];
        snprintf(note, sizeof note, "%s:%d:%d: %s %.4g rad = %.4g deg; write '%.4g deg' if degrees are meant",
                 node->source, node->line, node->column, what, angle, angle * 360.0 / turn, angle);
        itm_reader_note(r, note);
    }
}

static ItmQuat turn(ItmVec3 axis, double angle)
{
    // sine and cosine of many turns are as good as those of one; reduce before squaring in exp
    return itm_quat_exp(itm_vec_scale(remainder(angle, 4.0 * ITM_PI), axis));
}

static ItmQuat get_turn(ItmReader* r, const ItmNode* axis_node, const ItmNode* angle_node)
{
    ItmVec3 axis = itm_reader_get_vec(r, axis_node, ITM_DIM_ONE, itm_vec(0, 0, 1));
    double angle = itm_reader_get_real(r, angle_node, ITM_DIM_ONE, 0.0);
    itm_reader_note_angle(r, angle_node, "this orientation turns by", angle);
    ItmPose frame = itm_pose_identity();
    if (r->status == ITM_OK) {
        ItmStatus status = itm_model_frame_from_axis(&frame, itm_vec(0, 0, 0), axis, itm_vec(0, 0, 0), r->error);
        itm_reader_take(r, status, axis_node, NULL, 0);
    }
    return r->status == ITM_OK ? turn(itm_quat_rotate(frame.q, itm_vec(0, 0, 1)), angle) : itm_quat_identity();
}

ItmQuat itm_reader_get_orientation(ItmReader* r, const ItmNode* node)
{
    if (r->status != ITM_OK || node == NULL) {
        return itm_quat_identity();
    }
    if (node->kind != ITM_NODE_MAP) {
        return get_quaternion(r, node);
    }
    enum { AXIS, ANGLE, EULER, NKEY };
    static const char* const KEYS[NKEY] = {"axis", "angle", "euler"};
    const ItmNode* v[NKEY];
    itm_reader_get_map(r, node, "an orientation", KEYS, NKEY, v);
    if (v[EULER] != NULL && (v[AXIS] != NULL || v[ANGLE] != NULL)) {
        itm_reader_fail(r, v[EULER], "give euler, or axis and angle, not both");
    }
    if (v[EULER] != NULL) {
        ItmVec3 e = itm_reader_get_vec(r, v[EULER], ITM_DIM_ONE, itm_vec(0, 0, 0));
        return itm_quat_mul(turn(itm_vec(0, 0, 1), e.z),
                            itm_quat_mul(turn(itm_vec(0, 1, 0), e.y), turn(itm_vec(1, 0, 0), e.x)));
    }
    itm_reader_require(r, node, v[AXIS], "an orientation", "axis");
    itm_reader_require(r, node, v[ANGLE], "an orientation", "angle");
    return get_turn(r, v[AXIS], v[ANGLE]);
}

// ---------------------------------------------------------------------------- words

const char* itm_reader_get_text(ItmReader* r, const ItmNode* node, const char* what)
{
    return is_scalar(r, node, what) ? node->text : NULL;
}

void itm_reader_check_name(ItmReader* r, const ItmNode* node)
{
    if (r->status == ITM_OK && itm_model_builder_check_name(ITM_ELEMENT_BODY, node->text, NULL) != ITM_OK) {
        itm_reader_fail(
            r, node,
            "a name has 1 to 64 bytes without white space or any of . , / = \", and does not begin with + - or @");
    }
}

void itm_reader_keep_reference(ItmReader* r, const char* name, const char* path)
{
    ItmModelFile* file = r->file;
    if (file == NULL) {
        return;
    }
    ItmFileReference* moved = realloc(file->references, ((size_t)file->nreference + 1) * sizeof *moved);
    ItmFileReference it = {moved != NULL ? strdup(name) : NULL, moved != NULL ? strdup(path) : NULL};
    if (moved != NULL) {
        file->references = moved;
        moved[file->nreference++] = it;
    }
    if (it.name == NULL || it.path == NULL) {
        r->status = itm_error_set(r->error, ITM_ERR_MEMORY, "itm_file_load", NULL, "out of memory");
    }
}

// The path with every symbolic link resolved, if it is below the folder that the model may read from; otherwise NULL. Whether a file
// outside exists is not revealed.
static char* confine(ItmReader* r, char* path, const char* name)
{
    char* root = realpath(r->root, NULL);
    char* real = itm_file_is_below(path, r->root) ? realpath(path, NULL) : NULL;
    if (root == NULL) {
        r->status =
            itm_error_set(r->error, ITM_ERR_IO, "itm_file_load_below", NULL, "there is no folder '%.200s'", r->root);
    } else if (real == NULL) {
        r->status =
            itm_error_set(r->error, ITM_ERR_INPUT, "itm_file_load_below", NULL,
                          "the model refers to '%.200s', which is no file below the sandbox '%.200s'", name, r->root);
        itm_error_locate(r->error, r->path, 0, 0);
    }
    free(path);
    free(root);
    return real;
}

char* itm_reader_make_path(ItmReader* r, const char* name)
{
    const char* slash = strrchr(r->path, '/');
    size_t length = name[0] == '/' || slash == NULL ? 0 : (size_t)(slash - r->path) + 1;
    char* path = malloc(length + strlen(name) + 1);
    if (path == NULL) {
        r->status = itm_error_set(r->error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
        return NULL;
    }
    memcpy(path, r->path, length);
    strcpy(path + length, name);
    itm_reader_keep_reference(r, name, path);
    return r->root != NULL ? confine(r, path, name) : path;
}

int itm_reader_get_word(ItmReader* r, const ItmNode* node, const char* what, const char* const* words, int nword,
                        int absent)
{
    if (node == NULL) {
        return absent;
    }
    if (!is_scalar(r, node, what)) {
        return ITM_NONE;
    }
    for (int i = 0; i < nword; i++) {
        if (strcmp(words[i], node->text) == 0) {
            return i;
        }
    }
    char hint[512], found[64];
    suggest(hint, sizeof hint, node, words, nword);
    itm_reader_fail(r, node, "%s is not %s%s", itm_document_describe(node, found, sizeof found), what, hint);
    return ITM_NONE;
}

int itm_reader_get_type(ItmReader* r, const ItmItem* item, const char* what, const char* kind, const char* const* types,
                        int ntype)
{
    if (!itm_reader_is_collection(r, item->value, what)) {
        return ITM_NONE;
    }
    const ItmNode* type = itm_document_find(item->value, "type");
    itm_reader_require(r, item->key, type, what, "type");
    return itm_reader_get_word(r, type, kind, types, ntype, ITM_NONE);
}

bool itm_reader_get_bool(ItmReader* r, const ItmNode* node, bool absent)
{
    static const char* const WORDS[] = {"false", "true"};
    return itm_reader_get_word(r, node, "true or false", WORDS, 2, absent) == 1;
}

// ---------------------------------------------------------------------------- mappings

// A mapping, or nothing at all: the lines under a key may all be commented out.
static bool is_map(ItmReader* r, const ItmNode* node, const char* what)
{
    if (r->status != ITM_OK || node == NULL) {
        return false;
    }
    bool is_nothing = node->kind == ITM_NODE_SCALAR && node->length == 0;
    if (node->kind != ITM_NODE_MAP && !is_nothing) {
        char found[64];
        bool is_results = node->kind == ITM_NODE_SCALAR && strncmp(node->text, "time,", 5) == 0;
        itm_reader_fail(r, node, "%s: expected a mapping (key: value), found %s%s", what,
                        itm_document_describe(node, found, sizeof found),
                        is_results ? "; this is a table of results: use interim report, plot or compare" : "");
        return false;
    }
    return true;
}

// Keys of earlier versions, each refused with the present one.
static const struct {
    const char *map, *former, *present;
} RENAMED_KEYS[] = {
    {"run", "output", "output_interval"},
    {"run", "elastic", "modal_rule"},
    {"cosim", "outputs", "aliases"},
    {"cosim", "subsystems", "overrides"},
    {"cosim", "elastic_model", "flexible_interface"},
};

// Keys that people put at the top of a file or into another section, and the section that has them.
static const char* const SECTION_OF[][2] = {
    {"gravity", "multibody"}, {"bodies", "multibody"},    {"joints", "multibody"}, {"materials", "multibody"},
    {"shapes", "multibody"},  {"contact", "multibody"},   {"duration", "run"},     {"step", "run"},
    {"stepper", "run"},       {"output_interval", "run"}, {"bonds", "cosim"},      {"wires", "cosim"},
    {"macro_step", "cosim"},  {"coupling", "cosim"},
};

// Keys that show that another kind of file was given.
static const struct {
    const char *what, *key, *hint;
} FOREIGN_KEYS[] = {
    {"a model file", "model", "this is a study file: use interim study"},
    {"a model file", "factors", "this is a study file: use interim study"},
    {"a model file", "results", "this file describes results: give the .csv file to interim report, plot or compare"},
    {"a study", "parameters", "this is a model file: use interim run; a study names it with 'model: FILE'"},
    {"a study", "multibody", "this is a model file: use interim run; a study names it with 'model: FILE'"},
    {"a study", "subsystems", "this is a model file: use interim run; a study names it with 'model: FILE'"},
};

static const char* find_section(const char* what, const char* key)
{
    bool is_top = strcmp(what, "a model file") == 0;
    bool is_section = strcmp(what, "multibody") == 0 || strcmp(what, "run") == 0 || strcmp(what, "cosim") == 0;
    for (size_t i = 0; i < sizeof SECTION_OF / sizeof SECTION_OF[0]; i++) {
        if (strcmp(SECTION_OF[i][0], key) == 0 && (is_top || (is_section && strcmp(SECTION_OF[i][1], what) != 0))) {
            return SECTION_OF[i][1];
        }
    }
    return NULL;
}

static void fail_unknown_key(ItmReader* r, const ItmNode* key, const char* what, const char* const* keys, int nkey)
{
    char hint[512], found[64];
    itm_document_describe(key, found, sizeof found);
    for (size_t i = 0; i < sizeof RENAMED_KEYS / sizeof RENAMED_KEYS[0]; i++) {
        if (strcmp(what, RENAMED_KEYS[i].map) == 0 && strcmp(key->text, RENAMED_KEYS[i].former) == 0) {
            itm_reader_fail(r, key, "%s is now '%s' in %s", found, RENAMED_KEYS[i].present, what);
            return;
        }
    }
    for (size_t i = 0; i < sizeof FOREIGN_KEYS / sizeof FOREIGN_KEYS[0]; i++) {
        if (strcmp(what, FOREIGN_KEYS[i].what) == 0 && strcmp(key->text, FOREIGN_KEYS[i].key) == 0) {
            itm_reader_fail(r, key, "%s is not a key of %s; %s", found, what, FOREIGN_KEYS[i].hint);
            return;
        }
    }
    const char* section = find_section(what, key->text);
    if (section != NULL) {
        itm_reader_fail(r, key, "%s is not a key of %s; it is one of '%s'", found, what, section);
        return;
    }
    suggest(hint, sizeof hint, key, keys, nkey);
    itm_reader_fail(r, key, "%s is not a key of %s%s", found, what, hint);
}

void itm_reader_get_map(ItmReader* r, const ItmNode* node, const char* what, const char* const* keys, int nkey,
                        const ItmNode** values)
{
    memset(values, 0, (size_t)nkey * sizeof *values);
    if (!is_map(r, node, what)) {
        return;
    }
    for (const ItmItem* item = node->first; item != NULL; item = item->next) {
        int i = 0;
        while (i < nkey && strcmp(keys[i], item->key->text) != 0) {
            i++;
        }
        if (i == nkey) {
            fail_unknown_key(r, item->key, what, keys, nkey);
            return;
        }
        values[i] = item->value;
    }
}

void itm_reader_require(ItmReader* r, const ItmNode* map, const ItmNode* value, const char* what, const char* key)
{
    if (value == NULL) {
        itm_reader_fail(r, map, "%s needs '%s'", what, key);
    }
}

bool itm_reader_is_collection(ItmReader* r, const ItmNode* node, const char* what)
{
    return is_map(r, node, what);
}
