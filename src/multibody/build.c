// Building the multibody part of a model: compile for assembly, close the joints, compile for running, take over the start.
#include "multibody/assemble.h"
#include "multibody/clearance.h"
#include "multibody/compile.h"
#include "multibody/flexible.h"
#include "multibody/kinematics.h"
#include "multibody/latch.h"
#include "multibody/measure.h"
#include "multibody/planar.h"
#include "multibody/rows.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------- poses to coordinates

static ItmPose frame_pose(const ItmFrame* frame)
{
    return (ItmPose){frame->p, itm_vec_quat_from_mat(&frame->R)};
}

// Pose of an internal body frame (origin in the centre of mass, or in the node). user_id: by index of user's bodies
static ItmPose body_pose(const ItmModel* m, const ItmStart* start, const int* user_id, int index)
{
    if (index == ITM_NONE) {
        return itm_pose_identity();
    }
    const ItmBody* owner = &m->bodies[m->bodies[index].owner];
    ItmPose pose = start->pose[user_id[m->bodies[index].owner]];
    pose.q = itm_quat_normalize(pose.q);
    pose.p = itm_vec_add(pose.p, itm_quat_rotate(pose.q, owner->com));
    if (m->bodies[index].mobility == ITM_MOBILIZER_NODE) {
        const ItmFlexNode* node = &m->nodes[m->bodies[index].part];
        const ItmFlexible* f = &m->flexibles[node->flexible];
        ItmFrame frame = itm_flexible_node_frame(node, start->modes + f->mode_adr, f->n);
        pose = itm_pose_mul(pose, frame_pose(&frame));
    }
    return pose;
}

// Near which value an angle should start: what the user gave, or where its signal starts.
static double start_reference(const ItmModel* m, const ItmModelBuilder* b, int joint, int direction)
{
    const ItmJointDef* def = &b->joints.items[joint];
    if (def->has_start[direction]) {
        return def->start[direction];
    }
    for (int i = 0; i < b->motions.count; i++) {
        const ItmMotionDef* motion = &b->motions.items[i];
        if (motion->joint == joint && (int)motion->direction == direction && motion->kind == ITM_MOTION_POSITION) {
            return itm_signal_compute(&m->signals[motion->signal], 0.0).x;
        }
    }
    return 0.0;
}

static double nearest_branch(double angle, double near)
{
    return angle + 2.0 * ITM_PI * floor((near - angle) / (2.0 * ITM_PI) + 0.5);
}

static void set_coordinates(const ItmModel* m, ItmData* d, const ItmModelBuilder* b, const ItmStart* start,
                            const int* user_id)
{
    for (int i = 0; i < m->nbody; i++) {
        const ItmBody* body = &m->bodies[i];
        if (itm_body_is_elastic(body)) {
            continue;
        }
        ItmPose child = itm_pose_mul(body_pose(m, start, user_id, i), frame_pose(&body->b));
        ItmPose a = itm_pose_mul(body_pose(m, start, user_id, body->parent), frame_pose(&body->a));
        itm_kinematics_fit(body, d->q + body->q_adr, itm_pose_mul(itm_pose_inverse(a), child));
    }
    // angles of tree joints on the branch the user meant
    for (int k = 0; k < m->nmeasure; k++) {
        const ItmMeasure* measure = &m->measures[k];
        bool is_screw = measure->joint != ITM_NONE && m->joints[measure->joint].type == ITM_JOINT_SCREW;
        if (measure->q_index != ITM_NONE && measure->direction >= ITM_RX && !is_screw) {
            double near = start_reference(m, b, measure->joint, (int)measure->direction);
            d->q[measure->q_index] = nearest_branch(d->q[measure->q_index], near * measure->scale);
        }
    }
}

// Angles of joints that are rows, near their references; a screw's angle goes with its translation.
static void set_angles(const ItmModel* m, ItmData* d, const ItmModelBuilder* b)
{
    for (int k = 0; k < m->nmeasure; k++) {
        const ItmMeasure* measure = &m->measures[k];
        if (measure->angle == ITM_NONE) {
            continue;
        }
        const ItmJoint* joint = &m->joints[measure->joint];
        double near = start_reference(m, b, measure->joint, (int)measure->direction);
        if (joint->type == ITM_JOINT_SCREW && joint->lead != 0.0) {
            near = itm_measure_compute(m, d, &m->measures[joint->measure[ITM_TZ]]).value / joint->lead;
        }
        d->angle[measure->angle] = near;
    }
    itm_data_update_angles(m, d);
}

