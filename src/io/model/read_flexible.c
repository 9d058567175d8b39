// flexible of a body: a beam, or a finite element model.
#include "io/model/read_flexible.h"

#include "math/vec.h"

#include <stdlib.h>

#define ITM_DIM_MOMENT ((ItmDimension){{4}})  // of area, m^4

// ---------------------------------------------------------------------------- sections

static void read_section_numbers(ItmReader* r, const ItmNode* node, const ItmNode** v, ItmBeamDef* beam)
{
    static const char* const NEEDED[] = {"area", "moment_y", "moment_z", "torsion"};
    double* out[] = {&beam->area, &beam->moment_y, &beam->moment_z, &beam->torsion, &beam->shear_y, &beam->shear_z};
    for (int k = 0; k < 6; k++) {
        if (k < 4) {
            itm_reader_require(r, node, v[k], "a section", NEEDED[k]);
        }
        *out[k] = itm_reader_get_real(r, v[k], k == 0 ? ITM_DIM_AREA : k < 4 ? ITM_DIM_MOMENT : ITM_DIM_ONE, *out[k]);
    }
}

// {rectangle: [width, height]}, {circle: diameter}, {tube: [diameter, wall]} or the numbers of a section.
static void read_section(ItmReader* r, const ItmNode* node, ItmBeamDef* beam)
{
    enum { AREA, MOMENT_Y, MOMENT_Z, TORSION, SHEAR_Y, SHEAR_Z, FIRST_KIND };
    const char* keys[FIRST_KIND + ITM_SECTION_COUNT] = {"area",    "moment_y", "moment_z",
                                                        "torsion", "shear_y",  "shear_z"};
    const ItmNode* v[FIRST_KIND + ITM_SECTION_COUNT];
    int kind = ITM_NONE, count = 0;
    for (int i = 0; i < ITM_SECTION_COUNT; i++) {
        keys[FIRST_KIND + i] = itm_beam_section_name((ItmBeamSection)i);
    }
    itm_reader_get_map(r, node, "a section", keys, FIRST_KIND + ITM_SECTION_COUNT, v);
    for (int i = 0; r->status == ITM_OK && i < FIRST_KIND + ITM_SECTION_COUNT; i++) {
        count += v[i] != NULL;
        kind = i >= FIRST_KIND && v[i] != NULL ? i - FIRST_KIND : kind;
    }
    if (kind == ITM_NONE) {
        read_section_numbers(r, node, v, beam);
        return;
    }
    if (count > 1) {
        itm_reader_fail(r, node, "a %s defines the whole section: remove the other keys", keys[FIRST_KIND + kind]);
    }
    const ItmNode* value = v[FIRST_KIND + kind];
    double size[2] = {0, 0};
    if (kind == ITM_SECTION_CIRCLE) {
        size[0] = itm_reader_get_real(r, value, ITM_DIM_LENGTH, 0.0);
    } else if (value->kind != ITM_NODE_LIST || value->count != 2) {
        itm_reader_fail(r, value, "expected %s",
                        kind == ITM_SECTION_TUBE ? "[outer diameter, wall]" : "[width along y, height along z]");
    } else {
        size[0] = itm_reader_get_real(r, value->first->value, ITM_DIM_LENGTH, 0.0);
        size[1] = itm_reader_get_real(r, value->first->next->value, ITM_DIM_LENGTH, 0.0);
    }
    if (r->status == ITM_OK) {
        ItmStatus status = itm_beam_set_section(beam, (ItmBeamSection)kind, size, r->error);
        itm_reader_take(r, status, value, NULL, 0);
    }
}

// ---------------------------------------------------------------------------- beams

// A number of bending modes per plane, or {y, z, axial, torsion}.
static void read_modes(ItmReader* r, const ItmNode* node, ItmBeamDef* beam)
{
    static const char* const KEYS[] = {"y", "z", "axial", "torsion"};
    int* out[] = {&beam->modes_y, &beam->modes_z, &beam->modes_axial, &beam->modes_torsion};
    if (node != NULL && node->kind != ITM_NODE_MAP) {
        beam->modes_y = beam->modes_z = itm_reader_get_int(r, node, 0, 100, beam->modes_y);
        return;
    }
    const ItmNode* v[4] = {0};
    itm_reader_get_map(r, node, "modes", KEYS, 4, v);
    for (int k = 0; node != NULL && k < 4; k++) {
        *out[k] = itm_reader_get_int(r, v[k], 0, 100, 0);
    }
}

