// What exporters of FMUs and of system structures share: XML and archives.
#ifndef ITM_EXPORT_EXPORT_H
#define ITM_EXPORT_EXPORT_H

#include "interim/export.h"
#include "io/text.h"

#include <zip.h>

// name="value", escaped; with a space before it.
void itm_export_add_attribute(ItmText* out, const char* name, const char* value);
void itm_export_add_number(ItmText* out, const char* name, double value);
// <Unit name="kg m/s^2"><BaseUnit .../></Unit> with the exponents of the base units; prefix: of the names of elements, "ssc:".
void itm_export_add_unit(ItmText* out, const char* prefix, const char* unit);

// Begin and end a ZIP file; without is_good it is thrown away. Bytes and files are read when it ends.
ItmStatus itm_export_open_archive(zip_t** zip, const char* path, ItmError* error);
ItmStatus itm_export_close_archive(zip_t* zip, bool is_good, const char* path, ItmError* error);
bool itm_export_add_bytes(zip_t* zip, const char* name, const void* bytes, size_t length);
bool itm_export_add_file(zip_t* zip, const char* name, const char* path);

#endif