// Velocities of one mobilizer that come closest to a relative twist: (S'S) v = S' twist.
static void fit_velocities(const ItmSpatial* S, double* v, int n, ItmSpatial twist)
{
    double L[36];
    for (int j = 0; j < n; j++) {
        v[j] = itm_spatial_dot(S[j], twist);
        for (int i = j; i < n; i++) {
            double sum = itm_spatial_dot(S[i], S[j]);
            for (int k = 0; k < j; k++) {
                sum -= L[i * n + k] * L[j * n + k];
            }
            L[i * n + j] = i == j ? sqrt(sum) : sum / L[j * n + j];
        }
    }
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++) {
            v[i] -= L[i * n + k] * v[k];
        }
        v[i] /= L[i * n + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) {
            v[i] -= L[k * n + i] * v[k];
        }
        v[i] /= L[i * n + i];
    }
}

static void set_velocities(const ItmModel* m, ItmData* d, const ItmStart* start, const int* user_id)
{
    for (int i = 0; i < m->nbody; i++) {
        const ItmBody* body = &m->bodies[i];
        if (itm_body_is_elastic(body)) {
            ItmSpatial t = itm_twist_shift(d->accel[body->parent], itm_vec_sub(d->x[i], d->x[body->parent]));
            d->accel[i] = body->mobility == ITM_MOBILIZER_NODE ? itm_flexible_add_motion(m, d, i, t, d->v) : t;
            continue;
        }
        ItmVec3 to_com = itm_mat_mul_vec(&d->R[i], body->com);
        ItmSpatial wanted = itm_twist_shift(start->twist[user_id[i]], to_com);
        ItmSpatial carried = itm_twist_shift(d->accel[body->parent], itm_vec_sub(d->x[i], d->x[body->parent]));
        double* v = d->v + body->v_adr;
        ItmSpatial S[6];
        for (int k = 0; k < body->nv; k++) {
            S[k] = itm_kinematics_get_motion(m, d, i, k);
        }
        fit_velocities(S, v, body->nv, itm_spatial_axpy(-1.0, carried, wanted));
        for (int k = 0; k < body->nv; k++) {
            carried = itm_spatial_axpy(v[k], S[k], carried);
        }
        d->accel[i] = carried;
    }
}

// Modes from the start into the state, or (is_back) the other way.
static void copy_modes(const ItmModel* m, ItmData* d, const ItmStart* start, bool is_back)
{
    for (int j = 0; j < m->nflexible; j++) {
        const ItmFlexible* f = &m->flexibles[j];
        const ItmBody* modes = &m->bodies[f->modes];
        double *q = d->q + modes->q_adr, *v = d->v + modes->v_adr;
        double *eta = start->modes + f->mode_adr, *rate = eta + m->nmode;
        size_t size = sizeof(double) * (size_t)f->n;
        memcpy(is_back ? eta : q, is_back ? q : eta, size);
        memcpy(is_back ? rate : v, is_back ? v : rate, size);
    }
}

static ItmStatus set_state(const ItmModel* m, ItmData* d, const ItmModelBuilder* b, const ItmStart* start)
{
    int* user_id = malloc(sizeof(int) * (size_t)(m->nbody + 1));
    if (user_id == NULL) {
        return ITM_ERR_MEMORY;
    }
    for (int id = 0; id < m->nuser; id++) {
        user_id[m->body_index[id]] = id;
    }
    copy_modes(m, d, start, false);
    set_coordinates(m, d, b, start, user_id);
    itm_kinematics_compute_positions(m, d, d->q);
    set_velocities(m, d, start, user_id);
    itm_kinematics_compute_velocities(m, d, d->v);
    set_angles(m, d, b);
    free(user_id);
    return ITM_OK;
}

// ---------------------------------------------------------------------------- assembly

static ItmStatus build_pattern(ItmModel* m, ItmError* error)
{
    ItmStatus status = itm_rows_build_pattern(m);
    if (status != ITM_OK) {
        itm_error_set(error, status, __func__, NULL, "out of memory for the factor of %d rows", m->nrow);
    }
    return status;
}

