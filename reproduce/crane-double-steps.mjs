// SPDX-License-Identifier: Apache-2.0
import { achievable, describe } from "./crane-common.js";

export default {
  paper: "cranes",
  item: "Figs. 14 and 15",
  says:
    "Double-actuator crane: the steps that can be reached are in general smaller than with one actuator, because the two circuits meet through the mechanism; velocity and pressure reach " +
    "clearly larger steps than velocity and force; the interface model pays off here.",
  run({ sweep }) {
    const rows = sweep("examples/crane-double.yaml", ["--every", "0.6s", "--set", "cosim.exchange=hold", "--over", "cosim.variables=velocity-force,velocity-pressure",
      "--over", "cosim.coupling=quadratic,rim", "--over", "cosim.macro_step=0.5ms,1ms,2ms,3ms,4ms,5ms,6ms", "--signals", "crane.cyl1.length,crane.cyl2.length"]);
    const reach = (variables, coupling) => achievable(rows.filter((r) => r["cosim.variables"] === variables && r["cosim.coupling"] === coupling));
    const force = [reach("velocity-force", "quadratic"), reach("velocity-force", "rim")];
    const pressure = [reach("velocity-pressure", "quadratic"), reach("velocity-pressure", "rim")];
    const isModelBetter = force[1] > force[0] || pressure[1] > pressure[0];
    const isPressureBetter = Math.max(...pressure) > Math.max(...force);
    return {
      measured: `largest step before the take-off, extrapolation / interface model: velocity-force ${describe(force)}, velocity-pressure ${describe(pressure)}`,
      matched: isModelBetter && isPressureBetter ? true : isModelBetter || isPressureBetter ? "partly" : false,
      why: isModelBetter && isPressureBetter ? "" : isModelBetter ? "Runs coupled by velocity and pressure break down in their first steps here, which the paper does not see." : "The interface model does not reach a larger step.",
    };
  },
};
