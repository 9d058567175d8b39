#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>

void itm_assert_fail(const char* expression, const char* file, int line)
{
    fprintf(stderr, "interim: internal defect: %s (%s:%d)\n", expression, file, line);
    abort();
}
