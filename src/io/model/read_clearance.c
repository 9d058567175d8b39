// `clearance` of a joint, in one line.
#include "io/model/reader.h"

#include <string.h>

enum { GAP = ITM_CLEARANCE_NPART, NKEY };

static const char* const KEYS[NKEY] = {"radial",   "axial",       "length",    "radius",  "section",
                                       "friction", "restitution", "stiffness", "damping", "gap"};

// ---------------------------------------------------------------------------- section

// {width, height}: a rectangle about the origin.
static int read_rectangle(ItmReader* r, const ItmNode* node, double section[][2])
{
    enum { WIDTH, HEIGHT, NSIZE };
    static const char* const SIZES[NSIZE] = {"width", "height"};
    const ItmNode* v[NSIZE];
    itm_reader_get_map(r, node, "a section", SIZES, NSIZE, v);
    itm_reader_require(r, node, v[WIDTH], "a rectangular section", "width");
    itm_reader_require(r, node, v[HEIGHT], "a rectangular section", "height");
    double x = 0.5 * itm_reader_get_real(r, v[WIDTH], ITM_DIM_LENGTH, 0.0);
    double y = 0.5 * itm_reader_get_real(r, v[HEIGHT], ITM_DIM_LENGTH, 0.0);
    const double corners[4][2] = {{-x, -y}, {x, -y}, {x, y}, {-x, y}};
    memcpy(section, corners, sizeof corners);
    return 4;
}

static void read_corner(ItmReader* r, const ItmNode* node, double corner[2])
{
    if (node->kind != ITM_NODE_LIST || node->count != 2) {
        char found[64];
        itm_reader_fail(r, node, "expected a corner [x, y], found %s",
                        itm_document_describe(node, found, sizeof found));
        return;
    }
    corner[0] = itm_reader_get_real(r, node->first->value, ITM_DIM_LENGTH, 0.0);
    corner[1] = itm_reader_get_real(r, node->last->value, ITM_DIM_LENGTH, 0.0);
}

// Corners into section; their number.
static int read_section(ItmReader* r, const ItmNode* node, double section[][2])
{
    if (r->status != ITM_OK || node == NULL) {
        return 0;
    }
    if (node->kind == ITM_NODE_MAP) {
        return read_rectangle(r, node, section);
    }
    if (node->kind != ITM_NODE_LIST || node->count > ITM_CLEARANCE_MAX_CORNERS) {
        itm_reader_fail(r, node, "expected up to %d corners [[x, y], ...] of a convex polygon, or {width, height}",
                        ITM_CLEARANCE_MAX_CORNERS);
        return 0;
    }
    int n = 0;
    for (const ItmItem* item = node->first; item != NULL && r->status == ITM_OK; item = item->next) {
        read_corner(r, item->value, section[n++]);
    }
    return n;
}

// ---------------------------------------------------------------------------- clearance

// The one clearance of a joint is called radial where it is round, gap where it is a prism.
static const ItmNode* get_play(ItmReader* r, const ItmNode* node, const ItmNode** v, const ItmJointDef* def)
{
    bool is_prism = def->type == ITM_JOINT_PRISMATIC;
    const ItmNode* wrong = v[is_prism ? ITM_CLEARANCE_RADIAL : GAP];
    if (wrong != NULL) {
        itm_reader_fail(r, wrong, "the clearance of a %s joint is called '%s'", itm_model_joint_type_name(def->type),
                        is_prism ? "gap" : "radial");
    }
    const ItmNode* play = v[is_prism ? GAP : ITM_CLEARANCE_RADIAL];
    itm_reader_require(r, node, play, "clearance", is_prism ? "gap" : "radial");
    return play;
}

void itm_read_clearance(ItmReader* r, const ItmNode* node, ItmJointDef* def,
                        double section[ITM_CLEARANCE_MAX_CORNERS][2], const ItmNode* parts[ITM_CLEARANCE_NPART])
{
    const ItmNode* v[NKEY] = {0};
    if (r->status != ITM_OK || node == NULL) {
        return;
    }
    ItmClearance* play = &def->clearance;
    if (node->kind == ITM_NODE_MAP) {
        itm_reader_get_map(r, node, "clearance", KEYS, NKEY, v);
        v[ITM_CLEARANCE_RADIAL] = get_play(r, node, v, def);
    } else {
        v[ITM_CLEARANCE_RADIAL] = node;
    }
    play->radial = itm_reader_get_real(r, v[ITM_CLEARANCE_RADIAL], ITM_DIM_LENGTH, 0.0);
    double axial = def->type == ITM_JOINT_REVOLUTE ? play->radial : 0.0;
    play->axial = itm_reader_get_real(r, v[ITM_CLEARANCE_AXIAL], ITM_DIM_LENGTH, axial);
    play->length = itm_reader_get_real(r, v[ITM_CLEARANCE_LENGTH], ITM_DIM_LENGTH, 0.0);
    play->radius = itm_reader_get_real(r, v[ITM_CLEARANCE_RADIUS], ITM_DIM_LENGTH, 0.0);
    play->friction = itm_reader_get_real(r, v[ITM_CLEARANCE_FRICTION], ITM_DIM_ONE, 0.0);
    play->restitution = itm_reader_get_real(r, v[ITM_CLEARANCE_RESTITUTION], ITM_DIM_ONE, 0.0);
    play->stiffness = itm_reader_get_real(r, v[ITM_CLEARANCE_STIFFNESS], ITM_DIM_STIFFNESS, 0.0);
    play->damping = itm_reader_get_real(r, v[ITM_CLEARANCE_DAMPING], ITM_DIM_DAMPING, 0.0);
    play->nsection = read_section(r, v[ITM_CLEARANCE_SECTION], section);
    play->section = section[0];
    for (int i = 0; i < ITM_CLEARANCE_NPART; i++) {
        parts[i] = v[i] != NULL ? v[i] : node;
    }
}
