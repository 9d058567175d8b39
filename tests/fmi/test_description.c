// Model descriptions: what is read of FMI 2.0 and 3.0, what is refused with place and remedy, which rules are checked.
#include "archive_file.h"

#include "fmi/description.h"
#include "fmi/xml.h"

#include <unistd.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

// A description of FMI 2.0 and one of 3.0 around what a test is about.
#define HEAD2 "<?xml version='1.0' encoding='UTF-8'?>\n<fmiModelDescription fmiVersion='2.0' modelName='m' guid='g'>\n"
#define KIND2 "<CoSimulation modelIdentifier='m'/>\n"
#define TAIL "</fmiModelDescription>\n"
#define HEAD3 "<?xml version='1.0'?>\n<fmiModelDescription fmiVersion='3.0' modelName='m' instantiationToken='t'>\n"
#define TIME3 "<Float64 name='time' valueReference='0' causality='independent'/>\n"

static ItmFmiDescription* accept(const char* xml)
{
    ItmFmiDescription* d = NULL;
    ItmError error = {0};
    if (itm_description_parse(&d, xml, strlen(xml), "m.fmu!modelDescription.xml", &error) != ITM_OK) {
        fail_msg("%s:%d:%d: %s\n%s", error.file, error.line, error.column, error.message, xml);
    }
    return d;
}

// Refused at this line and column, with these words.
static void refuse_with(const char* xml, size_t length, ItmStatus wanted, int line, int column, const char* words)
{
    ItmFmiDescription* d = NULL;
    ItmError error = {0};
    ItmStatus status = itm_description_parse(&d, xml, length, "m.fmu!modelDescription.xml", &error);
    if (status != wanted || error.line != line || (column > 0 && error.column != column) ||
        strstr(error.message, words) == NULL || strcmp(error.file, "m.fmu!modelDescription.xml") != 0) {
        fail_msg("expected status %d at %d:%d '%s', got %d at %s:%d:%d: %s\n%s", (int)wanted, line, column, words,
                 (int)status, error.file, error.line, error.column, error.message, xml);
    }
    assert_null(d);
}

#define REFUSE(xml, line, column, words) refuse_with(xml, strlen(xml), ITM_ERR_INPUT, line, column, words)

// The description has exactly one finding: this one. NULL: none.
static void expect_finding(const char* xml, ItmFmiSeverity severity, int line, const char* rule, const char* words)
{
    ItmFmiDescription* d = accept(xml);
    ItmFmiFindings f;
    ItmError error = {0};
    CHECK_OK(itm_description_check(&f, d, &error), &error);
    bool is_right = rule == NULL ? f.count == 0
                                 : f.count == 1 && f.items[0].severity == severity && f.items[0].line == line &&
                                       strcmp(f.items[0].rule, rule) == 0 && strstr(f.items[0].text, words) != NULL;
    if (!is_right) {
        for (int i = 0; i < f.count; i++) {
            print_message("  %d line %d [%s] %s\n", (int)f.items[i].severity, f.items[i].line, f.items[i].rule,
                          f.items[i].text);
        }
        fail_msg("expected one finding in line %d [%s] '%s', got those above, of\n%s", line, rule, words, xml);
    }
    itm_description_free_findings(&f);
    itm_description_destroy(d);
}

// ---------------------------------------------------------------------------- reading

