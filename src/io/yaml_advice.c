// One walk over the lines of a text that the parser has refused. It uses no more of YAML than brackets, quotes, comments, keys
// and indentation, and stops at the first of them that cannot be right.
#include "io/yaml_advice.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define MOST_OPEN 64
#define NEAR 1  // lines between a mistake and where the parser notices it

typedef struct Bracket {
    char kind;
    size_t at;  // byte of the text
    int indent;
} Bracket;

typedef struct Walk {
    Bracket open[MOST_OPEN];
    int nopen;
    int levels[MOST_OPEN];  // indentations of the mappings that are open
    int nlevel;
    int line;          // 1-based
    size_t start;      // byte at which it begins
    bool has_value;    // the key of the line before has its value on that line
    int value_indent;  // indentation of that line
    int dash_indent;   // of the list that is open, below its key; -1: none
    int error_line;
    ItmYamlAdvice* advice;
    bool is_found;
} Walk;

typedef struct Line {
    const char* text;
    int length, indent;
} Line;

static void say(Walk* w, size_t at, const char* message)
{
    if (!w->is_found) {
        snprintf(w->advice->message, sizeof w->advice->message, "%s", message);
        w->advice->at = at;
        w->is_found = true;
    }
}

// ---------------------------------------------------------------------------- brackets and quotes

static void say_not_closed(Walk* w, const Bracket* bracket)
{
    char message[120];
    snprintf(message, sizeof message, "this '%c' is not closed: a '%c' is missing", bracket->kind,
             bracket->kind == '[' ? ']' : '}');
    say(w, bracket->at, message);
}

static void close_bracket(Walk* w, char kind, size_t at)
{
    char wanted = kind == ']' ? '[' : '{';
    if (w->nopen == 0) {
        char message[80];
        snprintf(message, sizeof message, "this '%c' closes nothing: a '%c' is missing before it", kind, wanted);
        say(w, at, message);
    } else if (w->open[w->nopen - 1].kind != wanted) {
        say_not_closed(w, &w->open[w->nopen - 1]);
    } else {
        w->nopen--;
    }
}

// The byte behind the closing quote; the end of the line if there is none, which is an error.
static int skip_quoted(Walk* w, const Line* line, int at)
{
    char quote = line->text[at];
    for (int i = at + 1; i < line->length; i++) {
        if (line->text[i] == '\\' && quote == '"') {
            i++;
        } else if (line->text[i] == quote) {
            return i + 1;
        }
    }
    char message[60];
    snprintf(message, sizeof message, "this %c is not closed on its line", quote);
    say(w, w->start + (size_t)at, message);
    return line->length;
}

// A quote or bracket begins only where a value can: at the start, or behind bracket, comma, colon or dash. Elsewhere it is text.
static bool is_start(const Line* line, int at)
{
    int before = at - 1;
    while (before >= line->indent && line->text[before] == ' ') {
        before--;
    }
    return before < line->indent || strchr("[{,:-", line->text[before]) != NULL;
}

static bool is_comment(const Line* line, int at)
{
    return line->text[at] == '#' && (at == line->indent || strchr(" \t", line->text[at - 1]) != NULL);
}

static void walk_brackets(Walk* w, const Line* line)
{
    for (int i = line->indent; i < line->length && !w->is_found;) {
        char c = line->text[i];
        if (is_comment(line, i)) {
            return;
        }
        if ((c == '"' || c == '\'') && is_start(line, i)) {
            i = skip_quoted(w, line, i);
            continue;
        }
        // in a block, a bracket inside a value is text
        bool is_flow = w->nopen > 0 || is_start(line, i),
             is_behind = i > line->indent && strchr("]}", line->text[i - 1]);
        if ((c == '[' || c == '{') && is_flow && w->nopen < MOST_OPEN) {
            w->open[w->nopen++] = (Bracket){c, w->start + (size_t)i, line->indent};
        } else if ((c == ']' || c == '}') && (is_flow || is_behind)) {
            close_bracket(w, c, w->start + (size_t)i);
        }
        i++;
    }
}

// ---------------------------------------------------------------------------- keys and indentation

// Length of the word that begins a line, with its colon; 0 if it is no key.
static int find_key(const Line* line)
{
    int i = line->indent;
    while (i < line->length && (isalnum((unsigned char)line->text[i]) || strchr("_-.", line->text[i]) != NULL)) {
        i++;
    }
    return i > line->indent && i < line->length && line->text[i] == ':' ? i + 1 - line->indent : 0;
}

static bool is_near(const Walk* w)
{
    return w->line >= w->error_line - NEAR && w->line <= w->error_line + NEAR;
}

// "mass:2 kg"
static void check_colon(Walk* w, const Line* line, int key)
{
    int end = line->indent + key;
    if (is_near(w) && end < line->length && strchr(" \t\r", line->text[end]) == NULL) {
        char message[120];
        snprintf(message, sizeof message, "a space is missing after '%.*s'", key > 60 ? 60 : key,
                 line->text + line->indent);
        say(w, w->start + (size_t)end, message);
    }
}

// "mass: 2 kg  color: red": a second key behind the value; `key` is the length of the first.
static void check_second_key(Walk* w, const Line* line, int key)
{
    for (int i = line->indent + key; i + 1 < line->length && !is_comment(line, i); i++) {
        if (strchr("\"'[{", line->text[i]) != NULL && is_start(line, i)) {
            return;
        }
        if (line->text[i] == ':' && strchr(" \t\r", line->text[i + 1]) != NULL) {
            say(w, w->start + (size_t)i,
                "a second ':' in this line: begin a new line for each key, or put the text in quotes");
            return;
        }
    }
}

