#include "summary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void app_summary_note_step(AppRunSummary* s, const ItmData* data)
{
    ItmStepInfo info = itm_data_get_step_info(data);
    s->gap = fmax(s->gap, info.gap);
    s->ncontact = info.ncontact > s->ncontact ? info.ncontact : s->ncontact;
    s->nasleep = info.nasleep > s->nasleep ? info.nasleep : s->nasleep;
    s->nbounded = info.nbounded > s->nbounded ? info.nbounded : s->nbounded;
    s->solver_iterations += info.solver_iterations;
    s->solver_residual = fmax(s->solver_residual, info.solver_residual);
    s->penetration = fmax(s->penetration, info.penetration);
}

// ", name" or ", name (3)" behind what is there; false when it does not fit.
static bool append_name(char* out, size_t size, const char* name, int count)
{
    size_t used = strlen(out);
    char times[24] = "";
    if (count > 1) {
        snprintf(times, sizeof times, " (%d)", count);
    }
    int length = snprintf(out + used, size - used, "%s%s%s", used > 0 ? ", " : "", name, times);
    bool fits = length >= 0 && (size_t)length < size - used;
    if (!fits) {
        out[used] = '\0';
    }
    return fits;
}

// Names of the redundant rows, equal ones together, as many as fit.
static void list_redundant(char* out, size_t size, const ItmModel* model, ItmData* data)
{
    enum { MOST = 64 };
    char names[MOST][160];
    int counts[MOST], nname = 0, n = itm_data_count_redundant(model, data);
    for (int i = 0; i < n && nname < MOST; i++) {
        int k = 0;
        itm_data_get_redundant_name(model, data, i, names[nname], sizeof names[nname]);
        while (strcmp(names[k], names[nname]) != 0) {
            k++;
        }
        counts[k] = k < nname ? counts[k] + 1 : 1;
        nname += k == nname;
    }
    out[0] = '\0';
    // room for the dots
    int k = 0;
    while (k < nname && append_name(out, size - 6, names[k], counts[k])) {
        k++;
    }
    if (k < nname || nname == MOST) {
        append_name(out, size, "...", 1);
    }
}

void app_summary_note_redundant(AppRunSummary* s, const ItmModel* model, ItmData* data)
{
    ItmStepInfo info = itm_data_get_step_info(data);
    int count = info.nredundant + info.solver_redundant;
    if (count > s->nredundant) {
        s->nredundant = count;
        s->redundant_time = itm_data_get_time(data);
        list_redundant(s->redundant_names, sizeof s->redundant_names, model, data);
    }
}

static void print_steps(const ItmModelFile* file, const ItmStepInfo* info)
{
    if (info->smallest_step > 0.0) {
        printf("  steps        %ld of %.3g to %.3g s (%s)", info->steps, info->smallest_step, info->largest_step,
               itm_stepper_name(file->run.step.stepper));
    } else {
        printf("  steps        %ld of %.9g s (%s)", info->steps, file->run.step.step,
               itm_stepper_name(file->run.step.stepper));
    }
    if (info->total_iterations > 0 && !(info->smallest_step > 0.0)) {
        printf(", %ld iterations", info->total_iterations);
    }
    if (info->rejected > 0) {
        printf(", %ld repeated with a smaller step", info->rejected);
    }
    if (info->internal_steps > 0) {
        printf(", %ld internal steps", info->internal_steps);
    }
    printf("\n");
    if (info->unfinished > 0) {
        printf("  unfinished   %ld steps did not reach their tolerance\n", info->unfinished);
    }
}

// Work of the complementarity solver, if there are bounded rows.
static void print_bounds(const AppRunSummary* s, const ItmStepInfo* info)
{
    if (s->nbounded == 0) {
        return;
    }
    if (s->ncontact > 0) {
        printf("  contacts     up to %d, penetration up to %.2g m\n", s->ncontact, s->penetration);
    }
    if (s->nasleep > 0) {
        printf("  asleep       up to %d bodies, %d at the end\n", s->nasleep, info->nasleep);
    }
    if (s->is_verbose) {
        printf("  bounds       up to %d rows\n", s->nbounded);
        printf("  solver       %ld iterations, residual up to %.2g, %ld fallbacks\n", s->solver_iterations,
               s->solver_residual, info->fallbacks);
    }
    if (info->unsolved > 0) {
        printf("  unsolved     %ld problems that no solver solved to the tolerance\n", info->unsolved);
    }
    if (info->worst_residual > 0.0) {
        printf("  worst        residual %.2g at %.9g s, %s\n", info->worst_residual, info->worst_time,
               info->worst_name);
    }
}

static void print_redundant(const AppRunSummary* s)
{
    if (s->nredundant > 0 && s->is_verbose) {
        printf("  redundant    up to %d constraints, with forces of minimum norm; at %.9g s: %s\n", s->nredundant,
               s->redundant_time, s->redundant_names);
    }
}

// Impacts, flight and losses of joints with clearance.
static void print_clearance(const ItmModel* m, const ItmData* data)
{
    double time = itm_data_get_time(data);
    for (int joint = 0; joint < itm_model_get_info(m).njoint; joint++) {
        ItmClearanceInfo info = itm_clearance_get_info(m, data, joint);
        if (info.npoint > 0) {
            printf("  clearance    %s: %ld impacts, %.3g %% of the time without contact, %.4g J lost by impacts and "
                   "%.4g J by "
                   "friction, peak force %.4g N\n",
                   itm_model_get_joint_name(m, joint), info.impacts, time > 0.0 ? 100.0 * info.free_time / time : 0.0,
                   info.impact_loss, info.friction_loss, info.peak_force);
        }
    }
}

void app_summary_print_head(const char* title, ItmVerdict verdict, double time)
{
    static const char* const ENDS[] = {[ITM_VERDICT_RUNNING] = "running",
                                       [ITM_VERDICT_FINISHED] = "finished",
                                       [ITM_VERDICT_INTERRUPTED] = "interrupted",
                                       [ITM_VERDICT_BROKE_DOWN] = "broke down",
                                       [ITM_VERDICT_DOUBTFUL] = "finished with doubts"};
    printf("%s: %s at %.9g s\n", title[0] != '\0' ? title : "run", ENDS[verdict], time);
}

void app_summary_print_mechanism(const AppRunSummary* s, const ItmModelFile* file, const ItmData* data)
{
    ItmStepInfo info = itm_data_get_step_info(data);
    print_steps(file, &info);
    print_bounds(s, &info);
    print_redundant(s);
    print_clearance(file->model, data);
    if (s->gap > 0.0 && s->is_verbose) {  // one above its bound is a doubt
        printf("  joint gap    up to %.2g m or rad\n", s->gap);
    }
}

void app_summary_print_tail(const AppRunSummary* s, double time, const char* output, int noutput)
{
    printf("  wall time    %.3g s, %.3g times real time\n", s->wall_time,
           s->wall_time > 0.0 ? time / s->wall_time : 0.0);
    if (s->energy > 0.0) {
        printf("  energy       balanced to %.2g J, %.2g %% of the machine's %.3g J\n", s->energy_error,
               100.0 * s->energy_error / s->energy, s->energy);
    }
    if (output != NULL) {
        printf("  results      %s, %ld rows of %d columns\n", output, s->nrow, 1 + noutput);
    }
}
