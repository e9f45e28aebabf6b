"""PPO for a toy elevator; episodes end when everybody is served."""
import gymnasium as gym
import numpy as np
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import EvalCallback
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv


class Elevator(gym.Env):
    FLOORS = 6

    def __init__(self):
        self.observation_space = gym.spaces.Box(-1, 20, (self.FLOORS * 2 + 1,), np.float32)
        self.action_space = gym.spaces.Discrete(3)

    def _obs(self):
        return np.array([self.at, *self.waiting, *self.riding], np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at, self.t = 0, 0
        self.waiting = self.np_random.integers(0, 3, self.FLOORS)
        self.riding = np.zeros(self.FLOORS, int)
        return self._obs(), {}

    def step(self, action):
        self.t += 1
        self.at = int(np.clip(self.at + (action - 1), 0, self.FLOORS - 1))
        reward = 1.0 * self.riding[self.at]
        self.riding[self.at] = 0
        for _ in range(int(self.waiting[self.at])):
            self.riding[self.np_random.integers(0, self.FLOORS)] += 1
        self.waiting[self.at] = 0
        if self.np_random.random() < 0.1:
            self.waiting[self.np_random.integers(0, self.FLOORS)] += 1
        reward -= 0.05 * (self.waiting.sum() + self.riding.sum())
        return self._obs(), float(reward), bool(self.waiting.sum() + self.riding.sum() == 0), self.t >= 300, {}


if __name__ == "__main__":
    env = DummyVecEnv([lambda: Monitor(Elevator()) for _ in range(4)])
    agent = PPO("MlpPolicy", env, n_steps=256, batch_size=128, learning_rate=1e-4, verbose=1, seed=1, device="cpu")
    agent.learn(5_000_000, callback=EvalCallback(Monitor(Elevator()), eval_freq=2500, n_eval_episodes=5, verbose=1, best_model_save_path="best"))
