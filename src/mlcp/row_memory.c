#include "mlcp/row_memory.h"

#include <string.h>

// A power of two, so that at least half of the places stay empty.
static size_t fit_hash(int count)
{
    size_t size = 1;
    while (size < 2 * (size_t)count) {
        size *= 2;
    }
    return size;
}

void itm_row_memory_lay_out(ItmRowMemory* memory, ItmArena* arena, int capacity)
{
    memory->capacity = capacity;
    memory->last = ITM_TAKE(arena, ItmRowRecord, capacity);
    memory->next = ITM_TAKE(arena, ItmRowRecord, capacity);
    memory->hash = ITM_TAKE(arena, int, fit_hash(capacity));
    memory->hash_size = 1;
}

static uint64_t slot_of(const ItmRowMemory* memory, uint64_t key)
{
    return (key * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (uint64_t)(memory->hash_size - 1);
}

static uint64_t slot_after(const ItmRowMemory* memory, uint64_t slot)
{
    return (slot + 1) & (uint64_t)(memory->hash_size - 1);
}

void itm_row_memory_rewind(ItmRowMemory* memory)
{
    memory->is_indexed = false;
    memory->cursor = 0;
}

void itm_row_memory_clear(ItmRowMemory* memory)
{
    memory->nlast = 0;
    itm_row_memory_rewind(memory);
}

static void make_index(ItmRowMemory* memory)
{
    // as large as the rows that there are need it: most models have room for many more
    memory->hash_size = (int)fit_hash(memory->nlast);
    for (int i = 0; i < memory->hash_size; i++) {
        memory->hash[i] = ITM_NONE;
    }
    for (int i = 0; i < memory->nlast; i++) {
        uint64_t slot = slot_of(memory, memory->last[i].key);
        while (memory->hash[slot] != ITM_NONE) {
            slot = slot_after(memory, slot);
        }
        memory->hash[slot] = i;
    }
    memory->is_indexed = true;
}

static const ItmRowRecord* look_up(ItmRowMemory* memory, uint64_t key)
{
    uint64_t slot = slot_of(memory, key);
    for (; memory->hash[slot] != ITM_NONE; slot = slot_after(memory, slot)) {
        const ItmRowRecord* record = &memory->last[memory->hash[slot]];
        if (record->key == key) {
            return record;
        }
    }
    return NULL;
}

const ItmRowRecord* itm_row_memory_find(ItmRowMemory* memory, uint64_t key)
{
    const ItmRowRecord* record = &memory->last[memory->cursor];
    if (memory->cursor >= memory->nlast || record->key != key) {
        if (!memory->is_indexed) {
            make_index(memory);
        }
        record = look_up(memory, key);
    }
    memory->cursor = record != NULL ? (int)(record - memory->last) + 1 : memory->cursor;
    return record;
}

void itm_row_memory_commit(ItmRowMemory* memory)
{
    ItmRowRecord* free_list = memory->last;
    memory->last = memory->next;
    memory->nlast = memory->nnext;
    memory->next = free_list;
    itm_row_memory_rewind(memory);
}

size_t itm_row_memory_get_size(const ItmRowMemory* memory)
{
    return sizeof(double) + (size_t)memory->capacity * sizeof(ItmRowRecord);
}

void itm_row_memory_save(const ItmRowMemory* memory, void* bytes)
{
    double count = memory->nlast;
    char* records = (char*)bytes + sizeof count;
    size_t used = (size_t)memory->nlast * sizeof(ItmRowRecord);
    memcpy(bytes, &count, sizeof count);
    memcpy(records, memory->last, used);
    // what older steps left behind them is no part of the state: equal states are equal bytes
    memset(records + used, 0, (size_t)memory->capacity * sizeof(ItmRowRecord) - used);
}

void itm_row_memory_restore(ItmRowMemory* memory, const void* bytes)
{
    double count;
    memcpy(&count, bytes, sizeof count);
    memory->nlast = count >= 0 && count <= memory->capacity ? (int)count : 0;
    memcpy(memory->last, (const char*)bytes + sizeof count, (size_t)memory->capacity * sizeof(ItmRowRecord));
    itm_row_memory_rewind(memory);
}
