#include "mlcp/friction.h"

#include "math/vec.h"

static double clamp(double x, double lo, double up)
{
    return x < lo ? lo : x > up ? up : x;
}

static bool is_pair(const ItmMlcpContact* c)
{
    return c->law != ITM_FRICTION_BOX && c->tangent[1] != ITM_NONE;
}

// ---------------------------------------------------------------------------- tangents for a given bound

// Outside, the nearest point lies on the edge whose sector (in angle) holds t unless t is beyond one end of that edge; then it is
// the corner.
int itm_friction_project_polygon(double* t, double r, int k)
{
    double step = 2.0 * ITM_PI / k;
    double angle = atan2(t[1], t[0]);
    angle = angle < 0.0 ? angle + 2.0 * ITM_PI : angle;
    int j = (int)(angle / step);
    j = j < k ? j : k - 1;

    // edge j: outward normal e at the middle angle, half length s, distance a from the centre
    double middle = (j + 0.5) * step;
    double e[2] = {cos(middle), sin(middle)};
    double a = r * cos(0.5 * step), s = r * sin(0.5 * step);
    double along = -e[1] * t[0] + e[0] * t[1];
    if (e[0] * t[0] + e[1] * t[1] <= a) {
        return -1;
    }
    int part = j;
    if (along > s || along < -s) {
        int corner = along > s ? (j + 1) % k : j;
        part = k + corner;
        along = along > s ? s : -s;
    }
    t[0] = a * e[0] - along * e[1];
    t[1] = a * e[1] + along * e[0];
    return part;
}

void itm_friction_project_tangents(const ItmMlcpContact* c, double* t, double r)
{
    if (!is_pair(c)) {
        for (int k = 0; k < 2 && c->tangent[k] != ITM_NONE; k++) {
            t[k] = clamp(t[k], -r, r);
        }
    } else if (c->law == ITM_FRICTION_PYRAMID) {
        itm_friction_project_polygon(t, r, c->ndirection);
    } else {
        itm_friction_project_disc(t, r);
    }
}

// ---------------------------------------------------------------------------- normal and tangents

// The nearest n is the minimum of (n' - n)^2 plus the squares of what sticks out there, for one of the three sets of tangents that
// can do so.
static void project_box(double* n, double* t, double mu)
{
    double large = fmax(fabs(t[0]), fabs(t[1])), small = fmin(fabs(t[0]), fabs(t[1]));
    double normal = *n;
    if (large > mu * normal) {
        normal = (*n + mu * large) / (1.0 + mu * mu);
        if (small > mu * normal) {
            normal = (*n + mu * (large + small)) / (1.0 + 2.0 * mu * mu);
        }
    }
    *n = fmax(0.0, normal);
    for (int k = 0; k < 2; k++) {
        t[k] = clamp(t[k], -mu * *n, mu * *n);
    }
}

// By symmetry the nearest point is in the sector of t: on its face, or on the corner next to t, or the apex.
static void project_pyramid(double* n, double* t, double mu, int k)
{
    double half = ITM_PI / k, middle = (floor(atan2(t[1], t[0]) / (2.0 * half)) + 0.5) * 2.0 * half;
    double e[2] = {cos(middle), sin(middle)}, apothem = mu * cos(half), side = mu * sin(half);
    double out = (e[0] * t[0] + e[1] * t[1] - apothem * *n) / (1.0 + apothem * apothem);
    if (out <= 0.0) {
        return;
    }
    double normal = *n + apothem * out, along = e[0] * t[1] - e[1] * t[0];
    if (fabs(along) <= side * normal) {
        *n = normal;
        t[0] -= out * e[0];
        t[1] -= out * e[1];
        return;
    }
    double corner = along > 0.0 ? middle + half : middle - half, c = mu * cos(corner), s = mu * sin(corner);
    *n = fmax(0.0, (*n + c * t[0] + s * t[1]) / (1.0 + mu * mu));
    t[0] = c * *n;
    t[1] = s * *n;
}

static void project_cone(double* n, double* t, double mu)
{
    double size = itm_friction_length(t);
    if (size <= mu * *n) {
        return;
    }
    if (mu * size <= -*n) {
        *n = t[0] = t[1] = 0.0;
        return;
    }
    double normal = (*n + mu * size) / (1.0 + mu * mu);
    double scale = mu * normal / size;
    *n = normal;
    t[0] *= scale;
    t[1] *= scale;
}

void itm_friction_project(const ItmMlcpContact* c, double* n, double* t)
{
    if (c->law == ITM_FRICTION_BOX) {
        project_box(n, t, c->mu);
    } else if (c->law == ITM_FRICTION_PYRAMID) {
        project_pyramid(n, t, c->mu, c->ndirection);
    } else {
        project_cone(n, t, c->mu);
    }
}

// ---------------------------------------------------------------------------- tests

static bool is_inside_polygon(double radius, const double* t, int k)
{
    double apothem = radius * cos(ITM_PI / k);
    for (int j = 0; j < k; j++) {
        double angle = (2 * j + 1) * ITM_PI / k;
        if (t[0] * cos(angle) + t[1] * sin(angle) > apothem) {
            return false;
        }
    }
    return true;
}

bool itm_friction_contains(const ItmMlcpContact* c, double n, const double* t, double tolerance)
{
    double radius = c->mu * n + tolerance;
    if (!is_pair(c)) {
        return fabs(t[0]) <= radius && (c->tangent[1] == ITM_NONE || fabs(t[1]) <= radius);
    }
    return c->law == ITM_FRICTION_CONE ? t[0] * t[0] + t[1] * t[1] <= radius * radius
                                       : is_inside_polygon(radius, t, c->ndirection);
}

// Over the disc p is -mu w / |w|, over a polygon one of its corners.
bool itm_friction_opposes(const ItmMlcpContact* c, const double* p, const double* w, double tolerance)
{
    double along = w[0] * p[0] + w[1] * p[1];
    if (c->law == ITM_FRICTION_PYRAMID) {
        double least = INFINITY;
        for (int j = 0; j < c->ndirection; j++) {
            double angle = 2 * j * ITM_PI / c->ndirection;
            least = fmin(least, c->mu * (w[0] * cos(angle) + w[1] * sin(angle)));
        }
        return along <= least + tolerance;
    }
    double across = w[0] * p[1] - w[1] * p[0];
    return along <= tolerance && fabs(across) <= fmax(1e-7 * fabs(along), tolerance);
}
