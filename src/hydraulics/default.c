// Default definitions and names of enumerations.
#include "interim/hydraulics.h"

#include <math.h>

ItmFluidDef itm_default_fluid_def(void)
{
    return (ItmFluidDef){.density = 850.0, .bulk_modulus = 1.5e9, .vapour_pressure = 1e3};
}

ItmVolumeDef itm_default_volume_def(void)
{
    return (ItmVolumeDef){.wall_modulus = INFINITY, .pressure = 1e5};
}

ItmPressureSourceDef itm_default_pressure_source_def(void)
{
    return (ItmPressureSourceDef){.pressure = 1e5, .signal = ITM_NONE};
}

ItmPressureSourceDef itm_default_tank_def(void)
{
    return (ItmPressureSourceDef){.pressure = 1e5, .signal = ITM_NONE, .is_tank = true};
}

ItmFlowSourceDef itm_default_flow_source_def(void)
{
    return (ItmFlowSourceDef){.port_a = ITM_NONE, .port_b = ITM_NONE, .signal = ITM_NONE};
}

static ItmOrificeLaw default_law(void)
{
    return (ItmOrificeLaw){.discharge = 0.7, .threshold = 2e5};
}

ItmOrificeDef itm_default_orifice_def(void)
{
    return (ItmOrificeDef){
        .port_a = ITM_NONE, .port_b = ITM_NONE, .law = default_law(), .opening = 1.0, .signal = ITM_NONE};
}

ItmLaminarDef itm_default_laminar_def(void)
{
    return (ItmLaminarDef){.port_a = ITM_NONE, .port_b = ITM_NONE};
}

ItmPressureValveDef itm_default_check_valve_def(void)
{
    return (ItmPressureValveDef){
        .port_a = ITM_NONE, .port_b = ITM_NONE, .law = default_law(), .opening_pressure = 0.2e5, .span = 0.5e5};
}

ItmPressureValveDef itm_default_relief_valve_def(void)
{
    return (ItmPressureValveDef){
        .port_a = ITM_NONE, .port_b = ITM_NONE, .law = default_law(), .opening_pressure = 20e6, .span = 1e6};
}

ItmValveDef itm_default_valve_def(ItmValveKind kind)
{
    ItmValveDef def = {.kind = kind,
                       .port_p = ITM_NONE,
                       .port_t = ITM_NONE,
                       .port_a = ITM_NONE,
                       .port_b = ITM_NONE,
                       .law = default_law(),
                       .signal = ITM_NONE,
                       .limit = INFINITY,
                       .damping_ratio = 1.0};
    if (kind == ITM_VALVE_SYMMETRIC) {
        def.command = 0.5;
        def.law.threshold = 0.0;
        def.law.is_one_way = true;
    }
    return def;
}

ItmAccumulatorDef itm_default_accumulator_def(void)
{
    return (ItmAccumulatorDef){.port = ITM_NONE, .exponent = 1.4};
}

ItmCylinderDef itm_default_cylinder_def(void)
{
    return (ItmCylinderDef){.port_1 = ITM_NONE,
                            .port_2 = ITM_NONE,
                            .start_length = NAN,
                            .start_extension = NAN,
                            .wall_modulus = INFINITY,
                            .coulomb_speed = 1e-3,
                            .motion = ITM_NONE};
}

ItmMotorDef itm_default_motor_def(void)
{
    return (ItmMotorDef){.port_1 = ITM_NONE,
                         .port_2 = ITM_NONE,
                         .port_drain = ITM_NONE,
                         .coulomb_speed = 0.1,
                         .setting = 1.0,
                         .signal = ITM_NONE,
                         .motion = ITM_NONE};
}

ItmHydraulicOptions itm_default_hydraulic_options(void)
{
    return (ItmHydraulicOptions){
        .integrator = ITM_HYDRAULIC_TRAPEZOIDAL, .tolerance = 1e-10, .max_iterations = 30, .use_ledger = true};
}

ItmHydraulicStatics itm_default_hydraulic_statics(void)
{
    return (ItmHydraulicStatics){.tolerance = 1e-11, .max_iterations = 100};
}

const char* itm_hydraulics_integrator_name(ItmHydraulicIntegrator integrator)
{
    static const char* const NAMES[ITM_HYDRAULIC_INTEGRATOR_COUNT] = {"euler", "heun", "rk4", "trapezoidal",
                                                                      "adaptive"};
    return (int)integrator >= 0 && integrator < ITM_HYDRAULIC_INTEGRATOR_COUNT ? NAMES[integrator] : "unknown";
}
