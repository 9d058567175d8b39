// Force of a cylinder: pressures, friction, end dampers. In a header because it is asked for twice a micro step and cylinder, mostly for
// its total only; compiled where it is used, the rest costs nothing.
#ifndef ITM_HYDRAULICS_CYLINDER_H
#define ITM_HYDRAULICS_CYLINDER_H

#include "hydraulics/circuit.h"

#include <math.h>

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

static inline ItmCylinderForce itm_cylinder_compute_force(const ItmCylinder* cylinder, double p_1, double p_2, double s,
                                                          double w)
{
    double l_1 = s - cylinder->s_0;
    double slip = w * cylinder->inv_speed;
    ItmCylinderForce force = {
        .pressure = p_1 * cylinder->area_1 - p_2 * cylinder->area_2,
        .viscous = -cylinder->viscous * w,
        .seal = -cylinder->coulomb * (slip < -1.0  ? -1.0
                                      : slip > 1.0 ? 1.0
                                                   : slip),
        .damper = itm_cylinder_compute_damper(cylinder, l_1, w),
        .rate_derivative = -cylinder->viscous,
    };
    force.rate_derivative -= fabs(slip) < 1.0 ? cylinder->coulomb * cylinder->inv_speed : 0.0;
    force.rate_derivative -= itm_cylinder_is_in_damper(cylinder, l_1) ? cylinder->damper_damping : 0.0;
    force.total = force.pressure + force.viscous + force.seal + force.damper;
    return force;
}

// dF/ds of the end dampers.
static inline double itm_cylinder_compute_stiffness(const ItmCylinder* cylinder, double s)
{
    return itm_cylinder_is_in_damper(cylinder, s - cylinder->s_0) ? -cylinder->damper_stiffness : 0.0;
}

#endif
