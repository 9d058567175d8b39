// Lemke's complementary pivoting with lexicographic ratio test, for any H, with bounds, boxes and
// pyramids.
//
// The problem becomes a standard LCP  y = M z + q,  0 <= y _|_ z >= 0:
//   lower bound       x = lo + z,  y = w             upper bound only   x = up - z,  y = -w
//   both bounds       y = w + v,   and  up - lo - z >= 0 _|_ v >= 0          [contact-rim, eqs. 18, 19]
//   friction set      x_t = sum_j d_j beta_j,  d_j.w_t + l >= 0 _|_ beta_j,  mu x_n - sum_j beta_j >= 0 _|_ l
//                     (a box: one set of two opposite directions per tangent)
//   free row          x free, y = w = 0: pivoted out before the method starts
#include "mlcp/workspace.h"

#include "base/guard.h"

#include <math.h>
#include <string.h>

static const double PIVOT_MIN = 1e-11;  // smaller tableau entries count as zero
static const double SOFTNESS = 1e-8;    // added to the diagonal of a symmetric H: redundant rows would ruin the tableau
static const double TIE = 1e-12;        // ratios closer than this are a tie

// A variable of the LCP: x = x0 + sum over variables of (direction) z.
typedef enum VariableKind { FREE, BOUND, CAP, DIRECTION, SLIP } VariableKind;

typedef struct Variable {
    VariableKind kind;
    int row;      // BOUND, FREE, CAP: the row; DIRECTION, SLIP: the contact
    double d[2];  // BOUND: d[0] = +-1; DIRECTION: components along the tangents
    int partner;  // CAP: variable of its bound; DIRECTION: its SLIP
} Variable;

typedef struct Lemke {
    ItmMlcpWorkspace* ws;
    int n;            // rows of the LCP
    int ld;           // width of T: n columns for the nonbasic variables, then z0, then q
    double* T;        // basic = T nonbasic + t0 z0 + q                            (n x ld)
    int* basic;       // row -> variable: k < n is y_k, n + k is z_k, 2n is z0     (n)
    int* nonbasic;    // column -> variable, or ITM_NONE for a column that is fixed at zero   (n + 1)
    int* row_of;      // variable -> row, or ITM_NONE                              (2n + 1)
    int* column_of;   // variable -> column, or ITM_NONE                           (2n + 1)
    double* column;   // scratch                                                   (n)
    double softness;  // 0 for H that is not symmetric
    double* value;    // values of z                                               (n)
} Lemke;

// ---------------------------------------------------------------------------- variables

static int count_directions(const ItmMlcpContact* c)
{
    return c->law == ITM_FRICTION_PYRAMID && c->tangent[1] != ITM_NONE ? c->ndirection : 2;
}

int itm_mlcp_count_lcp_rows(const ItmMlcpProblem* p)
{
    ITM_GUARD(p != NULL, 0);
    int count = 0;
    for (int i = 0; i < p->n; i++) {
        count += isfinite(p->lo[i]) && isfinite(p->up[i]) ? 2 : 1;
    }
    for (int c = 0; c < p->ncontact; c++) {
        const ItmMlcpContact* contact = &p->contacts[c];
        bool is_two_boxes = contact->law != ITM_FRICTION_PYRAMID && contact->tangent[1] != ITM_NONE;
        count += is_two_boxes ? 6 : count_directions(contact) + 1;
        for (int k = 0; k < 2 && contact->tangent[k] != ITM_NONE; k++) {
            int t = contact->tangent[k];
            count -= isfinite(p->lo[t]) && isfinite(p->up[t]) ? 2 : 1;
        }
    }
    return count;
}

// Variables are not stored: the k-th is found by walking rows, then contacts. `visit` sees each
// with its index.
typedef void (*Visit)(Lemke* l, int k, const Variable* v);

