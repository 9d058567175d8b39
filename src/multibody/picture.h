// What flexible bodies look like: a few places that their modes move. Nothing of a simulation depends on them.
#ifndef ITM_MULTIBODY_PICTURE_H
#define ITM_MULTIBODY_PICTURE_H

#include "multibody/beam.h"
#include "multibody/model.h"

// Stations from end to end of a beam, and the outline of its section.
ItmStatus itm_picture_make_beam(ItmElasticPicture* picture, const ItmBeam* beam);

// Frames of the interfaces of a finite element model, and how its n modes move them.
typedef struct ItmPictureFaces {
    int count;
    const ItmVec3* origins;    // (count)
    const ItmSpatial* shapes;  // (count x n)
} ItmPictureFaces;

// The interfaces, then the nodes, evenly fewer where they are very many; joined where the stiffness matrix couples two nodes.
// U: displacements of the modes over all rows (n x rows)
ItmStatus itm_picture_make_nodes(ItmElasticPicture* picture, const ItmModalDef* def, const double* U, int n,
                                 const ItmPictureFaces* faces);

// A copy for n modes that belongs to the model.
ItmStatus itm_picture_copy(ItmElasticPicture* to, const ItmElasticPicture* from, ItmModel* m, int n);
void itm_picture_free(ItmElasticPicture* picture);

#endif
