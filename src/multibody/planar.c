#include "multibody/planar.h"

#include "base/union_find.h"
#include "multibody/joint_view.h"
#include "multibody/measure.h"
#include "multibody/rows.h"

#include <stdlib.h>
#include <string.h>

#define PARALLEL 1e-8  // rad: joints are closed to 1e-10 at the start
#define EXACT                                                                                                          \
    1e-13  // rad, m: rounding of frames that the joints of a tree place. A row that is off by more is solved, and reports its gap

// Axis k of a joint in the world, at the start.
static ItmVec3 find_axis(const ItmData* d, const ItmJoint* joint, int k)
{
    return itm_mat_mul_vec(&d->R[joint->body_a], itm_mat_column(&joint->a.R, k));
}

// Component of a joint; its bodies are not both the world.
static int find_component(const ItmModel* m, const ItmJoint* joint)
{
    return m->component[joint->body_b != ITM_NONE ? joint->body_b : joint->body_a];
}

static bool is_rigid(const ItmJoint* joint)
{
    return joint->stiffness == 0.0 && joint->damping == 0.0 && joint->clearance == ITM_NONE && joint->lead == 0.0;
}

static bool is_parallel(ItmVec3 e, ItmVec3 n, double tolerance)
{
    return itm_vec_dot(n, n) > 0.0 && itm_vec_norm(itm_vec_cross(e, n)) <= tolerance;
}

// Whether a joint allows rotations about n and translations across it only; n = 0: no rotations.
static bool is_in_plane(const ItmData* d, const ItmJoint* joint, ItmVec3 n, double tolerance)
{
    bool is_plane = is_rigid(joint);
    for (int k = 0; k < 3; k++) {
        ItmVec3 e = find_axis(d, joint, k);
        bool slides = joint->free & 1u << (ITM_TX + k), turns = joint->free & 1u << (ITM_RX + k);
        is_plane =
            is_plane && !(slides && fabs(itm_vec_dot(e, n)) > tolerance) && !(turns && !is_parallel(e, n, tolerance));
    }
    return is_plane;
}

// Axis of the one rotation of a joint into n, where n is still 0.
static void take_normal(const ItmData* d, const ItmJoint* joint, ItmVec3* n)
{
    for (int k = 0; k < 3; k++) {
        bool is_first = itm_vec_dot(*n, *n) == 0.0;
        *n = is_first && (joint->free >> ITM_RX & 7u) == 1u << k ? find_axis(d, joint, k) : *n;
    }
}

// n of each component: the axis of its first joint with one rotation.
static void find_normals(const ItmModel* m, const ItmData* d, ItmVec3* normal)
{
    for (int i = 0; i < m->nbody; i++) {
        normal[i] = itm_vec(0, 0, 0);
    }
    for (int j = 0; j < m->njoint; j++) {
        take_normal(d, &m->joints[j], &normal[find_component(m, &m->joints[j])]);
    }
}

bool itm_planar_find(ItmModel* m, const ItmData* d)
{
    int world = m->nbody;
    ItmVec3* normal = malloc(sizeof *normal * (size_t)m->nbody);
    int* set = malloc(sizeof *set * (size_t)(m->nbody + 1));
    m->is_planar = itm_model_take(m, (size_t)m->nbody, sizeof(bool));
    bool has_memory = normal != NULL && set != NULL && m->is_planar != NULL;
    if (has_memory) {
        find_normals(m, d, normal);
        for (int i = 0; i <= m->nbody; i++) {
            set[i] = i;
        }
        for (int j = 0; j < m->njoint; j++) {
            const ItmJoint* joint = &m->joints[j];
            if (is_in_plane(d, joint, normal[find_component(m, joint)], PARALLEL)) {
                itm_union_join(set, joint->body_a != ITM_NONE ? joint->body_a : world,
                               joint->body_b != ITM_NONE ? joint->body_b : world);
            }
        }
        for (int i = 0; i < m->nbody; i++) {
            m->is_planar[i] = true;
        }
        for (int i = 0; i < m->nbody; i++) {
            m->is_planar[m->component[i]] &= itm_union_find(set, i) == itm_union_find(set, world);
        }
    }
    free(normal);
    free(set);
    return has_memory;
}

// ---------------------------------------------------------------------------- idle rows

// The next body on the path between two others, *a and *b, over their first common ancestor; ITM_NONE: that is reached.
static int climb(const ItmModel* m, int* a, int* b)
{
    int* later = *a > *b ? a : b;  // parents have smaller numbers
    int body = *a == *b ? ITM_NONE : *later;
    *later = body != ITM_NONE ? m->bodies[body].parent : *later;
    return body;
}

// Whether joints of the tree alone connect the two bodies of a block, which is a rigid joint.
static bool is_closing(const ItmModel* m, const ItmRowBlock* block)
{
    if (block->kind != ITM_BLOCK_JOINT || itm_block_is_compliant(block)) {
        return false;
    }
    int a = m->joints[block->index].body_a, b = m->joints[block->index].body_b;
    bool is_joints = true;
    for (int i = climb(m, &a, &b); i != ITM_NONE; i = climb(m, &a, &b)) {
        is_joints = is_joints && m->bodies[i].joint != ITM_NONE;
    }
    return is_joints;
}

