// Factors of block matrices over graphs that change: the same answers as elimination of the full matrix, and no fill in trees.
#include "check.h"

#include "math/graph.h"

#include <stdlib.h>

enum { NODES = 40, BLOCKS = 800, SIZE = 6 * NODES };

static double A[SIZE][SIZE];  // the full matrix

static double random_number(void)
{
    static unsigned seed = 7;
    seed = seed * 1103515245u + 12345u;
    return (double)(seed >> 8) / (1 << 23) - 1.0;
}

static ItmGraph make_graph(ItmArena* arena)
{
    ItmGraph g = {0};
    itm_graph_lay_out(&g, arena, NODES, BLOCKS, 6);
    assert_int_equal(itm_arena_allocate(arena), 0);
    itm_graph_lay_out(&g, arena, NODES, BLOCKS, 6);
    return g;
}

// A chain, and `extra` edges between any two nodes; the same twice must not matter.
static void join_nodes(ItmGraph* g, bool is_joined[NODES][NODES], int extra)
{
    memset(is_joined, 0, sizeof(bool) * NODES * NODES);
    assert_true(itm_graph_begin(g, NODES));
    for (int k = 0; k < NODES - 1 + extra; k++) {
        int a = k < NODES - 1 ? k : rand() % NODES, b = k < NODES - 1 ? k + 1 : rand() % NODES;
        if (a != b) {
            assert_true(itm_graph_join(g, a, b) && itm_graph_join(g, b, a));
            is_joined[a][b] = is_joined[b][a] = true;
        }
    }
}

static void put(double* block, int p, int q, bool is_transposed)
{
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) {
            block[6 * i + j] = is_transposed ? A[6 * p + j][6 * q + i] : A[6 * p + i][6 * q + j];
        }
    }
}

// Random numbers where the graph has blocks, the diagonal large enough for a definite matrix.
static void fill_matrix(ItmGraph* g, bool is_joined[NODES][NODES], bool is_symmetric)
{
    memset(A, 0, sizeof A);
    for (int i = 0; i < SIZE; i++) {
        for (int j = 0; j <= i; j++) {
            bool has_block = i / 6 == j / 6 || is_joined[i / 6][j / 6];
            A[i][j] = has_block ? random_number() : 0.0;
            A[j][i] = is_symmetric || !has_block ? A[i][j] : random_number();
        }
        A[i][i] += 60.0;
    }
    memset(g->off, 0, sizeof(double) * ITM_GRAPH_BLOCK * (size_t)g->nblock);
    memset(g->low, 0, sizeof(double) * ITM_GRAPH_BLOCK * (size_t)g->nblock);
    for (int p = 0; p < NODES; p++) {
        put(g->diagonal + ITM_GRAPH_BLOCK * g->position[p], p, p, false);
        for (int q = 0; q < p; q++) {
            if (is_joined[p][q]) {
                bool is_transposed;
                int e = itm_graph_find(g, p, q, &is_transposed);
                put(g->off + ITM_GRAPH_BLOCK * e, is_transposed ? q : p, is_transposed ? p : q, false);
                put(g->low + ITM_GRAPH_BLOCK * e, is_transposed ? p : q, is_transposed ? q : p, false);
            }
        }
    }
}

static void check_solution(const double* x, const double* b)
{
    for (int i = 0; i < SIZE; i++) {
        double sum = 0.0;
        for (int j = 0; j < SIZE; j++) {
            sum += A[i][j] * x[j];
        }
        assert_true(fabs(sum - b[i]) < 1e-13);  // observed 1e-15
    }
}

static void factors_solve_as_the_full_matrix_does(void** state)
{
    (void)state;
    ItmArena arena = {0};
    ItmGraph g = make_graph(&arena);
    bool is_joined[NODES][NODES];
    for (int trial = 0; trial < 12; trial++) {
        bool is_symmetric = trial % 2 == 0;
        join_nodes(&g, is_joined, 5 * trial);
        assert_true(itm_graph_order(&g, INFINITY));
        fill_matrix(&g, is_joined, is_symmetric);
        double x[SIZE], b[SIZE];
        for (int i = 0; i < SIZE; i++) {
            x[i] = b[i] = random_number();
        }
        assert_true(is_symmetric ? itm_graph_factor(&g) : itm_graph_factor_general(&g));
        if (is_symmetric) {
            itm_graph_solve(&g, x);
        } else {
            itm_graph_solve_general(&g, x);
        }
        check_solution(x, b);
    }
    itm_arena_free(&arena);
}

static void chains_have_no_fill_and_limits_are_kept(void** state)
{
    (void)state;
    ItmArena arena = {0};
    ItmGraph g = make_graph(&arena);
    bool is_joined[NODES][NODES];
    join_nodes(&g, is_joined, 0);
    assert_true(itm_graph_order(&g, INFINITY));
    assert_int_equal(g.nblock, NODES - 1);
    join_nodes(&g, is_joined, 0);
    assert_false(itm_graph_order(&g, NODES / 2));  // sum d^2 = NODES - 1
    assert_false(itm_graph_begin(&g, NODES + 1));
    itm_arena_free(&arena);
}

// What is not definite is told.
static void indefinite_matrices_are_refused(void** state)
{
    (void)state;
    ItmArena arena = {0};
    ItmGraph g = make_graph(&arena);
    bool is_joined[NODES][NODES];
    join_nodes(&g, is_joined, 0);
    assert_true(itm_graph_order(&g, INFINITY));
    fill_matrix(&g, is_joined, true);
    g.diagonal[ITM_GRAPH_BLOCK * 3 + 14] = -1.0;
    assert_false(itm_graph_factor(&g));
    itm_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_solve_as_the_full_matrix_does),
        cmocka_unit_test(chains_have_no_fill_and_limits_are_kept),
        cmocka_unit_test(indefinite_matrices_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
