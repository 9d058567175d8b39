// Impulses and states of the rows of the last step by key, for warm starts. Two lists, because a step that fails must leave the one it
// started from. Saved and restored with the state.
#ifndef ITM_MLCP_ROW_MEMORY_H
#define ITM_MLCP_ROW_MEMORY_H

#include "base/arena.h"
#include "interim/mlcp.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// No padding: its bytes are part of a saved state.
#define ITM_ROW_DIRECTION 32767.0
typedef struct ItmRowRecord {
    uint64_t key;
    double x;              // N s
    int16_t state;         // ItmRowState
    int16_t direction[3];  // of a contact normal, over ITM_ROW_DIRECTION; 0: none
} ItmRowRecord;

// clang-format off
typedef struct ItmRowMemory {
    int capacity;
    ItmRowRecord* last;  // of the last step                                             (capacity)
    ItmRowRecord* next;  // of this one                                                  (capacity)
    int nlast, nnext;
    int* hash;           // open addressing over the last step, ITM_NONE: empty          (hash_size)
    int hash_size;       // a power of two, in use
    bool is_indexed;     // the hash fits the last step
    int cursor;          // record after the one that was found last: rows mostly keep their order
} ItmRowMemory;
// clang-format on

void itm_row_memory_lay_out(ItmRowMemory* memory, ItmArena* arena, int capacity);
// Forget the last step.
void itm_row_memory_clear(ItmRowMemory* memory);
// Before the rows of a step are looked up, in their order.
void itm_row_memory_rewind(ItmRowMemory* memory);
// The row in the last step, NULL: it was not there. Valid until the step is committed.
const ItmRowRecord* itm_row_memory_find(ItmRowMemory* memory, uint64_t key);
// This step is final: the next one starts from it.
void itm_row_memory_commit(ItmRowMemory* memory);
// Bytes of the last step in a saved state, and copying it there and back.
size_t itm_row_memory_get_size(const ItmRowMemory* memory);
void itm_row_memory_save(const ItmRowMemory* memory, void* bytes);
void itm_row_memory_restore(ItmRowMemory* memory, const void* bytes);

#endif
