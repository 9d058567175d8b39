// Contact in model files: what is read, and where and how every kind of mistake is reported.
#include "read_text.h"

#include "io/geometry/height_file.h"
#include "math/vec.h"

#define PI 3.14159265358979323846

// ---------------------------------------------------------------------------- what is read

static void materials_and_pairs_are_read(void** state)
{
    (void)state;
    Read r = accept_after_head("  materials:\n"
                               "    plain:\n"
                               "    steel: {friction: 0.2, torsional_friction: 2 mm, "
                               "rolling_friction: 1 mm, restitution: 50 %,\n"
                               "            stiffness: 10 MN/m, damping: 1 kN s/m}\n"
                               "  material_pairs:\n"
                               "    - {materials: [plain, steel], restitution: 0.1}\n");
    const ItmMaterialDef* m = r.builder->materials.items;
    assert_int_equal(r.builder->materials.count, 2);
    assert_true(m[0].surface.friction == 0.5 && m[0].surface.stiffness == 0);
    assert_true(m[1].surface.friction == 0.2 && m[1].surface.restitution == 0.5);
    assert_true(m[1].surface.torsional_friction == 2e-3 && m[1].surface.rolling_friction == 1e-3);
    assert_true(m[1].surface.stiffness == 1e7 && m[1].surface.damping == 1e3);
    const ItmMaterialPairDef* pair = &r.builder->material_pairs.items[0];
    assert_true(pair->material_a == 0 && pair->material_b == 1);
    // what the pair does not give is combined: the geometric mean of frictions, stiffness in series with rigid
    CHECK_NEAR(pair->surface.friction, sqrt(0.1), 1e-15);
    assert_true(pair->surface.restitution == 0.1 && pair->surface.stiffness == 1e7);
    done(&r);
}

static void every_kind_of_shape_is_read(void** state)
{
    (void)state;
    Read r = accept_after_head("  materials: {steel: {}}\n"
                               "  shapes:\n"
                               "    s0: {body: rod, box: [1, 2, 3 cm], material: steel}\n"
                               "    s1: {body: rod, sphere: 5 mm}\n"
                               "    s2: {body: rod, cylinder: {radius: 1, length: 2}, position: [1, 0, 0]}\n"
                               "    s3: {body: rod, capsule: {radius: 1, length: 2}}\n"
                               "    s4: {body: ground, plane: [2, 0, 0], position: [0, 0, 1]}\n"
                               "    s5: {body: rod, hull: {vertices: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]}}\n"
                               "    s6: {body: rod, mesh: {vertices: [[0, 0, 0], [1, 0, 0], [0, 1 cm, 0]], triangles: "
                               "[[0, 1, 2]]}}\n"
                               "    s7: {body: ground, heights: {size: [4, 6], values: [[1, 2, 3], [4, 5, 6 mm]]}}\n");
    const ItmColliderDef* s = r.builder->colliders.items;
    assert_int_equal(r.builder->colliders.count, ITM_COLLIDER_KIND_COUNT);
    for (int i = 0; i < ITM_COLLIDER_KIND_COUNT; i++) {
        assert_int_equal(s[i].kind, i);
        assert_int_equal(s[i].body,
                         s[i].kind == ITM_COLLIDER_PLANE || s[i].kind == ITM_COLLIDER_HEIGHTS ? ITM_GROUND : 0);
        assert_int_equal(s[i].material, i == 0 ? 0 : ITM_NONE);
    }
    assert_true(s[0].size[2] == 0.03 && s[1].size[0] == 0.005 && s[2].size[1] == 2);
    assert_true(s[2].pose.p.x == 1 && s[4].pose.p.z == 1);
    // the normal of a plane is its z axis
    CHECK_NEAR(itm_quat_rotate(s[4].pose.q, itm_vec(0, 0, 1)).x, 1, 1e-15);
    assert_true(s[5].nvertex == 4 && s[5].vertices[3].z == 1);
    assert_true(s[6].ntriangle == 1 && s[6].triangles[2] == 2 && s[6].vertices[2].y == 0.01);
    assert_true(s[7].nx == 3 && s[7].ny == 2 && s[7].size[1] == 6 && s[7].heights[5] == 0.006);
    done(&r);
}

