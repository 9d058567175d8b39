// Integrators: orders, agreement, ledger, derivatives, and the promises of a running instance.
#include "allocations.h"
#include "check.h"

#include "interim/hydraulics.h"
#include "scenes/scenes.h"

// Uniform in [lo, hi], the same on every machine.
static double draw(uint64_t* seed, double lo, double hi)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return lo + (hi - lo) * (double)(*seed >> 11) / 9007199254740992.0;
}

// ---------------------------------------------------------------------------- circuits

// The circuit of an example without its mechanism, with overrides as of --set (n); the caller destroys the file.
static ItmModelFile* load(const char* name, const char* const* overrides, int n)
{
    ItmError error;
    ItmModelFile* file = NULL;
    CHECK_OK(itm_example_load(&file, name, overrides, n, &error), &error);
    return file;
}

// The single crane; its piston swings by 2 cm with 0.5 Hz, its valve is driven by the input.
static ItmModelFile* load_crane(void)
{
    static const char* const OVERRIDES[] = {"cosim.bonds={}", "subsystems.hydraulics.elements.valve1.command=0",
                                            ("subsystems.hydraulics.elements.cyl1.motion={sine: {offset: 0.51 m, "
                                             "amplitude: 0.01 m, frequency: 0.5 Hz, phase: -pi/2}}")};
    return load("crane-single", OVERRIDES, 3);
}

static ItmHydraulics* make_data(const ItmCircuit* c, ItmHydraulicIntegrator integrator, double tolerance)
{
    ItmError error;
    ItmHydraulics* d = NULL;
    ItmHydraulicOptions options = itm_default_hydraulic_options();
    options.integrator = integrator;
    options.tolerance = tolerance;
    CHECK_OK(itm_hydraulics_create(&d, c, &options, &error), &error);
    return d;
}

static void run(const ItmCircuit* c, ItmHydraulics* d, double duration, double h)
{
    long n = lround(duration / h);
    for (long i = 0; i < n; i++) {
        CHECK_OK(itm_hydraulics_step(c, d, h), itm_hydraulics_get_error(d));
    }
}

enum { NX = 4, NACCOUNT = ITM_HYDRAULIC_ACCOUNT_COUNT };

// One volt from the start on; states and energies at the end.
static void run_crane(double x[NX], double energy[NACCOUNT], ItmHydraulicIntegrator integrator, double tolerance,
                      double duration, double h)
{
    ItmModelFile* file = load_crane();
    const ItmCircuit* c = file->circuits[0].circuit;
    ItmHydraulics* d = make_data(c, integrator, tolerance);
    CHECK_OK(itm_hydraulics_set_input(c, d, itm_circuit_find_input(c, "valve1"), 1.0), itm_hydraulics_get_error(d));
    run(c, d, duration, h);
    itm_hydraulics_get_x(d, x);
    memcpy(energy, itm_hydraulics_get_ledger(d), sizeof(double) * NACCOUNT);
    itm_hydraulics_destroy(d);
    itm_file_destroy(file);
}

static double distance(const double* a, const double* b, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    }
    return sqrt(sum);
}

// ---------------------------------------------------------------------------- orders and agreement

static void integrators_converge_with_their_orders(void** state)
{
    (void)state;
    static const double ORDER[4] = {1, 2, 4, 2};
    double duration = 0.02, x_ref[NX], energy_ref[NACCOUNT];
    run_crane(x_ref, energy_ref, ITM_HYDRAULIC_RK4, 1e-14, duration, 1e-6);
    for (int integrator = 0; integrator < 4; integrator++) {
        double error[3], energy_error[3], x[NX], energy[NACCOUNT];
        for (int i = 0; i < 3; i++) {
            run_crane(x, energy, (ItmHydraulicIntegrator)integrator, 1e-14, duration, 1e-4 / (1 << i));
            error[i] = distance(x, x_ref, NX);
            energy_error[i] = distance(energy, energy_ref, NACCOUNT);
        }
        double order = log2(error[1] / error[2]), energy_order = log2(energy_error[1] / energy_error[2]);
        print_message("%-12s error %.3g %.3g %.3g Pa, order %.2f; energies %.3g %.3g %.3g J, order %.2f\n",
                      itm_hydraulics_integrator_name((ItmHydraulicIntegrator)integrator), error[0], error[1], error[2],
                      order, energy_error[0], energy_error[1], energy_error[2], energy_order);
        // the next term of the expansion moves the observed order by about h over the time constant 0.14 ms
        CHECK_NEAR(order, ORDER[integrator], 0.3);
        CHECK_NEAR(energy_order, ORDER[integrator], 0.3);
    }
}

