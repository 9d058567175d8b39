// A hostile FMU: the oscillator, with faults that the file resources/fault.txt names: "<call> <action> [<n>]", the fault at
// the n-th call of that name (first: 1).
#define _GNU_SOURCE
#include "fmu.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "integrate.h"

static void enter(void* instance, const char* name);
static double integrate(Fmu* m, double t, double h, const FmuGuest* guest, bool* has_event);
static double derivative_factor = 1.0;
#define FMU_ENTER(instance, name) enter(instance, name)
#define FMU_DERIVATIVE_FACTOR derivative_factor
#define fmu_integrate integrate

#include "fmu2.c"
#undef fmu_integrate

// symbols that numerical libraries have, too: they must not meet ours
EXPORT int CVode(void);
EXPORT int dgemm_(void);
EXPORT int daxpy_(void);
int CVode(void)
{
    abort();
}
int dgemm_(void)
{
    abort();
}
int daxpy_(void)
{
    abort();
}

static char call_name[64], action[64];
static int nth, ncall, ninstance;
static double latched;  // rate of the last step
static bool has_lied;

static void read_fault(const char* path)
{
    FILE* file = fopen(path, "r");
    nth = 1;
    if (file != NULL) {
        if (fscanf(file, "%63s %63s %d", call_name, action, &nth) < 2) {
            call_name[0] = '\0';
        }
        fclose(file);
    }
}

__attribute__((constructor)) static void find_fault(void)
{
    // the library is in binaries/<platform>, the file in resources
    extern int dladdr(const void*, void*);
    struct {
        const char* name;
        void* base;
        const char* symbol;
        void* address;
    } info;
    char path[4096];
    if (dladdr((const void*)read_fault, &info) != 0) {
        snprintf(path, sizeof path, "%s", info.name);
        for (int i = 0; i < 3; i++) {
            char* slash = strrchr(path, '/');
            if (slash != NULL) {
                *slash = '\0';
            }
        }
        strncat(path, "/resources/fault.txt", sizeof path - strlen(path) - 1);
        read_fault(path);
    }
}

static void say_result(Instance* x, const char* what, bool is_refused)
{
    char text[200];
    snprintf(text, sizeof text, "%s %s", what, is_refused ? "was refused" : "worked");
    if (x != NULL) {
        say(x, fmi2Warning, text);
    }
}

static void act(void* instance)
{
    Instance* x = instance;
    if (strcmp(action, "crash") == 0) {
        *(volatile int*)NULL = 1;
    } else if (strcmp(action, "abort") == 0) {
        abort();
    } else if (strcmp(action, "divide") == 0) {
        raise(SIGFPE);
    } else if (strcmp(action, "exit") == 0) {
        exit(7);
    } else if (strcmp(action, "hang") == 0) {
        for (volatile int i = 0;; i++) {
        }
    } else if (strcmp(action, "sleep") == 0) {
        sleep(3600);
    } else if (strcmp(action, "stop") == 0) {
        raise(SIGSTOP);
    } else if (strcmp(action, "leak") == 0) {
        for (;;) {
            char* p = malloc(1 << 20);
            if (p == NULL) {
                abort();
            }
            memset(p, 1, 1 << 20);
        }
    } else if (strcmp(action, "fork") == 0) {
        pid_t pid = fork();
        if (pid == 0) {
            sleep(3600);
            _exit(0);
        }
        say_result(x, "fork", pid < 0);
    } else if (strcmp(action, "exec") == 0) {
        char* arguments[] = {"/bin/true", NULL};
        execv(arguments[0], arguments);
        say_result(x, "exec", true);
    } else if (strcmp(action, "kill") == 0) {
        say_result(x, "kill", kill(getppid(), SIGKILL) != 0);
    } else if (strcmp(action, "around") == 0) {
        // signals through /proc, requests that no filter sees, keys typed into a terminal; bad arguments, were they not refused
        char path[40];
        snprintf(path, sizeof path, "/proc/%d", (int)getppid());
        int folder = open(path, O_RDONLY | O_DIRECTORY);
        say_result(x, "pidfd", syscall(SYS_pidfd_send_signal, folder, 0, NULL, 0) != 0 && errno == EPERM);
        close(folder);
        say_result(x, "uring", syscall(SYS_io_uring_setup, 0, NULL) != 0 && errno == EPERM);
        say_result(x, "keys", ioctl(-1, TIOCSTI, "x") != 0 && errno == EPERM);
    } else if (strcmp(action, "network") == 0) {
        int s = socket(AF_INET, SOCK_STREAM, 0);
        say_result(x, "socket", s < 0 && errno == EACCES);
    } else if (strcmp(action, "flood") == 0) {
        for (int i = 0; i < 20000; i++) {
            printf("line %d of a flood of output that nobody asked for\n", i);
            if (x != NULL) {
                say(x, fmi2Warning, "and messages to go with it, one after the other, without an end");
            }
        }
    } else if (strcmp(action, "write") == 0) {
        FILE* file = tmpfile();
        char block[65536];
        memset(block, 0, sizeof block);
        while (file != NULL && fwrite(block, 1, sizeof block, file) == sizeof block) {
        }
    } else if (strcmp(action, "format") == 0 && x != NULL) {
        x->callbacks.logger(x->callbacks.componentEnvironment, x->name, fmi2Warning, "model", "#r1# %d %s %5.3f %c", 42,
                            "te\033[2J\xc2\x9bxt", 3.14159, 'c');
    } else if (strcmp(action, "close") == 0) {
        for (int i = 0; i < 64; i++) {
            close(i);
        }
    } else if (strcmp(action, "once") == 0 && ++ninstance > 1) {
        abort();
    } else if (strcmp(action, "nan") == 0 && x != NULL) {
        x->m.r[0] = NAN;
    } else if (strcmp(action, "twist") == 0) {
        derivative_factor = 1.01;
    } else if (strcmp(action, "lie") == 0) {
        has_lied = true;
    }
}

static double integrate(Fmu* m, double t, double h, const FmuGuest* guest, bool* has_event)
{
    if (strcmp(action, "latch") == 0) {
        // the first stage of a step uses the rate of the last one
        m->r[0] += 0.25 * h * (latched - m->r[5]);
        latched = m->r[5];
    }
    if (has_lied) {
        // a restored state that is not quite the saved one
        m->r[1] += 1e-9;
        has_lied = false;
    }
    return fmu_integrate(m, t, h, guest, has_event);
}

static void enter(void* instance, const char* name)
{
    if (strcmp(name, call_name) == 0 && ++ncall == nth) {
        act(instance);
    }
}
