// Advice against runs: the largest stable macro step that `interim check` predicts, and the one that runs show, over a grid of models and
// couplings. Prints a table in Markdown. Exit status 1 where the two differ by more than a factor of 1.2 and the advice is not "unknown".
//
//   advice_runs INTERIM [--short | NAME]    INTERIM: the command; --short: a few fast models
//
// A run is judged without eigenvalues and without the code of the advice. Two runs of the coupled system start alike, but for a kick of
// 1e-7 m/s (rad/s) in every velocity of the second one, of random size and sign. Their distance d is the largest difference of a body's
// velocity or angular velocity. Bodies that no joint connects with an interface are neither kicked nor compared. The coupling is unstable at H
//
//   1. if one of the runs breaks down, or
//   2. if at any time t d is more than 3 exp(0.5 t) times its largest value in the first three steps, and so many times more than what
//      the same kick has done to the monolithic twin until then: 3 for transients, 0.5/s for growth that may be the machine's own, or
//   3. if d grows faster than 0.5/s, and faster than 0.5/s plus twice the growth in the monolithic twin. Growth is that of the mean of
//      log d from the first to the last quarter of the run: where two runs hit a wall one step apart, d is large for that step only.
#include "cosim/cosim.h"
#include "interim/interim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KICK 1e-7
#define SLOW 0.5  // 1/s
#define TRANSIENT 3.0
#define NCURVE 400
#define FEWEST_STEPS 20
#define AGREE 1.2
#define SPAN 8.0    // runs begin at the guess divided by this
#define RATIO 1.25  // from one H that is run to the next
#define NCOUPLING 5
#define MOST_OVERRIDES 6

// ---------------------------------------------------------------------------- models

typedef struct Model {
    const char *name, *file;
    const char* overrides[MOST_OVERRIDES];  // as of --set, NULL-terminated
    double duration;                        // of a run, s
    double most;                            // largest H that is run, s
    bool is_short;
} Model;

