// Floating frame of reference. In body axes, with r = s + u the place of a mass point (elastic.h) and r_k its derivative by
// eta_k, the kinetic energy of a flexible body is that of velocities (v, omega) of its frame, in the centre of mass of the
// undeformed body, and rates eta':
//   T = 1/2 m v^2 + v . (omega x c + sum sigma_k eta_k') + 1/2 omega . J omega + omega . sum a_k eta_k' + 1/2 eta' . M eta'
//   c = sum m r,   sigma_k = sum m r_k,   B_k = sum m r r_k',   a_k = axial(B_k) + P_k,   M_kl = sum m r_k . r_l + sections
//   J = J0 + tr(W) I - W,   W = sum m (r r' - s s')
// Without shortening r_k = phi_k: c = S eta, sigma_k = S_k, B_k = B0_k + sum_l eta_l E_lk, M constant.
// Where bending shortens the axis, the masses move by (alpha + beta s_x) e_x beside, the field that has the same sums over the
// mass, with and without s_x, as -1/2 eta' Gamma eta (two numbers instead of a function of x; nodes have Gamma itself):
//   alpha = -1/2 eta' G eta / m,   beta = -1/2 eta' G1 eta / sum m s_x^2,   r_k = phi_k + (alpha_k + beta_k s_x) e_x
// T stays the energy of a motion, so M is positive definite however large eta, and the equations of motion are those of
// Lagrange for exactly this T, so energy and momentum are kept exactly.
// (theory-flexible.md; without shortening the invariants are those of Shabana, Dynamics of Multibody Systems, ch. 5)
#include "multibody/flexible.h"

#include "multibody/articulated.h"
#include "multibody/kinematics.h"
#include "multibody/moments.h"

#include <string.h>

// ---------------------------------------------------------------------------- small things

static inline double trace(const ItmMat3* B)
{
    return B->x.x + B->y.y + B->z.z;
}

// A += s B
static inline void add_scaled(ItmMat3* A, double s, const ItmMat3* B)
{
    A->x = itm_vec_axpy(s, B->x, A->x);
    A->y = itm_vec_axpy(s, B->y, A->y);
    A->z = itm_vec_axpy(s, B->z, A->z);
}

// y += s x over the reals of n matrices or vectors that lie side by side
static inline void add_reals(double* restrict y, double s, const double* restrict x, int n)
{
    for (int i = 0; i < n; i++) {
        y[i] += s * x[i];
    }
}

// ---------------------------------------------------------------------------- modes

// J = tr(W) I - W
static inline ItmSym3 inertia_of(const ItmMat3* W)
{
    double t = trace(W);
    return (ItmSym3){.xx = t - W->x.x, .yy = t - W->y.y, .zz = t - W->z.z, .xy = -W->y.x, .xz = -W->z.x, .yz = -W->z.y};
}

// sum m s_x phi_k
static inline ItmVec3 axis_product(const ItmMat3* B0)
{
    return itm_vec(B0->x.x, B0->y.x, B0->z.x);
}

// Shortening at eta: alpha, beta, and their derivatives into d->flex.alpha, d->flex.beta. Without it all are 0.
static void shorten(const ItmFlexible* f, ItmData* d, const double* eta, double* alpha, double* beta)
{
    const ItmElasticTables* t = &f->tables;
    *alpha = *beta = 0.0;
    for (int k = 0; k < f->n; k++) {
        double alpha_k = -itm_flexible_row_product(t->G, eta, k, f->n) * f->inv_axis_mass;
        double beta_k = -itm_flexible_row_product(t->G1, eta, k, f->n) * f->inv_axis_moment;
        d->flex.alpha[f->mode_adr + k] = alpha_k;
        d->flex.beta[f->mode_adr + k] = beta_k;
        *alpha += 0.5 * eta[k] * alpha_k;
        *beta += 0.5 * eta[k] * beta_k;
    }
}

