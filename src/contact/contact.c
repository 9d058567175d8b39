// Detection in a step, and the rows of the contacts found.
#include "contact/contact.h"
#include "multibody/bounded_refine.h"
#include "multibody/kinematics.h"
#include "multibody/sleep.h"

#include "base/error.h"
#include "base/guard.h"

#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------- memory

static void lay_out(const ItmModel* m, ItmContactData* c)
{
    int n = m->contact->ncollider;
    c->capacity = m->ncontact_max;
    c->contacts = ITM_TAKE(&c->arena, ItmContact, c->capacity);
    c->frames = ITM_TAKE(&c->arena, ItmFrame, n);
    c->boxes = ITM_TAKE(&c->arena, ItmAabb, n);
    c->margins = ITM_TAKE(&c->arena, double, n);
    c->filters = ITM_TAKE(&c->arena, ItmBroadFilter, n);
    c->kick = ITM_TAKE(&c->arena, ItmVec3, m->nbody);
    // boxes overlap more often than shapes touch
    int npair = 4 * c->capacity, nbatch = npair < ITM_CONTACT_BATCH ? npair : ITM_CONTACT_BATCH;
    itm_broad_init(&c->broad, &c->arena, c->filters, n, npair);
    c->points = ITM_TAKE(&c->arena, ItmContactPoint, nbatch * ITM_NARROW_MAX_POINTS);
    c->npoint = ITM_TAKE(&c->arena, signed char, nbatch);
}

size_t itm_contact_measure_data(const ItmModel* m)
{
    ItmContactData c = {0};
    lay_out(m, &c);
    return sizeof c + c.arena.used;
}

ItmStatus itm_contact_create_data(const ItmModel* m, ItmData* d, ItmError* error)
{
    ItmContactData* c = calloc(1, sizeof *c);
    if (c != NULL) {
        lay_out(m, c);
    }
    if (c == NULL || itm_arena_allocate(&c->arena) != 0) {
        free(c);
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "out of memory for %d contacts", m->ncontact_max);
    }
    d->contact = c;
    lay_out(m, c);
    for (int i = 0; i < m->contact->ncollider; i++) {
        const ItmCollider* shape = &m->contact->colliders[i];
        c->filters[i] = (ItmBroadFilter){shape->group, shape->mask, shape->owner};
    }
    c->least_size = INFINITY;
    for (int i = 0; i < m->contact->ncollider; i++) {
        const ItmCollider* shape = &m->contact->colliders[i];
        c->least_size = shape->body != ITM_NONE ? fmin(c->least_size, shape->geom->size) : c->least_size;
    }
    for (int i = 0; i < m->contact->nmaterial * m->contact->nmaterial; i++) {
        c->has_bounces = c->has_bounces || m->contact->surfaces[i].restitution > 0.0;
    }
    for (int i = 0; i < m->contact->ngap; i++) {
        c->has_bounces = c->has_bounces || m->contact->gaps[i].surface.restitution > 0.0;
        itm_sleep_forbid(d, m->contact->gaps[i].body_a);
        itm_sleep_forbid(d, m->contact->gaps[i].body_b);
    }
    return ITM_OK;
}

void itm_contact_destroy_data(ItmData* d)
{
    if (d->contact != NULL) {
        itm_arena_free(&d->contact->arena);
        free(d->contact);
        d->contact = NULL;
    }
}

// ---------------------------------------------------------------------------- placing

// Speed that a body may have in the step: its own, or that after an impact.
static double find_speed(const ItmData* d, int body)
{
    ItmVec3 v = d->twist[body].lin;
    const ItmContactData* c = d->contact;
    return c->has_kick ? fmax(itm_vec_norm(v), itm_vec_norm(itm_vec_add(v, c->kick[body]))) : itm_vec_norm(v);
}

