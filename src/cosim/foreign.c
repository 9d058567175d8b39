#include "cosim/foreign.h"

#include "base/error.h"
#include "math/eigen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MISSED_SHARE 0.2   // of the change of rates: a model that misses more is probed again at the next step
#define PROBE_SHARE 1e-3   // change of rates that a probing force should cause, of the rates
#define PROBE_RATE 0.1     // m/s, rad/s: rates below count as this
#define FORGETTING 0.98    // weight of a step against the next one in the identification
#define LEAST_CHANGE 1e-6  // of the forces: smaller changes identify nothing

// ---------------------------------------------------------------------------- creation

static bool can_save(const ItmForeignMechanism* table)
{
    return table->get_state_size != NULL && table->save != NULL && table->restore != NULL;
}

static bool can_offer(const ItmForeignMechanism* table, ItmMobility source)
{
    return source == ITM_MOBILITY_PORT          ? table->begin != NULL && table->commit != NULL
           : source == ITM_MOBILITY_DERIVATIVES ? table->get_derivatives != NULL
           : source == ITM_MOBILITY_PROBING     ? can_save(table)
                                                : source == ITM_MOBILITY_IDENTIFIED;
}

static ItmStatus choose_source(ItmForeign* f, ItmError* error)
{
    ItmMobility wanted = f->options.mobility;
    f->source = wanted != ITM_MOBILITY_AUTO ? wanted : ITM_MOBILITY_PORT;
    while (wanted == ITM_MOBILITY_AUTO && !can_offer(&f->table, f->source)) {
        f->source++;
    }
    if (!can_offer(&f->table, f->source)) {
        static const char* const NEEDS[ITM_MOBILITY_COUNT] = {
            "", "an interface model port", "derivatives of its accelerations", "a state that can be saved", ""};
        return itm_error_set(error, ITM_ERR_UNSUPPORTED, "itm_cosim_build", "mobility",
                             "mechanism '%s': mobility '%s' needs %s, which it does not offer; use auto", f->name,
                             itm_cosim_mobility_name(f->source), NEEDS[f->source]);
    }
    return ITM_OK;
}

static size_t count_memory(const ItmForeign* f)
{
    size_t n = (size_t)f->n;
    return sizeof(ItmForeignMemory) / sizeof(double) + 2 * n * n + 7 * n + (size_t)f->table.ninput;
}

// Memory that is saved first, then that of a step.
static ItmStatus allocate(ItmForeign* f, ItmError* error)
{
    size_t n = (size_t)f->n;
    f->nmemory = count_memory(f);
    f->state_size = can_save(&f->table) ? f->table.get_state_size(f->table.self) : 0;
    double* at = calloc(f->nmemory + 10 * n + n * n + 1, sizeof *at);
    f->state = malloc(f->state_size + 1);
    f->memory = (ItmForeignMemory*)at;
    if (at == NULL || f->state == NULL) {
        return itm_error_set(error, ITM_ERR_MEMORY, "itm_cosim_build", NULL, "out of memory for mechanism '%s'",
                             f->name);
    }
    at += sizeof(ItmForeignMemory) / sizeof(double);
    f->W = at;
    f->covariance = f->W + n * n;
    f->f = f->covariance + n * n;
    f->delta = f->f + n;
    f->a_last = f->delta + n;
    f->f_last = f->a_last + n;
    f->shift = f->f_last + n;
    f->slope = f->shift + n;
    f->gap = f->slope + n;
    f->u = f->gap + n;
    double** scratch[] = {&f->s,       &f->w,       &f->work,  &f->w_free, &f->s_free,
                          &f->w_probe, &f->s_probe, &f->force, &f->column, &f->a1};
    at = (double*)f->memory + f->nmemory;
    for (size_t i = 0; i < sizeof scratch / sizeof scratch[0]; i++) {
        *scratch[i] = at + i * n;
    }
    f->vectors = at + 10 * n;
    return ITM_OK;
}

