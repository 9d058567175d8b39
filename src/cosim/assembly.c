// Mechanisms that frame bonds connect.
//
// Exchange of impulses: the interface models of all, each made at the middle of the step, are joined (src/rim/join.h) and take the
// micro steps together; then every mechanism takes over the impulses and moments at its frames in one step H. Where a model is smooth,
// its partners take it as smooth and the mechanism itself keeps its contacts: each mechanism takes the micro steps in a view of its own,
// with its own contacts and the others' models. Exchange hold [nonsmooth-rim, section IV; flexible-rim, section II]: every
// mechanism takes its own steps h, each solved together with the interface models of the others as they were at the communication
// point. In views the two sides of a frame find impulses of their own, which agree as far as the models do.
#include "cosim/builder.h"
#include "cosim/cosim.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/guard.h"
#include "base/union_find.h"
#include "math/vec.h"
#include "rim/contacts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REFUSE(field, ...) itm_error_set(error, ITM_ERR_INPUT, "itm_cosim_build", field, __VA_ARGS__)
#define MEETING_TOLERANCE 1e-6  // m: how far frames may be apart at the start
#define MOST_MICRO_STEPS 1000000L

static ItmStatus refuse_memory(ItmError* error)
{
    return itm_error_set(error, ITM_ERR_MEMORY, "itm_cosim_build", NULL, "out of memory for joined mechanisms");
}

// ---------------------------------------------------------------------------- which

static const ItmInterface* get_end(const ItmCosim* x, const ItmFrameBond* bond, bool is_a)
{
    return &x->interfaces[is_a ? bond->a : bond->b];
}

static int find_place(const ItmAssembly* assembly, int mechanism)
{
    int i = 0;
    while (assembly->mechanisms[i] != mechanism) {
        i++;
    }
    return i;
}

static void add_links(const ItmCosim* x, ItmAssembly* assembly, ItmFrameBond* bond)
{
    const ItmInterface *a = get_end(x, bond, true), *b = get_end(x, bond, false);
    bond->assembly = (int)(assembly - x->assemblies);
    bond->link = assembly->nlink;
    for (int i = 0; i < bond->n; i++) {
        assembly->links[assembly->nlink++] = (ItmRimLink){.a = find_place(assembly, a->mechanism),
                                                          .row_a = a->first + i,
                                                          .b = find_place(assembly, b->mechanism),
                                                          .row_b = b->first + i,
                                                          .turn = {ITM_NONE, ITM_NONE}};
    }
}

// All bonds of an assembly exchange alike.
static ItmStatus choose_exchange(ItmCosim* x, ItmAssembly* assembly, ItmError* error)
{
    const ItmFrameBond* first = NULL;
    for (int i = 0; i < x->nframe_bond; i++) {
        const ItmFrameBond* bond = &x->frame_bonds[i];
        if (&x->assemblies[bond->assembly] != assembly) {
            continue;
        }
        first = first == NULL ? bond : first;
        if (bond->options.exchange != first->options.exchange) {
            return REFUSE("exchange", "frame bonds '%s' and '%s' join one chain of mechanisms and must exchange alike",
                          first->name, bond->name);
        }
        bool is_smooth = bond->options.coupling == ITM_COUPLING_RIM;
        for (int k = 0; k < 2; k++) {
            ItmMechanism* part = &x->mechanisms[get_end(x, bond, k == 0)->mechanism];
            part->is_smooth = part->is_smooth && is_smooth;
        }
    }
    assembly->is_held = first->options.exchange == ITM_EXCHANGE_HOLD;
    return ITM_OK;
}

