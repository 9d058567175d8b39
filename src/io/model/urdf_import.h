// A robot description on its way into a builder: what the files that do it share.
#ifndef ITM_IO_MODEL_URDF_IMPORT_H
#define ITM_IO_MODEL_URDF_IMPORT_H

#include "io/model/reader.h"
#include "io/geometry/urdf.h"

typedef enum ItmUrdfContacts {
    ITM_URDF_CONTACTS_OUTSIDE,  // with everything that is not the robot
    ITM_URDF_CONTACTS_ALL,      // also of links that no joint connects
    ITM_URDF_CONTACTS_NONE,
} ItmUrdfContacts;

// What a link is in the mechanism.
typedef struct ItmUrdfPlace {
    ItmPose world;    // link frame at the start
    int group;        // links that fixed joints connect: number of the first of them
    bool is_lost;     // without mass below a moving joint, as is all that hangs on it
    int body;         // of the builder, ITM_GROUND
    ItmPose in_body;  // link frame in the body frame
} ItmUrdfPlace;

typedef struct ItmUrdfImport {
    ItmReader* r;
    const ItmNode* node;  // of the file's name in the model file
    const char* path;     // of the URDF file
    ItmUrdf robot;
    bool is_free;  // base
    ItmPose pose;  // of the root link
    ItmUrdfContacts contacts;
    int material;
    bool repairs;  // inertias that no solid has
    const char* prefix;
    const ItmNode* start;
    const ItmNode* packages;
    ItmUrdfPlace* places;  // (nlink)
    double* values;        // start value of each joint  (njoint)
    int* joints;           // of the builder, ITM_NONE: none  (njoint)
} ItmUrdfImport;

// ---------------------------------------------------------------------------- complaints and memory (read_urdf.c)

// The builder's complaint, or our own, at a line of the URDF file.
void itm_read_urdf_status(ItmUrdfImport* m, ItmStatus status, int line);
void itm_read_urdf_fail_at(ItmUrdfImport* m, int line, const char* format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;
void itm_read_urdf_note_at(ItmUrdfImport* m, int line, const char* format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;
// Zeroed memory that lives as long as the document; NULL and a complaint without memory.
void* itm_read_urdf_take(ItmUrdfImport* m, size_t size);
// A path as the model file means it, in such memory.
const char* itm_read_urdf_keep_path(ItmUrdfImport* m, const char* name);
// A name for the builder, which allows fewer characters than XML, and one name for one thing.
const char* itm_read_urdf_make_name(ItmUrdfImport* m, const char* name, const char* ending);

// ---------------------------------------------------------------------------- mass (urdf_mass.c)

// Links whose inertia no solid has: below a fixed base it does not matter; fixed to others the sum counts; otherwise the file
// is refused, or repaired where the user wants that.
void itm_urdf_complete_masses(ItmUrdfImport* m);
// The link of each group that carries its frames: the first with mass, ITM_NONE: none. carriers (nlink)
void itm_urdf_find_carriers(const ItmUrdfImport* m, int* carriers);
// Groups without mass: the ground below a fixed base; otherwise they are lost with all that hangs on them, which must have
// no mass either. has_mass (nlink): something with mass hangs on the link, or it has mass itself.
void itm_urdf_drop_massless(ItmUrdfImport* m, const int* carriers, bool* has_mass);

// ---------------------------------------------------------------------------- shapes (urdf_shapes.c)

void itm_urdf_add_shapes(ItmUrdfImport* m);
// Pairs of links whose shapes do not collide.
void itm_urdf_exclude_contacts(ItmUrdfImport* m);

#endif
