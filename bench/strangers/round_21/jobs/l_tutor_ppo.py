"""A tutor chooses the next exercise; PPO."""
import gymnasium as gym
import numpy as np
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import CheckpointCallback
from stable_baselines3.common.env_util import make_vec_env


class Tutor(gym.Env):
    topics = 8

    def __init__(self):
        self.observation_space = gym.spaces.Box(-5, 5, (2 * self.topics,), np.float32)
        self.action_space = gym.spaces.Discrete(self.topics * 3)

    def _obs(self):
        return np.concatenate([self.seen, np.full(self.topics, self.t / 30)]).astype(np.float32)

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.know = self.np_random.uniform(-1, 1, self.topics)
        self.seen = self.know + self.np_random.normal(0, 0.3, self.topics)
        self.t = 0
        return self._obs(), {}

    def step(self, action):
        topic, level = divmod(int(action), 3)
        gap = (level - 1) - self.know[topic]
        gain = 0.35 * np.exp(-4 * (gap - 0.3) ** 2)
        self.know[topic] += gain
        self.know *= 0.995
        self.seen[topic] = self.know[topic] + self.np_random.normal(0, 0.3)
        self.t += 1
        return self._obs(), float(gain), self.t >= 30, False, {}


if __name__ == "__main__":
    env = make_vec_env(Tutor, 4, seed=0)
    agent = PPO("MlpPolicy", env, n_steps=512, batch_size=256, n_epochs=8, learning_rate=3e-4, ent_coef=0.005, verbose=1, seed=0, device="cpu")
    agent.learn(10_000_000, log_interval=1, callback=CheckpointCallback(10_000, "agents"))
