// Who is alive: a TCP connection between rank 0 and every other rank, beside MPI, which notices a dead process late or never.
#define _GNU_SOURCE  // accept4
#include "cluster.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MOST_ADDRESSES 16
#define PATIENCE 2000  // ms for a connection

// Where rank 0 listens, and a number that only its ranks have.
typedef struct Place {
    struct in_addr addresses[MOST_ADDRESSES];
    int naddress;
    in_port_t port;
    unsigned char key[16];
} Place;

typedef struct Greeting {
    unsigned char key[16];
    int rank;
} Greeting;

static struct {
    int* connections;  // by rank; of rank 0 only, others have the one to rank 0 there; -1: none  (nrank)
    int nrank;
} lifeline;

// A machine that loses its power sends nothing: ask after a second, twice.
static void keep_alive(int connection)
{
    const int on = 1, second = 1, tries = 2;
    setsockopt(connection, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(connection, IPPROTO_TCP, TCP_KEEPIDLE, &second, sizeof second);
    setsockopt(connection, IPPROTO_TCP, TCP_KEEPINTVL, &second, sizeof second);
    setsockopt(connection, IPPROTO_TCP, TCP_KEEPCNT, &tries, sizeof tries);
}

static void list_addresses(Place* place)
{
    struct ifaddrs* all = NULL;
    if (getifaddrs(&all) != 0) {
        return;
    }
    for (const struct ifaddrs* at = all; at != NULL && place->naddress < MOST_ADDRESSES; at = at->ifa_next) {
        if (at->ifa_addr != NULL && at->ifa_addr->sa_family == AF_INET) {
            struct sockaddr_in address;
            memcpy(&address, at->ifa_addr, sizeof address);
            place->addresses[place->naddress++] = address.sin_addr;
        }
    }
    freeifaddrs(all);
}

static int listen_anywhere(Place* place, int nrank)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || bind(listener, (struct sockaddr*)&address, sizeof address) != 0 ||
        listen(listener, nrank) != 0 || getsockname(listener, (struct sockaddr*)&address, &length) != 0 ||
        getentropy(place->key, sizeof place->key) != 0) {
        return listener;
    }
    place->port = address.sin_port;
    list_addresses(place);
    return listener;
}

static int connect_to(const Place* place, struct in_addr host)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = host, .sin_port = place->port};
    int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), failure = -1;
    socklen_t length = sizeof failure;
    if (connection >= 0) {
        struct pollfd wait = {.fd = connection, .events = POLLOUT};
        int begun = connect(connection, (struct sockaddr*)&address, sizeof address);
        bool is_open = begun == 0 || (errno == EINPROGRESS && poll(&wait, 1, PATIENCE) == 1);
        if (is_open && getsockopt(connection, SOL_SOCKET, SO_ERROR, &failure, &length) == 0 && failure == 0) {
            return connection;
        }
        close(connection);
    }
    return -1;
}

static int connect_anywhere(const Place* place, int rank)
{
    Greeting greeting = {.rank = rank};
    memcpy(greeting.key, place->key, sizeof greeting.key);
    for (int i = 0; i < place->naddress; i++) {
        int connection = connect_to(place, place->addresses[i]);
        if (connection >= 0 && send(connection, &greeting, sizeof greeting, MSG_NOSIGNAL) == (ssize_t)sizeof greeting) {
            return connection;
        }
        if (connection >= 0) {
            close(connection);
        }
    }
    return -1;
}

static void accept_one(int listener, const Place* place)
{
    Greeting greeting = {0};
    struct timeval patience = {.tv_sec = PATIENCE / 1000};
    int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (connection < 0) {
        return;
    }
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    bool is_ours = recv(connection, &greeting, sizeof greeting, MSG_WAITALL) == (ssize_t)sizeof greeting &&
                   memcmp(greeting.key, place->key, sizeof greeting.key) == 0 && greeting.rank > 0 &&
                   greeting.rank < lifeline.nrank && lifeline.connections[greeting.rank] < 0;
    if (is_ours) {
        lifeline.connections[greeting.rank] = connection;
    } else {
        close(connection);
    }
}

// A rank that cannot connect is watched by MPI alone.
void cluster_lifeline_open(int rank, int nrank)
{
    Place place;
    int listener = -1, is_connected = 0, nconnected = 0;
    memset(&place, 0, sizeof place);
    lifeline.nrank = nrank;
    lifeline.connections = malloc((size_t)nrank * sizeof *lifeline.connections);
    if (lifeline.connections == NULL) {
        MPI_Abort(MPI_COMM_WORLD, APP_BAD_INPUT);
        return;
    }
    for (int i = 0; i < nrank; i++) {
        lifeline.connections[i] = -1;
    }
    if (rank == 0) {
        listener = listen_anywhere(&place, nrank);
    }
    MPI_Bcast(&place, (int)sizeof place, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (rank > 0) {
        lifeline.connections[0] = connect_anywhere(&place, rank);
        is_connected = lifeline.connections[0] >= 0;
    }
    MPI_Allreduce(&is_connected, &nconnected, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < nconnected && rank == 0; i++) {
        accept_one(listener, &place);
    }
    if (listener >= 0) {
        close(listener);
    }
    for (int i = 0; i < nrank; i++) {
        if (lifeline.connections[i] >= 0) {
            keep_alive(lifeline.connections[i]);
        }
    }
}

bool cluster_lifeline_is_dead(int rank)
{
    char byte;
    int connection = lifeline.connections != NULL ? lifeline.connections[rank] : -1;
    ssize_t count = connection >= 0 ? recv(connection, &byte, 1, MSG_DONTWAIT) : 1;
    return count == 0 || (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

int cluster_lifeline_find_dead(void)
{
    for (int i = 0; i < lifeline.nrank; i++) {
        if (cluster_lifeline_is_dead(i)) {
            return i;
        }
    }
    return ITM_NONE;
}

void cluster_lifeline_close(void)
{
    for (int i = 0; i < lifeline.nrank && lifeline.connections != NULL; i++) {
        if (lifeline.connections[i] >= 0) {
            close(lifeline.connections[i]);
        }
    }
    free(lifeline.connections);
    lifeline.connections = NULL;
}
