// Trapezoidal rule: x_next = x + h/2 (f(x) + f(x_next)), solved by Newton's method with backtracking.
//
// Spools and inertial flows depend on pressures (pilots) and on themselves, linearly: they are eliminated in closed form. What is left for
// Newton are the pressures, and these only couple inside an island: (I - h/2 J) is block diagonal.
// Where Newton fails the step is made in halves, and so on; the step info counts that.
#include "hydraulics/data.h"

#include "base/error.h"

#include <math.h>
#include <string.h>

#define PRESSURE_SCALE 1e5  // smallest pressure that residuals are measured against, Pa
#define TRUSTED_CHANGE 0.1  // relative change of pressures up to which forward Euler is a good first guess
#define MAX_HALVINGS 12     // of a Newton correction
#define LEAST_DECREASE 0.1  // of the residual, as a share of what the linearisation promises
#define MAX_SPLITS 8        // halvings of a step whose pressures Newton cannot find

// ---------------------------------------------------------------------------- spools

// Order 1: (1 + g) u = u_prev + h/2 f + g r with g = h rate / 2. Order 2: the same for (u, u'), by elimination.
static void solve_spools(const ItmCircuit* c, const ItmHydraulics* d, double* x_next, const double* f, double h)
{
    for (int i = 0; i < c->ncontrol; i++) {
        const ItmSpool* control = &c->controls[i];
        int adr = control->x_adr;
        double r = control->order > 0 ? itm_kernel_get_spool_command(c, d, i) : 0.0;
        double half = 0.5 * h;
        if (control->order == 1) {
            double g = half * control->rate;
            x_next[adr] = (d->x[adr] + half * f[adr] + g * r) / (1.0 + g);
        } else if (control->order == 2) {
            // u = a + half v,  v = b + half (omega^2 (r - u) - damping v)
            double a = d->x[adr] + half * f[adr], b = d->x[adr + 1] + half * f[adr + 1];
            double stiff = half * control->rate * control->rate;
            double v = (b + stiff * (r - a)) / (1.0 + half * (stiff + control->damping));
            x_next[adr] = a + half * v;
            x_next[adr + 1] = v;
        }
    }
}

// (1 + half rate) q = q_prev + half f + half inv_inertia (p_a - p_b)
static void solve_lines(const ItmCircuit* c, const ItmHydraulics* d, double* x_next, const double* f, double h)
{
    double half = 0.5 * h;
    for (int i = 0; c->ninertial > 0 && i < c->nbranch; i++) {
        const ItmBranch* branch = &c->branches[i];
        int adr = branch->x_adr;
        if (adr != ITM_NONE) {
            double pushed = half * branch->inv_inertia * (d->p[branch->a] - d->p[branch->b]);
            x_next[adr] = (d->x[adr] + half * f[adr] + pushed) / (1.0 + half * branch->rate);
        }
    }
}

// Rates at x_stage, with the states that follow its pressures
static void evaluate(const ItmCircuit* c, ItmHydraulics* d, double h)
{
    if (c->has_followers) {
        itm_kernel_compute_commands(c, d, d->x_stage);
        solve_spools(c, d, d->x_stage, d->k[0], h);
        solve_lines(c, d, d->x_stage, d->k[0], h);
    }
    itm_kernel_compute(c, d, d->k[1], d->x_stage);
}

// ---------------------------------------------------------------------------- Newton matrix

// The entry of a row and a column of one island.
static void add_to_blocks(void* context, int row, int col, double value)
{
    ItmHydraulics* d = context;
    d->lu[d->circuit->lu_diag[row] + col - row] += value;
}

