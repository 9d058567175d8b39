// Controls: closed forms of every kind of block, order and loops, samples, checkpoints, faults.
#include "allocations.h"
#include "check.h"

#include "interim/control.h"

// ---------------------------------------------------------------------------- a control under test

typedef struct Fixture {
    ItmControlBuilder* b;
    ItmControl* c;
    ItmController* d;
    ItmError error;
} Fixture;

static Fixture make(void)
{
    Fixture f = {0};
    CHECK_OK(itm_control_builder_create(&f.b, &f.error), &f.error);
    return f;
}

static void add(Fixture* f, const ItmControlBlockDef* def)
{
    CHECK_OK(itm_control_builder_add_block(f->b, def, NULL, &f->error), &f->error);
}

static ItmControlBlockDef block(const char* name, ItmControlKind kind, const char* input)
{
    ItmControlBlockDef def = itm_default_control_block_def(kind);
    def.name = name;
    def.input = input;
    return def;
}

static void add_expression(Fixture* f, const char* name, const char* input)
{
    ItmControlBlockDef def = block(name, ITM_CONTROL_EXPRESSION, input);
    add(f, &def);
}

static void build(Fixture* f)
{
    CHECK_OK(itm_control_build(&f->c, f->b, &f->error), &f->error);
    CHECK_OK(itm_controller_create(&f->d, f->c, &f->error), &f->error);
}

static void step(Fixture* f, double t, double h, const double* inputs)
{
    CHECK_OK(itm_controller_step(f->c, f->d, t, h, inputs), itm_controller_get_error(f->d));
}

static double get(const Fixture* f, const char* name)
{
    int output = itm_control_find_output(f->c, name);
    assert_true(output != ITM_NONE);
    return itm_controller_get_outputs(f->d)[output];
}

static void done(Fixture* f)
{
    itm_controller_destroy(f->d);
    itm_control_destroy(f->c);
    itm_control_builder_destroy(f->b);
}

// ---------------------------------------------------------------------------- closed forms

static void lag_is_exact_for_held_inputs_at_any_step(void** state)
{
    (void)state;
    static const double STEPS[] = {1e-4, 0.013, 0.5};  // time constant 0.1
    for (int k = 0; k < 3; k++) {
        Fixture f = make();
        ItmControlBlockDef def = block("y", ITM_CONTROL_LAG, "2");
        def.time_constant = 0.1;
        def.start = -1.0;
        add(&f, &def);
        build(&f);
        for (int i = 0; i < 1000; i++) {
            step(&f, i * STEPS[k], STEPS[k], NULL);
            // each step rounds a few times
            CHECK_NEAR(get(&f, "y"), 2.0 - 3.0 * exp(-i * STEPS[k] / 0.1), 4e-16 * (i + 4));
        }
        done(&f);
    }
}

static void derivative_is_exact_for_straight_inputs(void** state)
{
    (void)state;
    Fixture f = make();
    ItmControlBlockDef def = block("filtered", ITM_CONTROL_DERIVATIVE, "3 * time + 1");
    def.time_constant = 0.05;
    add(&f, &def);
    def.name = "plain";
    def.time_constant = 0.0;
    add(&f, &def);
    build(&f);
    double h = 0.01;
    for (int i = 0; i < 200; i++) {
        step(&f, i * h, h, NULL);
        // differences of values up to 7, rounded, over h: 7 * 2e-16 / 0.01
        CHECK_NEAR(get(&f, "filtered"), 3.0 * (1.0 - exp(-i * h / 0.05)), 3e-13);
        CHECK_NEAR(get(&f, "plain"), i == 0 ? 0.0 : 3.0, 3e-13);
    }
    done(&f);
}

static void rate_limiter_follows_with_its_slopes(void** state)
{
    (void)state;
    Fixture f = make();
    ItmControlBlockDef def = block("y", ITM_CONTROL_RATE_LIMIT, "if(time < 1, 5, if(time < 4, 0, 0.5))");
    def.rising = 2.0;
    def.falling = 4.0;
    def.start = 0.0;
    add(&f, &def);
    def = block("free", ITM_CONTROL_RATE_LIMIT, "if(time < 1, 5, -1)");
    def.rising = 2.0;  // falls at once
    add(&f, &def);
    build(&f);
    double h = 1.0 / 64;  // exact in binary
    for (int i = 0; i < 384; i++) {
        double t = i * h;
        step(&f, t, h, NULL);
        // up to 2 (t < 1), down from the value at 1 - h, at 0 until 4, up again to 0.5
        double top = 2.0 * (1.0 - h);
        double want = t < 1 ? 2.0 * t : t < 4 ? fmax(top - 4.0 * (t - 1.0 + h), 0.0) : fmin(2.0 * (t - 4.0 + h), 0.5);
        CHECK_NEAR(get(&f, "y"), want, 0);
        CHECK_NEAR(get(&f, "free"), t < 1 ? 5.0 : -1.0, 0);
    }
    done(&f);
}

