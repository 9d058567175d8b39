// Growing lists of vertices and triangles, and words of a text, shared by the mesh readers.
#ifndef ITM_IO_MESH_LIST_H
#define ITM_IO_MESH_LIST_H

#include "io/mesh.h"

typedef struct ItmMeshList {
    ItmMesh mesh;
    int vertex_capacity, triangle_capacity;
} ItmMeshList;

// False without memory or above ITM_MESH_MAX_TRIANGLES.
bool itm_mesh_list_add_vertex(ItmMeshList* list, ItmVec3 p);
bool itm_mesh_list_add_triangle(ItmMeshList* list, int a, int b, int c);

// Text cut into words, line by line.
typedef struct ItmMeshText {
    const char* at;
    const char* end;
    const char* name;
    int line;
} ItmMeshText;

typedef struct ItmMeshWord {
    const char* start;
    size_t length;  // 0: none left on the line
} ItmMeshWord;

// The next word of this line.
ItmMeshWord itm_mesh_next_word(ItmMeshText* text);
// Go to the next line; false at the end.
bool itm_mesh_next_line(ItmMeshText* text);
// Without regard to case; expected is in lower case.
bool itm_mesh_word_is(ItmMeshWord word, const char* expected);
// A finite decimal number.
bool itm_mesh_word_to_real(double* value, ItmMeshWord word);

// ITM_ERR_INPUT with file and line.
ItmStatus itm_mesh_fail(ItmError* error, const ItmMeshText* text, const char* format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

#endif
