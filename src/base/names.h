// A table from names to numbers, for finding elements and noticing duplicates in constant time.
#ifndef ITM_BASE_NAMES_H
#define ITM_BASE_NAMES_H

#include "interim/base.h"

#include <stdint.h>

typedef struct ItmNameEntry {
    char* name;     // owned copy, ends with NUL; NULL: empty slot
    size_t length;  // bytes, without the NUL
    uint64_t hash;
    int value;
} ItmNameEntry;

// Open addressing; all zero is an empty table.
typedef struct ItmNames {
    ItmNameEntry* slots;
    size_t nslot;  // a power of two, or 0
    size_t count;
    uint64_t seed;  // of the hash
} ItmNames;

// The value of a name, or ITM_NONE.
int itm_names_find(const ItmNames* names, const char* name, size_t length);
// Add a name that is not in the table. Returns the table's own copy of it, or NULL without memory.
const char* itm_names_add(ItmNames* names, const char* name, size_t length, int value);
// Add a name, which must be new, and make *name point to the table's copy. function: for the error.
ItmStatus itm_names_take(ItmNames* names, const char** name, int value, const char* function, ItmError* error);
void itm_names_free(ItmNames* names);

#endif
