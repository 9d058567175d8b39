// Results of an FMU against a reference, for `interim fmu compare`.
#include "fmu.h"

#include "report/crosscheck.h"

#include <stdio.h>
#include <stdlib.h>

static int print_verdict(const ItmCrosscheck* c)
{
    if (c->has_passed) {
        printf("passed: %d signals; worst: %s, %.2g %% of its range at %g s\n", c->nsignal, c->worst,
               100.0 * c->worst_share, c->worst_time);
        return APP_FINISHED;
    }
    if (c->nsignal == 0) {
        printf("refused: the reference has no signals\n");
        return APP_BAD_INPUT;
    }
    if (c->missing != NULL) {
        printf("failed: the results have no signal '%s'\n", c->missing);
    } else if (c->nbad > 0) {
        printf("failed: %d of %d signals; worst: %s, %.3g %% of its range at %g s\n", c->nbad, c->nsignal, c->worst,
               100.0 * c->worst_share, c->worst_time);
    } else {
        printf("failed: the run ends at %g s, the reference at %g s\n", c->until, c->reference_until);
    }
    return APP_BROKE_DOWN;
}

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

int app_fmu_compare_files(const char* results, const char* reference, const ItmFmiDescription* description)
{
    bool* is_discrete = NULL;
    ItmTable *run = NULL, *wanted = NULL;
    ItmCrosscheck c;
    ItmError error = {0};
    int status = APP_BAD_INPUT;
    if (itm_results_read(&run, results, &error) == ITM_OK && itm_results_read(&wanted, reference, &error) == ITM_OK &&
        (is_discrete = find_discrete(wanted, description)) != NULL &&
        itm_crosscheck_compare(&c, run, wanted, ITM_CROSSCHECK_SHARE, is_discrete, &error) == ITM_OK) {
        status = print_verdict(&c);
    } else {
        printf("refused: ");
        if (error.file[0] != '\0' && error.line > 0) {
            printf("%s:%d:%d: ", error.file, error.line, error.column);
        } else if (error.file[0] != '\0') {
            printf("%s: ", error.file);
        }
        printf("%s\n", error.message);
    }
    itm_results_table_destroy(run);
    itm_results_table_destroy(wanted);
    free(is_discrete);
    return status;
}
