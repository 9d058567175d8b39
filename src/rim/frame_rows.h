// The directions of one frame as interface rows, all at once: six right sides travel one path from the frame's body to its root,
// and lie side by side, so that every step of the way is the same few products for all of them.
#ifndef ITM_RIM_FRAME_ROWS_H
#define ITM_RIM_FRAME_ROWS_H

#include "rim/rim.h"

// How many rows from `first` on, a direction of a frame, are directions of frames on the same body; at most ITM_DIRECTION_COUNT.
int itm_frame_rows_count(const ItmRim* rim, int first);

// Velocities of n directions of one frame, their covectors at the centre of mass of its body, and what accelerates them while
// v' = 0. After the velocity stage.
void itm_frame_rows_look(const ItmData* d, ItmMeasured* x, const ItmRimFrame* frames, int n);

// Y = L^-1 A' of `count` rows from `first` on, seen as x, into rim->Y and, a velocity a line, into rim->Y_frame. M factored; the body
// is not alone (is_root_leaf).
void itm_frame_rows_half_solve(const ItmModel* m, const ItmData* d, ItmRim* rim, int first, int count,
                               const ItmMeasured* x);

// The block of W of these rows, Y' Y, and their products with y_free (a0 without bias) from rim->Y_frame.
void itm_frame_rows_multiply(ItmRim* rim, int first, int count);

#endif
