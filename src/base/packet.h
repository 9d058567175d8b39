// A message of plain numbers. One walk over the memory that it carries measures, writes and reads it, so that both ends agree.
#ifndef ITM_BASE_PACKET_H
#define ITM_BASE_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef enum ItmPacketUse { ITM_PACKET_MEASURE, ITM_PACKET_WRITE, ITM_PACKET_READ } ItmPacketUse;

typedef struct ItmPacket {
    ItmPacketUse use;
    char* bytes;      // (size)
    size_t size;      // room, or length of the message
    size_t used;      // so far
    bool has_failed;  // the message is longer or shorter than the walk
} ItmPacket;

// The next n bytes of the message, to be written or read by the caller; NULL: measuring, or the message is too short.
static inline char* itm_packet_take(ItmPacket* p, size_t n)
{
    bool is_measuring = p->use == ITM_PACKET_MEASURE;
    p->has_failed = p->has_failed || (!is_measuring && n > p->size - p->used);
    char* at = is_measuring || p->has_failed ? NULL : p->bytes + p->used;
    p->used += p->has_failed ? 0 : n;
    return at;
}

// Move n bytes between the message and `at`.
static inline void itm_packet_move(ItmPacket* p, void* at, size_t n)
{
    char* bytes = itm_packet_take(p, n);
    if (bytes != NULL && n > 0) {
        memcpy(p->use == ITM_PACKET_WRITE ? bytes : (char*)at, p->use == ITM_PACKET_WRITE ? (char*)at : bytes, n);
    }
}

static inline void itm_packet_move_reals(ItmPacket* p, double* at, int n)
{
    itm_packet_move(p, at, sizeof(double) * (size_t)n);
}

// A count that the walk depends on: 0 <= *count <= most. Measured as the most.
static inline void itm_packet_move_count(ItmPacket* p, int* count, int most)
{
    itm_packet_move(p, count, sizeof *count);
    if (p->use == ITM_PACKET_READ && (*count < 0 || *count > most)) {
        p->has_failed = true;
        *count = 0;
    }
}

#endif
