#include "base/nearest.h"

#include "base/guard.h"

#include "interim/base.h"

#include <stdio.h>
#include <ctype.h>
#include <string.h>

#define LONGEST 64

static int lower(char c)
{
    return tolower((unsigned char)c);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t itm_nearest_distance(const char* a, size_t na, const char* b, size_t nb, size_t limit)
{
    size_t gap = na > nb ? na - nb : nb - na;
    if (na > LONGEST || nb > LONGEST || gap > limit) {
        return limit + 1;
    }
    // rows i - 2, i - 1 and i of the table of distances between prefixes of a and b
    size_t rows[3][LONGEST + 1];
    size_t *before = rows[0], *above = rows[1], *row = rows[2];
    for (size_t j = 0; j <= nb; j++) {
        above[j] = j;
    }
    for (size_t i = 1; i <= na; i++) {
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            size_t replace = above[j - 1] + (lower(a[i - 1]) != lower(b[j - 1]));
            row[j] = least(replace, 1 + least(above[j], row[j - 1]));
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1])) {
                row[j] = least(row[j], before[j - 2] + 1);
            }
        }
        size_t* oldest = before;
        before = above;
        above = row;
        row = oldest;
    }
    return least(above[nb], limit + 1);
}

ItmNearest itm_nearest_start(const char* typed, size_t length)
{
    // one edit in a short word, about one in three letters of a longer one
    size_t allowed = length <= 3 ? 1 : (length + 2) / 3;
    return (ItmNearest){.typed = typed, .length = length, .distance = allowed + 1};
}

void itm_nearest_offer(ItmNearest* n, const char* word)
{
    size_t limit = n->best == NULL ? n->distance - 1 : n->distance;
    size_t distance = itm_nearest_distance(n->typed, n->length, word, strlen(word), limit);
    // of words equally near the first in the alphabet, so that the order of offers does not matter
    if (distance < n->distance || (n->best != NULL && distance == n->distance && strcmp(word, n->best) < 0)) {
        n->distance = distance;
        n->best = word;
    }
}

const char* itm_nearest_format(const ItmNearest* n, char* buffer, size_t size)
{
    if (n->best != NULL) {
        snprintf(buffer, size, "; nearest: '%s'", n->best);
    } else {
        buffer[0] = '\0';
    }
    return buffer;
}

const char* itm_nearest_find(const char* typed, size_t length, const char* const* words, int nword)
{
    ITM_GUARD(typed != NULL && words != NULL, NULL);
    ItmNearest nearest = itm_nearest_start(typed, length);
    for (int i = 0; i < nword; i++) {
        itm_nearest_offer(&nearest, words[i]);
    }
    return nearest.best;
}
