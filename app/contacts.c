#include "contacts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// A light body between heavy ones costs the solver digits.
#define MASS_RATIO_LIMIT 1e4
// Penetration at the start that rounding of the file's numbers explains, relative to the size of the model.
#define ROUNDING 1e-9

static const char* const LAWS[ITM_FRICTION_COUNT] = {"box", "pyramid", "cone"};

// ---------------------------------------------------------------------------- shapes and laws

static void print_shapes(const ItmModel* m, const ItmContactModelInfo* info)
{
    static const char* const KINDS[] = {"plane",    "sphere", "capsule", "box",
                                        "cylinder", "hull",   "mesh",    "height field"};
    printf("shapes       %d:", info->nshape);
    const char* comma = "";
    for (size_t k = 0; k < sizeof KINDS / sizeof KINDS[0]; k++) {
        int count = 0;
        for (int i = 0; i < info->nshape; i++) {
            count += strcmp(itm_contact_get_shape(m, i).kind, KINDS[k]) == 0;
        }
        if (count > 0) {
            printf("%s %d %s", comma, count, KINDS[k]);
            comma = ",";
        }
    }
    printf("; %d %s, %d excluded pairs of bodies\n", info->nmaterial, info->nmaterial == 1 ? "material" : "materials",
           info->nexcluded);
}

static void print_laws(const ItmContactOptions* o)
{
    printf("contact      friction %s bounded by the %s normal force, margin %.3g m, solver %s\n", LAWS[o->law],
           o->lag_friction_bounds ? "last" : "current", o->margin, itm_mlcp_solver_name(o->solver));
}

void app_contacts_print(const ItmModel* m)
{
    ItmModelInfo info = itm_model_get_info(m);
    if (info.nlimit + info.nfriction + info.nmotor > 0) {
        printf("bounds       %d joint limits, %d joint frictions, %d motors with a force limit\n", info.nlimit,
               info.nfriction, info.nmotor);
    }
    if (info.nrope > 0) {
        printf("ropes        %d\n", info.nrope);
    }
    ItmContactModelInfo contact = itm_contact_get_model_info(m);
    if (contact.nshape > 0) {
        print_shapes(m, &contact);
        print_laws(&contact.options);
    }
}

// ---------------------------------------------------------------------------- the start

static double body_mass(const ItmModel* m, int id)
{
    return id == ITM_GROUND ? 0.0 : itm_model_get_body_info(m, id).mass;
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

// Pairs that should collide, but that collision detection does not support.
static int warn_passed_over(const ItmModel* m, int nshape, const char* name)
{
    int count = 0;
    for (int i = 0; i < nshape; i++) {
        for (int j = i + 1; j < nshape; j++) {
            if (!itm_contact_is_unsupported(m, i, j) || count++ > 0) {
                continue;
            }
            ItmShapeInfo a = itm_contact_get_shape(m, i), b = itm_contact_get_shape(m, j);
            app_print_warning(name,
                              "'%s' (%s) and '%s' (%s) pass through each other: this pair of shapes is not supported; "
                              "use convex shapes for moving bodies",
                              a.name, a.kind, b.name, b.kind);
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

int app_contacts_warn(const ItmModel* m, const ItmStepOptions* step, const char* name, bool is_checking)
{
    ItmData* d = NULL;
    ItmError error = {0};
    ItmContactModelInfo contact = itm_contact_get_model_info(m);
    if (contact.nshape == 0) {
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
    if (is_checking) {
        printf("start        %s%s%d contacts, deepest penetration %.2g m\n", name, name[0] != '\0' ? ": " : "",
               itm_contact_get_count(d), itm_data_get_step_info(d).penetration);
    }
    int count = warn_penetration(m, d, name) + warn_masses(m, d, name) + warn_passed_over(m, contact.nshape, name) +
                warn_solver(&contact.options, name);
    if (status != ITM_OK) {
        app_print_warning(name, "the first step breaks down: %s", itm_data_get_error(d)->message);
        count++;
    }
    itm_data_destroy(d);
    return count;
}
