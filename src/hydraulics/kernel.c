// The equations of a circuit: x' = f(x) for given commands and piston motion, and their derivatives.
//
//   capacity_i p_i' = flow_i                                                  [cranes, eqs. 8, 9]
//   capacity_i = V_i kappa(p_i) + sum of V_l / B_l over walls + gas of accumulators
//
// Cavitation: a state x_i below the vapour pressure p_v means that the pressure is p_v and that oil of the volume
// void_capacity_i (p_v - x_i) is missing. It must flow back before the pressure rises: no oil is lost or made.
#include "hydraulics/cylinder.h"
#include "hydraulics/data.h"

#include <math.h>
#include <string.h>

// Pressure drop below which the slope of an unregularised root is cut off, in derivatives only.
#define LEAST_DROP 1.0  // Pa

// ---------------------------------------------------------------------------- branches

// Comparisons, because fmin and fmax are calls; a NaN passes through.
static inline double at_least(double x, double lo)
{
    return x < lo ? lo : x;
}

static inline double within(double x, double lo, double hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

// r(x) = sign(x) sqrt(|x|), a straight line below the threshold
static inline double root(const ItmBranch* branch, double x)
{
    double size = fabs(x);
    return size >= branch->threshold ? copysign(sqrt(size), x) : branch->slope * x;
}

static inline double opening(const ItmBranch* branch, const double* u, double x)
{
    switch (branch->opening) {
    case ITM_OPENING_FULL:
        return 1.0;
    case ITM_OPENING_POSITIVE:
        return at_least(u[branch->control], 0.0);
    case ITM_OPENING_NEGATIVE:
        return at_least(-u[branch->control], 0.0);
    case ITM_OPENING_COMPLEMENT:
        return 1.0 - u[branch->control];
    case ITM_OPENING_PRESSURE:
        return within((x - branch->crack) * branch->inv_span, 0.0, 1.0);
    }
    return 0.0;
}

// q = coefficient opening r(p_a - p_b), and the net flows
static void compute_branches(const ItmCircuit* c, ItmHydraulics* d)
{
    const double* p = d->p;
    double* flow = d->flow;
    for (int i = 0; i < c->nbranch; i++) {
        const ItmBranch* branch = &c->branches[i];
        double x = p[branch->a] - p[branch->b];
        double y = opening(branch, d->u, x);
        bool is_shut = y == 0.0 || (branch->is_one_way && x < 0.0);
        double q = is_shut ? 0.0 : branch->coefficient * y * root(branch, x);
        d->q[i] = q;
        flow[branch->a] -= q;
        flow[branch->b] += q;
    }
    for (int i = 0; i < c->nflow; i++) {
        double q = d->drive[c->flows[i].drive];
        flow[c->flows[i].b] += q;
        if (c->flows[i].a != ITM_NONE) {
            flow[c->flows[i].a] -= q;
        }
    }
}

// ---------------------------------------------------------------------------- controls

double itm_kernel_get_spool_command(const ItmSpool* control, const double* drive)
{
    return within(drive[control->drive], control->lo, control->hi);
}

// u: state or command within its limits, dead band taken off
static void compute_controls(const ItmCircuit* c, ItmHydraulics* d, const double* x)
{
    for (int i = 0; i < c->ncontrol; i++) {
        const ItmSpool* control = &c->controls[i];
        double raw = control->order == 0 ? d->drive[control->drive] : x[control->x_adr];
        raw = within(raw, control->lo, control->hi);
        double open = fabs(raw) - control->dead_band;
        d->u[i] = control->dead_band == 0.0 ? raw : open > 0.0 ? copysign(open, raw) : 0.0;
    }
}

// u' = (r - u) / tau,  or  u'' = omega^2 (r - u) - 2 zeta omega u'            [cranes, eq. 32]
static void compute_spools(const ItmCircuit* c, const ItmHydraulics* d, double* x_dot, const double* x)
{
    for (int i = 0; i < c->ncontrol; i++) {
        const ItmSpool* control = &c->controls[i];
        int adr = control->x_adr;
        if (control->order == 0) {
            continue;
        }
        double error = itm_kernel_get_spool_command(control, d->drive) - x[adr];
        if (control->order == 1) {
            x_dot[adr] = control->rate * error;
        } else {
            x_dot[adr] = x[adr + 1];
            x_dot[adr + 1] = control->rate * control->rate * error - control->damping * x[adr + 1];
        }
    }
}

// ---------------------------------------------------------------------------- volumes

// V_gas / (n p): what an accumulator adds to dV/dp; nothing below its precharge
static double gas_capacity(const ItmAccumulator* gas, double p)
{
    if (p <= gas->precharge) {
        return 0.0;
    }
    return gas->gas_volume * pow(gas->precharge / p, gas->inv_exponent) * gas->inv_exponent / p;
}

static inline double compressibility(const ItmOil* oil, double p)
{
    return (oil->a + oil->b * p) / (1.0 + p * (oil->c + oil->e * p));
}

// What the pistons displace, and the volumes of their chambers.   [cranes, eqs. 27, 28; contact-rim, eqs. 47, 48]
static void compute_chambers(const ItmCircuit* c, ItmHydraulics* d)
{
    for (int i = 0; i < c->ncyl; i++) {
        const ItmCylinder* cylinder = &c->cylinders[i];
        double least = ITM_CYLINDER_LEAST * cylinder->stroke;
        double l_1 = itm_cylinder_get_extension(d, i, d->s_stage[i]);
        double area_1 = cylinder->area_1, area_2 = cylinder->area_2;
        int node[2] = {cylinder->node_1, cylinder->node_2};
        double volume[2] = {area_1 * at_least(l_1, least), area_2 * at_least(cylinder->stroke - l_1, least)};
        double rate = cylinder->control != ITM_NONE ? d->u[cylinder->control] * d->w_stage[i] : d->w_stage[i];
        double swept[2] = {area_1 * rate, -area_2 * rate};
        for (int k = 0; k < 2; k++) {
            d->flow[node[k]] -= swept[k];
            if (node[k] < c->nvol && !cylinder->is_rotary) {
                d->chamber[node[k]] += volume[k];
                d->capacity[node[k]] += volume[k] * cylinder->wall;
            }
        }
    }
}

// Pressures of all nodes; flows, moving volumes and capacities without anything that moves. One loop, because for the few nodes of a
// circuit calls of memset and memcpy cost more than what they do.
static void begin_nodes(const ItmCircuit* c, ItmHydraulics* d, const double* x)
{
    for (int i = 0; i < c->nvol; i++) {
        d->p[i] = at_least(x[i], c->oil[i].vapour);
        d->flow[i] = 0.0;
        d->chamber[i] = c->volume[i];
        d->capacity[i] = c->wall[i];
    }
    for (int i = 0; i < c->nsrc; i++) {
        d->p[c->nvol + i] = at_least(d->drive[c->source_drive[i]], c->source_vapour[i]);
        d->flow[c->nvol + i] = 0.0;
    }
}

void itm_kernel_compute(const ItmCircuit* c, ItmHydraulics* d, double* x_dot, const double* x)
{
    begin_nodes(c, d, x);
    compute_controls(c, d, x);

    // flows into the nodes, through branches and by moving pistons
    compute_branches(c, d);
    compute_chambers(c, d);

    // p' = flow / capacity
    for (int i = 0; i < c->nvol; i++) {
        d->capacity[i] += d->chamber[i] * compressibility(&c->oil[i], d->p[i]);
    }
    for (int i = 0; i < c->nacc; i++) {
        int node = c->accumulators[i].node;
        d->capacity[node] += gas_capacity(&c->accumulators[i], d->p[node]);
    }
    for (int i = 0; i < c->nvol; i++) {
        d->capacity[i] = x[i] >= c->oil[i].vapour ? d->capacity[i] : c->void_capacity[i];
        x_dot[i] = d->flow[i] / d->capacity[i];
    }
    compute_spools(c, d, x_dot, x);
}

// ---------------------------------------------------------------------------- derivatives

// Slope of q = g sqrt(x): q / (2 x); of its straight part: g slope.
static inline double flow_slope(const ItmBranch* branch, double g, double q, double x)
{
    if (fabs(x) < branch->threshold) {
        return g * branch->slope;
    }
    return fabs(x) > LEAST_DROP ? 0.5 * q / x : 0.5 * g;
}

// dq/dx with x = p_a - p_b, and dq/du
static void differentiate_branch(const ItmHydraulics* d, const ItmBranch* branch, double q, double* q_p, double* q_u)
{
    double x = d->p[branch->a] - d->p[branch->b], u = 0.0;
    *q_p = *q_u = 0.0;
    if (branch->is_one_way && x < 0.0) {
        return;
    }
    double y = opening(branch, d->u, x);
    *q_p = y > 0.0 ? flow_slope(branch, branch->coefficient * y, q, x) : 0.0;
    switch (branch->opening) {
    case ITM_OPENING_FULL:
        break;
    case ITM_OPENING_POSITIVE:
    case ITM_OPENING_NEGATIVE:
        u = d->u[branch->control];
        *q_u = y > 0.0 ? q / u : 0.0;
        break;
    case ITM_OPENING_COMPLEMENT:
        *q_u = -branch->coefficient * root(branch, x);
        break;
    case ITM_OPENING_PRESSURE:
        *q_p += y > 0.0 && y < 1.0 ? q / y * branch->inv_span : 0.0;
        break;
    }
}

// d kappa / dp
static double compressibility_slope(const ItmOil* oil, double p)
{
    double below = 1.0 + p * (oil->c + oil->e * p);
    return (oil->b - (oil->a + oil->b * p) * (oil->c + 2.0 * oil->e * p) / below) / below;
}

void itm_kernel_differentiate(const ItmCircuit* c, ItmHydraulics* d, const double* x)
{
    for (int i = 0; i < c->nbranch; i++) {
        differentiate_branch(d, &c->branches[i], d->q[i], &d->q_p[i], &d->q_u[i]);
    }
    for (int i = 0; i < c->nvol; i++) {
        d->capacity_p[i] = d->chamber[i] * compressibility_slope(&c->oil[i], d->p[i]);
    }
    for (int i = 0; i < c->nacc; i++) {
        // V_gas / (n p) ~ p^-(1 + 1/n)
        const ItmAccumulator* gas = &c->accumulators[i];
        double p = d->p[gas->node];
        d->capacity_p[gas->node] -= gas_capacity(gas, p) * (1.0 + gas->inv_exponent) / p;
    }
    for (int i = 0; i < c->nvol; i++) {
        d->capacity_p[i] = x[i] >= c->oil[i].vapour ? d->capacity_p[i] : 0.0;
    }
    for (int i = 0; i < c->ncontrol; i++) {
        const ItmSpool* control = &c->controls[i];
        double raw = control->order == 0 ? d->drive[control->drive] : x[control->x_adr];
        bool moves = raw > control->lo && raw < control->hi && fabs(raw) >= control->dead_band;
        d->u_raw[i] = moves ? 1.0 : 0.0;
    }
}

void itm_kernel_assemble_jacobian(const ItmCircuit* c, const ItmHydraulics* d, double* J, const double* x)
{
    size_t n = (size_t)c->nx;
    memset(J, 0, sizeof(double) * n * n);
    // net flows: branch by branch, for both of its nodes
    for (int i = 0; i < c->nbranch; i++) {
        const ItmBranch* branch = &c->branches[i];
        int end[2] = {branch->a, branch->b};
        for (int row = 0; row < 2; row++) {
            if (end[row] >= c->nvol) {
                continue;
            }
            double* J_row = J + (size_t)end[row] * n;
            double sign = row == 0 ? -1.0 : 1.0;
            for (int col = 0; col < 2; col++) {
                if (end[col] < c->nvol && x[end[col]] >= c->oil[end[col]].vapour) {
                    J_row[end[col]] += sign * (col == 0 ? d->q_p[i] : -d->q_p[i]);
                }
            }
            if (branch->control != ITM_NONE && c->controls[branch->control].order > 0) {
                J_row[c->controls[branch->control].x_adr] += sign * d->q_u[i] * d->u_raw[branch->control];
            }
        }
    }
    // d (flow / capacity) = d flow / capacity - flow / capacity^2 d capacity
    for (int i = 0; i < c->nvol; i++) {
        double* J_row = J + (size_t)i * n;
        for (int j = 0; j < c->nx; j++) {
            J_row[j] /= d->capacity[i];
        }
        J_row[i] -= d->flow[i] * d->capacity_p[i] / (d->capacity[i] * d->capacity[i]);
    }
    for (int i = 0; i < c->ncontrol; i++) {
        const ItmSpool* control = &c->controls[i];
        size_t adr = (size_t)control->x_adr;
        if (control->order == 1) {
            J[adr * n + adr] = -control->rate;
        } else if (control->order == 2) {
            J[adr * n + adr + 1] = 1.0;
            J[(adr + 1) * n + adr] = -control->rate * control->rate;
            J[(adr + 1) * n + adr + 1] = -control->damping;
        }
    }
}

// ---------------------------------------------------------------------------- power

void itm_kernel_compute_power(const ItmCircuit* c, const ItmHydraulics* d, double power[ITM_HYDRAULIC_ACCOUNT_COUNT])
{
    memset(power, 0, sizeof(double) * ITM_HYDRAULIC_ACCOUNT_COUNT);
    for (int i = 0; i < c->nbranch; i++) {
        const ItmBranch* branch = &c->branches[i];
        power[branch->account] += d->q[i] * (d->p[branch->a] - d->p[branch->b]);
    }
    for (int i = 0; i < c->nvol; i++) {
        power[ITM_HYDRAULIC_COMPRESSION] += d->p[i] * d->flow[i];
    }
    for (int i = c->nvol; i < c->nnode; i++) {
        power[ITM_HYDRAULIC_SUPPLY] -= d->p[i] * d->flow[i];
    }
    for (int i = 0; i < c->nflow; i++) {
        const ItmFlowBranch* flow = &c->flows[i];
        double below = flow->a != ITM_NONE ? d->p[flow->a] : 0.0;
        power[ITM_HYDRAULIC_SUPPLY] += d->drive[flow->drive] * (d->p[flow->b] - below);
    }
    for (int i = 0; i < c->ncyl; i++) {
        double w = d->w_stage[i];
        ItmCylinderForce force = itm_cylinder_compute_stage_force(c, d, i, d->s_stage[i], w);
        power[ITM_HYDRAULIC_VISCOUS] -= force.viscous * w;
        power[ITM_HYDRAULIC_SEAL] -= force.seal * w;
        power[ITM_HYDRAULIC_DAMPER] -= force.damper * w;
        power[ITM_HYDRAULIC_MECHANICAL] += force.total * w;
    }
}
