#include "tests/mlcp_files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static bool read_int(FILE* f, int* value)
{
    return fscanf(f, "%d", value) == 1;
}

static bool skip_ints(FILE* f, int count)
{
    int ignored;
    for (int k = 0; k < count; k++) {
        if (!read_int(f, &ignored)) {
            return false;
        }
    }
    return true;
}

static bool read_reals(FILE* f, double* values, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        if (fscanf(f, "%lf", &values[k]) != 1) {
            return false;
        }
    }
    return true;
}

static bool allocate(MlcpFile* file, int n, int ncontact)
{
    size_t rows = (size_t)n;
    file->H = calloc(rows * rows, sizeof(double));
    file->b = calloc(rows, sizeof(double));
    file->lo = calloc(rows, sizeof(double));
    file->up = calloc(rows, sizeof(double));
    file->contacts = calloc((size_t)ncontact + 1, sizeof *file->contacts);
    for (int i = 0; i < n && file->up != NULL; i++) {
        file->up[i] = INFINITY;
    }
    file->problem = (ItmMlcpProblem){.n = n,
                                     .H = file->H,
                                     .b = file->b,
                                     .lo = file->lo,
                                     .up = file->up,
                                     .ncontact = ncontact,
                                     .contacts = file->contacts};
    return file->H != NULL && file->b != NULL && file->lo != NULL && file->up != NULL && file->contacts != NULL;
}

static void store(MlcpFile* file, int row, int column, double value)
{
    file->H[(size_t)row * (size_t)file->problem.n + (size_t)column] = value;
}

static bool read_block(FILE* f, MlcpFile* file, int row, int column, int nrow, int ncolumn)
{
    for (int j = 0; j < ncolumn; j++) {
        for (int i = 0; i < nrow; i++) {
            double value;
            if (!read_reals(f, &value, 1)) {
                return false;
            }
            store(file, row + i, column + j, value);
        }
    }
    return true;
}

// n, storage, rows, columns, rows, columns, M column by column (as Siconos reads it), q
static bool read_lcp(FILE* f, MlcpFile* file)
{
    int n;
    return read_int(f, &n) && skip_ints(f, 5) && allocate(file, n, 0) && read_block(f, file, 0, 0, n, n) &&
           read_reals(f, file->b, (size_t)n);
}

// two flags, n, m, blocks (0, n, n + m), kinds (0, 1), then as read_lcp
static bool read_mlcp(FILE* f, MlcpFile* file)
{
    int n, m;
    if (!skip_ints(f, 2) || !read_int(f, &n) || !read_int(f, &m) || !skip_ints(f, 5) || !skip_ints(f, 5) ||
        !allocate(file, n + m, 0)) {
        return false;
    }
    for (int i = 0; i < n; i++) {
        file->lo[i] = -INFINITY;
    }
    return read_block(f, file, 0, 0, n + m, n + m) && read_reals(f, file->b, (size_t)(n + m));
}

// sizes, number of blocks, block offsets, row starts and columns of the blocks, then each block
// after its number
static bool read_sparse_blocks(FILE* f, MlcpFile* file, int dimension)
{
    int nblock, nrow_block, ncolumn_block, nstart, nindex;
    if (!skip_ints(f, 2) || !read_int(f, &nblock) || !read_int(f, &nrow_block) || !read_int(f, &ncolumn_block) ||
        !skip_ints(f, nrow_block + ncolumn_block) || !read_int(f, &nstart) || !read_int(f, &nindex)) {
        return false;
    }
    int* index = calloc((size_t)nstart + (size_t)nindex, sizeof *index);
    bool is_read = index != NULL;
    for (int k = 0; k < nstart + nindex && is_read; k++) {
        is_read = read_int(f, &index[k]);
    }
    for (int row = 0; row + 1 < nstart && is_read; row++) {
        for (int k = index[row]; k < index[row + 1] && is_read; k++) {
            is_read = skip_ints(f, 1) &&
                      read_block(f, file, dimension * row, dimension * index[nstart + k], dimension, dimension);
        }
    }
    free(index);
    return is_read;
}

// The files' matrices come from a simulation; those that are symmetric to rounding are made so
// exactly.
static void symmetrize_if_close(MlcpFile* file)
{
    int n = file->problem.n;
    double largest = 0.0, off = 0.0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            double a = file->H[(size_t)i * (size_t)n + (size_t)j], c = file->H[(size_t)j * (size_t)n + (size_t)i];
            largest = fmax(largest, fabs(a));
            off = fmax(off, fabs(a - c));
        }
    }
    file->problem.is_symmetric = off == 0.0;
    if (off > 1e-12 * largest || off == 0.0) {
        return;
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            double mean =
                0.5 * (file->H[(size_t)i * (size_t)n + (size_t)j] + file->H[(size_t)j * (size_t)n + (size_t)i]);
            store(file, i, j, mean);
            store(file, j, i, mean);
        }
    }
    file->problem.is_symmetric = true;
}

// dimension, contacts, storage, matrix, q (normal first), mu
static bool read_friction(FILE* f, MlcpFile* file)
{
    int dimension, ncontact, storage;
    if (!read_int(f, &dimension) || !read_int(f, &ncontact) || !read_int(f, &storage) ||
        !allocate(file, dimension * ncontact, ncontact)) {
        return false;
    }
    int n = dimension * ncontact;
    bool is_read =
        storage == 0 ? skip_ints(f, 4) && read_block(f, file, 0, 0, n, n) : read_sparse_blocks(f, file, dimension);
    is_read = is_read && read_reals(f, file->b, (size_t)n);
    for (int c = 0; c < ncontact && is_read; c++) {
        int i = dimension * c;
        file->contacts[c] = (ItmMlcpContact){
            .normal = i, .tangent = {i + 1, dimension == 3 ? i + 2 : ITM_NONE}, .law = ITM_FRICTION_CONE};
        is_read = read_reals(f, &file->contacts[c].mu, 1);
    }
    return is_read;
}

// interim-mlcp 1; n .. nb .. nc .. nv ..; lines "row q lo hi"; lower triangle
static bool read_boxed(FILE* f, MlcpFile* file)
{
    int n, nb, nc, nv;
    if (fscanf(f, "interim-mlcp 1 n %d nb %d nc %d nv %d", &n, &nb, &nc, &nv) != 4 || !allocate(file, n, 0)) {
        return false;
    }
    for (int i = 0; i < n; i++) {
        if (fscanf(f, " row %lf %lf %lf", &file->b[i], &file->lo[i], &file->up[i]) != 3) {
            return false;
        }
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            double value;
            if (!read_reals(f, &value, 1)) {
                return false;
            }
            store(file, i, j, value);
            store(file, j, i, value);
        }
    }
    return true;
}

bool mlcp_file_read(MlcpFile* file, const char* path, MlcpFormat format)
{
    *file = (MlcpFile){0};
    FILE* f = fopen(path, "r");
    if (f == NULL) {
        return false;
    }
    bool is_read = format == MLCP_FILE_LCP        ? read_lcp(f, file)
                   : format == MLCP_FILE_MLCP     ? read_mlcp(f, file)
                   : format == MLCP_FILE_FRICTION ? read_friction(f, file)
                                                  : read_boxed(f, file);
    fclose(f);
    if (!is_read) {
        mlcp_file_free(file);
        return false;
    }
    symmetrize_if_close(file);
    return true;
}

void mlcp_file_free(MlcpFile* file)
{
    free(file->H);
    free(file->b);
    free(file->lo);
    free(file->up);
    free(file->contacts);
    *file = (MlcpFile){0};
}
