// Modes of beams against frequency equations and closed forms.
#include "check.h"

#include "multibody/beam.h"

static ItmBeamDef make_beam(ItmBeamEnds ends, ItmBeamTheory theory)
{
    ItmBeamDef def = itm_default_beam_def();
    const double size[2] = {0.05, 0.03};
    def.length = 1.3;
    def.ends = ends;
    def.theory = theory;
    assert_int_equal(itm_beam_set_section(&def, ITM_SECTION_RECTANGLE, size, NULL), ITM_OK);
    return def;
}

static ItmElastic* make_elastic(const ItmBeamDef* beam)
{
    ItmElastic* e = NULL;
    ItmError error = {0};
    ItmFlexibleDef def = itm_default_flexible_def();
    def.beam = beam;
    CHECK_OK(itm_elastic_create(&e, 0, "beam", &def, &error), &error);
    return e;
}

static double frequency(const ItmElastic* e, int mode)
{
    return sqrt(e->tables.stiffness[mode] / e->tables.mass[mode]);
}

// ---------------------------------------------------------------------------- frequency equations

// 1 + cos cosh and relatives, divided by cosh so that they stay of size 1
static double equation(ItmBeamEnds ends, double x)
{
    switch (ends) {
    case ITM_BEAM_CLAMPED_FREE:
    case ITM_BEAM_FREE_CLAMPED:
        return 1.0 / cosh(x) + cos(x);
    case ITM_BEAM_PINNED_PINNED:
        return sin(x);
    case ITM_BEAM_CLAMPED_PINNED:
        return sin(x) - cos(x) * tanh(x);
    default:
        return cos(x) - 1.0 / cosh(x);
    }
}

// k-th positive root (k = 1 ...), by bisection: roots lie pi apart, one in each of these intervals
static double root(ItmBeamEnds ends, int k)
{
    double offset = ends == ITM_BEAM_CLAMPED_FREE || ends == ITM_BEAM_FREE_CLAMPED ? -0.5
                    : ends == ITM_BEAM_PINNED_PINNED                               ? 0.0
                    : ends == ITM_BEAM_CLAMPED_PINNED                              ? 0.25
                                                                                   : 0.5;
    double lo = (k + offset - 0.4) * ITM_PI, hi = (k + offset + 0.4) * ITM_PI;
    for (int i = 0; i < 200; i++) {
        double mid = 0.5 * (lo + hi);
        if ((equation(ends, lo) < 0) == (equation(ends, mid) < 0)) {
            lo = mid;
        } else {
            hi = mid;
        }
    }
    return 0.5 * (lo + hi);
}

static void euler_bernoulli_frequencies_solve_their_equations(void** state)
{
    (void)state;
    for (int ends = 0; ends < ITM_BEAM_ENDS_COUNT; ends++) {
        ItmBeamDef beam = make_beam((ItmBeamEnds)ends, ITM_BEAM_EULER_BERNOULLI);
        beam.modes_y = 12;
        beam.modes_z = 3;
        ItmElastic* e = make_elastic(&beam);
        for (int k = 0; k < 15; k++) {
            int number = k < 12 ? k + 1 : k - 11;
            double moment = k < 12 ? beam.moment_z : beam.moment_y, x = root((ItmBeamEnds)ends, number);
            double want = x * x * sqrt(beam.young * moment / (beam.density * beam.area * pow(beam.length, 4)));
            // eigenvalues have an error of rounding times the slowest one: (x / x_1)^4 eps
            CHECK_NEAR(frequency(e, k) / want, 1.0, 1e-14 * pow(x / root((ItmBeamEnds)ends, 1), 4) + 1e-13);
        }
        itm_elastic_destroy(e);
    }
}

static void many_modes_are_as_good(void** state)
{
    (void)state;
    ItmBeamDef beam = make_beam(ITM_BEAM_CLAMPED_FREE, ITM_BEAM_EULER_BERNOULLI);
    beam.modes_y = 60;
    beam.modes_z = 0;
    ItmElastic* e = make_elastic(&beam);
    for (int k = 0; k < 60; k++) {
        double x = k < 20 ? root(ITM_BEAM_CLAMPED_FREE, k + 1) : (k + 0.5) * ITM_PI;
        double want = x * x * sqrt(beam.young * beam.moment_z / (beam.density * beam.area * pow(beam.length, 4)));
        CHECK_NEAR(frequency(e, k) / want, 1.0, 1e-7);
    }
    itm_elastic_destroy(e);
}