static const char* const FMI2 =
    "<?xml version='1.0' encoding='ISO-8859-1'?>\n"
    "<fmiModelDescription fmiVersion='2.0' modelName='Kran \xfc' guid='{1}' generationTool='T&#x9b;&#x202e;' numberOfEventIndicators='3'\n"
    "   variableNamingConvention='structured'>\n"
    "<ModelExchange modelIdentifier='kran' providesDirectionalDerivative='true' completedIntegratorStepNotNeeded='true'/>\n"
    "<CoSimulation modelIdentifier='kran' canGetAndSetFMUstate='true' canSerializeFMUstate='1' needsExecutionTool='true'\n"
    "   canHandleVariableCommunicationStepSize='true' maxOutputDerivativeOrder='2'>\n"
    "  <SourceFiles><File name='a.c'/><File name='b.c'/></SourceFiles></CoSimulation>\n"
    "<UnitDefinitions><Unit name='bar'><BaseUnit kg='1' m='-1' s='-2' factor='1e5'/>\n"
    "  <DisplayUnit name='psi' factor='14.5'/></Unit><Unit name='degC'><BaseUnit K='1' offset='273.15'/></Unit>\n"
    "  <Unit name='odd'/></UnitDefinitions>\n"
    "<TypeDefinitions><SimpleType name='P'><Real unit='bar' min='0' nominal='100'/></SimpleType>\n"
    "  <SimpleType name='Mode'><Enumeration><Item name='off' value='1'/><Item name='on' value='2'/></Enumeration></SimpleType>\n"
    "</TypeDefinitions>\n"
    "<LogCategories><Category name='all' description='everything'/></LogCategories>\n"
    "<DefaultExperiment stopTime='2.5' stepSize='1e-3'/>\n"
    "<ModelVariables>\n"
    "<ScalarVariable name='x' valueReference='1' causality='output' initial='exact'><Real start='1.5' reinit='true'/></ScalarVariable>\n"
    "<ScalarVariable name='der(x)' valueReference='2'><Real derivative='1'/></ScalarVariable>\n"
    "<ScalarVariable name='p' valueReference='3' causality='parameter' variability='tunable'><Real declaredType='P' start='210'/></ScalarVariable>\n"
    "<ScalarVariable name='mode' valueReference='1' causality='input' variability='discrete'><Enumeration declaredType='Mode' start='2'/></ScalarVariable>\n"
    "<ScalarVariable name='name' valueReference='1' causality='parameter' variability='fixed'><String start='a b'/></ScalarVariable>\n"
    "<ScalarVariable name='on' valueReference='1' causality='input' variability='discrete'><Boolean start='true'/></ScalarVariable>\n"
    "<ScalarVariable name='y' valueReference='1'><Real/></ScalarVariable>\n"
    "<ScalarVariable name='n' valueReference='7' variability='constant' initial='exact'><Integer start='-3'/></ScalarVariable>\n"
    "</ModelVariables>\n"
    "<ModelStructure><Outputs><Unknown index='1' dependencies='3 4' dependenciesKind='fixed dependent'/></Outputs>\n"
    "<Derivatives><Unknown index='2'/></Derivatives><InitialUnknowns><Unknown index='2' dependencies=''/></InitialUnknowns></ModelStructure>\n"
    "</fmiModelDescription>\n";

static void fmi_2_is_read(void** state)
{
    (void)state;
    ItmFmiDescription* d = accept(FMI2);
    assert_int_equal(d->major, 2);
    assert_string_equal(d->model_name, "Kran \xc3\xbc");  // from ISO-8859-1
    assert_string_equal(d->tool, "T??\?\?\?");            // without control characters and changes of direction
    assert_string_equal(d->token, "{1}");
    assert_string_equal(d->naming, "structured");
    assert_int_equal(d->nevent_indicator, 3);
    const ItmFmiKind* cs = &d->kinds[ITM_FMI_CO_SIMULATION];
    assert_true(cs->is_present && cs->can_get_set_state && cs->can_serialize_state && cs->needs_execution_tool &&
                cs->can_handle_variable_step && !cs->has_directional_derivatives);
    assert_int_equal(cs->max_output_derivative_order, 2);
    assert_int_equal(cs->nsource_file, 2);
    assert_string_equal(cs->source_files[1], "b.c");
    const ItmFmiKind* me = &d->kinds[ITM_FMI_MODEL_EXCHANGE];
    assert_true(me->has_directional_derivatives && !me->needs_completed_step);
    assert_true(isnan(d->start_time) && d->stop_time == 2.5 && d->step_size == 1e-3 && isnan(d->tolerance));
    assert_string_equal(d->categories[0].description, "everything");

    assert_int_equal(d->nvariable, 8);
    const ItmFmiVariable* v = d->variables;
    assert_true(v[0].nstart == 1 && v[0].start[0] == 1.5 && v[0].can_be_reinitialised && v[0].initial == ITM_FMI_EXACT);
    assert_int_equal(v[1].derivative_of, 0);
    assert_true(v[1].causality == ITM_FMI_LOCAL && v[1].variability == ITM_FMI_CONTINUOUS &&
                v[1].initial == ITM_FMI_CALCULATED);
    assert_string_equal(v[2].unit, "bar");
    assert_true(v[2].min == 0.0 && isnan(v[2].max) && v[2].nominal == 100.0);
    assert_true(v[3].type == ITM_FMI_ENUMERATION && v[3].start_integer[0] == 2);
    assert_string_equal(d->types[v[3].type_id].items[1].name, "on");
    assert_true(v[4].type == ITM_FMI_STRING && v[4].start == NULL);
    assert_string_equal(v[4].start_texts[0], "a b");
    assert_true(v[5].start[0] == 1.0 && v[5].start_integer[0] == 1);
    // value references are counted per type: 'mode', 'name' and 'on' are no aliases of 'x', 'y' is
    assert_true(v[3].alias_of == ITM_NONE && v[4].alias_of == ITM_NONE && v[5].alias_of == ITM_NONE);
    assert_int_equal(v[6].alias_of, 0);
    assert_true(v[7].start_integer[0] == -3 && v[7].initial == ITM_FMI_EXACT);

    assert_int_equal(d->outputs.count, 1);
    assert_int_equal(d->outputs.items[0].ndependency, 2);
    assert_int_equal(d->outputs.items[0].dependencies[1], 3);
    assert_int_equal(d->outputs.items[0].kinds[0], ITM_FMI_DEPENDENCY_FIXED);
    assert_int_equal(d->derivatives.items[0].ndependency, ITM_NONE);  // may depend on everything
    assert_int_equal(d->initial_unknowns.items[0].ndependency, 0);    // depends on nothing
    assert_int_equal(itm_description_count_states(d), 1);
    assert_int_equal(itm_description_find(d, "mode"), 3);
    assert_int_equal(itm_description_find(d, "Mode"), ITM_NONE);
    assert_string_equal(itm_description_suggest(d, "mood"), "mode");
    itm_description_destroy(d);
}

