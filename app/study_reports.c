// The page of a study, and beside it the reports of its best and worst runs, which are executed again for that.
#include "study.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const AppOption* find_report_option(void)
{
    const AppOption* option = app_run_command.options;
    while (strcmp(option->name, "--report") != 0) {
        option++;
    }
    return option;
}

// In a process of its own: interim run MODEL --set ... --report PATH
static _Noreturn void be_child(const AppStudy* s, int run, const char* path)
{
    char* settings[4096];
    int count = 0;
    for (const char* text; count < 4096 && (text = itm_study_get_setting(s->study, run, count)) != NULL; count++) {
        settings[count] = strdup(text);
        if (settings[count] == NULL) {
            _exit(APP_BAD_INPUT);
        }
    }
    AppWord word = {find_report_option(), path};
    const AppArguments arguments = {.model = s->info.model,
                                    .sandbox = s->arguments->sandbox,
                                    .overrides = settings,
                                    .noverride = count,
                                    .words = &word,
                                    .nword = 1,
                                    .is_quiet = true};
    int null = open("/dev/null", O_WRONLY);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    app_signals_release();
    _exit(app_run_command.run(&arguments));
}

static void wait_for_one(int* nbusy)
{
    if (wait(NULL) > 0 || errno == ECHILD) {
        --*nbusy;
    }
}

static bool is_listed(const int* runs, int count, int run)
{
    for (int i = 0; i < count; i++) {
        if (runs[i] == run) {
            return true;
        }
    }
    return false;
}

// The best and the worst run of every response, each once. runs (2 nresponse)
static int list_extremes(const AppStudy* s, int* runs)
{
    int count = 0;
    for (int i = 0; i < 2 * s->info.nresponse; i++) {
        ItmStudyStatistics statistics = itm_study_compute_statistics(s->study, i / 2);
        int run = i % 2 == 0 ? statistics.best_run : statistics.worst_run;
        if (run != ITM_NONE && !is_listed(runs, count, run)) {
            runs[count++] = run;
        }
    }
    return count;
}

// prefix: of the reports' paths
static void write_runs(AppStudy* s, const char* prefix)
{
    int* runs = calloc(2 * (size_t)s->info.nresponse + 1, sizeof *runs);
    int count = runs != NULL ? list_extremes(s, runs) : 0, nbusy = 0;
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s%d.html", prefix, runs[i] + 1);
        fflush(NULL);
        pid_t pid = fork();
        if (pid == 0) {
            be_child(s, runs[i], path);
        }
        nbusy += pid > 0;
        while (nbusy >= s->nworker) {
            wait_for_one(&nbusy);
        }
    }
    while (nbusy > 0) {
        wait_for_one(&nbusy);
    }
    free(runs);
}

void app_study_write_report(AppStudy* s, const char* path)
{
    ItmError error = {0};
    char* folder = app_path_replace_ending(path, ".runs");
    char* prefix = app_path_replace_ending(path, ".runs/run");
    bool has_folder = folder != NULL && prefix != NULL && (mkdir(folder, 0777) == 0 || errno == EEXIST);
    if (has_folder) {
        write_runs(s, prefix);
    } else {
        fprintf(stderr, "interim: cannot create '%s': %s\n", folder != NULL ? folder : path, strerror(errno));
    }
    if (!has_folder || itm_study_write_page(s->study, path, prefix, &error) != ITM_OK) {
        s->has_failed = true;
        if (has_folder) {
            app_print_error(&error);
        }
    } else if (!s->arguments->is_quiet) {
        printf("report in %s\n", path);
    }
    free(folder);
    free(prefix);
}
