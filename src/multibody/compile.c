// Compilation: definitions in, tables out. The steps are in itm_compile_model at the end.
#include "multibody/compile.h"

#include "base/error.h"
#include "multibody/clearance.h"
#include "multibody/latch.h"
#include "multibody/measure.h"

#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------- frames and bodies

// A frame given in the user's body frame, moved to where it holds on. body: user's id
static ItmFrame frame_in_body(const ItmModel* m, const ItmModelBuilder* b, int body, ItmPose pose)
{
    ItmVec3 origin = itm_flexible_attach(m, b, body, pose.p).origin;
    return (ItmFrame){itm_vec_sub(pose.p, origin), itm_quat_to_mat(itm_quat_normalize(pose.q))};
}

static ItmVec3 point_in_body(const ItmModel* m, const ItmModelBuilder* b, int body, ItmVec3 point)
{
    return itm_vec_sub(point, itm_flexible_attach(m, b, body, point).origin);
}

static int index_at(const ItmModel* m, const ItmModelBuilder* b, int body, ItmVec3 point)
{
    return itm_flexible_attach(m, b, body, point).body;
}

// Inverse K of the lower Cholesky factor L of J, packed by rows: L K = I, column by column.
static void factor_inertia(double K[6], const ItmSym3* J)
{
    double xx = sqrt(J->xx), yx = J->xy / xx, yy = sqrt(J->yy - yx * yx);
    double zx = J->xz / xx, zy = (J->yz - zx * yx) / yy, zz = sqrt(J->zz - zx * zx - zy * zy);
    K[0] = 1.0 / xx;
    K[1] = -yx * K[0] / yy;
    K[2] = 1.0 / yy;
    K[3] = -(zx * K[0] + zy * K[1]) / zz;
    K[4] = -zy * K[2] / zz;
    K[5] = 1.0 / zz;
}

#define ALIGNED 1e-15  // directions that differ by no more do so by rounding

// Whether body and parent have the same axes at q = 0, C = I, and n is one of these, or its opposite: then no product of matrices is needed.
static void find_turn_axis(ItmBody* body, const ItmMat3* C, ItmVec3 n)
{
    const double c[9] = {C->x.x - 1.0, C->x.y, C->x.z, C->y.x, C->y.y - 1.0, C->y.z, C->z.x, C->z.y, C->z.z - 1.0};
    bool is_aligned = true;
    for (int k = 0; k < 9; k++) {
        is_aligned = is_aligned && fabs(c[k]) <= ALIGNED;
    }
    body->turn_axis = is_aligned ? itm_axes_find_one(n, ALIGNED, &body->turn_sign) : ITM_NONE;
}

// Rodrigues: a Rot(e, q) b' = (n n' + cos (I - n n') + sin n~) C with n = a e and C = a b'
static void precompute_turn(ItmBody* body)
{
    ItmMat3 b_t = itm_mat_transpose(&body->b.R);
    ItmMat3 C = itm_mat_mul(&body->a.R, &b_t);
    ItmVec3 n = itm_mat_column(&body->a.R, body->rot_axis[0]);
    body->axis = n;
    find_turn_axis(body, &C, n);
    const ItmVec3* columns[3] = {&C.x, &C.y, &C.z};
    ItmVec3* out[3][3] = {{&body->turn[0].x, &body->turn[1].x, &body->turn[2].x},
                          {&body->turn[0].y, &body->turn[1].y, &body->turn[2].y},
                          {&body->turn[0].z, &body->turn[1].z, &body->turn[2].z}};
    for (int k = 0; k < 3; k++) {
        ItmVec3 along = itm_vec_scale(itm_vec_dot(n, *columns[k]), n);
        *out[k][0] = along;
        *out[k][1] = itm_vec_sub(*columns[k], along);
        *out[k][2] = itm_vec_cross(n, *columns[k]);
    }
}

