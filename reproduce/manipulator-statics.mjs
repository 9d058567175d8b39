// SPDX-License-Identifier: Apache-2.0
export default {
  paper: "contact-rim",
  item: "section 5.2",
  title: "Manipulator: valve openings at rest",
  says: "The manipulator rests at the start with valve displacements 0.4416 and 0.4871.",
  run({ run }) {
    const { rows } = run("examples/manipulator.yaml", [
      "--until", "0.1s", "--every", "20ms",
      "--set", "subsystems.hydraulics.start={static: {free: [valve1, valve2]}}",
    ]);
    const k1 = rows[0]["hydraulics.valve1.spool"], k2 = rows[0]["hydraulics.valve2.spool"];
    return {
      measured: `${k1.toFixed(6)} and ${k2.toFixed(6)}, found by the static start.`,
      matched: Math.abs(k1 - 0.4416) < 5e-5 && Math.abs(k2 - 0.4871) < 5e-5, // four digits are printed
    };
  },
};
