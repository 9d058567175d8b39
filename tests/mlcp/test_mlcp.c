// The public face of the MLCP room: closed forms, proofs, warm start, bad input, no allocation,
// same bits.
#include "allocations.h"
#include "check.h"

#include "bench/mlcp_generator.h"
#include "interim/mlcp.h"

#define INF ((double)INFINITY)

// ---------------------------------------------------------------------------- helpers

enum { MAX = 64 };

typedef struct Fixture {
    ItmMlcpWorkspace* workspace;
    double x[MAX], w[MAX], ray[MAX];
    signed char state[MAX];
    ItmMlcpResult result;
    ItmMlcpOptions options;
    ItmError error;
} Fixture;

static int set_up(void** state)
{
    Fixture* f = calloc(1, sizeof *f);
    ItmMlcpCapacity capacity = itm_default_mlcp_capacity(MAX, MAX / 3);
    *state = f;
    f->result = (ItmMlcpResult){.x = f->x, .w = f->w, .state = f->state, .ray = f->ray};
    f->options = itm_default_mlcp_options();
    return itm_mlcp_workspace_create(&f->workspace, &capacity, &f->error) != ITM_OK;
}

static int tear_down(void** state)
{
    Fixture* f = *state;
    itm_mlcp_workspace_destroy(f->workspace);
    free(f);
    return 0;
}

static ItmStatus solve(Fixture* f, const ItmMlcpProblem* problem)
{
    return itm_mlcp_solve(f->workspace, &f->result, problem, &f->options, &f->error);
}

// ---------------------------------------------------------------------------- closed forms

// Rows of a chain, which touch their neighbours only, and the same rows shuffled, which look as if each touched any: one is solved
// within its band, the other as a whole.
static void a_chain_and_its_shuffled_rows_have_the_same_solution(void** state)
{
    Fixture* f = *state;
    enum { n = 41 };
    static double H[2][n * n], b[2][n], lo[2][n], up[2][n], x[2][n];
    for (int seed = 1; seed <= 200; seed++) {
        uint64_t random = (uint64_t)seed;
        double coupling[n];
        for (int i = 0; i < n; i++) {
            coupling[i] = mlcp_random_between(&random, -1.0, 0.0);
            b[0][i] = mlcp_random_between(&random, -1.0, 1.0);
            lo[0][i] = i % 10 == 3 ? -INF : 0.0;
            up[0][i] = i % 7 == 5 ? 0.3 : INF;
            for (int j = 0; j < n; j++) {
                H[0][i * n + j] = i == j ? 2.1 : j == i - 1 ? coupling[i] : 0.0;
                H[0][j * n + i] = j == i - 1 ? coupling[i] : H[0][j * n + i];
            }
        }
        for (int i = 0; i < n; i++) {
            int from = i * 17 % n;
            b[1][i] = b[0][from];
            lo[1][i] = lo[0][from];
            up[1][i] = up[0][from];
            for (int j = 0; j < n; j++) {
                H[1][i * n + j] = H[0][from * n + j * 17 % n];
            }
        }
        for (int k = 0; k < 2; k++) {
            ItmMlcpProblem p = {.n = n, .H = H[k], .b = b[k], .lo = lo[k], .up = up[k], .is_symmetric = true};
            CHECK_OK(solve(f, &p), &f->error);
            assert_int_equal(f->result.info.outcome, ITM_MLCP_SOLVED);
            memcpy(x[k], f->x, sizeof x[k]);
        }
        for (int i = 0; i < n; i++) {
            // both to 1e-10 of 1 + |b|, and no eigenvalue of H is below 0.1
            CHECK_NEAR(x[1][i], x[0][i * 17 % n], 2e-9);
        }
    }
}

// A number that is not finite is found where a band would not look for it, above zeros.
static void a_bad_number_beside_the_band_is_refused(void** state)
{
    Fixture* f = *state;
    enum { n = 40 };
    static double H[n * n], b[n], lo[n], up[n];
    for (int i = 0; i < n; i++) {
        H[i * n + i] = 2.0;
        b[i] = -1.0;
        up[i] = INF;
    }
    ItmMlcpProblem p = {.n = n, .H = H, .b = b, .lo = lo, .up = up, .is_symmetric = true};
    CHECK_OK(solve(f, &p), &f->error);
    CHECK_NEAR(f->x[n - 1], 0.5, 1e-9);
    H[3 * n + 30] = (double)NAN;
    assert_int_equal(solve(f, &p), ITM_ERR_NOT_FINITE);
    H[3 * n + 30] = 0.0;
    H[30 * n + 3] = INF;
    assert_int_equal(solve(f, &p), ITM_ERR_NOT_FINITE);
}

