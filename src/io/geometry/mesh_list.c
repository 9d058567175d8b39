#include "io/geometry/mesh_list.h"

#include "base/error.h"

#include <stdlib.h>

// ---------------------------------------------------------------------------- lists

static bool reserve(void** array, int* capacity, int count, int most, size_t size)
{
    if (count <= *capacity) {
        return true;
    }
    if (count > most) {
        return false;
    }
    int wanted = count < most / 2 ? 2 * count + 64 : most;
    void* grown = realloc(*array, (size_t)wanted * size);
    if (grown == NULL) {
        return false;
    }
    *array = grown;
    *capacity = wanted;
    return true;
}

bool itm_mesh_list_add_vertex(ItmMeshList* list, ItmVec3 p)
{
    if (!reserve((void**)&list->mesh.vertices, &list->vertex_capacity, list->mesh.nvertex + 1,
                 3 * ITM_MESH_MAX_TRIANGLES, sizeof(ItmVec3))) {
        return false;
    }
    list->mesh.vertices[list->mesh.nvertex++] = p;
    return true;
}

bool itm_mesh_list_add_triangle(ItmMeshList* list, int a, int b, int c)
{
    if (!reserve((void**)&list->mesh.triangles, &list->triangle_capacity, list->mesh.ntriangle + 1,
                 ITM_MESH_MAX_TRIANGLES, 3 * sizeof(int))) {
        return false;
    }
    int* t = list->mesh.triangles + 3 * (size_t)list->mesh.ntriangle++;
    t[0] = a;
    t[1] = b;
    t[2] = c;
    return true;
}

ItmStatus itm_mesh_list_parse_vertex(ItmMeshList* list, ItmWords* text, ItmError* error)
{
    double x[3];
    for (int k = 0; k < 3; k++) {
        ItmWord word = itm_words_next(text);
        if (!itm_words_to_real(&x[k], word)) {
            return itm_words_fail(error, text, "a vertex needs three finite numbers, got \"%.*s\"",
                                  (int)(word.length < 40 ? word.length : 40), word.start);
        }
    }
    if (!itm_mesh_list_add_vertex(list, (ItmVec3){x[0], x[1], x[2]})) {
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "no memory for the mesh");
    }
    return ITM_OK;
}
