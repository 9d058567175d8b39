#include "scales.h"

#include <math.h>
#include <stdio.h>

// Beyond these limits, double precision or the step no longer resolves both ends of the scale.
#define MASS_RATIO_LIMIT 1e6
#define LARGE_LIMIT 250.0  // m: larger machines are rare, lengths in millimetres without their unit are not
#define FAR_LIMIT 1e5      // m from the world's origin
#define GYRATION_MOST 1e3  // radius of gyration against the size of the model
#define GYRATION_LEAST 1e-6

// ---------------------------------------------------------------------------- numbers in the file

static int warn_masses(const ItmModelInfo* info, const char* name)
{
    if (info->nbody < 2 || info->mass_max <= MASS_RATIO_LIMIT * info->mass_min) {
        return 0;
    }
    app_print_warning(name,
                      "the heaviest body has %.2g times the mass of the lightest; forces on light bodies lose accuracy",
                      info->mass_max / info->mass_min);
    return 1;
}

static int warn_size(const ItmModelInfo* info, const char* name)
{
    if (info->length <= FAR_LIMIT) {
        if (info->length > LARGE_LIMIT) {
            app_print_warning(name, "the model extends to %.3g m; write %.3g mm if millimetres are meant", info->length,
                              info->length);
        }
        return info->length > LARGE_LIMIT;
    }
    app_print_warning(name, "the model extends to %.2g m from the world origin; move the origin closer", info->length);
    return 1;
}

// Inertia in other units than the mass is the most common mistake: compare the radius of gyration with the model.
static int warn_inertia(const ItmModel* m, double size, const char* name)
{
    int count = 0;
    for (int i = 0; i < itm_model_get_info(m).nbody && size > 0.0; i++) {
        ItmBodyInfo body = itm_model_get_body_info(m, i);
        double inertia = (body.inertia.xx + body.inertia.yy + body.inertia.zz) / 2.0;
        double radius = sqrt(inertia / body.mass);
        if (radius > GYRATION_MOST * size || radius < GYRATION_LEAST * size) {
            app_print_warning(
                name,
                "body '%s' has a radius of gyration of %.2g m in a model of %.2g m; check the units of mass "
                "and inertia",
                body.name, radius, size);
            count++;
        }
    }
    return count;
}

static int warn_freedom(const ItmModelInfo* info, const char* name)
{
    if (info->freedom > 0 || info->nmotion > 0) {
        return 0;
    }
    app_print_warning(name, "nothing can move: the constraints leave no degree of freedom");
    return 1;
}

// ---------------------------------------------------------------------------- stiffness against the step

// The limit of bodies that are free otherwise costs nothing; only where a step exceeds it, the bodies are tried with all that they
// carry, in the start configuration. Returns the number of warnings, or -1.
static int warn_stiffness(const ItmModel* m, const ItmStepOptions* step, const char* name)
{
    ItmData* d = NULL;
    int count = 0;
    for (int i = 0; i < itm_stiffness_get_limit_count(m); i++) {
        if (step->step <= itm_stiffness_get_limit(m, i).step) {
            continue;
        }
        ItmError error = {0};
        ItmStatus status = d == NULL ? itm_data_create(&d, m, step, &error) : ITM_OK;
        if (status == ITM_ERR_MEMORY) {
            app_print_error(&error);
            return -1;
        }
        if (status != ITM_OK) {
            app_print_warning(name, "%s", error.message);
            return count + 1;
        }
        ItmStepLimit limit = itm_stiffness_compute_limit(m, d, i);
        if (step->step > limit.step) {
            app_print_warning(name, "'%s' may be too stiff for a step of %.3g s; reduce the step to at most %.2g s",
                              limit.name, step->step, limit.step);
            count++;
        }
    }
    itm_data_destroy(d);
    return count;
}

int app_scales_warn(const ItmModel* m, const ItmStepOptions* step, const char* name)
{
    ItmModelInfo info = itm_model_get_info(m);
    int count = warn_masses(&info, name) + warn_size(&info, name) + warn_inertia(m, info.length, name) +
                warn_freedom(&info, name);
    if (step->stepper != ITM_STEPPER_REFERENCE && step->stepper != ITM_STEPPER_ALI3P) {
        int nstiff = warn_stiffness(m, step, name);
        count = nstiff >= 0 ? count + nstiff : -1;
    }
    return count;
}
