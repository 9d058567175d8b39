#include "multibody/rows.h"

#include "base/inline.h"
#include "math/lanes.h"
#include "multibody/kinematics.h"
#include "multibody/latch.h"
#include "multibody/mass.h"
#include "multibody/measure.h"

#include <string.h>

// What is wanted of the rows. Constants where the functions below are called, so that each caller has its own short code.
enum { GAP = 1, MOTION = 2, JACOBIAN = 4, DIRECTION = 8 };

// ---------------------------------------------------------------------------- filling

// Position of a body in the list of those a block touches, or ITM_NONE for the world.
ITM_INLINE int find_body(const ItmRowBlock* block, int body)
{
    for (int k = 0; k < block->nbody; k++) {
        if (block->body[k] == body) {
            return k;
        }
    }
    return ITM_NONE;
}

static void add_covector(ItmSpatial* cov, const ItmRowBlock* block, int body, double s, ItmSpatial c)
{
    int k = find_body(block, body);
    if (k != ITM_NONE) {
        cov[k] = itm_spatial_axpy(s, c, cov[k]);
    }
}

// A block of joint rows being filled.
typedef struct {
    ItmData* d;
    const ItmRowBlock* block;
    int a, b;              // where its Jacobian has the two bodies, or ITM_NONE
    ItmSpannedRows* rows;  // of a node in the forest of rows, or NULL
    double sign;           //   +1 where its body is that of frame b, else -1
} Filling;

// Row i of the block is x.
ITM_INLINE void put(const Filling* f, int i, ItmJointMeasured x, unsigned wanted)
{
    int row = f->block->row + i;
    if (wanted & GAP) {
        f->d->rows.gap[row] = x.value;
    }
    if (wanted & MOTION) {
        f->d->rows.rate[row] = x.rate;
        f->d->rows.bias[row] = x.bias;
    }
    if (wanted & JACOBIAN) {
        ItmSpatial* cov = f->d->rows.cov + f->block->cov_adr + i * f->block->nbody;
        if (f->a != ITM_NONE) {
            cov[f->a] = x.cov_a;
        }
        if (f->b != ITM_NONE) {
            cov[f->b] = x.cov_b;
        }
    }
}

// The same for a locked translation, and for a locked rotation, number k of its kind.
ITM_INLINE void put_translation(const Filling* f, int i, ItmJointMeasured x, unsigned wanted)
{
    put(f, i, x, wanted);
    if (wanted & DIRECTION) {
        f->rows->e[i] = itm_vec_scale(f->sign, x.cov_b.lin);
    }
}

ITM_INLINE void put_rotation(const Filling* f, int first, int k, ItmJointMeasured x, unsigned wanted)
{
    put(f, first + k, x, wanted);
    if (wanted & DIRECTION) {
        f->rows->n[k] = itm_vec_scale(f->sign, x.cov_b.ang);
    }
}

// ---------------------------------------------------------------------------- locked directions of a joint

