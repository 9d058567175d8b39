#include "app.h"

#include <stdlib.h>
#include <string.h>

#define MAX_WORD 64

static int min3(int a, int b, int c)
{
    int least = a < b ? a : b;
    return least < c ? least : c;
}

// Number of letters to insert, delete, change, or swap with their neighbour, to turn one word into another.
static int distance(const char* a, const char* b)
{
    int row[3][MAX_WORD + 1];
    int na = (int)strlen(a), nb = (int)strlen(b);
    if (na > MAX_WORD || nb > MAX_WORD) {
        return MAX_WORD;
    }
    for (int j = 0; j <= nb; j++) {
        row[0][j] = j;
    }
    for (int i = 1; i <= na; i++) {
        int* now = row[i % 3];
        const int* last = row[(i + 2) % 3];
        const int* before = row[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= nb; j++) {
            int change = a[i - 1] != b[j - 1];
            now[j] = min3(last[j] + 1, now[j - 1] + 1, last[j - 1] + change);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < now[j]) {
                now[j] = before[j - 2] + 1;
            }
        }
    }
    return row[na % 3][nb];
}

const char* app_find_nearest(const char* word, const char* const* words)
{
    const char* nearest = NULL;
    int least = 1 + (int)strlen(word) / 2;  // further away is another word, not a slip
    for (; *words != NULL; words++) {
        int apart = distance(word, *words);
        if (apart < least || (nearest == NULL && strncmp(word, *words, strlen(word)) == 0)) {
            nearest = *words;
            least = apart < least ? apart : least;
        }
    }
    return nearest;
}
