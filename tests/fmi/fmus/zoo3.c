// An oscillator of FMI 3.0 with event mode that does not take its steps as asked. The file resources/fault.txt names the fault:
//   discard <n>     the n-th step returns fmi3Discard
//   outside <n>     it returns early, at a time before its start
//   end <n>         it asks to end the simulation
//   stuck           every step returns early at its start
//   halves          every step returns early at its middle
//   eventless       it cannot be instantiated with event mode
//   stop <t>        steps beyond this time are errors: the stop time of its experiment
#include "fmu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "integrate.h"

#define fmi3DoStep take_step
#define fmi3InstantiateCoSimulation create_instance
#include "fmu3.c"
#undef fmi3DoStep
#undef fmi3InstantiateCoSimulation

EXPORT fmi3DoStepTYPE fmi3DoStep;
EXPORT fmi3InstantiateCoSimulationTYPE fmi3InstantiateCoSimulation;

static char fault[32];
static double number;
static int nstep;

static bool is_fault(const char* name)
{
    return strcmp(fault, name) == 0;
}

fmi3Instance fmi3InstantiateCoSimulation(fmi3String instance, fmi3String token, fmi3String resources,
                                         fmi3Boolean visible, fmi3Boolean logging, fmi3Boolean event_mode,
                                         fmi3Boolean early_return, const fmi3ValueReference intermediate[],
                                         size_t nintermediate, fmi3InstanceEnvironment environment,
                                         fmi3LogMessageCallback* log, fmi3IntermediateUpdateCallback* update)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/fault.txt", resources);
    FILE* file = fopen(path, "r");
    if (file != NULL) {
        if (fscanf(file, "%31s %lf", fault, &number) < 1) {
            fault[0] = '\0';
        }
        fclose(file);
    }
    nstep = 0;
    return is_fault("eventless") && event_mode
               ? NULL
               : create_instance(instance, token, resources, visible, logging, event_mode, early_return, intermediate,
                                 nintermediate, environment, log, update);
}

fmi3Status fmi3DoStep(fmi3Instance c, fmi3Float64 time, fmi3Float64 step, fmi3Boolean no_set_state_before,
                      fmi3Boolean* event_needed, fmi3Boolean* terminate, fmi3Boolean* early_return,
                      fmi3Float64* last_time)
{
    bool is_nth = ++nstep == (int)number;
    if (is_fault("stop") && time + step > number + 1e-9) {
        return fmi3Error;
    }
    if (is_fault("discard") && is_nth) {
        return fmi3Discard;
    }
    *event_needed = *terminate = false;
    *early_return = true;
    *last_time = time;
    if (is_fault("stuck")) {
        return fmi3OK;
    }
    if (is_fault("outside") && is_nth) {
        *last_time = time - step;
        return fmi3OK;
    }
    bool is_half = is_fault("halves") && step > 0.6e-3;
    fmi3Status status = take_step(c, time, is_half ? 0.5 * step : step, no_set_state_before, event_needed, terminate,
                                  early_return, last_time);
    *early_return = *early_return || is_half;
    *terminate = is_fault("end") && is_nth;
    return status;
}
