#include "summary.h"

#include <math.h>
#include <stdio.h>

void app_summary_note_step(AppRunSummary* s, const ItmData* data)
{
    double gap = itm_data_get_step_info(data).gap;
    s->gap = gap > s->gap ? gap : s->gap;
}
