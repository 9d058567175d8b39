#include "bench/mlcp_generator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------- random numbers

double mlcp_random(uint64_t* state)
{
    uint64_t z = (*state += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    z ^= z >> 31;
    return (double)(z >> 11) / 9007199254740992.0;
}

double mlcp_random_between(uint64_t* state, double a, double b)
{
    return a + (b - a) * mlcp_random(state);
}

// ---------------------------------------------------------------------------- scene

typedef struct Scene {
    const MlcpSpec* spec;
    uint64_t random;  // the scene
    uint64_t later;   // what drift changes
    int nbody, nv, n;
    double* A;      // Jacobian          (n x nv)
    double* inv_M;  // diagonal          (nv)
    double* v;      // velocity          (nv)
} Scene;

static double between(Scene* s, double a, double b)
{
    return mlcp_random_between(&s->random, a, b);
}

static double drift(Scene* s)
{
    return s->spec->drift * mlcp_random_between(&s->later, -1.0, 1.0);
}

static void pick_unit(Scene* s, double* d)
{
    double size;
    do {
        for (int k = 0; k < 3; k++) {
            d[k] = between(s, -1.0, 1.0);
        }
        size = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    } while (size < 0.1);
    for (int k = 0; k < 3; k++) {
        d[k] /= size;
    }
}

static void pick_arms(Scene* s, double* r_a, double* r_b)
{
    for (int k = 0; k < 3; k++) {
        r_a[k] = between(s, -0.5, 0.5) + drift(s);
        r_b[k] = between(s, -0.5, 0.5) + drift(s);
    }
}

// a += sign [d, r x d] at the columns of a body; ITM_GROUND has none
static void add_point(double* a, int body, const double* r, const double* d, double sign)
{
    if (body == ITM_GROUND) {
        return;
    }
    double* p = a + 6 * body;
    for (int k = 0; k < 3; k++) {
        p[k] += sign * d[k];
        p[3 + k] += sign * (r[(k + 1) % 3] * d[(k + 2) % 3] - r[(k + 2) % 3] * d[(k + 1) % 3]);
    }
}

static void place_bodies(Scene* s)
{
    for (int b = 0; b < s->nbody; b++) {
        double m = between(s, 1.0, 20.0), inertia = m * between(s, 0.05, 0.3);
        double factor =
            s->spec->mass_spread > 0.0 ? pow(10.0, between(s, -s->spec->mass_spread, s->spec->mass_spread)) : 1.0;
        for (int k = 0; k < 6; k++) {
            s->inv_M[6 * b + k] = 1.0 / (factor * (k < 3 ? m : inertia * between(s, 0.5, 1.5)));
            s->v[6 * b + k] = between(s, -1.0, 1.0) + drift(s);
        }
        s->v[6 * b + 2] -= 1.0;
    }
}

static double* jacobian_row(Scene* s, int row)
{
    return s->A + (size_t)row * (size_t)s->nv;
}

static void place_bilateral(Scene* s, int row)
{
    int a = row % s->nbody, b = row / s->nbody % 2 ? ITM_GROUND : (a + 1) % s->nbody;
    b = b == a ? ITM_GROUND : b;
    double d[3], r_a[3], r_b[3];
    pick_unit(s, d);
    pick_arms(s, r_a, r_b);
    add_point(jacobian_row(s, row), a, r_a, d, 1.0);
    add_point(jacobian_row(s, row), b, r_b, d, -1.0);
}

// A row that is a combination of two earlier ones
static void place_dependent(Scene* s, int row, int nindependent)
{
    for (int k = 0; k < 2; k++) {
        int other = (int)(mlcp_random(&s->random) * nindependent);
        double c = between(s, -1.0, 1.0);
        for (int j = 0; j < s->nv; j++) {
            jacobian_row(s, row)[j] += c * jacobian_row(s, other)[j];
        }
    }
}

static void cross(double* c, const double* a, const double* b)
{
    for (int k = 0; k < 3; k++) {
        c[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
    }
}

static void normalise(double* d)
{
    double size = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    for (int k = 0; k < 3; k++) {
        d[k] /= size;
    }
}

// Normal and two tangents; contacts with the ground point roughly upwards.
static void place_contact(Scene* s, int row)
{
    int a = (int)(mlcp_random(&s->random) * s->nbody);
    int b = mlcp_random(&s->random) < 0.5 ? ITM_GROUND : (int)(mlcp_random(&s->random) * s->nbody);
    b = b == a ? ITM_GROUND : b;
    double frame[3][3], r_a[3], r_b[3], e[3] = {0};
    pick_unit(s, frame[0]);
    if (b == ITM_GROUND) {
        frame[0][0] *= 0.1;
        frame[0][1] *= 0.1;
        frame[0][2] = 1.0;
        normalise(frame[0]);
    }
    e[fabs(frame[0][0]) < 0.5 ? 0 : 1] = 1.0;
    cross(frame[1], frame[0], e);
    normalise(frame[1]);
    cross(frame[2], frame[0], frame[1]);
    pick_arms(s, r_a, r_b);
    for (int k = 0; k < 3; k++) {
        add_point(jacobian_row(s, row + k), a, r_a, frame[k], 1.0);
        add_point(jacobian_row(s, row + k), b, r_b, frame[k], -1.0);
    }
}

static void place_rows(Scene* s)
{
    const MlcpSpec* spec = s->spec;
    int nindependent = spec->is_redundant ? spec->nbilateral - spec->nbilateral / 3 : spec->nbilateral;
    for (int i = 0; i < nindependent; i++) {
        place_bilateral(s, i);
    }
    for (int i = nindependent; i < spec->nbilateral; i++) {
        place_dependent(s, i, nindependent);
    }
    for (int c = 0; c < spec->ncontact; c++) {
        place_contact(s, spec->nbilateral + 3 * c);
    }
}

// ---------------------------------------------------------------------------- problem

// H = A M^-1 A' (lower triangle mirrored), b = A v. Rows of A touch few bodies: only their nonzeros
// count.
static void assemble(const Scene* s, MlcpCase* c, int* nonzero)
{
    for (int i = 0; i < s->n; i++) {
        const double* a = s->A + (size_t)i * (size_t)s->nv;
        int nnonzero = 0;
        for (int k = 0; k < s->nv; k++) {
            if (a[k] != 0.0) {
                nonzero[nnonzero++] = k;
            }
        }
        for (int j = 0; j <= i; j++) {
            const double* other = s->A + (size_t)j * (size_t)s->nv;
            double sum = 0.0;
            for (int k = 0; k < nnonzero; k++) {
                sum += a[nonzero[k]] * s->inv_M[nonzero[k]] * other[nonzero[k]];
            }
            c->H[(size_t)i * (size_t)s->n + (size_t)j] = c->H[(size_t)j * (size_t)s->n + (size_t)i] = sum;
        }
        c->b[i] = 0.0;
        for (int k = 0; k < nnonzero; k++) {
            c->b[i] += a[nonzero[k]] * s->v[nonzero[k]];
        }
    }
}

static void set_bounds(Scene* s, MlcpCase* c)
{
    for (int i = 0; i < c->n; i++) {
        c->lo[i] = -INFINITY;
        c->up[i] = INFINITY;
    }
    for (int k = 0; k < c->ncontact; k++) {
        int i = c->nbilateral + 3 * k;
        double bound = 0.5 * between(s, 0.2, 4.0);
        c->lo[i] = 0.0;
        c->lo[i + 1] = c->lo[i + 2] = -bound;
        c->up[i + 1] = c->up[i + 2] = bound;
        if (s->spec->is_coupled) {
            c->contacts[k] = (ItmMlcpContact){.normal = i,
                                              .tangent = {i + 1, i + 2},
                                              .mu = 0.5 * bound,
                                              .law = s->spec->law,
                                              .ndirection = s->spec->ndirection};
        }
    }
}

MlcpSpec mlcp_default_spec(int nbilateral, int ncontact)
{
    return (MlcpSpec){.nbilateral = nbilateral, .ncontact = ncontact, .ndirection = 8, .seed = 12345};
}

static bool allocate_case(MlcpCase* c)
{
    size_t n = (size_t)c->n;
    c->H = malloc(n * n * sizeof(double));
    c->b = malloc(n * sizeof(double));
    c->lo = malloc(n * sizeof(double));
    c->up = malloc(n * sizeof(double));
    c->contacts = calloc((size_t)c->ncontact + 1, sizeof *c->contacts);
    return c->H != NULL && c->b != NULL && c->lo != NULL && c->up != NULL && c->contacts != NULL;
}

bool mlcp_case_create(MlcpCase* c, const MlcpSpec* spec)
{
    int n = spec->nbilateral + 3 * spec->ncontact;
    int nbody = (int)ceil((spec->is_redundant ? 0.6 : 1.5) * n / 6);
    Scene s = {.spec = spec, .random = spec->seed, .later = ~spec->seed, .nbody = nbody, .nv = 6 * nbody, .n = n};
    *c = (MlcpCase){.n = n, .nbilateral = spec->nbilateral, .ncontact = spec->ncontact, .nv = s.nv};
    s.A = calloc((size_t)n * (size_t)s.nv, sizeof(double));
    s.inv_M = calloc((size_t)s.nv, sizeof(double));
    s.v = calloc((size_t)s.nv, sizeof(double));
    int* nonzero = calloc((size_t)s.nv, sizeof(int));
    bool is_made = allocate_case(c) && s.A != NULL && s.inv_M != NULL && s.v != NULL && nonzero != NULL;
    if (is_made) {
        place_bodies(&s);
        place_rows(&s);
        assemble(&s, c, nonzero);
        set_bounds(&s, c);
    }
    free(s.A);
    free(s.inv_M);
    free(s.v);
    free(nonzero);
    c->problem = (ItmMlcpProblem){.n = n,
                                  .H = c->H,
                                  .b = c->b,
                                  .lo = c->lo,
                                  .up = c->up,
                                  .is_symmetric = true,
                                  .ncontact = spec->is_coupled ? c->ncontact : 0,
                                  .contacts = c->contacts};
    return is_made;
}

void mlcp_case_destroy(MlcpCase* c)
{
    free(c->H);
    free(c->b);
    free(c->lo);
    free(c->up);
    free(c->contacts);
    *c = (MlcpCase){0};
}