// How far a shape may come in a step, at most twice that speed, and the user's margin.
static double margin_of(const ItmModel* m, const ItmData* d, const ItmCollider* c, double h)
{
    if (c->body == ITM_NONE) {
        return 0.5 * m->contact_options.margin;
    }
    ItmSpatial t = d->twist[c->body];
    double reach = itm_vec_norm(c->frame.p) + c->geom->size;
    double turning = itm_vec_norm(t.ang) * (isfinite(reach) ? reach : 0.0);
    return 0.5 * m->contact_options.margin + 2.0 * h * (find_speed(d, c->body) + turning);
}

static void place_shapes(const ItmModel* m, ItmData* d, double h)
{
    ItmContactData* data = d->contact;
    data->most_reach = 0.0;
    for (int i = 0; i < m->contact->ncollider; i++) {
        const ItmCollider* c = &m->contact->colliders[i];
        data->frames[i].R = itm_mat_mul(&d->R[c->body], &c->frame.R);
        data->frames[i].p = itm_vec_add(d->x[c->body], itm_mat_mul_vec(&d->R[c->body], c->frame.p));
        data->margins[i] = margin_of(m, d, c, h);
        data->most_reach = data->margins[i] > data->most_reach ? data->margins[i] : data->most_reach;
        data->boxes[i] = itm_geom_compute_aabb(c->geom, &data->frames[i], data->margins[i]);
        // bodies that sleep are fixed, for each other and for the ground
        data->filters[i].body = itm_sleep_is_asleep(d, c->body) ? ITM_NONE : c->owner;
    }
}

// ---------------------------------------------------------------------------- rows of a contact

// Scramble what names a contact into 56 bits; the last byte, 0 here, is the row's part in it.
static uint64_t contact_key(const ItmContact* c)
{
    uint64_t x = (uint64_t)(unsigned)c->first << 32 ^ (uint64_t)(unsigned)(c->second + 1) ^
                 c->point.key * UINT64_C(0xD6E8FEB86659FD93);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return (x ^ x >> 31) << 8;
}

// How the rates at a point of two bodies change, a', where they turn as one: a grasped part and its gripper. What their relative
// turning does depends on the curvature of their surfaces (a wheel that rolls does not lift off) and is left out.
//   a_b - a_a - 2 w x u,   times 1 - |w_b - w_a|^2 / |w_a| |w_b|, not below 0;   rate: w_b - w_a and u
static ItmSpatial common_bias(const ItmData* d, int body_a, int body_b, ItmVec3 s_a, ItmVec3 s_b, ItmSpatial rate)
{
    ItmSpatial a = d->accel_bias[body_a], b = d->accel_bias[body_b];
    ItmVec3 w_a = d->twist[body_a].ang, w_b = d->twist[body_b].ang, mean = itm_vec_scale(0.5, itm_vec_add(w_a, w_b));
    double apart = itm_vec_dot(rate.ang, rate.ang), size = itm_vec_norm(w_a) * itm_vec_norm(w_b);
    if (apart > 0.0 && apart >= size) {
        return itm_spatial_zero();
    }
    double share = apart > 0.0 ? 1.0 - apart / size : 1.0;
    ItmVec3 relative = itm_vec_sub(itm_point_acceleration(b, w_b, s_b), itm_point_acceleration(a, w_a, s_a));
    relative = itm_vec_axpy(-2.0, itm_vec_cross(mean, rate.lin), relative);
    return itm_spatial_scale(share, (ItmSpatial){itm_vec_sub(b.ang, a.ang), relative});
}

// What the rows of a contact have in common.
typedef struct Spot {
    int owner;         // number of the contact
    uint64_t key;      // contact_key
    ItmVec3 s_a, s_b;  // from the bodies to its point
    ItmSpatial rate;   // of b against a, there
    ItmSpatial bias;   // common_bias
} Spot;

