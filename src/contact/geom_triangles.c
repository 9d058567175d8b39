// Meshes and height fields as numbered triangles: corners, neighbours, and a search by box.
#include "contact/geom.h"

#include "base/error.h"

#include <stdint.h>
#include <stdlib.h>

#define LEAF_SIZE 4
#define STACK_SIZE 64  // depth of a median-split tree over 2^28 triangles is below this

// ---------------------------------------------------------------------------- neighbours

typedef struct Edge {
    int lo, hi;  // vertices
    int triangle, side;
    bool is_forward;  // the triangle runs from lo to hi
} Edge;

static int compare_edges(const void* a, const void* b)
{
    const Edge *p = a, *q = b;
    if (p->lo != q->lo) {
        return p->lo < q->lo ? -1 : 1;
    }
    if (p->hi != q->hi) {
        return p->hi < q->hi ? -1 : 1;
    }
    return p->triangle != q->triangle ? p->triangle - q->triangle : p->side - q->side;
}

// Two triangles that run along an edge in opposite directions are neighbours; any other number is a
// border, and the mesh encloses nothing.
static void match_edges(ItmMeshGeom* mesh, const Edge* edges, int nedge)
{
    mesh->is_closed = true;
    for (int begin = 0, end; begin < nedge; begin = end) {
        end = begin + 1;
        while (end < nedge && edges[end].lo == edges[begin].lo && edges[end].hi == edges[begin].hi) {
            end++;
        }
        const Edge *a = &edges[begin], *b = &edges[end - 1];
        if (end - begin == 2 && a->is_forward != b->is_forward) {
            mesh->across[3 * a->triangle + a->side] = b->triangle;
            mesh->across[3 * b->triangle + b->side] = a->triangle;
        } else {
            mesh->is_closed = false;
        }
    }
}

static void find_neighbours(ItmMeshGeom* mesh, Edge* edges)
{
    int nedge = 3 * mesh->ntriangle;
    for (int e = 0; e < nedge; e++) {
        int t = e / 3, side = e % 3;
        int from = mesh->triangles[e], to = mesh->triangles[3 * t + (side + 1) % 3];
        edges[e] = (Edge){from < to ? from : to, from < to ? to : from, t, side, from < to};
        mesh->across[e] = ITM_NONE;
    }
    qsort(edges, (size_t)nedge, sizeof *edges, compare_edges);
    match_edges(mesh, edges, nedge);
}

// ---------------------------------------------------------------------------- tree

typedef struct Item {
    double key;  // middle of the triangle along the axis being split
    int triangle;
} Item;

static int compare_items(const void* a, const void* b)
{
    const Item *p = a, *q = b;
    if (p->key != q->key) {
        return p->key < q->key ? -1 : 1;
    }
    return p->triangle - q->triangle;
}

static ItmAabb triangle_box(const ItmMeshGeom* mesh, int t)
{
    ItmVec3 a = mesh->vertices[mesh->triangles[3 * t]];
    ItmAabb box = {a, a};
    for (int k = 1; k < 3; k++) {
        ItmVec3 p = mesh->vertices[mesh->triangles[3 * t + k]];
        box = itm_aabb_join(box, (ItmAabb){p, p});
    }
    return box;
}

// Sort the triangles of a node along its longest side, so that halving the list halves the node.
static void sort_along_longest(const ItmMeshGeom* mesh, const ItmBvhNode* node, Item* items)
{
    ItmVec3 side = itm_vec_sub(node->box.hi, node->box.lo);
    int axis = side.x >= side.y && side.x >= side.z ? 0 : side.y >= side.z ? 1 : 2;
    for (int i = 0; i < node->count; i++) {
        int t = mesh->order[node->first + i];
        ItmAabb box = triangle_box(mesh, t);
        items[i] = (Item){itm_vec_get(box.lo, axis) + itm_vec_get(box.hi, axis), t};
    }
    qsort(items, (size_t)node->count, sizeof *items, compare_items);
    for (int i = 0; i < node->count; i++) {
        mesh->order[node->first + i] = items[i].triangle;
    }
}

static void enclose(const ItmMeshGeom* mesh, ItmBvhNode* node)
{
    node->box = triangle_box(mesh, mesh->order[node->first]);
    for (int i = 1; i < node->count; i++) {
        node->box = itm_aabb_join(node->box, triangle_box(mesh, mesh->order[node->first + i]));
    }
}

// Nodes are split in the order they are made, halves of equal count.
static void grow_tree(ItmMeshGeom* mesh, Item* items)
{
    mesh->nodes[0] = (ItmBvhNode){.first = 0, .count = mesh->ntriangle};
    mesh->nnode = 1;
    enclose(mesh, &mesh->nodes[0]);
    for (int k = 0; k < mesh->nnode; k++) {
        ItmBvhNode* node = &mesh->nodes[k];
        if (node->count <= LEAF_SIZE) {
            continue;
        }
        sort_along_longest(mesh, node, items);
        int half = node->count / 2, child = mesh->nnode;
        mesh->nodes[child] = (ItmBvhNode){.first = node->first, .count = half};
        mesh->nodes[child + 1] = (ItmBvhNode){.first = node->first + half, .count = node->count - half};
        enclose(mesh, &mesh->nodes[child]);
        enclose(mesh, &mesh->nodes[child + 1]);
        *node = (ItmBvhNode){node->box, child, 0};
        mesh->nnode += 2;
    }
}

