// Joints with clearance: the numbers of the paper's examples, closed forms, energies, thresholds of friction, refusals.
#include "read_text.h"
#include "system.h"

#include "interim/interim.h"

#define G 9.81

typedef struct {
    ItmModel* m;
    ItmData* d;
    double* values;
    double duration;
} Run;

static Run begin(ItmModel* m, const ItmStepOptions* options, double duration)
{
    ItmError error = {0};
    Run r = {.m = m, .duration = duration};
    CHECK_OK(itm_data_create(&r.d, m, options, &error), &error);
    itm_data_set_stop_time(r.d, duration);
    r.values = calloc((size_t)itm_model_get_output_count(m), sizeof *r.values);
    return r;
}

// An example with up to four overrides; NULL ends them.
static Run load(const char* name, const char* const* overrides)
{
    ItmModelFile* file = NULL;
    ItmError error = {0};
    char path[1024];
    int n = 0;
    while (overrides != NULL && overrides[n] != NULL) {
        n++;
    }
    snprintf(path, sizeof path, "%s/examples/clearance-%s.yaml", ITM_SOURCE_DIR, name);
    CHECK_OK(itm_file_load(&file, path, overrides, n, &error), &error);
    Run r = begin(file->model, &file->run.step, file->run.duration);
    file->model = file->mechanisms[0].model = NULL;
    itm_file_destroy(file);
    return r;
}

#define LOAD(name, ...) load(name, (const char* const[]){__VA_ARGS__, NULL})

static Run from_text(const char* text)
{
    Read read = accept(text);
    ItmModel* m = NULL;
    CHECK_OK(itm_model_build(&m, read.builder, &read.error), &read.error);
    Run r = begin(m, &read.file.run.step, read.file.run.duration);
    done(&read);
    return r;
}

static void end(Run* r)
{
    free(r->values);
    itm_data_destroy(r->d);
    itm_model_destroy(r->m);
}

static void step(Run* r)
{
    CHECK_OK(itm_step(r->m, r->d), itm_data_get_error(r->d));
}

static double now(const Run* r)
{
    return itm_data_get_time(r->d);
}

static void go_to(Run* r, double t)
{
    while (now(r) < t * (1.0 - 1e-12)) {
        step(r);
    }
}

static double get(Run* r, const char* name)
{
    int i = itm_model_find_output(r->m, name);
    if (i == ITM_NONE) {
        fail_msg("there is no output '%s'", name);
    }
    assert_int_equal(itm_model_compute_outputs(r->m, r->d, r->values), ITM_OK);
    return r->values[i];
}

// ---------------------------------------------------------------------------- the paper's examples

// z = (a / 2) (t^2 + sum h^2) exactly, and the forces of the slider that is steady
static void check_slider(const char* name, double acceleration)
{
    Run r = load(name, NULL);
    double sum = 0.0;
    while (now(&r) < 1.0) {
        step(&r);
        double h = itm_data_get_step_size(r.d), t = now(&r);
        sum += h * h;
        // rounding of 100 steps of some metres: observed 1e-14
        CHECK_NEAR(get(&r, "slider.position.z"), 0.5 * acceleration * (t * t + sum), 1e-9);
        assert_true(h >= 0.001 * (1 - 1e-12) && h <= 0.01 * (1 + 1e-12));
    }
    assert_true(now(&r) == 1.0);
    CHECK_NEAR(get(&r, "joint.force.y"), 3.2 * G, 1e-9);
    CHECK_NEAR(get(&r, "joint.force.x"), 0.0, 1e-9);
    CHECK_NEAR(get(&r, "joint.force.z"), 0.0, 1e-9);
    end(&r);
}

static void cylindrical_slider_is_carried_as_in_the_paper(void** state)
{
    (void)state;
    check_slider("cylindrical", 50 / 3.2);
    // torques about x: 10 (f1 + f2) = 1500, f2 - f1 = m g; in every stepper
    const char* steppers[] = {"run.stepper=variable", "run.stepper=euler", "run.stepper=adaptive"};
    for (int i = 0; i < 3; i++) {
        Run r = LOAD("cylindrical", steppers[i], "run.tolerance=1e-5");
        go_to(&r, 0.9);
        CHECK_NEAR(get(&r, "joint.normal_force.1"), 75 - 3.2 * G / 2, 1e-8);
        CHECK_NEAR(get(&r, "joint.normal_force.2"), 75 + 3.2 * G / 2, 1e-8);
        assert_true(get(&r, "joint.contacts") == 2);
        end(&r);
    }
}