// Shear modulus, given or from Poisson's ratio.
static double get_shear(ItmReader* r, const ItmNode* shear, const ItmNode* poisson, double young)
{
    if (shear != NULL && poisson != NULL) {
        itm_reader_fail(r, poisson, "give shear or poisson, not both");
    }
    double nu = itm_reader_get_real(r, poisson, ITM_DIM_ONE, 0.3);
    if (r->status == ITM_OK && !(nu > -1.0 && nu <= 0.5)) {
        itm_reader_fail(r, poisson, "Poisson's ratio must lie between -1 and 0.5, got %g", nu);
    }
    return itm_reader_get_real(r, shear, ITM_DIM_PRESSURE, young / (2.0 * (1.0 + nu)));
}

static int get_name(ItmReader* r, const ItmNode* node, const char* what, const char* (*name)(int), int count)
{
    const char* names[16];
    for (int i = 0; i < count; i++) {
        names[i] = name(i);
    }
    int index = itm_reader_get_word(r, node, what, names, count, 0);
    return index >= 0 ? index : 0;
}

static const char* theory_name(int i)
{
    return itm_beam_theory_name((ItmBeamTheory)i);
}

static const char* ends_name(int i)
{
    return itm_beam_ends_name((ItmBeamEnds)i);
}

enum { LENGTH, SECTION, DENSITY, YOUNG, POISSON, SHEAR, THEORY, ENDS, MODES, STATIC, NBEAM };
static const char* const BEAM_KEYS[NBEAM] = {"length", "section", "density", "young", "poisson",
                                             "shear",  "theory",  "ends",    "modes", "static"};

static void read_beam(ItmReader* r, const ItmNode* node, const ItmNode** v, ItmBeamDef* beam)
{
    itm_reader_get_map(r, node, "a beam", BEAM_KEYS, NBEAM, v);
    itm_reader_require(r, node, v[LENGTH], "a beam", "length");
    itm_reader_require(r, node, v[SECTION], "a beam", "section");
    if (r->status != ITM_OK) {
        return;
    }
    beam->length = itm_reader_get_real(r, v[LENGTH], ITM_DIM_LENGTH, 1.0);
    beam->density = itm_reader_get_real(r, v[DENSITY], ITM_DIM_DENSITY, beam->density);
    beam->young = itm_reader_get_real(r, v[YOUNG], ITM_DIM_PRESSURE, beam->young);
    beam->shear = get_shear(r, v[SHEAR], v[POISSON], beam->young);
    beam->theory = (ItmBeamTheory)get_name(r, v[THEORY], "a theory of beams", theory_name, ITM_BEAM_THEORY_COUNT);
    beam->ends = (ItmBeamEnds)get_name(r, v[ENDS], "a choice of ends", ends_name, ITM_BEAM_ENDS_COUNT);
    read_modes(r, v[MODES], beam);
    read_section(r, v[SECTION], beam);
}

// ---------------------------------------------------------------------------- what beams and models share

// Reals of a list, to be freed; NULL without a node or after a complaint.
static double* read_reals(ItmReader* r, const ItmNode* node, ItmDimension dimension, int* count)
{
    *count = 0;
    if (node == NULL || r->status != ITM_OK) {
        return NULL;
    }
    if (node->kind != ITM_NODE_LIST) {
        itm_reader_fail(r, node, "expected a list of numbers");
        return NULL;
    }
    double* values = itm_reader_take_array(r, node->count, sizeof(double));
    for (const ItmItem* item = node->first; values != NULL && item != NULL && r->status == ITM_OK; item = item->next) {
        values[(*count)++] = itm_reader_get_real(r, item->value, dimension, 0.0);
    }
    return values;
}

// A ratio, a list of ratios, or {ratio, ratios, mass, stiffness}.
static double* read_damping(ItmReader* r, const ItmNode* node, ItmFlexibleDef* def)
{
    enum { RATIO, RATIOS, MASS, STIFFNESS, NKEY };
    static const char* const KEYS[NKEY] = {"ratio", "ratios", "mass", "stiffness"};
    if (node == NULL) {
        return NULL;
    }
    if (node->kind == ITM_NODE_LIST) {
        return read_reals(r, node, ITM_DIM_ONE, &def->nratio);
    }
    if (node->kind == ITM_NODE_SCALAR) {
        def->damping_ratio = itm_reader_get_real(r, node, ITM_DIM_ONE, 0.0);
        return NULL;
    }
    const ItmNode* v[NKEY];
    itm_reader_get_map(r, node, "damping", KEYS, NKEY, v);
    if (r->status != ITM_OK) {
        return NULL;
    }
    def->damping_ratio = itm_reader_get_real(r, v[RATIO], ITM_DIM_ONE, 0.0);
    def->rayleigh_mass = itm_reader_get_real(r, v[MASS], ITM_DIM_FREQUENCY, 0.0);
    def->rayleigh_stiffness = itm_reader_get_real(r, v[STIFFNESS], ITM_DIM_TIME, 0.0);
    return read_reals(r, v[RATIOS], ITM_DIM_ONE, &def->nratio);
}

