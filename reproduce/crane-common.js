// What the entries of the cranes share.
// SPDX-License-Identifier: Apache-2.0
export const ENERGY = "bond.cyl1.spurious_energy.final";

/** Largest step, s, up to which every run finished and its spurious energy stays below 5 % of the cycle's 3 kJ. */
export function achievable(rows) {
  let reached = 0;
  for (const row of [...rows].sort((a, b) => a["cosim.macro_step"] - b["cosim.macro_step"])) {
    const made = Object.keys(row).filter((k) => k.endsWith("spurious_energy.final")).reduce((sum, k) => sum + Math.abs(row[k]), 0);
    if (row.verdict !== "finished" || made > 150) break;
    reached = row["cosim.macro_step"];
  }
  return reached;
}

/** "4 / 3 ms" */
export function describe(steps) {
  return `${steps.map((s) => (s ? (s * 1e3).toFixed(0) : "none")).join(" / ")} ms`;
}
