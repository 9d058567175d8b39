// Ten thousand random contact problems, singular and badly scaled ones included, all laws of friction.
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

// Sizes spread evenly over the orders of magnitude 1 .. 300; half fixed bounds, the rest the three laws in turn.
static MlcpSpec pick_spec(int id)
{
    uint64_t random = 977 + (uint64_t)id;
    int n = (int)pow(MAX_ROWS + 0.99, mlcp_random(&random));
    int ncontact = (int)(n / 3 * mlcp_random_between(&random, 0.3, 1.0) + 0.5);
    ncontact = 3 * ncontact > n ? n / 3 : ncontact;
    MlcpSpec spec = mlcp_default_spec(n - 3 * ncontact, ncontact);
    spec.seed = 1000003 * (uint64_t)id + 1;
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
             spec->ncontact, spec->is_redundant ? "redundant" : "well posed", spec->is_coupled ? "coupled" : "fixed bounds",
             (int)spec->law, spec->mass_spread);
    return text;
}

static void random_contact_problems_are_solved(void** state)
{
    Fixture* f = *state;
    ItmMlcpOptions options = itm_default_mlcp_options();
    ItmMlcpResult result = {.x = f->x, .w = f->w, .state = f->state, .ray = f->ray};
    double worst = 0.0;
    int nfailed = 0, used[ITM_MLCP_SOLVER_COUNT] = {0};
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
        if (result.info.outcome != ITM_MLCP_SOLVED || !(residual <= PROMISE)) {
            nfailed++;
            print_message("%s: %s, residual %.3g by %s\n", describe(&spec, id),
                          itm_mlcp_outcome_message(result.info.outcome), residual, itm_mlcp_solver_name(result.info.solver));
        }
        worst = residual > worst ? residual : worst;
        mlcp_case_destroy(&c);
    }
    print_message("%d problems, worst residual %.2e\n", NCASE, worst);
    for (int k = 1; k < ITM_MLCP_SOLVER_COUNT; k++) {
        print_message("  %-12s %d\n", itm_mlcp_solver_name((ItmMlcpSolver)k), used[k]);
    }
    assert_int_equal(nfailed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_contact_problems_are_solved),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
