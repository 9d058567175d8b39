// The modes of a uniform beam as series of Legendre polynomials, and how they are found.
#ifndef ITM_MULTIBODY_BEAM_MODES_H
#define ITM_MULTIBODY_BEAM_MODES_H

#include "multibody/beam.h"

typedef enum ItmBeamDirection {
    ITM_BEAM_AXIAL,
    ITM_BEAM_ALONG_Y,
    ITM_BEAM_ALONG_Z,
    ITM_BEAM_TORSION,
} ItmBeamDirection;

typedef struct ItmBeamMode {
    ItmBeamDirection direction;
    double mass, stiffness;
    double* series;  // displacement, rotation of the section, slope of the axis (nseries each)
} ItmBeamMode;

struct ItmBeam {
    ItmBeamDef def;
    int n;
    int nmode_asked;     // without static shapes; 0: rigid
    int nseries;         // terms of the longest series
    ItmBeamMode* modes;  // (n)
    double* block;       // the series
};

// Terms of the series for a number of modes in one direction.
int itm_beam_modes_count_terms(int modes);

// Append the `count` slowest modes in a direction, and the static shapes of the stations; series and modes have their memory.
ItmStatus itm_beam_modes_add(ItmBeam* beam, ItmBeamDirection direction, int count);

#endif
