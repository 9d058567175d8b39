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

// The bar, and what follows it where there is room for both.
static void draw(double share, const char* numbers)
{
    char bar[256];
    int room = terminal_width() - (int)strlen(numbers) - 3;
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

// "0:07 left", from the share that is done.
static void format_left(char* text, size_t size, double share, double spent)
{
    char time[32];
    format_seconds(time, sizeof time, share > 0.0 ? spent / share - spent : 0.0);
    snprintf(text, size, "%s left", time);
}

// Whether it is time to draw again; notes that it was.
static bool is_due(AppProgress* p)
{
    double now = p->is_shown ? app_wall_time() : 0.0;
    if (!p->is_shown || now - p->drawn < DRAW_PERIOD) {
        return false;
    }
    p->drawn = now;
    return true;
}

AppProgress app_progress_begin(double duration, bool is_quiet)
{
    double now = app_wall_time();
    return (AppProgress){
        .is_shown = !is_quiet && isatty(STDERR_FILENO) == 1, .start = now, .drawn = now, .duration = duration};
}

void app_progress_update(AppProgress* p, double time)
{
    if (!is_due(p)) {
        return;
    }
    double share = p->duration > 0.0 ? time / p->duration : 1.0;
    double spent = p->drawn - p->start;
    char left[48], numbers[160];
    format_left(left, sizeof left, share, spent);
    snprintf(numbers, sizeof numbers, " %3.0f %%  %.4g of %.4g s  %.3g x real time  %s", 100.0 * share, time,
             p->duration, time / spent, left);
    draw(share, numbers);
}

void app_progress_update_runs(AppProgress* p, int ndone, int nbusy)
{
    if (!is_due(p)) {
        return;
    }
    double share = p->duration > 0.0 ? ndone / p->duration : 1.0;
    char left[48], numbers[160];
    format_left(left, sizeof left, share, p->drawn - p->start);
    snprintf(numbers, sizeof numbers, " %d of %.0f runs, %d running%s%s", ndone, p->duration, nbusy,
             ndone > 0 ? ", " : "", ndone > 0 ? left : "");
    draw(share, numbers);
}

void app_progress_update_share(AppProgress* p, double share, const char* text)
{
    if (!is_due(p)) {
        return;
    }
    char numbers[160];
    snprintf(numbers, sizeof numbers, " %3.0f %% of the budget, %s", 100.0 * share, text);
    draw(share, numbers);
}

void app_progress_end(AppProgress* p)
{
    if (p->is_shown && p->drawn > p->start) {
        fputs("\r\033[K", stderr);
    }
}