static void find_spot(Spot* spot, const ItmData* d, const ItmContact* c, int owner)
{
    ItmVec3 p = itm_vec_scale(0.5, itm_vec_add(c->point.point_a, c->point.point_b));
    ItmVec3 s_a = itm_vec_sub(p, d->x[c->body_a]), s_b = itm_vec_sub(p, d->x[c->body_b]);
    ItmSpatial t_a = itm_twist_shift(d->twist[c->body_a], s_a), t_b = itm_twist_shift(d->twist[c->body_b], s_b);
    ItmSpatial rate = {itm_vec_sub(t_b.ang, t_a.ang), itm_vec_sub(t_b.lin, t_a.lin)};
    spot->owner = owner;
    spot->key = contact_key(c);
    spot->s_a = s_a;
    spot->s_b = s_b;
    spot->rate = rate;
    spot->bias = common_bias(d, c->body_a, c->body_b, s_a, s_b, rate);
}

// A row along a direction at the contact (force) or about it (torque).
static ItmRow* add_row(const ItmData* d, ItmBoundBlock* block, const Spot* spot, ItmRowKind kind, int part,
                       ItmVec3 direction, bool is_torque)
{
    ItmVec3 zero = {0, 0, 0};
    ItmSpatial *on_a, *on_b;
    ItmRow* row = itm_bounded_open_row(d->bounded, block, &on_a, &on_b);
    if (on_a != NULL) {
        on_a->ang = is_torque ? itm_vec_neg(direction) : itm_vec_cross(direction, spot->s_a);
        on_a->lin = is_torque ? zero : itm_vec_neg(direction);
    }
    if (on_b != NULL) {
        on_b->ang = is_torque ? direction : itm_vec_cross(spot->s_b, direction);
        on_b->lin = is_torque ? zero : direction;
    }
    row->kind = kind;
    row->owner = spot->owner;
    row->key = spot->key | (uint64_t)(ITM_BOUND_NORMAL + part + 1);
    row->rate = itm_vec_dot(direction, is_torque ? spot->rate.ang : spot->rate.lin);
    row->bias = itm_vec_dot(direction, is_torque ? spot->bias.ang : spot->bias.lin);
    row->bias_share = 0.5;
    row->lo = -INFINITY;
    row->up = INFINITY;
    return row;
}

static void add_friction_rows(const ItmModel* m, ItmData* d, ItmBoundBlock* block, ItmContact* c, const Spot* spot,
                              const ItmSurface* s)
{
    ItmMlcpContact coupling = {.normal = c->row,
                               .tangent = {ITM_NONE, ITM_NONE},
                               .law = m->contact_options.law,
                               .ndirection = m->contact_options.ndirection};
    if (s->friction > 0.0) {
        for (int k = 0; k < 2; k++) {
            coupling.tangent[k] = d->bounded->nrow;
            add_row(d, block, spot, ITM_BOUND_TANGENT, 1 + k, c->tangent[k], false);
        }
        coupling.mu = s->friction;
        c->ntangent = 2;
        itm_bounded_add_friction(m, d->bounded, coupling);
    }
    if (s->torsional_friction > 0.0) {
        coupling = (ItmMlcpContact){.normal = c->row,
                                    .tangent = {d->bounded->nrow, ITM_NONE},
                                    .mu = s->torsional_friction,
                                    .law = ITM_FRICTION_BOX};
        add_row(d, block, spot, ITM_BOUND_TORSION, 3, c->point.normal, true);
        itm_bounded_add_friction(m, d->bounded, coupling);
    }
    if (s->rolling_friction > 0.0) {
        // a disc, as the arbitrary tangents must not matter; a box where sliding has corners too
        bool is_round = m->contact_options.law == ITM_FRICTION_CONE;
        coupling = (ItmMlcpContact){.normal = c->row,
                                    .tangent = {d->bounded->nrow, d->bounded->nrow + 1},
                                    .mu = s->rolling_friction,
                                    .law = is_round ? ITM_FRICTION_CONE : ITM_FRICTION_BOX};
        for (int k = 0; k < 2; k++) {
            add_row(d, block, spot, ITM_BOUND_ROLLING, 4 + k, c->tangent[k], true);
        }
        itm_bounded_add_friction(m, d->bounded, coupling);
    }
}