static void delay_shifts_by_whole_samples(void** state)
{
    (void)state;
    Fixture f = make();
    ItmControlBlockDef def = block("late", ITM_CONTROL_DELAY, "in.u");
    def.samples = 3;
    def.start = -7.0;
    add(&f, &def);
    def.name = "later";
    def.samples = 5;
    def.start = NAN;
    add(&f, &def);
    build(&f);
    for (int i = 0; i < 20; i++) {
        double u = 1.0 + i * i;
        step(&f, i * 0.1, 0.1, &u);
        CHECK_NEAR(get(&f, "late"), i < 3 ? -7.0 : 1.0 + (i - 3) * (i - 3), 0);
        CHECK_NEAR(get(&f, "later"), i < 5 ? 1.0 : 1.0 + (i - 5) * (i - 5), 0);
    }
    assert_false(itm_control_is_feedthrough(f.c, 0, 0));
    assert_true(itm_control_is_feedthrough(f.c, 1, 0));  // at its first sample
    done(&f);
}

static void lookup_interpolates_and_ends(void** state)
{
    (void)state;
    static const double POINTS[] = {-1.0, 0.0, 2.0}, VALUES[] = {5.0, 0.0, 1.0};
    Fixture f = make();
    ItmControlBlockDef def = block("y", ITM_CONTROL_LOOKUP, "in.u");
    def.points = POINTS;
    def.values = VALUES;
    def.npoint = 3;
    add(&f, &def);
    def.name = "steps";
    def.is_stepped = true;
    add(&f, &def);
    build(&f);
    static const double CASES[][3] = {{-9, 5, 5},  {-1, 5, 5}, {-0.5, 2.5, 5}, {0, 0, 0},
                                      {1, 0.5, 0}, {2, 1, 1},  {50, 1, 1}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        step(&f, 0.0, 1.0, CASES[i]);
        CHECK_NEAR(get(&f, "y"), CASES[i][1], 0);
        CHECK_NEAR(get(&f, "steps"), CASES[i][2], 0);
    }
    done(&f);
}

static void integrator_stays_within_its_limits(void** state)
{
    (void)state;
    Fixture f = make();
    ItmControlBlockDef def = block("y", ITM_CONTROL_INTEGRATOR, "if(time < 2, 1, -1)");
    def.start = 0.5;
    def.lower = 0.25;
    def.upper = 1.5;
    add(&f, &def);
    build(&f);
    double h = 1.0 / 128;
    for (int i = 0; i < 600; i++) {
        double t = i * h;
        step(&f, t, h, NULL);
        // leaves the limit at once when the input turns
        CHECK_NEAR(get(&f, "y"), t <= 2 ? fmin(0.5 + t, 1.5) : fmax(1.5 - (t - 2), 0.25), 0);
    }
    done(&f);
}

// ---------------------------------------------------------------------------- PID

#define PLANT_TIME 0.5
#define PLANT_GAIN 2.0

// PI control of T x' + x = K u to the set point 1, sampled with h; returns the largest difference to want(k).
static double run_loop(double kp, double ki, double h, int n, double (*want)(int k, double kp, double h))
{
    Fixture f = make();
    ItmControlBlockDef def = block("u", ITM_CONTROL_PID, "1 - plant.x");
    def.proportional = kp;
    def.integral = ki;
    add(&f, &def);
    build(&f);
    double x = 0.0, worst = 0.0, E = exp(-h / PLANT_TIME);
    for (int k = 0; k < n; k++) {
        worst = fmax(worst, fabs(x - want(k, kp, h)));
        step(&f, k * h, h, &x);
        x = E * x + (1.0 - E) * PLANT_GAIN * get(&f, "u");  // exact for a held u
    }
    done(&f);
    return worst;
}

// k_I = k_P (1 - E) / h puts the zero of the controller on the plant's pole E: x_k = 1 - (1 - k_P K (1 - E))^k
static double sampled_response(int k, double kp, double h)
{
    double E = exp(-h / PLANT_TIME);
    return 1.0 - pow(1.0 - kp * PLANT_GAIN * (1.0 - E), k);
}

// k_I = k_P / T, continuous: x = 1 - exp(-k_P K t / T)
static double continuous_response(int k, double kp, double h)
{
    return 1.0 - exp(-kp * PLANT_GAIN * k * h / PLANT_TIME);
}

