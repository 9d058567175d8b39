// The `interim` command: shared declarations. Only this folder prints, sets exit statuses and handles terminals.
#ifndef INTERIM_APP_H
#define INTERIM_APP_H

#include <stdbool.h>

#include "interim/interim.h"

// Exit statuses; an interrupted run ends with 128 + the signal, as shells expect.
enum {
    APP_FINISHED = 0,
    APP_BAD_INPUT = 1,   // wrong usage, bad model, file that cannot be written
    APP_BROKE_DOWN = 2,  // the simulation did
    APP_DOUBTFUL = 3,    // it finished with doubts, and --strict was given
    APP_DIFFERENT = 4,   // rerun: other bits than recorded
};

// ---------------------------------------------------------------------------- arguments

typedef struct AppOption AppOption;

// An option that a command reads itself, as given.
typedef struct AppWord {
    const AppOption* option;
    const char* value;
} AppWord;

// A parsed command line.
typedef struct AppArguments {
    const char* model;  // the model file: the first operand
    char** operands;    // all of them                       (noperand)
    int noperand;
    const char* output;  // -o, or NULL
    char** overrides;    // --set, --until and --every as "key.path=value", in the order given (noverride)
    int noverride;
    AppWord* words;  // options of kind APP_OPTION_WORD, in the order given (nword)
    int nword;
    bool is_quiet;        // -q
    bool wants_help;      // --help
    const char* sandbox;  // folder below which a model may read files; NULL: any
} AppArguments;

typedef enum AppOptionKind {
    APP_OPTION_OVERRIDE,
    APP_OPTION_OUTPUT,
    APP_OPTION_SANDBOX,
    APP_OPTION_WORD,
    APP_OPTION_QUIET,
    APP_OPTION_HELP,
} AppOptionKind;

struct AppOption {
    AppOptionKind kind;
    const char* name;   // "--output"
    char letter;        // 'o', or 0
    const char* value;  // "FILE" in the help, or NULL: a switch
    const char* key;    // override: the option is short for --set KEY=value; NULL: it is --set itself
    const char* help;
};

typedef struct AppCommand AppCommand;

struct AppCommand {
    const char* name;
    const char* synopsis;  // after "interim run "
    const char* help;      // a sentence for the overview
    const char* details;   // paragraphs for `interim help run`
    const AppOption* options;
    int noption;
    const char* operand;                        // what the operand is ("result file"); NULL: a model file
    bool takes_many;                            // operands, not one
    bool takes_none;                            // no operand
    int (*run)(const AppArguments* arguments);  // gives the exit status
    const AppCommand* const* subcommands;       // NULL-terminated, named "fmu show"; NULL: it has none
};

extern const AppCommand app_run_command;
extern const AppCommand app_check_command;
extern const AppCommand app_inspect_command;
extern const AppCommand app_sweep_command;
extern const AppCommand app_study_command;
extern const AppCommand app_report_command;
extern const AppCommand app_compare_command;
extern const AppCommand app_plot_command;
extern const AppCommand app_export_command;
extern const AppCommand app_fmu_command;
extern const AppCommand app_schema_command;
extern const AppCommand app_rerun_command;
// NULL-terminated list of all commands.
extern const AppCommand* const app_commands[];

// How a run is spread over processes, of a program for several machines.
typedef struct AppRunEngine {
    bool is_server;  // of a process that steps its parts for another one, which has the results
    ItmStatus (*join)(ItmCosim* cosim, const ItmModelFile* file, ItmError* error);
    void (*fail)(const ItmError* error);  // of a server that cannot go on
} AppRunEngine;
// NULL: one process.
extern const AppRunEngine* app_run_engine;

// The command line of a program that offers these commands: the exit status.
int app_main(int argc, char** argv);

