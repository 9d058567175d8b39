// Projected Gauss-Seidel with over-relaxation: row by row for bounds, contact by contact for
// friction, the bounds of friction always taken from the current normal impulse.
#include "mlcp/friction.h"
#include "mlcp/workspace.h"

#include <math.h>

enum { CHECK_EVERY = 25 };

// w_i of the current x. For symmetric H, ws->w is kept up to date by set_row; otherwise it is
// computed here.
static double row_velocity(const ItmMlcpWorkspace* ws, int i)
{
    const ItmMlcpScaled* s = &ws->s;
    return s->is_symmetric ? ws->w[i] : s->b[i] + ws->dense->dot(s->H + (size_t)i * (size_t)s->ld, ws->x, s->n);
}

// x_i changes and w follows by column i of H, which is row i; rows that rest cost nothing
static void set_row(ItmMlcpWorkspace* ws, int i, double x)
{
    const ItmMlcpScaled* s = &ws->s;
    double step = x - ws->x[i];
    ws->x[i] = x;
    if (step != 0.0 && s->is_symmetric) {
        ws->dense->axpy(ws->w, step, s->H + (size_t)i * (size_t)s->ld, s->ld);
    }
}

static double diagonal(const ItmMlcpScaled* s, int i)
{
    return s->H[(size_t)i * (size_t)s->ld + (size_t)i];
}

// x_i <- clamp(x_i - omega w_i / H_ii)
static void sweep_row(ItmMlcpWorkspace* ws, int i, double lo, double up, double relaxation)
{
    double h = diagonal(&ws->s, i);
    double w = row_velocity(ws, i);
    double x = h > 0.0 ? ws->x[i] - relaxation * w / h : w > 0.0 ? lo : up;
    if (!isfinite(x)) {
        return;  // a row without H and without the bound it is driven to: nothing to do here
    }
    set_row(ws, i, x < lo ? lo : x > up ? up : x);
}

// x_t <- P(x_t - omega w_t / h_t), one step length for both tangents so that the set keeps its
// shape
static void sweep_tangents(ItmMlcpWorkspace* ws, const ItmMlcpContact* c, double relaxation)
{
    const ItmMlcpScaled* s = &ws->s;
    double r = c->mu * fmax(0.0, ws->x[c->normal]);
    if (c->law == ITM_FRICTION_BOX) {
        sweep_row(ws, c->tangent[0], -r, r, relaxation);
        return;
    }
    const int* t = c->tangent;
    // the trace bounds the largest eigenvalue of the 2 x 2 block
    double h = diagonal(s, t[0]) + diagonal(s, t[1]);
    double step = h > 0.0 ? relaxation / h : 0.0;
    double y[2] = {ws->x[t[0]] - step * row_velocity(ws, t[0]), ws->x[t[1]] - step * row_velocity(ws, t[1])};
    itm_friction_project_tangents(c, y, r);
    set_row(ws, t[0], y[0]);
    set_row(ws, t[1], y[1]);
}

void itm_gauss_seidel_sweep(ItmMlcpWorkspace* ws, double relaxation, int nsweep)
{
    const ItmMlcpScaled* s = &ws->s;
    // w = H x + b
    ws->dense->multiply_rows(ws->w, s->H, s->ld, ws->x, NULL, s->n, s->ld);
    ws->dense->axpy(ws->w, 1.0, s->b, s->n);
    for (int sweep = 0; sweep < nsweep; sweep++) {
        for (int i = 0; i < s->n; i++) {
            if (s->tangent_of[i] == ITM_NONE) {
                sweep_row(ws, i, s->lo[i], s->up[i], relaxation);
            }
        }
        for (int c = 0; c < s->ncontact; c++) {
            sweep_tangents(ws, &s->contacts[c], relaxation);
        }
    }
}

bool itm_gauss_seidel_solve(ItmMlcpWorkspace* ws, const ItmMlcpOptions* options, ItmMlcpInfo* info)
{
    for (int done = 0; done < options->max_iterations; done += CHECK_EVERY) {
        itm_gauss_seidel_sweep(ws, options->relaxation, CHECK_EVERY);
        info->iterations += CHECK_EVERY;
        info->work += (double)CHECK_EVERY * ws->s.n * ws->s.n;
        if (itm_mlcp_measure(ws) <= options->tolerance || itm_mlcp_is_spent(options, info)) {
            break;
        }
    }
    return true;
}
