// interim-mpi: the commands study and sweep, and run for one large system, over the ranks of an MPI job.
//   mpirun -n 64 interim-mpi study tolerance.yaml
//   mpirun -n 4 interim-mpi run cranes.yaml -o cranes.csv
#include "cluster.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// How this rank ends.
static bool has_stop;      // rank 0 has said so
static bool can_finalize;  // all ranks live and call MPI_Finalize

static const AppStudyEngine DEALER = {.execute = cluster_deal}, WORKER = {.serve = cluster_serve};

void cluster_describe(ClusterHello* hello, const AppStudy* s)
{
    *hello = (ClusterHello){.pid = (int)getpid(), .is_ready = s != NULL};
    gethostname(hello->host, sizeof hello->host - 1);
    const char* signature = s != NULL ? itm_study_get_signature(s->study) : "";
    const char* hash = strstr(signature, "\"hash\"");
    snprintf(hello->signature, sizeof hello->signature, "%zu %.40s", strlen(signature), hash != NULL ? hash : "");
}

// ---------------------------------------------------------------------------- end

static volatile sig_atomic_t limit_status;

static void give_up(int signal)
{
    static const char TEXT[] = "interim-mpi: not all ranks have started or ended in time; has one died?\n";
    (void)signal;
    (void)!write(STDERR_FILENO, TEXT, sizeof TEXT - 1);
    _exit(limit_status);
}

// End with this status where ranks that died leave an MPI call waiting for longer than CLUSTER_MEETING.
static void limit(int status)
{
    struct sigaction act = {.sa_handler = give_up};
    limit_status = status;
    sigaction(SIGALRM, &act, NULL);
    alarm((unsigned)CLUSTER_MEETING);
}

static void unlimit(void)
{
    alarm(0);
}

bool cluster_take_stop(const ClusterMessage* message)
{
    int word = 0;
    if (message->tag != TAG_STOP || message->count != sizeof word) {
        return false;
    }
    memcpy(&word, message->bytes, sizeof word);
    can_finalize = word != 0;
    has_stop = true;
    return true;
}

// Rank 0 has written everything and tells the others how to end.
static void send_stop(int nrank, bool are_all_alive)
{
    int word = are_all_alive;
    can_finalize = are_all_alive;
    for (int rank = 1; rank < nrank; rank++) {
        cluster_link_send(rank, TAG_STOP, &word, sizeof word);
    }
}

// Until rank 0 has ended, in one way or the other.
static void await_stop(void)
{
    ClusterMessage message;
    while (!has_stop && !cluster_link_is_dead(0)) {
        cluster_link_wait(1.0);
        while (cluster_link_take(&message)) {
            cluster_take_stop(&message);
            free(message.bytes);
        }
    }
}

// A rank has died: MPI_Finalize would wait for it. Rank 0, which has written all files, ends the job, or those that it leaves behind: without MPI_Abort mpirun may
// wait for processes of other machines that have ended.
static _Noreturn void end_job(int rank, int status)
{
    if (rank == 0) {
        fprintf(
            stderr,
            "interim-mpi: all files are written; if mpirun waits for a machine that has gone, end it with Ctrl-C\n");
        fflush(NULL);
    }
    if (rank == 0 || !has_stop) {
        MPI_Abort(MPI_COMM_WORLD, rank == 0 ? status : APP_BAD_INPUT);
    }
    _exit(status);
}

// ---------------------------------------------------------------------------- commands

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
        app_study_engine = rank == 0 ? &DEALER : &WORKER;
    }
    return app_main(argc, argv);
}

// Without a connection to all ranks there is no study; a system is then watched by MPI alone.
static bool connect_all(int rank, int nrank, bool is_needed)
{
    if (nrank == 1 || cluster_link_open(rank, nrank) || !is_needed) {
        return true;
    }
    for (int i = 1; i < nrank && rank == 0; i++) {
        if (!cluster_link_is_open(i) || cluster_link_find_dead() == i) {
            fprintf(
                stderr,
                "interim-mpi: rank %d cannot connect to rank 0 by TCP; check the network between their machines, or use --shard\n",
                i);
        }
    }
    return false;
}

// All that this rank has to do; then it waits for the others.
static int work(int argc, char** argv, int rank, int nrank)
{
    bool has_link = rank > 0 && cluster_link_is_open(0);
    int status = run(argc, argv, rank, nrank);
    bool are_all_alive = true;
    if (nrank > 1 && is_run(argc, argv)) {
        are_all_alive = cluster_leave_run();
    } else if (nrank > 1 && rank == 0) {
        are_all_alive = !cluster_deal_has_lost();
        cluster_deal_free();
    } else if (nrank > 1 && !has_stop) {
        cluster_refuse();
    }
    fflush(NULL);
    if (rank == 0) {
        send_stop(nrank, are_all_alive);
    } else if (has_link) {
        await_stop();
        can_finalize = can_finalize && has_stop;
    } else {
        can_finalize = are_all_alive;
    }
    return status;
}

int main(int argc, char** argv)
{
    int rank = 0, nrank = 1, status = APP_BAD_INPUT;
    limit(APP_BAD_INPUT);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nrank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    can_finalize = true;
    bool is_connected = connect_all(rank, nrank, !is_run(argc, argv));
    unlimit();
    if (rank > 0) {
        // rank 0 says what there is to say
        if (freopen("/dev/null", "w", stdout) == NULL || freopen("/dev/null", "w", stderr) == NULL) {
            return APP_BAD_INPUT;
        }
    }
    if (is_connected) {
        status = work(argc, argv, rank, nrank);
    }
    limit(status);
    if (!can_finalize) {
        end_job(rank, status);
    }
    MPI_Finalize();
    cluster_link_close();  // not before: for the others this rank would have died
    return rank == 0 ? status : APP_FINISHED;
}
