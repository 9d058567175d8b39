// One system over all ranks: messages by MPI, a watch for ranks that have died.
#include "cluster.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WATCH 0.01    // s of waiting between two looks for the dead
#define SPIN 0.005    // s of waiting without a pause: messages follow each other within less
#define PAUSE 200000  // ns between two looks at messages, then
#define TAG_RANKS 1
#define MESSAGE 4096  // bytes of a message to time, about those of a few interface models
#define TRIALS 20

// One rank, as all see it before they join.
typedef struct Member {
    int is_ready;
    char host[64];
    int pid;
    char hash[ITM_HASH_SIZE];  // of the model
} Member;

static struct {
    int rank, nrank;
    Member* members;  // by rank, once all have met  (nrank)
    bool is_lost;
} cluster;

// ---------------------------------------------------------------------------- messages

static ItmStatus fail(ItmError* error, ItmStatus status, const char* text)
{
    *error = (ItmError){.status = status};
    snprintf(error->message, sizeof error->message, "%s", text);
    return status;
}

static ItmStatus report_death(ItmError* error, int rank)
{
    char text[200];
    const Member* member = &cluster.members[rank];
    cluster.is_lost = true;
    if (member->host[0] != '\0') {
        snprintf(text, sizeof text, "rank %d on %s (process %d) has died", rank, member->host, member->pid);
    } else {
        snprintf(text, sizeof text, "rank %d has died before the first step", rank);
    }
    return fail(error, ITM_ERR_IO, text);
}

// Look for ranks that have died, and, on rank 0, for one that has failed and said so; the others end when rank 0 does.
static ItmStatus watch(ItmError* error)
{
    int dead = cluster_link_find_dead();
    ClusterMessage message;
    if (dead != ITM_NONE) {
        return report_death(error, dead);
    }
    while (cluster.rank == 0 && cluster_link_take(&message)) {
        char text[400];
        snprintf(text, sizeof text, "rank %d on %s has failed: %.200s", message.rank,
                 cluster.members[message.rank].host, message.bytes);
        free(message.bytes);
        if (message.tag == TAG_FAILED) {
            cluster.is_lost = true;
            return fail(error, ITM_ERR_IO, text);
        }
    }
    return ITM_OK;
}

// A message under way with its bytes.
typedef struct Message {
    struct Message* next;
    MPI_Request request;
    char bytes[];
} Message;

static Message* messages;

// Free the messages that have been sent.
static void collect(void)
{
    for (Message** at = &messages; *at != NULL;) {
        int is_sent = 0;
        Message* message = *at;
        MPI_Test(&message->request, &is_sent, MPI_STATUS_IGNORE);
        if (is_sent) {
            *at = message->next;
            free(message);
        } else {
            at = &message->next;
        }
    }
}

// Send a copy and do not wait: a send to a rank that has died might never end.
static ItmStatus send_message(void* self, int rank, const void* bytes, size_t size, ItmError* error)
{
    (void)self;
    Message* message = malloc(sizeof *message + size);
    collect();
    if (message == NULL) {
        return fail(error, ITM_ERR_MEMORY, "out of memory");
    }
    memcpy(message->bytes, bytes, size);
    if (MPI_Isend(message->bytes, (int)size, MPI_BYTE, rank, TAG_RANKS, MPI_COMM_WORLD, &message->request) !=
        MPI_SUCCESS) {
        free(message);
        return report_death(error, rank);
    }
    message->next = messages;
    messages = message;
    return ITM_OK;
}

// Something that MPI is waiting for: a message of a rank that can be received (request NULL), or the end of a request.
typedef struct Wait {
    int rank;
    MPI_Request* request;
    MPI_Status status;
} Wait;

static bool is_there(Wait* wait, bool* has_failed)
{
    int is_there = 0;
    int status = wait->request == NULL ? MPI_Iprobe(wait->rank, TAG_RANKS, MPI_COMM_WORLD, &is_there, &wait->status)
                                       : MPI_Test(wait->request, &is_there, &wait->status);
    *has_failed = status != MPI_SUCCESS;
    return is_there != 0;
}

