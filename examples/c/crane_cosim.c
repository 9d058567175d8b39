// A hinged boom lifted by a hydraulic cylinder, at communication steps of 20 ms: described twice (mechanism, circuit),
// coupled by one bond, and run. The circuit's own time constants are below a millisecond.
// SPDX-License-Identifier: Apache-2.0
#include <interim/interim.h>

#include <stdio.h>
#include <stdlib.h>

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        if ((call) != ITM_OK) {                                                                                        \
            fprintf(stderr, "%s\n", error.message);                                                                    \
            exit(EXIT_FAILURE);                                                                                        \
        }                                                                                                              \
    } while (0)

// A boom of 2 m and 300 kg on the ground, level at the start; the actuator pushes from (1, 0, -1) to its middle.
static ItmModel* build_boom(void)
{
    ItmError error;
    ItmModelBuilder* b = NULL;
    ItmModel* model = NULL;
    ItmWorldDef world = itm_default_world_def();
    TRY(itm_model_builder_create(&b, &world, &error));

    ItmBodyDef boom = itm_default_body_def();
    int body = ITM_NONE;
    boom.name = "boom";
    boom.mass = 300;
    boom.com = (ItmVec3){1, 0, 0};
    boom.inertia = (ItmSym3){.xx = 1, .yy = 100, .zz = 100};
    TRY(itm_model_builder_add_body(b, &boom, &body, &error));

    ItmJointDef hinge = itm_default_joint_def(ITM_JOINT_REVOLUTE);
    hinge.name = "hinge";
    hinge.body_a = ITM_GROUND;
    hinge.body_b = body;
    TRY(itm_model_frame_from_axis(&hinge.frame_a, (ItmVec3){0, 0, 0}, (ItmVec3){0, 1, 0}, (ItmVec3){1, 0, 0}, &error));
    hinge.frame_b = hinge.frame_a;
    TRY(itm_model_builder_add_joint(b, &hinge, NULL, &error));

    ItmActuatorDef lift = itm_default_actuator_def();
    lift.name = "lift";
    lift.body_a = ITM_GROUND;
    lift.point_a = (ItmVec3){1, 0, -1};
    lift.body_b = body;
    lift.point_b = (ItmVec3){1, 0, 0};
    TRY(itm_model_builder_add_actuator(b, &lift, NULL, &error));

    TRY(itm_model_build(&model, b, &error));
    itm_model_builder_destroy(b);
    return model;
}

static int add_node(ItmCircuitBuilder* b, const char* name, double pressure)
{
    ItmError error;
    ItmVolumeDef volume = itm_default_volume_def();
    int id = ITM_NONE;
    volume.name = name;
    volume.volume = 1e-4;
    volume.pressure = pressure;
    TRY(itm_circuit_builder_add_volume(b, &volume, &id, &error));
    return id;
}

// Pump, tank, 4/3 valve, cylinder; the valve opens fully from 0.5 to 2 s.
static ItmCircuit* build_circuit(void)
{
    static const double TIMES[] = {0, 0.5, 2}, VOLTS[] = {0, 10, 0};
    ItmError error;
    ItmCircuitBuilder* b = NULL;
    ItmCircuit* circuit = NULL;
    int fluid = ITM_NONE, pump = ITM_NONE, tank = ITM_NONE, command = ITM_NONE;
    TRY(itm_circuit_builder_create(&b, &error));
    ItmFluidDef oil = itm_default_fluid_def();
    oil.name = "oil";
    TRY(itm_circuit_builder_add_fluid(b, &oil, &fluid, &error));
    ItmPressureSourceDef source = itm_default_pressure_source_def();
    source.name = "pump";
    source.fluid = fluid;
    source.pressure = 7.6e6;
    TRY(itm_circuit_builder_add_pressure_source(b, &source, &pump, &error));
    source = itm_default_tank_def();
    source.name = "tank";
    source.fluid = fluid;
    TRY(itm_circuit_builder_add_pressure_source(b, &source, &tank, &error));
    ItmSignalDef lever = itm_default_signal_def();
    lever.name = "lever";
    lever.kind = ITM_SIGNAL_PIECEWISE;
    lever.times = TIMES;
    lever.values = VOLTS;
    lever.npoint = 3;
    TRY(itm_circuit_builder_add_signal(b, &lever, &command, &error));

    // weight 300 kg at the actuator's end: 2943 N = p_1 A_1 - p_2 A_2
    ItmCylinderDef cylinder = itm_default_cylinder_def();
    double area_1 = 5.0265e-3, area_2 = 4.0644e-3, p_2 = 2e6;
    cylinder.name = "lift";
    cylinder.port_1 = add_node(b, "piston", (2943 + p_2 * area_2) / area_1);
    cylinder.port_2 = add_node(b, "rod", p_2);
    cylinder.area_1 = area_1;
    cylinder.area_2 = area_2;
    cylinder.stroke = 0.5;
    cylinder.start_length = 1;
    cylinder.start_extension = 0.1;
    cylinder.viscous = 2e4;
    TRY(itm_circuit_builder_add_cylinder(b, &cylinder, NULL, &error));
    ItmValveDef valve = itm_default_valve_def(ITM_VALVE_4_3);
    valve.name = "valve";
    valve.port_p = pump;
    valve.port_t = tank;
    valve.port_a = cylinder.port_1;
    valve.port_b = cylinder.port_2;
    valve.law.coefficient = 1.07e-8;
    valve.signal = command;
    TRY(itm_circuit_builder_add_valve(b, &valve, NULL, &error));

    TRY(itm_circuit_build(&circuit, b, &error));
    itm_circuit_builder_destroy(b);
    return circuit;
}

int main(void)
{
    ItmError error;
    ItmModel* model = build_boom();
    ItmCircuit* circuit = build_circuit();
    ItmCosimBuilder* b = NULL;
    ItmCosim* cosim = NULL;
    int mechanism = ITM_NONE, hydraulics = ITM_NONE;
    ItmBondOptions bond = itm_default_bond_options();  // try bond.exchange = ITM_EXCHANGE_HOLD
    ItmCosimOptions options = itm_default_cosim_options();
    options.macro_step = 20e-3;
    TRY(itm_cosim_builder_create(&b, &error));
    TRY(itm_cosim_builder_add_mechanism(b, "boom", model, NULL, &mechanism, &error));
    TRY(itm_cosim_builder_add_circuit(b, "hydraulics", circuit, NULL, 0.1e-3, &hydraulics, &error));
    TRY(itm_cosim_builder_add_bond(b, mechanism, "lift", hydraulics, "lift", &bond, &error));
    TRY(itm_cosim_build(&cosim, b, &options, &error));
    itm_cosim_builder_destroy(b);

    printf("   t [s]  length [m]  rate [m/s]  force [N]\n");
    for (int k = 1; k <= 150; k++) {
        if (itm_cosim_step(cosim) != ITM_OK) {
            fprintf(stderr, "%s\n", itm_cosim_get_error(cosim)->message);
            return EXIT_FAILURE;
        }
        if (k % 25 == 0) {
            ItmBondState at = itm_cosim_get_bond(cosim, 0);
            printf("%8.2f  %10.6f  %10.6f  %9.1f\n", itm_cosim_get_time(cosim), at.length, at.rate, at.force);
        }
    }
    itm_cosim_destroy(cosim);
    itm_circuit_destroy(circuit);
    itm_model_destroy(model);
    return EXIT_SUCCESS;
}
