// A ball that falls on a floor and bounces with restitution e; a time event switches gravity off at `rest`. The discrete input
// `share` scales gravity.
#include "fmu.h"

enum { H, V, DH, DV, G, E, BOUNCES, REST, IS_OFF, SHARE };

const char* const fmu_token = "{ball-1}";
const FmuVariable fmu_variables[] = {{H, 1}, {V, 1},       {DH, 1},   {DV, 1},     {G, 1},
                                     {E, 1}, {BOUNCES, 1}, {REST, 1}, {IS_OFF, 1}, {SHARE, 1}};
const int fmu_nvariable = 10, fmu_ndiscrete = 1;
const int fmu_states[] = {H, V}, fmu_derivatives[] = {DH, DV};
const int fmu_nx = 2, fmu_nz = 1;
const double fmu_longest_step = 1e-3;

void fmu_start(Fmu* m)
{
    m->r[H] = 1.0;
    m->r[G] = 9.81;
    m->r[E] = 0.7;
    m->r[REST] = 1e9;
    m->r[SHARE] = 1.0;
}

void fmu_compute(Fmu* m)
{
    m->r[DH] = m->r[V];
    m->r[DV] = m->r[IS_OFF] != 0.0 ? 0.0 : -m->r[G] * m->r[SHARE];
}

void fmu_indicate(const Fmu* m, double* z)
{
    // above the floor, or rising from it
    z[0] = m->r[H] > 0.0 || m->r[V] > 0.0 ? (m->r[H] > 1e-15 ? m->r[H] : 1e-15) : m->r[H] - 1e-15;
}

bool fmu_handle_event(Fmu* m)
{
    m->next_event = m->r[IS_OFF] == 0.0 && m->r[REST] < 1e8 ? m->r[REST] : -1.0;
    if (m->r[IS_OFF] == 0.0 && m->time >= m->r[REST] - 1e-12) {
        m->r[IS_OFF] = 1.0;
        m->next_event = -1.0;
    }
    if (m->r[H] <= 0.0 && m->r[V] < 0.0) {
        m->r[H] = 0.0;
        m->r[V] = -m->r[E] * m->r[V];
        m->r[BOUNCES] += 1.0;
        return true;
    }
    return false;
}