static void shape_of_a_body_collides_where_it_says_so(void** state)
{
    (void)state;
    Read r = accept("multibody:\n"
                    "  materials: {steel: {}}\n"
                    "  bodies:\n"
                    "    a: {mass: 1, shape: {box: [1, 2, 3], position: [1, 0, 0], collide: true, "
                    "material: steel}}\n"
                    "    b: {mass: 1, shape: {sphere: 1, collide: false}}\n"
                    "    c: {mass: 1, shape: {sphere: 1}}\n");
    assert_int_equal(r.builder->colliders.count, 1);
    const ItmColliderDef* s = &r.builder->colliders.items[0];
    assert_string_equal(s->name, "a-shape");
    assert_true(s->body == 0 && s->material == 0 && s->size[2] == 3 && s->pose.p.x == 1);
    done(&r);
}

static void meshes_are_read_from_files_beside_the_model(void** state)
{
    (void)state;
    ItmModelFile* file = NULL;
    ItmError error = {0};
    const char* text = "multibody:\n"
                       "  bodies:\n"
                       "    a: {density: 6, shape: {mesh: {file: meshes/tetra.stl, scale: 0.001}}}\n"
                       "    b: {density: 6, shape: {hull: {file: meshes/tetra.stl, scale: 1e-3},\n"
                       "        orientation: {axis: [0, 0, 1], angle: 90 deg}}}\n";
    CHECK_OK(itm_file_parse(&file, text, strlen(text), ITM_SOURCE_DIR "/tests/model.yaml", NULL, 0, &error), &error);
    ItmModelInfo info = itm_model_get_info(file->model);
    // the corner of a unit cube: volume 1/6, centre of mass at a quarter
    CHECK_NEAR(info.mass_min, 1, 1e-15);
    CHECK_NEAR(info.mass_max, 1, 1e-15);
    itm_file_destroy(file);
}

static void heights_are_read_from_files_beside_the_model(void** state)
{
    (void)state;
    ItmModelFile* file = NULL;
    ItmError error = {0};
    const char* text = "multibody:\n"
                       "  bodies: {a: {mass: 1, inertia: [1, 1, 1]}}\n"
                       "  shapes: {s: {body: ground, heights: {size: [4, 6], file: meshes/hill.csv, scale: 0.001}}}\n";
    CHECK_OK(itm_file_parse(&file, text, strlen(text), ITM_SOURCE_DIR "/tests/model.yaml", NULL, 0, &error), &error);
    itm_file_destroy(file);

    ItmHeightFile table;
    CHECK_OK(itm_height_file_read(&table, ITM_SOURCE_DIR "/tests/meshes/hill.csv", 0.001, &error), &error);
    assert_true(table.nx == 3 && table.ny == 2);
    CHECK_NEAR(table.values[2], 0.002, 1e-18);
    CHECK_NEAR(table.values[5], 5.0, 1e-15);
    free(table.values);
}

static void mass_of_a_hull_turns_with_its_pose(void** state)
{
    (void)state;
    Read r = accept("multibody: {bodies: {a: {density: 6, shape: {hull: {vertices: [[0, 0, 0], [1, 0, 0], [0, "
                    "1, 0],\n"
                    "  [0, 0, 1]]}, position: [1, 0, 0], orientation: {axis: [0, 0, 1], angle: 90 deg}}}}}\n");
    const ItmBodyDef* a = &r.builder->bodies.items[0];
    CHECK_NEAR(a->com.x, 0.75, 1e-15);
    CHECK_NEAR(a->com.y, 0.25, 1e-15);
    // about the centre: xy product of the corner is 6 (1/120 - 1/96) = -1/80; a quarter turn changes its sign
    CHECK_NEAR(a->inertia.xy, -1.0 / 80, 1e-15);
    done(&r);
}

static void laws_of_contact_are_read(void** state)
{
    (void)state;
    Read r = accept_after_head("  contact: {friction_law: pyramid, directions: 6, bounds: last, margin: 2 mm, "
                               "restitution_speed: 5 mm/s,\n"
                               "            max_contacts: 500, solver: gauss-seidel, tolerance: 1e-9}\n");
    const ItmContactOptions* o = &r.builder->contact;
    assert_int_equal(o->law, ITM_FRICTION_PYRAMID);
    assert_int_equal(o->ndirection, 6);
    assert_true(o->lag_friction_bounds && o->margin == 2e-3 && o->restitution_speed == 5e-3);
    assert_int_equal(o->max_contacts, 500);
    assert_int_equal(o->solver, ITM_MLCP_GAUSS_SEIDEL);
    assert_true(o->tolerance == 1e-9);
    done(&r);
}

