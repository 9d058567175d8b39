// Growing lists of vertices and triangles, shared by the mesh readers.
#ifndef ITM_IO_GEOMETRY_MESH_LIST_H
#define ITM_IO_GEOMETRY_MESH_LIST_H

#include "io/geometry/mesh.h"
#include "io/words.h"

typedef struct ItmMeshList {
    ItmMesh mesh;
    int vertex_capacity, triangle_capacity;
} ItmMeshList;

// False without memory or above ITM_MESH_MAX_TRIANGLES.
bool itm_mesh_list_add_vertex(ItmMeshList* list, ItmVec3 p);
bool itm_mesh_list_add_triangle(ItmMeshList* list, int a, int b, int c);

// Add the vertex whose three coordinates come next.
ItmStatus itm_mesh_list_parse_vertex(ItmMeshList* list, ItmWords* text, ItmError* error);

#endif