static void adaptive_agrees_with_runge_kutta(void** state)
{
    (void)state;
    double x[NX], x_ref[NX], energy[NACCOUNT], energy_ref[NACCOUNT];
    run_crane(x_ref, energy_ref, ITM_HYDRAULIC_RK4, 1e-14, 0.1, 1e-5);
    run_crane(x, energy, ITM_HYDRAULIC_ADAPTIVE, 1e-12, 0.1, 0.05);
    print_message("adaptive at 1e-12 against RK4 at 10 us: %.3g of %.3g Pa\n", distance(x, x_ref, NX), x_ref[0]);
    // 1e-12 a step of some thousand; the step of 10 us leaves RK4 with 1e-4 Pa
    CHECK_NEAR(distance(x, x_ref, NX), 0.0, 1e-8 * x_ref[0]);
    // energies are quadratures: not error-controlled, but of the same order
    CHECK_NEAR(distance(energy, energy_ref, NACCOUNT), 0.0, 1e-6 * energy_ref[ITM_HYDRAULIC_SUPPLY]);
}

// The joystick's jumps fall between steps: a run over the whole work cycle of the crane's circuit, two integrators.
static void joystick_run_agrees_between_integrators(void** state)
{
    (void)state;
    static const char* const OVERRIDES[] = {"cosim.bonds={}",
                                            "subsystems.hydraulics.elements.cyl1.motion={sine: {offset: 0.6 m, "
                                            "amplitude: 0.1 m, frequency: 0.05 Hz, phase: -pi/2}}"};
    ItmModelFile* file = load("crane-single", OVERRIDES, 2);
    const ItmCircuit* c = file->circuits[0].circuit;
    double x[3][NX];
    static const ItmHydraulicIntegrator INTEGRATOR[3] = {ITM_HYDRAULIC_RK4, ITM_HYDRAULIC_TRAPEZOIDAL,
                                                         ITM_HYDRAULIC_ADAPTIVE};
    static const double STEP[3] = {1e-5, 2e-5, 0.5};
    for (int i = 0; i < 3; i++) {
        ItmHydraulics* d = make_data(c, INTEGRATOR[i], 1e-11);
        run(c, d, 4.0, STEP[i]);
        itm_hydraulics_get_x(d, x[i]);
        itm_hydraulics_destroy(d);
    }
    print_message("joystick: RK4 against trapezoidal %.3g, against adaptive %.3g Pa\n", distance(x[0], x[1], NX),
                  distance(x[0], x[2], NX));
    // the piston outruns the valve: volumes cavitate on the way, which all three must see alike
    CHECK_NEAR(distance(x[0], x[2], NX), 0.0, 1.0);
    CHECK_NEAR(distance(x[0], x[1], NX), 0.0, 1.0);
    itm_file_destroy(file);
}

// Larger than the time constants by far: explicit methods fail there, the trapezoidal rule does not.
static void trapezoidal_is_stable_at_large_steps(void** state)
{
    (void)state;
    ItmModelFile* file = load_crane();
    const ItmCircuit* c = file->circuits[0].circuit;
    ItmHydraulics* d = make_data(c, ITM_HYDRAULIC_TRAPEZOIDAL, 1e-10);
    CHECK_OK(itm_hydraulics_set_input(c, d, 2, 1.0), itm_hydraulics_get_error(d));
    run(c, d, 0.1, 5e-3);
    double x[NX], x_ref[NX], energy[NACCOUNT];
    itm_hydraulics_get_x(d, x);
    run_crane(x_ref, energy, ITM_HYDRAULIC_RK4, 1e-10, 0.1, 1e-5);
    print_message("trapezoidal at 5 ms: %.3g of %.3g Pa off\n", distance(x, x_ref, NX), x_ref[0]);
    // order 2: from 0.5 Pa at 0.1 ms, 2500 times that, 1.2 kPa; twice, because 5 ms is not small
    CHECK_NEAR(distance(x, x_ref, NX), 0.0, 2.5e3);
    itm_hydraulics_destroy(d);
    itm_file_destroy(file);
}

