// Description of an FMU: modelDescription.xml of FMI 2.0 and 3.0, and the files beside it.
//
// The file is not trusted. What cannot be read is an error with file, line and column; what can be read but breaks a rule
// of the standard is a finding of itm_description_check. FMI 1.0, clocks and scheduled execution are refused.
#ifndef ITM_FMI_DESCRIPTION_H
#define ITM_FMI_DESCRIPTION_H

#include "base/owned.h"
#include "fmi/archive.h"
#include "interim/base.h"
#include "signal/quantity.h"

#include <stdint.h>

// ---------------------------------------------------------------------------- variables

// Types of FMI 3.0. FMI 2.0 has Real (FLOAT64), Integer (INT32), Boolean, String and Enumeration.
typedef enum ItmFmiType {
    ITM_FMI_FLOAT64,
    ITM_FMI_FLOAT32,
    ITM_FMI_INT8,
    ITM_FMI_UINT8,
    ITM_FMI_INT16,
    ITM_FMI_UINT16,
    ITM_FMI_INT32,
    ITM_FMI_UINT32,
    ITM_FMI_INT64,
    ITM_FMI_UINT64,
    ITM_FMI_BOOLEAN,
    ITM_FMI_STRING,
    ITM_FMI_BINARY,
    ITM_FMI_ENUMERATION,
    ITM_FMI_TYPE_COUNT
} ItmFmiType;

typedef enum ItmFmiCausality {
    ITM_FMI_PARAMETER,
    ITM_FMI_CALCULATED_PARAMETER,
    ITM_FMI_INPUT,
    ITM_FMI_OUTPUT,
    ITM_FMI_LOCAL,
    ITM_FMI_INDEPENDENT,
    ITM_FMI_STRUCTURAL_PARAMETER,
    ITM_FMI_CAUSALITY_COUNT
} ItmFmiCausality;

typedef enum ItmFmiVariability {
    ITM_FMI_CONSTANT,
    ITM_FMI_FIXED,
    ITM_FMI_TUNABLE,
    ITM_FMI_DISCRETE,
    ITM_FMI_CONTINUOUS,
    ITM_FMI_VARIABILITY_COUNT
} ItmFmiVariability;

typedef enum ItmFmiInitial {
    ITM_FMI_INITIAL_NONE,  // inputs and the independent variable have none
    ITM_FMI_EXACT,
    ITM_FMI_APPROX,
    ITM_FMI_CALCULATED,
    ITM_FMI_INITIAL_COUNT
} ItmFmiInitial;

// One dimension of an array (FMI 3.0).
typedef struct ItmFmiDimension {
    uint64_t size;  // elements; of a structural parameter: its start value
    int variable;   // the structural parameter that sets it, or ITM_NONE: it is fixed
} ItmFmiDimension;

typedef struct ItmFmiVariable {
    const char* name;
    const char* description;  // "" if none
    uint32_t value_reference;
    ItmFmiType type;
    ItmFmiCausality causality;
    ItmFmiVariability variability;  // with the defaults of the standard
    ItmFmiInitial initial;          // with the defaults of the standard

    const ItmFmiDimension* dimensions;  // (ndimension); 0: a scalar
    int ndimension;
    uint64_t count;  // elements, with the start values of structural parameters; 1 for a scalar

    // Start values: none, one, or one per element, row-major. One start value for an array is one for all elements.
    int nstart;
    const double* start;  // numbers; Booleans 0 or 1; enumerations their value; NULL for strings and binaries (nstart)
    const int64_t*
        start_integer;  // the same, exact, where the type is an integer; NULL otherwise (nstart); UINT64 as its bits
    const char* const* start_texts;  // strings; binaries as hexadecimal digits; NULL otherwise (nstart)
    const char* start_text;          // as it is in the file, or NULL

    const char* unit;          // of the variable or its type; NULL: none
    int unit_id;               // index into units, or ITM_NONE
    const char* display_unit;  // or NULL
    int type_id;               // declared type, index into types, or ITM_NONE
    const char* mime_type;     // binary; NULL otherwise
    double min, max;           // NaN: none; of the variable or its type
    double nominal;            // 1 if not given
    bool is_relative;          // the offset of its unit does not apply

    int derivative_of;          // it is the derivative of this variable, or ITM_NONE
    int alias_of;               // the first variable with the same value reference and kind of type, or ITM_NONE
    bool can_be_reinitialised;  // a state that an event may set (reinit)
    bool can_be_set_often;      // canHandleMultipleSetPerTimeInstant; true if not given
    bool has_intermediate_update;
    int line, column;  // in modelDescription.xml
} ItmFmiVariable;

// ---------------------------------------------------------------------------- units and types

// An exponent each of kg, m, s, A, K, mol, cd, rad; value in SI base units = factor * value + offset.
enum {
    ITM_FMI_BASE_KG,
    ITM_FMI_BASE_M,
    ITM_FMI_BASE_S,
    ITM_FMI_BASE_A,
    ITM_FMI_BASE_K,
    ITM_FMI_BASE_MOL,
    ITM_FMI_BASE_CD,
    ITM_FMI_BASE_RAD,
    ITM_FMI_BASE_COUNT
};