static void visit_row(Lemke* l, Visit visit, int* k, int i)
{
    const ItmMlcpScaled* s = &l->ws->s;
    bool has_lo = isfinite(s->lo[i]), has_up = isfinite(s->up[i]);
    int at = (*k)++;
    visit(l, at, &(Variable){.kind = has_lo || has_up ? BOUND : FREE, .row = i, .d = {has_lo || !has_up ? 1.0 : -1.0}});
    if (has_lo && has_up) {
        visit(l, (*k)++, &(Variable){.kind = CAP, .row = i, .partner = at});
    }
}

static void visit_contact(Lemke* l, Visit visit, int* k, int id)
{
    const double pi = 3.14159265358979323846;
    const ItmMlcpContact* c = &l->ws->s.contacts[id];
    int ndirection = count_directions(c), slip = *k + ndirection;
    for (int j = 0; j < ndirection; j++) {
        double angle = 2.0 * pi * j / ndirection;
        Variable v = {.kind = DIRECTION, .row = id, .d = {cos(angle), sin(angle)}, .partner = slip};
        if (c->tangent[1] == ITM_NONE) {
            v.d[0] = j == 0 ? 1.0 : -1.0;
            v.d[1] = 0.0;
        }
        visit(l, (*k)++, &v);
    }
    visit(l, (*k)++, &(Variable){.kind = SLIP, .row = id});
}

static int visit_all(Lemke* l, Visit visit)
{
    const ItmMlcpScaled* s = &l->ws->s;
    int k = 0;
    for (int i = 0; i < s->n; i++) {
        if (s->tangent_of[i] == ITM_NONE) {
            visit_row(l, visit, &k, i);
        }
    }
    for (int c = 0; c < s->ncontact; c++) {
        visit_contact(l, visit, &k, c);
    }
    return k;
}

// ---------------------------------------------------------------------------- building M and q

// e_v: the direction of x that variable v moves, as up to two (row, value) pairs
static int direction_of(const ItmMlcpScaled* s, const Variable* v, int* rows, double* values)
{
    if (v->kind == BOUND || v->kind == FREE) {
        rows[0] = v->row;
        values[0] = v->d[0];
        return 1;
    }
    if (v->kind != DIRECTION) {
        return 0;
    }
    const ItmMlcpContact* c = &s->contacts[v->row];
    int count = 0;
    for (int k = 0; k < 2 && c->tangent[k] != ITM_NONE; k++) {
        rows[count] = c->tangent[k];
        values[count++] = v->d[k];
    }
    return count;
}

static double* tableau_row(const Lemke* l, int k)
{
    return l->T + (size_t)k * (size_t)l->ld;
}

// x0: rows at the bound that z measures from, friction and free rows at zero
static void start_point(Lemke* l, int k, const Variable* v)
{
    (void)k;
    const ItmMlcpScaled* s = &l->ws->s;
    if (v->kind == BOUND) {
        l->ws->x[v->row] = v->d[0] > 0.0 ? s->lo[v->row] : s->up[v->row];
    }
}

// M_kv += g_k.H e_v for all k is built as: g = H e_v (scratch v[1]), then row k takes e_k.g
static void gather_column(Lemke* l, int k, const Variable* v)
{
    const double* g = l->ws->v[1];
    int rows[2];
    double values[2];
    int count = direction_of(&l->ws->s, v, rows, values);
    double sum = 0.0;
    for (int j = 0; j < count; j++) {
        sum += values[j] * g[rows[j]];
    }
    l->column[k] = sum;
}

static void fill_column(Lemke* l, int k, const Variable* v)
{
    const ItmMlcpScaled* s = &l->ws->s;
    int rows[2];
    double values[2];
    int count = direction_of(s, v, rows, values);
    double* g = l->ws->v[1];
    memset(g, 0, (size_t)s->n * sizeof *g);
    for (int i = 0; i < s->n && count > 0; i++) {
        const double* H = s->H + (size_t)i * (size_t)s->ld;
        for (int j = 0; j < count; j++) {
            g[i] += H[rows[j]] * values[j];
        }
    }
    for (int j = 0; j < count; j++) {
        g[rows[j]] += l->softness * values[j];
    }
    visit_all(l, gather_column);
    for (int i = 0; i < l->n; i++) {
        tableau_row(l, i)[k] = l->column[i];
    }
}

