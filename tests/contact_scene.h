// Small scenes with contact, built or loaded from the examples, run and looked at by the tests.
#ifndef ITM_TESTS_CONTACT_SCENE_H
#define ITM_TESTS_CONTACT_SCENE_H

#include "check.h"

#include "interim/interim.h"
#include "scenes/scenes.h"

// ---------------------------------------------------------------------------- building scenes

typedef struct {
    ItmModelBuilder* b;
    ItmModelFile* file;  // owns m; NULL: m is owned here
    ItmModel* m;
    ItmData* d;
    double* values;
    int nshape;
} Scene;

static inline void open_scene(Scene* s, ItmVec3 gravity)
{
    ItmError error = {0};
    ItmWorldDef world = itm_default_world_def();
    world.gravity = gravity;
    *s = (Scene){0};
    CHECK_OK(itm_model_builder_create(&s->b, &world, &error), &error);
}

static inline void set_law(Scene* s, ItmFrictionLaw law, ItmMlcpSolver solver, bool lag_friction_bounds)
{
    ItmError error = {0};
    ItmContactOptions options = itm_default_contact_options();
    options.law = law;
    options.solver = solver;
    options.lag_friction_bounds = lag_friction_bounds;
    CHECK_OK(itm_model_builder_set_contact_options(s->b, &options, &error), &error);
}

static inline int add_material(Scene* s, const char* name, ItmSurface surface)
{
    ItmError error = {0};
    int id;
    ItmMaterialDef def = {.name = name, .surface = surface};
    CHECK_OK(itm_model_builder_add_material(s->b, &def, &id, &error), &error);
    return id;
}

static inline int add_body(Scene* s, const char* name, double mass, ItmVec3 inertia, ItmPose pose)
{
    ItmError error = {0};
    int id;
    ItmBodyDef def = itm_default_body_def();
    def.name = name;
    def.mass = mass;
    def.inertia = (ItmSym3){.xx = inertia.x, .yy = inertia.y, .zz = inertia.z};
    def.has_pose = true;
    def.pose = pose;
    CHECK_OK(itm_model_builder_add_body(s->b, &def, &id, &error), &error);
    return id;
}

static inline void add_shape(Scene* s, int body, ItmColliderKind kind, double x, double y, double z, ItmPose pose,
                             int material)
{
    ItmError error = {0};
    char name[32];
    snprintf(name, sizeof name, "shape%d", s->nshape++);
    ItmColliderDef def = itm_default_collider_def();
    def.name = name;
    def.body = body;
    def.kind = kind;
    def.size[0] = x;
    def.size[1] = y;
    def.size[2] = z;
    def.pose = pose;
    def.material = material;
    CHECK_OK(itm_model_builder_add_collider(s->b, &def, NULL, &error), &error);
}

static inline void start_scene(Scene* s, double step)
{
    ItmError error = {0};
    ItmStepOptions options = itm_default_step_options();
    options.step = step;
    CHECK_OK(itm_model_build(&s->m, s->b, &error), &error);
    CHECK_OK(itm_data_create(&s->d, s->m, &options, &error), &error);
    itm_model_builder_destroy(s->b);
    s->values = calloc((size_t)itm_model_get_output_count(s->m), sizeof(double));
}

// An example with overrides as of --set (n), started.
static inline void start_example(Scene* s, const char* name, const char* const* overrides, int n, double step)
{
    ItmError error = {0};
    *s = (Scene){0};
    CHECK_OK(itm_example_load(&s->file, name, overrides, n, &error), &error);
    ItmStepOptions options = s->file->run.step;
    options.step = step;
    s->m = s->file->model;
    CHECK_OK(itm_data_create(&s->d, s->m, &options, &error), &error);
    s->values = calloc((size_t)itm_model_get_output_count(s->m), sizeof(double));
}

static inline double output(Scene* s, const char* name)
{
    int i = itm_model_find_output(s->m, name);
    if (i == ITM_NONE) {
        fail_msg("there is no output '%s'", name);
    }
    itm_model_compute_outputs(s->m, s->d, s->values);
    return s->values[i];
}

// Step, and check in every step that no energy came from nowhere.
static inline void run(Scene* s, int steps)
{
    for (int i = 0; i < steps; i++) {
        CHECK_OK(itm_step(s->m, s->d), itm_data_get_error(s->d));
    }
}

// Undoing a penetration lifts at most the whole weight by it.
static inline void run_without_energy_growth(Scene* s, int steps, double weight)
{
    double before = output(s, "energy.mechanical");
    for (int i = 0; i < steps; i++) {
        run(s, 1);
        double now = output(s, "energy.mechanical");
        // a velocity error of the solver's tolerance, 1e-9 m/s, may lift the weight too
        double lift = output(s, "violation.penetration") + 1e-9 * output(s, "step.size");
        if (!(now <= before + weight * lift + 1e-12 * fabs(before))) {
            ItmStepInfo info = itm_data_get_step_info(s->d);
            fail_msg(
                "energy grew from %.15g to %.15g in step %d: %d contacts, %d active, penetration %.3g, residual %.3g, "
                "kinetic %.9g",
                before, now, i, info.ncontact, info.nactive, info.penetration, info.solver_residual,
                output(s, "energy.kinetic"));
        }
        before = now;
    }
}

static inline void close_scene(Scene* s)
{
    itm_data_destroy(s->d);
    if (s->file != NULL) {
        itm_file_destroy(s->file);
    } else {
        itm_model_destroy(s->m);
    }
    free(s->values);
}

static inline ItmPose at(double x, double y, double z)
{
    return (ItmPose){{x, y, z}, {1, 0, 0, 0}};
}

static inline ItmPose turned_y(double x, double y, double z, double angle)
{
    return (ItmPose){{x, y, z}, {cos(0.5 * angle), 0, sin(0.5 * angle), 0}};
}

static const ItmVec3 DOWN = {0, 0, -9.81};

#endif
