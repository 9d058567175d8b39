#include "app.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define DRAW_PERIOD 0.1  // s of wall time

static int terminal_width(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
        return 80;
    }
    return size.ws_col;
}

// "0:07" or "2:01:30"
static void format_seconds(char* text, size_t size, double seconds)
{
    long s = seconds < 360000.0 ? (long)(seconds + 0.5) : 359999;
    if (s >= 3600) {
        snprintf(text, size, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    } else {
        snprintf(text, size, "%ld:%02ld", s / 60, s % 60);
    }
}

static void draw(const AppProgress* p, double time, double now)
{
    double share = p->duration > 0.0 ? time / p->duration : 1.0;
    double spent = now - p->start;
    char left[32], numbers[128], bar[256];
    format_seconds(left, sizeof left, share > 0.0 ? spent / share - spent : 0.0);
    int used = snprintf(numbers, sizeof numbers, " %3.0f %%  %.4g of %.4g s  %.3g x real time  %s left",
                        100.0 * share, time, p->duration, spent > 0.0 ? time / spent : 0.0, left);
    int room = terminal_width() - used - 3;
    room = room > 40 ? 40 : room;
    if (room < 4) {
        fprintf(stderr, "\r\033[K%.*s", terminal_width() - 1, numbers + 1);
        return;
    }
    int full = (int)(share * room + 0.5);
    full = full > room ? room : full;
    memset(bar, '#', (size_t)full);
    memset(bar + full, '.', (size_t)(room - full));
    bar[room] = '\0';
    fprintf(stderr, "\r\033[K[%s]%s", bar, numbers);
}

AppProgress app_progress_begin(double duration, bool is_quiet)
{
    double now = app_wall_time();
    return (AppProgress){.is_shown = !is_quiet && isatty(STDERR_FILENO) == 1,
                         .start = now,
                         .drawn = now,
                         .duration = duration};
}

void app_progress_update(AppProgress* p, double time)
{
    if (!p->is_shown) {
        return;
    }
    double now = app_wall_time();
    if (now - p->drawn >= DRAW_PERIOD) {
        p->drawn = now;
        draw(p, time, now);
    }
}

void app_progress_end(AppProgress* p)
{
    if (p->is_shown && p->drawn > p->start) {
        fputs("\r\033[K", stderr);
    }
}
