// One system over all ranks: messages by MPI, a watch for ranks that have died.
#include "cluster.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WATCH 0.01   // s of waiting between two looks for the dead
#define SPIN 0.0005  // s of waiting without a pause: messages follow each other within less

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
    snprintf(text, sizeof text, "rank %d on %s (process %d) has died", rank, member->host, member->pid);
    return fail(error, ITM_ERR_IO, text);
}

static ItmStatus send_message(void* self, int rank, const void* bytes, size_t size, ItmError* error)
{
    (void)self;
    return cluster_send(bytes, size, rank, TAG_RANKS) ? ITM_OK : report_death(error, rank);
}

// Wait until a message of a rank is there.
static ItmStatus wait_for(int rank, MPI_Status* status, ItmError* error)
{
    int has_message = 0;
    double start = app_wall_time(), watched = start;
    while (!has_message) {
        if (MPI_Iprobe(rank, TAG_RANKS, MPI_COMM_WORLD, &has_message, status) != MPI_SUCCESS) {
            return report_death(error, rank);
        }
        double now = has_message ? start : app_wall_time();
        if (now - watched > WATCH) {
            int dead = cluster_lifeline_find_dead();
            watched = now;
            if (dead != ITM_NONE) {
                return report_death(error, dead);
            }
        }
        if (!has_message && now - start > SPIN) {
            cluster_pause();
        } else if (!has_message) {
            sched_yield();
        }
    }
    return ITM_OK;
}

static ItmStatus receive_message(void* self, int rank, void* bytes, size_t room, size_t* size, ItmError* error)
{
    (void)self;
    MPI_Status status;
    int count = 0;
    ItmStatus waited = wait_for(rank, &status, error);
    if (waited != ITM_OK) {
        return waited;
    }
    MPI_Get_count(&status, MPI_BYTE, &count);
    *size = (size_t)count;
    if (*size > room) {
        return fail(error, ITM_ERR_IO, "a rank sent a message that is too long");
    }
    cluster_take(bytes, *size, &status);
    return ITM_OK;
}

// ---------------------------------------------------------------------------- joining

// All ranks tell whether they have the model, and which. Called once by each.
static void meet(const ItmModelFile* file)
{
    Member own;
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
        return;
    }
    MPI_Allgather(&own, (int)sizeof own, MPI_BYTE, cluster.members, (int)sizeof own, MPI_BYTE, MPI_COMM_WORLD);
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

// Rank 0 measures what the parts cost in a system of its own.
static ItmStatus place(int* ranks, const ItmModelFile* file, ItmError* error)
{
    ItmCosim* trial = NULL;
    ItmStatus status = itm_file_create_cosim(&trial, file, NULL, error);
    status = status == ITM_OK
                 ? itm_ranks_choose(ranks, trial, cluster.nrank, file->cosim.placement, file->cosim.nplacement, error)
                 : status;
    itm_cosim_destroy(trial);
    return status;
}

// Whether rank 0 has found a placement.
static ItmStatus agree(ItmStatus status, ItmError* error)
{
    int word = (int)status;
    MPI_Bcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return word == ITM_OK || cluster.rank == 0 ? (ItmStatus)word
                                               : fail(error, (ItmStatus)word, "rank 0 cannot place the parts");
}

static ItmStatus join(ItmCosim* cosim, const ItmModelFile* file, ItmError* error)
{
    meet(file);
    ItmStatus status = compare_members(error);
    if (status != ITM_OK) {
        return status;
    }
    int npart = itm_cosim_get_mechanism_count(cosim) + itm_cosim_get_subsystem_count(cosim);
    int* ranks = calloc((size_t)npart + 1, sizeof *ranks);
    status = ranks == NULL ? fail(error, ITM_ERR_MEMORY, "out of memory") : ITM_OK;
    status = status == ITM_OK && cluster.rank == 0 ? place(ranks, file, error) : status;
    status = agree(status, error);
    if (status == ITM_OK) {
        ItmTransport transport = {
            .rank = cluster.rank, .count = cluster.nrank, .send = send_message, .receive = receive_message};
        cluster_lifeline_open(cluster.rank, cluster.nrank);
        status = itm_ranks_join(cosim, &transport, ranks, error);
    }
    free(ranks);
    return status;
}

static const AppRunEngine FIRST = {.join = join}, OTHER = {.is_server = true, .join = join};

const AppRunEngine* cluster_choose_run_engine(int rank)
{
    return rank == 0 ? &FIRST : &OTHER;
}

void cluster_leave_run(void)
{
    if (cluster.members == NULL) {
        meet(NULL);  // the others learn that this rank cannot take part
    }
    cluster_can_finalize = !cluster.is_lost;
    free(cluster.members);
    cluster.members = NULL;
}
