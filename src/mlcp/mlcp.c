// The public face of the room: options, workspace, and the ladder of solvers behind itm_mlcp_solve.
#include "base/error.h"
#include "mlcp/friction.h"
#include "mlcp/workspace.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------- names and defaults

static const char* const OUTCOME_MESSAGES[ITM_MLCP_OUTCOME_COUNT] = {
    [ITM_MLCP_SOLVED] = "solved",
    [ITM_MLCP_SOLVED_TO_ROUNDING] = "solved as well as rounding allows, but not to the tolerance",
    [ITM_MLCP_NO_SOLUTION] = "the problem has no solution; the ray proves it",
    [ITM_MLCP_NOT_CONVERGED] = "no solver reached the tolerance",
    [ITM_MLCP_UNSUITABLE] = "the chosen solver cannot treat this kind of problem",
};

static const char* const SOLVER_NAMES[ITM_MLCP_SOLVER_COUNT] = {
    [ITM_MLCP_AUTO] = "auto",
    [ITM_MLCP_PIVOTING] = "pivoting",
    [ITM_MLCP_NEWTON] = "newton",
    [ITM_MLCP_GAUSS_SEIDEL] = "gauss-seidel",
    [ITM_MLCP_ADMM] = "admm",
    [ITM_MLCP_LEMKE] = "lemke",
    [ITM_MLCP_ENUMERATION] = "enumeration",
};

const char* itm_mlcp_outcome_message(ItmMlcpOutcome outcome)
{
    bool is_known = (int)outcome >= 0 && outcome < ITM_MLCP_OUTCOME_COUNT;
    return is_known ? OUTCOME_MESSAGES[outcome] : "unknown outcome";
}

const char* itm_mlcp_solver_name(ItmMlcpSolver solver)
{
    bool is_known = (int)solver >= 0 && solver < ITM_MLCP_SOLVER_COUNT;
    return is_known ? SOLVER_NAMES[solver] : "unknown solver";
}

ItmMlcpOptions itm_default_mlcp_options(void)
{
    return (ItmMlcpOptions){.solver = ITM_MLCP_AUTO, .tolerance = 1e-10, .max_iterations = 20000, .relaxation = 1.3};
}

ItmMlcpCapacity itm_default_mlcp_capacity(int n, int ncontact)
{
    // every row doubly bounded, or a contact as normal, two pairs of directions and two slacks
    const int most = 2048;
    // a coupling has a tangent row of its own
    ncontact = ncontact < n ? ncontact : n;
    int nlcp = n > most || ncontact > most ? most : 2 * n + 3 * ncontact;
    return (ItmMlcpCapacity){.n = n, .ncontact = ncontact, .nlcp = nlcp < most ? nlcp : most};
}

// ---------------------------------------------------------------------------- workspace

#define MOST_ROWS (1 << 26)  // so that numbers of rows, and a few times as many, fit an int; memory ends long before

