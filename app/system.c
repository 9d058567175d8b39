#include "system.h"

#include <math.h>
#include <stdio.h>

void app_system_note_step(AppRunSummary* summary, ItmCosim* cosim)
{
    for (int i = 0; i < itm_cosim_get_mechanism_count(cosim); i++) {
        app_summary_note_step(summary, itm_cosim_get_data(cosim, i));
    }
}

void app_system_note_outputs(AppRunSummary* summary, ItmCosim* cosim)
{
    for (int i = 0; i < itm_cosim_get_mechanism_count(cosim); i++) {
        app_summary_note_redundant(summary, itm_cosim_get_model(cosim, i), itm_cosim_get_data(cosim, i));
    }
}

// ---------------------------------------------------------------------------- circuits

static void print_circuit(const ItmFileCircuit* circuit, ItmHydraulics* d, bool has_steps)
{
    ItmHydraulicInfo info = itm_hydraulics_get_info(d);
    double time = itm_hydraulics_get_time(d);
    if (has_steps) {
        printf("  %-12s %ld steps of %.9g s (%s)", circuit->name, info.steps,
               info.steps > 0 ? time / (double)info.steps : 0.0,
               itm_hydraulics_integrator_name(circuit->options.integrator));
        if (info.total_iterations > 0) {
            printf(", %ld iterations", info.total_iterations);
        }
        printf("\n");
    }
    if (info.splits > 0) {
        printf("  split        %ld steps halved because Newton's method failed\n", info.splits);
    }
    if (info.cavitations > 0) {
        const char* last = itm_hydraulics_get_event(circuit->circuit, d);
        if (info.cavitations == 1) {
            printf("  cavitation   once: %s\n", last);
        } else {
            printf("  cavitation   %ld times; last: %s\n", info.cavitations, last);
        }
    }
}

// ---------------------------------------------------------------------------- coupling

// Largest gaps at frame bonds, and events in interface models.
static void print_frame_bonds(ItmCosim* cosim, bool is_verbose)
{
    for (int i = 0; i < itm_cosim_get_frame_bond_count(cosim); i++) {
        ItmFrameBondState bond = itm_cosim_get_frame_bond(cosim, i);
        printf("  interface    %s: gap up to %.3g m (at %.9g s) and %.3g rad (at %.9g s)\n",
               itm_cosim_get_frame_bond_name(cosim, i), bond.largest_drift, bond.drift_time, bond.largest_turn,
               bond.turn_time);
    }
    for (int i = 0; i < itm_cosim_get_mechanism_count(cosim); i++) {
        ItmRimNotes notes = itm_cosim_get_rim_notes(cosim, i);
        if (notes.switches > 0 && is_verbose) {
            printf("  contacts     %ld contact rows of '%s' changed within macro steps\n", notes.switches,
                   itm_cosim_get_mechanism_name(cosim, i));
        }
        if (notes.renewals > 0) {
            printf(
                "  contacts     %ld renewals of the interface model of '%s' within macro steps, at contact changes\n",
                notes.renewals, itm_cosim_get_mechanism_name(cosim, i));
        }
        if (notes.rank_losses > 0) {
            printf("  redundant    frames of '%s' were immobile along a direction on both sides in %ld steps; the "
                   "forces there have "
                   "minimum norm\n",
                   itm_cosim_get_mechanism_name(cosim, i), notes.rank_losses);
        }
    }
}

static void print_bonds(ItmCosim* cosim)
{
    for (int i = 0; i < itm_cosim_get_bond_count(cosim); i++) {
        ItmBondState bond = itm_cosim_get_bond(cosim, i);
        printf("  bond         %s: %.4g J transferred, coupling energy error up to %.3g J\n",
               itm_cosim_get_bond_name(cosim, i), bond.throughput, bond.coupling_error_largest);
    }
}

// Sources of the interface models of foreign mechanisms, and the work that they took.
static void print_foreign(ItmCosim* cosim)
{
    double nstep = round(itm_cosim_get_time(cosim) / itm_cosim_get_step(cosim));
    for (int i = 0; i < itm_cosim_get_mechanism_count(cosim); i++) {
        ItmForeignNotes notes = itm_cosim_get_foreign_notes(cosim, i);
        if (notes.source == ITM_MOBILITY_AUTO) {
            continue;
        }
        printf("  %-12s interface model by %s", itm_cosim_get_mechanism_name(cosim, i),
               itm_cosim_mobility_name(notes.source));
        if (notes.probes > 0) {
            printf(", %ld trial macro steps (%.3g per macro step), W changes by %.1g when probing forces are doubled",
                   notes.probes, nstep > 0.0 ? (double)notes.probes / nstep : 0.0, notes.nonlinearity);
        }
        if (notes.source != ITM_MOBILITY_PORT) {
            printf(", asymmetry of W up to %.1g", notes.asymmetry);
        }
        printf("\n");
    }
}

