#include "multibody/elastic.h"

#include "base/check.h"
#include "base/error.h"
#include "multibody/beam.h"
#include "multibody/modal.h"
#include "multibody/picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------- memory

size_t itm_elastic_count_reals(int n)
{
    size_t k = (size_t)n;
    return k * (3 + 3 + 9 + 3) + k * k * (9 + 2);
}

void itm_elastic_lay_out(ItmElasticTables* t, double* block, int n)
{
    // the structs are three and nine reals
    size_t k = (size_t)n;
    t->S = (ItmVec3*)block;
    t->P = t->S + k;
    t->B = (ItmMat3*)(block + 6 * k);
    t->E = t->B + k;
    t->mass = block + 15 * k + 9 * k * k;
    t->stiffness = t->mass + k;
    t->damping = t->stiffness + k;
    t->G = t->damping + k;
    t->G1 = t->G + k * k;
}

void itm_elastic_destroy(ItmElastic* e)
{
    if (e != NULL) {
        itm_beam_destroy(e->beam);
        itm_modal_destroy(e->shapes);
        free(e->block);
        free(e->start);
        free(e->points);
        itm_picture_free(&e->picture);
        free(e);
    }
}

// ---------------------------------------------------------------------------- definitions

static void check_ratios(ItmCheck* c, const ItmFlexibleDef* def)
{
    itm_check_not_negative(c, "damping_ratio", def->damping_ratio);
    itm_check_not_negative(c, "rayleigh_mass", def->rayleigh_mass);
    itm_check_not_negative(c, "rayleigh_stiffness", def->rayleigh_stiffness);
    for (int i = 0; i < def->nratio; i++) {
        itm_check_not_negative(c, "ratios", def->ratios[i]);
    }
}

static void check_start(ItmCheck* c, const ItmFlexibleDef* def)
{
    for (int i = 0; i < def->nstart; i++) {
        itm_check_finite(c, "start", def->start != NULL ? def->start[i] : 0.0);
        itm_check_finite(c, "start_rate", def->start_rate != NULL ? def->start_rate[i] : 0.0);
    }
}

static void check_points(ItmCheck* c, const ItmFlexibleDef* def)
{
    for (int i = 0; i < def->npoint; i++) {
        ItmCheck point = itm_check_start(c->function, "point", def->points[i].name, c->error);
        c->status = c->status == ITM_OK ? point.status : c->status;
        if (c->status == ITM_OK && !itm_vec_is_finite(def->points[i].at)) {
            itm_check_refuse(c, "points", "point '%s' must be finite", def->points[i].name);
        }
        for (int j = 0; j < i && c->status == ITM_OK; j++) {
            if (strcmp(def->points[i].name, def->points[j].name) == 0) {
                itm_check_refuse(c, "points", "there are two points '%s'", def->points[i].name);
            }
        }
    }
}

static ItmStatus check_def(const ItmFlexibleDef* def, const char* name, ItmError* error)
{
    ItmCheck c = itm_check_start("itm_model_builder_add_flexible", "flexible body", name, error);
    if ((def->beam == NULL) == (def->modal == NULL)) {
        itm_check_refuse(&c, "flexible", "it needs a beam or a modal model, and not both");
    }
    check_ratios(&c, def);
    check_start(&c, def);
    check_points(&c, def);
    return c.status;
}

// ---------------------------------------------------------------------------- creation

static void fill_damping(ItmElastic* e, const ItmFlexibleDef* def)
{
    ItmElasticTables* t = &e->tables;
    for (int k = 0; k < e->n; k++) {
        double ratio = k < def->nratio ? def->ratios[k] : def->damping_ratio;
        t->damping[k] = 2.0 * ratio * sqrt(t->stiffness[k] * t->mass[k]) + def->rayleigh_mass * t->mass[k] +
                        def->rayleigh_stiffness * t->stiffness[k];
    }
}

static ItmStatus allocate(ItmElastic* e, int n, const ItmFlexibleDef* def)
{
    e->n = n;
    e->block = calloc(itm_elastic_count_reals(n) + 1, sizeof(double));
    e->start = calloc((size_t)(2 * n) + 1, sizeof(double));
    e->points = calloc((size_t)def->npoint + 1, sizeof *e->points);
    if (e->block == NULL || e->start == NULL || e->points == NULL) {
        return ITM_ERR_MEMORY;
    }
    itm_elastic_lay_out(&e->tables, e->block, n);
    return ITM_OK;
}

static void take_start(ItmElastic* e, const ItmFlexibleDef* def)
{
    for (int k = 0; k < def->nstart; k++) {
        e->start[k] = def->start != NULL ? def->start[k] : 0.0;
        e->start[e->n + k] = def->start_rate != NULL ? def->start_rate[k] : 0.0;
    }
    e->npoint = def->npoint;
    for (int i = 0; i < def->npoint; i++) {
        snprintf(e->points[i].name, sizeof e->points[i].name, "%s", def->points[i].name);
        e->points[i].at = def->points[i].at;
    }
}

