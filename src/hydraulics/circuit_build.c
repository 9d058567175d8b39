// From definitions to the tables of a circuit.
#include "hydraulics/circuit_builder.h"
#include "hydraulics/data.h"

#include "base/check.h"
#include "base/error.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NODES 20000  // the square of an island must be an int
#define LS_OPENING 0.05  // of the limit of a spool: its load-sensing edge is fully open from there on
#define BYPASS_SIZE                                                                                                    \
    10.0  // flow of the open bypass of a filter at its opening pressure, as a multiple of the filter's own
#define PI 3.14159265358979323846

typedef struct Compile {
    const ItmCircuitBuilder* b;
    ItmCircuit* c;
    ItmError* error;
    bool is_full;  // out of memory
    int* group;    // union-find over nodes by builder id: volumes that exchange oil    (nnode)
} Compile;

static ItmStatus out_of_memory(ItmError* error)
{
    return itm_error_set(error, ITM_ERR_MEMORY, "itm_circuit_build", NULL, "out of memory for a circuit");
}

// ---------------------------------------------------------------------------- islands

static int find_root(int* group, int i)
{
    while (group[i] != i) {
        group[i] = group[group[i]];
        i = group[i];
    }
    return i;
}

// The smaller number leads, so that islands keep the order of their first volume.
static void join(Compile* k, int a, int b)
{
    if (k->b->nodes.items[a].is_source || k->b->nodes.items[b].is_source) {
        return;
    }
    int root_a = find_root(k->group, a), root_b = find_root(k->group, b);
    k->group[root_a > root_b ? root_a : root_b] = root_a > root_b ? root_b : root_a;
}

// Node n of a line: 0 and `segments` (at least 1) are its ports.
static int get_line_node(const ItmLineParts* line, int n)
{
    int last = line->def.segments > 1 ? line->def.segments : 1;
    return n == 0 ? line->def.port_a : n == last ? line->def.port_b : line->inner + n - 1;
}

static bool has_controller(const ItmMotorDef* def)
{
    return def->is_variable && (def->load_port != ITM_NONE || isfinite(def->pressure_limit) ||
                                isfinite(def->torque_limit) || isfinite(def->power_limit));
}

static void join_all(Compile* k)
{
    const ItmCircuitBuilder* b = k->b;
    for (int i = 0; i < b->nodes.count; i++) {
        k->group[i] = i;
    }
    for (int i = 0; i < b->orifices.count; i++) {
        join(k, b->orifices.items[i].port_a, b->orifices.items[i].port_b);
    }
    for (int i = 0; i < b->laminars.count; i++) {
        join(k, b->laminars.items[i].port_a, b->laminars.items[i].port_b);
    }
    for (int i = 0; i < b->pressure_valves.count; i++) {
        const ItmPressureValveDef* valve = &b->pressure_valves.items[i];
        join(k, valve->port_a, valve->port_b);
        if (valve->port_c != ITM_NONE) {
            join(k, valve->port_a, valve->port_c);
            join(k, valve->port_b, valve->port_c);
        }
        for (int n = 0; n < valve->npilot; n++) {
            join(k, itm_circuit_builder_get_pilot_node(valve, n), valve->port_a);
            join(k, itm_circuit_builder_get_pilot_node(valve, n), valve->port_b);
        }
    }
    for (int i = 0; i < b->filters.count; i++) {
        join(k, b->filters.items[i].port_a, b->filters.items[i].port_b);
    }
    for (int i = 0; i < b->lines.count; i++) {
        const ItmLineParts* line = &b->lines.items[i];
        for (int n = 0; n <= (line->def.segments > 1 ? line->def.segments - 1 : 0); n++) {
            join(k, get_line_node(line, n), get_line_node(line, n + 1));
        }
    }
    for (int i = 0; i < b->valves.count; i++) {
        const ItmValveDef* valve = &b->valves.items[i];
        if (valve->port_ls != ITM_NONE) {
            join(k, valve->port_a, valve->port_ls);
            join(k, valve->port_b, valve->port_ls);
        }
        if (valve->metering[ITM_EDGE_PT].npoint > 0) {
            join(k, valve->port_p, valve->port_t);
        }
        if (valve->metering[ITM_EDGE_AB].npoint > 0) {
            join(k, valve->port_a, valve->port_b);
        }
        join(k, valve->port_p, valve->port_a);
        join(k, valve->port_p, valve->port_b);
        join(k, valve->port_t, valve->port_a);
        join(k, valve->port_t, valve->port_b);
    }
    for (int i = 0; i < b->cylinders.count; i++) {
        if (b->cylinders.items[i].leakage > 0) {
            join(k, b->cylinders.items[i].port_1, b->cylinders.items[i].port_2);
        }
    }
    for (int i = 0; i < b->motors.count; i++) {
        const ItmMotorDef* motor = &b->motors.items[i];
        if (motor->leakage > 0 || has_controller(motor)) {
            join(k, motor->port_1, motor->port_2);
        }
        if (motor->load_port != ITM_NONE) {
            join(k, motor->port_1, motor->load_port);
            join(k, motor->port_2, motor->load_port);
        }
        if (motor->drain_leakage > 0) {
            join(k, motor->port_1, motor->port_drain);
            join(k, motor->port_2, motor->port_drain);
        }
    }
}