// H = diag(2), b = -4: unbounded x = 2; bounds cut it
static void bounds_cut_the_free_solution(void** state)
{
    Fixture* f = *state;
    const double H[9] = {2, 0, 0, 0, 2, 0, 0, 0, 2}, b[3] = {-4, -4, 4}, lo[3] = {-INF, 0, 0}, up[3] = {INF, 1.5, INF};
    ItmMlcpProblem p = {.n = 3, .H = H, .b = b, .lo = lo, .up = up, .is_symmetric = true};
    CHECK_OK(solve(f, &p), &f->error);
    assert_int_equal(f->result.info.outcome, ITM_MLCP_SOLVED);
    CHECK_NEAR(f->x[0], 2.0, 1e-9);
    CHECK_NEAR(f->x[1], 1.5, 0.0);
    CHECK_NEAR(f->w[1], -1.0, 0.0);
    CHECK_NEAR(f->x[2], 0.0, 0.0);
    CHECK_NEAR(f->w[2], 4.0, 0.0);
    assert_int_equal(f->state[0], ITM_ROW_ACTIVE);
    assert_int_equal(f->state[1], ITM_ROW_UP);
    assert_int_equal(f->state[2], ITM_ROW_LO);
    assert_int_equal(f->result.info.nactive, 1);
    assert_int_equal(f->result.info.nup, 1);
    assert_int_equal(f->result.info.nlo, 1);
}

// A table of mass m on four legs at (+-1, +-1): the weight is shared equally, by least norm, and
// three legs are enough
static void four_legged_table_shares_its_weight(void** state)
{
    Fixture* f = *state;
    const double sign[4][2] = {{1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
    double H[16], b[4], lo[4] = {0}, up[4] = {INF, INF, INF, INF};
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            // unit mass and moments of inertia: A = [1, y, -x]
            H[4 * i + j] = 1.0 + sign[i][0] * sign[j][0] + sign[i][1] * sign[j][1];
        }
        b[i] = -0.0981;
    }
    ItmMlcpProblem p = {.n = 4, .H = H, .b = b, .lo = lo, .up = up, .is_symmetric = true};
    CHECK_OK(solve(f, &p), &f->error);
    assert_int_equal(f->result.info.outcome, ITM_MLCP_SOLVED);
    for (int i = 0; i < 4; i++) {
        CHECK_NEAR(f->x[i], 0.0981 / 4.0, 1e-9);
    }
    assert_int_equal(f->result.info.nredundant, 1);
}

// Two joint rows that are the same but ask for different velocities
static void contradicting_rows_have_no_solution_and_a_proof(void** state)
{
    Fixture* f = *state;
    const double H[4] = {1, 1, 1, 1}, b[2] = {1.0, 1.5}, lo[2] = {-INF, -INF}, up[2] = {INF, INF};
    ItmMlcpProblem p = {.n = 2, .H = H, .b = b, .lo = lo, .up = up, .is_symmetric = true};
    CHECK_OK(solve(f, &p), &f->error);
    assert_int_equal(f->result.info.outcome, ITM_MLCP_NO_SOLUTION);
    assert_true(itm_mlcp_compute_proof_radius(&p, f->ray) > 1e7);
    // the least-squares compromise: w = +-0.25
    CHECK_NEAR(f->x[0] + f->x[1], -1.25, 1e-6);
    CHECK_NEAR(f->w[0], -0.25, 1e-6);
    CHECK_NEAR(f->w[1], 0.25, 1e-6);
    // and a direction that is no proof is refused
    const double not_a_proof[2] = {1.0, 0.0};
    CHECK_NEAR(itm_mlcp_compute_proof_radius(&p, not_a_proof), 0.0, 2.0);
}

// The same joint row twice, with drift between them, beside a sliding contact: the contact is
// solved as if the joint had no drift, and the call says why the problem as given has no solution.
static void contradicting_joints_do_not_spoil_friction(void** state)
{
    Fixture* f = *state;
    const double H[25] = {1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1};
    const double b[5] = {1.0, 1.001, -3.0, 2.0, 0.0}, lo[5] = {-INF, -INF, 0, 0, 0}, up[5] = {INF, INF, INF, 0, 0};
    const ItmMlcpContact contact = {.normal = 2, .tangent = {3, 4}, .mu = 0.5, .law = ITM_FRICTION_CONE};
    ItmMlcpProblem p = {
        .n = 5, .H = H, .b = b, .lo = lo, .up = up, .is_symmetric = true, .ncontact = 1, .contacts = &contact};
    CHECK_OK(solve(f, &p), &f->error);
    assert_int_equal(f->result.info.outcome, ITM_MLCP_NO_SOLUTION);
    assert_true(itm_mlcp_compute_proof_radius(&p, f->ray) > 1e7);
    CHECK_NEAR(f->x[2], 3.0, 1e-9);
    CHECK_NEAR(f->x[3], -1.5, 1e-9);
    CHECK_NEAR(f->x[0] + f->x[1], -1.0005, 1e-6);
    CHECK_NEAR(f->w[1] - f->w[0], 0.001, 1e-9);
    CHECK_NEAR(f->result.info.residual, itm_mlcp_compute_residual(&p, f->x), 1e-12);
}

