// The valid word nearest to what somebody typed.
#ifndef ITM_BASE_NEAREST_H
#define ITM_BASE_NEAREST_H

#include <stddef.h>

typedef struct ItmNearest {
    const char* typed;
    size_t length;
    const char* best;  // nearest word offered so far, or NULL if none is near enough to be meant
    size_t distance;   // edits to it; until there is one, one more than is allowed
} ItmNearest;

ItmNearest itm_nearest_start(const char* typed, size_t length);
void itm_nearest_offer(ItmNearest* n, const char* word);
// "; nearest: 'word'", or nothing if none is near. In the caller's buffer.
const char* itm_nearest_format(const ItmNearest* n, char* buffer, size_t size);
// Edits (insert, delete, replace, swap neighbours) that turn a into b, capital letters taken as
// small ones; more than `limit` is reported as limit + 1.
size_t itm_nearest_distance(const char* a, size_t na, const char* b, size_t nb, size_t limit);

#endif
