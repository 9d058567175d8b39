// System structures: how nested systems are flattened, where values end up, what is refused or noted, and the model file that
// they become.
#define _DEFAULT_SOURCE  // realpath
#include "archive_file.h"

#include "../system.h"

#include "fmi/ssp.h"
#include "io/model/file.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD                                                                                                                                  \
    "<ssd:SystemStructureDescription name='n' version='1.0' xmlns:ssd='http://ssp-standard.org/SSP1/SystemStructureDescription' "             \
    "xmlns:ssc='http://ssp-standard.org/SSP1/SystemStructureCommon' xmlns:ssv='http://ssp-standard.org/SSP1/SystemStructureParameterValues' " \
    "xmlns:ssm='http://ssp-standard.org/SSP1/SystemStructureParameterMapping'>\n"
#define TAIL "</ssd:SystemStructureDescription>\n"
#define COMPONENT(name, inside)                                                                                        \
    "<ssd:Component name='" name "' source='resources/" name ".fmu'>" inside "</ssd:Component>\n"
#define CONNECT(a, x, b, y, inside)                                                                                    \
    "<ssd:Connection startElement='" a "' startConnector='" x "' endElement='" b "' endConnector='" y "'>" inside      \
    "</ssd:Connection>\n"
#define SCALE(factor, offset) "<ssc:LinearTransformation factor='" factor "' offset='" offset "'/>"
#define VALUES(parameters)                                                                                             \
    "<ssv:ParameterSet version='1.0' name='v'><ssv:Parameters>" parameters "</ssv:Parameters></ssv:ParameterSet>"
#define BIND(parameters)                                                                                               \
    "<ssd:ParameterBindings><ssd:ParameterBinding><ssd:ParameterValues>" VALUES(                                       \
        parameters) "</ssd:ParameterValues></ssd:ParameterBinding></ssd:ParameterBindings>"
#define REAL(name, value) "<ssv:Parameter name='" name "'><ssv:Real value='" value "'/></ssv:Parameter>"

static ItmSsp* accept(const char* xml)
{
    ItmSsp* ssp = NULL;
    ItmError error = {0};
    if (itm_ssp_parse(&ssp, xml, strlen(xml), "s.ssp!SystemStructure.ssd", &error) != ITM_OK) {
        fail_msg("%s:%d:%d: %s\n%s", error.file, error.line, error.column, error.message, xml);
    }
    return ssp;
}

static void refuse_with(const char* xml, int line, const char* words)
{
    ItmSsp* ssp = NULL;
    ItmError error = {0};
    ItmStatus status = itm_ssp_parse(&ssp, xml, strlen(xml), "s.ssp!SystemStructure.ssd", &error);
    if (status != ITM_ERR_INPUT || error.line != line || strstr(error.message, words) == NULL) {
        fail_msg("expected line %d '%s', got status %d line %d: %s", line, words, (int)status, error.line,
                 error.message);
    }
}

static const ItmSspValue* find_value(const ItmSsp* ssp, int component, const char* name)
{
    const ItmSspValues* values = &ssp->components.items[component].values;
    for (int i = 0; i < values->count; i++) {
        if (strcmp(values->items[i].name, name) == 0) {
            return &values->items[i];
        }
    }
    fail_msg("component %d has no value of '%s'", component, name);
    return NULL;
}

// ---------------------------------------------------------------------------- reading

// a.y -> (2 y + 1) -> system.u -> (10 u + 5) -> inner.b.u: 20 y + 15
static void nested_systems_are_flattened(void** state)
{
    (void)state;
    ItmSsp* ssp = accept(
        HEAD
        "<ssd:System name='root'><ssd:Elements>\n" COMPONENT("a", "") "<ssd:System name='inner'><ssd:Connectors><ssd:Connector name='u' kind='input'/></ssd:Connectors><ssd:Elements>\n" COMPONENT(
            "b",
            "") "</ssd:Elements><ssd:Connections>\n"
                "<ssd:Connection startConnector='u' endElement='b' endConnector='u'>" SCALE(
                    "10",
                    "5") "</ssd:Connection>\n"
                         "<ssd:Connection startElement='b' startConnector='y' endConnector='out'/>\n"
                         "</ssd:Connections></ssd:System>\n"
                         "</ssd:Elements><ssd:Connections>\n" CONNECT("a", "y", "inner", "u", SCALE("2", "1")) CONNECT(
                             "inner", "out", "a", "u",
                             "") "</ssd:Connections></ssd:System><ssd:DefaultExperiment startTime='1' stopTime='3.5'/>" TAIL);
    assert_int_equal(ssp->components.count, 2);
    assert_string_equal(ssp->components.items[0].name, "a");
    assert_string_equal(ssp->components.items[1].path, "inner/b");
    assert_string_equal(ssp->components.items[1].name, "inner-b");
    assert_int_equal(ssp->connections.count, 2);
    const ItmSspConnection* c = ssp->connections.items;
    int forward = c[0].from == 0 ? 0 : 1;
    assert_int_equal(c[forward].to, 1);
    assert_string_equal(c[forward].from_connector, "y");
    assert_string_equal(c[forward].to_connector, "u");
    CHECK_NEAR(c[forward].factor, 20.0, 0.0);
    CHECK_NEAR(c[forward].offset, 15.0, 0.0);
    assert_true(c[1 - forward].from == 1 && c[1 - forward].to == 0 && c[1 - forward].factor == 1.0);
    assert_true(ssp->start_time == 1.0 && ssp->stop_time == 3.5);
    assert_int_equal(ssp->notes.count, 0);
    itm_ssp_destroy(ssp);
}

