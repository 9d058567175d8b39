// The states that the linearised macro step disturbs, and their components.
//
// States: coordinates and velocities of bodies that joints or forces connect with an interface or a driven actuator, states of the
// subsystems, and the memory of bonds. Bodies that touch those by contact only are left out (a block that lies there): their own
// contacts respond to a disturbance upwards and downwards differently, which is no growth.
//
// Components come from a union-find over bodies of all mechanisms and subsystems. States of different components can be disturbed in the
// same trial step, so the number of trial steps is that of the largest component, however many copies of a machine a system holds.
#include "cosim/advice.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/union_find.h"
#include "contact/contact.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALL 1e-6         // disturbance of coordinates (m, rad) and velocities
#define SMALL_SHARE 1e-5   // of other states
#define USUAL_FORCE 100.0  // N
#define USUAL_STATE 0.1    // of subsystems that give no usual sizes

// ---------------------------------------------------------------------------- components

// Nodes: the bodies of mechanism after mechanism, then the subsystems.
typedef struct Graph {
    int nnode;
    int* first;       // node of body 0 of a mechanism          (nmechanism + 1); the last: of subsystem 0
    int* root;        // union-find                             (nnode)
    bool* is_driven;  // a node whose states count              (nnode)
    bool is_marking;  // first pass over bonds and wires: notes what they drive; the second pass joins
    bool takes_all;   // states of all bodies, and memory that the next step does not read
} Graph;

static void join_nodes(Graph* g, int node_a, int node_b)
{
    if (!g->is_marking) {
        itm_union_join(g->root, node_a, node_b);
    }
}

// ITM_NONE (the world) connects nothing.
static void join_bodies(Graph* g, int mechanism, int body_a, int body_b)
{
    if (body_a != ITM_NONE && body_b != ITM_NONE) {
        join_nodes(g, g->first[mechanism] + body_a, g->first[mechanism] + body_b);
    }
}

// Bodies that joints, rows or forces connect; all of a mechanism where it chooses its steps from the errors of all.
static void join_mechanism(Graph* g, const ItmMechanism* part, int mechanism)
{
    const ItmModel* m = part->model;
    ItmStepper stepper = part->step.stepper;
    bool has_common_step = itm_stepper_is_variable(stepper) || stepper == ITM_STEPPER_REFERENCE;
    for (int i = 0; i < m->nbody; i++) {
        join_bodies(g, mechanism, i, has_common_step ? 0 : m->component[i]);
    }
    for (int i = 0; i < m->nmeasure; i++) {
        int bodies[ITM_BLOCK_BODIES], n = itm_measure_get_bodies(&m->measures[i], bodies);
        for (int k = 1; k < n; k++) {
            join_bodies(g, mechanism, bodies[0], bodies[k]);
        }
    }
    for (int i = 0; i < m->nbushing; i++) {
        join_bodies(g, mechanism, m->bushings[i].body_a, m->bushings[i].body_b);
    }
}

// A node drives the bodies that a measure, an actuator or a signal of a mechanism acts on.
static void drive_body(Graph* g, int mechanism, int body, int node)
{
    if (body != ITM_NONE) {
        g->is_driven[g->first[mechanism] + body] = true;
        join_nodes(g, g->first[mechanism] + body, node);
    }
}

static void drive_measure(Graph* g, const ItmModel* m, int mechanism, int measure, int node)
{
    int bodies[ITM_BLOCK_BODIES], n = itm_measure_get_bodies(&m->measures[measure], bodies);
    for (int k = 0; k < n; k++) {
        drive_body(g, mechanism, bodies[k], node);
    }
}

static void drive_signal(Graph* g, const ItmModel* m, int mechanism, int signal, int node)
{
    for (int i = 0; i < m->nmotion; i++) {
        if (m->motions[i].signal == signal) {
            drive_measure(g, m, mechanism, m->motions[i].measure, node);
        }
    }
    for (int i = 0; i < m->nscalar_force; i++) {
        if (m->scalar_forces[i].signal == signal ||
            (m->scalar_forces[i].is_servo && m->scalar_forces[i].target == signal)) {
            drive_measure(g, m, mechanism, m->scalar_forces[i].measure, node);
        }
    }
    for (int i = 0; i < m->nload; i++) {
        if (m->loads[i].signal == signal) {
            drive_body(g, mechanism, m->loads[i].body, node);
        }
    }
}

