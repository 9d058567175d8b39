#include "rim/frame_rows.h"

#include <string.h>

// ---------------------------------------------------------------------------- which

int itm_frame_rows_count(const ItmRim* rim, int first)
{
    int n = 1;
    while (n < ITM_DIRECTION_COUNT && first + n < rim->n && rim->actuator[first + n] == ITM_NONE &&
           rim->frames[first + n].body == rim->frames[first].body) {
        n++;
    }
    return n;
}

// ---------------------------------------------------------------------------- looking

void itm_frame_rows_look(const ItmData* d, ItmMeasured* x, const ItmRimFrame* frames, int n)
{
    static const ItmVec3 AXES[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    const int body = frames->body;
    const ItmSpatial *t = &d->twist[body], *a = &d->accel_bias[body];
    for (int i = 0; i < n; i++) {
        // field by field: compilers clear a whole compound literal first, which is slow
        ItmVec3 e = AXES[(int)frames[i].direction % 3];
        x[i].cov_b = itm_spatial_zero();
        if (frames[i].direction >= ITM_RX) {
            x[i].cov_a.ang = e;
            x[i].cov_a.lin = itm_vec(0.0, 0.0, 0.0);
            x[i].value = 0.0;
            x[i].rate = itm_vec_dot(e, t->ang);
            x[i].bias = itm_vec_dot(e, a->ang);
            continue;
        }
        ItmVec3 arm = itm_mat_mul_vec(&d->R[body], frames[i].point);
        x[i].cov_a.ang = itm_vec_cross(arm, e);
        x[i].cov_a.lin = e;
        x[i].value = itm_vec_dot(e, itm_vec_add(d->x[body], arm));
        x[i].rate = itm_spatial_dot(x[i].cov_a, *t);
        // e . (w x (w x r)) = (w . e) (w . r) - w^2 (e . r)
        x[i].bias = itm_spatial_dot(x[i].cov_a, *a) + itm_vec_dot(t->ang, e) * itm_vec_dot(t->ang, arm) -
                    itm_vec_dot(t->ang, t->ang) * itm_vec_dot(e, arm);
    }
}

// ---------------------------------------------------------------------------- side by side

#define NPAIR 3

// A value of every row. Explicit lanes: compilers unroll loops over six before they think of vectors.
typedef double Pair __attribute__((vector_size(16), aligned(8), may_alias));

typedef struct Wide {
    Pair x[NPAIR];
} Wide;

_Static_assert(sizeof(Wide) == sizeof(double) * ITM_DIRECTION_COUNT, "a lane a direction");

// y += factor x
static inline void add_scaled(Wide* y, double factor, const Wide* x)
{
    for (int i = 0; i < NPAIR; i++) {
        y->x[i] += factor * x->x[i];
    }
}

static inline void get_components(double out[6], const ItmSpatial* s)
{
    const double all[6] = {s->ang.x, s->ang.y, s->ang.z, s->lin.x, s->lin.y, s->lin.z};
    memcpy(out, all, sizeof all);
}

// S . p, wrenches p by components
static inline Wide multiply(const ItmSpatial* S, const Wide* p)
{
    Wide y;
    double s[6];
    get_components(s, S);
    for (int i = 0; i < NPAIR; i++) {
        y.x[i] = s[0] * p[0].x[i] + s[1] * p[1].x[i] + s[2] * p[2].x[i] +
                 (s[3] * p[3].x[i] + s[4] * p[4].x[i] + s[5] * p[5].x[i]);
    }
    return y;
}

// p -= G y
static inline void subtract_gain(Wide* p, const ItmSpatial* G, const Wide* y)
{
    double g[6];
    get_components(g, G);
    for (int k = 0; k < 6; k++) {
        add_scaled(&p[k], -g[k], y);
    }
}

// Torques about a point r behind.
static inline void shift(Wide* p, ItmVec3 r)
{
    for (int i = 0; i < NPAIR; i++) {
        p[0].x[i] += r.y * p[5].x[i] - r.z * p[4].x[i];
        p[1].x[i] += r.z * p[3].x[i] - r.x * p[5].x[i];
        p[2].x[i] += r.x * p[4].x[i] - r.y * p[3].x[i];
    }
}

// y <- L^-1 y of one body's n velocities, the diagonal of L inverted
static inline void solve_lower(const double* L, Wide* y, int n)
{
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < j; k++) {
            add_scaled(&y[j], -L[j * n + k], &y[k]);
        }
        for (int i = 0; i < NPAIR; i++) {
            y[j].x[i] *= L[j * n + j];
        }
    }
}

