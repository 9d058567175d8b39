// A bar between two jaws, held by friction alone at n points a side that share the clamping force as they like.
//
//        frame o                hinge, or fast
//              |
//       anvil o|bar|o jaw <- F        n spheres a side, at y = -a ... a; weight of the bar at y = e
//
// The jaw presses with F, so the points of each side carry F together, and each side half of the weight. Forces of friction t_i with
// sum t_i = m g / 2 and sum t_i y_i = e m g / 2 have the least sum of sizes m g / 2 max(1, e / a), and normal forces can follow:
//     the bar is held exactly where   m g max(1, e / a) <= 2 mu F
// whatever n. A solver that puts the clamping force into one point a side loses it for every e but that of the point.
// examples/grip.yaml has five points a side and a motor; here are any number of points, and an actuator as an interface.
#include "check.h"

#include "interim/interim.h"
#include "rim/rim.h"
#include "scenes/scene.h"

#define FORCE 1000.0
#define MU 0.5
#define G 9.81
#define HALF 0.2   // a, m
#define WIDTH 0.1  // of the bar, m
#define HEIGHT 0.2
#define RADIUS 0.01
#define LENGTH 1.0  // hinge to bar, m
static const ItmVec3 DOWN = {0, 0, -G}, ASKEW = {0.2 * G, 0.3 * G, -0.93 * G};

typedef struct Grip {
    int n;        // points a side
    double e;     // in units of a
    double load;  // m g max(1, e / a) / 2 mu F
    ItmCoordinates coordinates;
    bool swings;  // hung on a hinge, with gravity askew
    double step;  // s
    int micro;    // micro steps of an interface model; 0: the mechanism's own steps
    int nudge;    // units of the last place by which the mass of the bar is off
} Grip;

static double get_mass(const Grip* g)
{
    return g->load * 2.0 * MU * FORCE / (G * fmax(1.0, g->e)) * (1.0 + 2.2e-16 * g->nudge);
}

static void add_pads(ItmScene* scene, const char* name, int body, double x, double z, int n, int material)
{
    for (int i = 0; i < n; i++) {
        char text[32];
        ItmColliderDef pad = itm_default_collider_def();
        snprintf(text, sizeof text, "%s%d", name, i);
        pad.name = text;
        pad.body = body;
        pad.kind = ITM_COLLIDER_SPHERE;
        pad.size[0] = RADIUS;
        pad.pose = (ItmPose){{x, n > 1 ? HALF * (2.0 * i / (n - 1) - 1.0) : 0.0, z}, {1, 0, 0, 0}};
        pad.material = material;
        itm_scene_add_collider(scene, &pad);
    }
}

static int add_body(ItmScene* scene, const char* name, double mass, ItmVec3 size, ItmVec3 at)
{
    ItmBodyDef def = itm_default_body_def();
    def.name = name;
    def.mass = mass;
    def.inertia = (ItmSym3){.xx = mass / 12.0 * (size.y * size.y + size.z * size.z),
                            .yy = mass / 12.0 * (size.x * size.x + size.z * size.z),
                            .zz = mass / 12.0 * (size.x * size.x + size.y * size.y)};
    def.has_pose = true;
    def.pose = (ItmPose){at, {1, 0, 0, 0}};
    return itm_scene_add_body(scene, &def);
}

