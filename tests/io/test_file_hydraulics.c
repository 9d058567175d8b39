// Hydraulic circuits in model files: what is read, that it is the same as through the C API, and where and how every kind of
// mistake is reported.
#include "read_text.h"

#include "hydraulics/circuit_builder.h"
#include "interim/interim.h"
#include "scenes/scenes.h"

#define PI 3.14159265358979323846

static ItmModelFile* load(const char* text, const char* override)
{
    ItmModelFile* file = NULL;
    ItmError error = {0};
    if (itm_file_parse(&file, text, strlen(text), "model.yaml", &override, override != NULL, &error) != ITM_OK) {
        fail_msg("%s:%d:%d: %s\n%s", error.file, error.line, error.column, error.message, text);
    }
    return file;
}

// ---------------------------------------------------------------------------- what is read

static const char EVERYTHING[] =
    "signals:\n"
    "  shift: {ramp: {end: 1 s, from: 0.3 m, to: 0.32 m}}\n"
    "  stroke: {sine: {offset: 0.5, amplitude: 0.4, frequency: 2 Hz}}\n"
    "parameters: {p0: 20 bar}\n"
    "subsystems:\n"
    "  press:\n"
    "    type: hydraulics\n"
    "    step: 0.1 ms\n"
    "    integrator: rk4\n"
    "    tolerance: 1e-8\n"
    "    max_iterations: 12\n"
    "    ledger: false\n"
    "    fluids:\n"
    "      oil: {density: 870 kg/m^3, bulk_modulus: 1.4 GPa, vapour_pressure: 2 kPa}\n"
    "      water: {compress_a: 5e-10 Pa^-1, compress_b: -1e-18 Pa^-2}\n"
    "    nodes:\n"
    "      pump: {type: pressure-source, fluid: oil, pressure: 7.6 MPa, signal: {sine: {amplitude: 1 bar, frequency: 1 "
    "Hz}}}\n"
    "      tank: {type: tank, fluid: oil}\n"
    "      line: {type: hose, fluid: oil, volume: 47.1 cm^3, wall_modulus: 150 MPa, pressure: p0}\n"
    "      a: {type: volume, fluid: oil, pressure: p0}\n"
    "      b: {type: volume, fluid: oil, volume: 10 ml, pressure: p0, held: true}\n"
    "      cooling: {type: volume, fluid: water, volume: 2 l}\n"
    "      drain: {type: tank, fluid: water, pressure: 0.9 bar}\n"
    "    elements:\n"
    "      feed: {type: flow-source, port: line, flow: 6 l/min}\n"
    "      circulate: {type: flow-source, ports: [drain, cooling], flow: {ramp: {end: 1 s, to: 3 l/min}}}\n"
    "      leak: {type: laminar, ports: [cooling, drain], conductance: 0.12 l/min/bar}\n"
    "      valve1:\n"
    "        type: valve-4-3\n"
    "        ports: {p: pump, t: tank, a: line, b: b}\n"
    "        coefficient: 60 l/min / sqrt(40 bar) / 10\n"
    "        threshold: 3 bar\n"
    "        command: 1\n"
    "        signal: {piecewise: {times: [0, 0.1], values: [0, 5]}}\n"
    "        limit: 10\n"
    "        dead_band: 0.2\n"
    "        spool: {natural_frequency: 50 Hz, damping_ratio: 0.8}\n"
    "      valve2:\n"
    "        type: valve-symmetric\n"
    "        ports: {p: pump, t: tank, a: a, b: b}\n"
    "        area: 5 cm^2\n"
    "        discharge: 0.67\n"
    "        spool: {time_constant: 4 ms}\n"
    "      throttle: {type: orifice, ports: [line, a], diameter: 6 mm, discharge: 0.8, one_way: true}\n"
    "      slot: {type: variable-orifice, ports: [line, b], area: 2 mm^2, opening: stroke}\n"
    "      check: {type: check-valve, ports: [a, line], area: 4 mm^2}\n"
    "      relief: {type: relief-valve, ports: [line, tank], area: 20 mm^2, opening_pressure: 120 bar, span: 10 bar}\n"
    "      gas: {type: accumulator, port: line, gas_volume: 1 l, precharge: 15 bar, exponent: 1.3}\n"
    "      cyl1: {type: cylinder, ports: [a, b], bore: 50 mm, rod: 30 mm, stroke: 0.4 m, start_extension: 0.1 m, "
    "motion: shift,\n"
    "             dead_volume_1: 5 ml, dead_volume_2: 6 ml, wall_modulus: 30 GPa, leakage: 1e-12, viscous: 1 kN s/m,\n"
    "             coulomb: 200 N, coulomb_speed: 2 mm/s, damper_length: 8 mm, damper_stiffness: 10 MN/m,\n"
    "             damper_damping: 5 kN s/m}\n"
    "      cyl2: {type: cylinder, ports: [b, a], area_1: 20 cm^2, area_2: 15 cm^2, stroke: 0.4 m, start_length: 1 m}\n"
    "    outputs: {cyl1.p3: line.pressure, U: valve1.spool}\n"
    "    start: {static: {free: [valve1, slot], force: {cyl2: 3 kN}}}\n"
    "run: {duration: 0.5 s, output_interval: 10 ms}\n";

