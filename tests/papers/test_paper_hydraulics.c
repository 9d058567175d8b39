// The circuits of cranes and contact-rim, from the example files, against the reference numbers of the model pages. The mechanics here is the
// planar one of those pages, written down again and integrated together with the circuit by RK4: a monolithic run that
// shares nothing with the multibody code.
#include "check.h"

#include "interim/hydraulics.h"
#include "scenes/scenes.h"

#define NX 8  // states of the double circuit
#define NACCOUNT ITM_HYDRAULIC_ACCOUNT_COUNT

// ---------------------------------------------------------------------------- crane

typedef struct Crane {
    ItmModelFile* file;
    const ItmCircuit* circuit;  // of the file
    ItmHydraulics* data;
    int ncyl, nx;
    double y[4 + NX + NACCOUNT];  // angles, rates, circuit, energies
    double s[2], w[2], force[2];  // of the last evaluation
} Crane;

static const double L = 1.0, L_H = 0.5, M_1 = 200.0, M_P = 250.0, M_H = 100.0, X_B = 0.8660254037844386, G = 9.81;

static void start_crane(Crane* crane, int ncyl)
{
    ItmError error;
    *crane = (Crane){.ncyl = ncyl};
    CHECK_OK(itm_example_load(&crane->file, ncyl == 1 ? "crane-single" : "crane-double", NULL, 0, &error), &error);
    crane->circuit = crane->file->circuits[0].circuit;
    CHECK_OK(itm_hydraulics_create(&crane->data, crane->circuit, NULL, &error), &error);
    crane->nx = itm_circuit_get_info(crane->circuit).nstate;
    assert_int_equal(crane->nx, 4 * ncyl);
    crane->y[0] = 0.5235987755982988;
    crane->y[1] = 4.71238898038469;
    itm_hydraulics_get_x(crane->data, crane->y + 4);
}

static void end_crane(Crane* crane)
{
    itm_hydraulics_destroy(crane->data);
    itm_file_destroy(crane->file);
}

// Rates of angles, circuit and energies at y; jumps of the joystick by t.
static void compute_crane(Crane* crane, double* y_dot, double t, const double* y)
{
    double d = y[0] - y[1];
    // lengths of the actuators, and their derivatives by the angles
    double s_1 = sqrt(L * L / 4 + X_B * X_B - L * X_B * cos(y[0]));
    double r_x = L * cos(y[0]) + L_H * cos(y[1]), r_y = L * sin(y[0]) + L_H * sin(y[1]);
    double s_2 = 0.5 * sqrt(r_x * r_x + r_y * r_y);
    double J_1 = L * X_B * sin(y[0]) / (2 * s_1), J_2 = L * L_H * sin(d) / (4 * s_2);
    crane->s[0] = s_1;
    crane->s[1] = s_2;
    crane->w[0] = J_1 * y[2];
    crane->w[1] = J_2 * (y[3] - y[2]);
    itm_hydraulics_compute_rates(crane->circuit, crane->data, y_dot + 4, crane->force, y_dot + 4 + crane->nx, t, y + 4,
                                 crane->s, crane->w);
    double F_2 = crane->ncyl == 2 ? crane->force[1] : 0.0;
    double c = M_H * L * L_H;
    double M11 = M_1 * L * L / 3 + (M_P + M_H) * L * L, M22 = M_H * L_H * L_H, M12 = c * cos(d);
    double Q_1 =
        -(M_1 / 2 + M_P + M_H) * G * L * cos(y[0]) + crane->force[0] * J_1 - F_2 * J_2 - c * sin(d) * y[3] * y[3];
    double Q_2 = -M_H * G * L_H * cos(y[1]) + F_2 * J_2 + c * sin(d) * y[2] * y[2];
    double det = M11 * M22 - M12 * M12;
    y_dot[0] = y[2];
    y_dot[1] = y[3];
    y_dot[2] = (M22 * Q_1 - M12 * Q_2) / det;
    y_dot[3] = (M11 * Q_2 - M12 * Q_1) / det;
}