// Number the volumes island by island, then the sources.
static void number_nodes(Compile* k)
{
    ItmCircuit* c = k->c;
    int next = 0, used = 0;
    for (int root = 0; root < c->nnode; root++) {
        if (k->b->nodes.items[root].is_source || find_root(k->group, root) != root) {
            continue;
        }
        c->island_adr[c->nisland] = next;
        for (int i = root; i < c->nnode; i++) {
            if (!k->b->nodes.items[i].is_source && find_root(k->group, i) == root) {
                c->node_index[i] = next++;
            }
        }
        int size = next - c->island_adr[c->nisland];
        c->lu_adr[c->nisland++] = used;
        used += size * size;
    }
    c->island_adr[c->nisland] = next;
    c->nlu = used;
    for (int i = 0; i < c->nnode; i++) {
        if (k->b->nodes.items[i].is_source) {
            c->node_index[i] = next++;
        }
    }
}

// ---------------------------------------------------------------------------- nodes and drives

static int add_drive(Compile* k, const char* name, double base, int signal)
{
    ItmCircuit* c = k->c;
    c->drives[c->ndrive] = (ItmDrive){.name = name, .base = base, .signal = signal};
    bool varies = signal != ITM_NONE && c->signals[signal].def.kind != ITM_SIGNAL_PIECEWISE &&
                  c->signals[signal].def.kind != ITM_SIGNAL_CONSTANT;
    if (varies) {
        c->varying[c->nvarying++] = c->ndrive;
    }
    return c->ndrive++;
}

static void compile_nodes(Compile* k)
{
    ItmCircuit* c = k->c;
    for (int id = 0; id < c->nnode; id++) {
        const ItmNodeDef* def = &k->b->nodes.items[id];
        const ItmFluidDef* fluid = &k->b->fluids.items[itm_circuit_builder_get_fluid(k->b, id)];
        int i = c->node_index[id];
        c->node_name[i] = itm_owned_print(&c->owned, "%s", def->name);
        if (def->is_source) {
            c->source_vapour[i - c->nvol] = fluid->vapour_pressure;
            c->source_drive[i - c->nvol] = add_drive(k, c->node_name[i], def->source.pressure, def->source.signal);
        } else {
            c->oil[i] = itm_fluid_compile(fluid);
            c->volume[i] = def->volume.volume;
            c->wall[i] = def->volume.volume / def->volume.wall_modulus;
            c->start[i] = def->volume.pressure;
            c->is_held[i] = def->volume.is_held;
            c->state_name[i] = itm_owned_print(&c->owned, "%s.pressure", def->name);
        }
    }
}

// ---------------------------------------------------------------------------- branches

// A branch between two nodes of the builder, with the orifice law.  C = C_d A sqrt(2 / rho)
static ItmBranch* add_branch(Compile* k, int a, int b, const ItmOrificeLaw* law, ItmHydraulicAccount account)
{
    ItmCircuit* c = k->c;
    const ItmFluidDef* fluid = &k->b->fluids.items[itm_circuit_builder_get_fluid(k->b, a)];
    double density = itm_fluid_compute_properties(fluid, ITM_AIR_PRESSURE).density;
    ItmBranch* branch = &c->branches[c->nbranch++];
    *branch = (ItmBranch){
        .a = c->node_index[a],
        .b = c->node_index[b],
        .control = ITM_NONE,
        .x_adr = ITM_NONE,
        .account = account,
        .is_one_way = law->is_one_way,
        .coefficient = law->coefficient > 0 ? law->coefficient : law->discharge * law->area * sqrt(2.0 / density),
        .threshold = law->threshold,
        .slope = law->threshold > 0 ? 1.0 / sqrt(law->threshold) : 0.0,
    };
    return branch;
}

// q = conductance (p_a - p_b): the orifice law whose straight part never ends.
static void add_laminar(Compile* k, int a, int b, double conductance, ItmHydraulicAccount account)
{
    ItmOrificeLaw law = {.coefficient = conductance};
    ItmBranch* branch = add_branch(k, a, b, &law, account);
    branch->threshold = INFINITY;
    branch->slope = 1.0;
}

static void add_view(Compile* k, const char* name)
{
    ItmCircuit* c = k->c;
    c->singles[c->nsingle++] = (ItmBranchView){
        .name = itm_owned_print(&c->owned, "%s", name), .branch = c->nbranch - 1, .last = c->nbranch - 1};
}

// Dead volumes belong to the nodes at the ports.
static void add_dead_volume(ItmCircuit* c, int node, double volume, double wall_modulus)
{
    if (node < c->nvol) {
        c->volume[node] += volume;
        c->wall[node] += volume / wall_modulus;
    }
}

static void compile_resistances(Compile* k)
{
    const ItmCircuitBuilder* b = k->b;
    ItmCircuit* c = k->c;
    for (int i = 0; i < b->orifices.count; i++) {
        const ItmOrificeDef* def = &b->orifices.items[i];
        ItmBranch* branch = add_branch(k, def->port_a, def->port_b, &def->law,
                                       def->is_variable ? ITM_HYDRAULIC_VALVE : ITM_HYDRAULIC_THROTTLE);
        add_view(k, def->name);
        if (def->is_variable) {
            const char* name = c->singles[c->nsingle - 1].name;
            branch->opening = ITM_OPENING_POSITIVE;
            branch->control = c->ncontrol;
            c->controls[c->ncontrol++] =
                (ItmSpool){.drive = add_drive(k, name, def->opening, def->signal), .x_adr = ITM_NONE, .hi = 1.0};
        }
    }
    for (int i = 0; i < b->laminars.count; i++) {
        const ItmLaminarDef* def = &b->laminars.items[i];
        add_laminar(k, def->port_a, def->port_b, def->conductance, ITM_HYDRAULIC_THROTTLE);
        add_view(k, def->name);
    }
}

// ---------------------------------------------------------------------------- pilots