// Rotation of frame b against frame a, all three locked: Phi = 2 eps of the relative quaternion (eta, eps).
//   Phi' = eta w + eps x w,  w = w_b - w_a in axes of b
ITM_INLINE void put_locked_rotations(const Filling* f, int first, const ItmJointView* view, unsigned wanted)
{
    ItmMat3 R_rel = itm_mat_t_mul(&view->R_a, &view->R_b);
    ItmQuat p = itm_vec_quat_from_mat(&R_rel);
    double eta = fabs(p.w), sign = p.w < 0 ? -1.0 : 1.0;
    ItmVec3 eps = itm_vec(sign * p.x, sign * p.y, sign * p.z);

    ItmVec3 w_rel = itm_vec_sub(view->w_b, view->w_a);
    ItmVec3 w = itm_mat_t_mul_vec(&view->R_b, w_rel);
    ItmVec3 alpha_rel = itm_vec_sub(itm_vec_sub(view->bias_b.ang, view->bias_a.ang), itm_vec_cross(view->w_b, w_rel));
    ItmVec3 alpha = itm_mat_t_mul_vec(&view->R_b, alpha_rel);
    ItmVec3 rate = itm_vec_axpy(eta, w, itm_vec_cross(eps, w));
    double eta_dot = -0.5 * itm_vec_dot(eps, w);
    ItmVec3 bias = itm_vec_axpy(eta, alpha, itm_vec_cross(eps, alpha));
    bias = itm_vec_axpy(eta_dot, w, bias);
    bias = itm_vec_axpy(0.5, itm_vec_cross(rate, w), bias);

    const ItmMat3 identity = itm_mat_identity();
    for (int k = 0; k < 3; k++) {
        ItmVec3 e = itm_mat_column(&identity, k);
        ItmVec3 n = itm_mat_mul_vec(&view->R_b, itm_vec_axpy(eta, e, itm_vec_cross(e, eps)));
        put_rotation(f, first, k,
                     (ItmJointMeasured){
                         .value = 2.0 * itm_vec_get(eps, k),
                         .rate = itm_vec_get(rate, k),
                         .bias = itm_vec_get(bias, k),
                         .cov_a = {itm_vec_neg(n), {0, 0, 0}},
                         .cov_b = {n, {0, 0, 0}},
                     },
                     wanted);
    }
}

// x . y with the sign that makes its rate +w about the locked axis when the frames agree.
ITM_INLINE ItmJointMeasured measure_signed_dot(const ItmJointView* view, ItmVec3 x, ItmVec3 y, double sign)
{
    return itm_joint_measure_dot(view, itm_vec_scale(sign, x), y);
}

// Locked rotations, in the order rx ry rz, from row `first` of the block on.
ITM_INLINE void put_rotation_locks(const Filling* f, int first, const ItmJointView* view, unsigned free,
                                   unsigned wanted)
{
    int axes[3], nfree = itm_measure_get_free_rotations(free, axes);
    if (nfree == 0) {
        put_locked_rotations(f, first, view, wanted);
    } else if (nfree == 1) {
        // free about k; (k, i, j) cyclic: about i: -e_j . e_k, about j: e_i . e_k
        int k = axes[0], i = (k + 1) % 3, j = (k + 2) % 3;
        ItmVec3 e_k = itm_mat_column(&view->R_b, k);
        put_rotation(f, first, i > j, measure_signed_dot(view, itm_mat_column(&view->R_a, j), e_k, -1.0), wanted);
        put_rotation(f, first, i < j, measure_signed_dot(view, itm_mat_column(&view->R_a, i), e_k, 1.0), wanted);
    } else if (nfree == 2) {
        // the two axes stay perpendicular
        put_rotation(
            f, first, 0,
            itm_joint_measure_dot(view, itm_mat_column(&view->R_a, axes[0]), itm_mat_column(&view->R_b, axes[1])),
            wanted);
    }
}

// The rows of a joint: its locked directions (those not in free), translations first. turns: a locked rotation has a row
ITM_INLINE void fill_directions(const Filling* f, const ItmJoint* joint, unsigned wanted, unsigned free, bool turns)
{
    ItmJointView view;
    itm_joint_view_place(&view, f->d, joint);
    if (wanted & MOTION) {
        itm_joint_view_move(&view, f->d, joint->body_a, joint->body_b);
    }
    if (wanted & DIRECTION) {
        f->rows->s = f->sign > 0.0 ? view.s_b : view.s_a;
    }
    int n = 0;
    for (int k = 0; k < 3; k++) {
        if (!(free & (1u << k))) {
            put_translation(f, n++, itm_joint_measure_translation(&view, k), wanted);
        }
    }
    if (turns) {
        put_rotation_locks(f, n, &view, free, wanted);
    }
}

ITM_INLINE Filling begin(ItmData* d, const ItmRowBlock* block, const ItmJoint* joint)
{
    return (Filling){
        .d = d, .block = block, .a = find_body(block, joint->body_a), .b = find_body(block, joint->body_b)};
}

#define HINGE (1u << ITM_RZ)

