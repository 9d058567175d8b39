// Reading model files from memory, for tests: accepted whole, or refused at a place with certain words.
#ifndef ITM_TESTS_READ_TEXT_H
#define ITM_TESTS_READ_TEXT_H

#include "check.h"

#include "interim/file.h"
#include "io/model/file.h"
#include "multibody/model_builder.h"

typedef struct Read {
    ItmModelFile file;
    ItmFileParts parts;
    ItmModelBuilder* builder;  // of the mechanism; belongs to parts
    ItmDocument doc;
    ItmError error;
    ItmStatus status;
} Read;

static inline Read read_length(const char* text, size_t length, const char* override)
{
    Read r = {0};
    r.status = itm_file_read(&r.file, &r.parts, &r.doc, text, length, "model.yaml", NULL, &override, override != NULL,
                             &r.error);
    r.builder = r.parts.nmechanism > 0 ? r.parts.mechanisms[0].builder : NULL;
    return r;
}

static inline void done(Read* r)
{
    itm_file_clear(&r->file);
    itm_file_parts_clear(&r->parts);
    itm_document_free(&r->doc);
}

static inline Read accept_with(const char* text, const char* override)
{
    Read r = read_length(text, strlen(text), override);
    if (r.status != ITM_OK) {
        fail_msg("%s:%d:%d: %s\n%s", r.error.file, r.error.line, r.error.column, r.error.message, text);
    }
    return r;
}

static inline Read accept(const char* text)
{
    return accept_with(text, NULL);
}

static inline void expect_error(Read* r, const char* text, const char* file, int line, int column, const char* words)
{
    if (r->status == ITM_OK) {
        fail_msg("accepted: %.300s", text);
    }
    if (r->error.line != line || r->error.column != column || strstr(r->error.message, words) == NULL ||
        strcmp(r->error.file, file) != 0) {
        fail_msg("expected %s:%d:%d '%s', got %s:%d:%d: %s\n%.300s", file, line, column, words, r->error.file,
                 r->error.line, r->error.column, r->error.message, text);
    }
    assert_int_equal(r->status, r->error.status);
    done(r);
}

static inline void refuse(const char* text, int line, int column, const char* words)
{
    Read r = read_length(text, strlen(text), NULL);
    expect_error(&r, text, "model.yaml", line, column, words);
}

// A file with one body `rod` at (1, 2, 3), one more `bob` without pose, and these lines, the first
// in line 9.
#define HEAD                                                                                                           \
    "signals: {lift: {ramp: {end: 1 s, to: 5 N}}}\n"                                                                   \
    "parameters: {L: 2 m}\n"                                                                                           \
    "multibody:\n"                                                                                                     \
    "  bodies:\n"                                                                                                      \
    "    rod: {mass: 1 kg, inertia: [1, 1, 1], position: [1, 2, 3]}\n"                                                 \
    "    bob: {mass: 1 kg, inertia: [1, 1, 1]}\n"                                                                      \
    "    box: {mass: 1 kg, inertia: [1, 1, 1], position: [0, 0, 0],\n"                                                 \
    "          orientation: {axis: [0, 0, 1], angle: 90 deg}}\n"

static inline void refuse_after_head(const char* lines, int line, int column, const char* words)
{
    char text[4096];
    snprintf(text, sizeof text, HEAD "%s", lines);
    refuse(text, line + 8, column, words);
}

static inline Read accept_after_head(const char* lines)
{
    char text[4096];
    snprintf(text, sizeof text, HEAD "%s", lines);
    return accept(text);
}

#endif
