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
#define VOID_RANGE 1e3  // below the vapour pressure, Pa

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

// y(u) of a metering curve, and its slope
static double look_up(const ItmBranch* branch, double u, double* slope)
{
    const double *at = branch->table_u, *y = branch->table_y;
    int n = branch->npoint, i = 1;
    *slope = 0.0;
    if (u <= at[0] || u >= at[n - 1]) {
        return u <= at[0] ? y[0] : y[n - 1];
    }
    while (u >= at[i]) {
        i++;
    }
    *slope = (y[i] - y[i - 1]) / (at[i] - at[i - 1]);
    return y[i - 1] + *slope * (u - at[i - 1]);
}

static inline double opening(const ItmBranch* branch, const double* u)
{
    double slope;
    switch (branch->opening) {
    case ITM_OPENING_FULL:
        return 1.0;
    case ITM_OPENING_POSITIVE:
        return at_least(u[branch->control], 0.0);
    case ITM_OPENING_NEGATIVE:
        return at_least(-u[branch->control], 0.0);
    case ITM_OPENING_COMPLEMENT:
        return 1.0 - u[branch->control];
    case ITM_OPENING_RECIPROCAL:
        return 1.0 / (1.0 + at_least(u[branch->control], 0.0));
    case ITM_OPENING_TABLE:
        return look_up(branch, u[branch->control], &slope);
    }
    return 0.0;
}

// dy/du
static double opening_slope(const ItmBranch* branch, const double* u)
{
    double slope = 0.0, y;
    switch (branch->opening) {
    case ITM_OPENING_FULL:
        return 0.0;
    case ITM_OPENING_POSITIVE:
        return u[branch->control] > 0.0 ? 1.0 : 0.0;
    case ITM_OPENING_NEGATIVE:
        return u[branch->control] < 0.0 ? -1.0 : 0.0;
    case ITM_OPENING_COMPLEMENT:
        return -1.0;
    case ITM_OPENING_RECIPROCAL:
        y = opening(branch, u);
        return u[branch->control] > 0.0 ? -y * y : 0.0;
    case ITM_OPENING_TABLE:
        look_up(branch, u[branch->control], &slope);
        return slope;
    }
    return 0.0;
}

