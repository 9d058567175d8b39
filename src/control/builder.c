#include "control/builder.h"

#include "base/builder.h"
#include "base/check.h"
#include "signal/signal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static ItmStatus out_of_memory(ItmError* error)
{
    return itm_error_set(error, ITM_ERR_MEMORY, "itm_control_add", NULL, "out of memory");
}

static ItmStatus refuse_null(ItmError* error, const char* function)
{
    return itm_error_set(error, ITM_ERR_ARGUMENT, function, NULL, "builder, def or name is NULL");
}

// Register the name of what was just appended; it must be new. Otherwise the list is shortened again.
static ItmStatus register_name(ItmNames* names, const char** name, int* count, int* id, ItmError* error)
{
    return itm_list_commit(itm_names_take(names, name, *count - 1, "itm_control_add", error), count, id);
}

// ---------------------------------------------------------------------------- life

ItmStatus itm_control_builder_create(ItmControlBuilder** builder, ItmError* error)
{
    if (builder == NULL) {
        return refuse_null(error, __func__);
    }
    *builder = calloc(1, sizeof **builder);
    return *builder != NULL ? ITM_OK : out_of_memory(error);
}

static void free_entry(ItmControlEntry* entry)
{
    for (int slot = 0; slot < ITM_SLOT_COUNT; slot++) {
        itm_program_free(&entry->programs[slot]);
    }
    itm_signal_def_free(&entry->table);
    free((void*)entry->def.unit);
}

void itm_control_builder_destroy(ItmControlBuilder* b)
{
    if (b == NULL) {
        return;
    }
    for (int i = 0; i < b->signals.count; i++) {
        itm_signal_def_free(&b->signals.items[i]);
    }
    for (int i = 0; i < b->blocks.count; i++) {
        free_entry(&b->blocks.items[i]);
    }
    free(b->name);
    free(b->signals.items);
    free(b->constants.items);
    free(b->blocks.items);
    itm_names_free(&b->signal_names);
    itm_names_free(&b->constant_names);
    itm_names_free(&b->block_names);
    free(b);
}

ItmStatus itm_control_builder_set_name(ItmControlBuilder* b, const char* name, ItmError* error)
{
    if (b == NULL || name == NULL) {
        return refuse_null(error, __func__);
    }
    char* copy = strdup(name);
    if (copy == NULL) {
        return out_of_memory(error);
    }
    free(b->name);
    b->name = copy;
    return ITM_OK;
}

void itm_control_builder_set_scope(ItmControlBuilder* b, const ItmScope* scope)
{
    b->scope = scope;
}

// ---------------------------------------------------------------------------- signals and constants

ItmStatus itm_control_builder_add_signal(ItmControlBuilder* b, const ItmSignalDef* def, ItmError* error)
{
    ITM_REQUIRE(itm_check_start(__func__, "signal", def->name, error).status);
    ITM_REQUIRE(itm_signal_def_check(def, error));
    ItmSignalDef copy;
    if (!itm_signal_def_copy(&copy, def)) {
        return out_of_memory(error);
    }
    ItmStatus status = ITM_LIST_APPEND(b->signals, copy)
                           ? register_name(&b->signal_names, &b->signals.items[b->signals.count - 1].name,
                                           &b->signals.count, NULL, error)
                           : out_of_memory(error);
    if (status != ITM_OK) {
        itm_signal_def_free(&copy);
    }
    return status;
}

ItmStatus itm_control_builder_add_constant(ItmControlBuilder* b, const char* name, double value, ItmError* error)
{
    if (b == NULL || name == NULL) {
        return refuse_null(error, __func__);
    }
    ItmCheck k = itm_check_start(__func__, "constant", name, error);
    itm_check_finite(&k, "value", value);
    if (k.status != ITM_OK) {
        return k.status;
    }
    return ITM_LIST_APPEND(b->constants, value)
               ? register_name(&b->constant_names, &name, &b->constants.count, NULL, error)
               : out_of_memory(error);
}

// ---------------------------------------------------------------------------- blocks

static ItmStatus compile_texts(const ItmControlBuilder* b, ItmControlEntry* entry, const ItmControlBlockDef* def,
                               ItmError* error)
{
    for (int slot = 0; slot < ITM_SLOT_COUNT; slot++) {
        const char* text = itm_control_block_def_get_text(def, (ItmControlSlot)slot);
        ItmExpressionError fault;
        ItmStatus status = text == NULL ? ITM_OK : itm_program_compile(&entry->programs[slot], text, b->scope, &fault);
        if (status == ITM_ERR_INPUT) {
            itm_error_set(error, status, "itm_control_builder_add_block", itm_control_slot_name((ItmControlSlot)slot),
                          "block '%s': %s", def->name, fault.message);
            if (error != NULL) {
                error->column = (int)fault.offset + 1;
            }
        }
        if (status != ITM_OK) {
            return status == ITM_ERR_INPUT ? status : out_of_memory(error);
        }
    }
    return ITM_OK;
}

// Copies of what the definition points to.
static bool copy_entry(ItmControlEntry* entry, const ItmControlBlockDef* def)
{
    entry->def = *def;
    entry->def.unit = strdup(def->unit != NULL ? def->unit : "");
    entry->def.input = entry->def.error_rate = entry->def.feed_forward = NULL;
    entry->def.points = entry->def.values = NULL;
    bool has_table = def->kind == ITM_CONTROL_LOOKUP;
    ItmSignalDef table = itm_default_signal_def();
    table.kind = !has_table ? ITM_SIGNAL_CONSTANT : def->is_stepped ? ITM_SIGNAL_PIECEWISE : ITM_SIGNAL_TABLE;
    table.interpolation = def->interpolation;
    table.times = def->points;
    table.values = def->values;
    table.npoint = def->npoint;
    return itm_signal_def_copy(&entry->table, &table) && entry->def.unit != NULL;
}

ItmStatus itm_control_builder_add_block(ItmControlBuilder* b, const ItmControlBlockDef* def, int* id, ItmError* error)
{
    ITM_REQUIRE(itm_control_block_def_check(def, error));
    ItmControlEntry entry = {0};
    ItmStatus status = copy_entry(&entry, def) ? compile_texts(b, &entry, def, error) : out_of_memory(error);
    if (status == ITM_OK) {
        status = ITM_LIST_APPEND(b->blocks, entry)
                     ? register_name(&b->block_names, &b->blocks.items[b->blocks.count - 1].def.name, &b->blocks.count,
                                     id, error)
                     : out_of_memory(error);
    }
    if (status != ITM_OK) {
        free_entry(&entry);
    }
    return status;
}
