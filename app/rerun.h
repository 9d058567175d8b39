// interim rerun: of a run in rerun.c, of the runs of a study here.
#ifndef INTERIM_APP_RERUN_H
#define INTERIM_APP_RERUN_H

#include "app.h"

// The journal beside a table of a study, or the path itself if it is one, to be freed; NULL: there is none.
char* app_rerun_find_journal(const char* path);
// Repeat the runs of a study and compare them with its journal; the exit status.
int app_rerun_study(const AppArguments* arguments, const char* journal);

#endif
