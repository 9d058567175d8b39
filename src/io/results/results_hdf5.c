// HDF5: one growing one-dimensional dataset a column, named as in CSV ("/time", "/rod.position.x"), each with the
// attributes `unit` and `description`; title, version, verdict and reason are attributes of the root.
// The provenance is the text dataset /provenance/json, the record of the motion the text dataset /scene/json and the datasets of
// /motion; columns have dots in their names or are called time, so that no group has the name of one.
// The file is touched only while a block of rows is written and flushed right after, so that a process that dies
// between two blocks leaves a readable file; blocks are large, so that these moments are few. The library does not survive a disk that fills up while it writes
// (closing the file then frees memory twice), so the space of a block is reserved before it sees the block.
#include "io/results/results.h"

#include "base/error.h"
#include "io/results/hdf5.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK_ROWS 512  // 4 KiB a chunk before it is deflated: small for short runs of many columns, few for long runs
#define INDEX_RANK                                                                                                     \
    4  // a node of a chunk index has room for twice as many chunks: most runs are short, and have many columns
#define DEFLATE 1  // of the table; higher levels gain 2 % and cost twice the time

// Upper bounds of what the library adds to the file, bytes
#define SPACE_ALWAYS (64 * 1024)   // superblock, root group, summary, allocation in blocks
#define SPACE_A_COLUMN (4 * 1024)  // a dataset with its attributes, beside their text
#define SPACE_A_NODE 600           // node of a dataset's chunk index, one for every INDEX_RANK new chunks at most

typedef struct Hdf5File {
    hid_t file;
    int fd;           // the same file, to reserve space
    hid_t* datasets;  // (ncolumn)
    double* column;   // one column of a block of rows   (column_capacity)
    int column_capacity;
    hsize_t nrow;  // in the file
} Hdf5File;

// ---------------------------------------------------------------------------- attributes

static bool write_summary(hid_t file, const ItmResultsSummary* summary)
{
    ItmText doubts = {0};
    itm_results_json_add_doubts(&doubts, summary);
    bool is_written =
        !doubts.has_failed && itm_hdf5_write_string(file, "verdict", itm_results_verdict_name(summary->verdict)) &&
        itm_hdf5_write_string(file, "reason", summary->reason) && itm_hdf5_write_string(file, "doubts", doubts.chars);
    itm_text_free(&doubts);
    return is_written;
}

// ---------------------------------------------------------------------------- space

// Make sure that `bytes` after offset `from` can be written: 0, or the system's reason. A file system that cannot
// reserve is trusted.
static int reserve_bytes(int fd, off_t from, off_t bytes)
{
    int code = posix_fallocate(fd, from, bytes);
    return code == EOPNOTSUPP || code == EINVAL ? 0 : code;
}

// The same after the end of what the library uses.
static int reserve(const Hdf5File* f, size_t bytes)
{
    haddr_t end = 0;
    H5Fget_eoa(f->file, &end);
    return reserve_bytes(f->fd, (off_t)end, (off_t)bytes);
}

static size_t measure_description(const ItmResultsHead* head)
{
    size_t bytes = SPACE_ALWAYS + strlen(head->title) + 2 * strlen(head->provenance);
    for (int i = 0; i < head->ncolumn; i++) {
        bytes += SPACE_A_COLUMN + 2 * (strlen(head->columns[i].name) + strlen(head->columns[i].unit) +
                                       strlen(head->columns[i].description));
    }
    return bytes;
}

static size_t measure_rows(const Hdf5File* f, int nrow, int ncolumn)
{
    hsize_t before = f->nrow / CHUNK_ROWS;  // one that is filled up moves, because it grows
    hsize_t after = (f->nrow + (hsize_t)nrow + CHUNK_ROWS - 1) / CHUNK_ROWS;
    size_t nchunk = (size_t)(after - before);
    size_t nnode = nchunk > 0 ? 2 * nchunk / INDEX_RANK + 8 : 0;  // with the nodes above
    return SPACE_ALWAYS + (size_t)ncolumn * (nchunk * (CHUNK_ROWS * sizeof(double) + 4) + nnode * SPACE_A_NODE);
}

