// The processes of a sweep. Each run is `interim run` in a child process, so a crash, exhausted memory or an endless step
// affects only that run.
#define _DEFAULT_SOURCE  // wait4: the CPU time of one child
#include "sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LARGEST_SIGNAL 64
#define GRACE 10.0  // s between asking a run to stop and killing it

const char* app_sweep_verdict_name(SweepVerdict verdict)
{
    static const char* const NAMES[SWEEP_VERDICT_COUNT] = {
        [SWEEP_WAITING] = "waiting",       [SWEEP_FINISHED] = "finished",   [SWEEP_DOUBTFUL] = "finished-with-doubts",
        [SWEEP_BROKE_DOWN] = "broke-down", [SWEEP_TIMED_OUT] = "timed-out", [SWEEP_INTERRUPTED] = "interrupted",
        [SWEEP_CRASHED] = "crashed",       [SWEEP_FAILED] = "failed"};
    return NAMES[verdict];
}

// ---------------------------------------------------------------------------- job

// Append "text=value", or the text alone without value.
bool app_sweep_job_add_override(SweepJob* job, const char* text, size_t length, const char* value)
{
    size_t size = length + (value != NULL ? strlen(value) : 0) + 2;
    char** grown = realloc(job->overrides, (size_t)(job->noverride + 1) * sizeof *grown);
    char* copy = malloc(size);
    job->overrides = grown != NULL ? grown : job->overrides;
    if (grown == NULL || copy == NULL) {
        free(copy);
        return false;
    }
    snprintf(copy, size, "%.*s%s%s", (int)length, text, value != NULL ? "=" : "", value != NULL ? value : "");
    job->overrides[job->noverride++] = copy;
    return true;
}

void app_sweep_job_free(SweepJob* job)
{
    for (int i = 0; i < job->noverride; i++) {
        free(job->overrides[i]);
    }
    free(job->overrides);
    free(job->output);
    free(job->log);
    itm_results_table_destroy(job->table);
    *job = (SweepJob){0};
}

// ---------------------------------------------------------------------------- child

static void redirect(const char* path, int flags, int descriptor)
{
    int opened = open(path, flags, 0600);
    if (opened >= 0) {
        dup2(opened, descriptor);
        close(opened);
    }
}

// What the new process does: run, and end without returning into the sweep.
static _Noreturn void be_child(const SweepPool* pool, const SweepJob* job)
{
    app_signals_release();
    app_signals_block(false);
    redirect("/dev/null", O_RDONLY, STDIN_FILENO);
    redirect("/dev/null", O_WRONLY, STDOUT_FILENO);
    redirect(job->log, O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
    const AppArguments arguments = {.model = pool->model,
                                    .sandbox = pool->sandbox,
                                    .output = job->output,
                                    .overrides = job->overrides,
                                    .noverride = job->noverride,
                                    .is_quiet = true};
    _exit(app_run_command.run(&arguments));
}

// False if the system has no process to give at the moment.
static bool start(const SweepPool* pool, SweepJob* job)
{
    fflush(NULL);             // or the child would print it again
    app_signals_block(true);  // a signal meant for the child must not find the sweep's handlers there
    pid_t pid = fork();
    if (pid == 0) {
        be_child(pool, job);
    }
    app_signals_block(false);
    if (pid < 0) {
        return false;
    }
    job->pid = pid;
    job->start = app_wall_time();
    return true;
}

// ---------------------------------------------------------------------------- end of a job

// The first line that the run printed, without "interim: ".
static void read_message(SweepJob* job)
{
    FILE* log = fopen(job->log, "r");
    if (log == NULL) {
        return;
    }
    char line[sizeof job->message + 16] = "";
    if (fgets(line, sizeof line, log) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        const char* text = strncmp(line, "interim: ", 9) == 0 ? line + 9 : line;
        snprintf(job->message, sizeof job->message, "%.*s", (int)sizeof job->message - 1, text);
    }
    fclose(log);
}

static SweepVerdict judge(const SweepJob* job, int status)
{
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (code == APP_FINISHED) {
        return SWEEP_FINISHED;
    }
    if (code == APP_BROKE_DOWN) {
        return SWEEP_BROKE_DOWN;
    }
    if (job->is_late) {
        return SWEEP_TIMED_OUT;
    }
    // a run that a signal interrupted ends with 128 + its number; libraries that give up end with others
    bool is_interrupted = code > 128 && code <= 128 + LARGEST_SIGNAL;
    if (is_interrupted || job->stop > 0.0 || app_signals_get() != 0) {
        return SWEEP_INTERRUPTED;
    }
    return code == APP_BAD_INPUT ? SWEEP_FAILED : SWEEP_CRASHED;
}

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + 1e-6 * (double)time.tv_usec;
}

