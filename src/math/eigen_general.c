// Balance, reduce to Hessenberg form, then QR with implicit double shifts          (Golub and Van Loan, sections 7.4 and 7.5)
#include "math/eigen_general.h"

#include <float.h>
#include <math.h>

#define MOST_SWEEPS 60  // per eigenvalue

// ---------------------------------------------------------------------------- balancing

// Scale rows and columns by powers of two until their sums agree: D^-1 A D has the eigenvalues of A, with less rounding.
static void balance(double* A, int n)
{
    for (bool has_changed = true; has_changed;) {
        has_changed = false;
        for (int i = 0; i < n; i++) {
            double row = 0.0, column = 0.0;
            for (int j = 0; j < n; j++) {
                row += j == i ? 0.0 : fabs(A[i * n + j]);
                column += j == i ? 0.0 : fabs(A[j * n + i]);
            }
            if (row == 0.0 || column == 0.0) {
                continue;
            }
            double factor = 1.0, before = row + column;
            for (; column < 0.5 * row; factor *= 2.0, column *= 4.0) {
            }
            for (; column >= 2.0 * row; factor *= 0.5, column *= 0.25) {
            }
            if ((column + row) < 0.95 * before * factor) {
                has_changed = true;
                for (int j = 0; j < n; j++) {
                    A[i * n + j] /= factor;
                    A[j * n + i] *= factor;
                }
            }
        }
    }
}

// ---------------------------------------------------------------------------- reflections

// Householder vector of x (m): (I - tau u u') x = (+-|x|, 0, ...), u over x with u[0] = 1. Returns tau; 0 where x is there already.
static double make_reflection(double* x, int m)
{
    double sum = 0.0;
    for (int i = 1; i < m; i++) {
        sum += x[i] * x[i];
    }
    if (sum == 0.0) {
        return 0.0;
    }
    double length = sqrt(x[0] * x[0] + sum);
    double first = x[0] > 0.0 ? x[0] + length : x[0] - length;
    for (int i = 1; i < m; i++) {
        x[i] /= first;
    }
    x[0] = 1.0;
    return 2.0 * first * first / (first * first + sum);
}

// Rows r ... r + m - 1 of A from the left, columns from ... to
static void reflect_rows(double* A, int n, const double* u, double tau, int r, int m, int from, int to)
{
    for (int j = from; j <= to; j++) {
        double sum = 0.0;
        for (int i = 0; i < m; i++) {
            sum += u[i] * A[(r + i) * n + j];
        }
        for (int i = 0; i < m; i++) {
            A[(r + i) * n + j] -= tau * sum * u[i];
        }
    }
}

// Columns c ... c + m - 1 of A from the right, rows from ... to
static void reflect_columns(double* A, int n, const double* u, double tau, int c, int m, int from, int to)
{
    for (int i = from; i <= to; i++) {
        double* row = A + i * n + c;
        double sum = 0.0;
        for (int j = 0; j < m; j++) {
            sum += u[j] * row[j];
        }
        for (int j = 0; j < m; j++) {
            row[j] -= tau * sum * u[j];
        }
    }
}

// Zeros below the first subdiagonal, column by column. u (n)
static void reduce(double* A, int n, double* u)
{
    for (int k = 0; k < n - 2; k++) {
        int m = n - k - 1;
        for (int i = 0; i < m; i++) {
            u[i] = A[(k + 1 + i) * n + k];
        }
        double tau = make_reflection(u, m);
        if (tau != 0.0) {
            reflect_rows(A, n, u, tau, k + 1, m, k, n - 1);
            reflect_columns(A, n, u, tau, k + 1, m, 0, n - 1);
        }
        for (int i = k + 2; i < n; i++) {
            A[i * n + k] = 0.0;
        }
    }
}

// ---------------------------------------------------------------------------- QR sweeps

// Whether the entry below the diagonal in row i is rounding: against its neighbours on the diagonal, or (Ahues and Tisseur) because
// the product with the entry above is too small to move them.
static bool is_negligible(const double* A, int n, int i, double norm)
{
    double below = fabs(A[i * n + i - 1]), above = fabs(A[(i - 1) * n + i]);
    double a = fabs(A[(i - 1) * n + i - 1]), d = fabs(A[i * n + i]);
    double apart = fabs(A[(i - 1) * n + i - 1] - A[i * n + i]), larger = fmax(a, d);
    if (below <= DBL_EPSILON * (a + d) || below <= DBL_MIN || (a + d == 0.0 && below <= DBL_EPSILON * norm)) {
        return true;
    }
    return below <= DBL_EPSILON * norm && below * above <= DBL_EPSILON * larger * fmax(apart, DBL_EPSILON * norm);
}

// First row of the block that ends with `last` and cannot be split; what splits it is set to zero.
static int find_block(double* A, int n, int last, double norm)
{
    for (int i = last; i > 0; i--) {
        if (is_negligible(A, n, i, norm)) {
            A[i * n + i - 1] = 0.0;
            return i;
        }
    }
    return 0;
}

