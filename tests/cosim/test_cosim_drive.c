// A mechanism whose partner is outside of its system, and a foreign mechanism with an interface model port: cut in two systems that
// share nothing but calls, a machine moves as in one.
#include "check.h"

#include "interim/interim.h"

// ---------------------------------------------------------------------------- the partner that is outside

typedef struct Outside {
    int n;
    double force[4];
} Outside;

static void set_motion(void* self, const double* s, const double* w, const double* w_end)
{
    (void)self;
    (void)s;
    (void)w;
    (void)w_end;
}

static void get_forces(void* self, double* force)
{
    const Outside* o = self;
    memcpy(force, o->force, sizeof(double) * (size_t)o->n);
}

static ItmStatus stay(void* self, double t, double h, ItmError* error)
{
    (void)self;
    (void)t;
    (void)h;
    (void)error;
    return ITM_OK;
}

static void reset_outside(void* self)
{
    (void)self;
}

static const char* const PORTS[] = {"cyl1", "cyl2"};

// A system of the first mechanism of a file alone, its actuators bonded to a partner outside.
static ItmCosim* take_mechanism(const ItmModelFile* file, Outside* outside, int n)
{
    ItmError error = {0};
    ItmCosimBuilder* b = NULL;
    ItmCosim* x = NULL;
    int subsystem;
    *outside = (Outside){.n = n};
    ItmSubsystem table = {.self = outside,
                          .nport = n,
                          .port_names = PORTS,
                          .set_motion = set_motion,
                          .get_forces = get_forces,
                          .do_step = stay,
                          .reset = reset_outside,
                          .memory = outside,
                          .memory_size = sizeof *outside};
    ItmStepOptions step = file->run.step;
    step.step = 0.0;
    CHECK_OK(itm_cosim_builder_create(&b, &error), &error);
    CHECK_OK(itm_cosim_builder_add_mechanism(b, "mechanism", file->model, &step, NULL, &error), &error);
    CHECK_OK(itm_cosim_builder_add_subsystem(b, "outside", &table, 0.0, &subsystem, &error), &error);
    for (int i = 0; i < n; i++) {
        CHECK_OK(itm_cosim_builder_add_bond(b, 0, PORTS[i], subsystem, PORTS[i], NULL, &error), &error);
    }
    CHECK_OK(itm_cosim_build(&x, b, &file->cosim.options, &error), &error);
    itm_cosim_builder_destroy(b);
    return x;
}

// ---------------------------------------------------------------------------- that system as a foreign mechanism

static ItmStatus pass(ItmCosim* x, ItmStatus status, ItmError* error)
{
    if (status != ITM_OK) {
        *error = *itm_cosim_get_error(x);
    }
    return status;
}

static ItmStatus get_motion(void* self, double* s, double* w, ItmError* error)
{
    ItmCosim* x = self;
    (void)error;
    for (int i = 0; i < itm_cosim_get_bond_count(x); i++) {
        s[i] = itm_cosim_get_bond(x, i).length;
        w[i] = itm_cosim_get_bond(x, i).rate;
    }
    return ITM_OK;
}

static ItmStatus do_step(void* self, double t, double h, const double* force, ItmError* error)
{
    (void)self;
    (void)t;
    (void)h;
    (void)force;
    return ITM_ERR_UNSUPPORTED + 0 * (error == NULL);
}

static ItmStatus begin(void* self, double t, double H, int K, bool use_heun, double* W, double* a0, ItmError* error)
{
    (void)t;
    assert_true(H == itm_cosim_get_step(self));
    return pass(self, itm_cosim_begin_step(self, 0, K, use_heun, W, a0), error);
}

static ItmStatus predict(void* self, double h, const double* lambda, double* w_end, ItmError* error)
{
    return pass(self, itm_cosim_predict_step(self, h, lambda, w_end), error);
}

static ItmStatus advance(void* self, double h, const double* lambda, double* s, double* w, ItmError* error)
{
    return pass(self, itm_cosim_advance_step(self, h, lambda, s, w), error);
}

static ItmStatus commit(void* self, const double* P0, const double* P1, double theta, ItmError* error)
{
    return pass(self, itm_cosim_commit_step(self, P0, P1, theta), error);
}

static void cancel(void* self)
{
    itm_cosim_cancel_step(self);
}

static ItmStatus reset(void* self, ItmError* error)
{
    return pass(self, itm_cosim_reset(self), error);
}

static size_t get_size(void* self)
{
    return itm_cosim_get_state_size(self);
}

static ItmStatus save(void* self, void* bytes)
{
    return itm_cosim_save(self, bytes, itm_cosim_get_state_size(self));
}

static ItmStatus restore(void* self, const void* bytes)
{
    return itm_cosim_restore(self, bytes, itm_cosim_get_state_size(self));
}

