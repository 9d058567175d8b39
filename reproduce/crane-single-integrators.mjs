// SPDX-License-Identifier: Apache-2.0
import { achievable, describe } from "./crane-common.js";

const INTEGRATORS = ["euler", "rk4", "trapezoidal"];

export default {
  paper: "cranes",
  item: "Fig. 12",
  says: "Single-actuator crane: at an internal step of 0.1 ms the integrator of the hydraulics has little effect on the communication step that can be reached.",
  run({ sweep }) {
    const rows = sweep("examples/crane-single.yaml", ["--every", "1.2s", "--set", "cosim.exchange=hold", "--set", "cosim.coupling=quadratic",
      "--over", `subsystems.hydraulics.integrator=${INTEGRATORS.join(",")}`, "--over", "cosim.macro_step=1ms,2ms,3ms,4ms,5ms,6ms", "--signals", "crane.cyl1.length"]);
    const steps = INTEGRATORS.map((name) => achievable(rows.filter((r) => r["subsystems.hydraulics.integrator"] === name)));
    return {
      measured: `largest step before the take-off, ${INTEGRATORS.join(" / ")}: ${describe(steps)}`,
      matched: Math.max(...steps) - Math.min(...steps) <= 1.001e-3, // one value of the sweep
      why: "",
    };
  },
};
