// The spanning tree of a mechanism, and the first guess of its start.
#include "multibody/compile.h"

#include "multibody/clearance.h"
#include "multibody/measure.h"

#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------- adjacency

// Joints at each body, in the order they were given; list n is the ground.
typedef struct {
    int* adr;   // (nbody + 2)
    int* list;  // (2 njoint)
} Adjacency;

static int slot_of(const ItmModelBuilder* b, int body)
{
    return body == ITM_GROUND ? b->bodies.count : body;
}

static bool build_adjacency(Adjacency* adjacency, const ItmModelBuilder* b)
{
    int n = b->bodies.count, njoint = b->joints.count;
    adjacency->adr = calloc((size_t)n + 3, sizeof(int));
    adjacency->list = malloc(sizeof(int) * (size_t)(2 * njoint + 1));
    if (adjacency->adr == NULL || adjacency->list == NULL) {
        return false;
    }
    int* adr = adjacency->adr;
    for (int j = 0; j < njoint; j++) {
        adr[slot_of(b, b->joints.items[j].body_a) + 2]++;
        adr[slot_of(b, b->joints.items[j].body_b) + 2]++;
    }
    for (int i = 1; i < n + 3; i++) {
        adr[i] += adr[i - 1];
    }
    for (int j = 0; j < njoint; j++) {
        adjacency->list[adr[slot_of(b, b->joints.items[j].body_a) + 1]++] = j;
        adjacency->list[adr[slot_of(b, b->joints.items[j].body_b) + 1]++] = j;
    }
    return true;
}

static void free_adjacency(Adjacency* adjacency)
{
    free(adjacency->adr);
    free(adjacency->list);
}

// ---------------------------------------------------------------------------- tree

// Whether the motion of a seen from b has the same form as that of b seen from a: rotations alone, or a
// translation along the one axis of rotation, or translations alone.
static bool is_reversible(unsigned free)
{
    int axes[3];
    int nrot = itm_measure_get_free_rotations(free, axes);
    unsigned translations = free & 7u;
    return nrot == 0 || translations == 0 || (nrot == 1 && translations == 1u << axes[0]);
}

static bool may_be_in_tree(const ItmJointDef* def)
{
    return def->type != ITM_JOINT_DISTANCE && def->coordinates != ITM_JOINT_ROWS && def->stiffness == 0.0 &&
           def->damping == 0.0 && !itm_clearance_is_given(def);
}

// Attach whatever hangs on `body` by a joint that can carry it, and queue it.
static int attach_neighbours(ItmTree* tree, const ItmModelBuilder* b, const Adjacency* adjacency, int body, int count,
                             ItmTreeUse use)
{
    int slot = slot_of(b, body);
    for (int k = adjacency->adr[slot]; k < adjacency->adr[slot + 1]; k++) {
        int j = adjacency->list[k];
        const ItmJointDef* def = &b->joints.items[j];
        int other = def->body_a == body ? def->body_b : def->body_a;
        bool is_reversed = def->body_b == body;
        bool is_wanted = use == ITM_TREE_ALWAYS || (use == ITM_TREE_ON_DEMAND && def->coordinates == ITM_JOINT_TREE);
        if (other == ITM_GROUND || tree->index[other] != ITM_NONE || !is_wanted || !may_be_in_tree(def) ||
            !itm_flexible_can_hang(b, other, is_reversed ? def->frame_a.p : def->frame_b.p) ||
            (is_reversed && !is_reversible(itm_model_get_free_directions(def)))) {
            continue;
        }
        tree->joint[other] = j;
        tree->is_reversed[other] = is_reversed;
        tree->index[other] = count;
        tree->order[count++] = other;
    }
    return count;
}

