#define _XOPEN_SOURCE 700  // realpath
#include "io/results/provenance.h"

#include "base/error.h"
#include "base/guard.h"
#include "base/sha256.h"
#include "interim/results.h"
#include "io/bytes.h"
#include "io/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define MOST_BYTES ((size_t)1 << 31)  // of a file that is hashed
#define LONGEST_PATH 4096

// ---------------------------------------------------------------------------- hashes

static void hash_bytes(const void* bytes, size_t count, char hash[ITM_HASH_SIZE])
{
    ItmSha256 sha;
    itm_sha256_init(&sha);
    itm_sha256_add(&sha, bytes, count);
    itm_sha256_print(&sha, hash);
}

// "" where it cannot be read: a folder, or a file that is gone.
static void hash_file(const char* path, char hash[ITM_HASH_SIZE])
{
    size_t length = 0;
    const char* why;
    char* bytes = itm_bytes_read(path, MOST_BYTES, &length, &why);
    hash[0] = '\0';
    if (bytes != NULL) {
        hash_bytes(bytes, length, hash);
    }
    free(bytes);
}

static const char* base_name(const char* path)
{
    const char* slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static int count_files(const ItmModelFile* file)
{
    return 1 + file->nreference;
}

// Name and hash of the model file (0), or of a file that it refers to.
static const char* hash_part(const ItmModelFile* file, int i, char hash[ITM_HASH_SIZE])
{
    if (i > 0) {
        hash_file(file->references[i - 1].path, hash);
        return file->references[i - 1].name;
    }
    if (file->text != NULL) {
        hash_bytes(file->text, file->length, hash);
    } else {
        hash_file(file->path, hash);
    }
    return base_name(file->path);
}

// Lengths keep "ab", "c" apart from "a", "bc".
static void add_word(ItmSha256* sha, const char* word)
{
    uint64_t length = strlen(word);
    itm_sha256_add(sha, &length, sizeof length);
    itm_sha256_add(sha, word, (size_t)length);
}

ItmStatus itm_provenance_hash(const ItmModelFile* file, char* hash, ItmError* error)
{
    ITM_GUARD(file != NULL && hash != NULL && file->path != NULL,
              itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "file or hash is NULL"));
    ItmSha256 sha;
    itm_sha256_init(&sha);
    for (int i = 0; i < count_files(file); i++) {
        char part[ITM_HASH_SIZE];
        const char* name = hash_part(file, i, part);
        add_word(&sha, i > 0 ? name : "");  // a model file that is renamed is the same model
        add_word(&sha, part);
    }
    for (int i = 0; i < file->noverride; i++) {
        add_word(&sha, file->overrides[i]);
    }
    itm_sha256_print(&sha, hash);
    return ITM_OK;
}

// ---------------------------------------------------------------------------- paths

// The folder of a path that need not exist itself, with every link resolved; NULL where there is none. To be freed.
static char* resolve_folder(const char* path)
{
    const char* slash = strrchr(path, '/');
    char folder[LONGEST_PATH];
    int n = slash == NULL ? snprintf(folder, sizeof folder, ".")
                          : snprintf(folder, sizeof folder, "%.*s/", (int)(slash - path), path);
    return n > 0 && n < LONGEST_PATH ? realpath(folder, NULL) : NULL;
}

// From a folder to a file, both absolute: "../examples/crane.yaml"
static void add_relative(ItmText* text, const char* folder, const char* file)
{
    size_t same = 0;  // length of the common folders
    for (size_t i = 0; folder[i] == file[i] || (folder[i] == '\0' && file[i] == '/'); i++) {
        if (folder[i] == '\0' || folder[i] == '/') {
            same = i;
        }
        if (folder[i] == '\0') {
            break;
        }
    }
    for (const char* at = folder + same; *at != '\0'; at++) {
        if (*at == '/' && at[1] != '\0') {
            itm_text_add(text, "../");
        }
    }
    itm_text_add(text, file + same + (file[same] == '/'));
}

bool itm_provenance_find_model(const ItmProvenance* p, const char* results, char* path, size_t size)
{
    ITM_GUARD(p != NULL && results != NULL && path != NULL && p->model != NULL && p->path != NULL, false);
    const char* slash = strrchr(results, '/');
    int folder = slash != NULL ? (int)(slash - results) + 1 : 0;
    int n = snprintf(path, size, "%.*s%s", folder, results, p->model);
    if (n > 0 && (size_t)n < size && p->model[0] != '\0' && access(path, R_OK) == 0) {
        return true;
    }
    n = snprintf(path, size, "%s", p->path);
    return n > 0 && (size_t)n < size && access(path, R_OK) == 0;
}

