#include "io/geometry/matrix_file.h"

#include "base/error.h"
#include "base/list.h"
#include "io/words.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#define MOST_ROWS 10000000
#define SYMMETRIC 1e-9  // of the larger of two mirrored entries

// ---------------------------------------------------------------------------- entries

// An entry as it stands in the file.
typedef struct Entry {
    int row, column;
    double value;
} Entry;

// By place in the lower half; of two mirrored entries the lower one first.
static int compare_entries(const void* a, const void* b)
{
    const Entry *x = a, *y = b;
    int x_high = x->row > x->column ? x->row : x->column, x_low = x->row + x->column - x_high;
    int y_high = y->row > y->column ? y->row : y->column, y_low = y->row + y->column - y_high;
    if (x_high != y_high) {
        return x_high < y_high ? -1 : 1;
    }
    if (x_low != y_low) {
        return x_low < y_low ? -1 : 1;
    }
    return (x->row < y->row) - (x->row > y->row);
}

// Join mirrored entries of a general matrix, which must be equal. Returns how many are left, or -1.
static int fold(Entry* entries, int count, const ItmWords* text, ItmError* error)
{
    int kept = 0;
    qsort(entries, (size_t)count, sizeof *entries, compare_entries);
    for (int i = 0; i < count;) {
        int row = entries[i].row > entries[i].column ? entries[i].row : entries[i].column;
        int column = entries[i].row + entries[i].column - row;
        double lower = 0.0, upper = 0.0;
        for (; i < count && entries[i].row + entries[i].column == row + column &&
               (entries[i].row == row || entries[i].row == column);
             i++) {
            lower += entries[i].row >= entries[i].column ? entries[i].value : 0.0;
            upper += entries[i].row <= entries[i].column ? entries[i].value : 0.0;
        }
        if (!(fabs(lower - upper) <= SYMMETRIC * fmax(fabs(lower), fabs(upper)))) {
            itm_words_fail(error, text, "the matrix is not symmetric: (%d, %d) is %g, but (%d, %d) is %g", row + 1,
                           column + 1, lower, column + 1, row + 1, upper);
            return -1;
        }
        entries[kept++] = (Entry){row, column, lower};
    }
    return kept;
}

// ---------------------------------------------------------------------------- Matrix Market

static bool next_number(ItmWords* text, double* value)
{
    return itm_words_to_real(value, itm_words_next(text));
}

static bool is_whole(double x, double least, double most)
{
    return x == floor(x) && x >= least && x <= most;
}

static ItmStatus read_header(ItmWords* text, bool* is_symmetric, ItmError* error)
{
    static const char* const EXPECTED = "expected '%%%%MatrixMarket matrix coordinate real symmetric' (or general)";
    if (!itm_words_is(itm_words_next(text), "%%matrixmarket") || !itm_words_is(itm_words_next(text), "matrix") ||
        !itm_words_is(itm_words_next(text), "coordinate")) {
        return itm_words_fail(error, text, EXPECTED);
    }
    ItmWord field = itm_words_next(text), symmetry = itm_words_next(text);
    bool is_real = itm_words_is(field, "real") || itm_words_is(field, "integer");
    *is_symmetric = itm_words_is(symmetry, "symmetric");
    if (!is_real || (!*is_symmetric && !itm_words_is(symmetry, "general"))) {
        return itm_words_fail(error, text, EXPECTED);
    }
    return ITM_OK;
}

// Go to the next line that holds something; false at the end.
static bool next_content(ItmWords* text)
{
    while (itm_words_next_line(text)) {
        ItmWords ahead = *text;
        ItmWord word = itm_words_next(&ahead);
        if (word.length > 0 && word.start[0] != '%') {
            return true;
        }
    }
    return false;
}

static ItmStatus read_entries(ItmWords* text, Entry* entries, int count, int n, bool is_symmetric, ItmError* error)
{
    int half = 0;
    for (int i = 0; i < count; i++) {
        if (!next_content(text)) {
            return itm_words_fail(error, text, "the file ends after %d of %d entries", i, count);
        }
        double row, column, value;
        if (!next_number(text, &row) || !next_number(text, &column) || !next_number(text, &value)) {
            return itm_words_fail(error, text, "expected a row, a column and a finite number");
        }
        if (!is_whole(row, 1, n) || !is_whole(column, 1, n)) {
            return itm_words_fail(error, text, "there is no entry (%g, %g) in a matrix of %d rows", row, column, n);
        }
        // of a symmetric matrix one half is given, whichever
        bool is_upper = is_symmetric && column > row;
        half = half == 0 && column != row ? (is_upper ? 1 : -1) : half;
        if (is_symmetric && column != row && half != (is_upper ? 1 : -1)) {
            return itm_words_fail(error, text,
                                  "a symmetric file holds one half of the matrix, this one has entries of both");
        }
        entries[i] = (Entry){(int)(is_upper ? column : row) - 1, (int)(is_upper ? row : column) - 1, value};
    }
    if (next_content(text)) {
        return itm_words_fail(error, text, "there are more than the %d entries announced", count);
    }
    return ITM_OK;
}

static ItmStatus take_entries(ItmMatrixFile* matrix, const Entry* entries, int count, ItmError* error)
{
    size_t size = (size_t)count + 1;
    matrix->row = malloc(size * sizeof(int));
    matrix->column = malloc(size * sizeof(int));
    matrix->value = malloc(size * sizeof(double));
    if (matrix->row == NULL || matrix->column == NULL || matrix->value == NULL) {
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "no memory for %d entries", count);
    }
    for (int i = 0; i < count; i++) {
        matrix->row[i] = entries[i].row;
        matrix->column[i] = entries[i].column;
        matrix->value[i] = entries[i].value;
    }
    matrix->nentry = count;
    return ITM_OK;
}

