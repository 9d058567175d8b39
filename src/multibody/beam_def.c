// Definitions of beams: names, sections, checks.
#include "multibody/beam.h"

#include "base/check.h"
#include "base/error.h"
#include "base/guard.h"

#define MOST_MODES 100    // of one kind
#define MOST_STATIONS 20  // with static shapes

static const char* const THEORY_NAMES[ITM_BEAM_THEORY_COUNT] = {"euler-bernoulli", "timoshenko"};
static const char* const ENDS_NAMES[ITM_BEAM_ENDS_COUNT] = {"clamped-free",   "free-clamped",    "pinned-pinned",
                                                            "clamped-pinned", "clamped-clamped", "free-free"};
static const char* const SECTION_NAMES[ITM_SECTION_COUNT] = {"rectangle", "circle", "tube"};

const char* itm_beam_theory_name(ItmBeamTheory theory)
{
    return (int)theory >= 0 && theory < ITM_BEAM_THEORY_COUNT ? THEORY_NAMES[theory] : NULL;
}

const char* itm_beam_ends_name(ItmBeamEnds ends)
{
    return (int)ends >= 0 && ends < ITM_BEAM_ENDS_COUNT ? ENDS_NAMES[ends] : NULL;
}

const char* itm_beam_section_name(ItmBeamSection section)
{
    return (int)section >= 0 && section < ITM_SECTION_COUNT ? SECTION_NAMES[section] : NULL;
}

ItmBeamDef itm_default_beam_def(void)
{
    return (ItmBeamDef){
        .density = 7850.0,
        .young = 210e9,
        .shear = 80.77e9,
        .shear_y = 5.0 / 6.0,
        .shear_z = 5.0 / 6.0,
        .modes_y = 2,
        .modes_z = 2,
    };
}

// Torsion constant of a rectangle with sides a >= b, by the series of Saint-Venant.
static double torsion_of_rectangle(double a, double b)
{
    double sum = 0.0;
    for (int k = 1; k < 60; k += 2) {
        sum += tanh(0.5 * k * ITM_PI * a / b) / pow(k, 5);
    }
    return a * b * b * b * (1.0 / 3.0 - 64.0 / pow(ITM_PI, 5) * b / a * sum);
}

ItmStatus itm_beam_set_section(ItmBeamDef* beam, ItmBeamSection section, const double size[2], ItmError* error)
{
    ITM_GUARD(beam != NULL && size != NULL,
              itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "a required argument is NULL"));
    ItmCheck c = itm_check_start(__func__, "section", itm_beam_section_name(section), error);
    itm_check_positive(&c, "section", size[0]);
    if (section != ITM_SECTION_CIRCLE) {
        itm_check_positive(&c, "section", size[1]);
    }
    if (c.status == ITM_OK && section == ITM_SECTION_TUBE && !(size[1] < 0.5 * size[0])) {
        itm_check_refuse(&c, "section", "the wall (%g m) must be thinner than half the diameter (%g m)", size[1],
                         size[0]);
    }
    if (c.status != ITM_OK) {
        return c.status;
    }
    // Poisson's ratio of the material, within what isotropy allows, for the shear factors of Cowper (1966)
    double nu = fmin(fmax(0.5 * beam->young / beam->shear - 1.0, 0.0), 0.5);
    if (section == ITM_SECTION_RECTANGLE) {
        double w = size[0], t = size[1];
        beam->area = w * t;
        beam->moment_y = w * t * t * t / 12.0;
        beam->moment_z = t * w * w * w / 12.0;
        beam->torsion = torsion_of_rectangle(fmax(w, t), fmin(w, t));
        beam->shear_y = beam->shear_z = 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu);
        beam->width_y = w;
        beam->width_z = t;
        beam->is_round = false;
        return ITM_OK;
    }
    double outer = 0.5 * size[0], inner = section == ITM_SECTION_TUBE ? outer - size[1] : 0.0;
    double k = inner / outer, m = (1.0 + k * k) * (1.0 + k * k);
    beam->area = ITM_PI * (outer * outer - inner * inner);
    beam->moment_y = beam->moment_z = 0.25 * ITM_PI * (pow(outer, 4) - pow(inner, 4));
    beam->torsion = 2.0 * beam->moment_y;
    beam->shear_y = beam->shear_z = 6.0 * (1.0 + nu) * m / ((7.0 + 6.0 * nu) * m + (20.0 + 12.0 * nu) * k * k);
    beam->width_y = beam->width_z = size[0];
    beam->is_round = true;
    return ITM_OK;
}

ItmStatus itm_beam_def_check(const ItmBeamDef* def, const char* body, ItmError* error)
{
    ItmCheck c = itm_check_start(__func__, "flexible body", body, error);
    const struct {
        const char* field;
        double value;
    } positive[] = {{"length", def->length},     {"density", def->density}, {"young", def->young},
                    {"shear", def->shear},       {"area", def->area},       {"moment_y", def->moment_y},
                    {"moment_z", def->moment_z}, {"torsion", def->torsion}, {"shear_y", def->shear_y},
                    {"shear_z", def->shear_z}};
    for (size_t i = 0; i < sizeof positive / sizeof positive[0]; i++) {
        itm_check_positive(&c, positive[i].field, positive[i].value);
    }
    const struct {
        const char* field;
        int count;
    } modes[] = {{"modes_y", def->modes_y},
                 {"modes_z", def->modes_z},
                 {"modes_axial", def->modes_axial},
                 {"modes_torsion", def->modes_torsion}};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        if (modes[i].count < 0 || modes[i].count > MOST_MODES) {
            itm_check_refuse(&c, modes[i].field, "%s must be 0 to %d, got %d", modes[i].field, MOST_MODES,
                             modes[i].count);
        }
    }
    if (def->nstation < 0 || def->nstation > MOST_STATIONS) {
        itm_check_refuse(&c, "stations", "at most %d stations, got %d", MOST_STATIONS, def->nstation);
    }
    for (int i = 0; c.status == ITM_OK && i < def->nstation; i++) {
        if (!(def->stations[i] >= 0.0 && def->stations[i] <= def->length)) {
            itm_check_refuse(&c, "stations", "a station must lie on the beam, from 0 to %g m, got %g", def->length,
                             def->stations[i]);
        }
    }
    if (itm_beam_theory_name(def->theory) == NULL || itm_beam_ends_name(def->ends) == NULL) {
        itm_check_refuse(&c, "ends", "there is no such theory or choice of ends");
    }
    return c.status;
}
