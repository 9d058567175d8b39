"""The C library: finding it, loading it, turning its status codes into exceptions."""

from __future__ import annotations

import os
import pathlib
from typing import Any

try:
    from interim._declarations import ffi
except ImportError as error:
    raise ImportError(
        "interim._declarations is missing or cffi is not installed: install python3-cffi-backend, and use the package from "
        "build/python (PYTHONPATH=build/python) or install it with pip"
    ) from error

from interim.errors import Error, ModelError, StepError

_SONAME = "libinterim.so.0"


def _load() -> Any:
    """INTERIM_LIBRARY, the library beside this file, or the one that the system finds."""
    given = os.environ.get("INTERIM_LIBRARY")
    beside = pathlib.Path(__file__).with_name(_SONAME)
    path = given or (str(beside) if beside.exists() else _SONAME)
    try:
        loaded = ffi.dlopen(path)
    except OSError as error:
        raise ImportError(f"cannot load {path}: {error}; set INTERIM_LIBRARY to the path of {_SONAME}") from error
    version = ffi.string(loaded.itm_version()).decode()
    wanted = f"{loaded.ITM_VERSION_MAJOR}.{loaded.ITM_VERSION_MINOR}.{loaded.ITM_VERSION_PATCH}"
    if version != wanted:
        raise ImportError(f"{path} is version {version}, this package needs {wanted}")
    return loaded


lib = _load()
NULL = ffi.NULL
NONE = lib.ITM_NONE


def text(pointer: Any) -> str:
    """A C string; "" for NULL."""
    return ffi.string(pointer).decode("utf-8", "replace") if pointer != NULL else ""


def new_error() -> Any:
    """An empty ItmError for a call."""
    return ffi.new("ItmError*")


def make_exception(status: int, error: Any = None) -> Error:
    """The exception for a status; error: an ItmError pointer with message and place."""
    message = text(error.message) if error is not None else ""
    kind = Error
    if status in (lib.ITM_ERR_INPUT, lib.ITM_ERR_ASSEMBLY):
        kind = ModelError
    elif status in (lib.ITM_ERR_NOT_FINITE, lib.ITM_ERR_DIVERGED):
        kind = StepError
    if error is None:
        return kind(message or text(lib.itm_status_message(status)), status=status)
    return kind(message or text(lib.itm_status_message(status)), status=status, field=text(error.field), file=text(error.file),
                line=error.line, column=error.column)


def check(status: int, error: Any = None) -> None:
    """Raise unless the status is ITM_OK."""
    if status != lib.ITM_OK:
        raise make_exception(status, error)
