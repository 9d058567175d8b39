// libFuzzer target: any bytes as what connects to rank 0 of interim-mpi and sends to it while it deals the runs of a study. MPI, the listening
// socket and the clock are replaced. The first byte has the number of ranks and says whether they greet properly; then for each connection
// two bytes of length, and its bytes: a greeting unless it is proper, and frames.
#define _GNU_SOURCE
#include "fuzz_input.h"

#include "cluster.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>

#define MOST_RANKS 4

static int rank_count;
static int waiting[MOST_RANKS];  // ends of connections that rank 0 has not accepted  (nwaiting)
static int nwaiting;
static struct {
    int socket;  // the other end
    const uint8_t* data;
    size_t size;
} others[MOST_RANKS];  // (nother)
static int nother;
static double wall_time;
static char sink[4096];  // of what rank 0 prints

// Every other end sends its next bytes: at first as many as a hello, and outcomes after work was dealt.
static void send_next(void)
{
    const size_t most = 16 + sizeof(ClusterHello);
    for (int i = 0; i < nother; i++) {
        size_t count = others[i].size < most ? others[i].size : most;
        if (count > 0 && write(others[i].socket, others[i].data, count) == (ssize_t)count) {
            others[i].data += count;
            others[i].size -= count;
        } else {
            shutdown(others[i].socket, SHUT_WR);
        }
    }
}

static int accept_next(int listener)
{
    (void)listener;
    return nwaiting > 0 ? waiting[--nwaiting] : -1;
}

#define MPI_Abort(comm, status) __builtin_trap()
#define MPI_Bcast(...) (void)0
#define MPI_Allreduce(from, to, ...) (*(to) = *(from))
#define MPI_Comm_size(comm, count) (*(count) = rank_count)
#define accept4(listener, ...) accept_next(listener)
#define poll(files, count, milliseconds) (send_next(), poll(files, count, 0 * (milliseconds)))
#define fprintf(file, ...) snprintf(sink, sizeof sink, __VA_ARGS__)

#define cluster link_cluster
#define greet link_greet
#include "../mpi/link.c"
#undef cluster
#undef greet
#include "../mpi/deal.c"
#undef fprintf

// ---------------------------------------------------------------------------- the program around

double app_wall_time(void)
{
    return wall_time += 0.5;
}

int app_signals_get(void)
{
    return 0;
}

void app_print_error(const ItmError* error)
{
    if (error->message[0] == '\0') {
        __builtin_trap();
    }
}

// Twice the same run would be counted as two.
void app_study_take(AppStudy* s, int run, int nbusy)
{
    if (run < 0 || run >= s->info.nrun + s->info.nreference || nbusy < 0) {
        __builtin_trap();
    }
}

void cluster_describe(ClusterHello* hello, const AppStudy* s)
{
    (void)s;
    *hello = (ClusterHello){.is_ready = 1, .signature = "s"};
}

// ---------------------------------------------------------------------------- study

static const char MODEL[] = "parameters: {a: 7}\n"
                            "subsystems: {control: {type: control, step: 1 ms, blocks: {y: a*sin(time/(1 s))}}}\n"
                            "run: {duration: 1 ms, step: 1 ms}\n";
static const char STUDY[] =
    "model: link.yaml\nfactors: {a: {values: [1, 2, 3]}}\ndesign: {type: grid}\nresponses: {y: {final: control.y}}\n";

static void write_file(const char* path, const char* text)
{
    FILE* out = fopen(path, "w");
    if (out == NULL || fputs(text, out) < 0 || fclose(out) != 0) {
        __builtin_trap();
    }
}

static void prepare(AppStudy* s)
{
    ItmError error = {0};
    write_file("link.yaml", MODEL);
    write_file("link-study.yaml", STUDY);
    if (itm_study_load(&s->study, "link-study.yaml", ".", NULL, 0, &error) != ITM_OK ||
        itm_study_prepare(s->study, &error) != ITM_OK) {
        puts(error.message);
        __builtin_trap();
    }
    s->info = itm_study_get_info(s->study);
}

// ---------------------------------------------------------------------------- connections

static void add_connection(const Place* place, bool is_proper, const uint8_t* data, size_t size)
{
    int ends[2];
    Greeting greeting;
    memset(&greeting, 0, sizeof greeting);
    memcpy(greeting.key, place->key, sizeof greeting.key);
    greeting.rank = nwaiting + 1;
    size_t first = is_proper || size < sizeof greeting ? 0 : sizeof greeting;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 ||
        (is_proper && write(ends[1], &greeting, sizeof greeting) != (ssize_t)sizeof greeting) ||
        (first > 0 && write(ends[1], data, first) != (ssize_t)first)) {
        __builtin_trap();
    }
    if (!is_proper && first == 0) {
        shutdown(ends[1], SHUT_WR);
    }
    others[nother].socket = ends[1];
    others[nother].data = data + first;
    others[nother++].size = size - first;
    waiting[nwaiting++] = ends[0];
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static AppStudy study;
    static const int RUNS[] = {0, 1, 2};
    if (study.study == NULL) {
        prepare(&study);
        signal(SIGPIPE, SIG_IGN);
    }
    if (size == 0) {
        return 0;
    }
    const Place place = {.key = "fuzzfuzzfuzzfuz"};
    rank_count = 2 + data[0] % (MOST_RANKS - 1);
    bool is_proper = data[0] & 0x80;
    data++, size--;
    while (size >= 2 && nwaiting < MOST_RANKS) {
        size_t length = (size_t)data[0] << 8 | data[1];
        length = length < size - 2 ? length : size - 2;
        add_connection(&place, is_proper, data + 2, length);
        data += 2 + length;
        size -= 2 + length;
    }
    wall_time = 0.0;
    link_cluster.links = calloc((size_t)rank_count, sizeof *link_cluster.links);
    link_cluster.polled = calloc((size_t)rank_count, sizeof *link_cluster.polled);
    link_cluster.nrank = rank_count;
    for (int i = 0; i < rank_count; i++) {
        link_cluster.links[i].socket = -1;
    }
    while (nwaiting > 0) {
        accept_one(-1, &place);
    }
    study.has_failed = false;
    cluster_deal(&study, RUNS, study.info.nrun);
    cluster_deal_free();
    memset(&cluster, 0, sizeof cluster);
    cluster_link_close();
    while (nother > 0) {
        close(others[--nother].socket);
    }
    return 0;
}
