"""Subsystems and controllers written in Python."""

from __future__ import annotations

import copy
from typing import Any, Sequence, Union

import numpy as np

from interim._library import NULL, ffi, lib

Floats = Union[float, Sequence[float], np.ndarray]


class _Part:
    """What subsystems and controllers share: names, state, inputs and outputs."""

    #: names of the inputs, which wires or `sim["name.input"] = value` set
    inputs: Sequence[str] = ()
    #: names of the outputs, or (name, unit, description)
    outputs: Sequence[Union[str, tuple[str, str, str]]] = ()
    #: number of values of `self.state`
    state_size: int = 0

    #: All values that change from step to step, a numpy array of floats. The system saves and restores it. Other attributes that
    #: `step` changes would not be restored.
    state: np.ndarray
    #: current values of the inputs
    input: np.ndarray

    def reset(self) -> None:
        """Set the initial values of `self.state`; it is all zeros when this is called."""


class Subsystem(_Part):
    """A subsystem with power ports, coupled like a hydraulic circuit. Subclass it and write `step`:

        class Spring(interim.Subsystem):
            ports = ["end"]

            def step(self, t, h, length, rate):
                return -2e5 * (length + h * rate - 0.4) - 1e3 * rate

    With one port, `length`, `rate` and the force are floats; with several, arrays. See `Model.attach`.
    """

    #: names of the power ports
    ports: Sequence[str] = ("port",)

    def step(self, t: float, h: float, length: Any, rate: Any) -> Floats:
        """Advance `self.state` from t to t + h while the ports move from `length` (m) with constant `rate` (m/s), and return the
        forces at the end (N, > 0 lengthens). h = 0: change nothing, return the forces now."""
        raise NotImplementedError

    def output(self, t: float) -> Floats:
        """Current values of `outputs`."""
        return ()


class Controller(_Part):
    """A sampled controller: subclass it, name `inputs` and `outputs`, and write `sample`:

        class Speed(interim.Controller):
            inputs = ["rate"]
            outputs = ["valve"]

            def sample(self, t, h, inputs):
                return [0.8 * (0.1 - inputs[0])]
    """

    def sample(self, t: float, h: float, inputs: np.ndarray) -> Floats:
        """Return the outputs at time t from `self.state` and the inputs at t; then advance the state by the sample time h.
        h = 0: change nothing, return the outputs."""
        raise NotImplementedError


# ------------------------------------------------------------------------------ bridge to the C table