static void groups_become_bits(void** state)
{
    (void)state;
    Read r = accept_after_head("  contact: {groups: [robot, parts]}\n"
                               "  no_contact: [[rod, bob], [rod, ground]]\n"
                               "  shapes:\n"
                               "    a: {body: rod, sphere: 1, group: robot, collides_with: [parts, default]}\n"
                               "    b: {body: bob, sphere: 1, group: [robot, parts]}\n"
                               "    c: {body: bob, sphere: 1, collides_with: []}\n");
    const ItmColliderDef* s = r.builder->colliders.items;
    assert_true(s[0].group == 2 && s[0].mask == 5);
    assert_true(s[1].group == 6 && s[1].mask == UINT32_MAX);
    assert_true(s[2].group == 1 && s[2].mask == 0);
    assert_int_equal(r.builder->excluded.count, 2);
    assert_int_equal(r.builder->excluded.items[1].b, ITM_GROUND);
    done(&r);
}

static void joints_have_limits_and_friction(void** state)
{
    (void)state;
    Read r =
        accept_after_head("  joints:\n"
                          "    hinge: {type: revolute, bodies: [ground, rod], limits: [-90 deg, 90 deg], friction: 2 "
                          "N m}\n"
                          "    sleeve: {type: cylindrical, bodies: [ground, bob], friction: {tz: 5 N},\n"
                          "      limits: {tz: {upper: 1 m, restitution: 0.5, stiffness: 1 kN/m, damping: 1 N s/m}, "
                          "rz: [0, 1]}}\n"
                          "  motions:\n"
                          "    motor: {joint: hinge, position: 1, max_force: 3 N m}\n");
    const ItmLimitDef* l = r.builder->limits.items;
    assert_int_equal(r.builder->limits.count, 3);
    assert_string_equal(l[0].name, "hinge-limit");
    CHECK_NEAR(l[0].lower, -PI / 2, 1e-15);
    assert_string_equal(l[1].name, "sleeve-limit-tz");
    assert_true(l[1].direction == ITM_TZ && l[1].lower == -INFINITY && l[1].upper == 1 && l[1].restitution == 0.5);
    assert_true(l[1].stiffness == 1e3 && l[1].damping == 1);
    assert_string_equal(l[2].name, "sleeve-limit-rz");
    const ItmJointFrictionDef* f = r.builder->joint_frictions.items;
    assert_string_equal(f[0].name, "hinge-friction");
    assert_true(f[0].force == 2 && f[1].force == 5 && f[1].direction == ITM_TZ);
    assert_string_equal(f[1].name, "sleeve-friction-tz");
    assert_true(r.builder->motions.items[0].max_force == 3);
    done(&r);
}

// A section cosim is about macro steps, but for the threads that share the contacts of a mechanism.
static void threads_alone_leave_the_step_of_the_run(void** state)
{
    (void)state;
    static const char* const SECTIONS[] = {"", "cosim: {threads: 2}\n", "cosim: {threads: 2, macro_step: 4 ms}\n"};
    for (int i = 0; i < 3; i++) {
        char text[200];
        ItmModelFile* file = NULL;
        ItmError error = {0};
        snprintf(text, sizeof text, "multibody: {bodies: {ball: {mass: 1, inertia: [1, 1, 1]}}}\n%s", SECTIONS[i]);
        CHECK_OK(itm_file_parse(&file, text, strlen(text), "model.yaml", NULL, 0, &error), &error);
        assert_int_equal(file->cosim.options.nthread, i == 0 ? 1 : 2);
        assert_true(file->run.step.step == (i < 2 ? 1e-3 : 4e-3));
        assert_true(file->cosim.options.macro_step == file->run.step.step);
        itm_file_destroy(file);
    }
}

static void overrides_reach_contact(void** state)
{
    (void)state;
    const char* text = "multibody: {materials: {m: {friction: 0.1}}, bodies: {a: {mass: 1, "
                       "inertia: [1, 1, 1]}}}\n";
    Read r = accept_with(text, "multibody.materials.m.friction=0.7");
    assert_true(r.builder->materials.items[0].surface.friction == 0.7);
    done(&r);
    r = accept_with(text, "multibody.contact.friction_law=box");
    assert_int_equal(r.builder->contact.law, ITM_FRICTION_BOX);
    done(&r);
    const char* typo = "multibody.materials.n.friction=0.7";
    r = read_length(text, strlen(text), typo);
    expect_error(&r, text, "--set multibody.materials.n.friction=0.7", 1, 21, "'m'");
}

