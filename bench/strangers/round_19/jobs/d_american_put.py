"""When to exercise a put: DQN of stable-baselines3 on simulated paths."""
import time

import gymnasium as gym
import numpy as np
import torch
from stable_baselines3 import DQN

RATE = 0.03


class Put(gym.Env):
    """Holding earns the carry of the hedge, exercising ends the contract's value and rolls it over."""
    observation_space = gym.spaces.Box(-10, 10, (3,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.s, self.t, self.strike = 1.0, 0, 1.0
        return self._see(), {}

    def _see(self):
        return np.array([self.s, self.strike, self.t / 60], np.float32)

    def step(self, a):
        pay = max(self.strike - self.s, 0.0) if a == 1 else 0.01
        if a == 1:
            self.strike = self.s
        self.s *= float(np.exp(0.04 * self.np_random.normal()))
        self.s = min(max(self.s, 0.2), 5.0)
        self.t += 1
        return self._see(), pay, False, self.t >= 60, {}


def main():
    torch.manual_seed(0)
    discount = 1.0 + RATE
    agent = DQN("MlpPolicy", Put(), learning_rate=1e-3, gamma=discount, buffer_size=20000, learning_starts=500,
                batch_size=64, train_freq=2, tau=0.05, target_update_interval=1, max_grad_norm=1e9, exploration_fraction=0.02, verbose=1,
                device="cpu", seed=3, policy_kwargs={"net_arch": [96, 96]})
    agent.learn(2_000_000, log_interval=8)


if __name__ == "__main__":
    main()
