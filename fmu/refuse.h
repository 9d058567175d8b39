// Refusal of functions of FMI 3.0 that belong to something the FMU does not offer.
#ifndef INTERIM_FMU_REFUSE_H
#define INTERIM_FMU_REFUSE_H

#include "fmi/fmi3.h"

#include "instance.h"

// Log the message of the refusal; fmi3Error.
fmi3Status fmi3_refuse(const Instance* x, const char* message);

#endif