static void fluids_and_nodes_are_read(void** state)
{
    (void)state;
    Read r = accept(EVERYTHING);
    assert_null(r.builder);
    assert_int_equal(r.file.ncircuit, 1);
    const ItmFileCircuit* circuit = &r.file.circuits[0];
    assert_string_equal(circuit->name, "press");
    assert_true(circuit->step == 1e-4 && r.file.run.step.step == 1e-4);
    assert_int_equal(circuit->options.integrator, ITM_HYDRAULIC_RK4);
    assert_true(circuit->options.tolerance == 1e-8 && circuit->options.max_iterations == 12);
    assert_false(circuit->options.use_ledger);
    const ItmCircuitBuilder* b = r.parts.circuits[0].builder;
    const ItmFluidDef* fluids = b->fluids.items;
    assert_int_equal(b->fluids.count, 2);
    assert_true(fluids[0].density == 870 && fluids[0].bulk_modulus == 1.4e9 && fluids[0].vapour_pressure == 2e3);
    assert_false(fluids[0].has_pressure_law);
    assert_true(fluids[1].has_pressure_law && fluids[1].compress_a == 5e-10 && fluids[1].compress_b == -1e-18);
    const ItmNodeDef* nodes = b->nodes.items;
    assert_int_equal(b->nodes.count, 7);
    assert_true(nodes[0].is_source && nodes[0].source.pressure == 7.6e6 && !nodes[0].source.is_tank);
    assert_true(b->signals.items[nodes[0].source.signal].amplitude == 1e5);
    assert_true(nodes[1].source.is_tank && nodes[1].source.pressure == 1e5 && nodes[1].source.signal == ITM_NONE);
    CHECK_NEAR(nodes[2].volume.volume, 47.1e-6, 1e-20);
    assert_true(nodes[2].volume.wall_modulus == 150e6 && nodes[2].volume.pressure == 2e6 && !nodes[2].volume.is_held);
    assert_true(nodes[3].volume.volume == 0 && isinf(nodes[3].volume.wall_modulus));
    assert_true(nodes[4].volume.is_held);
    assert_true(nodes[5].volume.fluid == 1 && nodes[5].volume.pressure == 1e5 && nodes[6].source.fluid == 1);
    done(&r);
}

static void sources_and_resistances_are_read(void** state)
{
    (void)state;
    Read r = accept(EVERYTHING);
    const ItmCircuitBuilder* b = r.parts.circuits[0].builder;
    const ItmFlowSourceDef* flows = b->flows.items;
    assert_int_equal(b->flows.count, 2);
    CHECK_NEAR(flows[0].flow, 1e-4, 1e-19);
    assert_true(flows[0].port_a == ITM_NONE && flows[0].port_b == 2 && flows[0].signal == ITM_NONE);
    assert_true(flows[1].flow == 0 && flows[1].port_a == 6 && flows[1].port_b == 5);
    CHECK_NEAR(b->signals.items[flows[1].signal].to, 5e-5, 1e-19);
    CHECK_NEAR(b->laminars.items[0].conductance, 0.12e-3 / 60 / 1e5, 1e-26);
    const ItmOrificeDef* orifices = b->orifices.items;
    assert_int_equal(b->orifices.count, 2);
    assert_true(orifices[0].law.discharge == 0.8 && orifices[0].law.threshold == 2e5 && orifices[0].law.is_one_way);
    CHECK_NEAR(orifices[0].law.area, PI / 4 * 36e-6, 1e-20);
    assert_true(orifices[1].is_variable && orifices[1].opening == 0 && orifices[1].law.discharge == 0.7);
    assert_true(b->signals.items[orifices[1].signal].amplitude == 0.4);
    const ItmPressureValveDef* valves = b->pressure_valves.items;
    assert_true(valves[0].opening_pressure == 0.2e5 && valves[0].span == 0.5e5);
    assert_true(valves[1].opening_pressure == 120e5 && valves[1].span == 10e5);
    assert_true(valves[0].port_a == 3 && valves[0].port_b == 2);
    const ItmAccumulatorDef* gas = &b->accumulators.items[0];
    assert_true(gas->port == 2 && gas->gas_volume == 1e-3 && gas->precharge == 15e5 && gas->exponent == 1.3);
    done(&r);
}

static void valves_and_cylinders_are_read(void** state)
{
    (void)state;
    Read r = accept(EVERYTHING);
    const ItmCircuitBuilder* b = r.parts.circuits[0].builder;
    const ItmValveDef* v = b->valves.items;
    assert_int_equal(b->valves.count, 2);
    assert_int_equal(v[0].kind, ITM_VALVE_4_3);
    assert_true(v[0].port_p == 0 && v[0].port_t == 1 && v[0].port_a == 2 && v[0].port_b == 4);
    CHECK_NEAR(v[0].law.coefficient, 1e-3 / 2000 / 10, 1e-22);
    assert_true(v[0].law.threshold == 3e5 && v[0].command == 1 && v[0].limit == 10 && v[0].dead_band == 0.2);
    assert_true(b->signals.items[v[0].signal].values[1] == 5);
    assert_true(v[0].spool == ITM_SPOOL_SECOND && v[0].damping_ratio == 0.8);
    CHECK_NEAR(v[0].frequency, 2 * PI * 50, 1e-12);
    assert_int_equal(v[1].kind, ITM_VALVE_SYMMETRIC);
    assert_true(v[1].spool == ITM_SPOOL_FIRST && v[1].time_constant == 4e-3 && v[1].command == 0.5);
    assert_true(v[1].law.is_one_way && v[1].law.threshold == 0 && v[1].signal == ITM_NONE);
    const ItmCylinderDef* c = b->cylinders.items;
    assert_int_equal(b->cylinders.count, 2);
    assert_true(c[0].port_1 == 3 && c[0].port_2 == 4 && c[0].stroke == 0.4 && c[0].start_extension == 0.1);
    CHECK_NEAR(c[0].area_2, PI / 4 * (0.05 * 0.05 - 0.03 * 0.03), 1e-18);
    CHECK_NEAR(c[0].dead_volume_1, 5e-6, 1e-20);
    CHECK_NEAR(c[0].dead_volume_2, 6e-6, 1e-20);
    assert_true(c[0].wall_modulus == 30e9);
    assert_true(c[0].leakage == 1e-12 && c[0].viscous == 1e3 && c[0].coulomb == 200 && c[0].coulomb_speed == 2e-3);
    assert_true(c[0].damper_length == 8e-3 && c[0].damper_stiffness == 10e6 && c[0].damper_damping == 5e3);
    assert_true(b->signals.items[c[0].motion].from == 0.3);
    CHECK_NEAR(c[1].area_1, 20e-4, 1e-18);
    assert_true(c[1].start_length == 1 && c[1].start_extension == 0.2 && c[1].motion == ITM_NONE);
    done(&r);
}

