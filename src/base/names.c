#include "base/names.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

// FNV-1a, started from an address, so that a file cannot be written to make all its names collide.
static uint64_t hash_name(const ItmNames* names, const char* name, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325u ^ names->seed;
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ (unsigned char)name[i]) * 0x100000001b3u;
    }
    return hash ^ (hash >> 29);
}

// The slot that holds the name, or the empty one where it belongs.
static ItmNameEntry* find_slot(const ItmNames* names, const char* name, size_t length, uint64_t hash)
{
    for (size_t i = (size_t)hash & (names->nslot - 1);; i = (i + 1) & (names->nslot - 1)) {
        ItmNameEntry* slot = &names->slots[i];
        if (slot->name == NULL ||
            (slot->hash == hash && slot->length == length && memcmp(slot->name, name, length) == 0)) {
            return slot;
        }
    }
}

// Room for one more at a load of at most one half.
static int grow(ItmNames* names)
{
    if (2 * (names->count + 1) <= names->nslot) {
        return 0;
    }
    ItmNames larger = {.nslot = names->nslot == 0 ? 16 : 2 * names->nslot, .count = names->count, .seed = names->seed};
    larger.slots = calloc(larger.nslot, sizeof *larger.slots);
    if (larger.slots == NULL) {
        return -1;
    }
    if (names->nslot == 0) {
        larger.seed = (uint64_t)(uintptr_t)larger.slots << 8;
    }
    for (size_t i = 0; i < names->nslot; i++) {
        const ItmNameEntry* entry = &names->slots[i];
        if (entry->name != NULL) {
            *find_slot(&larger, entry->name, entry->length, entry->hash) = *entry;
        }
    }
    free(names->slots);
    *names = larger;
    return 0;
}

int itm_names_find(const ItmNames* names, const char* name, size_t length)
{
    if (names->count == 0) {
        return ITM_NONE;
    }
    const ItmNameEntry* slot = find_slot(names, name, length, hash_name(names, name, length));
    return slot->name != NULL ? slot->value : ITM_NONE;
}

const char* itm_names_add(ItmNames* names, const char* name, size_t length, int value)
{
    char* copy = malloc(length + 1);
    if (copy == NULL || grow(names) != 0) {
        free(copy);
        return NULL;
    }
    memcpy(copy, name, length);
    copy[length] = '\0';
    uint64_t hash = hash_name(names, name, length);
    *find_slot(names, name, length, hash) =
        (ItmNameEntry){.name = copy, .length = length, .hash = hash, .value = value};
    names->count++;
    return copy;
}

ItmStatus itm_names_take(ItmNames* names, const char** name, int value, const char* function, ItmError* error)
{
    size_t length = strlen(*name);
    if (itm_names_find(names, *name, length) != ITM_NONE) {
        return itm_error_set(error, ITM_ERR_INPUT, function, "name", "the name '%s' is taken already", *name);
    }
    const char* copy = itm_names_add(names, *name, length, value);
    if (copy == NULL) {
        return itm_error_set(error, ITM_ERR_MEMORY, function, NULL, "out of memory");
    }
    *name = copy;
    return ITM_OK;
}

void itm_names_free(ItmNames* names)
{
    for (size_t i = 0; i < names->nslot; i++) {
        free(names->slots[i].name);
    }
    free(names->slots);
    *names = (ItmNames){0};
}
