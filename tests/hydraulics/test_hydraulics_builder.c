// Every definition that does not describe a circuit is refused, with the field at fault.
#include "check.h"

#include "interim/hydraulics.h"

// A builder with a fluid, a pump, a tank and three volumes: nodes 0 to 4. Signal 0 is a constant.
static ItmCircuitBuilder* make_builder(void)
{
    ItmCircuitBuilder* b = NULL;
    ItmError error;
    CHECK_OK(itm_circuit_builder_create(&b, &error), &error);
    ItmSignalDef signal = itm_default_signal_def();
    signal.name = "one";
    signal.value = 1.0;
    CHECK_OK(itm_circuit_builder_add_signal(b, &signal, NULL, &error), &error);
    ItmFluidDef oil = itm_default_fluid_def();
    oil.name = "oil";
    CHECK_OK(itm_circuit_builder_add_fluid(b, &oil, NULL, &error), &error);
    ItmPressureSourceDef source = itm_default_pressure_source_def();
    source.name = "pump";
    source.pressure = 7.6e6;
    CHECK_OK(itm_circuit_builder_add_pressure_source(b, &source, NULL, &error), &error);
    source = itm_default_tank_def();
    source.name = "tank";
    CHECK_OK(itm_circuit_builder_add_pressure_source(b, &source, NULL, &error), &error);
    static const char* const NAMES[3] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++) {
        ItmVolumeDef volume = itm_default_volume_def();
        volume.name = NAMES[i];
        volume.volume = 1e-4;
        CHECK_OK(itm_circuit_builder_add_volume(b, &volume, NULL, &error), &error);
    }
    return b;
}

static void expect_refused(ItmStatus status, const ItmError* error, const char* field, const char* word)
{
    if (status != ITM_ERR_INPUT || strcmp(error->field, field) != 0 || strstr(error->message, word) == NULL) {
        fail_msg("wanted '%s' refused with '%s', got status %d, field '%s': %s", field, word, (int)status, error->field,
                 error->message);
    }
}

// Valid definitions to spoil.
static ItmVolumeDef good_volume(void)
{
    ItmVolumeDef def = itm_default_volume_def();
    def.name = "volume";
    def.volume = 1e-3;
    return def;
}

static ItmOrificeDef good_orifice(void)
{
    ItmOrificeDef def = itm_default_orifice_def();
    def.name = "orifice";
    def.port_a = 0;
    def.port_b = 2;
    def.law.area = 1e-5;
    return def;
}

static ItmValveDef good_valve(void)
{
    ItmValveDef def = itm_default_valve_def(ITM_VALVE_4_3);
    def.name = "valve";
    def.port_p = 0;
    def.port_t = 1;
    def.port_a = 2;
    def.port_b = 3;
    def.law.coefficient = 1e-8;
    return def;
}

static ItmCylinderDef good_cylinder(void)
{
    ItmCylinderDef def = itm_default_cylinder_def();
    def.name = "cyl";
    def.port_1 = 2;
    def.port_2 = 3;
    def.bore = 0.08;
    def.rod = 0.035;
    def.stroke = 0.3;
    return def;
}