static void prismatic_slider_is_carried_as_in_the_paper(void** state)
{
    (void)state;
    check_slider("prismatic", 40 / 3.2);
    const char* steppers[] = {"run.stepper=variable", "run.stepper=euler"};
    for (int i = 0; i < 2; i++) {
        Run r = LOAD("prismatic", steppers[i]);
        go_to(&r, 0.9);
        // single forces are not unique; those of the floor (edge between the lower corners) and of the slopes are.
        // 10 (floor + 2 slopes cos 60) = 1200, floor - 2 slopes cos 60 = m g at the two faces
        double force[13], up = 0.0;
        for (int k = 1; k <= 12; k++) {
            char key[64];
            snprintf(key, sizeof key, "joint.normal_force.%d", k);
            force[k] = get(&r, key);
        }
        up = force[4] + force[5] + force[10] + force[11];
        double slopes = force[1] + force[2] + force[3] + force[6] + force[7] + force[8] + force[9] + force[12];
        CHECK_NEAR(up, 2 * 37.907396543, 1e-6);
        CHECK_NEAR(slopes, 2 * 44.422793087, 1e-6);
        end(&r);
    }
}

// The first contact comes when (a/2) (t^2 + sum h^2) = c, because velocities are those of the ends of the steps; the pendulum
// falls without turning, so that this is exact.
static void pendulum_falls_through_its_play_and_lands_exactly(void** state)
{
    (void)state;
    Run r = load("pendulum", NULL);
    double sum = 0.0, t = 0.0;
    while (get(&r, "joint.eccentricity") < 1.0 - 1e-9) {
        step(&r);
        t = now(&r);
        sum += itm_data_get_step_size(r.d) * itm_data_get_step_size(r.d);
        assert_true(t < 0.2);
    }
    CHECK_NEAR(0.5 * G * (t * t + sum), 0.1, 1e-12);
    // t^2 + t h = 2 c / g: early by half a step
    CHECK_NEAR(t, sqrt(2 * 0.1 / G) - 0.5e-3, 0.1e-3);
    assert_true(get(&r, "joint.contacts") == 0);
    step(&r);
    assert_true(get(&r, "joint.contacts") == 2);
    end(&r);
}

static void slider_tilts_until_first_contact(void** state)
{
    (void)state;
    const struct {
        const char* name;
        double force, gap;
    } cases[] = {{"cylindrical", 50, 0.1}, {"prismatic", 40, 0.1009}};
    for (int i = 0; i < 2; i++) {
        // the lower end, 10 off the middle, falls and turns with 30 F / Jx; corners of the prism begin with its floor
        double a = G + 10 * 30 * cases[i].force / 1066.6666666666667;
        Run r = LOAD(cases[i].name, "run.step=0.1 ms", "run.min_step=0.01 ms");
        while (get(&r, "joint.contacts") == 0) {
            step(&r);
        }
        CHECK_NEAR(now(&r), sqrt(2 * cases[i].gap / a), 2e-4);
        end(&r);
    }
}

static void first_impact_of_the_pendulum_takes_its_closed_form(void** state)
{
    (void)state;
    // velocity sqrt(2 g c) of the hub, effective mass 1 / (1/m + L^2/J)
    double loss = G * 0.1 / (1 / 2.0 + 30.9 * 30.9 / 636.54);
    double errors[2];
    for (int i = 0; i < 2; i++) {
        Run r = LOAD("pendulum", "run.stepper=euler", i == 0 ? "run.step=1 ms" : "run.step=0.1 ms");
        go_to(&r, 0.3);
        errors[i] = fabs(get(&r, "joint.impact_loss") - loss);
        assert_true(itm_clearance_get_info(r.m, r.d, 0).impacts == 2);
        end(&r);
    }
    // first order: observed 2e-3 and 2e-4
    assert_true(errors[0] < 5e-3 && errors[1] < 5e-4);
}

// The ideal joint as the paper steps it, against the equation of the pendulum.
static void ideal_pendulum_has_the_error_of_the_paper(void** state)
{
    (void)state;
    const struct {
        const char *step, *min_step;
        double expected;
    } cases[] = {{"run.step=1 ms", "run.min_step=1 ms", 0.0107}, {"run.step=0.2 ms", "run.min_step=0.2 ms", 0.0021}};
    for (int i = 0; i < 2; i++) {
        Run exact = LOAD("pendulum", "multibody.joints.joint.clearance=0", "run.stepper=reference", "run.step=10 ms");
        Run r = LOAD("pendulum", "multibody.joints.joint.clearance=0", cases[i].step, cases[i].min_step);
        double worst = 0.0;
        for (int k = 1; k <= 1000; k++) {
            itm_data_set_stop_time(r.d, 0.01 * k);
            go_to(&r, 0.01 * k);
            step(&exact);
            worst = fmax(worst, hypot(get(&r, "pendulum.position.x") - get(&exact, "pendulum.position.x"),
                                      get(&r, "pendulum.position.y") - get(&exact, "pendulum.position.y")));
        }
        CHECK_NEAR(worst, cases[i].expected, 0.02 * cases[i].expected);
        end(&r);
        end(&exact);
    }
}

