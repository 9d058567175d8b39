// An FMU in a host process of its own, as a subsystem.
//
// The host (host/) loads the FMU; a crash, exit, hang or excess there ends the host, and the next call here returns an error
// that names the call, the time, the signal and the last messages. With is_restarting a new host goes on from the state of
// the last communication point.
#ifndef ITM_FMI_PROCESS_H
#define ITM_FMI_PROCESS_H

#include "fmi/protocol.h"
#include "interim/cosim.h"

typedef struct ItmFmuProcess ItmFmuProcess;

typedef struct ItmFmuProcessOptions {
    ItmFmuLimits limits;
    bool is_restarting;  // after a failure, where the spec has has_bytes
    const char* file;    // of the FMU, for messages
} ItmFmuProcessOptions;

// Defaults: 2 GB, 10 s a call, 1 MB of messages, files of 1 GB, no network, no processes.
ItmFmuLimits itm_default_fmi_limits(void);

// Start a host, load the FMU there and initialize it. The spec is copied. On failure *process is NULL.
ItmStatus itm_fmi_create_process(ItmFmuProcess** process, const ItmFmuSpec* spec, const ItmFmuProcessOptions* options,
                                 ItmError* error);
// End the host and free everything; NULL does nothing.
void itm_fmi_destroy_process(ItmFmuProcess* x);

// Table of the subsystem; names are left out. Its destroy is NULL: the process belongs to the caller.
ItmSubsystem itm_fmi_get_process_table(ItmFmuProcess* x);

// Compare directional derivatives with differences (itm_fmi_compare_derivatives); the process is to be thrown away afterwards.
ItmStatus itm_fmi_compare_process_derivatives(ItmFmuProcess* x, double* worst, int* count, ItmError* error);

// A call at the ports of a mechanism: fill it, make it, read it. The inputs of BEGIN and DERIVE are those set last; after COMMIT the
// outputs are those of the step's end.
ItmFmuPortCall* itm_fmi_get_port_call(ItmFmuProcess* x);
// Bounded rows after BEGIN, results before COMMIT: call->rows_size bytes of ITM_MOST_RUN_BYTES.
void* itm_fmi_get_port_rows(ItmFmuProcess* x);
ItmStatus itm_fmi_call_port(ItmFmuProcess* x, ItmError* error);

// Messages of the FMU so far; nleft_out (may be NULL): bytes that were over the limit or came too fast.
const char* itm_fmi_get_log(ItmFmuProcess* x, uint64_t* nleft_out);
// Identity of the host process, 0: there is none; for tests.
int itm_fmi_get_process_id(const ItmFmuProcess* x);
// Hosts started so far beyond the first.
int itm_fmi_count_restarts(const ItmFmuProcess* x);

// Path of the host program, or NULL with a sentence in *why. INTERIM_FMU_HOST overrides it.
const char* itm_fmi_find_host(char* path, size_t size, const char** why);

#endif
