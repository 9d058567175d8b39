"""The complementarity solver from Python."""

import numpy as np
import pytest

import interim


def test_unbounded_rows_solve_a_linear_system():
    random = np.random.default_rng(7)
    A = random.normal(size=(12, 12))
    H, b = A @ A.T + 0.1 * np.eye(12), random.normal(size=12)
    result = interim.solve_mlcp(H, b, -np.inf, np.inf)
    assert result.solved and result.x == pytest.approx(np.linalg.solve(H, -b), rel=1e-8)


def test_solution_is_complementary():
    random = np.random.default_rng(11)
    A = random.normal(size=(30, 30))
    H, b = A @ A.T, random.normal(size=30)
    result = interim.solve_mlcp(H, b, 0.0, np.full(30, 0.4))
    scale = 1 + np.abs(b).max()
    assert result.outcome == "solved" and (result.x >= 0).all() and (result.x <= 0.4).all()
    assert np.abs(result.x - np.clip(result.x - result.w, 0, 0.4)).max() <= 1e-9 * scale
    assert interim.mlcp_residual(H, b, result.x, 0.0, 0.4) <= 1e-10
    assert set(np.unique(result.state)) <= {-1, 0, 1}


def test_block_on_a_slope_sticks_below_the_friction_angle():
    # unit mass, one step of impulse: normal 1, tangential load 0.3 or 0.7
    for load, mu, slides in ((0.3, 0.5, False), (0.7, 0.5, True)):
        friction = interim.Friction(normal=0, tangents=(1, 2), mu=mu)
        result = interim.solve_mlcp(np.eye(3), [-1.0, -load, 0.0], [0, -np.inf, -np.inf], np.inf, [friction])
        assert result.solved and result.x[0] == pytest.approx(1.0)
        assert result.x[1] == pytest.approx(min(load, mu)) and (abs(result.w[1]) > 0.1) == slides


def test_infeasible_problems_are_proved():
    result = interim.solve_mlcp(np.zeros((1, 1)), [-1.0])
    assert result.outcome == "no-solution" and result.ray[0] != 0.0


def test_solvers_agree_and_bad_input_is_refused():
    H, b = np.array([[2.0, 1.0], [1.0, 2.0]]), [-5.0, -6.0]
    for solver in ("auto", "pivoting", "newton", "gauss-seidel", "lemke", "enumeration"):
        assert interim.solve_mlcp(H, b, solver=solver).x == pytest.approx([4 / 3, 7 / 3], rel=1e-6)
    with pytest.raises(ValueError):
        interim.solve_mlcp(H, b, solver="guess")
    with pytest.raises(ValueError):
        interim.solve_mlcp(np.zeros((2, 3)), b)
    with pytest.raises(ValueError):  # the library would read beyond it
        interim.mlcp_residual(np.zeros((2, 1)), b, b)
    with pytest.raises(interim.Error):
        interim.solve_mlcp(H, [float("nan"), 0.0])
    with pytest.raises(interim.Error):
        interim.solve_mlcp(H, b, 1.0, 0.0)