static void make_free(ItmBody* body)
{
    body->mobility = ITM_MOBILIZER_FREE;
    body->parent = ITM_NONE;
    body->a = body->b = (ItmFrame){{0, 0, 0}, itm_mat_identity()};
    body->ntrans = 3;
    body->nrot = 3;
    for (int k = 0; k < 3; k++) {
        body->trans_axis[k] = k;
    }
}

// The mobilizer of a body that a joint carries.
static void make_jointed(const ItmModel* m, ItmBody* body, const ItmModelBuilder* b, int joint, bool is_reversed)
{
    const ItmJointDef* def = &b->joints.items[joint];
    unsigned free = itm_model_get_free_directions(def);
    ItmFrame a = frame_in_body(m, b, def->body_a, def->frame_a);
    ItmFrame bb = frame_in_body(m, b, def->body_b, def->frame_b);
    body->joint = joint;
    body->parent =
        is_reversed ? index_at(m, b, def->body_b, def->frame_b.p) : index_at(m, b, def->body_a, def->frame_a.p);
    body->a = is_reversed ? bb : a;
    body->b = is_reversed ? a : bb;
    if (def->type == ITM_JOINT_SCREW) {
        body->lead = def->pitch / (2.0 * ITM_PI);
        free &= ~(1u << ITM_TZ);
    }
    for (int k = 0; k < 3; k++) {
        if (free & (1u << k)) {
            body->trans_axis[body->ntrans++] = k;
        }
    }
    int axes[3];
    body->nrot = itm_measure_get_free_rotations(free, axes);
    for (int k = 0; k < 2 && k < body->nrot; k++) {
        // seen from the other side the last rotation comes first
        body->rot_axis[k] = axes[is_reversed && body->nrot == 2 ? 1 - k : k];
    }
    if (body->ntrans == 0 && body->nrot == 0) {
        body->mobility = ITM_MOBILIZER_FIXED;
        ItmMat3 b_t = itm_mat_transpose(&body->b.R);
        body->turn[0] = itm_mat_mul(&body->a.R, &b_t);
    } else if (body->ntrans == 0 && body->nrot == 1 && body->lead == 0.0) {
        body->mobility = ITM_MOBILIZER_REVOLUTE;
        precompute_turn(body);
    } else {
        body->mobility = ITM_MOBILIZER_GENERAL;
    }
}

// Addresses of a body's coordinates and velocities.
static void give_addresses(ItmModel* m, ItmBody* body)
{
    body->q_adr = m->nq;
    body->v_adr = m->nv;
    m->nq += body->nq;
    m->nv += body->nv;
    body->is_root_leaf = body->mobility == ITM_MOBILIZER_FREE;
    if (body->parent != ITM_NONE) {
        ItmBody* parent = &m->bodies[body->parent];
        parent->is_root_leaf = false;
        if (parent->mobility == ITM_MOBILIZER_NODE) {
            m->nodes[parent->part].carries = true;
        }
    }
}

// A body of the user, number `index`.
static bool compile_body(ItmModel* m, const ItmModelBuilder* b, const ItmTree* tree, int id, int index)
{
    const ItmBodyDef* def = &b->bodies.items[id];
    ItmBody* body = &m->bodies[index];
    *body = (ItmBody){
        .name = itm_model_take_string(m, def->name),
        .mass = def->mass,
        .inv_mass = 1.0 / def->mass,
        .inv_sqrt_mass = 1.0 / sqrt(def->mass),
        .inv_mean_inertia = 3.0 / (def->inertia.xx + def->inertia.yy + def->inertia.zz),
        .inertia = def->inertia,
        .com = def->com,
        .joint = ITM_NONE,
        .owner = index,
        .part = ITM_NONE,
    };
    factor_inertia(body->inv_inertia_L, &def->inertia);
    body->has_diagonal_inertia = def->inertia.xy == 0.0 && def->inertia.xz == 0.0 && def->inertia.yz == 0.0;
    if (tree->joint[id] == ITM_NONE) {
        make_free(body);
    } else {
        make_jointed(m, body, b, tree->joint[id], tree->is_reversed[id]);
    }
    body->nv = body->ntrans + body->nrot;
    body->nq = body->ntrans + (body->nrot == 3 ? 4 : body->nrot);
    give_addresses(m, body);
    return body->name != NULL;
}