static void shrinking_clearance_tends_to_the_ideal_joint(void** state)
{
    (void)state;
    const char* coordinates[] = {"multibody.coordinates=absolute", "multibody.coordinates=joint"};
    for (int c = 0; c < 2; c++) {
        Run ideal = LOAD("pendulum", "run.stepper=euler", "run.step=0.2 ms", "multibody.joints.joint.clearance=0",
                         coordinates[c]);
        go_to(&ideal, 3.0);
        double x = get(&ideal, "pendulum.position.x"), y = get(&ideal, "pendulum.position.y");
        const char* clearances[] = {"multibody.joints.joint.clearance.radial=0.1",
                                    "multibody.joints.joint.clearance.radial=0.01",
                                    "multibody.joints.joint.clearance.radial=0.001"};
        double last = INFINITY;
        for (int i = 0; i < 3; i++) {
            Run r = LOAD("pendulum", "run.stepper=euler", "run.step=0.2 ms", clearances[i], coordinates[c]);
            go_to(&r, 3.0);
            double error = hypot(get(&r, "pendulum.position.x") - x, get(&r, "pendulum.position.y") - y);
            assert_true(error < 0.5 * last);
            last = error;
            end(&r);
        }
        // as far as the lag of the fall and the play itself, c and sqrt(2 c / g) times the speed: observed 0.04
        assert_true(last < 0.1);
        end(&ideal);
    }
}

// ---------------------------------------------------------------------------- single laws

#define BALL                                                                                                           \
    "multibody:\n"                                                                                                     \
    "  bodies: {ball: {mass: 2 kg, inertia: [0.01, 0.01, 0.01], position: [0, 0, 0]}}\n"                               \
    "  joints: {socket: {type: spherical, bodies: [ground, ball], at: [0, 0, 0], clearance: %s}}\n"                    \
    "run: {duration: 1 s, step: 0.1 ms, stepper: %s}\n"

static Run ball(const char* clearance, const char* stepper)
{
    char text[1024];
    snprintf(text, sizeof text, BALL, clearance, stepper);
    return from_text(text);
}

static void spherical_joint_falls_and_rests(void** state)
{
    (void)state;
    const char* steppers[] = {"euler", "variable", "adaptive"};
    for (int i = 0; i < 3; i++) {
        Run r = ball("2 mm", steppers[i]);
        while (get(&r, "socket.contacts") == 0) {
            step(&r);
        }
        CHECK_NEAR(now(&r), sqrt(2 * 0.002 / G), 2e-4);
        go_to(&r, 0.5);
        CHECK_NEAR(get(&r, "socket.force.z"), 2 * G, 1e-8);
        CHECK_NEAR(get(&r, "socket.orbit.z"), -0.002, 1e-8);
        CHECK_NEAR(get(&r, "socket.eccentricity"), 1.0, 1e-5);
        // all of the fall is lost, but for the rest of a step
        CHECK_NEAR(get(&r, "socket.impact_loss"), 2 * G * 0.002, 2e-3 * 2 * G * 0.002 + 1e-4);
        CHECK_NEAR(get(&r, "socket.free_time"), sqrt(2 * 0.002 / G), 2e-4);
        assert_true(get(&r, "socket.impacts") == 1);
        end(&r);
    }
}

static void hub_rebounds_with_its_restitution(void** state)
{
    (void)state;
    Run r = ball("{radial: 2 mm, restitution: 0.8}", "euler");
    double fall = sqrt(2 * 0.002 / G), height = 0.0;
    go_to(&r, fall + 2e-3);
    while (get(&r, "ball.velocity.z") > 0.0) {
        step(&r);
        height = fmax(height, get(&r, "socket.orbit.z") + 0.002);
    }
    // e^2 of the fall; first order in the step: h v / (e^2 c) = 1.5 %
    CHECK_NEAR(height, 0.64 * 0.002, 0.02 * 0.64 * 0.002);
    end(&r);
}

// A rotor that runs down in its bearing: the friction circle R sin(phi), tan(phi) = mu.
static void journal_friction_is_the_friction_circle(void** state)
{
    (void)state;
    Run r = from_text(
        "multibody:\n"
        "  gravity: [0, -9.81, 0]\n"
        "  bodies: {rotor: {mass: 3 kg, inertia: [0.02, 0.02, 0.03], position: [0, -0.1 mm, 0], "
        "angular_velocity: [0, 0, 20]}}\n"
        "  joints: {bearing: {type: revolute, bodies: [ground, rotor], frame_a: {}, frame_b: {},\n"
        "           clearance: {radial: 0.1 mm, axial: 0.1 mm, length: 50 mm, radius: 15 mm, friction: 0.2}}}\n"
        "run: {duration: 1 s, step: 0.1 ms}\n");
    go_to(&r, 0.2);
    double before = get(&r, "rotor.angular_velocity.z");
    go_to(&r, 0.6);
    double torque = 0.03 * (before - get(&r, "rotor.angular_velocity.z")) / 0.4;
    // the contact climbs by phi; the lever arm is the radius of the pin and what is left of the play, 1 %
    CHECK_NEAR(torque, 3 * G * 0.015 * sin(atan(0.2)), 0.01 * torque);
    CHECK_NEAR(get(&r, "bearing.torque.z"), -torque, 0.01 * torque);
    double lost = get(&r, "bearing.friction_loss");
    CHECK_NEAR(get(&r, "energy.friction"), lost, 1e-12);
    CHECK_NEAR(get(&r, "energy.balance"), 0.0, 1e-3);
    end(&r);
}

