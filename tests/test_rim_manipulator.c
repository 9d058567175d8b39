// The manipulator of contact-rim at large steps: contact rows ride in the interface model. Reference values of the model page.
#include "check.h"

#include "cosim/cosim.h"
#include "scenes/scenes.h"

typedef struct Run {
    ItmModel* m;
    ItmCircuit* c;
    ItmCosim* x;
    int block_x;       // output
    double* values;
} Run;

// Forces that hold the arm: no acceleration of the lengths, a0 + W f = 0.
static void compute_static_forces(Run* r, double* force)
{
    ItmRim* rim = &r->x->rim;
    ItmData* d = itm_cosim_get_data(r->x);
    itm_data_refresh(r->m, d);
    CHECK_OK(itm_rim_extract(r->m, d, rim, 0.0, 1e-6, 0.0, ITM_RIM_ELIMINATE), &d->error);
    const double *W = rim->W, *a = rim->a0;
    double det = W[0] * W[3] - W[1] * W[2];
    force[0] = -(W[3] * a[0] - W[1] * a[1]) / det;
    force[1] = -(W[0] * a[1] - W[2] * a[0]) / det;
    d->position_state = ITM_POSITION_STALE;
}

static void begin(Run* r, double dkappa2, double friction, const ItmCosimOptions* options)
{
    ItmError error;
    ItmManipulatorScene scene = itm_default_manipulator_scene();
    scene.friction = friction;
    *r = (Run){0};
    CHECK_OK(itm_manipulator_build(&r->m, &scene, &error), &error);
    CHECK_OK(itm_manipulator_circuit_build(&r->c, dkappa2, &error), &error);
    ItmCosimPair pairs[2] = {{0, 0}, {1, 1}};
    CHECK_OK(itm_cosim_create(&r->x, r->m, NULL, r->c, pairs, 2, options, &error), &error);
    double force[2];
    compute_static_forces(r, force);
    bool is_free[8] = {false};
    is_free[itm_circuit_find_input(r->c, "valve1")] = true;
    is_free[itm_circuit_find_input(r->c, "valve2")] = true;
    ItmHydraulicStatics statics = itm_default_hydraulic_statics();
    statics.force = force;
    statics.is_free = is_free;
    ItmHydraulicRest rest;
    ItmHydraulics* h = itm_cosim_get_hydraulics(r->x);
    CHECK_OK(itm_hydraulics_solve_static(r->c, h, &statics, &rest), itm_hydraulics_get_error(h));
    itm_exchange_compute_forces(r->x, r->x->force, r->x->rim.s, r->x->rim.w);
    for (int i = 0; i < 2; i++) {
        itm_cosim_get_data(r->x)->input[i] = r->x->force[i];
    }
    r->block_x = itm_output_find(r->m, "block.position.x");
    r->values = calloc((size_t)itm_output_get_count(r->m), sizeof(double));
}

static void end(Run* r)
{
    itm_cosim_destroy(r->x);
    itm_model_destroy(r->m);
    itm_circuit_destroy(r->c);
    free(r->values);
}

static double block_position(Run* r)
{
    return itm_data_get_body_pose(r->m, itm_cosim_get_data(r->x), 2).p.x;
}

static ItmCosimOptions choose(double H, double h, ItmHydraulicIntegrator integrator)
{
    ItmCosimOptions options = itm_default_cosim_options();
    options.macro_step = H;
    options.micro_step = h;
    options.hydraulics.integrator = integrator;
    options.hydraulics.use_ledger = false;
    return options;
}

static void probe(double H, double h, double dkappa2, double mu, ItmHydraulicIntegrator integrator)
{
    Run r;
    ItmCosimOptions options = choose(H, h, integrator);
    begin(&r, dkappa2, mu, &options);
    ItmHydraulics* hy = itm_cosim_get_hydraulics(r.x);
    printf("kappa %.6f %.6f\n", 0.5 + itm_hydraulics_get_input(hy, itm_circuit_find_input(r.c, "valve1")),
           0.5 + itm_hydraulics_get_input(hy, itm_circuit_find_input(r.c, "valve2")));
    double s0 = itm_cosim_get_interface(r.x, 1).length;
    int n = (int)lround(2.0 / H);
    double impact = 0, moved = 0, wall = 0;
    for (int k = 0; k < n; k++) {
        CHECK_OK(itm_cosim_step(r.x), itm_cosim_get_error(r.x));
        ItmInterfaceState at = itm_cosim_get_interface(r.x, 1);
        double t = itm_cosim_get_time(r.x);
        ItmData* d = itm_cosim_get_data(r.x);
        ItmBoundForce f = itm_bounded_compute_contact(d->bounded, r.m->body_index[1]);
        ItmBoundForce g = itm_bounded_compute_contact(d->bounded, r.m->body_index[2]);
        if (f.count > 0 && impact == 0) impact = t;
        if (block_position(&r) > 1.302 && moved == 0) moved = t;
        if (block_position(&r) > 1.4 - 1e-6 && wall == 0) wall = t;
        if (k % (n / 40) == 0 || t > 1.95)
            printf("t %.4f s2 %.6f mm w %.5f f %.1f %.1f block %.6f (%d/%d) ball %d solves %ld trials %ld steady %ld E %.3g %.3g\n", t, 1e3 * (at.length - s0), at.rate,
                   itm_cosim_get_interface(r.x, 0).force, at.force, block_position(&r), g.count, g.sliding, f.count, r.x->rim.ride.nsolve, r.x->rim.ride.ntrial, r.x->rim.ride.nsteady, d->ledger[ITM_LEDGER_IMPACT], d->ledger[ITM_LEDGER_FRICTION]);
    }
    printf("impact %.4f moved %.4f wall %.4f\n", impact, moved, wall);
    end(&r);
}

int main(int argc, char** argv)
{
    probe(atof(argv[1]), atof(argv[2]), atof(argv[3]), atof(argv[4]), argc > 5 ? ITM_HYDRAULIC_EULER : ITM_HYDRAULIC_RK4);
    return 0;
}