static void values_reach_components(void** state)
{
    (void)state;
    ItmSsp* ssp = accept(
        HEAD
        "<ssd:System name='root'>\n"
        "<ssd:ParameterBindings>\n"
        "<ssd:ParameterBinding prefix='inner.'><ssd:ParameterValues>" VALUES(REAL(
            "b.k",
            "7")) "</ssd:ParameterValues></ssd:ParameterBinding>\n"
                  "<ssd:ParameterBinding><ssd:ParameterValues>" VALUES(REAL("stiffness", "3") REAL("other", "1") REAL(
                      "gain",
                      "4")) "</ssd:ParameterValues>\n"
                            "<ssd:ParameterMapping><ssm:ParameterMapping version='1.0'><ssm:MappingEntry source='stiffness' target='a.c'>" SCALE(
                                "1000",
                                "1") "</ssm:MappingEntry><ssm:MappingEntry source='gain' target='g'/></ssm:ParameterMapping></ssd:ParameterMapping></ssd:ParameterBinding>\n"
                                     "</ssd:ParameterBindings>\n"
                                     "<ssd:Elements>\n" COMPONENT("a", BIND(REAL("c", "1") REAL("p", "210") "<ssv:Parameter name='s'><ssv:String value='1 2'/></ssv:Parameter>")) "<ssd:System name='inner'><ssd:Elements>\n" COMPONENT(
                                         "b",
                                         BIND(REAL(
                                             "k",
                                             "5"))) "</ssd:Elements></ssd:System>\n"
                                                    "</ssd:Elements><ssd:Connections><ssd:Connection startConnector='g' endElement='a' endConnector='gain_in'>" SCALE(
                                                        "2",
                                                        "0") "</ssd:Connection></ssd:Connections></ssd:System>" TAIL);
    assert_string_equal(find_value(ssp, 0, "c")->text, "3001");  // from outside, mapped and scaled, instead of 1
    assert_string_equal(find_value(ssp, 0, "p")->text, "210");
    assert_true(find_value(ssp, 0, "s")->is_text);
    assert_string_equal(find_value(ssp, 1, "k")->text, "7");        // prefix and path
    assert_string_equal(find_value(ssp, 0, "gain_in")->text, "8");  // through a connector of the system
    assert_int_equal(ssp->notes.count, 1);
    assert_non_null(strstr(ssp->notes.items[0], "parameter 'other' is not mapped"));
    itm_ssp_destroy(ssp);
}

static void unused_parts_are_named(void** state)
{
    (void)state;
    ItmSsp* ssp = accept(HEAD "<ssd:System name='root'>\n<ssd:SignalDictionaries/>\n<ssd:Elements>" COMPONENT(
        "a",
        "<ssd:Annotations><ssc:Annotation type='org.other'/></ssd:Annotations>") "<ssd:SignalDictionaryReference name='d' dictionary='e'/>"
                                                                                 "</ssd:Elements><ssd:Connections><ssd:Connection startConnector='u' endElement='a' endConnector='u' suppressUnitConversion='true'/></ssd:Connections></ssd:System><ssd:Surprise/>" TAIL);
    static const char* const WORDS[] = {"<Surprise> in <SystemStructureDescription>",
                                        "<SignalDictionaries>",
                                        "annotation of type 'org.other'",
                                        "<SignalDictionaryReference>",
                                        "suppressUnitConversion of <Connection>",
                                        "connected to nothing; 'u' of 'a' keeps its start value"};
    assert_int_equal(ssp->notes.count, 6);
    for (int i = 0; i < 6; i++) {
        if (strstr(ssp->notes.items[i], WORDS[i]) == NULL ||
            strncmp(ssp->notes.items[i], "s.ssp!SystemStructure.ssd:", 26) != 0) {
            fail_msg("note %d: %s", i, ssp->notes.items[i]);
        }
    }
    itm_ssp_destroy(ssp);
}

