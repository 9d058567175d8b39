#include "multibody/forces.h"

#include "multibody/flexible.h"
#include "multibody/kinematics.h"
#include "multibody/measure.h"

static double signal_at(const ItmModel* m, const ItmData* d, int signal, double t)
{
    return itm_data_compute_signal(m, d, signal, t).x;
}

// ---------------------------------------------------------------------------- loads

static ItmSpatial load_wrench(const ItmModel* m, const ItmData* d, const ItmLoad* load, double t)
{
    double factor = load->signal != ITM_NONE ? signal_at(m, d, load->signal, t) : 1.0;
    int body = load->body;
    ItmVec3 f = itm_vec_scale(factor, load->vector);
    if (load->in_body) {
        f = itm_mat_mul_vec(&d->R[body], f);
    }
    ItmVec3 s = itm_mat_mul_vec(&d->R[body], load->point);
    return load->is_torque ? (ItmSpatial){f, {0, 0, 0}} : (ItmSpatial){itm_vec_cross(s, f), f};
}

static void apply_load(const ItmModel* m, ItmData* d, const ItmLoad* load, double t)
{
    ItmSpatial wrench = load_wrench(m, d, load, t);
    d->wrench[load->body] = itm_spatial_add(d->wrench[load->body], wrench);
    d->energy.power[ITM_LEDGER_LOAD] += itm_spatial_dot(wrench, d->twist[load->body]);
}

// ---------------------------------------------------------------------------- scalar forces

// feedforward + K (r - x) + D (r' - x'), clipped at the limit
static double servo_force(const ItmModel* m, const ItmData* d, const ItmScalarForce* def, const ItmMeasured* x,
                          double feedforward, double t)
{
    ItmSignalValue r = {0};
    if (def->target != ITM_NONE) {
        r = itm_data_compute_signal(m, d, def->target, t);
    }
    double force = feedforward + def->stiffness * (r.x - x->value) + def->damping * (r.x_dot - x->rate);
    double most = def->max_force > 0.0 ? def->max_force : INFINITY;
    return fmin(fmax(force, -most), most);
}

// The part of a scalar force that comes from a signal, an input or a servo.
static double applied_force(const ItmModel* m, const ItmData* d, const ItmScalarForce* def, const ItmMeasured* x,
                            double t)
{
    double applied = def->signal != ITM_NONE ? signal_at(m, d, def->signal, t) : 0.0;
    applied += def->input != ITM_NONE ? d->input[def->input] : 0.0;
    return def->is_servo ? servo_force(m, d, def, x, applied, t) : applied;
}

static void apply_push(const ItmModel* m, ItmData* d, int index, double t)
{
    const ItmScalarForce* def = &m->scalar_forces[index];
    const ItmMeasure* measure = &m->measures[def->measure];
    ItmMeasured x = itm_measure_compute(m, d, measure);
    d->scalar_measured[index] = x;

    double applied = applied_force(m, d, def, &x, t), damping = def->is_servo ? 0.0 : def->damping;
    double own = def->is_servo ? 0.0 : def->constant - def->stiffness * (x.value - def->rest) - damping * x.rate;
    double force = applied + own;

    d->scalar_force[index] = force;
    d->energy.power[ITM_LEDGER_LOAD] += applied * x.rate;
    d->energy.power[ITM_LEDGER_DISSIPATED] += damping * x.rate * x.rate;
    itm_measure_add_force(measure, &x, force, d->wrench, d->tau);
}

// ---------------------------------------------------------------------------- bushings

// Deformation of a bushing: displacement and rotation vector in axes of frame a, and their rates.
typedef struct {
    ItmJointView view;
    ItmVec3 x, x_dot, phi, w;
} BushingState;

static void measure_bushing(BushingState* s, const ItmData* d, const ItmBushing* b)
{
    itm_joint_view_init_bushing(&s->view, d, b);
    const ItmMat3* R_a = &s->view.R_a;
    ItmMat3 R_rel = itm_mat_t_mul(R_a, &s->view.R_b);
    s->x = itm_mat_t_mul_vec(R_a, itm_vec_sub(s->view.p_b, s->view.p_a));
    s->x_dot = itm_mat_t_mul_vec(R_a, s->view.u);
    s->phi = itm_quat_log(itm_vec_quat_from_mat(&R_rel));
    s->w = itm_mat_t_mul_vec(R_a, itm_vec_sub(s->view.w_b, s->view.w_a));
}

static ItmVec3 scale_each(const double k[3], ItmVec3 v)
{
    return itm_vec(k[0] * v.x, k[1] * v.y, k[2] * v.z);
}

// Torque whose power is -d/dt (phi' K phi / 2): -T' K phi, with phi' = T w and
// T = I - phi~/2 + c phi~^2, c = (1 - (a/2) cot(a/2)) / a^2 -> 1/12 for a = |phi| -> 0.
static ItmVec3 elastic_torque(const double K[3], ItmVec3 phi)
{
    double a2 = itm_vec_dot(phi, phi), a = sqrt(a2);
    double c = a < 1e-3 ? 1.0 / 12.0 + a2 / 720.0 : (1.0 - 0.5 * a / tan(0.5 * a)) / a2;
    ItmVec3 m = scale_each(K, phi);
    ItmVec3 once = itm_vec_cross(phi, m);
    ItmVec3 twice = itm_vec_cross(phi, once);
    return itm_vec_neg(itm_vec_axpy(c, twice, itm_vec_axpy(0.5, once, m)));
}

