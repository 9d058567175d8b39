// Physical pendulum and double pendulum of rods that hang along -z at angle 0 and swing about y.
#include "scenes/scene.h"
#include "scenes/scenes.h"
#include "scenes/numbers.h"

#include <math.h>

#define PI 3.14159265358979323846

static int add_rod(ItmScene* scene, const char* name)
{
    ItmBodyDef def = itm_default_body_def();
    def.name = name;
    def.mass = 1;
    def.com = (ItmVec3){0, 0, -0.5};
    def.inertia = (ItmSym3){.xx = 1.0 / 12, .yy = 1.0 / 12, .zz = 1e-3};
    return itm_scene_add_body(scene, &def);
}

static void add_hinge(ItmScene* scene, const char* name, int body_a, ItmVec3 at, int body_b,
                      double angle)
{
    ItmJointDef def =
        itm_scene_hinge(name, body_a, at, body_b, (ItmVec3){0, 0, 0}, (ItmVec3){0, 1, 0});
    itm_scene_set_start(&def, ITM_RZ, angle, 0);
    itm_scene_add_joint(scene, &def);
}

ItmStatus itm_pendulum_build(ItmModel** model, ItmCoordinates coordinates, double amplitude,
                             ItmError* error)
{
    ItmScene scene = itm_scene_begin(coordinates, (ItmVec3){0, 0, -ITM_SCENE_GRAVITY}, error);
    int rod = add_rod(&scene, "rod");
    add_hinge(&scene, "hinge", ITM_GROUND, (ItmVec3){0, 0, 0}, rod, amplitude);
    return itm_scene_finish(&scene, model);
}

double itm_pendulum_compute_period(double amplitude)
{
    // T = 4 sqrt(I / (m g c)) K(sin(amplitude / 2)),  K(k) = pi / (2 agm(1, sqrt(1 - k^2)))
    double a = 1, g = cos(0.5 * amplitude);
    while (fabs(a - g) > 1e-15 * a) {
        double mean = 0.5 * (a + g);
        g = sqrt(a * g);
        a = mean;
    }
    double inertia = 1.0 / 3, arm = 0.5;
    return 2 * PI * sqrt(inertia / (ITM_SCENE_GRAVITY * arm)) / a;
}

ItmStatus itm_double_pendulum_build(ItmModel** model, ItmCoordinates coordinates,
                                    double angle_upper, double angle_lower, ItmError* error)
{
    ItmScene scene = itm_scene_begin(coordinates, (ItmVec3){0, 0, -ITM_SCENE_GRAVITY}, error);
    int upper = add_rod(&scene, "upper");
    int lower = add_rod(&scene, "lower");
    add_hinge(&scene, "shoulder", ITM_GROUND, (ItmVec3){0, 0, 0}, upper, angle_upper);
    add_hinge(&scene, "elbow", upper, (ItmVec3){0, 0, -1}, lower, angle_lower);
    return itm_scene_finish(&scene, model);
}
