// Files beside modelDescription.xml: binaries, sources, terminals, layered standards.
#include "fmi/description_private.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LAYER_NAMESPACE "http://fmi-standard.org/fmi-ls-manifest"

// ---------------------------------------------------------------------------- platforms

#if defined(__x86_64__)
#define OUR_TUPLE "x86_64-linux"
#elif defined(__aarch64__)
#define OUR_TUPLE "aarch64-linux"
#else
#define OUR_TUPLE "other"
#endif

// Names of FMI 2.0 for tuples of FMI 3.0; those are their own names.
static const char* get_tuple(const char* name)
{
    static const char* const TUPLES[][2] = {
        {"win32", "x86-windows"},    {"win64", "x86_64-windows"},   {"linux32", "x86-linux"},
        {"linux64", "x86_64-linux"}, {"darwin64", "x86_64-darwin"}, {"x86-windows", NULL},
        {"x86_64-windows", NULL},    {"aarch64-windows", NULL},     {"x86-linux", NULL},
        {"x86_64-linux", NULL},      {"aarch32-linux", NULL},       {"aarch64-linux", NULL},
        {"x86_64-darwin", NULL},     {"aarch64-darwin", NULL},      {"riscv64-linux", NULL}};
    for (int i = 0; i < ITM_COUNT_OF(TUPLES); i++) {
        if (strcmp(name, TUPLES[i][0]) == 0) {
            return TUPLES[i][1] != NULL ? TUPLES[i][1] : TUPLES[i][0];
        }
    }
    return NULL;
}

