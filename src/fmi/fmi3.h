// The C interface of FMI 3.0 (text of the standard: version 3.0.2), in declarations of our own with the names of the standard.
//
// As in fmi2.h every function has a function type, fmi3DoStepTYPE, and FMI3_FUNCTIONS(X) expands to X(name, presence).
// SPDX-License-Identifier: Apache-2.0
#ifndef INTERIM_FMI_FMI3_H
#define INTERIM_FMI_FMI3_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// ---------------------------------------------------------------------------- types

typedef void* fmi3Instance;             // an instance of the FMU
typedef void* fmi3InstanceEnvironment;  // of the importer, handed back to its call-backs
typedef void* fmi3FMUState;             // a saved state, owned by the FMU
typedef uint32_t fmi3ValueReference;
typedef float fmi3Float32;
typedef double fmi3Float64;
typedef int8_t fmi3Int8;
typedef uint8_t fmi3UInt8;
typedef int16_t fmi3Int16;
typedef uint16_t fmi3UInt16;
typedef int32_t fmi3Int32;
typedef uint32_t fmi3UInt32;
typedef int64_t fmi3Int64;
typedef uint64_t fmi3UInt64;
typedef bool fmi3Boolean;
typedef char fmi3Char;
typedef const fmi3Char* fmi3String;
typedef uint8_t fmi3Byte;
typedef const fmi3Byte* fmi3Binary;
typedef bool fmi3Clock;

#define fmi3False false
#define fmi3True true

typedef enum fmi3Status { fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal } fmi3Status;
typedef enum fmi3DependencyKind {
    fmi3Independent,
    fmi3Constant,
    fmi3Fixed,
    fmi3Tunable,
    fmi3Discrete,
    fmi3Dependent
} fmi3DependencyKind;
typedef enum fmi3IntervalQualifier {
    fmi3IntervalNotYetKnown,
    fmi3IntervalUnchanged,
    fmi3IntervalChanged
} fmi3IntervalQualifier;

// ---------------------------------------------------------------------------- call-backs

typedef void fmi3LogMessageCallback(fmi3InstanceEnvironment, fmi3Status, fmi3String category, fmi3String message);
typedef void fmi3ClockUpdateCallback(fmi3InstanceEnvironment);
// Called inside fmi3DoStep at `time`. The importer may read variables where get_allowed and set the intermediate inputs where
// set_requested; where can_return_early it may ask the FMU to return at *early_time.
typedef void fmi3IntermediateUpdateCallback(fmi3InstanceEnvironment, fmi3Float64 time, fmi3Boolean set_requested,
                                            fmi3Boolean get_allowed, fmi3Boolean step_finished,
                                            fmi3Boolean can_return_early, fmi3Boolean* early_return,
                                            fmi3Float64* early_time);
typedef void fmi3LockPreemptionCallback(void);
typedef void fmi3UnlockPreemptionCallback(void);

// ---------------------------------------------------------------------------- creation, modes

typedef const char* fmi3GetVersionTYPE(void);  // "3.0", "3.0.2", "3.0-beta.1"
typedef fmi3Status fmi3SetDebugLoggingTYPE(fmi3Instance, fmi3Boolean on, size_t n, const fmi3String categories[]);
typedef fmi3Instance fmi3InstantiateModelExchangeTYPE(fmi3String instance, fmi3String token, fmi3String resources,
                                                      fmi3Boolean visible, fmi3Boolean logging, fmi3InstanceEnvironment,
                                                      fmi3LogMessageCallback*);
typedef fmi3Instance fmi3InstantiateCoSimulationTYPE(fmi3String instance, fmi3String token, fmi3String resources,
                                                     fmi3Boolean visible, fmi3Boolean logging, fmi3Boolean event_mode,
                                                     fmi3Boolean early_return, const fmi3ValueReference intermediate[],
                                                     size_t nintermediate, fmi3InstanceEnvironment,
                                                     fmi3LogMessageCallback*, fmi3IntermediateUpdateCallback*);
typedef fmi3Instance fmi3InstantiateScheduledExecutionTYPE(fmi3String instance, fmi3String token, fmi3String resources,
                                                           fmi3Boolean visible, fmi3Boolean logging,
                                                           fmi3InstanceEnvironment, fmi3LogMessageCallback*,
                                                           fmi3ClockUpdateCallback*, fmi3LockPreemptionCallback*,
                                                           fmi3UnlockPreemptionCallback*);