// Cut off what was reserved and not used.
static bool trim(const Hdf5File* f, off_t end)
{
    off_t size = lseek(f->fd, 0, SEEK_END);
    return size <= end || ftruncate(f->fd, end) == 0;
}

// ---------------------------------------------------------------------------- record

static size_t measure_record(const ItmRecord* record)
{
    size_t bytes = SPACE_ALWAYS + 2 * strlen(record->scene);
    for (int i = 0; i < ITM_MOTION_COUNT; i++) {
        ItmArrayType type = itm_record_motion_type((ItmMotionArray)i);
        bytes += SPACE_A_COLUMN + 2 * itm_record_array_get_count(&record->arrays[i]) * itm_record_array_type_size(type);
    }
    return bytes;
}

static hid_t file_type(ItmArrayType type)
{
    return type == ITM_ARRAY_FLOAT32 ? H5T_IEEE_F32LE : type == ITM_ARRAY_FLOAT64 ? H5T_IEEE_F64LE : H5T_STD_I32LE;
}

// Deflate where the library can, and a checksum.
static void set_filters(hid_t creation, unsigned level)
{
    if (H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0) {
        H5Pset_deflate(creation, level);
    }
    H5Pset_fletcher32(creation);
}

// In one deflated chunk; an empty array has none.
static bool write_array(hid_t group, const ItmArray* array, ItmMotionArray which)
{
    hid_t type = file_type(itm_record_motion_type(which));
    hsize_t size[3];
    for (int i = 0; i < array->ndim; i++) {
        size[i] = (hsize_t)array->size[i];
    }
    hid_t space = H5Screate_simple(array->ndim, size, NULL);
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    if (itm_record_array_get_count(array) > 0) {
        H5Pset_chunk(creation, array->ndim, size);
        H5Pset_shuffle(creation);
        set_filters(creation, 4);
    }
    hid_t dataset = H5Dcreate2(group, itm_record_motion_name(which), type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    bool is_written = dataset >= 0 && H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, array->values) >= 0;
    if (dataset >= 0) {
        H5Dclose(dataset);
    }
    H5Pclose(creation);
    H5Sclose(space);
    return is_written;
}

// A text dataset /GROUP/json, which unlike an attribute has a checksum.
static bool write_text(hid_t file, const char* name, const char* text)
{
    hsize_t one = 1;
    hid_t type = itm_hdf5_make_string_type(text);
    hid_t space = H5Screate_simple(1, &one, NULL);  // a scalar has no checksum
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(creation, 1, &one);
    set_filters(creation, 4);
    hid_t group = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t dataset = H5Dcreate2(group, "json", type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    bool is_written = dataset >= 0 && H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0;
    H5Pclose(creation);
    if (dataset >= 0) {
        H5Dclose(dataset);
    }
    if (group >= 0) {
        H5Gclose(group);
    }
    H5Sclose(space);
    H5Tclose(type);
    return is_written;
}

static bool write_record(hid_t file, const ItmRecord* record)
{
    hid_t group = H5Gcreate2(file, "motion", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool is_written = group >= 0 && write_text(file, "scene", record->scene);
    for (int i = 0; i < ITM_MOTION_COUNT && is_written; i++) {
        is_written = write_array(group, &record->arrays[i], (ItmMotionArray)i);
    }
    if (group >= 0) {
        H5Gclose(group);
    }
    return is_written;
}

// ---------------------------------------------------------------------------- file

// A file whose root lists the columns in their order, in the format of HDF5 1.8: its descriptions have checksums. (Those of 1.10
// have them too, but mark an open file, so that one whose process died could no longer be read.)
static hid_t create_file(const char* path)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18);
    hid_t creation = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_link_creation_order(creation, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    H5Pset_istore_k(creation, INDEX_RANK);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, creation, access);
    H5Pclose(access);
    H5Pclose(creation);
    return file;
}

