// Reading a model file in two halves: text to definitions, definitions to compiled subsystems.
#ifndef ITM_IO_MODEL_FILE_H
#define ITM_IO_MODEL_FILE_H

#include "fmi/ssp.h"
#include "interim/file.h"
#include "io/document.h"

// What a circuit of the file is compiled from.
typedef struct ItmCircuitPart {
    ItmCircuitBuilder* builder;
    const ItmItem* item;  // name and definition in the document
} ItmCircuitPart;

// What a mechanism of the file is compiled from.
typedef struct ItmMechanismPart {
    ItmModelBuilder* builder;
    const ItmNode* node;  // definition in the document
} ItmMechanismPart;

// What the subsystems of a file are compiled from.
typedef struct ItmFileParts {
    ItmMechanismPart* mechanisms;  // as in ItmModelFile
    int nmechanism;
    ItmCircuitPart* circuits;  // as in ItmModelFile
    int ncircuit;
} ItmFileParts;

// The first half: fill all of `file` but what is compiled, and the parts. doc keeps the tree for messages
// of the second half; free everything afterwards, also on failure. `name` must live as long as doc.
ItmStatus itm_file_read(ItmModelFile* file, ItmFileParts* parts, ItmDocument* doc, const char* text, size_t length,
                        const char* name, const char* root, const char* const* overrides, int noverride,
                        ItmError* error);
// The same from a document that is there already.
ItmStatus itm_file_read_document(ItmModelFile* file, ItmFileParts* parts, ItmDocument* doc, const char* name,
                                 const char* root, const char* const* overrides, int noverride, ItmError* error);
// Both halves from a document that is there already, which is freed, and the text that it was parsed from.
ItmStatus itm_file_build_document(ItmModelFile** file, ItmDocument* doc, const char* text, size_t length,
                                  const char* name, const char* root, const char* const* overrides, int noverride,
                                  ItmError* error);
// file_ssp.c: the document of a system structure. folder: where its archive is unpacked; NULL: sources are relative to the file.
ItmStatus itm_file_make_ssp_document(ItmDocument* doc, const ItmSsp* ssp, const char* folder, ItmError* error);
// Free what a file and its parts hold, not the structs themselves.
void itm_file_clear(ItmModelFile* file);
void itm_file_parts_clear(ItmFileParts* parts);

// The second half of a circuit: compile it and resolve what its outputs and static start refer to.
ItmStatus itm_file_build_circuit(ItmFileCircuit* circuit, const ItmCircuitPart* part, ItmDocument* doc,
                                 ItmError* error);

// file_units.c: note wires to FMUs that connect different dimensions.
ItmStatus itm_file_note_units(ItmModelFile* file, ItmError* error);

// Whether everything that connections come from is there, once all subsystems are compiled.
ItmStatus itm_reader_check_file_connections(const ItmModelFile* file, ItmError* error);

#endif
