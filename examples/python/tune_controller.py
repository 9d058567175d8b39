"""Tune a controller for the crane: a position controller in Python for the valve, its gains found by scipy.optimize.

    PYTHONPATH=build/python python3 examples/python/tune_controller.py
"""

import numpy as np
from scipy.optimize import minimize

import interim
from tutorial import EXAMPLES, parse_arguments, save

LOW, HIGH = 0.50, 0.56  # m
RAMP = 4.0  # s
SAMPLE = 0.01  # s
RESOLUTION = 0.2e-3  # of the length sensor, m


def compute_target(t):
    """Length to follow and its rate: up within 4 s, hold, down within 4 s, smoothly."""
    up, down = np.clip((t - 0.5) / RAMP, 0.0, 1.0), np.clip((t - 5.5) / RAMP, 0.0, 1.0)
    share = up**3 * (10 - 15 * up + 6 * up**2) - down**3 * (10 - 15 * down + 6 * down**2)
    rate = 30 * (up**2 * (1 - up) ** 2 - down**2 * (1 - down) ** 2) / RAMP
    return LOW + (HIGH - LOW) * share, (HIGH - LOW) * rate


class LengthControl(interim.Controller):
    """Valve voltage = forward * target rate + proportional * error + integral of the error, within ±10 V."""

    inputs = ["length"]
    outputs = [("voltage", "1", "valve command, V"), ("target", "m", "length to follow")]
    state_size = 1  # integral, V

    def __init__(self, proportional: float, integral: float, forward: float):
        self.gains = (proportional, integral, forward)

    def sample(self, t, h, inputs):
        proportional, integral, forward = self.gains
        target, rate = compute_target(t)
        error = target - RESOLUTION * np.round(inputs[0] / RESOLUTION)
        voltage = forward * rate + proportional * error + self.state[0]
        if abs(voltage) < 10.0:  # no windup while the valve is at its limit
            self.state[0] += h * integral * error
        return [min(10.0, max(-10.0, voltage)), target]


def make_model(gains) -> interim.Model:
    model = interim.load(EXAMPLES / "crane-single.yaml", set={"subsystems.hydraulics.elements.valve1.command": 0, "run.duration": "10.5 s"})
    return model.attach("control", LengthControl(*gains), step=SAMPLE,
                        wires={"hydraulics.valve1": "control.voltage", "control.length": "crane.cyl1.length"})


def compute_cost(results: interim.Results) -> float:
    """RMS error in mm, plus a price for a nervous valve: 2 mm per V of RMS change between samples."""
    if results.verdict == "broke-down":
        return 1e3
    error = np.asarray(results["crane.cyl1.length"] - results["control.target"])
    return float(1e3 * np.sqrt(np.mean(error**2)) + 2.0 * np.sqrt(np.mean(np.diff(results["control.voltage"]) ** 2)))


def tune(start, max_evaluations: int):
    """Nelder-Mead over logarithms of the gains."""
    history = []

    def evaluate(logs: np.ndarray) -> float:
        history.append(compute_cost(make_model(np.exp(logs)).run()))
        return history[-1]

    found = minimize(evaluate, np.log(start), method="Nelder-Mead",
                     options={"maxfev": max_evaluations, "xatol": 0.02, "fatol": 1e-3, "initial_simplex": _make_simplex(np.log(start))})
    return np.exp(found.x), np.array(history)


def _make_simplex(x: np.ndarray) -> np.ndarray:
    return np.vstack([x, x + 0.7 * np.eye(len(x))])


def draw(runs, history, folder) -> None:
    import matplotlib.pyplot as pyplot

    figure, axes = pyplot.subplots(2, 2, figsize=(10, 6), constrained_layout=True)
    for name, (results, colour) in runs.items():
        time, target = results.time, results["control.target"]
        axes[0, 0].plot(time, results["crane.cyl1.length"], color=colour, label=name)
        axes[0, 1].plot(time, 1e3 * (results["crane.cyl1.length"] - target), color=colour, label=name)
        axes[1, 0].plot(time, results["control.voltage"], color=colour, label=name)
    axes[0, 0].plot(time, target, "k--", linewidth=1, label="target")
    axes[0, 0].set(ylabel="length of the cylinder [m]", xlabel="time [s]")
    axes[0, 1].set(ylabel="error [mm]", xlabel="time [s]")
    axes[1, 0].set(ylabel="valve [V]", xlabel="time [s]")
    axes[1, 1].semilogy(history, ".", color="0.7", label="every run")
    axes[1, 1].semilogy(np.minimum.accumulate(history), "k", label="best so far")
    axes[1, 1].set(xlabel="run", ylabel="cost")
    for axis in axes.flat:
        axis.grid(alpha=0.3)
        axis.legend(frameon=False, fontsize=8)
    save(figure, folder, "python-tune-controller")


def main() -> None:
    arguments = parse_arguments(__doc__.splitlines()[0])
    start = np.array([50.0, 5.0, 50.0])  # V/m, V/(m s), V s/m
    best, history = tune(start, 12 if arguments.quick else 100)
    before, after = make_model(start).run(), make_model(best).run()
    print("gains        proportional {:.1f} V/m, integral {:.1f} V/(m s), forward {:.1f} V s/m".format(*best))
    print(f"cost         {compute_cost(before):.3f} before, {compute_cost(after):.3f} after {len(history)} runs")
    assert compute_cost(after) < compute_cost(before)
    draw({"first gains": (before, "tab:orange"), "tuned": (after, "tab:blue")}, history, arguments.out)


if __name__ == "__main__":
    main()
