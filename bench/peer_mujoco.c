// MuJoCo: arm and chain in its joint coordinates, the four-bar with stiff equality constraints, bricks as it comes.
#include "bench/measure.h"

#include <mujoco/mujoco.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Scene {
    mjModel* model;
    mjData* data;
    int n;
} Scene;

static const char* const AXES[3] = {"1 0 0", "0 1 0", "0 0 1"};

// ---------------------------------------------------------------------------- model text

typedef struct Text {
    char* bytes;
    size_t length, capacity;
} Text;

static void append(Text* text, const char* format, ...)
{
    char piece[1024];
    va_list arguments;
    va_start(arguments, format);
    size_t length = (size_t)vsnprintf(piece, sizeof piece, format, arguments);
    va_end(arguments);
    if (text->length + length + 1 > text->capacity) {
        text->capacity = 2 * text->capacity + 65536;
        text->bytes = realloc(text->bytes, text->capacity);
    }
    memcpy(text->bytes + text->length, piece, length + 1);
    text->length += length;
}

static mjModel* compile(Text* text)
{
    static mjVFS files;
    char error[500] = "";
    mj_defaultVFS(&files);
    if (mj_makeEmptyFileVFS(&files, "scene.xml", (int)text->length) != 0) {
        fprintf(stderr, "mujoco: no room for the model text\n");
        exit(1);
    }
    memcpy(files.filedata[mj_findFileVFS(&files, "scene.xml")], text->bytes, text->length);
    mjModel* model = mj_loadXML("scene.xml", &files, error, sizeof error);
    mj_deleteFileVFS(&files, "scene.xml");
    free(text->bytes);
    if (model == NULL) {
        fprintf(stderr, "mujoco: %s\n", error);
        exit(1);
    }
    return model;
}

// The scene at rest; n as the caller counts its bodies.
static Scene* make_scene(Text* text, int n)
{
    Scene* scene = malloc(sizeof *scene);
    scene->model = compile(text);
    scene->data = mj_makeData(scene->model);
    scene->n = n;
    return scene;
}

static void destroy(void* self)
{
    Scene* scene = self;
    mj_deleteData(scene->data);
    mj_deleteModel(scene->model);
    free(scene);
}

static void step(void* self, int count)
{
    Scene* scene = self;
    for (int i = 0; i < count; i++) {
        mj_step(scene->model, scene->data);
    }
}

static double get_energy(void* self)
{
    Scene* scene = self;
    mj_forward(scene->model, scene->data);
    return scene->data->energy[0] + scene->data->energy[1];
}

static int find_body(const Scene* scene, const char* kind, int i)
{
    char name[32];
    snprintf(name, sizeof name, "%s%d", kind, i);
    return mj_name2id(scene->model, mjOBJ_BODY, name);
}

// ---------------------------------------------------------------------------- arm

static void* create_arm(double gravity)
{
    Text text = {0};
    append(&text,
           "<mujoco><option timestep='%.17g' gravity='0 0 %g'><flag contact='disable'/></option>"
           "<compiler inertiafromgeom='false' boundmass='0'/><worldbody>",
           ITM_SCENE_STEP, -gravity);
    for (int i = 0; i < ITM_ARM7_JOINTS; i++) {
        const ItmArm7Link* link = &ITM_ARM7_LINKS[i];
        double axial = itm_cylinder_axial(link->mass, ITM_ARM7_RADIUS);
        double transverse = itm_cylinder_transverse(link->mass, ITM_ARM7_RADIUS, link->length);
        append(&text,
               "<body pos='%g 0 0'><inertial pos='%g 0 0' mass='%g' diaginertia='%.17g %.17g %.17g'/>"
               "<joint type='hinge' axis='%s'/>",
               i > 0 ? ITM_ARM7_LINKS[i - 1].length : 0.0, 0.5 * link->length, link->mass, axial, transverse,
               transverse, AXES[link->axis]);
    }
    double moment = itm_sphere_inertia(ITM_ARM7_TOOL_MASS, ITM_ARM7_TOOL_RADIUS);
    append(&text,
           "<body name='tool0' pos='%g 0 0'><inertial pos='0 0 0' mass='%g' diaginertia='%g %g %g'/>"
           "</body>",
           ITM_ARM7_LINKS[ITM_ARM7_JOINTS - 1].length, ITM_ARM7_TOOL_MASS, moment, moment, moment);
    for (int i = 0; i < ITM_ARM7_JOINTS; i++) {
        append(&text, "</body>");
    }
    append(&text, "</worldbody></mujoco>");

    Scene* scene = make_scene(&text, ITM_ARM7_JOINTS);
    for (int i = 0; i < ITM_ARM7_JOINTS; i++) {
        scene->data->qpos[i] = ITM_ARM7_LINKS[i].q;
        scene->data->qvel[i] = ITM_ARM7_LINKS[i].v;
    }
    return scene;
}

static void* create_arm_floating(int n)
{
    (void)n;
    return create_arm(0);
}