// Read the arguments after the command's name. Prints what is wrong to stderr and returns false then.
bool app_arguments_parse(AppArguments* arguments, const AppCommand* command, int argc, char** argv);
void app_arguments_free(AppArguments* arguments);
// The value of an option of kind APP_OPTION_WORD ("--report") as given last, "" if it takes none; NULL: it was not given.
const char* app_arguments_get(const AppArguments* arguments, const char* name);

// The word of the NULL-terminated list that `word`, up to a "=", was probably meant to be, or NULL.
const char* app_find_nearest(const char* word, const char* const* words);

// Overview, or the page of one command, to stdout.
void app_help_print_overview(void);
void app_help_print_command(const AppCommand* command);

// ---------------------------------------------------------------------------- messages

// Read the model file of a command line; NULL after printing what is wrong.
ItmModelFile* app_load(const AppArguments* arguments);

// Put '?' in place of control characters and of characters that change the direction of text, which would steer a terminal.
void app_clean_text(char* text);
// "interim: model.yaml:3:5: message" to stderr.
void app_print_error(const ItmError* error);
// Warnings go to stderr from now on, after "interim: "; before, to stdout.
void app_warn_to_stderr(void);
// "warning: arm: message"; part "": without it.
void app_print_warning(const char* part, const char* format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 2, 3)))
#endif
    ;
// Whether a path ends in ".csv", with something before it.
bool app_path_has_ending(const char* path, const char* ending);
// The path with `ending` in place of its last one ("a/b.csv", ".html" -> "a/b.html"), to be freed; NULL without memory.
char* app_path_replace_ending(const char* path, const char* ending);
// Seconds of wall time since some fixed moment.
double app_wall_time(void);

// ---------------------------------------------------------------------------- temporary folders

// A new folder in $TMPDIR (unset or empty: /tmp), for app_folder_remove. NULL after "interim COMMAND: PURPOSE: cannot create ...".
char* app_folder_create(const char* command, const char* purpose);
// The path of a file in a folder, to be freed; NULL without memory.
char* app_folder_join(const char* folder, const char* name);
// Remove the files in a folder and the folder itself, and free its path; NULL: nothing.
void app_folder_remove(char* folder);

// ---------------------------------------------------------------------------- signals

// From now on the first SIGINT, SIGTERM or SIGHUP is only noted, for the command to end properly; the second one
// ends the process. Signals that nohup or a shell set to ignored stay ignored.
void app_signals_catch(void);
// From now on a signal ends the process, after what it has unpacked is removed; as every command begins.
void app_signals_release(void);
// Hold them back, or let them through.
void app_signals_block(bool is_blocked);
// The signal that came, or 0.
int app_signals_get(void);

// ---------------------------------------------------------------------------- reports

// Where a run puts its results: -o, or beside the report (--report) a file that goes away again. To be freed; NULL where
// neither is wanted. False without memory.
bool app_report_choose_results(char** path, const AppArguments* arguments);
// Write the report of a sweep from its table; the exit status.
int app_report_write_sweep(const char* table, const char* path, const ItmSweepReportOptions* options, bool is_quiet);
// Write the report of a run that ended with this exit status; the exit status of it all.
int app_report_after_run(const AppArguments* arguments, const char* results, int status);

// ---------------------------------------------------------------------------- progress

// A line on the terminal that shows how far a run, or a number of them, is; does nothing where stderr is no terminal.
typedef struct AppProgress {
    bool is_shown;
    double start, drawn;  // wall time of the start and of the last drawing, s
    double duration;      // simulated time in all, s; or the number of runs
} AppProgress;

AppProgress app_progress_begin(double duration, bool is_quiet);
void app_progress_update(AppProgress* progress, double time);
// The same for a number of runs: done and running.
void app_progress_update_runs(AppProgress* progress, int ndone, int nbusy);
// The same for the share of a budget, with the name of the present work.
void app_progress_update_share(AppProgress* progress, double share, const char* text);
void app_progress_end(AppProgress* progress);

#endif
