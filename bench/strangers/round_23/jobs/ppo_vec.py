import time

import gymnasium as gym
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback, EvalCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import SubprocVecEnv


class Save(BaseCallback):
    def _on_step(self):
        return True

    def _on_rollout_end(self):
        self.model.save("last_policy")


if __name__ == "__main__":
    torch.set_num_threads(1)
    venv = make_vec_env("Acrobot-v1", n_envs=2, seed=4, vec_env_cls=SubprocVecEnv, vec_env_kwargs={"start_method": "fork"})
    model = PPO("MlpPolicy", venv, n_steps=256, batch_size=64, learning_rate=3e-4, ent_coef=0.01, gamma=0.99, verbose=1, seed=4)
    model.learn(450_000, callback=[Save(), EvalCallback(gym.make("Acrobot-v1"), eval_freq=4000, n_eval_episodes=5, verbose=1)])
