// One mechanism and one circuit, coupled at actuators and cylinders of the same names: what most tests of co-simulation run.
#ifndef ITM_TESTS_COSIM_H
#define ITM_TESTS_COSIM_H

#include "check.h"

#include "interim/cosim.h"

#include <stdio.h>

// How they are coupled.
typedef struct Coupled {
    double H, h;  // s
    ItmBondOptions bond;
    ItmHydraulicIntegrator integrator;
    bool use_ledger;
    ItmCosimOptions options;  // macro step aside
    ItmStepOptions step;
} Coupled;

static inline Coupled coupled(double H, double h, ItmExchange exchange, ItmHydraulicIntegrator integrator)
{
    Coupled c = {.H = H, .h = h, .bond = itm_default_bond_options(), .integrator = integrator,
                 .options = itm_default_cosim_options(), .step = itm_default_step_options()};
    c.bond.exchange = exchange;
    c.step.step = H;
    return c;
}

// Cylinders "cyl1" ... of the circuit "hydraulics" at actuators of mechanism "crane".
static inline ItmStatus couple(ItmCosim** x, const ItmModel* m, const ItmCircuit* c, int ncylinder, const Coupled* how,
                               ItmError* error)
{
    ItmCosimBuilder* b = NULL;
    ItmCosimOptions options = how->options;
    ItmHydraulicOptions hydraulics = itm_default_hydraulic_options();
    hydraulics.integrator = how->integrator;
    hydraulics.use_ledger = how->use_ledger;
    options.macro_step = how->H;
    CHECK_OK(itm_cosim_builder_create(&b, error), error);
    ItmStatus status = itm_cosim_add_mechanism(b, "crane", m, &how->step, NULL, error);
    if (status == ITM_OK) {
        status = itm_cosim_add_circuit(b, "hydraulics", c, &hydraulics, how->h, NULL, error);
    }
    for (int i = 0; i < ncylinder && status == ITM_OK; i++) {
        char name[8];
        snprintf(name, sizeof name, "cyl%d", (i + 1) % 100);
        status = itm_cosim_add_bond(b, 0, name, 0, name, &how->bond, error);
    }
    if (status == ITM_OK) {
        status = itm_cosim_build(x, b, &options, error);
    }
    itm_cosim_builder_destroy(b);
    return status;
}

#endif
