// The engine alone: a body that falls for a tenth of a second, and a stepper that is not there.
#include <interim/data.h>
#include <interim/model.h>

#include <stdio.h>

int main(void)
{
    ItmModelBuilder* builder = NULL;
    ItmModel* model = NULL;
    ItmData* data = NULL;
    ItmError error;
    int stone = ITM_NONE;
    ItmWorldDef world = itm_default_world_def();
    ItmBodyDef body = itm_default_body_def();
    body.name = "stone";
    body.mass = 2.0;
    ItmStepOptions options = itm_default_step_options();
    ItmStatus status = itm_model_builder_create(&builder, &world, &error);
    status = status == ITM_OK ? itm_model_builder_add_body(builder, &body, &stone, &error) : status;
    status = status == ITM_OK ? itm_model_build(&model, builder, &error) : status;
    status = status == ITM_OK ? itm_data_create(&data, model, &options, &error) : status;
    for (int i = 0; i < 100 && status == ITM_OK; i++) {
        status = itm_step(model, data);
    }
    if (status != ITM_OK) {
        printf("%s\n", error.message);
        return 1;
    }
    printf("t = %.3f s\n", itm_data_get_time(data));
    itm_data_destroy(data);
    data = NULL;
    options.stepper = ITM_STEPPER_REFERENCE;
    status = itm_data_create(&data, model, &options, &error);
    printf("%s\n", error.message);
    itm_model_destroy(model);
    itm_model_builder_destroy(builder);
    return status == ITM_ERR_UNSUPPORTED ? 0 : 1;
}
