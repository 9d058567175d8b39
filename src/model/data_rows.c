// What the rows of the last step are called, for messages and reports.
#include "contact/contact.h"

#include "base/guard.h"
#include "multibody/bounded_refine.h"

#include <stdio.h>

static const char* const DIRECTIONS[] = {[ITM_BOUND_NORMAL] = "normal",
                                         [ITM_BOUND_TANGENT] = "friction",
                                         [ITM_BOUND_TORSION] = "torsional friction",
                                         [ITM_BOUND_ROLLING] = "rolling friction",
                                         [ITM_BOUND_CLEARANCE] = "normal",
                                         [ITM_BOUND_CLEARANCE_TANGENT] = "friction",
                                         [ITM_BOUND_CLEARANCE_TORSION] = "torsional friction"};

static void name_contact(const ItmData* d, int contact, const char* direction, char* out, size_t size)
{
    ItmContactInfo c = itm_contact_look(d, contact);
    const char* colon = direction != NULL ? ": " : "";
    direction = direction != NULL ? direction : "";
    if (c.name_a == NULL) {
        snprintf(out, size, "a contact%s%s", colon, direction);
    } else if (c.name_b == NULL) {
        snprintf(out, size, "gap '%.60s'%s%s", c.name_a, colon, direction);
    } else {
        snprintf(out, size, "contact of '%.60s' and '%.60s'%s%s", c.name_a, c.name_b, colon, direction);
    }
}

void itm_data_name_row(const ItmModel* m, const ItmData* d, int row, bool with_direction, char* out, size_t size)
{
    const ItmRow* r = &d->bounded->rows[row];
    switch (r->kind) {
    case ITM_BOUND_LIMIT:
        snprintf(out, size, "limit '%.100s'", m->limits[r->owner].name);
        break;
    case ITM_BOUND_FRICTION:
        snprintf(out, size, "joint friction '%.100s'", m->joint_frictions[r->owner].name);
        break;
    case ITM_BOUND_MOTOR:
        snprintf(out, size, "motor '%.100s'", m->motions[r->owner].name);
        break;
    case ITM_BOUND_CLEARANCE:
    case ITM_BOUND_CLEARANCE_TANGENT:
    case ITM_BOUND_CLEARANCE_TORSION:
        snprintf(out, size, "clearance of '%.100s'%s%s", m->joints[m->clearances[r->owner].joint].name,
                 with_direction ? ": " : "", with_direction ? DIRECTIONS[r->kind] : "");
        break;
    default:
        name_contact(d, r->owner, with_direction ? DIRECTIONS[r->kind] : NULL, out, size);
        break;
    }
}

// ---------------------------------------------------------------------------- redundant rows

int itm_data_count_redundant(const ItmModel* m, ItmData* d)
{
    ITM_GUARD(m != NULL && d != NULL, 0);
    itm_bounded_refine(m, d);
    itm_bounded_factor_present(m, d);
    int count = 0;
    for (int i = 0; i < m->nrow; i++) {
        count += d->rows.factor.inv_diag[i] == 0.0;
    }
    for (int i = 0; d->bounded != NULL && i < d->bounded->nrow; i++) {
        count += d->bounded->refined.is_redundant[i];
    }
    return count;
}

void itm_data_get_redundant_name(const ItmModel* m, const ItmData* d, int index, char* name, size_t size)
{
    ITM_GUARD_VOID(m != NULL && d != NULL && name != NULL);
    if (size > 0) {
        name[0] = '\0';
    }
    for (int i = 0; i < m->nrow && index >= 0; i++) {
        if (d->rows.factor.inv_diag[i] == 0.0 && index-- == 0) {
            snprintf(name, size, "%s", m->row_names[i]);
        }
    }
    for (int i = 0; d->bounded != NULL && i < d->bounded->nrow && index >= 0; i++) {
        if (d->bounded->refined.is_redundant[i] && index-- == 0) {
            itm_data_name_row(m, d, i, true, name, size);
        }
    }
}
