#include "io/results/record.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST_ARRAY (1l << 28)  // elements; a file that claims more is broken

// clang-format off
static const struct {
    const char* name;
    ItmArrayType type;
    int ndim;
} ARRAYS[ITM_MOTION_COUNT] = {
    [ITM_MOTION_TIME]          = {"time",          ITM_ARRAY_FLOAT64, 1},
    [ITM_MOTION_POSE]          = {"pose",          ITM_ARRAY_FLOAT32, 3},
    [ITM_MOTION_MODE]          = {"mode",          ITM_ARRAY_FLOAT32, 2},
    [ITM_MOTION_MOBILITY]      = {"mobility",      ITM_ARRAY_FLOAT32, 3},
    [ITM_MOTION_CHANNEL]       = {"channel",       ITM_ARRAY_FLOAT32, 2},
    [ITM_MOTION_CONTACT_START] = {"contact_start", ITM_ARRAY_INT32,   1},
    [ITM_MOTION_CONTACT]       = {"contact",       ITM_ARRAY_FLOAT32, 2},
    [ITM_MOTION_CONTACT_PAIR]  = {"contact_pair",  ITM_ARRAY_INT32,   2},
    [ITM_MOTION_INTERVAL]      = {"interval",      ITM_ARRAY_FLOAT64, 2},
    [ITM_MOTION_INTERVAL_PAIR] = {"interval_pair", ITM_ARRAY_INT32,   2},
};
// clang-format on

static const char* const TYPE_NAMES[ITM_ARRAY_TYPE_COUNT] = {"float32", "float64", "int32"};

const char* itm_record_motion_name(ItmMotionArray array)
{
    return ARRAYS[array].name;
}

ItmArrayType itm_record_motion_type(ItmMotionArray array)
{
    return ARRAYS[array].type;
}

int itm_record_motion_ndim(ItmMotionArray array)
{
    return ARRAYS[array].ndim;
}

const char* itm_record_array_type_name(ItmArrayType type)
{
    return TYPE_NAMES[type];
}

size_t itm_record_array_type_size(ItmArrayType type)
{
    return type == ITM_ARRAY_FLOAT64 ? sizeof(double) : sizeof(int32_t);
}

size_t itm_record_array_get_count(const ItmArray* array)
{
    size_t count = array->ndim > 0 ? 1 : 0;
    for (int i = 0; i < array->ndim; i++) {
        count *= (size_t)array->size[i];
    }
    return count;
}

ItmStatus itm_record_array_allocate(ItmArray* array, ItmMotionArray which, const long* size)
{
    *array = (ItmArray){.ndim = ARRAYS[which].ndim};
    long count = 1;
    for (int i = 0; i < array->ndim; i++) {
        if (size[i] < 0 || size[i] > LARGEST_ARRAY || (size[i] > 0 && count > LARGEST_ARRAY / size[i])) {
            return ITM_ERR_INPUT;
        }
        array->size[i] = size[i];
        count *= size[i];
    }
    array->values = calloc((size_t)count + 1, itm_record_array_type_size(ARRAYS[which].type));
    return array->values != NULL ? ITM_OK : ITM_ERR_MEMORY;
}

void itm_record_free(ItmRecord* record)
{
    free(record->scene);
    for (int i = 0; i < ITM_MOTION_COUNT; i++) {
        free(record->arrays[i].values);
    }
    *record = (ItmRecord){0};
}

// ---------------------------------------------------------------------------- checking

static bool is_finite_array(const ItmRecord* r, ItmMotionArray which)
{
    const ItmArray* a = &r->arrays[which];
    size_t count = itm_record_array_get_count(a);
    for (size_t i = 0; i < count; i++) {
        double x = ARRAYS[which].type == ITM_ARRAY_FLOAT64 ? ((const double*)a->values)[i]
                                                           : (double)((const float*)a->values)[i];
        if (!isfinite(x)) {
            return false;
        }
    }
    return true;
}

// contact_start: 0 first, never falling, the number of contacts last
static bool are_starts_valid(const ItmRecord* r)
{
    const ItmArray* a = &r->arrays[ITM_MOTION_CONTACT_START];
    const int32_t* start = a->values;
    long nframe = a->size[0] - 1;
    for (long i = 0; i < nframe; i++) {
        if (start[i + 1] < start[i]) {
            return false;
        }
    }
    return start[0] == 0 && start[nframe] == r->arrays[ITM_MOTION_CONTACT].size[0];
}

bool itm_record_is_valid(const ItmRecord* r)
{
    const ItmArray* a = r->arrays;
    long nframe = a[ITM_MOTION_TIME].size[0];
    return r->scene != NULL && a[ITM_MOTION_POSE].size[0] == nframe && a[ITM_MOTION_POSE].size[2] == 7 &&
           a[ITM_MOTION_MODE].size[0] == nframe && a[ITM_MOTION_MOBILITY].size[0] == nframe &&
           a[ITM_MOTION_MOBILITY].size[2] == 6 && a[ITM_MOTION_CHANNEL].size[0] == nframe &&
           a[ITM_MOTION_CONTACT_START].size[0] == nframe + 1 && a[ITM_MOTION_CONTACT].size[1] == 6 &&
           a[ITM_MOTION_CONTACT_PAIR].size[1] == 2 &&
           a[ITM_MOTION_CONTACT_PAIR].size[0] == a[ITM_MOTION_CONTACT].size[0] && a[ITM_MOTION_INTERVAL].size[1] == 2 &&
           a[ITM_MOTION_INTERVAL_PAIR].size[1] == 2 &&
           a[ITM_MOTION_INTERVAL_PAIR].size[0] == a[ITM_MOTION_INTERVAL].size[0] && are_starts_valid(r) &&
           is_finite_array(r, ITM_MOTION_TIME) && is_finite_array(r, ITM_MOTION_POSE) &&
           is_finite_array(r, ITM_MOTION_MODE) && is_finite_array(r, ITM_MOTION_MOBILITY) &&
           is_finite_array(r, ITM_MOTION_CONTACT) && is_finite_array(r, ITM_MOTION_INTERVAL);
}
