// Rank 0: deal runs, take their outcomes, deal the runs of dead ranks again.
#include "cluster.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum WorkerState { WORKER_UNKNOWN, WORKER_READY, WORKER_GONE } WorkerState;

typedef struct Worker {
    WorkerState state;
    int pid;
    bool is_here;  // on the machine of rank 0, where its process can be looked at
    char host[64];
    int runs[CLUSTER_DEPTH];  // dealt to it
    int nrun;
    double heard;         // wall time of its last message, s
    bool* has_reference;  // references that it has  (nreference)
} Worker;

// Lives as long as the program: references and runs are dealt one after the other to the same workers.
static struct {
    Worker* workers;  // by rank; that of rank 0 is not used  (nrank)
    int nrank;
    bool has_lost;
    int* queue;  // runs to be dealt, the last first  (nqueue)
    int nqueue, nbusy;
} cluster;

static double wall_time(void)
{
    return app_wall_time();
}

// ---------------------------------------------------------------------------- workers

static bool set_up(const AppStudy* s)
{
    if (cluster.workers != NULL) {
        return true;
    }
    MPI_Comm_size(MPI_COMM_WORLD, &cluster.nrank);
    cluster.workers = calloc((size_t)cluster.nrank, sizeof *cluster.workers);
    for (int i = 0; i < cluster.nrank && cluster.workers != NULL; i++) {
        cluster.workers[i].heard = wall_time();
        cluster.workers[i].has_reference = calloc((size_t)s->info.nreference + 1, sizeof(bool));
        if (cluster.workers[i].has_reference == NULL) {
            return false;
        }
    }
    return cluster.workers != NULL;
}

// A rank that has died, or does not respond: its runs are dealt again.
static void lose(AppStudy* s, int rank, const char* why)
{
    Worker* w = &cluster.workers[rank];
    char by[128];
    ItmError error = {0};
    snprintf(by, sizeof by, "rank %d on %s", rank, w->host[0] != '\0' ? w->host : "an unknown machine");
    fprintf(stderr, "interim-mpi: %s %s%s", by, why, w->nrun > 0 ? "; dealing again:" : "");
    for (int i = 0; i < w->nrun; i++) {
        bool is_reference = w->runs[i] >= s->info.nrun;
        fprintf(stderr, "%s %s %d", i > 0 ? "," : "", is_reference ? "reference" : "run",
                1 + (is_reference ? w->runs[i] - s->info.nrun : w->runs[i]));
        cluster.queue[cluster.nqueue++] = w->runs[i];
        if (itm_study_note_repetition(s->study, w->runs[i], by, &error) != ITM_OK) {
            app_print_error(&error);
            s->has_failed = true;
        }
    }
    fprintf(stderr, "\n");
    cluster.nbusy -= w->nrun;
    w->nrun = 0;
    w->state = WORKER_GONE;
    cluster.has_lost = true;
}

static void greet(AppStudy* s, int rank, const ClusterHello* hello)
{
    ClusterHello mine;
    Worker* w = &cluster.workers[rank];
    cluster_describe(&mine, s);
    w->pid = hello->pid;
    snprintf(w->host, sizeof w->host, "%s", hello->host);
    w->is_here = strcmp(hello->host, mine.host) == 0;
    w->state = WORKER_READY;
    bool has_lost = cluster.has_lost;  // a rank that cannot help lives, and takes part in MPI_Finalize
    if (hello->is_ready == 0) {
        lose(s, rank, "cannot load the study: its files must be on all machines");
        cluster.has_lost = has_lost;
    } else if (strcmp(hello->signature, mine.signature) != 0) {
        lose(s, rank, "has another study or model under the same name: its files must be the same on all machines");
        cluster.has_lost = has_lost;
    }
}

static bool is_dead(int rank, double now)
{
    const Worker* w = &cluster.workers[rank];
    bool is_gone = w->is_here && w->pid > 0 && kill(w->pid, 0) != 0 && errno == ESRCH;
    bool is_silent = w->state == WORKER_READY && now - w->heard > CLUSTER_SILENCE;
    return is_gone || is_silent || cluster_lifeline_is_dead(rank);
}

static void check_workers(AppStudy* s)
{
    double now = wall_time();
    for (int rank = 1; rank < cluster.nrank; rank++) {
        Worker* w = &cluster.workers[rank];
        if (w->state != WORKER_GONE && is_dead(rank, now)) {
            lose(s, rank, "has died");
        } else if (w->state == WORKER_UNKNOWN && now - w->heard > 5.0 * CLUSTER_SILENCE) {
            lose(s, rank, "has not responded");
        }
    }
}

static int count_living(void)
{
    int count = 0;
    for (int rank = 1; rank < cluster.nrank; rank++) {
        count += cluster.workers[rank].state != WORKER_GONE;
    }
    return count;
}

// ---------------------------------------------------------------------------- dealing

