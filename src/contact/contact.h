// Contacts: which shapes a model has, where they touch in a step, and the bounded rows that follow.
#ifndef ITM_CONTACT_CONTACT_H
#define ITM_CONTACT_CONTACT_H

#include "contact/broad.h"
#include "contact/geom.h"
#include "contact/narrow.h"
#include "multibody/bounded.h"
#include "multibody/model_builder.h"

// clang-format off
typedef struct ItmCollider {
    const char* name;
    int      body;       // or ITM_NONE: the world
    int         owner;     // the user's body that this is part of
    int      user_id;    // and its number for the user, ITM_GROUND: the world
    ItmFrame frame;      // of the shape in the body (origin in the centre of mass)
    ItmGeom* geom;       // owned by the first of successive shapes that are the same
    bool     is_shared;  // not the first
    int      material;   // index in the table of surfaces
    uint32_t group, mask;
    int      color;      // 0xRRGGBB or ITM_NONE
} ItmCollider;

typedef struct ItmGap {
    const char* name;
    int      body_a, body_b; // ITM_NONE: the world
    int      user_a, user_b; // their numbers for the user, ITM_GROUND: the world
    ItmGapFunction* function;
    void*    context;
    int      max_points;
    ItmSurface surface;
} ItmGap;

typedef struct ItmContactModel {
    int          ncollider, ngap, nmaterial, nexcluded;
    ItmCollider* colliders;     // (ncollider)
    ItmGap*      gaps;          // (ngap)
    ItmSurface*  surfaces;      // what holds between two materials   (nmaterial x nmaterial)
    uint64_t*    excluded;      // pairs of bodies that never collide, sorted (nexcluded)
} ItmContactModel;

// A contact of the present step.
typedef struct ItmContact {
    int      first, second;     // colliders; or the gap and ITM_NONE
    int      body_a, body_b;
    ItmContactPoint point;
    ItmVec3  tangent[2];
    int      row;               // normal row in the table of bounded rows
    int      ntangent;          // tangent rows behind it: 0 or 2
} ItmContact;

#define ITM_CONTACT_BATCH 1024  // pairs that are examined by threads at a time

typedef struct ItmContactData {
    int         ncontact, capacity;
    ItmContact* contacts;       // (capacity)
    ItmFrame*   frames;         // shapes in the world                (ncollider)
    ItmAabb*    boxes;          // around them, with their margins    (ncollider)
    double*     margins;        // (ncollider) m
    ItmBroadFilter* filters;    // groups, masks and bodies of the shapes (ncollider)
    ItmBroad    broad;
    ItmContactPoint* points;    // of the pairs that are being examined, chunk by chunk (ITM_CONTACT_BATCH, or all pairs, x ITM_NARROW_MAX_POINTS)
    signed char* npoint;        // of each of them; ITM_NARROW_INVALID            (ITM_CONTACT_BATCH, or all pairs)
    ItmVec3*    kick;           // what impacts of the step may change the velocities of bodies by (nbody) m/s
    bool        has_kick;       // some are not 0
    bool        has_bounces;    // some pair of surfaces has restitution
    double      most_reach;     // largest of the margins                       m
    double      least_size;     // of the shapes of bodies                      m
    ItmArena    arena;          // all of the above
    int         invalid_first, invalid_second; // a pair without a usable normal, or ITM_NONE
    int         lost_first, lost_second; // the first pair that did not fit, or ITM_NONE
} ItmContactData;
// clang-format on

// The geometry of a definition. ITM_ERR_INPUT where it has none: a flat hull, a mesh without triangles.
ItmStatus itm_contact_create_geom(ItmGeom** geom, const ItmColliderDef* def, ItmError* error);
// The law between two materials that are not given as a pair.
ItmSurface itm_contact_combine_surfaces(const ItmSurface* a, const ItmSurface* b);

// Whether shapes of these bodies (ITM_NONE: the world) never collide.
bool itm_contact_is_excluded(const ItmContactModel* contact, int body_a, int body_b);

// Bytes of the contacts of a data object.
size_t itm_contact_measure_data(const ItmModel* m);
ItmStatus itm_contact_create_data(const ItmModel* m, ItmData* d, ItmError* error);
void itm_contact_destroy_data(ItmData* d);

// Find the contacts of the present configuration that a step h could close, and add their rows. After the velocity stage.
// ITM_ERR_NOT_FINITE names a pair of shapes for which no normal can be found.
ItmStatus itm_contact_add_rows(const ItmModel* m, ItmData* d, double h);

// After the rows of a step h are there: bodies that are hit in it, and those that these hit in turn, may come farther than their velocities
// have it. True: some do, and the rows are to be added again.
bool itm_contact_extend_reach(const ItmModel* m, ItmData* d, double h);
// Reaches are again those of the velocities.
void itm_contact_reset_reach(const ItmModel* m, ItmData* d);

// itm_contact_get_info with the impulses as they are, also while stepping.
ItmContactInfo itm_contact_look(const ItmData* d, int contact);
// State of a contact whatever the share of the load that redundant contacts leave it: closed where it carries load or keeps its gap.
ItmContactState itm_contact_get_state(const ItmData* d, int contact);
// What a bounded row of the last step is called: "contact of 'box' and 'floor': normal", "limit 'elbow'".
void itm_data_name_row(const ItmModel* m, const ItmData* d, int row, bool with_direction, char* out, size_t size);

// Shapes, gap functions and materials of a builder, into the model; and what they hold.
ItmStatus itm_contact_build(ItmModel* m, const ItmModelBuilder* b, ItmError* error);
void itm_contact_destroy(ItmModel* m);

#define ITM_CONTACT_TURN 0.3  // rad

// Whether two normals of a contact, a step apart, are those of one motion. Features keep their key where the normal jumps from one face to
// the next, too: that is another contact.
static inline bool itm_contact_is_turn(ItmVec3 a, ItmVec3 b)
{
    ItmVec3 d = itm_vec_sub(a, b);
    return itm_vec_dot(d, d) <= ITM_CONTACT_TURN * ITM_CONTACT_TURN;
}

#endif
