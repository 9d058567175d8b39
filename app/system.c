#include "system.h"

#include <math.h>
#include <stdio.h>

// ---------------------------------------------------------------------------- mechanism

static ItmStatus mechanism_create(AppSystem* s, ItmError* error)
{
    return itm_data_create(&s->data, s->file->model, &s->file->run.step, error);
}

static void mechanism_destroy(AppSystem* s)
{
    itm_data_destroy(s->data);
}

static int mechanism_count_outputs(const AppSystem* s)
{
    return itm_output_get_count(s->file->model);
}

static ItmOutputInfo mechanism_get_output_info(const AppSystem* s, int output)
{
    return itm_output_get_info(s->file->model, output);
}

static ItmStatus mechanism_compute_outputs(AppSystem* s, double* values)
{
    return itm_output_compute(s->file->model, s->data, values);
}

static ItmStatus mechanism_step(AppSystem* s)
{
    ItmStatus status = itm_step(s->file->model, s->data);
    if (status == ITM_OK) {
        app_summary_note_step(&s->summary, s->data);
    }
    return status;
}

static double mechanism_get_time(const AppSystem* s)
{
    return itm_data_get_time(s->data);
}

static const ItmError* mechanism_get_error(const AppSystem* s)
{
    return itm_data_get_error(s->data);
}

static void mechanism_print_summary(const AppSystem* s)
{
    app_summary_print_mechanism(&s->summary, s->file, s->data);
}

static const AppSystemKind MECHANISM = {
    mechanism_create,          mechanism_destroy,  mechanism_count_outputs, mechanism_get_output_info,
    mechanism_compute_outputs, mechanism_step,     mechanism_get_time,      mechanism_get_error,
    mechanism_print_summary};

// ---------------------------------------------------------------------------- circuit

static double circuit_step_length(const AppSystem* s)
{
    return s->file->run.step.step / (double)s->substeps;
}

static ItmStatus circuit_create(AppSystem* s, ItmError* error)
{
    const ItmFileCircuit* circuit = &s->file->circuits[0];
    s->substeps = circuit->step > 0.0 ? lround(s->file->run.step.step / circuit->step) : 1;
    return itm_file_create_hydraulics(&s->hydraulics, circuit, NULL, error);
}

static void circuit_destroy(AppSystem* s)
{
    itm_hydraulics_destroy(s->hydraulics);
}

static int circuit_count_outputs(const AppSystem* s)
{
    return itm_circuit_get_output_count(s->file->circuits[0].circuit);
}

static ItmOutputInfo circuit_get_output_info(const AppSystem* s, int output)
{
    return itm_circuit_get_output_info(s->file->circuits[0].circuit, output);
}

static ItmStatus circuit_compute_outputs(AppSystem* s, double* values)
{
    itm_hydraulics_compute_outputs(s->file->circuits[0].circuit, s->hydraulics, values);
    return ITM_OK;
}

static ItmStatus circuit_step(AppSystem* s)
{
    ItmStatus status = ITM_OK;
    for (long i = 0; i < s->substeps && status == ITM_OK; i++) {
        status = itm_hydraulics_step(s->file->circuits[0].circuit, s->hydraulics, circuit_step_length(s));
    }
    return status;
}

static double circuit_get_time(const AppSystem* s)
{
    return itm_hydraulics_get_time(s->hydraulics);
}

static const ItmError* circuit_get_error(const AppSystem* s)
{
    return itm_hydraulics_get_error(s->hydraulics);
}

static void circuit_print_summary(const AppSystem* s)
{
    const ItmFileCircuit* circuit = &s->file->circuits[0];
    ItmHydraulicInfo info = itm_hydraulics_get_info(s->hydraulics);
    printf("  steps        %ld of %.9g s (%s), %ld iterations\n", info.steps, circuit_step_length(s),
           itm_hydraulic_integrator_name(circuit->options.integrator), info.total_iterations);
    if (info.splits > 0) {
        printf("  split        %ld parts of steps, because Newton failed there\n", info.splits);
    }
    if (info.cavitations > 0) {
        printf("  cavitation   %ld times; last: %s\n", info.cavitations,
               itm_hydraulics_get_event(circuit->circuit, s->hydraulics));
    }
}

static const AppSystemKind CIRCUIT = {
    circuit_create,          circuit_destroy, circuit_count_outputs, circuit_get_output_info,
    circuit_compute_outputs, circuit_step,    circuit_get_time,      circuit_get_error,
    circuit_print_summary};

// ---------------------------------------------------------------------------- choice

bool app_system_choose(AppSystem* s, const ItmModelFile* file)
{
    int nsystem = (file->model != NULL) + file->ncircuit;
    if (nsystem != 1 || file->nconnection > 0) {
        fprintf(stderr, "interim: the file has %d subsystems and %d connections; this version runs one subsystem alone\n",
                nsystem, file->nconnection);
        return false;
    }
    s->file = file;
    s->kind = file->model != NULL ? &MECHANISM : &CIRCUIT;
    s->name = file->model != NULL ? file->name : file->circuits[0].name;
    return true;
}
