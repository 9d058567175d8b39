// Modes of uniform beams, to rounding.
#ifndef ITM_MULTIBODY_BEAM_H
#define ITM_MULTIBODY_BEAM_H

#include "multibody/elastic.h"

ItmStatus itm_beam_def_check(const ItmBeamDef* def, const char* body, ItmError* error);

// Modes of a checked definition.
ItmStatus itm_beam_create(ItmBeam** beam, const ItmBeamDef* def);
void itm_beam_destroy(ItmBeam* beam);

int itm_beam_count_modes(const ItmBeam* beam);
// Tables, mass, centre and inertia of the body.
ItmStatus itm_beam_fill(const ItmBeam* beam, ItmElastic* e);

// Station of a point on the axis, m.
double itm_beam_find_station(const ItmBeam* beam, ItmVec3 point);
bool itm_beam_is_fixed_at(const ItmBeam* beam, double x);
void itm_beam_compute_shape(const ItmBeam* beam, ItmSpatial* shape, double x);
ItmStatus itm_beam_compute_shortening(const ItmBeam* beam, double* gamma, double x);

const ItmBeamDef* itm_beam_get_def(const ItmBeam* beam);

#endif
