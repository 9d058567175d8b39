"""The package itself: installation, type hints, documentation."""

import importlib.util
import inspect
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import interim

SOURCE = pathlib.Path(__file__).resolve().parents[2]


def test_pip_installs_the_package_offline(tmp_path):
    # not imported: setuptools would replace distutils in this process
    for module in ("pip", "setuptools"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"python3-{module} is not installed")
    for folder in ("python", "include"):
        shutil.copytree(SOURCE / folder, tmp_path / folder)
    library = pathlib.Path(interim.__file__).with_name("libinterim.so.0").resolve()
    environment = {**os.environ, "INTERIM_LIBRARY": str(library), "PIP_DISABLE_PIP_VERSION_CHECK": "1", "HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--root-user-action=ignore", "--target",
                    str(tmp_path / "site"), str(tmp_path / "python")], check=True, env=environment)
    for name in ("interim/libinterim.so.0", "interim/py.typed", "interim/_declarations.py"):
        assert (tmp_path / "site" / name).exists()
    script = "import interim; print(interim.__file__, interim.load(r'%s').title)" % (SOURCE / "examples" / "pendulum.yaml")
    clean = {key: value for key, value in os.environ.items() if key != "INTERIM_LIBRARY"}
    done = subprocess.run([sys.executable, "-c", script], env={**clean, "PYTHONPATH": str(tmp_path / "site")}, cwd=tmp_path,
                          capture_output=True, text=True, check=True)
    assert done.stdout.startswith(str(tmp_path / "site"))


def test_everything_public_is_documented():
    for name in interim.__all__:
        thing = getattr(interim, name)
        assert inspect.getdoc(thing), name
        for method_name, method in inspect.getmembers(thing, callable) if inspect.isclass(thing) else []:
            if not method_name.startswith("_") and str(getattr(method, "__module__", "")).startswith("interim"):
                assert inspect.getdoc(method), f"{name}.{method_name}"


def test_public_functions_have_type_hints():
    for name in interim.__all__:
        thing = getattr(interim, name)
        functions = [thing] if inspect.isfunction(thing) else [
            method for key, method in vars(thing).items() if inspect.isfunction(method) and not key.startswith("_")]
        for function in functions:
            assert "return" in function.__annotations__, f"{name}: {function.__qualname__}"


def test_version_is_that_of_the_library():
    assert interim.__version__.count(".") == 2
