// A running co-simulation: two parts, their interface, and what one macro step needs.
#ifndef ITM_COSIM_COSIM_H
#define ITM_COSIM_COSIM_H

#include "hydraulics/data.h"
#include "interim/cosim.h"
#include "rim/rim.h"

// clang-format off
struct ItmCosim {
    const ItmModel*   model;
    const ItmCircuit* circuit;
    ItmData*          data;
    ItmHydraulics*    hydraulics;
    ItmCosimOptions   options;
    int      K;            // micro steps a macro step
    double   h;            // H / K                                                             s
    bool     use_heun;     // the RIM goes by Heun's rule, not by semi-implicit Euler
    int      n;            // interfaces
    int*     cylinder;     // of each                                                  (n)
    ItmError error;
    ItmArena arena;
    ItmRim   rim;

    // state beyond that of the two parts
    double*  state;        //                                                          (nstate)
    int      nstate;
    double*  has_prev;     // 1: w_prev is there                                       (1)
    double*  w_prev;       // rates at the communication point before this             (n)      m/s
    double*  force;        // interface forces at the end of the last micro step       (n)      N
    double*  P0;           // impulse of the last macro step, int lambda dt            (n)      N s

    // one macro step
    double*  s;            // interfaces as the circuit sees them                      (n)      m
    double*  w;            //                                                          (n)      m/s
    double*  w_end;        // rates at the end of a micro step                         (n)      m/s
    double*  slope;        // predicted acceleration (linear)                          (n)      m/s^2
    double*  lambda;       // interface force of a micro step                          (n)      N
    double*  s_all;        // all cylinders                                            (ncyl)   m
    double*  w_all;        //                                                          (ncyl)   m/s
    double*  w_end_all;    //                                                          (ncyl)   m/s
    double*  force_all;    //                                                          (ncyl)   N
    char*    backup;       // hydraulics before the step
};
// clang-format on

// Forces of the cylinders at the present state of the circuit, s, w (n). lambda (n)
void itm_exchange_compute_forces(ItmCosim* x, double* lambda, const double* s, const double* w);

// A macro step, in the two ways of exchange. On failure the state is left half done: itm_cosim_step puts it back.
ItmStatus itm_exchange_step_impulse(ItmCosim* x);
ItmStatus itm_exchange_step_hold(ItmCosim* x);

#endif
