#include "cosim/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#define SPINS 2000  // looks at the next call before a thread goes to sleep: macro steps follow each other closely

struct ItmPool {
    pthread_t* threads;
    int nthread;           // besides the caller
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    atomic_uint call;      // number of the call, counts up
    atomic_bool is_ending;
    ItmJob* job;
    void* context;
    int njob;
    atomic_int next;       // job that nobody has taken yet
    atomic_int nworking;   // threads that have not finished this call
};

static void work(ItmPool* pool)
{
    for (int i = atomic_fetch_add(&pool->next, 1); i < pool->njob; i = atomic_fetch_add(&pool->next, 1)) {
        pool->job(pool->context, i);
    }
}

static void wait_for_call(ItmPool* pool, unsigned done)
{
    for (int i = 0; i < SPINS && atomic_load(&pool->call) == done; i++) {
    }
    if (atomic_load(&pool->call) == done) {
        pthread_mutex_lock(&pool->mutex);
        while (atomic_load(&pool->call) == done) {
            pthread_cond_wait(&pool->wake, &pool->mutex);
        }
        pthread_mutex_unlock(&pool->mutex);
    }
}

static void announce_call(ItmPool* pool)
{
    pthread_mutex_lock(&pool->mutex);
    atomic_fetch_add(&pool->call, 1);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
}

static void* serve(void* argument)
{
    ItmPool* pool = argument;
    unsigned done = 0;
    for (;;) {
        wait_for_call(pool, done++);
        if (atomic_load(&pool->is_ending)) {
            return NULL;
        }
        work(pool);
        atomic_fetch_sub(&pool->nworking, 1);
    }
}

ItmPool* itm_pool_create(int nthread)
{
    ItmPool* pool = calloc(1, sizeof *pool);
    if (pool == NULL) {
        return NULL;
    }
    pool->threads = calloc((size_t)nthread, sizeof *pool->threads);
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->wake, NULL);
    while (pool->threads != NULL && pool->nthread < nthread - 1 &&
           pthread_create(&pool->threads[pool->nthread], NULL, serve, pool) == 0) {
        pool->nthread++;
    }
    if (pool->nthread < nthread - 1) {
        itm_pool_destroy(pool);
        return NULL;
    }
    return pool;
}

void itm_pool_destroy(ItmPool* pool)
{
    if (pool == NULL) {
        return;
    }
    atomic_store(&pool->is_ending, true);
    announce_call(pool);
    for (int i = 0; i < pool->nthread; i++) {
        pthread_join(pool->threads[i], NULL);
    }
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->mutex);
    free(pool->threads);
    free(pool);
}

void itm_pool_run(ItmPool* pool, ItmJob* job, void* context, int njob)
{
    if (pool == NULL || njob < 2) {
        for (int i = 0; i < njob; i++) {
            job(context, i);
        }
        return;
    }
    pool->job = job;
    pool->context = context;
    pool->njob = njob;
    atomic_store(&pool->next, 0);
    atomic_store(&pool->nworking, pool->nthread);
    announce_call(pool);
    work(pool);
    while (atomic_load(&pool->nworking) > 0) {
        sched_yield();
    }
}
