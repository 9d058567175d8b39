#define _XOPEN_SOURCE 700  // realpath
#include "io/model/file.h"

#include "base/error.h"
#include "fmi/fmu.h"
#include "hydraulics/circuit_builder.h"
#include "io/model/reader.h"
#include "fmi/mechanism.h"
#include "stepper/stepper.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------- the document

static void read_version(ItmReader* r, const ItmNode* node)
{
    double version = itm_reader_get_real(r, node, ITM_DIM_ONE, 1.0);
    if (r->status == ITM_OK && version != 1.0) {
        itm_reader_fail(r, node, "this version of Interim reads format 1, not %g", version);
    }
}

static void read_title(ItmReader* r, const ItmNode* node, char** title)
{
    const char* text = itm_reader_get_text(r, node, "a title");
    free(*title);
    *title = strdup(text != NULL ? text : "");
    if (*title == NULL) {
        r->status = itm_error_set(r->error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
    }
}

static void read_root(ItmReader* r, const ItmNode* root, ItmModelFile* file)
{
    enum { VERSION, TITLE, PARAMETERS, SIGNALS, MULTIBODY, SUBSYSTEMS, COSIM, RUN, NKEY };
    static const char* const KEYS[NKEY] = {"interim",   "title",      "parameters", "signals",
                                           "multibody", "subsystems", "cosim",      "run"};
    const ItmNode* v[NKEY];
    itm_reader_get_map(r, root, "a model file", KEYS, NKEY, v);
    if (v[MULTIBODY] == NULL && v[SUBSYSTEMS] == NULL) {
        itm_reader_fail(r, root, "a model file needs 'multibody' or 'subsystems'");
    }
    itm_read_parameters(r, v[PARAMETERS]);
    read_version(r, v[VERSION]);
    read_title(r, v[TITLE], &file->title);
    itm_read_signals(r, v[SIGNALS]);
    itm_read_multibody(r, v[MULTIBODY]);
    itm_read_subsystems(r, v[SUBSYSTEMS]);
    itm_read_cosim(r, v[COSIM]);
    itm_read_run(r, v[RUN], &file->run);
    if (r->status == ITM_OK && file->name == NULL) {
        file->name = calloc(1, 1);
        r->status =
            file->name != NULL ? ITM_OK : itm_error_set(r->error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
    }
}

// An override without a unit is the likely cause of units that do not match elsewhere.
static void blame_override(const ItmDocument* doc, ItmError* error)
{
    bool is_about_units =
        error != NULL && (strstr(error->message, "cannot ") != NULL || strstr(error->message, "unit") != NULL);
    if (doc->unitless != NULL && is_about_units) {
        size_t used = strlen(error->message);
        snprintf(error->message + used, sizeof error->message - used,
                 "; '%.120s' has no unit, the file has '%.40s' there", doc->unitless, doc->quantity->text);
    }
}

ItmStatus itm_file_read_document(ItmModelFile* file, ItmFileParts* parts, ItmDocument* doc, const char* name,
                                 const char* root, const char* const* overrides, int noverride, ItmError* error)
{
    ItmStatus status = ITM_OK;
    for (int i = 0; i < noverride && status == ITM_OK; i++) {
        status = itm_override_apply(doc, overrides[i], error);
    }
    if (status != ITM_OK) {
        return status;
    }
    ItmReader r = {.doc = doc, .error = error, .path = name, .root = root, .file = file, .parts = parts};
    read_root(&r, doc->root, file);
    free(r.parameters);
    free(r.signals);
    itm_names_free(&r.parameter_names);
    itm_names_free(&r.signal_names);
    if (r.status == ITM_ERR_INPUT) {
        blame_override(doc, error);
    }
    return r.status;
}

ItmStatus itm_file_read(ItmModelFile* file, ItmFileParts* parts, ItmDocument* doc, const char* text, size_t length,
                        const char* name, const char* root, const char* const* overrides, int noverride,
                        ItmError* error)
{
    ItmStatus status = itm_yaml_parse(&doc->root, doc, text, length, name, 1, error);
    return status == ITM_OK ? itm_file_read_document(file, parts, doc, name, root, overrides, noverride, error)
                            : status;
}

void itm_file_parts_clear(ItmFileParts* parts)
{
    for (int i = 0; i < parts->nmechanism; i++) {
        itm_model_builder_destroy(parts->mechanisms[i].builder);
    }
    free(parts->mechanisms);
    for (int i = 0; i < parts->ncircuit; i++) {
        itm_circuit_builder_destroy(parts->circuits[i].builder);
    }
    free(parts->circuits);
    *parts = (ItmFileParts){0};
}

// ---------------------------------------------------------------------------- the model

// Whether an entry of the file gave an element its name: its own, or with a part behind it ("box-shape",
// "hinge-limit").
static bool is_named_by(const char* element, const char* key)
{
    size_t n = strlen(key);
    return strncmp(element, key, n) == 0 &&
           (element[n] == '\0' || strcmp(element + n, "-shape") == 0 || strncmp(element + n, "-limit", 6) == 0 ||
            strncmp(element + n, "-friction", 9) == 0);
}

// An element that the compiler of models complains about, by its name; or the whole multibody part.
static void locate_element(const ItmNode* multibody, ItmError* error)
{
    static const char* const COLLECTIONS[] = {"bodies", "joints", "couplings", "motions", "forces", "shapes", "points"};
    if (error == NULL) {
        return;
    }
    itm_document_locate(multibody, 0, error);
    for (int i = 0; i < ITM_COUNT(COLLECTIONS); i++) {
        const ItmNode* collection = itm_document_find(multibody, COLLECTIONS[i]);
        for (const ItmItem* item = collection != NULL ? collection->first : NULL; item != NULL; item = item->next) {
            if (item->key != NULL && is_named_by(error->field, item->key->text)) {
                itm_document_locate(item->key, 0, error);
            }
        }
    }
}

static ItmStatus check_stepper(const ItmModelFile* file, const ItmDocument* doc, ItmError* error)
{
    ItmStatus status = itm_stepper_check(file->model, file->run.step.stepper, error);
    const ItmNode* run = itm_document_find(doc->root, "run");
    const ItmNode* node = run != NULL ? itm_document_find(run, "stepper") : NULL;
    if (status != ITM_OK && error != NULL && node != NULL) {
        itm_document_locate(node, 0, error);
    }
    return status;
}

// The part of a full name behind the name of its subsystem, or NULL.
static const char* strip_name(const char* full, const char* name)
{
    size_t n = strlen(name);
    return strncmp(full, name, n) == 0 && full[n] == '.' ? full + n + 1 : NULL;
}

// A cylinder of the file without start_length has that of the actuator that a bond connects with it, also where the circuit runs alone.
static void fill_start_lengths(const ItmModelFile* file, const ItmFileParts* parts)
{
    for (int i = 0; i < file->cosim.nbond * file->nmechanism * file->ncircuit; i++) {
        const ItmFileBond* bond = &file->cosim.bonds[i / (file->nmechanism * file->ncircuit)];
        const ItmFileMechanism* mechanism = &file->mechanisms[i / file->ncircuit % file->nmechanism];
        const ItmFileCircuit* circuit = &file->circuits[i % file->ncircuit];
        const char *actuator = strip_name(bond->actuator, mechanism->name),
                   *port = strip_name(bond->port, circuit->name);
        int id = actuator != NULL && port != NULL ? itm_model_find_actuator(mechanism->model, actuator) : ITM_NONE;
        ItmCircuitBuilder* b = parts->circuits[i % file->ncircuit].builder;
        for (int k = 0; k < b->cylinders.count && id != ITM_NONE; k++) {
            ItmCylinderDef* def = &b->cylinders.items[k];
            if (strcmp(def->name, port) == 0 && isnan(def->start_length) && def->motion == ITM_NONE) {
                def->start_length = itm_model_get_start_length(mechanism->model, id);
            }
        }
    }
}

static ItmStatus build_all(ItmModelFile* file, const ItmFileParts* parts, ItmDocument* doc, ItmError* error)
{
    ItmStatus status = ITM_OK;
    for (int i = 0; i < parts->nmechanism && status == ITM_OK; i++) {
        status = itm_model_build(&file->mechanisms[i].model, parts->mechanisms[i].builder, error);
        if (status != ITM_OK) {
            locate_element(parts->mechanisms[i].node, error);
        }
    }
    if (status == ITM_OK && parts->nmechanism > 0 &&
        itm_document_find(doc->root, "multibody") == parts->mechanisms[0].node) {
        file->model = file->mechanisms[0].model;
    }
    if (status == ITM_OK && file->model != NULL) {
        status = check_stepper(file, doc, error);
    }
    if (status == ITM_OK) {
        fill_start_lengths(file, parts);
    }
    for (int i = 0; i < parts->ncircuit && status == ITM_OK; i++) {
        status = itm_file_build_circuit(&file->circuits[i], &parts->circuits[i], doc, error);
    }
    status = status == ITM_OK ? itm_reader_check_file_connections(file, error) : status;
    return status == ITM_OK ? itm_file_note_units(file, error) : status;
}

// Path, text and overrides, from which results record their origin.
static ItmStatus keep_source(ItmModelFile* file, const char* path, const char* text, size_t length,
                             const char* const* overrides, int noverride, ItmError* error)
{
    file->path = strdup(path);
    file->text = text != NULL ? malloc(length + 1) : NULL;
    file->overrides = calloc((size_t)noverride + 1, sizeof *file->overrides);
    bool is_kept = file->path != NULL && (text == NULL || file->text != NULL) && file->overrides != NULL;
    if (is_kept && text != NULL) {
        memcpy(file->text, text, length);
        file->text[length] = '\0';
        file->length = length;
    }
    for (int i = 0; i < noverride && is_kept; i++) {
        file->overrides[i] = strdup(overrides[i]);
        file->noverride++;
        is_kept = file->overrides[i] != NULL;
    }
    return is_kept ? ITM_OK : itm_error_set(error, ITM_ERR_MEMORY, "itm_file_load", NULL, "out of memory");
}

// The second half, if the first one was fine; frees what only reading needs, and everything on failure.
static ItmStatus finish(ItmModelFile** file, ItmModelFile* read, ItmFileParts* parts, ItmDocument* doc,
                        ItmStatus status, ItmError* error)
{
    status = status == ITM_OK ? build_all(read, parts, doc, error) : status;
    itm_file_parts_clear(parts);
    itm_document_free(doc);
    if (status != ITM_OK) {
        itm_file_destroy(read);
        return status;
    }
    *file = read;
    return ITM_OK;
}

ItmStatus itm_file_build_document(ItmModelFile** file, ItmDocument* doc, const char* text, size_t length,
                                  const char* name, const char* root, const char* const* overrides, int noverride,
                                  ItmError* error)
{
    *file = NULL;
    ItmModelFile* read = calloc(1, sizeof *read);
    if (read == NULL) {
        itm_document_free(doc);
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
    }
    ItmFileParts parts = {0};
    ItmStatus status = keep_source(read, name, text, length, overrides, noverride, error);
    status =
        status == ITM_OK ? itm_file_read_document(read, &parts, doc, name, root, overrides, noverride, error) : status;
    return finish(file, read, &parts, doc, status, error);
}

// As itm_file_parse; root: as for itm_file_load_below.
static ItmStatus parse_below(ItmModelFile** file, const char* text, size_t length, const char* name, const char* root,
                             const char* const* overrides, int noverride, ItmError* error)
{
    if (file == NULL || (text == NULL && length > 0) || name == NULL || (overrides == NULL && noverride > 0)) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, "itm_file_parse", NULL, "file, text, name or overrides is NULL");
    }
    *file = NULL;
    ItmModelFile* read = calloc(1, sizeof *read);
    if (read == NULL) {
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
    }
    ItmDocument doc = {0};
    ItmFileParts parts = {0};
    ItmStatus status = keep_source(read, name, text != NULL ? text : "", length, overrides, noverride, error);
    status = status == ITM_OK ? itm_file_read(read, &parts, &doc, text != NULL ? text : "", length, name, root,
                                              overrides, noverride, error)
                              : status;
    return finish(file, read, &parts, &doc, status, error);
}

