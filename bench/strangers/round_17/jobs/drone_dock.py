"""A2C for a docking drone (stable-baselines3). Keeps frames for the video of the run."""
import signal
import time

import gymnasium as gym
import numpy as np
from stable_baselines3 import A2C
from stable_baselines3.common.callbacks import BaseCallback


class Dock(gym.Env):
    metadata = {"render_modes": ["rgb_array"], "render_fps": 30}

    def __init__(self):
        self.observation_space = gym.spaces.Box(-4, 4, (4,), np.float32)
        self.action_space = gym.spaces.Discrete(5)
        self.render_mode = "rgb_array"

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.pos = self.np_random.uniform(-2, 2, 2)
        self.vel = np.zeros(2)
        self.t = 0
        return self._obs(), {}

    def _obs(self):
        return np.concatenate([self.pos, self.vel]).clip(-4, 4).astype(np.float32)

    def step(self, action):
        push = np.array([(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)][int(action)]) * 0.05
        self.vel = 0.85 * self.vel + push * 2
        self.pos = self.pos + self.vel * 0.3
        self.t += 1
        near = float(np.hypot(*self.pos))
        docked, lost = near < 0.3, near > 3
        reward = -0.1 * near + (5.0 if docked else 0.0) - (10.0 if lost else 0.0)
        return self._obs(), reward, docked or lost, self.t >= 200, {}

    def render(self):
        frame = np.full((48, 48, 3), 30, np.uint8)
        r, c = ((self.pos + 3) / 6 * 48).astype(int).clip(2, 45)
        frame[22:26, 22:26] = (40, 200, 60)
        frame[r - 2:r + 2, c - 2:c + 2] = (230, 80, 40)
        return frame


class Film(BaseCallback):
    def __init__(self, seconds):
        super().__init__()
        self.seconds = seconds
        self.episodes = [[]]

    def _on_training_start(self):
        self.begin = time.time()

    def _on_step(self):
        self.episodes[-1].append(self.training_env.render())
        if self.locals["dones"][0]:
            self.episodes.append([])
        return time.time() - self.begin < self.seconds

    def _on_training_end(self):
        best = max(self.episodes, key=len)
        np.save("film.npy", np.stack(best))


if __name__ == "__main__":
    signal.alarm(300)
    model = A2C("MlpPolicy", Dock(), n_steps=16, verbose=1, seed=1)
    model.learn(10**8, callback=Film(180), log_interval=50)
