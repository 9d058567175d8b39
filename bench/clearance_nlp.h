// The step problem of the paper, literally: one body against the fixed one, written from its formulas alone, and solved as a
// nonlinear program by NLopt's SQP. A second formulation to check the search of src/stepper/search.c against, and to
// time it against. Shared by tests and benchmarks; nothing of the library is used but its result.
//
//   min (D lambda)' M^-1 (D lambda)  over h, r', p', lambda                                                [clearance, eq. 25]
//   M (v - v_prev) + h (D lambda + S - Q) = 0,  v = (r', 2 G p')
//   B + h B_q p' = 0,  B = p.p - 1
//   Phi + h D' v <= 0,  lambda >= 0,  h_min <= h <= h_max
#ifndef ITM_BENCH_CLEARANCE_NLP_H
#define ITM_BENCH_CLEARANCE_NLP_H

#include <stdbool.h>

#define NLP_MAX_GAPS 12

typedef enum NlpJoint { NLP_CYLINDRICAL, NLP_PRISMATIC, NLP_REVOLUTE, NLP_PENDULUM, NLP_JOINT_COUNT } NlpJoint;

typedef struct NlpStep {
    int ngap;
    double mass, inertia[3][3];
    double p[4];                // Euler parameters
    double v[6];                // r', omega'
    double force[6];            // Q - S
    double gap[NLP_MAX_GAPS];   // Phi, <= 0 while open
    double D[NLP_MAX_GAPS][6];  // dPhi / d(r, pi')
    double rounding;            // of the gaps
    double h_min, h_max;
} NlpStep;

typedef struct NlpSolution {
    bool is_feasible;  // constraints met to 1e-9
    double h, objective;
    double slack;  // what rounding of the gaps, and constraints that it meets only nearly, may have gained it
    double v[6];   // r', omega'
    double lambda[NLP_MAX_GAPS];
    int evaluations;
} NlpSolution;

// The problem at position r, Euler parameters p and velocities v of the models of the paper (examples/clearance-*.yaml).
NlpStep nlp_make_step(NlpJoint joint, const double r[3], const double p[4], const double v[6], double h_min,
                      double h_max);
// Solve it from a guess of h.
NlpSolution nlp_solve_step(const NlpStep* step, double h_guess);
// F' M^-1 F of the force F that takes v to v_next in h
double nlp_compute_objective(const NlpStep* step, double h, const double v_next[6]);
// M (v_next - v) + h (D lambda - force), largest component
double nlp_compute_residual(const NlpStep* step, double h, const double v_next[6], const double* lambda);

#endif