static hid_t create_dataset(hid_t file, const ItmOutputInfo* column)
{
    hsize_t none = 0, unlimited = H5S_UNLIMITED, chunk = CHUNK_ROWS;
    hid_t space = H5Screate_simple(1, &none, &unlimited);
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(creation, 1, &chunk);
    H5Pset_shuffle(creation);
    set_filters(creation, DEFLATE);
    H5Pset_obj_track_times(creation, false);
    hid_t dataset = H5Dcreate2(file, column->name, H5T_IEEE_F64LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    H5Pclose(creation);
    H5Sclose(space);
    if (dataset >= 0 && !(itm_hdf5_write_string(dataset, "unit", column->unit) &&
                          itm_hdf5_write_string(dataset, "description", column->description))) {
        H5Dclose(dataset);
        return -1;
    }
    return dataset;
}

static bool create_content(Hdf5File* f, const ItmResultsHead* head)
{
    if (!itm_hdf5_write_string(f->file, "interim", itm_version()) ||
        !itm_hdf5_write_string(f->file, "title", head->title) ||
        !write_summary(f->file, &(ItmResultsSummary){.reason = ""}) ||
        (head->provenance[0] != '\0' && !write_text(f->file, "provenance", head->provenance))) {
        return false;
    }
    for (int i = 0; i < head->ncolumn; i++) {
        f->datasets[i] = create_dataset(f->file, &head->columns[i]);
        if (f->datasets[i] < 0) {
            return false;
        }
    }
    return H5Fflush(f->file, H5F_SCOPE_LOCAL) >= 0;
}

static bool append_column(hid_t dataset, hsize_t at, const double* column, hsize_t nrow)
{
    hsize_t size = at + nrow;
    if (H5Dset_extent(dataset, &size) < 0) {
        return false;
    }
    hid_t file_space = H5Dget_space(dataset);
    hid_t memory_space = H5Screate_simple(1, &nrow, NULL);
    bool is_written = H5Sselect_hyperslab(file_space, H5S_SELECT_SET, &at, NULL, &nrow, NULL) >= 0 &&
                      H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory_space, file_space, H5P_DEFAULT, column) >= 0;
    H5Sclose(memory_space);
    H5Sclose(file_space);
    return is_written;
}

static bool append_rows(Hdf5File* f, const double* rows, int nrow, int ncolumn)
{
    for (int j = 0; j < ncolumn; j++) {
        for (int i = 0; i < nrow; i++) {
            f->column[i] = rows[(size_t)i * (size_t)ncolumn + (size_t)j];
        }
        if (!append_column(f->datasets[j], f->nrow, f->column, (hsize_t)nrow)) {
            return false;
        }
    }
    f->nrow += (hsize_t)nrow;
    return H5Fflush(f->file, H5F_SCOPE_LOCAL) >= 0;
}

// Close everything that is open; false if the last bytes did not reach the file.
static bool close_all(Hdf5File* f, int ncolumn)
{
    bool is_closed = true;
    for (int i = 0; i < ncolumn; i++) {
        is_closed = (f->datasets[i] < 0 || H5Dclose(f->datasets[i]) >= 0) && is_closed;
    }
    if (f->file >= 0) {
        haddr_t end = 0;
        is_closed = H5Fflush(f->file, H5F_SCOPE_LOCAL) >= 0 && is_closed;
        is_closed = H5Fget_eoa(f->file, &end) >= 0 && is_closed;
        is_closed = H5Fclose(f->file) >= 0 && is_closed;
        is_closed = trim(f, (off_t)end) && is_closed;
    }
    if (f->fd >= 0) {
        close(f->fd);
    }
    free(f->datasets);
    free(f->column);
    free(f);
    return is_closed;
}

static Hdf5File* allocate(int ncolumn)
{
    Hdf5File* f = calloc(1, sizeof *f);
    hid_t* datasets = calloc((size_t)ncolumn, sizeof *datasets);
    if (f == NULL || datasets == NULL) {
        free(f);
        free(datasets);
        return NULL;
    }
    for (int i = 0; i < ncolumn; i++) {
        datasets[i] = -1;
    }
    *f = (Hdf5File){.file = -1, .fd = -1, .datasets = datasets};
    return f;
}

static bool reserve_column(Hdf5File* f, int nrow)
{
    if (nrow > f->column_capacity) {
        double* column = realloc(f->column, (size_t)nrow * sizeof *column);
        if (column == NULL) {
            return false;
        }
        f->column = column;
        f->column_capacity = nrow;
    }
    return true;
}

