// A TCP connection between rank 0 and every other rank. The operating system closes it when a process dies, whatever that was doing, and behind the last byte
// that it sent: a death can neither be missed nor overtake a message. MPI promises nothing of that kind: its receive waits for ever for the rest of a long
// message whose sender has died.
#define _GNU_SOURCE  // accept4
#include "cluster.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define MOST_ADDRESSES 16
#define PATIENCE 2000                                     // ms for a connection, and for its greeting
#define MEETING (2.0 * 1e-3 * PATIENCE * MOST_ADDRESSES)  // s until rank 0 gives up waiting for connections
#define RESERVE 64                                        // descriptors for everything else
#define LAST_WORDS 1024                                   // bytes of a message that needs no memory

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

typedef struct Header {
    uint64_t count;  // bytes that follow
    uint32_t tag;
} Header;

// Bytes on their way: [start, end) of bytes.
typedef struct Buffer {
    char* bytes;
    size_t start, end, room;
} Buffer;

typedef struct Link {
    int socket;  // -1: none, or ended
    bool has_ended;
    Buffer in, out;
} Link;

static struct {
    Link* links;            // by rank; rank 0 has those of all others, the others have one, that of rank 0  (nrank)
    struct pollfd* polled;  // (nrank)
    int nrank;
} cluster;

// ---------------------------------------------------------------------------- bytes

static bool reserve(Buffer* b, size_t count)
{
    if (b->start > 0) {
        memmove(b->bytes, b->bytes + b->start, b->end - b->start);
        b->end -= b->start;
        b->start = 0;
    }
    if (b->end + count <= b->room) {
        return true;
    }
    size_t room = 2 * b->room + count;
    char* bytes = realloc(b->bytes, room);
    if (bytes == NULL) {
        return false;
    }
    b->bytes = bytes;
    b->room = room;
    return true;
}

static void append(Buffer* b, const void* bytes, size_t count)
{
    if (count > 0) {
        memcpy(b->bytes + b->end, bytes, count);
        b->end += count;
    }
}

static void end_link(Link* link)
{
    if (link->socket >= 0) {
        close(link->socket);
    }
    link->socket = -1;
    link->has_ended = true;
}

