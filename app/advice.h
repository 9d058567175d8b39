// The search for the largest stable macro step of a coupling.
#ifndef INTERIM_APP_ADVICE_H
#define INTERIM_APP_ADVICE_H

#include "app.h"

// Options of all bonds: at line actuators, and at frames of mechanisms, which move together by interface models only.
typedef struct AdviceChoice {
    const char* name;
    ItmBondOptions line, frame;
} AdviceChoice;

typedef enum AdviceVerdict {
    ADVICE_STABLE,
    ADVICE_UNSTABLE,
    ADVICE_UNKNOWN,  // a trial could not be built or run, or is stable at the start and breaks down later
    ADVICE_STOPPED,  // the budget is spent, or there is no memory
} AdviceVerdict;

// A macro step that was judged.
typedef struct AdviceTrial {
    double H;  // s
    AdviceVerdict verdict;
    double radius;      // stable, unstable
    bool is_confirmed;  // stable, and a run did not break down
    double change;      // then: when contacts or limits first change in that run, s; INFINITY: they do not
    char reason[sizeof((ItmError){0}.message)];  // otherwise
} AdviceTrial;

// The macro steps of a coupling.
typedef struct AdviceLimit {
    double stable;      // the largest H up to which all that were judged are stable, s; 0: none is
    double change;      // as of the trial with that H, s
    bool is_cut;        // larger ones were not tried for the work they take
    AdviceTrial above;  // the smallest H judged that is not stable; ADVICE_STABLE: all are
} AdviceLimit;

// The search on a file, whose options it changes until the end.
typedef struct Advice Advice;

// budget: processor time for all of it, s; each of `nchoice` couplings gets its share of what is left. NULL after printing what is wrong.
Advice* app_advice_begin(ItmModelFile* file, int nchoice, double budget);
// Puts the file back as it was. Returns false after printing that there was not enough memory.
bool app_advice_end(Advice* a);
// From here on trials are those of this coupling.
void app_advice_choose(Advice* a, const AdviceChoice* choice);
// needs_run: confirmed by a run where it is stable.
AdviceTrial app_advice_judge(Advice* a, double H, bool needs_run);
AdviceLimit app_advice_find_limit(Advice* a);
// Clear the line on the terminal before something is printed.
void app_advice_hide_progress(Advice* a);
// Whether a bond joins two mechanisms.
bool app_advice_is_frame(const ItmModelFile* file, const ItmFileBond* bond);
// The step of which every H is a multiple, s; INFINITY: the subsystems have no common one.
double app_advice_get_base(const Advice* a);

#endif