// One spoilt field of a definition, and what must be said.
#define REFUSE(kind, good, member, bad, field, word)                                                                   \
    do {                                                                                                               \
        ItmError spoilt_error = {0};                                                                                   \
        DEF_##kind spoilt = (good);                                                                                    \
        spoilt.member = (bad);                                                                                         \
        expect_refused(itm_circuit_builder_add_##kind(b, &spoilt, NULL, &spoilt_error), &spoilt_error, field, word);   \
    } while (0)

typedef ItmFluidDef DEF_fluid;
typedef ItmVolumeDef DEF_volume;
typedef ItmPressureSourceDef DEF_pressure_source;
typedef ItmFlowSourceDef DEF_flow_source;
typedef ItmOrificeDef DEF_orifice;
typedef ItmLaminarDef DEF_laminar;
typedef ItmPressureValveDef DEF_pressure_valve;
typedef ItmValveDef DEF_valve;
typedef ItmAccumulatorDef DEF_accumulator;
typedef ItmCylinderDef DEF_cylinder;

static void names_are_checked(void** state)
{
    (void)state;
    ItmCircuitBuilder* b = make_builder();
    static const char* const BAD[] = {NULL,  "",    "two words", "dot.ted", "a,b",
                                      "a/b", "a=b", "quo\"te",   "tab\t",   "energy"};
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        REFUSE(volume, good_volume(), name, BAD[i], "name", "name");
    }
    char longest[66];
    memset(longest, 'x', 65);
    longest[65] = '\0';
    REFUSE(volume, good_volume(), name, longest, "name", "65");
    REFUSE(volume, good_volume(), name, "pump", "name", "taken");
    REFUSE(orifice, good_orifice(), name, "a", "name", "taken");
    // signals and fluids have names of their own
    ItmSignalDef signal = itm_default_signal_def();
    ItmError error;
    signal.name = "pump";
    CHECK_OK(itm_circuit_builder_add_signal(b, &signal, NULL, &error), &error);
    signal.name = "one";
    expect_refused(itm_circuit_builder_add_signal(b, &signal, NULL, &error), &error, "name", "taken");
    assert_int_equal(itm_circuit_builder_find_node(b, "pump"), 0);
    assert_int_equal(itm_circuit_builder_find_node(b, "c"), 4);
    assert_int_equal(itm_circuit_builder_find_node(b, "nothing"), ITM_NONE);
    assert_int_equal(itm_circuit_builder_find_fluid(b, "oil"), 0);
    assert_int_equal(itm_circuit_builder_find_fluid(b, "water"), ITM_NONE);
    assert_int_equal(itm_circuit_builder_find_signal(b, "one"), 0);
    itm_circuit_builder_destroy(b);
}

static void fluids_and_nodes_are_checked(void** state)
{
    (void)state;
    ItmCircuitBuilder* b = make_builder();
    ItmFluidDef oil = itm_default_fluid_def();
    oil.name = "other";
    REFUSE(fluid, oil, density, 0.0, "density", "positive");
    REFUSE(fluid, oil, bulk_modulus, -1.0, "bulk_modulus", "positive");
    REFUSE(fluid, oil, bulk_modulus, NAN, "bulk_modulus", "positive");
    REFUSE(fluid, oil, vapour_pressure, -1.0, "vapour_pressure", "negative");
    oil.has_pressure_law = true;
    REFUSE(fluid, oil, compress_a, 0.0, "compress_a", "positive");
    oil.compress_a = 6.53e-10;
    REFUSE(fluid, oil, compress_b, NAN, "compress_b", "finite");
    oil.compress_b = -1.19e-18;
    ItmError error;
    CHECK_OK(itm_circuit_builder_add_fluid(b, &oil, NULL, &error), &error);

    REFUSE(volume, good_volume(), volume, -1e-3, "volume", "negative");
    REFUSE(volume, good_volume(), wall_modulus, 0.0, "wall_modulus", "positive");
    REFUSE(volume, good_volume(), pressure, 10.0, "pressure", "vapour");
    REFUSE(volume, good_volume(), pressure, NAN, "pressure", "finite");
    REFUSE(volume, good_volume(), fluid, 7, "fluid", "no fluid 7");
    ItmVolumeDef volume = good_volume();
    volume.fluid = 1;
    REFUSE(volume, volume, pressure, 4e8, "pressure", "bulk modulus");

    ItmPressureSourceDef source = itm_default_pressure_source_def();
    source.name = "source";
    REFUSE(pressure_source, source, pressure, 0.0, "pressure", "vapour");
    REFUSE(pressure_source, source, signal, 5, "signal", "no signal 5");
    REFUSE(pressure_source, source, fluid, -1, "fluid", "no fluid");
    ItmFlowSourceDef flow = itm_default_flow_source_def();
    flow.name = "flow";
    REFUSE(flow_source, flow, flow, 1e-4, "port_b", "not connected");
    flow.port_b = 2;
    REFUSE(flow_source, flow, flow, INFINITY, "flow", "finite");
    REFUSE(flow_source, flow, port_a, 2, "port_b", "both ports");
    REFUSE(flow_source, flow, port_a, 99, "port_a", "no node 99");
    REFUSE(flow_source, flow, signal, -3, "signal", "no signal");
    itm_circuit_builder_destroy(b);
}

