// The shipped examples, for tests and benchmarks that run what users run.
#include "scenes/scenes.h"

#include <stdio.h>

ItmStatus itm_example_load(ItmModelFile** file, const char* name, const char* const* overrides, int noverride,
                           ItmError* error)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/examples/%s.yaml", ITM_SOURCE_DIR, name);
    return itm_file_load(file, path, overrides, noverride, error);
}

ItmStatus itm_example_load_arm(ItmModelFile** file, ItmCoordinates coordinates, bool is_flexible, ItmError* error)
{
    const char* const overrides[] = {
        coordinates == ITM_COORDINATES_JOINT ? "multibody.coordinates=joint" : "multibody.coordinates=absolute",
        is_flexible ? "parameters.flexible=1" : "parameters.flexible=0",
        "multibody.events=[]",
        "multibody.joints.theta1.start_rate=0.02 rad/s",
        "multibody.joints.theta2.start_rate=-0.02 rad/s",
        "multibody.joints.theta3.start_rate=0.02 rad/s",
        "multibody.joints.theta4.start_rate=-0.02 rad/s",
        "multibody.joints.theta5.start_rate=0.02 rad/s",
        "multibody.joints.theta6.start_rate=-0.02 rad/s",
        "multibody.joints.theta7.start_rate=0.02 rad/s",
    };
    return itm_example_load(file, "arm-effective-mass", overrides, sizeof overrides / sizeof *overrides, error);
}
