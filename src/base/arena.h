// One block of memory, handed out front to back. An arena is measured first (block NULL: only counts),
// then allocated with exactly that size and laid out by the same calls, so that a data object is one
// block and stepping never allocates.
//
// Blocks have room for the largest case. The operating system provides the pages of a large block when they are first
// written, so an arena costs the memory that is used, not the memory that is reserved.
#ifndef ITM_BASE_ARENA_H
#define ITM_BASE_ARENA_H

#include <stddef.h>

#define ITM_ARENA_ALIGN 64  // cache line, and enough for any vector unit

typedef struct ItmArena {
    char* block;   // NULL while measuring
    void* memory;  // as allocated: block is its first aligned address
    size_t size;   // bytes in block
    size_t used;   // bytes handed out
} ItmArena;

// Take `count` elements of `size` bytes, aligned; zero in a new block of itm_arena_allocate.
// Returns NULL while measuring; never fails otherwise (asserted: the measuring pass promised it).
void* itm_arena_take(ItmArena* arena, size_t count, size_t size);

// Allocate the block of a measured arena, zeroed, and rewind it. Returns 0, or -1 without memory.
int itm_arena_allocate(ItmArena* arena);
// The same for scratch memory that is always written before it is read: nothing is zeroed, no page is touched.
int itm_arena_allocate_scratch(ItmArena* arena);
void itm_arena_free(ItmArena* arena);

#define ITM_TAKE(arena, type, count) ((type*)itm_arena_take((arena), (size_t)(count), sizeof(type)))

#endif
