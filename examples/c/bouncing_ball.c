// A ball falls on a plate, bounces until it lies still, and comes to rest in the closed form's time.
//
//   cc bouncing_ball.c $(pkg-config --cflags --libs interim) -lm && ./a.out
//
// Each bounce keeps the fraction e of the speed, so the times between bounces shrink like a geometric
// series: from rest at height H above the plate it lies still after sqrt(2 H / g) (1 + e) / (1 - e).
// SPDX-License-Identifier: Apache-2.0
#include <interim/interim.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define GRAVITY 9.81    // m/s^2
#define RADIUS 0.05     // m
#define HEIGHT 0.5      // of the ball's lowest point at the start, m
#define DENSITY 1100.0  // kg/m^3
#define RESTITUTION 0.7
#define STEP 1e-4  // s

// Every call that can fail returns a status and fills an ItmError with a sentence.
static void must(ItmStatus status, const ItmError* error)
{
    if (status != ITM_OK) {
        fprintf(stderr, "%s\n", error->message);
        exit(1);
    }
}

// A shape that can touch something. Shapes have no mass: that is the body's.
static void add_shape(ItmModelBuilder* builder, const char* name, int body, ItmColliderKind kind, int material)
{
    ItmError error;
    ItmColliderDef shape = itm_default_collider_def();
    shape.name = name;
    shape.body = body;
    shape.kind = kind;
    shape.size[0] = RADIUS;  // a plane has no size
    shape.material = material;
    must(itm_model_builder_add_collider(builder, &shape, NULL, &error), &error);
}

static ItmModel* build_scene(void)
{
    ItmError error;
    ItmModelBuilder* builder;
    ItmModel* model;
    int ball, rubber;
    ItmWorldDef world = itm_default_world_def();  // gravity along -z
    must(itm_model_builder_create(&builder, &world, &error), &error);

    ItmBodyDef body = itm_default_body_def();
    ItmShapeDef solid = {.kind = ITM_SHAPE_SPHERE, .size = {RADIUS}, .pose.q.w = 1.0};
    must(itm_shape_compute_mass(&body.mass, &body.com, &body.inertia, &solid, DENSITY, &error), &error);
    body.name = "ball";
    body.has_pose = true;
    body.pose.p.z = RADIUS + HEIGHT;
    must(itm_model_builder_add_body(builder, &body, &ball, &error), &error);

    // two surfaces of one material touch with its friction and restitution
    ItmMaterialDef material = itm_default_material_def();
    material.name = "rubber";
    material.surface.restitution = RESTITUTION;
    must(itm_model_builder_add_material(builder, &material, &rubber, &error), &error);
    add_shape(builder, "plate", ITM_GROUND, ITM_COLLIDER_PLANE, rubber);
    add_shape(builder, "skin", ball, ITM_COLLIDER_SPHERE, rubber);

    must(itm_model_build(&model, builder, &error), &error);
    itm_model_builder_destroy(builder);
    return model;
}

// Step until `end`. Returns the time of the last bounce: a turn from falling faster than `slowest` to rising.
static double bounce(const ItmModel* m, ItmData* d, double end, double slowest, int* bounces)
{
    double last = 0.0, down = 0.0;
    while (itm_data_get_time(d) < end) {
        must(itm_step(m, d), itm_data_get_error(d));
        double up = itm_data_get_body_velocity(m, d, 0).z;
        if (down < -slowest && up > 0.0) {
            last = itm_data_get_time(d);
            ++*bounces;
        }
        down = up;
    }
    return last;
}

int main(void)
{
    ItmError error;
    ItmData* d;
    ItmModel* m = build_scene();
    ItmStepOptions options = itm_default_step_options();  // semi-implicit Euler: the stepper with contact
    options.step = STEP;
    must(itm_data_create(&d, m, &options, &error), &error);

    double exact = sqrt(2.0 * HEIGHT / GRAVITY) * (1.0 + RESTITUTION) / (1.0 - RESTITUTION);
    double slowest = itm_default_contact_options().restitution_speed;
    int bounces = 0;
    double last = bounce(m, d, 1.5 * exact, slowest, &bounces);
    printf("last of %d bounces at %.4f s, all of them take %.4f s\n", bounces, last, exact);

    // what touches what, and with which force
    double force = 0.0;
    for (int i = 0; i < itm_contact_get_count(d); i++) {
        ItmContactInfo contact = itm_contact_get_info(d, i);
        force += contact.impulse.z / STEP;
        printf("%s on %s: %.4f N\n", contact.name_b, contact.name_a, contact.impulse.z / STEP);
    }
    double weight = itm_model_get_info(m).mass * GRAVITY;
    double height = itm_data_get_body_pose(m, d, 0).p.z - RADIUS;
    printf("weight %.4f N, lies %.1e m above the plate\n", weight, height);

    itm_data_destroy(d);
    itm_model_destroy(m);
    // approaches slower than restitution_speed do not bounce, which shortens the series by at most 2 v / (g (1 - e)), 7 ms; each
    // bounce may come a step early
    bool is_in_time = fabs(last - exact) < 2.0 * slowest / (GRAVITY * (1.0 - RESTITUTION)) + bounces * STEP;
    // a gap of 1e-12 m is a speed of 1e-8 m/s in one step, beside the g h = 1e-3 m/s that the force takes back; observed 1e-7
    bool is_carried = fabs(force - weight) < 1e-5 * weight;
    return is_in_time && is_carried && fabs(height) < 1e-6 ? 0 : 1;
}
