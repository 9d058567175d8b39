// Units at wires that end at FMUs: a wire between quantities of different dimensions is allowed, and noted.
#include "io/model/file.h"

#include "fmi/fmu.h"
#include "io/model/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_part(const char* name, const char* full)
{
    size_t n = strlen(name);
    return n > 0 && strncmp(full, name, n) == 0 && full[n] == '.';
}

// Unit of a variable of an FMU, "p" or "K[2]"; not known if there is none.
static ItmFmiConversion get_variable_unit(const ItmFmu* fmu, const char* name)
{
    const ItmFmiDescription* d = itm_fmi_get_description(fmu);
    ItmFmiConversion c = {0};
    int variable = itm_description_find(d, name);
    const char* bracket = strrchr(name, '[');
    if (variable == ITM_NONE && bracket != NULL) {
        char* array = strndup(name, (size_t)(bracket - name));
        variable = array != NULL ? itm_description_find(d, array) : ITM_NONE;
        free(array);
    }
    if (variable != ITM_NONE && itm_description_convert_unit(&c, d, variable, NULL) != ITM_OK) {
        c.is_known = false;
    }
    return c;
}

// Unit of an output of an FMU or a mechanism; those of other subsystems are not known.
static ItmFmiConversion get_source_unit(const ItmModelFile* file, const char* from)
{
    const char* name = strchr(from, '.') + 1;
    for (int i = 0; i < file->nfmu; i++) {
        if (is_part(file->fmus[i].name, from)) {
            return get_variable_unit(file->fmus[i].fmu, name);
        }
    }
    ItmFmiConversion c = {0};
    for (int i = 0; i < file->nmechanism; i++) {
        const ItmModel* m = file->mechanisms[i].model;
        int output = is_part(file->mechanisms[i].name, from) ? itm_model_find_output(m, name) : ITM_NONE;
        if (output != ITM_NONE) {
            itm_description_parse_unit(&c, itm_model_get_output_info(m, output).unit);
        }
    }
    return c;
}

static void check_wire(ItmReader* r, const ItmFileConnection* c, const ItmFmu* fmu)
{
    ItmFmiConversion to = get_variable_unit(fmu, strchr(c->to, '.') + 1);
    ItmFmiConversion from = get_source_unit(r->file, c->from);
    bool is_scaled = c->factor != 1.0;  // a factor may have a dimension
    if (!to.is_known || !from.is_known || is_scaled || itm_quantity_equal_dimensions(to.dimension, from.dimension)) {
        return;
    }
    char has[64], wanted[64], text[700];
    snprintf(text, sizeof text, "%.200s:%d: the wire from '%.100s' (%s) to '%.100s' (%s) connects different dimensions",
             c->place.file, c->place.line, c->from, itm_quantity_format_dimension(from.dimension, has, sizeof has),
             c->to, itm_quantity_format_dimension(to.dimension, wanted, sizeof wanted));
    itm_reader_note(r, text);
}

ItmStatus itm_file_note_units(ItmModelFile* file, ItmError* error)
{
    ItmReader r = {.file = file, .error = error};
    for (int i = 0; i < file->nconnection && r.status == ITM_OK; i++) {
        const ItmFileConnection* c = &file->connections[i];
        for (int k = 0; k < file->nfmu && strchr(c->from, '.') != NULL; k++) {
            if (is_part(file->fmus[k].name, c->to)) {
                check_wire(&r, c, file->fmus[k].fmu);
            }
        }
    }
    return r.status;
}
