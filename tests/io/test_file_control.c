// Controls and recorded signals in model files: what the file says is what the C API would get, and mistakes have a place.
#include "read_text.h"

#include "interim/cosim.h"

#define CONTROL                                                                                                        \
    "parameters: {k: 2, L: 5 mm}\n"                                                                                    \
    "signals: {ref: {ramp: {end: 2 s, to: 4, smooth: false}}, odd-name: 3}\n"                                          \
    "subsystems:\n"                                                                                                    \
    "  ctl:\n"                                                                                                         \
    "    type: control\n"                                                                                              \
    "    step: 1 ms\n"                                                                                                 \
    "    blocks:\n"

// ---------------------------------------------------------------------------- reading

static double run_to(const ItmFileControl* control, int steps, const char* output, const double* inputs)
{
    ItmController* d;
    ItmError error;
    CHECK_OK(itm_controller_create(&d, control->control, &error), &error);
    for (int k = 0; k <= steps; k++) {
        CHECK_OK(itm_controller_step(control->control, d, k * control->step, control->step, inputs),
                 itm_controller_get_error(d));
    }
    int i = itm_control_find_output(control->control, output);
    assert_true(i != ITM_NONE);
    double value = itm_controller_get_outputs(d)[i];
    itm_controller_destroy(d);
    return value;
}

static void every_block_is_read(void** state)
{
    (void)state;
    Read r =
        accept(CONTROL
               "      gain: k * ref + 'odd-name' - L\n"
               "      units: (1 + 1) mm + 30 deg * 0 + 2 bar/1e5\n"
               "      flag: 3 m > 2 and ref < 1 m\n"
               "      pid: {type: pid, input: 1 - ref, proportional: 6/(1 m), integral: 2, derivative: 0.5,\n"
               "            filter: 10 ms, limits: [-3, 3], anti_windup: tracking, tracking_time: 0.1 s, start: 0.25}\n"
               "      measured: {type: pid, input: ref, derivative: 1, error_rate: rate(ref), feed_forward: 1}\n"
               "      sum: {type: integrator, input: 1, start: 2, limits: {upper: 2.5}, unit: m}\n"
               "      lag: {type: lag, input: ref + 1, time_constant: 20 ms, start: input}\n"
               "      rate: {type: derivative, input: time * 3}\n"
               "      slew: {type: rate-limit, input: 10, rising: 2 m/s, start: 0, falling: 1}\n"
               "      late: {type: delay, input: time, time: 4 ms, start: -1}\n"
               "      later: {type: delay, input: time, samples: 2, sample: 10 ms}\n"
               "      table: {type: lookup, input: time, points: [0 s, 1 s], values: [0, 2], interpolation: linear}\n"
               "      held: {type: expression, input: time, sample: 0.05}\n");
    assert_int_equal(r.file.ncontrol, 1);
    assert_int_equal(r.file.nconnection, 0);
    const ItmFileControl* c = &r.file.controls[0];
    assert_string_equal(c->name, "ctl");
    CHECK_NEAR(c->step, 1e-3, 0);
    assert_int_equal(itm_control_get_output_count(c->control), 13);
    double t = 0.5;  // after 500 steps
    CHECK_NEAR(run_to(c, 500, "gain", NULL), 2 * 2 * t + 3 - 0.005, 1e-15);
    CHECK_NEAR(run_to(c, 500, "units", NULL), 0.002 + 2, 1e-15);
    CHECK_NEAR(run_to(c, 499, "flag", NULL), 1, 0);
    CHECK_NEAR(run_to(c, 500, "flag", NULL), 0, 0);
    CHECK_NEAR(run_to(c, 0, "pid", NULL), 3, 0);
    CHECK_NEAR(run_to(c, 500, "measured", NULL), 1 + 2, 0);
    CHECK_NEAR(run_to(c, 400, "sum", NULL), 2.4, 1e-13);
    CHECK_NEAR(run_to(c, 600, "sum", NULL), 2.5, 0);
    CHECK_NEAR(run_to(c, 0, "lag", NULL), 1, 0);
    CHECK_NEAR(run_to(c, 500, "rate", NULL), 3, 1e-12);
    CHECK_NEAR(run_to(c, 500, "slew", NULL), 2 * t, 1e-12);
    CHECK_NEAR(run_to(c, 3, "late", NULL), -1, 0);
    CHECK_NEAR(run_to(c, 500, "late", NULL), t - 0.004, 1e-15);
    CHECK_NEAR(run_to(c, 507, "later", NULL), 0.48, 1e-15);
    CHECK_NEAR(run_to(c, 500, "table", NULL), 2 * t, 1e-15);
    CHECK_NEAR(run_to(c, 549, "held", NULL), 0.5, 1e-15);
    assert_string_equal(itm_control_get_output_info(c->control, 5).unit, "m");
    done(&r);
}

