// The co-simulation core with subsystems written here: closed forms, exact times, wires, loops, threads, ledger.
#include "check.h"

#include "interim/cosim.h"

#include <string.h>

// ---------------------------------------------------------------------------- a mass on a slide

#define MASS 2.0

// A mass on a slide along x, with a line actuator from (-1, 0, 0) to it: length 1 at the start. Two side by side, or one with a second
// actuator from (1, 0, 0).
static ItmModel* build_slides(int nslide)
{
    static const char *const BODIES[] = {"a", "b"}, *const JOINTS[] = {"slide_a", "slide_b"},
                             *const ACTUATORS[] = {"push_a", "push_b"};
    ItmError error;
    ItmModelBuilder* b = NULL;
    ItmModel* m = NULL;
    ItmWorldDef world = itm_default_world_def();
    world.gravity = (ItmVec3){0, 0, 0};
    CHECK_OK(itm_model_builder_create(&b, &world, &error), &error);
    for (int i = 0; i < nslide; i++) {
        ItmBodyDef body = itm_default_body_def();
        body.name = BODIES[i];
        body.mass = MASS;
        int id = ITM_NONE;
        CHECK_OK(itm_model_builder_add_body(b, &body, &id, &error), &error);
        ItmJointDef slide = itm_default_joint_def(ITM_JOINT_PRISMATIC);
        slide.name = JOINTS[i];
        slide.body_a = ITM_GROUND;
        slide.body_b = id;
        CHECK_OK(itm_model_frame_from_axis(&slide.frame_a, (ItmVec3){0, i, 0}, (ItmVec3){1, 0, 0}, (ItmVec3){0, 1, 0},
                                           &error),
                 &error);
        slide.frame_b = slide.frame_a;
        slide.frame_b.p = (ItmVec3){0, 0, 0};
        CHECK_OK(itm_model_builder_add_joint(b, &slide, NULL, &error), &error);
        ItmActuatorDef push = itm_default_actuator_def();
        push.name = ACTUATORS[i];
        push.body_a = ITM_GROUND;
        push.point_a = (ItmVec3){-1, i, 0};
        push.body_b = id;
        CHECK_OK(itm_model_builder_add_actuator(b, &push, NULL, &error), &error);
        if (nslide == 1) {
            push.name = ACTUATORS[1];
            push.point_a.x = 1;
            CHECK_OK(itm_model_builder_add_actuator(b, &push, NULL, &error), &error);
        }
    }
    CHECK_OK(itm_model_build(&m, b, &error), &error);
    itm_model_builder_destroy(b);
    return m;
}

// ---------------------------------------------------------------------------- subsystems

// A spring and damper behind one port, f = -k (y - u) - c w. Like oil it remembers its stretch y by the rates it was told, not
// by lengths. Counts its steps.
typedef struct Spring {
    double k, c, rest;
    double y, w, w_end, u;
    double has_start, steps, t_last;
} Spring;

static void spring_set_motion(void* self, const double* s, const double* w, const double* w_end)
{
    Spring* x = self;
    x->y = x->has_start > 0.0 ? x->y : s[0] - x->rest;
    x->has_start = 1.0;
    x->w = w[0];
    x->w_end = w_end[0];
}

static void spring_get_forces(void* self, double* force)
{
    const Spring* x = self;
    force[0] = -x->k * (x->y - x->u) - x->c * x->w;
}

static double spring_get_passive(void* self, int port, double s, double w)
{
    (void)port;
    (void)s;
    return -((const Spring*)self)->c * w;
}

static ItmStatus spring_do_step(void* self, double t, double h, ItmError* error)
{
    Spring* x = self;
    (void)error;
    if (h > 0.0) {
        x->y += 0.5 * h * (x->w + x->w_end);
        x->w = x->w_end;
        x->steps += 1.0;
        x->t_last = t;
    }
    return ITM_OK;
}

static void spring_set_inputs(void* self, const double* u)
{
    ((Spring*)self)->u = u[0];
}

static void spring_get_outputs(void* self, double* y)
{
    const Spring* x = self;
    y[0] = x->y;
    y[1] = x->steps;
}

