// Command lines: options may come before and after the model file, "--" ends them, "--name=value" and
// "--name value" are the same.
#include "app.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------- options

// The option that a word names, and its value if it is in the same word ("--until=2s", "-oa.csv").
static const AppOption* find_option(const AppCommand* command, const char* word, const char** value)
{
    size_t length = strcspn(word, "=");
    *value = NULL;
    for (int i = 0; i < command->noption; i++) {
        const AppOption* option = &command->options[i];
        if (strlen(option->name) == length && strncmp(option->name, word, length) == 0) {
            *value = word[length] == '=' ? word + length + 1 : NULL;
            return option;
        }
        if (word[1] == option->letter && option->letter != 0 && (word[2] == '\0' || option->value != NULL)) {
            *value = word[2] != '\0' ? word + 2 : NULL;
            return option;
        }
    }
    return NULL;
}

// ---------------------------------------------------------------------------- complaints

const char* app_find_nearest(const char* word, const char* const* words)
{
    int count = 0;
    while (words[count] != NULL) {
        count++;
    }
    return itm_nearest_find(word, strcspn(word, "="), words, count);
}

static bool complain(const AppCommand* command, const char* what, const char* word)
{
    char shown[200];
    snprintf(shown, sizeof shown, "%s", word);
    app_clean_text(shown);
    fprintf(stderr, "interim %s: %s '%s' (see: interim help %s)\n", command->name, what, shown, command->name);
    return false;
}

// Letters of earlier versions, each refused with the present option.
static const struct {
    const char *command, *former, *present;
} RENAMED_LETTERS[] = {
    {"sweep", "-v", "--over"},           {"sweep", "-t", "--timeout"},     {"sweep", "-p", "-r (--report)"},
    {"compare", "-s", "-i (--signals)"}, {"plot", "-s", "-i (--signals)"},
};

static const char* find_renamed(const AppCommand* command, const char* word)
{
    for (size_t i = 0; i < sizeof RENAMED_LETTERS / sizeof RENAMED_LETTERS[0]; i++) {
        if (strcmp(command->name, RENAMED_LETTERS[i].command) == 0 &&
            strncmp(word, RENAMED_LETTERS[i].former, 2) == 0) {
            return RENAMED_LETTERS[i].present;
        }
    }
    return NULL;
}

// The first other command that has this option, or NULL.
static const AppCommand* find_owner(const char* word, const AppOption** option)
{
    const char* value;
    for (int i = 0; app_commands[i] != NULL; i++) {
        *option = find_option(app_commands[i], word, &value);
        if (*option != NULL) {
            return app_commands[i];
        }
    }
    return NULL;
}

static bool complain_unknown(const AppCommand* command, const char* word)
{
    const char* names[16] = {NULL};
    for (int i = 0; i < command->noption && i < 15; i++) {
        names[i] = command->options[i].name;
    }
    const AppOption* option;
    const char *renamed = find_renamed(command, word), *nearest = app_find_nearest(word, names);
    const AppCommand* owner = find_owner(word, &option);
    fprintf(stderr, "interim %s: unknown option '%s'", command->name, word);
    if (renamed != NULL) {
        fprintf(stderr, "; use %s\n", renamed);
    } else if (owner != NULL) {
        fprintf(stderr, "; %s is an option of 'interim %s' (see: interim help %s)\n", option->name, owner->name,
                command->name);
    } else if (nearest != NULL) {
        fprintf(stderr, "; did you mean '%s'?\n", nearest);
    } else {
        fprintf(stderr, " (see: interim help %s)\n", command->name);
    }
    return false;
}

// ---------------------------------------------------------------------------- reading

// "run.duration" and "2 s" -> "run.duration=2 s"; NULL without memory.
static char* make_override(const char* key, const char* value)
{
    size_t size = (key != NULL ? strlen(key) : 0) + strlen(value) + 2;
    char* text = malloc(size);
    if (text != NULL) {
        snprintf(text, size, "%s%s%s", key != NULL ? key : "", key != NULL ? "=" : "", value);
    }
    return text;
}

static bool apply_override(AppArguments* a, const AppCommand* command, const AppOption* option, const char* value)
{
    if (option->key == NULL && strchr(value, '=') == NULL) {
        return complain(command, "--set requires KEY=VALUE, got", value);
    }
    char* text = make_override(option->key, value);
    if (text == NULL) {
        return complain(command, "out of memory reading", value);
    }
    a->overrides[a->noverride++] = text;
    return true;
}