static void pid_of_the_file_is_that_of_the_api(void** state)
{
    (void)state;
    Read r =
        accept(CONTROL "      u: {type: pid, input: ref - 0.5 * y, proportional: 6, integral: k, derivative: 0.5,\n"
                       "          filter: 10 ms, limits: [-3, 3], feed_forward: 0.1 * time}\n"
                       "      y: {type: lag, input: u, time_constant: 0.3 s}\n");
    ItmControlBuilder* b;
    ItmError error;
    ItmFileControl other = {.step = 1e-3};
    CHECK_OK(itm_control_builder_create(&b, &error), &error);
    ItmSignalDef ref = itm_default_signal_def();
    ref.name = "ref";
    ref.kind = ITM_SIGNAL_RAMP;
    ref.t_end = 2.0;
    ref.to = 4.0;
    ref.is_smooth = false;
    CHECK_OK(itm_control_builder_add_signal(b, &ref, &error), &error);
    ItmControlBlockDef pid = itm_default_control_block_def(ITM_CONTROL_PID);
    pid.name = "u";
    pid.input = "ref - 0.5 * y";
    pid.proportional = 6.0;
    pid.integral = 2.0;
    pid.derivative = 0.5;
    pid.time_constant = 10e-3;
    pid.lower = -3.0;
    pid.upper = 3.0;
    pid.feed_forward = "0.1 * time";
    CHECK_OK(itm_control_builder_add_block(b, &pid, NULL, &error), &error);
    ItmControlBlockDef lag = itm_default_control_block_def(ITM_CONTROL_LAG);
    lag.name = "y";
    lag.input = "u";
    lag.time_constant = 0.3;
    CHECK_OK(itm_control_builder_add_block(b, &lag, NULL, &error), &error);
    CHECK_OK(itm_control_build(&other.control, b, &error), &error);
    CHECK_NEAR(run_to(&r.file.controls[0], 3000, "y", NULL), run_to(&other, 3000, "y", NULL), 0);
    itm_control_destroy(other.control);
    itm_control_builder_destroy(b);
    done(&r);
}

static void outputs_of_other_subsystems_are_connections(void** state)
{
    (void)state;
    Read r = accept("multibody:\n"
                    "  name: arm\n"
                    "  bodies: {rod: {mass: 1, inertia: [1, 1, 1]}}\n"
                    "subsystems:\n"
                    "  ctl:\n"
                    "    type: control\n"
                    "    step: 1 ms\n"
                    "    blocks:\n"
                    "      e: 1 - arm.rod.position.z * 2\n"
                    "      f: ctl.e + other.g + arm.rod.position.z\n"
                    "  other: {type: control, step: 2 ms, blocks: {g: 3}}\n");
    assert_int_equal(r.file.ncontrol, 2);
    assert_int_equal(r.file.nconnection, 2);
    assert_string_equal(r.file.connections[0].from, "arm.rod.position.z");
    assert_string_equal(r.file.connections[0].to, "ctl.arm.rod.position.z");
    assert_int_equal(r.file.connections[0].place.line, 9);
    assert_int_equal(r.file.connections[0].place.column, 14);
    assert_string_equal(r.file.connections[1].from, "other.g");
    assert_int_equal(r.file.connections[1].place.line, 10);
    assert_int_equal(itm_control_get_input_count(r.file.controls[0].control), 2);
    assert_int_equal(itm_control_find_input(r.file.controls[0].control, "other.g"), 1);
    done(&r);
}

