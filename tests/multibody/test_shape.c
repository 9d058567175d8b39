#include "check.h"

#include "interim/model.h"
#include "math/vec.h"
#include "multibody/model_builder.h"

#define PI 3.14159265358979323846
// a dozen operations on numbers of order 10
#define ROUNDING 1e-14

static ItmShapeDef make_shape(ItmShapeKind kind, double a, double b, double c)
{
    return (ItmShapeDef){.kind = kind, .size = {a, b, c}, .pose = itm_pose_identity()};
}

static void box_has_textbook_mass(void** state)
{
    (void)state;
    ItmShapeDef box = make_shape(ITM_SHAPE_BOX, 1, 2, 3);
    double mass;
    ItmVec3 com;
    ItmSym3 I;
    ItmError error;
    CHECK_OK(itm_shape_compute_mass(&mass, &com, &I, &box, 2, &error), &error);
    CHECK_NEAR(mass, 12, ROUNDING);
    CHECK_NEAR(I.xx, 12 * (4 + 9) / 12.0, ROUNDING);
    CHECK_NEAR(I.yy, 12 * (1 + 9) / 12.0, ROUNDING);
    CHECK_NEAR(I.zz, 12 * (1 + 4) / 12.0, ROUNDING);
    assert_true(com.x == 0 && I.xy == 0);
}

static void round_shapes_have_textbook_mass(void** state)
{
    (void)state;
    double mass;
    ItmVec3 com;
    ItmSym3 I;
    ItmError error;
    ItmShapeDef sphere = make_shape(ITM_SHAPE_SPHERE, 2, 0, 0);
    CHECK_OK(itm_shape_compute_mass(&mass, &com, &I, &sphere, 3 / (4 * PI), &error), &error);
    CHECK_NEAR(mass, 8, ROUNDING);
    CHECK_NEAR(I.yy, 0.4 * 8 * 4, 2 * ROUNDING);
    ItmShapeDef cylinder = make_shape(ITM_SHAPE_CYLINDER, 2, 5, 0);
    CHECK_OK(itm_shape_compute_mass(&mass, &com, &I, &cylinder, 1 / PI, &error), &error);
    CHECK_NEAR(mass, 20, ROUNDING);
    CHECK_NEAR(I.zz, 40, 2 * ROUNDING);
    CHECK_NEAR(I.xx, 20 * (12 + 25) / 12.0, 4 * ROUNDING);
}

// Integral over slices across the axis: each is a disc of radius rho(z).
static void capsule_agrees_with_a_sum_over_slices(void** state)
{
    (void)state;
    double r = 0.7, length = 1.3, mass;
    ItmShapeDef capsule = make_shape(ITM_SHAPE_CAPSULE, r, length, 0);
    ItmVec3 com;
    ItmSym3 I;
    ItmError error;
    CHECK_OK(itm_shape_compute_mass(&mass, &com, &I, &capsule, 1, &error), &error);
    int n = 20000;
    double top = length / 2 + r, dz = 2 * top / n, m = 0, ixx = 0, izz = 0;
    for (int i = 0; i < n; i++) {
        double z = -top + (i + 0.5) * dz;
        double over = fmax(0, fabs(z) - length / 2), rho2 = r * r - over * over;
        double slice = PI * rho2 * dz;
        m += slice;
        izz += slice * rho2 / 2;
        ixx += slice * (rho2 / 4 + z * z);
    }
    // midpoint rule: error of order dz^2 = 2e-8
    CHECK_NEAR(mass, m, 2e-8);
    CHECK_NEAR(I.zz, izz, 2e-8);
    CHECK_NEAR(I.xx, ixx, 2e-8);
    CHECK_NEAR(I.yy, ixx, 2e-8);
}

static void pose_of_the_shape_moves_and_turns_it(void** state)
{
    (void)state;
    ItmShapeDef box = make_shape(ITM_SHAPE_BOX, 1, 2, 3);
    box.pose = (ItmPose){{4, 5, 6}, {1, 1, 1, 1}};  // x to y to z, not normalised
    double mass;
    ItmVec3 com;
    ItmSym3 I;
    ItmError error;
    CHECK_OK(itm_shape_compute_mass(&mass, &com, &I, &box, 2, &error), &error);
    assert_true(com.x == 4 && com.y == 5 && com.z == 6);
    CHECK_NEAR(I.yy, 13, ROUNDING);
    CHECK_NEAR(I.zz, 10, ROUNDING);
    CHECK_NEAR(I.xx, 5, ROUNDING);
    CHECK_OK(itm_inertia_check(&I, "box", &error), &error);
}

static void bad_shapes_are_refused(void** state)
{
    (void)state;
    double mass;
    ItmVec3 com;
    ItmSym3 I;
    ItmError error;
    ItmShapeDef shape = make_shape(ITM_SHAPE_CYLINDER, 1, 0, 0);
    assert_int_equal(itm_shape_compute_mass(&mass, &com, &I, &shape, 1, &error), ITM_ERR_INPUT);
    assert_string_equal(error.field, "size");
    shape.size[1] = 1;
    assert_int_equal(itm_shape_compute_mass(&mass, &com, &I, &shape, -1, &error), ITM_ERR_INPUT);
    assert_string_equal(error.field, "density");
    shape.pose.q.w = 0;
    assert_int_equal(itm_shape_compute_mass(&mass, &com, &I, &shape, 1, &error), ITM_ERR_INPUT);
    assert_string_equal(error.field, "pose");
    shape.pose.p.x = NAN;
    assert_int_equal(itm_shape_compute_mass(&mass, &com, &I, &shape, 1, &error), ITM_ERR_INPUT);
    shape.kind = (ItmShapeKind)9;
    assert_int_equal(itm_shape_compute_mass(&mass, &com, &I, &shape, 1, &error), ITM_ERR_INPUT);
    assert_string_equal(error.field, "kind");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(box_has_textbook_mass),
        cmocka_unit_test(round_shapes_have_textbook_mass),
        cmocka_unit_test(capsule_agrees_with_a_sum_over_slices),
        cmocka_unit_test(pose_of_the_shape_moves_and_turns_it),
        cmocka_unit_test(bad_shapes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
