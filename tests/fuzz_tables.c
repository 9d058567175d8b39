// libFuzzer target: any bytes as a file of numbers. The first byte chooses: 'm' a matrix, 'n' nodes, 'h' heights, 'r' a recorded
// signal.
#include "fuzz_input.h"

#include "interim/file.h"
#include "io/geometry/height_file.h"
#include "io/geometry/matrix_file.h"

#include <stdlib.h>
#include <string.h>

static ItmStatus read_matrix(const char* path, ItmError* error)
{
    ItmMatrixFile matrix = {0};
    ItmStatus status = itm_matrix_read(&matrix, path, error);
    for (int i = 0; i < matrix.nentry && status == ITM_OK; i++) {
        if (matrix.column[i] < 0 || matrix.row[i] < matrix.column[i] || matrix.row[i] >= matrix.n) {
            __builtin_trap();
        }
    }
    if (status == ITM_OK) {
        itm_matrix_free(&matrix);
    }
    return status;
}

static ItmStatus read_nodes(const char* path, ItmError* error)
{
    ItmNodeTable nodes = {0};
    ItmStatus status = itm_matrix_read_nodes(&nodes, path, error);
    if (status == ITM_OK) {
        for (int i = 0; i < nodes.count; i++) {
            itm_matrix_find_node(&nodes, nodes.id[i]);
        }
        itm_matrix_free_nodes(&nodes);
    }
    return status;
}

static ItmStatus read_heights(const char* path, ItmError* error)
{
    ItmHeightFile heights = {0};
    ItmStatus status = itm_height_file_read(&heights, path, 1.0, error);
    if (status == ITM_OK) {
        free(heights.values);
    }
    return status;
}

static ItmStatus read_recording(const char* path, ItmError* error)
{
    char text[400];
    snprintf(text, sizeof text,
             "signals: {s: {csv: {file: '%s', column: x}}}\n"
             "multibody:\n"
             "  bodies: {b: {mass: 1, inertia: [1, 1, 1]}}\n"
             "  joints: {j: {type: prismatic, bodies: [ground, b], at: [0, 0, 0], axis: [1, 0, 0]}}\n"
             "  motions: {m: {joint: j, value: s}}\n",
             path);
    ItmModelFile* file = NULL;
    ItmStatus status = itm_file_parse(&file, text, strlen(text), "fuzz.yaml", NULL, 0, error);
    itm_file_destroy(file);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    const char* path = write_input(data + 1, size - 1, ".txt");
    ItmError error = {0};
    ItmStatus status = (data[0] == 'm'   ? read_matrix
                        : data[0] == 'n' ? read_nodes
                        : data[0] == 'h' ? read_heights
                                         : read_recording)(path, &error);
    if (status != ITM_OK && error.message[0] == '\0') {
        __builtin_trap();
    }
    unlink(path);
    return 0;
}
