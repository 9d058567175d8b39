// Everything a run records. One walk over the model serves both to name the outputs and to compute them, so that the
// two cannot disagree.
#include "multibody/model_output.h"

#include "base/guard.h"
#include "multibody/bounded_refine.h"
#include "multibody/clearance.h"
#include "multibody/dynamics.h"
#include "multibody/flexible.h"
#include "multibody/forces.h"
#include "multibody/kinematics.h"
#include "multibody/latch.h"
#include "multibody/measure.h"
#include "multibody/rows.h"
#include "multibody/sleep.h"

#include <stdio.h>
#include <string.h>

// Where the walk puts what it finds: values, or (naming) the model's table of outputs.
typedef struct {
    ItmModel* naming;  // NULL while computing
    double* values;    // NULL while naming
    int count;
    bool is_full;  // naming ran out of memory
} Sink;

// ---------------------------------------------------------------------------- emitting

static void emit(Sink* sink, const char* element, const char* quantity, const char* component, const char* unit,
                 const char* description, double value)
{
    if (sink->values != NULL) {
        sink->values[sink->count] = value;
    } else if (sink->naming != NULL && sink->naming->outputs != NULL) {
        ItmOutput* output = &sink->naming->outputs[sink->count];
        const char* dot = component[0] != '\0' ? "." : "";
        output->name = itm_owned_print(&sink->naming->owned, "%s.%s%s%s", element, quantity, dot, component);
        output->description =
            itm_owned_print(&sink->naming->owned, "%s%s%s", description, component[0] != '\0' ? ", " : "", component);
        output->unit = unit;
        sink->is_full = sink->is_full || output->name == NULL || output->description == NULL;
    }
    sink->count++;
}

static void emit_vec(Sink* sink, const char* element, const char* quantity, const char* unit, const char* description,
                     ItmVec3 v)
{
    emit(sink, element, quantity, "x", unit, description, v.x);
    emit(sink, element, quantity, "y", unit, description, v.y);
    emit(sink, element, quantity, "z", unit, description, v.z);
}

// ---------------------------------------------------------------------------- bodies and joints

static void emit_bodies(Sink* sink, const ItmModel* m, const ItmData* d)
{
    for (int id = 0; id < m->nuser; id++) {
        int i = m->body_index[id];
        const ItmBody* body = &m->bodies[i];
        ItmVec3 to_origin = itm_vec_neg(itm_mat_mul_vec(&d->R[i], body->com));
        ItmQuat p = itm_vec_quat_from_mat(&d->R[i]);
        ItmSpatial twist = itm_twist_shift(d->twist[i], to_origin);
        emit_vec(sink, body->name, "position", "m", "position of the body frame's origin in the world",
                 itm_vec_add(d->x[i], to_origin));
        const char* what = "orientation of the body frame as a unit quaternion";
        emit(sink, body->name, "orientation", "w", "1", what, p.w);
        emit_vec(sink, body->name, "orientation", "1", what, itm_vec(p.x, p.y, p.z));
        emit_vec(sink, body->name, "velocity", "m/s", "velocity of the body frame's origin, world axes", twist.lin);
        emit_vec(sink, body->name, "angular_velocity", "rad/s", "angular velocity, world axes", twist.ang);
    }
}

static void emit_points(Sink* sink, const ItmModel* m, const ItmData* d)
{
    for (int i = 0; i < m->npoint; i++) {
        const ItmPoint* point = &m->points[i];
        ItmVec3 arm = itm_mat_mul_vec(&d->R[point->body], point->point);
        emit_vec(sink, point->name, "position", "m", "position of the point in the world",
                 itm_vec_add(d->x[point->body], arm));
        emit_vec(sink, point->name, "velocity", "m/s", "velocity of the point, world axes",
                 itm_twist_shift(d->twist[point->body], arm).lin);
    }
}

