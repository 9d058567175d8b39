// Block-sparse Cholesky factor of a symmetric positive semi-definite matrix with a fixed pattern.
//
// Made for the Delassus matrix of joint rows, H = A M^-1 A' + Omega: blocks of 1 to 6 rows (one per joint),
// two blocks coupled where joints share a body. The pattern, the fill-reducing order (AMD) and all
// addresses are found once (itm_blocks_build); factor and solve then allocate nothing.
// A row whose pivot falls below `tolerance` times its scale depends on rows eliminated before it: it is
// marked redundant and gets a zero unknown. For a consistent system that is a solution; itm_blocks_min_norm
// turns it into the one of least norm.
#ifndef ITM_MATH_BLOCKS_H
#define ITM_MATH_BLOCKS_H

#include "interim/base.h"

#define ITM_BLOCK_MAX 6  // rows of a block, at most

// Column j of the factor (in elimination order) has the blocks rows[col_adr[j]] = j, then rows below.
typedef struct ItmBlocks {
    int n;           // blocks
    int nrow;        // length of the caller's vectors
    int nvalue;      // reals in the factor
    int* size;       // rows of a block, by position                    (n)
    int* start;      // its first scalar row in the caller's vectors    (n)
    int* position;   // caller's block -> position in elimination order (n)
    int* col_adr;    // first entry of a column                         (n + 1)
    int* rows;       // block row (position) of an entry                (nentry)
    int* value_adr;  // first real of an entry's block, row-major       (nentry)
    int* left_adr;   // first of the entries that stand in row k, left of the diagonal (n + 1)
    int* left;       // those entries, by column                        (nentry - n)
    int* left_col;   // their columns                                   (nentry - n)
} ItmBlocks;

// Numbers of one factorisation; the arrays belong to the caller (an arena).
typedef struct ItmBlockFactor {
    double* L;         // blocks of H, then of its factor        (nvalue)
    double* inv_diag;  // 1 / L_ss, 0 where row s is redundant   (nrow, caller's order)
    double* scale;     // what a pivot is compared with, given   (nrow)
    int* map;          // scratch: address of a block row        (n)
    int nredundant;
} ItmBlockFactor;

// Find order and fill. size (n): rows of each block; start (n): its first row in the caller's vectors, NULL: one block after the other;
// pairs (2 npair): coupled blocks a != b, repeats allowed. Nothing reads or writes rows between blocks.
ItmStatus itm_blocks_build(ItmBlocks* blocks, int n, const int* size, const int* start, const int* pairs, int npair);
void itm_blocks_free(ItmBlocks* blocks);

// Address in L of the block that couples blocks a and b (or the diagonal block, a == b). is_transposed
// is true if it is stored as (b, a). Only the lower half of a diagonal block is read.
int itm_blocks_find(const ItmBlocks* blocks, int a, int b, bool* is_transposed);

// H = L L', in place. Returns the number of redundant rows.
int itm_blocks_factor(const ItmBlocks* blocks, ItmBlockFactor* f, double tolerance);

// x <- H^-1 x (nrow), the unknowns of redundant rows being 0.
void itm_blocks_solve(const ItmBlocks* blocks, const ItmBlockFactor* f, double* x);

// x <- L^-1 x (nrow), 0 in redundant rows: half of a solve, so that b' H^-1 c = (L^-1 b) . (L^-1 c).
void itm_blocks_half_solve(const ItmBlocks* blocks, const ItmBlockFactor* f, double* x);

// Replace a solution x of H x = b by the one of least 2-norm: subtract its projection on the null space,
// found by conjugate gradients on Z'Z where the columns of Z span that space. scratch (4 nrow).
// Returns the iterations.
int itm_blocks_min_norm(const ItmBlocks* blocks, const ItmBlockFactor* f, double* x, double* scratch);

#endif