static void spring_reset(void* self)
{
    Spring* x = self;
    *x = (Spring){.k = x->k, .c = x->c, .rest = x->rest};
}

static size_t spring_get_size(void* self)
{
    (void)self;
    return sizeof(Spring);
}

static void spring_save(void* self, void* bytes)
{
    memcpy(bytes, self, sizeof(Spring));
}

static void spring_restore(void* self, const void* bytes)
{
    memcpy(self, bytes, sizeof(Spring));
}

static const char* const SPRING_PORTS[] = {"port"};
static const char* const SPRING_INPUTS[] = {"shift"};
static const ItmOutputInfo SPRING_OUTPUTS[] = {{"y", "m", "stretch"}, {"steps", "1", "steps so far"}};

static ItmSubsystem spring_table(Spring* self)
{
    return (ItmSubsystem){.self = self,
                          .nport = 1,
                          .port_names = SPRING_PORTS,
                          .ninput = 1,
                          .input_names = SPRING_INPUTS,
                          .noutput = 2,
                          .outputs = SPRING_OUTPUTS,
                          .is_second_order = true,
                          .set_motion = spring_set_motion,
                          .get_forces = spring_get_forces,
                          .get_passive_force = spring_get_passive,
                          .set_inputs = spring_set_inputs,
                          .get_outputs = spring_get_outputs,
                          .do_step = spring_do_step,
                          .reset = spring_reset,
                          .get_state_size = spring_get_size,
                          .save = spring_save,
                          .restore = spring_restore};
}

// A sampled subsystem: y0 = gain u at the time of the sample, y1 = that time. No ports.
static ItmStatus sampler_do_step(void* self, double t, double h, ItmError* error)
{
    Spring* x = self;
    (void)error;
    x->y = x->k * x->u;
    x->t_last = t;
    x->steps += h > 0.0;
    return ITM_OK;
}

static void sampler_get_outputs(void* self, double* y)
{
    const Spring* x = self;
    y[0] = x->y;
    y[1] = x->t_last;
}

static const char* const SAMPLER_INPUTS[] = {"u"};
static const ItmOutputInfo SAMPLER_OUTPUTS[] = {{"y", "1", "gain u"}, {"t", "s", "time of the sample"}};

static ItmSubsystem sampler_table(Spring* self)
{
    return (ItmSubsystem){.self = self,
                          .ninput = 1,
                          .input_names = SAMPLER_INPUTS,
                          .noutput = 2,
                          .outputs = SAMPLER_OUTPUTS,
                          .is_sampled = true,
                          .set_inputs = spring_set_inputs,
                          .get_outputs = sampler_get_outputs,
                          .do_step = sampler_do_step,
                          .reset = spring_reset,
                          .get_state_size = spring_get_size,
                          .save = spring_save,
                          .restore = spring_restore};
}

// ---------------------------------------------------------------------------- oscillators

typedef struct Oscillator {
    ItmModel* m;
    Spring spring;
    ItmCosim* x;
} Oscillator;

static void begin(Oscillator* o, double k, double c, double H, double h, const ItmBondOptions* bond,
                  const ItmCosimOptions* base)
{
    ItmError error;
    ItmCosimBuilder* b = NULL;
    ItmCosimOptions options = base != NULL ? *base : itm_default_cosim_options();
    options.macro_step = H;
    *o = (Oscillator){.m = build_slides(1), .spring = {.k = k, .c = c, .rest = 0.9}};
    ItmSubsystem table = spring_table(&o->spring);
    CHECK_OK(itm_cosim_builder_create(&b, &error), &error);
    CHECK_OK(itm_cosim_builder_add_mechanism(b, "cart", o->m, NULL, NULL, &error), &error);
    CHECK_OK(itm_cosim_builder_add_subsystem(b, "spring", &table, h, NULL, &error), &error);
    CHECK_OK(itm_cosim_builder_add_bond(b, 0, "push_a", 0, "port", bond, &error), &error);
    CHECK_OK(itm_cosim_build(&o->x, b, &options, &error), &error);
    itm_cosim_builder_destroy(b);
}

