// Child processes that execute runs. A child inherits the parsed model and ends after one run, so that a crash, exhausted memory or
// an endless step affects only that run; its outcome comes back through a pipe.
#define _DEFAULT_SOURCE  // wait4: the CPU time of one child
#define _GNU_SOURCE      // pipe2
#include "study/study.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/guard.h"
#include "io/text.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define GRACE 10.0  // s between asking a run to stop and killing it
#define PERIOD 0.1  // s of wall time between two looks at the time limits

typedef struct Slot {
    pid_t pid;       // 0: free
    int descriptor;  // of the pipe
    int run;
    double start;  // wall time, s
    double stop;   // wall time at which it was asked to stop, s; 0: it was not
    bool is_late;  // asked because it took too long
    ItmText line;
} Slot;

struct ItmStudyPool {
    ItmStudy* study;
    ItmStudyPoolOptions options;
    char* keep;
    Slot* slots;  // (nworker)
    struct pollfd* polled;
    int nbusy;
    char host[64];
};

ItmStudyPoolOptions itm_default_study_pool_options(void)
{
    return (ItmStudyPoolOptions){.nworker = 1, .timeout = INFINITY};
}

ItmStatus itm_study_pool_create(ItmStudyPool** pool, ItmStudy* study, const ItmStudyPoolOptions* options,
                                ItmError* error)
{
    ITM_GUARD(pool != NULL && study != NULL && study->is_prepared, ITM_ERR_ARGUMENT);
    ItmStudyPoolOptions chosen = options != NULL ? *options : itm_default_study_pool_options();
    ITM_GUARD(chosen.nworker >= 1 && chosen.nworker <= 4096, ITM_ERR_ARGUMENT);
    ItmStudyPool* p = calloc(1, sizeof *p);
    *pool = p;
    if (p == NULL) {
        return itm_study_fail_memory(error);
    }
    *p = (ItmStudyPool){.study = study, .options = chosen};
    p->slots = calloc((size_t)chosen.nworker, sizeof *p->slots);
    p->polled = calloc((size_t)chosen.nworker, sizeof *p->polled);
    p->keep = chosen.keep != NULL ? strdup(chosen.keep) : NULL;
    gethostname(p->host, sizeof p->host - 1);
    if (p->slots == NULL || p->polled == NULL || (chosen.keep != NULL && p->keep == NULL)) {
        itm_study_pool_destroy(p);
        *pool = NULL;
        return itm_study_fail_memory(error);
    }
    return ITM_OK;
}

int itm_study_pool_get_busy(const ItmStudyPool* p)
{
    ITM_GUARD(p != NULL, 0);
    return p->nbusy;
}

// ---------------------------------------------------------------------------- child

static volatile sig_atomic_t has_to_stop;  // of a child

static void note_stop(int signal)
{
    (void)signal;
    has_to_stop = 1;
}

static bool is_stopped(void)
{
    return has_to_stop != 0;
}

static void redirect(const char* path, int flags, int descriptor)
{
    int opened = open(path, flags);
    if (opened >= 0) {
        dup2(opened, descriptor);
        close(opened);
    }
}

static void write_all(int descriptor, const char* text, size_t length)
{
    while (length > 0) {
        ssize_t written = write(descriptor, text, length);
        if (written < 0 && errno != EINTR) {
            return;
        }
        text += written > 0 ? written : 0;
        length -= written > 0 ? (size_t)written : 0;
    }
}

// A terminal's ^C reaches children too; the parent decides and asks them with SIGTERM. They end with the parent.
static void set_signals(pid_t parent)
{
    struct sigaction stop = {.sa_handler = note_stop}, ignore = {.sa_handler = SIG_IGN};
    sigset_t none;
    sigaction(SIGTERM, &stop, NULL);
    sigaction(SIGINT, &ignore, NULL);
    sigaction(SIGHUP, &ignore, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) {
        has_to_stop = 1;
    }
}