// The node of the source of a wire. Any output of a mechanism may depend on all its bodies, which are one component then.
static int join_source(Graph* g, const ItmCosim* x, const ItmWire* wire)
{
    int subsystems = g->first[x->nmechanism];
    if (wire->from == ITM_SOURCE_SUBSYSTEM) {
        return subsystems + wire->from_part;
    }
    if (wire->from != ITM_SOURCE_MECHANISM) {
        return subsystems + x->bonds[wire->from_index].subsystem;
    }
    if (x->mechanisms[wire->from_part].foreign != NULL) {
        return subsystems + x->bonds[x->mechanisms[wire->from_part].bonds[0]].subsystem;
    }
    for (int i = 1; i < x->mechanisms[wire->from_part].model->nbody; i++) {
        join_bodies(g, wire->from_part, 0, i);
    }
    return g->first[wire->from_part];
}

static void join_wires(Graph* g, const ItmCosim* x)
{
    for (int i = 0; i < x->nwire; i++) {
        const ItmWire* wire = &x->wires[i];
        int node = join_source(g, x, wire);
        if (wire->to_subsystem != ITM_NONE) {
            join_nodes(g, node, g->first[x->nmechanism] + wire->to_subsystem);
            continue;
        }
        const ItmMechanism* part = &x->mechanisms[wire->to_mechanism];
        const ItmModel* m = part->model;
        if (part->foreign != NULL) {
            join_nodes(g, node, g->first[x->nmechanism] + x->bonds[part->bonds[0]].subsystem);
        } else if (wire->is_signal) {
            drive_signal(g, m, wire->to_mechanism, wire->to_index, node);
        } else {
            drive_measure(g, m, wire->to_mechanism, m->scalar_forces[m->actuator_force[wire->to_index]].measure, node);
        }
    }
}

static void join_bonds(Graph* g, const ItmCosim* x)
{
    for (int i = 0; i < x->nbond; i++) {
        const ItmBond* bond = &x->bonds[i];
        const ItmMechanism* part = &x->mechanisms[bond->mechanism];
        if (part->foreign != NULL) {
            // its states are out of reach: subsystems at one foreign mechanism belong together
            int subsystems = g->first[x->nmechanism];
            join_nodes(g, subsystems + bond->subsystem, subsystems + x->bonds[part->bonds[0]].subsystem);
            continue;
        }
        int force = part->model->actuator_force[part->rim.actuator[bond->slot]];
        drive_measure(g, part->model, bond->mechanism, part->model->scalar_forces[force].measure,
                      g->first[x->nmechanism] + bond->subsystem);
    }
    for (int i = 0; i < x->nframe_bond; i++) {
        const ItmInterface *a = &x->interfaces[x->frame_bonds[i].a], *b = &x->interfaces[x->frame_bonds[i].b];
        int node_a = g->first[a->mechanism] + a->frame.body, node_b = g->first[b->mechanism] + b->frame.body;
        g->is_driven[node_a] = g->is_driven[node_b] = true;
        join_nodes(g, node_a, node_b);
    }
}

// Driven is a whole set: what drives one body moves all that are connected with it.
static void spread_driven(Graph* g)
{
    for (int i = 0; i < g->nnode; i++) {
        int set = itm_union_find(g->root, i);
        g->is_driven[set] = g->is_driven[set] || g->is_driven[i];
    }
    for (int i = 0; i < g->nnode; i++) {
        g->is_driven[i] = g->is_driven[itm_union_find(g->root, i)];
    }
}

// Shapes that may touch.
static void join_contacts(Graph* g, const ItmModel* m, int mechanism)
{
    int last = ITM_NONE;
    for (int i = 0; m->contact != NULL && i < m->contact->ncollider; i++) {
        int body = m->contact->colliders[i].body;
        join_bodies(g, mechanism, last, body);
        last = body != ITM_NONE ? body : last;
    }
    for (int i = 0; m->contact != NULL && i < m->contact->ngap; i++) {
        join_bodies(g, mechanism, m->contact->gaps[i].body_a, m->contact->gaps[i].body_b);
    }
}