// "bodies" or "mass 2 kg": a key without its colon.
static void check_missing_colon(Walk* w, const Line* line)
{
    int end = line->indent;
    while (end < line->length && (isalnum((unsigned char)line->text[end]) || strchr("_-.", line->text[end]) != NULL)) {
        end++;
    }
    int length = end - line->indent;
    if (length > 0 && (end == line->length || strchr(" \t\r", line->text[end]) != NULL)) {
        char message[120];
        snprintf(message, sizeof message, "a ':' is missing after '%.*s'", length > 60 ? 60 : length,
                 line->text + line->indent);
        say(w, w->start + (size_t)end, message);
    }
}

// A value that begins with a character that YAML keeps for itself.
static void check_first_character(Walk* w, const Line* line, int key)
{
    int at = line->indent + key;
    while (at < line->length && line->text[at] == ' ') {
        at++;
    }
    if (at < line->length && strchr("@%`", line->text[at]) != NULL) {
        char message[80];
        snprintf(message, sizeof message, "a value cannot begin with '%c'; put the text in quotes", line->text[at]);
        say(w, w->start + (size_t)at, message);
    }
}

// Whether a value follows the key on its line.
static bool is_followed(const Line* line, int key)
{
    int i = line->indent + key;
    while (i < line->length && strchr(" \t\r", line->text[i]) != NULL) {
        i++;
    }
    return i < line->length && line->text[i] != '#' && strchr("|>&", line->text[i]) == NULL;
}

// A line goes on at an indentation that is open, or opens the mapping of a key without a value.
static void check_indent(Walk* w, const Line* line)
{
    char message[160];
    bool is_deeper = w->nlevel == 0 || line->indent > w->levels[w->nlevel - 1];
    if (is_deeper && w->nlevel > 0 && w->has_value && line->indent > w->value_indent) {
        snprintf(message, sizeof message,
                 "this line is indented by %d spaces, the line before it by %d, which already has its value",
                 line->indent, w->value_indent);
        say(w, w->start + (size_t)line->indent, message);
        return;
    }
    if (is_deeper) {
        if (w->nlevel < MOST_OPEN) {
            w->levels[w->nlevel++] = line->indent;
        }
        return;
    }
    int deeper = w->levels[w->nlevel - 1];
    while (w->nlevel > 0 && w->levels[w->nlevel - 1] > line->indent) {
        deeper = w->levels[--w->nlevel];
    }
    if (w->nlevel > 0 && w->levels[w->nlevel - 1] < line->indent) {
        snprintf(message, sizeof message, "this line is indented by %d spaces, its neighbours by %d or %d",
                 line->indent, w->levels[w->nlevel - 1], deeper);
        say(w, w->start + (size_t)line->indent, message);
    }
}

static void walk_line(Walk* w, const Line* line)
{
    int key = find_key(line);
    if (line->text[line->indent] == '<' && w->line == 1) {
        say(w, w->start, "this is an HTML or XML file, not YAML");
    }
    if (w->nopen > 0) {
        // a key of the block ends what should have been closed before
        const Bracket* first = &w->open[0];
        if (key > 0 && line->indent <= first->indent && line->text[line->indent + key - 1] == ':') {
            say_not_closed(w, &w->open[w->nopen - 1]);
        }
        walk_brackets(w, line);
        return;
    }
    if (key > 0) {
        if (is_near(w) && line->indent == w->dash_indent) {
            say(w, w->start + (size_t)line->indent,
                "this key follows items of a list: begin it with '- ', or remove the dash before the lines above");
        }
        w->dash_indent = line->indent <= w->dash_indent ? -1 : w->dash_indent;
        check_colon(w, line, key);
        check_indent(w, line);
        if (is_near(w)) {
            check_second_key(w, line, key);
            check_first_character(w, line, key);
        }
        w->has_value = is_followed(line, key);
        w->value_indent = line->indent;
    } else if (line->text[line->indent] == '-') {
        w->dash_indent = w->nlevel > 0 && line->indent > w->levels[w->nlevel - 1] ? line->indent : -1;
    } else if (is_near(w) && !(w->has_value && line->indent > w->value_indent)) {
        check_missing_colon(w, line);
    }
    walk_brackets(w, line);
}

bool itm_yaml_advise(ItmYamlAdvice* advice, const char* text, size_t length, int error_line)
{
    Walk w = {.dash_indent = -1, .error_line = error_line, .advice = advice};
    for (size_t start = 0; start < length && !w.is_found;) {
        const char* end = memchr(text + start, '\n', length - start);
        size_t count = end != NULL ? (size_t)(end - text) - start : length - start;
        Line line = {text + start, (int)count, 0};
        while (line.indent < line.length && line.text[line.indent] == ' ') {
            line.indent++;
        }
        w.line++;
        w.start = start;
        bool is_empty = line.indent == line.length || strchr("#\r", line.text[line.indent]) != NULL;
        // a text over several lines (| or >) is not looked into, nor is what comes behind the error
        if (!is_empty && (w.line <= error_line + NEAR || w.nopen > 0)) {
            walk_line(&w, &line);
        }
        start += count + 1;
    }
    if (!w.is_found && w.nopen > 0) {
        say_not_closed(&w, &w.open[w.nopen - 1]);
    }
    return w.is_found;
}