// Micro steps from the mechanisms' own steps: all of them coincide.
static ItmStatus choose_micro_steps(const ItmCosim* x, ItmAssembly* assembly, ItmError* error)
{
    long K = 1;
    for (int i = 0; i < assembly->nmechanism; i++) {
        const ItmMechanism* part = &x->mechanisms[assembly->mechanisms[i]];
        bool has_own = part->own_step > 0.0 && !x->options.is_monolithic;
        long n = has_own ? itm_cosim_count_whole(x->step, part->own_step) : 1;
        if (n == 0) {
            return REFUSE("macro_step", "macro_step %g s is not a multiple of the step %g s of mechanism '%s'", x->step,
                          part->own_step, part->name);
        }
        K = itm_cosim_count_common(K, n);
        if (K > MOST_MICRO_STEPS) {
            return REFUSE("step", "the steps of the mechanisms that frame bonds join have no common measure above %g s",
                          x->step / (double)MOST_MICRO_STEPS);
        }
    }
    assembly->K = (int)K;
    return ITM_OK;
}

ItmStatus itm_assembly_fit_steps(ItmCosim* x, ItmError* error)
{
    ItmStatus status = ITM_OK;
    for (int i = 0; i < x->nassembly && status == ITM_OK; i++) {
        status = choose_micro_steps(x, &x->assemblies[i], error);
    }
    return status;
}

static ItmStatus fill_assembly(ItmCosim* x, int* root, int set, ItmError* error)
{
    ItmAssembly* assembly = &x->assemblies[x->nassembly];
    int nlink = 0;
    for (int i = 0; i < x->nframe_bond; i++) {
        nlink += x->frame_bonds[i].n;
    }
    x->nassembly++;
    assembly->mechanisms = calloc((size_t)x->nmechanism + 1, sizeof *assembly->mechanisms);
    assembly->links = calloc((size_t)nlink + 1, sizeof *assembly->links);
    if (assembly->mechanisms == NULL || assembly->links == NULL) {
        return refuse_memory(error);
    }
    for (int i = 0; i < x->nmechanism; i++) {
        if (itm_union_find(root, i) == set) {
            x->mechanisms[i].assembly = x->nassembly - 1;
            x->mechanisms[i].is_smooth = true;
            assembly->mechanisms[assembly->nmechanism++] = i;
        }
    }
    for (int i = 0; i < x->nframe_bond; i++) {
        if (itm_union_find(root, get_end(x, &x->frame_bonds[i], true)->mechanism) == set) {
            add_links(x, assembly, &x->frame_bonds[i]);
        }
    }
    return choose_exchange(x, assembly, error);
}

ItmStatus itm_assembly_group_all(ItmCosim* x, ItmError* error)
{
    int* root = calloc((size_t)x->nmechanism + 1, sizeof *root);
    bool* is_joined = calloc((size_t)x->nmechanism + 1, sizeof *is_joined);
    ItmStatus status = root != NULL && is_joined != NULL ? ITM_OK : refuse_memory(error);
    for (int i = 0; i < x->nmechanism && status == ITM_OK; i++) {
        root[i] = i;
        x->mechanisms[i].assembly = ITM_NONE;
    }
    for (int i = 0; i < x->nframe_bond && status == ITM_OK; i++) {
        int first = get_end(x, &x->frame_bonds[i], true)->mechanism,
            second = get_end(x, &x->frame_bonds[i], false)->mechanism;
        itm_union_join(root, first, second);
        is_joined[first] = is_joined[second] = true;
    }
    for (int i = 0; i < x->nmechanism && status == ITM_OK; i++) {
        if (is_joined[i] && itm_union_find(root, i) == i) {
            status = fill_assembly(x, root, i, error);
        }
    }
    free(root);
    free(is_joined);
    return status == ITM_OK ? itm_assembly_fit_steps(x, error) : status;
}

// ---------------------------------------------------------------------------- memory

static bool is_smooth(const ItmCosim* x, const ItmAssembly* assembly, int i)
{
    return x->mechanisms[assembly->mechanisms[i]].is_smooth;
}

static bool needs_views(const ItmCosim* x, const ItmAssembly* assembly)
{
    bool is_any = assembly->is_held;
    for (int i = 0; i < assembly->nmechanism; i++) {
        is_any = is_any || is_smooth(x, assembly, i);
    }
    return is_any;
}

