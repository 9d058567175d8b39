// interim schema: the JSON Schemas of model and study files, for editors.
#include "app.h"

#include <stdio.h>

static int run(const AppArguments* arguments)
{
    bool is_study = app_arguments_get(arguments, "--study") != NULL;
    fputs(is_study ? itm_study_get_schema() : itm_file_get_schema(), stdout);
    return APP_FINISHED;
}

static const AppOption OPTIONS[] = {
    {APP_OPTION_WORD, "--study", 0, NULL, NULL, "the schema of study files"},
    {APP_OPTION_HELP, "--help", 'h', NULL, NULL, "print this help"},
};

const AppCommand app_schema_command = {
    .name = "schema",
    .synopsis = "[--study]",
    .help = "print the JSON Schema of model files or study files, for editors",
    .details =
        "Prints the JSON Schema of model files, or with --study that of study files. Editors use it to complete and check\n"
        "keys. With the YAML language server (Visual Studio Code, Vim, Emacs and others), begin a file with a comment that\n"
        "names the schema:\n\n"
        "    # yaml-language-server: $schema=model.schema.json\n\n"
        "Both schemas are installed in share/interim, as model.schema.json and study.schema.json.",
    .options = OPTIONS,
    .noption = (int)(sizeof OPTIONS / sizeof OPTIONS[0]),
    .takes_none = true,
    .run = run,
};
