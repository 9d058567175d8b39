// Finite element models: Craig-Bampton reduction against the full model, and refusal of bad ones.
#include "run.h"

#include "math/eigen.h"
#include "multibody/elastic.h"
#include "scenes/scene.h"

// ---------------------------------------------------------------------------- a small finite element program

#define LENGTH 1.5
#define AREA 6e-4
#define MOMENT_Y 2e-8
#define MOMENT_Z 5e-8
#define TORSION 4e-8
#define YOUNG 70e9
#define SHEAR 26e9
#define DENSITY 2700.0

typedef struct Mesh {
    int n, nnode, per_node;
    double *M, *K;  // dense, n x n
    ItmVec3* nodes;
    int *row, *column;  // entries of the lower half
    double *m_value, *k_value;
    int nentry;
} Mesh;

static Mesh make_mesh(int nnode, int per_node)
{
    Mesh mesh = {.n = per_node * nnode, .nnode = nnode, .per_node = per_node};
    size_t count = (size_t)(mesh.n * mesh.n);
    mesh.M = calloc(count, sizeof(double));
    mesh.K = calloc(count, sizeof(double));
    mesh.nodes = calloc((size_t)nnode, sizeof(ItmVec3));
    return mesh;
}

static void free_mesh(Mesh* mesh)
{
    free(mesh->M);
    free(mesh->K);
    free(mesh->nodes);
    free(mesh->row);
    free(mesh->column);
    free(mesh->m_value);
    free(mesh->k_value);
}

// Lower halves as entries, one pattern for both.
static void take_entries(Mesh* mesh)
{
    size_t most = (size_t)(mesh->n * (mesh->n + 1) / 2);
    mesh->row = calloc(most, sizeof(int));
    mesh->column = calloc(most, sizeof(int));
    mesh->m_value = calloc(most, sizeof(double));
    mesh->k_value = calloc(most, sizeof(double));
    for (int i = 0; i < mesh->n; i++) {
        for (int j = 0; j <= i; j++) {
            int at = i * mesh->n + j;
            if (mesh->M[at] != 0.0 || mesh->K[at] != 0.0) {
                mesh->row[mesh->nentry] = i;
                mesh->column[mesh->nentry] = j;
                mesh->m_value[mesh->nentry] = mesh->M[at];
                mesh->k_value[mesh->nentry++] = mesh->K[at];
            }
        }
    }
}

static void add(double* A, int n, int i, int j, double value)
{
    A[i * n + j] += value;
    if (i != j) {
        A[j * n + i] += value;
    }
}

// Bending of an element in one plane: cubic shapes, degrees of freedom v1, t1, v2, t2 at rows d[4]; s: sign of the slopes.
static void add_bending(Mesh* mesh, const int d[4], double s, double EI, double m, double L)
{
    const double k[4][4] = {{12, 6 * L, -12, 6 * L},
                            {6 * L, 4 * L * L, -6 * L, 2 * L * L},
                            {-12, -6 * L, 12, -6 * L},
                            {6 * L, 2 * L * L, -6 * L, 4 * L * L}};
    const double c[4][4] = {{156, 22 * L, 54, -13 * L},
                            {22 * L, 4 * L * L, 13 * L, -3 * L * L},
                            {54, 13 * L, 156, -22 * L},
                            {-13 * L, -3 * L * L, -22 * L, 4 * L * L}};
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j <= i; j++) {
            double sign = (i % 2 ? s : 1.0) * (j % 2 ? s : 1.0);
            add(mesh->K, mesh->n, d[i], d[j], sign * k[i][j] * EI / (L * L * L));
            add(mesh->M, mesh->n, d[i], d[j], sign * c[i][j] * m * L / 420.0);
        }
    }
}

