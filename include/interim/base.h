// Status codes, messages and the basic types shared by all parts of the library.
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

// Version of these headers. itm_version() returns that of the loaded library.
#define ITM_VERSION_MAJOR 0
#define ITM_VERSION_MINOR 2
#define ITM_VERSION_PATCH 0

#define ITM_NONE (-1)    // no such index
#define ITM_GROUND (-2)  // the fixed body, wherever a body id is expected; not the same as a body that was not found

// ---------------------------------------------------------------------------- status

// Outcome of a call. Misuse and bad input return an error status. An iteration that does not converge
// is not an error; it is reported in the step info.
typedef enum ItmStatus {
    ITM_OK = 0,
    ITM_ERR_ARGUMENT,     // a NULL, a size or an index that the function rejects
    ITM_ERR_MEMORY,       // out of memory
    ITM_ERR_INPUT,        // a definition or file that does not describe a valid model
    ITM_ERR_ASSEMBLY,     // the joints cannot be assembled, or the initial velocities violate them
    ITM_ERR_CAPACITY,     // a fixed capacity of the data object was exceeded
    ITM_ERR_NOT_FINITE,   // a NaN or infinity occurred; the state before the step is restored
    ITM_ERR_DIVERGED,     // an implicit step did not converge; the state before the step is restored
    ITM_ERR_IO,           // a file could not be read or written
    ITM_ERR_UNSUPPORTED,  // the request is valid, but this build or model does not support it
    ITM_STATUS_COUNT
} ItmStatus;

// Arguments. Every function checks its objects, names and paths for NULL and its indices for their range. A function that
// returns a status returns ITM_ERR_ARGUMENT then; any other returns 0, NULL, ITM_NONE, false or a zeroed struct, and changes
// nothing. Functions that destroy accept NULL.
// Undefined: an object after its destruction, data of another model than the one given with it, an array that is shorter than
// documented, a text without its zero byte, an object in two threads at a time unless documented otherwise.

// Message of a status, one sentence, never NULL.
ITM_API const char* itm_status_message(ItmStatus status);

// ---------------------------------------------------------------------------- errors

// Description and location of an error. Filled by calls that take an ItmError*, which may always be NULL.
typedef struct ItmError {
    ItmStatus status;
    char message[768];     // one sentence: the offending names and numbers, and how to fix it
    char field[128];       // invalid field of the definition ("mass"), empty if none
    char file[256];        // model file, empty if the error is not about a file
    int line, column;      // position in the file, 1-based; 0 if unknown
    const char* function;  // library function that detected the error
} ItmError;

// Handler of a failed internal check: a defect of the library, never bad input. Release builds have no such checks.
typedef void ItmAssertHandler(const char* expression, const char* file, int line);
// Set the handler of the process, from any thread; NULL: print to stderr. The library aborts when the handler returns.
ITM_API void itm_assert_set_handler(ItmAssertHandler* handler);

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

// Name, unit and description of one output.
typedef struct ItmOutputInfo {
    const char* name;         // "rod.position.x"; belongs to the model
    const char* unit;         // "m"
    const char* description;  // "position of the body frame's origin, world x"
} ItmOutputInfo;

// The word of a list (nword) that the first `length` bytes of `typed` probably mean: the nearest by edits, capital letters as small
// ones; NULL if none is near.
ITM_API const char* itm_nearest_find(const char* typed, size_t length, const char* const* words, int nword);

// Version of the loaded library, "major.minor.patch".
ITM_API const char* itm_version(void);
// Commit of its source, with "+changes" behind it if files differed from it; "unknown" if it was built outside a repository.
ITM_API const char* itm_commit(void);

ITM_EXTERN_C_END

#endif
