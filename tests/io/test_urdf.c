// Robot descriptions: what becomes of them, against another simulator's reading of the same file, and what is refused.
#include "read_text.h"

#include "interim/interim.h"
#include "io/bytes.h"
#include "io/geometry/urdf.h"
#include "io/text.h"
#include "math/vec.h"

#include <sys/stat.h>
#include <unistd.h>

// A file "robot.urdf" of this text, in the directory of the tests.
static void write_robot(const char* text)
{
    FILE* out = fopen("robot.urdf", "w");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

static Read accept_robot(const char* robot, const char* options)
{
    char text[512];
    write_robot(robot);
    snprintf(text, sizeof text, "multibody: {urdf: {file: robot.urdf%s}}\n", options);
    Read r = accept(text);
    remove("robot.urdf");
    return r;
}

// Refused at a line of the robot's file.
static void refuse_robot(const char* robot, const char* options, int line, const char* words)
{
    char text[512];
    write_robot(robot);
    snprintf(text, sizeof text, "multibody: {urdf: {file: robot.urdf%s}}\n", options);
    Read r = read_length(text, strlen(text), NULL);
    expect_error(&r, robot, "robot.urdf", line, 1, words);
    remove("robot.urdf");
}

// Whether a note has these words.
static bool has_note(const Read* r, const char* words)
{
    for (int i = 0; i < r->file.nnote; i++) {
        if (strstr(r->file.notes[i], words) != NULL) {
            return true;
        }
    }
    return false;
}

#define MASS "<inertial><mass value='2'/><inertia ixx='1' iyy='1' izz='1'/></inertial>"
#define LINK(name) "<link name='" name "'>" MASS "</link>\n"
#define ENDS(a, b) "<parent link='" a "'/><child link='" b "'/>"
#define JOINT(name, type, a, b, more) "<joint name='" name "' type='" type "'>" ENDS(a, b) more "</joint>\n"

// ---------------------------------------------------------------------------- a second reading

// MuJoCo 2.2.2 (Debian 12) reads the same file: mj_forward and mj_inverse at this state. Its inertias are diagonal, in turned
// frames, because MuJoCo finds principal axes to some 1e-9 only.
static void an_arm_accelerates_as_in_mujoco(void** state)
{
    (void)state;
    static const char* const JOINTS[4] = {"waist", "shoulder", "reach", "wrist"};
    const double start[4] = {0.3, -0.5, 0.1, 0.4}, rate[4] = {0.7, -1.1, 0.2, 2.0};
    const double acceleration[4] = {-2.3531252518494128, 16.318120800166913, 2.1973569227145204, 37.855679634832441};
    const double effort[4] = {3.2944155840233091, -17.967351878804571, 0.72794435066386609, 0.16104177322523769};
    ItmModelFile* file = NULL;
    ItmData* d = NULL;
    ItmError error = {0};
    CHECK_OK(itm_file_load(&file, ITM_SOURCE_DIR "/tests/urdf/arm.urdf", NULL, 0, &error), &error);
    const ItmModel* m = file->model;
    assert_int_equal(itm_model_get_info(m).freedom, 4);
    CHECK_OK(itm_data_create(&d, m, NULL, &error), &error);
    double q[4], v[4], v_dot[4], wanted[4], tau[4];
    for (int i = 0; i < 4; i++) {
        int joint = itm_model_find_joint(m, JOINTS[i]);
        q[itm_model_get_joint_q_adr(m, joint)] = start[i];
        v[itm_model_get_joint_v_adr(m, joint)] = rate[i];
        wanted[itm_model_get_joint_v_adr(m, joint)] = i + 0.5;
    }
    CHECK_OK(itm_data_set_qv(m, d, q, v), itm_data_get_error(d));
    CHECK_OK(itm_dynamics_compute_forward(m, d, v_dot), itm_data_get_error(d));
    CHECK_OK(itm_dynamics_compute_inverse(m, d, tau, wanted, NULL), itm_data_get_error(d));
    for (int i = 0; i < 4; i++) {
        int adr = itm_model_get_joint_v_adr(m, itm_model_find_joint(m, JOINTS[i]));
        // round-off of two formulations through a mass matrix of condition 1e3; observed 4e-13
        CHECK_NEAR(v_dot[adr], acceleration[i], 1e-11);
        CHECK_NEAR(tau[adr], effort[i], 1e-12);
    }
    // xpos of MuJoCo; a body of ours has the frame of its link, and the tool that of its own
    ItmVec3 rod = itm_data_get_body_pose(m, d, itm_model_find_body(m, "rod")).p;
    CHECK_NEAR(rod.x, 0.538029793968159, 1e-14);
    CHECK_NEAR(rod.y, 0.190543857804797, 1e-14);
    CHECK_NEAR(rod.z, 0.86052424134756, 1e-14);
    itm_data_destroy(d);
    itm_file_destroy(file);
}

// ---------------------------------------------------------------------------- what is made of it

// Products of inertia are elements of the matrix: this one has the principal moments 1, 2, 2.5 about axes turned by 45 degrees.
static void products_of_inertia_have_the_sign_of_the_matrix(void** state)
{
    (void)state;
    const char* const robots[2] = {
        "<robot name='r'><link name='a'><inertial><mass value='1'/><inertia ixx='1.5' iyy='1.5' izz='2.5' "
        "ixy='-0.5'/></inertial>"
        "</link></robot>",
        "<robot name='r'><link name='a'><inertial><origin rpy='0 0 0.78539816339744828'/><mass value='1'/>"
        "<inertia ixx='1' iyy='2' izz='2.5' ixy='0' ixz='0' iyz='0'/></inertial></link></robot>"};
    for (int i = 0; i < 2; i++) {
        Read r = accept_robot(robots[i], ", base: free");
        ItmSym3 J = r.builder->bodies.items[0].inertia;
        CHECK_NEAR(J.xx, 1.5, 1e-15);
        CHECK_NEAR(J.yy, 1.5, 1e-15);
        CHECK_NEAR(J.zz, 2.5, 1e-15);
        CHECK_NEAR(J.xy, -0.5, 1e-15);
        CHECK_NEAR(J.xz, 0.0, 1e-15);
        done(&r);
    }
}

static void every_joint_type_becomes_a_joint(void** state)
{
    (void)state;
    Read r = accept_robot(
        "<robot name='r'>" LINK("a") LINK("b") LINK("c") LINK("d") LINK("e") LINK("f") LINK("g") LINK("h")
            JOINT("j1", "revolute", "a", "b",
                  "<axis xyz='0 0 1'/><limit lower='-1' upper='2'/><dynamics damping='3' friction='4'/>")
                JOINT("j2", "continuous", "b", "c", "<axis xyz='0 2 0'/>")
                    JOINT("j3", "prismatic", "c", "d",
                          "<origin xyz='1 2 3' rpy='0 0 1.5707963267948966'/><limit lower='0.5' upper='1'/>")
                        JOINT("j4", "fixed", "d", "e", "<origin xyz='1 0 0'/>")
                            JOINT("j5", "planar", "e", "f", "<axis xyz='0 0 1'/>") JOINT("j6", "floating", "f", "g", "")
                                JOINT("j7", "spherical", "g", "h", "") "</robot>",
        "");
    const ItmModelBuilder* b = r.builder;
    assert_int_equal(b->bodies.count, 8);
    assert_int_equal(b->joints.count, 7);  // a mount, and none for what floats
    static const ItmJointType TYPES[7] = {ITM_JOINT_FIXED, ITM_JOINT_REVOLUTE, ITM_JOINT_REVOLUTE, ITM_JOINT_PRISMATIC,
                                          ITM_JOINT_FIXED, ITM_JOINT_PLANAR,   ITM_JOINT_SPHERICAL};
    for (int i = 0; i < 7; i++) {
        assert_int_equal(b->joints.items[i].type, TYPES[i]);
    }
    assert_string_equal(b->joints.items[0].name, "a-mount");
    assert_true(b->limits.count == 2 && b->limits.items[0].lower == -1 && b->limits.items[0].upper == 2);
    assert_true(b->joint_springs.items[0].damping == 3 && b->joint_frictions.items[0].force == 4);
    // 0 is below the limits of the slide: it starts at its end, half a metre along x of its frame, which is y of the world
    assert_true(b->joints.items[3].start[ITM_TZ] == 0.5 && has_note(&r, "'j3' starts at its limit 0.5"));
    ItmVec3 p = b->bodies.items[3].pose.p;
    CHECK_NEAR(p.x, 1.0, 1e-15);
    CHECK_NEAR(p.y, 2.5, 1e-15);
    CHECK_NEAR(p.z, 3.0, 1e-15);
    done(&r);
}

static void links_without_mass_are_frames(void** state)
{
    (void)state;
    Read r = accept_robot(
        "<robot name='r'><link name='world'/><link name='flange'/>" LINK("arm") LINK("tool")
            JOINT("j1", "revolute", "world", "flange",
                  "<origin xyz='0 0 1'/><axis xyz='0 0 1'/><limit lower='-1' upper='1'/>")
                JOINT("weld", "fixed", "flange", "arm", "<origin xyz='0.5 0 0'/>")
                    JOINT("j2", "continuous", "arm", "tip", "<origin xyz='1 0 0'/>") "<link name='tip'/>" JOINT(
                        "end", "fixed", "tip", "tool", "<origin xyz='0.1 0 0'/>")
                        JOINT("lens", "continuous", "tool", "eye", "") "<link name='eye'/>"
                                                                       "</robot>",
        "");
    const ItmModelBuilder* b = r.builder;
    assert_int_equal(b->bodies.count, 2);
    assert_int_equal(b->joints.count, 2);
    assert_int_equal(b->joints.items[0].body_a, ITM_GROUND);
    // the joint is half a metre before the frame of the body that the flange is fixed to
    CHECK_NEAR(b->joints.items[0].frame_b.p.x, -0.5, 1e-15);
    CHECK_NEAR(b->joints.items[1].frame_b.p.x, -0.1, 1e-15);
    assert_true(has_note(&r, "'eye' is left out"));
    done(&r);
}

static void followers_are_coupled(void** state)
{
    (void)state;
    Read r = accept_robot(
        "<robot name='r'>" LINK("a") LINK("b") LINK("c") JOINT("j1", "continuous", "a", "b", "")
            JOINT("j2", "continuous", "a", "c", "<mimic joint='j1' multiplier='-2' offset='0.5'/>") "</robot>",
        ", start: {j1: 30 deg}");
    const ItmModelBuilder* b = r.builder;
    assert_int_equal(b->couplings.count, 1);
    assert_true(b->couplings.items[0].ratio == -2.0);
    CHECK_NEAR(b->joints.items[2].start[ITM_RZ], 0.5 - 2.0 * 3.14159265358979323846 / 6.0, 1e-15);
    done(&r);
}

static void base_prefix_and_pose_are_chosen(void** state)
{
    (void)state;
    write_robot("<robot name='r'>" LINK("a") LINK("b.c") JOINT("a", "continuous", "a", "b.c", "") "</robot>");
    Read r = accept(
        "multibody:\n"
        "  urdf:\n"
        "    - {file: robot.urdf, base: free, position: [1, 2, 3], orientation: {axis: [0, 0, 1], angle: 90 deg}}\n"
        "    - {file: robot.urdf, prefix: left-}\n"
        "  motions: {m: {joint: left-a-joint, velocity: 1}}\n");
    const ItmModelBuilder* b = r.builder;
    assert_int_equal(b->bodies.count, 4);
    assert_string_equal(b->bodies.items[0].name, "a");
    assert_string_equal(b->bodies.items[1].name, "b_c");
    assert_string_equal(b->bodies.items[2].name, "left-a");
    assert_true(b->bodies.items[0].pose.p.z == 3.0);
    assert_int_equal(b->joints.count, 3);
    assert_string_equal(b->joints.items[0].name, "a-joint");  // a body has the name already
    assert_string_equal(b->joints.items[1].name, "left-a-mount");
    done(&r);
    remove("robot.urdf");
}

// Inertia of a link that is fixed to another, about the common centre of mass.
static void impossible_inertias_are_merged_refused_or_repaired(void** state)
{
    (void)state;
    const char* fixed = "<robot name='r'><link name='w'/>" JOINT("j", "continuous", "w", "a", "") LINK("a")
        JOINT("f", "fixed", "a", "b", "<origin xyz='3 0 0'/>") "<link name='b'><inertial><mass value='1'/><inertia "
                                                               "ixx='0' iyy='0' izz='0'/></inertial></link></robot>";
    Read r = accept_robot(fixed, "");
    assert_int_equal(r.builder->bodies.count, 1);
    const ItmBodyDef* body = &r.builder->bodies.items[0];
    CHECK_NEAR(body->mass, 3.0, 0.0);
    CHECK_NEAR(body->com.x, 1.0, 1e-15);
    CHECK_NEAR(body->inertia.xx, 1.0, 1e-15);
    CHECK_NEAR(body->inertia.yy, 1.0 + 2.0 * 1.0 + 1.0 * 4.0, 1e-14);
    assert_true(has_note(&r, "mass of link 'b' is counted to link 'a'"));
    done(&r);
    const char* alone = "<robot name='r'><link name='w'/>\n" JOINT(
        "j", "continuous", "w", "a",
        "") "<link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='3'/></inertial></link></robot>";
    refuse_robot(alone, "", 3, "inertia: repair");
    r = accept_robot(alone, ", inertia: repair");
    body = &r.builder->bodies.items[0];
    // 1 + d + 1 + d >= 3 + d
    assert_true(body->inertia.xx >= 2.0 - 1e-5 && body->inertia.xx < 3.0);
    CHECK_NEAR(body->inertia.zz - body->inertia.xx, 2.0, 1e-12);
    assert_true(has_note(&r, "enlarged"));
    done(&r);
}

static void collision_geometry_becomes_shapes(void** state)
{
    (void)state;
    assert_int_equal(mkdir("pack", 0777), 0);
    assert_int_equal(symlink(ITM_SOURCE_DIR "/tests/meshes/tetra.stl", "pack/tetra.stl"), 0);
#define SOLID(inner) "<collision><origin xyz='0 0 1'/><geometry>" inner "</geometry></collision>"
    const char* robot = "<robot name='r'><link name='w'/>" JOINT("j", "continuous", "w", "a",
                                                                 "") "<link name='a'>" MASS SOLID("<box size='1 2 3'/>")
        SOLID("<sphere radius='0.5'/>") SOLID("<cylinder radius='0.1' length='2'/>")
            SOLID("<mesh filename='package://pack/tetra.stl' scale='2 2 -2'/>")
                SOLID("<mesh filename='pack/tetra.stl' scale='0.5'/>") SOLID("<mesh filename='nowhere.stl'/>")
                    SOLID("<capsule radius='1'/>") "</link></robot>";
    Read r = accept_robot(robot, "");
    const ItmModelBuilder* b = r.builder;
    assert_int_equal(b->colliders.count, 5);
    assert_string_equal(b->colliders.items[0].name, "a-shape");
    assert_string_equal(b->colliders.items[1].name, "a-shape2");
    assert_true(b->colliders.items[0].kind == ITM_COLLIDER_BOX && b->colliders.items[0].size[1] == 2.0);
    assert_true(b->colliders.items[0].pose.p.z == 1.0);
    assert_true(b->colliders.items[2].kind == ITM_COLLIDER_CYLINDER && b->colliders.items[2].size[1] == 2.0);
    assert_true(b->colliders.items[3].kind == ITM_COLLIDER_HULL && b->colliders.items[3].nvertex == 4);
    assert_true(has_note(&r, "'nowhere.stl' is left out") && has_note(&r, "<capsule> in <geometry> is not used"));
    done(&r);
    r = accept_robot(robot, ", contact: none");
    assert_int_equal(r.builder->colliders.count, 0);
    done(&r);
    unlink("pack/tetra.stl");
    rmdir("pack");
}

// Links that no joint connects meet only where the user wants that.
static void a_robot_does_not_touch_itself_unless_told(void** state)
{
    (void)state;
    const char* robot = "<robot name='r'>" LINK("a") LINK("b") LINK("c") JOINT("j1", "continuous", "a", "b", "")
        JOINT("j2", "continuous", "b", "c", "") "</robot>";
    Read r = accept_robot(robot, "");
    assert_int_equal(r.builder->excluded.count, 3);
    done(&r);
    r = accept_robot(robot, ", contact: all");
    assert_int_equal(r.builder->excluded.count, 2);
    done(&r);
}

static void a_robot_alone_is_a_model(void** state)
{
    (void)state;
    write_robot("<?xml version='0.0'?>\n<robot name='r'>" LINK("a") LINK("b")
                    JOINT("j", "continuous", "a", "b", "") "</robot>");
    ItmModelFile* file = NULL;
    ItmError error = {0};
    const char* override = "multibody.urdf.base=free";
    CHECK_OK(itm_file_load(&file, "robot.urdf", &override, 1, &error), &error);
    assert_int_equal(itm_model_get_info(file->model).freedom, 7);
    itm_file_destroy(file);
    remove("robot.urdf");
}

// ---------------------------------------------------------------------------- what is refused

static void broken_trees_are_refused(void** state)
{
    (void)state;
    refuse_robot("<robot name='r'>\n" LINK("a") LINK("b") "</robot>", "", 3, "one root");
    refuse_robot("<robot name='r'>\n" LINK("a") LINK("b") LINK("c") JOINT("j", "fixed", "a", "c", "")
                     JOINT("k", "fixed", "b", "c", "") "</robot>",
                 "", 6, "child of both joint 'j' and joint 'k'");
    refuse_robot("<robot name='r'>\n" LINK("a") LINK("b") JOINT("j", "fixed", "a", "b", "")
                     JOINT("k", "fixed", "b", "a", "") "</robot>",
                 "", 1, "loop");
    refuse_robot("<robot name='r'>\n" LINK("a") LINK("b") LINK("c") JOINT("j", "fixed", "c", "b", "")
                     JOINT("k", "fixed", "b", "c", "") "</robot>",
                 "", 3, "does not hang on the root 'a'");
    refuse_robot("<robot name='r'>\n" LINK("a") JOINT("j", "fixed", "a", "a", "") "</robot>", "", 1, "loop");
    refuse_robot("<robot name='r'>\n" LINK("aa") JOINT("j", "fixed", "aa", "ab", "") "</robot>", "", 3,
                 "nearest: 'aa'");
    refuse_robot("<robot name='r'>\n" LINK("a") LINK("a") "</robot>", "", 3, "already");
    refuse_robot("<robot name='r'>\n" LINK("a") LINK("b") LINK("c") JOINT("j", "fixed", "a", "b", "")
                     JOINT("j", "fixed", "a", "c", "") "</robot>",
                 "", 6, "already");
    refuse_robot("<robot name='r'/>", "", 1, "no links");
    refuse_robot("<robot name='r'>\n" LINK("a") JOINT("j", "continuous", "a", "b", "") "<link name='b'/>\n" LINK("c")
                     JOINT("k", "continuous", "b", "c", "") "</robot>",
                 "", 4, "moves but has no mass");
    refuse_robot("<robot name='r'>\n" LINK("a") LINK("b") LINK("c")
                     JOINT("j", "continuous", "a", "b", "<mimic joint='k'/>")
                         JOINT("k", "continuous", "a", "c", "<mimic joint='j' multiplier='2' offset='1'/>") "</robot>",
                 "", 5, "circle");
    refuse_robot("<robot name='r'>\n" LINK("a") LINK("b")
                     JOINT("j", "continuous", "a", "b", "<mimic joint='x'/>") "</robot>",
                 "", 4, "not there");
}

static void bad_values_are_refused(void** state)
{
    (void)state;
#define ONE(inner) "<robot name='r'>\n<link name='a'>" inner "</link></robot>"
    refuse_robot(ONE("<inertial><mass value='nan'/></inertial>"), "", 2, "finite number, found 'nan'");
    refuse_robot(ONE("<inertial><mass value='1e999'/></inertial>"), "", 2, "finite");
    refuse_robot(ONE("<inertial><mass value='-1'/></inertial>"), "", 2, "negative");
    refuse_robot(ONE("<inertial><mass/></inertial>"), "", 2, "'value'");
    refuse_robot(ONE("<inertial><mass value='1'/></inertial>"), "", 2, "no <inertia>");
    refuse_robot(ONE("<inertial><origin xyz='1 2'/></inertial>"), "", 2, "3 finite numbers");
    refuse_robot(ONE("<inertial><origin xyz='1 2 3 4'/></inertial>"), "", 2, "3 finite numbers");
    refuse_robot(ONE("<inertial><origin xyz='${x} 0 0'/></inertial>"), "", 2, "xacro");
    refuse_robot(ONE("<inertial><origin xyz='1,5 0 0'/></inertial>"), "", 2, "3 finite numbers");
    refuse_robot(ONE(MASS "<collision><geometry><box size='1 0 1'/></geometry></collision>"), ", base: free", 2,
                 "positive");
    refuse_robot("<robot name='r'><link/></robot>", "", 1, "'name'");
    refuse_robot("<robot name='r'>" LINK("a") LINK("b") JOINT("j", "revolut", "a", "b", "") "</robot>", "", 3,
                 "nearest: 'revolute'");
    refuse_robot("<robot name='r'>" LINK("a") LINK("b")
                     JOINT("j", "continuous", "a", "b", "<axis xyz='0 0 0'/>") "</robot>",
                 "", 3, "no direction");
    refuse_robot("<robot name='r'>" LINK("a")
                     LINK("b") "<joint name='j' type='fixed'><child link='b'/></joint></robot>",
                 "", 3, "<parent");
    refuse_robot("<robot name='r'>" LINK("a") LINK("b")
                     JOINT("j", "fixed", "a", "b", "<dynamics damping='-1'/>") "</robot>",
                 "", 3, "negative");
    write_robot("<robot name='r'>" LINK("a") LINK("b") JOINT("j", "fixed", "a", "b", "") "</robot>");
    refuse("multibody: {urdf: {file: robot.urdf, start: {j: 1}}}", 1, 46, "no revolute");
    refuse("multibody: {urdf: {file: robot.urdf, base: loose}}", 1, 44, "'loose'");
    refuse("multibody: {urdf: nowhere.urdf}", 1, 19, "cannot read 'nowhere.urdf'");
    refuse("multibody: {urdf: .}", 1, 19, "not a file");
    refuse("multibody: {urdf: {base: free}}", 1, 19, "needs 'file'");
    remove("robot.urdf");
}

static void what_is_no_description_is_refused(void** state)
{
    (void)state;
    refuse_robot("", "", 1, "not well-formed");
    refuse_robot("robot", "", 1, "not well-formed");
    refuse_robot("<robot name='r'>\n<link name='a'>", "", 2, "not well-formed");
    refuse_robot("<sdf/>", "", 1, "<robot>");
    refuse_robot("<robot name='\xff'/>", "", 1, "UTF-8");
    // entities: bombs, and files of others
    refuse_robot(
        "<?xml version='1.0'?>\n<!DOCTYPE robot [<!ENTITY a 'x'><!ENTITY b '&a;&a;&a;&a;'>]>\n<robot name='&b;'/>", "",
        2, "DOCTYPE");
    refuse_robot("<!doctype robot SYSTEM 'file:///etc/passwd'>\n<robot name='r'/>", "", 1, "DOCTYPE");
    refuse_robot("<robot name='r'>&x;</robot>", "", 1, "not well-formed");
    refuse_robot("<?xml version='1.0' encoding='UTF-7'?>\n+ADw-robot/+AD4-", "", 2, "not well-formed");
    // nesting without end
    enum { DEPTH = 100000 };
    char* deep = malloc(3 * DEPTH + 1);
    for (int i = 0; i < DEPTH; i++) {
        memcpy(deep + 3 * i, "<a>", 3);
    }
    deep[3 * DEPTH] = '\0';
    refuse_robot(deep, "", 1, "not well-formed");
    free(deep);
    // 17 MB of blanks
    char* large = malloc(17u << 20);
    memset(large, ' ', 17u << 20);
    large[(17u << 20) - 1] = '\0';
    write_robot(large);
    refuse("multibody: {urdf: robot.urdf}", 1, 19, "too large");
    remove("robot.urdf");
    free(large);
}

// A long chain of links, each fixed to the one before. The caller frees it.
static char* write_chain(int count)
{
    char* text = malloc((size_t)count * 400 + 100);
    size_t n = (size_t)sprintf(text, "<robot name='r'>");
    for (int i = 0; i < count; i++) {
        n += (size_t)sprintf(text + n, "<link name='l%d'>" MASS "</link>", i);
        if (i > 0) {
            n += (size_t)sprintf(text + n,
                                 "<joint name='j%d' type='fixed'>"
                                 "<parent link='l%d'/><child link='l%d'/></joint>",
                                 i, i - 1, i);
        }
    }
    sprintf(text + n, "</robot>");
    return text;
}

// A long chain costs no stack and no time that one could notice; there is an end to it.
static void long_chains_are_read(void** state)
{
    (void)state;
    char* text = write_chain(2000);
    Read r = accept_robot(text, ", contact: none");
    assert_int_equal(r.builder->bodies.count, 2000);
    done(&r);
    free(text);
    text = write_chain(4001);
    refuse_robot(text, "", 1, "at most 4000");
    free(text);
}

static void append_bytes(void* context, const void* bytes, size_t count)
{
    itm_text_add_bytes(context, bytes, count);
}

// What an exported FMU has in place of the XML.
static void tables_as_bytes_are_the_same_tables_and_damage_is_refused(void** state)
{
    (void)state;
    size_t length = 0;
    const char *path = ITM_SOURCE_DIR "/tests/urdf/arm.urdf", *why = "";
    ItmError error = {0};
    ItmDocument doc = {0};
    ItmUrdf robot, again;
    ItmText first = {0}, second = {0};
    char* xml = itm_bytes_read(path, 1 << 20, &length, &why);
    CHECK_OK(itm_urdf_parse(&robot, &doc, xml, length, path, &error), &error);
    itm_urdf_store(&robot, append_bytes, &first);
    CHECK_OK(itm_urdf_restore(&again, &doc, first.chars, first.length, &error), &error);
    assert_int_equal(again.nlink, robot.nlink);
    assert_true(robot.nlink > 3);
    itm_urdf_store(&again, append_bytes, &second);
    assert_int_equal(first.length, second.length);
    assert_memory_equal(first.chars, second.chars, first.length);
    for (size_t n = 0; n < first.length; n++) {
        char* cut = malloc(n + 1);  // exactly as long, so that a sanitizer sees every byte beyond
        memcpy(cut, first.chars, n);
        assert_int_equal(itm_urdf_restore(&again, &doc, cut, n, NULL), ITM_ERR_INPUT);
        free(cut);
        first.chars[n] = (char)(first.chars[n] ^ 0x55);  // any answer, but no crash
        itm_urdf_restore(&again, &doc, first.chars, first.length, NULL);
        first.chars[n] = (char)(first.chars[n] ^ 0x55);
    }
    itm_text_free(&first);
    itm_text_free(&second);
    itm_document_free(&doc);
    free(xml);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_as_bytes_are_the_same_tables_and_damage_is_refused),
        cmocka_unit_test(an_arm_accelerates_as_in_mujoco),
        cmocka_unit_test(products_of_inertia_have_the_sign_of_the_matrix),
        cmocka_unit_test(every_joint_type_becomes_a_joint),
        cmocka_unit_test(links_without_mass_are_frames),
        cmocka_unit_test(followers_are_coupled),
        cmocka_unit_test(base_prefix_and_pose_are_chosen),
        cmocka_unit_test(impossible_inertias_are_merged_refused_or_repaired),
        cmocka_unit_test(collision_geometry_becomes_shapes),
        cmocka_unit_test(a_robot_does_not_touch_itself_unless_told),
        cmocka_unit_test(a_robot_alone_is_a_model),
        cmocka_unit_test(broken_trees_are_refused),
        cmocka_unit_test(bad_values_are_refused),
        cmocka_unit_test(what_is_no_description_is_refused),
        cmocka_unit_test(long_chains_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