static bool is_passing(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

static void send_some(Link* link)
{
    Buffer* b = &link->out;
    while (link->socket >= 0 && b->start < b->end) {
        ssize_t count = send(link->socket, b->bytes + b->start, b->end - b->start, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count < 0 && is_passing()) {
            return;
        }
        if (count < 0) {
            end_link(link);
            return;
        }
        b->start += (size_t)count;
    }
}

// Without memory the link ends: a message is never left out.
static void receive_some(Link* link)
{
    const size_t most = 65536;
    while (link->socket >= 0) {
        ssize_t count = -1;
        bool has_room = reserve(&link->in, most);
        if (has_room) {
            count = recv(link->socket, link->in.bytes + link->in.end, most, MSG_DONTWAIT);
            if (count < 0 && is_passing()) {
                return;
            }
        }
        if (count <= 0) {
            end_link(link);
            return;
        }
        link->in.end += (size_t)count;
    }
}

// ---------------------------------------------------------------------------- messages

static bool has_message(const Link* link, Header* header)
{
    size_t count = link->in.end - link->in.start;
    if (count < sizeof *header) {
        return false;
    }
    memcpy(header, link->in.bytes + link->in.start, sizeof *header);
    return count - sizeof *header >= header->count;
}

bool cluster_link_send(int rank, ClusterTag tag, const void* bytes, size_t count)
{
    Link* link = &cluster.links[rank];
    Header header;
    memset(&header, 0, sizeof header);
    header.count = count;
    header.tag = (uint32_t)tag;
    if (link->socket < 0 || !reserve(&link->out, sizeof header + count)) {
        return false;
    }
    append(&link->out, &header, sizeof header);
    append(&link->out, bytes, count);
    send_some(link);
    return true;
}

bool cluster_link_take(ClusterMessage* message)
{
    for (int rank = 0; rank < cluster.nrank; rank++) {
        Link* link = &cluster.links[rank];
        Header header;
        if (!has_message(link, &header)) {
            continue;
        }
        char* bytes = malloc((size_t)header.count + 1);
        if (bytes == NULL) {
            end_link(link);
            link->in.start = link->in.end;
            continue;
        }
        memcpy(bytes, link->in.bytes + link->in.start + sizeof header, (size_t)header.count);
        bytes[header.count] = '\0';
        link->in.start += sizeof header + (size_t)header.count;
        *message = (ClusterMessage){
            .rank = rank, .tag = (ClusterTag)header.tag, .bytes = bytes, .count = (size_t)header.count};
        return true;
    }
    return false;
}

void cluster_link_wait(double seconds)
{
    for (int i = 0; i < cluster.nrank; i++) {
        const Link* link = &cluster.links[i];
        bool is_sending = link->out.start < link->out.end;
        cluster.polled[i] = (struct pollfd){.fd = link->socket, .events = (short)(POLLIN | (is_sending ? POLLOUT : 0))};
    }
    if (poll(cluster.polled, (nfds_t)cluster.nrank, (int)(1e3 * seconds)) <= 0) {
        return;
    }
    for (int i = 0; i < cluster.nrank; i++) {
        if (cluster.polled[i].revents != 0) {
            send_some(&cluster.links[i]);
            receive_some(&cluster.links[i]);
        }
    }
}

bool cluster_link_is_dead(int rank)
{
    Header header;
    return cluster.links[rank].has_ended && !has_message(&cluster.links[rank], &header);
}

int cluster_link_find_dead(void)
{
    cluster_link_wait(0.0);
    for (int i = 0; i < cluster.nrank; i++) {
        if (cluster_link_is_dead(i)) {
            return i;
        }
    }
    return ITM_NONE;
}

void cluster_link_end(int rank)
{
    end_link(&cluster.links[rank]);
    cluster.links[rank].in.start = cluster.links[rank].in.end;
}

// ---------------------------------------------------------------------------- connecting

// A machine that loses its power sends nothing: ask after a second, twice, and wait no longer for receipts of what was sent.
static void keep_alive(int connection)
{
    const int on = 1, second = 1, tries = 2, most = 3000;
    setsockopt(connection, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(connection, IPPROTO_TCP, TCP_KEEPIDLE, &second, sizeof second);
    setsockopt(connection, IPPROTO_TCP, TCP_KEEPINTVL, &second, sizeof second);
    setsockopt(connection, IPPROTO_TCP, TCP_KEEPCNT, &tries, sizeof tries);
    setsockopt(connection, IPPROTO_TCP, TCP_USER_TIMEOUT, &most, sizeof most);
    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static void limit_wait(int connection)
{
    const struct timeval patience = {.tv_sec = PATIENCE / 1000};
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
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
    if (listener >= 0 && bind(listener, (struct sockaddr*)&address, sizeof address) == 0 &&
        listen(listener, nrank) == 0 && getsockname(listener, (struct sockaddr*)&address, &length) == 0 &&
        getentropy(place->key, sizeof place->key) == 0) {
        place->port = address.sin_port;
        list_addresses(place);
    }
    return listener;
}

static int connect_to(const Place* place, struct in_addr host)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = host, .sin_port = place->port};
    int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const struct timeval patience = {.tv_sec = PATIENCE / 1000};
    if (connection >= 0) {
        setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);  // of connect, too
        if (connect(connection, (struct sockaddr*)&address, sizeof address) == 0) {
            return connection;
        }
        close(connection);
    }
    return -1;
}

// The rank greets and rank 0 returns the greeting: another program that listens under one of these addresses cannot.
static bool greet(int connection, const Place* place, int rank)
{
    Greeting greeting, back;
    memset(&greeting, 0, sizeof greeting);
    memcpy(greeting.key, place->key, sizeof greeting.key);
    greeting.rank = rank;
    limit_wait(connection);
    return send(connection, &greeting, sizeof greeting, MSG_NOSIGNAL) == (ssize_t)sizeof greeting &&
           recv(connection, &back, sizeof back, MSG_WAITALL) == (ssize_t)sizeof back &&
           memcmp(&greeting, &back, sizeof back) == 0;
}

