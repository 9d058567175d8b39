#include "report/sweep_grid.h"

#include "base/guard.h"
#include "interim/report.h"

#include "io/csv.h"
#include "io/results/results.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool append(char*** texts, long* count, const char* text, size_t length)
{
    // room grows by doubling: whenever the count is a power of two
    if ((*count & (*count - 1)) == 0) {
        char** grown = realloc(*texts, (size_t)(*count == 0 ? 1 : 2 * *count) * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        *texts = grown;
    }
    (*texts)[*count] = strndup(text, length);
    return (*texts)[(*count)++] != NULL;
}

static ItmStatus read_line(ItmCsv* r, char*** texts, long* count, int* nfield, ItmError* error)
{
    *nfield = 0;
    do {
        size_t length = 0;
        char* field = itm_csv_take_field(r, &length);
        if (!append(texts, count, field, length)) {
            return itm_csv_fail_memory(r->path, error);
        }
        (*nfield)++;
    } while (itm_csv_take_separator(r));
    r->line++;
    return ITM_OK;
}

static ItmStatus read_grid(ItmSweepGrid* g, ItmCsv* r, ItmError* error)
{
    long nname = 0, ncell = 0;
    int nfield = 0;
    ItmStatus status = read_line(r, &g->names, &nname, &g->ncolumn, error);
    while (status == ITM_OK && *r->at != '\0') {
        status = read_line(r, &g->cells, &ncell, &nfield, error);
        g->nrow = ncell / g->ncolumn;
        if (status == ITM_OK && nfield != g->ncolumn) {
            r->line--;
            // what was read of it is freed with the whole rows
            while (ncell > g->nrow * g->ncolumn) {
                free(g->cells[--ncell]);
            }
            return itm_csv_fail(r, nfield, error, "this row has not as many fields as the header line");
        }
    }
    g->nkey = itm_sweep_grid_find(g, "verdict");
    if (status == ITM_OK && g->nkey < 1) {
        r->line = 1;
        return itm_csv_fail(r, 1, error,
                            "this is not the table of a sweep: there is no column 'verdict' behind swept keys");
    }
    return status;
}

ItmStatus itm_sweep_grid_read(ItmSweepGrid* g, const char* path, ItmError* error)
{
    size_t size = 0;
    char* text = itm_csv_read_file(path, &size);
    *g = (ItmSweepGrid){0};
    if (text == NULL) {
        return itm_results_fail_io(error, __func__, "read", path, errno);
    }
    ItmCsv r = {path, text, 1};
    ItmStatus status = read_grid(g, &r, error);
    free(text);
    if (status != ITM_OK) {
        itm_sweep_grid_free(g);
    }
    return status;
}

void itm_sweep_grid_free(ItmSweepGrid* g)
{
    for (int i = 0; g->names != NULL && i < g->ncolumn; i++) {
        free(g->names[i]);
    }
    for (long i = 0; g->cells != NULL && i < g->nrow * g->ncolumn; i++) {
        free(g->cells[i]);
    }
    free(g->names);
    free(g->cells);
    *g = (ItmSweepGrid){0};
}

bool itm_report_is_sweep(const char* path)
{
    ITM_GUARD(path != NULL, false);
    ItmSweepGrid g = {0};
    size_t size = 0;
    long nname = 0;
    char* text = itm_results_format(path) == 'c' ? itm_csv_read_file(path, &size) : NULL;
    ItmCsv r = {path, text, 1};
    bool is_one = text != NULL && read_line(&r, &g.names, &nname, &g.ncolumn, NULL) == ITM_OK &&
                  itm_sweep_grid_find(&g, "verdict") > 0;
    itm_sweep_grid_free(&g);
    free(text);
    return is_one;
}

const char* itm_sweep_grid_get(const ItmSweepGrid* g, long row, int column)
{
    return g->cells[row * g->ncolumn + column];
}

double itm_sweep_grid_get_number(const ItmSweepGrid* g, long row, int column)
{
    const char* text = itm_sweep_grid_get(g, row, column);
    char* end = NULL;
    locale_t c_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    locale_t before = uselocale(c_locale);
    double value = strtod(text, &end);
    uselocale(before);
    if (c_locale != (locale_t)0) {
        freelocale(c_locale);
    }
    return end != text && *end == '\0' ? value : (double)NAN;
}

int itm_sweep_grid_find(const ItmSweepGrid* g, const char* name)
{
    for (int i = 0; i < g->ncolumn; i++) {
        if (strcmp(g->names[i], name) == 0) {
            return i;
        }
    }
    return ITM_NONE;
}
