// Model files: YAML in, a compiled model and run settings out.  docs/reference/model-file.md
// SPDX-License-Identifier: Apache-2.0
#ifndef INTERIM_FILE_H
#define INTERIM_FILE_H

#include "interim/data.h"

ITM_EXTERN_C_BEGIN

typedef struct ItmRunSettings {
    double duration;          // s, >= 0
    double output_interval;   // s; a multiple of the step; 0: every step
    ItmStepOptions step;
} ItmRunSettings;

// What a model file describes. The strings and the model belong to it.
typedef struct ItmModelFile {
    char* title;         // never NULL
    char* name;          // prefix of all result names ("arm"), or "" for none
    ItmModel* model;
    ItmRunSettings run;
} ItmModelFile;

// Read, check, compile and assemble. overrides: "key.path=value" strings (noverride), each checked like
// the file itself; a path names an existing key of the file or an optional one that may stand there
// ("run.step=2ms", "parameters.L=2 m", "multibody.coordinates=absolute").
// Errors carry file, line, column, what was expected and the nearest valid word.
ITM_API ItmStatus itm_file_load(ItmModelFile** file, const char* path, const char* const* overrides,
                                int noverride, ItmError* error);
// The same from memory; `name` stands for the file in messages.
ITM_API ItmStatus itm_file_parse(ItmModelFile** file, const char* text, size_t length, const char* name,
                                 const char* const* overrides, int noverride, ItmError* error);
ITM_API void itm_file_destroy(ItmModelFile* file);

ITM_EXTERN_C_END

#endif