static void add_rod(Mesh* mesh, int a, int b, double k, double m)
{
    add(mesh->K, mesh->n, a, a, k);
    add(mesh->K, mesh->n, b, b, k);
    add(mesh->K, mesh->n, b, a, -k);
    add(mesh->M, mesh->n, a, a, m / 3.0);
    add(mesh->M, mesh->n, b, b, m / 3.0);
    add(mesh->M, mesh->n, b, a, m / 6.0);
}

// A beam along x of elements with six freedoms a node.
static Mesh make_beam(int nelement)
{
    Mesh mesh = make_mesh(nelement + 1, 6);
    double L = LENGTH / nelement, m = DENSITY * AREA;
    for (int i = 0; i <= nelement; i++) {
        mesh.nodes[i] = itm_vec(i * L, 0, 0);
    }
    for (int e = 0; e < nelement; e++) {
        int a = 6 * e, b = a + 6;
        add_rod(&mesh, a, b, YOUNG * AREA / L, m * L);
        add_rod(&mesh, a + 3, b + 3, SHEAR * TORSION / L, DENSITY * (MOMENT_Y + MOMENT_Z) * L);
        add_bending(&mesh, (const int[4]){a + 1, a + 5, b + 1, b + 5}, 1.0, YOUNG * MOMENT_Z, m, L);
        add_bending(&mesh, (const int[4]){a + 2, a + 4, b + 2, b + 4}, -1.0, YOUNG * MOMENT_Y, m, L);
    }
    take_entries(&mesh);
    return mesh;
}

// A tower of bars along x: squares of four nodes, neighbours joined by edges and diagonals. Three freedoms a node.
static Mesh make_tower(int nlevel)
{
    Mesh mesh = make_mesh(4 * (nlevel + 1), 3);
    for (int i = 0; i < mesh.nnode; i++) {
        mesh.nodes[i] = itm_vec(0.3 * (i / 4), i % 4 == 1 || i % 4 == 2 ? 0.2 : 0.0, i % 4 > 1 ? 0.25 : 0.0);
    }
    for (int a = 0; a < mesh.nnode; a++) {
        for (int b = 0; b < a; b++) {
            ItmVec3 d = itm_vec_sub(mesh.nodes[a], mesh.nodes[b]);
            double l = itm_vec_norm(d), k = 1e7 / l, mass = 2.0 * l, e[3] = {d.x / l, d.y / l, d.z / l};
            if (a / 4 - b / 4 > 1) {
                continue;
            }
            for (int i = 0; i < 3; i++) {
                for (int j = 0; j < 3; j++) {
                    mesh.K[(3 * a + i) * mesh.n + 3 * a + j] += k * e[i] * e[j];
                    mesh.K[(3 * b + i) * mesh.n + 3 * b + j] += k * e[i] * e[j];
                    add(mesh.K, mesh.n, 3 * a + i, 3 * b + j, -k * e[i] * e[j]);
                }
                mesh.M[(3 * a + i) * (mesh.n + 1)] += 0.5 * mass;
                mesh.M[(3 * b + i) * (mesh.n + 1)] += 0.5 * mass;
            }
        }
    }
    take_entries(&mesh);
    return mesh;
}

static ItmModalDef make_def(const Mesh* mesh, const ItmModalInterface* faces, int nface)
{
    ItmModalDef def = itm_default_modal_def();
    def.mass = (ItmSparseDef){mesh->n, mesh->nentry, mesh->row, mesh->column, mesh->m_value};
    def.stiffness = (ItmSparseDef){mesh->n, mesh->nentry, mesh->row, mesh->column, mesh->k_value};
    def.nnode = mesh->nnode;
    def.nodes = mesh->nodes;
    def.interfaces = faces;
    def.ninterface = nface;
    return def;
}

static ItmElastic* make_elastic(const ItmModalDef* modal)
{
    ItmElastic* e = NULL;
    ItmError error = {0};
    ItmFlexibleDef def = itm_default_flexible_def();
    def.modal = modal;
    CHECK_OK(itm_elastic_create(&e, 0, "part", &def, &error), &error);
    return e;
}

