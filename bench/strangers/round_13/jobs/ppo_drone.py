import gymnasium as gym
import numpy as np
from gymnasium import spaces
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import CheckpointCallback, EvalCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.monitor import Monitor


class Hover(gym.Env):
    """Keep a planar drone near the origin; the better it flies the longer an episode lasts."""

    def __init__(self):
        self.observation_space = spaces.Box(-np.inf, np.inf, (6,), np.float32)
        self.action_space = spaces.Box(-1, 1, (2,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.s = self.np_random.normal(0, 0.2, 6)
        self.t = 0
        return self.s.astype(np.float32), {}

    def step(self, a):
        x, y, th, vx, vy, w = self.s
        up, turn = a
        w += 0.05 * 4 * turn
        th += 0.05 * w
        thrust = 9.8 + 4 * up
        vx += 0.05 * (-np.sin(th) * thrust) + self.np_random.normal(0, 0.02)
        vy += 0.05 * (np.cos(th) * thrust - 9.8) + self.np_random.normal(0, 0.02)
        self.s = np.array([x + 0.05 * vx, y + 0.05 * vy, th, vx, vy, w])
        self.t += 1
        out = bool(abs(self.s[0]) > 3 or abs(self.s[1]) > 3 or abs(th) > 1.5)
        return self.s.astype(np.float32), 1.0 - 0.1 * (x * x + y * y), out, self.t >= 400, {}


if __name__ == "__main__":
    env = make_vec_env(Hover, n_envs=4, seed=1)
    model = PPO("MlpPolicy", env, n_steps=256, batch_size=128, n_epochs=6, learning_rate=6e-4, ent_coef=0.002,
                verbose=1, device="cpu", seed=1)
    model.learn(3_000_000, callback=[EvalCallback(Monitor(Hover()), eval_freq=2500, n_eval_episodes=5, verbose=1),
                                     CheckpointCallback(5000, "ckpts")])
