// Properties of oil: compressibility with entrained air, and what temperature changes.
#include "hydraulics/circuit.h"

#include "base/guard.h"
#include "hydraulics/data.h"

#include <math.h>

#define REFERENCE_TEMPERATURE 288.15  // of density and bulk modulus, K
#define WALTHER_OFFSET 0.7e-6         // m^2/s; the law is written for mm^2/s

ItmOil itm_fluid_compile(const ItmFluidDef* def)
{
    // B exp(-decay (T - T_0)): kappa grows by the inverse factor
    double softer = exp(def->modulus_decay * (def->temperature - REFERENCE_TEMPERATURE));
    double a = def->has_pressure_law ? def->compress_a * softer : softer / def->bulk_modulus;
    double b = def->has_pressure_law ? def->compress_b * softer : 0.0;
    ItmOil oil = {.a = a,
                  .vapour = def->vapour_pressure,
                  .highest = INFINITY,
                  .air = def->air,
                  .inv_air_exponent = 1.0 / def->air_exponent};
    if (def->has_pressure_law) {
        oil.b = 2.0 * b;
        oil.c = a;
        oil.e = b;
        oil.highest = b < 0 ? -0.5 * a / b : INFINITY;
    }
    return oil;
}

// log log (nu + 0.7) = A - B log T with nu in mm^2/s, through two points   [walther]
static double compute_viscosity(const ItmFluidDef* def)
{
    const double T_1 = 313.15, T_2 = 373.15;
    double z_1 = log(log((def->viscosity_40 + WALTHER_OFFSET) * 1e6));
    double z_2 = log(log((def->viscosity_100 + WALTHER_OFFSET) * 1e6));
    double slope = (z_1 - z_2) / log(T_2 / T_1);
    return exp(exp(z_1 - slope * log(def->temperature / T_1))) * 1e-6 - WALTHER_OFFSET;
}

ItmFluidProperties itm_fluid_compute_properties(const ItmFluidDef* def, double pressure)
{
    const ItmFluidProperties none = {NAN, NAN, NAN, NAN};
    ITM_GUARD(def != NULL, none);
    bool is_valid = def->density > 0.0 && def->temperature > 0.0 && def->air_exponent >= 1.0 && pressure > 0.0 &&
                    def->viscosity_40 + WALTHER_OFFSET > 1e-6 && def->viscosity_100 + WALTHER_OFFSET > 1e-6;
    if (!is_valid) {
        return none;
    }
    ItmOil oil = itm_fluid_compile(def);
    double density = def->density / (1.0 + def->expansion * (def->temperature - REFERENCE_TEMPERATURE));
    double nu = compute_viscosity(def);
    return (ItmFluidProperties){
        .density = density,
        .bulk_modulus = 1.0 / itm_kernel_compute_compressibility(&oil, pressure),
        .kinematic_viscosity = nu,
        .dynamic_viscosity = nu * density,
    };
}
