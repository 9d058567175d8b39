// Modes of uniform beams by a Galerkin method in the strains.
//
// Curvature and shear (or the strain of a rod) are expanded in Legendre polynomials e_k, orthonormal and scaled so that the
// elastic energy of any combination z is |z|^2 / 2: the stiffness matrix is the identity. Displacements follow by integrating
// the strains, with the rigid part that the ends ask for; the mass matrix M of these displacements then gives
//   M z = mu z,   omega^2 = 1 / mu
// The slow modes have the largest mu, so they come out to rounding, and the polynomials converge faster than any power: no
// roots of frequency equations, no cosh to overflow, and shear costs nothing extra.
#include "multibody/beam.h"

#include "math/eigen.h"
#include "math/legendre.h"
#include "multibody/moments.h"

#include <stdlib.h>
#include <string.h>

#define FIXED_WITHIN 1e-9    // of the length: nearer to a clamped end is the clamped end
#define DEPENDENT 1e-16      // of the square of a static shape: it is in the span of those before

typedef enum Direction {
    AXIAL,
    ALONG_Y,
    ALONG_Z,
    TORSION,
} Direction;

typedef struct BeamMode {
    Direction direction;
    double mass, stiffness;
    double* series;  // displacement, rotation of the section, slope of the axis (nseries each)
} BeamMode;

struct ItmBeam {
    ItmBeamDef def;
    int n;
    int nmode_asked; // without static shapes; 0: rigid
    int nseries;     // terms of the longest series
    BeamMode* modes; // (n)
    double* block;   // the series
};

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

// ---------------------------------------------------------------------------- strains

// Displacements, rotations and slopes of nstrain unit strains, each a series of ns terms, and what resists them.
typedef struct Strains {
    int nstrain, ns;
    double length;
    double inertia, rotary;          // kg/m (rod in torsion: kg m), kg m
    double *value, *turn, *slope;    // (nstrain x ns)
} Strains;

// Rigid motion a + b (x - x0) added to strain i: to the displacement, b to rotation and slope.
static void add_rigid(Strains* s, int i, double a, double b, double x0)
{
    // x = length / 2 (P_0 + P_1)
    double *v = s->value + i * s->ns, half = 0.5 * s->length;
    v[0] += a + b * (half - x0);
    v[1] += b * half;
    s->turn[i * s->ns] += b;
    s->slope[i * s->ns] += b;
}

static double end_value(const double* series, int ns, bool is_far)
{
    return itm_legendre_compute(series, ns, is_far ? 1.0 : -1.0);
}

// integral of f g over the length
static double inner_product(const double* f, const double* g, int ns, double length)
{
    double sum = 0.0;
    for (int k = 0; k < ns; k++) {
        sum += f[k] * g[k] * length / (2 * k + 1);
    }
    return sum;
}

// The rigid part that the ends ask for. Strains are integrated from the start: without it they are clamped there.
static void hold_strain(Strains* s, int i, ItmBeamEnds ends, bool is_rod)
{
    double L = s->length, *v = s->value + i * s->ns, *turn = s->turn + i * s->ns;
    if (ends == ITM_BEAM_FREE_CLAMPED) {
        double b = is_rod ? 0.0 : -end_value(turn, s->ns, true);
        add_rigid(s, i, -end_value(v, s->ns, true), b, L);
    } else if (ends == ITM_BEAM_PINNED_PINNED && !is_rod) {
        add_rigid(s, i, 0.0, -end_value(v, s->ns, true) / L, 0.0);
    } else if (ends == ITM_BEAM_FREE_FREE) {
        // no linear momentum: mean 0. No angular momentum about the middle: x - L/2 = L/2 P_1, integral with P_1 L/3
        double a = -v[0];
        double b = -(s->inertia * v[1] * L * L / 6.0 + s->rotary * turn[0] * L) /
                   (s->inertia * L * L * L / 12.0 + s->rotary * L);
        add_rigid(s, i, a, is_rod ? 0.0 : b, 0.5 * L);
    }
}

