// libFuzzer target: any bytes as a study file, then, after a line "%%", as lines of its journal; bytes that begin with a brace are a whole
// journal. The model is always that of MODEL, beside the study; studies of many runs are not prepared.
#include "fuzz_input.h"

#include "interim/study.h"
#include "study/study.h"

#include <stdlib.h>
#include <string.h>

#define MOST_RUNS 500

static const char MODEL[] = "parameters: {a: 7, b: 0.1, x1: 0.5, x2: 1 m}\n"
                            "subsystems: {control: {type: control, step: 1 ms, blocks: {y: a*sin(x1)*x2/(1 m) + b}}}\n"
                            "run: {duration: 1 ms, step: 1 ms}\n";
static const char MEASURED[] = "number,size\n1,2\n2,4\n3,10\n";

static void write_file(const char* path, const char* text)
{
    FILE* out = fopen(path, "w");
    if (out == NULL || fputs(text, out) < 0 || fclose(out) != 0) {
        __builtin_trap();
    }
}

static void check_error(ItmStatus status, const ItmError* error)
{
    if (status != ITM_OK && error->message[0] == '\0') {
        __builtin_trap();  // an error without a message
    }
}

// Outcomes line by line, and the tables of them.
static void take_lines(ItmStudy* study, char* lines)
{
    ItmError error = {0};
    for (char* line = strtok(lines, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        check_error(itm_study_read_run(study, line, NULL, &error), &error);
    }
    check_error(itm_study_write_csv(study, "fuzz-table.csv", NULL, &error), &error);
    check_error(itm_study_write_effects(study, "fuzz-effects.csv", &error), &error);
    check_error(itm_study_write_page(study, "fuzz-page.html", NULL, &error), &error);
}

static void take_study(const char* path, char* lines)
{
    ItmStudy* study = NULL;
    ItmError error = {0};
    ItmStatus status = itm_study_load(&study, path, ".", NULL, 0, &error);
    check_error(status, &error);
    if (status == ITM_ERR_INPUT && error.line < 1 && strstr(error.message, "sandbox") == NULL) {
        __builtin_trap();  // a mistake in the file without a place
    }
    if (status == ITM_OK && itm_design_count(study) <= MOST_RUNS) {
        status = itm_study_prepare(study, &error);
        check_error(status, &error);
        if (status == ITM_OK) {
            take_lines(study, lines);
        }
    }
    itm_study_destroy(study);
}

// The journal that interim rerun and merge find beside a table: it names model, design and settings.
static void take_journal(const char* path)
{
    ItmStudy* study = NULL;
    ItmError error = {0};
    ItmStatus status = itm_study_create_from_journal(&study, path, ".", &error);
    check_error(status, &error);
    if (status == ITM_OK) {
        check_error(itm_study_read_journal(study, path, &error), &error);
    }
    itm_study_destroy(study);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static bool has_files;
    char* text = malloc(size + 1);
    if (text == NULL) {
        return 0;
    }
    if (!has_files) {
        write_file("model.yaml", MODEL);
        write_file("measured.csv", MEASURED);
        has_files = true;
    }
    memcpy(text, data, size);
    text[size] = '\0';
    char* mark = strstr(text, "\n%%\n");
    size_t length = mark != NULL ? (size_t)(mark + 1 - text) : size;
    const char* path = write_input(data, text[0] == '{' ? size : length, ".yaml");
    if (text[0] == '{') {
        take_journal(path);
    } else {
        take_study(path, mark != NULL ? mark + 4 : text + size);
    }
    unlink(path);
    free(text);
    return 0;
}