ItmStatus itm_tree_build(ItmTree* tree, const ItmModelBuilder* b, ItmTreeUse use)
{
    size_t n = (size_t)b->bodies.count + 1;
    *tree = (ItmTree){
        .order = malloc(n * sizeof(int)),
        .index = malloc(n * sizeof(int)),
        .joint = malloc(n * sizeof(int)),
        .is_reversed = calloc(n, sizeof(bool)),
    };
    Adjacency adjacency = {0};
    bool ok = build_adjacency(&adjacency, b) && tree->order != NULL && tree->index != NULL && tree->joint != NULL &&
              tree->is_reversed != NULL;
    if (ok) {
        for (int i = 0; i < b->bodies.count; i++) {
            tree->index[i] = tree->joint[i] = ITM_NONE;
        }
        int count = attach_neighbours(tree, b, &adjacency, ITM_GROUND, 0, use);
        for (int done = 0, next_root = 0; done < b->bodies.count; done++) {
            if (done == count) {
                // nothing left that hangs on what we have: the first remaining body floats
                while (tree->index[next_root] != ITM_NONE) {
                    next_root++;
                }
                tree->index[next_root] = count;
                tree->order[count++] = next_root;
            }
            count = attach_neighbours(tree, b, &adjacency, tree->order[done], count, use);
        }
    }
    free_adjacency(&adjacency);
    return ok ? ITM_OK : ITM_ERR_MEMORY;
}

void itm_tree_free(ItmTree* tree)
{
    free(tree->order);
    free(tree->index);
    free(tree->joint);
    free(tree->is_reversed);
}

// ---------------------------------------------------------------------------- guess

// Frame b in frame a, and its twist against a in axes of a, for the start values of a joint.
static void joint_start(const ItmJointDef* def, ItmPose* pose, ItmSpatial* twist)
{
    double x[6] = {0}, rate[6] = {0};
    for (int k = 0; k < 6; k++) {
        if (def->has_start[k]) {
            x[k] = def->start[k];
            rate[k] = def->start_rate[k];
        }
    }
    if (def->type == ITM_JOINT_SCREW) {
        double lead = def->pitch / (2.0 * ITM_PI);
        if (!def->has_start[ITM_RZ] && lead != 0.0) {
            x[ITM_RZ] = x[ITM_TZ] / lead;
            rate[ITM_RZ] = rate[ITM_TZ] / lead;
        }
        x[ITM_TZ] = lead * x[ITM_RZ];
        rate[ITM_TZ] = lead * rate[ITM_RZ];
    }
    pose->p = itm_vec(x[0], x[1], x[2]);
    twist->lin = itm_vec(rate[0], rate[1], rate[2]);
    int axes[3];
    if (itm_measure_get_free_rotations(itm_model_get_free_directions(def), axes) == 3) {
        pose->q = itm_quat_exp(itm_vec(x[3], x[4], x[5]));
        twist->ang = itm_quat_rotate(pose->q, itm_vec(rate[3], rate[4], rate[5]));
        return;
    }
    // Rot(first) Rot(second), in the order of the axes
    pose->q = itm_quat_identity();
    twist->ang = itm_vec(0, 0, 0);
    for (int k = 0; k < 3; k++) {
        double unit[3] = {0, 0, 0};
        unit[k] = 1.0;
        ItmVec3 axis = itm_quat_rotate(pose->q, itm_vec(unit[0], unit[1], unit[2]));
        twist->ang = itm_vec_axpy(rate[3 + k], axis, twist->ang);
        pose->q = itm_quat_mul(pose->q, itm_quat_exp(itm_vec_scale(x[3 + k], itm_vec(unit[0], unit[1], unit[2]))));
    }
}

// Twist of a frame from that of another one rigidly connected, `offset` away.
static ItmSpatial carried(ItmSpatial twist, ItmVec3 from, ItmVec3 to)
{
    return itm_twist_shift(twist, itm_vec_sub(to, from));
}