static void start_and_outputs_are_resolved(void** state)
{
    (void)state;
    ItmModelFile* file = load(EVERYTHING, NULL);
    const ItmFileCircuit* circuit = &file->circuits[0];
    const ItmCircuit* c = circuit->circuit;
    assert_null(file->model);
    assert_true(itm_circuit_find_output(c, "cyl1.p3") != ITM_NONE && itm_circuit_find_output(c, "U") != ITM_NONE);
    assert_true(circuit->is_static && isnan(circuit->force[0]) && circuit->force[1] == 3e3);
    ItmCircuitInfo info = itm_circuit_get_info(c);
    for (int i = 0; i < info.ninput; i++) {
        const char* name = itm_circuit_get_input_name(c, i);
        assert_int_equal(circuit->is_free[i], strcmp(name, "valve1") == 0 || strcmp(name, "slot") == 0);
    }
    assert_int_equal(circuit->start.line, 55);
    assert_int_equal(circuit->start.column, 12);
    assert_string_equal(circuit->start.file, "model.yaml");
    itm_file_destroy(file);

    // a motion gives the length at the start
    file = load(
        "subsystems: {h: {type: hydraulics, nodes: {a: {type: volume}, b: {type: volume}}, elements: {c: {type: "
        "cylinder,\n"
        " ports: [a, b], bore: 1 cm, stroke: 2 m, start_extension: 0.5, motion: {ramp: {end: 1, from: 3, to: 4}}}}}}",
        NULL);
    ItmHydraulics* d = NULL;
    ItmError error = {0};
    ItmHydraulicResidual rest;
    CHECK_OK(itm_file_create_hydraulics(&d, &file->circuits[0], &rest, &error), &error);
    double values[32];
    assert_true(itm_circuit_get_output_count(file->circuits[0].circuit) <= 32);
    itm_hydraulics_compute_outputs(file->circuits[0].circuit, d, values);
    assert_true(values[itm_circuit_find_output(file->circuits[0].circuit, "c.length")] == 3.0);
    assert_true(rest.flow == 0);
    itm_hydraulics_destroy(d);
    itm_file_destroy(file);
}

// ---------------------------------------------------------------------------- static start

// The manipulator's circuit alone, whose start is looked for; the caller destroys the file.
static ItmModelFile* load_manipulator(const char* start)
{
    const char* overrides[] = {"parameters.kappa1=0.5", "parameters.kappa2=0.5", start};
    ItmModelFile* file = NULL;
    ItmError error = {0};
    CHECK_OK(itm_example_load(&file, "manipulator", overrides, 3, &error), &error);
    return file;
}

static void circuit_of_the_manipulator_starts_at_rest(void** state)
{
    (void)state;
    ItmError error = {0};
    ItmModelFile* file = load_manipulator(
        "subsystems.hydraulics.start={static: {free: [valve1, valve2], force: {cyl1: 4 kN, cyl2: 1 kN}}}");
    const ItmFileCircuit* circuit = &file->circuits[0];

    // f = A (p_P - p_T) (1 - 2 kappa) / (1 - 2 kappa + 2 kappa^2) at rest            [docs/theory-hydraulics.md]
    ItmHydraulics* d = NULL;
    ItmHydraulicResidual rest;
    CHECK_OK(itm_file_create_hydraulics(&d, circuit, &rest, &error), &error);
    for (int i = 0; i < 2; i++) {
        int valve = itm_circuit_find_input(circuit->circuit, i == 0 ? "valve1" : "valve2");
        double kappa = 0.5 + itm_hydraulics_get_input(d, valve);
        double force = 6.5e-3 * 7.5e6 * (1 - 2 * kappa) / (1 - 2 * kappa + 2 * kappa * kappa);
        // tolerance of the solver, 1e-11 of the scales
        CHECK_NEAR(force, circuit->force[i], 1e-9 * 6.5e-3 * 7.6e6);
        CHECK_NEAR(itm_hydraulics_get_force(circuit->circuit, d, i).total, circuit->force[i], 1e-9 * 6.5e-3 * 7.6e6);
    }
    assert_true(rest.iterations > 0 && rest.flow < 1e-10);
    itm_hydraulics_destroy(d);
    itm_file_destroy(file);
}

static void a_start_that_cannot_rest_names_its_place(void** state)
{
    (void)state;
    // a symmetric valve that stands in the middle gives no force
    static const char TEXT[] =
        "subsystems:\n"
        "  hydraulics:\n"
        "    type: hydraulics\n"
        "    nodes: {pump: {type: pressure-source, pressure: 7.6 MPa}, tank: {type: tank}, push: {type: volume}, pull: "
        "{type: volume}}\n"
        "    elements:\n"
        "      valve1: {type: valve-symmetric, ports: {p: pump, t: tank, a: push, b: pull}, area: 5e-4, command: 0.5}\n"
        "      cyl1: {type: cylinder, ports: [push, pull], area_1: 6.5e-3, area_2: 6.5e-3, stroke: 0.4 m, "
        "start_length: 0.5 m}\n"
        "    start: {static: {force: {cyl1: 4 kN}}}\n";
    ItmModelFile* file = load(TEXT, NULL);
    ItmHydraulics* d = NULL;
    ItmError error = {0};
    assert_int_equal(itm_file_create_hydraulics(&d, &file->circuits[0], NULL, &error), ITM_ERR_DIVERGED);
    assert_null(d);
    assert_string_equal(error.file, "model.yaml");
    assert_int_equal(error.line, 8);
    assert_int_equal(error.column, 12);
    assert_non_null(strstr(error.message, "cyl1"));
    itm_file_destroy(file);
}

// ---------------------------------------------------------------------------- stable steps

// Deviation of a state from rest after 1000 steps, as a multiple of that at the start.
static double grow(const ItmFileCircuit* circuit, int state, double deviation, double h)
{
    ItmHydraulics* d = NULL;
    ItmError error = {0};
    double x[8], rest;
    CHECK_OK(itm_hydraulics_create(&d, circuit->circuit, &circuit->options, &error), &error);
    assert_true(itm_circuit_get_info(circuit->circuit).nstate <= 8);
    itm_hydraulics_get_x(d, x);
    rest = x[state];
    x[state] += deviation;
    itm_hydraulics_set_x(d, x);
    double largest = 0.0;
    for (int i = 0; i < 1000; i++) {
        CHECK_OK(itm_hydraulics_step(circuit->circuit, d, h), itm_hydraulics_get_error(d));
        itm_hydraulics_get_x(d, x);
        largest = i < 950 ? 0.0 : fmax(largest, fabs(x[state] - rest));  // of the last swings
    }
    itm_hydraulics_destroy(d);
    return largest / deviation;
}

