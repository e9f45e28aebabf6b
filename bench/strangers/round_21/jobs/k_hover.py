import gymnasium as gym
import numpy as np
from gymnasium import spaces
from stable_baselines3 import PPO
from stable_baselines3.common.monitor import Monitor


class Hover(gym.Env):
    """A planar drone that has to hold a height in gusts."""
    observation_space = spaces.Box(-10, 10, (6,), np.float32)
    action_space = spaces.Box(-1, 1, (2,), np.float32)

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.s = self.np_random.normal(0, 0.4, 6)
        self.n = 0
        return self.s.astype("f4"), {}

    def step(self, action):
        x, y, a, vx, vy, w = self.s
        left, right = 0.5 + 0.5 * np.clip(action, -1, 1)
        thrust = 9.81 * (left + right)
        gust = self.np_random.normal(0, 0.6, 2)
        vx += 0.04 * (-thrust * np.sin(a) + gust[0])
        vy += 0.04 * (thrust * np.cos(a) - 9.81 + gust[1])
        w += 0.04 * 6 * (right - left)
        self.s = np.clip([x + 0.04 * vx, y + 0.04 * vy, a + 0.04 * w, vx, vy, w], -10, 10)
        self.n += 1
        reward = 1 - 0.15 * (x * x + y * y) - 0.2 * a * a - 0.02 * (vx * vx + vy * vy + w * w)
        lost = max(abs(x), abs(y)) > 4 or abs(a) > 1.5
        return self.s.astype("f4"), float(max(reward, -2) - 10 * lost), bool(lost), self.n >= 400, {}


model = PPO("MlpPolicy", Monitor(Hover()), n_steps=2048, batch_size=128, n_epochs=8, learning_rate=2e-4, seed=3,
            device="cpu", verbose=1)
model.learn(3_000_000)