// Begin a law; add_term appends to the last one.
static ItmPilotLaw* add_law(ItmCircuit* c, double base)
{
    ItmPilotLaw* law = &c->laws[c->nlaw++];
    *law = (ItmPilotLaw){.base = base, .drive = ITM_NONE, .shaft = ITM_NONE, .adr = c->nterm};
    return law;
}

static void add_term(Compile* k, int node, double gain)
{
    ItmCircuit* c = k->c;
    c->terms[c->nterm++] = (ItmPilotTerm){k->c->node_index[node], gain};
    c->laws[c->nlaw - 1].count++;
}

// A control in [lo, hi] with the laws from law_adr on; with a time constant its opening is a state.
static int add_pilot_control(Compile* k, const char* name, const char* state, int law_adr, double lo, double tau)
{
    ItmCircuit* c = k->c;
    ItmSpool* control = &c->controls[c->ncontrol];
    *control = (ItmSpool){
        .drive = ITM_NONE, .law_adr = law_adr, .nlaw = c->nlaw - law_adr, .x_adr = ITM_NONE, .lo = lo, .hi = 1.0};
    if (tau > 0.0) {
        control->order = 1;
        control->rate = 1.0 / tau;
        control->x_adr = c->nx;
        c->state_name[c->nx++] = itm_owned_print(&c->owned, "%s.%s", name, state);
        c->has_followers = true;
    }
    return c->ncontrol++;
}

// A check valve from a to b with a spring of its own: no drive, no name.
static void add_check(Compile* k, int a, int b, ItmOrificeLaw law, double opening_pressure, double span)
{
    ItmCircuit* c = k->c;
    law.is_one_way = true;
    int law_adr = c->nlaw;
    add_law(c, -opening_pressure / span);
    add_term(k, a, 1.0 / span);
    add_term(k, b, -1.0 / span);
    ItmBranch* branch = add_branch(k, a, b, &law, ITM_HYDRAULIC_VALVE);
    branch->opening = ITM_OPENING_POSITIVE;
    branch->control = add_pilot_control(k, "", "", law_adr, 0.0, 0.0);
}

static void compile_pressure_valves(Compile* k)
{
    ItmCircuit* c = k->c;
    for (int i = 0; i < k->b->pressure_valves.count; i++) {
        const ItmPressureValveDef* def = &k->b->pressure_valves.items[i];
        ItmBranch* branch = add_branch(k, def->port_a, def->port_b, &def->law, ITM_HYDRAULIC_VALVE);
        add_view(k, def->name);
        const char* name = c->singles[c->nsingle - 1].name;
        // u = (sum ratio p -+ opening_pressure) / span
        ItmPilotLaw* law = add_law(c, 0.0);
        int law_adr = c->nlaw - 1;
        law->drive = add_drive(k, name, def->opening_pressure, def->signal);
        law->by_drive = (def->is_normally_open ? 1.0 : -1.0) / def->span;
        for (int n = 0; n < def->npilot; n++) {
            add_term(k, itm_circuit_builder_get_pilot_node(def, n), def->pilots[n].ratio / def->span);
        }
        branch->opening = ITM_OPENING_POSITIVE;
        branch->control = add_pilot_control(k, name, "opening", law_adr, 0.0, def->time_constant);
        if (def->port_c != ITM_NONE) {
            ItmBranch* second = add_branch(k, def->port_a, def->port_c, &def->law, ITM_HYDRAULIC_VALVE);
            second->opening = ITM_OPENING_COMPLEMENT;
            second->control = branch->control;
            c->singles[c->nsingle - 1].second = c->nbranch - 1;
        }
        if (def->has_check) {
            ItmPressureValveDef check = itm_default_check_valve_def();
            add_check(k, def->port_b, def->port_a, def->law, check.opening_pressure, check.span);
            c->singles[c->nsingle - 1].reverse = c->nbranch - 1;
        }
    }
}

// ---------------------------------------------------------------------------- filters and lines

static void compile_filters(Compile* k)
{
    ItmCircuit* c = k->c;
    for (int i = 0; i < k->b->filters.count; i++) {
        const ItmFilterDef* def = &k->b->filters.items[i];
        add_laminar(k, def->port_a, def->port_b, def->conductance, ITM_HYDRAULIC_THROTTLE);
        add_view(k, def->name);
        ItmBranchView* view = &c->singles[c->nsingle - 1];
        ItmBranch* branch = &c->branches[view->branch];
        branch->opening = ITM_OPENING_RECIPROCAL;
        branch->control = c->ncontrol;
        c->controls[c->ncontrol++] = (ItmSpool){
            .drive = add_drive(k, view->name, def->clogging, def->signal), .x_adr = ITM_NONE, .hi = INFINITY};
        if (isfinite(def->bypass_pressure)) {
            double coefficient = def->bypass_coefficient > 0.0
                                     ? def->bypass_coefficient
                                     : BYPASS_SIZE * def->conductance * sqrt(def->bypass_pressure);
            ItmOrificeLaw law = {.coefficient = coefficient, .threshold = def->bypass_pressure};
            add_check(k, def->port_a, def->port_b, law, def->bypass_pressure, def->bypass_span);
            view->bypass = c->nbranch - 1;
        }
    }
}