static void end(Oscillator* o)
{
    itm_cosim_destroy(o->x);
    itm_model_destroy(o->m);
}

static double run(Oscillator* o, double duration)
{
    for (long k = 0; k < lround(duration / itm_cosim_get_step(o->x)); k++) {
        CHECK_OK(itm_cosim_step(o->x), itm_cosim_get_error(o->x));
    }
    return itm_cosim_get_bond(o->x, 0).length;
}

// An undamped oscillator: m s'' = -k (s - rest). With impulses the interface model is exact here (one mass, constant
// Jacobian): what is left is the error of Heun's rule in the micro steps, whatever H is. Held forces blow it up at every H.
static void impulses_carry_an_oscillator_where_held_forces_feed_it(void** state)
{
    (void)state;
    double k = 800.0, omega = sqrt(k / MASS), T = 3.2, exact = 0.9 + 0.1 * cos(omega * T);
    ItmBondOptions bond = itm_default_bond_options();
    double error[2][2];
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) {
            Oscillator o;
            begin(&o, k, 0.0, i == 0 ? 2e-3 : 0.2, j == 0 ? 2e-4 : 1e-4, &bond, NULL);
            error[i][j] = run(&o, T) - exact;
            end(&o);
        }
    }
    print_message("oscillator, H = 2 ms and 0.2 s: errors %.3g %.3g m (h = 0.2 ms), %.3g %.3g (0.1 ms)\n", error[0][0],
                  error[1][0], error[0][1], error[1][1]);
    // Heun's rule: phase error omega^3 h^2 T / 6 times the amplitude, a quarter with half the step; the same at any H
    double bound = 0.1 * pow(omega, 3) * 4e-8 * T / 6.0;
    assert_true(fabs(error[0][0]) < 2.0 * bound && fabs(error[1][0]) < 2.0 * bound);
    CHECK_NEAR(error[1][0] / error[1][1], 4.0, 0.1);
    CHECK_NEAR(error[0][1], error[1][1], 1e-3 * fabs(error[1][1]) + 1e-12);

    bond.exchange = ITM_EXCHANGE_HOLD;
    Oscillator o;
    ItmCosimOptions options = itm_default_cosim_options();
    options.bounds.breakdown = 0.0;  // growth is what is looked at
    begin(&o, k, 0.0, 2e-3, 2e-4, &bond, &options);
    double largest = 0.0;
    for (int i = 0; i < 1600; i++) {
        CHECK_OK(itm_cosim_step(o.x), itm_cosim_get_error(o.x));
        largest = fmax(largest, fabs(itm_cosim_get_bond(o.x, 0).length - 0.9));
    }
    ItmBondState at = itm_cosim_get_bond(o.x, 0);
    double energy = 0.5 * MASS * at.rate * at.rate + 0.5 * k * o.spring.y * o.spring.y;
    print_message("held: largest excursion %.3g m; energy %.4g J of 4, coupling energy error %.4g J\n", largest, energy,
                  at.coupling_error);
    assert_true(largest > 0.15);
    // the ledger explains the growth: what the coupling added is what the oscillator has gained
    CHECK_NEAR(at.coupling_error, energy - 4.0, 0.05 * (energy - 4.0));
    ItmDoubt doubt = itm_cosim_get_doubt(o.x, 1);  // after that of the energy balance
    assert_int_equal(itm_cosim_get_doubt_count(o.x), 2);
    assert_string_equal(doubt.where, "push_a");
    CHECK_NEAR(doubt.largest, at.coupling_error, 1e-9 * at.coupling_error);
    end(&o);
}