// The circuit of the file with the mechanism behind a port. level 2: contacts solved in every micro step by the port.
static ItmCosim* join(const ItmModelFile* file, ItmCosim* mechanism, int n, int level)
{
    ItmError error = {0};
    ItmCosimBuilder* b = NULL;
    ItmCosim* x = NULL;
    int circuit;
    ItmForeignMechanism table = {.self = mechanism,
                                 .nport = n,
                                 .port_names = PORTS,
                                 .get_motion = get_motion,
                                 .do_step = do_step,
                                 .reset = reset,
                                 .get_state_size = get_size,
                                 .save = save,
                                 .restore = restore,
                                 .begin = begin,
                                 .predict = level == 2 ? predict : NULL,
                                 .advance = level == 2 ? advance : NULL,
                                 .commit = commit,
                                 .cancel = cancel};
    const ItmFileCircuit* c = &file->circuits[0];
    CHECK_OK(itm_cosim_builder_create(&b, &error), &error);
    CHECK_OK(itm_cosim_builder_add_foreign_mechanism(b, "mechanism", &table, NULL, NULL, &error), &error);
    CHECK_OK(itm_cosim_builder_add_circuit(b, c->name, c->circuit, &c->options, c->step, &circuit, &error), &error);
    for (int i = 0; i < n; i++) {
        CHECK_OK(itm_cosim_builder_add_bond(b, 0, PORTS[i], circuit, PORTS[i], NULL, &error), &error);
    }
    CHECK_OK(itm_cosim_build(&x, b, &file->cosim.options, &error), &error);
    itm_cosim_builder_destroy(b);
    return x;
}

// ---------------------------------------------------------------------------- tests

static ItmModelFile* load(const char* name, const char* macro_step)
{
    ItmModelFile* file = NULL;
    ItmError error = {0};
    CHECK_OK(itm_file_load(&file, name, &macro_step, 1, &error), &error);
    return file;
}

// Largest difference of lengths and forces, relative, between the native run and the one in two systems.
static double compare_runs(const char* name, const char* macro_step, int n, int level, double duration)
{
    ItmError error = {0};
    ItmModelFile* file = load(name, macro_step);
    ItmCosim* native = NULL;
    CHECK_OK(itm_file_create_cosim(&native, file, NULL, &error), &error);
    Outside outside;
    ItmCosim* mechanism = take_mechanism(file, &outside, n);
    ItmCosim* joined = join(file, mechanism, n, level);
    double worst = 0.0;
    long steps = lround(duration / itm_cosim_get_step(native));
    for (long k = 0; k < steps; k++) {
        CHECK_OK(itm_cosim_step(native), itm_cosim_get_error(native));
        CHECK_OK(itm_cosim_step(joined), itm_cosim_get_error(joined));
        for (int i = 0; i < n; i++) {
            ItmBondState a = itm_cosim_get_bond(native, i), b = itm_cosim_get_bond(joined, i);
            worst = fmax(worst, fabs(a.length - b.length));
            worst = fmax(worst, fabs(a.force - b.force) / (1e4 + fabs(a.force)));
        }
    }
    itm_cosim_destroy(joined);
    itm_cosim_destroy(mechanism);
    itm_cosim_destroy(native);
    itm_file_destroy(file);
    return worst;
}

#define EXAMPLE(name) ITM_SOURCE_DIR "/examples/" name ".yaml"

static void a_crane_behind_a_port_moves_as_at_home(void** state)
{
    (void)state;
    static const char* const STEPS[] = {"cosim.macro_step=10ms", "cosim.macro_step=100ms"};
    for (int i = 0; i < 2; i++) {
        // micro steps by the port: the same operations, the same bits
        assert_true(compare_runs(EXAMPLE("crane-single"), STEPS[i], 1, 2, 6.0) == 0.0);
        assert_true(compare_runs(EXAMPLE("crane-double"), STEPS[i], 2, 2, 6.0) == 0.0);
        // impulses only: sums in another order; rounding grows with the number of steps
        CHECK_NEAR(compare_runs(EXAMPLE("crane-single"), STEPS[i], 1, 1, 6.0), 0.0, 1e-11);
        CHECK_NEAR(compare_runs(EXAMPLE("crane-double"), STEPS[i], 2, 1, 6.0), 0.0, 1e-11);
    }
}

static void steps_out_of_order_are_refused_and_a_cancelled_step_leaves_nothing(void** state)
{
    (void)state;
    ItmModelFile* file = load(EXAMPLE("crane-single"), "cosim.macro_step=10ms");
    Outside outside;
    ItmCosim* x = take_mechanism(file, &outside, 1);
    double lambda = 5000.0, s, w, W, a0;
    assert_int_equal(itm_cosim_advance_step(x, 1e-3, &lambda, &s, &w), ITM_ERR_ARGUMENT);
    assert_int_equal(itm_cosim_commit_step(x, &lambda, &lambda, 0.5), ITM_ERR_ARGUMENT);
    CHECK_OK(itm_cosim_begin_step(x, 0, 10, true, &W, &a0), itm_cosim_get_error(x));
    assert_int_equal(itm_cosim_begin_step(x, 0, 10, true, &W, &a0), ITM_ERR_ARGUMENT);
    double before = itm_cosim_get_bond(x, 0).length;
    CHECK_OK(itm_cosim_advance_step(x, 1e-3, &lambda, &s, &w), itm_cosim_get_error(x));
    itm_cosim_cancel_step(x);
    assert_true(itm_cosim_get_time(x) == 0.0);
    CHECK_OK(itm_cosim_begin_step(x, 0, 1, true, &W, &a0), itm_cosim_get_error(x));
    assert_int_equal(itm_cosim_commit_step(x, NULL, NULL, 0.5), ITM_ERR_ARGUMENT);
    (void)before;
    itm_cosim_destroy(x);
    itm_file_destroy(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_crane_behind_a_port_moves_as_at_home),
        cmocka_unit_test(steps_out_of_order_are_refused_and_a_cancelled_step_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