class _Bridge:
    """The table of functions of one part in one system. It keeps alive everything that the table points to."""

    def __init__(self, prototype: _Part):
        part = copy.deepcopy(prototype)
        self.part = part
        self.exception: BaseException | None = None
        self._is_controller = isinstance(part, Controller)
        self._nport = 0 if self._is_controller else len(part.ports)
        # one block, which the system saves and restores: state, outputs of the last sample, forces, time, whether forces are valid
        n, noutput = part.state_size, len(part.outputs)
        self._block = np.zeros(n + noutput + self._nport + 2)
        self._state = part.state = self._block[:n]
        self._values = self._block[n : n + noutput]
        self._force = self._block[n + noutput : -2]
        part.input = self._input = np.zeros(len(part.inputs))
        self._length = np.zeros(self._nport)
        self._rate = np.zeros(self._nport)
        self._reset_part()
        self._keep: list[Any] = []
        self.table = self._make_table()

    def _reset_part(self) -> None:
        self._block[:] = 0.0
        self.part.reset()

    # each callback catches: an exception must not cross C; Simulation raises it after the step has failed
    def _guard(self, function: Any, fallback: Any = None) -> Any:
        def guarded(*arguments: Any) -> Any:
            try:
                return function(*arguments)
            except BaseException as error:  # noqa: BLE001  (KeyboardInterrupt included: it ends the run)
                self.exception = self.exception or error
                return fallback

        return guarded

    def _evaluate(self, t: float, h: float) -> None:
        if self._nport == 1:
            self._force[0] = self.part.step(t, h, float(self._length[0]), float(self._rate[0]))
        elif self._nport > 1:
            self._force[:] = self.part.step(t, h, self._length.copy(), self._rate.copy())
        else:
            self.part.step(t, h, self._length, self._rate)
        self._block[-1] = 1.0

    def _set_motion(self, _self: Any, s: Any, w: Any, w_end: Any) -> None:
        for i in range(self._nport):
            self._length[i] = s[i]
            self._rate[i] = w[i]
        self._block[-1] = 0.0

    def _get_forces(self, _self: Any, force: Any) -> None:
        for i in range(self._nport):
            force[i] = float("nan")
        if self._block[-1] == 0.0:
            self._evaluate(float(self._block[-2]), 0.0)
        for i in range(self._nport):
            force[i] = self._force[i]

    def _set_inputs(self, _self: Any, u: Any) -> None:
        for i in range(len(self._input)):
            self._input[i] = u[i]

    def _get_outputs(self, _self: Any, y: Any) -> None:
        if not self._is_controller and len(self._values) > 0:
            self._values[:] = self.part.output(float(self._block[-2]))
        for i in range(len(self._values)):
            y[i] = self._values[i]

    def _do_step(self, _self: Any, t: float, h: float, error: Any) -> int:
        try:
            if self.exception is not None:  # of a callback that cannot fail by itself
                raise self.exception
            self._block[-2] = t + h
            if self._is_controller:
                self._values[:] = self.part.sample(t, h, self._input)
            else:
                self._evaluate(t, h)
            return lib.ITM_OK
        except BaseException as raised:  # noqa: BLE001
            self.exception = self.exception or raised
            message = f"{type(raised).__name__}: {raised}".encode()[:700]
            ffi.memmove(error.message, message + b"\0", len(message) + 1)
            return lib.ITM_ERR_DIVERGED

    def _get_states(self, _self: Any, x: Any) -> None:
        ffi.memmove(x, self._state, self._state.nbytes)

    def _set_states(self, _self: Any, x: Any) -> None:
        ffi.memmove(self._state, x, self._state.nbytes)
        self._block[-1] = 0.0

    def _names(self, names: Sequence[str]) -> Any:
        strings = [ffi.new("char[]", name.encode()) for name in names]
        array = ffi.new("char*[]", strings or [NULL])
        self._keep += [strings, array]
        return array

    def _make_outputs(self) -> Any:
        array = ffi.new("ItmOutputInfo[]", max(1, len(self.part.outputs)))
        for i, output in enumerate(self.part.outputs):
            fields = (output, "", "") if isinstance(output, str) else output
            strings = [ffi.new("char[]", field.encode()) for field in fields]
            array[i].name, array[i].unit, array[i].description = strings
            self._keep.append(strings)
        self._keep.append(array)
        return array

    def _make_table(self) -> Any:
        part = self.part
        table = ffi.new("ItmSubsystem*")
        table.nport = self._nport
        table.port_names = self._names([] if self._is_controller else part.ports)
        table.ninput = len(part.inputs)
        table.input_names = self._names(part.inputs)
        table.noutput = len(part.outputs)
        table.outputs = self._make_outputs()
        table.is_sampled = self._is_controller
        callbacks = {
            "set_inputs": self._guard(self._set_inputs),
            "get_outputs": self._guard(self._get_outputs),
            "do_step": self._do_step,
            "reset": self._guard(lambda _self: self._reset_part()),
        }
        if self._nport > 0:
            callbacks["set_motion"] = self._guard(self._set_motion)
            callbacks["get_forces"] = self._guard(self._get_forces)
        self._memory = ffi.from_buffer("double[]", self._block)
        table.memory = ffi.cast("void*", self._memory)
        table.memory_size = self._block.nbytes
        if part.state_size:
            table.nstate = part.state_size
            callbacks["get_states"] = self._guard(self._get_states)
            callbacks["set_states"] = self._guard(self._set_states)
        for name, function in callbacks.items():
            kind = next(field.type for label, field in ffi.typeof("ItmSubsystem").fields if label == name)
            callback = ffi.callback(kind, function)
            self._keep.append(callback)
            setattr(table, name, callback)
        return table

    def take_exception(self) -> BaseException | None:
        """The exception of a callback since the last call."""
        error, self.exception = self.exception, None
        return error