static bool ends_with(const char* text, const char* end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static bool is_library(const char* name)
{
    return ends_with(name, ".so") || ends_with(name, ".dll") || ends_with(name, ".dylib");
}

// Length of "binaries/<platform>/" at the start of a name, or 0.
static size_t get_platform_length(const char* name)
{
    const char* start = "binaries/";
    const char* slash = strncmp(name, start, strlen(start)) == 0 ? strchr(name + strlen(start), '/') : NULL;
    return slash != NULL ? (size_t)(slash - name) + 1 : 0;
}

// The library of a model identifier in a folder of binaries; where there is none, the only library there.
static const char* find_library(const ItmArchive* archive, const char* folder, const char* identifier, bool* is_named)
{
    size_t n = strlen(folder);
    const char* only = NULL;
    int count = 0;
    *is_named = false;
    for (int i = 0; i < itm_archive_get_count(archive); i++) {
        const char* name = itm_archive_get_file(archive, i)->name;
        if (strncmp(name, folder, n) != 0 || strchr(name + n, '/') != NULL || !is_library(name)) {
            continue;
        }
        size_t stem = (size_t)(strrchr(name, '.') - name) - n;
        if (strlen(identifier) == stem && strncmp(name + n, identifier, stem) == 0) {
            *is_named = true;
            return name;
        }
        only = name;
        count++;
    }
    return count == 1 ? only : NULL;
}

static const char* get_identifier(const ItmFmiDescription* d)
{
    const ItmFmiKind* co_simulation = &d->kinds[ITM_FMI_CO_SIMULATION];
    return co_simulation->is_present ? co_simulation->model_identifier
                                     : d->kinds[ITM_FMI_MODEL_EXCHANGE].model_identifier;
}

const char* itm_description_get_library(const ItmFmiDescription* d, const ItmArchive* archive, int kind)
{
    const char* best = NULL;
    for (int i = 0; i < d->nplatform && d->kinds[kind].is_present; i++) {
        char folder[300];
        bool is_named = false;
        snprintf(folder, sizeof folder, "binaries/%.200s/", d->platforms[i].name);
        const char* library =
            d->platforms[i].is_ours ? find_library(archive, folder, d->kinds[kind].model_identifier, &is_named) : NULL;
        best = library != NULL && (best == NULL || is_named) ? library : best;
    }
    return best;
}

static void note_platform(ItmFmiParser* p, const ItmFmiPlatform* platform, bool is_named)
{
    ItmFmiFindings* f = &p->d->reading->findings;
    bool is_new_name = platform->tuple != NULL && strcmp(platform->name, platform->tuple) == 0;
    if (platform->tuple == NULL) {
        itm_description_find_fault(f, ITM_FMI_WARNING, 0, 0, "platforms", "binaries/%.100s: the platform is unknown",
                                   platform->name);
    } else if (is_new_name != (p->d->major == 3)) {
        itm_description_find_fault(f, ITM_FMI_NOTE, 0, 0, "platforms",
                                   "binaries/%.100s is named as in FMI %d.0; it is accepted", platform->name,
                                   is_new_name ? 3 : 2);
    }
    if (platform->library == NULL) {
        itm_description_find_fault(f, ITM_FMI_WARNING, 0, 0, "platforms", "binaries/%.100s has no library '%.100s'",
                                   platform->name, get_identifier(p->d));
    } else if (!is_named) {
        itm_description_find_fault(
            f, ITM_FMI_WARNING, 0, 0, "platforms",
            "%.200s is not named after the model identifier '%.100s'; it is the only library there and "
            "is taken",
            platform->library, get_identifier(p->d));
    }
}

static void read_platforms(ItmFmiParser* p, const ItmArchive* archive)
{
    int count = itm_archive_get_count(archive), n = 0;
    ItmFmiPlatform* platforms = itm_description_take(p, (size_t)count, sizeof *platforms);
    char last[300] = "";
    for (int i = 0; i < count && platforms != NULL && p->status == ITM_OK; i++) {
        const char* name = itm_archive_get_file(archive, i)->name;
        size_t length = get_platform_length(name);
        // files are sorted: those of one folder follow one another
        if (length == 0 || length >= sizeof last || strncmp(name, last, length) == 0) {
            continue;
        }
        snprintf(last, sizeof last, "%.*s", (int)length, name);
        char short_name[300];
        snprintf(short_name, sizeof short_name, "%.*s", (int)(length - 10), name + 9);
        ItmFmiPlatform* platform = &platforms[n++];
        bool is_named = false;
        const char* library = find_library(archive, last, get_identifier(p->d), &is_named);
        platform->name = itm_description_keep(p, short_name);
        platform->tuple = get_tuple(short_name);
        platform->is_ours = platform->tuple != NULL && strcmp(platform->tuple, OUR_TUPLE) == 0;
        platform->library = library != NULL ? itm_description_keep(p, library) : NULL;
        note_platform(p, platform, is_named);
    }
    p->d->platforms = platforms;
    p->d->nplatform = n;
}

static void count_sources(ItmFmiDescription* d, const ItmArchive* archive)
{
    for (int i = 0; i < itm_archive_get_count(archive); i++) {
        d->nsource += strncmp(itm_archive_get_file(archive, i)->name, "sources/", 8) == 0;
    }
}

static void note_backslashes(ItmFmiDescription* d, const ItmArchive* archive)
{
    int count = 0;
    for (int i = 0; i < itm_archive_get_count(archive); i++) {
        count += itm_archive_get_file(archive, i)->had_backslashes;
    }
    if (count > 0) {
        itm_description_find_fault(&d->reading->findings, ITM_FMI_WARNING, 0, 0, "archive",
                                   "%d names in the archive have backslashes; they are taken as separators", count);
    }
}

// ---------------------------------------------------------------------------- XML files beside it

// Read an XML file of the archive. A file that cannot be read is a finding: the FMU runs without it.
static bool read_xml(ItmFmiParser* p, ItmXml* xml, ItmArchive* archive, const char* name)
{
    char* bytes = NULL;
    size_t length = 0;
    ItmError error = {0};
    char file[256];
    snprintf(file, sizeof file, "%.100s!%.150s", itm_archive_get_path(archive), name);
    ItmStatus status = itm_archive_read(archive, &bytes, &length, name, ITM_XML_MAX_BYTES, &error);
    if (status == ITM_OK) {
        status = itm_xml_parse(xml, bytes, length, file, &error);
    }
    free(bytes);
    if (status == ITM_ERR_MEMORY) {
        itm_description_fail_memory(p);
    } else if (status != ITM_OK) {
        itm_description_find_fault(&p->d->reading->findings, ITM_FMI_WARNING, 0, 0, "other files",
                                   "%.150s, line %d: %s; it is ignored", name, error.line, error.message);
    }
    return status == ITM_OK;
}

// ---------------------------------------------------------------------------- terminals

static int count_terminals(const ItmXmlNode* list)
{
    int count = 0;
    for (const ItmXmlNode* node = list != NULL ? list->first : NULL; node != NULL; node = node->next) {
        count += itm_xml_is(node, "Terminal") ? 1 + count_terminals(node) : 0;
    }
    return count;
}

static void read_members(ItmFmiParser* p, const ItmXmlNode* node, ItmFmiTerminal* t)
{
    ItmFmiMember* members =
        itm_description_take(p, (size_t)itm_description_count(node, "TerminalMemberVariable"), sizeof *members);
    for (const ItmXmlNode* child = node->first; child != NULL && members != NULL; child = child->next) {
        if (!itm_xml_is(child, "TerminalMemberVariable")) {
            continue;
        }
        ItmFmiMember* m = &members[t->nmember++];
        m->variable = itm_description_get_text(p, child, "variableName", "");
        m->member = itm_description_get_text(p, child, "memberName", "");
        m->kind = itm_description_get_text(p, child, "variableKind", "");
        m->variable_id = itm_description_find(p->d, m->variable);
        if (m->variable_id == ITM_NONE) {
            itm_description_find_fault(&p->d->reading->findings, ITM_FMI_WARNING, 0, 0, "terminals",
                                       "terminal '%.100s': the description has no variable '%.100s'", t->name,
                                       m->variable);
        }
    }
    t->members = members;
}

static void read_terminals(ItmFmiParser* p, const ItmXmlNode* list, ItmFmiTerminal* terminals, int parent)
{
    for (const ItmXmlNode* node = list != NULL ? list->first : NULL; node != NULL && p->status == ITM_OK;
         node = node->next) {
        if (!itm_xml_is(node, "Terminal")) {
            continue;
        }
        int index = p->d->nterminal++;
        ItmFmiTerminal* t = &terminals[index];
        const char* name = itm_xml_get(node, "name");
        char full[512];
        snprintf(full, sizeof full, "%.250s%s%.250s", parent != ITM_NONE ? terminals[parent].name : "",
                 parent != ITM_NONE ? "." : "", name != NULL ? name : "");
        t->name = itm_description_keep(p, full);
        t->matching_rule = itm_description_get_text(p, node, "matchingRule", "");
        t->kind = itm_description_get_text(p, node, "terminalKind", "");
        t->description = itm_description_get_text(p, node, "description", "");
        t->parent = parent;
        read_members(p, node, t);
        read_terminals(p, node, terminals, index);
    }
}

static void read_terminals_file(ItmFmiParser* p, ItmArchive* archive)
{
    const char* name = "terminalsAndIcons/terminalsAndIcons.xml";
    ItmXml xml = {0};
    if (itm_archive_find(archive, name) == ITM_NONE || !read_xml(p, &xml, archive, name)) {
        return;
    }
    const ItmXmlNode* list = itm_xml_find(xml.root, "Terminals");
    ItmFmiTerminal* terminals = itm_description_take(p, (size_t)count_terminals(list), sizeof *terminals);
    if (terminals != NULL) {
        read_terminals(p, list, terminals, ITM_NONE);
        p->d->terminals = terminals;
    }
    itm_xml_free(&xml);
}

// ---------------------------------------------------------------------------- layered standards

static const char* get_layer_attribute(ItmFmiParser* p, const ItmXmlNode* root, const char* name)
{
    for (int i = 0; i < root->nattribute; i++) {
        const ItmXmlAttribute* a = &root->attributes[i];
        if (a->name_space != NULL && strcmp(a->name_space, LAYER_NAMESPACE) == 0 && strcmp(a->name, name) == 0) {
            return itm_description_keep(p, a->value);
        }
    }
    return "";
}

// extra/<folder>/fmi-ls-manifest.xml
static bool is_manifest(const char* name)
{
    const char* slash = strncmp(name, "extra/", 6) == 0 ? strchr(name + 6, '/') : NULL;
    return slash != NULL && strcmp(slash + 1, "fmi-ls-manifest.xml") == 0;
}

static void read_layers(ItmFmiParser* p, ItmArchive* archive)
{
    int count = 0;
    for (int i = 0; i < itm_archive_get_count(archive); i++) {
        count += is_manifest(itm_archive_get_file(archive, i)->name);
    }
    ItmFmiLayer* layers = itm_description_take(p, (size_t)count, sizeof *layers);
    for (int i = 0; i < itm_archive_get_count(archive) && layers != NULL && p->status == ITM_OK; i++) {
        const char* name = itm_archive_get_file(archive, i)->name;
        ItmXml xml = {0};
        if (!is_manifest(name) || !read_xml(p, &xml, archive, name)) {
            continue;
        }
        char folder[300];
        snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(name, '/') - name), name);
        layers[p->d->nlayer++] = (ItmFmiLayer){
            itm_description_keep(p, folder), get_layer_attribute(p, xml.root, "fmi-ls-name"),
            get_layer_attribute(p, xml.root, "fmi-ls-version"), get_layer_attribute(p, xml.root, "fmi-ls-description")};
        itm_xml_free(&xml);
    }
    p->d->layers = layers;
}

ItmStatus itm_description_read_files(ItmFmiDescription* d, ItmArchive* archive, ItmError* error)
{
    ItmFmiParser p = {.d = d, .error = error};
    note_backslashes(d, archive);
    read_platforms(&p, archive);
    count_sources(d, archive);
    read_terminals_file(&p, archive);
    read_layers(&p, archive);
    return p.status;
}