// value in this unit = factor * value in its Unit + offset; the inverse of it: 1 / value (FMI 3.0).
typedef struct ItmFmiDisplayUnit {
    const char* name;
    double factor, offset;
    bool is_inverse;
} ItmFmiDisplayUnit;

typedef struct ItmFmiUnit {
    const char* name;
    bool has_base;  // the file gives exponents; false: only the name is known
    int e[ITM_FMI_BASE_COUNT];
    double factor, offset;
    const ItmFmiDisplayUnit* display_units;  // (ndisplay_unit)
    int ndisplay_unit;
    int line;
} ItmFmiUnit;

typedef struct ItmFmiItem {
    const char* name;
    int64_t value;
    const char* description;
} ItmFmiItem;

typedef struct ItmFmiTypeDefinition {
    const char* name;
    const char* description;
    ItmFmiType type;
    const char *quantity, *unit, *display_unit;  // or NULL
    double min, max, nominal;                    // NaN: none
    bool is_relative, is_unbounded;
    const char* mime_type;
    const ItmFmiItem* items;  // enumeration (nitem)
    int nitem;
    int line;
} ItmFmiTypeDefinition;

// ---------------------------------------------------------------------------- structure

typedef enum ItmFmiDependencyKind {
    ITM_FMI_DEPENDENT,
    ITM_FMI_DEPENDENCY_CONSTANT,
    ITM_FMI_DEPENDENCY_FIXED,
    ITM_FMI_DEPENDENCY_TUNABLE,
    ITM_FMI_DEPENDENCY_DISCRETE,
} ItmFmiDependencyKind;

typedef struct ItmFmiUnknown {
    int variable;
    int ndependency;          // ITM_NONE: not given, so it may depend on everything
    const int* dependencies;  // variables (ndependency)
    const ItmFmiDependencyKind* kinds;
    int line;
} ItmFmiUnknown;

typedef struct ItmFmiUnknowns {
    const ItmFmiUnknown* items;
    int count;
} ItmFmiUnknowns;

// ---------------------------------------------------------------------------- kinds

enum { ITM_FMI_CO_SIMULATION, ITM_FMI_MODEL_EXCHANGE, ITM_FMI_KIND_COUNT };

// What the FMU claims of one kind. Claims are tested before they are relied on.
typedef struct ItmFmiKind {
    bool is_present;
    const char* model_identifier;  // name of the binary without ending
    bool needs_execution_tool;
    bool once_per_process;  // canBeInstantiatedOnlyOncePerProcess
    bool can_get_set_state;
    bool can_serialize_state;
    bool has_directional_derivatives;
    bool has_adjoint_derivatives;
    bool no_memory_functions;  // canNotUseMemoryManagementFunctions (2.0)
    // co-simulation
    bool can_handle_variable_step;
    double fixed_step;            // fixedInternalStepSize, s; 0: not given
    bool can_interpolate_inputs;  // 2.0
    bool can_run_asynchronously;  // 2.0
    int max_output_derivative_order;
    int input_smoothness;  // recommendedIntermediateInputSmoothness
    bool has_event_mode, can_return_early, has_intermediate_update;
    // model exchange
    bool needs_completed_step;  // fmi?CompletedIntegratorStep must be called
    bool has_evaluate_discrete_states;
    const char* const* source_files;  // (nsource_file); 2.0 only, 3.0 has sources/buildDescription.xml
    int nsource_file;
} ItmFmiKind;

// ---------------------------------------------------------------------------- files beside it

// A folder below binaries/.
typedef struct ItmFmiPlatform {
    const char* name;     // "linux64", "x86_64-linux"
    const char* tuple;    // as FMI 3.0 names it, "x86_64-linux"; NULL if unknown
    bool is_ours;         // this machine can load it
    const char* library;  // file of the model in the archive, or NULL if there is none that fits a model identifier
} ItmFmiPlatform;

typedef struct ItmFmiMember {
    const char *variable, *member, *kind;
    int variable_id;  // or ITM_NONE: the description has no such variable
} ItmFmiMember;

typedef struct ItmFmiTerminal {
    const char* name;  // with the names of the terminals around it: "boom.flange"
    const char *matching_rule, *kind, *description;
    const ItmFmiMember* members;  // (nmember)
    int nmember;
    int parent;  // terminal around it, or ITM_NONE
} ItmFmiTerminal;

// extra/<folder>/fmi-ls-manifest.xml
typedef struct ItmFmiLayer {
    const char *folder, *name, *version, *description;
} ItmFmiLayer;

// ---------------------------------------------------------------------------- description

typedef struct ItmFmiCategory {
    const char *name, *description;
} ItmFmiCategory;

