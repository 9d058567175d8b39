// Small circuits through the C API, for tests of single elements.
#ifndef ITM_TESTS_RIG_H
#define ITM_TESTS_RIG_H

#include "check.h"

#include "interim/hydraulics.h"

typedef struct Rig {
    ItmCircuitBuilder* builder;
    ItmCircuit* c;
    ItmHydraulics* d;
    ItmError error;
} Rig;

static inline void begin(Rig* rig, const ItmFluidDef* fluid)
{
    *rig = (Rig){0};
    CHECK_OK(itm_circuit_builder_create(&rig->builder, &rig->error), &rig->error);
    ItmFluidDef oil = fluid != NULL ? *fluid : itm_default_fluid_def();
    oil.name = "oil";
    CHECK_OK(itm_circuit_builder_add_fluid(rig->builder, &oil, NULL, &rig->error), &rig->error);
}

static inline void finish(Rig* rig, ItmHydraulicIntegrator integrator, double tolerance)
{
    ItmHydraulicOptions options = itm_default_hydraulic_options();
    options.integrator = integrator;
    options.tolerance = tolerance;
    CHECK_OK(itm_circuit_build(&rig->c, rig->builder, &rig->error), &rig->error);
    CHECK_OK(itm_hydraulics_create(&rig->d, rig->c, &options, &rig->error), &rig->error);
}

static inline void end(Rig* rig)
{
    itm_hydraulics_destroy(rig->d);
    itm_circuit_destroy(rig->c);
    itm_circuit_builder_destroy(rig->builder);
}

static inline int add_source(Rig* rig, const char* name, double pressure)
{
    ItmPressureSourceDef def = itm_default_pressure_source_def();
    int id;
    def.name = name;
    def.pressure = pressure;
    CHECK_OK(itm_circuit_builder_add_pressure_source(rig->builder, &def, &id, &rig->error), &rig->error);
    return id;
}

static inline int add_volume(Rig* rig, const char* name, double volume, double pressure)
{
    ItmVolumeDef def = itm_default_volume_def();
    int id;
    def.name = name;
    def.volume = volume;
    def.pressure = pressure;
    CHECK_OK(itm_circuit_builder_add_volume(rig->builder, &def, &id, &rig->error), &rig->error);
    return id;
}

static inline void add_orifice(Rig* rig, const char* name, int a, int b, double coefficient, double threshold)
{
    ItmOrificeDef def = itm_default_orifice_def();
    def.name = name;
    def.port_a = a;
    def.port_b = b;
    def.law.coefficient = coefficient;
    def.law.threshold = threshold;
    CHECK_OK(itm_circuit_builder_add_orifice(rig->builder, &def, NULL, &rig->error), &rig->error);
}

static inline void add_flow(Rig* rig, const char* name, int into, double flow)
{
    ItmFlowSourceDef def = itm_default_flow_source_def();
    def.name = name;
    def.port_b = into;
    def.flow = flow;
    CHECK_OK(itm_circuit_builder_add_flow_source(rig->builder, &def, NULL, &rig->error), &rig->error);
}

// A cylinder between two nodes, both areas A, half extended at s = 0, without friction.
static inline void add_cylinder(Rig* rig, int port_1, int port_2, double area, double stroke)
{
    ItmCylinderDef def = itm_default_cylinder_def();
    def.name = "cyl";
    def.port_1 = port_1;
    def.port_2 = port_2;
    def.area_1 = def.area_2 = area;
    def.stroke = stroke;
    CHECK_OK(itm_circuit_builder_add_cylinder(rig->builder, &def, NULL, &rig->error), &rig->error);
}

static inline void run(Rig* rig, double duration, double h)
{
    long n = lround(duration / h);
    for (long i = 0; i < n; i++) {
        CHECK_OK(itm_hydraulics_step(rig->c, rig->d, h), itm_hydraulics_get_error(rig->d));
    }
}

static inline double pressure(const Rig* rig, const char* node)
{
    return itm_hydraulics_get_pressure(rig->c, rig->d, itm_circuit_find_node(rig->c, node));
}

static inline double output(const Rig* rig, const char* name)
{
    double values[200];
    int i = itm_circuit_find_output(rig->c, name);
    assert_true(i != ITM_NONE && itm_circuit_get_output_count(rig->c) <= 200);
    itm_hydraulics_compute_outputs(rig->c, rig->d, values);
    return values[i];
}

#endif