static int connect_anywhere(const Place* place, int rank)
{
    for (int i = 0; i < place->naddress; i++) {
        int connection = connect_to(place, place->addresses[i]);
        if (connection >= 0 && greet(connection, place, rank)) {
            return connection;
        }
        if (connection >= 0) {
            close(connection);
        }
    }
    return -1;
}

// Whether a further rank is connected.
static bool accept_one(int listener, const Place* place)
{
    Greeting greeting;
    int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (connection < 0) {
        return false;
    }
    limit_wait(connection);
    bool is_ours = recv(connection, &greeting, sizeof greeting, MSG_WAITALL) == (ssize_t)sizeof greeting &&
                   memcmp(greeting.key, place->key, sizeof greeting.key) == 0 && greeting.rank > 0 &&
                   greeting.rank < cluster.nrank &&
                   send(connection, &greeting, sizeof greeting, MSG_NOSIGNAL) == (ssize_t)sizeof greeting;
    if (!is_ours) {
        close(connection);
        return false;
    }
    // a rank that comes again has not waited for the first answer
    int* socket = &cluster.links[greeting.rank].socket;
    bool is_new = *socket < 0;
    if (!is_new) {
        close(*socket);
    }
    *socket = connection;
    return is_new;
}

static void accept_all(int listener, const Place* place)
{
    double end = app_wall_time() + MEETING;
    for (int nopen = 1; nopen < cluster.nrank && app_wall_time() < end;) {
        struct pollfd wait = {.fd = listener, .events = POLLIN};
        nopen += poll(&wait, 1, PATIENCE) == 1 && accept_one(listener, place);
    }
}

// A connection per rank: as many descriptors as the system grants.
static void raise_limit(int nrank)
{
    struct rlimit limit;
    rlim_t wanted = (rlim_t)nrank + RESERVE;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < wanted) {
        limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

// Runs are children: with a copy of its parent's connections a child would keep the dead alive.
static void close_in_child(void)
{
    for (int i = 0; i < cluster.nrank; i++) {
        if (cluster.links[i].socket >= 0) {
            close(cluster.links[i].socket);
            cluster.links[i].socket = -1;
        }
    }
}

bool cluster_link_open(int rank, int nrank)
{
    Place place;
    int listener = -1;
    memset(&place, 0, sizeof place);
    cluster.links = calloc((size_t)nrank, sizeof *cluster.links);
    cluster.polled = calloc((size_t)nrank, sizeof *cluster.polled);
    if (cluster.links == NULL || cluster.polled == NULL || pthread_atfork(NULL, NULL, close_in_child) != 0) {
        MPI_Abort(MPI_COMM_WORLD, APP_BAD_INPUT);
        return false;
    }
    cluster.nrank = nrank;
    for (int i = 0; i < nrank; i++) {
        cluster.links[i].socket = -1;
    }
    if (rank == 0) {
        raise_limit(nrank);
        listener = listen_anywhere(&place, nrank);
    }
    MPI_Bcast(&place, (int)sizeof place, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        accept_all(listener, &place);
        close(listener);
    } else {
        cluster.links[0].socket = connect_anywhere(&place, rank);
    }
    for (int i = 0; i < nrank; i++) {
        if (cluster.links[i].socket >= 0) {
            keep_alive(cluster.links[i].socket);
        }
    }
    int is_connected = rank == 0 || (cluster.links[0].socket >= 0 && reserve(&cluster.links[0].out, LAST_WORDS)),
        are_all = 0;
    MPI_Allreduce(&is_connected, &are_all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return are_all != 0;
}

bool cluster_link_is_open(int rank)
{
    return cluster.links[rank].socket >= 0;
}

void cluster_link_close(void)
{
    for (int i = 0; i < cluster.nrank; i++) {
        end_link(&cluster.links[i]);
        free(cluster.links[i].in.bytes);
        free(cluster.links[i].out.bytes);
    }
    free(cluster.links);
    free(cluster.polled);
    cluster.nrank = 0;
}
