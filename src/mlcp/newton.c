// Nonsmooth Newton method on the projection equations of all laws, with the radius of friction
// taken from y_n = max(0, x_n - w_n) (Alart and Curnier's function with unit weights; the scaled
// diagonal is near one):
//     F(x) = x - P(x - w(x)) = 0,   P: clamp, interval, polygon or disc of radius mu y_n
// The Jacobian uses H + eps I, so redundant rows leave it regular; F itself is not regularised, so
// the limit is exact. If the plain method fails, it is used inside a proximal iteration: w + c (x -
// base) in place of w, base moving to each solution found; c falls after a success and rises after
// a failure.
#include "mlcp/friction.h"
#include "mlcp/workspace.h"

#include <math.h>
#include <string.h>

enum { MAX_NEWTON = 40, MAX_SOFT = 15, MAX_STAGES = 100, MAX_HALVINGS = 9, MEMORY = 6, START_SWEEPS = 20 };
static const double EPS = 1e-10;
// light mechanisms behind stiff joints move far less than their diagonal of H suggests, hence large
// weights
enum { NWEIGHT = 3 };
static const double WEIGHTS[NWEIGHT] = {1.0, 100.0, 1e4};
static const double PIVOT_FLOOR = 1e-14;
// A start whose residual is within this many tolerances is nearly solved. Where the merit comes to this many times that of such a start, the
// plain method has left its neighbourhood, as it does where redundant rows at the edges of their cones make J nearly singular, and rarely
// comes back; proximal steps stay near.
static const double NEARLY = 1e3;
static const double ASTRAY = 100.0;

// One row of the generalised Jacobian:  sum_k e_row[k] e[k] + sum_k h_row[k] H_k   (at most three of each)
typedef struct JacobianRow {
    int ne, nh;
    int e_row[3], h_row[3];
    double e[3], h[3];
} JacobianRow;

typedef struct Newton {
    ItmMlcpWorkspace* ws;
    int n;
    double* x;        // iterate                                        (n)
    double* w;        // H x + b + c (x - base)                         (n)
    double* F;        // (n)
    double* dx;       // (n)
    double* dw;       // weight (H + c) dx                                   (n)
    double* x_trial;  // (n)
    double* w_trial;  // (n)
    double* rhs;      // (n)
    int* live;        // rows that need the linear system: position -> row
    int* position;    // row -> position, or ITM_NONE for rows whose dx is known
    int nlive;
    double c;               // proximal weight: w stands for H x + b + c (x - base)
    double* base;           // (n)
    double weight;          // F = x - P(x - weight w); w, dw and H below carry the weight
    double best;            // smallest residual so far
    double* x_best;         // and where it was                               (n)
    double memory[MEMORY];  // last merit values, for the nonmonotone search
} Newton;

// ---------------------------------------------------------------------------- F and its rows

static double clamp(double y, double lo, double up)
{
    return y < lo ? lo : y > up ? up : y;
}

// radius mu max(0, x_n - w_n) of a contact
static double radius(const ItmMlcpContact* c, const double* x, const double* w)
{
    return c->mu * fmax(0.0, x[c->normal] - w[c->normal]);
}

static void compute_F(const ItmMlcpScaled* s, double* F, const double* x, const double* w)
{
    for (int i = 0; i < s->n; i++) {
        if (s->tangent_of[i] == ITM_NONE) {
            F[i] = x[i] - clamp(x[i] - w[i], s->lo[i], s->up[i]);
        }
    }
    for (int k = 0; k < s->ncontact; k++) {
        const ItmMlcpContact* c = &s->contacts[k];
        double r = radius(c, x, w);
        int i = c->tangent[0], j = c->tangent[1];
        if (c->law == ITM_FRICTION_BOX) {
            F[i] = x[i] - clamp(x[i] - w[i], -r, r);
            continue;
        }
        double y[2] = {x[i] - w[i], x[j] - w[j]};
        itm_friction_project_tangents(c, y, r);
        F[i] = x[i] - y[0];
        F[j] = x[j] - y[1];
    }
}

static void put_e(JacobianRow* row, int i, double value)
{
    row->e_row[row->ne] = i;
    row->e[row->ne++] = value;
}

static void put_h(JacobianRow* row, int i, double value)
{
    row->h_row[row->nh] = i;
    row->h[row->nh++] = value;
}

// d(x_i - w_i) times value
static void put_y(JacobianRow* row, int i, double value)
{
    put_e(row, i, value);
    put_h(row, i, -value);
}

