// Reading of STL and OBJ files, sound and hostile.
#include "check.h"

#include "contact/geom.h"
#include "io/geometry/mesh.h"

#include <unistd.h>

static const char CUBE_OBJ[] = "# a cube of quadrilaterals\n"
                               "mtllib nothing.mtl\n"
                               "v -1 -1 -1\nv 1 -1 -1\nv 1 1 -1\nv -1 1 -1\n"
                               "v -1 -1 1\nv 1 -1 1\nv 1 1 1\nv -1 1 1.0e0\n"
                               "vn 0 0 1\nvt 0 0\n"
                               "f 4 3 2 1\nf 5//1 6//1 7//1 8//1\nf 1/1 2/1 6/1 5/1\nf 2 3 7 6\n"
                               "f -6 -5 -1 -2\r\n"
                               "f 4/1/1 1/1/1 5/1/1 8/1/1";

static const char TRIANGLE_STL[] = "solid with a name\n"
                                   " facet normal nan nan nan\n"
                                   "  outer loop\n"
                                   "   vertex 0 0 0\n   VERTEX 1 0 0\n   vertex 0 1 0\n"
                                   "  endloop\n endfacet\nendsolid\n";

static ItmStatus parse_obj(ItmMesh* mesh, const char* text, ItmError* error)
{
    return itm_mesh_parse_obj(mesh, text, strlen(text), "test.obj", error);
}

static ItmStatus parse_stl(ItmMesh* mesh, const char* text, ItmError* error)
{
    return itm_mesh_parse_stl(mesh, text, strlen(text), "test.stl", error);
}

static void check_cube(ItmMesh* mesh)
{
    ItmError error;
    ItmGeom* geom;
    double mass;
    ItmVec3 com;
    ItmSym3 inertia;
    assert_int_equal(mesh->nvertex, 8);
    assert_int_equal(mesh->ntriangle, 12);
    CHECK_OK(itm_geom_create_mesh(&geom, mesh->vertices, 8, mesh->triangles, 12, &error), &error);
    CHECK_OK(itm_geom_compute_mass(&mass, &com, &inertia, geom, 1, &error), &error);
    CHECK_NEAR(mass, 8, 1e-14);
    CHECK_NEAR(inertia.xx, 8 * 8.0 / 12, 1e-14);
    itm_geom_destroy(geom);
}

static void obj_cube_is_closed_and_has_its_volume(void** state)
{
    (void)state;
    ItmMesh mesh;
    ItmError error;
    CHECK_OK(parse_obj(&mesh, CUBE_OBJ, &error), &error);
    check_cube(&mesh);
    itm_mesh_free(&mesh);
}

// The cube as a binary STL file, in memory of 84 + 12 * 50 bytes.
static size_t write_binary(char* bytes, const ItmMesh* mesh)
{
    memset(bytes, 0, 84);
    memcpy(bytes, "solid but binary", 16);
    bytes[80] = (char)mesh->ntriangle;
    for (int t = 0; t < mesh->ntriangle; t++) {
        char* record = bytes + 84 + 50 * t;
        memset(record, 0, 50);
        for (int k = 0; k < 3; k++) {
            ItmVec3 p = mesh->vertices[mesh->triangles[3 * t + k]];
            float f[3] = {(float)p.x, (float)p.y, (float)p.z};
            memcpy(record + 12 + 12 * k, f, sizeof f);
        }
    }
    return 84 + 50 * (size_t)mesh->ntriangle;
}

static void binary_stl_welds_to_the_same_cube(void** state)
{
    (void)state;
    ItmMesh cube, mesh;
    ItmError error;
    char bytes[1024], path[] = "mesh_test_XXXXXX";
    CHECK_OK(parse_obj(&cube, CUBE_OBJ, &error), &error);
    size_t length = write_binary(bytes, &cube);
    CHECK_OK(itm_mesh_parse_stl(&mesh, bytes, length, "cube.stl", &error), &error);
    assert_int_equal(mesh.nvertex, 36);
    CHECK_OK(itm_mesh_weld(&mesh, 0, &error), &error);
    check_cube(&mesh);
    itm_mesh_free(&mesh);
    // through a file, in millimetres
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, length), (ssize_t)length);
    close(fd);
    CHECK_OK(itm_mesh_read(&mesh, path, 0.001, &error), &error);
    assert_int_equal(mesh.nvertex, 8);
    CHECK_NEAR(fabs(mesh.vertices[0].x), 0.001, 1e-18);
    itm_mesh_free(&mesh);
    unlink(path);
    assert_int_equal(itm_mesh_read(&mesh, path, 1, &error), ITM_ERR_IO);
    assert_int_equal(itm_mesh_read(&mesh, path, -1, &error), ITM_ERR_ARGUMENT);
    // cut short at every length, and with a NaN in it
    for (size_t cut = 0; cut < length; cut++) {
        assert_int_equal(itm_mesh_parse_stl(&mesh, bytes, cut, "cut.stl", &error), ITM_ERR_INPUT);
    }
    memset(bytes + 84 + 12, 0xff, 4);
    assert_int_equal(itm_mesh_parse_stl(&mesh, bytes, length, "nan.stl", &error), ITM_ERR_INPUT);
    assert_non_null(strstr(error.message, "byte 96"));
    assert_string_equal(error.file, "nan.stl");
    memset(bytes, 'x', 80);
    memset(bytes + 80, 0xff, 4);  // four billion triangles
    assert_int_equal(itm_mesh_parse_stl(&mesh, bytes, length, "many.stl", &error), ITM_ERR_INPUT);
    itm_mesh_free(&cube);
}