static double frequency(const ItmElastic* e, int mode)
{
    return sqrt(e->tables.stiffness[mode] / e->tables.mass[mode]);
}

// Frequencies of the full model restricted to combinations T (q x n, rows) of its rows, increasing. omega (q)
static void solve_full(const Mesh* mesh, const double* T, int q, double* omega)
{
    int n = mesh->n;
    double *M = calloc((size_t)(q * q), sizeof(double)), *K = calloc((size_t)(q * q), sizeof(double));
    double* y = calloc((size_t)(2 * n), sizeof(double));
    for (int i = 0; i < q; i++) {
        for (int r = 0; r < n; r++) {
            y[r] = y[n + r] = 0.0;
            for (int c = 0; c < n; c++) {
                y[r] += mesh->M[r * n + c] * T[i * n + c];
                y[n + r] += mesh->K[r * n + c] * T[i * n + c];
            }
        }
        for (int j = 0; j < q; j++) {
            for (int c = 0; c < n; c++) {
                M[i * q + j] += y[c] * T[j * n + c];
                K[i * q + j] += y[n + c] * T[j * n + c];
            }
        }
    }
    assert_int_equal(itm_eigen_generalized(K, M, omega, q), ITM_OK);
    for (int i = 0; i < q; i++) {
        omega[i] = sqrt(fmax(omega[i], 0.0));
    }
    free(M);
    free(K);
    free(y);
}

// Unit vectors of the rows [first, n).
static double* select_rows(const Mesh* mesh, int first)
{
    double* T = calloc((size_t)((mesh->n - first) * mesh->n), sizeof(double));
    for (int i = first; i < mesh->n; i++) {
        T[(i - first) * mesh->n + i] = 1.0;
    }
    return T;
}

// ---------------------------------------------------------------------------- reduction

static const int ROOT[] = {0}, TIP[] = {12};
static const ItmModalInterface BEAM_ENDS[] = {{"root", 1, ROOT}, {"tip", 1, TIP}};

static void reduced_beam_has_the_frequencies_of_the_full_model(void** state)
{
    (void)state;
    Mesh mesh = make_beam(12);
    double* T = select_rows(&mesh, 6);
    double omega[72];
    solve_full(&mesh, T, 66 + 6, omega);
    ItmModalDef def = make_def(&mesh, BEAM_ENDS, 2);
    double error[2][8];
    for (int i = 0; i < 2; i++) {
        def.modes = i == 0 ? 6 : 18;
        ItmElastic* e = make_elastic(&def);
        assert_int_equal(e->n, 6 + def.modes);
        for (int k = 0; k < 8; k++) {
            // Rayleigh: from above, and the more modes the better
            error[i][k] = frequency(e, k) / omega[k] - 1.0;
            assert_true(error[i][k] > -1e-10);
            assert_true(i == 0 || error[1][k] < error[0][k] + 1e-10);
        }
        itm_elastic_destroy(e);
    }
    CHECK_NEAR(error[1][0], 0.0, 1e-6);
    CHECK_NEAR(error[1][1], 0.0, 1e-6);
    // with all modes nothing is lost
    def.modes = 66;
    ItmElastic* e = make_elastic(&def);
    for (int k = 0; k < 72; k++) {
        CHECK_NEAR(frequency(e, k) / omega[k], 1.0, 1e-8);
    }
    itm_elastic_destroy(e);
    free(T);
    free_mesh(&mesh);
}

static void free_frame_has_the_free_frequencies(void** state)
{
    (void)state;
    Mesh mesh = make_beam(12);
    double* T = select_rows(&mesh, 0);
    double omega[78];
    solve_full(&mesh, T, 78, omega);
    ItmModalDef def = make_def(&mesh, BEAM_ENDS, 2);
    def.frame = ITM_MODAL_FRAME_FREE;
    def.modes = 66;
    ItmElastic* e = make_elastic(&def);
    assert_int_equal(e->n, 72);
    for (int k = 0; k < 72; k++) {
        CHECK_NEAR(frequency(e, k) / omega[6 + k], 1.0, 1e-8);
        // and no momentum
        CHECK_NEAR(itm_vec_norm(e->tables.S[k]) / e->mass, 0.0, 1e-9);
    }
    itm_elastic_destroy(e);
    free(T);
    free_mesh(&mesh);
}

