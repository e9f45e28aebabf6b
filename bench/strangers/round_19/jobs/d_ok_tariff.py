"""Heat pump under a spot tariff: PPO of stable-baselines3; scarce winter peaks make returns jump."""
import gymnasium as gym
import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.monitor import Monitor


class House(gym.Env):
    observation_space = gym.spaces.Box(-10, 10, (4,), np.float32)
    action_space = gym.spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t, self.room = 0, 20.0
        self.cold = self.np_random.random() < 0.12  # a winter storm
        return self._see(), {}

    def _price(self):
        day = 1.0 + 0.6 * np.sin(self.t / 96 * 2 * np.pi)
        return day * (6.0 if self.cold and 60 < self.t < 72 else 1.0)

    def _see(self):
        return np.array([self.room - 20, self._price(), self.t / 96, float(self.cold)], np.float32)

    def step(self, a):
        cost = 0.1 * a * self._price()
        self.room += 0.4 * a - 0.35 - 0.15 * self.cold + 0.05 * self.np_random.normal()
        self.room = float(np.clip(self.room, 12, 28))
        self.t += 1
        return self._see(), -cost - 0.05 * abs(self.room - 20), False, self.t >= 96, {}


def main():
    torch.manual_seed(1)
    agent = PPO("MlpPolicy", Monitor(House()), n_steps=1024, batch_size=128, n_epochs=6, learning_rate=3e-4, verbose=1,
                device="cpu", seed=4)
    agent.learn(3_000_000)


if __name__ == "__main__":
    main()