// A contact of colliders first and second, or of a gap and ITM_NONE, that are on two bodies.
static void add_contact(const ItmModel* m, ItmData* d, int first, int second, int body_a, int body_b,
                        const ItmContactPoint* point, const ItmSurface* s)
{
    ItmContactData* data = d->contact;
    ItmBounded* b = d->bounded;
    if (data->ncontact == data->capacity) {
        b->is_overfull = true;
        return;
    }
    int nrow = 1 + (s->friction > 0.0 ? 2 : 0) + (s->torsional_friction > 0.0) + (s->rolling_friction > 0.0 ? 2 : 0);
    ItmBoundBlock* block = itm_bounded_add_block(m, b, body_a, body_b, nrow);
    if (block == NULL) {
        return;
    }
    int owner = data->ncontact++;
    ItmContact* c = &data->contacts[owner];
    c->first = first;
    c->second = second;
    c->body_a = body_a;
    c->body_b = body_b;
    c->point = *point;
    c->row = b->nrow;
    c->ntangent = 0;
    itm_vec_make_tangents(c->tangent, c->point.normal);
    Spot spot;
    find_spot(&spot, d, c, owner);
    ItmRow* normal = add_row(d, block, &spot, ITM_BOUND_NORMAL, 0, c->point.normal, false);
    normal->gap = c->point.gap;
    normal->lo = 0.0;
    normal->restitution = s->restitution;
    normal->stiffness = s->stiffness;
    normal->damping = s->damping;
    add_friction_rows(m, d, block, c, &spot, s);
}

// ---------------------------------------------------------------------------- pairs

// Tests beyond the broad phase: kinds that never collide, and pairs of bodies that do not.
static bool may_meet(void* context, int i, int j)
{
    const ItmContactModel* model = context;
    const ItmCollider *a = &model->colliders[i], *b = &model->colliders[j];
    return itm_narrow_supports(a->geom->kind, b->geom->kind) && !itm_contact_is_excluded(model, a->owner, b->owner);
}

#define CHUNK 16  // pairs that a thread takes at a time

// Pairs of a batch.
typedef struct Batch {
    const ItmModel* m;
    ItmData* d;
    const ItmPair* pairs;
    int count;
} Batch;

// Points of a chunk of pairs, one pair behind the other. Writes to the memory of the chunk alone.
static void examine_chunk(void* context, int chunk)
{
    const Batch* batch = context;
    const ItmContactModel* model = batch->m->contact;
    ItmContactData* data = batch->d->contact;
    int end = CHUNK * (chunk + 1) < batch->count ? CHUNK * (chunk + 1) : batch->count;
    ItmContactPoint* points = data->points + (size_t)ITM_NARROW_MAX_POINTS * CHUNK * (size_t)chunk;
    for (int k = CHUNK * chunk; k < end; k++) {
        int i = batch->pairs[k].a, j = batch->pairs[k].b;
        int n = itm_narrow_collide(points, ITM_NARROW_MAX_POINTS, model->colliders[i].geom, &data->frames[i],
                                   model->colliders[j].geom, &data->frames[j], data->margins[i] + data->margins[j]);
        data->npoint[k] = (signed char)n;
        points += n > 0 ? n : 0;
    }
}

// Contacts of a pair with n points.
static void add_pair(const ItmModel* m, ItmData* d, ItmPair pair, const ItmContactPoint* points, int n)
{
    const ItmContactModel* model = m->contact;
    ItmContactData* data = d->contact;
    const ItmCollider *a = &model->colliders[pair.a], *b = &model->colliders[pair.b];
    if (n == ITM_NARROW_INVALID && data->invalid_first == ITM_NONE) {
        data->invalid_first = pair.a;
        data->invalid_second = pair.b;
    }
    for (int k = 0; k < n; k++) {
        add_contact(m, d, pair.a, pair.b, a->body, b->body, &points[k],
                    &model->surfaces[a->material * model->nmaterial + b->material]);
    }
    if (d->bounded->is_overfull && data->lost_first == ITM_NONE) {
        data->lost_first = pair.a;
        data->lost_second = pair.b;
    }
}

