#include "app.h"

#include <signal.h>

static const int SIGNALS[] = {SIGINT, SIGTERM, SIGHUP};
#define NSIGNAL ((int)(sizeof SIGNALS / sizeof SIGNALS[0]))

static volatile sig_atomic_t stop_signal = 0;

// End as the system would, but leave no unpacked FMU behind. The signal is blocked here and comes when this returns.
static void end_process(int number)
{
    itm_file_remove_unpacked();
    signal(number, SIG_DFL);
    raise(number);
}

static void note_signal(int number)
{
    if (stop_signal != 0) {
        end_process(number);
    }
    stop_signal = number;
}

static bool is_ignored(int number)
{
    struct sigaction action;
    return sigaction(number, NULL, &action) != 0 || action.sa_handler == SIG_IGN;
}

static void set_handler(void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < NSIGNAL; i++) {
        if (!is_ignored(SIGNALS[i])) {
            sigaction(SIGNALS[i], &action, NULL);
        }
    }
}

void app_signals_catch(void)
{
    set_handler(note_signal, SA_RESTART);
}

void app_signals_release(void)
{
    set_handler(end_process, 0);
}

void app_signals_block(bool is_blocked)
{
    sigset_t set;
    sigemptyset(&set);
    for (int i = 0; i < NSIGNAL; i++) {
        sigaddset(&set, SIGNALS[i]);
    }
    sigprocmask(is_blocked ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}

int app_signals_get(void)
{
    return (int)stop_signal;
}
