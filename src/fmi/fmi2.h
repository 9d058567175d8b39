// The C interface of FMI 2.0 (text of the standard: version 2.0.5), in declarations of our own with the names of the standard.
//
// Every function has a function type, fmi2DoStepTYPE. An importer looks the functions up by name and keeps pointers
// (fmi2DoStepTYPE*); an FMU declares them (fmi2DoStepTYPE fmi2DoStep;). FMI2_FUNCTIONS lists all of them for both uses:
//   FMI2_FUNCTIONS(X) expands to X(name, presence) for every function, name without the prefix fmi2, presence one of
//   REQUIRED    every FMU has it
//   OPTIONAL    belongs to a capability; real FMUs leave it out, or have it return an error
//   EXCHANGE    every FMU for model exchange has it
//   COSIM       every FMU for co-simulation has it
// SPDX-License-Identifier: Apache-2.0
#ifndef INTERIM_FMI_FMI2_H
#define INTERIM_FMI_FMI2_H

#include <stddef.h>

// ---------------------------------------------------------------------------- types

typedef void* fmi2Component;             // an instance of the FMU
typedef void* fmi2ComponentEnvironment;  // of the importer, handed back to its call-backs
typedef void* fmi2FMUstate;              // a saved state, owned by the FMU
typedef unsigned int fmi2ValueReference;
typedef double fmi2Real;
typedef int fmi2Integer;
typedef int fmi2Boolean;  // 0 or 1
typedef char fmi2Char;
typedef const fmi2Char* fmi2String;
typedef char fmi2Byte;

enum { fmi2False = 0, fmi2True = 1 };