static void pi_with_a_first_order_plant_answers_as_the_algebra_says(void** state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        double h = (double[]){1e-3, 0.02, 0.2}[i], kp = 0.9;
        double ki = kp * (1.0 - exp(-h / PLANT_TIME)) / h;
        double worst = run_loop(kp, ki, h, 2000, sampled_response);
        CHECK_NEAR(worst, 0.0, 2e-13);  // cancelled pole: 2000 roundings of 1e-16; observed 3e-14
    }
    // sampling costs order h against the continuous loop
    double coarse = run_loop(0.9, 0.9 / PLANT_TIME, 2e-3, 1000, continuous_response);
    double fine = run_loop(0.9, 0.9 / PLANT_TIME, 1e-3, 2000, continuous_response);
    assert_true(coarse < 5e-3);
    CHECK_NEAR(coarse / fine, 2.0, 0.02);
}

static void pid_adds_its_parts(void** state)
{
    (void)state;
    Fixture f = make();
    ItmControlBlockDef def = block("u", ITM_CONTROL_PID, "2 * time");
    def.proportional = 3.0;
    def.integral = 5.0;
    def.derivative = 0.5;
    def.start = 0.125;
    def.feed_forward = "10 + in.u";
    add(&f, &def);
    def.name = "measured";
    def.error_rate = "in.rate";
    add(&f, &def);
    build(&f);
    assert_string_equal(itm_control_get_input_name(f.c, 0), "in.u");
    assert_string_equal(itm_control_get_input_name(f.c, 1), "in.rate");
    double h = 1.0 / 32;
    const double inputs[] = {4.0, 7.0};
    for (int k = 0; k < 100; k++) {
        step(&f, k * h, h, inputs);
        double integral = 0.125 + 5.0 * h * 2.0 * h * (k * (k - 1)) / 2.0;
        double rest = 3.0 * 2.0 * k * h + integral + 14.0;
        CHECK_NEAR(get(&f, "u"), rest + (k == 0 ? 0.0 : 0.5 * 2.0), 1e-12);
        CHECK_NEAR(get(&f, "measured"), rest + 0.5 * 7.0, 1e-12);
    }
    done(&f);
}

// A set point of 2 that the plant (gain 1, actuator limited to 1) cannot reach until t = 10 s, then 0.5: when does the actuator
// leave its limit? wound: the integral of k_I e until then, which is I without anti-windup.
static double find_recovery(ItmAntiWindup method, double* wound)
{
    Fixture f = make();
    ItmControlBlockDef def = block("u", ITM_CONTROL_PID, "if(time < 10, 2, 0.5) - plant.x");
    def.proportional = 1.0;
    def.integral = 4.0;
    def.upper = 1.0;
    def.lower = 0.0;
    def.anti_windup = method;
    def.tracking_time = 0.25;
    add(&f, &def);
    add_expression(&f, "e", "if(time < 10, 2, 0.5) - plant.x");
    build(&f);
    double h = 1e-3, x = 0.0, integral = 0.0, left = NAN;
    for (int k = 0; k < 200000 && isnan(left); k++) {
        step(&f, k * h, h, &x);
        if (k * h >= 9.9995 && get(&f, "u") < 1.0) {
            left = k * h - 10.0;
        }
        integral += k < 10000 ? h * 4.0 * get(&f, "e") : 0.0;
        x += (1.0 - exp(-h)) * (get(&f, "u") - x);
    }
    *wound = integral;
    done(&f);
    return left;
}

static void anti_windup_frees_the_actuator_at_once(void** state)
{
    (void)state;
    double wound;
    CHECK_NEAR(find_recovery(ITM_WINDUP_CLAMP, &wound), 0.0, 1e-9);
    // tracking: before 10 s the excess rests at T_t k_I e = 1 with e = 1; then e drops by 1.5, and so does the output: at once
    CHECK_NEAR(find_recovery(ITM_WINDUP_TRACKING, &wound), 0.0, 1e-9);
    // without: I = k_I int e stands at `wound`; e = -0.5 takes it down at 2 per second until -0.5 + I = 1
    double late = find_recovery(ITM_WINDUP_NONE, &wound);
    assert_true(late > 15.0);
    CHECK_NEAR(late, (wound - 1.5) / 2.0, 2e-3);  // two samples
}