// Modes, elastic energy and named points of flexible bodies.
static void emit_flexibles(Sink* sink, const ItmModel* m, const ItmData* d)
{
    for (int j = 0; j < m->nflexible; j++) {
        const ItmFlexible* f = &m->flexibles[j];
        const char* name = m->bodies[f->frame].name;
        for (int k = 0; k < f->n; k++) {
            char number[16];
            snprintf(number, sizeof number, "%d", k + 1);
            emit(sink, name, "mode", number, "m", "modal coordinate (torsion: rad)", d->flex.eta[f->mode_adr + k]);
            emit(sink, name, "mode_rate", number, "m/s", "rate of the modal coordinate",
                 d->v[m->bodies[f->modes].v_adr + k]);
        }
        emit(sink, name, "elastic_energy", "", "J", "energy of deformation", itm_flexible_compute_elastic(d, f));
    }
    for (int i = 0; i < m->nnode; i++) {
        const ItmFlexNode* node = &m->nodes[i];
        if (node->name == NULL) {
            continue;
        }
        const ItmFlexible* f = &m->flexibles[node->flexible];
        const char* body = m->bodies[f->frame].name;
        ItmFrame frame = itm_flexible_node_frame(node, d->flex.eta + f->mode_adr, f->n);
        ItmVec3 arm = itm_mat_mul_vec(&d->R[node->body], node->point);
        ItmVec3 undeformed = itm_vec_add(node->s, node->point);
        char quantity[96];
        snprintf(quantity, sizeof quantity, "%s.position", node->name);
        emit_vec(sink, body, quantity, "m", "position of the point in the world", itm_vec_add(d->x[node->body], arm));
        snprintf(quantity, sizeof quantity, "%s.velocity", node->name);
        emit_vec(sink, body, quantity, "m/s", "velocity of the point, world axes",
                 itm_twist_shift(d->twist[node->body], arm).lin);
        snprintf(quantity, sizeof quantity, "%s.deflection", node->name);
        emit_vec(sink, body, quantity, "m", "displacement from the undeformed body, body axes",
                 itm_vec_sub(itm_frame_apply(&frame, node->point), undeformed));
    }
}

// Coordinates of the free directions: displacement(.x) and angle(.x), each with its rate.
static void emit_joint_coordinates(Sink* sink, const ItmModel* m, const ItmData* d, const ItmJoint* joint)
{
    static const char* const AXES[3] = {"x", "y", "z"};
    for (int group = 0; group < 2; group++) {
        int free = 0;
        for (int k = 3 * group; k < 3 * group + 3; k++) {
            free += joint->measure[k] != ITM_NONE;
        }
        for (int k = 3 * group; k < 3 * group + 3; k++) {
            if (joint->measure[k] == ITM_NONE) {
                continue;
            }
            const ItmMeasure* measure = &m->measures[joint->measure[k]];
            ItmMeasured x = itm_measure_compute(m, d, measure);
            const char* component = free > 1 ? AXES[k % 3] : "";
            if (measure->has_value) {
                emit(sink, joint->name, group == 0 ? "displacement" : "angle", component, group == 0 ? "m" : "rad",
                     group == 0 ? "translation of frame b along an axis of frame a"
                                : "rotation of frame b relative to frame a",
                     x.value);
            }
            emit(sink, joint->name, group == 0 ? "displacement_rate" : "angle_rate", component,
                 group == 0 ? "m/s" : "rad/s", group == 0 ? "rate of the translation" : "rate of the rotation", x.rate);
        }
    }
}

// Sum of the row forces of a block on body b, about the origin of joint frame b.
static ItmSpatial block_reaction(const ItmModel* m, const ItmData* d, int block_index, int body_b, ItmVec3 s_b)
{
    const ItmRowBlock* block = &m->blocks[block_index];
    ItmSpatial sum = itm_spatial_zero();
    for (int i = 0; i < block->nrow; i++) {
        for (int k = 0; k < block->nbody; k++) {
            if (block->body[k] == body_b) {
                sum = itm_spatial_axpy(d->rows.x[block->row + i], d->rows.cov[block->cov_adr + i * block->nbody + k],
                                       sum);
            }
        }
    }
    return itm_wrench_shift(sum, itm_vec_neg(s_b));
}

