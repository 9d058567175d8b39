#include "multibody/sleep.h"

#include "multibody/clearance.h"
#include "multibody/kinematics.h"
#include "multibody/measure.h"

#include <limits.h>
#include <string.h>

enum { IMPULSE_X, IMPULSE_Y, IMPULSE_Z, CLOSED, SLIDING };  // reals of ItmSleepState.contact

// ---------------------------------------------------------------------------- who may sleep

static void forbid(ItmData* d, int body)
{
    if (body != ITM_NONE) {
        d->sleep.can_sleep[body] = false;
    }
}

static void forbid_measure(const ItmModel* m, ItmData* d, int measure)
{
    int bodies[ITM_BLOCK_BODIES], n = itm_measure_get_bodies(&m->measures[measure], bodies);
    for (int k = 0; k < n; k++) {
        forbid(d, bodies[k]);
    }
}

// Bodies that forces act on.
static void forbid_forces(const ItmModel* m, ItmData* d)
{
    for (int i = 0; i < m->nload; i++) {
        forbid(d, m->loads[i].body);
    }
    for (int i = 0; i < m->nscalar_force; i++) {
        forbid_measure(m, d, m->scalar_forces[i].measure);
    }
    for (int i = 0; i < m->nbushing; i++) {
        forbid(d, m->bushings[i].body_a);
        forbid(d, m->bushings[i].body_b);
    }
}

void itm_sleep_find_sleepers(const ItmModel* m, ItmData* d)
{
    for (int i = 0; i < d->sleep.n; i++) {
        bool has_rows = m->nrow > 0 && m->body_block_adr[i] != m->body_block_adr[i + 1];
        d->sleep.can_sleep[i] = m->bodies[i].is_root_leaf && !has_rows && m->component[i] == i;
    }
    if (d->sleep.n == 0) {
        return;
    }
    forbid_forces(m, d);
    for (int i = 0; i < m->nlimit + m->nactuator; i++) {
        forbid_measure(m, d, m->limits[i].measure);
    }
    for (int i = 0; i < m->njoint_friction; i++) {
        forbid_measure(m, d, m->joint_frictions[i].measure);
    }
    for (int i = 0; i < m->nmotion; i++) {
        forbid_measure(m, d, m->motions[i].measure);
    }
    for (int i = 0; i < m->nclearance; i++) {
        forbid(d, m->joints[m->clearances[i].joint].body_a);
        forbid(d, m->joints[m->clearances[i].joint].body_b);
    }
    for (int i = 0; i < m->nlatch; i++) {
        forbid(d, m->latches[i].body_a);
        forbid(d, m->latches[i].body_b);
    }
}

// ---------------------------------------------------------------------------- waking

// The body that names the island of a sleeping body; itself where a foreign state has no such body.
static int name_of(const ItmData* d, int body)
{
    double name = d->sleep.island[body];
    return name >= 0.0 && name < d->sleep.n ? (int)name : body;
}

// Wake the islands whose name was marked by itm_sleep_is_asleep being false for it.
static void wake_marked(ItmData* d)
{
    for (int i = 0; i < d->sleep.n; i++) {
        int name = name_of(d, i);
        if (itm_sleep_is_asleep(d, i) && !itm_sleep_is_asleep(d, name)) {
            d->sleep.rest[i] = 0.0;
            d->sleep.elastic[name] = 0.0;
        }
    }
}

// Mark the island of a body to be woken.
static void mark(ItmData* d, int body)
{
    int name = name_of(d, body);
    d->sleep.rest[body] = d->sleep.rest[name] = 0.0;
    d->sleep.elastic[name] = 0.0;
}

void itm_sleep_wake_all(ItmData* d)
{
    memset(d->sleep.rest, 0, sizeof(double) * (size_t)d->sleep.n);
    memset(d->sleep.elastic, 0, sizeof(double) * (size_t)d->sleep.n);
}

void itm_sleep_forbid(ItmData* d, int body)
{
    if (d->sleep.n > 0) {
        if (itm_sleep_is_asleep(d, body)) {
            mark(d, body);
            wake_marked(d);
        }
        forbid(d, body);
    }
}

static bool is_moving(const ItmModel* m, const ItmData* d, int body)
{
    const ItmBody* b = &m->bodies[body];
    bool is_still = true;
    for (int k = b->v_adr; k < b->v_adr + b->nv; k++) {
        is_still = is_still && d->v[k] == 0.0;
    }
    return !is_still;
}

void itm_sleep_begin(const ItmModel* m, ItmData* d)
{
    bool is_any = false;
    for (int i = 0; i < d->sleep.n; i++) {
        if (itm_sleep_is_asleep(d, i) && is_moving(m, d, i)) {
            mark(d, i);
            is_any = true;
        }
    }
    if (is_any) {
        wake_marked(d);
    }
}

bool itm_sleep_wake_touched(ItmData* d)
{
    const ItmBounded* b = d->bounded;
    bool is_any = false;
    for (int k = 0; d->sleep.n > 0 && k < b->nblock; k++) {
        const ItmRowBlock* path = &b->blocks[k].path;
        for (int i = 0; i < path->nbody; i++) {
            if (itm_sleep_is_asleep(d, path->body[i])) {
                mark(d, path->body[i]);
                is_any = true;
            }
        }
    }
    if (is_any) {
        wake_marked(d);
    }
    return is_any;
}