ItmStatus itm_foreign_create(ItmForeign** foreign, const char* name, const ItmForeignMechanism* table,
                             const ItmForeignOptions* options, ItmError* error)
{
    ItmForeign* f = calloc(1, sizeof *f);
    *foreign = NULL;
    if (f == NULL) {
        if (table->destroy != NULL) {
            table->destroy(table->self);
        }
        return itm_error_set(error, ITM_ERR_MEMORY, "itm_cosim_build", NULL, "out of memory for mechanism '%s'", name);
    }
    *f = (ItmForeign){
        .name = strdup(name), .table = *table, .options = *options, .n = table->nport, .first_step = table->step};
    ItmStatus status = f->name != NULL ? choose_source(f, error)
                                       : itm_error_set(error, ITM_ERR_MEMORY, "itm_cosim_build", NULL, "out of memory");
    if (status == ITM_OK) {
        status = allocate(f, error);
    }
    if (status != ITM_OK) {
        itm_foreign_destroy(f);
        return status;
    }
    *foreign = f;
    return ITM_OK;
}

void itm_foreign_destroy(ItmForeign* f)
{
    if (f == NULL) {
        return;
    }
    if (f->table.destroy != NULL) {
        f->table.destroy(f->table.self);
    }
    itm_rim_free_room(&f->room);
    free(f->memory);
    free(f->state);
    free(f->name);
    free(f);
}

// ---------------------------------------------------------------------------- calls

// Status of a call of the table, with the name of the mechanism in its message.
static ItmStatus name_failure(const ItmForeign* f, ItmStatus status, const ItmError* cause, ItmError* error)
{
    return status == ITM_OK ? ITM_OK
                            : itm_error_set(error, status, "itm_cosim_step", cause->field, "mechanism '%s': %s",
                                            f->name, cause->message);
}

#define CALL(f, function, error, ...)                                                                                  \
    (cause.message[0] = cause.field[0] = '\0',                                                                         \
     name_failure(f, (f)->table.function((f)->table.self, __VA_ARGS__, &cause), &cause, error))

ItmStatus itm_foreign_measure(ItmForeign* f, double* s, double* w, ItmError* error)
{
    ItmError cause;
    ItmStatus status = CALL(f, get_motion, error, s, w);
    for (int i = 0; i < f->n && status == ITM_OK; i++) {
        if (!isfinite(s[i]) || !isfinite(w[i])) {
            status = itm_error_set(error, ITM_ERR_NOT_FINITE, "itm_cosim_step", f->table.port_names[i],
                                   "mechanism '%s': position or rate of port '%s' is not finite", f->name,
                                   f->table.port_names[i]);
        }
    }
    return status;
}

static ItmStatus do_step(ItmForeign* f, double t, double h, const double* force, ItmError* error)
{
    ItmError cause;
    return CALL(f, do_step, error, t, h, force);
}

static ItmStatus save_state(ItmForeign* f, ItmError* error)
{
    ItmStatus status = f->table.save(f->table.self, f->state);
    return status == ITM_OK ? ITM_OK
                            : itm_error_set(error, status, "itm_cosim_step", NULL,
                                            "mechanism '%s': its state cannot be saved", f->name);
}

static ItmStatus restore_state(ItmForeign* f, ItmError* error)
{
    ItmStatus status = f->table.restore(f->table.self, f->state);
    return status == ITM_OK ? ITM_OK
                            : itm_error_set(error, status, "itm_cosim_step", NULL,
                                            "mechanism '%s': its state cannot be restored", f->name);
}

static bool is_multiple(double h, double step)
{
    double n = step > 0.0 ? h / step : 1.0;
    return fabs(n - round(n)) < 1e-9 * n;
}

// Whether a step of length h is a multiple of the mechanism's own.
static bool fits(const ItmForeign* f, double h)
{
    return is_multiple(h, f->table.step);
}

// The port takes macro steps, two halves of them come without it; otherwise the step stays where it divides them.
static ItmStatus change_step(ItmForeign* f, double H, bool has_rim, ItmError* error)
{
    ItmError cause = {0};
    bool has_port = has_rim && f->source == ITM_MOBILITY_PORT;
    double h = has_rim && !has_port ? 0.5 * H : H;
    h = !has_port && is_multiple(h, f->first_step) ? f->first_step : h;
    ItmStatus status = f->table.set_step(f->table.self, h, &cause);
    size_t size = status == ITM_OK && can_save(&f->table) ? f->table.get_state_size(f->table.self) : f->state_size;
    f->table.step = status == ITM_OK ? h : f->table.step;
    return status == ITM_OK && size == f->state_size
               ? ITM_OK
               : itm_error_set(error, status != ITM_OK ? status : ITM_ERR_UNSUPPORTED, "itm_cosim_build", "macro_step",
                               "mechanism '%s' with steps of %g s: %s", f->name, h,
                               status != ITM_OK ? cause.message : "its state has another size");
}