// A copy of a model, its lines known: before its first use they are counted.
static void lay_out_copy(ItmRim* copy, ItmArena* arena, const ItmRim* of)
{
    ItmRim measuring = {0};
    itm_rim_lay_out_copy(copy != NULL ? copy : &measuring, arena, of);
    if (copy != NULL) {
        memcpy(copy->actuator, of->actuator, sizeof(int) * (size_t)of->n);
    }
}

// The bonds of line actuators of all its mechanisms, in the order of the joined model.
static void lay_out(ItmCosim* x, ItmAssembly* assembly, ItmRim* const* rims)
{
    ItmArena* arena = &assembly->arena;
    ItmRim** seen = ITM_TAKE(arena, ItmRim*, assembly->nmechanism);
    assembly->smooth = ITM_TAKE(arena, ItmRim, assembly->nmechanism);
    for (int i = 0; i < assembly->nmechanism; i++) {
        if (is_smooth(x, assembly, i)) {
            lay_out_copy(assembly->smooth != NULL ? &assembly->smooth[i] : NULL, arena, rims[i]);
        }
        if (seen != NULL) {
            seen[i] = is_smooth(x, assembly, i) ? &assembly->smooth[i] : rims[i];
        }
    }
    itm_rim_join_lay_out(&assembly->join, arena, seen != NULL ? seen : rims, assembly->nmechanism, assembly->links,
                         assembly->nlink);
    int n = assembly->join.nline;
    ItmInterfaceModel* interface_model = &assembly->interface_model;
    interface_model->n = n;
    interface_model->bonds = ITM_TAKE(arena, int, n);
    interface_model->lambda = ITM_TAKE(arena, double, n);
    interface_model->w_end = ITM_TAKE(arena, double, n);
    for (int j = 0; j < n && arena->block != NULL; j++) {
        const ItmMechanism* part = &x->mechanisms[assembly->mechanisms[assembly->join.line_rim[j]]];
        interface_model->bonds[j] = part->bonds[assembly->join.line_row[j]];
    }
}

static void lay_out_view(ItmPeerModels* view, const ItmAssembly* assembly, ItmRim* const* rims, int own)
{
    ItmRim** seen = ITM_TAKE(&view->arena, ItmRim*, assembly->nmechanism);
    view->others = ITM_TAKE(&view->arena, ItmRim, assembly->nmechanism);
    for (int i = 0; i < assembly->nmechanism; i++) {
        lay_out_copy(view->others != NULL ? &view->others[i] : NULL, &view->arena, rims[i]);
        if (seen != NULL) {
            seen[i] = i == own ? rims[i] : &view->others[i];
        }
    }
    itm_rim_join_lay_out(&view->join, &view->arena, seen != NULL ? seen : rims, assembly->nmechanism, assembly->links,
                         assembly->nlink);
    view->lambda = ITM_TAKE(&view->arena, double, view->join.nline);
}

static ItmStatus create_views(ItmAssembly* assembly, ItmRim* const* rims, ItmError* error)
{
    assembly->views = calloc((size_t)assembly->nmechanism, sizeof *assembly->views);
    if (assembly->views == NULL) {
        return refuse_memory(error);
    }
    ItmStatus status = ITM_OK;
    for (int i = 0; i < assembly->nmechanism && status == ITM_OK; i++) {
        ItmPeerModels* view = &assembly->views[i];
        lay_out_view(view, assembly, rims, i);
        if (itm_arena_allocate(&view->arena) != 0) {
            return refuse_memory(error);
        }
        lay_out_view(view, assembly, rims, i);
        status = itm_rim_join_create_workspace(&view->join, error);
    }
    return status;
}

// Micro steps and rule of the joined model from those of the subsystems at its line actuators.
static void fit_interface_model(const ItmCosim* x, ItmAssembly* assembly)
{
    ItmInterfaceModel* interface_model = &assembly->interface_model;
    interface_model->K = 0;
    interface_model->use_heun = true;
    for (int j = 0; j < interface_model->n; j++) {
        const ItmBond* bond = &x->bonds[interface_model->bonds[j]];
        if (itm_cosim_is_rim(bond->options.coupling)) {
            const ItmMechanism* part = &x->mechanisms[bond->mechanism];
            interface_model->use_heun = interface_model->use_heun && part->use_heun;
            interface_model->K =
                interface_model->K == 0 ? part->K : (int)itm_cosim_count_common(interface_model->K, part->K);
        }
    }
    interface_model->K = interface_model->K == 0 ? assembly->K : interface_model->K;
    interface_model->last = interface_model->K;
}

