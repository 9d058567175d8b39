// Threads that do numbered jobs. Jobs of one call write to different memory, so the result does not depend on who does which.
#ifndef ITM_BASE_POOL_H
#define ITM_BASE_POOL_H

#define ITM_POOL_MOST_THREADS 256

typedef struct ItmPool ItmPool;
typedef void ItmJob(void* context, int job);

// nthread in all, the caller of itm_pool_run being one of them. NULL without memory or threads.
ItmPool* itm_pool_create(int nthread);
void itm_pool_destroy(ItmPool* pool);

// Threads of a pool, with its caller; NULL: 1.
int itm_pool_get_size(const ItmPool* pool);

// job(context, 0) ... job(context, njob - 1), each once; returns when all are done. pool NULL: one after the other. So too where a job calls it:
// the threads are busy with its likes.
void itm_pool_run(ItmPool* pool, ItmJob* job, void* context, int njob);

#endif
