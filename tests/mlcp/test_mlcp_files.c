// Problems made by others: every file of the data folder beside the project, if it is there.
#include "check.h"

#include "tests/mlcp_files.h"

#include <dirent.h>

static const double PROMISE = 1e-9;

static void solve_file(const char* path, const char* name, MlcpFormat format)
{
    MlcpFile file;
    if (!mlcp_file_read(&file, path, format)) {
        fail_msg("%s: cannot be read", path);
    }
    size_t n = (size_t)file.problem.n;
    ItmMlcpCapacity capacity = itm_default_mlcp_capacity(file.problem.n, file.problem.ncontact);
    ItmMlcpWorkspace* workspace = NULL;
    ItmError error = {0};
    CHECK_OK(itm_mlcp_workspace_create(&workspace, &capacity, &error), &error);
    ItmMlcpResult result = {
        .x = calloc(n, sizeof(double)), .w = calloc(n, sizeof(double)), .ray = calloc(n, sizeof(double))};
    ItmMlcpOptions options = itm_default_mlcp_options();
    CHECK_OK(itm_mlcp_solve(workspace, &result, &file.problem, &options, &error), &error);

    double residual = itm_mlcp_compute_residual(&file.problem, result.x);
    print_message("%-34s %4zu rows  %-12s %-8s residual %.1e\n", name, n, itm_mlcp_solver_name(result.info.solver),
                  itm_mlcp_outcome_message(result.info.outcome), residual);
    if (result.info.outcome == ITM_MLCP_NO_SOLUTION) {
        assert_true(itm_mlcp_compute_proof_radius(&file.problem, result.ray) > 1e7);
    } else {
        assert_int_equal(result.info.outcome, ITM_MLCP_SOLVED);
        CHECK_NEAR(residual, 0.0, PROMISE);
    }
    free(result.x);
    free(result.w);
    free(result.ray);
    itm_mlcp_workspace_destroy(workspace);
    mlcp_file_free(&file);
}

static void solve_folder(const char* folder, MlcpFormat format)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/../shared/data/%s", ITM_SOURCE_DIR, folder);
    struct dirent** entries;
    int count = scandir(path, &entries, NULL, alphasort);
    if (count < 0) {
        SKIP("there is no folder ../shared/data beside the project");
    }
    int nsolved = 0;
    for (int k = 0; k < count; k++) {
        if (entries[k]->d_name[0] != '.') {
            snprintf(path, sizeof path, "%s/../shared/data/%s/%s", ITM_SOURCE_DIR, folder, entries[k]->d_name);
            solve_file(path, entries[k]->d_name, format);
            nsolved++;
        }
        free(entries[k]);
    }
    free(entries);
    assert_true(nsolved > 0);
}

static void foreign_lcps_are_solved(void** state)
{
    (void)state;
    solve_folder("lcp", MLCP_FILE_LCP);
}

static void circuits_with_zero_diagonals_are_solved(void** state)
{
    (void)state;
    solve_folder("mlcp", MLCP_FILE_MLCP);
}

static void friction_problems_with_exact_cones_are_solved(void** state)
{
    (void)state;
    solve_folder("friction", MLCP_FILE_FRICTION);
}

static void boxed_contact_problems_are_solved(void** state)
{
    (void)state;
    solve_folder("boxed", MLCP_FILE_BOXED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(foreign_lcps_are_solved),
        cmocka_unit_test(circuits_with_zero_diagonals_are_solved),
        cmocka_unit_test(friction_problems_with_exact_cones_are_solved),
        cmocka_unit_test(boxed_contact_problems_are_solved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
