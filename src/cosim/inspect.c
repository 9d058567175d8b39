// Looking at interfaces: mobility, effective mass, and the rows that hold.
#include "cosim/cosim.h"

#include "base/error.h"
#include "base/guard.h"
#include "contact/contact.h"
#include "multibody/joint_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int itm_cosim_get_interface_count(const ItmCosim* x)
{
    ITM_GUARD(x != NULL, 0);
    return x->ninterface + x->nbond;
}

int itm_cosim_get_interface_mechanism(const ItmCosim* x, int interface)
{
    ITM_GUARD(x != NULL, ITM_NONE);
    bool is_there = interface >= 0 && interface < itm_cosim_get_interface_count(x);
    return !is_there                   ? ITM_NONE
           : interface < x->ninterface ? x->interfaces[interface].mechanism
                                       : x->bonds[interface - x->ninterface].mechanism;
}

// The interface model of a mechanism in the present state.
static ItmStatus extract(ItmCosim* x, ItmMechanism* part)
{
    ItmData* d = part->data;
    part->status = ITM_OK;
    itm_mechanism_look_at_ports(part);
    if (part->foreign != NULL) {
        ItmStatus status = itm_foreign_reduce(part->foreign, &part->rim, itm_cosim_get_time(x), x->step,
                                              part->K > 0 ? part->K : 1, part->use_heun, &part->error);
        itm_foreign_cancel(part->foreign);
        return status;
    }
    ItmStatus status =
        itm_rim_extract(part->model, d, &part->rim, itm_data_get_time(d), d->options.step, 0.0, ITM_RIM_ELIMINATE);
    if (status != ITM_OK) {
        itm_mechanism_note_failure(part, status);
    }
    return status;
}

// Rows first ... first + n of the interface model of a mechanism.
static ItmStatus look(ItmCosim* x, ItmMechanism* part, int first, ItmInterfaceView* view)
{
    double scratch[ITM_SPECTRUM_SCRATCH(ITM_DIRECTION_COUNT)];
    ItmRim* rim = &part->rim;
    ItmStatus status = extract(x, part);
    if (status != ITM_OK) {
        x->error = part->error;
        return status;
    }
    for (int i = 0; i < view->n; i++) {
        view->acceleration[i] = rim->a0[first + i];
        view->velocity[i] = rim->w[first + i];
        for (int j = 0; j < view->n; j++) {
            view->W[i * view->n + j] = rim->W[(first + i) * rim->n + first + j];
        }
    }
    ItmRimSpectrum spectrum = {0};
    if (!itm_rim_compute_spectrum(view->W, part->foreign == NULL ? rim->mobility_free + first : NULL, view->n,
                                  &spectrum, view->value, view->vector, view->M_eff, scratch)) {
        return itm_error_set(&x->error, ITM_ERR_NOT_FINITE, "itm_cosim_inspect", view->name,
                             "the mobility of '%s' has no eigenvalues: it is not finite", view->name);
    }
    view->rank = spectrum.rank;
    view->condition = spectrum.condition;
    return ITM_OK;
}

ItmStatus itm_cosim_inspect(ItmCosim* x, int interface, ItmInterfaceView* view)
{
    ITM_GUARD(x != NULL && view != NULL, ITM_ERR_ARGUMENT);
    if (view == NULL || interface < 0 || interface >= itm_cosim_get_interface_count(x)) {
        return itm_error_set(&x->error, ITM_ERR_ARGUMENT, __func__, NULL, "there is no interface %d", interface);
    }
    ItmStatus refused = itm_ranks_refuse(x, __func__);
    if (refused != ITM_OK) {
        return refused;
    }
    memset(view, 0, sizeof *view);
    bool is_frame = interface < x->ninterface;
    int mechanism, first;
    if (is_frame) {
        const ItmInterface* it = &x->interfaces[interface];
        mechanism = it->mechanism;
        first = it->first;
        view->name = it->name;
        for (int k = 0; k < ITM_DIRECTION_COUNT; k++) {
            if (it->directions >> k & 1u) {
                view->direction[view->n++] = (ItmDirection)k;
            }
        }
    } else {
        const ItmBond* bond = &x->bonds[interface - x->ninterface];
        mechanism = bond->mechanism;
        first = bond->slot;
        view->n = 1;
        view->direction[0] = itm_mechanism_is_rotary(&x->mechanisms[mechanism], first) ? ITM_RX : ITM_TX;
        view->name = itm_mechanism_get_port_name(&x->mechanisms[mechanism], first);
    }
    view->mechanism = x->mechanisms[mechanism].name;
    x->inspected = mechanism;
    return look(x, &x->mechanisms[mechanism], first, view);
}