// The couplings that do not come from H: caps of bounds and slip variables of friction sets.
static void add_couplings(Lemke* l, int k, const Variable* v)
{
    const ItmMlcpScaled* s = &l->ws->s;
    if (v->kind == CAP) {
        // w + v >= 0,  up - lo - z >= 0
        tableau_row(l, v->partner)[k] += 1.0;
        tableau_row(l, k)[v->partner] -= 1.0;
        tableau_row(l, k)[l->n + 1] = s->up[v->row] - s->lo[v->row];
    } else if (v->kind == DIRECTION) {
        // d.w + slip >= 0,  mu x_n - sum beta >= 0
        tableau_row(l, k)[v->partner] += 1.0;
        tableau_row(l, v->partner)[k] -= 1.0;
    }
}

// mu x_n of slip rows: x_n = z of the normal row, found by its variable
static void add_normals(Lemke* l, int k, const Variable* v)
{
    const ItmMlcpScaled* s = &l->ws->s;
    if (v->kind != BOUND) {
        return;
    }
    // variables of contacts follow those of rows in the order of visit_all
    int at = 0;
    for (int i = 0; i < s->n; i++) {
        if (s->tangent_of[i] == ITM_NONE) {
            at += isfinite(s->lo[i]) && isfinite(s->up[i]) ? 2 : 1;
        }
    }
    for (int c = 0; c < s->ncontact; c++) {
        at += count_directions(&s->contacts[c]);
        if (s->contacts[c].normal == v->row) {
            tableau_row(l, at)[k] += s->contacts[c].mu;
        }
        at++;
    }
}

static void build_tableau(Lemke* l)
{
    ItmMlcpWorkspace* ws = l->ws;
    const ItmMlcpScaled* s = &ws->s;
    memset(l->T, 0, (size_t)l->n * (size_t)l->ld * sizeof *l->T);
    visit_all(l, fill_column);
    visit_all(l, add_couplings);
    if (s->ncontact > 0) {
        visit_all(l, add_normals);
    }

    // q_k += e_k.(H x0 + b)
    memset(ws->x, 0, (size_t)s->n * sizeof *ws->x);
    visit_all(l, start_point);
    ws->dense->multiply_rows(ws->v[1], s->H, s->ld, ws->x, NULL, s->n, s->n);
    ws->dense->axpy(ws->v[1], 1.0, s->b, s->n);
    ws->dense->axpy(ws->v[1], l->softness, ws->x, s->n);
    visit_all(l, gather_column);
    for (int k = 0; k < l->n; k++) {
        tableau_row(l, k)[l->n] = 1.0;  // covering vector
        tableau_row(l, k)[l->n + 1] += l->column[k];
        l->basic[k] = k;
        l->nonbasic[k] = l->n + k;
        l->row_of[k] = k;
        l->row_of[l->n + k] = ITM_NONE;
        l->column_of[k] = ITM_NONE;
        l->column_of[l->n + k] = k;
    }
    l->nonbasic[l->n] = 2 * l->n;
    l->row_of[2 * l->n] = ITM_NONE;
    l->column_of[2 * l->n] = l->n;
}

// ---------------------------------------------------------------------------- pivoting