// Directions of hinges are known to the compiler. Ball joints, and hinges in planar loops, need no axes of frame b; there translations may
// be idle.
ITM_INLINE void fill_joint(const Filling* f, const ItmJoint* joint, unsigned wanted)
{
    if (!f->block->turns) {
        fill_directions(f, joint, wanted, joint->free | f->block->idle, false);
    } else if (joint->free == HINGE) {
        fill_directions(f, joint, wanted, HINGE, true);
    } else {
        fill_directions(f, joint, wanted, joint->free, true);
    }
}

ITM_INLINE void fill_joint_block(const ItmModel* m, ItmData* d, const ItmRowBlock* block, unsigned wanted)
{
    if (block->kind == ITM_BLOCK_GRASP) {
        ItmJoint held = itm_latch_get_joint(m, d, block->latch);
        Filling f = begin(d, block, &held);
        fill_directions(&f, &held, wanted, held.free, true);
    } else {
        const ItmJoint* joint = &m->joints[block->index];
        Filling f = begin(d, block, joint);
        fill_joint(&f, joint, wanted);
    }
}

// ---------------------------------------------------------------------------- rows of measures

// What the measures of a block are compared with, beside its signal: a constant, or what a latch keeps.
static inline double offset_of(const ItmData* d, const ItmRowBlock* block)
{
    return block->latch == ITM_NONE ? block->offset : d->latch[ITM_LATCH_REALS * block->latch + 1];
}

// sum of coef * measure - offset - signal(t)
ITM_INLINE void fill_measure_block(const ItmModel* m, ItmData* d, const ItmRowBlock* block, double t, unsigned wanted)
{
    ItmSpatial* cov = d->rows.cov + block->cov_adr;
    for (int k = 0; (wanted & JACOBIAN) && k < block->nbody; k++) {
        cov[k] = itm_spatial_zero();
    }
    double gap = -offset_of(d, block), rate = -block->offset_rate, bias = 0.0;
    for (int i = 0; i < block->nterm; i++) {
        const ItmMeasure* measure = &m->measures[block->term[i]];
        ItmMeasured x = itm_measure_compute(m, d, measure);
        double c = block->term_coef[i];
        gap += c * x.value;
        rate += c * x.rate;
        bias += c * x.bias;
        if (wanted & JACOBIAN) {
            add_covector(cov, block, measure->body_a, c, x.cov_a);
            add_covector(cov, block, measure->body_b, c, x.cov_b);
        }
    }
    if ((wanted & MOTION) && block->signal != ITM_NONE) {
        ItmSignalValue s = itm_data_compute_signal(m, d, block->signal, t);
        gap -= s.x;
        rate -= block->is_velocity ? s.x : s.x_dot;
    }
    if (wanted & MOTION) {
        d->rows.gap[block->row] = block->is_velocity ? 0.0 : gap;
        d->rows.rate[block->row] = rate;
        d->rows.bias[block->row] = bias;
    }
}

static bool is_joint_block(const ItmRowBlock* block)
{
    return block->kind == ITM_BLOCK_JOINT || block->kind == ITM_BLOCK_GRASP;
}

// Rows that do not hold: no gap, no Jacobian.
static void clear_block(ItmData* d, const ItmRowBlock* block)
{
    for (int i = block->row; i < block->row + block->nrow; i++) {
        d->rows.gap[i] = d->rows.rate[i] = d->rows.bias[i] = 0.0;
    }
    for (int k = 0; k < block->nrow * block->nbody; k++) {
        d->rows.cov[block->cov_adr + k] = itm_spatial_zero();
    }
}

ITM_INLINE void fill(const ItmModel* m, ItmData* d, double t, unsigned wanted)
{
    for (int k = 0; k < m->nblock; k++) {
        const ItmRowBlock* block = &m->blocks[k];
        if (itm_block_is_open(d, block)) {
            clear_block(d, block);
        } else if (is_joint_block(block)) {
            fill_joint_block(m, d, block, wanted);
        } else {
            fill_measure_block(m, d, block, t, wanted);
        }
    }
}

void itm_rows_compute(const ItmModel* m, ItmData* d, double t)
{
    fill(m, d, t, GAP | MOTION | JACOBIAN);
}

