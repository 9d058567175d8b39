// A study: the content of its file, the design drawn from it, and the outcomes of its runs.
#ifndef ITM_STUDY_STUDY_H
#define ITM_STUDY_STUDY_H

#include "base/owned.h"
#include "interim/report.h"
#include "interim/study.h"
#include "io/document.h"
#include "signal/program.h"
#include "signal/quantity.h"

// ---------------------------------------------------------------------------- factors

typedef enum ItmDistribution {
    ITM_DISTRIBUTION_UNIFORM,     // low, high
    ITM_DISTRIBUTION_NORMAL,      // mean, deviation, cut off at low and high
    ITM_DISTRIBUTION_TRIANGULAR,  // low, mode, high
    ITM_DISTRIBUTION_CHOICE,      // one of the values, by weights
    ITM_DISTRIBUTION_TABLE,       // measured values: between the sorted ones straight lines
    ITM_DISTRIBUTION_COUNT
} ItmDistribution;

typedef struct ItmStudyFactor {
    const char* name;  // column of tables
    const char* key;   // of the model file
    ItmDistribution distribution;
    double low, high;        // uniform, triangular; normal: -INFINITY, INFINITY where it is not cut off
    double mean, deviation;  // normal
    double mode;             // triangular
    double nominal;          // one-at-a-time: value, or number of the choice; NAN: the median, or the first choice
    const char** texts;      // choice: as they are set in the model                                   (nvalue)
    double* numbers;         // choice: SI value, NAN: a word; table: ascending                        (nvalue)
    double* shares;          // choice: sums of the weights up to this value, the last one is 1        (nvalue)
    int nvalue;
    int nlevel;        // grid, one-at-a-time: number of values; 0: that of the design
    char unit[48];     // SI unit of numbers, as model files have it; "": a bare number
    int line, column;  // in the study file
} ItmStudyFactor;

// distribution.c: value at a share 0 < u < 1 of the distribution: SI, or the number of a choice.
double itm_distribution_get_quantile(const ItmStudyFactor* factor, double u);
// Level i of n, from the lowest to the highest: of a bounded distribution with both ends, otherwise at the middle of n equal shares.
double itm_distribution_get_level(const ItmStudyFactor* factor, int i, int n);
// Levels in a grid where n are asked for: all values of a choice or a table.
int itm_distribution_count_levels(const ItmStudyFactor* factor, int n);
// Standard normal distribution function and its inverse (0 < p < 1).
double itm_distribution_normal(double x);
double itm_distribution_inverse_normal(double p);

// values.c: make a choice of "a,b,c", where an item may be a range "first:last:count[log]".
ItmStatus itm_values_read(ItmStudy* study, ItmStudyFactor* factor, const char* text, ItmError* error);
// Make a choice of texts (count); weights may be NULL.
ItmStatus itm_values_set(ItmStudy* study, ItmStudyFactor* factor, const char* const* texts, int count,
                         const double* weights, ItmError* error);

// ---------------------------------------------------------------------------- design

typedef enum ItmDesignType {
    ITM_DESIGN_GRID,
    ITM_DESIGN_LATIN_HYPERCUBE,
    ITM_DESIGN_SOBOL,
    ITM_DESIGN_SOBOL_INDICES,  // two samples and mixtures of their columns: nsample (nfactor + 2) runs
    ITM_DESIGN_ONE_AT_A_TIME,
    ITM_DESIGN_MONTE_CARLO,
    ITM_DESIGN_COUNT
} ItmDesignType;

typedef struct ItmStudyDesign {
    ItmDesignType type;
    int nsample;
    int nlevel;
    int seed;
} ItmStudyDesign;

const char* itm_design_type_name(ItmDesignType type);
// Number of runs; ITM_STUDY_MOST_RUNS + 1 stands for any larger number.
int itm_design_count(const ItmStudy* study);
// Fill study->points (nrun x nfactor). ITM_ERR_INPUT: more factors than the sequence has dimensions.
ItmStatus itm_design_draw(ItmStudy* study, ItmError* error);

// ---------------------------------------------------------------------------- responses

typedef enum ItmStatistic {
    ITM_STATISTIC_FINAL,
    ITM_STATISTIC_MIN,
    ITM_STATISTIC_MAX,
    ITM_STATISTIC_MEAN,
    ITM_STATISTIC_STD,
    ITM_STATISTIC_RMS,
    ITM_STATISTIC_PEAK,            // value of the largest magnitude
    ITM_STATISTIC_CROSSING,        // time of the first crossing of `level`
    ITM_STATISTIC_EVENTS,          // number of crossings of `level`
    ITM_STATISTIC_RMS_DIFFERENCE,  // from the reference
    ITM_STATISTIC_MAX_DIFFERENCE,
    ITM_STATISTIC_COUNT
} ItmStatistic;

