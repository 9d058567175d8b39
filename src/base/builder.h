// What the add functions of all builders share: a definition is checked, appended to a list, and its name registered. They have
// `b`, `def` and `error` for arguments.
#ifndef ITM_BASE_ADDING_H
#define ITM_BASE_ADDING_H

#include "base/error.h"
#include "base/list.h"

// Return from an add function unless its arguments are there and the definition passes its check.
#define ITM_REQUIRE(check)                                                                                             \
    do {                                                                                                               \
        if (b == NULL || def == NULL) {                                                                                \
            return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "builder or def is NULL");                   \
        }                                                                                                              \
        ItmStatus check_status = (check);                                                                              \
        if (check_status != ITM_OK) {                                                                                  \
            return check_status;                                                                                       \
        }                                                                                                              \
    } while (0)

// Keep the element that was just appended, or take it back if its name was refused.
static inline ItmStatus itm_list_commit(ItmStatus status, int* count, int* id)
{
    if (status != ITM_OK) {
        (*count)--;
    } else if (id != NULL) {
        *id = *count - 1;
    }
    return status;
}

#endif
