// The scaled copy of a problem that all solvers work on.
#include "mlcp/workspace.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

// Power of two nearest 1/sqrt(h); 1 for a row that H does not touch.
static double pick_scale(double h)
{
    if (!(h > 0.0)) {
        return 1.0;
    }
    // the exponent field of h, halved and negated, as the exponent of the scale
    uint64_t bits;
    memcpy(&bits, &h, sizeof bits);
    int exponent = (int)(bits >> 52) - 1023;
    bits = (uint64_t)(1023 - (exponent + 1) / 2) << 52;
    double scale;
    memcpy(&scale, &bits, sizeof scale);
    return scale;
}

static void pick_scales(ItmMlcpScaled* s, const ItmMlcpProblem* p)
{
    // a matrix that is neither symmetric nor of contacts (a circuit) says nothing through its
    // diagonal
    bool has_scale = p->is_symmetric || p->ncontact > 0;
    for (int i = 0; i < s->n; i++) {
        s->d[i] = has_scale ? pick_scale(p->H[(size_t)i * (size_t)p->n + (size_t)i]) : 1.0;
    }
    // one scale for all rows of a round contact: the smallest, so that no diagonal exceeds one by
    // much
    for (int c = 0; c < p->ncontact; c++) {
        const ItmMlcpContact* contact = &p->contacts[c];
        if (contact->law != ITM_FRICTION_BOX) {
            double d = fmin(s->d[contact->normal], s->d[contact->tangent[0]]);
            d = contact->tangent[1] != ITM_NONE ? fmin(d, s->d[contact->tangent[1]]) : d;
            s->d[contact->normal] = s->d[contact->tangent[0]] = d;
            if (contact->tangent[1] != ITM_NONE) {
                s->d[contact->tangent[1]] = d;
            }
        }
    }
}

// Returns whether all of H is finite: 0 times anything finite is 0, times anything else NaN.
static bool scale_matrix(ItmMlcpScaled* s, const ItmMlcpProblem* p)
{
    double sum[8] = {0};
    for (int i = 0; i < s->n; i++) {
        const double* restrict from = p->H + (size_t)i * (size_t)p->n;
        const double* restrict d = s->d;
        double* restrict to = s->H + (size_t)i * (size_t)s->ld;
        double di = d[i];
        for (int j = 0; j < s->n; j++) {
            to[j] = from[j] * (di * d[j]);
        }
        for (int j = s->n; j < s->ld; j++) {
            to[j] = 0.0;
        }
        for (int j = 0; j < s->ld; j += 8) {
            for (int k = 0; k < 8; k++) {
                sum[k] += 0.0 * to[j + k];
            }
        }
    }
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7])) == 0.0;
}

// A box coupling with two tangents becomes two couplings of one row each: nothing else then needs
// to know that their scales differ.
static void scale_contacts(ItmMlcpScaled* s, const ItmMlcpProblem* p)
{
    for (int i = 0; i < s->n; i++) {
        s->tangent_of[i] = s->cone_of[i] = ITM_NONE;
    }
    s->ncontact = 0;
    for (int c = 0; c < p->ncontact; c++) {
        const ItmMlcpContact* from = &p->contacts[c];
        bool is_split = from->law == ITM_FRICTION_BOX && from->tangent[1] != ITM_NONE;
        for (int k = 0; k < (is_split ? 2 : 1); k++) {
            ItmMlcpContact* to = &s->contacts[s->ncontact];
            *to = *from;
            if (from->tangent[1] == ITM_NONE || is_split) {
                // one tangent: box, pyramid and cone are the same interval
                to->tangent[0] = from->tangent[k];
                to->tangent[1] = ITM_NONE;
                to->law = ITM_FRICTION_BOX;
            } else {
                s->tangent_of[to->tangent[1]] = s->ncontact;
            }
            s->tangent_of[to->tangent[0]] = s->ncontact;
            to->mu = from->mu * s->d[from->normal] / s->d[to->tangent[0]];
            if (to->law == ITM_FRICTION_CONE) {
                s->cone_of[to->normal] = s->ncontact;
            }
            s->ncontact++;
        }
    }
}

bool itm_mlcp_scale(ItmMlcpWorkspace* ws, const ItmMlcpProblem* p)
{
    ItmMlcpScaled* s = &ws->s;
    s->n = p->n;
    s->ld = itm_dense_pad(p->n);
    s->is_symmetric = p->is_symmetric;
    pick_scales(s, p);
    if (!scale_matrix(s, p)) {
        return false;
    }
    for (int i = 0; i < s->n; i++) {
        s->b[i] = s->d[i] * p->b[i];
        s->lo[i] = p->lo[i] / s->d[i];
        s->up[i] = p->up[i] / s->d[i];
    }
    scale_contacts(s, p);
    return true;
}
