// The compiled control: flat tables that never change while a simulation runs.
#ifndef ITM_CONTROL_CONTROL_H
#define ITM_CONTROL_CONTROL_H

#include "base/arena.h"
#include "control/builder.h"
#include "signal/signal.h"

// clang-format off
typedef struct ItmControlBlock {
    ItmControlBlockDef def;       // name and unit point into the arena; the rest that is not a number is NULL
    bool     is_feedthrough;      // its value depends on its inputs at the same sample
    int      op_adr[ITM_SLOT_COUNT], nop[ITM_SLOT_COUNT];  // its expressions
    int      x_adr;               // its states
    int      ring_adr;            // delay: its samples, among the states too
    ItmSignal table;              // look-up
} ItmControlBlock;

struct ItmControl {
    int nblock, nsignal, ninput, nop, nx;
    int nx_scalar;                // states before the samples of the delays
    int nstack;                   // reals that the longest expression needs
    int nfeed;                    // bytes of a row of `feedthrough`

    ItmControlBlock* blocks;      //                                                       (nblock)
    ItmOp*   ops;                 //                                                       (nop)
    ItmSignal* signals;           // those that expressions mention                        (nsignal)
    const char** input_name;      //                                                       (ninput)
    int*     order;               // of evaluation: blocks without feed-through first      (nblock)
    unsigned char* feedthrough;   // bit i of row k: output k depends on input i           (nblock x nfeed)
    ItmArena arena;               // memory of all of the above
    size_t   data_bytes;
};
// clang-format on

// ---------------------------------------------------------------------------- kinds of blocks (kinds.c)

// States of a block, its samples apart, and those.
int itm_control_kind_count_states(const ItmControlBlockDef* def);
int itm_control_kind_count_samples(const ItmControlBlockDef* def);
bool itm_control_kind_is_feedthrough(const ItmControlBlockDef* def);

// x: states of the block, ring: samples of a delay. u (ITM_SLOT_COUNT)
void itm_control_kind_reset(const ItmControlBlock* block, double* x, double* ring);
// Value of the block before its limits.
double itm_control_kind_compute(const ItmControlBlock* block, const double* x, const double* ring, const double* u);
double itm_control_kind_limit(const ItmControlBlock* block, double y);
// The states go on by h; y: value within the limits.
void itm_control_kind_advance(const ItmControlBlock* block, double* x, const double* u, double y, double h);
// What advancing a delay changes, apart from its other states: it cannot fail.
void itm_control_kind_push(const ItmControlBlock* block, double* x, double* ring, const double* u);

// State number k of those that follow the past smoothly (a sum, a sample; no flags and no places), NULL: there are no more.
double* itm_control_kind_get_smooth(const ItmControlBlock* block, double* x, double* ring, int k);

// ---------------------------------------------------------------------------- running (controller.c)

// The state as one piece of memory, of itm_controller_get_state_size bytes.
void* itm_controller_get_memory(ItmController* d);
// Smooth states of all blocks, and the values that blocks with sample times of their own hold.
int itm_controller_get_state_count(ItmController* d);
void itm_controller_get_states(ItmController* d, double* x);
void itm_controller_set_states(ItmController* d, const double* x);

// Bytes of a running instance.
size_t itm_controller_measure(const ItmControl* c);

#endif