// Close the joints in absolute coordinates, with start values as rows, and read the bodies' poses off.
static ItmStatus assemble_start(ItmStart* start, const ItmModelBuilder* b, ItmError* error)
{
    ItmModel* m = NULL;
    ItmData* d = NULL;
    ItmStepOptions options = itm_default_step_options();
    ItmStatus status = itm_compile_model(&m, b, true, error);
    if (status == ITM_OK) {
        status = build_pattern(m, error);
    }
    if (status == ITM_OK) {
        status = itm_data_init(&d, m, &options, error);
    }
    if (status == ITM_OK) {
        status = set_state(m, d, b, start);
    }
    if (status == ITM_OK) {
        status = itm_assemble_positions(m, d, 0.0, error);
    }
    if (status == ITM_OK) {
        status = itm_assemble_velocities(m, d, 0.0, error);
    }
    for (int id = 0; status == ITM_OK && id < m->nuser; id++) {
        start->pose[id] = itm_data_get_body_pose(m, d, id);
        start->twist[id] =
            (ItmSpatial){itm_data_get_body_angular_velocity(m, d, id), itm_data_get_body_velocity(m, d, id)};
    }
    if (status == ITM_OK) {
        copy_modes(m, d, start, true);
    }
    if (d != NULL) {
        itm_data_free(d);
    }
    itm_multibody_destroy(m);
    return status;
}

// ---------------------------------------------------------------------------- what the start decides

// Constants that the definitions left to the start: offsets of couplings, lengths of rods, springs and ropes.
static void take_offsets(ItmModel* m, const ItmData* d, const ItmModelBuilder* b)
{
    for (int k = 0; k < m->nblock; k++) {
        ItmRowBlock* block = &m->blocks[k];
        bool is_open = block->kind == ITM_BLOCK_COUPLING || (block->kind == ITM_BLOCK_DISTANCE && block->offset == 0.0);
        if (is_open && !block->is_velocity) {
            block->offset = 0.0;
            for (int i = 0; i < block->nterm; i++) {
                block->offset +=
                    block->term_coef[i] * itm_measure_compute_value(m, d, d->q, &m->measures[block->term[i]]);
            }
        }
    }
    for (int i = 0; i < b->springs.count; i++) {
        if (m->scalar_forces[i].rest < 0.0) {
            m->scalar_forces[i].rest = itm_measure_compute_value(m, d, d->q, &m->measures[m->scalar_forces[i].measure]);
        }
    }
    // a rope without a length, and what the angle of its drum has taken in at the start
    for (int i = 0; i < b->ropes.count; i++) {
        const ItmRopeDef* def = &b->ropes.items[i];
        ItmLimit* limit = &m->limits[b->limits.count + i];
        const ItmMeasure* rope = &m->measures[limit->measure];
        double value = itm_measure_compute(m, d, rope).value;
        limit->upper = def->length < 0.0 ? value - (def->preload > 0.0 ? def->preload / def->stiffness : 0.0)
                                         : def->length + value - itm_measure_compute_span(m, d, rope);
    }
}

static void fill_info(ItmModel* m, const ItmData* d)
{
    ItmModelInfo* info = &m->info;
    int nopen = itm_latch_count_open_rows(m, d), nredundant = d->rows.factor.nredundant + m->nidle, nrope = 0;
    for (int i = 0; i < m->nlimit; i++) {
        nrope += m->limits[i].is_rope;
    }
    *info = (ItmModelInfo){
        .nbody = m->nuser,
        .nlimit = m->nlimit - nrope,
        .nrope = nrope,
        .nfriction = m->njoint_friction,
        .nmotor = m->nmotor,
        .nmode = m->nmode,
        .njoint = m->njoint,
        .ncoupling = m->ncoupling,
        .nmotion = m->nmotion,
        .nforce = m->nload + m->nscalar_force + m->nspring_row + m->nbushing,
        .nsignal = m->nsignal,
        .nactuator = m->nactuator,
        .nq = m->nq,
        .nv = m->nv,
        .nrow = m->nrow - nopen - m->nspring_row,
        .nredundant = nredundant - nopen,
        .freedom = m->nv - m->nrow + m->nspring_row + nredundant,
        .mass_min = m->nbody > 0 ? m->bodies[0].mass : 0.0,
    };
    for (int id = 0; id < m->nuser; id++) {
        int i = m->body_index[id];
        double mass = m->bodies[i].mass;
        info->mass += mass;
        info->mass_min = fmin(info->mass_min, mass);
        info->mass_max = fmax(info->mass_max, mass);
        info->length = fmax(info->length, itm_vec_norm(d->x[i]));
    }
    for (int j = 0; j < m->njoint; j++) {
        const ItmJoint* joint = &m->joints[j];
        ItmVec3 p = itm_vec_add(d->x[joint->body_a], itm_mat_mul_vec(&d->R[joint->body_a], joint->a.p));
        info->length = fmax(info->length, itm_vec_norm(p));
        info->ntree_joint += joint->tree_body != ITM_NONE;
    }
    for (int i = 0; i < m->nrow; i++) {
        m->is_row_redundant[i] =
            d->rows.factor.inv_diag[i] == 0.0 && !itm_block_is_open(d, &m->blocks[m->row_block[i]]);
    }
    itm_rows_keep_pivots(m, d);
}