// Any pressures, commands and rates, and steps up to 40 times the fastest time constant: Newton finds the end of the step.
static void trapezoidal_solves_from_any_pressures(void** state)
{
    (void)state;
    // valves at the middle, so that inputs span their whole way
    static const char* const OVERRIDES[] = {"parameters.kappa1=0.5", "parameters.kappa2=0.5"};
    ItmModelFile* file = load("manipulator", OVERRIDES, 2);
    const ItmCircuit* c = file->circuits[0].circuit;
    ItmHydraulics* d = make_data(c, ITM_HYDRAULIC_TRAPEZOIDAL, 1e-10);
    uint64_t seed = 3;
    long iterations = 0, splits = 0;
    for (int sample = 0; sample < 1000; sample++) {
        double x[4], h = pow(10.0, draw(&seed, -5, -2));
        itm_hydraulics_reset(c, d);
        for (int i = 0; i < 4; i++) {
            x[i] = draw(&seed, 2e3, 8e6);
        }
        CHECK_OK(itm_hydraulics_set_x(d, x), itm_hydraulics_get_error(d));
        for (int i = 0; i < 2; i++) {
            double s = i == 0 ? 0.5658554 : 0.4609772;
            CHECK_OK(itm_hydraulics_set_input(c, d, 2 + i, draw(&seed, -0.5, 0.5)), itm_hydraulics_get_error(d));
            CHECK_OK(itm_hydraulics_set_piston(c, d, i, s, draw(&seed, -0.1, 0.1)), itm_hydraulics_get_error(d));
        }
        CHECK_OK(itm_hydraulics_step(c, d, h), itm_hydraulics_get_error(d));
        iterations += itm_hydraulics_get_info(d).iterations;
        splits += itm_hydraulics_get_info(d).splits;
    }
    print_message("1000 steps from random pressures: %.1f iterations a step, %ld halvings\n", 1e-3 * (double)iterations,
                  splits);
    itm_hydraulics_destroy(d);
    itm_file_destroy(file);
}

// ---------------------------------------------------------------------------- ledger

// supply = all others, for every integrator: powers balance at every moment and all accounts share the quadrature.
static void energy_balance_closes(void** state)
{
    (void)state;
    for (int integrator = 0; integrator < ITM_HYDRAULIC_INTEGRATOR_COUNT; integrator++) {
        double x[NX], energy[NACCOUNT];
        run_crane(x, energy, (ItmHydraulicIntegrator)integrator, 1e-10, 1.0, 1e-4);
        double balance = energy[ITM_HYDRAULIC_SUPPLY], size = 0.0;
        for (int i = 0; i < NACCOUNT; i++) {
            balance -= i != ITM_HYDRAULIC_SUPPLY ? energy[i] : 0.0;
            size += fabs(energy[i]);
        }
        print_message("%-12s supply %.6f J, balance %.2g J\n",
                      itm_hydraulics_integrator_name((ItmHydraulicIntegrator)integrator), energy[ITM_HYDRAULIC_SUPPLY],
                      balance);
        CHECK_NEAR(balance, 0.0, 1e-11 * size);  // rounding of 10000 steps
    }
}

// ---------------------------------------------------------------------------- derivatives