// -x >= 1 with x >= 0: Lemke's ray
static void infeasible_lcp_is_proved_by_lemke(void** state)
{
    Fixture* f = *state;
    const double H[1] = {-1}, b[1] = {-1}, lo[1] = {0}, up[1] = {INF};
    ItmMlcpProblem p = {.n = 1, .H = H, .b = b, .lo = lo, .up = up, .is_symmetric = false};
    CHECK_OK(solve(f, &p), &f->error);
    assert_int_equal(f->result.info.outcome, ITM_MLCP_NO_SOLUTION);
    assert_int_equal(f->result.info.solver, ITM_MLCP_LEMKE);
    assert_true(f->result.info.proof_radius == INF);
}

// Unit mass on a plane, pushed along 30 degrees: x_n = g h, and it sticks or slides by Coulomb's
// law.
static void block_sticks_or_slides_by_law(void** state)
{
    Fixture* f = *state;
    const double H[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, lo[3] = {0}, up[3] = {INF, INF, INF};
    const double pull = 2.0, c = cos(0.5235987755982988), s = 0.5;
    const double b[3] = {-3.0, pull * c, pull * s};
    ItmMlcpContact contact = {.normal = 0, .tangent = {1, 2}, .law = ITM_FRICTION_CONE, .ndirection = 4};
    ItmMlcpProblem p = {
        .n = 3, .H = H, .b = b, .lo = lo, .up = up, .is_symmetric = true, .ncontact = 1, .contacts = &contact};

    // mu x_n = 2.1 > 2: sticks whatever the law
    for (int law = 0; law < ITM_FRICTION_COUNT; law++) {
        contact.law = (ItmFrictionLaw)law;
        contact.mu = law == ITM_FRICTION_PYRAMID ? 1.0 : 0.7;
        CHECK_OK(solve(f, &p), &f->error);
        CHECK_NEAR(f->x[0], 3.0, 1e-9);
        CHECK_NEAR(f->x[1], -pull * c, 1e-9);
        CHECK_NEAR(f->x[2], -pull * s, 1e-9);
    }
    // mu x_n = 1.5 < 2 on the exact cone: slides the way it is pulled
    contact.mu = 0.5;
    contact.law = ITM_FRICTION_CONE;
    CHECK_OK(solve(f, &p), &f->error);
    CHECK_NEAR(f->x[1], -1.5 * c, 1e-9);
    CHECK_NEAR(f->x[2], -1.5 * s, 1e-9);
    CHECK_NEAR(f->w[1], 0.5 * c, 1e-9);
    // box: each tangent for itself; the weaker one sticks
    contact.law = ITM_FRICTION_BOX;
    CHECK_OK(solve(f, &p), &f->error);
    CHECK_NEAR(f->x[1], -1.5, 1e-9);
    CHECK_NEAR(f->x[2], -1.0, 1e-9);
    CHECK_NEAR(f->w[2], 0.0, 1e-9);
    // pyramid with four corners, mu x_n = 0.9: on the edge x_1 + x_2 = -0.9, where the remaining
    // slip is normal to it, w_1 = w_2
    contact.law = ITM_FRICTION_PYRAMID;
    contact.mu = 0.3;
    CHECK_OK(solve(f, &p), &f->error);
    CHECK_NEAR(f->x[1], 0.5 * (-0.9 - pull * c + pull * s), 1e-9);
    CHECK_NEAR(f->x[2], 0.5 * (-0.9 + pull * c - pull * s), 1e-9);
    // mu x_n = 0.3: too little to turn the slip, so it stays at the corner that opposes it most
    contact.mu = 0.1;
    CHECK_OK(solve(f, &p), &f->error);
    CHECK_NEAR(f->x[1], -0.3, 1e-9);
    CHECK_NEAR(f->x[2], 0.0, 1e-9);
}

// Every solver that treats coupled boxes or pyramids gives Coulomb's answer; Lemke and Newton share
// no code.
static void solvers_agree_on_coupled_friction(void** state)
{
    Fixture* f = *state;
    const ItmMlcpSolver solvers[] = {ITM_MLCP_NEWTON, ITM_MLCP_LEMKE, ITM_MLCP_ADMM, ITM_MLCP_GAUSS_SEIDEL};
    for (int law = 0; law < 2; law++) {
        MlcpSpec spec = mlcp_default_spec(3, 4);
        spec.is_coupled = true;
        spec.law = (ItmFrictionLaw)law;
        spec.ndirection = 5;
        MlcpCase c;
        assert_true(mlcp_case_create(&c, &spec));
        double first[MAX];
        for (int k = 0; k < 4; k++) {
            f->options.solver = solvers[k];
            CHECK_OK(solve(f, &c.problem), &f->error);
            assert_int_equal(f->result.info.outcome, ITM_MLCP_SOLVED);
            for (int i = 0; i < c.n; i++) {
                if (k == 0) {
                    first[i] = f->x[i];
                } else {
                    // residual 1e-10 over small eigenvalues of H; observed below 1e-7
                    CHECK_NEAR(f->x[i], first[i], 1e-6);
                }
            }
        }
        mlcp_case_destroy(&c);
    }
    f->options = itm_default_mlcp_options();
}

// x - y = 1 and x = y + 1 through zero diagonals, and an LCP only enumeration finds: M = [-1], q =
// 1 has z = 0 and 1
// A jaw of mass 1 presses a bar of mass 1 and inertia 1 with an impulse of F at five points y = -1 ... 1; the weight has the impulse 1
// and acts at y = e. Velocities of jaw, bar (y, z) and its turning; the bar rests for mu F >= max(1, e), whatever points carry F.
enum { POINTS = 5 };

static void make_grip(double H[9 * POINTS * POINTS], double b[3 * POINTS], double F, double e)
{
    double A[3 * POINTS][4];
    for (int i = 0; i < POINTS; i++) {
        double y = 0.5 * i - 1.0;
        const double rows[3][4] = {{1, 0, 0, 0}, {0, 0, 1, y - e}, {0, 1, 0, 0}};
        memcpy(A[3 * i], rows, sizeof rows);
        b[3 * i] = -F;
        b[3 * i + 1] = -1.0;
        b[3 * i + 2] = 0.0;
    }
    for (int i = 0; i < 3 * POINTS * 3 * POINTS; i++) {
        const double *p = A[i / (3 * POINTS)], *q = A[i % (3 * POINTS)];
        H[i] = p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3];
    }
}

