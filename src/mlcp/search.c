#include "mlcp/search.h"

#include "interim/base.h"

#include <math.h>
#include <string.h>

#define MAX_PIECES 400
#define DEPENDENT 1e-11  // of the diagonal: what is left of a row that depends on the others
#define NEGATIVE 1e-11   // relative: forces and slacks above -NEGATIVE times their scale count as zero
#define BEYOND 1e-9      // relative: how far behind the end of a piece the next one is looked for

void itm_search_lay_out(ItmStepSearch* s, ItmArena* arena, int capacity)
{
    s->capacity = capacity;
    s->N = ITM_TAKE(arena, double, (size_t)capacity*(size_t)capacity);
    s->L = ITM_TAKE(arena, double, (size_t)capacity*(size_t)capacity);
    for (int k = 0; k < 3; k++) {
        s->c[k] = ITM_TAKE(arena, double, capacity);
        s->l[k] = ITM_TAKE(arena, double, capacity);
        s->s[k] = ITM_TAKE(arena, double, capacity);
    }
    double** vectors[] = {&s->lambda, &s->b, &s->w, &s->lo, &s->up, &s->z};
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        *vectors[i] = ITM_TAKE(arena, double, capacity);
    }
    s->state = ITM_TAKE(arena, signed char, capacity);
    s->basis = ITM_TAKE(arena, int, capacity);
}

// ---------------------------------------------------------------------------- polynomials

static double evaluate(const double* p, int degree, double x)
{
    double sum = p[degree];
    for (int i = degree - 1; i >= 0; i--) {
        sum = sum * x + p[i];
    }
    return sum;
}

// First x in (from, to] where p0 + p1 x + p2 x^2 falls below zero, or `to` where it does not. It is not below at `from`.
static double find_fall(double p0, double p1, double p2, double from, double to)
{
    if (p2 == 0.0) {
        double x = p1 < 0.0 ? -p0 / p1 : to;
        return x > from && x < to ? x : to;
    }
    double discriminant = p1 * p1 - 4.0 * p2 * p0;
    if (discriminant <= 0.0) {
        return to;
    }
    // both roots without cancellation; the function falls through the one where 2 p2 x + p1 < 0: the smaller one of an
    // upward parabola, the larger one of a downward parabola
    double q = -0.5 * (p1 + copysign(sqrt(discriminant), p1));
    double first = q / p2, second = q != 0.0 ? p0 / q : first;
    double x = p2 > 0.0 ? fmin(first, second) : fmax(first, second);
    return x > from && x < to ? x : to;
}

#define ROOT 1e-15  // of the interval: accuracy of a root

// Root of the polynomial between two points where its signs differ: Newton's method within the interval that is left, which is halved
// where that leads out of it.
static double find_root(const double* p, int degree, double a, double b)
{
    bool is_rising = evaluate(p, degree, a) < 0.0;
    double x = 0.5 * (a + b), accuracy = ROOT * (fabs(a) + fabs(b));
    for (int i = 0; i < 200 && b - a > accuracy; i++) {
        double f = p[degree], slope = 0.0;
        for (int k = degree - 1; k >= 0; k--) {
            slope = slope * x + f;
            f = f * x + p[k];
        }
        if ((f < 0.0) == is_rising) {
            a = x;
        } else {
            b = x;
        }
        double next = x - f / slope;
        bool is_inside = next > a && next < b;
        if (f == 0.0 || (is_inside && fabs(next - x) <= accuracy)) {
            return x;
        }
        x = is_inside ? next : 0.5 * (a + b);
    }
    return x;
}

// Zeros of a quartic's slope inside (a, b), up to three. The slope is monotonous between its own extrema.
static int find_stationary(const double q[5], double a, double b, double out[3])
{
    const double slope[4] = {q[1], 2.0 * q[2], 3.0 * q[3], 4.0 * q[4]};
    double ends[4] = {a};
    int nend = 1, count = 0;
    double discriminant = slope[2] * slope[2] - 3.0 * slope[3] * slope[1];
    if (discriminant > 0.0) {
        double t = -(slope[2] + copysign(sqrt(discriminant), slope[2]));
        double first = slope[3] != 0.0 ? t / (3.0 * slope[3]) : a, second = t != 0.0 ? slope[1] / t : a;
        double low = fmin(first, second), high = fmax(first, second);
        if (low > a && low < b) {
            ends[nend++] = low;
        }
        if (high > a && high < b) {
            ends[nend++] = high;
        }
    }
    ends[nend] = b;
    for (int i = 0; i < nend; i++) {
        double f = evaluate(slope, 3, ends[i]), g = evaluate(slope, 3, ends[i + 1]);
        if ((f < 0.0 && g > 0.0) || (f > 0.0 && g < 0.0)) {
            out[count++] = find_root(slope, 3, ends[i], ends[i + 1]);
        }
    }
    return count;
}

