"""Models: from files, from text, or built in Python in the words of the model file."""

from __future__ import annotations

import copy
import json
import os
from dataclasses import dataclass, field
from typing import Any, Mapping, Sequence, Union

import numpy as np

from interim._library import NULL, check, ffi, lib, new_error, text
from interim.errors import ModelError
from interim.results import Results
from interim.simulation import Duration, Simulation, seconds
from interim.subsystem import Controller, Subsystem, _Bridge, _Part

Value = Any  # what a model file may hold: numbers, text with units, lists, mappings

_COUPLINGS = {text(lib.itm_cosim_coupling_name(i)): i for i in range(lib.ITM_COUPLING_COUNT)}
_NEUTRAL = 1.0 + 1e-6  # a radius up to this is no growth: differences have an error of this size
_EXCHANGES = {text(lib.itm_cosim_exchange_name(i)): i for i in range(lib.ITM_EXCHANGE_COUNT)}


@dataclass(frozen=True)
class _Attachment:
    """A subsystem in Python with its connections."""

    name: str
    part: _Part
    step: float
    bonds: Mapping[str, str]
    wires: Mapping[str, str]
    coupling: str
    exchange: str


@dataclass
class Check:
    """What `Model.check` found. Printing it gives a summary."""

    title: str
    mechanisms: dict[str, dict[str, Any]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    step: float = 0.0
    duration: float = 0.0
    radius: float | None = None  # of the macro step, for coupled systems; above 1 is unstable
    unlinearised: list[str] = field(default_factory=list)  # subsystems that the radius leaves out
    acceleration: float = 0.0  # of the fastest body after one step, m/s^2: 0 for a static start
    warnings: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [self.title or "model"]
        for name, it in self.mechanisms.items():
            lines.append(f"mechanism    {name or '(no name)'}: {it['bodies']} bodies, {it['joints']} joints, "
                         f"{it['degrees_of_freedom']} degrees of freedom, {it['redundant']} redundant constraints")
        lines.append(f"run          {self.duration:g} s in steps of {self.step:g} s")
        if self.radius is not None:
            lines.append(f"radius       {self.radius:.6g} per macro step" + ("" if self.radius <= _NEUTRAL else ": unstable"))
        lines += [f"note: {note}" for note in self.notes] + [f"warning: {warning}" for warning in self.warnings]
        return "\n".join(lines)


class _Compiled:
    """A model file that the library has read, and the attachments that go with it."""

    def __init__(self, file: Any, attachments: Sequence[_Attachment]):
        self.file = ffi.gc(file, lib.itm_file_destroy)
        self.attachments = tuple(attachments)

    def build(self) -> tuple[dict[str, _Bridge], Any]:
        """A system in its initial state, with instances of its own of all subsystems in Python."""
        handle, error = ffi.new("ItmCosimBuilder**"), new_error()
        check(lib.itm_file_create_builder(handle, self.file, error), error)
        builder = ffi.gc(handle[0], lib.itm_cosim_builder_destroy)
        bridges = {attachment.name: self._attach(builder, attachment, error) for attachment in self.attachments}
        for attachment in self.attachments:
            for target, source in attachment.wires.items():
                check(lib.itm_cosim_builder_add_wire(builder, source.encode(), target.encode(), error), error)
        cosim = ffi.new("ItmCosim**")
        status = lib.itm_file_build_cosim(cosim, self.file, builder, NULL, error)
        for bridge in bridges.values():
            raised = bridge.take_exception()
            if raised is not None:
                lib.itm_cosim_destroy(cosim[0])
                raise raised
        check(status, error)
        keep = (bridges, self)

        def destroy(system: Any, keep: Any = keep) -> None:
            lib.itm_cosim_destroy(system)

        return bridges, ffi.gc(cosim[0], destroy)

    def _attach(self, builder: Any, it: _Attachment, error: Any) -> _Bridge:
        bridge = _Bridge(it.part)
        index = ffi.new("int*")
        check(lib.itm_cosim_builder_add_subsystem(builder, it.name.encode(), bridge.table, it.step, index, error), error)
        options = ffi.new("ItmBondOptions*", lib.itm_default_bond_options())
        options.coupling = _COUPLINGS[it.coupling]
        options.exchange = _EXCHANGES[it.exchange]
        names = [text(self.file.mechanisms[i].name) for i in range(self.file.nmechanism)]
        for actuator, port in it.bonds.items():
            mechanism, _, own = actuator.rpartition(".")
            if mechanism not in names:
                raise ModelError(f"bond '{actuator}': there is no mechanism '{mechanism}'", field=actuator)
            check(lib.itm_cosim_builder_add_bond(builder, names.index(mechanism), own.encode(), index[0], port.encode(), options,
                                                 error), error)
        return bridge


class Model:
    """A model of a machine.

        model = interim.load("crane.yaml", set={"cosim.macro_step": "10 ms"})

    or built in Python, in the words of the model file (docs/reference/model-file.md):

        model = interim.Model(title="pendulum", run={"step": "1 ms", "duration": "5 s"})
        model.multibody(gravity=[0, 0, -9.81])
        model.body("rod", mass="2 kg", com=[0.5, 0, 0], inertia=[0.01, 0.2, 0.2])
        model.joint("hinge", type="revolute", bodies=["ground", "rod"], at=[0, 0, 0], axis=[0, 1, 0])

    Numbers are SI; text may have units. Numpy arrays and numbers are accepted.
    """

    def __init__(self, description: Mapping[str, Value] | None = None, *, set: Mapping[str, Value] | None = None,
                 **sections: Value):
        self._description: dict[str, Any] | None = _plain({**(description or {}), **sections})
        self._text: str | None = None
        self._path: str | None = None
        self._overrides: dict[str, Value] = dict(set or {})
        self._attachments: list[_Attachment] = []
        self._compiled: _Compiled | None = None

    @classmethod
    def from_text(cls, text: str, *, set: Mapping[str, Value] | None = None) -> "Model":
        """A model from the text of a model file (YAML)."""
        model = cls(set=set)
        model._description, model._text = None, text
        model._compile()
        return model

    @classmethod
    def _from_file(cls, path: str, overrides: Mapping[str, Value] | None) -> "Model":
        model = cls(set=overrides)
        model._description, model._path = None, path
        model._compile()
        return model

    # -------------------------------------------------------------------------- building

    def add(self, section: str, name: str, **keys: Value) -> "Model":
        """Add an element to a section, by its path: `model.add("multibody.bodies", "rod", mass=2.0)`. Returns the model.

        A trailing underscore is dropped from keys that are words of Python."""
        if self._description is None:
            raise TypeError("only models built in Python can be extended; use set= to change values of a file")
        place = self._description
        for word in section.split("."):
            place = place.setdefault(word, {})
        place[name] = _plain({key.rstrip("_"): value for key, value in keys.items()})
        self._compiled = None
        return self

    def section(self, path: str, **keys: Value) -> "Model":
        """Set keys of a section: `model.section("run", step="1 ms")`. Returns the model."""
        if self._description is None:
            raise TypeError("only models built in Python can be extended; use set= to change values of a file")
        place = self._description
        for word in path.split("."):
            place = place.setdefault(word, {})
        place.update(_plain(keys))
        self._compiled = None
        return self

    def multibody(self, **keys: Value) -> "Model":
        """Keys of the mechanism: name, gravity, coordinates, ..."""
        return self.section("multibody", **keys)

    def body(self, name: str, **keys: Value) -> "Model":
        """Add a body to the mechanism."""
        return self.add("multibody.bodies", name, **keys)

    def joint(self, name: str, **keys: Value) -> "Model":
        """Add a joint."""
        return self.add("multibody.joints", name, **keys)

    def force(self, name: str, **keys: Value) -> "Model":
        """Add a force: load, spring, actuator, ..."""
        return self.add("multibody.forces", name, **keys)

    def motion(self, name: str, **keys: Value) -> "Model":
        """Add a prescribed motion or a joint torque."""
        return self.add("multibody.motions", name, **keys)

    def subsystem(self, name: str, **keys: Value) -> "Model":
        """Add a subsystem of the file: hydraulics, control, multibody."""
        return self.add("subsystems", name, **keys)

    def signal(self, name: str, value: Value = None, **kind: Value) -> "Model":
        """Add a signal: `model.signal("torque", external="0 N m")`, `model.signal("push", "250 N")`."""
        self.section("signals", **{name: value if value is not None else kind})
        return self

    def parameter(self, name: str, value: Value) -> "Model":
        """Add a parameter that values may use."""
        return self.section("parameters", **{name: value})

    def to_dict(self) -> dict[str, Any]:
        """The description of a model built in Python."""
        if self._description is None:
            raise TypeError("the model was read from a file or text")
        return copy.deepcopy(self._description)

    def attach(self, name: str, part: Union[Subsystem, Controller], *, step: Duration = 0.0,
               bonds: Mapping[str, str] | None = None, wires: Mapping[str, str] | None = None, coupling: str = "rim",
               exchange: str = "impulse") -> "Model":
        """Add a subsystem or controller written in Python. Every simulation gets a copy of `part`. Returns the model.

        step: micro step or sample time; 0: the macro step.
        bonds: actuators of mechanisms to ports of the subsystem: {"arm.cyl1": "end"}.
        wires: inputs to outputs, full names: {"hydraulics.valve1": "speed.valve", "speed.rate": "arm.cyl1.rate"}.
        coupling, exchange: of the bonds, as in the section cosim.
        """
        for word, known in ((coupling, _COUPLINGS), (exchange, _EXCHANGES)):
            if word not in known:
                raise ValueError(f"'{word}' is not one of {', '.join(known)}")
        self._attachments.append(_Attachment(name, part, seconds(step), dict(bonds or {}), dict(wires or {}), coupling, exchange))
        self._compiled = None
        return self

    def copy(self, set: Mapping[str, Value] | None = None) -> "Model":
        """The same model with further values changed: `model.copy(set={"run.step": "2 ms"})`."""
        twin = copy.copy(self)
        twin._description = copy.deepcopy(self._description)
        twin._overrides = {**self._overrides, **(set or {})}
        twin._attachments = list(self._attachments)
        twin._compiled = None
        return twin

    # -------------------------------------------------------------------------- compiling

    def _compile(self) -> _Compiled:
        if self._compiled is None:
            handle, error = ffi.new("ItmModelFile**"), new_error()
            strings = [ffi.new("char[]", f"{key}={_format(value)}".encode()) for key, value in self._overrides.items()]
            overrides = ffi.new("char*[]", strings or [NULL])
            if self._path is not None:
                check(lib.itm_file_load(handle, self._path.encode(), overrides, len(strings), error), error)
            else:
                self._parse(handle, overrides, len(strings), error)
            self._compiled = _Compiled(handle[0], self._attachments)
        return self._compiled

    def _parse(self, handle: Any, overrides: Any, noverride: int, error: Any) -> None:
        # JSON is YAML; a line per value gives errors a place
        source = self._text if self._text is not None else json.dumps(self._description, indent=1)
        data = source.encode()
        try:
            check(lib.itm_file_parse(handle, data, len(data), b"model", overrides, noverride, error), error)
        except ModelError as found:
            if self._text is not None or found.file != "model":
                raise
            path = _find_path(source, found.line)
            raise ModelError(f"{path}: {found.message}" if path else found.message, status=found.status,
                             field=found.field or path) from None

    @property
    def title(self) -> str:
        """Title of the model."""
        return text(self._compile().file.title)

    @property
    def duration(self) -> float:
        """Duration of a run, s."""
        return self._compile().file.run.duration

    # -------------------------------------------------------------------------- using

    def simulation(self) -> Simulation:
        """A running instance in its initial state, to step by hand."""
        return Simulation(self)

    def run(self, until: Duration | None = None, every: Duration | None = None, *,
            output: Union[str, os.PathLike[str], None] = None, progress: bool | None = None, keep: bool = True) -> Results:
        """Run from the initial state and return the results; see `Simulation.run`."""
        return self.simulation().run(until, every, output=output, progress=progress, keep=keep)

    def check(self) -> Check:
        """Read, compile and assemble the model, and look at its start: sizes, redundant constraints, static equilibrium, spectral
        radius of the macro step. Raises `ModelError` if the model is not valid. `interim check` tries all couplings as well."""
        file, sim = self._compile().file, self.simulation()
        found = Check(self.title, step=sim.step_size, duration=file.run.duration)
        for name in sim.mechanisms:
            info = lib.itm_model_get_info(sim._mechanism(name)[0])
            found.mechanisms[name] = {"bodies": info.nbody, "joints": info.njoint, "degrees_of_freedom": info.freedom,
                                      "redundant": info.nredundant, "mass": info.mass, "q": info.nq, "v": info.nv}
        found.notes = [text(file.notes[i]) for i in range(file.nnote)]
        residual = lib.itm_cosim_check_static(sim._cosim)
        found.acceleration = residual.acceleration
        if residual.is_broken:
            found.warnings.append("the first step fails")
        if lib.itm_cosim_get_bond_count(sim._cosim) + lib.itm_cosim_get_frame_bond_count(sim._cosim) > 0:
            self._check_coupling(sim, found)
        return found

    @staticmethod
    def _check_coupling(sim: Simulation, found: Check) -> None:
        while (name := lib.itm_cosim_get_unlinearised(sim._cosim, len(found.unlinearised))) != NULL:
            found.unlinearised.append(text(name))
        try:
            found.radius = sim.spectral_radius()
        except RuntimeError as error:
            found.warnings.append(f"the macro step cannot be linearised: {error}")
            return
        if found.radius > _NEUTRAL:
            found.warnings.append(f"small disturbances grow by a factor {found.radius:.4g} per macro step at the start")

    def __repr__(self) -> str:
        origin = self._path or ("text" if self._text is not None else "built in Python")
        return f"<Model {self.title!r} ({origin})>"


def load(path: Union[str, os.PathLike[str]], set: Mapping[str, Value] | None = None) -> Model:
    """Load a model file (.yaml, or .urdf for a robot alone).

    set: values to change, by their path in the file: {"cosim.macro_step": "10 ms", "parameters.m": "250 kg"}.
    Raises `ModelError` with file, line and column."""
    return Model._from_file(os.fspath(path), set)


def _plain(value: Any) -> Any:
    """Numpy numbers and arrays, tuples and nested mappings as what JSON has."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        return value.item()
    return value


def _find_path(source: str, line: int) -> str:
    """Path of keys of a line of JSON with an indent of 1: "multibody.bodies.rod.mass"."""
    path: list[str] = []
    for text_line in source.splitlines()[:line]:
        depth = len(text_line) - len(text_line.lstrip())
        key = text_line.strip().partition('":')[0] if '":' in text_line else ""
        path = path[: max(0, depth - 1)] + ([key.lstrip('"')] if key else [])
    return ".".join(path)


def _format(value: Any) -> str:
    """A value as an override has it."""
    plain = _plain(value)
    return plain if isinstance(plain, str) else json.dumps(plain)