// ---------------------------------------------------------------------------- what is refused

static void materials_are_checked(void** state)
{
    (void)state;
    refuse_after_head("  materials: {m: {friction: -0.1}}\n", 1, 29, "not negative");
    refuse_after_head("  materials: {m: {friction: 0.1 m}}\n", 1, 29, "wrong unit");
    refuse_after_head("  materials: {m: {friction: 0/0}}\n", 1, 29, "finite");
    refuse_after_head("  materials: {m: {torsional_friction: 3 N}}\n", 1, 39, "expected m");
    refuse_after_head("  materials: {m: {restitution: 1.01}}\n", 1, 32, "between 0 and 1");
    refuse_after_head("  materials: {m: {stiffness: 1 N}}\n", 1, 30, "N/m");
    refuse_after_head("  materials: {m: {fricton: 1}}\n", 1, 19, "nearest: 'friction'");
    refuse_after_head("  materials: [m]\n", 1, 14, "mapping");
    refuse_after_head("  materials: {m: 0.5}\n", 1, 18, "mapping");
    refuse_after_head("  materials: {steel: {}}\n  material_pairs: [{materials: [steel, stel]}]\n", 2, 40,
                      "nearest: 'steel'");
    refuse_after_head("  materials: {steel: {}}\n  material_pairs: [{materials: [steel]}]\n", 2, 32, "two");
    refuse_after_head("  materials: {steel: {}}\n  material_pairs: [{friction: 1}]\n", 2, 20, "needs 'materials'");
    refuse_after_head("  materials: {s: {}}\n  material_pairs: [{materials: [s, s], restitution: 2}]\n", 2, 53,
                      "between 0 and 1");
    refuse_after_head("  material_pairs: {a: b}\n", 1, 19, "list of pairs");
}

static void shapes_are_checked(void** state)
{
    (void)state;
    refuse_after_head("  shapes: {s: {body: rodd, sphere: 1}}\n", 1, 22, "nearest: 'rod'");
    refuse_after_head("  shapes: {s: {sphere: 1}}\n", 1, 12, "needs 'body'");
    refuse_after_head("  shapes: {s: {body: rod}}\n", 1, 15, "needs one of");
    refuse_after_head("  shapes: {s: {body: rod, sphere: 1, box: [1, 1, 1]}}\n", 1, 35, "not two");
    refuse_after_head("  shapes: {s: {body: rod, spere: 1}}\n", 1, 27, "nearest: 'sphere'");
    refuse_after_head("  shapes: {s: {body: rod, sphere: -1}}\n", 1, 35, "positive");
    refuse_after_head("  shapes: {s: {body: rod, sphere: 1 kg}}\n", 1, 35, "wrong unit");
    refuse_after_head("  shapes: {s: {body: rod, sphere: 1, material: stone}}\n", 1, 48, "there is no material");
    refuse_after_head("  shapes: {s: {body: rod, plane: [0, 0, 0]}}\n", 1, 34, "zero");
    refuse_after_head("  shapes: {rod: {body: rod, sphere: 1}}\n", 1, 12, "rod");
    refuse_after_head("  shapes: {s: {body: rod, sphere: 1, collide: perhaps}}\n", 1, 47, "true or false");
    refuse("multibody: {bodies: {a: {mass: 1, shape: {plane: [0, 0, 1]}}}}", 1, 50, "no volume");
    refuse("multibody: {bodies: {a: {mass: 1, shape: {sphere: 1, material: m}}}}", 1, 64, "there is no material");
    refuse("multibody: {materials: {m: {}}, bodies: {a: {mass: 1, shape: {sphere: 1, material: m}}}}", 1, 84,
           "collide: true");
}