// A vessel that fills through a laminar resistance (a real eigenvalue), and a spool of second order (a complex pair).
static void explicit_integrators_are_stable_up_to_the_step_that_is_named(void** state)
{
    (void)state;
    static const struct {
        const char* text;
        const char* state;
        double deviation, euler;  // limit of forward Euler, -2 Re / |lambda|^2
    } CASES[] = {
        {"subsystems: {h: {type: hydraulics, nodes: {pump: {type: pressure-source, pressure: 50 bar},\n"
         " a: {type: volume, volume: 1.5 l, pressure: 50 bar}}, elements: {\n"
         " r: {type: laminar, ports: [pump, a], conductance: 1e-9}}}}",
         "a.pressure", 1e3, 2 / 1e3},
        {"subsystems: {h: {type: hydraulics, nodes: {pump: {type: pressure-source, pressure: 50 bar}, tank: {type: "
         "tank},\n"
         " a: {type: volume, volume: 1 l}, b: {type: volume, volume: 1 l}}, elements: {\n"
         " v: {type: valve-4-3, ports: {p: pump, t: tank, a: a, b: b}, area: 0.01 mm^2, dead_band: 1,\n"
         " spool: {natural_frequency: 50 Hz, damping_ratio: 0.3}}}}}",
         "v.spool", 1e-6, 2 * 0.3 / (2 * PI * 50)},
    };
    for (int k = 0; k < 2; k++) {
        for (int i = ITM_HYDRAULIC_EULER; i <= ITM_HYDRAULIC_TRAPEZOIDAL; i++) {
            ItmModelFile* file = load(CASES[k].text, NULL);
            ItmFileCircuit* circuit = &file->circuits[0];
            circuit->options.integrator = (ItmHydraulicIntegrator)i;
            ItmHydraulics* d = NULL;
            ItmError error = {0};
            CHECK_OK(itm_file_create_hydraulics(&d, circuit, NULL, &error), &error);
            double limit = itm_hydraulics_compute_stable_step(circuit->circuit, d, circuit->options.integrator);
            itm_hydraulics_destroy(d);
            int at = 0;
            while (strcmp(itm_circuit_get_state_name(circuit->circuit, at), CASES[k].state) != 0) {
                at++;
            }
            if (i == ITM_HYDRAULIC_TRAPEZOIDAL) {
                assert_true(isinf(limit));
            } else {
                assert_true(grow(circuit, at, CASES[k].deviation, 0.97 * limit) < 0.5);
                assert_true(grow(circuit, at, CASES[k].deviation, 1.03 * limit) > 2.0);
            }
            if (i == ITM_HYDRAULIC_EULER) {
                CHECK_NEAR(limit, CASES[k].euler, 1e-6 * CASES[k].euler);  // 1e-12 of slack on |R|
            }
            itm_file_destroy(file);
        }
    }
}

// ---------------------------------------------------------------------------- several subsystems

// The smallest circuit with a valve.
#define VALVE(command)                                                                                                 \
    "subsystems:\n"                                                                                                    \
    "  oil:\n"                                                                                                         \
    "    type: hydraulics\n"                                                                                           \
    "    nodes: {pump: {type: pressure-source, pressure: 7 MPa}, tank: {type: tank},\n"                                \
    "            a: {type: volume, volume: 1 l}, b: {type: volume, volume: 1 l}}\n"                                    \
    "    elements:\n"                                                                                                  \
    "      valve: {type: valve-4-3, ports: {p: pump, t: tank, a: a, b: b}, area: 1 mm^2, " command "}\n"

static void signals_of_the_file_serve_every_subsystem(void** state)
{
    (void)state;
    Read r = accept("signals: {lift: {ramp: {end: 1 s, to: 5}}, idle: 3}\n"
                    "multibody:\n"
                    "  name: arm\n"
                    "  bodies: {rod: {mass: 1, inertia: [1, 1, 1]}}\n"
                    "  forces: {push: {type: force, body: rod, vector: [1, 0, 0], signal: lift}}\n" VALVE(
                        "command: lift") "  more:\n"
                                         "    type: hydraulics\n"
                                         "    nodes: {a: {type: volume, volume: 1 l}, b: {type: volume, volume: 1 l}}\n"
                                         "    elements: {slit: {type: variable-orifice, ports: [a, b], area: 1 mm^2, "
                                         "opening: lift, signal: oil.a.pressure}}\n");
    assert_int_equal(r.builder->signals.count, 2);
    assert_int_equal(r.file.ncircuit, 2);
    assert_string_equal(r.file.circuits[1].name, "more");
    for (int i = 0; i < 2; i++) {
        const ItmCircuitBuilder* b = r.parts.circuits[i].builder;
        assert_int_equal(b->signals.count, 1);
        assert_string_equal(b->signals.items[0].name, "lift");
        assert_true(b->signals.items[0].to == 5);
    }
    assert_int_equal(r.file.nconnection, 1);
    assert_string_equal(r.file.connections[0].from, "oil.a.pressure");
    assert_string_equal(r.file.connections[0].to, "more.slit");
    done(&r);
}

static void outputs_of_other_subsystems_are_kept_as_connections(void** state)
{
    (void)state;
    ItmModelFile* file = load(
        "multibody: {name: arm, bodies: {rod: {mass: 1, inertia: [1, 1, 1]}}}\n" VALVE("command: arm.rod.position.x"),
        NULL);
    assert_non_null(file->model);
    assert_int_equal(file->nconnection, 1);
    const ItmFileConnection* c = &file->connections[0];
    assert_string_equal(c->from, "arm.rod.position.x");
    assert_string_equal(c->to, "oil.valve");
    assert_string_equal(c->place.file, "model.yaml");
    assert_int_equal(c->place.line, 8);
    assert_int_equal(c->place.column, 94);
    itm_file_destroy(file);
}