// Basis of one kind: rotations by integrating curvature (is_curvature) and from them displacements, or displacements by
// integrating shear or the strain of a rod.
static void add_basis(Strains* s, int n, double rigidity, bool is_curvature, bool is_rod, ItmBeamEnds ends)
{
    for (int k = 0; k < n; k++) {
        int i = s->nstrain++;
        double *value = s->value + i * s->ns, *turn = s->turn + i * s->ns, *slope = s->slope + i * s->ns;
        // e_k = sqrt((2 k + 1) / (length rigidity)) P_k: unit energy
        double* strain = is_curvature ? value : slope;
        strain[k] = sqrt((2 * k + 1) / (s->length * rigidity));
        if (is_curvature) {
            itm_legendre_integrate(turn, strain, k + 1, s->length);
            memcpy(slope, turn, sizeof(double) * (size_t)s->ns);
            itm_legendre_integrate(value, turn, k + 2, s->length);
        } else {
            itm_legendre_integrate(value, strain, k + 1, s->length);
        }
        hold_strain(s, i, ends, is_rod);
    }
}

// M_ij, kg
static void fill_mass(const Strains* s, double* M)
{
    int n = s->nstrain, ns = s->ns;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = s->inertia * inner_product(s->value + i * ns, s->value + j * ns, ns, s->length) +
                         s->rotary * inner_product(s->turn + i * ns, s->turn + j * ns, ns, s->length);
            M[i * n + j] = M[j * n + i] = sum;
        }
    }
}

// M <- (I - g g') M (I - g g') for the constraint g . z = 0, g of unit length: it leaves mu = 0 on g and nothing else.
static void project_out(double* M, const double* g, double* work, int n)
{
    double gMg = 0.0;
    for (int i = 0; i < n; i++) {
        work[i] = 0.0;
        for (int j = 0; j < n; j++) {
            work[i] += M[i * n + j] * g[j];
        }
        gMg += g[i] * work[i];
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            M[i * n + j] += g[i] * g[j] * gMg - g[i] * work[j] - work[i] * g[j];
        }
    }
}

// Ends held beyond what the integration from the start gives: one constraint g for each, at most two. Returns how many.
static int hold_far_end(const Strains* s, double* M, double* g, double* work, ItmBeamEnds ends, bool is_rod)
{
    int n = s->nstrain, count = 0;
    bool is_held = ends == ITM_BEAM_CLAMPED_CLAMPED || (ends == ITM_BEAM_CLAMPED_PINNED && !is_rod);
    for (int c = 0; is_held && c < (ends == ITM_BEAM_CLAMPED_CLAMPED && !is_rod ? 2 : 1); c++) {
        const double* series = c == 0 ? s->value : s->turn;
        double* g_c = g + c * n;
        for (int i = 0; i < n; i++) {
            g_c[i] = end_value(series + i * s->ns, s->ns, true);
        }
        count++;
    }
    // Gram-Schmidt, then one projection after the other
    for (int c = 0; c < count; c++) {
        double *g_c = g + c * n, along = 0.0, norm = 0.0;
        for (int i = 0; i < n; i++) {
            along += c > 0 ? g_c[i] * g[i] : 0.0;
        }
        for (int i = 0; i < n; i++) {
            g_c[i] -= along * g[i] * (c > 0);
            norm += g_c[i] * g_c[i];
        }
        for (int i = 0; i < n; i++) {
            g_c[i] /= sqrt(norm);
        }
        project_out(M, g_c, work, n);
    }
    return count;
}

// ---------------------------------------------------------------------------- modes

// Scale: 1 at a free end, otherwise (or where that hardly moves) where the displacement is largest.
static double find_scale(const ItmBeam* beam, const double* value)
{
    double largest = 0.0, end = 0.0;
    for (int i = 0; i <= 400; i++) {
        double x = itm_legendre_compute(value, beam->nseries, 0.005 * i - 1.0);
        // of two of the same size the first
        largest = fabs(x) > (1.0 + 1e-9) * fabs(largest) ? x : largest;
    }
    if (beam->def.ends == ITM_BEAM_CLAMPED_FREE || beam->def.ends == ITM_BEAM_FREE_FREE) {
        end = end_value(value, beam->nseries, true);
    } else if (beam->def.ends == ITM_BEAM_FREE_CLAMPED) {
        end = end_value(value, beam->nseries, false);
    }
    return 1.0 / (fabs(end) > 1e-3 * fabs(largest) ? end : largest);
}