typedef void fmi3FreeInstanceTYPE(fmi3Instance);
typedef fmi3Status fmi3EnterInitializationModeTYPE(fmi3Instance, fmi3Boolean has_tolerance, fmi3Float64 tolerance,
                                                   fmi3Float64 start, fmi3Boolean has_stop, fmi3Float64 stop);
typedef fmi3Status fmi3ExitInitializationModeTYPE(fmi3Instance);
typedef fmi3Status fmi3EnterEventModeTYPE(fmi3Instance);
typedef fmi3Status fmi3TerminateTYPE(fmi3Instance);
typedef fmi3Status fmi3ResetTYPE(fmi3Instance);
typedef fmi3Status fmi3EnterConfigurationModeTYPE(fmi3Instance);
typedef fmi3Status fmi3ExitConfigurationModeTYPE(fmi3Instance);

// ---------------------------------------------------------------------------- variables

// n references, nvalue values: an array has one reference and a value for every element, row-major.
#define FMI3_ACCESS(Name, type)                                                                                        \
    typedef fmi3Status fmi3Get##Name##TYPE(fmi3Instance, const fmi3ValueReference[], size_t n, type[], size_t nvalue); \
    typedef fmi3Status fmi3Set##Name##TYPE(fmi3Instance, const fmi3ValueReference[], size_t n, const type[],           \
                                           size_t nvalue);
FMI3_ACCESS(Float32, fmi3Float32)
FMI3_ACCESS(Float64, fmi3Float64)
FMI3_ACCESS(Int8, fmi3Int8)
FMI3_ACCESS(UInt8, fmi3UInt8)
FMI3_ACCESS(Int16, fmi3Int16)
FMI3_ACCESS(UInt16, fmi3UInt16)
FMI3_ACCESS(Int32, fmi3Int32)
FMI3_ACCESS(UInt32, fmi3UInt32)
FMI3_ACCESS(Int64, fmi3Int64)
FMI3_ACCESS(UInt64, fmi3UInt64)
FMI3_ACCESS(Boolean, fmi3Boolean)
FMI3_ACCESS(String, fmi3String)
#undef FMI3_ACCESS
typedef fmi3Status fmi3GetBinaryTYPE(fmi3Instance, const fmi3ValueReference[], size_t n, size_t sizes[], fmi3Binary[],
                                     size_t nvalue);
typedef fmi3Status fmi3SetBinaryTYPE(fmi3Instance, const fmi3ValueReference[], size_t n, const size_t sizes[],
                                     const fmi3Binary[], size_t nvalue);
typedef fmi3Status fmi3GetClockTYPE(fmi3Instance, const fmi3ValueReference[], size_t n, fmi3Clock[]);
typedef fmi3Status fmi3SetClockTYPE(fmi3Instance, const fmi3ValueReference[], size_t n, const fmi3Clock[]);
typedef fmi3Status fmi3GetNumberOfVariableDependenciesTYPE(fmi3Instance, fmi3ValueReference, size_t* n);
typedef fmi3Status fmi3GetVariableDependenciesTYPE(fmi3Instance, fmi3ValueReference dependent,
                                                   size_t element_of_dependent[], fmi3ValueReference independents[],
                                                   size_t element_of_independent[], fmi3DependencyKind[], size_t n);

// ---------------------------------------------------------------------------- state, derivatives

typedef fmi3Status fmi3GetFMUStateTYPE(fmi3Instance, fmi3FMUState*);
typedef fmi3Status fmi3SetFMUStateTYPE(fmi3Instance, fmi3FMUState);
typedef fmi3Status fmi3FreeFMUStateTYPE(fmi3Instance, fmi3FMUState*);
typedef fmi3Status fmi3SerializedFMUStateSizeTYPE(fmi3Instance, fmi3FMUState, size_t* size);
typedef fmi3Status fmi3SerializeFMUStateTYPE(fmi3Instance, fmi3FMUState, fmi3Byte bytes[], size_t size);
typedef fmi3Status fmi3DeserializeFMUStateTYPE(fmi3Instance, const fmi3Byte bytes[], size_t size, fmi3FMUState*);
// Derivatives of the unknowns along the direction `seed` of the knowns; adjoint: of the knowns for weights of the unknowns.
typedef fmi3Status fmi3GetDirectionalDerivativeTYPE(fmi3Instance, const fmi3ValueReference unknowns[], size_t nunknown,
                                                    const fmi3ValueReference knowns[], size_t nknown,
                                                    const fmi3Float64 seed[], size_t nseed, fmi3Float64 sensitivity[],
                                                    size_t nsensitivity);