// Those "at rest" stay where they start: their inputs are constant. The others go through their work, from the start of the file.
static const Model MODELS[] = {
    {"crane at rest", "crane-single", {"signals.joystick=0"}, 4.0, 0.2, false},
    {"crane at rest, load 20 kg",
     "crane-single",
     {"signals.joystick=0", "parameters.m_h=20kg", "parameters.F_0=7259.4N"},
     4.0,
     0.2,
     false},
    {"crane at rest, load 400 kg",
     "crane-single",
     {"signals.joystick=0", "parameters.m_h=400kg", "parameters.F_0=14715N"},
     4.0,
     0.2,
     false},
    {"crane at rest, oil every 0.5 ms",
     "crane-single",
     {"signals.joystick=0", "subsystems.hydraulics.step=0.5ms", "subsystems.hydraulics.integrator=trapezoidal"},
     4.0,
     0.2,
     false},
    {"crane at rest, friction in the mechanism",
     "crane-single",
     {"signals.joystick=0", "cosim.exchange=hold", "cosim.variables=velocity-pressure"},
     4.0,
     0.2,
     false},
    {"crane at rest, Gauss-Seidel scheme",
     "crane-single",
     {"signals.joystick=0", "cosim.scheme=gauss-seidel"},
     4.0,
     0.2,
     false},
    {"crane at work", "crane-single", {0}, 4.0, 0.2, false},
    {"crane at work, friction in the mechanism",
     "crane-single",
     {"cosim.exchange=hold", "cosim.variables=velocity-pressure"},
     4.0,
     0.2,
     true},
    {"crane with two cylinders at rest",
     "crane-double",
     {"signals.joystick1=0", "signals.joystick2=0"},
     4.0,
     0.2,
     false},
    {"crane with two cylinders at work", "crane-double", {0}, 4.0, 0.2, false},
    {"crane split at its hook, at rest", "crane-cut", {"signals.joystick=0"}, 4.0, 0.2, false},
    {"manipulator at rest",
     "manipulator",
     {"parameters.dkappa2=0", "run.duration=8s", "subsystems.hydraulics.start={static: {free: [valve1, valve2]}}"},
     2.0,
     0.2,
     true},
    {"manipulator at rest, load 200 kg",
     "manipulator",
     {"parameters.dkappa2=0", "run.duration=8s", "parameters.m_P=200kg",
      "subsystems.hydraulics.start={static: {free: [valve1, valve2]}}"},
     2.0,
     0.2,
     false},
    {"manipulator pushes the block", "manipulator", {0}, 2.0, 0.2, false},
    {"log crane at rest",
     "log-crane",
     {"parameters.w1_max=0m/s", "parameters.w2_max=0m/s", "signals.close=0m"},
     12.0,
     0.2,
     false},
    {"log crane at rest, control every 1 ms",
     "log-crane",
     {"parameters.w1_max=0m/s", "parameters.w2_max=0m/s", "signals.close=0m", "subsystems.control.step=1ms"},
     12.0,
     0.2,
     false},
    {"position control at rest", "position-control", {"signals.wanted=0", "run.duration=8s"}, 3.0, 0.2, true},
    {"position control of a ramp", "position-control", {0}, 1.5, 0.2, false},
    {"robot arm with control", "scara", {0}, 3.0, 0.2, false},
    {"arm with a tool", "arm-manoeuvre1", {0}, 3.0, 0.2, false},
    {"arm captures a tool", "arm-capture", {0}, 3.0, 0.2, false},
    // not looked at while the rule for runs was settled
    {"crane at work, bulk modulus 0.8 GPa",
     "crane-single",
     {"subsystems.hydraulics.fluids.oil.bulk_modulus=0.8 GPa"},
     4.0,
     0.2,
     false},
    {"crane with two cylinders at work, load 400 kg",
     "crane-double",
     {"parameters.m_h=400kg", "parameters.F_1=14715N"},
     4.0,
     0.2,
     false},
    {"crane at rest, 60 kg at the tip of the boom",
     "crane-single",
     {"signals.joystick=0", "parameters.m_p=60kg", "parameters.F_0=5101.2N"},
     4.0,
     0.2,
     false},
    {"crane split at its hook, at work", "crane-cut", {0}, 4.0, 0.2, false},
    {"manipulator at rest, load 30 kg",
     "manipulator",
     {"parameters.dkappa2=0", "run.duration=8s", "parameters.m_P=30kg",
      "subsystems.hydraulics.start={static: {free: [valve1, valve2]}}"},
     2.0,
     0.2,
     false},
    {"position control of a ramp, sled 0.5 kg",
     "position-control",
     {"multibody.bodies.sled.mass=0.5 kg"},
     1.5,
     0.2,
     false},
};
#define NMODEL (int)(sizeof MODELS / sizeof *MODELS)

typedef struct Coupling {
    const char* name;
    ItmCoupling coupling;
    ItmExchange exchange;
} Coupling;

static const Coupling COUPLINGS[NCOUPLING] = {
    {"zoh", ITM_COUPLING_ZOH, ITM_EXCHANGE_HOLD},
    {"linear", ITM_COUPLING_LINEAR, ITM_EXCHANGE_HOLD},
    {"quadratic", ITM_COUPLING_QUADRATIC, ITM_EXCHANGE_HOLD},
    {"rim, hold", ITM_COUPLING_RIM, ITM_EXCHANGE_HOLD},
    {"rim, impulse", ITM_COUPLING_RIM, ITM_EXCHANGE_IMPULSE},
};

static _Noreturn void stop(const char* what, const ItmError* error)
{
    fprintf(stderr, "advice_runs: %s: %s\n", what, error != NULL ? error->message : "");
    exit(2);
}

static int count_overrides(const Model* model)
{
    int n = 0;
    while (n < MOST_OVERRIDES && model->overrides[n] != NULL) {
        n++;
    }
    return n;
}

