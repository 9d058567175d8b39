"""Result files, reports, comparisons and sweeps."""

import numpy as np
import pytest

import interim
from interim._library import lib


@pytest.fixture(scope="module")
def crane(examples):
    return interim.load(examples / "crane-single.yaml")


@pytest.mark.parametrize("ending", ["csv", "h5"])
def test_results_are_read_back_bit_for_bit(crane, tmp_path, ending):
    path = tmp_path / f"r.{ending}"
    results = crane.run(until=0.3, output=path)
    again = interim.read(path)
    assert list(again) == list(results) and np.array_equal(again.values, results.values)
    assert again.verdict == "finished" and again.title == results.title
    assert again["crane.cyl1.length"].unit == "m"


def test_results_in_memory_can_be_saved(crane, tmp_path):
    results = crane.run(until=0.3)
    results.save(tmp_path / "saved.csv")
    assert np.array_equal(interim.read(tmp_path / "saved.csv").values, results.values)


def test_a_file_that_is_no_result_is_refused(tmp_path):
    (tmp_path / "bad.csv").write_text("time,a\n0,1\n1,two\n", encoding="utf-8")
    with pytest.raises(interim.Error) as caught:
        interim.read(tmp_path / "bad.csv")
    assert caught.value.line == 3


def test_report_of_memory_and_of_a_file(crane, tmp_path):
    crane.run(until=0.3).report(tmp_path / "plain.html")
    crane.run(until=0.3, output=tmp_path / "r.h5").report(tmp_path / "full.html")
    for name in ("plain", "full"):
        page = (tmp_path / f"{name}.html").read_text(encoding="utf-8")
        assert "Hydraulic crane" in page and "crane.cyl1.length" in page


def test_compare_finds_the_difference(crane):
    a, b = crane.run(until=0.8), crane.copy(set={"cosim.macro_step": "20 ms"}).run(until=0.8)
    same = interim.compare(a, a)
    assert same["crane.cyl1.length"]["maximum"] == 0.0
    different = interim.compare(b, a, ["crane.cyl1.*"])
    assert set(different) <= set(a.find("crane.cyl1.*"))
    # at the times of the coarser run
    exact = np.max(np.abs(b["crane.cyl1.length"] - a["crane.cyl1.length"][::2]))
    assert different["crane.cyl1.length"]["maximum"] == pytest.approx(exact, rel=1e-9)


def as_rows(table):
    return table.to_dict("records") if hasattr(table, "to_dict") else list(table)


def test_sweep_runs_every_combination(crane):
    over = {"cosim.macro_step": ["5 ms", "10 ms"], "cosim.coupling": ["rim", "zoh"]}
    table = interim.sweep(crane, over, jobs=2, until=2.0, measures={"end": lambda r: float(r["crane.cyl1.length"][-1])},
                          signals=["crane.cyl1.length"], reference={"cosim.coupling": "monolithic"})
    rows = as_rows(table)
    assert [(row["cosim.macro_step"], row["cosim.coupling"]) for row in rows] == [
        ("5 ms", "rim"), ("5 ms", "zoh"), ("10 ms", "rim"), ("10 ms", "zoh")]
    for row in rows:
        alone = crane.copy(set={key: row[key] for key in over}).run(until=2.0)
        assert row["verdict"] == alone.verdict and row["end"] == float(alone["crane.cyl1.length"][-1])
    # the interface model is near the monolithic run, held rates are not
    assert max(row["error crane.cyl1.length"] for row in rows if row["cosim.coupling"] == "rim") < 1e-3
    assert rows[3]["verdict"] == "broke-down"


def test_sweep_without_pandas_gives_a_table(crane, monkeypatch):
    monkeypatch.setattr(interim.Table, "to_pandas", lambda self: (_ for _ in ()).throw(ImportError("pandas")))
    table = interim.sweep(crane, {"cosim.macro_step": ["10 ms", "3 fortnights"]}, until=0.1)
    assert isinstance(table, interim.Table) and table["verdict"].tolist() == ["finished", "refused"]
    assert "cosim.macro_step" in table.columns and table[1]["reason"]


def test_sweep_needs_a_reference_to_compare(crane):
    with pytest.raises(ValueError):
        interim.sweep(crane, {"cosim.macro_step": ["10 ms"]}, signals=["crane.cyl1.length"])


def test_every_function_of_the_headers_is_in_the_library():
    # cffi finds symbols when they are first used; a name that is declared but not exported raises here
    names = [name for name in dir(lib) if name.startswith("itm_")]
    assert len(names) > 200
    for name in names:
        getattr(lib, name)
