// What the entries of the cranes share.
// SPDX-License-Identifier: Apache-2.0
import { chart } from "../scripts/chart.mjs";

export const ENERGY = "bond.cyl1.coupling_error.final";

/** Energy that the couplings of a run have made, J. */
export function madeOf(row) {
  return Object.keys(row).filter((k) => k.endsWith("coupling_error.final")).reduce((sum, k) => sum + Math.abs(row[k]), 0);
}

/** Largest step, s, up to which every run finished and its coupling energy error stays below 5 % of the cycle's 3 kJ. */
export function achievable(rows) {
  let reached = 0;
  for (const row of [...rows].sort((a, b) => a["cosim.macro_step"] - b["cosim.macro_step"])) {
    if (row.verdict !== "finished" || madeOf(row) > 150) break;
    reached = row["cosim.macro_step"];
  }
  return reached;
}

/** "4 / 3 ms" */
export function describe(steps) {
  return `${steps.map((s) => (s ? (s * 1e3).toFixed(s < 1e-3 ? 1 : 0) : "none")).join(" / ")} ms`;
}

/** Energy made by the coupling over the step, a line for each group: [[name, rows], ...]. */
export function energyChart(groups, title = "Energy made by the coupling over the work cycle") {
  return chart({ title, x: { label: "communication step, ms", log: true }, y: { label: "J", log: true }, lines: groups.map(([name, rows]) => ({ name, points: rows.map((r) => [r["cosim.macro_step"] * 1e3, madeOf(r)]), dots: true })) });
}