void itm_rows_compute_jacobian(const ItmModel* m, ItmData* d)
{
    fill(m, d, 0.0, JACOBIAN);
}

void itm_rows_compute_motion(const ItmModel* m, ItmData* d, double t)
{
    fill(m, d, t, GAP | MOTION);
}

void itm_rows_compute_rates(const ItmModel* m, ItmData* d, double t)
{
    fill(m, d, t, MOTION);
}

static double measure_block_gap(const ItmModel* m, const ItmData* d, const double* q, const ItmRowBlock* block,
                                double t)
{
    if (block->is_velocity) {
        return 0.0;
    }
    double gap = -offset_of(d, block);
    for (int i = 0; i < block->nterm; i++) {
        gap += block->term_coef[i] * itm_measure_compute_value(m, d, q, &m->measures[block->term[i]]);
    }
    return block->signal == ITM_NONE ? gap : gap - itm_data_compute_signal(m, d, block->signal, t).x;
}

// The largest gap of a block's rows, or `largest`.
ITM_INLINE double find_largest(const ItmData* d, const ItmRowBlock* block, double largest)
{
    for (int i = block->row; i < block->row + block->nrow; i++) {
        double gap = fabs(d->rows.gap[i]);
        largest = gap > largest || gap != gap ? gap : largest;
    }
    return largest;
}

// The gaps, and with wanted = GAP | JACOBIAN the Jacobian of joints; the largest gap.
ITM_INLINE double compute_gaps(const ItmModel* m, ItmData* d, const double* q, double t, unsigned wanted)
{
    double largest = 0.0;
    for (int k = 0; k < m->nblock; k++) {
        const ItmRowBlock* block = &m->blocks[k];
        if (itm_block_is_open(d, block)) {
            clear_block(d, block);
        } else if (is_joint_block(block)) {
            fill_joint_block(m, d, block, wanted);
        } else {
            d->rows.gap[block->row] = measure_block_gap(m, d, q, block, t);
        }
        // a compliant joint is meant to have a gap
        largest = itm_block_is_compliant(block) ? largest : find_largest(d, block, largest);
    }
    return largest;
}

double itm_rows_compute_gaps(const ItmModel* m, ItmData* d, const double* q, double t)
{
    return compute_gaps(m, d, q, t, GAP);
}

double itm_rows_place_joints(const ItmModel* m, ItmData* d, const double* q, double t)
{
    return compute_gaps(m, d, q, t, GAP | JACOBIAN);
}

double itm_rows_place_nodes(const ItmModel* m, ItmData* d)
{
    double largest = 0.0;
    for (int k = 0; k < m->nspanning; k++) {
        const ItmSpanningNode* node = &m->spanning[k];
        if (node->block != ITM_NONE) {
            const ItmRowBlock* block = &m->blocks[node->block];
            const ItmJoint* joint = &m->joints[block->index];
            Filling f = {.d = d,
                         .block = block,
                         .rows = &d->spanning.placed[k],
                         .sign = node->body == joint->body_b ? 1.0 : -1.0};
            fill_joint(&f, joint, GAP | DIRECTION);
            largest = find_largest(d, block, largest);
        }
    }
    return largest;
}

void itm_rows_place_measures(const ItmModel* m, ItmData* d)
{
    for (int k = 0; k < m->nblock; k++) {
        const ItmRowBlock* block = &m->blocks[k];
        if (!is_joint_block(block) && !itm_block_is_open(d, block)) {
            fill_measure_block(m, d, block, 0.0, JACOBIAN);
        }
    }
}

void itm_rows_compute_reference(const ItmModel* m, const ItmData* d, double* out, double t, int order)
{
    memset(out, 0, sizeof(double) * (size_t)m->nrow);
    for (int k = 0; m->has_driven_rows && k < m->nblock; k++) {
        const ItmRowBlock* block = &m->blocks[k];
        if (block->signal != ITM_NONE) {
            ItmSignalValue s = itm_data_compute_signal(m, d, block->signal, t);
            int derivative = order - (block->is_velocity ? 1 : 0);
            out[block->row] = derivative == 0 ? s.x : derivative == 1 ? s.x_dot : s.x_ddot;
        }
    }
}

