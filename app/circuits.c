#include "circuits.h"

#include <math.h>
#include <stdio.h>

#define MOST_STATES 1000  // of circuits whose rates are computed: the cost is cubic in the number of states

// ---------------------------------------------------------------------------- numbers

static void print_size(const ItmFileCircuit* circuit)
{
    ItmCircuitInfo info = itm_circuit_get_info(circuit->circuit);
    printf("\n%s (hydraulics)\n", circuit->name);
    printf("  nodes        %d: volumes %d, sources %d; independent groups of volumes %d\n", info.nnode, info.nvolume,
           info.nsource, info.nisland);
    printf("  elements     valves %d, cylinders %d, accumulators %d; flow branches %d\n", info.nvalve, info.ncylinder,
           info.naccumulator, info.nbranch);
    printf("  states       %d; %.0f kB per instance\n", info.nstate, ceil((double)info.data_bytes / 1024.0));
    printf("  inputs      ");
    for (int i = 0; i < info.ninput; i++) {
        printf(" %s", itm_circuit_get_input_name(circuit->circuit, i));
    }
    printf("\n");
}

// The fastest rate at the start and the steps it allows; returns the number of warnings, or -1 after printing an error.
static int print_rates(const ItmModelFile* file, const ItmFileCircuit* circuit, ItmHydraulics* d)
{
    const ItmCircuit* c = circuit->circuit;
    ItmHydraulicIntegrator integrator = circuit->options.integrator;
    const char* name = itm_hydraulics_integrator_name(integrator);
    double step = circuit->step > 0.0 ? circuit->step : file->run.step.step;
    printf("  integrator   %s in steps of %.9g s\n", name, step);
    if (itm_circuit_get_info(c).nstate > MOST_STATES) {
        printf("  fastest rate not computed for more than %d states\n", MOST_STATES);
        return 0;
    }
    double fastest = itm_hydraulics_compute_fastest_rate(c, d),
           limit = itm_hydraulics_compute_stable_step(c, d, integrator);
    double limits[ITM_HYDRAULIC_RK4 + 1];
    bool is_known = !isnan(fastest) && !isnan(limit);
    for (int i = ITM_HYDRAULIC_EULER; i <= ITM_HYDRAULIC_RK4; i++) {
        limits[i] = itm_hydraulics_compute_stable_step(c, d, (ItmHydraulicIntegrator)i);
        is_known = is_known && !isnan(limits[i]);
    }
    if (!is_known) {
        fprintf(stderr, "interim: circuit '%s': its rates cannot be computed: out of memory, or not finite\n",
                circuit->name);
        return -1;
    }
    printf("  fastest rate %.4g 1/s at the start", fastest);
    for (int i = ITM_HYDRAULIC_EULER; i <= ITM_HYDRAULIC_RK4; i++) {
        if (isfinite(limits[i])) {
            printf("%s %s up to %.3g s", i == ITM_HYDRAULIC_EULER ? ":" : ",",
                   itm_hydraulics_integrator_name((ItmHydraulicIntegrator)i), limits[i]);
        }
    }
    printf("\n");
    if (!(step > limit)) {
        return 0;
    }
    printf(
        "warning: circuit '%s': %s is unstable at a step of %.3g s; reduce the step to at most %.3g s (stable at the "
        "start) or use integrator trapezoidal\n",
        circuit->name, name, step, limit);
    return 1;
}

// ---------------------------------------------------------------------------- start

// The values that the static start found for the free inputs.
static void print_found(const ItmFileCircuit* circuit, const ItmHydraulics* d, const ItmHydraulicResidual* rest)
{
    printf("  static start found in %d iterations", rest->iterations);
    for (int i = 0; i < itm_circuit_get_info(circuit->circuit).ninput; i++) {
        if (circuit->is_free[i]) {
            printf("; %s %+.6g", itm_circuit_get_input_name(circuit->circuit, i), itm_hydraulics_get_input(d, i));
        }
    }
    printf("\n");
}

static void print_start(const ItmFileCircuit* circuit, const ItmHydraulics* d, const ItmHydraulicResidual* rest)
{
    const ItmCircuit* c = circuit->circuit;
    if (circuit->is_static) {
        print_found(circuit, d, rest);
    }
    const char* node = itm_circuit_get_node_name(c, rest->flow_node);
    if (node != NULL) {
        printf("  equilibrium  largest net flow %.3g m^3/s, into '%s'", rest->flow, node);
    }
    const char* cylinder = itm_circuit_get_cylinder_name(c, rest->force_cylinder);
    if (cylinder != NULL) {
        printf("; largest force error %.3g N, at '%s'", rest->force, cylinder);
    }
    printf("%s", node != NULL || cylinder != NULL ? "\n" : "");
    for (int i = 0; i < itm_circuit_get_info(c).ncylinder; i++) {
        const char* name = itm_circuit_get_cylinder_name(c, i);
        char angle[128];
        snprintf(angle, sizeof angle, "%s.angle", name);
        bool is_rotary = itm_circuit_find_output(c, angle) != ITM_NONE;
        printf(is_rotary ? "  shaft        %s turns with %.6g N m at the start\n"
                         : "  cylinder     %s pushes with %.6g N at the start\n",
               name, itm_hydraulics_get_force(c, d, i).total);
    }
}

// ---------------------------------------------------------------------------- all

static int check_circuit(const ItmModelFile* file, const ItmFileCircuit* circuit)
{
    ItmHydraulics* d = NULL;
    ItmError error = {0};
    ItmHydraulicResidual rest;
    print_size(circuit);
    if (itm_file_create_hydraulics(&d, circuit, &rest, &error) != ITM_OK) {
        app_print_error(&error);
        return -1;
    }
    if (file->cosim.nbond == 0) {  // otherwise the mechanism takes part in the equilibrium
        print_start(circuit, d, &rest);
    }
    int nwarning = print_rates(file, circuit, d);
    itm_hydraulics_destroy(d);
    return nwarning;
}

int app_circuits_check(const ItmModelFile* file)
{
    int nwarning = 0;
    for (int i = 0; i < file->ncircuit; i++) {
        int count = check_circuit(file, &file->circuits[i]);
        if (count < 0) {
            return -1;
        }
        nwarning += count;
    }
    return nwarning;
}
