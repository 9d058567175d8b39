// Which rows there are, which velocities each of them can feel, and the pattern of H that follows.
#include "multibody/compile.h"

#include "base/union_find.h"
#include "multibody/bounded_nodes.h"
#include "multibody/clearance.h"
#include "multibody/loops.h"
#include "multibody/measure.h"
#include "multibody/rows.h"
#include "multibody/spanning.h"

#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------- blocks

static void touch_body(ItmRowBlock* block, int body)
{
    for (int k = 0; k < block->nbody; k++) {
        if (block->body[k] == body) {
            return;
        }
    }
    if (body != ITM_NONE) {
        block->body[block->nbody++] = body;
    }
}

// A term acts on a coordinate directly where its measure is one, otherwise on its two bodies.
static void add_term(const ItmModel* m, ItmRowBlock* block, int measure, double coef)
{
    const ItmMeasure* x = &m->measures[measure];
    block->term[block->nterm] = measure;
    block->term_coef[block->nterm++] = coef;
    if (x->v_index != ITM_NONE) {
        block->dof[block->ndof] = x->v_index;
        block->dof_coef[block->ndof++] = coef * x->scale;
        return;
    }
    touch_body(block, x->body_a);
    touch_body(block, x->body_b);
}

static ItmRowBlock* add_block(ItmModel* m, ItmBlockKind kind, int index, int nrow)
{
    ItmRowBlock* block = &m->blocks[m->nblock++];
    *block = (ItmRowBlock){
        .kind = kind, .index = index, .row = m->nrow, .nrow = nrow, .signal = ITM_NONE, .latch = ITM_NONE};
    m->nrow += nrow;
    return block;
}

static int count_locked(unsigned free)
{
    int n = 0;
    for (int k = 0; k < ITM_DIRECTION_COUNT; k++) {
        n += !(free & (1u << k));
    }
    return n;
}

static void add_joint_blocks(ItmModel* m, const ItmModelBuilder* b, int index, bool for_assembly)
{
    ItmJoint* joint = &m->joints[index];
    if (joint->type == ITM_JOINT_DISTANCE) {
        joint->block = m->nblock;
        ItmRowBlock* block = add_block(m, ITM_BLOCK_DISTANCE, index, 1);
        add_term(m, block, joint->measure[ITM_TX], 1.0);
        block->offset = b->joints.items[index].length;
        // a length taken from the start does not constrain the start
        block->is_velocity = for_assembly && block->offset == 0.0;
        block->stiffness = joint->stiffness;
        block->damping = joint->damping;
        return;
    }
    // a joint with clearance locks nothing, but may hold its hub in the middle while assembling
    bool is_held =
        joint->clearance == ITM_NONE || (for_assembly && itm_clearance_is_centred(b, &b->joints.items[index]));
    if (joint->tree_body != ITM_NONE || !is_held) {
        return;
    }
    int nlocked = count_locked(joint->free);
    if (nlocked > 0) {
        joint->block = m->nblock;
        ItmRowBlock* block = add_block(m, ITM_BLOCK_JOINT, index, nlocked);
        touch_body(block, joint->body_a);
        touch_body(block, joint->body_b);
        block->turns = (joint->free >> ITM_RX & 7u) != 7u;
        block->stiffness = joint->stiffness;
        block->damping = joint->damping;
    }
    if (joint->type == ITM_JOINT_SCREW) {
        ItmRowBlock* block = add_block(m, ITM_BLOCK_SCREW, index, 1);
        add_term(m, block, joint->measure[ITM_TZ], 1.0);
        add_term(m, block, joint->measure[ITM_RZ], -joint->lead);
        block->stiffness = joint->stiffness;
        block->damping = joint->damping;
    }
}

// The motion of the wanted kind that drives a direction, or NULL.
static const ItmMotionDef* find_motion(const ItmModelBuilder* b, int joint, int direction, ItmMotionKind kind)
{
    for (int i = 0; i < b->motions.count; i++) {
        const ItmMotionDef* def = &b->motions.items[i];
        if (def->joint == joint && (int)def->direction == direction && def->kind == kind) {
            return def;
        }
    }
    return NULL;
}

