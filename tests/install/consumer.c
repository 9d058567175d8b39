// What somebody else's program looks like: the public headers, the installed library, nothing else.
#include <stdio.h>

#include <interim/interim.h>

int main(void)
{
    ItmModelBuilder* builder = NULL;
    ItmError error = {0};
    ItmWorldDef world = itm_default_world_def();
    if (itm_model_builder_create(&builder, &world, &error) != ITM_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    itm_model_builder_destroy(builder);
    printf("interim %s\n", itm_version());
    return 0;
}
