#include "interim/model.h"

#include "base/error.h"
#include "base/guard.h"
#include "math/vec.h"

#include <math.h>

// Volume, and principal moments about the centre for density 1, along the axes of the shape.
typedef struct Solid {
    double volume;         // m^3
    double ixx, iyy, izz;  // m^5
} Solid;

static Solid measure_box(const double* edge)
{
    double a = edge[0], b = edge[1], c = edge[2];
    double volume = a * b * c;
    return (Solid){volume, volume * (b * b + c * c) / 12, volume * (a * a + c * c) / 12, volume * (a * a + b * b) / 12};
}

static Solid measure_sphere(double r)
{
    double volume = 4.0 / 3.0 * ITM_PI * r * r * r;
    double moment = 0.4 * volume * r * r;
    return (Solid){volume, moment, moment, moment};
}

static Solid measure_cylinder(double r, double length)
{
    double volume = ITM_PI * r * r * length;
    double across = volume * (3 * r * r + length * length) / 12;
    return (Solid){volume, across, across, 0.5 * volume * r * r};
}

// A cylinder with a half sphere on each end. A half sphere has its centroid 3/8 r from its flat
// face; its moment there follows from that about the face, 2/5 m r^2, by the parallel-axis theorem.
static Solid measure_capsule(double r, double length)
{
    Solid middle = measure_cylinder(r, length), ends = measure_sphere(r);
    double centroid = 0.375 * r, arm = 0.5 * length + centroid;
    double across = ends.ixx + ends.volume * (arm * arm - centroid * centroid);
    return (Solid){middle.volume + ends.volume, middle.ixx + across, middle.iyy + across, middle.izz + ends.izz};
}

static Solid measure(const ItmShapeDef* shape)
{
    switch (shape->kind) {
    case ITM_SHAPE_BOX:
        return measure_box(shape->size);
    case ITM_SHAPE_SPHERE:
        return measure_sphere(shape->size[0]);
    case ITM_SHAPE_CYLINDER:
        return measure_cylinder(shape->size[0], shape->size[1]);
    case ITM_SHAPE_CAPSULE:
        return measure_capsule(shape->size[0], shape->size[1]);
    }
    return (Solid){0};
}

static int count_sizes(ItmShapeKind kind)
{
    return kind == ITM_SHAPE_BOX ? 3 : kind == ITM_SHAPE_SPHERE ? 1 : 2;
}

static ItmStatus check_shape(const ItmShapeDef* shape, double density, ItmError* error)
{
    if ((int)shape->kind < ITM_SHAPE_BOX || shape->kind > ITM_SHAPE_CAPSULE) {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, "kind", "unknown kind of shape");
    }
    for (int i = 0; i < count_sizes(shape->kind); i++) {
        if (!(shape->size[i] > 0) || !isfinite(shape->size[i])) {
            return itm_error_set(error, ITM_ERR_INPUT, __func__, "size",
                                 "the size of a shape must be positive, got %g m", shape->size[i]);
        }
    }
    if (!(density > 0) || !isfinite(density)) {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, "density", "density must be positive, got %g kg/m^3",
                             density);
    }
    if (!itm_vec_is_finite(shape->pose.p)) {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, "pose", "position of the shape must be finite");
    }
    ItmQuat q = shape->pose.q;
    double norm2 = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
    if (!(norm2 > 0) || !isfinite(norm2)) {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, "pose",
                             "orientation of the shape is not a rotation: its quaternion is zero or not finite");
    }
    return ITM_OK;
}

ItmStatus itm_shape_compute_mass(double* mass, ItmVec3* com, ItmSym3* inertia, const ItmShapeDef* shape, double density,
                                 ItmError* error)
{
    ITM_GUARD(mass != NULL && com != NULL && inertia != NULL && shape != NULL,
              itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "a required argument is NULL"));
    ItmStatus status = check_shape(shape, density, error);
    if (status != ITM_OK) {
        return status;
    }
    Solid solid = measure(shape);
    ItmSym3 principal = {.xx = density * solid.ixx, .yy = density * solid.iyy, .zz = density * solid.izz};
    ItmMat3 R = itm_quat_to_mat(itm_quat_normalize(shape->pose.q));
    *mass = density * solid.volume;
    *com = shape->pose.p;
    *inertia = itm_sym_rotate(&R, &principal);
    return ITM_OK;
}