ItmStatus itm_foreign_fit_step(ItmForeign* f, double H, bool has_rim, ItmError* error)
{
    ItmStatus status = f->table.set_step != NULL ? change_step(f, H, has_rim, error) : ITM_OK;
    if (status == ITM_OK && !fits(f, H)) {
        status = itm_error_set(error, ITM_ERR_INPUT, "itm_cosim_build", "macro_step",
                               "macro_step %g s is not a multiple of the step %g s of mechanism '%s'", H, f->table.step,
                               f->name);
    }
    return status;
}

ItmStatus itm_foreign_reset(ItmForeign* f, ItmError* error)
{
    ItmError cause = {0};
    memset(f->memory, 0, sizeof(double) * f->nmemory);
    f->memory->age = -1.0;
    f->is_begun = false;
    return name_failure(f, f->table.reset(f->table.self, &cause), &cause, error);
}

// ---------------------------------------------------------------------------- probing

// Rates w_end after the macro step at `force`, from the saved state, which is restored.
static ItmStatus try_step(ItmForeign* f, const double* force, double* w_end, ItmError* error)
{
    ItmStatus status = do_step(f, f->t, f->H, force, error);
    if (status == ITM_OK) {
        status = itm_foreign_measure(f, f->s_probe, w_end, error);
    }
    f->memory->nprobe += 1.0;
    ItmStatus back = restore_state(f, status == ITM_OK ? error : NULL);
    return status == ITM_OK ? back : status;
}

// column = (w_probe - w_free) / (H delta) for a force delta more at a port. Returns the largest change of a rate through `change`.
static ItmStatus probe_column(ItmForeign* f, int port, double delta, double* change, ItmError* error)
{
    memcpy(f->force, f->f, sizeof(double) * (size_t)f->n);
    f->force[port] += delta;
    ItmStatus status = try_step(f, f->force, f->w_probe, error);
    *change = 0.0;
    for (int i = 0; i < f->n && status == ITM_OK; i++) {
        double dw = f->w_probe[i] - f->w_free[i];
        *change = fmax(*change, fabs(dw));
        f->column[i] = dw / (f->H * delta);
    }
    return status;
}

// A force that changes the rates well above rounding and well below their size.
static ItmStatus choose_delta(ItmForeign* f, int port, ItmError* error)
{
    if (f->options.amplitude > 0.0) {
        f->delta[port] = f->options.amplitude;
        return ITM_OK;
    }
    double change, delta = fmax(1.0, PROBE_SHARE * fabs(f->f[port])), size = PROBE_RATE;
    ItmStatus status = probe_column(f, port, delta, &change, error);
    for (int i = 0; i < f->n; i++) {
        size = fmax(size, fabs(f->w[i]));
    }
    // a port that nothing moves keeps its force
    f->delta[port] = change > 0.0 ? fmin(delta * PROBE_SHARE * size / change, 1e9) : delta;
    return status;
}

static double compute_norm(const double* a, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        sum += a[i] * a[i];
    }
    return sqrt(sum);
}

// How much the column of a port changes when its probing force is doubled.
static ItmStatus check_linearity(ItmForeign* f, int port, ItmError* error)
{
    double change, difference = 0.0;
    ItmStatus status = probe_column(f, port, 2.0 * f->delta[port], &change, error);
    double* first = f->w_probe;
    for (int i = 0; i < f->n; i++) {
        first[i] = f->W[i * f->n + port] - f->column[i];
    }
    difference = compute_norm(first, f->n);
    double size = compute_norm(f->column, f->n);
    f->memory->nonlinearity = fmax(f->memory->nonlinearity, size > 0.0 ? difference / size : 0.0);
    return status;
}