static ItmSpatial bushing_wrench(const ItmBushing* b, const BushingState* s)
{
    ItmVec3 force = itm_vec_neg(itm_vec_add(scale_each(b->stiffness, s->x), scale_each(b->damping, s->x_dot)));
    ItmVec3 torque = itm_vec_sub(elastic_torque(b->stiffness + 3, s->phi), scale_each(b->damping + 3, s->w));
    return (ItmSpatial){itm_mat_mul_vec(&s->view.R_a, torque), itm_mat_mul_vec(&s->view.R_a, force)};
}

ItmSpatial itm_forces_compute_bushing(const ItmData* d, const ItmBushing* bushing)
{
    BushingState s;
    measure_bushing(&s, d, bushing);
    return bushing_wrench(bushing, &s);
}

static void apply_bushing(ItmData* d, const ItmBushing* b)
{
    BushingState s;
    measure_bushing(&s, d, b);
    ItmSpatial f = bushing_wrench(b, &s);
    ItmSpatial on_b = itm_wrench_shift(f, s.view.s_b);
    ItmSpatial on_a = itm_spatial_scale(-1.0, itm_wrench_shift(f, s.view.s_a));
    d->wrench[b->body_a] = itm_spatial_add(d->wrench[b->body_a], on_a);
    d->wrench[b->body_b] = itm_spatial_add(d->wrench[b->body_b], on_b);
    d->energy.power[ITM_LEDGER_DISSIPATED] +=
        itm_vec_dot(s.x_dot, scale_each(b->damping, s.x_dot)) + itm_vec_dot(s.w, scale_each(b->damping + 3, s.w));
}

void itm_forces_compute(const ItmModel* m, ItmData* d, double t)
{
    d->energy.power[ITM_LEDGER_LOAD] = 0.0;
    d->energy.power[ITM_LEDGER_DISSIPATED] = 0.0;
    for (int i = 0; i < m->nload; i++) {
        apply_load(m, d, &m->loads[i], t);
    }
    for (int i = 0; i < m->nscalar_force; i++) {
        apply_push(m, d, i, t);
    }
    for (int i = 0; i < m->nbushing; i++) {
        apply_bushing(d, &m->bushings[i]);
    }
    itm_flexible_add_elastic(m, d);
}

double itm_forces_compute_load_work(const ItmModel* m, ItmData* d, const double* way, double t)
{
    double work = 0.0;
    ItmSpatial* move = d->accel;
    itm_kinematics_compute_twists(m, d, move, way);
    for (int i = 0; i < m->nload; i++) {
        work += itm_spatial_dot(load_wrench(m, d, &m->loads[i], t), move[m->loads[i].body]);
    }
    for (int i = 0; i < m->nscalar_force; i++) {
        const ItmScalarForce* def = &m->scalar_forces[i];
        const ItmMeasured* x = &d->scalar_measured[i];
        double along = itm_measure_compute_rate(&m->measures[def->measure], x, move, way);
        work += applied_force(m, d, def, x, t) * along;
    }
    return work;
}

// ---------------------------------------------------------------------------- energy

double itm_forces_compute_kinetic(const ItmModel* m, const ItmData* d)
{
    double twice = 0.0;
    for (int i = 0; i < m->nbody; i++) {
        ItmSpatial t = d->twist[i];
        twice += m->bodies[i].mass * itm_vec_dot(t.lin, t.lin);
        twice += itm_vec_dot(t.ang, itm_sym_mul_vec(&d->mass.J[i], t.ang));
    }
    return 0.5 * twice + itm_flexible_compute_kinetic(m, d);
}

double itm_forces_compute_potential(const ItmModel* m, const ItmData* d)
{
    double sum = *d->energy.elastic + itm_flexible_compute_gravity(m, d);
    for (int i = 0; i < m->nbody; i++) {
        sum -= m->bodies[i].mass * itm_vec_dot(m->gravity, d->x[i]);
    }
    for (int i = 0; i < m->nflexible; i++) {
        sum += itm_flexible_compute_elastic(d, &m->flexibles[i]);
    }
    for (int i = 0; i < m->nscalar_force; i++) {
        const ItmScalarForce* def = &m->scalar_forces[i];
        if (!def->is_servo && (def->stiffness != 0.0 || def->constant != 0.0)) {
            double x = itm_measure_compute(m, d, &m->measures[def->measure]).value - def->rest;
            sum += 0.5 * def->stiffness * x * x - def->constant * x;
        }
    }
    for (int i = 0; i < m->nbushing; i++) {
        const ItmBushing* b = &m->bushings[i];
        BushingState s;
        measure_bushing(&s, d, b);
        sum += 0.5 * itm_vec_dot(s.x, scale_each(b->stiffness, s.x));
        sum += 0.5 * itm_vec_dot(s.phi, scale_each(b->stiffness + 3, s.phi));
    }
    for (int i = 0; i < m->nrow; i++) {
        sum += 0.5 * m->blocks[m->row_block[i]].stiffness * d->rows.gap[i] * d->rows.gap[i];
    }
    return sum;
}

void itm_forces_compute_momentum(const ItmModel* m, const ItmData* d, ItmVec3* p, ItmVec3* L)
{
    *p = *L = (ItmVec3){0, 0, 0};
    for (int i = 0; i < m->nbody; i++) {
        ItmVec3 mv = itm_vec_scale(m->bodies[i].mass, d->twist[i].lin);
        *p = itm_vec_add(*p, mv);
        *L = itm_vec_add(*L, itm_vec_add(itm_vec_cross(d->x[i], mv), itm_sym_mul_vec(&d->mass.J[i], d->twist[i].ang)));
    }
    itm_flexible_add_momenta(m, d, p, L);
}