// -d(radius) times value; the radius does not move while the contact is open
static void put_radius(JacobianRow* row, const ItmMlcpContact* c, const double* x, const double* w, double value)
{
    if (x[c->normal] - w[c->normal] > 0.0 && value != 0.0) {
        put_y(row, c->normal, -value * c->mu);
    }
}

static JacobianRow bound_row(const ItmMlcpScaled* s, const double* x, const double* w, int i)
{
    JacobianRow row = {0};
    double y = x[i] - w[i];
    if (y > s->lo[i] && y < s->up[i]) {
        put_h(&row, i, 1.0);  // F = w
    } else {
        put_e(&row, i, 1.0);  // F = x - bound
    }
    return row;
}

static JacobianRow box_row(const ItmMlcpContact* c, const double* x, const double* w)
{
    JacobianRow row = {0};
    int i = c->tangent[0];
    double r = radius(c, x, w), y = x[i] - w[i];
    if (fabs(y) < r) {
        put_h(&row, i, 1.0);
    } else {
        put_e(&row, i, 1.0);
        put_radius(&row, c, x, w, y > 0.0 ? 1.0 : -1.0);  // F = x -+ r
    }
    return row;
}

// Row k (0 or 1) of dF_t = dx_t - dP, with dP = G (dx_t - dw_t) + g dr
static JacobianRow tangent_row(const ItmMlcpContact* c, const double* x, const double* w, double G[2][2],
                               const double g[2], int k)
{
    JacobianRow row = {0};
    int i = c->tangent[k], j = c->tangent[1 - k];
    // dx_i - G_kk (dx_i - dw_i), the dx parts joined because a row holds few terms
    put_e(&row, i, 1.0 - G[k][k]);
    put_h(&row, i, G[k][k]);
    put_y(&row, j, -G[k][1 - k]);
    put_radius(&row, c, x, w, g[k]);
    return row;
}

// Slip on the exact cone: P = r u, u = y / |y|:  G = r / |y| (I - u u'), g = u
static void slip_on_disc(const double* y, double r, double G[2][2], double g[2])
{
    double size = itm_friction_length(y);
    g[0] = y[0] / size;
    g[1] = y[1] / size;
    double f = r / size;
    G[0][0] = f * (1.0 - g[0] * g[0]);
    G[1][1] = f * (1.0 - g[1] * g[1]);
    G[0][1] = G[1][0] = -f * g[0] * g[1];
}

// Edge: P = a r e + t t'y, G = t t', g = a e.  Corner: P = r c, G = 0, g = c.
static void slip_on_polygon(int part, int k, double G[2][2], double g[2])
{
    const double pi = 3.14159265358979323846;
    memset(G, 0, 4 * sizeof(double));
    if (part >= k) {
        double angle = 2.0 * pi * (part - k) / k;
        g[0] = cos(angle);
        g[1] = sin(angle);
        return;
    }
    double angle = 2.0 * pi * (part + 0.5) / k;
    double e[2] = {cos(angle), sin(angle)};
    double a = cos(pi / k);
    g[0] = a * e[0];
    g[1] = a * e[1];
    G[0][0] = e[1] * e[1];
    G[1][1] = e[0] * e[0];
    G[0][1] = G[1][0] = -e[0] * e[1];
}

static JacobianRow round_row(const ItmMlcpContact* c, const double* x, const double* w, int k)
{
    JacobianRow row = {0};
    int i = c->tangent[k];
    double r = radius(c, x, w);
    double y[2] = {x[c->tangent[0]] - w[c->tangent[0]], x[c->tangent[1]] - w[c->tangent[1]]};
    if (r <= 0.0) {
        put_e(&row, i, 1.0);  // F = x_t
        return row;
    }
    double G[2][2], g[2];
    if (c->law == ITM_FRICTION_CONE) {
        if (itm_friction_length(y) <= r) {
            put_h(&row, i, 1.0);  // sticking: F = w_t
            return row;
        }
        slip_on_disc(y, r, G, g);
    } else {
        double p[2] = {y[0], y[1]};
        int part = itm_friction_project_polygon(p, r, c->ndirection);
        if (part < 0) {
            put_h(&row, i, 1.0);
            return row;
        }
        slip_on_polygon(part, c->ndirection, G, g);
    }
    return tangent_row(c, x, w, G, g, k);
}

static JacobianRow jacobian_row(const Newton* t, int i)
{
    const ItmMlcpScaled* s = &t->ws->s;
    if (s->tangent_of[i] == ITM_NONE) {
        return bound_row(s, t->x, t->w, i);
    }
    const ItmMlcpContact* c = &s->contacts[s->tangent_of[i]];
    if (c->law == ITM_FRICTION_BOX) {
        return box_row(c, t->x, t->w);
    }
    return round_row(c, t->x, t->w, c->tangent[0] == i ? 0 : 1);
}