// Constraint wrench of a joint that is rows; on the world's side it is the reaction of the other.
static ItmSpatial row_joint_reaction(const ItmModel* m, const ItmData* d, const ItmJoint* joint)
{
    ItmVec3 s_b = itm_mat_mul_vec(&d->R[joint->body_b], joint->b.p);
    ItmVec3 p_b = itm_vec_add(d->x[joint->body_b], s_b);
    bool is_world = joint->body_b == ITM_NONE;
    int body = is_world ? joint->body_a : joint->body_b;
    ItmVec3 s = is_world ? itm_vec_sub(p_b, d->x[body]) : s_b;
    ItmSpatial sum = itm_spatial_zero();
    for (int k = joint->block;
         k != ITM_NONE && k < m->nblock && m->blocks[k].index == joint->index && m->blocks[k].kind <= ITM_BLOCK_SCREW;
         k++) {
        sum = itm_spatial_add(sum, block_reaction(m, d, k, body, s));
    }
    return is_world ? itm_spatial_scale(-1.0, sum) : sum;
}

// Constraint wrench of a tree joint: what goes through it less what the coordinates' own forces are.
static ItmSpatial tree_joint_reaction(const ItmModel* m, const ItmData* d, const ItmJoint* joint)
{
    int i = joint->tree_body;
    const ItmBody* body = &m->bodies[i];
    bool is_reversed = body->parent != joint->body_a;
    ItmVec3 p_child = itm_vec_sub(d->x[i], d->r[i]);
    ItmSpatial f = itm_wrench_shift(d->joint_wrench[i], d->r[i]);
    for (int k = 0; k < body->nv; k++) {
        double tau = d->tau[body->v_adr + k];
        ItmSpatial S = itm_kinematics_get_motion(m, d, i, k);
        if (k < body->ntrans) {
            f.lin = itm_vec_axpy(-tau, S.lin, f.lin);
        } else {
            f.ang = itm_vec_axpy(-tau, S.ang, f.ang);
        }
    }
    if (!is_reversed) {
        return f;
    }
    ItmVec3 p_b = itm_vec_add(d->x[joint->body_b], itm_mat_mul_vec(&d->R[joint->body_b], joint->b.p));
    return itm_spatial_scale(-1.0, itm_wrench_shift(f, itm_vec_sub(p_child, p_b)));
}

// State, gap and normal force of every contact point of a joint with clearance; gaps are those of the present state.
static void emit_clearance_points(Sink* sink, const ItmModel* m, const ItmData* d, int index)
{
    const ItmClearanceJoint* clearance = &m->clearances[index];
    const char* name = m->joints[clearance->joint].name;
    for (int k = 0; k < clearance->npoint; k++) {
        char number[16];
        ItmContactState state;
        double impulse = itm_clearance_get_normal_impulse(d, index, k, &state);
        snprintf(number, sizeof number, "%d", k + 1);
        emit(sink, name, "contact", number, "1", "0: open, 1: sticks, 2: slides in the last step, at contact point",
             state);
        emit(sink, name, "gap", number, "m", "gap at contact point",
             d->clearance.points[clearance->first_point + k].gap);
        emit(sink, name, "normal_force", number, "N", "normal force in the last step at contact point",
             impulse / itm_data_get_step_size(d));
    }
}

// What an engineer asks of a joint with clearance.
static void emit_clearance(Sink* sink, const ItmModel* m, ItmData* d, int index)
{
    const ItmClearanceJoint* clearance = &m->clearances[index];
    const ItmJoint* joint = &m->joints[clearance->joint];
    const double* tally = d->clearance.tally + index * ITM_TALLY_COUNT;
    itm_clearance_measure(m, d, index, 0.0);
    int nradial = clearance->type == ITM_JOINT_REVOLUTE ? 2 : clearance->npoint, nclosed = 0;
    double least_radial = INFINITY, least = INFINITY;
    for (int k = 0; k < clearance->npoint; k++) {
        ItmContactState state;
        double gap = d->clearance.points[clearance->first_point + k].gap;
        itm_clearance_get_normal_impulse(d, index, k, &state);
        nclosed += state != ITM_CONTACT_OPEN;
        least = fmin(least, gap);
        least_radial = k < nradial ? fmin(least_radial, gap) : least_radial;
    }
    emit_vec(sink, joint->name, "orbit", "m", "centre of the hub relative to the pin, axes of frame a",
             itm_clearance_get_orbit(m, d, index));
    emit(sink, joint->name, "eccentricity", "", "1", "eccentricity relative to the clearance: 0 centred, 1 touching",
         1.0 - least_radial / clearance->radial);
    emit(sink, joint->name, "penetration", "", "m", "deepest penetration of a contact point", fmax(0.0, -least));
    emit(sink, joint->name, "contacts", "", "1", "closed contact points in the last step", nclosed);
    emit(sink, joint->name, "impacts", "", "1", "impacts of contact points after flight, so far",
         tally[ITM_TALLY_IMPACTS]);
    emit(sink, joint->name, "free_time", "", "s", "time without contact so far", tally[ITM_TALLY_FREE_TIME]);
    emit(sink, joint->name, "impulse", "", "N s", "sum of normal impulses so far", tally[ITM_TALLY_IMPULSE]);
    emit(sink, joint->name, "peak_force", "", "N", "largest normal force in a step so far", tally[ITM_TALLY_PEAK]);
    emit(sink, joint->name, "impact_loss", "", "J", "energy lost by impacts so far", tally[ITM_TALLY_IMPACT]);
    emit(sink, joint->name, "friction_loss", "", "J", "energy lost by friction so far", tally[ITM_TALLY_FRICTION]);
    emit_clearance_points(sink, m, d, index);
}

