// Public view of the description of an FMU.
#include "base/guard.h"
#include "fmi/fmu.h"

#include <math.h>

ItmFmuInfo itm_fmu_get_info(const ItmFmu* fmu)
{
    ITM_GUARD(fmu != NULL, ((ItmFmuInfo){.version = "",
                                         .model_name = "",
                                         .description = "",
                                         .tool = "",
                                         .token = "",
                                         .start = NAN,
                                         .stop = NAN,
                                         .step = NAN,
                                         .tolerance = NAN}));
    const ItmFmiDescription* d = itm_fmi_get_description(fmu);
    const ItmArchive* archive = itm_fmi_get_archive((ItmFmu*)(uintptr_t)fmu);
    return (ItmFmuInfo){.version = d->version,
                        .model_name = d->model_name,
                        .description = d->description,
                        .tool = d->tool,
                        .token = d->token,
                        .has_co_simulation = d->kinds[ITM_FMI_CO_SIMULATION].is_present,
                        .has_model_exchange = d->kinds[ITM_FMI_MODEL_EXCHANGE].is_present,
                        .start = d->start_time,
                        .stop = d->stop_time,
                        .step = d->step_size,
                        .tolerance = d->tolerance,
                        .nvariable = d->nvariable,
                        .nstate = itm_description_count_states(d),
                        .nfile = itm_archive_get_count(archive),
                        .size = itm_archive_get_size(archive)};
}

ItmFmuVariable itm_fmu_get_variable(const ItmFmu* fmu, int index)
{
    ItmFmuVariable none = {.name = NULL, .start = NAN};
    ITM_GUARD(fmu != NULL && ITM_IS_INDEX(index, itm_fmi_get_description(fmu)->nvariable), none);
    const ItmFmiVariable* v = &itm_fmi_get_description(fmu)->variables[index];
    return (ItmFmuVariable){.name = v->name,
                            .description = v->description,
                            .type = itm_description_get_type_name(v->type),
                            .causality = itm_description_get_causality_name(v->causality),
                            .variability = itm_description_get_variability_name(v->variability),
                            .unit = v->unit != NULL ? v->unit : "",
                            .value_reference = v->value_reference,
                            .start = v->start != NULL && v->nstart > 0 ? v->start[0] : NAN};
}

int itm_fmu_find_variable(const ItmFmu* fmu, const char* name)
{
    ITM_GUARD(fmu != NULL && name != NULL, ITM_NONE);
    return itm_description_find(itm_fmi_get_description(fmu), name);
}
