// interim-mpi: a study, or one large system, over the ranks of an MPI job. In a study rank 0 deals numbered runs and has journal and tables; every other rank executes
// one run at a time in a child process and sends back its line. Which rank executes a run, and when, changes no byte of a table.
#ifndef INTERIM_MPI_CLUSTER_H
#define INTERIM_MPI_CLUSTER_H

#include "study.h"

#include <mpi.h>

// Messages. Work, stop and pong go from rank 0 to another, reference too; the others come back.
typedef enum ClusterTag {
    TAG_WORK = 1,   // number of a run
    TAG_REFERENCE,  // line of a reference run
    TAG_STOP,       // 1: end with MPI_Finalize; 0: a rank has died, which MPI_Finalize would wait for
    TAG_PONG,
    TAG_HELLO,  // ClusterHello
    TAG_DONE,   // line of a run
    TAG_PING,
    TAG_RANKS,  // of one system over the ranks
} ClusterTag;

// What a rank tells about itself once its study is prepared.
typedef struct ClusterHello {
    int pid;
    char host[64];
    char signature[65];  // the same in all ranks; of another length or hash: another study
    int is_ready;        // 0: it could not prepare the study
} ClusterHello;

#define CLUSTER_DEPTH 2         // runs dealt to a rank ahead, so that it need not wait for the next one
#define CLUSTER_PING 0.5        // s of wall time between two signs of life
#define CLUSTER_SILENCE 10.0    // s without a sign of life after which a rank counts as dead
#define CLUSTER_PATIENCE 600.0  // s until the first work from rank 0, which checks the values before
#define CLUSTER_PAUSE 200000    // ns between two looks at the messages

// A digest of the study's definition.
void cluster_describe(ClusterHello* hello, const AppStudy* s);
void cluster_pause(void);
// Send a copy of bytes, or of a text without its zero byte, and do not wait: a send to a rank that has died might never end. False if the
// library refuses.
bool cluster_send(const void* bytes, size_t count, int rank, ClusterTag tag);
// Receive bytes of a message that was probed.
void cluster_take(void* bytes, size_t count, const MPI_Status* status);
// Receive a text whose message was probed; to be freed, NULL without memory.
char* cluster_receive(const MPI_Status* status);

// deal.c: rank 0
void cluster_deal(AppStudy* s, const int* runs, int count);
// Tell all ranks to end, once.
void cluster_dismiss(void);

// serve.c: all other ranks
int cluster_serve(AppStudy* s);
// The same for a rank whose study cannot be prepared.
void cluster_refuse(void);

// run.c: one system over all ranks
const AppRunEngine* cluster_choose_run_engine(int rank);
// The end of a run; of a rank that could not take part, too.
void cluster_leave_run(void);

// lifeline.c: connections of all ranks to rank 0 that carry nothing. The operating system closes them when a process dies, whatever it was
// doing. All ranks call open and close.
void cluster_lifeline_open(int rank, int nrank);
// Whether a rank has died, as far as this rank can see: rank 0 sees all others, these see rank 0.
bool cluster_lifeline_is_dead(int rank);
// The first rank that has died; ITM_NONE: none.
int cluster_lifeline_find_dead(void);
void cluster_lifeline_close(void);

// main.c
extern bool cluster_can_finalize;    // false: a rank has died, which MPI_Finalize would wait for
extern ClusterHello cluster_dealer;  // rank 0

#endif