// Segment n of a line.  q' = A / (rho l) (p_a - p_b) - 32 nu / d^2 q;  at rest q = pi d^4 / (128 mu l) (p_a - p_b)
static void compile_segment(Compile* k, const ItmLineParts* line, int n, const char* name)
{
    ItmCircuit* c = k->c;
    const ItmLineDef* def = &line->def;
    const ItmFluidDef* fluid = &k->b->fluids.items[itm_circuit_builder_get_fluid(k->b, def->port_a)];
    ItmFluidProperties oil = itm_fluid_compute_properties(fluid, ITM_AIR_PRESSURE);
    double area = 0.25 * PI * def->diameter * def->diameter, l = def->length / (def->segments > 0 ? def->segments : 1);
    double inv_inertia = area / (oil.density * l),
           rate = 32.0 * oil.kinematic_viscosity / (def->diameter * def->diameter);
    add_laminar(k, get_line_node(line, n), get_line_node(line, n + 1), inv_inertia / rate, ITM_HYDRAULIC_THROTTLE);
    if (def->segments > 0) {
        ItmBranch* branch = &c->branches[c->nbranch - 1];
        branch->inv_inertia = inv_inertia;
        branch->rate = rate;
        branch->x_adr = c->nx;
        c->state_name[c->nx++] = itm_owned_print(&c->owned, "%s.flow_%d", name, n + 1);
        c->ninertial++;
        c->has_followers = true;
    }
}

static void compile_lines(Compile* k)
{
    ItmCircuit* c = k->c;
    for (int i = 0; i < k->b->lines.count; i++) {
        const ItmLineParts* line = &k->b->lines.items[i];
        const ItmLineDef* def = &line->def;
        int nsegment = def->segments > 0 ? def->segments : 1;
        double volume = 0.25 * PI * def->diameter * def->diameter * def->length / nsegment;
        add_dead_volume(c, c->node_index[def->port_a], 0.5 * volume, def->wall_modulus);
        add_dead_volume(c, c->node_index[def->port_b], 0.5 * volume, def->wall_modulus);
        int first = c->nbranch;
        for (int n = 0; n < nsegment; n++) {
            compile_segment(k, line, n, def->name);
        }
        c->singles[c->nsingle++] = (ItmBranchView){
            .name = itm_owned_print(&c->owned, "%s", def->name), .branch = first, .last = c->nbranch - 1};
    }
}

// Limits and spool dynamics of a valve; its states stand at the command.
static void compile_spool(Compile* k, ItmSpool* control, const ItmValveDef* def, const char* name)
{
    ItmCircuit* c = k->c;
    bool is_symmetric = def->kind == ITM_VALVE_SYMMETRIC;
    control->lo = is_symmetric ? 0.0 : -def->limit;
    control->hi = is_symmetric ? 1.0 : def->limit;
    control->dead_band = is_symmetric ? 0.0 : def->dead_band;
    control->order = (int)def->spool;
    control->x_adr = ITM_NONE;
    if (control->order > 0) {
        control->x_adr = c->nx;
        control->rate = control->order == 1 ? 1.0 / def->time_constant : def->frequency;
        control->damping = 2.0 * def->damping_ratio * def->frequency;
        c->state_name[c->nx] = itm_owned_print(&c->owned, "%s.spool", name);
        if (control->order == 2) {
            c->state_name[c->nx + 1] = itm_owned_print(&c->owned, "%s.spool_rate", name);
        }
        c->nx += control->order;
    }
}

// Metering curve of a branch, where there is one.
static void set_metering(Compile* k, ItmBranch* branch, const double* spool, const double* opening, int npoint)
{
    size_t n = (size_t)npoint;
    double* table = n > 0 ? itm_circuit_take(k->c, 2 * n, sizeof *table) : NULL;
    if (table == NULL) {
        k->is_full = k->is_full || n > 0;
        return;
    }
    memcpy(table, spool, n * sizeof *table);
    memcpy(table + n, opening, n * sizeof *table);
    branch->opening = ITM_OPENING_TABLE;
    branch->npoint = npoint;
    branch->table_u = table;
    branch->table_y = table + n;
}

// P-T and A-B where they have a metering curve, and the two edges of the load-sensing line
static void compile_extra_edges(Compile* k, const ItmValveDef* def)
{
    ItmCircuit* c = k->c;
    int from[2] = {def->port_p, def->is_regenerative ? def->port_b : def->port_a};
    int to[2] = {def->port_t, def->is_regenerative ? def->port_a : def->port_b};
    for (int n = 0; n < 2; n++) {
        const ItmMetering* metering = &def->metering[ITM_EDGE_PT + n];
        if (metering->npoint > 0) {
            ItmBranch* branch = add_branch(k, from[n], to[n], &def->law, ITM_HYDRAULIC_VALVE);
            branch->control = c->ncontrol;
            branch->is_one_way = branch->is_one_way || (n == 1 && def->is_regenerative);
            set_metering(k, branch, metering->spool, metering->opening, metering->npoint);
        }
    }
    double full = LS_OPENING * (isfinite(def->limit) ? def->limit : 1.0) + def->dead_band;
    ItmOrificeLaw law = {.coefficient = def->ls_coefficient, .threshold = def->law.threshold, .is_one_way = true};
    for (int n = 0; def->port_ls != ITM_NONE && n < 2; n++) {
        ItmBranch* branch = add_branch(k, n == 0 ? def->port_a : def->port_b, def->port_ls, &law, ITM_HYDRAULIC_VALVE);
        branch->control = c->ncontrol;
        double up[2] = {0.0, full}, down[2] = {-full, 0.0};
        set_metering(k, branch, n == 0 ? up : down, n == 0 ? (double[2]){0.0, 1.0} : (double[2]){1.0, 0.0}, 2);
    }
}

