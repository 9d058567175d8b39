// Life and look-ups of a compiled model.
#include "multibody/model.h"

#include "base/guard.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------- memory

void* itm_model_take(ItmModel* m, size_t count, size_t size)
{
    return itm_owned_take(&m->owned, count, size);
}

char* itm_model_take_string(ItmModel* m, const char* text)
{
    return itm_owned_copy_string(&m->owned, text);
}

void itm_multibody_destroy(ItmModel* m)
{
    if (m == NULL) {
        return;
    }
    itm_blocks_free(&m->pattern);
    itm_owned_free(&m->owned);
    free(m);
}

// ---------------------------------------------------------------------------- look-ups

int itm_model_body_of_velocity(const ItmModel* m, int v_index)
{
    int lo = 0, hi = m->nbody - 1;
    while (lo < hi) {
        int mid = (lo + hi + 1) / 2;
        if (m->bodies[mid].v_adr <= v_index) {
            lo = mid;
        } else {
            hi = mid - 1;
        }
    }
    return lo;
}

ItmModelInfo itm_model_get_info(const ItmModel* m)
{
    ITM_GUARD(m != NULL, (ItmModelInfo){0});
    return m->info;
}

ItmVec3 itm_model_find_user_point(const ItmModel* m, int body, ItmVec3 point)
{
    if (body == ITM_NONE) {
        return point;
    }
    bool is_node = m->bodies[body].mobility == ITM_MOBILIZER_NODE;
    return itm_vec_add(point, is_node ? m->nodes[m->bodies[body].part].origin : m->bodies[body].com);
}

int itm_model_find_body(const ItmModel* m, const char* name)
{
    ITM_GUARD(m != NULL && name != NULL, ITM_NONE);
    for (int id = 0; id < m->nuser; id++) {
        if (strcmp(m->bodies[m->body_index[id]].name, name) == 0) {
            return id;
        }
    }
    return ITM_NONE;
}

int itm_model_find_joint(const ItmModel* m, const char* name)
{
    ITM_GUARD(m != NULL && name != NULL, ITM_NONE);
    for (int id = 0; id < m->njoint; id++) {
        if (strcmp(m->joints[id].name, name) == 0) {
            return id;
        }
    }
    return ITM_NONE;
}

int itm_model_find_signal(const ItmModel* m, const char* name)
{
    ITM_GUARD(m != NULL && name != NULL, ITM_NONE);
    for (int id = 0; id < m->nsignal; id++) {
        if (strcmp(m->signals[id].def.name, name) == 0) {
            return id;
        }
    }
    return ITM_NONE;
}

double itm_model_get_start_length(const ItmModel* m, int actuator)
{
    ITM_GUARD(m != NULL, NAN);
    return actuator >= 0 && actuator < m->nactuator ? m->actuator_start[actuator] : NAN;
}

int itm_model_find_actuator(const ItmModel* m, const char* name)
{
    ITM_GUARD(m != NULL && name != NULL, ITM_NONE);
    for (int id = 0; id < m->nactuator; id++) {
        if (strcmp(m->scalar_forces[m->actuator_force[id]].name, name) == 0) {
            return id;
        }
    }
    return ITM_NONE;
}

const char* itm_model_get_body_name(const ItmModel* m, int body)
{
    ITM_GUARD(m != NULL, NULL);
    return body >= 0 && body < m->nuser ? m->bodies[m->body_index[body]].name : NULL;
}

static const ItmFlexible* flexible_of(const ItmModel* m, int body)
{
    for (int j = 0; j < m->nflexible && body >= 0 && body < m->nuser; j++) {
        if (m->flexibles[j].frame == m->body_index[body]) {
            return &m->flexibles[j];
        }
    }
    return NULL;
}

int itm_model_get_mode_count(const ItmModel* m, int body)
{
    ITM_GUARD(m != NULL, 0);
    const ItmFlexible* f = flexible_of(m, body);
    return f != NULL ? f->n : 0;
}