static bool apply_option(AppArguments* a, const AppCommand* command, const AppOption* option, const char* value)
{
    switch (option->kind) {
    case APP_OPTION_OVERRIDE:
        return apply_override(a, command, option, value);
    case APP_OPTION_OUTPUT:
        a->output = value;
        break;
    case APP_OPTION_SANDBOX:
        a->sandbox = value;
        break;
    case APP_OPTION_WORD:
        if (option->value != NULL && strcmp(option->value, "FILE.html") == 0 && !app_path_has_ending(value, ".html")) {
            return complain(command, "--report requires a file that ends in .html, got", value);
        }
        a->words[a->nword++] = (AppWord){option, value};
        break;
    case APP_OPTION_QUIET:
        a->is_quiet = true;
        break;
    case APP_OPTION_HELP:
        a->wants_help = true;
        break;
    }
    return true;
}

static const char* operand_name(const AppCommand* command)
{
    return command->operand != NULL ? command->operand : "model file";
}

static bool apply_operand(AppArguments* a, const AppCommand* command, char* word)
{
    if (command->takes_none) {
        return complain(command, "it takes no file; unexpected", word);
    }
    if (a->noperand > 0 && !command->takes_many) {
        char what[64];
        snprintf(what, sizeof what, "only one %s is allowed; unexpected", operand_name(command));
        return complain(command, what, word);
    }
    a->operands[a->noperand++] = word;
    a->model = a->operands[0];
    return true;
}

// One word, with its value if that is the next one; returns the words taken, 0 on failure.
static int parse_word(AppArguments* a, const AppCommand* command, int left, char** words)
{
    const char* value = NULL;
    if (words[0][0] != '-' || words[0][1] == '\0') {
        return apply_operand(a, command, words[0]) ? 1 : 0;
    }
    const AppOption* option = find_option(command, words[0], &value);
    if (option == NULL) {
        complain_unknown(command, words[0]);
        return 0;
    }
    if (option->value == NULL && value != NULL) {
        complain(command, "this option takes no value:", words[0]);
        return 0;
    }
    bool takes_next = option->value != NULL && value == NULL;
    if (takes_next && left < 2) {
        complain(command, "missing value after", words[0]);
        return 0;
    }
    value = takes_next ? words[1] : value;
    return apply_option(a, command, option, value) ? 1 + takes_next : 0;
}

bool app_arguments_parse(AppArguments* a, const AppCommand* command, int argc, char** argv)
{
    *a = (AppArguments){.overrides = calloc((size_t)argc + 1, sizeof *a->overrides),
                        .operands = calloc((size_t)argc + 1, sizeof *a->operands),
                        .words = calloc((size_t)argc + 1, sizeof *a->words)};
    bool has_options = true, is_right = a->overrides != NULL && a->operands != NULL && a->words != NULL;
    if (!is_right) {
        fprintf(stderr, "interim %s: out of memory\n", command->name);
    }
    for (int i = 0; i < argc && is_right;) {
        if (has_options && strcmp(argv[i], "--") == 0) {
            has_options = false;
            i++;
        } else if (has_options) {
            int taken = parse_word(a, command, argc - i, argv + i);
            is_right = taken > 0;
            i += taken;
        } else {
            is_right = apply_operand(a, command, argv[i++]);
        }
    }
    if (is_right && a->model == NULL && !a->wants_help && !command->takes_none) {
        fprintf(stderr, "interim %s: missing %s (see: interim help %s)\n", command->name, operand_name(command),
                command->name);
        is_right = false;
    }
    return is_right;
}

void app_arguments_free(AppArguments* a)
{
    for (int i = 0; i < a->noverride; i++) {
        free(a->overrides[i]);
    }
    free(a->overrides);
    free(a->operands);
    free(a->words);
    *a = (AppArguments){0};
}

const char* app_arguments_get(const AppArguments* a, const char* name)
{
    const char* value = NULL;
    for (int i = 0; i < a->nword; i++) {
        if (strcmp(a->words[i].option->name, name) == 0) {
            value = a->words[i].value != NULL ? a->words[i].value : "";
        }
    }
    return value;
}
