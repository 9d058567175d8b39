#include "app.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const AppCommand* const app_commands[] = {&app_run_command,
                                          &app_check_command,
                                          &app_inspect_command,
                                          &app_sweep_command,
                                          &app_study_command,
                                          &app_report_command,
                                          &app_compare_command,
                                          &app_plot_command,
                                          &app_fmu_command,
                                          &app_export_command,
                                          &app_schema_command,
                                          &app_rerun_command,
                                          NULL};

void app_clean_text(char* text)
{
    for (unsigned char* c = (unsigned char*)text; *c != '\0'; c++) {
        bool is_c1 = c[0] == 0xC2 && c[1] >= 0x80 && c[1] < 0xA0;
        bool is_direction = c[0] == 0xE2 && ((c[1] == 0x80 && c[2] >= 0xA8 && c[2] <= 0xAE) ||
                                             (c[1] == 0x81 && c[2] >= 0xA6 && c[2] <= 0xA9));
        if (*c < 0x20 || *c == 0x7f || is_c1 || is_direction) {
            *c = '?';
        }
    }
}

// Paths and pieces of files are shown without what would steer the terminal.
void app_print_error(const ItmError* error)
{
    ItmError shown = *error;
    app_clean_text(shown.file);
    app_clean_text(shown.message);
    fputs("interim: ", stderr);
    if (shown.file[0] != '\0' && shown.line > 0) {
        fprintf(stderr, "%s:%d:%d: ", shown.file, shown.line, shown.column);
    } else if (shown.file[0] != '\0' && strstr(shown.message, shown.file) == NULL) {
        fprintf(stderr, "%s: ", shown.file);
    }
    fprintf(stderr, "%s\n", shown.message[0] != '\0' ? shown.message : itm_status_message(shown.status));
}

static bool is_warning_to_stderr;

void app_warn_to_stderr(void)
{
    is_warning_to_stderr = true;
}

void app_print_warning(const char* part, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    FILE* out = is_warning_to_stderr ? stderr : stdout;
    fprintf(out, "%swarning: %s%s", is_warning_to_stderr ? "interim: " : "", part, part[0] != '\0' ? ": " : "");
    vfprintf(out, format, arguments);
    fprintf(out, "\n");
    va_end(arguments);
}

ItmModelFile* app_load(const AppArguments* arguments)
{
    ItmModelFile* file = NULL;
    ItmError error = {0};
    if (itm_file_load_below(&file, arguments->model, arguments->sandbox, (const char* const*)arguments->overrides,
                            arguments->noverride, &error) != ITM_OK) {
        app_print_error(&error);
        return NULL;
    }
    return file;
}

bool app_path_has_ending(const char* path, const char* ending)
{
    size_t length = strlen(path), tail = strlen(ending);
    return length > tail && strcmp(path + length - tail, ending) == 0;
}

char* app_path_replace_ending(const char* path, const char* ending)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash != NULL ? slash : path, '.');
    size_t length = dot != NULL ? (size_t)(dot - path) : strlen(path), size = length + strlen(ending) + 1;
    char* replaced = malloc(size);
    if (replaced != NULL) {
        snprintf(replaced, size, "%.*s%s", (int)length, path, ending);
    }
    return replaced;
}

double app_wall_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static const AppCommand* find_command(const char* name)
{
    for (int i = 0; app_commands[i] != NULL; i++) {
        if (strcmp(name, app_commands[i]->name) == 0) {
            return app_commands[i];
        }
    }
    return NULL;
}

// "show" of the command "fmu" is named "fmu show".
static const AppCommand* find_subcommand(const AppCommand* command, const char* word)
{
    for (int i = 0; command->subcommands[i] != NULL; i++) {
        if (strcmp(word, command->subcommands[i]->name + strlen(command->name) + 1) == 0) {
            return command->subcommands[i];
        }
    }
    return NULL;
}

