"""Step by step: inputs, outputs, states, dynamics, contacts, interfaces, linearisation."""

import os
import time

import numpy as np
import pytest

import interim
from test_model import PENDULUM


@pytest.fixture
def crane(examples):
    return interim.load(examples / "crane-single.yaml")


def test_steps_are_those_of_a_run(crane):
    results, sim = crane.run(until=0.5), crane.simulation()
    for row in results.values:
        assert sim.time == row[0] and np.array_equal(sim.values, row[1:])
        sim.step()
    assert sim["crane.cyl1.length"] == sim.values[sim.outputs.index("crane.cyl1.length")]


def test_inputs_are_set_by_name(crane):
    a, b = crane.simulation(), crane.simulation()
    assert a.inputs == ["hydraulics.pump", "hydraulics.tank", "hydraulics.valve1"]
    a["hydraulics.valve1"] = 5.0
    assert a["hydraulics.valve1"] == 5.0
    for sim in (a, b):
        sim.step(20)
    assert a["crane.cyl1.length"] > b["crane.cyl1.length"] + 1e-3  # the valve lengthens the cylinder
    with pytest.raises(KeyError, match="hydraulics.valve1"):
        a["hydraulics.valve2"] = 1.0
    with pytest.raises(KeyError):
        a["nothing"]
    with pytest.raises(interim.Error):
        a["hydraulics.valve1"] = float("nan")


def test_state_continues_bit_for_bit(crane):
    sim = crane.simulation()
    sim["hydraulics.valve1"] = 3.0
    sim.step(10)
    saved, twin = sim.state, sim.copy()
    sim.step(30)
    expected = np.array(sim.values)
    twin.step(30)
    assert np.array_equal(twin.values, expected)
    sim.state = saved
    assert sim.time == saved.time == pytest.approx(0.1) and sim.state == saved
    sim.step(30)
    assert np.array_equal(sim.values, expected)
    assert "0.1 s" in repr(saved) and len(bytes(saved)) > 0
    sim.reset()
    assert sim.time == 0.0


def test_a_state_of_another_model_is_refused(crane, examples):
    with pytest.raises(interim.Error):
        crane.simulation().state = interim.load(examples / "stack.yaml").simulation().state


def test_a_failed_step_raises_and_restores(crane):
    sim = crane.copy(set={"cosim.coupling": "zoh", "cosim.macro_step": "50 ms"}).simulation()
    with pytest.raises(interim.StepError) as caught:
        sim.step(10000)
    assert caught.value.message
    before = sim.time
    with pytest.raises(interim.StepError):
        sim.step()
    assert sim.time == before


def test_pendulum_dynamics_are_those_of_the_textbook():
    sim = interim.Model.from_text(PENDULUM).simulation()
    inertia, weight = 3.0 * 2.0**2 / 3.0, 3.0 * 9.81 * 1.0
    assert sim.coordinate("hinge") == (0, 0)
    sim.set_qv([0.4], [0.7])
    assert sim.q()[0] == pytest.approx(0.4, abs=1e-15) and sim.v()[0] == pytest.approx(0.7, abs=1e-15)
    assert sim.mass_matrix() == pytest.approx(np.array([[inertia]]), rel=1e-13)
    assert sim.forward_dynamics() == pytest.approx([-weight * np.cos(0.4) / inertia], rel=1e-12)
    assert sim.inverse_dynamics([1.5]) == pytest.approx([1.5 * inertia + weight * np.cos(0.4)], rel=1e-12)
    # a force at the tip: by its lever arm
    lifted = sim.inverse_dynamics([0.0], external={"rod": ([0, 50, 0], [0, 0, 7])})
    assert lifted == pytest.approx([weight * np.cos(0.4) - 7.0], rel=1e-12)
    J = sim.jacobian("rod", [2.0, 0, 0])
    assert J[:, 0] == pytest.approx([-2 * np.sin(0.4), 2 * np.cos(0.4), 0, 0, 0, 1], abs=1e-13)
    rod = sim.body("rod")
    assert rod.angular_velocity == pytest.approx([0, 0, 0.7], abs=1e-13)
    assert rod.rotation @ [1, 0, 0] == pytest.approx([np.cos(0.4), np.sin(0.4), 0], abs=1e-13)
    assert rod.position == pytest.approx([0, 0, 0], abs=1e-15) and np.linalg.norm(rod.quaternion) == pytest.approx(1.0)
    with pytest.raises(ValueError):
        sim.set_qv([0.0, 0.0], [0.0])
    with pytest.raises(KeyError):
        sim.body("rot")
    with pytest.raises(ValueError):
        sim.mass_matrix("leg")


def test_an_external_torque_holds_the_pendulum():
    sim = interim.Model.from_text(PENDULUM).simulation()
    sim["arm.torque"] = 3.0 * 9.81 * 1.0
    sim.step(1000)
    assert abs(sim["arm.hinge.angle"]) < 1e-12  # rounding of 1000 steps


