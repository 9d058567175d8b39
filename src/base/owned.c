#include "base/owned.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ItmOwnedBlock {
    ItmOwnedBlock* next;
    _Alignas(max_align_t) char bytes[];
};

void* itm_owned_take(ItmOwned* owned, size_t count, size_t size)
{
    if (size > 0 && count > (SIZE_MAX - sizeof(ItmOwnedBlock)) / size) {
        return NULL;
    }
    ItmOwnedBlock* block = calloc(1, sizeof *block + count * size);
    if (block == NULL) {
        return NULL;
    }
    block->next = owned->blocks;
    owned->blocks = block;
    return block->bytes;
}

// ---------------------------------------------------------------------------- strings

// Strings are short and many: they stand one behind the other in chunks, each twice as large as the one before.
#define FIRST_CHUNK 256
#define LAST_CHUNK 65536

// Room for a string of `size` bytes at owned->text; false without memory.
static bool make_room(ItmOwned* owned, size_t size)
{
    if (size <= owned->text_left) {
        return true;
    }
    size_t next = owned->text_chunk == 0 ? FIRST_CHUNK : owned->text_chunk;
    next = owned->text_chunk > 0 && next < LAST_CHUNK ? 2 * next : next;
    size_t chunk = size > next ? size : next;
    char* text = itm_owned_take(owned, chunk, 1);
    if (text != NULL) {
        owned->text = text;
        owned->text_left = chunk;
        owned->text_chunk = next;
    }
    return text != NULL;
}

static char* pass_text(ItmOwned* owned, size_t size)
{
    char* text = owned->text;
    owned->text += size;
    owned->text_left -= size;
    return text;
}

char* itm_owned_copy_string(ItmOwned* owned, const char* text)
{
    size_t size = strlen(text) + 1;
    return make_room(owned, size) ? memcpy(pass_text(owned, size), text, size) : NULL;
}

char* itm_owned_format(ItmOwned* owned, const char* format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(owned->text, owned->text_left, format, arguments);
    size_t size = (size_t)length + 1;
    bool is_written = length >= 0 && size <= owned->text_left, has_room = length >= 0 && make_room(owned, size);
    if (has_room && !is_written) {
        vsnprintf(owned->text, size, format, again);
    }
    va_end(again);
    return has_room ? pass_text(owned, size) : NULL;
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
