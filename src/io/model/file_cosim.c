// From a file to a running system.
#include "io/model/file.h"

#include "base/error.h"

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

// Number of the subsystem whose port is named ("hydraulics.cyl1"), and the port's own name. Circuits come first, then controls,
// then drives.
static int find_ports(const ItmModelFile* file, const char* full, const char** port)
{
    size_t n = strcspn(full, ".");
    for (int i = 0; i < file->ncircuit + file->ndrive && full[n] == '.'; i++) {
        const char* name = i < file->ncircuit ? file->circuits[i].name : file->drives[i - file->ncircuit].name;
        if (strlen(name) == n && strncmp(name, full, n) == 0) {
            *port = full + n + 1;
            return i < file->ncircuit ? i : i + file->ncontrol;
        }
    }
    return ITM_NONE;
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
    return ITM_NONE;
}

// Interfaces are numbered through, mechanism by mechanism.
static int find_interface(const ItmModelFile* file, int mechanism, const char* name)
{
    int id = 0;
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
        if (ends[k] == ITM_NONE) {
            return itm_error_set(error, ITM_ERR_INPUT, "itm_file_create_cosim", NULL,
                                 "mechanism '%s' has no interface '%s': name one in its section 'interfaces'",
                                 file->mechanisms[k == 0 ? first : second].name, k == 0 ? first_name : second_name);
        }
    }
    return itm_cosim_builder_add_frame_bond(b, ends[0], ends[1], &bond->options, error);
}

static ItmStatus add_bond(ItmCosimBuilder* b, const ItmModelFile* file, const ItmFileBond* bond, ItmError* error)
{
    const char *first_name = NULL, *second_name = NULL;
    int first = find_mechanism(file, bond->actuator, &first_name),
        second = find_mechanism(file, bond->port, &second_name);
    int subsystem = second == ITM_NONE ? find_ports(file, bond->port, &second_name) : ITM_NONE;
    ItmStatus status;
    if (first == ITM_NONE) {
        bool has_name = file->nmechanism > 0 && file->mechanisms[0].name[0] != '\0';
        status = itm_error_set(error, ITM_ERR_INPUT, "itm_file_create_cosim", NULL,
                               "a bond begins with an actuator of a mechanism, as in '%s.cyl1', not '%s'",
                               has_name ? file->mechanisms[0].name : "arm", bond->actuator);
    } else if (second != ITM_NONE) {
        status = add_frame_bond(b, file, bond, first, first_name, second, second_name, error);
    } else if (subsystem == ITM_NONE) {
        status = itm_error_set(
            error, ITM_ERR_INPUT, "itm_file_create_cosim", NULL,
            "a bond ends at a cylinder or motor of a circuit, as in 'hydraulics.cyl1', at a drive, or at an "
            "interface of a mechanism, not at '%s'",
            bond->port);
    } else {
        status = itm_cosim_builder_add_bond(b, first, first_name, subsystem, second_name, &bond->options, error);
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
    for (int i = 0; i < file->cosim.nbond && status == ITM_OK; i++) {
        status = add_bond(b, file, &file->cosim.bonds[i], error);
    }
    for (int i = 0; i < file->nconnection && status == ITM_OK; i++) {
        status = itm_cosim_builder_add_wire(b, file->connections[i].from, file->connections[i].to, error);
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

ItmStatus itm_file_create_cosim(ItmCosim** cosim, const ItmModelFile* file, ItmCosimResidual* rest, ItmError* error)
{
    if (cosim == NULL || file == NULL) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "cosim or file is NULL");
    }
    *cosim = NULL;
    ItmCosimBuilder* b = NULL;
    ItmCosim* x = NULL;
    ItmStatus status = itm_cosim_builder_create(&b, error);
    if (status == ITM_OK) {
        status = add_parts(b, file, error);
    }
    if (status == ITM_OK) {
        status = itm_cosim_build(&x, b, &file->cosim.options, error);
        status = status != ITM_OK ? place_error(file, status, error) : rest_circuits(x, file, rest, error);
    }
    itm_cosim_builder_destroy(b);
    if (status != ITM_OK) {
        itm_cosim_destroy(x);
        return status;
    }
    *cosim = x;
    return ITM_OK;
}
