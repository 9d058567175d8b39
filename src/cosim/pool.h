// Threads that do numbered jobs. Jobs of one call write to different memory, so the result does not depend on who does which.
#ifndef ITM_COSIM_POOL_H
#define ITM_COSIM_POOL_H

typedef struct ItmPool ItmPool;
typedef void ItmJob(void* context, int job);

// nthread in all, the caller of itm_pool_run being one of them. NULL without memory or threads.
ItmPool* itm_pool_create(int nthread);
void itm_pool_destroy(ItmPool* pool);

// job(context, 0) ... job(context, njob - 1), each once; returns when all are done. pool NULL: one after the other.
void itm_pool_run(ItmPool* pool, ItmJob* job, void* context, int njob);

#endif
