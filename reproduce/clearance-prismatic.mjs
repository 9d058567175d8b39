// SPDX-License-Identifier: Apache-2.0
import { chart } from "../scripts/chart.mjs";
import { curve } from "./common.js";
import { residual, tilt } from "./clearance-common.js";

const MASS = 3.2, FORCE = 40;

export default {
  paper: "clearance",
  item: "Figs. 16 to 22",
  title: "Triangular slider in a triangular guide with play",
  says:
    "The slider tilts until it is held at its corners; all six vertices come to touch. Contact is steady from about 0.2 s on, the centre of mass then does not move across the axis, and the step size settles at its upper bound of 10 ms. " +
    "Velocity along the guide is a straight line, the equations of motion hold to 1e-9.",
  run({ run }) {
    const { rows } = run("examples/clearance-prismatic.yaml");
    const last = rows.at(-1);
    const forces = Array.from({ length: 12 }, (_, k) => last[`joint.normal_force.${k + 1}`]);
    const corners = new Set(rows.flatMap((r) => Array.from({ length: 12 }, (_, k) => (r[`joint.gap.${k + 1}`] < 1e-9 ? Math.floor(k / 2) : -1)))); // a corner has two planes
    corners.delete(-1);
    const loaded = rows.map((r) => Array.from({ length: 12 }, (_, k) => r[`joint.normal_force.${k + 1}`] > 0).filter(Boolean).length);
    let steady = rows.length - 1;
    while (steady > 0 && loaded[steady - 1] === loaded.at(-1)) steady--;
    const late = rows.filter((r) => r.time > 0.3);
    const sideways = Math.max(...late.map((r) => Math.hypot(r["slider.velocity.x"], r["slider.velocity.y"])));
    const line = Math.max(...rows.map((r) => Math.abs(r["slider.velocity.z"] - (FORCE / MASS) * r.time)));
    const residue = residual(rows, "slider", MASS, [0, -9.81 * MASS, FORCE]);
    const smallest = Math.min(...late.slice(0, -2).map((r) => r["step.size"]));
    const isSame = rows[steady].time < 0.25 && sideways < 1e-9 && line < 1e-9 && residue < 1e-9 && smallest === 0.01;
    return {
      measured:
        `${corners.size} of six corners touch during the run; steady from ${rows[steady].time.toFixed(3)} s on with ${loaded.at(-1)} forces, ${forces.filter((f) => f > 0).map((f) => f.toFixed(3)).join(", ")} N. ` +
        `From 0.3 s on the velocity across is at most ${sideways.toExponential(1)} and the step ${smallest * 1e3} ms throughout. Velocity along the guide within ${line.toExponential(1)} of (F/m) t, residual of the equations of motion ${residue.toExponential(1)} N.`,
      matched: isSame ? (corners.size === 6 ? true : "partly") : false,
      why: corners.size === 6 ? "" :
        `At the end the slider stands on the two lower corners of one face and with those of the other against the slopes; the upper corner of that face is ${Math.min(last["joint.gap.1"], last["joint.gap.7"]).toExponential(1)} away from both slopes, which on a plot looks like touching, ` +
        `the other upper corner ${Math.max(last["joint.gap.1"], last["joint.gap.7"]).toFixed(3)}. A tilted prism cannot touch with all six.`,
      charts: [
        chart({ title: "Height of the upper corners", y: { label: "y" }, lines: [10, -10].map((z) => ({ name: z > 0 ? "front" : "back", points: rows.map((r) => [r.time, tilt(r, "slider", z) + 10]) })) }),
        chart({ title: "Force of the guide", y: { label: "N" }, lines: ["x", "y", "z"].map((c) => ({ name: c, points: curve(rows, `joint.force.${c}`) })) }),
        chart({ title: "Velocity across", y: {}, lines: ["x", "y"].map((c) => ({ name: c, points: curve(rows, `slider.velocity.${c}`) })) }),
        chart({ title: "Step size", y: { label: "ms" }, lines: [{ name: "step", points: curve(rows, "step.size", 1e3) }] }),
      ],
    };
  },
};