// W column by column.
static ItmStatus probe_mobility(ItmForeign* f, ItmError* error)
{
    int n = f->n;
    bool is_first = f->memory->age < 0.0;
    ItmStatus status = ITM_OK;
    for (int j = 0; j < n && status == ITM_OK; j++) {
        double change;
        status = f->delta[j] == 0.0 ? choose_delta(f, j, error) : ITM_OK;
        if (status == ITM_OK) {
            status = probe_column(f, j, f->delta[j], &change, error);
        }
        for (int i = 0; i < n && status == ITM_OK; i++) {
            f->W[i * n + j] = f->column[i];
        }
        if (status == ITM_OK && is_first) {
            status = check_linearity(f, j, error);
        }
    }
    f->memory->age = 0.0;
    return status;
}

// Free run at the last forces, and columns of W where they are due.
static ItmStatus probe(ItmForeign* f, ItmError* error)
{
    ItmForeignMemory* memory = f->memory;
    ItmStatus status = save_state(f, error);
    if (status == ITM_OK) {
        status = try_step(f, f->f, f->w_free, error);
        memcpy(f->s_free, f->s_probe, sizeof(double) * (size_t)f->n);
    }
    bool is_due = memory->age < 0.0 || memory->age >= f->options.probe_interval || memory->error > MISSED_SHARE;
    return status == ITM_OK && is_due ? probe_mobility(f, error) : status;
}

// ---------------------------------------------------------------------------- identification

// W += (y - W x) k', k = C x / (mu + x' C x), with x the change of forces and y that of accelerations between two steps
static void learn(ItmForeign* f, const double* x, const double* y)
{
    int n = f->n;
    double *C = f->covariance, *Cx = f->column, weight = FORGETTING;
    for (int i = 0; i < n; i++) {
        Cx[i] = 0.0;
        for (int j = 0; j < n; j++) {
            Cx[i] += C[i * n + j] * x[j];
        }
        weight += x[i] * Cx[i];
    }
    for (int i = 0; i < n; i++) {
        double miss = y[i];
        for (int j = 0; j < n; j++) {
            miss -= f->W[i * n + j] * x[j];
        }
        for (int j = 0; j < n; j++) {
            f->W[i * n + j] += miss * Cx[j] / weight;
        }
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            C[i * n + j] = (C[i * n + j] - Cx[i] * Cx[j] / weight) / FORGETTING;
        }
    }
}

// After a macro step with mean forces f that took the rates from f->w to w: a_last has the accelerations of the step before.
static void identify(ItmForeign* f, const double* w)
{
    ItmForeignMemory* memory = f->memory;
    int n = f->n;
    double change = 0.0, size = 0.0, *x = f->force, *y = f->w_probe;
    for (int i = 0; i < n; i++) {
        double a = (w[i] - f->w[i]) / f->H;
        x[i] = f->f[i] - f->f_last[i];
        y[i] = a - f->a_last[i];
        change = fmax(change, fabs(x[i]));
        size = fmax(size, fabs(f->f[i]));
        f->a_last[i] = a;
        f->f_last[i] = f->f[i];
    }
    bool is_known = memory->has_past != 0.0 && change > LEAST_CHANGE * size;
    if (is_known && memory->age < 0.0) {
        // before anything is known, one change of forces explains all it can
        for (int i = 0; i < n; i++) {
            f->covariance[i * n + i] = 1e12 / (change * change);
        }
        memory->age = 0.0;
    }
    if (is_known) {
        learn(f, x, y);
    }
    memory->has_past = 1.0;
}

// ---------------------------------------------------------------------------- interface model

