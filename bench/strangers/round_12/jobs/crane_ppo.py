"""PPO on the crane simulator. The simulator is an external program that talks JSON on stdin/stdout."""
import json
import os
import subprocess
import sys

import gymnasium as gym
import numpy as np
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import SubprocVecEnv, VecMonitor

SIM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "crane_sim.py")


class Crane(gym.Env):
    def __init__(self, idx):
        self.observation_space = gym.spaces.Box(-10, 10, (6,), np.float32)
        self.action_space = gym.spaces.Box(-1, 1, (2,), np.float32)
        self.sim = subprocess.Popen([sys.executable, SIM, str(idx)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

    def ask(self, **message):
        self.sim.stdin.write(json.dumps(message) + "\n")
        self.sim.stdin.flush()
        return json.loads(self.sim.stdout.readline())

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        answer = self.ask(op="reset")
        return np.array(answer["obs"], np.float32), {}

    def step(self, action):
        answer = self.ask(op="step", a=[float(v) for v in action])
        return np.array(answer["obs"], np.float32), answer["r"], answer["done"], answer["cut"], {}


class Progress(BaseCallback):
    def _on_step(self):
        return True

    def _on_rollout_end(self):
        returns = [e["r"] for e in self.model.ep_info_buffer]
        if returns:
            print(f"rollout finished, {self.num_timesteps} steps, mean return {np.mean(returns):.2f}")


if __name__ == "__main__":
    envs = SubprocVecEnv([lambda i=i: Crane(i) for i in range(2)], start_method="fork")
    envs = VecMonitor(envs)
    model = PPO("MlpPolicy", envs, n_steps=256, batch_size=128, n_epochs=6, verbose=1, device="cpu", seed=4)
    model.learn(10_000_000, callback=Progress())
