// SPDX-License-Identifier: Apache-2.0
const MODELS = [["manipulator", "examples/manipulator.yaml", []], ["log crane", "examples/log-crane.yaml", ["--until", "4s"]]];
const STEPS = [1, 10];

/** Time a macro step, us, of the three parts: of each the median of five runs, from their summaries. */
function findCost(run) {
  const read = (text, pattern) => Number(pattern.exec(text)[1]);
  const runs = Array.from({ length: 5 }, () => run().text).map((text) => {
    const each = (read(text, /wall time\s+([\d.e+-]+)/) / read(text, /steps\s+(\d+)/)) * 1e6;
    return [/mechanism (\d+) %/, /interface model (\d+) %/, /subsystems (\d+) %/].map((part) => (each * read(text, part)) / 100);
  });
  return [0, 1, 2].map((i) => runs.map((r) => r[i]).sort((a, b) => a - b)[2]);
}

export default {
  paper: "contact-rim",
  item: "Fig. 14",
  title: "What a macro step costs",
  says:
    "Making the interface model takes a time that does not depend on the step size, comparable to that of stepping the mechanism, and that grows with the size of the system. The hydraulics' share grows with the step, as it takes more internal steps; stepping the interface model with it is negligible.",
  run({ measure }) {
    const found = MODELS.flatMap(([name, model, options]) => STEPS.map((step) => ({ name, step, cost: findCost(() => measure(model, [...options, "--set", `cosim.macro_step=${step}ms`, "--every", "100ms"], `${name.replace(" ", "-")}-${step}`)) })));
    const of = (name, step) => found.find((f) => f.name === name && f.step === step).cost;
    const grow = MODELS.map(([name]) => [0, 1, 2].map((i) => of(name, 10)[i] / of(name, 1)[i]));
    const isLike = grow.every(([mechanism, model, rest]) => rest > 2 * Math.max(mechanism, model));
    return {
      measured:
        `From 1 ms to 10 ms the cost of a macro step grows, ${grow.map(([m, i, s], k) => `${MODELS[k][0]}: mechanism ${m.toFixed(1)} times, making the interface model ${i.toFixed(1)} times, subsystems with the interface model ${s.toFixed(1)} times`).join("; ")}.`,
      matched: isLike && grow.every(([m, i]) => i < 3 && m < 3) ? true : isLike ? "partly" : false,
      why: "Wall times of the machine that ran this, with whatever else it did. Subsystems include the contacts, which ride in the interface model at the hydraulics' rate here and are not negligible as the paper's frozen ones are.",
      table: { head: ["time a macro step", "H", "mechanism", "making the interface model", "subsystems against it"], rows: found.map((f) => [f.name, `${f.step} ms`, ...f.cost.map((c) => `${c.toFixed(1)} µs`)]) },
    };
  },
};