// What is left of v (length 1 or 0) beside `count` orthonormal rows of V, of length 1; false where nothing is.
static bool orthogonalize(double* v, const double* V, int count, int n)
{
    double before = 0.0, after = 0.0;
    for (int i = 0; i < n; i++) {
        before += v[i] * v[i];
    }
    // the second pass removes what rounding left of the first
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < count; k++) {
            double along = 0.0;
            for (int i = 0; i < n; i++) {
                along += v[i] * V[k * n + i];
            }
            for (int i = 0; i < n; i++) {
                v[i] -= along * V[k * n + i];
            }
        }
    }
    for (int i = 0; i < n; i++) {
        after += v[i] * v[i];
    }
    for (int i = 0; i < n && after > 0.0; i++) {
        v[i] /= sqrt(after);
    }
    return after > DEPENDENT * before;
}

// Strains under a unit load at the stations: K is the identity, so they are the displacements there of the unit strains (force)
// or the rotations (moment, bending only). held: orthonormal strains that the far end does not allow. Returns how many vectors
// V has now.
static int add_static_shapes(const ItmBeam* beam, const Strains* s, double* V, int count, const double* held, int nheld,
                             bool is_rod)
{
    int n = s->nstrain;
    for (int i = 0; i < beam->def.nstation; i++) {
        double at = 2.0 * beam->def.stations[i] / s->length - 1.0;
        for (int kind = 0; kind < (is_rod ? 1 : 2); kind++) {
            const double* series = kind == 0 ? s->value : s->turn;
            double* v = V + count * n;
            double size = 0.0;
            for (int k = 0; k < n; k++) {
                v[k] = itm_legendre_compute(series + k * s->ns, s->ns, at);
                size += v[k] * v[k];
            }
            // a clamped end does not move at all
            bool is_moving = size > 0.0 && !itm_beam_is_fixed_at(beam, beam->def.stations[i]);
            if (is_moving && orthogonalize(v, held, nheld, n) && orthogonalize(v, V, count, n)) {
                count++;
            }
        }
    }
    return count;
}

// Modes of M in the span of orthonormal strains V (count x nstrain), slowest first. work (count^2 + count + nstrain)
static ItmStatus extract_modes(ItmBeam* beam, const Strains* s, const double* M, const double* V, double* work,
                               Direction direction, int count)
{
    int n = s->nstrain;
    double *R = work, *mu = R + count * count, *y = mu + count;
    for (int i = 0; i < count; i++) {
        for (int r = 0; r < n; r++) {
            y[r] = 0.0;
            for (int c = 0; c < n; c++) {
                y[r] += M[r * n + c] * V[i * n + c];
            }
        }
        for (int j = 0; j <= i; j++) {
            double sum = 0.0;
            for (int r = 0; r < n; r++) {
                sum += y[r] * V[j * n + r];
            }
            R[i * count + j] = R[j * count + i] = sum;
        }
    }
    ItmStatus status = itm_eigen_symmetric(R, mu, count);
    for (int k = count - 1; status == ITM_OK && k >= 0; k--) {
        BeamMode* mode = &beam->modes[beam->n];
        mode->direction = direction;
        mode->series = beam->block + (size_t)(3 * beam->nseries) * (size_t)beam->n++;
        for (int i = 0; i < n; i++) {
            double z = 0.0;
            for (int j = 0; j < count; j++) {
                z += R[k * count + j] * V[j * n + i];
            }
            for (int l = 0; l < s->ns; l++) {
                mode->series[l] += z * s->value[i * s->ns + l];
                mode->series[beam->nseries + l] += z * s->turn[i * s->ns + l];
                mode->series[2 * beam->nseries + l] += z * s->slope[i * s->ns + l];
            }
        }
        double scale = find_scale(beam, mode->series);
        for (int l = 0; l < 3 * beam->nseries; l++) {
            mode->series[l] *= scale;
        }
        mode->stiffness = scale * scale;
        mode->mass = scale * scale * mu[k];
    }
    return status;
}

// Polynomials for a number of modes: pi to a half wave resolves, two and some to spare converge to rounding.
static int count_terms(int modes)
{
    return 2 * modes + 14;
}