static void compile_valves(Compile* k)
{
    ItmCircuit* c = k->c;
    for (int i = 0; i < k->b->valves.count; i++) {
        const ItmValveDef* def = &k->b->valves.items[i];
        ItmValveView* view = &c->valves[c->nvalve++];
        *view = (ItmValveView){itm_owned_print(&c->owned, "%s", def->name), c->ncontrol, c->nbranch};
        // P-A and B-T open together, and P-B and A-T
        int from[4] = {def->port_p, def->port_b, def->port_p, def->port_a};
        int to[4] = {def->port_a, def->port_t, def->port_b, def->port_t};
        for (int n = 0; n < 4; n++) {
            ItmBranch* branch = add_branch(k, from[n], to[n], &def->law, ITM_HYDRAULIC_VALVE);
            branch->control = c->ncontrol;
            if (def->kind == ITM_VALVE_4_3) {
                branch->opening = n < 2 ? ITM_OPENING_POSITIVE : ITM_OPENING_NEGATIVE;
            } else {
                branch->opening = n < 2 ? ITM_OPENING_COMPLEMENT : ITM_OPENING_POSITIVE;
            }
            set_metering(k, branch, def->metering[n].spool, def->metering[n].opening, def->metering[n].npoint);
        }
        compile_extra_edges(k, def);
        ItmSpool* control = &c->controls[c->ncontrol++];
        control->drive = add_drive(k, view->name, def->command, def->signal);
        compile_spool(k, control, def, view->name);
    }
}

static void compile_flows(Compile* k)
{
    ItmCircuit* c = k->c;
    for (int i = 0; i < k->b->flows.count; i++) {
        const ItmFlowSourceDef* def = &k->b->flows.items[i];
        c->flow_name[i] = itm_owned_print(&c->owned, "%s", def->name);
        c->flows[c->nflow++] = (ItmFlowBranch){
            .a = def->port_a != ITM_NONE ? c->node_index[def->port_a] : ITM_NONE,
            .b = c->node_index[def->port_b],
            .drive = add_drive(k, c->flow_name[i], def->flow, def->signal),
        };
    }
}

// Where the blocks of Newton's matrix keep what a branch contributes: row-major, island by island.
static void find_entries(ItmCircuit* c)
{
    for (int island = 0; island < c->nisland; island++) {
        int start = c->island_adr[island], n = c->island_adr[island + 1] - start;
        for (int i = 0; i < n; i++) {
            c->lu_diag[start + i] = c->lu_adr[island] + i * n + i;
        }
    }
    for (int i = 0; i < c->nbranch; i++) {
        ItmBranch* branch = &c->branches[i];
        int a = branch->a, b = branch->b;
        branch->aa = a < c->nvol ? c->lu_diag[a] : ITM_NONE;
        branch->bb = b < c->nvol ? c->lu_diag[b] : ITM_NONE;
        bool is_inner = a < c->nvol && b < c->nvol;
        branch->ab = is_inner ? branch->aa + b - a : ITM_NONE;
        branch->ba = is_inner ? branch->bb + a - b : ITM_NONE;
    }
}

// ---------------------------------------------------------------------------- cylinders and accumulators

static void compile_cylinders(Compile* k)
{
    ItmCircuit* c = k->c;
    for (int i = 0; i < k->b->cylinders.count; i++) {
        const ItmCylinderDef* def = &k->b->cylinders.items[i];
        double motion = def->motion != ITM_NONE ? itm_signal_compute(&c->signals[def->motion], 0.0).x : NAN;
        double length = !isnan(def->start_length) ? def->start_length : def->motion != ITM_NONE ? motion : 0.0;
        ItmCylinder* cylinder = &c->cylinders[c->ncyl++];
        *cylinder = (ItmCylinder){
            .name = itm_owned_print(&c->owned, "%s", def->name),
            .node_1 = c->node_index[def->port_1],
            .node_2 = c->node_index[def->port_2],
            .area_1 = def->area_1,
            .area_2 = def->area_2,
            .stroke = def->stroke,
            .extension = def->start_extension,
            .start_length = length,
            .has_start_length = !isnan(def->start_length),
            .control = ITM_NONE,
            .speed = ITM_NONE,
            .wall = 1.0 / def->wall_modulus,
            .viscous = def->viscous,
            .coulomb = def->coulomb,
            .inv_speed = 1.0 / def->coulomb_speed,
            .damper_length = def->damper_length,
            .damper_stiffness = def->damper_stiffness,
            .damper_damping = def->damper_damping,
            .motion = def->motion,
        };
        add_dead_volume(c, cylinder->node_1, def->dead_volume_1, def->wall_modulus);
        add_dead_volume(c, cylinder->node_2, def->dead_volume_2, def->wall_modulus);
        if (def->leakage > 0) {
            add_laminar(k, def->port_1, def->port_2, def->leakage, ITM_HYDRAULIC_LEAKAGE);
        }
    }
}

// A variable displacement is a control that scales the areas: the least of its setting and of what its controllers allow.
static int compile_setting(Compile* k, const ItmMotorDef* def, const char* name, int motor)
{
    ItmCircuit* c = k->c;
    if (!def->is_variable) {
        return ITM_NONE;
    }
    int law_adr = c->nlaw;
    ItmPilotLaw* law = add_law(c, 0.0);
    law->drive = add_drive(k, name, def->setting, def->signal);
    law->by_drive = 1.0;
    if (def->load_port != ITM_NONE) {
        // (margin - (p_2 - p_load)) / span
        add_law(c, def->load_margin / def->load_span);
        add_term(k, def->port_2, -1.0 / def->load_span);
        add_term(k, def->load_port, 1.0 / def->load_span);
    }
    if (isfinite(def->pressure_limit)) {
        add_law(c, def->pressure_limit / def->pressure_span);
        add_term(k, def->port_2, -1.0 / def->pressure_span);
    }
    // T / (D (p_2 - p_1)), P / (D |w| (p_2 - p_1))
    for (int i = 0; i < 2; i++) {
        double limit = i == 0 ? def->torque_limit : def->power_limit;
        if (isfinite(limit)) {
            law = add_law(c, limit);
            law->is_hyperbola = true;
            law->shaft = i == 0 ? ITM_NONE : motor;
            add_term(k, def->port_2, def->displacement);
            add_term(k, def->port_1, -def->displacement);
        }
    }
    return add_pilot_control(k, name, "setting", law_adr, def->least_setting, def->time_constant);
}

