#include "mlcp/force_law.h"

#include <math.h>

#define MOST_SWEEPS 50
#define TOLERANCE 1e-9  // relative change of a force

void itm_force_law_solve(ItmForceRow* rows, int n, double h, const double* W, int ld, ItmForceLaw law,
                         const void* context)
{
    double change = 1.0;
    for (int sweep = 0; sweep < MOST_SWEEPS && change > TOLERANCE; sweep++) {
        change = 0.0;
        for (int i = 0; i < n; i++) {
            ItmForceRow* row = &rows[i];
            double dw = 1e-6 * (1e-3 + fabs(row->rate)), f = law(context, i, row->rate);
            double slope = fmin((law(context, i, row->rate + dw) - f) / dw, 0.0);
            double delta = (row->given + f - row->force) / (1.0 - slope * h * W[i * ld + i]);
            row->force += delta;
            for (int j = 0; j < n; j++) {
                rows[j].rate += h * W[j * ld + i] * delta;
            }
            change = fmax(change, fabs(delta) / (1.0 + fabs(row->force)));
        }
    }
}
