// A block of 2 kg on the floor is pushed sideways: does it stick, slide, or lift?
//
// One contact is three rows: the normal impulse (never negative) and two tangential ones, bounded
// by friction. The step asks for impulses x such that the velocities after it, w = H x + b, fit the
// laws of contact.
#include <math.h>
#include <stdio.h>

#include "interim/mlcp.h"

int main(void)
{
    const double mass = 2.0, gravity = 9.81, h = 0.01, mu = 0.5;  // kg, m/s^2, s, 1

    // H = A M^-1 A': a point mass responds to an impulse in any direction with 1 / mass
    const double H[9] = {1.0 / mass, 0, 0, 0, 1.0 / mass, 0, 0, 0, 1.0 / mass};
    const double lo[3] = {0.0, 0.0, 0.0};  // tangent bounds are ignored: friction sets them
    const double up[3] = {INFINITY, 0.0, 0.0};
    const ItmMlcpContact contact = {.normal = 0, .tangent = {1, 2}, .mu = mu, .law = ITM_FRICTION_CONE};

    ItmMlcpCapacity capacity = itm_default_mlcp_capacity(3, 1);
    ItmMlcpWorkspace* workspace = NULL;
    ItmError error;
    if (itm_mlcp_workspace_create(&workspace, &capacity, &error) != ITM_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }

    ItmMlcpOptions options = itm_default_mlcp_options();
    for (double push = 4.0; push <= 16.0; push += 6.0) {  // N
        // b: velocities after the step if there were no contact
        const double b[3] = {-gravity * h, push / mass * h, 0.0};
        const ItmMlcpProblem problem = {
            .n = 3, .H = H, .b = b, .lo = lo, .up = up, .is_symmetric = true, .ncontact = 1, .contacts = &contact};
        double x[3], w[3];
        signed char state[3];
        ItmMlcpResult result = {.x = x, .w = w, .state = state};
        if (itm_mlcp_solve(workspace, &result, &problem, &options, &error) != ITM_OK) {
            fprintf(stderr, "%s\n", error.message);
            itm_mlcp_workspace_destroy(workspace);
            return 1;
        }
        printf("push %4.1f N: normal force %.2f N, friction %.2f N, the block %s with %.4f m/s "
               "(%s, residual %.0e)\n",
               push, x[0] / h, -x[1] / h, state[1] == ITM_ROW_ACTIVE ? "sticks" : "slides", w[1],
               itm_mlcp_outcome_message(result.info.outcome), result.info.residual);
    }
    itm_mlcp_workspace_destroy(workspace);
    return 0;
}
