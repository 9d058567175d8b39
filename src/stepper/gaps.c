#include "stepper/stepper.h"

#include "multibody/kinematics.h"
#include "multibody/rows.h"

#include <string.h>

double itm_gaps_close(const ItmModel* m, ItmData* d, double* q, double t)
{
    itm_kinematics_compute_positions(m, d, q);
    double gap = itm_rows_compute_gaps(m, d, q, t);
    for (int i = 0; i < d->options.max_iterations && gap > d->options.gap_tolerance; i++) {
        for (int row = 0; row < m->nrow; row++) {
            bool is_rigid = !itm_block_is_compliant(&m->blocks[m->row_block[row]]);
            d->row_x[row] = is_rigid ? -d->row_gap[row] : 0.0;
        }
        itm_blocks_solve(&m->pattern, &d->factor, d->row_x);
        memset(d->x2, 0, sizeof(double) * (size_t)m->nv);
        itm_rows_apply(m, d, d->x2, d->row_x);
        itm_kinematics_integrate(m, q, q, d->x2, 1.0);
        itm_kinematics_compute_positions(m, d, q);
        gap = itm_rows_compute_gaps(m, d, q, t);
        d->info.iterations++;
    }
    return gap;
}
