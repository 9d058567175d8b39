// Preloaded into a command: the allocation of number FAIL_AT (counted from 1 in every process, from the start of main on) fails,
// and all before and after it succeed.
//   FAIL_AT=N LD_PRELOAD=libfail_allocation.so COMMAND
//   FAIL_COUNT=FILE      append the number of allocations of the process at its end
//   FAIL_TRACE=FILE      append the stack of the allocation that failed, as addresses for addr2line
#define _GNU_SOURCE
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// glibc's own, behind the names that are replaced here
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

static atomic_long count;
static long fail_at;
static bool is_counting;

static void trace(void)
{
    const char* path = getenv("FAIL_TRACE");
    int file = path != NULL ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    if (file >= 0) {
        void* frames[40];
        backtrace_symbols_fd(frames, backtrace(frames, 40), file);
        close(file);
    }
}

static bool fails(void)
{
    if (!is_counting || atomic_fetch_add(&count, 1) + 1 != fail_at) {
        return false;
    }
    trace();
    errno = ENOMEM;
    return true;
}

void* malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void* calloc(size_t n, size_t size)
{
    return fails() ? NULL : __libc_calloc(n, size);
}

void* realloc(void* block, size_t size)
{
    return fails() ? NULL : __libc_realloc(block, size);
}

void* aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void** block, size_t alignment, size_t size)
{
    void* found = aligned_alloc(alignment, size);
    if (found == NULL) {
        return ENOMEM;
    }
    *block = found;
    return 0;
}

__attribute__((constructor)) static void start(void)
{
    const char* number = getenv("FAIL_AT");
    fail_at = number != NULL ? atol(number) : 0;
    if (getenv("FAIL_TRACE") != NULL) {
        void* frame[1];
        backtrace(frame, 1);  // it allocates at its first call
    }
    is_counting = true;
}

static void tell_count(void)
{
    is_counting = false;
    const char* path = getenv("FAIL_COUNT");
    int file = path != NULL ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    if (file >= 0) {
        char text[32];
        int length = snprintf(text, sizeof text, "%ld\n", atomic_load(&count));
        if (write(file, text, (size_t)length) != length) {
            abort();
        }
        close(file);
    }
}

__attribute__((destructor)) static void end(void)
{
    tell_count();
}

// A child of a sweep ends without destructors.
_Noreturn void _exit(int status)
{
    tell_count();
    syscall(SYS_exit_group, status);
    __builtin_unreachable();
}