// The damped oscillator with every coupling, to the same end as steps shrink.
static void all_couplings_converge(void** state)
{
    (void)state;
    double k = 800.0, c = 8.0, T = 0.8, d = c / (2.0 * MASS), omega = sqrt(k / MASS - d * d);
    double exact = 0.9 + 0.1 * exp(-d * T) * (cos(omega * T) + d / omega * sin(omega * T));
    for (int coupling = 0; coupling < ITM_COUPLING_MONOLITHIC; coupling++) {
        for (int kind = 0; kind < 3; kind++) {
            ItmBondOptions bond = {.coupling = (ItmCoupling)coupling, .exchange = ITM_EXCHANGE_HOLD};
            ItmCosimOptions options = itm_default_cosim_options();
            bond.variables = kind == 1 ? ITM_VARIABLES_VELOCITY_PRESSURE : ITM_VARIABLES_VELOCITY_FORCE;
            options.scheme = kind == 2 ? ITM_SCHEME_GAUSS_SEIDEL : ITM_SCHEME_JACOBI;
            double error[2];
            for (int i = 0; i < 2; i++) {
                Oscillator o;
                begin(&o, k, c, i == 0 ? 1e-3 : 5e-4, 1e-4, &bond, &options);
                error[i] = fabs(run(&o, T) - exact);
                end(&o);
            }
            print_message("%s, %s, %s: errors %.3g %.3g m\n", itm_cosim_coupling_name(bond.coupling),
                          itm_cosim_bond_variables_name(bond.variables), itm_cosim_scheme_name(options.scheme),
                          error[0], error[1]);
            assert_true(error[0] < 5e-3);
            assert_true(error[1] < 0.65 * error[0]);  // first order: held forces
        }
    }
}

// Velocity-pressure: the mechanism has the damper at the rate of the end of its step, v+ = (v - H k/m y) / (1 + H c/m), so that no damper is
// too strong for a step; the spring, told the rates of the start, has y+ = y + H v. With H c/m = 5 a damper at the rate of the start, or
// held, would throw the mass out at once.
static void a_strong_damper_is_no_limit_with_held_pressures(void** state)
{
    (void)state;
    double k = 4.0, c = 100.0, H = 0.1, v = 0.0, y = 0.1, length = 1.0;
    ItmBondOptions bond = {ITM_COUPLING_ZOH, ITM_EXCHANGE_HOLD, ITM_VARIABLES_VELOCITY_PRESSURE};
    Oscillator o;
    begin(&o, k, c, H, H, &bond, NULL);
    for (int i = 0; i < 100; i++) {
        double v_next = (v - H * k / MASS * y) / (1.0 + H * c / MASS);
        CHECK_OK(itm_cosim_step(o.x), itm_cosim_get_error(o.x));
        y += H * v;
        v = v_next;
        length += H * v;
        // Newton's method stops at 1e-9 of the force
        CHECK_NEAR(itm_cosim_get_bond(o.x, 0).rate, v, 1e-9);
        CHECK_NEAR(itm_cosim_get_bond(o.x, 0).length, length, 1e-8);
    }
    end(&o);
}

static void the_monolithic_twin_meets_every_micro_step(void** state)
{
    (void)state;
    ItmBondOptions hold = {.coupling = ITM_COUPLING_ZOH, .exchange = ITM_EXCHANGE_HOLD};
    ItmBondOptions impulse = itm_default_bond_options();
    ItmCosimOptions options = itm_default_cosim_options();
    options.is_monolithic = true;
    Oscillator a, b;
    begin(&a, 800.0, 8.0, 10e-3, 1e-3, &hold, &options);
    begin(&b, 800.0, 8.0, 1e-3, 1e-3, &impulse, NULL);
    CHECK_NEAR(itm_cosim_get_step(a.x), 1e-3, 0.0);
    assert_true(run(&a, 0.5) == run(&b, 0.5));
    CHECK_NEAR(itm_cosim_get_time(a.x), 0.5, 1e-15);
    end(&a);
    end(&b);
}

// ---------------------------------------------------------------------------- times and wires

typedef struct System {
    ItmModel* m;
    ItmCosimBuilder* b;
    ItmCosim* x;
    Spring parts[4];
} System;

static void begin_system(System* s)
{
    ItmError error;
    *s = (System){.m = build_slides(2)};
    CHECK_OK(itm_cosim_builder_create(&s->b, &error), &error);
    CHECK_OK(itm_cosim_builder_add_mechanism(s->b, "carts", s->m, NULL, NULL, &error), &error);
}