static void place_modes(const ItmModel* m, ItmData* d, int i, const double* eta)
{
    const ItmFlexible* f = &m->flexibles[m->bodies[i].part];
    const ItmElasticTables* t = &f->tables;
    const ItmMat3* R = &d->R[f->frame];
    int n = f->n, adr = f->mode_adr;
    d->x[i] = d->x[f->frame];
    d->R[i] = *R;
    d->r[i] = itm_vec(0, 0, 0);
    double alpha = 0.0, beta = 0.0;
    if (f->is_stiffening) {
        shorten(f, d, eta, &alpha, &beta);
    }

    // B_k = B0_k + sum_l eta_l E_lk, all k at once
    memcpy(&d->flex.B[adr], t->B, sizeof(ItmMat3) * (size_t)n);
    for (int l = 0; l < n; l++) {
        add_reals((double*)&d->flex.B[adr], eta[l], (const double*)&t->E[l * n], 9 * n);
    }
    // sums over u = sum phi_k eta_k: m u, m s_x u, and W = sum m (s u' + u s' + u u') = X + X', where
    // X = sum eta_k ((1 + beta) B0_k + 1/2 (B_k - B0_k)): what is left of B_k adds up to a symmetric matrix
    ItmVec3 Su = {0, 0, 0}, bu = {0, 0, 0};
    ItmMat3 X = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    for (int k = 0; k < n; k++) {
        add_scaled(&X, eta[k] * (0.5 + beta), &t->B[k]);
        add_scaled(&X, 0.5 * eta[k], &d->flex.B[adr + k]);
        Su = itm_vec_axpy(eta[k], t->S[k], Su);
        bu = itm_vec_axpy(eta[k], axis_product(&t->B[k]), bu);
        d->flex.eta[adr + k] = eta[k];
    }
    ItmMat3 W = itm_mat_transpose(&X);
    add_scaled(&W, 1.0, &X);
    for (int k = 0; k < n; k++) {
        ItmVec3 sigma = t->S[k];
        ItmMat3* B = &d->flex.B[adr + k];
        if (f->is_stiffening) {
            double alpha_k = d->flex.alpha[adr + k], beta_k = d->flex.beta[adr + k];
            // (beta s + alpha e_x) phi_k' + sum m r (alpha_k + beta_k s_x) e_x'
            add_scaled(B, beta, &t->B[k]);
            B->x.x += alpha * t->S[k].x + f->axis_mass * alpha * alpha_k + (1.0 + beta) * f->axis_moment * beta_k;
            B->y.x += alpha * t->S[k].y;
            B->z.x += alpha * t->S[k].z;
            B->x = itm_vec_add(B->x, itm_vec_axpy(alpha_k, Su, itm_vec_scale(beta_k, bu)));
            sigma.x += f->axis_mass * alpha_k;
        }
        d->flex.U[adr + k] =
            (ItmSpatial){itm_mat_mul_vec(R, itm_vec_add(itm_moment_axial(B), t->P[k])), itm_mat_mul_vec(R, sigma)};
    }
    ItmVec3 c = Su;
    if (f->is_stiffening) {
        // alpha (e_x Su' + Su e_x') + ((1 + beta)^2 - 1) sum m s_x^2 e_x e_x' + m alpha^2 e_x e_x'
        W.x = itm_vec_axpy(alpha, Su, W.x);
        W.x.x += alpha * Su.x + beta * (2.0 + beta) * f->axis_moment + f->axis_mass * alpha * alpha;
        W.y.x += alpha * Su.y;
        W.z.x += alpha * Su.z;
        c.x += f->axis_mass * alpha;
    }
    ItmSym3 J = inertia_of(&W);
    d->flex.c[m->bodies[i].part] = itm_mat_mul_vec(R, c);
    d->flex.J[m->bodies[i].part] = itm_sym_rotate(R, &J);
}

// ---------------------------------------------------------------------------- kinematics

void itm_flexible_place(const ItmModel* m, ItmData* d, int i, const double* q)
{
    if (m->bodies[i].mobility == ITM_MOBILIZER_MODES) {
        place_modes(m, d, i, q + m->bodies[i].q_adr);
    } else {
        itm_flexible_place_node(m, d, i);
    }
}

void itm_flexible_move(const ItmModel* m, ItmData* d, int i, const double* v)
{
    if (m->bodies[i].mobility == ITM_MOBILIZER_MODES) {
        d->twist[i] = d->twist[m->bodies[i].parent];
        d->accel_bias[i] = d->accel_bias[m->bodies[i].parent];
    } else {
        itm_flexible_move_node(m, d, i, v);
    }
}

