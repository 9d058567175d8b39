// interim export: an FMU or a system of FMUs from a model file.
#include "app.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// Names separated by commas, to be freed with the array. Returns how many, -1 without memory.
static int split_names(const char* text, char*** names)
{
    int n = 0;
    *names = calloc(strlen(text) + 2, sizeof **names);
    while (*names != NULL && *text != '\0') {
        size_t length = strcspn(text, ",");
        if (length > 0) {
            (*names)[n] = strndup(text, length);
            if ((*names)[n++] == NULL) {
                return -1;
            }
        }
        text += length + (text[length] == ',');
    }
    return *names != NULL ? n : -1;
}

static int export(const AppArguments* arguments, const char* output, char** parts, int npart)
{
    const char* version = app_arguments_get(arguments, "--fmi");
    ItmExportOptions options = itm_default_export_options();
    options.parts = (const char* const*)parts;
    options.npart = npart;
    options.overrides = (const char* const*)arguments->overrides;
    options.noverride = arguments->noverride;
    options.binary = app_arguments_get(arguments, "--binary");
    options.sandbox = arguments->sandbox;
    if (version != NULL) {
        options.version = strcmp(version, "2") == 0 || strcmp(version, "2.0") == 0   ? 2
                          : strcmp(version, "3") == 0 || strcmp(version, "3.0") == 0 ? 3
                                                                                     : 0;
        if (options.version == 0) {
            fprintf(stderr, "interim: --fmi is 2 or 3, not '%s'\n", version);
            return APP_BAD_INPUT;
        }
    }
    ItmError error = {0};
    bool is_system = app_path_has_ending(output, ".ssp");
    if (!is_system && !app_path_has_ending(output, ".fmu")) {
        fprintf(stderr,
                "interim: an FMU goes to a file ending in .fmu, a system of FMUs to one ending in .ssp, not '%s'\n",
                output);
        return APP_BAD_INPUT;
    }
    if ((is_system ? itm_export_ssp : itm_export_fmu)(arguments->model, output, &options, &error) != ITM_OK) {
        app_print_error(&error);
        return APP_BAD_INPUT;
    }
    struct stat about;
    if (!arguments->is_quiet && stat(output, &about) == 0) {
        printf("%s: %s for co-simulation, FMI %d.0, %.2f MB\n", output, is_system ? "SSP of FMUs" : "FMU",
               options.version, 1e-6 * (double)about.st_size);
    }
    return APP_FINISHED;
}

static int run(const AppArguments* arguments)
{
    const char* part = app_arguments_get(arguments, "--part");
    char** parts = NULL;
    int npart = part != NULL ? split_names(part, &parts) : 0;
    char* own = arguments->output == NULL ? app_path_replace_ending(arguments->model, ".fmu") : NULL;
    const char* output = arguments->output != NULL ? arguments->output : own;
    int status = APP_BAD_INPUT;
    if (npart < 0 || output == NULL) {
        fprintf(stderr, "interim: out of memory\n");
    } else {
        status = export(arguments, output, parts, npart);
    }
    for (int i = 0; i < npart; i++) {
        free(parts[i]);
    }
    free(parts);
    free(own);
    return status;
}

static const AppOption OPTIONS[] = {
    {APP_OPTION_OUTPUT, "--output", 'o', "FILE", NULL, "the FMU, or a system of FMUs (.ssp); default: MODEL.fmu"},
    {APP_OPTION_WORD, "--fmi", 0, "VERSION", NULL, "2 or 3; default 3"},
    {APP_OPTION_WORD, "--part", 0, "NAME,...", NULL, "mechanisms and subsystems to export; default: all"},
    {APP_OPTION_WORD, "--binary", 0, "FILE.so", NULL, "binary of exported FMUs; default: the installed one"},
    {APP_OPTION_OVERRIDE, "--set", 0, "KEY=VALUE", NULL, "override a value of the model file"},
    {APP_OPTION_QUIET, "--quiet", 'q', NULL, NULL, "print errors only"},
    {APP_OPTION_SANDBOX, "--sandbox", 0, "DIR", NULL, "refuse a model that refers to files outside DIR"},
    {APP_OPTION_HELP, "--help", 'h', NULL, NULL, "print this help"},
};

const AppCommand app_export_command = {
    .name = "export",
    .synopsis = "MODEL.yaml [OPTION]...",
    .help = "write an FMU of a model or of a part of it, or a system of FMUs (SSP)",
    .details =
        "Writes an FMU for co-simulation (FMI 2.0 or 3.0) that runs the model in any tool. It holds the engine and\n"
        "needs libm and libc only. Parameters of the model are parameters of the FMU; unconnected inputs are inputs;\n"
        "results are outputs. With --part the FMU holds some mechanisms and subsystems: bonds to the others become\n"
        "ports, and a mechanism then offers its interface model, so that a master can couple it at large steps.\n"
        "An output file *.ssp is a system structure (SSP): every mechanism and subsystem as an FMU, with connections and\n"
        "parameters; `interim run` couples it as the model.",
    .options = OPTIONS,
    .noption = (int)(sizeof OPTIONS / sizeof OPTIONS[0]),
    .run = run,
};
