#include "check.h"

#include "base/clock.h"
#include "base/pool.h"

enum { MOST_JOBS = 9 };

typedef struct Tally {
    long done[MOST_JOBS];
    long work;  // turns of a loop, so that jobs overlap
} Tally;

static void count_job(void* context, int job)
{
    Tally* tally = context;
    for (volatile long i = 0; i < tally->work; i++) {
    }
    tally->done[job]++;
}

static void wait_for(double seconds)
{
    double start = itm_clock();
    while (itm_clock() - start < seconds) {
    }
}

// Calls of 1 to 9 jobs: each job is done once, and is done when the call returns, whether threads are awake, asleep (after a pause
// longer than they look out) or about to be either.
static void every_job_is_done_once_when_the_call_returns(void** state)
{
    (void)state;
    for (int nthread = 2; nthread <= 5; nthread++) {
        ItmPool* pool = itm_pool_create(nthread);
        assert_non_null(pool);
        Tally tally = {.work = 0};
        long expected[MOST_JOBS] = {0};
        for (int call = 0; call < 4000; call++) {
            int njob = 1 + call % MOST_JOBS;
            tally.work = call % 7 * 20;
            itm_pool_run(pool, count_job, &tally, njob);
            for (int job = 0; job < MOST_JOBS; job++) {
                expected[job] += job < njob;
                assert_int_equal(tally.done[job], expected[job]);
            }
            if (call % 400 == 0) {
                wait_for(2e-4 * (call / 400 % 3));
            }
        }
        itm_pool_destroy(pool);
    }
}

typedef struct Nested {
    ItmPool* pool;
    Tally tally[MOST_JOBS];
} Nested;

static void run_inner(void* context, int job)
{
    Nested* nested = context;
    itm_pool_run(nested->pool, count_job, &nested->tally[job], MOST_JOBS);
}

// The threads are busy: the job does its jobs itself. Where the outer call has one job alone they are not.
static void a_job_may_run_jobs_of_its_own(void** state)
{
    (void)state;
    Nested nested = {.pool = itm_pool_create(3)};
    assert_non_null(nested.pool);
    assert_int_equal(itm_pool_get_size(nested.pool), 3);
    assert_int_equal(itm_pool_get_size(NULL), 1);
    for (int call = 0; call < 500; call++) {
        itm_pool_run(nested.pool, run_inner, &nested, call % 2 == 0 ? MOST_JOBS : 1);
    }
    for (int outer = 0; outer < MOST_JOBS; outer++) {
        for (int job = 0; job < MOST_JOBS; job++) {
            assert_int_equal(nested.tally[outer].done[job], outer == 0 ? 500 : 250);
        }
    }
    itm_pool_destroy(nested.pool);
}

static void hold_up(void* context, int job)
{
    (void)context;
    wait_for(job == 0 ? 0.0 : 3e-3);
}

// The caller sleeps while others do the last jobs: a pool of many threads whose jobs wait leaves the processors to them.
static void the_caller_is_woken_when_the_last_job_is_done(void** state)
{
    (void)state;
    ItmPool* pool = itm_pool_create(4);
    assert_non_null(pool);
    for (int call = 0; call < 20; call++) {
        itm_pool_run(pool, hold_up, NULL, 4);
    }
    itm_pool_destroy(pool);
}

static void a_pool_that_never_worked_ends(void** state)
{
    (void)state;
    for (int k = 0; k < 20; k++) {
        ItmPool* pool = itm_pool_create(3);
        assert_non_null(pool);
        wait_for(k % 2 * 3e-4);
        itm_pool_destroy(pool);
    }
}

static void without_a_pool_jobs_follow_each_other(void** state)
{
    (void)state;
    Tally tally = {.work = 0};
    itm_pool_run(NULL, count_job, &tally, 3);
    assert_int_equal(tally.done[0] + tally.done[1] + tally.done[2], 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_job_is_done_once_when_the_call_returns),
        cmocka_unit_test(a_job_may_run_jobs_of_its_own),
        cmocka_unit_test(the_caller_is_woken_when_the_last_job_is_done),
        cmocka_unit_test(a_pool_that_never_worked_ends),
        cmocka_unit_test(without_a_pool_jobs_follow_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