// The nearest symmetric and positive semi-definite W; how far it was from symmetric is noted. scratch: rim->w_next (n)
static ItmStatus make_admissible(ItmForeign* f, ItmRim* rim, ItmError* error)
{
    int n = f->n;
    double off = 0.0, *W = rim->W, size = compute_norm(W, n * n);
    bool is_finite = isfinite(size);
    for (int i = 0; i < n; i++) {
        is_finite = is_finite && isfinite(rim->a0[i]);
        for (int j = 0; j < i; j++) {
            off = fmax(off, fabs(W[i * n + j] - W[j * n + i]));
            W[i * n + j] = W[j * n + i] = 0.5 * (W[i * n + j] + W[j * n + i]);
        }
    }
    if (!is_finite) {
        return itm_error_set(error, ITM_ERR_NOT_FINITE, "itm_cosim_step", NULL,
                             "mechanism '%s': its interface model at t = %.9g s is not finite", f->name, f->t);
    }
    f->memory->asymmetry = fmax(f->memory->asymmetry, size > 0.0 ? off / size : 0.0);
    memcpy(f->vectors, W, sizeof(double) * (size_t)(n * n));
    ItmStatus status = itm_eigen_symmetric_in(f->vectors, rim->w_next, n, f->column);
    if (status != ITM_OK || rim->w_next[0] >= 0.0) {
        return status;
    }
    for (int i = 0; i < n * n; i++) {
        W[i] = 0.0;
        for (int k = 0; k < n; k++) {
            W[i] += fmax(rim->w_next[k], 0.0) * f->vectors[k * n + i / n] * f->vectors[k * n + i % n];
        }
    }
    return ITM_OK;
}

// a0 = a - W f for accelerations a at forces f
static void remove_forces(const ItmForeign* f, ItmRim* rim, const double* a)
{
    for (int i = 0; i < f->n; i++) {
        rim->a0[i] = a[i];
        for (int j = 0; j < f->n; j++) {
            rim->a0[i] -= rim->W[i * f->n + j] * f->f[j];
        }
    }
}

// The model of a port, with its contact rows where it hands them over. Rows of another build stay there.
static ItmStatus begin_port(ItmForeign* f, ItmRim* rim, int K, bool use_heun, ItmError* error)
{
    ItmError cause;
    size_t size = 0;
    f->is_begun = true;
    f->rows = NULL;
    rim->contacts.problem.n = 0;
    ItmStatus status = CALL(f, begin, error, f->t, f->H, K, use_heun, rim->W, rim->a0);
    f->is_smooth = f->table.advance == NULL || f->table.predict == NULL ||
                   (f->table.is_smooth != NULL && f->table.is_smooth(f->table.self));
    if (status == ITM_OK && !f->is_smooth && f->table.get_rows != NULL) {
        void* rows = f->table.get_rows(f->table.self, &size);
        f->rows = size > 0 && itm_rim_read_rows(rim, &f->room, rows, size, &cause) == ITM_OK ? rows : NULL;
    }
    return status;
}

static ItmStatus find_model(ItmForeign* f, ItmRim* rim, int K, bool use_heun, ItmError* error)
{
    ItmError cause;
    int n = f->n;
    size_t size = sizeof(double) * (size_t)(n * n);
    ItmStatus status = ITM_OK;
    switch (f->source) {
    case ITM_MOBILITY_PORT:
        return begin_port(f, rim, K, use_heun, error);
    case ITM_MOBILITY_DERIVATIVES:
        status = CALL(f, get_derivatives, error, f->f, rim->W, f->w_probe);
        for (int i = 0; i < n; i++) {
            f->w_probe[i] += f->shift[i];
        }
        remove_forces(f, rim, f->w_probe);
        memcpy(f->a1, f->slope, sizeof(double) * (size_t)n);
        return status;
    case ITM_MOBILITY_PROBING:
        status = probe(f, error);
        memcpy(rim->W, f->W, size);
        for (int i = 0; i < n; i++) {
            double H = f->H, ahead = f->s_free[i] - f->s[i] - 0.5 * H * (f->w_free[i] + f->w[i]);
            f->w_free[i] = (f->w_free[i] - f->w[i]) / H + f->shift[i];
            f->a1[i] = f->slope[i] - 12.0 * ahead / (H * H * H);
        }
        remove_forces(f, rim, f->w_free);
        return status;
    default:
        memcpy(rim->W, f->W, size);
        remove_forces(f, rim, f->a_last);
        memcpy(f->a1, f->slope, sizeof(double) * (size_t)n);
        return ITM_OK;
    }
}