static ItmStatus build(ItmModel** model, const Grip* g, ItmError* error)
{
    ItmScene scene = itm_scene_begin(g->coordinates, g->swings ? ASKEW : DOWN, error);
    ItmVec3 hinge = {0, 0, LENGTH}, zero = {0, 0, 0};
    ItmMaterialDef def = {.name = "rough", .surface = {.friction = MU}};
    int rough = itm_scene_add_material(&scene, &def);
    double middle = 0.5 * WIDTH + RADIUS;
    int frame = add_body(&scene, "frame", 20.0, (ItmVec3){0.3, 0.4, 0.4}, (ItmVec3){0, 0, 0.5 * LENGTH});
    int jaw = add_body(&scene, "jaw", 5.0, (ItmVec3){0.1, 0.4, 0.1}, (ItmVec3){0.2, 0, 0});
    int bar = add_body(&scene, "bar", get_mass(g), (ItmVec3){WIDTH, 1.2, HEIGHT}, (ItmVec3){0, g->e * HALF, 0});
    // about an axis that lifts the bar along and across the jaws
    ItmVec3 up = {0, 0, 0.5 * LENGTH};
    ItmJointDef hang = itm_scene_hinge("hang", ITM_GROUND, hinge, frame, up, (ItmVec3){0.8, 0.6, 0});
    hang.type = g->swings ? hang.type : ITM_JOINT_FIXED;
    itm_scene_add_joint(&scene, &hang);
    ItmJointDef slide =
        itm_scene_hinge("slide", frame, (ItmVec3){0.2, 0, -0.5 * LENGTH}, jaw, zero, (ItmVec3){1, 0, 0});
    slide.type = ITM_JOINT_PRISMATIC;
    itm_scene_add_joint(&scene, &slide);
    itm_scene_add_actuator(&scene, "clamp", frame, (ItmVec3){0.5, 0, -0.5 * LENGTH}, jaw, zero);
    add_pads(&scene, "anvil", frame, -middle, -0.5 * LENGTH, g->n, rough);
    add_pads(&scene, "jaw", jaw, middle - 0.2, 0.0, g->n, rough);
    ItmColliderDef shape = itm_default_collider_def();
    shape.name = "shape";
    shape.body = bar;
    shape.kind = ITM_COLLIDER_BOX;
    shape.size[0] = WIDTH, shape.size[1] = 1.2, shape.size[2] = HEIGHT;
    shape.material = rough;
    itm_scene_add_collider(&scene, &shape);
    return itm_scene_finish(&scene, model);
}

// ---------------------------------------------------------------------------- runs

typedef struct Sim {
    ItmModel* m;
    ItmData* d;
    ItmArena arena;
    ItmRim rim;
} Sim;

static void begin(Sim* x, const Grip* g)
{
    ItmError error;
    ItmStepOptions options = itm_default_step_options();
    const int actuators[1] = {0};
    *x = (Sim){0};
    options.step = g->step;
    CHECK_OK(build(&x->m, g, &error), &error);
    CHECK_OK(itm_data_create(&x->d, x->m, &options, &error), &error);
    itm_rim_lay_out(&x->rim, &x->arena, x->m, 1);
    assert_int_equal(itm_arena_allocate(&x->arena), 0);
    itm_rim_lay_out(&x->rim, &x->arena, x->m, 1);
    itm_rim_init(&x->rim, x->m, actuators);
}

static void end(Sim* x)
{
    itm_arena_free(&x->arena);
    itm_data_destroy(x->d);
    itm_model_destroy(x->m);
}

static void step(Sim* x, const Grip* g, double t)
{
    const double force[1] = {FORCE};
    if (g->micro == 0) {
        x->d->input[0] = FORCE;
        CHECK_OK(itm_step(x->m, x->d), &x->d->error);
        return;
    }
    itm_data_refresh(x->m, x->d);
    itm_rim_measure(x->m, x->d, &x->rim);
    CHECK_OK(itm_rim_extract(x->m, x->d, &x->rim, t, g->step, 0.5 * g->step, ITM_RIM_SOLVE), &x->d->error);
    CHECK_OK(itm_rim_begin(&x->rim, g->micro, true), &x->d->error);
    for (int k = 0; k < g->micro; k++) {
        CHECK_OK(itm_rim_advance(&x->rim, g->step / g->micro, force), &x->d->error);
    }
    CHECK_OK(itm_rim_take_over(x->m, x->d, &x->rim), &x->d->error);
}

// Where the bar is in the frame, less where it was at the start.
static ItmVec3 look(const Sim* x, const Grip* g)
{
    itm_data_refresh(x->m, x->d);
    ItmPose frame = itm_data_get_body_pose(x->m, x->d, 0), bar = itm_data_get_body_pose(x->m, x->d, 2);
    ItmMat3 R = itm_quat_to_mat(frame.q);
    ItmVec3 place = itm_mat_t_mul_vec(&R, itm_vec_sub(bar.p, frame.p));
    return itm_vec_sub(place, (ItmVec3){0, g->e * HALF, -0.5 * LENGTH});
}

