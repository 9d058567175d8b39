// Growing arrays of definitions: struct { type* items; int count, capacity; }.
#ifndef ITM_BASE_LIST_H
#define ITM_BASE_LIST_H

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>

// Room for one more element where memory allows: then *capacity > count. Returns the (perhaps moved) items.
static inline void* itm_list_reserve(void* items, int count, int* capacity, size_t size)
{
    if (count < *capacity || *capacity > INT_MAX / 2) {
        return items;
    }
    int larger = *capacity == 0 ? 8 : 2 * *capacity;
    void* moved = realloc(items, (size_t)larger * size);
    if (moved == NULL) {
        return items;
    }
    *capacity = larger;
    return moved;
}

// Append a value to a list; false without memory.
#define ITM_LIST_APPEND(list, value)                                                                                   \
    ((list).items = itm_list_reserve((list).items, (list).count, &(list).capacity, sizeof *(list).items),              \
     (list).count < (list).capacity ? ((list).items[(list).count++] = (value), true) : false)

#endif