void itm_sleep_hold(const ItmModel* m, ItmData* d)
{
    for (int i = 0; i < d->sleep.n; i++) {
        if (itm_sleep_is_asleep(d, i)) {
            d->wrench[i] = itm_spatial_zero();
            memset(d->tau + m->bodies[i].v_adr, 0, sizeof(double) * (size_t)m->bodies[i].nv);
        }
    }
}

// ---------------------------------------------------------------------------- falling asleep

// 2 T of a body that moves with a twist, J
static double double_kinetic(const ItmModel* m, const ItmData* d, int body, ItmSpatial t)
{
    return m->bodies[body].mass * itm_vec_dot(t.lin, t.lin) +
           itm_vec_dot(t.ang, itm_sym_mul_vec(&d->mass.J[body], t.ang));
}

static void advance_clocks(const ItmModel* m, ItmData* d, double h)
{
    double most = m->contact_options.sleep_speed * m->contact_options.sleep_speed;
    for (int i = 0; i < d->sleep.n; i++) {
        if (!itm_sleep_is_asleep(d, i)) {
            bool is_slow = d->sleep.can_sleep[i] && double_kinetic(m, d, i, d->twist[i]) <= most * m->bodies[i].mass;
            d->sleep.rest[i] = is_slow ? d->sleep.rest[i] + h : 0.0;
        }
    }
}

// Whether all bodies of an island have rested long enough, for a step h.
static bool is_tired(const ItmModel* m, const ItmData* d, int head, double h)
{
    const ItmBounded* b = d->bounded;
    double least = m->contact_options.sleep_after - 0.5 * h;  // times are sums of steps
    for (int k = head; k != ITM_NONE; k = b->blocks[k].next) {
        const ItmRowBlock* path = &b->blocks[k].path;
        for (int i = 0; i < path->npath; i++) {
            if (!(d->sleep.rest[path->path[i]] >= least)) {
                return false;
            }
        }
    }
    return true;
}

// Stop a body; d->accel has its twist.
static void stop(const ItmModel* m, ItmData* d, int body, int name)
{
    const ItmBody* b = &m->bodies[body];
    ItmBoundForce f = d->bounded->body_force[body];
    double* contact = d->sleep.contact + ITM_SLEEP_CONTACT * body;
    d->energy.ledger[ITM_LEDGER_FRICTION] += 0.5 * double_kinetic(m, d, body, d->accel[body]);
    memset(d->v + b->v_adr, 0, sizeof(double) * (size_t)b->nv);
    if (m->nclearance > 0) {
        memset(d->v_raw + b->v_adr, 0, sizeof(double) * (size_t)b->nv);
    }
    d->sleep.rest[body] = INFINITY;
    d->sleep.island[body] = name;
    contact[IMPULSE_X] = f.impulse.x;
    contact[IMPULSE_Y] = f.impulse.y;
    contact[IMPULSE_Z] = f.impulse.z;
    contact[CLOSED] = f.count;
    contact[SLIDING] = f.sliding;
}

static void put_to_sleep(const ItmModel* m, ItmData* d, int head, int name)
{
    const ItmBounded* b = d->bounded;
    double elastic = 0.0;
    for (int k = head; k != ITM_NONE; k = b->blocks[k].next) {
        const ItmBoundBlock* block = &b->blocks[k];
        for (int i = 0; i < block->path.nbody; i++) {
            if (!itm_sleep_is_asleep(d, block->path.body[i])) {
                stop(m, d, block->path.body[i], name);
            }
        }
        for (int i = block->first; i < block->first + block->nrow; i++) {
            elastic += itm_row_compute_elastic(&b->rows[i], b->rows[i].gap_after);
        }
    }
    d->sleep.elastic[name] = elastic;
}

void itm_sleep_finish(const ItmModel* m, ItmData* d, double h)
{
    ItmBounded* b = d->bounded;
    if (d->sleep.n == 0) {
        return;
    }
    advance_clocks(m, d, h);
    bool is_first = true;
    for (int i = 0; b->nrow > 0 && i < b->islands.count; i++) {
        int name = b->islands.names[i], head = b->islands.head[name];
        if (is_tired(m, d, head, h)) {
            if (is_first) {
                itm_bounded_sum_contacts(m, b);
                itm_kinematics_compute_twists(m, d, d->accel, d->v);
                is_first = false;
            }
            put_to_sleep(m, d, head, name);
        }
    }
    d->info.nasleep = 0;
    for (int i = 0; i < d->sleep.n; i++) {
        d->info.nasleep += itm_sleep_is_asleep(d, i);
    }
}

// ---------------------------------------------------------------------------- looking

double itm_sleep_get_elastic(const ItmData* d)
{
    double sum = 0.0;
    for (int i = 0; i < d->sleep.n; i++) {
        sum += d->sleep.elastic[i];
    }
    return sum;
}

// A number of contacts as the state has it; 0 where a foreign state has none.
static int read_count(double x)
{
    return x >= 0.0 && x < INT_MAX ? (int)x : 0;
}

void itm_sleep_add_contacts(ItmData* d)
{
    for (int i = 0; i < d->sleep.n; i++) {
        if (itm_sleep_is_asleep(d, i)) {
            const double* contact = d->sleep.contact + ITM_SLEEP_CONTACT * i;
            d->bounded->body_force[i] =
                (ItmBoundForce){.impulse = itm_vec(contact[IMPULSE_X], contact[IMPULSE_Y], contact[IMPULSE_Z]),
                                .count = read_count(contact[CLOSED]),
                                .sliding = read_count(contact[SLIDING])};
        }
    }
}
