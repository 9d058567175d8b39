"""Subsystems and controllers in Python take part in the coupling as those in C do."""

import ctypes
import os

import numpy as np
import pytest

import interim
import interim.model
from interim._library import ffi


class Spring(interim.Subsystem):
    """A spring and damper behind a first-order lag; spring.c has the same arithmetic."""

    ports = ["end"]
    outputs = [("force", "N", "force")]
    state_size = 1

    def reset(self):
        self.state[0] = 2000.0

    def step(self, t, h, length, rate):
        if h > 0.0:
            force = -2e5 * (length + h * rate - 0.5) - 1e3 * rate + 2000.0
            self.state[0] = self.state[0] + h / (h + 0.002) * (force - self.state[0])
        return self.state[0]

    def output(self, t):
        return self.state[0]


class CTable:
    """The same subsystem as a table of C functions."""

    def __init__(self, part):
        self.table = ffi.new("ItmSubsystem*")
        library = ctypes.CDLL(os.environ["INTERIM_SPRING"])
        library.spring_fill(ctypes.c_void_p(int(ffi.cast("uintptr_t", self.table))))

    def take_exception(self):
        return None


def make_crane(**cosim):
    model = interim.Model(run={"step": "1 ms", "duration": "1 s"}, cosim={"macro_step": "10 ms", **cosim})
    model.multibody(name="crane", gravity=[0, -9.81, 0])
    model.body("boom", mass=300, com=[0.5, 0, 0], inertia=[1, 30, 30], position=[0, 0, 0])
    model.joint("foot", type="revolute", bodies=["ground", "boom"], at=[0, 0, 0], axis=[0, 0, 1])
    return model.force("cyl", type="actuator", bodies=["ground", "boom"], at_a=[0.5, -0.5, 0], at_b=[0.5, 0, 0])


@pytest.mark.parametrize("coupling,exchange", [("rim", "impulse"), ("rim", "hold"), ("zoh", "hold"), ("quadratic", "hold")])
def test_a_python_subsystem_is_bit_for_bit_the_c_one(coupling, exchange, monkeypatch):
    def run():
        model = make_crane().attach("spring", Spring(), step="0.5 ms", bonds={"crane.cyl": "end"}, coupling=coupling,
                                    exchange=exchange)
        return model.run()

    python = run()
    monkeypatch.setattr(interim.model, "_Bridge", CTable)
    c = run()
    assert python.verdict == c.verdict and list(python) == list(c)
    assert np.array_equal(python.values, c.values)
    assert np.ptp(python["crane.cyl.length"]) > 1e-3  # it moves


def test_saved_states_include_the_python_subsystem():
    model = make_crane().attach("spring", Spring(), step="0.5 ms", bonds={"crane.cyl": "end"})
    sim = model.simulation()
    sim.step(20)
    saved, twin = sim.state, sim.copy()
    sim.step(30)
    expected = np.array(sim.values)
    twin.step(30)
    sim.state = saved
    sim.step(30)
    assert np.array_equal(sim.values, expected) and np.array_equal(twin.values, expected)
    assert sim.subsystem("spring").state[0] == sim["spring.force"]
    sim.reset()
    assert sim.subsystem("spring").state[0] == 2000.0
    # each simulation has its own
    assert model.simulation().subsystem("spring") is not sim.subsystem("spring")


def test_its_states_are_part_of_the_linearised_step():
    model = make_crane().attach("spring", Spring(), step="0.5 ms", bonds={"crane.cyl": "end"})
    assert "spring.x0" in model.simulation().linearise().states
    assert 0.5 < model.check().radius < 1.0  # a damped spring at rest


class TwoPorts(interim.Subsystem):
    """Two springs, and an input that loads the first."""

    ports = ["a", "b"]
    inputs = ["load"]

    def step(self, t, h, length, rate):
        assert isinstance(length, np.ndarray) and length.shape == (2,)
        return -1e5 * (length + h * rate - 0.5) - 5e3 * rate + np.array([self.input[0], 0.0])