static ItmFlexiblePointDef* read_points(ItmReader* r, const ItmNode* node, int* count)
{
    *count = 0;
    if (!itm_reader_is_collection(r, node, "points")) {
        return NULL;
    }
    ItmFlexiblePointDef* points = itm_reader_take_array(r, node->count, sizeof *points);
    for (const ItmItem* item = node->first; points != NULL && item != NULL && r->status == ITM_OK; item = item->next) {
        points[(*count)++] = (ItmFlexiblePointDef){
            item->key->text, itm_reader_get_vec(r, item->value, ITM_DIM_LENGTH, itm_vec(0, 0, 0))};
    }
    return points;
}

void itm_read_flexible(ItmReader* r, const ItmNode* node, int body)
{
    enum { BEAM, MODEL, DAMPING, STIFFENING, START, START_RATE, POINTS, NKEY };
    static const char* const KEYS[NKEY] = {"beam", "model", "damping", "stiffening", "start", "start_rate", "points"};
    const ItmNode *v[NKEY], *b[NBEAM] = {0};
    itm_reader_get_map(r, node, "flexible", KEYS, NKEY, v);
    if (r->status == ITM_OK && (v[BEAM] == NULL) == (v[MODEL] == NULL)) {
        itm_reader_fail(r, node, "a flexible body is a beam or a model, one of the two");
    }
    if (r->status != ITM_OK) {
        return;
    }
    ItmBeamDef beam = itm_default_beam_def();
    ItmModelFiles files = {0};
    ItmFlexibleDef def = itm_default_flexible_def();
    if (v[BEAM] != NULL) {
        read_beam(r, v[BEAM], b, &beam);
        def.beam = &beam;
    } else {
        itm_read_model_files(r, v[MODEL], &files);
        def.modal = &files.def;
    }
    int nrate = 0;
    double* stations = read_reals(r, b[STATIC], ITM_DIM_LENGTH, &beam.nstation);
    beam.stations = stations;
    double* ratios = read_damping(r, v[DAMPING], &def);
    double* start = read_reals(r, v[START], ITM_DIM_LENGTH, &def.nstart);
    double* rate = read_reals(r, v[START_RATE], ITM_DIM_VELOCITY, &nrate);
    ItmFlexiblePointDef* points = read_points(r, v[POINTS], &def.npoint);
    def.ratios = ratios;
    def.start = start;
    def.start_rate = rate;
    def.points = points;
    def.use_stiffening = itm_reader_get_bool(r, v[STIFFENING], true);
    if (r->status == ITM_OK && start != NULL && rate != NULL && nrate != def.nstart) {
        itm_reader_fail(r, v[START_RATE], "start has %d modes, start_rate %d", def.nstart, nrate);
    }
    def.nstart = start != NULL ? def.nstart : nrate;
    if (r->status == ITM_OK) {
        const ItmBlame blames[] = {
            {"length", b[LENGTH]},
            {"density", b[DENSITY]},
            {"young", b[YOUNG]},
            {"shear", b[SHEAR] != NULL ? b[SHEAR] : b[POISSON]},
            {"area", b[SECTION]},
            {"moment_y", b[SECTION]},
            {"moment_z", b[SECTION]},
            {"torsion", b[SECTION]},
            {"shear_y", b[SECTION]},
            {"shear_z", b[SECTION]},
            {"modes", b[MODES]},
            {"stations", b[STATIC]},
            {"flexible", v[BEAM]},
            {"damping_ratio", v[DAMPING]},
            {"ratios", v[DAMPING]},
            {"rayleigh_mass", v[DAMPING]},
            {"rayleigh_stiffness", v[DAMPING]},
            {"start", v[START]},
            {"start_rate", v[START_RATE]},
            {"points", v[POINTS]},
            {"name", v[POINTS]},
        };
        const ItmNode* whole = v[BEAM] != NULL ? v[BEAM] : v[MODEL];
        ItmStatus status = itm_model_builder_add_flexible(r->builder, body, &def, r->error);
        itm_reader_take(r, status, whole, blames, ITM_COUNT(blames));
    }
    free(stations);
    free(ratios);
    free(start);
    free(rate);
    free(points);
    itm_read_free_model_files(&files);
}
