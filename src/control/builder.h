// The definitions a control builder has collected, as the compiler of controls reads them.
#ifndef ITM_CONTROL_BUILDER_H
#define ITM_CONTROL_BUILDER_H

#include "base/names.h"
#include "signal/program.h"
#include "interim/control.h"

// Growing array of definitions; `items` owns copies, whose strings and tables belong to the builder.
#define ITM_CONTROL_LIST(type)                                                                                         \
    struct {                                                                                                           \
        type* items;                                                                                                   \
        int count, capacity;                                                                                           \
    }

// The expressions of a block.
typedef enum ItmControlSlot {
    ITM_SLOT_INPUT,
    ITM_SLOT_ERROR_RATE,
    ITM_SLOT_FEED_FORWARD,
    ITM_SLOT_COUNT
} ItmControlSlot;

typedef struct ItmControlEntry {
    ItmControlBlockDef def;               // its unit is owned; neither expressions nor points
    ItmSignalDef table;                   // look-up: points as times
    ItmProgram programs[ITM_SLOT_COUNT];  // without ops where there is no expression
} ItmControlEntry;

struct ItmControlBuilder {
    char* name;  // of the subsystem, or NULL
    ITM_CONTROL_LIST(ItmSignalDef) signals;
    ITM_CONTROL_LIST(double) constants;
    ITM_CONTROL_LIST(ItmControlEntry) blocks;
    ItmNames signal_names, constant_names, block_names;  // name to index
    const ItmScope* scope;                               // decides which words are parameters and no units, or NULL
};

// Parameters that expressions added from now on may name; kept, not copied.
void itm_control_builder_set_scope(ItmControlBuilder* b, const ItmScope* scope);

// "input", "error_rate", "feed_forward": members of ItmControlBlockDef
const char* itm_control_slot_name(ItmControlSlot slot);
// The text of an expression of a definition, or NULL.
const char* itm_control_block_def_get_text(const ItmControlBlockDef* def, ItmControlSlot slot);
// Whether a definition may be added, its expressions apart.
ItmStatus itm_control_block_def_check(const ItmControlBlockDef* def, ItmError* error);

#endif
