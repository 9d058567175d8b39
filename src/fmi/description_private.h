// Reading of model descriptions, shared by description*.c.
#ifndef ITM_FMI_DESCRIPTION_PRIVATE_H
#define ITM_FMI_DESCRIPTION_PRIVATE_H

#include "base/list.h"
#include "base/names.h"
#include "base/owned.h"
#include "fmi/description.h"
#include "fmi/xml.h"

#define ITM_COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))

// What a description owns.
typedef struct ItmFmiReading {
    ItmOwned owned;
    ItmNames names;           // of variables
    ItmFmiFindings findings;  // made while reading
} ItmFmiReading;

typedef struct ItmFmiParser {
    ItmFmiDescription* d;
    ItmXml xml;
    ItmError* error;
    ItmStatus status;
} ItmFmiParser;

// The first failure is kept; later ones do nothing.
void itm_description_fail(ItmFmiParser* p, const ItmXmlNode* node, const char* format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;
void itm_description_fail_memory(ItmFmiParser* p);
// Zeroed memory of the description; NULL after a failure.
void* itm_description_take(ItmFmiParser* p, size_t count, size_t size);
const char* itm_description_keep(ItmFmiParser* p, const char* text);

// Attributes; where one is absent, the given value.
const char* itm_description_get_text(ItmFmiParser* p, const ItmXmlNode* node, const char* name, const char* absent);
double itm_description_get_real(ItmFmiParser* p, const ItmXmlNode* node, const char* name, double absent);
int itm_description_get_int(ItmFmiParser* p, const ItmXmlNode* node, const char* name, int absent);
bool itm_description_get_flag(ItmFmiParser* p, const ItmXmlNode* node, const char* name, bool absent);
// The index of the attribute's word among `words`; absent if there is no attribute.
int itm_description_get_word(ItmFmiParser* p, const ItmXmlNode* node, const char* name, const char* const* words,
                             int nword, int absent);
int itm_description_count(const ItmXmlNode* node, const char* name);

// A finding while reading, or while checking.
void itm_description_find_fault(ItmFmiFindings* findings, ItmFmiSeverity severity, int line, int column,
                                const char* rule, const char* format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 6, 7)))
#endif
    ;
// The same at a node, while reading.
#define ITM_FMI_FAULT(p, severity, node, rule, ...)                                                                    \
    itm_description_find_fault(&(p)->d->reading->findings, severity, (node)->line, (node)->column, rule, __VA_ARGS__)
// Name children that are none of `known`, which nothing is made of.
void itm_description_note_unknown(ItmFmiParser* p, const ItmXmlNode* node, const char* const* known, int nknown);

// description_variables.c
void itm_description_read_units(ItmFmiParser* p, const ItmXmlNode* root);
void itm_description_read_types(ItmFmiParser* p, const ItmXmlNode* root);
void itm_description_read_variables(ItmFmiParser* p, const ItmXmlNode* root);
void itm_description_read_structure(ItmFmiParser* p, const ItmXmlNode* root);
// description_files.c: platforms, sources, terminals, layered standards
ItmStatus itm_description_read_files(ItmFmiDescription* d, ItmArchive* archive, ItmError* error);

#endif
