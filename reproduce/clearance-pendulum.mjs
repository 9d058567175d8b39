// SPDX-License-Identifier: Apache-2.0
import { chart } from "../scripts/chart.mjs";
import { curve } from "./common.js";
import { readSummary } from "./clearance-common.js";

const MODEL = "examples/clearance-pendulum.yaml";
const LENGTH = 30.9, MASS = 2, INERTIA = 636.54, CLEARANCE = 0.1, G = 9.81;
const CASES = [
  { name: "h = 0.2 ms", options: ["--set", "run.step=0.2ms", "--set", "run.min_step=0.2ms"] },
  { name: "h = 1 ms", options: ["--set", "run.step=1ms", "--set", "run.min_step=1ms"] },
  { name: "0.2 to 1 ms", options: [] },
  { name: "1 to 2 ms", options: ["--set", "run.step=2ms", "--set", "run.min_step=1ms"] },
];

/** The ideal pendulum, from a Runge-Kutta integration of its one equation with steps of 0.1 ms: height of the centre of mass every 10 ms. */
function exact(duration) {
  const rate = ([angle, speed]) => [speed, (-MASS * G * LENGTH * Math.cos(angle)) / (INERTIA + MASS * LENGTH * LENGTH)];
  const add = (a, b, h) => a.map((x, i) => x + h * b[i]);
  const h = 1e-4, places = [[LENGTH, 0]];
  let state = [0, 0];
  for (let k = 1; k <= Math.round(duration / h); k++) {
    const k1 = rate(state), k2 = rate(add(state, k1, h / 2)), k3 = rate(add(state, k2, h / 2)), k4 = rate(add(state, k3, h));
    state = state.map((x, i) => x + (h / 6) * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]));
    if (k % 100 === 0) places.push([LENGTH * Math.cos(state[0]), LENGTH * Math.sin(state[0])]);
  }
  return places;
}

export default {
  paper: "clearance",
  item: "Figs. 32 to 36",
  title: "Pendulum, loose and ideal, with fixed and free steps",
  says:
    "Positions of the loose and of the ideal pendulum overlap, velocities differ in the beginning, the energy is not smooth in the first 2 s. Contact forces have fewer peaks with larger steps. The clearance of 0.1 is not exceeded; the ideal joint's " +
    "equations are satisfied.",
  run({ run, measure }) {
    const truth = exact(10);
    const off = (rows) => Math.max(...rows.map((r, k) => Math.hypot(r["pendulum.position.x"] - truth[k][0], r["pendulum.position.y"] - truth[k][1])));
    const found = CASES.map((c, i) => {
      const loose = i === 2 ? run(MODEL, ["--every", "10ms"], "loose") : measure(MODEL, ["--every", "10ms", ...c.options], `loose${i}`);
      const ideal = measure(MODEL, ["--every", "10ms", ...c.options, "--set", "multibody.joints.joint.clearance=0"], `ideal${i}`);
      return { ...c, loose: loose.rows, ideal: ideal.rows, impacts: readSummary(loose.text).impacts, error: off(ideal.rows), last: loose.rows.at(-1) };
    });
    const base = found[2], touch = base.loose.find((r) => r["joint.contacts"] > 0).time;
    const apart = Math.max(...base.loose.map((r, k) => Math.hypot(r["pendulum.position.x"] - base.ideal[k]["pendulum.position.x"], r["pendulum.position.y"] - base.ideal[k]["pendulum.position.y"])));
    const penetration = Math.max(...found.flatMap((f) => f.loose.map((r) => r["joint.penetration"])));
    const drop = G * CLEARANCE / (1 / MASS + (LENGTH * LENGTH) / INERTIA);
    const isFewer = found[0].impacts > found[3].impacts;
    const gap = Math.max(...found.flatMap((f) => f.ideal.map((r) => r["violation.position"])));
    return {
      measured:
        `First contact by the row at ${touch.toFixed(2)} s (free fall: ${Math.sqrt(2 * CLEARANCE / G).toFixed(4)} s); impacts take ${base.last["joint.impact_loss"].toFixed(4)} J, ${drop.toFixed(4)} J by hand. Loose and ideal centres of mass are at most ${apart.toFixed(2)} apart, of 61.8. ` +
        `The ideal pendulum is within ${found.map((f) => f.error.toFixed(4)).join(", ")} of the exact one (${CASES.map((c) => c.name).join(", ")}). Impacts: ${found.map((f) => f.impacts).join(", ")}. Play exceeded by ${penetration.toExponential(1)} at most, ideal joint open by ${gap.toExponential(1)}.`,
      matched: apart < 1 && Math.abs(base.last["joint.impact_loss"] - drop) < 0.02 * drop && penetration < 1e-3 && gap < 1e-3 ? (isFewer ? true : "partly") : false,
      why: isFewer ? "" :
        "The number of peaks does not fall with the step: after its first impacts the hub stays on the pin in all four runs. The symmetric pendulum has no reason to lift off while it pulls outwards; further peaks are chatter of the paper's solver, whose residual is 1e-9.",
      charts: [
        chart({ title: "Velocity of the centre of mass", y: {}, lines: ["x", "y"].flatMap((c) => [{ name: `${c}, loose`, points: curve(base.loose, `pendulum.velocity.${c}`) }, { name: `${c}, ideal`, points: curve(base.ideal, `pendulum.velocity.${c}`), dashed: true }]) }),
        chart({ title: "Mechanical energy", y: { label: "J" }, lines: found.map((f) => ({ name: f.name, points: curve(f.loose, "energy.mechanical") })) }),
        chart({ title: "Vertical force of the joint (peaks cut)", y: { label: "N", from: -10, to: 80 }, lines: [{ name: "loose", points: curve(base.loose, "joint.force.y") }, { name: "ideal", points: curve(base.ideal, "joint.force.y"), dashed: true }] }),
      ],
    };
  },
};