ItmStatus itm_cosim_inspect_foreign(ItmCosim* x, int mechanism, ItmForeignView* view)
{
    ITM_GUARD(x != NULL && view != NULL, ITM_ERR_ARGUMENT);
    memset(view, 0, sizeof *view);
    ItmMechanism* part = mechanism >= 0 && mechanism < x->nmechanism ? &x->mechanisms[mechanism] : NULL;
    if (part == NULL || part->foreign == NULL) {
        return itm_error_set(&x->error, ITM_ERR_ARGUMENT, __func__, NULL, "mechanism %d is not foreign", mechanism);
    }
    ItmStatus status = itm_ranks_refuse(x, __func__);
    status = status == ITM_OK ? extract(x, part) : status;
    if (status != ITM_OK) {
        x->error = part->status != ITM_OK || part->error.status != ITM_OK ? part->error : x->error;
        return status;
    }
    int n = part->rim.n;
    ItmRimSpectrum spectrum = {0};
    double* scratch = malloc(sizeof *scratch * (size_t)ITM_SPECTRUM_SCRATCH(n));
    bool is_finite =
        scratch != NULL && itm_rim_compute_spectrum(part->rim.W, NULL, n, &spectrum, NULL, NULL, NULL, scratch);
    free(scratch);
    if (!is_finite) {
        return itm_error_set(&x->error, scratch == NULL ? ITM_ERR_MEMORY : ITM_ERR_NOT_FINITE, __func__, part->name,
                             "the mobility of '%s' has no eigenvalues", part->name);
    }
    *view = (ItmForeignView){.mechanism = part->name,
                             .n = n,
                             .names = part->foreign->table.port_names,
                             .W = part->rim.W,
                             .acceleration = part->rim.a0,
                             .position = part->rim.s,
                             .rate = part->rim.w,
                             .rank = spectrum.rank,
                             .condition = spectrum.condition,
                             .notes = itm_cosim_get_foreign_notes(x, mechanism)};
    return ITM_OK;
}

// The triangle of the axis and the two ends, seen along the axis: with sides a, b and the actuator s opposite the axis, the arm is
// |a x b| / s and at most the shorter of |a| and |b|.
static ItmLeverView measure_lever(const ItmData* d, const ItmMeasure* line, const ItmJoint* joint)
{
    ItmJointView view;
    itm_joint_view_place(&view, d, joint);
    ItmVec3 axis = itm_mat_column(&view.R_a, 2), side[2];
    const int body[2] = {line->body_a, line->body_b};
    const ItmVec3 point[2] = {line->point_a, line->point_b};
    for (int k = 0; k < 2; k++) {
        ItmVec3 from = itm_vec_sub(itm_vec_add(d->x[body[k]], itm_mat_mul_vec(&d->R[body[k]], point[k])), view.p_a);
        side[k] = itm_vec_axpy(-itm_vec_dot(axis, from), axis, from);
    }
    double s = itm_vec_norm(itm_vec_sub(side[1], side[0]));
    double twice_area = fabs(itm_vec_dot(axis, itm_vec_cross(side[0], side[1])));
    return (ItmLeverView){joint->name, s > 0.0 ? twice_area / s : 0.0,
                          fmin(itm_vec_norm(side[0]), itm_vec_norm(side[1]))};
}

ItmLeverView itm_cosim_get_lever(ItmCosim* x, int bond)
{
    ITM_GUARD(x != NULL, (ItmLeverView){0});
    if (bond < 0 || bond >= x->nbond || x->mechanisms[x->bonds[bond].mechanism].foreign != NULL) {
        return (ItmLeverView){0};
    }
    ItmMechanism* part = &x->mechanisms[x->bonds[bond].mechanism];
    const ItmModel* m = part->model;
    const ItmMeasure* line = itm_actuator_get_measure(m, part->rim.actuator[x->bonds[bond].slot]);
    itm_data_refresh(m, part->data);
    for (int i = 0; i < m->njoint && line->joint == ITM_NONE && line->places == NULL; i++) {
        const ItmJoint* joint = &m->joints[i];
        bool is_same = joint->body_a == line->body_a && joint->body_b == line->body_b;
        bool is_swapped = joint->body_a == line->body_b && joint->body_b == line->body_a;
        if (joint->type == ITM_JOINT_REVOLUTE && (is_same || is_swapped)) {
            return measure_lever(part->data, line, joint);
        }
    }
    return (ItmLeverView){0};
}

const char* itm_cosim_get_active_row(ItmCosim* x, int row)
{
    ITM_GUARD(x != NULL, NULL);
    const ItmMechanism* part = x->inspected != ITM_NONE ? &x->mechanisms[x->inspected] : NULL;
    if (part == NULL || row < 0 || row >= part->rim.neliminated) {
        return NULL;
    }
    itm_data_name_row(part->model, part->data, part->rim.eliminated[row], true, x->row_name, sizeof x->row_name);
    return x->row_name;
}