// Start values hold while assembling; a direction whose position is driven starts where the signal does.
static void add_start_blocks(ItmModel* m, const ItmModelBuilder* b, int index)
{
    const ItmJointDef* def = &b->joints.items[index];
    const ItmJoint* joint = &m->joints[index];
    for (int k = 0; k < ITM_DIRECTION_COUNT; k++) {
        bool is_measured = joint->measure[k] != ITM_NONE && joint->type != ITM_JOINT_DISTANCE;
        if (!def->has_start[k] || !is_measured || find_motion(b, index, k, ITM_MOTION_POSITION) != NULL) {
            continue;
        }
        ItmRowBlock* block = add_block(m, ITM_BLOCK_START, index, 1);
        add_term(m, block, joint->measure[k], 1.0);
        const ItmMotionDef* speed = find_motion(b, index, k, ITM_MOTION_VELOCITY);
        block->offset = def->start[k];
        block->offset_rate = speed != NULL ? itm_signal_compute(&m->signals[speed->signal], 0.0).x : def->start_rate[k];
        block->is_velocity = !m->measures[joint->measure[k]].has_value;
    }
}

static void add_coupling_blocks(ItmModel* m, const ItmModelBuilder* b, bool for_assembly)
{
    m->ncoupling = b->couplings.count;
    for (int i = 0; i < m->ncoupling; i++) {
        const ItmCouplingDef* def = &b->couplings.items[i];
        ItmRowBlock* block = add_block(m, ITM_BLOCK_COUPLING, i, 1);
        const ItmJoint *first = &m->joints[def->joint_first], *second = &m->joints[def->joint_second];
        add_term(m, block, first->measure[def->direction_first], 1.0);
        add_term(m, block, second->measure[def->direction_second], -def->ratio);
        // the offset is whatever the start has; rotations of three have no position level at all
        bool has_value = m->measures[block->term[0]].has_value && m->measures[block->term[1]].has_value;
        block->is_velocity = for_assembly || !has_value;
    }
}

static void add_motion_blocks(ItmModel* m, const ItmModelBuilder* b, bool for_assembly)
{
    for (int i = 0; i < m->nmotion; i++) {
        const ItmMotionDef* def = &b->motions.items[i];
        // motors with a force limit are bounded rows; while assembling they hold like the others
        if (def->kind == ITM_MOTION_FORCE || (def->max_force > 0.0 && !for_assembly)) {
            continue;
        }
        m->motions[i].block = m->nblock;
        ItmRowBlock* block = add_block(m, ITM_BLOCK_MOTION, i, 1);
        add_term(m, block, m->motions[i].measure, 1.0);
        block->signal = def->signal;
        block->is_velocity = def->kind == ITM_MOTION_VELOCITY;
    }
}

static void add_spring_blocks(ItmModel* m)
{
    for (int i = 0; i < m->nspring_row; i++) {
        ItmSpringRow* spring = &m->spring_rows[i];
        spring->block = m->nblock;
        ItmRowBlock* block = add_block(m, ITM_BLOCK_SPRING, i, 1);
        add_term(m, block, spring->measure, 1.0);
        block->offset = spring->rest;
        block->is_velocity = !m->measures[spring->measure].has_value;
        block->stiffness = spring->stiffness;
        block->damping = spring->damping;
    }
}

static void add_latch_blocks(ItmModel* m)
{
    for (int i = 0; i < m->nlatch; i++) {
        ItmLatch* latch = &m->latches[i];
        bool is_lock = latch->kind == ITM_LATCH_DIRECTION;
        latch->block = m->nblock;
        ItmRowBlock* block = add_block(m, is_lock ? ITM_BLOCK_LOCK : ITM_BLOCK_GRASP, i, is_lock ? 1 : 6);
        block->latch = i;
        if (is_lock) {
            add_term(m, block, latch->measure, 1.0);
        } else {
            touch_body(block, latch->body_a);
            touch_body(block, latch->body_b);
            block->turns = true;
        }
    }
}

