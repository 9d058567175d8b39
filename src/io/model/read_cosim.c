// cosim: the macro step, how parts are coupled, which actuators are which ports.
#include "io/model/reader.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------- words

// Index of a word among the names that `get` returns.
static int get_choice(ItmReader* r, const ItmNode* node, const char* what, const char* (*get)(int), int count,
                      int absent)
{
    const char* names[8];
    for (int i = 0; i < count; i++) {
        names[i] = get(i);
    }
    int choice = itm_reader_get_word(r, node, what, names, count, absent);
    return choice >= 0 ? choice : absent;
}

static const char* get_coupling_name(int i)
{
    return itm_cosim_coupling_name((ItmCoupling)i);
}

static const char* get_exchange_name(int i)
{
    return itm_cosim_exchange_name((ItmExchange)i);
}

static const char* get_variables_name(int i)
{
    return itm_cosim_bond_variables_name((ItmBondVariables)i);
}

static const char* get_scheme_name(int i)
{
    return itm_cosim_scheme_name((ItmScheme)i);
}

static const char* get_flexible_interface_name(int i)
{
    return itm_cosim_flexible_interface_name((ItmFlexibleInterface)i);
}

static const char* get_integrator_name(int i)
{
    return itm_hydraulics_integrator_name((ItmHydraulicIntegrator)i);
}

typedef struct BondNodes {
    const ItmNode *coupling, *exchange, *variables;
} BondNodes;

static ItmBondOptions get_bond_options(ItmReader* r, BondNodes v, ItmBondOptions absent)
{
    ItmBondOptions o = absent;
    o.coupling = (ItmCoupling)get_choice(r, v.coupling, "a coupling", get_coupling_name, ITM_COUPLING_COUNT,
                                         (int)absent.coupling);
    o.exchange = (ItmExchange)get_choice(r, v.exchange, "an exchange", get_exchange_name, ITM_EXCHANGE_COUNT,
                                         (int)absent.exchange);
    o.variables = (ItmBondVariables)get_choice(r, v.variables, "a pair of variables", get_variables_name,
                                               ITM_VARIABLES_COUNT, (int)absent.variables);
    return o;
}

// ---------------------------------------------------------------------------- subsystems

static void read_override(ItmReader* r, const ItmItem* item)
{
    enum { STEP, INTEGRATOR, NCIRCUIT_KEY };
    static const char* const CIRCUIT_KEYS[NCIRCUIT_KEY] = {"step", "integrator"};
    const ItmNode* v[NCIRCUIT_KEY];
    ItmFileCircuit* circuit = NULL;
    ItmFileMechanism* mechanism = NULL;
    ItmNearest nearest = itm_nearest_start(item->key->text, item->key->length);
    for (int i = 0; i < r->file->ncircuit; i++) {
        itm_nearest_offer(&nearest, r->file->circuits[i].name);
        if (strcmp(r->file->circuits[i].name, item->key->text) == 0) {
            circuit = &r->file->circuits[i];
        }
    }
    for (int i = 0; i < r->file->nmechanism; i++) {
        itm_nearest_offer(&nearest, r->file->mechanisms[i].name);
        if (strcmp(r->file->mechanisms[i].name, item->key->text) == 0) {
            mechanism = &r->file->mechanisms[i];
        }
    }
    if (circuit == NULL && mechanism == NULL) {
        itm_reader_fail_unknown(r, item->key, "hydraulic or multibody subsystem", &nearest);
        return;
    }
    itm_reader_get_map(r, item->value, "overrides of a subsystem", CIRCUIT_KEYS, circuit != NULL ? NCIRCUIT_KEY : 1, v);
    if (mechanism != NULL) {
        mechanism->step = itm_reader_get_real(r, v[STEP], ITM_DIM_TIME, mechanism->step);
        if (r->status == ITM_OK && v[STEP] != NULL && !(mechanism->step > 0.0)) {
            itm_reader_fail(r, v[STEP], "step must be positive, got %g", mechanism->step);
        }
        return;
    }
    circuit->step = itm_reader_get_real(r, v[STEP], ITM_DIM_TIME, circuit->step);
    if (r->status == ITM_OK && v[STEP] != NULL && !(circuit->step > 0.0)) {
        itm_reader_fail(r, v[STEP], "step must be positive, got %g", circuit->step);
    }
    circuit->options.integrator =
        (ItmHydraulicIntegrator)get_choice(r, v[INTEGRATOR], "an integrator", get_integrator_name,
                                           ITM_HYDRAULIC_INTEGRATOR_COUNT, (int)circuit->options.integrator);
}

