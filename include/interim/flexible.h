// Flexible bodies: a floating frame of reference and deformation modes.
//
// itm_model_builder_add_flexible makes a body flexible and also sets its mass, centre of mass and inertia. Joints,
// forces and shapes are placed on it as on any body, in the frame of the undeformed body; they follow the deformation.
// SPDX-License-Identifier: Apache-2.0
#ifndef INTERIM_FLEXIBLE_H
#define INTERIM_FLEXIBLE_H

#include "interim/model.h"

ITM_EXTERN_C_BEGIN

// ---------------------------------------------------------------------------- beams

typedef enum ItmBeamTheory {
    ITM_BEAM_EULER_BERNOULLI,  // no shear, no rotary inertia of bending
    ITM_BEAM_TIMOSHENKO,       // both
    ITM_BEAM_THEORY_COUNT
} ItmBeamTheory;

// Boundary conditions of the mode shapes in the body frame. They select the shapes and the floating frame, not the
// supports: those are joints. Axial and torsional modes are fixed at a clamped end; otherwise at the start; for free-free
// they are not fixed.
typedef enum ItmBeamEnds {
    ITM_BEAM_CLAMPED_FREE,   // the frame follows the start: for an arm or a blade
    ITM_BEAM_FREE_CLAMPED,   // the frame follows the end
    ITM_BEAM_PINNED_PINNED,  // x axis through both ends
    ITM_BEAM_CLAMPED_PINNED,
    ITM_BEAM_CLAMPED_CLAMPED,
    ITM_BEAM_FREE_FREE,  // modes without momentum: for a free body
    ITM_BEAM_ENDS_COUNT
} ItmBeamEnds;

typedef enum ItmBeamSection {
    ITM_SECTION_RECTANGLE,  // size: width along y, height along z
    ITM_SECTION_CIRCLE,     // size: diameter
    ITM_SECTION_TUBE,       // size: outer diameter, wall
    ITM_SECTION_COUNT
} ItmBeamSection;

// Uniform straight beam from the origin of the body frame along x. The section axes are y and z.
typedef struct ItmBeamDef {
    double length;  // m, > 0
    ItmBeamTheory theory;
    ItmBeamEnds ends;
    double density;                  // kg/m^3
    double young;                    // Pa
    double shear;                    // shear modulus, Pa
    double area;                     // m^2
    double moment_y, moment_z;       // second moments about y (bends along z) and z (bends along y)     m^4
    double torsion;                  // torsion constant                                                 m^4
    double shear_y, shear_z;         // Timoshenko: shear correction factors along y and z
    int modes_y, modes_z;            // bending modes along y and z
    int modes_axial, modes_torsion;  // no modes at all: the beam is rigid
    const double* stations;   // additional shapes for static loads at these positions, in the directions that have
    int nstation;             // modes: exact at an end, otherwise to about 1e-3                              m
    double width_y, width_z;  // displayed outline of the section; 0: the rectangle with this area and these moments  m
    bool is_round;            // displayed as an ellipse with these diameters; otherwise as a rectangle
} ItmBeamDef;

// Default beam: steel, clamped-free, Euler-Bernoulli, two bending modes per plane; length and section are not set.
ITM_API ItmBeamDef itm_default_beam_def(void);
// Set area, moments, torsion constant, shear factors (Cowper, for this shear modulus) and outline from a section. size: see
// ItmBeamSection.
ITM_API ItmStatus itm_beam_set_section(ItmBeamDef* beam, ItmBeamSection section, const double size[2], ItmError* error);

// ---------------------------------------------------------------------------- finite element models

// Symmetric sparse matrix: each off-diagonal entry also defines its mirror entry. Duplicate entries are summed.
typedef struct ItmSparseDef {
    int n;  // rows and columns
    int nentry;
    const int *row, *column;  // counted from 0
    const double* value;
} ItmSparseDef;

// Nodes tied together as one rigid set, with a frame at their centre. If nodes have displacements only, at least three
// non-collinear nodes are required.
typedef struct ItmModalInterface {
    const char* name;
    int nnode;
    const int* nodes;  // counted from 0
} ItmModalInterface;

// Attachment of the body frame.
typedef enum ItmModalFrame {
    ITM_MODAL_FRAME_INTERFACE,  // the first interface, with fixed-interface (Craig-Bampton) modes relative to it
    ITM_MODAL_FRAME_FREE,       // modes without momentum, after reduction
    ITM_MODAL_FRAME_COUNT
} ItmModalFrame;

// Mass and stiffness matrix of an unsupported body, which the library reduces to its interfaces and some modes.
typedef struct ItmModalDef {
    ItmSparseDef mass, stiffness;  // kg, kg m, kg m^2;  N/m, N, N m
    int nnode;
    const ItmVec3* nodes;  // positions in the body frame, m. Each node has n / nnode = 3 (displacements) or
                           // 6 (displacements, rotations) rows, in the order of the nodes
    int ninterface;
    const ItmModalInterface* interfaces;  // allowed positions of joints, forces, shapes and named points; at least one
    ItmModalFrame frame;
    int modes;  // fixed-interface modes, in addition to the static modes of the interfaces
} ItmModalDef;

// Default: six fixed-interface modes, body frame at the first interface; matrices, nodes and interfaces are not set.
ITM_API ItmModalDef itm_default_modal_def(void);

// ---------------------------------------------------------------------------- flexible bodies

// A named point of the body: its position, velocity and deflection become outputs "body.point.position.x" ...
typedef struct ItmFlexiblePointDef {
    const char* name;
    ItmVec3 at;  // undeformed, body frame   m
} ItmFlexiblePointDef;

typedef struct ItmFlexibleDef {
    const ItmBeamDef* beam;  // exactly one of beam and modal
    const ItmModalDef* modal;
    double damping_ratio;  // of every mode, relative to critical damping
    const double* ratios;  // of the first modes, instead of the above                (nratio)
    int nratio;
    double rayleigh_mass;              // adds this times the modal masses to the damping         1/s
    double rayleigh_stiffness;         // adds this times the modal stiffnesses                   s
    bool use_stiffening;               // beams: bending shortens the axis, so axial forces stiffen or soften it
    const double *start, *start_rate;  // initial values of the first modes; NULL: 0         (nstart)
    int nstart;
    const ItmFlexiblePointDef* points;  //                                                   (npoint)
    int npoint;
} ItmFlexibleDef;

// Default: no damping, with stiffening, no initial values, no points.
ITM_API ItmFlexibleDef itm_default_flexible_def(void);

// Make a body flexible. Replaces its mass, centre of mass and inertia.
ITM_API ItmStatus itm_model_builder_add_flexible(ItmModelBuilder* b, int body, const ItmFlexibleDef* def,
                                                 ItmError* error);

// Number of modes of a flexible body; 0 for a rigid one.
ITM_API int itm_model_get_mode_count(const ItmModel* m, int body);
// Angular frequency of a mode in the body frame, rad/s; 0 if there is no such mode.
ITM_API double itm_model_get_mode_frequency(const ItmModel* m, int body, int mode);

// Name as in model files: "euler-bernoulli", ...
ITM_API const char* itm_beam_theory_name(ItmBeamTheory theory);
// Name as in model files: "clamped-free", ...
ITM_API const char* itm_beam_ends_name(ItmBeamEnds ends);
// Name as in model files: "rectangle", ...
ITM_API const char* itm_beam_section_name(ItmBeamSection section);
// Name as in model files: "interface", ...
ITM_API const char* itm_modal_frame_name(ItmModalFrame frame);

ITM_EXTERN_C_END

#endif