static void resistances_are_checked(void** state)
{
    (void)state;
    ItmCircuitBuilder* b = make_builder();
    REFUSE(orifice, good_orifice(), port_a, ITM_NONE, "port_a", "not connected");
    REFUSE(orifice, good_orifice(), port_b, ITM_NONE, "port_b", "not connected");
    REFUSE(orifice, good_orifice(), port_b, 17, "port_b", "no node 17");
    REFUSE(orifice, good_orifice(), port_b, 0, "port_b", "both ports");
    REFUSE(orifice, good_orifice(), law.area, 0.0, "area", "positive");
    REFUSE(orifice, good_orifice(), law.area, -1e-5, "area", "positive");
    REFUSE(orifice, good_orifice(), law.discharge, 0.0, "discharge", "positive");
    REFUSE(orifice, good_orifice(), law.coefficient, -1.0, "coefficient", "negative");
    REFUSE(orifice, good_orifice(), law.threshold, -1.0, "threshold", "negative");
    REFUSE(orifice, good_orifice(), signal, 0, "signal", "is_variable");
    ItmOrificeDef variable = good_orifice();
    variable.is_variable = true;
    REFUSE(orifice, variable, opening, NAN, "opening", "finite");
    REFUSE(orifice, variable, signal, 9, "signal", "no signal");

    ItmLaminarDef laminar = itm_default_laminar_def();
    laminar.name = "laminar";
    laminar.port_a = 2;
    laminar.port_b = 3;
    REFUSE(laminar, laminar, conductance, 0.0, "conductance", "positive");
    laminar.conductance = 1e-12;
    REFUSE(laminar, laminar, port_a, ITM_NONE, "port_a", "not connected");

    ItmPressureValveDef relief = itm_default_relief_valve_def();
    relief.name = "relief";
    relief.port_a = 2;
    relief.port_b = 1;
    REFUSE(pressure_valve, relief, opening_pressure, 1e6, "area", "positive");
    relief.law.area = 1e-5;
    REFUSE(pressure_valve, relief, opening_pressure, -1.0, "opening_pressure", "negative");
    REFUSE(pressure_valve, relief, span, 0.0, "span", "positive");
    REFUSE(pressure_valve, relief, port_b, ITM_NONE, "port_b", "not connected");

    // two fluids may not meet
    ItmFluidDef water = itm_default_fluid_def();
    ItmVolumeDef volume = good_volume();
    ItmError error;
    int other;
    water.name = "water";
    CHECK_OK(itm_circuit_builder_add_fluid(b, &water, &volume.fluid, &error), &error);
    CHECK_OK(itm_circuit_builder_add_volume(b, &volume, &other, &error), &error);
    REFUSE(orifice, good_orifice(), port_b, other, "port_b", "different fluids");
    itm_circuit_builder_destroy(b);
}

