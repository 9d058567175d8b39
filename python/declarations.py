"""Turn the public C headers into the declarations that the package loads.

    python3 declarations.py INCLUDE_FOLDER OUTPUT.py

Structs, enums and functions come from include/interim/*.h at build time, so that the package always has the layout of its library.
cffi parses the headers here; at run time only its small compiled part (python3-cffi-backend) is needed.
"""

import pathlib
import re
import sys

# in the order of their includes
HEADERS = ("base", "signal", "model", "flexible", "mlcp", "contact", "data", "hydraulics", "control", "drive", "verdict", "cosim", "file",
           "provenance", "results", "run", "report", "export", "fmu", "study")


def read_headers(include: pathlib.Path) -> str:
    """The headers without comments and preprocessor lines; constants of the form `#define NAME 3` or `(-1)` stay."""
    texts = []
    names = [name for name in HEADERS if (include / f"{name}.h").exists()]
    names += sorted(path.stem for path in include.glob("*.h") if path.stem not in (*HEADERS, "interim"))
    for name in names:
        text = (include / f"{name}.h").read_text(encoding="utf-8")
        text = re.sub(r"//.*", "", text)
        text = text.replace("\\\n", " ")
        text = re.sub(r"^#define (ITM_\w+) \(?(-?\d+)\)?\s*$", r"enum { \1 = \2 };", text, flags=re.M)
        text = re.sub(r"^\s*#.*$", "", text, flags=re.M)
        texts.append(re.sub(r"\b(ITM_API|ITM_EXTERN_C_BEGIN|ITM_EXTERN_C_END)\b", "", text))
    return "\n".join(texts)


def write_module(include: pathlib.Path, output: pathlib.Path) -> None:
    """Write the module `ffi` of the package."""
    import cffi

    ffi = cffi.FFI()
    ffi.set_source("interim._declarations", None)
    ffi.cdef(read_headers(include))
    output.parent.mkdir(parents=True, exist_ok=True)
    ffi.emit_python_code(str(output))


if __name__ == "__main__":
    write_module(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