static void read_overrides(ItmReader* r, const ItmNode* node)
{
    for (const ItmItem* item = itm_reader_is_collection(r, node, "overrides") ? node->first : NULL;
         item != NULL && r->status == ITM_OK; item = item->next) {
        read_override(r, item);
    }
}

// ---------------------------------------------------------------------------- bonds

static void add_bond(ItmReader* r, const ItmItem* item, const char* port, ItmBondOptions options)
{
    ItmFileCosim* cosim = &r->file->cosim;
    ItmFileBond* moved = realloc(cosim->bonds, ((size_t)cosim->nbond + 1) * sizeof *moved);
    if (moved == NULL) {
        r->status = itm_error_set(r->error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
        return;
    }
    cosim->bonds = moved;
    ItmFileBond* bond = &moved[cosim->nbond++];
    *bond = (ItmFileBond){.actuator = strdup(item->key->text), .port = strdup(port), .options = options};
    bond->place = itm_reader_get_place(r, item->key);
    if (bond->actuator == NULL || bond->port == NULL) {
        r->status = itm_error_set(r->error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
    }
}

// `arm.cyl1: hydraulics.cyl1`, or a mapping with its own coupling
static void read_bond(ItmReader* r, const ItmItem* item, ItmBondOptions common)
{
    enum { PORT, COUPLING, EXCHANGE, VARIABLES, NKEY };
    static const char* const KEYS[NKEY] = {"port", "coupling", "exchange", "variables"};
    const ItmNode* v[NKEY] = {item->value, NULL, NULL, NULL};
    if (item->value->kind == ITM_NODE_MAP) {
        itm_reader_get_map(r, item->value, "a bond", KEYS, NKEY, v);
        itm_reader_require(r, item->value, v[PORT], "a bond", "port");
    }
    const char* port = itm_reader_get_text(r, v[PORT], "a port, as in hydraulics.cyl1");
    ItmBondOptions options = get_bond_options(r, (BondNodes){v[COUPLING], v[EXCHANGE], v[VARIABLES]}, common);
    if (r->status == ITM_OK && v[COUPLING] != NULL && options.coupling == ITM_COUPLING_MONOLITHIC) {
        itm_reader_fail(r, v[COUPLING], "monolithic is a coupling of the whole system, not of one bond");
    }
    if (r->status == ITM_OK && port != NULL) {
        add_bond(r, item, port, options);
    }
}

// `hydraulics.valve1: control.kappa1`: an input, and the output that it follows; or a mapping with factor and offset
static void read_wire(ItmReader* r, const ItmItem* item)
{
    enum { FROM, FACTOR, OFFSET, NKEY };
    static const char* const KEYS[NKEY] = {"from", "factor", "offset"};
    const ItmNode* v[NKEY] = {item->value, NULL, NULL};
    size_t n = strcspn(item->key->text, ".");
    char* subsystem = itm_document_take(r->doc, n + 1);
    if (item->value->kind == ITM_NODE_MAP) {
        itm_reader_get_map(r, item->value, "a wire", KEYS, NKEY, v);
        itm_reader_require(r, item->value, v[FROM], "a wire", "from");
    }
    double factor = itm_reader_get_real(r, v[FACTOR], ITM_DIM_ONE, 1.0);
    double offset = itm_reader_get_real(r, v[OFFSET], ITM_DIM_ONE, 0.0);
    if (itm_reader_get_text(r, v[FROM], "an output, as in control.kappa1") == NULL) {
        return;
    }
    if (item->key->text[n] != '.') {
        itm_reader_fail(r, item->key, "a wire ends at an input of a subsystem, as in hydraulics.valve1");
    } else if (subsystem == NULL) {
        r->status = itm_error_set(r->error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
    } else {
        memcpy(subsystem, item->key->text, n);
        itm_reader_add_connection(r, v[FROM], subsystem, item->key->text + n + 1);
    }
    if (r->status == ITM_OK) {
        r->file->connections[r->file->nconnection - 1].factor = factor;
        r->file->connections[r->file->nconnection - 1].offset = offset;
    }
}

static void read_wires(ItmReader* r, const ItmNode* node)
{
    for (const ItmItem* item = itm_reader_is_collection(r, node, "wires") ? node->first : NULL;
         item != NULL && r->status == ITM_OK; item = item->next) {
        read_wire(r, item);
    }
}

// `arm.theta1: arm.theta1.angle`: a second name, and the result that has it
static void read_aliases(ItmReader* r, const ItmNode* node)
{
    ItmFileCosim* cosim = &r->file->cosim;
    for (const ItmItem* item = itm_reader_is_collection(r, node, "aliases") ? node->first : NULL;
         item != NULL && r->status == ITM_OK; item = item->next) {
        const char* output = itm_reader_get_text(r, item->value, "a result, as in arm.cyl1.length");
        ItmFileConnection* moved = realloc(cosim->aliases, ((size_t)cosim->nalias + 1) * sizeof *moved);
        if (output == NULL || moved == NULL) {
            cosim->aliases = moved != NULL ? moved : cosim->aliases;
            r->status = r->status != ITM_OK ? r->status
                                            : itm_error_set(r->error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
            return;
        }
        cosim->aliases = moved;
        ItmFileConnection* alias = &moved[cosim->nalias++];
        *alias = (ItmFileConnection){.from = strdup(output), .to = strdup(item->key->text)};
        alias->place = itm_reader_get_place(r, item->key);
        if (alias->from == NULL || alias->to == NULL) {
            r->status = itm_error_set(r->error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
        }
    }
}

// ---------------------------------------------------------------------------- processes

#define MOST_RANKS 65536

static void offer_name(ItmNearest* nearest, const ItmItem* item, const char* name, bool* is_known)
{
    itm_nearest_offer(nearest, name);
    *is_known = *is_known || strcmp(name, item->key->text) == 0;
}

// Whether a placement names a mechanism or subsystem of the file.
static bool has_part(const ItmModelFile* f, const ItmItem* item, ItmNearest* nearest)
{
    bool is_known = false;
    for (int i = 0; i < f->nmechanism; i++) {
        offer_name(nearest, item, f->mechanisms[i].name, &is_known);
    }
    for (int i = 0; i < f->ncircuit; i++) {
        offer_name(nearest, item, f->circuits[i].name, &is_known);
    }
    for (int i = 0; i < f->ncontrol; i++) {
        offer_name(nearest, item, f->controls[i].name, &is_known);
    }
    for (int i = 0; i < f->ndrive; i++) {
        offer_name(nearest, item, f->drives[i].name, &is_known);
    }
    for (int i = 0; i < f->nfmu; i++) {
        offer_name(nearest, item, f->fmus[i].name, &is_known);
    }
    for (int i = 0; i < f->nexternal; i++) {
        offer_name(nearest, item, f->externals[i].name, &is_known);
    }
    return is_known;
}

// `crane: 0`: a part, and the rank that steps it
static void read_placement(ItmReader* r, const ItmNode* node)
{
    ItmFileCosim* cosim = &r->file->cosim;
    for (const ItmItem* item = itm_reader_is_collection(r, node, "placement") ? node->first : NULL;
         item != NULL && r->status == ITM_OK; item = item->next) {
        ItmNearest nearest = itm_nearest_start(item->key->text, item->key->length);
        if (!has_part(r->file, item, &nearest)) {
            itm_reader_fail_unknown(r, item->key, "mechanism or subsystem", &nearest);
            return;
        }
        int rank = itm_reader_get_int(r, item->value, 0, MOST_RANKS, 0);
        ItmPlacement* moved = realloc(cosim->placement, ((size_t)cosim->nplacement + 1) * sizeof *moved);
        char* name = moved != NULL ? strdup(item->key->text) : NULL;
        cosim->placement = moved != NULL ? moved : cosim->placement;
        if (name == NULL) {
            r->status = itm_error_set(r->error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
            return;
        }
        moved[cosim->nplacement++] = (ItmPlacement){.name = name, .rank = rank};
    }
}

// ---------------------------------------------------------------------------- the section

// Steps of circuits divide H.
static void check_steps(ItmReader* r, const ItmNode* node, double H)
{
    for (int i = 0; i < r->file->ncircuit && r->status == ITM_OK; i++) {
        double ratio = H / r->file->circuits[i].step;
        if (r->file->circuits[i].step > 0.0 && (!(ratio > 0.5) || fabs(ratio - round(ratio)) > 1e-6 * ratio)) {
            itm_reader_fail(r, node, "macro_step (%g s) must be a multiple of the step of '%s' (%g s)", H,
                            r->file->circuits[i].name, r->file->circuits[i].step);
        }
    }
}

void itm_read_cosim(ItmReader* r, const ItmNode* node)
{
    enum {
        MACRO_STEP,
        SCHEME,
        COUPLING,
        EXCHANGE,
        VARIABLES,
        FLEXIBLE_INTERFACE,
        CONTACT_RENEWALS,
        THREADS,
        OVERRIDES,
        BONDS,
        WIRES,
        ALIASES,
        PLACEMENT,
        NKEY
    };
    static const char* const KEYS[NKEY] = {
        "macro_step", "scheme",    "coupling", "exchange", "variables", "flexible_interface", "contact_renewals",
        "threads",    "overrides", "bonds",    "wires",    "aliases",   "placement"};
    const ItmNode* v[NKEY];
    ItmFileCosim* cosim = &r->file->cosim;
    cosim->options = itm_default_cosim_options();
    if (node == NULL || r->status != ITM_OK) {
        return;
    }
    itm_reader_get_map(r, node, "cosim", KEYS, NKEY, v);
    // threads alone make no macro steps: a mechanism on its own keeps its step
    bool has_steps = false;
    for (int i = 0; i < NKEY; i++) {
        has_steps = has_steps || (v[i] != NULL && i != THREADS);
    }
    if (has_steps) {
        cosim->place = itm_reader_get_place(r, node);
    }
    ItmCosimOptions* o = &cosim->options;
    o->macro_step = itm_reader_get_real(r, v[MACRO_STEP], ITM_DIM_TIME, o->macro_step);
    if (r->status == ITM_OK && !(o->macro_step > 0.0)) {
        itm_reader_fail(r, v[MACRO_STEP], "macro_step must be positive, got %g", o->macro_step);
    }
    o->scheme = (ItmScheme)get_choice(r, v[SCHEME], "a scheme", get_scheme_name, ITM_SCHEME_COUNT, (int)o->scheme);
    o->flexible_interface = (ItmFlexibleInterface)get_choice(
        r, v[FLEXIBLE_INTERFACE], "a model of flexible bodies at interfaces", get_flexible_interface_name,
        ITM_FLEXIBLE_INTERFACE_COUNT, (int)o->flexible_interface);
    o->contact_renewals = itm_reader_get_int(r, v[CONTACT_RENEWALS], 0, 10000, o->contact_renewals);
    o->nthread = itm_reader_get_int(r, v[THREADS], 1, 256, o->nthread);
    ItmBondOptions common =
        get_bond_options(r, (BondNodes){v[COUPLING], v[EXCHANGE], v[VARIABLES]}, itm_default_bond_options());
    o->is_monolithic = common.coupling == ITM_COUPLING_MONOLITHIC;
    common.coupling = o->is_monolithic ? ITM_COUPLING_RIM : common.coupling;
    bool is_rim = common.coupling == ITM_COUPLING_RIM || common.coupling == ITM_COUPLING_RIM_NONSMOOTH;
    bool has_pressure = common.variables == ITM_VARIABLES_VELOCITY_PRESSURE && is_rim &&
                        common.exchange == ITM_EXCHANGE_IMPULSE && !o->is_monolithic;
    if (r->status == ITM_OK && has_pressure) {
        itm_reader_fail(r, v[VARIABLES],
                        "velocity-pressure needs exchange hold: with impulses the mechanism has no friction "
                        "of its own");
    }
    if (o->is_monolithic) {
        common = itm_default_bond_options();
    }
    read_overrides(r, v[OVERRIDES]);
    check_steps(r, v[MACRO_STEP] != NULL ? v[MACRO_STEP] : node, o->macro_step);
    for (const ItmItem* item = itm_reader_is_collection(r, v[BONDS], "bonds") ? v[BONDS]->first : NULL;
         item != NULL && r->status == ITM_OK; item = item->next) {
        read_bond(r, item, common);
    }
    read_wires(r, v[WIRES]);
    read_aliases(r, v[ALIASES]);
    read_placement(r, v[PLACEMENT]);
}