// The static shapes of the interfaces carry any load there exactly, whatever the number of modes.
static void static_deflection_is_exact_without_any_mode(void** state)
{
    (void)state;
    Mesh mesh = make_beam(12);
    ItmModalDef def = make_def(&mesh, BEAM_ENDS, 2);
    for (int modes = 0; modes <= 10; modes += 5) {
        def.modes = modes;
        ItmElastic* e = make_elastic(&def);
        ItmSpatial* shape = calloc((size_t)e->n, sizeof *shape);
        ItmElasticSite site;
        assert_int_equal(itm_elastic_find_site(&site, e, itm_vec(LENGTH, 0, 0), NULL), ITM_OK);
        assert_int_equal(itm_elastic_compute_shape(e, shape, NULL, &site), ITM_OK);
        double deflection = 0.0, pull = 0.0, twist = 0.0;
        for (int k = 0; k < e->n; k++) {
            deflection += shape[k].lin.y * shape[k].lin.y / e->tables.stiffness[k];
            pull += shape[k].lin.x * shape[k].lin.x / e->tables.stiffness[k];
            twist += shape[k].ang.x * shape[k].ang.x / e->tables.stiffness[k];
        }
        // to rounding, times the condition of the stiffness matrix, some 1e6
        CHECK_NEAR(deflection * 3.0 * YOUNG * MOMENT_Z / pow(LENGTH, 3), 1.0, 1e-9);
        CHECK_NEAR(pull * YOUNG * AREA / LENGTH, 1.0, 1e-9);
        CHECK_NEAR(twist * SHEAR * TORSION / LENGTH, 1.0, 1e-9);
        free(shape);
        itm_elastic_destroy(e);
    }
    free_mesh(&mesh);
}

static void rigid_inertia_is_that_of_the_beam(void** state)
{
    (void)state;
    Mesh mesh = make_beam(12);
    ItmModalDef def = make_def(&mesh, BEAM_ENDS, 2);
    ItmElastic* e = make_elastic(&def);
    double m = DENSITY * AREA * LENGTH;
    CHECK_NEAR(e->mass / m, 1.0, 1e-12);
    CHECK_NEAR(e->com.x, 0.5 * LENGTH, 1e-12);
    CHECK_NEAR(e->com.y, 0.0, 1e-12);
    CHECK_NEAR(e->inertia.yy / (m * LENGTH * LENGTH / 12.0), 1.0, 1e-11);
    CHECK_NEAR(e->inertia.xx / (DENSITY * (MOMENT_Y + MOMENT_Z) * LENGTH), 1.0, 1e-11);
    itm_elastic_destroy(e);
    free_mesh(&mesh);
}