static void step_crane(Crane* crane, double t, double h)
{
    enum { N = 4 + NX + NACCOUNT };
    static const double TAU[4] = {0, 0.5, 0.5, 1}, WEIGHT[4] = {1, 2, 2, 1};
    double k[N] = {0}, y[N], sum[N] = {0};
    int n = 4 + crane->nx + NACCOUNT;
    // joysticks are constant over a step, and jump between steps
    double inside = t + 1e-9 * h;
    for (int stage = 0; stage < 4; stage++) {
        for (int i = 0; i < n; i++) {
            y[i] = crane->y[i] + TAU[stage] * h * k[i];
        }
        compute_crane(crane, k, inside, y);
        for (int i = 0; i < n; i++) {
            sum[i] += WEIGHT[stage] * h / 6 * k[i];
        }
    }
    for (int i = 0; i < n; i++) {
        crane->y[i] += sum[i];
    }
}

// From t_0 to t_1 in steps of h; leaves lengths, rates and forces of t_1.
static void run_crane(Crane* crane, double t_0, double t_1, double h)
{
    long n = lround((t_1 - t_0) / h);
    for (long i = 0; i < n; i++) {
        step_crane(crane, t_0 + (double)i * h, h);
    }
    double y_dot[4 + NX + NACCOUNT];
    compute_crane(crane, y_dot, t_1, crane->y);
}

// Reference numbers: implicit, tolerance 1e-9, confirmed by a second integrator to 1e-10.
static void single_crane_reaches_the_reference(void** state)
{
    (void)state;
    Crane crane;
    start_crane(&crane, 1);
    run_crane(&crane, 0.0, 9.0, 2.5e-5);
    print_message("single crane at 9 s, RK4 0.025 ms: theta1 %.10f, s %.10f m, rate %.10f m/s, p1 %.1f Pa, F %.3f N\n",
                  crane.y[0], crane.s[0], crane.w[0], crane.y[5], crane.force[0]);
    // 1e-9 of the reference, and as much of ours: the end dampers switch within a step, which costs RK4 its order
    CHECK_NEAR(crane.y[0], 0.9186081472, 2e-9);
    CHECK_NEAR(crane.s[0], 0.6887567499, 2e-9);
    CHECK_NEAR(crane.w[0], 0.0405461008, 1e-8);
    CHECK_NEAR(crane.y[5], 3886471, 1.0);  // the piston side; printed to 1 Pa
    CHECK_NEAR(crane.force[0], 5420.376, 2e-3);
    end_crane(&crane);
}

static void double_crane_reaches_the_reference(void** state)
{
    (void)state;
    Crane crane;
    start_crane(&crane, 2);
    run_crane(&crane, 0.0, 6.0, 1e-4);
    print_message("double crane at 6 s, RK4 0.1 ms: s1 %.10f, s2 %.10f m\n", crane.s[0], crane.s[1]);
    CHECK_NEAR(crane.s[0], 0.5835838245, 2e-9);
    CHECK_NEAR(crane.s[1], 0.5650099491, 2e-9);
    end_crane(&crane);
}

static void single_crane_spends_its_energy_as_published(void** state)
{
    (void)state;
    static const double TABLE[NACCOUNT] = {
        [ITM_HYDRAULIC_SUPPLY] = 15910.2,    [ITM_HYDRAULIC_VALVE] = 12706.2,  [ITM_HYDRAULIC_THROTTLE] = 181.5,
        [ITM_HYDRAULIC_COMPRESSION] = -1.6,  [ITM_HYDRAULIC_VISCOUS] = 1755.9, [ITM_HYDRAULIC_DAMPER] = 2.5,
        [ITM_HYDRAULIC_MECHANICAL] = 1265.7,
    };
    Crane crane;
    start_crane(&crane, 1);
    run_crane(&crane, 0.0, 16.8, 1e-4);
    const double* energy = crane.y + 4 + crane.nx;
    double sum = -energy[ITM_HYDRAULIC_SUPPLY];
    for (int i = 0; i < NACCOUNT; i++) {
        print_message("account %d: %.2f J (page: %.1f)\n", i, energy[i], TABLE[i]);
        // 0.1 % of the throughput would hide the small ones: 0.1 % each, or the last printed digit
        CHECK_NEAR(energy[i], TABLE[i], fmax(1e-3 * fabs(TABLE[i]), 0.051));
        sum += i == ITM_HYDRAULIC_SUPPLY ? 0.0 : energy[i];
    }
    // linear in the powers, which balance at every moment: only rounding is left
    CHECK_NEAR(sum, 0.0, 1e-6);
    end_crane(&crane);
}