void itm_assembly_fit_models(ItmCosim* x)
{
    for (int i = 0; i < x->nassembly; i++) {
        fit_interface_model(x, &x->assemblies[i]);
    }
}

static ItmStatus create_assembly(ItmCosim* x, ItmAssembly* assembly, ItmRim** rims, ItmError* error)
{
    for (int i = 0; i < assembly->nmechanism; i++) {
        rims[i] = &x->mechanisms[assembly->mechanisms[i]].rim;
    }
    lay_out(x, assembly, rims);
    if (itm_arena_allocate(&assembly->arena) != 0) {
        return refuse_memory(error);
    }
    lay_out(x, assembly, rims);
    ItmInterfaceModel* interface_model = &assembly->interface_model;
    interface_model->name = x->mechanisms[assembly->mechanisms[0]].name;
    interface_model->rim = &assembly->join.rim;
    interface_model->assembly = (int)(assembly - x->assemblies);
    fit_interface_model(x, assembly);
    ItmStatus status = itm_rim_join_create_workspace(&assembly->join, error);
    return status == ITM_OK && needs_views(x, assembly) ? create_views(assembly, rims, error) : status;
}

// Orientations at the start are those that stay; points must coincide.
static ItmStatus meet(ItmCosim* x, ItmFrameBond* bond, ItmError* error)
{
    const ItmInterface *a = get_end(x, bond, true), *b = get_end(x, bond, false);
    const ItmMechanism *part_a = &x->mechanisms[a->mechanism], *part_b = &x->mechanisms[b->mechanism];
    ItmMat3 R_a = part_a->data->R[a->frame.body], R_b = part_b->data->R[b->frame.body];
    bond->turn = itm_mat_t_mul(&R_a, &R_b);
    if (!(bond->drift <= MEETING_TOLERANCE)) {
        return REFUSE(bond->name,
                      "interfaces '%s' of '%s' and '%s' of '%s' do not coincide at the start: their points are %.6g m "
                      "apart along "
                      "the directions of the bond",
                      a->name, part_a->name, b->name, part_b->name, bond->drift);
    }
    return ITM_OK;
}

ItmStatus itm_assembly_create_all(ItmCosim* x, ItmError* error)
{
    ItmRim** rims = calloc((size_t)x->nmechanism + 1, sizeof *rims);
    ItmStatus status = rims != NULL ? ITM_OK : refuse_memory(error);
    for (int i = 0; i < x->nassembly && status == ITM_OK; i++) {
        status = create_assembly(x, &x->assemblies[i], rims, error);
    }
    free(rims);
    if (status == ITM_OK) {
        itm_assembly_arrive_all(x);
    }
    for (int i = 0; i < x->nframe_bond && status == ITM_OK; i++) {
        status = meet(x, &x->frame_bonds[i], error);
    }
    return status;
}

void itm_assembly_destroy_all(ItmCosim* x)
{
    for (int i = 0; i < x->nassembly; i++) {
        ItmAssembly* assembly = &x->assemblies[i];
        for (int k = 0; k < assembly->nmechanism && assembly->views != NULL; k++) {
            itm_rim_join_destroy_workspace(&assembly->views[k].join);
            itm_arena_free(&assembly->views[k].arena);
        }
        free(assembly->views);
        itm_rim_join_destroy_workspace(&assembly->join);
        itm_arena_free(&assembly->arena);
        free(assembly->mechanisms);
        free(assembly->links);
    }
    free(x->assemblies);
}

// ---------------------------------------------------------------------------- the interface