// ---------------------------------------------------------------------------- paths

static int compare_descending(const void* a, const void* b)
{
    int x = *(const int*)a, y = *(const int*)b;
    return (y > x) - (y < x);
}

// All bodies between the touched ones and the roots, children first. seen (nbody) holds the last visitor.
static int collect_path(const ItmModel* m, const ItmRowBlock* block, int* path, int* seen, int visitor)
{
    int count = 0;
    int seeds[ITM_BLOCK_BODIES + ITM_BLOCK_DOFS], nseed = 0;
    for (int k = 0; k < block->nbody; k++) {
        seeds[nseed++] = block->body[k];
    }
    for (int k = 0; k < block->ndof; k++) {
        seeds[nseed++] = itm_model_body_of_velocity(m, block->dof[k]);
    }
    for (int k = 0; k < nseed; k++) {
        for (int i = seeds[k]; i != ITM_NONE && seen[i] != visitor; i = m->bodies[i].parent) {
            seen[i] = visitor;
            path[count++] = i;
        }
    }
    qsort(path, (size_t)count, sizeof(int), compare_descending);
    return count;
}

static bool build_paths(ItmModel* m)
{
    int* work = malloc(sizeof(int) * (size_t)(2 * m->nbody + 2));
    if (work == NULL) {
        return false;
    }
    int *path = work, *seen = work + m->nbody + 1;
    // first pass counts, second writes
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < m->nbody; i++) {
            seen[i] = ITM_NONE;
        }
        int adr = 0;
        for (int k = 0; k < m->nblock; k++) {
            ItmRowBlock* block = &m->blocks[k];
            int n = collect_path(m, block, path, seen, k);
            if (pass == 1) {
                block->path = m->path + adr;
                block->path_parent = m->path_parent + adr;
                block->npath = n;
                memcpy(m->path + adr, path, sizeof(int) * (size_t)n);
            }
            adr += n;
            m->npath_max = n > m->npath_max ? n : m->npath_max;
        }
        if (pass == 0) {
            m->npath = adr;
            m->path = itm_model_take(m, (size_t)adr, sizeof(int));
            m->path_parent = itm_model_take(m, (size_t)adr, sizeof(int));
            if (m->path == NULL || m->path_parent == NULL) {
                free(work);
                return false;
            }
        }
    }
    free(work);
    return true;
}

// Longest way from a body to its root, in bodies and in velocities. Parents have smaller numbers than their children.
static bool measure_depth(ItmModel* m)
{
    int* bodies = malloc(sizeof(int) * 2 * (size_t)(m->nbody + 1));
    if (bodies == NULL) {
        return false;
    }
    int* velocities = bodies + m->nbody + 1;
    for (int i = 0; i < m->nbody; i++) {
        int parent = m->bodies[i].parent;
        bodies[i] = 1 + (parent != ITM_NONE ? bodies[parent] : 0);
        velocities[i] = m->bodies[i].nv + (parent != ITM_NONE ? velocities[parent] : 0);
        m->depth = bodies[i] > m->depth ? bodies[i] : m->depth;
        m->depth_velocities = velocities[i] > m->depth_velocities ? velocities[i] : m->depth_velocities;
    }
    free(bodies);
    // a contact joins two such ways, a rope more
    int nway = 2;
    for (int i = 0; i < m->nmeasure; i++) {
        nway = 2 + m->measures[i].nother > nway ? 2 + m->measures[i].nother : nway;
    }
    m->npath_max = nway * m->depth > m->npath_max ? nway * m->depth : m->npath_max;
    return true;
}