// A circuit with every kind of element.
static ItmCircuit* make_zoo(void)
{
    ItmError error;
    ItmCircuitBuilder* b = NULL;
    CHECK_OK(itm_circuit_builder_create(&b, &error), &error);
    ItmFluidDef oil = itm_default_fluid_def();
    oil.name = "oil";
    oil.has_pressure_law = true;
    oil.compress_a = 6.53e-10;
    oil.compress_b = -1.19e-18;
    CHECK_OK(itm_circuit_builder_add_fluid(b, &oil, NULL, &error), &error);
    ItmPressureSourceDef source = itm_default_pressure_source_def();
    int pump, tank, node[6];
    source.name = "pump";
    source.pressure = 9e6;
    CHECK_OK(itm_circuit_builder_add_pressure_source(b, &source, &pump, &error), &error);
    source = itm_default_tank_def();
    source.name = "tank";
    CHECK_OK(itm_circuit_builder_add_pressure_source(b, &source, &tank, &error), &error);
    static const char* const NAMES[6] = {"n0", "n1", "n2", "n3", "n4", "n5"};
    for (int i = 0; i < 6; i++) {
        ItmVolumeDef volume = itm_default_volume_def();
        volume.name = NAMES[i];
        volume.volume = 1e-4 * (i + 1);
        volume.wall_modulus = 2e8;
        volume.pressure = 1e6 * (i + 1);
        CHECK_OK(itm_circuit_builder_add_volume(b, &volume, &node[i], &error), &error);
    }
    ItmOrificeDef orifice = itm_default_orifice_def();
    orifice.name = "variable";
    orifice.port_a = node[0];
    orifice.port_b = node[1];
    orifice.law.coefficient = 1e-7;
    orifice.is_variable = true;
    orifice.opening = 0.4;
    CHECK_OK(itm_circuit_builder_add_orifice(b, &orifice, NULL, &error), &error);
    ItmLaminarDef laminar = itm_default_laminar_def();
    laminar.name = "laminar";
    laminar.port_a = node[1];
    laminar.port_b = node[2];
    laminar.conductance = 1e-11;
    CHECK_OK(itm_circuit_builder_add_laminar(b, &laminar, NULL, &error), &error);
    ItmPressureValveDef relief = itm_default_relief_valve_def();
    relief.name = "relief";
    relief.port_a = node[5];
    relief.port_b = tank;
    relief.law.coefficient = 1e-7;
    relief.opening_pressure = 3e6;
    relief.span = 8e6;
    CHECK_OK(itm_circuit_builder_add_pressure_valve(b, &relief, NULL, &error), &error);
    ItmValveDef valve = itm_default_valve_def(ITM_VALVE_4_3);
    valve.name = "second";
    valve.port_p = pump;
    valve.port_t = tank;
    valve.port_a = node[2];
    valve.port_b = node[3];
    valve.law.coefficient = 1e-8;
    valve.dead_band = 0.3;
    valve.spool = ITM_SPOOL_SECOND;
    valve.frequency = 200.0;
    valve.damping_ratio = 0.7;
    CHECK_OK(itm_circuit_builder_add_valve(b, &valve, NULL, &error), &error);
    valve = itm_default_valve_def(ITM_VALVE_SYMMETRIC);
    valve.name = "symmetric";
    valve.port_p = pump;
    valve.port_t = tank;
    valve.port_a = node[4];
    valve.port_b = node[5];
    valve.law.area = 1e-5;
    valve.spool = ITM_SPOOL_FIRST;
    valve.time_constant = 0.01;
    CHECK_OK(itm_circuit_builder_add_valve(b, &valve, NULL, &error), &error);
    ItmAccumulatorDef gas = itm_default_accumulator_def();
    gas.name = "gas";
    gas.port = node[1];
    gas.gas_volume = 1e-4;
    gas.precharge = 5e5;
    CHECK_OK(itm_circuit_builder_add_accumulator(b, &gas, NULL, &error), &error);
    ItmFlowSourceDef flow = itm_default_flow_source_def();
    flow.name = "flow";
    flow.port_a = tank;
    flow.port_b = node[0];
    flow.flow = 1e-4;
    CHECK_OK(itm_circuit_builder_add_flow_source(b, &flow, NULL, &error), &error);
    ItmCylinderDef cylinder = itm_default_cylinder_def();
    cylinder.stroke = 0.5;
    cylinder.bore = 0.06;
    cylinder.rod = 0.03;
    cylinder.viscous = 1e4;
    cylinder.coulomb = 200.0;
    cylinder.damper_length = 0.02;
    cylinder.damper_stiffness = 1e6;
    cylinder.damper_damping = 1e3;
    cylinder.wall_modulus = 3e10;
    cylinder.leakage = 1e-12;
    for (int i = 0; i < 2; i++) {
        cylinder.name = i == 0 ? "cyl0" : "cyl1";
        cylinder.port_1 = node[2 + 2 * i];
        cylinder.port_2 = node[3 + 2 * i];
        CHECK_OK(itm_circuit_builder_add_cylinder(b, &cylinder, NULL, &error), &error);
    }
    ItmCircuit* c = NULL;
    CHECK_OK(itm_circuit_build(&c, b, &error), &error);
    itm_circuit_builder_destroy(b);
    return c;
}

// Central differences of the rates (nx) and forces (2) by one variable, with a step.
static void difference(const ItmCircuit* c, ItmHydraulics* d, double* by, double step, double* f, double* F, double* x,
                       double* s, double* w, int nx)
{
    double f_1[16], f_2[16], F_1[2], F_2[2], start = *by;
    *by = start + step;
    itm_hydraulics_compute_rates(c, d, f_2, F_2, NULL, 0.0, x, s, w);
    *by = start - step;
    itm_hydraulics_compute_rates(c, d, f_1, F_1, NULL, 0.0, x, s, w);
    *by = start;
    for (int i = 0; i < nx; i++) {
        f[i] = (f_2[i] - f_1[i]) / (2.0 * step);
    }
    for (int i = 0; i < 2; i++) {
        F[i] = (F_2[i] - F_1[i]) / (2.0 * step);
    }
}

