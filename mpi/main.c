// interim-mpi: the commands study and sweep, and run for one large system, over the ranks of an MPI job.
//   mpirun -n 64 interim-mpi study tolerance.yaml
//   mpirun -n 4 interim-mpi run cranes.yaml -o cranes.csv
#include "cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

bool cluster_can_finalize = true;
ClusterHello cluster_dealer;

static bool has_served;

static int serve(AppStudy* s)
{
    has_served = true;
    return cluster_serve(s);
}

static const AppStudyEngine DEALER = {.execute = cluster_deal, .release = cluster_dismiss}, WORKER = {.serve = serve};

void cluster_describe(ClusterHello* hello, const AppStudy* s)
{
    *hello = (ClusterHello){.pid = (int)getpid(), .is_ready = s != NULL};
    gethostname(hello->host, sizeof hello->host - 1);
    const char* signature = s != NULL ? itm_study_get_signature(s->study) : "";
    const char* hash = strstr(signature, "\"hash\"");
    snprintf(hello->signature, sizeof hello->signature, "%zu %.40s", strlen(signature), hash != NULL ? hash : "");
}

void cluster_pause(void)
{
    nanosleep(&(struct timespec){.tv_nsec = CLUSTER_PAUSE}, NULL);
}

// ---------------------------------------------------------------------------- messages

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

bool cluster_send(const void* bytes, size_t count, int rank, ClusterTag tag)
{
    Message* message = malloc(sizeof *message + count);
    collect();
    if (message == NULL) {
        return false;
    }
    memcpy(message->bytes, bytes, count);
    if (MPI_Isend(message->bytes, (int)count, MPI_BYTE, rank, (int)tag, MPI_COMM_WORLD, &message->request) !=
        MPI_SUCCESS) {
        free(message);
        return false;
    }
    message->next = messages;
    messages = message;
    return true;
}

void cluster_take(void* bytes, size_t count, const MPI_Status* status)
{
    MPI_Recv(bytes, (int)count, MPI_BYTE, status->MPI_SOURCE, status->MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

char* cluster_receive(const MPI_Status* status)
{
    int count = 0;
    MPI_Get_count(status, MPI_BYTE, &count);
    char* text = malloc((size_t)count + 1);
    if (text != NULL) {
        cluster_take(text, (size_t)count, status);
        text[count] = '\0';
    }
    return text;
}

static bool is_offered(const char* word)
{
    static const char* const WORDS[] = {"study", "sweep", "run", "help", "--help", "-h", "--version", "-V"};
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
        if (strcmp(word, WORDS[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_run(int argc, char** argv)
{
    return argc > 1 && strcmp(argv[1], "run") == 0;
}

static int run(int argc, char** argv, int rank, int nrank)
{
    bool is_offered_here = argc > 1 && is_offered(argv[1]);
    if (!is_offered_here) {
        fprintf(stderr,
                "interim-mpi: expected study, sweep or run%s%s; the other commands need no cluster: use interim\n",
                argc > 1 ? ", not " : "", argc > 1 ? argv[1] : "");
        return APP_BAD_INPUT;
    }
    if (nrank > 1 && is_run(argc, argv)) {
        app_run_engine = cluster_choose_run_engine(rank);
    } else if (nrank > 1) {
        cluster_lifeline_open(rank, nrank);
        app_study_engine = rank == 0 ? &DEALER : &WORKER;
    }
    return app_main(argc, argv);
}

int main(int argc, char** argv)
{
    int rank = 0, nrank = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nrank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    cluster_describe(&cluster_dealer, NULL);
    MPI_Bcast(&cluster_dealer, (int)sizeof cluster_dealer, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (rank > 0) {
        // rank 0 says what there is to say
        if (freopen("/dev/null", "w", stdout) == NULL || freopen("/dev/null", "w", stderr) == NULL) {
            return APP_BAD_INPUT;
        }
    }
    int status = run(argc, argv, rank, nrank);
    if (nrank > 1 && is_run(argc, argv)) {
        cluster_leave_run();
    } else if (rank > 0 && !has_served) {
        cluster_refuse();
    } else if (rank == 0) {
        cluster_dismiss();
    }
    fflush(NULL);
    if (!cluster_can_finalize) {
        // a rank has died: mpirun would wait for it. All files are written, so rank 0 ends the job
        if (rank == 0) {
            MPI_Abort(MPI_COMM_WORLD, status);
        }
        _exit(status);
    }
    double end = app_wall_time() + 2.0;
    while (messages != NULL && app_wall_time() < end) {
        collect();
        cluster_pause();
    }
    MPI_Finalize();
    cluster_lifeline_close();  // not before: a rank that has not read its last message would take it for a death
    return rank == 0 ? status : APP_FINISHED;
}
