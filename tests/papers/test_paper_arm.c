// The seven-joint arm of the papers, from its model file: effective mass at its tip, and the torques of a manoeuvre.
#include "check.h"

#include "interim/interim.h"
#include "math/vec.h"

#define N 7
#define PI 3.14159265358979323846

static const char* const THETA[N] = {"theta1", "theta2", "theta3", "theta4", "theta5", "theta6", "theta7"};

typedef struct {
    ItmModelFile* file;
    const ItmModel* m;
    ItmData* d;
    int adr[N];  // of the angles in q and v
} Arm;

static Arm begin(void)
{
    Arm arm = {0};
    ItmError error = {0};
    CHECK_OK(itm_file_load(&arm.file, ITM_SOURCE_DIR "/examples/arm-torques.yaml", NULL, 0, &error), &error);
    arm.m = arm.file->model;
    CHECK_OK(itm_data_create(&arm.d, arm.m, &arm.file->run.step, &error), &error);
    assert_int_equal(itm_model_get_info(arm.m).nv, N);
    for (int i = 0; i < N; i++) {
        arm.adr[i] = itm_model_get_joint_v_adr(arm.m, itm_model_find_joint(arm.m, THETA[i]));
    }
    return arm;
}

static void end(Arm* arm)
{
    itm_data_destroy(arm->d);
    itm_file_destroy(arm->file);
}

static void set_state(Arm* arm, const double* q, const double* v)
{
    double q_in_order[N], v_in_order[N];
    for (int i = 0; i < N; i++) {
        q_in_order[arm->adr[i]] = q[i];
        v_in_order[arm->adr[i]] = v[i];
    }
    CHECK_OK(itm_data_set_qv(arm->m, arm->d, q_in_order, v_in_order), itm_data_get_error(arm->d));
}

static void inverse(Arm* arm, double* tau, const double* a)
{
    double a_in_order[N], tau_in_order[N];
    for (int i = 0; i < N; i++) {
        a_in_order[arm->adr[i]] = a[i];
    }
    CHECK_OK(itm_dynamics_compute_inverse(arm->m, arm->d, tau_in_order, a_in_order, NULL), itm_data_get_error(arm->d));
    for (int i = 0; i < N; i++) {
        tau[i] = tau_in_order[arm->adr[i]];
    }
}

// ---------------------------------------------------------------------------- effective mass

// M by unit accelerations at rest, J of the centre of mass of link 7 by unit velocities: rows velocity, angular velocity.
static void measure(Arm* arm, double M[N][N], double J[6][N], const double* q)
{
    double zero[N] = {0}, unit[N] = {0};
    int link7 = itm_model_find_body(arm->m, "link7");
    for (int i = 0; i < N; i++) {
        unit[i] = 1.0;
        set_state(arm, q, zero);
        inverse(arm, M[i], unit);
        set_state(arm, q, unit);
        ItmPose pose = itm_data_get_body_pose(arm->m, arm->d, link7);
        ItmVec3 w = itm_data_get_body_angular_velocity(arm->m, arm->d, link7);
        ItmVec3 u = itm_vec_add(itm_data_get_body_velocity(arm->m, arm->d, link7),
                                itm_vec_cross(w, itm_quat_rotate(pose.q, itm_vec(0.19, 0, 0))));
        const double column[6] = {u.x, u.y, u.z, w.x, w.y, w.z};
        for (int k = 0; k < 6; k++) {
            J[k][i] = column[k];
        }
        unit[i] = 0.0;
    }
}

// W = Y'Y with Y = L^-1 J', M = L L', over the joints from `first` on.
static void compute_mobility(double W[6][6], double M[N][N], double J[6][N], int first)
{
    double L[N][N] = {0}, Y[N][6];
    for (int i = first; i < N; i++) {
        for (int j = first; j <= i; j++) {
            double sum = M[i][j];
            for (int k = first; k < j; k++) {
                sum -= L[i][k] * L[j][k];
            }
            L[i][j] = i == j ? sqrt(sum) : sum / L[j][j];
        }
        for (int c = 0; c < 6; c++) {
            Y[i][c] = J[c][i];
            for (int k = first; k < i; k++) {
                Y[i][c] -= L[i][k] * Y[k][c];
            }
            Y[i][c] /= L[i][i];
        }
    }
    for (int a = 0; a < 6; a++) {
        for (int b = 0; b < 6; b++) {
            W[a][b] = 0.0;
            for (int i = first; i < N; i++) {
                W[a][b] += Y[i][a] * Y[i][b];
            }
        }
    }
}

