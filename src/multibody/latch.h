// Rows that are switched on and off while a simulation runs: locked directions of joints, grasped bodies.
//
// Their row blocks stand in the pattern of H always. An open one has a zero Jacobian, gap, rate and bias: its pivot is zero, so the
// factor leaves the row out as it does redundant ones, and nothing has to be allocated or reordered. Whether a latch is closed, and
// what it holds, is state.
#ifndef ITM_MULTIBODY_LATCH_H
#define ITM_MULTIBODY_LATCH_H

#include "multibody/compile.h"
#include "multibody/data.h"

// State of a latch in ItmData.latch: 1 closed or 0 open, then what it keeps: the value of the direction, or
// position and quaternion of body b in body a (centre-of-mass frames).
#define ITM_LATCH_REALS 8

static inline bool itm_latch_holds(const ItmData* d, int latch)
{
    return d->latch[ITM_LATCH_REALS * latch] != 0.0;
}

// Whether the rows of a block do not hold at the moment.
static inline bool itm_block_is_open(const ItmData* d, const ItmRowBlock* block)
{
    return block->latch != ITM_NONE && !itm_latch_holds(d, block->latch);
}

// The fixed joint that a closed latch of two bodies is.
ItmJoint itm_latch_get_joint(const ItmModel* m, const ItmData* d, int latch);

// Rows of open latches.
int itm_latch_count_open_rows(const ItmModel* m, const ItmData* d);

// Latches and events of the definitions, events in the order of their times. False without memory.
bool itm_latch_compile(ItmModel* m, const ItmModelBuilder* b);

// Switch all latches whose time has come, and make the velocities agree: those that close do so by an impact that conserves
// momentum, v <- v - M^-1 A' H^-1 (A v - signal'), all at once. Called at the start and after every step.
void itm_latch_apply_events(const ItmModel* m, ItmData* d);

#endif