static void tracking_rests_at_the_known_excess(void** state)
{
    (void)state;
    // u = I + e with e = 1, limit 1: I' = k_I e - (I + 1 - 1)/T_t, so I -> T_t k_I = 0.75 exactly as 0.75 (1 - exp(-t/T_t))
    Fixture f = make();
    ItmControlBlockDef def = block("u", ITM_CONTROL_PID, "1 + 3 * (time >= 4)");
    def.proportional = 1.0;
    def.integral = 3.0;
    def.lower = -10.0;
    def.upper = 1.0;
    def.anti_windup = ITM_WINDUP_TRACKING;
    def.tracking_time = 0.25;
    add(&f, &def);
    def.name = "late";
    def.input = "if(time < 4, 1, -2)";  // then u = -2 + I shows I
    add(&f, &def);
    build(&f);
    double h = 0.01;
    for (int k = 0; k <= 400; k++) {
        step(&f, k * h, h, NULL);
    }
    // the first sample has excess 0 and integrates freely: I_1 = h k_I; from there on the exact decay
    double I = h * 3.0;
    for (int k = 1; k < 400; k++) {
        I = 0.75 + (I - 0.75) * exp(-h / 0.25);
    }
    CHECK_NEAR(get(&f, "late"), -2.0 + I, 1e-13);
    CHECK_NEAR(get(&f, "u"), 1.0, 0);
    done(&f);
}

// ---------------------------------------------------------------------------- samples

static void sampled_blocks_hold_in_between(void** state)
{
    (void)state;
    Fixture f = make();
    ItmControlBlockDef def = block("held", ITM_CONTROL_EXPRESSION, "time");
    def.sample = 0.01;
    add(&f, &def);
    def = block("sum", ITM_CONTROL_INTEGRATOR, "2");
    def.sample = 0.01;
    add(&f, &def);
    def = block("lag", ITM_CONTROL_LAG, "held");
    def.time_constant = 0.02;
    add(&f, &def);
    build(&f);
    CHECK_NEAR(itm_control_get_sample(f.c, 0), 0.01, 0);
    double lag = 0.0, h = 1e-3;
    for (int k = 0; k < 1000; k++) {
        step(&f, k * h, h, NULL);
        CHECK_NEAR(get(&f, "held"), k / 10 * 10 * h, 0);
        CHECK_NEAR(get(&f, "sum"), 2.0 * (k / 10) * 0.01, 1e-14);  // advances by its sample time; 100 roundings
        CHECK_NEAR(get(&f, "lag"), lag, 1e-13);
        lag = get(&f, "held") + (lag - get(&f, "held")) * exp(-h / 0.02);
    }
    done(&f);
}

// ---------------------------------------------------------------------------- order, names, loops

static void order_of_definition_does_not_matter(void** state)
{
    (void)state;
    Fixture f = make();
    add_expression(&f, "c", "a + b");
    add_expression(&f, "b", "2 * a");
    add_expression(&f, "a", "in.u");
    ItmControlBlockDef def = block("i", ITM_CONTROL_INTEGRATOR, "-i + c");  // a loop through a state
    add(&f, &def);
    build(&f);
    double u = 5.0;
    step(&f, 0.0, 0.5, &u);
    CHECK_NEAR(get(&f, "c"), 15.0, 0);
    CHECK_NEAR(get(&f, "i"), 0.0, 0);
    step(&f, 0.5, 0.5, &u);
    CHECK_NEAR(get(&f, "i"), 7.5, 0);
    assert_true(itm_control_is_feedthrough(f.c, 0, 0));
    assert_true(itm_control_is_feedthrough(f.c, 1, 0));
    assert_false(itm_control_is_feedthrough(f.c, 3, 0));
    assert_false(itm_control_is_feedthrough(f.c, 0, 1));
    ItmOutputInfo info = itm_control_get_output_info(f.c, 3);
    assert_string_equal(info.name, "i");
    assert_string_equal(info.unit, "");
    assert_true(strlen(info.description) > 3);
    done(&f);
}

static void refuse_build(Fixture* f, const char* field, int column, const char* words)
{
    assert_int_equal(itm_control_build(&f->c, f->b, &f->error), ITM_ERR_INPUT);
    if (strstr(f->error.message, words) == NULL || strcmp(f->error.field, field) != 0 ||
        (column > 0 && f->error.column != column)) {
        fail_msg("expected '%s' at %s, %d; got '%s' at %s, %d", words, field, column, f->error.message, f->error.field,
                 f->error.column);
    }
    assert_null(f->c);
    done(f);
}