// Addresses of the factors of bodies that are not alone.
static void give_factor_addresses(ItmModel* m)
{
    for (int i = 0; i < m->nbody; i++) {
        ItmBody* body = &m->bodies[i];
        body->L_adr = m->nL;
        if (!body->is_root_leaf) {
            m->nL += body->nv * body->nv;
            m->ntree = i + 1;
            m->nv_tree = body->v_adr + body->nv;
        }
    }
}

// Bodies of the user, parents first, each flexible one followed by its modes and nodes.
static bool compile_bodies(ItmModel* m, const ItmModelBuilder* b, const ItmTree* tree)
{
    m->bodies = itm_model_take(m, (size_t)m->nbody, sizeof(ItmBody));
    m->body_index = itm_model_take(m, (size_t)m->nuser, sizeof(int));
    if (m->bodies == NULL || m->body_index == NULL) {
        return false;
    }
    int next = 0;
    for (int i = 0; i < m->nuser; i++) {
        int id = tree->order[i], frame = next++;
        m->body_index[id] = frame;
        if (!compile_body(m, b, tree, id, frame)) {
            return false;
        }
        for (int j = 0; j < m->nflexible; j++) {
            if (b->elastics.items[j]->body == id) {
                int first = next;
                next += itm_flexible_add_bodies(m, j, frame, first);
                for (int k = first; k < next; k++) {
                    give_addresses(m, &m->bodies[k]);
                }
            }
        }
    }
    give_factor_addresses(m);
    return true;
}

// ---------------------------------------------------------------------------- measures

static int add_measure(ItmModel* m, ItmMeasure measure)
{
    m->measures[m->nmeasure] = measure;
    return m->nmeasure++;
}

static int add_line(ItmModel* m, const ItmModelBuilder* b, int body_a, int body_b, ItmVec3 point_a, ItmVec3 point_b)
{
    return add_measure(m, (ItmMeasure){
                              .joint = ITM_NONE,
                              .body_a = index_at(m, b, body_a, point_a),
                              .body_b = index_at(m, b, body_b, point_b),
                              .point_a = point_in_body(m, b, body_a, point_a),
                              .point_b = point_in_body(m, b, body_b, point_b),
                              .q_index = ITM_NONE,
                              .v_index = ITM_NONE,
                              .angle = ITM_NONE,
                              .has_value = true,
                          });
}

// The slot of a moving body in a rope's list, which it joins if it is new; ITM_NONE: the world.
static int find_slot(ItmMeasure* rope, int body)
{
    int* known[ITM_BLOCK_BODIES] = {&rope->body_a, &rope->body_b};
    for (int i = 0; i < ITM_MEASURE_OTHERS; i++) {
        known[2 + i] = &rope->other[i];
    }
    for (int k = 0; k < ITM_BLOCK_BODIES && body != ITM_NONE; k++) {
        if (*known[k] == ITM_NONE) {
            *known[k] = body;
            rope->nother += k >= 2;
        }
        if (*known[k] == body) {
            return k;
        }
    }
    return ITM_NONE;
}

