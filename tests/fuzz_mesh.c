// libFuzzer target: any bytes as a mesh. The first byte chooses STL or OBJ ('o').
#include "fuzz_input.h"

#include "io/geometry/mesh.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    ItmMesh mesh = {0};
    ItmError error = {0};
    const char* bytes = (const char*)data + 1;
    ItmStatus status = data[0] == 'o' ? itm_mesh_parse_obj(&mesh, bytes, size - 1, "fuzz.obj", &error)
                                      : itm_mesh_parse_stl(&mesh, bytes, size - 1, "fuzz.stl", &error);
    if (status != ITM_OK) {
        if (error.message[0] == '\0') {
            __builtin_trap();
        }
        return 0;
    }
    status = itm_mesh_weld(&mesh, 0.0, &error);
    for (int i = 0; i < 3 * mesh.ntriangle && status == ITM_OK; i++) {
        if (mesh.triangles[i] < 0 || mesh.triangles[i] >= mesh.nvertex) {
            __builtin_trap();
        }
    }
    itm_mesh_free(&mesh);
    return 0;
}
