// Macro steps of a mechanism whose partner is outside of the system: the caller takes the micro steps of its interface model.
#include "cosim/cosim.h"

#include "base/error.h"
#include "base/guard.h"
#include "rim/message.h"

#include <math.h>
#include <string.h>

static ItmMechanism* get_driven(ItmCosim* x)
{
    return x->driven != ITM_NONE ? &x->mechanisms[x->driven] : NULL;
}

// The mechanism whose micro steps have begun.
static ItmMechanism* get_driving(ItmCosim* x)
{
    return x->is_driving ? get_driven(x) : NULL;
}

// ---------------------------------------------------------------------------- begin

// Whether all bonds of a mechanism end at one subsystem that is alone in its group, apart from controls sampled at communication points.
static bool has_one_partner(const ItmCosim* x, const ItmMechanism* part)
{
    int partner = part->nbond > 0 ? x->bonds[part->bonds[0]].subsystem : ITM_NONE;
    bool is_one = partner != ITM_NONE && x->subsystems[partner].hydraulics == NULL;
    for (int i = 0; i < part->nbond && is_one; i++) {
        is_one = x->bonds[part->bonds[i]].subsystem == partner;
    }
    const ItmGroup* group = is_one ? &x->groups[x->subsystems[partner].group] : NULL;
    for (int k = 0; group != NULL && k < group->nsubsystem; k++) {
        const ItmSubsystemInstance* other = &x->subsystems[group->subsystems[k]];
        bool is_sampled = other->table.is_sampled && other->period >= group->nticks;
        is_one = is_one && (group->subsystems[k] == partner || is_sampled);
    }
    return is_one && group->ninterface_model == 1;
}

static ItmStatus note(ItmCosim* x, ItmMechanism* part, ItmStatus status)
{
    if (status != ITM_OK) {
        itm_mechanism_note_failure(part, status);
        x->error = part->error;
    }
    return status;
}

// The interface model; the mechanism waits for its micro steps.
static ItmStatus reduce(ItmCosim* x, int mechanism)
{
    ItmMechanism* part = &x->mechanisms[mechanism];
    if (!part->uses_impulse || part->assembly != ITM_NONE || part->foreign != NULL || !has_one_partner(x, part)) {
        return itm_error_set(&x->error, ITM_ERR_UNSUPPORTED, "itm_cosim_begin_step", part->name,
                             "micro steps of mechanism '%s' cannot be taken by the caller: it needs coupling rim, "
                             "exchange impulse, and all its bonds at one subsystem that stands for the partner",
                             part->name);
    }
    x->driven = mechanism;
    ItmStatus status = itm_cosim_prepare(x);
    if (status == ITM_OK) {
        x->is_driving = false;
        part->rim.tau = 0.0;
    } else {
        x->driven = ITM_NONE;
    }
    return status;
}

ItmStatus itm_cosim_begin_step(ItmCosim* x, int mechanism, int K, bool use_heun, double* W, double* a0)
{
    ITM_GUARD(x != NULL, ITM_ERR_ARGUMENT);
    ItmStatus refused = itm_ranks_refuse(x, __func__);
    if (refused != ITM_OK) {
        return refused;
    }
    bool is_again = x->driven == mechanism && !x->is_driving && K > 0;
    if (mechanism < 0 || mechanism >= x->nmechanism || K < 0 || (x->driven != ITM_NONE && !is_again)) {
        return itm_error_set(&x->error, ITM_ERR_ARGUMENT, __func__, NULL,
                             "there is no mechanism %d, K is negative, or a step has begun already", mechanism);
    }
    ItmMechanism* part = &x->mechanisms[mechanism];
    ItmStatus status = is_again ? ITM_OK : reduce(x, mechanism);
    if (status != ITM_OK) {
        return status;
    }
    part->rim.use_heun = use_heun;
    if (K > 0) {
        x->is_driving = true;
        status = note(x, part, itm_rim_begin(&part->rim, K, use_heun));
        if (status != ITM_OK) {
            return itm_cosim_abandon(x, status);
        }
    }
    size_t n = (size_t)part->rim.n;
    if (W != NULL) {
        memcpy(W, part->rim.W, sizeof(double) * n * n);
    }
    if (a0 != NULL) {
        memcpy(a0, part->rim.a0, sizeof(double) * n);
    }
    return ITM_OK;
}

int itm_cosim_count_step_contacts(const ItmCosim* x)
{
    ITM_GUARD(x != NULL, 0);
    return x->driven != ITM_NONE ? x->mechanisms[x->driven].rim.contacts.problem.n : 0;
}

// ---------------------------------------------------------------------------- micro steps

static ItmStatus refuse_order(ItmCosim* x)
{
    return itm_error_set(&x->error, ITM_ERR_ARGUMENT, "itm_cosim_begin_step", NULL,
                         "no step has begun, or none with micro steps");
}

ItmStatus itm_cosim_predict_step(ItmCosim* x, double h, const double* lambda, double* w_end)
{
    ITM_GUARD(x != NULL && lambda != NULL && w_end != NULL, ITM_ERR_ARGUMENT);
    ItmMechanism* part = get_driving(x);
    return part != NULL ? note(x, part, itm_rim_predict(&part->rim, h, lambda, w_end)) : refuse_order(x);
}

ItmStatus itm_cosim_advance_step(ItmCosim* x, double h, const double* lambda, double* s, double* w)
{
    ITM_GUARD(x != NULL && lambda != NULL && s != NULL && w != NULL, ITM_ERR_ARGUMENT);
    ItmMechanism* part = get_driving(x);
    if (part == NULL) {
        return refuse_order(x);
    }
    ItmStatus status = note(x, part, itm_rim_advance(&part->rim, h, lambda));
    memcpy(s, part->rim.s, sizeof(double) * (size_t)part->nbond);
    memcpy(w, part->rim.w, sizeof(double) * (size_t)part->nbond);
    memcpy(part->lambda, lambda, sizeof(double) * (size_t)part->nbond);
    return status;
}

