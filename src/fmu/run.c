// One FMU alone, in its host process. All values are in the units of the FMU.
#include "fmu/run.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/guard.h"
#include "fmi/binary.h"
#include "fmi/fmu.h"
#include "io/results/results_read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_STEPS 500  // of an FMU that names no step

ItmFmuRunOptions itm_default_fmu_run_options(void)
{
    return (ItmFmuRunOptions){.kind = ITM_FMU_ANY_KIND, .start = NAN, .stop = NAN, .step = NAN};
}

typedef struct Run {
    const ItmFmuRunOptions* options;
    ItmFmuRunInfo* info;
    ItmFmu* fmu;
    ItmFmuDef def;
    ItmFmuValue* values;  // of the settings; own their names          (nsetting)
    double start, stop, step;
    ItmSubsystem table;
    ItmFmuProcess* process;
    ItmResults* results;
    ItmTable* rows;
    long capacity;  // rows
    double *u, *y;
    ItmError* error;
} Run;

// ---------------------------------------------------------------------------- choices

static ItmStatus refuse(Run* r, const char* field, const char* message)
{
    return itm_error_set(r->error, ITM_ERR_INPUT, "itm_fmu_run", field, "%s", message);
}

static ItmStatus refuse_memory(Run* r)
{
    return itm_error_set(r->error, ITM_ERR_MEMORY, "itm_fmu_run", NULL, "out of memory");
}

// "name=value"
static ItmStatus get_values(Run* r)
{
    int n = r->options->nsetting;
    r->values = calloc((size_t)n + 1, sizeof *r->values);
    for (int i = 0; i < n && r->values != NULL; i++) {
        const char* setting = r->options->settings[i];
        const char* equal = setting != NULL ? strchr(setting, '=') : NULL;
        if (equal == NULL) {
            return itm_error_set(r->error, ITM_ERR_INPUT, "itm_fmu_run", "settings",
                                 "a setting is NAME=VALUE, not '%s'", setting != NULL ? setting : "");
        }
        char *end, *name = strndup(setting, (size_t)(equal - setting));
        double number = strtod(equal + 1, &end);
        r->values[i] = (ItmFmuValue){.variable = name,
                                     .text = equal + 1,
                                     .has_number = end != equal + 1 && *end == '\0',
                                     .number = {.value = number, .is_bare = true}};
        r->def.nvalue++;
        if (name == NULL) {
            return refuse_memory(r);
        }
    }
    r->def.values = r->values;
    return r->values != NULL ? ITM_OK : refuse_memory(r);
}

static ItmStatus get_times(Run* r)
{
    const ItmFmiDescription* d = itm_fmi_get_description(r->fmu);
    const ItmFmuRunOptions* o = r->options;
    r->start = !isnan(o->start) ? o->start : isnan(d->start_time) ? 0.0 : d->start_time;
    r->stop = !isnan(o->stop) ? o->stop : d->stop_time > r->start ? d->stop_time : r->start + 1.0;
    r->step = !isnan(o->step) ? o->step : d->step_size > 0.0 ? d->step_size : (r->stop - r->start) / DEFAULT_STEPS;
    if (!isfinite(r->start) || !isfinite(r->stop) || !(r->stop > r->start) || !(r->step > 0.0) || !isfinite(r->step)) {
        return refuse(r, "step", "the end must lie after the start, and the step must be positive");
    }
    const ItmFmiKind* kind = &d->kinds[ITM_FMI_CO_SIMULATION];
    if (kind->fixed_step > 0.0 && !kind->can_handle_variable_step) {
        r->step = kind->fixed_step * fmax(1.0, round(r->step / kind->fixed_step));
    }
    r->def.start = r->start;
    r->def.stop = r->stop;
    r->def.step = r->step;
    r->def.tolerance = o->tolerance;
    return ITM_OK;
}

static ItmStatus choose(Run* r)
{
    const ItmFmuRunOptions* o = r->options;
    r->def = itm_default_fmi_def();
    r->def.keeps_units = r->def.is_stateless = true;
    r->def.is_logging = o->is_logging;
    r->def.kind = o->kind == ITM_FMU_ANY_KIND ? ITM_NONE : (int)o->kind;
    r->def.nrecord = o->nrecord;
    r->def.records = o->records;
    bool is_good = o->nsetting >= 0 && o->nrecord >= 0 && (o->nsetting == 0 || o->settings != NULL) &&
                   (o->nrecord == 0 || o->records != NULL) && (int)o->kind >= -1 && (int)o->kind < ITM_FMI_KIND_COUNT;
    ItmStatus status = is_good ? get_values(r) : refuse(r, "options", "the options of the run are not complete");
    status = status == ITM_OK ? get_times(r) : status;
    status = status == ITM_OK ? itm_fmi_choose(r->fmu, &r->def, r->error) : status;
    return status == ITM_OK ? itm_fmi_make_subsystem(&r->table, r->fmu, &r->process, r->error) : status;
}