// ---------------------------------------------------------------------------- writing

static void add_key(ItmText* text, const char* key, const char* value)
{
    itm_text_format(text, "%s\n    \"%s\": ", text->length > 1 ? "," : "", key);
    itm_text_add_json(text, value);
}

static void add_number(ItmText* text, const char* key, double value)
{
    itm_text_format(text, ",\n    \"%s\": ", key);
    itm_text_add_number(text, value, 17);
}

static void add_paths(ItmText* text, const ItmModelFile* file, const char* results)
{
    char* model = realpath(file->path, NULL);
    char* folder = results != NULL ? resolve_folder(results) : NULL;
    ItmText relative = {0};
    itm_text_add(&relative, "");
    if (model != NULL && folder != NULL) {
        add_relative(&relative, folder, model);
    }
    text->has_failed = text->has_failed || relative.has_failed;
    add_key(text, "model", relative.chars != NULL ? relative.chars : "");
    add_key(text, "path", model != NULL ? model : file->path);
    itm_text_free(&relative);
    free(model);
    free(folder);
}

static void add_files(ItmText* text, const ItmModelFile* file)
{
    char hash[ITM_HASH_SIZE];
    itm_provenance_hash(file, hash, NULL);
    add_key(text, "hash", hash);
    itm_text_add(text, ",\n    \"files\": [");
    for (int i = 0; i < count_files(file); i++) {
        itm_text_add(text, i > 0 ? ", {\"name\": " : "{\"name\": ");
        itm_text_add_json(text, hash_part(file, i, hash));
        itm_text_format(text, ", \"sha256\": \"%s\"}", hash);
    }
    itm_text_add(text, "],\n    \"settings\": [");
    for (int i = 0; i < file->noverride; i++) {
        itm_text_add(text, i > 0 ? ", " : "");
        itm_text_add_json(text, file->overrides[i]);
    }
    itm_text_add(text, "]");
}

static void add_origin(ItmText* text)
{
    struct utsname system;
    char host[400] = "", now[40] = "";
    if (uname(&system) >= 0) {
        snprintf(host, sizeof host, "%.100s (%.80s %.80s %.40s)", system.nodename, system.sysname, system.release,
                 system.machine);
    }
    time_t seconds = time(NULL);
    struct tm parts;
    if (gmtime_r(&seconds, &parts) != NULL) {
        strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ", &parts);
    }
    add_key(text, "host", host);
    add_key(text, "time", now);
}

void itm_provenance_write(ItmText* text, const ItmModelFile* file, const char* results, double duration,
                          double output_interval)
{
    itm_text_add(text, "{");
    add_key(text, "interim", itm_version());
    add_key(text, "commit", itm_commit());
    add_paths(text, file, results);
    add_files(text, file);
    add_number(text, "duration", duration);
    add_number(text, "output_interval", output_interval);
    itm_text_add(text, ",\n    \"seed\": null");
    add_origin(text);
    add_key(text, "text", file->text != NULL && strlen(file->text) == file->length ? file->text : "");
    itm_text_add(text, "\n  }");
}

// ---------------------------------------------------------------------------- reading

void itm_provenance_destroy(ItmProvenance* p)
{
    if (p == NULL) {
        return;
    }
    for (int i = 0; i < p->nfile; i++) {
        free(p->files[i].name);
        free(p->files[i].hash);
    }
    for (int i = 0; i < p->nsetting; i++) {
        free(p->settings[i]);
    }
    char* const texts[] = {p->version, p->commit, p->model, p->path, p->hash, p->host, p->time, p->text};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        free(texts[i]);
    }
    free(p->files);
    free(p->settings);
    free(p);
}

static bool copy_texts(ItmProvenance* p, const ItmNode* root)
{
    static const char* const KEYS[] = {"interim", "commit", "model", "path", "hash", "host", "time", "text"};
    char** const texts[] = {&p->version, &p->commit, &p->model, &p->path, &p->hash, &p->host, &p->time, &p->text};
    bool is_copied = true;
    for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++) {
        *texts[i] = strdup(itm_json_get_text(root, KEYS[i]));
        is_copied = is_copied && *texts[i] != NULL;
    }
    return is_copied;
}

// Items of a list, of which there may be none.
static int count_items(const ItmNode* root, const char* key, const ItmItem** first)
{
    const ItmNode* list = itm_json_find(root, key);
    bool is_list = list != NULL && list->kind == ITM_NODE_LIST;
    *first = is_list ? list->first : NULL;
    return is_list ? list->count : 0;
}

