// Refusal of bad input, with the numbers that are at fault.
#include "base/error.h"
#include "mlcp/workspace.h"

#include <math.h>

static ItmStatus check_arguments(const ItmMlcpWorkspace* ws, const ItmMlcpResult* result, const ItmMlcpProblem* p,
                                 const ItmMlcpOptions* o, ItmError* error)
{
    if (ws == NULL || result == NULL || p == NULL || o == NULL) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL,
                             "workspace, result, problem and options must not be NULL");
    }
    if (result->x == NULL || result->w == NULL || (o->warm_start && result->state == NULL)) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, "result",
                             "the result needs arrays x and w, and state for a warm start");
    }
    if (p->n < 1 || p->ncontact < 0) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, "n", "n = %d and ncontact = %d must be >= 1 and >= 0",
                             p->n, p->ncontact);
    }
    if (p->H == NULL || p->b == NULL || p->lo == NULL || p->up == NULL || (p->ncontact > 0 && p->contacts == NULL)) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, "problem",
                             "H, b, lo, up and contacts must not be NULL");
    }
    return ITM_OK;
}

static ItmStatus check_options(const ItmMlcpOptions* o, ItmError* error)
{
    if ((int)o->solver < 0 || o->solver >= ITM_MLCP_SOLVER_COUNT) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, "solver", "no solver has number %d", (int)o->solver);
    }
    if (!(o->tolerance > 0.0) || !isfinite(o->tolerance)) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, "tolerance", "tolerance must be positive, got %g",
                             o->tolerance);
    }
    if (o->max_iterations < 1) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, "max_iterations",
                             "max_iterations must be at least 1, got %d", o->max_iterations);
    }
    if (!(o->relaxation > 0.0 && o->relaxation < 2.0)) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, "relaxation",
                             "relaxation must lie between 0 and 2, got %g", o->relaxation);
    }
    if (!(o->effort >= 0.0)) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, "effort",
                             "effort must be zero (no limit) or positive, got %g", o->effort);
    }
    return ITM_OK;
}

static ItmStatus check_capacity(const ItmMlcpCapacity* capacity, const ItmMlcpProblem* p, ItmError* error)
{
    if (p->n > capacity->n || p->ncontact > capacity->ncontact) {
        return itm_error_set(error, ITM_ERR_CAPACITY, __func__, "n",
                             "%d rows and %d contacts do not fit a workspace made for %d and %d", p->n, p->ncontact,
                             capacity->n, capacity->ncontact);
    }
    return ITM_OK;
}

ItmStatus itm_mlcp_check_matrix(const ItmMlcpProblem* p, ItmError* error)
{
    size_t n = (size_t)p->n;
    for (size_t k = 0; k < n * n; k++) {
        if (!isfinite(p->H[k])) {
            return itm_error_set(error, ITM_ERR_NOT_FINITE, __func__, "H", "H[%zu][%zu] = %g", k / n, k % n, p->H[k]);
        }
    }
    return itm_error_set(error, ITM_ERR_NOT_FINITE, __func__, "H", "H overflows when its diagonal is scaled to one");
}

// The question of check_rows without a branch per row
static bool are_rows_sound(const ItmMlcpProblem* p)
{
    bool is_sound = true;
    for (int i = 0; i < p->n; i++) {
        bool has_numbers = (p->lo[i] <= p->up[i]) & (p->lo[i] < INFINITY) & (p->up[i] > -INFINITY);
        is_sound &= (fabs(p->b[i]) < INFINITY) & has_numbers;
    }
    return is_sound;
}

static ItmStatus check_rows(const ItmMlcpProblem* p, ItmError* error)
{
    if (are_rows_sound(p)) {
        return ITM_OK;
    }
    for (int i = 0; i < p->n; i++) {
        if (!isfinite(p->b[i])) {
            return itm_error_set(error, ITM_ERR_NOT_FINITE, __func__, "b", "b[%d] = %g", i, p->b[i]);
        }
        if (isnan(p->lo[i]) || isnan(p->up[i])) {
            return itm_error_set(error, ITM_ERR_NOT_FINITE, __func__, "lo", "bounds of row %d are [%g, %g]", i,
                                 p->lo[i], p->up[i]);
        }
        if (p->lo[i] > p->up[i] || p->lo[i] == INFINITY || p->up[i] == -INFINITY) {
            return itm_error_set(error, ITM_ERR_INPUT, __func__, "lo",
                                 "no number lies in the bounds [%g, %g] of row %d", p->lo[i], p->up[i], i);
        }
    }
    return ITM_OK;
}

static bool is_row(const ItmMlcpProblem* p, int row)
{
    return row >= 0 && row < p->n;
}

