// Export of models as FMUs for co-simulation (FMI 2.0 and 3.0) and as systems of FMUs (SSP).  docs/guide/export.md
// Threads: functions may be called from any thread.
// SPDX-License-Identifier: Apache-2.0
#ifndef INTERIM_EXPORT_H
#define INTERIM_EXPORT_H

#include "interim/base.h"

ITM_EXTERN_C_BEGIN

// Options of an export.
typedef struct ItmExportOptions {
    int version;               // of FMI: 2 or 3
    const char* const* parts;  // mechanisms and subsystems of the model that the FMU holds (npart); 0: all
    int npart;
    const char* const* overrides;  // "key.path=value", as for itm_file_load (noverride)
    int noverride;
    const char* binary;  // binary of exported FMUs, interim_fmu.so; NULL: the one installed with the library
    const char*
        sandbox;  // folder below which the files that the model refers to must be (itm_file_load_below); NULL: any
} ItmExportOptions;
// Defaults: FMI 3.0, all parts.
ITM_API ItmExportOptions itm_default_export_options(void);

// Write an FMU of a model file. Bonds between parts in the FMU and others become ports: force in, position, rate and acceleration
// out for a mechanism, with an interface model port; position and rate in, force out for a circuit. Values from parts that are
// not in the FMU become inputs. The binary of the FMU needs libm and libc only. ITM_ERR_INPUT: the model is bad, or there is no
// such part. ITM_ERR_UNSUPPORTED: FMUs, integrators of SUNDIALS. ITM_ERR_IO: a file cannot be read or written.
ITM_API ItmStatus itm_export_fmu(const char* model, const char* fmu, const ItmExportOptions* options, ItmError* error);

// Write a model file as a system structure (SSP 1.0): each mechanism and subsystem as an FMU, with connections, parameters, units and
// default experiment. Mechanisms connected at frames are one FMU. Annotations hold bonds and coupling: itm_file_load reads the file as a
// model that runs as the original. parts of the options must be empty. Errors as those of itm_export_fmu.
ITM_API ItmStatus itm_export_ssp(const char* model, const char* ssp, const ItmExportOptions* options, ItmError* error);

ITM_EXTERN_C_END

#endif
