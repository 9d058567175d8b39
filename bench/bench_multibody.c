// Interim: arm, chain and four-bar in joint and absolute coordinates, bricks, and the memory of a data object.
#include "bench/measure.h"
#include "scenes/scenes.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct Scene {
    ItmModelFile* file;  // owns the model; NULL: it is owned here
    ItmModel* model;
    ItmData* data;
    double* values;  // outputs of the present state
    int energy_kinetic, energy_potential;
    int n;
} Scene;

static void stop_on_error(ItmStatus status, const ItmError* error)
{
    if (status != ITM_OK) {
        fprintf(stderr, "interim: %s: %s\n", itm_status_message(status), error->message);
        exit(1);
    }
}

static void* make_scene(ItmModel* model, int n)
{
    ItmError error = {0};
    ItmStepOptions options = itm_default_step_options();
    options.step = ITM_SCENE_STEP;
    Scene* scene = calloc(1, sizeof *scene);
    scene->model = model;
    scene->n = n;
    stop_on_error(itm_data_create(&scene->data, model, &options, &error), &error);
    scene->values = calloc((size_t)itm_model_get_output_count(model), sizeof *scene->values);
    scene->energy_kinetic = itm_model_find_output(model, "energy.kinetic");
    scene->energy_potential = itm_model_find_output(model, "energy.potential");
    return scene;
}

static void destroy(void* self)
{
    Scene* scene = self;
    free(scene->values);
    itm_data_destroy(scene->data);
    if (scene->file != NULL) {
        itm_file_destroy(scene->file);
    } else {
        itm_model_destroy(scene->model);
    }
    free(scene);
}

static void step(void* self, int count)
{
    Scene* scene = self;
    for (int i = 0; i < count; i++) {
        stop_on_error(itm_step(scene->model, scene->data), itm_data_get_error(scene->data));
    }
}

static double get_energy(void* self)
{
    Scene* scene = self;
    itm_model_compute_outputs(scene->model, scene->data, scene->values);
    return scene->values[scene->energy_kinetic] + scene->values[scene->energy_potential];
}

static int find_body(const Scene* scene, const char* kind, int i)
{
    char name[32];
    snprintf(name, sizeof name, "%s%d", kind, i);
    return itm_model_find_body(scene->model, name);
}

// Point of a body, world axes.
static ItmVec3 get_point(const Scene* scene, int body, ItmVec3 u)
{
    ItmPose pose = itm_data_get_body_pose(scene->model, scene->data, body);
    ItmQuat q = pose.q;
    // u + 2 w (a x u) + 2 a x (a x u), with q = (w, a)
    ItmVec3 t = {2 * (q.y * u.z - q.z * u.y), 2 * (q.z * u.x - q.x * u.z), 2 * (q.x * u.y - q.y * u.x)};
    return (ItmVec3){pose.p.x + u.x + q.w * t.x + q.y * t.z - q.z * t.y,
                     pose.p.y + u.y + q.w * t.y + q.z * t.x - q.x * t.z,
                     pose.p.z + u.z + q.w * t.z + q.x * t.y - q.y * t.x};
}

static double get_distance(ItmVec3 a, ItmVec3 b)
{
    return sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z));
}

// ---------------------------------------------------------------------------- arm

static void* create_arm(bool has_gravity)
{
    ItmModel* model;
    ItmError error = {0};
    stop_on_error(itm_arm7_build(&model, ITM_COORDINATES_JOINT, has_gravity, &error), &error);
    return make_scene(model, ITM_ARM7_JOINTS);
}

static void* create_arm_floating(int n)
{
    (void)n;
    return create_arm(false);
}

static void* create_arm_heavy(int n)
{
    (void)n;
    return create_arm(true);
}

static double forward(void* self, int count)
{
    Scene* scene = self;
    double q[ITM_ARM7_JOINTS], v[ITM_ARM7_JOINTS], v_dot[ITM_ARM7_JOINTS], sum = 0;
    for (int i = 0; i < ITM_ARM7_JOINTS; i++) {
        q[i] = ITM_ARM7_LINKS[i].q;
        v[i] = ITM_ARM7_LINKS[i].v;
    }
    for (int i = count - 1; i >= 0; i--) {
        v[0] = ITM_ARM7_LINKS[0].v + 1e-9 * i;
        itm_data_set_qv(scene->model, scene->data, q, v);
        itm_dynamics_compute_forward(scene->model, scene->data, v_dot);
    }
    for (int i = 0; i < ITM_ARM7_JOINTS; i++) {
        sum += v_dot[i] * v_dot[i];
    }
    return sqrt(sum);
}