static void loops_without_delay_are_spelled_out(void** state)
{
    (void)state;
    Fixture f = make();
    add_expression(&f, "x", "1 + q");
    add_expression(&f, "p", "x + 1");
    ItmControlBlockDef def = block("q", ITM_CONTROL_PID, "p - 1");
    def.proportional = 1.0;
    add(&f, &def);
    refuse_build(&f, "x.input", 0, "algebraic loop: x -> q -> p -> x");

    f = make();
    add_expression(&f, "self", "self / 2");
    refuse_build(&f, "self.input", 0, "self -> self");

    f = make();  // a lag that starts with its input needs it
    def = block("y", ITM_CONTROL_LAG, "y + 1");
    def.time_constant = 1.0;
    def.start = NAN;
    add(&f, &def);
    refuse_build(&f, "y.input", 0, "start value");
}

static void names_that_do_not_fit_are_refused(void** state)
{
    (void)state;
    Fixture f = make();
    add_expression(&f, "reference", "1");
    add_expression(&f, "error", "2 * (referense - arm.x)");
    refuse_build(&f, "error.input", 6, "nearest: 'reference'");

    f = make();
    ItmSignalDef signal = itm_default_signal_def();
    signal.name = "k";
    CHECK_OK(itm_control_builder_add_signal(f.b, &signal, &f.error), &f.error);
    CHECK_OK(itm_control_builder_add_constant(f.b, "k", 2.0, &f.error), &f.error);
    add_expression(&f, "y", "1 + k");
    refuse_build(&f, "y.input", 5, "more than one");

    f = make();
    CHECK_OK(itm_control_builder_add_constant(f.b, "time", 2.0, &f.error), &f.error);
    add_expression(&f, "y", "1 + time");
    refuse_build(&f, "y.input", 5, "rename");

    f = make();
    add_expression(&f, "y", "rate(arm.x)");
    refuse_build(&f, "y.input", 6, "derivative block");

    f = make();
    assert_int_equal(itm_control_build(&f.c, f.b, &f.error), ITM_ERR_INPUT);  // no block
    done(&f);
}

static void own_name_means_own_block(void** state)
{
    (void)state;
    Fixture f = make();
    CHECK_OK(itm_control_builder_set_name(f.b, "ctl", &f.error), &f.error);
    add_expression(&f, "y", "2 * ctl.x + ctl2.z + ctl2.z");
    add_expression(&f, "x", "time");
    build(&f);
    assert_int_equal(itm_control_get_input_count(f.c), 1);
    assert_string_equal(itm_control_get_input_name(f.c, 0), "ctl2.z");
    assert_int_equal(itm_control_find_input(f.c, "ctl2.z"), 0);
    assert_int_equal(itm_control_find_input(f.c, "ctl.x"), ITM_NONE);
    double z = 0.5;
    step(&f, 3.0, 0.1, &z);
    CHECK_NEAR(get(&f, "y"), 7.0, 0);
    itm_controller_destroy(f.d);
    itm_control_destroy(f.c);
    f.c = NULL;
    f.d = NULL;
    add_expression(&f, "w", "ctl.missing");
    refuse_build(&f, "w.input", 1, "there is no block");
}

static void signals_and_their_rates(void** state)
{
    (void)state;
    Fixture f = make();
    ItmSignalDef ramp = itm_default_signal_def();
    ramp.name = "unused";
    CHECK_OK(itm_control_builder_add_signal(f.b, &ramp, &f.error), &f.error);
    ramp.name = "stick-1";
    ramp.kind = ITM_SIGNAL_RAMP;
    ramp.t_end = 2.0;
    ramp.to = 6.0;
    ramp.is_smooth = false;
    CHECK_OK(itm_control_builder_add_signal(f.b, &ramp, &f.error), &f.error);
    add_expression(&f, "y", "'stick-1' + 10 * rate('stick-1')");
    build(&f);
    assert_int_equal(itm_control_get_info(f.c).nsignal, 1);
    step(&f, 1.0, 0.1, NULL);
    CHECK_NEAR(get(&f, "y"), 33.0, 1e-14);
    step(&f, 5.0, 0.1, NULL);
    CHECK_NEAR(get(&f, "y"), 6.0, 0);
    done(&f);
}

// ---------------------------------------------------------------------------- definitions

static void refuse_block(ItmControlBlockDef def, const char* field)
{
    Fixture f = make();
    int id = 77;
    assert_int_equal(itm_control_builder_add_block(f.b, &def, &id, &f.error), ITM_ERR_INPUT);
    if (strcmp(f.error.field, field) != 0) {
        fail_msg("expected field '%s', got '%s': %s", field, f.error.field, f.error.message);
    }
    assert_int_equal(id, 77);
    done(&f);
}

