import gymnasium as gym
import numpy as np
from gymnasium import spaces
from stable_baselines3 import PPO
from stable_baselines3.common.monitor import Monitor


class Greenhouse(gym.Env):
    """Heat and vents of a greenhouse over one day; reward is minus the squared error to the crop's optimum."""
    observation_space = spaces.Box(-5, 5, (6,), np.float32)
    action_space = spaces.Box(-1, 1, (2,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        self.temp = self.np_random.uniform(8, 28)
        self.hum = self.np_random.uniform(.3, .9)
        self.out = self.np_random.uniform(0, 18)
        return self._obs(), {}

    def _obs(self):
        h = 2 * np.pi * self.t / 96
        return np.array([(self.temp - 20) / 10, (self.hum - .6) * 4, (self.out - 10) / 10, np.sin(h), np.cos(h), self.t / 96], np.float32)

    def step(self, a):
        heat, vent = (np.clip(a, -1, 1) + 1) / 2
        sun = max(0., np.sin(2 * np.pi * self.t / 96)) * 2.2
        self.temp += 2.4 * heat + sun - (0.06 + .25 * vent) * (self.temp - self.out) + self.np_random.normal(0, .2)
        self.hum = float(np.clip(self.hum + .02 - .12 * vent * self.hum + self.np_random.normal(0, .01), 0, 1))
        cost = ((self.temp - 21) / 5) ** 2 + 6 * (self.hum - .6) ** 2 + .1 * heat
        self.t += 1
        return self._obs(), -float(cost), False, self.t >= 96, {}


model = PPO("MlpPolicy", Monitor(Greenhouse(), "day"), n_steps=2048, batch_size=128, n_epochs=8, gamma=0.97,
            learning_rate=5e-4, policy_kwargs=dict(net_arch=[96, 96]), verbose=1, seed=2, device="cpu")
model.learn(total_timesteps=5_000_000, log_interval=1)