static double inverse(void* self, int count)
{
    Scene* scene = self;
    double q[ITM_ARM7_JOINTS], v[ITM_ARM7_JOINTS], v_dot[ITM_ARM7_JOINTS], tau[ITM_ARM7_JOINTS], sum = 0;
    for (int i = 0; i < ITM_ARM7_JOINTS; i++) {
        q[i] = ITM_ARM7_LINKS[i].q;
        v[i] = ITM_ARM7_LINKS[i].v;
        v_dot[i] = i + 1;
    }
    for (int i = count - 1; i >= 0; i--) {
        v[0] = ITM_ARM7_LINKS[0].v + 1e-9 * i;
        itm_data_set_qv(scene->model, scene->data, q, v);
        itm_dynamics_compute_inverse(scene->model, scene->data, tau, v_dot, NULL);
    }
    for (int i = 0; i < ITM_ARM7_JOINTS; i++) {
        sum += tau[i] * tau[i];
    }
    return sqrt(sum);
}

static double get_tool_z(void* self)
{
    Scene* scene = self;
    int tool = itm_model_find_body(scene->model, "tool");
    return itm_data_get_body_pose(scene->model, scene->data, tool).p.z;
}

// ---------------------------------------------------------------------------- flexible arm

// n: freedoms, 7 (rigid) or 15
static void* create_flexible(ItmCoordinates coordinates, int n)
{
    ItmModelFile* file;
    ItmError error = {0};
    stop_on_error(itm_example_load_arm(&file, coordinates, n == 15, &error), &error);
    Scene* scene = make_scene(file->model, n);
    scene->file = file;
    return scene;
}

static double time_steps(Scene* scene)
{
    const int count = 5000;
    step(scene, count / 10);
    double start = bench_now();
    step(scene, count);
    return 1e6 * (bench_now() - start) / count;
}

static double time_forward(Scene* scene)
{
    const int count = 5000;
    double v_dot[64], start = bench_now();
    for (int i = 0; i < count; i++) {
        itm_dynamics_compute_forward(scene->model, scene->data, v_dot);
    }
    return 1e6 * (bench_now() - start) / count;
}

// Rigid and flexible arm in turn, so that a change of the clock meets both; the best of three.
static void run_flexible(const char* subject, ItmCoordinates coordinates)
{
    static const int freedoms[] = {7, 15};
    double best[2][2];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 2; i++) {
            Scene* scene = create_flexible(coordinates, freedoms[i]);
            double us[2] = {time_forward(scene), time_steps(scene)};
            for (int k = 0; k < 2; k++) {
                best[i][k] = round == 0 || us[k] < best[i][k] ? us[k] : best[i][k];
            }
            destroy(scene);
        }
    }
    for (int i = 0; i < 2; i++) {
        bench_report(subject, "flexible", freedoms[i], "forward_us", best[i][0]);
        bench_report(subject, "flexible", freedoms[i], "step_us", best[i][1]);
    }
}

// ---------------------------------------------------------------------------- chain

static void* create_chain(ItmCoordinates coordinates, int n)
{
    ItmModel* model;
    ItmError error = {0};
    stop_on_error(itm_chain_build(&model, coordinates, n, &error), &error);
    return make_scene(model, n);
}

static void* create_chain_joint(int n)
{
    return create_chain(ITM_COORDINATES_JOINT, n);
}

static void* create_chain_absolute(int n)
{
    return create_chain(ITM_COORDINATES_ABSOLUTE, n);
}

static double get_chain_tip_z(void* self)
{
    Scene* scene = self;
    return get_point(scene, find_body(scene, "link", scene->n - 1), (ItmVec3){1, 0, 0}).z;
}

// ---------------------------------------------------------------------------- four-bar

static void* create_loop(ItmCoordinates coordinates, int n)
{
    ItmModel* model;
    ItmError error = {0};
    stop_on_error(itm_four_bar_build(&model, coordinates, n, &error), &error);
    return make_scene(model, n);
}

static void* create_loop_joint(int n)
{
    return create_loop(ITM_COORDINATES_JOINT, n);
}

static void* create_loop_absolute(int n)
{
    return create_loop(ITM_COORDINATES_ABSOLUTE, n);
}

static double get_gap(void* self)
{
    Scene* scene = self;
    const ItmVec3 top = {0, 0, 1}, foot = {0, 0, 0}, left = {0, 0, 0}, right = {1, 0, 0};
    double gap = 0;
    for (int i = 0; i <= scene->n; i++) {
        int upright = find_body(scene, "upright", i);
        gap = fmax(gap, get_distance(get_point(scene, upright, foot), (ItmVec3){i, 0, 0}));
        if (i < scene->n) {
            int next = find_body(scene, "upright", i + 1), coupler = find_body(scene, "coupler", i);
            gap = fmax(gap, get_distance(get_point(scene, coupler, left), get_point(scene, upright, top)));
            gap = fmax(gap, get_distance(get_point(scene, coupler, right), get_point(scene, next, top)));
        }
    }
    return gap;
}

static BenchDirection get_upright(void* self)
{
    Scene* scene = self;
    int upright = find_body(scene, "upright", 0);
    ItmVec3 foot = get_point(scene, upright, (ItmVec3){0, 0, 0});
    ItmVec3 top = get_point(scene, upright, (ItmVec3){0, 0, 1});
    return (BenchDirection){top.x - foot.x, top.z - foot.z};
}

