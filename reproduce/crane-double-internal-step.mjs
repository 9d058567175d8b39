// SPDX-License-Identifier: Apache-2.0
import { compareInternalSteps } from "./crane-internal-step.js";

export default {
  paper: "cranes",
  item: "Fig. 17",
  title: "Two cylinders: internal step of the hydraulics",
  says: "If the communication step is small enough, 1 ms, the trapezoidal rule still takes internal steps of 1 ms without losing stability; with larger communication steps, 3 ms, this is quickly lost.",
  run: (tools) => compareInternalSteps(tools, "examples/crane-double.yaml", ["1ms", "3ms"], "0.6s"),
};