static void finish_blocks(ItmModel* m)
{
    for (int k = 0; k < m->nblock; k++) {
        ItmRowBlock* block = &m->blocks[k];
        const int* path = block->path;
        int* path_parent = m->path_parent + (block->path_parent - m->path_parent);
        block->cov_adr = m->ncov;
        block->y_adr = m->nY;
        m->has_driven_rows |= block->signal != ITM_NONE;
        m->has_compliant_rows |= itm_block_is_compliant(block);
        for (int i = 0; i < block->npath; i++) {
            block->ny += m->bodies[path[i]].nv;
            path_parent[i] = ITM_NONE;
            for (int j = i + 1; j < block->npath; j++) {
                if (path[j] == m->bodies[path[i]].parent) {
                    path_parent[i] = j;
                    break;
                }
            }
        }
        m->ncov += block->nrow * block->nbody;
        m->nY += block->nrow * block->ny;
        for (int i = 0; i < block->nrow; i++) {
            m->row_block[block->row + i] = k;
        }
    }
}

// ---------------------------------------------------------------------------- pattern of H

// Blocks whose path holds a body, as compressed lists.
static bool list_blocks_by_body(ItmModel* m)
{
    int* adr = itm_model_take(m, (size_t)m->nbody + 2, sizeof(int));
    int* list = itm_model_take(m, (size_t)m->npath, sizeof(int));
    int* y = itm_model_take(m, (size_t)m->npath, sizeof(int));
    m->body_block_adr = adr;
    m->body_block = list;
    m->body_block_y = y;
    if (adr == NULL || list == NULL || y == NULL) {
        return false;
    }
    for (int i = 0; i < m->npath; i++) {
        adr[m->path[i] + 2]++;
    }
    for (int i = 1; i < m->nbody + 2; i++) {
        adr[i] += adr[i - 1];
    }
    for (int k = 0; k < m->nblock; k++) {
        int offset = 0;
        for (int i = 0; i < m->blocks[k].npath; i++) {
            int body = m->blocks[k].path[i];
            int slot = adr[body + 1]++;
            list[slot] = k;
            y[slot] = offset;
            offset += m->bodies[body].nv;
        }
    }
    return true;
}

// Earlier blocks that share a body with block k, without repeats. seen (nblock)
static int find_partners(const ItmModel* m, int k, int* partners, int* seen)
{
    int count = 0;
    const ItmRowBlock* block = &m->blocks[k];
    for (int i = 0; i < block->npath; i++) {
        int body = block->path[i];
        for (int e = m->body_block_adr[body]; e < m->body_block_adr[body + 1]; e++) {
            int other = m->body_block[e];
            if (other < k && seen[other] != k) {
                seen[other] = k;
                partners[count++] = other;
            }
        }
    }
    return count;
}

// Velocities on both paths, as runs. out NULL: only count.
static int intersect_paths(const ItmModel* m, const ItmRowBlock* f, const ItmRowBlock* s, ItmSharedRun* out)
{
    int nrun = 0, y_f = 0, y_s = 0, end_f = -1, end_s = -1;
    const int *path_f = f->path, *path_s = s->path;
    for (int i = 0, j = 0; i < f->npath && j < s->npath;) {
        if (path_f[i] > path_s[j]) {
            y_f += m->bodies[path_f[i++]].nv;
        } else if (path_f[i] < path_s[j]) {
            y_s += m->bodies[path_s[j++]].nv;
        } else {
            int nv = m->bodies[path_f[i]].nv;
            bool is_next = y_f == end_f && y_s == end_s;
            nrun += !is_next;
            if (out != NULL && is_next) {
                out[nrun - 1].count += nv;
            } else if (out != NULL) {
                out[nrun - 1] = (ItmSharedRun){y_f, y_s, nv};
            }
            y_f += nv;
            y_s += nv;
            end_f = y_f;
            end_s = y_s;
            i++;
            j++;
        }
    }
    return nrun;
}

static void fill_pair(ItmModel* m, int first, int second)
{
    ItmBlockPair* pair = &m->pairs[m->npair++];
    *pair = (ItmBlockPair){.first = first, .second = second, .run_adr = m->nrun};
    pair->nrun = intersect_paths(m, &m->blocks[first], &m->blocks[second], m->runs + m->nrun);
    m->nrun += pair->nrun;
    pair->address = itm_blocks_find(&m->pattern, first, second, &pair->is_transposed);
}