static void lay_out(ItmMlcpWorkspace* ws)
{
    ItmArena* arena = &ws->arena;
    int n = ws->capacity.n, ld = itm_dense_pad(n), nlcp = ws->capacity.nlcp;
    double** vectors[] = {&ws->s.b, &ws->s.lo,  &ws->s.up,   &ws->s.d,    &ws->s.inv_d, &ws->x,     &ws->w,
                          &ws->ray, &ws->shift, &ws->x_best, &ws->w_best, &ws->x_user,  &ws->w_user};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++) {
        *vectors[k] = ITM_TAKE(arena, double, ld);
    }
    for (int k = 0; k < ITM_MLCP_NVEC; k++) {
        ws->v[k] = ITM_TAKE(arena, double, ld);
    }
    for (int k = 0; k < ITM_MLCP_NINT; k++) {
        ws->iv[k] = ITM_TAKE(arena, int, ld);
    }
    ws->s.tangent_of = ITM_TAKE(arena, int, n);
    ws->s.cone_of = ITM_TAKE(arena, int, n);
    ws->s.ngroup = ITM_TAKE(arena, int, n);
    ws->s.end = ITM_TAKE(arena, int, n);
    ws->s.contacts = ITM_TAKE(arena, ItmMlcpContact, 2 * ws->capacity.ncontact);
    ws->state = ITM_TAKE(arena, signed char, n);
    ws->state_best = ITM_TAKE(arena, signed char, n);
    ws->mark = ITM_TAKE(arena, signed char, n);

    int width = itm_dense_pad(nlcp + 2);
    for (int k = 0; k < 2; k++) {
        ws->tv[k] = ITM_TAKE(arena, double, width);
    }
    for (int k = 0; k < 4; k++) {
        ws->ti[k] = ITM_TAKE(arena, int, 2 * width);
    }
    ws->s.H = ITM_TAKE(&ws->matrices, double, (size_t)n*(size_t)ld);
    ws->s.group = ITM_TAKE(&ws->matrices, int, (size_t)n*(size_t)(ld / 4));
    ws->F = ITM_TAKE(&ws->matrices, double, (size_t)n*(size_t)ld);
    ws->T = ITM_TAKE(&ws->matrices, double, (size_t)nlcp*(size_t)width);
}

size_t itm_mlcp_workspace_measure(const ItmMlcpCapacity* capacity)
{
    ItmMlcpWorkspace ws = {.capacity = *capacity};
    lay_out(&ws);
    return sizeof ws + ws.arena.used + ws.matrices.used;
}

ItmStatus itm_mlcp_workspace_create(ItmMlcpWorkspace** workspace, const ItmMlcpCapacity* capacity, ItmError* error)
{
    if (workspace == NULL || capacity == NULL || capacity->n < 1 || capacity->ncontact < 0 || capacity->nlcp < 0 ||
        capacity->n > MOST_ROWS || capacity->ncontact > MOST_ROWS || capacity->nlcp > MOST_ROWS) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, "capacity",
                             "a workspace has 1 to %d rows and 0 to %d contacts and LCP rows", MOST_ROWS, MOST_ROWS);
    }
    ItmMlcpWorkspace* ws = calloc(1, sizeof *ws);
    if (ws == NULL) {
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "no memory for a workspace");
    }
    ws->capacity = *capacity;
    ws->dense = itm_dense_choose();
    lay_out(ws);
    if (itm_arena_allocate(&ws->arena) != 0 || itm_arena_allocate_scratch(&ws->matrices) != 0) {
        itm_mlcp_workspace_destroy(ws);
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, "capacity", "no memory for %d rows and %d LCP rows",
                             capacity->n, capacity->nlcp);
    }
    lay_out(ws);
    *workspace = ws;
    return ITM_OK;
}

void itm_mlcp_workspace_destroy(ItmMlcpWorkspace* workspace)
{
    if (workspace != NULL) {
        itm_arena_free(&workspace->arena);
        itm_arena_free(&workspace->matrices);
        free(workspace);
    }
}

// ---------------------------------------------------------------------------- common steps

double itm_mlcp_measure(ItmMlcpWorkspace* ws)
{
    const ItmMlcpScaled* s = &ws->s;
    itm_mlcp_multiply(ws, ws->w, ws->x, NULL, s->n);
    for (int i = 0; i < s->n; i++) {
        ws->w[i] += s->b[i];
        ws->x_user[i] = s->d[i] * ws->x[i];
        ws->w_user[i] = ws->w[i] * s->inv_d[i];
    }
    return ws->residual = itm_residual_compute(ws->problem, ws->x_user, ws->w_user, s->tangent_of);
}

static bool is_on_bound(double x, double r)
{
    return fabs(x) >= r * (1.0 - 1e-12);
}