ItmStatus itm_geom_index_mesh(ItmMeshGeom* mesh, ItmError* error)
{
    size_t n = (size_t)mesh->ntriangle;
    Edge* edges = malloc(3 * n * sizeof *edges);
    Item* items = malloc(n * sizeof *items);
    mesh->across = malloc(3 * n * sizeof(int));
    mesh->order = malloc(n * sizeof(int));
    mesh->nodes = malloc(2 * n * sizeof(ItmBvhNode));
    bool has_memory =
        edges != NULL && items != NULL && mesh->across != NULL && mesh->order != NULL && mesh->nodes != NULL;
    if (has_memory) {
        find_neighbours(mesh, edges);
        for (int t = 0; t < mesh->ntriangle; t++) {
            mesh->order[t] = t;
        }
        grow_tree(mesh, items);
    }
    free(edges);
    free(items);
    return has_memory ? ITM_OK
                      : itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "no memory for a mesh of %d triangles",
                                      mesh->ntriangle);
}

static void visit_mesh(const ItmMeshGeom* mesh, const ItmAabb* box, void (*visit)(void*, int), void* context)
{
    int stack[STACK_SIZE], depth = 0;
    stack[depth++] = 0;
    while (depth > 0) {
        const ItmBvhNode* node = &mesh->nodes[stack[--depth]];
        if (!itm_aabb_overlap(&node->box, box)) {
            continue;
        }
        if (node->count == 0) {
            stack[depth++] = node->first + 1;
            stack[depth++] = node->first;
        }
        for (int i = 0; i < node->count; i++) {
            ItmAabb own = triangle_box(mesh, mesh->order[node->first + i]);
            if (itm_aabb_overlap(&own, box)) {
                visit(context, mesh->order[node->first + i]);
            }
        }
    }
}

// ---------------------------------------------------------------------------- height field

// Cell (i, j) has the triangles 2 c and 2 c + 1, c = j (nx - 1) + i:
// lower right (i, j) (i+1, j) (i+1, j+1), and upper left (i, j) (i+1, j+1) (i, j+1).
static void get_field_triangle(ItmVec3 corner[3], int id[3], const ItmFieldGeom* field, int triangle)
{
    static const int DI[2][3] = {{0, 1, 1}, {0, 1, 0}}, DJ[2][3] = {{0, 0, 1}, {0, 1, 1}};
    int cell = triangle / 2, half = triangle % 2;
    int i = cell % (field->nx - 1), j = cell / (field->nx - 1);
    for (int k = 0; k < 3; k++) {
        int ci = i + DI[half][k], cj = j + DJ[half][k];
        id[k] = cj * field->nx + ci;
        corner[k] = itm_vec(ci * field->dx, cj * field->dy, field->heights[id[k]]);
    }
}

static int get_field_across(const ItmFieldGeom* field, int triangle, int edge)
{
    int columns = field->nx - 1, rows = field->ny - 1;
    int cell = triangle / 2, i = cell % columns, j = cell / columns;
    if (triangle % 2 == 0) {
        switch (edge) {
        case 0:  // below
            return j > 0 ? 2 * (cell - columns) + 1 : ITM_NONE;
        case 1:  // to the right
            return i + 1 < columns ? 2 * (cell + 1) + 1 : ITM_NONE;
        default:
            return triangle + 1;
        }
    }
    switch (edge) {
    case 0:
        return triangle - 1;
    case 1:  // above
        return j + 1 < rows ? 2 * (cell + columns) : ITM_NONE;
    default:  // to the left
        return i > 0 ? 2 * (cell - 1) : ITM_NONE;
    }
}

// Cells lo .. hi that overlap an interval, of n cells of width d. Also right for infinite intervals.
static void cell_range(int* first, int* last, double lo, double hi, double d, int n)
{
    *first = (int)fmin(fmax(floor(lo / d), 0), n);
    *last = (int)fmin(fmax(floor(hi / d), -1), n - 1);
}

static void visit_field(const ItmGeom* geom, const ItmAabb* box, void (*visit)(void*, int), void* context)
{
    const ItmFieldGeom* field = &geom->field;
    int i0, i1, j0, j1;
    cell_range(&i0, &i1, box->lo.x, box->hi.x, field->dx, field->nx - 1);
    cell_range(&j0, &j1, box->lo.y, box->hi.y, field->dy, field->ny - 1);
    for (int j = j0; j <= j1; j++) {
        for (int i = i0; i <= i1; i++) {
            for (int half = 0; half < 2; half++) {
                ItmVec3 corner[3];
                int id[3], triangle = 2 * (j * (field->nx - 1) + i) + half;
                get_field_triangle(corner, id, field, triangle);
                double lowest = fmin(corner[0].z, fmin(corner[1].z, corner[2].z));
                double highest = fmax(corner[0].z, fmax(corner[1].z, corner[2].z));
                if (lowest <= box->hi.z && highest >= box->lo.z) {
                    visit(context, triangle);
                }
            }
        }
    }
}

// ---------------------------------------------------------------------------- both

void itm_geom_get_triangle(ItmVec3 corner[3], int id[3], const ItmGeom* geom, int triangle)
{
    if (geom->kind == ITM_GEOM_FIELD) {
        get_field_triangle(corner, id, &geom->field, triangle);
        return;
    }
    for (int k = 0; k < 3; k++) {
        id[k] = geom->mesh.triangles[3 * triangle + k];
        corner[k] = geom->mesh.vertices[id[k]];
    }
}

int itm_geom_get_across(const ItmGeom* geom, int triangle, int edge)
{
    if (geom->kind == ITM_GEOM_FIELD) {
        return get_field_across(&geom->field, triangle, edge);
    }
    return geom->mesh.across[3 * triangle + edge];
}

void itm_geom_visit_triangles(const ItmGeom* geom, const ItmAabb* box, void (*visit)(void* context, int triangle),
                              void* context)
{
    if (geom->kind == ITM_GEOM_FIELD) {
        visit_field(geom, box, visit, context);
    } else if (geom->kind == ITM_GEOM_MESH) {
        visit_mesh(&geom->mesh, box, visit, context);
    }
}
