// Status codes, messages and the few types every part of the library shares.
// SPDX-License-Identifier: Apache-2.0
#ifndef INTERIM_BASE_H
#define INTERIM_BASE_H

#include <stdbool.h>
#include <stddef.h>

#if defined(_WIN32)
#define ITM_API
#elif defined(__GNUC__)
#define ITM_API __attribute__((visibility("default")))
#else
#define ITM_API
#endif

#ifdef __cplusplus
#define ITM_EXTERN_C_BEGIN extern "C" {
#define ITM_EXTERN_C_END }
#else
#define ITM_EXTERN_C_BEGIN
#define ITM_EXTERN_C_END
#endif

ITM_EXTERN_C_BEGIN

#define ITM_NONE (-1)    // no such index
#define ITM_GROUND (-1)  // the fixed body, wherever a body id is expected

// ---------------------------------------------------------------------------- status

// Outcome of a call. Misuse and bad input give an error status; an iteration that did not finish
// is not an error but an outcome in the step info.
typedef enum ItmStatus {
    ITM_OK = 0,
    ITM_ERR_ARGUMENT,   // a NULL, a size or an index that the function does not accept
    ITM_ERR_MEMORY,     // the system gave no memory
    ITM_ERR_INPUT,      // a definition or file that does not describe a valid model
    ITM_ERR_ASSEMBLY,   // the joints cannot be closed, or the start velocities contradict them
    ITM_ERR_CAPACITY,   // a fixed capacity of the data object was exceeded
    ITM_ERR_NOT_FINITE, // a NaN or infinity appeared; the state is as it was before the step
    ITM_ERR_DIVERGED,   // an implicit step found no solution; the state is as it was before the step
    ITM_ERR_IO,         // a file could not be read or written
    ITM_ERR_UNSUPPORTED, // the request is valid but this build or model cannot serve it
    ITM_STATUS_COUNT
} ItmStatus;

// A sentence for a status, never NULL.
ITM_API const char* itm_status_message(ItmStatus status);

// ---------------------------------------------------------------------------- errors

// What went wrong, and where. Filled by calls that take an ItmError*, which may always be NULL.
typedef struct ItmError {
    ItmStatus status;
    char message[768];  // one sentence with the offending names and numbers, and the remedy
    char field[128];    // field of the definition that is at fault ("mass"), empty if none
    char file[256];     // model file, empty if the error is not about a file
    int line, column;   // position in the file, 1-based; 0 if unknown
    const char* function; // where in the library the error was noticed
} ItmError;

// ---------------------------------------------------------------------------- values

typedef struct ItmVec3 {
    double x, y, z;
} ItmVec3;

// Unit quaternion (Euler parameters), scalar part first.
typedef struct ItmQuat {
    double w, x, y, z;
} ItmQuat;

// Position and orientation of a frame: x_outer = p + R(q) x_inner.
typedef struct ItmPose {
    ItmVec3 p;  // m
    ItmQuat q;
} ItmPose;

// Symmetric 3 x 3 matrix, for inertia tensors: products enter with their sign in the matrix,
// xy = -integral of x y dm.
typedef struct ItmSym3 {
    double xx, yy, zz, xy, xz, yz;
} ItmSym3;

// Name, unit and meaning of one recorded quantity.
typedef struct ItmOutputInfo {
    const char* name;         // "rod.position.x"; belongs to the model
    const char* unit;         // "m"
    const char* description;  // "position of the body frame's origin, world x"
} ItmOutputInfo;

// Version of the library that is running, "major.minor.patch".
ITM_API const char* itm_version(void);

ITM_EXTERN_C_END

#endif