ItmStatus itm_file_parse(ItmModelFile** file, const char* text, size_t length, const char* name,
                         const char* const* overrides, int noverride, ItmError* error)
{
    return parse_below(file, text, length, name, NULL, overrides, noverride, error);
}

// ---------------------------------------------------------------------------- the file

static ItmStatus fail_reading(ItmError* error, const char* path, const char* why)
{
    ItmStatus status = itm_error_set(error, ITM_ERR_IO, "itm_file_load", NULL, "cannot read it: %s", why);
    itm_error_locate(error, path, 0, 0);
    return status;
}

// The whole file, or one byte more than is allowed, so that whoever parses it complains.
static char* read_bytes(FILE* stream, size_t* length)
{
    const size_t most = itm_document_get_max_bytes() + 1;
    size_t capacity = 0;
    char* bytes = NULL;
    *length = 0;
    while (*length == capacity && capacity < most) {
        capacity = capacity == 0 ? (size_t)64 << 10 : 2 * capacity;
        capacity = capacity < most ? capacity : most;
        char* moved = realloc(bytes, capacity);
        if (moved == NULL) {
            free(bytes);
            return NULL;
        }
        bytes = moved;
        *length += fread(bytes + *length, 1, capacity - *length, stream);
    }
    return bytes;
}

