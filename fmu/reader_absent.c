// Parts of model files that an exported FMU has no reader for: robot descriptions, which are XML, and recordings. `interim export` refuses
// such models.
#include "io/model/reader.h"

void itm_read_urdf(ItmReader* r, const ItmNode* node)
{
    if (node != NULL) {
        itm_reader_fail(r, node, "a model with a URDF file cannot be exported");
    }
}

void itm_read_recording(ItmReader* r, const ItmNode* node, ItmSignalDef* def, ItmSignalUnit* unit)
{
    (void)def;
    (void)unit;
    itm_reader_fail(r, node, "a model with signals from CSV files cannot be exported");
}