static void valves_and_accumulators_are_checked(void** state)
{
    (void)state;
    ItmCircuitBuilder* b = make_builder();
    REFUSE(valve, good_valve(), port_p, ITM_NONE, "port_p", "not connected");
    REFUSE(valve, good_valve(), port_t, ITM_NONE, "port_t", "not connected");
    REFUSE(valve, good_valve(), port_a, ITM_NONE, "port_a", "not connected");
    REFUSE(valve, good_valve(), port_b, ITM_NONE, "port_b", "not connected");
    REFUSE(valve, good_valve(), port_b, 2, "port_b", "both ports");
    REFUSE(valve, good_valve(), kind, ITM_VALVE_KIND_COUNT, "kind", "kind of valve");
    REFUSE(valve, good_valve(), limit, 0.0, "limit", "positive");
    REFUSE(valve, good_valve(), dead_band, -0.1, "dead_band", "negative");
    REFUSE(valve, good_valve(), command, NAN, "command", "finite");
    REFUSE(valve, good_valve(), signal, 4, "signal", "no signal");
    REFUSE(valve, good_valve(), law.coefficient, 0.0, "area", "positive");
    REFUSE(valve, good_valve(), spool, ITM_SPOOL_KIND_COUNT, "spool", "spool dynamics");
    REFUSE(valve, good_valve(), spool, ITM_SPOOL_FIRST, "time_constant", "positive");
    REFUSE(valve, good_valve(), spool, ITM_SPOOL_SECOND, "frequency", "positive");
    ItmValveDef second = good_valve();
    second.spool = ITM_SPOOL_SECOND;
    second.frequency = 100.0;
    REFUSE(valve, second, damping_ratio, -1.0, "damping_ratio", "negative");

    ItmAccumulatorDef gas = itm_default_accumulator_def();
    gas.name = "gas";
    gas.port = 2;
    gas.gas_volume = 1e-3;
    gas.precharge = 1e6;
    REFUSE(accumulator, gas, port, ITM_NONE, "port", "not connected");
    REFUSE(accumulator, gas, port, 0, "port", "needs a volume");
    REFUSE(accumulator, gas, gas_volume, 0.0, "gas_volume", "positive");
    REFUSE(accumulator, gas, precharge, -1.0, "precharge", "positive");
    REFUSE(accumulator, gas, exponent, 0.9, "exponent", "at least 1");
    itm_circuit_builder_destroy(b);
}

static void cylinders_are_checked(void** state)
{
    (void)state;
    ItmCircuitBuilder* b = make_builder();
    REFUSE(cylinder, good_cylinder(), port_1, ITM_NONE, "port_1", "not connected");
    REFUSE(cylinder, good_cylinder(), port_2, ITM_NONE, "port_2", "not connected");
    REFUSE(cylinder, good_cylinder(), port_2, 2, "port_2", "both ports");
    REFUSE(cylinder, good_cylinder(), bore, 0.0, "bore", "positive");
    REFUSE(cylinder, good_cylinder(), rod, 0.08, "rod", "thinner");
    REFUSE(cylinder, good_cylinder(), area_1, -1.0, "area_1", "negative");
    REFUSE(cylinder, good_cylinder(), area_1, 1e-3, "area_2", "positive");
    REFUSE(cylinder, good_cylinder(), area_2, 1e-3, "area_1", "positive");
    REFUSE(cylinder, good_cylinder(), stroke, 0.0, "stroke", "positive");
    REFUSE(cylinder, good_cylinder(), start_length, INFINITY, "start_length", "finite");
    REFUSE(cylinder, good_cylinder(), start_extension, 0.31, "start_extension", "outside its stroke");
    REFUSE(cylinder, good_cylinder(), start_extension, -0.01, "start_extension", "outside its stroke");
    REFUSE(cylinder, good_cylinder(), dead_volume_1, -1e-6, "dead_volume_1", "negative");
    REFUSE(cylinder, good_cylinder(), dead_volume_2, NAN, "dead_volume_2", "negative");
    REFUSE(cylinder, good_cylinder(), wall_modulus, -1.0, "wall_modulus", "positive");
    REFUSE(cylinder, good_cylinder(), leakage, -1.0, "leakage", "negative");
    REFUSE(cylinder, good_cylinder(), viscous, -1.0, "viscous", "negative");
    REFUSE(cylinder, good_cylinder(), coulomb, -1.0, "coulomb", "negative");
    REFUSE(cylinder, good_cylinder(), coulomb_speed, 0.0, "coulomb_speed", "positive");
    REFUSE(cylinder, good_cylinder(), damper_length, 0.2, "damper_length", "do not fit");
    REFUSE(cylinder, good_cylinder(), damper_stiffness, -1.0, "damper_stiffness", "negative");
    REFUSE(cylinder, good_cylinder(), damper_damping, -1.0, "damper_damping", "negative");
    REFUSE(cylinder, good_cylinder(), motion, 3, "motion", "no signal");
    itm_circuit_builder_destroy(b);
}

