#include "mechanisms.h"

#include "contacts.h"
#include "scales.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---------------------------------------------------------------------------- lists

// Length of the longest name, for aligned columns.
static int name_width(const ItmModel* m, const ItmModelInfo* info)
{
    size_t width = 8;
    for (int i = 0; i < info->nbody; i++) {
        size_t length = strlen(itm_model_get_body_name(m, i));
        width = length > width ? length : width;
    }
    for (int i = 0; i < info->njoint; i++) {
        size_t length = strlen(itm_model_get_joint_name(m, i));
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

static void print_bodies(const ItmModel* m, int nbody, int width)
{
    printf("\nbodies (%d)\n", nbody);
    for (int i = 0; i < nbody; i++) {
        ItmBodyInfo body = itm_model_get_body_info(m, i);
        printf("  %-*s  %10.5g kg   inertia %.4g %.4g %.4g kg m^2\n", width, body.name, body.mass, body.inertia.xx,
               body.inertia.yy, body.inertia.zz);
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
    ItmJointInfo j = itm_model_get_joint_info(m, joint);
    char bodies[160];
    snprintf(bodies, sizeof bodies, "%s - %s", j.body_a, j.body_b);
    printf("  %-*s  %-12s %-*s  ", width, j.name, itm_model_joint_type_name(j.type), 2 * width + 3, bodies);
    if (j.nclearance_point > 0) {
        printf("clearance %g m, %d contact points", j.clearance, j.nclearance_point);
    } else if (j.is_in_tree) {
        printf("coordinates");
    } else {
        printf("%d %s", j.nrow, j.nrow == 1 ? "row" : "rows");
    }
    printf(", free%s", j.free == 0 ? " nothing" : "");
    print_directions(j.free);
    printf("\n");
}

static void print_joints(const ItmModel* m, int njoint, int width)
{
    printf("\njoints (%d)\n", njoint);
    for (int i = 0; i < njoint; i++) {
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
    for (int i = 0; i < info->nrow; i++) {
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
    for (int i = 0; i < itm_model_get_event_count(m); i++) {
        ItmEventInfo event = itm_model_get_event(m, i);
        printf("%-12s %.9g s: %s %s\n", i == 0 ? "events" : "", event.time, event.latch,
               event.closes ? "closes" : "opens");
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

// Degrees of freedom of joined mechanisms: their sum minus the independent rows of the frame bonds.
static void print_joined_freedom(const ItmCosim* cosim, ItmAssemblyInfo assembly)
{
    int freedom = 0;
    for (int i = 0; i < assembly.nmechanism; i++) {
        freedom += itm_model_get_info(itm_cosim_get_model(cosim, assembly.mechanisms[i])).freedom;
    }
    printf("  freedom      %d =", freedom - assembly.nrow + assembly.nredundant);
    for (int i = 0; i < assembly.nmechanism; i++) {
        int mechanism = assembly.mechanisms[i];
        printf("%s %d of %s", i > 0 ? " +" : "", itm_model_get_info(itm_cosim_get_model(cosim, mechanism)).freedom,
               itm_cosim_get_mechanism_name(cosim, mechanism));
    }
    printf(" - %d rows of frame bonds", assembly.nrow);
    if (assembly.nredundant > 0) {
        printf(" + %d redundant\n               (both sides are immobile along them at the start; their forces have "
               "minimum norm)",
               assembly.nredundant);
    }
    printf("\n");
}

static void print_frame_bonds(ItmCosim* cosim)
{
    int nbond = itm_cosim_get_frame_bond_count(cosim);
    if (nbond == 0) {
        return;
    }
    // a trial step, which finds the independent rows
    bool is_known = !itm_cosim_check_static(cosim).is_broken;
    printf("\nframe bonds (%d)\n", nbond);
    for (int i = 0; i < nbond; i++) {
        ItmFrameBondInfo bond = itm_cosim_get_frame_bond_info(cosim, i);
        printf("  %-12s ", itm_cosim_get_frame_bond_name(cosim, i));
        for (int k = 0; k < 2; k++) {
            printf("%s%s.%s (%s)", k > 0 ? " moves with " : "", bond.ends[k].mechanism, bond.ends[k].interface,
                   bond.ends[k].body);
        }
        printf(" along");
        print_directions(bond.directions);
        printf("\n");
    }
    for (int i = 0; i < itm_assembly_get_count(cosim) && is_known; i++) {
        print_joined_freedom(cosim, itm_assembly_get_info(cosim, i));
    }
}

// ---------------------------------------------------------------------------- all

static void print_mechanism(const ItmModelFile* file, int i, ItmCosim* cosim)
{
    const ItmModel* m = file->mechanisms[i].model;
    ItmModelInfo info = itm_model_get_info(m);
    int width = name_width(m, &info);
    if (file->nmechanism > 1) {
        printf("\n%s (multibody)\n", file->mechanisms[i].name);
    }
    print_bodies(m, info.nbody, width);
    print_joints(m, info.njoint, width);
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

int app_mechanisms_warn(const ItmModelFile* file, bool is_checking)
{
    int nwarning = 0;
    for (int i = 0; i < file->nmechanism; i++) {
        const ItmFileMechanism* it = &file->mechanisms[i];
        ItmStepOptions step = file->run.step;
        step.step = it->step > 0.0 ? it->step : step.step;
        const char* name = file->nmechanism > 1 ? it->name : "";
        int ncontact = app_contacts_warn(it->model, &step, name, is_checking);
        int nscale = ncontact >= 0 ? app_scales_warn(it->model, &step, name) : -1;
        if (nscale < 0) {
            return -1;
        }
        nwarning += ncontact + nscale;
    }
    return nwarning;
}
