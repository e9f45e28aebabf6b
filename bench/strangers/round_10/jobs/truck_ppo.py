import json
import os
import socket
import struct
import subprocess
import sys
import time

import gymnasium as gym
import numpy as np
from stable_baselines3 import PPO
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import SubprocVecEnv

PORT = 31110


class TruckEnv(gym.Env):
    observation_space = gym.spaces.Box(-10, 100, (4,), np.float32)
    action_space = gym.spaces.Box(-1, 1, (1,), np.float32)

    def __init__(self):
        self.sock = socket.create_connection(("127.0.0.1", PORT))
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def _read(self, n):
        buf = b""
        while len(buf) < n:
            part = self.sock.recv(n - len(buf))
            if not part:
                raise EOFError("simulator closed")
            buf += part
        return buf

    def _ask(self, msg):
        self.sock.sendall(json.dumps(msg).encode() + b"\n")
        (n,) = struct.unpack("!I", self._read(4))
        return json.loads(self._read(n))

    def _obs(self, s):
        return np.array([s["v"], s["limit"], s["km"] / 60, s["slope"]], np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        return self._obs(self._ask({"op": "reset"})), {}

    def step(self, a):
        s = self._ask({"op": "step", "a": float(a[0])})
        self.t += 1
        r = s["v"] - 3 * max(0.0, s["v"] - s["limit"])
        return self._obs(s), r, s["end"], self.t >= 300, {}


def make():
    return Monitor(TruckEnv())


if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    sim = subprocess.Popen([sys.executable, os.path.join(here, "truck_sim.py"), str(PORT)])
    time.sleep(1.0)
    envs = SubprocVecEnv([make, make], start_method="fork")
    agent = PPO("MlpPolicy", envs, n_steps=256, batch_size=128, n_epochs=6, verbose=1, device="cpu")
    agent.learn(5_000_000)