// Rotation vector of R (world axes), small or not.
static ItmVec3 rotation_vector(const ItmMat3* R)
{
    ItmQuat q = itm_vec_quat_from_mat(R);
    double sign = q.w < 0.0 ? -1.0 : 1.0, sine = sqrt(q.x * q.x + q.y * q.y + q.z * q.z);
    double scale = sine > 1e-12 ? 2.0 * atan2(sine, fabs(q.w)) / sine : 2.0;
    return itm_vec_scale(sign * scale, itm_vec(q.x, q.y, q.z));
}

// From the point of b to that of a, in the positions that the data objects have just now.
static ItmVec3 compute_distance(const ItmCosim* x, const ItmFrameBond* bond)
{
    ItmVec3 at[2];
    for (int k = 0; k < 2; k++) {
        const ItmInterface* end = get_end(x, bond, k == 0);
        const ItmData* d = x->mechanisms[end->mechanism].data;
        at[k] = itm_vec_add(d->x[end->frame.body], itm_mat_mul_vec(&d->R[end->frame.body], end->frame.point));
    }
    return itm_vec_sub(at[0], at[1]);
}

// Gaps of a bond, a less b, by direction in world axes.
static void compute_gaps(const ItmCosim* x, const ItmFrameBond* bond, double gap[ITM_DIRECTION_COUNT])
{
    const ItmInterface *a = get_end(x, bond, true), *b = get_end(x, bond, false);
    const ItmData *d_a = x->mechanisms[a->mechanism].data, *d_b = x->mechanisms[b->mechanism].data;
    int i = a->frame.body, j = b->frame.body;
    ItmVec3 d = compute_distance(x, bond);
    // R_a turn R_b' is how far a has turned beyond b
    ItmMat3 wanted = itm_mat_mul(&d_a->R[i], &bond->turn);
    ItmMat3 R_b_t = itm_mat_transpose(&d_b->R[j]);
    ItmMat3 beyond = itm_mat_mul(&wanted, &R_b_t);
    ItmVec3 e = rotation_vector(&beyond);
    double all[ITM_DIRECTION_COUNT] = {d.x, d.y, d.z, e.x, e.y, e.z};
    memcpy(gap, all, sizeof all);
}

// Length of those of the directions first ... first + 2 that the bond holds.
static double measure_part(unsigned directions, const double* value, int first)
{
    double sum = 0.0;
    for (int k = first; k < first + 3; k++) {
        sum += directions >> k & 1u ? value[k] * value[k] : 0.0;
    }
    return sqrt(sum);
}

static void measure_bond(ItmCosim* x, ItmFrameBond* bond)
{
    const ItmInterface *a = get_end(x, bond, true), *b = get_end(x, bond, false);
    const double *w_a = x->mechanisms[a->mechanism].rim.w + a->first,
                 *w_b = x->mechanisms[b->mechanism].rim.w + b->first;
    double gap[ITM_DIRECTION_COUNT], slip[ITM_DIRECTION_COUNT] = {0.0};
    double* link = x->assemblies[bond->assembly].join.gap + bond->link;
    compute_gaps(x, bond, gap);
    for (int k = 0, i = 0; k < ITM_DIRECTION_COUNT; k++) {
        if (a->directions >> k & 1u) {
            slip[k] = w_a[i] - w_b[i];
            link[i++] = gap[k];
        }
    }
    bond->drift = measure_part(a->directions, gap, ITM_TX);
    bond->angle = measure_part(a->directions, gap, ITM_RX);
    bond->slip = measure_part(a->directions, slip, ITM_TX);
}

void itm_assembly_measure_all(ItmCosim* x)
{
    for (int i = 0; i < x->nframe_bond; i++) {
        if (itm_ranks_is_own(x, x->mechanisms[get_end(x, &x->frame_bonds[i], true)->mechanism].rank)) {
            measure_bond(x, &x->frame_bonds[i]);
        }
    }
}

void itm_assembly_arrive_all(ItmCosim* x)
{
    for (int i = 0; i < x->nmechanism; i++) {
        ItmMechanism* part = &x->mechanisms[i];
        if (part->assembly != ITM_NONE && itm_ranks_is_own(x, part->rank)) {
            itm_data_refresh(part->model, part->data);
            itm_rim_measure(part->model, part->data, &part->rim);
        }
    }
    itm_assembly_measure_all(x);
}

