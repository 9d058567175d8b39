// System structures (SSP 1.0 and 2.0): a `.ssp` archive, or a file SystemStructure.ssd with the files beside it. Nested systems
// are flattened: connections lead from component to component, values are set on components.
//
// The files are not trusted. Parts that nothing is made of are named in notes, never dropped in silence.
#ifndef ITM_FMI_SSP_H
#define ITM_FMI_SSP_H

#include "base/owned.h"
#include "fmi/archive.h"
#include "interim/base.h"

#define ITM_SSP_ANNOTATION "interim"  // type of our annotations; their text is YAML

// A value for a parameter or an input of a component.
typedef struct ItmSspValue {
    const char* name;
    const char* text;  // number, true or false, or a text
    const char* unit;  // or NULL
    bool is_text;      // a string
    const char* file;
    int line, column;
} ItmSspValue;

typedef struct ItmSspValues {
    ItmSspValue* items;
    int count, capacity;
} ItmSspValues;

typedef struct ItmSspComponent {
    const char* name;            // unique, fit for a name of a subsystem
    const char* path;            // names of the systems around it and its own, separated by "/"
    const char* source;          // file of the FMU: relative to the structure, percent signs decoded
    const char* implementation;  // "any", "ModelExchange", "CoSimulation"
    const char* annotation;      // YAML, or NULL
    ItmSspValues values;
    int line, column, annotation_line;
} ItmSspComponent;

// value at the end = factor * value at the start + offset
typedef struct ItmSspConnection {
    int from, to;  // components
    const char *from_connector, *to_connector;
    double factor, offset;
    int line, column;
} ItmSspConnection;

typedef struct ItmSsp {
    const char* file;  // "model.ssp!SystemStructure.ssd"
    const char *name, *version;
    double start_time, stop_time;  // s; NaN: not given
    const char* annotation;        // YAML, or NULL
    int annotation_line;
    struct {
        ItmSspComponent* items;
        int count, capacity;
    } components;
    struct {
        ItmSspConnection* items;
        int count, capacity;
    } connections;
    struct {
        const char** items;
        int count, capacity;
    } notes;  // "model.ssp!SystemStructure.ssd:12: ..."
    ItmOwned owned;
} ItmSsp;

// Read SystemStructure.ssd of an archive. ITM_ERR_INPUT with file, line, column.
ItmStatus itm_ssp_read(ItmSsp** ssp, ItmArchive* archive, ItmError* error);
// Read a file *.ssd with those that it refers to. Sources may lie outside of its folder.
ItmStatus itm_ssp_read_file(ItmSsp** ssp, const char* path, ItmError* error);
// Only the XML, from memory; files that it refers to are noted as absent.
ItmStatus itm_ssp_parse(ItmSsp** ssp, const char* xml, size_t length, const char* file, ItmError* error);
void itm_ssp_destroy(ItmSsp* ssp);

#endif
