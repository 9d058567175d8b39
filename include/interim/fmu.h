// FMUs alone (FMI 2.0 and 3.0): describe, check, run, compare with a reference. `interim fmu` is built on it. In a system, an FMU is
// a subsystem of a model file (interim/file.h).
//
// FMUs are not trusted. Opening one reads files only; to check and to run it, a host process loads it, and the FMU ends with it.
//
// Threads: one thread at a time uses an ItmFmu; different FMUs may be used at the same time.
// SPDX-License-Identifier: Apache-2.0
#ifndef INTERIM_FMU_H
#define INTERIM_FMU_H

#include "interim/results.h"

ITM_EXTERN_C_BEGIN

typedef struct ItmFmu ItmFmu;  // an FMU that is open

typedef enum ItmFmuKind {
    ITM_FMU_ANY_KIND = -1,  // co-simulation if the FMU offers it, otherwise model exchange
    ITM_FMU_CO_SIMULATION,
    ITM_FMU_MODEL_EXCHANGE,
} ItmFmuKind;

// ---------------------------------------------------------------------------- description

// Open an FMU: a ZIP file, or a folder with the same content. ITM_ERR_IO: it cannot be read. ITM_ERR_INPUT: it is broken or refused,
// with file, line and column. ITM_ERR_UNSUPPORTED: FMI 1.0, clocks, scheduled execution.
ITM_API ItmStatus itm_fmu_open(ItmFmu** fmu, const char* path, ItmError* error);
// Free an FMU and remove what was unpacked; NULL is allowed.
ITM_API void itm_fmu_close(ItmFmu* fmu);

// Description of an FMU. Texts belong to it, and are "" where there is none.
typedef struct ItmFmuInfo {
    const char* version;                          // of FMI, "3.0"
    const char *model_name, *description, *tool;  //
    const char* token;                            // guid (2.0) or instantiation token (3.0)
    bool has_co_simulation, has_model_exchange;   //
    double start, stop, step, tolerance;          // default experiment, s; NAN: not given
    int nvariable;                                //
    unsigned long long nstate;                    // continuous states
    int nfile;                                    // files of the archive
    unsigned long long size;                      // of the archive, bytes
} ItmFmuInfo;

// A variable of an FMU. Texts belong to the FMU.
typedef struct ItmFmuVariable {
    const char *name, *description;
    const char* type;         // as FMI 3.0 names it, "Float64"
    const char* causality;    // "input", "output", "parameter", ...
    const char* variability;  // "continuous", "discrete", "tunable", "fixed", "constant"
    const char* unit;         // "": none
    unsigned value_reference;
    double start;  // of a number, the first of an array; NAN: none
} ItmFmuVariable;

// Description of an FMU; everything empty for NULL.
ITM_API ItmFmuInfo itm_fmu_get_info(const ItmFmu* fmu);
// A variable, 0 <= index < nvariable; name NULL outside.
ITM_API ItmFmuVariable itm_fmu_get_variable(const ItmFmu* fmu, int index);
// Index of a variable by its name; ITM_NONE if there is none.
ITM_API int itm_fmu_find_variable(const ItmFmu* fmu, const char* name);

typedef enum ItmFmuFormat {
    ITM_FMU_TEXT,             // lines for people
    ITM_FMU_TEXT_AND_LOCALS,  // with local variables
    ITM_FMU_JSON,             // everything, for programs
} ItmFmuFormat;

// Text with all that an FMU declares: kinds, capabilities, variables, platforms, and the libraries that its binary needs. Owned by
// the caller; NULL: out of memory.
ITM_API char* itm_fmu_describe(ItmFmu* fmu, ItmFmuFormat format);

// ---------------------------------------------------------------------------- check

typedef enum ItmFmuLevel {
    ITM_FMU_GOOD,
    ITM_FMU_NOTE,     // allowed, and worth knowing
    ITM_FMU_WARNING,  // breaks a rule of the standard, or a claim does not hold; the FMU can be run
    ITM_FMU_ERROR,    // the FMU cannot be used
    ITM_FMU_SKIPPED,  // nothing to check
    ITM_FMU_LEVEL_COUNT,
} ItmFmuLevel;

