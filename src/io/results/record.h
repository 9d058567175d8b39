// The record of a run beside its table: what the machine looks like (scene) and how it moved (motion), for pictures.
//
// The scene is one JSON object; the motion is a few named arrays over frames. Both are in every result file, whatever
// columns the user chose: HDF5 has the scene as the text dataset /scene/json and the arrays as datasets of /motion, CSV has
// them in its JSON side file (arrays deflated, in base64). docs/reference/results.md describes them.
#ifndef ITM_IO_RESULTS_RECORD_H
#define ITM_IO_RESULTS_RECORD_H

#include "interim/base.h"
#include "io/text.h"

typedef enum ItmArrayType { ITM_ARRAY_FLOAT32, ITM_ARRAY_FLOAT64, ITM_ARRAY_INT32, ITM_ARRAY_TYPE_COUNT } ItmArrayType;

// The arrays of a motion. Frames are states in the order of time; `step` is the time of a frame's last step.
typedef enum ItmMotionArray {
    ITM_MOTION_TIME,      // of the frames                                      (nframe)              float64  s
    ITM_MOTION_POSE,      // body frames: position, quaternion scalar first     (nframe, nbody, 7)    float32  m, 1
    ITM_MOTION_MODE,      // coordinates of the modes of flexible bodies        (nframe, nmode)       float32
    ITM_MOTION_MOBILITY,  // at interfaces: xx, yy, zz, xy, xz, yz              (nframe, ninterface, 6) float32 1/kg
    ITM_MOTION_CHANNEL,   // worst value since the frame before                 (nframe, nchannel)    float32
    ITM_MOTION_CONTACT_START,  // contacts of frame f: from start[f] to start[f + 1] (nframe + 1)          int32
    ITM_MOTION_CONTACT,        // point, force on the second shape                   (ncontact, 6)         float32  m, N
    ITM_MOTION_CONTACT_PAIR,   // pair of shapes, and state: 1 sticking, 2 sliding   (ncontact, 2)         int32
    ITM_MOTION_INTERVAL,       // of a state of a pair: start and end                (ninterval, 2)        float64  s
    ITM_MOTION_INTERVAL_PAIR,  // pair of shapes, and state                          (ninterval, 2)        int32
    ITM_MOTION_COUNT
} ItmMotionArray;

typedef struct ItmArray {
    long size[3];  // 0 from ndim on
    int ndim;
    void* values;  // owned; little-endian in files
} ItmArray;

struct ItmRecord {
    char* scene;  // JSON, or NULL: there is no record
    ItmArray arrays[ITM_MOTION_COUNT];
};
typedef struct ItmRecord ItmRecord;

void itm_record_free(ItmRecord* record);

// "time", "pose", ... as files name them, their types and number of dimensions.
const char* itm_record_motion_name(ItmMotionArray array);
ItmArrayType itm_record_motion_type(ItmMotionArray array);
int itm_record_motion_ndim(ItmMotionArray array);
// "float32", ... and bytes of an element
const char* itm_record_array_type_name(ItmArrayType type);
size_t itm_record_array_type_size(ItmArrayType type);
// Elements in all.
size_t itm_record_array_get_count(const ItmArray* array);
// Zeroed values for a shape. ITM_ERR_INPUT: it is too large. ITM_ERR_MEMORY.
ItmStatus itm_record_array_allocate(ItmArray* array, ItmMotionArray which, const long* size);

// Whether the arrays fit each other and nothing in them points outside; files may hold anything.
bool itm_record_is_valid(const ItmRecord* record);

#endif
