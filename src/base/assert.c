#include "base/assert.h"

#include "interim/base.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static void print_defect(const char* expression, const char* file, int line)
{
    fprintf(stderr, "interim: internal defect: %s (%s:%d)\n", expression, file, line);
}

// The only variable of the library that all objects share: a failed check may come from any of them.
static _Atomic(ItmAssertHandler*) handler_of_process = print_defect;

void itm_assert_set_handler(ItmAssertHandler* handler)
{
    atomic_store(&handler_of_process, handler != NULL ? handler : print_defect);
}

void itm_assert_fail(const char* expression, const char* file, int line)
{
    atomic_load (&handler_of_process)(expression, file, line);
    abort();
}
