// `limits` and `friction` of a joint: limits and dry friction of its free directions.
#include "io/model/reader.h"

#include <stdio.h>
#include <string.h>

static bool is_rotation(ItmDirection direction)
{
    return direction >= ITM_RX;
}

// ---------------------------------------------------------------------------- directions

// Whether a mapping is by direction: its first key is one.
static bool goes_by_direction(const ItmNode* node)
{
    if (node->kind != ITM_NODE_MAP || node->first == NULL) {
        return false;
    }
    for (int i = 0; i < ITM_DIRECTION_COUNT; i++) {
        if (strcmp(node->first->key->text, itm_model_direction_name((ItmDirection)i)) == 0) {
            return true;
        }
    }
    return false;
}

typedef void ReadDirection(ItmReader* r, const ItmNode* node, const char* name, int joint, ItmDirection direction);

// Read what stands for the only free direction, as "hinge-limit", or for each of several, as
// "slot-limit-tx".
static void read_directions(ItmReader* r, const ItmNode* node, const char* name, int joint, const char* part,
                            ReadDirection* read)
{
    if (r->status != ITM_OK || node == NULL) {
        return;
    }
    char own[256];
    snprintf(own, sizeof own, "%s-%s", name, part);
    if (!goes_by_direction(node)) {
        read(r, node, own, joint, itm_reader_get_only_direction(r, node, joint, true));
        return;
    }
    for (const ItmItem* item = node->first; item != NULL && r->status == ITM_OK; item = item->next) {
        ItmDirection direction = itm_reader_get_direction_word(r, item->key);
        snprintf(own, sizeof own, "%s-%s-%s", name, part, itm_model_direction_name(direction));
        read(r, item->value, own, joint, direction);
    }
}

// ---------------------------------------------------------------------------- limits

enum { LOWER, UPPER, RESTITUTION, STIFFNESS, DAMPING, NKEY };

static const char* const KEYS[NKEY] = {"lower", "upper", "restitution", "stiffness", "damping"};

// [lower, upper], or a mapping with the stop's properties.
static void get_limit_nodes(ItmReader* r, const ItmNode* node, const ItmNode** v)
{
    if (r->status == ITM_OK && node->kind == ITM_NODE_LIST && node->count == 2) {
        memset(v, 0, NKEY * sizeof *v);
        v[LOWER] = node->first->value;
        v[UPPER] = node->last->value;
        return;
    }
    itm_reader_get_map(r, node, "limits", KEYS, NKEY, v);
    if (v[LOWER] == NULL && v[UPPER] == NULL) {
        itm_reader_fail(r, node, "limits need lower or upper, or both: [lower, upper]");
    }
}

static void read_limit(ItmReader* r, const ItmNode* node, const char* name, int joint, ItmDirection direction)
{
    const ItmNode* v[NKEY] = {0};
    ItmLimitDef def = itm_default_limit_def();
    ItmDimension unit = is_rotation(direction) ? ITM_DIM_ONE : ITM_DIM_LENGTH;
    ItmDimension stiffness = is_rotation(direction) ? ITM_DIM_TORQUE : ITM_DIM_STIFFNESS;
    ItmDimension damping = is_rotation(direction) ? ITM_DIM_TORQUE_DAMPING : ITM_DIM_DAMPING;
    get_limit_nodes(r, node, v);
    def.name = name;
    def.joint = joint;
    def.direction = direction;
    def.lower = itm_reader_get_real(r, v[LOWER], unit, def.lower);
    def.upper = itm_reader_get_real(r, v[UPPER], unit, def.upper);
    def.restitution = itm_reader_get_real(r, v[RESTITUTION], ITM_DIM_ONE, def.restitution);
    def.stiffness = itm_reader_get_real(r, v[STIFFNESS], stiffness, def.stiffness);
    def.damping = itm_reader_get_real(r, v[DAMPING], damping, def.damping);
    if (r->status != ITM_OK) {
        return;
    }
    ItmBlame blames[NKEY];
    for (int i = 0; i < NKEY; i++) {
        blames[i] = (ItmBlame){KEYS[i], v[i]};
    }
    itm_reader_take(r, itm_model_builder_add_limit(r->builder, &def, NULL, r->error), node, blames, NKEY);
}

void itm_read_limits(ItmReader* r, const ItmNode* node, const char* name, int joint)
{
    read_directions(r, node, name, joint, "limit", read_limit);
}

// ---------------------------------------------------------------------------- friction

static void read_friction(ItmReader* r, const ItmNode* node, const char* name, int joint, ItmDirection direction)
{
    ItmJointFrictionDef def = itm_default_joint_friction_def();
    def.name = name;
    def.joint = joint;
    def.direction = direction;
    def.force = itm_reader_get_real(r, node, is_rotation(direction) ? ITM_DIM_TORQUE : ITM_DIM_FORCE, 0.0);
    if (r->status == ITM_OK) {
        ItmStatus status = itm_model_builder_add_joint_friction(r->builder, &def, NULL, r->error);
        itm_reader_take(r, status, node, NULL, 0);
    }
}

void itm_read_joint_friction(ItmReader* r, const ItmNode* node, const char* name, int joint)
{
    read_directions(r, node, name, joint, "friction", read_friction);
}