typedef fmi3Status fmi3GetAdjointDerivativeTYPE(fmi3Instance, const fmi3ValueReference unknowns[], size_t nunknown,
                                                const fmi3ValueReference knowns[], size_t nknown,
                                                const fmi3Float64 seed[], size_t nseed, fmi3Float64 sensitivity[],
                                                size_t nsensitivity);

// ---------------------------------------------------------------------------- events, clocks

typedef fmi3Status fmi3UpdateDiscreteStatesTYPE(fmi3Instance, fmi3Boolean* needs_update, fmi3Boolean* terminate,
                                                fmi3Boolean* nominals_changed, fmi3Boolean* states_changed,
                                                fmi3Boolean* has_next_event, fmi3Float64* next_event);
typedef fmi3Status fmi3EvaluateDiscreteStatesTYPE(fmi3Instance);
typedef fmi3Status fmi3GetIntervalDecimalTYPE(fmi3Instance, const fmi3ValueReference[], size_t n,
                                              fmi3Float64 intervals[], fmi3IntervalQualifier[]);
typedef fmi3Status fmi3GetIntervalFractionTYPE(fmi3Instance, const fmi3ValueReference[], size_t n,
                                               fmi3UInt64 counters[], fmi3UInt64 resolutions[],
                                               fmi3IntervalQualifier[]);
typedef fmi3Status fmi3GetShiftDecimalTYPE(fmi3Instance, const fmi3ValueReference[], size_t n, fmi3Float64 shifts[]);
typedef fmi3Status fmi3GetShiftFractionTYPE(fmi3Instance, const fmi3ValueReference[], size_t n, fmi3UInt64 counters[],
                                            fmi3UInt64 resolutions[]);
typedef fmi3Status fmi3SetIntervalDecimalTYPE(fmi3Instance, const fmi3ValueReference[], size_t n,
                                              const fmi3Float64 intervals[]);
typedef fmi3Status fmi3SetIntervalFractionTYPE(fmi3Instance, const fmi3ValueReference[], size_t n,
                                               const fmi3UInt64 counters[], const fmi3UInt64 resolutions[]);
typedef fmi3Status fmi3SetShiftDecimalTYPE(fmi3Instance, const fmi3ValueReference[], size_t n,
                                           const fmi3Float64 shifts[]);
typedef fmi3Status fmi3SetShiftFractionTYPE(fmi3Instance, const fmi3ValueReference[], size_t n,
                                            const fmi3UInt64 counters[], const fmi3UInt64 resolutions[]);
typedef fmi3Status fmi3ActivateModelPartitionTYPE(fmi3Instance, fmi3ValueReference clock, fmi3Float64 time);

// ---------------------------------------------------------------------------- model exchange

typedef fmi3Status fmi3EnterContinuousTimeModeTYPE(fmi3Instance);
typedef fmi3Status fmi3CompletedIntegratorStepTYPE(fmi3Instance, fmi3Boolean no_set_state_before,
                                                   fmi3Boolean* enter_event_mode, fmi3Boolean* terminate);
typedef fmi3Status fmi3SetTimeTYPE(fmi3Instance, fmi3Float64 time);
typedef fmi3Status fmi3SetContinuousStatesTYPE(fmi3Instance, const fmi3Float64 x[], size_t nx);
typedef fmi3Status fmi3GetContinuousStateDerivativesTYPE(fmi3Instance, fmi3Float64 dx[], size_t nx);
typedef fmi3Status fmi3GetEventIndicatorsTYPE(fmi3Instance, fmi3Float64 z[], size_t nz);
typedef fmi3Status fmi3GetContinuousStatesTYPE(fmi3Instance, fmi3Float64 x[], size_t nx);
typedef fmi3Status fmi3GetNominalsOfContinuousStatesTYPE(fmi3Instance, fmi3Float64 nominal[], size_t nx);
typedef fmi3Status fmi3GetNumberOfEventIndicatorsTYPE(fmi3Instance, size_t* nz);
typedef fmi3Status fmi3GetNumberOfContinuousStatesTYPE(fmi3Instance, size_t* nx);

// ---------------------------------------------------------------------------- co-simulation

