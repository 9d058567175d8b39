#include "controls.h"

#include <math.h>
#include <stdio.h>

static void print_inputs(const ItmControl* c)
{
    for (int i = 0; i < itm_control_get_input_count(c); i++) {
        printf("  input        %s; feedthrough to", itm_control_get_input_name(c, i));
        int n = 0;
        for (int k = 0; k < itm_control_get_output_count(c); k++) {
            if (itm_control_is_feedthrough(c, k, i)) {
                printf(" %s", itm_control_get_output_info(c, k).name);
                n++;
            }
        }
        printf("%s\n", n == 0 ? " no block" : "");
    }
}

static void print_control(const ItmFileControl* control)
{
    ItmControlInfo info = itm_control_get_info(control->control);
    printf("\n%s (control)\n", control->name);
    printf("  blocks       %d with %d states, %d signals; %.0f kB per instance\n", info.nblock, info.nstate,
           info.nsignal, ceil((double)info.data_bytes / 1024.0));
    printf("  samples      every %.9g s", control->step);
    for (int i = 0; i < info.nblock; i++) {
        double sample = itm_control_get_sample(control->control, i);
        if (sample > 0.0) {
            printf("; %s every %.9g s", itm_control_get_output_info(control->control, i).name, sample);
        }
    }
    printf("\n");
    print_inputs(control->control);
}

void app_controls_print(const ItmModelFile* file)
{
    for (int i = 0; i < file->ncontrol; i++) {
        print_control(&file->controls[i]);
    }
}