static void end_system(System* s)
{
    itm_cosim_destroy(s->x);
    itm_cosim_builder_destroy(s->b);
    itm_model_destroy(s->m);
}

// One mass between two springs that take steps of 2 to 3: m x'' = -k_a (x + 0.1) - k_b x. The error where it is at T.
static double run_between_springs(double h, bool is_second_order)
{
    ItmError error;
    System s = {.m = build_slides(1)};
    ItmCosimOptions options = itm_default_cosim_options();
    options.macro_step = 60.0 * h;
    s.parts[0] = (Spring){.k = 500, .rest = 0.9};
    s.parts[1] = (Spring){.k = 300, .rest = 1};
    ItmSubsystem first = spring_table(&s.parts[0]), second = spring_table(&s.parts[1]);
    first.is_second_order = second.is_second_order = is_second_order;
    CHECK_OK(itm_cosim_builder_create(&s.b, &error), &error);
    CHECK_OK(itm_cosim_builder_add_mechanism(s.b, "cart", s.m, NULL, NULL, &error), &error);
    CHECK_OK(itm_cosim_builder_add_subsystem(s.b, "first", &first, 2.0 * h, NULL, &error), &error);
    CHECK_OK(itm_cosim_builder_add_subsystem(s.b, "second", &second, 3.0 * h, NULL, &error), &error);
    CHECK_OK(itm_cosim_builder_add_bond(s.b, 0, "push_a", 0, "port", NULL, &error), &error);
    CHECK_OK(itm_cosim_builder_add_bond(s.b, 0, "push_b", 1, "port", NULL, &error), &error);
    CHECK_OK(itm_cosim_build(&s.x, s.b, &options, &error), &error);
    double T = 1.2, omega = sqrt(800.0 / MASS), middle = -0.1 * 500.0 / 800.0;
    for (long k = 0; k < lround(T / options.macro_step); k++) {
        CHECK_OK(itm_cosim_step(s.x), itm_cosim_get_error(s.x));
    }
    assert_int_equal((long)s.parts[0].steps, lround(T / (2.0 * h)));
    assert_int_equal((long)s.parts[1].steps, lround(T / (3.0 * h)));
    double x = itm_cosim_get_bond(s.x, 0).length - 1.0;
    CHECK_NEAR(itm_cosim_get_bond(s.x, 1).length, 1.0 - x, 1e-14);
    end_system(&s);
    return x - middle * (1.0 - cos(omega * T));
}

static void subsystems_of_different_steps_share_an_interface_model(void** state)
{
    (void)state;
    for (int order = 1; order <= 2; order++) {
        double coarse = run_between_springs(2e-4, order == 2), fine = run_between_springs(1e-4, order == 2);
        print_message("steps of 2 to 3 at one interface model, order %d: errors %.3g and %.3g m\n", order, coarse,
                      fine);
        CHECK_NEAR(log2(coarse / fine), order, 0.15);
        assert_true(fabs(fine) < (order == 2 ? 1e-5 : 3e-3));
    }
}

