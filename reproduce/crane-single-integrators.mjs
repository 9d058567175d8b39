// SPDX-License-Identifier: Apache-2.0
import { compareIntegrators } from "./crane-integrators.js";

export default {
  paper: "cranes",
  item: "Fig. 12",
  title: "One cylinder: integrator of the hydraulics",
  says: "At an internal step of 0.1 ms the integrator of the hydraulics has little effect on the communication step that can be reached, with either pair of coupling variables.",
  run: (tools) => compareIntegrators(tools, "examples/crane-single.yaml", "1ms,2ms,3ms,4ms,5ms,6ms", "1.2s"),
};
