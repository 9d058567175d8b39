#include "multibody/bounded_nodes.h"

#include "multibody/rows.h"

#include <string.h>

#define SIZE 6  // velocities of a node

// ---------------------------------------------------------------------------- nodes of a model

bool itm_bounded_is_single(const ItmModel* m, const ItmRowBlock* path)
{
    for (int i = 0; i < path->npath; i++) {
        if (m->velocity_nodes.count[m->component[path->path[i]]] > 0) {
            return false;
        }
    }
    return true;
}

// Velocities of each component into count, places of bodies, and the bodies of a component in a chain from its name, the smallest.
static void place_bodies(ItmModel* m)
{
    int* last = m->velocity_nodes.first;  // body of a component so far
    for (int i = 0; i < m->nbody; i++) {
        int name = m->component[i];
        m->velocity_nodes.next[i] = ITM_NONE;
        m->velocity_nodes.count[i] = 0;
        if (name != i) {
            m->velocity_nodes.next[last[name]] = i;
        }
        last[name] = i;
        m->velocity_nodes.place[i] = m->velocity_nodes.count[name];
        m->velocity_nodes.count[name] += m->bodies[i].nv;
    }
}

// Compliant bilateral rows follow the velocities of their component.
static void place_rows(ItmModel* m)
{
    for (int i = 0; i < m->nrow; i++) {
        const ItmRowBlock* block = &m->blocks[m->row_block[i]];
        bool has_place = itm_block_is_compliant(block) && block->npath > 0;
        m->velocity_nodes.row_place[i] = has_place ? m->velocity_nodes.count[m->component[block->path[0]]]++ : ITM_NONE;
    }
}

static bool is_alone(const ItmModel* m, int body)
{
    bool has_rows = m->nrow > 0 && m->body_block_adr[body] != m->body_block_adr[body + 1];
    return m->bodies[body].is_root_leaf && m->velocity_nodes.next[body] == ITM_NONE && !has_rows;
}

bool itm_bounded_build_nodes(ItmModel* m)
{
    int** bodies[] = {&m->velocity_nodes.first, &m->velocity_nodes.count, &m->velocity_nodes.place,
                      &m->velocity_nodes.next};
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        *bodies[i] = itm_model_take(m, (size_t)m->nbody, sizeof(int));
        if (*bodies[i] == NULL) {
            return false;
        }
    }
    m->velocity_nodes.row_place = itm_model_take(m, (size_t)m->nrow, sizeof(int));
    if (m->velocity_nodes.row_place == NULL) {
        return false;
    }
    place_bodies(m);
    place_rows(m);
    m->velocity_nodes.n = m->nbody;
    for (int i = 0; i < m->nbody; i++) {
        bool has_nodes = m->component[i] == i && !is_alone(m, i);
        m->velocity_nodes.count[i] = has_nodes ? 1 + (m->velocity_nodes.count[i] - 1) / SIZE : 0;
        m->velocity_nodes.first[i] = has_nodes ? m->velocity_nodes.n : i;
        m->velocity_nodes.n += m->velocity_nodes.count[i];
        m->velocity_nodes.most =
            m->velocity_nodes.count[i] > m->velocity_nodes.most ? m->velocity_nodes.count[i] : m->velocity_nodes.most;
    }
    return true;
}

// ---------------------------------------------------------------------------- rows over nodes

void itm_bounded_lay_out_nodes(const ItmModel* m, const ItmBoundCapacity* capacity, ItmBoundNodes* nodes,
                               ItmArena* arena)
{
    bool is_used = m->velocity_nodes.most > 0 && capacity->row > capacity->island;
    size_t most = is_used ? (size_t)(2 * m->velocity_nodes.most) : 0;  // of a contact
    nodes->node_capacity = most * (size_t)capacity->block;
    nodes->Y_capacity = SIZE * most * (size_t)capacity->row;
    nodes->node = ITM_TAKE(arena, int, nodes->node_capacity);
    nodes->Y = ITM_TAKE(arena, double, nodes->Y_capacity);
    nodes->reaction = ITM_TAKE(arena, double, is_used ? m->nrow : 0);
}

void itm_bounded_clear_nodes(ItmBoundNodes* nodes)
{
    nodes->nnode = nodes->nY = 0;
}

// A component that a block touches, and where its velocities begin in the vectors of the block.
typedef struct Part {
    int name, at;
} Part;

static int count_nodes(const ItmModel* m, int name)
{
    return m->velocity_nodes.count[name] > 0 ? m->velocity_nodes.count[name] : 1;
}