static void bad_definitions_name_their_field(void** state)
{
    (void)state;
    static const double POINTS[] = {1.0, 1.0}, VALUES[] = {0.0, 1.0}, BROKEN[] = {1.0, NAN};
    ItmControlBlockDef def = block("y", ITM_CONTROL_EXPRESSION, "1");
#define REFUSE(field, change)                                                                                          \
    do {                                                                                                               \
        ItmControlBlockDef bad = def;                                                                                  \
        change;                                                                                                        \
        refuse_block(bad, field);                                                                                      \
    } while (0)
    REFUSE("name", bad.name = NULL);
    REFUSE("name", bad.name = "");
    REFUSE("name", bad.name = "a-b");
    REFUSE("name", bad.name = "2a");
    REFUSE("name", bad.name = "time");
    REFUSE("name", bad.name = "not");
    REFUSE("input", bad.input = NULL);
    REFUSE("input", bad.input = "1 +");
    REFUSE("sample", bad.sample = -1.0);
    REFUSE("sample", bad.sample = NAN);
    REFUSE("lower", bad.lower = 2.0; bad.upper = 1.0);
    REFUSE("lower", bad.upper = NAN);
    REFUSE("kind", bad.kind = ITM_CONTROL_KIND_COUNT);
    def.kind = ITM_CONTROL_PID;
    REFUSE("proportional", bad.proportional = NAN);
    REFUSE("integral", bad.integral = INFINITY);
    REFUSE("derivative", bad.derivative = NAN);
    REFUSE("time_constant", bad.time_constant = -1.0);
    REFUSE("time_constant", bad.time_constant = 1.0; bad.error_rate = "0");
    REFUSE("anti_windup", bad.anti_windup = ITM_WINDUP_COUNT);
    REFUSE("tracking_time", bad.anti_windup = ITM_WINDUP_TRACKING);
    REFUSE("error_rate", bad.error_rate = "(");
    REFUSE("feed_forward", bad.feed_forward = "");
    REFUSE("start", bad.start = NAN);
    def.kind = ITM_CONTROL_INTEGRATOR;
    REFUSE("start", bad.start = 3.0; bad.upper = 2.0);
    def.kind = ITM_CONTROL_LAG;
    REFUSE("time_constant", bad.time_constant = 0.0);
    REFUSE("start", bad.time_constant = 1.0; bad.start = INFINITY);
    def.kind = ITM_CONTROL_DERIVATIVE;
    REFUSE("time_constant", bad.time_constant = NAN);
    def.kind = ITM_CONTROL_RATE_LIMIT;
    REFUSE("rising", bad.rising = 0.0);
    REFUSE("falling", bad.falling = NAN);
    def.kind = ITM_CONTROL_DELAY;
    REFUSE("samples", bad.samples = 0);
    REFUSE("samples", bad.samples = 2000000);
    def.kind = ITM_CONTROL_LOOKUP;
    REFUSE("points", bad.npoint = 1);
    REFUSE("points", bad.npoint = 2; bad.points = POINTS; bad.values = VALUES);
    REFUSE("values", bad.npoint = 2; bad.points = VALUES; bad.values = BROKEN);
#undef REFUSE
    Fixture f = make();
    add_expression(&f, "y", "1");
    ItmControlBlockDef again = block("y", ITM_CONTROL_EXPRESSION, "1");
    assert_int_equal(itm_control_builder_add_block(f.b, &again, NULL, &f.error), ITM_ERR_INPUT);
    assert_string_equal(f.error.field, "name");
    again.name = "z";
    again.input = "1 + foo(2)";
    assert_int_equal(itm_control_builder_add_block(f.b, &again, NULL, &f.error), ITM_ERR_INPUT);
    assert_int_equal(f.error.column, 5);
    assert_int_equal(itm_control_builder_add_constant(f.b, "k", NAN, NULL), ITM_ERR_INPUT);
    assert_int_equal(itm_control_builder_add_block(NULL, &again, NULL, NULL), ITM_ERR_ARGUMENT);
    assert_int_equal(itm_control_builder_add_block(f.b, NULL, NULL, NULL), ITM_ERR_ARGUMENT);
    assert_int_equal(itm_control_build(NULL, f.b, NULL), ITM_ERR_ARGUMENT);
    assert_int_equal(itm_controller_create(NULL, NULL, NULL), ITM_ERR_ARGUMENT);
    done(&f);
}

static void too_many_samples_are_refused(void** state)
{
    (void)state;
    Fixture f = make();
    for (int i = 0; i < 21; i++) {
        char name[32];
        snprintf(name, sizeof name, "d%d", i);
        ItmControlBlockDef def = block(name, ITM_CONTROL_DELAY, "1");
        def.samples = 1000000;
        add(&f, &def);
    }
    assert_int_equal(itm_control_build(&f.c, f.b, &f.error), ITM_ERR_CAPACITY);
    done(&f);
}

