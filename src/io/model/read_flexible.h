// `flexible` of a body: what its files hold while the builder takes it over.
#ifndef ITM_IO_MODEL_READ_FLEXIBLE_H
#define ITM_IO_MODEL_READ_FLEXIBLE_H

#include "io/geometry/matrix_file.h"
#include "io/model/reader.h"

typedef struct ItmModelFiles {
    ItmModalDef def;
    ItmMatrixFile mass, stiffness;
    ItmNodeTable nodes;
    ItmModalInterface* interfaces;  // (def.ninterface)
    int* interface_nodes;           // of all interfaces, one after the other
} ItmModelFiles;

// {mass, stiffness, nodes, interfaces, frame, modes}; free it also after a complaint.
void itm_read_model_files(ItmReader* r, const ItmNode* node, ItmModelFiles* files);
void itm_read_free_model_files(ItmModelFiles* files);

#endif