// The components of a path and the number of their nodes. Returns how many components.
static int find_parts(const ItmModel* m, const ItmRowBlock* path, Part* parts, int* nnode)
{
    int n = 0;
    *nnode = 0;
    for (int i = 0; i < path->npath; i++) {
        int name = m->component[path->path[i]], k = 0;
        while (k < n && parts[k].name != name) {
            k++;
        }
        if (k == n) {
            parts[n++] = (Part){name, SIZE * *nnode};
            *nnode += count_nodes(m, name);
        }
    }
    return n;
}

static int find_start(const Part* parts, int name)
{
    int k = 0;
    while (parts[k].name != name) {
        k++;
    }
    return parts[k].at;
}

// y <- y^ of one component (SIZE count), in place
static void eliminate(const ItmModel* m, const ItmData* d, double* reaction, double* y, int name)
{
    // l = H_bb^-1 Y_b y
    memset(reaction, 0, sizeof(double) * (size_t)m->nrow);
    for (int body = name; body != ITM_NONE; body = m->velocity_nodes.next[body]) {
        for (int e = m->body_block_adr[body]; e < m->body_block_adr[body + 1]; e++) {
            const ItmRowBlock* rows = &m->blocks[m->body_block[e]];
            for (int j = 0; j < rows->nrow; j++) {
                const double* y_b = d->rows.Y + rows->y_adr + j * rows->ny + m->body_block_y[e];
                for (int l = 0; l < m->bodies[body].nv; l++) {
                    reaction[rows->row + j] += y_b[l] * y[m->velocity_nodes.place[body] + l];
                }
            }
        }
    }
    itm_blocks_solve(&m->pattern, &d->rows.factor, reaction);
    // y - Y_b' l, -Omega^1/2 l
    for (int body = name; body != ITM_NONE; body = m->velocity_nodes.next[body]) {
        for (int e = m->body_block_adr[body]; e < m->body_block_adr[body + 1]; e++) {
            const ItmRowBlock* rows = &m->blocks[m->body_block[e]];
            for (int j = 0; j < rows->nrow; j++) {
                int row = rows->row + j, place = m->velocity_nodes.row_place[row];
                const double* y_b = d->rows.Y + rows->y_adr + j * rows->ny + m->body_block_y[e];
                for (int l = 0; l < m->bodies[body].nv; l++) {
                    y[m->velocity_nodes.place[body] + l] -= y_b[l] * reaction[row];
                }
                if (place != ITM_NONE) {
                    y[place] = -sqrt(d->rows.omega[row]) * reaction[row];
                }
            }
        }
    }
}

bool itm_bounded_express(const ItmModel* m, const ItmData* d, ItmBoundNodes* nodes, const ItmBoundBlock* block,
                         ItmSweepBlock* out)
{
    Part parts[ITM_BLOCK_BODIES + ITM_BLOCK_DOFS];
    int nnode, npart = find_parts(m, &block->path, parts, &nnode);
    size_t ny = SIZE * (size_t)nnode, nY = ny * (size_t)block->nrow;
    if (nodes->nnode + (size_t)nnode > nodes->node_capacity || nodes->nY + nY > nodes->Y_capacity) {
        return false;
    }
    int* list = nodes->node + nodes->nnode;
    double* Y = nodes->Y + nodes->nY;
    out->node = list;
    out->nnode = nnode;
    out->Y = Y;
    nodes->nnode += (size_t)nnode;
    nodes->nY += nY;
    for (int k = 0; k < npart; k++) {
        for (int i = 0; i < count_nodes(m, parts[k].name); i++) {
            *list++ = m->velocity_nodes.first[parts[k].name] + i;
        }
    }
    const double* y = d->bounded->Y + block->path.y_adr;
    memset(Y, 0, sizeof(double) * nY);
    for (int r = 0; r < block->nrow; r++, Y += ny) {
        for (int i = 0; i < block->path.npath; i++) {
            int body = block->path.path[i], nv = m->bodies[body].nv;
            memcpy(Y + find_start(parts, m->component[body]) + m->velocity_nodes.place[body], y,
                   sizeof(double) * (size_t)nv);
            y += nv;
        }
        for (int k = 0; m->nrow > 0 && k < npart; k++) {
            if (m->velocity_nodes.count[parts[k].name] > 0) {
                eliminate(m, d, nodes->reaction, Y + parts[k].at, parts[k].name);
            }
        }
    }
    return true;
}
