// Default definitions and names of enumerations.
#include "interim/hydraulics.h"

#include <math.h>

ItmFluidDef itm_default_fluid_def(void)
{
    return (ItmFluidDef){.density = 850.0,
                         .bulk_modulus = 1.5e9,
                         .vapour_pressure = 1e3,
                         .air_exponent = 1.4,
                         .temperature = 313.15,
                         .viscosity_40 = 46e-6,
                         .viscosity_100 = 6.8e-6};
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

// Without pilots.
static ItmPressureValveDef default_pressure_valve(double opening_pressure, double span, bool is_one_way)
{
    ItmPressureValveDef def = {.port_a = ITM_NONE,
                               .port_b = ITM_NONE,
                               .port_c = ITM_NONE,
                               .law = default_law(),
                               .opening_pressure = opening_pressure,
                               .signal = ITM_NONE,
                               .span = span};
    def.law.is_one_way = is_one_way;
    return def;
}

static void add_pilot(ItmPressureValveDef* def, int port, double ratio)
{
    def->pilots[def->npilot++] = (ItmPilot){port, ratio};
}

ItmPressureValveDef itm_default_check_valve_def(void)
{
    ItmPressureValveDef def = default_pressure_valve(0.2e5, 0.5e5, true);
    add_pilot(&def, ITM_PILOT_A, 1.0);
    add_pilot(&def, ITM_PILOT_B, -1.0);
    return def;
}

ItmPressureValveDef itm_default_relief_valve_def(void)
{
    ItmPressureValveDef def = default_pressure_valve(20e6, 1e6, true);
    add_pilot(&def, ITM_PILOT_A, 1.0);
    add_pilot(&def, ITM_PILOT_B, -1.0);
    return def;
}

ItmPressureValveDef itm_default_reducing_valve_def(void)
{
    ItmPressureValveDef def = default_pressure_valve(5e6, 0.5e6, false);
    def.is_normally_open = true;
    add_pilot(&def, ITM_PILOT_B, -1.0);
    return def;
}

ItmPressureValveDef itm_default_counterbalance_valve_def(int pilot_port, double ratio)
{
    ItmPressureValveDef def = default_pressure_valve(20e6, 2e6, true);
    add_pilot(&def, ITM_PILOT_A, 1.0);
    add_pilot(&def, pilot_port, ratio);
    add_pilot(&def, ITM_PILOT_B, -1.0 - ratio);
    def.has_check = true;
    return def;
}

ItmPressureValveDef itm_default_pilot_check_valve_def(int pilot_port, double ratio)
{
    ItmPressureValveDef def = default_pressure_valve(0.2e5, 0.5e5, false);
    add_pilot(&def, ITM_PILOT_A, 1.0);
    add_pilot(&def, ITM_PILOT_B, -1.0);
    add_pilot(&def, pilot_port, ratio);
    return def;
}

ItmPressureValveDef itm_default_compensator_def(int load_port)
{
    ItmPressureValveDef def = default_pressure_valve(1e6, 0.2e6, true);
    def.is_normally_open = true;
    add_pilot(&def, ITM_PILOT_B, -1.0);
    add_pilot(&def, load_port, 1.0);
    return def;
}

ItmPressureValveDef itm_default_priority_valve_def(int load_port)
{
    ItmPressureValveDef def = default_pressure_valve(0.7e6, 0.3e6, true);
    add_pilot(&def, ITM_PILOT_C, 1.0);
    add_pilot(&def, load_port, -1.0);
    return def;
}

ItmPressureValveDef itm_default_shuttle_valve_def(void)
{
    ItmPressureValveDef def = default_pressure_valve(0.1e5, 0.2e5, false);
    def.is_normally_open = true;
    add_pilot(&def, ITM_PILOT_B, 1.0);
    add_pilot(&def, ITM_PILOT_C, -1.0);
    return def;
}

ItmFilterDef itm_default_filter_def(void)
{
    return (ItmFilterDef){
        .port_a = ITM_NONE, .port_b = ITM_NONE, .signal = ITM_NONE, .bypass_pressure = 3e5, .bypass_span = 1e5};
}

ItmLineDef itm_default_line_def(void)
{
    return (ItmLineDef){.port_a = ITM_NONE, .port_b = ITM_NONE, .wall_modulus = INFINITY};
}

ItmValveDef itm_default_valve_def(ItmValveKind kind)
{
    ItmValveDef def = {.kind = kind,
                       .port_p = ITM_NONE,
                       .port_t = ITM_NONE,
                       .port_a = ITM_NONE,
                       .port_b = ITM_NONE,
                       .port_ls = ITM_NONE,
                       .ls_coefficient = 1e-7,
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
                         .motion = ITM_NONE,
                         .speed_signal = ITM_NONE,
                         .load_port = ITM_NONE,
                         .load_margin = 2e6,
                         .load_span = 0.5e6,
                         .pressure_limit = INFINITY,
                         .pressure_span = 0.5e6,
                         .torque_limit = INFINITY,
                         .power_limit = INFINITY,
                         .least_setting = -1.0};
}

ItmMotorDef itm_default_pump_def(void)
{
    ItmMotorDef def = itm_default_motor_def();
    def.is_driven = true;
    def.is_variable = true;
    def.least_setting = 0.0;
    return def;
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