// Basic variable of row r and nonbasic one of column c change places.
static void exchange(Lemke* l, int r, int c)
{
    double* p = tableau_row(l, r);
    // y_r = p_c z_c + rest   ->   z_c = (y_r - rest) / p_c
    double scale = 1.0 / p[c];
    for (int j = 0; j < l->n + 2; j++) {
        p[j] *= -scale;
    }
    p[c] = scale;
    for (int i = 0; i < l->n; i++) {
        double* row = tableau_row(l, i);
        l->column[i] = -row[c];
        if (i != r) {
            row[c] = 0.0;
        }
    }
    // row_i += row_ic p, which puts row_ic / p_c into column c
    l->ws->dense->eliminate(l->T, l->ld, l->n, l->column, p, r, l->n + 2);

    int leaving = l->basic[r], entering = l->nonbasic[c];
    l->basic[r] = entering;
    l->nonbasic[c] = leaving;
    l->row_of[leaving] = ITM_NONE;
    l->column_of[leaving] = c;
    l->row_of[entering] = r;
    l->column_of[entering] = ITM_NONE;
}

// Coefficient of the original slack y_k in row r: the k-th entry of the lexicographic tie-break
static double slack_coefficient(const Lemke* l, int r, int k)
{
    if (l->column_of[k] != ITM_NONE) {
        return -tableau_row(l, r)[l->column_of[k]];
    }
    return l->row_of[k] == r ? 1.0 : 0.0;
}

// Whether row a blocks before row b when column c grows; q first, then lexicographically.
static bool blocks_before(const Lemke* l, int a, int b, int c)
{
    double pa = -tableau_row(l, a)[c], pb = -tableau_row(l, b)[c];
    double ra = tableau_row(l, a)[l->n + 1] / pa, rb = tableau_row(l, b)[l->n + 1] / pb;
    double tie = TIE * (1.0 + fabs(ra) + fabs(rb));
    if (fabs(ra - rb) > tie) {
        return ra < rb;
    }
    if (l->basic[a] == 2 * l->n || l->basic[b] == 2 * l->n) {
        return l->basic[a] == 2 * l->n;  // z0 leaves whenever it can
    }
    for (int k = 0; k < l->n; k++) {
        double ka = slack_coefficient(l, a, k) / pa, kb = slack_coefficient(l, b, k) / pb;
        if (fabs(ka - kb) > TIE * (1.0 + fabs(ka) + fabs(kb))) {
            return ka < kb;
        }
    }
    return a < b;
}

static bool is_free_variable(const Lemke* l, int variable)
{
    return variable >= l->n && variable < 2 * l->n && l->value[variable - l->n] == -1.0;
}

static int find_blocking(const Lemke* l, int c)
{
    int best = ITM_NONE;
    for (int i = 0; i < l->n; i++) {
        if (tableau_row(l, i)[c] < -PIVOT_MIN && !is_free_variable(l, l->basic[i]) &&
            (best == ITM_NONE || blocks_before(l, i, best, c))) {
            best = i;
        }
    }
    return best;
}

// ---------------------------------------------------------------------------- free rows

static void mark_free(Lemke* l, int k, const Variable* v)
{
    // during the method, value[k] = -1 marks a free variable; the values are read out at the end
    l->value[k] = v->kind == FREE ? -1.0 : 0.0;
}

static void drop_column(Lemke* l, int c)
{
    for (int i = 0; i < l->n; i++) {
        tableau_row(l, i)[c] = 0.0;
    }
    l->column_of[l->nonbasic[c]] = ITM_NONE;
    l->nonbasic[c] = ITM_NONE;
}

static bool is_open_equation(const Lemke* l, int i)
{
    return l->basic[i] < l->n && l->value[l->basic[i]] == -1.0;
}

static bool is_open_free_column(const Lemke* l, int c)
{
    return l->nonbasic[c] != ITM_NONE && is_free_variable(l, l->nonbasic[c]);
}

// Largest entry that couples an unused equation with an unused free variable.
static bool find_free_pivot(const Lemke* l, int* row, int* column)
{
    double size = PIVOT_MIN;
    for (int i = 0; i < l->n; i++) {
        for (int c = 0; c < l->n && is_open_equation(l, i); c++) {
            double a = fabs(tableau_row(l, i)[c]);
            if (is_open_free_column(l, c) && a > size) {
                size = a;
                *row = i;
                *column = c;
            }
        }
    }
    return size > PIVOT_MIN;
}