// The velocity controller of the crane as docs/theory-control.md writes it                      [contact-rim, eqs. 53, 54]
static void laws_of_the_paper_are_three_lines_each(void** state)
{
    (void)state;
    Read r = accept(
        "signals:\n"
        "  ramp: {ramp: {start: 5 s, end: 6 s, to: 1, smooth: false}}\n"
        "  open: {ramp: {start: 1 s, end: 2 s, to: 1, smooth: false}}\n"
        "parameters: {dkappa2: -0.15}\n"
        "subsystems:\n"
        "  crane: {type: control, step: 1 ms, blocks: {cyl1: 0}}\n"
        "  control:\n"
        "    type: control\n"
        "    step: 1 ms\n"
        "    blocks:\n"
        "      kappa2: 0.4871 + dkappa2 * open\n"
        "      w1: -50 mm/s * if(time > 9 s, 0, ramp)\n"
        "      kappa_dot1: {type: pid, input: w1 - crane.cyl1.rate, proportional: -6/(1 m), derivative: -1 s/m,\n"
        "                   limits: [-3, 3]}\n"
        "      kappa1: {type: integrator, input: kappa_dot1, start: 0.45, limits: [0, 1]}\n");
    const ItmFileControl* c = &r.file.controls[1];
    double rate = -0.01;
    CHECK_NEAR(run_to(c, 1500, "kappa2", &rate), 0.4871 - 0.15 * 0.5, 1e-15);  // eq. 52
    CHECK_NEAR(run_to(c, 5500, "w1", &rate), -0.05 * 0.5, 1e-15);              // eq. 54
    CHECK_NEAR(run_to(c, 9000, "w1", &rate), -0.05, 0);
    CHECK_NEAR(run_to(c, 9001, "w1", &rate), 0, 0);
    // eq. 53 while w* rises with 0.05 m/s^2: 6 (0.025 - 0.01) + 0.05; differences of 0.05, rounded, over 1 ms
    CHECK_NEAR(run_to(c, 5500, "kappa_dot1", &rate), 6 * (0.025 - 0.01) + 0.05, 2e-13);
    CHECK_NEAR(run_to(c, 9001, "kappa_dot1", &rate), -3, 0);  // the jump down asks for 50
    done(&r);
}

static void the_example_does_what_it_says(void** state)
{
    (void)state;
    ItmModelFile* file = NULL;
    ItmError error = {0};
    CHECK_OK(itm_file_load(&file, ITM_SOURCE_DIR "/examples/control.yaml", NULL, 0, &error), &error);
    assert_null(file->model);
    const ItmFileControl* c = &file->controls[0];
    CHECK_NEAR(run_to(c, 450, "valve", NULL), 0, 0);  // stick in its dead band
    CHECK_NEAR(run_to(c, 2000, "wanted", NULL), 0.8 * (0.6 - 0.05) / 0.95, 1e-15);
    CHECK_NEAR(run_to(c, 2000, "measured", NULL), run_to(c, 2000, "wanted", NULL), 0.01 * 0.8);
    CHECK_NEAR(run_to(c, 2300, "command", NULL), 1, 0);  // saturated
    CHECK_NEAR(run_to(c, 3000, "overspeed", NULL), 1, 0);
    CHECK_NEAR(run_to(c, 6000, "overspeed", NULL), 0, 0);
    CHECK_NEAR(run_to(c, 6000, "speed", NULL), 0, 0.01 * 0.8);
    itm_file_destroy(file);
}