// ---------------------------------------------------------------------------- whole circuits

// Orifices that join all nodes of make_builder.
static void join_all(ItmCircuitBuilder* b)
{
    static const char* const NAMES[4] = {"r0", "r1", "r2", "r3"};
    ItmError error;
    for (int i = 0; i < 4; i++) {
        ItmOrificeDef def = good_orifice();
        def.name = NAMES[i];
        def.port_a = i;
        def.port_b = i + 1;
        CHECK_OK(itm_circuit_builder_add_orifice(b, &def, NULL, &error), &error);
    }
}

static void expect_no_circuit(const ItmCircuitBuilder* b, const char* field, const char* word)
{
    ItmCircuit* c = NULL;
    ItmError error = {0};
    expect_refused(itm_circuit_build(&c, b, &error), &error, field, word);
    assert_null(c);
}

static void circuits_are_checked(void** state)
{
    (void)state;
    ItmError error;
    ItmCircuitBuilder* b = NULL;
    CHECK_OK(itm_circuit_builder_create(&b, &error), &error);
    expect_no_circuit(b, "nodes", "at least one node");
    itm_circuit_builder_destroy(b);

    b = make_builder();
    expect_no_circuit(b, "a", "disconnected");
    join_all(b);
    ItmCircuit* c = NULL;
    CHECK_OK(itm_circuit_build(&c, b, &error), &error);
    ItmCircuitInfo info = itm_circuit_get_info(c);
    assert_int_equal(info.nvolume, 3);
    assert_int_equal(info.nsource, 2);
    assert_int_equal(info.nbranch, 4);
    assert_int_equal(info.nisland, 1);
    assert_int_equal(info.ninput, 2);
    assert_string_equal(itm_circuit_get_node_name(c, 3), "b");
    assert_string_equal(itm_circuit_get_input_name(c, 0), "pump");
    assert_string_equal(itm_circuit_get_state_name(c, 0), "a.pressure");
    assert_null(itm_circuit_get_node_name(c, 5));
    assert_null(itm_circuit_get_input_name(c, 2));
    assert_null(itm_circuit_get_state_name(c, 3));
    assert_null(itm_circuit_get_cylinder_name(c, 0));
    itm_circuit_destroy(c);

    ItmVolumeDef volume = good_volume();
    ItmOrificeDef orifice = good_orifice();
    volume.pressure = 0.5e5;
    orifice.name = "into";
    CHECK_OK(itm_circuit_builder_add_volume(b, &volume, &orifice.port_b, &error), &error);
    CHECK_OK(itm_circuit_builder_add_orifice(b, &orifice, NULL, &error), &error);
    expect_no_circuit(b, "volume.pressure", "below the 100000 Pa of tank 'tank'");
    itm_circuit_builder_destroy(b);

    // a port without volume of its own, and a chamber that is empty at the start
    b = make_builder();
    join_all(b);
    volume = good_volume();
    volume.volume = 0.0;
    ItmCylinderDef cylinder = good_cylinder();
    CHECK_OK(itm_circuit_builder_add_volume(b, &volume, &cylinder.port_1, &error), &error);
    cylinder.start_extension = 0.0;
    CHECK_OK(itm_circuit_builder_add_cylinder(b, &cylinder, NULL, &error), &error);
    expect_no_circuit(b, "volume.volume", "must be positive");
    itm_circuit_builder_destroy(b);

    // a source that follows a signal of 1 Pa
    b = make_builder();
    join_all(b);
    ItmPressureSourceDef source = itm_default_pressure_source_def();
    source.name = "source";
    source.pressure = 0.0;
    source.signal = 0;
    orifice = good_orifice();
    CHECK_OK(itm_circuit_builder_add_pressure_source(b, &source, &orifice.port_a, &error), &error);
    CHECK_OK(itm_circuit_builder_add_orifice(b, &orifice, NULL, &error), &error);
    expect_no_circuit(b, "source.pressure", "source 'source' starts at 1 Pa");
    itm_circuit_builder_destroy(b);

    // the prescribed motion begins outside the stroke
    b = make_builder();
    join_all(b);
    cylinder = good_cylinder();
    cylinder.motion = 0;
    cylinder.start_length = 0.0;
    CHECK_OK(itm_circuit_builder_add_cylinder(b, &cylinder, NULL, &error), &error);
    expect_no_circuit(b, "cyl.motion", "outside its stroke");
    itm_circuit_builder_destroy(b);

    b = make_builder();
    join_all(b);
    CHECK_OK(itm_circuit_builder_add_alias(b, "cyl1.p3", "nothing.pressure", &error), &error);
    expect_refused(itm_circuit_builder_add_alias(b, "cyl1.p3", "a.pressure", &error), &error, "name", "taken");
    expect_refused(itm_circuit_builder_add_alias(b, "cyl1.p 4", "a.pressure", &error), &error, "name", "white space");
    expect_refused(itm_circuit_builder_add_alias(b, "cyl1..p", "a.pressure", &error), &error, "name",
                   "a name is needed");
    expect_no_circuit(b, "alias", "no output 'nothing.pressure'");
    itm_circuit_builder_destroy(b);
    b = make_builder();
    join_all(b);
    CHECK_OK(itm_circuit_builder_add_alias(b, "b.pressure", "a.pressure", &error), &error);
    expect_no_circuit(b, "alias", "already");
    itm_circuit_builder_destroy(b);
}