// 1/60 with 1/600 and 1/120, and a controller slower than H: everything meets, exactly.
static void steps_of_any_whole_ratio_meet_exactly(void** state)
{
    (void)state;
    ItmError error;
    System s;
    ItmCosimOptions options = itm_default_cosim_options();
    ItmBondOptions zoh = {.coupling = ITM_COUPLING_ZOH, .exchange = ITM_EXCHANGE_HOLD};
    begin_system(&s);
    s.parts[0] = (Spring){.k = 10, .rest = 1};
    s.parts[1] = (Spring){.k = 10, .rest = 1};
    s.parts[2] = (Spring){.k = 2};
    ItmSubsystem fast = spring_table(&s.parts[0]), slow = spring_table(&s.parts[1]), clock = sampler_table(&s.parts[2]);
    CHECK_OK(itm_cosim_builder_add_subsystem(s.b, "fast", &fast, 1.0 / 600.0, NULL, &error), &error);
    CHECK_OK(itm_cosim_builder_add_subsystem(s.b, "slow", &slow, 1.0 / 120.0, NULL, &error), &error);
    CHECK_OK(itm_cosim_builder_add_subsystem(s.b, "clock", &clock, 1.0 / 20.0, NULL, &error), &error);
    CHECK_OK(itm_cosim_builder_add_bond(s.b, 0, "push_a", 0, "port", &zoh, &error), &error);
    CHECK_OK(itm_cosim_builder_add_bond(s.b, 0, "push_b", 1, "port", &zoh, &error), &error);
    CHECK_OK(itm_cosim_builder_add_wire(s.b, "fast.steps", "clock.u", &error), &error);
    options.macro_step = 1.0 / 60.0;
    CHECK_OK(itm_cosim_build(&s.x, s.b, &options, &error), &error);
    for (int k = 0; k < 6000; k++) {
        CHECK_OK(itm_cosim_step(s.x), itm_cosim_get_error(s.x));
        assert_int_equal((long)s.parts[0].steps, 10 * (k + 1));
        assert_int_equal((long)s.parts[1].steps, 2 * (k + 1));
        assert_int_equal((long)s.parts[2].steps, k / 3 + 1);
        CHECK_NEAR(s.parts[2].y, 2.0 * 10.0 * 3.0 * ((k + 1) / 3), 0.0);  // gain times what fast had counted then
    }
    CHECK_NEAR(itm_cosim_get_time(s.x), 100.0, 2e-14);
    CHECK_NEAR(s.parts[0].t_last, 100.0 - 1.0 / 600.0, 2e-14);
    end_system(&s);
}

// A wire sets the force of an actuator without a bond; a chain of controllers acts in one instant.
static void wires_reach_controllers_and_actuators(void** state)
{
    (void)state;
    ItmError error;
    System s;
    ItmCosimOptions options = itm_default_cosim_options();
    begin_system(&s);
    s.parts[0] = (Spring){.k = 3};
    s.parts[1] = (Spring){.k = -2};
    ItmSubsystem first = sampler_table(&s.parts[0]), second = sampler_table(&s.parts[1]);
    // the later one is added first: wires order them, not the list
    CHECK_OK(itm_cosim_builder_add_subsystem(s.b, "second", &second, 0.0, NULL, &error), &error);
    CHECK_OK(itm_cosim_builder_add_subsystem(s.b, "first", &first, 0.0, NULL, &error), &error);
    CHECK_OK(itm_cosim_builder_add_wire(s.b, "carts.a.position.x", "first.u", &error), &error);
    CHECK_OK(itm_cosim_builder_add_wire(s.b, "first.y", "second.u", &error), &error);
    CHECK_OK(itm_cosim_builder_add_wire(s.b, "second.y", "carts.push_a", &error), &error);
    CHECK_OK(itm_cosim_builder_add_alias(s.b, "carts.force", "second.y", &error), &error);
    options.macro_step = 1e-3;
    CHECK_OK(itm_cosim_build(&s.x, s.b, &options, &error), &error);
    // f = -6 x on 2 kg; started at x = 0.1 by hand. Semi-implicit Euler keeps the amplitude.
    ItmData* d = itm_cosim_get_data(s.x, 0);
    double q[2] = {0.1, 0.0}, v[2] = {0.0, 0.0};
    CHECK_OK(itm_data_set_qv(s.m, d, q, v), itm_data_get_error(d));
    double T = 2.0 * 3.141592653589793 / sqrt(3.0);
    for (long k = 0; k < lround(T / 1e-3); k++) {
        CHECK_OK(itm_cosim_step(s.x), itm_cosim_get_error(s.x));
    }
    CHECK_NEAR(itm_data_get_q(d)[0], 0.1, 1e-5);  // a period later; one order of the step in phase, second in amplitude
    CHECK_NEAR(itm_data_get_q(d)[1], 0.0, 0.0);
    int output = itm_cosim_find_output(s.x, "second.y");
    double* values = calloc((size_t)itm_cosim_get_output_count(s.x), sizeof *values);
    CHECK_OK(itm_cosim_compute_outputs(s.x, values), itm_cosim_get_error(s.x));
    CHECK_NEAR(values[output], -6.0 * 0.1, 1e-3);
    CHECK_NEAR(values[itm_cosim_find_output(s.x, "carts.force")], values[output], 0.0);
    assert_string_equal(itm_cosim_get_output_info(s.x, itm_cosim_get_output_count(s.x) - 1).name, "carts.force");
    free(values);
    end_system(&s);
}