static signed char classify_tangent(const ItmMlcpScaled* s, const double* x, const double* w, int i)
{
    const ItmMlcpContact* c = &s->contacts[s->tangent_of[i]];
    double r = c->mu * fmax(0.0, x[c->normal]);
    if (c->law == ITM_FRICTION_BOX) {
        return is_on_bound(x[i] - w[i], r) ? (x[i] - w[i] > 0.0 ? ITM_ROW_UP : ITM_ROW_LO) : ITM_ROW_ACTIVE;
    }
    double t[2] = {x[c->tangent[0]] - w[c->tangent[0]], x[c->tangent[1]] - w[c->tangent[1]]};
    if (c->law == ITM_FRICTION_CONE) {
        return is_on_bound(hypot(t[0], t[1]), r) ? ITM_ROW_LO : ITM_ROW_ACTIVE;
    }
    return itm_friction_project_polygon(t, r * (1.0 - 1e-12), c->ndirection) >= 0 ? ITM_ROW_LO : ITM_ROW_ACTIVE;
}

// States for solvers that do not keep an active set, from x - w as complementarity has it: x of a tight row may miss its bound by
// rounding.
static void classify_rows(ItmMlcpWorkspace* ws)
{
    const ItmMlcpScaled* s = &ws->s;
    for (int i = 0; i < s->n; i++) {
        if (s->tangent_of[i] != ITM_NONE) {
            ws->state[i] = classify_tangent(s, ws->x, ws->w, i);
        } else {
            double y = ws->x[i] - ws->w[i];
            ws->state[i] = y <= s->lo[i] ? ITM_ROW_LO : y >= s->up[i] ? ITM_ROW_UP : ITM_ROW_ACTIVE;
        }
    }
}

// ---------------------------------------------------------------------------- ladder

typedef bool (*SolveFunction)(ItmMlcpWorkspace*, const ItmMlcpOptions*, ItmMlcpInfo*);

static const SolveFunction SOLVERS[ITM_MLCP_SOLVER_COUNT] = {
    [ITM_MLCP_PIVOTING] = itm_pivoting_solve,
    [ITM_MLCP_NEWTON] = itm_newton_solve,
    [ITM_MLCP_GAUSS_SEIDEL] = itm_gauss_seidel_solve,
    [ITM_MLCP_ADMM] = itm_admm_solve,
    [ITM_MLCP_LEMKE] = itm_lemke_solve,
    [ITM_MLCP_ENUMERATION] = itm_enumeration_solve,
};

typedef struct Rung {
    ItmMlcpSolver solver;
    int max_iterations;  // 0: as in the options
} Rung;

#define END                                                                                                            \
    {                                                                                                                  \
        ITM_MLCP_AUTO, 0                                                                                               \
    }
static const Rung LADDER_BOUNDS[] = {{ITM_MLCP_PIVOTING, 0},
                                     {ITM_MLCP_NEWTON, 0},
                                     {ITM_MLCP_LEMKE, 0},
                                     {ITM_MLCP_ADMM, 0},
                                     {ITM_MLCP_NEWTON, 0},
                                     {ITM_MLCP_ENUMERATION, 0},
                                     END};
static const Rung LADDER_FRICTION[] = {
    {ITM_MLCP_NEWTON, 0}, {ITM_MLCP_ADMM, 300}, {ITM_MLCP_NEWTON, 0},       {ITM_MLCP_LEMKE, 0},
    {ITM_MLCP_ADMM, 0},   {ITM_MLCP_NEWTON, 0}, {ITM_MLCP_GAUSS_SEIDEL, 0}, END};
static const Rung LADDER_GENERAL[] = {{ITM_MLCP_LEMKE, 0},        {ITM_MLCP_NEWTON, 0}, {ITM_MLCP_ENUMERATION, 0},
                                      {ITM_MLCP_GAUSS_SEIDEL, 0}, {ITM_MLCP_NEWTON, 0}, END};
#undef END

static const Rung* pick_ladder(const ItmMlcpProblem* p)
{
    return !p->is_symmetric ? LADDER_GENERAL : p->ncontact > 0 ? LADDER_FRICTION : LADDER_BOUNDS;
}

