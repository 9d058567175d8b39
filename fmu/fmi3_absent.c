// Functions of FMI 3.0 that belong to what an exported FMU does not offer: clocks, model exchange, adjoint derivatives. The standard
// requires that every function is there.
#include "fmi/fmi3.h"

#include "refuse.h"

#define EXPORT __attribute__((visibility("default")))
#define DECLARE(name, presence) EXPORT fmi3##name##TYPE fmi3##name;
FMI3_FUNCTIONS(DECLARE)

#define ABSENT(Name, arguments)                                                                                        \
    fmi3Status fmi3##Name arguments                                                                                    \
    {                                                                                                                  \
        return fmi3_refuse(c, "fmi3" #Name " is not offered by this FMU");                                             \
    }
#define REFS const fmi3ValueReference refs[], size_t n
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
ABSENT(GetClock, (fmi3Instance c, REFS, fmi3Clock values[]))
ABSENT(SetClock, (fmi3Instance c, REFS, const fmi3Clock values[]))
ABSENT(GetNumberOfVariableDependencies, (fmi3Instance c, fmi3ValueReference ref, size_t* n))
ABSENT(GetVariableDependencies, (fmi3Instance c, fmi3ValueReference ref, size_t e[], fmi3ValueReference i[], size_t f[],
                                 fmi3DependencyKind kinds[], size_t n))
ABSENT(GetAdjointDerivative, (fmi3Instance c, REFS, const fmi3ValueReference knowns[], size_t nk,
                              const fmi3Float64 seed[], size_t ns, fmi3Float64 s[], size_t nu))
ABSENT(GetIntervalDecimal, (fmi3Instance c, REFS, fmi3Float64 v[], fmi3IntervalQualifier q[]))
ABSENT(GetIntervalFraction, (fmi3Instance c, REFS, fmi3UInt64 v[], fmi3UInt64 w[], fmi3IntervalQualifier q[]))
ABSENT(GetShiftDecimal, (fmi3Instance c, REFS, fmi3Float64 v[]))
ABSENT(GetShiftFraction, (fmi3Instance c, REFS, fmi3UInt64 v[], fmi3UInt64 w[]))
ABSENT(SetIntervalDecimal, (fmi3Instance c, REFS, const fmi3Float64 v[]))
ABSENT(SetIntervalFraction, (fmi3Instance c, REFS, const fmi3UInt64 v[], const fmi3UInt64 w[]))
ABSENT(SetShiftDecimal, (fmi3Instance c, REFS, const fmi3Float64 v[]))
ABSENT(SetShiftFraction, (fmi3Instance c, REFS, const fmi3UInt64 v[], const fmi3UInt64 w[]))
ABSENT(GetOutputDerivatives, (fmi3Instance c, REFS, const fmi3Int32 orders[], fmi3Float64 v[], size_t nvalue))
ABSENT(ActivateModelPartition, (fmi3Instance c, fmi3ValueReference clock, fmi3Float64 time))
ABSENT(EvaluateDiscreteStates, (fmi3Instance c))
ABSENT(EnterContinuousTimeMode, (fmi3Instance c))
ABSENT(CompletedIntegratorStep, (fmi3Instance c, fmi3Boolean no_set_state, fmi3Boolean* event, fmi3Boolean* end))
ABSENT(SetTime, (fmi3Instance c, fmi3Float64 time))
ABSENT(SetContinuousStates, (fmi3Instance c, const fmi3Float64 x[], size_t nx))
ABSENT(GetContinuousStates, (fmi3Instance c, fmi3Float64 x[], size_t nx))
ABSENT(GetContinuousStateDerivatives, (fmi3Instance c, fmi3Float64 dx[], size_t nx))
ABSENT(GetNominalsOfContinuousStates, (fmi3Instance c, fmi3Float64 nominal[], size_t nx))
ABSENT(GetNumberOfContinuousStates, (fmi3Instance c, size_t* nx))
ABSENT(GetEventIndicators, (fmi3Instance c, fmi3Float64 z[], size_t nz))
ABSENT(GetNumberOfEventIndicators, (fmi3Instance c, size_t* nz))
#pragma GCC diagnostic pop
