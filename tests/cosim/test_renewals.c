// Interface models that are renewed within a macro step, where the geometry of contacts changes (cosim/renewal.c, rim/look_ahead.c).
#include "system.h"
#include "tooth.h"

#include "cosim/cosim.h"

#define FALL 0.64   // m/s: sqrt(2 g 20 mm), the speed at which the tooth lands
#define SLIDE 0.41  // m/s: its largest speed along the ledge
#define MICRO 1e-4  // s

static System start(double H, int renewals, const char* coupling)
{
    char text[3][64];
    const char* overrides[] = {text[0], text[1], text[2]};
    snprintf(text[0], sizeof text[0], "cosim.macro_step=%.17g s", H);
    snprintf(text[1], sizeof text[1], "cosim.contact_renewals=%d", renewals);
    snprintf(text[2], sizeof text[2], "cosim.coupling=%s", coupling);
    return system_parse(TOOTH, overrides, 3);
}

// ---------------------------------------------------------------------------- accuracy

typedef struct Errors {
    double x, z;     // largest of the tooth against the monolithic run               m
    double balance;  // largest of the energy balance over that of the monolithic run
    long renewals;
} Errors;

static Errors measure(double H, int renewals)
{
    System s = start(H, renewals, "rim"), twin = start(H, 0, "monolithic");
    Errors e = {0};
    double balance = 0.0, balance_twin = 0.0;
    for (int k = 1; k * H < 0.6; k++) {
        system_step_to(&s, k * H);
        system_step_to(&twin, k * H);
        e.x = fmax(e.x, fabs(system_get(&s, "m.tooth.position.x") - system_get(&twin, "m.tooth.position.x")));
        e.z = fmax(e.z, fabs(system_get(&s, "m.tooth.position.z") - system_get(&twin, "m.tooth.position.z")));
        balance = fmax(balance, fabs(itm_cosim_compute_balance(s.x).error));
        balance_twin = fmax(balance_twin, fabs(itm_cosim_compute_balance(twin.x).error));
        // the mechanism has the time of the system, also after parts of a step
        assert_true(itm_data_get_time(itm_cosim_get_data(s.x, 0)) == itm_cosim_get_time(s.x));
    }
    e.balance = balance / balance_twin;
    e.renewals = itm_cosim_get_rim_notes(s.x, 0).renewals;
    system_finish(&s);
    system_finish(&twin);
    return e;
}

// With up to 31 renewals, a change of contact is seen at most H/32 late (a whole number of micro steps): the tooth is off by no more than the
// way that it falls, or slides, in that time. Observed: a fifth to a half of it.
static void tooth_passes_an_edge(void** state)
{
    (void)state;
    static const double STEPS[] = {2e-3, 10e-3, 25e-3, 50e-3};
    for (size_t i = 0; i < sizeof STEPS / sizeof STEPS[0]; i++) {
        double H = STEPS[i], late = MICRO * ceil(H / 32.0 / MICRO);
        Errors frozen = measure(H, 0), e = measure(H, 31);
        print_message("H %g ms: frozen %.3g, %.3g mm; renewed %ld times %.3g, %.3g mm; balance %.3g of monolithic\n",
                      1e3 * H, 1e3 * frozen.x, 1e3 * frozen.z, e.renewals, 1e3 * e.x, 1e3 * e.z, e.balance);
        assert_true(e.z <= FALL * late && e.x <= SLIDE * late);
        // three: up to the edge, with caution once more, over it
        assert_true(e.renewals >= 1 && e.renewals <= 4 && frozen.renewals == 0);
        assert_true(e.balance < 1.1);
    }
    // the frozen geometry holds the tooth until the next communication point, which renewals are there for
    Errors frozen = measure(50e-3, 0);
    assert_true(frozen.z > 5e-3 && frozen.x > 5e-3);
}

// ---------------------------------------------------------------------------- bits

static void read_all(System* s, double* y)
{
    CHECK_OK(itm_cosim_compute_outputs(s->x, y), itm_cosim_get_error(s->x));
}

// The same step from a saved state, in this system and in another one that has no past.
static void restored_state_goes_on_with_the_same_bits(void** state)
{
    (void)state;
    System s = start(50e-3, 31, "rim"), other = start(50e-3, 31, "rim");
    size_t size = itm_cosim_get_state_size(s.x), bytes = sizeof(double) * (size_t)itm_cosim_get_output_count(s.x);
    char* before = malloc(size);
    double *after = malloc(bytes), *again = malloc(bytes);
    assert_true(before != NULL && after != NULL && again != NULL);
    bool is_renewed = false;
    for (int k = 0; k < 10; k++) {
        CHECK_OK(itm_cosim_save(s.x, before, size), itm_cosim_get_error(s.x));
        long n = itm_cosim_get_rim_notes(s.x, 0).renewals;
        system_step(&s);
        is_renewed = is_renewed || itm_cosim_get_rim_notes(s.x, 0).renewals > n;
        read_all(&s, after);
        System* both[] = {&s, &other};
        for (int i = 0; i < 2; i++) {
            CHECK_OK(itm_cosim_restore(both[i]->x, before, size), itm_cosim_get_error(both[i]->x));
            system_step(both[i]);
            read_all(both[i], again);
            assert_memory_equal(after, again, bytes);
        }
    }
    assert_true(is_renewed);
    free(before);
    free(after);
    free(again);
    system_finish(&s);
    system_finish(&other);
}

// ---------------------------------------------------------------------------- the excavator

// The teeth of the bucket slide over the edge of the boulder at 4.9 s. With this gain of the stick's controller and frozen contacts the tip is off
// by 6.6 mm (docs/guide/machines.md); observed: 0.3 and 0.4 mm.
static void excavator_at_50_ms_is_within_a_millimetre(void** state)
{
    (void)state;
    static const char* const FINE[] = {"subsystems.control.blocks.u_stick.proportional=4", "cosim.macro_step=1 ms"};
    static const char* const COARSE[] = {"subsystems.control.blocks.u_stick.proportional=4", "cosim.macro_step=50 ms"};
    System fine = system_load(ITM_SOURCE_DIR "/examples/excavator.yaml", FINE, 2);
    System coarse = system_load(ITM_SOURCE_DIR "/examples/excavator.yaml", COARSE, 2);
    double tip = 0.0, boulder = 0.0;
    for (int k = 1; k <= 110; k++) {
        system_step_to(&fine, 0.05 * k);
        system_step_to(&coarse, 0.05 * k);
        tip = fmax(tip, system_measure(&fine, "exc.tip.position", &coarse, "exc.tip.position"));
        boulder = fmax(boulder, system_measure(&fine, "exc.boulder.position", &coarse, "exc.boulder.position"));
    }
    print_message("excavator: tip %.3g mm, boulder %.3g mm, %ld renewals\n", 1e3 * tip, 1e3 * boulder,
                  itm_cosim_get_rim_notes(coarse.x, 0).renewals);
    assert_true(tip < 1e-3 && boulder < 5e-3);
    system_finish(&fine);
    system_finish(&coarse);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tooth_passes_an_edge),
        cmocka_unit_test(restored_state_goes_on_with_the_same_bits),
        cmocka_unit_test(excavator_at_50_ms_is_within_a_millimetre),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