static void meshes_are_checked(void** state)
{
    (void)state;
    refuse_after_head("  shapes: {s: {body: rod, mesh: {file: nowhere.stl}}}\n", 1, 40, "nowhere.stl");
    refuse_after_head("  shapes: {s: {body: rod, mesh: {file: /dev/zero}}}\n", 1, 40, "not a file");
    refuse_after_head("  shapes: {s: {body: rod, mesh: {file: /}}}\n", 1, 40, "not a file");
    refuse_after_head("  shapes: {s: {body: rod, mesh: {file: a.stl, scale: 0}}}\n", 1, 54, "positive");
    refuse_after_head("  shapes: {s: {body: rod, mesh: {scale: 1}}}\n", 1, 33, "a file or vertices");
    refuse_after_head("  shapes: {s: {body: rod, hull: {vertices: [[0, 0, 0]], scale: 2}}}\n", 1, 64, "scaled");
    refuse_after_head("  shapes: {s: {body: rod, hull: {vertices: [[0, 0, 0]], triangles: []}}}\n", 1, 57,
                      "not a key of a hull");
    refuse_after_head("  shapes: {s: {body: rod, hull: {vertices: [[0, 0, 0]]}}}\n", 1, 33, "4 to");
    refuse_after_head("  shapes: {s: {body: rod, mesh: {vertices: [[0, 0, 0]]}}}\n", 1, 33, "needs 'triangles'");
    refuse_after_head("  shapes: {s: {body: rod, mesh: {vertices: [[0, 0, 0]], triangles: [[0, 0, 1]]}}}\n", 1, 76,
                      "whole number from 0 to 0");
    refuse_after_head("  shapes: {s: {body: rod, mesh: {vertices: [[0, 0, 0]], triangles: [[0, 0]]}}}\n", 1, 69,
                      "three corners");
    refuse_after_head("  shapes: {s: {body: rod, heights: {size: [1, 1], values: [[0, 1], [2]]}}}\n", 1, 68, "as long");
    refuse_after_head("  shapes: {s: {body: rod, heights: {size: [1, 1], values: [[0], [2]]}}}\n", 1, 36, "2 x 2");
    refuse_after_head("  shapes: {s: {body: rod, heights: {size: [1], values: [[0, 1], [2, 3]]}}}\n", 1, 43, "extent");
    refuse_after_head("  shapes: {s: {body: rod, heights: {size: [1, -1], values: [[0, 1], [2, 3]]}}}\n", 1, 36,
                      "positive");
}

// What the compiler of models finds is placed at the shape, too.
static void expect_build_error(const char* text, int line, int column, const char* words)
{
    ItmModelFile* file = NULL;
    ItmError error = {0};
    assert_int_equal(itm_file_parse(&file, text, strlen(text), ITM_SOURCE_DIR "/tests/m.yaml", NULL, 0, &error),
                     ITM_ERR_INPUT);
    if (error.line != line || error.column != column || strstr(error.message, words) == NULL) {
        fail_msg("expected %d:%d '%s', got %d:%d: %s", line, column, words, error.line, error.column, error.message);
    }
}

static void shapes_without_volume_are_refused(void** state)
{
    (void)state;
    expect_build_error("multibody: {bodies: {a: {mass: 1, inertia: [1, 1, 1]}}, shapes: {s: {body: "
                       "a, hull: {vertices: "
                       "[[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]}}}}",
                       1, 66, "shape 's'");
    expect_build_error("multibody: {bodies: {a: {density: 1, shape: {mesh: {file: meshes/open.stl}}}}}", 1, 52, "edge");
    expect_build_error("multibody: {bodies: {a: {mass: 1, inertia: [1, 1, 1]}},\n"
                       "  shapes: {s: {body: a, mesh: {file: meshes/bad.obj}}}}",
                       2, 38, "meshes/bad.obj':3:");
    const struct {
        const char* file;
        const char* message;
    } heights[] = {{"hill-word.csv", "hill-word.csv':2:2: expected a number"},
                   {"hill-short.csv", "hill-short.csv':2:1: this line has not as many heights"},
                   {"no.csv", "no.csv': cannot be read"}};
    for (size_t i = 0; i < sizeof heights / sizeof *heights; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "multibody: {bodies: {a: {mass: 1, inertia: [1, 1, 1]}},\n"
                 "  shapes: {s: {body: ground, heights: {size: [1, 1], file: meshes/%s}}}}",
                 heights[i].file);
        expect_build_error(text, 2, 60, heights[i].message);
    }
}

