// What stands behind `box`, `sphere`, `mesh`, ... of a shape.
#include "io/model/read_shape.h"

#include "base/error.h"
#include "io/geometry/height_file.h"
#include "math/vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// clang-format off
const char* const itm_shape_kind_keys[ITM_COLLIDER_KIND_COUNT] = {
    [ITM_COLLIDER_BOX] = "box",           [ITM_COLLIDER_SPHERE] = "sphere",
    [ITM_COLLIDER_CYLINDER] = "cylinder", [ITM_COLLIDER_CAPSULE] = "capsule",
    [ITM_COLLIDER_PLANE] = "plane",       [ITM_COLLIDER_HULL] = "hull",
    [ITM_COLLIDER_MESH] = "mesh",         [ITM_COLLIDER_HEIGHTS] = "heights",
};
// clang-format on

// ---------------------------------------------------------------------------- simple solids

static void read_box(ItmReader* r, const ItmNode* node, ItmColliderDef* def)
{
    ItmVec3 size = itm_reader_get_vec(r, node, ITM_DIM_LENGTH, itm_vec(1, 1, 1));
    def->size[0] = size.x;
    def->size[1] = size.y;
    def->size[2] = size.z;
}

static void read_round(ItmReader* r, const ItmNode* node, ItmColliderDef* def)
{
    static const char* const SIZES[] = {"radius", "length"};
    const ItmNode* v[2];
    itm_reader_get_map(r, node, "a cylinder or capsule", SIZES, 2, v);
    for (int i = 0; i < 2; i++) {
        itm_reader_require(r, node, v[i], "a cylinder or capsule", SIZES[i]);
        def->size[i] = itm_reader_get_real(r, v[i], ITM_DIM_LENGTH, 1.0);
    }
}

// The outward normal becomes the z axis of the shape's frame.
static void read_plane(ItmReader* r, const ItmNode* node, ItmColliderDef* def)
{
    ItmVec3 normal = itm_reader_get_vec(r, node, ITM_DIM_ONE, itm_vec(0, 0, 1));
    ItmPose turned = itm_pose_identity();
    if (r->status != ITM_OK) {
        return;
    }
    ItmStatus status = itm_model_frame_from_axis(&turned, itm_vec(0, 0, 0), normal, itm_vec(0, 0, 0), r->error);
    itm_reader_take(r, status, node, NULL, 0);
    def->pose = itm_pose_mul(def->pose, turned);
}

// ---------------------------------------------------------------------------- lists

// Whether a node is a list; complains otherwise.
static bool is_list(ItmReader* r, const ItmNode* node, const char* expected)
{
    if (r->status == ITM_OK && node->kind != ITM_NODE_LIST) {
        char found[64];
        itm_reader_fail(r, node, "expected %s, found %s", expected, itm_document_describe(node, found, sizeof found));
    }
    return r->status == ITM_OK;
}

static void read_vertices(ItmReader* r, const ItmNode* node, ItmMesh* mesh)
{
    if (!is_list(r, node, "a list of points [x, y, z]") ||
        (mesh->vertices = itm_reader_take_array(r, node->count, sizeof *mesh->vertices)) == NULL) {
        return;
    }
    for (const ItmItem* item = node->first; item != NULL; item = item->next) {
        mesh->vertices[mesh->nvertex++] = itm_reader_get_vec(r, item->value, ITM_DIM_LENGTH, itm_vec(0, 0, 0));
    }
}

static void read_triangle(ItmReader* r, const ItmNode* node, ItmMesh* mesh)
{
    if (!is_list(r, node, "three numbers of vertices [a, b, c]") || node->count != 3) {
        itm_reader_fail(r, node, "a triangle has three corners, found %d", node->count);
        return;
    }
    int* corner = mesh->triangles + 3 * (size_t)mesh->ntriangle++;
    for (const ItmItem* item = node->first; item != NULL; item = item->next) {
        *corner++ = itm_reader_get_int(r, item->value, 0, mesh->nvertex - 1, 0);
    }
}

static void read_triangles(ItmReader* r, const ItmNode* node, ItmMesh* mesh)
{
    if (!is_list(r, node, "a list of triangles [a, b, c]") ||
        (mesh->triangles = itm_reader_take_array(r, 3 * node->count, sizeof *mesh->triangles)) == NULL) {
        return;
    }
    for (const ItmItem* item = node->first; item != NULL && r->status == ITM_OK; item = item->next) {
        read_triangle(r, item->value, mesh);
    }
}