static ItmStatus create_graph(Graph* g, const ItmCosim* x, bool takes_all)
{
    g->first = calloc((size_t)x->nmechanism + 1, sizeof *g->first);
    for (int i = 0; g->first != NULL && i < x->nmechanism; i++) {
        g->first[i + 1] = g->first[i] + x->mechanisms[i].model->nbody;
    }
    g->nnode = g->first != NULL ? g->first[x->nmechanism] + x->nsubsystem : 0;
    g->root = calloc((size_t)g->nnode + 1, sizeof *g->root);
    g->is_driven = calloc((size_t)g->nnode + 1, sizeof *g->is_driven);
    g->takes_all = takes_all;
    if (g->first == NULL || g->root == NULL || g->is_driven == NULL) {
        return ITM_ERR_MEMORY;
    }
    for (int i = 0; i < g->nnode; i++) {
        g->root[i] = i;
        g->is_driven[i] = takes_all;
    }
    for (int i = 0; i < x->nmechanism; i++) {
        join_mechanism(g, &x->mechanisms[i], i);
    }
    g->is_marking = true;
    join_bonds(g, x);
    join_wires(g, x);
    spread_driven(g);
    g->is_marking = false;
    join_bonds(g, x);
    join_wires(g, x);
    for (int i = 0; i < x->nmechanism; i++) {
        join_contacts(g, x->mechanisms[i].model, i);
    }
    return ITM_OK;
}

static void destroy_graph(Graph* g)
{
    free(g->first);
    free(g->root);
    free(g->is_driven);
}

// ---------------------------------------------------------------------------- walk

// Goes over all states in a fixed order: counts them, or fills the tables.
typedef struct Walk {
    ItmStates* states;
    int* node;  // of each state, NULL: only counts      (n)
    int n;
} Walk;

static void visit(Walk* walk, int node, double* at, double usual, double share)
{
    if (walk->node != NULL) {
        walk->node[walk->n] = node;
        walk->states->at[walk->n] = at;
        walk->states->usual[walk->n] = usual;
        walk->states->share[walk->n] = share;
    }
    walk->n++;
}

static void visit_mechanism(Walk* walk, const Graph* g, const ItmMechanism* part, int first)
{
    const ItmModel* m = part->model;
    for (int i = 0; i < m->nbody; i++) {
        const ItmBody* body = &m->bodies[i];
        for (int k = 0; k < body->nq && g->is_driven[first + i]; k++) {
            visit(walk, first + i, &part->data->q[body->q_adr + k], SMALL, 0.0);
        }
        for (int k = 0; k < body->nv && g->is_driven[first + i]; k++) {
            visit(walk, first + i, &part->data->v[body->v_adr + k], SMALL, 0.0);
        }
    }
}

// The course of signals from wires, which the mechanism remembers: they belong to the source of the wire.
static void visit_signals(Walk* walk, Graph* g, const ItmCosim* x)
{
    for (int i = 0; i < x->nwire; i++) {
        const ItmWire* wire = &x->wires[i];
        if (wire->to_mechanism == ITM_NONE || !wire->is_signal) {
            continue;
        }
        const ItmMechanism* part = &x->mechanisms[wire->to_mechanism];
        double* external = part->data->external + ITM_EXTERNAL_REALS * part->model->signals[wire->to_index].external;
        int node = join_source(g, x, wire);
        visit(walk, node, &external[ITM_EXTERNAL_OFFSET], SMALL, 0.0);
        visit(walk, node, &external[ITM_EXTERNAL_SLOPE], SMALL, 0.0);
    }
}

// Force and past rates of a bond. A past rate that no extrapolation reads has a column of zeros, and so no part in other eigenvalues.
static void visit_bond(Walk* walk, int node, const ItmBond* bond, bool takes_all)
{
    bool is_quadratic = bond->options.coupling == ITM_COUPLING_QUADRATIC;
    int npast = takes_all || is_quadratic ? 2 : bond->options.coupling == ITM_COUPLING_LINEAR;
    visit(walk, node, &bond->memory->force, USUAL_FORCE, SMALL_SHARE);
    visit(walk, node, &bond->memory->active, USUAL_FORCE, SMALL_SHARE);
    for (int k = 0; k < npast; k++) {
        visit(walk, node, &bond->memory->w_past[k], SMALL, 0.0);
    }
}

static void walk_states(Walk* walk, Graph* g, const ItmCosim* x)
{
    int subsystems = g->first[x->nmechanism];
    walk->n = 0;
    for (int i = 0; i < x->nmechanism; i++) {
        visit_mechanism(walk, g, &x->mechanisms[i], g->first[i]);
    }
    visit_signals(walk, g, x);
    for (int i = 0; i < x->nbond; i++) {
        const ItmBond* bond = &x->bonds[i];
        visit_bond(walk, subsystems + bond->subsystem, bond, g->takes_all);
    }
    for (int i = 0; i < x->nsubsystem; i++) {
        const ItmSubsystem* table = &x->subsystems[i].table;
        for (int k = 0; table->get_states != NULL && k < table->nstate; k++) {
            visit(walk, subsystems + i, NULL, table->nominal != NULL ? table->nominal[k] : USUAL_STATE, SMALL_SHARE);
        }
    }
}

