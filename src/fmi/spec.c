// Packing: the struct, its arrays and its texts one after the other; pointers become offsets. Both ends are the same build.
#include "fmi/spec.h"

#include "cosim/cosim.h"
#include "fmi/protocol.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALIGN 8

typedef struct Writer {
    char* bytes;  // NULL: only measure
    size_t used;
} Writer;

static size_t put(Writer* w, const void* from, size_t size)
{
    size_t at = w->used;
    if (w->bytes != NULL && size > 0) {
        memcpy(w->bytes + at, from, size);
    }
    w->used = (at + size + ALIGN - 1) / ALIGN * ALIGN;
    return at;
}

// Offset of a text as if it were a pointer; 0 (the struct itself is there) is NULL.
static const char* put_text(Writer* w, const char* text)
{
    return text != NULL ? (const char*)(uintptr_t)put(w, text, strlen(text) + 1) : NULL;
}

static size_t pack(const ItmFmuSpec* spec, char* bytes)
{
    Writer w = {bytes, 0};
    ItmFmuSpec copy = *spec;
    put(&w, &copy, sizeof copy);
    copy.name = put_text(&w, spec->name);
    copy.library = put_text(&w, spec->library);
    copy.resources = put_text(&w, spec->resources);
    copy.token = put_text(&w, spec->token);
    size_t settings = put(&w, spec->settings, sizeof *spec->settings * (size_t)spec->nsetting);
    copy.inputs = (void*)(uintptr_t)put(&w, spec->inputs, sizeof *spec->inputs * (size_t)spec->ninput);
    copy.outputs = (void*)(uintptr_t)put(&w, spec->outputs, sizeof *spec->outputs * (size_t)spec->noutput);
    copy.ports = (void*)(uintptr_t)put(&w, spec->ports, sizeof *spec->ports * (size_t)spec->nport);
    copy.slopes = (void*)(uintptr_t)put(&w, spec->slopes, sizeof *spec->slopes * (size_t)spec->nslope);
    copy.settings = (void*)(uintptr_t)settings;
    copy.memory = NULL;
    for (int i = 0; i < spec->nsetting; i++) {
        const char* text = put_text(&w, spec->settings[i].text);
        if (bytes != NULL) {
            ((ItmFmuSetting*)(void*)(bytes + settings))[i].text = text;
        }
    }
    if (bytes != NULL) {
        memcpy(bytes, &copy, sizeof copy);
    }
    return w.used;
}

size_t itm_fmi_get_spec_size(const ItmFmuSpec* spec)
{
    return pack(spec, NULL);
}

void itm_fmi_pack_spec(const ItmFmuSpec* spec, void* bytes)
{
    pack(spec, bytes);
}

static bool is_inside(uintptr_t offset, size_t count, size_t size, size_t whole)
{
    return offset >= sizeof(ItmFmuSpec) && offset <= whole && count <= (whole - offset) / (size > 0 ? size : 1);
}

static bool point_text(const char** text, char* bytes, size_t size)
{
    uintptr_t at = (uintptr_t)*text;
    if (at == 0) {
        return true;
    }
    if (at >= size || memchr(bytes + at, '\0', size - at) == NULL) {
        return false;
    }
    *text = bytes + at;
    return true;
}

#define POINT(array, n)                                                                                                \
    (spec->n >= 0 && is_inside((uintptr_t)spec->array, (size_t)spec->n, sizeof *spec->array, size) &&                  \
     (spec->array = (void*)(bytes + (uintptr_t)spec->array), true))

bool itm_fmi_unpack_spec(ItmFmuSpec* spec, const void* packed, size_t size)
{
    char* bytes = size >= sizeof *spec ? malloc(size) : NULL;
    if (bytes == NULL) {
        return false;
    }
    memcpy(bytes, packed, size);
    memcpy(spec, bytes, sizeof *spec);
    bool is_good = point_text(&spec->name, bytes, size) && point_text(&spec->library, bytes, size) &&
                   point_text(&spec->resources, bytes, size) && point_text(&spec->token, bytes, size) &&
                   POINT(settings, nsetting) && POINT(inputs, ninput) && POINT(outputs, noutput) &&
                   POINT(ports, nport) && POINT(slopes, nslope);
    for (int i = 0; is_good && i < spec->nsetting; i++) {
        is_good = point_text(&((ItmFmuSetting*)(uintptr_t)spec->settings)[i].text, bytes, size);
    }
    spec->memory = bytes;
    if (!is_good) {
        itm_fmi_free_spec(spec);
    }
    return is_good;
}

void itm_fmi_free_spec(ItmFmuSpec* spec)
{
    free(spec->memory);
    memset(spec, 0, sizeof *spec);
}

void itm_fmi_write_build(char build[64])
{
    snprintf(build, 64, "interim %s %zu %zu %zu %zu %zu %zu", ITM_VERSION, sizeof(ItmFmuShared), sizeof(ItmFmuRun),
             sizeof(ItmFmuSpec), sizeof(ItmBond), sizeof(ItmBondMemory), sizeof(ItmFmuPortCall));
}

ItmSubsystem itm_fmi_describe(const ItmFmuSpec* spec, const double* nominal, const double* input_start)
{
    return (ItmSubsystem){
        .nport = spec->nport,
        .ninput = spec->ninput,
        .noutput = spec->noutput,
        .is_second_order = true,
        .nstate = spec->has_state_access ? spec->nslope : 0,
        .nominal = nominal,
        .input_start = input_start,
        .is_unsaved = !spec->has_state,
        .is_state_local = !spec->has_bytes,
    };
}
