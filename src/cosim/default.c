// Defaults and names of the choices.
#include "interim/cosim.h"

static const char* const COUPLING_NAMES[ITM_COUPLING_COUNT] = {"zoh", "linear",        "quadratic",
                                                               "rim", "rim-nonsmooth", "monolithic"};
static const char* const EXCHANGE_NAMES[ITM_EXCHANGE_COUNT] = {"impulse", "hold"};
static const char* const VARIABLES_NAMES[ITM_VARIABLES_COUNT] = {"velocity-force", "velocity-pressure"};
static const char* const SCHEME_NAMES[ITM_SCHEME_COUNT] = {"jacobi", "gauss-seidel"};
static const char* const FLEXIBLE_INTERFACE_NAMES[ITM_FLEXIBLE_INTERFACE_COUNT] = {"implicit", "frozen", "effective"};

static const char* const MOBILITY_NAMES[ITM_MOBILITY_COUNT] = {"auto", "port", "derivatives", "probing", "identified"};

static const char* get_name(const char* const* names, int count, int i)
{
    return i >= 0 && i < count ? names[i] : NULL;
}

const char* itm_cosim_coupling_name(ItmCoupling coupling)
{
    return get_name(COUPLING_NAMES, ITM_COUPLING_COUNT, (int)coupling);
}

bool itm_cosim_is_rim(ItmCoupling coupling)
{
    return coupling == ITM_COUPLING_RIM || coupling == ITM_COUPLING_RIM_NONSMOOTH;
}

const char* itm_cosim_exchange_name(ItmExchange exchange)
{
    return get_name(EXCHANGE_NAMES, ITM_EXCHANGE_COUNT, (int)exchange);
}

const char* itm_cosim_bond_variables_name(ItmBondVariables variables)
{
    return get_name(VARIABLES_NAMES, ITM_VARIABLES_COUNT, (int)variables);
}

const char* itm_cosim_scheme_name(ItmScheme scheme)
{
    return get_name(SCHEME_NAMES, ITM_SCHEME_COUNT, (int)scheme);
}

const char* itm_cosim_flexible_interface_name(ItmFlexibleInterface model)
{
    return get_name(FLEXIBLE_INTERFACE_NAMES, ITM_FLEXIBLE_INTERFACE_COUNT, (int)model);
}

ItmCosimOptions itm_default_cosim_options(void)
{
    return (ItmCosimOptions){
        .macro_step = 10e-3, .nthread = 1, .contact_renewals = 31, .bounds = itm_default_verdict_bounds()};
}

const char* itm_cosim_mobility_name(ItmMobility mobility)
{
    return get_name(MOBILITY_NAMES, ITM_MOBILITY_COUNT, (int)mobility);
}

ItmForeignOptions itm_default_foreign_options(void)
{
    return (ItmForeignOptions){.mobility = ITM_MOBILITY_AUTO, .probe_interval = 1};
}

ItmBondOptions itm_default_bond_options(void)
{
    return (ItmBondOptions){.coupling = ITM_COUPLING_RIM, .exchange = ITM_EXCHANGE_IMPULSE};
}

ItmInterfaceDef itm_default_interface_def(void)
{
    return (ItmInterfaceDef){.directions = (1u << ITM_DIRECTION_COUNT) - 1u};
}