def test_several_ports_and_inputs():
    model = make_crane()
    model.force("second", type="actuator", bodies=["ground", "boom"], at_a=[0.8, -0.5, 0], at_b=[0.8, 0, 0])
    model.attach("pair", TwoPorts(), step="1 ms", bonds={"crane.cyl": "a", "crane.second": "b"})
    sim = model.simulation()
    assert sim.inputs == ["pair.load"]
    sim.step(300)
    # statics about the hinge: weight against two springs with lever arms 0.5 and 0.8
    angle = sim["crane.foot.angle"]
    stretch = [(0.5, sim["crane.cyl.length"] - 0.5), (0.8, sim["crane.second.length"] - 0.5)]
    torque = sum(-1e5 * x * arm for arm, x in stretch)
    assert torque == pytest.approx(300 * 9.81 * 0.5 * np.cos(angle), rel=0.01)  # small angles
    sim["pair.load"] = 2000.0
    sim.step(300)
    assert sim["crane.foot.angle"] > angle


class Broken(interim.Subsystem):
    ports = ["end"]

    def step(self, t, h, length, rate):
        if t > 0.05:
            raise ZeroDivisionError("out of oil")
        return 3000.0


def test_exceptions_of_a_subsystem_come_through():
    model = make_crane().attach("broken", Broken(), step="1 ms", bonds={"crane.cyl": "end"})
    sim = model.simulation()
    with pytest.raises(ZeroDivisionError, match="out of oil"):
        sim.step(100)
    assert 0.04 < sim.time < 0.07
    with pytest.raises(ZeroDivisionError):
        model.run()


class Interrupted(Broken):
    def step(self, t, h, length, rate):
        if t > 0.05:
            raise KeyboardInterrupt
        return 3000.0


def test_interrupt_within_a_subsystem_keeps_the_results():
    results = make_crane().attach("slow", Interrupted(), step="1 ms", bonds={"crane.cyl": "end"}).run()
    assert results.verdict == "interrupted" and "by the user" in results.reason
    assert results.time[-1] == pytest.approx(0.05, abs=0.011)


class BadOutput(Spring):
    def output(self, t):
        raise LookupError("no such sensor")


def test_exceptions_of_outputs_come_through():
    sim = make_crane().attach("spring", BadOutput(), step="0.5 ms", bonds={"crane.cyl": "end"}).simulation()
    for _ in range(2):
        with pytest.raises(LookupError, match="no such sensor"):
            sim["spring.force"]
    with pytest.raises(LookupError):
        make_crane().attach("spring", BadOutput(), step="0.5 ms", bonds={"crane.cyl": "end"}).run()


def test_bad_connections_are_refused():
    for bonds in ({"crane.cyl2": "end"}, {"crane.cyl": "start"}, {"lorry.cyl": "end"}):
        with pytest.raises(interim.ModelError):
            make_crane().attach("spring", Spring(), bonds=bonds).simulation()
    with pytest.raises(ValueError):
        make_crane().attach("spring", Spring(), coupling="glue")
    with pytest.raises(interim.ModelError):
        make_crane().attach("spring", Spring(), bonds={"crane.cyl": "end"}, wires={"spring.u": "crane.foot.angle"}).simulation()


class Hold(interim.Controller):
    """The block of the file below: a force proportional to the deviation, with an integral."""

    inputs = ["angle"]
    outputs = [("force", "N", "force")]

    def sample(self, t, h, inputs):
        return [3000.0 + 20000.0 * (0.1 - inputs[0])]


def test_a_python_controller_is_bit_for_bit_the_block_of_the_file():
    block = make_crane()
    block.subsystem("hold", type="control", step="10 ms", blocks={"force": "3000 + 20000 * (0.1 - crane.foot.angle)"})
    block.section("cosim", wires={"crane.cyl": "hold.force"})
    python = make_crane().attach("hold", Hold(), step="10 ms",
                                 wires={"crane.cyl": "hold.force", "hold.angle": "crane.foot.angle"})
    a, b = block.run(), python.run()
    assert np.array_equal(a["crane.foot.angle"], b["crane.foot.angle"])
    assert np.array_equal(a["hold.force"], b["hold.force"])
    assert np.ptp(a["hold.force"]) > 100.0
