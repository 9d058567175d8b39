#include "base/owned.h"

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

char* itm_owned_copy_string(ItmOwned* owned, const char* text)
{
    size_t length = strlen(text) + 1;
    char* copy = itm_owned_take(owned, length, 1);
    return copy != NULL ? memcpy(copy, text, length) : NULL;
}

char* itm_owned_format(ItmOwned* owned, const char* format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char* text = length >= 0 ? itm_owned_take(owned, (size_t)length + 1, 1) : NULL;
    if (text != NULL) {
        vsnprintf(text, (size_t)length + 1, format, arguments);
    }
    return text;
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
}