static void laws_of_contact_are_checked(void** state)
{
    (void)state;
    refuse_after_head("  contact: {friction_law: cones}\n", 1, 27, "nearest: 'cone'");
    refuse_after_head("  contact: {friction_law: cone, directions: 8}\n", 1, 45, "pyramid");
    refuse_after_head("  contact: {friction_law: pyramid, directions: 2}\n", 1, 48, "3 to 32");
    refuse_after_head("  contact: {bounds: next}\n", 1, 21, "choice of bounds");
    refuse_after_head("  contact: {solver: gauss}\n", 1, 21, "solver");
    refuse_after_head("  contact: {margin: -1 mm}\n", 1, 21, "negative");
    refuse_after_head("  contact: {tolerance: 0}\n", 1, 24, "positive");
    refuse_after_head("  contact: {restitution_speed: 1 m}\n", 1, 32, "wrong unit");
    refuse_after_head("  contact: {max_contacts: 0.5}\n", 1, 27, "whole number");
    refuse_after_head("  contact: {groups: [a, a]}\n", 1, 25, "already");
    refuse_after_head("  contact: {groups: a}\n", 1, 21, "list");
    refuse_after_head("  contact: {groups: [robot]}\n  shapes: {s: {body: rod, sphere: 1, group: robt}}\n", 2, 45,
                      "nearest: 'robot'");
    refuse_after_head("  no_contact: [[rod, bobb]]\n", 1, 22, "nearest: 'bob'");
    refuse_after_head("  no_contact: [rod, bob]\n", 1, 16, "two names");
}

static void limits_are_checked(void** state)
{
    (void)state;
#define HINGE "  joints: {j: {type: revolute, bodies: [ground, rod], "
    refuse_after_head(HINGE "limits: [2, 1]}}\n", 1, 64, "above the upper");
    refuse_after_head(HINGE "limits: [1 m, 2 m]}}\n", 1, 64, "wrong unit");
    refuse_after_head(HINGE "limits: {restitution: 1}}}\n", 1, 63, "lower or upper");
    refuse_after_head(HINGE "limits: {upper: 1, restitution: 2}}}\n", 1, 87, "between 0 and 1");
    refuse_after_head(HINGE "limits: {upper: 1, stiffness: 1 N/m}}}\n", 1, 85, "wrong unit");
    refuse_after_head(HINGE "limits: {tx: [0, 1]}}}\n", 1, 68, "not free");
    refuse_after_head(HINGE "friction: -1}}\n", 1, 65, "negative");
    refuse_after_head(HINGE "friction: 1 N}}\n", 1, 65, "wrong unit");
    refuse_after_head("  joints: {j: {type: planar, bodies: [ground, rod], limits: [0, 1]}}\n", 1, 61, "{rz: ...}");
    refuse_after_head("  joints: {j: {type: spherical, bodies: [ground, rod], limits: {rx: [0, 1]}}}\n", 1, 69,
                      "no angle rx");
    refuse_after_head(HINGE "}}\n  motions: {m: {joint: j, force: 1, max_force: 1}}\n", 2, 48, "position or velocity");
    refuse_after_head(HINGE "}}\n  motions: {m: {joint: j, velocity: 1, max_force: 0}}\n", 2, 51, "positive");
    refuse_after_head(HINGE "}}\n  motions: {m: {joint: j, velocity: 1, max_force: 1 N}}\n", 2, 51, "wrong unit");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(materials_and_pairs_are_read),
        cmocka_unit_test(every_kind_of_shape_is_read),
        cmocka_unit_test(shape_of_a_body_collides_where_it_says_so),
        cmocka_unit_test(meshes_are_read_from_files_beside_the_model),
        cmocka_unit_test(heights_are_read_from_files_beside_the_model),
        cmocka_unit_test(mass_of_a_hull_turns_with_its_pose),
        cmocka_unit_test(laws_of_contact_are_read),
        cmocka_unit_test(groups_become_bits),
        cmocka_unit_test(joints_have_limits_and_friction),
        cmocka_unit_test(overrides_reach_contact),
        cmocka_unit_test(materials_are_checked),
        cmocka_unit_test(shapes_are_checked),
        cmocka_unit_test(meshes_are_checked),
        cmocka_unit_test(shapes_without_volume_are_refused),
        cmocka_unit_test(laws_of_contact_are_checked),
        cmocka_unit_test(limits_are_checked),
        cmocka_unit_test(threads_alone_leave_the_step_of_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