// ---------------------------------------------------------------------------- states

// One of every kind, and a loop through a state.
static Fixture make_zoo(void)
{
    static const double POINTS[] = {-1.0, 1.0}, VALUES[] = {-2.0, 2.0};
    Fixture f = make();
    ItmSignalDef sine = itm_default_signal_def();
    sine.name = "sine";
    sine.kind = ITM_SIGNAL_SINE;
    sine.amplitude = 1.0;
    sine.frequency = 1.3;
    CHECK_OK(itm_control_builder_add_signal(f.b, &sine, &f.error), &f.error);
    CHECK_OK(itm_control_builder_add_constant(f.b, "gain", 1.5, &f.error), &f.error);
    add_expression(&f, "error", "gain * sine - integrated + in.u");
    ItmControlBlockDef def = block("pid", ITM_CONTROL_PID, "error");
    def.proportional = 2.0;
    def.integral = 1.0;
    def.derivative = 0.1;
    def.time_constant = 0.02;
    def.lower = -1.0;
    def.upper = 1.0;
    add(&f, &def);
    def = block("integrated", ITM_CONTROL_INTEGRATOR, "pid");
    add(&f, &def);
    def = block("lagged", ITM_CONTROL_LAG, "pid");
    def.time_constant = 0.3;
    def.start = NAN;
    def.sample = 0.05;
    add(&f, &def);
    def = block("rate", ITM_CONTROL_DERIVATIVE, "lagged");
    def.time_constant = 0.05;
    add(&f, &def);
    def = block("limited", ITM_CONTROL_RATE_LIMIT, "rate");
    def.rising = def.falling = 0.7;
    add(&f, &def);
    def = block("late", ITM_CONTROL_DELAY, "limited");
    def.samples = 17;
    add(&f, &def);
    def = block("table", ITM_CONTROL_LOOKUP, "late");
    def.points = POINTS;
    def.values = VALUES;
    def.npoint = 2;
    add(&f, &def);
    build(&f);
    return f;
}

static void step_zoo(Fixture* f, int from, int to)
{
    for (int k = from; k < to; k++) {
        double u = cos(0.1 * k);
        step(f, k * 0.01, 0.01, &u);
    }
}

static void restored_controller_goes_on_bit_for_bit(void** state)
{
    (void)state;
    Fixture a = make_zoo(), b = make_zoo();
    size_t size = itm_controller_get_state_size(a.d);
    double* bytes = malloc(size);
    double want[16], got[16];
    int n = itm_control_get_output_count(a.c);
    step_zoo(&a, 0, 137);
    assert_int_equal(itm_controller_save(a.d, bytes, size), ITM_OK);
    step_zoo(&a, 137, 400);
    memcpy(want, itm_controller_get_outputs(a.d), (size_t)n * sizeof *want);

    step_zoo(&b, 0, 20);  // another instance, elsewhere
    assert_int_equal(itm_controller_restore(b.d, bytes, size), ITM_OK);
    step_zoo(&b, 137, 400);
    memcpy(got, itm_controller_get_outputs(b.d), (size_t)n * sizeof *got);
    assert_memory_equal(got, want, (size_t)n * sizeof *want);

    itm_controller_reset(a.c, a.d);
    step_zoo(&a, 0, 400);
    assert_memory_equal(itm_controller_get_outputs(a.d), want, (size_t)n * sizeof *want);
    assert_int_equal(itm_controller_save(a.d, bytes, size - 1), ITM_ERR_ARGUMENT);
    assert_int_equal(itm_controller_restore(a.d, bytes, size + 1), ITM_ERR_ARGUMENT);
    free(bytes);
    done(&a);
    done(&b);
}

static void evaluating_does_not_go_on(void** state)
{
    (void)state;
    Fixture a = make_zoo(), b = make_zoo();
    int n = itm_control_get_output_count(a.c);
    for (int k = 0; k < 100; k++) {
        double u = sin(0.2 * k), other = 3.0;
        CHECK_OK(itm_controller_evaluate(a.c, a.d, k * 0.01, &other), itm_controller_get_error(a.d));
        CHECK_OK(itm_controller_evaluate(a.c, a.d, k * 0.01, &u), itm_controller_get_error(a.d));
        double values[16];
        memcpy(values, itm_controller_get_outputs(a.d), (size_t)n * sizeof *values);
        step(&a, k * 0.01, 0.01, &u);
        step(&b, k * 0.01, 0.01, &u);
        assert_memory_equal(itm_controller_get_outputs(a.d), values, (size_t)n * sizeof *values);
        assert_memory_equal(itm_controller_get_outputs(b.d), values, (size_t)n * sizeof *values);
    }
    done(&a);
    done(&b);
}

