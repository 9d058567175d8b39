// Uniform beams: their modes (beam_modes.c), the shapes of these at a station, and the tables of sums over the mass.
#include "multibody/beam_modes.h"

#include "math/legendre.h"
#include "multibody/moments.h"

#include <stdlib.h>
#include <string.h>

#define FIXED_WITHIN 1e-9  // of the length: nearer to a clamped end is the clamped end

// ---------------------------------------------------------------------------- creation

// Modes as asked for, without static shapes.
static int count_asked(const ItmBeamDef* def)
{
    return def->modes_y + def->modes_z + def->modes_axial + def->modes_torsion;
}

const ItmBeamDef* itm_beam_get_def(const ItmBeam* beam)
{
    return &beam->def;
}

int itm_beam_count_modes(const ItmBeam* beam)
{
    return beam->n;
}

ItmStatus itm_beam_create(ItmBeam** beam, const ItmBeamDef* def)
{
    int n = count_asked(def) + 6 * def->nstation;
    int most = def->modes_y > def->modes_z ? def->modes_y : def->modes_z;
    most = def->modes_axial > most ? def->modes_axial : most;
    most = def->modes_torsion > most ? def->modes_torsion : most;
    ItmBeam* b = calloc(1, sizeof *b);
    if (b == NULL) {
        return ITM_ERR_MEMORY;
    }
    b->def = *def;
    b->nmode_asked = count_asked(def);
    b->nseries = itm_beam_modes_count_terms(most) + 2;
    b->modes = calloc((size_t)n + 1, sizeof *b->modes);
    b->block = calloc((size_t)n * (size_t)(3 * b->nseries) + 1, sizeof(double));
    ItmStatus status = b->modes != NULL && b->block != NULL ? ITM_OK : ITM_ERR_MEMORY;
    const int counts[] = {[ITM_BEAM_AXIAL] = def->modes_axial,
                          [ITM_BEAM_ALONG_Y] = def->modes_y,
                          [ITM_BEAM_ALONG_Z] = def->modes_z,
                          [ITM_BEAM_TORSION] = def->modes_torsion};
    static const ItmBeamDirection ORDER[] = {ITM_BEAM_ALONG_Y, ITM_BEAM_ALONG_Z, ITM_BEAM_AXIAL, ITM_BEAM_TORSION};
    for (int i = 0; status == ITM_OK && i < 4; i++) {
        status = itm_beam_modes_add(b, ORDER[i], counts[ORDER[i]]);
    }
    b->def.stations = NULL;
    b->def.nstation = 0;
    if (status != ITM_OK) {
        itm_beam_destroy(b);
        return status;
    }
    *beam = b;
    return ITM_OK;
}

void itm_beam_destroy(ItmBeam* beam)
{
    if (beam != NULL) {
        free(beam->modes);
        free(beam->block);
        free(beam);
    }
}

// ---------------------------------------------------------------------------- shapes

double itm_beam_find_station(const ItmBeam* beam, ItmVec3 point)
{
    return fmin(fmax(point.x, 0.0), beam->def.length);
}

bool itm_beam_is_fixed_at(const ItmBeam* beam, double x)
{
    ItmBeamEnds ends = beam->def.ends;
    if (beam->nmode_asked == 0) {
        return true;
    }
    bool is_start_clamped =
        ends == ITM_BEAM_CLAMPED_FREE || ends == ITM_BEAM_CLAMPED_PINNED || ends == ITM_BEAM_CLAMPED_CLAMPED;
    double near = FIXED_WITHIN * beam->def.length;
    return (is_start_clamped && x <= near) || (ends == ITM_BEAM_FREE_CLAMPED && x >= beam->def.length - near);
}