// Wrench of a joint on its second body, about its frame there.
static ItmSpatial joint_reaction(const ItmModel* m, const ItmData* d, const ItmJoint* joint)
{
    if (joint->clearance != ITM_NONE) {
        return itm_spatial_scale(1.0 / itm_data_get_step_size(d), itm_clearance_get_impulse(m, d, joint->clearance));
    }
    return joint->tree_body != ITM_NONE ? tree_joint_reaction(m, d, joint) : row_joint_reaction(m, d, joint);
}

static void emit_joints(Sink* sink, const ItmModel* m, ItmData* d)
{
    for (int j = 0; j < m->njoint; j++) {
        const ItmJoint* joint = &m->joints[j];
        if (joint->type == ITM_JOINT_DISTANCE) {
            ItmMeasured x = itm_measure_compute(m, d, &m->measures[joint->measure[ITM_TX]]);
            emit(sink, joint->name, "length", "", "m", "distance between the two points", x.value);
        } else {
            emit_joint_coordinates(sink, m, d, joint);
        }
        ItmSpatial f = joint_reaction(m, d, joint);
        emit_vec(sink, joint->name, "force", "N", "force of the joint on its second body, world axes", f.lin);
        emit_vec(sink, joint->name, "torque", "N m",
                 "torque of the joint on its second body about its frame there, world axes", f.ang);
        if (joint->clearance != ITM_NONE) {
            emit_clearance(sink, m, d, joint->clearance);
        }
    }
}

// ---------------------------------------------------------------------------- forces and motions

static void emit_scalar_forces(Sink* sink, const ItmModel* m, const ItmData* d)
{
    for (int i = 0; i < m->nscalar_force; i++) {
        const ItmScalarForce* force = &m->scalar_forces[i];
        const ItmMeasure* measure = &m->measures[force->measure];
        ItmMeasured x = itm_measure_compute(m, d, measure);
        bool is_line = measure->joint == ITM_NONE;
        bool is_torque = !is_line && measure->direction >= ITM_RX;
        if (is_line) {
            bool is_rope = measure->places != NULL;
            emit(sink, force->name, "length", "", "m", is_rope ? "length of the path" : "distance between the two ends",
                 x.value);
            emit(sink, force->name, "rate", "", "m/s", is_rope ? "rate of the length" : "rate of the distance", x.rate);
        } else if (force->input != ITM_NONE) {
            emit(sink, force->name, is_torque ? "angle" : "length", "", is_torque ? "rad" : "m",
                 "coordinate of the joint", x.value);
            emit(sink, force->name, "rate", "", is_torque ? "rad/s" : "m/s", "its rate", x.rate);
        }
        emit(sink, force->name, is_torque ? "torque" : "force", "", is_torque ? "N m" : "N",
             force->is_tension ? "tension between the two ends" : "force along the direction",
             force->is_tension ? -d->scalar_force[i] : d->scalar_force[i]);
    }
    for (int i = 0; i < m->nspring_row; i++) {
        bool is_torque = m->measures[m->spring_rows[i].measure].direction >= ITM_RX;
        emit(sink, m->spring_rows[i].name, is_torque ? "torque" : "force", "", is_torque ? "N m" : "N",
             "force along the direction", d->rows.x[m->blocks[m->spring_rows[i].block].row]);
    }
    for (int i = 0; i < m->nbushing; i++) {
        ItmSpatial f = itm_forces_compute_bushing(d, &m->bushings[i]);
        emit_vec(sink, m->bushings[i].name, "force", "N", "force on the second body, world axes", f.lin);
        emit_vec(sink, m->bushings[i].name, "torque", "N m", "torque on the second body, world axes", f.ang);
    }
}