// Pose and twist of the body at the other end of a joint.
static void follow_joint(const ItmJointDef* def, bool is_forward, const ItmPose* pose, const ItmSpatial* twist,
                         ItmPose* other_pose, ItmSpatial* other_twist)
{
    ItmPose rel;
    ItmSpatial rel_twist;
    joint_start(def, &rel, &rel_twist);
    ItmPose frame = itm_pose_mul(*pose, is_forward ? def->frame_a : def->frame_b);
    ItmPose far = itm_pose_mul(frame, is_forward ? rel : itm_pose_inverse(rel));
    ItmPose inner = itm_pose_inverse(is_forward ? def->frame_b : def->frame_a);
    *other_pose = itm_pose_mul(far, inner);
    other_pose->q = itm_quat_normalize(other_pose->q);

    // relative twist of b against a, in world axes, acting at the origin of frame b
    ItmQuat to_world = is_forward ? frame.q : far.q;
    ItmVec3 at_b = is_forward ? far.p : frame.p;
    ItmSpatial step = {itm_quat_rotate(to_world, rel_twist.ang), itm_quat_rotate(to_world, rel_twist.lin)};
    ItmSpatial at = carried(*twist, pose->p, at_b);
    at = itm_spatial_axpy(is_forward ? 1.0 : -1.0, step, at);
    *other_twist = carried(at, at_b, other_pose->p);
}

static bool is_moving(const ItmBodyDef* def)
{
    return itm_vec_norm(def->velocity) > 0.0 || itm_vec_norm(def->angular_velocity) > 0.0;
}

// Visit what hangs on `body`; poses that are given stay, velocities that are given stay.
static int spread(ItmStart* start, const ItmModelBuilder* b, const Adjacency* adjacency, int* queue, int count,
                  bool* is_reached, int body)
{
    static const ItmPose origin = {{0, 0, 0}, {1, 0, 0, 0}};
    static const ItmSpatial rest = {{0, 0, 0}, {0, 0, 0}};
    int slot = slot_of(b, body);
    for (int k = adjacency->adr[slot]; k < adjacency->adr[slot + 1]; k++) {
        const ItmJointDef* def = &b->joints.items[adjacency->list[k]];
        int other = def->body_a == body ? def->body_b : def->body_a;
        if (other == ITM_GROUND || is_reached[other] || def->type == ITM_JOINT_DISTANCE) {
            continue;
        }
        ItmPose pose;
        ItmSpatial twist;
        follow_joint(def, def->body_a == body, body == ITM_GROUND ? &origin : &start->pose[body],
                     body == ITM_GROUND ? &rest : &start->twist[body], &pose, &twist);
        const ItmBodyDef* body_def = &b->bodies.items[other];
        if (!body_def->has_pose) {
            start->pose[other] = pose;
        }
        if (!is_moving(body_def)) {
            start->twist[other] = body_def->has_pose ? carried(twist, pose.p, start->pose[other].p) : twist;
        }
        is_reached[other] = true;
        queue[count++] = other;
    }
    return count;
}

ItmStatus itm_tree_guess_start(ItmStart* start, const ItmModelBuilder* b)
{
    int n = b->bodies.count;
    int* queue = malloc(sizeof(int) * (size_t)(n + 1));
    bool* is_reached = calloc((size_t)n + 1, sizeof(bool));
    Adjacency adjacency = {0};
    bool ok = build_adjacency(&adjacency, b) && queue != NULL && is_reached != NULL;
    if (ok) {
        for (int i = 0; i < n; i++) {
            const ItmBodyDef* def = &b->bodies.items[i];
            start->pose[i] = def->has_pose ? def->pose : itm_pose_identity();
            start->twist[i] = (ItmSpatial){def->angular_velocity, def->velocity};
        }
        int count = spread(start, b, &adjacency, queue, 0, is_reached, ITM_GROUND);
        for (int done = 0, pass = 0, seed = 0; done < n; done++) {
            // islands start from a body with a given pose, or else from any
            while (done == count) {
                if (seed == n) {
                    seed = 0;
                    pass++;
                }
                if (!is_reached[seed] && (pass > 0 || b->bodies.items[seed].has_pose)) {
                    is_reached[seed] = true;
                    queue[count++] = seed;
                }
                seed++;
            }
            count = spread(start, b, &adjacency, queue, count, is_reached, queue[done]);
        }
    }
    free_adjacency(&adjacency);
    free(queue);
    free(is_reached);
    return ok ? ITM_OK : ITM_ERR_MEMORY;
}