// How far the bar has slipped in the frame after a time; *drop: downwards.
static double run(const Grip* g, double duration, double* drop)
{
    Sim x;
    begin(&x, g);
    int n = (int)lround(duration / g->step);
    for (int k = 0; k < n; k++) {
        step(&x, g, k * g->step);
    }
    ItmVec3 slip = look(&x, g);
    end(&x);
    *drop = -slip.z;
    return itm_vec_norm(slip);
}

// ---------------------------------------------------------------------------- tests

static const ItmCoordinates BOTH[] = {ITM_COORDINATES_ABSOLUTE, ITM_COORDINATES_JOINT};
static const double STEPS[] = {1e-3, 10e-3};

// Every way through the code: both coordinates, own steps and an interface model, small and large steps.
static void for_all(Grip g, void (*check)(const Grip*))
{
    for (int k = 0; k < 8; k++) {
        g.coordinates = BOTH[k % 2];
        g.step = STEPS[k / 2 % 2];
        g.micro = k / 4 * 10;
        check(&g);
    }
}

// A solve is off by 1e-9 (1 + max |b|) m/s at most, b the rates without impulses, G h and F h / 5 kg: 1e-9 * 3 * 0.3 s.
// observed 4e-10
static void check_held(const Grip* g)
{
    double drop;
    CHECK_NEAR(run(g, 0.3, &drop), 0.0, 1e-9);
}

static void bar_is_held_up_to_the_limit_of_friction(void** state)
{
    (void)state;
    const int points[] = {2, 9};
    const double places[] = {0.0, 0.4, 1.5};
    for (int k = 0; k < 6; k++) {
        for_all((Grip){.n = points[k % 2], .e = places[k / 2], .load = 0.95}, check_held);
    }
}

// All points slide with all their friction: g - 2 mu F / m. Own steps move with the rate of their end, half a step early.
static void check_sliding(const Grip* g)
{
    double drop, a = G * (1.0 - 1.0 / g->load), t = 0.3;
    run(g, t, &drop);
    double early = g->micro == 0 ? 0.5 * a * t * g->step : 0.0;
    CHECK_NEAR(drop, 0.5 * a * t * t + early, 2e-4);
}

static void bar_slides_beyond_the_limit_as_it_must(void** state)
{
    (void)state;
    for_all((Grip){.n = 5, .e = 0.0, .load = 1.05}, check_sliding);
}

// Held off its middle by less than friction could, it turns out of the jaws.
static void check_turning(const Grip* g)
{
    double drop;
    assert_true(run(g, 0.3, &drop) > 2e-3);
}

static void bar_turns_out_of_the_jaws_beyond_their_points(void** state)
{
    (void)state;
    for_all((Grip){.n = 5, .e = 1.5, .load = 1.05}, check_turning);
}

// Jaws and bar turn as one, each by its own coordinates: what they drift apart is of second order. Without the biases of contact
// rows it is of first order, 0.37 mm at 10 ms. Rates of the points contradict each other by up to 1e-6 m/s; a solver that does not take
// that off puts the load where rounding leads it, and the bar creeps by up to 45 um.
static void check_swinging(const Grip* g)
{
    double drop;
    // the solves are off by 1e-9 * 3 m/s for 2 s, as above; observed 2.1e-3 h^2
    CHECK_NEAR(run(g, 2.0, &drop), 0.0, 6e-9 + 0.005 * g->step * g->step);
}

static void swinging_grip_does_not_creep(void** state)
{
    (void)state;
    for_all((Grip){.n = 5, .e = 0.4, .load = 0.5, .swings = true}, check_swinging);
}

static void creep_does_not_depend_on_rounding(void** state)
{
    (void)state;
    for (int k = -2; k <= 2; k++) {
        for_all((Grip){.n = 5, .e = 0.4, .load = 0.8, .swings = true, .nudge = k}, check_swinging);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bar_is_held_up_to_the_limit_of_friction),
        cmocka_unit_test(bar_slides_beyond_the_limit_as_it_must),
        cmocka_unit_test(bar_turns_out_of_the_jaws_beyond_their_points),
        cmocka_unit_test(swinging_grip_does_not_creep),
        cmocka_unit_test(creep_does_not_depend_on_rounding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