static void emit_motions(Sink* sink, const ItmModel* m, const ItmData* d)
{
    for (int i = 0; i < m->nmotion; i++) {
        const ItmMotion* motion = &m->motions[i];
        if (motion->block == ITM_NONE) {
            continue;
        }
        const ItmMeasure* measure = &m->measures[motion->measure];
        bool is_torque = measure->direction >= ITM_RX;
        emit(sink, motion->name, is_torque ? "torque" : "force", "", is_torque ? "N m" : "N",
             "force or torque of the prescribed motion", d->rows.x[m->blocks[motion->block].row]);
    }
}

static void emit_couplings(Sink* sink, const ItmModel* m, const ItmData* d)
{
    for (int i = 0; i < m->nblock; i++) {
        const ItmRowBlock* block = &m->blocks[i];
        if (block->kind != ITM_BLOCK_COUPLING) {
            continue;
        }
        bool is_torque = m->measures[block->term[0]].direction >= ITM_RX;
        emit(sink, m->row_names[block->row], is_torque ? "torque" : "force", "", is_torque ? "N m" : "N",
             "force or torque on the first direction; -ratio times that on the second", d->rows.x[block->row]);
    }
}

static void emit_latches(Sink* sink, const ItmModel* m, const ItmData* d)
{
    for (int i = 0; i < m->nlatch; i++) {
        const ItmLatch* latch = &m->latches[i];
        emit(sink, latch->name, "closed", "", "1", "1: closed, 0: open", itm_latch_holds(d, i));
        if (latch->kind == ITM_LATCH_DIRECTION) {
            bool is_torque = m->measures[latch->measure].direction >= ITM_RX;
            emit(sink, latch->name, is_torque ? "torque" : "force", "", is_torque ? "N m" : "N",
                 "force or torque that locks the direction", d->rows.x[m->blocks[latch->block].row]);
            continue;
        }
        // seen from the body that is not the world; both act about the centre of mass of body b
        bool is_world = latch->body_b == ITM_NONE;
        int body = is_world ? latch->body_a : latch->body_b;
        ItmVec3 s = itm_vec_sub(d->x[latch->body_b], d->x[body]);
        ItmSpatial f = block_reaction(m, d, latch->block, body, s);
        f = itm_spatial_scale(is_world ? -1.0 : 1.0, f);
        emit_vec(sink, latch->name, "force", "N", "force that holds the second body, world axes", f.lin);
        emit_vec(sink, latch->name, "torque", "N m",
                 "torque that holds the second body about its centre of mass, world axes", f.ang);
    }
}

// ---------------------------------------------------------------------------- the whole system