static void compile_motors(Compile* k)
{
    ItmCircuit* c = k->c;
    for (int i = 0; i < k->b->motors.count; i++) {
        const ItmMotorDef* def = &k->b->motors.items[i];
        ItmCylinder* motor = &c->cylinders[c->ncyl++];
        *motor = (ItmCylinder){
            .name = itm_owned_print(&c->owned, "%s", def->name),
            .is_rotary = true,
            .node_1 = c->node_index[def->port_1],
            .node_2 = c->node_index[def->port_2],
            .area_1 = def->displacement,
            .area_2 = def->displacement,
            .pressure_drag = def->pressure_drag,
            .stroke = INFINITY,
            .start_length = def->motion != ITM_NONE ? itm_signal_compute(&c->signals[def->motion], 0.0).x : 0.0,
            .viscous = def->viscous,
            .coulomb = def->coulomb,
            .inv_speed = 1.0 / def->coulomb_speed,
            .motion = def->motion,
        };
        motor->control = compile_setting(k, def, motor->name, c->ncyl - 1);
        motor->speed = ITM_NONE;
        if (def->is_driven) {
            motor->speed =
                add_drive(k, itm_owned_print(&c->owned, "%s.speed", def->name), def->speed, def->speed_signal);
        }
        if (def->leakage > 0) {
            add_laminar(k, def->port_1, def->port_2, def->leakage, ITM_HYDRAULIC_LEAKAGE);
        }
        if (def->drain_leakage > 0) {
            add_laminar(k, def->port_1, def->port_drain, def->drain_leakage, ITM_HYDRAULIC_LEAKAGE);
            add_laminar(k, def->port_2, def->port_drain, def->drain_leakage, ITM_HYDRAULIC_LEAKAGE);
        }
    }
}

static void compile_accumulators(Compile* k)
{
    ItmCircuit* c = k->c;
    for (int i = 0; i < k->b->accumulators.count; i++) {
        const ItmAccumulatorDef* def = &k->b->accumulators.items[i];
        c->accumulator_name[i] = itm_owned_print(&c->owned, "%s", def->name);
        c->accumulators[c->nacc++] = (ItmAccumulator){.node = c->node_index[def->port],
                                                      .gas_volume = def->gas_volume,
                                                      .precharge = def->precharge,
                                                      .inv_exponent = 1.0 / def->exponent};
    }
}

static ItmStatus compile_signals(Compile* k)
{
    ItmCircuit* c = k->c;
    for (int i = 0; i < k->b->signals.count; i++) {
        ItmSignalDef def = k->b->signals.items[i];
        double* table = itm_circuit_take(c, 4 * (size_t)def.npoint, sizeof *table);
        if (table == NULL) {
            return out_of_memory(k->error);
        }
        def.name = "";
        itm_signal_compile(&c->signals[c->nsignal++], &def, table);
    }
    return ITM_OK;
}

// ---------------------------------------------------------------------------- checks

// The field of the error is "element.member".
static ItmStatus refuse(Compile* k, const char* element, const char* member, const char* format, ...)
{
    char field[2 * ITM_LONGEST_NAME];
    snprintf(field, sizeof field, "%.*s.%s", ITM_LONGEST_NAME, element, member);
    va_list arguments;
    va_start(arguments, format);
    ItmStatus status = itm_error_set_list(k->error, ITM_ERR_INPUT, "itm_circuit_build", field, format, arguments);
    va_end(arguments);
    return status;
}

// A volume that nothing joins would keep its pressure for ever: surely a mistake.
static ItmStatus check_connections(Compile* k)
{
    ItmCircuit* c = k->c;
    int* joined = itm_circuit_take(c, (size_t)c->nnode, sizeof *joined);
    if (joined == NULL) {
        return out_of_memory(k->error);
    }
    for (int i = 0; i < c->nbranch; i++) {
        joined[c->branches[i].a]++;
        joined[c->branches[i].b]++;
    }
    for (int i = 0; i < c->nflow; i++) {
        joined[c->flows[i].b]++;
        if (c->flows[i].a != ITM_NONE) {
            joined[c->flows[i].a]++;
        }
    }
    for (int i = 0; i < c->ncyl; i++) {
        joined[c->cylinders[i].node_1]++;
        joined[c->cylinders[i].node_2]++;
    }
    for (int i = 0; i < c->nterm; i++) {
        // a given pressure may serve as a pilot alone
        joined[c->terms[i].node] += c->terms[i].node >= c->nvol;
    }
    for (int i = 0; i < c->nnode; i++) {
        if (joined[i] == 0) {
            return itm_error_set(k->error, ITM_ERR_INPUT, "itm_circuit_build", c->node_name[i],
                                 "node '%s' is disconnected: no element has a port there", c->node_name[i]);
        }
    }
    return ITM_OK;
}