static void end_dampers_engage_when_the_page_says(void** state)
{
    (void)state;
    Crane crane;
    start_crane(&crane, 1);
    static const double PAGE[4] = {1.436, 3.108, 10.304, 12.086};
    int found = 0;
    bool was_engaged = false;
    for (long i = 0; i < 125000; i++) {
        double l_1 = 0.05 + sqrt(L * L / 4 + X_B * X_B - L * X_B * cos(crane.y[0])) - 0.5;
        bool is_engaged = l_1 <= 0.008 || 0.3 - l_1 <= 0.008;
        if (is_engaged != was_engaged && found < 4) {
            CHECK_NEAR((double)i * 1e-4, PAGE[found], 6e-4);  // printed to 1 ms, seen every 0.1 ms
            found++;
        }
        was_engaged = is_engaged;
        step_crane(&crane, (double)i * 1e-4, 1e-4);
    }
    assert_int_equal(found, 4);
    end_crane(&crane);
}

// ---------------------------------------------------------------------------- printed equations

// Uniform in [lo, hi], the same on every machine.
static double draw(uint64_t* seed, double lo, double hi)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return lo + (hi - lo) * (double)(*seed >> 11) / 9007199254740992.0;
}

// sqrt(x) delta: nothing where the argument is negative
static double one_way(double x)
{
    return x > 0 ? sqrt(x) : 0.0;
}

// Valves of examples/manipulator.yaml, as printed; inputs add to them.
static const double KAPPA[2] = {0.4416, 0.4871};

// contact-rim numbers the chambers the other way round: its 1 shrinks with s.
static void manipulator_rates_are_equations_46_to_51(void** state)
{
    (void)state;
    ItmError error;
    ItmModelFile* file = NULL;
    ItmHydraulics* d = NULL;
    CHECK_OK(itm_example_load(&file, "manipulator", NULL, 0, &error), &error);
    const ItmCircuit* c = file->circuits[0].circuit;
    CHECK_OK(itm_hydraulics_create(&d, c, NULL, &error), &error);
    uint64_t seed = 11;
    double a_p = 6.5e-3, l = 0.442, c_d = 0.67, rho = 850, p_P = 7.6e6, p_T = 1e5, a = 6.53e-10, b = -1.19e-18;
    double s_0[2] = {0.56585543990021725, 0.46097722286464438};
    for (int sample = 0; sample < 100; sample++) {
        double x[4], x_dot[4], s[2], w[2], F[2], kappa[2];
        for (int i = 0; i < 4; i++) {
            x[i] = draw(&seed, 5e4, 9e6);  // beyond pump and tank on both sides
        }
        for (int i = 0; i < 2; i++) {
            s[i] = s_0[i] + draw(&seed, -0.2, 0.2);
            w[i] = draw(&seed, -0.1, 0.1);
            kappa[i] = draw(&seed, 0.0, 1.0);
            CHECK_OK(itm_hydraulics_set_input(c, d, 2 + i, kappa[i] - KAPPA[i]), itm_hydraulics_get_error(d));
        }
        itm_hydraulics_compute_rates(c, d, x_dot, F, NULL, 0.0, x, s, w);
        for (int i = 0; i < 2; i++) {
            double p_2 = x[2 * i], p_1 = x[2 * i + 1];
            double a_i = 5e-4 * kappa[i], a_o = 5e-4 * (1 - kappa[i]);
            double beta_1 = (1 + a * p_1 + b * p_1 * p_1) / (a + 2 * b * p_1);
            double beta_2 = (1 + a * p_2 + b * p_2 * p_2) / (a + 2 * b * p_2);
            double l_1 = 0.5 * l + s_0[i] - s[i], l_2 = 0.5 * l + s[i] - s_0[i];
            double p_1_dot =
                beta_1 / (a_p * l_1) *
                (a_p * w[i] + a_i * c_d * one_way(2 * (p_P - p_1) / rho) - a_o * c_d * one_way(2 * (p_1 - p_T) / rho));
            double p_2_dot =
                beta_2 / (a_p * l_2) *
                (-a_p * w[i] + a_o * c_d * one_way(2 * (p_P - p_2) / rho) - a_i * c_d * one_way(2 * (p_2 - p_T) / rho));
            // rounding of terms of up to 1e12 Pa/s
            CHECK_NEAR(x_dot[2 * i + 1], p_1_dot, 1e-2);
            CHECK_NEAR(x_dot[2 * i], p_2_dot, 1e-2);
            CHECK_NEAR(F[i], (p_2 - p_1) * a_p - 1e5 * w[i], 1e-9);
        }
    }
    itm_hydraulics_destroy(d);
    itm_file_destroy(file);
}

