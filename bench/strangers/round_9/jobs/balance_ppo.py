"""PPO on a pole whose floor gets more slippery as training goes on, with Stable-Baselines3."""

import gymnasium as gym
import numpy as np
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv


class Slippery(gym.Wrapper):
    """Some actions are ignored, more of them from episode to episode, up to a third."""

    def __init__(self, env, seed):
        super().__init__(env)
        self.rng = np.random.default_rng(seed)
        self.episodes = 0

    def reset(self, **kwargs):
        self.episodes += 1
        return self.env.reset(**kwargs)

    def step(self, action):
        if self.rng.random() < min(0.33, self.episodes / 1500):
            action = int(self.rng.integers(2))
        return self.env.step(action)


def make(seed):
    def build():
        env = Monitor(Slippery(gym.make("CartPole-v1"), seed))
        env.reset(seed=seed)
        return env

    return build


class Report(BaseCallback):
    def __init__(self):
        super().__init__()
        self.rollouts = 0

    def _on_step(self):
        return True

    def _on_rollout_end(self):
        self.rollouts += 1
        recent = [info["r"] for info in self.model.ep_info_buffer]
        if recent:
            print(
                f"rollout {self.rollouts:4d}  frames {self.num_timesteps:8d}  "
                f"return {np.mean(recent):6.1f} +- {np.std(recent):5.1f}",
                flush=True,
            )


def main():
    env = DummyVecEnv([make(seed) for seed in range(4)])
    model = PPO(
        "MlpPolicy",
        env,
        n_steps=256,
        batch_size=128,
        n_epochs=6,
        learning_rate=1e-4,
        ent_coef=0.005,
        policy_kwargs={"net_arch": [128, 128]},
        device="cpu",
        seed=0,
        verbose=0,
    )
    model.learn(3_000_000, callback=Report())
    model.save("balance")


if __name__ == "__main__":
    main()
