// Wall time, s, for the account of costs.
#ifndef ITM_BASE_CLOCK_H
#define ITM_BASE_CLOCK_H

#include <time.h>

static inline double itm_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
