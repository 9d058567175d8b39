// Symmetric sparse matrices (Matrix Market) and tables of nodes, as finite element programs write them. The files are not
// trusted: sizes, indices, numbers and symmetry are checked, and an error gives the line.
#ifndef ITM_IO_GEOMETRY_MATRIX_FILE_H
#define ITM_IO_GEOMETRY_MATRIX_FILE_H

#include "interim/base.h"

#define ITM_MATRIX_MAX_BYTES ((size_t)1 << 30)

typedef struct ItmMatrixFile {
    int n, nentry;
    int *row, *column;  // counted from 0; lower half: row >= column   (nentry)
    double* value;      // (nentry)
} ItmMatrixFile;

// "coordinate real" (or integer), symmetric, or general with both halves equal to 1e-9.
ItmStatus itm_matrix_read(ItmMatrixFile* matrix, const char* path, ItmError* error);
void itm_matrix_free(ItmMatrixFile* matrix);

typedef struct ItmNodeTable {
    int count;
    long* id;     // (count)
    ItmVec3* at;  // (count) in the file's unit
} ItmNodeTable;

// Lines "id x y z", separated by blanks, commas or semicolons; lines before the first number, and those that begin with # or %,
// are passed over.
ItmStatus itm_matrix_read_nodes(ItmNodeTable* table, const char* path, ItmError* error);
void itm_matrix_free_nodes(ItmNodeTable* table);
// Position of an id in the table, or ITM_NONE.
int itm_matrix_find_node(const ItmNodeTable* table, long id);

#endif