static void emit_energies(Sink* sink, const ItmModel* m, const ItmData* d)
{
    double kinetic = itm_forces_compute_kinetic(m, d), potential = itm_forces_compute_potential(m, d);
    double booked[ITM_LEDGER_COUNT];
    itm_data_read_ledger(d, booked);
    double lost = booked[ITM_LEDGER_DISSIPATED] + booked[ITM_LEDGER_FRICTION] + booked[ITM_LEDGER_IMPACT];
    double loads = booked[ITM_LEDGER_LOAD] + booked[ITM_LEDGER_INTERFACE];
    double gained = loads + booked[ITM_LEDGER_MOTION] + booked[ITM_LEDGER_CONSTRAINT];
    double balance = kinetic + potential + lost - gained - *d->energy.start;
    emit(sink, "energy", "kinetic", "", "J", "kinetic energy", kinetic);
    emit(sink, "energy", "potential", "", "J",
         "potential energy of gravity, springs, flexible bodies and compliant contacts", potential);
    emit(sink, "energy", "mechanical", "", "J", "kinetic and potential energy", kinetic + potential);
    emit(sink, "energy", "dissipated", "", "J", "lost in dampers so far", booked[ITM_LEDGER_DISSIPATED]);
    emit(sink, "energy", "load_work", "", "J", "work of loads, actuators and interfaces so far", loads);
    emit(sink, "energy", "motion_work", "", "J", "work of prescribed motions so far", booked[ITM_LEDGER_MOTION]);
    emit(sink, "energy", "constraint_work", "", "J", "numerical work of joints and contacts so far",
         booked[ITM_LEDGER_CONSTRAINT]);
    emit(sink, "energy", "friction", "", "J", "lost by dry friction so far", booked[ITM_LEDGER_FRICTION]);
    emit(sink, "energy", "impact", "", "J", "lost in contacts and joint limits, in the normal direction, so far",
         booked[ITM_LEDGER_IMPACT]);
    emit(sink, "energy", "balance", "", "J", "numerical error of the energy balance", balance);
}

// Contact force and state of every body with shapes, from the impulses of the last step.
static void emit_contacts(Sink* sink, const ItmModel* m, const ItmData* d)
{
    for (int id = 0; itm_model_has_bounds(m) && id < m->nuser; id++) {
        int body = m->body_index[id];
        if (!m->bodies[body].has_shape) {
            continue;
        }
        ItmBoundForce f = d->bounded->body_force[body];
        const char* name = m->bodies[body].name;
        double per_time = 1.0 / itm_data_get_step_size(d);
        emit_vec(sink, name, "contact_force", "N", "sum of contact forces on the body in the last step, world axes",
                 itm_vec_scale(per_time, f.impulse));
        emit(sink, name, "contact_count", "", "1", "closed contacts of the body in the last step", f.count);
        emit(sink, name, "contact_sliding", "", "1", "sliding contacts of the body in the last step", f.sliding);
    }
}

static void emit_rope(Sink* sink, const ItmModel* m, const ItmData* d, const ItmLimit* limit, double tension)
{
    const ItmMeasure* rope = &m->measures[limit->measure];
    ItmMeasured x = itm_measure_compute(m, d, rope);
    emit(sink, limit->name, "length", "", "m", "length of the path of the rope", itm_measure_compute_span(m, d, rope));
    emit(sink, limit->name, "slack", "", "m", "length of the rope less that of its path; < 0: it is stretched",
         limit->upper - x.value);
    emit(sink, limit->name, "tension", "", "N", "tension of the rope in the last step", tension);
}

// Impulses of joint limits, ropes, dry friction and motors in the last step, as efforts.
static void emit_bounds(Sink* sink, const ItmModel* m, const ItmData* d)
{
    const struct {
        ItmRowKind kind;
        int count;
    } kinds[] = {{ITM_BOUND_LIMIT, m->nlimit}, {ITM_BOUND_FRICTION, m->njoint_friction}, {ITM_BOUND_MOTOR, m->nmotion}};
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < kinds[k].count; i++) {
            if (kinds[k].kind == ITM_BOUND_MOTOR && m->motions[i].max_force == 0.0) {
                continue;
            }
            const char* name = k == 0 ? m->limits[i].name : k == 1 ? m->joint_frictions[i].name : m->motions[i].name;
            int measure = k == 0   ? m->limits[i].measure
                          : k == 1 ? m->joint_frictions[i].measure
                                   : m->motions[i].measure;
            bool is_torque = m->measures[measure].direction >= ITM_RX;
            double effort = itm_bounded_compute_effort(d->bounded, kinds[k].kind, i) / itm_data_get_step_size(d);
            if (k == 0 && m->limits[i].is_rope) {
                emit_rope(sink, m, d, &m->limits[i], -effort);
                continue;
            }
            emit(sink, name, is_torque ? "torque" : "force", "", is_torque ? "N m" : "N",
                 "force or torque along the direction in the last step", effort);
        }
    }
}

