// interim check: what a model is, without running it.
#include "app.h"

#include "circuits.h"
#include "controls.h"
#include "coupling.h"
#include "mechanisms.h"

#include <stdio.h>
#include <stdlib.h>

#define DEFAULT_BUDGET "5"       // s
#define MECHANISM_BUDGET "0.25"  // s more for each mechanism after the first

static const AppOption OPTIONS[] = {
    {APP_OPTION_OVERRIDE, "--set", 's', "KEY=VALUE", NULL,
     "change a value of the model, as in run.step=2ms; may be repeated"},
    {APP_OPTION_WORD, "--budget", 0, "SECONDS", NULL,
     "processor time for the search for stable macro steps; default: " DEFAULT_BUDGET " s, and " MECHANISM_BUDGET
     " s per further mechanism"},
    {APP_OPTION_SANDBOX, "--sandbox", 0, "DIR", NULL, "refuse a model that refers to files outside DIR"},
    {APP_OPTION_HELP, "--help", 'h', NULL, NULL, "show this help"},
};

static void print_run(const ItmModelFile* file)
{
    const ItmRunSettings* run = &file->run;
    printf("run          %.9g s in steps of %.9g s", run->duration, run->step.step);
    if (file->nmechanism > 0) {
        printf(" (%s)", itm_stepper_name(run->step.stepper));
    }
    if (run->output_interval > 0.0) {
        printf(", output every %.9g s", run->output_interval);
    }
    printf("\n");
}

// ---------------------------------------------------------------------------- command

static void print_notes(const ItmModelFile* file)
{
    for (int i = 0; i < file->nnote; i++) {
        printf("note: %s\n", file->notes[i]);
    }
}

// False after printing what is wrong.
static bool read_budget(const AppArguments* arguments, double* budget)
{
    const char* text = app_arguments_get(arguments, "--budget");
    text = text != NULL ? text : DEFAULT_BUDGET;
    char* end = NULL;
    *budget = strtod(text, &end);
    if (end == text || *end != '\0' || !(*budget > 0.0 && *budget <= 1e6)) {
        fprintf(stderr, "interim: --budget takes a number of seconds above 0, not '%s'\n", text);
        return false;
    }
    return true;
}

// The default is enough for copies of a machine, of which each takes its time.
static double extend_budget(double budget, const AppArguments* arguments, const ItmModelFile* file)
{
    bool is_given = app_arguments_get(arguments, "--budget") != NULL;
    return is_given || file->nmechanism < 1 ? budget : budget + strtod(MECHANISM_BUDGET, NULL) * (file->nmechanism - 1);
}

static int check(const AppArguments* arguments)
{
    double budget;
    ItmModelFile* file = read_budget(arguments, &budget) ? app_load(arguments) : NULL;
    if (file == NULL) {
        return APP_BAD_INPUT;
    }
    printf("%s\n", file->title[0] != '\0' ? file->title : arguments->model);
    int nwarning = app_mechanisms_print(file) == 0 ? app_circuits_check(file) : -1;
    if (nwarning >= 0) {
        app_controls_print(file);
    }
    int ncoupling = nwarning >= 0 ? app_coupling_check(file, extend_budget(budget, arguments, file)) : -1;
    nwarning = ncoupling >= 0 ? nwarning + ncoupling : -1;
    if (nwarning >= 0) {
        print_run(file);
        print_notes(file);
        int nmore = app_mechanisms_warn(file, true);
        nwarning = nmore >= 0 ? nwarning + nmore : -1;
        printf("%s", nwarning == 0 ? "no warnings\n" : "");
    }
    itm_file_destroy(file);
    return nwarning >= 0 ? APP_FINISHED : APP_BAD_INPUT;
}

const AppCommand app_check_command = {
    .name = "check",
    .synopsis = "MODEL.yaml [OPTION]...",
    .help = "print the size and structure of a model, and warnings",
    .details =
        "Reads, compiles and assembles a model without running it. Prints\n"
        "  mechanisms: bodies, joints, degrees of freedom, constraint rows, names of redundant constraints, shapes,\n"
        "    contacts at the start, and warnings about bad scaling and overlaps;\n"
        "  hydraulic circuits: size, fastest rate with the steps that it allows, deviation from static equilibrium;\n"
        "  controllers: blocks, and their inputs from other subsystems;\n"
        "  coupled systems: spectral radius of the macro step for every coupling, and the largest stable macro step.",
    .options = OPTIONS,
    .noption = (int)(sizeof OPTIONS / sizeof OPTIONS[0]),
    .run = check,
};
