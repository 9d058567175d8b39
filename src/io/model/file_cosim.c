// From a file to a running system.
#include "io/model/file.h"

#include "base/error.h"
#include "base/guard.h"
#include "base/nearest.h"
#include "fmi/mechanism.h"
#include "hydraulics/circuit.h"
#include "multibody/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------- places

static void locate(ItmError* error, const ItmFilePlace* place)
{
    if (place->line > 0) {
        itm_error_locate(error, place->file, place->line, place->column);
    }
}

// What the error is about, by the name in its field; the section cosim otherwise.
static ItmStatus place_error(const ItmModelFile* file, ItmStatus status, ItmError* error)
{
    if (error == NULL) {
        return status;
    }
    const ItmFilePlace* place = &file->cosim.place;
    for (int i = 0; i < file->nconnection; i++) {
        const ItmFileConnection* c = &file->connections[i];
        if (strcmp(error->field, c->from) == 0 || strcmp(error->field, c->to) == 0) {
            place = &c->place;
        }
    }
    for (int i = 0; i < file->cosim.nalias; i++) {
        if (strcmp(error->field, file->cosim.aliases[i].to) == 0) {
            place = &file->cosim.aliases[i].place;
        }
    }
    for (int i = 0; i < file->cosim.nbond; i++) {
        const char* actuator = strchr(file->cosim.bonds[i].actuator, '.');
        if (actuator != NULL && strcmp(error->field, actuator + 1) == 0) {
            place = &file->cosim.bonds[i].place;
        }
    }
    locate(error, place);
    return status;
}

// ---------------------------------------------------------------------------- parts

// Number of an FMU among the mechanisms, after those of the file, or among the FMUs that are subsystems.
static int count_fmus_before(const ItmModelFile* file, int fmu, bool is_mechanism)
{
    int n = 0;
    for (int i = 0; i < fmu; i++) {
        n += (file->fmus[i].nport > 0) == is_mechanism;
    }
    return n;
}

static bool names_part(const char* name, const char* full, size_t n)
{
    return strlen(name) == n && strncmp(name, full, n) == 0;
}

// Number of the subsystem whose port is named ("hydraulics.cyl1"), and the port's own name. Circuits come first, then controls, drives,
// FMUs and external subsystems.
static int find_ports(const ItmModelFile* file, const char* full, const char** port)
{
    size_t n = strcspn(full, ".");
    int found = ITM_NONE, drives = file->ncircuit + file->ncontrol, fmus = drives + file->ndrive;
    for (int i = 0; i < file->ncircuit && full[n] == '.'; i++) {
        found = names_part(file->circuits[i].name, full, n) ? i : found;
    }
    for (int i = 0; i < file->ndrive && full[n] == '.'; i++) {
        found = names_part(file->drives[i].name, full, n) ? drives + i : found;
    }
    for (int i = 0; i < file->nfmu && full[n] == '.'; i++) {
        bool is_partner = file->fmus[i].nport == 0 && names_part(file->fmus[i].name, full, n);
        found = is_partner ? fmus + count_fmus_before(file, i, false) : found;
    }
    int externals = fmus + count_fmus_before(file, file->nfmu, false);
    for (int i = 0; i < file->nexternal && full[n] == '.'; i++) {
        found = names_part(file->externals[i].name, full, n) ? externals + i : found;
    }
    *port = found != ITM_NONE ? full + n + 1 : *port;
    return found;
}

// Number of the mechanism that an end of a bond names, and the end's own name.
static int find_mechanism(const ItmModelFile* file, const char* full, const char** end)
{
    size_t n = strcspn(full, ".");
    for (int i = 0; i < file->nmechanism && full[n] == '.'; i++) {
        if (strlen(file->mechanisms[i].name) == n && strncmp(file->mechanisms[i].name, full, n) == 0) {
            *end = full + n + 1;
            return i;
        }
    }
    for (int i = 0; i < file->nfmu && full[n] == '.'; i++) {
        const ItmFileFmu* f = &file->fmus[i];
        if (f->nport > 0 && strlen(f->name) == n && strncmp(f->name, full, n) == 0) {
            *end = full + n + 1;
            return file->nmechanism + count_fmus_before(file, i, true);
        }
    }
    return ITM_NONE;
}

