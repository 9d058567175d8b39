// Interfaces of a run in its record: where they are, and the mobility of the mechanism there.
#ifndef ITM_IO_RESULTS_INTERFACE_LOG_H
#define ITM_IO_RESULTS_INTERFACE_LOG_H

#include "interim/cosim.h"
#include "io/results/contact_log.h"

// Reals of an interface at a frame: translations xx, yy, zz, xy, xz, yz of the mobility in world axes, 0 along directions that a
// frame does not have; of a line actuator its one number, then zeros.                                                    1/kg
#define ITM_INTERFACE_REALS 6

// Frames, then line actuators with a bond, as itm_cosim_inspect counts them.     W (count x ITM_INTERFACE_REALS)
// In the present state, which stays as it is; contacts left out, as in rim.condition.
void itm_interface_log_take(ItmCosim* cosim, float* W);
// Members of a JSON list, each ended by ",\n".
void itm_interface_log_describe(ItmCosim* cosim, const ItmWatchedList* mechanisms, ItmText* text);

#endif