static void bound_points(double lo[3 * POINTS], double up[3 * POINTS], ItmMlcpContact contacts[POINTS], double mu,
                         ItmFrictionLaw law)
{
    for (int i = 0; i < POINTS; i++) {
        contacts[i] = (ItmMlcpContact){3 * i, {3 * i + 1, 3 * i + 2}, mu, law, 16};
        for (int j = 0; j < 3; j++) {
            lo[3 * i + j] = j == 0 ? 0.0 : -INF;
            up[3 * i + j] = INF;
        }
    }
}

static void rest_is_found_where_it_is_possible(void** state)
{
    Fixture* f = *state;
    const double mu = 0.5, zero[3 * POINTS] = {0};
    double H[9 * POINTS * POINTS], b[3 * POINTS], lo[3 * POINTS], up[3 * POINTS];
    ItmMlcpContact contacts[POINTS];
    for (int k = 0; k < 12; k++) {
        ItmFrictionLaw law = (ItmFrictionLaw)(k % 3);
        double e = k / 3 % 2 == 0 ? 0.3 : 1.4, load = k / 6 == 0 ? 0.9 : 1.1;
        make_grip(H, b, fmax(1.0, e) / mu / load, e);
        bound_points(lo, up, contacts, mu, law);
        // all in the first point, as a solver may have left it
        memset(f->x, 0, sizeof f->x);
        memset(f->state, ITM_ROW_LO, sizeof f->state);
        f->x[0] = -b[0];
        f->state[0] = f->state[1] = f->state[2] = ITM_ROW_ACTIVE;
        f->options.warm_start = true;
        f->options.solver = ITM_MLCP_AUTO;
        ItmMlcpProblem p = {.n = 3 * POINTS,
                            .H = H,
                            .b = b,
                            .lo = lo,
                            .up = up,
                            .is_symmetric = true,
                            .ncontact = POINTS,
                            .contacts = contacts,
                            .w_before = zero};
        CHECK_OK(solve(f, &p), &f->error);
        assert_int_equal(f->result.info.outcome, ITM_MLCP_SOLVED);
        double slip = fmax(fabs(f->w[1]), fabs(f->w[3 * POINTS - 2]));
        if (load < 1.0) {
            // the tolerance of the solve, 1e-10 (1 + max |b|)
            CHECK_NEAR(slip, 0.0, 1e-9);
        } else {
            assert_true(slip > 0.01);
        }
    }
}

// A number a few units of its last place away.
static double nudge(uint64_t* random, double a)
{
    return a * (1.0 + 2.2e-16 * floor(mlcp_random_between(random, -3.0, 4.0)));
}

// Where the solver starts: from nothing, from all the load in one point, from an even load, or from points that slip.
static void start_grip(Fixture* f, const double* b, int start)
{
    f->options.warm_start = start > 0;
    for (int i = 0; i < 3 * POINTS; i++) {
        bool carries = start == 1 ? i < 3 : start > 1;
        f->x[i] = carries && i % 3 == 0 ? -b[0] / (start == 1 ? 1 : POINTS) : 0.0;
        f->state[i] = carries && (start < 3 || i % 3 == 0) ? ITM_ROW_ACTIVE : ITM_ROW_LO;
    }
}