// The same joint seen from its other side: pin and hub change bodies, forces their sign.
static void a_joint_may_have_the_ground_on_either_side(void** state)
{
    (void)state;
    const char* orders[] = {"[ground, ball]", "[ball, ground]"};
    for (int i = 0; i < 2; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "multibody:\n"
                 "  bodies: {ball: {mass: 2 kg, inertia: [0.01, 0.01, 0.01], position: [0, 0, 0]}}\n"
                 "  joints: {pin: {type: revolute, bodies: %s, at: [0, 0, 0], axis: [0, 1, 0],\n"
                 "           clearance: {radial: 1 mm, length: 0.1 m}}}\n"
                 "run: {duration: 1 s, step: 0.2 ms}\n",
                 orders[i]);
        Run r = from_text(text);
        go_to(&r, 0.3);
        double sign = i == 0 ? 1.0 : -1.0;
        CHECK_NEAR(get(&r, "pin.force.z"), sign * 2 * G, 1e-8);
        CHECK_NEAR(get(&r, "ball.position.z"), -0.001, 1e-8);
        end(&r);
    }
}

// A ball flies to and fro in its socket, 0.3 m/s in a clearance of 1 mm, and bounces perfectly: a triangular wave, at steps that are a third
// and a thirtieth of a way.
static void perfect_bounces_in_a_socket_happen_at_its_wall(void** state)
{
    (void)state;
    const double c = 1e-3, v = 0.3, steps[] = {1e-3, 1e-4};
    for (int i = 0; i < 2; i++) {
        char text[1024];
        snprintf(
            text, sizeof text,
            "multibody:\n"
            "  gravity: [0, 0, 0]\n"
            "  bodies: {ball: {mass: 2 kg, inertia: [0.01, 0.01, 0.01], position: [0, 0, 0], velocity: [%g, 0, 0]}}\n"
            "  joints: {pin: {type: spherical, bodies: [ground, ball], at: [0, 0, 0],\n"
            "           clearance: {radial: 1 mm, restitution: 1}}}\n"
            "run: {duration: 1 s, step: %g}\n",
            v, steps[i]);
        Run r = from_text(text);
        while (now(&r) < 0.5) {
            step(&r);
            double phase = fmod(v * now(&r) + c, 4.0 * c);
            CHECK_NEAR(get(&r, "ball.position.x"), phase < 2.0 * c ? phase - c : 3.0 * c - phase, 1e-9);
        }
        CHECK_NEAR(get(&r, "energy.impact"), 0.0, 1e-9);
        end(&r);
    }
}

// ---------------------------------------------------------------------------- machines

static void slider_crank_keeps_its_energy(void** state)
{
    (void)state;
    const char* variants[] = {"multibody.joints.wrist.clearance.restitution=0",
                              "multibody.joints.wrist.clearance.restitution=0.5",
                              "multibody.joints.wrist.clearance.friction=0.1",
                              "multibody.joints.crankpin.clearance={radial: 0.1 mm, axial: 0.1 mm, length: 20 mm}"};
    for (int i = 0; i < 4; i++) {
        Run r = LOAD("slider-crank", variants[i], "run.duration=24 ms");
        double worst = 0.0, largest = 0.0;
        while (now(&r) < 0.024 * (1 - 1e-12)) {
            for (int k = 0; k < 20; k++) {
                step(&r);
            }
            // kinetic energy and booked losses less the work of the motor; nothing else
            double balance = get(&r, "energy.mechanical") + get(&r, "energy.impact") + get(&r, "energy.friction") -
                             get(&r, "energy.motion_work");
            worst = fmax(worst, fabs(balance - 63.351));
            largest = fmax(largest, get(&r, "energy.kinetic"));
            CHECK_NEAR(get(&r, "energy.balance"), 0.0, 1e-6 * largest);
        }
        assert_true(get(&r, "energy.impact") > 0.1);
        end(&r);
    }
}

static void slider_crank_shows_the_published_pattern(void** state)
{
    (void)state;
    double peak[2];
    for (int i = 0; i < 2; i++) {
        Run r = i == 0 ? LOAD("slider-crank", "multibody.joints.wrist.clearance=0", "run.duration=12 ms")
                       : LOAD("slider-crank", "run.duration=12 ms");
        int flying = 0, following = 0;
        peak[i] = 0.0;
        while (now(&r) < 0.012 * (1 - 1e-12)) {
            step(&r);
            peak[i] = fmax(peak[i], fabs(get(&r, "motor.torque")));
            if (i == 1) {
                double contacts = get(&r, "wrist.contacts");
                flying += contacts == 0;
                following += contacts > 0;
            }
        }
        if (i == 1) {
            // the three regimes: free flight, impacts, following the bearing
            assert_true(flying > 50 && following > 50);
            assert_true(itm_clearance_get_info(r.m, r.d, itm_model_find_joint(r.m, "wrist")).impacts > 5);
        }
        end(&r);
    }
    // spikes in the torque of the motor
    assert_true(peak[1] > 5 * peak[0]);
}

