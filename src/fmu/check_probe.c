// The part of the check that runs the FMU, in processes that are thrown away.
#include "fmi/fmu.h"
#include "fmu/check.h"

#include <math.h>
#include <stdio.h>

static void judge_probe(ItmFmuCheck* c, const char* what, const ItmFmuProbe* probe, ItmFmuLevel wrong)
{
    ItmFmuLevel level = probe->verdict == ITM_FMU_HOLDS         ? ITM_FMU_GOOD
                        : probe->verdict == ITM_FMU_NOT_CLAIMED ? ITM_FMU_SKIPPED
                                                                : wrong;
    itm_fmu_note_finding(c, level, what, "%s", probe->text);
}

static void probe_kind(ItmFmuCheck* c, ItmFmu* fmu, int kind, double step)
{
    const char* name = kind == ITM_FMI_CO_SIMULATION ? "co-simulation" : "model exchange";
    ItmError error = {0};
    ItmFmuDef def = itm_default_fmi_def();
    def.kind = kind;
    def.step = step;
    if (itm_fmi_choose(fmu, &def, &error) != ITM_OK) {
        itm_fmu_note_finding(c, ITM_FMU_ERROR, name, "%s", error.message);
        return;
    }
    ItmFmuSpec spec = *itm_fmi_get_spec(fmu);
    ItmFmuProbe probe = itm_fmi_probe_determinism(&spec, &def.limits, step);
    judge_probe(c, name, &probe, ITM_FMU_ERROR);
    if (probe.verdict != ITM_FMU_HOLDS && probe.verdict != ITM_FMU_WRONG) {
        return;
    }
    ItmFmuSpec kept = spec;
    kept.has_bytes = false;
    probe = itm_fmi_probe_state(&kept, &def.limits, step);
    judge_probe(c, "state", &probe, ITM_FMU_WARNING);
    if (spec.has_bytes) {
        probe = itm_fmi_probe_state(&spec, &def.limits, step);
        judge_probe(c, "state as bytes", &probe, ITM_FMU_WARNING);
    }
    spec.has_state = spec.has_bytes = false;
    probe = itm_fmi_probe_latch(&spec, &def.limits, step);
    judge_probe(c, "input latch", &probe, ITM_FMU_WARNING);
    if (itm_fmi_get_description(fmu)->kinds[kind].has_directional_derivatives) {
        probe = itm_fmi_probe_derivatives(&spec, &def.limits);
        judge_probe(c, "derivatives", &probe, ITM_FMU_WARNING);
    }
    double effort = itm_fmi_measure_step(&spec, &def.limits, step);
    if (isfinite(effort)) {
        itm_fmu_note_finding(c, ITM_FMU_NOTE, "effort",
                             "%.3g us per step of %g s, the round trip to the process included", 1e6 * effort, step);
    }
}

void itm_fmu_probe(ItmFmuCheck* c, ItmFmu* fmu)
{
    const ItmFmiDescription* d = itm_fmi_get_description(fmu);
    double fixed = d->kinds[ITM_FMI_CO_SIMULATION].fixed_step;
    double step = fixed > 0.0 ? fixed : d->step_size > 0.0 ? d->step_size : 1e-3;
    for (int kind = 0; kind < ITM_FMI_KIND_COUNT; kind++) {
        if (d->kinds[kind].is_present) {
            probe_kind(c, fmu, kind, step);
        }
    }
}