// A sled under sampled control, stepped by the co-simulation: the recurrence of semi-implicit Euler with the force of the
// sample at the beginning of the step.
static void a_mechanism_under_control_follows_the_recurrence(void** state)
{
    (void)state;
    ItmModelFile* file = NULL;
    ItmCosim* x = NULL;
    ItmError error = {0};
    const char* overrides[] = {"subsystems.control.blocks.force.limits=[-20, 20]"};  // so that it saturates
    CHECK_OK(itm_file_load(&file, ITM_SOURCE_DIR "/examples/position-control.yaml", overrides, 1, &error), &error);
    CHECK_OK(itm_file_create_cosim(&x, file, NULL, &error), &error);
    double* values = calloc((size_t)itm_cosim_get_output_count(x), sizeof *values);
    int force = itm_cosim_find_output(x, "control.force"), place = itm_cosim_find_output(x, "rig.rail.displacement");
    assert_true(force != ITM_NONE && place != ITM_NONE);
    double s = 0.0, v = 0.0, integral = 0.0, h = 1e-3;
    int nlimited = 0;
    for (int k = 0; k < 1500; k++) {
        CHECK_OK(itm_cosim_compute_outputs(x, values), itm_cosim_get_error(x));
        // the quintic ramp from 0.1 s to 0.6 s
        double tau = fmin(fmax((k * h - 0.1) / 0.5, 0.0), 1.0);
        double wanted = 0.2 * tau * tau * tau * (10 + tau * (-15 + 6 * tau));
        double wanted_rate = 0.2 / 0.5 * 30 * tau * tau * (1 - tau) * (1 - tau);
        double free = 800 * (wanted - s) + integral + 60 * (wanted_rate - v) + 300 * wanted;
        double F = fmin(fmax(free, -20.0), 20.0);
        nlimited += F != free;
        // rounding of 1500 steps of a stable loop
        CHECK_NEAR(values[place], s, 1e-12);
        CHECK_NEAR(values[force], F, 1e-9);
        if (!((free - F) * (wanted - s) > 0)) {
            integral += h * 4000 * (wanted - s);
        }
        v += h / 2.0 * (F - 300 * s);
        s += h * v;
        CHECK_OK(itm_cosim_step(x), itm_cosim_get_error(x));
    }
    assert_true(nlimited > 20);
    free(values);
    itm_cosim_destroy(x);
    itm_file_destroy(file);
}

// ---------------------------------------------------------------------------- mistakes

// A mistake in the first block, line 8, at the place that @ marks.
static void refuse_blocks(const char* lines, const char* words)
{
    char text[4096];
    const char* mark = strchr(lines, '@');
    assert_non_null(mark);
    snprintf(text, sizeof text, CONTROL "%.*s%s", (int)(mark - lines), lines, mark + 1);
    refuse(text, 8, (int)(mark - lines) + 1, words);
}

