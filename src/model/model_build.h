// Building models, beside the public itm_model_build.
#ifndef ITM_MODEL_MODEL_BUILD_H
#define ITM_MODEL_MODEL_BUILD_H

#include "interim/model.h"

// A model without bodies: sums over its bodies are zero. It is the model of a foreign mechanism.
ItmStatus itm_model_build_empty(ItmModel** model, ItmError* error);

#endif