// ---------------------------------------------------------------------------- mass matrix

// What shortening adds to M_kl: sum m (r_k . r_l - phi_k . phi_l)
static inline double shortening_mass(const ItmFlexible* f, const ItmData* d, int k, int l)
{
    const ItmElasticTables* t = &f->tables;
    const double *alpha = d->flex.alpha + f->mode_adr, *beta = d->flex.beta + f->mode_adr;
    return t->S[k].x * alpha[l] + t->S[l].x * alpha[k] + t->B[k].x.x * beta[l] + t->B[l].x.x * beta[k] +
           f->axis_mass * alpha[k] * alpha[l] + f->axis_moment * beta[k] * beta[l];
}

void itm_flexible_begin_factor(const ItmModel* m, ItmData* d, ItmModalTerms terms)
{
    for (int j = 0; j < m->nflexible; j++) {
        const ItmFlexible* f = &m->flexibles[j];
        const ItmElasticTables* t = &f->tables;
        const ItmBody* modes = &m->bodies[f->modes];
        double* L = d->mass.L + modes->L_adr;
        for (int k = 0; k < f->n; k++) {
            d->mass.G[modes->v_adr + k] = d->flex.U[f->mode_adr + k];
            for (int l = 0; l <= k; l++) {
                L[k * f->n + l] = f->is_stiffening ? shortening_mass(f, d, k, l) : 0.0;
            }
            L[k * f->n + k] +=
                terms.inertia * t->mass[k] + terms.damping * t->damping[k] + terms.stiffness * t->stiffness[k];
        }
        // torque of an acceleration: c x lin
        ItmVec3 c = d->flex.c[j];
        d->mass.IA[f->modes] = (ItmArticulated){
            .J = d->flex.J[j],
            .H = {itm_vec(0, c.z, -c.y), itm_vec(-c.z, 0, c.x), itm_vec(c.y, -c.x, 0)},
        };
    }
}

// What hangs on a node: D_kl += S_k . IA S_l,  U_k += shifted IA S_k,  IA of the modes += shifted IA
static void factor_node(const ItmModel* m, ItmData* d, int i)
{
    const ItmFlexNode* node = &m->nodes[m->bodies[i].part];
    if (!node->carries) {
        return;
    }
    const ItmFlexible* f = &m->flexibles[node->flexible];
    const ItmBody* modes = &m->bodies[f->modes];
    const ItmArticulated* A = &d->mass.IA[i];
    const ItmSpatial* S = d->flex.node_S + node->S_adr;
    double* L = d->mass.L + modes->L_adr;
    ItmVec3 offset = itm_vec_sub(d->x[i], d->x[f->frame]);
    for (int k = 0; k < f->n; k++) {
        ItmSpatial U = itm_articulated_mul(A, S[k]);
        for (int l = 0; l <= k; l++) {
            L[k * f->n + l] += itm_spatial_dot(S[l], U);
        }
        d->mass.G[modes->v_adr + k] = itm_spatial_add(d->mass.G[modes->v_adr + k], itm_wrench_shift(U, offset));
    }
    itm_articulated_add_shifted(&d->mass.IA[f->modes], A, offset);
}

// D = L L', G = U L^-T, IA of the frame += IA - G G'
static void factor_modes(const ItmModel* m, ItmData* d, int i)
{
    const ItmBody* body = &m->bodies[i];
    int n = body->nv;
    double* L = d->mass.L + body->L_adr;
    ItmSpatial* G = d->mass.G + body->v_adr;
    for (int j = 0; j < n; j++) {
        for (int k = j; k < n; k++) {
            double sum = L[k * n + j];
            for (int l = 0; l < j; l++) {
                sum -= L[k * n + l] * L[j * n + l];
            }
            L[k * n + j] = k == j ? 1.0 / sqrt(sum) : sum * L[j * n + j];
        }
        for (int l = 0; l < j; l++) {
            G[j] = itm_spatial_axpy(-L[j * n + l], G[l], G[j]);
        }
        G[j] = itm_spatial_scale(L[j * n + j], G[j]);
        itm_articulated_subtract_outer(&d->mass.IA[i], G[j], G[j]);
    }
    itm_articulated_add_shifted(&d->mass.IA[body->parent], &d->mass.IA[i], itm_vec(0, 0, 0));
}