static ItmStatus build_wired(const char* const (*wires)[2], int nwire, ItmError* error)
{
    System s;
    begin_system(&s);
    ItmSubsystem table[3];
    static const char* const NAMES[] = {"p", "q", "r"};
    for (int i = 0; i < 3; i++) {
        table[i] = sampler_table(&s.parts[i]);
        CHECK_OK(itm_cosim_builder_add_subsystem(s.b, NAMES[i], &table[i], 0.0, NULL, error), error);
    }
    for (int i = 0; i < nwire; i++) {
        CHECK_OK(itm_cosim_builder_add_wire(s.b, wires[i][0], wires[i][1], error), error);
    }
    ItmStatus status = itm_cosim_build(&s.x, s.b, NULL, error);
    end_system(&s);
    return status;
}

static void bad_wires_are_refused(void** state)
{
    (void)state;
    ItmError error;
    static const char* const LOOP[][2] = {{"p.y", "q.u"}, {"q.y", "r.u"}, {"r.y", "p.u"}};
    static const char* const TWICE[][2] = {{"p.y", "q.u"}, {"r.y", "q.u"}};
    static const char* const NO_SOURCE[][2] = {{"p.z", "q.u"}};
    static const char* const NO_TARGET[][2] = {{"p.y", "q.v"}};
    assert_int_equal(build_wired(LOOP, 3, &error), ITM_ERR_INPUT);
    assert_true(strstr(error.message, "algebraic loop") != NULL);
    assert_true(strstr(error.message, "p") != NULL && strstr(error.message, "r <- ") != NULL);
    assert_int_equal(build_wired(TWICE, 2, &error), ITM_ERR_INPUT);
    assert_true(strstr(error.message, "q.u") != NULL);
    assert_int_equal(build_wired(NO_SOURCE, 1, &error), ITM_ERR_INPUT);
    assert_string_equal(error.field, "p.z");
    assert_int_equal(build_wired(NO_TARGET, 1, &error), ITM_ERR_INPUT);
    assert_string_equal(error.field, "q.v");
    CHECK_OK(build_wired(LOOP, 2, &error), &error);
}

static void bad_aliases_are_refused(void** state)
{
    (void)state;
    static const char* const ALIASES[2][2] = {{"carts.x", "carts.nothing"},
                                              {"carts.a.position.x", "carts.b.position.x"}};
    for (int i = 0; i < 2; i++) {
        ItmError error;
        System s;
        begin_system(&s);
        CHECK_OK(itm_cosim_builder_add_alias(s.b, ALIASES[i][0], ALIASES[i][1], &error), &error);
        assert_int_equal(itm_cosim_build(&s.x, s.b, NULL, &error), ITM_ERR_INPUT);
        assert_string_equal(error.field, ALIASES[i][0]);
        end_system(&s);
    }
}

static void bad_parts_are_refused(void** state)
{
    (void)state;
    ItmError error;
    System s;
    begin_system(&s);
    ItmSubsystem spring = spring_table(&s.parts[0]);
    assert_int_equal(itm_cosim_builder_add_mechanism(s.b, "carts", s.m, NULL, NULL, &error), ITM_ERR_INPUT);
    assert_int_equal(itm_cosim_builder_add_subsystem(s.b, "energy", &spring, 1e-3, NULL, &error), ITM_ERR_INPUT);
    assert_int_equal(itm_cosim_builder_add_subsystem(s.b, "spring", &spring, NAN, NULL, &error), ITM_ERR_INPUT);
    CHECK_OK(itm_cosim_builder_add_subsystem(s.b, "spring", &spring, 1e-3, NULL, &error), &error);
    assert_int_equal(itm_cosim_builder_add_bond(s.b, 0, "push", 0, "port", NULL, &error), ITM_ERR_INPUT);
    assert_string_equal(error.field, "actuator");
    assert_int_equal(itm_cosim_builder_add_bond(s.b, 0, "push_a", 0, "door", NULL, &error), ITM_ERR_INPUT);
    assert_string_equal(error.field, "port");
    CHECK_OK(itm_cosim_builder_add_bond(s.b, 0, "push_a", 0, "port", NULL, &error), &error);
    assert_int_equal(itm_cosim_builder_add_bond(s.b, 0, "push_b", 0, "port", NULL, &error), ITM_ERR_INPUT);
    ItmSubsystem broken = spring;
    broken.get_forces = NULL;
    assert_int_equal(itm_cosim_builder_add_subsystem(s.b, "broken", &broken, 1e-3, NULL, &error), ITM_ERR_ARGUMENT);
    end_system(&s);
}

