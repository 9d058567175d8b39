// The part of `interim check` on shapes, bounds and the contacts at the start.
#ifndef INTERIM_APP_CONTACTS_H
#define INTERIM_APP_CONTACTS_H

#include "app.h"

// Shapes, laws, joint limits, friction and motors, where there are any.
void app_contacts_print(const ItmModel* m);
// Find the contacts of the start: print how many if is_checking, and print a warning for each thing that is wrong with
// them. name: of the mechanism, "" if there is only one. Returns the number of warnings, -1
// after printing that there is not enough memory.
int app_contacts_warn(const ItmModel* m, const ItmStepOptions* step, const char* name, bool is_checking);

#endif
