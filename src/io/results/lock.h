// One writer per result file: a lock file beside the part file, held while a run lasts. The system releases it when the process ends,
// however it ends; the file itself may then stay, and the next run takes it over.
#ifndef ITM_IO_RESULTS_LOCK_H
#define ITM_IO_RESULTS_LOCK_H

#include "interim/base.h"

typedef struct ItmLock {
    char* path;  // NULL: nothing is held
    int file;
} ItmLock;

// Lock `part` for this process. ITM_ERR_IO: another run holds it (its process is named), or the lock file cannot be made.
ItmStatus itm_lock_take(ItmLock* lock, const char* part, ItmError* error);
// Release it and remove the lock file; does nothing where nothing is held.
void itm_lock_release(ItmLock* lock);

#endif