// Interfaces are numbered through, mechanism by mechanism.
static int find_interface(const ItmModelFile* file, int mechanism, const char* name)
{
    int id = 0;
    if (mechanism >= file->nmechanism) {
        return ITM_NONE;
    }
    for (int i = 0; i < mechanism; i++) {
        id += file->mechanisms[i].ninterface;
    }
    for (int i = 0; i < file->mechanisms[mechanism].ninterface; i++) {
        if (strcmp(file->mechanisms[mechanism].interfaces[i].name, name) == 0) {
            return id + i;
        }
    }
    return ITM_NONE;
}

static ItmStatus add_frame_bond(ItmCosimBuilder* b, const ItmModelFile* file, const ItmFileBond* bond, int first,
                                const char* first_name, int second, const char* second_name, ItmError* error)
{
    int ends[2] = {find_interface(file, first, first_name), find_interface(file, second, second_name)};
    for (int k = 0; k < 2; k++) {
        if (ends[k] == ITM_NONE && (k == 0 ? first : second) >= file->nmechanism) {
            return itm_error_set(error, ITM_ERR_INPUT, "itm_file_create_cosim", NULL,
                                 "an FMU that is a mechanism has power ports only, no frames: '%s'",
                                 k == 0 ? bond->actuator : bond->port);
        }
        if (ends[k] == ITM_NONE) {
            return itm_error_set(error, ITM_ERR_INPUT, "itm_file_create_cosim", NULL,
                                 "mechanism '%s' has no interface '%s': name one in its section 'interfaces'",
                                 file->mechanisms[k == 0 ? first : second].name, k == 0 ? first_name : second_name);
        }
    }
    return itm_cosim_builder_add_frame_bond(b, ends[0], ends[1], &bond->options, error);
}

static bool is_word(const char* name, const char* word)
{
    return strcmp(name, word) == 0;
}

// The nearest actuator or cylinder, or all of them, behind the message about one that is not there.
static void suggest_ends(ItmError* error, const ItmFileMechanism* mechanism, const char* actuator,
                         const ItmFileCircuit* circuit, const char* cylinder)
{
    const ItmModel* m = mechanism->model;
    bool is_actuator = is_word(error->field, "actuator");
    int count = is_actuator ? m->nactuator : circuit->circuit->ncyl;
    ItmNearest nearest =
        itm_nearest_start(is_actuator ? actuator : cylinder, strlen(is_actuator ? actuator : cylinder));
    char list[160] = "";
    for (int i = 0; i < count; i++) {
        const char* name = is_actuator ? m->scalar_forces[m->actuator_force[i]].name
                                       : itm_circuit_get_cylinder_name(circuit->circuit, i);
        size_t used = strlen(list);
        itm_nearest_offer(&nearest, name);
        snprintf(list + used, sizeof list - used, "%s'%s'", i > 0 ? ", " : "", name);
    }
    size_t used = strlen(error->message);
    char hint[120];
    bool is_joint = is_actuator && itm_model_find_joint(m, actuator) != ITM_NONE;
    snprintf(error->message + used, sizeof error->message - used, "%s%s%s",
             is_joint ? "; it is a joint, and bonds connect actuators" : "",
             nearest.best != NULL ? itm_nearest_format(&nearest, hint, sizeof hint)
             : count > 0          ? "; there is "
                                  : "; there is none",
             nearest.best == NULL ? list : "");
}

// "; nearest: 'hydraulics'" for the first word of an end of a bond that names no part of the file.
static const char* suggest_part(const ItmModelFile* file, const char* full, char* buffer, size_t size)
{
    ItmNearest nearest = itm_nearest_start(full, strcspn(full, "."));
    for (int i = 0; i < file->nmechanism; i++) {
        itm_nearest_offer(&nearest, file->mechanisms[i].name);
    }
    for (int i = 0; i < file->ncircuit; i++) {
        itm_nearest_offer(&nearest, file->circuits[i].name);
    }
    for (int i = 0; i < file->ndrive; i++) {
        itm_nearest_offer(&nearest, file->drives[i].name);
    }
    for (int i = 0; i < file->nfmu; i++) {
        itm_nearest_offer(&nearest, file->fmus[i].name);
    }
    for (int i = 0; i < file->nexternal; i++) {
        itm_nearest_offer(&nearest, file->externals[i].name);
    }
    return nearest.best != NULL ? itm_nearest_format(&nearest, buffer, size) : "";
}

