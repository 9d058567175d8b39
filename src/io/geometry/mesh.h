// Triangle meshes from STL (text and binary) and Wavefront OBJ files. The files are not trusted: sizes,
// indices and numbers are checked, and an error gives the place (line, or byte of a binary file).
#ifndef ITM_IO_GEOMETRY_MESH_H
#define ITM_IO_GEOMETRY_MESH_H

#include "interim/base.h"

#define ITM_MESH_MAX_BYTES ((size_t)1 << 30)
#define ITM_MESH_MAX_TRIANGLES 20000000

typedef struct ItmMesh {
    int nvertex, ntriangle;
    ItmVec3* vertices;  // (nvertex)      in the file's unit
    int* triangles;     // (3 ntriangle)  indices of vertices
} ItmMesh;

// By content: "solid", an exact binary size, or OBJ where the path ends in .obj. Vertices at one place are
// one vertex. `scale` multiplies all coordinates (0.001 for a file in millimetres).
ItmStatus itm_mesh_read(ItmMesh* mesh, const char* path, double scale, ItmError* error);

// The same from memory; `name` is used in messages. Unwelded.
ItmStatus itm_mesh_parse_stl(ItmMesh* mesh, const char* bytes, size_t length, const char* name, ItmError* error);
ItmStatus itm_mesh_parse_obj(ItmMesh* mesh, const char* bytes, size_t length, const char* name, ItmError* error);

// Join vertices that are equal, or (distance > 0) equal when rounded to a grid of that width; drop triangles that
// use one vertex twice. Vertices keep the order of their first appearance.
ItmStatus itm_mesh_weld(ItmMesh* mesh, double distance, ItmError* error);

void itm_mesh_free(ItmMesh* mesh);

#endif