// Interfaces of several nodes are tied to a frame: the full model with those ties has the same frequencies.
static void tower_with_tied_ends_has_the_frequencies_of_the_full_model(void** state)
{
    (void)state;
    const int bottom[] = {0, 1, 2, 3}, top[] = {24, 25, 26, 27};
    const ItmModalInterface ends[] = {{"bottom", 4, bottom}, {"top", 4, top}};
    Mesh mesh = make_tower(6);
    // bottom held; rows of the levels between; six motions of the top
    int inner = 3 * 20, q = inner + 6;
    double* T = calloc((size_t)(q * mesh.n), sizeof(double));
    for (int i = 0; i < inner; i++) {
        T[i * mesh.n + 12 + i] = 1.0;
    }
    ItmVec3 middle = itm_vec(1.8, 0.1, 0.125);
    for (int k = 0; k < 6; k++) {
        for (int i = 24; i < 28; i++) {
            ItmVec3 unit = itm_vec(k % 3 == 0, k % 3 == 1, k % 3 == 2);
            ItmVec3 u = k < 3 ? unit : itm_vec_cross(unit, itm_vec_sub(mesh.nodes[i], middle));
            T[(inner + k) * mesh.n + 3 * i] = u.x;
            T[(inner + k) * mesh.n + 3 * i + 1] = u.y;
            T[(inner + k) * mesh.n + 3 * i + 2] = u.z;
        }
    }
    double omega[66];
    solve_full(&mesh, T, q, omega);
    ItmModalDef def = make_def(&mesh, ends, 2);
    def.modes = inner;
    ItmElastic* e = make_elastic(&def);
    assert_int_equal(e->n, q);
    for (int k = 0; k < q; k++) {
        CHECK_NEAR(frequency(e, k) / omega[k], 1.0, 1e-8);
    }
    itm_elastic_destroy(e);
    free(T);
    free_mesh(&mesh);
}

// ---------------------------------------------------------------------------- motion

// The reduced tower tumbles freely: energy and momenta stay.
static void free_tower_keeps_energy_and_momenta(void** state)
{
    (void)state;
    const int bottom[] = {0, 1, 2, 3}, top[] = {24, 25, 26, 27};
    const ItmModalInterface ends[] = {{"bottom", 4, bottom}, {"top", 4, top}};
    static const double START[] = {0.05, -0.04, 0.02}, RATE[] = {3.0, 5.0, 2.0};
    Mesh mesh = make_tower(6);
    for (int frame = 0; frame < ITM_MODAL_FRAME_COUNT; frame++) {
        ItmModalDef modal = make_def(&mesh, ends, 2);
        modal.frame = (ItmModalFrame)frame;
        modal.modes = 3;
        ItmFlexibleDef flexible = itm_default_flexible_def();
        flexible.modal = &modal;
        flexible.start = START;
        flexible.start_rate = RATE;
        flexible.nstart = 3;
        ItmError error = {0};
        ItmScene scene = itm_scene_begin(ITM_COORDINATES_JOINT, (ItmVec3){0, 0, 0}, &error);
        ItmBodyDef body = itm_default_body_def();
        body.name = "tower";
        body.has_pose = true;
        body.velocity = (ItmVec3){1.0, 0.5, -0.3};
        body.angular_velocity = (ItmVec3){5.0, -3.0, 2.0};
        int id = itm_scene_add_body(&scene, &body);
        CHECK_OK(itm_model_builder_add_flexible(scene.builder, id, &flexible, &error), &error);
        ItmModel* m = NULL;
        CHECK_OK(itm_scene_finish(&scene, &m), &error);
        ItmStepOptions options = itm_default_step_options();
        options.stepper = ITM_STEPPER_REFERENCE;
        options.step = 0.01;
        Run run = start_run_with(m, &options);
        double energy = output(&run, "energy.mechanical"), spin = output(&run, "momentum.angular.y"),
               push = output(&run, "momentum.linear.x");
        advance(&run, 30);
        CHECK_NEAR(output(&run, "energy.mechanical") / energy, 1.0, 1e-8);
        CHECK_NEAR(output(&run, "momentum.angular.y") / spin, 1.0, 1e-8);
        CHECK_NEAR(output(&run, "momentum.linear.x") / push, 1.0, 1e-8);
        finish_run(&run);
    }
    free_mesh(&mesh);
}