// Central differences of step e: truncation e^2 f''', rounding eps f / e. With f ~ 1e8 Pa/s at 1e6 Pa and
// e = 10 Pa the latter is 1e-9 of the derivatives; 1e-5 of the row's largest leaves room for the former.
static void check_column(const double* analytic, int stride, const double* numeric, int n, const double* scale,
                         const char* what)
{
    for (int i = 0; i < n; i++) {
        if (!(fabs(analytic[i * stride] - numeric[i]) <= 1e-5 * scale[i] * check_scale())) {
            fail_msg("%s, row %d: analytic %.9g, difference %.9g", what, i, analytic[i * stride], numeric[i]);
        }
    }
}

static void derivatives_agree_with_differences(void** state)
{
    (void)state;
    ItmCircuit* c = make_zoo();
    ItmHydraulics* d = make_data(c, ITM_HYDRAULIC_EULER, 1e-10);
    int nx = itm_circuit_get_info(c).nstate;
    assert_int_equal(nx, 9);
    uint64_t seed = 7;
    for (int sample = 0; sample < 200; sample++) {
        double x[16], s[2], w[2], f_x[256], f_s[32], f_w[32], F_x[32], F_s[2], F_w[2];
        for (int i = 0; i < 6; i++) {
            // some of them cavitate
            x[i] = sample % 10 == 0 && i == sample / 10 % 6 ? -2e6 : draw(&seed, 1e6, 8e6);
        }
        x[6] = draw(&seed, -5, 5);
        x[7] = draw(&seed, -100, 100);
        x[8] = draw(&seed, 0.05, 0.95);
        for (int i = 0; i < 2; i++) {
            s[i] = draw(&seed, -0.249, 0.249);
            w[i] = draw(&seed, -2e-3, 2e-3);
        }
        ItmHydraulicDerivatives out = {f_x, f_s, f_w, F_x, F_s, F_w};
        itm_hydraulics_compute_derivatives(c, d, &out, 0.0, x, s, w);
        double scale[16], F_scale[2] = {1e-3, 1e-3}, column[16], F[2];
        for (int i = 0; i < nx; i++) {
            scale[i] = 1.0;
            for (int j = 0; j < nx; j++) {
                scale[i] = fmax(scale[i], fabs(f_x[i * nx + j]) * (j < 6 ? 1.0 : 1e-6));
            }
        }
        for (int j = 0; j < nx; j++) {
            double scaled[16];
            for (int i = 0; i < nx; i++) {
                scaled[i] = scale[i] * (j < 6 ? 1.0 : 1e6);
            }
            difference(c, d, &x[j], j < 6 ? 10.0 : 1e-5, column, F, x, s, w, nx);
            check_column(f_x + j, nx, column, nx, scaled, "f_x");
            check_column(F_x + j, nx, F, 2, F_scale, "F_x");
        }
        for (int j = 0; j < 2; j++) {
            double scaled[16], F_scaled[2] = {1e6, 1e6};
            for (int i = 0; i < nx; i++) {
                scaled[i] = 1e9;
            }
            double full[2][2] = {{0}};
            full[j][j] = F_s[j];
            difference(c, d, &s[j], 1e-6, column, F, x, s, w, nx);
            check_column(f_s + j, 2, column, nx, scaled, "f_s");
            check_column(full[j], 1, F, 2, F_scaled, "F_s");
            full[j][j] = F_w[j];
            difference(c, d, &w[j], 1e-7, column, F, x, s, w, nx);
            check_column(f_w + j, 2, column, nx, scaled, "f_w");
            check_column(full[j], 1, F, 2, F_scaled, "F_w");
        }
    }
    itm_hydraulics_destroy(d);
    itm_circuit_destroy(c);
}

// ---------------------------------------------------------------------------- promises

static void stepping_allocates_nothing(void** state)
{
    (void)state;
    for (int integrator = 0; integrator < ITM_HYDRAULIC_INTEGRATOR_COUNT; integrator++) {
        ItmCircuit* c = make_zoo();
        ItmHydraulics* d = make_data(c, (ItmHydraulicIntegrator)integrator, 1e-8);
        double values[200], forces[2];
        assert_true(itm_circuit_get_output_count(c) <= 200);
        allocations = 0;
        for (int i = 0; i < 50; i++) {
            CHECK_OK(itm_hydraulics_step(c, d, 1e-5), itm_hydraulics_get_error(d));
            itm_hydraulics_compute_outputs(c, d, values);
            itm_hydraulics_get_forces(c, d, forces);
        }
        assert_int_equal(allocations, 0);
        itm_hydraulics_destroy(d);
        itm_circuit_destroy(c);
    }
}