static ItmStatus parse_matrix(ItmMatrixFile* matrix, ItmWords* text, ItmError* error)
{
    bool is_symmetric = false;
    ItmStatus status = read_header(text, &is_symmetric, error);
    if (status != ITM_OK) {
        return status;
    }
    double rows, columns, count;
    if (!next_content(text) || !next_number(text, &rows) || !next_number(text, &columns) ||
        !next_number(text, &count)) {
        return itm_words_fail(error, text, "expected the numbers of rows, columns and entries");
    }
    if (rows != columns || !is_whole(rows, 1, MOST_ROWS)) {
        return itm_words_fail(error, text, "expected a square matrix of at most %d rows, got %g by %g", MOST_ROWS, rows,
                              columns);
    }
    // an entry takes at least six characters: "1 1 1\n"
    if (!is_whole(count, 0, (double)(text->end - text->at) / 5.0 + 1.0) || count > INT_MAX / 4) {
        return itm_words_fail(error, text, "%g entries do not fit into the file", count);
    }
    Entry* entries = malloc(((size_t)count + 1) * sizeof *entries);
    if (entries == NULL) {
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "no memory for %g entries", count);
    }
    matrix->n = (int)rows;
    status = read_entries(text, entries, (int)count, matrix->n, is_symmetric, error);
    int kept = (int)count;
    if (status == ITM_OK && !is_symmetric) {
        // two lines are at fault, the entries show which
        text->line = 0;
        kept = fold(entries, kept, text, error);
        status = kept >= 0 ? ITM_OK : ITM_ERR_INPUT;
    }
    status = status == ITM_OK ? take_entries(matrix, entries, kept, error) : status;
    free(entries);
    return status;
}

ItmStatus itm_matrix_read(ItmMatrixFile* matrix, const char* path, ItmError* error)
{
    *matrix = (ItmMatrixFile){0};
    char* bytes;
    size_t length;
    ItmStatus status = itm_words_read(&bytes, &length, path, ITM_MATRIX_MAX_BYTES, error);
    if (status != ITM_OK) {
        return status;
    }
    ItmWords text = {.at = bytes, .end = bytes + length, .name = path, .line = 1};
    status = parse_matrix(matrix, &text, error);
    free(bytes);
    if (status != ITM_OK) {
        itm_matrix_free(matrix);
    }
    return status;
}

void itm_matrix_free(ItmMatrixFile* matrix)
{
    free(matrix->row);
    free(matrix->column);
    free(matrix->value);
    *matrix = (ItmMatrixFile){0};
}

// ---------------------------------------------------------------------------- nodes

typedef struct NodeLine {
    long id;
    ItmVec3 at;
} NodeLine;

typedef struct NodeList {
    NodeLine* items;
    int count, capacity;
} NodeList;

static ItmStatus parse_nodes(NodeList* list, ItmWords* text, ItmError* error)
{
    bool has_more = text->at < text->end;
    for (; has_more; has_more = itm_words_next_line(text)) {
        double x[4];
        ItmWord first = itm_words_next(text);
        bool is_number = itm_words_to_real(&x[0], first);
        if (first.length == 0 || first.start[0] == '#' || first.start[0] == '%' || (!is_number && list->count == 0)) {
            continue;
        }
        if (!is_number || !is_whole(x[0], 0, 1e15)) {
            return itm_words_fail(error, text, "expected the number of a node, got '%.*s'",
                                  (int)(first.length < 40 ? first.length : 40), first.start);
        }
        if (!next_number(text, &x[1]) || !next_number(text, &x[2]) || !next_number(text, &x[3])) {
            return itm_words_fail(error, text, "node %g needs three finite coordinates", x[0]);
        }
        NodeLine line = {(long)x[0], {x[1], x[2], x[3]}};
        if (!ITM_LIST_APPEND(*list, line)) {
            return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "no memory for the nodes");
        }
    }
    return list->count > 0 ? ITM_OK : itm_words_fail(error, text, "there are no nodes in the file");
}

ItmStatus itm_matrix_read_nodes(ItmNodeTable* table, const char* path, ItmError* error)
{
    *table = (ItmNodeTable){0};
    char* bytes;
    size_t length;
    ItmStatus status = itm_words_read(&bytes, &length, path, ITM_MATRIX_MAX_BYTES, error);
    if (status != ITM_OK) {
        return status;
    }
    for (size_t i = 0; i < length; i++) {
        bytes[i] = bytes[i] == ',' || bytes[i] == ';' ? ' ' : bytes[i];
    }
    ItmWords text = {.at = bytes, .end = bytes + length, .name = path, .line = 1};
    NodeList list = {0};
    status = parse_nodes(&list, &text, error);
    if (status == ITM_OK) {
        table->id = malloc((size_t)list.count * sizeof *table->id);
        table->at = malloc((size_t)list.count * sizeof *table->at);
        if (table->id == NULL || table->at == NULL) {
            status = itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "no memory for %d nodes", list.count);
        }
    }
    for (int i = 0; status == ITM_OK && i < list.count; i++) {
        table->id[i] = list.items[i].id;
        table->at[i] = list.items[i].at;
        table->count = i + 1;
    }
    free(list.items);
    free(bytes);
    if (status != ITM_OK) {
        itm_matrix_free_nodes(table);
    }
    return status;
}

void itm_matrix_free_nodes(ItmNodeTable* table)
{
    free(table->id);
    free(table->at);
    *table = (ItmNodeTable){0};
}

int itm_matrix_find_node(const ItmNodeTable* table, long id)
{
    for (int i = 0; i < table->count; i++) {
        if (table->id[i] == id) {
            return i;
        }
    }
    return ITM_NONE;
}
