// Wavefront OBJ: v and f lines; all else (textures, normals, groups, materials) is passed over. Faces with more than
// three corners become fans, which is right for convex ones.
#include "io/geometry/mesh_list.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

// The vertex of a corner "i", "i/t", "i//n" or "i/t/n": counted from 1, or from the last one backwards.
static bool parse_index(int* index, ItmWord word, int nvertex)
{
    bool is_negative = word.length > 0 && word.start[0] == '-';
    size_t at = is_negative ? 1 : 0, digits = at;
    long value = 0;
    for (; at < word.length && word.start[at] >= '0' && word.start[at] <= '9'; at++) {
        value = 10 * value + (word.start[at] - '0');
        if (value > nvertex) {
            return false;
        }
    }
    if (at == digits || value == 0 || (at < word.length && word.start[at] != '/')) {
        return false;
    }
    *index = is_negative ? nvertex - (int)value : (int)value - 1;
    return true;
}

static ItmStatus parse_face(ItmMeshList* list, ItmWords* text, ItmError* error)
{
    int first = 0, last = 0, ncorner = 0;
    for (ItmWord word = itm_words_next(text); word.length > 0; word = itm_words_next(text)) {
        int index;
        if (!parse_index(&index, word, list->mesh.nvertex)) {
            return itm_words_fail(error, text, "\"%.*s\" is not one of the %d vertices so far",
                                  (int)(word.length < 40 ? word.length : 40), word.start, list->mesh.nvertex);
        }
        if (ncorner == 0) {
            first = index;
        } else if (ncorner >= 2 && !itm_mesh_list_add_triangle(list, first, last, index)) {
            return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "no memory for the mesh");
        }
        last = index;
        ncorner++;
    }
    return ncorner >= 3 ? ITM_OK : itm_words_fail(error, text, "a face needs three corners, not %d", ncorner);
}

ItmStatus itm_mesh_parse_obj(ItmMesh* mesh, const char* bytes, size_t length, const char* name, ItmError* error)
{
    ItmMeshList list = {0};
    ItmWords text = {bytes, bytes + length, name, 1};
    ItmStatus status = ITM_OK;
    do {
        ItmWord word = itm_words_next(&text);
        if (itm_words_is(word, "v")) {
            status = itm_mesh_list_parse_vertex(&list, &text, error);
        } else if (itm_words_is(word, "f")) {
            status = parse_face(&list, &text, error);
        }
    } while (status == ITM_OK && itm_words_next_line(&text));
    if (status == ITM_OK && list.mesh.ntriangle == 0) {
        status = itm_words_fail(error, &text, "the file holds no faces");
    }
    *mesh = list.mesh;
    if (status != ITM_OK) {
        itm_mesh_free(mesh);
    }
    return status;
}