void itm_flexible_factor(const ItmModel* m, ItmData* d, int i)
{
    if (m->bodies[i].mobility == ITM_MOBILIZER_MODES) {
        factor_modes(m, d, i);
    } else {
        factor_node(m, d, i);
    }
}

// ---------------------------------------------------------------------------- inertia forces

// Rates eta' of a body: r' = u' + (alpha' + beta' s_x) e_x, and the part of r'' that has no eta'': (alpha'' + beta'' s_x) e_x.
typedef struct Rates {
    const double* eta_dot;
    ItmVec3 Su, bu;                // sum m u', sum m s_x u'
    double alpha, beta;            // alpha', beta'
    double alpha_ddot, beta_ddot;  // while eta'' = 0
} Rates;

static Rates rates_of(const ItmFlexible* f, const ItmData* d, const double* eta_dot)
{
    const ItmElasticTables* t = &f->tables;
    Rates r = {.eta_dot = eta_dot};
    for (int k = 0; f->is_stiffening && k < f->n; k++) {
        r.Su = itm_vec_axpy(eta_dot[k], t->S[k], r.Su);
        r.bu = itm_vec_axpy(eta_dot[k], axis_product(&t->B[k]), r.bu);
        r.alpha += eta_dot[k] * d->flex.alpha[f->mode_adr + k];
        r.beta += eta_dot[k] * d->flex.beta[f->mode_adr + k];
        r.alpha_ddot -= eta_dot[k] * itm_flexible_row_product(t->G, eta_dot, k, f->n) * f->inv_axis_mass;
        r.beta_ddot -= eta_dot[k] * itm_flexible_row_product(t->G1, eta_dot, k, f->n) * f->inv_axis_moment;
    }
    return r;
}

// sum m u' x phi_k
static ItmVec3 spin_of(const ItmFlexible* f, const double* eta_dot, int k)
{
    ItmVec3 sum = {0, 0, 0};
    for (int l = 0; l < f->n; l++) {
        sum = itm_vec_axpy(-eta_dot[l], f->spin[k * f->n + l], sum);
    }
    return sum;
}

// What shortening makes of it: sum m r' x r_k - u' x phi_k
static ItmVec3 shortening_spin(const ItmFlexible* f, const ItmData* d, const Rates* r, int k)
{
    // e_x x (alpha' S_k + beta' b_k) + (alpha_k Su' + beta_k bu') x e_x
    const ItmElasticTables* t = &f->tables;
    ItmVec3 b_k = axis_product(&t->B[k]);
    ItmVec3 ahead = itm_vec_axpy(r->alpha, t->S[k], itm_vec_scale(r->beta, b_k));
    ItmVec3 behind =
        itm_vec_axpy(d->flex.alpha[f->mode_adr + k], r->Su, itm_vec_scale(d->flex.beta[f->mode_adr + k], r->bu));
    ItmVec3 x = itm_vec_sub(ahead, behind);
    return itm_vec(0.0, -x.z, x.y);
}

// sum m r_k . r'' while eta'' = 0, from shortening
static double shortening_force(const ItmFlexible* f, const ItmData* d, const Rates* r, int k)
{
    const ItmElasticTables* t = &f->tables;
    return r->alpha_ddot * (t->S[k].x + f->axis_mass * d->flex.alpha[f->mode_adr + k]) +
           r->beta_ddot * (t->B[k].x.x + f->axis_moment * d->flex.beta[f->mode_adr + k]);
}

// (M eta'')_k
static double modal_inertia(const ItmFlexible* f, const ItmData* d, const double* eta_ddot, int k)
{
    double sum = f->tables.mass[k] * eta_ddot[k];
    for (int l = 0; f->is_stiffening && l < f->n; l++) {
        sum += shortening_mass(f, d, k, l) * eta_ddot[l];
    }
    return sum;
}

