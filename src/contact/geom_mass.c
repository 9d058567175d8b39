// Mass properties of homogeneous solids. Polyhedra by the divergence theorem: a sum over tetrahedra from
// a common tip to the triangles of the surface, each with its sign.
#include "contact/geom.h"

#include "base/error.h"

// Volume integrals of 1, x, and x x' about the tip.
typedef struct Moments {
    double volume;                  // m^3
    ItmVec3 first;                  // m^4
    double xx, yy, zz, xy, xz, yz;  // m^5
} Moments;

// Tetrahedron (0, a, b, c): volume V = a . (b x c) / 6, mean (a + b + c) / 4, and
// integral of x y = V / 20 (sum_k x_k y_k + (sum x)(sum y)).
static void add_tetrahedron(Moments* m, ItmVec3 a, ItmVec3 b, ItmVec3 c)
{
    double v = itm_vec_dot(a, itm_vec_cross(b, c)) / 6;
    ItmVec3 s = itm_vec_add(a, itm_vec_add(b, c));
    m->volume += v;
    m->first = itm_vec_axpy(v / 4, s, m->first);
    m->xx += v / 20 * (a.x * a.x + b.x * b.x + c.x * c.x + s.x * s.x);
    m->yy += v / 20 * (a.y * a.y + b.y * b.y + c.y * c.y + s.y * s.y);
    m->zz += v / 20 * (a.z * a.z + b.z * b.z + c.z * c.z + s.z * s.z);
    m->xy += v / 20 * (a.x * a.y + b.x * b.y + c.x * c.y + s.x * s.y);
    m->xz += v / 20 * (a.x * a.z + b.x * b.z + c.x * c.z + s.x * s.z);
    m->yz += v / 20 * (a.y * a.z + b.y * b.z + c.y * c.z + s.y * s.z);
}

static Moments integrate_hull(const ItmHull* hull, ItmVec3 tip)
{
    Moments m = {0};
    for (int f = 0; f < hull->nface; f++) {
        const int* corner = hull->face_corners + hull->face_adr[f];
        int n = hull->face_adr[f + 1] - hull->face_adr[f];
        for (int k = 1; k + 1 < n; k++) {
            add_tetrahedron(&m, itm_vec_sub(hull->vertices[corner[0]], tip),
                            itm_vec_sub(hull->vertices[corner[k]], tip),
                            itm_vec_sub(hull->vertices[corner[k + 1]], tip));
        }
    }
    return m;
}

static Moments integrate_mesh(const ItmMeshGeom* mesh, ItmVec3 tip)
{
    Moments m = {0};
    for (int t = 0; t < mesh->ntriangle; t++) {
        const int* corner = mesh->triangles + 3 * t;
        add_tetrahedron(&m, itm_vec_sub(mesh->vertices[corner[0]], tip), itm_vec_sub(mesh->vertices[corner[1]], tip),
                        itm_vec_sub(mesh->vertices[corner[2]], tip));
    }
    return m;
}

// Sphere, capsule and cylinder have a diagonal second moment about the origin. A half ball has its centroid
// 3/8 r from its flat side and, per unit volume, the second moment r^2 / 5 about it.
static Moments integrate_round(const ItmGeom* geom)
{
    double r = geom->radius, l = geom->half_length;
    double ball = geom->kind == ITM_GEOM_CYLINDER ? 0 : 4.0 / 3.0 * ITM_PI * r * r * r;
    double middle = 2 * l * ITM_PI * r * r;
    double across = middle * r * r / 4 + ball * r * r / 5;
    double along = middle * l * l / 3 + ball * (r * r / 5 + l * l + 0.75 * r * l);
    return (Moments){.volume = ball + middle, .xx = across, .yy = across, .zz = along};
}

static ItmStatus check_mesh(const ItmMeshGeom* mesh, ItmError* error)
{
    int borders = 0, first = ITM_NONE;
    for (int e = 0; e < 3 * mesh->ntriangle; e++) {
        if (mesh->across[e] == ITM_NONE) {
            first = borders++ == 0 ? e / 3 : first;
        }
    }
    if (borders > 0) {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, "mesh",
                             "the mesh is not closed: %d edges have no matching neighbour, first at triangle %d; "
                             "close it, or give the mass",
                             borders, first);
    }
    return ITM_OK;
}

ItmStatus itm_geom_compute_mass(double* mass, ItmVec3* com, ItmSym3* inertia, const ItmGeom* geom, double density,
                                ItmError* error)
{
    if (!(density > 0 && density < 1e100)) {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, "density", "density must be positive, got %g kg/m^3",
                             density);
    }
    if (geom->kind == ITM_GEOM_PLANE || geom->kind == ITM_GEOM_FIELD) {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, "shape", "a %s encloses no volume",
                             itm_geom_kind_name(geom->kind));
    }
    // the middle of the bounds as tip keeps the terms of the sum small
    ItmVec3 tip = itm_vec_scale(0.5, itm_vec_add(geom->bounds.lo, geom->bounds.hi));
    Moments m;
    if (geom->kind == ITM_GEOM_MESH) {
        ItmStatus status = check_mesh(&geom->mesh, error);
        if (status != ITM_OK) {
            return status;
        }
        m = integrate_mesh(&geom->mesh, tip);
        double rounding = 1e-12 * geom->size * geom->size * geom->size;
        if (!(m.volume > rounding)) {
            return itm_error_set(error, ITM_ERR_INPUT, __func__, "mesh",
                                 m.volume < -rounding
                                     ? "the triangles of the mesh face inwards (volume %g m^3): turn them round"
                                     : "the mesh encloses no volume (%g m^3)",
                                 m.volume);
        }
    } else if (geom->kind == ITM_GEOM_BOX || geom->kind == ITM_GEOM_HULL) {
        m = integrate_hull(&geom->hull, tip);
    } else {
        m = integrate_round(geom);
    }
    // about the centre c = first / V: integral of (x - c)(y - c) = integral of x y - V c c
    ItmVec3 c = itm_vec_scale(1.0 / m.volume, m.first);
    double xx = m.xx - m.volume * c.x * c.x, yy = m.yy - m.volume * c.y * c.y, zz = m.zz - m.volume * c.z * c.z;
    *mass = density * m.volume;
    *com = itm_vec_add(tip, c);
    *inertia = (ItmSym3){.xx = density * (yy + zz),
                         .yy = density * (xx + zz),
                         .zz = density * (xx + yy),
                         .xy = -density * (m.xy - m.volume * c.x * c.y),
                         .xz = -density * (m.xz - m.volume * c.x * c.z),
                         .yz = -density * (m.yz - m.volume * c.y * c.z)};
    return ITM_OK;
}
