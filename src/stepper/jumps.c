// Jumps of signals that drive velocities, for steppers that are smooth in between.
#include "stepper/stepper.h"

#include "multibody/kinematics.h"
#include "multibody/rows.h"

bool itm_jumps_are_external(const ItmModel* m)
{
    for (int k = 0; k < m->nblock; k++) {
        int signal = m->blocks[k].signal;
        if (signal != ITM_NONE && m->signals[signal].external != ITM_NONE) {
            return true;
        }
    }
    return false;
}

void itm_jumps_follow(const ItmModel* m, ItmData* d, double t)
{
    itm_kinematics_compute_positions(m, d, d->q);
    itm_kinematics_compute_velocities(m, d, d->v);
    itm_mass_factor(m, d);
    itm_rows_compute(m, d, t);
    for (int i = 0; i < m->nrow; i++) {
        bool is_compliant = itm_block_is_compliant(&m->blocks[m->row_block[i]]);
        d->rows.omega[i] = is_compliant ? ITM_OMEGA_IDLE : 0.0;
        d->lambda[i] = is_compliant ? 0.0 : -d->rows.rate[i];
    }
    itm_rows_factor(m, d, 0.0);
    itm_rows_multiply(m, d, d->rows.before, d->v);
    itm_blocks_solve(&m->pattern, &d->rows.factor, d->lambda);
    itm_rows_apply(m, d, d->v, d->lambda);
    itm_rows_multiply(m, d, d->rows.reference, d->v);
    itm_euler_book_row_work(m, d);
}