// A rope from a over sheaves to b, with what a drum (joint, or ITM_NONE) takes in. Returns its measure, or ITM_NONE without memory.
static int add_rope(ItmModel* m, const ItmModelBuilder* b, ItmSheave end_a, ItmSheave end_b, const ItmSheave* via,
                    int nvia, int drum, double drum_radius)
{
    ItmRopePlace* places = itm_model_take(m, (size_t)nvia + 2, sizeof *places);
    ItmMeasure rope = {
        .joint = ITM_NONE,
        .body_a = ITM_NONE,
        .body_b = ITM_NONE,
        .q_index = ITM_NONE,
        .v_index = ITM_NONE,
        .angle = ITM_NONE,
        .has_value = true,
        .places = places,
        .nplace = nvia + 2,
        .drum = ITM_NONE,
        .drum_radius = drum_radius,
    };
    for (int i = 0; i < ITM_MEASURE_OTHERS; i++) {
        rope.other[i] = ITM_NONE;
    }
    for (int i = 0; places != NULL && i < nvia + 2; i++) {
        const ItmSheave* at = i == 0 ? &end_a : i <= nvia ? &via[i - 1] : &end_b;
        int body = index_at(m, b, at->body, at->point);
        places[i] = (ItmRopePlace){body, find_slot(&rope, body), point_in_body(m, b, at->body, at->point)};
    }
    if (drum != ITM_NONE) {
        const ItmJoint* joint = &m->joints[drum];
        rope.drum = joint->measure[ITM_RZ];
        rope.drum_slot[0] = find_slot(&rope, joint->body_a);
        rope.drum_slot[1] = find_slot(&rope, joint->body_b);
    }
    return places != NULL ? add_measure(m, rope) : ITM_NONE;
}

// Tie the measure of a free direction to a coordinate of the tree where it is one.
static void tie_to_coordinate(const ItmModel* m, const ItmJoint* joint, ItmMeasure* measure)
{
    const ItmBody* body = &m->bodies[joint->tree_body];
    bool is_reversed = body->parent != joint->body_a;
    double sign = is_reversed ? -1.0 : 1.0;
    if (measure->direction < ITM_RX) {
        for (int k = 0; k < body->ntrans; k++) {
            if (body->trans_axis[k] == (int)measure->direction) {
                measure->q_index = body->q_adr + k;
                measure->v_index = body->v_adr + k;
                measure->scale = sign;
            }
        }
        if (body->lead != 0.0) {
            measure->q_index = body->q_adr;
            measure->v_index = body->v_adr;
            measure->scale = sign * body->lead;
        }
        return;
    }
    int axis = (int)measure->direction - ITM_RX;
    if (body->nrot == 3) {
        // rates about axes of b: coordinates where b is the child, otherwise not
        if (!is_reversed) {
            measure->v_index = body->v_adr + body->ntrans + axis;
            measure->scale = 1.0;
        }
        return;
    }
    for (int k = 0; k < body->nrot; k++) {
        if (body->rot_axis[k] == axis) {
            measure->q_index = body->q_adr + body->ntrans + k;
            measure->v_index = body->v_adr + body->ntrans + k;
            measure->scale = sign;
        }
    }
}

static void add_direction_measures(ItmModel* m, int index)
{
    ItmJoint* joint = &m->joints[index];
    int axes[3];
    int nrot = itm_measure_get_free_rotations(joint->free, axes);
    for (int k = 0; k < ITM_DIRECTION_COUNT; k++) {
        joint->measure[k] = ITM_NONE;
        if (!(joint->free & (1u << k))) {
            continue;
        }
        ItmMeasure measure = {
            .joint = index,
            .direction = (ItmDirection)k,
            .body_a = joint->body_a,
            .body_b = joint->body_b,
            .q_index = ITM_NONE,
            .v_index = ITM_NONE,
            .angle = ITM_NONE,
            .has_value = k < ITM_RX || nrot < 3,
        };
        if (joint->tree_body != ITM_NONE) {
            tie_to_coordinate(m, joint, &measure);
        }
        if (k >= ITM_RX && measure.has_value && measure.q_index == ITM_NONE) {
            measure.angle = m->nangle++;
        }
        joint->measure[k] = add_measure(m, measure);
    }
}