// The points' rates contradict each other by a millionth, as those of a swinging grip do, and every number is off by a few units of its
// last place: whether the grip holds must not depend on either.
static void sticking_does_not_depend_on_rounding(void** state)
{
    Fixture* f = *state;
    const double mu = 0.5, error = 1e-6, zero[3 * POINTS] = {0};
    double H[9 * POINTS * POINTS], b[3 * POINTS], lo[3 * POINTS], up[3 * POINTS];
    ItmMlcpContact contacts[POINTS];
    ItmMlcpProblem p = {.n = 3 * POINTS,
                        .H = H,
                        .b = b,
                        .lo = lo,
                        .up = up,
                        .is_symmetric = true,
                        .ncontact = POINTS,
                        .contacts = contacts,
                        .w_before = zero,
                        .contradiction = 2.0 * error};
    for (int k = 0; k < 480; k++) {
        uint64_t random = (uint64_t)k + 1;
        double e = k % 2 == 0 ? 0.3 : 1.4, load = k / 2 % 2 == 0 ? 0.9 : 1.1;
        make_grip(H, b, fmax(1.0, e) / mu / load, e);
        bound_points(lo, up, contacts, mu, k / 4 % 2 == 0 ? ITM_FRICTION_CONE : ITM_FRICTION_PYRAMID);
        for (int i = 0; i < 3 * POINTS; i++) {
            b[i] = nudge(&random, b[i]) + mlcp_random_between(&random, -error, error);
            for (int j = 0; j <= i; j++) {
                H[3 * POINTS * i + j] = H[3 * POINTS * j + i] = nudge(&random, H[3 * POINTS * i + j]);
            }
        }
        start_grip(f, b, k / 8 % 4);
        CHECK_OK(solve(f, &p), &f->error);
        assert_int_equal(f->result.info.outcome, ITM_MLCP_SOLVED);
        double slip = 0.0;
        for (int i = 0; i < POINTS; i++) {
            slip = fmax(slip, hypot(f->w[3 * i + 1], f->w[3 * i + 2]));
        }
        if (load < 1.0) {
            // the tolerance of the solve, 1e-10 (1 + max |b|)
            CHECK_NEAR(slip, 0.0, 1e-9);
        } else {
            assert_true(slip > 0.01);
        }
    }
    f->options = itm_default_mlcp_options();
}

// A grip that slips more slowly than its rates may be wrong could stick: that is searched for, unless it was shortly before.
static void known_slip_is_not_searched_again(void** state)
{
    Fixture* f = *state;
    const double mu = 0.5, slow = 1e-4;
    double H[9 * POINTS * POINTS], b[3 * POINTS], lo[3 * POINTS], up[3 * POINTS], before[3 * POINTS] = {0},
                                                                                             x[3 * POINTS];
    ItmMlcpContact contacts[POINTS];
    make_grip(H, b, (1.0 - slow) / mu, 0.0);
    bound_points(lo, up, contacts, mu, ITM_FRICTION_CONE);
    ItmMlcpProblem p = {.n = 3 * POINTS,
                        .H = H,
                        .b = b,
                        .lo = lo,
                        .up = up,
                        .is_symmetric = true,
                        .ncontact = POINTS,
                        .contacts = contacts,
                        .w_before = before,
                        .contradiction = 100.0 * slow};
    start_grip(f, b, 2);
    CHECK_OK(solve(f, &p), &f->error);
    memcpy(before, f->w, sizeof before);  // it goes on slipping
    CHECK_OK(solve(f, &p), &f->error);
    assert_int_equal(f->result.info.outcome, ITM_MLCP_SOLVED);
    assert_true(f->result.info.is_slip_found);
    int searched = f->result.info.factorisations;
    memcpy(x, f->x, sizeof x);
    p.slip_is_known = true;
    CHECK_OK(solve(f, &p), &f->error);
    assert_false(f->result.info.is_slip_found);
    assert_true(f->result.info.factorisations < searched);
    for (int i = 0; i < 3 * POINTS; i++) {
        CHECK_NEAR(f->x[i], x[i], 1e-9);
    }
    f->options = itm_default_mlcp_options();
}

// Belts of different speeds: rates that contradict each other by more than the stated error are kept, and the points slip.
static void contradictions_beyond_the_error_make_slip(void** state)
{
    Fixture* f = *state;
    const double mu = 0.5, belt = 1e-3, zero[3 * POINTS] = {0};
    double H[9 * POINTS * POINTS], b[3 * POINTS], lo[3 * POINTS], up[3 * POINTS];
    ItmMlcpContact contacts[POINTS];
    make_grip(H, b, 4.0, 0.0);
    bound_points(lo, up, contacts, mu, ITM_FRICTION_CONE);
    for (int i = 0; i < POINTS; i++) {
        b[3 * i + 2] = i % 2 == 0 ? belt : -belt;
    }
    ItmMlcpProblem p = {.n = 3 * POINTS,
                        .H = H,
                        .b = b,
                        .lo = lo,
                        .up = up,
                        .is_symmetric = true,
                        .ncontact = POINTS,
                        .contacts = contacts,
                        .w_before = zero,
                        .contradiction = 0.5 * belt};
    start_grip(f, b, 2);
    CHECK_OK(solve(f, &p), &f->error);
    assert_int_equal(f->result.info.outcome, ITM_MLCP_SOLVED);
    CHECK_NEAR(fabs(f->w[2] - f->w[5]), 2.0 * belt, 1e-9);  // the difference is not up to the bar
    CHECK_NEAR(itm_mlcp_compute_residual(&p, f->x), 0.0, 1e-10);
    f->options = itm_default_mlcp_options();
}

