#include "multibody/planar.h"

#include "base/union_find.h"

#include <stdlib.h>

#define PARALLEL 1e-8  // rad: joints are closed to 1e-10 at the start

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

static bool is_parallel(ItmVec3 e, ItmVec3 n)
{
    return itm_vec_dot(n, n) > 0.0 && itm_vec_norm(itm_vec_cross(e, n)) <= PARALLEL;
}

// Whether a joint allows rotations about n and translations across it only; n = 0: no rotations.
static bool is_in_plane(const ItmData* d, const ItmJoint* joint, ItmVec3 n)
{
    bool is_plane = is_rigid(joint);
    for (int k = 0; k < 3; k++) {
        ItmVec3 e = find_axis(d, joint, k);
        bool slides = joint->free & 1u << (ITM_TX + k), turns = joint->free & 1u << (ITM_RX + k);
        is_plane = is_plane && !(slides && fabs(itm_vec_dot(e, n)) > PARALLEL) && !(turns && !is_parallel(e, n));
    }
    return is_plane;
}

// n of each component: the axis of its first joint with one rotation.
static void find_normals(const ItmModel* m, const ItmData* d, ItmVec3* normal)
{
    for (int i = 0; i < m->nbody; i++) {
        normal[i] = itm_vec(0, 0, 0);
    }
    for (int j = 0; j < m->njoint; j++) {
        const ItmJoint* joint = &m->joints[j];
        ItmVec3* n = &normal[find_component(m, joint)];
        for (int k = 0; k < 3; k++) {
            bool is_first = itm_vec_dot(*n, *n) == 0.0;
            *n = is_first && (joint->free >> ITM_RX & 7u) == 1u << k ? find_axis(d, joint, k) : *n;
        }
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
            if (is_in_plane(d, joint, normal[find_component(m, joint)])) {
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
