// Ten thousand random contact problems, singular and badly scaled ones included, all laws of
// friction.
#include "check.h"

#include "bench/mlcp_generator.h"

#include <time.h>

// sanitizers make everything some ten times slower
#if defined(__SANITIZE_ADDRESS__)
#define NCASE 600
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define NCASE 600
#endif
#endif
#ifndef NCASE
#define NCASE 10000
#endif

enum { MAX_ROWS = 300 };
static const double PROMISE = 1e-9;  // relative residual that the issue asks for; the default tolerance is 1e-10

typedef struct Fixture {
    ItmMlcpWorkspace* workspace;
    double x[MAX_ROWS], y[MAX_ROWS], w[MAX_ROWS], ray[MAX_ROWS];
    signed char state[MAX_ROWS];
} Fixture;

static int set_up(void** state)
{
    Fixture* f = calloc(1, sizeof *f);
    ItmMlcpCapacity capacity = itm_default_mlcp_capacity(MAX_ROWS, MAX_ROWS / 3);
    *state = f;
    return f == NULL || itm_mlcp_workspace_create(&f->workspace, &capacity, NULL) != ITM_OK;
}

static int tear_down(void** state)
{
    Fixture* f = *state;
    itm_mlcp_workspace_destroy(f->workspace);
    free(f);
    return 0;
}

// The solvers were developed with seed 0, which is not used here; INTERIM_SEED takes another ten thousand problems.
static uint64_t seed(void)
{
    const char* text = getenv("INTERIM_SEED");
    return text != NULL ? strtoull(text, NULL, 10) : 20261116u;
}

// Sizes spread evenly over the orders of magnitude 1 .. 300; half fixed bounds, the rest the three
// laws in turn.
static MlcpSpec pick_spec(int id)
{
    uint64_t random = 977 + (uint64_t)id + 7919u * seed();
    int n = (int)pow(MAX_ROWS + 0.99, mlcp_random(&random));
    int ncontact = (int)(n / 3 * mlcp_random_between(&random, 0.3, 1.0) + 0.5);
    ncontact = 3 * ncontact > n ? n / 3 : ncontact;
    MlcpSpec spec = mlcp_default_spec(n - 3 * ncontact, ncontact);
    spec.seed = 1000003 * ((uint64_t)id + 15485863u * seed()) + 1;
    spec.is_redundant = mlcp_random(&random) < 0.5;
    spec.mass_spread = mlcp_random(&random) < 0.3 ? 3.0 : 0.0;  // mass ratios up to 1e6
    spec.is_coupled = id % 2 == 1;
    spec.law = (ItmFrictionLaw)(id / 2 % ITM_FRICTION_COUNT);
    spec.ndirection = 3 + id % 6;
    return spec;
}

static const char* describe(const MlcpSpec* spec, int id)
{
    static char text[160];
    snprintf(text, sizeof text, "case %d: %d bilateral, %d contacts, %s, %s, law %d, spread %g", id, spec->nbilateral,
             spec->ncontact, spec->is_redundant ? "redundant" : "well posed",
             spec->is_coupled ? "coupled" : "fixed bounds", (int)spec->law, spec->mass_spread);
    return text;
}

static void random_contact_problems_are_solved(void** state)
{
    Fixture* f = *state;
    ItmMlcpOptions options = itm_default_mlcp_options();
    ItmMlcpResult result = {.x = f->x, .w = f->w, .state = f->state, .ray = f->ray};
    double worst = 0.0;
    int nfailed = 0, nrounding = 0, used[ITM_MLCP_SOLVER_COUNT] = {0};
    for (int id = 0; id < NCASE; id++) {
        MlcpSpec spec = pick_spec(id);
        MlcpCase c;
        assert_true(mlcp_case_create(&c, &spec));
        clock_t start = clock();
        CHECK_OK(itm_mlcp_solve(f->workspace, &result, &c.problem, &options, NULL), (ItmError*)NULL);
        double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        double residual = itm_mlcp_compute_residual(&c.problem, f->x);
        used[result.info.solver]++;
        if (seconds > 0.5) {
            print_message("slow: %s: %.2f s, %d attempts\n", describe(&spec, id), seconds, result.info.nattempt);
        }
        // masses apart by 1e6 and impulses of 1e5: now and then H x alone is not accurate to 1e-9
        bool is_rounding = result.info.outcome == ITM_MLCP_SOLVED_TO_ROUNDING;
        nrounding += is_rounding;
        // the rounding bound is an estimate for one order of summation, and the public residual
        // sums in another: 2x
        double limit = is_rounding ? 2.0 * result.info.rounding : PROMISE;
        if ((result.info.outcome != ITM_MLCP_SOLVED && !is_rounding) || !(residual <= limit)) {
            nfailed++;
            // what is not solved must say so
            assert_int_not_equal(result.info.outcome, ITM_MLCP_SOLVED);
            print_message("%s: %s, residual %.3g by %s\n", describe(&spec, id),
                          itm_mlcp_outcome_message(result.info.outcome), residual,
                          itm_mlcp_solver_name(result.info.solver));
        }
        worst = residual > worst ? residual : worst;
        mlcp_case_destroy(&c);
    }
    print_message("%d problems, worst residual %.2e, %d of them only to the rounding of H x\n", NCASE, worst,
                  nrounding);
    for (int k = 1; k < ITM_MLCP_SOLVER_COUNT; k++) {
        print_message("  %-12s %d\n", itm_mlcp_solver_name((ItmMlcpSolver)k), used[k]);
    }
    // problems that the solvers were not developed with: one in a thousand may be left above the promise, and must say so
    print_message("%d of %d solved to %g\n", NCASE - nfailed, NCASE, PROMISE);
    assert_true(nfailed <= NCASE / 1000);
    assert_true(nrounding <= NCASE / 1000);
}