static ItmStatus create_beam(ItmElastic* e, const char* name, const ItmFlexibleDef* def, ItmError* error)
{
    ItmStatus status = itm_beam_def_check(def->beam, name, error);
    if (status != ITM_OK) {
        return status;
    }
    status = itm_beam_create(&e->beam, def->beam);
    if (status != ITM_OK) {
        return status;
    }
    int n = itm_beam_count_modes(e->beam);
    e->is_stiffening = def->use_stiffening && n > 0;
    status = allocate(e, n, def);
    status = status == ITM_OK ? itm_beam_fill(e->beam, e) : status;
    return status == ITM_OK ? itm_picture_make_beam(&e->picture, e->beam) : status;
}

static ItmStatus create_modal(ItmElastic* e, const char* name, const ItmFlexibleDef* def, ItmError* error)
{
    int n = 0;
    ItmStatus status = itm_modal_create(&e->shapes, &n, def->modal, name, error);
    status = status == ITM_OK ? allocate(e, n, def) : status;
    if (status == ITM_OK) {
        itm_modal_fill(e->shapes, e);
        e->picture = itm_modal_take_picture(e->shapes);
    }
    return status;
}

// Sizes far from anything that exists overflow on the way.
static ItmStatus refuse_numbers(const char* name, ItmError* error)
{
    return itm_error_set(error, ITM_ERR_INPUT, "itm_model_builder_add_flexible", "flexible",
                         "flexible body '%s': its mass and modes are out of the range of numbers; check units", name);
}

static ItmStatus check_numbers(const ItmElastic* e, const char* name, ItmError* error)
{
    size_t count = itm_elastic_count_reals(e->n);
    bool is_good = isfinite(e->mass) && e->mass > 0.0;
    for (size_t i = 0; i < count; i++) {
        is_good = is_good && isfinite(e->block[i]);
    }
    for (int k = 0; k < e->n; k++) {
        is_good = is_good && e->tables.mass[k] > 0.0 && e->tables.stiffness[k] > 0.0;
    }
    return is_good ? ITM_OK : refuse_numbers(name, error);
}

// Every point with a name must be somewhere.
static ItmStatus check_sites(const ItmElastic* e, ItmError* error)
{
    ItmStatus status = ITM_OK;
    for (int i = 0; status == ITM_OK && i < e->npoint; i++) {
        ItmElasticSite site;
        status = itm_elastic_find_site(&site, e, e->points[i].at, error);
    }
    return status;
}

ItmStatus itm_elastic_create(ItmElastic** elastic, int body, const char* name, const ItmFlexibleDef* def,
                             ItmError* error)
{
    ItmStatus status = check_def(def, name, error);
    if (status != ITM_OK) {
        return status;
    }
    ItmElastic* e = calloc(1, sizeof *e);
    if (e == NULL) {
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
    }
    e->body = body;
    status = def->beam != NULL ? create_beam(e, name, def, error) : create_modal(e, name, def, error);
    if (status == ITM_OK && (def->nstart > e->n || def->nratio > e->n)) {
        status = itm_error_set(error, ITM_ERR_INPUT, __func__, def->nstart > e->n ? "start" : "ratios",
                               "flexible body '%s': %d values for %d modes", name,
                               def->nstart > e->n ? def->nstart : def->nratio, e->n);
    }
    if (status == ITM_OK) {
        fill_damping(e, def);
        take_start(e, def);
        status = check_numbers(e, name, error);
        status = status == ITM_OK ? check_sites(e, error) : status;
    }
    if (status == ITM_ERR_NOT_FINITE) {
        status = refuse_numbers(name, error);
    }
    if (status == ITM_ERR_MEMORY || status == ITM_ERR_DIVERGED) {
        itm_error_set(error, status, __func__, NULL, "flexible body '%s': %s while its modes were computed", name,
                      status == ITM_ERR_MEMORY ? "out of memory" : "no eigenvalues were found");
    }
    if (status != ITM_OK) {
        itm_elastic_destroy(e);
        return status;
    }
    *elastic = e;
    return ITM_OK;
}

// ---------------------------------------------------------------------------- sites

ItmStatus itm_elastic_find_site(ItmElasticSite* site, const ItmElastic* e, ItmVec3 point, ItmError* error)
{
    if (e->beam == NULL) {
        return itm_modal_find_site(site, e->shapes, point, error);
    }
    double x = itm_beam_find_station(e->beam, point);
    *site = (ItmElasticSite){itm_beam_is_fixed_at(e->beam, x), itm_vec(x, 0, 0)};
    return ITM_OK;
}

ItmStatus itm_elastic_compute_shape(const ItmElastic* e, ItmSpatial* shape, double* gamma, const ItmElasticSite* site)
{
    if (e->beam == NULL) {
        itm_modal_compute_shape(e->shapes, shape, site->origin);
        return ITM_OK;
    }
    itm_beam_compute_shape(e->beam, shape, site->origin.x);
    return gamma != NULL ? itm_beam_compute_shortening(e->beam, gamma, site->origin.x) : ITM_OK;
}
