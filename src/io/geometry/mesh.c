#include "io/geometry/mesh.h"

#include "base/error.h"
#include "io/words.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void itm_mesh_free(ItmMesh* mesh)
{
    free(mesh->vertices);
    free(mesh->triangles);
    *mesh = (ItmMesh){0};
}

// ---------------------------------------------------------------------------- welding

typedef struct Cell {
    double x, y, z;  // coordinates, rounded to the grid
} Cell;

static Cell find_cell(ItmVec3 p, double distance)
{
    // adding 0 makes -0 and 0 one place
    if (!(distance > 0)) {
        return (Cell){p.x + 0.0, p.y + 0.0, p.z + 0.0};
    }
    return (Cell){floor(p.x / distance + 0.5) + 0.0, floor(p.y / distance + 0.5) + 0.0,
                  floor(p.z / distance + 0.5) + 0.0};
}

static uint64_t hash_cell(const Cell* cell)
{
    uint64_t bits[3], h = 0;
    memcpy(bits, cell, sizeof bits);
    for (int i = 0; i < 3; i++) {
        h = (h ^ bits[i]) * 0x9e3779b97f4a7c15ULL;
        h ^= h >> 29;
    }
    return h;
}

static void replace_corners(ItmMesh* mesh, const int* number)
{
    int kept = 0;
    for (int t = 0; t < mesh->ntriangle; t++) {
        const int* old = mesh->triangles + 3 * (size_t)t;
        int a = number[old[0]], b = number[old[1]], c = number[old[2]];
        if (a != b && b != c && c != a) {
            int* t_new = mesh->triangles + 3 * (size_t)kept++;
            t_new[0] = a;
            t_new[1] = b;
            t_new[2] = c;
        }
    }
    mesh->ntriangle = kept;
}

ItmStatus itm_mesh_weld(ItmMesh* mesh, double distance, ItmError* error)
{
    size_t nslot = 64;
    while (nslot < 2 * (size_t)mesh->nvertex) {
        nslot *= 2;
    }
    int* slots = malloc(nslot * sizeof(int));  // open addressing: new vertex at a slot, or ITM_NONE
    int* number = malloc(((size_t)mesh->nvertex + 1) * sizeof(int));
    Cell* cells = malloc(((size_t)mesh->nvertex + 1) * sizeof(Cell));
    if (slots == NULL || number == NULL || cells == NULL) {
        free(slots);
        free(number);
        free(cells);
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "no memory to weld %d vertices", mesh->nvertex);
    }
    memset(slots, 0xff, nslot * sizeof(int));
    int kept = 0;
    for (int i = 0; i < mesh->nvertex; i++) {
        Cell cell = find_cell(mesh->vertices[i], distance);
        size_t slot = hash_cell(&cell) & (nslot - 1);
        while (slots[slot] != ITM_NONE && memcmp(&cells[slots[slot]], &cell, sizeof cell) != 0) {
            slot = (slot + 1) & (nslot - 1);
        }
        if (slots[slot] == ITM_NONE) {
            slots[slot] = kept;
            cells[kept] = cell;
            mesh->vertices[kept++] = mesh->vertices[i];
        }
        number[i] = slots[slot];
    }
    mesh->nvertex = kept;
    replace_corners(mesh, number);
    free(slots);
    free(number);
    free(cells);
    return ITM_OK;
}

// ---------------------------------------------------------------------------- files

static bool ends_in_obj(const char* path)
{
    size_t n = strlen(path);
    return n >= 4 && path[n - 4] == '.' && (path[n - 3] | 32) == 'o' && (path[n - 2] | 32) == 'b' &&
           (path[n - 1] | 32) == 'j';
}

static void scale_vertices(ItmMesh* mesh, double scale)
{
    for (int i = 0; i < mesh->nvertex; i++) {
        ItmVec3* p = &mesh->vertices[i];
        *p = (ItmVec3){scale * p->x, scale * p->y, scale * p->z};
    }
}

ItmStatus itm_mesh_read(ItmMesh* mesh, const char* path, double scale, ItmError* error)
{
    *mesh = (ItmMesh){0};
    if (!(scale > 0 && scale < 1e100)) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, "scale", "scale must be positive, got %g", scale);
    }
    size_t length;
    char* bytes;
    ItmStatus status = itm_words_read(&bytes, &length, path, ITM_MESH_MAX_BYTES, error);
    if (status != ITM_OK) {
        return status;
    }
    status = ends_in_obj(path) ? itm_mesh_parse_obj(mesh, bytes, length, path, error)
                               : itm_mesh_parse_stl(mesh, bytes, length, path, error);
    free(bytes);
    if (status == ITM_OK) {
        scale_vertices(mesh, scale);
        status = itm_mesh_weld(mesh, 0, error);
    }
    if (status != ITM_OK) {
        itm_mesh_free(mesh);
    }
    return status;
}