ItmStatus itm_rows_build_pattern(ItmModel* m)
{
    int* work = malloc(sizeof(int) * (size_t)(4 * m->nblock + 4));
    int *size = work, *start = size + m->nblock + 1, *partners = start + m->nblock + 1,
        *seen = partners + m->nblock + 1;
    int* couples = NULL;
    int npair = 0, nrun = 0, capacity = 0;
    bool ok = work != NULL;
    for (int k = 0; ok && k < m->nblock; k++) {
        seen[k] = ITM_NONE;
        size[k] = m->blocks[k].nrow;
        start[k] = m->blocks[k].row;
    }
    for (int k = 0; ok && k < m->nblock; k++) {
        int n = find_partners(m, k, partners, seen);
        if (npair + n > capacity) {
            capacity = 2 * (npair + n) + 64;
            int* grown = realloc(couples, sizeof(int) * 2 * (size_t)capacity);
            ok = grown != NULL;
            couples = ok ? grown : couples;
        }
        nrun += intersect_paths(m, &m->blocks[k], &m->blocks[k], NULL);
        for (int i = 0; ok && i < n; i++) {
            couples[2 * npair] = k;
            couples[2 * npair++ + 1] = partners[i];
            nrun += intersect_paths(m, &m->blocks[k], &m->blocks[partners[i]], NULL);
        }
    }
    ok = ok && itm_blocks_build(&m->pattern, m->nblock, size, start, couples, npair) == ITM_OK;
    m->pairs = ok ? itm_model_take(m, (size_t)(npair + m->nblock), sizeof(ItmBlockPair)) : NULL;
    m->runs = ok ? itm_model_take(m, (size_t)nrun, sizeof(ItmSharedRun)) : NULL;
    ok = ok && m->pairs != NULL && m->runs != NULL;
    for (int k = 0; ok && k < m->nblock; k++) {
        fill_pair(m, k, k);
    }
    for (int i = 0; ok && i < npair; i++) {
        fill_pair(m, couples[2 * i], couples[2 * i + 1]);
    }
    free(work);
    free(couples);
    return ok ? ITM_OK : ITM_ERR_MEMORY;
}

// ---------------------------------------------------------------------------- components

// Bodies that tree joints or row blocks connect, each named by its smallest member.
static bool build_components(ItmModel* m)
{
    m->component = itm_model_take(m, (size_t)m->nbody, sizeof(int));
    if (m->component == NULL) {
        return false;
    }
    for (int i = 0; i < m->nbody; i++) {
        int parent = m->bodies[i].parent;
        m->component[i] = parent == ITM_NONE ? i : itm_union_find(m->component, parent);
    }
    for (int k = 0; k < m->nblock; k++) {
        const ItmRowBlock* block = &m->blocks[k];
        for (int i = 1; i < block->npath; i++) {
            itm_union_join(m->component, block->path[0], block->path[i]);
        }
    }
    for (int i = 0; i < m->nbody; i++) {
        m->component[i] = itm_union_find(m->component, i);
    }
    return true;
}

static bool find_articulated(ItmModel* m)
{
    m->is_articulated = itm_model_take(m, (size_t)m->nbody, sizeof(bool));
    if (m->is_articulated == NULL) {
        return false;
    }
    memset(m->is_articulated, 0, sizeof(bool) * (size_t)m->nbody);
    for (int i = 0; i < m->nbody; i++) {
        m->is_articulated[m->component[i]] |= !m->bodies[i].is_root_leaf;
    }
    for (int i = 0; i < m->nbody; i++) {
        m->is_articulated[m->component[i]] &= !itm_body_has_modes(&m->bodies[i]);
    }
    for (int i = 0; i < m->nbody; i++) {
        m->narticulated += m->component[i] == i && m->is_articulated[i];
    }
    return true;
}

// ---------------------------------------------------------------------------- names

