#include "model/model_build.h"

#include "base/error.h"
#include "contact/contact.h"
#include "multibody/model_builder.h"
#include "multibody/compile.h"
#include "multibody/model_output.h"

void itm_model_destroy(ItmModel* m)
{
    if (m != NULL) {
        itm_contact_destroy(m);
        itm_multibody_destroy(m);
    }
}

static ItmStatus build(ItmModel** model, const ItmModelBuilder* b, ItmError* error)
{
    ItmModel* m = NULL;
    ItmStatus status = itm_multibody_build(&m, b, error);
    status = status == ITM_OK ? itm_contact_build(m, b, error) : status;
    status = status == ITM_OK ? itm_model_build_outputs(m, error) : status;
    if (status == ITM_ERR_MEMORY) {
        itm_error_set(error, status, "itm_model_build", NULL, "out of memory while building a model of %d bodies",
                      b->bodies.count);
    }
    if (status != ITM_OK) {
        itm_model_destroy(m);
        return status;
    }
    m->info.data_bytes = itm_data_measure(m) + (m->contact != NULL ? itm_contact_measure_data(m) : 0);
    *model = m;
    return ITM_OK;
}

ItmStatus itm_model_build(ItmModel** model, const ItmModelBuilder* b, ItmError* error)
{
    if (model == NULL || b == NULL) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "model or builder is NULL");
    }
    *model = NULL;
    return b->bodies.count > 0
               ? build(model, b, error)
               : itm_error_set(error, ITM_ERR_INPUT, __func__, "bodies", "a model needs at least one body");
}

ItmStatus itm_model_build_empty(ItmModel** model, ItmError* error)
{
    ItmModelBuilder* b = NULL;
    ItmWorldDef world = itm_default_world_def();
    *model = NULL;
    ItmStatus status = itm_model_builder_create(&b, &world, error);
    status = status == ITM_OK ? build(model, b, error) : status;
    itm_model_builder_destroy(b);
    return status;
}
