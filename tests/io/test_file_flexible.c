// `flexible` of bodies in model files, and the matrix files behind it.
#include "read_text.h"

#include "io/geometry/matrix_file.h"
#include "multibody/elastic.h"

#define FLEXIBLE                                                                                                       \
    "multibody:\n"                                                                                                     \
    "  bodies:\n"                                                                                                      \
    "    arm:\n"                                                                                                       \
    "      flexible:\n"

#define BEAM "        beam: {length: 2 m, section: {rectangle: [40 mm, 20 mm]}}\n"

// ---------------------------------------------------------------------------- beams

static void a_beam_is_read_whole(void** state)
{
    (void)state;
    Read r = accept(FLEXIBLE "        beam:\n"
                             "          length: 200 cm\n"
                             "          section: {tube: [50 mm, 5 mm]}\n"
                             "          density: 2700 kg/m^3\n"
                             "          young: 70 GPa\n"
                             "          poisson: 0.25\n"
                             "          theory: timoshenko\n"
                             "          ends: free-free\n"
                             "          modes: {y: 3, z: 2, torsion: 1}\n"
                             "        damping: {ratio: 0.01, ratios: [0.05], mass: 2, stiffness: 1 ms}\n"
                             "        stiffening: false\n"
                             "        start: [1 mm, 0]\n"
                             "        start_rate: [0, 2 m/s]\n"
                             "        points: {tip: [2 m, 0, 0]}\n");
    const ItmElastic* e = itm_model_builder_get_elastic(r.builder, 0);
    assert_non_null(e);
    assert_int_equal(e->n, 6);
    assert_false(e->is_stiffening);
    double pi = 3.14159265358979323846, area = pi * (0.025 * 0.025 - 0.02 * 0.02);
    CHECK_NEAR(r.builder->bodies.items[0].mass, 2700.0 * area * 2.0, 1e-12);
    CHECK_NEAR(e->com.x, 1.0, 1e-15);
    CHECK_NEAR(e->start[0], 1e-3, 0.0);
    CHECK_NEAR(e->start[6 + 1], 2.0, 0.0);
    const ItmElasticTables* t = &e->tables;
    for (int k = 0; k < 6; k++) {
        double omega = sqrt(t->stiffness[k] / t->mass[k]), ratio = k == 0 ? 0.05 : 0.01;
        CHECK_NEAR(t->damping[k] / t->mass[k], 2.0 * ratio * omega + 2.0 + 1e-3 * omega * omega, 1e-9 * omega * omega);
    }
    assert_int_equal(e->npoint, 1);
    assert_string_equal(e->points[0].name, "tip");
    done(&r);
}

static void defaults_are_steel_and_two_modes_a_plane(void** state)
{
    (void)state;
    Read r = accept(FLEXIBLE BEAM);
    const ItmElastic* e = itm_model_builder_get_elastic(r.builder, 0);
    assert_int_equal(e->n, 4);
    assert_true(e->is_stiffening);
    CHECK_NEAR(e->mass, 7850.0 * 0.04 * 0.02 * 2.0, 1e-12);
    done(&r);
    r = accept(FLEXIBLE "        beam: {length: 1, modes: 3, section: {area: 1 cm^2, moment_y: 1 cm^4, moment_z: 2 "
                        "cm^4, torsion: 1 cm^4}}\n");
    e = itm_model_builder_get_elastic(r.builder, 0);
    assert_int_equal(e->n, 6);
    CHECK_NEAR(e->mass, 0.785, 1e-12);
    done(&r);
}

// Without modes the beam is a rigid body of the same mass.
static void no_modes_make_a_rigid_beam(void** state)
{
    (void)state;
    ItmModelFile* file = NULL;
    ItmError error = {0};
    const char* text = FLEXIBLE "        beam: {length: 2 m, section: {circle: 40 mm}, modes: 0}\n"
                                "        points: {tip: [2, 0, 0]}\n"
                                "  joints: {wall: {type: revolute, bodies: [ground, arm]}}\n";
    CHECK_OK(itm_file_parse(&file, text, strlen(text), "model.yaml", NULL, 0, &error), &error);
    assert_int_equal(itm_model_get_info(file->model).freedom, 1);
    assert_int_equal(itm_model_get_mode_count(file->model, 0), 0);
    assert_int_not_equal(itm_model_find_output(file->model, "arm.tip.position.x"), ITM_NONE);
    itm_file_destroy(file);
}

