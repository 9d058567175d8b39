#include "base/owned.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BLOCK 512  // bytes of pieces that share a block, twice as many in each further one
#define LARGEST_BLOCK 65536
#define LARGE 4    // a piece of more than this part of a block has one of its own
#define SHORT 256  // a text that is printed once

struct ItmOwnedBlock {
    ItmOwnedBlock* next;
    _Alignas(max_align_t) char bytes[];
};

static char* add_block(ItmOwned* owned, size_t size)
{
    ItmOwnedBlock* block = calloc(1, sizeof *block + size);
    if (block == NULL) {
        return NULL;
    }
    block->next = owned->blocks;
    owned->blocks = block;
    return block->bytes;
}

// A new block for pieces that share it.
static bool start_block(ItmOwned* owned)
{
    size_t twice = 2 * owned->block_size, larger = twice < FIRST_BLOCK ? FIRST_BLOCK : twice;
    owned->block_size = larger < LARGEST_BLOCK ? larger : LARGEST_BLOCK;
    owned->free = add_block(owned, owned->block_size);
    owned->left = owned->free != NULL ? owned->block_size : 0;
    return owned->free != NULL;
}

static void* take(ItmOwned* owned, size_t size, size_t alignment)
{
    if (size > FIRST_BLOCK / LARGE && size > owned->block_size / LARGE) {
        return add_block(owned, size);
    }
    size_t gap = (alignment - (uintptr_t)owned->free % alignment) % alignment;
    if (owned->free == NULL || gap + size > owned->left) {
        if (!start_block(owned)) {
            return NULL;
        }
        gap = 0;
    }
    char* piece = owned->free + gap;
    owned->free += gap + size;
    owned->left -= gap + size;
    return piece;
}

void* itm_owned_take(ItmOwned* owned, size_t count, size_t size)
{
    if (size > 0 && count > (SIZE_MAX - sizeof(ItmOwnedBlock)) / size) {
        return NULL;
    }
    // no element needs a larger alignment than it has bytes
    size_t alignment = _Alignof(max_align_t);
    while (alignment > 1 && alignment > count * size) {
        alignment /= 2;
    }
    return take(owned, count * size, alignment);
}

char* itm_owned_copy_string(ItmOwned* owned, const char* text)
{
    size_t length = strlen(text) + 1;
    char* copy = take(owned, length, 1);
    return copy != NULL ? memcpy(copy, text, length) : NULL;
}

char* itm_owned_format(ItmOwned* owned, const char* format, va_list arguments)
{
    char text[SHORT];
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(text, sizeof text, format, again);
    va_end(again);
    char* copy = length >= 0 ? take(owned, (size_t)length + 1, 1) : NULL;
    if (copy != NULL && length < SHORT) {
        memcpy(copy, text, (size_t)length + 1);
    } else if (copy != NULL) {
        vsnprintf(copy, (size_t)length + 1, format, arguments);
    }
    return copy;
}

char* itm_owned_print(ItmOwned* owned, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char* text = itm_owned_format(owned, format, arguments);
    va_end(arguments);
    return text;
}

void itm_owned_free(ItmOwned* owned)
{
    while (owned->blocks != NULL) {
        ItmOwnedBlock* next = owned->blocks->next;
        free(owned->blocks);
        owned->blocks = next;
    }
    *owned = (ItmOwned){0};
}
