// Reading a model file in two halves: text to definitions, definitions to model.
#ifndef ITM_IO_FILE_H
#define ITM_IO_FILE_H

#include "interim/file.h"
#include "io/document.h"

// The first half: fill title, name and run of `file`, and a builder. doc keeps the tree for
// messages of the second half; free it afterwards, also on failure. `name` must live as long as
// doc.
ItmStatus itm_file_read(ItmModelFile* file, ItmBuilder** builder, ItmDocument* doc,
                        const char* text, size_t length, const char* name,
                        const char* const* overrides, int noverride, ItmError* error);

#endif
