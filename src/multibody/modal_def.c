// Definitions of finite element models: names, checks. What only shows in the numbers is refused by the reduction (modal.c).
#include "multibody/modal.h"

#include "base/check.h"

#define MOST_ROWS 1000000  // of the matrices
#define MOST_MODES 1000    // in all

static const char* const FRAME_NAMES[ITM_MODAL_FRAME_COUNT] = {"interface", "free"};

const char* itm_modal_frame_name(ItmModalFrame frame)
{
    return (int)frame >= 0 && frame < ITM_MODAL_FRAME_COUNT ? FRAME_NAMES[frame] : NULL;
}

ItmModalDef itm_default_modal_def(void)
{
    return (ItmModalDef){.modes = 6};
}

static void check_matrix(ItmCheck* c, const char* field, const ItmSparseDef* A, int n)
{
    if (A->n != n) {
        itm_check_refuse(c, field, "%s has %d rows, expected %d", field, A->n, n);
    }
    for (int i = 0; i < A->nentry && c->status == ITM_OK; i++) {
        if (A->row[i] < 0 || A->row[i] >= n || A->column[i] < 0 || A->column[i] >= n) {
            itm_check_refuse(c, field, "entry %d of %s is at (%d, %d), outside of %d rows", i + 1, field, A->row[i] + 1,
                             A->column[i] + 1, n);
        } else if (!isfinite(A->value[i])) {
            itm_check_refuse(c, field, "entry (%d, %d) of %s is not finite", A->row[i] + 1, A->column[i] + 1, field);
        } else if (A->row[i] == A->column[i] && A->value[i] < 0.0) {
            itm_check_refuse(c, field, "entry (%d, %d) of %s is %g: a diagonal must not be negative", A->row[i] + 1,
                             A->column[i] + 1, field, A->value[i]);
        }
    }
}

// Whether nodes span a plane, so that their displacements determine a rotation.
static bool spans_plane(const ItmModalDef* def, const ItmModalInterface* face, double size)
{
    ItmVec3 first = def->nodes[face->nodes[0]];
    double most = 0.0;
    for (int i = 1; i < face->nnode; i++) {
        for (int j = 1; j < i; j++) {
            ItmVec3 normal = itm_vec_cross(itm_vec_sub(def->nodes[face->nodes[i]], first),
                                           itm_vec_sub(def->nodes[face->nodes[j]], first));
            most = fmax(most, itm_vec_norm(normal));
        }
    }
    return most > 1e-9 * size * size;
}

static void check_interfaces(ItmCheck* c, const ItmModalDef* def, int per_node, double size)
{
    for (int k = 0; k < def->ninterface && c->status == ITM_OK; k++) {
        const ItmModalInterface* face = &def->interfaces[k];
        ItmCheck named = itm_check_start(c->function, "interface", face->name, c->error);
        c->status = named.status;
        if (c->status == ITM_OK && face->nnode < 1) {
            itm_check_refuse(c, "interfaces", "interface '%s' has no nodes", face->name);
        }
        for (int i = 0; i < face->nnode && c->status == ITM_OK; i++) {
            if (face->nodes[i] < 0 || face->nodes[i] >= def->nnode) {
                itm_check_refuse(c, "interfaces", "interface '%s': there is no node %d of %d", face->name,
                                 face->nodes[i] + 1, def->nnode);
            }
        }
        if (c->status == ITM_OK && per_node == 3 && !spans_plane(def, face, size)) {
            itm_check_refuse(c, "interfaces",
                             "interface '%s' needs three nodes that are not on a line: nodes of this model "
                             "have no rotations",
                             face->name);
        }
    }
}

static double size_of(const ItmModalDef* def)
{
    double size = 0.0;
    for (int i = 0; i < def->nnode; i++) {
        size = fmax(size, itm_vec_norm(itm_vec_sub(def->nodes[i], def->nodes[0])));
    }
    return size;
}

ItmStatus itm_modal_def_check(const ItmModalDef* def, const char* body, ItmError* error)
{
    ItmCheck c = itm_check_start("itm_model_builder_add_flexible", "flexible body", body, error);
    int n = def->mass.n;
    if (def->nnode < 2 || n > MOST_ROWS || (n != 3 * def->nnode && n != 6 * def->nnode)) {
        itm_check_refuse(&c, "nodes",
                         "%d nodes do not fit matrices of %d rows: each node has 3 or 6 of them, up to %d in all",
                         def->nnode, n, MOST_ROWS);
    }
    for (int i = 0; i < def->nnode && c.status == ITM_OK; i++) {
        if (!itm_vec_is_finite(def->nodes[i])) {
            itm_check_refuse(&c, "nodes", "node %d must be finite", i + 1);
        }
    }
    if (c.status == ITM_OK) {
        check_matrix(&c, "mass", &def->mass, n);
        check_matrix(&c, "stiffness", &def->stiffness, n);
    }
    if (def->ninterface < 1) {
        itm_check_refuse(&c, "interfaces", "it needs at least one interface, where something can hold on to it");
    }
    if (c.status == ITM_OK) {
        check_interfaces(&c, def, n / def->nnode, size_of(def));
    }
    if (itm_modal_frame_name(def->frame) == NULL) {
        itm_check_refuse(&c, "frame", "there is no such choice of the frame");
    }
    if (def->modes < 0 || 6 * def->ninterface + def->modes > MOST_MODES) {
        itm_check_refuse(&c, "modes", "modes must be 0 to %d beside %d interfaces, got %d",
                         MOST_MODES - 6 * def->ninterface, def->ninterface, def->modes);
    }
    return c.status;
}