def test_linearised_pendulum_is_the_closed_form():
    sim = interim.Model.from_text(PENDULUM).simulation()
    sim.set_qv([-np.pi / 2], [0.0])
    linear = sim.linearise(["arm.torque"], ["arm.hinge.angle"])
    h, k, inertia = 1e-3, 3.0 * 9.81, 4.0
    # semi-implicit Euler: v' = v + h (tau - k q) / I, q' = q + h v'
    assert linear.A == pytest.approx(np.array([[1 - h * h * k / inertia, h], [-h * k / inertia, 1.0]]), abs=1e-9)
    assert linear.B == pytest.approx(np.array([[h * h / inertia], [h / inertia]]), abs=1e-9)
    assert linear.C == pytest.approx(np.array([[1.0, 0.0]]), abs=1e-9) and linear.D == pytest.approx(np.zeros((1, 1)), abs=1e-12)
    assert linear.states == ("arm.rod.q0", "arm.rod.v0") and linear.step == h
    assert linear.radius == pytest.approx(1.0, abs=1e-8)  # symplectic: an oscillation neither grows nor decays
    with pytest.raises(KeyError):
        sim.linearise(["arm.torqe"])


def test_radius_is_that_of_the_linearised_step(crane):
    sim = crane.copy(set={"cosim.coupling": "zoh", "cosim.macro_step": "2 ms"}).simulation()
    radius = sim.spectral_radius()
    sim.step(2)  # the radius is taken two steps on, when extrapolation has its past
    assert sim.linearise().radius == pytest.approx(radius, rel=1e-5)


def test_interface_is_the_inverse_of_the_effective_mass(crane):
    sim = crane.simulation()
    before = sim.state
    assert sim.interfaces == ["crane.cyl1"]
    it = sim.interface("crane.cyl1")
    assert it.W @ it.M_eff == pytest.approx(np.eye(1), rel=1e-12) and it.rank == 1 and it.active_rows == ()
    # the boom about its hinge, and the hook, whose own inertia is negligible, hangs straight: cylinder rate = lever arm * rate
    J = sim.jacobian("boom", [0.5, 0, 0])[:2]
    M = sim.mass_matrix()
    point, foot = sim.body("boom").rotation @ [0.5, 0, 0], np.array([0.8660254037844386, 0, 0])
    direction = (point - foot)[:2] / np.linalg.norm(point - foot)
    a = direction @ J
    assert it.W[0, 0] == pytest.approx(a @ np.linalg.solve(M, a), rel=1e-9)
    assert sim.state == before
    with pytest.raises(KeyError, match="crane.cyl1"):
        sim.interface("crane.cyl2")


def test_contacts_of_a_resting_stack_carry_its_weight(examples):
    sim = interim.load(examples / "stack.yaml").simulation()
    sim.step(2000)
    contacts = sim.contacts
    assert contacts and all(abs(c.gap) < 1e-3 and c.state in ("open", "sticking", "sliding") for c in contacts)
    ground = [c for c in contacts if "ground" in c.bodies]
    lift = sum(c.impulse[2] if c.bodies[0] == "ground" else -c.impulse[2] for c in ground)
    mass = interim.load(examples / "stack.yaml").check().mechanisms[sim.mechanisms[0]]["mass"]
    # settling leaves a share of the weight of about v / (g h); the solver is exact to 1e-9
    assert lift == pytest.approx(mass * 9.81 * sim.step_size, rel=1e-3)
    assert all(np.linalg.norm(c.normal) == pytest.approx(1.0) for c in contacts)


def test_latches_close_and_open():
    model = interim.Model.from_text(PENDULUM.replace("run:", "  events: [{at: 100 s, lock: hinge}]\nrun:"))
    sim = model.simulation()
    sim.step(100)
    sim.latch("lock-hinge", True)
    angle = sim["arm.hinge.angle"]
    sim.step(100)
    assert sim["arm.hinge.angle"] == pytest.approx(angle, abs=1e-9)
    with pytest.raises(KeyError):
        sim.latch("look", True)


def test_steps_of_an_adaptive_stepper():
    sim = interim.Model.from_text(PENDULUM, set={"run.stepper": "adaptive", "run.step": "10 ms"}).simulation()
    sim.step(5)
    assert 0.0 < sim.time < 0.1


def rss() -> int:
    """Resident memory of this process, kB."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def test_a_million_steps_leak_nothing():
    sim = interim.Model.from_text(PENDULUM).simulation()
    for _ in range(1000):
        sim["arm.torque"] = 1.0
        sim.step()
    before = rss()
    for i in range(300_000):
        sim["arm.torque"] = 0.001 * (i % 7)
        sim.step()
    sim.step(700_000)
    # a leak of one pointer per step would be 8 MB; the allocator may keep a page or two
    assert rss() - before < 1000


def test_simulations_free_their_memory():
    model = interim.Model.from_text(PENDULUM)
    for _ in range(20):
        model.run(until=0.1)
    before = rss()
    for _ in range(200):
        model.run(until=0.1)  # 101 rows of some 40 columns: 30 kB, and a system of 100 kB
    assert rss() - before < 3000


def test_overhead_of_a_step_is_small():
    # the difference of a step called from Python and one of a run; the best of several rounds on a busy machine
    model = interim.Model.from_text(PENDULUM)
    n, sim, differences = 20000, model.simulation(), []
    for _ in range(5):
        run = model.run(until=n * 1e-3, every=n * 1e-3, progress=False)
        start = time.perf_counter()
        for _ in range(n):
            sim.step()
        differences.append((time.perf_counter() - start - run.wall_time) / n)
    print(f"overhead per step: {1e6 * min(differences):.2f} us")
    assert min(differences) < 1.5e-6 * float(os.environ.get("ITM_TIME_SCALE", "5"))