size_t itm_external_write_rows(const ItmCosim* x, size_t capacity, void* bytes)
{
    const ItmRim* rim = x->is_driving ? &x->mechanisms[x->driven].rim : NULL;
    const ItmRowProblem* rows = rim != NULL ? &rim->contacts.problem : NULL;
    size_t size = rows != NULL && rows->n > 0 ? itm_rim_measure_message(rim->n, rows->n, rows->ncoupling) : 0;
    if (size == 0 || size > capacity) {
        return 0;
    }
    itm_rim_write_rows(rim, bytes);
    return size;
}

ItmStatus itm_external_read_results(ItmCosim* x, size_t size, const void* bytes)
{
    ItmMechanism* part = get_driving(x);
    const ItmRowProblem* rows = part != NULL ? &part->rim.contacts.problem : NULL;
    bool is_read = part != NULL && rows->n > 0 && part->rim.tau == 0.0 &&
                   size == itm_rim_measure_message(part->rim.n, rows->n, rows->ncoupling) &&
                   itm_rim_read_results(&part->rim, part->lambda, bytes);
    return is_read ? ITM_OK
                   : itm_error_set(&x->error, ITM_ERR_ARGUMENT, __func__, NULL,
                                   "results of micro steps do not belong to the step that has begun");
}

// ---------------------------------------------------------------------------- end

// Impulses that a caller gives, without micro steps: as they are where there are no contacts, otherwise by two micro steps with the constant
// forces that have the same impulse and moment, each over half of H.
static ItmStatus take_impulses(ItmMechanism* part, bool is_begun, const double* P0, const double* P1, double theta)
{
    ItmRim* rim = &part->rim;
    double H = rim->H;
    int n = rim->n;
    if (rim->contacts.problem.n > 0) {
        ItmStatus status = is_begun ? ITM_OK : itm_rim_begin(rim, 2, rim->use_heun);
        for (int half = 0; half < 2 && status == ITM_OK; half++) {
            for (int i = 0; i < n; i++) {
                part->lambda[i] = (half == 0 ? 4.0 * P1[i] - P0[i] : 3.0 * P0[i] - 4.0 * P1[i]) / H;
            }
            status = itm_rim_advance(rim, 0.5 * H, part->lambda);
        }
        return status;
    }
    memcpy(rim->P0, P0, sizeof(double) * (size_t)n);
    memcpy(rim->P1, P1, sizeof(double) * (size_t)n);
    rim->theta = theta;
    rim->tau = H;
    for (int i = 0; i < n; i++) {
        double w = rim->w[i], dw = H * rim->a0[i], ds = theta * H * rim->a0[i];
        for (int j = 0; j < n; j++) {
            dw += rim->W[i * n + j] * P0[j];
            ds += rim->W[i * n + j] * P1[j];
        }
        rim->w[i] = w + dw;
        rim->s[i] += H * (w + ds);
        rim->work[i] = P0[i] * (w + 0.5 * dw);
        part->lambda[i] = P0[i] / H;
    }
    return ITM_OK;
}

// The bonds as a group of subsystems would have left them.
static void close_bonds(ItmCosim* x, ItmMechanism* part)
{
    for (int i = 0; i < part->nbond; i++) {
        ItmBond* bond = &x->bonds[part->bonds[i]];
        ItmBondMemory* memory = bond->memory;
        memory->P0 = part->rim.P0[i];
        memory->P1 = part->rim.P1[i];
        memory->force = memory->active = bond->lambda = part->lambda[i];
        bond->work_port = bond->work_model = part->rim.work[i];
        memory->throughput += fabs(part->rim.work[i]);
        bond->s_now = bond->s_port = part->rim.s[i];
        bond->w_now = bond->w_end = part->rim.w[i];
    }
}

ItmStatus itm_cosim_commit_step(ItmCosim* x, const double* P0, const double* P1, double theta)
{
    ITM_GUARD(x != NULL, ITM_ERR_ARGUMENT);
    ItmMechanism* part = get_driven(x);
    if (part == NULL) {
        return refuse_order(x);
    }
    ItmStatus status = ITM_OK;
    if (part->rim.tau == 0.0) {
        status = P0 != NULL && P1 != NULL ? note(x, part, take_impulses(part, x->is_driving, P0, P1, theta))
                                          : itm_error_set(&x->error, ITM_ERR_ARGUMENT, __func__, NULL,
                                                          "the macro step has neither micro steps nor impulses");
    }
    if (status != ITM_OK) {
        return itm_cosim_abandon(x, status);
    }
    close_bonds(x, part);
    return itm_cosim_finish(x);
}

ItmStatus itm_cosim_refresh_ports(ItmCosim* x)
{
    ITM_GUARD(x != NULL, ITM_ERR_ARGUMENT);
    for (int i = 0; i < x->nmechanism; i++) {
        ItmMechanism* part = &x->mechanisms[i];
        part->status = ITM_OK;
        itm_mechanism_measure(x, part);
        if (part->status != ITM_OK) {
            x->error = part->error;
            return part->status;
        }
    }
    itm_cosim_start_subsystems(x);
    return ITM_OK;
}

void itm_cosim_cancel_step(ItmCosim* x)
{
    ITM_GUARD_VOID(x != NULL);
    if (x->driven != ITM_NONE) {
        itm_cosim_abandon(x, ITM_OK);
    }
}
