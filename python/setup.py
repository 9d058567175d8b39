"""Build and install the Python package:  pip install ./python

It takes the library from ../build (made by `./do python`), or from INTERIM_LIBRARY. Without either, the package uses the
libinterim.so.0 that the system finds. There is no pyproject.toml on purpose: pip would fetch setuptools for it, and this must work
offline with Debian's own.
"""

import os
import pathlib
import re
import shutil
import sys

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution

HERE = pathlib.Path(__file__).resolve().parent
LIBRARY = "libinterim.so.0"
sys.path.insert(0, str(HERE))


def find_library():
    given = os.environ.get("INTERIM_LIBRARY")
    built = HERE.parent / "build" / LIBRARY
    return pathlib.Path(given) if given else built if built.exists() else None


def read_version():
    text = (HERE.parent / "include" / "interim" / "base.h").read_text(encoding="utf-8")
    return ".".join(re.search(rf"ITM_VERSION_{part} (\d+)", text).group(1) for part in ("MAJOR", "MINOR", "PATCH"))


class Build(build_py):
    """Add the declarations of the headers and the library."""

    def run(self):
        super().run()
        from declarations import write_module

        target = pathlib.Path(self.build_lib) / "interim"
        write_module(HERE.parent / "include" / "interim", target / "_declarations.py")
        library = find_library()
        if library is not None:
            shutil.copyfile(library.resolve(), target / LIBRARY)


class PlatformDistribution(Distribution):
    """A wheel for this platform: it contains a library."""

    def has_ext_modules(self):
        return find_library() is not None


setup(
    name="interim",
    version=read_version(),
    description="Nonsmooth multibody dynamics and non-iterative co-simulation",
    license="Apache-2.0",
    packages=["interim"],
    package_data={"interim": ["py.typed"]},
    python_requires=">=3.11",
    install_requires=["cffi", "numpy"],
    zip_safe=False,
    cmdclass={"build_py": Build},
    distclass=PlatformDistribution,
)
