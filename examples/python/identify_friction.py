"""Identify the friction of a joint from a recording: dry friction and damping of a swinging arm, by least squares.

    PYTHONPATH=build/python python3 examples/python/identify_friction.py

The recording is made here with known values, so that we can tell how well they are found; with a machine it would come from a file.
"""

import numpy as np
from scipy.optimize import least_squares

import interim
from tutorial import parse_arguments, save

ARM = """
title: Arm with friction
parameters: {L: 0.6 m, m: 1.5 kg, dry: 0.1 N m, viscous: 0.01 N m s}
multibody:
  name: arm
  gravity: [0, -9.81 m/s^2, 0]
  bodies:
    rod: {mass: m, com: [0, -L/2, 0], inertia: [m*L^2/12, 1e-4 kg m^2, m*L^2/12],
          position: [0, 0, 0], orientation: {axis: [0, 0, 1], angle: 70 deg}}
  joints:
    hinge: {type: revolute, bodies: [ground, rod], at: [0, 0, 0], axis: [0, 0, 1], friction: dry}
  forces:
    grease: {type: joint-spring, joint: hinge, damping: viscous}
run: {step: 1 ms, duration: 12 s, output_interval: 20 ms}
"""
TRUE = {"dry": 0.12, "viscous": 0.035}  # N m, N m s
NOISE = np.radians(0.3)  # of the encoder


def simulate(dry: float, viscous: float) -> interim.Results:
    return interim.Model.from_text(ARM, set={"parameters.dry": f"{dry!r} N m", "parameters.viscous": f"{viscous!r} N m s"}).run()


def identify(angle: np.ndarray, guess: dict[str, float]):
    """The values whose motion is nearest to the recording. Unknowns are logarithms: both values stay positive."""

    def compute_residual(logs: np.ndarray) -> np.ndarray:
        return np.asarray(simulate(*np.exp(logs).tolist())["arm.hinge.angle"]) - angle

    return least_squares(compute_residual, np.log([guess["dry"], guess["viscous"]]), diff_step=1e-3, x_scale=0.1)


def draw(time, angle, before, after, folder) -> None:
    import matplotlib.pyplot as pyplot

    figure, (top, bottom) = pyplot.subplots(2, 1, sharex=True, figsize=(8, 5), constrained_layout=True)
    top.plot(time, np.degrees(angle), ".", color="0.6", markersize=2.5, label="recording")
    top.plot(time, np.degrees(before["arm.hinge.angle"]), color="tab:orange", linewidth=1, label="guess")
    top.plot(time, np.degrees(after["arm.hinge.angle"]), color="tab:blue", linewidth=1, label="identified")
    top.set(ylabel="angle [deg]")
    bottom.plot(time, np.degrees(np.asarray(after["arm.hinge.angle"]) - angle), ".", color="tab:blue", markersize=2.5)
    bottom.set(xlabel="time [s]", ylabel="identified − recording [deg]")
    top.legend(frameon=False, ncol=3)
    for axis in (top, bottom):
        axis.grid(alpha=0.3)
    save(figure, folder, "python-identify-friction")


def main() -> None:
    arguments = parse_arguments(__doc__.splitlines()[0])
    recorded = simulate(**TRUE)
    angle = np.asarray(recorded["arm.hinge.angle"]) + np.random.default_rng(1).normal(0.0, NOISE, len(recorded.time))

    guess = {"dry": 0.05, "viscous": 0.08}
    found = identify(angle, guess)
    dry, viscous = np.exp(found.x)
    # standard deviations from the curvature of the sum of squares
    spread = np.sqrt(np.diag(np.linalg.inv(found.jac.T @ found.jac))) * np.std(found.fun) * np.exp(found.x)
    print(f"dry friction {dry:.4f} ± {spread[0]:.4f} N m (true {TRUE['dry']}), damping {viscous:.5f} ± {spread[1]:.5f} N m s "
          f"(true {TRUE['viscous']})")
    print(f"{found.nfev} evaluations; residual {np.degrees(np.std(found.fun)):.3f} deg, noise {np.degrees(NOISE):.3f} deg")
    # five standard deviations
    assert abs(dry - TRUE["dry"]) < 5 * spread[0] and abs(viscous - TRUE["viscous"]) < 5 * spread[1]
    draw(recorded.time, angle, simulate(**guess), simulate(float(dry), float(viscous)), arguments.out)


if __name__ == "__main__":
    main()
