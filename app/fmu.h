// interim fmu: its subcommands.
#ifndef INTERIM_APP_FMU_H
#define INTERIM_APP_FMU_H

#include "app.h"

extern const AppCommand app_fmu_show_command;
extern const AppCommand app_fmu_check_command;
extern const AppCommand app_fmu_run_command;
extern const AppCommand app_fmu_compare_command;
// NULL-terminated list of all subcommands; their names are "fmu show", ...
extern const AppCommand* const app_fmu_commands[];

#endif