static bool name_block(ItmModel* m, const ItmModelBuilder* b, const ItmRowBlock* block)
{
    char** name = m->row_names + block->row;
    if (block->kind == ITM_BLOCK_JOINT) {
        const ItmJoint* joint = &m->joints[block->index];
        int n = 0;
        for (int k = 0; k < ITM_DIRECTION_COUNT; k++) {
            if (!(joint->free & (1u << k))) {
                name[n++] = itm_owned_print(&m->owned, "%s.%s", joint->name, itm_model_direction_name((ItmDirection)k));
            }
        }
        return name[n - 1] != NULL;
    }
    if (block->kind == ITM_BLOCK_GRASP) {
        for (int k = 0; k < ITM_DIRECTION_COUNT; k++) {
            name[k] = itm_owned_print(&m->owned, "%s.%s", m->latches[block->index].name,
                                      itm_model_direction_name((ItmDirection)k));
        }
        return name[ITM_DIRECTION_COUNT - 1] != NULL;
    }
    switch (block->kind) {
    case ITM_BLOCK_SPRING:
        name[0] = itm_model_take_string(m, m->spring_rows[block->index].name);
        break;
    case ITM_BLOCK_LOCK:
        name[0] = itm_model_take_string(m, m->latches[block->index].name);
        break;
    case ITM_BLOCK_DISTANCE:
        name[0] = itm_owned_print(&m->owned, "%s.length", m->joints[block->index].name);
        break;
    case ITM_BLOCK_SCREW:
        name[0] = itm_owned_print(&m->owned, "%s.pitch", m->joints[block->index].name);
        break;
    case ITM_BLOCK_COUPLING:
        name[0] = itm_model_take_string(m, b->couplings.items[block->index].name);
        break;
    case ITM_BLOCK_MOTION:
        name[0] = itm_model_take_string(m, m->motions[block->index].name);
        break;
    default:
        name[0] = itm_owned_print(&m->owned, "start of %s", m->joints[block->index].name);
        break;
    }
    return name[0] != NULL;
}

ItmStatus itm_rows_build(ItmModel* m, const ItmModelBuilder* b, bool for_assembly)
{
    size_t capacity = (size_t)(8 * m->njoint + b->couplings.count + m->nmotion + m->nspring_row + m->nlatch);
    m->blocks = itm_model_take(m, capacity, sizeof(ItmRowBlock));
    if (m->blocks == NULL) {
        return ITM_ERR_MEMORY;
    }
    for (int j = 0; j < m->njoint; j++) {
        add_joint_blocks(m, b, j, for_assembly);
        if (for_assembly) {
            add_start_blocks(m, b, j);
        }
    }
    add_coupling_blocks(m, b, for_assembly);
    add_motion_blocks(m, b, for_assembly);
    if (!for_assembly) {
        add_spring_blocks(m);
    }
    add_latch_blocks(m);

    m->row_block = itm_model_take(m, (size_t)m->nrow, sizeof(int));
    m->row_names = itm_model_take(m, (size_t)m->nrow, sizeof(char*));
    m->is_row_redundant = itm_model_take(m, (size_t)m->nrow, sizeof(bool));
    m->pivot_raise = itm_model_take(m, (size_t)m->nrow, sizeof(double));
    if (m->row_block == NULL || m->row_names == NULL || m->is_row_redundant == NULL || m->pivot_raise == NULL ||
        !build_paths(m) || !measure_depth(m)) {
        return ITM_ERR_MEMORY;
    }
    finish_blocks(m);
    for (int k = 0; k < m->nblock; k++) {
        if (!name_block(m, b, &m->blocks[k])) {
            return ITM_ERR_MEMORY;
        }
    }
    bool has_memory = list_blocks_by_body(m) && build_components(m) && find_articulated(m) &&
                      itm_bounded_build_nodes(m) && itm_spanning_build(m) && itm_loops_find(m);
    return has_memory ? ITM_OK : ITM_ERR_MEMORY;
}
