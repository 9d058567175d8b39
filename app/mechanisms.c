#include "mechanisms.h"

#include "contacts.h"
#include "cosim/cosim.h"
#include "multibody/model.h"
#include "scales.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---------------------------------------------------------------------------- lists

static const char* body_name(const ItmModel* m, int body)
{
    return body == ITM_NONE ? "ground" : m->bodies[body].name;
}

// Length of the longest name, for aligned columns.
static int name_width(const ItmModel* m)
{
    size_t width = 8;
    for (int i = 0; i < m->nbody; i++) {
        size_t length = strlen(m->bodies[i].name);
        width = length > width ? length : width;
    }
    for (int i = 0; i < m->njoint; i++) {
        size_t length = strlen(m->joints[i].name);
        width = length > width ? length : width;
    }
    return (int)width;
}

// "5 modes from 4.18 to 73.2 Hz" of a flexible body
static void print_modes(const ItmModel* m, int body, int width)
{
    int n = itm_model_get_mode_count(m, body);
    double slowest = HUGE_VAL, fastest = 0.0;
    for (int k = 0; k < n; k++) {
        double hertz = itm_model_get_mode_frequency(m, body, k) / (2.0 * 3.14159265358979323846);
        slowest = fmin(slowest, hertz);
        fastest = fmax(fastest, hertz);
    }
    if (n > 0) {
        printf("  %-*s  flexible: %d mode%s, %.4g to %.4g Hz in the body frame\n", width, "", n, n > 1 ? "s" : "",
               slowest, fastest);
    }
}

static void print_bodies(const ItmModel* m, int width)
{
    printf("\nbodies (%d)\n", m->nuser);
    for (int i = 0; i < m->nuser; i++) {
        const ItmBody* body = &m->bodies[m->body_index[i]];
        printf("  %-*s  %10.5g kg   inertia %.4g %.4g %.4g kg m^2\n", width, body->name, body->mass, body->inertia.xx,
               body->inertia.yy, body->inertia.zz);
        print_modes(m, i, width);
    }
}

// "tx ty rz": the directions in a bit set
static void print_directions(unsigned directions)
{
    for (int i = 0; i < ITM_DIRECTION_COUNT; i++) {
        if (directions & (1u << i)) {
            printf(" %s", itm_model_direction_name((ItmDirection)i));
        }
    }
}

static void print_joint(const ItmModel* m, int joint, int width)
{
    const ItmJoint* j = &m->joints[joint];
    char bodies[128];
    snprintf(bodies, sizeof bodies, "%s - %s", body_name(m, j->body_a), body_name(m, j->body_b));
    printf("  %-*s  %-12s %-*s  ", width, j->name, itm_model_joint_type_name(j->type), 2 * width + 3, bodies);
    if (j->clearance != ITM_NONE) {
        const ItmClearanceJoint* clearance = &m->clearances[j->clearance];
        printf("clearance %g m, %d contact points", clearance->radial, clearance->npoint);
    } else if (itm_model_is_joint_in_tree(m, joint)) {
        printf("coordinates");
    } else {
        int nrow = 0;
        for (int i = 0; i < m->nblock; i++) {
            nrow += m->blocks[i].kind != ITM_BLOCK_COUPLING && m->blocks[i].kind != ITM_BLOCK_MOTION &&
                            m->blocks[i].index == joint
                        ? m->blocks[i].nrow
                        : 0;
        }
        printf("%d %s", nrow, nrow == 1 ? "row" : "rows");
    }
    printf(", free%s", j->free == 0 ? " nothing" : "");
    print_directions(j->free);
    printf("\n");
}

static void print_joints(const ItmModel* m, int width)
{
    printf("\njoints (%d)\n", m->njoint);
    for (int i = 0; i < m->njoint; i++) {
        print_joint(m, i, width);
    }
}

// ---------------------------------------------------------------------------- numbers

static void print_freedom(const ItmModel* m, const ItmModelInfo* info)
{
    printf("\nfreedom      %d = %d velocities - %d rows", info->freedom, info->nv, info->nrow);
    if (info->nredundant > 0) {
        printf(" + %d redundant", info->nredundant);
    }
    printf("\n");
    if (info->nredundant == 0) {
        return;
    }
    printf("redundant   ");
    for (int i = 0; i < m->nrow; i++) {
        if (itm_model_is_row_redundant(m, i)) {
            printf(" %s", itm_model_get_row_name(m, i));
        }
    }
    printf("\n             (redundant at the start; their forces have minimum norm)\n");
}

static void print_numbers(const ItmModelInfo* info)
{
    printf("elements     %d couplings, %d motions, %d forces, %d signals\n", info->ncoupling, info->nmotion,
           info->nforce, info->nsignal);
    printf("mass         %.6g kg, bodies from %.4g to %.4g kg\n", info->mass, info->mass_min, info->mass_max);
    printf("size         %.4g m from the world origin\n", info->length);
    printf("memory       %.0f kB for a running instance\n", ceil((double)info->data_bytes / 1024.0));
}

static void print_events(const ItmModel* m)
{
    for (int i = 0; i < m->nevent; i++) {
        printf("%-12s %.9g s: %s %s\n", i == 0 ? "events" : "", m->events[i].time, m->latches[m->events[i].latch].name,
               m->events[i].closes ? "closes" : "opens");
    }
}

// ---------------------------------------------------------------------------- interfaces

// Interfaces are numbered through, mechanism by mechanism.
static int get_first_interface(const ItmModelFile* file, int mechanism)
{
    int first = 0;
    for (int i = 0; i < mechanism; i++) {
        first += file->mechanisms[i].ninterface;
    }
    return first;
}

#define BAD_CONDITION 1e8  // heaviest direction against the lightest