static bool compile_joints(ItmModel* m, const ItmModelBuilder* b, const ItmTree* tree)
{
    m->njoint = b->joints.count;
    m->joints = itm_model_take(m, (size_t)m->njoint, sizeof(ItmJoint));
    int nline = b->springs.count + b->actuators.count + b->ropes.count + m->njoint;
    m->measures = itm_model_take(m, (size_t)(6 * m->njoint + nline), sizeof(ItmMeasure));
    if (m->joints == NULL || m->measures == NULL) {
        return false;
    }
    for (int j = 0; j < m->njoint; j++) {
        const ItmJointDef* def = &b->joints.items[j];
        m->joints[j] = (ItmJoint){
            .index = j,
            .name = itm_model_take_string(m, def->name),
            .type = def->type,
            .body_a = index_at(m, b, def->body_a, def->frame_a.p),
            .body_b = index_at(m, b, def->body_b, def->frame_b.p),
            .a = frame_in_body(m, b, def->body_a, def->frame_a),
            .b = frame_in_body(m, b, def->body_b, def->frame_b),
            .free = itm_model_get_free_directions(def),
            .lead = def->type == ITM_JOINT_SCREW ? def->pitch / (2.0 * ITM_PI) : 0.0,
            .tree_body = ITM_NONE,
            .block = ITM_NONE,
            .stiffness = def->stiffness,
            .damping = def->damping,
        };
        m->joints[j].axes_a = itm_axes_find(&m->joints[j].a.R);
        m->joints[j].axes_b = itm_axes_find(&m->joints[j].b.R);
        if (m->joints[j].name == NULL) {
            return false;
        }
    }
    for (int id = 0; id < m->nuser; id++) {
        if (tree->joint[id] != ITM_NONE) {
            m->joints[tree->joint[id]].tree_body = m->body_index[id];
        }
    }
    for (int j = 0; j < m->njoint; j++) {
        if (m->joints[j].type == ITM_JOINT_DISTANCE) {
            const ItmJointDef* def = &b->joints.items[j];
            for (int k = 0; k < ITM_DIRECTION_COUNT; k++) {
                m->joints[j].measure[k] = ITM_NONE;
            }
            m->joints[j].measure[ITM_TX] = add_line(m, b, def->body_a, def->body_b, def->frame_a.p, def->frame_b.p);
        } else {
            add_direction_measures(m, j);
        }
    }
    return true;
}

// ---------------------------------------------------------------------------- signals and forces

static bool compile_signals(ItmModel* m, const ItmModelBuilder* b)
{
    m->nsignal = b->signals.count;
    m->signals = itm_model_take(m, (size_t)m->nsignal, sizeof(ItmSignal));
    if (m->signals == NULL) {
        return false;
    }
    for (int i = 0; i < m->nsignal; i++) {
        ItmSignalDef def = b->signals.items[i];
        double* memory = itm_model_take(m, 4 * (size_t)def.npoint + 1, sizeof(double));
        def.name = itm_model_take_string(m, def.name);
        if (memory == NULL || def.name == NULL) {
            return false;
        }
        itm_signal_compile(&m->signals[i], &def, memory);
        m->signals[i].external = def.kind == ITM_SIGNAL_EXTERNAL ? m->nexternal++ : ITM_NONE;
    }
    return true;
}

static void compile_loads(ItmModel* m, const ItmModelBuilder* b)
{
    for (int i = 0; i < b->loads.count; i++) {
        const ItmLoadDef* def = &b->loads.items[i];
        m->loads[m->nload++] = (ItmLoad){
            .name = itm_model_take_string(m, def->name),
            .body = index_at(m, b, def->body, def->point),
            .is_torque = def->is_torque,
            .in_body = def->in_body,
            .point = point_in_body(m, b, def->body, def->point),
            .vector = def->vector,
            .signal = def->signal,
        };
    }
}

// Without stiffness and damping a row would be rigid.
static bool is_spring_row(const ItmJointSpringDef* def)
{
    return def->is_implicit && (def->stiffness > 0.0 || def->damping > 0.0);
}