static void null_arguments_are_refused(void** state)
{
    (void)state;
    ItmError error;
    ItmCircuitBuilder* b = make_builder();
    ItmCircuit* c = NULL;
    assert_int_equal(itm_circuit_builder_create(NULL, &error), ITM_ERR_ARGUMENT);
    assert_int_equal(itm_circuit_builder_add_volume(b, NULL, NULL, &error), ITM_ERR_ARGUMENT);
    assert_int_equal(itm_circuit_builder_add_volume(NULL, NULL, NULL, &error), ITM_ERR_ARGUMENT);
    assert_int_equal(itm_circuit_builder_add_cylinder(b, NULL, NULL, &error), ITM_ERR_ARGUMENT);
    assert_int_equal(itm_circuit_builder_add_alias(b, NULL, "a.pressure", &error), ITM_ERR_ARGUMENT);
    assert_int_equal(itm_circuit_build(&c, NULL, &error), ITM_ERR_ARGUMENT);
    assert_int_equal(itm_circuit_build(NULL, b, NULL), ITM_ERR_ARGUMENT);
    itm_circuit_builder_destroy(b);
    itm_circuit_builder_destroy(NULL);
    itm_circuit_destroy(NULL);
    itm_hydraulics_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_checked),          cmocka_unit_test(fluids_and_nodes_are_checked),
        cmocka_unit_test(resistances_are_checked),    cmocka_unit_test(valves_and_accumulators_are_checked),
        cmocka_unit_test(cylinders_are_checked),      cmocka_unit_test(circuits_are_checked),
        cmocka_unit_test(null_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