typedef fmi3Status fmi3EnterStepModeTYPE(fmi3Instance);
typedef fmi3Status fmi3GetOutputDerivativesTYPE(fmi3Instance, const fmi3ValueReference[], size_t n,
                                                const fmi3Int32 orders[], fmi3Float64[], size_t nvalue);
typedef fmi3Status fmi3DoStepTYPE(fmi3Instance, fmi3Float64 time, fmi3Float64 step, fmi3Boolean no_set_state_before,
                                  fmi3Boolean* event_needed, fmi3Boolean* terminate, fmi3Boolean* early_return,
                                  fmi3Float64* last_time);

// ---------------------------------------------------------------------------- all of them

// clang-format off
#define FMI3_FUNCTIONS(X) \
    X(GetVersion, REQUIRED) X(SetDebugLogging, REQUIRED) X(InstantiateModelExchange, EXCHANGE) \
    X(InstantiateCoSimulation, COSIM) X(InstantiateScheduledExecution, OPTIONAL) X(FreeInstance, REQUIRED) \
    X(EnterInitializationMode, REQUIRED) X(ExitInitializationMode, REQUIRED) X(EnterEventMode, OPTIONAL) \
    X(Terminate, REQUIRED) X(Reset, REQUIRED) \
    X(GetFloat32, OPTIONAL) X(GetFloat64, REQUIRED) X(GetInt8, OPTIONAL) X(GetUInt8, OPTIONAL) X(GetInt16, OPTIONAL) \
    X(GetUInt16, OPTIONAL) X(GetInt32, OPTIONAL) X(GetUInt32, OPTIONAL) X(GetInt64, OPTIONAL) X(GetUInt64, OPTIONAL) \
    X(GetBoolean, OPTIONAL) X(GetString, OPTIONAL) X(GetBinary, OPTIONAL) X(GetClock, OPTIONAL) \
    X(SetFloat32, OPTIONAL) X(SetFloat64, REQUIRED) X(SetInt8, OPTIONAL) X(SetUInt8, OPTIONAL) X(SetInt16, OPTIONAL) \
    X(SetUInt16, OPTIONAL) X(SetInt32, OPTIONAL) X(SetUInt32, OPTIONAL) X(SetInt64, OPTIONAL) X(SetUInt64, OPTIONAL) \
    X(SetBoolean, OPTIONAL) X(SetString, OPTIONAL) X(SetBinary, OPTIONAL) X(SetClock, OPTIONAL) \
    X(GetNumberOfVariableDependencies, OPTIONAL) X(GetVariableDependencies, OPTIONAL) \
    X(GetFMUState, OPTIONAL) X(SetFMUState, OPTIONAL) X(FreeFMUState, OPTIONAL) X(SerializedFMUStateSize, OPTIONAL) \
    X(SerializeFMUState, OPTIONAL) X(DeserializeFMUState, OPTIONAL) X(GetDirectionalDerivative, OPTIONAL) \
    X(GetAdjointDerivative, OPTIONAL) X(EnterConfigurationMode, OPTIONAL) X(ExitConfigurationMode, OPTIONAL) \
    X(GetIntervalDecimal, OPTIONAL) X(GetIntervalFraction, OPTIONAL) X(GetShiftDecimal, OPTIONAL) \
    X(GetShiftFraction, OPTIONAL) X(SetIntervalDecimal, OPTIONAL) X(SetIntervalFraction, OPTIONAL) \
    X(SetShiftDecimal, OPTIONAL) X(SetShiftFraction, OPTIONAL) X(EvaluateDiscreteStates, OPTIONAL) \
    X(UpdateDiscreteStates, OPTIONAL) X(EnterContinuousTimeMode, EXCHANGE) X(CompletedIntegratorStep, EXCHANGE) \
    X(SetTime, EXCHANGE) X(SetContinuousStates, EXCHANGE) X(GetContinuousStateDerivatives, EXCHANGE) \
    X(GetEventIndicators, EXCHANGE) X(GetContinuousStates, EXCHANGE) X(GetNominalsOfContinuousStates, EXCHANGE) \
    X(GetNumberOfEventIndicators, EXCHANGE) X(GetNumberOfContinuousStates, EXCHANGE) \
    X(EnterStepMode, OPTIONAL) X(GetOutputDerivatives, OPTIONAL) X(DoStep, COSIM) X(ActivateModelPartition, OPTIONAL)
// clang-format on

#endif
