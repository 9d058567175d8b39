// A results reader in a process of its own. The HDF5 library follows the addresses in a file: a damaged one, or memory that runs
// out, may crash it or keep it busy for ever. So the file is read by a child with limits on memory and processor time, which
// sends the table through a pipe; whatever becomes of the child, the caller gets a table or an error.
#ifndef ITM_IO_RESULTS_ISOLATED_H
#define ITM_IO_RESULTS_ISOLATED_H

#include "io/results/results_read.h"

typedef ItmStatus (*ItmTableReader)(ItmTable* table, const char* path, ItmError* error);

// Fill an empty table with what `read` makes of the file; as for itm_results_read_csv.
// ITM_ERR_INPUT: the child crashed or took too long, or reported an error itself.
ItmStatus itm_isolated_read(ItmTable* table, ItmTableReader read, const char* path, ItmError* error);

// Fill an empty table with the message that the child sends through `file`. The child is not trusted: a message that ends early, or
// claims to have more than `most` bytes, is discarded. `error` has what the child reported; a message that is none leaves it as it is.
ItmStatus itm_isolated_receive(ItmTable* table, int file, size_t most, ItmError* error);

#endif