// A swinging beam made of elements and one from the built-in theory: same material, same motion.
static Run start_swing(const ItmFlexibleDef* flexible)
{
    ItmError error = {0};
    ItmScene scene = itm_scene_begin(ITM_COORDINATES_JOINT, (ItmVec3){0, 0, -9.81}, &error);
    ItmBodyDef body = itm_default_body_def();
    body.name = "beam";
    int id = itm_scene_add_body(&scene, &body);
    CHECK_OK(itm_model_builder_add_flexible(scene.builder, id, flexible, &error), &error);
    ItmJointDef hinge =
        itm_scene_hinge("hinge", ITM_GROUND, (ItmVec3){0, 0, 0}, id, (ItmVec3){0, 0, 0}, (ItmVec3){0, 1, 0});
    itm_scene_add_joint(&scene, &hinge);
    ItmBodyDef bob = itm_default_body_def();
    bob.name = "bob";
    bob.mass = 5.0;
    bob.inertia = (ItmSym3){.xx = 1e-2, .yy = 1e-2, .zz = 1e-2};
    ItmJointDef weld = itm_default_joint_def(ITM_JOINT_FIXED);
    weld.name = "weld";
    weld.body_a = id;
    weld.body_b = itm_scene_add_body(&scene, &bob);
    weld.frame_a.p.x = LENGTH;
    itm_scene_add_joint(&scene, &weld);
    ItmModel* m = NULL;
    CHECK_OK(itm_scene_finish(&scene, &m), &error);
    assert_int_equal(itm_model_get_info(m).nrow, 0);
    ItmStepOptions options = itm_default_step_options();
    options.stepper = ITM_STEPPER_ALI3P;
    options.step = 5e-4;
    return start_run_with(m, &options);
}

static void elements_and_beam_theory_move_alike(void** state)
{
    (void)state;
    Mesh mesh = make_beam(12);
    ItmModalDef modal = make_def(&mesh, BEAM_ENDS, 2);
    ItmFlexibleDef elements = itm_default_flexible_def(), theory = elements;
    ItmBeamDef beam = itm_default_beam_def();
    beam.length = LENGTH;
    beam.density = DENSITY;
    beam.young = YOUNG;
    beam.shear = SHEAR;
    beam.area = AREA;
    beam.moment_y = MOMENT_Y;
    beam.moment_z = MOMENT_Z;
    beam.torsion = TORSION;
    beam.modes_z = 8;
    elements.modal = &modal;
    theory.beam = &beam;
    theory.use_stiffening = false;
    elements.damping_ratio = theory.damping_ratio = 0.1;
    Run a = start_swing(&elements), b = start_swing(&theory);
    advance(&a, 1000);
    advance(&b, 1000);
    // the bob moved by a metre and bends the beam by a centimetre, which eight modes give to 1e-4
    assert_true(output(&a, "bob.position.z") < -0.5);
    CHECK_NEAR(output(&a, "bob.position.x"), output(&b, "bob.position.x"), 1e-5);
    CHECK_NEAR(output(&a, "bob.position.z"), output(&b, "bob.position.z"), 1e-5);
    finish_run(&a);
    finish_run(&b);
    free_mesh(&mesh);
}

// ---------------------------------------------------------------------------- bad models

static void expect_refusal(const ItmModalDef* modal, const char* field, const char* part)
{
    ItmElastic* e = NULL;
    ItmError error = {0};
    ItmFlexibleDef def = itm_default_flexible_def();
    def.modal = modal;
    assert_int_equal(itm_elastic_create(&e, 0, "part", &def, &error), ITM_ERR_INPUT);
    assert_string_equal(error.field, field);
    if (strstr(error.message, part) == NULL) {
        fail_msg("'%s' is not in '%s'", part, error.message);
    }
}

