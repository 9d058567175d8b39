// interim-mpi: a study, or one large system, over the ranks of an MPI job. In a study rank 0 deals numbered runs and has journal and tables; every other rank executes
// one run at a time in a child process and sends back its line. Which rank executes a run, and when, changes no byte of a table.
//
// After a death nobody calls MPI any more, except MPI_Abort: an MPI call may then wait for ever. MPI starts the ranks and ends them, and carries the messages of one system
// (run.c); the runs of a study and the end of both travel over connections of our own (link.c).
#ifndef INTERIM_MPI_CLUSTER_H
#define INTERIM_MPI_CLUSTER_H

#include "study.h"

#include <mpi.h>

// Messages. Work, reference and stop go from rank 0 to another; the others come back.
typedef enum ClusterTag {
    TAG_WORK = 1,   // number of a run
    TAG_REFERENCE,  // line of a reference run
    TAG_STOP,       // 1: end with MPI_Finalize; 0: a rank has died, which MPI_Finalize would wait for
    TAG_HELLO,      // ClusterHello
    TAG_DONE,       // line of a run
    TAG_ALIVE,      // nothing else to send
    TAG_FAILED,     // text: why a rank that lives cannot go on with the run of one system
} ClusterTag;

// A message that was received. bytes: to be freed, with a zero byte behind it  (count)
typedef struct ClusterMessage {
    int rank;
    ClusterTag tag;
    char* bytes;
    size_t count;
} ClusterMessage;

// What a rank tells about itself once its study is prepared.
typedef struct ClusterHello {
    int pid;
    char host[64];
    char signature[65];  // the same in all ranks; of another length or hash: another study
    int is_ready;        // 0: it could not prepare the study
} ClusterHello;

#define CLUSTER_DEPTH 2        // runs dealt to a rank ahead, so that it need not wait for the next one
#define CLUSTER_BEAT 0.5       // s of wall time between two signs of life
#define CLUSTER_SILENCE 10.0   // s without a sign of life after which a rank counts as dead
#define CLUSTER_LOADING 60.0   // s that the others may take to prepare the study longer than rank 0
#define CLUSTER_MEETING 120.0  // s until all ranks have started and connected, and until all have ended

// main.c
// A digest of the study's definition.
void cluster_describe(ClusterHello* hello, const AppStudy* s);
// Whether this message of rank 0 is the last.
bool cluster_take_stop(const ClusterMessage* message);

// deal.c: rank 0
void cluster_deal(AppStudy* s, const int* runs, int count);
// Whether a rank that took part has died.
bool cluster_deal_has_lost(void);
void cluster_deal_free(void);

// serve.c: all other ranks
int cluster_serve(AppStudy* s);
// Of a rank whose study cannot be prepared.
void cluster_refuse(void);

// run.c: one system over all ranks
const AppRunEngine* cluster_choose_run_engine(int rank);
// The end of a run; of a rank that could not take part, too. False: a rank has died.
bool cluster_leave_run(void);

// link.c: connections of all ranks to rank 0. Rank 0 has all others at the other end, these have rank 0.
// All ranks call it. False for all: one of them cannot be reached.
bool cluster_link_open(int rank, int nrank);
void cluster_link_close(void);
bool cluster_link_is_open(int rank);
// Send a copy and do not wait. False if the rank has died, or without memory.
bool cluster_link_send(int rank, ClusterTag tag, const void* bytes, size_t count);
// The next message of any rank; false: there is none.
bool cluster_link_take(ClusterMessage* message);
// Wait until something has arrived, a death too, at most so long; send what is left.
void cluster_link_wait(double seconds);
// A rank has died and all its messages were taken.
bool cluster_link_is_dead(int rank);
// The first rank that has died; ITM_NONE: none.
int cluster_link_find_dead(void);
// Have nothing to do with a rank any more: for it, this one has died.
void cluster_link_end(int rank);

#endif