// ---------------------------------------------------------------------------- linear system

static bool is_plain(const JacobianRow* row, int i)
{
    return row->nh == 0 && row->ne == 1 && row->e_row[0] == i;
}

// Rows with F = x - bound have their step directly; the others go into the system.
static void split_rows(Newton* t)
{
    t->nlive = 0;
    memset(t->dx, 0, (size_t)t->n * sizeof *t->dx);
    for (int i = 0; i < t->n; i++) {
        JacobianRow row = jacobian_row(t, i);
        if (is_plain(&row, i)) {
            t->dx[i] = -t->F[i];
            t->position[i] = ITM_NONE;
        } else {
            t->position[i] = t->nlive;
            t->live[t->nlive++] = i;
        }
    }
}

// Row i of the system, known steps moved to the right-hand side.
static void fill_row(Newton* t, double* J, int ld, int i)
{
    const ItmMlcpScaled* s = &t->ws->s;
    JacobianRow row = jacobian_row(t, i);
    double rhs = -t->F[i];
    memset(J, 0, (size_t)ld * sizeof *J);
    for (int k = 0; k < row.nh; k++) {
        const double* H = s->H + (size_t)row.h_row[k] * (size_t)s->ld;
        double h = row.h[k] * t->weight;
        rhs -= row.h[k] * t->dw[row.h_row[k]];  // of the known steps
        for (int j = 0; j < t->nlive; j++) {
            J[j] += h * H[t->live[j]];
        }
        if (t->position[row.h_row[k]] != ITM_NONE) {
            J[t->position[row.h_row[k]]] += h * (EPS + t->c);
        }
    }
    for (int k = 0; k < row.ne; k++) {
        int at = t->position[row.e_row[k]];
        if (at != ITM_NONE) {
            J[at] += row.e[k];
        } else {
            rhs -= row.e[k] * t->dx[row.e_row[k]];
        }
    }
    t->rhs[t->position[i]] = rhs;
}

// dw = weight (H + c) dx
static void multiply_step(Newton* t)
{
    const ItmMlcpScaled* s = &t->ws->s;
    t->ws->dense->multiply_rows(t->dw, s->H, s->ld, t->dx, NULL, s->n, s->n);
    for (int i = 0; i < s->n; i++) {
        t->dw[i] = t->weight * (t->dw[i] + t->c * t->dx[i]);
    }
}

// J dx = -F
static void solve_step(Newton* t, ItmMlcpInfo* info)
{
    ItmMlcpWorkspace* ws = t->ws;
    split_rows(t);
    multiply_step(t);
    int ld = itm_dense_pad(t->nlive);
    for (int k = 0; k < t->nlive; k++) {
        fill_row(t, ws->F + (size_t)k * (size_t)ld, ld, t->live[k]);
    }
    ws->dense->factor_lu(ws->F, ld, t->nlive, ws->iv[2], PIVOT_FLOOR);
    ws->dense->solve_lu(ws->F, ld, ws->iv[2], t->rhs, t->nlive);
    info->factorisations++;
    info->work += (double)t->nlive * t->nlive * t->nlive / 3.0 + 3.0 * t->n * t->n;
    for (int k = 0; k < t->nlive; k++) {
        t->dx[t->live[k]] = t->rhs[k];
    }
    multiply_step(t);
}

// ---------------------------------------------------------------------------- search and loop

static double trial_merit(Newton* t, double alpha)
{
    const ItmMlcpScaled* s = &t->ws->s;
    for (int i = 0; i < t->n; i++) {
        t->x_trial[i] = t->x[i] + alpha * t->dx[i];
        t->w_trial[i] = t->w[i] + alpha * t->dw[i];
    }
    compute_F(s, t->rhs, t->x_trial, t->w_trial);
    return t->ws->dense->dot(t->rhs, t->rhs, t->n);
}

// Longest step 2^-k that lowers the merit below the worst of the last few; the best one seen if
// none does.
static double search(Newton* t)
{
    double worst = 0.0;
    for (int k = 0; k < MEMORY; k++) {
        worst = fmax(worst, t->memory[k]);
    }
    double alpha = 1.0, best_alpha = 1.0, best = INFINITY;
    for (int k = 0; k <= MAX_HALVINGS; k++, alpha *= 0.5) {
        double merit = trial_merit(t, alpha);
        if (merit <= (1.0 - 1e-4 * alpha) * worst) {
            return alpha;
        }
        if (merit < best) {
            best = merit;
            best_alpha = alpha;
        }
    }
    return best_alpha;
}