// r(x), linear below 2 bar, as the page has it
static double page_root(double x)
{
    return fabs(x) > 2e5 ? copysign(sqrt(fabs(x)), x) : x / sqrt(2e5);
}

static void crane_rates_are_equations_27_to_34(void** state)
{
    (void)state;
    Crane crane;
    start_crane(&crane, 1);
    // line and piston side come first: they are one island
    static const char* const STATES[4] = {"line.pressure", "piston.pressure", "rod.pressure", "valve1.spool"};
    for (int i = 0; i < 4; i++) {
        assert_string_equal(itm_circuit_get_state_name(crane.circuit, i), STATES[i]);
    }
    uint64_t seed = 5;
    double A_1 = 5.026548245743669e-3, A_2 = 4.064435495581795e-3, B_o = 1.5e9, B_c = 31.5e9, B_h = 150e6;
    double C_v = 1.0690e-8, C_t = 0.8 * 2.827433388230814e-5 * sqrt(2.0 / 850.0), p_P = 7.6e6, p_T = 1e5;
    for (int sample = 0; sample < 100; sample++) {
        double x[4], x_dot[4], F, s = draw(&seed, 0.451, 0.749), w = draw(&seed, -0.1, 0.1);
        for (int i = 0; i < 3; i++) {
            x[i] = draw(&seed, 1e5, 8e6);
        }
        // half of them in the straight part of the throttle's law
        x[0] = sample % 2 == 0 ? x[0] : x[1] + draw(&seed, -1e5, 1e5);
        x[3] = draw(&seed, -10, 10);
        double p_3 = x[0], p_1 = x[1], p_2 = x[2], U = x[3];
        itm_hydraulics_compute_rates(crane.circuit, crane.data, x_dot, &F, NULL, 0.7, x, &s, &w);
        double l_1 = 0.05 + s - 0.5, l_2 = 0.3 - l_1;
        double inv_1 = 3.14e-5 * (1 / B_o + 1 / B_h) + A_1 * l_1 * (1 / B_o + 1 / B_c);
        double inv_2 = 7.85e-5 * (1 / B_o + 1 / B_h) + A_2 * l_2 * (1 / B_o + 1 / B_c);
        double inv_3 = 4.71e-5 * (1 / B_o + 1 / B_h);
        double Q_31 = C_t * page_root(p_3 - p_1);
        double Q_V3 = U >= 0 ? C_v * U * page_root(p_P - p_3) : C_v * U * page_root(p_3 - p_T);
        double Q_2V = U >= 0 ? C_v * U * page_root(p_2 - p_T) : C_v * U * page_root(p_P - p_2);
        double F_d = l_1 <= 0.008 ? 1e7 * (0.008 - l_1) - 5e3 * w : l_2 <= 0.008 ? -1e7 * (0.008 - l_2) - 5e3 * w : 0.0;
        // rounding of terms of up to 1e10 Pa/s
        CHECK_NEAR(x_dot[0], (Q_V3 - Q_31) / inv_3, 1e-4);
        CHECK_NEAR(x_dot[1], (Q_31 - A_1 * w) / inv_1, 1e-4);
        CHECK_NEAR(x_dot[2], (A_2 * w - Q_2V) / inv_2, 1e-4);
        CHECK_NEAR(x_dot[3], (-10.0 - U) * 2 * 3.14159265358979323846 * 35, 1e-9);  // the joystick at 0.7 s
        CHECK_NEAR(F, p_1 * A_1 - p_2 * A_2 - 1e5 * w + F_d, 1e-7);
    }
    end_crane(&crane);
}

