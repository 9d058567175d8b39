#define _DEFAULT_SOURCE  // flock
#include "io/results/lock.h"

#include "base/error.h"
#include "io/results/results.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

// Whether the open file is still the one of that name: its last holder may have removed it between opening and locking.
static bool is_current(int file, const char* path)
{
    struct stat opened, named;
    return fstat(file, &opened) == 0 && stat(path, &named) == 0 && opened.st_dev == named.st_dev &&
           opened.st_ino == named.st_ino;
}

static ItmStatus refuse_second(int file, const char* part, ItmError* error)
{
    char holder[24] = "";
    ssize_t n = pread(file, holder, sizeof holder - 1, 0);
    holder[n > 0 ? n : 0] = '\0';
    long process = strtol(holder, NULL, 10);
    char who[48] = "";
    if (process > 0) {
        snprintf(who, sizeof who, " (process %ld)", process);
    }
    ItmStatus status = itm_error_set(error, ITM_ERR_IO, "itm_results_create", "path",
                                     "another run%s is writing '%s'; wait for it, or choose another output", who, part);
    itm_error_locate(error, part, 0, 0);
    return status;
}

static void write_process(int file)
{
    char text[24];
    int n = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    // the number only serves a message: a full disk is no reason to stop
    if (ftruncate(file, 0) != 0 || pwrite(file, text, (size_t)n, 0) != n) {
        return;
    }
}

ItmStatus itm_lock_take(ItmLock* lock, const char* part, ItmError* error)
{
    size_t size = strlen(part) + sizeof ".lock";
    char* path = malloc(size);
    if (path == NULL) {
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
    }
    snprintf(path, size, "%s.lock", part);
    for (;;) {
        int file = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (file < 0) {
            ItmStatus status = itm_results_fail_io(error, __func__, "write", part, errno);
            free(path);
            return status;
        }
        if (flock(file, LOCK_EX | LOCK_NB) != 0) {
            ItmStatus status = refuse_second(file, part, error);
            close(file);
            free(path);
            return status;
        }
        if (is_current(file, path)) {
            write_process(file);
            *lock = (ItmLock){.path = path, .file = file};
            return ITM_OK;
        }
        close(file);
    }
}

void itm_lock_release(ItmLock* lock)
{
    if (lock->path != NULL) {
        unlink(lock->path);
        close(lock->file);
        free(lock->path);
        lock->path = NULL;
    }
}