// ---------------------------------------------------------------------------- writer
// HDF5 prints its errors by default: every entry is wrapped in H5E_BEGIN_TRY.

// Create the part file: 0, or the system's reason (-1 if it gave none).
static int open_part(Hdf5File* f, const ItmResultsHead* head)
{
    size_t space = measure_description(head);
    f->fd = open(head->part, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (f->fd < 0) {
        return errno;
    }
    int code = reserve_bytes(f->fd, 0, (off_t)space);
    if (code != 0) {
        return code;
    }
    errno = 0;
    f->file = create_file(head->part);
    code = f->file >= 0 ? reserve(f, space) : errno;
    if (f->file < 0 || code != 0 || !create_content(f, head)) {
        return code != 0 ? code : -1;
    }
    return 0;
}

static ItmStatus hdf5_open(void** state, const ItmResultsHead* head, ItmError* error)
{
    ItmStatus status = itm_hdf5_load(error);
    Hdf5File* f = status == ITM_OK ? allocate(head->ncolumn) : NULL;
    if (f == NULL) {
        return status != ITM_OK
                   ? status
                   : itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "no memory to write '%s'", head->path);
    }
    int code = 0;
    H5E_BEGIN_TRY
    {
        code = open_part(f, head);
        if (code != 0) {
            if (f->fd >= 0) {
                unlink(head->part);
            }
            close_all(f, head->ncolumn);
        }
    }
    H5E_END_TRY
    if (code != 0) {
        return itm_results_fail_io(error, __func__, "write", head->part, code);
    }
    *state = f;
    return ITM_OK;
}

// All rows, or where the disk has no room for them at once those that fit: 0, or the system's reason (-1 if it gave none).
static int append_block(Hdf5File* f, const double* rows, int nrow, int ncolumn)
{
    int most = nrow;
    for (int done = 0; done < nrow;) {
        int n = most < nrow - done ? most : nrow - done;
        int code = reserve(f, measure_rows(f, n, ncolumn));
        if (code != 0 && n > 1) {
            most = n / 2;
            continue;
        }
        errno = 0;
        if (code != 0 || !append_rows(f, rows + (size_t)done * (size_t)ncolumn, n, ncolumn)) {
            return code != 0 ? code : errno != 0 ? errno : -1;
        }
        done += n;
    }
    return 0;
}

static ItmStatus hdf5_write(void* state, const ItmResultsHead* head, const double* rows, int nrow, ItmError* error)
{
    Hdf5File* f = state;
    if (!reserve_column(f, nrow)) {
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "no memory to write '%s'", head->part);
    }
    int code = 0;
    H5E_BEGIN_TRY
    {
        code = append_block(f, rows, nrow, head->ncolumn);
    }
    H5E_END_TRY
    return code == 0 ? ITM_OK : itm_results_fail_io(error, __func__, "write", head->part, code);
}

static ItmStatus hdf5_close(void* state, const ItmResultsHead* head, const ItmResultsSummary* summary, ItmError* error)
{
    Hdf5File* f = state;
    int code = 0;
    H5E_BEGIN_TRY
    {
        const ItmRecord* record = summary->record;
        code = reserve(f, SPACE_ALWAYS + strlen(summary->reason) + (record != NULL ? measure_record(record) : 0));
        errno = 0;
        bool is_described = code == 0 && write_summary(f->file, summary);
        is_described = is_described && (record == NULL || write_record(f->file, record));
        bool is_closed = close_all(f, head->ncolumn);
        code = code == 0 && !(is_described && is_closed) ? (errno != 0 ? errno : -1) : code;
    }
    H5E_END_TRY
    return code == 0 ? ITM_OK : itm_results_fail_io(error, __func__, "write", head->part, code);
}

static ItmStatus hdf5_publish(const ItmResultsHead* head, ItmError* error)
{
    return itm_results_rename(head->part, head->path, error);
}

const ItmResultsWriter itm_results_hdf5 = {hdf5_open, hdf5_write, hdf5_close, hdf5_publish};
