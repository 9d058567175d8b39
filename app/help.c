#include "app.h"

#include <stdio.h>

static void print_option(const AppOption* option)
{
    char text[64];
    const char* value = option->value != NULL ? option->value : "";
    if (option->letter != 0) {
        snprintf(text, sizeof text, "-%c, %s %s", option->letter, option->name, value);
    } else {
        snprintf(text, sizeof text, "    %s %s", option->name, value);
    }
    printf("  %-24s %s\n", text, option->help);
}

void app_help_print_command(const AppCommand* command)
{
    printf("usage: interim %s %s\n\n%s\n\n", command->name, command->synopsis, command->details);
    for (int i = 0; i < command->noption; i++) {
        print_option(&command->options[i]);
    }
    for (int i = 0; command->subcommands != NULL && command->subcommands[i] != NULL; i++) {
        printf("  %-12s %s\n", command->subcommands[i]->name, command->subcommands[i]->help);
    }
}

void app_help_print_overview(void)
{
    printf("Interim %s: nonsmooth multibody dynamics and co-simulation\n\n"
           "Simulates mechanisms with contact, friction and impacts. Reduced interface models couple them to\n"
           "hydraulics, controls and other mechanisms at large macro steps without iteration. Models are YAML or\n"
           "URDF files.\n\n"
           "usage: interim COMMAND FILE... [OPTION]...\n\n",
           itm_version());
    for (int i = 0; app_commands[i] != NULL; i++) {
        printf("  %-10s %s\n", app_commands[i]->name, app_commands[i]->help);
    }
    printf("  %-10s %s\n\n", "help", "show the help of a command: interim help run");
    printf("Exit status: 0 finished; 1 wrong usage or invalid model; 2 the simulation broke down;\n"
           "3 finished with doubts and --strict was given; 128 + signal number if interrupted.\n");
}