static ItmModelFile* load(const Model* model)
{
    char path[512];
    ItmError error = {0};
    ItmModelFile* file = NULL;
    snprintf(path, sizeof path, "%s/examples/%s.yaml", ITM_SOURCE_DIR, model->file);
    if (itm_file_load(&file, path, model->overrides, count_overrides(model), &error) != ITM_OK) {
        stop(path, &error);
    }
    return file;
}

static bool is_frame(const ItmModelFile* file, const ItmFileBond* bond)
{
    size_t n = strcspn(bond->port, ".");
    for (int k = 0; k < file->nmechanism; k++) {
        if (strlen(file->mechanisms[k].name) == n && strncmp(file->mechanisms[k].name, bond->port, n) == 0) {
            return true;
        }
    }
    return false;
}

// The file with a coupling and H; c NULL: monolithic.
static ItmModelFile* load_coupled(const Model* model, const Coupling* c, double H)
{
    ItmModelFile* file = load(model);
    bool is_common = file->run.step.step == file->cosim.options.macro_step;
    file->cosim.options.is_monolithic = c == NULL;
    file->cosim.options.macro_step = H;
    file->run.step.step = is_common ? H : file->run.step.step;
    for (int i = 0; i < file->cosim.nbond && c != NULL; i++) {
        ItmBondOptions* o = &file->cosim.bonds[i].options;
        bool is_predicted = !itm_cosim_is_rim(c->coupling) && is_frame(file, &file->cosim.bonds[i]);
        o->coupling = is_predicted ? ITM_COUPLING_RIM : c->coupling;
        o->exchange = is_predicted ? ITM_EXCHANGE_IMPULSE : c->exchange;
        o->variables = o->exchange == ITM_EXCHANGE_IMPULSE ? ITM_VARIABLES_VELOCITY_FORCE : o->variables;
    }
    return file;
}

// ---------------------------------------------------------------------------- a pair of runs

static unsigned next_random(unsigned* seed)
{
    return *seed = *seed * 1664525u + 1013904223u;
}

// Bodies that joints connect with an interface; all where there is none. A block that only lies there bounces when it is kicked, in any
// coupling.
static bool is_coupled(const ItmCosim* x, int mechanism, int body)
{
    const ItmMechanism* part = &x->mechanisms[mechanism];
    bool has_interface = part->nbond + part->nframe > 0;
    return !has_interface || part->rim.is_touched[part->model->component[body]];
}

// Give every velocity of these bodies a kick of random size and sign, times `size`.
static void kick(ItmCosim* x, double size)
{
    unsigned seed = 1;
    for (int i = 0; i < itm_cosim_get_mechanism_count(x); i++) {
        const ItmModel* m = itm_cosim_get_model(x, i);
        ItmData* d = itm_cosim_get_data(x, i);
        double* v = calloc((size_t)m->nv + 1, sizeof *v);
        for (int b = 0; v != NULL && b < m->nbody; b++) {
            for (int k = m->bodies[b].v_adr; k < m->bodies[b].v_adr + m->bodies[b].nv; k++) {
                double random = 2.0 * (double)next_random(&seed) / 4294967296.0 - 1.0;
                v[k] = itm_data_get_v(d)[k] + (is_coupled(x, i, b) ? size * random : 0.0);
            }
        }
        if (v == NULL || itm_data_set_qv(m, d, itm_data_get_q(d), v) != ITM_OK) {
            stop("kick", NULL);
        }
        free(v);
    }
}

static double length(ItmVec3 a, ItmVec3 b)
{
    return sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z));
}

static double compute_distance(ItmCosim* a, ItmCosim* b)
{
    double most = 0.0;
    for (int i = 0; i < itm_cosim_get_mechanism_count(a); i++) {
        const ItmModel* m = itm_cosim_get_model(a, i);
        ItmData *d_a = itm_cosim_get_data(a, i), *d_b = itm_cosim_get_data(b, i);
        for (int k = 0; k < m->nuser; k++) {
            if (!is_coupled(a, i, m->body_index[k])) {
                continue;
            }
            double dv = length(itm_data_get_body_velocity(m, d_a, k), itm_data_get_body_velocity(m, d_b, k));
            double dw =
                length(itm_data_get_body_angular_velocity(m, d_a, k), itm_data_get_body_angular_velocity(m, d_b, k));
            most = fmax(most, fmax(dv, dw));
        }
    }
    return most;
}