// Eigenvalues of a symmetric matrix by Jacobi rotations, increasing.
static void compute_eigenvalues(double values[6], double A[6][6])
{
    for (int sweep = 0; sweep < 30; sweep++) {
        for (int p = 0; p < 5; p++) {
            for (int q = p + 1; q < 6; q++) {
                if (A[p][q] == 0.0) {
                    continue;
                }
                double theta = (A[q][q] - A[p][p]) / (2.0 * A[p][q]);
                double t = (theta >= 0 ? 1.0 : -1.0) / (fabs(theta) + hypot(theta, 1.0));
                double c = 1.0 / hypot(t, 1.0), s = t * c;
                for (int k = 0; k < 6; k++) {
                    double a = A[k][p], b = A[k][q];
                    A[k][p] = c * a - s * b;
                    A[k][q] = s * a + c * b;
                }
                for (int k = 0; k < 6; k++) {
                    double a = A[p][k], b = A[q][k];
                    A[p][k] = c * a - s * b;
                    A[q][k] = s * a + c * b;
                }
            }
        }
    }
    for (int i = 0; i < 6; i++) {
        values[i] = A[i][i];
        for (int k = i; k > 0 && values[k] < values[k - 1]; k--) {
            double swap = values[k];
            values[k] = values[k - 1];
            values[k - 1] = swap;
        }
    }
}

// Condition numbers of the rigid arm's effective mass, and its rank with the first two joints locked  [flexible-rim, table II].
static void effective_mass_has_the_condition_numbers_of_the_paper(void** state)
{
    (void)state;
    static const double ANGLES[3][N] = {
        {0, 13, -4, 85, -12, 24, 0}, {0, 72, 9, -29, 29, -10, 0}, {0, 45, -11, 0, -4, -39, 0}};
    static const double CONDITION[3] = {3.42e3, 5.38e3, 5.36e5};
    static const int RANK[3] = {5, 5, 4};
    Arm arm = begin();
    for (int i = 0; i < 3; i++) {
        double q[N], M[N][N], J[6][N], W[6][6], values[6];
        for (int k = 0; k < N; k++) {
            q[k] = ANGLES[i][k] * PI / 180.0;
        }
        measure(&arm, M, J, q);
        compute_mobility(W, M, J, 0);
        compute_eigenvalues(values, W);
        // three digits are printed
        CHECK_NEAR(values[5] / values[0], CONDITION[i], 0.005e3 * (i == 2 ? 100.0 : 1.0));
        compute_mobility(W, M, J, 2);
        compute_eigenvalues(values, W);
        int rank = 0;
        for (int k = 0; k < 6; k++) {
            rank += values[k] > 1e-10 * values[5];
        }
        assert_int_equal(rank, RANK[i]);
    }
    end(&arm);
}

// ---------------------------------------------------------------------------- manoeuvre

// A smooth move from `from` at t0 to `to` at t1, added to x, x', x''.
static void add_move(double x[3], double t, double t0, double t1, double from, double to)
{
    double span = t1 - t0, s = fmin(fmax((t - t0) / span, 0.0), 1.0), rise = to - from;
    x[0] += from + rise * s * s * s * (10.0 - 15.0 * s + 6.0 * s * s);
    x[1] += rise / span * 30.0 * s * s * (1.0 - s) * (1.0 - s);
    x[2] += rise / (span * span) * 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s);
}

// Angles, rates and accelerations of manoeuvre 2 at a time.
static void compute_manoeuvre(double q[N], double v[N], double a[N], double t)
{
    const double rad = PI / 180.0;
    double phi[3] = {0}, psi[3] = {0}, theta1[3] = {25.0 * rad, 0, 0};
    add_move(phi, t, 0.0, 2.0, 60.0 * rad, 45.0 * rad);
    add_move(phi, t, 2.5, 4.5, 0.0, -10.0 * rad);
    add_move(psi, t, 2.5, 4.5, 0.0, 30.0 * rad);
    for (int k = 0; k < 3; k++) {
        double* out = k == 0 ? q : k == 1 ? v : a;
        const double values[N] = {theta1[k], 0, -phi[k], 2.0 * phi[k], psi[k] - phi[k], 0, 0};
        memcpy(out, values, sizeof values);
    }
}

static double output(Arm* arm, const char* name)
{
    double* values = calloc((size_t)itm_model_get_output_count(arm->m), sizeof *values);
    CHECK_OK(itm_model_compute_outputs(arm->m, arm->d, values), itm_data_get_error(arm->d));
    double value = values[itm_model_find_output(arm->m, name)];
    free(values);
    return value;
}

// The torques that the prescribed motions take in a run are those of inverse dynamics along the manoeuvre.
static void a_run_gives_the_torques_of_inverse_dynamics(void** state)
{
    (void)state;
    Arm run = begin(), probe = begin();
    double largest = 0.0;
    for (int step = 1; step <= 2800; step++) {
        CHECK_OK(itm_step(run.m, run.d), itm_data_get_error(run.d));
        if (step % 140 != 0) {
            continue;
        }
        double q[N], v[N], a[N], tau[N];
        compute_manoeuvre(q, v, a, itm_data_get_time(run.d));
        set_state(&probe, q, v);
        inverse(&probe, tau, a);
        for (int i = 0; i < N; i++) {
            char name[32];
            snprintf(name, sizeof name, "drive%d.torque", i + 1);
            // positions to the gap tolerance of 1e-11, velocities projected; observed 2e-9
            CHECK_NEAR(output(&run, name), tau[i], 1e-6);
            largest = fmax(largest, fabs(tau[i]));
        }
    }
    assert_true(largest > 1e4);  // booms of 1.3 t
    end(&run);
    end(&probe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(effective_mass_has_the_condition_numbers_of_the_paper),
        cmocka_unit_test(a_run_gives_the_torques_of_inverse_dynamics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
