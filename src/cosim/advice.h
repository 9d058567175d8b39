// Linearisation of the macro step: which states are disturbed, and which of them cannot influence each other.
#ifndef ITM_COSIM_ADVICE_H
#define ITM_COSIM_ADVICE_H

#include "cosim/cosim.h"

// clang-format off

// States of the linearised step, component by component. Subsystems and bodies belong to one component where a joint, a force, a bond,
// a frame bond, a wire or a possible contact connects them; states of different components never influence each other.
typedef struct ItmStates {
    int      n;
    int      ncomponent;
    int*     first;          // state of each component, and n            (ncomponent + 1)
    bool*    is_open;        // a foreign mechanism belongs to it, whose states are not here (ncomponent)
    int*     place;          // where a state in the order of the walk is found here (n)
    double** at;             // its address, in the order of the walk; NULL: of a subsystem, by get_states (n)
    double*  usual;          // its usual size                            (n)
    double*  share;          // its disturbance as a share of its size; 0: the usual size is the disturbance (n)
    double*  room;           // in the order of the walk                  (n)
} ItmStates;
// clang-format on

// Find the states and their components; itm_advice_states_destroy frees them, also after a failure. takes_all: of all bodies, not only of
// those that an interface or a wire reaches. ITM_ERR_MEMORY.
ItmStatus itm_advice_states_create(ItmStates* states, ItmCosim* x, bool takes_all);
void itm_advice_states_destroy(ItmStates* states);
// z (n), component by component; small (n): the disturbances, or NULL.
void itm_advice_states_read(const ItmStates* states, ItmCosim* x, double* z, double* small);
// Names of the states of all bodies (takes_all), as z has them. names (n)
void itm_advice_states_name(const ItmStates* states, const ItmCosim* x, char (*names)[ITM_STATE_NAME_SIZE]);
void itm_advice_states_write(const ItmStates* states, ItmCosim* x, const double* z);

// Whether a subsystem has a bond with a foreign mechanism: its states respond to disturbances of the mechanism.
bool itm_advice_is_partner(const ItmCosim* x, int subsystem);
// ITM_ERR_CAPACITY, with its message.
ItmStatus itm_advice_refuse_budget(ItmCosim* x);
// Spectral radius per macro step of the components with foreign mechanisms, whose states can be saved: from responses to disturbances
// through their ports, sampled every nsteps macro steps. The state of the system afterwards is any.
ItmStatus itm_advice_respond(ItmCosim* x, int nsteps, ItmAdviceWatch watch, double* radius);

#endif
