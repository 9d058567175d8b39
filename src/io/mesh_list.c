#include "io/mesh_list.h"

#include "base/error.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------- lists

static bool reserve(void** array, int* capacity, int count, int most, size_t size)
{
    if (count <= *capacity) {
        return true;
    }
    if (count > most) {
        return false;
    }
    int wanted = count < most / 2 ? 2 * count + 64 : most;
    void* grown = realloc(*array, (size_t)wanted * size);
    if (grown == NULL) {
        return false;
    }
    *array = grown;
    *capacity = wanted;
    return true;
}

bool itm_mesh_list_add_vertex(ItmMeshList* list, ItmVec3 p)
{
    if (!reserve((void**)&list->mesh.vertices, &list->vertex_capacity, list->mesh.nvertex + 1,
                 3 * ITM_MESH_MAX_TRIANGLES, sizeof(ItmVec3))) {
        return false;
    }
    list->mesh.vertices[list->mesh.nvertex++] = p;
    return true;
}

bool itm_mesh_list_add_triangle(ItmMeshList* list, int a, int b, int c)
{
    if (!reserve((void**)&list->mesh.triangles, &list->triangle_capacity, list->mesh.ntriangle + 1,
                 ITM_MESH_MAX_TRIANGLES, 3 * sizeof(int))) {
        return false;
    }
    int* t = list->mesh.triangles + 3 * (size_t)list->mesh.ntriangle++;
    t[0] = a;
    t[1] = b;
    t[2] = c;
    return true;
}

// ---------------------------------------------------------------------------- words

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f' || c == '\0';
}

ItmMeshWord itm_mesh_next_word(ItmMeshText* text)
{
    while (text->at < text->end && is_blank(*text->at)) {
        text->at++;
    }
    ItmMeshWord word = {text->at, 0};
    while (text->at < text->end && !is_blank(*text->at) && *text->at != '\n') {
        text->at++;
    }
    word.length = (size_t)(text->at - word.start);
    return word;
}

bool itm_mesh_next_line(ItmMeshText* text)
{
    while (text->at < text->end && *text->at != '\n') {
        text->at++;
    }
    if (text->at == text->end) {
        return false;
    }
    text->at++;
    text->line++;
    return text->at < text->end;
}

bool itm_mesh_word_is(ItmMeshWord word, const char* expected)
{
    if (strlen(expected) != word.length) {
        return false;
    }
    for (size_t i = 0; i < word.length; i++) {
        if (tolower((unsigned char)word.start[i]) != expected[i]) {
            return false;
        }
    }
    return true;
}

// Only digits, sign, point and exponent: strtod alone would take "nan", "inf" and hexadecimals.
bool itm_mesh_word_to_real(double* value, ItmMeshWord word)
{
    char copy[64];
    if (word.length == 0 || word.length >= sizeof copy) {
        return false;
    }
    for (size_t i = 0; i < word.length; i++) {
        if (strchr("0123456789+-.eE", word.start[i]) == NULL) {
            return false;
        }
    }
    memcpy(copy, word.start, word.length);
    copy[word.length] = '\0';
    char* end;
    *value = strtod(copy, &end);
    return *end == '\0' && fabs(*value) < 1e100;
}

ItmStatus itm_mesh_fail(ItmError* error, const ItmMeshText* text, const char* format, ...)
{
    char message[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    itm_error_set(error, ITM_ERR_INPUT, __func__, NULL, "%s", message);
    if (error != NULL) {
        snprintf(error->file, sizeof error->file, "%s", text->name);
        error->line = text->line;
    }
    return ITM_ERR_INPUT;
}