// No direct pivot is left: find z_k in the equation and the free variable in y_k, and exchange both
// (a 2 x 2 principal pivot). Zero diagonals of electrical circuits need it.
static bool find_double_pivot(const Lemke* l, int* row, int* column, int* pair_row, int* free_column)
{
    double size = PIVOT_MIN;
    for (int i = 0; i < l->n; i++) {
        for (int c = 0; c < l->n && is_open_equation(l, i); c++) {
            int variable = l->nonbasic[c];
            if (variable == ITM_NONE || is_free_variable(l, variable)) {
                continue;
            }
            int partner = variable < l->n ? variable + l->n : variable - l->n;
            int k = l->row_of[partner];
            for (int f = 0; f < l->n && k != ITM_NONE; f++) {
                double a = fmin(fabs(tableau_row(l, i)[c]), fabs(tableau_row(l, k)[f]));
                if (is_open_free_column(l, f) && a > size) {
                    size = a;
                    *row = i;
                    *column = c;
                    *pair_row = k;
                    *free_column = f;
                }
            }
        }
    }
    return size > PIVOT_MIN;
}

// true when every free variable is basic and every equation used, or what is left is zero anyway
static bool eliminate_free(Lemke* l, ItmMlcpInfo* info)
{
    int row = 0, column = 0, pair_row = 0, free_column = 0;
    for (;;) {
        if (find_free_pivot(l, &row, &column)) {
            exchange(l, row, column);
            drop_column(l, column);  // the equation's slack is zero for good
            info->pivots++;
        } else if (find_double_pivot(l, &row, &column, &pair_row, &free_column)) {
            exchange(l, row, column);
            drop_column(l, column);
            exchange(l, pair_row, free_column);
            info->pivots += 2;
        } else {
            break;
        }
    }
    // a free variable without an equation stays at zero; an equation without a variable must hold
    // by itself
    for (int c = 0; c < l->n; c++) {
        if (is_open_free_column(l, c)) {
            drop_column(l, c);
        }
    }
    for (int i = 0; i < l->n; i++) {
        if (is_open_equation(l, i)) {
            double* p = tableau_row(l, i);
            if (fabs(p[l->n + 1]) > 1e-9) {
                return false;
            }
            memset(p, 0, (size_t)l->ld * sizeof *p);
        }
    }
    return true;
}

// ---------------------------------------------------------------------------- method

static bool is_bounded_row(const Lemke* l, int i)
{
    return !is_free_variable(l, l->basic[i]) && !is_open_equation(l, i);
}

// The artificial variable enters where q is most negative.
static bool start_artificial(Lemke* l, int* entering)
{
    int worst = ITM_NONE;
    for (int i = 0; i < l->n; i++) {
        double* p = tableau_row(l, i);
        p[l->n] = is_bounded_row(l, i) ? 1.0 : 0.0;
        if (is_bounded_row(l, i) && p[l->n + 1] < 0.0 &&
            (worst == ITM_NONE || p[l->n + 1] < tableau_row(l, worst)[l->n + 1])) {
            worst = i;
        }
    }
    if (worst == ITM_NONE) {
        return false;
    }
    *entering = l->basic[worst];
    exchange(l, worst, l->n);
    *entering = *entering < l->n ? *entering + l->n : *entering - l->n;
    return true;
}

typedef enum Ending { FOUND, RAY, EXHAUSTED } Ending;

static Ending follow_path(Lemke* l, const ItmMlcpOptions* options, ItmMlcpInfo* info, int* ray_column)
{
    int entering = 0;
    if (!start_artificial(l, &entering)) {
        return FOUND;
    }
    for (int k = 0; k < 100 + 20 * l->n && !itm_mlcp_is_spent(options, info); k++) {
        int c = l->column_of[entering];
        int r = find_blocking(l, c);
        if (r == ITM_NONE) {
            *ray_column = c;
            return RAY;
        }
        int leaving = l->basic[r];
        exchange(l, r, c);
        info->pivots++;
        info->work += (double)l->n * l->n;
        if (leaving == 2 * l->n) {
            return FOUND;
        }
        entering = leaving < l->n ? leaving + l->n : leaving - l->n;
    }
    return EXHAUSTED;
}

