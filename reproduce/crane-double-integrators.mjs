// SPDX-License-Identifier: Apache-2.0
import { compareIntegrators } from "./crane-integrators.js";

export default {
  paper: "cranes",
  item: "Fig. 16",
  title: "Two cylinders: integrator of the hydraulics",
  says: "As with one cylinder, the internal integrator has little effect on the communication step that can be reached.",
  run: (tools) => compareIntegrators(tools, "examples/crane-double.yaml", "0.5ms,1ms,2ms,3ms,4ms", "0.6s"),
};