static void mistakes_are_placed(void** state)
{
    (void)state;
    refuse_blocks("      y: 1 +@ \n", "too early");
    refuse_blocks("      y: 2 * @sqr(3)\n", "nearest: sqrt");
    refuse_blocks("      y: 2 * (@reff + 1)\n", "nearest: 'ref'");
    refuse_blocks("      y: 3 @furlong\n", "there is no unit 'furlong'");
    refuse_blocks("      y: 3 @k\n", "'k' is a parameter, not a unit");
    refuse_blocks("      y: 1 + @arm.x\n", "there is no subsystem 'arm'");
    refuse_blocks("      @y-1: 1\n", "letters, digits and underscores");
    refuse_blocks("      @time: 1\n", "has a meaning");
    refuse_blocks("      y: @[1, 2]\n", "expected an expression");
    refuse_blocks("      @y: {input: 1}\n", "needs 'type'");
    refuse_blocks("      y: {type: @pidd, input: 1}\n", "nearest: 'pid'");
    refuse_blocks("      @y: {type: pid}\n", "needs 'input'");
    refuse_blocks("      y: {type: lag, input: 1, time_constant: 1 s, @rising: 2}\n",
                  "not a key of this type of block");
    refuse_blocks("      @y: {type: lag, input: 1}\n", "needs 'time_constant'");
    refuse_blocks("      y: {type: lag, input: 1, time_constant: @0 s}\n", "must be finite and positive");
    refuse_blocks("      y: {type: lag, input: 1, time_constant: @1 m}\n", "wrong unit");
    refuse_blocks("      y: {type: lag, input: '1 +@', time_constant: 1}\n", "too early");
    refuse_blocks("      y: {type: pid, input: 1, limits: @[2, 1]}\n", "below the upper");
    refuse_blocks("      y: {type: pid, input: 1, limits: @3}\n", "[lower, upper]");
    refuse_blocks("      y: {type: pid, input: 1, anti_windup: @clmp}\n", "nearest: 'clamp'");
    refuse_blocks("      y: {type: pid, input: 1, anti_windup: @tracking}\n", "needs 'tracking_time'");
    refuse_blocks("      y: {type: pid, input: 1, anti_windup: none, tracking_time: @1}\n", "'anti_windup: tracking'");
    refuse_blocks("      y: {type: pid, input: 1, filter: @1, error_rate: 2}\n", "lag block");
    refuse_blocks("      y: {type: pid, input: 1, feed_forward: 2 * @)}\n", "expected a number");
    refuse_blocks("      y: {type: pid, input: 1, feed_forward: 2 * @zz}\n", "there is no block");
    refuse_blocks("      y: {type: integrator, input: 1, start: @input}\n", "parameter 'input'");
    refuse_blocks("      y: {type: expression, input: 1, sample: @1.5 ms}\n",
                  "not a multiple of the control's step, 0.001 s");
    refuse_blocks("      y: {type: delay, input: 1, time: @1.5 ms}\n", "not a multiple of the control's step");
    refuse_blocks("      y: {type: delay, input: 1, time: @15 ms, sample: 10 ms}\n", "the block's sample time, 0.01 s");
    refuse_blocks("      @y: {type: delay, input: 1}\n", "one of 'time' and 'samples'");
    refuse_blocks("      y: {type: delay, input: 1, time: @2000 s}\n", "1 to 1000000 samples");
    refuse_blocks("      @y: {type: rate-limit, input: 1}\n", "needs 'rate'");
    refuse_blocks("      y: {type: rate-limit, input: 1, rate: @1, rising: 1}\n", "not both");
    refuse_blocks("      y: {type: rate-limit, input: 1, rate: @0}\n", "must be positive");
    refuse_blocks("      y: {type: lookup, input: 1, points: [0, 1], values: @[1]}\n", "2 points but 1 values");
    refuse_blocks("      y: {type: lookup, input: 1, points: @[1, 0], values: [1, 2]}\n", "increase");
    refuse_blocks("      y: @x + 1\n      x: z - 1\n      z: 2 * y\n", "algebraic loop: y -> x -> z -> y");
    refuse_blocks("      y: {type: expression, input: min(1, @2)}\n",
                  "'2)' has no value; inside { } an expression with a comma");
    refuse_blocks("      y: rate(@k)\n", "there is no signal 'k'");
}

static void mistakes_of_driven_actuators_are_placed(void** state)
{
    (void)state;
#define SLED                                                                                                           \
    "  bodies: {sled: {mass: 2, inertia: [1, 1, 1]}}\n"                                                                \
    "  forces: {ram: {type: actuator, bodies: [ground, sled], point_b: [1, 0, 0], force: "
    refuse("multibody:\n" SLED "c.f}}\nsubsystems: {c: {type: control, step: 1, blocks: {f: 1}}}\n", 3, 85,
           "needs a 'name'");
    refuse("multibody:\n  name: rig\n" SLED "d.f}}\nsubsystems: {c: {type: control, step: 1, blocks: {f: 1}}}\n", 4, 85,
           "there is no subsystem 'd'");
    const char* text =
        "multibody:\n  name: rig\n" SLED "c.g}}\nsubsystems: {c: {type: control, step: 1, blocks: {gg: 1}}}\n";
    ItmModelFile* file = NULL;
    ItmError error = {0};
    assert_int_equal(itm_file_parse(&file, text, strlen(text), "model.yaml", NULL, 0, &error), ITM_ERR_INPUT);
    assert_non_null(strstr(error.message, "subsystem 'c' has no output 'g'; nearest: 'gg'"));
    assert_int_equal(error.line, 4);
#undef SLED
}