// Threads examine a batch of pairs, whose contacts are then added in the order of the pairs. One thread alone takes a chunk at a time: its
// points stay in the cache.
static void find_pairs(const ItmModel* m, ItmData* d)
{
    ItmContactData* data = d->contact;
    ItmBroad* broad = &data->broad;
    ItmPool* pool = d->bounded->pool;
    int nlost = itm_broad_find(broad, data->boxes, may_meet, m->contact),
        most = pool != NULL ? ITM_CONTACT_BATCH : CHUNK;
    for (int from = 0; from < broad->npair; from += most) {
        int rest = broad->npair - from;
        Batch batch = {.m = m, .d = d, .pairs = broad->pairs + from, .count = rest < most ? rest : most};
        itm_pool_run(pool, examine_chunk, &batch, (batch.count + CHUNK - 1) / CHUNK);
        const ItmContactPoint* points = data->points;
        for (int k = 0; k < batch.count; k++) {
            points = k % CHUNK == 0 ? data->points + (size_t)ITM_NARROW_MAX_POINTS * (size_t)k : points;
            add_pair(m, d, batch.pairs[k], points, data->npoint[k]);
            points += data->npoint[k] > 0 ? data->npoint[k] : 0;
        }
    }
    d->bounded->is_overfull = d->bounded->is_overfull || nlost > 0;
}

// ---------------------------------------------------------------------------- gaps of the user

static ItmPose user_pose(const ItmModel* m, const ItmData* d, int body)
{
    ItmVec3 com = body == ITM_NONE ? itm_vec(0, 0, 0) : m->bodies[body].com;
    ItmVec3 p = itm_vec_sub(d->x[body], itm_mat_mul_vec(&d->R[body], com));
    return (ItmPose){p, itm_vec_quat_from_mat(&d->R[body])};
}

static bool is_usable(const ItmGapPoint* p)
{
    double length = itm_vec_norm(p->normal);
    return isfinite(p->gap) && itm_vec_is_finite(p->point_a) && itm_vec_is_finite(p->point_b) &&
           fabs(length - 1.0) < 1e-6;
}

static ItmStatus call_gap(const ItmModel* m, ItmData* d, int index)
{
    const ItmGap* gap = &m->contact->gaps[index];
    ItmPose pose_a = user_pose(m, d, gap->body_a), pose_b = user_pose(m, d, gap->body_b);
    ItmGapPoint points[16];
    int n = gap->function(gap->context, points, gap->max_points, &pose_a, &pose_b);
    for (int k = 0; k < n && k < gap->max_points; k++) {
        if (!is_usable(&points[k])) {
            return itm_error_set(&d->error, ITM_ERR_NOT_FINITE, __func__, NULL,
                                 "gap '%s' gave a point that is not finite or a normal that is not of unit length",
                                 gap->name);
        }
        ItmContactPoint point = {points[k].point_a, points[k].point_b, points[k].normal, points[k].gap, points[k].key};
        add_contact(m, d, index, ITM_NONE, gap->body_a, gap->body_b, &point, &gap->surface);
    }
    return ITM_OK;
}

ItmStatus itm_contact_add_rows(const ItmModel* m, ItmData* d, double h)
{
    ItmContactData* data = d->contact;
    data->ncontact = 0;
    data->invalid_first = data->lost_first = ITM_NONE;
    place_shapes(m, d, h);
    find_pairs(m, d);
    d->info.ncontact = data->ncontact;
    if (data->invalid_first != ITM_NONE) {
        return itm_error_set(&d->error, ITM_ERR_NOT_FINITE, __func__, NULL,
                             "no contact normal can be found between shapes '%s' and '%s'",
                             m->contact->colliders[data->invalid_first].name,
                             m->contact->colliders[data->invalid_second].name);
    }
    ItmStatus status = ITM_OK;
    for (int i = 0; i < m->contact->ngap && status == ITM_OK; i++) {
        status = call_gap(m, d, i);
    }
    d->info.ncontact = data->ncontact;
    return status;
}