// ---------------------------------------------------------------------------- bricks

static void* create_wall(int n)
{
    ItmModel* model;
    ItmError error = {0};
    stop_on_error(itm_wall_build(&model, n, &error), &error);
    return make_scene(model, n);
}

static void* create_floor(int n)
{
    ItmModel* model;
    ItmError error = {0};
    stop_on_error(itm_floor_build(&model, n, &error), &error);
    return make_scene(model, n);
}

static void* create_pile(int n, bool is_round)
{
    ItmModel* model;
    ItmError error = {0};
    stop_on_error(itm_pile_build(&model, n, is_round, &error), &error);
    return make_scene(model, n);
}

static void* create_boxes(int n)
{
    return create_pile(n, false);
}

static void* create_spheres(int n)
{
    return create_pile(n, true);
}

static void get_brick(void* self, int i, double p[3])
{
    Scene* scene = self;
    ItmVec3 at = itm_data_get_body_pose(scene->model, scene->data, i).p;
    p[0] = at.x;
    p[1] = at.y;
    p[2] = at.z;
}

static BenchTouch get_touch(void* self)
{
    Scene* scene = self;
    ItmStepInfo info = itm_data_get_step_info(scene->data);
    return (BenchTouch){info.ncontact, info.penetration, info.unsolved};
}

// ---------------------------------------------------------------------------- memory

static void run_memory(const char* subject, void* (*create)(int n))
{
    static const int sizes[] = {10, 100, 1000};
    for (int i = 0; i < 3; i++) {
        Scene* scene = create(sizes[i]);
        double bytes = (double)itm_model_get_info(scene->model).data_bytes;
        bench_report(subject, "memory", sizes[i], "bytes_per_body", bytes / sizes[i]);
        destroy(scene);
    }
}

// ---------------------------------------------------------------------------- main

static const BenchScene SCENES[] = {
    {.kind = BENCH_ARM,
     .subject = {.name = "interim-joint",
                 .create = create_arm_floating,
                 .destroy = destroy,
                 .step = step,
                 .forward = forward,
                 .inverse = inverse,
                 .get_tip_z = get_tool_z}},
    {.kind = BENCH_ARM_GRAVITY,
     .subject = {.name = "interim-joint",
                 .create = create_arm_heavy,
                 .destroy = destroy,
                 .step = step,
                 .forward = forward,
                 .inverse = inverse,
                 .get_tip_z = get_tool_z}},
    {.kind = BENCH_CHAIN,
     .subject = {.name = "interim-joint",
                 .create = create_chain_joint,
                 .destroy = destroy,
                 .step = step,
                 .get_tip_z = get_chain_tip_z}},
    {.kind = BENCH_CHAIN,
     .subject = {.name = "interim-absolute",
                 .create = create_chain_absolute,
                 .destroy = destroy,
                 .step = step,
                 .get_tip_z = get_chain_tip_z}},
    {.kind = BENCH_LOOP,
     .subject = {.name = "interim-joint",
                 .create = create_loop_joint,
                 .destroy = destroy,
                 .step = step,
                 .get_energy = get_energy,
                 .get_gap = get_gap,
                 .get_upright = get_upright}},
    {.kind = BENCH_LOOP,
     .subject = {.name = "interim-absolute",
                 .create = create_loop_absolute,
                 .destroy = destroy,
                 .step = step,
                 .get_energy = get_energy,
                 .get_gap = get_gap,
                 .get_upright = get_upright}},
    {.kind = BENCH_WALL,
     .subject = {.name = "interim-absolute",
                 .create = create_wall,
                 .destroy = destroy,
                 .step = step,
                 .get_brick = get_brick,
                 .get_touch = get_touch}},
    {.kind = BENCH_FLOOR,
     .subject = {.name = "interim-absolute",
                 .create = create_floor,
                 .destroy = destroy,
                 .step = step,
                 .get_brick = get_brick,
                 .get_touch = get_touch}},
    {.kind = BENCH_PILE_BOXES,
     .subject = {.name = "interim-absolute",
                 .create = create_boxes,
                 .destroy = destroy,
                 .step = step,
                 .get_touch = get_touch}},
    {.kind = BENCH_PILE_SPHERES,
     .subject = {.name = "interim-absolute",
                 .create = create_spheres,
                 .destroy = destroy,
                 .step = step,
                 .get_touch = get_touch}},
};

int main(int argc, char** argv)
{
    bench_run_scenes(SCENES, BENCH_COUNT(SCENES), argc, argv);
    if (bench_is_wanted(argc, argv, "flexible")) {
        run_flexible("interim-joint", ITM_COORDINATES_JOINT);
        run_flexible("interim-absolute", ITM_COORDINATES_ABSOLUTE);
    }
    if (bench_is_wanted(argc, argv, "chain")) {
        run_memory("interim-joint", create_chain_joint);
        run_memory("interim-absolute", create_chain_absolute);
    }
    return 0;
}