// ---------------------------------------------------------------------------- factor

// H_ij += y_i . z_j over `count` velocities, for the rows of two blocks; of a block with itself the lower half only
//   H by strides (rows, columns); Y (nf rows), Z (ns rows) row-major with ny_f, ny_s reals a row
static inline void add_products(double* restrict H, int row_stride, int column_stride, const double* restrict Y,
                                const double* restrict Z, int nf, int ns, int ny_f, int ny_s, int count, bool is_same)
{
    for (int i = 0; i < nf; i++) {
        const double* y = Y + i * ny_f;
        for (int j = 0; j < (is_same ? i + 1 : ns); j++) {
            H[i * row_stride + j * column_stride] += itm_pair_dot(y, Z + j * ny_s, count);
        }
    }
}

// The diagonal block of H, lower half: Y Y'. Sizes of a hinge between two free bodies, and in a planar four-bar, known to the compiler.
static void multiply_self(const ItmData* d, const ItmRowBlock* block, double* H)
{
    const double* Y = d->rows.Y + block->y_adr;
    int n = block->nrow, ny = block->ny;
    if (n == 5 && ny == 12) {
        add_products(H, 5, 1, Y, Y, 5, 5, 12, 12, 12, true);
    } else if (n == 2 && ny == 3) {
        add_products(H, 2, 1, Y, Y, 2, 2, 3, 3, 3, true);
    } else {
        add_products(H, n, 1, Y, Y, n, n, ny, ny, ny, true);
    }
}

// The block of H for a pair: Y_first Y_second' over the velocities that both paths share.
static void multiply_pair(const ItmModel* m, ItmData* d, const ItmBlockPair* pair)
{
    const ItmRowBlock *f = &m->blocks[pair->first], *s = &m->blocks[pair->second];
    double* H = d->rows.factor.L + pair->address;
    if (f == s) {
        multiply_self(d, f, H);
        return;
    }
    bool is_hinges = f->nrow == 5 && s->nrow == 5, is_planar = f->nrow == 2 && s->nrow == 2;
    int row_stride = pair->is_transposed ? 1 : s->nrow;
    int column_stride = pair->is_transposed ? f->nrow : 1;
    for (int r = pair->run_adr; r < pair->run_adr + pair->nrun; r++) {
        const ItmSharedRun* run = &m->runs[r];
        const double* Y = d->rows.Y + f->y_adr + run->y_first;
        const double* Z = d->rows.Y + s->y_adr + run->y_second;
        // hinges that share a free body, and anything that shares one coordinate: sizes known to the compiler
        if (is_hinges && run->count == 6) {
            add_products(H, row_stride, column_stride, Y, Z, 5, 5, f->ny, s->ny, 6, false);
        } else if (is_hinges && run->count == 1) {
            add_products(H, row_stride, column_stride, Y, Z, 5, 5, f->ny, s->ny, 1, false);
        } else if (is_planar && run->count == 1) {
            add_products(H, row_stride, column_stride, Y, Z, 2, 2, f->ny, s->ny, 1, false);
        } else {
            add_products(H, row_stride, column_stride, Y, Z, f->nrow, s->nrow, f->ny, s->ny, run->count, false);
        }
    }
}

void itm_rows_trace_path(const ItmModel* m, ItmRowBlock* block, int* path, int* parent, const int* bodies, int n)
{
    int next[ITM_BLOCK_BODIES], last[ITM_BLOCK_BODIES], npath = 0;
    for (int k = 0; k < n; k++) {
        next[k] = bodies[k];
        last[k] = ITM_NONE;
    }
    for (;;) {
        // parents have smaller numbers: the largest is always next
        int body = ITM_NONE;
        for (int k = 0; k < n; k++) {
            body = next[k] > body ? next[k] : body;
        }
        if (body == ITM_NONE) {
            break;
        }
        path[npath] = body;
        parent[npath] = ITM_NONE;
        block->ny += m->bodies[body].nv;
        for (int k = 0; k < n; k++) {
            if (next[k] == body) {
                if (last[k] != ITM_NONE) {
                    parent[last[k]] = npath;
                }
                last[k] = npath;
                next[k] = m->bodies[body].parent;
            }
        }
        npath++;
    }
    block->path = path;
    block->path_parent = parent;
    block->npath = npath;
}

