// Looks at the contacts along the present motion, before a RIM is extracted: how the rates of their rows change, and how long the
// rows hold                                                                            [docs/theory-rim-coupling.md, contact changes]
//
// The rows of a RIM are those of one configuration. Where a vertex leaves its face, they go on as if the face had no end. They hold for a time
// tau if the contacts at q (+) tau v are those that gaps at their rates have led to:
//   - a contact that is closed by its row is still there, or the shapes touch elsewhere: no gap exceeds the predicted one by more
//     than the tolerance
//   - no shapes have come to penetrate by more than the tolerance where the rows predict a gap
// A contact that only one of the two looks has is compared with the nearest one of its pair of shapes in the other: where the shapes are
// matters, not by which of their features that is described.
#include "rim/contacts.h"

#include "contact/contact.h"
#include "multibody/kinematics.h"
#include "stepper/stepper.h"

#include <math.h>
#include <string.h>

#define SEARCHES 6      // halvings of the time in which contacts change
#define CAUTION 0.8     // share of the time found that is used: velocities change on the way
#define TOLERANCE 1e-4  // m

// ---------------------------------------------------------------------------- looks

// Contacts at q (+) tau v into the table of bounded rows; d->q stays as it is.
static ItmStatus look(const ItmModel* m, ItmData* d, ItmRim* rim, double t, double H, double tau)
{
    memcpy(rim->q_start, d->q, sizeof(double) * (size_t)m->nq);
    itm_kinematics_integrate(m, d->q, rim->q_start, d->v, tau);
    itm_kinematics_compute_positions(m, d, d->q);
    itm_kinematics_compute_velocities(m, d, d->v);
    ItmStatus status = itm_euler_collect_bounded(m, d, t, H);
    memcpy(d->q, rim->q_start, sizeof(double) * (size_t)m->nq);
    d->position_state = ITM_POSITION_STALE;
    return status;
}

static void keep_rates(const ItmData* d, ItmRim* rim)
{
    const ItmBounded* b = d->bounded;
    rim->nahead = 0;
    for (int i = 0; i < b->nrow; i++) {
        if (itm_rim_contacts_is_row(&b->rows[i])) {
            rim->ahead_key[rim->nahead] = b->rows[i].key;
            rim->ahead_normal[rim->nahead] = d->contact->contacts[b->rows[i].owner].point.normal;
            rim->ahead_rate[rim->nahead++] = b->rows[i].rate;
        }
    }
}

ItmStatus itm_rim_look_ahead(const ItmModel* m, ItmData* d, ItmRim* rim, double t, double H, double shift, double lag)
{
    rim->nahead = 0;
    rim->ahead_lag = lag;
    if (d->bounded == NULL || m->contact == NULL) {
        return ITM_OK;
    }
    // at the start for an evaluation at the middle, at the middle for one at the start
    rim->ahead_time = shift > 0.0 ? 0.0 : 0.5 * H;
    ItmStatus status = look(m, d, rim, t, H, rim->ahead_time);
    if (status == ITM_OK) {
        keep_rates(d, rim);
    }
    return status;
}

// ---------------------------------------------------------------------------- contacts at the start

static bool is_felt(const ItmModel* m, const ItmRim* rim, const ItmContact* c)
{
    return (c->body_a != ITM_NONE && rim->is_reached[m->component[c->body_a]]) ||
           (c->body_b != ITM_NONE && rim->is_reached[m->component[c->body_b]]);
}

// Components that an interface acts on, over joints and contacts.
static void find_reached(const ItmModel* m, const ItmContactData* data, ItmRim* rim)
{
    memcpy(rim->is_reached, rim->is_touched, sizeof(bool) * (size_t)m->nbody);
    for (bool is_more = true; is_more;) {
        is_more = false;
        for (int i = 0; i < data->ncontact; i++) {
            const ItmContact* c = &data->contacts[i];
            if (c->body_a == ITM_NONE || c->body_b == ITM_NONE || !is_felt(m, rim, c)) {
                continue;
            }
            bool *a = &rim->is_reached[m->component[c->body_a]], *b = &rim->is_reached[m->component[c->body_b]];
            is_more = is_more || !*a || !*b;
            *a = *b = true;
        }
    }
}

static bool was_active(ItmBounded* b, const ItmRow* row)
{
    const ItmRowRecord* last = itm_row_memory_find(&b->memory, row->key);
    return last != NULL && last->state == ITM_ROW_ACTIVE;
}

// How far two shapes move at their contact, relative to each other, in a time tau: at most, as they move now.
static double find_motion(const ItmModel* m, const ItmData* d, const ItmContact* c, double tau)
{
    if (c->second == ITM_NONE) {
        return INFINITY;  // a gap function of the user, of any extent
    }
    ItmSpatial a = d->twist[c->body_a], b = d->twist[c->body_b];
    ItmVec3 v_a = itm_twist_shift(a, itm_vec_sub(c->point.point_a, d->x[c->body_a])).lin;
    ItmVec3 v_b = itm_twist_shift(b, itm_vec_sub(c->point.point_a, d->x[c->body_b])).lin;
    const ItmCollider* colliders = m->contact->colliders;
    double size = fmin(colliders[c->first].geom->size, colliders[c->second].geom->size);
    return tau * (itm_vec_norm(itm_vec_sub(v_b, v_a)) + 2.0 * size * itm_vec_norm(itm_vec_sub(b.ang, a.ang)));
}