// ---------------------------------------------------------------------------- files

// Path and scale of a file that a shape names; NULL after an error. The caller frees it.
static char* get_file(ItmReader* r, const ItmNode* file, const ItmNode* scale_node, const char* what, double* scale)
{
    const char* name = itm_reader_get_text(r, file, what);
    *scale = itm_reader_get_real(r, scale_node, ITM_DIM_ONE, 1.0);
    if (r->status == ITM_OK && !(*scale > 0)) {
        itm_reader_fail(r, scale_node, "scale must be positive, got %g", *scale);
    }
    return name != NULL && r->status == ITM_OK ? itm_reader_make_path(r, name) : NULL;
}

// What a file has wrong, with its line.
static void fail_file(ItmReader* r, const ItmNode* file, const char* what, const ItmError* error)
{
    char line[48] = "";
    if (error->line > 0 && error->column > 0) {
        snprintf(line, sizeof line, ":%d:%d", error->line, error->column);
    } else if (error->line > 0) {
        snprintf(line, sizeof line, ":%d", error->line);
    }
    itm_reader_fail(r, file, "%s file '%.200s'%s: %s", what, file->text, line, error->message);
}

static void read_mesh_file(ItmReader* r, const ItmNode* file, const ItmNode* scale_node, ItmMesh* mesh)
{
    double scale;
    char* path = get_file(r, file, scale_node, "the name of an STL or OBJ file", &scale);
    ItmError error = {0};
    if (path != NULL && itm_mesh_read(mesh, path, scale, &error) != ITM_OK) {
        fail_file(r, file, "mesh", &error);
    }
    free(path);
}

// {file, scale}, or {vertices} and for a mesh {triangles}.
static void read_mesh(ItmReader* r, const ItmNode* node, ItmShapeText* shape)
{
    enum { FILE_NAME, SCALE, VERTICES, TRIANGLES, NKEY };
    static const char* const KEYS[NKEY] = {"file", "scale", "vertices", "triangles"};
    const ItmNode* v[NKEY];
    bool is_mesh = shape->def.kind == ITM_COLLIDER_MESH;
    const char* what = is_mesh ? "a mesh" : "a hull";
    itm_reader_get_map(r, node, what, KEYS, is_mesh ? NKEY : TRIANGLES, v);
    if (r->status == ITM_OK && (v[FILE_NAME] != NULL) == (v[VERTICES] != NULL)) {
        itm_reader_fail(r, node, "%s needs either a file or vertices", what);
    }
    if (r->status == ITM_OK && v[FILE_NAME] != NULL) {
        read_mesh_file(r, v[FILE_NAME], v[SCALE], &shape->mesh);
    } else if (r->status == ITM_OK) {
        if (v[SCALE] != NULL) {
            itm_reader_fail(r, v[SCALE], "only a file is scaled; vertices have units");
        }
        read_vertices(r, v[VERTICES], &shape->mesh);
        if (is_mesh) {
            itm_reader_require(r, node, v[TRIANGLES], "a mesh of vertices", "triangles");
        }
    }
    if (r->status == ITM_OK && is_mesh && v[TRIANGLES] != NULL) {
        read_triangles(r, v[TRIANGLES], &shape->mesh);
    }
    shape->def.vertices = shape->mesh.vertices;
    shape->def.nvertex = shape->mesh.nvertex;
    shape->def.triangles = is_mesh ? shape->mesh.triangles : NULL;
    shape->def.ntriangle = is_mesh ? shape->mesh.ntriangle : 0;
}

// ---------------------------------------------------------------------------- heights

static void read_height_row(ItmReader* r, const ItmNode* node, ItmShapeText* shape, int row)
{
    int nx = shape->def.nx;
    if (!is_list(r, node, "a row of heights") || node->count != nx) {
        itm_reader_fail(r, node, "every row of heights is as long as the first, %d; found %d", nx, node->count);
        return;
    }
    double* height = shape->heights + (size_t)row * (size_t)nx;
    for (const ItmItem* item = node->first; item != NULL; item = item->next) {
        *height++ = itm_reader_get_real(r, item->value, ITM_DIM_LENGTH, 0.0);
    }
}

