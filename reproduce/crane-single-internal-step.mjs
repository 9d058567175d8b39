// SPDX-License-Identifier: Apache-2.0
import { compareInternalSteps } from "./crane-internal-step.js";

export default {
  paper: "cranes",
  item: "Fig. 13",
  title: "One cylinder: internal step of the hydraulics",
  says: "With the trapezoidal rule the internal step can be raised to 1 ms if the communication step is small, 1 ms; at 4 ms the solution becomes unstable. Solutions at H = 1 ms are closer to the monolithic one than those at 4 ms.",
  run: (tools) => compareInternalSteps(tools, "examples/crane-single.yaml", ["1ms", "4ms"], "1.2s"),
};
