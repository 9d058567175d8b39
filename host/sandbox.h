// What the process of an FMU may do: limits of memory and files, no network, no processes, no signals to others.
#ifndef ITM_HOST_SANDBOX_H
#define ITM_HOST_SANDBOX_H

#include "fmi/protocol.h"

// False: a limit cannot be set; *why is a sentence.
bool itm_sandbox_enter(const ItmFmuLimits* limits, const char** why);

#endif
