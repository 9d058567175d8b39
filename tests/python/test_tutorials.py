"""The tutorials run, in their short form; each asserts its own conclusions."""

import os
import pathlib
import subprocess
import sys

import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples" / "python"
NEEDS = {"first_model": ["matplotlib"], "held_forces": ["matplotlib"], "identify_friction": ["scipy", "matplotlib"],
         "tune_controller": ["scipy", "matplotlib"], "gym_crane": []}


@pytest.mark.parametrize("name", sorted(NEEDS))
def test_tutorial_runs(name, tmp_path):
    for module in NEEDS[name]:
        pytest.importorskip(module, reason=f"python3-{module} is not installed")
    done = subprocess.run([sys.executable, str(FOLDER / f"{name}.py"), "--quick", "--out", str(tmp_path)], capture_output=True,
                          text=True, env={**os.environ, "MPLBACKEND": "Agg"})
    assert done.returncode == 0, done.stdout + done.stderr
    pictures = list(tmp_path.glob("*.svg"))
    assert len(pictures) == ("matplotlib" in NEEDS[name]) and all(picture.stat().st_size > 10000 for picture in pictures)


def test_every_tutorial_is_tested():
    assert {path.stem for path in FOLDER.glob("*.py")} - {"tutorial"} == set(NEEDS)
