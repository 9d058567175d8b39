// Foreign subsystems: type `external`. The file holds the connections, a program the equations.
#include "io/model/reader.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

static ItmFileExternal* add_external(ItmReader* r, const ItmItem* item)
{
    ItmModelFile* file = r->file;
    ItmFileExternal* moved = realloc(file->externals, ((size_t)file->nexternal + 1) * sizeof *moved);
    if (moved == NULL) {
        r->status = itm_error_set(r->error, ITM_ERR_MEMORY, "itm_file_parse", NULL, "out of memory");
        return NULL;
    }
    file->externals = moved;
    ItmFileExternal* external = &moved[file->nexternal++];
    *external = (ItmFileExternal){.name = strdup(item->key->text), .place = itm_reader_get_place(r, item->key)};
    if (external->name == NULL) {
        r->status = itm_error_set(r->error, ITM_ERR_MEMORY, "itm_file_parse", NULL, "out of memory");
    }
    return external;
}

void itm_read_external(ItmReader* r, const ItmItem* item)
{
    enum { TYPE, STEP, NKEY };
    static const char* const KEYS[NKEY] = {"type", "step"};
    const ItmNode* v[NKEY];
    itm_reader_get_map(r, item->value, "an external subsystem", KEYS, NKEY, v);
    double step = itm_reader_get_real(r, v[STEP], ITM_DIM_TIME, 0.0);
    if (r->status == ITM_OK && v[STEP] != NULL && !(step > 0.0)) {
        itm_reader_fail(r, v[STEP], "step must be positive, got %g s", step);
    }
    ItmFileExternal* external = r->status == ITM_OK ? add_external(r, item) : NULL;
    if (external != NULL) {
        external->step = step;
    }
}