// ---------------------------------------------------------------------------- exchange of impulses

// Let the translations of side b be those of the point of a, (v + w x d)_k = v_k + d_l w_m - d_m w_l, where all rotations are rows.
static void set_levers(const ItmCosim* x, ItmAssembly* assembly)
{
    for (int i = 0; i < x->nframe_bond; i++) {
        const ItmFrameBond* bond = &x->frame_bonds[i];
        if (&x->assemblies[bond->assembly] != assembly || bond->n < ITM_DIRECTION_COUNT) {
            continue;
        }
        ItmVec3 distance = compute_distance(x, bond);
        const double d[3] = {distance.x, distance.y, distance.z};
        int turns = get_end(x, bond, false)->first + ITM_RX;
        for (int k = 0; k < 3; k++) {
            ItmRimLink* link = &assembly->join.links[bond->link + k];
            int l = (k + 1) % 3, m = (k + 2) % 3;
            link->turn[0] = turns + l;
            link->lever[0] = d[m];
            link->turn[1] = turns + m;
            link->lever[1] = -d[l];
        }
    }
}

static void note_rank(ItmCosim* x, const ItmAssembly* assembly, bool has_lost)
{
    for (int i = 0; i < assembly->nmechanism && has_lost; i++) {
        *x->mechanisms[assembly->mechanisms[i]].nlost += 1.0;
    }
}

ItmStatus itm_assembly_model_begin(ItmCosim* x, ItmInterfaceModel* interface_model)
{
    if (interface_model->assembly == ITM_NONE) {
        return itm_rim_begin(interface_model->rim, interface_model->last - interface_model->first,
                             interface_model->use_heun);
    }
    ItmAssembly* assembly = &x->assemblies[interface_model->assembly];
    set_levers(x, assembly);
    for (int i = 0; i < assembly->nmechanism; i++) {
        if (is_smooth(x, assembly, i)) {
            itm_rim_copy_smooth(&assembly->smooth[i], &x->mechanisms[assembly->mechanisms[i]].rim);
        }
    }
    ItmStatus status = itm_rim_join_begin(&assembly->join, interface_model->K, interface_model->use_heun);
    note_rank(x, assembly, status == ITM_OK && assembly->join.rank < assembly->nlink);
    return status;
}

// Impulses of the links on mechanism a of each bond, added to the memories. mechanism: only of bonds with it as a, or ITM_NONE.
static void remember(ItmCosim* x, const ItmAssembly* assembly, const double* P0, int mechanism)
{
    for (int i = 0; i < x->nframe_bond; i++) {
        ItmFrameBond* bond = &x->frame_bonds[i];
        const ItmInterface* a = get_end(x, bond, true);
        unsigned directions = a->directions;
        bool is_asked =
            &x->assemblies[bond->assembly] == assembly && (mechanism == ITM_NONE || mechanism == a->mechanism);
        for (int k = 0, row = 0; k < ITM_DIRECTION_COUNT && is_asked; k++) {
            if (directions >> k & 1u) {
                bond->memory->impulse[k] += P0[bond->link + row++];
            }
        }
    }
}

static void forget(ItmCosim* x, const ItmAssembly* assembly)
{
    for (int i = 0; i < x->nframe_bond; i++) {
        if (&x->assemblies[x->frame_bonds[i].assembly] == assembly) {
            memset(x->frame_bonds[i].memory->impulse, 0, sizeof x->frame_bonds[i].memory->impulse);
        }
    }
}

// What mechanism `own` sees of the others, before any of them moves: smooth models where they are smooth.
static void see_others(const ItmCosim* x, const ItmAssembly* assembly, ItmPeerModels* view, int own)
{
    for (int k = 0; k < assembly->nmechanism; k++) {
        const ItmRim* rim = &x->mechanisms[assembly->mechanisms[k]].rim;
        if (k != own) {
            (is_smooth(x, assembly, k) ? itm_rim_copy_smooth : itm_rim_copy)(&view->others[k], rim);
        }
    }
}