static void* create_arm_heavy(int n)
{
    (void)n;
    return create_arm(ITM_SCENE_GRAVITY);
}

static double forward(void* self, int count)
{
    Scene* scene = self;
    for (int i = count - 1; i >= 0; i--) {
        scene->data->qvel[0] = ITM_ARM7_LINKS[0].v + 1e-9 * i;
        mj_forward(scene->model, scene->data);
    }
    return mju_norm(scene->data->qacc, ITM_ARM7_JOINTS);
}

static double inverse(void* self, int count)
{
    Scene* scene = self;
    for (int i = count - 1; i >= 0; i--) {
        scene->data->qvel[0] = ITM_ARM7_LINKS[0].v + 1e-9 * i;
        for (int k = 0; k < ITM_ARM7_JOINTS; k++) {
            scene->data->qacc[k] = k + 1;
        }
        mj_inverse(scene->model, scene->data);
    }
    return mju_norm(scene->data->qfrc_inverse, ITM_ARM7_JOINTS);
}

static double get_tool_z(void* self)
{
    Scene* scene = self;
    mj_kinematics(scene->model, scene->data);
    return scene->data->xpos[3 * find_body(scene, "tool", 0) + 2];
}

// ---------------------------------------------------------------------------- chain

// As URDF, because nested bodies of MJCF meet the depth limit of the XML reader.
static void* create_chain(int n)
{
    double transverse = itm_cylinder_transverse(1, ITM_CHAIN_RADIUS, 1);
    Text text = {0};
    append(&text,
           "<robot name='chain'><mujoco><size njmax='100' nconmax='10' nstack='3000000'/>"
           "<option timestep='%.17g' gravity='0 0 %g'><flag contact='disable'/></option>"
           "<compiler boundmass='0'/></mujoco><link name='world'/>",
           ITM_SCENE_STEP, -ITM_SCENE_GRAVITY);
    for (int i = 0; i < n; i++) {
        append(&text,
               "<link name='link%d'><inertial><origin xyz='0.5 0 0'/><mass value='1'/>"
               "<inertia ixx='%.17g' iyy='%.17g' izz='%.17g' ixy='0' ixz='0' iyz='0'/></inertial>"
               "</link>",
               i, itm_cylinder_axial(1, ITM_CHAIN_RADIUS), transverse, transverse);
        char parent[32] = "world";
        if (i > 0) {
            snprintf(parent, sizeof parent, "link%d", i - 1);
        }
        append(&text,
               "<joint name='joint%d' type='continuous'><origin xyz='%d 0 0'/><axis xyz='%s'/>"
               "<parent link='%s'/><child link='link%d'/></joint>",
               i, i > 0, AXES[itm_chain_axis(i)], parent, i);
    }
    append(&text, "</robot>");
    Scene* scene = make_scene(&text, n);
    scene->data->qvel[1] = itm_chain_rate(n);
    return scene;
}

static double get_chain_tip_z(void* self)
{
    Scene* scene = self;
    mj_kinematics(scene->model, scene->data);
    int body = find_body(scene, "link", scene->n - 1);
    return scene->data->xpos[3 * body + 2] + scene->data->xmat[9 * body + 6];
}

// ---------------------------------------------------------------------------- four-bar

static void set_rate(Scene* scene, const char* kind, int i, double rate)
{
    char name[32];
    snprintf(name, sizeof name, "%s%d", kind, i);
    int joint = mj_name2id(scene->model, mjOBJ_JOINT, name);
    scene->data->qvel[scene->model->jnt_dofadr[joint]] = rate;
}

// Equality constraints at the stiffest setting that still integrates: time constant of two steps.
static void* create_loop(int n)
{
    const double moment = ITM_FOUR_BAR_INERTIA;
    Text text = {0};
    append(&text,
           "<mujoco><size njmax='2000' nconmax='10' nstack='30000000'/>"
           "<option timestep='%.17g' gravity='0 0 %g' tolerance='1e-12' iterations='100'>"
           "<flag contact='disable' energy='enable'/></option>"
           "<compiler inertiafromgeom='false' boundmass='0'/><worldbody>",
           ITM_SCENE_STEP, -ITM_SCENE_GRAVITY);
    for (int i = 0; i <= n; i++) {
        append(&text,
               "<body name='upright%d' pos='%d 0 0'><inertial pos='0 0 .5' mass='1' "
               "diaginertia='%.17g %.17g %.17g'/><joint name='foot%d' type='hinge' axis='0 1 0'/>",
               i, i, moment, moment, moment, i);
        if (i < n) {
            append(&text,
                   "<body name='coupler%d' pos='0 0 1'><inertial pos='.5 0 0' mass='1' "
                   "diaginertia='%.17g %.17g %.17g'/><joint name='left%d' type='hinge' axis='0 1 0'/>"
                   "</body>",
                   i, moment, moment, moment, i);
        }
        append(&text, "</body>");
    }
    append(&text, "</worldbody><equality>");
    for (int i = 0; i < n; i++) {
        append(&text,
               "<connect body1='coupler%d' body2='upright%d' anchor='1 0 0' "
               "solref='%.17g 1' solimp='0.9999 0.9999 0.001'/>",
               i, i + 1, 2 * ITM_SCENE_STEP);
    }
    append(&text, "</equality></mujoco>");
    Scene* scene = make_scene(&text, n);
    for (int i = 0; i <= n; i++) {
        set_rate(scene, "foot", i, 1);
        if (i < n) {
            set_rate(scene, "left", i, -1);
        }
    }
    return scene;
}

