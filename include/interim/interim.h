// Interim: nonsmooth multibody dynamics and non-iterative co-simulation. Includes the whole public API.
//
// Threads: compiled objects (ItmModel, ItmCircuit, ItmControl) are read-only, and any number of threads may share them. Every
// other object is used by one thread at a time, reading included, because getters refresh derived quantities. The library has
// no global state of its own.
// SPDX-License-Identifier: Apache-2.0
#ifndef INTERIM_H
#define INTERIM_H

#include "interim/base.h"
#include "interim/signal.h"
#include "interim/model.h"
#include "interim/flexible.h"
#include "interim/mlcp.h"
#include "interim/contact.h"
#include "interim/data.h"
#include "interim/hydraulics.h"
#include "interim/control.h"
#include "interim/drive.h"
#include "interim/verdict.h"
#include "interim/cosim.h"
#include "interim/export.h"
#include "interim/fmu.h"
#include "interim/file.h"
#include "interim/provenance.h"
#include "interim/results.h"
#include "interim/report.h"
#include "interim/run.h"
#include "interim/study.h"

#endif