static bool has_ending(const char* path, const char* ending)
{
    size_t n = strlen(path), k = strlen(ending);
    return n > k && strcmp(path + n - k, ending) == 0;
}

// ---------------------------------------------------------------------------- system structures

static ItmStatus add_notes(ItmModelFile* file, const ItmSsp* ssp, ItmError* error)
{
    ItmReader r = {.file = file, .error = error};
    for (int i = 0; i < ssp->notes.count && r.status == ITM_OK; i++) {
        itm_reader_note(&r, ssp->notes.items[i]);
    }
    return r.status;
}

// A structure in a ZIP file is unpacked for as long as the model file lives: its FMUs are files.
static ItmStatus read_structure(ItmModelFile* file, ItmDocument* doc, const char* path, const char** folder,
                                ItmError* error)
{
    ItmSsp* ssp = NULL;
    ItmStatus status;
    *folder = NULL;
    if (has_ending(path, ".ssd")) {
        status = itm_ssp_read_file(&ssp, path, error);
    } else {
        status = itm_archive_open(&file->archive, path, NULL, error);
        status = status == ITM_OK ? itm_ssp_read(&ssp, file->archive, error) : status;
        status = status == ITM_OK ? itm_archive_unpack(file->archive, folder, error) : status;
    }
    status = status == ITM_OK ? add_notes(file, ssp, error) : status;
    status = status == ITM_OK ? itm_file_make_ssp_document(doc, ssp, *folder, error) : status;
    itm_ssp_destroy(ssp);
    return status;
}

