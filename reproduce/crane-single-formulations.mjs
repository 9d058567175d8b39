// SPDX-License-Identifier: Apache-2.0
import { chart } from "../scripts/chart.mjs";
import { achievable, describe, energyChart } from "./crane-common.js";

const STEPS = [0.5, 1, 2, 3, 4, 5, 6];

export default {
  paper: "cranes",
  item: "Figs. 9 and 10",
  title: "One cylinder: index-1 and index-3 formulation of the mechanism",
  says:
    "The index-1 formulation (ALI1) reaches significantly larger communication steps than the index-3 one (ALI3-P) at a similar coupling error. But it loses accuracy of the whole system's energy as the simulation goes on, while ALI3-P keeps it until stability is lost.",
  run({ sweep }) {
    const rows = sweep("examples/crane-single.yaml", ["--every", "1.2s", "--set", "cosim.exchange=hold", "--set", "cosim.coupling=quadratic", "--over", "run.stepper=ali1,ali3p",
      "--over", "cosim.variables=velocity-force,velocity-pressure", "--over", `cosim.macro_step=${STEPS.map((s) => `${s}ms`).join(",")}`, "--signals", "energy.balance"]);
    const of = (stepper, variables) => rows.filter((r) => r["run.stepper"] === stepper && r["cosim.variables"] === variables);
    const steps = ["ali1", "ali3p"].map((s) => ["velocity-force", "velocity-pressure"].map((v) => achievable(of(s, v))));
    const balance = (stepper, ms) => Math.abs(of(stepper, "velocity-force").find((r) => Math.abs(r["cosim.macro_step"] - ms * 1e-3) < 1e-9)["energy.balance.final"]);
    const isLarger = steps[0].every((s, i) => s > steps[1][i]), isKept = balance("ali3p", 2) < 0.1 * balance("ali1", 2);
    const groups = ["ali1", "ali3p"].flatMap((s) => ["velocity-force", "velocity-pressure"].map((v) => [`${s.toUpperCase()}, ${v}`, of(s, v)]));
    return {
      measured:
        `Largest step before the take-off, velocity-force / velocity-pressure: ALI1 ${describe(steps[0])}, ALI3-P ${describe(steps[1])}. Energy of the whole that is not accounted for at 16.8 s, at 1 ms and 2 ms: ALI1 ${balance("ali1", 1).toFixed(2)} and ${balance("ali1", 2).toFixed(2)} J, ` +
        `ALI3-P ${balance("ali3p", 1).toFixed(4)} and ${balance("ali3p", 2).toFixed(4)} J.`,
      matched: isLarger && isKept ? true : isLarger || isKept ? "partly" : false,
      why: "The pump supplies 15.9 kJ over the work cycle. Coupled by extrapolation of second order, velocity-force for the balance.",
      charts: [
        energyChart(groups),
        chart({ title: "Energy of the whole not accounted for at the end, velocity-force", x: { label: "communication step, ms", log: true }, y: { label: "J", log: true }, lines: ["ali1", "ali3p"].map((s) => ({
          name: s.toUpperCase(), points: of(s, "velocity-force").filter((r) => r.verdict === "finished").map((r) => [r["cosim.macro_step"] * 1e3, Math.abs(r["energy.balance.final"])]), dots: true })) }),
      ],
    };
  },
};
