// Reading numbers and texts from bytes that are not trusted: past the end, or after a count that cannot be, everything is zero and
// the cursor has failed.
#ifndef ITM_IO_CURSOR_H
#define ITM_IO_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct ItmCursor {
    const char* at;
    size_t left;  // bytes
    bool has_failed;
} ItmCursor;

// `count` bytes, not copied; NULL where there are not so many.
static inline const char* itm_cursor_skip(ItmCursor* c, size_t count)
{
    if (c->has_failed || count > c->left) {
        c->has_failed = true;
        return NULL;
    }
    const char* found = c->at;
    c->at += count;
    c->left -= count;
    return found;
}

static inline void itm_cursor_take(ItmCursor* c, void* bytes, size_t count)
{
    const char* found = itm_cursor_skip(c, count);
    if (found != NULL) {
        memcpy(bytes, found, count);
    } else {
        memset(bytes, 0, count);
    }
}

// A whole number from 0 to `most`.
static inline int64_t itm_cursor_take_count(ItmCursor* c, int64_t most)
{
    int64_t count;
    itm_cursor_take(c, &count, sizeof count);
    if (count < 0 || count > most) {
        c->has_failed = true;
        return 0;
    }
    return count;
}

static inline double itm_cursor_take_real(ItmCursor* c)
{
    double x;
    itm_cursor_take(c, &x, sizeof x);
    return x;
}

#endif