// Force -(...) of the deformation on body and modes, with A = acceleration of the frame less gravity:
//   lin  alpha x c + w x (w x c) + 2 w x c' + sum m r'' (+ sum sigma_k eta_k'')
//   ang  c x A + J alpha + w x J w + 2 sum eta_k' (tr B_k I - B_k') w + w x sum P_k eta_k' + sum m r x r'' (+ sum a_k eta_k'')
//   k    sigma_k . A + a_k . alpha + w . B_k w - tr B_k w^2 + 2 w . sum m r' x r_k + sum m r_k . r'' (+ (M eta'')_k)
// where r'' is what shortening gives while eta'' = 0.
static void add_inertia(const ItmModel* m, const ItmData* d, int index, ItmSpatial* wrench, double* tau,
                        ItmSpatial accel, const double* v_dot)
{
    const ItmFlexible* f = &m->flexibles[index];
    int n = f->n, adr = m->bodies[f->modes].v_adr;
    const ItmMat3 *R = &d->R[f->frame], *B = d->flex.B + f->mode_adr;
    const ItmSpatial* U = d->flex.U + f->mode_adr;
    ItmVec3 c = d->flex.c[index], w = d->twist[f->frame].ang, alpha = accel.ang;
    ItmSpatial A = {alpha, itm_vec_sub(accel.lin, m->gravity)};
    ItmVec3 w_body = itm_mat_t_mul_vec(R, w);
    double w2 = itm_vec_dot(w, w);
    Rates rates = rates_of(f, d, d->v + adr);

    ItmVec3 c_dot = {0, 0, 0}, turning = {0, 0, 0}, spin = {0, 0, 0};  // the last two in body axes
    for (int k = 0; k < n; k++) {
        double rate = d->v[adr + k], tr = trace(&B[k]);
        ItmVec3 Bt_w = itm_mat_t_mul_vec(&B[k], w_body);
        c_dot = itm_vec_axpy(rate, U[k].lin, c_dot);
        turning = itm_vec_axpy(2.0 * rate, itm_vec_axpy(tr, w_body, itm_vec_neg(Bt_w)), turning);
        spin = itm_vec_axpy(rate, f->tables.P[k], spin);
        ItmVec3 turn = spin_of(f, rates.eta_dot, k);
        if (f->is_stiffening) {
            turn = itm_vec_add(turn, shortening_spin(f, d, &rates, k));
        }
        tau[adr + k] -=
            itm_spatial_dot(U[k], A) + itm_vec_dot(Bt_w, w_body) - tr * w2 + 2.0 * itm_vec_dot(w_body, turn);
    }
    ItmVec3 lin = itm_vec_add(itm_vec_cross(alpha, c), itm_vec_cross(w, itm_vec_axpy(2.0, c_dot, itm_vec_cross(w, c))));
    ItmVec3 ang = itm_vec_add(itm_vec_cross(c, A.lin), itm_sym_mul_vec(&d->flex.J[index], alpha));
    ang = itm_vec_add(ang, itm_vec_cross(w, itm_sym_mul_vec(&d->flex.J[index], w)));
    ang = itm_vec_add(ang, itm_mat_mul_vec(R, itm_vec_add(turning, itm_vec_cross(w_body, spin))));
    if (f->is_stiffening) {
        // sum m r'' = m alpha'' e_x,  sum m r x r'' = (alpha'' Su + beta'' bu) x e_x
        ItmVec3 Su = {0, 0, 0}, bu = {0, 0, 0};
        for (int k = 0; k < n; k++) {
            double eta = d->flex.eta[f->mode_adr + k];
            Su = itm_vec_axpy(eta, f->tables.S[k], Su);
            bu = itm_vec_axpy(eta, axis_product(&f->tables.B[k]), bu);
            tau[adr + k] -= shortening_force(f, d, &rates, k);
        }
        ItmVec3 arm = itm_vec_axpy(rates.alpha_ddot, Su, itm_vec_scale(rates.beta_ddot, bu));
        lin = itm_vec_axpy(f->axis_mass * rates.alpha_ddot, R->x, lin);
        ang = itm_vec_add(ang, itm_mat_mul_vec(R, itm_vec_cross(arm, itm_vec(1, 0, 0))));
    }
    for (int k = 0; v_dot != NULL && k < n; k++) {
        lin = itm_vec_axpy(v_dot[adr + k], U[k].lin, lin);
        ang = itm_vec_axpy(v_dot[adr + k], U[k].ang, ang);
        tau[adr + k] -= modal_inertia(f, d, v_dot + adr, k);
    }
    wrench[f->modes] = itm_spatial_axpy(-1.0, (ItmSpatial){ang, lin}, wrench[f->modes]);
}

