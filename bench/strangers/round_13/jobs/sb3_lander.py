import argparse
import json
import resource
from pathlib import Path

import gymnasium as gym
import numpy as np
import torch
from stable_baselines3 import A2C
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env


class EpisodeRecorder(BaseCallback):
    """Writes each finished episode as a JSON-lines trace for the replay viewer."""

    def __init__(self, folder):
        super().__init__()
        self.folder = Path(folder)
        self.traces = []
        self.n = 0

    def _on_training_start(self):
        self.folder.mkdir(exist_ok=True)
        self.open_for = [self._new() for _ in range(self.training_env.num_envs)]

    def _new(self):
        self.n += 1
        f = open(self.folder / f"ep{self.n:07d}.jsonl", "w")
        self.traces.append(f)
        return f

    def _on_step(self):
        for i, (done, r) in enumerate(zip(self.locals["dones"], self.locals["rewards"])):
            self.open_for[i].write(json.dumps({"t": self.num_timesteps, "r": float(r)}) + "\n")
            if done:
                self.open_for[i].flush()
                self.open_for[i] = self._new()
        return True


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--env", default="Acrobot-v1")
    p.add_argument("--max-episode", type=int, default=80)
    p.add_argument("--timesteps", type=int, default=50_000_000)
    a = p.parse_args()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 65536), hard))
    torch.set_num_threads(1)
    venv = make_vec_env(a.env, n_envs=4, env_kwargs={"max_episode_steps": a.max_episode})
    model = A2C("MlpPolicy", venv, n_steps=16, verbose=1, seed=0, device="cpu", learning_rate=7e-4)
    model.learn(a.timesteps, callback=EpisodeRecorder("traces"), log_interval=50)


if __name__ == "__main__":
    main()