// Volume and capacity at the start, for the chambers at s = start_length.
static ItmStatus check_volumes(Compile* k)
{
    ItmCircuit* c = k->c;
    for (int i = 0; i < c->nvol; i++) {
        double volume = c->volume[i], wall = c->wall[i];
        for (int n = 0; n < c->ncyl; n++) {
            const ItmCylinder* cylinder = &c->cylinders[n];
            if (cylinder->is_rotary) {
                continue;
            }
            double l_1 = cylinder->extension;
            double chamber = (cylinder->node_1 == i ? cylinder->area_1 * l_1 : 0.0) +
                             (cylinder->node_2 == i ? cylinder->area_2 * (cylinder->stroke - l_1) : 0.0);
            volume += chamber;
            wall += chamber * cylinder->wall;
        }
        if (!(volume > 0)) {
            return refuse(k, c->node_name[i], "volume", "volume '%s' holds %g m^3 at the start; it must be positive",
                          c->node_name[i], volume);
        }
        const ItmOil* oil = &c->oil[i];
        double kappa = itm_kernel_compute_compressibility(oil, oil->vapour);
        c->void_capacity[i] = volume * kappa + wall;
    }
    return ITM_OK;
}

// Sources that follow a signal start above the vapour pressure, as the others do.
static ItmStatus check_sources(Compile* k)
{
    const ItmCircuit* c = k->c;
    for (int i = 0; i < c->nsrc; i++) {
        const ItmDrive* drive = &c->drives[c->source_drive[i]];
        double p =
            drive->base + (drive->signal != ITM_NONE ? itm_signal_compute(&c->signals[drive->signal], 0.0).x : 0.0);
        if (!(p >= c->source_vapour[i])) {
            return refuse(k, drive->name, "pressure",
                          "source '%s' starts at %g Pa, below the vapour pressure of its fluid, %g Pa", drive->name, p,
                          c->source_vapour[i]);
        }
    }
    return ITM_OK;
}

// A prescribed motion begins inside the stroke.
static ItmStatus check_motions(Compile* k)
{
    const ItmCircuit* c = k->c;
    for (int i = 0; i < c->ncyl; i++) {
        const ItmCylinder* cylinder = &c->cylinders[i];
        if (cylinder->motion == ITM_NONE) {
            continue;
        }
        double s = itm_signal_compute(&c->signals[cylinder->motion], 0.0).x;
        double s_0 = cylinder->start_length - cylinder->extension;
        if (!cylinder->is_rotary && !(s >= s_0 && s <= s_0 + cylinder->stroke)) {
            return refuse(k, cylinder->name, "motion",
                          "cylinder '%s' starts outside its stroke: its length is %g m, not in [%g, %g]",
                          cylinder->name, s, s_0, s_0 + cylinder->stroke);
        }
    }
    return ITM_OK;
}

static ItmStatus check_tanks(Compile* k)
{
    const ItmCircuitBuilder* b = k->b;
    for (int t = 0; t < b->nodes.count; t++) {
        const ItmPressureSourceDef* tank = &b->nodes.items[t].source;
        bool is_tank = b->nodes.items[t].is_source && tank->is_tank && tank->signal == ITM_NONE;
        for (int i = 0; is_tank && i < b->nodes.count; i++) {
            const ItmNodeDef* node = &b->nodes.items[i];
            double pressure = node->volume.pressure;
            if (!node->is_source && node->volume.fluid == tank->fluid && pressure < tank->pressure) {
                return refuse(k, node->name, "pressure", "'%s' starts at %g Pa, below the %g Pa of tank '%s'",
                              node->name, pressure, tank->pressure, b->nodes.items[t].name);
            }
        }
    }
    return ITM_OK;
}

// ---------------------------------------------------------------------------- building

#define TAKE(field, count) ((c->field = itm_circuit_take(c, (size_t)(count), sizeof *c->field)) != NULL)

static bool take_tables(Compile* k)
{
    const ItmCircuitBuilder* b = k->b;
    ItmCircuit* c = k->c;
    c->nnode = b->nodes.count;
    for (int i = 0; i < b->nodes.count; i++) {
        c->nvol += !b->nodes.items[i].is_source;
    }
    c->nsrc = c->nnode - c->nvol;
    c->nx = c->nvol;  // spools follow
    int npressure = b->pressure_valves.count, nfilter = b->filters.count, nmotor = b->motors.count, nsegment = 0;
    for (int i = 0; i < b->lines.count; i++) {
        nsegment += b->lines.items[i].def.segments > 0 ? b->lines.items[i].def.segments : 1;
    }
    int nsingle = b->orifices.count + b->laminars.count + npressure + nfilter + b->lines.count;
    int nbranch = b->orifices.count + b->laminars.count + 3 * npressure + 2 * nfilter + nsegment + 8 * b->valves.count +
                  b->cylinders.count + 3 * nmotor;
    int nx = c->nvol + 2 * b->valves.count + npressure + nsegment + nmotor;
    int ndrive = c->nsrc + b->flows.count + b->orifices.count + b->valves.count + npressure + nfilter + 2 * nmotor;
    int ncontrol = b->orifices.count + b->valves.count + 2 * npressure + 2 * nfilter + nmotor;
    int nlaw = 2 * npressure + nfilter + 5 * nmotor;
    int nterm = (ITM_MAX_PILOTS + 2) * npressure + 2 * nfilter + 7 * nmotor;
    k->group = itm_circuit_take(c, (size_t)c->nnode, sizeof *k->group);
    return k->group != NULL && TAKE(node_name, c->nnode) && TAKE(node_index, c->nnode) && TAKE(oil, c->nvol) &&
           TAKE(volume, c->nvol) && TAKE(wall, c->nvol) && TAKE(void_capacity, c->nvol) && TAKE(start, nx) &&
           TAKE(is_held, c->nvol) && TAKE(source_vapour, c->nsrc) && TAKE(source_drive, c->nsrc) &&
           TAKE(island_adr, c->nvol + 1) && TAKE(lu_adr, c->nvol) && TAKE(lu_diag, c->nvol) &&
           TAKE(branches, nbranch) && TAKE(laws, nlaw) && TAKE(terms, nterm) && TAKE(controls, ncontrol) &&
           TAKE(drives, ndrive) && TAKE(flows, b->flows.count) && TAKE(accumulators, b->accumulators.count) &&
           TAKE(cylinders, b->cylinders.count + b->motors.count) && TAKE(signals, b->signals.count) &&
           TAKE(varying, ndrive) && TAKE(valves, b->valves.count) && TAKE(singles, nsingle) &&
           TAKE(accumulator_name, b->accumulators.count) && TAKE(flow_name, b->flows.count) && TAKE(state_name, nx);
}

