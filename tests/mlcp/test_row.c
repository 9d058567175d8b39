// Solvers that know rows but not bodies: each against closed forms or against itm_mlcp_solve.
#include "check.h"

#include "bench/mlcp_generator.h"
#include "mlcp/active_set.h"
#include "mlcp/force_law.h"
#include "mlcp/least_norm.h"
#include "mlcp/row_memory.h"
#include "mlcp/sweep.h"

#define INF ((double)INFINITY)

enum { NNODE = 6, NCONTACT = 9, N = 3 * NCONTACT };

// Contacts between nodes of six velocities, or between a node and the world: three rows each, with a cone of friction.
typedef struct Scene {
    ItmArena arena;
    ItmSweep sweep;
    ItmRowProblem problem;
    ItmActiveSet set;
    ItmMlcpWorkspace* workspace;
    ItmRow rows[N];
    double Y[N * 12], H[N * N];
    int node[2 * NCONTACT];
    ItmMlcpContact couplings[NCONTACT];
} Scene;

static void lay_out(Scene* s)
{
    itm_sweep_lay_out(&s->sweep, &s->arena, NCONTACT, N, NCONTACT, NNODE);
    itm_row_lay_out(&s->problem, &s->arena, N);
    itm_active_set_lay_out(&s->set, &s->arena, &s->problem, N);
}

static double multiply_rows(const Scene* s, int i, int j)
{
    double sum = 0.0;
    for (int a = 0; a < 2; a++) {
        for (int b = 0; b < 2; b++) {
            bool is_same = s->node[2 * (i / 3) + a] == s->node[2 * (j / 3) + b];
            for (int k = 0; is_same && k < 6; k++) {
                sum += s->Y[12 * i + 6 * a + k] * s->Y[12 * j + 6 * b + k];
            }
        }
    }
    return sum;
}

static Scene* make_scene(uint64_t seed)
{
    Scene* s = calloc(1, sizeof *s);
    ItmMlcpCapacity capacity = itm_default_mlcp_capacity(N, NCONTACT);
    assert_int_equal(itm_mlcp_workspace_create(&s->workspace, &capacity, NULL), ITM_OK);
    lay_out(s);
    assert_int_equal(itm_arena_allocate(&s->arena), 0);
    lay_out(s);
    for (int i = 0; i < N; i++) {
        double size = 0.0, *Y = s->Y + 12 * i;
        for (int k = 0; k < 12; k++) {
            Y[k] = mlcp_random_between(&seed, -1.0, 1.0);
            size += Y[k] * Y[k];
        }
        for (int k = 0; k < 12; k++) {
            Y[k] *= 2.0 / sqrt(size);  // sweeps are exact for cones whose tangents have the same diagonal
        }
    }
    for (int c = 0; c < NCONTACT; c++) {
        s->node[2 * c] = c % NNODE;
        s->node[2 * c + 1] = (c + 1 + c / NNODE) % NNODE;
        s->couplings[c] = (ItmMlcpContact){3 * c, {3 * c + 1, 3 * c + 2}, 0.5, ITM_FRICTION_CONE, 0};
        s->sweep.blocks[c] = (ItmSweepBlock){.first = 3 * c,
                                             .nrow = 3,
                                             .first_coupling = c,
                                             .ncoupling = 1,
                                             .nnode = 2,
                                             .node = s->node + 2 * c,
                                             .Y = s->Y + 36 * c};
    }
    s->sweep.nblock = NCONTACT;
    s->sweep.couplings = s->couplings;
    s->problem.n = N;
    s->problem.ncoupling = NCONTACT;
    s->problem.rows = s->rows;
    s->problem.H = s->H;
    s->problem.couplings = s->couplings;
    for (int i = 0; i < N; i++) {
        bool is_normal = i % 3 == 0;
        s->rows[i] = (ItmRow){.kind = is_normal ? ITM_BOUND_NORMAL : ITM_BOUND_TANGENT,
                              .normal = is_normal ? ITM_NONE : i - i % 3,
                              .lo = is_normal ? 0.0 : -INF,
                              .up = INF};
        s->sweep.b[i] = s->problem.v_free[i] = s->rows[i].rate =
            mlcp_random_between(&seed, -1.0, is_normal ? 0.3 : 1.0);
        s->sweep.lo[i] = s->problem.lo[i] = s->rows[i].lo;
        s->sweep.up[i] = s->problem.up[i] = INF;
        s->sweep.omega[i] = 0.0;
        s->sweep.has_bounds[i] = is_normal;
        for (int j = 0; j < N; j++) {
            s->H[i * N + j] = multiply_rows(s, i, j);
        }
    }
    return s;
}

