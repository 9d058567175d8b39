// HDF5 back into a table: every one-dimensional dataset of the root, in the order of creation.
#include "io/results/results_read.h"

#include "base/error.h"
#include "io/results/hdf5.h"
#include "io/results/results.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// Copy a string attribute; false if there is none or no memory.
static bool copy_string(char** string, hid_t object, const char* name)
{
    char* text = NULL;
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    if (attribute < 0) {
        return false;
    }
    hid_t type = H5Aget_type(attribute);
    bool is_copied = H5Tis_variable_str(type) > 0 && H5Aread(attribute, type, &text) >= 0 && text != NULL &&
                     itm_results_table_set_string(string, text, strlen(text));
    H5free_memory(text);
    H5Tclose(type);
    H5Aclose(attribute);
    return is_copied;
}

// A dataset's length; -1 where it is not a column of numbers.
static long get_length(hid_t dataset)
{
    hsize_t length = 0;
    hid_t space = H5Dget_space(dataset);
    hid_t type = H5Dget_type(dataset);
    bool is_column = H5Sget_simple_extent_ndims(space) == 1 && H5Tget_class(type) == H5T_FLOAT &&
                     H5Sget_simple_extent_dims(space, &length, NULL) == 1;
    H5Tclose(type);
    H5Sclose(space);
    return is_column ? (long)length : -1;
}

// Add the column of an open dataset: its name, its description, and its length to the shortest so far. A process
// that died while writing may leave columns of different length; the rows that all have are whole.
static bool add_column(ItmTable* table, hid_t dataset, const char* name)
{
    long length = get_length(dataset);
    if (length < 0 || !itm_results_table_add_column(table, name, strlen(name))) {
        return length < 0;
    }
    int i = table->ncolumn - 1;
    copy_string(&table->units[i], dataset, "unit");
    copy_string(&table->descriptions[i], dataset, "description");
    table->nrow = i == 0 || length < table->nrow ? length : table->nrow;
    return true;
}

static herr_t visit_link(hid_t root, const char* name, const H5L_info_t* info, void* user)
{
    (void)info;
    hid_t dataset = H5Dopen2(root, name, H5P_DEFAULT);
    if (dataset < 0) {
        return 0;  // a group or something else that is no column
    }
    bool is_added = add_column(user, dataset, name);
    H5Dclose(dataset);
    return is_added ? 0 : -1;
}

static bool read_column(ItmTable* table, hid_t file, int column, double* values)
{
    hsize_t start = 0, count = (hsize_t)table->nrow;
    hid_t dataset = H5Dopen2(file, table->names[column], H5P_DEFAULT);
    hid_t file_space = H5Dget_space(dataset);
    hid_t memory_space = H5Screate_simple(1, &count, NULL);
    bool is_read = H5Sselect_hyperslab(file_space, H5S_SELECT_SET, &start, NULL, &count, NULL) >= 0 &&
                   H5Dread(dataset, H5T_NATIVE_DOUBLE, memory_space, file_space, H5P_DEFAULT, values) >= 0;
    H5Sclose(memory_space);
    H5Sclose(file_space);
    H5Dclose(dataset);
    for (long i = 0; is_read && i < table->nrow; i++) {
        table->values[(size_t)i * (size_t)table->ncolumn + (size_t)column] = values[i];
    }
    return is_read;
}

static bool read_values(ItmTable* table, hid_t file)
{
    if (table->nrow == 0) {
        return true;
    }
    table->values = malloc((size_t)table->nrow * (size_t)table->ncolumn * sizeof(double));
    double* column = malloc((size_t)table->nrow * sizeof *column);
    bool is_read = table->values != NULL && column != NULL;
    for (int i = 0; is_read && i < table->ncolumn; i++) {
        is_read = read_column(table, file, i, column);
    }
    free(column);
    return is_read;
}

// ---------------------------------------------------------------------------- record

static hid_t memory_type(ItmArrayType type)
{
    return type == ITM_ARRAY_FLOAT32   ? H5T_NATIVE_FLOAT
           : type == ITM_ARRAY_FLOAT64 ? H5T_NATIVE_DOUBLE
                                       : H5T_NATIVE_INT32;
}

static bool read_array(ItmArray* array, hid_t group, ItmMotionArray which)
{
    hid_t dataset = H5Dopen2(group, itm_record_motion_name(which), H5P_DEFAULT);
    if (dataset < 0) {
        return false;
    }
    hid_t space = H5Dget_space(dataset);
    hsize_t extent[H5S_MAX_RANK] = {0};
    bool is_read = H5Sget_simple_extent_ndims(space) == itm_record_motion_ndim(which) &&
                   H5Sget_simple_extent_dims(space, extent, NULL) >= 0;
    long size[3] = {(long)extent[0], (long)extent[1], (long)extent[2]};
    is_read =
        is_read && itm_record_array_allocate(array, which, size) &&
        H5Dread(dataset, memory_type(itm_record_motion_type(which)), H5S_ALL, H5S_ALL, H5P_DEFAULT, array->values) >= 0;
    H5Sclose(space);
    H5Dclose(dataset);
    return is_read;
}

static void read_scene(char** scene, hid_t file)
{
    char* text = NULL;
    hid_t dataset = H5Dopen2(file, "scene/json", H5P_DEFAULT);
    if (dataset < 0) {
        return;
    }
    hid_t type = H5Dget_type(dataset);
    hid_t space = H5Dget_space(dataset);
    if (H5Tis_variable_str(type) > 0 && H5Sget_simple_extent_npoints(space) == 1 &&
        H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &text) >= 0 && text != NULL) {
        itm_results_table_set_string(scene, text, strlen(text));
    }
    H5free_memory(text);
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(dataset);
}

// Scene and motion; a record that cannot be read is no record.
static void read_record(ItmRecord* record, hid_t file)
{
    hid_t group = H5Gopen2(file, "motion", H5P_DEFAULT);
    bool is_read = group >= 0;
    for (int i = 0; i < ITM_MOTION_COUNT && is_read; i++) {
        is_read = read_array(&record->arrays[i], group, (ItmMotionArray)i);
    }
    if (is_read) {
        read_scene(&record->scene, file);
    }
    if (group >= 0) {
        H5Gclose(group);
    }
}

static bool read_file(ItmTable* table, hid_t file)
{
    char* verdict = NULL;
    table->is_described = copy_string(&table->title, file, "title") && copy_string(&table->reason, file, "reason") &&
                          copy_string(&verdict, file, "verdict");
    table->verdict = itm_results_verdict_find(verdict != NULL ? verdict : "");
    free(verdict);
    read_record(table->record, file);
    bool is_listed = H5Literate(file, H5_INDEX_CRT_ORDER, H5_ITER_INC, NULL, visit_link, table) >= 0;
    return is_listed && read_values(table, file);
}

ItmStatus itm_results_read_hdf5(ItmTable* table, const char* path, ItmError* error)
{
    bool is_read = false;
    int code = 0;
    ItmStatus status = itm_hdf5_load(error);
    if (status != ITM_OK) {
        return status;
    }
    H5E_BEGIN_TRY
    {
        errno = 0;
        hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
        code = errno;
        if (file >= 0) {
            is_read = read_file(table, file);
            H5Fclose(file);
        }
    }
    H5E_END_TRY
    if (!is_read && code != 0) {
        return itm_results_fail_io(error, __func__, "read", path, code);
    }
    return is_read ? ITM_OK
                   : itm_error_set(error, ITM_ERR_INPUT, __func__, NULL, "'%s' is not an HDF5 file of results", path);
}
