// Counts the allocations of a test program: include it once, and let CMakeLists.txt call itm_count_allocations(test).
// The linker then sends every call here first.
#ifndef ITM_TESTS_ALLOCATIONS_H
#define ITM_TESTS_ALLOCATIONS_H

#include <stddef.h>

static long allocations;

void* __real_malloc(size_t size);
void* __real_calloc(size_t count, size_t size);
void* __real_realloc(void* block, size_t size);
void* __real_aligned_alloc(size_t alignment, size_t size);
void* __wrap_malloc(size_t size);
void* __wrap_calloc(size_t count, size_t size);
void* __wrap_realloc(void* block, size_t size);
void* __wrap_aligned_alloc(size_t alignment, size_t size);

void* __wrap_malloc(size_t size)
{
    allocations++;
    return __real_malloc(size);
}

void* __wrap_calloc(size_t count, size_t size)
{
    allocations++;
    return __real_calloc(count, size);
}

void* __wrap_realloc(void* block, size_t size)
{
    allocations++;
    return __real_realloc(block, size);
}

void* __wrap_aligned_alloc(size_t alignment, size_t size)
{
    allocations++;
    return __real_aligned_alloc(alignment, size);
}

#endif
