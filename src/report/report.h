// Reports: one HTML file that shows what runs did, without anything else at hand (no network, no other file).
#ifndef ITM_REPORT_REPORT_H
#define ITM_REPORT_REPORT_H

#include "io/results/results_read.h"

typedef struct ItmReportRun {
    const char* label;  // what tells it from the others: its file name
    const ItmTable* table;
} ItmReportRun;

typedef struct ItmReportOptions {
    const char* title;  // NULL: that of the first run
    bool is_static;     // plots as pictures, no scripts
} ItmReportOptions;

// One run, or several laid over each other (the first one is shown in 3-D and is what the others are measured against).
ItmStatus itm_report_write(const char* path, const ItmReportRun* runs, int nrun, const ItmReportOptions* options,
                           ItmError* error);

// Whether this build has the viewer (npm was there); otherwise every report is static.
bool itm_report_has_viewer(void);

// ---------------------------------------------------------------------------- for the files of reports

#define ITM_REPORT_LARGEST 9900000  // bytes of a page

// What may go into a page before it is packed, bytes.
typedef struct ItmReportBudget {
    size_t signals;  // of all runs
    size_t motion;
    size_t contacts;
} ItmReportBudget;

// The data of the viewer as one JSON object.
void itm_report_add_data(ItmText* text, const ItmReportRun* runs, int nrun, const ItmReportBudget* budget);
// Head of a page up to and with its style; `title` is escaped here.
void itm_report_add_head(ItmText* text, const char* title, bool has_scripts);

// Files that the build put into the program, not ended by a zero byte.
typedef struct ItmReportAsset {
    const unsigned char* bytes;
    size_t count;
} ItmReportAsset;

ItmReportAsset itm_report_get_style(void);
ItmReportAsset itm_report_get_viewer(void);

#endif
