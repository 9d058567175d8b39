// Robot descriptions in an exported FMU: they are XML, for which it has no parser. `interim export` refuses such models.
#include "io/model/reader.h"

void itm_read_urdf(ItmReader* r, const ItmNode* node)
{
    if (node != NULL) {
        itm_reader_fail(r, node, "a model with a URDF file cannot be exported");
    }
}