// ---------------------------------------------------------------------------- statics

static void static_kappa_of_the_manipulator(void** state)
{
    (void)state;
    ItmError error;
    ItmModelFile* file = NULL;
    ItmHydraulics* d = NULL;
    CHECK_OK(itm_example_load(&file, "manipulator", NULL, 0, &error), &error);
    const ItmCircuit* c = file->circuits[0].circuit;
    CHECK_OK(itm_hydraulics_create(&d, c, NULL, &error), &error);
    // gravity torques over the lever arms of the page (planar, theta = 30 and -60 degrees)
    double theta_1 = 0.5235987755982988, theta_2 = -1.0471975511965976;
    double A_x = 0.3, A_y = -0.3, a_x = 0.5 * cos(theta_1), a_y = 0.5 * sin(theta_1);
    double s_1 = hypot(a_x - A_x, a_y - A_y);
    double J_1 = ((a_x - A_x) * -0.5 * sin(theta_1) + (a_y - A_y) * 0.5 * cos(theta_1)) / s_1;
    double e_x = cos(theta_1) - 0.9 * cos(theta_1) + 0.45 * cos(theta_2);
    double e_y = sin(theta_1) - 0.9 * sin(theta_1) + 0.45 * sin(theta_2);
    double s_2 = hypot(e_x, e_y);
    double J_2 = (e_x * -0.45 * sin(theta_2) + e_y * 0.45 * cos(theta_2)) / s_2;
    CHECK_NEAR(s_1, 0.565854, 2e-6);  // the page cuts 0.5658554 differently
    CHECK_NEAR(s_2, 0.460977, 5e-7);
    double force[2];
    force[1] = 100.0 * 9.81 * 0.5 * cos(theta_2) / J_2;
    double J_21 = (e_x * -0.1 * sin(theta_1) + e_y * 0.1 * cos(theta_1)) / s_2;
    force[0] = ((100.0 + 250.0 + 100.0) * 9.81 * cos(theta_1) - force[1] * J_21) / J_1;
    bool is_free[8] = {false};
    is_free[itm_circuit_find_input(c, "valve1")] = true;
    is_free[itm_circuit_find_input(c, "valve2")] = true;
    ItmHydraulicStatics statics = itm_default_hydraulic_statics();
    statics.force = force;
    statics.is_free = is_free;
    ItmHydraulicResidual rest;
    CHECK_OK(itm_hydraulics_solve_static(c, d, &statics, &rest), itm_hydraulics_get_error(d));
    double kappa_1 = KAPPA[0] + itm_hydraulics_get_input(d, itm_circuit_find_input(c, "valve1"));
    double kappa_2 = KAPPA[1] + itm_hydraulics_get_input(d, itm_circuit_find_input(c, "valve2"));
    print_message("manipulator: kappa %.6f, %.6f (page 0.441599, 0.487108); left %.2g m^3/s, %.2g N, %d iterations\n",
                  kappa_1, kappa_2, rest.flow, rest.force, rest.iterations);
    CHECK_NEAR(kappa_1, 0.441599, 5e-7);
    CHECK_NEAR(kappa_2, 0.487108, 5e-7);
    // closed form of the page
    for (int i = 0; i < 2; i++) {
        double k = i == 0 ? kappa_1 : kappa_2;
        double f = 6.5e-3 * 7.5e6 * (1 - 2 * k) / (1 - 2 * k + 2 * k * k);
        CHECK_NEAR(f, force[i], 1e-11 * 6.5e-3 * 7.6e6);  // the tolerance of the static start
        CHECK_NEAR(itm_hydraulics_get_force(c, d, i).total, force[i], 1e-11 * 6.5e-3 * 7.6e6);
    }
    // time constant near 0.22 ms, so that forward Euler needs a step below 0.45 ms
    double tau = 1.0 / itm_hydraulics_compute_fastest_rate(c, d);
    print_message("manipulator: fastest time constant %.4f ms\n", 1e3 * tau);
    CHECK_NEAR(tau, 0.22e-3, 0.01e-3);
    // and it rests: nothing moves in a step
    double x[4], x_next[4];
    itm_hydraulics_get_x(d, x);
    for (int i = 0; i < 100; i++) {
        CHECK_OK(itm_hydraulics_step(c, d, 2e-4), itm_hydraulics_get_error(d));
    }
    itm_hydraulics_get_x(d, x_next);
    for (int i = 0; i < 4; i++) {
        CHECK_NEAR(x_next[i], x[i], 1e-2);  // 1e-11 relative flows integrated over 0.02 s: below 1 Pa
    }
    itm_hydraulics_destroy(d);
    itm_file_destroy(file);
}