// ---------------------------------------------------------------------------- order

// Components that a foreign mechanism belongs to: those of its partners.
static void mark_open(ItmStates* s, Graph* g, const ItmCosim* x, const int* node)
{
    for (int i = 0; i < s->n; i++) {
        int set = itm_union_find(g->root, node[i]), c = 0;
        while (s->first[c + 1] <= s->place[i]) {
            c++;
        }
        for (int k = 0; k < x->nbond && !s->is_open[c]; k++) {
            int partner = g->first[x->nmechanism] + x->bonds[k].subsystem;
            s->is_open[c] =
                x->mechanisms[x->bonds[k].mechanism].foreign != NULL && itm_union_find(g->root, partner) == set;
        }
    }
}

// Number the sets that have states in the order of their first state, and sort states by them, stably. count (nnode): zeros.
static void sort_by_component(ItmStates* s, Graph* g, const int* node, int* count)
{
    s->ncomponent = 0;
    for (int i = 0; i < s->n; i++) {  // count[set]: its number, from 1
        int set = itm_union_find(g->root, node[i]);
        count[set] = count[set] > 0 ? count[set] : ++s->ncomponent;
        s->place[i] = count[set] - 1;
    }
    memset(s->first, 0, sizeof *s->first * (size_t)(s->ncomponent + 1));
    for (int i = 0; i < s->n; i++) {
        s->first[s->place[i] + 1]++;
    }
    for (int c = 0; c < s->ncomponent; c++) {
        s->first[c + 1] += s->first[c];
    }
    memset(count, 0, sizeof *count * (size_t)s->ncomponent);
    for (int i = 0; i < s->n; i++) {
        int c = s->place[i];
        s->place[i] = s->first[c] + count[c]++;
    }
}

static ItmStatus fill(ItmStates* s, Graph* g, const ItmCosim* x)
{
    Walk walk = {.states = s};
    walk_states(&walk, g, x);
    s->n = walk.n;
    size_t n = (size_t)s->n + 1;
    s->first = calloc(n + 1, sizeof *s->first);
    s->place = calloc(n, sizeof *s->place);
    s->at = calloc(n, sizeof(double*));
    s->usual = calloc(3 * n, sizeof *s->usual);
    int* node = calloc(n, sizeof *node);
    int* count = calloc((size_t)g->nnode + n, sizeof *count);
    s->is_open = calloc(n, sizeof *s->is_open);
    bool is_there = s->is_open != NULL && s->first != NULL && s->place != NULL && s->at != NULL && s->usual != NULL &&
                    node != NULL && count != NULL;
    if (is_there) {
        s->share = s->usual + n;
        s->room = s->usual + 2 * n;
        walk.node = node;
        walk_states(&walk, g, x);
        sort_by_component(s, g, node, count);
        mark_open(s, g, x, node);
    }
    free(node);
    free(count);
    return is_there ? ITM_OK : ITM_ERR_MEMORY;
}

ItmStatus itm_advice_states_create(ItmStates* states, ItmCosim* x, bool takes_all)
{
    *states = (ItmStates){0};
    Graph g = {0};
    ItmStatus status = create_graph(&g, x, takes_all);
    status = status == ITM_OK ? fill(states, &g, x) : status;
    destroy_graph(&g);
    return status == ITM_OK ? ITM_OK
                            : itm_error_set(&x->error, status, "itm_cosim_compute_radius", NULL, "out of memory");
}

void itm_advice_states_destroy(ItmStates* states)
{
    free(states->first);
    free(states->is_open);
    free(states->place);
    free(states->at);
    free(states->usual);
}

// ---------------------------------------------------------------------------- reading and writing

// Of subsystems, which come last in the walk.
static void read_subsystems(const ItmStates* s, const ItmCosim* x)
{
    double* z = s->room + s->n;
    for (int i = x->nsubsystem - 1; i >= 0; i--) {
        const ItmSubsystem* table = &x->subsystems[i].table;
        if (table->get_states != NULL) {
            z -= table->nstate;
            table->get_states(table->self, z);
        }
    }
}