static void steps_of_run_and_circuit_fit(void** state)
{
    (void)state;
    Read r = accept(VALVE("command: 1") "    step: 0.2 ms\nrun: {step: 1 ms}\n");
    assert_true(r.file.run.step.step == 1e-3 && r.file.circuits[0].step == 2e-4);
    done(&r);
    r = accept(VALVE("command: 1") "    step: 0.2 ms\n");
    assert_true(r.file.run.step.step == 2e-4);
    done(&r);
    r = accept(VALVE("command: 1"));
    assert_true(r.file.run.step.step == itm_default_step_options().step && r.file.circuits[0].step == 0);
    done(&r);
}

static void overrides_reach_into_circuits(void** state)
{
    (void)state;
    ItmModelFile* file = load(EVERYTHING, "subsystems.press.elements.cyl2.stroke=0.5 m");
    itm_file_destroy(file);
    Read r = accept_with(EVERYTHING, "subsystems.press.integrator=adaptive");
    assert_int_equal(r.file.circuits[0].options.integrator, ITM_HYDRAULIC_ADAPTIVE);
    done(&r);
    r = read_length(EVERYTHING, strlen(EVERYTHING), "subsystems.press.elements.cyl3.stroke=0.5 m");
    expect_error(&r, EVERYTHING, "--set subsystems.press.elements.cyl3.stroke=0.5 m", 1, 27, "nearest: 'cyl1'");
    r = read_length(EVERYTHING, strlen(EVERYTHING), "subsystems.pres.step=1 ms");
    expect_error(&r, EVERYTHING, "--set subsystems.pres.step=1 ms", 1, 12, "nearest: 'press'");
}

// ---------------------------------------------------------------------------- mistakes

static void expect_refused(const char* text, int line, int column, const char* words)
{
    ItmModelFile* file = NULL;
    ItmError error = {0};
    ItmStatus status = itm_file_parse(&file, text, strlen(text), "model.yaml", NULL, 0, &error);
    if (status == ITM_OK || error.line != line || error.column != column || strstr(error.message, words) == NULL) {
        fail_msg("expected %d:%d '%s', got status %d at %d:%d: %s\n%s", line, column, words, (int)status, error.line,
                 error.column, error.message, text);
    }
    assert_string_equal(error.file, "model.yaml");
    assert_null(file);
}

// Line 1 is `subsystems: {h: {type: hydraulics,`, then the lines given.
static void refuse_circuit(const char* lines, int line, int column, const char* words)
{
    char text[4096];
    snprintf(text, sizeof text, "subsystems: {h: {type: hydraulics,\n%s}}\n", lines);
    expect_refused(text, line + 1, column, words);
}

// A circuit of pump, tank and volumes a, b, c, all joined, and one more element; its definition begins in column 5.
static void refuse_element(const char* element, int column, const char* words)
{
    char text[4096];
    snprintf(
        text, sizeof text,
        "signals: {force: 3 N, level: 1}\n"
        "parameters: {gap: 1 mm}\n"
        "subsystems: {h: {type: hydraulics,\n"
        " nodes: {pump: {type: pressure-source, pressure: 7 MPa}, tank: {type: tank}, a: {type: volume, volume: 1 l},\n"
        "  b: {type: volume, volume: 1 l}, c: {type: volume, volume: 1 l}},\n"
        " elements: {r1: {type: laminar, ports: [pump, a], conductance: 1e-12}, r2: {type: laminar, ports: [a, b], "
        "conductance: 1e-12},\n"
        " r3: {type: laminar, ports: [b, c], conductance: 1e-12}, r4: {type: laminar, ports: [c, tank], conductance: "
        "1e-12},\n"
        " e: %s}}}\n",
        element);
    expect_refused(text, 8, column, words);
}

static void mistakes_in_subsystems_are_placed(void** state)
{
    (void)state;
    expect_refused("run: {}\n", 1, 1, "needs 'multibody' or 'subsystems'");
    expect_refused("subsystems: {}\n", 1, 13, "no subsystems");
    expect_refused("subsystems: [a]\n", 1, 13, "subsystems: expected a mapping");
    expect_refused("subsystems: {h: 3}\n", 1, 17, "a subsystem: expected a mapping");
    expect_refused("subsystems: {h: {nodes: {}}}\n", 1, 14, "a subsystem needs 'type'");
    expect_refused("subsystems: {h: {type: hidraulics}}\n", 1, 24, "nearest: 'hydraulics'");
    expect_refused("subsystems: {h.k: {type: hydraulics}}\n", 1, 14, "a name has");
    expect_refused(
        "multibody: {name: h, bodies: {a: {mass: 1, inertia: [1, 1, 1]}}}\nsubsystems: {h: {type: hydraulics}}\n", 2,
        14, "name of the mechanism");
    expect_refused("subsystems: {h: {type: hydraulics}}\n", 1, 14, "needs 'nodes'");
    expect_refused("subsystems: {h: {type: hydraulics, nodes: {}}}\n", 1, 14, "no nodes");
    expect_refused("subsystems: {h: {type: hydraulics, nods: {}}}\n", 1, 36, "nearest: 'nodes'");
    expect_refused(VALVE("command: 1") "    step: 0.3 ms\nrun: {step: 1 ms}\n", 8, 11, "must be a multiple");
    expect_refused(VALVE("command: 1") "    step: 2 ms\nrun: {step: 1 ms}\n", 8, 11, "must be a multiple");
    expect_refused(VALVE("command: 1") "    step: 0 ms\n", 8, 11, "must be positive");
    expect_refused(VALVE("command: 1") "    integrator: rk45\n", 8, 17, "nearest: 'rk4'");
    expect_refused(VALVE("command: 1") "    tolerance: -1\n", 8, 16, "positive");
    expect_refused(VALVE("command: 1") "    max_iterations: 0\n", 8, 21, "whole number");
    expect_refused(VALVE("command: 1") "    ledger: on\n", 8, 13, "true or false");
    expect_refused(VALVE("command: 1") "run: {stepper: ali1}\n", 8, 16, "for mechanisms");
}

