// STL: a list of triangles, each with its own three corners. The normals in the file are not read; the
// order of the corners defines the outside.
#include "io/geometry/mesh_list.h"

#include "base/error.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define HEADER 80
#define RECORD 50  // normal, three corners, two bytes

// ---------------------------------------------------------------------------- binary

static uint32_t read_u32(const char* p)
{
    const unsigned char* b = (const unsigned char*)p;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static double read_f32(const char* p)
{
    uint32_t bits = read_u32(p);
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static ItmStatus fail_at_byte(ItmError* error, const char* name, ItmStatus status, const char* what, size_t byte)
{
    itm_error_set(error, status, __func__, NULL, "%s at byte %zu", what, byte);
    itm_error_locate(error, name, 0, 0);
    return status;
}

static ItmStatus parse_binary(ItmMeshList* list, const char* bytes, uint32_t count, const char* name, ItmError* error)
{
    for (uint32_t t = 0; t < count; t++) {
        size_t start = HEADER + 4 + (size_t)t * RECORD + 12;
        for (size_t k = 0; k < 3; k++) {
            const char* corner = bytes + start + 12 * k;
            ItmVec3 p = {read_f32(corner), read_f32(corner + 4), read_f32(corner + 8)};
            if (!isfinite(p.x) || !isfinite(p.y) || !isfinite(p.z)) {
                return fail_at_byte(error, name, ITM_ERR_INPUT, "a corner is not finite", start + 12 * k);
            }
            if (!itm_mesh_list_add_vertex(list, p)) {
                return fail_at_byte(error, name, ITM_ERR_MEMORY, "no memory for the mesh", start);
            }
        }
        int n = list->mesh.nvertex;
        if (!itm_mesh_list_add_triangle(list, n - 3, n - 2, n - 1)) {
            return fail_at_byte(error, name, ITM_ERR_MEMORY, "no memory for the mesh", start);
        }
    }
    return ITM_OK;
}

// ---------------------------------------------------------------------------- text

// facet, outer loop and solid lines carry nothing we need; only the count of corners a facet is checked.
static ItmStatus parse_text(ItmMeshList* list, ItmWords* text, ItmError* error)
{
    int facet = 0;  // first corner of the open facet
    bool has_end = false;
    do {
        ItmWord word = itm_words_next(text);
        if (itm_words_is(word, "vertex")) {
            ItmStatus status = itm_mesh_list_parse_vertex(list, text, error);
            if (status != ITM_OK) {
                return status;
            }
        } else if (itm_words_is(word, "endfacet")) {
            int n = list->mesh.nvertex;
            if (n - facet != 3) {
                return itm_words_fail(error, text, "a facet needs three corners, not %d", n - facet);
            }
            if (!itm_mesh_list_add_triangle(list, n - 3, n - 2, n - 1)) {
                return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "no memory for the mesh");
            }
            facet = n;
        } else if (itm_words_is(word, "endsolid")) {
            has_end = true;
        } else if (word.length > 0 && !itm_words_is(word, "solid") && !itm_words_is(word, "facet") &&
                   !itm_words_is(word, "outer") && !itm_words_is(word, "endloop")) {
            return itm_words_fail(error, text, "expected facet, vertex or endsolid, got \"%.*s\"",
                                  (int)(word.length < 40 ? word.length : 40), word.start);
        }
    } while (itm_words_next_line(text));
    if (!has_end || list->mesh.nvertex != facet) {
        return itm_words_fail(error, text, "the file ends inside a solid");
    }
    return ITM_OK;
}

// Whether the file begins as text does: no control characters in the header of a binary file or up to its end.
static bool is_text(const char* bytes, size_t length)
{
    for (size_t i = 0; i < length && i < HEADER + 4; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c < ' ' && c != '\n' && c != '\r' && c != '\t') {
            return false;
        }
    }
    return length > 0;
}

ItmStatus itm_mesh_parse_stl(ItmMesh* mesh, const char* bytes, size_t length, const char* name, ItmError* error)
{
    ItmMeshList list = {0};
    ItmWords text = {bytes, bytes + length, name, 1};
    uint32_t count = length >= HEADER + 4 ? read_u32(bytes + HEADER) : 0;
    size_t wanted = HEADER + 4 + (size_t)count * RECORD;
    // many binary files begin with "solid" too, so an exact size decides first
    bool has_size = length >= HEADER + 4 && length == wanted && count > 0;
    bool has_word = length >= 5 && memcmp(bytes, "solid", 5) == 0;
    ItmStatus status;
    if (!has_size && has_word) {
        status = parse_text(&list, &text, error);
    } else if (length < wanted && is_text(bytes, length)) {
        status = itm_error_set(error, ITM_ERR_INPUT, __func__, NULL,
                               "this is not an STL file: it is text and does not begin with 'solid'");
        itm_error_locate(error, name, 0, 0);
    } else if (length < HEADER + 4 || length < wanted) {
        status = itm_error_set(error, ITM_ERR_INPUT, __func__, NULL,
                               "a binary STL file of %u triangles has %zu bytes, this one %zu", count, wanted, length);
        itm_error_locate(error, name, 0, 0);
    } else if (count > ITM_MESH_MAX_TRIANGLES) {
        status = fail_at_byte(error, name, ITM_ERR_INPUT, "too many triangles", HEADER);
    } else {
        status = parse_binary(&list, bytes, count, name, error);
    }
    if (status == ITM_OK && list.mesh.ntriangle == 0) {
        status = itm_words_fail(error, &text, "the file holds no triangles");
    }
    *mesh = list.mesh;
    if (status != ITM_OK) {
        itm_mesh_free(mesh);
    }
    return status;
}