static void static_pressures_of_the_cranes(void** state)
{
    (void)state;
    ItmError error;
    ItmModelFile* file = NULL;
    ItmHydraulics* d = NULL;
    // between a closed valve and its cylinder any pressure p2 rests: it is held
    const char* overrides[] = {"subsystems.hydraulics.nodes.rod1.held=true",
                               "subsystems.hydraulics.nodes.rod2.held=true"};
    CHECK_OK(itm_example_load(&file, "crane-double", overrides, 2, &error), &error);
    const ItmCircuit* c = file->circuits[0].circuit;
    CHECK_OK(itm_hydraulics_create(&d, c, NULL, &error), &error);
    double force[2] = {8829.0, 0.0};
    ItmHydraulicStatics statics = itm_default_hydraulic_statics();
    statics.force = force;
    // the page's pressures rest already
    ItmHydraulicResidual rest = itm_hydraulics_check_static(c, d, &statics);
    CHECK_NEAR(rest.flow, 0.0, 0.0);
    CHECK_NEAR(rest.force, 0.0, 1e-8);
    // and are found again from elsewhere, p2 being held
    CHECK_OK(itm_hydraulics_set_pressure(c, d, itm_circuit_find_node(c, "piston1"), 1e6), itm_hydraulics_get_error(d));
    CHECK_OK(itm_hydraulics_set_pressure(c, d, itm_circuit_find_node(c, "line2"), 5e6), itm_hydraulics_get_error(d));
    CHECK_OK(itm_hydraulics_solve_static(c, d, &statics, &rest), itm_hydraulics_get_error(d));
    double A_1 = 5.026548245743669e-3, A_2 = 4.064435495581795e-3;
    for (int i = 0; i < 2; i++) {
        double want = (force[i] + 2e6 * A_2) / A_1;
        CHECK_NEAR(itm_hydraulics_get_pressure(c, d, itm_circuit_find_node(c, i == 0 ? "piston1" : "piston2")), want,
                   1e-3);
        CHECK_NEAR(itm_hydraulics_get_pressure(c, d, itm_circuit_find_node(c, i == 0 ? "line1" : "line2")), want, 1e-3);
        CHECK_NEAR(itm_hydraulics_get_pressure(c, d, itm_circuit_find_node(c, i == 0 ? "rod1" : "rod2")), 2e6, 0.0);
    }
    // no state of rest can give 1 MN: said so, with what is left, and the state is kept
    double p_before = itm_hydraulics_get_pressure(c, d, itm_circuit_find_node(c, "piston1"));
    force[0] = -1e6;
    assert_int_equal(itm_hydraulics_solve_static(c, d, &statics, &rest), ITM_ERR_DIVERGED);
    assert_non_null(strstr(itm_hydraulics_get_error(d)->message, "cyl1"));
    CHECK_NEAR(itm_hydraulics_get_pressure(c, d, itm_circuit_find_node(c, "piston1")), p_before, 0.0);
    itm_hydraulics_destroy(d);
    itm_file_destroy(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_crane_reaches_the_reference),
        cmocka_unit_test(double_crane_reaches_the_reference),
        cmocka_unit_test(single_crane_spends_its_energy_as_published),
        cmocka_unit_test(end_dampers_engage_when_the_page_says),
        cmocka_unit_test(manipulator_rates_are_equations_46_to_51),
        cmocka_unit_test(crane_rates_are_equations_27_to_34),
        cmocka_unit_test(static_kappa_of_the_manipulator),
        cmocka_unit_test(static_pressures_of_the_cranes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