// x += sum of directions times value
static void add_value(Lemke* l, int k, const Variable* v)
{
    int rows[2];
    double values[2];
    int count = direction_of(&l->ws->s, v, rows, values);
    for (int j = 0; j < count; j++) {
        l->ws->x[rows[j]] += values[j] * l->value[k];
    }
}

static void read_solution(Lemke* l)
{
    for (int k = 0; k < l->n; k++) {
        int row = l->row_of[l->n + k];
        l->value[k] = row != ITM_NONE ? tableau_row(l, row)[l->n + 1] : 0.0;
    }
    memset(l->ws->x, 0, (size_t)l->ws->s.n * sizeof *l->ws->x);
    visit_all(l, start_point);
    visit_all(l, add_value);
}

// The direction in which Lemke's path left for infinity; whether it proves anything is for the
// proof radius to report.
static void read_ray(Lemke* l, int ray_column, ItmMlcpInfo* info)
{
    ItmMlcpWorkspace* ws = l->ws;
    const ItmMlcpScaled* s = &ws->s;
    double largest = 0.0;
    for (int k = 0; k < l->n; k++) {
        int row = l->row_of[l->n + k];
        l->value[k] = row != ITM_NONE                        ? tableau_row(l, row)[ray_column]
                      : l->column_of[l->n + k] == ray_column ? 1.0
                                                             : 0.0;
    }
    memset(ws->x, 0, (size_t)s->n * sizeof *ws->x);
    visit_all(l, add_value);
    for (int i = 0; i < s->n; i++) {
        double d = ws->x[i];
        bool is_allowed = s->tangent_of[i] == ITM_NONE && (d > 0.0 ? s->up[i] == INFINITY : s->lo[i] == -INFINITY);
        ws->ray[i] = is_allowed ? s->d[i] * d : 0.0;
        ws->x[i] = fmin(fmax(0.0, s->lo[i]), s->up[i]);
        largest = fmax(largest, fabs(s->d[i] * ws->x[i]));
    }
    double radius = itm_mlcp_compute_proof_radius(ws->problem, ws->ray);
    ws->has_ray = radius > 1e7 * (1.0 + largest);
    info->proof_radius = ws->has_ray ? radius : info->proof_radius;
}

static bool has_cone(const ItmMlcpScaled* s)
{
    for (int c = 0; c < s->ncontact; c++) {
        if (s->contacts[c].law == ITM_FRICTION_CONE) {
            return true;
        }
    }
    return false;
}

bool itm_lemke_solve(ItmMlcpWorkspace* ws, const ItmMlcpOptions* options, ItmMlcpInfo* info)
{
    int n = itm_mlcp_count_lcp_rows(ws->problem);
    if (n > ws->capacity.nlcp || has_cone(&ws->s)) {
        return false;
    }
    Lemke l = {.ws = ws,
               .n = n,
               .ld = itm_dense_pad(n + 2),
               .T = ws->T,
               .basic = ws->ti[0],
               .nonbasic = ws->ti[1],
               .row_of = ws->ti[2],
               .column_of = ws->ti[3],
               .column = ws->tv[0],
               .value = ws->tv[1],
               .softness = ws->s.is_symmetric ? SOFTNESS : 0.0};
    build_tableau(&l);
    visit_all(&l, mark_free);
    int ray_column = 0;
    if (!eliminate_free(&l, info)) {
        return false;
    }
    Ending ending = follow_path(&l, options, info, &ray_column);
    if (ending == RAY) {
        read_ray(&l, ray_column, info);
        return true;
    }
    read_solution(&l);
    // rounding of many pivots, and the softness: a few Newton steps from here remove them
    return itm_mlcp_measure(ws) <= options->tolerance || itm_newton_solve(ws, options, info);
}