static void destroy_scene(Scene* s)
{
    itm_mlcp_workspace_destroy(s->workspace);
    itm_arena_free(&s->arena);
    free(s);
}

static void solve(Scene* s)
{
    ItmMlcpOptions options = itm_default_mlcp_options();
    ItmRowStep step = {.h = 1e-3};
    ItmRowSolves solves;
    assert_int_equal(itm_row_solve(&s->problem, s->workspace, &options, &step, &solves, NULL), ITM_OK);
    assert_int_equal(solves.n, 1);
    assert_int_equal(solves.info[0].outcome, ITM_MLCP_SOLVED);
}

// Friction has several solutions in places: the residual judges.
static void sweeps_without_a_matrix_solve_the_mlcp(void** state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        Scene* s = make_scene(seed);
        double x[N] = {0.0};
        ItmMlcpProblem problem = {.n = N,
                                  .H = s->H,
                                  .b = s->sweep.b,
                                  .lo = s->problem.lo,
                                  .up = s->problem.up,
                                  .is_symmetric = true,
                                  .ncontact = NCONTACT,
                                  .contacts = s->couplings};
        ItmSweepResult result = itm_sweep_solve(&s->sweep, x, 1e-10, 20000);
        assert_true(result.residual <= 1e-10);
        // the sweeps stop at 1e-10 of a row's velocity, the diagonal is 4
        CHECK_NEAR(itm_mlcp_compute_residual(&problem, x), 0.0, 1e-9);
        for (int i = 0; i < N; i++) {
            double change = 0.0;
            for (int j = 0; j < N; j++) {
                change += s->H[i * N + j] * x[j];
            }
            CHECK_NEAR(s->sweep.change[i], change, 1e-12);
        }
        destroy_scene(s);
    }
}

static void the_active_set_of_a_solution_gives_it_back(void** state)
{
    (void)state;
    int naccepted = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        Scene* s = make_scene(seed);
        double x[N], v[N];
        solve(s);
        memcpy(x, s->problem.x, sizeof x);
        memcpy(v, s->problem.v, sizeof v);
        itm_active_set_guess(&s->set, s->problem.state, x);
        bool is_right = itm_active_set_try(&s->set, 1e-8);
        naccepted += is_right;
        for (int i = 0; i < N && is_right; i++) {
            CHECK_NEAR(s->problem.w[i], v[i], 1e-6);  // the set of a cone turns until slip opposes friction to 1e-7
        }
        // pulled apart, the same contacts cannot hold
        for (int i = 0; i < N; i += 3) {
            s->problem.b[i] = 10.0;
        }
        assert_true(s->set.nactive > 0);
        assert_false(itm_active_set_try(&s->set, 1e-8));
        destroy_scene(s);
    }
    printf("%d of 20 active sets accepted\n", naccepted);
    assert_true(naccepted >= 15);
}

// A square table on four legs: three determine the fourth, and least norm shares the load by the distances from its centre.
static void four_legs_share_the_load_with_least_norm(void** state)
{
    (void)state;
    enum { n = 4 };
    const double corner[n][2] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}}, mass = 8.0, inertia = 2.0;
    double H[n * n], v[n] = {0.0}, lo[n] = {0.0}, up[n] = {INF, INF, INF, INF};
    double N_space[n * n], scratch[ITM_LEAST_NORM_SCRATCH * n], load = 100.0;
    signed char part[n], is_redundant[n];
    for (int i = 0; i < n * n; i++) {
        const double *a = corner[i / n], *b = corner[i % n];
        H[i] = 1.0 / mass + (a[0] * b[0] + a[1] * b[1]) / inertia;
    }
    double x[n] = {0.5 * load, 0.0, 0.5 * load, 0.0};  // a solution too, on two opposite legs
    ItmLeastNorm s = {.n = n,
                      .H = H,
                      .w = v,
                      .v = v,
                      .lo = lo,
                      .up = up,
                      .impulse = x,
                      .N = N_space,
                      .scratch = scratch,
                      .part = part};
    assert_int_equal(itm_least_norm_solve(&s, is_redundant), 1);
    for (int i = 0; i < n; i++) {
        CHECK_NEAR(x[i], 0.25 * load, 1e-7 * load);  // ADMM stops at changes of 1e-9
    }
}

static double brake(const void* context, int i, double rate)
{
    return -((const double*)context)[i] * rate;
}

