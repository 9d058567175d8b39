// Friction laws as sets: the tangential impulses t that a contact may have beside its normal impulse n,
//   box       |t_1|, |t_2| <= mu n
//   pyramid   t in the regular polygon with corners mu n (cos, sin)(2 pi j / ndirection)
//   cone      |t| <= mu n
// Every solver projects onto these sets, and every test of sticking and sliding asks them.
#ifndef ITM_MLCP_FRICTION_H
#define ITM_MLCP_FRICTION_H

#include "interim/mlcp.h"

#include <math.h>

// |t|. hypot guards against overflow, which scaled impulses and velocities are far from, and takes ten times as long.
static inline double itm_friction_length(const double* t)
{
    return sqrt(t[0] * t[0] + t[1] * t[1]);
}

// Nearest point of the disc of radius r, in place.
static inline void itm_friction_project_disc(double* t, double r)
{
    double square = t[0] * t[0] + t[1] * t[1];
    if (square > r * r) {
        double scale = r / sqrt(square);
        t[0] *= scale;
        t[1] *= scale;
    }
}

// Nearest point of the polygon with k corners at radius r, in place. Returns the part it lies on: -1 inside, j on edge j, k + j at corner j.
int itm_friction_project_polygon(double* t, double r, int k);
// Nearest tangential impulse for a bound r = mu n; contact with one tangent: t[0] only.
void itm_friction_project_tangents(const ItmMlcpContact* c, double* t, double r);
// Nearest pair of normal and tangential impulse, in place; contact with two tangents.
void itm_friction_project(const ItmMlcpContact* c, double* n, double* t);

// Whether the tangential impulse is admissible for n; the bound is enlarged by `tolerance`.
bool itm_friction_contains(const ItmMlcpContact* c, double n, const double* t, double tolerance);
// Whether sliding with velocity w opposes friction t = p n as the law demands: over the set, p minimises w . p. Contact with two
// tangents, cone or pyramid.
bool itm_friction_opposes(const ItmMlcpContact* c, const double* p, const double* w, double tolerance);

#endif