// ---------------------------------------------------------------------------- basis

static double n_at(const ItmStepSearch* s, int i, int j)
{
    return s->N[(size_t)i * (size_t)s->n + (size_t)j];
}

// Solve L y = r (nbasis), in place.
static void solve_lower(const ItmStepSearch* s, double* r)
{
    for (int i = 0; i < s->nbasis; i++) {
        const double* row = s->L + (size_t)i * (size_t)s->n;
        for (int k = 0; k < i; k++) {
            r[i] -= row[k] * r[k];
        }
        r[i] /= row[i];
    }
}

static void solve_upper(const ItmStepSearch* s, double* r)
{
    for (int i = s->nbasis - 1; i >= 0; i--) {
        for (int k = i + 1; k < s->nbasis; k++) {
            r[i] -= s->L[(size_t)k * (size_t)s->n + (size_t)i] * r[k];
        }
        r[i] /= s->L[(size_t)i * (size_t)s->n + (size_t)i];
    }
}

// Append row j to the factor. False, leaving the factor as it was: it depends on the rows there; then z holds the combination.
static bool append(ItmStepSearch* s, int j)
{
    int k = s->nbasis;
    double* row = s->L + (size_t)k * (size_t)s->n;
    for (int i = 0; i < k; i++) {
        s->z[i] = n_at(s, s->basis[i], j);
    }
    solve_lower(s, s->z);
    double left = n_at(s, j, j);
    for (int i = 0; i < k; i++) {
        row[i] = s->z[i];
        left -= s->z[i] * s->z[i];
    }
    if (left <= DEPENDENT * n_at(s, j, j)) {
        solve_upper(s, s->z);
        return false;
    }
    row[k] = sqrt(left);
    s->basis[s->nbasis++] = j;
    return true;
}

// Take a row out of the basis and make the factor anew.
static void drop(ItmStepSearch* s, int position)
{
    int count = s->nbasis - 1;
    memmove(s->basis + position, s->basis + position + 1, sizeof(int) * (size_t)(count - position));
    s->nbasis = 0;
    for (int i = 0; i < count; i++) {
        append(s, s->basis[i]);
    }
}

// Independent rows that carry the same forces as the solution lambda: where a row depends on those chosen, forces move along
// the combination that does nothing until one of them is zero, and that row stays out (Caratheodory).
static void choose_basis(ItmStepSearch* s)
{
    double scale = 0.0;
    for (int i = 0; i < s->n; i++) {
        scale = fmax(scale, s->lambda[i]);
    }
    s->nbasis = 0;
    for (int j = 0; j < s->n; j++) {
        if (s->lambda[j] <= NEGATIVE * scale || append(s, j)) {
            continue;
        }
        // row j = sum z_i row i: lambda_j -> 0 moves lambda_i by +z_i lambda_j, unless one would turn negative before
        double way = s->lambda[j];
        int first = -1;
        for (int i = 0; i < s->nbasis; i++) {
            double room = s->z[i] < 0.0 ? s->lambda[s->basis[i]] / -s->z[i] : INFINITY;
            if (room < way) {
                way = room;
                first = i;
            }
        }
        for (int i = 0; i < s->nbasis; i++) {
            s->lambda[s->basis[i]] += way * s->z[i];
        }
        s->lambda[j] -= way;
        if (first >= 0) {
            drop(s, first);
            append(s, j);
        }
    }
}

// ---------------------------------------------------------------------------- pieces

static ItmStatus solve_at(ItmStepSearch* s, double x, ItmError* error)
{
    for (int i = 0; i < s->n; i++) {
        s->b[i] = s->c[0][i] + x * (s->c[1][i] + x * s->c[2][i]);
        s->lo[i] = 0.0;
        s->up[i] = INFINITY;
    }
    ItmMlcpProblem problem = {.n = s->n, .H = s->N, .b = s->b, .lo = s->lo, .up = s->up, .is_symmetric = true};
    ItmMlcpOptions options = itm_default_mlcp_options();
    options.warm_start = true;
    ItmMlcpResult result = {.x = s->lambda, .w = s->w, .state = s->state};
    ItmStatus status = itm_mlcp_solve(s->workspace, &result, &problem, &options, error);
    if (status == ITM_OK) {
        choose_basis(s);
    }
    return status;
}