static ItmStatus refuse_first_end(const ItmModelFile* file, const ItmFileBond* bond, ItmError* error)
{
    const char* name = NULL;
    if (find_ports(file, bond->actuator, &name) != ITM_NONE && find_mechanism(file, bond->port, &name) != ITM_NONE) {
        return itm_error_set(error, ITM_ERR_INPUT, "itm_file_create_cosim", NULL,
                             "a bond begins with the mechanism: write '%s: %s'", bond->port, bond->actuator);
    }
    char hint[120];
    bool has_name = file->nmechanism > 0 && file->mechanisms[0].name[0] != '\0';
    return itm_error_set(error, ITM_ERR_INPUT, "itm_file_create_cosim", NULL,
                         "a bond begins with an actuator of a mechanism, as in '%s.cyl1', not '%s'%s",
                         has_name ? file->mechanisms[0].name : "arm", bond->actuator,
                         suggest_part(file, bond->actuator, hint, sizeof hint));
}

static ItmStatus add_bond(ItmCosimBuilder* b, const ItmModelFile* file, const ItmFileBond* bond, ItmError* error)
{
    const char *first_name = NULL, *second_name = NULL;
    int first = find_mechanism(file, bond->actuator, &first_name),
        second = find_mechanism(file, bond->port, &second_name);
    int subsystem = second == ITM_NONE ? find_ports(file, bond->port, &second_name) : ITM_NONE;
    ItmStatus status;
    if (first == ITM_NONE) {
        status = refuse_first_end(file, bond, error);
    } else if (second != ITM_NONE) {
        status = add_frame_bond(b, file, bond, first, first_name, second, second_name, error);
    } else if (subsystem == ITM_NONE) {
        char hint[120];
        status = itm_error_set(
            error, ITM_ERR_INPUT, "itm_file_create_cosim", NULL,
            "a bond ends at a cylinder or motor of a circuit, as in 'hydraulics.cyl1', at a drive, at a port of an FMU or an "
            "external subsystem, or at an interface of a mechanism, not at '%s'%s",
            bond->port, suggest_part(file, bond->port, hint, sizeof hint));
    } else {
        status = itm_cosim_builder_add_bond(b, first, first_name, subsystem, second_name, &bond->options, error);
        bool is_unknown = status != ITM_OK && error != NULL && strstr(error->message, "' has no ") != NULL;
        bool is_plain = first < file->nmechanism && subsystem < file->ncircuit;
        if (is_unknown && is_plain && (is_word(error->field, "actuator") || is_word(error->field, "port"))) {
            suggest_ends(error, &file->mechanisms[first], first_name, &file->circuits[subsystem], second_name);
        }
    }
    if (status != ITM_OK) {
        locate(error, &bond->place);
    }
    return status;
}

static ItmStatus add_mechanism(ItmCosimBuilder* b, const ItmModelFile* file, int i, ItmError* error)
{
    const ItmFileMechanism* mechanism = &file->mechanisms[i];
    ItmStepOptions step = file->run.step;
    bool follows =
        step.step == file->cosim.options.macro_step;  // it takes the step of the system, whatever that becomes
    step.step = mechanism->step > 0.0 ? mechanism->step : follows ? 0.0 : step.step;
    ItmStatus status = itm_cosim_builder_add_mechanism(b, mechanism->name, mechanism->model, &step, NULL, error);
    for (int k = 0; k < mechanism->ninterface && status == ITM_OK; k++) {
        const ItmFileInterface* it = &mechanism->interfaces[k];
        ItmInterfaceDef def = {it->name, it->body, it->point, it->directions};
        status = itm_cosim_builder_add_interface(b, i, &def, NULL, error);
        if (status != ITM_OK) {
            locate(error, &it->place);
        }
    }
    return status;
}