static const char* const FMI3 = HEAD3
    "<CoSimulation modelIdentifier='m' hasEventMode='true' fixedInternalStepSize='0.1' providesIntermediateUpdate='true'/>\n"
    "<ModelVariables>\n" TIME3
    "<UInt64 name='n' valueReference='1' causality='structuralParameter' variability='fixed' start='3'/>\n"
    "<Float64 name='A' valueReference='2' causality='parameter' start='1 2 3 4 5 6'><Dimension valueReference='1'/><Dimension start='2'/>\n"
    "  <Alias name='B' description='the same' displayUnit='mm'/></Float64>\n"
    "<Float64 name='x' valueReference='3' start='0'  initial='exact' causality='output'><Dimension valueReference='1'/></Float64>\n"
    "<Float64 name='der(x)' valueReference='4' derivative='3'><Dimension valueReference='1'/></Float64>\n"
    "<String name='s' valueReference='5' causality='input'><Dimension start='2'/><Start value='one two'/><Start value=''/></String>\n"
    "<Binary name='b' valueReference='6' causality='input' mimeType='x/y'><Start value='00ff'/></Binary>\n"
    "<UInt64 name='big' valueReference='7' causality='parameter' variability='fixed' start='18446744073709551615'/>\n"
    "<Float64 name='event' valueReference='8'><Dimension start='4'/></Float64>\n"
    "</ModelVariables>\n"
    "<ModelStructure><Output valueReference='3'/><ContinuousStateDerivative valueReference='4' dependencies='3 2'/>\n"
    "<EventIndicator valueReference='8'/></ModelStructure>\n" TAIL;

static void fmi_3_is_read(void** state)
{
    (void)state;
    ItmFmiDescription* d = accept(FMI3);
    assert_int_equal(d->major, 3);
    assert_true(d->kinds[0].has_event_mode && d->kinds[0].fixed_step == 0.1 && d->kinds[0].has_intermediate_update);
    assert_false(d->kinds[ITM_FMI_MODEL_EXCHANGE].is_present);
    assert_int_equal(d->nvariable, 10);
    const ItmFmiVariable* A = &d->variables[itm_description_find(d, "A")];
    assert_int_equal(A->ndimension, 2);
    assert_int_equal(A->dimensions[0].variable, 1);
    assert_int_equal(A->dimensions[0].size, 3);
    assert_int_equal(A->dimensions[1].variable, ITM_NONE);
    assert_int_equal(A->count, 6);
    assert_true(A->nstart == 6 && A->start[5] == 6.0 && A->variability == ITM_FMI_FIXED);
    const ItmFmiVariable* B = &d->variables[9];
    assert_string_equal(B->name, "B");
    assert_true(B->alias_of == 2 && B->count == 6 && strcmp(B->display_unit, "mm") == 0);
    const ItmFmiVariable* s = &d->variables[itm_description_find(d, "s")];
    assert_int_equal(s->nstart, 2);
    assert_string_equal(s->start_texts[0], "one two");
    assert_string_equal(s->start_texts[1], "");
    assert_string_equal(d->variables[itm_description_find(d, "b")].start_texts[0], "00ff");
    assert_true((uint64_t)d->variables[itm_description_find(d, "big")].start_integer[0] == UINT64_MAX);
    assert_int_equal(itm_description_count_states(d), 3);
    assert_int_equal(d->nevent_indicator, 4);
    assert_int_equal(d->derivatives.items[0].dependencies[1], 2);
    itm_description_destroy(d);
    expect_finding(FMI3, ITM_FMI_NOTE, 0, NULL, NULL);
}

