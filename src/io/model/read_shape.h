// A shape as a file writes it: an entry of `shapes`, or the `shape` of a body.
#ifndef ITM_IO_MODEL_READ_SHAPE_H
#define ITM_IO_MODEL_READ_SHAPE_H

#include "io/geometry/mesh.h"
#include "io/model/reader.h"

typedef struct ItmShapeText {
    ItmColliderDef def;   // name and body are left to whoever reads it
    const ItmNode* body;  // under `shapes`: the body's name
    bool collides;        // otherwise it is only to look at
    const ItmNode* kind;  // what stands behind `box`, `sphere`, ...
    const ItmNode* position;
    const ItmNode* orientation;
    const ItmNode* material;
    ItmMesh mesh;     // owned: vertices and triangles of def
    double* heights;  // owned: heights of def
} ItmShapeText;

// Read a mapping with the keys of a shape; `body` is one of them unless it is the shape of a body.
// Free it afterwards, also after a complaint.
void itm_read_shape(ItmReader* r, const ItmNode* node, bool is_of_body, ItmShapeText* shape);
void itm_read_free_shape_text(ItmShapeText* shape);

// read_shape_kinds.c: box, sphere, ...: the names, in the order of ItmColliderKind, and what stands
// behind each into kind, size, pose and arrays of the definition.
extern const char* const itm_shape_kind_keys[ITM_COLLIDER_KIND_COUNT];
void itm_read_shape_kind(ItmReader* r, const ItmNode* node, ItmColliderKind kind, ItmShapeText* shape);

// read_shapes.c: add it to the builder under this name; `whole` is where it stands.
void itm_read_add_shape(ItmReader* r, const ItmNode* whole, const char* name, int body, ItmShapeText* shape);

// Mass, centre and inertia in the frame of the body, of density 1 or the density given.
void itm_read_shape_mass(ItmReader* r, const ItmShapeText* shape, const ItmNode* density, ItmBodyDef* body);

#endif