// As above, elsewhere.
static void mistakes_of_the_control_are_placed(void** state)
{
    (void)state;
    refuse("subsystems: {c: {type: control, step: 1 ms}}\n", 1, 14, "needs 'blocks'");
    refuse("subsystems: {c: {type: control, blocks: {y: 1}}}\n", 1, 14, "needs 'step'");
    refuse("subsystems: {c: {type: control, step: 0, blocks: {y: 1}}}\n", 1, 39, "must be positive");
    refuse("subsystems: {c: {type: control, step: 1, blocks: {}}}\n", 1, 14, "at least one block");
    refuse("subsystems: {c: {type: control, step: 1, blocks: 3}}\n", 1, 50, "expected a mapping");
    refuse("subsystems: {c: {type: controll, step: 1, blocks: 3}}\n", 1, 24, "nearest: 'control'");
    refuse("parameters: {k: 1}\nsubsystems: {c: {type: control, step: 1, blocks: {k: 3, y: 2*k}}}\n", 2, 62,
           "more than one");
    refuse("subsystems: {c: {type: control, step: 3 ms, blocks: {y: 1}}}\nrun: {step: 4 ms}\n", 2, 13,
           "multiple of that of the control 'c'");
}

static void overrides_change_blocks_but_add_none(void** state)
{
    (void)state;
    const char* text = "subsystems: {c: {type: control, step: 1 ms, blocks: {y: 1 + 1, z: {type: lag, input: y, "
                       "time_constant: 1 s}}}}\n";
    Read r = accept_with(text, "subsystems.c.blocks.y=5");
    CHECK_NEAR(run_to(&r.file.controls[0], 0, "y", NULL), 5, 0);
    done(&r);
    r = accept_with(text, "subsystems.c.blocks.z.start=7");
    CHECK_NEAR(run_to(&r.file.controls[0], 0, "z", NULL), 7, 0);
    done(&r);
    Read bad = read_length(text, strlen(text), "subsystems.c.blocks.w=5");
    expect_error(&bad, text, "--set subsystems.c.blocks.w=5", 1, 21, "no 'w' here");
    bad = read_length(text, strlen(text), "subsystems.d.step=5");
    expect_error(&bad, text, "--set subsystems.d.step=5", 1, 12, "no 'd' here");
}

// ---------------------------------------------------------------------------- recorded signals

static void write_file(const char* name, const char* text, size_t length)
{
    FILE* out = fopen(name, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(text, 1, length, out), length);
    assert_int_equal(fclose(out), 0);
}

#define PLAY(keys)                                                                                                     \
    "signals: {s: {csv: {file: recorded.csv, " keys "}}}\n"                                                            \
    "subsystems: {c: {type: control, step: 1 s, blocks: {y: s, dy: rate(s)}}}\n"

static void recordings_are_played_back(void** state)
{
    (void)state;
    const char* text = "\xef\xbb\xbfTime,\"a, b\",nothing\r\n0,1,nan\r\n2, 5 ,inf\r\n4,3,0\r\n\r\n";
    write_file("recorded.csv", text, strlen(text));
    Read r = accept(PLAY("time: Time, column: 'a, b', scale: 2 mm"));
    CHECK_NEAR(run_to(&r.file.controls[0], 1, "y", NULL), 3 * 2e-3, 1e-18);
    CHECK_NEAR(run_to(&r.file.controls[0], 1, "dy", NULL), 2 * 2e-3, 1e-18);
    CHECK_NEAR(run_to(&r.file.controls[0], 9, "y", NULL), 3 * 2e-3, 1e-18);
    done(&r);
    r = accept(PLAY("time: Time, column: 'a, b', interpolation: hold"));
    CHECK_NEAR(run_to(&r.file.controls[0], 1, "y", NULL), 1, 0);
    CHECK_NEAR(run_to(&r.file.controls[0], 3, "y", NULL), 5, 0);
    done(&r);
    // a mechanism may use it as well, and its unit is checked
    r = accept("signals: {push: {csv: {file: recorded.csv, time: Time, column: 'a, b', scale: 1 kN}}}\n"
               "multibody:\n"
               "  bodies: {rod: {mass: 1, inertia: [1, 1, 1]}}\n"
               "  forces: {f: {type: force, body: rod, vector: [1, 0, 0], signal: push}}\n");
    done(&r);
    refuse("signals: {push: {csv: {file: recorded.csv, time: Time, column: 'a, b', scale: 1 m}}}\n"
           "multibody:\n"
           "  bodies: {rod: {mass: 1, inertia: [1, 1, 1]}}\n"
           "  forces: {f: {type: force, body: rod, vector: [1, 0, 0], signal: push}}\n",
           4, 67, "");
    refuse(PLAY("time: Time, column: nothing"), 1, 27, "row 1: time and value must be finite");
    refuse(PLAY("time: Tim, column: nothing"), 1, 47, "nearest: 'Time'");
    refuse(PLAY("column: nothing"), 1, 27, "nearest: 'Time'");
    refuse(PLAY("time: Time"), 1, 20, "needs 'column'");
    refuse(PLAY("time: Time, column: 'a, b', interpolation: none"), 1, 84, "not an interpolation");
}