// Start an FMU; what it claims is tested first.
static ItmStatus add_fmu(ItmCosimBuilder* b, const ItmFileFmu* f, ItmError* error)
{
    ItmSubsystem subsystem;
    ItmForeignMechanism mechanism;
    ItmError ignored;
    error = error != NULL ? error : &ignored;
    ItmStatus status = itm_fmi_prove(f->fmu, error);
    if (status == ITM_OK) {
        status = f->nport > 0 ? itm_fmi_make_mechanism(&mechanism, f->fmu, f->ports, f->nport, error)
                              : itm_fmi_make_subsystem(&subsystem, f->fmu, NULL, error);
    }
    if (status != ITM_OK) {
        ItmError cause = *error;
        itm_error_set(error, status, "itm_file_create_cosim", cause.field, "FMU '%s': %s", f->name, cause.message);
        locate(error, &f->place);
        return status;
    }
    return f->nport > 0 ? itm_cosim_builder_add_foreign_mechanism(b, f->name, &mechanism, &f->options, NULL, error)
                        : itm_cosim_builder_add_subsystem(b, f->name, &subsystem, f->step, NULL, error);
}

// What the program gives for a name of the file.
static ItmStatus add_external(ItmCosimBuilder* b, const ItmFileExternal* e, ItmError* error)
{
    ItmSubsystem subsystem = {0};
    ItmError ignored;
    error = error != NULL ? error : &ignored;
    if (e->make == NULL) {
        itm_error_set(error, ITM_ERR_INPUT, "itm_file_create_cosim", e->name,
                      "subsystem '%s' is external: a program has to fill it (itm_file_set_external), the command "
                      "cannot",
                      e->name);
        locate(error, &e->place);
        return ITM_ERR_INPUT;
    }
    ItmStatus status = e->make(e->context, &subsystem, error);
    if (status != ITM_OK) {
        ItmError cause = *error;
        itm_error_set(error, status, "itm_file_create_cosim", e->name, "external subsystem '%s': %s", e->name,
                      cause.message[0] != '\0' ? cause.message : itm_status_message(status));
        locate(error, &e->place);
        return status;
    }
    status = itm_cosim_builder_add_subsystem(b, e->name, &subsystem, e->step, NULL, error);
    if (status != ITM_OK) {
        locate(error, &e->place);
    }
    return status;
}

ItmStatus itm_file_set_external(ItmModelFile* file, const char* name, ItmExternalMaker* make, void* context,
                                ItmError* error)
{
    if (file == NULL || name == NULL || make == NULL) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "file, name or make is NULL");
    }
    ItmNearest nearest = itm_nearest_start(name, strlen(name));
    for (int i = 0; i < file->nexternal; i++) {
        if (strcmp(file->externals[i].name, name) == 0) {
            file->externals[i].make = make;
            file->externals[i].context = context;
            return ITM_OK;
        }
        itm_nearest_offer(&nearest, file->externals[i].name);
    }
    char hint[120];
    return itm_error_set(error, ITM_ERR_INPUT, __func__, name, "the file has no external subsystem '%s'%s", name,
                         itm_nearest_format(&nearest, hint, sizeof hint));
}

void itm_file_remove_unpacked(void)
{
    itm_archive_remove_all();
}

void itm_file_describe_fmu(const ItmFileFmu* fmu, char* text, size_t size)
{
    ITM_GUARD_VOID(fmu != NULL && fmu->fmu != NULL && text != NULL && size > 0);
    const ItmFmuSpec* spec = itm_fmi_get_spec(fmu->fmu);
    snprintf(text, size, "FMU of FMI %d.0, %s, %s", spec->version,
             spec->is_exchange ? "model exchange" : "co-simulation",
             spec->has_bytes   ? "state can be restored"
             : spec->has_state ? "state can be restored, but not written as bytes"
                               : "no state that can be restored");
}

const char* itm_file_get_fmu_note(const ItmFileFmu* fmu, int i)
{
    ITM_GUARD(fmu != NULL && fmu->fmu != NULL, NULL);
    return i >= 0 && i < itm_fmi_get_note_count(fmu->fmu) ? itm_fmi_get_note(fmu->fmu, i) : NULL;
}