// Two instances, one of them saved and restored into a third half way: all the same bits.
static void restored_state_continues_bit_for_bit(void** state)
{
    (void)state;
    for (int integrator = 0; integrator < ITM_HYDRAULIC_INTEGRATOR_COUNT; integrator++) {
        ItmCircuit* c = make_zoo();
        ItmHydraulics* d[3];
        for (int i = 0; i < 3; i++) {
            d[i] = make_data(c, (ItmHydraulicIntegrator)integrator, 1e-9);
        }
        unsigned char bytes[3][2048];
        size_t size = itm_hydraulics_get_state_size(d[0]);
        assert_true(size <= sizeof bytes[0]);
        for (int i = 0; i < 2; i++) {
            CHECK_OK(itm_hydraulics_set_piston(c, d[i], 0, 0.0, 0.01), itm_hydraulics_get_error(d[i]));
            run(c, d[i], 1e-3, 2e-5);
        }
        CHECK_OK(itm_hydraulics_save(d[1], bytes[1], size), itm_hydraulics_get_error(d[1]));
        CHECK_OK(itm_hydraulics_restore(d[2], bytes[1], size), itm_hydraulics_get_error(d[2]));
        for (int i = 0; i < 3; i++) {
            run(c, d[i], 1e-3, 2e-5);
            CHECK_OK(itm_hydraulics_save(d[i], bytes[i], size), itm_hydraulics_get_error(d[i]));
        }
        assert_memory_equal(bytes[0], bytes[1], size);
        assert_memory_equal(bytes[0], bytes[2], size);
        assert_int_equal(itm_hydraulics_save(d[0], bytes[0], size - 1), ITM_ERR_ARGUMENT);
        assert_int_equal(itm_hydraulics_restore(d[0], bytes[0], size + 1), ITM_ERR_ARGUMENT);
        // and a reset is a new start
        itm_hydraulics_reset(c, d[0]);
        itm_hydraulics_reset(c, d[1]);
        run(c, d[0], 1e-3, 2e-5);
        itm_hydraulics_destroy(d[2]);
        d[2] = make_data(c, (ItmHydraulicIntegrator)integrator, 1e-9);
        run(c, d[2], 1e-3, 2e-5);
        CHECK_OK(itm_hydraulics_save(d[0], bytes[0], size), itm_hydraulics_get_error(d[0]));
        CHECK_OK(itm_hydraulics_save(d[2], bytes[2], size), itm_hydraulics_get_error(d[2]));
        assert_memory_equal(bytes[0], bytes[2], size);
        for (int i = 0; i < 3; i++) {
            itm_hydraulics_destroy(d[i]);
        }
        itm_circuit_destroy(c);
    }
}

// A rate that changes linearly within the step moves the piston by the mean of both: Heun's coupling.
static void piston_ends_where_its_motion_leads(void** state)
{
    (void)state;
    ItmCircuit* c = make_zoo();
    ItmHydraulics* d = make_data(c, ITM_HYDRAULIC_RK4, 1e-10);
    double values[200];
    CHECK_OK(itm_hydraulics_set_piston_motion(c, d, 1, 0.1, 0.2, 0.4), itm_hydraulics_get_error(d));
    CHECK_OK(itm_hydraulics_step(c, d, 1e-3), itm_hydraulics_get_error(d));
    itm_hydraulics_compute_outputs(c, d, values);
    CHECK_NEAR(values[itm_circuit_find_output(c, "cyl1.length")], 0.1 + 0.3e-3, 1e-16);
    CHECK_NEAR(values[itm_circuit_find_output(c, "cyl1.rate")], 0.4, 1e-16);
    // from then on the rate is constant
    CHECK_OK(itm_hydraulics_step(c, d, 1e-3), itm_hydraulics_get_error(d));
    itm_hydraulics_compute_outputs(c, d, values);
    CHECK_NEAR(values[itm_circuit_find_output(c, "cyl1.length")], 0.1 + 0.7e-3, 1e-16);
    double s[2] = {0.01, 0.02}, w[2] = {0.03, 0.04}, forces[2];
    itm_hydraulics_set_pistons(c, d, s, w, NULL);
    itm_hydraulics_get_forces(c, d, forces);
    for (int i = 0; i < 2; i++) {
        CHECK_NEAR(forces[i], itm_hydraulics_compute_force(c, d, i, s[i], w[i]).total, 0.0);
    }
    itm_hydraulics_destroy(d);
    itm_circuit_destroy(c);
}

