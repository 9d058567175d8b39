// Reports: one HTML file that shows what runs did, without anything else at hand (no network, no other file).
#ifndef ITM_REPORT_REPORT_H
#define ITM_REPORT_REPORT_H

#include "interim/report.h"
#include "io/results/record.h"

#define ITM_REPORT_LARGEST 9900000  // bytes of a page

// What may go into a page before it is packed, bytes.
typedef struct ItmReportBudget {
    size_t signals;  // of all runs
    size_t motion;
    size_t contacts;
} ItmReportBudget;

// The data of the viewer as one JSON object.
void itm_report_add_data(ItmText* text, const ItmReportRun* runs, int nrun, const ItmReportBudget* budget,
                         bool is_selection);
// Head of a page up to and with its style; `title` is escaped here.
void itm_report_add_head(ItmText* text, const char* title, bool has_scripts);

// Files that the build put into the program, not ended by a zero byte.
typedef struct ItmReportAsset {
    const unsigned char* bytes;
    size_t count;
} ItmReportAsset;

ItmReportAsset itm_report_get_style(void);
ItmReportAsset itm_report_get_viewer(void);

// Messages of the subsystems of a run, one per line, to be freed; NULL: none, or out of memory.  outcome.c
char* itm_report_get_messages(const ItmTable* table);

#endif
