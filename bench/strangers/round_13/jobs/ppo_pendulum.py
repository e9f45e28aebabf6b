import os
import gymnasium as gym
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import CheckpointCallback, EvalCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import VecNormalize

torch.set_num_threads(1)
os.makedirs("models", exist_ok=True)


class Warmup(gym.Wrapper):
    """curriculum: ends early while the pole is far off"""

    def reset(self, **kw):
        self.k = 0
        return self.env.reset(**kw)

    def step(self, a):
        o, r, te, tr, i = self.env.step(a)
        self.k += 1
        return o, r, te or (self.k > 60 and o[0] < -0.9), tr, i


train = VecNormalize(make_vec_env("Pendulum-v1", n_envs=4, seed=2, wrapper_class=Warmup), norm_obs=True)
test = VecNormalize(make_vec_env("Pendulum-v1", n_envs=1, seed=9), training=False, norm_reward=False)
agent = PPO(
    "MlpPolicy", train, n_steps=512, batch_size=128, n_epochs=8, gamma=0.95, learning_rate=1e-3, verbose=1,
    device="cpu", seed=2, use_sde=True, sde_sample_freq=4,
)
agent.learn(
    3_000_000,
    callback=[
        EvalCallback(test, eval_freq=6000, n_eval_episodes=6, best_model_save_path="models"),
        CheckpointCallback(10000, "models"),
    ],
)
