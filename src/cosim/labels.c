// Memory for the names of our own subsystems.
#include "cosim/cosim.h"

static void lay_out(ItmLabels* l, int nname, int noutput, int nreal)
{
    l->names = ITM_TAKE(&l->arena, const char*, nname);
    l->outputs = ITM_TAKE(&l->arena, ItmOutputInfo, noutput);
    l->reals = ITM_TAKE(&l->arena, double, nreal);
}

bool itm_labels_create(ItmLabels* l, int nname, int noutput, int nreal)
{
    *l = (ItmLabels){0};
    lay_out(l, nname, noutput, nreal);
    if (itm_arena_allocate(&l->arena) != 0) {
        return false;
    }
    lay_out(l, nname, noutput, nreal);
    return true;
}

void itm_labels_destroy(ItmLabels* l)
{
    itm_arena_free(&l->arena);
}