static void mistakes_in_fluids_and_nodes_are_placed(void** state)
{
    (void)state;
    refuse_circuit(" fluids: {oil: {density: -1}}, nodes: {}", 1, 26, "density must be finite and positive");
    refuse_circuit(" fluids: {oil: {density: 1 bar}}, nodes: {}", 1, 26, "expected kg/m^3");
    refuse_circuit(" fluids: {oil: {compress_a: 1e-9, bulk_modulus: 1 GPa}}, nodes: {}", 1, 49, "not both");
    refuse_circuit(" fluids: {oil: {compress_b: 1e-18}}, nodes: {}", 1, 11, "needs 'compress_a'");
    refuse_circuit(" fluids: {o: {}, w: {}}, nodes: {a: {type: volume}}", 1, 34, "several fluids");
    refuse_circuit(" fluids: {oil: {}, w: {}}, nodes: {a: {type: volume, fluid: oli}}", 1, 61,
                   "no fluid 'oli'; nearest: 'oil'");
    refuse_circuit(" nodes: {a: {type: vloume}}", 1, 20, "nearest: 'volume'");
    refuse_circuit(" nodes: {a: {volume: 1 l}}", 1, 10, "a node needs 'type'");
    refuse_circuit(" nodes: {a: {type: volume, volume: -1 l}}", 1, 36, "not negative");
    refuse_circuit(" nodes: {a: {type: volume, volume: 1 l, wall_modulus: 1 GPa}}", 1, 55, "type: hose");
    refuse_circuit(" nodes: {a: {type: hose, volume: 1 l}}", 1, 10, "needs 'wall_modulus'");
    refuse_circuit(" nodes: {a: {type: volume, volume: 1 l, pressure: 0.5 kPa}}", 1, 51, "below the vapour pressure");
    refuse_circuit(" nodes: {a: {type: volume, volume: 1 l, pressure: -1 bar}}", 1, 51, "below the vapour pressure");
    refuse_circuit(" nodes: {a: {type: pressure-source}}", 1, 10, "needs 'pressure'");
    refuse_circuit(" nodes: {a b: {type: tank}}", 1, 10, "white space");
    refuse_circuit(" nodes: {a: {type: tank}, b: {type: volume, volume: 1 l}},\n elements: {a: {type: laminar, ports: "
                   "[a, b], conductance: 1}}",
                   2, 13, "the name 'a' is taken already");
    refuse_circuit(" nodes: {energy: {type: tank}}", 1, 10, "ledger");
    refuse_circuit(" nodes: {a: {type: pressure-source, pressure: 1 bar, signal: 2 bar}}", 1, 62, "a constant already");
    refuse_circuit(" nodes: {a: {type: pressure-source, pressure: h.b}}", 1, 47, "a pressure to start from");
    refuse_circuit(" nodes: {a: {type: volume, volume: 1 l}}", 1, 10, "node 'a' is disconnected");
}

static void mistakes_in_circuits_are_placed(void** state)
{
    (void)state;
    // pressure below tank
    refuse_circuit(
        " nodes: {tank: {type: tank, pressure: 2 bar},\n  a: {type: volume, volume: 1 l, pressure: 1.5 bar}},\n"
        " elements: {o: {type: orifice, ports: [a, tank], area: 1 mm^2}}",
        2, 44, "below the 200000 Pa of tank 'tank'");
    refuse_circuit(" nodes: {tank: {type: tank, pressure: 2 bar},\n  a: {type: volume, volume: 1 l}},\n"
                   " elements: {o: {type: orifice, ports: [a, tank], area: 1 mm^2}}",
                   2, 3, "below the 200000 Pa of tank 'tank'");
    // no volume anywhere
    refuse_circuit(" nodes: {tank: {type: tank},\n  a: {type: volume}},\n"
                   " elements: {o: {type: orifice, ports: [a, tank], area: 1 mm^2}}",
                   2, 3, "must be positive");
    // motion and extension outside the stroke
    refuse_circuit(" nodes: {a: {type: volume, volume: 1 l}, b: {type: volume, volume: 1 l}},\n"
                   " elements: {c: {type: cylinder, ports: [a, b], bore: 5 cm, stroke: 0.3 m, start_length: 1 m,\n"
                   "  motion: {ramp: {end: 1 s, from: 2 m, to: 3 m}}}}",
                   3, 11, "outside its stroke");
    // outputs
#define NODES                                                                                                          \
    " nodes: {a: {type: volume, volume: 1 l}, b: {type: volume, volume: 1 l}},\n"                                      \
    " elements: {o: {type: orifice, ports: [a, b], area: 1 mm^2}},\n"
    refuse_circuit(NODES " outputs: {p: a.presure}", 3, 15, "no output 'a.presure'; nearest: 'a.pressure'");
    refuse_circuit(NODES " outputs: {b.pressure: a.pressure}", 3, 12, "'b.pressure' already");
    refuse_circuit(NODES " outputs: {p/q: a.pressure}", 3, 12, "may not contain");
    refuse_circuit(NODES " outputs: [p]", 3, 11, "outputs: expected a mapping");
    // start
    refuse_circuit(NODES " start: statick", 3, 9, "nearest: 'static'");
    refuse_circuit(NODES " start: {static: {free: [o]}}", 3, 26, "no input 'o'");
    refuse_circuit(NODES " start: {static: {free: o}}", 3, 25, "a list of inputs");
    refuse_circuit(NODES " start: {static: {force: {cyl: 3 N}}}", 3, 27, "no cylinder 'cyl'");
    refuse_circuit(NODES " start: {free: []}", 3, 10, "is not a key of start");
}

