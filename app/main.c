#include "app.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const AppCommand* const app_commands[] = {
    &app_run_command,    &app_check_command,   &app_inspect_command, &app_sweep_command,
    &app_report_command, &app_compare_command, &app_plot_command,    NULL};

void app_print_error(const ItmError* error)
{
    fputs("interim: ", stderr);
    if (error->file[0] != '\0' && error->line > 0) {
        fprintf(stderr, "%s:%d:%d: ", error->file, error->line, error->column);
    } else if (error->file[0] != '\0' && strstr(error->message, error->file) == NULL) {
        fprintf(stderr, "%s: ", error->file);
    }
    fprintf(stderr, "%s\n", error->message[0] != '\0' ? error->message : itm_status_message(error->status));
}

void app_print_warning(const char* part, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    printf("warning: %s%s", part, part[0] != '\0' ? ": " : "");
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
}

ItmModelFile* app_load(const AppArguments* arguments)
{
    ItmModelFile* file = NULL;
    ItmError error = {0};
    if (itm_file_load(&file, arguments->model, (const char* const*)arguments->overrides, arguments->noverride,
                      &error) != ITM_OK) {
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

static int complain_unknown(const char* word)
{
    static const char* const WORDS[] = {"run",  "check", "inspect", "sweep",     "report", "compare",
                                        "plot", "help",  "--help",  "--version", NULL};
    const char* nearest = app_find_nearest(word, WORDS);
    if (nearest != NULL) {
        fprintf(stderr, "interim: unknown command '%s'; did you mean '%s'?\n", word, nearest);
    } else {
        fprintf(stderr, "interim: unknown command '%s' (see: interim --help)\n", word);
    }
    return APP_BAD_INPUT;
}

static int run_help(const char* topic)
{
    if (topic == NULL) {
        app_help_print_overview();
        return APP_FINISHED;
    }
    const AppCommand* command = find_command(topic);
    if (command == NULL) {
        return complain_unknown(topic);
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
            status = run_help(command->name);
        } else {
            status = command->run(&arguments);
        }
    }
    app_arguments_free(&arguments);
    return status;
}

static int dispatch(int argc, char** argv)
{
    if (argc < 2) {
        app_help_print_overview();
        return APP_BAD_INPUT;
    }
    const char* word = argv[1];
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        printf("interim %s\n", itm_version());
        return APP_FINISHED;
    }
    if (strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        return run_help(argc > 2 ? argv[2] : NULL);
    }
    const AppCommand* command = find_command(word);
    return command != NULL ? run_command(command, argc - 2, argv + 2) : complain_unknown(word);
}

int main(int argc, char** argv)
{
    signal(SIGXFSZ, SIG_IGN);  // a file that grows too large is an error we report, not a reason to die
    int status = dispatch(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("interim: standard output");
        status = status == APP_FINISHED ? APP_BAD_INPUT : status;
    }
    return status;
}
