// Reading values out of the tree of a document, with every complaint at the place where the value
// stands.
//
// The first complaint stays: after it every function here does nothing and gives its default, so
// that a section reads straight through and looks at r->status once, at its end.
#ifndef ITM_IO_MODEL_READER_H
#define ITM_IO_MODEL_READER_H

#include "interim/file.h"
#include "base/nearest.h"
#include "io/document.h"
#include "io/model/file.h"
#include "signal/expression.h"
#include "multibody/model_builder.h"

typedef struct ItmParameter {
    const ItmNode* node;
    enum { ITM_PARAMETER_UNREAD, ITM_PARAMETER_OPEN, ITM_PARAMETER_KNOWN } state;
    ItmQuantity value;
} ItmParameter;

// Unit of a signal's values.
typedef struct ItmSignalUnit {
    ItmDimension dimension;
    bool is_bare;
} ItmSignalUnit;

// A signal of the file's section `signals`: any subsystem may use it.
typedef struct ItmFileSignal {
    ItmSignalDef def;  // its name and points belong to the document
    ItmSignalUnit unit;
} ItmFileSignal;

// Where the signals go that a subsystem uses: its builder.
typedef struct ItmSignalTaker {
    void* builder;
    int (*find)(const void* builder, const char* name);  // id, or ITM_NONE
    ItmStatus (*add)(void* builder, const ItmSignalDef* def, int* id, ItmError* error);
} ItmSignalTaker;

#define ITM_MOST_GROUPS 32

typedef struct ItmReader {
    ItmDocument* doc;
    ItmError* error;
    ItmStatus status;
    ItmParameter* parameters;  // (nparameter)
    int nparameter;
    ItmNames parameter_names;  // name to index
    ItmFileSignal* signals;    // (nsignal)
    int nsignal;
    ItmNames signal_names;     // name to index
    ItmSignalTaker taker;      // of the subsystem that is being read
    ItmModelBuilder* builder;  // of the mechanism that is being read; of the first one otherwise, NULL: there is none
    const char* mechanism;     // its name, NULL: it has none
    ItmModelFile* file;        // what is filled
    ItmFileParts* parts;       // what it is compiled from
    const char* path;          // of the model file; meshes are looked for beside it
    const char* root;          // folder below which all files must be that the model refers to; NULL: any
    const char* groups[ITM_MOST_GROUPS];  // of shapes, bit by bit; the first is "default"
    int ngroup;
} ItmReader;

// ---------------------------------------------------------------------------- complaints

