"""Models: loading, overrides, errors, building in Python."""

import numpy as np
import pytest

import interim

PENDULUM = """
parameters: {L: 2 m, m: 3 kg}
signals: {torque: {external: 0 N m}}
multibody:
  name: arm
  gravity: [0, -9.81 m/s^2, 0]
  bodies:
    rod: {mass: m, com: [L/2, 0, 0], inertia: [1e-3 kg m^2, m*L^2/12, m*L^2/12], position: [0, 0, 0]}
  joints:
    hinge: {type: revolute, bodies: [ground, rod], at: [0, 0, 0], axis: [0, 0, 1]}
  motions:
    drive: {joint: hinge, force: torque}
run: {step: 1 ms, duration: 1 s}
"""


def make_pendulum() -> interim.Model:
    """The same pendulum in Python."""
    length, mass = 2.0, np.float64(3.0)
    model = interim.Model(title="pendulum", run={"step": "1 ms", "duration": 1.0})
    model.signal("torque", external="0 N m").multibody(name="arm", gravity=np.array([0.0, -9.81, 0.0]))
    model.body("rod", mass=mass, com=(length / 2, 0, 0), inertia=[1e-3, mass * length**2 / 12, mass * length**2 / 12],
               position=[0, 0, 0])
    model.joint("hinge", type="revolute", bodies=["ground", "rod"], at=[0, 0, 0], axis=[0, 0, 1])
    return model.motion("drive", joint="hinge", force="torque")


def test_model_built_in_python_is_that_of_the_file():
    a, b = interim.Model.from_text(PENDULUM).run(), make_pendulum().run()
    assert list(a) == list(b)
    assert np.array_equal(a.values, b.values)
    assert make_pendulum().to_dict()["multibody"]["bodies"]["rod"]["mass"] == 3.0


def test_elements_can_be_added_after_a_run():
    model = make_pendulum()
    before = model.run(until=0.1)
    model.add("multibody.forces", "push", type="force", body="rod", point=[2, 0, 0], vector=[0, 10, 0])
    assert not np.array_equal(before["arm.hinge.angle"], model.run(until=0.1)["arm.hinge.angle"])


def test_set_changes_values_of_a_file(examples):
    model = interim.load(examples / "crane-single.yaml", set={"cosim.macro_step": "5 ms", "parameters.m": "300 kg"})
    assert model.simulation().step_size == 0.005
    assert model.copy(set={"cosim.macro_step": "2 ms"}).simulation().step_size == 0.002
    assert model.title == "Hydraulic crane, one cylinder"
    assert model.duration == 16.8


def test_errors_have_file_line_and_column(tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_text("run: {step: 1 ms, duration: 1 s}\nmultibody:\n  bodies:\n    box: {mas: 3 kg}\n", encoding="utf-8")
    with pytest.raises(interim.ModelError) as caught:
        interim.load(path)
    error = caught.value
    assert error.file == str(path) and error.line == 4 and error.column > 0
    assert "mass" in error.message and str(error).startswith(f"{path}:4:")
    assert isinstance(error, interim.Error)


def test_errors_have_the_field():
    with pytest.raises(interim.ModelError) as caught:
        interim.Model.from_text(PENDULUM.replace("mass: m", "mass: -1 kg"))
    assert caught.value.field == "mass"


def test_errors_of_models_built_in_python_have_the_path():
    with pytest.raises(interim.ModelError) as caught:
        make_pendulum().body("second", mas=3.0)._compile()
    assert caught.value.field == "multibody.bodies.second.mas"
    assert str(caught.value).startswith("multibody.bodies.second.mas: ")


def test_a_missing_file_is_an_error():
    with pytest.raises(interim.Error, match="nowhere.yaml"):
        interim.load("nowhere.yaml")


def test_only_models_built_in_python_can_be_extended():
    model = interim.Model.from_text(PENDULUM)
    for call in (lambda: model.body("b"), lambda: model.section("run"), model.to_dict):
        with pytest.raises(TypeError):
            call()


def test_check_describes_the_model(examples):
    check = interim.load(examples / "crane-single.yaml").check()
    assert check.mechanisms["crane"]["degrees_of_freedom"] == 2
    assert check.radius == pytest.approx(1.0, abs=1e-3)
    assert "degrees of freedom" in str(check) and not check.warnings
    unstable = interim.load(examples / "crane-single.yaml", set={"cosim.coupling": "zoh", "cosim.macro_step": "10 ms"}).check()
    assert unstable.radius > 1.01 and unstable.warnings


def test_all_sections_have_a_method():
    model = interim.Model(run={"step": "1 ms", "duration": "10 ms"})
    model.parameter("k", "100 N/m").multibody(name="m", gravity=[0, 0, -9.81]).body("a", mass=1.0, inertia=[1, 1, 1])
    model.force("load", type="force", body="a", vector=[1, 0, 0])
    model.subsystem("control", type="control", step="1 ms", blocks={"half": "0.5 * time / (1 s)"})
    assert "half" in "".join(model.run())
