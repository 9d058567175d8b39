"""The crane as an environment with reset() and step(action), as Gymnasium has it; no package of that name is needed.

    PYTHONPATH=build/python python3 examples/python/gym_crane.py
"""

import numpy as np

import interim
from tutorial import EXAMPLES, parse_arguments


class CraneEnvironment:
    """Bring the cylinder to a length. Action: valve voltage / 10, -1 .. 1. Observation: error m, rate m/s, two pressures MPa."""

    hold = 2  # macro steps per action
    limit = 400  # actions per episode

    def __init__(self):
        self._sim = interim.load(EXAMPLES / "crane-single.yaml", set={"subsystems.hydraulics.elements.valve1.command": 0}).simulation()
        self._start = self._sim.state
        self._target = 0.0
        self._actions = 0

    def _observe(self) -> np.ndarray:
        sim = self._sim
        return np.array([self._target - sim["crane.cyl1.length"], sim["crane.cyl1.rate"], 1e-6 * sim["hydraulics.cyl1.p1"],
                         1e-6 * sim["hydraulics.cyl1.p2"]])

    def reset(self, *, seed: int | None = None) -> tuple[np.ndarray, dict]:
        """Back to the start with a new target length."""
        self._target = float(np.random.default_rng(seed).uniform(0.52, 0.68))
        self._sim.state = self._start
        self._actions = 0
        return self._observe(), {"target": self._target}

    def step(self, action) -> tuple[np.ndarray, float, bool, bool, dict]:
        """Apply an action: observation, reward, terminated, truncated, info."""
        self._sim["hydraulics.valve1"] = 10.0 * float(np.clip(action, -1.0, 1.0))
        self._actions += 1
        try:
            self._sim.step(self.hold)
        except interim.StepError as error:
            return self._observe(), -100.0, True, False, {"error": str(error)}
        observation = self._observe()
        reward = -abs(observation[0]) - 0.01 * abs(observation[1])
        return observation, float(reward), False, self._actions >= self.limit, {}


def main() -> None:
    parse_arguments(__doc__.splitlines()[0])
    environment = CraneEnvironment()
    for seed in range(3):
        observation, info = environment.reset(seed=seed)
        total, is_over = 0.0, False
        while not is_over:
            observation, reward, terminated, truncated, _ = environment.step(30.0 * observation[0])
            total += reward
            is_over = terminated or truncated
        print(f"target {info['target']:.3f} m: off by {1e3 * observation[0]:.2f} mm, return {total:.3f}")
        assert abs(observation[0]) < 5e-3


if __name__ == "__main__":
    main()