double itm_rows_compute_free_mobility(const ItmModel* m, const ItmRowBlock* block, const ItmSpatial* cov)
{
    double sum = 0.0;
    for (int k = 0; k < block->nbody; k++) {
        const ItmBody* body = &m->bodies[block->body[k]];
        sum += itm_vec_dot(cov[k].lin, cov[k].lin) * body->inv_mass +
               itm_vec_dot(cov[k].ang, cov[k].ang) * body->inv_mean_inertia;
    }
    return sum;
}

// Scales of the rows of a diagonal block, and compliance on its diagonal.
static void finish_diagonal(const ItmModel* m, ItmData* d, const ItmBlockPair* pair, double relative,
                            const double* raise)
{
    const ItmRowBlock* block = &m->blocks[pair->first];
    for (int i = 0; i < block->nrow; i++) {
        double* H_ii = &d->rows.factor.L[pair->address + i * (block->nrow + 1)];
        const ItmSpatial* cov = d->rows.cov + block->cov_adr + i * block->nbody;
        double mobility = itm_rows_compute_free_mobility(m, block, cov), scale = *H_ii > mobility ? *H_ii : mobility;
        d->rows.factor.scale[block->row + i] = raise != NULL ? raise[block->row + i] * scale : scale;
        *H_ii += relative * scale + d->rows.omega[block->row + i];
    }
}

// raise: by how much the pivots that count as dependent are larger than ITM_REDUNDANCY_TOLERANCE (nrow), or NULL
static void factor(const ItmModel* m, ItmData* d, double relative, const double* raise)
{
    for (int k = 0; k < m->nblock; k++) {
        const ItmRowBlock* block = &m->blocks[k];
        double* Y = d->rows.Y + block->y_adr;
        if (itm_block_is_open(d, block)) {
            memset(Y, 0, sizeof(double) * (size_t)(block->nrow * block->ny));
        } else {
            itm_mass_half_solve(m, d, Y, block, d->rows.cov + block->cov_adr);
        }
    }
    memset(d->rows.factor.L, 0, sizeof(double) * (size_t)m->pattern.nvalue);
    for (int p = 0; p < m->npair; p++) {
        const ItmBlockPair* pair = &m->pairs[p];
        multiply_pair(m, d, pair);
        if (pair->first == pair->second) {
            finish_diagonal(m, d, pair, relative, raise);
        }
    }
    int ndependent = itm_blocks_factor(&m->pattern, &d->rows.factor, ITM_REDUNDANCY_TOLERANCE);
    d->info.nredundant = ndependent + m->nidle - itm_latch_count_open_rows(m, d);
}

void itm_rows_factor(const ItmModel* m, ItmData* d, double relative)
{
    if (d->rows.singular_share == 0.0) {
        factor(m, d, relative, NULL);
        return;
    }
    double* raise = d->rows.scratch;
    for (int i = 0; i < m->nrow; i++) {
        bool is_motion = m->blocks[m->row_block[i]].kind == ITM_BLOCK_MOTION;
        raise[i] = is_motion ? 1.0 : fmax(1.0, m->pivot_raise[i] * d->rows.singular_share / ITM_SINGULAR_SHARE);
    }
    factor(m, d, relative, raise);
}

void itm_rows_factor_step(const ItmModel* m, ItmData* d)
{
    factor(m, d, 0.0, m->pivot_raise);
}

int itm_rows_find_singular(const ItmModel* m, ItmData* d, double share)
{
    int found = ITM_NONE;
    itm_rows_factor_step(m, d);
    for (int i = 0; i < m->nrow; i++) {
        double inv = d->rows.factor.inv_diag[i];
        double pivot =
            inv > 0.0 ? ITM_SINGULAR_SHARE / (inv * inv * d->rows.factor.scale[i] * ITM_REDUNDANCY_TOLERANCE) : 0.0;
        if (pivot < share && !m->is_row_redundant[i]) {
            share = pivot;
            found = i;
        }
    }
    return found;
}