// End stops of the actuators, which only data objects with limits have.
static void emit_strokes(Sink* sink, const ItmModel* m, const ItmData* d)
{
    for (int i = 0; i < m->nactuator; i++) {
        const ItmLimit* limit = &m->limits[m->nlimit + i];
        const ItmMeasure* measure = &m->measures[limit->measure];
        bool is_torque = itm_measure_is_rotation(measure);
        double effort =
            d->stroke != NULL ? itm_bounded_compute_effort(d->bounded, ITM_BOUND_LIMIT, m->nlimit + i) : 0.0;
        emit(sink, limit->name, is_torque ? "limit_torque" : "limit_force", "", is_torque ? "N m" : "N",
             "of the end of the stroke on the actuator in the last step", effort / itm_data_get_step_size(d));
    }
}

static void emit_momenta(Sink* sink, const ItmModel* m, const ItmData* d)
{
    ItmVec3 p, L;
    itm_forces_compute_momentum(m, d, &p, &L);
    emit_vec(sink, "momentum", "linear", "kg m/s", "linear momentum", p);
    emit_vec(sink, "momentum", "angular", "kg m^2/s", "angular momentum about the world origin", L);
}

static void emit_violations(Sink* sink, const ItmModel* m, const ItmData* d)
{
    double gap = 0.0, rate = 0.0;
    for (int k = 0; k < m->nblock; k++) {
        const ItmRowBlock* block = &m->blocks[k];
        for (int i = block->row; !itm_block_is_compliant(block) && i < block->row + block->nrow; i++) {
            gap = fmax(gap, fabs(d->rows.gap[i]));
            rate = fmax(rate, fabs(d->rows.rate[i]));
        }
    }
    emit(sink, "violation", "position", "", "m", "largest gap of a joint row, m or rad", gap);
    emit(sink, "violation", "velocity", "", "m/s", "largest velocity error of a joint row, m/s or rad/s", rate);
    emit(sink, "violation", "redundant", "", "1", "redundant joint rows", d->info.nredundant);
}

static void emit_step(Sink* sink, const ItmModel* m, const ItmData* d)
{
    emit(sink, "step", "size", "", "s", "length of the last step", itm_data_get_step_size(d));
    emit(sink, "step", "iterations", "", "1", "iterations of the last step", (double)d->info.iterations);
    if (itm_model_has_bounds(m)) {
        emit(sink, "solver", "contacts", "", "1", "contacts within reach in the last step", d->info.ncontact);
        emit(sink, "solver", "rows", "", "1", "bounded rows of the last step", d->info.nbounded);
        emit(sink, "solver", "active", "", "1", "bounded rows strictly between their bounds", d->info.nactive);
        emit(sink, "solver", "iterations", "", "1", "iterations of the complementarity solver",
             d->info.solver_iterations);
        emit(sink, "solver", "residual", "", "1", "relative residual of the complementarity solver",
             d->info.solver_residual);
        emit(sink, "solver", "redundant", "", "1", "redundant active rows", d->info.solver_redundant);
        if (m->contact_options.sleep_after > 0.0) {
            emit(sink, "solver", "asleep", "", "1", "bodies that sleep", d->info.nasleep);
        }
        emit(sink, "violation", "penetration", "", "m", "deepest penetration at the start of the last step",
             d->info.penetration);
    }
}

static void walk(Sink* sink, const ItmModel* m, ItmData* d)
{
    emit_bodies(sink, m, d);
    emit_points(sink, m, d);
    emit_flexibles(sink, m, d);
    emit_joints(sink, m, d);
    emit_scalar_forces(sink, m, d);
    emit_motions(sink, m, d);
    emit_couplings(sink, m, d);
    emit_latches(sink, m, d);
    emit_bounds(sink, m, d);
    emit_strokes(sink, m, d);
    emit_contacts(sink, m, d);
    emit_energies(sink, m, d);
    emit_momenta(sink, m, d);
    emit_violations(sink, m, d);
    emit_step(sink, m, d);
}