// ---------------------------------------------------------------------------- inputs

// Value of a column at a time: linear, or the last one where the variable is discrete; two rows of one time are a jump.
static double interpolate(const ItmTable* t, int column, double time, bool is_linear)
{
    long low = 0, high = t->nrow - 1;
    while (low < high) {
        long middle = (low + high + 1) / 2;
        if (itm_results_table_get(t, middle, 0) <= time) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    double from = itm_results_table_get(t, low, 0), value = itm_results_table_get(t, low, column);
    if (!is_linear || low + 1 >= t->nrow || time <= from) {
        return value;
    }
    double to = itm_results_table_get(t, low + 1, 0);
    return value + (time - from) / (to - from) * (itm_results_table_get(t, low + 1, column) - value);
}

static void feed(Run* r, double time, double middle)
{
    const ItmFmuSpec* spec = itm_fmi_get_spec(r->fmu);
    for (int i = 0; r->options->input != NULL && i < spec->ninput; i++) {
        int column = itm_results_table_find(r->options->input, itm_fmi_get_input_name(r->fmu, i));
        bool is_linear = !spec->inputs[i].is_discrete;
        if (column != ITM_NONE && r->options->input->nrow > 0) {
            r->u[i] = interpolate(r->options->input, column, is_linear ? middle : time, is_linear);
        }
    }
    if (r->options->input != NULL) {
        r->table.set_inputs(r->table.self, r->u);
    }
}

// ---------------------------------------------------------------------------- rows

static ItmStatus prepare_rows(Run* r)
{
    const ItmFmuSpec* spec = itm_fmi_get_spec(r->fmu);
    r->u = calloc((size_t)spec->ninput + 1, sizeof *r->u);
    r->y = calloc((size_t)spec->noutput + 1, sizeof *r->y);
    bool is_good = r->u != NULL && r->y != NULL;
    if (is_good && spec->ninput > 0) {
        memcpy(r->u, r->table.input_start, sizeof(double) * (size_t)spec->ninput);
    }
    for (int i = -1; r->rows != NULL && i < spec->noutput && is_good; i++) {
        const char* name = i < 0 ? "time" : r->table.outputs[i].name;
        is_good = itm_results_table_add_column(r->rows, name, strlen(name));
    }
    if (!is_good) {
        return refuse_memory(r);
    }
    return r->options->path != NULL
               ? itm_results_create_columns(&r->results, r->options->path, r->table.outputs, spec->noutput, "",
                                            itm_fmi_get_description(r->fmu)->model_name, r->error)
               : ITM_OK;
}

static ItmStatus append_row(Run* r, double time)
{
    ItmTable* rows = r->rows;
    if (rows != NULL && rows->nrow >= r->capacity) {
        long capacity = 2 * r->capacity + 256;
        double* values = realloc(rows->values, (size_t)capacity * (size_t)rows->ncolumn * sizeof *values);
        if (values == NULL) {
            return refuse_memory(r);
        }
        rows->values = values;
        r->capacity = capacity;
    }
    if (rows != NULL) {
        double* row = rows->values + rows->nrow++ * rows->ncolumn;
        row[0] = time;
        memcpy(row + 1, r->y, (size_t)(rows->ncolumn - 1) * sizeof *row);
    }
    return r->results != NULL ? itm_results_append(r->results, time, r->y, r->error) : ITM_OK;
}

// ---------------------------------------------------------------------------- steps

// A row with the outputs at the present inputs. False: the FMU has failed; *status: the row could not be stored.
static bool record(Run* r, double time, ItmStatus* status)
{
    r->table.get_outputs(r->table.self, r->y);
    bool is_good = r->table.do_step(r->table.self, time, 0.0, &r->info->reason) == ITM_OK;
    *status = is_good ? append_row(r, time) : ITM_OK;
    return is_good;
}

// Communication points: multiples of the step, and the end. An FMU that takes no other step ends before it.
static long count_steps(const Run* r)
{
    double n = (r->stop - r->start) / r->step;
    bool is_cut = itm_fmi_get_fixed_step(r->fmu) == 0.0;
    return (long)fmax(1.0, is_cut ? ceil(n - 1e-6) : floor(n + 1e-6));
}

static double get_point(const Run* r, long i, long n)
{
    bool is_end = i == n && itm_fmi_get_fixed_step(r->fmu) == 0.0;
    return is_end ? r->stop : r->start + (double)i * r->step;
}

static bool is_stopped(const Run* r)
{
    return r->options->is_stopped != NULL && r->options->is_stopped(r->options->context);
}

// Inputs over a step are those of its middle; outputs at its end are read with the inputs of the end. A step is the difference of
// two communication points, because an FMU may refuse to pass its stop time by a rounding error.
static ItmStatus step_to_the_end(Run* r)
{
    ItmStatus status;
    long n = count_steps(r);
    r->info->time = r->start;
    feed(r, r->start, r->start);
    bool is_good = record(r, r->start, &status), is_over = false;
    for (long i = 0; i < n && is_good && status == ITM_OK && !is_over; i++) {
        if (is_stopped(r)) {
            r->info->verdict = ITM_VERDICT_INTERRUPTED;
            return ITM_OK;
        }
        double t = get_point(r, i, n), end = get_point(r, i + 1, n);
        feed(r, t, 0.5 * (t + end));
        is_good = r->table.do_step(r->table.self, t - r->start, end - t, &r->info->reason) == ITM_OK;
        is_over = !is_good && strcmp(r->info->reason.field, ITM_FMU_END) == 0;
        if (is_over) {  // the FMU ends the run, in order; its outputs are those of the end
            r->table.get_outputs(r->table.self, r->y);
            status = append_row(r, end);
            r->info->reason = (ItmError){0};
        } else if (is_good) {
            feed(r, end, end);
            is_good = record(r, end, &status);
            r->info->nstep = i + 1;
        }
        r->info->time = is_good || is_over ? end : t;
    }
    r->info->verdict = is_good || is_over ? ITM_VERDICT_FINISHED : ITM_VERDICT_BROKE_DOWN;
    return status;
}

static void pass_messages(Run* r)
{
    unsigned long long nleft_out = 0;
    uint64_t count = 0;
    if (r->process == NULL || r->options->note_messages == NULL) {
        return;
    }
    r->options->note_messages(r->options->context, itm_fmi_get_log(r->process, &count));
    nleft_out = count;
    if (nleft_out > 0) {
        char text[64];
        snprintf(text, sizeof text, "(%llu bytes of messages left out)\n", nleft_out);
        r->options->note_messages(r->options->context, text);
    }
}

static ItmStatus simulate(Run* r)
{
    ItmFmuRunInfo* info = r->info;
    info->kind = itm_fmi_get_spec(r->fmu)->is_exchange ? ITM_FMU_MODEL_EXCHANGE : ITM_FMU_CO_SIMULATION;
    info->step = r->step;
    double wall = itm_clock();
    ItmStatus status = step_to_the_end(r);
    info->wall_time = itm_clock() - wall;
    bool is_good = info->verdict != ITM_VERDICT_BROKE_DOWN;
    ItmStatus closed = itm_results_close(r->results, info->verdict, is_good ? NULL : info->reason.message, r->error);
    r->results = NULL;
    pass_messages(r);
    return status == ITM_OK ? closed : status;
}

static void finish(Run* r)
{
    for (int i = 0; i < r->def.nvalue; i++) {
        free((char*)(uintptr_t)r->values[i].variable);
    }
    free(r->values);
    itm_results_close(r->results, ITM_VERDICT_BROKE_DOWN, NULL, NULL);
    if (r->table.destroy != NULL) {
        r->table.destroy(r->table.self);
    }
    free(r->u);
    free(r->y);
}

ItmStatus itm_fmu_run_into(ItmTable* rows, ItmFmuRunInfo* info, ItmFmu* fmu, const ItmFmuRunOptions* options,
                           ItmError* error)
{
    ItmError unread = {0};
    *info = (ItmFmuRunInfo){.verdict = ITM_VERDICT_BROKE_DOWN, .kind = ITM_FMU_ANY_KIND};
    Run r = {.options = options, .info = info, .fmu = fmu, .rows = rows, .error = error != NULL ? error : &unread};
    ItmStatus status = choose(&r);
    status = status == ITM_OK ? prepare_rows(&r) : status;
    status = status == ITM_OK ? simulate(&r) : status;
    finish(&r);
    return status;
}

ItmStatus itm_fmu_run(ItmFmuRunInfo* info, ItmFmu* fmu, const ItmFmuRunOptions* options, ItmError* error)
{
    ITM_GUARD(info != NULL && fmu != NULL,
              itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "the FMU or the outcome is NULL"));
    ItmFmuRunOptions defaults = itm_default_fmu_run_options();
    return itm_fmu_run_into(NULL, info, fmu, options != NULL ? options : &defaults, error);
}
