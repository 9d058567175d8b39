// Memory that a compiled object owns: taken piece by piece while it is built, freed at once with it.
#ifndef ITM_BASE_OWNED_H
#define ITM_BASE_OWNED_H

#include <stdarg.h>
#include <stddef.h>

typedef struct ItmOwnedBlock ItmOwnedBlock;

// All zero is empty.
typedef struct ItmOwned {
    ItmOwnedBlock* blocks;
    char* free;         // of the block that small pieces share
    size_t left;        // bytes there
    size_t block_size;  // of such blocks
} ItmOwned;

// Zeroed memory for `count` elements of `size` bytes, which is the size of a type or a number of bytes; NULL without memory.
void* itm_owned_take(ItmOwned* owned, size_t count, size_t size);
char* itm_owned_copy_string(ItmOwned* owned, const char* text);
// What vprintf would print.
char* itm_owned_format(ItmOwned* owned, const char* format, va_list arguments);
// What printf would print.
char* itm_owned_print(ItmOwned* owned, const char* format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;
void itm_owned_free(ItmOwned* owned);

#endif
