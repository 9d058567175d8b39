#define _DEFAULT_SOURCE  // wait4
#include "bench/command.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_WORDS = 16 };

static char folder[] = "/tmp/interim-bench-XXXXXX";

static void fail(const char* reason, const char* const* words)
{
    fprintf(stderr, "bench: %s: interim", reason);
    for (int i = 0; words[i] != NULL; i++) {
        fprintf(stderr, " %s", words[i]);
    }
    fprintf(stderr, "\n");
    exit(1);
}

static double get_wall_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double get_seconds(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static void execute(const char* const* words)
{
    char* arguments[MOST_WORDS + 2] = {"interim"};
    for (int i = 0; i < MOST_WORDS && words[i] != NULL; i++) {
        arguments[i + 1] = (char*)words[i];
    }
    int null = open("/dev/null", O_WRONLY);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    execv(ITM_COMMAND, arguments);
    _exit(127);
}

void bench_run_command(const char* const* words, BenchCommand* least)
{
    struct rusage usage = {0};
    int status = 1;
    double start = get_wall_time();
    pid_t pid = fork();
    if (pid == 0) {
        execute(words);
    }
    if (pid < 0 || wait4(pid, &status, 0, &usage) != pid || status != 0) {
        fail("failed", words);
    }
    least->wall = fmin(least->wall, get_wall_time() - start);
    least->cpu = fmin(least->cpu, get_seconds(usage.ru_utime) + get_seconds(usage.ru_stime));
    least->memory = fmin(least->memory, 1024.0 * (double)usage.ru_maxrss);
}

void bench_enter_folder(void)
{
    if (mkdtemp(folder) == NULL || chdir(folder) != 0) {
        fprintf(stderr, "bench: no folder for files\n");
        exit(1);
    }
}

void bench_leave_folder(void)
{
    DIR* files = opendir(".");
    for (struct dirent* file = files != NULL ? readdir(files) : NULL; file != NULL; file = readdir(files)) {
        unlink(file->d_name);  // refuses . and ..
    }
    if (files == NULL || closedir(files) != 0 || rmdir(folder) != 0) {
        fprintf(stderr, "bench: %s could not be removed\n", folder);
    }
}
