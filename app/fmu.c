// interim fmu: show and check FMUs.
#include "fmu.h"

#include <stdio.h>
#include <stdlib.h>

const AppCommand* const app_fmu_commands[] = {&app_fmu_show_command, &app_fmu_check_command, &app_fmu_run_command,
                                              &app_fmu_compare_command, NULL};

const AppCommand app_fmu_command = {
    .name = "fmu",
    .synopsis = "SUBCOMMAND FILE.fmu [OPTION]...",
    .help = "show, check, run and compare functional mock-up units (FMI 2.0 and 3.0)",
    .details =
        "Reads an FMU of FMI 2.0 or 3.0: a ZIP file or a folder. `interim help fmu show` shows the help of a subcommand.",
    .subcommands = app_fmu_commands,
};

// ---------------------------------------------------------------------------- show

static const AppOption SHOW_OPTIONS[] = {
    {APP_OPTION_WORD, "--all", 'a', NULL, NULL, "also list local variables"},
    {APP_OPTION_WORD, "--json", 0, NULL, NULL, "print everything as JSON"},
    {APP_OPTION_HELP, "--help", 'h', NULL, NULL, "show this help"},
};

static int show(const AppArguments* arguments)
{
    ItmFmu* fmu = NULL;
    ItmError error = {0};
    if (itm_fmu_open(&fmu, arguments->model, &error) != ITM_OK) {
        app_print_error(&error);
        return APP_BAD_INPUT;
    }
    ItmFmuFormat format = app_arguments_get(arguments, "--json") != NULL  ? ITM_FMU_JSON
                          : app_arguments_get(arguments, "--all") != NULL ? ITM_FMU_TEXT_AND_LOCALS
                                                                          : ITM_FMU_TEXT;
    char* text = itm_fmu_describe(fmu, format);
    if (text != NULL) {
        fputs(text, stdout);
    } else {
        fputs("interim fmu show: out of memory\n", stderr);
    }
    int status = text != NULL ? APP_FINISHED : APP_BAD_INPUT;
    free(text);
    itm_fmu_close(fmu);
    return status;
}

const AppCommand app_fmu_show_command = {
    .name = "fmu show",
    .synopsis = "FILE.fmu [--all] [--json]",
    .help = "print version, capabilities, variables, units, platforms and libraries of an FMU",
    .details =
        "Prints what an FMU declares: version, kinds and capabilities, variables with units and start values, platforms,\n"
        "libraries that its binary needs, and symbols that clash with other libraries. The FMU is not loaded.",
    .options = SHOW_OPTIONS,
    .noption = sizeof SHOW_OPTIONS / sizeof *SHOW_OPTIONS,
    .operand = "FMU",
    .run = show,
};

// ---------------------------------------------------------------------------- check

static const AppOption CHECK_OPTIONS[] = {
    {APP_OPTION_QUIET, "--quiet", 'q', NULL, NULL, "print warnings, errors and the last line only"},
    {APP_OPTION_HELP, "--help", 'h', NULL, NULL, "show this help"},
};

// "ok       archive      23 files"
static void print_finding(void* context, const ItmFmuFinding* finding)
{
    static const char* const WORDS[ITM_FMU_LEVEL_COUNT] = {"ok", "note", "warning", "ERROR", "skipped"};
    const AppArguments* arguments = context;
    bool is_bad = finding->level == ITM_FMU_WARNING || finding->level == ITM_FMU_ERROR;
    if (is_bad || !arguments->is_quiet) {
        printf("%-8s %-14s %s\n", WORDS[finding->level], finding->subject, finding->text);
    }
}

static int check(const AppArguments* arguments)
{
    ItmFmu* fmu = NULL;
    ItmError error = {0};
    int counts[ITM_FMU_LEVEL_COUNT] = {0};
    AppArguments given = *arguments;
    bool is_good = itm_fmu_open(&fmu, arguments->model, &error) == ITM_OK &&
                   itm_fmu_check(fmu, print_finding, &given, counts, &error) == ITM_OK;
    if (is_good) {
        printf("%d checks passed, %d warnings, %d errors, %d skipped\n", counts[ITM_FMU_GOOD], counts[ITM_FMU_WARNING],
               counts[ITM_FMU_ERROR], counts[ITM_FMU_SKIPPED]);
    } else {
        app_print_error(&error);
    }
    itm_fmu_close(fmu);
    return is_good && counts[ITM_FMU_ERROR] == 0 ? APP_FINISHED : APP_BAD_INPUT;
}

const AppCommand app_fmu_check_command = {
    .name = "fmu check",
    .synopsis = "FILE.fmu [-q]",
    .help = "check archive, description, libraries and behaviour of an FMU",
    .details =
        "Checks an FMU against the rules of FMI 2.0 and 3.0, one line per verdict: archive, description, libraries that its\n"
        "binary needs, and functions that it must export. Without an error there it then runs the FMU in processes that are\n"
        "thrown away: same bits twice, states that continue with the same bits, inputs that act at once, effort per step.\n"
        "Exit status: 0 without errors, 1 otherwise.",
    .options = CHECK_OPTIONS,
    .noption = sizeof CHECK_OPTIONS / sizeof *CHECK_OPTIONS,
    .operand = "FMU",
    .run = check,
};