static void compile_scalar_forces(ItmModel* m, const ItmModelBuilder* b)
{
    for (int i = 0; i < b->springs.count; i++) {
        const ItmSpringDef* def = &b->springs.items[i];
        m->scalar_forces[m->nscalar_force++] = (ItmScalarForce){
            .name = itm_model_take_string(m, def->name),
            .measure = add_line(m, b, def->body_a, def->body_b, def->point_a, def->point_b),
            .stiffness = def->stiffness,
            .damping = def->damping,
            .rest = def->length,
            .constant = -def->preload,
            .signal = ITM_NONE,
            .input = ITM_NONE,
            .is_tension = true,
        };
    }
    for (int i = 0; i < b->joint_springs.count; i++) {
        const ItmJointSpringDef* def = &b->joint_springs.items[i];
        if (is_spring_row(def)) {
            m->spring_rows[m->nspring_row++] = (ItmSpringRow){
                .name = itm_model_take_string(m, def->name),
                .measure = m->joints[def->joint].measure[def->direction],
                .stiffness = def->stiffness,
                .damping = def->damping,
                .rest = def->rest,
                .block = ITM_NONE,
            };
            continue;
        }
        m->scalar_forces[m->nscalar_force++] = (ItmScalarForce){
            .name = itm_model_take_string(m, def->name),
            .measure = m->joints[def->joint].measure[def->direction],
            .stiffness = def->stiffness,
            .damping = def->damping,
            .rest = def->rest,
            .signal = ITM_NONE,
            .input = ITM_NONE,
        };
    }
    for (int i = 0; i < b->servos.count; i++) {
        const ItmServoDef* def = &b->servos.items[i];
        m->scalar_forces[m->nscalar_force++] = (ItmScalarForce){
            .name = itm_model_take_string(m, def->name),
            .measure = m->joints[def->joint].measure[def->direction],
            .stiffness = def->stiffness,
            .damping = def->damping,
            .signal = def->feedforward,
            .input = ITM_NONE,
            .is_servo = true,
            .target = def->target,
            .max_force = def->max_force,
        };
    }
    for (int i = 0; i < b->actuators.count; i++) {
        const ItmActuatorDef* def = &b->actuators.items[i];
        m->actuator_force[m->nactuator] = m->nscalar_force;
        m->scalar_forces[m->nscalar_force++] = (ItmScalarForce){
            .name = itm_model_take_string(m, def->name),
            .measure = def->joint != ITM_NONE ? m->joints[def->joint].measure[def->direction]
                       : def->nvia > 0
                           ? add_rope(m, b, (ItmSheave){def->body_a, def->point_a},
                                      (ItmSheave){def->body_b, def->point_b}, def->via, def->nvia, ITM_NONE, 0.0)
                           : add_line(m, b, def->body_a, def->body_b, def->point_a, def->point_b),
            .signal = def->signal,
            .input = m->nactuator++,
        };
    }
}

// A motion that is external starts where its joint does.
static void set_start(ItmModel* m, const ItmModelBuilder* b, const ItmMotionDef* def)
{
    ItmSignal* signal = &m->signals[def->signal];
    const ItmJointDef* joint = &b->joints.items[def->joint];
    if (signal->external == ITM_NONE || def->kind == ITM_MOTION_FORCE) {
        return;
    }
    bool is_position = def->kind == ITM_MOTION_POSITION;
    signal->def.value =
        is_position && joint->has_start[def->direction] ? joint->start[def->direction] : signal->def.value;
    signal->def.value = is_position ? signal->def.value : joint->start_rate[def->direction];
}

// Motions of kind force are scalar forces; the others become rows later.
static void compile_motions(ItmModel* m, const ItmModelBuilder* b)
{
    for (int i = 0; i < b->motions.count; i++) {
        const ItmMotionDef* def = &b->motions.items[i];
        ItmMotion motion = {
            .name = itm_model_take_string(m, def->name),
            .measure = m->joints[def->joint].measure[def->direction],
            .block = ITM_NONE,
            .scalar_force = ITM_NONE,
            .signal = def->signal,
            .is_velocity = def->kind == ITM_MOTION_VELOCITY,
            .max_force = def->kind == ITM_MOTION_FORCE ? 0.0 : def->max_force,
        };
        set_start(m, b, def);
        m->nmotor += motion.max_force > 0.0;
        if (def->kind == ITM_MOTION_FORCE) {
            motion.scalar_force = m->nscalar_force;
            m->scalar_forces[m->nscalar_force++] = (ItmScalarForce){
                .name = motion.name, .measure = motion.measure, .signal = def->signal, .input = ITM_NONE};
        }
        m->motions[m->nmotion++] = motion;
    }
}