static void drawer_jams_above_and_slides_below_the_friction_limit(void** state)
{
    (void)state;
    const struct {
        const char* mu;
        bool slides;
    } cases[] = {{"parameters.mu=0.396", true}, {"parameters.mu=0.404", false}};  // the limit is L / 2 e = 0.4
    for (int i = 0; i < 2; i++) {
        Run r = LOAD("drawer", cases[i].mu);
        go_to(&r, 0.6);
        double before = get(&r, "drawer.velocity.z");
        go_to(&r, 1.0);
        double after = get(&r, "drawer.velocity.z");
        if (cases[i].slides) {
            assert_true(after > before + 0.005);
        } else {
            CHECK_NEAR(after, 0.0, 1e-9);
        }
        end(&r);
    }
    Run r = LOAD("drawer", "parameters.mu=0.2");
    go_to(&r, 0.5);
    double before = get(&r, "drawer.velocity.z");
    go_to(&r, 1.0);
    // F/m (1 - 2 mu e / L); turned by 2 gap / L = 1e-3, the corners press 0.3 % differently
    CHECK_NEAR((get(&r, "drawer.velocity.z") - before) / 0.5, 2.0, 0.01 * 2.0);
    end(&r);
}

static void door_swings_above_and_stays_below_its_limit(void** state)
{
    (void)state;
    const struct {
        const char* lean;
        double sign;
    } cases[] = {{"parameters.lean=0.495 deg", -1}, {"parameters.lean=0.505 deg", 1}};  // the limit is 0.5 deg
    for (int i = 0; i < 2; i++) {
        Run r = LOAD("door", cases[i].lean);
        go_to(&r, 1.0);
        double before = fabs(get(&r, "door.angular_velocity.z"));
        go_to(&r, 3.0);
        // falling into the hinges set it moving a little: it becomes faster or slower
        assert_true((fabs(get(&r, "door.angular_velocity.z")) - before) * cases[i].sign > 0.0);
        end(&r);
    }
    Run r = LOAD("door", "parameters.lean=0.3 deg");
    go_to(&r, 3.0);
    CHECK_NEAR(get(&r, "door.angular_velocity.z"), 0.0, 1e-9);
    // what the hinges carry: W across, W b / H outwards and inwards
    double W = 20 * G * cos(0.3 * acos(-1.0) / 180);
    CHECK_NEAR(get(&r, "upper.force.x"), -W * 0.4 / 1.26, 0.01 * W);
    CHECK_NEAR(get(&r, "lower.force.x"), W * 0.4 / 1.26, 0.01 * W);
    // contacts are solved to rates of 1e-9 m/s, which 20 kg reach within a step of 0.25 ms by 8e-5 N
    CHECK_NEAR(get(&r, "upper.force.z") + get(&r, "lower.force.z"), W, 20 * 1e-9 / 0.25e-3);
    end(&r);
}

// A loose joint between two moving bodies, the first of them on an ideal one: the choice of coordinates must not matter.
static void coordinates_agree(void** state)
{
    (void)state;
    double place[2][3];
    for (int i = 0; i < 2; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "multibody:\n"
                 "  coordinates: %s\n"
                 "  bodies:\n"
                 "    upper: {mass: 1 kg, shape: {box: [0.5 m, 0.05 m, 0.05 m]}, position: [0.25, 0, 0]}\n"
                 "    lower: {mass: 1 kg, shape: {box: [0.5 m, 0.05 m, 0.05 m]}, position: [0.75, 0, 0]}\n"
                 "  joints:\n"
                 "    hinge: {type: revolute, bodies: [ground, upper], at: [0, 0, 0], axis: [0, 1, 0]}\n"
                 "    elbow: {type: revolute, bodies: [upper, lower], at: [0.5, 0, 0], axis: [0, 1, 0],\n"
                 "            clearance: {radial: 1 mm, length: 50 mm}}\n"
                 "run: {duration: 1 s, step: 0.05 ms}\n",
                 i == 0 ? "absolute" : "joint");
        Run r = from_text(text);
        go_to(&r, 0.5);
        place[i][0] = get(&r, "lower.position.x");
        place[i][1] = get(&r, "lower.position.z");
        place[i][2] = get(&r, "hinge.angle");
        end(&r);
    }
    for (int k = 0; k < 3; k++) {
        // both of first order: h times speed and acceleration; observed 1e-4
        CHECK_NEAR(place[0][k], place[1][k], 1e-3);
    }
}

