// The part of a model file that an FMU holds, as a document of its own.
#ifndef ITM_EXPORT_EXPORT_TREE_H
#define ITM_EXPORT_EXPORT_TREE_H

#include "export/unit.h"
#include "interim/export.h"
#include "io/document.h"

typedef struct ItmExportTree {
    ItmDocument doc;
    char* text;  // of the file, which the document refers to
    ItmUnitPort ports[ITM_UNIT_MOST_PORTS];
    int nport;
} ItmExportTree;

// Read a model file with overrides and take out everything that is not of the chosen parts. Bonds that lose one end become ports.
// ITM_ERR_INPUT: there is no such part.
ItmStatus itm_export_read_tree(ItmExportTree* tree, const char* path, const ItmExportOptions* options, ItmError* error);
void itm_export_free_tree(ItmExportTree* tree);

// export_signals.c: signals recorded in CSV files become tables of the document. path: of the model, to which files are relative.
ItmStatus itm_export_inline_recordings(ItmDocument* doc, const char* path, ItmError* error);

// export_tunable.c: whether a parameter may change while the FMU runs: only signals and blocks of controls use it.
bool itm_export_is_tunable(const ItmNode* root, const char* parameter);

// Exponents of m, kg, s, A, K of a unit "kg m/s^2"; false: not known, or not whole numbers.
typedef struct ItmExportUnit {
    int e[5];
    bool is_angle;
} ItmExportUnit;
bool itm_export_read_unit(const char* unit, ItmExportUnit* base);

// The variable that is the macro step.
int itm_export_find_step(const ItmUnit* unit);

#endif