static void finish(SweepPool* pool, SweepJob* job, int status, const struct rusage* usage)
{
    job->pid = 0;
    job->wall_time = app_wall_time() - job->start;
    job->cpu_time = seconds(usage->ru_utime) + seconds(usage->ru_stime);
    job->verdict = judge(job, status);
    job->end_time = NAN;
    read_message(job);
    if (job->verdict == SWEEP_CRASHED && WIFSIGNALED(status)) {
        snprintf(job->message, sizeof job->message, "the process was killed by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    } else if (job->verdict == SWEEP_CRASHED && job->message[0] == '\0') {
        snprintf(job->message, sizeof job->message, "the process ended with status %d", WEXITSTATUS(status));
    } else if (job->verdict == SWEEP_TIMED_OUT) {
        snprintf(job->message, sizeof job->message, "stopped after %.3g s of wall time", job->wall_time);
    }
    unlink(job->log);
    pool->done(pool->context, job);
}

// ---------------------------------------------------------------------------- pool

// Take the outcome of one child that ended; false if none did.
static bool reap(SweepPool* pool, int from, int to)
{
    int status = 0;
    struct rusage usage;
    pid_t pid = wait4(-1, &status, WNOHANG, &usage);
    if (pid <= 0) {
        return false;
    }
    for (int i = from; i < to; i++) {
        if (pool->jobs[i].pid == pid) {
            finish(pool, &pool->jobs[i], status, &usage);
        }
    }
    return true;
}

// Ask jobs to stop that take too long, or all after a signal; kill those that were asked long ago.
static void stop_jobs(SweepPool* pool, int from, int to)
{
    double now = app_wall_time();
    for (int i = from; i < to; i++) {
        SweepJob* job = &pool->jobs[i];
        if (job->pid == 0) {
            continue;
        }
        bool is_late = now - job->start > pool->timeout;
        if (job->stop == 0.0 && (is_late || app_signals_get() != 0)) {
            job->stop = now;
            job->is_late = is_late;
            kill(job->pid, SIGTERM);
        } else if (job->stop > 0.0 && now - job->stop > GRACE) {
            kill(job->pid, SIGKILL);
        }
    }
}

static void nap(void)
{
    const struct timespec time = {.tv_nsec = 2000000};
    nanosleep(&time, NULL);
}

// Start jobs while there is room, from *next on; where not even one process can be had, that job has failed. Returns
// the number of those.
static int start_jobs(SweepPool* pool, int* next, int nbusy)
{
    while (nbusy < pool->nworker && *next < pool->njob && app_signals_get() == 0) {
        SweepJob* job = &pool->jobs[*next];
        bool is_started = start(pool, job);
        if (!is_started && nbusy > 0) {
            return 0;
        }
        ++*next;
        if (!is_started) {
            job->verdict = SWEEP_FAILED;
            job->end_time = NAN;
            snprintf(job->message, sizeof job->message, "cannot create a process: %s", strerror(errno));
            pool->done(pool->context, job);
            return 1;
        }
        nbusy++;
    }
    return 0;
}

void app_sweep_pool_run(SweepPool* pool)
{
    int first = 0;  // before it all are done
    int next = 0;   // to be started
    int ndone = 0;
    while (ndone < next || (next < pool->njob && app_signals_get() == 0)) {
        ndone += start_jobs(pool, &next, next - ndone);
        while (first < next && pool->jobs[first].pid == 0) {
            first++;
        }
        if (reap(pool, first, next)) {
            ndone++;
        } else {
            stop_jobs(pool, first, next);
            nap();
        }
        if (pool->progress != NULL) {
            app_progress_update_runs(pool->progress, ndone, next - ndone);
        }
    }
}