static _Noreturn void be_child(const ItmStudyPool* p, int run, int descriptor, pid_t parent)
{
    set_signals(parent);
    redirect("/dev/null", O_RDONLY, STDIN_FILENO);
    redirect("/dev/null", O_WRONLY, STDOUT_FILENO);
    redirect("/dev/null", O_WRONLY, STDERR_FILENO);
    ItmText path = {0};
    if (p->keep != NULL && !p->options.is_probe) {
        bool is_reference = run >= p->study->nrun;
        itm_text_add(&path, p->keep);
        itm_text_format(&path, "/%s%d.h5", is_reference ? "reference" : "run",
                        1 + (is_reference ? run - p->study->nrun : run));
    }
    itm_study_execute(p->study, run, path.chars, p->options.is_probe, is_stopped);
    char* line = itm_study_write_run(p->study, run);
    if (line != NULL) {
        write_all(descriptor, line, strlen(line));
    }
    _exit(line != NULL ? 0 : 1);
}

// ---------------------------------------------------------------------------- parent

static void clear_run(const ItmStudy* s, ItmStudyRun* r)
{
    r->verdict = ITM_STUDY_WAITING;
    r->end_time = NAN;
    r->message[0] = '\0';
    for (int i = 0; i < s->responses.count; i++) {
        r->responses[i] = NAN;
    }
    for (int i = 0; r->traces != NULL && i < s->ntrace * s->npoint; i++) {
        r->traces[i] = NAN;
    }
    free(r->samples);
    r->samples = NULL;
}

ItmStatus itm_study_pool_start(ItmStudyPool* p, int run, ItmError* error)
{
    ITM_GUARD(p != NULL && ITM_IS_INDEX(run, p->study->nrun + p->study->nreference), ITM_ERR_ARGUMENT);
    int ends[2], free_slot = 0;
    while (free_slot < p->options.nworker && p->slots[free_slot].pid != 0) {
        free_slot++;
    }
    if (free_slot == p->options.nworker) {
        return itm_error_set(error, ITM_ERR_CAPACITY, __func__, NULL, "all %d processes are busy", p->options.nworker);
    }
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return itm_error_set(error, ITM_ERR_UNSUPPORTED, __func__, NULL, "cannot create a pipe: %s", strerror(errno));
    }
    clear_run(p->study, &p->study->runs[run]);
    // the child must not run the handlers of the program for a signal that is meant for itself
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        // only the parent reads: with a reader of its own a child whose parent has died would write for ever
        close(ends[0]);
        for (int i = 0; i < p->options.nworker; i++) {
            if (p->slots[i].pid != 0) {
                close(p->slots[i].descriptor);
            }
        }
        be_child(p, run, ends[1], parent);
    }
    int reason = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return itm_error_set(error, ITM_ERR_UNSUPPORTED, __func__, NULL, "cannot create a process: %s",
                             strerror(reason));
    }
    p->slots[free_slot] = (Slot){.pid = pid, .descriptor = ends[0], .run = run, .start = itm_clock()};
    p->study->runs[run].nattempt++;
    p->nbusy++;
    return ITM_OK;
}

static double to_seconds(struct timeval time)
{
    return (double)time.tv_sec + 1e-6 * (double)time.tv_usec;
}

// The outcome that a child did not send.
static void note_crash(ItmStudyRun* r, int status)
{
    r->verdict = ITM_STUDY_CRASHED;
    if (WIFSIGNALED(status)) {
        snprintf(r->message, sizeof r->message, "the process was killed by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    } else {
        snprintf(r->message, sizeof r->message, "the process ended with status %d", WEXITSTATUS(status));
    }
}

// Take the outcome of a child that has closed its pipe.
static void finish(ItmStudyPool* p, Slot* slot)
{
    struct rusage usage = {0};
    int status = 0;
    while (wait4(slot->pid, &status, 0, &usage) < 0 && errno == EINTR) {
    }
    close(slot->descriptor);
    ItmStudyRun* r = &p->study->runs[slot->run];
    int nattempt = r->nattempt, run = ITM_NONE;
    bool is_read = slot->line.chars != NULL && !slot->line.has_failed &&
                   itm_study_read_run(p->study, slot->line.chars, &run, NULL) == ITM_OK && run == slot->run;
    if (!is_read) {
        clear_run(p->study, r);
        note_crash(r, status);
    }
    r->nattempt = nattempt;
    r->wall_time = itm_clock() - slot->start;
    r->cpu_time = to_seconds(usage.ru_utime) + to_seconds(usage.ru_stime);
    snprintf(r->host, sizeof r->host, "%s", p->host);
    bool is_cut = r->verdict == ITM_STUDY_INTERRUPTED || r->verdict == ITM_STUDY_CRASHED;
    if (slot->is_late && is_cut) {
        r->verdict = ITM_STUDY_TIMED_OUT;
        snprintf(r->message, sizeof r->message, "stopped after %.3g s of wall time", p->options.timeout);
    } else if (slot->stop > 0.0 && r->verdict == ITM_STUDY_CRASHED) {
        r->verdict = ITM_STUDY_INTERRUPTED;
    }
    if (p->options.is_probe && r->verdict != ITM_STUDY_FAILED) {
        clear_run(p->study, r);
    }
    r->nattempt -= p->options.is_probe;
    itm_text_free(&slot->line);
    *slot = (Slot){0};
    p->nbusy--;
}

// Read what a child has sent; false at the end of it.
static bool receive(Slot* slot)
{
    char bytes[65536];
    ssize_t count = read(slot->descriptor, bytes, sizeof bytes);
    if (count > 0) {
        itm_text_add_bytes(&slot->line, bytes, (size_t)count);
    }
    return count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN));
}