double itm_model_get_mode_frequency(const ItmModel* m, int body, int mode)
{
    ITM_GUARD(m != NULL, 0.0);
    const ItmFlexible* f = flexible_of(m, body);
    return f != NULL && mode >= 0 && mode < f->n ? sqrt(f->tables.stiffness[mode] / f->tables.mass[mode]) : 0.0;
}

const char* itm_model_get_joint_name(const ItmModel* m, int joint)
{
    ITM_GUARD(m != NULL, NULL);
    return joint >= 0 && joint < m->njoint ? m->joints[joint].name : NULL;
}

const char* itm_model_get_row_name(const ItmModel* m, int row)
{
    ITM_GUARD(m != NULL, NULL);
    return row >= 0 && row < m->nrow ? m->row_names[row] : NULL;
}

bool itm_model_is_row_redundant(const ItmModel* m, int row)
{
    ITM_GUARD(m != NULL, false);
    return row >= 0 && row < m->nrow && m->is_row_redundant[row];
}

ItmBodyInfo itm_model_get_body_info(const ItmModel* m, int body)
{
    ITM_GUARD(m != NULL && ITM_IS_INDEX(body, m->nuser), (ItmBodyInfo){0});
    const ItmBody* b = &m->bodies[m->body_index[body]];
    return (ItmBodyInfo){b->name, b->mass, b->inertia};
}

static const char* name_body(const ItmModel* m, int index)
{
    return index == ITM_NONE ? "ground" : m->bodies[index].name;
}

ItmJointInfo itm_model_get_joint_info(const ItmModel* m, int joint)
{
    ITM_GUARD(m != NULL && ITM_IS_INDEX(joint, m->njoint), (ItmJointInfo){0});
    const ItmJoint* j = &m->joints[joint];
    ItmJointInfo info = {.name = j->name,
                         .type = j->type,
                         .body_a = name_body(m, j->body_a),
                         .body_b = name_body(m, j->body_b),
                         .free = j->free,
                         .is_in_tree = itm_model_is_joint_in_tree(m, joint)};
    for (int i = 0; i < m->nblock; i++) {
        const ItmRowBlock* block = &m->blocks[i];
        bool is_own = block->kind != ITM_BLOCK_COUPLING && block->kind != ITM_BLOCK_MOTION && block->index == joint;
        info.nrow += is_own ? block->nrow : 0;
    }
    if (j->clearance != ITM_NONE) {
        info.clearance = m->clearances[j->clearance].radial;
        info.nclearance_point = m->clearances[j->clearance].npoint;
    }
    return info;
}

int itm_model_get_event_count(const ItmModel* m)
{
    ITM_GUARD(m != NULL, 0);
    return m->nevent;
}

ItmEventInfo itm_model_get_event(const ItmModel* m, int event)
{
    ITM_GUARD(m != NULL && ITM_IS_INDEX(event, m->nevent), (ItmEventInfo){0});
    const ItmEvent* e = &m->events[event];
    return (ItmEventInfo){e->time, m->latches[e->latch].name, e->closes};
}

bool itm_model_is_joint_in_tree(const ItmModel* m, int joint)
{
    ITM_GUARD(m != NULL, false);
    return joint >= 0 && joint < m->njoint && m->joints[joint].tree_body != ITM_NONE;
}

int itm_model_get_joint_q_adr(const ItmModel* m, int joint)
{
    ITM_GUARD(m != NULL, ITM_NONE);
    return itm_model_is_joint_in_tree(m, joint) ? m->bodies[m->joints[joint].tree_body].q_adr : ITM_NONE;
}

int itm_model_get_joint_v_adr(const ItmModel* m, int joint)
{
    ITM_GUARD(m != NULL, ITM_NONE);
    return itm_model_is_joint_in_tree(m, joint) ? m->bodies[m->joints[joint].tree_body].v_adr : ITM_NONE;
}