static bool copy_lists(ItmProvenance* p, const ItmNode* root)
{
    const ItmItem *file, *setting;
    int nfile = count_items(root, "files", &file), nsetting = count_items(root, "settings", &setting);
    p->files = calloc((size_t)nfile + 1, sizeof *p->files);
    p->settings = calloc((size_t)nsetting + 1, sizeof *p->settings);
    bool is_copied = p->files != NULL && p->settings != NULL;
    for (; file != NULL && is_copied; file = file->next) {
        ItmProvenanceFile* to = &p->files[p->nfile++];
        to->name = strdup(itm_json_get_text(file->value, "name"));
        to->hash = strdup(itm_json_get_text(file->value, "sha256"));
        is_copied = to->name != NULL && to->hash != NULL;
    }
    for (; setting != NULL && is_copied; setting = setting->next) {
        p->settings[p->nsetting] = strdup(setting->value->kind == ITM_NODE_SCALAR ? setting->value->text : "");
        is_copied = p->settings[p->nsetting++] != NULL;
    }
    return is_copied;
}

static double get_number(const ItmNode* root, const char* key)
{
    // itm_text_add_number writes what the expression reader takes in any locale
    double value = 0.0;
    char unit[16];
    return itm_expression_evaluate(itm_json_get_text(root, key), &value, unit, sizeof unit, NULL) == ITM_OK ? value
                                                                                                            : 0.0;
}

ItmStatus itm_provenance_parse(ItmProvenance** provenance, const char* text, size_t length, ItmError* error)
{
    ItmDocument document = {0};
    ItmNode* root = NULL;
    *provenance = NULL;
    ItmStatus status = itm_json_parse(&root, &document, text, length, error);
    ItmProvenance* p = status == ITM_OK ? calloc(1, sizeof *p) : NULL;
    bool is_read = p != NULL && copy_texts(p, root) && copy_lists(p, root);
    if (is_read) {
        p->duration = get_number(root, "duration");
        p->output_interval = get_number(root, "output_interval");
        *provenance = p;
    } else {
        itm_provenance_destroy(p);
        status = status != ITM_OK ? status : itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
    }
    itm_document_free(&document);
    return status;
}

ItmStatus itm_provenance_read(ItmProvenance** provenance, const char* path, ItmError* error)
{
    ITM_GUARD(provenance != NULL && path != NULL,
              itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "provenance or path is NULL"));
    *provenance = NULL;
    ItmTable* table = NULL;
    ItmStatus status = itm_results_read(&table, path, error);
    if (status == ITM_OK && table->provenance[0] == '\0') {
        status = itm_error_set(error, ITM_ERR_INPUT, __func__, NULL,
                               "'%s' does not record what made it; results of a CSV file need the .json file beside it",
                               path);
    } else if (status == ITM_OK) {
        status = itm_provenance_parse(provenance, table->provenance, strlen(table->provenance), error);
    }
    itm_results_table_destroy(table);
    return status;
}

// ---------------------------------------------------------------------------- comparing

static bool find_file_change(const ItmProvenance* p, const ItmModelFile* file, char* text, size_t size)
{
    for (int i = 0; i < count_files(file) || i < p->nfile; i++) {
        char hash[ITM_HASH_SIZE] = "";
        const char* name = i < count_files(file) ? hash_part(file, i, hash) : p->files[i].name;
        bool is_missing = i >= count_files(file), is_new = i >= p->nfile;
        if (is_missing || is_new) {
            snprintf(text, size, "the model %s '%.200s'", is_new ? "now refers to" : "no longer refers to", name);
            return true;
        }
        if (strcmp(hash, p->files[i].hash) != 0) {
            snprintf(text, size, "'%.200s' has changed", name);
            return true;
        }
    }
    return false;
}

bool itm_provenance_find_change(const ItmProvenance* p, const ItmModelFile* file, char* text, size_t size)
{
    ITM_GUARD(p != NULL && file != NULL && text != NULL && size > 0 && file->path != NULL && p->hash != NULL, true);
    char hash[ITM_HASH_SIZE] = "";
    itm_provenance_hash(file, hash, NULL);
    text[0] = '\0';
    if (strcmp(hash, p->hash) == 0) {
        return false;
    }
    if (!find_file_change(p, file, text, size)) {
        snprintf(text, size, "the overrides differ");
    }
    return true;
}
