// Flexible bodies of a model: their tables, and a node wherever something holds on to them.
#include "multibody/compile.h"

#include "base/assert.h"
#include "base/error.h"
#include "multibody/moments.h"
#include "multibody/picture.h"

#include <stdio.h>
#include <string.h>

// ---------------------------------------------------------------------------- nodes

// A walk over everything that is placed on bodies.
typedef struct Visitor {
    ItmModel* m;
    const ItmModelBuilder* b;
    ItmError* error;
    ItmStatus status;
} Visitor;

static int flexible_of(const ItmModelBuilder* b, int body)
{
    for (int j = 0; j < b->elastics.count; j++) {
        if (b->elastics.items[j]->body == body) {
            return j;
        }
    }
    return ITM_NONE;
}

static bool is_same(ItmVec3 a, ItmVec3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

static int find_node(const ItmModel* m, int flexible, ItmVec3 origin)
{
    for (int i = 0; i < m->nnode; i++) {
        if (m->nodes[i].flexible == flexible && is_same(m->nodes[i].origin, origin)) {
            return i;
        }
    }
    return ITM_NONE;
}

// Shapes at a new node.
static ItmStatus make_node(Visitor* v, int flexible, const ItmElasticSite* site)
{
    ItmModel* m = v->m;
    const ItmElastic* e = v->b->elastics.items[flexible];
    size_t n = (size_t)e->n;
    ItmSpatial* shape = itm_model_take(m, n, sizeof *shape);
    double* gamma = e->is_stiffening ? itm_model_take(m, n * n, sizeof(double)) : NULL;
    if (shape == NULL || (e->is_stiffening && gamma == NULL)) {
        return ITM_ERR_MEMORY;
    }
    m->nodes[m->nnode++] = (ItmFlexNode){
        .flexible = flexible,
        .body = ITM_NONE,
        .origin = site->origin,
        .s = itm_vec_sub(site->origin, e->com),
        .shape = shape,
        .gamma = gamma,
        .S_adr = m->nnode_S,
    };
    m->nnode_S += e->n;
    return itm_elastic_compute_shape(e, shape, gamma, site);
}

// Something named `what` holds on to a point of a body. is_named: the point itself has that name and needs a node.
static void visit(Visitor* v, int body, ItmVec3 point, const char* what, bool is_named)
{
    int flexible = flexible_of(v->b, body);
    if (v->status != ITM_OK || flexible == ITM_NONE) {
        return;
    }
    ItmElasticSite site;
    ItmError why = {0};
    v->status = itm_elastic_find_site(&site, v->b->elastics.items[flexible], point, &why);
    if (v->status != ITM_OK) {
        itm_error_set(v->error, v->status, why.function, what, "'%s' on flexible body '%s': %s", what,
                      v->b->bodies.items[body].name, why.message);
        return;
    }
    if (site.is_fixed && !is_named) {
        return;
    }
    int node = find_node(v->m, flexible, site.origin);
    // two names for one node, or an offset from it: a node of its own
    bool is_free = node != ITM_NONE && (!is_named || v->m->nodes[node].name == NULL);
    if (!is_free) {
        v->status = make_node(v, flexible, &site);
        node = v->m->nnode - 1;
    }
    if (is_named && v->status == ITM_OK) {
        v->m->nodes[node].name = itm_model_take_string(v->m, what);
        v->m->nodes[node].point = itm_vec_sub(point, site.origin);
        v->status = v->m->nodes[node].name != NULL ? ITM_OK : ITM_ERR_MEMORY;
    }
}

static void visit_line(Visitor* v, int body_a, ItmVec3 point_a, int body_b, ItmVec3 point_b, const char* what)
{
    visit(v, body_a, point_a, what, false);
    visit(v, body_b, point_b, what, false);
}

static void visit_sheaves(Visitor* v, const ItmSheave* via, int nvia, const char* what)
{
    for (int i = 0; i < nvia; i++) {
        visit(v, via[i].body, via[i].point, what, false);
    }
}

static void visit_forces(Visitor* v)
{
    const ItmModelBuilder* b = v->b;
    for (int i = 0; i < b->loads.count; i++) {
        visit(v, b->loads.items[i].body, b->loads.items[i].point, b->loads.items[i].name, false);
    }
    for (int i = 0; i < b->points.count; i++) {
        visit(v, b->points.items[i].body, b->points.items[i].point, b->points.items[i].name, false);
    }
    for (int i = 0; i < b->springs.count; i++) {
        const ItmSpringDef* def = &b->springs.items[i];
        visit_line(v, def->body_a, def->point_a, def->body_b, def->point_b, def->name);
    }
    for (int i = 0; i < b->actuators.count; i++) {
        const ItmActuatorDef* def = &b->actuators.items[i];
        if (def->joint == ITM_NONE) {
            visit_line(v, def->body_a, def->point_a, def->body_b, def->point_b, def->name);
            visit_sheaves(v, def->via, def->nvia, def->name);
        }
    }
    for (int i = 0; i < b->ropes.count; i++) {
        const ItmRopeDef* def = &b->ropes.items[i];
        visit_line(v, def->body_a, def->point_a, def->body_b, def->point_b, def->name);
        visit_sheaves(v, def->via, def->nvia, def->name);
    }
    for (int i = 0; i < b->bushings.count; i++) {
        const ItmBushingDef* def = &b->bushings.items[i];
        visit_line(v, def->body_a, def->frame_a.p, def->body_b, def->frame_b.p, def->name);
    }
}

static void refuse_gaps(Visitor* v)
{
    for (int i = 0; i < v->b->gaps.count && v->status == ITM_OK; i++) {
        const ItmGapDef* def = &v->b->gaps.items[i];
        if (flexible_of(v->b, def->body_a) != ITM_NONE || flexible_of(v->b, def->body_b) != ITM_NONE) {
            v->status = itm_error_set(v->error, ITM_ERR_UNSUPPORTED, "itm_model_build", def->name,
                                      "gap '%s' connects a flexible body, but gaps use body frames only: "
                                      "put shapes on the body, or a small rigid body on a node",
                                      def->name);
        }
    }
}

static void refuse_grasps(Visitor* v)
{
    for (int i = 0; i < v->b->latches.count && v->status == ITM_OK; i++) {
        const ItmLatchDef* def = &v->b->latches.items[i];
        bool is_flexible = flexible_of(v->b, def->body_a) != ITM_NONE || flexible_of(v->b, def->body_b) != ITM_NONE;
        if (def->kind != ITM_LATCH_DIRECTION && is_flexible) {
            v->status = itm_error_set(
                v->error, ITM_ERR_UNSUPPORTED, "itm_model_build", def->name,
                "latch '%s' holds a flexible body, which has no one place to hold it by: fix a small rigid "
                "body to it where it is grasped, and hold that",
                def->name);
        }
    }
}

static void visit_all(Visitor* v)
{
    const ItmModelBuilder* b = v->b;
    for (int j = 0; j < b->elastics.count; j++) {
        const ItmElastic* e = b->elastics.items[j];
        for (int i = 0; i < e->npoint; i++) {
            visit(v, e->body, e->points[i].at, e->points[i].name, true);
        }
    }
    for (int i = 0; i < b->joints.count; i++) {
        const ItmJointDef* def = &b->joints.items[i];
        visit_line(v, def->body_a, def->frame_a.p, def->body_b, def->frame_b.p, def->name);
    }
    visit_forces(v);
    for (int i = 0; i < b->colliders.count; i++) {
        visit(v, b->colliders.items[i].body, b->colliders.items[i].pose.p, b->colliders.items[i].name, false);
    }
    for (int i = 0; i < b->visuals.count; i++) {
        visit(v, b->visuals.items[i].body, b->visuals.items[i].pose.p, "shape", false);
    }
    refuse_gaps(v);
    refuse_grasps(v);
}

// ---------------------------------------------------------------------------- flexible bodies

static ItmStatus take_tables(ItmModel* m, ItmFlexible* f, const ItmElastic* e)
{
    size_t count = itm_elastic_count_reals(e->n);
    double* block = itm_model_take(m, count, sizeof(double));
    ItmVec3* spin = itm_model_take(m, (size_t)(e->n * e->n), sizeof *spin);
    if (block == NULL || spin == NULL) {
        return ITM_ERR_MEMORY;
    }
    memcpy(block, e->block, count * sizeof(double));
    *f = (ItmFlexible){.n = e->n, .mode_adr = m->nmode, .is_stiffening = e->is_stiffening};
    f->axis_mass = e->mass;
    f->axis_moment = e->axis_moment;
    f->inv_axis_mass = e->is_stiffening ? 1.0 / e->mass : 0.0;
    f->inv_axis_moment = e->is_stiffening ? 1.0 / e->axis_moment : 0.0;
    f->spin = spin;
    itm_elastic_lay_out(&f->tables, block, e->n);
    for (int k = 0; k < e->n * e->n; k++) {
        spin[k] = itm_moment_axial(&f->tables.E[k]);
    }
    m->nmode += e->n;
    return itm_picture_copy(&f->picture, &e->picture, m, e->n);
}

ItmStatus itm_flexible_build(ItmModel* m, const ItmModelBuilder* b, ItmError* error)
{
    m->nuser = m->nbody = b->bodies.count;
    m->nflexible = b->elastics.count;
    if (m->nflexible == 0) {
        return ITM_OK;
    }
    int most = 2 * (b->joints.count + b->springs.count + b->actuators.count + b->ropes.count + b->bushings.count) +
               b->loads.count + b->points.count + b->colliders.count + b->visuals.count;
    for (int i = 0; i < b->actuators.count; i++) {
        most += b->actuators.items[i].nvia;
    }
    for (int i = 0; i < b->ropes.count; i++) {
        most += b->ropes.items[i].nvia;
    }
    m->flexibles = itm_model_take(m, (size_t)m->nflexible, sizeof(ItmFlexible));
    ItmStatus status = m->flexibles != NULL ? ITM_OK : ITM_ERR_MEMORY;
    for (int j = 0; status == ITM_OK && j < m->nflexible; j++) {
        status = take_tables(m, &m->flexibles[j], b->elastics.items[j]);
        most += b->elastics.items[j]->npoint;
    }
    m->nodes = status == ITM_OK ? itm_model_take(m, (size_t)most, sizeof(ItmFlexNode)) : NULL;
    if (m->nodes == NULL) {
        return ITM_ERR_MEMORY;
    }
    Visitor visitor = {.m = m, .b = b, .error = error};
    visit_all(&visitor);
    m->nbody += m->nflexible + m->nnode;
    return visitor.status;
}

// ---------------------------------------------------------------------------- bodies

int itm_flexible_add_bodies(ItmModel* m, int flexible, int frame, int next)
{
    ItmFlexible* f = &m->flexibles[flexible];
    f->frame = frame;
    f->modes = next;
    ItmBody body = {
        .name = m->bodies[frame].name,
        .inv_mass = m->bodies[frame].inv_mass,
        .inv_mean_inertia = m->bodies[frame].inv_mean_inertia,
        .parent = frame,
        .mobility = ITM_MOBILIZER_MODES,
        .a = {{0, 0, 0}, itm_mat_identity()},
        .b = {{0, 0, 0}, itm_mat_identity()},
        .nq = f->n,
        .nv = f->n,
        .joint = ITM_NONE,
        .owner = frame,
        .part = flexible,
    };
    m->bodies[next++] = body;
    body.mobility = ITM_MOBILIZER_NODE;
    body.parent = f->modes;
    body.nq = body.nv = 0;
    for (int i = 0; i < m->nnode; i++) {
        if (m->nodes[i].flexible == flexible) {
            body.part = i;
            m->nodes[i].body = next;
            m->bodies[next++] = body;
        }
    }
    return next - f->modes;
}

ItmAttachment itm_flexible_attach(const ItmModel* m, const ItmModelBuilder* b, int body, ItmVec3 point)
{
    if (body == ITM_GROUND) {
        return (ItmAttachment){ITM_NONE, {0, 0, 0}};
    }
    int flexible = flexible_of(b, body);
    ItmElasticSite site = {.is_fixed = true};
    if (flexible != ITM_NONE) {
        ItmStatus status = itm_elastic_find_site(&site, b->elastics.items[flexible], point, NULL);
        ITM_ASSERT(status == ITM_OK);
    }
    if (site.is_fixed) {
        return (ItmAttachment){m->body_index[body], b->bodies.items[body].com};
    }
    int node = find_node(m, flexible, site.origin);
    ITM_ASSERT(node != ITM_NONE);
    return (ItmAttachment){m->nodes[node].body, site.origin};
}

bool itm_flexible_can_hang(const ItmModelBuilder* b, int body, ItmVec3 point)
{
    const ItmElastic* e = itm_model_builder_get_elastic(b, body);
    ItmElasticSite site;
    return e == NULL || (itm_elastic_find_site(&site, e, point, NULL) == ITM_OK && site.is_fixed);
}