// ---------------------------------------------------------------------------- reach of bodies that are hit

#define MOST_ROUNDS 64   // through the contacts at hand
#define LEAST_RISE 1.01  // of the speed

static ItmVec3 get_kick(const ItmContactData* data, int body)
{
    return body != ITM_NONE ? data->kick[body] : itm_vec(0, 0, 0);
}

// Let an impact with the change dv of its velocity act on a body, where it gets faster by that than it may be so far.
static bool kick(ItmData* d, int body, ItmVec3 dv)
{
    if (body == ITM_NONE) {
        return false;
    }
    ItmVec3 sum = itm_vec_add(d->contact->kick[body], dv);
    if (!(itm_vec_norm(itm_vec_add(d->twist[body].lin, sum)) > LEAST_RISE * find_speed(d, body))) {
        return false;
    }
    d->contact->kick[body] = sum;
    d->contact->has_kick = true;
    return true;
}

// What body a gets of an impact between a and b: its share of the relative velocity. The world gets nothing.
static double find_share(const ItmModel* m, int a, int b)
{
    double m_a = a != ITM_NONE ? m->bodies[a].mass : INFINITY, m_b = b != ITM_NONE ? m->bodies[b].mass : INFINITY;
    return m_a == INFINITY ? 0.0 : m_b == INFINITY || m_a + m_b == 0.0 ? 1.0 : m_b / (m_a + m_b);
}

// Bodies of a contact that closes in the step change their velocities. Without restitution that only matters where a body is thrown
// farther than it is wide, and may pass through another.
static bool kick_apart(const ItmModel* m, ItmData* d, const ItmContact* c, double h)
{
    const ItmContactData* data = d->contact;
    const ItmRow* row = &d->bounded->rows[c->row];
    ItmVec3 n = c->point.normal, change = itm_vec_sub(get_kick(data, c->body_b), get_kick(data, c->body_a));
    double rate = row->rate + itm_vec_dot(n, change);
    if (!(rate < -m->contact_options.restitution_speed) || row->gap + h * rate > 0.0) {
        return false;
    }
    // compliant contacts give back all that they do not damp
    double jump = -(1.0 + (itm_row_is_rigid(row) ? row->restitution : 1.0)) * rate;
    bool is_bouncing = row->restitution > 0.0 && itm_row_is_rigid(row);
    if (!is_bouncing && !(h * jump > data->least_size)) {
        return false;
    }
    bool is_a = kick(d, c->body_a, itm_vec_scale(-jump * find_share(m, c->body_a, c->body_b), n));
    bool is_b = kick(d, c->body_b, itm_vec_scale(jump * find_share(m, c->body_b, c->body_a), n));
    return is_a || is_b;
}

bool itm_contact_extend_reach(const ItmModel* m, ItmData* d, double h)
{
    ItmContactData* data = d->contact;
    if (data == NULL || d->bounded->is_overfull || !(data->has_bounces || data->most_reach > data->least_size)) {
        return false;
    }
    bool is_any = true;
    for (int round = 0; is_any && round < MOST_ROUNDS; round++) {
        is_any = false;
        for (int i = 0; i < data->ncontact; i++) {
            is_any = kick_apart(m, d, &data->contacts[i], h) || is_any;
        }
    }
    bool is_farther = false;
    for (int i = 0; data->has_kick && i < m->contact->ncollider && !is_farther; i++) {
        is_farther = margin_of(m, d, &m->contact->colliders[i], h) > data->margins[i];
    }
    return is_farther;
}