// The largest error of all bonds, for the end of the line of the coupling.
static void print_worst_bond(ItmCosim* cosim)
{
    int n = itm_cosim_get_bond_count(cosim), worst = 0;
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        sum += itm_cosim_get_bond(cosim, i).throughput;
        if (itm_cosim_get_bond(cosim, i).coupling_error_largest >
            itm_cosim_get_bond(cosim, worst).coupling_error_largest) {
            worst = i;
        }
    }
    if (n > 0) {
        printf("; energy error up to %.3g J (bond %s), %.4g J transferred",
               itm_cosim_get_bond(cosim, worst).coupling_error_largest, itm_cosim_get_bond_name(cosim, worst), sum);
    }
}

static void print_coupling(const ItmModelFile* file, ItmCosim* cosim, bool is_verbose)
{
    const ItmFileCosim* c = &file->cosim;
    if (itm_cosim_get_bond_count(cosim) + itm_cosim_get_frame_bond_count(cosim) == 0) {
        return;
    }
    const ItmBondOptions* bond = &c->bonds[0].options;
    bool is_elastic = c->options.flexible_interface != ITM_FLEXIBLE_INTERFACE_IMPLICIT && !c->options.is_monolithic;
    printf("  coupling     %s, %s, %s%smacro step %.9g s",
           c->options.is_monolithic ? "monolithic" : itm_cosim_coupling_name(bond->coupling),
           bond->coupling == ITM_COUPLING_RIM || bond->coupling == ITM_COUPLING_RIM_NONSMOOTH
               ? itm_cosim_exchange_name(bond->exchange)
               : "hold",
           is_elastic ? itm_cosim_flexible_interface_name(c->options.flexible_interface) : "",
           is_elastic ? " elastic forces, " : "", itm_cosim_get_step(cosim));
    if (!is_verbose) {
        print_worst_bond(cosim);
    }
    printf("\n");
    ItmCosimCost cost = itm_cosim_get_cost(cosim);
    double sum = cost.mechanism + cost.rim + cost.subsystems;
    if (sum > 0.0 && is_verbose) {
        printf("  cost         mechanism %.0f %%, interface model %.0f %%, subsystems %.0f %%\n",
               100.0 * cost.mechanism / sum, 100.0 * cost.rim / sum, 100.0 * cost.subsystems / sum);
    }
    print_foreign(cosim);
    if (is_verbose) {
        print_bonds(cosim);
    }
    print_frame_bonds(cosim, is_verbose);
}

static void print_fmus(const ItmModelFile* file)
{
    for (int i = 0; i < file->nfmu; i++) {
        char text[160];
        itm_file_describe_fmu(&file->fmus[i], text, sizeof text);
        printf("  %-12s %s\n", file->fmus[i].name, text);
        for (int k = 0; itm_file_get_fmu_note(&file->fmus[i], k) != NULL; k++) {
            printf("  note         %s\n", itm_file_get_fmu_note(&file->fmus[i], k));
        }
    }
}

// Work and messages of processes that step the system together.
static void print_ranks(const ItmCosim* cosim)
{
    ItmRanksInfo info = itm_ranks_get_info(cosim);
    if (info.count > 1 && info.points > 0) {
        double n = (double)info.points;
        printf(
            "  ranks        %d, %d of %d parts on rank 0; per communication point %.3g ms, of it waiting for messages %.3g "
            "ms; %.3g kB in %.3g messages, which take %.3g ms alone\n",
            info.count, info.nown, itm_cosim_get_mechanism_count(cosim) + itm_cosim_get_subsystem_count(cosim),
            1e3 * info.step / n, 1e3 * info.wait / n, 1e-3 * info.bytes / n, (double)info.messages / n,
            1e3 * info.message);
    }
}

void app_system_print_summary(const AppRunSummary* summary, const ItmModelFile* file, ItmCosim* cosim)
{
    bool has_details = summary->is_verbose || file->model == NULL;
    if (file->model != NULL) {
        app_summary_print_mechanism(summary, file, itm_cosim_get_data(cosim, 0));
    }
    for (int i = 0; i < file->ncircuit; i++) {
        print_circuit(&file->circuits[i], itm_cosim_get_hydraulics(cosim, i), has_details);
    }
    for (int i = 0; i < file->ndrive && has_details; i++) {
        printf("  %-12s %d drives in steps of %.9g s\n", file->drives[i].name,
               itm_drives_get_count(file->drives[i].drives), file->drives[i].step);
    }
    for (int i = 0; i < file->ncontrol && has_details; i++) {
        printf("  %-12s sample time %.9g s\n", file->controls[i].name, file->controls[i].step);
    }
    print_fmus(file);
    print_coupling(file, cosim, summary->is_verbose);
    print_ranks(cosim);
}