// Outputs that wires take follow the states.
static void write_subsystems(const ItmStates* s, const ItmCosim* x)
{
    const double* z = s->room + s->n;
    for (int i = x->nsubsystem - 1; i >= 0; i--) {
        const ItmSubsystemInstance* subsystem = &x->subsystems[i];
        const ItmSubsystem* table = &subsystem->table;
        if (table->get_states == NULL || table->nstate == 0) {
            continue;
        }
        z -= table->nstate;
        table->set_states(table->self, z);
        if (subsystem->is_watched && !table->is_sampled) {
            table->get_outputs(table->self, subsystem->y);
        }
    }
}

void itm_advice_states_read(const ItmStates* s, ItmCosim* x, double* z, double* small)
{
    read_subsystems(s, x);
    for (int i = 0; i < s->n; i++) {
        double value = s->at[i] != NULL ? *s->at[i] : s->room[i];
        z[s->place[i]] = value;
        if (small != NULL) {
            small[s->place[i]] = s->share[i] > 0.0 ? s->share[i] * fmax(fabs(value), s->usual[i]) : s->usual[i];
        }
    }
}

void itm_advice_states_write(const ItmStates* s, ItmCosim* x, const double* z)
{
    for (int i = 0; i < s->n; i++) {
        s->room[i] = z[s->place[i]];
        if (s->at[i] != NULL) {
            *s->at[i] = s->room[i];
        }
    }
    write_subsystems(s, x);
    for (int i = 0; i < x->nmechanism; i++) {
        x->mechanisms[i].data->position_state = ITM_POSITION_STALE;
    }
}

// ---------------------------------------------------------------------------- names

// Write the names of states one after the other in the order of the walk.
typedef struct Namer {
    const ItmStates* states;
    char (*names)[ITM_STATE_NAME_SIZE];
    int n;
} Namer;

static void name_state(Namer* namer, const char* part, const char* element, const char* quantity, int k)
{
    char* name = namer->names[namer->states->place[namer->n++]];
    int used = snprintf(name, ITM_STATE_NAME_SIZE, "%s%s%s%s%s", part, part[0] != '\0' ? "." : "", element,
                        element[0] != '\0' && quantity[0] != '\0' ? "." : "", quantity);
    if (k != ITM_NONE && used < ITM_STATE_NAME_SIZE) {
        snprintf(name + used, ITM_STATE_NAME_SIZE - (size_t)used, "%d", k);
    }
}

static void name_mechanism(Namer* namer, const ItmMechanism* part)
{
    for (int i = 0; i < part->model->nbody; i++) {
        const ItmBody* body = &part->model->bodies[i];
        for (int k = 0; k < body->nq; k++) {
            name_state(namer, part->name, body->name, "q", k);
        }
        for (int k = 0; k < body->nv; k++) {
            name_state(namer, part->name, body->name, "v", k);
        }
    }
}

static void name_subsystem(Namer* namer, const ItmSubsystemInstance* part)
{
    const ItmSubsystem* table = &part->table;
    for (int k = 0; table->get_states != NULL && k < table->nstate; k++) {
        if (part->hydraulics != NULL) {
            name_state(namer, part->name, itm_circuit_get_state_name(part->hydraulics->circuit, k), "", ITM_NONE);
        } else {
            name_state(namer, part->name, "", "x", k);
        }
    }
}

void itm_advice_states_name(const ItmStates* s, const ItmCosim* x, char (*names)[ITM_STATE_NAME_SIZE])
{
    Namer namer = {.states = s, .names = names};
    for (int i = 0; i < x->nmechanism; i++) {
        name_mechanism(&namer, &x->mechanisms[i]);
    }
    for (int i = 0; i < x->nwire; i++) {
        const ItmWire* wire = &x->wires[i];
        if (wire->to_mechanism != ITM_NONE && wire->is_signal) {
            const ItmMechanism* part = &x->mechanisms[wire->to_mechanism];
            name_state(&namer, part->name, part->model->signals[wire->to_index].def.name, "offset", ITM_NONE);
            name_state(&namer, part->name, part->model->signals[wire->to_index].def.name, "slope", ITM_NONE);
        }
    }
    for (int i = 0; i < x->nbond; i++) {
        name_state(&namer, "bond", x->bonds[i].name, "force", ITM_NONE);
        name_state(&namer, "bond", x->bonds[i].name, "active_force", ITM_NONE);
        name_state(&namer, "bond", x->bonds[i].name, "past_rate", 0);
        name_state(&namer, "bond", x->bonds[i].name, "past_rate", 1);
    }
    for (int i = 0; i < x->nsubsystem; i++) {
        name_subsystem(&namer, &x->subsystems[i]);
    }
    ITM_ASSERT(namer.n == s->n);
}