static void start_iterate(ItmMlcpWorkspace* ws, const ItmMlcpResult* result, const ItmMlcpOptions* options)
{
    int n = ws->s.n;
    // products run over the padding too; it holds zeros
    memset(ws->x + n, 0, (size_t)(ws->s.ld - n) * sizeof *ws->x);
    memset(ws->w + n, 0, (size_t)(ws->s.ld - n) * sizeof *ws->w);
    for (int i = 0; i < n; i++) {
        ws->x[i] = options->warm_start ? result->x[i] * ws->s.inv_d[i] : 0.0;
        ws->state[i] = options->warm_start ? result->state[i] : ITM_ROW_UNKNOWN;
        ws->ray[i] = ws->shift[i] = 0.0;
        ws->x_best[i] = 0.0;
    }
    ws->has_ray = false;
}

static void keep_best(ItmMlcpWorkspace* ws, ItmMlcpInfo* info, ItmMlcpSolver solver, double residual)
{
    size_t n = (size_t)ws->s.n;
    info->solver = solver;
    info->residual = residual;
    memcpy(ws->x_best, ws->x_user, n * sizeof *ws->x_best);
    memcpy(ws->w_best, ws->w_user, n * sizeof *ws->w_best);
    memcpy(ws->state_best, ws->state, n * sizeof *ws->state_best);
}

// What rounding does to the residual of ws->x
static double compute_rounding(const ItmMlcpWorkspace* ws)
{
    const ItmMlcpScaled* s = &ws->s;
    double worst = 0.0, b = 0.0;
    for (int i = 0; i < s->n; i++) {
        double sum = 0.0;
        for (int j = 0; j < s->n; j++) {
            sum += fabs(s->H[(size_t)i * (size_t)s->ld + (size_t)j] * ws->x[j]);
        }
        worst = fmax(worst, sum / s->d[i]);
        b = fmax(b, fabs(ws->problem->b[i]));
    }
    return DBL_EPSILON * worst / (1.0 + b);
}

static ItmMlcpOutcome judge(const ItmMlcpWorkspace* ws, const ItmMlcpOptions* options, ItmMlcpInfo* info,
                            double residual)
{
    if (residual <= options->tolerance) {
        return ITM_MLCP_SOLVED;
    }
    if (ws->has_ray && ws->problem->ncontact == 0) {
        return ITM_MLCP_NO_SOLUTION;
    }
    double rounding = compute_rounding(ws);
    info->rounding = residual <= info->residual ? rounding : info->rounding;
    return residual <= rounding ? ITM_MLCP_SOLVED_TO_ROUNDING : ITM_MLCP_NOT_CONVERGED;
}

// One solver, its result kept if it is the best so far. Returns whether the ladder can end.
static bool try_solver(ItmMlcpWorkspace* ws, const ItmMlcpOptions* options, ItmMlcpInfo* info, Rung rung)
{
    ItmMlcpOptions own = *options;
    own.max_iterations = rung.max_iterations > 0 ? rung.max_iterations : options->max_iterations;
    ws->is_measured = false;
    bool is_suitable = SOLVERS[rung.solver](ws, &own, info);
    if (!is_suitable) {
        return false;
    }
    info->attempts[info->nattempt++] = rung.solver;
    double residual = ws->is_measured ? ws->residual : itm_mlcp_measure(ws);
    if (rung.solver != ITM_MLCP_PIVOTING) {
        classify_rows(ws);
    }
    info->outcome = judge(ws, options, info, residual);
    if (residual < info->residual || info->outcome == ITM_MLCP_NO_SOLUTION) {
        keep_best(ws, info, rung.solver, residual);
    }
    return info->outcome != ITM_MLCP_NOT_CONVERGED;
}

// Sweeps from rest never raise the energy of the impulses, whatever the problem is: the last resort where the
// best one so far is worse than a rough guess.
#define ROUGH 1e-2
#define LAST_SWEEPS 400

