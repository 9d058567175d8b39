// The second half of reading a circuit: compile it, with complaints at the place in the file, and start it.
#include "io/model/reader.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------- places

// Place of a complaint of the compiler about "element.field", "element" or nothing in particular.
static void locate_field(const ItmItem* circuit, ItmError* error)
{
    static const char* const COLLECTIONS[] = {"nodes", "elements"};
    if (error == NULL) {
        return;
    }
    itm_document_locate(circuit->key, 0, error);
    size_t length = strcspn(error->field, ".");
    for (int i = 0; i < ITM_COUNT(COLLECTIONS); i++) {
        const ItmNode* collection = itm_document_find(circuit->value, COLLECTIONS[i]);
        for (const ItmItem* item = collection != NULL ? collection->first : NULL; item != NULL; item = item->next) {
            if (item->key->length == length && memcmp(item->key->text, error->field, length) == 0) {
                const ItmNode* value =
                    error->field[length] == '.' ? itm_document_find(item->value, error->field + length + 1) : NULL;
                itm_document_locate(value != NULL ? value : item->key, 0, error);
                return;
            }
        }
    }
}

// ---------------------------------------------------------------------------- outputs

static void add_output(ItmReader* r, const ItmCircuit* c, ItmCircuitBuilder* builder, const ItmItem* item)
{
    const char* output = itm_reader_get_text(r, item->value, "the name of an output");
    if (output == NULL) {
        return;
    }
    if (itm_circuit_find_output(c, output) == ITM_NONE) {
        ItmNearest nearest = itm_nearest_start(item->value->text, item->value->length);
        for (int i = 0; i < itm_circuit_get_output_count(c); i++) {
            itm_nearest_offer(&nearest, itm_circuit_get_output_info(c, i).name);
        }
        itm_reader_fail_unknown(r, item->value, "output", &nearest);
    } else if (itm_circuit_find_output(c, item->key->text) != ITM_NONE) {
        itm_reader_fail(r, item->key, "there is an output '%s' already", item->key->text);
    } else {
        ItmStatus status = itm_circuit_builder_add_alias(builder, item->key->text, output, r->error);
        itm_reader_take(r, status, item->key, NULL, 0);
    }
}

// Second names for outputs; the circuit without them gives the list.
static void add_outputs(ItmReader* r, const ItmCircuit* c, const ItmCircuitPart* part, const ItmNode* outputs)
{
    for (const ItmItem* item = outputs->first; item != NULL && r->status == ITM_OK; item = item->next) {
        add_output(r, c, part->builder, item);
    }
}

// ---------------------------------------------------------------------------- static start

// The inputs that the start may change; their names were checked when they were read.
static void find_free(ItmReader* r, ItmFileCircuit* circuit, const ItmNode* definition)
{
    int ninput = itm_circuit_get_info(circuit->circuit).ninput;
    circuit->is_free = calloc((size_t)ninput + 1, sizeof *circuit->is_free);
    if (circuit->is_free == NULL) {
        r->status = itm_error_set(r->error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
        return;
    }
    const ItmNode* start = itm_document_find(definition, "start");
    const ItmNode* statics = start != NULL ? itm_document_find(start, "static") : NULL;
    const ItmNode* names = statics != NULL ? itm_document_find(statics, "free") : NULL;
    for (const ItmItem* item = names != NULL ? names->first : NULL; item != NULL; item = item->next) {
        circuit->is_free[itm_circuit_find_input(circuit->circuit, item->value->text)] = true;
    }
}

// ---------------------------------------------------------------------------- building

ItmStatus itm_file_build_circuit(ItmFileCircuit* circuit, const ItmCircuitPart* part, ItmDocument* doc, ItmError* error)
{
    ItmReader r = {.doc = doc, .error = error};
    const ItmNode* outputs = itm_document_find(part->item->value, "outputs");
    r.status = itm_circuit_build(&circuit->circuit, part->builder, error);
    if (r.status != ITM_OK) {
        locate_field(part->item, error);
        return r.status;
    }
    if (outputs != NULL && outputs->count > 0) {
        add_outputs(&r, circuit->circuit, part, outputs);
        itm_circuit_destroy(circuit->circuit);
        circuit->circuit = NULL;
        r.status = r.status == ITM_OK ? itm_circuit_build(&circuit->circuit, part->builder, error) : r.status;
    }
    if (r.status == ITM_OK) {
        find_free(&r, circuit, part->item->value);
    }
    return r.status;
}

// ---------------------------------------------------------------------------- running

static ItmStatus solve_start(const ItmFileCircuit* circuit, ItmHydraulics* d, ItmHydraulicResidual* rest,
                             ItmError* error)
{
    ItmHydraulicStatics statics = itm_default_hydraulic_statics();
    statics.force = circuit->force;
    statics.is_free = circuit->is_free;
    if (!circuit->is_static) {
        *rest = itm_hydraulics_check_static(circuit->circuit, d, NULL);
        return ITM_OK;
    }
    ItmStatus status = itm_hydraulics_solve_static(circuit->circuit, d, &statics, rest);
    if (status != ITM_OK && error != NULL) {
        *error = *itm_hydraulics_get_error(d);
        itm_error_locate(error, circuit->start.file, circuit->start.line, circuit->start.column);
    }
    return status;
}

ItmStatus itm_file_create_hydraulics(ItmHydraulics** data, const ItmFileCircuit* circuit, ItmHydraulicResidual* rest,
                                     ItmError* error)
{
    if (data == NULL || circuit == NULL) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "data or circuit is NULL");
    }
    ItmHydraulicResidual left;
    ItmStatus status = itm_hydraulics_create(data, circuit->circuit, &circuit->options, error);
    if (status == ITM_OK) {
        status = solve_start(circuit, *data, rest != NULL ? rest : &left, error);
    }
    if (status != ITM_OK) {
        itm_hydraulics_destroy(*data);
        *data = NULL;
    }
    return status;
}