static void read_height_rows(ItmReader* r, const ItmNode* node, ItmShapeText* shape)
{
    static const char* const EXPECTED = "a list of rows [[h, h, ...], ...]";
    if (!is_list(r, node, EXPECTED) || node->count == 0 || !is_list(r, node->first->value, EXPECTED)) {
        itm_reader_fail(r, node, "heights need at least 2 rows of 2");
        return;
    }
    shape->def.nx = node->first->value->count;
    shape->def.ny = node->count;
    // the list has at least as many values as a true grid
    if ((double)shape->def.nx * shape->def.ny > node->size) {
        itm_reader_fail(r, node, "every row of heights is as long as the first, %d", shape->def.nx);
        return;
    }
    shape->heights = itm_reader_take_array(r, shape->def.nx * shape->def.ny, sizeof(double));
    int row = 0;
    for (const ItmItem* item = node->first; item != NULL && r->status == ITM_OK; item = item->next) {
        read_height_row(r, item->value, shape, row++);
    }
    shape->def.heights = shape->heights;
}

static void read_height_file(ItmReader* r, const ItmNode* file, const ItmNode* scale_node, ItmShapeText* shape)
{
    double scale;
    char* path = get_file(r, file, scale_node, "the name of a CSV file", &scale);
    ItmHeightFile table = {0};
    ItmError error = {0};
    if (path != NULL && itm_height_file_read(&table, path, scale, &error) != ITM_OK) {
        fail_file(r, file, "height", &error);
    }
    free(path);
    shape->heights = table.values;
    shape->def.heights = table.values;
    shape->def.nx = table.nx;
    shape->def.ny = table.ny;
}

// {size, values} or {size, file, scale}.
static void read_heights(ItmReader* r, const ItmNode* node, ItmShapeText* shape)
{
    enum { SIZE, VALUES, FILE_NAME, SCALE, NKEY };
    static const char* const KEYS[NKEY] = {"size", "values", "file", "scale"};
    const ItmNode* v[NKEY];
    itm_reader_get_map(r, node, "heights", KEYS, NKEY, v);
    itm_reader_require(r, node, v[SIZE], "heights", KEYS[SIZE]);
    if (r->status == ITM_OK && (v[FILE_NAME] != NULL) == (v[VALUES] != NULL)) {
        itm_reader_fail(r, node, "heights need either a file or values");
    }
    if (r->status == ITM_OK && v[SCALE] != NULL && v[FILE_NAME] == NULL) {
        itm_reader_fail(r, v[SCALE], "only a file is scaled; values have units");
    }
    if (r->status != ITM_OK) {
        return;
    }
    if (v[0]->kind != ITM_NODE_LIST || v[0]->count != 2) {
        itm_reader_fail(r, v[0], "expected the extent [x, y] of the heights");
        return;
    }
    shape->def.size[0] = itm_reader_get_real(r, v[0]->first->value, ITM_DIM_LENGTH, 1.0);
    shape->def.size[1] = itm_reader_get_real(r, v[0]->last->value, ITM_DIM_LENGTH, 1.0);
    if (v[FILE_NAME] != NULL) {
        read_height_file(r, v[FILE_NAME], v[SCALE], shape);
    } else {
        read_height_rows(r, v[VALUES], shape);
    }
}

// ---------------------------------------------------------------------------- all kinds

void itm_read_shape_kind(ItmReader* r, const ItmNode* node, ItmColliderKind kind, ItmShapeText* shape)
{
    shape->kind = node;
    shape->def.kind = kind;
    switch (kind) {
    case ITM_COLLIDER_BOX:
        read_box(r, node, &shape->def);
        break;
    case ITM_COLLIDER_SPHERE:
        shape->def.size[0] = itm_reader_get_real(r, node, ITM_DIM_LENGTH, 1.0);
        break;
    case ITM_COLLIDER_CYLINDER:
    case ITM_COLLIDER_CAPSULE:
        read_round(r, node, &shape->def);
        break;
    case ITM_COLLIDER_PLANE:
        read_plane(r, node, &shape->def);
        break;
    case ITM_COLLIDER_HULL:
    case ITM_COLLIDER_MESH:
        read_mesh(r, node, shape);
        break;
    case ITM_COLLIDER_HEIGHTS:
    case ITM_COLLIDER_KIND_COUNT:
        read_heights(r, node, shape);
        break;
    }
}
