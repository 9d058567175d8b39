// SPDX-License-Identifier: Apache-2.0
export default {
  paper: "clearance",
  item: "Figs. 10 and 11",
  says: "Cylindrical joint with clearance: the force tilts the slider, both ends of it come to touch the shaft, and after the impacts the contact forces settle.",
  run({ run }) {
    const { rows } = run("examples/clearance-cylindrical.yaml");
    const weight = 3.2 * 9.81, last = rows.at(-1);
    const ends = [1, 2].map((k) => rows.find((r) => r[`joint.normal_force.${k}`] > 0)?.time);
    const late = rows.filter((r) => r.time > 0.8 * last.time).map((r) => Math.hypot(r["joint.force.x"], r["joint.force.y"]));
    const spread = Math.max(...late) - Math.min(...late);
    return {
      measured:
        `the two ends touch at ${ends.map((t) => (t === undefined ? "no time" : `${t.toFixed(4)} s`)).join(" and ")}; over the last fifth of the run the force across the axis is ` +
        `${late.at(-1).toFixed(3)} N, the weight being ${weight.toFixed(3)} N, and varies by ${spread.toExponential(1)} N`,
      matched: ends.every((t) => t !== undefined) && Math.abs(late.at(-1) - weight) < 1e-3 * weight && spread < 1e-2 * weight,
      why: "",
    };
  },
};
