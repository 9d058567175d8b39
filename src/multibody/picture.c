#include "multibody/picture.h"

#include <stdlib.h>
#include <string.h>

#define STATIONS 33     // of a beam: some sixteen to a wave of its fourth mode
#define MOST_NODES 600  // of a finite element model
#define MOST_EDGES 4000

void itm_picture_free(ItmElasticPicture* picture)
{
    free(picture->points);
    free(picture->shapes);
    free(picture->edges);
    *picture = (ItmElasticPicture){0};
}

static ItmStatus allocate(ItmElasticPicture* picture, int npoint, int nedge, int n)
{
    picture->points = calloc((size_t)npoint + 1, sizeof *picture->points);
    picture->shapes = calloc((size_t)npoint * (size_t)n + 1, sizeof *picture->shapes);
    picture->edges = calloc(2 * (size_t)nedge + 1, sizeof *picture->edges);
    bool has_failed = picture->points == NULL || picture->shapes == NULL || picture->edges == NULL;
    return has_failed ? ITM_ERR_MEMORY : ITM_OK;
}

// ---------------------------------------------------------------------------- beams

ItmStatus itm_picture_make_beam(ItmElasticPicture* picture, const ItmBeam* beam)
{
    const ItmBeamDef* def = itm_beam_get_def(beam);
    int n = itm_beam_count_modes(beam);
    picture->is_beam = true;
    picture->is_round = def->is_round;
    // a rectangle b x h has I = A h^2 / 12
    picture->width_y = def->width_y > 0.0 ? def->width_y : sqrt(12.0 * def->moment_z / def->area);
    picture->width_z = def->width_z > 0.0 ? def->width_z : sqrt(12.0 * def->moment_y / def->area);
    ItmStatus status = allocate(picture, STATIONS, 0, n);
    for (int i = 0; i < STATIONS && status == ITM_OK; i++) {
        double x = def->length * i / (STATIONS - 1);
        picture->points[i] = itm_vec(x, 0, 0);
        itm_beam_compute_shape(beam, picture->shapes + i * n, x);
    }
    picture->npoint = status == ITM_OK ? STATIONS : 0;
    return status;
}

// ---------------------------------------------------------------------------- finite element models

static int compare_edges(const void* a, const void* b)
{
    const int *x = a, *y = b;
    return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

// Pairs of nodes that an entry of K couples, each once; their number. edges (2 nentry)
static int find_edges(int* edges, const ItmSparseDef* K, int per_node)
{
    int n = 0, kept = 0;
    for (int i = 0; i < K->nentry; i++) {
        int a = K->row[i] / per_node, b = K->column[i] / per_node;
        if (a != b && K->value[i] != 0.0) {
            edges[2 * n] = a < b ? a : b;
            edges[2 * n++ + 1] = a < b ? b : a;
        }
    }
    qsort(edges, (size_t)n, 2 * sizeof *edges, compare_edges);
    for (int i = 0; i < n; i++) {
        if (i == 0 || compare_edges(edges + 2 * i, edges + 2 * i - 2) != 0) {
            memmove(edges + 2 * kept++, edges + 2 * i, 2 * sizeof *edges);
        }
    }
    return kept;
}

// Edges between nodes that are all shown; those of very large models would be a tangle and are left out.
static ItmStatus add_edges(ItmElasticPicture* picture, const ItmModalDef* def, int first_node)
{
    int* edges = malloc(2 * ((size_t)def->stiffness.nentry + 1) * sizeof *edges);
    if (edges == NULL) {
        return ITM_ERR_MEMORY;
    }
    int count = find_edges(edges, &def->stiffness, def->mass.n / def->nnode);
    if (count <= MOST_EDGES) {
        for (int i = 0; i < 2 * count; i++) {
            picture->edges[i] = first_node + edges[i];
        }
        picture->nedge = count;
    }
    free(edges);
    return ITM_OK;
}

ItmStatus itm_picture_make_nodes(ItmElasticPicture* picture, const ItmModalDef* def, const double* U, int n,
                                 const ItmPictureFaces* faces)
{
    int rows = def->mass.n, per_node = rows / def->nnode;
    int stride = 1 + (def->nnode - 1) / MOST_NODES, shown = 1 + (def->nnode - 1) / stride;
    ItmStatus status = allocate(picture, faces->count + shown, stride == 1 ? MOST_EDGES : 0, n);
    if (status != ITM_OK) {
        return status;
    }
    memcpy(picture->points, faces->origins, (size_t)faces->count * sizeof *picture->points);
    memcpy(picture->shapes, faces->shapes, (size_t)(faces->count * n) * sizeof *picture->shapes);
    picture->npoint = faces->count;
    for (int i = 0; i < def->nnode; i += stride) {
        picture->points[picture->npoint] = def->nodes[i];
        for (int k = 0; k < n; k++) {
            const double* u = U + (size_t)k * (size_t)rows + (size_t)(i * per_node);
            picture->shapes[picture->npoint * n + k].lin = itm_vec(u[0], u[1], u[2]);
        }
        picture->npoint++;
    }
    return stride == 1 ? add_edges(picture, def, faces->count) : ITM_OK;
}

// ---------------------------------------------------------------------------- models

ItmStatus itm_picture_copy(ItmElasticPicture* to, const ItmElasticPicture* from, ItmModel* m, int n)
{
    size_t npoint = (size_t)from->npoint, nshape = npoint * (size_t)n, nend = 2 * (size_t)from->nedge;
    *to = *from;
    to->points = itm_model_take(m, npoint, sizeof *to->points);
    to->shapes = itm_model_take(m, nshape, sizeof *to->shapes);
    to->edges = itm_model_take(m, nend, sizeof *to->edges);
    if (to->points == NULL || to->shapes == NULL || to->edges == NULL) {
        return ITM_ERR_MEMORY;
    }
    memcpy(to->points, from->points, npoint * sizeof *to->points);
    memcpy(to->shapes, from->shapes, nshape * sizeof *to->shapes);
    memcpy(to->edges, from->edges, nend * sizeof *to->edges);
    return ITM_OK;
}
