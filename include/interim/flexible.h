// Flexible bodies: a floating frame of reference, and modes that deform the body in it.
//
// A body becomes flexible by itm_builder_add_flexible, which also gives it mass, centre of mass and inertia. Joints,
// forces and shapes are placed on it as on any body, in the frame of the undeformed body; they then follow the deformation.
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

// How the modes are held in the body frame. This is a choice of shapes and of the frame that floats with the beam, not of the
// supports: those are joints. Axial and torsional modes are fixed where an end is clamped, at the start otherwise, and
// nowhere for free-free.
typedef enum ItmBeamEnds {
    ITM_BEAM_CLAMPED_FREE,     // the frame follows the start: what an arm or a blade wants
    ITM_BEAM_FREE_CLAMPED,     // the frame follows the end
    ITM_BEAM_PINNED_PINNED,    // x axis through both ends
    ITM_BEAM_CLAMPED_PINNED,
    ITM_BEAM_CLAMPED_CLAMPED,
    ITM_BEAM_FREE_FREE,        // modes without momentum: what a free body wants
    ITM_BEAM_ENDS_COUNT
} ItmBeamEnds;

typedef enum ItmBeamSection {
    ITM_SECTION_RECTANGLE,  // size: width along y, height along z
    ITM_SECTION_CIRCLE,     // size: diameter
    ITM_SECTION_TUBE,       // size: outer diameter, wall
    ITM_SECTION_COUNT
} ItmBeamSection;

// Uniform straight beam from the origin of the body frame along x. Section axes along y and z.
typedef struct ItmBeamDef {
    double length;              // m, > 0
    ItmBeamTheory theory;
    ItmBeamEnds ends;
    double density;             // kg/m^3
    double young;               // Pa
    double shear;               // shear modulus, Pa
    double area;                // m^2
    double moment_y, moment_z;  // second moments about y (bends along z) and z (bends along y)     m^4
    double torsion;             // torsion constant                                                 m^4
    double shear_y, shear_z;    // Timoshenko: shear correction factors along y and z
    int modes_y, modes_z;       // bending modes along y and z
    int modes_axial, modes_torsion; // no modes at all: the beam is rigid
    const double* stations;     // beside these modes, shapes that carry static loads at these places, in the directions
    int nstation;               // that have modes: at an end exactly, between to some 1e-3                    m
    double width_y, width_z;    // outline of the section in pictures; 0: the rectangle with this area and these moments  m
    bool is_round;              // an ellipse with these diameters; otherwise a rectangle
} ItmBeamDef;

// Steel, clamped-free, Euler-Bernoulli, two bending modes a plane; length and section are not set.
ITM_API ItmBeamDef itm_default_beam_def(void);
// Area, moments, torsion constant, shear factors (Cowper, for this shear modulus) and outline of a section. size: see
// ItmBeamSection.
ITM_API ItmStatus itm_beam_set_section(ItmBeamDef* beam, ItmBeamSection section, const double size[2], ItmError* error);

// ---------------------------------------------------------------------------- finite element models

// Symmetric sparse matrix: every entry beside the diagonal stands for its mirror image too. Equal places add up.
typedef struct ItmSparseDef {
    int n;                // rows and columns
    int nentry;
    const int *row, *column;  // counted from 0
    const double* value;
} ItmSparseDef;

// Nodes that are tied together as one rigid piece, with a frame in their middle. Where nodes have displacements only, three
// that are not on a line are needed.
typedef struct ItmInterfaceDef {
    const char* name;
    int nnode;
    const int* nodes;     // counted from 0
} ItmInterfaceDef;

// What the body frame is fixed to.
typedef enum ItmModalFrame {
    ITM_MODAL_FRAME_INTERFACE,  // the first interface: fixed-interface (Craig-Bampton) modes hang on it
    ITM_MODAL_FRAME_FREE,       // modes without momentum, after reduction
    ITM_MODAL_FRAME_COUNT
} ItmModalFrame;

// Mass and stiffness matrix of a body that hangs nowhere, reduced here to its interfaces and some modes.
typedef struct ItmModalDef {
    ItmSparseDef mass, stiffness;  // kg, kg m, kg m^2;  N/m, N, N m
    int nnode;
    const ItmVec3* nodes;          // positions in the body frame, m. Each node has n / nnode = 3 (displacements) or
                                   // 6 (displacements, rotations) rows, in the order of the nodes
    int ninterface;
    const ItmInterfaceDef* interfaces;  // where joints, forces, shapes and named points may be, at least one
    ItmModalFrame frame;
    int modes;                     // fixed-interface modes beside the static ones of the interfaces
} ItmModalDef;

ITM_API ItmModalDef itm_default_modal_def(void);

// ---------------------------------------------------------------------------- flexible bodies

// A point of the body with a name: its position, velocity and deflection become outputs "body.point.position.x" ...
typedef struct ItmFlexiblePointDef {
    const char* name;
    ItmVec3 at;           // undeformed, body frame   m
} ItmFlexiblePointDef;

typedef struct ItmFlexibleDef {
    const ItmBeamDef* beam;      // one of the two
    const ItmModalDef* modal;
    double damping_ratio;        // of every mode, of critical
    const double* ratios;        // of the first modes in particular                       (nratio)
    int nratio;
    double rayleigh_mass;        // adds this times the modal masses to the damping         1/s
    double rayleigh_stiffness;   // adds this times the modal stiffnesses                   s
    bool use_stiffening;         // beams: bending shortens the axis, by which axial forces stiffen or soften it
    const double *start, *start_rate;  // of the first modes; NULL: 0                       (nstart)
    int nstart;
    const ItmFlexiblePointDef* points; //                                                   (npoint)
    int npoint;
} ItmFlexibleDef;

// No damping, stiffening, no start values, no points.
ITM_API ItmFlexibleDef itm_default_flexible_def(void);

// Make a body flexible; replaces its mass, centre of mass and inertia.
ITM_API ItmStatus itm_builder_add_flexible(ItmBuilder* b, int body, const ItmFlexibleDef* def, ItmError* error);

// Modes of a flexible body, 0 for a rigid one, and the circular frequency of one of them in the body frame, rad/s.
ITM_API int itm_model_get_mode_count(const ItmModel* m, int body);
ITM_API double itm_model_get_mode_frequency(const ItmModel* m, int body, int mode);

// "euler-bernoulli" ..., "clamped-free" ..., "rectangle" ..., "interface" ...
ITM_API const char* itm_beam_theory_name(ItmBeamTheory theory);
ITM_API const char* itm_beam_ends_name(ItmBeamEnds ends);
ITM_API const char* itm_beam_section_name(ItmBeamSection section);
ITM_API const char* itm_modal_frame_name(ItmModalFrame frame);

ITM_EXTERN_C_END

#endif
