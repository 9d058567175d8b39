"""The complementarity solver alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Sequence, Union

import numpy as np

from interim._library import NONE, NULL, check, ffi, lib, new_error, text

_LAWS = {"box": lib.ITM_FRICTION_BOX, "pyramid": lib.ITM_FRICTION_PYRAMID, "cone": lib.ITM_FRICTION_CONE}
_SOLVERS = {text(lib.itm_mlcp_solver_name(i)): i for i in range(lib.ITM_MLCP_SOLVER_COUNT)}
_OUTCOMES = {
    lib.ITM_MLCP_SOLVED: "solved",
    lib.ITM_MLCP_SOLVED_TO_ROUNDING: "solved-to-rounding",
    lib.ITM_MLCP_NO_SOLUTION: "no-solution",
    lib.ITM_MLCP_NOT_CONVERGED: "not-converged",
    lib.ITM_MLCP_UNSUITABLE: "unsuitable",
}


@dataclass(frozen=True)
class Friction:
    """Friction of a contact: row of the normal, one or two rows of tangents, coefficient, law ("box", "pyramid", "cone")."""

    normal: int
    tangents: Union[int, Sequence[int]]
    mu: float
    law: str = "cone"
    directions: int = 8  # corners of a pyramid


@dataclass(frozen=True)
class MlcpResult:
    """Solution of a complementarity problem."""

    x: np.ndarray  # impulses
    w: np.ndarray  # H x + b
    state: np.ndarray  # per row: -1 at lo, 0 between, 1 at up
    outcome: str  # "solved", "solved-to-rounding", "no-solution", "not-converged", "unsuitable"
    solver: str
    residual: float
    iterations: int
    ray: np.ndarray  # proof where there is no solution, zeros otherwise

    @property
    def solved(self) -> bool:
        """Whether x is a solution."""
        return self.outcome.startswith("solved")


def _square(H: Any) -> np.ndarray:
    H = np.ascontiguousarray(H, dtype=float)
    if H.ndim != 2 or H.shape[0] != H.shape[1] or H.size == 0:
        raise ValueError(f"H is a square matrix, got shape {H.shape}")
    return H


def solve_mlcp(H: Any, b: Any, lo: Any = 0.0, up: Any = np.inf, contacts: Sequence[Friction] = (), *, solver: str = "auto",
               tolerance: float = 1e-10, max_iterations: int | None = None, symmetric: bool | None = None) -> MlcpResult:
    """Solve w = H x + b, lo <= x <= up, w >= 0 where x = lo, w <= 0 where x = up, w = 0 between; with friction in `contacts`.

    symmetric: H is symmetric positive semi-definite; default: find out. Arrays of floats in C order are used without a copy.
    Raises `Error` for bad input; an unsolved problem is no error, see `MlcpResult.outcome`."""
    H = _square(H)
    n = len(H)
    if solver not in _SOLVERS:
        raise ValueError(f"solver '{solver}': expected one of {', '.join(_SOLVERS)}")
    vectors = [np.ascontiguousarray(np.broadcast_to(np.asarray(v, dtype=float), (n,))) for v in (b, lo, up)]
    if symmetric is None:
        symmetric = bool(np.array_equal(H, H.T)) and float(np.linalg.eigvalsh(H)[0]) >= -1e-12 * max(1.0, float(np.abs(H).max()))
    problem = ffi.new("ItmMlcpProblem*")
    problem.n, problem.is_symmetric, problem.ncontact = n, symmetric, len(contacts)
    keep = [ffi.from_buffer("double[]", array) for array in (H, *vectors)]
    problem.H, problem.b, problem.lo, problem.up = keep
    list_ = ffi.new("ItmMlcpContact[]", max(1, len(contacts)))
    for i, contact in enumerate(contacts):
        tangents = [contact.tangents] if isinstance(contact.tangents, (int, np.integer)) else list(contact.tangents)
        list_[i].normal, list_[i].mu, list_[i].law = contact.normal, contact.mu, _LAWS[contact.law]
        list_[i].tangent = [tangents[0], tangents[1] if len(tangents) > 1 else NONE]
        list_[i].ndirection = contact.directions
    problem.contacts = list_
    options = ffi.new("ItmMlcpOptions*", lib.itm_default_mlcp_options())
    options.solver, options.tolerance = _SOLVERS[solver], tolerance
    options.max_iterations = max_iterations if max_iterations is not None else options.max_iterations
    return _solve(problem, options, n, len(contacts))


def _solve(problem: Any, options: Any, n: int, ncontact: int) -> MlcpResult:
    handle, error = ffi.new("ItmMlcpWorkspace**"), new_error()
    capacity = ffi.new("ItmMlcpCapacity*", lib.itm_default_mlcp_capacity(n, ncontact))
    check(lib.itm_mlcp_workspace_create(handle, capacity, error), error)
    workspace = ffi.gc(handle[0], lib.itm_mlcp_workspace_destroy)
    x, w, ray, state = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n, dtype=np.int8)
    result = ffi.new("ItmMlcpResult*")
    keep = [ffi.from_buffer("double[]", array) for array in (x, w, ray)]
    result.x, result.w, result.ray = keep
    states = ffi.from_buffer("signed char[]", state)
    result.state = states
    check(lib.itm_mlcp_solve(workspace, result, problem, options, error), error)
    info = result.info
    return MlcpResult(x, w, state, _OUTCOMES[info.outcome], text(lib.itm_mlcp_solver_name(info.solver)), info.residual,
                      info.iterations, ray)


def mlcp_residual(H: Any, b: Any, x: Any, lo: Any = 0.0, up: Any = np.inf) -> float:
    """Relative residual of any x for a problem without friction; 0 for a solution."""
    H = _square(H)
    arrays = [H, *(np.ascontiguousarray(np.broadcast_to(np.asarray(v, dtype=float), (len(H),))) for v in (b, lo, up, x))]
    pointers = [ffi.from_buffer("double[]", array) for array in arrays]
    problem = ffi.new("ItmMlcpProblem*")
    problem.n = len(H)
    problem.H, problem.b, problem.lo, problem.up = pointers[:4]
    problem.contacts = NULL
    return lib.itm_mlcp_compute_residual(problem, pointers[4])
