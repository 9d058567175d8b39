"""Cases report themselves as cmocka's do, so that ./do test counts them."""

import os
import pathlib

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def examples() -> pathlib.Path:
    return SOURCE / "examples"


@pytest.fixture(scope="session")
def command() -> str:
    """The command interim of the same build."""
    return os.environ["INTERIM_COMMAND"]


def pytest_runtest_logreport(report):
    name = report.nodeid.split("::")[-1].replace("[", "_").replace("]", "").replace("-", "_").replace(".", "_")
    if report.when == "setup":
        print(f"\n[ RUN      ] {name}")
    if report.skipped:
        reason = report.longrepr[2].removeprefix("Skipped: ") if isinstance(report.longrepr, tuple) else str(report.longrepr)
        print(f"skipped: {name}: {reason}\n[  SKIPPED ] {name}\n[  SKIPPED ] {name}")
    elif report.when == "call" and report.passed:
        print(f"[       OK ] {name}")
    elif report.failed:
        print(f"[  FAILED  ] {name}")
