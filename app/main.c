#include <stdio.h>

#include "interim/base.h"

int main(void)
{
    printf("interim %s\n", itm_version());
    return 0;
}
