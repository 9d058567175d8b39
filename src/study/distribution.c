// Distributions of factors, by their quantiles: u in (0, 1) to a value.
#include "study/study.h"

#include <math.h>

double itm_distribution_normal(double x)
{
    return 0.5 * erfc(-x / sqrt(2.0));
}

// Rational approximation with relative error below 1.2e-9, then one step of Halley's method.                [acklam]
double itm_distribution_inverse_normal(double p)
{
    static const double A[] = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                               1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
    static const double B[] = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02,
                               6.680131188771972e+01, -1.328068155288572e+01};
    static const double C[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                               -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
    static const double D[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                               3.754408661907416e+00};
    double x;
    double tail = p < 0.5 ? p : 1.0 - p;
    if (tail < 0.02425) {
        double q = sqrt(-2.0 * log(tail));
        x = (((((C[0] * q + C[1]) * q + C[2]) * q + C[3]) * q + C[4]) * q + C[5]) /
            ((((D[0] * q + D[1]) * q + D[2]) * q + D[3]) * q + 1.0);
        x = p < 0.5 ? x : -x;
    } else {
        double q = p - 0.5, r = q * q;
        x = (((((A[0] * r + A[1]) * r + A[2]) * r + A[3]) * r + A[4]) * r + A[5]) * q /
            (((((B[0] * r + B[1]) * r + B[2]) * r + B[3]) * r + B[4]) * r + 1.0);
    }
    // e = Phi(x) - p;  u = e / phi(x);  x -= u / (1 + x u / 2)
    double u = (itm_distribution_normal(x) - p) * sqrt(2.0 * acos(-1.0)) * exp(0.5 * x * x);
    return x - u / (1.0 + 0.5 * x * u);
}

// The normal distribution between two bounds.
static double get_normal(const ItmStudyFactor* f, double u)
{
    double from = isfinite(f->low) ? itm_distribution_normal((f->low - f->mean) / f->deviation) : 0.0;
    double to = isfinite(f->high) ? itm_distribution_normal((f->high - f->mean) / f->deviation) : 1.0;
    double x = f->mean + f->deviation * itm_distribution_inverse_normal(from + (to - from) * u);
    return fmin(fmax(x, f->low), f->high);
}

static double get_triangular(const ItmStudyFactor* f, double u)
{
    double width = f->high - f->low, rise = f->mode - f->low, fall = f->high - f->mode;
    return u * width < rise ? f->low + sqrt(u * width * rise) : f->high - sqrt((1.0 - u) * width * fall);
}

static double get_choice(const ItmStudyFactor* f, double u)
{
    int i = 0;
    while (i < f->nvalue - 1 && u >= f->shares[i]) {
        i++;
    }
    return i;
}

static double get_table(const ItmStudyFactor* f, double u)
{
    double at = u * (f->nvalue - 1);
    int i = (int)at;
    i = i < f->nvalue - 1 ? i : f->nvalue - 1;
    int next = i < f->nvalue - 1 ? i + 1 : i;
    return f->numbers[i] + (at - i) * (f->numbers[next] - f->numbers[i]);
}

double itm_distribution_get_quantile(const ItmStudyFactor* f, double u)
{
    switch (f->distribution) {
    case ITM_DISTRIBUTION_UNIFORM:
        return f->low + u * (f->high - f->low);
    case ITM_DISTRIBUTION_NORMAL:
        return get_normal(f, u);
    case ITM_DISTRIBUTION_TRIANGULAR:
        return get_triangular(f, u);
    case ITM_DISTRIBUTION_CHOICE:
        return get_choice(f, u);
    default:
        return get_table(f, u);
    }
}

int itm_distribution_count_levels(const ItmStudyFactor* f, int n)
{
    bool is_list = f->distribution == ITM_DISTRIBUTION_CHOICE || f->distribution == ITM_DISTRIBUTION_TABLE;
    return is_list ? f->nvalue : f->nlevel > 0 ? f->nlevel : n;
}

double itm_distribution_get_level(const ItmStudyFactor* f, int i, int n)
{
    switch (f->distribution) {
    case ITM_DISTRIBUTION_CHOICE:
        return i;
    case ITM_DISTRIBUTION_TABLE:
        return f->numbers[i];
    case ITM_DISTRIBUTION_NORMAL:
        return get_normal(f, (i + 0.5) / n);
    default:
        return i == n - 1 && n > 1 ? f->high
               : n > 1             ? f->low + (f->high - f->low) * i / (n - 1)
                                   : 0.5 * (f->low + f->high);
    }
}