void itm_rows_factor_open(const ItmModel* m, ItmData* d)
{
    double* raise = d->rows.scratch;
    double gap = 0.0;
    for (int i = 0; i < m->nrow; i++) {
        bool is_rigid = !itm_block_is_compliant(&m->blocks[m->row_block[i]]);
        gap = is_rigid ? fmax(gap, fabs(d->rows.gap[i])) : gap;
    }
    double share = fmin(ITM_OPEN_FACTOR * gap * gap, ITM_SINGULAR_SHARE);
    for (int i = 0; i < m->nrow; i++) {
        raise[i] = m->is_row_redundant[i] ? fmax(1.0, share / ITM_REDUNDANCY_TOLERANCE) : m->pivot_raise[i];
    }
    factor(m, d, 0.0, raise);
}

void itm_rows_keep_pivots(ItmModel* m, const ItmData* d)
{
    for (int i = 0; i < m->nrow; i++) {
        // pivot / scale at the start, 0 for a row that is redundant there
        double inv = d->rows.factor.inv_diag[i];
        double share = inv > 0.0 ? fmin(1.0, 1.0 / (inv * inv * d->rows.factor.scale[i])) : 0.0;
        double raise = fmax(1.0, share * ITM_SINGULAR_SHARE / ITM_REDUNDANCY_TOLERANCE);
        m->pivot_raise[i] = m->is_in_loop[m->row_block[i]] ? raise : 1.0;
    }
}

// ---------------------------------------------------------------------------- products

void itm_rows_multiply(const ItmModel* m, ItmData* d, double* out, const double* v)
{
    itm_kinematics_compute_twists(m, d, d->accel, v);
    if (m->nidle > 0) {
        memset(out, 0, sizeof(double) * (size_t)m->nrow);
    }
    for (int k = 0; k < m->nblock; k++) {
        const ItmRowBlock* block = &m->blocks[k];
        const ItmSpatial* cov = d->rows.cov + block->cov_adr;
        for (int i = 0; i < block->nrow; i++, cov += block->nbody) {
            double sum = 0.0;
            for (int j = 0; j < block->nbody; j++) {
                sum += itm_spatial_dot(cov[j], d->accel[block->body[j]]);
            }
            for (int j = 0; j < block->ndof; j++) {
                sum += block->dof_coef[j] * v[block->dof[j]];
            }
            out[block->row + i] = itm_block_is_open(d, block) ? 0.0 : sum;
        }
    }
}

void itm_rows_add_forces(const ItmModel* m, const ItmData* d, ItmSpatial* wrench, double* tau, const double* lambda)
{
    for (int k = 0; k < m->nblock; k++) {
        const ItmRowBlock* block = &m->blocks[k];
        const ItmSpatial* cov = d->rows.cov + block->cov_adr;
        for (int i = 0; i < block->nrow; i++, cov += block->nbody) {
            double f = lambda[block->row + i];
            for (int j = 0; j < block->nbody; j++) {
                wrench[block->body[j]] = itm_spatial_axpy(f, cov[j], wrench[block->body[j]]);
            }
            for (int j = 0; j < block->ndof; j++) {
                tau[block->dof[j]] += block->dof_coef[j] * f;
            }
        }
    }
}

// out += Y y over the n velocities of one body   Y (nrow x n) in rows of ny
ITM_INLINE void gather(double* restrict out, const double* restrict Y, const double* restrict y, int nrow, int ny,
                       int n)
{
    for (int i = 0; i < nrow; i++) {
        out[i] += itm_rows_dot(Y + i * ny, y, n);
    }
}

// y += sign Y' x over the n velocities of one body
ITM_INLINE void spread(double* restrict y, const double* restrict Y, const double* restrict x, double sign, int nrow,
                       int ny, int n)
{
    for (int i = 0; i < nrow; i++) {
        double factor = sign * x[i];
        for (int k = 0; k < n; k++) {
            y[k] += factor * Y[i * ny + k];
        }
    }
}