static ItmStatus add_modes(ItmBeam* beam, Direction direction, int count)
{
    if (count == 0) {
        return ITM_OK;
    }
    const ItmBeamDef* b = &beam->def;
    bool is_rod = direction == AXIAL || direction == TORSION;
    bool has_shear = !is_rod && b->theory == ITM_BEAM_TIMOSHENKO;
    double moment = direction == ALONG_Y ? b->moment_z : b->moment_y;
    int n = count_terms(count), nstrain = has_shear ? 2 * n : n;
    Strains s = {
        .ns = beam->nseries,
        .length = b->length,
        .inertia = b->density * (direction == TORSION ? b->moment_y + b->moment_z : b->area),
        .rotary = has_shear ? b->density * moment : 0.0,
    };
    // all modes, held strains, the span, and room to work
    int most = count + 2 * b->nstation;
    size_t ns = (size_t)nstrain, q = (size_t)most;
    double* memory = calloc(ns * (3 * (size_t)s.ns + 2 * ns + 5 + q) + q * (q + 1), sizeof(double));
    if (memory == NULL) {
        return ITM_ERR_MEMORY;
    }
    s.value = memory;
    s.turn = s.value + nstrain * s.ns;
    s.slope = s.turn + nstrain * s.ns;
    double *M = s.slope + nstrain * s.ns, *Z = M + ns * ns, *held = Z + ns * ns, *mu = held + 2 * ns, *V = mu + ns;
    double* work = V + q * ns;
    if (is_rod) {
        add_basis(&s, n, direction == AXIAL ? b->young * b->area : b->shear * b->torsion, false, true, b->ends);
    } else {
        add_basis(&s, n, b->young * moment, true, false, b->ends);
    }
    if (has_shear) {
        double factor = direction == ALONG_Y ? b->shear_y : b->shear_z;
        add_basis(&s, n, factor * b->shear * b->area, false, false, b->ends);
    }
    fill_mass(&s, M);
    int nheld = hold_far_end(&s, M, held, work, b->ends, is_rod);
    memcpy(Z, M, sizeof(double) * ns * ns);
    ItmStatus status = itm_eigen_symmetric(Z, mu, nstrain);
    if (status == ITM_OK) {
        for (int k = 0; k < count; k++) {
            memcpy(V + (size_t)k * ns, Z + (ns - 1 - (size_t)k) * ns, sizeof(double) * ns);
        }
        int span = add_static_shapes(beam, &s, V, count, held, nheld, is_rod);
        status = extract_modes(beam, &s, M, V, work, direction, span);
    }
    free(memory);
    return status;
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
    b->nseries = count_terms(most) + 2;
    b->modes = calloc((size_t)n + 1, sizeof *b->modes);
    b->block = calloc((size_t)n * (size_t)(3 * b->nseries) + 1, sizeof(double));
    ItmStatus status = b->modes != NULL && b->block != NULL ? ITM_OK : ITM_ERR_MEMORY;
    const int counts[] = {
        [AXIAL] = def->modes_axial, [ALONG_Y] = def->modes_y, [ALONG_Z] = def->modes_z, [TORSION] = def->modes_torsion};
    static const Direction ORDER[] = {ALONG_Y, ALONG_Z, AXIAL, TORSION};
    for (int i = 0; status == ITM_OK && i < 4; i++) {
        status = add_modes(b, ORDER[i], counts[ORDER[i]]);
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
    bool is_start_clamped = ends == ITM_BEAM_CLAMPED_FREE || ends == ITM_BEAM_CLAMPED_PINNED || ends == ITM_BEAM_CLAMPED_CLAMPED;
    double near = FIXED_WITHIN * beam->def.length;
    return (is_start_clamped && x <= near) || (ends == ITM_BEAM_FREE_CLAMPED && x >= beam->def.length - near);
}

// Displacement (lin) and rotation (ang) of a section in a mode.
static ItmSpatial shape_of(const ItmBeam* beam, const BeamMode* mode, double s)
{
    double value = itm_legendre_compute(mode->series, beam->nseries, s);
    double turn = itm_legendre_compute(mode->series + beam->nseries, beam->nseries, s);
    switch (mode->direction) {
    case AXIAL:
        return (ItmSpatial){{0, 0, 0}, {value, 0, 0}};
    case ALONG_Y:
        return (ItmSpatial){{0, 0, turn}, {0, value, 0}};
    case ALONG_Z:
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
static double slope_of(const ItmBeam* beam, const BeamMode* mode, double s)
{
    bool is_bending = mode->direction == ALONG_Y || mode->direction == ALONG_Z;
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
