// Random models: trees of bodies with joints, springs, dampers, a loop, or bodies that fall on a floor. For every model
//   - joint and absolute coordinates tend to the same motion as the step shrinks (models without contacts);
//   - a state saved half way continues bit for bit, also in another instance;
//   - energy that is out of balance is told (a doubt, or a breakdown).
//   models COUNT [SEED]
// Prints a line per failure and the totals; status 1 if any failed. The same seed gives the same models.
#include "interim/interim.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_SIZE 20000
#define DURATION 0.05  // s
#define STEP 1e-3      // s

static uint64_t state;

static double uniform(double lo, double hi)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return lo + (hi - lo) * (double)(state >> 11) / 9007199254740992.0;
}

static int choose(int n)
{
    return (int)uniform(0.0, n - 1e-9);
}

// ---------------------------------------------------------------------------- generator

typedef struct Text {
    char chars[TEXT_SIZE];
    size_t length;
} Text;

#define ADD(text, ...)                                                                                                 \
    ((text)->length += (size_t)snprintf((text)->chars + (text)->length, TEXT_SIZE - (text)->length, __VA_ARGS__))

static void add_axis(Text* t)
{
    ADD(t, "axis: [%.3f, %.3f, %.3f]", uniform(0.2, 1), uniform(-1, 1), uniform(-1, 1));
}

// Bodies in places of their own; each joint is half way between its bodies.
static void add_tree(Text* t, int n, double (*at)[3])
{
    static const char* const TYPES[] = {"revolute", "prismatic", "spherical", "revolute", "universal", "cylindrical"};
    ADD(t, "  joints:\n");
    for (int i = 0; i < n; i++) {
        int parent = i == 0 ? -1 : choose(i + 1) - 1;
        const double zero[3] = {0};
        const double* p = parent >= 0 ? at[parent] : zero;
        int type = choose(6);
        char name[16] = "ground";
        if (parent >= 0) {
            snprintf(name, sizeof name, "b%d", parent);
        }
        ADD(t, "    j%d: {type: %s, bodies: [%s, b%d], at: [%.4f, %.4f, %.4f]", i, TYPES[type], name, i,
            0.5 * (p[0] + at[i][0]), 0.5 * (p[1] + at[i][1]), 0.5 * (p[2] + at[i][2]));
        if (type == 4) {
            ADD(t, ", axis: [1, 0, 0], x_axis: [0, 1, 0]");
        } else if (type != 2) {
            ADD(t, ", ");
            add_axis(t);
        }
        ADD(t, "}\n");
    }
    if (n >= 3 && choose(3) == 0) {  // a loop: two bodies meet in a point
        ADD(t, "    loop: {type: spherical, bodies: [b0, b%d], at: [%.4f, %.4f, %.4f]}\n", n - 1,
            0.5 * (at[0][0] + at[n - 1][0]), 0.5 * (at[0][1] + at[n - 1][1]), 0.5 * (at[0][2] + at[n - 1][2]));
    }
    ADD(t,
        "  forces:\n    pull: {type: spring, bodies: [ground, b%d], at_a: [0, 0, 2 m], at_b: [%.4f, %.4f, %.4f], stiffness: %.1f, "
        "damping: %.2f}\n",
        n - 1, at[n - 1][0], at[n - 1][1], at[n - 1][2], uniform(10, 500), uniform(0, 5));
}

// Returns whether the model has contacts.
static bool generate(Text* t)
{
    double at[8][3];
    int n = 1 + choose(6);
    bool has_contacts = choose(3) == 0;
    t->length = 0;
    ADD(t, "multibody:\n  bodies:\n");
    for (int i = 0; i < n; i++) {
        at[i][0] = 1.2 * (i + 1) * cos(1.3 * i) + uniform(-0.2, 0.2);
        at[i][1] = 1.2 * (i + 1) * sin(1.3 * i) + uniform(-0.2, 0.2);
        at[i][2] = has_contacts ? uniform(0.3, 0.5) : uniform(-1, 1);
        ADD(t, "    b%d: {density: %.0f, position: [%.4f, %.4f, %.4f], shape: {", i, uniform(100, 8000), at[i][0],
            at[i][1], at[i][2]);
        if (choose(2) == 0) {
            ADD(t, "box: [%.3f, %.3f, %.3f]", uniform(0.1, 0.5), uniform(0.1, 0.5), uniform(0.1, 0.5));
        } else {
            ADD(t, "sphere: %.3f", uniform(0.05, 0.25));
        }
        ADD(t, "%s}}\n", has_contacts ? ", collide: true" : "");
    }
    if (has_contacts) {
        ADD(t, "  shapes:\n    floor: {body: ground, plane: [0, 0, 1]}\n");
    } else {
        add_tree(t, n, at);
    }
    ADD(t, "run: {duration: 1 s, step: 1 ms}\n");
    return has_contacts;
}

// ---------------------------------------------------------------------------- runs

typedef struct Run {
    ItmModelFile* file;
    ItmCosim* cosim;
    ItmError error;
    ItmStatus status;
} Run;