// ---------------------------------------------------------------------------- refusals

static void what_is_not_supported_is_refused_with_a_sentence(void** state)
{
    (void)state;
    const char* old = "<fmiModelDescription fmiVersion='1.0' modelName='m' modelIdentifier='m' guid='g'/>";
    refuse_with(old, strlen(old), ITM_ERR_UNSUPPORTED, 1, 1,
                "this is FMI 1.0; Interim reads FMI 2.0 and 3.0; ask the exporting tool");
    const char* beta = "<fmiModelDescription fmiVersion='3.0-beta.2' modelName='m' instantiationToken='g'/>";
    refuse_with(beta, strlen(beta), ITM_ERR_UNSUPPORTED, 1, 1, "FMI 3.0-beta.2");
    const char* scheduled = HEAD3 "<ScheduledExecution modelIdentifier='m'/><ModelVariables/>" TAIL;
    refuse_with(scheduled, strlen(scheduled), ITM_ERR_UNSUPPORTED, 3, 1, "scheduled execution only");
    const char* clock =
        HEAD3 KIND2 "<ModelVariables>" TIME3
                    "  <Clock name='tick' valueReference='1' intervalVariability='constant'/></ModelVariables>" TAIL;
    refuse_with(clock, strlen(clock), ITM_ERR_UNSUPPORTED, 5, 3, "variable 'tick' is a clock");
    const char* clocked =
        HEAD3 KIND2 "<ModelVariables><Float64 name='u' valueReference='1' clocks='7'/></ModelVariables>" TAIL;
    refuse_with(clocked, strlen(clocked), ITM_ERR_UNSUPPORTED, 4, 17, "variable 'u' is clocked");
}

static void hostile_xml_is_refused(void** state)
{
    (void)state;
    REFUSE("<!DOCTYPE a [<!ENTITY b 'bb'><!ENTITY c '&b;&b;'>]>\n<a>&c;</a>", 1, 0, "document type");
    REFUSE("<!DOCTYPE a SYSTEM 'file:///etc/passwd'>\n<a/>", 1, 0, "document type");
    REFUSE(HEAD2 "<a>&nothing;</a>" TAIL, 3, 0, "not well-formed XML");
    REFUSE(HEAD2 "<a></b>" TAIL, 3, 0, "not well-formed XML");
    REFUSE(HEAD2, 3, 0, "not well-formed XML");
    REFUSE("", 1, 1, "empty");
    REFUSE("plain text", 1, 0, "not well-formed XML");
    char* deep = malloc(200000);
    char* at = deep;
    for (int i = 0; i < 20000; i++) {
        at += sprintf(at, "<a>\n");
    }
    REFUSE(deep, 65, 1, "more than 64 deep");
    // a null byte is no end
    memcpy(deep, "<a/>\0<b/>", 10);
    refuse_with(deep, 9, ITM_ERR_INPUT, 1, 0, "");
    free(deep);
}

static void mistakes_are_located(void** state)
{
    (void)state;
    REFUSE("<other/>", 1, 1, "expected <fmiModelDescription>, found <other>");
    REFUSE(
        "<?xml version='1.0' encoding='ISO-8859-1'?><fmiModelDescription fmiVersion='2.0' modelName='\xe4\xf6\xfc'/>",
        1, 44, "needs the attribute 'guid'");
    REFUSE("<fmiModelDescription modelName='m'/>", 1, 1, "needs the attribute 'fmiVersion'");
    REFUSE("<fmiModelDescription fmiVersion='2.0' modelName='m'/>", 1, 1, "needs the attribute 'guid'");
    REFUSE(HEAD2 "<ModelVariables/>" TAIL, 2, 1, "neither <CoSimulation> nor <ModelExchange>");
    REFUSE(HEAD2 "\n\n  <CoSimulation/>" TAIL, 5, 3, "needs the attribute 'modelIdentifier'");
    REFUSE(HEAD2 "<CoSimulation modelIdentifier='../../x'/>" TAIL, 3, 1, "is not a name of a file");
    REFUSE(HEAD2 "<CoSimulation modelIdentifier='x'\n\n canGetAndSetFMUstate='yes'/>" TAIL, 3, 1,
           "must be true or false, found 'yes'");
    REFUSE(HEAD2 KIND2 TAIL, 2, 1, "no <ModelVariables>");
#define VARIABLE(text) HEAD2 KIND2 "<ModelVariables>\n  " text "</ModelVariables>\n<ModelStructure/>" TAIL
    REFUSE(VARIABLE("<ScalarVariable name='x'><Real/></ScalarVariable>"), 5, 3, "needs 'valueReference'");
    REFUSE(VARIABLE("<ScalarVariable name='x' valueReference='-1'><Real/></ScalarVariable>"), 5, 3,
           "needs 'valueReference'");
    REFUSE(VARIABLE("<ScalarVariable name='x' valueReference='1' causality='inputs'><Real/></ScalarVariable>"), 5, 3,
           "unknown value 'inputs'; nearest: 'input'");
    REFUSE(VARIABLE("<ScalarVariable name='x' valueReference='1'>\n<Real start='one'/></ScalarVariable>"), 6, 1,
           "start value 'one' is no Float64");
    REFUSE(VARIABLE("<ScalarVariable name='x' valueReference='1'><Float64/></ScalarVariable>"), 5, 3,
           "no variable of a known type");
    REFUSE(
        HEAD3 KIND2
        "<ModelVariables><Float64 name='x' valueReference='1'><Dimension valueReference='9'/></Float64></ModelVariables>" TAIL,
        4, 54, "no structural parameter");
    REFUSE(
        HEAD3 KIND2
        "<ModelVariables><Float64 name='x' valueReference='1'><Dimension start='4000000'/><Dimension start='4000000'/></Float64></ModelVariables>" TAIL,
        4, 82, "more than");
}

