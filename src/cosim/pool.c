// Jobs are taken from a ticket that holds how many there are and which is next, by compare and exchange: whoever takes one may
// rely on what belongs to it until it is done. The caller waits for jobs, not for threads: one that sleeps, or that the machine
// gives no processor, costs nothing but its help.
#include "cosim/pool.h"

#include "base/clock.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

// Phases of macro steps follow each other within microseconds, waking a thread takes tens of them: so threads look out for that long
// before they sleep.
#define LOOK_OUT 100e-6  // s
#define LOOKS 50         // between two looks at the clock

struct ItmPool {
    pthread_t* threads;
    int nthread;  // besides the caller
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    atomic_bool is_ending;
    ItmJob* job;  // of the present call, as the following
    void* context;
    atomic_uint_least64_t ticket;  // number of jobs, and of the first that nobody has taken (lower half)
    atomic_int ndone;              // jobs
    atomic_int nasleep;            // threads that have to be woken
};

static uint32_t count_of(uint_least64_t ticket)
{
    return (uint32_t)(ticket >> 32);
}

static uint32_t next_of(uint_least64_t ticket)
{
    return (uint32_t)ticket;
}

static bool has_job(ItmPool* pool)
{
    uint_least64_t ticket = atomic_load(&pool->ticket);
    return next_of(ticket) < count_of(ticket);
}

// Do jobs until all are taken.
static void work(ItmPool* pool)
{
    uint_least64_t ticket = atomic_load(&pool->ticket);
    while (next_of(ticket) < count_of(ticket)) {
        if (atomic_compare_exchange_weak(&pool->ticket, &ticket, ticket + 1)) {
            pool->job(pool->context, (int)next_of(ticket));
            atomic_fetch_add(&pool->ndone, 1);
            ticket = atomic_load(&pool->ticket);
        }
    }
}

static void wait_for_jobs(ItmPool* pool)
{
    double start = itm_clock();
    while (itm_clock() - start < LOOK_OUT) {
        for (int i = 0; i < LOOKS; i++) {
            if (has_job(pool) || atomic_load(&pool->is_ending)) {
                return;
            }
        }
    }
    pthread_mutex_lock(&pool->mutex);
    atomic_fetch_add(&pool->nasleep, 1);
    while (!has_job(pool) && !atomic_load(&pool->is_ending)) {
        pthread_cond_wait(&pool->wake, &pool->mutex);
    }
    atomic_fetch_sub(&pool->nasleep, 1);
    pthread_mutex_unlock(&pool->mutex);
}

// A thread counts itself as asleep before it looks at the ticket for the last time, we look after the ticket is out: one of us sees
// the other.
static void wake_sleepers(ItmPool* pool)
{
    if (atomic_load(&pool->nasleep) > 0) {
        pthread_mutex_lock(&pool->mutex);
        pthread_cond_broadcast(&pool->wake);
        pthread_mutex_unlock(&pool->mutex);
    }
}

static void* serve(void* argument)
{
    ItmPool* pool = argument;
    while (!atomic_load(&pool->is_ending)) {
        work(pool);
        wait_for_jobs(pool);
    }
    return NULL;
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
    wake_sleepers(pool);
    for (int i = 0; i < pool->nthread; i++) {
        pthread_join(pool->threads[i], NULL);
    }
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->mutex);
    free(pool->threads);
    free(pool);
}

// The last jobs are being done by others: usually for about as long as ours took.
static void wait_for_others(ItmPool* pool, int njob)
{
    double start = itm_clock();
    while (atomic_load(&pool->ndone) < njob) {
        if (itm_clock() - start > LOOK_OUT) {
            sched_yield();
        }
    }
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
    atomic_store(&pool->ndone, 0);
    atomic_store(&pool->ticket, (uint_least64_t)njob << 32);
    wake_sleepers(pool);
    work(pool);
    wait_for_others(pool, njob);
}