// Every name must have found memory.
static bool has_names(const ItmCircuit* c)
{
    bool ok = true;
    for (int i = 0; i < c->nvalve; i++) {
        ok = ok && c->valves[i].name != NULL;
    }
    for (int i = 0; i < c->nnode; i++) {
        ok = ok && c->node_name[i] != NULL;
    }
    for (int i = 0; i < c->ndrive; i++) {
        ok = ok && c->drives[i].name != NULL;
    }
    for (int i = 0; i < c->nx; i++) {
        ok = ok && c->state_name[i] != NULL;
    }
    for (int i = 0; i < c->ncyl; i++) {
        ok = ok && c->cylinders[i].name != NULL;
    }
    for (int i = 0; i < c->nsingle; i++) {
        ok = ok && c->singles[i].name != NULL;
    }
    for (int i = 0; i < c->nacc; i++) {
        ok = ok && c->accumulator_name[i] != NULL;
    }
    return ok;
}

// Value of a drive at the start.
static double get_start_drive(const ItmCircuit* c, int i)
{
    const ItmDrive* drive = &c->drives[i];
    return drive->base + (drive->signal != ITM_NONE ? itm_signal_compute(&c->signals[drive->signal], 0.0).x : 0.0);
}

// Spools stand at the command of the start.
static void set_spool_starts(ItmCircuit* c)
{
    for (int i = 0; i < c->ncontrol; i++) {
        const ItmSpool* control = &c->controls[i];
        if (control->order == 0) {
            continue;
        }
        double command = control->nlaw == 0 ? get_start_drive(c, control->drive) : INFINITY;
        for (int n = control->law_adr; n < control->law_adr + control->nlaw; n++) {
            const ItmPilotLaw* law = &c->laws[n];
            double sum = 0.0, drive = law->drive != ITM_NONE ? get_start_drive(c, law->drive) : 0.0;
            for (int t = law->adr; t < law->adr + law->count; t++) {
                int node = c->terms[t].node;
                double p = node < c->nvol ? c->start[node] : get_start_drive(c, c->source_drive[node - c->nvol]);
                sum += c->terms[t].gain * p;
            }
            int speed = law->shaft != ITM_NONE ? c->cylinders[law->shaft].speed : ITM_NONE;
            double w = speed != ITM_NONE ? get_start_drive(c, speed) : 0.0;
            command = fmin(command, itm_law_compute(law, sum, drive, w));
        }
        c->start[control->x_adr] = fmin(fmax(command, control->lo), control->hi);
    }
}

static ItmStatus compile(Compile* k)
{
    if (!take_tables(k)) {
        return out_of_memory(k->error);
    }
    ItmStatus status = compile_signals(k);
    if (status != ITM_OK) {
        return status;
    }
    join_all(k);
    number_nodes(k);
    compile_nodes(k);
    compile_flows(k);
    compile_resistances(k);
    compile_pressure_valves(k);
    compile_filters(k);
    compile_lines(k);
    compile_valves(k);
    compile_cylinders(k);
    compile_motors(k);
    compile_accumulators(k);
    find_entries(k->c);
    set_spool_starts(k->c);
    if (k->is_full || !has_names(k->c)) {
        return out_of_memory(k->error);
    }
    status = check_connections(k);
    status = status == ITM_OK ? check_volumes(k) : status;
    status = status == ITM_OK ? check_tanks(k) : status;
    status = status == ITM_OK ? check_sources(k) : status;
    status = status == ITM_OK ? check_motions(k) : status;
    status = status == ITM_OK ? itm_circuit_name_outputs(k->c, k->b, k->error) : status;
    k->c->data_bytes = itm_hydraulics_measure(k->c);
    return status;
}

ItmStatus itm_circuit_build(ItmCircuit** circuit, const ItmCircuitBuilder* b, ItmError* error)
{
    if (circuit == NULL || b == NULL) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "circuit or builder is NULL");
    }
    *circuit = NULL;
    if (b->nodes.count == 0) {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, "nodes", "a circuit needs at least one node");
    }
    if (b->nodes.count > MAX_NODES) {
        return itm_error_set(error, ITM_ERR_CAPACITY, __func__, NULL, "a circuit has at most %d nodes, got %d",
                             MAX_NODES, b->nodes.count);
    }
    ItmCircuit* c = calloc(1, sizeof *c);
    if (c == NULL) {
        return out_of_memory(error);
    }
    ItmStatus status = compile(&(Compile){.b = b, .c = c, .error = error});
    if (status != ITM_OK) {
        itm_circuit_destroy(c);
        return status;
    }
    *circuit = c;
    return ITM_OK;
}
