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
    // a matrix that is neither symmetric nor of contacts (a circuit) gives no scale through its
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

#define BAND_FROM 16  // rows: below, the whole matrix costs no more

// Whether n numbers are all +0, by their bits: many at a time.
static bool is_zero(const double* x, int n)
{
    uint64_t any = 0;
    for (int i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, x + i, sizeof bits);
        any |= bits;
    }
    return any == 0;
}

// Leading numbers of a row that are zero, at most n.
static int count_zeros(const double* row, int n)
{
    int count = 0;
    while (count + 8 <= n && is_zero(row + count, 8)) {
        count += 8;
    }
    while (count < n && row[count] == 0.0) {
        count++;
    }
    return count;
}

// Rows of mechanisms in a chain touch their neighbours only: where the zeros at both ends of the rows are more than half of a
// symmetric H, pivoting does not touch them (20 joints with clearance in a chain, 36 rows: a quarter of the time of a solve). Something to
// the right of the band where nothing is below it is no symmetric matrix, and is left for others to find.
static void find_band(ItmMlcpScaled* s, const ItmMlcpProblem* p)
{
    size_t count = 0;
    for (int i = 0; i < s->n; i++) {
        s->first[i] = s->is_symmetric && s->n >= BAND_FROM ? count_zeros(p->H + (size_t)i * (size_t)p->n, i) : 0;
        count += (size_t)(i - s->first[i]);
    }
    s->is_banded = 4 * count < (size_t)s->n * (size_t)s->n;
    // row j ends, as column j does, with the last row that reaches it
    for (int i = s->n - 1, j = s->n - 1; i >= 0; i--) {
        for (; j >= s->first[i]; j--) {
            s->end[j] = i + 1;
        }
    }
    for (int i = 0; i < s->n && s->is_banded; i++) {
        s->is_banded = is_zero(p->H + (size_t)i * (size_t)p->n + s->end[i], s->n - s->end[i]);
    }
    for (int i = 0; i < s->n && !s->is_banded; i++) {
        s->first[i] = 0;
        s->end[i] = s->n;
    }
}

// Returns whether all of H is finite: 0 times anything finite is 0, times anything else NaN.
static bool scale_matrix(ItmMlcpScaled* s, const ItmMlcpProblem* p)
{
    double sum[8] = {0};
    memset(s->H, 0, (size_t)s->n * (size_t)s->ld * sizeof *s->H);
    for (int i = 0; i < s->n; i++) {
        const double* restrict from = p->H + (size_t)i * (size_t)p->n;
        const double* restrict d = s->d;
        double* restrict to = s->H + (size_t)i * (size_t)s->ld;
        double di = d[i];
        int first = s->first[i], end = s->end[i];
        for (int j = first; j < end; j++) {
            to[j] = from[j] * (di * d[j]);
        }
        for (int j = first / 8 * 8; j < end; j += 8) {
            for (int k = 0; k < 8; k++) {
                sum[k] += 0.0 * to[j + k];
            }
        }
    }
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7])) == 0.0;
}

void itm_mlcp_multiply(const ItmMlcpWorkspace* ws, double* w, const double* x, const int* rows, int m)
{
    const ItmMlcpScaled* s = &ws->s;
    if (s->is_banded) {
        ws->dense->multiply_band(w, s->H, s->ld, x, rows, m, s->first, s->end);
    } else {
        ws->dense->multiply_rows(w, s->H, s->ld, x, rows, m, s->ld);
    }
}

// A box coupling with two tangents becomes two couplings of one row each: nothing else then needs
// to find that their scales differ.
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
            if (to->law == ITM_FRICTION_CONE && s->cone_of[to->normal] == ITM_NONE) {
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
    find_band(s, p);
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