// Contacts that an interface feels. Returns whether some of them can change within H: shapes that are near, and do not move as one.
static bool keep_contacts(const ItmModel* m, const ItmData* d, ItmRim* rim, double H)
{
    bool may_change = false;
    find_reached(m, d->contact, rim);
    rim->nseen = 0;
    for (int i = 0; i < d->contact->ncontact; i++) {
        const ItmContact* c = &d->contact->contacts[i];
        const ItmRow* row = &d->bounded->rows[c->row];
        if (is_felt(m, rim, c)) {
            rim->seen[rim->nseen++] = (ItmRimSeen){.key = row->key,
                                                   .first = c->first,
                                                   .second = c->second,
                                                   .gap = row->gap,
                                                   .rate = row->rate,
                                                   .normal = c->point.normal,
                                                   .is_held = was_active(d->bounded, row)};
            double motion = find_motion(m, d, c, H);
            may_change = may_change || (motion > TOLERANCE && row->gap - motion < TOLERANCE);
        }
    }
    return may_change;
}

// ---------------------------------------------------------------------------- comparison

static double predict(const ItmRimSeen* s, double tau)
{
    return s->gap + tau * s->rate;
}

static bool is_same_contact(const ItmRimSeen* s, const ItmContact* c, const ItmRow* row)
{
    return s->key == row->key && itm_contact_is_turn(s->normal, c->point.normal);
}

static bool is_same_pair(const ItmRimSeen* s, const ItmContact* c)
{
    return s->first == c->first && s->second == c->second;
}

// Whether a contact of the start that is closed has gone, and its shapes do not touch elsewhere.
static bool has_gone(const ItmData* d, const ItmRimSeen* s, double tau)
{
    double predicted = predict(s, tau), nearest = INFINITY;
    if (!s->is_held && predicted >= TOLERANCE) {
        return false;
    }
    for (int i = 0; i < d->contact->ncontact; i++) {
        const ItmContact* c = &d->contact->contacts[i];
        if (is_same_pair(s, c)) {
            const ItmRow* row = &d->bounded->rows[c->row];
            nearest = is_same_contact(s, c, row) ? -INFINITY : fmin(nearest, row->gap);
        }
    }
    return nearest > fmax(predicted, 0.0) + TOLERANCE;
}

// Whether a contact penetrates for which the start predicts a gap.
static bool has_come(const ItmRim* rim, const ItmContact* c, const ItmRow* row, double tau)
{
    double nearest = INFINITY;
    if (row->gap >= -TOLERANCE) {
        return false;
    }
    for (int i = 0; i < rim->nseen; i++) {
        const ItmRimSeen* s = &rim->seen[i];
        if (is_same_pair(s, c)) {
            nearest = fmin(nearest, is_same_contact(s, c, row) ? -INFINITY : predict(s, tau));
        }
    }
    return nearest > 0.0;
}

// Whether rows of the start describe the contacts in the table, a time tau later.
static bool holds(const ItmModel* m, const ItmData* d, const ItmRim* rim, double tau)
{
    bool is_same = true;
    for (int i = 0; i < rim->nseen && is_same; i++) {
        is_same = !has_gone(d, &rim->seen[i], tau);
    }
    for (int i = 0; i < d->contact->ncontact && is_same; i++) {
        const ItmContact* c = &d->contact->contacts[i];
        is_same = !is_felt(m, rim, c) || !has_come(rim, c, &d->bounded->rows[c->row], tau);
    }
    return is_same;
}

// A place along the motion where shapes have no contact normal is one that they do not get to.
static bool holds_until(const ItmModel* m, ItmData* d, ItmRim* rim, double t, double H, double tau)
{
    return look(m, d, rim, t, H, tau) == ITM_OK && holds(m, d, rim, tau);
}

// ---------------------------------------------------------------------------- span

ItmStatus itm_rim_find_span(const ItmModel* m, ItmData* d, ItmRim* rim, double t, double H, double least, double* span)
{
    *span = H;
    rim->nahead = 0;
    rim->ahead_time = rim->ahead_lag = 0.0;
    ItmStatus status = look(m, d, rim, t, H, 0.0);
    if (status != ITM_OK) {
        return status;
    }
    keep_rates(d, rim);
    bool may_change = keep_contacts(m, d, rim, H);
    if (least < H && may_change && !holds_until(m, d, rim, t, H, H)) {
        double good = 0.0, bad = H;
        for (int i = 0; i < SEARCHES && bad > least; i++) {
            double middle = 0.5 * (good + bad);
            *(holds_until(m, d, rim, t, H, middle) ? &good : &bad) = middle;
        }
        *span = fmax(CAUTION * good, least);
    }
    return ITM_OK;
}
