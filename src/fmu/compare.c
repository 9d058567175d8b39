// A run of an FMU against a reference.
#include "base/error.h"
#include "base/guard.h"
#include "fmi/fmu.h"
#include "fmu/run.h"
#include "report/crosscheck.h"

#include <stdlib.h>

// Which columns of a table are variables that change at events only. To be freed; NULL: out of memory.
static bool* find_discrete(const ItmTable* table, const ItmFmiDescription* d)
{
    bool* is_discrete = calloc((size_t)table->ncolumn + 1, sizeof *is_discrete);
    for (int i = 1; i < table->ncolumn && is_discrete != NULL; i++) {
        int variable = itm_description_find(d, table->names[i]);
        is_discrete[i] = variable != ITM_NONE && d->variables[variable].variability == ITM_FMI_DISCRETE;
    }
    return is_discrete;
}

// The patterns of the options and the signals of the reference. To be freed; NULL: out of memory.
static const char** list_records(const ItmFmuRunOptions* options, const ItmTable* reference, int* count)
{
    int ngiven = options->records != NULL && options->nrecord > 0 ? options->nrecord : 0;
    const char** records = calloc((size_t)(ngiven + reference->ncolumn) + 1, sizeof *records);
    *count = 0;
    for (int i = 0; i < ngiven && records != NULL; i++) {
        records[(*count)++] = options->records[i];
    }
    for (int i = 1; i < reference->ncolumn && records != NULL; i++) {
        records[(*count)++] = reference->names[i];
    }
    return records;
}

ItmStatus itm_fmu_compare(ItmFmuComparison* comparison, ItmFmu* fmu, const ItmTable* reference,
                          const ItmFmuRunOptions* options, ItmError* error)
{
    ITM_GUARD(comparison != NULL && fmu != NULL && reference != NULL,
              itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "the FMU, the reference or the outcome is NULL"));
    ItmFmuRunOptions o = options != NULL ? *options : itm_default_fmu_run_options();
    ItmFmuRunInfo run = {0};
    *comparison = (ItmFmuComparison){0};
    const char** records = list_records(&o, reference, &o.nrecord);
    bool* is_discrete = find_discrete(reference, itm_fmi_get_description(fmu));
    ItmTable* rows = calloc(1, sizeof *rows);
    ItmStatus status = ITM_ERR_MEMORY;
    if (records != NULL && is_discrete != NULL && rows != NULL) {
        o.records = records;
        status = itm_fmu_run_into(rows, &run, fmu, &o, error);
    } else {
        itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
    }
    if (status == ITM_OK && run.verdict == ITM_VERDICT_FINISHED) {
        status = itm_crosscheck_compare(comparison, rows, reference, ITM_CROSSCHECK_SHARE, is_discrete, error);
    }
    comparison->run = run;
    itm_results_table_destroy(rows);
    free(is_discrete);
    free(records);
    return status;
}
