// Provenance as result files have it: a JSON object.
#ifndef ITM_IO_RESULTS_PROVENANCE_H
#define ITM_IO_RESULTS_PROVENANCE_H

#include "interim/provenance.h"
#include "io/text.h"

// The provenance of a run that writes to `results` (NULL: nowhere) as JSON. Failure: text->has_failed.
void itm_provenance_write(ItmText* text, const ItmModelFile* file, const char* results, double duration,
                          double output_interval);
// Read it back. The text is not trusted. ITM_ERR_INPUT, ITM_ERR_MEMORY.
ItmStatus itm_provenance_parse(ItmProvenance** provenance, const char* text, size_t length, ItmError* error);

#endif