static void stepping_allocates_nothing(void** state)
{
    (void)state;
    Fixture f = make_zoo();
    step_zoo(&f, 0, 10);
    long before = allocations;
    assert_true(before > 0);
    step_zoo(&f, 10, 1000);
    itm_controller_reset(f.c, f.d);
    step_zoo(&f, 0, 10);
    assert_int_equal(allocations - before, 0);
    assert_true(itm_control_get_info(f.c).data_bytes > 0);
    done(&f);
}

static void faults_leave_the_state_and_name_the_first(void** state)
{
    (void)state;
    Fixture f = make();
    ItmControlBlockDef def = block("sum", ITM_CONTROL_INTEGRATOR, "root");
    add(&f, &def);
    add_expression(&f, "twice", "2 * root");
    add_expression(&f, "root", "sqrt(in.u)");
    def = block("late", ITM_CONTROL_DELAY, "twice");
    add(&f, &def);
    def = block("huge", ITM_CONTROL_INTEGRATOR, "if(time > 5, 1e308, 0)");
    add(&f, &def);
    build(&f);
    double u = 4.0;
    step(&f, 0.0, 0.1, &u);
    step(&f, 0.1, 0.1, &u);
    size_t size = itm_controller_get_state_size(f.d);
    char* before = malloc(2 * size);
    assert_int_equal(itm_controller_save(f.d, before, size), ITM_OK);
    u = -1.0;
    assert_int_equal(itm_controller_step(f.c, f.d, 0.2, 0.1, &u), ITM_ERR_NOT_FINITE);
    assert_string_equal(itm_controller_get_error(f.d)->field, "root");
    assert_int_equal(itm_controller_evaluate(f.c, f.d, 0.2, &u), ITM_ERR_NOT_FINITE);
    u = NAN;
    assert_int_equal(itm_controller_step(f.c, f.d, 0.2, 0.1, &u), ITM_ERR_NOT_FINITE);
    assert_string_equal(itm_controller_get_error(f.d)->field, "in.u");
    u = 1.0;
    assert_int_equal(itm_controller_step(f.c, f.d, 6.0, 1e300, &u), ITM_ERR_NOT_FINITE);  // a state runs over
    assert_string_equal(itm_controller_get_error(f.d)->field, "huge");
    assert_int_equal(itm_controller_step(f.c, f.d, 0.2, 0.0, &u), ITM_ERR_ARGUMENT);
    assert_int_equal(itm_controller_step(f.c, f.d, 0.2, 0.1, NULL), ITM_ERR_ARGUMENT);
    assert_int_equal(itm_controller_step(f.c, f.d, NAN, 0.1, &u), ITM_ERR_ARGUMENT);
    assert_int_equal(itm_controller_save(f.d, before + size, size), ITM_OK);
    assert_memory_equal(before, before + size, size);
    free(before);
    done(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lag_is_exact_for_held_inputs_at_any_step),
        cmocka_unit_test(derivative_is_exact_for_straight_inputs),
        cmocka_unit_test(rate_limiter_follows_with_its_slopes),
        cmocka_unit_test(delay_shifts_by_whole_samples),
        cmocka_unit_test(lookup_interpolates_and_ends),
        cmocka_unit_test(integrator_stays_within_its_limits),
        cmocka_unit_test(pi_with_a_first_order_plant_answers_as_the_algebra_says),
        cmocka_unit_test(pid_adds_its_parts),
        cmocka_unit_test(anti_windup_frees_the_actuator_at_once),
        cmocka_unit_test(tracking_rests_at_the_known_excess),
        cmocka_unit_test(sampled_blocks_hold_in_between),
        cmocka_unit_test(order_of_definition_does_not_matter),
        cmocka_unit_test(loops_without_delay_are_spelled_out),
        cmocka_unit_test(names_that_do_not_fit_are_refused),
        cmocka_unit_test(own_name_means_own_block),
        cmocka_unit_test(signals_and_their_rates),
        cmocka_unit_test(bad_definitions_name_their_field),
        cmocka_unit_test(too_many_samples_are_refused),
        cmocka_unit_test(restored_controller_goes_on_bit_for_bit),
        cmocka_unit_test(evaluating_does_not_go_on),
        cmocka_unit_test(stepping_allocates_nothing),
        cmocka_unit_test(faults_leave_the_state_and_name_the_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