// Bring the final model into the assembled start, and keep what follows from it.
static ItmStatus take_start(ItmModel* m, const ItmModelBuilder* b, const ItmStart* start, ItmError* error)
{
    ItmData* d = NULL;
    ItmStepOptions options = itm_default_step_options();
    ItmStatus status = itm_data_init(&d, m, &options, error);
    if (status != ITM_OK) {
        return status;
    }
    m->start = itm_model_take(m, (size_t)(m->nq + m->nv + m->nangle), sizeof(double));
    status = m->start != NULL ? set_state(m, d, b, start) : ITM_ERR_MEMORY;
    if (status == ITM_OK) {
        take_offsets(m, d, b);
        status = itm_assemble_positions(m, d, 0.0, error);
    }
    if (status == ITM_OK) {
        status = itm_assemble_velocities(m, d, 0.0, error);
    }
    if (status == ITM_OK) {
        status = itm_clearance_check_start(m, d, error);
    }
    if (status == ITM_OK) {
        memcpy(m->start, d->q, sizeof(double) * (size_t)m->nq);
        memcpy(m->start + m->nq, d->v, sizeof(double) * (size_t)m->nv);
        memcpy(m->start + m->nq + m->nv, d->angle, sizeof(double) * (size_t)m->nangle);
        fill_info(m, d);
        status = itm_planar_find(m, d) ? ITM_OK : ITM_ERR_MEMORY;
    }
    itm_data_free(d);
    return status;
}

// Leave rows out of the pattern of H that no coordinate can move, which the poses of the start show.
static ItmStatus leave_idle_rows(ItmModel* m, const ItmModelBuilder* b, const ItmStart* start, ItmError* error)
{
    if (!itm_planar_can_be_idle(m)) {
        return ITM_OK;
    }
    ItmData* d = NULL;
    ItmStepOptions options = itm_default_step_options();
    ItmStatus status = itm_data_init(&d, m, &options, error);
    if (status == ITM_OK) {
        status = set_state(m, d, b, start);
    }
    if (status == ITM_OK) {
        itm_planar_find_idle(m, d);
    }
    if (d != NULL) {
        itm_data_free(d);
    }
    return status;
}

// Start values of all modes, then their rates; to be freed.
static double* take_modes(const ItmModelBuilder* b)
{
    int n = 0;
    for (int j = 0; j < b->elastics.count; j++) {
        n += b->elastics.items[j]->n;
    }
    double* modes = malloc(sizeof(double) * (size_t)(2 * n + 1));
    for (int j = 0, adr = 0; modes != NULL && j < b->elastics.count; j++) {
        const ItmElastic* e = b->elastics.items[j];
        memcpy(modes + adr, e->start, sizeof(double) * (size_t)e->n);
        memcpy(modes + n + adr, e->start + e->n, sizeof(double) * (size_t)e->n);
        adr += e->n;
    }
    return modes;
}

ItmStatus itm_multibody_build(ItmModel** model, const ItmModelBuilder* b, ItmError* error)
{
    int n = b->bodies.count;
    ItmStart start = {
        .pose = malloc(sizeof(ItmPose) * ((size_t)n + 1)),
        .twist = malloc(sizeof(ItmSpatial) * ((size_t)n + 1)),
        .modes = take_modes(b),
    };
    ItmModel* m = NULL;
    bool has_memory = start.pose != NULL && start.twist != NULL && start.modes != NULL;
    ItmStatus status = has_memory ? itm_tree_guess_start(&start, b) : ITM_ERR_MEMORY;
    if (status == ITM_OK) {
        status = assemble_start(&start, b, error);
    }
    if (status == ITM_OK) {
        status = itm_compile_model(&m, b, false, error);
    }
    if (status == ITM_OK) {
        status = leave_idle_rows(m, b, &start, error);
    }
    if (status == ITM_OK) {
        status = build_pattern(m, error);
    }
    if (status == ITM_OK) {
        status = take_start(m, b, &start, error);
    }
    free(start.pose);
    free(start.twist);
    free(start.modes);
    if (status != ITM_OK) {
        itm_multibody_destroy(m);
        return status;
    }
    *model = m;
    return ITM_OK;
}
