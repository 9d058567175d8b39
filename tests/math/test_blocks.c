#include "check.h"

#include "math/blocks.h"

// Deterministic random numbers in (-1, 1).
static double next_random(uint64_t* seed)
{
    *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(int64_t)(*seed >> 11) / 4503599627370496.0 - 1.0;
}

enum { NBLOCK = 12, NROW_MAX = NBLOCK * ITM_BLOCK_MAX };

typedef struct {
    ItmBlocks blocks;
    ItmBlockFactor factor;
    double H[NROW_MAX][NROW_MAX];  // dense copy
    int start[NBLOCK + 1];
    int nrow;
} Problem;

// Gram matrix of rows that touch neighbouring "bodies" of 6 columns each: block i touches i and i + stride.
// redundant: the last row of every third block repeats a combination of its first two.
static void make_problem(Problem* p, uint64_t seed, bool has_redundant)
{
    memset(p, 0, sizeof *p);
    int size[NBLOCK], pairs[NBLOCK * NBLOCK * 2], npair = 0;
    static double A[NROW_MAX][6 * (NBLOCK + 1)];
    memset(A, 0, sizeof A);
    for (int i = 0; i < NBLOCK; i++) {
        size[i] = 1 + (int)(fabs(next_random(&seed)) * 5.0);
        if (has_redundant && i % 3 == 0) {
            size[i] = 4;
        }
        p->start[i] = p->nrow;
        p->nrow += size[i];
        int body[2] = {i, (i * 5 + 1) % (NBLOCK + 1)};
        for (int s = 0; s < size[i]; s++) {
            for (int k = 0; k < 12; k++) {
                A[p->start[i] + s][6 * body[k / 6] + k % 6] = next_random(&seed);
            }
        }
        if (has_redundant && i % 3 == 0) {
            for (int k = 0; k < 6 * (NBLOCK + 1); k++) {
                A[p->start[i] + 3][k] = 2.0 * A[p->start[i]][k] - A[p->start[i] + 1][k];
            }
        }
    }
    p->start[NBLOCK] = p->nrow;
    for (int i = 0; i < p->nrow; i++) {
        for (int j = 0; j < p->nrow; j++) {
            for (int k = 0; k < 6 * (NBLOCK + 1); k++) {
                p->H[i][j] += A[i][k] * A[j][k];
            }
        }
    }
    for (int a = 0; a < NBLOCK; a++) {
        for (int b = 0; b < a; b++) {
            bool is_coupled = false;
            for (int i = p->start[a]; i < p->start[a + 1]; i++) {
                for (int j = p->start[b]; j < p->start[b + 1]; j++) {
                    is_coupled = is_coupled || p->H[i][j] != 0.0;
                }
            }
            if (is_coupled) {
                pairs[2 * npair] = a;
                pairs[2 * npair + 1] = b;
                npair++;
            }
        }
    }
    assert_int_equal(itm_blocks_build(&p->blocks, NBLOCK, size, NULL, pairs, npair), ITM_OK);
    p->factor.L = calloc((size_t)p->blocks.nvalue, sizeof(double));
    p->factor.inv_diag = calloc((size_t)p->nrow, sizeof(double));
    p->factor.scale = calloc((size_t)p->nrow, sizeof(double));
    p->factor.map = calloc(NBLOCK, sizeof(int));
    for (int i = 0; i < p->nrow; i++) {
        p->factor.scale[i] = p->H[i][i];
    }
    for (int k = -NBLOCK; k < npair; k++) {
        int a = k < 0 ? k + NBLOCK : pairs[2 * k], b = k < 0 ? a : pairs[2 * k + 1];
        bool is_transposed;
        double* block = p->factor.L + itm_blocks_find(&p->blocks, a, b, &is_transposed);
        for (int i = 0; i < size[a]; i++) {
            for (int j = 0; j < size[b]; j++) {
                block[is_transposed ? j * size[a] + i : i * size[b] + j] = p->H[p->start[a] + i][p->start[b] + j];
            }
        }
    }
}

static void free_problem(Problem* p)
{
    itm_blocks_free(&p->blocks);
    free(p->factor.L);
    free(p->factor.inv_diag);
    free(p->factor.scale);
    free(p->factor.map);
}

static double residual(const Problem* p, const double* x, const double* b)
{
    double largest = 0.0;
    for (int i = 0; i < p->nrow; i++) {
        double sum = -b[i];
        for (int j = 0; j < p->nrow; j++) {
            sum += p->H[i][j] * x[j];
        }
        largest = fmax(largest, fabs(sum));
    }
    return largest;
}

// A right side in the range of H, with entries of order 10.
static void make_right_side(const Problem* p, double* b, uint64_t seed)
{
    double y[NROW_MAX];
    for (int i = 0; i < p->nrow; i++) {
        y[i] = next_random(&seed);
    }
    for (int i = 0; i < p->nrow; i++) {
        b[i] = 0.0;
        for (int j = 0; j < p->nrow; j++) {
            b[i] += p->H[i][j] * y[j];
        }
    }
}

static void sparse_factor_solves_random_gram_systems(void** state)
{
    (void)state;
    static Problem p;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        make_problem(&p, seed, false);
        assert_int_equal(itm_blocks_factor(&p.blocks, &p.factor, 1e-12), 0);
        double b[NROW_MAX], x[NROW_MAX];
        make_right_side(&p, b, seed);
        memcpy(x, b, sizeof b);
        itm_blocks_solve(&p.blocks, &p.factor, x);
        // backward stable: residual ~ n eps |H| |x|, with |H| ~ 50 and |x| up to 1e2; observed 4e-12
        CHECK_NEAR(residual(&p, x, b), 0.0, 1e-10);
        free_problem(&p);
    }
}

static void redundant_rows_are_found_and_harmless(void** state)
{
    (void)state;
    static Problem p;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        make_problem(&p, seed, true);
        assert_int_equal(itm_blocks_factor(&p.blocks, &p.factor, 1e-12), NBLOCK / 3);
        double b[NROW_MAX], x[NROW_MAX];
        make_right_side(&p, b, seed);
        memcpy(x, b, sizeof b);
        itm_blocks_solve(&p.blocks, &p.factor, x);
        CHECK_NEAR(residual(&p, x, b), 0.0, 1e-9);
        free_problem(&p);
    }
}

static void least_norm_solution_is_orthogonal_to_the_null_space(void** state)
{
    (void)state;
    static Problem p;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        make_problem(&p, seed, true);
        itm_blocks_factor(&p.blocks, &p.factor, 1e-12);
        double b[NROW_MAX], x[NROW_MAX], scratch[4 * NROW_MAX];
        make_right_side(&p, b, seed);
        memcpy(x, b, sizeof b);
        itm_blocks_solve(&p.blocks, &p.factor, x);
        itm_blocks_min_norm(&p.blocks, &p.factor, x, scratch);
        CHECK_NEAR(residual(&p, x, b), 0.0, 1e-9);
        // by construction the null space is spanned by 2 e0 - e1 - e3 of every third block
        for (int block = 0; block < NBLOCK; block += 3) {
            const double* y = x + p.start[block];
            CHECK_NEAR(2.0 * y[0] - y[1] - y[3], 0.0, 1e-9);
        }
        free_problem(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sparse_factor_solves_random_gram_systems),
        cmocka_unit_test(redundant_rows_are_found_and_harmless),
        cmocka_unit_test(least_norm_solution_is_orthogonal_to_the_null_space),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
