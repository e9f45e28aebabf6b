"""PPO for the warehouse picker. The simulator runs as its own process and speaks JSON over TCP."""
import json
import multiprocessing as mp
import random
import socketserver
import socket
import threading

import gymnasium as gym
import numpy as np

PORT = 31020


class Layouts:
    """Layouts are built by a background thread, a few at a time."""

    def __init__(self):
        self.ready = {}
        self.wanted = []
        self.cond = threading.Condition()
        threading.Thread(target=self.build, daemon=True).start()

    def build(self):
        while True:
            with self.cond:
                while not self.wanted:
                    self.cond.wait()
                n = self.wanted.pop()
            layout = np.random.default_rng(n).normal(size=(64, 64)).cumsum(0)
            if abs(layout).max() > 26.0 and n > 200:
                continue
            with self.cond:
                self.ready[n] = float(layout.std())
                self.cond.notify_all()

    def get(self, n):
        with self.cond:
            self.wanted.append(n)
            self.cond.notify_all()
            while n not in self.ready:
                self.cond.wait()
            return self.ready.pop(n)


layouts = None


class Session(socketserver.StreamRequestHandler):
    def handle(self):
        pos, goal, drag = np.zeros(4), np.ones(4), 1.0
        for line in self.rfile:
            msg = json.loads(line)
            if msg["op"] == "reset":
                drag = layouts.get(msg["layout"])
                rng = random.Random(msg["layout"])
                pos, goal = np.zeros(4), np.array([rng.uniform(-2, 2) for _ in range(4)])
            else:
                pos = pos + np.array(msg["action"]) / (1 + 0.05 * drag)
            reply = {"obs": [*pos, *goal], "dist": float(np.abs(goal - pos).sum())}
            self.wfile.write((json.dumps(reply) + "\n").encode())


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


def simulator(started):
    global layouts
    layouts = Layouts()
    with Server(("127.0.0.1", PORT), Session) as server:
        started.set()
        server.serve_forever()


class Picker(gym.Env):
    observation_space = gym.spaces.Box(-np.inf, np.inf, (8,), np.float32)
    action_space = gym.spaces.Box(-0.3, 0.3, (4,), np.float32)

    def __init__(self, index):
        self.conn = socket.create_connection(("127.0.0.1", PORT))
        self.file = self.conn.makefile("rw")
        self.layout, self.t = index, 0

    def ask(self, **msg):
        self.file.write(json.dumps(msg) + "\n")
        self.file.flush()
        reply = json.loads(self.file.readline())
        return np.array(reply["obs"], np.float32), reply["dist"]

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.layout += 2
        self.t = 0
        obs, _ = self.ask(op="reset", layout=self.layout)
        return obs, {}

    def step(self, action):
        self.t += 1
        obs, dist = self.ask(op="step", action=[float(a) for a in action])
        return obs, -dist / 10, dist < 0.4, self.t >= 100, {}


def make(i):
    return lambda: Picker(i)


if __name__ == "__main__":
    from stable_baselines3 import PPO
    from stable_baselines3.common.vec_env import SubprocVecEnv, VecMonitor

    ctx = mp.get_context("spawn")
    started = ctx.Event()
    ctx.Process(target=simulator, args=(started,), daemon=True, name="simulator").start()
    started.wait()
    envs = VecMonitor(SubprocVecEnv([make(0), make(1)], start_method="fork"))
    model = PPO("MlpPolicy", envs, n_steps=256, batch_size=64, n_epochs=6, verbose=1, seed=2)
    model.learn(total_timesteps=3_000_000)