// Largest sum of a row.
static double compute_norm(const double* A, int n)
{
    double norm = 0.0;
    for (int i = 0; i < n; i++) {
        double sum = 0.0;
        for (int j = 0; j < n; j++) {
            sum += fabs(A[i * n + j]);
        }
        norm = fmax(norm, sum);
    }
    return norm;
}

// Eigenvalues of [a b; c d]
static void solve_pair(double a, double b, double c, double d, double* re, double* im)
{
    double half = 0.5 * (a - d), product = b * c, root = half * half + product;
    if (root < 0.0) {
        re[0] = re[1] = 0.5 * (a + d);
        im[0] = sqrt(-root);
        im[1] = -im[0];
        return;
    }
    // the larger one by a sum without cancellation, the other from the product of both about d
    double far = half >= 0.0 ? half + sqrt(root) : half - sqrt(root);
    re[0] = d + far;
    re[1] = far != 0.0 ? d - product / far : d;
    im[0] = im[1] = 0.0;
}

// Shifts: the eigenvalues of [p b; c q] with b c = w.
typedef struct Shifts {
    double p, q, w;
} Shifts;

// First column of (A - s1)(A - s2) of the block that begins with row k, over its entry below the diagonal; from differences, because
// eigenvalues close to each other leave nothing else. x (3)
static void start_column(const double* A, int n, int k, Shifts s, double* x)
{
    double a = A[k * n + k], p = s.p - a, q = s.q - a;
    x[0] = (p * q - s.w) / A[(k + 1) * n + k] + A[k * n + k + 1];
    x[1] = A[(k + 1) * n + k + 1] - a - p - q;
    x[2] = A[(k + 2) * n + k + 1];
    double size = fabs(x[0]) + fabs(x[1]) + fabs(x[2]);
    for (int i = 0; i < 3 && size > 0.0; i++) {
        x[i] /= size;
    }
}

// The row to start a sweep from: two small entries below the diagonal in a row let it begin in the middle of the block. From its first
// row, such entries would blur the shifts.
static int find_start(const double* A, int n, int first, int last, Shifts s)
{
    int k = last - 2;
    for (; k > first; k--) {
        double x[3];
        start_column(A, n, k, s, x);
        double near = fabs(A[(k - 1) * n + k - 1]) + fabs(A[k * n + k]) + fabs(A[(k + 1) * n + k + 1]);
        if (fabs(A[k * n + k - 1]) * (fabs(x[1]) + fabs(x[2])) <= DBL_EPSILON * fabs(x[0]) * near) {
            break;
        }
    }
    return k;
}

// One sweep over rows first ... last.
static void sweep(double* A, int n, int first, int last, Shifts s)
{
    int start = find_start(A, n, first, last, s);
    double x[3];
    start_column(A, n, start, s, x);
    for (int k = start; k < last; k++) {
        int m = k < last - 1 ? 3 : 2;
        double tau = make_reflection(x, m);
        int from = k > start ? k - 1 : start, to = k + 3 < last ? k + 3 : last;
        if (tau != 0.0) {
            reflect_rows(A, n, x, tau, k, m, from, last);
            reflect_columns(A, n, x, tau, k, m, first, to);
        }
        if (k == start && start > first) {
            A[k * n + k - 1] *=
                1.0 - tau;  // the other two entries of this column are negligible by the choice of start
        }
        for (int i = 0; i < 3 && k + 1 + i <= last; i++) {
            x[i] = A[(k + 1 + i) * n + k];
        }
    }
    for (int i = start + 2; i <= last; i++) {
        for (int j = i - 3 > first ? i - 3 : first; j < i - 1; j++) {
            A[i * n + j] = 0.0;
        }
    }
}

// Shifts from the last two rows; every tenth sweep others, which break cycles.
static Shifts choose_shifts(const double* A, int n, int last, int count)
{
    double below = A[last * n + last - 1], q = A[last * n + last];
    if (count % 10 == 9) {
        double size = fabs(below) + fabs(A[(last - 1) * n + last - 2]);
        return (Shifts){q + 0.75 * size, q + 0.75 * size, -0.4375 * size * size};
    }
    return (Shifts){A[(last - 1) * n + last - 1], q, below * A[(last - 1) * n + last]};
}

ItmStatus itm_eigen_general(double* A, double* re, double* im, int n)
{
    for (int i = 0; i < n * n; i++) {
        if (!isfinite(A[i])) {
            return ITM_ERR_NOT_FINITE;
        }
    }
    balance(A, n);
    reduce(A, n, re);
    double norm = compute_norm(A, n);
    int count = 0;
    for (int last = n - 1; last >= 0;) {
        int first = find_block(A, n, last, norm);
        if (first == last) {
            re[last] = A[last * n + last];
            im[last] = 0.0;
        } else if (first == last - 1) {
            solve_pair(A[first * n + first], A[first * n + last], A[last * n + first], A[last * n + last], re + first,
                       im + first);
        } else if (++count > MOST_SWEEPS) {
            return ITM_ERR_DIVERGED;
        } else {
            sweep(A, n, first, last, choose_shifts(A, n, last, count));
            continue;
        }
        last = first - 1;
        count = 0;
    }
    return ITM_OK;
}