// A crane with play at the tip of its boom, moved by a hydraulic cylinder: rows of joints with clearance are solved in the interface model, and a
// macro step of 2 ms gives the motion that held forces give at 0.1 ms.
static void loose_joints_work_in_interface_models(void** state)
{
    (void)state;
    const char* couplings[2][2] = {{"cosim.coupling=rim", "cosim.macro_step=2 ms"},
                                   {"cosim.coupling=zoh", "cosim.macro_step=0.1 ms"}};
    double place[2][2];
    for (int i = 0; i < 2; i++) {
        ItmModelFile* file = NULL;
        ItmCosim* cosim = NULL;
        ItmError error = {0};
        const char* overrides[] = {couplings[i][0], couplings[i][1], "multibody.bodies.hook.inertia=[1, 1, 1]",
                                   "multibody.joints.tip.clearance={radial: 1 mm, axial: 1 mm, length: 50 mm}"};
        CHECK_OK(itm_file_load(&file, ITM_SOURCE_DIR "/examples/crane-single.yaml", overrides, 4, &error), &error);
        CHECK_OK(itm_file_create_cosim(&cosim, file, NULL, &error), &error);
        while (itm_cosim_get_time(cosim) < 2.0 * (1 - 1e-12)) {
            CHECK_OK(itm_cosim_step(cosim), itm_cosim_get_error(cosim));
        }
        double* values = calloc((size_t)itm_cosim_get_output_count(cosim), sizeof *values);
        CHECK_OK(itm_cosim_compute_outputs(cosim, values), itm_cosim_get_error(cosim));
        place[i][0] = values[itm_cosim_find_output(cosim, "crane.hook.position.x")];
        place[i][1] = values[itm_cosim_find_output(cosim, "crane.hook.position.y")];
        assert_true(values[itm_cosim_find_output(cosim, "crane.tip.contacts")] > 0);
        assert_true(values[itm_cosim_find_output(cosim, "crane.tip.penetration")] < 1e-5);
        free(values);
        itm_cosim_destroy(cosim);
        itm_file_destroy(file);
    }
    CHECK_NEAR(place[0][0], place[1][0], 2e-3);
    CHECK_NEAR(place[0][1], place[1][1], 2e-3);
}

// ---------------------------------------------------------------------------- steps

static void adaptive_steps_follow_their_tolerance(void** state)
{
    (void)state;
    Run exact = LOAD("pendulum", "run.stepper=euler", "run.step=0.01 ms");
    go_to(&exact, 2.0);
    double x = get(&exact, "pendulum.position.x"), y = get(&exact, "pendulum.position.y"), errors[2];
    const char* tolerances[] = {"run.tolerance=1e-4", "run.tolerance=1e-6"};
    long steps[2];
    for (int i = 0; i < 2; i++) {
        Run r = LOAD("pendulum", "run.stepper=adaptive", tolerances[i], "run.step=20 ms", "run.min_step=0.001 ms");
        itm_data_set_stop_time(r.d, 2.0);
        go_to(&r, 2.0);
        assert_true(now(&r) == 2.0);
        errors[i] = hypot(get(&r, "pendulum.position.x") - x, get(&r, "pendulum.position.y") - y);
        steps[i] = itm_data_get_step_info(r.d).steps;
        end(&r);
    }
    // error a step of order h^2: the step goes with the root of the tolerance, and so does the error of the run
    assert_true(errors[1] < 0.25 * errors[0]);
    assert_true(steps[1] > 5 * steps[0] && steps[1] < 20 * steps[0]);
    end(&exact);
}

static void last_steps_are_spread(void** state)
{
    (void)state;
    Run r = LOAD("cylindrical", "run.step=10 ms", "run.min_step=1 ms");
    double shortest = INFINITY;
    itm_data_set_stop_time(r.d, 0.5005);
    while (now(&r) < 0.5005) {
        step(&r);
        shortest = fmin(shortest, itm_data_get_step_size(r.d));
    }
    assert_true(now(&r) == 0.5005);
    assert_true(shortest >= 0.001 * (1 - 1e-12));
    end(&r);
}

static void restored_runs_continue_with_identical_bits(void** state)
{
    (void)state;
    const char* steppers[] = {"run.stepper=euler", "run.stepper=variable", "run.stepper=adaptive"};
    for (int i = 0; i < 3; i++) {
        Run a = LOAD("revolute", steppers[i], "run.tolerance=1e-5");
        Run b = LOAD("revolute", steppers[i], "run.tolerance=1e-5");
        go_to(&a, 0.2);
        size_t size = itm_data_get_state_size(a.m, a.d);
        void* bytes = malloc(size);
        assert_int_equal(itm_data_save(a.m, a.d, bytes, size), ITM_OK);
        assert_int_equal(itm_data_restore(b.m, b.d, bytes, size), ITM_OK);
        for (int k = 0; k < 200; k++) {
            step(&a);
            step(&b);
        }
        int n = itm_model_get_output_count(a.m);
        get(&a, "joint.impacts");
        get(&b, "joint.impacts");
        assert_memory_equal(a.values, b.values, sizeof(double) * (size_t)n);
        free(bytes);
        end(&a);
        end(&b);
    }
}

// ---------------------------------------------------------------------------- refusals