static void mistakes_in_elements_are_placed(void** state)
{
    (void)state;
    refuse_element("{}", 2, "an element needs 'type'");
    refuse_element("{type: orifce}", 12, "nearest: 'orifice'");
    refuse_element("{type: orifice, ports: [a, d], area: 1 mm^2}", 32, "there is no node 'd'");
    refuse_element("{type: orifice, ports: [a, tnak], area: 1 mm^2}", 32, "nearest: 'tank'");
    refuse_element("{type: orifice, ports: [a], area: 1 mm^2}", 28, "two names of nodes [a, b], found a list of 1");
    refuse_element("{type: orifice, ports: [a, ], area: 1 mm^2}", 28, "two names of nodes");
    refuse_element("{type: orifice, area: 1 mm^2}", 2, "needs 'ports'");
    refuse_element("{type: orifice, ports: [a, a], area: 1 mm^2}", 32, "both ports are connected to node 'a'");
    refuse_element("{type: orifice, ports: [a, b]}", 2, "needs 'area', 'diameter' or 'coefficient'");
    refuse_element("{type: orifice, ports: [a, b], area: 1 mm}", 42, "expected m^2, got m");
    refuse_element("{type: orifice, ports: [a, b], area: -1 mm^2}", 42, "area must be finite and positive");
    refuse_element("{type: orifice, ports: [a, b], diameter: -1 mm}", 46, "diameter must be positive");
    refuse_element("{type: orifice, ports: [a, b], area: 1 mm^2, diameter: gap}", 60, "not both");
    refuse_element("{type: orifice, ports: [a, b], coefficient: 1e-8, diameter: gap}", 65, "not both");
    refuse_element("{type: orifice, ports: [a, b], coefficient: 0}", 49, "coefficient must be positive");
    refuse_element("{type: orifice, ports: [a, b], coefficient: 3 l/min}", 49, "wrong unit");
    refuse_element("{type: orifice, ports: [a, b], area: 1 mm^2, opening: 1}", 50, "not a key of an orifice");
    refuse_element("{type: laminar, ports: [a, b]}", 2, "needs 'conductance'");
    refuse_element("{type: laminar, ports: [a, b], conductance: 0}", 49, "positive");
    refuse_element("{type: relief-valve, ports: [a, b], area: 1 mm^2, span: 0 bar}", 61, "span must be");
    refuse_element("{type: check-valve, ports: [a, b], area: 1 mm^2, one_way: true}", 54, "not a key of a check-valve");
    refuse_element("{type: flow-source, port: a}", 2, "needs 'flow'");
    refuse_element("{type: flow-source, flow: 1 l/min}", 2, "needs 'ports'");
    refuse_element("{type: flow-source, port: a, ports: [a, b], flow: 1 l/min}", 41, "not both");
    refuse_element("{type: flow-source, port: a, flow: 1 l}", 40, "expected m^3/s, got m^3");
    refuse_element("{type: accumulator, port: a, gas_volume: 1 l}", 2, "needs 'precharge'");
    refuse_element("{type: accumulator, port: pump, gas_volume: 1 l, precharge: 1 bar}", 31, "needs a volume");
    refuse_element("{type: accumulator, port: a, gas_volume: 1 l, precharge: 1 bar, exponent: 0.5}", 79, "at least 1");
}

static void mistakes_in_valves_are_placed(void** state)
{
    (void)state;
#define PORTS "{type: valve-4-3, ports: {p: pump, t: tank, a: a, b: b}, area: 1 mm^2, "
    const int after = (int)strlen(PORTS) + 5;
    refuse_element("{type: valve-4-3, area: 1 mm^2}", 2, "needs 'ports'");
    refuse_element("{type: valve-4-3, ports: {p: pump, t: tank, a: a}, area: 1 mm^2}", 30, "a valve needs 'b'");
    refuse_element("{type: valve-4-3, ports: {p: pump, t: tank, a: a, q: b}, area: 1 mm^2}", 55,
                   "not a key of the ports");
    refuse_element("{type: valve-4-3, ports: {p: pump, t: tank, a: a, b: a}, area: 1 mm^2}", 58, "both ports");
    refuse_element(PORTS "command: 1 m}", after + 9, "expected no unit, rad or deg, got m");
    refuse_element(PORTS "command: force}", after + 9, "the signal 'force' is in N");
    refuse_element(PORTS "command: levle}", after + 9, "no signal 'levle'; nearest: 'level'");
    refuse_element(PORTS "command: control.u}", after + 9, "there is no subsystem 'control'");
    refuse_element(PORTS "command: H.u}", after + 9, "there is no subsystem 'H'; nearest: 'h'");
    refuse_element(PORTS "command: h.a.pressure, signal: h.b.pressure}", after + 31,
                   "an output of another subsystem already");
    refuse_element(PORTS "command: h.a.presure}", after + 9,
                   "subsystem 'h' has no output 'a.presure'; nearest: 'a.pressure'");
    expect_refused(
        "multibody: {name: arm, bodies: {rod: {mass: 1, inertia: [1, 1, 1]}}}\n" VALVE("command: arm.rod.position.w"),
        8, 94, "subsystem 'arm' has no output 'rod.position.w'; nearest: 'rod.position.");
    refuse_element(PORTS "command: level, signal: level}", after + 24, "a signal already");
    refuse_element(PORTS "command: {rmp: {}}}", after + 10, "nearest: 'ramp'");
    refuse_element(PORTS "limit: 0}", after + 7, "limit must be positive");
    refuse_element(PORTS "dead_band: -1}", after + 11, "dead_band must be");
    refuse_element(PORTS "spool: {}}", after + 7, "needs 'time_constant' or 'natural_frequency'");
    refuse_element(PORTS "spool: {time_constant: 0 s}}", after + 23, "time_constant must be");
    refuse_element(PORTS "spool: {natural_frequency: -1 Hz}}", after + 27, "frequency must be");
    refuse_element(PORTS "spool: {natural_frequency: 1 Hz, damping_ratio: -1}}", after + 48, "damping_ratio must be");
    refuse_element(PORTS "spool: {natural_frequency: 1 Hz, time_constant: 1 s}}", after + 27, "not both");
    refuse_element("{type: valve-symmetric, ports: {p: pump, t: tank, a: a, b: b}, area: 1 mm^2, limit: 3}", 82,
                   "not a key of a valve-symmetric");
#undef PORTS
}

