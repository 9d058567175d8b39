// The `interim` command: what its files share. Only this folder prints, knows exit statuses and terminals.
#ifndef INTERIM_APP_H
#define INTERIM_APP_H

#include <stdbool.h>

#include "interim/interim.h"

// Exit statuses; an interrupted run ends with 128 + the signal, as shells expect.
enum {
    APP_FINISHED = 0,
    APP_BAD_INPUT = 1,   // wrong usage, bad model, file that cannot be written
    APP_BROKE_DOWN = 2,  // the simulation did
};

// ---------------------------------------------------------------------------- arguments

// What a command line says.
typedef struct AppArguments {
    const char* model;       // the model file: the first operand
    char** operands;         // all of them                       (noperand)
    int noperand;
    const char* output;      // -o, or NULL
    const char* report;      // --report, or NULL
    const char* signals;     // --signals, or NULL
    const char* range;       // --range, or NULL
    bool is_static;          // --static
    char** overrides;        // --set, --until and --every as "key.path=value", in the order given (noverride)
    int noverride;
    bool is_quiet;           // -q
    bool wants_help;         // --help
} AppArguments;

typedef enum AppOptionKind {
    APP_OPTION_OVERRIDE,
    APP_OPTION_OUTPUT,
    APP_OPTION_REPORT,
    APP_OPTION_SIGNALS,
    APP_OPTION_RANGE,
    APP_OPTION_STATIC,
    APP_OPTION_QUIET,
    APP_OPTION_HELP,
} AppOptionKind;

typedef struct AppOption {
    AppOptionKind kind;
    const char* name;   // "--output"
    char letter;        // 'o', or 0
    const char* value;  // "FILE" in the help, or NULL: a switch
    const char* key;    // override: the option is short for --set KEY=value; NULL: it is --set itself
    const char* help;
} AppOption;

typedef struct AppCommand {
    const char* name;
    const char* synopsis;       // after "interim run "
    const char* help;           // a sentence for the overview
    const char* details;        // paragraphs for `interim help run`
    const AppOption* options;
    int noption;
    const char* operand;        // what the operand is ("result file"); NULL: a model file
    bool takes_many;            // operands, not one
    int (*run)(const AppArguments* arguments);  // gives the exit status
} AppCommand;

extern const AppCommand app_run_command;
extern const AppCommand app_check_command;
extern const AppCommand app_report_command;
extern const AppCommand app_compare_command;
extern const AppCommand app_plot_command;
// NULL-terminated list of all commands.
extern const AppCommand* const app_commands[];

// Read the arguments after the command's name. Prints what is wrong to stderr and returns false then.
bool app_arguments_parse(AppArguments* arguments, const AppCommand* command, int argc, char** argv);
void app_arguments_free(AppArguments* arguments);

// The word of the NULL-terminated list that `word`, up to a "=", was probably meant to be, or NULL.
const char* app_find_nearest(const char* word, const char* const* words);

// Overview, or the page of one command, to stdout.
void app_help_print_overview(void);
void app_help_print_command(const AppCommand* command);

// ---------------------------------------------------------------------------- messages

// Read the model file of a command line; NULL after printing what is wrong.
ItmModelFile* app_load(const AppArguments* arguments);

// "interim: model.yaml:3:5: message" to stderr.
void app_print_error(const ItmError* error);
// Seconds of wall time since some fixed moment.
double app_wall_time(void);

// ---------------------------------------------------------------------------- reports

// Where a run puts its results: -o, or beside the report a file that goes away again. To be freed; NULL where neither is
// wanted, or without memory.
char* app_report_choose_results(const AppArguments* arguments);
// Write the report of a run that ended with this exit status; the exit status of it all.
int app_report_after_run(const AppArguments* arguments, const char* results, int status);

// ---------------------------------------------------------------------------- progress

// A line on the terminal that shows how far a run is; does nothing where stderr is no terminal.
typedef struct AppProgress {
    bool is_shown;
    double start, drawn;  // wall time of the start and of the last drawing, s
    double duration;      // simulated time in all, s
} AppProgress;

AppProgress app_progress_begin(double duration, bool is_quiet);
void app_progress_update(AppProgress* progress, double time);
void app_progress_end(AppProgress* progress);

#endif