// Wait, but not for the dead: a blocking call of MPI would.
static ItmStatus wait_for(Wait* wait, ItmError* error)
{
    bool has_failed = false;
    double start = app_wall_time(), watched = start;
    while (!is_there(wait, &has_failed)) {
        double now = app_wall_time();
        if (has_failed) {
            return report_death(error, wait->rank);
        }
        if (now - watched > WATCH) {
            watched = now;
            if (watch(error) != ITM_OK) {
                return error->status;
            }
        }
        if (now - start > SPIN) {
            nanosleep(&(struct timespec){.tv_nsec = PAUSE}, NULL);
        } else {
            sched_yield();
        }
    }
    return ITM_OK;
}

static ItmStatus receive_message(void* self, int rank, void* bytes, size_t room, size_t* size, ItmError* error)
{
    (void)self;
    MPI_Request request;
    Wait wait = {.rank = rank};
    int count = 0;
    ItmStatus status = wait_for(&wait, error);
    if (status != ITM_OK) {
        return status;
    }
    MPI_Get_count(&wait.status, MPI_BYTE, &count);
    *size = (size_t)count;
    if (*size > room) {
        return fail(error, ITM_ERR_IO, "a rank sent a message that is too long");
    }
    // the beginning of a long message is there; its rest may still be with the sender
    wait.request = &request;
    return MPI_Irecv(bytes, count, MPI_BYTE, rank, TAG_RANKS, MPI_COMM_WORLD, &request) == MPI_SUCCESS
               ? wait_for(&wait, error)
               : report_death(error, rank);
}

// ---------------------------------------------------------------------------- joining

// All ranks tell whether they have the model, and which. Called once by each.
static ItmStatus meet(const ItmModelFile* file, ItmError* error)
{
    static Member own;
    MPI_Request request;
    Wait wait = {.request = &request};
    ClusterHello hello;
    memset(&own, 0, sizeof own);
    cluster_describe(&hello, NULL);
    own.pid = hello.pid;
    memcpy(own.host, hello.host, sizeof own.host);
    own.is_ready = file != NULL && itm_provenance_hash(file, own.hash, NULL) == ITM_OK;
    MPI_Comm_rank(MPI_COMM_WORLD, &cluster.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &cluster.nrank);
    cluster.members = calloc((size_t)cluster.nrank, sizeof *cluster.members);
    if (cluster.members == NULL) {
        MPI_Abort(MPI_COMM_WORLD, APP_BAD_INPUT);
        return fail(error, ITM_ERR_MEMORY, "out of memory");
    }
    MPI_Iallgather(&own, (int)sizeof own, MPI_BYTE, cluster.members, (int)sizeof own, MPI_BYTE, MPI_COMM_WORLD,
                   &request);
    return wait_for(&wait, error);
}

// The same answer on all ranks.
static ItmStatus compare_members(ItmError* error)
{
    for (int i = 0; i < cluster.nrank; i++) {
        const Member* member = &cluster.members[i];
        bool is_same = strcmp(member->hash, cluster.members[0].hash) == 0;
        if (!member->is_ready || !is_same) {
            char text[256];
            snprintf(text, sizeof text, "rank %d on %s %s", i, member->host,
                     member->is_ready
                         ? "has another model under the same name: its files must be the same on all machines"
                         : "cannot load the model: its files must be on all machines");
            return fail(error, ITM_ERR_INPUT, text);
        }
    }
    return ITM_OK;
}