// Accelerations and forces of the present state, which the walk reads.
static void prepare(const ItmModel* m, ItmData* d)
{
    double t = itm_data_get_time(d), bounded_rate = d->bounded != NULL ? 1.0 / itm_data_get_step_size(d) : 0.0;
    itm_bounded_refine(m, d);
    if (d->bounded != NULL) {
        itm_bounded_sum_contacts(m, d->bounded);
        itm_sleep_add_contacts(d);
    }
    itm_dynamics_compute(m, d, d->x1, t, bounded_rate);
    itm_dynamics_compute_reactions(m, d);
    itm_dynamics_compute_joint_wrenches(m, d, d->joint_wrench, d->x1, d->rows.x, t, bounded_rate);
}

ItmStatus itm_model_compute_outputs(const ItmModel* m, ItmData* d, double* values)
{
    ITM_GUARD(m != NULL && d != NULL && values != NULL, ITM_ERR_ARGUMENT);
    prepare(m, d);
    Sink sink = {.values = values};
    walk(&sink, m, d);
    d->position_state = ITM_POSITION_LOOKED;
    return ITM_OK;
}

// ---------------------------------------------------------------------------- naming

static unsigned hash_of(const char* text)
{
    unsigned h = 2166136261u;
    for (; *text != '\0'; text++) {
        h = (h ^ (unsigned char)*text) * 16777619u;
    }
    return h;
}

static bool build_hash(ItmModel* m)
{
    int size = 16;
    while (size < 2 * m->noutput) {
        size *= 2;
    }
    m->noutput_hash = size;
    m->output_hash = itm_model_take(m, (size_t)size, sizeof(int));
    if (m->output_hash == NULL) {
        return false;
    }
    for (int i = 0; i < size; i++) {
        m->output_hash[i] = ITM_NONE;
    }
    for (int i = 0; i < m->noutput; i++) {
        unsigned slot = hash_of(m->outputs[i].name) & (unsigned)(size - 1);
        while (m->output_hash[slot] != ITM_NONE) {
            slot = (slot + 1) & (unsigned)(size - 1);
        }
        m->output_hash[slot] = i;
    }
    return true;
}

// Count, then name, on a data object in the start configuration.
static ItmStatus name_outputs(ItmModel* m, ItmData* d)
{
    itm_data_reset_to_start(m, d);
    prepare(m, d);
    for (int i = 0; i < m->nactuator; i++) {
        const ItmMeasure* measure = &m->measures[m->scalar_forces[m->actuator_force[i]].measure];
        m->actuator_start[i] = itm_measure_compute(m, d, measure).value;
    }
    Sink counting = {.naming = m};
    walk(&counting, m, d);
    m->noutput = counting.count;
    m->outputs = itm_model_take(m, (size_t)m->noutput, sizeof(ItmOutput));
    if (m->outputs == NULL) {
        return ITM_ERR_MEMORY;
    }
    Sink naming = {.naming = m};
    walk(&naming, m, d);
    return !naming.is_full && build_hash(m) ? ITM_OK : ITM_ERR_MEMORY;
}

ItmStatus itm_model_build_outputs(ItmModel* m, ItmError* error)
{
    ItmData* d = NULL;
    ItmStepOptions options = itm_default_step_options();
    ItmStatus status = itm_data_init(&d, m, &options, error);
    if (status == ITM_OK) {
        status = name_outputs(m, d);
        itm_data_free(d);
    }
    return status;
}

int itm_model_get_output_count(const ItmModel* m)
{
    ITM_GUARD(m != NULL, 0);
    return m->noutput;
}

ItmOutputInfo itm_model_get_output_info(const ItmModel* m, int output)
{
    ITM_GUARD(m != NULL, (ItmOutputInfo){0});
    if (output < 0 || output >= m->noutput) {
        return (ItmOutputInfo){0};
    }
    const ItmOutput* o = &m->outputs[output];
    return (ItmOutputInfo){o->name, o->unit, o->description};
}

int itm_model_find_output(const ItmModel* m, const char* name)
{
    ITM_GUARD(m != NULL && name != NULL, ITM_NONE);
    unsigned slot = hash_of(name) & (unsigned)(m->noutput_hash - 1);
    for (; m->output_hash[slot] != ITM_NONE; slot = (slot + 1) & (unsigned)(m->noutput_hash - 1)) {
        if (strcmp(m->outputs[m->output_hash[slot]].name, name) == 0) {
            return m->output_hash[slot];
        }
    }
    return ITM_NONE;
}
