// Which rows are part of closed loops.
#ifndef ITM_MULTIBODY_LOOPS_H
#define ITM_MULTIBODY_LOOPS_H

#include "multibody/model.h"

// Fills m->is_in_loop (nblock). false: no memory.
//
// Only rows of loops can come to depend on each other. A free body that one block of rows alone touches can follow these rows whatever
// the rest does: they are independent of all others in every position, and so are, without it, those of the next body.
bool itm_loops_find(ItmModel* m);

#endif