// The time of a message, s: half the shortest way to a rank and back, of the farthest rank. Every rank calls it.
static ItmStatus measure_message(double* time, ItmError* error)
{
    char bytes[MESSAGE] = {0};
    size_t size;
    ItmStatus status = ITM_OK;
    *time = 0.0;
    for (int i = 1; i < cluster.nrank; i++) {
        double shortest = INFINITY;
        for (int trial = 0; trial < TRIALS && status == ITM_OK && (cluster.rank == 0 || cluster.rank == i); trial++) {
            double start = app_wall_time();
            int other = cluster.rank == 0 ? i : 0;
            status = cluster.rank == 0 ? send_message(NULL, other, bytes, sizeof bytes, error) : ITM_OK;
            status = status == ITM_OK ? receive_message(NULL, other, bytes, sizeof bytes, &size, error) : status;
            status =
                status == ITM_OK && cluster.rank > 0 ? send_message(NULL, other, bytes, sizeof bytes, error) : status;
            shortest = fmin(shortest, 0.5 * (app_wall_time() - start));
        }
        *time = cluster.rank == 0 ? fmax(*time, shortest) : 0.0;
    }
    return status;
}

// Rank 0 measures what the parts cost in a system of its own.
static ItmStatus place(int* ranks, const ItmModelFile* file, double message_time, ItmError* error)
{
    ItmCosim* trial = NULL;
    ItmStatus status = itm_file_create_cosim(&trial, file, NULL, error);
    status = status == ITM_OK ? itm_ranks_choose(ranks, trial, cluster.nrank, message_time, file->cosim.placement,
                                                 file->cosim.nplacement, error)
                              : status;
    itm_cosim_destroy(trial);
    return status;
}

// Whether rank 0 has found a placement.
static ItmStatus agree(ItmStatus status, ItmError* error)
{
    static int word;
    MPI_Request request;
    Wait wait = {.request = &request};
    word = (int)status;
    MPI_Ibcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    status = wait_for(&wait, error);
    if (status != ITM_OK) {
        return status;
    }
    return word == ITM_OK || cluster.rank == 0 ? (ItmStatus)word
                                               : fail(error, (ItmStatus)word, "rank 0 cannot place the parts");
}

static ItmStatus join(ItmCosim* cosim, const ItmModelFile* file, ItmError* error)
{
    double message_time = 0.0;
    ItmStatus status = meet(file, error);
    status = status == ITM_OK ? compare_members(error) : status;
    status = status == ITM_OK ? measure_message(&message_time, error) : status;
    if (status != ITM_OK) {
        return status;
    }
    int npart = itm_cosim_get_mechanism_count(cosim) + itm_cosim_get_subsystem_count(cosim);
    int* ranks = calloc((size_t)npart + 1, sizeof *ranks);
    ItmStatus own = ranks == NULL ? fail(error, ITM_ERR_MEMORY, "out of memory") : ITM_OK;
    own = own == ITM_OK && cluster.rank == 0 ? place(ranks, file, message_time, error) : own;
    status = agree(own, error);
    status = status == ITM_OK ? own : status;
    if (status == ITM_OK) {
        ItmTransport transport = {
            .rank = cluster.rank, .count = cluster.nrank, .send = send_message, .receive = receive_message};
        status = itm_ranks_join(cosim, &transport, ranks, error);
    }
    free(ranks);
    return status;
}

// Rank 0 may wait for a message of this rank that will not come.
static void tell_failure(const ItmError* error)
{
    bool has_met = cluster.members != NULL && !cluster.is_lost;
    if (has_met && !cluster_link_send(0, TAG_FAILED, error->message, strlen(error->message))) {
        MPI_Abort(MPI_COMM_WORLD, APP_BAD_INPUT);
    }
}

static const AppRunEngine FIRST = {.join = join}, OTHER = {.is_server = true, .join = join, .fail = tell_failure};

const AppRunEngine* cluster_choose_run_engine(int rank)
{
    return rank == 0 ? &FIRST : &OTHER;
}

bool cluster_leave_run(void)
{
    ItmError error;
    if (cluster.members == NULL) {
        meet(NULL, &error);  // the others learn that this rank cannot take part
    }
    if (!cluster.is_lost) {
        collect();
    }
    free(cluster.members);
    cluster.members = NULL;
    return !cluster.is_lost;
}