bool itm_planar_can_be_idle(const ItmModel* m)
{
    bool can = false;
    for (int k = 0; k < m->nblock && !can; k++) {
        can = is_closing(m, &m->blocks[k]);
    }
    return can;
}

// Normal of the plane in which the tree lets the two bodies of a block move against each other; 0: there is none.
static ItmVec3 find_normal(const ItmModel* m, const ItmData* d, const ItmRowBlock* block)
{
    const ItmJoint* closing = &m->joints[block->index];
    ItmVec3 n = itm_vec(0, 0, 0);
    int a = closing->body_a, b = closing->body_b;
    for (int i = climb(m, &a, &b); i != ITM_NONE; i = climb(m, &a, &b)) {
        take_normal(d, &m->joints[m->bodies[i].joint], &n);
    }
    bool is_plane = true;
    a = closing->body_a, b = closing->body_b;
    for (int i = climb(m, &a, &b); i != ITM_NONE; i = climb(m, &a, &b)) {
        is_plane = is_plane && is_in_plane(d, &m->joints[m->bodies[i].joint], n, EXACT);
    }
    return is_plane ? n : itm_vec(0, 0, 0);
}

// x . y is 0 and stays so: x is fixed in one body, y in the other, and one of them is normal to the plane.
static bool stays_square(ItmVec3 x, ItmVec3 y, ItmVec3 n)
{
    return fabs(itm_vec_dot(x, y)) <= EXACT && (is_parallel(x, n, EXACT) || is_parallel(y, n, EXACT));
}

// Whether all locked rotations of a joint are idle. One that turns about n has none that is not.
static bool is_rotation_idle(const ItmJoint* joint, const ItmJointView* view, ItmVec3 n)
{
    int axes[3], nfree = itm_measure_get_free_rotations(joint->free, axes);
    if (nfree == 1) {
        int k = axes[0], i = (k + 1) % 3, j = (k + 2) % 3;
        ItmVec3 e_k = itm_mat_column(&view->R_b, k);
        return stays_square(itm_mat_column(&view->R_a, i), e_k, n) &&
               stays_square(itm_mat_column(&view->R_a, j), e_k, n);
    }
    return nfree == 3 ||
           (nfree == 2 && stays_square(itm_mat_column(&view->R_a, axes[0]), itm_mat_column(&view->R_b, axes[1]), n));
}

// Directions of a joint that are locked and idle, bits of ItmDirection; none where a rotation is not, which keeps rows.c simple.
static unsigned find_idle_directions(const ItmData* d, const ItmJoint* joint, ItmVec3 n)
{
    const unsigned locked = ~joint->free & ((1u << ITM_DIRECTION_COUNT) - 1u), rotations = 7u << ITM_RX;
    ItmJointView view = {0};
    itm_joint_view_place(&view, d, joint);
    unsigned idle = locked & rotations;
    for (int k = 0; k < 3; k++) {
        ItmVec3 e = itm_mat_column(&view.R_a, k);
        double gap = itm_vec_dot(e, itm_vec_sub(view.p_b, view.p_a));
        idle |= is_parallel(e, n, EXACT) && fabs(gap) <= EXACT ? locked & 1u << (ITM_TX + k) : 0u;
    }
    return is_rotation_idle(joint, &view, n) && idle != locked ? idle : 0u;
}

// Idle rows behind the others, each part in its order.
static void sort_rows(ItmModel* m, ItmRowBlock* block, unsigned idle)
{
    char *names[ITM_BLOCK_MAX], **row_names = m->row_names + block->row;
    int nrow = block->nrow, n = 0;
    for (int part = 0; part < 2; part++) {
        for (int k = 0, row = 0; k < ITM_DIRECTION_COUNT; k++) {
            bool is_locked = !(m->joints[block->index].free & 1u << k), is_idle = idle & 1u << k;
            if (is_locked && is_idle == (part == 1)) {
                names[n++] = row_names[row];
            }
            row += is_locked;
        }
        block->nrow = part == 0 ? n : block->nrow;
    }
    memcpy(row_names, names, sizeof *names * (size_t)nrow);
    block->idle = idle;
    block->nidle = nrow - block->nrow;
    block->turns = false;
    m->nidle += block->nidle;
}

void itm_planar_find_idle(ItmModel* m, const ItmData* d)
{
    for (int k = 0; k < m->nblock; k++) {
        ItmRowBlock* block = &m->blocks[k];
        ItmVec3 n = is_closing(m, block) ? find_normal(m, d, block) : itm_vec(0, 0, 0);
        unsigned idle = itm_vec_dot(n, n) > 0.0 ? find_idle_directions(d, &m->joints[block->index], n) : 0u;
        if (idle != 0u) {
            sort_rows(m, block, idle);
        }
    }
}
