"""Why held forces explode: a hydraulic crane at several macro steps, judged by eigenvalues and by runs side by side.

    PYTHONPATH=build/python python3 examples/python/held_forces.py
"""

import numpy as np

import interim
from tutorial import EXAMPLES, parse_arguments, save

COUPLINGS = {"held rates and forces": {"cosim.coupling": "zoh"}, "interface model": {"cosim.coupling": "rim"}}
COLOURS = {"held rates and forces": "tab:red", "interface model": "tab:blue"}
END = 3.0  # s: the crane lowers, then rests


def compute_radii(steps_ms) -> dict[str, list[float]]:
    """Spectral radius of the macro step, per coupling and step."""
    radii = {}
    for name, coupling in COUPLINGS.items():
        radii[name] = [
            interim.load(EXAMPLES / "crane-single.yaml", set={**coupling, "cosim.macro_step": f"{H} ms"}).simulation().spectral_radius()
            for H in steps_ms]
    return radii


def run_all(steps_ms) -> dict[str, list[interim.Results]]:
    runs = {}
    for name, coupling in COUPLINGS.items():
        runs[name] = [interim.load(EXAMPLES / "crane-single.yaml", set={**coupling, "cosim.macro_step": f"{H} ms"}).run(until=END)
                      for H in steps_ms]
    return runs


def draw(radius_steps, radii, run_steps, runs, reference, folder) -> None:
    import matplotlib.pyplot as pyplot

    figure, axes = pyplot.subplots(1, 1 + len(run_steps), figsize=(3.4 * (1 + len(run_steps)), 3.6), constrained_layout=True)
    for name, values in radii.items():
        axes[0].semilogx(radius_steps, values, "o-", color=COLOURS[name], markersize=3, label=name)
    axes[0].axhline(1.0, color="k", linewidth=0.8)
    axes[0].set(xlabel="macro step H [ms]", ylabel="spectral radius", title="Eigenvalues", ylim=(0.5, 3.0))
    axes[0].legend(frameon=False, fontsize=8)
    axes[0].grid(alpha=0.3)
    for k, (axis, H) in enumerate(zip(axes[1:], run_steps)):
        axis.plot(reference.time, reference["crane.cyl1.length"], color="0.6", linewidth=3, label="monolithic, 0.1 ms")
        for name in runs:
            results = runs[name][k]
            axis.plot(results.time, results["crane.cyl1.length"], color=COLOURS[name], linewidth=1.2, label=name)
            if results.verdict == "broke-down":
                axis.plot(results.time[-1], results["crane.cyl1.length"][-1], "x", color=COLOURS[name], markersize=9)
                axis.text(0.97, 0.95, f"broke down at {results.time[-1]:.2f} s", transform=axis.transAxes, ha="right", va="top",
                          fontsize=8, color=COLOURS[name])
        axis.set(xlabel="time [s]", ylabel="length of the cylinder [m]", title=f"H = {H:g} ms", ylim=(0.44, 0.52))
        axis.grid(alpha=0.3)
    axes[1].legend(frameon=False, fontsize=8, loc="lower left")
    save(figure, folder, "python-held-forces")


def main() -> None:
    arguments = parse_arguments(__doc__.splitlines()[0])
    radius_steps = [1, 2, 10, 50] if arguments.quick else [0.5, 1, 1.5, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 70, 100]
    run_steps = [1, 10] if arguments.quick else [1, 5, 50]

    radii = compute_radii(radius_steps)
    print("H [ms]    " + "  ".join(f"{name:>22}" for name in radii))
    for k, H in enumerate(radius_steps):
        print(f"{H:6g}    " + "  ".join(f"{radii[name][k]:22.4f}" for name in radii))
    stable = [H for H, radius in zip(radius_steps, radii["held rates and forces"]) if radius <= 1.0 + 1e-6]
    print(f"held rates and forces: stable up to {max(stable, default=0):g} ms; interface model: at all steps")
    assert max(radii["interface model"]) < 1.0 + 1e-6

    reference = interim.load(EXAMPLES / "crane-single.yaml", set={"cosim.coupling": "monolithic"}).run(until=END, every=0.001)
    runs = run_all(run_steps)
    for name, group in runs.items():
        for H, results in zip(run_steps, group):
            error = np.max(np.abs(results["crane.cyl1.length"] - np.interp(results.time, reference.time, reference["crane.cyl1.length"])))
            print(f"{name:>22}, H = {H:3g} ms: {results.verdict} at {results.time[-1]:.3g} s, off by up to {1e3 * error:.3g} mm")
    # eigenvalues and runs agree: what grows breaks down, what does not stays near the reference
    assert all(results.verdict != "broke-down" for results in runs["interface model"])
    assert runs["held rates and forces"][-1].verdict == "broke-down"
    draw(radius_steps, radii, run_steps, runs, reference, arguments.out)


if __name__ == "__main__":
    main()
