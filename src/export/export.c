// An FMU from a model file: the tree of the part that is exported, its description, terminals, the binary.
#include "interim/export.h"

#include "base/error.h"
#include "export/export.h"
#include "export/export_tree.h"
#include "export/unit.h"
#include "fmi/layer.h"
#include "io/bytes.h"
#include "io/geometry/urdf.h"
#include "io/text.h"
#include "io/tree.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

ItmExportOptions itm_default_export_options(void)
{
    return (ItmExportOptions){.version = 3};
}

// ---------------------------------------------------------------------------- names and tokens

// The name of the model as an identifier of C: letters, digits, underscores.
static void make_identifier(char* identifier, size_t size, const char* path)
{
    const char* slash = strrchr(path, '/');
    const char* name = slash != NULL ? slash + 1 : path;
    size_t n = 0;
    for (; *name != '\0' && *name != '.' && n + 2 < size; name++) {
        bool is_good =
            (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') || (*name >= '0' && *name <= '9');
        if (n == 0 && *name >= '0' && *name <= '9') {
            identifier[n++] = '_';
        }
        identifier[n++] = is_good ? *name : '_';
    }
    identifier[n] = '\0';
}

// A token that changes with the contents: FNV-1a of tree and ports, as a GUID.
static void make_token(char* token, size_t size, const ItmText* tree, const ItmText* ports)
{
    unsigned long long a = 14695981039346656037ull, b = a ^ 0x5bd1e995u;
    for (size_t i = 0; i < tree->length + ports->length; i++) {
        unsigned char c = (unsigned char)(i < tree->length ? tree->chars[i] : ports->chars[i - tree->length]);
        a = (a ^ c) * 1099511628211ull;
        b = (b ^ (c + 1u)) * 1099511628211ull;
    }
    snprintf(token, size, "{%08llx-%04llx-%04llx-%04llx-%012llx}", a >> 32, (a >> 16) & 0xffff, a & 0xffff, b >> 48,
             b & 0xffffffffffffull);
}

// ---------------------------------------------------------------------------- description

typedef struct Export {
    const ItmExportOptions* options;
    ItmUnit* unit;
    const char* title;
    char identifier[80], token[64];
    bool has_ports;
    ItmText description, terminals, ports, tree;
    ItmOwned owned;  // bytes of files that the archive reads at its end
} Export;

static bool is_input(const ItmUnitVariable* v)
{
    return v->kind == ITM_UNIT_INPUT || v->kind == ITM_UNIT_FORCE_IN || v->kind == ITM_UNIT_POSITION_IN ||
           v->kind == ITM_UNIT_RATE_IN || v->kind == ITM_UNIT_P0 || v->kind == ITM_UNIT_P1 ||
           v->kind == ITM_UNIT_THETA || v->kind == ITM_UNIT_USE_IMPULSES;
}

static bool is_parameter(const ItmUnitVariable* v)
{
    return v->kind == ITM_UNIT_PARAMETER || v->kind == ITM_UNIT_STEP;
}

void itm_export_add_attribute(ItmText* out, const char* name, const char* value)
{
    itm_text_format(out, " %s=\"", name);
    itm_text_add_html(out, value);
    itm_text_add(out, "\"");
}

void itm_export_add_number(ItmText* out, const char* name, double value)
{
    itm_text_format(out, " %s=\"", name);
    itm_text_add_number(out, value, 17);
    itm_text_add(out, "\"");
}

static void add_variable(Export* x, int i)
{
    const ItmUnitVariable* v = itm_unit_get_variable(x->unit, i);
    ItmText* out = &x->description;
    bool is_two = x->options->version == 2, has_unit = strcmp(v->unit, "1") != 0;
    bool is_time = v->kind == ITM_UNIT_TIME;
    const char* causality = is_time ? "independent" : is_parameter(v) ? "parameter" : is_input(v) ? "input" : "output";
    itm_text_add(out, is_two ? "    <ScalarVariable" : "    <Float64");
    itm_export_add_attribute(out, "name", v->name);
    itm_text_format(out, " valueReference=\"%d\" causality=\"%s\" variability=\"%s\"", i, causality,
                    v->is_tunable     ? "tunable"
                    : is_parameter(v) ? "fixed"
                                      : "continuous");
    if (!is_input(v) && !is_time) {
        itm_text_format(out, " initial=\"%s\"", is_parameter(v) ? "exact" : "calculated");
    }
    if (!is_two && (v->kind == ITM_UNIT_RATE_IN || v->kind == ITM_UNIT_POSITION_IN)) {
        itm_text_add(out, " intermediateUpdate=\"true\"");
    }
    itm_export_add_attribute(out, "description", v->description);
    itm_text_add(out, is_two ? "><Real" : "");
    if (has_unit) {
        itm_export_add_attribute(out, "unit", v->unit);
    }
    if (is_input(v) || is_parameter(v)) {
        itm_export_add_number(out, "start", v->start);
    }
    if (v->kind == ITM_UNIT_ACCELERATION) {
        itm_text_format(out, " derivative=\"%d\"", is_two ? i : i - 1);  // the rate stands before it
    }
    itm_text_add(out, is_two ? "/></ScalarVariable>\n" : "/>\n");
}

void itm_export_add_unit(ItmText* out, const char* prefix, const char* unit)
{
    static const char* const NAMES[] = {"m", "kg", "s", "A", "K"};
    ItmExportUnit base;
    itm_text_format(out, "    <%sUnit", prefix);
    itm_export_add_attribute(out, "name", unit);
    itm_text_format(out, "><%sBaseUnit", prefix);
    if (itm_export_read_unit(unit, &base)) {
        for (int i = 0; i < 5; i++) {
            if (base.e[i] != 0) {
                itm_text_format(out, " %s=\"%d\"", NAMES[i], base.e[i]);
            }
        }
        if (base.is_angle) {
            itm_text_add(out, " rad=\"1\"");
        }
    }
    itm_text_format(out, "/></%sUnit>\n", prefix);
}

static bool is_first_unit(const ItmUnit* unit, int i)
{
    const char* name = itm_unit_get_variable(unit, i)->unit;
    bool is_first = strcmp(name, "1") != 0;
    for (int k = 0; k < i && is_first; k++) {
        is_first = strcmp(itm_unit_get_variable(unit, k)->unit, name) != 0;
    }
    return is_first;
}

static void add_units(Export* x)
{
    itm_text_add(&x->description, "  <UnitDefinitions>\n");
    for (int i = 0; i < itm_unit_get_variable_count(x->unit); i++) {
        if (is_first_unit(x->unit, i)) {
            itm_export_add_unit(&x->description, "", itm_unit_get_variable(x->unit, i)->unit);
        }
    }
    itm_text_add(&x->description, "  </UnitDefinitions>\n");
}

// Outputs, and initial unknowns: all outputs.
static void add_structure(Export* x)
{
    ItmText* out = &x->description;
    bool is_two = x->options->version == 2;
    itm_text_add(out, "  <ModelStructure>\n");
    for (int pass = 0; pass < 2; pass++) {
        itm_text_add(out, !is_two ? "" : pass == 0 ? "    <Outputs>\n" : "    <InitialUnknowns>\n");
        for (int i = 0; i < itm_unit_get_variable_count(x->unit); i++) {
            const ItmUnitVariable* v = itm_unit_get_variable(x->unit, i);
            if (is_input(v) || is_parameter(v) || v->kind == ITM_UNIT_TIME) {
                continue;
            }
            if (is_two) {
                itm_text_format(out, "      <Unknown index=\"%d\"/>\n", i + 1);
            } else {
                itm_text_format(out, "    <%s valueReference=\"%d\"/>\n", pass == 0 ? "Output" : "InitialUnknown", i);
            }
        }
        itm_text_add(out, !is_two ? "" : pass == 0 ? "    </Outputs>\n" : "    </InitialUnknowns>\n");
    }
    itm_text_add(out, "  </ModelStructure>\n");
}

static void describe(Export* x)
{
    ItmText* out = &x->description;
    bool is_two = x->options->version == 2;
    const ItmModelFile* file = itm_unit_get_file(x->unit);
    itm_text_format(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiModelDescription fmiVersion=\"%s\"",
                    is_two ? "2.0" : "3.0");
    itm_export_add_attribute(out, "modelName", x->title[0] != '\0' ? x->title : x->identifier);
    itm_export_add_attribute(out, is_two ? "guid" : "instantiationToken", x->token);
    itm_text_add(out, " generationTool=\"Interim " ITM_VERSION "\"");
    itm_text_add(out, is_two ? " variableNamingConvention=\"flat\" numberOfEventIndicators=\"0\">\n"
                             : " variableNamingConvention=\"flat\">\n");
    itm_text_format(out, "  <CoSimulation modelIdentifier=\"%s\" canHandleVariableCommunicationStepSize=\"false\"",
                    x->identifier);
    itm_text_add(out, is_two ? " canGetAndSetFMUstate=\"true\" canSerializeFMUstate=\"true\""
                             : " canGetAndSetFMUState=\"true\" canSerializeFMUState=\"true\"");
    itm_text_format(out, " %s=\"%s\"", is_two ? "providesDirectionalDerivative" : "providesDirectionalDerivatives",
                    itm_unit_get_model_size(x->unit) > 0 ? "true" : "false");
    if (is_two) {
        itm_text_add(out, " canInterpolateInputs=\"true\"");
    } else {
        itm_text_add(out, " providesIntermediateUpdate=\"true\" mightReturnEarlyFromDoStep=\"true\"");
        itm_export_add_number(out, "fixedInternalStepSize",
                              itm_unit_get_variable(x->unit, itm_export_find_step(x->unit))->start);
    }
    itm_text_add(out, "/>\n");
    add_units(x);
    itm_text_add(out,
                 "  <LogCategories>\n    <Category name=\"logStatusError\" description=\"reason of a failed call\"/>\n"
                 "  </LogCategories>\n  <DefaultExperiment startTime=\"0\"");
    itm_export_add_number(out, "stopTime", file->run.duration);
    itm_export_add_number(out, "stepSize", itm_unit_get_variable(x->unit, itm_export_find_step(x->unit))->start);
    itm_text_add(out, "/>\n  <ModelVariables>\n");
    for (int i = 0; i < itm_unit_get_variable_count(x->unit); i++) {
        add_variable(x, i);
    }
    itm_text_add(out, "  </ModelVariables>\n");
    add_structure(x);
    itm_text_add(out, "</fmiModelDescription>\n");
}

// ---------------------------------------------------------------------------- terminals

static void add_member(ItmText* out, const char* indent, const ItmUnitVariable* v, const char* member)
{
    itm_text_format(out, "%s<TerminalMemberVariable", indent);
    itm_export_add_attribute(out, "variableName", v->name);
    itm_text_format(out, " memberName=\"%s\" variableKind=\"signal\"/>\n", member);
}

// A terminal per port, with its variables by their last word; of a mechanism a nested one with the interface model.
static void add_terminals(Export* x)
{
    ItmText* out = &x->terminals;
    int n = itm_unit_get_variable_count(x->unit);
    itm_text_add(
        out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiTerminalsAndIcons fmiVersion=\"3.0\">\n  <Terminals>\n");
    for (int i = 0; i < n; i++) {
        const ItmUnitVariable* v = itm_unit_get_variable(x->unit, i);
        bool is_first = v->kind == ITM_UNIT_FORCE_IN || v->kind == ITM_UNIT_POSITION_IN;
        if (!is_first) {
            continue;
        }
        size_t length = (size_t)(strrchr(v->name, '.') - v->name);
        itm_text_format(out,
                        "    <Terminal name=\"%.*s\" matchingRule=\"plug\" terminalKind=\"" ITM_LAYER_NAME ".port\">\n",
                        (int)length, v->name);
        for (int k = i; k < n; k++) {
            const ItmUnitVariable* other = itm_unit_get_variable(x->unit, k);
            bool is_same = strncmp(other->name, v->name, length + 1) == 0 &&
                           strchr(other->name + length + 1, '.') == NULL && other->kind != ITM_UNIT_OUTPUT;
            if (is_same) {
                add_member(out, "      ", other, other->name + length + 1);
            }
        }
        itm_text_add(out, "    </Terminal>\n");
    }
    if (itm_unit_get_model_size(x->unit) > 0) {
        itm_text_add(out,
                     "    <Terminal name=\"rim\" matchingRule=\"plug\" terminalKind=\"" ITM_LAYER_NAME ".model\">\n");
        for (int i = 0; i < n; i++) {
            const ItmUnitVariable* v = itm_unit_get_variable(x->unit, i);
            if (strncmp(v->name, "rim.", 4) == 0 && v->kind != ITM_UNIT_OUTPUT) {
                add_member(out, "      ", v, v->name + 4);
            }
        }
        itm_text_add(out, "    </Terminal>\n");
    }
    itm_text_add(out, "  </Terminals>\n</fmiTerminalsAndIcons>\n");
}

#define MANIFEST                                                                                                       \
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiLayeredStandardManifest "                                         \
    "xmlns:fmi-ls=\"http://fmi-standard.org/fmi-ls-manifest\" fmi-ls:fmi-ls-name=\"" ITM_LAYER_NAME                    \
    "\" fmi-ls:fmi-ls-version=\"" ITM_LAYER_VERSION                                                                    \
    "\" level=\"2\" fmi-ls:fmi-ls-description=\"Reduced interface model of a "                                         \
    "mechanism at its power ports\"/>\n"

// ---------------------------------------------------------------------------- archive

bool itm_export_add_bytes(zip_t* zip, const char* name, const void* bytes, size_t length)
{
    zip_source_t* source = zip_source_buffer(zip, bytes, length, 0);
    if (source == NULL || zip_file_add(zip, name, source, ZIP_FL_OVERWRITE | ZIP_FL_ENC_UTF_8) < 0) {
        zip_source_free(source);
        return false;
    }
    return true;
}

bool itm_export_add_file(zip_t* zip, const char* name, const char* path)
{
    zip_source_t* source = zip_source_file(zip, path, 0, -1);
    if (source == NULL || zip_file_add(zip, name, source, ZIP_FL_OVERWRITE | ZIP_FL_ENC_UTF_8) < 0) {
        zip_source_free(source);
        return false;
    }
    return true;
}

// The binary in a folder relative to a file, or NULL.
static char* find_beside(const char* file)
{
    static const char* const PLACES[] = {"interim_fmu.so", "interim/interim_fmu.so", ITM_FMU_BINARY_FROM_BIN};
    const char* slash = strrchr(file, '/');
    char* path = NULL;
    for (int i = 0; i < 3 && slash != NULL && path == NULL; i++) {
        size_t length = (size_t)(slash - file) + 1;
        path = calloc(length + strlen(PLACES[i]) + 1, 1);
        if (path == NULL) {
            return NULL;
        }
        memcpy(path, file, length);
        strcpy(path + length, PLACES[i]);
        if (access(path, R_OK) != 0) {
            free(path);
            path = NULL;
        }
    }
    return path;
}

// The binary: given, or where it is installed relative to the library or program that this function is in.
static char* find_binary(const ItmExportOptions* options, ItmError* error)
{
    Dl_info info = {0};
    char program[4096];
    union {
        ItmExportOptions (*function)(void);
        void* data;
    } here = {itm_default_export_options};
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = '\0';
    char* path = options->binary != NULL ? strdup(options->binary) : find_beside(program);
    if (path == NULL && dladdr(here.data, &info) != 0 && info.dli_fname != NULL) {
        path = find_beside(info.dli_fname);
    }
    if (path == NULL) {
        itm_error_set(error, ITM_ERR_IO, "itm_export_fmu", NULL,
                      "the binary of exported FMUs, interim_fmu.so, is not beside the library; name it (--binary)");
    }
    return path;
}

// ---------------------------------------------------------------------------- files of the model

static bool is_robot(const char* name)
{
    size_t n = strlen(name);
    return n > 5 && strcmp(name + n - 5, ".urdf") == 0;
}

static bool is_directory(const char* path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

// The mesh `name` of a robot, among the references that follow its own up to those of the next robot; ITM_NONE: it was not found.
static int find_mesh(const ItmModelFile* file, int robot, const char* name)
{
    for (int i = robot + 1; i < file->nreference && !is_robot(file->references[i].name); i++) {
        if (strcmp(file->references[i].name, name) == 0) {
            return i;
        }
    }
    return ITM_NONE;
}

static bool parse_robot(ItmUrdf* urdf, ItmDocument* doc, const char* path)
{
    const char* why = "";
    size_t length = 0;
    char* bytes = itm_bytes_read(path, ITM_URDF_MAX_BYTES, &length, &why);
    bool is_good = bytes != NULL && itm_urdf_parse(urdf, doc, bytes, length, path, NULL) == ITM_OK;
    free(bytes);
    return is_good;
}

// References that do not go into the FMU under their own names: meshes of robots, and folders of packages. is_apart (nreference)
static void mark_apart(const ItmModelFile* file, bool* is_apart)
{
    for (int i = 0; i < file->nreference; i++) {
        ItmUrdf urdf = {0};
        ItmDocument doc = {0};
        is_apart[i] = is_apart[i] || is_directory(file->references[i].path);
        if (is_robot(file->references[i].name) && parse_robot(&urdf, &doc, file->references[i].path)) {
            for (int k = 0; k < urdf.nshape; k++) {
                int mesh = urdf.shapes[k].kind == ITM_URDF_MESH ? find_mesh(file, i, urdf.shapes[k].file) : ITM_NONE;
                if (mesh != ITM_NONE) {
                    is_apart[mesh] = true;
                }
            }
        }
        itm_document_free(&doc);
    }
}

static void put_bytes(void* context, const void* bytes, size_t count)
{
    itm_text_add_bytes(context, bytes, count);
}

// A mesh of a robot goes into a folder beside it, numbered, because its name may lead anywhere. The name in the tables changes with it.
static bool add_mesh(zip_t* zip, const ItmModelFile* file, int robot, int mesh, ItmUrdfShape* shape, ItmDocument* doc)
{
    char name[320];
    const char *own = file->references[robot].name, *slash = strrchr(own, '/');
    const char* ending = strrchr(file->references[mesh].path, '.');
    snprintf(name, sizeof name, "%.200s.meshes/%d%.16s", slash != NULL ? slash + 1 : own, mesh - robot,
             ending != NULL ? ending : "");
    shape->file = itm_owned_copy_string(&doc->owned, name);
    snprintf(name, sizeof name, "resources/%.*s%s", slash != NULL ? (int)(slash + 1 - own) : 0, own,
             shape->file != NULL ? shape->file : "");
    return shape->file != NULL && itm_export_add_file(zip, name, file->references[mesh].path);
}

// A robot description as tables in place of XML.
static bool add_robot(zip_t* zip, Export* x, const ItmModelFile* file, int robot)
{
    char name[200];
    ItmUrdf urdf = {0};
    ItmDocument doc = {0};
    ItmText table = {0};
    bool is_good = parse_robot(&urdf, &doc, file->references[robot].path);
    for (int i = 0; i < urdf.nshape && is_good; i++) {
        ItmUrdfShape* shape = &urdf.shapes[i];
        int mesh = shape->kind == ITM_URDF_MESH ? find_mesh(file, robot, shape->file) : ITM_NONE;
        is_good = mesh == ITM_NONE || add_mesh(zip, file, robot, mesh, shape, &doc);
    }
    if (is_good) {
        itm_urdf_store(&urdf, put_bytes, &table);
        char* kept = table.has_failed ? NULL : itm_owned_take(&x->owned, table.length, 1);
        snprintf(name, sizeof name, "resources/%.180s", file->references[robot].name);
        is_good = kept != NULL && memcpy(kept, table.chars, table.length) != NULL &&
                  itm_export_add_bytes(zip, name, kept, table.length);
    }
    itm_text_free(&table);
    itm_document_free(&doc);
    return is_good;
}

static bool add_references(zip_t* zip, Export* x, const ItmModelFile* file)
{
    char name[200];
    bool* is_apart = itm_owned_take(&x->owned, (size_t)file->nreference + 1, sizeof *is_apart);
    bool is_good = is_apart != NULL;
    if (is_good) {
        mark_apart(file, is_apart);
    }
    for (int i = 0; i < file->nreference && is_good; i++) {
        if (is_robot(file->references[i].name)) {
            is_good = add_robot(zip, x, file, i);
        } else if (!is_apart[i]) {
            snprintf(name, sizeof name, "resources/%.180s", file->references[i].name);
            is_good = itm_export_add_file(zip, name, file->references[i].path);
        }
    }
    return is_good;
}

static bool fill_archive(zip_t* zip, Export* x, const char* binary)
{
    char name[200];
    const ItmModelFile* file = itm_unit_get_file(x->unit);
    bool is_two = x->options->version == 2;
    snprintf(name, sizeof name, "binaries/%s/%s.so", is_two ? "linux64" : "x86_64-linux", x->identifier);
    bool is_good = itm_export_add_bytes(zip, "modelDescription.xml", x->description.chars, x->description.length) &&
                   itm_export_add_bytes(zip, "resources/model.tree", x->tree.chars, x->tree.length) &&
                   itm_export_add_bytes(zip, "resources/ports.txt", x->ports.chars, x->ports.length) &&
                   itm_export_add_file(zip, name, binary);
    is_good = is_good && add_references(zip, x, file);
    if (is_good && x->has_ports) {
        is_good = itm_export_add_bytes(zip, "terminalsAndIcons/terminalsAndIcons.xml", x->terminals.chars,
                                       x->terminals.length);
    }
    if (is_good && itm_unit_get_model_size(x->unit) > 0) {
        is_good = itm_export_add_bytes(zip, ITM_LAYER_MANIFEST, MANIFEST, sizeof MANIFEST - 1);
    }
    return is_good;
}

ItmStatus itm_export_open_archive(zip_t** zip, const char* path, ItmError* error)
{
    int code = 0;
    *zip = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, &code);
    if (*zip == NULL) {
        zip_error_t reason;
        zip_error_init_with_code(&reason, code);
        itm_error_set(error, ITM_ERR_IO, "itm_export", NULL, "cannot write '%s': %s", path,
                      zip_error_strerror(&reason));
        zip_error_fini(&reason);
    }
    return *zip != NULL ? ITM_OK : ITM_ERR_IO;
}

ItmStatus itm_export_close_archive(zip_t* zip, bool is_good, const char* path, ItmError* error)
{
    if (is_good && zip_close(zip) == 0) {
        return ITM_OK;
    }
    itm_error_set(error, ITM_ERR_IO, "itm_export", NULL, "cannot write '%s': %s", path, zip_strerror(zip));
    zip_discard(zip);
    return ITM_ERR_IO;
}

static ItmStatus write_archive(Export* x, const char* path, ItmError* error)
{
    char* binary = find_binary(x->options, error);
    zip_t* zip = NULL;
    ItmStatus status = binary != NULL ? itm_export_open_archive(&zip, path, error) : ITM_ERR_IO;
    if (status == ITM_OK) {
        status = itm_export_close_archive(zip, fill_archive(zip, x, binary), path, error);
    }
    free(binary);
    return status;
}

// ---------------------------------------------------------------------------- the whole

static ItmStatus check_options(const ItmExportOptions* o, ItmError* error)
{
    return o->version == 2 || o->version == 3 ? ITM_OK
                                              : itm_error_set(error, ITM_ERR_ARGUMENT, "itm_export_fmu", "version",
                                                              "FMI %d: FMUs are of version 2 or 3", o->version);
}

// Referred files keep their names below the resources.
static ItmStatus check_references(Export* x, const ItmModelFile* file, ItmError* error)
{
    bool* is_apart = itm_owned_take(&x->owned, (size_t)file->nreference + 1, sizeof *is_apart);
    if (is_apart == NULL) {
        return itm_error_set(error, ITM_ERR_MEMORY, "itm_export_fmu", NULL, "out of memory");
    }
    mark_apart(file, is_apart);
    for (int i = 0; i < file->nreference; i++) {
        const char* name = file->references[i].name;
        size_t n = strlen(name);
        if (is_apart[i]) {
            continue;
        }
        if (n > 4 && (strcmp(name + n - 4, ".fmu") == 0 || strcmp(name + n - 4, ".ssp") == 0)) {
            return itm_error_set(error, ITM_ERR_UNSUPPORTED, "itm_export_fmu", NULL,
                                 "the model runs the FMU '%s': an FMU cannot hold another; export the other parts "
                                 "(--part), and couple the FMUs in a model of their own",
                                 name);
        }
        if (name[0] == '/' || strstr(name, "..") != NULL) {
            return itm_error_set(error, ITM_ERR_UNSUPPORTED, "itm_export_fmu", NULL,
                                 "the model refers to '%s': an FMU holds files from the folder of the model or below",
                                 name);
        }
    }
    return ITM_OK;
}

// The binary of FMUs has no SUNDIALS.
static ItmStatus check_integrators(const ItmModelFile* file, ItmError* error)
{
    if (file->run.step.stepper == ITM_STEPPER_REFERENCE) {
        return itm_error_set(error, ITM_ERR_UNSUPPORTED, "itm_export_fmu", "run.stepper",
                             "an FMU has no stepper 'reference'; export with --set run.stepper=euler and a small step");
    }
    for (int i = 0; i < file->ncircuit; i++) {
        if (file->circuits[i].options.integrator == ITM_HYDRAULIC_ADAPTIVE) {
            return itm_error_set(error, ITM_ERR_UNSUPPORTED, "itm_export_fmu", file->circuits[i].name,
                                 "circuit '%s': an FMU has no integrator 'adaptive'; export with --set "
                                 "subsystems.%s.integrator=trapezoidal",
                                 file->circuits[i].name, file->circuits[i].name);
        }
    }
    return ITM_OK;
}

// Parameters that may change while the FMU runs, in the variables and in the list of ports.
static void note_tunable(Export* x, const ItmNode* root)
{
    const ItmModelFile* file = itm_unit_get_file(x->unit);
    for (int i = 0; i < file->nparameter; i++) {
        const ItmFileParameter* p = &file->parameters[i];
        if (!p->is_calculated && itm_export_is_tunable(root, p->name)) {
            itm_unit_allow_tuning(x->unit, p->name);
            itm_text_format(&x->ports, "tunable\t%s\n", p->name);
        }
    }
}

// Everything but the archive, from the part of the model that is exported.
static ItmStatus prepare(Export* x, const char* path, const ItmExportTree* part, ItmError* error)
{
    itm_tree_write(&x->tree, part->doc.root);
    for (int i = 0; i < part->nport; i++) {
        itm_text_format(&x->ports, "%s\t%s\t%s", part->ports[i].is_mechanism ? "mechanism" : "subsystem",
                        part->ports[i].part, part->ports[i].name);
        unsigned long long bits;  // of the start position: exact, and the same in every locale
        memcpy(&bits, &part->ports[i].start, sizeof bits);
        itm_text_format(&x->ports, "\t%llx\n", bits);
    }
    x->has_ports = part->nport > 0;
    make_identifier(x->identifier, sizeof x->identifier, path);
    make_token(x->token, sizeof x->token, &x->tree, &x->ports);
    itm_text_format(&x->ports, "token\t%s\n", x->token);
    ItmStatus status = itm_unit_create(&x->unit, x->tree.chars, x->tree.length, path, part->ports, part->nport, error);
    if (status != ITM_OK) {
        return status;
    }
    note_tunable(x, part->doc.root);
    status = check_references(x, itm_unit_get_file(x->unit), error);
    status = status == ITM_OK ? check_integrators(itm_unit_get_file(x->unit), error) : status;
    if (status != ITM_OK) {
        return status;
    }
    x->title = itm_unit_get_file(x->unit)->title;
    describe(x);
    add_terminals(x);
    bool has_failed = x->tree.has_failed || x->ports.has_failed || x->description.has_failed || x->terminals.has_failed;
    return has_failed ? itm_error_set(error, ITM_ERR_MEMORY, "itm_export_fmu", NULL, "out of memory") : ITM_OK;
}

static bool is_end(const char* end, const ItmUnitPort* port)
{
    size_t length = strlen(port->part);
    return strncmp(end, port->part, length) == 0 && end[length] == '.' && strcmp(end + length + 1, port->name) == 0;
}

static bool has_static_start(const ItmModelFile* file, const char* circuit)
{
    bool has = false;
    for (int i = 0; i < file->ncircuit; i++) {
        has = has || (strcmp(file->circuits[i].name, circuit) == 0 && file->circuits[i].is_static);
    }
    return has;
}

// The static start of a circuit that is exported without its mechanism: the forces of its cylinders are those of the whole model.
static ItmStatus hold_static(ItmExportTree* part, const ItmUnitPort* port, const ItmBondState* state, ItmError* error)
{
    ItmText text = {0};
    const ItmNode* subsystems = itm_document_find(part->doc.root, "subsystems");
    const ItmNode* start = itm_document_find(itm_document_find(subsystems, port->part), "start");
    ItmStatus status = ITM_OK;
    if (start != NULL && start->kind == ITM_NODE_SCALAR) {
        itm_text_format(&text, "subsystems.%s.start={static: {}}", port->part);
        status = itm_override_apply(&part->doc, text.chars, error);
        text.length = 0;
    }
    itm_text_format(&text, "subsystems.%s.start.static.force.%s=", port->part, port->name);
    itm_text_add_number(&text, state->force, 17);
    itm_text_add(&text, " N");
    status = status == ITM_OK ? itm_override_apply(&part->doc, text.chars, error) : status;
    itm_text_free(&text);
    return status;
}

// A port at either end of a bond starts at its position.
static ItmStatus note_start(ItmExportTree* part, const ItmModelFile* file, const ItmFileBond* bond,
                            const ItmBondState* state, ItmError* error)
{
    ItmStatus status = ITM_OK;
    for (int i = 0; i < part->nport && status == ITM_OK; i++) {
        ItmUnitPort* port = &part->ports[i];
        if (is_end(port->is_mechanism ? bond->actuator : bond->port, port)) {
            port->start = state->length;
            // motors have no given torque at the start
            bool is_held = !port->is_mechanism && !state->is_rotary && has_static_start(file, port->part);
            status = is_held ? hold_static(part, port, state, error) : ITM_OK;
        }
    }
    return status;
}

static bool is_frame_bond(const ItmModelFile* file, const ItmFileBond* bond)
{
    size_t length = strcspn(bond->port, ".");
    bool is = false;
    for (int i = 0; i < file->nmechanism; i++) {
        is = is ||
             (strlen(file->mechanisms[i].name) == length && strncmp(file->mechanisms[i].name, bond->port, length) == 0);
    }
    return is;
}

// The whole model, of which parts are exported: it must be good, and its bonds have the start positions of the ports. Without the
// overrides of the macro step, because that of a part need not fit the others.
static ItmStatus read_start(ItmExportTree* part, const char* model, const ItmExportOptions* o, ItmError* error)
{
    ItmModelFile* file = NULL;
    ItmCosim* cosim = NULL;
    const char** overrides = calloc((size_t)o->noverride + 1, sizeof *overrides);
    int n = 0;
    for (int i = 0; i < o->noverride && overrides != NULL; i++) {
        if (strncmp(o->overrides[i], "cosim.macro_step", 16) != 0) {
            overrides[n++] = o->overrides[i];
        }
    }
    ItmStatus status = overrides != NULL
                           ? itm_file_load(&file, model, overrides, n, error)
                           : itm_error_set(error, ITM_ERR_MEMORY, "itm_export_fmu", NULL, "out of memory");
    if (status == ITM_OK && part->nport > 0 && itm_file_create_cosim(&cosim, file, NULL, NULL) == ITM_OK) {
        int bond = 0;  // of the system, which numbers those at frames apart
        for (int i = 0; i < file->cosim.nbond && status == ITM_OK; i++) {
            if (!is_frame_bond(file, &file->cosim.bonds[i])) {
                ItmBondState state = itm_cosim_get_bond(cosim, bond++);
                status = note_start(part, file, &file->cosim.bonds[i], &state, error);
            }
        }
    }
    itm_cosim_destroy(cosim);
    itm_file_destroy(file);
    free(overrides);
    return status;
}

// A model of a stranger must stay in its folder: what it refers to is copied into the FMU.
static ItmStatus check_sandbox(const char* model, const ItmExportOptions* o, ItmError* error)
{
    ItmModelFile* file = NULL;
    ItmStatus status = ITM_OK;
    if (o->sandbox != NULL) {
        status = itm_file_load_below(&file, model, o->sandbox, o->overrides, o->noverride, error);
        itm_file_destroy(file);
    }
    return status;
}

ItmStatus itm_export_fmu(const char* model, const char* fmu, const ItmExportOptions* options, ItmError* error)
{
    ItmExportOptions chosen = options != NULL ? *options : itm_default_export_options();
    if (model == NULL || fmu == NULL) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "model or path of the FMU is NULL");
    }
    ItmStatus status = check_options(&chosen, error);
    if (status != ITM_OK) {
        return status;
    }
    ItmExportTree part = {0};
    Export x = {.options = &chosen};
    status = check_sandbox(model, &chosen, error);
    status = status == ITM_OK ? itm_export_read_tree(&part, model, &chosen, error) : status;
    if (status == ITM_OK && chosen.npart > 0) {
        status = read_start(&part, model, &chosen, error);
    }
    status = status == ITM_OK ? prepare(&x, model, &part, error) : status;
    status = status == ITM_OK ? write_archive(&x, fmu, error) : status;
    itm_unit_destroy(x.unit);
    itm_text_free(&x.description);
    itm_text_free(&x.terminals);
    itm_text_free(&x.ports);
    itm_text_free(&x.tree);
    itm_owned_free(&x.owned);
    itm_export_free_tree(&part);
    return status;
}
