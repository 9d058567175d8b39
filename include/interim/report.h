// Reports, plots and comparisons of result files.
//
// Threads: the functions have no state of their own; tables are only read. Any number of threads may call them for different files.
// SPDX-License-Identifier: Apache-2.0
#ifndef INTERIM_REPORT_H
#define INTERIM_REPORT_H

#include "interim/results.h"

ITM_EXTERN_C_BEGIN

// A run in a report or plot.
typedef struct ItmReportRun {
    const char* label;  // distinguishes it from the others, for example its file name
    const ItmTable* table;
} ItmReportRun;

// ---------------------------------------------------------------------------- reports

typedef struct ItmReportOptions {
    const char* title;  // NULL: that of the first run
    bool is_static;     // plots as images, no scripts and no 3-D view
    bool is_selection;  // the tables hold the signals to show: nothing recorded beside them is plotted
} ItmReportOptions;

// Default options: title of the first run, with scripts.
ITM_API ItmReportOptions itm_default_report_options(void);
// Write an HTML page that needs no other file and no network. Several runs are overlaid and compared with the first; up to four
// machines move side by side. options may be NULL. ITM_ERR_IO, ITM_ERR_MEMORY.
ITM_API ItmStatus itm_report_write(const char* path, const ItmReportRun* runs, int nrun,
                                   const ItmReportOptions* options, ItmError* error);
// Names of runs by what differs between them, as in "coupling=zoh": overrides of the model file that the results hold. names
// (nrun), owned by the caller; false, and all NULL: nothing differs, two runs are the same, or their titles differ.
ITM_API bool itm_report_name_runs(char** names, const ItmReportRun* runs, int nrun);
// One sentence about a run: how it ended, what energy its coupling created or lost, and which signal differs most from the first
// run, by how much. Owned by the caller; NULL: out of memory.
ITM_API char* itm_report_describe_run(const ItmReportRun* runs, int run);
// Whether this build contains the 3-D view; without it every report is static.
ITM_API bool itm_report_has_viewer(void);
// What the page of a sweep shows beyond its table; zeros: nothing.
typedef struct ItmSweepReportOptions {
    const char* title;         // NULL: the name of the table
    const ItmReportRun* runs;  // in the order of the rows, plotted over time; NULL: none         (nrun)
    int nrun;
    const char* const* columns;  // names of columns of the table that have a unit                  (nunit)
    const char* const* units;    // their units, for axes and heads                                 (nunit)
    int nunit;
} ItmSweepReportOptions;

// Write the page of a sweep table (a CSV file of `interim sweep`): curves of every result over the key with most values, maps
// over two keys, stability, and the table. Every figure can be saved as SVG. options may be NULL. ITM_ERR_INPUT with line and
// column (in fields), ITM_ERR_IO, ITM_ERR_MEMORY.
ITM_API ItmStatus itm_report_write_sweep(const char* path, const char* table, const ItmSweepReportOptions* options,
                                         ItmError* error);
// Whether a file is a sweep table: CSV with a column `verdict` that is not the first. False also if it cannot be read.
ITM_API bool itm_report_is_sweep(const char* path);

// ---------------------------------------------------------------------------- plots

typedef struct ItmPlotOptions {
    int width, height;  // of a panel, px
    const char* x_label;
    double from, to;  // range of time, s; from >= to: all of it
} ItmPlotOptions;

// Default options: panels of 720 x 260 px, label "time, s", the whole range.
ITM_API ItmPlotOptions itm_default_plot_options(void);
// Plot columns (ncolumn, indices in the table of the first run) of all runs over time: one panel per unit, runs after the first
// dashed. The extension of `path` selects the format, .svg or .png. options may be NULL. ITM_ERR_INPUT: any other extension.
ITM_API ItmStatus itm_plot_write(const char* path, const ItmReportRun* runs, int nrun, const int* columns, int ncolumn,
                                 const ItmPlotOptions* options, ItmError* error);

// ---------------------------------------------------------------------------- comparisons

// The two tables may have different times. Over the interval that both cover, signals are compared at the times of the table
// with fewer rows there; the other is interpolated linearly.

typedef struct ItmCompareOptions {
    double from, until;  // interval to compare, s; reduced to the interval that both tables cover
    double level;        // an event is a crossing of this value; NAN: middle of the reference's range
    double band;  // a crossing counts once the signal is this far beyond the level, as a share of the reference's
                  // range, so that noise around the level is no event
} ItmCompareOptions;

// Default options: both tables whole, events at the middle of the range, band 2 %.
ITM_API ItmCompareOptions itm_default_compare_options(void);

typedef struct ItmComparison {
    double from, until;            // interval compared, s; from > until: the tables have no time in common
    long ncompared;                // times compared
    long nmissing;                 // times left out because one of the two is not finite there
    double rms;                    // root of the time mean of (run - reference)^2; NAN if nothing was compared
    double maximum;                // largest |run - reference|
    double maximum_time;           // where, s
    double last;                   // run - reference at the last time compared
    double reference_rms;          // root of the time mean of reference^2
    double reference_range;        // largest less least value of the reference, at the times compared
    double level;                  // value whose crossings are the events
    int nevent, nreference_event;  // crossings in the run and in the reference
    int npaired;                   // events in both: the first with the first, and so on while they go the same way
    double shift_mean;             // of the paired events, run - reference: > 0 is late; NAN without a pair   s
    double shift_maximum;          // the one largest in magnitude, with its sign; NAN without a pair            s
} ItmComparison;

// Compare a column of `run` with a column of `reference`. options may be NULL. ITM_ERR_INPUT: the times of a table are not finite
// or not in order.
ITM_API ItmStatus itm_compare(ItmComparison* comparison, const ItmTable* run, int column, const ItmTable* reference,
                              int reference_column, const ItmCompareOptions* options, ItmError* error);

typedef struct ItmSignalError {
    const char* name;  // belongs to the reference, as does unit
    const char* unit;
    ItmComparison comparison;
    double scale;        // range of the reference, at least a thousandth of the largest range of its unit
    bool is_noise;       // off by less than a millionth of the largest range of its unit: rounding, mostly
    bool is_diagnostic;  // belongs to the solver or the coupling (iterations, residuals), not to the machine
} ItmSignalError;

// Begins of contact of a pair of shapes that both records have.
typedef struct ItmContactShift {
    char* name;  // "floor - box", owned
    long nevent, nreference_event;
    double shift;  // largest difference of the times of the k-th begins, s
} ItmContactShift;

typedef struct ItmRunComparison {
    double from, until;  // time that both have, s; from > until: none
    ItmSignalError*
        errors;  // (nerror) those that are off most first, by their share of the reference's range; noise and diagnostics last
    int nerror;
    ItmContactShift* shifts;  // (nshift)
    int nshift;
    int nonly, nonly_reference;  // signals that only one has
} ItmRunComparison;

// Compare all signals that two runs have in common, and the begins of their contacts. Runs without common signals or time:
// nerror is 0. ITM_ERR_INPUT: the times of a table are not in order. ITM_ERR_MEMORY.
ITM_API ItmStatus itm_compare_runs(ItmRunComparison* comparison, const ItmTable* run, const ItmTable* reference,
                                   ItmError* error);
// Free what a comparison owns.
ITM_API void itm_compare_free_runs(ItmRunComparison* comparison);
// Largest difference as a share of `scale`; the difference itself if all signals of the unit are constant.
ITM_API double itm_compare_get_share(const ItmSignalError* error);

ITM_EXTERN_C_END

#endif
