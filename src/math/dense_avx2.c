// The same kernels once more, compiled for AVX2 (see CMakeLists.txt).
#define ITM_DENSE_TABLE itm_dense_avx2
#include "math/dense_kernels.h"
