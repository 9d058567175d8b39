// How a flexible body deforms, as the compiler of models reads it: modes, their inertia coupling with the motion of the body
// frame, and their shapes at points. Beams (beam.c) and finite element models (modal.c) fill it.
//
// A point s of the undeformed body (from the centre of mass) moves to s + u, u = sum phi_k(s) eta_k, and turns by
// theta = sum psi_k(s) eta_k; where bending shortens the axis, u also has -1/2 e_x eta' Gamma(s) eta. Sums over the mass:
//   S_k = sum m phi_k,  B_k = sum m s phi_k',  E_kl = sum m phi_k phi_l',  P_k = sum of the sections' own inertia times psi_k
#ifndef ITM_MULTIBODY_ELASTIC_H
#define ITM_MULTIBODY_ELASTIC_H

#include "interim/flexible.h"
#include "math/vec.h"

typedef struct ItmBeam ItmBeam;
typedef struct ItmModalShapes ItmModalShapes;

// clang-format off
// Modal inertia and stiffness. Modes are orthogonal: masses, stiffnesses and dampings are diagonal.
typedef struct ItmElasticTables {
    ItmVec3* S;         // linear momentum of a mode                             (n)      kg (per unit of the mode)
    ItmVec3* P;         // angular momentum of sections                          (n)      kg m
    ItmMat3* B;         // first moments                                         (n)      kg m
    ItmMat3* E;         // second moments, E_kl in element k n + l               (n x n)  kg
    double*  mass;      // modal masses                                          (n)      kg
    double*  stiffness; //                                                       (n)      N/m
    double*  damping;   //                                                       (n)      N s/m
    double*  G;         // shortening: sum m Gamma                               (n x n)  kg/m
    double*  G1;        // shortening: sum m s_x Gamma                           (n x n)  kg
} ItmElasticTables;

typedef struct ItmElasticPoint {
    char    name[72];
    ItmVec3 at;         // body frame                                            m
} ItmElasticPoint;

// What a flexible body looks like: places that the modes move. A beam is a line of them.
typedef struct ItmElasticPicture {
    bool     is_beam, is_round;  // section of a beam: ellipse or rectangle
    double   width_y, width_z;   // of the section                                        m
    int      npoint, nedge;
    ItmVec3* points;    // undeformed, body frame                                (npoint) m
    ItmSpatial* shapes; // of the modes (ang: psi, lin: phi)                     (npoint x n)
    int*     edges;     // points that are joined, but for beams                 (2 nedge)
} ItmElasticPicture;

typedef struct ItmElastic {
    int      body;      // user's id
    int      n;         // modes
    double   mass;      // of the body                                           kg
    ItmVec3  com;       // undeformed, body frame                                m
    ItmSym3  inertia;   // undeformed, about com                                 kg m^2
    bool     is_stiffening; // beams only: bending shortens the axis
    double   axis_moment;   // beams: sum m s_x^2                                kg m^2
    double*  block;     // memory of the tables                                  (itm_elastic_count_reals)
    ItmElasticTables tables;
    double*  start;     // modes at the start, then their rates                  (2 n)
    ItmElasticPoint* points; // with names                                       (npoint)
    int      npoint;
    ItmBeam* beam;      // shapes: one of the two
    ItmModalShapes* shapes;
    ItmElasticPicture picture;
} ItmElastic;
// clang-format on

// Reals of the tables of n modes, and how they lie in a block of that many.
size_t itm_elastic_count_reals(int n);
void itm_elastic_lay_out(ItmElasticTables* t, double* block, int n);

ItmStatus itm_elastic_create(ItmElastic** elastic, int body, const char* name, const ItmFlexibleDef* def,
                             ItmError* error);
void itm_elastic_destroy(ItmElastic* e);

// Where something given at `point` (body frame) holds on to the body.
typedef struct ItmElasticSite {
    bool is_fixed;   // no mode moves it: it belongs to the body frame
    ItmVec3 origin;  // otherwise the place of the node, undeformed, body frame         m
} ItmElasticSite;

// ITM_ERR_INPUT where a finite element model has no interface there.
ItmStatus itm_elastic_find_site(ItmElasticSite* site, const ItmElastic* e, ItmVec3 point, ItmError* error);
// Shapes of the modes at a site (ang: psi, lin: phi), and Gamma there (NULL, or n x n).
ItmStatus itm_elastic_compute_shape(const ItmElastic* e, ItmSpatial* shape, double* gamma, const ItmElasticSite* site);

#endif