static void bad_beams_are_refused_where_they_stand(void** state)
{
    (void)state;
    refuse(FLEXIBLE "        {}\n", 5, 9, "a beam or a model");
    refuse(FLEXIBLE BEAM "      mass: 2 kg\n", 6, 13, "does not go with 'flexible'");
    refuse(FLEXIBLE "        beam: {length: 2 m}\n", 5, 15, "needs 'section'");
    refuse(FLEXIBLE "        beam: {length: -2 m, section: {circle: 1 cm}}\n", 5, 24,
           "length must be finite and positive");
    refuse(FLEXIBLE "        beam: {length: 1e200 m, section: {circle: 1 cm}}\n", 5, 15, "out of the range of numbers");
    refuse(FLEXIBLE "        beam: {length: 2 m, section: {circle: 1 kg}}\n", 5, 47, "");
    refuse(FLEXIBLE "        beam: {length: 2 m, section: {circle: -1 cm}}\n", 5, 47, "positive");
    refuse(FLEXIBLE "        beam: {length: 2 m, section: {tube: [1 cm, 6 mm]}}\n", 5, 45, "thinner than half");
    refuse(FLEXIBLE "        beam: {length: 2 m, section: {tube: 1 cm}}\n", 5, 45, "[outer diameter, wall]");
    refuse(FLEXIBLE "        beam: {length: 2 m, section: {circle: 1 cm, area: 2}}\n", 5, 38, "remove the other keys");
    refuse(FLEXIBLE "        beam: {length: 2 m, section: {area: 1 cm^2}}\n", 5, 38, "needs 'moment_y'");
    refuse(FLEXIBLE "        beam: {length: 2 m, section: {circle: 1 cm}, poisson: 0.7}\n", 5, 63, "Poisson");
    refuse(FLEXIBLE "        beam: {length: 2 m, section: {circle: 1 cm}, modes: 200}\n", 5, 61, "from 0 to 100");
    refuse(FLEXIBLE "        beam: {length: 2 m, section: {circle: 1 cm}, ends: clamped-fee}\n", 5, 60, "clamped-free");
    refuse(FLEXIBLE BEAM "        damping: -0.1\n", 6, 18, "damping_ratio must be finite and not negative");
    refuse(FLEXIBLE BEAM "        damping: [0.1, 0.1, 0.1, 0.1, 0.1]\n", 6, 18, "5 values for 4 modes");
    refuse(FLEXIBLE BEAM "        start: 0.1\n", 6, 16, "expected a list");
    refuse(FLEXIBLE BEAM "        start: [0.1]\n        start_rate: [0, 0]\n", 7, 21,
           "start has 1 modes, start_rate 2");
    refuse(FLEXIBLE BEAM "        points: {tip: [1, 0]}\n", 6, 23, "");
}

// ---------------------------------------------------------------------------- files

static const char* write_file(const char* name, const char* text)
{
    static char path[64];
    snprintf(path, sizeof path, "flexible-%s", name);
    FILE* out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
    return path;
}

static void expect_matrix_error(const char* text, int line, const char* words)
{
    ItmMatrixFile matrix;
    ItmError error = {0};
    assert_int_equal(itm_matrix_read(&matrix, write_file("bad.mtx", text), &error), ITM_ERR_INPUT);
    if (error.line != line || strstr(error.message, words) == NULL) {
        fail_msg("expected line %d '%s', got %d: %s", line, words, error.line, error.message);
    }
    assert_null(matrix.row);
}

#define SYMMETRIC "%%MatrixMarket matrix coordinate real symmetric\n"
#define GENERAL "%%MatrixMarket matrix coordinate real general\n"

static void matrices_are_read_in_either_form(void** state)
{
    (void)state;
    const char* texts[] = {SYMMETRIC "% comment\n\n2 2 3\n1 1 4\n2 1 -1.5\n2 2 3e0\n",
                           SYMMETRIC "2 2 3\n1 1 4\n1 2 -1.5\n2 2 3\n",
                           GENERAL "2 2 4\n1 1 4\n2 1 -1.5\n1 2 -1.5\n2 2 3\n"};
    for (int i = 0; i < 3; i++) {
        ItmMatrixFile matrix;
        ItmError error = {0};
        CHECK_OK(itm_matrix_read(&matrix, write_file("good.mtx", texts[i]), &error), &error);
        assert_int_equal(matrix.n, 2);
        assert_int_equal(matrix.nentry, 3);
        assert_true(matrix.row[1] == 1 && matrix.column[1] == 0 && matrix.value[1] == -1.5);
        itm_matrix_free(&matrix);
    }
}

