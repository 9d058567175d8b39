// Making the record of a run while it goes: frames of poses and contacts, intervals of contact, worst values of the solver.
#ifndef ITM_IO_RECORDER_H
#define ITM_IO_RECORDER_H

#include "interim/data.h"
#include "io/record.h"

typedef struct ItmRecorder ItmRecorder;

// NULL without memory.
ItmRecorder* itm_recorder_create(void);
void itm_recorder_destroy(ItmRecorder* recorder);

// A mechanism to watch; `prefix` is put before its names with a dot, "" for none. Before the first step; the model and the
// data must live until the record is taken. False without memory.
bool itm_recorder_add(ItmRecorder* recorder, const ItmModel* m, const ItmData* d, const char* prefix);
// A number for the top of a report.
bool itm_recorder_add_number(ItmRecorder* recorder, const char* name, double value, const char* unit,
                             const char* description);
// The state now, at the start and after every step. Costs next to nothing between frames. False without memory.
bool itm_recorder_note(ItmRecorder* recorder, double time);
// The record so far, with the last noted state as its last frame; nothing (scene NULL) where there is no mechanism.
bool itm_recorder_take(ItmRecorder* recorder, ItmRecord* record);

// ---------------------------------------------------------------------------- scene.c

// What the scene says of one mechanism: members of its lists, each ended by ",\n".
typedef struct ItmSceneText {
    ItmText bodies, shapes, joints, lines;
} ItmSceneText;

// Bodies are numbered from `first_body` in the order of their ids.
void itm_scene_add_model(ItmSceneText* scene, const ItmModel* m, const char* prefix, int first_body);

#endif