static ItmStatus add_parts(ItmCosimBuilder* b, const ItmModelFile* file, ItmError* error)
{
    ItmStatus status = ITM_OK;
    for (int i = 0; i < file->nmechanism && status == ITM_OK; i++) {
        status = add_mechanism(b, file, i, error);
    }
    for (int i = 0; i < file->ncircuit && status == ITM_OK; i++) {
        const ItmFileCircuit* c = &file->circuits[i];
        status = itm_cosim_builder_add_circuit(b, c->name, c->circuit, &c->options, c->step, NULL, error);
    }
    for (int i = 0; i < file->ncontrol && status == ITM_OK; i++) {
        const ItmFileControl* c = &file->controls[i];
        status = itm_cosim_builder_add_control(b, c->name, c->control, c->step, NULL, error);
    }
    for (int i = 0; i < file->ndrive && status == ITM_OK; i++) {
        const ItmFileDrive* d = &file->drives[i];
        status = itm_cosim_builder_add_drives(b, d->name, d->drives, d->step, NULL, error);
    }
    for (int i = 0; i < file->nfmu && status == ITM_OK; i++) {
        status = add_fmu(b, &file->fmus[i], error);
    }
    for (int i = 0; i < file->nexternal && status == ITM_OK; i++) {
        status = add_external(b, &file->externals[i], error);
    }
    for (int i = 0; i < file->cosim.nbond && status == ITM_OK; i++) {
        status = add_bond(b, file, &file->cosim.bonds[i], error);
    }
    for (int i = 0; i < file->nconnection && status == ITM_OK; i++) {
        const ItmFileConnection* c = &file->connections[i];
        status = itm_cosim_builder_add_scaled_wire(b, c->from, c->to, c->factor, c->offset, error);
    }
    for (int i = 0; i < file->cosim.nalias && status == ITM_OK; i++) {
        status = itm_cosim_builder_add_alias(b, file->cosim.aliases[i].to, file->cosim.aliases[i].from, error);
    }
    return status;
}

// ---------------------------------------------------------------------------- start

static ItmStatus rest_circuits(ItmCosim* x, const ItmModelFile* file, ItmCosimResidual* rest, ItmError* error)
{
    ItmCosimStart* starts = calloc((size_t)file->ncircuit + 1, sizeof *starts);
    if (starts == NULL) {
        return itm_error_set(error, ITM_ERR_MEMORY, "itm_file_create_cosim", NULL, "out of memory");
    }
    int nstart = 0;
    const ItmFilePlace* place = NULL;
    for (int i = 0; i < file->ncircuit; i++) {
        const ItmFileCircuit* c = &file->circuits[i];
        if (c->is_static) {
            starts[nstart++] = (ItmCosimStart){.subsystem = i, .is_free = c->is_free, .force = c->force};
            place = &c->start;
        }
    }
    ItmStatus status = nstart > 0 ? itm_cosim_solve_static(x, starts, nstart, rest) : ITM_OK;
    if (status != ITM_OK && error != NULL) {
        *error = *itm_cosim_get_error(x);
        locate(error, place);
    }
    free(starts);
    return status;
}

ItmStatus itm_file_create_builder(ItmCosimBuilder** builder, const ItmModelFile* file, ItmError* error)
{
    if (builder == NULL || file == NULL) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "builder or file is NULL");
    }
    *builder = NULL;
    ItmCosimBuilder* b = NULL;
    ItmStatus status = itm_cosim_builder_create(&b, error);
    status = status == ITM_OK ? add_parts(b, file, error) : status;
    if (status != ITM_OK) {
        itm_cosim_builder_destroy(b);
        return status;
    }
    *builder = b;
    return ITM_OK;
}

ItmStatus itm_file_build_cosim(ItmCosim** cosim, const ItmModelFile* file, ItmCosimBuilder* builder,
                               ItmCosimResidual* rest, ItmError* error)
{
    if (cosim == NULL || file == NULL || builder == NULL) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "cosim, file or builder is NULL");
    }
    *cosim = NULL;
    ItmCosim* x = NULL;
    ItmStatus status = itm_cosim_build(&x, builder, &file->cosim.options, error);
    status = status != ITM_OK ? place_error(file, status, error) : rest_circuits(x, file, rest, error);
    if (status != ITM_OK) {
        itm_cosim_destroy(x);
        return status;
    }
    *cosim = x;
    return ITM_OK;
}

ItmStatus itm_file_create_cosim(ItmCosim** cosim, const ItmModelFile* file, ItmCosimResidual* rest, ItmError* error)
{
    if (cosim == NULL || file == NULL) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "cosim or file is NULL");
    }
    *cosim = NULL;
    ItmCosimBuilder* b = NULL;
    ItmStatus status = itm_file_create_builder(&b, file, error);
    status = status == ITM_OK ? itm_file_build_cosim(cosim, file, b, rest, error) : status;
    itm_cosim_builder_destroy(b);
    return status;
}