// Line actuators have the mean of the forces that subsystems have found with the joined model while the view takes its micro steps, and
// their impulses, moments, works and lengths at its end.
static void copy_lines(ItmRim* to, const ItmRim* from)
{
    size_t size = sizeof(double) * (size_t)from->n;
    memcpy(to->P0, from->P0, size);
    memcpy(to->P1, from->P1, size);
    memcpy(to->work, from->work, size);
    memcpy(to->s, from->s, size);
}

// The micro steps of one mechanism with its own contacts and the others' models; it takes over their impulses afterwards.
static ItmStatus run_view(ItmCosim* x, ItmAssembly* assembly, int own)
{
    ItmPeerModels* view = &assembly->views[own];
    const ItmInterfaceModel* interface_model = &assembly->interface_model;
    see_others(x, assembly, view, own);
    memcpy(view->join.links, assembly->join.links, sizeof(ItmRimLink) * (size_t)assembly->nlink);
    memcpy(view->join.gap, assembly->join.gap, sizeof(double) * (size_t)assembly->nlink);
    for (int j = 0; j < view->join.nline; j++) {
        view->lambda[j] = assembly->join.rim.P0[j] / x->step;
    }
    ItmStatus status = itm_rim_join_begin(&view->join, interface_model->K, interface_model->use_heun);
    for (int k = 0; k < interface_model->K && status == ITM_OK; k++) {
        status = itm_rim_advance(&view->join.rim, x->step / interface_model->K, view->lambda);
    }
    if (status != ITM_OK) {
        assembly->join.rim.data->error = view->join.rim.data->error;
        return status;
    }
    copy_lines(&view->join.rim, &assembly->join.rim);
    return ITM_OK;
}

// Views are run before any of them ends: the end of one writes to the model of its mechanism, which others look at.
static ItmStatus run_views(ItmCosim* x, ItmAssembly* assembly)
{
    ItmStatus status = ITM_OK;
    for (int i = 0; i < assembly->nmechanism && status == ITM_OK; i++) {
        status = run_view(x, assembly, i);
    }
    for (int i = 0; i < assembly->nmechanism && status == ITM_OK; i++) {
        itm_rim_join_end(&assembly->views[i].join);
        remember(x, assembly, assembly->views[i].join.P0, assembly->mechanisms[i]);
    }
    return status;
}

ItmStatus itm_assembly_model_end(ItmCosim* x, ItmInterfaceModel* interface_model)
{
    if (interface_model->assembly == ITM_NONE) {
        return ITM_OK;
    }
    ItmAssembly* assembly = &x->assemblies[interface_model->assembly];
    forget(x, assembly);
    if (assembly->views != NULL) {
        itm_rim_contacts_end(&assembly->join.rim);
        return run_views(x, assembly);
    }
    itm_rim_join_end(&assembly->join);
    remember(x, assembly, assembly->join.P0, ITM_NONE);
    return ITM_OK;
}

static ItmStatus run_joined(ItmCosim* x, ItmAssembly* assembly)
{
    ItmInterfaceModel* interface_model = &assembly->interface_model;
    for (int j = 0; j < interface_model->n; j++) {
        interface_model->lambda[j] = x->bonds[interface_model->bonds[j]].held;
    }
    ItmStatus status = itm_assembly_model_begin(x, interface_model);
    for (int k = 0; k < interface_model->K && status == ITM_OK; k++) {
        status = itm_rim_advance(interface_model->rim, x->step / interface_model->K, interface_model->lambda);
    }
    return status == ITM_OK ? itm_assembly_model_end(x, interface_model) : status;
}

// ---------------------------------------------------------------------------- exchange hold

// Steps with effective stiffness and damping of the others' models, where they have them.
static ItmStatus stiffen_others(const ItmAssembly* assembly, ItmPeerModels* view, int own, double h)
{
    ItmStatus status = ITM_OK;
    for (int i = 0; i < assembly->nmechanism && status == ITM_OK; i++) {
        if (i != own && view->others[i].effective != NULL) {
            status = itm_effective_begin_step(&view->others[i], h);
        }
    }
    return status;
}