static void refuse_recording(const char* text, size_t length, const char* words)
{
    write_file("recorded.csv", text, length);
    refuse(PLAY("column: x"), 1, 27, words);
}

static void bad_recordings_are_refused(void** state)
{
    (void)state;
#define REFUSE(text, words) refuse_recording(text, sizeof text - 1, words)
    REFUSE("", "line 1");
    REFUSE("time,x\n", "has 0 rows");
    REFUSE("time,x\n0,1\n", "has 1 rows");
    REFUSE("time,x\n0,1\n1\n", "line 3");
    REFUSE("time,x\n0,1\n1,2,3\n", "line 3, field 2");
    REFUSE("time,x\n0,1\n1,two\n", "line 3, field 2: expected a number");
    REFUSE("time,x\n0,1\n\n1,2\n", "line 3, field 1: expected a number");
    REFUSE("time,x\n0,1\n2,2\n1,2\n", "row 3: times must increase, but 1 s follows 2 s");
    REFUSE("time,x\n0,1\n0,2\n", "row 2: times must increase");
    REFUSE("time,x\n0,1\nnan,2\n", "row 2: time and value must be finite");
    REFUSE("time,x\n0,1\n1,inf\n", "row 2: time and value must be finite");
    REFUSE("time,x\n0,1\n1,1e999\n", "row 2: time and value must be finite");
    REFUSE("time,x\n0,1\n1,2\0\n2,3\n", "zero byte");
    REFUSE("time,x\n0,1\n1,2\n\0rest", "zero byte");
    REFUSE("time;x\n0;1\n", "line 2, field 1: expected a comma");
    REFUSE("t,x\n0,1\n1,2\n", "no column 'time'");
    REFUSE("time,\n0,1\n", "expected a name");
#undef REFUSE
    remove("recorded.csv");
    refuse(PLAY("column: x"), 1, 27, "cannot read it");
    refuse("signals: {s: {csv: {file: /dev/zero, column: x}}}\nsubsystems: {c: {type: control, step: 1, blocks: {y: "
           "s}}}\n",
           1, 27, "it is not a file");
    // a header of more columns than anybody means
    size_t length = 300000;
    char* wide = malloc(length + 1);
    for (size_t i = 0; i < length; i++) {
        wide[i] = i % 2 == 0 ? 'a' : ',';
    }
    refuse_recording(wide, length, "too many columns");
    free(wide);
    remove("recorded.csv");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_block_is_read),
        cmocka_unit_test(pid_of_the_file_is_that_of_the_api),
        cmocka_unit_test(outputs_of_other_subsystems_are_connections),
        cmocka_unit_test(laws_of_the_paper_are_three_lines_each),
        cmocka_unit_test(the_example_does_what_it_says),
        cmocka_unit_test(a_mechanism_under_control_follows_the_recurrence),
        cmocka_unit_test(mistakes_are_placed),
        cmocka_unit_test(mistakes_of_driven_actuators_are_placed),
        cmocka_unit_test(mistakes_of_the_control_are_placed),
        cmocka_unit_test(overrides_change_blocks_but_add_none),
        cmocka_unit_test(recordings_are_played_back),
        cmocka_unit_test(bad_recordings_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