// Coefficients of the forces of the basis and of the slacks of all rows.
static void compute_piece(ItmStepSearch* s)
{
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < s->nbasis; i++) {
            s->l[k][i] = -s->c[k][s->basis[i]];
        }
        solve_lower(s, s->l[k]);
        solve_upper(s, s->l[k]);
        for (int j = 0; j < s->n; j++) {
            double sum = s->c[k][j];
            for (int i = 0; i < s->nbasis; i++) {
                sum += n_at(s, j, s->basis[i]) * s->l[k][i];
            }
            s->s[k][j] = sum;
        }
    }
}

// What ends a piece: a row of the basis whose force, or a row outside whose slack falls below zero.
typedef struct {
    double x;
    int leaving;   // position in the basis, or ITM_NONE
    int entering;  // row, or ITM_NONE
} Event;

static bool is_basic(const ItmStepSearch* s, int row)
{
    for (int i = 0; i < s->nbasis; i++) {
        if (s->basis[i] == row) {
            return true;
        }
    }
    return false;
}

static double force_at(const ItmStepSearch* s, int position, double x)
{
    return s->l[0][position] + x * (s->l[1][position] + x * s->l[2][position]);
}

static double slack_at(const ItmStepSearch* s, int row, double x)
{
    return s->s[0][row] + x * (s->s[1][row] + x * s->s[2][row]);
}

// Largest force, and what rounding may leave of it and of a slack.
static double force_scale(const ItmStepSearch* s, double x)
{
    double force = 0.0;
    for (int i = 0; i < s->nbasis; i++) {
        force = fmax(force, fabs(force_at(s, i, x)));
    }
    return force;
}

static double slack_rounding(const ItmStepSearch* s, int row, double x, double force)
{
    double b = fabs(s->c[0][row]) + x * (fabs(s->c[1][row]) + x * fabs(s->c[2][row]));
    return NEGATIVE * (b + n_at(s, row, row) * force);
}

// Where the piece that holds at `x` ends, at most x_hi.
static Event find_end(const ItmStepSearch* s, double x)
{
    Event event = {s->x_hi, ITM_NONE, ITM_NONE};
    double force = force_scale(s, x);
    for (int i = 0; i < s->nbasis; i++) {
        double end = find_fall(s->l[0][i] + NEGATIVE * force, s->l[1][i], s->l[2][i], x, event.x);
        event = end < event.x ? (Event){end, i, ITM_NONE} : event;
    }
    for (int j = 0; j < s->n; j++) {
        if (!is_basic(s, j)) {
            double end = find_fall(s->s[0][j] + slack_rounding(s, j, x, force), s->s[1][j], s->s[2][j], x, event.x);
            event = end < event.x ? (Event){end, ITM_NONE, j} : event;
        }
    }
    return event;
}

// The worst row of a basis at x: the force or slack that is furthest below zero, in units of its rounding. False: none is.
static bool find_broken(const ItmStepSearch* s, double x, Event* broken)
{
    double force = force_scale(s, x), worst = -1.0;
    *broken = (Event){x, ITM_NONE, ITM_NONE};
    for (int i = 0; i < s->nbasis; i++) {
        double share = force_at(s, i, x) / (NEGATIVE * force);
        if (share < worst) {
            worst = share;
            *broken = (Event){x, i, ITM_NONE};
        }
    }
    for (int j = 0; j < s->n; j++) {
        double rounding = slack_rounding(s, j, x, force), share = rounding > 0.0 ? slack_at(s, j, x) / rounding : 0.0;
        if (share < worst && !is_basic(s, j)) {
            worst = share;
            *broken = (Event){x, ITM_NONE, j};
        }
    }
    return worst < -1.0;
}

// Exchange one row. False: the row that should enter depends on the basis.
static bool exchange(ItmStepSearch* s, const Event* event)
{
    if (event->leaving != ITM_NONE) {
        drop(s, event->leaving);
        return true;
    }
    return append(s, event->entering);
}

// Exchange rows until the basis holds at x. False: it does not.
static bool repair(ItmStepSearch* s, double x)
{
    Event broken;
    compute_piece(s);
    for (int k = 0; k < 2 * s->n && find_broken(s, x, &broken); k++) {
        if (!exchange(s, &broken)) {
            return false;
        }
        compute_piece(s);
    }
    return !find_broken(s, x, &broken);
}

