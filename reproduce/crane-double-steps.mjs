// SPDX-License-Identifier: Apache-2.0
import { achievable, describe, energyChart } from "./crane-common.js";

const VARIABLES = ["velocity-force", "velocity-pressure"], COUPLINGS = ["quadratic", "rim"];

export default {
  paper: "cranes",
  item: "Figs. 14 and 15",
  title: "Two cylinders: which communication step can be reached",
  says:
    "The steps that can be reached are in general smaller than with one cylinder, because the two circuits meet through the mechanism; not so for the interface model, which comes close to its steps there. Velocity and pressure reach " +
    "clearly larger steps than velocity and force.",
  run({ sweep }) {
    const rows = sweep("examples/crane-double.yaml", ["--every", "0.6s", "--set", "cosim.exchange=hold", "--over", `cosim.variables=${VARIABLES.join(",")}`,
      "--over", `cosim.coupling=${COUPLINGS.join(",")}`, "--over", "cosim.macro_step=0.5ms,1ms,2ms,3ms,4ms,5ms,6ms", "--signals", "crane.cyl1.length,crane.cyl2.length"]);
    const of = (variables, coupling) => rows.filter((r) => r["cosim.variables"] === variables && r["cosim.coupling"] === coupling);
    const [force, pressure] = VARIABLES.map((v) => COUPLINGS.map((c) => achievable(of(v, c))));
    const isModelBetter = force[1] > force[0] && pressure[1] > pressure[0], isPressureBetter = pressure[0] > force[0] && pressure[1] > force[1];
    return {
      measured: `Largest step before the take-off, extrapolation / interface model: velocity-force ${describe(force)}, velocity-pressure ${describe(pressure)}. (One cylinder: Figs. 9 and 11 above.)`,
      matched: isModelBetter && isPressureBetter ? true : isModelBetter || isPressureBetter ? "partly" : false,
      charts: [energyChart(VARIABLES.flatMap((v) => COUPLINGS.map((c) => [`${v}, ${c === "rim" ? "interface model" : "extrapolation"}`, of(v, c)])))],
    };
  },
};