void itm_contact_reset_reach(const ItmModel* m, ItmData* d)
{
    if (d->contact != NULL && d->contact->has_kick) {
        memset(d->contact->kick, 0, sizeof(ItmVec3) * (size_t)m->nbody);
        d->contact->has_kick = false;
    }
}

// ---------------------------------------------------------------------------- looking

int itm_contact_get_count(const ItmData* d)
{
    ITM_GUARD(d != NULL, 0);
    // a table that was cleared by a reset or a restored state has no contacts yet
    bool has_step = d->contact != NULL && d->bounded->nrow > 0;
    return has_step ? d->contact->ncontact : 0;
}

ItmContactInfo itm_contact_get_info(ItmData* d, int contact)
{
    ITM_GUARD(d != NULL, (ItmContactInfo){0});
    // the impulses become those of least norm; nothing else changes
    itm_bounded_refine(d->model, d);
    return itm_contact_look(d, contact);
}

ItmContactState itm_contact_get_state(const ItmData* d, int contact)
{
    int row = d->contact->contacts[contact].row;
    return !itm_bounded_is_closed(d->bounded, row)   ? ITM_CONTACT_OPEN
           : itm_bounded_is_sliding(d->bounded, row) ? ITM_CONTACT_SLIDING
                                                     : ITM_CONTACT_STICKING;
}

ItmContactInfo itm_contact_look(const ItmData* d, int contact)
{
    if (contact < 0 || contact >= itm_contact_get_count(d)) {
        return (ItmContactInfo){.body_a = ITM_GROUND, .body_b = ITM_GROUND};
    }
    const ItmModel* m = d->model;
    const ItmContactModel* model = m->contact;
    const ItmContact* c = &d->contact->contacts[contact];
    const double* x = d->bounded->x + c->row;
    bool is_gap = c->second == ITM_NONE;
    ItmContactInfo info = {
        .body_a = is_gap ? model->gaps[c->first].user_a : model->colliders[c->first].user_id,
        .body_b = is_gap ? model->gaps[c->first].user_b : model->colliders[c->second].user_id,
        .name_a = is_gap ? model->gaps[c->first].name : model->colliders[c->first].name,
        .name_b = is_gap ? NULL : model->colliders[c->second].name,
        .point = {c->point.gap, c->point.normal, c->point.point_a, c->point.point_b, c->point.key},
        .normal_impulse = x[0],
        .impulse = itm_vec_scale(x[0], c->point.normal),
    };
    for (int k = 0; k < c->ntangent; k++) {
        info.impulse = itm_vec_axpy(x[1 + k], c->tangent[k], info.impulse);
    }
    double h = itm_data_get_step_size(d);
    info.force = itm_vec_scale(h > 0.0 ? 1.0 / h : 0.0, info.impulse);
    info.normal_force = h > 0.0 ? info.normal_impulse / h : 0.0;
    bool is_sliding = itm_bounded_is_sliding(d->bounded, c->row);
    info.state = x[0] <= 0.0 ? ITM_CONTACT_OPEN : is_sliding ? ITM_CONTACT_SLIDING : ITM_CONTACT_STICKING;
    return info;
}

// ---------------------------------------------------------------------------- reading a model

ItmContactModelInfo itm_contact_get_model_info(const ItmModel* m)
{
    ITM_GUARD(m != NULL, (ItmContactModelInfo){0});
    ItmContactModelInfo info = {.options = m->contact_options};
    if (m->contact != NULL) {
        info.nshape = m->contact->ncollider;
        info.nmaterial = m->contact->nmaterial - 1;  // the first is the one of shapes that name none
        info.nexcluded = m->contact->nexcluded;
    }
    return info;
}

