// One mechanism and one circuit, coupled at actuators and cylinders of the same names: an example file with overrides, or
// through the C API.
#ifndef ITM_TESTS_COSIM_H
#define ITM_TESTS_COSIM_H

#include "check.h"

#include "interim/interim.h"
#include "scenes/scenes.h"

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
    Coupled c = {.H = H,
                 .h = h,
                 .bond = itm_default_bond_options(),
                 .integrator = integrator,
                 .options = itm_default_cosim_options(),
                 .step = itm_default_step_options()};
    c.bond.exchange = exchange;
    c.step.step = H;
    return c;
}

// An example and the circuit "hydraulics" in it, coupled like this; options and step are those of the file. extra: further
// overrides (n).
static inline ItmModelFile* load_coupled(const char* name, const Coupled* how, const char* const* extra, int n)
{
    enum { NOWN = 8, NMAX = 16 };
    char text[NOWN][80];
    const char* overrides[NMAX];
    snprintf(text[0], sizeof text[0], "cosim.macro_step=%.17g s", how->H);
    snprintf(text[1], sizeof text[1], "cosim.coupling=%s", itm_cosim_coupling_name(how->bond.coupling));
    snprintf(text[2], sizeof text[2], "cosim.exchange=%s", itm_cosim_exchange_name(how->bond.exchange));
    snprintf(text[3], sizeof text[3], "cosim.variables=%s", itm_cosim_bond_variables_name(how->bond.variables));
    snprintf(text[4], sizeof text[4], "subsystems.hydraulics.step=%.17g s", how->h);
    snprintf(text[5], sizeof text[5], "subsystems.hydraulics.integrator=%s",
             itm_hydraulics_integrator_name(how->integrator));
    snprintf(text[6], sizeof text[6], "subsystems.hydraulics.ledger=%s", how->use_ledger ? "true" : "false");
    snprintf(text[7], sizeof text[7], "run.bounds.breakdown=%.17g", how->options.bounds.breakdown);
    for (int i = 0; i < NOWN; i++) {
        overrides[i] = text[i];
    }
    assert_true(NOWN + n <= NMAX);
    for (int i = 0; i < n; i++) {
        overrides[NOWN + i] = extra[i];
    }
    ItmModelFile* file = NULL;
    ItmError error = {0};
    CHECK_OK(itm_example_load(&file, name, overrides, NOWN + n, &error), &error);
    return file;
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
    ItmStatus status = itm_cosim_builder_add_mechanism(b, "crane", m, &how->step, NULL, error);
    if (status == ITM_OK) {
        status = itm_cosim_builder_add_circuit(b, "hydraulics", c, &hydraulics, how->h, NULL, error);
    }
    for (int i = 0; i < ncylinder && status == ITM_OK; i++) {
        char name[8];
        snprintf(name, sizeof name, "cyl%d", (i + 1) % 100);
        status = itm_cosim_builder_add_bond(b, 0, name, 0, name, &how->bond, error);
    }
    if (status == ITM_OK) {
        status = itm_cosim_build(x, b, &options, error);
    }
    itm_cosim_builder_destroy(b);
    return status;
}

#endif
