"""Results of a run: a table of outputs over time."""

from __future__ import annotations

import fnmatch
import os
from typing import Any, Iterator, Mapping, Sequence, Union

import numpy as np


class Signal(np.ndarray):
    """An array of numbers over time with `name`, `unit` and `description`."""

    name: str
    unit: str
    description: str

    def __new__(cls, values: Any, name: str = "", unit: str = "", description: str = "") -> "Signal":
        signal = np.asarray(values).view(cls)
        signal.name, signal.unit, signal.description = name, unit, description
        return signal

    def __array_finalize__(self, parent: Any) -> None:
        for key in ("name", "unit", "description"):
            setattr(self, key, getattr(parent, key, ""))

    def __array_wrap__(self, array: Any, context: Any = None) -> Any:
        # a mean or maximum is a number
        return array[()] if array.ndim == 0 else super().__array_wrap__(array, context)

    def __repr__(self) -> str:
        return f"{self.name} [{self.unit}] {np.array2string(np.asarray(self), threshold=8)}"


class Results(Mapping[str, Signal]):
    """What a run recorded. `results["crane.cyl1.length"]` is a `Signal`; `results.time` the times of the rows.

    Attributes:
        verdict: "finished", "finished-with-doubts", "interrupted" or "broke-down".
        reason: why the run ended early, or its doubts; "" if there is nothing to say.
        title: title of the model.
        steps: number of steps (0 for results read from a file).
        wall_time: seconds that the steps took (0 for results read from a file).
    """

    def __init__(self, rows: np.ndarray, columns: Sequence[tuple[str, str, str]], *, verdict: str, reason: str, title: str,
                 steps: int = 0, wall_time: float = 0.0, path: str | None = None, model: Any = None):
        self._rows = rows
        self._columns = list(columns)
        self._index = {column[0]: i for i, column in enumerate(self._columns)}
        self._path = path
        self._model = model
        self.verdict = verdict
        self.reason = reason
        self.title = title
        self.steps = steps
        self.wall_time = wall_time

    @property
    def time(self) -> Signal:
        """Times of the rows, s."""
        return self["time"]

    @property
    def values(self) -> np.ndarray:  # type: ignore[override]
        """The whole table without copies, one row per time; column 0 is time."""
        return self._rows

    @property
    def path(self) -> str | None:
        """The result file, if the run wrote one or the results were read from one."""
        return self._path

    def __getitem__(self, name: str) -> Signal:
        try:
            i = self._index[name]
        except KeyError:
            raise KeyError(_explain(name, self._index)) from None
        return Signal(self._rows[:, i], *self._columns[i])

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)

    def __len__(self) -> int:
        return len(self._columns)

    def find(self, pattern: str) -> list[str]:
        """Names that match a pattern such as "crane.cyl1.*"."""
        return [name for name in self._index if fnmatch.fnmatchcase(name, pattern)]

    def __repr__(self) -> str:
        end = f" at {self.time[-1]:g} s" if len(self._rows) else ""
        why = f": {self.reason}" if self.reason else ""
        return f"<Results {self.title!r}, {len(self._rows)} rows of {len(self)} columns, {self.verdict}{end}{why}>"

    def to_pandas(self) -> Any:
        """A pandas.DataFrame with time as its index. Units are in `frame.attrs["units"]`."""
        import pandas

        frame = pandas.DataFrame(self._rows[:, 1:], index=pandas.Index(self._rows[:, 0], name="time"),
                                 columns=[column[0] for column in self._columns[1:]], copy=False)
        frame.attrs["units"] = {name: unit for name, unit, _ in self._columns}
        return frame

    def plot(self, *names: str, axes: Any = None, **options: Any) -> Any:
        """Plot outputs over time with matplotlib, one axes per unit; names may be patterns. Returns the array of axes.

        axes: an axes or a list of them to draw into. Other options go to `axes.plot`."""
        import matplotlib.pyplot as pyplot

        chosen = [name for pattern in names for name in (self.find(pattern) or [self[pattern].name])]
        if not chosen:
            raise ValueError('nothing to plot: give names or patterns, as in results.plot("crane.cyl1.*")')
        units = list(dict.fromkeys(self[name].unit for name in chosen))
        if axes is None:
            figure, axes = pyplot.subplots(len(units), 1, sharex=True, squeeze=False, figsize=(7, 1 + 2.2 * len(units)),
                                           constrained_layout=True)
            figure.align_ylabels()
        axes = np.atleast_1d(np.asarray(axes, dtype=object)).ravel()
        if len(axes) < len(units):
            raise ValueError(f"the outputs have {len(units)} units ({', '.join(units)}), which need as many axes")
        for name in chosen:
            signal = self[name]
            axis = axes[units.index(signal.unit)]
            axis.plot(np.asarray(self.time), np.asarray(signal), **{"label": name, **options})
            axis.set_ylabel(_label(signal.unit))
        for axis in axes[: len(units)]:
            axis.legend(loc="best", frameon=False)
            axis.grid(True, alpha=0.3)
        axes[len(units) - 1].set_xlabel("time [s]")
        return axes

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Write the table to a .csv, .h5 or .hdf5 file. For a file with the 3-D view, give `output=` to `run`."""
        from interim._files import write_table

        write_table(os.fspath(path), self)

    def report(self, path: Union[str, os.PathLike[str]]) -> None:
        """Write an HTML report. Its 3-D view needs a run with `output="x.h5"`; other results give plots only."""
        from interim._files import write_report

        write_report(os.fspath(path), self)


def _label(unit: str) -> str:
    return f"[{unit}]" if unit not in ("", "1") else "[1]"


def _explain(name: str, names: Mapping[str, Any]) -> str:
    import difflib

    near = difflib.get_close_matches(name, list(names), n=1)
    return f"there is no '{name}'" + (f"; did you mean '{near[0]}'?" if near else "")
