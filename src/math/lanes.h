// Two reals side by side, for kernels on blocks of sizes fixed at compile time: every x86-64 has the instructions.
#ifndef ITM_MATH_LANES_H
#define ITM_MATH_LANES_H

typedef double ItmPair __attribute__((vector_size(16), aligned(8), may_alias));

static inline ItmPair itm_pair_load(const double* x)
{
    return *(const ItmPair*)x;
}

static inline void itm_pair_store(double* x, ItmPair a)
{
    *(ItmPair*)x = a;
}

static inline ItmPair itm_pair_splat(double a)
{
    return (ItmPair){a, a};
}

// a . b over n reals
static inline double itm_pair_dot(const double* a, const double* b, int n)
{
    ItmPair sum = {0.0, 0.0};
    int k = 0;
    for (; k + 1 < n; k += 2) {
        sum += itm_pair_load(a + k) * itm_pair_load(b + k);
    }
    double tail = k < n ? a[k] * b[k] : 0.0;
    return sum[0] + sum[1] + tail;
}

#endif
