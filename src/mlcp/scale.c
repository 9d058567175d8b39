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
    memset(s->d + s->n, 0, (size_t)(s->ld - s->n) * sizeof *s->d);
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

// First column of a row up to its diagonal that is not zero
static int find_first(const ItmMlcpScaled* s, int i)
{
    const double* row = s->H + (size_t)i * (size_t)s->ld;
    int first = s->ngroup[i] > 0 ? s->group[(size_t)i * (size_t)(s->ld / 4)] : i;
    while (first < i && row[first] == 0.0) {
        first++;
    }
    return first < i ? first : i;
}

// Whether a row is zero from a column on
static bool ends_before(const ItmMlcpScaled* s, int i, int end)
{
    const double* row = s->H + (size_t)i * (size_t)s->ld;
    int n = s->ngroup[i];
    int last = n > 0 ? s->group[(size_t)i * (size_t)(s->ld / 4) + (size_t)n - 1] + 4 : 0;
    while (last > end && row[last - 1] == 0.0) {
        last--;
    }
    return last <= end;
}

// Rows of mechanisms in a chain touch their neighbours only: where the zeros at both ends of the rows are more than half of a
// symmetric H, pivoting does not touch them (20 joints with clearance in a chain, 36 rows: a quarter of the time of a solve). Something to
// the right of the band where nothing is below it is no symmetric matrix, and is left for others to find.
static void find_band(ItmMlcpScaled* s)
{
    size_t count = 0, most = (size_t)s->n * (size_t)s->n / 4;
    s->is_banded = s->is_symmetric && s->n >= BAND_FROM;
    // row j ends, as column j does, with the last row that reaches it
    for (int i = s->n - 1, j = s->n - 1; i >= 0 && s->is_banded; i--) {
        int first = find_first(s, i);
        count += (size_t)(i - first);
        s->is_banded = count < most;
        for (; j >= first; j--) {
            s->end[j] = i + 1;
        }
    }
    for (int i = 0; i < s->n && s->is_banded; i++) {
        s->is_banded = ends_before(s, i, s->end[i]);
    }
}

// Contacts touch few others: where most groups of columns are zero, products and sweeps pass over them.
static void find_groups(ItmMlcpScaled* s)
{
    size_t count = 0;
    for (int i = 0; i < s->n; i++) {
        count += (size_t)s->ngroup[i];
    }
    s->is_sparse = 3 * count < (size_t)s->n * (size_t)(s->ld / 4);
}

void itm_mlcp_multiply(const ItmMlcpWorkspace* ws, double* w, const double* x, const int* rows, int m)
{
    const ItmMlcpScaled* s = &ws->s;
    if (s->is_sparse) {
        ws->dense->multiply_groups(w, s->H, s->ld, x, rows, m, s->group, s->ngroup);
    } else {
        ws->dense->multiply_rows(w, s->H, s->ld, x, rows, m, (s->n + 3) / 4 * 4);
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

#define LISTED_FROM 64  // rows: below, to write the whole matrix costs no more

bool itm_mlcp_scale(ItmMlcpWorkspace* ws, const ItmMlcpProblem* p)
{
    ItmMlcpScaled* s = &ws->s;
    // the zeros of a sparse matrix of this size are where they were
    bool is_listed = s->is_sparse && s->n == p->n && s->n >= LISTED_FROM;
    s->n = p->n;
    s->ld = itm_dense_pad(p->n);
    s->is_symmetric = p->is_symmetric;
    pick_scales(s, p);
    if (!ws->dense->scale(s->H, s->ld, p->H, s->d, s->n, s->group, s->ngroup, is_listed)) {
        return false;
    }
    find_band(s);
    find_groups(s);
    for (int i = 0; i < s->n; i++) {
        s->inv_d[i] = 1.0 / s->d[i];
        s->b[i] = s->d[i] * p->b[i];
        s->lo[i] = p->lo[i] * s->inv_d[i];
        s->up[i] = p->up[i] * s->inv_d[i];
    }
    scale_contacts(s, p);
    return true;
}