// Displacement (lin) and rotation (ang) of a section in a mode.
static ItmSpatial shape_of(const ItmBeam* beam, const ItmBeamMode* mode, double s)
{
    double value = itm_legendre_compute(mode->series, beam->nseries, s);
    double turn = itm_legendre_compute(mode->series + beam->nseries, beam->nseries, s);
    switch (mode->direction) {
    case ITM_BEAM_AXIAL:
        return (ItmSpatial){{0, 0, 0}, {value, 0, 0}};
    case ITM_BEAM_ALONG_Y:
        return (ItmSpatial){{0, 0, turn}, {0, value, 0}};
    case ITM_BEAM_ALONG_Z:
        return (ItmSpatial){{0, -turn, 0}, {0, 0, value}};
    default:
        return (ItmSpatial){{value, 0, 0}, {0, 0, 0}};
    }
}

void itm_beam_compute_shape(const ItmBeam* beam, ItmSpatial* shape, double x)
{
    for (int k = 0; k < beam->n; k++) {
        shape[k] = shape_of(beam, &beam->modes[k], 2.0 * x / beam->def.length - 1.0);
    }
}

// Gauss points that integrate products of two modes and a quadratic exactly, with room for the slopes of all modes.
typedef struct Gauss {
    int n;
    double *s, *w;
    double* slope;  // (modes)
} Gauss;

static ItmStatus make_gauss(Gauss* g, const ItmBeam* beam)
{
    g->n = beam->nseries + 2;
    g->s = malloc(sizeof(double) * (size_t)(2 * g->n + beam->n));
    if (g->s == NULL) {
        return ITM_ERR_MEMORY;
    }
    g->w = g->s + g->n;
    g->slope = g->w + g->n;
    itm_legendre_gauss(g->s, g->w, g->n);
    return ITM_OK;
}

// Slope of the axis in a mode, 0 for rods.
static double slope_of(const ItmBeam* beam, const ItmBeamMode* mode, double s)
{
    bool is_bending = mode->direction == ITM_BEAM_ALONG_Y || mode->direction == ITM_BEAM_ALONG_Z;
    return is_bending ? itm_legendre_compute(mode->series + 2 * beam->nseries, beam->nseries, s) : 0.0;
}

// out_kl += weight(i) slope_k slope_l over Gauss points of [0, to], same direction only; `kind` chooses the weight:
//   0  1: Gamma from the start      1  L - x: integral of Gamma        2  (L^2/4 - (x - L/2)^2) / 2: of (x - L/2) Gamma
static void add_slopes(const ItmBeam* beam, double* out, const Gauss* g, double to, int kind)
{
    int n = beam->n;
    double L = beam->def.length;
    for (int i = 0; i < g->n; i++) {
        double x = 0.5 * to * (1.0 + g->s[i]), off = x - 0.5 * L;
        double weight = kind == 0 ? 1.0 : kind == 1 ? L - x : 0.5 * (0.25 * L * L - off * off);
        for (int k = 0; k < n; k++) {
            g->slope[k] = slope_of(beam, &beam->modes[k], 2.0 * x / L - 1.0);
        }
        for (int k = 0; k < n; k++) {
            for (int l = 0; l < n; l++) {
                if (beam->modes[l].direction == beam->modes[k].direction) {
                    out[k * n + l] += 0.5 * to * g->w[i] * weight * g->slope[k] * g->slope[l];
                }
            }
        }
    }
}

// Shortening of the axis is counted from where the frame holds the beam; without such a place its mean is zero.
//   Gamma(x) = integral of slope slope' from 0 to x, less that up to there
static void subtract_reference(const ItmBeam* beam, double* gamma, const Gauss* g)
{
    int n = beam->n;
    double L = beam->def.length;
    bool is_mean = beam->def.ends == ITM_BEAM_FREE_FREE;
    if (!is_mean && beam->def.ends != ITM_BEAM_FREE_CLAMPED) {
        return;
    }
    for (int k = 0; k < n * n; k++) {
        gamma[k] *= -(is_mean ? L : 1.0);
    }
    add_slopes(beam, gamma, g, L, is_mean ? 1 : 0);
    for (int k = 0; k < n * n; k++) {
        gamma[k] *= -(is_mean ? 1.0 / L : 1.0);
    }
}