static double get_gap(void* self)
{
    Scene* scene = self;
    mj_kinematics(scene->model, scene->data);
    const mjtNum *xpos = scene->data->xpos, *xmat = scene->data->xmat;
    double gap = 0;
    for (int i = 0; i < scene->n; i++) {
        int a = find_body(scene, "coupler", i), b = find_body(scene, "upright", i + 1);
        double difference[3];
        for (int k = 0; k < 3; k++) {
            // end of the coupler along its x, top of the upright along its z
            difference[k] = xpos[3 * a + k] + xmat[9 * a + 3 * k] - xpos[3 * b + k] - xmat[9 * b + 3 * k + 2];
        }
        gap = fmax(gap, mju_norm3(difference));
    }
    return gap;
}

static BenchDirection get_upright(void* self)
{
    Scene* scene = self;
    mj_kinematics(scene->model, scene->data);
    const mjtNum* R = scene->data->xmat + 9 * find_body(scene, "upright", 0);
    return (BenchDirection){R[2], R[8]};
}

// ---------------------------------------------------------------------------- bricks

// Default softness of contacts, elliptic cone of friction.
static void* create_wall(int n)
{
    Text text = {0};
    append(&text,
           "<mujoco><size njmax='%d' nconmax='%d' nstack='60000000'/>"
           "<option timestep='%.17g' gravity='0 0 %g' cone='elliptic'/><compiler boundmass='0'/>"
           "<default><geom friction='%g 0 0' condim='3'/></default>"
           "<worldbody><geom type='plane' size='100 100 1'/>",
           40 * n, 20 * n, ITM_SCENE_STEP, -ITM_SCENE_GRAVITY, ITM_BRICK_FRICTION);
    for (int i = 0; i < n; i++) {
        double p[3];
        itm_wall_get_position(n, i, p);
        append(&text,
               "<body pos='%.17g %.17g %.17g'><freejoint/>"
               "<geom type='box' size='%g %g %g' mass='%g'/></body>",
               p[0], p[1], p[2], 0.5 * ITM_BRICK_LENGTH, 0.5 * ITM_BRICK_WIDTH, 0.5 * ITM_BRICK_HEIGHT, ITM_BRICK_MASS);
    }
    append(&text, "</worldbody></mujoco>");
    return make_scene(&text, n);
}

static void get_brick(void* self, int i, double p[3])
{
    memcpy(p, ((Scene*)self)->data->qpos + 7 * i, 3 * sizeof *p);
}

static BenchTouch get_touch(void* self)
{
    const mjData* data = ((Scene*)self)->data;
    BenchTouch touch = {data->ncon, 0};
    for (int i = 0; i < data->ncon; i++) {
        touch.penetration = fmax(touch.penetration, -data->contact[i].dist);
    }
    return touch;
}

// ---------------------------------------------------------------------------- main

static const BenchScene SCENES[] = {
    {.kind = BENCH_ARM,
     .subject = {.name = "mujoco",
                 .create = create_arm_floating,
                 .destroy = destroy,
                 .step = step,
                 .forward = forward,
                 .inverse = inverse,
                 .get_tip_z = get_tool_z}},
    {.kind = BENCH_ARM_GRAVITY,
     .subject = {.name = "mujoco",
                 .create = create_arm_heavy,
                 .destroy = destroy,
                 .step = step,
                 .forward = forward,
                 .inverse = inverse,
                 .get_tip_z = get_tool_z}},
    {.kind = BENCH_CHAIN,
     .n_max = 300,
     .subject =
         {.name = "mujoco", .create = create_chain, .destroy = destroy, .step = step, .get_tip_z = get_chain_tip_z}},
    {.kind = BENCH_LOOP,
     .subject = {.name = "mujoco",
                 .create = create_loop,
                 .destroy = destroy,
                 .step = step,
                 .get_energy = get_energy,
                 .get_gap = get_gap,
                 .get_upright = get_upright}},
    {.kind = BENCH_WALL,
     .n_max = 50,
     .subject = {.name = "mujoco",
                 .create = create_wall,
                 .destroy = destroy,
                 .step = step,
                 .get_brick = get_brick,
                 .get_touch = get_touch}},
};

int main(int argc, char** argv)
{
    bench_run_scenes(SCENES, BENCH_COUNT(SCENES), argc, argv);
    return 0;
}