// ---------------------------------------------------------------------------- half solved

// A node takes nothing of the wrenches itself; it pushes on the modes below it.
static void push_modes(const ItmModel* m, const ItmData* d, Wide* y, const Wide* p, const ItmFlexNode* node)
{
    const ItmFlexible* f = &m->flexibles[node->flexible];
    Wide* force = y + m->bodies[f->modes].v_adr;
    for (int k = 0; k < f->n; k++) {
        Wide own = multiply(&d->flex.node_S[node->S_adr + k], p);
        add_scaled(&force[k], 1.0, &own);
    }
}

// From a body down to its root, as itm_mass_half_solve: what a mobilizer takes of the wrenches is y, the rest goes on. y began with zeros.
static void walk_down(const ItmModel* m, const ItmData* d, Wide* y, Wide* p, int id)
{
    while (id != ITM_NONE) {
        const ItmBody* body = &m->bodies[id];
        Wide* own = y + body->v_adr;
        if (body->mobility == ITM_MOBILIZER_NODE) {
            push_modes(m, d, y, p, &m->nodes[body->part]);
        }
        for (int k = 0; k < body->nv && body->mobility != ITM_MOBILIZER_MODES; k++) {
            own[k] = multiply(&d->S[body->v_adr + k], p);
        }
        solve_lower(d->mass.L + body->L_adr, own, body->nv);
        for (int k = 0; k < body->nv; k++) {
            subtract_gain(p, &d->mass.G[body->v_adr + k], &own[k]);
        }
        if (body->parent != ITM_NONE) {
            shift(p, itm_vec_sub(d->x[id], d->x[body->parent]));
        }
        id = body->parent;
    }
}

void itm_frame_rows_half_solve(const ItmModel* m, const ItmData* d, ItmRim* rim, int first, int count,
                               const ItmMeasured* x)
{
    const int nv = m->nv;
    Wide p[6];
    for (int i = 0; i < ITM_DIRECTION_COUNT; i++) {
        double wrench[6] = {0.0};
        if (i < count) {
            get_components(wrench, &x[i].cov_a);
        }
        for (int k = 0; k < 6; k++) {
            p[k].x[i / 2][i % 2] = wrench[k];
        }
    }
    memset(rim->Y_frame, 0, sizeof(Wide) * (size_t)nv);
    walk_down(m, d, (Wide*)rim->Y_frame, p, rim->frames[first].body);
    for (int i = 0; i < count; i++) {
        double* row = rim->Y + (first + i) * nv;
        for (int k = 0; k < nv; k++) {
            row[k] = rim->Y_frame[k * ITM_DIRECTION_COUNT + i];
        }
    }
}

// ---------------------------------------------------------------------------- products

void itm_frame_rows_multiply(ItmRim* rim, int first, int count)
{
    Wide W[ITM_DIRECTION_COUNT] = {0}, a = {0};
    for (int k = 0; k < rim->nv; k++) {
        const double* y = rim->Y_frame + k * ITM_DIRECTION_COUNT;
        for (int i = 0; i < ITM_DIRECTION_COUNT; i++) {
            add_scaled(&W[i], y[i], (const Wide*)y);
        }
        add_scaled(&a, rim->y_free[k], (const Wide*)y);
    }
    double products[ITM_DIRECTION_COUNT];
    memcpy(products, &a, sizeof products);
    for (int i = 0; i < count; i++) {
        rim->a0[first + i] = products[i];
        memcpy(rim->W + (first + i) * rim->n + first, &W[i], sizeof(double) * (size_t)count);
    }
}
