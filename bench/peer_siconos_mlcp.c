#include "bench/peer_mlcp.h"

#include <LCP_Solvers.h>
#include <LinearComplementarityProblem.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <SolverOptions.h>
#include <lcp_cst.h>

#include <fcntl.h>
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TIME_LIMIT = 5 };  // CPU seconds a solver

typedef struct Candidate {
    const char* name;
    int id;
} Candidate;

static const Candidate CANDIDATES[] = {
    {"lemke", SICONOS_LCP_LEMKE},
    {"pivot_lumod", SICONOS_LCP_PIVOT_LUMOD},
    {"newton_min", SICONOS_LCP_NEWTONMIN},
    {"newton_fb", SICONOS_LCP_NEWTON_FB_FBLSA},
    {"newton_minfb", SICONOS_LCP_NEWTON_MIN_FBLSA},
    {"avi_caoferris", SICONOS_LCP_AVI_CAOFERRIS},
    {"pgs", SICONOS_LCP_PGS},
    {"psor", SICONOS_LCP_PSOR},
    {"latin", SICONOS_LCP_LATIN},
    {"murty", SICONOS_LCP_MURTY},
};

// Standard LCP of the contact rows: z = [x - lo (contacts) | velocity at the upper bound],
// column-major M.
typedef struct Reduced {
    int m, nb, nc;  // LCP rows, bilateral rows, contact rows
    double *M, *q;
    double* back;  // x_b = back [1; x_c]       (nb x (1 + nc), column-major)
} Reduced;

// x_b = -H_bb^+ (b_b + H_bc x_c): pseudo-inverse by eigenvalues, because H_bb may be singular
static void eliminate_bilateral(Reduced* r, const MlcpCase* c)
{
    int nb = r->nb, n = c->n;
    double* E = malloc((size_t)nb * (size_t)nb * sizeof *E);
    double* e = malloc((size_t)nb * sizeof *e);
    double* t = malloc((size_t)nb * sizeof *t);
    for (int i = 0; i < nb; i++) {
        memcpy(E + (size_t)i * (size_t)nb, c->H + (size_t)i * (size_t)n, (size_t)nb * sizeof *E);
    }
    LAPACKE_dsyev(LAPACK_COL_MAJOR, 'V', 'U', nb, E, nb, e);
    for (int j = 0; j <= r->nc; j++) {
        for (int k = 0; k < nb; k++) {
            t[k] = 0.0;
            for (int i = 0; i < nb; i++) {
                double h = j > 0 ? c->H[(size_t)i * (size_t)n + (size_t)(nb + j - 1)] : c->b[i];
                t[k] += E[i + nb * k] * h;
            }
            t[k] = e[k] > 1e-10 * e[nb - 1] ? t[k] / e[k] : 0.0;
        }
        for (int i = 0; i < nb; i++) {
            double sum = 0.0;
            for (int k = 0; k < nb; k++) {
                sum -= E[i + nb * k] * t[k];
            }
            r->back[(size_t)i + (size_t)nb * (size_t)j] = sum;
        }
    }
    free(E);
    free(e);
    free(t);
}

static double reduced_entry(const Reduced* r, const MlcpCase* c, int i, int j)
{
    const double* H = c->H + (size_t)(r->nb + i) * (size_t)c->n;
    double sum = j > 0 ? H[r->nb + j - 1] : c->b[r->nb + i];
    for (int k = 0; k < r->nb; k++) {
        sum += H[k] * r->back[(size_t)k + (size_t)r->nb * (size_t)j];
    }
    return sum;
}

static Reduced reduce(const MlcpCase* c)
{
    Reduced r = {.nb = c->nbilateral, .nc = c->n - c->nbilateral};
    r.m = r.nc + 2 * c->ncontact;
    r.M = calloc((size_t)r.m * (size_t)r.m, sizeof *r.M);
    r.q = calloc((size_t)r.m, sizeof *r.q);
    r.back = calloc((size_t)r.nb * (size_t)(r.nc + 1) + 1, sizeof *r.back);
    eliminate_bilateral(&r, c);
    for (int i = 0; i < r.nc; i++) {
        r.q[i] = reduced_entry(&r, c, i, 0);
        for (int j = 0; j < r.nc; j++) {
            double entry = reduced_entry(&r, c, i, j + 1);
            r.M[(size_t)i + (size_t)r.m * (size_t)j] = entry;
            r.q[i] += entry * c->lo[r.nb + j];
        }
    }
    for (int k = 0, extra = r.nc; k < r.nc; k++) {
        if (isfinite(c->up[r.nb + k])) {
            r.M[(size_t)k + (size_t)r.m * (size_t)extra] = 1.0;
            r.M[(size_t)extra + (size_t)r.m * (size_t)k] = -1.0;
            r.q[extra++] = c->up[r.nb + k] - c->lo[r.nb + k];
        }
    }
    return r;
}