ItmStatus itm_foreign_reduce(ItmForeign* f, ItmRim* rim, double t, double H, int K, bool use_heun, ItmError* error)
{
    f->t = t;
    f->H = H;
    rim->H = H;
    rim->t = t;
    memcpy(f->s, rim->s, sizeof(double) * (size_t)f->n);
    memcpy(f->w, rim->w, sizeof(double) * (size_t)f->n);
    rim->a1 = f->source != ITM_MOBILITY_PORT ? f->a1 : NULL;
    ItmStatus status = find_model(f, rim, K, use_heun, error);
    for (int i = 0; i < f->n && f->source != ITM_MOBILITY_PORT; i++) {
        rim->s[i] -= f->gap[i];
        f->a1[i] -= 12.0 * f->gap[i] / (H * H * H);
    }
    // a port is exact: its numbers are used as they are
    return status == ITM_OK && f->source != ITM_MOBILITY_PORT ? make_admissible(f, rim, error) : status;
}

// ---------------------------------------------------------------------------- micro steps

bool itm_foreign_is_smooth(const ItmForeign* f)
{
    return f->source != ITM_MOBILITY_PORT || f->is_smooth || f->rows != NULL;
}

ItmStatus itm_foreign_predict(ItmForeign* f, ItmRim* rim, double h, const double* lambda, double* w_end,
                              ItmError* error)
{
    ItmError cause;
    return itm_foreign_is_smooth(f) ? itm_rim_predict(rim, h, lambda, w_end)
                                    : CALL(f, predict, error, h, lambda, w_end);
}

// Impulses, moments and work are those of the model without contacts, whose rates are then replaced.
ItmStatus itm_foreign_advance(ItmForeign* f, ItmRim* rim, double h, const double* lambda, ItmError* error)
{
    ItmError cause;
    ItmStatus status = itm_rim_advance(rim, h, lambda);
    if (itm_foreign_is_smooth(f) || status != ITM_OK) {
        return status;
    }
    memcpy(f->column, rim->w, sizeof(double) * (size_t)f->n);
    status = CALL(f, advance, error, h, lambda, rim->s, rim->w);
    for (int i = 0; i < f->n; i++) {
        rim->work[i] += 0.5 * h * lambda[i] * (rim->w[i] - f->column[i]);
    }
    return status;
}

// ---------------------------------------------------------------------------- macro steps

// One step at constant forces; their work on the mechanism by its own positions.
static ItmStatus step_and_count(ItmForeign* f, double t, double h, const double* force, ItmError* error)
{
    double *s = f->s_probe, *w = f->w_probe;
    ItmStatus status = do_step(f, t, h, force, error);
    if (status == ITM_OK) {
        status = itm_foreign_measure(f, s, w, error);
    }
    for (int i = 0; i < f->n && status == ITM_OK; i++) {
        f->work[i] += force[i] * (s[i] - f->column[i]);
        f->column[i] = s[i];
    }
    return status;
}

// P0 and P1 as two constant forces, each over half of the macro step; where that does not fit, as one.
static ItmStatus apply_impulses(ItmForeign* f, const ItmRim* rim, ItmError* error)
{
    double H = f->H, *force = f->force;
    bool has_halves = fits(f, 0.5 * H);
    ItmStatus status = ITM_OK;
    for (int part = 0; part < (has_halves ? 2 : 1) && status == ITM_OK; part++) {
        for (int i = 0; i < f->n; i++) {
            double P0 = rim->P0[i], P1 = rim->P1[i];
            force[i] = !has_halves ? P0 / H : part == 0 ? (4.0 * P1 - P0) / H : (3.0 * P0 - 4.0 * P1) / H;
        }
        double h = has_halves ? 0.5 * H : H;
        status = step_and_count(f, f->t + part * h, h, force, error);
    }
    return status;
}

static ItmStatus commit(ItmForeign* f, ItmRim* rim, const double* lambda, ItmError* error)
{
    ItmError cause;
    f->is_begun = false;
    if (f->rows != NULL) {
        itm_rim_write_results(rim, lambda, f->rows);
        f->rows = NULL;
    }
    ItmStatus status = CALL(f, commit, error, rim->P0, rim->P1, rim->theta);
    // the model is the mechanism's own step: its work is that on the model
    memcpy(f->work, rim->work, sizeof(double) * (size_t)f->n);
    return status == ITM_OK ? itm_foreign_measure(f, f->s_probe, f->w_probe, error) : status;
}

