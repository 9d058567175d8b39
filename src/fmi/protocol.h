// What the library and the host process of an FMU share: one mapping with a message, values, a log and a state.
//
// One word holds whose turn it is; the other side waits for it with a futex. Both programs are of the same build, so structs
// are shared as they are. The host is never trusted: the library reads sizes from its own copies only.
#ifndef ITM_FMI_PROTOCOL_H
#define ITM_FMI_PROTOCOL_H

#include "fmi/binary.h"
#include "fmi/port.h"
#include "fmi/spec.h"

#define ITM_FMU_SHARED_FD 3    // the mapping
#define ITM_FMU_LIFELINE_FD 4  // read end of a pipe whose other end the library holds: closed, the host ends
#define ITM_FMU_LOG_SIZE 65536
#define ITM_FMU_MOST_PORTS 64                   // with a bond
#define ITM_FMU_MOST_STATE ((size_t)256 << 20)  // bytes of a state

typedef enum ItmFmuTurn { ITM_FMU_TURN_LIBRARY, ITM_FMU_TURN_HOST } ItmFmuTurn;

typedef enum ItmFmuCommand {
    ITM_FMU_CREATE,      // load, instantiate, initialize; the spec is in the area `spec`
    ITM_FMU_MOVE,        // inputs and motion; forces and outputs come back
    ITM_FMU_STEP,        // the same, after a step
    ITM_FMU_RUN,         // micro steps against an interface model (area `run`)
    ITM_FMU_SAVE,        // state into the area `state`
    ITM_FMU_RESTORE,     // and back
    ITM_FMU_GET_STATES,  // continuous states into the area `values`
    ITM_FMU_SET_STATES,  // and back
    ITM_FMU_DERIVE,      // compare directional derivatives with differences
    ITM_FMU_PORT,        // a call at the ports of a mechanism (area `port`)
    ITM_FMU_QUIT,
} ItmFmuCommand;

// Limits of the host process. 0: none.
typedef struct ItmFmuLimits {
    double memory;       // bytes
    double call;         // longest call, s
    double log;          // bytes of messages that are kept
    double file;         // largest file that it may write, bytes
    bool has_network;    // it may open sockets
    bool has_processes;  // it may start processes
} ItmFmuLimits;

// clang-format off
typedef struct ItmFmuShared {
    char     build[64];          // of the library; the host refuses another
    _Atomic uint32_t turn;       // ItmFmuTurn
    _Atomic uint32_t is_asleep[2]; // by ItmFmuTurn: that side sleeps until its turn and must be woken
    int32_t  command;
    int32_t  status;             // ItmStatus of the last command
    int32_t  has_state;          // after a command: the area `state` holds the present state
    int32_t  wants_state;        // the library needs it there after RUN, and after COMMIT of a port
    int32_t  wants_outputs;      // after MOVE and STEP
    double   t, h;               // of STEP, s
    double   deviation;          // result of DERIVE: the largest one, and the number of directions
    int32_t  ndirection;
    ItmError error;
    ItmFmuWatch watch;
    ItmFmuLimits limits;
    uint64_t state_capacity;     // bytes of a state, from CREATE
    _Atomic uint64_t log_written; // bytes so far; the ring holds the last of them
    _Atomic uint64_t log_left;   // bytes that may still be written
    // areas, offsets from the start of the mapping; sizes where the library needs them
    uint64_t spec, spec_size;
    uint64_t values;             // inputs, s, w, w_end, forces, outputs, continuous states
    uint64_t run, run_size;
    uint64_t rows;               // of an interface model, and results (rim/message.h): RUN, BEGIN and COMMIT of a port; ITM_MOST_RUN_BYTES
    uint64_t port;               // ItmFmuPortCall
    uint64_t log;                // ring of ITM_FMU_LOG_SIZE bytes
    uint64_t state;              // to the end of the mapping
    uint64_t size;               // of the mapping
} ItmFmuShared;

// The area `run`: micro steps of one group. Behind it: bonds and their memories (nbond each), then the interface model's
// W (n x n), a0, a1, s, w, w_next, P0, P1, work (n each).
typedef struct ItmFmuRun {
    double  macro_step, nsteps;  // of the system, and how many it has taken
    double  H, tau, theta;       // of the interface model
    double  model_step;          // its micro step                                     s
    double  step;                // of the FMU                                         s
    int     nticks, first, last; // ticks of a macro step; those to run: first ... last - 1
    int     is_new, is_done;     // the model as it is begins, ends with them
    int     n;                   // interfaces of the model, 0: there is none
    int     nbond;               // bonds of the FMU
    int     use_heun;
    int     is_watched;          // outputs are needed after the last tick
    int     port[ITM_FMU_MOST_PORTS]; // of each bond
    int     row[ITM_FMU_MOST_PORTS];  // of each bond in the interface model, ITM_NONE: predicted rates
    char    name[64];            // of the interface model, for messages
    uint64_t rows_size;          // its bounded rows are in the area `rows` where is_new, results are due there where is_done; 0: none
    uint64_t bonds, memories, reals;  // offsets from the start of this struct
} ItmFmuRun;
// clang-format on

// Both sides must be of one build: the version, and the sizes of what they share.
void itm_fmi_write_build(char build[64]);

#endif
