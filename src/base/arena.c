#include "base/arena.h"

#include "base/assert.h"

#include <stdint.h>
#include <stdlib.h>

void* itm_arena_take(ItmArena* arena, size_t count, size_t size)
{
    ITM_ASSERT(size == 0 || count <= (SIZE_MAX / 4) / size);
    size_t start = (arena->used + ITM_ARENA_ALIGN - 1) / ITM_ARENA_ALIGN * ITM_ARENA_ALIGN;
    arena->used = start + count * size;
    if (arena->block == NULL) {
        return NULL;
    }
    ITM_ASSERT(arena->used <= arena->size);
    return arena->block + start;
}

static size_t padded_size(const ItmArena* arena)
{
    return (arena->used + ITM_ARENA_ALIGN) / ITM_ARENA_ALIGN * ITM_ARENA_ALIGN;
}

// Hand out from the first aligned address of `memory`, which has ITM_ARENA_ALIGN bytes more than `size`.
static int begin(ItmArena* arena, void* memory, size_t size)
{
    if (memory == NULL) {
        return -1;
    }
    size_t ahead = (ITM_ARENA_ALIGN - (uintptr_t)memory % ITM_ARENA_ALIGN) % ITM_ARENA_ALIGN;
    *arena = (ItmArena){.block = (char*)memory + ahead, .memory = memory, .size = size};
    return 0;
}

int itm_arena_allocate(ItmArena* arena)
{
    // calloc, not memset: large blocks come from the system as pages that are zero already
    size_t size = padded_size(arena);
    return begin(arena, calloc(1, size + ITM_ARENA_ALIGN), size);
}

int itm_arena_allocate_scratch(ItmArena* arena)
{
    size_t size = padded_size(arena);
    return begin(arena, malloc(size + ITM_ARENA_ALIGN), size);
}

void itm_arena_free(ItmArena* arena)
{
    free(arena->memory);
    *arena = (ItmArena){0};
}