typedef struct Growth {
    bool is_built, is_broken;
    double excess;         // largest d(t) exp(-0.5 t) over that of the first steps, or over that of the twin
    double rate;           // 1/s
    double span;           // of the curve, s
    double curve[NCURVE];  // largest distance until then over that of the first steps, at least 1
    char why[768];
} Growth;

// Largest distance of the first steps; sums of log distances over the first and the last quarter of nstep steps.
typedef struct Sums {
    double start, first, last;
    int nfirst, nlast;
} Sums;

static int place_on_curve(double t, double span)
{
    int i = (int)(NCURVE * t / span);
    return i < 0 ? 0 : i >= NCURVE ? NCURVE - 1 : i;
}

static void note(Growth* g, const Growth* own, double t, double d)
{
    double allowed = own != NULL ? own->curve[place_on_curve(t, own->span)] : 1.0;
    int i = place_on_curve(t, g->span);
    g->excess = fmax(g->excess, d * exp(-SLOW * t) / allowed);
    g->curve[i] = fmax(g->curve[i], d);
}

static void finish_curve(Growth* g)
{
    for (int i = 1; i < NCURVE; i++) {
        g->curve[i] = fmax(g->curve[i], g->curve[i - 1]);
    }
}

static void run_pair(ItmCosim* a, ItmCosim* b, int nstep, const Growth* own, Growth* growth)
{
    Sums p = {.start = 0.01 * KICK};
    double h = itm_cosim_get_step(a);
    growth->span = nstep * h;
    growth->curve[0] = 1.0;
    kick(a, 0.0);
    kick(b, KICK);
    for (int k = 0; k < nstep && !growth->is_broken; k++) {
        growth->is_broken = itm_cosim_step(a) != ITM_OK || itm_cosim_step(b) != ITM_OK;
        double d = growth->is_broken ? 0.0 : compute_distance(a, b);
        p.start = k < 3 ? fmax(p.start, d) : p.start;
        bool is_first = 4 * k < nstep, is_last = 4 * k >= 3 * nstep;
        p.first += is_first ? log(fmax(d, 1e-6 * KICK)) : 0.0;
        p.last += is_last ? log(fmax(d, 1e-6 * KICK)) : 0.0;
        p.nfirst += is_first;
        p.nlast += is_last;
        note(growth, own, h * (k + 1), d / p.start);
    }
    finish_curve(growth);
    growth->rate = p.nfirst > 0 && p.nlast > 0 ? (p.last / p.nlast - p.first / p.nfirst) / (0.75 * nstep * h) : 0.0;
}

static Growth measure(const Model* model, const Coupling* c, const Growth* own, double H, double duration)
{
    Growth growth = {0};
    ItmError error = {0};
    ItmModelFile* file = load_coupled(model, c, H);
    ItmCosim *a = NULL, *b = NULL;
    growth.is_built = itm_file_create_cosim(&a, file, NULL, &error) == ITM_OK &&
                      itm_file_create_cosim(&b, file, NULL, &error) == ITM_OK;
    if (growth.is_built) {
        double h = itm_cosim_get_step(a);
        run_pair(a, b, (int)ceil(fmin(fmax(duration, FEWEST_STEPS * h), file->run.duration) / h - 1e-6), own, &growth);
    }
    memcpy(growth.why, error.message, sizeof growth.why);
    itm_cosim_destroy(a);
    itm_cosim_destroy(b);
    itm_file_destroy(file);
    return growth;
}

// ---------------------------------------------------------------------------- found

typedef struct Found {
    bool is_known;
    double stable, unstable;  // s; unstable INFINITY: none found, stable 0: none found
    char why[768];
} Found;

