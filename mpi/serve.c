// All ranks but 0: execute the runs that rank 0 deals, each in a child process.
#include "cluster.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Server {
    AppStudy* study;
    ItmStudyPool* pool;
    int queue[2 * CLUSTER_DEPTH];
    int nqueue;
    double heard, pinged;  // wall times of the last message of rank 0 and of the last ping, s
    bool has_worked;
    bool is_orphan;  // rank 0 has died
    bool is_over;
} Server;

static void send_line(Server* v, int run)
{
    char* line = itm_study_write_run(v->study->study, run);
    if (line == NULL || !cluster_send(line, strlen(line), 0, TAG_DONE)) {
        v->is_over = true;
    }
    free(line);
}

static void take_stop(const MPI_Status* status, bool* is_over)
{
    int can_finalize = 0;
    cluster_take(&can_finalize, sizeof can_finalize, status);
    cluster_can_finalize = can_finalize != 0;
    *is_over = true;
}

static void take_work(Server* v, const MPI_Status* status)
{
    int run = ITM_NONE;
    cluster_take(&run, sizeof run, status);
    v->has_worked = true;
    if (v->nqueue < 2 * CLUSTER_DEPTH) {
        v->queue[v->nqueue++] = run;
    }
}

static void take_reference(Server* v, const MPI_Status* status)
{
    char* line = cluster_receive(status);
    if (line == NULL || itm_study_read_run(v->study->study, line, NULL, NULL) != ITM_OK) {
        v->is_over = true;
    }
    free(line);
}

static bool take_message(Server* v)
{
    int has_message = 0;
    MPI_Status status;
    char nothing;
    if (MPI_Iprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &has_message, &status) != MPI_SUCCESS) {
        v->is_over = true;
        cluster_can_finalize = false;
    }
    if (!has_message || v->is_over) {
        return false;
    }
    v->heard = app_wall_time();
    switch (status.MPI_TAG) {
    case TAG_WORK:
        take_work(v, &status);
        break;
    case TAG_REFERENCE:
        take_reference(v, &status);
        break;
    case TAG_STOP:
        take_stop(&status, &v->is_over);
        break;
    default:
        cluster_take(&nothing, 1, &status);
    }
    return true;
}

// Signs of life in both directions: without one of rank 0 this rank ends.
static void ping(Server* v)
{
    double now = app_wall_time();
    char nothing = 0;
    if (now - v->pinged > CLUSTER_PING) {
        v->pinged = now;
        cluster_send(&nothing, 1, 0, TAG_PING);
    }
    ClusterHello mine;
    cluster_describe(&mine, NULL);
    bool is_here = strcmp(mine.host, cluster_dealer.host) == 0;
    double patience = v->has_worked ? CLUSTER_SILENCE : CLUSTER_PATIENCE;
    bool is_gone = is_here && kill(cluster_dealer.pid, 0) != 0 && errno == ESRCH;
    if (now - v->heard > patience || is_gone || cluster_lifeline_is_dead(0)) {
        v->is_over = v->is_orphan = true;
    }
}

static void hello(const AppStudy* s)
{
    ClusterHello mine;
    cluster_describe(&mine, s);
    cluster_send(&mine, sizeof mine, 0, TAG_HELLO);
}

int cluster_serve(AppStudy* s)
{
    ItmStudyPoolOptions options = itm_default_study_pool_options();
    options.timeout = s->timeout;
    options.keep = s->keep;
    Server v = {.study = s, .heard = app_wall_time()};
    if (itm_study_pool_create(&v.pool, s->study, &options, NULL) != ITM_OK) {
        cluster_refuse();
        return APP_BAD_INPUT;
    }
    app_signals_catch();
    hello(s);
    while (!v.is_over) {
        if (v.nqueue > 0 && itm_study_pool_get_busy(v.pool) == 0) {
            if (itm_study_pool_start(v.pool, v.queue[0], NULL) == ITM_OK) {
                memmove(v.queue, v.queue + 1, (size_t)--v.nqueue * sizeof v.queue[0]);
            }
        }
        bool is_busy = itm_study_pool_get_busy(v.pool) > 0;
        int run = is_busy ? itm_study_pool_wait(v.pool, 1e-3) : ITM_NONE;
        if (run != ITM_NONE) {
            send_line(&v, run);
        }
        if (!take_message(&v) && !is_busy) {
            cluster_pause();
        }
        ping(&v);
    }
    itm_study_pool_destroy(v.pool);
    if (v.is_orphan) {
        MPI_Abort(MPI_COMM_WORLD, APP_BAD_INPUT);  // the journal has what is done; mpirun need not wait
    }
    return APP_FINISHED;
}

void cluster_refuse(void)
{
    bool is_over = false;
    hello(NULL);
    while (!is_over) {
        int has_message = 0;
        MPI_Status status;
        MPI_Iprobe(0, TAG_STOP, MPI_COMM_WORLD, &has_message, &status);
        if (has_message) {
            take_stop(&status, &is_over);
        } else if (cluster_lifeline_is_dead(0)) {
            cluster_can_finalize = false;
            is_over = true;
        } else {
            cluster_pause();
        }
    }
}