static void enumeration_solves_what_has_no_theory(void** state)
{
    Fixture* f = *state;
    const double H[4] = {0, -1, -1, 0}, b[2] = {1, 1}, lo[2] = {0, 0}, up[2] = {3, 3};
    ItmMlcpProblem p = {.n = 2, .H = H, .b = b, .lo = lo, .up = up};
    f->options.solver = ITM_MLCP_ENUMERATION;
    CHECK_OK(solve(f, &p), &f->error);
    f->options.solver = ITM_MLCP_AUTO;
    assert_int_equal(f->result.info.outcome, ITM_MLCP_SOLVED);
    CHECK_NEAR(itm_mlcp_compute_residual(&p, f->x), 0.0, 1e-12);
}

// ---------------------------------------------------------------------------- residual

static void residual_is_zero_only_at_solutions(void** state)
{
    (void)state;
    const double H[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, lo[3] = {0}, up[3] = {INF, INF, INF}, b[3] = {-3.0, 2.0, 0.0};
    const ItmMlcpContact contact = {.normal = 0, .tangent = {1, 2}, .mu = 0.5, .law = ITM_FRICTION_CONE};
    ItmMlcpProblem p = {
        .n = 3, .H = H, .b = b, .lo = lo, .up = up, .is_symmetric = true, .ncontact = 1, .contacts = &contact};
    const double coulomb[3] = {3.0, -1.5, 0.0}, outside[3] = {3.0, -2.0, 0.0}, sideways[3] = {3.0, -1.2, 0.9};
    CHECK_NEAR(itm_mlcp_compute_residual(&p, coulomb), 0.0, 1e-16);
    assert_true(itm_mlcp_compute_residual(&p, outside) > 0.01);
    assert_true(itm_mlcp_compute_residual(&p, sideways) > 0.01);  // on the cone, but not opposing slip
    const double bad[3] = {3.0, (double)NAN, 0.0};
    assert_true(isnan(itm_mlcp_compute_residual(&p, bad)));
}

// ---------------------------------------------------------------------------- warm start,
// determinism, memory

static void warm_start_needs_no_pivots_and_finds_the_same(void** state)
{
    Fixture* f = *state;
    MlcpSpec spec = mlcp_default_spec(9, 15);
    spec.is_redundant = true;
    MlcpCase c;
    assert_true(mlcp_case_create(&c, &spec));
    double cold[MAX];
    CHECK_OK(solve(f, &c.problem), &f->error);
    memcpy(cold, f->x, sizeof cold);
    f->options.warm_start = true;
    CHECK_OK(solve(f, &c.problem), &f->error);
    f->options.warm_start = false;
    assert_int_equal(f->result.info.outcome, ITM_MLCP_SOLVED);
    assert_int_equal(f->result.info.pivots, 0);
    assert_int_equal(f->result.info.factorisations, 1);
    for (int i = 0; i < c.n; i++) {
        CHECK_NEAR(f->x[i], cold[i], 1e-7);  // least norm to O(eps = 1e-7) either way
    }
    mlcp_case_destroy(&c);
}

static void same_input_gives_the_same_bits_in_any_workspace(void** state)
{
    Fixture* f = *state;
    for (int law = -1; law < ITM_FRICTION_COUNT; law++) {
        MlcpSpec spec = mlcp_default_spec(9, 15);
        spec.is_redundant = true;
        spec.is_coupled = law >= 0;
        spec.law = law >= 0 ? (ItmFrictionLaw)law : ITM_FRICTION_BOX;
        MlcpCase c;
        assert_true(mlcp_case_create(&c, &spec));
        double first[MAX];
        CHECK_OK(solve(f, &c.problem), &f->error);
        memcpy(first, f->x, sizeof first);

        // another workspace, of another size, that has just solved something else
        ItmMlcpWorkspace* other = NULL;
        ItmMlcpCapacity capacity = itm_default_mlcp_capacity(MAX + 13, MAX);
        CHECK_OK(itm_mlcp_workspace_create(&other, &capacity, &f->error), &f->error);
        const double one = 1.0, zero = 0.0, minus = -1.0;
        ItmMlcpProblem tiny = {.n = 1, .H = &one, .b = &minus, .lo = &zero, .up = &one, .is_symmetric = true};
        CHECK_OK(itm_mlcp_solve(other, &f->result, &tiny, &f->options, &f->error), &f->error);
        CHECK_OK(itm_mlcp_solve(other, &f->result, &c.problem, &f->options, &f->error), &f->error);
        assert_memory_equal(f->x, first, (size_t)c.n * sizeof(double));
        itm_mlcp_workspace_destroy(other);
        mlcp_case_destroy(&c);
    }
}

static void solving_allocates_nothing(void** state)
{
    Fixture* f = *state;
    for (int solver = 0; solver < ITM_MLCP_SOLVER_COUNT; solver++) {
        MlcpSpec spec = mlcp_default_spec(3, 3);
        spec.is_coupled = solver == ITM_MLCP_NEWTON || solver == ITM_MLCP_ADMM;
        spec.law = ITM_FRICTION_CONE;
        MlcpCase c;
        assert_true(mlcp_case_create(&c, &spec));
        f->options.solver = (ItmMlcpSolver)solver;
        long before = allocations;
        CHECK_OK(solve(f, &c.problem), &f->error);
        assert_int_equal(allocations - before, 0);
        assert_true(before > 0);  // the counter counts
        mlcp_case_destroy(&c);
    }
    f->options.solver = ITM_MLCP_AUTO;
}

// ---------------------------------------------------------------------------- refusal

typedef struct Simple {
    double H[9], b[3], lo[3], up[3];
    ItmMlcpContact contact;
    ItmMlcpProblem p;
} Simple;

static void make_simple(Simple* s)
{
    *s = (Simple){.H = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                  .b = {-1, 1, 0},
                  .up = {INF, INF, INF},
                  .contact = {.normal = 0, .tangent = {1, 2}, .mu = 0.5, .law = ITM_FRICTION_PYRAMID, .ndirection = 4}};
    s->p = (ItmMlcpProblem){.n = 3,
                            .H = s->H,
                            .b = s->b,
                            .lo = s->lo,
                            .up = s->up,
                            .is_symmetric = true,
                            .ncontact = 1,
                            .contacts = &s->contact};
}

static void bad_numbers_are_refused(void** state)
{
    Fixture* f = *state;
    Simple s;
    make_simple(&s);
    CHECK_OK(solve(f, &s.p), &f->error);
    double before = f->x[0];

    s.H[5] = (double)NAN;
    assert_int_equal(solve(f, &s.p), ITM_ERR_NOT_FINITE);
    assert_non_null(strstr(f->error.message, "H[1][2]"));
    make_simple(&s);
    s.b[1] = INF;
    assert_int_equal(solve(f, &s.p), ITM_ERR_NOT_FINITE);
    make_simple(&s);
    s.up[2] = (double)NAN;
    assert_int_equal(solve(f, &s.p), ITM_ERR_NOT_FINITE);
    make_simple(&s);
    s.contact.mu = INF;
    assert_int_equal(solve(f, &s.p), ITM_ERR_NOT_FINITE);
    make_simple(&s);
    s.p.ncontact = 0;
    s.lo[2] = 2.0;
    s.up[2] = 1.0;
    assert_int_equal(solve(f, &s.p), ITM_ERR_INPUT);
    s.lo[2] = s.up[2] = INF;
    assert_int_equal(solve(f, &s.p), ITM_ERR_INPUT);
    assert_true(f->x[0] == before);  // a refused call leaves the result alone
}

static void bad_contacts_are_refused(void** state)
{
    Fixture* f = *state;
    Simple s;
    make_simple(&s);
    s.contact.mu = -0.1;
    assert_int_equal(solve(f, &s.p), ITM_ERR_INPUT);
    make_simple(&s);
    s.contact.tangent[1] = 3;
    assert_int_equal(solve(f, &s.p), ITM_ERR_INPUT);
    make_simple(&s);
    s.contact.tangent[1] = 0;
    assert_int_equal(solve(f, &s.p), ITM_ERR_INPUT);
    make_simple(&s);
    s.contact.ndirection = 2;
    assert_int_equal(solve(f, &s.p), ITM_ERR_INPUT);
    make_simple(&s);
    s.lo[0] = -1.0;
    assert_int_equal(solve(f, &s.p), ITM_ERR_INPUT);
    make_simple(&s);
    const ItmMlcpContact twice[2] = {s.contact, s.contact};
    s.p.ncontact = 2;
    s.p.contacts = twice;
    assert_int_equal(solve(f, &s.p), ITM_ERR_INPUT);
}

static void bad_arguments_and_options_are_refused(void** state)
{
    Fixture* f = *state;
    Simple s;
    make_simple(&s);
    assert_int_equal(itm_mlcp_solve(NULL, &f->result, &s.p, &f->options, NULL), ITM_ERR_ARGUMENT);
    assert_int_equal(itm_mlcp_solve(f->workspace, NULL, &s.p, &f->options, NULL), ITM_ERR_ARGUMENT);
    assert_int_equal(itm_mlcp_solve(f->workspace, &f->result, NULL, &f->options, NULL), ITM_ERR_ARGUMENT);
    assert_int_equal(itm_mlcp_solve(f->workspace, &f->result, &s.p, NULL, NULL), ITM_ERR_ARGUMENT);
    s.p.n = 0;
    assert_int_equal(solve(f, &s.p), ITM_ERR_ARGUMENT);
    s.p.n = MAX + 1;
    assert_int_equal(solve(f, &s.p), ITM_ERR_CAPACITY);
    make_simple(&s);
    s.p.H = NULL;
    assert_int_equal(solve(f, &s.p), ITM_ERR_ARGUMENT);
    make_simple(&s);
    ItmMlcpOptions good = f->options;
    f->options.tolerance = 0.0;
    assert_int_equal(solve(f, &s.p), ITM_ERR_ARGUMENT);
    f->options = good;
    f->options.relaxation = 2.0;
    assert_int_equal(solve(f, &s.p), ITM_ERR_ARGUMENT);
    f->options = good;
    f->options.max_iterations = 0;
    assert_int_equal(solve(f, &s.p), ITM_ERR_ARGUMENT);
    f->options = good;
    f->options.solver = ITM_MLCP_SOLVER_COUNT;
    assert_int_equal(solve(f, &s.p), ITM_ERR_ARGUMENT);
    f->options = good;
    f->options.warm_start = true;
    f->x[1] = (double)NAN;
    assert_int_equal(solve(f, &s.p), ITM_ERR_NOT_FINITE);
    f->x[1] = 0.0;
    f->state[1] = 7;
    assert_int_equal(solve(f, &s.p), ITM_ERR_INPUT);
    f->options = good;
    ItmMlcpWorkspace* none = NULL;
    assert_int_equal(itm_mlcp_workspace_create(&none, &(ItmMlcpCapacity){.n = 0}, NULL), ITM_ERR_ARGUMENT);
    itm_mlcp_workspace_destroy(NULL);
}

static void unsuitable_solver_says_so(void** state)
{
    Fixture* f = *state;
    Simple s;
    make_simple(&s);
    s.p.is_symmetric = false;
    f->options.solver = ITM_MLCP_ADMM;
    CHECK_OK(solve(f, &s.p), &f->error);
    assert_int_equal(f->result.info.outcome, ITM_MLCP_UNSUITABLE);
    s.p.is_symmetric = true;
    f->options.solver = ITM_MLCP_ENUMERATION;
    CHECK_OK(solve(f, &s.p), &f->error);
    assert_int_equal(f->result.info.outcome, ITM_MLCP_UNSUITABLE);
    f->options.solver = ITM_MLCP_PIVOTING;
    CHECK_OK(solve(f, &s.p), &f->error);
    f->options.solver = ITM_MLCP_AUTO;
    assert_int_equal(f->result.info.outcome, ITM_MLCP_UNSUITABLE);
}

static void every_outcome_and_solver_has_a_name(void** state)
{
    (void)state;
    for (int k = 0; k < ITM_MLCP_OUTCOME_COUNT; k++) {
        assert_true(strlen(itm_mlcp_outcome_message((ItmMlcpOutcome)k)) > 3);
    }
    for (int k = 0; k < ITM_MLCP_SOLVER_COUNT; k++) {
        assert_true(strlen(itm_mlcp_solver_name((ItmMlcpSolver)k)) > 3);
    }
    assert_string_equal(itm_mlcp_outcome_message(ITM_MLCP_OUTCOME_COUNT), "unknown outcome");
    assert_string_equal(itm_mlcp_solver_name(ITM_MLCP_SOLVER_COUNT), "unknown solver");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_cut_the_free_solution),
        cmocka_unit_test(a_chain_and_its_shuffled_rows_have_the_same_solution),
        cmocka_unit_test(a_bad_number_beside_the_band_is_refused),
        cmocka_unit_test(four_legged_table_shares_its_weight),
        cmocka_unit_test(contradicting_rows_have_no_solution_and_a_proof),
        cmocka_unit_test(contradicting_joints_do_not_spoil_friction),
        cmocka_unit_test(infeasible_lcp_is_proved_by_lemke),
        cmocka_unit_test(block_sticks_or_slides_by_law),
        cmocka_unit_test(solvers_agree_on_coupled_friction),
        cmocka_unit_test(rest_is_found_where_it_is_possible),
        cmocka_unit_test(sticking_does_not_depend_on_rounding),
        cmocka_unit_test(known_slip_is_not_searched_again),
        cmocka_unit_test(contradictions_beyond_the_error_make_slip),
        cmocka_unit_test(enumeration_solves_what_has_no_theory),
        cmocka_unit_test(residual_is_zero_only_at_solutions),
        cmocka_unit_test(warm_start_needs_no_pivots_and_finds_the_same),
        cmocka_unit_test(same_input_gives_the_same_bits_in_any_workspace),
        cmocka_unit_test(solving_allocates_nothing),
        cmocka_unit_test(bad_numbers_are_refused),
        cmocka_unit_test(bad_contacts_are_refused),
        cmocka_unit_test(bad_arguments_and_options_are_refused),
        cmocka_unit_test(unsuitable_solver_says_so),
        cmocka_unit_test(every_outcome_and_solver_has_a_name),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
