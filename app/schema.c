// interim schema: the JSON Schema of model files, for editors.
#include "app.h"

#include <stdio.h>

static int run(const AppArguments* arguments)
{
    (void)arguments;
    fputs(itm_file_get_schema(), stdout);
    return APP_FINISHED;
}

static const AppOption OPTIONS[] = {
    {APP_OPTION_HELP, "--help", 'h', NULL, NULL, "print this help"},
};

const AppCommand app_schema_command = {
    .name = "schema",
    .synopsis = "",
    .help = "print the JSON Schema of model files, for editors",
    .details =
        "Prints the JSON Schema of model files. Editors complete and check keys with it. With the YAML language server\n"
        "(Visual Studio Code, Vim, Emacs and others), begin a model file with a comment that names the schema:\n\n"
        "    # yaml-language-server: $schema=model.schema.json\n\n"
        "An installed Interim has it in share/interim/model.schema.json.",
    .options = OPTIONS,
    .noption = (int)(sizeof OPTIONS / sizeof OPTIONS[0]),
    .takes_none = true,
    .run = run,
};
