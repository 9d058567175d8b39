// Finite element models, reduced to their interfaces (Craig and Bampton 1968).
#ifndef ITM_MULTIBODY_MODAL_H
#define ITM_MULTIBODY_MODAL_H

#include "multibody/elastic.h"

ItmStatus itm_modal_def_check(const ItmModalDef* def, const char* body, ItmError* error);

// Check and reduce. *n: modes.
ItmStatus itm_modal_create(ItmModalShapes** shapes, int* n, const ItmModalDef* def, const char* body, ItmError* error);
void itm_modal_destroy(ItmModalShapes* shapes);
// Tables, mass, centre and inertia of the body.
void itm_modal_fill(const ItmModalShapes* shapes, ItmElastic* e);
// The interface at a point, or ITM_ERR_INPUT.
ItmStatus itm_modal_find_site(ItmElasticSite* site, const ItmModalShapes* shapes, ItmVec3 point, ItmError* error);
// Its nodes to look at; they move over to the caller.
ItmElasticPicture itm_modal_take_picture(ItmModalShapes* shapes);
// Shapes at the interface with this origin.
void itm_modal_compute_shape(const ItmModalShapes* shapes, ItmSpatial* shape, ItmVec3 origin);

#endif