// What a0 and a1 lacked to end at the rates and positions of the mechanism. Where the model missed much, the next step begins anew.
static void learn_miss(ItmForeign* f, const ItmRim* rim)
{
    double H = f->H;
    bool is_far = f->memory->error > MISSED_SHARE;
    for (int i = 0; i < f->n; i++) {
        double dw = f->w_probe[i] - rim->w[i], ds = f->s_probe[i] - rim->s[i];
        f->shift[i] = is_far ? 0.0 : f->shift[i] + dw / H;
        f->slope[i] = is_far ? 0.0 : f->slope[i] - 12.0 * (ds - 0.5 * H * dw) / (H * H * H);
        f->gap[i] = is_far ? 0.0 : ds;
    }
}

// Rates that the model missed, relative to their change, or to what they would change without forces: in a steady motion these balance, and
// rates hardly change.
static void judge_model(ItmForeign* f, const ItmRim* rim)
{
    double missed = 0.0, change = 0.0;
    for (int i = 0; i < f->n; i++) {
        missed = fmax(missed, fabs(f->w_probe[i] - rim->w[i]));
        change = fmax(change, fmax(fabs(f->w_probe[i] - f->w[i]), f->H * fabs(rim->a0[i])));
    }
    f->memory->error = change > 0.0 ? missed / change : 0.0;
}

ItmStatus itm_foreign_take_over(ItmForeign* f, ItmRim* rim, const double* lambda, ItmError* error)
{
    memset(f->work, 0, sizeof(double) * (size_t)f->n);
    memcpy(f->column, f->s, sizeof(double) * (size_t)f->n);
    ItmStatus status = f->source == ITM_MOBILITY_PORT ? commit(f, rim, lambda, error) : apply_impulses(f, rim, error);
    if (status != ITM_OK) {
        return status;
    }
    for (int i = 0; i < f->n; i++) {
        f->f[i] = rim->P0[i] / f->H;
    }
    judge_model(f, rim);
    learn_miss(f, rim);
    f->memory->age += f->memory->age >= 0.0 ? 1.0 : 0.0;
    if (f->source == ITM_MOBILITY_IDENTIFIED) {
        memcpy(f->s_probe, f->w_probe, sizeof(double) * (size_t)f->n);
        identify(f, f->s_probe);
    }
    return ITM_OK;
}

ItmStatus itm_foreign_step_held(ItmForeign* f, double t, double H, const double* force, ItmError* error)
{
    memset(f->work, 0, sizeof(double) * (size_t)f->n);
    itm_foreign_cancel(f);  // of an interface model for rates only
    ItmStatus status = itm_foreign_measure(f, f->column, f->w_probe, error);
    memcpy(f->f, force, sizeof(double) * (size_t)f->n);
    return status == ITM_OK ? step_and_count(f, t, H, force, error) : status;
}

ItmStatus itm_foreign_repeat(ItmForeign* f, double t, double H, const double* force, ItmError* error)
{
    return do_step(f, t, H, force, error);
}

void itm_foreign_cancel(ItmForeign* f)
{
    if (f->is_begun && f->table.cancel != NULL) {
        f->table.cancel(f->table.self);
    }
    f->is_begun = false;
}

// ---------------------------------------------------------------------------- state

size_t itm_foreign_get_state_size(const ItmForeign* f)
{
    return f->state_size + sizeof(double) * f->nmemory;
}

ItmStatus itm_foreign_save(const ItmForeign* f, void* bytes)
{
    memcpy(bytes, f->memory, sizeof(double) * f->nmemory);
    return f->state_size > 0 ? f->table.save(f->table.self, (char*)bytes + sizeof(double) * f->nmemory) : ITM_OK;
}

ItmStatus itm_foreign_restore(ItmForeign* f, const void* bytes)
{
    memcpy(f->memory, bytes, sizeof(double) * f->nmemory);
    return f->state_size > 0 ? f->table.restore(f->table.self, (const char*)bytes + sizeof(double) * f->nmemory)
                             : ITM_OK;
}
