// Force of a cylinder or torque of a motor: pressures, friction, end dampers. In a header because it is computed twice per micro step
// and cylinder, mostly for its total only; compiled where it is used, the rest costs nothing.
#ifndef ITM_HYDRAULICS_CYLINDER_H
#define ITM_HYDRAULICS_CYLINDER_H

#include "hydraulics/data.h"

#include <math.h>

// Part of the stroke that a chamber keeps as volume at its end, so that its pressure stays defined there.
#define ITM_CYLINDER_LEAST 1e-3

// Extension l_1 of a cylinder at length s.
static inline double itm_cylinder_get_extension(const ItmHydraulics* d, int i, double s)
{
    return s - d->s_0[i];
}

// End dampers: springs and dampers over the last damper_length of either side. With the sign that pushes the piston
// off its end stop; the printed one pulls it in.                             [cranes, eq. 34]
static inline double itm_cylinder_compute_damper(const ItmCylinder* cylinder, double l_1, double w)
{
    double l_2 = cylinder->stroke - l_1, l_d = cylinder->damper_length;
    if (l_1 <= l_d && l_d > 0.0) {
        return cylinder->damper_stiffness * (l_d - l_1) - cylinder->damper_damping * w;
    }
    if (l_2 <= l_d && l_d > 0.0) {
        return -cylinder->damper_stiffness * (l_d - l_2) - cylinder->damper_damping * w;
    }
    return 0.0;
}

static inline bool itm_cylinder_is_in_damper(const ItmCylinder* cylinder, double l_1)
{
    double l_d = cylinder->damper_length;
    return l_d > 0.0 && (l_1 <= l_d || cylinder->stroke - l_1 <= l_d);
}

// w over the speed at which seal friction is full, within [-1, 1]
static inline double itm_cylinder_compute_slip(const ItmCylinder* cylinder, double w)
{
    double slip = w * cylinder->inv_speed;
    return slip < -1.0 ? -1.0 : slip > 1.0 ? 1.0 : slip;
}

// setting: part of the displacement of a motor, 1 otherwise
static inline ItmCylinderForce itm_cylinder_compute_force(const ItmCylinder* cylinder, double setting, double p_1,
                                                          double p_2, double l_1, double w)
{
    double pressure = setting * (p_1 * cylinder->area_1 - p_2 * cylinder->area_2);
    double coulomb = cylinder->coulomb + cylinder->pressure_drag * fabs(pressure);
    double slip = itm_cylinder_compute_slip(cylinder, w);
    ItmCylinderForce force = {
        .pressure = pressure,
        .viscous = -cylinder->viscous * w,
        .seal = -coulomb * slip,
        .damper = itm_cylinder_compute_damper(cylinder, l_1, w),
        .rate_derivative = -cylinder->viscous,
    };
    force.rate_derivative -= fabs(slip) < 1.0 ? coulomb * cylinder->inv_speed : 0.0;
    force.rate_derivative -= itm_cylinder_is_in_damper(cylinder, l_1) ? cylinder->damper_damping : 0.0;
    force.total = force.pressure + force.viscous + force.seal + force.damper;
    return force;
}

// Force of cylinder i in the stage just computed.
static inline ItmCylinderForce itm_cylinder_compute_stage_force(const ItmCircuit* c, const ItmHydraulics* d, int i,
                                                                double s, double w)
{
    const ItmCylinder* cylinder = &c->cylinders[i];
    double setting = cylinder->control != ITM_NONE ? d->u[cylinder->control] : 1.0;
    return itm_cylinder_compute_force(cylinder, setting, d->p[cylinder->node_1], d->p[cylinder->node_2],
                                      itm_cylinder_get_extension(d, i, s), w);
}

// dF/ds of the end dampers.
static inline double itm_cylinder_compute_stiffness(const ItmCylinder* cylinder, double l_1)
{
    return itm_cylinder_is_in_damper(cylinder, l_1) ? -cylinder->damper_stiffness : 0.0;
}

#endif
