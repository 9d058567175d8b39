// Flexible bodies in the passes over the tree. Their modes and nodes are bodies of two special kinds (see ItmFlexible), and
// the functions here are the parts of the passes that those two do differently.
#ifndef ITM_MULTIBODY_FLEXIBLE_H
#define ITM_MULTIBODY_FLEXIBLE_H

#include "multibody/data.h"
#include "multibody/mass.h"

// ---------------------------------------------------------------------------- kinematics

// Position stage of modes or a node, body i, after its parent. q: all coordinates
void itm_flexible_place(const ItmModel* m, ItmData* d, int i, const double* q);
// Velocity stage. v: all velocities
void itm_flexible_move(const ItmModel* m, ItmData* d, int i, const double* v);
// The same stages of a node alone (flexible_node.c).
void itm_flexible_place_node(const ItmModel* m, ItmData* d, int i);
void itm_flexible_move_node(const ItmModel* m, ItmData* d, int i, const double* v);
// Place and orientation of a node in the frame of the centre of mass, for modes eta (n).
ItmFrame itm_flexible_node_frame(const ItmFlexNode* node, const double* eta, int n);

// sum_l G_kl x_l
static inline double itm_flexible_row_product(const double* G, const double* x, int k, int n)
{
    double sum = 0.0;
    for (int l = 0; l < n; l++) {
        sum += G[k * n + l] * x[l];
    }
    return sum;
}

// Motion `t` of the body at the place of node i, and what the rates v of the modes (in all velocities) add to it.
static inline ItmSpatial itm_flexible_add_motion(const ItmModel* m, const ItmData* d, int i, ItmSpatial t,
                                                 const double* v)
{
    const ItmFlexNode* node = &m->nodes[m->bodies[i].part];
    const ItmFlexible* f = &m->flexibles[node->flexible];
    const double* rate = v + m->bodies[f->modes].v_adr;
    for (int k = 0; k < f->n; k++) {
        t = itm_spatial_axpy(rate[k], d->flex.node_S[node->S_adr + k], t);
    }
    return t;
}

// ---------------------------------------------------------------------------- mass matrix

// Start of the factorisation: inertias of the modes.
void itm_flexible_begin_factor(const ItmModel* m, ItmData* d, ItmModalTerms terms);
// Eliminate body i, modes or a node, from the articulated inertia of its parent.
void itm_flexible_factor(const ItmModel* m, ItmData* d, int i);

// Hand a wrench on node i to the modes below it: its force on them into d->flex.force, the rest to their wrench.
static inline void itm_flexible_hand_on(const ItmModel* m, ItmData* d, int i, ItmSpatial* modes, ItmSpatial wrench)
{
    const ItmFlexNode* node = &m->nodes[m->bodies[i].part];
    const ItmFlexible* f = &m->flexibles[node->flexible];
    double* force = d->flex.force + f->mode_adr;
    for (int k = 0; k < f->n; k++) {
        force[k] += itm_spatial_dot(d->flex.node_S[node->S_adr + k], wrench);
    }
    *modes = itm_spatial_add(*modes, itm_wrench_shift(wrench, itm_vec_sub(d->x[i], d->x[f->frame])));
}

// y += forces that the nodes of the modes i have handed on, which are then taken.
static inline void itm_flexible_collect(const ItmModel* m, ItmData* d, int i, double* y)
{
    const ItmFlexible* f = &m->flexibles[m->bodies[i].part];
    double* force = d->flex.force + f->mode_adr;
    for (int k = 0; k < f->n; k++) {
        y[k] += force[k];
        force[k] = 0.0;
    }
}

// ---------------------------------------------------------------------------- forces and energy

// Add inertia and gravity of the deformation to wrench and tau, as itm_mass_compute_inertia_wrench does for the bodies: with
// body accelerations accel and v' = v_dot (both NULL: v' = 0).
void itm_flexible_add_inertia(const ItmModel* m, const ItmData* d, ItmSpatial* wrench, double* tau,
                              const ItmSpatial* accel, const double* v_dot);
// Add -K eta - D eta' to d->tau, and book the dissipation.
void itm_flexible_add_elastic(const ItmModel* m, ItmData* d);
// Add -h K eta', what makes the elastic force that of the end of an implicit step, to d->tau.
void itm_flexible_add_lag(const ItmModel* m, ItmData* d, double h);

// What deformation adds to the kinetic energy, to that of gravity, and to the momenta about the world origin.
double itm_flexible_compute_kinetic(const ItmModel* m, const ItmData* d);
double itm_flexible_compute_gravity(const ItmModel* m, const ItmData* d);
void itm_flexible_add_momenta(const ItmModel* m, const ItmData* d, ItmVec3* linear, ItmVec3* angular);
// Elastic energy of one flexible body.
double itm_flexible_compute_elastic(const ItmData* d, const ItmFlexible* f);

#endif
