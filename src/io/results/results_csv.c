// CSV as RFC 4180 has it, with line feeds: one header line of names, then numbers with as many digits as are needed to read them back to
// the same bits. Units and descriptions go to a JSON file beside it.
#include "io/results/results.h"

#include "base/error.h"
#include "io/number.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct CsvFile {
    int fd;
    off_t size;         // of all whole rows, bytes
    char* text;         // rows on their way to the file
    size_t capacity;    // bytes in text
    locale_t c_locale;  // numbers have a decimal point, whatever the program's locale
    char* json_part;
} CsvFile;

// ---------------------------------------------------------------------------- text

// A field of the header, quoted where commas, quotes or line ends would break it.
static char* format_name(char* at, const char* name)
{
    if (strpbrk(name, ",\"\r\n") == NULL) {
        return stpcpy(at, name);
    }
    *at++ = '"';
    for (; *name != '\0'; name++) {
        if (*name == '"') {
            *at++ = '"';
        }
        *at++ = *name;
    }
    *at++ = '"';
    return at;
}

static size_t format_header(char* text, const ItmResultsHead* head)
{
    char* at = text;
    for (int i = 0; i < head->ncolumn; i++) {
        at = format_name(at, head->columns[i].name);
        *at++ = i + 1 < head->ncolumn ? ',' : '\n';
    }
    return (size_t)(at - text);
}

static size_t format_row(char* text, const double* row, int ncolumn)
{
    char* at = text;
    for (int i = 0; i < ncolumn; i++) {
        at = itm_number_format(at, row[i]);
        *at++ = i + 1 < ncolumn ? ',' : '\n';
    }
    return (size_t)(at - text);
}

// Room for the header and for any row.
static size_t measure_text(const ItmResultsHead* head)
{
    size_t header = 1;
    for (int i = 0; i < head->ncolumn; i++) {
        header += 2 * strlen(head->columns[i].name) + 3;
    }
    size_t row = (size_t)head->ncolumn * ITM_NUMBER_BYTES + 1;
    size_t least = header > row ? header : row;
    return least > (1u << 16) ? least : (1u << 16);
}

// ---------------------------------------------------------------------------- file

// Write whole rows, or truncate the file to the whole rows it had.
static ItmStatus write_text(CsvFile* f, const char* path, size_t length, ItmError* error)
{
    for (size_t done = 0; done < length;) {
        ssize_t count = write(f->fd, f->text + done, length - done);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            int code = count < 0 ? errno : ENOSPC;
            int cut = ftruncate(f->fd, f->size);
            (void)cut;  // nothing left to try
            return itm_results_fail_io(error, __func__, "write", path, code);
        }
        done += (size_t)count;
    }
    f->size += (off_t)length;
    return ITM_OK;
}

static void destroy(CsvFile* f)
{
    if (f == NULL) {
        return;
    }
    if (f->fd >= 0) {
        close(f->fd);
    }
    if (f->c_locale != (locale_t)0) {
        freelocale(f->c_locale);
    }
    free(f->text);
    free(f->json_part);
    free(f);
}

static CsvFile* allocate(const ItmResultsHead* head)
{
    CsvFile* f = calloc(1, sizeof *f);
    if (f == NULL) {
        return NULL;
    }
    f->fd = -1;
    f->capacity = measure_text(head);
    f->text = malloc(f->capacity);
    f->json_part = itm_results_replace_ending(head->part, ".json");
    f->c_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (f->text == NULL || f->json_part == NULL || f->c_locale == (locale_t)0) {
        destroy(f);
        return NULL;
    }
    return f;
}

// The side file, with the numbers in the C locale too.
static ItmStatus write_side(const CsvFile* f, const ItmResultsHead* head, const ItmResultsSummary* summary,
                            ItmError* error)
{
    locale_t before = uselocale(f->c_locale);
    ItmStatus status = itm_results_json_write(f->json_part, head, summary, error);
    uselocale(before);
    return status;
}

// ---------------------------------------------------------------------------- writer

static ItmStatus csv_open(void** state, const ItmResultsHead* head, ItmError* error)
{
    CsvFile* f = allocate(head);
    if (f == NULL) {
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "no memory to write '%s'", head->path);
    }
    f->fd = open(head->part, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (f->fd < 0) {
        ItmStatus status = itm_results_fail_io(error, __func__, "write", head->part, errno);
        destroy(f);
        return status;
    }
    ItmStatus status = write_text(f, head->part, format_header(f->text, head), error);
    if (status == ITM_OK) {
        status = write_side(f, head, &(ItmResultsSummary){.reason = ""}, error);
    }
    if (status != ITM_OK) {
        unlink(head->part);
        unlink(f->json_part);
        destroy(f);
        return status;
    }
    *state = f;
    return ITM_OK;
}

static ItmStatus csv_write(void* state, const ItmResultsHead* head, const double* rows, int nrow, ItmError* error)
{
    CsvFile* f = state;
    size_t row_bytes = (size_t)head->ncolumn * ITM_NUMBER_BYTES;
    ItmStatus status = ITM_OK;
    size_t length = 0;
    locale_t before = uselocale(f->c_locale);
    for (int i = 0; i < nrow && status == ITM_OK; i++) {
        length += format_row(f->text + length, rows + (size_t)i * (size_t)head->ncolumn, head->ncolumn);
        if (length + row_bytes >= f->capacity || i + 1 == nrow) {
            status = write_text(f, head->part, length, error);
            length = 0;
        }
    }
    uselocale(before);
    return status;
}

static ItmStatus csv_close(void* state, const ItmResultsHead* head, const ItmResultsSummary* summary, ItmError* error)
{
    CsvFile* f = state;
    ItmStatus status = ITM_OK;
    if (close(f->fd) != 0) {
        status = itm_results_fail_io(error, __func__, "write", head->part, errno);
    }
    f->fd = -1;
    ItmStatus side = write_side(f, head, summary, status == ITM_OK ? error : NULL);
    destroy(f);
    return status != ITM_OK ? status : side;
}

static ItmStatus csv_publish(const ItmResultsHead* head, ItmError* error)
{
    char* from = itm_results_replace_ending(head->part, ".json");
    char* to = itm_results_replace_ending(head->path, ".json");
    ItmStatus status = ITM_ERR_MEMORY;
    if (from == NULL || to == NULL) {
        itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "no memory to name '%s'", head->path);
    } else {
        status = itm_results_rename(head->part, head->path, error);
        status = status == ITM_OK ? itm_results_rename(from, to, error) : status;
    }
    free(from);
    free(to);
    return status;
}

const ItmResultsWriter itm_results_csv = {csv_open, csv_write, csv_close, csv_publish};