static void text_stl_reads_or_says_where_it_is_wrong(void** state)
{
    (void)state;
    ItmMesh mesh;
    ItmError error;
    CHECK_OK(parse_stl(&mesh, TRIANGLE_STL, &error), &error);
    assert_int_equal(mesh.ntriangle, 1);
    CHECK_NEAR(mesh.vertices[1].x, 1, 0);
    itm_mesh_free(&mesh);
    // the text cut anywhere before its last word is refused
    for (size_t cut = 0; cut + 9 < sizeof TRIANGLE_STL; cut++) {
        assert_int_equal(itm_mesh_parse_stl(&mesh, TRIANGLE_STL, cut, "cut.stl", &error), ITM_ERR_INPUT);
    }
    assert_int_equal(parse_stl(&mesh, "solid\nfacet\nvertex 0 0\nendfacet\nendsolid", &error), ITM_ERR_INPUT);
    assert_int_equal(error.line, 3);
    assert_int_equal(parse_stl(&mesh, "solid\nfacet\nvertex 0 nan 0\n", &error), ITM_ERR_INPUT);
    assert_int_equal(parse_stl(&mesh, "solid\nvertex 1e999 0 0\n", &error), ITM_ERR_INPUT);
    assert_int_equal(parse_stl(&mesh, "solid\nvertex 0x10 0 0\n", &error), ITM_ERR_INPUT);
    assert_int_equal(parse_stl(&mesh, "solid\nvertices\n", &error), ITM_ERR_INPUT);
    assert_int_equal(parse_stl(&mesh, "solid\nendsolid\n", &error), ITM_ERR_INPUT);
    assert_int_equal(parse_stl(&mesh, "solid\nvertex 0 0 0\nvertex 0 0 0\nendfacet\nendsolid", &error), ITM_ERR_INPUT);
}

static void hostile_obj_is_refused_with_its_line(void** state)
{
    (void)state;
    static const char* const BAD[] = {
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 0\n",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 -4\n",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2\n",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 x\n",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3x\n",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 99999999999999999999\n",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nf\n",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 -\n",
    };
    ItmMesh mesh;
    ItmError error;
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        assert_int_equal(parse_obj(&mesh, BAD[i], &error), ITM_ERR_INPUT);
        assert_int_equal(error.line, 4);
        assert_string_equal(error.file, "test.obj");
        assert_null(mesh.vertices);
    }
    assert_int_equal(parse_obj(&mesh, "v 1 2\n", &error), ITM_ERR_INPUT);
    assert_int_equal(parse_obj(&mesh, "v 1 2 inf\n", &error), ITM_ERR_INPUT);
    assert_int_equal(parse_obj(&mesh, "", &error), ITM_ERR_INPUT);
    assert_int_equal(itm_mesh_parse_obj(&mesh, "\0\0\0v", 4, "zeros.obj", &error), ITM_ERR_INPUT);
}

static void random_bytes_never_crash_the_readers(void** state)
{
    (void)state;
    uint64_t seed = 5;
    char bytes[600];
    for (int k = 0; k < 20000; k++) {
        // a sound file with some bytes changed
        size_t length = k % 2 == 0 ? sizeof CUBE_OBJ - 1 : sizeof TRIANGLE_STL - 1;
        memcpy(bytes, k % 2 == 0 ? CUBE_OBJ : TRIANGLE_STL, length);
        for (int i = 0; i < 1 + k % 8; i++) {
            seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
            bytes[(seed >> 33) % length] = (char)(seed >> 25);
        }
        ItmMesh mesh;
        ItmError error;
        ItmStatus status = k % 2 == 0 ? itm_mesh_parse_obj(&mesh, bytes, length, "random", &error)
                                      : itm_mesh_parse_stl(&mesh, bytes, length, "random", &error);
        if (status == ITM_OK) {
            for (int i = 0; i < 3 * mesh.ntriangle; i++) {
                assert_in_range(mesh.triangles[i], 0, mesh.nvertex - 1);
            }
        }
        itm_mesh_free(&mesh);
    }
}

static void welding_joins_near_vertices_and_drops_collapsed_triangles(void** state)
{
    (void)state;
    ItmMesh mesh;
    ItmError error;
    CHECK_OK(parse_obj(&mesh,
                       "v 0 0 0\nv 1 0 0\nv 0 1 0\nv -0 0 0\nv -1e-9 0 0\nv 0 0 1\n"
                       "f 1 2 3\nf 4 2 6\nf 1 5 2\n",
                       &error),
             &error);
    CHECK_OK(itm_mesh_weld(&mesh, 1e-6, &error), &error);
    assert_int_equal(mesh.nvertex, 4);
    assert_int_equal(mesh.ntriangle, 2);
    itm_mesh_free(&mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(obj_cube_is_closed_and_has_its_volume),
        cmocka_unit_test(binary_stl_welds_to_the_same_cube),
        cmocka_unit_test(text_stl_reads_or_says_where_it_is_wrong),
        cmocka_unit_test(hostile_obj_is_refused_with_its_line),
        cmocka_unit_test(random_bytes_never_crash_the_readers),
        cmocka_unit_test(welding_joins_near_vertices_and_drops_collapsed_triangles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
