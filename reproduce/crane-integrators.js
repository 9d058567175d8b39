// Integrators of the hydraulics, for both cranes.                                                               [cranes, Figs. 12 and 16]
// SPDX-License-Identifier: Apache-2.0
import { achievable, describe, energyChart } from "./crane-common.js";

const INTEGRATORS = ["euler", "rk4", "trapezoidal"], VARIABLES = ["velocity-force", "velocity-pressure"];

export function compareIntegrators({ sweep }, model, steps, every) {
  const rows = sweep(model, ["--every", every, "--set", "cosim.exchange=hold", "--set", "cosim.coupling=quadratic", "--over", `cosim.variables=${VARIABLES.join(",")}`,
    "--over", `subsystems.hydraulics.integrator=${INTEGRATORS.join(",")}`, "--over", `cosim.macro_step=${steps}`, "--signals", "crane.cyl1.length"]);
  const of = (variables, name) => rows.filter((r) => r["cosim.variables"] === variables && r["subsystems.hydraulics.integrator"] === name);
  const reached = VARIABLES.map((v) => INTEGRATORS.map((name) => achievable(of(v, name))));
  return {
    measured: `Largest step before the take-off, ${INTEGRATORS.join(" / ")}: ${VARIABLES.map((v, i) => `${v} ${describe(reached[i])}`).join(", ")}.`,
    matched: reached.every((list) => Math.max(...list) - Math.min(...list) <= 1.001e-3), // one value of the sweep
    charts: VARIABLES.map((v) => energyChart(INTEGRATORS.map((name) => [name, of(v, name)]), `Energy made by the coupling, ${v}`)),
  };
}