static bool is_stable(const Model* model, const Coupling* c, const Growth* own, double H)
{
    Growth g = measure(model, c, own, H, model->duration);
    bool explodes = g.excess > TRANSIENT;
    bool grows = g.rate > SLOW + 2.0 * fmax(own->rate, 0.0);
    if (getenv("ADVICE_VERBOSE") != NULL) {
        fprintf(stderr, "  %s, %s, H %.4g ms: %s, excess %.3g, rate %.3g (%.3g)\n", model->name, c->name, 1e3 * H,
                g.is_broken ? "broken" : "ran", g.excess, g.rate, own->rate);
    }
    return g.is_built && !g.is_broken && !explodes && !grows;
}

static double find_base(const ItmModelFile* file)
{
    double common = 0.0, H = file->cosim.options.macro_step;
    for (int i = 0; i < file->ncircuit; i++) {
        common = itm_cosim_find_common_multiple(common, file->circuits[i].step);
    }
    for (int i = 0; i < file->ncontrol; i++) {
        common = itm_cosim_find_common_multiple(common, file->controls[i].step);
    }
    for (int i = 0; i < file->nmechanism; i++) {
        common = itm_cosim_find_common_multiple(common, file->mechanisms[i].step);
    }
    return common > 0.0 ? common : H / 64;
}

// From a share of the guess up by a ratio to the first unstable step: steps may be stable again above. Then bisect to 3 % or to neighbouring
// multiples of the base.
static Found find_limit(const Model* model, const Coupling* c, const Growth* own, double base, double guess)
{
    Found found = {.is_known = true, .unstable = INFINITY};
    Growth first = measure(model, c, own, base, 0.0);
    if (!first.is_built) {
        memcpy(found.why, first.why, sizeof found.why);
        found.is_known = false;
        return found;
    }
    long most = lround(floor(model->most / base + 1e-9)), lo = 0, hi = 0;
    long n = lround(fmin(fmax(guess / SPAN / base, 1.0), (double)most));
    while (hi == 0 && lo < most) {
        *(is_stable(model, c, own, (double)n * base) ? &lo : &hi) = n;
        n = lround(fmin(ceil(RATIO * (double)n), (double)most));
    }
    while (lo == 0 && hi > 1) {  // all of the span are unstable
        n = hi / 2;
        *(is_stable(model, c, own, (double)n * base) ? &lo : &hi) = n;
    }
    while (lo > 0 && hi > lo + 1 && (double)(hi - lo) > 0.03 * (double)lo) {
        n = (lo + hi) / 2;
        *(is_stable(model, c, own, (double)n * base) ? &lo : &hi) = n;
    }
    found.stable = (double)lo * base;
    found.unstable = hi > 0 ? (double)hi * base : INFINITY;
    return found;
}

// ---------------------------------------------------------------------------- predicted

typedef struct Predicted {
    bool is_there, is_known;
    double least, most;  // the limit lies between, s; most INFINITY: not known above
    char words[256];
} Predicted;

// The row of a coupling in what `interim check` prints: "  zoh   1.8577  unstable  2 ms".
static void read_row(const char* line, Predicted* p)
{
    double H = 0.0;
    const char* at = strstr(line, "stable  ");
    p->is_there = true;
    p->most = INFINITY;
    snprintf(p->words, sizeof p->words, "unknown");
    if (at == NULL) {
        return;
    }
    at += strlen("stable  ");
    at += strspn(at, " ");
    int n = (int)strcspn(at, "(;\n");
    n -= n > 0 && at[n - 1] == ' ';
    snprintf(p->words, sizeof p->words, "%.*s", n, at);
    if (sscanf(at, "over %lf ms", &H) == 1 || sscanf(at, "at least %lf ms", &H) == 1) {
        p->least = 1e-3 * H;
    } else if (sscanf(at, "below %lf ms", &H) == 1) {
        p->most = 1e-3 * H;
    } else if (sscanf(at, "%lf ms", &H) == 1) {
        p->least = p->most = 1e-3 * H;
    }
    // what happens after a contact is not claimed: the run is longer
    p->is_known = H > 0.0 && strstr(line, "unknown after") == NULL;
}