// A failed step says what and where, and leaves the state as it was.
static void failed_step_keeps_the_state(void** state)
{
    (void)state;
    ItmCircuit* c = make_zoo();
    ItmHydraulics* d = make_data(c, ITM_HYDRAULIC_EULER, 1e-10);
    unsigned char before[2048], after[2048];
    size_t size = itm_hydraulics_get_state_size(d);
    double s[2] = {0.0, 0.249}, w[2] = {0.0, 5.0};
    itm_hydraulics_set_pistons(c, d, s, w, NULL);
    CHECK_OK(itm_hydraulics_save(d, before, size), itm_hydraulics_get_error(d));
    assert_int_equal(itm_hydraulics_step(c, d, 1e-3), ITM_ERR_DIVERGED);
    assert_non_null(strstr(itm_hydraulics_get_error(d)->message, "'cyl1' left its stroke"));
    assert_string_equal(itm_hydraulics_get_error(d)->field, "cyl1");
    CHECK_OK(itm_hydraulics_save(d, after, size), itm_hydraulics_get_error(d));
    assert_memory_equal(before, after, size);
    s[1] = NAN;
    itm_hydraulics_set_pistons(c, d, s, w, NULL);
    assert_int_equal(itm_hydraulics_step(c, d, 1e-3), ITM_ERR_NOT_FINITE);
    w[1] = NAN;
    s[1] = 0.0;
    itm_hydraulics_set_pistons(c, d, s, w, NULL);
    assert_int_equal(itm_hydraulics_step(c, d, 1e-3), ITM_ERR_NOT_FINITE);
    assert_int_equal(itm_hydraulics_step(c, d, 0.0), ITM_ERR_ARGUMENT);
    assert_int_equal(itm_hydraulics_step(c, d, NAN), ITM_ERR_ARGUMENT);
    // forward Euler far beyond its stability: it breaks down with the name of a state, or stays finite by cavitating
    itm_hydraulics_reset(c, d);
    ItmStatus status = ITM_OK;
    for (int i = 0; status == ITM_OK && i < 10000; i++) {
        status = itm_hydraulics_step(c, d, 0.5);
    }
    assert_true(status == ITM_ERR_DIVERGED || status == ITM_ERR_NOT_FINITE);
    print_message("Euler at 0.5 s: %s\n", itm_hydraulics_get_error(d)->message);
    itm_hydraulics_destroy(d);
    itm_circuit_destroy(c);
}

static void misuse_is_refused(void** state)
{
    (void)state;
    ItmModelFile* file = load_crane();
    const ItmCircuit* c = file->circuits[0].circuit;
    ItmHydraulics* d = make_data(c, ITM_HYDRAULIC_EULER, 1e-10);
    assert_int_equal(itm_hydraulics_set_piston(c, d, 0, 0.5, 0.0), ITM_ERR_ARGUMENT);  // driven by a signal
    assert_int_equal(itm_hydraulics_set_piston(c, d, 1, 0.5, 0.0), ITM_ERR_ARGUMENT);
    assert_int_equal(itm_hydraulics_set_input(c, d, 99, 0.0), ITM_ERR_ARGUMENT);
    assert_int_equal(itm_hydraulics_set_input(c, d, 0, NAN), ITM_ERR_ARGUMENT);
    assert_int_equal(itm_hydraulics_set_pressure(c, d, itm_circuit_find_node(c, "pump"), 1e6), ITM_ERR_ARGUMENT);
    assert_int_equal(itm_hydraulics_set_pressure(c, d, itm_circuit_find_node(c, "rod"), 10.0), ITM_ERR_ARGUMENT);
    assert_int_equal(itm_hydraulics_set_time(d, INFINITY), ITM_ERR_ARGUMENT);
    assert_true(isnan(itm_hydraulics_get_pressure(c, d, 99)));
    assert_true(isnan(itm_hydraulics_get_force(c, d, 99).total));
    assert_int_equal(itm_circuit_find_node(c, "nothing"), ITM_NONE);
    assert_int_equal(itm_circuit_find_cylinder(c, "nothing"), ITM_NONE);
    assert_int_equal(itm_circuit_find_input(c, "nothing"), ITM_NONE);
    assert_int_equal(itm_circuit_find_output(c, "nothing"), ITM_NONE);
    ItmHydraulicOptions options = itm_default_hydraulic_options();
    ItmHydraulics* none = NULL;
    ItmError error;
    options.tolerance = 0.0;
    assert_int_equal(itm_hydraulics_create(&none, c, &options, &error), ITM_ERR_INPUT);
    assert_string_equal(error.field, "tolerance");
    options = itm_default_hydraulic_options();
    options.integrator = ITM_HYDRAULIC_INTEGRATOR_COUNT;
    assert_int_equal(itm_hydraulics_create(&none, c, &options, &error), ITM_ERR_INPUT);
    assert_string_equal(error.field, "integrator");
    options = itm_default_hydraulic_options();
    options.max_iterations = 0;
    assert_int_equal(itm_hydraulics_create(&none, c, &options, &error), ITM_ERR_INPUT);
    assert_string_equal(error.field, "max_iterations");
    assert_int_equal(itm_hydraulics_create(&none, NULL, NULL, &error), ITM_ERR_ARGUMENT);
    itm_hydraulics_destroy(d);
    itm_file_destroy(file);
}