// Rows that pushed in the step before.
static void guess_basis(ItmStepSearch* s)
{
    s->nbasis = 0;
    for (int i = 0; i < s->n; i++) {
        if (s->state[i] == ITM_ROW_ACTIVE) {
            append(s, i);
        }
    }
}

// The basis that holds at x: that of the piece before with one row exchanged, or else from a solve, whose tolerance is relative to
// the largest row and must be mended for the small ones.
static ItmStatus find_basis(ItmStepSearch* s, double x, const Event* event, ItmError* error)
{
    bool is_next = event->leaving != ITM_NONE || event->entering != ITM_NONE;
    if ((!is_next || exchange(s, event)) && repair(s, x)) {
        return ITM_OK;
    }
    ItmStatus status = s->n > 0 ? solve_at(s, x, error) : ITM_OK;
    if (status == ITM_OK) {
        repair(s, x);
    }
    return status;
}

// Coefficients of p(x + origin), in place.
static void shift(double* p, int degree, double origin)
{
    for (int i = 0; i < degree; i++) {
        for (int k = degree - 1; k >= i; k--) {
            p[k] += origin * p[k + 1];
        }
    }
}

// The objective p - lambda_B . b_B as a quartic in x - origin, which has less to cancel than one in x.
static void compute_quartic(const ItmStepSearch* s, double q[5], double origin)
{
    memcpy(q, s->p, 5 * sizeof *q);
    shift(q, 4, origin);
    for (int i = 0; i < s->nbasis; i++) {
        double l[3] = {s->l[0][i], s->l[1][i], s->l[2][i]};
        double c[3] = {s->c[0][s->basis[i]], s->c[1][s->basis[i]], s->c[2][s->basis[i]]};
        shift(l, 2, origin);
        shift(c, 2, origin);
        for (int k = 0; k < 3; k++) {
            for (int m = 0; m < 3; m++) {
                q[k + m] -= l[k] * c[m];
            }
        }
    }
}

// The objective p + b_B' N_BB^-1 b_B as a sum of squares: exact where it is small.
static double compute_objective(ItmStepSearch* s, double x)
{
    double sum = evaluate(s->p, 4, x);
    for (int i = 0; i < s->nbasis; i++) {
        int j = s->basis[i];
        s->z[i] = s->c[0][j] + x * (s->c[1][j] + x * s->c[2][j]);
    }
    solve_lower(s, s->z);
    for (int i = 0; i < s->nbasis; i++) {
        sum += s->z[i] * s->z[i];
    }
    return sum;
}

static void offer(ItmStepSearch* s, double x)
{
    double value = compute_objective(s, x);
    // the search goes from small x to large: a later one must be better than a tie
    bool is_first = isinf(s->objective);
    double tie = is_first ? 0.0 : ITM_SEARCH_TIE * fmax(fabs(value), fabs(s->objective));
    if (is_first || value < s->objective - tie) {
        s->objective = value;
        s->x = x;
    }
}

// The least values of a piece [a, b], in rising order of x.
static void offer_piece(ItmStepSearch* s, double a, double b)
{
    double q[5], at[3];
    compute_quartic(s, q, a);
    offer(s, a);
    int n = find_stationary(q, 0.0, b - a, at);
    for (int i = 0; i < n; i++) {
        offer(s, a + at[i]);
    }
    offer(s, b);
}

ItmStatus itm_search_run(ItmStepSearch* s, ItmError* error)
{
    s->x = s->x_lo;
    s->objective = INFINITY;
    s->npiece = 0;
    s->is_complete = false;
    guess_basis(s);
    double x = s->x_lo, probe = s->x_lo, beyond = BEYOND;
    Event event = {x, ITM_NONE, ITM_NONE};
    while (s->npiece < MAX_PIECES) {
        ItmStatus status = find_basis(s, probe, &event, error);
        if (status != ITM_OK) {
            return status;
        }
        event = find_end(s, probe);
        offer_piece(s, x, event.x);
        s->npiece++;
        // nothing is less than no force at all
        if (event.x >= s->x_hi || s->x_hi <= s->x_lo || s->objective == 0.0) {
            s->is_complete = true;
            break;
        }
        // a piece that ends where it begins hides behind rounding: look further on
        beyond = event.x - x > 10.0 * beyond * x ? BEYOND : 4.0 * beyond;
        x = event.x;
        probe = fmin(x * (1.0 + beyond), s->x_hi);
    }
    return ITM_OK;
}