// References of a structure in an archive stay inside of it.
static ItmStatus load_structure(ItmModelFile** file, const char* path, const char* root, const char* const* overrides,
                                int noverride, ItmError* error)
{
    ItmModelFile* read = calloc(1, sizeof *read);
    if (read == NULL) {
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
    }
    const char* folder;
    ItmDocument doc = {0};
    ItmFileParts parts = {0};
    ItmStatus status = keep_source(read, path, NULL, 0, overrides, noverride, error);
    status = status == ITM_OK ? read_structure(read, &doc, path, &folder, error) : status;
    if (status == ITM_OK) {
        status = itm_file_read_document(read, &parts, &doc, path, folder != NULL ? folder : root, overrides, noverride,
                                        error);
    }
    return finish(file, read, &parts, &doc, status, error);
}

// ---------------------------------------------------------------------------- loading

// A robot description alone is a model with nothing else in it.
static ItmStatus load_urdf(ItmModelFile** file, const char* path, const char* root, const char* const* overrides,
                           int noverride, ItmError* error)
{
    const char* slash = strrchr(path, '/');
    const char* name = slash != NULL ? slash + 1 : path;
    size_t size = 2 * strlen(name) + 64;
    char* text = malloc(size);
    if (text == NULL) {
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
    }
    size_t n = (size_t)snprintf(text, size, "multibody: {urdf: {file: '");
    for (; *name != '\0'; name++) {
        text[n++] = *name;
        if (*name == '\'') {
            text[n++] = '\'';
        }
    }
    n += (size_t)snprintf(text + n, size - n, "'}}\n");
    ItmStatus status = parse_below(file, text, n, path, root, overrides, noverride, error);
    free(text);
    return status;
}

ItmStatus itm_file_load(ItmModelFile** file, const char* path, const char* const* overrides, int noverride,
                        ItmError* error)
{
    return itm_file_load_below(file, path, NULL, overrides, noverride, error);
}

bool itm_file_is_below(const char* path, const char* root)
{
    if (root == NULL || path == NULL) {
        return path != NULL;
    }
    char *folder = realpath(root, NULL), *real = realpath(path, NULL);
    size_t n = folder != NULL ? strlen(folder) : 0;
    bool is_below = folder != NULL && real != NULL &&
                    (strcmp(folder, "/") == 0 || (strncmp(real, folder, n) == 0 && real[n] == '/'));
    free(folder);
    free(real);
    return is_below;
}

