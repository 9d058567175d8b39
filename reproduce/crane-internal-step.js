// Communication step against internal step of the hydraulics, for both cranes.                                  [cranes, Figs. 13 and 17]
// SPDX-License-Identifier: Apache-2.0
export function compareInternalSteps({ sweep }, model, [small, large], every) {
  const rows = sweep(model, ["--every", every, "--set", "cosim.exchange=hold", "--set", "subsystems.hydraulics.integrator=trapezoidal", "--over", "cosim.coupling=quadratic,rim", "--over", `cosim.macro_step=${small},${large}`,
    "--over", "subsystems.hydraulics.step=0.1ms,0.5ms,1ms", "--reference", "cosim.coupling=monolithic", "--reference", "subsystems.hydraulics.step=0.1ms", "--signals", "crane.cyl1.length"]);
  const of = (coupling, step) => rows.filter((r) => r["cosim.coupling"] === coupling && Math.abs(r["cosim.macro_step"] - parseFloat(step) * 1e-3) < 1e-9);
  const isStable = (list) => list.every((r) => r.verdict === "finished");
  const worst = (list) => Math.max(...list.map((r) => r["crane.cyl1.length.rms"])).toExponential(1);
  const word = (list) => (isStable(list) ? `stable at all three internal steps, RMS of the length up to ${worst(list)} m` : `${list.filter((r) => r.verdict !== "finished").length} of 3 break down`);
  const [near, far] = [of("quadratic", small), of("quadratic", large)], models = [of("rim", small), of("rim", large)];
  const isCloser = models[0].every((r, i) => r["crane.cyl1.length.rms"] < models[1][i]["crane.cyl1.length.rms"]);
  const name = { quadratic: "extrapolation", rim: "interface model" };
  return {
    measured: `Extrapolation: at H = ${small.replace("ms", " ms")} ${word(near)}; at ${large.replace("ms", " ms")} ${word(far)}. Interface model: at ${small.replace("ms", " ms")} ${word(models[0])}; at ${large.replace("ms", " ms")} ${word(models[1])}.`,
    matched: isStable(near) && !isStable(far) && isCloser,
    why: "The paper's setting is extrapolation; the interface model, also with held forces, is beside it for comparison.",
    table: {
      head: ["", "H", "internal step", "ends at", "RMS of the length of cylinder 1"],
      rows: rows.map((r) => [name[r["cosim.coupling"]], `${r["cosim.macro_step"] * 1e3} ms`, `${r["subsystems.hydraulics.step"] * 1e3} ms`, r.verdict === "finished" ? "the end" : `breaks down at ${r.end_time} s`, r.verdict === "finished" ? `${r["crane.cyl1.length.rms"].toExponential(2)} m` : ""]),
    },
  };
}
