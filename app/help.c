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
}

void app_help_print_overview(void)
{
    printf("Interim %s: machines that collide, stick and rattle, and what moves them\n\n"
           "Simulates mechanisms with contact, and couples them at large steps, without iterating, to hydraulics,\n"
           "controls and other mechanisms, by reduced interface models. Models are YAML files, or URDF.\n\n"
           "usage: interim COMMAND FILE... [OPTION]...\n\n",
           itm_version());
    for (int i = 0; app_commands[i] != NULL; i++) {
        printf("  %-10s %s\n", app_commands[i]->name, app_commands[i]->help);
    }
    printf("  %-10s %s\n\n", "help", "the page of a command: interim help run");
    printf("Exit status: 0 finished; 1 wrong usage or a bad model; 2 the simulation broke down;\n"
           "3 it finished with doubts, under --strict; "
           "128 + the signal's number if it was interrupted.\n");
}
