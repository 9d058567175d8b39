// Masses of a robot description: inertias that no solid has, and links that have none.
#include "io/model/urdf_import.h"

#include "base/check.h"
#include "math/vec.h"

// ---------------------------------------------------------------------------- mass

static bool is_solid(const ItmUrdfLink* link)
{
    return link->mass > 0.0 && itm_inertia_check(&link->inertia, link->name, NULL) == ITM_OK;
}

// Inertia about a point at `arm` from the centre of mass.
static ItmSym3 shift_inertia(ItmSym3 J, double mass, ItmVec3 arm)
{
    J.xx += mass * (arm.y * arm.y + arm.z * arm.z);
    J.yy += mass * (arm.x * arm.x + arm.z * arm.z);
    J.zz += mass * (arm.x * arm.x + arm.y * arm.y);
    J.xy -= mass * arm.x * arm.y;
    J.xz -= mass * arm.x * arm.z;
    J.yz -= mass * arm.y * arm.z;
    return J;
}

static ItmSym3 add_inertias(ItmSym3 a, ItmSym3 b)
{
    return (ItmSym3){a.xx + b.xx, a.yy + b.yy, a.zz + b.zz, a.xy + b.xy, a.xz + b.xz, a.yz + b.yz};
}

// Put the mass of a link into another one of its group, and leave it as a frame.
static void merge_mass(ItmUrdfImport* m, int into, int from)
{
    ItmUrdfLink *a = &m->robot.links[into], *b = &m->robot.links[from];
    ItmPose between = itm_pose_mul(itm_pose_inverse(m->places[into].world), m->places[from].world);
    ItmPose b_in_a = itm_pose_mul(between, b->inertial);
    ItmMat3 R_a = itm_quat_to_mat(a->inertial.q), R_b = itm_quat_to_mat(b_in_a.q);
    double mass = a->mass + b->mass;
    ItmVec3 com =
        itm_vec_scale(1.0 / mass, itm_vec_add(itm_vec_scale(a->mass, a->inertial.p), itm_vec_scale(b->mass, b_in_a.p)));
    ItmSym3 J_a = shift_inertia(itm_sym_rotate(&R_a, &a->inertia), a->mass, itm_vec_sub(a->inertial.p, com));
    ItmSym3 J_b = shift_inertia(itm_sym_rotate(&R_b, &b->inertia), b->mass, itm_vec_sub(b_in_a.p, com));
    a->mass = mass;
    a->inertial = (ItmPose){com, itm_quat_identity()};
    a->inertia = add_inertias(J_a, J_b);
    b->mass = 0.0;
    itm_read_urdf_note_at(m, b->inertial_line, "the mass of link '%s' is counted to link '%s', which it is fixed to",
                          b->name, a->name);
}

// Merge links of a group into its link `into`: those whose inertia no solid has, or (all) every one.
static void merge_group(ItmUrdfImport* m, int into, bool all)
{
    for (int i = 0; i < m->robot.nlink; i++) {
        const ItmUrdfLink* link = &m->robot.links[i];
        if (i != into && m->places[i].group == m->places[into].group && link->mass > 0.0 && (all || !is_solid(link))) {
            merge_mass(m, into, i);
        }
    }
}

// Enlarge all three principal moments by the same, as little as makes them those of a solid; of a body without any
// inertia by those of a ball of its mass with a radius of gyration of 1 cm.
static void repair_inertia(ItmUrdfImport* m, ItmUrdfLink* link)
{
    double enlarged = 0.0, add = 1e-12 * link->mass;
    ItmSym3 J = link->inertia;
    bool is_zero = J.xx == 0.0 && J.yy == 0.0 && J.zz == 0.0 && J.xy == 0.0 && J.xz == 0.0 && J.yz == 0.0;
    add = is_zero ? 1e-4 * link->mass : add;
    for (int i = 0; i < 200 && !is_solid(link); i++, add *= 1.5) {
        enlarged += add;
        link->inertia.xx = J.xx + enlarged;
        link->inertia.yy = J.yy + enlarged;
        link->inertia.zz = J.zz + enlarged;
    }
    itm_read_urdf_note_at(m, link->inertial_line,
                          "the principal moments of inertia of link '%s' are enlarged by %.3g kg m^2", link->name,
                          enlarged);
}

// Make a link that of a solid with the masses of its group: those that are none's, then all; then by force or not at all.
static void complete_link(ItmUrdfImport* m, int index)
{
    ItmUrdfLink* link = &m->robot.links[index];
    merge_group(m, index, false);
    if (!is_solid(link)) {
        merge_group(m, index, true);
    }
    if (!is_solid(link) && m->repairs) {
        repair_inertia(m, link);
    } else if (!is_solid(link)) {
        ItmError reason = {0};
        itm_inertia_check(&link->inertia, link->name, &reason);
        itm_read_urdf_fail_at(m, link->inertial_line,
                              "%.300s; 'inertia: repair' in urdf enlarges it as little as needed", reason.message);
    }
}

void itm_urdf_complete_masses(ItmUrdfImport* m)
{
    for (int i = 0; i < m->robot.nlink && m->r->status == ITM_OK; i++) {
        ItmUrdfLink* link = &m->robot.links[i];
        int group = m->places[i].group, into = i;
        if (link->mass == 0.0 || is_solid(link)) {
            continue;
        }
        if (group == 0 && !m->is_free) {
            link->mass = 0.0;
            itm_read_urdf_note_at(m, link->inertial_line,
                                  "link '%s' is part of the ground: its inertia is not that of a solid", link->name);
            continue;
        }
        for (int k = m->robot.nlink - 1; k >= 0; k--) {
            into = m->places[k].group == group && is_solid(&m->robot.links[k]) ? k : into;
        }
        complete_link(m, into);
    }
}

// ---------------------------------------------------------------------------- frames

void itm_urdf_find_carriers(const ItmUrdfImport* m, int* carriers)
{
    for (int i = 0; i < m->robot.nlink; i++) {
        carriers[i] = ITM_NONE;
    }
    for (int i = m->robot.nlink - 1; i >= 0; i--) {
        if (m->robot.links[i].mass > 0.0) {
            carriers[m->places[i].group] = i;
        }
    }
}

void itm_urdf_drop_massless(ItmUrdfImport* m, const int* carriers, bool* has_mass)
{
    const ItmUrdf* robot = &m->robot;
    for (int i = robot->nlink - 1; i >= 0; i--) {
        has_mass[i] = has_mass[i] || robot->links[i].mass > 0.0;
        if (i > 0 && has_mass[i]) {
            has_mass[robot->joints[i - 1].parent] = true;
        }
    }
    for (int i = 0; i < robot->nlink; i++) {
        int group = m->places[i].group;
        if (carriers[group] != ITM_NONE || (group == 0 && !m->is_free)) {
            continue;
        }
        m->places[i].is_lost = true;
        if (has_mass[i]) {
            itm_read_urdf_fail_at(m, robot->links[i].line,
                                  "link '%s' moves but has no mass: give it an <inertial>, or fix it to one that has",
                                  robot->links[i].name);
            return;
        }
        itm_read_urdf_note_at(m, robot->links[i].line, "link '%s' is left out: nothing there has mass",
                              robot->links[i].name);
    }
}
