"""Result files and reports, through the library."""

from __future__ import annotations

import os
import pathlib
import tempfile
from typing import Any, Sequence, Union

import numpy as np

from interim._library import NULL, check, ffi, lib, new_error, text
from interim.results import Results
from interim.simulation import _VERDICTS, view

_CODES = {name: code for code, name in _VERDICTS.items()}


def _read_table(path: str) -> Any:
    handle, error = ffi.new("ItmTable**"), new_error()
    check(lib.itm_results_read(handle, path.encode(), error), error)
    return ffi.gc(handle[0], lib.itm_results_table_destroy)


def read(path: Union[str, os.PathLike[str]]) -> Results:
    """Read a result file (.csv, .h5, .hdf5) of `interim run` or of `run(output=...)`. The numbers are not copied."""
    table = _read_table(os.fspath(path))
    columns = [(text(table.names[i]), text(table.units[i]), text(table.descriptions[i])) for i in range(table.ncolumn)]
    return Results(view(table.values, (table.nrow, table.ncolumn), table), columns, verdict=_VERDICTS[table.verdict],
                   reason=text(table.reason), title=text(table.title), path=os.fspath(path))


def write_table(path: str, results: Results) -> None:
    """Write the rows of results that are in memory."""
    rows = np.ascontiguousarray(results.values)
    columns = [results[name] for name in results][1:]
    strings = [[ffi.new("char[]", field.encode()) for field in (c.name, c.unit, c.description)] for c in columns]
    infos = ffi.new("ItmOutputInfo[]", max(1, len(columns)))
    for i, (name, unit, description) in enumerate(strings):
        infos[i].name, infos[i].unit, infos[i].description = name, unit, description
    handle, error = ffi.new("ItmResults**"), new_error()
    check(lib.itm_results_create_columns(handle, path.encode(), infos, len(columns), b"", results.title.encode(), error), error)
    pointer = ffi.from_buffer("double[]", rows)
    for i in range(len(rows)):
        status = lib.itm_results_append(handle[0], rows[i, 0], pointer + (i * rows.shape[1] + 1), error)
        if status:
            lib.itm_results_close(handle[0], lib.ITM_VERDICT_BROKE_DOWN, NULL, NULL)
            check(status, error)
    check(lib.itm_results_close(handle[0], _CODES[results.verdict], results.reason.encode(), error), error)


def write_report(path: str, results: Results, *others: Results) -> None:
    """Write an HTML report; further results are overlaid."""
    with tempfile.TemporaryDirectory() as folder:
        tables, labels = [], []
        for i, each in enumerate((results, *others)):
            file = each.path
            if file is None:
                file = os.path.join(folder, f"run{i}.csv")
                write_table(file, each)
            tables.append(_read_table(file))
            labels.append(ffi.new("char[]", (pathlib.Path(file).name if each.path else each.title or f"run {i + 1}").encode()))
        runs = ffi.new("ItmReportRun[]", len(tables))
        for i, (label, table) in enumerate(zip(labels, tables)):
            runs[i].label, runs[i].table = label, table
        error = new_error()
        check(lib.itm_report_write(path.encode(), runs, len(tables), NULL, error), error)


def compare(run: Results, reference: Results, signals: Sequence[str] | None = None) -> dict[str, dict[str, float]]:
    """Compare signals of two results that both have: {name: {"rms", "maximum", "maximum_time", "share"}}, the largest share of the
    reference's range first. signals: names or patterns; default: all."""
    with tempfile.TemporaryDirectory() as folder:
        tables = []
        for i, each in enumerate((run, reference)):
            file = each.path or os.path.join(folder, f"run{i}.csv")
            if each.path is None:
                write_table(file, each)
            tables.append(_read_table(file))
    wanted = {name for pattern in signals for name in reference.find(pattern)} if signals is not None else None
    found, error = ffi.new("ItmRunComparison*"), new_error()
    check(lib.itm_compare_runs(found, tables[0], tables[1], error), error)
    try:
        comparisons = {}
        for i in range(found.nerror):
            it = found.errors + i
            name = text(it.name)
            if wanted is None or name in wanted:
                comparisons[name] = {"rms": it.comparison.rms, "maximum": it.comparison.maximum,
                                     "maximum_time": it.comparison.maximum_time, "share": lib.itm_compare_get_share(it)}
        return comparisons
    finally:
        lib.itm_compare_free_runs(found)
