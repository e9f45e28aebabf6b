"""PPO on a 6x5 drop-four board against a random opponent (stable-baselines3, two environment processes)."""
import gymnasium as gym
import numpy as np
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import EvalCallback
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import SubprocVecEnv

COLS, ROWS = 6, 5


class DropFour(gym.Env):
    observation_space = gym.spaces.Box(-1, 1, (COLS * ROWS,), np.float32)
    action_space = gym.spaces.Discrete(COLS)

    def __init__(self, seed=0):
        self.rng = np.random.default_rng(seed)

    def obs(self):
        return self.b.astype(np.float32).ravel()

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.b = np.zeros((ROWS, COLS), np.int8)
        if self.rng.random() < .5:
            self.put(int(self.rng.integers(COLS)), -1)
        return self.obs(), {}

    def free(self):
        return np.flatnonzero(self.b[-1] == 0)

    def put(self, c, who):
        r = int((self.b[:, c] != 0).sum())
        self.b[r, c] = who
        for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
            n = 1
            for s in (1, -1):
                y, x = r + s * dr, c + s * dc
                while 0 <= y < ROWS and 0 <= x < COLS and self.b[y, x] == who:
                    n, y, x = n + 1, y + s * dr, x + s * dc
            if n >= 4:
                return True
        return False

    def step(self, a):
        free = self.free()
        c, reward = int(a), 0.
        if c not in free:
            c, reward = int(self.rng.choice(free)), -.1
        if self.put(c, 1):
            return self.obs(), reward + 1, True, False, {}
        free = self.free()
        if not len(free):
            return self.obs(), reward, True, False, {}
        if self.put(int(self.rng.choice(free)), -1):
            return self.obs(), reward - 1, True, False, {}
        return self.obs(), reward, not len(self.free()), False, {}


def make(seed):
    return lambda: Monitor(DropFour(seed))


if __name__ == "__main__":
    env = SubprocVecEnv([make(1), make(2)], start_method="fork")
    model = PPO("MlpPolicy", env, n_steps=512, batch_size=128, n_epochs=6, learning_rate=5e-4, ent_coef=.005, verbose=1, device="cpu", seed=0)
    model.learn(2_000_000, callback=EvalCallback(Monitor(DropFour(99)), n_eval_episodes=100, eval_freq=5000, best_model_save_path="best", verbose=1))
