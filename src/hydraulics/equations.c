// The equations for others: rates and derivatives at any state and piston motion.
#include "hydraulics/cylinder.h"

#include "base/guard.h"
#include "hydraulics/data.h"

#include <math.h>
#include <string.h>

// Commands at t, pistons at s and w.
static void set_stage(const ItmCircuit* c, ItmHydraulics* d, double t, const double* s, const double* w)
{
    itm_stage_begin(c, d, t, 0.0);
    memcpy(d->s_stage, s, sizeof(double) * (size_t)c->ncyl);
    for (int i = 0; i < c->ncyl; i++) {
        d->w_stage[i] = c->cylinders[i].speed != ITM_NONE ? d->drive[c->cylinders[i].speed] : w[i];
    }
}

void itm_hydraulics_compute_rates(const ItmCircuit* c, ItmHydraulics* d, double* x_dot, double* force, double* power,
                                  double t, const double* x, const double* s, const double* w)
{
    ITM_GUARD_VOID(c != NULL && d != NULL && x_dot != NULL && x != NULL && (c->ncyl == 0 || (s != NULL && w != NULL)));
    set_stage(c, d, t, s, w);
    itm_kernel_compute(c, d, x_dot, x);
    for (int i = 0; force != NULL && i < c->ncyl; i++) {
        force[i] = itm_cylinder_compute_stage_force(c, d, i, s[i], w[i]).total;
    }
    if (power != NULL) {
        itm_kernel_compute_power(c, d, power);
    }
}

// f_w = -A_1 / capacity, A_2 / capacity;   f_s through the chamber volumes, where the oil does not cavitate
static void differentiate_chamber(const ItmCircuit* c, const ItmHydraulics* d, const ItmHydraulicDerivatives* out,
                                  const double* x, int cylinder, int node, double area)
{
    if (node >= c->nvol) {
        return;
    }
    double stroke = c->cylinders[cylinder].stroke, l_1 = itm_cylinder_get_extension(d, cylinder, d->s_stage[cylinder]);
    double chamber = area > 0.0 ? l_1 : stroke - l_1;
    bool grows = !c->cylinders[cylinder].is_rotary && chamber > ITM_CYLINDER_LEAST * stroke;
    size_t at = (size_t)(node * c->ncyl + cylinder);
    if (out->f_w != NULL) {
        out->f_w[at] -= area / d->capacity[node];
    }
    if (out->f_s != NULL && grows && x[node] >= c->oil[node].vapour) {
        const ItmOil* oil = &c->oil[node];
        double p = d->p[node];
        double kappa = itm_kernel_compute_compressibility(oil, p);
        double capacity_s = area * (kappa + c->cylinders[cylinder].wall);
        out->f_s[at] -= d->flow[node] * capacity_s / (d->capacity[node] * d->capacity[node]);
    }
}

static double get_setting(const ItmHydraulics* d, const ItmCylinder* cylinder)
{
    return cylinder->control != ITM_NONE ? d->u[cylinder->control] : 1.0;
}

// dT/du = T_u through the state of the setting, or through the pressures that move it
static void differentiate_setting(const ItmCircuit* c, const ItmHydraulics* d, double* F_x, const double* x,
                                  const ItmCylinder* motor, double T_u)
{
    const ItmSpool* control = &c->controls[motor->control];
    if (control->order > 0) {
        F_x[control->x_adr] += T_u * d->u_raw[motor->control];
    } else if (control->nlaw > 0) {
        const ItmPilotLaw* law = &c->laws[d->law[motor->control]];
        for (int n = law->adr; n < law->adr + law->count; n++) {
            int col = c->terms[n].node;
            if (col < c->nvol && x[col] >= c->oil[col].vapour) {
                F_x[col] += T_u * d->u_command[motor->control] * d->command_p[motor->control] * c->terms[n].gain;
            }
        }
    }
}

static void differentiate_force(const ItmCircuit* c, const ItmHydraulics* d, const ItmHydraulicDerivatives* out,
                                const double* x, int i, double s, double w)
{
    const ItmCylinder* cylinder = &c->cylinders[i];
    ItmCylinderForce force = itm_cylinder_compute_stage_force(c, d, i, s, w);
    int node[2] = {cylinder->node_1, cylinder->node_2};
    // F = pressure - pressure_drag |pressure| slip(w) + ...
    double share = 1.0 - cylinder->pressure_drag * copysign(itm_cylinder_compute_slip(cylinder, w), force.pressure * w);
    double by_pressure = get_setting(d, cylinder) * share;
    double area[2] = {by_pressure * cylinder->area_1, -by_pressure * cylinder->area_2};
    for (int k = 0; out->F_x != NULL && k < 2; k++) {
        if (node[k] < c->nvol && x[node[k]] >= c->oil[node[k]].vapour) {
            out->F_x[i * c->nx + node[k]] = area[k];
        }
    }
    if (out->F_x != NULL && cylinder->control != ITM_NONE) {
        differentiate_setting(c, d, out->F_x + (size_t)i * (size_t)c->nx, x, cylinder,
                              share * (d->p[node[0]] * cylinder->area_1 - d->p[node[1]] * cylinder->area_2));
    }
    if (out->F_s != NULL) {
        out->F_s[i] = itm_cylinder_compute_stiffness(cylinder, itm_cylinder_get_extension(d, i, s));
    }
    if (out->F_w != NULL) {
        out->F_w[i] = force.rate_derivative;
    }
}

static void clear(double* matrix, int rows, int columns)
{
    if (matrix != NULL) {
        memset(matrix, 0, sizeof(double) * (size_t)rows * (size_t)columns);
    }
}

void itm_hydraulics_compute_derivatives(const ItmCircuit* c, ItmHydraulics* d, const ItmHydraulicDerivatives* out,
                                        double t, const double* x, const double* s, const double* w)
{
    ITM_GUARD_VOID(c != NULL && d != NULL && out != NULL && x != NULL && (c->ncyl == 0 || (s != NULL && w != NULL)));
    set_stage(c, d, t, s, w);
    itm_kernel_compute(c, d, d->k[3], x);
    itm_kernel_differentiate(c, d, x);
    if (out->f_x != NULL) {
        itm_kernel_assemble_jacobian(c, d, out->f_x, x);
    }
    clear(out->f_s, c->nx, c->ncyl);
    clear(out->f_w, c->nx, c->ncyl);
    clear(out->F_x, c->ncyl, c->nx);
    for (int i = 0; i < c->ncyl; i++) {
        const ItmCylinder* cylinder = &c->cylinders[i];
        double setting = cylinder->speed == ITM_NONE ? get_setting(d, cylinder) : 0.0;
        differentiate_chamber(c, d, out, x, i, cylinder->node_1, setting * cylinder->area_1);
        differentiate_chamber(c, d, out, x, i, cylinder->node_2, -setting * cylinder->area_2);
        differentiate_force(c, d, out, x, i, s[i], w[i]);
    }
}