static void mistakes_are_located(void** state)
{
    (void)state;
#define SYSTEM(elements, connections)                                                                                  \
    HEAD "<ssd:System name='r'>\n<ssd:Elements>" elements "</ssd:Elements>\n<ssd:Connections>" connections             \
         "</ssd:Connections></ssd:System>" TAIL
    refuse_with("<a/>", 1, "expected <SystemStructureDescription>");
    refuse_with("<SystemStructureDescription version='3.0' name='n'/>", 1, "this is SSP 3.0");
    refuse_with(HEAD TAIL, 1, "no <System>");
    refuse_with(SYSTEM("", ""), 2, "no components");
    refuse_with(SYSTEM("<ssd:Component name='a' source='http://x.org/a.fmu'/>", ""), 3, "not a file of the archive");
    refuse_with(SYSTEM("<ssd:Component name='a' source='a.py' type='text/x-python'/>", ""), 3, "only FMUs");
    refuse_with(SYSTEM(COMPONENT("a", "") COMPONENT("a", ""), ""), 4, "two elements are named 'a'");
    refuse_with(SYSTEM(COMPONENT("a", ""), CONNECT("a", "y", "b", "u", "")), 5, "refers to 'b'");
    refuse_with(
        SYSTEM(COMPONENT("a", "") COMPONENT("b", ""), CONNECT("a", "y", "b", "u", "") CONNECT("a", "z", "b", "u", "")),
        7, "two connections, the first in line 6");
    refuse_with(SYSTEM(COMPONENT("a", ""), CONNECT("a", "y", "a", "u", "<ssc:BooleanMappingTransformation/>")), 5,
                "only linear transformations");
    refuse_with(SYSTEM(COMPONENT("a", ""), CONNECT("a", "y", "a", "u", SCALE("x", "0"))), 5, "must be a finite number");
    refuse_with(
        SYSTEM(COMPONENT("a",
                         "<ssd:ParameterBindings><ssd:ParameterBinding source='absent.ssv'/></ssd:ParameterBindings>"),
               ""),
        3, "'absent.ssv' cannot be read");
    refuse_with(SYSTEM(COMPONENT("a", "<ssd:ParameterBindings><ssd:ParameterBinding source='a.ssv' "
                                      "sourceBase='component'/></ssd:ParameterBindings>"),
                       ""),
                3, "sourceBase 'component' is not supported");
    // connectors of systems that lead to one another
    refuse_with(SYSTEM(COMPONENT("a", "") "<ssd:System name='s'/>",
                       CONNECT("s", "x", "s", "y", "") CONNECT("s", "y", "s", "x", "") CONNECT("s", "x", "a", "u", "")),
                7, "form a ring");
}

// ---------------------------------------------------------------------------- files

static void archives_are_read_and_confined(void** state)
{
    (void)state;
    const char* structure = SYSTEM(
        COMPONENT("a",
                  "<ssd:ParameterBindings><ssd:ParameterBinding source='values%20one.ssv'/></ssd:ParameterBindings>"),
        "");
    const TestEntry entries[] = {{"SystemStructure.ssd", structure, 0, 0},
                                 {"values one.ssv",
                                  "<ssv:ParameterSet xmlns:ssv='v' version='1.0' name='v'><ssv:Parameters>" REAL(
                                      "k", "9") "</ssv:Parameters></ssv:ParameterSet>",
                                  0, 0},
                                 {"resources/a.fmu", "", 0, 0}};
    write_archive("structure.ssp", entries, 3);
    ItmArchive* a = NULL;
    ItmSsp* ssp = NULL;
    ItmError error = {0};
    CHECK_OK(itm_archive_open(&a, "structure.ssp", NULL, &error), &error);
    CHECK_OK(itm_ssp_read(&ssp, a, &error), &error);
    const ItmSspValue* k = find_value(ssp, 0, "k");
    assert_string_equal(k->text, "9");
    assert_string_equal(k->file, "structure.ssp!values one.ssv");
    itm_ssp_destroy(ssp);
    itm_archive_close(a);
    const char* sources[] = {"../a.fmu", "/etc/a.fmu", "resources/../../a.fmu", "%2e%2e/a.fmu", "resources/none.fmu"};
    for (int i = 0; i < 5; i++) {
        char text[1200];
        snprintf(text, sizeof text, SYSTEM("<ssd:Component name='a' source='%s'/>", ""), sources[i]);
        const TestEntry hostile[] = {{"SystemStructure.ssd", text, 0, 0}};
        write_archive("structure.ssp", hostile, 1);
        CHECK_OK(itm_archive_open(&a, "structure.ssp", NULL, &error), &error);
        assert_int_equal(itm_ssp_read(&ssp, a, &error), ITM_ERR_INPUT);
        assert_non_null(strstr(error.message, i < 4 ? "leads out of the archive" : "has no file 'resources/none.fmu'"));
        itm_archive_close(a);
    }
    remove("structure.ssp");
}

