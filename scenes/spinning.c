// Bodies that spin: the heavy symmetric top in steady precession, and a free asymmetric body.
#include "scenes/scene.h"
#include "scenes/scenes.h"
#include "scenes/numbers.h"

#include <math.h>

// ---------------------------------------------------------------------------- top

#define TOP_MASS 1.0
#define TOP_ARM 0.1           // tip to centre of mass, m
#define TOP_AXIAL 0.002       // about its axis, kg m^2
#define TOP_TRANSVERSE 0.0015 // across it through the centre of mass, kg m^2
#define TOP_SPIN 150.0        // angular velocity along its axis, rad/s

double itm_top_compute_precession(double tilt)
{
    // I1 W^2 cos(tilt) - I3 w3 W + m g c = 0, about the tip; the slow root, written without cancellation
    double a = (TOP_TRANSVERSE + TOP_MASS * TOP_ARM * TOP_ARM) * cos(tilt);
    double b = TOP_AXIAL * TOP_SPIN;
    double c = TOP_MASS * ITM_SCENE_GRAVITY * TOP_ARM;
    return 2 * c / (b + sqrt(b * b - 4 * a * c));
}

ItmStatus itm_top_build(ItmModel** model, ItmCoordinates coordinates, double tilt, ItmError* error)
{
    ItmScene scene = itm_scene_begin(coordinates, (ItmVec3){0, 0, -ITM_SCENE_GRAVITY}, error);
    ItmBodyDef body = itm_default_body_def();
    body.name = "top";
    body.mass = TOP_MASS;
    body.com = (ItmVec3){0, 0, TOP_ARM};
    body.inertia = (ItmSym3){.xx = TOP_TRANSVERSE, .yy = TOP_TRANSVERSE, .zz = TOP_AXIAL};
    body.has_pose = true;
    body.pose.q = (ItmQuat){cos(0.5 * tilt), 0, sin(0.5 * tilt), 0};
    // omega = W ez + (w3 - W cos(tilt)) e3
    double precession = itm_top_compute_precession(tilt);
    double spin = TOP_SPIN - precession * cos(tilt);
    body.angular_velocity = (ItmVec3){spin * sin(tilt), 0, precession + spin * cos(tilt)};

    ItmJointDef tip = itm_default_joint_def(ITM_JOINT_SPHERICAL);
    tip.name = "tip";
    tip.body_a = ITM_GROUND;
    tip.body_b = itm_scene_add_body(&scene, &body);
    itm_scene_add_joint(&scene, &tip);
    return itm_scene_finish(&scene, model);
}

// ---------------------------------------------------------------------------- free body

ItmStatus itm_free_body_build(ItmModel** model, ItmCoordinates coordinates, ItmError* error)
{
    ItmScene scene = itm_scene_begin(coordinates, (ItmVec3){0, 0, 0}, error);
    ItmBodyDef body = itm_default_body_def();
    body.name = "body";
    body.mass = 2;
    body.inertia = (ItmSym3){.xx = 1, .yy = 2, .zz = 2.5};
    body.has_pose = true;
    body.angular_velocity = (ItmVec3){0.1, 3, 0.05};
    itm_scene_add_body(&scene, &body);
    return itm_scene_finish(&scene, model);
}
