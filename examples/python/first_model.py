"""First model: a chain of rods built in Python, its motion, its energy, and a check against a closed form.

    PYTHONPATH=build/python python3 examples/python/first_model.py
"""

import numpy as np

import interim
from tutorial import parse_arguments, save

G = 9.81


def make_chain(n: int, length: float = 1.0, mass: float = 2.0, angle: float = 0.0) -> interim.Model:
    """n rods in a row, hinged to each other and to the ground; angle: of the whole chain above the horizontal at the start."""
    rod = length / n
    model = interim.Model(title=f"Chain of {n}", run={"step": "0.5 ms", "duration": "4 s", "output_interval": "10 ms"})
    model.multibody(name="chain", gravity=[0, 0, -G])
    direction = np.array([np.cos(angle), 0.0, np.sin(angle)])
    for i in range(n):
        start = i * rod * direction
        # a thin rod along x of the body: no inertia about its own axis to speak of
        moment = mass / n * rod**2 / 12
        model.body(f"rod{i}", mass=mass / n, com=[rod / 2, 0, 0], inertia=[1e-6, moment, moment], position=start,
                   orientation={"axis": [0, 1, 0], "angle": -angle})
        model.joint(f"hinge{i}", type="revolute", bodies=["ground" if i == 0 else f"rod{i - 1}", f"rod{i}"], at=start,
                    axis=[0, 1, 0])
        model.add("multibody.points", f"end{i}", body=f"rod{i}", point=[rod, 0, 0])
    return model


def compute_period(length: float, amplitude: float) -> float:
    """Period of a rod that swings with any amplitude: 4 K(sin(a / 2)) / omega, K by the arithmetic-geometric mean."""
    omega = np.sqrt(1.5 * G / length)
    a, b = 1.0, np.cos(amplitude / 2)
    for _ in range(8):
        a, b = (a + b) / 2, np.sqrt(a * b)
    return 2 * np.pi / (a * omega)


def measure_period(results: interim.Results, name: str) -> float:
    """Twice the mean time between zero crossings of a rate."""
    rate, time = np.asarray(results[name]), np.asarray(results.time)
    i = np.flatnonzero(np.sign(rate[1:-1]) * np.sign(rate[2:]) < 0) + 1
    crossings = time[i] - rate[i] * (time[i + 1] - time[i]) / (rate[i + 1] - rate[i])
    return 2 * float(np.mean(np.diff(crossings)))


def draw(results: interim.Results, n: int, folder) -> None:
    import matplotlib.pyplot as pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 4), constrained_layout=True)
    times = np.searchsorted(results.time, np.arange(0.0, 1.01, 0.1))
    for k, row in enumerate(times):
        points = [(0.0, 0.0)] + [(results[f"chain.end{i}.position.x"][row], results[f"chain.end{i}.position.z"][row]) for i in range(n)]
        left.plot(*zip(*points), "o-", color=pyplot.cm.viridis(k / len(times)), markersize=3, label=f"{results.time[row]:.1f} s")
    left.set(xlabel="x [m]", ylabel="z [m]", title="The first second", aspect="equal")
    left.legend(frameon=False, fontsize=8, ncol=4, loc="upper center", bbox_to_anchor=(0.5, -0.25))
    time, kinetic, potential = results.time, results["chain.energy.kinetic"], results["chain.energy.potential"]
    right.plot(time, kinetic, label="kinetic")
    right.plot(time, potential, label="potential")
    right.plot(time, kinetic + potential, "k", label="sum")
    right.set(xlabel="time [s]", ylabel="energy [J]", title="Energy")
    right.legend(frameon=False, ncol=3, loc="upper center", bbox_to_anchor=(0.5, -0.16))
    right.grid(alpha=0.3)
    save(figure, folder, "python-first-model")


def main() -> None:
    arguments = parse_arguments(__doc__.splitlines()[0])

    # one rod, whose period is known
    amplitude = np.radians(60.0)
    single = make_chain(1, angle=-np.pi / 2 + amplitude).run()
    period, exact = measure_period(single, "chain.hinge0.angle_rate"), compute_period(1.0, amplitude)
    print(f"period of one rod: {period:.6f} s, closed form {exact:.6f} s")
    assert abs(period - exact) < 1e-3 * exact  # first-order step of 0.5 ms

    # a chain of four
    n = 4
    model = make_chain(n)
    print(model.check())
    # the default stepper, of first order, then one of second order: the verdict of the first run names its energy error
    for stepper in ("euler", "ali3p"):
        results = model.copy(set={"run.stepper": stepper}).run()
        energy = np.asarray(results["chain.energy.kinetic"] + results["chain.energy.potential"])
        print(f"{stepper}: {results.verdict}; the energy varies by {np.ptp(energy):.2g} J, {np.ptp(results['chain.energy.potential']):.3g} J "
              f"are exchanged. {results.reason}")
    assert results.verdict == "finished"
    draw(results, n, arguments.out)


if __name__ == "__main__":
    main()
