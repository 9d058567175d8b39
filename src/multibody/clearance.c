#include "multibody/clearance.h"

#include "base/error.h"
#include "base/guard.h"
#include "multibody/bounded.h"
#include "multibody/kinematics.h"
#include "multibody/mass.h"

#include <string.h>

// ---------------------------------------------------------------------------- checks

static bool is_kind_with_play(ItmJointType type)
{
    return type == ITM_JOINT_REVOLUTE || type == ITM_JOINT_CYLINDRICAL || type == ITM_JOINT_PRISMATIC ||
           type == ITM_JOINT_SPHERICAL;
}

// Twice the area of the triangle a, b, c: positive where it turns to the left.
static double turn(const double a[2], const double b[2], const double c[2])
{
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

static const double (*corners_of(const ItmClearance* play))[2]
{
    return (const double(*)[2])play->section;
}

// Signed area of a polygon, positive counter-clockwise.
static double area_of(const double (*p)[2], int n)
{
    double sum = 0.0;
    for (int i = 1; i + 1 < n; i++) {
        sum += 0.5 * turn(p[0], p[i], p[i + 1]);
    }
    return sum;
}

static double size_of(const double (*p)[2], int n)
{
    double size = 0.0;
    for (int i = 0; i < n; i++) {
        size = fmax(size, hypot(p[i][0] - p[0][0], p[i][1] - p[0][1]));
    }
    return size;
}

#define FLAT 1e-9  // of the size squared: what is thinner has no inside

static void check_section(ItmCheck* c, const ItmClearance* play)
{
    const double(*p)[2] = corners_of(play);
    int n = play->nsection;
    if (n < 3 || n > ITM_CLEARANCE_MAX_CORNERS || p == NULL) {
        itm_check_refuse(c, "clearance.section",
                         "a prismatic joint with clearance needs a section of 3 to %d corners, got %d",
                         ITM_CLEARANCE_MAX_CORNERS, n);
        return;
    }
    for (int i = 0; i < n; i++) {
        itm_check_finite(c, "clearance.section", p[i][0]);
        itm_check_finite(c, "clearance.section", p[i][1]);
    }
    double size = size_of(p, n), area = area_of(p, n);
    if (c->status == ITM_OK && !(fabs(area) > FLAT * size * size)) {
        itm_check_refuse(c, "clearance.section",
                         "the section of %d corners is degenerate: its area is %g m^2 at a size of %g m", n, fabs(area),
                         size);
    }
    double whole_turn = 0.0;
    for (int i = 0; i < n && c->status == ITM_OK; i++) {
        const double *a = p[i], *b = p[(i + 1) % n], *d = p[(i + 2) % n];
        double left = turn(a, b, d) * (area > 0 ? 1.0 : -1.0);
        if (!(left > FLAT * size * size)) {
            itm_check_refuse(
                c, "clearance.section",
                "the section is %s at corner %d, (%g, %g) m: list the corners of a convex polygon once around",
                left < -FLAT * size * size ? "not convex" : "straight or has two corners in one", (i + 1) % n + 1, b[0],
                b[1]);
        }
        double dot = (b[0] - a[0]) * (d[0] - b[0]) + (b[1] - a[1]) * (d[1] - b[1]);
        whole_turn += atan2(left, dot);
    }
    // a star turns to the left at every corner too, but more than once around
    if (c->status == ITM_OK && whole_turn > 2.5 * ITM_PI) {
        itm_check_refuse(c, "clearance.section",
                         "the section goes %.0f times around: list the corners of a convex polygon once around",
                         whole_turn / (2.0 * ITM_PI));
    }
}

// A field that this type of joint does not use.
static void refuse_useless(ItmCheck* c, const char* field, bool is_given, const ItmJointDef* def, const char* reason)
{
    if (is_given) {
        itm_check_refuse(c, field, "a %s joint has no use for %s: %s", itm_model_joint_type_name(def->type), field,
                         reason);
    }
}

void itm_clearance_check(ItmCheck* c, const ItmJointDef* def)
{
    const ItmClearance* play = &def->clearance;
    itm_check_not_negative(c, "clearance.radial", play->radial);
    itm_check_not_negative(c, "clearance.axial", play->axial);
    itm_check_not_negative(c, "clearance.length", play->length);
    itm_check_not_negative(c, "clearance.radius", play->radius);
    itm_check_not_negative(c, "clearance.friction", play->friction);
    itm_check_not_negative(c, "clearance.stiffness", play->stiffness);
    itm_check_not_negative(c, "clearance.damping", play->damping);
    if (!(play->restitution >= 0 && play->restitution <= 1)) {
        itm_check_refuse(c, "clearance.restitution", "restitution must lie between 0 and 1, got %g", play->restitution);
    }
    if (!itm_clearance_is_given(def) || c->status != ITM_OK) {
        return;
    }
    if (!is_kind_with_play(def->type)) {
        itm_check_refuse(c, "clearance",
                         "a %s joint cannot have clearance; revolute, cylindrical, prismatic and spherical can",
                         itm_model_joint_type_name(def->type));
    }
    if (def->stiffness != 0.0 || def->damping != 0.0) {
        itm_check_refuse(c, "clearance",
                         "a joint has either clearance or compliance: give stiffness and damping inside clearance, for "
                         "its contacts");
    }
    refuse_useless(c, "clearance.axial", play->axial != 0.0 && def->type != ITM_JOINT_REVOLUTE, def,
                   "only revolute joints have axial clearance");
    refuse_useless(c, "clearance.length", play->length != 0.0 && def->type == ITM_JOINT_SPHERICAL, def, "it is a ball");
    refuse_useless(c, "clearance.radius", play->radius != 0.0 && def->type == ITM_JOINT_PRISMATIC, def,
                   "it has corners");
    refuse_useless(c, "clearance.section", play->nsection != 0 && def->type != ITM_JOINT_PRISMATIC, def, "it is round");
    if (def->type != ITM_JOINT_SPHERICAL && !(play->length > 0.0)) {
        itm_check_refuse(
            c, "clearance.length",
            "a %s joint with clearance needs the length of its %s, which limits how far it can tilt: for example "
            "clearance: {%s: %g, length: ...}",
            itm_model_joint_type_name(def->type), def->type == ITM_JOINT_PRISMATIC ? "slider" : "hub",
            def->type == ITM_JOINT_PRISMATIC ? "gap" : "radial", play->radial);
    }
    if (def->type == ITM_JOINT_PRISMATIC) {
        check_section(c, play);
    } else if (play->friction > 0.0 && !(play->radius > 0.0)) {
        itm_check_refuse(c, "clearance.radius",
                         "friction in a %s joint with clearance needs the radius of its pin, where the friction acts",
                         itm_model_joint_type_name(def->type));
    }
}

// ---------------------------------------------------------------------------- compilation

// What is given of a body at the start: false for a pose that follows from the joints.
static bool get_given_pose(const ItmModelBuilder* b, int body, ItmPose* pose)
{
    *pose = body == ITM_GROUND ? itm_pose_identity() : b->bodies.items[body].pose;
    return body == ITM_GROUND || b->bodies.items[body].has_pose;
}

static bool is_given_velocity(const ItmModelBuilder* b, int body)
{
    const ItmBodyDef* def = body == ITM_GROUND ? NULL : &b->bodies.items[body];
    return def != NULL && itm_vec_norm(def->velocity) + itm_vec_norm(def->angular_velocity) > 0.0;
}

#define OFF_CENTRE 1e-6  // of the clearance: what is closer is meant to be in the middle

bool itm_clearance_is_centred(const ItmModelBuilder* b, const ItmJointDef* def)
{
    ItmPose pose_a, pose_b;
    bool has_a = get_given_pose(b, def->body_a, &pose_a), has_b = get_given_pose(b, def->body_b, &pose_b);
    if (is_given_velocity(b, def->body_a) || is_given_velocity(b, def->body_b)) {
        return false;
    }
    if (!has_a || !has_b) {
        return true;
    }
    ItmPose rel =
        itm_pose_mul(itm_pose_inverse(itm_pose_mul(pose_a, def->frame_a)), itm_pose_mul(pose_b, def->frame_b));
    unsigned free = itm_model_get_free_directions(def);
    double off = hypot(rel.p.x, rel.p.y);
    off = free & 1u << ITM_TZ ? off : hypot(off, rel.p.z);
    // the ends of the hub are off by its tilt
    ItmVec3 tilt = itm_quat_rotate(rel.q, itm_vec(0, 0, 0.5 * def->clearance.length));
    off += hypot(tilt.x, tilt.y);
    if (def->type == ITM_JOINT_PRISMATIC) {
        off += 2.0 * fabs(rel.q.z) * size_of(corners_of(&def->clearance), def->clearance.nsection);
    }
    return off <= OFF_CENTRE * def->clearance.radial;
}

// Corners counter-clockwise; planes of the guide beside the edges.
static bool build_section(ItmModel* m, ItmClearanceJoint* clearance, const ItmClearance* play)
{
    int n = play->nsection;
    double* memory = itm_model_take(m, (size_t)(5 * n), sizeof(double));
    if (memory == NULL) {
        return false;
    }
    double *corner = memory, *normal = memory + 2 * n, *offset = memory + 4 * n;
    bool is_clockwise = area_of(corners_of(play), n) < 0.0;
    for (int i = 0; i < n; i++) {
        const double* from = corners_of(play)[is_clockwise ? n - 1 - i : i];
        corner[2 * i] = from[0];
        corner[2 * i + 1] = from[1];
    }
    for (int i = 0; i < n; i++) {
        int next = (i + 1) % n;
        double dx = corner[2 * next] - corner[2 * i], dy = corner[2 * next + 1] - corner[2 * i + 1];
        double length = hypot(dx, dy);
        normal[2 * i] = dy / length;
        normal[2 * i + 1] = -dx / length;
        offset[i] = normal[2 * i] * corner[2 * i] + normal[2 * i + 1] * corner[2 * i + 1] + play->radial;
    }
    clearance->ncorner = n;
    clearance->corner = corner;
    clearance->normal = normal;
    clearance->offset = offset;
    return true;
}

static int count_points(const ItmJointDef* def)
{
    switch (def->type) {
    case ITM_JOINT_REVOLUTE:
        return 4;
    case ITM_JOINT_CYLINDRICAL:
        return 2;
    case ITM_JOINT_PRISMATIC:
        return 4 * def->clearance.nsection;
    default:
        return 1;
    }
}

bool itm_clearance_build(ItmModel* m, const ItmModelBuilder* b)
{
    m->clearances = itm_model_take(m, (size_t)m->njoint, sizeof(ItmClearanceJoint));
    if (m->clearances == NULL) {
        return false;
    }
    for (int j = 0; j < m->njoint; j++) {
        const ItmJointDef* def = &b->joints.items[j];
        const ItmClearance* play = &def->clearance;
        m->joints[j].clearance = ITM_NONE;
        if (!itm_clearance_is_given(def)) {
            continue;
        }
        ItmClearanceJoint* clearance = &m->clearances[m->nclearance];
        *clearance = (ItmClearanceJoint){
            .joint = j,
            .type = def->type,
            .radial = play->radial,
            .axial = play->axial,
            .half_length = 0.5 * play->length,
            .radius = play->radius,
            .friction = play->friction,
            .restitution = play->restitution,
            .stiffness = play->stiffness,
            .damping = play->damping,
            .npoint = count_points(def),
            .first_point = m->nclearance_point,
        };
        if (def->type == ITM_JOINT_PRISMATIC && !build_section(m, clearance, play)) {
            return false;
        }
        m->joints[j].clearance = m->nclearance++;
        m->nclearance_point += clearance->npoint;
        m->nclearance_row += clearance->npoint * (play->friction > 0.0 ? 3 : 1);
    }
    return true;
}

// ---------------------------------------------------------------------------- gaps

// The two frames of a joint in the world.
typedef struct {
    int body_a, body_b;
    ItmMat3 R_a, R_b;
    ItmVec3 p_a, p_b;
} View;

static View look(const ItmData* d, const ItmJoint* joint)
{
    int a = joint->body_a, b = joint->body_b;
    return (View){
        .body_a = a,
        .body_b = b,
        .R_a = itm_mat_mul(&d->R[a], &joint->a.R),
        .R_b = itm_mat_mul(&d->R[b], &joint->b.R),
        .p_a = itm_vec_add(d->x[a], itm_mat_mul_vec(&d->R[a], joint->a.p)),
        .p_b = itm_vec_add(d->x[b], itm_mat_mul_vec(&d->R[b], joint->b.p)),
    };
}

// Velocity of a point fixed in body b, seen from body a, for the twists of a velocity.
static ItmVec3 relative_velocity(const ItmData* d, const View* view, const ItmSpatial* twist, ItmVec3 point)
{
    ItmVec3 s_a = itm_vec_sub(point, d->x[view->body_a]), s_b = itm_vec_sub(point, d->x[view->body_b]);
    return itm_vec_sub(itm_twist_shift(twist[view->body_b], s_b).lin, itm_twist_shift(twist[view->body_a], s_a).lin);
}

// Half of what the turning of both bodies does to the rate of a gap, per time: what a step h that ends with A v+ loses of the
// gap is h^2 times that. Zero where the gaps of the paper are wanted, which are linear in the step.
static double half_bias(const ItmData* d, const ItmJoint* joint, const ItmClearancePoint* point, double c, double h)
{
    if (d->bounded->step.feeds_gaps_back || h == 0.0) {
        return 0.0;
    }
    ItmVec3 s_a = itm_vec_sub(point->point, d->x[joint->body_a]), s_b = itm_vec_sub(point->point, d->x[joint->body_b]);
    ItmVec3 w_a = d->twist[joint->body_a].ang, w_b = d->twist[joint->body_b].ang;
    ItmVec3 a = itm_vec_sub(itm_point_acceleration(d->accel_bias[joint->body_b], w_b, s_b),
                            itm_point_acceleration(d->accel_bias[joint->body_a], w_a, s_a));
    a = itm_vec_axpy(-2.0, itm_vec_cross(w_a, point->velocity), a);
    // where bodies turn so fast that this is more than the clearance, the expansion is worthless
    double most = 0.5 * c / (h * h);
    return fmin(most, fmax(-most, 0.5 * itm_vec_dot(point->normal, a)));
}

// Twists of v + h M^-1 (f - c), where forces and inertia would take the bodies without any row. Into d->accel, which has the
// world at -1.
static const ItmSpatial* compute_free_twists(const ItmModel* m, ItmData* d, double h)
{
    itm_mass_factor(m, d);
    itm_mass_solve(m, d, d->x4, d->tau, d->wrench);
    for (int i = 0; i < m->nv; i++) {
        d->x4[i] = d->v[i] + h * d->x4[i];
    }
    itm_kinematics_compute_twists(m, d, d->accel, d->x4);
    return d->accel;
}

#define CENTRED 1e-12  // of the clearance: closer to the centre the offset has no direction

// Where a centre that has left its axis by rho, at the rate u, would touch: the outward direction there. [clearance, eq. 35]
// takes rho itself (is_literal). Otherwise the direction is that of the point where the way rho + s h u, 0 <= s <= 1, leaves the
// circle, or of its end: the same for a hub that slides, and right for one that flies through the middle. What is
// left of the way runs along the tangent there and would leave the circle again by ((1 - s) h u_t)^2 / 2c: the bias keeps it
// inside, and keeps the energy of a sliding hub (velocities turn about the middle of the step, as in Verlet's method).
static ItmVec3 find_outward(ItmVec3 rho, ItmVec3 u, double c, double h, bool is_literal, double* bias)
{
    double length = itm_vec_norm(rho);
    ItmVec3 end = itm_vec_axpy(h, u, rho);
    double far = itm_vec_norm(end);
    *bias = 0.0;
    if (is_literal && length > CENTRED * c) {
        return itm_vec_scale(1.0 / length, rho);
    }
    if (far <= c || is_literal) {
        return far > CENTRED * c ? itm_vec_scale(1.0 / far, end) : itm_vec(0, 0, 0);
    }
    double s = 0.0;
    if (length < c) {
        // |rho + s h u| = c
        double a2 = h * h * itm_vec_dot(u, u), a1 = h * itm_vec_dot(rho, u), a0 = length * length - c * c;
        double root = sqrt(a1 * a1 - a2 * a0);
        s = a1 > 0.0 ? -a0 / (a1 + root) : (root - a1) / a2;
        end = itm_vec_axpy(s * h, u, rho);
        length = itm_vec_norm(end);
    } else {
        end = rho;
    }
    ItmVec3 n = itm_vec_scale(1.0 / length, end);
    double u2 = fmax(0.0, itm_vec_dot(u, u) - itm_vec_dot(u, n) * itm_vec_dot(u, n));
    // (way left / c)^2: a step that goes round the circle has no curvature to speak of
    double turn2 = (1.0 - s) * (1.0 - s) * h * h * u2 / (c * c);
    *bias = -0.5 * (1.0 - s) * (1.0 - s) * u2 / c * fmax(0.0, 1.0 - turn2);
    return n;
}

// A centre (end of the hub, or centre of the socket) that stays within c of the axis, or of the centre where axis is zero.
static void measure_radial(const ItmModel* m, ItmData* d, const View* view, const ItmClearanceJoint* clearance,
                           ItmVec3 axis, ItmClearancePoint* out, double h)
{
    bool is_literal = d->bounded->step.feeds_gaps_back;
    ItmVec3 delta = itm_vec_sub(out->point, view->p_a), u = out->velocity;
    ItmVec3 rho = itm_vec_axpy(-itm_vec_dot(axis, delta), axis, delta);
    ItmVec3 w = itm_vec_axpy(-itm_vec_dot(axis, u), axis, u);
    ItmVec3 n = find_outward(rho, w, clearance->radial, h, is_literal, &out->bias);
    if (h > 0.0 && itm_vec_norm(n) == 0.0) {
        // in the centre and at rest there: along the free motion of the step
        u = relative_velocity(d, view, compute_free_twists(m, d, h), out->point);
        w = itm_vec_axpy(-itm_vec_dot(axis, u), axis, u);
        n = find_outward(rho, w, clearance->radial, h, is_literal, &out->bias);
    }
    if (itm_vec_norm(n) == 0.0) {
        n = view->R_a.x;
    }
    out->normal = itm_vec_neg(n);
    out->gap = h > 0.0 ? clearance->radial - itm_vec_dot(n, rho) : clearance->radial - itm_vec_norm(rho);
    out->rate = -itm_vec_dot(n, out->velocity);
    out->contact = itm_vec_axpy(-clearance->radius, n, out->point);
    if (clearance->type == ITM_JOINT_SPHERICAL) {
        itm_vec_make_tangents(out->tangent, n);
    } else {
        out->tangent[0] = axis;
        out->tangent[1] = itm_vec_cross(axis, n);
    }
}

// A point in front of a plane that is fixed in body a; `normal` points to the point.
static void measure_plane(ItmClearancePoint* out, ItmVec3 normal, ItmVec3 along, double distance)
{
    out->normal = normal;
    out->tangent[0] = along;
    out->tangent[1] = itm_vec_cross(normal, along);
    out->gap = distance;
    out->rate = itm_vec_dot(normal, out->velocity);
    out->bias = 0.0;
    out->contact = out->point;
}

// Corner i of the section on the face at z, against the plane of edge k                                  [clearance, eq. 38]
static void measure_corner(const ItmData* d, const View* view, const ItmClearanceJoint* clearance,
                           ItmClearancePoint* out, int i, int k, double z)
{
    ItmVec3 in_b = itm_vec(clearance->corner[2 * i], clearance->corner[2 * i + 1], z);
    out->point = itm_vec_add(view->p_b, itm_mat_mul_vec(&view->R_b, in_b));
    out->velocity = relative_velocity(d, view, d->twist, out->point);
    ItmVec3 outward = itm_mat_mul_vec(&view->R_a, itm_vec(clearance->normal[2 * k], clearance->normal[2 * k + 1], 0));
    double distance = clearance->offset[k] - itm_vec_dot(outward, itm_vec_sub(out->point, view->p_a));
    measure_plane(out, itm_vec_neg(outward), view->R_a.z, distance);
}

void itm_clearance_measure(const ItmModel* m, ItmData* d, int index, double h)
{
    const ItmClearanceJoint* clearance = &m->clearances[index];
    const ItmJoint* joint = &m->joints[clearance->joint];
    ItmClearancePoint* points = d->clearance.points + clearance->first_point;
    View view = look(d, joint);
    if (clearance->type == ITM_JOINT_SPHERICAL) {
        points[0].point = view.p_b;
        points[0].velocity = relative_velocity(d, &view, d->twist, view.p_b);
        measure_radial(m, d, &view, clearance, itm_vec(0, 0, 0), &points[0], h);
        return;
    }
    if (clearance->type == ITM_JOINT_PRISMATIC) {
        int n = clearance->ncorner;
        for (int i = 0; i < 2 * n; i++) {
            double z = i < n ? -clearance->half_length : clearance->half_length;
            measure_corner(d, &view, clearance, &points[2 * i], i % n, (i + n - 1) % n, z);
            measure_corner(d, &view, clearance, &points[2 * i + 1], i % n, i % n, z);
        }
        return;
    }
    for (int k = 0; k < 2; k++) {
        double side = k == 0 ? -1.0 : 1.0;
        points[k].point = itm_vec_axpy(side * clearance->half_length, view.R_b.z, view.p_b);
        points[k].velocity = relative_velocity(d, &view, d->twist, points[k].point);
        measure_radial(m, d, &view, clearance, view.R_a.z, &points[k], h);
        if (clearance->type == ITM_JOINT_REVOLUTE) {
            // the stops are the hub's length and the clearance apart                                          [clearance, eq. 41]
            points[2 + k].point = points[k].point;
            points[2 + k].velocity = points[k].velocity;
            double z = itm_vec_dot(view.R_a.z, itm_vec_sub(points[k].point, view.p_a));
            measure_plane(&points[2 + k], itm_vec_scale(-side, view.R_a.z), view.R_a.x,
                          clearance->half_length + clearance->axial - side * z);
        }
    }
}

// Whether contact point k is a stop at the end of the pin.
static bool is_stop(const ItmClearanceJoint* clearance, int k)
{
    return clearance->type == ITM_JOINT_REVOLUTE && k >= 2;
}

// Rows that a contact point takes.
static int count_rows(const ItmClearanceJoint* clearance, int k)
{
    return clearance->friction == 0.0 ? 1 : is_stop(clearance, k) ? 2 : 3;
}

// ---------------------------------------------------------------------------- start

#define FITS 1e-9  // of the clearance and length: a hub that is that far outside is let in

ItmStatus itm_clearance_check_start(const ItmModel* m, ItmData* d, ItmError* error)
{
    for (int i = 0; i < m->nclearance; i++) {
        const ItmClearanceJoint* clearance = &m->clearances[i];
        itm_clearance_measure(m, d, i, 0.0);
        for (int k = 0; k < clearance->npoint; k++) {
            double gap = d->clearance.points[clearance->first_point + k].gap;
            double play = is_stop(clearance, k) ? clearance->axial : clearance->radial;
            if (gap < -FITS * (play + 2.0 * clearance->half_length)) {
                const char* name = m->joints[clearance->joint].name;
                const char* what = clearance->type == ITM_JOINT_PRISMATIC   ? "slider"
                                   : clearance->type == ITM_JOINT_SPHERICAL ? "socket"
                                                                            : "hub";
                return itm_error_set(
                    error, ITM_ERR_ASSEMBLY, __func__, name,
                    "joint '%s': its %s starts outside its bearing: at point %d it is %.6g m off, the %s "
                    "clearance is %.6g m; move the bodies together, or leave out the pose of one of them to "
                    "start in the middle",
                    name, what, k + 1, play - gap, is_stop(clearance, k) ? "axial" : "radial", play);
            }
        }
    }
    return ITM_OK;
}

// ---------------------------------------------------------------------------- rows

static uint64_t make_key(ItmRowKind kind, int clearance, int point, int part)
{
    return ((uint64_t)(kind + 1) << 56) | ((uint64_t)(unsigned)clearance << 16) |
           (uint64_t)(unsigned)(4 * point + part);
}

// The contact point of a row.
static int point_of(const ItmRow* row)
{
    return (int)((row->key & 0xffff) / 4);
}

// A row along a direction at a point (force) or about it (torque).
static ItmRow* add_row(ItmData* d, ItmBoundBlock* block, const ItmJoint* joint, ItmRowKind kind, int owner, int point,
                       int part, ItmVec3 direction, ItmVec3 at, bool is_torque)
{
    ItmVec3 s_a = itm_vec_sub(at, d->x[joint->body_a]), s_b = itm_vec_sub(at, d->x[joint->body_b]);
    ItmSpatial on_b = {direction, {0, 0, 0}}, on_a = {itm_vec_neg(direction), {0, 0, 0}};
    if (!is_torque) {
        on_b = (ItmSpatial){itm_vec_cross(s_b, direction), direction};
        on_a = (ItmSpatial){itm_vec_cross(direction, s_a), itm_vec_neg(direction)};
    }
    ItmRow* row = itm_bounded_add_row(d->bounded, block, &on_a, &on_b);
    row->kind = kind;
    row->owner = owner;
    row->key = make_key(kind, owner, point, part);
    row->rate = itm_spatial_dot(on_a, d->twist[joint->body_a]) + itm_spatial_dot(on_b, d->twist[joint->body_b]);
    row->lo = -INFINITY;
    row->up = INFINITY;
    return row;
}

static void add_point(const ItmModel* m, ItmData* d, ItmBoundBlock* block, int index, int k, double h)
{
    const ItmClearanceJoint* clearance = &m->clearances[index];
    const ItmJoint* joint = &m->joints[clearance->joint];
    const ItmClearancePoint* point = &d->clearance.points[clearance->first_point + k];
    ItmBounded* b = d->bounded;
    int normal = b->nrow;
    ItmRow* row = add_row(d, block, joint, ITM_BOUND_CLEARANCE, index, k, 0, point->normal, point->point, false);
    row->gap = point->gap;
    row->bias = point->bias + half_bias(d, joint, point, clearance->radial, h);
    row->lo = 0.0;
    row->restitution = clearance->restitution;
    row->stiffness = clearance->stiffness;
    row->damping = clearance->damping;
    if (clearance->friction == 0.0) {
        return;
    }
    ItmMlcpContact coupling = {.normal = normal, .tangent = {b->nrow, ITM_NONE}, .mu = clearance->friction};
    if (is_stop(clearance, k)) {
        // a collar at the radius of the pin that turns: its friction is a torque, without a force across
        coupling.mu *= clearance->radius;
        coupling.law = ITM_FRICTION_BOX;
        add_row(d, block, joint, ITM_BOUND_CLEARANCE_TORSION, index, k, 1, point->normal, point->point, true);
    } else {
        coupling.tangent[1] = b->nrow + 1;
        coupling.law = m->contact_options.law;
        coupling.ndirection = m->contact_options.ndirection;
        for (int t = 0; t < 2; t++) {
            add_row(d, block, joint, ITM_BOUND_CLEARANCE_TANGENT, index, k, 1 + t, point->tangent[t], point->contact,
                    false);
        }
    }
    itm_bounded_add_friction(m, b, coupling);
}

// Whether a step h could close the gap: twice its present way, because the forces are not known yet, twice what weight does, and a
// quarter of the clearance; weight is that of a unit mass. The stepper that minimises over h needs them all.
static bool is_in_reach(const ItmData* d, const ItmClearanceJoint* clearance, int k, double h, double weight)
{
    const ItmClearancePoint* point = &d->clearance.points[clearance->first_point + k];
    double play = is_stop(clearance, k) ? clearance->axial : clearance->radial;
    double reach = 2.0 * h * (fabs(point->rate) + h * weight) + 0.25 * play;
    return d->bounded->step.feeds_gaps_back || point->gap <= reach;
}

// The next points in reach from k on, as many as a block can hold, in a block of their own. Returns the point behind them.
static int add_points(const ItmModel* m, ItmData* d, int index, int k, double h, double weight)
{
    const ItmClearanceJoint* clearance = &m->clearances[index];
    const ItmJoint* joint = &m->joints[clearance->joint];
    int nrow = 0, end = k;
    for (; end < clearance->npoint; end++) {
        int n = is_in_reach(d, clearance, end, h, weight) ? count_rows(clearance, end) : 0;
        if (nrow + n > ITM_BLOCK_MAX) {
            break;
        }
        nrow += n;
    }
    ItmBoundBlock* block = nrow > 0 ? itm_bounded_add_block(m, d->bounded, joint->body_a, joint->body_b, nrow) : NULL;
    for (; block != NULL && k < end; k++) {
        if (is_in_reach(d, clearance, k, h, weight)) {
            add_point(m, d, block, index, k, h);
        }
    }
    return end;
}

void itm_clearance_add_rows(const ItmModel* m, ItmData* d, double h)
{
    double weight = itm_vec_norm(m->gravity);
    for (int i = 0; i < m->nclearance; i++) {
        itm_clearance_measure(m, d, i, h);
        for (int k = 0; k < m->clearances[i].npoint;) {
            k = add_points(m, d, i, k, h, weight);
        }
    }
}

// ---------------------------------------------------------------------------- what the step did

static bool is_of_loose(const ItmRow* row)
{
    return row->kind == ITM_BOUND_CLEARANCE || row->kind == ITM_BOUND_CLEARANCE_TANGENT ||
           row->kind == ITM_BOUND_CLEARANCE_TORSION;
}

void itm_clearance_book_work(ItmData* d, const ItmRow* row, double work)
{
    if (is_of_loose(row)) {
        int account = row->kind == ITM_BOUND_CLEARANCE ? ITM_TALLY_IMPACT : ITM_TALLY_FRICTION;
        d->clearance.tally[row->owner * ITM_TALLY_COUNT + account] -= work;
    }
}

#define FLIGHT 2.5  // steps: a contact point that opened for less only trembles

// Count a contact point that pushed in the step h; true if it hit.
static bool is_impact(const ItmModel* m, const ItmData* d, const ItmRow* row, double h)
{
    double open = d->clearance.open[m->clearances[row->owner].first_point + point_of(row)];
    return open > FLIGHT * h && row->rate < -m->contact_options.restitution_speed;
}

void itm_clearance_tally(const ItmModel* m, ItmData* d, double h)
{
    const ItmBounded* b = d->bounded;
    for (int i = 0; i < m->nclearance; i++) {
        d->clearance.tally[i * ITM_TALLY_COUNT + ITM_TALLY_FREE_TIME] += h;
    }
    for (int i = 0; i < m->nclearance_point; i++) {
        d->clearance.open[i] += h;
    }
    // rows of a joint follow each other
    for (int i = 0; m->nclearance > 0 && i < b->nrow;) {
        int clearance = is_of_loose(&b->rows[i]) ? b->rows[i].owner : ITM_NONE;
        double normal = 0.0;
        for (; i < b->nrow && is_of_loose(&b->rows[i]) && b->rows[i].owner == clearance; i++) {
            const ItmRow* row = &b->rows[i];
            if (row->kind == ITM_BOUND_CLEARANCE && b->x[i] > 0.0) {
                normal += b->x[i];
                d->clearance.tally[clearance * ITM_TALLY_COUNT + ITM_TALLY_IMPACTS] += is_impact(m, d, row, h);
                d->clearance.open[m->clearances[clearance].first_point + point_of(row)] = 0.0;
            }
        }
        if (clearance == ITM_NONE) {
            i++;
            continue;
        }
        double* tally = d->clearance.tally + clearance * ITM_TALLY_COUNT;
        tally[ITM_TALLY_IMPULSE] += normal;
        tally[ITM_TALLY_FREE_TIME] -= normal > 0.0 ? h : 0.0;
        tally[ITM_TALLY_PEAK] = fmax(tally[ITM_TALLY_PEAK], normal / h);
    }
}

// ---------------------------------------------------------------------------- looking

ItmVec3 itm_clearance_get_orbit(const ItmModel* m, const ItmData* d, int clearance)
{
    View view = look(d, &m->joints[m->clearances[clearance].joint]);
    return itm_mat_t_mul_vec(&view.R_a, itm_vec_sub(view.p_b, view.p_a));
}

ItmSpatial itm_clearance_get_impulse(const ItmModel* m, const ItmData* d, int clearance)
{
    const ItmJoint* joint = &m->joints[m->clearances[clearance].joint];
    const ItmBounded* b = d->bounded;
    ItmSpatial sum = itm_spatial_zero();
    // of two bodies b is the second; the impulse on a fixed one is the reaction of the other's, about the same point
    bool is_world = joint->body_b == ITM_NONE;
    int body = is_world ? joint->body_a : joint->body_b;
    for (int i = 0; i < b->nrow; i++) {
        if (is_of_loose(&b->rows[i]) && b->rows[i].owner == clearance) {
            const ItmBoundBlock* block = &b->blocks[b->rows[i].block];
            int cov = block->path.cov_adr + (i - block->first + 1) * block->path.nbody - 1;
            sum = itm_spatial_axpy(b->x[i], b->cov[cov], sum);
        }
    }
    ItmVec3 p_b = itm_vec_add(d->x[joint->body_b], itm_mat_mul_vec(&d->R[joint->body_b], joint->b.p));
    sum = itm_wrench_shift(sum, itm_vec_sub(d->x[body], p_b));
    return is_world ? itm_spatial_scale(-1.0, sum) : sum;
}

ItmClearanceInfo itm_clearance_get_info(const ItmModel* m, const ItmData* d, int joint)
{
    ITM_GUARD(m != NULL && d != NULL, (ItmClearanceInfo){0});
    int index = joint >= 0 && joint < m->njoint ? m->joints[joint].clearance : ITM_NONE;
    if (index == ITM_NONE) {
        return (ItmClearanceInfo){0};
    }
    const double* tally = d->clearance.tally + index * ITM_TALLY_COUNT;
    return (ItmClearanceInfo){
        .npoint = m->clearances[index].npoint,
        .impacts = (long)tally[ITM_TALLY_IMPACTS],
        .free_time = tally[ITM_TALLY_FREE_TIME],
        .impulse = tally[ITM_TALLY_IMPULSE],
        .peak_force = tally[ITM_TALLY_PEAK],
        .impact_loss = tally[ITM_TALLY_IMPACT],
        .friction_loss = tally[ITM_TALLY_FRICTION],
    };
}

double itm_clearance_get_normal_impulse(const ItmData* d, int clearance, int point, ItmContactState* state)
{
    const ItmBounded* b = d->bounded;
    uint64_t key = make_key(ITM_BOUND_CLEARANCE, clearance, point, 0);
    for (int i = 0; i < b->nrow; i++) {
        if (b->rows[i].key == key) {
            bool is_closed = b->x[i] > 0.0;
            *state = !is_closed                     ? ITM_CONTACT_OPEN
                     : itm_bounded_is_sliding(b, i) ? ITM_CONTACT_SLIDING
                                                    : ITM_CONTACT_STICKING;
            return b->x[i];
        }
    }
    *state = ITM_CONTACT_OPEN;
    return 0.0;
}

ItmContactInfo itm_clearance_get_contact(const ItmModel* m, const ItmData* d, int clearance, int point)
{
    const ItmClearancePoint* at = &d->clearance.points[m->clearances[clearance].first_point + point];
    const ItmBounded* b = d->bounded;
    ItmContactInfo info = {
        .body_a = ITM_GROUND,
        .body_b = ITM_GROUND,
        .name_a = m->joints[m->clearances[clearance].joint].name,
        .point = {.gap = at->gap, .normal = at->normal, .point_a = at->contact, .point_b = at->contact},
    };
    info.normal_impulse = itm_clearance_get_normal_impulse(d, clearance, point, &info.state);
    info.impulse = itm_vec_scale(info.normal_impulse, at->normal);
    for (int i = 0; i < b->nrow; i++) {
        const ItmRow* row = &b->rows[i];
        if (row->kind == ITM_BOUND_CLEARANCE_TANGENT && row->owner == clearance && point_of(row) == point) {
            info.impulse = itm_vec_axpy(b->x[i], at->tangent[(row->key & 3) - 1], info.impulse);
        }
    }
    return info;
}