static double measure(const Reduced* r, const MlcpCase* c, const double* z)
{
    double* x = calloc((size_t)c->n, sizeof *x);
    for (int i = 0; i < r->nc; i++) {
        x[r->nb + i] = z[i] + c->lo[r->nb + i];
    }
    for (int i = 0; i < r->nb; i++) {
        x[i] = r->back[i];
        for (int j = 0; j < r->nc; j++) {
            x[i] += r->back[(size_t)i + (size_t)r->nb * (size_t)(j + 1)] * x[r->nb + j];
        }
    }
    double residual = itm_mlcp_compute_residual(&c->problem, x);
    free(x);
    return residual;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void run_candidate(const Candidate* candidate, const Reduced* r, const MlcpCase* c, PeerTiming* timing)
{
    size_t m = (size_t)r->m;
    double *z = calloc(m, sizeof *z), *w = calloc(m, sizeof *w), *M = malloc(m * m * sizeof *M),
           *q = malloc(m * sizeof *q);
    double start = now();
    timing->seconds = INFINITY;
    for (int k = 0; k < 50 && now() - start < 0.05; k++) {
        LinearComplementarityProblem p = {.size = r->m};
        memcpy(M, r->M, m * m * sizeof *M);
        memcpy(q, r->q, m * sizeof *q);
        memset(z, 0, m * sizeof *z);
        p.M = NM_create_from_data(NM_DENSE, r->m, r->m, M);
        p.q = q;
        SolverOptions* options = solver_options_create(candidate->id);
        options->iparam[SICONOS_IPARAM_MAX_ITER] = 20000;
        options->dparam[SICONOS_DPARAM_TOL] = 1e-9;
        double t = now();
        linearComplementarity_driver(&p, z, w, options);
        timing->seconds = fmin(timing->seconds, now() - t);
    }
    timing->residual = measure(r, c, z);
}

static bool run_in_child(const Candidate* candidate, const Reduced* r, const MlcpCase* c, PeerTiming* timing)
{
    int ends[2];
    if (pipe(ends) != 0) {
        return false;
    }
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
        setrlimit(RLIMIT_CPU, &(struct rlimit){TIME_LIMIT, TIME_LIMIT + 1});
        PeerTiming own = {.seconds = INFINITY};
        run_candidate(candidate, r, c, &own);
        _exit(write(ends[1], &own, sizeof own) == (ssize_t)sizeof own ? 0 : 1);
    }
    close(ends[1]);
    bool is_back = child > 0 && read(ends[0], timing, sizeof *timing) == (ssize_t)sizeof *timing;
    close(ends[0]);
    if (child > 0) {
        waitpid(child, NULL, 0);
    }
    return is_back;
}

PeerTiming peer_siconos_solve_mlcp(const MlcpCase* c, double tolerance, bool is_verbose)
{
    Reduced r = reduce(c);
    PeerTiming best = {.seconds = INFINITY, .residual = INFINITY};
    for (size_t k = 0; k < sizeof CANDIDATES / sizeof *CANDIDATES; k++) {
        PeerTiming timing = {.seconds = INFINITY, .residual = INFINITY};
        bool is_back = run_in_child(&CANDIDATES[k], &r, c, &timing);
        if (is_verbose) {
            printf("    siconos %-14s %s %10.1f us  residual %.1e\n", CANDIDATES[k].name,
                   is_back ? "returned" : "gave up ", 1e6 * timing.seconds, timing.residual);
        }
        if (is_back && timing.residual <= tolerance && timing.seconds < best.seconds) {
            best = timing;
            snprintf(best.solver, sizeof best.solver, "%s", CANDIDATES[k].name);
        }
    }
    free(r.M);
    free(r.q);
    free(r.back);
    return best;
}