typedef enum fmi2Status { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending } fmi2Status;
typedef enum fmi2Type { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;
typedef enum fmi2StatusKind {
    fmi2DoStepStatus,
    fmi2PendingStatus,
    fmi2LastSuccessfulTime,
    fmi2Terminated
} fmi2StatusKind;

// ---------------------------------------------------------------------------- call-backs

// The message is a printf format with its arguments; "#r12#" in it names the Real variable with value reference 12.
typedef void fmi2CallbackLogger(fmi2ComponentEnvironment, fmi2String instance, fmi2Status, fmi2String category,
                                fmi2String message, ...);
typedef void* fmi2CallbackAllocateMemory(size_t count, size_t size);  // zeroed
typedef void fmi2CallbackFreeMemory(void* memory);
typedef void fmi2StepFinished(fmi2ComponentEnvironment, fmi2Status);

typedef struct fmi2CallbackFunctions {
    fmi2CallbackLogger* logger;
    fmi2CallbackAllocateMemory* allocateMemory;
    fmi2CallbackFreeMemory* freeMemory;
    fmi2StepFinished* stepFinished;  // NULL: no asynchronous steps
    fmi2ComponentEnvironment componentEnvironment;
} fmi2CallbackFunctions;

typedef struct fmi2EventInfo {
    fmi2Boolean newDiscreteStatesNeeded;
    fmi2Boolean terminateSimulation;
    fmi2Boolean nominalsOfContinuousStatesChanged;
    fmi2Boolean valuesOfContinuousStatesChanged;
    fmi2Boolean nextEventTimeDefined;
    fmi2Real nextEventTime;
} fmi2EventInfo;

// ---------------------------------------------------------------------------- creation, modes

typedef const char* fmi2GetTypesPlatformTYPE(void);  // "default"
typedef const char* fmi2GetVersionTYPE(void);        // "2.0"
typedef fmi2Status fmi2SetDebugLoggingTYPE(fmi2Component, fmi2Boolean on, size_t n, const fmi2String categories[]);
typedef fmi2Component fmi2InstantiateTYPE(fmi2String instance, fmi2Type, fmi2String guid, fmi2String resources,
                                          const fmi2CallbackFunctions*, fmi2Boolean visible, fmi2Boolean logging);
typedef void fmi2FreeInstanceTYPE(fmi2Component);
typedef fmi2Status fmi2SetupExperimentTYPE(fmi2Component, fmi2Boolean has_tolerance, fmi2Real tolerance, fmi2Real start,
                                           fmi2Boolean has_stop, fmi2Real stop);
typedef fmi2Status fmi2EnterInitializationModeTYPE(fmi2Component);
typedef fmi2Status fmi2ExitInitializationModeTYPE(fmi2Component);
typedef fmi2Status fmi2TerminateTYPE(fmi2Component);
typedef fmi2Status fmi2ResetTYPE(fmi2Component);

// ---------------------------------------------------------------------------- variables

typedef fmi2Status fmi2GetRealTYPE(fmi2Component, const fmi2ValueReference[], size_t n, fmi2Real[]);
typedef fmi2Status fmi2GetIntegerTYPE(fmi2Component, const fmi2ValueReference[], size_t n, fmi2Integer[]);
typedef fmi2Status fmi2GetBooleanTYPE(fmi2Component, const fmi2ValueReference[], size_t n, fmi2Boolean[]);
typedef fmi2Status fmi2GetStringTYPE(fmi2Component, const fmi2ValueReference[], size_t n, fmi2String[]);
typedef fmi2Status fmi2SetRealTYPE(fmi2Component, const fmi2ValueReference[], size_t n, const fmi2Real[]);
typedef fmi2Status fmi2SetIntegerTYPE(fmi2Component, const fmi2ValueReference[], size_t n, const fmi2Integer[]);
typedef fmi2Status fmi2SetBooleanTYPE(fmi2Component, const fmi2ValueReference[], size_t n, const fmi2Boolean[]);
typedef fmi2Status fmi2SetStringTYPE(fmi2Component, const fmi2ValueReference[], size_t n, const fmi2String[]);

// ---------------------------------------------------------------------------- state, derivatives

typedef fmi2Status fmi2GetFMUstateTYPE(fmi2Component, fmi2FMUstate*);
typedef fmi2Status fmi2SetFMUstateTYPE(fmi2Component, fmi2FMUstate);
typedef fmi2Status fmi2FreeFMUstateTYPE(fmi2Component, fmi2FMUstate*);
typedef fmi2Status fmi2SerializedFMUstateSizeTYPE(fmi2Component, fmi2FMUstate, size_t* size);
typedef fmi2Status fmi2SerializeFMUstateTYPE(fmi2Component, fmi2FMUstate, fmi2Byte bytes[], size_t size);
typedef fmi2Status fmi2DeSerializeFMUstateTYPE(fmi2Component, const fmi2Byte bytes[], size_t size, fmi2FMUstate*);
// Derivatives of the unknowns along the direction `seed` of the knowns.
typedef fmi2Status fmi2GetDirectionalDerivativeTYPE(fmi2Component, const fmi2ValueReference unknowns[], size_t nunknown,
                                                    const fmi2ValueReference knowns[], size_t nknown,
                                                    const fmi2Real seed[], fmi2Real sensitivity[]);

// ---------------------------------------------------------------------------- model exchange

typedef fmi2Status fmi2EnterEventModeTYPE(fmi2Component);
typedef fmi2Status fmi2NewDiscreteStatesTYPE(fmi2Component, fmi2EventInfo*);
typedef fmi2Status fmi2EnterContinuousTimeModeTYPE(fmi2Component);
typedef fmi2Status fmi2CompletedIntegratorStepTYPE(fmi2Component, fmi2Boolean no_set_state_before,
                                                   fmi2Boolean* enter_event_mode, fmi2Boolean* terminate);
typedef fmi2Status fmi2SetTimeTYPE(fmi2Component, fmi2Real time);
typedef fmi2Status fmi2SetContinuousStatesTYPE(fmi2Component, const fmi2Real x[], size_t nx);
typedef fmi2Status fmi2GetDerivativesTYPE(fmi2Component, fmi2Real dx[], size_t nx);
typedef fmi2Status fmi2GetEventIndicatorsTYPE(fmi2Component, fmi2Real z[], size_t nz);
typedef fmi2Status fmi2GetContinuousStatesTYPE(fmi2Component, fmi2Real x[], size_t nx);
typedef fmi2Status fmi2GetNominalsOfContinuousStatesTYPE(fmi2Component, fmi2Real nominal[], size_t nx);

// ---------------------------------------------------------------------------- co-simulation

typedef fmi2Status fmi2SetRealInputDerivativesTYPE(fmi2Component, const fmi2ValueReference[], size_t n,
                                                   const fmi2Integer order[], const fmi2Real[]);
typedef fmi2Status fmi2GetRealOutputDerivativesTYPE(fmi2Component, const fmi2ValueReference[], size_t n,
                                                    const fmi2Integer order[], fmi2Real[]);
typedef fmi2Status fmi2DoStepTYPE(fmi2Component, fmi2Real time, fmi2Real step, fmi2Boolean no_set_state_before);
typedef fmi2Status fmi2CancelStepTYPE(fmi2Component);
typedef fmi2Status fmi2GetStatusTYPE(fmi2Component, fmi2StatusKind, fmi2Status*);
typedef fmi2Status fmi2GetRealStatusTYPE(fmi2Component, fmi2StatusKind, fmi2Real*);
typedef fmi2Status fmi2GetIntegerStatusTYPE(fmi2Component, fmi2StatusKind, fmi2Integer*);
typedef fmi2Status fmi2GetBooleanStatusTYPE(fmi2Component, fmi2StatusKind, fmi2Boolean*);
typedef fmi2Status fmi2GetStringStatusTYPE(fmi2Component, fmi2StatusKind, fmi2String*);

// ---------------------------------------------------------------------------- all of them

// clang-format off
#define FMI2_FUNCTIONS(X) \
    X(GetTypesPlatform, REQUIRED) X(GetVersion, REQUIRED) X(SetDebugLogging, REQUIRED) X(Instantiate, REQUIRED) \
    X(FreeInstance, REQUIRED) X(SetupExperiment, REQUIRED) X(EnterInitializationMode, REQUIRED) \
    X(ExitInitializationMode, REQUIRED) X(Terminate, REQUIRED) X(Reset, REQUIRED) \
    X(GetReal, REQUIRED) X(GetInteger, REQUIRED) X(GetBoolean, REQUIRED) X(GetString, REQUIRED) \
    X(SetReal, REQUIRED) X(SetInteger, REQUIRED) X(SetBoolean, REQUIRED) X(SetString, REQUIRED) \
    X(GetFMUstate, OPTIONAL) X(SetFMUstate, OPTIONAL) X(FreeFMUstate, OPTIONAL) X(SerializedFMUstateSize, OPTIONAL) \
    X(SerializeFMUstate, OPTIONAL) X(DeSerializeFMUstate, OPTIONAL) X(GetDirectionalDerivative, OPTIONAL) \
    X(EnterEventMode, EXCHANGE) X(NewDiscreteStates, EXCHANGE) X(EnterContinuousTimeMode, EXCHANGE) \
    X(CompletedIntegratorStep, EXCHANGE) X(SetTime, EXCHANGE) X(SetContinuousStates, EXCHANGE) \
    X(GetDerivatives, EXCHANGE) X(GetEventIndicators, EXCHANGE) X(GetContinuousStates, EXCHANGE) \
    X(GetNominalsOfContinuousStates, EXCHANGE) \
    X(SetRealInputDerivatives, OPTIONAL) X(GetRealOutputDerivatives, OPTIONAL) X(DoStep, COSIM) X(CancelStep, OPTIONAL) \
    X(GetStatus, OPTIONAL) X(GetRealStatus, OPTIONAL) X(GetIntegerStatus, OPTIONAL) X(GetBooleanStatus, OPTIONAL) \
    X(GetStringStatus, OPTIONAL)
// clang-format on

#endif