// Pinned ends: v = V sin kx, theta = T cos kx solve the equations of Timoshenko, with
//   (s k^2 - m w^2) (EI k^2 + s - j w^2) = (s k)^2,  s = shear stiffness, m, j: mass and rotary inertia per length
static double timoshenko_pinned(const ItmBeamDef* b, int number)
{
    double k = number * ITM_PI / b->length, s = b->shear_y * b->shear * b->area;
    double m = b->density * b->area, j = b->density * b->moment_z, bend = b->young * b->moment_z * k * k + s;
    // m j w^4 - (s k^2 j + m bend) w^2 + s k^2 bend - (s k)^2 = 0, the smaller root
    double q = s * k * k * j + m * bend, c = s * k * k * (bend - s);
    return sqrt(2.0 * c / (q + sqrt(q * q - 4.0 * m * j * c)));
}

static void timoshenko_frequencies_are_the_closed_form(void** state)
{
    (void)state;
    ItmBeamDef beam = make_beam(ITM_BEAM_PINNED_PINNED, ITM_BEAM_TIMOSHENKO);
    beam.modes_y = 6;
    beam.length = 0.4;  // stubby: shear matters
    ItmElastic* e = make_elastic(&beam);
    for (int k = 0; k < 6; k++) {
        CHECK_NEAR(frequency(e, k) / timoshenko_pinned(&beam, k + 1), 1.0, 1e-11);
    }
    // shear and rotary inertia make a difference that the test would see
    ItmBeamDef slender = beam;
    slender.theory = ITM_BEAM_EULER_BERNOULLI;
    ItmElastic* s = make_elastic(&slender);
    assert_true(frequency(s, 0) > 1.01 * frequency(e, 0));
    itm_elastic_destroy(e);
    itm_elastic_destroy(s);
}

static void slender_timoshenko_beams_are_euler_bernoulli_beams(void** state)
{
    (void)state;
    for (int ends = 0; ends < ITM_BEAM_ENDS_COUNT; ends++) {
        ItmBeamDef thick = make_beam((ItmBeamEnds)ends, ITM_BEAM_TIMOSHENKO);
        thick.length = 100.0;
        ItmBeamDef thin = thick;
        thin.theory = ITM_BEAM_EULER_BERNOULLI;
        ItmElastic *e = make_elastic(&thick), *f = make_elastic(&thin);
        for (int k = 0; k < 4; k++) {
            // the difference is of the order of (x h / L)^2 ~ 1e-5
            CHECK_NEAR(frequency(e, k) / frequency(f, k), 1.0, 3e-5);
        }
        itm_elastic_destroy(e);
        itm_elastic_destroy(f);
    }
}

static void rods_have_the_frequencies_of_waves(void** state)
{
    (void)state;
    for (int ends = 0; ends < ITM_BEAM_ENDS_COUNT; ends++) {
        ItmBeamDef beam = make_beam((ItmBeamEnds)ends, ITM_BEAM_EULER_BERNOULLI);
        beam.modes_y = beam.modes_z = 0;
        beam.modes_axial = beam.modes_torsion = 5;
        ItmElastic* e = make_elastic(&beam);
        // fixed at one end, but for free-free (none) and clamped-clamped (both)
        double offset = ends == ITM_BEAM_FREE_FREE || ends == ITM_BEAM_CLAMPED_CLAMPED ? 0.0 : -0.5;
        for (int k = 0; k < 10; k++) {
            double number = k % 5 + 1 + offset;
            double speed = k < 5 ? sqrt(beam.young / beam.density)
                                 : sqrt(beam.shear * beam.torsion / (beam.density * (beam.moment_y + beam.moment_z)));
            CHECK_NEAR(frequency(e, k) / (number * ITM_PI / beam.length * speed), 1.0, 1e-12);
        }
        itm_elastic_destroy(e);
    }
}

// ---------------------------------------------------------------------------- shapes and tables

// Tip value 1: the modal mass of a clamped-free beam is a quarter of its mass, that of a pinned one a half.
static void modal_masses_are_those_of_the_textbook(void** state)
{
    (void)state;
    ItmBeamDef beam = make_beam(ITM_BEAM_CLAMPED_FREE, ITM_BEAM_EULER_BERNOULLI);
    ItmElastic* e = make_elastic(&beam);
    CHECK_NEAR(e->tables.mass[0] / e->mass, 0.25, 1e-13);
    CHECK_NEAR(e->tables.mass[1] / e->mass, 0.25, 1e-12);
    ItmSpatial shape[4];
    ItmElasticSite tip = {.origin = {beam.length, 0, 0}};
    assert_int_equal(itm_elastic_compute_shape(e, shape, NULL, &tip), ITM_OK);
    CHECK_NEAR(shape[0].lin.y, 1.0, 1e-14);
    // phi = cosh bx - cos bx - c (sinh bx - sin bx), and the slope of that at the tip
    double x = root(ITM_BEAM_CLAMPED_FREE, 1), c = (cosh(x) + cos(x)) / (sinh(x) + sin(x));
    double slope = x * (sinh(x) + sin(x) - c * (cosh(x) - cos(x))) / (cosh(x) - cos(x) - c * (sinh(x) - sin(x)));
    CHECK_NEAR(shape[0].ang.z * beam.length, slope, 1e-12);
    CHECK_NEAR(shape[2].ang.y * beam.length, -slope, 1e-12);
    itm_elastic_destroy(e);
    beam.ends = ITM_BEAM_PINNED_PINNED;
    e = make_elastic(&beam);
    CHECK_NEAR(e->tables.mass[0] / e->mass, 0.5, 1e-12);
    itm_elastic_destroy(e);
}

