// Calls at the ports of an FMU that is a mechanism: derivatives of accelerations, and level 2 of the interface model port (layer.h). The
// same in this process and in a host process, where the call lies in the shared mapping.
#ifndef ITM_FMI_PORT_H
#define ITM_FMI_PORT_H

#include "fmi/instance.h"

#define ITM_FMU_MOST_FORCES 32  // ports of a mechanism

typedef enum ItmFmuPortAction {
    ITM_FMU_PORT_LOOK,    // which functions there are
    ITM_FMU_PORT_DERIVE,  // accelerations a0 at the present inputs, and W by directional derivatives
    ITM_FMU_PORT_BEGIN,
    ITM_FMU_PORT_PREDICT,
    ITM_FMU_PORT_ADVANCE,
    ITM_FMU_PORT_COMMIT,
    ITM_FMU_PORT_CANCEL,
} ItmFmuPortAction;

// clang-format off
// Rows as the FMU counts them, values in its units.
typedef struct ItmFmuPortCall {
    int     action;              // ItmFmuPortAction
    int     n;                   // ports
    int     has_layer;           // after LOOK
    int     has_derivatives;     // after LOOK: there is a function; after DERIVE: it returned values
    int     K, use_heun;         // BEGIN
    int     ncontact;            // after BEGIN: rows of contacts in the model
    uint64_t rows_size;          // after BEGIN: bytes of these rows, 0: not handed over; COMMIT: of their results      [rim/message.h]
    double  t, H;                // of the macro step: BEGIN, COMMIT                       s
    double  h;                   // of a micro step                                        s
    double  theta;               // COMMIT
    uint32_t acceleration[ITM_FMU_MOST_FORCES], force[ITM_FMU_MOST_FORCES]; // references: DERIVE
    double  lambda[ITM_FMU_MOST_FORCES];
    double  s[ITM_FMU_MOST_FORCES], w[ITM_FMU_MOST_FORCES]; // after ADVANCE; w after PREDICT: rates at the end
    double  P0[ITM_FMU_MOST_FORCES], P1[ITM_FMU_MOST_FORCES];
    double  a0[ITM_FMU_MOST_FORCES], W[ITM_FMU_MOST_FORCES * ITM_FMU_MOST_FORCES];
} ItmFmuPortCall;
// clang-format on

// Carry out a call. BEGIN and DERIVE give the FMU its inputs first. A failure is that of the instance. rows: ITM_MOST_RUN_BYTES for contact
// rows and results.
ItmStatus itm_fmi_serve_port(ItmFmuInstance* x, ItmFmuPortCall* call, void* rows);

#endif
