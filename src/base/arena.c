#include "base/arena.h"

#include "base/assert.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

int itm_arena_allocate(ItmArena* arena)
{
    size_t size = (arena->used + ITM_ARENA_ALIGN) / ITM_ARENA_ALIGN * ITM_ARENA_ALIGN;
    void* block = aligned_alloc(ITM_ARENA_ALIGN, size);
    if (block == NULL) {
        return -1;
    }
    memset(block, 0, size);
    *arena = (ItmArena){.block = block, .size = size};
    return 0;
}

void itm_arena_free(ItmArena* arena)
{
    free(arena->block);
    *arena = (ItmArena){0};
}