static void bad_models_are_refused(void** state)
{
    (void)state;
    Mesh mesh = make_beam(4);
    const int last[] = {4}, outside[] = {5};
    const ItmModalInterface ends[] = {{"root", 1, ROOT}, {"tip", 1, last}}, off[] = {{"root", 1, outside}},
                            shared[] = {{"root", 1, ROOT}, {"again", 1, ROOT}};
    ItmModalDef def = make_def(&mesh, ends, 2);
    def.nnode = 4;
    expect_refusal(&def, "nodes", "4 nodes do not fit matrices of 30 rows");
    def = make_def(&mesh, off, 1);
    expect_refusal(&def, "interfaces", "there is no node 6 of 5");
    def = make_def(&mesh, shared, 2);
    expect_refusal(&def, "interfaces", "share a node");
    def = make_def(&mesh, ends, 0);
    expect_refusal(&def, "interfaces", "at least one interface");
    def = make_def(&mesh, ends, 2);
    def.modes = 1000;
    expect_refusal(&def, "modes", "0 to 988");
    def.modes = 20;
    expect_refusal(&def, "modes", "fewer fixed-interface modes");
    // a number that is none, a negative diagonal
    def = make_def(&mesh, ends, 2);
    double keep = mesh.m_value[7];
    mesh.m_value[7] = NAN;
    expect_refusal(&def, "mass", "not finite");
    mesh.m_value[7] = keep;
    keep = mesh.k_value[0];
    mesh.k_value[0] = -1.0;
    expect_refusal(&def, "stiffness", "must not be negative");
    // a spring to the ground
    mesh.k_value[0] = 2.0 * keep;
    expect_refusal(&def, "stiffness", "resists rigid motion");
    mesh.k_value[0] = keep;
    // nothing holds the pieces together
    for (int i = 0; i < mesh.nentry; i++) {
        mesh.k_value[i] = 0.0;
    }
    expect_refusal(&def, "stiffness", "singular or not positive definite");
    free_mesh(&mesh);

    Mesh tower = make_tower(2);
    const int line[] = {0, 1};
    const ItmModalInterface edge[] = {{"edge", 2, line}};
    def = make_def(&tower, edge, 1);
    expect_refusal(&def, "interfaces", "three nodes that are not on a line");
    for (int i = 0; i < tower.nentry; i++) {
        tower.m_value[i] = 0.0;
    }
    const int corner[] = {0, 1, 2};
    const ItmModalInterface foot[] = {{"foot", 3, corner}};
    def = make_def(&tower, foot, 1);
    expect_refusal(&def, "mass", "same positive mass");
    free_mesh(&tower);
}

static void joints_beside_an_interface_are_refused(void** state)
{
    (void)state;
    Mesh mesh = make_beam(12);
    ItmModalDef modal = make_def(&mesh, BEAM_ENDS, 2);
    ItmFlexibleDef flexible = itm_default_flexible_def();
    flexible.modal = &modal;
    ItmError error = {0};
    ItmScene scene = itm_scene_begin(ITM_COORDINATES_JOINT, (ItmVec3){0, 0, 0}, &error);
    ItmBodyDef body = itm_default_body_def();
    body.name = "beam";
    int id = itm_scene_add_body(&scene, &body);
    CHECK_OK(itm_model_builder_add_flexible(scene.builder, id, &flexible, &error), &error);
    ItmJointDef hinge =
        itm_scene_hinge("hinge", ITM_GROUND, (ItmVec3){0, 0, 0}, id, (ItmVec3){0.6 * LENGTH, 0, 0}, (ItmVec3){0, 1, 0});
    itm_scene_add_joint(&scene, &hinge);
    ItmModel* m = NULL;
    assert_int_equal(itm_scene_finish(&scene, &m), ITM_ERR_INPUT);
    assert_string_equal(error.field, "hinge");
    assert_non_null(strstr(error.message, "no interface at (0.9, 0, 0) m: the nearest, 'tip'"));
    free_mesh(&mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reduced_beam_has_the_frequencies_of_the_full_model),
        cmocka_unit_test(free_frame_has_the_free_frequencies),
        cmocka_unit_test(static_deflection_is_exact_without_any_mode),
        cmocka_unit_test(rigid_inertia_is_that_of_the_beam),
        cmocka_unit_test(tower_with_tied_ends_has_the_frequencies_of_the_full_model),
        cmocka_unit_test(free_tower_keeps_energy_and_momenta),
        cmocka_unit_test(elements_and_beam_theory_move_alike),
        cmocka_unit_test(bad_models_are_refused),
        cmocka_unit_test(joints_beside_an_interface_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