// ---------------------------------------------------------------------------- findings

// Some tools write everything into one line. The columns of 50000 tags in it took half a minute when each was counted from its start.
static void tags_of_one_long_line_are_located(void** state)
{
    (void)state;
    enum { COUNT = 50000 };
    static const char TAG[] = "<a n='\xc3\xa9'/>";  // 10 characters
    size_t n = 0;
    char* text = malloc(COUNT * sizeof TAG + 100);
    n += (size_t)sprintf(text, "<r>\n<b>");
    for (int i = 0; i < COUNT; i++) {
        n += (size_t)sprintf(text + n, "%s", TAG);
    }
    n += (size_t)sprintf(text + n, "<c/></b></r>");
    ItmXml xml;
    ItmError error = {0};
    CHECK_OK(itm_xml_parse(&xml, text, n, "one", &error), &error);
    const ItmXmlNode* b = itm_xml_find(xml.root, "b");
    const ItmXmlNode* c = itm_xml_find(b, "c");
    assert_int_equal(b->first->next->column, 4 + 10);
    assert_int_equal(c->line, 2);
    assert_int_equal(c->column, 4 + 10 * COUNT);
    itm_xml_free(&xml);
    free(text);
}

static void rules_of_fmi_2_are_checked(void** state)
{
    (void)state;
#define MODEL(variables, structure)                                                                                    \
    HEAD2 KIND2 "<ModelVariables>\n" variables "</ModelVariables>\n<ModelStructure>" structure "</ModelStructure>" TAIL
#define REAL(name, reference, more, real)                                                                              \
    "<ScalarVariable name='" name "' valueReference='" reference "' " more "><Real " real "/></ScalarVariable>\n"
    expect_finding(MODEL(REAL("a", "1", "causality='input'", "start='0'"), ""), ITM_FMI_NOTE, 0, NULL, NULL);
    expect_finding(MODEL(REAL("a", "1", "", "") REAL("a", "2", "", ""), ""), ITM_FMI_ERROR, 6, "unique names",
                   "'a' is used twice, first in line 5");
    expect_finding(MODEL(REAL("a", "1", "causality='input'", ""), ""), ITM_FMI_ERROR, 5, "start values",
                   "'a' needs a start value, because it is an input");
    expect_finding(MODEL(REAL("a", "1", "causality='parameter' variability='fixed'", ""), ""), ITM_FMI_ERROR, 5,
                   "start values", "its 'initial' is exact");
    expect_finding(MODEL(REAL("a", "1", "", "start='1'"), ""), ITM_FMI_ERROR, 5, "start values",
                   "must not have a start value");
    expect_finding(MODEL(REAL("a", "1", "causality='parameter' variability='continuous'", "start='1'"), ""),
                   ITM_FMI_ERROR, 5, "causality and variability", "'parameter' and variability 'continuous'");
    expect_finding(MODEL(REAL("a", "1", "causality='input'", "start='1' unit='furlong'"), ""), ITM_FMI_WARNING, 5,
                   "units", "'furlong' is not defined");
    expect_finding(MODEL(REAL("a", "1", "causality='input'", "start='5' max='4'"), ""), ITM_FMI_WARNING, 5, "bounds",
                   "start value 5");
    expect_finding(MODEL(REAL("a", "1", "", "min='5' max='4'"), ""), ITM_FMI_ERROR, 5, "bounds",
                   "min 5 is above max 4");
    expect_finding(MODEL(REAL("a", "1", "", "declaredType='T'"), ""), ITM_FMI_ERROR, 5, "declared types",
                   "type 'T' is not defined");
    expect_finding(MODEL(REAL("a", "1", "", "derivative='9'"), ""), ITM_FMI_ERROR, 5, "derivatives",
                   "refers to no variable");
    expect_finding(MODEL(REAL("a", "1", "", "unit='u'") REAL("b", "1", "", ""), ""), ITM_FMI_WARNING, 5, "units",
                   "'u'");
    expect_finding(MODEL(REAL("a", "1", "causality='output'", ""), ""), ITM_FMI_ERROR, 5, "structure",
                   "output 'a' is missing");
    expect_finding(MODEL(REAL("a", "1", "", ""), "<Outputs><Unknown index='1'/></Outputs>"), ITM_FMI_ERROR, 7,
                   "structure", "lists 'a' as an output");
    expect_finding(
        MODEL(REAL("a", "1", "causality='output'", ""), "<Outputs><Unknown index='1'/><Unknown index='2'/></Outputs>"),
        ITM_FMI_ERROR, 7, "structure", "<Unknown index=\"2\"> refers to no variable");
    expect_finding(
        MODEL(REAL("a", "1", "causality='output'", ""), "<Outputs><Unknown index='1' dependencies='0'/></Outputs>"),
        ITM_FMI_ERROR, 7, "structure", "dependency '0' refers to no variable");
    expect_finding(MODEL(REAL("a", "1", "causality='output'", ""),
                         "<Outputs><Unknown index='1' dependencies='1' dependenciesKind=''/></Outputs>"),
                   ITM_FMI_ERROR, 7, "dependencies", "1 entries and 'dependenciesKind' 0");
    expect_finding(
        MODEL("<ScalarVariable name='i' valueReference='1' variability='continuous'><Integer/></ScalarVariable>\n", ""),
        ITM_FMI_ERROR, 5, "causality and variability", "Int32 cannot be continuous");
    expect_finding(HEAD2 KIND2 "<Surprise/><ModelVariables/><ModelStructure/>" TAIL, ITM_FMI_WARNING, 4,
                   "known elements", "<Surprise> in <fmiModelDescription>");
    expect_finding(HEAD2 KIND2 "<DefaultExperiment stopTime='-1'/><ModelVariables/><ModelStructure/>" TAIL,
                   ITM_FMI_WARNING, 0, "default experiment", "stop time -1 s");
    expect_finding(
        HEAD2 "<CoSimulation modelIdentifier='m' canSerializeFMUstate='true'/><ModelVariables/><ModelStructure/>" TAIL,
        ITM_FMI_ERROR, 0, "kinds", "can be serialised, but not got and set");
    expect_finding(
        HEAD2 "<CoSimulation modelIdentifier='m' needsExecutionTool='true'/><ModelVariables/><ModelStructure/>" TAIL,
        ITM_FMI_WARNING, 0, "kinds", "needs the tool that made it");
}

