// SPDX-License-Identifier: Apache-2.0
import { chart } from "../scripts/chart.mjs";
import { curve } from "./common.js";

export default {
  paper: "cranes",
  item: "Fig. 8",
  title: "One cylinder: the work cycle",
  says: "Over the work cycle the actuator hits both end dampers, and the energy of the whole system is balanced as long as the solution is stable.",
  run({ run }) {
    const { rows } = run("examples/crane-single.yaml", ["--set", "cosim.coupling=monolithic", "--every", "10ms"]);
    const touches = rows.filter((r) => Math.abs(r["hydraulics.cyl1.damper_force"]) > 0);
    const lengths = rows.map((r) => r["crane.cyl1.length"]);
    const middle = (Math.min(...lengths) + Math.max(...lengths)) / 2;
    const ends = new Set(touches.map((r) => (r["crane.cyl1.length"] < middle ? "in" : "out")));
    const balance = Math.max(...rows.map((r) => Math.abs(r["energy.balance"])));
    const supply = rows.at(-1)["energy.supply"];
    return {
      measured: `End dampers touched: ${[...ends].join(" and ") || "none"}; length ${Math.min(...lengths).toFixed(4)} to ${Math.max(...lengths).toFixed(4)} m; energy balanced to ` +
        `${balance.toExponential(1)} J of ${supply.toFixed(0)} J from the pump.`,
      matched: ends.size === 2 && balance < 1e-3 * supply,
      charts: [
        chart({ title: "Length of the cylinder", y: { label: "m" }, lines: [{ name: "length", points: curve(rows, "crane.cyl1.length") }] }),
        chart({ title: "Pressures", y: { label: "MPa" }, lines: ["p1", "p2"].map((p) => ({ name: p, points: curve(rows, `hydraulics.cyl1.${p}`, 1e-6) })) }),
      ],
    };
  },
};