static void resort_to_sweeps(ItmMlcpWorkspace* ws, const ItmMlcpOptions* options, ItmMlcpInfo* info)
{
    if (info->outcome != ITM_MLCP_NOT_CONVERGED || info->residual <= ROUGH) {
        return;
    }
    memset(ws->x, 0, (size_t)ws->s.n * sizeof *ws->x);
    ItmMlcpOptions own = *options;
    own.effort = 0.0;
    own.relaxation = 1.0;
    try_solver(ws, &own, info, (Rung){ITM_MLCP_GAUSS_SEIDEL, LAST_SWEEPS});
}

// The caller's b, less what free rows contradict each other by.
static void restate_b(ItmMlcpWorkspace* ws)
{
    for (int i = 0; i < ws->s.n; i++) {
        ws->s.b[i] = ws->s.d[i] * ws->problem->b[i] - ws->shift[i];
    }
}

// Whether redundant rows may contradict each other by more than the tolerance.
static bool has_contradictions(const ItmMlcpWorkspace* ws, const ItmMlcpOptions* options)
{
    const ItmMlcpProblem* p = ws->problem;
    double most = 0.0;
    for (int i = 0; i < p->n; i++) {
        most = fmax(most, fabs(p->b[i]));
    }
    return p->ncontact > 0 && p->is_symmetric && p->contradiction > options->tolerance * (1.0 + most);
}

// Between the rows that held in the guess.
static void remove_contradictions(ItmMlcpWorkspace* ws, const ItmMlcpOptions* options, ItmMlcpInfo* info)
{
    if (!options->warm_start || !has_contradictions(ws, options)) {
        return;
    }
    for (int i = 0; i < ws->s.n; i++) {
        ws->mark[i] = ws->state[i] == ITM_ROW_ACTIVE;
    }
    itm_contradiction_remove(ws, ws->mark, info);
}

// Between the rows that would hold if no closed contact slipped.
static void remove_contradictions_at_rest(ItmMlcpWorkspace* ws, const ItmMlcpOptions* options, ItmMlcpInfo* info)
{
    const ItmMlcpProblem* p = ws->problem;
    if (!has_contradictions(ws, options)) {
        return;
    }
    for (int i = 0; i < p->n; i++) {
        ws->mark[i] = ws->state_best[i] == ITM_ROW_ACTIVE;
    }
    for (int k = 0; k < p->ncontact; k++) {
        const ItmMlcpContact* c = &p->contacts[k];
        bool is_closed = ws->x_best[c->normal] > 0.0 || ws->w_best[c->normal] <= p->contradiction;
        ws->mark[c->normal] = is_closed;
        for (int t = 0; t < 2 && c->tangent[t] != ITM_NONE; t++) {
            ws->mark[c->tangent[t]] = is_closed;
        }
    }
    restate_b(ws);
    itm_contradiction_remove(ws, ws->mark, info);
}

static void climb(ItmMlcpWorkspace* ws, const ItmMlcpOptions* options, ItmMlcpInfo* info)
{
    if (options->solver != ITM_MLCP_AUTO) {
        try_solver(ws, options, info, (Rung){options->solver, 0});
        return;
    }
    itm_consistency_restore(ws, options, info);
    remove_contradictions(ws, options, info);
    for (const Rung* rung = pick_ladder(ws->problem); rung->solver != ITM_MLCP_AUTO; rung++) {
        // half of what is left, so that one solver that gets nowhere leaves the others their turn
        ItmMlcpOptions share = *options;
        share.effort = options->effort > 0.0 ? 0.5 * (info->work + options->effort) : 0.0;
        if (try_solver(ws, &share, info, *rung)) {
            return;
        }
        if (itm_mlcp_is_spent(options, info)) {
            break;
        }
    }
    resort_to_sweeps(ws, options, info);
}

// Solved, but contacts begin to slip: there may be a solution in which they do not.
static void prefer_rest(ItmMlcpWorkspace* ws, const ItmMlcpOptions* options, ItmMlcpInfo* info)
{
    double residual;
    if (options->solver != ITM_MLCP_AUTO || info->outcome != ITM_MLCP_SOLVED ||
        !itm_prefer_sticking_is_in_doubt(ws, options)) {
        return;
    }
    remove_contradictions_at_rest(ws, options, info);
    if (itm_prefer_sticking_solve(ws, options, info, &residual)) {
        classify_rows(ws);
        keep_best(ws, info, info->solver, residual);
        info->is_rest_found = true;
    } else {
        info->is_slip_found = true;
    }
}

