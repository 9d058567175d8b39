"""Sweeps: many runs of a model with different values."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

import numpy as np

from interim.errors import Error
from interim.results import Results

if TYPE_CHECKING:
    from interim.model import Model


class Table(list):
    """Rows of a sweep, each a dict. `table["key"]` is the column as an array; `to_pandas()` gives a DataFrame."""

    def __getitem__(self, key: Any) -> Any:
        return np.array([row.get(key) for row in self]) if isinstance(key, str) else super().__getitem__(key)

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(dict.fromkeys(name for row in self for name in row))

    def to_pandas(self) -> Any:
        """A pandas.DataFrame."""
        import pandas

        return pandas.DataFrame(list(self), columns=self.columns)


def sweep(model: "Model", over: Mapping[str, Sequence[Any]], *, jobs: int = 1,
          measures: Mapping[str, Callable[[Results], Any]] | None = None, signals: Sequence[str] = (),
          reference: Mapping[str, Any] | None = None, until: Any = None, every: Any = None) -> Any:
    """Run a model with every combination of values and return a table, one row per run: a pandas.DataFrame if pandas is installed,
    a `Table` otherwise.

    over: paths in the model file to lists of values: {"cosim.macro_step": ["1 ms", "10 ms"], "cosim.coupling": ["rim", "zoh"]}.
    jobs: runs at the same time, in threads; the library steps without Python's lock.
    measures: names to functions of the results: {"peak": lambda r: r["arm.tip.velocity.x"].max()}.
    signals: names or patterns whose largest deviation from the reference, as a share of its range, becomes a column "error NAME".
    reference: values of the reference run, {"cosim.coupling": "monolithic"}.

    Every row has the values, `verdict`, `reason`, `end_time`, `steps` and `wall_time`. A model that is not valid has the verdict
    "refused" and its error as the reason.
    """
    if signals and reference is None:
        raise ValueError("signals= compares with a reference: give reference={...}")
    exact = model.copy(set=reference).run(until, every, progress=False) if reference is not None else None

    def run(values: tuple[Any, ...]) -> dict[str, Any]:
        row: dict[str, Any] = dict(zip(over, values))
        try:
            results = model.copy(set=row).run(until, every, progress=False)
        except Error as error:
            return {**row, "verdict": "refused", "reason": str(error), "end_time": 0.0, "steps": 0, "wall_time": 0.0}
        row |= {"verdict": results.verdict, "reason": results.reason, "end_time": float(results.time[-1]),
                "steps": results.steps, "wall_time": results.wall_time}
        if exact is not None and signals:
            row |= {f"error {name}": share for name, share in _deviations(results, exact, signals).items()}
        for name, measure in (measures or {}).items():
            row[name] = measure(results)
        return row

    combinations = list(itertools.product(*over.values()))
    with ThreadPoolExecutor(max_workers=max(1, jobs)) as pool:
        table = Table(pool.map(run, combinations))
    try:
        return table.to_pandas()
    except ImportError:
        return table


def _deviations(results: Results, reference: Results, signals: Sequence[str]) -> dict[str, float]:
    from interim._files import compare

    names = [name for pattern in signals for name in reference.find(pattern)]
    compared = compare(results, reference, names)
    return {name: compared.get(name, {}).get("share", float("nan")) for name in names}
