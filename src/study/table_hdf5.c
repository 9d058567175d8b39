// The table of a study as HDF5: /factors/NAME, /responses/NAME, /verdict, /end_time, /signals/NAME and the texts of study and model.
// Without times of creation, so that the same study gives the same bytes.
#include "study/study.h"

#include "base/error.h"
#include "base/guard.h"
#include "io/results/hdf5.h"
#include "io/text.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MEMORY_STEP ((size_t)1 << 20)  // the file grows in memory by so many bytes

typedef struct Writer {
    const ItmStudy* study;
    hid_t file, creation;
    bool has_failed;
} Writer;

// ---------------------------------------------------------------------------- pieces

static void add_attribute(Writer* w, hid_t object, const char* name, const char* text)
{
    w->has_failed = object < 0 || !itm_hdf5_write_string(object, name, text) || w->has_failed;
}

static void add_text(Writer* w, hid_t group, const char* name, const char* text)
{
    hid_t type = itm_hdf5_make_string_type(text), space = H5Screate(H5S_SCALAR);
    hid_t dataset = H5Dcreate2(group, name, type, space, H5P_DEFAULT, w->creation, H5P_DEFAULT);
    w->has_failed = dataset < 0 || H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) < 0 || w->has_failed;
    if (dataset >= 0) {
        H5Dclose(dataset);
    }
    H5Sclose(space);
    H5Tclose(type);
}

// A dataset of reals (rows x columns; 0 columns: a vector); -1 on failure.
static hid_t add_reals(Writer* w, hid_t group, const char* name, const double* values, int nrow, int ncolumn)
{
    hsize_t size[2] = {(hsize_t)nrow, (hsize_t)ncolumn};
    hid_t space = H5Screate_simple(ncolumn > 0 ? 2 : 1, size, NULL);
    hid_t dataset = H5Dcreate2(group, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, w->creation, H5P_DEFAULT);
    w->has_failed =
        dataset < 0 || H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0 || w->has_failed;
    H5Sclose(space);
    return dataset;
}

static void close_dataset(hid_t dataset)
{
    if (dataset >= 0) {
        H5Dclose(dataset);
    }
}

// A slash would make a group.
static void make_name(char* name, size_t size, const char* text)
{
    snprintf(name, size, "%s", text);
    for (char* c = name; *c != '\0'; c++) {
        *c = *c == '/' ? '_' : *c;
    }
}

// ---------------------------------------------------------------------------- columns

static void add_factors(Writer* w, hid_t group, double* column)
{
    const ItmStudy* s = w->study;
    for (int i = 0; i < s->factors.count; i++) {
        const ItmStudyFactor* f = &s->factors.items[i];
        bool is_choice = f->distribution == ITM_DISTRIBUTION_CHOICE, has_words = false;
        ItmText values = {0};
        itm_text_add(&values, "[");
        for (int k = 0; k < f->nvalue && is_choice; k++) {
            has_words = has_words || isnan(f->numbers[k]);
            itm_text_add(&values, k > 0 ? "," : "");
            itm_text_add_json(&values, f->texts[k]);
        }
        itm_text_add(&values, "]");
        for (int run = 0; run < s->nrun; run++) {
            double value = s->points[(size_t)run * (size_t)s->factors.count + (size_t)i];
            column[run] = is_choice && !has_words ? f->numbers[(int)value] : value;
        }
        char name[256];
        make_name(name, sizeof name, f->name);
        hid_t dataset = add_reals(w, group, name, column, s->nrun, 0);
        add_attribute(w, dataset, "key", f->key);
        add_attribute(w, dataset, "unit", f->unit);
        if (has_words) {
            add_attribute(w, dataset, "values", values.chars != NULL ? values.chars : "");
        }
        w->has_failed = w->has_failed || values.has_failed;
        itm_text_free(&values);
        close_dataset(dataset);
    }
}

static void add_responses(Writer* w, hid_t group, double* column)
{
    const ItmStudy* s = w->study;
    for (int i = 0; i < s->responses.count; i++) {
        const ItmStudyResponse* r = &s->responses.items[i];
        for (int run = 0; run < s->nrun; run++) {
            column[run] = s->runs[run].responses[i];
        }
        char name[256];
        make_name(name, sizeof name, r->name);
        hid_t dataset = add_reals(w, group, name, column, s->nrun, 0);
        add_attribute(w, dataset, "unit", r->unit);
        add_attribute(w, dataset, "statistic", itm_response_statistic_name(r->statistic));
        add_attribute(w, dataset, "expression", r->expression);
        close_dataset(dataset);
    }
}

static void add_outcomes(Writer* w, double* column)
{
    const ItmStudy* s = w->study;
    ItmText names = {0}, messages = {0};
    itm_text_add(&names, "[");
    for (int i = 0; i < ITM_STUDY_VERDICT_COUNT; i++) {
        itm_text_format(&names, "%s\"%s\"", i > 0 ? "," : "", itm_study_verdict_name((ItmStudyVerdict)i));
    }
    itm_text_add(&names, "]");
    itm_text_add(&messages, "[");
    for (int run = 0; run < s->nrun; run++) {
        itm_text_add(&messages, run > 0 ? "," : "");
        itm_text_add_json(&messages, s->runs[run].message);
        column[run] = s->runs[run].verdict;
    }
    itm_text_add(&messages, "]");
    w->has_failed = w->has_failed || names.has_failed || messages.has_failed;
    hid_t dataset = add_reals(w, w->file, "verdict", column, s->nrun, 0);
    add_attribute(w, dataset, "names", names.chars != NULL ? names.chars : "");
    close_dataset(dataset);
    for (int run = 0; run < s->nrun; run++) {
        column[run] = s->runs[run].end_time;
    }
    dataset = add_reals(w, w->file, "end_time", column, s->nrun, 0);
    add_attribute(w, dataset, "unit", "s");
    close_dataset(dataset);
    add_text(w, w->file, "messages", messages.chars != NULL ? messages.chars : "");
    itm_text_free(&names);
    itm_text_free(&messages);
}