// Complain about a node: message and place. Only the first complaint counts.
void itm_reader_fail(ItmReader* r, const ItmNode* node, const char* format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

// Which node a field of a definition was read from.
typedef struct ItmBlame {
    const char* field;
    const ItmNode* node;  // NULL: not given in the file
} ItmBlame;

// Take over the outcome of a builder call: an error is placed at the node of its field, or at
// `whole`.
void itm_reader_take(ItmReader* r, ItmStatus status, const ItmNode* whole, const ItmBlame* blames, int nblame);

// "there is no KIND 'word'; nearest: 'ward'"
void itm_reader_fail_unknown(ItmReader* r, const ItmNode* node, const char* kind, const ItmNearest* nearest);
void itm_reader_offer_names(ItmNearest* nearest, const ItmNames* names);

// ---------------------------------------------------------------------------- values

// Every getter takes NULL for a key that is absent and then gives the default.

ItmQuantity itm_reader_get_quantity(ItmReader* r, const ItmNode* node);
double itm_reader_get_real(ItmReader* r, const ItmNode* node, ItmDimension dimension, double absent);
// A number that must be whole and lie in [least, most].
int itm_reader_get_int(ItmReader* r, const ItmNode* node, int least, int most, int absent);
ItmVec3 itm_reader_get_vec(ItmReader* r, const ItmNode* node, ItmDimension dimension, ItmVec3 absent);
// [w, x, y, z], {axis, angle} or {euler: [x, y, z]}: turns about x, then y, then z, all along the
// outer frame's axes.
ItmQuat itm_reader_get_orientation(ItmReader* r, const ItmNode* node);
// Index of the word in words, ITM_NONE after a complaint. what: "a type of joint".
int itm_reader_get_word(ItmReader* r, const ItmNode* node, const char* what, const char* const* words, int nword,
                        int absent);
// Index of the type of a named thing, ITM_NONE after a complaint. what: "a force"; kind: "a type of force".
int itm_reader_get_type(ItmReader* r, const ItmItem* item, const char* what, const char* kind, const char* const* types,
                        int ntype);
bool itm_reader_get_bool(ItmReader* r, const ItmNode* node, bool absent);
// Text of a scalar, or NULL after a complaint or without node.
const char* itm_reader_get_text(ItmReader* r, const ItmNode* node, const char* what);
// A path of the file system: as it stands, or beside the model file. The caller frees it; NULL after a complaint.
char* itm_reader_make_path(ItmReader* r, const char* name);
// Complain unless a text is fit for the name of a mechanism or subsystem, the prefix of its results.
void itm_reader_check_name(ItmReader* r, const ItmNode* node);

// The values of a mapping by key: values[i] is that of keys[i], or NULL. Unknown keys are refused.
// what: "a body".
void itm_reader_get_map(ItmReader* r, const ItmNode* node, const char* what, const char* const* keys, int nkey,
                        const ItmNode** values);
// Complain if a key that must be there is absent; map names the place.
void itm_reader_require(ItmReader* r, const ItmNode* map, const ItmNode* value, const char* what, const char* key);
// Whether the node is a mapping of named things (absent: false); complains otherwise.
bool itm_reader_is_collection(ItmReader* r, const ItmNode* node, const char* what);

// The parameters of the file, for expressions.
ItmScope itm_reader_get_scope(ItmReader* r);

// ---------------------------------------------------------------------------- references

// Note a file that the model refers to, by its name in the model.
void itm_reader_keep_reference(ItmReader* r, const char* name, const char* path);

// Body by name, or ITM_GROUND for "ground".
int itm_reader_get_body(ItmReader* r, const ItmNode* node);
// [a, b] into both ids.
void itm_reader_get_bodies(ItmReader* r, const ItmNode* node, int* body_a, int* body_b);
// Material by name, ITM_NONE without node.
int itm_reader_get_material(ItmReader* r, const ItmNode* node);
// The bits of a group of shapes, or of a list of them.
uint32_t itm_reader_get_groups(ItmReader* r, const ItmNode* node, uint32_t absent);
// "joint" (where it has one free direction) or "joint.rz".
void itm_reader_get_direction(ItmReader* r, const ItmNode* node, int* joint, ItmDirection* direction);
// The only free direction of a joint; complains at the node where there is not just one, and advises to
// name it as a key (is_map) or as in "hinge.rz".
ItmDirection itm_reader_get_only_direction(ItmReader* r, const ItmNode* node, int joint, bool is_map);
// The name of a direction alone, "tx" ... "rz".
ItmDirection itm_reader_get_direction_word(ItmReader* r, const ItmNode* node);
// A list of them, as bits 1 << ITM_TX ...; 0 without node.
unsigned itm_reader_get_directions(ItmReader* r, const ItmNode* node);
// Whether a scalar is a single word that is no parameter: it was meant as a name.
bool itm_reader_is_unknown_name(const ItmReader* r, const ItmNode* node);
// Index of the signal of the file that a scalar names, or ITM_NONE.
int itm_reader_find_signal(const ItmReader* r, const ItmNode* node);
// A signal by name, or one of its own: a value, or a mapping as under `signals`. Its unit must fit.
// owner names it. The id is that of r->taker.
int itm_reader_get_signal(ItmReader* r, const ItmNode* node, const char* owner, ItmDimension dimension);
// The same for a mechanism, where an output of another subsystem ("control.angle") may stand instead: the signal is then one that
// is external, and the connection is kept. is_smooth: it goes straight from value to value.
int itm_reader_get_drive(ItmReader* r, const ItmNode* node, const char* owner, ItmDimension dimension, bool is_smooth);
// Whether an output of another subsystem drives `input` of the mechanism that is being read; keeps the connection then.
bool itm_reader_is_driven(ItmReader* r, const ItmNode* node, const char* input);

// Whether a scalar names an output of another subsystem: "control.kappa1".
bool itm_reader_is_connection(const ItmNode* node);
// Keep such a connection; it goes to an input of a subsystem.
void itm_reader_add_connection(ItmReader* r, const ItmNode* node, const char* subsystem, const char* input);
// Complain unless all of them come from a subsystem or the mechanism.
void itm_reader_check_connections(ItmReader* r, const ItmNode* subsystems);
// The place of a node, in memory of its own.
ItmFilePlace itm_reader_get_place(ItmReader* r, const ItmNode* node);

// A point on a body: in its frame, or (world) given in the start pose.
ItmVec3 itm_reader_get_point(ItmReader* r, int body, const ItmNode* in_body, const ItmNode* in_world);
// The nodes that place a joint or bushing.
typedef struct ItmPlace {
    const ItmNode *at, *axis, *x_axis;  // world, start pose
    const ItmNode *frame_a, *frame_b;   // body frames
} ItmPlace;
void itm_reader_get_frames(ItmReader* r, const ItmPlace* place, int body_a, int body_b, ItmPose* frame_a,
                           ItmPose* frame_b);

// Zeroed room for `count` things of `size` bytes, to be freed; complains and gives NULL without memory.
void* itm_reader_take_array(ItmReader* r, int count, size_t size);

// Keep a sentence about something that is read but not used, for the user to see (ItmModelFile.notes).
void itm_reader_note(ItmReader* r, const char* note);
// A note where an angle, rad, is beyond a turn; what: "joint 'hinge' starts at".
void itm_reader_note_angle(ItmReader* r, const ItmNode* node, const char* what, double angle);
// ---------------------------------------------------------------------------- sections, a file each

void itm_read_parameters(ItmReader* r, const ItmNode* node);
void itm_read_signals(ItmReader* r, const ItmNode* node);
// A definition as under `signals`. Returns the node that complaints about the whole go to.
const ItmNode* itm_read_signal(ItmReader* r, const ItmNode* node, ItmSignalDef* def, ItmSignalUnit* unit);
// A signal recorded in a CSV file.
void itm_read_recording(ItmReader* r, const ItmNode* node, ItmSignalDef* def, ItmSignalUnit* unit);
void itm_read_multibody(ItmReader* r, const ItmNode* node);
void itm_read_mechanism(ItmReader* r, const ItmItem* item);
// `subsystems`, and a function a type of them; item: name and definition.
void itm_read_subsystems(ItmReader* r, const ItmNode* node);
void itm_read_circuit(ItmReader* r, const ItmItem* item);
void itm_read_control(ItmReader* r, const ItmItem* item);
void itm_read_fmu(ItmReader* r, const ItmItem* item);
void itm_read_drive(ItmReader* r, const ItmItem* item);
void itm_read_external(ItmReader* r, const ItmItem* item);
void itm_read_materials(ItmReader* r, const ItmNode* node);
void itm_read_material_pairs(ItmReader* r, const ItmNode* node);
void itm_read_contact(ItmReader* r, const ItmNode* node);
void itm_read_bodies(ItmReader* r, const ItmNode* node);
// `flexible` of a body that the builder has.
void itm_read_flexible(ItmReader* r, const ItmNode* node, int body);
void itm_read_shapes(ItmReader* r, const ItmNode* node);
void itm_read_no_contact(ItmReader* r, const ItmNode* node);
void itm_read_joints(ItmReader* r, const ItmNode* node);
// `limits` and `friction` of a joint that the builder has; `name` is that of the joint.
void itm_read_limits(ItmReader* r, const ItmNode* node, const char* name, int joint);
void itm_read_joint_friction(ItmReader* r, const ItmNode* node, const char* name, int joint);
// `clearance` of a joint: the nodes of its parts (the whole node for those that are absent) and its numbers.
typedef enum ItmClearancePart {
    ITM_CLEARANCE_RADIAL,  // or gap, of a prismatic joint
    ITM_CLEARANCE_AXIAL,
    ITM_CLEARANCE_LENGTH,
    ITM_CLEARANCE_RADIUS,
    ITM_CLEARANCE_SECTION,
    ITM_CLEARANCE_FRICTION,
    ITM_CLEARANCE_RESTITUTION,
    ITM_CLEARANCE_STIFFNESS,
    ITM_CLEARANCE_DAMPING,
    ITM_CLEARANCE_NPART
} ItmClearancePart;
void itm_read_clearance(ItmReader* r, const ItmNode* node, ItmJointDef* def,
                        double section[ITM_CLEARANCE_MAX_CORNERS][2], const ItmNode* parts[ITM_CLEARANCE_NPART]);
void itm_read_couplings(ItmReader* r, const ItmNode* node);
void itm_read_motions(ItmReader* r, const ItmNode* node);
void itm_read_forces(ItmReader* r, const ItmNode* node);
void itm_read_urdf(ItmReader* r, const ItmNode* node);
void itm_read_events(ItmReader* r, const ItmNode* node);
void itm_read_cosim(ItmReader* r, const ItmNode* node);
void itm_read_run(ItmReader* r, const ItmNode* node, ItmRunSettings* run);

#define ITM_COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

#endif