// The line of a reference that a rank needs for a run.
static bool send_reference(AppStudy* s, int rank, int run)
{
    int reference = run < s->info.nrun ? itm_study_get_reference(s->study, run) : ITM_NONE;
    Worker* w = &cluster.workers[rank];
    if (reference == ITM_NONE || w->has_reference[reference - s->info.nrun]) {
        return true;
    }
    char* line = itm_study_write_run(s->study, reference);
    bool is_sent = line != NULL && cluster_send(line, strlen(line), rank, TAG_REFERENCE);
    w->has_reference[reference - s->info.nrun] = is_sent;
    free(line);
    return is_sent;
}

static void deal(AppStudy* s)
{
    // one each before anyone gets a second
    for (int depth = 1; depth <= CLUSTER_DEPTH; depth++) {
        for (int rank = 1; rank < cluster.nrank && cluster.nqueue > 0; rank++) {
            Worker* w = &cluster.workers[rank];
            if (w->state != WORKER_READY || w->nrun >= depth) {
                continue;
            }
            int run = cluster.queue[--cluster.nqueue];
            w->runs[w->nrun++] = run;
            cluster.nbusy++;
            if (!send_reference(s, rank, run) || !cluster_send(&run, sizeof run, rank, TAG_WORK)) {
                lose(s, rank, "cannot be reached");
            }
        }
    }
}

// ---------------------------------------------------------------------------- outcomes

static void take_line(AppStudy* s, int rank, const MPI_Status* status)
{
    Worker* w = &cluster.workers[rank];
    char* line = cluster_receive(status);
    int run = ITM_NONE;
    ItmError error = {0};
    if (line == NULL) {
        fprintf(stderr, "interim-mpi: out of memory\n");
        s->has_failed = true;
        return;
    }
    bool is_held = false;
    // the number stands first; the outcome is taken only from the rank that holds the run, so that each is taken once
    if (sscanf(line, "{\"run\":%d", &run) == 1) {
        run--;
        for (int i = 0; i < w->nrun; i++) {
            if (w->runs[i] == run) {
                w->runs[i] = w->runs[--w->nrun];
                is_held = true;
                break;
            }
        }
    }
    if (is_held) {
        cluster.nbusy--;
        int nattempt = itm_study_get_run(s->study, run)->nattempt;
        if (itm_study_read_run(s->study, line, &run, &error) != ITM_OK) {
            app_print_error(&error);
            s->has_failed = true;
        } else {
            itm_study_set_attempts(s->study, run, nattempt + 1);
            app_study_take(s, run, cluster.nbusy);
        }
    }
    free(line);
}

static bool take_message(AppStudy* s)
{
    int has_message = 0;
    MPI_Status status;
    if (MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &has_message, &status) != MPI_SUCCESS || !has_message) {
        return false;
    }
    int rank = status.MPI_SOURCE;
    char nothing;
    ClusterHello hello;
    cluster.workers[rank].heard = wall_time();
    switch (status.MPI_TAG) {
    case TAG_HELLO:
        cluster_take(&hello, sizeof hello, &status);
        greet(s, rank, &hello);
        break;
    case TAG_DONE:
        take_line(s, rank, &status);
        break;
    default:
        cluster_take(&nothing, 1, &status);
        cluster_send(&nothing, 1, rank, TAG_PONG);
    }
    return true;
}

void cluster_deal(AppStudy* s, const int* runs, int count)
{
    // a dead rank's runs come back into the queue
    cluster.queue = calloc((size_t)count + 1, sizeof *cluster.queue);
    if (cluster.queue == NULL || !set_up(s)) {
        fprintf(stderr, "interim-mpi: out of memory\n");
        s->has_failed = true;
        return;
    }
    for (int i = 0; i < count; i++) {
        cluster.queue[i] = runs[count - 1 - i];
    }
    cluster.nqueue = count;
    double checked = wall_time();
    while (cluster.nqueue + cluster.nbusy > 0 && app_signals_get() == 0 && !s->has_failed) {
        deal(s);
        if (!take_message(s)) {
            cluster_pause();
        }
        if (wall_time() - checked > 0.1) {
            check_workers(s);
            checked = wall_time();
        }
        if (count_living() == 0) {
            fprintf(stderr, "interim-mpi: no rank is left to execute %d runs; continue with --resume\n",
                    cluster.nqueue);
            s->has_failed = true;
        }
    }
    cluster.nqueue = cluster.nbusy = 0;
    free(cluster.queue);
    cluster.queue = NULL;
}

void cluster_dismiss(void)
{
    static bool is_done;
    int nrank = 1, can_finalize = !cluster.has_lost;
    MPI_Comm_size(MPI_COMM_WORLD, &nrank);
    for (int rank = 1; rank < nrank && !is_done; rank++) {
        if (cluster.workers == NULL || cluster.workers[rank].state != WORKER_GONE || can_finalize) {
            cluster_send(&can_finalize, sizeof can_finalize, rank, TAG_STOP);
        }
    }
    for (int rank = 0; cluster.workers != NULL && rank < nrank; rank++) {
        free(cluster.workers[rank].has_reference);
    }
    free(cluster.workers);
    cluster.workers = NULL;
    cluster_can_finalize = can_finalize != 0;
    is_done = true;
}