static void bad_matrices_are_refused_with_their_line(void** state)
{
    (void)state;
    expect_matrix_error("", 1, "expected '%%MatrixMarket");
    expect_matrix_error("%%MatrixMarket matrix array real general\n", 1, "expected '%%MatrixMarket");
    expect_matrix_error("%%MatrixMarket matrix coordinate complex symmetric\n", 1, "expected '%%MatrixMarket");
    expect_matrix_error(SYMMETRIC, 2, "numbers of rows");
    expect_matrix_error(SYMMETRIC "2 3 1\n1 1 1\n", 2, "square");
    expect_matrix_error(SYMMETRIC "0 0 0\n", 2, "square");
    expect_matrix_error(SYMMETRIC "2 2 1000000000\n1 1 1\n", 2, "do not fit into the file");
    expect_matrix_error(SYMMETRIC "2 2 -1\n", 2, "do not fit into the file");
    expect_matrix_error(SYMMETRIC "2 2 2\n1 1 1\n", 4, "ends after 1 of 2");
    expect_matrix_error(SYMMETRIC "2 2 1\n1 1 1\n2 2 1\n", 4, "more than the 1 entries");
    expect_matrix_error(SYMMETRIC "2 2 1\n3 1 1\n", 3, "no entry (3, 1)");
    expect_matrix_error(SYMMETRIC "2 2 1\n1.5 1 1\n", 3, "no entry (1.5, 1)");
    expect_matrix_error(SYMMETRIC "2 2 1\n1 1 nan\n", 3, "finite number");
    expect_matrix_error(SYMMETRIC "2 2 1\n1 1\n", 3, "finite number");
    expect_matrix_error(SYMMETRIC "2 2 2\n1 2 1\n2 1 1\n", 4, "entries of both");
    expect_matrix_error(GENERAL "2 2 2\n1 2 1\n2 1 1.1\n", 0, "not symmetric");
    expect_matrix_error(GENERAL "2 2 1\n1 2 1\n", 0, "not symmetric");
    ItmMatrixFile matrix;
    ItmError error = {0};
    assert_int_equal(itm_matrix_read(&matrix, "no-such-file.mtx", &error), ITM_ERR_IO);
    assert_int_equal(itm_matrix_read(&matrix, "/dev/null", &error), ITM_ERR_IO);
}

static void tables_of_nodes_are_read(void** state)
{
    (void)state;
    ItmNodeTable table;
    ItmError error = {0};
    CHECK_OK(
        itm_matrix_read_nodes(&table, write_file("nodes.csv", "node;x;y;z\n# ends\n10;0;0;0\n20; 1,5e0 2.5\n"), &error),
        &error);
    assert_int_equal(table.count, 2);
    assert_int_equal(itm_matrix_find_node(&table, 20), 1);
    assert_int_equal(itm_matrix_find_node(&table, 11), ITM_NONE);
    CHECK_NEAR(table.at[1].z, 2.5, 0.0);
    itm_matrix_free_nodes(&table);
    const struct {
        const char *text, *words;
        int line;
    } bad[] = {{"", "no nodes", 1},
               {"a b c\n", "no nodes", 2},
               {"1 0 0\n", "three finite", 1},
               {"1 0 0 0\nx 1 1 1\n", "number of a node", 2}};
    for (int i = 0; i < 4; i++) {
        error = (ItmError){0};
        assert_int_equal(itm_matrix_read_nodes(&table, write_file("nodes.csv", bad[i].text), &error), ITM_ERR_INPUT);
        if (strstr(error.message, bad[i].words) == NULL || error.line != bad[i].line) {
            fail_msg("case %d: line %d: %s", i, error.line, error.message);
        }
    }
}

// The files of a model are named in it, and so is what is wrong with them.
static void models_name_their_files(void** state)
{
    (void)state;
#define MODEL(mass)                                                                                                    \
    FLEXIBLE "        model: {mass: " mass ", stiffness: k.mtx, nodes: n.csv, interfaces: {foot: [1]}}\n"
    refuse(MODEL("no-such-file.mtx"), 5, 23, "file 'no-such-file.mtx': cannot read");
    write_file("bad.mtx", SYMMETRIC "2 2 1\n1 1 nan\n");
    refuse(MODEL("flexible-bad.mtx"), 5, 23, "file 'flexible-bad.mtx':3: expected a row");
    refuse(FLEXIBLE "        model: {mass: m.mtx}\n", 5, 16, "needs 'stiffness'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_beam_is_read_whole),
        cmocka_unit_test(defaults_are_steel_and_two_modes_a_plane),
        cmocka_unit_test(no_modes_make_a_rigid_beam),
        cmocka_unit_test(bad_beams_are_refused_where_they_stand),
        cmocka_unit_test(matrices_are_read_in_either_form),
        cmocka_unit_test(bad_matrices_are_refused_with_their_line),
        cmocka_unit_test(tables_of_nodes_are_read),
        cmocka_unit_test(models_name_their_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
