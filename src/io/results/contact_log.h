// Contacts of a run: which pairs touched when and how, and the points and forces of a moment. Gaps of joints with clearance count as
// contacts of the joint with itself.
#ifndef ITM_IO_RESULTS_CONTACT_LOG_H
#define ITM_IO_RESULTS_CONTACT_LOG_H

#include "interim/data.h"
#include "io/cursor.h"
#include "io/text.h"
#include "multibody/model_builder.h"

#include <stdint.h>

// A mechanism that is watched.
typedef struct ItmWatched {
    const ItmModel* model;
    ItmData* data;
    char* prefix;    // of its names, "" for none
    int first_body;  // in the scene
} ItmWatched;

typedef ITM_DEF_LIST(ItmWatched) ItmWatchedList;

// Two shapes that touched, and the state that they are in since a moment.
typedef struct ItmTouchPair {
    const char *name_a, *name_b;  // belong to the model; name_b NULL: a user's gap, a joint with clearance
    int mechanism;
    int state, noted_state;  // of the interval; of the step being noted
    double since;
} ItmTouchPair;

typedef struct ItmTouchInterval {
    double from, to;
    int32_t pair, state;
} ItmTouchInterval;

// A contact at a frame: point, force on the second shape.
typedef struct ItmTouch {
    float values[6];
    int32_t pair, state;
} ItmTouch;

typedef ITM_DEF_LIST(ItmTouch) ItmTouchList;

typedef struct ItmContactLog {
    ITM_DEF_LIST(ItmTouchPair) pairs;
    ITM_DEF_LIST(ItmTouchInterval) intervals;
    long nlost;  // intervals past the limit
    int* hash;   // pairs by their names, ITM_NONE: empty
} ItmContactLog;

// False without memory.
bool itm_contact_log_init(ItmContactLog* log);
void itm_contact_log_free(ItmContactLog* log);

// What the last step, which began at `from`, did to every pair: one that sticks at any of its points sticks.
void itm_contact_log_note(ItmContactLog* log, const ItmWatchedList* mechanisms, double from);
// The hardest contacts of the last step, which took `step`, with their mean forces.
void itm_contact_log_take(ItmContactLog* log, const ItmWatchedList* mechanisms, double step, ItmTouchList* touches);
// The run ends: so do all intervals.
void itm_contact_log_end(ItmContactLog* log, double time);
// The whole log, for a checkpoint, and back into an empty one, whose names are those of the mechanisms. ITM_ERR_INPUT: there are no such
// names or pairs. ITM_ERR_MEMORY.
void itm_contact_log_save(const ItmContactLog* log, ItmText* text);
ItmStatus itm_contact_log_restore(ItmContactLog* log, const ItmWatchedList* mechanisms, ItmCursor* c);
// Names of the pairs as members of a JSON list, each ended by ",\n".
void itm_contact_log_name_pairs(const ItmContactLog* log, const ItmWatchedList* mechanisms, ItmText* text);

// A number that fits a float: pictures of a run that blew up end at its largest.
float itm_contact_log_to_float(double x);

#endif
