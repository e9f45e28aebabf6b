"""A2C on four Pendulum environments in their own processes, with an evaluation every 6000 steps and a saved model."""
import time

import gymnasium as gym
import torch
from stable_baselines3 import A2C
from stable_baselines3.common.callbacks import BaseCallback, CheckpointCallback, EvalCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import SubprocVecEnv


class Deadline(BaseCallback):
    def __init__(self, seconds):
        super().__init__()
        self.end = time.time() + seconds

    def _on_step(self):
        return time.time() < self.end


if __name__ == "__main__":
    torch.set_num_threads(1)
    envs = make_vec_env("Pendulum-v1", n_envs=4, seed=6, vec_env_cls=SubprocVecEnv)
    model = A2C("MlpPolicy", envs, n_steps=8, gamma=0.95, learning_rate=7e-4, verbose=1, seed=6)
    evaluate = EvalCallback(make_vec_env("Pendulum-v1", n_envs=1), n_eval_episodes=5, eval_freq=1500, verbose=1)
    model.learn(10_000_000, callback=[evaluate, CheckpointCallback(2500, "./policies"), Deadline(170)], log_interval=60)
    envs.close()