static void predict(const char* interim, const Model* model, Predicted* predicted)
{
    char command[2048], line[1024];
    int used =
        snprintf(command, sizeof command, "'%s' check '%s/examples/%s.yaml'", interim, ITM_SOURCE_DIR, model->file);
    for (int i = 0; i < count_overrides(model); i++) {
        used += snprintf(command + used, sizeof command - (size_t)used, " --set '%s'", model->overrides[i]);
    }
    FILE* pipe = popen(command, "r");
    while (pipe != NULL && fgets(line, sizeof line, pipe) != NULL) {
        for (int k = 0; k < NCOUPLING; k++) {
            char head[32];
            snprintf(head, sizeof head, "  %-13s ", COUPLINGS[k].name);
            bool is_wires = k == NCOUPLING - 1 && strncmp(line, "  wires ", 8) == 0;
            if (strncmp(line, head, strlen(head)) == 0 || is_wires) {
                read_row(line, &predicted[k]);
            }
        }
    }
    if (pipe == NULL || pclose(pipe) != 0) {
        stop(command, NULL);
    }
}

// ---------------------------------------------------------------------------- table

// Whether the interval of the prediction, widened by the factor, meets what was found.
static bool agrees(const Predicted* p, const Found* f)
{
    bool is_not_larger = p->least <= AGREE * f->unstable;
    bool is_not_smaller = AGREE * p->most >= f->stable;
    return !p->is_known || !f->is_known || (is_not_larger && is_not_smaller);
}

static void print_found(const Found* f, double base)
{
    if (!f->is_known) {
        printf("refused");
    } else if (isinf(f->unstable)) {
        printf("over %.3g ms", 1e3 * f->stable);
    } else if (f->stable == 0.0) {
        printf("below %.3g ms", 1e3 * base);
    } else {
        printf("%.3g ms", 1e3 * f->stable);
    }
}

// One row of the table; the number of disagreements.
static int compare(const char* interim, const Model* model)
{
    Predicted predicted[NCOUPLING] = {0};
    predict(interim, model, predicted);
    ItmModelFile* file = load(model);
    double base = find_base(file);
    // as long as the longest run
    Growth own =
        measure(model, NULL, NULL, file->cosim.options.macro_step, fmax(model->duration, FEWEST_STEPS * model->most));
    itm_file_destroy(file);
    int nbad = 0;
    printf("| %s |", model->name);
    for (int k = 0; k < NCOUPLING; k++) {
        const Predicted* p = &predicted[k];
        if (!p->is_there) {
            printf(" – |");
            continue;
        }
        double guess = p->is_known ? fmin(fmax(p->least, base), p->most) : 0.004;
        Found found = find_limit(model, &COUPLINGS[k], &own, base, guess);
        bool is_good = agrees(p, &found);
        nbad += !is_good;
        printf(" %s / ", p->words);
        print_found(&found, base);
        printf("%s |", is_good ? "" : " **differs**");
        fflush(stdout);
    }
    printf("\n");
    return nbad;
}

int main(int argc, char** argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: advice_runs INTERIM [--short | NAME]\n");
        return 2;
    }
    bool is_short = argc > 2 && strcmp(argv[2], "--short") == 0;
    const char* name = argc > 2 && !is_short ? argv[2] : NULL;
    int nbad = 0;
    printf("| model |");
    for (int k = 0; k < NCOUPLING; k++) {
        printf(" %s |", COUPLINGS[k].name);
    }
    printf("\n|---|---|---|---|---|---|\n");
    for (int i = 0; i < NMODEL; i++) {
        if ((!is_short || MODELS[i].is_short) && (name == NULL || strcmp(name, MODELS[i].name) == 0)) {
            nbad += compare(argv[1], &MODELS[i]);
        }
    }
    return nbad > 0;
}
