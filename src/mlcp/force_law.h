// Rows whose force is a law of their own rate, as friction and dampers of cylinders:  f_i = given_i + law_i(w_i),  w = w_free + h W f.
#ifndef ITM_MLCP_FORCE_LAW_H
#define ITM_MLCP_FORCE_LAW_H

// The part of the force of row i that depends on its rate. It must not rise with the rate, so that each row has one solution.
typedef double (*ItmForceLaw)(const void* context, int i, double rate);

typedef struct ItmForceRow {
    double given;  // N
    double force;  // N
    double rate;   // m/s
} ItmForceRow;

// Newton's method on one row after the other. rows (n): forces to start from, and the rates w_free + h W f that belong to them; both become
// those of the solution. W (n x ld), row-major.
void itm_force_law_solve(ItmForceRow* rows, int n, double h, const double* W, int ld, ItmForceLaw law,
                         const void* context);

#endif
