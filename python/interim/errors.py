"""Exceptions of the package."""

from __future__ import annotations


class Error(RuntimeError):
    """A call that the library refused.

    Attributes:
        message: one sentence with names, numbers and the remedy.
        status: number of the status code of the C library.
        field: name of the invalid field, output or input; "" if none.
        file: model file, or "" if the error is not about a file.
        line, column: place in the file, from 1; 0 if unknown.
    """

    def __init__(self, message: str, *, status: int = 0, field: str = "", file: str = "", line: int = 0, column: int = 0):
        self.message = message
        self.status = status
        self.field = field
        self.file = file
        self.line = line
        self.column = column
        place = file + (f":{line}:{column}" if line else "")
        super().__init__(f"{place}: {message}" if place else message)


class ModelError(Error):
    """A model that is not valid, or joints that cannot be assembled. `file`, `line` and `column` say where."""


class StepError(Error):
    """A step that failed: a value is not finite, an iteration diverged, or energy came from nowhere. The state before the step is
    restored."""
