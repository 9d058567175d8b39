// Model files: YAML in, compiled subsystems and run settings out.  docs/reference/model-file.md
// SPDX-License-Identifier: Apache-2.0
#ifndef INTERIM_FILE_H
#define INTERIM_FILE_H

#include "interim/control.h"
#include "interim/drive.h"
#include "interim/cosim.h"
#include "interim/data.h"
#include "interim/hydraulics.h"

ITM_EXTERN_C_BEGIN

typedef struct ItmRunSettings {
    double duration;         // s, >= 0
    double output_interval;  // s; a multiple of the step; 0: every step
    ItmStepOptions step;
} ItmRunSettings;

// Position in a file, for messages.
typedef struct ItmFilePlace {
    char* file;        // or the override ("--set ...")
    int line, column;  // 1-based
} ItmFilePlace;

// A frame on a body to which another mechanism can be connected: `interfaces` of a mechanism.
typedef struct ItmFileInterface {
    char* name;
    char* body;
    ItmVec3 point;        // in the body frame, m
    unsigned directions;  // bits 1 << ITM_TX ...
    ItmFilePlace place;
} ItmFileInterface;

// A mechanism: the section `multibody` or a subsystem of type `multibody`.
typedef struct ItmFileMechanism {
    char* name;  // prefix of its result names, or "" for none
    ItmModel* model;
    double step;                   // its own step, s; 0: the step of the run
    ItmFileInterface* interfaces;  // in the order of the file  (ninterface)
    int ninterface;
} ItmFileMechanism;

// A hydraulic circuit: a subsystem of type `hydraulics`.
typedef struct ItmFileCircuit {
    char* name;  // prefix of its result names
    ItmCircuit* circuit;
    ItmHydraulicOptions options;
    double step;         // of its integrator, s; 0: the step of the run
    bool is_static;      // itm_file_create_hydraulics solves for static equilibrium
    bool* is_free;       // inputs that the static solve may change    (ninput)
    double* force;       // required cylinder forces, N; NAN: any      (ncylinder)
    ItmFilePlace start;  // position in the file; line 0: none
} ItmFileCircuit;

// A control: a subsystem of type `control`.
typedef struct ItmFileControl {
    char* name;           // prefix of its result names
    ItmControl* control;  // its inputs have the full names of the connected outputs, and are connections too
    double step;          // sample interval, s
} ItmFileControl;

// An FMU: a subsystem of type `fmu`.
typedef struct ItmFileFmu {
    char* name;          // prefix of its result names
    struct ItmFmu* fmu;  // archive, description and choices
    double step;         // micro step, s; 0: the macro step; of a mechanism: macro steps are multiples of it; 0: any
    struct ItmFmuMechanismPort* ports;  // of an FMU that takes forces and returns rates, a mechanism  (nport)
    int nport;                          // 0: it is a subsystem
    ItmForeignOptions options;          // of a mechanism
    ItmFilePlace place;
} ItmFileFmu;

// Electric drives and winches: a subsystem of type `drive`.
typedef struct ItmFileDrive {
    char* name;  // prefix of its result names
    ItmDrives* drives;
    double step;  // s
} ItmFileDrive;

// Makes a foreign subsystem for a system that is being built: fill *subsystem. Called once per system, so that one file can give
// several. On failure, error->message gives the reason.
typedef ItmStatus ItmExternalMaker(void* context, ItmSubsystem* subsystem, ItmError* error);

// A foreign subsystem of type `external`, which a program fills by name.
typedef struct ItmFileExternal {
    char* name;              // prefix of its result names
    double step;             // micro step, s; 0: the macro step
    ItmExternalMaker* make;  // NULL: not filled yet
    void* context;
    ItmFilePlace place;
} ItmFileExternal;

// A signal from one subsystem to another: `command: control.kappa1` in element valve1 of the subsystem hydraulics.
typedef struct ItmFileConnection {
    char* from;             // "control.kappa1": subsystem and output
    char* to;               // "hydraulics.valve1": subsystem and input; of a control "control.arm.cyl1.rate"
    double factor, offset;  // value at the input = factor * value of the output + offset
    ItmFilePlace place;
} ItmFileConnection;

// A bond between an actuator of a mechanism and a port of a subsystem, or between two interfaces: `bonds` of the section cosim.
typedef struct ItmFileBond {
    char* actuator;  // "arm.cyl1" or "arm.flange"
    char* port;      // "hydraulics.cyl1" or "tool.mount"
    ItmBondOptions options;
    ItmFilePlace place;
} ItmFileBond;

// A parameter of the file with its value.
typedef struct ItmFileParameter {
    char* name;
    double value;
    char* unit;          // SI unit as in model files, "kg m/s^2"; "1": none
    bool is_calculated;  // from other parameters
} ItmFileParameter;

// A file that the model file refers to: mesh, recording, matrix, heights.
typedef struct ItmFileReference {
    char* name;  // as in the model file
    char* path;
} ItmFileReference;

// The section cosim.
typedef struct ItmFileCosim {
    ItmCosimOptions options;  // without this section, the macro step is the step of the run
    ItmFileBond* bonds;       // in the order of the file  (nbond)
    int nbond;
    ItmFileConnection* aliases;  // aliases of results: `to` for `from`        (nalias)
    int nalias;
    ItmPlacement* placement;  // ranks of parts, where several processes step the system  (nplacement)
    int nplacement;
    ItmFilePlace place;  // position of the section; line 0: none
} ItmFileCosim;