static void compile_bushings(ItmModel* m, const ItmModelBuilder* b)
{
    for (int i = 0; i < b->bushings.count; i++) {
        const ItmBushingDef* def = &b->bushings.items[i];
        ItmBushing* bushing = &m->bushings[m->nbushing++];
        *bushing = (ItmBushing){
            .name = itm_model_take_string(m, def->name),
            .body_a = index_at(m, b, def->body_a, def->frame_a.p),
            .body_b = index_at(m, b, def->body_b, def->frame_b.p),
            .a = frame_in_body(m, b, def->body_a, def->frame_a),
            .b = frame_in_body(m, b, def->body_b, def->frame_b),
        };
        memcpy(bushing->stiffness, def->stiffness, sizeof bushing->stiffness);
        memcpy(bushing->damping, def->damping, sizeof bushing->damping);
    }
}

static void compile_points(ItmModel* m, const ItmModelBuilder* b)
{
    for (int i = 0; i < b->points.count; i++) {
        const ItmPointDef* def = &b->points.items[i];
        m->points[m->npoint++] = (ItmPoint){.name = itm_model_take_string(m, def->name),
                                            .body = index_at(m, b, def->body, def->point),
                                            .point = point_in_body(m, b, def->body, def->point)};
    }
}

// Limits and dry friction of joints: bounded rows, made anew in every step.
static void compile_bounds(ItmModel* m, const ItmModelBuilder* b)
{
    for (int i = 0; i < b->limits.count; i++) {
        const ItmLimitDef* def = &b->limits.items[i];
        m->limits[m->nlimit++] = (ItmLimit){
            .name = itm_model_take_string(m, def->name),
            .measure = m->joints[def->joint].measure[def->direction],
            .lower = def->lower,
            .upper = def->upper,
            .restitution = def->restitution,
            .stiffness = def->stiffness,
            .damping = def->damping,
        };
    }
    for (int i = 0; i < b->ropes.count; i++) {
        const ItmRopeDef* def = &b->ropes.items[i];
        m->limits[m->nlimit++] = (ItmLimit){
            .name = itm_model_take_string(m, def->name),
            .measure = add_rope(m, b, (ItmSheave){def->body_a, def->point_a}, (ItmSheave){def->body_b, def->point_b},
                                def->via, def->nvia, def->drum, def->drum_radius),
            .is_rope = true,
            .lower = -INFINITY,
            .upper = def->length,
            .restitution = def->restitution,
            .stiffness = def->stiffness,
            .damping = def->damping,
        };
    }
    // behind them one limit per actuator, whose values a data object has
    for (int i = 0; i < m->nactuator; i++) {
        const ItmScalarForce* force = &m->scalar_forces[m->actuator_force[i]];
        m->limits[m->nlimit + i] = (ItmLimit){.name = force->name, .measure = force->measure};
    }
    for (int i = 0; i < b->joint_frictions.count; i++) {
        const ItmJointFrictionDef* def = &b->joint_frictions.items[i];
        m->joint_frictions[m->njoint_friction++] = (ItmJointFriction){
            .name = itm_model_take_string(m, def->name),
            .measure = m->joints[def->joint].measure[def->direction],
            .force = def->force,
        };
    }
}

static bool has_all_names(const ItmModel* m)
{
    bool ok = true;
    for (int i = 0; i < m->nload; i++) {
        ok = ok && m->loads[i].name != NULL;
    }
    for (int i = 0; i < m->nscalar_force; i++) {
        ok = ok && m->scalar_forces[i].name != NULL && m->scalar_forces[i].measure != ITM_NONE;
    }
    for (int i = 0; i < m->nspring_row; i++) {
        ok = ok && m->spring_rows[i].name != NULL;
    }
    for (int i = 0; i < m->nbushing; i++) {
        ok = ok && m->bushings[i].name != NULL;
    }
    for (int i = 0; i < m->npoint; i++) {
        ok = ok && m->points[i].name != NULL;
    }
    for (int i = 0; i < m->nmotion; i++) {
        ok = ok && m->motions[i].name != NULL;
    }
    for (int i = 0; i < m->nlimit; i++) {
        ok = ok && m->limits[i].name != NULL && m->limits[i].measure != ITM_NONE;
    }
    for (int i = 0; i < m->njoint_friction; i++) {
        ok = ok && m->joint_frictions[i].name != NULL;
    }
    return ok;
}