// ---------------------------------------------------------------------------- threads

// Two mechanisms and two springs; state after a second.
static char* run_threads(int nthread, ItmCoupling coupling, ItmExchange exchange, size_t* size)
{
    ItmError error;
    System s;
    ItmCosimOptions options = itm_default_cosim_options();
    ItmBondOptions bond = {.coupling = coupling, .exchange = exchange};
    begin_system(&s);
    CHECK_OK(itm_cosim_builder_add_mechanism(s.b, "more", s.m, NULL, NULL, &error), &error);
    static const char* const NAMES[] = {"s0", "s1", "s2", "s3"};
    for (int i = 0; i < 4; i++) {
        s.parts[i] = (Spring){.k = 100.0 + i, .c = 10.0, .rest = 0.9};
        ItmSubsystem table = spring_table(&s.parts[i]);
        CHECK_OK(itm_cosim_builder_add_subsystem(s.b, NAMES[i], &table, 1e-4, NULL, &error), &error);
        CHECK_OK(itm_cosim_builder_add_bond(s.b, i / 2, i % 2 == 0 ? "push_a" : "push_b", i, "port", &bond, &error),
                 &error);
    }
    options.macro_step = 2e-3;
    options.nthread = nthread;
    CHECK_OK(itm_cosim_build(&s.x, s.b, &options, &error), &error);
    for (int k = 0; k < 500; k++) {
        CHECK_OK(itm_cosim_step(s.x), itm_cosim_get_error(s.x));
    }
    assert_string_equal(itm_cosim_get_bond_name(s.x, 3), "more-push_b");
    *size = itm_cosim_get_state_size(s.x);
    char* bytes = calloc(*size, 1);
    CHECK_OK(itm_cosim_save(s.x, bytes, *size), itm_cosim_get_error(s.x));
    end_system(&s);
    return bytes;
}

static void threads_change_no_bit(void** state)
{
    (void)state;
    for (int coupling = ITM_COUPLING_ZOH; coupling <= ITM_COUPLING_RIM; coupling += 3) {
        for (int exchange = 0; exchange < ITM_EXCHANGE_COUNT; exchange++) {
            size_t size, other_size;
            char* one = run_threads(1, (ItmCoupling)coupling, (ItmExchange)exchange, &size);
            char* three = run_threads(3, (ItmCoupling)coupling, (ItmExchange)exchange, &other_size);
            assert_int_equal(size, other_size);
            assert_memory_equal(one, three, size);
            free(one);
            free(three);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(impulses_carry_an_oscillator_where_held_forces_feed_it),
        cmocka_unit_test(all_couplings_converge),
        cmocka_unit_test(a_strong_damper_is_no_limit_with_held_pressures),
        cmocka_unit_test(the_monolithic_twin_meets_every_micro_step),
        cmocka_unit_test(subsystems_of_different_steps_share_an_interface_model),
        cmocka_unit_test(steps_of_any_whole_ratio_meet_exactly),
        cmocka_unit_test(wires_reach_controllers_and_actuators),
        cmocka_unit_test(bad_wires_are_refused),
        cmocka_unit_test(bad_aliases_are_refused),
        cmocka_unit_test(bad_parts_are_refused),
        cmocka_unit_test(threads_change_no_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
