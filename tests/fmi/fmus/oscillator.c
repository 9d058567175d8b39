// A mass on a spring and damper between a wall and a piston that is moved from outside: rate and position in, force out.
//   m v' = k (s - x) + d (w - v) - c x,  force on the piston = -k (s - x) - d (w - v)
// With c = 0 and the piston at rest the mass oscillates about s.
#include "fmu.h"

#include <string.h>

enum { X, V, DX, DV, S, W, FORCE, MASS, STIFFNESS, DAMPING, WALL, OFFSET, ON, COUNT, GAINS = 16, SUM = 22 };

const char* const fmu_token = "{oscillator-1}";
const FmuVariable fmu_variables[] = {{X, 1},     {V, 1},     {DX, 1},        {DV, 1},      {S, 1},    {W, 1},
                                     {FORCE, 1}, {MASS, 1},  {STIFFNESS, 1}, {DAMPING, 1}, {WALL, 1}, {OFFSET, 1},
                                     {ON, 1},    {COUNT, 1}, {0, 0},         {GAINS, 6},   {0, 0},    {SUM, 1}};
const int fmu_nvariable = 18, fmu_ndiscrete = 0;
const int fmu_states[] = {X, V}, fmu_derivatives[] = {DX, DV};
const int fmu_nx = 2, fmu_nz = 0;
const double fmu_longest_step = 1e-4;

void fmu_start(Fmu* m)
{
    m->r[MASS] = 2.0;
    m->r[STIFFNESS] = 200.0;
    m->r[DAMPING] = 1.0;
    m->r[OFFSET] = 0.5;
    m->r[ON] = 1.0;
    m->r[COUNT] = 3.0;
    m->r[X] = 0.1;
    for (int i = 0; i < 6; i++) {
        m->r[GAINS + i] = i + 1.0;
    }
    strcpy(m->text, "hello");
}

void fmu_compute(Fmu* m)
{
    double* r = m->r;
    double pull = r[STIFFNESS] * (r[S] - r[X]) + r[DAMPING] * (r[W] - r[V]);
    r[DX] = r[V];
    r[DV] = r[ON] != 0.0 ? (pull - r[WALL] * r[X]) / r[MASS] : 0.0;
    r[FORCE] = -pull;
    r[SUM] = 0.0;
    for (size_t i = 0; i < m->nbyte; i++) {
        r[SUM] += m->bytes[i];
    }
}

void fmu_indicate(const Fmu* m, double* z)
{
    (void)m, (void)z;
}

bool fmu_handle_event(Fmu* m)
{
    (void)m;
    return false;
}