// The impulses of redundant contacts are not unique, their velocities are: f(x) = x.Hx/2 + b.x is
// strictly convex in A'x. Two points with residuals r1, r2 have f equal to about r (|x| + |w|), and
// |w1 - w2|^2 <= 2 |H| (f1 - f2).
static void first_order_and_pivoting_agree_in_velocity(void** state)
{
    Fixture* f = *state;
    int ncompared = 0;
    for (int id = 0; id < 400; id += 2) {
        MlcpSpec spec = pick_spec(id);
        if (spec.mass_spread > 0.0 || spec.nbilateral + 3 * spec.ncontact > 100) {
            continue;  // first-order methods are slow there, and pivoting is what they would be compared with
        }
        MlcpCase c;
        assert_true(mlcp_case_create(&c, &spec));
        double w_pivoting[MAX_ROWS];
        ItmMlcpResult result = {.x = f->x, .w = w_pivoting};
        ItmMlcpOptions options = itm_default_mlcp_options();
        options.solver = ITM_MLCP_PIVOTING;
        CHECK_OK(itm_mlcp_solve(f->workspace, &result, &c.problem, &options, NULL), (ItmError*)NULL);
        for (int method = 0; method < 2; method++) {
            ItmMlcpResult other = {.x = f->y, .w = f->w};
            options.solver = method == 0 ? ITM_MLCP_ADMM : ITM_MLCP_GAUSS_SEIDEL;
            CHECK_OK(itm_mlcp_solve(f->workspace, &other, &c.problem, &options, NULL), (ItmError*)NULL);
            if (other.info.outcome != ITM_MLCP_SOLVED) {
                assert_int_equal(other.info.outcome, ITM_MLCP_NOT_CONVERGED);
                continue;
            }
            ncompared++;
            double size = 0.0;
            for (int i = 0; i < c.n; i++) {
                size = fmax(size, fmax(fabs(f->x[i]), fabs(f->w[i])));
            }
            // sqrt(2 |H| n r size), |H| of order ten here
            double tolerance = sqrt(20.0 * c.n * 1e-10 * 3.0 * size);
            for (int i = 0; i < c.n; i++) {
                CHECK_NEAR(f->w[i], w_pivoting[i], tolerance);
            }
        }
        mlcp_case_destroy(&c);
    }
    print_message("%d answers compared\n", ncompared);
    assert_true(ncompared > 100);
}

// Small problems start from their guess without the solvers (direct.c); what is redundant, or at a change of state, is left to them, and
// has the solution of least norm as without a guess. Guesses that are wrong do not matter.
static void small_problems_have_the_same_solution_with_a_guess(void** state)
{
    Fixture* f = *state;
    int ndirect = 0, nleft = 0;
    for (int id = 0; id < 600; id++) {
        MlcpSpec spec = mlcp_default_spec(id % 3, 1 + id % 2);
        spec.seed = 31 * (uint64_t)id + seed();
        spec.is_redundant = id % 4 < 2;
        MlcpCase c;
        assert_true(mlcp_case_create(&c, &spec));
        double w[MAX_ROWS];
        ItmMlcpResult cold = {.x = f->y, .w = w, .state = f->state}, warm = {.x = f->x, .w = f->w, .state = f->state};
        ItmMlcpOptions options = itm_default_mlcp_options();
        CHECK_OK(itm_mlcp_solve(f->workspace, &cold, &c.problem, &options, NULL), (ItmError*)NULL);
        memcpy(f->x, f->y, (size_t)c.n * sizeof f->x[0]);
        f->state[c.n - 1] = id % 5 == 0 ? ITM_ROW_UP : f->state[c.n - 1];
        options.warm_start = true;
        CHECK_OK(itm_mlcp_solve(f->workspace, &warm, &c.problem, &options, NULL), (ItmError*)NULL);
        assert_int_equal(warm.info.outcome, ITM_MLCP_SOLVED);
        assert_int_equal(warm.info.nactive, cold.info.nactive);
        ndirect += warm.info.iterations == 1;
        nleft += warm.info.nredundant > 0;
        double size = 0.0;
        for (int i = 0; i < c.n; i++) {
            size = fmax(size, fmax(fabs(f->y[i]), fabs(w[i])));
        }
        for (int i = 0; i < c.n; i++) {
            CHECK_NEAR(f->x[i], f->y[i], 1e-7 * size);  // least norm to the 1e-7 of the proximal weight
            CHECK_NEAR(f->w[i], w[i], 1e-9 * size);
        }
        mlcp_case_destroy(&c);
    }
    print_message("%d without a solver, %d redundant\n", ndirect, nleft);
    assert_true(ndirect > 200 && nleft > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_contact_problems_are_solved),
        cmocka_unit_test(first_order_and_pivoting_agree_in_velocity),
        cmocka_unit_test(small_problems_have_the_same_solution_with_a_guess),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
