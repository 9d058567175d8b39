// Which bounded rows of the last step were redundant, and the impulses of least norm: for outputs, not for stepping.
#ifndef ITM_MULTIBODY_BOUNDED_REFINE_H
#define ITM_MULTIBODY_BOUNDED_REFINE_H

#include "multibody/bounded.h"

// Examine the table of the last step once: flags b->is_redundant, counts b->nredundant (d->info.solver_redundant), and replaces b->x
// by the impulses of least norm that give every body the same motion and obey the same laws. No state changes: the next step starts from
// b->memory. Factors M and H anew in the present configuration.
void itm_bounded_refine(const ItmModel* m, ItmData* d);
// M and H in the present configuration, as above; d->rows.factor then marks the redundant joint rows.
void itm_bounded_factor_present(const ItmModel* m, ItmData* d);

#endif