void itm_flexible_add_inertia(const ItmModel* m, const ItmData* d, ItmSpatial* wrench, double* tau,
                              const ItmSpatial* accel, const double* v_dot)
{
    const ItmSpatial* A = accel != NULL ? accel : d->accel_bias;
    for (int j = 0; j < m->nflexible; j++) {
        add_inertia(m, d, j, wrench, tau, A[m->flexibles[j].frame], v_dot);
    }
}

// ---------------------------------------------------------------------------- elastic forces

void itm_flexible_add_elastic(const ItmModel* m, ItmData* d)
{
    for (int j = 0; j < m->nflexible; j++) {
        const ItmFlexible* f = &m->flexibles[j];
        int adr = m->bodies[f->modes].v_adr;
        for (int k = 0; k < f->n; k++) {
            double rate = d->v[adr + k], damping = f->tables.damping[k];
            d->tau[adr + k] -= f->tables.stiffness[k] * d->flex.eta[f->mode_adr + k] + damping * rate;
            d->energy.power[ITM_LEDGER_DISSIPATED] += damping * rate * rate;
        }
    }
}

void itm_flexible_add_lag(const ItmModel* m, ItmData* d, double h)
{
    for (int j = 0; j < m->nflexible; j++) {
        const ItmFlexible* f = &m->flexibles[j];
        int adr = m->bodies[f->modes].v_adr;
        for (int k = 0; k < f->n; k++) {
            d->tau[adr + k] -= h * f->tables.stiffness[k] * d->v[adr + k];
        }
    }
}

// ---------------------------------------------------------------------------- energy and momenta

double itm_flexible_compute_kinetic(const ItmModel* m, const ItmData* d)
{
    double sum = 0.0;
    for (int j = 0; j < m->nflexible; j++) {
        const ItmFlexible* f = &m->flexibles[j];
        ItmSpatial t = d->twist[f->frame];
        const double* rate = d->v + m->bodies[f->modes].v_adr;
        sum += itm_vec_dot(t.lin, itm_vec_cross(t.ang, d->flex.c[j]));
        sum += 0.5 * itm_vec_dot(t.ang, itm_sym_mul_vec(&d->flex.J[j], t.ang));
        for (int k = 0; k < f->n; k++) {
            sum += rate[k] * (itm_spatial_dot(d->flex.U[f->mode_adr + k], t) + 0.5 * modal_inertia(f, d, rate, k));
        }
    }
    return sum;
}

double itm_flexible_compute_gravity(const ItmModel* m, const ItmData* d)
{
    double sum = 0.0;
    for (int j = 0; j < m->nflexible; j++) {
        sum -= itm_vec_dot(m->gravity, d->flex.c[j]);
    }
    return sum;
}

double itm_flexible_compute_elastic(const ItmData* d, const ItmFlexible* f)
{
    double twice = 0.0;
    for (int k = 0; k < f->n; k++) {
        double eta = d->flex.eta[f->mode_adr + k];
        twice += f->tables.stiffness[k] * eta * eta;
    }
    return 0.5 * twice;
}

void itm_flexible_add_momenta(const ItmModel* m, const ItmData* d, ItmVec3* linear, ItmVec3* angular)
{
    for (int j = 0; j < m->nflexible; j++) {
        const ItmFlexible* f = &m->flexibles[j];
        ItmSpatial t = d->twist[f->frame];
        const double* rate = d->v + m->bodies[f->modes].v_adr;
        ItmSpatial p = {itm_vec_add(itm_vec_cross(d->flex.c[j], t.lin), itm_sym_mul_vec(&d->flex.J[j], t.ang)),
                        itm_vec_cross(t.ang, d->flex.c[j])};
        for (int k = 0; k < f->n; k++) {
            p = itm_spatial_axpy(rate[k], d->flex.U[f->mode_adr + k], p);
        }
        *linear = itm_vec_add(*linear, p.lin);
        *angular = itm_vec_add(*angular, itm_wrench_shift(p, d->x[f->frame]).ang);
    }
}