static Run start(const Text* t, const char* coordinates, double step)
{
    char first[64], second[64];
    snprintf(first, sizeof first, "multibody.coordinates=%s", coordinates);
    snprintf(second, sizeof second, "run.step=%.17g s", step);
    const char* overrides[] = {first, second};
    Run r = {0};
    r.status = itm_file_parse(&r.file, t->chars, t->length, "random.yaml", overrides, 2, &r.error);
    r.status = r.status == ITM_OK ? itm_file_create_cosim(&r.cosim, r.file, NULL, &r.error) : r.status;
    return r;
}

static void end(Run* r)
{
    itm_cosim_destroy(r->cosim);
    itm_file_destroy(r->file);
}

static ItmStatus steps(Run* r, double duration, double step)
{
    long n = lround(duration / step);
    ItmStatus status = ITM_OK;
    for (long i = 0; i < n && status == ITM_OK; i++) {
        status = itm_cosim_step(r->cosim);
    }
    return status;
}

// Largest distance between the bodies of two runs; -1 where one broke down.
static double measure(const Text* t, double step)
{
    Run a = start(t, "joint", step), b = start(t, "absolute", step);
    double largest = -1.0;
    if (a.status == ITM_OK && b.status == ITM_OK && steps(&a, DURATION, step) == ITM_OK &&
        steps(&b, DURATION, step) == ITM_OK) {
        largest = 0.0;
        for (int i = 0; i < itm_model_get_info(a.file->model).nbody; i++) {
            ItmVec3 p = itm_data_get_body_pose(a.file->model, itm_cosim_get_data(a.cosim, 0), i).p;
            ItmVec3 q = itm_data_get_body_pose(b.file->model, itm_cosim_get_data(b.cosim, 0), i).p;
            largest = fmax(largest, fabs(p.x - q.x) + fabs(p.y - q.y) + fabs(p.z - q.z));
        }
    }
    end(&a);
    end(&b);
    return largest;
}

// The two coordinates are two first-order methods: their difference is O(h), so that it halves with the step. Rounding: 1e-9 m.
static const char* check_coordinates(const Text* t)
{
    static char why[100];
    double coarse = measure(t, STEP), fine = measure(t, 0.25 * STEP);
    if (coarse < 0.0 || fine < 0.0 || fine < 1e-9 || fine < 0.5 * coarse) {
        return NULL;
    }
    snprintf(why, sizeof why, "coordinates differ by %.3g m, with a quarter of the step by %.3g m", coarse, fine);
    return why;
}

static const char* check_restore(const Text* t)
{
    Run a = start(t, "joint", STEP), b = start(t, "joint", STEP);
    const char* why = NULL;
    if (a.status == ITM_OK && b.status == ITM_OK && steps(&a, DURATION / 2, STEP) == ITM_OK) {
        size_t size = itm_cosim_get_state_size(a.cosim);
        void *half = malloc(size), *first = malloc(size), *second = malloc(size);
        itm_cosim_save(a.cosim, half, size);
        ItmStatus one = steps(&a, DURATION / 2, STEP);
        itm_cosim_save(a.cosim, first, size);
        ItmStatus other = itm_cosim_restore(b.cosim, half, size);
        other = other == ITM_OK ? steps(&b, DURATION / 2, STEP) : other;
        itm_cosim_save(b.cosim, second, size);
        why = one != other || memcmp(first, second, size) != 0 ? "a restored state continues otherwise" : NULL;
        free(half);
        free(first);
        free(second);
    }
    end(&a);
    end(&b);
    return why;
}

// More than a tenth of the energy that moved is missing, and nobody says so.
static const char* check_energy(const Text* t)
{
    Run a = start(t, "joint", STEP);
    const char* why = NULL;
    if (a.status == ITM_OK && steps(&a, DURATION, STEP) == ITM_OK) {
        ItmCosimScale scale = itm_cosim_get_scale(a.cosim);
        bool is_silent = itm_cosim_get_doubt_count(a.cosim) == 0 && scale.energy_error > 0.1 * scale.energy;
        why = is_silent ? "energy is out of balance without a doubt" : NULL;
    }
    end(&a);
    return why;
}

int main(int argc, char** argv)
{
    long count = argc > 1 ? atol(argv[1]) : 10, first = argc > 2 ? atol(argv[2]) : 1, nfailed = 0, ncheck = 0,
         nrefused = 0;
    static Text t;
    for (long seed = first; seed < first + count; seed++) {
        state = (uint64_t)seed * 0x9e3779b97f4a7c15ull;
        bool has_contacts = generate(&t);
        Run trial = start(&t, "joint", STEP);
        if (trial.status != ITM_OK) {
            nrefused++;
            if (getenv("MODELS_PRINT") != NULL) {
                printf("%s%d: %s\n", t.chars, trial.error.line, trial.error.message);
            }
        }
        end(&trial);
        const char* whys[] = {has_contacts ? NULL : check_coordinates(&t), check_restore(&t), check_energy(&t)};
        for (int i = 0; i < 3 && trial.status == ITM_OK; i++) {
            ncheck++;
            if (whys[i] != NULL) {
                printf("    models: seed %ld: %s\n", seed, whys[i]);
                nfailed++;
            }
        }
    }
    printf("models: %ld random models, %ld refused, %ld checks, %ld failed; seeds %ld to %ld\n", count, nrefused,
           ncheck, nfailed, first, first + count - 1);
    return nfailed > 0 || nrefused > count / 2;
}