// ---------------------------------------------------------------------------- numbers of a report

typedef struct Number {
    const char *name, *unit, *description;
    double value;
    bool is_worth;  // saying
} Number;

static void add_numbers(ItmResults* results, const Number* numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (numbers[i].is_worth) {
            // without memory the report lacks a number, the results are whole
            itm_results_add_number(results, numbers[i].name, numbers[i].value, numbers[i].unit, numbers[i].description,
                                   NULL);
        }
    }
}

static void add_mechanism_numbers(const AppRunSummary* s, const ItmModelFile* file, ItmCosim* cosim,
                                  ItmResults* results)
{
    // of all mechanisms together, but for the steps, which they take side by side
    ItmStepInfo info = itm_data_get_step_info(itm_cosim_get_data(cosim, 0));
    ItmModelInfo model = itm_model_get_info(file->model);
    for (int i = 1; i < itm_cosim_get_mechanism_count(cosim); i++) {
        ItmStepInfo more = itm_data_get_step_info(itm_cosim_get_data(cosim, i));
        ItmModelInfo other = itm_model_get_info(itm_cosim_get_model(cosim, i));
        info.total_iterations += more.total_iterations;
        info.fallbacks += more.fallbacks;
        info.unsolved += more.unsolved;
        info.unfinished += more.unfinished;
        model.nbody += other.nbody;
        model.freedom += other.freedom;
    }
    const Number numbers[] = {
        {"step", "s", "step", file->run.step.step, true},
        {"steps", "1", "steps", (double)info.steps, true},
        {"iterations", "1", "iterations", (double)info.total_iterations, info.total_iterations > 0},
        {"bodies", "1", "bodies", model.nbody, true},
        {"freedom", "1", "degrees of freedom", model.freedom, true},
        {"gap", "m or rad", "largest joint gap", s->gap, s->gap > 0.0},
        {"contacts", "1", "largest number of contacts", s->ncontact, s->ncontact > 0},
        {"penetration", "m", "deepest penetration", s->penetration, s->ncontact > 0},
        {"solver_iterations", "1", "solver iterations", (double)s->solver_iterations, s->nbounded > 0},
        {"fallbacks", "1", "solver fallbacks", (double)info.fallbacks, s->nbounded > 0},
        {"unsolved", "1", "unsolved islands", (double)info.unsolved, info.unsolved > 0},
        {"unfinished", "1", "unfinished steps", (double)info.unfinished, info.unfinished > 0},
    };
    add_numbers(results, numbers, sizeof numbers / sizeof numbers[0]);
}

void app_system_add_numbers(const AppRunSummary* s, const ItmModelFile* file, ItmCosim* cosim, ItmResults* results,
                            double time)
{
    if (results == NULL) {
        return;
    }
    double error = 0.0, throughput = 0.0, probes = 0.0;
    for (int i = 0; i < itm_cosim_get_mechanism_count(cosim); i++) {
        probes += (double)itm_cosim_get_foreign_notes(cosim, i).probes;
    }
    int nbond = itm_cosim_get_bond_count(cosim);
    for (int i = 0; i < nbond; i++) {
        ItmBondState bond = itm_cosim_get_bond(cosim, i);
        error = fmax(error, bond.coupling_error_largest);
        throughput = fmax(throughput, bond.throughput);
    }
    const Number numbers[] = {
        {"real_time_factor", "times real time", "speed", s->wall_time > 0.0 ? time / s->wall_time : 0.0, true},
        {"wall_time", "s", "wall time", s->wall_time, true},
        {"macro_step", "s", "macro step", itm_cosim_get_step(cosim), nbond + itm_cosim_get_frame_bond_count(cosim) > 0},
        {"coupling_error", "J", "largest coupling energy error", error, nbond > 0},
        {"throughput", "J", "largest energy through a bond", throughput, nbond > 0},
        {"probes", "1", "trial macro steps of foreign mechanisms", probes, probes > 0.0},
        {"energy_error", "J", "energy balance error", s->energy_error, s->energy > 0.0},
        {"energy", "J", "energy of the machine", s->energy, s->energy > 0.0},
    };
    add_numbers(results, numbers, sizeof numbers / sizeof numbers[0]);
    if (file->model != NULL) {
        add_mechanism_numbers(s, file, cosim, results);
    }
}
