// The kernels for any processor, and the choice between the variants.
#define ITM_DENSE_TABLE itm_dense_baseline
#include "math/dense_kernels.h"

const ItmDense* itm_dense_choose(void)
{
#ifdef ITM_DENSE_HAS_AVX2
    // processors that have vpopcntdq do not slow down for wide numbers, as the first ones with AVX-512 did
    if (__builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq")) {
        return &itm_dense_avx512;
    }
    if (__builtin_cpu_supports("avx2")) {
        return &itm_dense_avx2;
    }
#endif
    return &itm_dense_baseline;
}