// One own step of a mechanism with the others' interface models.
static ItmStatus step_with_others(ItmAssembly* assembly, ItmMechanism* part, ItmPeerModels* view, int own, double h)
{
    itm_data_refresh(part->model, part->data);
    itm_rim_measure(part->model, part->data, &part->rim);
    ItmStatus status =
        itm_rim_extract(part->model, part->data, &part->rim, itm_data_get_time(part->data), h, 0.0, ITM_RIM_SOLVE);
    for (int i = 0; i < assembly->nmechanism; i++) {
        if (i != own) {
            view->others[i].H = h;
        }
    }
    if (status == ITM_OK) {
        status = stiffen_others(assembly, view, own, h);
    }
    if (status == ITM_OK) {
        status = itm_rim_join_begin(&view->join, 1, false);
    }
    if (status == ITM_OK) {
        status = itm_rim_advance(&view->join.rim, h, assembly->interface_model.lambda);
        if (status != ITM_OK) {
            part->data->error = view->join.rim.data->error;
        }
    }
    if (status == ITM_OK) {
        itm_rim_join_end(&view->join);
        for (int i = 0; i < assembly->nmechanism; i++) {
            if (i != own && view->others[i].effective != NULL) {
                itm_effective_end_step(&view->others[i]);
            }
        }
        status = itm_rim_take_over(part->model, part->data, &part->rim);
        itm_mechanism_count(part);
    }
    return status;
}

static ItmStatus run_held(ItmCosim* x, ItmAssembly* assembly)
{
    for (int i = 0; i < assembly->nmechanism; i++) {
        see_others(x, assembly, &assembly->views[i], i);
    }
    forget(x, assembly);
    bool has_lost = false;
    for (int i = 0; i < assembly->nmechanism; i++) {
        ItmMechanism* part = &x->mechanisms[assembly->mechanisms[i]];
        ItmPeerModels* view = &assembly->views[i];
        for (int k = 0; k < assembly->nlink; k++) {
            view->join.gap[k] = assembly->join.gap[k] / part->nsub;
        }
        for (int k = 0; k < part->nsub; k++) {
            ItmStatus status = step_with_others(assembly, part, view, i, x->step / part->nsub);
            if (status != ITM_OK) {
                itm_mechanism_note_failure(part, status);
                assembly->error = part->error;
                return status;
            }
            has_lost = has_lost || view->join.rank < assembly->nlink;
            remember(x, assembly, view->join.P0, assembly->mechanisms[i]);
        }
    }
    note_rank(x, assembly, has_lost);
    return ITM_OK;
}

// ---------------------------------------------------------------------------- a macro step

void itm_assembly_run(ItmCosim* x, ItmAssembly* assembly)
{
    double start = itm_clock();
    if (assembly->is_held) {
        assembly->status = run_held(x, assembly);
    } else {
        assembly->status = run_joined(x, assembly);
        if (assembly->status != ITM_OK) {
            const ItmError* cause = &assembly->join.rim.data->error;
            itm_error_set(&assembly->error, assembly->status, "itm_cosim_step", cause->field,
                          "interface model of '%s': %s", assembly->interface_model.name, cause->message);
        }
    }
    assembly->cost += itm_clock() - start;
}

// ---------------------------------------------------------------------------- reading

int itm_assembly_get_count(const ItmCosim* x)
{
    ITM_GUARD(x != NULL, 0);
    return x->nassembly;
}

ItmAssemblyInfo itm_assembly_get_info(const ItmCosim* x, int assembly)
{
    ITM_GUARD(x != NULL, (ItmAssemblyInfo){0});
    if (assembly < 0 || assembly >= x->nassembly) {
        return (ItmAssemblyInfo){0};
    }
    const ItmAssembly* it = &x->assemblies[assembly];
    int rank = it->is_held ? it->views[0].join.rank : it->join.rank;
    return (ItmAssemblyInfo){it->nmechanism, it->mechanisms, it->nlink, it->nlink - rank};
}
