// Limits by setrlimit, and a filter of system calls (seccomp) written by hand: no library is needed, and none may be linked.
//
// The filter refuses with an error code, it does not kill: an FMU that looks for its licence server gets "permission denied"
// and may report that. Refused: sockets other than local ones, new processes and programs, tracing, signals to other
// processes. Threads are allowed. It keeps an FMU from doing harm by mistake; it is no protection against an attacker, who
// can still read every file of the user.
#define _GNU_SOURCE
#include "sandbox.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

// ---------------------------------------------------------------------------- limits

static bool limit(__rlimit_resource_t resource, double most)
{
    struct rlimit r;
    if (getrlimit(resource, &r) != 0) {
        return false;
    }
    if (most > 0.0 && (r.rlim_max == RLIM_INFINITY || most < (double)r.rlim_max)) {
        r.rlim_cur = r.rlim_max = (rlim_t)most;
    }
    return setrlimit(resource, &r) == 0;
}

static bool set_limits(const ItmFmuLimits* l)
{
    struct rlimit none = {0, 0};
    bool is_good = setrlimit(RLIMIT_CORE, &none) == 0 && limit(RLIMIT_FSIZE, l->file) && limit(RLIMIT_NOFILE, 256.0);
#if !defined(__SANITIZE_ADDRESS__)
    // memory that can be written; the address space may be larger, libraries reserve it
    is_good = is_good && limit(RLIMIT_DATA, l->memory);
#endif
    return is_good;
}

// ---------------------------------------------------------------------------- filter

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#endif

#ifdef ARCH

#define FIELD(name) ((unsigned)offsetof(struct seccomp_data, name))
#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset)
#define ANSWER(code) BPF_STMT(BPF_RET | BPF_K, (code))
#define ALLOW ANSWER(SECCOMP_RET_ALLOW)
#define DENY(error) ANSWER(SECCOMP_RET_ERRNO | (error))
// skip `n` instructions unless the accumulator is `value`
#define UNLESS(value, n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (n))

#define MOST_CODE 96

typedef struct Filter {
    struct sock_filter code[MOST_CODE];
    unsigned short n;
} Filter;

static void add(Filter* f, struct sock_filter instruction)
{
    f->code[f->n++] = instruction;
}

static void deny(Filter* f, int call, unsigned error)
{
    add(f, (struct sock_filter)UNLESS((unsigned)call, 1));
    add(f, (struct sock_filter)DENY(error));
}

// The call only with a first argument equal to `value` (low half).
static void allow_only(Filter* f, int call, unsigned value, unsigned error)
{
    add(f, (struct sock_filter)UNLESS((unsigned)call, 4));
    add(f, (struct sock_filter)LOAD(FIELD(args[0])));
    add(f, (struct sock_filter)UNLESS(value, 1));
    add(f, (struct sock_filter)ALLOW);
    add(f, (struct sock_filter)DENY(error));
}

static void refuse_processes(Filter* f)
{
#ifdef SYS_fork
    deny(f, SYS_fork, EPERM);
    deny(f, SYS_vfork, EPERM);
#endif
    deny(f, SYS_execve, EPERM);
    deny(f, SYS_execveat, EPERM);
    deny(f, SYS_clone3, ENOSYS);  // its flags are behind a pointer; the C library then uses clone
    // clone makes threads, not processes
    add(f, (struct sock_filter)UNLESS((unsigned)SYS_clone, 4));
    add(f, (struct sock_filter)LOAD(FIELD(args[0])));
    add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (unsigned)CLONE_THREAD, 0, 1));
    add(f, (struct sock_filter)ALLOW);
    add(f, (struct sock_filter)DENY(EPERM));
}

static void refuse_others(Filter* f)
{
    unsigned self = (unsigned)getpid();
    deny(f, SYS_ptrace, EPERM);
    deny(f, SYS_process_vm_readv, EPERM);
    deny(f, SYS_process_vm_writev, EPERM);
    deny(f, SYS_pidfd_open, EPERM);
    deny(f, SYS_pidfd_send_signal, EPERM);  // it also takes an open folder of /proc
    deny(f, SYS_setpgid, EPERM);
    deny(f, SYS_setsid, EPERM);
    allow_only(f, SYS_kill, self, EPERM);
    allow_only(f, SYS_tgkill, self, EPERM);
    deny(f, SYS_tkill, EPERM);
    deny(f, SYS_rt_sigqueueinfo, EPERM);
    deny(f, SYS_rt_tgsigqueueinfo, EPERM);
    deny(f, SYS_io_uring_setup, EPERM);  // its requests are not system calls: no filter sees them
    // keys typed into the terminal of the user
    add(f, (struct sock_filter)UNLESS((unsigned)SYS_ioctl, 4));
    add(f, (struct sock_filter)LOAD(FIELD(args[1])));
    add(f, (struct sock_filter)UNLESS((unsigned)TIOCSTI, 1));
    add(f, (struct sock_filter)DENY(EPERM));
    add(f, (struct sock_filter)ALLOW);
}

static bool set_filter(const ItmFmuLimits* l)
{
    Filter f = {.n = 0};
    add(&f, (struct sock_filter)LOAD(FIELD(arch)));
    add(&f, (struct sock_filter)UNLESS(ARCH, 1));
    add(&f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0));
    add(&f, (struct sock_filter)DENY(EPERM));
    add(&f, (struct sock_filter)LOAD(FIELD(nr)));
#if defined(__x86_64__)
    // numbers of the x32 interface would pass the comparisons below
    add(&f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000u, 0, 1));
    add(&f, (struct sock_filter)DENY(EPERM));
#endif
    refuse_others(&f);
    if (!l->has_processes) {
        refuse_processes(&f);
    }
    if (!l->has_network) {
        allow_only(&f, SYS_socket, AF_UNIX, EACCES);
    }
    add(&f, (struct sock_filter)ALLOW);
    struct sock_fprog program = {.len = f.n, .filter = f.code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

#else

// no filter for this processor: limits only
static bool set_filter(const ItmFmuLimits* l)
{
    (void)l;
    return true;
}

#endif

bool itm_sandbox_enter(const ItmFmuLimits* limits, const char** why)
{
    *why = "the limits of the process cannot be set";
    if (!set_limits(limits)) {
        return false;
    }
    *why = "the filter of system calls cannot be set: the kernel or a container refuses seccomp";
    return set_filter(limits);
}