static void rules_of_fmi_3_are_checked(void** state)
{
    (void)state;
#define MODEL3(variables)                                                                                              \
    HEAD3 KIND2 "<ModelVariables>\n" TIME3 variables "</ModelVariables>\n<ModelStructure></ModelStructure>" TAIL
    expect_finding(MODEL3("<Float64 name='a' valueReference='1'/><Int32 name='b' valueReference='1'/>"), ITM_FMI_ERROR,
                   6, "value references", "'a' (Float64) and 'b' (Int32) share value reference 1");
    expect_finding(
        MODEL3(
            "<Float64 name='a' valueReference='1' causality='parameter' start='1 2'><Dimension start='3'/></Float64>"),
        ITM_FMI_ERROR, 6, "start values", "2 start values and 3 elements");
    expect_finding(
        MODEL3(
            "<Int32 name='n' valueReference='1' causality='parameter' start='2'/><Float64 name='a' valueReference='2'><Dimension valueReference='1'/></Float64>"),
        ITM_FMI_ERROR, 6, "dimensions", "no structural parameter");
    expect_finding(HEAD3 KIND2 "<ModelVariables/><ModelStructure/>" TAIL, ITM_FMI_ERROR, 0, "independent variable",
                   "0 variables are independent");
}

// One rule broken by thousands of variables is told twenty times, and counted.
static void findings_are_bounded(void** state)
{
    (void)state;
    char* xml = malloc(600000);
    char* at = xml + sprintf(xml, HEAD2 KIND2 "<ModelVariables>");
    for (int i = 0; i < 3000; i++) {
        at += sprintf(at, REAL("a%d", "%d", "causality='input'", ""), i, i);
    }
    sprintf(at, "</ModelVariables><ModelStructure/>" TAIL);
    ItmFmiDescription* d = accept(xml);
    ItmFmiFindings f;
    CHECK_OK(itm_description_check(&f, d, NULL), (ItmError*)NULL);
    assert_int_equal(f.count, 20);
    assert_int_equal(f.nleft_out, 2980);
    assert_int_equal(f.nerror, 3000);
    itm_description_free_findings(&f);
    itm_description_destroy(d);
    free(xml);
}