// Sizes of a hinge between free bodies, and in a planar loop of hinges, are known to the compiler.
ITM_INLINE void gather_body(double* out, const double* Y, const double* y, const ItmRowBlock* block, int nv)
{
    if (block->nrow == 5 && nv == 6) {
        gather(out, Y, y, 5, block->ny, 6);
    } else if (block->nrow == 2 && nv == 1) {
        gather(out, Y, y, 2, block->ny, 1);
    } else {
        gather(out, Y, y, block->nrow, block->ny, nv);
    }
}

void itm_rows_gather(const ItmModel* m, const ItmData* d, double* out, const double* y)
{
    memset(out, 0, sizeof(double) * (size_t)m->nrow);
    for (int k = 0; k < m->nblock; k++) {
        const ItmRowBlock* block = &m->blocks[k];
        const double* Y = d->rows.Y + block->y_adr;
        for (int j = 0; j < block->npath; j++) {
            const ItmBody* body = &m->bodies[block->path[j]];
            gather_body(out + block->row, Y, y + body->v_adr, block, body->nv);
            Y += body->nv;
        }
    }
}

void itm_rows_gather_path(const ItmModel* m, const ItmData* d, double* out, const double* y, const ItmRowBlock* path)
{
    memset(out, 0, sizeof(double) * (size_t)m->nrow);
    for (int j = 0; j < path->npath; j++) {
        int id = path->path[j];
        const ItmBody* body = &m->bodies[id];
        for (int e = m->body_block_adr[id]; e < m->body_block_adr[id + 1]; e++) {
            const ItmRowBlock* block = &m->blocks[m->body_block[e]];
            const double* Y = d->rows.Y + block->y_adr + m->body_block_y[e];
            gather_body(out + block->row, Y, y + body->v_adr, block, body->nv);
        }
    }
}

// Same sizes.
void itm_rows_spread(const ItmModel* m, const ItmData* d, double* y, const double* x, double sign)
{
    for (int k = 0; k < m->nblock; k++) {
        const ItmRowBlock* block = &m->blocks[k];
        const double* Y = d->rows.Y + block->y_adr;
        for (int j = 0; j < block->npath; j++) {
            const ItmBody* body = &m->bodies[block->path[j]];
            if (block->nrow == 5 && body->nv == 6) {
                spread(y + body->v_adr, Y, x + block->row, sign, 5, block->ny, 6);
            } else if (block->nrow == 2 && body->nv == 1) {
                spread(y + body->v_adr, Y, x + block->row, sign, 2, block->ny, 1);
            } else {
                spread(y + body->v_adr, Y, x + block->row, sign, block->nrow, block->ny, body->nv);
            }
            Y += body->nv;
        }
    }
}

void itm_rows_apply(const ItmModel* m, ItmData* d, double* v, const double* lambda)
{
    // M^-1 A' lambda = L^-T (Y' lambda)
    memset(d->mass.y, 0, sizeof(double) * (size_t)m->nv);
    itm_rows_spread(m, d, d->mass.y, lambda, 1.0);
    itm_mass_solve_upper(m, d, d->x4);
    for (int i = 0; i < m->nv; i++) {
        v[i] += d->x4[i];
    }
}

void itm_rows_compute_compliant_forces(const ItmModel* m, const ItmData* d, double* lambda)
{
    for (int k = 0; k < m->nblock; k++) {
        const ItmRowBlock* block = &m->blocks[k];
        for (int i = block->row; i < block->row + block->nrow; i++) {
            lambda[i] = -block->stiffness * d->rows.gap[i] - block->damping * d->rows.rate[i];
        }
    }
}

void itm_rows_add_damper_power(const ItmModel* m, ItmData* d)
{
    for (int k = 0; m->has_compliant_rows && k < m->nblock; k++) {
        const ItmRowBlock* block = &m->blocks[k];
        for (int i = block->row; block->damping != 0.0 && i < block->row + block->nrow; i++) {
            d->energy.power[ITM_LEDGER_DISSIPATED] += block->damping * d->rows.rate[i] * d->rows.rate[i];
        }
    }
}
