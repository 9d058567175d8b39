// The measurements, once, for Interim and for every peer: a subject says how it builds a scene, steps it
// and looks at it; what is timed and reported is the same for all.
//
// Output, one line a figure:  subject scene n metric value.  Times are CPU time of this process in
// microseconds a step (or call); every subject runs in one thread.
#ifndef ITM_BENCH_MEASURE_H
#define ITM_BENCH_MEASURE_H

#include "scenes/numbers.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// Direction of the first upright of the four-bar: (sin, cos) of its angle.
typedef struct BenchDirection {
    double x, z;
} BenchDirection;

typedef struct BenchTouch {
    int ncontact;
    double penetration;  // of the deepest, m
    long unsolved;       // islands so far that were not solved to the tolerance, where the subject knows
} BenchTouch;

// A scene inside a subject. Functions that a scene does not need may be NULL.
typedef struct BenchSubject {
    const char* name;
    void* (*create)(int n);  // a scene of size n, at its start
    void (*destroy)(void* scene);
    void (*step)(void* scene, int count);       // `count` steps of ITM_SCENE_STEP
    double (*forward)(void* scene, int count);  // `count` forward dynamics, each of a slightly
                                                // different state; |v'| of the last, the true start
    double (*inverse)(void* scene, int count);  // the same for inverse dynamics with accelerations 1, 2, 3, ...; |tau|
    double (*get_tip_z)(void* scene);           // arm: of the tool; chain: of the far end             m
    double (*get_energy)(void* scene);          // kinetic and potential                               J
    double (*get_gap)(void* scene);             // four-bar: largest distance of two joint ends        m
    BenchDirection (*get_upright)(void* scene);
    void (*get_brick)(void* scene, int i, double p[3]);  // bricks: centre of brick i             m
    BenchTouch (*get_touch)(void* scene);                // bricks: contacts of the last step
} BenchSubject;

// CPU time of this process, s.
double bench_now(void);
void bench_report(const char* subject, const char* scene, int n, const char* metric, double value);
// "yes" where a figure reaches its goal, otherwise "NO"; bench/run.sh counts these words over all tables.
const char* bench_at_most(double value, double goal);
const char* bench_at_least(double value, double goal);
// Whether the command line asks for this scene: no arguments ask for all.
bool bench_is_wanted(int argc, char** argv, const char* scene);

typedef enum BenchKind {
    BENCH_ARM,          // forward dynamics and steps of the arm
    BENCH_ARM_GRAVITY,  // the same under gravity
    BENCH_CHAIN,        // one second of the chain, for n = 10 ... 1000
    BENCH_LOOP,         // ten seconds of the four-bar, for n = 2, 10, 40
    BENCH_WALL,         // n = 10, 50, 200 bricks, two seconds to settle, one measured
    BENCH_FLOOR,        // n = 10 ... 1000 bricks each alone on the floor, settled
    BENCH_PILE_BOXES,   // n = 1000, 5000 boxes dropped in columns: the first half second, and the next
    BENCH_PILE_SPHERES  // the same with spheres
} BenchKind;

typedef struct BenchScene {
    BenchKind kind;
    int n_max;  // leaves out sizes that a subject is too slow for; 0: none
    BenchSubject subject;
} BenchScene;

// Measure those of the scenes that the command line asks for.
void bench_run_scenes(const BenchScene* scenes, int count, int argc, char** argv);

#define BENCH_COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

#ifdef __cplusplus
}
#endif

#endif