ItmStatus itm_beam_compute_shortening(const ItmBeam* beam, double* gamma, double x)
{
    Gauss g;
    ItmStatus status = make_gauss(&g, beam);
    if (status != ITM_OK) {
        return status;
    }
    memset(gamma, 0, sizeof(double) * (size_t)(beam->n * beam->n));
    add_slopes(beam, gamma, &g, x, 0);
    subtract_reference(beam, gamma, &g);
    free(g.s);
    return ITM_OK;
}

// ---------------------------------------------------------------------------- tables

// Sums over the mass, at one Gauss point with dx = weight.
static void add_point(const ItmBeam* beam, ItmElasticTables* t, ItmSpatial* shape, double x, double weight)
{
    const ItmBeamDef* b = &beam->def;
    int n = beam->n;
    double dm = b->density * b->area * weight, dI = b->density * weight;
    // Euler-Bernoulli: sections have rotary inertia in torsion only
    bool has_rotary = b->theory == ITM_BEAM_TIMOSHENKO;
    ItmVec3 inertia = itm_vec(dI * (b->moment_y + b->moment_z), has_rotary ? dI * b->moment_y : 0.0,
                              has_rotary ? dI * b->moment_z : 0.0);
    ItmVec3 s = itm_vec(x - 0.5 * b->length, 0, 0);
    itm_beam_compute_shape(beam, shape, x);
    for (int k = 0; k < n; k++) {
        ItmVec3 phi = shape[k].lin, psi = shape[k].ang;
        t->S[k] = itm_vec_axpy(dm, phi, t->S[k]);
        t->P[k] = itm_vec_add(t->P[k], itm_vec(inertia.x * psi.x, inertia.y * psi.y, inertia.z * psi.z));
        itm_moment_add(&t->B[k], dm, s, phi);
        for (int l = 0; l < n; l++) {
            itm_moment_add(&t->E[k * n + l], dm, phi, shape[l].lin);
        }
    }
}

static void fill_body(const ItmBeamDef* b, ItmElastic* e)
{
    e->mass = b->density * b->area * b->length;
    e->com = itm_vec(0.5 * b->length, 0, 0);
    e->axis_moment = e->mass * b->length * b->length / 12.0;
    double across = e->axis_moment, line = b->density * b->length;
    e->inertia = (ItmSym3){
        .xx = line * (b->moment_y + b->moment_z), .yy = across + line * b->moment_y, .zz = across + line * b->moment_z};
}

// G = sum m Gamma and G1 = sum m (x - L/2) Gamma
static void fill_shortening(const ItmBeam* beam, ItmElasticTables* t, const Gauss* g)
{
    int n2 = beam->n * beam->n;
    double L = beam->def.length, line = beam->def.density * beam->def.area;
    if (beam->def.ends == ITM_BEAM_FREE_CLAMPED) {
        // integral of L - x, less L: -x
        add_slopes(beam, t->G, g, L, 0);
        for (int k = 0; k < n2; k++) {
            t->G[k] *= -L;
        }
    }
    if (beam->def.ends != ITM_BEAM_FREE_FREE) {
        add_slopes(beam, t->G, g, L, 1);
    }
    add_slopes(beam, t->G1, g, L, 2);
    for (int k = 0; k < n2; k++) {
        t->G[k] *= line;
        t->G1[k] *= line;
    }
}

ItmStatus itm_beam_fill(const ItmBeam* beam, ItmElastic* e)
{
    Gauss g;
    double L = beam->def.length;
    ItmSpatial* shape = malloc(sizeof(ItmSpatial) * (size_t)(beam->n + 1));
    if (shape == NULL || make_gauss(&g, beam) != ITM_OK) {
        free(shape);
        return ITM_ERR_MEMORY;
    }
    fill_body(&beam->def, e);
    for (int i = 0; i < g.n; i++) {
        add_point(beam, &e->tables, shape, 0.5 * L * (1.0 + g.s[i]), 0.5 * L * g.w[i]);
    }
    for (int k = 0; k < beam->n; k++) {
        e->tables.mass[k] = beam->modes[k].mass;
        e->tables.stiffness[k] = beam->modes[k].stiffness;
    }
    fill_shortening(beam, &e->tables, &g);
    free(shape);
    free(g.s);
    return ITM_OK;
}
