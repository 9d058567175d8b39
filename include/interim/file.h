// Model files: YAML in, compiled subsystems and run settings out.  docs/reference/model-file.md
// SPDX-License-Identifier: Apache-2.0
#ifndef INTERIM_FILE_H
#define INTERIM_FILE_H

#include "interim/control.h"
#include "interim/cosim.h"
#include "interim/data.h"
#include "interim/hydraulics.h"

ITM_EXTERN_C_BEGIN

typedef struct ItmRunSettings {
    double duration;          // s, >= 0
    double output_interval;   // s; a multiple of the step; 0: every step
    ItmStepOptions step;
} ItmRunSettings;

// Where something stands, for messages.
typedef struct ItmFilePlace {
    char* file;        // or the override ("--set ...")
    int line, column;  // 1-based
} ItmFilePlace;

// A frame on a body where another mechanism can be joined: `interfaces` of a mechanism.
typedef struct ItmFileInterface {
    char* name;
    char* body;
    ItmVec3 point;        // in the body frame, m
    unsigned directions;  // bits 1 << ITM_TX ...
    ItmFilePlace place;
} ItmFileInterface;

// Contacts or a joint that are always or never potential: an entry of `always` or `never`.
typedef struct ItmFilePotential {
    char *first, *second;  // second NULL: not a pair
    bool is_potential;
    ItmFilePlace place;
} ItmFilePotential;

// A mechanism: the section `multibody`, or a subsystem of type `multibody`.
typedef struct ItmFileMechanism {
    char* name;           // prefix of its result names, or "" for none
    ItmModel* model;
    double step;          // of its own, s; 0: that of the run
    ItmFileInterface* interfaces;  // in the order of the file  (ninterface)
    int ninterface;
    ItmPotentialOptions potential; // `potential` of the section cosim
    ItmFilePotential* choices;     // in the order of the file  (nchoice)
    int nchoice;
} ItmFileMechanism;

// A hydraulic circuit: a subsystem of type `hydraulics`.
typedef struct ItmFileCircuit {
    char* name;                   // prefix of its result names
    ItmCircuit* circuit;
    ItmHydraulicOptions options;
    double step;                  // of its integrator, s; 0: the step of the run
    bool is_static;               // itm_file_create_hydraulics looks for a state of rest
    bool* is_free;                // inputs that it may change for that        (ninput)
    double* force;                // force of each cylinder there, N; NAN: any (ncylinder)
    ItmFilePlace start;           // where the file says so; line 0: nowhere
} ItmFileCircuit;

// A control: a subsystem of type `control`.
typedef struct ItmFileControl {
    char* name;           // prefix of its result names
    ItmControl* control;  // its inputs have the full names of the outputs they take, and are connections too
    double step;          // between two samples, s
} ItmFileControl;

// A signal from one subsystem to another: `command: control.kappa1` in element valve1 of the subsystem hydraulics.
typedef struct ItmFileConnection {
    char* from;          // "control.kappa1": subsystem and output
    char* to;            // "hydraulics.valve1": subsystem and input; of a control "control.arm.cyl1.rate"
    ItmFilePlace place;
} ItmFileConnection;

// An actuator of a mechanism that is a port of a subsystem, or two interfaces that move together: `bonds` of the section cosim.
typedef struct ItmFileBond {
    char* actuator;      // "arm.cyl1" or "arm.flange"
    char* port;          // "hydraulics.cyl1" or "tool.mount"
    ItmBondOptions options;
    ItmFilePlace place;
} ItmFileBond;

// The section cosim.
typedef struct ItmFileCosim {
    ItmCosimOptions options;  // its macro step is that of the run where the file has no such section
    ItmFileBond* bonds;       // in the order of the file  (nbond)
    int nbond;
    ItmFileConnection* aliases;  // second names of results: `to` for `from`   (nalias)
    int nalias;
    ItmFilePlace place;       // of the section; line 0: there is none
} ItmFileCosim;

// What a model file describes: a mechanism, further subsystems, or both. Everything here belongs to it.
typedef struct ItmModelFile {
    char* title;         // never NULL
    char* name;          // prefix of all result names of the section multibody ("arm"), or "" for none
    ItmModel* model;               // the mechanism of the section multibody, NULL: none; the first of:
    ItmFileMechanism* mechanisms;  // all, in the order of the file  (nmechanism)
    int nmechanism;
    ItmFileCircuit* circuits;        // in the order of the file  (ncircuit)
    int ncircuit;
    ItmFileControl* controls;        // in the order of the file  (ncontrol)
    int ncontrol;
    ItmFileConnection* connections;  //                           (nconnection)
    int nconnection;
    ItmFileCosim cosim;
    ItmRunSettings run;
    char** notes;        // what is in it, or in files that it names, but not used: a sentence each  (nnote)
    int nnote;
} ItmModelFile;

// Read, check, compile and assemble. overrides: "key.path=value" strings (noverride), each checked like
// the file itself; a path names an existing key of the file or an optional one that may stand there
// ("run.step=2ms", "parameters.L=2 m", "multibody.coordinates=absolute").
// A file that ends in .urdf is read as a model with that robot alone, its base fixed.
// Errors carry file, line, column, what was expected and the nearest valid word.
ITM_API ItmStatus itm_file_load(ItmModelFile** file, const char* path, const char* const* overrides,
                                int noverride, ItmError* error);
// The same from memory; `name` stands for the file in messages.
ITM_API ItmStatus itm_file_parse(ItmModelFile** file, const char* text, size_t length, const char* name,
                                 const char* const* overrides, int noverride, ItmError* error);
ITM_API void itm_file_destroy(ItmModelFile* file);

// A running instance of a circuit at its start: with the options of the file and, where the file wants a static start,
// pressures and free inputs solved for. rest: how far from rest it starts; may be NULL. ITM_ERR_DIVERGED: there is
// no state of rest near the values of the file, error has the place.
ITM_API ItmStatus itm_file_create_hydraulics(ItmHydraulics** data, const ItmFileCircuit* circuit, ItmHydraulicRest* rest,
                                             ItmError* error);

// The whole as a running system at its start: parts, bonds, connections, static start. A mechanism or a circuit alone is a
// system too, of one part. The file must outlive it. rest (may be NULL): how far from rest it starts, where a circuit wants a
// static start.
ITM_API ItmStatus itm_file_create_cosim(ItmCosim** cosim, const ItmModelFile* file, ItmCosimRest* rest,
                                        ItmError* error);

ITM_EXTERN_C_END

#endif
