// HDF5 back into a table: every one-dimensional dataset of the root, in the order of creation.
#include "io/results/results_read.h"

#include "base/error.h"
#include "io/results/hdf5.h"
#include "io/results/results.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_STRING (1u << 28)

// Whether the values of a dataset are in its own file. The format also allows values in any other file of the disk, as raw bytes
// (external storage) or as part of another dataset (a virtual dataset).
static bool is_inside(hid_t dataset)
{
    hid_t creation = H5Dget_create_plist(dataset);
    bool is_own = creation >= 0 && H5Pget_external_count(creation) == 0 && H5Pget_layout(creation) != H5D_VIRTUAL;
    H5Pclose(creation);
    return is_own;
}

// Open a dataset whose values are in the file; negative if there is none.
static hid_t open_dataset(hid_t parent, const char* name)
{
    hid_t dataset = H5Dopen2(parent, name, H5P_DEFAULT);
    if (dataset >= 0 && !is_inside(dataset)) {
        H5Dclose(dataset);
        return -1;
    }
    return dataset;
}

// A string of an open attribute or dataset, of fixed or variable length (as other programs and older versions write it): NULL
// where it is none, or without memory. To be freed.
static char* read_string(hid_t object, bool is_attribute)
{
    hid_t type = is_attribute ? H5Aget_type(object) : H5Dget_type(object);
    hid_t space = is_attribute ? H5Aget_space(object) : H5Dget_space(object);
    size_t size = H5Tget_class(type) == H5T_STRING ? H5Tget_size(type) : 0;
    bool is_variable = H5Tis_variable_str(type) > 0;
    char *fixed = NULL, *variable = NULL, *text = NULL;
    if (H5Sget_simple_extent_npoints(space) == 1 && size > 0 && size <= LONGEST_STRING) {
        fixed = is_variable ? NULL : calloc(size + 1, 1);
        void* to = is_variable ? (void*)&variable : fixed;
        bool is_read = to != NULL && (is_attribute ? H5Aread(object, type, to)
                                                   : H5Dread(object, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, to)) >= 0;
        text = is_read && is_variable && variable != NULL ? strdup(variable) : is_read ? fixed : NULL;
    }
    if (text != fixed) {
        free(fixed);
    }
    H5free_memory(variable);
    H5Sclose(space);
    H5Tclose(type);
    return text;
}

// Replace a string by that of an attribute, if there is one. False if it cannot be read.
static bool copy_string(char** string, hid_t object, const char* name)
{
    htri_t exists = H5Aexists(object, name);
    hid_t attribute = exists > 0 ? H5Aopen(object, name, H5P_DEFAULT) : -1;
    char* text = attribute >= 0 ? read_string(attribute, true) : NULL;
    if (attribute >= 0) {
        H5Aclose(attribute);
    }
    if (text != NULL) {
        free(*string);
        *string = text;
    }
    return exists == 0 || text != NULL;
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
    table->nrow = i == 0 || length < table->nrow ? length : table->nrow;
    return copy_string(&table->units[i], dataset, "unit") &&
           copy_string(&table->descriptions[i], dataset, "description");
}

typedef struct ListVisit {
    ItmTable* table;
    hsize_t nlink;  // seen
} ListVisit;

static herr_t visit_link(hid_t root, const char* name, const H5L_info_t* info, void* user)
{
    ListVisit* visit = user;
    visit->nlink++;
    if (info->type != H5L_TYPE_HARD) {
        return 0;  // a link to elsewhere is never followed
    }
    hid_t object = H5Oopen(root, name, H5P_DEFAULT);
    H5I_type_t type = H5Iget_type(object);
    bool is_added = type == H5I_GROUP || type == H5I_DATATYPE ||
                    (type == H5I_DATASET && is_inside(object) && add_column(visit->table, object, name));
    H5Oclose(object);
    return is_added ? 0 : -1;
}

static bool read_column(ItmTable* table, hid_t file, int column, double* values)
{
    hsize_t start = 0, count = (hsize_t)table->nrow;
    hid_t dataset = open_dataset(file, table->names[column]);
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
    if (table->nrow > LONG_MAX / (long)sizeof(double) / table->ncolumn) {
        return false;
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
    hid_t dataset = open_dataset(group, itm_record_motion_name(which));
    if (dataset < 0) {
        return false;
    }
    hid_t space = H5Dget_space(dataset);
    hsize_t extent[H5S_MAX_RANK] = {0};
    bool is_read = H5Sget_simple_extent_ndims(space) == itm_record_motion_ndim(which) &&
                   H5Sget_simple_extent_dims(space, extent, NULL) >= 0;
    long size[3] = {(long)extent[0], (long)extent[1], (long)extent[2]};
    is_read =
        is_read && itm_record_array_allocate(array, which, size) == ITM_OK &&
        H5Dread(dataset, memory_type(itm_record_motion_type(which)), H5S_ALL, H5S_ALL, H5P_DEFAULT, array->values) >= 0;
    H5Sclose(space);
    H5Dclose(dataset);
    return is_read;
}

// Replace a text by that of a dataset; false if it cannot be read.
static bool read_text(char** text, hid_t file, const char* name)
{
    hid_t dataset = open_dataset(file, name);
    char* found = dataset >= 0 ? read_string(dataset, false) : NULL;
    if (dataset >= 0) {
        H5Dclose(dataset);
    }
    if (found != NULL) {
        free(*text);
        *text = found;
    }
    return found != NULL;
}

static bool read_provenance(char** text, hid_t file)
{
    htri_t exists = H5Lexists(file, "provenance", H5P_DEFAULT);
    return exists == 0 || (exists > 0 && read_text(text, file, "provenance/json"));
}

// Scene and motion, where the file has them.
static bool read_record(ItmRecord* record, hid_t file)
{
    htri_t exists = H5Lexists(file, "motion", H5P_DEFAULT);
    if (exists <= 0) {
        return exists == 0;
    }
    hid_t group = H5Gopen2(file, "motion", H5P_DEFAULT);
    bool is_read = group >= 0;
    for (int i = 0; i < ITM_MOTION_COUNT && is_read; i++) {
        is_read = read_array(&record->arrays[i], group, (ItmMotionArray)i);
    }
    if (group >= 0) {
        H5Gclose(group);
    }
    return is_read && read_text(&record->scene, file, "scene/json");
}

static bool read_file(ItmTable* table, hid_t file)
{
    char* verdict = NULL;
    bool is_read = copy_string(&table->title, file, "title") && copy_string(&table->reason, file, "reason") &&
                   copy_string(&verdict, file, "verdict") && read_provenance(&table->provenance, file) &&
                   read_record(table->record, file);
    table->is_described = verdict != NULL;
    table->verdict = itm_results_verdict_find(verdict != NULL ? verdict : "");
    free(verdict);
    // the count of links shows an iteration that ended early
    H5G_info_t root;
    ListVisit visit = {.table = table};
    is_read = is_read && H5Gget_info(file, &root) >= 0 &&
              H5Literate(file, H5_INDEX_CRT_ORDER, H5_ITER_INC, NULL, visit_link, &visit) >= 0 &&
              visit.nlink == root.nlinks;
    return is_read && read_values(table, file);
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
        // this process only reads this file: links into other files lead nowhere, and no filter is loaded from elsewhere
        H5Lunregister(H5L_TYPE_EXTERNAL);
        H5PLset_loading_state(0);
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
    return is_read
               ? ITM_OK
               : itm_error_set(error, ITM_ERR_INPUT, __func__, NULL,
                               "'%s' is not an HDF5 file of results, takes data from other files, or is damaged", path);
}