// ---------------------------------------------------------------------------- the model file

static const char* get_text(const ItmNode* node, const char* a, const char* b, const char* c)
{
    node = itm_document_find(node, a);
    node = node != NULL && b != NULL ? itm_document_find(node, b) : node;
    node = node != NULL && c != NULL ? itm_document_find(node, c) : node;
    return node != NULL && node->kind == ITM_NODE_SCALAR ? node->text : "";
}

static void a_structure_becomes_a_model_file(void** state)
{
    (void)state;
    ItmSsp* ssp = accept(
        HEAD
        "<ssd:System name='root'><ssd:Elements>\n"
        "<ssd:Component name='pump 1' source='resources/p.fmu' implementation='ModelExchange'>" BIND("<ssv:Parameter name='p0'><ssv:Real value='210' unit='bar'/></ssv:Parameter>") "<ssd:Annotations><ssc:Annotation type='interim'>step: 0.1 ms\nset: {extra: 1}</ssc:Annotation></ssd:Annotations></ssd:Component>\n" COMPONENT(
            "b", "") "</ssd:Elements><ssd:Connections>" CONNECT("pump 1", "q[1]", "b", "in.u", "")
            CONNECT(
                "b", "y", "pump 1", "u",
                SCALE(
                    "0.5",
                    "0")) "</ssd:Connections></ssd:System><ssd:DefaultExperiment stopTime='2'/>"
                          "<ssd:Annotations><ssc:Annotation type='interim'>cosim: {macro_step: 5 ms}</ssc:Annotation></ssd:Annotations>" TAIL);
    ItmDocument doc = {0};
    ItmError error = {0};
    CHECK_OK(itm_file_make_ssp_document(&doc, ssp, "/folder", &error), &error);
    assert_string_equal(get_text(doc.root, "title", NULL, NULL), "n");
    const ItmNode* subsystems = itm_document_find(doc.root, "subsystems");
    assert_string_equal(get_text(subsystems, "pump_1", "type", NULL), "fmu");
    assert_string_equal(get_text(subsystems, "pump_1", "file", NULL), "/folder/resources/p.fmu");
    assert_string_equal(get_text(subsystems, "pump_1", "kind", NULL), "model-exchange");
    assert_string_equal(get_text(subsystems, "pump_1", "step", NULL), "0.1 ms");
    assert_string_equal(get_text(subsystems, "pump_1", "set", "p0"), "210 bar");
    assert_string_equal(get_text(subsystems, "pump_1", "set", "extra"), "1");  // merged with the values
    const ItmNode* cosim = itm_document_find(doc.root, "cosim");
    assert_string_equal(get_text(cosim, "wires", "b.in.u", NULL), "pump_1.q[1]");
    assert_string_equal(get_text(cosim, "wires", "pump_1.u", "factor"), "0.5");
    assert_string_equal(get_text(cosim, "wires", "pump_1.u", "from"), "b.y");
    assert_string_equal(get_text(cosim, "macro_step", NULL, NULL), "5 ms");
    assert_string_equal(get_text(doc.root, "run", "duration", NULL), "2 s");
    itm_document_free(&doc);
    itm_ssp_destroy(ssp);
}

// ---------------------------------------------------------------------------- running

