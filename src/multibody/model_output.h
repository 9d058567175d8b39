// Naming and computing of outputs; the public part is in interim/data.h.
#ifndef ITM_MULTIBODY_OUTPUT_H
#define ITM_MULTIBODY_OUTPUT_H

#include "multibody/data.h"

// Name all outputs of a model that is otherwise complete.
ItmStatus itm_model_build_outputs(ItmModel* m, ItmError* error);

#endif
