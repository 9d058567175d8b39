// A command line of Interim as a user runs it: its times and its memory, from start to end.
#ifndef ITM_BENCH_COMMAND_H
#define ITM_BENCH_COMMAND_H

typedef struct BenchCommand {
    double wall, cpu;  // s; cpu: of the process and its children
    double memory;     // largest resident set, bytes
} BenchCommand;

// Run `interim WORD...`, words ending with NULL, in silence; ends this program where the status is not 0. Each entry of *least
// becomes the least seen so far; begin with BENCH_COMMAND_NONE.
void bench_run_command(const char* const* words, BenchCommand* least);

#define BENCH_COMMAND_NONE ((BenchCommand){INFINITY, INFINITY, INFINITY})

// A new folder for files of this program, which becomes the working directory, and its removal with all files in it.
void bench_enter_folder(void);
void bench_leave_folder(void);

#endif
