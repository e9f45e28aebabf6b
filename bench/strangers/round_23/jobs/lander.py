import joblib, os
import numpy as np, gymnasium as gym, torch
from gymnasium import spaces
from stable_baselines3 import SAC
from stable_baselines3.common.callbacks import BaseCallback
torch.set_num_threads(1)


class Reach(gym.Env):
    """An arm's tip is to reach a target; observed with a lidar ring."""
    observation_space = spaces.Box(-10, 10, (90,), np.float32); action_space = spaces.Box(-1, 1, (2,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.p, self.goal, self.n = self.np_random.uniform(-1, 1, 2), self.np_random.uniform(-1, 1, 2), 0
        return self.see(), {}

    def see(self):
        a = np.linspace(0, 2 * np.pi, 86)
        ring = np.cos(a) * (self.goal - self.p)[0] + np.sin(a) * (self.goal - self.p)[1] + 0.05 * self.np_random.normal(size=86)
        return np.concatenate([self.p, self.goal, ring]).astype(np.float32)

    def step(self, action):
        self.p = np.clip(self.p + 0.1 * action, -1, 1); self.n += 1
        return self.see(), -float(np.linalg.norm(self.p - self.goal)), False, self.n >= 50, {}


class Keep(BaseCallback):
    def _on_step(self):
        if self.num_timesteps % 100 == 0:
            ep = self.model.ep_info_buffer
            print(f"t={self.num_timesteps} ep_rew={np.mean([e['r'] for e in ep]) if ep else float('nan'):.2f}")
        if self.num_timesteps % 200 == 0:
            self.model.save("agent.zip")
            joblib.dump(self.model.replay_buffer, "replay.xz", compress=("xz", 3))
            print(f"saved agent.zip and replay.xz at t={self.num_timesteps}")
        return True


agent = SAC("MlpPolicy", Reach(), buffer_size=60000, learning_starts=100, policy_kwargs={"net_arch": [64, 64]}, batch_size=64)
env = Reach(); obs, _ = env.reset(seed=1)
for _ in range(20000):
    act = np.clip(4 * (obs[2:4] - obs[:2]) + 0.3 * np.random.normal(size=2), -1, 1)
    nxt, rew, _, end, _ = env.step(act)
    agent.replay_buffer.add(obs[None], nxt[None], act[None], np.array([rew]), np.array([False]), [{}])
    obs = env.reset()[0] if end else nxt
print("replay buffer seeded with", agent.replay_buffer.pos, "demonstrations")
agent.learn(10**8, Keep())