static Newton start_newton(ItmMlcpWorkspace* ws)
{
    Newton t = {.ws = ws,
                .n = ws->s.n,
                .x = ws->x,
                .w = ws->w,
                .F = ws->v[0],
                .dx = ws->v[1],
                .dw = ws->v[2],
                .x_trial = ws->v[3],
                .w_trial = ws->v[4],
                .rhs = ws->v[5],
                .live = ws->iv[0],
                .position = ws->iv[1],
                .x_best = ws->v[6],
                .base = ws->v[7],
                .best = INFINITY,
                .weight = 1.0};
    return t;
}

static bool is_zero(const double* x, int n)
{
    for (int i = 0; i < n; i++) {
        if (x[i] != 0.0) {
            return false;
        }
    }
    return true;
}

static void keep_if_better(Newton* t, double residual)
{
    if (residual < t->best) {
        t->best = residual;
        memcpy(t->x_best, t->x, (size_t)t->n * sizeof *t->x_best);
    }
}

// Newton iterations at weight c. true: the residual became small, or (c > 0) F did against the
// proximal term, so that x is a proximal step worth taking.
static bool run(Newton* t, const ItmMlcpOptions* options, ItmMlcpInfo* info, double c, int limit)
{
    ItmMlcpWorkspace* ws = t->ws;
    double astray = INFINITY;
    memset(t->memory, 0, sizeof t->memory);
    t->c = c;
    for (int k = 0; k < limit && !itm_mlcp_is_spent(options, info); k++) {
        double residual = itm_mlcp_measure(ws);  // w = H x + b
        keep_if_better(t, residual);
        double length = 0.0;  // |weight c (x - base)|^2
        for (int i = 0; i < t->n; i++) {
            double pull = c > 0.0 ? t->weight * c * (t->x[i] - t->base[i]) : 0.0;
            t->w[i] = t->weight * t->w[i] + pull;
            length += pull * pull;
        }
        compute_F(&ws->s, t->F, t->x, t->w);
        double merit = ws->dense->dot(t->F, t->F, t->n);
        if (residual <= options->tolerance || (c > 0.0 && merit < 1e-2 * length)) {
            return true;
        }
        bool is_nearly_solved = k == 0 && c == 0.0 && residual <= NEARLY * options->tolerance;
        astray = is_nearly_solved ? ASTRAY * merit : astray;
        if (!isfinite(merit) || merit > astray) {
            return false;
        }
        t->memory[k % MEMORY] = merit;
        solve_step(t, info);
        ws->dense->axpy(t->x, search(t), t->dx, t->n);
        info->iterations++;
    }
    keep_if_better(t, itm_mlcp_measure(ws));
    return t->best <= options->tolerance;
}

// c falls faster while it goes well (factor) and rises again, to fall more slowly, when a step
// fails.
static void run_proximal(Newton* t, const ItmMlcpOptions* options, ItmMlcpInfo* info)
{
    size_t size = (size_t)t->n * sizeof *t->base;
    double c = 1.0, factor = 0.1;
    memcpy(t->x, t->base, size);
    for (int k = 0; k < MAX_STAGES && t->best > options->tolerance && !itm_mlcp_is_spent(options, info); k++) {
        if (run(t, options, info, c, MAX_SOFT)) {
            memcpy(t->base, t->x, size);
            factor = fmax(factor * factor, 0.05);
            c = fmax(factor * c, 1e-12);
        } else {
            memcpy(t->x, t->base, size);
            c = fmin(2.0 * c / factor, 1.0);
            factor = fmin(sqrt(sqrt(factor)), 0.8);
        }
    }
}

void itm_newton_polish(ItmMlcpWorkspace* ws, const ItmMlcpOptions* options, ItmMlcpInfo* info)
{
    Newton t = start_newton(ws);
    run(&t, options, info, 0.0, MAX_NEWTON);
    memcpy(ws->x, t.x_best, (size_t)t.n * sizeof *t.x_best);
}

bool itm_newton_solve(ItmMlcpWorkspace* ws, const ItmMlcpOptions* options, ItmMlcpInfo* info)
{
    Newton t = start_newton(ws);
    if (is_zero(ws->x, t.n)) {
        itm_gauss_seidel_sweep(ws, 1.0, START_SWEEPS);
    }
    memcpy(t.base, ws->x, (size_t)t.n * sizeof *t.base);
    run(&t, options, info, 0.0, MAX_NEWTON);
    for (int k = 0; k < NWEIGHT && t.best > options->tolerance; k++) {
        t.weight = WEIGHTS[k];
        run_proximal(&t, options, info);
    }
    memcpy(ws->x, t.x_best, (size_t)t.n * sizeof *t.x_best);
    return isfinite(t.best);
}