static ItmStatus check_contact(const ItmMlcpProblem* p, int id, ItmError* error)
{
    const ItmMlcpContact* c = &p->contacts[id];
    bool has_second = c->tangent[1] != ITM_NONE;
    if (!is_row(p, c->normal) || !is_row(p, c->tangent[0]) || (has_second && !is_row(p, c->tangent[1])) ||
        c->normal == c->tangent[0] || c->normal == c->tangent[1] || c->tangent[0] == c->tangent[1]) {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, "contacts",
                             "contact %d: rows %d, %d, %d must be different rows below %d (second "
                             "tangent may be ITM_NONE)",
                             id, c->normal, c->tangent[0], c->tangent[1], p->n);
    }
    if (!isfinite(c->mu)) {
        return itm_error_set(error, ITM_ERR_NOT_FINITE, __func__, "mu", "contact %d: mu = %g", id, c->mu);
    }
    if (c->mu < 0.0 || (int)c->law < 0 || c->law >= ITM_FRICTION_COUNT) {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, "mu", "contact %d: mu = %g must be >= 0, law = %d", id,
                             c->mu, (int)c->law);
    }
    if (c->law == ITM_FRICTION_PYRAMID && has_second && (c->ndirection < 3 || c->ndirection > 32)) {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, "ndirection",
                             "contact %d: a pyramid needs 3 to 32 directions, got %d", id, c->ndirection);
    }
    if (p->lo[c->normal] != 0.0 || p->up[c->normal] != INFINITY) {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, "lo",
                             "contact %d: normal row %d must have bounds [0, inf), has [%g, %g]", id, c->normal,
                             p->lo[c->normal], p->up[c->normal]);
    }
    return ITM_OK;
}

// A tangent belongs to one contact and is nobody's normal; a normal serves one pyramid at most, and no cone beside it.
static ItmStatus check_sharing(const ItmMlcpWorkspace* ws, const ItmMlcpProblem* p, ItmError* error)
{
    enum { NONE = 0, NORMAL = 1, CONE_NORMAL = 2, TANGENT = 4, PYRAMID_NORMAL = 8 };
    signed char* use = ws->mark;
    for (int i = 0; i < p->n; i++) {
        use[i] = NONE;
    }
    for (int c = 0; c < p->ncontact; c++) {
        const ItmMlcpContact* contact = &p->contacts[c];
        bool is_cone = contact->law == ITM_FRICTION_CONE, is_pyramid = contact->law == ITM_FRICTION_PYRAMID;
        int excluded = TANGENT | (is_pyramid ? CONE_NORMAL | PYRAMID_NORMAL : is_cone ? PYRAMID_NORMAL : NONE);
        int bad = use[contact->normal] & excluded ? contact->normal : ITM_NONE;
        use[contact->normal] |= (signed char)(NORMAL | (is_cone ? CONE_NORMAL : is_pyramid ? PYRAMID_NORMAL : NONE));
        for (int k = 0; k < 2 && contact->tangent[k] != ITM_NONE; k++) {
            bad = use[contact->tangent[k]] != NONE ? contact->tangent[k] : bad;
            use[contact->tangent[k]] = TANGENT;
        }
        if (bad != ITM_NONE) {
            return itm_error_set(error, ITM_ERR_INPUT, __func__, "contacts",
                                 "contact %d: row %d already has a role that excludes this one", c, bad);
        }
    }
    return ITM_OK;
}

static ItmStatus check_warm_start(const ItmMlcpResult* result, const ItmMlcpProblem* p, ItmError* error)
{
    for (int i = 0; i < p->n; i++) {
        if (!isfinite(result->x[i])) {
            return itm_error_set(error, ITM_ERR_NOT_FINITE, __func__, "x", "warm start x[%d] = %g", i, result->x[i]);
        }
        if (result->state[i] < ITM_ROW_LO || result->state[i] > ITM_ROW_UNKNOWN) {
            return itm_error_set(error, ITM_ERR_INPUT, __func__, "state", "warm start state[%d] = %d", i,
                                 (int)result->state[i]);
        }
    }
    return ITM_OK;
}

ItmStatus itm_mlcp_check(const ItmMlcpWorkspace* ws, const ItmMlcpResult* result, const ItmMlcpProblem* p,
                         const ItmMlcpOptions* o, ItmError* error)
{
    ItmStatus status = check_arguments(ws, result, p, o, error);
    status = status == ITM_OK ? check_options(o, error) : status;
    status = status == ITM_OK ? check_capacity(&ws->capacity, p, error) : status;
    status = status == ITM_OK ? check_rows(p, error) : status;
    for (int c = 0; status == ITM_OK && c < p->ncontact; c++) {
        status = check_contact(p, c, error);
    }
    if (status == ITM_OK && p->ncontact > 0) {
        status = check_sharing(ws, p, error);
    }
    if (status == ITM_OK && o->warm_start) {
        status = check_warm_start(result, p, error);
    }
    return status;
}
