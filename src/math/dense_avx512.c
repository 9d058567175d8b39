// The same kernels once more, compiled for AVX-512 (see CMakeLists.txt).
#define ITM_DENSE_TABLE itm_dense_avx512
#include "math/dense_kernels.h"
