// SPDX-License-Identifier: Apache-2.0
import { chart } from "../scripts/chart.mjs";
import { correlation, curve } from "./common.js";
import { place } from "./clearance-common.js";

const MODEL = "examples/clearance-revolute.yaml", MASS = 2;

export default {
  paper: "clearance",
  item: "Figs. 24 to 29",
  title: "Crooked pendulum on a hinge with play",
  says:
    "Released, it falls freely through the play, then swings. Contact is made and lost intermittently. Forces follow those of the ideal joint with a slight lag, apart from peaks; positions and velocities of the centre of mass overlap with the ideal ones. " +
    "Only the loose joint moves along the axis. The step size changes where the hub slides fast.",
  run({ run, measure }) {
    const loose = run(MODEL).rows, ideal = measure(MODEL, ["--set", "multibody.joints.joint.clearance=0"], "ideal").rows;
    const touch = loose.find((r) => r["joint.contacts"] > 0).time;
    const last = loose.at(-1);
    const apart = loose.map((r, k) => Math.hypot(...["x", "y"].map((c) => r[`pendulum.position.${c}`] - ideal[k][`pendulum.position.${c}`])));
    const along = (rows) => Math.max(...rows.map((r) => Math.abs(r["pendulum.position.z"] - 11.97)));
    const free = loose.filter((r) => r["joint.contacts"] === 0).length / loose.length;
    // force of the joint averaged over 0.2 s, which has no peaks: m (v(t + 0.1 s) - v(t - 0.1 s))/0.2 s + m g
    const means = [loose, ideal].map((rows) => rows.slice(10, -10).map((r, k) => [r.time, (MASS * (rows[k + 20]["pendulum.velocity.y"] - rows[k]["pendulum.velocity.y"])) / (rows[k + 20].time - rows[k].time) + MASS * 9.81]));
    const likeness = correlation(...means.map((list) => list.map(([, f]) => f)));
    const hub = (rows, z) => rows.map((r) => [r.time, place(r, "pendulum", [-30.9, 0, z - 11.97])[1]]);
    return {
      measured:
        `First contact at ${touch.toFixed(2)} s (a fall through 0.1 takes at least ${Math.sqrt(0.2 / 9.81).toFixed(3)} s); ${last["joint.impacts"]} impacts, without contact in ${(100 * free).toFixed(1)} % of the rows. Centre of mass within ${Math.max(...apart).toFixed(2)} of the ideal one, of 61.8 that it swings; ` +
        `vertical forces averaged over 0.2 s have a correlation of ${likeness.toFixed(3)}, and peaks reach ${last["joint.peak_force"].toFixed(0)} N. Along the axis it moves by ${along(loose).toFixed(3)}, the ideal one by ${along(ideal).toExponential(0)}. The joint's play is exceeded by ${Math.max(...loose.map((r) => r["joint.penetration"])).toExponential(1)} at most.`,
      matched: Math.max(...apart) < 3 && likeness > 0.9 && along(loose) > 0.05 && along(ideal) < 1e-6 && last["joint.impacts"] > 1,
      why: "The inertia is that of an L-shaped rod with the printed centre of mass, as the paper leaves it out.",
      charts: [
        chart({ title: "Height of the ends of the hub", y: { label: "y" }, lines: [-10, 10].map((z) => ({ name: `end at z = ${z}`, points: hub(loose, z) })) }),
        chart({ title: "Vertical force of the joint (peaks cut)", y: { label: "N", from: -60, to: 120 }, lines: [{ name: "loose", points: curve(loose, "joint.force.y") }, { name: "ideal", points: curve(ideal, "joint.force.y"), dashed: true }] }),
        chart({ title: "The same averaged over 0.2 s", y: { label: "N" }, lines: [{ name: "loose", points: means[0] }, { name: "ideal", points: means[1], dashed: true }] }),
        chart({ title: "Centre of mass, height", y: { label: "y" }, lines: [{ name: "loose", points: curve(loose, "pendulum.position.y") }, { name: "ideal", points: curve(ideal, "pendulum.position.y"), dashed: true }] }),
        chart({ title: "Centre of mass, along the axis", y: { label: "z" }, lines: [{ name: "loose", points: curve(loose, "pendulum.position.z") }, { name: "ideal", points: curve(ideal, "pendulum.position.z"), dashed: true }] }),
        chart({ title: "Step size", y: { label: "ms" }, lines: [{ name: "step", points: curve(loose, "step.size", 1e3) }] }),
      ],
    };
  },
};
