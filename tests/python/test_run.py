"""Runs: the numbers are those of the command, results behave like a table, Ctrl-C keeps what there is."""

import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import interim


def run_command(command, path, output, *arguments):
    subprocess.run([command, "run", str(path), "-q", "-o", str(output), *arguments], check=True, stderr=subprocess.DEVNULL)
    table = np.genfromtxt(output, delimiter=",", names=True, deletechars="", replace_space=" ")
    return list(table.dtype.names), np.array(table.tolist())


@pytest.mark.parametrize("name", ["crane-single", "manipulator", "stack", "clearance-slider-crank", "bouncing-ball", "four-bar"])
def test_results_are_bit_for_bit_those_of_the_command(name, examples, command, tmp_path):
    # 17 digits in the CSV file: reading them back gives the same bits
    names, expected = run_command(command, examples / f"{name}.yaml", tmp_path / "r.csv", "--until", "0.3s")
    results = interim.load(examples / f"{name}.yaml").run(until=0.3)
    assert list(results) == names
    assert np.array_equal(results.values, expected)


def test_rows_have_the_spacing_asked_for(examples, command, tmp_path):
    _, expected = run_command(command, examples / "crane-single.yaml", tmp_path / "r.csv", "--until", "1s", "--every", "50ms")
    results = interim.load(examples / "crane-single.yaml").run(until="1 s", every="50 ms")
    assert len(results.time) == 21 and np.array_equal(results.values, expected)


def test_signals_have_unit_and_description(examples):
    length = interim.load(examples / "crane-single.yaml").run(until=0.1)["crane.cyl1.length"]
    assert length.unit == "m" and length.description and length.name == "crane.cyl1.length"
    assert (2.0 * length).unit == "m" and isinstance(length.max(), float)


def test_results_are_not_copied(examples):
    results = interim.load(examples / "crane-single.yaml").run(until=0.1)
    assert np.shares_memory(results["crane.cyl1.length"], results.values)
    length = results["crane.cyl1.length"]
    first = float(length[0])
    del results
    assert float(length[0]) == first  # the memory lives as long as the array


def test_a_missing_name_is_explained(examples):
    results = interim.load(examples / "crane-single.yaml").run(until=0.02)
    with pytest.raises(KeyError, match="crane.cyl1.length"):
        results["crane.cyl1.lenght"]
    assert results.find("crane.cyl1.*") and "finished" in repr(results)


def test_to_pandas(examples):
    pandas = pytest.importorskip("pandas", reason="python3-pandas is not installed")
    results = interim.load(examples / "crane-single.yaml").run(until=0.1)
    frame = results.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and frame.index.name == "time"
    assert np.array_equal(frame["crane.cyl1.length"], results["crane.cyl1.length"])
    assert frame.attrs["units"]["crane.cyl1.length"] == "m"


def test_plot(examples):
    matplotlib = pytest.importorskip("matplotlib", reason="python3-matplotlib is not installed")
    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot

    results = interim.load(examples / "crane-single.yaml").run(until=0.1)
    axes = results.plot("crane.cyl1.length", "crane.cyl1.rate")
    assert [axis.get_ylabel() for axis in axes] == ["[m]", "[m/s]"] and axes[1].get_xlabel() == "time [s]"
    figure, axis = pyplot.subplots()
    assert results.plot("crane.cyl1.length", axes=axis)[0] is axis
    with pytest.raises(ValueError):
        results.plot("crane.cyl1.length", "crane.cyl1.rate", axes=axis)
    with pytest.raises(ValueError):
        results.plot()
    pyplot.close("all")


def test_a_run_that_breaks_down_returns_what_there_is(examples):
    model = interim.load(examples / "crane-single.yaml", set={"cosim.coupling": "zoh", "cosim.macro_step": "50 ms"})
    results = model.run(until=10)
    assert results.verdict == "broke-down" and "broke down at" in results.reason
    assert 0 < len(results.time) < 201 and np.isfinite(results.values).all()


def test_doubts_are_named(examples):
    sim = interim.load(examples / "crane-single.yaml", set={"cosim.coupling": "zoh", "cosim.macro_step": "2 ms"}).simulation()
    results = sim.run(until=3.0)
    assert bool(sim.doubts) == (results.verdict == "finished-with-doubts")
    for doubt in sim.doubts:
        assert doubt in results.reason


def test_a_run_continues_from_the_current_state(examples):
    model = interim.load(examples / "crane-single.yaml")
    whole = model.run(until=1.0)
    sim = model.simulation()
    first, second = sim.run(until=0.5), sim.run(until=1.0)
    assert np.array_equal(np.vstack([first.values, second.values[1:]]), whole.values)
    assert second.time[0] == 0.5


def test_interrupt_keeps_the_results(examples):
    # a run of hours, ended from outside after a moment as by Ctrl-C
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    results = interim.load(examples / "crane-single.yaml").run(until=1e5, every=1.0)
    assert time.monotonic() - start < 10.0
    assert results.verdict == "interrupted" and "by the user" in results.reason
    assert len(results.time) > 2 and np.isfinite(results.values).all()


def test_steps_leave_the_lock_to_other_threads(examples):
    # while one thread runs for seconds, this one must get its turn
    model = interim.load(examples / "crane-single.yaml")
    worker = threading.Thread(target=lambda: model.run(until=60.0, every=60.0))
    worker.start()
    turns = 0
    while worker.is_alive():
        turns += 1
        time.sleep(0.001)
    assert turns > 10


def test_progress_is_shown_on_request(examples, capsys):
    interim.load(examples / "crane-single.yaml").run(until=5.0, progress=True)
    assert "5" in capsys.readouterr().err
    interim.load(examples / "crane-single.yaml").run(until=0.1)
    assert capsys.readouterr().err == ""  # no terminal


def test_bad_times_are_refused(examples):
    model = interim.load(examples / "crane-single.yaml")
    for until in ("1 fortnight", "soon"):
        with pytest.raises(ValueError):
            model.run(until=until)
    with pytest.raises(interim.Error):
        model.run(until=-1.0)


def test_result_file_and_memory_are_the_same(examples, tmp_path):
    path = tmp_path / "r.csv"
    results = interim.load(examples / "crane-single.yaml").run(until=0.2, output=path)
    assert results.path == str(path)
    assert np.array_equal(np.genfromtxt(path, delimiter=",", skip_header=1), results.values)
    only = interim.load(examples / "crane-single.yaml").run(until=0.2, output=path, keep=False)
    assert len(only.values) == 0 and path.exists()


def test_two_threads_run_two_simulations(examples):
    names = ["manipulator", "stack"]
    alone = [interim.load(examples / f"{name}.yaml").run(until=0.5) for name in names]
    found = [None, None]

    def work(i):
        found[i] = interim.load(examples / f"{names[i]}.yaml").run(until=0.5)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one, other in zip(alone, found):
        assert np.array_equal(one.values, other.values)


def test_another_library_can_be_named():
    # a wrong path is refused with a remedy; the right one works
    library = str(pathlib.Path(interim.__file__).with_name("libinterim.so.0").resolve())
    for path, good in ((library, True), ("/nowhere/libinterim.so.0", False)):
        environment = {**os.environ, "INTERIM_LIBRARY": path}
        done = subprocess.run([sys.executable, "-c", "import interim; print(interim.__version__)"], env=environment,
                              capture_output=True, text=True)
        assert (done.returncode == 0) == good
        assert good or "INTERIM_LIBRARY" in done.stderr