// x that no solver improved on is still a result: clamp zero into the bounds
static void measure_nothing(ItmMlcpWorkspace* ws, ItmMlcpInfo* info)
{
    for (int i = 0; i < ws->s.n; i++) {
        bool is_tangent = ws->s.tangent_of[i] != ITM_NONE;
        ws->x[i] = is_tangent ? 0.0 : fmin(fmax(0.0, ws->s.lo[i]), ws->s.up[i]);
    }
    double residual = itm_mlcp_measure(ws);
    classify_rows(ws);
    keep_best(ws, info, info->solver, residual);
}

// The solvers saw a consistent b; the caller's is what counts.
static void take_back_shift(ItmMlcpWorkspace* ws, ItmMlcpInfo* info)
{
    if (!ws->has_ray || ws->problem->ncontact == 0) {
        return;
    }
    for (int i = 0; i < ws->s.n; i++) {
        ws->w_best[i] += ws->shift[i] / ws->s.d[i];
    }
    info->residual = itm_residual_compute(ws->problem, ws->x_best, ws->w_best, ws->s.tangent_of);
    info->proof_radius = itm_mlcp_compute_proof_radius(ws->problem, ws->ray);
    info->outcome = ITM_MLCP_NO_SOLUTION;
}

static void deliver(ItmMlcpWorkspace* ws, ItmMlcpResult* result, const ItmMlcpInfo* info)
{
    int n = ws->s.n;
    result->info = *info;
    memcpy(result->x, ws->x_best, (size_t)n * sizeof *result->x);
    memcpy(result->w, ws->w_best, (size_t)n * sizeof *result->w);
    for (int i = 0; i < n; i++) {
        result->info.nactive += ws->state_best[i] == ITM_ROW_ACTIVE;
        result->info.nlo += ws->state_best[i] == ITM_ROW_LO;
        result->info.nup += ws->state_best[i] == ITM_ROW_UP;
    }
    if (result->state != NULL) {
        memcpy(result->state, ws->state_best, (size_t)n);
    }
    if (result->ray != NULL) {
        for (int i = 0; i < n; i++) {
            result->ray[i] = ws->has_ray ? ws->ray[i] : 0.0;
        }
    }
}

// Problems below this size are cheap whatever they take, and may spend what this size may.
#define SMALL 160

ItmStatus itm_mlcp_solve(ItmMlcpWorkspace* workspace, ItmMlcpResult* result, const ItmMlcpProblem* problem,
                         const ItmMlcpOptions* options, ItmError* error)
{
    ItmStatus status = itm_mlcp_check(workspace, result, problem, options, error);
    if (status != ITM_OK) {
        return status;
    }
    if (itm_direct_solve(result, problem, options)) {
        return ITM_OK;
    }
    ItmMlcpInfo info = {.outcome = ITM_MLCP_UNSUITABLE, .solver = options->solver, .residual = INFINITY};
    if (!itm_mlcp_scale(workspace, problem)) {
        return itm_mlcp_check_matrix(problem, error);
    }
    workspace->problem = problem;
    start_iterate(workspace, result, options);
    ItmMlcpOptions limited = *options;
    double size = problem->n > SMALL ? problem->n : SMALL;
    limited.effort = options->effort * size * size * size;
    climb(workspace, &limited, &info);
    prefer_rest(workspace, &limited, &info);
    if (!isfinite(info.residual)) {
        measure_nothing(workspace, &info);
    }
    take_back_shift(workspace, &info);
    info.worst_row = itm_residual_find_worst(problem, workspace->x_best, workspace->w_best, workspace->s.tangent_of);
    deliver(workspace, result, &info);
    workspace->problem = NULL;
    return ITM_OK;
}