static int complain_unknown(const char* word)
{
    static const char* const WORDS[] = {"run", "check",  "inspect", "sweep", "study", "report", "compare",   "plot",
                                        "fmu", "export", "schema",  "rerun", "help",  "--help", "--version", NULL};
    const char* nearest = app_find_nearest(word, WORDS);
    const char* ending = strrchr(word, '.');
    bool is_file =
        ending != NULL && (strcmp(ending, ".yaml") == 0 || strcmp(ending, ".yml") == 0 || strcmp(ending, ".urdf") == 0);
    if (is_file) {
        fprintf(stderr, "interim: a command is missing before '%s', as in: interim run %s\n", word, word);
    } else if (nearest != NULL) {
        fprintf(stderr, "interim: unknown command '%s'; did you mean '%s'?\n", word, nearest);
    } else {
        fprintf(stderr, "interim: unknown command '%s' (see: interim --help)\n", word);
    }
    return APP_BAD_INPUT;
}

static int complain_subcommand(const AppCommand* command, const char* word)
{
    const char* names[16] = {NULL};
    for (int i = 0; command->subcommands[i] != NULL && i < 15; i++) {
        names[i] = command->subcommands[i]->name + strlen(command->name) + 1;
    }
    const char* nearest = app_find_nearest(word, names);
    fprintf(stderr, "interim %s: unknown subcommand '%s'%s%s%s (see: interim help %s)\n", command->name, word,
            nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "",
            command->name);
    return APP_BAD_INPUT;
}

// Help of a topic ("run"), or of a subcommand ("fmu", "show"). Both may be NULL.
static int run_help(const char* topic, const char* subtopic)
{
    if (topic == NULL) {
        app_help_print_overview();
        return APP_FINISHED;
    }
    const AppCommand* command = find_command(topic);
    if (command == NULL) {
        return complain_unknown(topic);
    }
    if (subtopic != NULL && command->subcommands != NULL) {
        const AppCommand* subcommand = find_subcommand(command, subtopic);
        if (subcommand == NULL) {
            return complain_subcommand(command, subtopic);
        }
        command = subcommand;
    }
    app_help_print_command(command);
    return APP_FINISHED;
}

static int run_command(const AppCommand* command, int argc, char** argv)
{
    AppArguments arguments;
    int status = APP_BAD_INPUT;
    if (app_arguments_parse(&arguments, command, argc, argv)) {
        if (arguments.wants_help) {
            app_help_print_command(command);
            status = APP_FINISHED;
        } else {
            status = command->run(&arguments);
        }
    }
    app_arguments_free(&arguments);
    return status;
}

static int dispatch_subcommand(const AppCommand* command, int argc, char** argv)
{
    if (argc < 1 || strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0) {
        app_help_print_command(command);
        return argc < 1 ? APP_BAD_INPUT : APP_FINISHED;
    }
    const AppCommand* subcommand = find_subcommand(command, argv[0]);
    return subcommand != NULL ? run_command(subcommand, argc - 1, argv + 1) : complain_subcommand(command, argv[0]);
}

static int dispatch(int argc, char** argv)
{
    if (argc < 2) {
        app_help_print_overview();
        return APP_BAD_INPUT;
    }
    const char* word = argv[1];
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        printf("interim %s (%s)\n", itm_version(), itm_commit());
        return APP_FINISHED;
    }
    if (strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        return run_help(argc > 2 ? argv[2] : NULL, argc > 3 ? argv[3] : NULL);
    }
    const AppCommand* command = find_command(word);
    // a command with subcommands may be one by itself: interim study FILE, interim study merge
    bool has_own = command != NULL && command->run != NULL &&
                   (argc < 3 || command->subcommands == NULL || find_subcommand(command, argv[2]) == NULL);
    if (command != NULL && command->subcommands != NULL && !has_own) {
        return dispatch_subcommand(command, argc - 2, argv + 2);
    }
    return command != NULL ? run_command(command, argc - 2, argv + 2) : complain_unknown(word);
}

int app_main(int argc, char** argv)
{
    signal(SIGXFSZ, SIG_IGN);  // a file that grows too large is an error we report, not a reason to die
    app_signals_release();
    int status = dispatch(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("interim: standard output");
        status = status == APP_FINISHED ? APP_BAD_INPUT : status;
    }
    return status;
}