typedef struct ItmStudyResponse {
    const char* name;
    const char* group;  // name without the statistic, of itm_study_add_signals; otherwise NULL
    ItmStatistic statistic;
    const char* expression;
    double from, to;  // window of time, s
    double level;     // crossing, events; SI
    double band;      // a crossing counts once the signal is this far beyond the level
    int direction;    // 1: rising, -1: falling, 0: both
    char unit[48];
    int line, column;    // of the expression in the study file
    ItmProgram program;  // its inputs are the recorded signals and then the parameters
} ItmStudyResponse;

// Recorded signals of a run: time and study->signals, row by row  (nrow x (1 + nsignal))
typedef struct ItmSamples {
    double* values;
    long nrow;
} ItmSamples;

const char* itm_response_statistic_name(ItmStatistic statistic);
// Value over the rows of a run, NAN where there is none. parameters: SI values as in study->parameters. reference may be NULL.
// False without memory.
bool itm_response_compute(double* value, const ItmStudy* study, const ItmStudyResponse* response,
                          const ItmSamples* samples, const double* parameters, const ItmSamples* reference);

// ---------------------------------------------------------------------------- study

typedef struct ItmStudyTexts {
    const char** items;
    int count, capacity;
} ItmStudyTexts;

// clang-format off
struct ItmStudy {
    ItmOwned         owned;
    const char*      path;             // study file; NULL: made by calls
    const char*      text;             // contents of it; "" without
    const char*      title;
    const char*      model;            // path of the model file
    const char*      root;             // folder below which the model may read; NULL: any
    const char*      model_text;       // contents of the model file
    size_t           model_length;
    ItmStudyTexts    settings;         // "key=value" of all runs
    int              noverride;        // the last of them, which are not in the study file
    ItmStudyTexts    reference;        // "key=value" of the reference run
    const char*      reference_file;   // result file to compare with; NULL: none
    ItmStudyTexts    axes;             // of itm_study_add_axis
    ItmStudyTexts    patterns;         // of itm_study_add_signals
    ItmStudyTexts    trace_patterns;   // signals to keep of every run
    struct { ItmStudyFactor* items; int count, capacity; }   factors;
    struct { ItmStudyResponse* items; int count, capacity; } responses;
    ItmStudyDesign   design;
    int              njob;
    double           timeout;
    int              npoint;           // of a trace

    // itm_study_prepare
    bool             is_prepared;
    double           duration;         // of the first run, s: the times of traces
    ItmStudyTexts    signals;          // recorded in every run
    ItmStudyTexts    signal_units;
    ItmStudyTexts    parameters;       // of the model that expressions refer to
    int*             traces;           // indices into signals                                        (ntrace)
    int              ntrace;
    int              npattern_signal;  // signals found by `patterns`
    int              nrun, nreference;
    double*          points;           // SI values, or numbers of choices                            (nrun x nfactor)
    int*             reference_ids;    // reference of a run                                          (nrun)
    int*             reference_runs;   // a run that a reference belongs to                           (nreference)
    ItmStudyRun*     runs;             //                                                             (nrun + nreference)
    ItmSamples*      references;       // of the reference runs; of a file the only one               (nreference or 1)
    ItmDocument      document;         // the model file parsed, for children
    bool             has_document;
    const char*      signature;
    const char*      version;          // of Interim in the signature

    int              journal;          // file descriptor; -1: none
    double           synced;           // wall time of the last fdatasync, s
    char             answer[512];      // of getters that build a text
};
// clang-format on

// Append a copy of `length` bytes; false without memory.
bool itm_study_add_text(ItmStudy* study, ItmStudyTexts* texts, const char* text, size_t length);
char* itm_study_copy_text(ItmStudy* study, const char* text, size_t length);
ItmStatus itm_study_fail_memory(ItmError* error);
int itm_study_find_text(const ItmStudyTexts* texts, const char* text, size_t length);

// Text of a factor's value as it is set in the model, without its key. text (size)
void itm_study_format_value(const ItmStudyFactor* factor, double value, char* text, size_t size);
// All "key=value" of a run, reference or not, in the order of application; its texts belong to `owned`.
ItmStatus itm_study_collect_settings(const ItmStudy* study, int run, ItmOwned* owned, ItmStudyTexts* texts);
// An error about the value of a factor names the factor, or --over of a sweep, in place of --set.
void itm_study_name_origin(const ItmStudy* study, ItmError* error);
// Whether the reference sets a factor by itself, or something that contains it.
bool itm_study_is_referred(const ItmStudy* study, const ItmStudyFactor* factor);
// Whether a run has come to its end, with or without doubts.
bool itm_study_is_finished(const ItmStudyRun* run);
// Whether a run need not be executed again.
bool itm_study_is_done(const ItmStudyRun* run);

// execute.c: execute a run in this process and fill its outcome. keep: result file, or NULL. is_stopped is looked at now and then.
void itm_study_execute(ItmStudy* study, int run, const char* keep, bool is_probe, bool (*is_stopped)(void));

// run_line.c: samples of a reference from its JSON.
ItmStatus itm_run_line_read_samples(const ItmStudy* study, ItmSamples* samples, const char* text, ItmError* error);

#endif
