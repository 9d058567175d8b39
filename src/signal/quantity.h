// Numbers with units: SI inside, dimension kept as exponents of the base units.
#ifndef ITM_SIGNAL_QUANTITY_H
#define ITM_SIGNAL_QUANTITY_H

#include "interim/base.h"

enum { ITM_BASE_M, ITM_BASE_KG, ITM_BASE_S, ITM_BASE_A, ITM_BASE_K, ITM_BASE_COUNT };

// Exponents of m, kg, s, A, K. Angles have dimension one: rad = 1.
typedef struct ItmDimension {
    double e[ITM_BASE_COUNT];
} ItmDimension;

// clang-format off
#define ITM_DIM_ONE           ((ItmDimension){{0}})
#define ITM_DIM_LENGTH        ((ItmDimension){{1}})
#define ITM_DIM_MASS          ((ItmDimension){{0, 1}})
#define ITM_DIM_TIME          ((ItmDimension){{0, 0, 1}})
#define ITM_DIM_FREQUENCY     ((ItmDimension){{0, 0, -1}})     // and angular velocity
#define ITM_DIM_VELOCITY      ((ItmDimension){{1, 0, -1}})
#define ITM_DIM_ACCELERATION  ((ItmDimension){{1, 0, -2}})
#define ITM_DIM_DENSITY       ((ItmDimension){{-3, 1}})
#define ITM_DIM_INERTIA       ((ItmDimension){{2, 1}})
#define ITM_DIM_FORCE         ((ItmDimension){{1, 1, -2}})
#define ITM_DIM_TORQUE        ((ItmDimension){{2, 1, -2}})     // and rotational stiffness
#define ITM_DIM_STIFFNESS     ((ItmDimension){{0, 1, -2}})
#define ITM_DIM_DAMPING       ((ItmDimension){{0, 1, -1}})
#define ITM_DIM_TORQUE_DAMPING ((ItmDimension){{2, 1, -1}})
#define ITM_DIM_AREA          ((ItmDimension){{2}})
#define ITM_DIM_VOLUME        ((ItmDimension){{3}})
#define ITM_DIM_FLOW          ((ItmDimension){{3, 0, -1}})
#define ITM_DIM_PRESSURE      ((ItmDimension){{-1, 1, -2}})
#define ITM_DIM_COMPRESSION   ((ItmDimension){{1, -1, 2}})     // 1/Pa
#define ITM_DIM_COMPRESSION_2 ((ItmDimension){{2, -2, 4}})     // 1/Pa^2
#define ITM_DIM_CONDUCTANCE   ((ItmDimension){{4, -1, 1}})     // m^3/(s Pa)
#define ITM_DIM_POWER         ((ItmDimension){{2, 1, -3}})
#define ITM_DIM_VISCOSITY     ((ItmDimension){{2, 0, -1}})     // kinematic
#define ITM_DIM_TEMPERATURE   ((ItmDimension){{0, 0, 0, 0, 1}})
#define ITM_DIM_EXPANSION     ((ItmDimension){{0, 0, 0, 0, -1}}) // 1/K
#define ITM_DIM_ORIFICE       ((ItmDimension){{3.5, -0.5, 0}}) // m^3/(s sqrt(Pa))
// clang-format on

// A value in SI units. A bare number had no unit anywhere and fits wherever a unit is expected; `30
// deg` is a number of dimension one, but not a bare one.
typedef struct ItmQuantity {
    double value;
    ItmDimension dimension;
    bool is_bare;
} ItmQuantity;

bool itm_quantity_equal_dimensions(ItmDimension a, ItmDimension b);
// a b^power
ItmDimension itm_quantity_multiply_dimensions(ItmDimension a, ItmDimension b, double power);
// "kg m/s^2", "1/s", "no unit"; with the usual name where there is one ("N"). In the caller's
// buffer.
const char* itm_quantity_format_dimension(ItmDimension dimension, char* buffer, size_t size);
// Whether the quantity may stand where this dimension is expected.
bool itm_quantity_fits(ItmQuantity q, ItmDimension expected);

// Factor to SI and dimension of one unit with its prefix ("ms", "kN", "MPa", "deg"); false: there
// is none of that name.
bool itm_quantity_find_unit(const char* name, size_t length, double* factor, ItmDimension* dimension);
// The unit nearest to what was typed, or NULL.
const char* itm_quantity_suggest_unit(const char* name, size_t length);

#endif
