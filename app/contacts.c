#include "contacts.h"

#include "contact/contact.h"

#include <math.h>
#include <stdio.h>

// A light body between heavy ones costs the solver digits.
#define MASS_RATIO_LIMIT 1e4
// Penetration at the start that rounding of the file's numbers explains, relative to the size of the model.
#define ROUNDING 1e-9

static const char* const LAWS[ITM_FRICTION_COUNT] = {"box", "pyramid", "cone"};

// ---------------------------------------------------------------------------- shapes and laws

static void print_shapes(const ItmContactModel* contact)
{
    int count[ITM_GEOM_KIND_COUNT] = {0};
    for (int i = 0; i < contact->ncollider; i++) {
        count[contact->colliders[i].geom->kind]++;
    }
    printf("shapes       %d:", contact->ncollider);
    const char* comma = "";
    for (int kind = 0; kind < ITM_GEOM_KIND_COUNT; kind++) {
        if (count[kind] > 0) {
            printf("%s %d %s", comma, count[kind], itm_geom_kind_name((ItmGeomKind)kind));
            comma = ",";
        }
    }
    // the first material of the table is the one of shapes that name none
    printf("; %d %s, %d excluded pairs of bodies\n", contact->nmaterial - 1,
           contact->nmaterial == 2 ? "material" : "materials", contact->nexcluded);
}

static void print_laws(const ItmContactOptions* o)
{
    printf("contact      friction %s bounded by the %s normal force, margin %.3g m, solver %s\n", LAWS[o->law],
           o->lag_friction_bounds ? "last" : "current", o->margin, itm_mlcp_solver_name(o->solver));
}

void app_contacts_print(const ItmModel* m)
{
    int nmotor = 0;
    for (int i = 0; i < m->nmotion; i++) {
        nmotor += m->motions[i].max_force > 0.0;
    }
    if (m->nlimit + m->njoint_friction + nmotor > 0) {
        printf("bounds       %d joint limits, %d joint frictions, %d motors with a force limit\n", m->nlimit,
               m->njoint_friction, nmotor);
    }
    if (m->contact != NULL) {
        print_shapes(m->contact);
        print_laws(&m->contact_options);
    }
}

// ---------------------------------------------------------------------------- the start

static double body_mass(const ItmModel* m, int id)
{
    return id == ITM_GROUND ? 0.0 : m->bodies[m->body_index[id]].mass;
}

// The contact that penetrates deepest, or ITM_NONE.
static int find_deepest(ItmData* d)
{
    int deepest = ITM_NONE;
    double gap = 0.0;
    for (int i = 0; i < itm_contact_get_count(d); i++) {
        ItmContactInfo c = itm_contact_get_info(d, i);
        if (c.point.gap < gap) {
            gap = c.point.gap;
            deepest = i;
        }
    }
    return deepest;
}

static int warn_penetration(const ItmModel* m, ItmData* d, const char* name)
{
    int deepest = find_deepest(d);
    if (deepest == ITM_NONE) {
        return 0;
    }
    ItmContactInfo c = itm_contact_get_info(d, deepest);
    if (-c.point.gap <= ROUNDING * fmax(1.0, itm_model_get_info(m).length)) {
        return 0;
    }
    app_print_warning(name, "'%s' and '%s' overlap by %.3g m at the start; the first steps separate them", c.name_a,
                      c.name_b != NULL ? c.name_b : "its other body", -c.point.gap);
    return 1;
}

static int warn_masses(const ItmModel* m, ItmData* d, const char* name)
{
    double worst = MASS_RATIO_LIMIT;
    int found = ITM_NONE;
    for (int i = 0; i < itm_contact_get_count(d); i++) {
        ItmContactInfo c = itm_contact_get_info(d, i);
        double a = body_mass(m, c.body_a), b = body_mass(m, c.body_b);
        double ratio = a > 0.0 && b > 0.0 ? fmax(a / b, b / a) : 0.0;
        if (ratio > worst) {
            worst = ratio;
            found = i;
        }
    }
    if (found == ITM_NONE) {
        return 0;
    }
    ItmContactInfo c = itm_contact_get_info(d, found);
    app_print_warning(
        name,
        "'%s' and '%s' touch at the start, but one is %.2g times as heavy as the other; contact forces lose "
        "accuracy",
        c.name_a, c.name_b != NULL ? c.name_b : "its other body", worst);
    return 1;
}

// Whether two shapes should collide, but collision detection does not support the pair.
static bool is_passed_over(const ItmContactModel* contact, const ItmCollider* a, const ItmCollider* b)
{
    return a->body != b->body && (a->group & b->mask) != 0 && (b->group & a->mask) != 0 &&
           !itm_narrow_supports(a->geom->kind, b->geom->kind) && !itm_contact_is_excluded(contact, a->body, b->body);
}

static int warn_passed_over(const ItmContactModel* contact, const char* name)
{
    int count = 0;
    for (int i = 0; i < contact->ncollider; i++) {
        for (int j = i + 1; j < contact->ncollider; j++) {
            const ItmCollider *a = &contact->colliders[i], *b = &contact->colliders[j];
            if (!is_passed_over(contact, a, b)) {
                continue;
            }
            if (count++ == 0) {
                app_print_warning(
                    name,
                    "'%s' (%s) and '%s' (%s) pass through each other: this pair of shapes is not supported; "
                    "use convex shapes for moving bodies",
                    a->name, itm_geom_kind_name(a->geom->kind), b->name, itm_geom_kind_name(b->geom->kind));
            }
        }
    }
    if (count > 1) {
        app_print_warning(name, "... and %d more such pairs", count - 1);
    }
    return count;
}

// A solver chosen by name that cannot treat the friction law leaves every step unsolved.
static int warn_solver(const ItmContactOptions* o, const char* name)
{
    bool is_coupled = !o->lag_friction_bounds;
    bool is_unsuitable = (o->solver == ITM_MLCP_PIVOTING && is_coupled) ||
                         ((o->solver == ITM_MLCP_LEMKE || o->solver == ITM_MLCP_ENUMERATION) && is_coupled &&
                          o->law == ITM_FRICTION_CONE);
    if (is_unsuitable) {
        app_print_warning(name, "solver %s does not support friction %s: choose %s or solver auto",
                          itm_mlcp_solver_name(o->solver), LAWS[o->law],
                          o->solver == ITM_MLCP_PIVOTING ? "bounds last" : "box or pyramid");
    }
    return is_unsuitable;
}

int app_contacts_warn(const ItmModel* m, const ItmStepOptions* step, const char* name)
{
    ItmData* d = NULL;
    ItmError error = {0};
    if (m->contact == NULL) {
        return 0;
    }
    ItmStatus status = itm_data_create(&d, m, step, &error);
    if (status == ITM_ERR_MEMORY) {
        app_print_error(&error);
        return -1;
    }
    if (status != ITM_OK) {
        app_print_warning(name, "%s", error.message);
        return 1;
    }
    // the contacts that a first step finds are those of the start
    status = itm_step(m, d);
    printf("start        %s%s%d contacts, deepest penetration %.2g m\n", name, name[0] != '\0' ? ": " : "",
           itm_contact_get_count(d), itm_data_get_step_info(d).penetration);
    int count = warn_penetration(m, d, name) + warn_masses(m, d, name) + warn_passed_over(m->contact, name) +
                warn_solver(&m->contact_options, name);
    if (status != ITM_OK) {
        app_print_warning(name, "the first step breaks down: %s", itm_data_get_error(d)->message);
        count++;
    }
    itm_data_destroy(d);
    return count;
}