static void free_modes_have_no_momentum(void** state)
{
    (void)state;
    for (int theory = 0; theory < ITM_BEAM_THEORY_COUNT; theory++) {
        ItmBeamDef beam = make_beam(ITM_BEAM_FREE_FREE, (ItmBeamTheory)theory);
        beam.modes_axial = beam.modes_torsion = 2;
        ItmElastic* e = make_elastic(&beam);
        for (int k = 0; k < e->n; k++) {
            const ItmMat3* B = &e->tables.B[k];
            ItmVec3 angular = itm_vec_add(e->tables.P[k], itm_vec(B->z.y - B->y.z, B->x.z - B->z.x, B->y.x - B->x.y));
            CHECK_NEAR(itm_vec_norm(e->tables.S[k]) / e->mass, 0.0, 1e-12);
            CHECK_NEAR(itm_vec_norm(angular) / e->mass, 0.0, 1e-12);
        }
        itm_elastic_destroy(e);
    }
}

// The table of the modes' products has the modal masses on its diagonal, for shapes without rotary inertia.
static void tables_agree_with_modal_masses(void** state)
{
    (void)state;
    for (int ends = 0; ends < ITM_BEAM_ENDS_COUNT; ends++) {
        ItmBeamDef beam = make_beam((ItmBeamEnds)ends, ITM_BEAM_EULER_BERNOULLI);
        beam.modes_y = 5;
        beam.modes_axial = 2;
        ItmElastic* e = make_elastic(&beam);
        for (int k = 0; k < e->n; k++) {
            for (int l = 0; l < e->n; l++) {
                const ItmMat3* E = &e->tables.E[k * e->n + l];
                double want = k == l ? e->tables.mass[k] : 0.0;
                CHECK_NEAR((E->x.x + E->y.y + E->z.z - want) / e->mass, 0.0, 1e-11);
            }
        }
        itm_elastic_destroy(e);
    }
}

// Two modes and the static shapes of the tip: its deflection under any load there is exact, and the modes stay what they were.
static void static_shapes_carry_tip_loads_exactly(void** state)
{
    (void)state;
    for (int theory = 0; theory < ITM_BEAM_THEORY_COUNT; theory++) {
        ItmBeamDef beam = make_beam(ITM_BEAM_CLAMPED_FREE, (ItmBeamTheory)theory);
        beam.modes_axial = beam.modes_torsion = 1;
        ItmElastic* plain = make_elastic(&beam);
        const double stations[] = {0.0, beam.length, beam.length};
        beam.stations = stations;
        beam.nstation = 3;
        ItmElastic* e = make_elastic(&beam);
        // force and moment a plane, pull, twist; nothing at the clamped end, nothing twice
        assert_int_equal(e->n, 6 + 2 + 2 + 1 + 1);
        ItmSpatial shape[12];
        ItmElasticSite tip = {.origin = {beam.length, 0, 0}};
        assert_int_equal(itm_elastic_compute_shape(e, shape, NULL, &tip), ITM_OK);
        double force = 0.0, slope = 0.0, moment = 0.0, pull = 0.0, twist = 0.0;
        for (int k = 0; k < e->n; k++) {
            double soft = 1.0 / e->tables.stiffness[k];
            force += shape[k].lin.y * shape[k].lin.y * soft;
            slope += shape[k].lin.y * shape[k].ang.z * soft;
            moment += shape[k].ang.z * shape[k].ang.z * soft;
            pull += shape[k].lin.x * shape[k].lin.x * soft;
            twist += shape[k].ang.x * shape[k].ang.x * soft;
        }
        double L = beam.length, EI = beam.young * beam.moment_z;
        double shear = theory == ITM_BEAM_TIMOSHENKO ? L / (beam.shear_y * beam.shear * beam.area) : 0.0;
        CHECK_NEAR(force / (L * L * L / (3.0 * EI) + shear), 1.0, 1e-11);
        CHECK_NEAR(slope / (L * L / (2.0 * EI)), 1.0, 1e-11);
        CHECK_NEAR(moment / (L / EI), 1.0, 1e-11);
        CHECK_NEAR(pull / (L / (beam.young * beam.area)), 1.0, 1e-11);
        CHECK_NEAR(twist / (L / (beam.shear * beam.torsion)), 1.0, 1e-11);
        CHECK_NEAR(frequency(e, 0) / frequency(plain, 0), 1.0, 1e-11);
        CHECK_NEAR(frequency(e, 1) / frequency(plain, 1), 1.0, 1e-11);
        itm_elastic_destroy(e);
        itm_elastic_destroy(plain);
    }
}