static bool compile_forces(ItmModel* m, const ItmModelBuilder* b)
{
    int nscalar_force =
        b->springs.count + b->joint_springs.count + b->servos.count + b->actuators.count + b->motions.count;
    m->loads = itm_model_take(m, (size_t)b->loads.count, sizeof(ItmLoad));
    m->scalar_forces = itm_model_take(m, (size_t)nscalar_force, sizeof(ItmScalarForce));
    m->spring_rows = itm_model_take(m, (size_t)b->joint_springs.count, sizeof(ItmSpringRow));
    m->bushings = itm_model_take(m, (size_t)b->bushings.count, sizeof(ItmBushing));
    m->points = itm_model_take(m, (size_t)b->points.count, sizeof(ItmPoint));
    m->motions = itm_model_take(m, (size_t)b->motions.count, sizeof(ItmMotion));
    m->actuator_force = itm_model_take(m, (size_t)b->actuators.count, sizeof(int));
    m->actuator_start = itm_model_take(m, (size_t)b->actuators.count, sizeof(double));
    m->limits = itm_model_take(m, (size_t)(b->limits.count + b->ropes.count + b->actuators.count), sizeof(ItmLimit));
    m->joint_frictions = itm_model_take(m, (size_t)b->joint_frictions.count, sizeof(ItmJointFriction));
    if (m->loads == NULL || m->scalar_forces == NULL || m->spring_rows == NULL || m->bushings == NULL ||
        m->points == NULL || m->motions == NULL || m->actuator_force == NULL || m->actuator_start == NULL ||
        m->limits == NULL || m->joint_frictions == NULL) {
        return false;
    }
    compile_loads(m, b);
    compile_scalar_forces(m, b);
    compile_motions(m, b);
    compile_bushings(m, b);
    compile_points(m, b);
    compile_bounds(m, b);
    return has_all_names(m);
}

// ---------------------------------------------------------------------------- all of it

ItmStatus itm_compile_model(ItmModel** model, const ItmModelBuilder* b, bool for_assembly, ItmError* error)
{
    ItmModel* m = calloc(1, sizeof *m);
    ItmTree tree = {0};
    ItmStatus status = ITM_ERR_MEMORY;
    if (m != NULL) {
        m->gravity = b->world.gravity;
        m->contact_options = b->contact;
        ItmTreeUse use = for_assembly                                    ? ITM_TREE_NEVER
                         : b->world.coordinates == ITM_COORDINATES_JOINT ? ITM_TREE_ALWAYS
                                                                         : ITM_TREE_ON_DEMAND;
        status = itm_flexible_build(m, b, error);
        status = status == ITM_OK ? itm_tree_build(&tree, b, use) : status;
    }
    if (status == ITM_OK) {
        bool ok = compile_bodies(m, b, &tree) && compile_joints(m, b, &tree) && itm_clearance_build(m, b) &&
                  compile_signals(m, b) && compile_forces(m, b) && (for_assembly || itm_latch_compile(m, b)) &&
                  itm_rows_build(m, b, for_assembly) == ITM_OK;
        status = ok ? ITM_OK : ITM_ERR_MEMORY;
    }
    itm_tree_free(&tree);
    if (status == ITM_ERR_MEMORY) {
        itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "out of memory while compiling %d bodies and %d joints",
                      b->bodies.count, b->joints.count);
    }
    if (status != ITM_OK) {
        itm_multibody_destroy(m);
        return status;
    }
    *model = m;
    return ITM_OK;
}