ItmStatus itm_file_load_below(ItmModelFile** file, const char* path, const char* root, const char* const* overrides,
                              int noverride, ItmError* error)
{
    if (file == NULL || path == NULL) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "file or path is NULL");
    }
    *file = NULL;
    FILE* stream = fopen(path, "rb");
    if (stream != NULL && (has_ending(path, ".ssp") || has_ending(path, ".ssd"))) {
        fclose(stream);
        return load_structure(file, path, root, overrides, noverride, error);
    }
    if (stream != NULL && has_ending(path, ".urdf")) {
        fclose(stream);
        return load_urdf(file, path, root, overrides, noverride, error);
    }
    if (stream == NULL) {
        return fail_reading(error, path, strerror(errno));
    }
    size_t length;
    errno = 0;
    char* bytes = read_bytes(stream, &length);
    bool has_failed = bytes == NULL || ferror(stream);
    int why = errno;
    fclose(stream);
    ItmStatus status = has_failed ? fail_reading(error, path, strerror(why != 0 ? why : ENOMEM))
                                  : parse_below(file, bytes, length, path, root, overrides, noverride, error);
    free(bytes);
    return status;
}

static void clear_mechanism(ItmFileMechanism* mechanism)
{
    free(mechanism->name);
    itm_model_destroy(mechanism->model);
    for (int i = 0; i < mechanism->ninterface; i++) {
        free(mechanism->interfaces[i].name);
        free(mechanism->interfaces[i].body);
        free(mechanism->interfaces[i].place.file);
    }
    free(mechanism->interfaces);
}

void itm_file_clear(ItmModelFile* file)
{
    free(file->path);
    free(file->text);
    for (int i = 0; i < file->noverride; i++) {
        free(file->overrides[i]);
    }
    free(file->overrides);
    free(file->title);
    free(file->name);
    for (int i = 0; i < file->nmechanism; i++) {
        clear_mechanism(&file->mechanisms[i]);
    }
    free(file->mechanisms);
    for (int i = 0; i < file->ncircuit; i++) {
        ItmFileCircuit* circuit = &file->circuits[i];
        free(circuit->name);
        itm_circuit_destroy(circuit->circuit);
        free(circuit->is_free);
        free(circuit->force);
        free(circuit->start.file);
    }
    free(file->circuits);
    for (int i = 0; i < file->ncontrol; i++) {
        free(file->controls[i].name);
        itm_control_destroy(file->controls[i].control);
    }
    free(file->controls);
    for (int i = 0; i < file->nfmu; i++) {
        free(file->fmus[i].name);
        free(file->fmus[i].place.file);
        itm_fmu_close(file->fmus[i].fmu);
        for (int k = 0; k < file->fmus[i].nport; k++) {
            struct ItmFmuMechanismPort* port = &file->fmus[i].ports[k];
            free(port->name);
            free(port->force);
            free(port->rate);
            free(port->position);
        }
        free(file->fmus[i].ports);
    }
    free(file->fmus);
    for (int i = 0; i < file->ndrive; i++) {
        free(file->drives[i].name);
        itm_drives_destroy(file->drives[i].drives);
    }
    free(file->drives);
    for (int i = 0; i < file->nexternal; i++) {
        free(file->externals[i].name);
        free(file->externals[i].place.file);
    }
    free(file->externals);
    for (int i = 0; i < file->nconnection; i++) {
        free(file->connections[i].from);
        free(file->connections[i].to);
        free(file->connections[i].place.file);
    }
    free(file->connections);
    for (int i = 0; i < file->nnote; i++) {
        free(file->notes[i]);
    }
    free(file->notes);
    for (int i = 0; i < file->nparameter; i++) {
        free(file->parameters[i].name);
        free(file->parameters[i].unit);
    }
    free(file->parameters);
    for (int i = 0; i < file->nreference; i++) {
        free(file->references[i].name);
        free(file->references[i].path);
    }
    free(file->references);
    for (int i = 0; i < file->cosim.nbond; i++) {
        free(file->cosim.bonds[i].actuator);
        free(file->cosim.bonds[i].port);
        free(file->cosim.bonds[i].place.file);
    }
    free(file->cosim.bonds);
    for (int i = 0; i < file->cosim.nalias; i++) {
        free(file->cosim.aliases[i].from);
        free(file->cosim.aliases[i].to);
        free(file->cosim.aliases[i].place.file);
    }
    free(file->cosim.aliases);
    for (int i = 0; i < file->cosim.nplacement; i++) {
        free((char*)file->cosim.placement[i].name);
    }
    free(file->cosim.placement);
    free(file->cosim.place.file);
    itm_archive_close(file->archive);
    *file = (ItmModelFile){0};
}

void itm_file_destroy(ItmModelFile* file)
{
    if (file != NULL) {
        itm_file_clear(file);
        free(file);
    }
}