// Result of one check. Texts are valid during the call of the handler.
typedef struct ItmFmuFinding {
    ItmFmuLevel level;
    const char* subject;  // "description", "library", "state", ...
    const char* text;     // a sentence
} ItmFmuFinding;

// Receives findings as they come.
typedef void ItmFmuFindingHandler(void* context, const ItmFmuFinding* finding);

// Check an FMU: archive, description against the rules of the standard, libraries and functions of its binary; without an error
// there, run it in processes that are thrown away: determinism, states, input latch, derivatives, effort. counts (ITM_FMU_LEVEL_COUNT):
// number of findings per level, may be NULL. handler may be NULL.
ITM_API ItmStatus itm_fmu_check(ItmFmu* fmu, ItmFmuFindingHandler* handler, void* context, int* counts,
                                ItmError* error);

// ---------------------------------------------------------------------------- run

// What a run does, and where its results go. All values are in the units of the FMU.
typedef struct ItmFmuRunOptions {
    ItmFmuKind kind;                    //
    double start, stop;                 // s; NAN: default experiment of the FMU, otherwise 0, start + 1
    double step;                        // s; NAN: default experiment of the FMU, otherwise 1/500 of the run
    double tolerance;                   // relative, of the integration; 0: that of the FMU
    const char* const* settings;        // start values, "name=value"                                         (nsetting)
    int nsetting;                       //
    const char* const* records;         // patterns of variables to record beside the outputs                 (nrecord)
    int nrecord;                        //
    const ItmTable* input;              // inputs over time: columns by name; NULL: none
    const char* path;                   // result file, see itm_results_create; NULL: none
    bool is_logging;                    // ask the FMU for all its messages
    void* context;                      // first argument of the functions, which may be NULL
    bool (*is_stopped)(void* context);  // asked before every step; true ends the run
    void (*note_messages)(void* context, const char* message);  // messages of the FMU, at the end of the run
} ItmFmuRunOptions;
// Defaults: any kind, the FMU's default experiment, outputs, no files.
ITM_API ItmFmuRunOptions itm_default_fmu_run_options(void);

// Outcome of a run.
typedef struct ItmFmuRunInfo {
    ItmVerdict verdict;  // finished, interrupted or broke down
    ItmFmuKind kind;     // that was run
    double time;         // reached, s
    double step;         // s
    long nstep;          //
    double wall_time;    // s
    ItmError reason;     // why it broke down
} ItmFmuRunInfo;

// Run an FMU alone. options may be NULL. Returns ITM_OK also if the FMU fails while running: read the verdict; its results up to
// there are kept. ITM_ERR_INPUT: bad options; ITM_ERR_UNSUPPORTED, ITM_ERR_IO: it cannot be started, or results cannot be written.
ITM_API ItmStatus itm_fmu_run(ItmFmuRunInfo* info, ItmFmu* fmu, const ItmFmuRunOptions* options, ItmError* error);

// ---------------------------------------------------------------------------- comparison

// An FMU against a reference by the rule of the FMI cross-check: each signal of the reference is matched within 1 % of its range,
// with one sample of shift at events.
typedef struct ItmFmuComparison {
    bool has_passed;
    int nsignal;             // signals of the reference
    int nbad;                // those that are not matched
    const char* worst;       // signal that is farthest off; NULL: none. Belongs to the reference, as does `missing`
    double worst_share;      // its distance, as a share of its range
    double worst_time;       // where, s
    const char* missing;     // signal of the reference that the FMU does not have; NULL: none
    double until;            // end of the run, s
    double reference_until;  // end of the reference, s
    ItmFmuRunInfo run;       // a run that did not finish has not passed, and the rest is 0
} ItmFmuComparison;

// Run an FMU and compare it with a reference; the signals of the reference are recorded too. options may be NULL. Errors as those
// of itm_fmu_run.
ITM_API ItmStatus itm_fmu_compare(ItmFmuComparison* comparison, ItmFmu* fmu, const ItmTable* reference,
                                  const ItmFmuRunOptions* options, ItmError* error);

ITM_EXTERN_C_END

#endif