// A beam held at both ends, loaded in the middle: F L^3 / (192 EI).
static void static_shapes_between_the_ends_are_good(void** state)
{
    (void)state;
    ItmBeamDef beam = make_beam(ITM_BEAM_CLAMPED_CLAMPED, ITM_BEAM_EULER_BERNOULLI);
    double middle = 0.5 * beam.length;
    beam.stations = &middle;
    beam.nstation = 1;
    ItmElastic* e = make_elastic(&beam);
    ItmSpatial shape[8];
    ItmElasticSite site = {.origin = {middle, 0, 0}};
    assert_int_equal(e->n, 8);
    assert_int_equal(itm_elastic_compute_shape(e, shape, NULL, &site), ITM_OK);
    double force = 0.0;
    for (int k = 0; k < e->n; k++) {
        force += shape[k].lin.y * shape[k].lin.y / e->tables.stiffness[k];
    }
    // the kink of the curvature under the load is not a polynomial
    CHECK_NEAR(force * 192.0 * beam.young * beam.moment_z / pow(beam.length, 3), 1.0, 1e-3);
    itm_elastic_destroy(e);
}

// ---------------------------------------------------------------------------- sections

static void sections_have_their_moments(void** state)
{
    (void)state;
    ItmBeamDef beam = itm_default_beam_def();
    const double square[2] = {0.1, 0.1}, tube[2] = {0.1, 0.01}, circle[2] = {0.1, 0.0};
    assert_int_equal(itm_beam_set_section(&beam, ITM_SECTION_RECTANGLE, square, NULL), ITM_OK);
    // Saint-Venant: 0.1406 a^4 for a square
    CHECK_NEAR(beam.torsion / 1e-4, 0.14057701, 1e-7);
    assert_int_equal(itm_beam_set_section(&beam, ITM_SECTION_CIRCLE, circle, NULL), ITM_OK);
    CHECK_NEAR(beam.moment_y, ITM_PI * 1e-4 / 64.0, 1e-18);
    CHECK_NEAR(beam.torsion, ITM_PI * 1e-4 / 32.0, 1e-18);
    assert_int_equal(itm_beam_set_section(&beam, ITM_SECTION_TUBE, tube, NULL), ITM_OK);
    CHECK_NEAR(beam.area, ITM_PI * (0.05 * 0.05 - 0.04 * 0.04), 1e-15);
}

static void bad_beams_are_refused(void** state)
{
    (void)state;
    ItmError error = {0};
    ItmElastic* e = NULL;
    const struct {
        const char* field;
        double length, young;
        int modes;
    } cases[] = {{"length", -1.0, 1e9, 2},
                 {"length", NAN, 1e9, 2},
                 {"young", 1.0, 0.0, 2},
                 {"modes_y", 1.0, 1e9, -1},
                 {"modes_y", 1.0, 1e9, 101}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ItmBeamDef beam = make_beam(ITM_BEAM_CLAMPED_FREE, ITM_BEAM_EULER_BERNOULLI);
        beam.length = cases[i].length;
        beam.young = cases[i].young;
        beam.modes_y = cases[i].modes;
        beam.modes_z = 0;
        ItmFlexibleDef def = itm_default_flexible_def();
        def.beam = &beam;
        assert_int_equal(itm_elastic_create(&e, 0, "beam", &def, &error), ITM_ERR_INPUT);
        assert_string_equal(error.field, cases[i].field);
    }
    const double size[2] = {0.1, 0.06};
    ItmBeamDef beam = itm_default_beam_def();
    assert_int_equal(itm_beam_set_section(&beam, ITM_SECTION_TUBE, size, &error), ITM_ERR_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(euler_bernoulli_frequencies_solve_their_equations),
        cmocka_unit_test(many_modes_are_as_good),
        cmocka_unit_test(timoshenko_frequencies_are_the_closed_form),
        cmocka_unit_test(slender_timoshenko_beams_are_euler_bernoulli_beams),
        cmocka_unit_test(rods_have_the_frequencies_of_waves),
        cmocka_unit_test(modal_masses_are_those_of_the_textbook),
        cmocka_unit_test(free_modes_have_no_momentum),
        cmocka_unit_test(tables_agree_with_modal_masses),
        cmocka_unit_test(static_shapes_carry_tip_loads_exactly),
        cmocka_unit_test(static_shapes_between_the_ends_are_good),
        cmocka_unit_test(sections_have_their_moments),
        cmocka_unit_test(bad_beams_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
