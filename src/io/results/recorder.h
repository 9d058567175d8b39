// Making the record of a run while it goes: frames of poses and contacts, intervals of contact, worst values of the solver.
#ifndef ITM_IO_RESULTS_RECORDER_H
#define ITM_IO_RESULTS_RECORDER_H

#include "interim/cosim.h"
#include "io/results/record.h"

typedef struct ItmRecorder ItmRecorder;

// NULL without memory.
ItmRecorder* itm_recorder_create(void);
void itm_recorder_destroy(ItmRecorder* recorder);

// A mechanism to watch; `prefix` is put before its names with a dot, "" for none. Before the first step; the model and the
// data must live until the record is taken. False without memory.
bool itm_recorder_add(ItmRecorder* recorder, const ItmModel* m, ItmData* d, const char* prefix);
// The interfaces of a system whose mechanisms are watched; before the first step, the system must live as long.
void itm_recorder_add_interfaces(ItmRecorder* recorder, ItmCosim* cosim);
// A number for the top of a report.
bool itm_recorder_add_number(ItmRecorder* recorder, const char* name, double value, const char* unit,
                             const char* description);
// An override of a value of the model file, "key.path=value".
bool itm_recorder_add_setting(ItmRecorder* recorder, const char* setting);
bool itm_recorder_add_message(ItmRecorder* recorder, const char* message);
// The state now, at the start and after every step. Costs next to nothing between frames. False without memory.
bool itm_recorder_note(ItmRecorder* recorder, double time);
// The record so far, with the last noted state as its last frame; nothing (scene NULL) where there is no mechanism.
bool itm_recorder_take(ItmRecorder* recorder, ItmRecord* record);

// Frames, worst values and intervals so far, for a checkpoint. Failure: text->has_failed.
void itm_recorder_save(const ItmRecorder* recorder, ItmText* text);
// The same back into a recorder that watches the same mechanisms and has noted nothing. The bytes are not trusted. ITM_ERR_INPUT,
// ITM_ERR_MEMORY.
ItmStatus itm_recorder_restore(ItmRecorder* recorder, const char* bytes, size_t length);

// ---------------------------------------------------------------------------- scene.c

// The scene of one mechanism: entries of its lists, each ended by ",\n".
typedef struct ItmSceneText {
    ItmText bodies, shapes, joints, lines, flexible;
} ItmSceneText;

// Bodies are numbered from `first_body` in the order of their ids, modes from `first_mode`.
void itm_scene_add_model(ItmSceneText* scene, const ItmModel* m, const char* prefix, int first_body, int first_mode);

// Pieces of members: a member opens with its name.
void itm_scene_open_member(ItmText* text, const char* prefix, const char* name);
void itm_scene_close_member(ItmText* text);
void itm_scene_add_vec(ItmText* text, const char* key, ItmVec3 v);
// Number in the scene of a body of the model.
int itm_scene_find_body(const ItmModel* m, int body, int first_body);

#endif