// Contents of a model file: mechanisms, further subsystems, or both. It owns all its pointers.
typedef struct ItmModelFile {
    char* path;        // as it was given; of itm_file_parse, the name
    char* text;        // of the file, with a zero byte behind it; NULL: it is no text (.ssp)
    size_t length;     // of text, bytes
    char** overrides;  // as they were given  (noverride)
    int noverride;
    char* title;                   // never NULL
    char* name;                    // prefix of all result names of the section multibody ("arm"), or "" for none
    ItmModel* model;               // the mechanism of the section multibody, NULL: none; also the first entry of:
    ItmFileMechanism* mechanisms;  // all mechanisms, in the order of the file  (nmechanism)
    int nmechanism;
    ItmFileCircuit* circuits;  // in the order of the file  (ncircuit)
    int ncircuit;
    ItmFileControl* controls;  // in the order of the file  (ncontrol)
    int ncontrol;
    ItmFileFmu* fmus;  // in the order of the file  (nfmu)
    int nfmu;
    ItmFileDrive* drives;  // in the order of the file  (ndrive)
    int ndrive;
    ItmFileExternal* externals;  // in the order of the file  (nexternal)
    int nexternal;
    ItmFileConnection* connections;  //                           (nconnection)
    int nconnection;
    ItmFileCosim cosim;
    ItmFileParameter* parameters;  // in the order of the file  (nparameter)
    int nparameter;
    ItmFileReference* references;  // in the order of reading; a file may occur twice  (nreference)
    int nreference;
    ItmRunSettings run;
    char** notes;  // unused contents of the file, or of files that it refers to, one sentence each  (nnote)
    int nnote;
    struct ItmArchive* archive;  // of a system structure (.ssp), unpacked while the file lives; NULL: none
} ItmModelFile;

// Read, check, compile and assemble a model file. overrides: "key.path=value" strings (noverride), each checked like
// the file itself. A path names an existing key of the file or a valid optional key
// ("run.step=2ms", "parameters.L=2 m", "multibody.coordinates=absolute").
// A file that ends in .urdf is read as a model of that robot alone, with a fixed base; one that ends in .ssp or .ssd as a
// system structure (SSP) of FMUs.
// Errors contain file, line, column, the expected value and the nearest valid word.
ITM_API ItmStatus itm_file_load(ItmModelFile** file, const char* path, const char* const* overrides, int noverride,
                                ItmError* error);
// The same, but every file that the model refers to (meshes, heights, recordings, matrices, robots) must be below the folder
// `root` after resolving symbolic links; ITM_ERR_INPUT otherwise, whether it exists or not. For models of strangers: without
// it a model file may name any file that the process may read. root NULL: any file.
ITM_API ItmStatus itm_file_load_below(ItmModelFile** file, const char* path, const char* root,
                                      const char* const* overrides, int noverride, ItmError* error);
// The same from memory; `name` is the file name in messages.
ITM_API ItmStatus itm_file_parse(ItmModelFile** file, const char* text, size_t length, const char* name,
                                 const char* const* overrides, int noverride, ItmError* error);
// Whether `path` is a file or folder below the folder `root`, symbolic links resolved; root NULL: true. For paths that a foreign file names.
ITM_API bool itm_file_is_below(const char* path, const char* root);
// JSON Schema (draft 7) of model files, as text: keys, types, words, and the description of each, for editors. Static.
ITM_API const char* itm_file_get_schema(void);
// Fill the subsystem `name` of type `external`: itm_file_create_cosim and itm_file_create_builder call `make` with `context` for
// every system. Bonds and wires of the file connect its ports, inputs and outputs by their names. Without it, systems of the file
// cannot be created. ITM_ERR_INPUT: the file has no external subsystem of this name.
ITM_API ItmStatus itm_file_set_external(ItmModelFile* file, const char* name, ItmExternalMaker* make, void* context,
                                        ItmError* error);
// Free a model file and everything it owns; NULL is allowed.
ITM_API void itm_file_destroy(ItmModelFile* file);

// Create an instance of a circuit in its initial state, with the options of the file. If the file requests a static start,
// solve for pressures and free inputs. rest (may be NULL): residual of the equilibrium. ITM_ERR_DIVERGED: no static
// equilibrium near the values of the file; error contains the position.
ITM_API ItmStatus itm_file_create_hydraulics(ItmHydraulics** data, const ItmFileCircuit* circuit,
                                             ItmHydraulicResidual* rest, ItmError* error);

// Remove what this process has unpacked of FMUs. Makes only calls that a signal handler may make.
ITM_API void itm_file_remove_unpacked(void);
// One line on an FMU into `text` (size): version, kind, whether its state can be restored.
ITM_API void itm_file_describe_fmu(const ItmFileFmu* fmu, char* text, size_t size);
// Sentence on the i-th claim of an FMU that did not hold when its first instance was created; NULL beyond the last.
ITM_API const char* itm_file_get_fmu_note(const ItmFileFmu* fmu, int i);

// Create the system in its initial state: subsystems, bonds, connections, static start. A single mechanism or circuit is a
// system of one subsystem. The file must outlive it. rest (may be NULL): residual of the equilibrium if a circuit requests a
// static start.
ITM_API ItmStatus itm_file_create_cosim(ItmCosim** cosim, const ItmModelFile* file, ItmCosimResidual* rest,
                                        ItmError* error);

// The same in two steps, so that a program can add subsystems of its own, their bonds and their wires. Create a builder with
// everything in the file; mechanisms are numbered as in the file, subsystems of the file come first.
ITM_API ItmStatus itm_file_create_builder(ItmCosimBuilder** builder, const ItmModelFile* file, ItmError* error);
// Create the system from such a builder, in its initial state. The builder can be destroyed afterwards; the file must outlive the
// system. rest: as for itm_file_create_cosim.
ITM_API ItmStatus itm_file_build_cosim(ItmCosim** cosim, const ItmModelFile* file, ItmCosimBuilder* builder,
                                       ItmCosimResidual* rest, ItmError* error);

ITM_EXTERN_C_END

#endif