// ---------------------------------------------------------------------------- units

static void units_are_converted_and_compared(void** state)
{
    (void)state;
    ItmFmiDescription* d = accept(FMI2);
    ItmFmiConversion c;
    ItmError error = {0};
    int p = itm_description_find(d, "p");
    CHECK_OK(itm_description_convert_unit(&c, d, p, &error), &error);
    assert_true(c.is_known && c.factor == 1e5 && c.offset == 0.0);
    assert_true(itm_quantity_equal_dimensions(c.dimension, ITM_DIM_PRESSURE));
    CHECK_OK(itm_description_check_dimension(d, p, ITM_DIM_PRESSURE, &error), &error);
    assert_int_equal(itm_description_check_dimension(d, p, ITM_DIM_FORCE, &error), ITM_ERR_INPUT);
    assert_non_null(strstr(error.message, "variable 'p' has the unit 'bar' (Pa), and N is expected here"));
    assert_int_equal(error.line, 19);
    int x = itm_description_find(d, "x");  // without a unit: fits everything
    CHECK_OK(itm_description_check_dimension(d, x, ITM_DIM_FORCE, &error), &error);
    itm_description_destroy(d);
}

// Names alone, as Modelica writes them: value in SI of 1 in the unit.
static void units_are_understood_by_their_names(void** state)
{
    (void)state;
    static const struct {
        const char* name;
        bool is_known;
        double si, offset;
        ItmDimension dimension;
    } UNITS[] = {{"N.m", true, 1, 0, {{2, 1, -2}}},
                 {"m/s2", true, 1, 0, {{1, 0, -2}}},
                 {"kg/(m.s)", true, 1, 0, {{-1, 1, -1}}},
                 {"1/min", true, 1.0 / 60.0, 0, {{0, 0, -1}}},
                 {"l/min", true, 1e-3 / 60.0, 0, {{3, 0, -1}}},
                 {"degC", true, 1, 273.15, {{0, 0, 0, 0, 1}}},
                 {"m3", true, 1, 0, {{3}}},
                 {"m^-1", true, 1, 0, {{-1}}},
                 {"1", true, 1, 0, {{0}}},
                 {"mol/s", false, 1, 0, {{0}}},
                 {"", false, 1, 0, {{0}}},
                 {"m/", false, 1, 0, {{0}}},
                 {"((m", false, 1, 0, {{0}}}};
    for (int i = 0; i < COUNT(UNITS); i++) {
        char xml[600];
        snprintf(xml, sizeof xml, MODEL(REAL("a", "1", "", "unit='%s'"), ""), UNITS[i].name);
        ItmFmiDescription* d = accept(xml);
        ItmFmiConversion c;
        CHECK_OK(itm_description_convert_unit(&c, d, 0, NULL), (ItmError*)NULL);
        if (c.is_known != UNITS[i].is_known) {
            fail_msg("unit '%s'", UNITS[i].name);
        }
        CHECK_NEAR(c.factor, UNITS[i].si, 1e-15);
        CHECK_NEAR(c.offset, UNITS[i].offset, 0.0);
        assert_true(itm_quantity_equal_dimensions(c.dimension, UNITS[i].dimension));
        itm_description_destroy(d);
    }
    // moles have no place in our dimensions
    ItmFmiDescription* d = accept(
        HEAD2 KIND2 "<UnitDefinitions><Unit name='u'><BaseUnit mol='1'/></Unit></UnitDefinitions><ModelVariables>" REAL(
            "a", "1", "", "unit='u'") "</ModelVariables><ModelStructure/>" TAIL);
    ItmFmiConversion c;
    ItmError error = {0};
    assert_int_equal(itm_description_convert_unit(&c, d, 0, &error), ITM_ERR_INPUT);
    assert_non_null(strstr(error.message, "mol or cd"));
    itm_description_destroy(d);
}

// ---------------------------------------------------------------------------- files beside it

