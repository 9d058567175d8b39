// Units of an FMU against ours.
#include "fmi/description_private.h"

#include "base/error.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------- units by their name

// A name such as "N.m/s2", "kg/(m.s)" or "1/min", as Modelica writes it: factors separated by "." or "*" or blanks, divisors after
// "/", exponents as digits. Value in SI = factor * value.
typedef struct NameScanner {
    const char* at;
    int depth;
    bool is_wrong;
} NameScanner;

typedef struct NamedUnit {
    double factor;
    ItmDimension dimension;
} NamedUnit;

static NamedUnit scan_product(NameScanner* s);

static NamedUnit raise(NamedUnit u, double power)
{
    return (NamedUnit){pow(u.factor, power), itm_quantity_multiply_dimensions(ITM_DIM_ONE, u.dimension, power)};
}

// Letters, "%" and the bytes of "°" and "µ".
static bool is_letter(char c)
{
    return isalpha((unsigned char)c) || c == '%' || (unsigned char)c >= 128;
}

static NamedUnit scan_factor(NameScanner* s)
{
    NamedUnit u = {1.0, ITM_DIM_ONE};
    if (*s->at == '(' && s->depth < 8) {
        s->at++;
        s->depth++;
        u = scan_product(s);
        s->depth--;
        s->is_wrong = s->is_wrong || *s->at != ')';
        s->at += *s->at == ')';
    } else if (*s->at == '1' && !isdigit((unsigned char)s->at[1])) {
        s->at++;
        return u;
    } else {
        const char* start = s->at;
        while (is_letter(*s->at)) {
            s->at++;
        }
        s->is_wrong = s->is_wrong || !itm_quantity_find_unit(start, (size_t)(s->at - start), &u.factor, &u.dimension);
    }
    s->at += *s->at == '^';
    char* end = NULL;
    if (isdigit((unsigned char)*s->at) || ((*s->at == '-' || *s->at == '+') && isdigit((unsigned char)s->at[1]))) {
        long power = strtol(s->at, &end, 10);
        s->at = end;
        s->is_wrong = s->is_wrong || labs(power) > 20;
        u = raise(u, s->is_wrong ? 1.0 : (double)power);
    }
    return u;
}

static NamedUnit scan_product(NameScanner* s)
{
    NamedUnit product = scan_factor(s);
    while (!s->is_wrong && *s->at != '\0' && *s->at != ')') {
        double power = *s->at == '/' ? -1.0 : 1.0;
        s->is_wrong = strchr("/.* ", *s->at) == NULL;
        s->at++;
        NamedUnit u = scan_factor(s);
        product.factor *= pow(u.factor, power);
        product.dimension = itm_quantity_multiply_dimensions(product.dimension, u.dimension, power);
    }
    return product;
}

bool itm_description_parse_unit(ItmFmiConversion* c, const char* name)
{
    if (strcmp(name, "degC") == 0 || strcmp(name, "°C") == 0) {
        *c = (ItmFmiConversion){true, {{0, 0, 0, 0, 1}}, 1.0, 273.15};
        return true;
    }
    NameScanner s = {.at = name};
    NamedUnit u = scan_product(&s);
    if (s.is_wrong || *s.at != '\0') {
        return false;
    }
    *c = (ItmFmiConversion){true, u.dimension, u.factor, 0.0};
    return true;
}

// ---------------------------------------------------------------------------- public

ItmStatus itm_description_convert_unit(ItmFmiConversion* c, const ItmFmiDescription* d, int variable, ItmError* error)
{
    const ItmFmiVariable* v = &d->variables[variable];
    const ItmFmiUnit* u = v->unit_id != ITM_NONE ? &d->units[v->unit_id] : NULL;
    *c = (ItmFmiConversion){false, ITM_DIM_ONE, 1.0, 0.0};
    if (u != NULL && u->has_base) {
        if (u->e[ITM_FMI_BASE_MOL] != 0 || u->e[ITM_FMI_BASE_CD] != 0) {
            itm_error_set(error, ITM_ERR_INPUT, __func__, NULL,
                          "variable '%.100s' has the unit '%.40s' with mol or cd, which Interim has no dimension for; "
                          "connect it with variables of FMUs only",
                          v->name, v->unit);
            itm_error_locate(error, d->file, v->line, v->column);
            return ITM_ERR_INPUT;
        }
        c->is_known = true;
        c->dimension.e[ITM_BASE_M] = u->e[ITM_FMI_BASE_M];
        c->dimension.e[ITM_BASE_KG] = u->e[ITM_FMI_BASE_KG];
        c->dimension.e[ITM_BASE_S] = u->e[ITM_FMI_BASE_S];
        c->dimension.e[ITM_BASE_A] = u->e[ITM_FMI_BASE_A];
        c->dimension.e[ITM_BASE_K] = u->e[ITM_FMI_BASE_K];
        c->factor = u->factor;
        c->offset = u->offset;
    } else if (v->unit != NULL) {
        itm_description_parse_unit(c, v->unit);
    }
    c->offset = v->is_relative ? 0.0 : c->offset;
    return ITM_OK;
}

ItmStatus itm_description_check_dimension(const ItmFmiDescription* d, int variable, ItmDimension dimension,
                                          ItmError* error)
{
    ItmFmiConversion c;
    ItmStatus status = itm_description_convert_unit(&c, d, variable, error);
    if (status != ITM_OK || !c.is_known || itm_quantity_equal_dimensions(c.dimension, dimension)) {
        return status;
    }
    const ItmFmiVariable* v = &d->variables[variable];
    char has[64], expected[64];
    itm_error_set(error, ITM_ERR_INPUT, __func__, NULL,
                  "variable '%.100s' has the unit '%.40s' (%s), and %s is expected here; connect a variable of this "
                  "dimension, or correct the unit in modelDescription.xml",
                  v->name, v->unit, itm_quantity_format_dimension(c.dimension, has, sizeof has),
                  itm_quantity_format_dimension(dimension, expected, sizeof expected));
    itm_error_locate(error, d->file, v->line, v->column);
    return ITM_ERR_INPUT;
}
