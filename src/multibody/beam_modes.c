// Modes of uniform beams by a Galerkin method in the strains.
//
// Curvature and shear (or the strain of a rod) are expanded in Legendre polynomials e_k, orthonormal and scaled so that the
// elastic energy of any combination z is |z|^2 / 2: the stiffness matrix is the identity. Displacements follow by integrating
// the strains, with the rigid part that the ends ask for; the mass matrix M of these displacements then gives
//   M z = mu z,   omega^2 = 1 / mu
// The slow modes have the largest mu, so they come out to rounding, and the polynomials converge faster than any power: no
// roots of frequency equations, no cosh to overflow, and shear costs nothing extra.
#include "multibody/beam_modes.h"

#include "math/eigen.h"
#include "math/legendre.h"

#include <stdlib.h>
#include <string.h>

#define DEPENDENT 1e-16  // of the square of a static shape: it is in the span of those before

// ---------------------------------------------------------------------------- strains

// Displacements, rotations and slopes of nstrain unit strains, each a series of ns terms, and what resists them.
typedef struct Strains {
    int nstrain, ns;
    double length;
    double inertia, rotary;        // kg/m (rod in torsion: kg m), kg m
    double *value, *turn, *slope;  // (nstrain x ns)
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
                               ItmBeamDirection direction, int count)
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
        ItmBeamMode* mode = &beam->modes[beam->n];
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
int itm_beam_modes_count_terms(int modes)
{
    return 2 * modes + 14;
}

ItmStatus itm_beam_modes_add(ItmBeam* beam, ItmBeamDirection direction, int count)
{
    if (count == 0) {
        return ITM_OK;
    }
    const ItmBeamDef* b = &beam->def;
    bool is_rod = direction == ITM_BEAM_AXIAL || direction == ITM_BEAM_TORSION;
    bool has_shear = !is_rod && b->theory == ITM_BEAM_TIMOSHENKO;
    double moment = direction == ITM_BEAM_ALONG_Y ? b->moment_z : b->moment_y;
    int n = itm_beam_modes_count_terms(count), nstrain = has_shear ? 2 * n : n;
    Strains s = {
        .ns = beam->nseries,
        .length = b->length,
        .inertia = b->density * (direction == ITM_BEAM_TORSION ? b->moment_y + b->moment_z : b->area),
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
        add_basis(&s, n, direction == ITM_BEAM_AXIAL ? b->young * b->area : b->shear * b->torsion, false, true,
                  b->ends);
    } else {
        add_basis(&s, n, b->young * moment, true, false, b->ends);
    }
    if (has_shear) {
        double factor = direction == ITM_BEAM_ALONG_Y ? b->shear_y : b->shear_z;
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
