// The algebra of second-order cones in three dimensions, |(a_1, a_2)| <= a_0, and Nesterov and Todd's scaling.
#ifndef ITM_MLCP_SOC_H
#define ITM_MLCP_SOC_H

#include <math.h>

typedef struct ItmSoc {
    double v[3];
} ItmSoc;

static inline double itm_soc_dot(ItmSoc a, ItmSoc b)
{
    return a.v[0] * b.v[0] + a.v[1] * b.v[1] + a.v[2] * b.v[2];
}

// a_0^2 - |a_1|^2, as a product that keeps its digits near the edge
static inline double itm_soc_det(ItmSoc a)
{
    double t = hypot(a.v[1], a.v[2]);
    return (a.v[0] - t) * (a.v[0] + t);
}

// a o b
static inline ItmSoc itm_soc_product(ItmSoc a, ItmSoc b)
{
    return (ItmSoc){{itm_soc_dot(a, b), a.v[0] * b.v[1] + b.v[0] * a.v[1], a.v[0] * b.v[2] + b.v[0] * a.v[2]}};
}

// p with l o p = r
static inline ItmSoc itm_soc_divide(ItmSoc l, ItmSoc r)
{
    double p = (l.v[0] * r.v[0] - l.v[1] * r.v[1] - l.v[2] * r.v[2]) / itm_soc_det(l);
    return (ItmSoc){{p, (r.v[1] - p * l.v[1]) / l.v[0], (r.v[2] - p * l.v[2]) / l.v[0]}};
}

// W = eta (2 v v' - J), v of unit determinant; W^-1 = (2 Jv (Jv)' - J) / eta
typedef struct ItmSocScaling {
    double eta;
    ItmSoc v;  // square root of the scaling point
} ItmSocScaling;

static inline ItmSoc itm_soc_flip(ItmSoc a)
{
    return (ItmSoc){{a.v[0], -a.v[1], -a.v[2]}};
}

static inline ItmSocScaling itm_soc_scale(ItmSoc s, ItmSoc z)
{
    double det_s = itm_soc_det(s), det_z = itm_soc_det(z), size_s = sqrt(det_s), size_z = sqrt(det_z);
    ItmSoc w;
    double along = 0.0;
    for (int k = 0; k < 3; k++) {
        along += s.v[k] / size_s * z.v[k] / size_z;
    }
    double gamma = sqrt(0.5 * (1.0 + along));
    for (int k = 0; k < 3; k++) {
        w.v[k] = 0.5 / gamma * (s.v[k] / size_s + (k == 0 ? 1.0 : -1.0) * z.v[k] / size_z);
    }
    // v = (w + e) / sqrt(2 (w_0 + 1))
    double f = 1.0 / sqrt(2.0 * (w.v[0] + 1.0));
    return (ItmSocScaling){sqrt(sqrt(det_s / det_z)), {{f * (w.v[0] + 1.0), f * w.v[1], f * w.v[2]}}};
}

// eta (2 v v'a - J a)
static inline ItmSoc itm_soc_reflect(ItmSoc v, double eta, ItmSoc a)
{
    double f = 2.0 * itm_soc_dot(v, a);
    return (ItmSoc){{eta * (f * v.v[0] - a.v[0]), eta * (f * v.v[1] + a.v[1]), eta * (f * v.v[2] + a.v[2])}};
}

static inline ItmSoc itm_soc_apply(ItmSocScaling W, ItmSoc a)
{
    return itm_soc_reflect(W.v, W.eta, a);
}

static inline ItmSoc itm_soc_solve(ItmSocScaling W, ItmSoc a)
{
    return itm_soc_reflect(itm_soc_flip(W.v), 1.0 / W.eta, a);
}

// Longest step t with s + t ds in the cone; INFINITY: any.
static inline double itm_soc_reach(ItmSoc s, ItmSoc ds)
{
    double a = itm_soc_dot(ds, itm_soc_flip(ds)), b = itm_soc_dot(s, itm_soc_flip(ds)), c = itm_soc_det(s);
    double reach = ds.v[0] < 0.0 ? -s.v[0] / ds.v[0] : INFINITY;
    // a t^2 + 2 b t + c = 0, c > 0: its smallest positive root
    double root = b * b - a * c;
    if (root < 0.0 || (a >= 0.0 && b >= 0.0)) {
        return reach;
    }
    double t = b <= 0.0 ? c / (sqrt(root) - b) : -(b + sqrt(root)) / a;
    return t > 0.0 ? fmin(reach, t) : reach;
}

#endif