// Blocks of I - h/2 J, J = df/dx of the pressures
static void assemble_blocks(const ItmCircuit* c, ItmHydraulics* d, const double* x, double h)
{
    double* lu = d->lu;
    memset(lu, 0, sizeof(double) * (size_t)c->nlu);
    // d flow / dx; a volume that cavitates keeps its pressure
    for (int i = 0; i < c->nbranch; i++) {
        const ItmBranch* branch = &c->branches[i];
        int a = branch->a, b = branch->b;
        double slope = d->q_p[i];
        if (slope != 0.0 && a < c->nvol && x[a] >= c->oil[a].vapour) {
            lu[branch->aa] -= slope;
            if (b < c->nvol) {
                lu[branch->ba] += slope;
            }
        }
        if (slope != 0.0 && b < c->nvol && x[b] >= c->oil[b].vapour) {
            lu[branch->bb] -= slope;
            if (a < c->nvol) {
                lu[branch->ab] += slope;
            }
        }
    }
    itm_kernel_visit_pilots(c, d, x, add_to_blocks, d);
    // d (flow / capacity), times -h/2, plus I
    for (int island = 0; island < c->nisland; island++) {
        int start = c->island_adr[island], n = c->island_adr[island + 1] - start;
        double* row = lu + c->lu_adr[island];
        for (int i = start; i < start + n; i++, row += n) {
            double inv_capacity = 1.0 / d->capacity[i];
            row[i - start] -= d->flow[i] * d->capacity_p[i] * inv_capacity;
            for (int j = 0; j < n; j++) {
                row[j] *= -0.5 * h * inv_capacity;
            }
            row[i - start] += 1.0;
        }
    }
}

// Gauss elimination with partial pivoting: A x = b, n x n, in place. The diagonal ends up inverted.
static void solve_block(double* A, double* b, int n)
{
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++) {
            best = fabs(A[i * n + k]) > fabs(A[best * n + k]) ? i : best;
        }
        for (int j = 0; best != k && j < n; j++) {
            double swap = A[k * n + j];
            A[k * n + j] = A[best * n + j];
            A[best * n + j] = swap;
        }
        double swap = b[k];
        b[k] = b[best];
        b[best] = swap;
        double inverse = 1.0 / A[k * n + k];
        A[k * n + k] = inverse;
        for (int i = k + 1; i < n; i++) {
            double factor = A[i * n + k] * inverse;
            for (int j = k + 1; j < n; j++) {
                A[i * n + j] -= factor * A[k * n + j];
            }
            b[i] -= factor * b[k];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) {
            b[i] -= A[i * n + j] * b[j];
        }
        b[i] *= A[i * n + i];
    }
}

// ---------------------------------------------------------------------------- Newton

// Sizes are relative to the pressures at the start, so that they can be compared over the iterations.
static inline double relative(const ItmHydraulics* d, double value, int i)
{
    return fabs(value) / (fabs(d->x[i]) + PRESSURE_SCALE);
}

// delta = x_next - x - h/2 (f_0 + f_1) of the pressures; returns its largest relative size
static double compute_residual(const ItmCircuit* c, ItmHydraulics* d, double h)
{
    double largest = 0.0;
    for (int i = 0; i < c->nvol; i++) {
        d->delta[i] = d->x_stage[i] - d->x[i] - 0.5 * h * (d->k[0][i] + d->k[1][i]);
        bool has_modulus = d->x_stage[i] < c->oil[i].highest;
        double size = has_modulus ? relative(d, d->delta[i], i) : INFINITY;
        largest = size > largest || isnan(size) ? size : largest;
    }
    return largest;
}

// delta: residual -> correction -(I - h/2 J)^-1 residual; returns its largest relative size
static double compute_correction(const ItmCircuit* c, ItmHydraulics* d, double h)
{
    itm_kernel_differentiate(c, d, d->x_stage);
    itm_kernel_eliminate(c, d, 0.5 * h);
    assemble_blocks(c, d, d->x_stage, h);
    for (int i = 0; i < c->nisland; i++) {
        int start = c->island_adr[i], n = c->island_adr[i + 1] - start;
        solve_block(d->lu + c->lu_adr[i], d->delta + start, n);
    }
    double largest = 0.0;
    for (int i = 0; i < c->nvol; i++) {
        d->delta[i] = -d->delta[i];
        double size = relative(d, d->delta[i], i);
        largest = size > largest ? size : largest;
    }
    return largest;
}

// From x_stage along delta, halving until the residual falls as it should. Leaves rates, residual and x_stage.
static double advance(const ItmCircuit* c, ItmHydraulics* d, double before, double h)
{
    double* step = d->k[2];
    memcpy(d->x_trial, d->x_stage, sizeof(double) * (size_t)c->nx);
    memcpy(step, d->delta, sizeof(double) * (size_t)c->nvol);
    double factor = 1.0, after = before;
    for (int n = 0; n < MAX_HALVINGS; n++, factor *= 0.5) {
        for (int i = 0; i < c->nvol; i++) {
            d->x_stage[i] = d->x_trial[i] + factor * step[i];
        }
        evaluate(c, d, h);
        after = compute_residual(c, d, h);
        if (after <= (1.0 - LEAST_DECREASE * factor) * before) {
            break;
        }
    }
    return after;
}

