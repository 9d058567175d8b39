"""A running system, step by step."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Mapping, Sequence, Union

import numpy as np

from interim._library import NONE, NULL, check, ffi, lib, make_exception, new_error, text
from interim.results import Results, _explain

if TYPE_CHECKING:
    from interim.model import Model

_SLICE = 0.1  # s of wall time between two looks at Ctrl-C and progress
_VERDICTS = {
    lib.ITM_VERDICT_RUNNING: "running",
    lib.ITM_VERDICT_FINISHED: "finished",
    lib.ITM_VERDICT_INTERRUPTED: "interrupted",
    lib.ITM_VERDICT_BROKE_DOWN: "broke-down",
    lib.ITM_VERDICT_DOUBTFUL: "finished-with-doubts",
}
_CONTACT_STATES = {lib.ITM_CONTACT_OPEN: "open", lib.ITM_CONTACT_STICKING: "sticking", lib.ITM_CONTACT_SLIDING: "sliding"}
_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "min": 60.0, "h": 3600.0}

Duration = Union[float, str]


def seconds(value: Duration) -> float:
    """A time in seconds: a number, or text with a unit such as "10 ms"."""
    if not isinstance(value, str):
        return float(value)
    number = value.strip().rstrip("smuinh").strip()
    unit = value.strip()[len(number) :].strip()
    if not number or unit not in _UNITS:
        raise ValueError(f"'{value}' is not a time; write seconds as a number, or a unit as in '10 ms'")
    return float(number) * _UNITS[unit]


def vector(v: Any) -> np.ndarray:
    """ItmVec3 as an array."""
    return np.array([v.x, v.y, v.z])


class _Memory:
    """Memory of the library as an array without a copy; `owner` lives as long as the array."""

    def __init__(self, pointer: Any, shape: tuple[int, ...], owner: Any):
        self._owner = owner
        self.__array_interface__ = {
            "shape": shape,
            "typestr": "<f8",
            "data": (int(ffi.cast("uintptr_t", pointer)), True),
            "version": 3,
        }


def view(pointer: Any, shape: tuple[int, ...], owner: Any) -> np.ndarray:
    """A read-only array over memory of the library."""
    if pointer == NULL or 0 in shape:
        return np.zeros(shape)
    return np.asarray(_Memory(pointer, shape, owner))


class State:
    """A saved state of a system. Any simulation of the same model can be set to it: `sim.state = saved`."""

    def __init__(self, data: bytes, time: float):
        self._data = data
        #: time of the state, s
        self.time = time

    def __bytes__(self) -> bytes:
        return self._data

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and self._data == other._data

    def __repr__(self) -> str:
        return f"<State at {self.time:g} s, {len(self._data)} bytes>"


@dataclass(frozen=True)
class Contact:
    """A contact of the last step; vectors in world axes."""

    bodies: tuple[str, str]
    shapes: tuple[str, str]
    gap: float  # m, negative: penetration
    normal: np.ndarray  # from the first body to the second
    points: tuple[np.ndarray, np.ndarray]  # m
    impulse: np.ndarray  # on the second body, N s
    normal_impulse: float  # N s
    state: str  # "open", "sticking" or "sliding"


@dataclass(frozen=True)
class Body:
    """Motion of a body frame in the world."""

    name: str
    position: np.ndarray  # m
    quaternion: np.ndarray  # scalar first
    velocity: np.ndarray  # of the origin, m/s
    angular_velocity: np.ndarray  # rad/s

    @property
    def rotation(self) -> np.ndarray:
        """Rotation matrix: world = position + rotation @ body."""
        w, x, y, z = self.quaternion
        return np.array([
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ])


@dataclass(frozen=True)
class Interface:
    """A mechanism as its partners see it at an interface: frames in the section `interfaces`, actuators with a bond."""

    name: str
    directions: tuple[str, ...]
    W: np.ndarray  # mobility: velocities for unit impulses
    M_eff: np.ndarray  # effective mass, the (pseudo-)inverse of W
    eigenvalues: np.ndarray  # of W, ascending
    eigenvectors: np.ndarray  # by columns
    rank: int
    condition: float
    velocity: np.ndarray
    acceleration: np.ndarray  # without interface forces
    active_rows: tuple[str, ...]  # contacts, limits and friction that are part of W


@dataclass(frozen=True)
class Linear:
    """The step of a system, linearised: x(t + step) = A x + B u, y(t) = C x + D u, all as deviations."""

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    x: np.ndarray  # state at which it was linearised
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    step: float  # s

    @property
    def radius(self) -> float:
        """Spectral radius of A: above 1, a small disturbance grows."""
        return float(np.max(np.abs(np.linalg.eigvals(self.A)))) if self.A.size else 0.0


class Simulation:
    """A running system. Made by `Model.simulation()`.

        sim = model.simulation()
        while sim.time < 2.0:
            sim["hydraulics.valve1"] = 0.3
            sim.step()
            print(sim["crane.cyl1.length"])

    One thread at a time uses a simulation; different simulations may run in different threads.
    """

    def __init__(self, model: "Model"):
        self._model = model
        self._compiled = model._compile()
        self._bridges, self._cosim = self._compiled.build()
        self._values = np.zeros(lib.itm_cosim_get_output_count(self._cosim))
        self._values_pointer = ffi.from_buffer("double[]", self._values) if self._values.size else NULL
        self._is_current = False
        self._step = lib.itm_cosim_step
        self._is_free = self._find_free()
        self._output_index: dict[str, int] = {}
        self._input_index: dict[str, int] = {}

    # -------------------------------------------------------------------------- stepping

    def _find_free(self) -> bool:
        """Whether the mechanism, alone, chooses its steps."""
        stepper = self._compiled.file.run.step.stepper
        is_alone = lib.itm_cosim_get_mechanism_count(self._cosim) == 1 and lib.itm_cosim_get_subsystem_count(self._cosim) == 0
        return is_alone and stepper in (lib.ITM_STEPPER_VARIABLE, lib.ITM_STEPPER_ADAPTIVE)

    def _take_exception(self) -> BaseException | None:
        """The first exception that a subsystem in Python has raised since the last call."""
        found = [bridge.take_exception() for bridge in self._bridges.values()]
        return next((error for error in found if error is not None), None)

    def _fail(self, status: int) -> None:
        raised = self._take_exception()
        if raised is not None:
            raise raised
        raise make_exception(status, lib.itm_cosim_get_error(self._cosim))

    def step(self, n: int = 1) -> None:
        """Take n macro steps. Raises `StepError` if a step fails; the state is then that before the step."""
        self._is_current = False
        step = lib.itm_cosim_step_free if self._is_free else self._step
        cosim = self._cosim
        for _ in range(n):
            status = step(cosim)
            if status:
                self._fail(status)

    def reset(self) -> None:
        """Return to the initial state, time 0. Inputs return to their initial values, too."""
        self._is_current = False
        status = lib.itm_cosim_reset(self._cosim)
        if status:
            self._fail(status)

    @property
    def time(self) -> float:
        """Time, s."""
        if self._is_free:
            return lib.itm_data_get_time(lib.itm_cosim_get_data(self._cosim, 0))
        return lib.itm_cosim_get_time(self._cosim)

    @property
    def step_size(self) -> float:
        """Length of a step, s."""
        return lib.itm_cosim_get_step(self._cosim)

    def run(self, until: Duration | None = None, every: Duration | None = None, *,
            output: Union[str, os.PathLike[str], None] = None, progress: bool | None = None,
            keep: bool = True) -> Results:
        """Run from the current state and return the results.

        until: end of the run, s or text with a unit; default: that of the model.
        every: time between two rows; default: that of the model.
        output: also write a result file (.csv, .h5), with the data of the 3-D view.
        progress: show a progress bar (tqdm if it is installed); default: only on a terminal.
        keep: keep the rows in memory; False makes sense with `output` only.

        A run that breaks down or is interrupted (Ctrl-C) returns the results so far; see `Results.verdict` and `Results.reason`.
        """
        options = lib.itm_default_run_options(self._compiled.file)
        options.duration = options.duration if until is None else seconds(until)
        options.output_interval = options.output_interval if every is None else seconds(every)
        options.keeps_rows = keep
        path = ffi.new("char[]", os.fspath(output).encode()) if output is not None else NULL
        options.path = path
        handle, error = ffi.new("ItmRun**"), new_error()
        pointer = ffi.new("ItmRunOptions*", options)
        self._is_current = False
        check(lib.itm_run_create(handle, self._compiled.file, self._cosim, pointer, error), error)
        run = ffi.gc(handle[0], lib.itm_run_destroy)
        self._advance(run, _Progress(options.duration, progress))
        check(lib.itm_run_close(run), lib.itm_run_get_error(run))
        raised = self._take_exception()
        if raised is not None and not isinstance(raised, KeyboardInterrupt):
            raise raised
        info = lib.itm_run_get_info(run)
        verdict, reason = _VERDICTS[info.verdict], text(lib.itm_run_get_reason(run))
        if raised is not None:  # Ctrl-C within a subsystem in Python
            verdict, reason = "interrupted", f"interrupted at {info.time:.9g} s by the user"
        columns = [("time", "s", "time"), *self._describe_outputs()]
        rows = view(lib.itm_run_get_rows(run), (info.nrow if keep else 0, len(columns)), (run, self._compiled))
        return Results(rows, columns, verdict=verdict, reason=reason,
                       title=text(self._compiled.file.title), steps=info.nstep, wall_time=info.wall_time,
                       path=os.fspath(output) if output is not None else None)

    @staticmethod
    def _advance(run: Any, progress: "_Progress") -> None:
        try:
            # the library steps without the GIL, a slice of wall time at a time
            while lib.itm_run_get_info(run).verdict == lib.ITM_VERDICT_RUNNING:
                check(lib.itm_run_advance(run, _SLICE), lib.itm_run_get_error(run))
                progress.update(lib.itm_run_get_info(run).time)
        except KeyboardInterrupt:
            lib.itm_run_stop(run, NULL)
        finally:
            progress.close()

    # -------------------------------------------------------------------------- inputs and outputs

    def _describe_outputs(self) -> list[tuple[str, str, str]]:
        infos = (lib.itm_cosim_get_output_info(self._cosim, i) for i in range(len(self._values)))
        return [(text(info.name), text(info.unit), text(info.description)) for info in infos]

    @property
    def outputs(self) -> list[str]:
        """Names of all outputs."""
        return [name for name, _, _ in self._describe_outputs()]

    @property
    def inputs(self) -> list[str]:
        """Names of all inputs: inputs of subsystems, actuators without a bond, external signals of mechanisms."""
        return [text(lib.itm_cosim_get_input_info(self._cosim, i).name)
                for i in range(lib.itm_cosim_get_input_count(self._cosim))]

    @property
    def values(self) -> np.ndarray:
        """Current values of all outputs, in the order of `outputs`. The array changes with the next read."""
        if not self._is_current and self._values.size:
            check(lib.itm_cosim_compute_outputs(self._cosim, self._values_pointer), lib.itm_cosim_get_error(self._cosim))
            raised = self._take_exception() if self._bridges else None
            if raised is not None:
                raise raised
            self._is_current = True
        return self._values

    def _find_output(self, name: str) -> int:
        index = self._output_index.get(name)
        if index is None:
            index = self._output_index[name] = lib.itm_cosim_find_output(self._cosim, name.encode())
        return index

    def _find_input(self, name: str) -> int:
        index = self._input_index.get(name)
        if index is None:
            index = self._input_index[name] = lib.itm_cosim_find_input(self._cosim, name.encode())
        return index

    def __getitem__(self, name: str) -> float:
        """Current value of an output, or of an input."""
        index = self._find_output(name)
        if index != NONE:
            return float(self.values[index])
        index = self._find_input(name)
        if index == NONE:
            raise KeyError(_explain(name, dict.fromkeys(self.outputs + self.inputs)))
        return lib.itm_cosim_get_input_value(self._cosim, index)

    def __setitem__(self, name: str, value: float) -> None:
        """Set an input. It keeps its value until it is set again."""
        index = self._find_input(name)
        if index == NONE:
            raise KeyError(_explain(name, dict.fromkeys(self.inputs)))
        self._is_current = False
        status = lib.itm_cosim_set_input_value(self._cosim, index, value)
        if status:
            self._fail(status)

    # -------------------------------------------------------------------------- state

    @property
    def state(self) -> State:
        """The whole state, to restore later: `saved = sim.state; ...; sim.state = saved`. It continues bit for bit."""
        size = lib.itm_cosim_get_state_size(self._cosim)
        data = ffi.new("char[]", size)
        check(lib.itm_cosim_save(self._cosim, data, size), lib.itm_cosim_get_error(self._cosim))
        return State(bytes(ffi.buffer(data, size)), self.time)

    @state.setter
    def state(self, state: State) -> None:
        data = bytes(state)
        self._is_current = False
        check(lib.itm_cosim_restore(self._cosim, data, len(data)), lib.itm_cosim_get_error(self._cosim))

    def copy(self) -> "Simulation":
        """An independent simulation of the same model in the same state."""
        twin = Simulation(self._model)
        twin.state = self.state
        return twin

    def subsystem(self, name: str) -> Any:
        """The running instance of a subsystem or controller written in Python."""
        return self._bridges[name].part

    # -------------------------------------------------------------------------- mechanisms

    @property
    def mechanisms(self) -> list[str]:
        """Names of the mechanisms; "" for one without a name."""
        return [text(lib.itm_cosim_get_mechanism_name(self._cosim, i))
                for i in range(lib.itm_cosim_get_mechanism_count(self._cosim))]

    def _mechanism(self, name: str | None) -> tuple[Any, Any]:
        names = self.mechanisms
        if name is None and len(names) == 1:
            name = names[0]
        if name not in names:
            raise ValueError(f"mechanism {name!r}: expected one of {', '.join(map(repr, names)) or 'none'}")
        i = names.index(name)
        return lib.itm_cosim_get_model(self._cosim, i), lib.itm_cosim_get_data(self._cosim, i)

    def _body(self, model: Any, name: str) -> int:
        index = lib.itm_model_find_body(model, name.encode())
        if index == NONE:
            raise KeyError(_explain(name, dict.fromkeys(self._body_names(model))))
        return index

    @staticmethod
    def _body_names(model: Any) -> list[str]:
        return [text(lib.itm_model_get_body_name(model, i)) for i in range(lib.itm_model_get_info(model).nbody)]

    def q(self, mechanism: str | None = None) -> np.ndarray:
        """Position coordinates, a live read-only view."""
        model, data = self._mechanism(mechanism)
        return view(lib.itm_data_get_q(data), (lib.itm_model_get_info(model).nq,), self)

    def v(self, mechanism: str | None = None) -> np.ndarray:
        """Velocity coordinates, a live read-only view."""
        model, data = self._mechanism(mechanism)
        return view(lib.itm_data_get_v(data), (lib.itm_model_get_info(model).nv,), self)

    def set_qv(self, q: Sequence[float], v: Sequence[float], mechanism: str | None = None, *, assemble: bool = True) -> None:
        """Set coordinates and velocities. assemble: close all joints afterwards, with the smallest change."""
        model, data = self._mechanism(mechanism)
        info = lib.itm_model_get_info(model)
        q_array, v_array = _array(q, info.nq, "q"), _array(v, info.nv, "v")
        self._is_current = False
        check(lib.itm_data_set_qv(model, data, ffi.from_buffer("double[]", q_array), ffi.from_buffer("double[]", v_array)),
              lib.itm_data_get_error(data))
        if assemble:
            check(lib.itm_assemble_data(model, data), lib.itm_data_get_error(data))

    def coordinate(self, joint: str, mechanism: str | None = None) -> tuple[int, int]:
        """Index of the first coordinate of a joint in q and in v; (-1, -1) if the joint has no coordinates (it is a constraint)."""
        model, _ = self._mechanism(mechanism)
        index = lib.itm_model_find_joint(model, joint.encode())
        if index == NONE:
            raise KeyError(f"there is no joint '{joint}'")
        return lib.itm_model_get_joint_q_adr(model, index), lib.itm_model_get_joint_v_adr(model, index)

    def body(self, name: str, mechanism: str | None = None) -> Body:
        """Pose and velocity of a body."""
        model, data = self._mechanism(mechanism)
        index = self._body(model, name)
        pose = lib.itm_data_get_body_pose(model, data, index)
        return Body(name, vector(pose.p), np.array([pose.q.w, pose.q.x, pose.q.y, pose.q.z]),
                    vector(lib.itm_data_get_body_velocity(model, data, index)),
                    vector(lib.itm_data_get_body_angular_velocity(model, data, index)))

    @property
    def contacts(self) -> list[Contact]:
        """Contacts of the last step, of all mechanisms."""
        found = []
        for name in self.mechanisms:
            model, data = self._mechanism(name)
            bodies = self._body_names(model)
            for i in range(lib.itm_contact_get_count(data)):
                info = lib.itm_contact_get_info(data, i)
                pair = [bodies[k] if k != lib.ITM_GROUND else "ground" for k in (info.body_a, info.body_b)]
                found.append(Contact((pair[0], pair[1]), (text(info.name_a), text(info.name_b)), info.point.gap,
                                     vector(info.point.normal), (vector(info.point.point_a), vector(info.point.point_b)),
                                     vector(info.impulse), info.normal_impulse, _CONTACT_STATES[info.state]))
        return found

    def latch(self, name: str, closed: bool, mechanism: str | None = None) -> None:
        """Close or open a latch."""
        model, data = self._mechanism(mechanism)
        index = lib.itm_latch_find(model, name.encode())
        if index == NONE:
            raise KeyError(f"there is no latch '{name}'")
        self._is_current = False
        check(lib.itm_latch_set(model, data, index, closed), lib.itm_data_get_error(data))

    def mass_matrix(self, mechanism: str | None = None) -> np.ndarray:
        """Mass matrix M (nv x nv); kinetic energy is v @ M @ v / 2."""
        model, data = self._mechanism(mechanism)
        n = lib.itm_model_get_info(model).nv
        M = np.zeros((n, n))
        check(lib.itm_dynamics_compute_mass_matrix(model, data, _pointer(M)), lib.itm_data_get_error(data))
        return M

    def jacobian(self, body: str, point: Sequence[float] = (0.0, 0.0, 0.0), mechanism: str | None = None) -> np.ndarray:
        """Jacobian (6 x nv) of a point of a body (in the body frame): J @ v is the velocity of the point and the angular velocity
        of the body, world axes."""
        model, data = self._mechanism(mechanism)
        J = np.zeros((6, lib.itm_model_get_info(model).nv))
        status = lib.itm_dynamics_compute_jacobian(model, data, _pointer(J), self._body(model, body), tuple(map(float, point)))
        check(status, lib.itm_data_get_error(data))
        return J

    def inverse_dynamics(self, acceleration: Sequence[float],
                         external: Mapping[str, tuple[Sequence[float], Sequence[float]]] | None = None,
                         mechanism: str | None = None) -> np.ndarray:
        """Generalised forces (nv) that give the current state these accelerations (nv), in addition to gravity, loads and springs.

        external: (force, torque) on bodies by name, at the origins of their frames, world axes."""
        model, data = self._mechanism(mechanism)
        info = lib.itm_model_get_info(model)
        tau = np.zeros(info.nv)
        wrenches = NULL
        if external:
            wrenches = ffi.new("ItmWrench[]", info.nbody)
            for name, (force, torque) in external.items():
                i = self._body(model, name)
                wrenches[i].force, wrenches[i].torque = tuple(map(float, force)), tuple(map(float, torque))
        given = _array(acceleration, info.nv, "acceleration")
        check(lib.itm_dynamics_compute_inverse(model, data, _pointer(tau), _pointer(given), wrenches), lib.itm_data_get_error(data))
        return tau

    def forward_dynamics(self, mechanism: str | None = None) -> np.ndarray:
        """Accelerations (nv) of the current state under applied and constraint forces, without contacts."""
        model, data = self._mechanism(mechanism)
        v_dot = np.zeros(lib.itm_model_get_info(model).nv)
        check(lib.itm_dynamics_compute_forward(model, data, _pointer(v_dot)), lib.itm_data_get_error(data))
        return v_dot

    # -------------------------------------------------------------------------- coupling

    def interface(self, name: str) -> Interface:
        """Mobility and effective mass at an interface, "arm.flange", or at an actuator with a bond, "arm.cyl1"."""
        known = []
        saved = self.state
        try:
            for i in range(lib.itm_cosim_get_interface_count(self._cosim)):
                it = ffi.new("ItmInterfaceView*")
                check(lib.itm_cosim_inspect(self._cosim, i, it), lib.itm_cosim_get_error(self._cosim))
                mechanism, own = text(it.mechanism), text(it.name)
                known.append(f"{mechanism}.{own}" if mechanism else own)
                if known[-1] == name:
                    return self._read_interface(name, it)
        finally:
            self.state = saved
        raise KeyError(_explain(name, dict.fromkeys(known)))

    def _read_interface(self, name: str, it: Any) -> Interface:
        n = it.n
        rows = []
        while (row := lib.itm_cosim_get_active_row(self._cosim, len(rows))) != NULL:
            rows.append(text(row))

        def take(field: Any, count: int) -> np.ndarray:
            return np.array([field[k] for k in range(count)])

        return Interface(name, tuple(text(lib.itm_model_direction_name(it.direction[k])) for k in range(n)),
                         take(it.W, n * n).reshape(n, n), take(it.M_eff, n * n).reshape(n, n), take(it.value, n),
                         take(it.vector, n * n).reshape(n, n), it.rank, it.condition, take(it.velocity, n),
                         take(it.acceleration, n), tuple(rows))

    @property
    def interfaces(self) -> list[str]:
        """Names of all interfaces."""
        names = []
        saved = self.state
        for i in range(lib.itm_cosim_get_interface_count(self._cosim)):
            it = ffi.new("ItmInterfaceView*")
            check(lib.itm_cosim_inspect(self._cosim, i, it), lib.itm_cosim_get_error(self._cosim))
            mechanism, own = text(it.mechanism), text(it.name)
            names.append(f"{mechanism}.{own}" if mechanism else own)
        self.state = saved
        return names

    def linearise(self, inputs: Sequence[str] = (), outputs: Sequence[str] = ()) -> Linear:
        """Linearise the step about the current state, from `inputs` to `outputs`. The state does not change."""
        u = [self._find_input(name) for name in inputs]
        y = [self._find_output(name) for name in outputs]
        for name, index in zip((*inputs, *outputs), (*u, *y)):
            if index == NONE:
                raise KeyError(_explain(name, dict.fromkeys(self.inputs + self.outputs)))
        handle = ffi.new("ItmLinear**")
        status = lib.itm_linear_create(handle, self._cosim, ffi.new("int[]", u or [0]), len(u), ffi.new("int[]", y or [0]), len(y))
        self._is_current = False
        if status:
            self._fail(status)
        linear = ffi.gc(handle[0], lib.itm_linear_destroy)
        n = linear.nstate

        def take(pointer: Any, *shape: int) -> np.ndarray:
            return np.array(view(pointer, shape, linear))

        names = tuple(text(linear.names[i]) for i in range(n))
        return Linear(take(linear.A, n, n), take(linear.B, n, len(u)), take(linear.C, len(y), n), take(linear.D, len(y), len(u)),
                      take(linear.x, n), names, tuple(inputs), tuple(outputs), linear.step)

    def spectral_radius(self, steps: int = 1) -> float:
        """Growth of a small disturbance per macro step, about the current state: above 1 the coupling is unstable."""
        radius = ffi.new("double*")
        status = lib.itm_cosim_compute_radius(self._cosim, steps, radius)
        if status:
            self._fail(status)
        return radius[0]

    @property
    def doubts(self) -> list[str]:
        """Quantities that have left their bounds so far, one sentence each."""
        found = []
        for i in range(lib.itm_cosim_get_doubt_count(self._cosim)):
            doubt, sentence = ffi.new("ItmDoubt*", lib.itm_cosim_get_doubt(self._cosim, i)), ffi.new("char[]", 400)
            lib.itm_verdict_describe_doubt(doubt, sentence, 400)
            found.append(text(sentence))
        return found


def _pointer(array: np.ndarray) -> Any:
    return ffi.from_buffer("double[]", array) if array.size else NULL


def _array(values: Sequence[float], n: int, name: str) -> np.ndarray:
    array = np.ascontiguousarray(values, dtype=float)
    if array.shape != (n,):
        raise ValueError(f"{name} has {n} values, got an array of shape {array.shape}")
    return array


class _Progress:
    """A progress bar: tqdm if it is installed, a plain line otherwise; nothing off a terminal unless asked for."""

    def __init__(self, duration: float, wanted: bool | None):
        self._duration = duration
        self._is_shown = sys.stderr.isatty() if wanted is None else wanted
        self._start = time.monotonic()
        self._bar: Any = None
        self._has_drawn = False
        if self._is_shown:
            try:
                import tqdm

                self._bar = tqdm.tqdm(total=duration, unit="s", bar_format="{l_bar}{bar}| {n:.4g} of {total:.4g} s [{remaining}]")
            except ImportError:
                pass

    def update(self, now: float) -> None:
        if self._bar is not None:
            self._bar.update(now - self._bar.n)
        elif self._is_shown and self._duration > 0.0:
            share = min(1.0, now / self._duration)
            spent = time.monotonic() - self._start
            left = f"{spent * (1.0 - share) / share:.0f} s left" if share > 0.0 else ""
            sys.stderr.write(f"\r{100 * share:3.0f} %  {now:.4g} of {self._duration:.4g} s  {left}   ")
            sys.stderr.flush()
            self._has_drawn = True

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
        elif self._has_drawn:
            sys.stderr.write("\n")