// Ask runs to stop that take too long; kill those that were asked long ago.
static void check_times(ItmStudyPool* p)
{
    double now = itm_clock();
    for (int i = 0; i < p->options.nworker; i++) {
        Slot* slot = &p->slots[i];
        if (slot->pid != 0 && slot->stop == 0.0 && now - slot->start > p->options.timeout) {
            slot->stop = now;
            slot->is_late = true;
            kill(slot->pid, SIGTERM);
        } else if (slot->pid != 0 && slot->stop > 0.0 && now - slot->stop > GRACE) {
            kill(slot->pid, SIGKILL);
        }
    }
}

// Wait for a message of a child: its slot, NULL after `seconds` or a signal.
static Slot* poll_children(ItmStudyPool* p, double seconds)
{
    int count = 0;
    for (int i = 0; i < p->options.nworker; i++) {
        if (p->slots[i].pid != 0) {
            p->polled[count++] = (struct pollfd){.fd = p->slots[i].descriptor, .events = POLLIN};
        }
    }
    if (poll(p->polled, (nfds_t)count, (int)ceil(1e3 * seconds)) <= 0) {
        return NULL;
    }
    for (int i = 0, k = 0; i < p->options.nworker; i++) {
        if (p->slots[i].pid != 0 && p->polled[k++].revents != 0) {
            return &p->slots[i];
        }
    }
    return NULL;
}

int itm_study_pool_wait(ItmStudyPool* p, double seconds)
{
    ITM_GUARD(p != NULL, ITM_NONE);
    double end = itm_clock() + seconds;
    for (double left = seconds; left >= 0.0; left = end - itm_clock()) {
        errno = 0;
        Slot* slot = poll_children(p, fmin(left, PERIOD));
        if (slot == NULL && errno == EINTR) {
            return ITM_NONE;
        }
        if (slot != NULL && !receive(slot)) {
            int run = slot->run;
            finish(p, slot);
            return run;
        }
        check_times(p);
    }
    return ITM_NONE;
}

void itm_study_pool_stop(ItmStudyPool* p)
{
    ITM_GUARD_VOID(p != NULL);
    for (int i = 0; i < p->options.nworker; i++) {
        if (p->slots[i].pid != 0 && p->slots[i].stop == 0.0) {
            p->slots[i].stop = itm_clock();
            kill(p->slots[i].pid, SIGTERM);
        }
    }
}

void itm_study_pool_destroy(ItmStudyPool* p)
{
    ITM_GUARD_VOID(p != NULL);
    for (int i = 0; p->slots != NULL && i < p->options.nworker; i++) {
        if (p->slots[i].pid != 0) {
            kill(p->slots[i].pid, SIGKILL);
            while (waitpid(p->slots[i].pid, NULL, 0) < 0 && errno == EINTR) {
            }
            close(p->slots[i].descriptor);
            itm_text_free(&p->slots[i].line);
        }
    }
    free(p->slots);
    free(p->polled);
    free(p->keep);
    free(p);
}