// Linear dampers: (1 + c h W) f = given - c w_free
static void linear_force_laws_have_the_solution_of_the_linear_system(void** state)
{
    (void)state;
    const double c[2] = {300.0, 50.0}, W[4] = {0.02, 0.005, 0.005, 0.03}, h = 0.01, w_free[2] = {0.4, -0.2};
    ItmForceRow rows[2] = {{.given = 10.0, .rate = w_free[0]}, {.given = -20.0, .rate = w_free[1]}};
    itm_force_law_solve(rows, 2, h, W, 2, brake, c);
    for (int i = 0; i < 2; i++) {
        double w = w_free[i] + h * (W[2 * i] * rows[0].force + W[2 * i + 1] * rows[1].force);
        CHECK_NEAR(rows[i].rate, w, 1e-14);
        CHECK_NEAR(rows[i].force, rows[i].given - c[i] * w, 1e-7);  // sweeps stop at relative changes of 1e-9
    }
}

static void offsets_use_up_open_gaps_and_press_compliant_ones(void** state)
{
    (void)state;
    const ItmRowStep step = {.h = 0.01, .restitution_speed = 0.05};
    ItmRow row = {.kind = ITM_BOUND_NORMAL, .normal = ITM_NONE, .gap = 0.002, .open = ITM_ROW_SLOP, .bias_share = 1.0};
    CHECK_NEAR(itm_row_compute_offset(&row, &step), (0.002 - ITM_ROW_SLOP) / 0.01, 1e-15);
    row.gap = -0.002;  // rigid: undone by displacement, not by speed
    CHECK_NEAR(itm_row_compute_offset(&row, &step), 0.0, 0.0);
    row.stiffness = 1e4;
    row.damping = 50.0;  // Gamma Phi / h, Gamma = h K / (h K + D) = 2/3
    CHECK_NEAR(itm_row_compute_offset(&row, &step), -2.0 / 3.0 * 0.2, 1e-15);
    CHECK_NEAR(itm_row_compute_omega(&row, 0.01), 1.0 / (1.0 + 0.5), 1e-15);
    row.restitution = 0.5;
    row.rate = -0.04;
    itm_row_let_bounce(&row, &step, -0.04);
    assert_false(row.is_bouncing);  // too slow
    row.rate = -1.0;
    itm_row_let_bounce(&row, &step, -1.0);
    assert_true(row.is_bouncing);
    CHECK_NEAR(row.offset, -0.5, 0.0);
}

static void memory_finds_rows_of_the_last_step_only(void** state)
{
    (void)state;
    enum { n = 50 };
    ItmRowMemory memory = {0};
    ItmArena arena = {0};
    itm_row_memory_lay_out(&memory, &arena, n);
    assert_int_equal(itm_arena_allocate(&arena), 0);
    itm_row_memory_lay_out(&memory, &arena, n);
    for (int step = 0; step < 2; step++) {
        memory.nnext = n - step;
        for (int i = 0; i < n - step; i++) {
            memory.next[i] =
                (ItmRowRecord){.key = (uint64_t)(1000 * step + i) << 32, .x = i + 0.5 * step, .state = ITM_ROW_ACTIVE};
        }
        itm_row_memory_commit(&memory);
    }
    void* saved = malloc(itm_row_memory_get_size(&memory));
    itm_row_memory_save(&memory, saved);
    itm_row_memory_clear(&memory);
    assert_null(itm_row_memory_find(&memory, UINT64_C(1007) << 32));
    itm_row_memory_restore(&memory, saved);
    // in their order, then backwards
    for (int k = 0; k < 2 * (n - 1); k++) {
        int i = k < n - 1 ? k : 2 * (n - 1) - 1 - k;
        const ItmRowRecord* record = itm_row_memory_find(&memory, (uint64_t)(1000 + i) << 32);
        assert_non_null(record);
        CHECK_NEAR(record->x, i + 0.5, 0.0);
    }
    assert_null(itm_row_memory_find(&memory, UINT64_C(7) << 32));
    free(saved);
    itm_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sweeps_without_a_matrix_solve_the_mlcp),
        cmocka_unit_test(the_active_set_of_a_solution_gives_it_back),
        cmocka_unit_test(four_legs_share_the_load_with_least_norm),
        cmocka_unit_test(linear_force_laws_have_the_solution_of_the_linear_system),
        cmocka_unit_test(offsets_use_up_open_gaps_and_press_compliant_ones),
        cmocka_unit_test(memory_finds_rows_of_the_last_step_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