static void files_beside_it_are_read(void** state)
{
    (void)state;
    const TestEntry entries[] = {
        {"modelDescription.xml", FMI3, 0, 0},
        {"binaries/x86_64-linux/m.so", "x", 0, 0},
        {"binaries/aarch64-linux/m.so", "x", 0, 0},
        {"binaries/win64/other.dll", "x", 0, 0},
        {"sources/a.c", "x", 0, 0},
        {"terminalsAndIcons/terminalsAndIcons.xml",
         "<fmiTerminalsAndIcons fmiVersion='3.0'><Terminals><Terminal name='boom' matchingRule='plug' terminalKind='k'>"
         "<TerminalMemberVariable variableName='x' memberName='length' variableKind='signal'/>"
         "<Terminal name='inner' matchingRule='bus'><TerminalMemberVariable variableName='absent' variableKind='signal'/></Terminal>"
         "</Terminal></Terminals></fmiTerminalsAndIcons>",
         0, 0},
        {"extra/interim.rim/fmi-ls-manifest.xml",
         "<x xmlns:ls='http://fmi-standard.org/fmi-ls-manifest' ls:fmi-ls-name='interim.rim' ls:fmi-ls-version='1.0' "
         "ls:fmi-ls-description='text'/>",
         0, 0},
        {"extra/broken/fmi-ls-manifest.xml", "<x", 0, 0}};
    write_archive("files.fmu", entries, COUNT(entries));
    ItmArchive* a = NULL;
    ItmFmiDescription* d = NULL;
    ItmError error = {0};
    CHECK_OK(itm_archive_open(&a, "files.fmu", NULL, &error), &error);
    CHECK_OK(itm_description_read(&d, a, &error), &error);
    assert_int_equal(d->nplatform, 3);
    assert_string_equal(d->platforms[0].name, "aarch64-linux");
    assert_string_equal(d->platforms[1].tuple, "x86_64-windows");
    assert_string_equal(d->platforms[1].library, "binaries/win64/other.dll");
    assert_string_equal(d->platforms[2].library, "binaries/x86_64-linux/m.so");
    assert_int_equal(d->nsource, 1);
    assert_int_equal(d->nterminal, 2);
    assert_string_equal(d->terminals[1].name, "boom.inner");
    assert_int_equal(d->terminals[0].members[0].variable_id, itm_description_find(d, "x"));
    assert_int_equal(d->nlayer, 1);
    assert_string_equal(d->layers[0].name, "interim.rim");
    assert_string_equal(d->layers[0].folder, "extra/interim.rim");
#if defined(__x86_64__)
    assert_string_equal(itm_description_get_library(d, a, ITM_FMI_CO_SIMULATION), "binaries/x86_64-linux/m.so");
    assert_null(itm_description_get_library(d, a, ITM_FMI_MODEL_EXCHANGE));
#endif
    ItmFmiFindings f;
    CHECK_OK(itm_description_check(&f, d, &error), &error);
    assert_int_equal(f.count,
                     4);  // a terminal without variable, a broken manifest, a name of FMI 2.0, a foreign library name
    itm_description_free_findings(&f);
    itm_description_destroy(d);
    itm_archive_close(a);
    remove("files.fmu");
}

static void an_archive_without_description_is_no_fmu(void** state)
{
    (void)state;
    const TestEntry entries[] = {{"inner/modelDescription.xml", FMI3, 0, 0}};
    write_archive("none.fmu", entries, 1);
    ItmArchive* a = NULL;
    ItmFmiDescription* d = NULL;
    ItmError error = {0};
    CHECK_OK(itm_archive_open(&a, "none.fmu", NULL, &error), &error);
    assert_int_equal(itm_description_read(&d, a, &error), ITM_ERR_INPUT);
    assert_non_null(strstr(error.message, "no modelDescription.xml at its root"));
    itm_archive_close(a);
    remove("none.fmu");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fmi_2_is_read),
        cmocka_unit_test(fmi_3_is_read),
        cmocka_unit_test(what_is_not_supported_is_refused_with_a_sentence),
        cmocka_unit_test(hostile_xml_is_refused),
        cmocka_unit_test(mistakes_are_located),
        cmocka_unit_test(tags_of_one_long_line_are_located),
        cmocka_unit_test(rules_of_fmi_2_are_checked),
        cmocka_unit_test(rules_of_fmi_3_are_checked),
        cmocka_unit_test(findings_are_bounded),
        cmocka_unit_test(units_are_converted_and_compared),
        cmocka_unit_test(units_are_understood_by_their_names),
        cmocka_unit_test(files_beside_it_are_read),
        cmocka_unit_test(an_archive_without_description_is_no_fmu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
