// Life and look-ups of a compiled model.
#include "multibody/model.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------- memory

void* itm_model_take(ItmModel* m, size_t count, size_t size)
{
    if (m->nowned == m->owned_capacity) {
        int capacity = m->owned_capacity > 0 ? 2 * m->owned_capacity : 64;
        void** owned = realloc(m->owned, sizeof(void*) * (size_t)capacity);
        if (owned == NULL) {
            return NULL;
        }
        m->owned = owned;
        m->owned_capacity = capacity;
    }
    void* block = calloc(count > 0 ? count : 1, size);
    if (block != NULL) {
        m->owned[m->nowned++] = block;
    }
    return block;
}

char* itm_model_take_string(ItmModel* m, const char* text)
{
    size_t length = strlen(text) + 1;
    char* copy = itm_model_take(m, length, 1);
    if (copy != NULL) {
        memcpy(copy, text, length);
    }
    return copy;
}

char* itm_model_format(ItmModel* m, const char* format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return itm_model_take_string(m, text);
}

void itm_multibody_destroy(ItmModel* m)
{
    if (m == NULL) {
        return;
    }
    itm_blocks_free(&m->pattern);
    for (int i = 0; i < m->nowned; i++) {
        free(m->owned[i]);
    }
    free(m->owned);
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
    return m->info;
}

int itm_model_find_body(const ItmModel* m, const char* name)
{
    for (int id = 0; id < m->nuser; id++) {
        if (strcmp(m->bodies[m->body_index[id]].name, name) == 0) {
            return id;
        }
    }
    return ITM_NONE;
}

int itm_model_find_joint(const ItmModel* m, const char* name)
{
    for (int id = 0; id < m->njoint; id++) {
        if (strcmp(m->joints[id].name, name) == 0) {
            return id;
        }
    }
    return ITM_NONE;
}

int itm_model_find_signal(const ItmModel* m, const char* name)
{
    for (int id = 0; id < m->nsignal; id++) {
        if (strcmp(m->signals[id].def.name, name) == 0) {
            return id;
        }
    }
    return ITM_NONE;
}

int itm_model_find_actuator(const ItmModel* m, const char* name)
{
    for (int id = 0; id < m->nactuator; id++) {
        if (strcmp(m->pushes[m->actuator_push[id]].name, name) == 0) {
            return id;
        }
    }
    return ITM_NONE;
}

const char* itm_model_get_body_name(const ItmModel* m, int body)
{
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
    const ItmFlexible* f = flexible_of(m, body);
    return f != NULL ? f->n : 0;
}

double itm_model_get_mode_frequency(const ItmModel* m, int body, int mode)
{
    const ItmFlexible* f = flexible_of(m, body);
    return f != NULL && mode >= 0 && mode < f->n ? sqrt(f->tables.stiffness[mode] / f->tables.mass[mode]) : 0.0;
}

const char* itm_model_get_joint_name(const ItmModel* m, int joint)
{
    return joint >= 0 && joint < m->njoint ? m->joints[joint].name : NULL;
}

const char* itm_model_get_row_name(const ItmModel* m, int row)
{
    return row >= 0 && row < m->nrow ? m->row_names[row] : NULL;
}

bool itm_model_is_row_redundant(const ItmModel* m, int row)
{
    return row >= 0 && row < m->nrow && m->is_row_redundant[row];
}

bool itm_model_is_joint_in_tree(const ItmModel* m, int joint)
{
    return joint >= 0 && joint < m->njoint && m->joints[joint].tree_body != ITM_NONE;
}

int itm_model_get_joint_q_adr(const ItmModel* m, int joint)
{
    return itm_model_is_joint_in_tree(m, joint) ? m->bodies[m->joints[joint].tree_body].q_adr : ITM_NONE;
}

int itm_model_get_joint_v_adr(const ItmModel* m, int joint)
{
    return itm_model_is_joint_in_tree(m, joint) ? m->bodies[m->joints[joint].tree_body].v_adr : ITM_NONE;
}
