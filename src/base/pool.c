// Every thread has a share of the jobs, of n threads each n-th one, and takes from the others' shares when its own is done: what belongs to a
// subsystem stays in the caches of one processor from phase to phase, and threads do not contend for one counter. Jobs of a share are taken from
// a ticket that holds how many there are and which is next, by compare and exchange: whoever takes one may rely on what belongs to it until
// it is done. The caller waits for jobs, not for threads: one that sleeps, or that the machine gives no processor, costs nothing but its
// help.
//
// Calls follow each other within microseconds, waking a thread takes tens of them: so threads look out for a while before they sleep. Where
// that is in vain again and again they look out ever shorter, because other work could use the processor.
#include "base/pool.h"

#include "base/clock.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define LOOK_OUT 100e-6      // s, at most
#define LEAST_LOOK_OUT 3e-6  // s
#define LOOKS 50             // between two looks at the clock

#define CACHE_LINE 64

// Jobs of a thread, alone in a line of the cache
typedef struct Share {
    _Alignas(CACHE_LINE)
        atomic_uint_least64_t ticket;  // number of jobs, and of the first that nobody has taken (lower half)
} Share;

typedef struct Thread {
    pthread_t id;
    ItmPool* pool;
    int index;
    double look_out;  // s
} Thread;

struct ItmPool {
    Share* shares;  // of the caller, then of the threads      (nshare)
    int nshare;
    Thread* threads;  // besides the caller                      (nshare - 1)
    int nthread;      // of them that run
    pthread_mutex_t mutex;
    pthread_cond_t wake;  // jobs are there
    pthread_cond_t done;  // all jobs of the call are done
    atomic_bool is_ending;
    ItmJob* job;  // of the present call, as the following
    void* context;
    atomic_int ndone;     // jobs
    atomic_bool is_busy;  // a call is going on
    atomic_bool is_caller_asleep;
    atomic_int nasleep;  // threads that have to be woken
};

// Between two looks: a processor whose core has two threads leaves it to the other one.
static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

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
    for (int i = 0; i < pool->nshare; i++) {
        uint_least64_t ticket = atomic_load(&pool->shares[i].ticket);
        if (next_of(ticket) < count_of(ticket)) {
            return true;
        }
    }
    return false;
}

// Do jobs of a share until all are taken. Returns how many.
static int work_on(ItmPool* pool, int share)
{
    int ndone = 0;
    uint_least64_t ticket = atomic_load(&pool->shares[share].ticket);
    while (next_of(ticket) < count_of(ticket)) {
        if (atomic_compare_exchange_weak(&pool->shares[share].ticket, &ticket, ticket + 1)) {
            pool->job(pool->context, share + (int)next_of(ticket) * pool->nshare);
            ndone++;
            ticket = atomic_load(&pool->shares[share].ticket);
        }
    }
    return ndone;
}

// Do jobs, those of the own share first, until all are taken.
static void work(ItmPool* pool, int own)
{
    int ndone = 0;
    for (int i = 0; i < pool->nshare; i++) {
        ndone += work_on(pool, (own + i) % pool->nshare);
    }
    if (ndone == 0) {
        return;
    }
    // the caller notes that it sleeps before it looks at the number for the last time: one of us sees the other
    atomic_fetch_add(&pool->ndone, ndone);
    if (atomic_load(&pool->is_caller_asleep)) {
        pthread_mutex_lock(&pool->mutex);
        pthread_cond_signal(&pool->done);
        pthread_mutex_unlock(&pool->mutex);
    }
}

static void wait_for_jobs(ItmPool* pool, double* look_out)
{
    double start = itm_clock();
    while (itm_clock() - start < *look_out) {
        for (int i = 0; i < LOOKS; i++) {
            if (has_job(pool) || atomic_load(&pool->is_ending)) {
                *look_out = fmin(2.0 * *look_out, LOOK_OUT);
                return;
            }
            relax();
        }
    }
    *look_out = fmax(0.5 * *look_out, LEAST_LOOK_OUT);
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
    Thread* thread = argument;
    while (!atomic_load(&thread->pool->is_ending)) {
        work(thread->pool, thread->index);
        wait_for_jobs(thread->pool, &thread->look_out);
    }
    return NULL;
}

static bool start_thread(ItmPool* pool)
{
    Thread* thread = &pool->threads[pool->nthread];
    *thread = (Thread){.pool = pool, .index = pool->nthread + 1, .look_out = LOOK_OUT};
    bool is_running = pthread_create(&thread->id, NULL, serve, thread) == 0;
    pool->nthread += is_running;
    return is_running;
}

ItmPool* itm_pool_create(int nthread)
{
    ItmPool* pool = calloc(1, sizeof *pool);
    if (pool == NULL) {
        return NULL;
    }
    pool->threads = calloc((size_t)nthread, sizeof *pool->threads);
    pool->shares = aligned_alloc(CACHE_LINE, sizeof *pool->shares * (size_t)nthread);
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->done, NULL);
    bool has_memory = pool->threads != NULL && pool->shares != NULL;
    pool->nshare = has_memory ? nthread : 0;
    for (int i = 0; i < pool->nshare; i++) {
        atomic_init(&pool->shares[i].ticket, 0);
    }
    bool is_running = has_memory;
    while (is_running && pool->nthread < nthread - 1) {
        is_running = start_thread(pool);
    }
    if (!is_running) {
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
        pthread_join(pool->threads[i].id, NULL);
    }
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->mutex);
    free(pool->threads);
    free(pool->shares);
    free(pool);
}

int itm_pool_get_size(const ItmPool* pool)
{
    return pool != NULL ? pool->nshare : 1;
}

// The last jobs are being done by others: usually for about as long as ours took.
static void wait_for_others(ItmPool* pool, int njob)
{
    double start = itm_clock();
    while (atomic_load(&pool->ndone) < njob && itm_clock() - start < LOOK_OUT) {
        relax();
    }
    if (atomic_load(&pool->ndone) < njob) {
        pthread_mutex_lock(&pool->mutex);
        atomic_store(&pool->is_caller_asleep, true);
        while (atomic_load(&pool->ndone) < njob) {
            pthread_cond_wait(&pool->done, &pool->mutex);
        }
        atomic_store(&pool->is_caller_asleep, false);
        pthread_mutex_unlock(&pool->mutex);
    }
}

void itm_pool_run(ItmPool* pool, ItmJob* job, void* context, int njob)
{
    if (pool == NULL || njob < 2 || atomic_load(&pool->is_busy)) {
        for (int i = 0; i < njob; i++) {
            job(context, i);
        }
        return;
    }
    atomic_store(&pool->is_busy, true);
    pool->job = job;
    pool->context = context;
    atomic_store(&pool->ndone, 0);
    for (int i = 0; i < pool->nshare; i++) {
        int count = (njob - i + pool->nshare - 1) / pool->nshare;
        atomic_store(&pool->shares[i].ticket, count > 0 ? (uint_least64_t)count << 32 : 0);
    }
    wake_sleepers(pool);
    work(pool, 0);
    wait_for_others(pool, njob);
    atomic_store(&pool->is_busy, false);
}