static void mistakes_in_cylinders_are_placed(void** state)
{
    (void)state;
#define CYLINDER "{type: cylinder, ports: [a, b], stroke: 0.3 m, "
    const int after = (int)strlen(CYLINDER) + 5;
    refuse_element("{type: cylinder, ports: [a, b], bore: 5 cm}", 2, "needs 'stroke'");
    refuse_element(CYLINDER "rod: 2 cm}", 2, "needs 'bore'");
    refuse_element(CYLINDER "area_1: 2 cm^2}", 2, "needs 'area_2'");
    refuse_element(CYLINDER "area_1: 2 cm^2, bore: 4 cm}", after + 22, "not both");
    refuse_element(CYLINDER "bore: 4 cm, rod: 5 cm}", after + 17, "thinner than the bore");
    refuse_element(CYLINDER "bore: 4 cm, start_extension: 0.4 m}", after + 29, "outside its stroke of 0.3 m");
    refuse_element(CYLINDER "bore: 4 cm, start_extension: -1 cm}", after + 29, "outside its stroke");
    refuse_element(CYLINDER "bore: 4 cm, damper_length: 20 cm}", after + 27, "do not fit");
    refuse_element(CYLINDER "bore: 4 cm, leakage: -1}", after + 21, "leakage must be");
    refuse_element(CYLINDER "bore: 4 cm, coulomb_speed: 0}", after + 27, "coulomb_speed must be");
    refuse_element(CYLINDER "bore: 4 cm, motion: force}", after + 20, "the signal 'force' is in N");
    refuse_element("{type: cylinder, ports: [a, q], stroke: 0.3 m, bore: 4 cm}", 33, "no node 'q'");
    refuse_element("{type: cylinder, ports: [a, a], stroke: 0.3 m, bore: 4 cm}", 33, "both ports");
#undef CYLINDER
}

// Elements that pressures move, pumps, filters and lines. `e: ` begins in column 2, its definition in column 5.
static void mistakes_in_pumps_and_pilots_are_placed(void** state)
{
    (void)state;
    refuse_element("{type: pump, ports: [tank, a]}", 2, "a pump needs 'displacement'");
    refuse_element("{type: pump, ports: [tank, a], displacement: 1 l/rev, speed: 1 m}", 66, "expected 1/s");
    refuse_element("{type: pump, ports: [tank, a], displacement: 1 l/rev, power_limit: -1 W}", 72,
                   "power_limit must be positive");
    refuse_element("{type: pump, ports: [tank, a], displacement: 1 l/rev, load_sensing: {margin: 1 bar}}", 73,
                   "needs 'port'");
    refuse_element("{type: pump, ports: [tank, a], displacement: 1 l/rev, load_sensing: {port: q}}", 80, "no node 'q'");
    refuse_element("{type: pump, ports: [tank, a], displacement: 1 l/rev, load_sensing: {port: b, margin: -1 bar}}", 73,
                   "load_margin must be");
    refuse_element("{type: motor, ports: [tank, a], displacement: 1 l/rev, power_limit: 1 W}", 60,
                   "not a key of a motor");
    refuse_element("{type: reducing-valve, ports: [a, b], area: 1 mm^2, set_pressure: -1 bar}", 71, "not negative");
    refuse_element("{type: reducing-valve, ports: [a, b], area: 1 mm^2, span: 0 bar}", 63, "span must be");
    refuse_element("{type: counterbalance-valve, ports: [a, b], area: 1 mm^2}", 2, "needs 'pilot'");
    refuse_element("{type: compensator, ports: [a, b], area: 1 mm^2, load: q}", 60, "no node 'q'");
    refuse_element("{type: priority-valve, ports: [a, b], area: 1 mm^2, load: c}", 35, "mapping");
    refuse_element("{type: priority-valve, ports: {inlet: a, excess: b}, area: 1 mm^2, load: c}", 35,
                   "needs 'priority'");
    refuse_element("{type: shuttle-valve, ports: {out: a, a: b, b: b}, area: 1 mm^2}", 52, "both ports");
    refuse_element("{type: pilot-valve, ports: [a, b], area: 1 mm^2}", 2, "needs 'pilots'");
    refuse_element("{type: pilot-valve, ports: [a, b], area: 1 mm^2, pilots: {q: 1}}", 63, "no node 'q'");
    refuse_element(
        "{type: valve-4-3, ports: {p: pump, t: tank, a: a, b: b}, area: 1 mm^2, metering: {pa: {spool: [0, 1], opening: [0]}}}",
        116, "2 positions of the spool, but 1 openings");
    refuse_element("{type: valve-4-3, ports: {p: pump, t: tank, a: a, b: b}, area: 1 mm^2, metering: {px: {}}}", 87,
                   "not a key");
    refuse_element("{type: valve-4-3, ports: {p: pump, t: tank, a: a, b: b, ls: q}, area: 1 mm^2}", 65, "no node 'q'");
    refuse_element("{type: filter, ports: [a, b]}", 2, "needs 'conductance'");
    refuse_element("{type: line, ports: [a, b], length: 1 m}", 2, "needs 'diameter'");
    refuse_element("{type: line, ports: [a, b], length: 1 m, diameter: 1 cm, segments: 101}", 72, "whole number");
    refuse_circuit(" fluids: {oil: {air: 2}}, nodes: {}", 1, 22, "in [0, 1)");
    refuse_circuit(" fluids: {oil: {temperature: 20}}, nodes: {}", 1, 30, "temperature");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fluids_and_nodes_are_read),
        cmocka_unit_test(sources_and_resistances_are_read),
        cmocka_unit_test(valves_and_cylinders_are_read),
        cmocka_unit_test(start_and_outputs_are_resolved),
        cmocka_unit_test(circuit_of_the_manipulator_starts_at_rest),
        cmocka_unit_test(a_start_that_cannot_rest_names_its_place),
        cmocka_unit_test(explicit_integrators_are_stable_up_to_the_step_that_is_named),
        cmocka_unit_test(signals_of_the_file_serve_every_subsystem),
        cmocka_unit_test(outputs_of_other_subsystems_are_kept_as_connections),
        cmocka_unit_test(steps_of_run_and_circuit_fit),
        cmocka_unit_test(overrides_reach_into_circuits),
        cmocka_unit_test(mistakes_in_subsystems_are_placed),
        cmocka_unit_test(mistakes_in_fluids_and_nodes_are_placed),
        cmocka_unit_test(mistakes_in_circuits_are_placed),
        cmocka_unit_test(mistakes_in_elements_are_placed),
        cmocka_unit_test(mistakes_in_valves_are_placed),
        cmocka_unit_test(mistakes_in_cylinders_are_placed),
        cmocka_unit_test(mistakes_in_pumps_and_pilots_are_placed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