// Mobility of a mechanism at one of its interfaces. Directions that its own joints lock are no problem: nothing is inverted.
static void print_mobility(ItmCosim* cosim, int interface)
{
    ItmInterfaceView view;
    if (itm_cosim_inspect(cosim, interface, &view) != ITM_OK) {
        printf("mobility unknown: %s", itm_cosim_get_error(cosim)->message);
    } else if (view.rank == view.n) {
        printf("mobile along all %d, condition %.3g%s", view.n, view.condition,
               view.condition > BAD_CONDITION ? ": forces along the lightest direction lose accuracy" : "");
    } else {
        printf("mobile along %d of %d, its joints lock the others", view.rank, view.n);
    }
    itm_cosim_reset(cosim);
}

static void print_interfaces(const ItmModelFile* file, int mechanism, ItmCosim* cosim, int width)
{
    const ItmFileMechanism* it = &file->mechanisms[mechanism];
    if (it->ninterface == 0) {
        return;
    }
    printf("\ninterfaces (%d)\n", it->ninterface);
    for (int i = 0; i < it->ninterface; i++) {
        const ItmFileInterface* frame = &it->interfaces[i];
        printf("  %-*s  %s at (%g, %g, %g) m,", width, frame->name, frame->body, frame->point.x, frame->point.y,
               frame->point.z);
        print_directions(frame->directions);
        printf("; ");
        print_mobility(cosim, get_first_interface(file, mechanism) + i);
        printf("\n");
    }
}

// ---------------------------------------------------------------------------- frame bonds

// "arm.flange" of an interface
static void print_end(const ItmCosim* cosim, int interface)
{
    const ItmInterface* it = &cosim->interfaces[interface];
    const ItmMechanism* part = &cosim->mechanisms[it->mechanism];
    printf("%s.%s (%s)", part->name, it->name, body_name(part->model, it->frame.body));
}

// Independent rows of joined frames, found by a trial step.
static int count_independent(const ItmAssembly* assembly)
{
    return assembly->is_held ? assembly->views[0].join.rank : assembly->join.rank;
}

// Degrees of freedom of joined mechanisms: their sum minus the independent rows of the frame bonds.
static void print_joined_freedom(const ItmCosim* cosim, const ItmAssembly* assembly)
{
    int freedom = 0, nredundant = assembly->nlink - count_independent(assembly);
    for (int i = 0; i < assembly->nmechanism; i++) {
        freedom += itm_model_get_info(cosim->mechanisms[assembly->mechanisms[i]].model).freedom;
    }
    printf("  freedom      %d =", freedom - assembly->nlink + nredundant);
    for (int i = 0; i < assembly->nmechanism; i++) {
        const ItmMechanism* part = &cosim->mechanisms[assembly->mechanisms[i]];
        printf("%s %d of %s", i > 0 ? " +" : "", itm_model_get_info(part->model).freedom, part->name);
    }
    printf(" - %d rows of frame bonds", assembly->nlink);
    if (nredundant > 0) {
        printf(" + %d redundant\n               (both sides are immobile along them at the start; their forces have "
               "minimum norm)",
               nredundant);
    }
    printf("\n");
}

static void print_frame_bonds(ItmCosim* cosim)
{
    if (cosim->nframe_bond == 0) {
        return;
    }
    bool is_known = !itm_cosim_check_static(cosim).is_broken;
    printf("\nframe bonds (%d)\n", cosim->nframe_bond);
    for (int i = 0; i < cosim->nframe_bond; i++) {
        const ItmFrameBond* bond = &cosim->frame_bonds[i];
        printf("  %-12s ", bond->name);
        print_end(cosim, bond->a);
        printf(" moves with ");
        print_end(cosim, bond->b);
        printf(" along");
        print_directions(cosim->interfaces[bond->a].directions);
        printf("\n");
    }
    for (int i = 0; i < cosim->nassembly && is_known; i++) {
        print_joined_freedom(cosim, &cosim->assemblies[i]);
    }
}

// ---------------------------------------------------------------------------- all

static void print_mechanism(const ItmModelFile* file, int i, ItmCosim* cosim)
{
    const ItmModel* m = file->mechanisms[i].model;
    ItmModelInfo info = itm_model_get_info(m);
    int width = name_width(m);
    if (file->nmechanism > 1) {
        printf("\n%s (multibody)\n", file->mechanisms[i].name);
    }
    print_bodies(m, width);
    print_joints(m, width);
    if (cosim != NULL) {
        print_interfaces(file, i, cosim, width);
    }
    print_freedom(m, &info);
    print_numbers(&info);
    print_events(m);
    app_contacts_print(m);
}

int app_mechanisms_print(const ItmModelFile* file)
{
    ItmCosim* cosim = NULL;
    ItmError error = {0};
    if (get_first_interface(file, file->nmechanism) > 0 &&
        itm_file_create_cosim(&cosim, file, NULL, &error) != ITM_OK) {
        app_print_error(&error);
        return -1;
    }
    for (int i = 0; i < file->nmechanism; i++) {
        print_mechanism(file, i, cosim);
    }
    if (cosim != NULL) {
        print_frame_bonds(cosim);
    }
    itm_cosim_destroy(cosim);
    return 0;
}

int app_mechanisms_warn(const ItmModelFile* file)
{
    int nwarning = 0;
    for (int i = 0; i < file->nmechanism; i++) {
        const ItmFileMechanism* it = &file->mechanisms[i];
        ItmStepOptions step = file->run.step;
        step.step = it->step > 0.0 ? it->step : step.step;
        const char* name = file->nmechanism > 1 ? it->name : "";
        int ncontact = app_contacts_warn(it->model, &step, name);
        if (ncontact < 0) {
            return -1;
        }
        nwarning += ncontact + app_scales_warn(it->model, &step, name);
    }
    return nwarning;
}
