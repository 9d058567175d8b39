#include "multibody/loops.h"

#include <stdlib.h>

// The world, bodies and what connects them: blocks of rows first, then the mobilizers of bodies that are not free.
enum { MOST_NODES = ITM_BLOCK_BODIES + 2 * ITM_BLOCK_DOFS + 1 };

typedef struct Graph {
    const ItmModel* m;
    int* body_of;  // body that a velocity moves                                        (nv)
    int* degree;   // connections of a body                                             (nbody)
    long* sum;     // of the numbers of these connections: of the last one, its number  (nbody)
    int* leaf;     // bodies with one connection that still have to be taken off        (nbody)
    int nleaf;
} Graph;

// Adds a body once; the world, which nothing takes off, is left out.
static int add_node(int* node, int n, int body)
{
    for (int i = 0; i < n; i++) {
        if (node[i] == body) {
            return n;
        }
    }
    if (body != ITM_NONE) {
        node[n++] = body;
    }
    return n;
}

// Bodies of a connection. Returns their number.
static int get_nodes(const Graph* g, int connection, int node[MOST_NODES])
{
    const ItmModel* m = g->m;
    int n = 0;
    if (connection >= m->nblock) {
        int body = connection - m->nblock;
        return m->bodies[body].mobility == ITM_MOBILIZER_FREE
                   ? 0
                   : add_node(node, add_node(node, n, body), m->bodies[body].parent);
    }
    const ItmRowBlock* block = &m->blocks[connection];
    for (int k = 0; k < block->nbody; k++) {
        n = add_node(node, n, block->body[k]);
    }
    for (int k = 0; k < block->ndof; k++) {
        int body = g->body_of[block->dof[k]];
        n = add_node(node, add_node(node, n, body), m->bodies[body].parent);
    }
    return n;
}

static void note_leaf(Graph* g, int body)
{
    if (g->degree[body] == 1) {
        g->leaf[g->nleaf++] = body;
    }
}

static void connect_all(Graph* g)
{
    int node[MOST_NODES];
    for (int i = 0; i < g->m->nblock + g->m->nbody; i++) {
        int n = get_nodes(g, i, node);
        for (int k = 0; k < n; k++) {
            g->degree[node[k]]++;
            g->sum[node[k]] += i;
        }
    }
    for (int i = 0; i < g->m->nbody; i++) {
        note_leaf(g, i);
    }
}

// Takes off bodies with one connection, and this connection, until every body left has two.
static void take_off_leaves(Graph* g, bool* is_in_loop)
{
    int node[MOST_NODES];
    while (g->nleaf > 0) {
        int body = g->leaf[--g->nleaf];
        if (g->degree[body] != 1) {
            continue;  // its connection went with another body
        }
        int connection = (int)g->sum[body], n = get_nodes(g, connection, node);
        if (connection < g->m->nblock) {
            is_in_loop[connection] = false;
        }
        for (int k = 0; k < n; k++) {
            g->degree[node[k]]--;
            g->sum[node[k]] -= connection;
            note_leaf(g, node[k]);
        }
    }
}

bool itm_loops_find(ItmModel* m)
{
    size_t nbody = (size_t)m->nbody;
    Graph g = {.m = m,
               .body_of = calloc((size_t)m->nv + 1, sizeof(int)),
               .degree = calloc(nbody + 1, sizeof(int)),
               .sum = calloc(nbody + 1, sizeof(long)),
               .leaf = calloc(2 * nbody + 1, sizeof(int))};
    m->is_in_loop = itm_model_take(m, (size_t)m->nblock, sizeof(bool));
    bool has_memory = g.body_of != NULL && g.degree != NULL && g.sum != NULL && g.leaf != NULL && m->is_in_loop != NULL;
    if (has_memory) {
        for (int i = 0; i < m->nbody; i++) {
            for (int k = 0; k < m->bodies[i].nv; k++) {
                g.body_of[m->bodies[i].v_adr + k] = i;
            }
        }
        for (int k = 0; k < m->nblock; k++) {
            m->is_in_loop[k] = true;
        }
        connect_all(&g);
        take_off_leaves(&g, m->is_in_loop);
    }
    free(g.body_of);
    free(g.degree);
    free(g.sum);
    free(g.leaf);
    return has_memory;
}
