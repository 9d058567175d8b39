// SPDX-License-Identifier: Apache-2.0
import { chart } from "../scripts/chart.mjs";
import { curve, readAdvice, set } from "./common.js";

const MODEL = "examples/manipulator.yaml";
const STEPS = [2, 4, 8, 10, 16, 20];
const PAPERS = set("cosim.exchange=hold", "subsystems.hydraulics.integrator=euler"); // the papers' exchange: Euler at 0.2 ms in the circuit, the last force held
const NAMES = { rim: "interface model", linear: "linear", zoh: "held" };

export default {
  paper: "contact-rim",
  item: "Figs. 7, 8, 13 a and b",
  title: "Manipulator that pushes a block: which communication step is stable",
  says:
    "With the interface model the simulation stays stable at every step up to 20 ms. Held rates become unstable from 10 ms on, and at 20 ms do not recover after the touch; linear extrapolation fails at large steps too. " +
    "The displacement error of the interface model is larger than the others' at small steps.",
  run({ sweep, ask, measure }) {
    const common = [...PAPERS, "--every", "80ms", "--over", "cosim.coupling=zoh,linear,rim", "--over", `cosim.macro_step=${STEPS.map((s) => `${s}ms`).join(",")}`,
      "--reference", "cosim.coupling=zoh", "--reference", "cosim.macro_step=0.2ms", "--signals", "arm.cyl2.length,arm.cyl2.rate"];
    const rows = sweep(MODEL, common);
    const own = sweep(MODEL, common.map((w) => w.replace("exchange=hold", "exchange=impulse").replace("zoh,linear,rim", "rim")), "impulse");
    const of = (table, coupling, step) => table.find((r) => r["cosim.coupling"] === coupling && Math.abs(r["cosim.macro_step"] - step * 1e-3) < 1e-9);
    // unstable: broken down, or the coupling has made more energy than a tenth of what the cylinders do (450 J)
    const isLost = (r) => !r.verdict.startsWith("finished") || Math.abs(r["bond.cyl1.coupling_error.final"]) + Math.abs(r["bond.cyl2.coupling_error.final"]) > 45;
    const [rim, zoh, linear] = ["rim", "zoh", "linear"].map((c) => STEPS.filter((s) => isLost(of(rows, c, s))));
    const words = (list) => (list.length ? `${list.join(", ")} ms` : "no step");
    const advice = ask("check", MODEL, [...PAPERS, ...set("cosim.macro_step=20ms")]);
    const [held, extrapolated] = ["zoh", "linear"].map((c) => readAdvice(advice, c));
    // as printed the valve opens so little that the block sticks; before the touch at 1.86 s the growing oscillation is plain to see
    const [reference, printed] = [["cosim.coupling=zoh", "cosim.macro_step=0.2ms"], ["cosim.coupling=zoh", "cosim.macro_step=20ms"]].map((pair, i) =>
      measure(MODEL, [...PAPERS, ...set("parameters.dkappa2=-0.015", ...pair), "--every", "20ms"], i ? "printed-held" : "printed-reference").rows);
    const swing = (from, to) => Math.max(...printed.map((r, k) => (r.time > from && r.time < to ? Math.abs(r["hydraulics.cyl2.force"] - reference[k]["hydraulics.cyl2.force"]) : 0)));
    const error = (what) => chart({ title: `RMS error of the ${what} of cylinder 2`, x: { label: "communication step, ms", log: true }, y: { label: what === "length" ? "m" : "m/s", log: true }, lines: [
      ...["rim", "linear", "zoh"].map((c) => ({ name: NAMES[c], points: STEPS.map((s) => (isLost(of(rows, c, s)) ? [NaN, NaN] : [s, of(rows, c, s)[`arm.cyl2.${what}.rms`]])), dots: true })),
      { name: "interface model, impulses", points: STEPS.map((s) => [s, of(own, "rim", s)[`arm.cyl2.${what}.rms`]]), dots: true, dashed: true }] });
    const isStable = rim.length === 0, isOrdered = of(rows, "rim", 4)["arm.cyl2.length.rms"] > of(rows, "linear", 4)["arm.cyl2.length.rms"];
    return {
      measured:
        `Lost at: interface model ${words(rim)}, linear ${words(linear)}, held ${words(zoh)}. A small disturbance at rest grows with held rates above ${held.limit} (by ${held.radius} a step at 20 ms), with linear ones above ${extrapolated.limit} (${extrapolated.radius}), with the interface model not at all. ` +
        `With the printed valve travel held rates at 20 ms let the force of cylinder 2 swing by ${swing(1, 1.4).toFixed(0)} N up to 1.4 s and by ${swing(1.4, 1.82).toFixed(0)} N up to the touch; then contact damps it. RMS of the length at 4 ms: interface model ${of(rows, "rim", 4)["arm.cyl2.length.rms"].toExponential(1)}, linear ` +
        `${of(rows, "linear", 4)["arm.cyl2.length.rms"].toExponential(1)}, held ${of(rows, "zoh", 4)["arm.cyl2.length.rms"].toExponential(1)} m; with impulses exchanged (not in the paper) ${of(own, "rim", 4)["arm.cyl2.length.rms"].toExponential(1)} m, and ${of(own, "rim", 20)["arm.cyl2.length.rms"].toExponential(1)} m at 20 ms.`,
      matched: isStable && linear.length > 0 && isOrdered ? (zoh.length > 0 ? true : "partly") : isStable ? "partly" : false,
      why: zoh.length ? "" :
        "Interface model and extrapolation are as in the paper, also that the first errs more at small steps (about as much as held rates). Held rates are unstable here too, but only close to 20 ms, they grow slowly, and a contact damps them instead of setting them off. The paper's mechanism is that of a commercial real-time engine whose contact compliance is not given, and the delay of the friction in the cylinder decides this limit.",
      charts: [error("length"), error("rate"),
        chart({ title: "Force of cylinder 2, printed valve travel", y: { label: "N" }, lines: [{ name: "held at 0.2 ms", points: curve(reference, "hydraulics.cyl2.force") }, { name: "held at 20 ms", points: curve(printed, "hydraulics.cyl2.force") }] })],
    };
  },
};