ItmShapeInfo itm_contact_get_shape(const ItmModel* m, int shape)
{
    ITM_GUARD(m != NULL && m->contact != NULL && ITM_IS_INDEX(shape, m->contact->ncollider), (ItmShapeInfo){0});
    const ItmCollider* c = &m->contact->colliders[shape];
    return (ItmShapeInfo){c->name, itm_geom_kind_name(c->geom->kind), c->user_id};
}

int itm_contact_get_drawn_count(const ItmModel* m)
{
    ITM_GUARD(m != NULL, 0);
    return (m->contact != NULL ? m->contact->ncollider : 0) + m->nvisual;
}

static void draw_geom(ItmDrawnShape* shape, const ItmGeom* g)
{
    static const ItmColliderKind KINDS[ITM_GEOM_KIND_COUNT] = {
        [ITM_GEOM_PLANE] = ITM_COLLIDER_PLANE,       [ITM_GEOM_SPHERE] = ITM_COLLIDER_SPHERE,
        [ITM_GEOM_CAPSULE] = ITM_COLLIDER_CAPSULE,   [ITM_GEOM_BOX] = ITM_COLLIDER_BOX,
        [ITM_GEOM_CYLINDER] = ITM_COLLIDER_CYLINDER, [ITM_GEOM_HULL] = ITM_COLLIDER_HULL,
        [ITM_GEOM_MESH] = ITM_COLLIDER_MESH,         [ITM_GEOM_FIELD] = ITM_COLLIDER_HEIGHTS};
    shape->kind = KINDS[g->kind];
    if (g->kind == ITM_GEOM_BOX) {
        shape->size[0] = 2.0 * g->half.x;
        shape->size[1] = 2.0 * g->half.y;
        shape->size[2] = 2.0 * g->half.z;
    } else if (g->kind == ITM_GEOM_FIELD) {
        shape->size[0] = g->field.dx;
        shape->size[1] = g->field.dy;
        shape->heights = g->field.heights;
        shape->nx = g->field.nx;
        shape->ny = g->field.ny;
    } else if (g->kind == ITM_GEOM_HULL) {
        shape->vertices = g->hull.vertices;
        shape->nvertex = g->hull.nvertex;
    } else if (g->kind == ITM_GEOM_MESH) {
        shape->vertices = g->mesh.vertices;
        shape->nvertex = g->mesh.nvertex;
        shape->triangles = g->mesh.triangles;
        shape->ntriangle = g->mesh.ntriangle;
    } else {
        shape->size[0] = g->radius;
        shape->size[1] = 2.0 * g->half_length;
    }
}

ItmDrawnShape itm_contact_get_drawn(const ItmModel* m, int shape)
{
    ITM_GUARD(m != NULL && ITM_IS_INDEX(shape, itm_contact_get_drawn_count(m)), (ItmDrawnShape){0});
    int ncollider = m->contact != NULL ? m->contact->ncollider : 0;
    const ItmCollider* c = shape < ncollider ? &m->contact->colliders[shape] : &m->visuals[shape - ncollider];
    ItmDrawnShape drawn = {
        .name = shape < ncollider ? c->name : NULL,
        .body = c->user_id,
        .collides = shape < ncollider,
        .color = c->color,
        .pose = {itm_model_find_user_point(m, c->body, c->frame.p), itm_vec_quat_from_mat(&c->frame.R)},
    };
    draw_geom(&drawn, c->geom);
    return drawn;
}

bool itm_contact_is_unsupported(const ItmModel* m, int shape_a, int shape_b)
{
    ITM_GUARD(m != NULL && m->contact != NULL && ITM_IS_INDEX(shape_a, m->contact->ncollider) &&
                  ITM_IS_INDEX(shape_b, m->contact->ncollider),
              false);
    const ItmCollider *a = &m->contact->colliders[shape_a], *b = &m->contact->colliders[shape_b];
    return a->body != b->body && (a->group & b->mask) != 0 && (b->group & a->mask) != 0 &&
           !itm_narrow_supports(a->geom->kind, b->geom->kind) && !itm_contact_is_excluded(m->contact, a->body, b->body);
}
