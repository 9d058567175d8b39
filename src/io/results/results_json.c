// The JSON file beside a CSV table: title, verdict, units and descriptions, and the record of the motion.
#include "io/results/results.h"

#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void add_pair(ItmText* text, const char* key, const char* value, const char* after)
{
    itm_text_format(text, "\"%s\": ", key);
    itm_text_add_json(text, value);
    itm_text_add(text, after);
}

static const char* base_name(const char* path)
{
    const char* slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

// {"type": "float32", "shape": [3, 7], "data": "..."}: deflated, little-endian, in base64
static void add_array(ItmText* text, const ItmArray* array, ItmMotionArray which)
{
    ItmArrayType type = itm_record_motion_type(which);
    itm_text_format(text, "    \"%s\": {\"type\": \"%s\", \"shape\": [", itm_record_motion_name(which),
                    itm_record_array_type_name(type));
    for (int i = 0; i < array->ndim; i++) {
        itm_text_format(text, "%s%ld", i > 0 ? ", " : "", array->size[i]);
    }
    itm_text_add(text, "], \"data\": \"");
    itm_text_add_base64(text, array->values, itm_record_array_get_count(array) * itm_record_array_type_size(type),
                        true);
    itm_text_add(text, "\"}");
}

static void add_record(ItmText* text, const ItmRecord* record)
{
    itm_text_add(text, ",\n  \"scene\": ");
    itm_text_add(text, record->scene);
    itm_text_add(text, ",\n  \"motion\": {\n");
    for (int i = 0; i < ITM_MOTION_COUNT; i++) {
        add_array(text, &record->arrays[i], (ItmMotionArray)i);
        itm_text_add(text, i + 1 < ITM_MOTION_COUNT ? ",\n" : "\n  }");
    }
}

void itm_results_json_add_doubts(ItmText* text, const ItmResultsSummary* summary)
{
    itm_text_add(text, "[");
    for (int i = 0; i < summary->ndoubt; i++) {
        const ItmDoubt* doubt = &summary->doubts[i];
        itm_text_add(text, i > 0 ? ",\n    {" : "\n    {");
        add_pair(text, "kind", doubt->name, ", ");
        add_pair(text, "where", doubt->where, ", \"largest\": ");
        itm_text_add_number(text, doubt->largest, 9);
        itm_text_add(text, ", \"largest_time\": ");
        itm_text_add_number(text, doubt->largest_time, 17);
        itm_text_add(text, ", \"bound\": ");
        itm_text_add_number(text, doubt->bound, 9);
        itm_text_add(text, ", \"first_time\": ");
        itm_text_add_number(text, doubt->first_time, 17);
        itm_text_add(text, ", ");
        add_pair(text, "unit", doubt->unit, "}");
    }
    itm_text_add(text, summary->ndoubt > 0 ? "\n  ]" : "]");
}

static void add_document(ItmText* text, const ItmResultsHead* head, const ItmResultsSummary* summary)
{
    itm_text_add(text, "{\n  ");
    add_pair(text, "interim", itm_version(), ",\n  ");
    add_pair(text, "title", head->title, ",\n  ");
    add_pair(text, "results", base_name(head->path), ",\n  ");
    add_pair(text, "verdict", itm_results_verdict_name(summary->verdict), ",\n  ");
    add_pair(text, "reason", summary->reason, ",\n  ");
    if (head->provenance[0] != '\0') {
        itm_text_add(text, "\"provenance\": ");
        itm_text_add(text, head->provenance);
        itm_text_add(text, ",\n  ");
    }
    itm_text_add(text, "\"doubts\": ");
    itm_results_json_add_doubts(text, summary);
    itm_text_format(text, ",\n  \"rows\": %ld,\n  \"end_time\": ", summary->nrow);
    itm_text_add_number(text, summary->end_time, 17);
    itm_text_add(text, ",\n  \"columns\": [\n");
    for (int i = 0; i < head->ncolumn; i++) {
        itm_text_add(text, "    {");
        add_pair(text, "name", head->columns[i].name, ", ");
        add_pair(text, "unit", head->columns[i].unit, ", ");
        add_pair(text, "description", head->columns[i].description, "}");
        itm_text_add(text, i + 1 < head->ncolumn ? ",\n" : "\n");
    }
    itm_text_add(text, "  ]");
    if (summary->record != NULL) {
        add_record(text, summary->record);
    }
    itm_text_add(text, "\n}\n");
}

ItmStatus itm_results_json_write(const char* path, const ItmResultsHead* head, const ItmResultsSummary* summary,
                                 ItmError* error)
{
    ItmText text = {0};
    add_document(&text, head, summary);
    ItmStatus status = itm_text_write(&text, path, error);
    itm_text_free(&text);
    return status;
}