// q = coefficient opening r(p_a - p_b), or the state of an inertial branch, and the net flows
static void compute_branches(const ItmCircuit* c, ItmHydraulics* d, const double* states)
{
    const double* p = d->p;
    double* flow = d->flow;
    for (int i = 0; i < c->nbranch; i++) {
        const ItmBranch* branch = &c->branches[i];
        double x = p[branch->a] - p[branch->b];
        double y = opening(branch, d->u);
        bool is_shut = y == 0.0 || (branch->is_one_way && x < 0.0);
        double q = is_shut ? 0.0 : branch->coefficient * y * root(branch, x);
        q = branch->x_adr == ITM_NONE ? q : states[branch->x_adr];
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

double itm_kernel_get_spool_command(const ItmCircuit* c, const ItmHydraulics* d, int i)
{
    return within(d->command[i], c->controls[i].lo, c->controls[i].hi);
}

// sum of gain_i p_i
static double sum_terms(const ItmCircuit* c, const ItmHydraulics* d, const ItmPilotLaw* law)
{
    double sum = 0.0;
    for (int i = law->adr; i < law->adr + law->count; i++) {
        sum += c->terms[i].gain * d->p[c->terms[i].node];
    }
    return sum;
}

// The least of the laws of a control
static void choose_law(const ItmCircuit* c, ItmHydraulics* d, int i)
{
    const ItmSpool* control = &c->controls[i];
    d->command[i] = INFINITY;
    for (int n = control->law_adr; n < control->law_adr + control->nlaw; n++) {
        const ItmPilotLaw* law = &c->laws[n];
        double drive = law->drive != ITM_NONE ? d->drive[law->drive] : 0.0;
        double w = law->shaft != ITM_NONE ? d->w_stage[law->shaft] : 0.0;
        double value = itm_law_compute(law, sum_terms(c, d, law), drive, w);
        if (value < d->command[i] || n == control->law_adr) {
            d->command[i] = value;
            d->law[i] = n;
        }
    }
}

static void compute_commands(const ItmCircuit* c, ItmHydraulics* d)
{
    for (int i = 0; i < c->ncontrol; i++) {
        if (c->controls[i].nlaw == 0) {
            d->command[i] = d->drive[c->controls[i].drive];
        } else {
            choose_law(c, d, i);
        }
    }
}

// u: state or command within its limits, dead band taken off
static void compute_controls(const ItmCircuit* c, ItmHydraulics* d, const double* x)
{
    for (int i = 0; i < c->ncontrol; i++) {
        const ItmSpool* control = &c->controls[i];
        double raw = control->order == 0 ? d->command[i] : x[control->x_adr];
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
        double error = itm_kernel_get_spool_command(c, d, i) - x[adr];
        if (control->order == 1) {
            x_dot[adr] = control->rate * error;
        } else {
            x_dot[adr] = x[adr + 1];
            x_dot[adr + 1] = control->rate * control->rate * error - control->damping * x[adr + 1];
        }
    }
}

// q' = inv_inertia (p_a - p_b) - rate q
static void compute_lines(const ItmCircuit* c, const ItmHydraulics* d, double* x_dot, const double* x)
{
    for (int i = 0; c->ninertial > 0 && i < c->nbranch; i++) {
        const ItmBranch* branch = &c->branches[i];
        if (branch->x_adr != ITM_NONE) {
            double drop = d->p[branch->a] - d->p[branch->b];
            x_dot[branch->x_adr] = branch->inv_inertia * drop - branch->rate * x[branch->x_adr];
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

// Oil alone: kappa = (a + b p) / (1 + c p + e p^2)
static inline double oil_compressibility(const ItmOil* oil, double p)
{
    return (oil->a + oil->b * p) / (1.0 + p * (oil->c + oil->e * p));
}

// Air of the volume phi = air (p_0 / p)^(1/n) per volume of oil:  kappa = (kappa_oil + phi / (n p)) / (1 + phi)      [gholizadeh]
static inline double compressibility(const ItmOil* oil, double p)
{
    if (oil->air == 0.0) {
        return oil_compressibility(oil, p);
    }
    double phi = oil->air * pow(ITM_AIR_PRESSURE / p, oil->inv_air_exponent);
    return (oil_compressibility(oil, p) + phi * oil->inv_air_exponent / p) / (1.0 + phi);
}

double itm_kernel_compute_compressibility(const ItmOil* oil, double p)
{
    return compressibility(oil, p);
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

// From the capacity at the vapour pressure to that of the void, over VOID_RANGE: a jump would leave an implicit step without a solution.
//   1/C = (1 - theta)/C_oil + theta/C_void,   theta = (p_v - x) / VOID_RANGE within [0, 1]
static inline double void_share(const ItmOil* oil, double x)
{
    double theta = (oil->vapour - x) * (1.0 / VOID_RANGE);
    return theta < 1.0 ? theta : 1.0;
}

static inline double mix_capacity(double C_oil, double C_void, double theta)
{
    return C_oil * C_void / ((1.0 - theta) * C_void + theta * C_oil);
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

void itm_kernel_compute_commands(const ItmCircuit* c, ItmHydraulics* d, const double* x)
{
    begin_nodes(c, d, x);
    compute_commands(c, d);
}

void itm_kernel_compute(const ItmCircuit* c, ItmHydraulics* d, double* x_dot, const double* x)
{
    itm_kernel_compute_commands(c, d, x);
    compute_controls(c, d, x);

    // flows into the nodes, through branches and by moving pistons
    compute_branches(c, d, x);
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
        if (x[i] < c->oil[i].vapour) {
            d->capacity[i] = mix_capacity(d->capacity[i], c->void_capacity[i], void_share(&c->oil[i], x[i]));
        }
        x_dot[i] = d->flow[i] / d->capacity[i];
    }
    compute_spools(c, d, x_dot, x);
    compute_lines(c, d, x_dot, x);
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
    double x = d->p[branch->a] - d->p[branch->b];
    *q_p = *q_u = 0.0;
    if ((branch->is_one_way && x < 0.0) || branch->x_adr != ITM_NONE) {
        return;
    }
    double y = opening(branch, d->u);
    *q_p = y > 0.0 ? flow_slope(branch, branch->coefficient * y, q, x) : 0.0;
    *q_u =
        branch->opening != ITM_OPENING_FULL ? branch->coefficient * opening_slope(branch, d->u) * root(branch, x) : 0;
}

// d kappa / dp
static double compressibility_slope(const ItmOil* oil, double p)
{
    double below = 1.0 + p * (oil->c + oil->e * p);
    double slope = (oil->b - (oil->a + oil->b * p) * (oil->c + 2.0 * oil->e * p) / below) / below;
    if (oil->air == 0.0) {
        return slope;
    }
    // kappa = N / D with N = kappa_oil + g / p, D = 1 + phi, g = phi / n;  phi' = -g / p
    double phi = oil->air * pow(ITM_AIR_PRESSURE / p, oil->inv_air_exponent), g = phi * oil->inv_air_exponent;
    double N_p = slope - g / (p * p) * (1.0 + oil->inv_air_exponent);
    return (N_p + compressibility(oil, p) * g / p) / (1.0 + phi);
}

// du / d command, d command / dp
static void differentiate_control(const ItmCircuit* c, ItmHydraulics* d, const double* x, int i)
{
    const ItmSpool* control = &c->controls[i];
    double raw = control->order == 0 ? d->command[i] : x[control->x_adr];
    bool moves = raw > control->lo && raw < control->hi && fabs(raw) >= control->dead_band;
    bool is_within = d->command[i] > control->lo && d->command[i] < control->hi;
    d->u_raw[i] = moves ? 1.0 : 0.0;
    d->u_command[i] = control->order == 0 ? d->u_raw[i] : 0.0;
    d->command_p[i] = 0.0;
    if (control->nlaw > 0 && is_within) {
        const ItmPilotLaw* law = &c->laws[d->law[i]];
        d->command_p[i] = law->is_hyperbola ? -d->command[i] / sum_terms(c, d, law) : 1.0;
    }
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
        if (x[i] < c->oil[i].vapour) {
            // dC/dx = C^2 (1/C_void - 1/C_oil) / VOID_RANGE, with 1/C_oil from 1/C
            double theta = void_share(&c->oil[i], x[i]), C = d->capacity[i];
            double difference = theta < 1.0 ? (1.0 / c->void_capacity[i] - 1.0 / C) / (1.0 - theta) : 0.0;
            d->capacity_p[i] = C * C * difference / VOID_RANGE;
        }
    }
    for (int i = 0; i < c->ncontrol; i++) {
        differentiate_control(c, d, x, i);
    }
}

// Over an implicit stage u = u_0 + s r with  s = g / (1 + g), g = half rate (order 1),  s = half k / (1 + half (k + damping)),
// k = half omega^2 (order 2);  q = q_0 + s (p_a - p_b) with s = half inv_inertia / (1 + half rate). At rest u = r.
void itm_kernel_eliminate(const ItmCircuit* c, ItmHydraulics* d, double half)
{
    bool at_rest = isinf(half);
    for (int i = 0; i < c->ncontrol; i++) {
        const ItmSpool* control = &c->controls[i];
        double g = half * control->rate, k = g * control->rate, slope = 1.0;
        if (control->order == 1 && !at_rest) {
            slope = g / (1.0 + g);
        } else if (control->order == 2 && !at_rest) {
            slope = half * k / (1.0 + half * (k + control->damping));
        }
        d->u_command[i] = d->u_raw[i] * slope;
    }
    for (int i = 0; c->ninertial > 0 && i < c->nbranch; i++) {
        const ItmBranch* branch = &c->branches[i];
        if (branch->x_adr != ITM_NONE) {
            d->q_p[i] =
                at_rest ? branch->inv_inertia / branch->rate : half * branch->inv_inertia / (1.0 + half * branch->rate);
        }
    }
}

// Flow into `row` changes by flow_u per unit of control i.
static void visit_terms(const ItmCircuit* c, const ItmHydraulics* d, const double* x, int i, int row, double flow_u,
                        ItmPilotVisit visit, void* context)
{
    double by_command = flow_u * d->u_command[i];
    if (row >= c->nvol || by_command == 0.0 || d->command_p[i] == 0.0) {
        return;
    }
    const ItmPilotLaw* law = &c->laws[d->law[i]];
    for (int n = law->adr; n < law->adr + law->count; n++) {
        int col = c->terms[n].node;
        if (col < c->nvol && x[col] >= c->oil[col].vapour) {
            visit(context, row, col, by_command * d->command_p[i] * c->terms[n].gain);
        }
    }
}

void itm_kernel_visit_pilots(const ItmCircuit* c, const ItmHydraulics* d, const double* x, ItmPilotVisit visit,
                             void* context)
{
    for (int i = 0; c->nlaw > 0 && i < c->nbranch; i++) {
        const ItmBranch* branch = &c->branches[i];
        if (branch->control != ITM_NONE && c->controls[branch->control].nlaw > 0) {
            visit_terms(c, d, x, branch->control, branch->a, -d->q_u[i], visit, context);
            visit_terms(c, d, x, branch->control, branch->b, d->q_u[i], visit, context);
        }
    }
    for (int i = 0; c->nlaw > 0 && i < c->ncyl; i++) {
        const ItmCylinder* motor = &c->cylinders[i];
        if (motor->control != ITM_NONE && c->controls[motor->control].nlaw > 0) {
            double w = d->w_stage[i];
            visit_terms(c, d, x, motor->control, motor->node_1, -motor->area_1 * w, visit, context);
            visit_terms(c, d, x, motor->control, motor->node_2, motor->area_2 * w, visit, context);
        }
    }
}

// A dense matrix with n columns.
typedef struct Dense {
    double* J;
    size_t n;
} Dense;

static void add_to_dense(void* context, int row, int col, double value)
{
    const Dense* dense = context;
    dense->J[(size_t)row * dense->n + (size_t)col] += value;
}

// Rows of the spools, and the columns of those that move motors
static void assemble_spools(const ItmCircuit* c, const ItmHydraulics* d, double* J, const double* x)
{
    size_t n = (size_t)c->nx;
    for (int i = 0; i < c->ncontrol; i++) {
        const ItmSpool* control = &c->controls[i];
        size_t adr = (size_t)control->x_adr;
        double gain = control->order == 1 ? control->rate : control->rate * control->rate;
        if (control->order == 1) {
            J[adr * n + adr] = -control->rate;
        } else if (control->order == 2) {
            J[adr * n + adr + 1] = 1.0;
            J[(adr + 1) * n + adr] = -control->rate * control->rate;
            J[(adr + 1) * n + adr + 1] = -control->damping;
        }
        if (control->order == 0 || control->nlaw == 0) {
            continue;
        }
        const ItmPilotLaw* law = &c->laws[d->law[i]];
        double* J_row = J + (adr + (size_t)control->order - 1) * n;
        for (int t = law->adr; t < law->adr + law->count; t++) {
            int col = c->terms[t].node;
            if (col < c->nvol && x[col] >= c->oil[col].vapour) {
                J_row[col] += gain * d->command_p[i] * c->terms[t].gain;
            }
        }
    }
}

// Rows and columns of the inertial flows
static void assemble_lines(const ItmCircuit* c, const ItmHydraulics* d, double* J, const double* x)
{
    size_t n = (size_t)c->nx;
    for (int i = 0; i < c->nbranch; i++) {
        const ItmBranch* branch = &c->branches[i];
        if (branch->x_adr == ITM_NONE) {
            continue;
        }
        int end[2] = {branch->a, branch->b};
        size_t adr = (size_t)branch->x_adr;
        J[adr * n + adr] = -branch->rate;
        for (int k = 0; k < 2; k++) {
            double sign = k == 0 ? 1.0 : -1.0;
            if (end[k] < c->nvol) {
                J[(size_t)end[k] * n + adr] -= sign / d->capacity[end[k]];
                J[adr * n + (size_t)end[k]] = x[end[k]] >= c->oil[end[k]].vapour ? sign * branch->inv_inertia : 0.0;
            }
        }
    }
}

void itm_kernel_assemble_jacobian(const ItmCircuit* c, const ItmHydraulics* d, double* J, const double* x)
{
    size_t n = (size_t)c->nx;
    memset(J, 0, sizeof(double) * n * n);
    itm_kernel_visit_pilots(c, d, x, add_to_dense, &(Dense){J, n});
    // what a variable motor displaces
    for (int i = 0; i < c->ncyl; i++) {
        const ItmCylinder* motor = &c->cylinders[i];
        if (motor->control == ITM_NONE || c->controls[motor->control].order == 0) {
            continue;
        }
        size_t adr = (size_t)c->controls[motor->control].x_adr;
        double swept = d->u_raw[motor->control] * d->w_stage[i];
        if (motor->node_1 < c->nvol) {
            J[(size_t)motor->node_1 * n + adr] -= motor->area_1 * swept;
        }
        if (motor->node_2 < c->nvol) {
            J[(size_t)motor->node_2 * n + adr] += motor->area_2 * swept;
        }
    }
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
    assemble_spools(c, d, J, x);
    assemble_lines(c, d, J, x);
}

// ---------------------------------------------------------------------------- power

void itm_kernel_compute_power(const ItmCircuit* c, const ItmHydraulics* d, double power[ITM_HYDRAULIC_ACCOUNT_COUNT])
{
    double compression = 0.0, supply = 0.0;  // sums that are not in memory: every branch would wait for the one before
    memset(power, 0, sizeof(double) * ITM_HYDRAULIC_ACCOUNT_COUNT);
    for (int i = 0; i < c->nbranch; i++) {
        const ItmBranch* branch = &c->branches[i];
        double given = d->q[i] * (d->p[branch->a] - d->p[branch->b]), lost = given;
        if (branch->x_adr != ITM_NONE) {
            // friction of an inertial branch; the rest moves its oil
            lost = branch->rate / branch->inv_inertia * d->q[i] * d->q[i];
            compression += given - lost;
        }
        power[branch->account] += lost;
    }
    for (int i = 0; i < c->nvol; i++) {
        compression += d->p[i] * d->flow[i];
    }
    for (int i = c->nvol; i < c->nnode; i++) {
        supply -= d->p[i] * d->flow[i];
    }
    for (int i = 0; i < c->nflow; i++) {
        const ItmFlowBranch* flow = &c->flows[i];
        double below = flow->a != ITM_NONE ? d->p[flow->a] : 0.0;
        supply += d->drive[flow->drive] * (d->p[flow->b] - below);
    }
    double viscous = 0.0, seal = 0.0, damper = 0.0, mechanical = 0.0;
    for (int i = 0; i < c->ncyl; i++) {
        double w = d->w_stage[i];
        ItmCylinderForce force = itm_cylinder_compute_stage_force(c, d, i, d->s_stage[i], w);
        viscous -= force.viscous * w;
        seal -= force.seal * w;
        damper -= force.damper * w;
        mechanical += force.total * w;
    }
    power[ITM_HYDRAULIC_COMPRESSION] += compression;
    power[ITM_HYDRAULIC_SUPPLY] += supply;
    power[ITM_HYDRAULIC_VISCOUS] += viscous;
    power[ITM_HYDRAULIC_SEAL] += seal;
    power[ITM_HYDRAULIC_DAMPER] += damper;
    power[ITM_HYDRAULIC_MECHANICAL] += mechanical;
}
