// C functions of the layered standard interim.rim: level 2 of the interface model port.       [docs/reference/rim-port.md]
//
// The first argument is the fmi2Component or fmi3Instance. They return the numbers of fmi2Status and fmi3Status, which agree. Arrays
// have one entry per port, n in all; W is row-major.
#ifndef ITM_FMI_LAYER_H
#define ITM_FMI_LAYER_H

#include <stddef.h>

#define ITM_LAYER_NAME "interim.rim"  // of the layered standard; to be the reverse of a domain once there is one
#define ITM_LAYER_VERSION "1.0"
#define ITM_LAYER_STEP "macro_step"  // parameter: H of the interface model
#define ITM_LAYER_MANIFEST "extra/" ITM_LAYER_NAME "/fmi-ls-manifest.xml"

// Begin a macro step H in K micro steps if they are equal. useHeun: positions follow the mean of the rates at both ends of a micro
// step, otherwise the last one. *ncontact: contact rows of the model; 0: W and a0 are all of it, and micro steps need no calls.
typedef int interimRimBeginTYPE(void* instance, double H, int K, int useHeun, size_t n, double W[], double a0[],
                                int* ncontact);
// Rates at the end of a micro step h at forces lambda; nothing moves.
typedef int interimRimPredictTYPE(void* instance, double h, size_t n, const double lambda[], double wEnd[]);
// A micro step h at forces lambda: positions and rates at its end.
typedef int interimRimAdvanceTYPE(void* instance, double h, size_t n, const double lambda[], double s[], double w[]);
// Take the macro step: with the impulses of the micro steps, or where there were none with P0, P1, theta.
typedef int interimRimCommitTYPE(void* instance, size_t n, const double P0[], const double P1[], double theta);
// Return to the state before begin.
typedef int interimRimCancelTYPE(void* instance);

// Optional, both or none: contact rows for a master of the same build, which then takes the micro steps itself. After begin: *size bytes,
// at most capacity; 0: there are none. Instead of micro steps, before commit: their results in as many bytes.
typedef int interimRimGetRowsTYPE(void* instance, size_t capacity, size_t* size, void* bytes);
typedef int interimRimSetResultsTYPE(void* instance, size_t size, const void* bytes);

#define LAYER_FUNCTIONS(X) X(Begin) X(Predict) X(Advance) X(Commit) X(Cancel)
#define LAYER_OPTIONAL(X) X(GetRows) X(SetResults)

#endif
