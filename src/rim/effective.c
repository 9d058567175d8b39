#include "rim/effective.h"

#include "base/error.h"
#include "multibody/mass.h"
#include "math/pseudo_inverse.h"

#include <string.h>

void itm_effective_lay_out(ItmRim* rim, ItmArena* arena, int nv)
{
    int n = rim->n;
    ItmRimEffective* e = ITM_TAKE(arena, ItmRimEffective, 1);
    ItmRimEffective measuring;
    e = e != NULL ? e : &measuring;
    *e = (ItmRimEffective){.X = ITM_TAKE(arena, double, n* nv)};
    double** matrices[] = {&e->M, &e->K, &e->C};
    for (size_t i = 0; i < sizeof matrices / sizeof matrices[0]; i++) {
        *matrices[i] = ITM_TAKE(arena, double, n* n);
    }
    double** vectors[] = {&e->f, &e->d, &e->w_0};
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        *vectors[i] = ITM_TAKE(arena, double, n);
    }
    e->scratch = ITM_TAKE(arena, double, n*(2 * n + 3));
    rim->effective = e != &measuring ? e : NULL;
}

static ItmStatus refuse(const ItmRim* rim)
{
    return itm_error_set(&rim->data->error, ITM_ERR_NOT_FINITE, "itm_effective_begin_step", NULL,
                         "the effective mass of an interface model is not finite");
}

// y = A x
static void multiply(double* y, const double* A, const double* x, int n)
{
    for (int i = 0; i < n; i++) {
        y[i] = 0.0;
        for (int j = 0; j < n; j++) {
            y[i] += A[i * n + j] * x[j];
        }
    }
}

// out = M A M for symmetric M and A; scratch (n x n)
static void enclose(double* out, const double* M, const double* A, int n, double* scratch)
{
    for (int i = 0; i < n; i++) {
        multiply(scratch + i * n, A, M + i * n, n);  // rows of M A
    }
    for (int i = 0; i < n; i++) {
        multiply(out + i * n, M, scratch + i * n, n);
    }
}

ItmStatus itm_effective_extract(const ItmModel* m, ItmData* d, ItmRim* rim)
{
    ItmRimEffective* e = rim->effective;
    int n = rim->n;
    // X = L^-T y~, so that D = X' M_eff
    for (int i = 0; i < n; i++) {
        memcpy(d->mass.y, rim->Y + i * m->nv, sizeof(double) * (size_t)m->nv);
        itm_mass_solve_upper(m, d, e->X + i * m->nv);
    }
    if (itm_pseudo_inverse_compute(e->M, rim->W, rim->mobility_free, n, e->scratch) < 0) {
        return refuse(rim);
    }
    // K and C are those of the modes: X K X' and X C X', then M_eff on both sides
    double *XKX = e->scratch, *product = XKX + n * n;
    for (int is_damping = 0; is_damping < 2; is_damping++) {
        memset(XKX, 0, sizeof(double) * (size_t)(n * n));
        for (int b = 0; b < m->nflexible; b++) {
            const ItmFlexible* f = &m->flexibles[b];
            int adr = m->bodies[f->modes].v_adr;
            const double* value = is_damping ? f->tables.damping : f->tables.stiffness;
            for (int i = 0; i < n * n; i++) {
                for (int k = 0; k < f->n; k++) {
                    XKX[i] += value[k] * e->X[i / n * m->nv + adr + k] * e->X[i % n * m->nv + adr + k];
                }
            }
        }
        enclose(is_damping ? e->C : e->K, e->M, XKX, n, product);
    }
    return ITM_OK;
}

void itm_effective_copy(ItmRim* to, const ItmRim* from)
{
    ItmRimEffective* e = to->effective;
    const ItmRimEffective* of = from->effective;
    int n = from->n;
    size_t size = sizeof(double) * (size_t)(n * n);
    memcpy(e->M, of->M, size);
    memcpy(e->K, of->K, size);
    memcpy(e->C, of->C, size);
    multiply(e->f, e->M, from->a0, n);
    memcpy(e->w_0, from->w, sizeof(double) * (size_t)n);
    memset(e->d, 0, sizeof(double) * (size_t)n);
    e->h = 0.0;
}

ItmStatus itm_effective_begin_step(ItmRim* rim, double h)
{
    ItmRimEffective* e = rim->effective;
    int n = rim->n;
    if (e->h != h) {
        // W = (M_eff + h C_eff + h^2 K_eff)+
        double *S = e->scratch, *work = S + n * n;
        for (int i = 0; i < n * n; i++) {
            S[i] = e->M[i] + h * e->C[i] + h * h * e->K[i];
        }
        if (itm_pseudo_inverse_compute(rim->W, S, NULL, n, work) < 0) {
            return refuse(rim);
        }
        e->h = h;
    }
    // a0 = W (f - K_eff (d + h w) - C_eff (w - w_0))
    double* force = e->scratch;
    for (int i = 0; i < n; i++) {
        force[i] = e->f[i];
        for (int j = 0; j < n; j++) {
            force[i] -= e->K[i * n + j] * (e->d[j] + h * rim->w[j]) + e->C[i * n + j] * (rim->w[j] - e->w_0[j]);
        }
    }
    multiply(rim->a0, rim->W, force, n);
    return ITM_OK;
}

void itm_effective_end_step(ItmRim* rim)
{
    ItmRimEffective* e = rim->effective;
    for (int i = 0; i < rim->n; i++) {
        e->d[i] += e->h * rim->w[i];
    }
}
