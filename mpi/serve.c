// All ranks but 0: execute the runs that rank 0 deals, each in a child process.
#include "cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAIT_BUSY 0.01  // s of waiting for a child between two looks at messages: the next run is here already
#define WAIT_IDLE 0.1   // s of waiting for messages

typedef struct Server {
    AppStudy* study;
    ItmStudyPool* pool;
    int queue[2 * CLUSTER_DEPTH];
    int nqueue;
    double sent;  // wall time of the last sign of life, s
    bool is_over;
} Server;

static void send_line(Server* v, int run)
{
    char* line = itm_study_write_run(v->study->study, run);
    if (line == NULL || !cluster_link_send(0, TAG_DONE, line, strlen(line))) {
        v->is_over = true;
    }
    free(line);
}

static void take_work(Server* v, const ClusterMessage* message)
{
    if (message->count == sizeof v->queue[0] && v->nqueue < 2 * CLUSTER_DEPTH) {
        memcpy(&v->queue[v->nqueue++], message->bytes, sizeof v->queue[0]);
    }
}

static void take_reference(Server* v, const ClusterMessage* message)
{
    if (itm_study_read_run(v->study->study, message->bytes, NULL, NULL) != ITM_OK) {
        v->is_over = true;
    }
}

static void take_messages(Server* v)
{
    ClusterMessage message;
    while (!v->is_over && cluster_link_take(&message)) {
        switch (message.tag) {
        case TAG_WORK:
            take_work(v, &message);
            break;
        case TAG_REFERENCE:
            take_reference(v, &message);
            break;
        default:
            v->is_over = cluster_take_stop(&message);
        }
        free(message.bytes);
    }
    v->is_over = v->is_over || cluster_link_is_dead(0);
}

static void show_life(Server* v)
{
    double now = app_wall_time();
    if (now - v->sent > CLUSTER_BEAT) {
        v->sent = now;
        cluster_link_send(0, TAG_ALIVE, NULL, 0);
    }
}

static void hello(const AppStudy* s)
{
    ClusterHello mine;
    cluster_describe(&mine, s);
    cluster_link_send(0, TAG_HELLO, &mine, sizeof mine);
}

static void start_next(Server* v)
{
    if (v->nqueue > 0 && itm_study_pool_get_busy(v->pool) == 0 &&
        itm_study_pool_start(v->pool, v->queue[0], NULL) == ITM_OK) {
        memmove(v->queue, v->queue + 1, (size_t)--v->nqueue * sizeof v->queue[0]);
    }
}

int cluster_serve(AppStudy* s)
{
    ItmStudyPoolOptions options = itm_default_study_pool_options();
    options.timeout = s->timeout;
    options.keep = s->keep;
    Server v = {.study = s, .sent = app_wall_time()};
    if (itm_study_pool_create(&v.pool, s->study, &options, NULL) != ITM_OK) {
        cluster_refuse();
        return APP_BAD_INPUT;
    }
    app_signals_catch();
    hello(s);
    while (!v.is_over) {
        start_next(&v);
        bool is_busy = itm_study_pool_get_busy(v.pool) > 0;
        int run = is_busy ? itm_study_pool_wait(v.pool, WAIT_BUSY) : ITM_NONE;
        if (run != ITM_NONE) {
            send_line(&v, run);
        }
        cluster_link_wait(is_busy ? 0.0 : WAIT_IDLE);
        take_messages(&v);
        show_life(&v);
    }
    itm_study_pool_destroy(v.pool);
    return APP_FINISHED;
}

void cluster_refuse(void)
{
    hello(NULL);
}