typedef struct ItmFmiDescription {
    const char* file;  // for messages: "model.fmu!modelDescription.xml"
    int major, minor;  // version of FMI
    const char* version;
    const char* model_name;
    const char* token;  // guid (2.0) or instantiationToken (3.0)
    const char *description, *author, *model_version, *copyright, *license, *tool, *date;  // "" if none
    const char* naming;                                                                    // "flat" or "structured"
    int nevent_indicator;
    ItmFmiKind kinds[ITM_FMI_KIND_COUNT];

    // default experiment, s; NaN: not given
    double start_time, stop_time, tolerance, step_size;

    const ItmFmiCategory* categories;  // of the log (ncategory)
    int ncategory;
    const ItmFmiUnit* units;  // (nunit)
    int nunit;
    const ItmFmiTypeDefinition* types;  // (ntype)
    int ntype;
    const ItmFmiVariable* variables;  // (nvariable); of FMI 3.0 aliases are variables at the end
    int nvariable;

    ItmFmiUnknowns outputs, derivatives, discrete_states, initial_unknowns, event_indicators;

    // from the archive; empty where only the XML was read
    const ItmFmiPlatform* platforms;  // (nplatform)
    int nplatform;
    int nsource;                      // files below sources/
    const ItmFmiTerminal* terminals;  // (nterminal)
    int nterminal;
    const ItmFmiLayer* layers;  // layered standards (nlayer)
    int nlayer;

    struct ItmFmiReading* reading;  // private: memory, table of names, findings made while reading
} ItmFmiDescription;

// Read the description of an FMU with the files beside it. ITM_ERR_INPUT with file, line, column; ITM_ERR_UNSUPPORTED for
// FMI 1.0, clocks and scheduled execution.
ItmStatus itm_description_read(ItmFmiDescription** description, ItmArchive* archive, ItmError* error);
// Only the XML, from memory. file: for messages.
ItmStatus itm_description_parse(ItmFmiDescription** description, const char* xml, size_t length, const char* file,
                                ItmError* error);
void itm_description_destroy(ItmFmiDescription* description);

// Index of a variable by its name, or ITM_NONE.
int itm_description_find(const ItmFmiDescription* description, const char* name);
// The name nearest to what was typed, or NULL.
const char* itm_description_suggest(const ItmFmiDescription* description, const char* name);
// Number of continuous states (elements of arrays counted one by one).
uint64_t itm_description_count_states(const ItmFmiDescription* description);
// The file of the library in the archive for this machine, or NULL; kind: ITM_FMI_CO_SIMULATION or _MODEL_EXCHANGE.
const char* itm_description_get_library(const ItmFmiDescription* description, const ItmArchive* archive, int kind);

const char* itm_description_get_type_name(ItmFmiType type);  // "Float64"
const char* itm_description_get_causality_name(ItmFmiCausality causality);
const char* itm_description_get_variability_name(ItmFmiVariability variability);
const char* itm_description_get_initial_name(ItmFmiInitial initial);  // "exact"; "" for none

// ---------------------------------------------------------------------------- rules of the standard

typedef enum ItmFmiSeverity {
    ITM_FMI_NOTE,     // allowed, and worth knowing
    ITM_FMI_WARNING,  // breaks a rule or an expectation; the FMU can be run
    ITM_FMI_ERROR,    // breaks a rule so that the FMU cannot be relied on
} ItmFmiSeverity;

typedef struct ItmFmiFinding {
    ItmFmiSeverity severity;
    int line, column;  // in modelDescription.xml; 0: not about a line
    const char* rule;  // short name: "unique names"
    const char* text;  // sentence
} ItmFmiFinding;

typedef struct ItmFmiFindings {
    ItmFmiFinding* items;
    int count, capacity;
    int nerror, nwarning;
    int nleft_out;   // past the most that are kept of one rule
    ItmOwned owned;  // the texts
} ItmFmiFindings;

// Check the description against the rules of the standard. *findings is to be freed.
ItmStatus itm_description_check(ItmFmiFindings* findings, const ItmFmiDescription* description, ItmError* error);
void itm_description_free_findings(ItmFmiFindings* findings);

// ---------------------------------------------------------------------------- units

// Our dimension and conversion of a variable: value in SI = factor * value + offset. ITM_OK, with *is_known false where the
// file gives no unit or only an unknown name. ITM_ERR_INPUT where the unit has moles or candelas, which we do
// not have. error may be NULL.
typedef struct ItmFmiConversion {
    bool is_known;
    ItmDimension dimension;
    double factor, offset;
} ItmFmiConversion;

ItmStatus itm_description_convert_unit(ItmFmiConversion* conversion, const ItmFmiDescription* description, int variable,
                                       ItmError* error);
// The same of a unit by its name, "N.m/s2" or "kg/(m s)"; false and *conversion as it was if it is none that we know.
bool itm_description_parse_unit(ItmFmiConversion* conversion, const char* name);
// Whether a variable may be connected with a quantity of this dimension; the sentence of the error names both units. A
// variable without a known unit fits everything.
ItmStatus itm_description_check_dimension(const ItmFmiDescription* description, int variable, ItmDimension dimension,
                                          ItmError* error);

#endif
