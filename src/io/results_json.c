// The JSON file beside a CSV table: title, verdict, units and descriptions.
#include "io/results.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

// A JSON string with its quotes. Bytes above 127 pass as they are: names and titles are UTF-8.
static void write_string(FILE* out, const char* text)
{
    fputc('"', out);
    for (const unsigned char* c = (const unsigned char*)text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\') {
            fprintf(out, "\\%c", *c);
        } else if (*c < 0x20) {
            fprintf(out, "\\u%04x", *c);
        } else {
            fputc(*c, out);
        }
    }
    fputc('"', out);
}

static void write_pair(FILE* out, const char* key, const char* value, const char* after)
{
    fprintf(out, "\"%s\": ", key);
    write_string(out, value);
    fputs(after, out);
}

static const char* base_name(const char* path)
{
    const char* slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static void write_document(FILE* out, const ItmResultsHead* head, const ItmResultsSummary* summary)
{
    fputs("{\n  ", out);
    write_pair(out, "interim", itm_version(), ",\n  ");
    write_pair(out, "title", head->title, ",\n  ");
    write_pair(out, "results", base_name(head->path), ",\n  ");
    write_pair(out, "verdict", itm_results_verdict_name(summary->verdict), ",\n  ");
    write_pair(out, "reason", summary->reason, ",\n  ");
    fprintf(out, "\"rows\": %ld,\n  \"end_time\": %.17g,\n  \"columns\": [\n", summary->nrow,
            summary->end_time);
    for (int i = 0; i < head->ncolumn; i++) {
        fputs("    {", out);
        write_pair(out, "name", head->columns[i].name, ", ");
        write_pair(out, "unit", head->columns[i].unit, ", ");
        write_pair(out, "description", head->columns[i].description, "}");
        fputs(i + 1 < head->ncolumn ? ",\n" : "\n", out);
    }
    fputs("  ]\n}\n", out);
}

ItmStatus itm_results_json_write(const char* path, const ItmResultsHead* head,
                                 const ItmResultsSummary* summary, ItmError* error)
{
    FILE* out = fopen(path, "w");
    if (out == NULL) {
        return itm_results_fail_io(error, __func__, "write", path, errno);
    }
    errno = 0;
    write_document(out, head, summary);
    bool has_failed = ferror(out) != 0;
    has_failed = fclose(out) != 0 || has_failed;
    return has_failed ? itm_results_fail_io(error, __func__, "write", path, errno) : ITM_OK;
}