#define JOINT(lines)                                                                                                   \
    "multibody:\n"                                                                                                     \
    "  bodies: {rod: {mass: 1 kg, inertia: [1, 1, 1], position: [0, 0, 0]}}\n"                                         \
    "  joints:\n"                                                                                                      \
    "    pin:\n"                                                                                                       \
    "      bodies: [ground, rod]\n" lines

static void bad_clearances_are_refused_with_their_numbers(void** state)
{
    (void)state;
    const struct {
        const char* text;
        int line, column;
        const char* words;
    } cases[] = {
        {JOINT("      type: spherical\n      clearance: -1 mm\n"), 7, 18,
         "clearance.radial must be finite and not negative, got -0.001"},
        {JOINT("      type: revolute\n      clearance: 1 mm\n"), 7, 18, "needs the length of its hub"},
        {JOINT("      type: revolute\n      clearance: {radial: 1 mm, length: 5 mm, friction: 0.1}\n"), 7, 18,
         "needs the radius of its pin"},
        {JOINT("      type: revolute\n      clearance: {radial: 1 mm, axial: -2 mm, length: 5 mm}\n"), 7, 40,
         "got -0.002"},
        {JOINT("      type: revolute\n      clearance: {gap: 1 mm, length: 5 mm}\n"), 7, 24, "is called 'radial'"},
        {JOINT("      type: prismatic\n      clearance: {radial: 1 mm}\n"), 7, 27, "is called 'gap'"},
        {JOINT("      type: prismatic\n      clearance: {gap: 1 mm, length: 5 mm}\n"), 7, 18, "3 to 64 corners, got 0"},
        {JOINT(
             "      type: prismatic\n      clearance: {gap: 1 mm, length: 5 mm, section: [[0, 0], [1, 1], [2, 2]]}\n"),
         7, 53, "degenerate: its area is 0 m^2"},
        {JOINT("      type: prismatic\n      clearance: {gap: 1 mm, length: 5 mm, section: [[0, 0], [2, 0], [0.5, "
               "0.5], [0, 2]]}\n"),
         7, 53, "not convex at corner 3, (0.5, 0.5) m"},
        {JOINT("      type: prismatic\n      clearance: {gap: 1 mm, length: 5 mm, section: "
               "[[0, 1], [0.6, -0.8], [-1, 0.3], [1, 0.3], [-0.6, -0.8]]}\n"),
         7, 53, "2 times around"},
        {JOINT("      type: prismatic\n      clearance: {gap: 1 mm, length: 5 mm, section: [[0, 0], [1, 0, 2], [0, "
               "1]]}\n"),
         7, 62, "expected a corner [x, y]"},
        {JOINT("      type: universal\n      clearance: 1 mm\n"), 7, 18, "a universal joint cannot have clearance"},
        {JOINT("      type: spherical\n      stiffness: 5 N/m\n      clearance: 1 mm\n"), 8, 18,
         "either clearance or compliance"},
        {JOINT("      type: spherical\n      clearance: {radial: 1 mm, restitution: 1.5}\n"), 7, 46,
         "between 0 and 1, got 1.5"},
        {JOINT("      type: cylindrical\n      clearance: {radial: 1 mm, axial: 1 mm, length: 5 mm}\n"), 7, 40,
         "only revolute joints have axial clearance"},
        {JOINT("      type: spherical\n      clearance: {radial: 1 kg}\n"), 7, 27, "kg"},
        {JOINT("      type: spherical\n      clearance: {radius: 1 mm}\n"), 7, 18, "radial"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        refuse(cases[i].text, cases[i].line, cases[i].column, cases[i].words);
    }
}

static void hub_outside_its_bearing_is_refused_by_name(void** state)
{
    (void)state;
    const struct {
        const char *lines, *words;
    } cases[] = {
        {"type: revolute, frame_a: {position: [3 mm, 0, 0]}, frame_b: {}, clearance: {radial: 1 mm, length: 10 mm}",
         "joint 'pin': its hub starts outside its bearing: at point 1 it is 0.003 m off, the radial clearance is 0.001 "
         "m"},
        {"type: revolute, frame_a: {position: [0, 0, 3 mm]}, frame_b: {}, clearance: {radial: 1 mm, length: 10 mm}",
         "the axial clearance is 0.001 m"},
        {"type: prismatic, frame_a: {position: [0, 3 mm, 0]}, frame_b: {}, "
         "clearance: {gap: 1 mm, length: 10 mm, section: {width: 20 mm, height: 10 mm}}",
         "joint 'pin': its slider starts outside"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "multibody:\n  bodies: {rod: {mass: 1, inertia: [1, 1, 1], position: [0, 0, 0]}}\n"
                 "  joints: {pin: {bodies: [ground, rod], %s}}\n",
                 cases[i].lines);
        Read read = accept(text);
        ItmModel* m = NULL;
        assert_int_equal(itm_model_build(&m, read.builder, &read.error), ITM_ERR_ASSEMBLY);
        if (strstr(read.error.message, cases[i].words) == NULL) {
            fail_msg("expected '%s', got '%s'", cases[i].words, read.error.message);
        }
        assert_string_equal(read.error.field, "pin");
        assert_null(m);
        done(&read);
    }
}

static void bad_steps_are_refused(void** state)
{
    (void)state;
    refuse(JOINT("      type: spherical\n") "run: {stepper: variable, step: 1 ms, min_step: 2 ms}\n", 7, 48,
           "min_step (0.002 s) must not be larger than step (0.001 s)");
    refuse(JOINT("      type: spherical\n") "run: {stepper: variable, step: 1 ms, min_step: -2 ms}\n", 7, 48,
           "positive");
    // compliant joints have no place in the step problem
    Read read = accept(JOINT("      type: spherical\n      stiffness: 1e6 N/m\n"));
    ItmModel* m = NULL;
    ItmData* d = NULL;
    ItmStepOptions options = itm_default_step_options();
    CHECK_OK(itm_model_build(&m, read.builder, &read.error), &read.error);
    options.stepper = ITM_STEPPER_VARIABLE;
    assert_int_equal(itm_data_create(&d, m, &options, &read.error), ITM_ERR_UNSUPPORTED);
    assert_non_null(strstr(read.error.message, "joint 'pin' is compliant"));
    itm_model_destroy(m);
    done(&read);
}

// A ball in a loose socket that carries another mechanism: what its impacts and its friction take is booked for the joint, inside macro
// steps too, and is all that the mechanism loses.
static void losses_of_a_joint_are_booked_in_the_interface_model(void** state)
{
    (void)state;
    static const char TEXT[] =
        "multibody:\n"
        "  name: a\n"
        "  bodies: {ball: {mass: 1 kg, inertia: [0.01, 0.01, 0.01], position: [0, 0, 0]}}\n"
        "  joints: {socket: {type: spherical, bodies: [ground, ball], at: [0, 0, 0],\n"
        "                    clearance: {radial: 5 mm, radius: 50 mm, friction: 0.2, restitution: 0.4}}}\n"
        "  interfaces: {end: {body: ball}}\n"
        "subsystems:\n"
        "  b:\n"
        "    type: multibody\n"
        "    bodies: {arm: {mass: 2 kg, com: [0.2 m, 0, 0], inertia: [0.05, 0.05, 0.05], position: [0, 0, 0]}}\n"
        "    interfaces: {start: {body: arm}}\n"
        "cosim: {macro_step: 2 ms, coupling: rim-nonsmooth, bonds: {a.end: b.start}, overrides: {a: {step: 0.2 ms}}}\n"
        "run: {duration: 0.4 s}\n";
    System s;
    s = system_parse(TEXT, NULL, 0);
    while (itm_cosim_get_time(s.x) < 0.4 - 1e-9) {
        system_step(&s);
    }
    double impact = system_get(&s, "a.socket.impact_loss"), friction = system_get(&s, "a.socket.friction_loss");
    assert_true(impact > 1e-3 && friction > 1e-4);
    // the same numbers summed in the same order
    CHECK_NEAR(impact, system_get(&s, "a.energy.impact"), 1e-14);
    CHECK_NEAR(friction, system_get(&s, "a.energy.friction"), 1e-14);
    system_finish(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cylindrical_slider_is_carried_as_in_the_paper),
        cmocka_unit_test(prismatic_slider_is_carried_as_in_the_paper),
        cmocka_unit_test(pendulum_falls_through_its_play_and_lands_exactly),
        cmocka_unit_test(slider_tilts_until_first_contact),
        cmocka_unit_test(first_impact_of_the_pendulum_takes_its_closed_form),
        cmocka_unit_test(ideal_pendulum_has_the_error_of_the_paper),
        cmocka_unit_test(shrinking_clearance_tends_to_the_ideal_joint),
        cmocka_unit_test(spherical_joint_falls_and_rests),
        cmocka_unit_test(hub_rebounds_with_its_restitution),
        cmocka_unit_test(journal_friction_is_the_friction_circle),
        cmocka_unit_test(a_joint_may_have_the_ground_on_either_side),
        cmocka_unit_test(perfect_bounces_in_a_socket_happen_at_its_wall),
        cmocka_unit_test(slider_crank_keeps_its_energy),
        cmocka_unit_test(slider_crank_shows_the_published_pattern),
        cmocka_unit_test(drawer_jams_above_and_slides_below_the_friction_limit),
        cmocka_unit_test(door_swings_above_and_stays_below_its_limit),
        cmocka_unit_test(coordinates_agree),
        cmocka_unit_test(loose_joints_work_in_interface_models),
        cmocka_unit_test(adaptive_steps_follow_their_tolerance),
        cmocka_unit_test(last_steps_are_spread),
        cmocka_unit_test(restored_runs_continue_with_identical_bits),
        cmocka_unit_test(bad_clearances_are_refused_with_their_numbers),
        cmocka_unit_test(hub_outside_its_bearing_is_refused_by_name),
        cmocka_unit_test(bad_steps_are_refused),
        cmocka_unit_test(losses_of_a_joint_are_booked_in_the_interface_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