// First guess: x + h f_0, or, where that is far off (h beyond the time constants), x.
static void predict(const ItmCircuit* c, ItmHydraulics* d, double h)
{
    double largest = 0.0;
    for (int i = 0; i < c->nvol; i++) {
        d->x_stage[i] = d->x[i] + h * d->k[0][i];
        double size = relative(d, h * d->k[0][i], i);
        largest = size > largest ? size : largest;
    }
    if (!(largest <= TRUSTED_CHANGE)) {
        memcpy(d->x_stage, d->x, sizeof(double) * (size_t)c->nvol);
    }
}

// Pressures at the end of the step, in x_stage. Done when the residual or the last correction is within the tolerance.
static bool solve(const ItmCircuit* c, ItmHydraulics* d, double h)
{
    double tolerance = d->options.tolerance;
    evaluate(c, d, h);
    double residual = compute_residual(c, d, h), correction = INFINITY;
    int iterations = 0;
    while (residual > tolerance && correction > tolerance && iterations < d->options.max_iterations) {
        correction = compute_correction(c, d, h);
        residual = advance(c, d, residual, h);
        iterations++;
    }
    d->counters[ITM_COUNT_ITERATIONS] += iterations;
    d->counters[ITM_COUNT_RESIDUAL] = residual;
    return residual <= tolerance || (correction <= tolerance && isfinite(residual));
}

// ---------------------------------------------------------------------------- step

// A step is made as a whole, or, where Newton fails, in halves.
typedef struct Part {
    double t, h;      // the whole step
    double from, to;  // the part, from the start of the step
} Part;

static bool step_part(const ItmCircuit* c, ItmHydraulics* d, Part part)
{
    double h = part.to - part.from, power_0[ITM_HYDRAULIC_ACCOUNT_COUNT], power_1[ITM_HYDRAULIC_ACCOUNT_COUNT];
    bool use_ledger = d->options.use_ledger;

    // f_0 at the start
    itm_stage_set(c, d, part.t, part.h, part.from);
    itm_kernel_compute(c, d, d->k[0], d->x);
    if (use_ledger) {
        itm_kernel_compute_power(c, d, power_0);
    }

    // spools in closed form, pressures by Newton
    itm_stage_set(c, d, part.t, part.h, part.to);
    predict(c, d, h);
    itm_kernel_compute_commands(c, d, d->x_stage);
    solve_spools(c, d, d->x_stage, d->k[0], h);
    if (!solve(c, d, h)) {
        return false;
    }
    memcpy(d->x, d->x_stage, sizeof(double) * (size_t)c->nx);

    // the last evaluation of Newton was at x
    if (use_ledger) {
        itm_kernel_compute_power(c, d, power_1);
        for (int i = 0; i < ITM_HYDRAULIC_ACCOUNT_COUNT; i++) {
            d->ledger[i] += 0.5 * h * (power_0[i] + power_1[i]);
        }
    }
    return true;
}

static bool step_in_halves(const ItmCircuit* c, ItmHydraulics* d, Part part, int depth)
{
    if (step_part(c, d, part)) {
        return true;
    }
    if (depth == MAX_SPLITS) {
        return false;
    }
    d->counters[ITM_COUNT_SPLITS] += 1.0;
    double middle = 0.5 * (part.from + part.to);
    return step_in_halves(c, d, (Part){part.t, part.h, part.from, middle}, depth + 1) &&
           step_in_halves(c, d, (Part){part.t, part.h, middle, part.to}, depth + 1);
}

ItmStatus itm_trapezoidal_step(const ItmCircuit* c, ItmHydraulics* d, double t, double h)
{
    d->counters[ITM_COUNT_ITERATIONS] = 0.0;
    if (step_in_halves(c, d, (Part){t, h, 0.0, h}, 0)) {
        return ITM_OK;
    }
    return itm_error_set(
        &d->error, ITM_ERR_DIVERGED, "itm_hydraulics_step", NULL,
        "the trapezoidal step from t = %.9g s by %g s found no pressures, not even in %d parts (relative "
        "residual %.3g)",
        t, h, 1 << MAX_SPLITS, d->counters[ITM_COUNT_RESIDUAL]);
}
