// interim check: what a model is, without running it.
#include "app.h"

#include "circuits.h"
#include "controls.h"
#include "contacts.h"
#include "coupling.h"
#include "multibody/model.h"
#include "scales.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const AppOption OPTIONS[] = {
    {APP_OPTION_OVERRIDE, "--set", 's', "KEY=VALUE", NULL,
     "change a value of the model, as in run.step=2ms; may be repeated"},
    {APP_OPTION_HELP, "--help", 'h', NULL, NULL, "show this page"},
};

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
        printf("  %-*s  flexible: %d mode%s, %.4g to %.4g Hz in the body frame\n", width, "", n, n > 1 ? "s" : "", slowest,
               fastest);
    }
}

static void print_bodies(const ItmModel* m, int width)
{
    printf("\nbodies (%d)\n", m->nuser);
    for (int i = 0; i < m->nuser; i++) {
        const ItmBody* body = &m->bodies[m->body_index[i]];
        printf("  %-*s  %10.5g kg   inertia %.4g %.4g %.4g kg m^2\n", width, body->name, body->mass,
               body->inertia.xx, body->inertia.yy, body->inertia.zz);
        print_modes(m, i, width);
    }
}

// "tx ty rz": the directions in a bit set
static void print_directions(unsigned directions)
{
    for (int i = 0; i < ITM_DIRECTION_COUNT; i++) {
        if (directions & (1u << i)) {
            printf(" %s", itm_direction_name((ItmDirection)i));
        }
    }
}

static void print_joint(const ItmModel* m, int joint, int width)
{
    const ItmJoint* j = &m->joints[joint];
    char bodies[128];
    snprintf(bodies, sizeof bodies, "%s - %s", body_name(m, j->body_a), body_name(m, j->body_b));
    printf("  %-*s  %-12s %-*s  ", width, j->name, itm_joint_type_name(j->type), 2 * width + 3, bodies);
    if (j->loose != ITM_NONE) {
        const ItmLoose* loose = &m->loose[j->loose];
        printf("loose by %g m, %d contact points", loose->radial, loose->npoint);
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
    printf("\n             (they follow from the other rows at the start; forces are the least ones)\n");
}

static void print_numbers(const ItmModelInfo* info)
{
    printf("elements     %d couplings, %d motions, %d forces, %d signals\n", info->ncoupling,
           info->nmotion, info->nforce, info->nsignal);
    printf("mass         %.6g kg, bodies from %.4g to %.4g kg\n", info->mass, info->mass_min,
           info->mass_max);
    printf("size         %.4g m from the world's origin\n", info->length);
    printf("memory       %.0f kB for a running instance\n", ceil((double)info->data_bytes / 1024.0));
}

static void print_events(const ItmModel* m)
{
    for (int i = 0; i < m->nevent; i++) {
        printf("%-12s %.9g s: %s %s\n", i == 0 ? "events" : "", m->events[i].time, m->latches[m->events[i].latch].name,
               m->events[i].closes ? "closes" : "opens");
    }
}

static void print_run(const ItmModelFile* file)
{
    const ItmRunSettings* run = &file->run;
    printf("run          %.9g s in steps of %.9g s", run->duration, run->step.step);
    if (file->model != NULL) {
        printf(" (%s)", itm_stepper_name(run->step.stepper));
    }
    if (run->output_interval > 0.0) {
        printf(", a row every %.9g s", run->output_interval);
    }
    printf("\n");
}

// ---------------------------------------------------------------------------- command

static void print_mechanism(const ItmModelFile* file)
{
    const ItmModel* m = file->model;
    ItmModelInfo info = itm_model_get_info(m);
    int width = name_width(m);
    print_bodies(m, width);
    print_joints(m, width);
    print_freedom(m, &info);
    print_numbers(&info);
    print_events(m);
    app_contacts_print(file);
}

static void print_notes(const ItmModelFile* file)
{
    for (int i = 0; i < file->nnote; i++) {
        printf("note: %s\n", file->notes[i]);
    }
}

static int check(const AppArguments* arguments)
{
    ItmModelFile* file = app_load(arguments);
    if (file == NULL) {
        return APP_BAD_INPUT;
    }
    printf("%s\n", file->title[0] != '\0' ? file->title : arguments->model);
    if (file->model != NULL) {
        print_mechanism(file);
    }
    int nwarning = app_circuits_check(file);
    app_controls_print(file);
    int ncoupling = nwarning >= 0 ? app_coupling_check(file) : -1;
    nwarning = ncoupling >= 0 ? nwarning + ncoupling : -1;
    if (nwarning >= 0) {
        print_run(file);
        print_notes(file);
        nwarning += file->model != NULL ? app_contacts_warn(file) + app_scales_warn(file) : 0;
        printf("%s", nwarning == 0 ? "no warnings\n" : "");
    }
    itm_file_destroy(file);
    return nwarning >= 0 ? APP_FINISHED : APP_BAD_INPUT;
}

const AppCommand app_check_command = {
    .name = "check",
    .synopsis = "MODEL.yaml [OPTION]...",
    .help = "say what a model is: bodies, joints, freedoms, rows, circuits, scales",
    .details = "Reads, compiles and assembles a model without running it, and prints its bodies and joints, its\n"
               "freedoms and constraint rows, redundant rows by name, its shapes and the contacts of the start, and what is\n"
               "badly scaled or overlaps; of hydraulic circuits their size, the fastest rate with the steps it allows, and\n"
               "how far from rest they start; of controls their blocks and what they read of other subsystems; of coupled systems\n"
               "the spectral radius of the macro step for every coupling, and the largest stable macro step.",
    .options = OPTIONS,
    .noption = (int)(sizeof OPTIONS / sizeof OPTIONS[0]),
    .run = check,
};
