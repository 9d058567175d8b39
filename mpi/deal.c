// Rank 0: deal runs, take their outcomes, deal the runs of dead ranks again.
#include "cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum WorkerState { WORKER_UNKNOWN, WORKER_READY, WORKER_GONE } WorkerState;

typedef struct Worker {
    WorkerState state;
    char host[64];
    int runs[CLUSTER_DEPTH];  // dealt to it
    int nrun;
    double heard;         // time of its last message on the clock, s
    bool* has_reference;  // references that it has  (nreference)
} Worker;

// Lives as long as the program: references and runs are dealt one after the other to the same workers.
static struct {
    Worker* workers;  // by rank; that of rank 0 is not used  (nrank)
    int nrank;
    bool has_lost;
    int* queue;  // runs to be dealt, the last first  (nqueue)
    int nqueue, nbusy;
    double clock, looked;  // time during which this process listened, and wall time of the last look at it, s
} cluster;

#define LISTEN 0.1  // s between two looks at signals and at silent ranks
#define PAUSE 1.0   // s: this process was stopped, or its machine slept, as those of the others may have been

// Silence counts while somebody listens.
static void advance_clock(void)
{
    double now = app_wall_time(), gone = now - cluster.looked;
    cluster.clock += gone < PAUSE ? gone : PAUSE;
    cluster.looked = now;
}

// ---------------------------------------------------------------------------- workers

static bool set_up(const AppStudy* s)
{
    if (cluster.workers != NULL) {
        return true;
    }
    MPI_Comm_size(MPI_COMM_WORLD, &cluster.nrank);
    cluster.looked = app_wall_time();
    cluster.workers = calloc((size_t)cluster.nrank, sizeof *cluster.workers);
    for (int i = 0; i < cluster.nrank && cluster.workers != NULL; i++) {
        cluster.workers[i].has_reference = calloc((size_t)s->info.nreference + 1, sizeof(bool));
        if (cluster.workers[i].has_reference == NULL) {
            return false;
        }
    }
    return cluster.workers != NULL;
}

// A rank that has died, or does not respond: its runs are dealt again, and nothing that it sends later counts.
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
    snprintf(w->host, sizeof w->host, "%.*s", (int)sizeof hello->host - 1, hello->host);
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

static void check_workers(AppStudy* s)
{
    for (int rank = 1; rank < cluster.nrank; rank++) {
        const Worker* w = &cluster.workers[rank];
        double silence = cluster.clock - w->heard;
        if (w->state == WORKER_GONE) {
            continue;
        }
        if (cluster_link_is_dead(rank)) {
            lose(s, rank, "has died");
        } else if (silence > (w->state == WORKER_READY ? CLUSTER_SILENCE : CLUSTER_LOADING)) {
            lose(s, rank, "does not respond");
            cluster_link_end(rank);
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
    bool is_sent = line != NULL && cluster_link_send(rank, TAG_REFERENCE, line, strlen(line));
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
            if (!send_reference(s, rank, run) || !cluster_link_send(rank, TAG_WORK, &run, sizeof run)) {
                lose(s, rank, "cannot be reached");
                cluster_link_end(rank);
            }
        }
    }
}

// ---------------------------------------------------------------------------- outcomes

static void take_line(AppStudy* s, const ClusterMessage* message)
{
    Worker* w = &cluster.workers[message->rank];
    const char* line = message->bytes;
    int run = ITM_NONE;
    ItmError error = {0};
    bool is_held = false;
    // the number stands first; the outcome is taken only from the rank that holds the run, so that each is taken once
    if (sscanf(line, "{\"run\":%9d", &run) == 1) {
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
        int nattempt = itm_study_get_run(s->study, run)->nattempt, number = run;
        if (itm_study_read_run(s->study, line, &number, &error) != ITM_OK) {
            app_print_error(&error);
            s->has_failed = true;
        } else if (number != run) {
            fprintf(stderr, "interim-mpi: rank %d sent the outcome of another run than %d; continue with --resume\n",
                    message->rank, run + 1);
            s->has_failed = true;
        } else {
            itm_study_set_attempts(s->study, run, nattempt + 1);
            app_study_take(s, run, cluster.nbusy);
        }
    }
}

static void take_message(AppStudy* s, const ClusterMessage* message)
{
    cluster.workers[message->rank].heard = cluster.clock;
    if (message->tag == TAG_HELLO && message->count == sizeof(ClusterHello)) {
        ClusterHello hello;
        memcpy(&hello, message->bytes, sizeof hello);
        greet(s, message->rank, &hello);
    } else if (message->tag == TAG_DONE) {
        take_line(s, message);
    }
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
    while (cluster.nqueue + cluster.nbusy > 0 && app_signals_get() == 0 && !s->has_failed) {
        ClusterMessage message;
        deal(s);
        cluster_link_wait(LISTEN);
        advance_clock();
        while (cluster_link_take(&message)) {
            take_message(s, &message);
            free(message.bytes);
        }
        check_workers(s);
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

bool cluster_deal_has_lost(void)
{
    return cluster.has_lost || cluster_link_find_dead() != ITM_NONE;
}

void cluster_deal_free(void)
{
    for (int rank = 0; cluster.workers != NULL && rank < cluster.nrank; rank++) {
        free(cluster.workers[rank].has_reference);
    }
    free(cluster.workers);
    cluster.workers = NULL;
}
