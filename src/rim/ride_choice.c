// Which bounded rows are always or never potential: what the user chose for bodies, pairs of bodies and joints.
#include "rim/ride.h"

#include "contact/contact.h"

static int owner_of(const ItmModel* m, int body)
{
    return body == ITM_NONE ? ITM_GROUND : m->bodies[body].owner;
}

static bool is_body(int wanted, int owner)
{
    return wanted == ITM_NOBODY || wanted == owner;
}

// Joint that a row belongs to, ITM_NONE: it is a contact's.
static int joint_of(const ItmModel* m, const ItmBoundRow* row)
{
    switch (row->kind) {
    case ITM_BOUND_LIMIT:
        return m->measures[m->limits[row->owner].measure].joint;
    case ITM_BOUND_FRICTION:
        return m->measures[m->joint_frictions[row->owner].measure].joint;
    case ITM_BOUND_MOTOR:
        return m->measures[m->motions[row->owner].measure].joint;
    case ITM_BOUND_CLEARANCE:
    case ITM_BOUND_CLEARANCE_TANGENT:
    case ITM_BOUND_CLEARANCE_TORSION:
        return m->loose[row->owner].joint;
    default:
        return ITM_NONE;
    }
}

static bool is_contact(const ItmBoundRow* row)
{
    return row->kind == ITM_BOUND_NORMAL || row->kind == ITM_BOUND_TANGENT || row->kind == ITM_BOUND_TORSION ||
           row->kind == ITM_BOUND_ROLLING;
}

static bool is_meant(const ItmModel* m, const ItmData* d, const ItmRideRule* rule, const ItmBoundRow* row)
{
    if (rule->joint != ITM_NONE || !is_contact(row)) {
        return rule->joint != ITM_NONE && !is_contact(row) && joint_of(m, row) == rule->joint;
    }
    const ItmContact* c = &d->contact->contacts[row->owner];
    int a = owner_of(m, c->body_a), b = owner_of(m, c->body_b);
    return (is_body(rule->body_a, a) && is_body(rule->body_b, b)) || (is_body(rule->body_a, b) && is_body(rule->body_b, a));
}

ItmRideChoice itm_ride_choose(const ItmModel* m, const ItmData* d, const ItmRideRules* rules, const ItmBoundRow* row)
{
    ItmRideChoice choice = rules->choice;
    for (int i = 0; i < rules->nrule; i++) {
        choice = is_meant(m, d, &rules->rules[i], row) ? rules->rules[i].choice : choice;
    }
    return choice;
}
