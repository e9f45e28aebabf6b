"""Commande d'un groupe d'ascenseurs par PPO (stable-baselines3)."""
import logging
import os

import gymnasium as gym
import numpy as np
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback, CheckpointCallback
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import SubprocVecEnv

logging.basicConfig(level=logging.INFO, format="%(asctime)s - %(message)s")


class Ascenseurs(gym.Env):
    def __init__(self, etages=12, cabines=3):
        self.n, self.c = etages, cabines
        self.observation_space = gym.spaces.Box(-1, 50, (etages + 2 * cabines,), np.float32)
        self.action_space = gym.spaces.MultiDiscrete([3] * cabines)

    def _obs(self):
        return np.concatenate([self.attente, self.pos, self.charge]).astype(np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.attente = np.zeros(self.n)
        self.pos = self.np_random.integers(0, self.n, self.c).astype(float)
        self.charge = np.zeros(self.c)
        self.taux = self.np_random.uniform(0.02, 0.25)
        self.duree = int(self.np_random.integers(60, 900))
        self.t = 0
        return self._obs(), {}

    def step(self, a):
        self.t += 1
        self.attente = np.minimum(6, self.attente + self.np_random.poisson(self.taux, self.n))
        montes = 0
        for i in range(self.c):
            self.pos[i] = np.clip(self.pos[i] + (a[i] - 1), 0, self.n - 1)
            if a[i] == 1:
                e = int(self.pos[i])
                if e == 0:
                    self.charge[i] = 0
                pris = min(self.attente[e], 8 - self.charge[i])
                self.attente[e] -= pris
                self.charge[i] += pris
                montes += pris
        fin = self.t >= self.duree
        return self._obs(), 0.1 * float(montes), bool(fin), False, {}


class Suivi(BaseCallback):
    def __init__(self):
        super().__init__()
        self.banc = Monitor(Ascenseurs())

    def _on_step(self):
        return True

    def _on_rollout_end(self):
        eps = self.model.ep_info_buffer
        if eps:
            logging.info(
                "pas %d : récompense %.2f, durée %.0f", self.num_timesteps, np.mean([e["r"] for e in eps]), np.mean([e["l"] for e in eps])
            )
        if self.num_timesteps % 10240 == 0:
            m, s = evaluate_policy(self.model, self.banc, n_eval_episodes=3, deterministic=False, warn=False)
            logging.info("évaluation : %.2f +/- %.2f", m, s)


if __name__ == "__main__":
    venv = SubprocVecEnv([lambda: Monitor(Ascenseurs()) for _ in range(2)], start_method="fork")
    agent = PPO("MlpPolicy", venv, n_steps=512, batch_size=256, n_epochs=10, device="cpu", seed=1)
    logging.info("départ")
    agent.learn(10_000_000, callback=[Suivi(), CheckpointCallback(10000, "sauvegardes")])