// ---------------------------------------------------------------------------- outputs

static void outputs_are_named_and_aliased(void** state)
{
    (void)state;
    ItmModelFile* file = load_crane();
    const ItmCircuit* c = file->circuits[0].circuit;
    ItmHydraulics* d = make_data(c, ITM_HYDRAULIC_RK4, 1e-10);
    CHECK_OK(itm_hydraulics_set_input(c, d, itm_circuit_find_input(c, "valve1"), 3.0), itm_hydraulics_get_error(d));
    run(c, d, 0.01, 1e-5);
    double values[200];
    itm_hydraulics_compute_outputs(c, d, values);
    for (int i = 0; i < itm_circuit_get_output_count(c); i++) {
        ItmOutputInfo info = itm_circuit_get_output_info(c, i);
        assert_non_null(info.name);
        assert_true(strlen(info.unit) > 0 && strlen(info.description) > 0);
        assert_int_equal(itm_circuit_find_output(c, info.name), i);  // names are unique
        assert_true(isfinite(values[i]));
    }
    assert_null(itm_circuit_get_output_info(c, -1).name);
    const struct {
        const char *name, *unit;
        double value;
    } wanted[] = {
        {"cyl1.p1", "Pa", itm_hydraulics_get_pressure(c, d, itm_circuit_find_node(c, "piston"))},
        {"cyl1.p2", "Pa", itm_hydraulics_get_pressure(c, d, itm_circuit_find_node(c, "rod"))},
        {"cyl1.p3", "Pa", itm_hydraulics_get_pressure(c, d, itm_circuit_find_node(c, "line"))},
        {"cyl1.U", "1", values[itm_circuit_find_output(c, "valve1.spool")]},
        {"cyl1.force", "N", itm_hydraulics_get_force(c, d, 0).total},
        {"valve1.command", "1", 3.0},
        {"energy.supply", "J", itm_hydraulics_get_ledger(d)[ITM_HYDRAULIC_SUPPLY]},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        int at = itm_circuit_find_output(c, wanted[i].name);
        assert_true(at != ITM_NONE);
        assert_string_equal(itm_circuit_get_output_info(c, at).unit, wanted[i].unit);
        CHECK_NEAR(values[at], wanted[i].value, 0.0);
    }
    // what the pump gives is what the valve passes on to port a
    CHECK_NEAR(values[itm_circuit_find_output(c, "pump.flow")], values[itm_circuit_find_output(c, "valve1.flow")], 0.0);
    itm_hydraulics_destroy(d);
    itm_file_destroy(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integrators_converge_with_their_orders),
        cmocka_unit_test(adaptive_agrees_with_runge_kutta),
        cmocka_unit_test(joystick_run_agrees_between_integrators),
        cmocka_unit_test(trapezoidal_is_stable_at_large_steps),
        cmocka_unit_test(trapezoidal_solves_from_any_pressures),
        cmocka_unit_test(energy_balance_closes),
        cmocka_unit_test(derivatives_agree_with_differences),
        cmocka_unit_test(stepping_allocates_nothing),
        cmocka_unit_test(restored_state_continues_bit_for_bit),
        cmocka_unit_test(piston_ends_where_its_motion_leads),
        cmocka_unit_test(failed_step_keeps_the_state),
        cmocka_unit_test(misuse_is_refused),
        cmocka_unit_test(outputs_are_named_and_aliased),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