static void add_traces(Writer* w, hid_t group)
{
    const ItmStudy* s = w->study;
    size_t npoint = (size_t)s->npoint;
    double* values = malloc(sizeof *values * npoint * (size_t)(s->nrun + 1));
    if (values == NULL) {
        w->has_failed = true;
        return;
    }
    for (size_t k = 0; k < npoint; k++) {
        values[k] = s->duration * (double)k / (double)(npoint - 1);
    }
    hid_t dataset = add_reals(w, group, "time", values, s->npoint, 0);
    add_attribute(w, dataset, "unit", "s");
    close_dataset(dataset);
    for (int i = 0; i < s->ntrace; i++) {
        for (int run = 0; run < s->nrun; run++) {
            memcpy(values + npoint * (size_t)run, s->runs[run].traces + npoint * (size_t)i, sizeof *values * npoint);
        }
        dataset = add_reals(w, group, s->signals.items[s->traces[i]], values, s->nrun, s->npoint);
        add_attribute(w, dataset, "unit", s->signal_units.items[s->traces[i]]);
        close_dataset(dataset);
    }
    free(values);
}

static hid_t open_group(Writer* w, const char* name)
{
    hid_t group = H5Gcreate2(w->file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    w->has_failed = group < 0 || w->has_failed;
    return group;
}

static void close_group(hid_t group)
{
    if (group >= 0) {
        H5Gclose(group);
    }
}

// ---------------------------------------------------------------------------- file

static void write_content(Writer* w, double* column)
{
    const ItmStudy* s = w->study;
    add_attribute(w, w->file, "interim", itm_version());
    add_attribute(w, w->file, "commit", itm_commit());
    add_attribute(w, w->file, "title", s->title);
    add_attribute(w, w->file, "design", itm_design_type_name(s->design.type));
    add_text(w, w->file, "signature", s->signature);
    add_text(w, w->file, "study", s->text);
    add_text(w, w->file, "model", s->model_text);
    hid_t group = open_group(w, "factors");
    add_factors(w, group, column);
    close_group(group);
    group = open_group(w, "responses");
    add_responses(w, group, column);
    close_group(group);
    add_outcomes(w, column);
    if (s->ntrace > 0) {
        group = open_group(w, "signals");
        add_traces(w, group);
        close_group(group);
    }
}

// The bytes of the file, made in memory: the library does not survive a disk that fills up. NULL: it failed. Release with free.
static char* make_image(const ItmStudy* s, double* column, size_t* size)
{
    Writer w = {.study = s, .file = -1};
    char* image = NULL;
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    w.creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(w.creation, false);
    if (H5Pset_fapl_core(access, MEMORY_STEP, false) >= 0) {
        w.file = H5Fcreate("study", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    }
    if (w.file >= 0) {
        write_content(&w, column);
        w.has_failed = w.has_failed || H5Fflush(w.file, H5F_SCOPE_LOCAL) < 0;
        ssize_t length = w.has_failed ? -1 : H5Fget_file_image(w.file, NULL, 0);
        image = length > 0 ? malloc((size_t)length) : NULL;
        if (image != NULL && H5Fget_file_image(w.file, image, (size_t)length) != length) {
            free(image);
            image = NULL;
        }
        *size = (size_t)length;
        H5Fclose(w.file);
    }
    H5Pclose(w.creation);
    H5Pclose(access);
    return image;
}

static ItmStatus write_image(const ItmStudy* s, const char* path, ItmError* error)
{
    ItmStatus status = itm_hdf5_load(error);
    if (status != ITM_OK) {
        return status;
    }
    double* column = calloc((size_t)s->nrun + 1, sizeof *column);
    size_t size = 0;
    char* image = NULL;
    if (column != NULL) {
        H5E_BEGIN_TRY
        {
            image = make_image(s, column, &size);
        }
        H5E_END_TRY
    }
    free(column);
    if (image == NULL) {
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "no memory to write '%s'", path);
    }
    status = itm_text_write(&(ItmText){.chars = image, .length = size}, path, error);
    free(image);
    return status;
}

// The error of the child, or none; false: it died before.
static bool read_error(int from, ItmError* theirs)
{
    size_t done = 0;
    ssize_t n;
    while (done < sizeof *theirs &&
           ((n = read(from, (char*)theirs + done, sizeof *theirs - done)) > 0 || errno == EINTR)) {
        done += n > 0 ? (size_t)n : 0;
    }
    return done == sizeof *theirs;
}

// In a child process: where memory runs out, the library may end its process, and a study has more to write.
ItmStatus itm_study_write_hdf5(const ItmStudy* s, const char* path, ItmError* error)
{
    ITM_GUARD(s != NULL && path != NULL && s->is_prepared, ITM_ERR_ARGUMENT);
    int ends[2] = {-1, -1};
    pid_t child = pipe(ends) == 0 ? fork() : -1;
    if (child == 0) {
        ItmError own = {0};
        own.status = write_image(s, path, &own);
        _exit(write(ends[1], &own, sizeof own) == (ssize_t)sizeof own ? 0 : 1);
    }
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "no process to write '%s'", path);
    }
    ItmError theirs = {0};
    bool is_read = read_error(ends[0], &theirs);
    close(ends[0]);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
    }
    if (!is_read) {
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL,
                             "the HDF5 library ended while it wrote '%s', as it does where memory runs out", path);
    }
    if (error != NULL && theirs.status != ITM_OK) {
        *error = theirs;
    }
    return theirs.status;
}