// All bytes of a file.
static char* read_file(const char* path, size_t* size)
{
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char* bytes = malloc(*size);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

static int count_folders(void)
{
    int count = 0;
    DIR* folder = opendir("unpacked-ssp");
    for (const struct dirent* e = readdir(folder); e != NULL; e = readdir(folder)) {
        count += e->d_name[0] != '.';
    }
    closedir(folder);
    return count;
}

// Two oscillators, the second pushed by the first through a scaled connection: the archive and the model file that says the
// same give the same bits, and nothing is left unpacked.
static void a_structure_runs_as_the_model_file_that_says_the_same(void** state)
{
    (void)state;
    static const char STRUCTURE[] = HEAD
        "<ssd:System name='root'><ssd:Elements>\n"
        "<ssd:Component name='a' source='resources/oscillator.fmu'>" BIND(REAL(
            "mass",
            "3")) "</ssd:Component>\n"
                  "<ssd:Component name='b' source='resources/oscillator.fmu'/>\n"
                  "</ssd:Elements><ssd:Connections>" CONNECT(
                      "a", "x", "b", "piston.s",
                      SCALE(
                          "2",
                          "0.25")) "</ssd:Connections></ssd:System>\n"
                                   "<ssd:DefaultExperiment stopTime='0.1'><ssd:Annotations><ssc:Annotation type='interim'>\n"
                                   "cosim: {macro_step: 1 ms}\n</ssc:Annotation></ssd:Annotations></ssd:DefaultExperiment>" TAIL;
    mkdir("unpacked-ssp", 0700);
    setenv("TMPDIR", realpath("unpacked-ssp", (char[4096]){0}), 1);
    size_t size = 0;
    char* fmu = read_file(ITM_FMU_DIR "/oscillator2.fmu", &size);
    const TestEntry entries[] = {{"SystemStructure.ssd", STRUCTURE, 0, 0}, {"resources/oscillator.fmu", fmu, size, 0}};
    write_archive("running.ssp", entries, 2);
    free(fmu);
    System a, b;
    a = system_load("running.ssp", NULL, 0);
    b = system_parse("subsystems:\n"
                     "  a: {type: fmu, file: '" ITM_FMU_DIR "/oscillator2.fmu', set: {mass: 3}}\n"
                     "  b: {type: fmu, file: '" ITM_FMU_DIR "/oscillator2.fmu'}\n"
                     "cosim: {macro_step: 1 ms, wires: {b.piston.s: {from: a.x, factor: 2, offset: 0.25}}}\n"
                     "run: {duration: 0.1 s}\n",
                     NULL, 0);
    CHECK_NEAR(a.file->run.duration, 0.1, 0.0);
    assert_int_equal(itm_cosim_get_output_count(a.x), itm_cosim_get_output_count(b.x));
    for (int k = 0; k < 100; k++) {
        system_step(&a);
        system_step(&b);
        assert_true(system_get(&a, "b.x") == system_get(&b, "b.x") && system_get(&a, "a.x") == system_get(&b, "a.x"));
    }
    assert_int_equal(a.file->nnote, 0);
    // pushed by 2 x + 0.25, the second one has moved away from where the first one is
    assert_true(fabs(system_get(&a, "b.x") - system_get(&a, "a.x")) > 0.01);
    system_finish(&a);
    system_finish(&b);
    assert_int_equal(count_folders(), 0);
    unsetenv("TMPDIR");
    rmdir("unpacked-ssp");
    remove("running.ssp");
}

static void wires_between_different_dimensions_are_noted(void** state)
{
    (void)state;
    ItmModelFile* file = NULL;
    ItmError error = {0};
    const char* text = "subsystems:\n"
                       "  a: {type: fmu, file: '" ITM_FMU_DIR "/oscillator2.fmu'}\n"
                       "  b: {type: fmu, file: '" ITM_FMU_DIR "/oscillator2.fmu'}\n"
                       "cosim:\n"
                       "  macro_step: 1 ms\n"
                       "  wires:\n"
                       "    b.piston.s: a.x\n"
                       "    b.piston.w: a.x\n"
                       "    b.offset: a.v\n"
                       "    a.piston.s: {from: b.v, factor: 2}\n"
                       "run: {duration: 0.1 s}\n";
    CHECK_OK(itm_file_parse(&file, text, strlen(text), "text", NULL, 0, &error), &error);
    assert_int_equal(file->nnote, 1);
    assert_string_equal(file->notes[0],
                        "text:8: the wire from 'a.x' (m) to 'b.piston.w' (m/s) connects different dimensions");
    itm_file_destroy(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nested_systems_are_flattened),
        cmocka_unit_test(values_reach_components),
        cmocka_unit_test(unused_parts_are_named),
        cmocka_unit_test(mistakes_are_located),
        cmocka_unit_test(archives_are_read_and_confined),
        cmocka_unit_test(a_structure_becomes_a_model_file),
        cmocka_unit_test(a_structure_runs_as_the_model_file_that_says_the_same),
        cmocka_unit_test(wires_between_different_dimensions_are_noted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
