// Life and look-ups of a compiled circuit.
#include "hydraulics/circuit.h"

#include "base/guard.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------- memory

void* itm_circuit_take(ItmCircuit* c, size_t count, size_t size)
{
    return itm_owned_take(&c->owned, count, size);
}

void itm_circuit_destroy(ItmCircuit* c)
{
    if (c == NULL) {
        return;
    }
    itm_owned_free(&c->owned);
    free(c);
}

// ---------------------------------------------------------------------------- look-ups

ItmCircuitInfo itm_circuit_get_info(const ItmCircuit* c)
{
    ITM_GUARD(c != NULL, (ItmCircuitInfo){0});
    return (ItmCircuitInfo){
        .nnode = c->nnode,
        .nvolume = c->nvol,
        .nsource = c->nsrc,
        .nbranch = c->nbranch,
        .nvalve = c->nvalve,
        .ncylinder = c->ncyl,
        .naccumulator = c->nacc,
        .ninput = c->ndrive,
        .nstate = c->nx,
        .nisland = c->nisland,
        .data_bytes = c->data_bytes,
    };
}

int itm_circuit_find_node(const ItmCircuit* c, const char* name)
{
    ITM_GUARD(c != NULL && name != NULL, ITM_NONE);
    for (int id = 0; id < c->nnode; id++) {
        if (strcmp(c->node_name[c->node_index[id]], name) == 0) {
            return id;
        }
    }
    return ITM_NONE;
}

int itm_circuit_find_cylinder(const ItmCircuit* c, const char* name)
{
    ITM_GUARD(c != NULL && name != NULL, ITM_NONE);
    for (int i = 0; i < c->ncyl; i++) {
        if (strcmp(c->cylinders[i].name, name) == 0) {
            return i;
        }
    }
    return ITM_NONE;
}

int itm_circuit_find_input(const ItmCircuit* c, const char* name)
{
    ITM_GUARD(c != NULL && name != NULL, ITM_NONE);
    for (int i = 0; i < c->ndrive; i++) {
        if (strcmp(c->drives[i].name, name) == 0) {
            return i;
        }
    }
    return ITM_NONE;
}

const char* itm_circuit_get_node_name(const ItmCircuit* c, int node)
{
    ITM_GUARD(c != NULL, NULL);
    return node >= 0 && node < c->nnode ? c->node_name[c->node_index[node]] : NULL;
}

const char* itm_circuit_get_cylinder_name(const ItmCircuit* c, int cylinder)
{
    ITM_GUARD(c != NULL, NULL);
    return cylinder >= 0 && cylinder < c->ncyl ? c->cylinders[cylinder].name : NULL;
}

const char* itm_circuit_get_input_name(const ItmCircuit* c, int input)
{
    ITM_GUARD(c != NULL, NULL);
    return input >= 0 && input < c->ndrive ? c->drives[input].name : NULL;
}

const char* itm_circuit_get_state_name(const ItmCircuit* c, int state)
{
    ITM_GUARD(c != NULL, NULL);
    return state >= 0 && state < c->nx ? c->state_name[state] : NULL;
}

double itm_circuit_next_break(const ItmCircuit* c, double t)
{
    ITM_GUARD(c != NULL, INFINITY);
    double next = INFINITY;
    for (int i = 0; i < c->nsignal; i++) {
        next = fmin(next, itm_signal_next_break(&c->signals[i], t));
    }
    return next;
}
